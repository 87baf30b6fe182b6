/* charset.c: converts texts in other character sets to UTF-8, by ICU's converters. */
#include "tools/formats/charset.h"

#include <unicode/ucnv.h>
#include <unicode/ucnv_cb.h>

#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* By the Encoding Standard of WHATWG, these labels mean the character sets beside them. ICU takes them for smaller
 * ones. */
static const struct {
    const char *label, *charset;
} labels[] = {
    {"ascii", "windows-1252"},
    {"us-ascii", "windows-1252"},
    {"iso-8859-1", "windows-1252"},
    {"iso8859-1", "windows-1252"},
    {"latin1", "windows-1252"},
    {"l1", "windows-1252"},
    {"iso-8859-9", "windows-1254"},
    {"latin5", "windows-1254"},
    {"iso-8859-11", "windows-874"},
    {"tis-620", "windows-874"},
    {"gb2312", "gb18030"},
    {"gb_2312-80", "gb18030"},
    {"gbk", "gb18030"},
    {"x-gbk", "gb18030"},
    {"shift_jis", "windows-31j"},
    {"shift-jis", "windows-31j"},
    {"x-sjis", "windows-31j"},
    {"sjis", "windows-31j"},
    {"big5", "big5-hkscs"},
    {"euc-kr", "windows-949"},
    {"ks_c_5601-1987", "windows-949"},
    {"ksc5601", "windows-949"},
    {"unicode", "utf-16le"},
};

struct span span_cut(struct span *rest, char separator) {
    const char *found = rest->length > 0 ? memchr(rest->bytes, separator, rest->length) : NULL;
    struct span first = {rest->bytes, found == NULL ? rest->length : (size_t)(found - rest->bytes)};
    size_t removed_bytes = first.length + (found != NULL);
    rest->bytes += removed_bytes;
    rest->length -= removed_bytes;
    return first;
}

void span_skip(struct span *text, const char *characters) {
    while (text->length > 0 && *text->bytes != '\0' && strchr(characters, *text->bytes) != NULL)
        text->bytes++, text->length--;
}

bool charset_is_utf8(const char *name) {
    return *name == '\0' || strcasecmp(name, "utf-8") == 0 || strcasecmp(name, "utf8") == 0;
}

void charset_remove_mark(struct span *text, char name[CHARSET_NAME_SIZE]) {
    static const struct {
        const char *bytes;
        size_t length;
        const char *name;
    } marks[] = {
        /* That of utf-32le precedes that of utf-16le, with which it begins. */
        {"\xef\xbb\xbf", 3, "utf-8"}, {"\xff\xfe\0\0", 4, "utf-32le"}, {"\0\0\xfe\xff", 4, "utf-32be"},
        {"\xff\xfe", 2, "utf-16le"},  {"\xfe\xff", 2, "utf-16be"},
    };
    for (size_t i = 0; i < sizeof marks / sizeof *marks; i++) {
        if (text->length < marks[i].length || memcmp(text->bytes, marks[i].bytes, marks[i].length) != 0) continue;
        text->bytes += marks[i].length;
        text->length -= marks[i].length;
        strcpy(name, marks[i].name);
        return;
    }
}

void charset_remove_utf8_mark(struct span *text) {
    if (text->length >= 3 && memcmp(text->bytes, "\xef\xbb\xbf", 3) == 0) text->bytes += 3, text->length -= 3;
}

/* Writes U+FFFD in place of ill-formed bytes, and clears the error. ICU calls this, since its own function writes
 * U+001A for some single bytes. */
static void replace_ill_formed(const void *context, UConverterToUnicodeArgs *arguments, const char *bytes,
                               int32_t length, UConverterCallbackReason reason, UErrorCode *code) {
    static const UChar replacement = 0xfffd;
    (void)context, (void)bytes, (void)length;
    if (reason > UCNV_IRREGULAR) return; /* The reasons behind this one are no errors, such as the end of a text. */
    *code = U_ZERO_ERROR;
    ucnv_cbToUWriteUChars(arguments, &replacement, 1, 0, code);
}

/* Returns a converter from the character set `name`, which the caller closes, or NULL if there is no such character set
 * or memory ran out. Only some characters are allowed in a name, because ICU also takes options and paths there, which
 * a hostile text could use. */
static UConverter *open_converter(const char *name) {
    static const char allowed[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_:.+()";
    UErrorCode code = U_ZERO_ERROR;
    if (name[strspn(name, allowed)] != '\0' || *name == '.') return NULL;
    for (size_t i = 0; i < sizeof labels / sizeof *labels; i++) {
        if (strcasecmp(name, labels[i].label) == 0) name = labels[i].charset;
    }
    UConverter *converter = ucnv_open(name, &code);
    if (U_SUCCESS(code)) ucnv_setToUCallBack(converter, replace_ill_formed, NULL, NULL, NULL, &code);
    if (U_SUCCESS(code)) return converter;
    ucnv_close(converter);
    return NULL;
}

/* Converts *text, which then points into `buffer`. The capacity is a guess at first; if it is too small, ICU says how
 * many bytes it needs, and converts the text again. Sets *bad and returns false if ICU fails, or if memory ran out. */
static bool convert_to_utf8(struct span *text, UConverter *converter, struct output *buffer, struct bad *bad) {
    size_t capacity = text->length + text->length / 2 + 64;
    for (;;) {
        UErrorCode code = U_ZERO_ERROR;
        if (capacity > INT32_MAX) capacity = INT32_MAX;
        buffer->length = 0;
        char *bytes = output_reserve(buffer, capacity);
        if (bytes == NULL) return bad_set_memory(bad);
        int32_t byte_count = ucnv_toAlgorithmic(UCNV_UTF8, converter, bytes, (int32_t)capacity, text->bytes,
                                                (int32_t)text->length, &code);
        if (U_SUCCESS(code)) {
            *text = (struct span){bytes, (size_t)byte_count};
            return true;
        }
        if (code != U_BUFFER_OVERFLOW_ERROR || capacity == INT32_MAX)
            return bad_set(bad, BAD_CHARSET, "it can't be decoded from its character set: %s", u_errorName(code));
        capacity = (size_t)byte_count + 1;
    }
}

bool charset_is_known(const char *name) {
    if (charset_is_utf8(name)) return true;
    UConverter *converter = open_converter(name);
    ucnv_close(converter);
    return converter != NULL;
}

bool charset_decode(struct span *text, const char *name, struct output *buffer, struct bad *bad) {
    if (charset_is_utf8(name)) return true;
    if (text->length > INT32_MAX) return bad_set(bad, BAD_LONG, "it is too long: %zu bytes", text->length);
    UConverter *converter = open_converter(name);
    if (converter == NULL) return bad_set(bad, BAD_CHARSET, "the character set '%.40s' is unknown", name);
    /* ICU refuses NULL, even for no bytes. */
    bool converted = text->length == 0 || convert_to_utf8(text, converter, buffer, bad);
    ucnv_close(converter);
    return converted;
}
