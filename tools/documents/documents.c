/* documents.c: reads inputs, and gives the documents that they are cut into. */
#include "tools/documents/documents.h"

#include "tools/documents/cut.h"
#include "tools/documents/sniff.h"
#include "tools/formats/extract.h"
#include "tools/formats/manual.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

/* Sets *raw to what is wrong with the open file, which is no text. `advice` ends the sentence for NONTEXT_OTHER; the
 * other kinds have their own. Returns true always. */
static bool set_nontext_file(const struct documents *documents, struct raw_document *raw, enum nontext kind,
                             const char *advice) {
    char sentence[200];
    if (kind != NONTEXT_OTHER) return cut_set_bad_file(documents, raw, BAD_BINARY, sniff_get_nontext_problem(kind));
    snprintf(sentence, sizeof sentence, "%s; %s", sniff_get_nontext_problem(kind), advice);
    return cut_set_bad_file(documents, raw, BAD_BINARY, sentence);
}

/* Returns whether the open file is standard input without a byte, which has no documents. An empty file is one. */
static bool is_empty_standard_input(struct documents *documents) {
    struct source *source = &documents->source;
    const char *bytes;
    return strcmp(documents->path, "-") == 0 && source_peek(source, 1, &bytes) == 0 && !source_failed(source);
}

/* Returns whether bytes begin with a whole line that is a JSON object by its first and last byte. */
static bool begins_with_object_line(struct span bytes) {
    if (bytes.length == 0 || *bytes.bytes != '{') return false;
    const char *line_end = memchr(bytes.bytes, '\n', bytes.length); /* Behind the brace at least. */
    if (line_end != NULL && line_end[-1] == '\r') line_end--;
    return line_end != NULL && line_end[-1] == '}';
}

/* Returns the next bytes of a source, without consuming them: at least `wanted`, or all if there are fewer. They are
 * valid until the source is used again. */
static struct span peek_first_bytes(struct source *source, size_t wanted) {
    struct span first_bytes = {"", 0};
    first_bytes.length = source_peek(source, wanted, &first_bytes.bytes);
    return first_bytes;
}

/* Returns the first bytes of the open file, by which its format is recognised: DOCUMENT_SNIFFED or more, if it has so
 * many. On standard input, a first line of JSON suffices, since whoever writes it may wait for the answer. */
static struct span peek_bytes_to_sniff(struct documents *documents) {
    struct source *source = &documents->source;
    if (strcmp(documents->path, "-") != 0) return peek_first_bytes(source, DOCUMENT_SNIFFED);
    struct span first_bytes = peek_first_bytes(source, 1);
    while (first_bytes.length < DOCUMENT_SNIFFED && !begins_with_object_line(first_bytes)) {
        size_t peeked = first_bytes.length;
        first_bytes = peek_first_bytes(source, peeked + 1);
        if (first_bytes.length == peeked) break;
    }
    return first_bytes;
}

/* Begins to cut the open file into documents. Returns whether *raw was set to what is wrong with the file: it is
 * refused, or is not text. If a file that is not text was found in a folder, it is only counted in left_out. */
static bool begin_cutting_file(struct documents *documents, bool in_folder, struct raw_document *raw) {
    struct span first_bytes = {"", 0};
    if (documents->format == FORMAT_AUTO || in_folder) first_bytes = peek_bytes_to_sniff(documents);
    struct sniffed sniffed = sniff_file(documents, first_bytes, in_folder);
    if (sniffed.refusal != NULL) return cut_set_bad_file(documents, raw, BAD_FILE, sniffed.refusal);
    if (sniffed.nontext != NONTEXT_NONE && !in_folder)
        return set_nontext_file(documents, raw, sniffed.nontext, "--format plain reads it all the same");
    if (sniffed.nontext != NONTEXT_NONE) {
        documents->left_out[sniffed.nontext]++;
        return false;
    }
    documents->found.read_files++;
    documents->has_json = documents->has_json || sniffed.format == FORMAT_JSONL;
    bool is_whole = sniffed.format == FORMAT_PLAIN || sniffed.format == FORMAT_HTML || sniffed.format == FORMAT_MAN;
    if (!is_whole || !is_empty_standard_input(documents)) cut_begin_source(documents, sniffed.format);
    return false;
}

/* Sets *date to when a regular file was last changed, in microseconds since 1970, and *size to its bytes. Of other
 * files, they become DATE_NONE and 0. */
