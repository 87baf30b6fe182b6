/* table_writer.c: encodes a stream of fingerprints, a window of them at a time. It keeps the keys of the blocks for the
 * directory after them, because the number of directory lines is known only at the end. */
#include "libidx/segment/table_writer.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "format/directory.h"
#include "libidx/base/base.h"

#define WINDOW ((size_t)1 << 16) /* fingerprints in memory at a time: more than any block holds */
_Static_assert(WINDOW > IDXF_MAX_BLOCK_FINGERPRINTS, "a block is chosen from what is in memory");

/* The keys of the blocks so far. At most `max` are in memory; of more, the first ones are in a temporary file. */
struct keys {
    uint64_t *items; /* those that are not in the file */
    size_t count, capacity, max;
    int file;         /* descriptor of the temporary file; -1: there is none */
    uint64_t spilled; /* keys in the file */
};

/* A table that is being written. */
struct writing {
    struct idxi_table_job *job;
    struct idx_error *error;
    struct idxi_page_writer pages;
    struct keys keys;
    uint64_t *window; /* fingerprints read; those from `begin` to `end` are still to be written */
    size_t begin, end;
    bool ended; /* the stream has no more */
    struct idxf_statistics_counter counter;
    struct idxf_encoder encoder;
};

/* Reports that so many more fingerprints were written. Fails with IDX_CANCELLED if job->progress returns false. */
static enum idx_status report_progress(const struct writing *writing, uint64_t fingerprints) {
    const struct idxi_table_job *job = writing->job;
    bool goes_on = job->progress == NULL || job->progress(job->context, fingerprints);
    return goes_on ? IDX_OK : idxi_fail(writing->error, IDX_CANCELLED, NULL, "cancelled: nothing was published");
}

/* ---- Keys ---- */

/* Appends the keys in memory to the temporary file, which is made first if need be. */
static enum idx_status spill_keys(struct writing *writing) {
    struct keys *keys = &writing->keys;
    const struct idxi_table_job *job = writing->job;
    if (keys->file < 0)
        IDXI_TRY(idxi_make_temporary_file(&keys->file, job->temporary_folder, job->temporary_path, writing->error));
    IDXI_TRY(idxi_write_at(keys->file, keys->items, keys->count * sizeof *keys->items,
                           keys->spilled * sizeof *keys->items, job->temporary_path, writing->error));
    keys->spilled += keys->count;
    keys->count = 0;
    return IDX_OK;
}

/* Raises the capacity for keys in memory, up to keys->max. */
static enum idx_status grow_keys(struct keys *keys, struct idx_error *error) {
    size_t new_capacity = keys->capacity * 2 + 1024;
    if (new_capacity > keys->max) new_capacity = keys->max;
    uint64_t *new_items = realloc(keys->items, new_capacity * sizeof *new_items);
    if (new_items == NULL) return idxi_fail_memory(error);
    keys->items = new_items;
    keys->capacity = new_capacity;
    return IDX_OK;
}

/* Appends the key of a block that was written. Fails with IDX_LIMIT if the table has too many blocks. */
static enum idx_status append_key(struct writing *writing, uint64_t key) {
    struct keys *keys = &writing->keys;
    if (keys->spilled + keys->count == IDXF_MAX_BLOCKS)
        return idxi_fail(writing->error, IDX_LIMIT, NULL, "a table can have at most %lld blocks: choose larger blocks",
                         (long long)IDXF_MAX_BLOCKS);
    if (keys->count == keys->max) IDXI_TRY(spill_keys(writing));
    if (keys->count == keys->capacity) IDXI_TRY(grow_keys(keys, writing->error));
    keys->items[keys->count++] = key;
    return IDX_OK;
}

/* ---- Blocks ---- */

/* Moves the fingerprints that are still to be written to the front of the window, fills what is left of it as far as
 * the stream goes, and counts the fingerprints that were read in the statistics. */
static enum idx_status fill_window(struct writing *writing) {
    struct idxi_stream *stream = writing->job->fingerprints;
    size_t kept = writing->end - writing->begin, count;
    memmove(writing->window, writing->window + writing->begin, kept * sizeof *writing->window);
    writing->begin = 0;
    for (writing->end = kept; writing->end < WINDOW && !writing->ended; writing->end += count) {
        IDXI_TRY(
            stream->read(stream, writing->window + writing->end, NULL, WINDOW - writing->end, &count, writing->error));
        writing->ended = count == 0;
    }
    idxf_statistics_add(&writing->counter, writing->window + kept, writing->end - kept);
    return IDX_OK;
}

/* Writes blocks of the fingerprints in the window, until too few are left to choose those of another block: that
 * depends on the next IDXF_MAX_BLOCK_FINGERPRINTS, or on all that are left at the end of the stream. */
