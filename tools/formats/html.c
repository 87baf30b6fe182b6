/* html.c: finds the text of an HTML document by the events of libxml2's parser, without a tree. */
#include "tools/formats/html.h"

#include <libxml/HTMLparser.h>
#include <libxml/parser.h>

#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* Names of elements, sorted. Those that break a line, such as p or div, are not listed: there are more of them. */
static const char *const within_line[] = {
    "a",     "abbr", "acronym", "b",      "bdi",   "bdo",  "big",  "cite", "code", "data", "del",  "dfn", "em",
    "font",  "i",    "ins",     "kbd",    "label", "mark", "nobr", "q",    "rp",   "rt",   "ruby", "s",   "samp",
    "small", "span", "strike",  "strong", "sub",   "sup",  "time", "tt",   "u",    "var",  "wbr",
};
/* Of those that break a line, the ones that are within a paragraph. */
static const char *const within_block[] = {"br", "img"};
static const char *const never_text[] = {"iframe", "noscript", "script", "style", "svg", "template"};
static const char *const not_main[] = {"aside", "footer", "form", "header", "nav"};

#define COUNT(array) (sizeof(array) / sizeof *(array))

/* Compares a name with an entry of a list, for bsearch. */
static int compare_names(const void *name, const void *entry) { return strcmp(name, *(const char *const *)entry); }

/* Returns whether a name is in a list, which must be sorted. */
static bool is_in_sorted_names(const char *name, const char *const *names, size_t name_count) {
    return bsearch(name, names, name_count, sizeof *names, compare_names) != NULL;
}

/* A document that is being parsed. */
struct parse {
    struct html *html;
    htmlParserCtxtPtr parser;
    bool main_text;
    /* How many elements are open: all of them, and those of a kind. */
    unsigned depth, open_dropped, open_links, open_titles, open_mains, open_articles;
    bool has_title;                       /* A title has ended; later ones, as in pictures, aren't the document's. */
    bool too_deep, too_many_attributes;   /* Elements are nested too deep, or one has too many attributes. */
    size_t piece_start;                   /* Where the current piece of text begins in html->text. */
    size_t piece_bytes, piece_link_bytes; /* Bytes of the piece, blanks apart: all, and those in links. */
    struct span rest;                     /* What the parser has not got yet. */
};

/* Returns whether the text in elements of this name is dropped: that of scripts and the like (never_text) always, and
 * that of nav and the like (not_main) with main_text. */
static bool is_element_dropped(const struct parse *parse, const char *name) {
    if (is_in_sorted_names(name, never_text, COUNT(never_text))) return true;
    return parse->main_text && is_in_sorted_names(name, not_main, COUNT(not_main));
}

/* With main_text, appends the piece of text that ends here to html->main if it is in a main element, or else to
 * html->articles if it is in an article. Does nothing if the piece is blank or was dropped. */
static void append_inner_piece(struct parse *parse) {
    const struct output *text = &parse->html->text;
    struct output *inner = parse->open_mains > 0 ? &parse->html->main : &parse->html->articles;
    size_t length = text->length - parse->piece_start; /* 0: the piece was dropped. */
    bool is_inner = parse->main_text && parse->open_mains + parse->open_articles > 0;
    if (is_inner && parse->piece_bytes > 0 && length > 0) output_bytes(inner, text->bytes + parse->piece_start, length);
}

/* What ends a piece of text: an element within a paragraph, such as br, or one that is a block, or the document. */
enum piece_end { AT_LINE, AT_BLOCK };

/* Ends a piece of text at an element that breaks the line. At a block, leaves a blank line if html->divides_blocks asks
 * for it. Where only the main text is wanted, drops the piece if most of it is in links. */
static void end_piece(struct parse *parse, enum piece_end where) {
    struct output *text = &parse->html->text;
    if (parse->main_text && 2 * parse->piece_link_bytes > parse->piece_bytes) text->length = parse->piece_start;
    if (text->length > 0 && text->bytes[text->length - 1] != '\n') output_byte(text, '\n');
    if (where == AT_BLOCK && parse->html->divides_blocks && text->length > 1 && text->bytes[text->length - 2] != '\n')
        output_byte(text, '\n');
    if (text->error == 0) append_inner_piece(parse);
    parse->piece_start = text->length;
    parse->piece_bytes = parse->piece_link_bytes = 0;
}

/* Returns the value of the attribute of this name, or NULL if there is none, or it has no value. `attributes` may be
 * NULL; otherwise they are names and values in turn, which end with a NULL. */
static const char *find_attribute(const xmlChar **attributes, const char *name) {
    for (; attributes != NULL && attributes[0] != NULL; attributes += 2) {
        if (strcmp((const char *)attributes[0], name) == 0) return (const char *)attributes[1];
    }
    return NULL;
}

/* Returns how many attributes there are. Each is a name and a value, so every second entry is a name. */
static size_t count_attributes(const xmlChar **attributes) {
    size_t count = 0;
    while (attributes != NULL && attributes[2 * count] != NULL) count++;
    return count;
}

