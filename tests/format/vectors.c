/* vectors.c: tries the conformance vectors of format/vectors (SPEC.md, chapter 14): each valid one reads as its
 * fingerprints say, in all ways to decode, and, where it is a table or a group of documents, is written again byte for
 * byte; each other one has exactly its fault. Those called foreign are valid, but as another writer may make them: with
 * other codes, blocks or widths.
 */
#include <idx.h>

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <unistd.h>

#include "format/bytes.h"
#include "format/checksum.h"
#include "format/document_sums.h"
#include "format/group.h"
#include "format/ids.h"
#include "format/log.h"
#include "format/manifest.h"
#include "format/permute.h"
#include "format/removed.h"
#include "format/sets.h"
#include "format/table.h"
#include "libidx/scheme/scheme.h"
#include "libidx/segment/table_writer.h"
#include "tests/format/directory.h"
#include "tests/format/hits.h"
#include "tests/format/vector_file.h"

/* Fingerprints, grown as they come. */
struct list {
    uint64_t *items;
    size_t count, capacity;
};

static void append(struct list *list, uint64_t fingerprint) {
    if (list->count == list->capacity) {
        list->capacity = list->capacity * 2 + 1024;
        list->items = realloc(list->items, list->capacity * sizeof *list->items);
        assert_non_null(list->items);
    }
    list->items[list->count++] = fingerprint;
}

/* ---- Blocks ---- */

/* Reads a block, and appends its fingerprints as they stand. The bounds become those of the block behind it. */
static enum idxf_fault read_in_one_way(const struct idxf_decoder *decoder, const uint8_t *block,
                                       struct idxf_bounds *bounds, struct list *list) {
    const struct idxf_bounds own = *bounds;
    enum idxf_fault fault = IDXF_OK;
    uint64_t *fingerprints = malloc(idxf_get_decoded_capacity(decoder) * sizeof *fingerprints);
    size_t faulty = 1;
    assert_non_null(fingerprints);
    size_t count = idxf_blocks_decode(decoder, block, 1, bounds, fingerprints, &faulty, &fault);
    for (size_t i = 0; i < count; i++) append(list, fingerprints[i]);
    free(fingerprints);
    if (fault != IDXF_OK) {
        assert_int_equal(faulty, 0);
        assert_int_equal(count, 0);
        return fault;
    }
    assert_in_range(count, 1, IDXF_MAX_BLOCK_FINGERPRINTS);
    return idxf_block_check_padding(decoder, block, own);
}

/* Whether those from number `from` on ascend, also behind the one before. */
static bool ascend(const struct list *list, size_t from) {
    for (size_t i = from > 0 ? from : 1; i < list->count; i++) {
        if (list->items[i] <= list->items[i - 1]) return false;
    }
    return true;
}

/* A search for all fingerprints finds them all, and one for one of them that one. */
static void check_search(const struct idxf_decoder *decoder, const uint8_t *block, struct idxf_bounds bounds,
                         const uint64_t *items, size_t count) {
    static struct hits hits;
    struct idxf_chain chains[IDXF_MAX_CHAINS];
    struct idxf_lanes lanes = {0};
    enum idxf_fault fault = IDXF_OK;
    unsigned chain_count = idxf_block_list_chains(decoder, block, bounds, chains, &fault), align = 64 - decoder->bits;
    assert_in_range(chain_count, 1, decoder->chains);
    for (unsigned i = 0; i < chain_count; i++) {
        lanes.blocks[i] = chains[i].block;
        lanes.keys[i] = chains[i].key;
        lanes.begins[i] = chains[i].begin;
        lanes.ends[i] = chains[i].end;
        lanes.high[i] = UINT64_MAX >> align;
    }
    search_all(decoder, &lanes, chain_count, 64, &hits);
    assert_int_equal(hits.count, count);
    size_t seen = 0;
    for (unsigned lane = 0; lane < chain_count; lane++) { /* the lowest chain first, the greatest of it first */
        size_t of_lane = 0, at = 0;
        for (size_t i = 0; i < count; i++) of_lane += hits.lanes[i] == lane;
        for (size_t i = 0; i < count; i++) {
            if (hits.lanes[i] == lane) assert_true(items[seen + of_lane - 1 - at++] == hits.fingerprints[i] << align);
        }
        seen += of_lane;
    }
    for (unsigned i = 0; i < chain_count; i++)
        lanes.low[i] = lanes.high[i] = lanes.queries[i] = items[count / 2] >> align;
    search_all(decoder, &lanes, chain_count, 0, &hits);
    assert_int_equal(hits.count, 1);
    assert_true(hits.fingerprints[0] == items[count / 2] >> align);
}

/* Reads a block in all ways, which must agree. */
static enum idxf_fault read_block(struct idxf_decoder *decoder, const uint8_t *block, struct idxf_bounds *bounds,
                                  struct list *list) {
    const struct idxf_decoder_way *ways[IDXF_MAX_WAYS];
    struct list plain = {0};
    struct idxf_bounds own = *bounds;
    size_t way_count = idxf_list_decoder_ways(ways), before = list->count;
    for (size_t i = 0; i < before; i++) append(&plain, list->items[i]);
    decoder->way = ways[0];
    enum idxf_fault fault = read_in_one_way(decoder, block, bounds, list);
    for (size_t way = 0; way < way_count; way++) {
        struct idxf_bounds again = own;
        decoder->way = ways[way];
        plain.count = before;
        assert_fault(read_in_one_way(decoder, block, &again, &plain), fault);
        if (fault != IDXF_OK) continue;
        assert_true(again.above == bounds->above && again.floor == bounds->floor);
        assert_int_equal(plain.count, list->count);
        assert_memory_equal(plain.items, list->items, plain.count * sizeof *plain.items);
        if (ascend(list, before)) check_search(decoder, block, own, list->items + before, list->count - before);
    }
    free(plain.items);
    return fault;
}

/* ---- Tables ---- */

