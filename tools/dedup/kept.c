/* kept.c: writes the records of documents, as they are in their inputs, into the folders of those to keep and to drop.
 * Documents that are whole files are copied as they are; of others, and of documents that are divided, parts of the
 * decompressed file are copied, and compressed again. */
#include "tools/dedup/folders.h"

#include "tools/documents/bits.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Copies all records, in the order of the journal. */
struct record_copier {
    struct journal *journal;
    const struct tree *const *trees;
    const uint64_t *dropped;
    const struct divided *divided; /* NULL: documents are not divided. */
    const struct extract_rules *rules;
    uint64_t next_number; /* The number of the next document that was compared. */
    struct output bytes;  /* Those of a document that is divided. */

    uint64_t open_file_number; /* The number of the open input, or UINT64_MAX if none is open. */
    struct source source;
    struct sink sinks[2]; /* The files of its name in both trees; one that gets nothing is not created. */
};

/* The indexes in `trees` and `sinks`. */
enum { KEPT, DROPPED };

/* ---- Documents that are whole files ---- */

/* Complains that the input at `path` can't be read, as the errno `error` says. Returns false always. */
static bool complain_of_input(const char *path, int error) { return complain("%s: %s", path, strerror(error)); }

/* Complains that what the input at `path` has can't be written into a tree, as the errno `error` says. Returns false
 * always. */
static bool complain_of_output(const struct tree *tree, const char *path, int error) {
    return complain("%s: can't write what %s has: %s", tree->path, path, strerror(error));
}

/* Writes all bytes, in as many steps as the system needs. Returns false, without a complaint, and sets errno if that
 * fails. */
static bool write_bytes(int file, const char *bytes, size_t length) {
    while (length > 0) {
        ssize_t written = write(file, bytes, length);
        if (written < 0 && errno != EINTR) return false;
        if (written < 0) continue;
        bytes += written;
        length -= (size_t)written;
    }
    return true;
}

/* Copies the open file `from`, from its position to its end, to the open file `to`: within the kernel as far as it can.
 * Where the kernel fails, or says that the end is there, as it may of files without a size, this goes on by reading and
 * writing. `tree` and `path`, that of the input, are for messages. Returns false after a complaint. */
static bool copy_bytes(const struct tree *tree, int from, int to, const char *path) {
    char bytes[1 << 16];
#ifdef IDX_LINUX
    for (;;) {
        ssize_t copied = copy_file_range(from, NULL, to, NULL, (size_t)1 << 30, 0);
        if (copied == 0 || (copied < 0 && errno != EINTR)) break;
    }
#endif
    for (;;) {
        ssize_t byte_count = read(from, bytes, sizeof bytes);
        if (byte_count == 0) return true;
        if (byte_count < 0 && errno != EINTR) return complain_of_input(path, errno);
        if (byte_count > 0 && !write_bytes(to, bytes, (size_t)byte_count)) return complain_of_output(tree, path, errno);
    }
}

/* Copies the file journal->file into a tree, and checks before and after that it is still as it was noted. Returns
 * false after a complaint. */
