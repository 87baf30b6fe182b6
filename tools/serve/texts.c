/* texts.c: looks texts up, and shows the texts of documents. A build without libidxtext has without_text.c instead. */
#include "tools/serve/service.h"

#include "tools/serve/request.h"
#include "tools/text/text.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

struct pooled_text {
    struct text text;
    char recipe[IDX_MAX_RECIPE_BYTES + 1]; /* This is the recipe of the index. */
    struct pooled_text *next;
};

bool texts_open(struct text_pool *pool, const struct serve_options *options) {
    *pool = (struct text_pool){.most = options->threads,
                               .rules = {.max_text = options->max_body, .main_text = options->main_text}};
    pthread_mutex_init(&pool->mutex, NULL);
    memory_watch();
    html_start();
    return options->table_path == NULL || text_table_read(&pool->table, options->table_path);
}

static void free_text(struct pooled_text *text) {
    if (text == NULL) return;
    text_close(&text->text);
    free(text);
}

void texts_close(struct text_pool *pool) {
    while (pool->first != NULL) {
        struct pooled_text *next = pool->first->next;
        free_text(pool->first);
        pool->first = next;
    }
    text_table_free(pool->table);
    pthread_mutex_destroy(&pool->mutex);
}

/* ---- Fingerprinters ---- */

/* Takes an idle fingerprinter out of the pool. Returns NULL if there is none, and if the one found belongs to another
 * index, which closes it. */
static struct pooled_text *take_pooled(struct text_pool *pool, const struct idx_properties *properties) {
    pthread_mutex_lock(&pool->mutex);
    struct pooled_text *text = pool->first;
    if (text != NULL) {
        pool->first = text->next;
        pool->count--;
    }
    pthread_mutex_unlock(&pool->mutex);
    if (text == NULL || (text->text.bits == properties->bits && strcmp(text->recipe, properties->recipe) == 0))
        return text;
    free_text(text);
    return NULL;
}

static void warn_of_icu(struct text_pool *pool, const char *recipe, const char *own) {
    pthread_mutex_lock(&pool->mutex);
    recipes_match(recipe, own, strlen(own), &pool->warned_of_icu);
    pthread_mutex_unlock(&pool->mutex);
}

static struct pooled_text *take_text(struct answers *answers) {
    const struct idx_properties *properties = answers->properties;
    struct text_pool *pool = &answers->request->service->texts;
    struct pooled_text *text = take_pooled(pool, properties);
    struct idx_error error = {.status = IDX_OUT_OF_MEMORY, .sentence = "out of memory"};
    if (text != NULL) return text;
    text = calloc(1, sizeof *text);
    bool opened = text != NULL &&
                  text_try_open(&text->text, properties->recipe, pool->table, properties->bits, &pool->rules, &error);
    if (!opened) {
        request_fail(answers->request, MHD_HTTP_CONFLICT, "%s", error.sentence);
        free_text(text);
        return NULL;
    }
    strcpy(text->recipe, properties->recipe);
    warn_of_icu(pool, properties->recipe, text_recipe(&text->text));
    return text;
}

static void return_text(struct text_pool *pool, struct pooled_text *text) {
    pthread_mutex_lock(&pool->mutex);
    bool kept = pool->count < pool->most;
    if (kept) {
        text->next = pool->first;
        pool->first = text;
        pool->count++;
    }
    pthread_mutex_unlock(&pool->mutex);
    if (!kept) free_text(text);
}

/* ---- Documents ---- */

/* Messages call the document by this name. */
static char place[] = "the text";

static void read_charset(const char *type, char charset[CHARSET_NAME_SIZE]) {
    const char *at = type == NULL ? NULL : strcasestr(type, "charset=");
    size_t length = 0;
    if (at == NULL) return;
    at += strlen("charset=");
    if (*at == '"') at++;
    while (length < CHARSET_NAME_SIZE - 1 && (isalnum((unsigned char)at[length]) || strchr("-_.:+", at[length])) &&
           at[length] != '\0')
        length++;
    memcpy(charset, at, length);
    charset[length] = '\0';
}

