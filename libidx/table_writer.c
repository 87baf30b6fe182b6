/* table_writer.c: encodes a stream of fingerprints, a window of them at a time, and keeps the blocks' keys for the
 * directory behind them, whose number of lines is known only then. */
#include "libidx/table_writer.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "format/directory.h"
#include "format/table.h"
#include "libidx/error.h"
#include "libidx/file.h"

/* Fingerprints in memory: more than any block holds. */
#define WINDOW ((size_t)1 << 16)
_Static_assert(WINDOW > IDXF_MAX_BLOCK_FINGERPRINTS, "a block is chosen from what is in memory");

struct keys {
    uint64_t *items; /* all, or those that came after the spilled ones */
    size_t count, capacity, most;
    int file;         /* or -1 */
    uint64_t spilled; /* keys in the file */
};

struct writing {
    struct idxi_table_job *job;
    struct idx_error *error;
    struct idxi_page_writer pages;
    struct keys keys;
    uint64_t *window; /* fingerprints read, of which those from `begin` to `end` are still to be written */
    size_t begin, end;
    bool ended; /* the stream has no more */
    struct idxf_statistics_counter counter;
};

static enum idx_status report_progress(const struct writing *writing, uint64_t fingerprints) {
    const struct idxi_table_job *job = writing->job;
    bool goes_on = job->progress == NULL || job->progress(job->context, fingerprints);
    return goes_on ? IDX_OK : idxi_fail(writing->error, IDX_CANCELLED, NULL, "cancelled: nothing was published");
}

/* ---- Keys ---- */

static enum idx_status spill(struct writing *writing) {
    struct keys *keys = &writing->keys;
    const struct idxi_table_job *job = writing->job;
    if (keys->file < 0)
        IDXI_TRY(idxi_temporary_file(&keys->file, job->temporary_folder, job->temporary_path, writing->error));
    IDXI_TRY(idxi_write_at(keys->file, keys->items, keys->count * sizeof *keys->items,
                           keys->spilled * sizeof *keys->items, job->temporary_path, writing->error));
    keys->spilled += keys->count;
    keys->count = 0;
    return IDX_OK;
}

static enum idx_status grow(struct keys *keys, struct idx_error *error) {
    size_t capacity = keys->capacity * 2 + 1024;
    if (capacity > keys->most) capacity = keys->most;
    uint64_t *grown = realloc(keys->items, capacity * sizeof *grown);
    if (grown == NULL) return idxi_fail_memory(error);
    keys->items = grown;
    keys->capacity = capacity;
    return IDX_OK;
}

static enum idx_status add_key(struct writing *writing, uint64_t key) {
    struct keys *keys = &writing->keys;
    if (keys->spilled + keys->count == IDXF_MAX_BLOCKS)
        return idxi_fail(writing->error, IDX_LIMIT, NULL, "a table can hold %lld blocks at most: choose larger blocks",
                         (long long)IDXF_MAX_BLOCKS);
    if (keys->count == keys->most) IDXI_TRY(spill(writing));
    if (keys->count == keys->capacity) IDXI_TRY(grow(keys, writing->error));
    keys->items[keys->count++] = key;
    return IDX_OK;
}

/* ---- Blocks ---- */

/* Reads as many fingerprints as the window has room for. */
static enum idx_status fill_window(struct writing *writing) {
    struct idxi_stream *stream = writing->job->fingerprints;
    size_t left = writing->end - writing->begin, count;
    memmove(writing->window, writing->window + writing->begin, left * sizeof *writing->window);
    writing->begin = 0;
    for (writing->end = left; writing->end < WINDOW && !writing->ended; writing->end += count) {
        IDXI_TRY(
            stream->read(stream, writing->window + writing->end, NULL, WINDOW - writing->end, &count, writing->error));
        writing->ended = count == 0;
    }
    idxf_statistics_add(&writing->counter, writing->window + left, writing->end - left);
    return IDX_OK;
}

/* The most fingerprints that a block can hold: the writer's choice depends on no more of them. */
static size_t get_most(const struct idxf_table_header *header) {
    return header->codec == IDXF_CODEC_DELTA ? IDXF_MAX_DELTA_FINGERPRINTS
                                             : (header->block_size - IDXF_BLOCK_HEADER_BYTES) * 8 + 1;
}

static enum idx_status write_window(struct writing *writing, struct idxf_encoder *encoder) {
    size_t most = writing->ended ? 1 : get_most(&writing->job->header);
    uint8_t block[IDXF_MAX_BLOCK_SIZE];
    while (writing->end - writing->begin >= most) {
        writing->begin +=
            idxf_block_encode(encoder, writing->window + writing->begin, writing->end - writing->begin, block);
        IDXI_TRY(add_key(writing, writing->window[writing->begin - 1]));
        IDXI_TRY(idxi_page_writer_write(&writing->pages, block, encoder->block_size, writing->error));
    }
    writing->job->header.fingerprints += writing->begin;
    return report_progress(writing, writing->begin);
}

