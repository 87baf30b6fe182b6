/* sniff.c: finds out what a file is by its name and first bytes: the format of its documents, or why it has none. */
#include "tools/documents/sniff.h"
#include "tools/formats/jsonl.h"
#include "tools/formats/manual.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>

/* ---- Names ---- */

/* Returns whether a file's name, without an ending such as .gz, ends in `ending` in upper or lower case, behind at
 * least one other character. */
static bool name_ends_in(const char *path, const char *ending) {
    size_t length = strlen(path) - source_find_ending_length(path), ending_length = strlen(ending);
    return length > ending_length && strncasecmp(path + length - ending_length, ending, ending_length) == 0;
}

/* Returns the format that the ending of a file's name says, or FORMAT_AUTO if it says none. */
static enum document_format find_format_by_name(const char *path) {
    static const struct {
        const char *ending;
        enum document_format format;
    } names[] = {
        {".jsonl", FORMAT_JSONL}, {".ndjson", FORMAT_JSONL}, {".tsv", FORMAT_TSV},  {".warc", FORMAT_WARC},
        {".wet", FORMAT_WARC},    {".html", FORMAT_HTML},    {".htm", FORMAT_HTML}, {".xhtml", FORMAT_HTML},
    };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        if (name_ends_in(path, names[i].ending)) return names[i].format;
    }
    return FORMAT_AUTO;
}

/* ---- Contents ---- */

/* Returns whether a file's first bytes begin with `prefix`. */
static bool begins_with(struct span first_bytes, const char *prefix) {
    return first_bytes.length >= strlen(prefix) && memcmp(first_bytes.bytes, prefix, strlen(prefix)) == 0;
}

/* Returns whether a file's first bytes begin with `prefix` in upper or lower case. */
static bool begins_in_any_case(struct span first_bytes, const char *prefix) {
    return first_bytes.length >= strlen(prefix) && strncasecmp(first_bytes.bytes, prefix, strlen(prefix)) == 0;
}

/* Returns whether a file begins as HTML does, behind white space. */
static bool begins_as_html(struct span first_bytes) {
    charset_remove_utf8_mark(&first_bytes);
    span_skip(&first_bytes, " \t\n\v\f\r");
    return begins_in_any_case(first_bytes, "<!doctype html") || begins_in_any_case(first_bytes, "<html");
}

/* Returns the format of a file by its first bytes, if its name states none and it is not JSON. A manual page needs such
 * a name as well, since files of many other kinds begin as it does. */
static enum document_format find_format_by_content(const char *path, struct span first_bytes) {
    if (begins_with(first_bytes, "WARC/")) return FORMAT_WARC;
    if (begins_as_html(first_bytes)) return FORMAT_HTML;
    bool has_page_name = manual_has_page_name(path, strlen(path) - source_find_ending_length(path));
    return has_page_name && manual_begins_as_page(first_bytes.bytes, first_bytes.length) ? FORMAT_MAN : FORMAT_PLAIN;
}

/* Returns whether a line begins with 16 hex digits, and a tab or a carriage return if more follows. Sets *has_letter to
 * true if one of the digits is a letter; otherwise it stays. */
static bool begins_with_fingerprint(struct span line, bool *has_letter) {
    size_t digit_count = 0;
    for (; digit_count < line.length && isxdigit((unsigned char)line.bytes[digit_count]); digit_count++)
        if (line.bytes[digit_count] > '9') *has_letter = true; /* Letters are behind digits in ASCII. */
    /* strchr also finds a NUL, so that may follow, too. */
    return digit_count == 16 && (digit_count == line.length || strchr("\t\r", line.bytes[digit_count]) != NULL);
}

/* Returns whether all lines begin with fingerprints of 64 bits, except empty lines and those that begin with #. If no
 * fingerprint has a letter, they are taken for IDs, and the answer is false. */
