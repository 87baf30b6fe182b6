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

/* The keys of the blocks so far. At most `max_held` are in memory; earlier ones are in a temporary file. */
struct keys {
    uint64_t *items; /* those that are not in the file */
    size_t count, capacity, max_held;
    int file;         /* descriptor of the temporary file; -1: there is none */
    uint64_t spilled; /* keys in the file */
};

/* The state of idxi_table_write. */
struct table_writer {
    struct idxi_table_job *job;
    struct idx_error *error;
    struct idxi_page_writer pages;
    struct keys keys;
    uint64_t *window; /* fingerprints read; those from `begin` to `end` are still to be written */
    size_t begin, end;
    bool stream_ended; /* the stream has no more fingerprints */
    struct idxf_statistics_counter counter;
    struct idxf_encoder encoder;
};

/* Reports that `fingerprints` more were written. Fails with IDX_CANCELLED if job->progress returns false. */
static enum idx_status report_progress(const struct table_writer *writer, uint64_t fingerprints) {
    const struct idxi_table_job *job = writer->job;
    bool goes_on = job->progress == NULL || job->progress(job->context, fingerprints);
    return goes_on ? IDX_OK : idxi_fail(writer->error, IDX_CANCELLED, NULL, "cancelled: nothing was published");
}

/* ---- Keys ---- */

/* Appends the keys in memory to the temporary file, and empties the memory. Makes the file if there is none. */
static enum idx_status spill_keys(struct table_writer *writer) {
    struct keys *keys = &writer->keys;
    const struct idxi_table_job *job = writer->job;
    if (keys->file < 0)
        IDXI_TRY(idxi_make_temporary_file(&keys->file, job->temporary_folder, job->temporary_path, writer->error));
    IDXI_TRY(idxi_write_at(keys->file, keys->items, keys->count * sizeof *keys->items,
                           keys->spilled * sizeof *keys->items, job->temporary_path, writer->error));
    keys->spilled += keys->count;
    keys->count = 0;
    return IDX_OK;
}

/* Raises keys->capacity, which must be below keys->max_held, to about twice as many keys, but at most to
 * keys->max_held. */
static enum idx_status grow_keys(struct keys *keys, struct idx_error *error) {
    size_t new_capacity = keys->capacity * 2 + 1024;
    if (new_capacity > keys->max_held) new_capacity = keys->max_held;
    uint64_t *new_items = realloc(keys->items, new_capacity * sizeof *new_items);
    if (new_items == NULL) return idxi_fail_memory(error);
    keys->items = new_items;
    keys->capacity = new_capacity;
    return IDX_OK;
}

/* Appends the key of a block that was written. Fails with IDX_LIMIT if the table has too many blocks. */
static enum idx_status append_key(struct table_writer *writer, uint64_t key) {
    struct keys *keys = &writer->keys;
    if (keys->spilled + keys->count == IDXF_MAX_BLOCKS)
        return idxi_fail(writer->error, IDX_LIMIT, NULL, "a table can have at most %lld blocks: choose larger blocks",
                         (long long)IDXF_MAX_BLOCKS);
    if (keys->count == keys->max_held) IDXI_TRY(spill_keys(writer));
    if (keys->count == keys->capacity) IDXI_TRY(grow_keys(keys, writer->error));
    keys->items[keys->count++] = key;
    return IDX_OK;
}

/* ---- Blocks ---- */

/* Moves the fingerprints that are still to be written to the front of the window, and fills the rest from the stream,
 * until the window is full or the stream ends. Adds what was read to the statistics. */
static enum idx_status fill_window(struct table_writer *writer) {
    struct idxi_stream *stream = writer->job->fingerprints;
    size_t kept = writer->end - writer->begin, count;
    memmove(writer->window, writer->window + writer->begin, kept * sizeof *writer->window);
    writer->begin = 0;
    for (writer->end = kept; writer->end < WINDOW && !writer->stream_ended; writer->end += count) {
        IDXI_TRY(stream->read(stream, writer->window + writer->end, NULL, WINDOW - writer->end, &count, writer->error));
        writer->stream_ended = count == 0;
    }
    idxf_statistics_add(&writer->counter, writer->window + kept, writer->end - kept);
    return IDX_OK;
}