static bool are_zero(const struct bytes *file, uint64_t begin, uint64_t end) {
    for (uint64_t at = begin; at < end; at++) {
        if (file->at[at] != 0) return false;
    }
    return true;
}

/* Appends the blocks' fingerprints, and their keys. */
static enum idxf_fault read_blocks(const struct bytes *file, const struct idxf_table_header *header,
                                   const struct idxf_table_layout *layout, struct list *list, struct list *keys) {
    static struct idxf_decoder decoder;
    struct idxf_block_form form = idxf_table_get_block_form(header);
    struct idxf_bounds bounds = {0, 0};
    idxf_decoder_init(&decoder, &form);
    for (uint64_t i = 0; i < header->blocks; i++) {
        uint8_t *block = copy_exactly(file->at + layout->blocks + i * header->block_size, header->block_size);
        enum idxf_fault fault = read_block(&decoder, block, &bounds, list);
        free(block);
        if (fault != IDXF_OK) return fault;
        append(keys, list->items[list->count - 1]);
    }
    return list->count == header->fingerprints ? IDXF_OK : IDXF_FAULT_COUNT;
}

/* The same fingerprints from as many blocks at a time as can be decoded side by side, in all ways. */
static void check_blocks_at_once(const struct bytes *file, const struct idxf_table_header *header,
                                 const struct list *list) {
    static struct idxf_decoder decoder;
    const struct idxf_decoder_way *ways[IDXF_MAX_WAYS];
    struct idxf_block_form form = idxf_table_get_block_form(header);
    uint64_t blocks = idxf_table_lay_out(header).blocks;
    size_t way_count = idxf_list_decoder_ways(ways);
    idxf_decoder_init(&decoder, &form);
    for (size_t way = 0; way < way_count; way++) {
        struct idxf_bounds bounds = {0, 0};
        size_t done = 0, step = idxf_get_blocks_at_once(&decoder);
        decoder.way = ways[way];
        for (uint64_t i = 0; i < header->blocks; i += step) {
            size_t count = header->blocks - i < step ? (size_t)(header->blocks - i) : step, faulty = 0;
            enum idxf_fault fault = IDXF_OK;
            uint8_t *copy = copy_exactly(file->at + blocks + i * header->block_size, count * header->block_size);
            uint64_t *fingerprints = malloc(idxf_get_decoded_capacity(&decoder) * sizeof *fingerprints);
            assert_non_null(fingerprints);
            size_t made = idxf_blocks_decode(&decoder, copy, count, &bounds, fingerprints, &faulty, &fault);
            assert_fault(fault, IDXF_OK);
            assert_true(made <= list->count - done);
            assert_memory_equal(fingerprints, list->items + done, made * sizeof *fingerprints);
            done += made;
            free(fingerprints);
            free(copy);
        }
        assert_int_equal(done, list->count);
    }
}

/* The key of a block is right, read with a number that the directory gave, left-aligned. */
static void check_key(const struct bytes *file, const struct idxf_table_header *header,
                      const struct idxf_table_layout *layout, const struct list *keys, const struct idxf_start *start) {
    static struct idxf_decoder decoder;
    struct idxf_block_form form = idxf_table_get_block_form(header);
    unsigned align = 64 - header->bits;
    if (start->block == keys->count) return;
    assert_true(start->above <= keys->items[start->block]);
    if (start->block > 0) assert_true(start->above >= keys->items[start->block - 1]);
    const uint8_t *block = file->at + layout->blocks + start->block * header->block_size;
    idxf_decoder_init(&decoder, &form);
    assert_true(idxf_block_read_anchor(&decoder, block, start->above >> align).key ==
                keys->items[start->block] >> align);
}

/* The directory leads from each key, and from its neighbours, to the right block, and to a number that the block can be
 * read with. */
static void check_finding(const struct bytes *file, const struct idxf_table_header *header,
                          const struct idxf_table_layout *layout, const struct list *keys) {
    struct idxf_directory directory;
    struct idxf_start start;
    size_t readable = (size_t)(layout->file_size - layout->lists);
    if (keys->count == 0) return;
    idxf_directory_init(&directory, file->at + layout->directory, file->at + layout->lists, header->list_bytes,
                        readable, header->blocks);
    for (size_t i = 0; i < keys->count; i++) {
        uint64_t key = keys->items[i], before = i == 0 ? 0 : keys->items[i - 1];
        const uint64_t asked[] = {key - 1, key, key + 1, i == 0 ? 0 : before + 1, before + (key - before) / 2};
        for (size_t j = 0; j < COUNT_OF(asked); j++) {
            uint64_t x = asked[j], right = i;
            if ((j == 0 && key == 0) || (j == 2 && key == UINT64_MAX)) continue;
            while (right > 0 && keys->items[right - 1] >= x) right--;
            while (right < keys->count && keys->items[right] < x) right++;
            assert_true(idxf_directory_find_start(&directory, x, &start));
            assert_true(start.block == right || start.block + 1 == right);
            check_key(file, header, layout, keys, &start);
        }
        assert_true(idxf_directory_get_block_start(&directory, i, &start));
        assert_int_equal(start.block, i);
        check_key(file, header, layout, keys, &start);
    }
}

static enum idxf_fault check_directory(const struct bytes *file, const struct idxf_table_header *header,
                                       const struct idxf_table_layout *layout, const struct list *keys) {
    size_t size;
    uint8_t *expected = model_directory(keys->items, keys->count, &size);
    bool same = size == layout->directory_lines * 64 + header->list_bytes &&
                memcmp(file->at + layout->directory, expected, size) == 0;
    free(expected);
    if (!same) return IDXF_FAULT_DIRECTORY;
    check_finding(file, header, layout, keys);
    return IDXF_OK;
}