static bool are_fingerprint_lines(struct span first_bytes) {
    bool has_fingerprint = false, has_letter = false;
    while (first_bytes.length > 0) {
        struct span line = span_cut(&first_bytes, '\n');
        if (line.length == 0 || *line.bytes == '#') continue;
        if (first_bytes.length == 0 && line.length < 16) break; /* A line that was cut where the first bytes end. */
        if (!begins_with_fingerprint(line, &has_letter)) return false;
        has_fingerprint = true;
    }
    return has_fingerprint && has_letter;
}

/* Returns by its first bytes and its name what kind of file without text it is; NONTEXT_NONE if it may be a text. */
static enum nontext find_nontext(const char *path, struct span first_bytes) {
    static const struct {
        const char *mark, *ending;
        enum nontext nontext;
    } marks[] = {
        {"%PDF-", "", NONTEXT_PDF},
        {"PAR1", "", NONTEXT_PARQUET},
        {"\x93NUMPY", "", NONTEXT_NPY},
        {"", ".u64", NONTEXT_U64},
        {"filedesc://", "", NONTEXT_ARC},
        {"PK\x03\x04", ".wacz", NONTEXT_WACZ},
        {"PK\x03\x04", ".docx", NONTEXT_DOCX},
        {"PK\x03\x04", "", NONTEXT_ZIP},
    };
    char charset[CHARSET_NAME_SIZE] = "";
    for (size_t i = 0; i < sizeof marks / sizeof *marks; i++) {
        if (begins_with(first_bytes, marks[i].mark) && name_ends_in(path, marks[i].ending)) return marks[i].nontext;
    }
    charset_remove_mark(&first_bytes, charset);
    bool is_wide = charset[0] != '\0' && strcmp(charset, "utf-8") != 0; /* UTF-16 or UTF-32, whose texts have NULs. */
    bool has_nul = first_bytes.length > 0 && memchr(first_bytes.bytes, '\0', first_bytes.length) != NULL;
    return has_nul && !is_wide ? NONTEXT_OTHER : NONTEXT_NONE;
}

/* ---- What is not read ---- */

static const struct {
    const char *name, *problem;
} nontext_kinds[NONTEXT_KINDS] = {
    [NONTEXT_PDF] = {"PDF", "it is PDF, and not a text; convert it, as pdftotext does, and give that"},
    [NONTEXT_PARQUET] = {"Parquet", "it is Parquet, and not a text; python3 -m libidx dedup reads it"},
    [NONTEXT_NPY] = {"NumPy's",
                     "it is an array of NumPy, and not a text; idx clusters and idx build read fingerprints in it"},
    [NONTEXT_U64] = {"u64", "it has fingerprints by its name, and no text; idx clusters and idx build read them"},
    [NONTEXT_ARC] = {"ARC", "it is ARC, which came before WARC, and not a text; convert it to WARC, and give that"},
    [NONTEXT_WACZ] = {"WACZ", "it is WACZ, and not a text; unpack it, as unzip does, and give the WARC files in it"},
    [NONTEXT_DOCX] = {"DOCX", "it is a document of Word, and not a text; convert it, as pandoc does, and give that"},
    [NONTEXT_ZIP] = {"ZIP", "it is ZIP, and not a text; unpack it, as unzip does, and give what is in it"},
    [NONTEXT_OTHER] = {"with NUL bytes", "it has a NUL byte in its first 8 KiB, so it is not a text"},
};

const char *sniff_get_nontext_name(enum nontext nontext) { return nontext_kinds[nontext].name; }

const char *sniff_get_nontext_problem(enum nontext nontext) { return nontext_kinds[nontext].problem; }

static const char fingerprints_refusal[] =
    "it begins with #recipe, and so it holds fingerprints, not texts; idx clusters reads them, and so do idx build and "
    "idx lookup";
static const char either_refusal[] =
    "its lines begin with 16 hex digits, which are fingerprints or IDs of texts; say --format tsv if they are IDs; "
    "fingerprints are read by idx clusters, idx build and idx lookup";