static void fail_by_text(struct request *request, const struct bad *bad) {
    if (bad->kind == BAD_MEMORY)
        request_fail(request, MHD_HTTP_SERVICE_UNAVAILABLE, "out of memory for the text");
    else if (bad->kind == BAD_LONG)
        request_fail(request, MHD_HTTP_UNPROCESSABLE_CONTENT, "the text is too long once it is decoded");
    else
        request_fail(request, MHD_HTTP_UNPROCESSABLE_CONTENT, "the text can't be read: %s", bad->problem.sentence);
}

static bool fingerprint(struct request *request, struct text *text, struct text_result *result) {
    struct bad bad = {.kind = BAD_NONE};
    struct raw_document raw = {.format = request->type == 1 ? FORMAT_HTML : FORMAT_PLAIN,
                               .bytes = request->body,
                               .most = request->service->options->max_body,
                               .place = place};
    read_charset(MHD_lookup_connection_value(request->connection, MHD_HEADER_KIND, "Content-Type"), raw.charset);
    bool good = text_fingerprint(text, &raw, result, &bad);
    request->body = raw.bytes;
    if (!good) fail_by_text(request, &bad);
    return good;
}

static void answer_text(struct answers *answers, struct pooled_text *text) {
    struct request *request = answers->request;
    struct text_result result;
    if (!fingerprint(request, &text->text, &result)) return;
    output_text(&request->answer, "{\"features\":");
    output_decimal(&request->answer, result.features);
    output_text(&request->answer, ",\"answers\":[");
    for (size_t i = 0; i < result.count; i++) {
        if (i > 0) output_byte(&request->answer, ',');
        if (!answers_put_query(answers, result.fingerprints[i]) || !request_goes_on(request)) return;
    }
    output_text(&request->answer, "]}\n");
}

void texts_answer(struct request *request) {
    struct answers answers;
    memory_ran_out(); /* This forgets that memory ran out while this thread did something else. */
    if (answers_begin(&answers, request)) {
        struct pooled_text *text = NULL;
        if (*answers.properties->recipe == '\0')
            request_fail(request, MHD_HTTP_CONFLICT,
                         "the index does not record the recipe of its fingerprints, so texts can't be compared with "
                         "them; build it with --recipe, or from the output of idx fingerprint");
        else
            text = take_text(&answers);
        if (text != NULL) {
            answer_text(&answers, text);
            if (request->status == MHD_HTTP_SERVICE_UNAVAILABLE)
                free_text(text); /* It may hold memory of the reserve. */
            else
                return_text(&request->service->texts, text);
        }
    }
    answers_end(&answers);
    request_end(request, "application/json");
}

/* ---- Files ---- */

/* Finds the format by the file's name, and by how the file begins after decompression. */
static enum document_format find_format(const char *name, const struct output *file) {
    struct source source = {.passes_over_rest = true};
    enum document_format format = FORMAT_PLAIN;
    const char *bytes;
    if (source_open_memory(&source, file->bytes, file->length)) {
        size_t held = source_peek(&source, DOCUMENT_SNIFFED, &bytes);
        format = documents_format_of(name, held > 0 ? bytes : "", held);
    }
    source_free(&source);
    return format;
}

void texts_put(struct request *request, struct output *file, const char *name) {
    struct extract_rules rules = request->service->texts.rules;
    struct extractor extractor;
    struct fields fields;
    struct bad bad = {.kind = BAD_NONE};
    struct raw_document raw = {.format = find_format(name, file),
                               .bytes = *file,
                               .most = MOST_ANSWER_BYTES,
                               .place = place,
                               .encoding = "any"}; /* A file may be compressed, as inputs of idx fingerprint may be. */
    rules.max_text = MOST_ANSWER_BYTES;            /* This bounds the decompressed text. */
    memory_ran_out(); /* This forgets that memory ran out while this thread did something else. */
    extractor_init(&extractor, &rules);
    bool good = extract(&extractor, &raw, &fields, &bad);
    if (memory_ran_out()) good = bad_set_memory(&bad);
    if (good)
        output_bytes(&request->answer, fields.body.bytes, fields.body.length);
    else
        fail_by_text(request, &bad);
    extractor_free(&extractor);
    *file = raw.bytes;
}