/* Goes through fingerprints that are not permuted, in the table's order. */
static enum idxf_fault check_statistics(const struct idxf_table_header *header, const struct list *list) {
    uint64_t all = 0, common = list->count == 0 ? 0 : UINT64_MAX, group = 0, largest = 0, pairs = 0;
    for (size_t i = 0; i < list->count; i++) {
        bool is_new = i == 0 || ((list->items[i] ^ list->items[i - 1]) & header->mask) != 0;
        all |= list->items[i];
        common &= list->items[i];
        group = is_new ? 1 : group + 1;
        pairs += group - 1;
        if (group > largest) largest = group;
    }
    bool agrees = header->statistics.set_bits == all && header->statistics.common_bits == common &&
                  header->statistics.largest_group == largest && header->statistics.pairs == pairs;
    return agrees ? IDXF_OK : IDXF_FAULT_STATISTICS;
}

static enum idxf_fault read_sections(const struct bytes *file, const struct idxf_table_header *header,
                                     struct list *list) {
    struct idxf_table_layout layout = idxf_table_lay_out(header);
    struct list keys = {0};
    if (file->size != layout.file_size) return IDXF_FAULT_SIZE;
    for (uint64_t page = 0; page < layout.pages; page++) {
        if (idxf_load64(file->at + layout.checksums + page * 8) !=
            idxf_checksum(file->at + (page + 1) * IDXF_PAGE_SIZE, IDXF_PAGE_SIZE))
            return IDXF_FAULT_CHECKSUM;
    }
    if (!are_zero(file, layout.blocks + header->blocks * header->block_size, layout.directory) ||
        !are_zero(file, layout.lists + header->list_bytes, layout.checksums))
        return IDXF_FAULT_PADDING;
    enum idxf_fault fault = read_blocks(file, header, &layout, list, &keys);
    if (fault == IDXF_OK) fault = check_directory(file, header, &layout, &keys);
    if (fault == IDXF_OK) check_blocks_at_once(file, header, list);
    free(keys.items);
    return fault;
}

static enum idxf_fault read_header(const struct bytes *file, struct idxf_table_header *header) {
    uint32_t version;
    size_t size = file->size < IDXF_PAGE_SIZE ? file->size : IDXF_PAGE_SIZE;
    uint8_t *page = copy_exactly(file->at, size);
    enum idxf_fault fault = idxf_table_header_read(header, page, size, &version);
    free(page);
    return fault;
}

/* Verifies a table file, and gives its fingerprints as users see them, in its order. */
static enum idxf_fault read_table(const struct bytes *file, struct list *list) {
    struct idxf_table_header header;
    struct idxf_permutation permutation;
    enum idxf_fault fault = read_header(file, &header);
    if (fault == IDXF_OK) fault = read_sections(file, &header, list);
    if (fault != IDXF_OK) return fault;
    idxf_permutation_init(&permutation, header.mask, header.bits);
    for (size_t i = 0; i < list->count; i++) list->items[i] = idxf_unpermute(&permutation, list->items[i]);
    return check_statistics(&header, list);
}

/* The bits that differences take with a code, each class counting as used once at least. */
static uint64_t cost_of(const struct idxf_code *code, const struct idxf_difference_counts *counts, unsigned bits) {
    struct idxf_class classes[IDXF_CLASSES];
    uint64_t used[IDXF_CLASSES] = {0}, total = 0;
    unsigned count = idxf_code_list_classes(code, bits, classes), far = count - 1;
    for (unsigned size = 1; size <= idxf_get_max_tail_bits(bits); size++) {
        unsigned symbol = size > code->near_bits ? size - code->near_bits : 0;
        used[symbol < far ? symbol : far] += counts->of[size];
    }
    for (unsigned i = 0; i < count; i++) total += (used[i] > 0 ? used[i] : 1) * (classes[i].length + classes[i].tail);
    return total;
}

/* The code that the writer chooses for these fingerprints, in their own order; of several that take as many bits, that
 * of the header is as good. */
static void choose_code(struct idxf_code *code, const struct idxf_table_header *header, const struct list *list) {
    struct idxf_difference_counts counts = {{0}};
    unsigned align = 64 - header->bits;
    uint64_t *sorted = malloc((list->count + 1) * sizeof *sorted);
    assert_non_null(sorted);
    for (size_t i = 0; i < list->count; i++) sorted[i] = list->items[i] << align;
    qsort(sorted, list->count, sizeof *sorted, compare_numbers);
    if (list->count > 1) idxf_count_differences(&counts, sorted[0], sorted + 1, list->count - 1, header->bits);
    idxf_code_choose(code, &counts, header->bits);
    if (cost_of(code, &counts, header->bits) == cost_of(&header->code, &counts, header->bits)) *code = header->code;
    free(sorted);
}

/* Writes the table of these fingerprints with what can be chosen as in `file`. */
static struct bytes write_table(const struct bytes *file, const struct list *list) {
    struct idxf_table_header header;
    struct idxi_array_stream stream;
    struct idxi_table_job job = {.name = "table", .fingerprints = &stream.stream, .key_memory = SIZE_MAX};
    struct idxf_table_header *chosen = &job.header;
    struct idxf_permutation permutation;
    struct idx_error error;
    char folder[] = "vectors-XXXXXX", path[64];
    uint64_t file_size, *permuted = malloc((list->count + 1) * sizeof *permuted);
    assert_non_null(permuted);
    assert_fault(read_header(file, &header), IDXF_OK);
    memcpy(chosen->uuid, header.uuid, sizeof chosen->uuid);
    chosen->number = header.number;
    chosen->mask = header.mask;
    chosen->radius = header.radius;
    chosen->bits = header.bits;
    chosen->block_size = header.block_size;
    chosen->anchor_bits = (uint8_t)idxf_choose_anchor_bits(list->count, header.bits, header.block_size);
    choose_code(&chosen->code, &header, list);
    chosen->long_codes = header.long_codes;
    idxf_permutation_init(&permutation, header.mask, header.bits);
    for (size_t i = 0; i < list->count; i++) permuted[i] = idxf_permute(&permutation, list->items[i]);