static void find_date_and_size(int descriptor, int64_t *date, uint64_t *size) {
    struct stat status;
    bool is_regular = fstat(descriptor, &status) == 0 && S_ISREG(status.st_mode);
    *date = is_regular ? (int64_t)status.st_mtim.tv_sec * 1000000 + status.st_mtim.tv_nsec / 1000 : DATE_NONE;
    *size = is_regular ? (uint64_t)status.st_size : 0;
}

/* Notes the open file in the journal, if there is one; or if files are read once more, checks that this one is as it
 * was noted. Returns false after a complaint. */
static bool note_or_check_file(struct documents *documents, bool in_folder) {
    const int descriptor = documents->source.descriptor;
    if (documents->again != NULL) return journal_check_file(&documents->again->journal->file, descriptor);
    return documents->journal == NULL || journal_add_file(documents->journal, documents->path, in_folder, descriptor);
}

/* Opens the file at `path`, and begins to cut it. Returns whether *raw was set to what is wrong with the file. Sets
 * `stopped`, after a complaint, if the file has to be read twice and can't be, or has changed since it was noted. */
static bool open_file(struct documents *documents, const char *path, bool in_folder, struct raw_document *raw) {
    documents->path = path;
    documents->source_bytes_before = documents->source.bytes_read;
    documents->cut_state.format = FORMAT_AUTO; /* Nothing is cut from the file until begin_cutting_file. */
    if (strpbrk(path, "\t\n") != NULL)
        return cut_set_bad_file(documents, raw, BAD_FILE,
                                "the path contains a tab or a newline, which an ID can't contain; rename the file");
    if (!source_open(&documents->source, path)) return cut_set_unreadable_file(documents, raw);
    documents->is_open = true;
    documents->found.opened_files++;
    find_date_and_size(documents->source.descriptor, &documents->date, &documents->size);
    documents->stopped = !note_or_check_file(documents, in_folder);
    return !documents->stopped && begin_cutting_file(documents, in_folder, raw);
}

/* Sets *raw to the next document of the open file, or to why its source failed. Closes the file if there is neither.
 * Returns whether *raw was set. */
static bool cut_next_or_close(struct documents *documents, struct raw_document *raw) {
    const bool was_being_cut = documents->cut_state.format != FORMAT_AUTO;
    if (cut_next_document(documents, raw)) return true;
    documents->cut_state.format = FORMAT_AUTO; /* Nothing is left to cut, so the next call closes the file. */
    if (was_being_cut && source_failed(&documents->source)) return cut_set_unreadable_file(documents, raw);
    cut_free_line_ahead(documents);
    source_close(&documents->source);
    documents->bytes_before += documents->size;
    documents->source_bytes_before = documents->source.bytes_read;
    documents->is_open = false;
    return false;
}

/* Returns the state of links for a walk through the folders among `paths`: none was found yet. It points to `paths` and
 * `globs`. links_free frees it. */
static struct links make_links(const struct strings *paths, const struct globs *globs) {
    return (struct links){.paths = (const char *const *)paths->values, .path_count = paths->count, .globs = globs};
}

/* Returns documents->found, completed by the counts of links, which it lacks. */
static struct input_counts count_inputs_so_far(const struct documents *documents) {
    struct input_counts counts = documents->found;
    counts.known_links = documents->links.left_out[LINK_TO_KNOWN];
    /* In the enum, the kinds of links that count as left out are behind the known ones. */
    for (int kind = LINK_TO_FOLDER; kind < LINK_KINDS; kind++) counts.links += documents->links.left_out[kind];
    return counts;
}

/* Ends the walk through a folder. If the folder has files or links, but none was read, here or as another input,
 * complains and sets `failed`. Returns whether *raw was set to say that memory ran out. */
static bool end_folder_walk(struct documents *documents, struct raw_document *raw) {
    const struct input_counts now = count_inputs_so_far(documents), before = documents->found_before;
    const bool has_files_or_links = now.opened_files > before.opened_files || now.links > before.links;
    const bool is_read = now.read_files > before.read_files || now.known_links > before.known_links;
    const bool no_memory = documents->walk.no_memory;
    const char *path = documents->path = documents->walk.root;
    documents->failed = documents->failed || documents->walk.failed;
    folder_walk_end(&documents->walk);
    if (no_memory) return cut_set_bad_file(documents, raw, BAD_MEMORY, "out of memory");
    if (!has_files_or_links || is_read) return false;
    documents->failed = true;
    complain("%s: none of the files in it can be read as texts", path);
    return false;
}

