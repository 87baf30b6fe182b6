/* pipeline.h: from inputs to lines of fingerprints, by several threads, in the order of the documents. */
#ifndef IDX_TOOLS_PIPELINE_H
#define IDX_TOOLS_PIPELINE_H

#include "tools/shared/arguments.h"
#include "tools/text/documents.h"
#include "tools/text/text.h"

/* What a byte of a document may take while it is fingerprinted: of JSON, or of a text whose words are all new. */
enum { PIPELINE_BYTES_PER_BYTE = 16 };

/* Where nothing else is asked for. */
#define PIPELINE_MEMORY_BYTES ((uint64_t)1 << 30)

/* Called for each document, in order, with what was made of it: its line, with its end, or its features; nothing where
 * it is bad. By one thread. Returns false to stop. */
typedef bool (*result_visitor)(void *context, const struct raw_document *raw, const char *made, size_t length);

/* In place of lines, features or texts are listed, and of some documents alone. */
struct pipeline_features {
    enum listed listed; /* as text_list_features */
    /* Files are read once more, not the paths given: sets the next one, and the number that it had before. Returns
     * false where there is none. NULL: the paths are read. */
    bool (*next_file)(void *context, struct opened_file *file, uint64_t *number);
    /* Whether a document is wanted, by its place, in the thread that reads files; or NULL: by its ID, in any thread.
     * Then *key, 8 bytes, is put before the features. */
    bool (*is_wanted)(void *context, const struct raw_document *raw);
    bool (*is_wanted_id)(void *context, struct span id, uint64_t *key);
    uint64_t documents; /* with `next_file`: how many are wanted, for the progress; 0: not known */
};

struct pipeline_rules {
    const char *recipe; /* NULL: of documents of FORMAT_FEATURES that have none */
    const char *table;  /* of document frequencies, to be read; or NULL */
    const char *train;  /* the same, to be made in place of fingerprints, by one thread; or NULL */
    unsigned bits;
    enum document_format format;
    struct extract_rules extract;
    struct globs globs; /* what is read of folders */
    unsigned threads;
    uint64_t memory_bytes; /* that documents may take while they are fingerprinted: about so many, or what one of
                              extract.max_text takes where that is more */
    uint64_t min_features; /* documents with fewer are left out */
    bool strict;           /* end at the first bad record */
    bool progress;
    result_visitor visit; /* in place of printing, and without the line #recipe: documents with too few features are not
                        left out, but have a line without a fingerprint, which begins with a tab; or NULL */
    file_visitor visit_file;     /* or NULL: called before the documents of a file are read, by one other thread */
    bool others;                 /* also visit the WARC records that hold no document, with nothing made of them */
    void *context;               /* of the visitors */
    const char *expected_recipe; /* that the texts' own must match; or NULL */
    const struct pipeline_features *features; /* NULL: lines are made */
};

enum pipeline_status {
    PIPELINE_WELL,
    PIPELINE_PARTLY, /* an input can't be read; all others were */
    PIPELINE_FAILED, /* also at a bad record, where `strict` says so, and where the visitor stopped it */
};

/* Reads all documents of the inputs and prints a line for each, fingerprint<TAB>ID, behind #recipe<TAB>RECIPE. The
 * recipe is that of the texts in canonical form. To train, counts all documents into a table in place of that, and
 * writes it where all is well. Says on standard error what was left out. */
enum pipeline_status pipeline_run(const struct pipeline_rules *rules, const struct texts *paths);

/* What `idx compare` and `idx fingerprint --compare` do (compare.c). Prints a line that says how the texts in two files
 * compare, by the recipe, table, bits and extraction that `rules` name. *same: whether their fingerprints are equal,
 * and what these are the hashes of, if hashes they are. Returns false after a complaint. */
bool compare_files(const struct pipeline_rules *rules, char *const paths[2], bool *same);

#endif
