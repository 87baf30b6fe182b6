/* warc.c: reads the heads of WARC records, and of the HTTP responses in them. */
#include "tools/formats/warc.h"

#include <string.h>
#include <strings.h>

bool warc_find_head_end(struct warc_search *search, const char *bytes, size_t length) {
    for (;;) {
        const char *line = bytes + search->line_begin;
        if (search->line_begin > 0 && length - search->line_begin >= 5 && memcmp(line, "WARC/", 5) == 0) return true;
        const char *newline = memchr(bytes + search->searched_bytes, '\n', length - search->searched_bytes);
        search->searched_bytes = newline == NULL ? length : (size_t)(newline - bytes) + 1;
        if (newline == NULL) return false;
        search->line_begin = search->searched_bytes;
        if (newline == line || (newline == line + 1 && *line == '\r')) {
            search->head_length = search->line_begin;
            return true;
        }
    }
}

/* ---- Headers ---- */

/* Returns a text without the white space at both ends. */
static struct span trim_blanks(struct span text) {
    static const char blanks[] = " \t\r\n";
    span_skip(&text, blanks);
    while (text.length > 0 && memchr(blanks, text.bytes[text.length - 1], sizeof blanks - 1) != NULL) text.length--;
    return text;
}

/* Returns whether a text is this word, in upper or lower case. */
static bool equals_word(struct span text, const char *word) {
    return text.length == strlen(word) && strncasecmp(text.bytes, word, text.length) == 0;
}

/* Removes the next header from *rest, with the lines before it that have no colon. Sets *name and *value to the
 * header's parts, without blanks around them. Returns false, with nothing set, at the end. */
static bool cut_next_header(struct span *rest, struct span *name, struct span *value) {
    while (rest->length > 0) {
        struct span line = span_cut(rest, '\n');
        if (line.length == 0 || memchr(line.bytes, ':', line.length) == NULL) continue;
        *name = trim_blanks(span_cut(&line, ':'));
        *value = trim_blanks(line);
        return true;
    }
    return false;
}

/* Copies a text with a terminating NUL into `size` bytes. What does not fit is cut off. */
static void copy_truncated(char *to, size_t size, struct span from) {
    size_t length = from.length < size ? from.length : size - 1;
    memcpy(to, from.bytes, length);
    to[length] = '\0';
}

/* Returns what kind of content a media type means, such as MEDIA_HTML for text/html. The type must have no
 * parameters. */
static enum media find_media(struct span type) {
    if (equals_word(type, "text/html") || equals_word(type, "application/xhtml+xml")) return MEDIA_HTML;
    if (equals_word(type, "application/http")) return MEDIA_HTTP;
    return equals_word(type, "text/plain") ? MEDIA_TEXT : MEDIA_OTHER;
}

/* Returns the type and the character set that a Content-Type states, such as text/html; charset="utf-8". */
static struct media_type parse_content_type(struct span value) {
    struct media_type type = {.media = find_media(trim_blanks(span_cut(&value, ';')))};
    while (value.length > 0) {
        struct span parameter = span_cut(&value, ';');
        if (!equals_word(trim_blanks(span_cut(&parameter, '=')), "charset")) continue;
        struct span name = trim_blanks(parameter);
        span_skip(&name, "\"'");
        /* strchr also finds a NUL, so NULs at the end are removed like quotes. */
        while (name.length > 0 && strchr("\"'", name.bytes[name.length - 1]) != NULL) name.length--;
        copy_truncated(type.charset, sizeof type.charset, name);
    }
    return type;
}

/* ---- WARC ---- */

/* Returns the type of a record by the value of its WARC-Type. */
static enum warc_type find_record_type(struct span value) {
    if (equals_word(value, "response")) return WARC_RESPONSE;
    return equals_word(value, "conversion") || equals_word(value, "resource") ? WARC_DOCUMENT : WARC_OTHER;
}

/* Returns a URI without the angle brackets that some versions of WARC have around it. */
static struct span strip_brackets(struct span value) {
    if (value.length < 2 || value.bytes[0] != '<' || value.bytes[value.length - 1] != '>') return value;
    return (struct span){value.bytes + 1, value.length - 2};
}

