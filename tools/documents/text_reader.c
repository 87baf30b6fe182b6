/* text_reader.c: makes fingerprints of documents, by libidxtext, and of features that were made elsewhere. A build
 * without libidxtext has commands/without_text.c in place of this file, and of all files that only it and reading.c
 * use. */
#include "tools/documents/text_reader.h"

#include "tools/formats/manual.h"
#include "tools/formats/memory.h"
#include "tools/shared/library.h"

#include <idx_text.h>

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- Features that were made elsewhere ---- */

/* Returns how many bytes of `length` wrong ones a message quotes: 40 at most. It is an int for the precision of
 * %.*s. */
static int limit_quoted_bytes(size_t length) { return length < 40 ? (int)length : 40; }

/* Parses a weight as idx_weight_parse does, in units of 1/IDX_DECIMAL_WEIGHT_ONE. Sets *bad and returns false if the
 * text is none. Sums of weights can't overflow, since documents have fewer than 2^30 bytes, and a weight is at most
 * 10^10 units. */
static bool parse_weight(const char *text, size_t length, int64_t *weight, struct bad *bad) {
    return idx_weight_parse(text, length, weight) ||
           bad_set(bad, BAD_FEATURE, "'%.*s' is not a weight: it must be a number from -1000000 to 1000000",
                   limit_quoted_bytes(length), text);
}

/* Adds the hash of a feature to a SimHash. With rules->hashes, the feature is its hash, in hex. Sets *bad and returns
 * false if the feature is empty, or has to be a hash but is none. */
static bool add_feature(struct idx_simhash *simhash, struct span feature, int64_t weight,
                        const struct extract_rules *rules, struct bad *bad) {
    if (feature.length == 0) return bad_set(bad, BAD_FEATURE, "a feature is empty");
    if (!rules->hashes) {
        idx_simhash_add_hash(simhash, idx_hash(rules->hash, feature.bytes, feature.length), weight);
        return true;
    }
    uint64_t hash;
    struct problem problem;
    if (!notation_parse_fingerprint(NOTATION_HEX, IDX_MAX_BITS, feature.bytes, feature.length, &hash, &problem))
        return bad_set(bad, BAD_FEATURE, "'%.*s' is not a hash of 16 hex digits", limit_quoted_bytes(feature.length),
                       feature.bytes);
    idx_simhash_add_hash(simhash, hash, weight);
    return true;
}

/* Adds the feature of a line to a SimHash, with the weight that may follow behind a tab, or else 1. Adds 1 to
 * *feature_count. Sets *bad and returns false if the line is bad. */
static bool add_feature_line(struct idx_simhash *simhash, struct span line, const struct extract_rules *rules,
                             uint64_t *feature_count, struct bad *bad) {
    struct span rest = line, feature = span_cut(&rest, '\t');
    int64_t weight = IDX_DECIMAL_WEIGHT_ONE;
    bool has_weight = feature.length < line.length;
    if (has_weight && !parse_weight(rest.bytes, rest.length, &weight, bad)) return false;
    ++*feature_count;
    return add_feature(simhash, feature, weight, rules, bad);
}

/* Adds a token, which is a feature, a colon and its weight, to a SimHash. The feature may have colons itself. Sets *bad
 * and returns false if the token is bad. */
static bool add_token(struct idx_simhash *simhash, struct span token, const struct extract_rules *rules,
                      struct bad *bad) {
    const char *colon = memrchr(token.bytes, ':', token.length);
    int64_t weight;
    if (colon == NULL)
        return bad_set(bad, BAD_FEATURE, "'%.*s' has no weight: tokens must be feature:weight",
                       limit_quoted_bytes(token.length), token.bytes);
    struct span feature = {token.bytes, (size_t)(colon - token.bytes)};
    return parse_weight(colon + 1, token.length - feature.length - 1, &weight, bad) &&
           add_feature(simhash, feature, weight, rules, bad);
}

/* Adds the tokens of a line to a SimHash, and their number to *feature_count. Blanks or tabs are between them. Sets
 * *bad and returns false if one is bad. */
static bool add_tokens(struct idx_simhash *simhash, struct span line, const struct extract_rules *rules,
                       uint64_t *feature_count, struct bad *bad) {
    /* The end of the line ends the last token, so the loop goes there as well. */
    for (size_t token_begin = 0, token_end = 0; token_end <= line.length; token_end++) {
        if (token_end < line.length && line.bytes[token_end] != ' ' && line.bytes[token_end] != '\t') continue;
        struct span token = {line.bytes + token_begin, token_end - token_begin};
        token_begin = token_end + 1;
        if (token.length == 0) continue;
        if (!add_token(simhash, token, rules, bad)) return false;
        ++*feature_count;
    }
    return true;
}

