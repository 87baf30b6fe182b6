/* directory.c: writes the lines and lists of a directory, and finds blocks by them. */
#include "format/directory.h"

#include "format/processor.h"

/* Where in a line, in bytes, its parts are. From byte 8 on it has either its cells, or the place of its list and the
 * width of keys there. */
enum { AT_FIRST_BLOCK = 0, AT_LISTED_COUNT = 4, AT_CELLS = 8, AT_LIST = 8, AT_WIDTH = 16, AT_RESERVED = 17 };

/* ---- Writing ---- */

/* Begins line number `line`, from 0, without keys. `keys_before` is how many keys the lines before have. */
static void begin_line(struct idxf_directory_writer *writer, uint64_t line, uint64_t keys_before) {
    uint64_t lines = writer->lines, list_bytes = writer->list_bytes;
    *writer = (struct idxf_directory_writer){
        .lines = lines, .line = line, .keys_before = keys_before, .min_xor = UINT64_MAX, .list_bytes = list_bytes};
}

void idxf_directory_begin(struct idxf_directory_writer *writer, uint64_t lines) {
    writer->lines = lines;
    writer->list_bytes = 0;
    begin_line(writer, 0, 0);
}

bool idxf_directory_add_key(struct idxf_directory_writer *writer, uint64_t key) {
    struct idxf_place place = idxf_find_place(key, writer->lines);
    if (place.line > writer->line) return false;
    unsigned cell = (unsigned)((idxf_uint128)place.part * IDXF_LINE_CELLS >> 64);
    uint64_t bit = UINT64_C(1) << cell % 64, difference = place.part ^ writer->previous_fraction;
    if (writer->words[cell / 64] & bit) writer->is_crowded = true;
    if (writer->key_count > 0 && difference < writer->min_xor) writer->min_xor = difference;
    writer->words[cell / 64] |= bit;
    writer->previous_fraction = place.part;
    writer->key_count++;
    return true;
}

void idxf_directory_write_line(struct idxf_directory_writer *writer, uint8_t bytes[IDXF_LINE_BYTES]) {
    memset(bytes, 0, IDXF_LINE_BYTES);
    idxf_store32(bytes + AT_FIRST_BLOCK, (uint32_t)writer->keys_before);
    if (writer->is_crowded) {
        /* So many leading bits of fractions tell the closest two keys apart, which differ in the last of them. */
        struct idxf_list list = {0, (uint32_t)writer->key_count, 65 - idxf_bit_length(writer->min_xor)};
        idxf_store32(bytes + AT_LISTED_COUNT, list.count);
        idxf_store64(bytes + AT_LIST, writer->list_bytes);
        bytes[AT_WIDTH] = (uint8_t)list.width;
        writer->list_bytes += idxf_list_count_bytes(&list);
    } else {
        for (size_t i = 0; i < IDXF_LINE_WORDS; i++) idxf_store64(bytes + AT_CELLS + i * 8, writer->words[i]);
    }
    begin_line(writer, writer->line + 1, writer->keys_before + writer->key_count);
}

void idxf_list_write_key(const struct idxf_list *list, uint64_t number, uint64_t fraction, uint64_t begin, uint64_t end,
                         uint8_t *bytes) {
    uint64_t first_bit = list->at * 8 + number * list->width, bits = idxf_get_top_bits(fraction, list->width);
    for (unsigned done = 0; done < list->width;) {
        uint64_t byte = (first_bit + done) / 8;
        unsigned shift = (unsigned)((first_bit + done) % 8);
        if (byte >= begin && byte < end) bytes[byte - begin] |= (uint8_t)(bits >> done << shift);
        done += 8 - shift;
    }
}

/* ---- Reading ---- */

struct idxf_list idxf_line_read_list(const uint8_t *line) {
    return (struct idxf_list){idxf_load64(line + AT_LIST), idxf_count_listed_keys(line), line[AT_WIDTH]};
}