/* Opens the next file with a document that is to be read once more. Sets *is_raw_set to whether *raw was set to what is
 * wrong with the file. Returns false at the end, or once `stopped` is set. */
static bool open_wanted_file(struct documents *documents, struct raw_document *raw, bool *is_raw_set) {
    const struct journal_file *file = second_reading_find_next_file(documents->again);
    documents->stopped = documents->again->failed;
    if (file == NULL) return false;
    documents->found.opened_files = documents->again->place.file; /* The file gets the number that it had before. */
    documents->source.regular_only = true;
    *is_raw_set = open_file(documents, file->path, file->in_folder, raw);
    return true;
}

/* Takes one step through the inputs: opens the next file, or begins or ends a folder. Without paths, standard input is
 * the only input. Sets *is_raw_set to true if *raw was set to what is wrong with the file or folder; beginning a folder
 * leaves *is_raw_set as it is. Returns false at the end, or once `stopped` is set. */
static bool open_next_input(struct documents *documents, struct raw_document *raw, bool *is_raw_set) {
    static char dash[] = "-", *standard_input[] = {dash};
    static const struct strings standard_paths = {standard_input, 1};
    if (documents->again != NULL) return open_wanted_file(documents, raw, is_raw_set);
    const struct strings *paths = documents->paths->count > 0 ? documents->paths : &standard_paths;
    if (documents->walk.root != NULL) {
        const char *path = folder_walk_next(&documents->walk);
        *is_raw_set = path != NULL ? open_file(documents, path, true, raw) : end_folder_walk(documents, raw);
        return true;
    }
    if (documents->next_path == paths->count) return false;
    if (documents->next_path == 0) documents->links = make_links(documents->paths, documents->globs);
    const char *path = paths->values[documents->next_path++];
    if (!folder_is_at(path)) {
        *is_raw_set = open_file(documents, path, false, raw);
        return true;
    }
    documents->found_before = count_inputs_so_far(documents);
    documents->walk = (struct folder_walk){.root = path, .globs = documents->globs, .links = &documents->links};
    return true;
}

bool documents_next(struct documents *documents, struct raw_document *raw) {
    bool found = false;
    while (!found && !documents->stopped) {
        if (documents->is_open)
            found = cut_next_or_close(documents, raw);
        else if (!open_next_input(documents, raw, &found))
            return false;
        if (!found || documents->again == NULL || second_reading_accept_if_wanted(documents->again, raw)) continue;
        raw_document_free(raw);
        found = false;
    }
    return found;
}

void documents_read_one(struct documents *documents, const char *path, struct raw_document *raw) {
    documents->path = path;
    if (!source_open(&documents->source, path)) {
        cut_set_unreadable_file(documents, raw);
        return;
    }
    struct sniffed sniffed = sniff_one_document(path, peek_first_bytes(&documents->source, DOCUMENT_SNIFFED));
    cut_begin_source(documents, sniffed.format);
    if (sniffed.nontext != NONTEXT_NONE)
        set_nontext_file(documents, raw, sniffed.nontext,
                         "idx fingerprint --format plain makes a fingerprint of it all the same");
    else if (!cut_next_document(documents, raw))
        cut_set_unreadable_file(documents, raw);
    source_close(&documents->source);
}

/* ---- Before documents are read ---- */

/* Returns whether the file at `path` is a manual page, by its name and its first bytes; false if it can't be read. */
static bool is_manual_page(struct source *source, const char *path) {
    struct stat status;
    if (!manual_has_page_name(path, strlen(path) - source_find_ending_length(path))) return false;
    if (stat(path, &status) != 0 || !S_ISREG(status.st_mode) || !source_open(source, path)) return false;
    bool found = sniff_one_document(path, peek_first_bytes(source, DOCUMENT_SNIFFED)).format == FORMAT_MAN;
    source_close(source);
    return found;
}

/* The files of inputs, which are visited one after the other without complaints about folders. */
struct file_list {
    const struct strings *paths;
    struct links links;
    struct folder_walk walk;
    size_t next_path; /* The index of the next input in `paths`. */
    bool in_folder;   /* The last input is a folder, through which the walk goes. */
};