static const char array_refusal[] =
    "it is a JSON array, which is not read; make JSON Lines of it, as jq -c '.[]' does, and give that";
static const char csv_refusal[] =
    "it is CSV by its name, which is not read; make JSON Lines of it, or TSV of ID and text; --format plain reads it "
    "as one text";

/* Returns what JSON a file begins with, as jsonl_look_at_beginning does; but has_text says whether the first object has
 * any of the rules' fields of texts. */
static struct jsonl_beginning look_for_json_text(const struct jsonl_rules *rules, struct span first_bytes) {
    struct jsonl_beginning found = jsonl_look_at_beginning(first_bytes, rules->text);
    for (size_t i = 1; i < rules->texts.count && !found.has_text; i++)
        found.has_text = jsonl_look_at_beginning(first_bytes, rules->texts.values[i]).has_text;
    return found;
}

/* Sets sniffed->format by the name and content of a file, and sniffed->refusal if it is refused. In a folder, JSON
 * counts as documents only if it has the field of texts or several lines, since programs keep their settings in JSON,
 * too. */
static void find_format_and_refusal(const struct documents *documents, struct span first_bytes, bool in_folder,
                                    struct sniffed *sniffed) {
    enum document_format named_format = find_format_by_name(documents->path);
    bool may_be_json = named_format == FORMAT_AUTO || named_format == FORMAT_JSONL;
    struct jsonl_beginning json = {0};
    if (may_be_json) json = look_for_json_text(documents->json, first_bytes);
    bool are_documents = !in_folder || json.has_text || json.has_second;
    if (begins_with(first_bytes, "#recipe\t"))
        sniffed->refusal = fingerprints_refusal;
    else if (named_format == FORMAT_TSV && are_fingerprint_lines(first_bytes))
        sniffed->refusal = either_refusal;
    else if (json.is_array && (are_documents || named_format == FORMAT_JSONL))
        sniffed->refusal = array_refusal;
    else if (!in_folder && name_ends_in(documents->path, ".csv"))
        sniffed->refusal = csv_refusal;
    if (named_format != FORMAT_AUTO)
        sniffed->format = named_format;
    else
        sniffed->format =
            json.is_lines && are_documents ? FORMAT_JSONL : find_format_by_content(documents->path, first_bytes);
}

/* Returns whether a file of this format is one document. */
static bool is_one_document(enum document_format format) {
    return format == FORMAT_PLAIN || format == FORMAT_HTML || format == FORMAT_MAN;
}

/* Returns at most DOCUMENT_SNIFFED of the first bytes, so that the answer does not depend on how many were read. The
 * result's bytes are never NULL. */
static struct span limit_to_sniffed(struct span first_bytes) {
    if (first_bytes.length > DOCUMENT_SNIFFED) first_bytes.length = DOCUMENT_SNIFFED;
    return first_bytes.length > 0 ? first_bytes : (struct span){"", 0};
}

struct sniffed sniff_file(const struct documents *documents, struct span first_bytes, bool in_folder) {
    struct sniffed sniffed = {.format = documents->format};
    first_bytes = limit_to_sniffed(first_bytes);
    if (documents->format == FORMAT_AUTO) find_format_and_refusal(documents, first_bytes, in_folder, &sniffed);
    if (is_one_document(sniffed.format) && (in_folder || documents->format == FORMAT_AUTO))
        sniffed.nontext = find_nontext(documents->path, first_bytes);
    return sniffed;
}

struct sniffed sniff_one_document(const char *path, struct span first_bytes) {
    struct sniffed sniffed = {.format = find_format_by_name(path)};
    first_bytes = limit_to_sniffed(first_bytes);
    if (sniffed.format == FORMAT_AUTO) sniffed.format = find_format_by_content(path, first_bytes);
    if (!is_one_document(sniffed.format)) sniffed.format = FORMAT_PLAIN;
    sniffed.nontext = find_nontext(path, first_bytes);
    return sniffed;
}
