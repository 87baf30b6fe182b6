/* texts.c: looks texts up, and shows the texts of documents. A build without libidxtext has without_text.c instead. */
#include "tools/serve/texts.h"

#include "tools/documents/sniff.h"
#include "tools/formats/memory.h"
#include "tools/serve/answers.h"
#include "tools/serve/service.h"

#include <stdlib.h>
#include <string.h>

/* The fingerprinter that a thread keeps for its next text. */
struct cached_reader {
    struct text_reader reader;
    char recipe[IDX_MAX_RECIPE_BYTES + 1]; /* The recipe of the index that it was opened for. */
};

/* Frees a struct cached_reader, which is the context; NULL is accepted. Also called when the thread that keeps it
 * ends. */
static void free_cached_reader(void *context) {
    struct cached_reader *cache = context;
    if (cache == NULL) return;
    text_reader_close(&cache->reader);
    free(cache);
}

/* Complains and returns false if there is a table that the recipe of the index does not take, as idx lookup does. If
 * the recipe needs a table and there is none, only warns, since everything but texts can be looked up. */
static bool check_table_fits_recipe(const struct texts_service *texts, const struct serve_options *options,
                                    const struct idx_properties *properties) {
    const char *recipe = properties->recipe;
    struct text_reader reader;
    if (texts->table == NULL && recipe_read(recipe).by_table)
        complain("the recipe of %s needs a table of document frequencies, so texts can't be looked up; give that table "
                 "with --table",
                 options->path);
    if (texts->table == NULL) return true;
    if (*recipe == '\0')
        return complain("--table has no effect with %s, which does not record the recipe of its fingerprints; omit it",
                        options->path);
    /* Opened only to see whether it can be, which text_reader_open complains of otherwise. */
    bool opened = text_reader_open(&reader, recipe, texts->table, properties->bits, &texts->rules);
    text_reader_close(&reader);
    return opened;
}

bool texts_open(struct texts_service *texts, const struct serve_options *options, const struct idx_index *index) {
    struct idx_properties properties;
    idx_get_properties(index, &properties);
    *texts = (struct texts_service){.rules = {.max_text = options->max_body, .main_text = options->main_text}};
    pthread_mutex_init(&texts->mutex, NULL);
    memory_watch();
    html_prepare_parser();
    texts->has_key = pthread_key_create(&texts->key, free_cached_reader) == 0;
    if (!texts->has_key) return complain("can't start threads");
    return (options->table_path == NULL || text_table_read(&texts->table, options->table_path)) &&
           check_table_fits_recipe(texts, options, &properties);
}

void texts_close(struct texts_service *texts) {
    if (texts->has_key) pthread_key_delete(texts->key);
    text_table_free(texts->table);
    pthread_mutex_destroy(&texts->mutex);
}

/* ---- Fingerprinters ---- */

/* Warns, once in the life of the service, if two recipes differ in the version of ICU: `recipe`, that of the index, and
 * `own_recipe`, that of this service's fingerprinter. */
static void warn_once_of_other_icu(struct texts_service *texts, const char *recipe, const char *own_recipe) {
    pthread_mutex_lock(&texts->mutex);
    recipes_match(recipe, own_recipe, strlen(own_recipe), &texts->warned_of_icu);
    pthread_mutex_unlock(&texts->mutex);
}

/* Frees the fingerprinter that this thread keeps, if it has one. */
static void drop_cached_reader(struct texts_service *texts) {
    free_cached_reader(pthread_getspecific(texts->key));
    pthread_setspecific(texts->key, NULL);
}

/* Opens a fingerprinter for the recipe and the bits in `properties`, which this thread keeps from now on. The thread
 * must have none before. Returns NULL, and sets *error without a complaint, if that fails. */
static struct cached_reader *open_cached_reader(struct texts_service *texts, const struct idx_properties *properties,
                                                struct idx_error *error) {
    struct cached_reader *cache = calloc(1, sizeof *cache);
    *error = (struct idx_error){.status = IDX_OUT_OF_MEMORY, .sentence = "out of memory"};
    if (cache != NULL && pthread_setspecific(texts->key, cache) == 0 &&
        text_reader_try_open(&cache->reader, properties->recipe, texts->table, properties->bits, &texts->rules,
                             error)) {
        strcpy(cache->recipe, properties->recipe);
        return cache;
    }
    pthread_setspecific(texts->key, NULL);
    free_cached_reader(cache);
    return NULL;
}

/* Returns this thread's fingerprinter, which the thread keeps. Opens it anew if it was for another recipe or other bits
 * than those of the index. Returns NULL where the request failed. */
