/* text_reader.h: makes fingerprints of documents, by libidxtext if this build has it, and lists their shingles. */
#ifndef IDX_TOOLS_DOCUMENTS_TEXT_READER_H
#define IDX_TOOLS_DOCUMENTS_TEXT_READER_H

#include "tools/documents/documents.h"
#include "tools/formats/extract.h"

#include <idx_text.h>

/* What a thread needs to read texts and fingerprint them; each thread has its own. */
struct text_reader {
    struct idx_text *fingerprinter; /* NULL: all documents are of FORMAT_FEATURES. */
    unsigned bits;
    struct extractor extractor;
};

/* The recipe that is used if none is asked for. */
extern const char text_default_recipe[];

/* Returns a copy of a recipe in canonical form; as it is, if libidxtext can't parse it, or if it names another version
 * of ICU than this build's. The caller frees it. Returns NULL after a complaint if memory ran out. */
char *text_make_canonical_recipe(const char *recipe);

/* Opens a fingerprinter of `bits` bits for a recipe; if that is NULL, all documents must be of FORMAT_FEATURES. `table`
 * is a table of document frequencies if the recipe needs one, and NULL otherwise. It and `rules` must stay valid until
 * text_reader_close. Returns false, after a complaint, if the recipe is invalid, does not go with the table or the
 * bits, or if memory ran out; the caller calls text_reader_close even then. A build without libidxtext always fails. */
bool text_reader_open(struct text_reader *reader, const char *recipe, const struct idx_text_table *table, unsigned bits,
                      const struct extract_rules *rules);

/* Does what text_reader_open does, but sets *error in place of a complaint. Only a build with libidxtext has this
 * function. */
bool text_reader_try_open(struct text_reader *reader, const char *recipe, const struct idx_text_table *table,
                          unsigned bits, const struct extract_rules *rules, struct idx_error *error);

/* Returns the recipe in canonical form, with the version of ICU. The reader must have a fingerprinter, which owns
 * it. */
const char *text_reader_get_recipe(const struct text_reader *reader);

/* The most fingerprints that a recipe makes of a document. */
enum { TEXT_MOST_FINGERPRINTS = 64 };

struct text_result {
    struct span id;   /* Valid with the document, and until the reader is used again. A bad record may have one. */
    struct span body; /* The text, valid as long as the ID. Of FORMAT_FEATURES there is none. */
    uint64_t fingerprints[TEXT_MOST_FINGERPRINTS];
    size_t count;      /* How many fingerprints there are. */
    uint64_t features; /* How many distinct features the text has; of FORMAT_FEATURES, all its features. */
    int64_t weight;    /* The sum of the features' weights, in units of 1/IDX_WEIGHT_ONE; 0: not known. */
    /* The bytes whose hash the fingerprint is; no bytes if it is no hash. Valid until the reader is used again. */
    struct span signature;
};

/* Fingerprints a document, whose bytes may change. Sets *bad and returns false if it is bad, or if memory ran out; then
 * of *result, the ID alone may be set. `bad` may be &raw->bad. */
bool text_reader_fingerprint(struct text_reader *reader, struct raw_document *raw, struct text_result *result,
                             struct bad *bad);

/* Sets *id and *body to the ID and the text of a document, whose bytes may change; both are valid as long as those of
 * struct text_result. Sets *bad and returns false if the document is bad, or if memory ran out; then the body means
 * nothing, and the ID may be empty. `bad` may be &raw->bad. */
bool text_reader_extract_text(struct text_reader *reader, struct raw_document *raw, struct span *id, struct span *body,
                              struct bad *bad);

/* Fingerprints the file at `path`, or standard input for `-`, as one document of plain text, HTML or a manual page,
 * perhaps compressed. Of *result, `id` and `body` are no longer valid then: a copy of the text is appended to `body`,
 * unless that is NULL. Returns false after a complaint. */
bool text_reader_fingerprint_file(struct text_reader *reader, const char *path, struct text_result *result,
                                  struct output *body);

/* Appends the hashes of a text's shingles, each a uint64_t, to `list`, an output in memory. `shingling` states what
 * shingles are and how they are ordered; NULL means the defaults of idx_text_shingles: 5 words, ascending, each once.
 * Sets *bad and returns false if ICU can't cut the text, if it is too long, or if memory ran out; then nothing is
 * appended. */
bool text_list_shingles(const struct span *body, const struct idx_text_shingle_options *shingling, struct output *list,
                        struct bad *bad);

/* Sets *word_count to how many words a text has, or to 0 if it has no shingles. `shingle_count` is how many shingles by
 * `shingling` it has, repetitions included. Sets *bad and returns false if ICU can't cut the text, or if memory ran
 * out; then *word_count is unspecified. */
bool text_count_words(const struct span *body, const struct idx_text_shingle_options *shingling, size_t shingle_count,
                      uint64_t *word_count, struct bad *bad);

/* Reads a table of document frequencies, which text_table_free frees. Returns false after a complaint. */
bool text_table_read(struct idx_text_table **table, const char *path);

/* Sets *table to an empty table for the features of the reader's recipe; text_table_free frees it. The reader must have
 * a fingerprinter. Returns false after a complaint. */
bool text_table_create(struct idx_text_table **table, const struct text_reader *reader);

/* Adds 1 to the document frequency of each feature of a document, whose bytes may change. Sets *bad and returns false
 * if the document is bad, or if memory ran out. `bad` may be &raw->bad. */
bool text_table_add(struct idx_text_table *table, struct text_reader *reader, struct raw_document *raw,
                    struct bad *bad);

/* Writes the table to the file at `path`, and warns if rare terms were dropped from it. Returns false after a
 * complaint. */
bool text_table_write(const struct idx_text_table *table, const char *path);

/* Frees a table. NULL is accepted. */
void text_table_free(struct idx_text_table *table);

/* Frees the reader's fingerprinter and extractor. The table and the rules stay the caller's. */
void text_reader_close(struct text_reader *reader);

#endif