/* Writes blocks of the fingerprints in the window. Before the end of the stream, it keeps fewer than
 * IDXF_MAX_BLOCK_FINGERPRINTS for the next window, since the encoder needs as many to choose those of a block. */
static enum idx_status write_blocks_of_window(struct table_writer *writer, struct idxf_encoder *encoder) {
    size_t min_left = writer->stream_ended ? 1 : IDXF_MAX_BLOCK_FINGERPRINTS;
    uint8_t block[IDXF_MAX_BLOCK_SIZE];
    while (writer->end - writer->begin >= min_left) {
        writer->begin += idxf_block_encode(encoder, writer->window + writer->begin, writer->end - writer->begin, block);
        IDXI_TRY(append_key(writer, writer->window[writer->begin - 1]));
        IDXI_TRY(idxi_page_writer_write(&writer->pages, block, encoder->form.block_size, writer->error));
    }
    writer->job->header.fingerprints += writer->begin;
    return report_progress(writer, writer->begin);
}

#define MIN_COUNTED 4096 /* fewer fingerprints are no reason for a code of their own */

/* Counts the differences of the fingerprints in the first window. Replaces form->code by the code that suits them best
 * if that saves more than a fiftieth of the bits, and sets form->long_codes for the code that is used. Leaves *form as
 * it is if there are fewer than MIN_COUNTED fingerprints. */
static void choose_code(const struct table_writer *writer, struct idxf_block_form *form) {
    struct idxf_difference_counts counts = {{0}};
    struct idxf_code own_code;
    if (writer->end < MIN_COUNTED) return;
    idxf_count_differences(&counts, writer->window[0], writer->window + 1, writer->end - 1, form->bits);
    idxf_code_choose(&own_code, &counts, form->bits);
    struct idxf_code_cost current_cost = idxf_code_compute_cost(&form->code, &counts, form->bits);
    struct idxf_code_cost own_cost = idxf_code_compute_cost(&own_code, &counts, form->bits);
    /* own < current * 49 / 50, without an overflow */
    if ((current_cost.codes + current_cost.tails) / 50 > (own_cost.codes + own_cost.tails) / 49) form->code = own_code;
    form->long_codes = idxf_needs_long_codes(form, &counts);
}

/* Writes all blocks and collects their keys. Sets what job->header lacks, except header->list_bytes. */
static enum idx_status write_blocks(struct table_writer *writer) {
    struct idxf_table_header *header = &writer->job->header;
    struct idxf_permutation permutation;
    struct idxf_block_form form = idxf_table_get_block_form(header);
    struct idxf_encoder *encoder = &writer->encoder;
    idxf_statistics_begin(&writer->counter, (unsigned)__builtin_popcountll(header->mask));
    header->fingerprints = 0;
    IDXI_TRY(fill_window(writer));
    choose_code(writer, &form);
    header->code = form.code;
    header->long_codes = form.long_codes;
    idxf_encoder_init(encoder, &form);
    for (;;) {
        IDXI_TRY(write_blocks_of_window(writer, encoder));
        if (writer->stream_ended) break;
        IDXI_TRY(fill_window(writer));
    }
    idxf_permutation_init(&permutation, header->mask, header->bits);
    header->statistics = idxf_statistics_end(&writer->counter, &permutation);
    header->blocks = writer->keys.spilled + writer->keys.count;
    return idxi_page_writer_pad(&writer->pages, writer->error);
}

/* ---- The directory ---- */

/* The list of a directory line, and the number of its first key, counted from the first block of the table. */
struct line_list {
    struct idxf_list list;
    uint64_t first_key;
};

