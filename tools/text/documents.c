/* documents.c: reads inputs, and visits the documents that they are cut into. */
#include "tools/text/documents.h"

#include "tools/text/cut.h"
#include "tools/text/extract.h"
#include "tools/text/manual.h"
#include "tools/text/sniff.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* Tells the visitor that a file is no text, with the advice if its kind is unknown. */
static bool visit_binary(struct documents *documents, enum binary binary, const char *advice) {
    char sentence[200];
    if (binary != BINARY_OTHER) return cut_visit_bad(documents, BAD_BINARY, sniff_problem(binary));
    snprintf(sentence, sizeof sentence, "%s; %s", sniff_problem(binary), advice);
    return cut_visit_bad(documents, BAD_BINARY, sentence);
}

/* Returns whether this is standard input without a byte, which has no documents, unlike an empty file. */
static bool has_no_input(struct documents *documents) {
    struct source *source = &documents->source;
    const char *bytes;
    return strcmp(documents->path, "-") == 0 && source_peek(source, 1, &bytes) == 0 && !source_failed(source);
}

/* Returns whether bytes begin with a line that is a JSON object by its first and last byte. */
static bool begins_with_object_line(struct span begin) {
    const char *line_end = begin.length > 0 && *begin.bytes == '{' ? memchr(begin.bytes, '\n', begin.length) : NULL;
    if (line_end != NULL && line_end[-1] == '\r') line_end--;
    return line_end != NULL && line_end[-1] == '}';
}

/* Returns at least `want` first bytes of an open file, if it has so many. */
static struct span peek_at(struct source *source, size_t want) {
    struct span begin = {"", 0};
    begin.length = source_peek(source, want, &begin.bytes);
    return begin;
}

/* Returns the first bytes of the open file, by which its format is recognised. On standard input, a first line of JSON
 * suffices, since whoever writes it may wait for the answer. */
static struct span peek_at_beginning(struct documents *documents) {
    struct source *source = &documents->source;
    if (strcmp(documents->path, "-") != 0) return peek_at(source, DOCUMENT_SNIFFED);
    struct span begin = peek_at(source, 1);
    while (begin.length < DOCUMENT_SNIFFED && !begins_with_object_line(begin)) {
        size_t held = begin.length;
        begin = peek_at(source, held + 1);
        if (begin.length == held) break;
    }
    return begin;
}

/* Cuts the open file into documents. If it is not text, it is left out if it was found in a folder, and a bad record if
 * it was named. Returns false if the visitor stopped. */
static bool cut_opened_file(struct documents *documents, bool in_folder) {
    struct span begin = {"", 0};
    if (documents->format == FORMAT_AUTO || in_folder) begin = peek_at_beginning(documents);
    struct sniffed sniffed = sniff_file(documents, begin, in_folder);
    if (sniffed.refusal != NULL) return cut_visit_bad(documents, BAD_FILE, sniffed.refusal);
    if (sniffed.binary != BINARY_NONE && !in_folder)
        return visit_binary(documents, sniffed.binary, "--format plain reads it all the same");
    if (sniffed.binary != BINARY_NONE) {
        documents->left_out[sniffed.binary]++;
        return true;
    }
    documents->read_files++;
    documents->has_json = documents->has_json || sniffed.format == FORMAT_JSONL;
    switch (sniffed.format) {
        case FORMAT_JSONL:
        case FORMAT_TSV: return cut_lines(documents, sniffed.format);
        case FORMAT_FEATURES: return cut_features(documents);
        case FORMAT_WARC: return cut_warc(documents);
        default: return has_no_input(documents) || cut_whole(documents, sniffed.format);
    }
}

/* Sets when a regular file was last changed, and its size. Of other files, these are DATE_NONE and 0. */
static void find_date_and_size(int descriptor, int64_t *date, uint64_t *size) {
    struct stat status;
    bool is_regular = fstat(descriptor, &status) == 0 && S_ISREG(status.st_mode);
    *date = is_regular ? (int64_t)status.st_mtim.tv_sec * 1000000 + status.st_mtim.tv_nsec / 1000 : DATE_NONE;
    *size = is_regular ? (uint64_t)status.st_size : 0;
}