/* Makes the fingerprint of a document's lines, which have one ID: ID<TAB>feature[<TAB>weight], or with rules->tokens
 * ID<TAB>feature:weight feature:weight... Sets *id, which points into the lines, *fingerprint, and *feature_count to
 * how many features there are. Sets *bad and returns false if a line is bad; *id is set even then if a line had one. */
static bool fingerprint_lines(struct span lines, const struct extract_rules *rules, unsigned bits, struct span *id,
                              uint64_t *fingerprint, uint64_t *feature_count, struct bad *bad) {
    struct idx_simhash simhash;
    struct span rest;
    idx_simhash_init(&simhash);
    *feature_count = 0;
    while (lines.length > 0) {
        if (!extract_cut_id(span_cut(&lines, '\n'), id, &rest, bad) || !extract_check_id(id, bad)) return false;
        bool ok = rules->tokens ? add_tokens(&simhash, rest, rules, feature_count, bad)
                                : add_feature_line(&simhash, rest, rules, feature_count, bad);
        if (!ok) return false;
    }
    /* Without features, all bits are ties, but the fingerprint is 0. */
    bool sets_ties = rules->ties && *feature_count > 0;
    *fingerprint = idx_simhash_finish(&simhash, bits) | (sets_ties ? idx_simhash_ties(&simhash, bits) : 0);
    return true;
}

/* ---- Texts ---- */

const char text_default_recipe[] = IDX_TEXT_DEFAULT_RECIPE;

/* Checks that the fingerprinter got its memory, uses a table if there is one (`has_table`), and can make fingerprints
 * of reader->bits bits. Sets error->status in any case, and the sentence if that is not IDX_OK; returns whether it is.
 */
static bool check_fingerprinter(const struct text_reader *reader, bool has_table, struct idx_error *error) {
    const char *recipe = text_reader_get_recipe(reader);
    error->status = memory_ran_out() ? IDX_OUT_OF_MEMORY : IDX_OK;
    if (error->status == IDX_OUT_OF_MEMORY)
        snprintf(error->sentence, sizeof error->sentence, "out of memory");
    else if (has_table && !recipe_read(recipe).by_table) {
        error->status = IDX_BAD_RECIPE;
        snprintf(error->sentence, sizeof error->sentence,
                 "--table has no effect with recipe '%s', whose weights need no table; omit it, or add w=tfidf",
                 recipe);
    } else if (reader->bits < IDX_MAX_BITS && recipe_read(recipe).method == IDX_RECIPE_MINHASH) {
        error->status = IDX_BAD_RECIPE;
        snprintf(error->sentence, sizeof error->sentence, "recipe '%s' makes fingerprints of %d bits, not %u", recipe,
                 IDX_MAX_BITS, reader->bits);
    }
    return error->status == IDX_OK;
}

bool text_reader_try_open(struct text_reader *reader, const char *recipe, const struct idx_text_table *table,
                          unsigned bits, const struct extract_rules *rules, struct idx_error *error) {
    struct idx_text_options options = IDX_TEXT_OPTIONS_INIT;
    memory_watch();
    *reader = (struct text_reader){.bits = bits};
    extractor_init(&reader->extractor, rules);
    options.recipe = recipe;
    options.table = table;
    if (recipe == NULL) return true;
    if (idx_text_open(&reader->fingerprinter, &options, error) != IDX_OK) {
        memory_ran_out(); /* This forgets that memory ran out, since *error says so already. */
        return false;
    }
    reader->extractor.manual_refusal = manual_get_refusal(text_reader_get_recipe(reader));
    if (check_fingerprinter(reader, table != NULL, error)) return true;
    idx_text_close(reader->fingerprinter);
    reader->fingerprinter = NULL;
    return false;
}

bool text_reader_open(struct text_reader *reader, const char *recipe, const struct idx_text_table *table, unsigned bits,
                      const struct extract_rules *rules) {
    struct idx_error error;
    return text_reader_try_open(reader, recipe, table, bits, rules, &error) || complain("%s", error.sentence);
}