/* The state of writing a directory: first the lines, from all keys; then the lists, from all keys again. */
struct directory_builder {
    struct table_writer *writer;
    struct idxf_directory_writer directory;
    struct line_list *lists; /* of all lines that have one; they are written after all lines */
    size_t list_count, list_capacity;
    size_t current_list;      /* place in `lists` of the list that the next key can belong to */
    uint64_t next_key_number; /* of the next key for the lists */
    uint64_t page_begin;      /* where `page` begins among the bytes of all lists */
    uint8_t page[IDXF_PAGE_SIZE];
};

/* Appends the list of a line that was written to builder->lists, if the line has one. */
static enum idx_status append_line_list(struct directory_builder *builder, const uint8_t *line) {
    if (idxf_count_listed_keys(line) == 0) return IDX_OK;
    IDXI_GROW(builder->lists, builder->list_capacity, builder->list_count + 1, builder->writer->error);
    builder->lists[builder->list_count++] = (struct line_list){idxf_line_read_list(line), idxf_get_first_block(line)};
    return IDX_OK;
}

/* Writes the current line of the directory, notes its list, and begins the next line. */
static enum idx_status write_directory_line(struct directory_builder *builder) {
    uint8_t bytes[IDXF_LINE_BYTES];
    idxf_directory_write_line(&builder->directory, bytes);
    IDXI_TRY(append_line_list(builder, bytes));
    return idxi_page_writer_write(&builder->writer->pages, bytes, sizeof bytes, builder->writer->error);
}

/* Adds the next `count` keys to the lines of the directory. Writes a line as soon as a key belongs to a later one. */
static enum idx_status add_keys_to_lines(struct directory_builder *builder, const uint64_t *keys, size_t count) {
    for (size_t i = 0; i < count; i++) {
        while (!idxf_directory_add_key(&builder->directory, keys[i])) IDXI_TRY(write_directory_line(builder));
    }
    return IDX_OK;
}

/* Writes the first `size` bytes of builder->page, and clears the page for the bytes of lists that follow them. */
static enum idx_status write_list_page(struct directory_builder *builder, size_t size) {
    struct table_writer *writer = builder->writer;
    IDXI_TRY(idxi_page_writer_write(&writer->pages, builder->page, size, writer->error));
    builder->page_begin += size;
    memset(builder->page, 0, sizeof builder->page);
    return IDX_OK;
}

/* Adds those of the next `count` keys that belong to lists to builder->page, and writes each full page. A key that
 * crosses the end of a page is added to both. */
static enum idx_status add_keys_to_lists(struct directory_builder *builder, const uint64_t *keys, size_t count) {
    for (size_t i = 0; i < count; i++, builder->next_key_number++) {
        const struct line_list *current = &builder->lists[builder->current_list],
                               *end = builder->lists + builder->list_count;
        while (current < end && builder->next_key_number >= current->first_key + current->list.count) current++;
        builder->current_list = (size_t)(current - builder->lists);
        if (current == end || builder->next_key_number < current->first_key) continue;
        uint64_t place_in_list = builder->next_key_number - current->first_key, size = sizeof builder->page;
        uint64_t part = idxf_find_place(keys[i], builder->directory.lines).part;
        idxf_list_write_key(&current->list, place_in_list, part, builder->page_begin, builder->page_begin + size,
                            builder->page);
        uint64_t key_end = current->list.at + ((place_in_list + 1) * current->list.width + 7) / 8;
        if (key_end <= builder->page_begin + size) continue;
        IDXI_TRY(write_list_page(builder, (size_t)size));
        idxf_list_write_key(&current->list, place_in_list, part, builder->page_begin, builder->page_begin + size,
                            builder->page);
    }
    return IDX_OK;
}

/* Calls `visit` with all keys in their order, some at a time. The keys must be all in memory or all in the file; from
 * the file, at most keys->max_held are read at a time. */
