/* parts.c: divides documents as they are in an input. */
#include "tools/formats/parts.h"

#include <string.h>

#include <idx_text.h>

bool parts_cut_next(struct parts *parts, struct span *part) {
    *part = parts->rest;
    if (parts->by != PARTS_DOCUMENT)
        part->length = idx_text_find_part(part->bytes, part->length,
                                          parts->by == PARTS_LINE ? IDX_TEXT_LINE : IDX_TEXT_PARAGRAPH, parts->escaped);
    parts->rest = (struct span){part->bytes + part->length, parts->rest.length - part->length};
    return part->length > 0;
}

bool parts_unquote(struct span *part, struct output *buffer) {
    if (memchr(part->bytes, '>', part->length) == NULL) return true;
    buffer->length = 0;
    output_bytes(buffer, part->bytes, part->length);
    if (buffer->error != 0) return false;
    *part = (struct span){buffer->bytes, idx_text_unquote(buffer->bytes, buffer->length, buffer->bytes)};
    return true;
}

bool parts_find_text(const struct extract_rules *rules, enum document_format format, struct span document,
                     struct span *text, bool *escaped, struct bad *bad) {
    char charset[CHARSET_NAME_SIZE] = "";
    struct span id;
    *text = document;
    *escaped = format == FORMAT_JSONL;
    if (format == FORMAT_TSV) return extract_cut_id(document, &id, text, bad);
    if (format != FORMAT_JSONL) {
        charset_remove_mark(text, charset);
        return charset[0] == '\0' || strcasecmp(charset, "utf-8") == 0 ||
               bad_set(bad, BAD_WIDE, "only texts in UTF-8 are divided, and this one is in %s: convert it first",
                       charset);
    }
    if (!jsonl_find_text(&rules->json, document, text, bad)) return false;
    *text = (struct span){text->bytes + 1, text->length - 2};
    return true;
}