char *text_make_canonical_recipe(const char *recipe) {
    struct extract_rules rules = {0};
    struct text_reader reader;
    struct idx_error error;
    bool opened = text_reader_try_open(&reader, recipe, NULL, IDX_MAX_BITS, &rules, &error);
    unsigned icu_version = recipe_read(recipe).icu;
    bool has_other_icu = opened && icu_version != 0 && recipe_read(text_reader_get_recipe(&reader)).icu != icu_version;
    char *canonical = strdup(opened && !has_other_icu ? text_reader_get_recipe(&reader) : recipe);
    text_reader_close(&reader);
    if (canonical == NULL) complain("out of memory");
    return canonical;
}

const char *text_reader_get_recipe(const struct text_reader *reader) { return idx_text_recipe(reader->fingerprinter); }

enum { MAX_FIELDS = 3 };

/* Sets named[0], named[1] and so on to the fields with the names that libidxtext knows, and returns how many there are.
 * An empty description is not among them, so that recipes use the text in its place. */
static size_t name_text_fields(const struct fields *fields, struct idx_text_field named[MAX_FIELDS]) {
    named[0] = (struct idx_text_field){"body", fields->body.bytes, fields->body.length};
    named[1] = (struct idx_text_field){"title", fields->title.bytes, fields->title.length};
    named[2] = (struct idx_text_field){"description", fields->description.bytes, fields->description.length};
    return fields->description.length > 0 ? 3 : 2;
}

/* Returns whether a call of libidxtext, which returned `status`, succeeded. If not, sets *bad. If memory ran out for
 * ICU, the result must not be used, whatever the status, so that is a failure, too. Other statuses mean that this ICU
 * can't cut the text, or that the text is too long. */
static bool check_text_status(enum idx_status status, const struct idx_error *error, struct bad *bad) {
    if (memory_ran_out() || status == IDX_OUT_OF_MEMORY) return bad_set_memory(bad);
    enum bad_kind kind = status == IDX_UNSUPPORTED ? BAD_ICU : BAD_LONG;
    return status == IDX_OK || bad_set(bad, kind, "%s", error->sentence);
}

/* Fingerprints extracted fields, and sets all of *result but the ID and the body. Sets *bad and returns false if
 * check_text_status does. */
static bool fingerprint_fields(struct text_reader *reader, const struct fields *fields, struct text_result *result,
                               struct bad *bad) {
    struct idx_text_field named[MAX_FIELDS];
    size_t field_count = name_text_fields(fields, named);
    struct idx_text_counts counts;
    struct idx_error error;
    enum idx_status status =
        idx_text_fingerprints(reader->fingerprinter, named, field_count, reader->bits, result->fingerprints,
                              TEXT_MOST_FINGERPRINTS, &result->count, &counts, &error);
    if (!check_text_status(status, &error, bad)) return false;
    result->features = counts.features;
    result->weight = counts.weight;
    result->signature.bytes = idx_text_signature(reader->fingerprinter, &result->signature.length);
    /* With segments:N, a text without words has no fingerprint. It gets 0, as with other recipes. With minhash:M it
     * gets none: 0 could be found by no text that resembles it. */
    if (result->count == 0 && recipe_read(text_reader_get_recipe(reader)).method != IDX_RECIPE_MINHASH)
        result->fingerprints[result->count++] = 0;
    return true;
}

/* Extracts the fields of a document, as extract_fields does. Sets *bad and returns false if it is bad, or if memory ran
 * out: this goes first, since a good record may seem bad to a library that lacks memory. */
static bool extract_checking_memory(struct text_reader *reader, struct raw_document *raw, struct fields *fields,
                                    struct bad *bad) {
    bool ok = extract_fields(&reader->extractor, raw, fields, bad);
    return memory_ran_out() ? bad_set_memory(bad) : ok;
}

bool text_reader_fingerprint(struct text_reader *reader, struct raw_document *raw, struct text_result *result,
                             struct bad *bad) {
    struct fields fields;
    *result = (struct text_result){.count = 1}; /* Features make one fingerprint; for texts, it is set anew. */
    if (raw->format == FORMAT_FEATURES)
        return fingerprint_lines((struct span){raw->bytes.bytes, raw->bytes.length}, reader->extractor.rules,
                                 reader->bits, &result->id, result->fingerprints, &result->features, bad);
    bool ok = extract_checking_memory(reader, raw, &fields, bad);
    result->id = fields.id;
    result->body = fields.body;
    return ok && fingerprint_fields(reader, &fields, result, bad);
}

