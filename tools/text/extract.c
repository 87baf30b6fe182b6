/* extract.c: finds the fields of a document that was cut from an input, in UTF-8. */
#include "tools/text/extract.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

void extractor_init(struct extractor *extractor, const struct extract_rules *rules) {
    *extractor = (struct extractor){.rules = rules,
                                    .decompressed = OUTPUT_KEPT,
                                    .decoded = OUTPUT_KEPT,
                                    .manual = OUTPUT_KEPT,
                                    .html = HTML_INIT,
                                    .json = JSONL_INIT};
}

/* ---- Bodies ---- */

/* Decompresses a body that has a Content-Encoding. A body that is not compressed stays as it is, since many archives
 * keep decompressed bodies with heads that say otherwise. Sets *bad and returns false if that fails. */
static bool decompress(struct extractor *extractor, const struct raw_document *raw, struct span *body,
                       struct bad *bad) {
    struct output *kept = &extractor->decompressed;
    struct source source = {.passes_over_rest = true};
    const char *bytes;
    size_t held;
    if (raw->encoding[0] == '\0') return true;
    if (strcasecmp(raw->encoding, "br") == 0 || strcasecmp(raw->encoding, "deflate") == 0)
        return bad_set(bad, BAD_HTTP, "the Content-Encoding '%s' is not supported", raw->encoding);
    kept->length = 0;
    uint64_t most = extractor->rules->max_text;
    bool opened = source_open_memory(&source, body->bytes, body->length), fits = true;
    while (opened && fits && kept->error == 0 && (held = source_peek(&source, 1, &bytes)) > 0) {
        fits = held <= most - kept->length;
        if (fits) output_bytes(kept, bytes, held);
        source_skip(&source, held);
    }
    if (!opened || source.unreadable || kept->error != 0)
        bad_set_memory(bad);
    else if (!fits)
        bad_set(bad, BAD_LONG, "decompressed, it has more than %" PRIu64 " bytes; --max-text takes longer ones", most);
    else if (source.broken)
        bad_set(bad, BAD_COMPRESSION, "%s", source.problem.sentence);
    *body = (struct span){kept->bytes, kept->length};
    source_free(&source);
    return bad->kind == BAD_NONE;
}

/* Sets *body to the content in UTF-8. Sets *bad and returns false if that fails. */
static bool decode_body(struct extractor *extractor, struct raw_document *raw, struct span *body, struct bad *bad) {
    char charset[CHARSET_NAME_SIZE];
    if (raw->chunked && !http_join_chunks(raw->bytes.bytes, &raw->bytes.length, bad)) return false;
    *body = (struct span){raw->bytes.bytes, raw->bytes.length};
    if (!decompress(extractor, raw, body, bad)) return false;
    strcpy(charset, raw->charset);
    charset_by_mark(body, charset);
    if (raw->format == FORMAT_HTML || raw->format == FORMAT_MAN) {
        if (charset[0] == '\0' && raw->format == FORMAT_HTML) html_find_charset(*body, charset);
        bool utf8 = printable_is_utf8(body->bytes, body->length);
        if (charset[0] == '\0') strcpy(charset, utf8 ? "utf-8" : "windows-1252");
        /* libxml2 needs well-formed UTF-8. Under this other name for UTF-8, ICU replaces what is ill-formed. */
        if (strcasecmp(charset, "utf-8") == 0 && !utf8) strcpy(charset, "ibm-1208");
    }
    if (!charset_decode(body, charset, &extractor->decoded, bad)) return false;
    if (body->length <= extractor->rules->max_text) return true;
    return bad_set(bad, BAD_LONG, "in UTF-8, it has more than %" PRIu64 " bytes; --max-text takes longer ones",
                   extractor->rules->max_text);
}

static bool extract_html(struct extractor *extractor, struct fields *fields, struct bad *bad) {
    struct html *html = &extractor->html;
    if (!html_parse(html, fields->body, extractor->rules->main_text, bad)) return false;
    fields->body = (struct span){html->text.bytes, html->text.length};
    fields->title = (struct span){html->title.bytes, html->title.length};
    fields->description = (struct span){html->description.bytes, html->description.length};
    return true;
}

static bool extract_manual(struct extractor *extractor, struct fields *fields, struct bad *bad) {
    if (extractor->manual_refusal != NULL)
        return bad_set(bad, BAD_MANUAL, "this is a manual page, and the recipe %s", extractor->manual_refusal);
    if (!manual_read(fields->body, extractor->rules->max_text, &extractor->manual, bad)) return false;
    fields->body = (struct span){extractor->manual.bytes, extractor->manual.length};
    return true;
}

/* ---- Lines ---- */

static bool extract_json(struct extractor *extractor, struct raw_document *raw, struct fields *fields,
                         struct bad *bad) {
    const struct jsonl_rules *rules = &extractor->rules->json;
    const struct span line = {raw->bytes.bytes, raw->bytes.length};
    if (!jsonl_parse(rules, line, &extractor->json, fields, bad)) return false;
    if (rules->date != NULL) raw->date = extractor->json.date;
    return true;
}

bool extract_id(struct span line, struct span *id, struct span *rest, struct bad *bad) {
    const char *tab = line.length > 0 ? memchr(line.bytes, '\t', line.length) : NULL;
    if (tab == NULL) return bad_set(bad, BAD_LINE, "the line has no tab after the ID");
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
        case FORMAT_MAN:
            return decode_body(extractor, raw, &fields->body, bad) && extract_manual(extractor, fields, bad);
        default: return decode_body(extractor, raw, &fields->body, bad);
    }
}

bool extract(struct extractor *extractor, struct raw_document *raw, struct fields *fields, struct bad *bad) {
    const char *id = raw->id != NULL ? raw->id : raw->place;
    *fields = (struct fields){.id = {id, strlen(id)}};
    if (!extract_fields(extractor, raw, fields, bad)) return false;
    raw->text_bytes = fields->body.length;
    if (fields->id.length == 0) return bad_set(bad, BAD_ID, "the ID is empty");
    if (memchr(fields->id.bytes, '\t', fields->id.length) != NULL ||
        memchr(fields->id.bytes, '\n', fields->id.length) != NULL)
        return bad_set(bad, BAD_ID, "the ID contains a tab or a newline");
    return true;
}

void extractor_free(struct extractor *extractor) {
    jsonl_free(&extractor->json);
    html_free(&extractor->html);
    free(extractor->decompressed.bytes);
    free(extractor->decoded.bytes);
    free(extractor->manual.bytes);
}