/* xor: counts the positions between all neighbours for the code. */
static enum idx_status make_code(struct writing *writing) {
    struct idxi_stream *stream = writing->job->fingerprints;
    uint64_t counts[IDXF_SYMBOLS] = {0}, previous = 0;
    bool any = false;
    for (size_t count;;) {
        IDXI_TRY(stream->read(stream, writing->window, NULL, WINDOW, &count, writing->error));
        if (count == 0) break;
        if (any) counts[idxf_position(previous, writing->window[0])]++;
        for (size_t i = 1; i < count; i++) counts[idxf_position(writing->window[i - 1], writing->window[i])]++;
        previous = writing->window[count - 1];
        any = true;
        IDXI_TRY(report_progress(writing, 0));
    }
    idxf_code_lengths(counts, writing->job->header.lengths);
    return stream->rewind(stream, writing->error);
}

static enum idx_status write_blocks(struct writing *writing) {
    struct idxf_table_header *header = &writing->job->header;
    struct idxf_permutation permutation;
    struct idxf_encoder encoder;
    memset(header->lengths, 0, sizeof header->lengths);
    if (header->codec == IDXF_CODEC_XOR) IDXI_TRY(make_code(writing));
    idxf_encoder_init(&encoder, (enum idxf_codec)header->codec, header->bits, header->block_size, header->lengths);
    idxf_statistics_begin(&writing->counter, (unsigned)__builtin_popcountll(header->mask));
    header->fingerprints = 0;
    while (!writing->ended) {
        IDXI_TRY(fill_window(writing));
        IDXI_TRY(write_window(writing, &encoder));
    }
    idxf_permutation_init(&permutation, header->mask, header->bits);
    header->statistics = idxf_statistics_end(&writing->counter, &permutation);
    header->blocks = writing->keys.spilled + writing->keys.count;
    return idxi_page_writer_pad(&writing->pages, writing->error);
}

/* ---- The directory ---- */

static enum idx_status write_line(struct writing *writing, struct idxf_directory_writer *directory) {
    uint8_t bytes[IDXF_LINE_BYTES];
    idxf_directory_take(directory, bytes);
    return idxi_page_writer_write(&writing->pages, bytes, sizeof bytes, writing->error);
}

static enum idx_status write_lines(struct writing *writing, struct idxf_directory_writer *directory,
                                   const uint64_t *keys, size_t count) {
    for (size_t i = 0; i < count; i++) {
        while (!idxf_directory_add(directory, keys[i])) IDXI_TRY(write_line(writing, directory));
    }
    return IDX_OK;
}

/* Reads the keys back, as many at a time as may be in memory, and goes through them. */
static enum idx_status write_spilled(struct writing *writing, struct idxf_directory_writer *directory) {
    struct keys *keys = &writing->keys;
    IDXI_TRY(spill(writing));
    for (uint64_t done = 0; done < keys->spilled; done += keys->count) {
        keys->count = keys->spilled - done < keys->most ? (size_t)(keys->spilled - done) : keys->most;
        IDXI_TRY(idxi_read_at(keys->file, keys->items, keys->count * sizeof *keys->items, done * sizeof *keys->items,
                              writing->job->temporary_path, writing->error));
        IDXI_TRY(write_lines(writing, directory, keys->items, keys->count));
    }
    return IDX_OK;
}

static enum idx_status write_directory(struct writing *writing) {
    struct keys *keys = &writing->keys;
    struct idxf_directory_writer directory;
    idxf_directory_begin(&directory, idxf_directory_lines(writing->job->header.blocks));
    if (keys->spilled > 0)
        IDXI_TRY(write_spilled(writing, &directory));
    else
        IDXI_TRY(write_lines(writing, &directory, keys->items, keys->count));
    while (directory.line < directory.lines) IDXI_TRY(write_line(writing, &directory));
    return idxi_page_writer_pad(&writing->pages, writing->error);
}

/* ---- The whole ---- */

static enum idx_status write_sections(struct writing *writing) {
    const struct idxi_table_job *job = writing->job;
    uint8_t page[IDXF_PAGE_SIZE];
    writing->window = malloc(WINDOW * sizeof *writing->window);
    if (writing->window == NULL) return idxi_fail_memory(writing->error);
    IDXI_TRY(idxi_page_writer_open(&writing->pages, job->folder, job->name, IDXF_PAGE_SIZE, job->path, writing->error));
    IDXI_TRY(write_blocks(writing));
    IDXI_TRY(write_directory(writing));
    IDXI_TRY(idxi_page_writer_write_checksums(&writing->pages, writing->error));
    idxf_table_header_write(&job->header, page);
    return idxi_page_writer_finish(&writing->pages, page, sizeof page, writing->error);
}

enum idx_status idxi_table_write(struct idxi_table_job *job, uint64_t *file_size, struct idx_error *error) {
    size_t keys = job->key_memory / sizeof(uint64_t);
    struct writing writing = {
        .job = job, .error = error, .pages = {.fd = -1}, .keys = {.file = -1, .most = keys > 0 ? keys : 1}};
    enum idx_status status = write_sections(&writing);
    if (status == IDX_OK) *file_size = writing.pages.written;
    idxi_page_writer_close(&writing.pages);
    if (writing.keys.file >= 0) close(writing.keys.file);
    free(writing.keys.items);
    free(writing.window);
    return status;
}