bool text_reader_extract_text(struct text_reader *reader, struct raw_document *raw, struct span *id, struct span *body,
                              struct bad *bad) {
    struct fields fields;
    bool ok = extract_checking_memory(reader, raw, &fields, bad);
    *id = fields.id;
    *body = fields.body;
    return ok;
}

/* Reserves memory for one shingle in three bytes of text, which suffices for most texts, but not for one of many short
 * words: then libidxtext says how many shingles there are, and is called again. */
bool text_list_shingles(const struct span *body, const struct idx_text_shingle_options *shingling, struct output *list,
                        struct bad *bad) {
    size_t shingle_count = body->length / 3 + 1, capacity = 0;
    enum idx_status status = IDX_OK;
    struct idx_error error;
    while (capacity < shingle_count) {
        capacity = shingle_count;
        void *hashes = output_reserve(list, capacity * sizeof(uint64_t));
        if (hashes == NULL) return bad_set_memory(bad);
        status = idx_text_shingles(body->bytes, body->length, shingling, hashes, capacity, &shingle_count, &error);
    }
    if (!check_text_status(status, &error, bad)) return false;
    list->length += shingle_count * sizeof(uint64_t);
    return true;
}

/* Counts a word in the uint64_t at `context`. This is an idx_text_word_visitor. */
static bool count_word(void *context, const struct idx_text_word *word) {
    (void)word;
    ++*(uint64_t *)context;
    return true;
}

/* If a text has two or more shingles of words, each word except the last width - 1 begins one, so their number follows.
 * With one shingle, a text may have fewer words than the width, so they are counted. */
bool text_count_words(const struct span *body, const struct idx_text_shingle_options *shingling, size_t shingle_count,
                      uint64_t *word_count, struct bad *bad) {
    struct idx_error error;
    bool is_known = shingle_count == 0 || (shingle_count > 1 && shingling->unit == IDX_TEXT_WORDS);
    *word_count = is_known && shingle_count > 0 ? shingle_count + shingling->width - 1 : 0;
    return is_known ||
           check_text_status(idx_text_visit_words(body->bytes, body->length, count_word, word_count, &error), &error,
                             bad);
}

bool text_reader_fingerprint_file(struct text_reader *reader, const char *path, struct text_result *result,
                                  struct output *body) {
    struct documents documents = {.most = reader->extractor.rules->max_text};
    struct raw_document raw;
    documents_read_one(&documents, path, &raw);
    bool ok = raw.bad.kind == BAD_NONE && text_reader_fingerprint(reader, &raw, result, &raw.bad);
    if (ok && body != NULL) {
        output_bytes(body, result->body.bytes, result->body.length);
        ok = body->error == 0 || bad_set_memory(&raw.bad);
    }
    if (!ok) complain("%s: %s", raw.place, raw.bad.problem.sentence);
    raw_document_free(&raw);
    documents_free(&documents);
    return ok;
}

/* ---- Tables of document frequencies ---- */

bool text_table_read(struct idx_text_table **table, const char *path) {
    struct idx_error error;
    return succeeded(idx_text_table_read(table, path, &error), &error);
}

bool text_table_create(struct idx_text_table **table, const struct text_reader *reader) {
    struct idx_error error;
    return succeeded(idx_text_table_open(table, reader->fingerprinter, &error), &error);
}

bool text_table_add(struct idx_text_table *table, struct text_reader *reader, struct raw_document *raw,
                    struct bad *bad) {
    struct fields fields;
    struct idx_text_field named[MAX_FIELDS];
    struct idx_error error;
    if (!extract_checking_memory(reader, raw, &fields, bad)) return false;
    size_t field_count = name_text_fields(&fields, named);
    enum idx_status status = idx_text_table_add(table, reader->fingerprinter, named, field_count, &error);
    return check_text_status(status, &error, bad);
}

bool text_table_write(const struct idx_text_table *table, const char *path) {
    struct idx_error error;
    struct idx_text_table_properties properties;
    idx_text_table_get_properties(table, &properties);
    if (!succeeded(idx_text_table_write(table, path, &error), &error)) return false;
    if (properties.dropped > 0)
        complain("there were too many terms, so rare ones were dropped: frequencies in %s are up to %" PRIu64
                 " too low",
                 path, properties.dropped);
    return true;
}

void text_table_free(struct idx_text_table *table) { idx_text_table_close(table); }

void text_reader_close(struct text_reader *reader) {
    idx_text_close(reader->fingerprinter);
    extractor_free(&reader->extractor);
}