    assert_non_null(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/table", folder);
    int descriptor = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    assert_true(descriptor >= 0);
    idxi_array_stream_init(&stream, permuted, NULL, list->count);
    job.folder = descriptor;
    job.path = path;
    assert_int_equal(idxi_table_write(&job, &file_size, &error), IDX_OK);
    struct bytes written = read_file(path);
    assert_int_equal(written.size, file_size);
    unlink(path);
    close(descriptor);
    rmdir(folder);
    free(permuted);
    return written;
}

/* ---- Other kinds ---- */

static enum idxf_fault read_manifest(const struct bytes *file) {
    static struct idxf_manifest manifest;
    static struct idx_scheme scheme;
    unsigned line;
    uint32_t version;
    char *text = copy_exactly(file->at, file->size);
    enum idxf_fault fault = idxf_manifest_read(&manifest, text, file->size, &line, &version);
    free(text);
    if (fault != IDXF_OK) return fault;
    scheme.bits = manifest.bits;
    scheme.table_count = manifest.table_count;
    for (uint32_t i = 0; i < manifest.table_count; i++)
        scheme.tables[i] = (struct idx_table){manifest.tables[i].mask, manifest.tables[i].radius};
    return idxi_scheme_covers(&scheme, manifest.k) ? IDXF_OK : IDXF_FAULT_COVER;
}

static enum idxf_fault read_sums(const struct bytes *file) {
    struct idxf_document_sums sums;
    uint32_t version;
    uint8_t *copy = copy_exactly(file->at, file->size);
    enum idxf_fault fault = idxf_document_sums_header_read(&sums, copy, file->size, &version);
    free(copy);
    return fault;
}

/* The value of the line of this name, which the vector has. */
static char *find_line(const struct vector *vector, const char *name) {
    char *at = vector->lines, *value = vector_line(&at, name);
    if (value == NULL) fail_msg("%s has no line '%s'", vector->name, name);
    return value;
}

static unsigned find_number(const struct vector *vector, const char *name) {
    return (unsigned)strtoul(find_line(vector, name), NULL, 10);
}

static enum idxf_fault read_block_text(const struct vector *vector, struct list *list) {
    static struct idxf_decoder decoder;
    struct idxf_block_form form = {.bits = find_number(vector, "bits"),
                                   .anchor_bits = find_number(vector, "anchor-bits"),
                                   .block_size = find_number(vector, "block-size"),
                                   .code.near_bits = (uint8_t)find_number(vector, "near-bits")};
    struct idxf_bounds bounds = {0, 0};
    char *at = find_line(vector, "lengths");
    for (unsigned i = 0; i < IDXF_CLASSES; i++) form.code.lengths[i] = (uint8_t)strtoul(at, &at, 10);
    assert_int_equal(*at, '\n');
    if (idxf_code_check(&form.code, form.bits) != IDXF_OK) return IDXF_FAULT_CODE;
    unsigned long_codes = find_number(vector, "long-codes");
    if (long_codes > (form.block_size == IDXF_MIN_BLOCK_SIZE)) return IDXF_FAULT_CODE;
    form.long_codes = long_codes == 1;