static enum idx_status write_blocks_of_window(struct writing *writing, struct idxf_encoder *encoder) {
    size_t min_left = writing->ended ? 1 : IDXF_MAX_BLOCK_FINGERPRINTS;
    uint8_t block[IDXF_MAX_BLOCK_SIZE];
    while (writing->end - writing->begin >= min_left) {
        writing->begin +=
            idxf_block_encode(encoder, writing->window + writing->begin, writing->end - writing->begin, block);
        IDXI_TRY(append_key(writing, writing->window[writing->begin - 1]));
        IDXI_TRY(idxi_page_writer_write(&writing->pages, block, encoder->form.block_size, writing->error));
    }
    writing->job->header.fingerprints += writing->begin;
    return report_progress(writing, writing->begin);
}

#define MIN_COUNTED 4096 /* fewer fingerprints are no reason for a code of their own */

/* Sets form->code to one of the table's own if that saves more than a fiftieth of the bits, judged by the fingerprints
 * in the window: the first ones, or all. Sets form->long_codes by the code that is used. Leaves the form as it is if
 * there are fewer than MIN_COUNTED fingerprints. */
static void choose_code(const struct writing *writing, struct idxf_block_form *form) {
    struct idxf_difference_counts counts = {{0}};
    struct idxf_code own_code;
    if (writing->end < MIN_COUNTED) return;
    idxf_count_differences(&counts, writing->window[0], writing->window + 1, writing->end - 1, form->bits);
    idxf_code_choose(&own_code, &counts, form->bits);
    struct idxf_code_cost current_cost = idxf_code_compute_cost(&form->code, &counts, form->bits);
    struct idxf_code_cost own_cost = idxf_code_compute_cost(&own_code, &counts, form->bits);
    /* own < current * 49 / 50, without an overflow */
    if ((current_cost.codes + current_cost.tails) / 50 > (own_cost.codes + own_cost.tails) / 49) form->code = own_code;
    form->long_codes = idxf_needs_long_codes(form, &counts);
}

/* Writes all blocks, and completes the header but for the lists of the directory. */
static enum idx_status write_blocks(struct writing *writing) {
    struct idxf_table_header *header = &writing->job->header;
    struct idxf_permutation permutation;
    struct idxf_block_form form = idxf_table_get_block_form(header);
    struct idxf_encoder *encoder = &writing->encoder;
    idxf_statistics_begin(&writing->counter, (unsigned)__builtin_popcountll(header->mask));
    header->fingerprints = 0;
    IDXI_TRY(fill_window(writing));
    choose_code(writing, &form);
    header->code = form.code;
    header->long_codes = form.long_codes;
    idxf_encoder_init(encoder, &form);
    for (;;) {
        IDXI_TRY(write_blocks_of_window(writing, encoder));
        if (writing->ended) break;
        IDXI_TRY(fill_window(writing));
    }
    idxf_permutation_init(&permutation, header->mask, header->bits);
    header->statistics = idxf_statistics_end(&writing->counter, &permutation);
    header->blocks = writing->keys.spilled + writing->keys.count;
    return idxi_page_writer_pad(&writing->pages, writing->error);
}

/* ---- The directory ---- */

/* The list of a line, and the number of its first key. */
struct line_list {
    struct idxf_list list;
    uint64_t first_key;
};

/* A directory that is being made: first the lines, from all keys; then the lists, from all keys again. */
struct making {
    struct writing *writing;
    struct idxf_directory_writer directory;
    struct line_list *lists; /* of all lines that have one; they are written after all lines */
    size_t list_count, list_capacity;
    size_t current_list;
    uint64_t key_number; /* of the current key */
    uint64_t page_begin; /* where `page` begins among the bytes of all lists */
    uint8_t page[IDXF_PAGE_SIZE];
};

/* Appends the list of a line that was written to making->lists, if the line has one. */
static enum idx_status append_line_list(struct making *making, const uint8_t *line) {
    if (idxf_count_listed_keys(line) == 0) return IDX_OK;
    IDXI_GROW(making->lists, making->list_capacity, making->list_count + 1, making->writing->error);
    making->lists[making->list_count++] = (struct line_list){idxf_line_read_list(line), idxf_get_first_block(line)};
    return IDX_OK;
}

/* Writes the current line of the directory, and begins the next one. */
static enum idx_status write_directory_line(struct making *making) {
    uint8_t bytes[IDXF_LINE_BYTES];
    idxf_directory_write_line(&making->directory, bytes);
    IDXI_TRY(append_line_list(making, bytes));
    return idxi_page_writer_write(&making->writing->pages, bytes, sizeof bytes, making->writing->error);
}

