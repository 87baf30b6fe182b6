/* resembling.h: the texts of inputs, and the documents of an index of sketches that resemble them. */
#ifndef IDX_TOOLS_ANSWERS_RESEMBLING_H
#define IDX_TOOLS_ANSWERS_RESEMBLING_H

#include "tools/shared/library.h"
#include "tools/text/pipeline.h"
#include "tools/text/text_reader.h"

/* ---- The sets of documents ---- */

/* A file of sets that is being written. */
struct set_keeping {
    struct idx_kept_sets *kept;
    size_t hashes; /* How many were added since the last frame. */
};

/* Adds the set of a document, unless that is bad or has no shingles, and writes a frame where one is due. This is a
 * made_visitor, whose context is a struct set_keeping. */
bool set_keeping_add(void *context, const struct raw_document *raw, const struct made *made);

/* Returns whether there is a file of sets at this path. One that was cut within its first bytes counts as well, so that
 * it is reported, and not read as a text. Only regular files are opened: what is read of a pipe is gone. */
bool set_file_is_at(const char *path);

/* Where the sets of the documents of an index are: in a file of sets, below a folder of texts, in a file of texts,
 * whose sets are put into a temporary file, or nowhere. In a file, integer IDs are decimal text. */
struct set_source {
    struct sketch sketch;
    struct shingling shingling; /* That of the sketch. */
    struct idx_kept_sets *kept; /* A file of sets, or NULL. */
    struct idx_kept_sets *read; /* What was read of a file of texts, or NULL. */
    const char *folder;         /* NULL: there is none. */
    struct text_reader reader;  /* Reads the files of the folder. */
    struct output list;         /* The set of the document that was read last. */
};

/* Opens the source at `place`, a file or a folder, for an index; the caller has set `sketch`. If `place` is NULL, there
 * are no sets. Texts are read by `rules`, which must stay valid; NULL: a file at the place is one of sets. */
bool set_source_open(struct set_source *source, const char *place, const struct idx_index *index,
                     const struct pipeline_rules *rules);

/* This is an idx_set_source, whose context is a struct set_source. */
enum idx_status set_source_find(void *context, const struct idx_document *document, struct idx_set *set,
                                struct idx_error *error);

void set_source_close(struct set_source *source);

/* ---- Texts that are answered together ---- */

/* How many texts are answered together at most, and bytes of their sets. */
enum { RESEMBLING_TEXTS = 1024, RESEMBLING_BYTES = 1 << 24 };

/* Texts with their IDs and sets. It begins with zeros, but for the outputs, which are OUTPUT_KEPT. */
struct set_batch {
    struct output ids, hashes;
    size_t count, id_ends[RESEMBLING_TEXTS], set_ends[RESEMBLING_TEXTS]; /* Bytes of the IDs, and hashes. */
    struct idx_item items[RESEMBLING_TEXTS];
    struct idx_set sets[RESEMBLING_TEXTS];
};

/* Adds a text, which must fit. Returns false if memory ran out. */
bool set_batch_add(struct set_batch *batch, const struct made *made);

bool set_batch_is_full(const struct set_batch *batch);

/* Makes `items` and `sets` from the texts that were added; they are valid until the next one is. */
void set_batch_make_items(struct set_batch *batch);

void set_batch_empty(struct set_batch *batch);

void set_batch_free(struct set_batch *batch);

/* Writes the resemblance of a document, rounded down to four digits. */
void put_resemblance_of(struct output *output, const struct idx_resembling_document *found);

/* Writes the resemblance of a document, its standard error, and its ID: columns, or members of JSON. With `estimates`,
 * sketches of so many values were compared; 0: sets, and there is no error. */
void put_resembling_document(struct output *output, const struct idx_resembling_lists *lists,
                             const struct idx_resembling_document *found, enum idx_id_type id_type, unsigned estimates,
                             bool json);

/* ---- `idx lookup --resemble` ---- */

struct resembling_question {
    const char *path; /* Of the index, for messages. */
    const struct idx_index *index;
    struct idx_properties properties;
    struct idx_resembling_options options; /* Its threshold, threads, least_values, limit and max_candidates. */
    const char *place;                     /* Of the sets; NULL: sketches estimate. */
    struct pipeline_rules rules;           /* How texts are read. */
    bool exists, json;
};

/* Prints the answers to the texts of the inputs. Sets *found to whether there was a match. */
bool resembling_answer(struct resembling_question *question, const struct strings *paths, bool *found);

/* ---- `idx add --if-new --resemble`: resembling_add.c ---- */

struct resembling_addition {
    const char *path;  /* Of the index. */
    const char *sets;  /* The file of sets, which grows. */
    const char *place; /* A folder of texts of documents that have no sets there, or NULL. */
    int64_t threshold;
    uint64_t limit, max_candidates, compact; /* `compact` as in struct writing. */
    struct pipeline_rules rules;             /* How texts are read. */
    uint64_t added, near;                    /* How many texts were added, and left out. */
};

/* Adds the texts of the inputs that resemble none of the index, and prints what became of each text. */
bool resembling_add(struct resembling_addition *addition, const struct strings *paths);

/* The most bytes of a reason. */
enum { RESEMBLING_REASON = IDX_MAX_RECIPE_BYTES + 512 };

/* Reads the sketch of an index. Returns whether it can answer by resemblance, with the sets of documents or without; if
 * not, `reason` is a sentence that calls the option and the index by these names. Does not complain. */
bool resembling_can_answer(const struct idx_properties *properties, const char *option, const char *index,
                           bool has_sets, struct sketch *sketch, char reason[RESEMBLING_REASON]);

/* Returns the probability that a sketch misses a document that resembles a text by just the threshold. */
double resembling_miss_probability(const struct sketch *sketch, int64_t threshold);

/* Warns, if a threshold needs more values than a sketch has, of what may be missed. */
void resembling_warn_of_misses(const char *path, const struct sketch *sketch, int64_t threshold);

/* Says how many documents were not looked at, and how many have no set, unless it is none. */
void resembling_say_counts(uint64_t unread, uint64_t unknown);

#endif
