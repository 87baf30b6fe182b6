/* extract.h: finds the fields of a document that was cut from an input, in UTF-8. */
#ifndef IDX_TOOLS_TEXT_EXTRACT_H
#define IDX_TOOLS_TEXT_EXTRACT_H

#include "tools/shared/output.h"
#include "tools/text/documents.h"

#include <idx.h>

/* ---- The fields of a document ---- */

struct fields {
    struct span id; /* Without tabs and newlines, and not empty. */
    struct span body, title, description;
};

/* ---- The text of an HTML document ---- */

/* How deep elements may be nested, and how many attributes one of them may have. */
enum { HTML_MOST_DEPTH = 2000, HTML_MOST_ATTRIBUTES = 1000 };

/* What is found in a document, in UTF-8. */
struct html {
    struct output text, title, description;
    bool divides_blocks;          /* Set by the caller: blank lines are between elements such as p, but not at br. */
    struct output main, articles; /* Private. */
};

#define HTML_INIT                                                                                                      \
    {                                                                                                                  \
        .text = OUTPUT_KEPT, .title = OUTPUT_KEPT, .description = OUTPUT_KEPT, .main = OUTPUT_KEPT,                    \
        .articles = OUTPUT_KEPT                                                                                        \
    }

/* Reads a document in UTF-8, and replaces what `html` has. Tags, comments, scripts, styles and the like are dropped,
 * entities are resolved, and elements that aren't part of a line separate words. With `main_text`, the contents of nav,
 * header, footer, aside and form elements are dropped as well, and so is each piece of text between two elements that
 * break a line if more than half of its bytes, blanks apart, are in links; if there is a text left in main elements, it
 * is the whole text, and otherwise, if there is one in article elements, that one is. The title, and the description of
 * a meta element, are no part of the text. Sets *bad and returns false if that fails. Any thread may call it. */
bool html_parse(struct html *html, struct span document, bool main_text, struct bad *bad);

/* Sets the name of the character set that a meta element among the first bytes names, or "". */
void html_find_charset(struct span document, char name[CHARSET_NAME_SIZE]);

/* Prepares libxml2. It must be called before several threads call html_parse. */
void html_start(void);

void html_free(struct html *html);

/* ---- Values in JSON, as they are written: scan.c ---- */

/* The most bytes that an escape in a string becomes. */
enum { SCAN_ESCAPE_BYTES = 4 };

/* A member of an object that is looked for. */
struct scan_member {
    struct span name;  /* Without bytes, nothing is found. */
    struct span value; /* Its bytes are NULL as long as none was found. */
};

/* Finds members of an object, around which there may be blanks. Of members of one name the last one counts. Values are
 * passed over by their strings and brackets alone, and so are valid or not. Sets *bad and returns false if the object
 * has another form than {"name":value,...}. */
bool scan_members(struct span object, struct scan_member *members, size_t count, struct bad *bad);

/* How a piece of JSON ends. */
enum scan_end { SCAN_NONE, SCAN_CUT, SCAN_WHOLE };

/* Finds members of the object that bytes begin with, and removes it from them. Returns SCAN_CUT if the bytes end before
 * it does; then the last value that was found may be a part of it. Returns SCAN_NONE if they begin with something else;
 * then they stay. */
enum scan_end scan_object(struct span *bytes, struct scan_member *members, size_t count);

/* Returns the element of an array, which begins with its bracket, or a span without bytes if there is none. */
struct span scan_element(struct span array, uint64_t index);

/* Sets *string to what a value is that begins with a quote: a part of it if it has no escapes, or else in the memory of
 * `kept`. Bytes that are not UTF-8 stay as they are; an escaped surrogate without the other one of its pair becomes
 * U+FFFD. Sets *bad and returns false if an escape is none, or if memory ran out. */
bool scan_string(struct span value, struct output *kept, struct span *string, struct bad *bad);

/* Returns whether a value is a number of JSON, which NaN and Infinity are not. */
bool scan_is_number(struct span value);

/* ---- The fields of a document that is a line of JSON ---- */

/* Where fields are in the object: a JSON pointer (/a/b, RFC 6901) if it begins with a slash, or else names with dots
 * between them (a.b). */
struct jsonl_rules {
    const char *text;
    struct texts texts; /* If there are several, their texts are joined; otherwise `text` alone counts. */
    const char *id;     /* NULL: lines have no ID. */
    const char *title;  /* NULL: lines have no title. */
    const char *date;   /* NULL: lines have no date. */
    bool date_is_score; /* It is a number instead, and what date_of_score makes of it takes the place of the date. */
};

enum jsonl_field { JSONL_ID, JSONL_TEXT, JSONL_TITLE, JSONL_DATE, JSONL_FIELDS };

/* What a line has beside its fields. */
struct jsonl {
    struct output strings[JSONL_FIELDS]; /* Fields whose strings have escapes. */
    struct output joined;                /* The texts of several fields. */
    int64_t date;                        /* DATE_NONE: there is none, or its notation is unknown. */
};