/* Makes the content of a meta element the description, if the element's name is description and none was found before.
 * `attributes` are as find_attribute takes them. */
static void set_description_if_first(struct parse *parse, const xmlChar **attributes) {
    const char *name = find_attribute(attributes, "name"), *content = find_attribute(attributes, "content");
    struct output *description = &parse->html->description;
    if (name == NULL || content == NULL || strcasecmp(name, "description") != 0 || description->length > 0) return;
    output_text(description, content);
}

/* Ends a piece of text where an element of this name begins or ends, if such an element breaks the line. */
static void end_piece_at_element(struct parse *parse, const char *name) {
    if (!is_in_sorted_names(name, within_line, COUNT(within_line)))
        end_piece(parse, is_in_sorted_names(name, within_block, COUNT(within_block)) ? AT_LINE : AT_BLOCK);
}

/* Ends the piece of text before an element that begins, and counts the element as open. Stops the parser if the element
 * is nested too deep, and notes if it has too many attributes. The parser calls this; `context` is the struct parse. */
static void note_element_begin(void *context, const xmlChar *element, const xmlChar **attributes) {
    struct parse *parse = context;
    const char *name = (const char *)element;
    if (++parse->depth > HTML_MOST_DEPTH && !parse->too_deep) {
        parse->too_deep = true;
        xmlStopParser(parse->parser);
    }
    if (count_attributes(attributes) > HTML_MOST_ATTRIBUTES) parse->too_many_attributes = true;
    end_piece_at_element(parse, name);
    if (is_element_dropped(parse, name)) parse->open_dropped++;
    if (strcmp(name, "a") == 0) parse->open_links++;
    if (strcmp(name, "title") == 0) parse->open_titles++;
    if (strcmp(name, "main") == 0) parse->open_mains++;
    if (strcmp(name, "article") == 0) parse->open_articles++;
    if (strcmp(name, "meta") == 0) set_description_if_first(parse, attributes);
}

/* Ends the piece of text in an element that ends, and no longer counts the element as open. The parser calls this;
 * `context` is the struct parse. */
static void note_element_end(void *context, const xmlChar *element) {
    struct parse *parse = context;
    const char *name = (const char *)element;
    if (parse->depth > 0) parse->depth--;
    end_piece_at_element(parse, name);
    if (is_element_dropped(parse, name) && parse->open_dropped > 0) parse->open_dropped--;
    if (strcmp(name, "a") == 0 && parse->open_links > 0) parse->open_links--;
    if (strcmp(name, "main") == 0 && parse->open_mains > 0) parse->open_mains--;
    if (strcmp(name, "article") == 0 && parse->open_articles > 0) parse->open_articles--;
    if (strcmp(name, "title") == 0 && parse->open_titles > 0) {
        parse->open_titles--;
        parse->has_title = true;
    }
}

/* Appends text of `length` bytes to the document's text, or to its title within a title element; not within an element
 * that is dropped. The parser calls this; `context` is the struct parse. */
static void append_text(void *context, const xmlChar *text, int length) {
    struct parse *parse = context;
    if (parse->open_dropped > 0) return;
    if (parse->open_titles > 0) {
        if (!parse->has_title) output_bytes(&parse->html->title, text, (size_t)length);
        return;
    }
    size_t nonblank_bytes = 0;
    for (int i = 0; i < length; i++) nonblank_bytes += text[i] > ' ';
    parse->piece_bytes += nonblank_bytes;
    if (parse->open_links > 0) parse->piece_link_bytes += nonblank_bytes;
    output_bytes(&parse->html->text, text, (size_t)length);
}

/* Replaces a document with NUL bytes by a copy in `buffer` with spaces in their place, because libxml2 takes a NUL byte
 * for the end. Returns false if memory ran out. */
static bool replace_nul_bytes(struct span *document, struct output *buffer) {
    if (document->length == 0 || memchr(document->bytes, '\0', document->length) == NULL) return true;
    buffer->length = 0;
    output_bytes(buffer, document->bytes, document->length);
    if (buffer->error != 0) return false;
    for (size_t i = 0; i < buffer->length; i++) {
        if (buffer->bytes[i] == '\0') buffer->bytes[i] = ' ';
    }
    *document = (struct span){buffer->bytes, buffer->length};
    return true;
}

/* Copies the next bytes of the document into the parser's buffer, which has room for `length`, and returns how many; 0
 * at the end. The parser calls this. It compares each attribute of an element with all before it, which takes hours if
 * there are many. So once an element has too many, the document ends here. */
static int feed_parser(void *context, char *buffer, int length) {
    struct parse *parse = context;
    /* The parser's array has two entries for each attribute, and doubles when it is full. So if it has more than twice
     * the entries that are allowed, they were exceeded. This is seen before the element ends. */
    if (parse->parser->maxatts > 4 * (HTML_MOST_ATTRIBUTES + 2)) parse->too_many_attributes = true;
    size_t byte_count = parse->rest.length < (size_t)length ? parse->rest.length : (size_t)length;
    if (parse->too_many_attributes) byte_count = 0;
    if (byte_count > 0) memcpy(buffer, parse->rest.bytes, byte_count);
    parse->rest.bytes += byte_count;
    parse->rest.length -= byte_count;
    return (int)byte_count;
}