/* Returns the files of the inputs at `paths` and of the folders among them, as a list at its first file. It points to
 * `paths` and `globs`. The caller frees it by free_files. */
static struct file_list start_file_list(const struct strings *paths, const struct globs *globs) {
    return (struct file_list){.paths = paths, .links = make_links(paths, globs)};
}

/* Returns the path of the next file in the inputs and their folders, or NULL at the end. An input that is no folder
 * counts as a file, whatever it is. */
static const char *advance_to_next_file(struct file_list *files) {
    for (;;) {
        const char *path = files->in_folder ? folder_walk_next(&files->walk) : NULL;
        if (path != NULL) return path;
        folder_walk_end(&files->walk);
        if (files->next_path == files->paths->count) return NULL;
        path = files->paths->values[files->next_path++];
        files->in_folder = folder_is_at(path);
        if (!files->in_folder) return path;
        files->walk =
            (struct folder_walk){.root = path, .globs = files->links.globs, .links = &files->links, .quiet = true};
    }
}

/* Frees what advance_to_next_file allocated. */
static void free_files(struct file_list *files) {
    folder_walk_end(&files->walk);
    links_free(&files->links);
}

bool documents_have_manual_page(const struct strings *paths, const struct globs *globs) {
    struct file_list files = start_file_list(paths, globs);
    struct source source = {.regular_only = true};
    const char *path;
    bool found = false;
    while (!found && (path = advance_to_next_file(&files)) != NULL) found = is_manual_page(&source, path);
    source_free(&source);
    free_files(&files);
    return found;
}

void documents_visit_formats(struct documents *documents, format_visitor visit, void *context) {
    struct file_list files = start_file_list(documents->paths, documents->globs);
    struct source *source = &documents->source;
    bool stopped = false;
    source->regular_only = true;
    while (!stopped && (documents->path = advance_to_next_file(&files)) != NULL) {
        if (!source_open(source, documents->path)) continue;
        const struct sniffed sniffed =
            sniff_file(documents, peek_first_bytes(source, DOCUMENT_SNIFFED), files.in_folder);
        source_close(source);
        if (sniffed.refusal == NULL && sniffed.nontext == NONTEXT_NONE)
            stopped = !visit(context, documents->path, sniffed.format);
    }
    free_files(&files);
}

uint64_t documents_count_bytes(const struct strings *paths, const struct globs *globs) {
    struct file_list files = start_file_list(paths, globs);
    struct stat status;
    uint64_t byte_count = 0;
    const char *path;
    bool are_files = true;
    while (are_files && (path = advance_to_next_file(&files)) != NULL) {
        are_files = strcmp(path, "-") != 0;
        if (!are_files || stat(path, &status) != 0) continue;
        are_files = S_ISREG(status.st_mode);
        byte_count += (uint64_t)status.st_size;
    }
    free_files(&files);
    return are_files ? byte_count : 0;
}

/* The bytes of a list of counts, as in `2 × PDF, 1 × ZIP`, with its NUL. */
enum { COUNT_LIST_BYTES = 400 };

/* Appends `count × name` to the list, unless the count is 0. What does not fit is cut off. */
static void append_count(char list[COUNT_LIST_BYTES], uint64_t count, const char *name) {
    size_t length = strlen(list);
    if (count > 0)
        snprintf(list + length, COUNT_LIST_BYTES - length, "%s%" PRIu64 " × %s", length > 0 ? ", " : "", count, name);
}

void documents_report_left_out(const struct documents *documents) {
    char file_counts[COUNT_LIST_BYTES] = "", link_counts[COUNT_LIST_BYTES] = "";
    for (int nontext = NONTEXT_NONE + 1; nontext < NONTEXT_KINDS; nontext++)
        append_count(file_counts, documents->left_out[nontext], sniff_get_nontext_name((enum nontext)nontext));
    for (int kind = LINK_TO_KNOWN; kind < LINK_KINDS; kind++)
        append_count(link_counts, documents->links.left_out[kind], links_get_kind_name((enum link_kind)kind));
    if (file_counts[0] != '\0') complain("left out files that are not text: %s", file_counts);
    if (link_counts[0] != '\0') complain("left out of folders: %s", link_counts);
}

void documents_free(struct documents *documents) {
    cut_free_line_ahead(documents);
    folder_walk_end(&documents->walk);
    links_free(&documents->links);
    source_free(&documents->source);
}