    uint64_t before = 0;
    at = find_line(vector, "before");
    if (strncmp(at, "none\n", 5) != 0) {
        before = strtoull(at, NULL, 16);
        if (before == UINT64_MAX) return IDXF_FAULT_ORDER; /* nothing is above it */
        bounds = (struct idxf_bounds){before + 1, before + 1};
    }
    struct bytes written = vector_bytes(find_line(vector, "block"));
    assert_int_equal(written.size, form.block_size);
    uint8_t *block = copy_exactly(written.at, form.block_size);
    idxf_decoder_init(&decoder, &form);
    enum idxf_fault fault = read_block(&decoder, block, &bounds, list);
    for (size_t i = 0; i < list->count; i++) list->items[i] >>= 64 - form.bits;
    free(block);
    free(written.at);
    return fault;
}

/* ---- Groups ---- */

static void append_string(struct bytes *text, const char *more, size_t length) {
    text->at = realloc(text->at, text->size + length + 1);
    assert_non_null(text->at);
    memcpy(text->at + text->size, more, length);
    text->size += length;
    text->at[text->size] = 0;
}

static void append_digits(struct bytes *text, const uint8_t *bytes, size_t size) {
    char digits[3];
    for (size_t i = 0; i < size; i++) {
        snprintf(digits, sizeof digits, "%02x", bytes[i]);
        append_string(text, digits, 2);
    }
}

/* Verifies a group of documents, and gives its entries, a line each. */
static enum idxf_fault read_group(const uint8_t *bytes, size_t size, struct bytes *text) {
    struct idxf_group group;
    uint64_t fingerprints[IDXF_MAX_GROUP_ENTRIES], values[IDXF_MAX_GROUP_ENTRIES];
    char line[64];
    enum idxf_fault fault = idxf_group_open(&group, bytes, size);
    if (fault == IDXF_OK) fault = idxf_decode_fingerprints(&group, fingerprints);
    if (fault != IDXF_OK) return fault;
    idxf_decode_values(&group, 0, group.count, values);
    fault = idxf_group_check(&group, fingerprints, values);
    for (size_t i = 0; i < group.count && fault == IDXF_OK; i++) {
        int length = snprintf(line, sizeof line, "%016" PRIx64 " %" PRIu64 "\n", fingerprints[i], values[i]);
        append_string(text, line, (size_t)length);
    }
    return fault;
}

static enum idxf_fault read_group_text(const struct vector *vector, struct bytes *text) {
    struct bytes written = vector_bytes(find_line(vector, "group"));
    uint8_t *bytes = copy_exactly(written.at, written.size);
    enum idxf_fault fault = read_group(bytes, written.size, text);
    free(bytes);
    free(written.at);
    return fault;
}

/* Reads a group of IDs, and gives them in hexadecimal, a line each. */
static enum idxf_fault read_ids(const uint8_t *bytes, size_t size, const struct bytes *dictionary, struct bytes *text) {
    struct idxf_ids ids;
    uint8_t *id = malloc(idxf_ids_get_buffer_bytes(size));
    assert_non_null(id);
    enum idxf_fault fault = idxf_ids_open(&ids, bytes, size, dictionary->at, dictionary->size);
    while (fault == IDXF_OK && ids.left > 0) {
        fault = idxf_ids_next(&ids, id);
        if (fault == IDXF_OK) append_digits(text, id, ids.length);
        append_string(text, "\n", 1);
    }
    free(id);
    return fault;
}

static enum idxf_fault read_ids_text(const struct vector *vector, struct bytes *text) {
    struct bytes written = vector_bytes(find_line(vector, "group")),
                 words = vector_bytes(find_line(vector, "dictionary"));
    uint8_t *bytes = copy_exactly(written.at, written.size), *copy = copy_exactly(words.at, words.size);
    enum idxf_fault fault = read_ids(bytes, written.size, &(struct bytes){copy, words.size}, text);
    free(bytes);
    free(copy);
    free(written.at);
    free(words.at);
    return fault;
}

/* Whether the writer makes the same group of these entries, the lines of a text. */
static bool is_written_again(const struct vector *vector, const struct bytes *text) {
    uint64_t fingerprints[IDXF_MAX_GROUP_ENTRIES], values[IDXF_MAX_GROUP_ENTRIES];
    uint8_t bytes[IDXF_MAX_GROUP_BYTES];
    size_t count = 0, size;
    struct bytes given = vector_bytes(find_line(vector, "group"));
    for (char *at = (char *)text->at; *at != '\0'; at++, count++) {
        fingerprints[count] = strtoull(at, &at, 16);
        values[count] = strtoull(at, &at, 10);
    }
    bool same = idxf_group_encode(fingerprints, values, count, sizeof bytes, bytes, &size) == count &&
                size == given.size && memcmp(bytes, given.at, size) == 0;
    free(given.at);
    return same;
}

/* ---- Records and removals ---- */

static void append_record(struct bytes *text, const struct idxf_record *record) {
    static const char *const names[] = {"add", "remove-document", "remove-fingerprint", "add-text"};
    char line[64];
    int length = snprintf(line, sizeof line, "%s %" PRIx64 " ", names[record->operation], record->fingerprint);
    append_string(text, line, (size_t)length);
    append_digits(text, record->id, record->id_size);
    if (record->operation == IDXF_ADD_TEXT) append_digits(text, record->members, record->fingerprint * 8);
    append_string(text, "\n", 1);
}

static struct idxf_record_rules parse_rules(const struct vector *vector) {
    struct idxf_record_rules rules = {.bits = (uint8_t)strtoul(find_line(vector, "bits"), NULL, 10)};
    const char *type = find_line(vector, "id-type"), *at = find_line(vector, "uuid");
    char *lines = vector->lines, *sketch = vector_line(&lines, "sketch");
    rules.sketch = sketch == NULL ? 0 : (uint8_t)strtoul(sketch, NULL, 10);
    rules.id_type = *type == 't' ? IDXF_ID_TEXT : *type == 'u' ? IDXF_ID_U64 : IDXF_ID_NONE;
    for (unsigned i = 0; i < IDXF_UUID_BYTES; i++, at += 2) {
        char digits[3] = {at[*at == '-'], at[(*at == '-') + 1], '\0'};
        rules.uuid[i] = (uint8_t)strtoul(digits, NULL, 16);
        at += *at == '-';
    }
    return rules;
}

static enum idxf_fault read_record_text(const struct vector *vector, struct bytes *text) {
    struct idxf_record_rules rules = parse_rules(vector);
    struct idxf_record record;
    struct bytes written = vector_bytes(find_line(vector, "record"));
    uint8_t *bytes = copy_exactly(written.at, written.size), *again = calloc(1, written.size + 1);
    const uint8_t *at = bytes, *end = bytes + written.size;
    enum idxf_fault fault = idxf_record_read(&rules, &at, end, &record);
    if (fault == IDXF_OK && at != end) fault = IDXF_FAULT_SIZE;
    if (fault == IDXF_OK) {
        append_record(text, &record);
        assert_int_equal(idxf_get_record_size(&rules, &record), written.size);
        assert_ptr_equal(idxf_record_write(&rules, &record, again), again + written.size);
        assert_memory_equal(again, bytes, written.size);
    }
    free(again);
    free(bytes);
    free(written.at);
    return fault;
}

/* Reads the records of a frame, compares it with what is written of them, and gives them. */
static enum idxf_fault read_frame(const struct idxf_record_rules *rules, const struct idxf_log_place *place,
                                  const uint8_t *bytes, const struct idxf_frame *frame, struct bytes *text) {
    const uint8_t *at = bytes + IDXF_FRAME_HEADER_BYTES, *end = bytes + frame->size - IDXF_FRAME_CHECKSUM_BYTES;
    struct idxf_log_place behind = *place;
    uint8_t *again = malloc(frame->size), *to = again + IDXF_FRAME_HEADER_BYTES;
    enum idxf_fault fault = IDXF_OK;
    for (uint64_t left = frame->count; left > 0 && fault == IDXF_OK;) {
        struct idxf_record record;
        fault = idxf_record_read(rules, &at, end, &record);
        if (fault == IDXF_OK && idxf_count_sequence_numbers(rules, &record) > left) fault = IDXF_FAULT_OVERRUN;
        if (fault != IDXF_OK) break;
        left -= idxf_count_sequence_numbers(rules, &record);
        append_record(text, &record);
        to = idxf_record_write(rules, &record, to);
    }
    if (fault == IDXF_OK && at != end) fault = IDXF_FAULT_SIZE;
    if (fault == IDXF_OK) {
        idxf_frame_write(&behind, again, (size_t)frame->size, frame->count);
        assert_memory_equal(again, bytes, frame->size);
    }
    free(again);
    return fault;
}

/* The newer one of two slots. */
static bool read_slots(const struct idxf_log *log, const uint8_t *bytes, struct idxf_log_place *known) {
    bool found = false;
    for (unsigned slot = 0; slot < 2; slot++) {
        struct idxf_log_place place;
        uint8_t again[IDXF_LOG_SLOT_BYTES];
        const uint8_t *at = bytes + idxf_log_get_slot_offset(slot);
        if (!idxf_log_slot_read(log, at, &place)) continue;
        idxf_log_slot_write(log, &place, again);
        assert_memory_equal(again, at, sizeof again);
        if (!found || place.offset > known->offset) *known = place;
        found = true;
    }
    return found;
}

static enum idxf_fault read_log(const struct idxf_record_rules *rules, const uint8_t *bytes, size_t size,
                                struct bytes *text) {
    struct idxf_log log;
    struct idxf_log_place known = {0};
    uint8_t header[IDXF_LOG_HEADER_BYTES];
    uint32_t version;
    enum idxf_fault fault = idxf_log_header_read(&log, bytes, size, &version);
    if (fault != IDXF_OK) return fault;
    idxf_log_header_write(&log, header);
    assert_memory_equal(header, bytes, sizeof header);
    if (memcmp(log.uuid, rules->uuid, IDXF_UUID_BYTES) != 0) return IDXF_FAULT_UUID;
    if (!read_slots(&log, bytes, &known)) return IDXF_FAULT_CHECKSUM;
    if (known.offset > size) return IDXF_FAULT_SIZE;
    struct idxf_log_place place = idxf_log_get_first_place(&log);
    if (!idxf_log_place_agrees(&place, &known)) return IDXF_FAULT_CHECKSUM;
    for (;;) {
        struct idxf_log_place before = place;
        struct idxf_frame frame;
        size_t left = size - (size_t)place.offset;
        const uint8_t *at = bytes + place.offset;
        bool found = left >= IDXF_FRAME_HEADER_BYTES && idxf_frame_read_header(&place, at, &frame) &&
                     frame.size <= left && idxf_frame_accept(&place, at, &frame);
        if (!found) return before.offset < known.offset ? IDXF_FAULT_CHECKSUM : IDXF_OK;
        if (before.offset < known.offset && !idxf_log_place_agrees(&place, &known)) return IDXF_FAULT_CHECKSUM;
        fault = read_frame(rules, &before, at, &frame, text);
        if (fault != IDXF_OK) return fault;
    }
}

static enum idxf_fault read_log_text(const struct vector *vector, struct bytes *text) {
    struct idxf_record_rules rules = parse_rules(vector);
    struct bytes written = vector_bytes(find_line(vector, "log"));
    uint8_t *bytes = copy_exactly(written.at, written.size);
    enum idxf_fault fault = read_log(&rules, bytes, written.size, text);
    free(bytes);
    free(written.at);
    return fault;
}

/* Reads a file, compares it with what is written of what was read, and gives that. */
static enum idxf_fault read_removed(const struct idxf_record_rules *rules, const uint8_t *bytes, size_t size,
                                    uint8_t *again, struct bytes *text) {
    struct idxf_removed removed;
    struct idxf_removals removals;
    struct idxf_record removal;
    uint32_t version;
    enum idxf_fault fault = idxf_removed_header_read(&removed, bytes, size, &version);
    if (fault != IDXF_OK) return fault;
    const uint8_t *first = bytes + IDXF_REMOVED_HEADER_BYTES;
    if (idxf_checksum(first, (size_t)removed.length) != removed.checksum) return IDXF_FAULT_CHECKSUM;
    assert_memory_equal(removed.uuid, rules->uuid, IDXF_UUID_BYTES);
    idxf_removed_header_write(&removed, again);
    uint8_t *at = again + IDXF_REMOVED_HEADER_BYTES;
    idxf_removals_open(&removals, rules, &removed, first);
    while (removals.left > 0) {
        fault = idxf_removals_next(&removals, &removal);
        if (fault != IDXF_OK) return fault;
        append_record(text, &removal);
        at = idxf_record_write(rules, &removal, at);
    }
    assert_int_equal(at - again, size - removed.extra);
    assert_memory_equal(again, bytes, size - removed.extra);
    return IDXF_OK;
}

static enum idxf_fault read_removed_text(const struct vector *vector, struct bytes *text) {
    struct idxf_record_rules rules = parse_rules(vector);
    struct bytes written = vector_bytes(find_line(vector, "file"));
    uint8_t *bytes = copy_exactly(written.at, written.size), *again = calloc(1, written.size + 1);
    enum idxf_fault fault = read_removed(&rules, bytes, written.size, again, text);
    free(again);
    free(bytes);
    free(written.at);
    return fault;
}

/* ---- Sets ---- */

/* Verifies the pages of a file of sets, and its records in turn, which it gives, a line each. */
static enum idxf_fault read_sections_of_sets(const struct bytes *file, const struct idxf_sets_header *header,
                                             bool numbered, struct bytes *text) {
    struct idxf_sets_layout layout = idxf_sets_lay_out(header);
    struct idxf_set set;
    char line[32];
    uint64_t members = 0, count = 0;
    if (file->size != layout.file_size) return IDXF_FAULT_SIZE;
    for (uint64_t page = 0; page < layout.pages; page++) {
        if (idxf_load64(file->at + layout.checksums + page * 8) !=
            idxf_checksum(file->at + (page + 1) * IDXF_PAGE_SIZE, IDXF_PAGE_SIZE))
            return IDXF_FAULT_CHECKSUM;
    }
    if (!are_zero(file, layout.records + header->record_bytes, layout.directory) ||
        !are_zero(file, layout.directory + header->entries * IDXF_SETS_ENTRY_BYTES, layout.checksums))
        return IDXF_FAULT_PADDING;
    struct idxf_sets_walk walk = {.records = file->at + layout.records,
                                  .directory = file->at + layout.directory,
                                  .record_bytes = header->record_bytes,
                                  .entries = header->entries};
    for (; walk.at < walk.record_bytes; count++, members += set.count) {
        enum idxf_fault fault = idxf_sets_walk_next(&walk, &set);
        if (fault == IDXF_OK && numbered && set.key != count) fault = IDXF_FAULT_ORDER;
        if (fault == IDXF_OK && !idxf_members_ascend(set.members, set.count)) fault = IDXF_FAULT_ORDER;
        if (fault != IDXF_OK) return fault;
        append_string(text, line, (size_t)snprintf(line, sizeof line, "%" PRIu64 " ", set.key));
        append_digits(text, set.members, set.count * 8);
        append_string(text, "\n", 1);
    }
    if (idxf_sets_walk_end(&walk) != IDXF_OK) return IDXF_FAULT_DIRECTORY;
    return count == header->sets && members == header->members ? IDXF_OK : IDXF_FAULT_COUNT;
}

/* Reads a file of sets, and compares its header with what is written of it. */
static enum idxf_fault read_sets(const struct vector *vector, const struct bytes *file, struct bytes *text) {
    struct idxf_sets_header header;
    uint8_t again[IDXF_PAGE_SIZE];
    uint32_t version;
    size_t size = file->size < IDXF_PAGE_SIZE ? file->size : IDXF_PAGE_SIZE;
    uint8_t *page = copy_exactly(file->at, size);
    enum idxf_fault fault = idxf_sets_header_read(&header, page, size, &version);
    if (fault == IDXF_OK) {
        idxf_sets_header_write(&header, again);
        assert_memory_equal(again, page, sizeof again);
    }
    free(page);
    if (fault != IDXF_OK) return fault;
    struct bytes copy = {copy_exactly(file->at, file->size), file->size};
    fault = read_sections_of_sets(&copy, &header, *find_line(vector, "id-type") == 't', text);
    free(copy.at);
    return fault;
}

/* ---- All vectors ---- */

/* The fingerprints of a vector that has one line of them. */
static struct list parse_fingerprints(const struct vector *vector) {
    struct list list = {0};
    char *at = find_line(vector, "expect");
    while (*at != '\n') append(&list, strtoull(at, &at, 16));
    return list;
}

/* Appends what a line expects: `words` words, such as the operation and the fingerprint of a record, then bytes. */
static void append_expected(struct bytes *text, const char *value, unsigned words) {
    const char *id = value;
    for (unsigned word = 0; word < words; word++) {
        size_t length = strcspn(id, " \n");
        append_string(text, id, length);
        append_string(text, " ", 1);
        id += length + (id[length] == ' ');
    }
    struct bytes bytes = vector_bytes(id);
    append_digits(text, bytes.at, bytes.size);
    free(bytes.at);
}

/* The lines that are expected, in the form in which the functions above give them: IDs are digits without spaces. */
static struct bytes parse_expected(const struct vector *vector) {
    struct bytes text = {calloc(1, 1), 0};
    char *at = vector->lines, *value;
    bool is_group = strcmp(vector->kind, "group") == 0, is_ids = strcmp(vector->kind, "ids") == 0;
    assert_non_null(text.at);
    while ((value = vector_line(&at, "expect")) != NULL) {
        if (is_group)
            append_string(&text, value, strcspn(value, "\n"));
        else
            append_expected(&text, value, is_ids ? 0 : strcmp(vector->kind, "sets") == 0 ? 1 : 2);
        append_string(&text, "\n", 1);
    }
    return text;
}

/* Gives the fingerprints of tables and blocks as a list, and what other kinds hold as text. `file` has the bytes of
 * those kinds that are files as a whole. */
static enum idxf_fault read_by_kind(const struct vector *vector, const struct bytes *file, struct list *list,
                                    struct bytes *text) {
    if (strcmp(vector->kind, "table") == 0) return read_table(file, list);
    if (strcmp(vector->kind, "manifest") == 0) return read_manifest(file);
    if (strcmp(vector->kind, "sums") == 0) return read_sums(file);
    if (strcmp(vector->kind, "block") == 0) return read_block_text(vector, list);
    if (strcmp(vector->kind, "group") == 0) return read_group_text(vector, text);
    if (strcmp(vector->kind, "ids") == 0) return read_ids_text(vector, text);
    if (strcmp(vector->kind, "record") == 0) return read_record_text(vector, text);
    if (strcmp(vector->kind, "log") == 0) return read_log_text(vector, text);
    if (strcmp(vector->kind, "removed") == 0) return read_removed_text(vector, text);
    if (strcmp(vector->kind, "sets") == 0) return read_sets(vector, file, text);
    fail_msg("%s is of an unknown kind: %s", vector->name, vector->kind);
    return IDXF_OK;
}

static const char *compare_text(const struct vector *vector, const struct bytes *text) {
    struct bytes expected = parse_expected(vector);
    bool same = expected.size == text->size && memcmp(expected.at, text->at, text->size) == 0;
    free(expected.at);
    if (!same) return "other entries, IDs or records";
    if (strcmp(vector->kind, "group") != 0) return NULL;
    bool is_foreign = strstr(vector->name, "-foreign-") != NULL;
    if (is_written_again(vector, text) == is_foreign) return is_foreign ? "nothing foreign" : "written otherwise";
    return NULL;
}

/* What is wrong with a valid vector that was read; NULL when nothing is. */
static const char *compare(const struct vector *vector, const struct bytes *file, const struct list *list,
                           const struct bytes *text) {
    static const char *const of_text[] = {"group", "ids", "record", "log", "removed", "sets"};
    for (size_t i = 0; i < COUNT_OF(of_text); i++)
        if (strcmp(vector->kind, of_text[i]) == 0) return compare_text(vector, text);
    bool is_table = strcmp(vector->kind, "table") == 0;
    if (!is_table && strcmp(vector->kind, "block") != 0) return NULL;
    struct list expected = parse_fingerprints(vector);
    bool same = expected.count == list->count &&
                (list->count == 0 || memcmp(expected.items, list->items, list->count * sizeof *list->items) == 0);
    free(expected.items);
    if (!same) return "other fingerprints";
    if (!is_table) return NULL;
    struct bytes written = write_table(file, list);
    same = written.size == file->size && memcmp(written.at, file->at, file->size) == 0;
    free(written.at);
    if (strstr(vector->name, "-foreign-") != NULL) return same ? "nothing foreign" : NULL;
    return same ? NULL : "written otherwise";
}

static bool try_vector(const struct vector *vector) {
    struct list list = {0};
    char *at = vector->lines, *value = vector_line(&at, "bytes");
    struct bytes file = {NULL, 0}, text = {calloc(1, 1), 0};
    if (value != NULL) file = vector_bytes(value);
    const char *found = idxf_get_fault_name(read_by_kind(vector, &file, &list, &text));
    const char *why = strcmp(found, vector->fault) != 0 ? found : NULL;
    if (why == NULL && strcmp(vector->fault, "ok") == 0) why = compare(vector, &file, &list, &text);
    if (why != NULL) print_error("%s: expected %s, found: %s\n", vector->name, vector->fault, why);
    free(list.items);
    free(text.at);
    free(file.at);
    return why == NULL;
}

static void test_every_vector(void **state) {
    (void)state;
    struct vector vector;
    char *text = vectors_load(), *at = text;
    unsigned tried = 0, failed = 0;
    while (vector_next(&at, &vector)) {
        if (strcmp(vector.kind, "index") == 0) continue;
        failed += !try_vector(&vector);
        tried++;
    }
    free(text);
    assert_int_equal(failed, 0);
    assert_in_range(tried, 1000, 2000);
}

/* Each fault has a vector that shows it; and each kind has valid ones. */
static void test_every_fault_has_a_vector(void **state) {
    (void)state;
    static const char *const kinds[] = {"index", "table",  "manifest", "sums", "block", "group",
                                        "ids",   "record", "removed",  "log",  "sets"};
    struct vector vector;
    char *text = vectors_load(), *at = text;
    bool seen[IDXF_FAULT_COUNT_OF_FAULTS] = {false}, valid[COUNT_OF(kinds)] = {false};
    while (vector_next(&at, &vector)) {
        for (unsigned i = 0; i < IDXF_FAULT_COUNT_OF_FAULTS; i++)
            seen[i] |= strcmp(idxf_get_fault_name((enum idxf_fault)i), vector.fault) == 0;
        for (size_t i = 0; i < COUNT_OF(kinds); i++)
            valid[i] |= strcmp(kinds[i], vector.kind) == 0 && strcmp(vector.fault, "ok") == 0;
    }
    free(text);
    for (unsigned i = 0; i < IDXF_FAULT_COUNT_OF_FAULTS; i++) {
        if (!seen[i]) fail_msg("no vector has '%s'", idxf_get_fault_name((enum idxf_fault)i));
    }
    for (size_t i = 0; i < COUNT_OF(kinds); i++) {
        if (!valid[i]) fail_msg("no valid vector is a %s", kinds[i]);
    }
}

/* The bytes of a file of an index. */
static struct bytes read_part(const struct vector *vector, const char *name) {
    char *at = vector->lines, *value;
    size_t length = strlen(name);
    while ((value = vector_line(&at, "part")) != NULL)
        if (strncmp(value, name, length) == 0 && value[length] == ' ') return vector_bytes(value + length + 1);
    fail_msg("%s has no part %s", vector->name, name);
    return (struct bytes){NULL, 0};
}

/* Compares a table of an index with the manifest, and with the line that is expected: its name, then its fingerprints.
 */
static void check_table_of_index(const struct vector *vector, const struct idxf_manifest *manifest, uint32_t segment,
                                 uint32_t table, char *expected) {
    char name[64];
    struct idxf_table_header header;
    struct list list = {0};
    snprintf(name, sizeof name, "%06u/table-%02u.tbl", manifest->segments[segment].number, table);
    struct bytes file = read_part(vector, name);
    assert_fault(read_header(&file, &header), IDXF_OK);
    assert_memory_equal(header.uuid, manifest->segments[segment].uuid, IDXF_UUID_BYTES);
    assert_int_equal(header.number, table);
    assert_int_equal(header.mask, manifest->tables[table].mask);
    assert_int_equal(header.radius, manifest->tables[table].radius);
    assert_int_equal(header.bits, manifest->bits);
    assert_int_equal(header.fingerprints, manifest->segments[segment].fingerprints);
    assert_fault(read_table(&file, &list), IDXF_OK);
    assert_non_null(expected);
    assert_int_equal(strncmp(expected, name, strlen(name)), 0);
    expected += strlen(name);
    for (size_t i = 0; i < list.count; i++) {
        assert_int_equal(*expected, ' ');
        assert_int_equal(strtoull(expected, &expected, 16), list.items[i]);
    }
    assert_int_equal(*expected, '\n');
    free(list.items);
    free(file.at);
}

/* Whole indexes, but for their document maps: their tables fit the manifest, and hold what is expected. */
static void test_indexes(void **state) {
    (void)state;
    static struct idxf_manifest manifest;
    struct vector vector;
    char *text = vectors_load(), *next = text;
    unsigned line;
    uint32_t version;
    while (vector_next(&next, &vector)) {
        if (strcmp(vector.kind, "index") != 0) continue;
        struct bytes file = read_part(&vector, "manifest");
        char *at = vector.lines;
        assert_fault(idxf_manifest_read(&manifest, (char *)file.at, file.size, &line, &version), IDXF_OK);
        assert_int_equal(manifest.segment_count, 2);
        for (uint32_t i = 0; i < manifest.segment_count; i++) {
            for (uint32_t table = 0; table < manifest.table_count; table++)
                check_table_of_index(&vector, &manifest, i, table, vector_line(&at, "expect"));
        }
        assert_null(vector_line(&at, "expect"));
        free(file.at);
    }
    free(text);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_vector),
        cmocka_unit_test(test_every_fault_has_a_vector),
        cmocka_unit_test(test_indexes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
