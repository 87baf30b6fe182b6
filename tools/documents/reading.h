/* reading.h: reads the documents of inputs, and makes of each what is asked for, in several threads and in order. */
#ifndef IDX_TOOLS_DOCUMENTS_READING_H
#define IDX_TOOLS_DOCUMENTS_READING_H

#include "tools/documents/text_reader.h"
#include "tools/formats/parts.h"

/* Fingerprinting takes up to this many bytes of memory for each byte of a document: so many where no word repeats. */
enum { READING_BYTES_PER_BYTE = 16 };

/* The default of memory_bytes in struct reading_rules. */
#define READING_MEMORY_BYTES ((uint64_t)1 << 30)

/* What is made of a document: lines of its fingerprints (see reading_print), its shingles, the beginning of its text,
 * or its fingerprints as numbers, which are in struct made in place of shingles. */
enum reading_product { MAKES_LINES, MAKES_SHINGLES, MAKES_BODY, MAKES_FINGERPRINTS };

/* A part of a text that is compared by itself (parts.h). */
struct made_part {
    uint32_t number;     /* Among all parts of the text, from 1. */
    uint32_t byte_count; /* Of its text in UTF-8. */
    uint32_t word_count;
    uint32_t shingle_count; /* In made->shingles, its shingles follow those of the part before. */
};

/* The most bytes of a text that are stored. */
enum { READING_MAX_BODY_BYTES = 1 << 18 };

/* A document, and what was made of it. A bad record has nothing but an ID, and perhaps not even that. */
struct made {
    const struct raw_document *raw;
    struct span id;           /* Empty if there is none. */
    const uint64_t *shingles; /* Their hashes. */
    size_t shingle_count;
    const struct made_part *parts; /* Unless whole documents are compared: those with enough words. */
    size_t part_count;
    uint64_t other_words; /* The words of its other parts. */
    struct span body;     /* The first READING_MAX_BODY_BYTES bytes of the text. */
    uint64_t body_bytes;  /* How many the whole text has. */
};

struct reading_rules {
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
    enum reading_product makes;
    enum parts_by by;   /* Of what shingles are made: of whole texts, or of each of their parts. */
    uint64_t min_words; /* Parts with fewer words have no shingles. */
    struct idx_text_shingle_options shingling; /* With MAKES_SHINGLES, what shingles are. */
    bool takes_other_records;     /* WARC records without a document are returned as well, with nothing made of them. */
    struct journal *journal;      /* Where files are noted, by another thread than the caller's; NULL: nowhere. */
    struct second_reading *again; /* Unless NULL, what it wants is read once more in place of the paths. */
    const char *expected_recipe;  /* The recipe of the texts must match it. May be NULL. */
    const char *bad_heading;      /* How the message that counts bad records begins. NULL: they are left out. */
};

/* Documents that are being read. All calls are made by one thread. */
struct reading;

enum reading_status {
    READING_WELL,
    READING_PARTLY, /* An input can't be read, or all records are bad; all others were read. */
    READING_FAILED, /* It did not get to the end, for example because of a bad record with `strict`. */
};

/* Prepares to read the inputs at `paths` by `rules`, without reading any; the first call of reading_next starts that.
 * What the rules and paths point to must stay valid until reading_close; there must be 1 to IDX_MAX_THREADS threads.
 * Returns NULL, after a complaint, if the recipe is invalid or does not match expected_recipe, if the table can't be
 * read or is not for the recipe, or if memory ran out. */
struct reading *reading_open(const struct reading_rules *rules, const struct strings *paths);

/* Returns the recipe of the texts in canonical form, or NULL if it is not known. Valid until reading_close. */
const char *reading_get_recipe(const struct reading *reading);

/* Waits for the next document, and returns it. It is valid until the next call of reading_next. Returns NULL at the
 * end, behind a bad record that ends the work, or after a complaint; reading_close says which. */
const struct made *reading_next(struct reading *reading);

/* Returns a further document, or NULL if none is ready without waiting. Unlike reading_next, keeps the documents that
 * were returned before valid. */
const struct made *reading_next_ready(struct reading *reading);

/* Ends all threads, reports on standard error what was left out, and frees the reading. Returns how well the inputs
 * were read; READING_FAILED if `reading` is NULL. */
enum reading_status reading_close(struct reading *reading);

/* Reads all documents of the inputs, and prints a line for each fingerprint to standard output: fingerprint<TAB>ID. If
 * the recipe is known, the first line is #recipe<TAB>RECIPE, in canonical form, and the last one #total with counts.
 * With `train`, instead counts all documents in a table, and writes that if there was no error. Says on standard error
 * what was left out. */
enum reading_status reading_print(const struct reading_rules *rules, const struct strings *paths);

/* Visits the formats of all files that would be read, as documents_visit_formats does. */
void reading_visit_formats(const struct reading_rules *rules, const struct strings *paths, format_visitor visit,
                           void *context);

#endif