static struct text_reader *ensure_reader(struct answers *answers) {
    const struct idx_properties *properties = answers->properties;
    struct texts_service *texts = &answers->request->service->texts;
    struct cached_reader *cache = pthread_getspecific(texts->key);
    struct idx_error error;
    if (cache != NULL && cache->reader.bits == properties->bits && strcmp(cache->recipe, properties->recipe) == 0)
        return &cache->reader;
    drop_cached_reader(texts);
    cache = open_cached_reader(texts, properties, &error);
    if (cache == NULL) {
        if (error.status == IDX_OUT_OF_MEMORY)
            request_fail_by_error(answers->request, &error);
        else
            request_fail(answers->request, MHD_HTTP_CONFLICT, "%s", error.sentence);
        return NULL;
    }
    warn_once_of_other_icu(texts, properties->recipe, text_reader_get_recipe(&cache->reader));
    return &cache->reader;
}

/* ---- Documents ---- */

/* The index of text/html among the body types of the route of /text, in router.c. */
enum { HTML_TYPE = 1 };

/* Messages call the document by this name. */
static char document_name[] = "the text";

/* Copies to `charset` the name of the character set that a Content-Type states, cut if it is too long. Leaves `charset`
 * alone if none is stated, or if `content_type` is NULL. */
static void copy_charset_name(const char *content_type, char charset[CHARSET_NAME_SIZE]) {
    static const char allowed[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_.:+";
    const char *name = content_type == NULL ? NULL : strcasestr(content_type, "charset=");
    if (name == NULL) return;
    name += strlen("charset=");
    if (*name == '"') name++;
    size_t length = strspn(name, allowed);
    if (length >= CHARSET_NAME_SIZE) length = CHARSET_NAME_SIZE - 1;
    memcpy(charset, name, length);
    charset[length] = '\0';
}

/* Fails the request with the status and the sentence for a bad text: 503 if memory ran out, and otherwise 422. */
static void fail_by_bad_text(struct request *request, const struct bad *bad) {
    if (bad->kind == BAD_MEMORY)
        request_fail(request, MHD_HTTP_SERVICE_UNAVAILABLE, "out of memory for the text");
    else if (bad->kind == BAD_LONG)
        request_fail(request, MHD_HTTP_UNPROCESSABLE_CONTENT, "the text is too long once it is decoded");
    else
        request_fail(request, MHD_HTTP_UNPROCESSABLE_CONTENT, "the text can't be read: %s", bad->problem.sentence);
}

/* A function that reads the request's text, in `raw`, and makes *result of it, whose type depends on the function. Sets
 * *bad and returns false if that fails. It may replace the bytes of `raw`. */
typedef bool (*text_maker)(struct text_reader *reader, struct raw_document *raw, void *result, struct bad *bad);

/* Calls `make` with the text in the request's body, which makes *result of it. Returns false where the request failed:
 * its character set is unknown, or the function failed. */
static bool make_result_from_body(struct request *request, struct text_reader *reader, text_maker make, void *result) {
    struct bad bad = {.kind = BAD_NONE};
    struct raw_document raw = {.format = request->body_type == HTML_TYPE ? FORMAT_HTML : FORMAT_PLAIN,
                               .bytes = request->body,
                               .most = request->service->options->max_body,
                               .place = document_name};
    copy_charset_name(MHD_lookup_connection_value(request->connection, MHD_HEADER_KIND, "Content-Type"), raw.charset);
    /* From archives, texts with unknown labels are read nevertheless; but a client can mend its own. */
    bool is_known =
        charset_is_known(raw.charset) || bad_set(&bad, BAD_CHARSET, "the character set '%s' is unknown", raw.charset);
    bool ok = is_known && make(reader, &raw, result, &bad);
    request->body = raw.bytes; /* The function may have replaced them. */
    if (!ok) fail_by_bad_text(request, &bad);
    return ok;
}

/* Fingerprints the text. This is a text_maker, whose result is a struct text_result. */
static bool make_fingerprints(struct text_reader *reader, struct raw_document *raw, void *result, struct bad *bad) {
    return text_reader_fingerprint(reader, raw, result, bad);
}

/* How shingles are made, and the hashes of a text's shingles. */
struct shingle_list {
    struct idx_text_shingle_options shingling;
    struct output hashes;
};

/* Extracts the text, and appends the hashes of its shingles to the list. This is a text_maker, whose result is a struct
 * shingle_list, which has `shingling` set. */
static bool make_shingles(struct text_reader *reader, struct raw_document *raw, void *result, struct bad *bad) {
    struct shingle_list *list = result;
    struct span id, body;
    return text_reader_extract_text(reader, raw, &id, &body, bad) &&
           text_list_shingles(&body, &list->shingling, &list->hashes, bad);
}

/* Makes the shingles of the request's text, and answers with the texts of the index that resemble it, unless the
 * request fails. */
static void answer_resembling(struct answers *answers, struct text_reader *reader,
                              const struct idx_text_shingle_options *shingling,
                              const struct idx_resembling_options *options) {
    struct shingle_list list = {.shingling = *shingling, .hashes = OUTPUT_BUFFER};
    if (make_result_from_body(answers->request, reader, make_shingles, &list)) {
        const struct idx_set set = {.hashes = (const uint64_t *)(const void *)list.hashes.bytes,
                                    .count = list.hashes.length / sizeof(uint64_t)};
        answers_look_up_and_write_resembling(answers, &set, options);
    }
    free(list.hashes.bytes);
}

/* Fingerprints the request's text, and writes a row: how many features it has and the matches of each fingerprint,
 * unless the request fails. */
static void answer_matches(struct answers *answers, struct text_reader *reader) {
    struct request *request = answers->request;
    struct text_result result;
    if (!make_result_from_body(request, reader, make_fingerprints, &result)) return;
    row_begin(&answers->rows);
    row_write_number(&answers->rows, "features", result.features);
    answers_look_up_and_write_all(answers, result.fingerprints, result.count);
}

/* Answers with the texts that resemble the request's text, if the index has sets or the request asks for that, or else
 * with the matches of its fingerprints. */
static void answer_text(struct answers *answers) {
    struct request *request = answers->request;
    bool by_sets = answers->properties->sketch > 0 || request->resemble > 0;
    struct idx_text_shingle_options shingling;
    struct idx_resembling_options options;
    if (by_sets && !answers_set_resembling_options(answers, &shingling, &options)) return;
    if (*answers->properties->recipe == '\0') {
        request_fail(request, MHD_HTTP_CONFLICT,
                     "the index does not record the recipe of its fingerprints, so texts can't be compared with them; "
                     "build it with --recipe, or from the output of idx fingerprint");
        return;
    }
    struct text_reader *reader = ensure_reader(answers);
    if (reader == NULL) return;
    if (by_sets)
        answer_resembling(answers, reader, &shingling, &options);
    else
        answer_matches(answers, reader);
    /* What a fingerprinter made while memory ran out must not be used any more. */
    if (request->status == MHD_HTTP_SERVICE_UNAVAILABLE) drop_cached_reader(&request->service->texts);
}

void texts_answer(struct request *request) {
    struct answers answers;
    memory_ran_out(); /* This forgets that memory ran out while this thread did something else. */
    if (answers_begin(&answers, request)) answer_text(&answers);
    answers_end(&answers);
    request_finish_answer(request, "application/json");
}

/* ---- Files ---- */

/* Returns the format of a file by its name and the first bytes of its decompressed contents; FORMAT_PLAIN if these
 * can't be decompressed. */
static enum document_format find_file_format(const char *name, const struct output *file) {
    struct source source = {.passes_over_rest = true};
    enum document_format format = FORMAT_PLAIN;
    const char *bytes = "";
    if (source_open_memory(&source, file->bytes, file->length)) {
        size_t byte_count = source_peek(&source, DOCUMENT_SNIFFED, &bytes);
        format = sniff_one_document(name, (struct span){bytes, byte_count}).format;
    }
    source_free(&source);
    return format;
}

void texts_write_document(struct request *request, struct output *file, const char *name) {
    struct bad bad = {.kind = BAD_NONE};
    struct extract_rules rules = request->service->texts.rules;
    struct extractor extractor;
    struct fields fields;
    struct raw_document raw = {.format = find_file_format(name, file),
                               .bytes = *file,
                               .most = MAX_ANSWER_BYTES,
                               .place = document_name,
                               .encoding = "any"}; /* A file may be compressed, as inputs of idx fingerprint may be. */
    rules.max_text = MAX_ANSWER_BYTES;             /* This bounds the decompressed text. */
    memory_ran_out(); /* This forgets that memory ran out while this thread did something else. */
    extractor_init(&extractor, &rules);
    bool ok = extract_fields(&extractor, &raw, &fields, &bad);
    if (ok) output_bytes(&request->answer, fields.body.bytes, fields.body.length);
    if (memory_ran_out()) ok = bad_set_memory(&bad);
    extractor_free(&extractor);
    *file = raw.bytes;
    if (!ok) fail_by_bad_text(request, &bad);
}

/* ---- Texts of lines ---- */

bool texts_append_shingle_hashes(const struct span *text, const struct idx_text_shingle_options *shingling,
                                 struct output *hashes, struct problem *problem) {
    struct bad bad = {.kind = BAD_NONE};
    memory_ran_out(); /* This forgets that memory ran out while this thread did something else. */
    bool ok = text_list_shingles(text, shingling, hashes, &bad);
    if (!ok) problem_set(problem, "%s", bad.problem.sentence);
    return ok && (!memory_ran_out() || problem_set(problem, "out of memory for the text"));
}