#define JSONL_INIT                                                                                                     \
    { {OUTPUT_KEPT, OUTPUT_KEPT, OUTPUT_KEPT, OUTPUT_KEPT}, OUTPUT_KEPT, DATE_NONE }

/* Reads a line. The text becomes the body, which may have NUL bytes; ID and title are set if the rules name them, but a
 * missing title stays empty. An ID that is a number keeps its digits. The fields are valid until the line or `jsonl`
 * changes. Sets *bad and returns false if a field is missing, or if the line is no object; the ID is set then if the
 * line has one. What other fields have does not matter. Of several fields with texts, those that are there become the
 * body, with a line end between them. */
bool jsonl_parse(const struct jsonl_rules *rules, struct span line, struct jsonl *jsonl, struct fields *fields,
                 struct bad *bad);

/* Sets *value to the string of the text's field, as it is written in the line, with its quotes. Sets *bad and returns
 * false like jsonl_parse. */
bool jsonl_find_text(const struct jsonl_rules *rules, struct span line, struct span *value, struct bad *bad);

void jsonl_free(struct jsonl *jsonl);

/* What JSON a file begins with. */
struct jsonl_beginning {
    bool is_lines;   /* A line that is an object, or as much of it as is there. */
    bool is_array;   /* An array with an object in it, or as much of it as is there. */
    bool has_text;   /* The first object has the field, or the first of its names. */
    bool has_second; /* Another line begins with a brace. */
};

/* Finds that out from the first bytes of a file. The field is where the text is. */
struct jsonl_beginning jsonl_look(struct span bytes, const char *text_field);

/* ---- The text of manual pages, which are written in man(7) or mdoc(7): as the program mandoc prints it ---- */

/* The part that a recipe has if manual pages are among the texts, and how it begins. Its number is the version of this
 * way to read them; before version 2, headers and footers were text. Pages are read by this version alone. */
#define MANUAL_ANY ";man="
#define MANUAL_PART MANUAL_ANY "2"

/* Says why manual pages can't be compared with the fingerprints of a recipe; it follows the name of the recipe. */
const char *manual_refusal(const char *recipe);

/* Returns whether a file's name, of `length` bytes, ends like a manual page's: in .1 to .9, perhaps with letters and
 * digits behind that, .n or .man. */
bool manual_is_named(const char *name, size_t length);

/* Returns whether a file with such a name also begins like a manual page: with a comment or a macro of roff. */
bool manual_begins(const char *bytes, size_t length);

/* Replaces `text` by the text of a page, in UTF-8 and of at most `most` bytes. Sets *bad and returns false if that
 * fails. Any thread may call it. */
bool manual_read(struct span page, uint64_t most, struct output *text, struct bad *bad);

/* ---- Finding the fields of a document ---- */

struct extract_rules {
    struct jsonl_rules json;
    uint64_t max_text;   /* The most bytes of a document, up to MOST_DOCUMENT_BYTES; 0: not given (extract_settle). */
    bool main_text;      /* Of HTML, only the main text is taken. */
    bool divides_blocks; /* Of HTML, blank lines are between blocks, as struct html has it. */
    /* These are for FORMAT_FEATURES. */
    bool hashes;             /* Features are their hashes, in hex. */
    bool tokens;             /* A line has many features, feature:weight, with blanks between them. */
    enum idx_hash_kind hash; /* By which features are hashed. */
    bool ties;               /* A bit is 1 if the weights for 0 and 1 are equal. */
};

/* Sets what the options have not given, after those that have no effect were refused. */
static inline void extract_settle(struct extract_rules *rules) {
    if (rules->json.texts.count > 0) rules->json.text = rules->json.texts.values[0];
    if (rules->max_text == 0) rules->max_text = DOCUMENT_BYTES;
}

/* The memory that extracting needs. Each thread has one, and uses it for one document after another. */
struct extractor {
    const struct extract_rules *rules;
    /* NULL, or why manual pages are bad records, because the recipe has no MANUAL_PART. */
    const char *manual_refusal;
    struct output decompressed, decoded, manual;
    struct html html;
    struct jsonl json;
};

void extractor_init(struct extractor *extractor, const struct extract_rules *rules);

/* Sets the fields, which are valid until `raw` or the extractor is used again. Also sets raw's text_bytes, and its date
 * if the record has one, and may change its bytes. Sets *bad and returns false if the record is bad; its ID is set then
 * as well, or it is empty or that of its place if the record has none. */
bool extract(struct extractor *extractor, struct raw_document *raw, struct fields *fields, struct bad *bad);

/* Cuts a line of FORMAT_FEATURES or FORMAT_TSV into its ID and what follows the tab. Returns false if it has no tab. */
bool extract_id(struct span line, struct span *id, struct span *rest, struct bad *bad);

void extractor_free(struct extractor *extractor);

/* Sets *body to the document's bytes in UTF-8, and raw->cut if they end too soon: their chunks are joined, and they are
 * decompressed and decoded. Sets *bad and returns false if that fails. */
bool body_decode(struct extractor *extractor, struct raw_document *raw, struct span *body, struct bad *bad);

#endif
