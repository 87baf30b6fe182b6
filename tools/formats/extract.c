/* extract.c: finds the fields of a document that was cut from an input, in UTF-8. */
#include "tools/formats/extract.h"
#include "tools/formats/body.h"
#include "tools/formats/manual.h"

#include <stdlib.h>
#include <string.h>

void extractor_init(struct extractor *extractor, const struct extract_rules *rules) {
    *extractor = (struct extractor){.rules = rules,
                                    .decompressed = OUTPUT_BUFFER,
                                    .decoded = OUTPUT_BUFFER,
                                    .manual = OUTPUT_BUFFER,
                                    .html = HTML_INIT,
                                    .json = JSONL_INIT};
}

/* Replaces the body, which is HTML, by its text, and sets the title and the description. Sets *bad and returns false as
 * html_parse does. */
static bool replace_html_by_text(struct extractor *extractor, struct fields *fields, struct bad *bad) {
    struct html *html = &extractor->html;
    html->divides_blocks = extractor->rules->divides_blocks;
    if (!html_parse(html, fields->body, extractor->rules->main_text, bad)) return false;
    fields->body = (struct span){html->text.bytes, html->text.length};
    fields->title = (struct span){html->title.bytes, html->title.length};
    fields->description = (struct span){html->description.bytes, html->description.length};
    return true;
}

/* Replaces the body, which is a manual page, by its text. Sets *bad and returns false if the recipe does not allow
 * manual pages, or as manual_read_text does. */
static bool replace_manual_by_text(struct extractor *extractor, struct fields *fields, struct bad *bad) {
    if (extractor->manual_refusal != NULL)
        return bad_set(bad, BAD_MANUAL, "this is a manual page, and the recipe %s", extractor->manual_refusal);
    if (!manual_read_text(fields->body, extractor->rules->max_text, &extractor->manual, bad)) return false;
    fields->body = (struct span){extractor->manual.bytes, extractor->manual.length};
    return true;
}

/* Sets the fields of a line of JSON, and raw->date if the rules say where the date is. Sets *bad and returns false as
 * jsonl_parse does. */
static bool parse_json(struct extractor *extractor, struct raw_document *raw, struct fields *fields, struct bad *bad) {
    const struct jsonl_rules *rules = &extractor->rules->json;
    const struct span line = {raw->bytes.bytes, raw->bytes.length};
    if (!jsonl_parse(rules, line, &extractor->json, fields, bad)) return false;
    if (rules->date != NULL) raw->date = extractor->json.date;
    return true;
}

bool extract_cut_id(struct span line, struct span *id, struct span *rest, struct bad *bad) {
    const char *tab = line.length > 0 ? memchr(line.bytes, '\t', line.length) : NULL;
    if (tab == NULL) return bad_set(bad, BAD_LINE, "the line has no tab after the ID");
    *id = (struct span){line.bytes, (size_t)(tab - line.bytes)};
    *rest = (struct span){tab + 1, line.length - id->length - 1};
    return true;
}

bool extract_check_id(struct span *id, struct bad *bad) {
    const size_t length = id->length;
    if (length == 0) return bad_set(bad, BAD_ID, "the ID is empty");
    if (length <= IDX_MAX_ID_BYTES) return true;
    id->length = 0;
    return bad_set(bad, BAD_ID, "an ID of %zu bytes is too long: the maximum is %d", length, IDX_MAX_ID_BYTES);
}

/* Sets the fields by the document's format. If the format states no ID, fields->id stays as it is. Sets *bad and
 * returns false if the document is bad, or if memory ran out. */
static bool extract_fields_by_format(struct extractor *extractor, struct raw_document *raw, struct fields *fields,
                                     struct bad *bad) {
    switch (raw->format) {
        case FORMAT_JSONL: return parse_json(extractor, raw, fields, bad);
        case FORMAT_TSV:
            return extract_cut_id((struct span){raw->bytes.bytes, raw->bytes.length}, &fields->id, &fields->body, bad);
        case FORMAT_HTML:
            return body_decode(extractor, raw, &fields->body, bad) && replace_html_by_text(extractor, fields, bad);
        case FORMAT_MAN:
            return body_decode(extractor, raw, &fields->body, bad) && replace_manual_by_text(extractor, fields, bad);
        default: return body_decode(extractor, raw, &fields->body, bad);
    }
}

bool extract_fields(struct extractor *extractor, struct raw_document *raw, struct fields *fields, struct bad *bad) {
    *fields = (struct fields){.id = raw_document_get_id(raw)};
    if (!extract_fields_by_format(extractor, raw, fields, bad)) return false;
    raw->text_bytes = fields->body.length;
    /* JSON says where an ID ends, so an empty one is there as well. */
    bool may_be_empty = raw->format == FORMAT_JSONL && fields->id.length == 0;
    return may_be_empty || extract_check_id(&fields->id, bad);
}

void extractor_free(struct extractor *extractor) {
    jsonl_free(&extractor->json);
    html_free(&extractor->html);
    free(extractor->decompressed.bytes);
    free(extractor->decoded.bytes);
    free(extractor->manual.bytes);
}
