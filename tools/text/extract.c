/* extract.c: from a document as it was cut from an input to its fields, in UTF-8. */
#include "tools/text/extract.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

void extractor_init(struct extractor *extractor, const struct extract_rules *rules) {
    *extractor = (struct extractor){
        .rules = rules, .decompressed = OUTPUT_KEPT, .decoded = OUTPUT_KEPT, .html = HTML_INIT, .object = NULL};
}

/* ---- Bodies ---- */

/* HTTP's Content-Encoding. Many archives keep bodies decompressed, under heads that say that they aren't. */
static bool decompress(struct extractor *extractor, const struct raw_document *raw, struct span *body,
                       struct bad *bad) {
    struct output *kept = &extractor->decompressed;
    struct source source = {0};
    const char *bytes;
    size_t held;
    if (raw->encoding[0] == '\0') return true;
    if (strcasecmp(raw->encoding, "br") == 0 || strcasecmp(raw->encoding, "deflate") == 0)
        return bad_set(bad, BAD_HTTP, "its Content-Encoding '%s' is none that can be read", raw->encoding);
    kept->length = 0;
    bool good = source_open_memory(&source, body->bytes, body->length);
    while (good && (held = source_peek(&source, 1, &bytes)) > 0) {
        good = held < DOCUMENT_BYTES - kept->length;
        if (good) output_bytes(kept, bytes, held);
        source_skip(&source, held);
    }
    if (!good || kept->error != 0)
        bad_set(bad, BAD_LONG, "decompressed, it has %zu bytes or more", DOCUMENT_BYTES);
    else if (source.broken)
        bad_set(bad, BAD_COMPRESSION, "%s", source.problem.sentence);
    *body = (struct span){kept->bytes, kept->length};
    source_free(&source);
    return bad->kind == BAD_NONE;
}

static bool decode_body(struct extractor *extractor, struct raw_document *raw, struct span *body, struct bad *bad) {
    char charset[CHARSET_NAME_SIZE];
    if (raw->chunked && !http_join_chunks(raw->bytes.bytes, &raw->bytes.length, bad)) return false;
    *body = (struct span){raw->bytes.bytes, raw->bytes.length};
    if (!decompress(extractor, raw, body, bad)) return false;
    strcpy(charset, raw->charset);
    charset_by_mark(body, charset);
    if (raw->format == FORMAT_HTML) {
        if (charset[0] == '\0') html_find_charset(*body, charset);
        bool utf8 = charset_is_utf8(body->bytes, body->length);
        if (charset[0] == '\0') strcpy(charset, utf8 ? "utf-8" : "windows-1252");
        /* What libxml2 is given has to be well-formed: ICU makes it so under its other name for UTF-8. */
        if (strcasecmp(charset, "utf-8") == 0 && !utf8) strcpy(charset, "ibm-1208");
    }
    return charset_decode(body, charset, &extractor->decoded, bad);
}

static bool extract_html(struct extractor *extractor, struct fields *fields, struct bad *bad) {
    struct html *html = &extractor->html;
    if (!html_parse(html, fields->body, extractor->rules->main_text, bad)) return false;
    fields->body = (struct span){html->text.bytes, html->text.length};
    fields->title = (struct span){html->title.bytes, html->title.length};
    fields->description = (struct span){html->description.bytes, html->description.length};
    return true;
}

/* ---- Lines ---- */

static bool extract_json(struct extractor *extractor, struct raw_document *raw, struct fields *fields,
                         struct bad *bad) {
    struct jsonl_fields *json = &extractor->json;
    json_decref(extractor->object);
    extractor->object = NULL;
    if (!jsonl_parse(&extractor->rules->json, raw->bytes.bytes, raw->bytes.length, &extractor->object, json, bad))
        return false;
    if (json->id != NULL) fields->id = (struct span){json->id, json->id_length};
    fields->body = (struct span){json->text, json->text_length};
    fields->title = (struct span){json->title, json->title_length};
    return true;
}

bool extract_id(struct span line, struct span *id, struct span *rest, struct bad *bad) {
    const char *tab = line.length > 0 ? memchr(line.bytes, '\t', line.length) : NULL;
    if (tab == NULL) return bad_set(bad, BAD_LINE, "it has no tab behind an ID");
    *id = (struct span){line.bytes, (size_t)(tab - line.bytes)};
    *rest = (struct span){tab + 1, line.length - id->length - 1};
    return true;
}

/* ---- All ---- */

static bool extract_fields(struct extractor *extractor, struct raw_document *raw, struct fields *fields,
                           struct bad *bad) {
    switch (raw->format) {
        case FORMAT_JSONL: return extract_json(extractor, raw, fields, bad);
        case FORMAT_TSV:
            return extract_id((struct span){raw->bytes.bytes, raw->bytes.length}, &fields->id, &fields->body, bad);
        case FORMAT_HTML:
            return decode_body(extractor, raw, &fields->body, bad) && extract_html(extractor, fields, bad);
        default: return decode_body(extractor, raw, &fields->body, bad);
    }
}

bool extract(struct extractor *extractor, struct raw_document *raw, struct fields *fields, struct bad *bad) {
    const char *id = raw->id != NULL ? raw->id : raw->place;
    *fields = (struct fields){.id = {id, strlen(id)}};
    if (!extract_fields(extractor, raw, fields, bad)) return false;
    if (fields->id.length == 0) return bad_set(bad, BAD_ID, "its ID is empty");
    if (memchr(fields->id.bytes, '\t', fields->id.length) != NULL ||
        memchr(fields->id.bytes, '\n', fields->id.length) != NULL)
        return bad_set(bad, BAD_ID, "its ID has a tab or a newline");
    return true;
}

void extractor_free(struct extractor *extractor) {
    json_decref(extractor->object);
    html_free(&extractor->html);
    free(extractor->decompressed.bytes);
    free(extractor->decoded.bytes);
}