static enum idx_status visit_all_keys(struct directory_builder *builder,
                                      enum idx_status (*visit)(struct directory_builder *, const uint64_t *, size_t)) {
    const struct table_writer *writer = builder->writer;
    const struct keys *keys = &writer->keys;
    if (keys->spilled == 0) return visit(builder, keys->items, keys->count);
    for (uint64_t done = 0, count; done < keys->spilled; done += count) {
        count = keys->spilled - done < keys->max_held ? keys->spilled - done : keys->max_held;
        IDXI_TRY(idxi_read_at(keys->file, keys->items, count * sizeof *keys->items, done * sizeof *keys->items,
                              writer->job->temporary_path, writer->error));
        IDXI_TRY(visit(builder, keys->items, (size_t)count));
    }
    return IDX_OK;
}

/* Writes all lines, then all lists, and fills the last page with zeros. Sets header->list_bytes. */
static enum idx_status write_lines_and_lists(struct directory_builder *builder) {
    struct table_writer *writer = builder->writer;
    struct idxf_table_header *header = &writer->job->header;
    idxf_directory_begin(&builder->directory, idxf_directory_count_lines(header->blocks));
    IDXI_TRY(visit_all_keys(builder, add_keys_to_lines));
    while (builder->directory.line < builder->directory.lines) IDXI_TRY(write_directory_line(builder));
    header->list_bytes = builder->directory.list_bytes;
    if (builder->list_count > 0) IDXI_TRY(visit_all_keys(builder, add_keys_to_lists));
    IDXI_TRY(write_list_page(builder, (size_t)(header->list_bytes - builder->page_begin)));
    return idxi_page_writer_pad(&writer->pages, writer->error);
}

/* Writes the directory from the keys of all blocks. If the temporary file has some of them, appends the others to it
 * first. */
static enum idx_status write_directory(struct table_writer *writer) {
    struct directory_builder *builder = calloc(1, sizeof *builder);
    if (builder == NULL) return idxi_fail_memory(writer->error);
    builder->writer = writer;
    enum idx_status status = writer->keys.spilled > 0 ? spill_keys(writer) : IDX_OK;
    if (status == IDX_OK) status = write_lines_and_lists(builder);
    free(builder->lists);
    free(builder);
    return status;
}

/* ---- The whole ---- */

/* Writes all sections of the file: blocks, directory, checksums, and last the header, which depends on the others. The
 * caller frees what *writer holds, also after an error. */
static enum idx_status write_all_sections(struct table_writer *writer) {
    const struct idxi_table_job *job = writer->job;
    uint8_t page[IDXF_PAGE_SIZE];
    writer->window = malloc(WINDOW * sizeof *writer->window);
    if (writer->window == NULL) return idxi_fail_memory(writer->error);
    IDXI_TRY(idxi_page_writer_open(&writer->pages, job->folder, job->name, IDXF_PAGE_SIZE, job->path, writer->error));
    IDXI_TRY(write_blocks(writer));
    IDXI_TRY(write_directory(writer));
    IDXI_TRY(idxi_page_writer_write_checksums(&writer->pages, writer->error));
    idxf_table_header_write(&job->header, page);
    return idxi_page_writer_finish(&writer->pages, page, sizeof page, writer->error);
}

enum idx_status idxi_table_write(struct idxi_table_job *job, uint64_t *file_size, struct idx_error *error) {
    size_t max_keys = job->key_memory / sizeof(uint64_t);
    struct table_writer writer = {
        .job = job, .error = error, .pages = {.fd = -1}, .keys = {.file = -1, .max_held = max_keys > 0 ? max_keys : 1}};
    enum idx_status status = write_all_sections(&writer);
    if (status == IDX_OK) *file_size = writer.pages.written;
    idxi_page_writer_close(&writer.pages);
    if (writer.keys.file >= 0) close(writer.keys.file);
    free(writer.keys.items);
    free(writer.window);
    return status;
}