bool warc_parse_head(const char *head, size_t length, struct warc_head *parsed, struct bad *bad) {
    struct span rest = {head, length}, name, value, target_uri = {"", 0}, record_id = {"", 0};
    bool has_type = false, has_length = false;
    *parsed = (struct warc_head){0};
    if (length < 5 || memcmp(span_cut(&rest, '\n').bytes, "WARC/", 5) != 0)
        return bad_set(bad, BAD_WARC, "a WARC record must begin here, with WARC/1.0 or the like");
    while (cut_next_header(&rest, &name, &value)) {
        if (equals_word(name, "WARC-Type")) {
            parsed->type = find_record_type(value);
            has_type = true;
        } else if (equals_word(name, "Content-Length")) {
            has_length = number_parse_digits(value.bytes, value.length, &parsed->length);
        } else if (equals_word(name, "WARC-Target-URI")) {
            target_uri = strip_brackets(value);
        } else if (equals_word(name, "WARC-Record-ID")) {
            record_id = strip_brackets(value);
        } else if (equals_word(name, "Content-Type")) {
            parsed->type_of_block = parse_content_type(value);
        }
    }
    /* Some responses are of other protocols, such as DNS. */
    if (parsed->type == WARC_RESPONSE && parsed->type_of_block.media != MEDIA_HTTP) parsed->type = WARC_OTHER;
    parsed->id = target_uri.length > 0 ? target_uri : record_id;
    if (!has_length) return bad_set(bad, BAD_WARC, "the Content-Length of the WARC record is missing or not a number");
    return has_type || bad_set(bad, BAD_WARC, "the WARC record has no WARC-Type");
}

/* ---- HTTP ---- */

bool http_parse_head(const char *head, size_t length, struct http_head *parsed, struct bad *bad) {
    struct span rest = {head, length}, name, value;
    struct span line = trim_blanks(span_cut(&rest, '\n')), version = span_cut(&line, ' '), status = trim_blanks(line);
    *parsed = (struct http_head){0};
    if (version.length < 5 || memcmp(version.bytes, "HTTP/", 5) != 0 || status.length < 3)
        return bad_set(bad, BAD_HTTP, "the response doesn't begin with HTTP/1.1 and a status");
    parsed->succeeded = status.bytes[0] == '2';
    while (cut_next_header(&rest, &name, &value)) {
        if (equals_word(name, "Content-Type")) {
            parsed->type = parse_content_type(value);
        } else if (equals_word(name, "Content-Encoding") && !equals_word(value, "identity")) {
            copy_truncated(parsed->encoding, sizeof parsed->encoding, value);
        } else if (equals_word(name, "Transfer-Encoding") && equals_word(value, "chunked")) {
            parsed->chunked = true;
        }
    }
    return true;
}

/* Reads the line that begins a chunk: the chunk's size in bytes, in up to eight hex digits, and perhaps an extension.
 * Sets *chunk_size, and returns the length of the line with its line end; or 0 if it is no such line or not
 * complete. */
static size_t read_chunk_line(const char *bytes, size_t length, size_t *chunk_size) {
    const char *newline = length > 0 ? memchr(bytes, '\n', length) : NULL;
    size_t digit_count = 0;
    *chunk_size = 0;
    if (newline == NULL) return 0;
    for (; digit_count < 8; digit_count++) {
        /* The bit makes capital letters small and leaves digits; it also makes digits of control characters. */
        const char *hex_digits = "0123456789abcdef", *digit = memchr(hex_digits, bytes[digit_count] | 0x20, 16);
        if (digit == NULL || bytes[digit_count] < '0') break; /* At the line end at the latest. */
        *chunk_size = *chunk_size << 4 | (size_t)(digit - hex_digits);
    }
    if (digit_count == 0 || strchr("\r\n; ", bytes[digit_count]) == NULL) return 0;
    return (size_t)(newline - bytes) + 1;
}

bool http_join_chunks(char *body, size_t *length, bool *cut, struct bad *bad) {
    size_t next = 0, joined_length = 0, chunk_size;
    for (;;) {
        size_t line_length = read_chunk_line(body + next, *length - next, &chunk_size);
        if (line_length == 0 && next == 0) return true;
        if (line_length == 0 && next < *length && memchr(body + next, '\n', *length - next) != NULL)
            return bad_set(bad, BAD_HTTP, "a chunk of the HTTP response is broken");
        /* The body ended within a chunk or the line that begins it, or where another chunk must begin. */
        if (line_length == 0) *cut = true;
        if (line_length == 0 || chunk_size == 0) break;
        next += line_length;
        size_t copied_bytes = chunk_size < *length - next ? chunk_size : *length - next;
        memmove(body + joined_length, body + next, copied_bytes);
        joined_length += copied_bytes;
        next += copied_bytes;
        if (next < *length && body[next] == '\r') next++;
        if (next < *length && body[next] == '\n') next++;
    }
    *length = joined_length;
    return true;
}