/* Has libxml2 parse the document, and call the functions above for its elements and texts. Returns false if memory ran
 * out for the parser. */
static bool run_parser(struct parse *parse, struct span document) {
    htmlParserCtxtPtr parser = htmlNewParserCtxt();
    if (parser == NULL) return false;
    parse->parser = parser;
    memset(parser->sax, 0, sizeof *parser->sax); /* Without the other functions, no tree is made. */
    parser->sax->startElement = note_element_begin;
    parser->sax->endElement = note_element_end;
    parser->sax->characters = parser->sax->ignorableWhitespace = append_text;
    parser->userData = parse;
    parse->rest = document;
    htmlDocPtr tree = htmlCtxtReadIO(parser, feed_parser, NULL, parse, NULL, "UTF-8",
                                     HTML_PARSE_RECOVER | HTML_PARSE_NOERROR | HTML_PARSE_NOWARNING | HTML_PARSE_NONET |
                                         HTML_PARSE_NOIMPLIED | HTML_PARSE_IGNORE_ENC);
    if (tree != NULL) xmlFreeDoc(tree);
    htmlFreeParserCtxt(parser);
    end_piece(parse, AT_BLOCK); /* The document may end within a piece. */
    return true;
}

/* Replaces the document's text by html->main, or if that is empty, by html->articles; if both are empty, it stays. The
 * buffers are exchanged, so that each is freed once. */
static void replace_text_by_inner(struct html *html) {
    struct output *inner = html->main.length > 0 ? &html->main : &html->articles;
    struct output outer = html->text;
    if (inner->length == 0) return;
    html->text = *inner;
    *inner = outer;
}

bool html_parse(struct html *html, struct span document, bool main_text, struct bad *bad) {
    struct parse parse = {.html = html, .main_text = main_text};
    struct output without_nuls = OUTPUT_BUFFER;
    html->text.length = html->title.length = html->description.length = 0;
    html->main.length = html->articles.length = 0;
    bool parsed = replace_nul_bytes(&document, &without_nuls) && (document.length == 0 || run_parser(&parse, document));
    bool all_stored = html->text.error == 0 && html->title.error == 0 && html->description.error == 0 &&
                      html->main.error == 0 && html->articles.error == 0;
    free(without_nuls.bytes);
    if (!parsed || !all_stored) return bad_set_memory(bad);
    replace_text_by_inner(html);
    if (parse.too_deep) return bad_set(bad, BAD_HTML, "its elements are nested too deep: %d levels", HTML_MOST_DEPTH);
    if (parse.too_many_attributes)
        return bad_set(bad, BAD_HTML, "an element has more than %d attributes", HTML_MOST_ATTRIBUTES);
    return true;
}

/* How many bytes are searched for a character set: as many as browsers search. */
enum { MAX_SEARCHED_FOR_CHARSET = 1024 };

/* Copies a name of a character set to `name`. `rest` is what follows the word charset, such as ` = "utf-8">`. Returns
 * false if no name follows, or none that is known; then `name` may have changed. */
static bool copy_charset_name(struct span rest, char name[CHARSET_NAME_SIZE]) {
    size_t length = 0;
    span_skip(&rest, " \t\r\n");
    if (rest.length == 0 || *rest.bytes != '=') return false;
    rest.bytes++, rest.length--;
    span_skip(&rest, " \t\r\n\"'");
    /* strchr also finds a NUL, which ends the name as well. */
    while (length < rest.length && strchr(" \t\r\n\"';/>", rest.bytes[length]) == NULL) length++;
    if (length == 0 || length >= CHARSET_NAME_SIZE) return false;
    memcpy(name, rest.bytes, length);
    name[length] = '\0';
    return charset_is_known(name);
}

void html_find_charset(struct span document, char name[CHARSET_NAME_SIZE]) {
    static const char mark[] = "charset";
    enum { MARK_LENGTH = sizeof mark - 1 };
    bool found = false;
    if (document.length > MAX_SEARCHED_FOR_CHARSET) document.length = MAX_SEARCHED_FOR_CHARSET;
    for (; !found && document.length > MARK_LENGTH; document.bytes++, document.length--) {
        found = strncasecmp(document.bytes, mark, MARK_LENGTH) == 0 &&
                copy_charset_name((struct span){document.bytes + MARK_LENGTH, document.length - MARK_LENGTH}, name);
    }
    if (!found) name[0] = '\0';
    /* A document in which this name could be read is not UTF-16, even if it says so. */
    if (strncasecmp(name, "utf-16", 6) == 0 || strncasecmp(name, "utf-32", 6) == 0) strcpy(name, "utf-8");
}

void html_prepare_parser(void) { xmlInitParser(); }

void html_free(struct html *html) {
    free(html->text.bytes);
    free(html->title.bytes);
    free(html->description.bytes);
    free(html->main.bytes);
    free(html->articles.bytes);
}