static bool copy_whole_file(struct record_copier *copier, const struct tree *tree) {
    const struct journal_file *file = &copier->journal->file;
    int from = open(file->path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
    if (from < 0) return complain_of_input(file->path, errno);
    bool copied = journal_check_file(file, from);
    int to = copied ? tree_create_file(tree, file->path) : -1;
    copied = to >= 0 && copy_bytes(tree, from, to, file->path) && journal_check_file(file, from);
    if (to >= 0 && close(to) != 0 && errno != EINTR && copied) copied = complain_of_output(tree, file->path, errno);
    close(from);
    return copied;
}

/* ---- Parts of files ---- */

/* Closes the input, if one is open, and its files in both trees. Returns false, after a complaint, if these could not
 * be written, or if the input has changed since it was noted. */
static bool close_files(struct record_copier *copier) {
    bool ok = true;
    if (copier->open_file_number == UINT64_MAX) return true;
    for (int i = 0; i < 2; i++) {
        struct sink *sink = &copier->sinks[i];
        if (sink->output.descriptor < 0 || sink_close(sink)) continue;
        ok = complain_of_output(copier->trees[i], copier->journal->file.path, sink->output.error);
    }
    ok = ok && journal_check_file(&copier->journal->file, copier->source.descriptor);
    source_close(&copier->source);
    copier->open_file_number = UINT64_MAX;
    return ok;
}

/* Opens the input of this number in the journal, and sets open_file_number. It must be the same as when it was noted.
 * Returns false after a complaint. */
static bool open_input(struct record_copier *copier, uint64_t number) {
    const struct journal_file *file = &copier->journal->file;
    journal_find_file(copier->journal, number);
    copier->source.regular_only = true;
    if (!source_open(&copier->source, file->path))
        return complain("%s: %s", file->path, copier->source.problem.sentence);
    if (journal_check_file(file, copier->source.descriptor))
        copier->open_file_number = number;
    else
        source_close(&copier->source);
    return copier->open_file_number == number;
}

/* Creates the open input's file in trees[tree_index], and opens sinks[tree_index] for it. Returns false after a
 * complaint. */
static bool create_sink(struct record_copier *copier, int tree_index) {
    int descriptor = tree_create_file(copier->trees[tree_index], copier->journal->file.path);
    if (descriptor >= 0) sink_open(&copier->sinks[tree_index], descriptor, source_get_filter(&copier->source));
    return descriptor >= 0;
}

/* Complains of a file that ended before a document in it, unless a signal ended it. Returns false always. */
static bool complain_of_early_end(const struct record_copier *copier) {
    const struct source *source = &copier->source;
    const char *reason = source->broken || source->unreadable
                             ? source->problem.sentence
                             : "it was changed while it was compared; run the command again";
    if (!interrupt_is_noted()) complain("%s: %s", copier->journal->file.path, reason);
    return false;
}

/* Reads the open input up to `end_offset`, an offset in the decompressed input, and writes what was read to the sink
 * unless that is NULL. An error of the sink stays in it. Returns false after a complaint, or if a signal was noted. */
static bool copy_or_skip_to(struct record_copier *copier, uint64_t end_offset, struct sink *sink) {
    struct source *source = &copier->source;
    const char *bytes;
    while (source->offset < end_offset) {
        size_t peeked = source_peek(source, 1, &bytes);
        if (peeked == 0) return complain_of_early_end(copier);
        if (peeked > end_offset - source->offset) peeked = (size_t)(end_offset - source->offset);
        if (sink != NULL) sink_write(sink, bytes, peeked);
        source_skip(source, peeked);
    }
    return true;
}

/* Reads on to where a document begins. If it is in another input than the open one, closes the open one and opens the
 * other. Returns false after a complaint, or if a signal was noted. */
static bool go_to_document(struct record_copier *copier, const struct place *place) {
    if (copier->open_file_number != place->file && !(close_files(copier) && open_input(copier, place->file)))
        return false;
    return copy_or_skip_to(copier, place->begins, NULL);
}

/* Copies a document that is not a whole file into trees[tree_index], compressed like its file. Returns false after a
 * complaint, or if a signal was noted. */
static bool copy_embedded_document(struct record_copier *copier, const struct place *place, int tree_index) {
    struct sink *sink = &copier->sinks[tree_index];
    if (!go_to_document(copier, place)) return false;
    if (sink->output.descriptor < 0 && !create_sink(copier, tree_index)) return false;
    if (!copy_or_skip_to(copier, place->ends, sink)) return false;
    if (place->unit == UNIT_RECORD) sink_write(sink, "\r\n\r\n", 4); /* The end of a record of WARC. */
    /* In WARC, each record is a compressed member of its own; lines share one member. */
    if (place->unit != UNIT_LINES) sink_end_member(sink);
    return sink->output.error == 0 || close_files(copier); /* This complains of the error, and returns false. */
}

/* ---- Documents that are divided ---- */

/* Reads a document into copier->bytes. Returns false after a complaint, or if a signal was noted. */
static bool read_document_bytes(struct record_copier *copier, const struct place *place) {
    struct source *source = &copier->source;
    const char *bytes;
    copier->bytes.length = 0;
    if (!go_to_document(copier, place)) return false;
    while (source->offset < place->ends) {
        size_t peeked = source_peek(source, 1, &bytes);
        if (peeked == 0) return complain_of_early_end(copier);
        if (peeked > place->ends - source->offset) peeked = (size_t)(place->ends - source->offset);
        output_bytes(&copier->bytes, bytes, peeked);
        source_skip(source, peeked);
    }
    return copier->bytes.error == 0 || complain("out of memory");
}

/* Writes document `number`, whose bytes are in copier->bytes, into trees[tree_index], if that is asked for, with only
 * the parts that belong there. parts.rest is the document's text within these bytes; what is before and behind the text
 * goes into both trees. Returns false after a complaint. */
static bool write_parts(struct record_copier *copier, const struct place *place, uint64_t number, struct parts parts,
                        int tree_index) {
    const char *bytes = copier->bytes.bytes, *text = parts.rest.bytes, *text_end = text + parts.rest.length;
    struct sink *sink = &copier->sinks[tree_index];
    struct span part;
    uint64_t next_part = copier->divided->documents[number].first_part;
    if (copier->trees[tree_index]->path == NULL) return true;
    if (sink->output.descriptor < 0 && !create_sink(copier, tree_index)) return false;
    sink_write(sink, bytes, (size_t)(text - bytes));
    for (uint32_t part_number = 1; parts_cut_next(&parts, &part); part_number++) {
        if (divided_part_is_dropped(copier->divided, number, part_number, &next_part) == (tree_index == DROPPED))
            sink_write(sink, part.bytes, part.length);
    }
    sink_write(sink, text_end, copier->bytes.length - (size_t)(text_end - bytes));
    if (place->unit != UNIT_LINES) sink_end_member(sink);
    return sink->output.error == 0 || close_files(copier); /* This complains of the error, and returns false. */
}

/* Divides a document that loses some parts between both trees: each gets the document with the parts that belong there.
 * `number` is its number among those that were compared. Returns false after a complaint, or if a signal was noted. */
static bool copy_divided_document(struct record_copier *copier, const struct place *place, uint64_t number) {
    struct parts parts = {.by = copier->divided->by};
    struct bad bad;
    if (!read_document_bytes(copier, place)) return false;
    struct span document = {copier->bytes.bytes, copier->bytes.length};
    if (place->unit == UNIT_LINES && document.length > 0 && document.bytes[document.length - 1] == '\n')
        document.length--;
    if (!parts_find_text(copier->rules, place->format, document, &parts.rest, &parts.escaped, &bad))
        return complain("%s: %s", copier->journal->file.path, bad.problem.sentence);
    return write_parts(copier, place, number, parts, KEPT) && write_parts(copier, place, number, parts, DROPPED);
}

/* ---- All ---- */

/* Copies the next document of the journal into the tree that it belongs to, if that is asked for, or divides it between
 * both trees. Returns false after a complaint, or if a signal was noted. */
static bool copy_document(struct record_copier *copier, const struct place *place) {
    const bool was_compared = place->fate == FATE_COMPARED; /* Only such a document has a number. */
    const uint64_t number = copier->next_number;
    copier->next_number += was_compared;
    const int tree_index = was_compared && bit_is_set(copier->dropped, number) ? DROPPED : KEPT;
    if (copier->divided != NULL && was_compared && tree_index == KEPT &&
        divided_has_dropped_part(copier->divided, number))
        return copy_divided_document(copier, place, number);
    if (copier->trees[tree_index]->path == NULL) return true;
    if (place->unit != UNIT_FILE) return copy_embedded_document(copier, place, tree_index);
    if (!close_files(copier)) return false;
    journal_find_file(copier->journal, place->file);
    return copy_whole_file(copier, copier->trees[tree_index]);
}

bool folders_copy_records(struct journal *journal, const struct tree *const trees[2], const uint64_t *dropped,
                          const struct divided *divided, const struct extract_rules *rules) {
    struct record_copier copier = {.journal = journal,
                                   .trees = trees,
                                   .dropped = dropped,
                                   .divided = divided,
                                   .rules = rules,
                                   .bytes = OUTPUT_BUFFER,
                                   .open_file_number = UINT64_MAX,
                                   .sinks = {SINK_CLOSED, SINK_CLOSED}};
    struct place place;
    bool ok = journal_rewind(journal);
    while (ok && journal_read_next_place(journal, &place)) ok = copy_document(&copier, &place) && !interrupt_is_noted();
    ok = close_files(&copier) && ok;
    source_free(&copier.source);
    free(copier.bytes.bytes);
    return ok;
}