/* Adds keys to lines of the directory, each of which is written as soon as a key belongs to a later one. */
static enum idx_status add_keys_to_lines(struct making *making, const uint64_t *keys, size_t count) {
    for (size_t i = 0; i < count; i++) {
        while (!idxf_directory_add_key(&making->directory, keys[i])) IDXI_TRY(write_directory_line(making));
    }
    return IDX_OK;
}

/* Writes the first `size` bytes of making->page, and clears the page for the bytes of lists that follow them. */
static enum idx_status write_list_page(struct making *making, size_t size) {
    struct writing *writing = making->writing;
    IDXI_TRY(idxi_page_writer_write(&writing->pages, making->page, size, writing->error));
    making->page_begin += size;
    memset(making->page, 0, sizeof making->page);
    return IDX_OK;
}

/* Adds those of the next `count` keys that belong to lists to making->page, and writes each full page. A key that
 * crosses the end of a page is added to both. */
static enum idx_status add_keys_to_lists(struct making *making, const uint64_t *keys, size_t count) {
    for (size_t i = 0; i < count; i++, making->key_number++) {
        const struct line_list *current = &making->lists[making->current_list],
                               *end = making->lists + making->list_count;
        while (current < end && making->key_number >= current->first_key + current->list.count) current++;
        making->current_list = (size_t)(current - making->lists);
        if (current == end || making->key_number < current->first_key) continue;
        uint64_t number = making->key_number - current->first_key, size = sizeof making->page;
        uint64_t part = idxf_find_place(keys[i], making->directory.lines).part;
        idxf_list_write_key(&current->list, number, part, making->page_begin, making->page_begin + size, making->page);
        uint64_t key_end = current->list.at + ((number + 1) * current->list.width + 7) / 8;
        if (key_end <= making->page_begin + size) continue;
        IDXI_TRY(write_list_page(making, (size_t)size));
        idxf_list_write_key(&current->list, number, part, making->page_begin, making->page_begin + size, making->page);
    }
    return IDX_OK;
}

/* Calls `visit` for all keys in their order, in portions. Keys in the file, which are all or none, are read as many at
 * a time as may be in memory. */
static enum idx_status visit_all_keys(struct making *making,
                                      enum idx_status (*visit)(struct making *, const uint64_t *, size_t)) {
    const struct writing *writing = making->writing;
    const struct keys *keys = &writing->keys;
    if (keys->spilled == 0) return visit(making, keys->items, keys->count);
    for (uint64_t done = 0, count; done < keys->spilled; done += count) {
        count = keys->spilled - done < keys->max ? keys->spilled - done : keys->max;
        IDXI_TRY(idxi_read_at(keys->file, keys->items, count * sizeof *keys->items, done * sizeof *keys->items,
                              writing->job->temporary_path, writing->error));
        IDXI_TRY(visit(making, keys->items, (size_t)count));
    }
    return IDX_OK;
}

/* Writes the lines, and the lists behind them, whose size is known only now: it completes the header. */
static enum idx_status make_directory(struct making *making) {
    struct writing *writing = making->writing;
    struct idxf_table_header *header = &writing->job->header;
    idxf_directory_begin(&making->directory, idxf_directory_count_lines(header->blocks));
    IDXI_TRY(visit_all_keys(making, add_keys_to_lines));
    while (making->directory.line < making->directory.lines) IDXI_TRY(write_directory_line(making));
    header->list_bytes = making->directory.list_bytes;
    if (making->list_count > 0) IDXI_TRY(visit_all_keys(making, add_keys_to_lists));
    IDXI_TRY(write_list_page(making, (size_t)(header->list_bytes - making->page_begin)));
    return idxi_page_writer_pad(&writing->pages, writing->error);
}

/* Writes the directory. If the temporary file has some keys, the others follow them there first. */
static enum idx_status write_directory(struct writing *writing) {
    struct making *making = calloc(1, sizeof *making);
    if (making == NULL) return idxi_fail_memory(writing->error);
    making->writing = writing;
    enum idx_status status = writing->keys.spilled > 0 ? spill_keys(writing) : IDX_OK;
    if (status == IDX_OK) status = make_directory(making);
    free(making->lists);
    free(making);
    return status;
}

/* ---- The whole ---- */

/* Writes all sections of the file, and its header last, which needs what they found out. */
static enum idx_status write_table(struct writing *writing) {
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
    size_t max_keys = job->key_memory / sizeof(uint64_t);
    struct writing writing = {
        .job = job, .error = error, .pages = {.fd = -1}, .keys = {.file = -1, .max = max_keys > 0 ? max_keys : 1}};
    enum idx_status status = write_table(&writing);
    if (status == IDX_OK) *file_size = writing.pages.written;
    idxi_page_writer_close(&writing.pages);
    if (writing.keys.file >= 0) close(writing.keys.file);
    free(writing.keys.items);
    free(writing.window);
    return status;
}