void idxf_directory_init(struct idxf_directory *directory, const uint8_t *lines, const uint8_t *lists,
                         uint64_t list_bytes, size_t readable, uint64_t blocks) {
    idxf_key_counter counters[IDXF_MAX_KEY_COUNTERS];
    *directory = (struct idxf_directory){.lines = lines,
                                         .lists = lists,
                                         .line_count = idxf_directory_count_lines(blocks),
                                         .list_bytes = list_bytes,
                                         .blocks = blocks,
                                         .readable = readable,
                                         .count_keys_before = counters[idxf_list_key_counters(counters) - 1]};
    directory->cell_step = UINT64_MAX / (directory->line_count * IDXF_LINE_CELLS) + 1;
}

/* Whether a line's list has keys of 1 to 64 bits, lies within the lists, and has only blocks that the table has. */
static bool has_sound_list(const struct idxf_directory *directory, const uint8_t *line, const struct idxf_list *list) {
    uint64_t bytes = idxf_list_count_bytes(list);
    return list->width >= 1 && list->width <= 64 && list->at <= directory->list_bytes &&
           bytes <= directory->list_bytes - list->at && list->count <= directory->blocks &&
           idxf_get_first_block(line) <= directory->blocks - list->count;
}

/* Returns the leading bits of key number `number`, from 0, of a list that was checked. */
static uint64_t get_listed_key(const struct idxf_directory *directory, const struct idxf_list *list, uint64_t number) {
    return idxf_get_bits(directory->lists, directory->readable, list->at * 8 + number * list->width, list->width);
}

/* Returns the number, from 0, of the first key of a list whose leading bits are not below `bits`, or the number of
 * keys if there is none. */