/* Opens a file, and visits it and its documents. Returns false if a visitor stopped. */
static bool read_file(struct documents *documents, const char *path, bool in_folder) {
    uint64_t size;
    documents->path = path;
    documents->read_before = documents->source.bytes_read;
    if (strpbrk(path, "\t\n") != NULL)
        return cut_visit_bad(documents, BAD_FILE,
                             "the path contains a tab or a newline, which an ID can't contain; rename the file");
    if (!source_open(&documents->source, path)) return cut_visit_problem(documents);
    const struct opened_file opened = {path, in_folder, documents->source.descriptor};
    documents->opened_files++;
    find_date_and_size(documents->source.descriptor, &documents->date, &size);
    bool ok = documents->visit_file == NULL || documents->visit_file(documents->context, &opened);
    if (ok) ok = cut_opened_file(documents, in_folder);
    source_close(&documents->source);
    documents->bytes_before += size;
    documents->read_before = documents->source.bytes_read;
    return ok;
}

/* Reads a file that was found in a folder. This is a folder_visitor. */
static bool read_file_in_folder(void *context, const char *path) {
    struct documents *documents = context;
    return read_file(documents, path, true);
}

void documents_check_folder(struct documents *documents, const char *path, const struct documents *before) {
    const uint64_t *left_out = documents->links.left_out, *left_out_before = before->links.left_out;
    bool has_any = documents->opened_files > before->opened_files;
    for (int kind = LINK_TO_FOLDER; kind < LINK_KINDS; kind++) has_any |= left_out[kind] > left_out_before[kind];
    bool is_known = left_out[LINK_TO_KNOWN] > left_out_before[LINK_TO_KNOWN];
    if (!has_any || is_known || documents->read_files > before->read_files) return;
    documents->failed = true;
    complain("%s: none of the files in it can be read as texts", path);
}

/* Returns links of which none was met yet, in folders of these inputs. */
static struct links begin_links(const struct strings *paths, const struct globs *globs) {
    return (struct links){.paths = (const char *const *)paths->values, .path_count = paths->count, .globs = globs};
}

/* Reads the files in a folder and below it. Returns false if a visitor stopped. */
static bool read_folder(struct documents *documents, const char *path) {
    const struct documents before = *documents;
    bool ok =
        folder_walk(path, documents->globs, &documents->links, read_file_in_folder, documents, &documents->failed);
    if (ok) documents_check_folder(documents, path, &before);
    return ok;
}

bool documents_read(struct documents *documents, const struct strings *paths) {
    static char dash[] = "-", *standard_input[] = {dash};
    char **path = paths->count == 0 ? standard_input : paths->values;
    size_t count = paths->count == 0 ? 1 : paths->count;
    documents->links = begin_links(paths, documents->globs);
    for (size_t i = 0; i < count; i++) {
        bool ok = folder_is_at(path[i]) ? read_folder(documents, path[i]) : read_file(documents, path[i], false);
        if (!ok) return false;
    }
    return true;
}

bool documents_read_again(struct documents *documents, const struct opened_file *file, uint64_t number) {
    documents->opened_files = number; /* The file gets this number when it is opened. */
    documents->source.regular_only = true;
    return read_file(documents, file->path, file->in_folder);
}

bool documents_read_one(struct documents *documents, const char *path) {
    documents->path = path;
    if (!source_open(&documents->source, path)) return cut_visit_problem(documents);
    struct sniffed sniffed = sniff_one_document(path, peek_at(&documents->source, DOCUMENT_SNIFFED));
    bool ok = sniffed.binary == BINARY_NONE
                  ? cut_whole(documents, sniffed.format)
                  : visit_binary(documents, sniffed.binary,
                                 "idx fingerprint --format plain makes a fingerprint of it all the same");
    source_close(&documents->source);
    return ok;
}

/* ---- Before documents are read ---- */

struct manual_search {
    struct source source;
    bool found;
};

/* Notes whether a file is a manual page, and stops the search if so. This is a folder_visitor. */
static bool find_manual(void *context, const char *path) {
    struct manual_search *search = context;
    struct stat status;
    if (!manual_is_named(path, strlen(path) - source_ending(path))) return true;
    if (stat(path, &status) != 0 || !S_ISREG(status.st_mode) || !source_open(&search->source, path)) return true;
    search->found = sniff_one_document(path, peek_at(&search->source, DOCUMENT_SNIFFED)).format == FORMAT_MAN;
    source_close(&search->source);
    return !search->found;
}

