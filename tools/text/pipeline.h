/* pipeline.h: makes lines of fingerprints of inputs, or what a visitor asks for, in several threads and in order. */
#ifndef IDX_TOOLS_TEXT_PIPELINE_H
#define IDX_TOOLS_TEXT_PIPELINE_H

#include "tools/text/parts.h"
#include "tools/text/text_reader.h"

/* The most bytes of memory that fingerprinting takes for each byte of a document: reached where no word repeats. */
enum { PIPELINE_BYTES_PER_BYTE = 16 };

/* The memory if no other is asked for. */
#define PIPELINE_MEMORY_BYTES ((uint64_t)1 << 30)

/* What is made of a document: lines of its fingerprints, or for a visitor, its shingles, its text, or its fingerprints,
 * in place of shingles. */
enum making { MAKES_LINES, MAKES_SHINGLES, MAKES_BODY, MAKES_FINGERPRINTS };

/* A part of a text that is compared by itself (parts.h). */
struct made_part {
    uint32_t number; /* Among all parts of the text, from 1. */
    uint32_t bytes;  /* Of its text in UTF-8. */
    uint32_t words;
    uint32_t shingles; /* How many it has. Those of all parts follow each other in its document's. */
};

/* The most bytes of a text that are kept for a visitor. */
enum { PIPELINE_BODY = 1 << 18 };

/* What was made of a document. Of a bad record, there is only the ID, if it has one. */
struct made {
    struct span id;           /* Empty if there is none. */
    const uint64_t *shingles; /* Their hashes. */
    size_t shingle_count;
    const struct made_part *parts; /* Unless whole documents are compared: those with enough words. */
    size_t part_count;
    uint64_t other_words; /* The words of its other parts. */
    struct span body;     /* The first PIPELINE_BODY bytes of the text. */
    uint64_t body_bytes;  /* How many the whole text has. */
};

/* A function that gets each document, in order, with what was made of it, which is valid until it returns. One thread
 * calls it. It returns false to stop. */
typedef bool (*made_visitor)(void *context, const struct raw_document *raw, const struct made *made);

/* What is read in place of the paths, if files are read once more. `context` is that of the rules. */
struct pipeline_again {
    /* Sets the next file, and the number that it had before. Returns false at the end. */
    bool (*next_file)(void *context, struct opened_file *file, uint64_t *number);
    /* Returns whether a document is wanted, which its place in its file tells. The thread that reads files calls it. */
    bool (*is_wanted)(void *context, const struct raw_document *raw);
    uint64_t documents; /* How many are wanted, for the progress. */
};

struct pipeline_rules {
    const char *recipe; /* NULL: that of documents of FORMAT_FEATURES is not known. */
    const char *table;  /* The file of a table of document frequencies, or NULL. */
    const char *train;  /* The file of such a table that one thread makes in place of fingerprints, or NULL. */
    unsigned bits;
    enum document_format format;
    struct extract_rules extract;
    struct globs globs; /* Which files of folders are read. */
    unsigned threads;
    uint64_t memory_bytes; /* About the most memory for fingerprinting; a single large document may take more. */
    uint64_t min_features; /* Documents with fewer are left out. */
    bool strict;           /* The first bad record ends the work. */
    bool progress;         /* Progress is shown even if standard error is no terminal. */
    /* Called with the recipe in canonical form before anything is read; false ends the work. May be NULL. */
    bool (*begin)(void *context, const char *recipe);
    made_visitor visit;                 /* Unless NULL, called in place of printing. */
    bool (*before_wait)(void *context); /* Called by the thread of `visit` before it waits; false stops. May be NULL. */
    enum making makes;                  /* MAKES_LINES unless there is a visitor. */
    enum parts_by by;                   /* Of what shingles are made: of whole texts, or of each of their parts. */
    uint64_t min_words;                 /* Parts with fewer words have no shingles. */
    struct shingling shingling;         /* With MAKES_SHINGLES, what shingles are. */
    file_visitor visit_file; /* Called before a file's documents are read, by another thread than `visit`, or NULL. */
    bool visits_others;      /* WARC records without a document are visited as well, with nothing made of them. */
    void *context;           /* The context of the visitors. */
    const char *expected_recipe;        /* The recipe of the texts must match it. May be NULL. */
    const struct pipeline_again *again; /* NULL: the paths are read. */
    const char *bad_heading;            /* How the message that counts bad records begins. NULL: they are left out. */
};

enum pipeline_status {
    PIPELINE_WELL,
    PIPELINE_PARTLY, /* An input can't be read, or all records are bad; all others were read. */
    PIPELINE_FAILED, /* It did not get to the end, for example because of a bad record with `strict`, or a visitor. */
};

/* Reads all documents of the inputs and prints a line for each, fingerprint<TAB>ID, behind #recipe<TAB>RECIPE, with the
 * recipe in canonical form. With `train`, counts all documents in a table instead, and writes that if there was no
 * error. Says on standard error what was left out. */
enum pipeline_status pipeline_run(const struct pipeline_rules *rules, const struct strings *paths);

/* Visits the formats of all files that pipeline_run would read, as documents_visit_formats does. */
void pipeline_visit_formats(const struct pipeline_rules *rules, const struct strings *paths, format_visitor visit,
                            void *context);

#endif