static uint64_t count_keys_below(const struct idxf_directory *directory, const struct idxf_list *list, uint64_t bits) {
    uint64_t low = 0, high = list->count;
    while (low < high) {
        uint64_t middle = low + (high - low) / 2;
        if (get_listed_key(directory, list, middle) < bits)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

bool idxf_find_in_list(const struct idxf_directory *directory, uint64_t fingerprint, struct idxf_start *start) {
    struct idxf_place place = idxf_find_place(fingerprint, directory->line_count);
    const uint8_t *line = directory->lines + place.line * IDXF_LINE_BYTES;
    struct idxf_list list = idxf_line_read_list(line);
    if (!has_sound_list(directory, line, &list)) return false;
    /* What the fraction has behind its leading bits: a key with the same leading bits may have 0 there, and so be
     * lower. Fingerprints are fractions divided by the number of lines. */
    uint64_t trailing_part = list.width == 64 ? 0 : place.part & UINT64_MAX >> list.width;
    start->block =
        idxf_get_first_block(line) + count_keys_below(directory, &list, idxf_get_top_bits(place.part, list.width));
    start->above = fingerprint - trailing_part / directory->line_count;
    return true;
}

/* Returns the least fingerprint whose place is at least `fraction`, in units of 2^-64, of the interval of
 * line number `line`: the quotient, rounded up. */
static uint64_t find_least_fingerprint(const struct idxf_directory *directory, uint64_t line, uint64_t fraction) {
    idxf_uint128 place = (idxf_uint128)line << 64 | fraction;
    return (uint64_t)((place + directory->line_count - 1) / directory->line_count);
}

/* Returns the number of the line that has the key of block number `block`: the last line whose first block is not after
 * it, or 0. */
static uint64_t find_line_of_block(const struct idxf_directory *directory, uint64_t block) {
    uint64_t low = 0, high = directory->line_count - 1;
    while (low < high) {
        uint64_t middle = high - (high - low) / 2;
        if (idxf_get_first_block(directory->lines + middle * IDXF_LINE_BYTES) <= block)
            low = middle;
        else
            high = middle - 1;
    }
    return low;
}

/* Returns the cell of key number `number`, from 0, of a line, or IDXF_LINE_CELLS if the line has fewer keys. */
static unsigned find_cell_of_key(const uint8_t *line, uint64_t number) {
    for (unsigned cell = 0; cell < IDXF_LINE_CELLS; cell++) {
        if ((line[AT_CELLS + cell / 8] >> cell % 8 & 1) != 0 && number-- == 0) return cell;
    }
    return IDXF_LINE_CELLS;
}

bool idxf_directory_get_block_start(const struct idxf_directory *directory, uint64_t block, struct idxf_start *start) {
    uint64_t line_number = find_line_of_block(directory, block), fraction;
    const uint8_t *line = directory->lines + line_number * IDXF_LINE_BYTES;
    start->block = block;
    if (idxf_get_first_block(line) > block) return false;
    uint64_t key_in_line = block - idxf_get_first_block(line);
    if (idxf_count_listed_keys(line) != 0) {
        struct idxf_list list = idxf_line_read_list(line);
        if (!has_sound_list(directory, line, &list) || key_in_line >= list.count) return false;
        fraction = get_listed_key(directory, &list, key_in_line) << (64 - list.width);
    } else {
        unsigned cell = find_cell_of_key(line, key_in_line);
        if (cell == IDXF_LINE_CELLS) return false;
        /* This is the least fraction that falls into the cell. */
        fraction = (uint64_t)((((idxf_uint128)cell << 64) + IDXF_LINE_CELLS - 1) / IDXF_LINE_CELLS);
    }
    start->above = find_least_fingerprint(directory, line_number, fraction);
    return true;
}

/* ---- Counting ---- */

/* Counts the keys of a line before cell number `cell`, word by word: an idxf_key_counter. */
IDXF_INLINE unsigned count_keys(const uint8_t *line, unsigned cell) {
    unsigned count = 0;
    for (unsigned i = 0; i < IDXF_LINE_WORDS; i++) {
        unsigned cells_before = cell > i * 64 ? cell - i * 64 : 0;
        count += idxf_count_bits(idxf_load64(line + AT_CELLS + i * 8) & idxf_low_bits(cells_before));
    }
    return count;
}

/* Does what count_keys does, with instructions that every processor has. */
static unsigned count_keys_portable(const uint8_t *line, unsigned cell) { return count_keys(line, cell); }

#ifdef IDXF_X86
#include <immintrin.h>

/* Does what count_keys does, with BMI2. */
IDXF_BMI2 static unsigned count_keys_bmi2(const uint8_t *line, unsigned cell) { return count_keys(line, cell); }

/* Does what count_keys does, for all 8 words of the line at once. The first word has no cells, and is left out
 * of the sum. A shift by 64 bits or more gives 0, so all cells of a word before the one with `cell` are counted. */
IDXF_AVX512 static unsigned count_keys_avx512(const uint8_t *line, unsigned cell) {
    const __m512i begins = _mm512_set_epi64(384, 320, 256, 192, 128, 64, 0, 0);
    __m512i cells_before = _mm512_sub_epi64(_mm512_set1_epi64(cell), begins);
    __m512i beyond = _mm512_sllv_epi64(_mm512_set1_epi64(-1), _mm512_max_epi64(cells_before, _mm512_setzero_si512()));
    __m512i counts = _mm512_popcnt_epi64(_mm512_andnot_si512(beyond, _mm512_loadu_si512(line)));
    return (unsigned)_mm512_mask_reduce_add_epi64(0xfe, counts);
}
#endif

size_t idxf_list_key_counters(idxf_key_counter counters[IDXF_MAX_KEY_COUNTERS]) {
    size_t count = 0;
    counters[count++] = count_keys_portable;
#ifdef IDXF_X86
    if (idxf_has_bmi2()) counters[count++] = count_keys_bmi2;
    if (idxf_has_avx512()) counters[count++] = count_keys_avx512;
#endif
    return count;
}