bool documents_have_manual(const struct strings *paths, const struct globs *globs) {
    struct manual_search search = {.source.regular_only = true};
    struct links links = begin_links(paths, globs);
    for (size_t i = 0; i < paths->count && !search.found; i++) {
        const char *path = paths->values[i];
        if (folder_is_at(path))
            folder_walk_quietly(path, globs, &links, find_manual, &search);
        else
            find_manual(&search, path);
    }
    source_free(&search.source);
    links_free(&links);
    return search.found;
}

struct format_search {
    struct documents *documents;
    format_visitor visit;
    bool in_folder, stopped; /* A folder is being searched; the visitor stopped the search. */
};

/* Visits the format of a file, unless it is no text. This is a folder_visitor. */
static bool visit_format(void *context, const char *path) {
    struct format_search *search = context;
    struct documents *documents = search->documents;
    documents->path = path;
    if (!source_open(&documents->source, path)) return true;
    const struct sniffed sniffed =
        sniff_file(documents, peek_at(&documents->source, DOCUMENT_SNIFFED), search->in_folder);
    source_close(&documents->source);
    if (sniffed.refusal != NULL || sniffed.binary != BINARY_NONE) return true;
    search->stopped = !search->visit(documents->context, path, sniffed.format);
    return !search->stopped;
}

void documents_visit_formats(struct documents *documents, const struct strings *paths, format_visitor visit) {
    struct format_search search = {documents, visit, false, false};
    struct links links = begin_links(paths, documents->globs);
    documents->source.regular_only = true;
    for (size_t i = 0; i < paths->count && !search.stopped; i++) {
        const char *path = paths->values[i];
        search.in_folder = folder_is_at(path);
        if (search.in_folder)
            folder_walk_quietly(path, documents->globs, &links, visit_format, &search);
        else
            visit_format(&search, path);
    }
    links_free(&links);
}

/* Adds the size of a file. This is a folder_visitor. */
static bool add_size(void *context, const char *path) {
    struct stat status;
    uint64_t *bytes = context;
    if (stat(path, &status) == 0) *bytes += (uint64_t)status.st_size;
    return true;
}

uint64_t documents_count_bytes(const struct strings *paths, const struct globs *globs) {
    struct stat status;
    struct links links = begin_links(paths, globs);
    uint64_t bytes = 0;
    bool are_files = true;
    for (size_t i = 0; i < paths->count && are_files; i++) {
        const char *path = paths->values[i];
        are_files = strcmp(path, "-") != 0;
        if (!are_files || stat(path, &status) != 0) continue;
        if (S_ISDIR(status.st_mode))
            folder_walk_quietly(path, globs, &links, add_size, &bytes);
        else if (S_ISREG(status.st_mode))
            bytes += (uint64_t)status.st_size;
        else
            are_files = false;
    }
    links_free(&links);
    return are_files ? bytes : 0;
}

/* A list of counts, as in `2 × PDF, 1 × ZIP`. */
struct count_list {
    char text[400];
};

static void list_count(struct count_list *list, uint64_t count, const char *name) {
    size_t length = strlen(list->text);
    if (count > 0)
        snprintf(list->text + length, sizeof list->text - length, "%s%" PRIu64 " × %s", length > 0 ? ", " : "", count,
                 name);
}

void documents_say_left_out(const struct documents *documents) {
    struct count_list files = {""}, links = {""};
    for (int binary = BINARY_NONE + 1; binary < BINARY_KINDS; binary++)
        list_count(&files, documents->left_out[binary], sniff_name((enum binary)binary));
    for (int kind = LINK_TO_KNOWN; kind < LINK_KINDS; kind++)
        list_count(&links, documents->links.left_out[kind], links_name((enum link_kind)kind));
    if (files.text[0] != '\0') complain("left out files that are not text: %s", files.text);
    if (links.text[0] != '\0') complain("left out of folders: %s", links.text);
}

void documents_free(struct documents *documents) {
    links_free(&documents->links);
    source_free(&documents->source);
}
