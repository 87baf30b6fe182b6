/* input.c: reads the documents of all inputs, one after the other. */
#include "tools/input/input.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Complains of the line or row that was read last: writes its file and number, and then `sentence`. */
static void complain_of_record(const struct input *input, const char *sentence) {
    if (input->format == INPUT_TSV)
        complain("%s:%" PRIu64 ": %s", input->reader.name, input->reader.line, sentence);
    else
        complain("%s, row %" PRIu64 " (counted from 0): %s", input->reader.name, input->next_row - 1, sentence);
}

/* Returns the status of an input for a status of its reader, which must not be READER_OK or READER_TOO_LONG. */
static enum input_status convert_reader_status(enum reader_status status) {
    switch (status) {
        case READER_END: return INPUT_END;
        case READER_PENDING: return INPUT_PENDING;
        case READER_INTERRUPTED: return INPUT_INTERRUPTED;
        default: return INPUT_FAILED;
    }
}

/* Complains of the file that is being read: writes its name, and then `sentence`. Returns INPUT_FAILED. */
static enum input_status complain_of_file(const struct input *input, const char *sentence) {
    complain("%s: %s", input->reader.name, sentence);
    return INPUT_FAILED;
}

/* ---- TSV ---- */

/* Returns whether an index can record the recipe that a line #recipe states: it is not empty, not too long, and has no
 * control characters. The recipe is the record's `id`. */
static bool has_usable_recipe(const struct tsv_record *record) {
    if (record->id_length == 0 || record->id_length > IDX_MAX_RECIPE_BYTES) return false;
    for (size_t i = 0; i < record->id_length; i++) {
        if ((unsigned char)record->id[i] < ' ' || record->id[i] == 0x7f) return false;
    }
    return true;
}

/* Sets input->recipe to a copy of the recipe that a line #recipe states. Complains and returns false if memory ran
 * out. */
static bool adopt_recipe(struct input *input, const struct tsv_record *record) {
    input->recipe = input->stated_recipe = strndup(record->id, record->id_length);
    input->recipe_is_final = true;
    if (input->stated_recipe == NULL) complain_of_record(input, "out of memory");
    return input->stated_recipe != NULL;
}

/* Complains that a line states another recipe than `recipe`; `owner` says whose that is. Returns false always. */
static bool refuse_recipe(const struct input *input, enum recipe_owner owner, const char *recipe,
                          const struct tsv_record *record) {
    struct problem problem;
    recipes_explain_difference(&problem, owner, recipe, record->id, record->id_length);
    complain_of_record(input, problem.sentence);
    return false;
}

/* Compares the recipe of a line #recipe with required_recipe; any recipe matches "". With index_adopts_recipe, a usable
 * recipe before any fingerprint and any other recipe becomes required_recipe itself. Complains and returns false if the
 * recipes don't match, or if memory ran out. */
static bool check_required_recipe(struct input *input, const struct tsv_record *record) {
    if (input->index_adopts_recipe && !input->recipe_is_final && has_usable_recipe(record)) {
        if (!adopt_recipe(input, record)) return false;
        input->required_recipe = input->stated_recipe;
    }
    if (*input->required_recipe == '\0' ||
        recipes_match(input->required_recipe, record->id, record->id_length, &input->warned_of_icu))
        return true;
    return refuse_recipe(input, input->recipe_owner, input->required_recipe, record);
}

/* Checks a line #recipe. If required_recipe is set, it must match that. Otherwise the first line, which must precede
 * all fingerprints, sets the recipe of all inputs, and each later line must match it; lines are ignored if the user
 * gave a recipe. Complains and returns false if the line is wrong, or if memory ran out. */
static bool check_or_adopt_recipe(struct input *input, const struct tsv_record *record) {
    if (input->required_recipe != NULL) return check_required_recipe(input, record);
    if (input->recipe != NULL && input->stated_recipe == NULL) return true; /* The user gave it by --recipe. */
    if (!has_usable_recipe(record)) {
        complain_of_record(input,
                           "the recipe is empty, too long, or has control characters; correct it, or give --recipe");
        return false;
    }
    if (!input->recipe_is_final) return adopt_recipe(input, record);
    if (input->recipe != NULL && recipes_match(input->recipe, record->id, record->id_length, &input->warned_of_icu))
        return true;
    if (input->recipe != NULL) return refuse_recipe(input, RECIPE_OF_THOSE_BEFORE, input->recipe, record);
    complain_of_record(input, "a recipe after fingerprints without one; give --recipe for all of them");
    return false;
}

/* Counts a bad line as skipped, and complains of it only if it is the first. If bad lines are not to be skipped,
 * complains and returns false. `problem` says what is wrong; the `length` bytes of the line decide what advice the
 * complaint gives. */
static bool skip_bad_line(struct input *input, const struct problem *problem, const char *line, size_t length) {
    if (!input->skip_bad_lines || input->skipped_lines == 0) {
        struct problem advised;
        problem_set(&advised, "%s%s", problem->sentence, input_advise_on_binary_line(line, length));
        complain_of_record(input, advised.sentence);
    }
    if (input->skip_bad_lines) input->skipped_lines++;
    return input->skip_bad_lines;
}

/* Counts a line that is too long as a bad line. `line` has its first `length` bytes, as the reader returned them.
 * Returns false, after a complaint, if bad lines are not to be skipped. */
static bool skip_too_long_line(struct input *input, const char *line, size_t length) {
    struct problem problem;
    reader_explain_too_long_line(&problem);
    totals_count_line(&input->totals, TSV_BAD, NULL);
    return skip_bad_line(input, &problem, line, length);
}

/* Parses a line and counts it in `totals`. Appends a record, for which there must be room, if it is a document; checks
 * a recipe; skips or refuses a bad line; ignores any other line. Returns false, after a complaint, if no further line
 * is to be read. */
static bool parse_and_count_line(struct input *input, const char *line, size_t length) {
    struct tsv_record *record = &input->records[input->record_count];
    struct problem problem;
    enum tsv_kind kind = tsv_parse_line(&input->rules, line, length, record, &problem);
    totals_count_line(&input->totals, kind, record);
    switch (kind) {
        case TSV_RECORD:
            if (record->escaped) reader_unescape_id(&input->reader, record);
            input->recipe_is_final = true;
            input->record_count++;
            return true;
        case TSV_RECIPE: return check_or_adopt_recipe(input, record);
        case TSV_BAD: return skip_bad_line(input, &problem, line, length);
        default: return true;
    }
}

/* ---- Lines of fingerprints alone, many at a time ---- */

/* The bytes of a line of 16 hex digits, with its \n. */
enum { HEX_LINE_BYTES = 17 };

/* Returns the big-endian number in 8 bytes. */
static uint64_t load_big_endian(const char *bytes) {
    uint64_t word = 0;
    for (int i = 0; i < 8; i++) word = word << 8 | (unsigned char)bytes[i];
    return word;
}

/* Returns a word with the highest bit of each byte set where the same byte of `bytes` is from `min` to `max`, and all
 * other bits 0. All bytes must be below 0x80, so that no subtraction borrows from the next byte: the first difference
 * keeps the highest bit where the byte is at least `min`, and the second where it is at most `max`. */
static uint64_t mark_bytes_between(uint64_t bytes, uint64_t min, uint64_t max) {
    const uint64_t ones = UINT64_C(0x0101010101010101);
    return ((bytes | ones * 0x80) - ones * min) & (ones * (0x80 + max) - bytes) & ones * 0x80;
}

/* Returns the number that eight hex digits make, and sets bits of *invalid if a byte is no hex digit, but clears none.
 * The low four bits of a letter are 9 less than its value as a digit: 'a' is 0x61, and stands for 10. The digits, a
 * byte each, are then joined to pairs, the pairs to fours, and the fours to the number. */
static uint64_t parse_eight_hex_digits(const char *bytes, uint64_t *invalid) {
    const uint64_t ones = UINT64_C(0x0101010101010101);
    uint64_t text = load_big_endian(bytes), ascii = text & ones * 0x7f;
    uint64_t lower = mark_bytes_between(ascii, 'a', 'f'), letters = lower | mark_bytes_between(ascii, 'A', 'F');
    uint64_t digits = (ascii & ones * 0x0f) + (letters >> 7) * 9;
    *invalid |= (text & ones * 0x80) | ((letters | mark_bytes_between(ascii, '0', '9')) ^ ones * 0x80);
    digits = (digits | digits >> 4) & UINT64_C(0x00ff00ff00ff00ff);
    digits = (digits | digits >> 8) & UINT64_C(0x0000ffff0000ffff);
    return (digits | digits >> 16) & UINT64_C(0xffffffff);
}

/* Makes records of the next lines, at most INPUT_BATCH, as long as they are 16 hex digits and nothing else. The first
 * other line stays in the reader. `record_count` must be 0 before; it stays 0 if that is the next line. Returns
 * INPUT_DOCUMENTS, or the status at the end, after a signal or a complaint. Waits for further lines whatever
 * never_waits says. */
static enum input_status read_records_of_hex_lines(struct input *input) {
    const char *bytes;
    size_t length, offset = 0;
    enum reader_status status =
        reader_read_bytes(&input->reader, (size_t)HEX_LINE_BYTES * INPUT_BATCH, &bytes, &length);
    if (status != READER_OK) return convert_reader_status(status);
    for (; length - offset >= HEX_LINE_BYTES && bytes[offset + HEX_LINE_BYTES - 1] == '\n'; offset += HEX_LINE_BYTES) {
        uint64_t invalid = 0, high = parse_eight_hex_digits(bytes + offset, &invalid),
                 low = parse_eight_hex_digits(bytes + offset + 8, &invalid);
        if (invalid != 0) break;
        input->records[input->record_count++] = (struct tsv_record){.fingerprint = high << 32 | low};
    }
    reader_unread_bytes(&input->reader, length - offset);
    input->reader.line += input->record_count;
    input->totals.fingerprints += input->record_count;
    return INPUT_DOCUMENTS;
}

/* Makes records of the next line and of those behind it that are in the reader's buffer, and returns INPUT_DOCUMENTS.
 * Not every line makes a record. At the end, after a signal or a complaint, or if it would have to wait, returns that
 * status. */
static enum input_status read_records_of_lines(struct input *input) {
    const char *line;
    size_t length;
    const struct tsv_rules *rules = &input->rules;
    if (rules->ids == TSV_ID_IGNORED && rules->bits == 64 && rules->notation == NOTATION_HEX) {
        enum input_status hex_status = read_records_of_hex_lines(input);
        if (hex_status != INPUT_DOCUMENTS || input->record_count > 0) return hex_status;
    }
    enum reader_status status = reader_read_any_line(&input->reader, !input->never_waits, &line, &length);
    if (status == READER_TOO_LONG) return skip_too_long_line(input, line, length) ? INPUT_DOCUMENTS : INPUT_FAILED;
    if (status != READER_OK) return convert_reader_status(status);
    do {
        if (!parse_and_count_line(input, line, length)) return INPUT_FAILED;
    } while (input->record_count < INPUT_BATCH && reader_next_buffered_line(&input->reader, &line, &length));
    return INPUT_DOCUMENTS;
}

/* ---- u64 and npy ---- */

/* Returns the little-endian number in 8 bytes. Compilers make one load of this. */
static uint64_t load_little_endian(const char *bytes) {
    const unsigned char *byte = (const unsigned char *)bytes;
    return (uint64_t)byte[0] | (uint64_t)byte[1] << 8 | (uint64_t)byte[2] << 16 | (uint64_t)byte[3] << 24 |
           (uint64_t)byte[4] << 32 | (uint64_t)byte[5] << 40 | (uint64_t)byte[6] << 48 | (uint64_t)byte[7] << 56;
}

/* Makes records of `row_count` rows of 8 bytes each, INPUT_BATCH or fewer, and sets `record_count`. Complains and
 * returns false if a fingerprint has too many bits; the rows before it are records all the same, as the lines before a
 * bad one are. */
static bool make_records_of_rows(struct input *input, const char *bytes, size_t row_count) {
    uint64_t excess_bits = input->rules.bits == 64 ? 0 : UINT64_MAX << input->rules.bits,
             first_number = input->document_count;
    bool big_endian = input->array.big_endian;
    for (size_t i = 0; i < row_count; i++) {
        uint64_t word = load_little_endian(bytes + 8 * i), fingerprint = big_endian ? __builtin_bswap64(word) : word;
        input->records[i] = (struct tsv_record){.fingerprint = fingerprint, .number = first_number + i};
        if ((fingerprint & excess_bits) == 0) continue;
        input->record_count = i;
        input->next_row += i + 1;
        complain_of_record(input, "the fingerprint has more bits than --bits allows");
        return false;
    }
    input->next_row += row_count;
    input->record_count = row_count;
    return true;
}

/* Makes records of the next rows, and returns INPUT_DOCUMENTS, or INPUT_END behind the last row. There, in a .npy file,
 * tries to read one more byte, which must not be there. Returns INPUT_FAILED after a complaint, and INPUT_INTERRUPTED
 * after a signal. */
static enum input_status read_records_of_rows(struct input *input) {
    /* Files of u64 don't say how many rows they have, so a whole batch of them always counts as left. */
    uint64_t rows_left = input->format == INPUT_NPY ? input->array.rows - input->next_row : INPUT_BATCH;
    size_t max_rows = rows_left < INPUT_BATCH ? (size_t)rows_left : INPUT_BATCH, length;
    const char *bytes;
    enum reader_status status = reader_read_bytes(&input->reader, max_rows == 0 ? 1 : 8 * max_rows, &bytes, &length);
    if (status == READER_END && input->format == INPUT_NPY && rows_left > 0)
        return complain_of_file(input, "the file is incomplete: it ends before its last row");
    if (status != READER_OK) return convert_reader_status(status);
    if (rows_left == 0) return complain_of_file(input, "the file continues after the last row that its header counts");
    if (!make_records_of_rows(input, bytes, length / 8)) return INPUT_FAILED;
    if (length % 8 == 0) return INPUT_DOCUMENTS;
    return complain_of_file(input, "the length of the file is not a multiple of 8 bytes, so these are not u64 rows");
}

/* Reads the prefix and the header of a .npy file, sets input->array, and returns INPUT_DOCUMENTS; the rows follow. In
 * version 1, the header begins before NPY_PREFIX_BYTES, so the bytes of the header that were read with the prefix are
 * unread first. Returns INPUT_FAILED after a complaint, and INPUT_INTERRUPTED after a signal. */
static enum input_status read_npy_header(struct input *input) {
    const char *bytes = NULL;
    size_t length = 0;
    struct npy_prefix prefix = {0, 0};
    struct problem problem;
    enum reader_status status = reader_read_bytes(&input->reader, NPY_PREFIX_BYTES, &bytes, &length);
    if (status != READER_OK && status != READER_END) return convert_reader_status(status);
    if (!npy_read_prefix(bytes, length, &prefix, &problem)) return complain_of_file(input, problem.sentence);
    reader_unread_bytes(&input->reader, NPY_PREFIX_BYTES - prefix.header_offset);
    status = reader_read_bytes(&input->reader, prefix.header_length, &bytes, &length);
    if (status != READER_OK && status != READER_END) return convert_reader_status(status);
    if (length < prefix.header_length)
        return complain_of_file(input, "the file is incomplete: it ends within its header");
    if (!npy_read_header(bytes, length, &input->array, &problem)) return complain_of_file(input, problem.sentence);
    return INPUT_DOCUMENTS;
}

/* ---- All inputs ---- */

/* Returns how many inputs there are. Without paths, standard input is the only one. */
static size_t count_inputs(const struct input *input) { return input->paths.count == 0 ? 1 : input->paths.count; }

/* Returns the path of the input with this number, from 0 to count_inputs - 1; "-" is standard input. */
static const char *get_input_path(const struct input *input, size_t number) {
    return input->paths.count == 0 ? "-" : input->paths.values[number];
}

/* Checks that the file that was read to its end is whole, if there is one, closes it, and opens the next. Returns
 * INPUT_DOCUMENTS, or INPUT_END after the last file; INPUT_FAILED after a complaint, and INPUT_INTERRUPTED after a
 * signal. */
static enum input_status open_next_file(struct input *input) {
    bool is_whole = input->partial || totals_are_whole(&input->totals, input->reader.name);
    input->totals = (struct totals){0};
    if (!is_whole) return INPUT_FAILED;
    reader_close(&input->reader);
    if (input->opened_count == count_inputs(input)) return INPUT_END;
    const char *path = get_input_path(input, input->opened_count++);
    input->next_row = 0;
    input->array = (struct npy_array){0, false};
    if (!reader_open(&input->reader, path)) return INPUT_FAILED;
    return input->format == INPUT_NPY ? read_npy_header(input) : INPUT_DOCUMENTS;
}

/* Replaces the records by the next ones, from the next file if the open one has no more, and adds their number to
 * `document_count`. Returns like input_read_records. */
static enum input_status refill_records(struct input *input) {
    enum input_status status = input->opened_count == 0 ? open_next_file(input) : INPUT_DOCUMENTS;
    input->record_count = 0;
    while (status == INPUT_DOCUMENTS && input->record_count == 0) {
        status = input->format == INPUT_TSV ? read_records_of_lines(input) : read_records_of_rows(input);
        if (status == INPUT_END) status = open_next_file(input);
    }
    input->document_count += input->record_count;
    return status;
}

/* ---- Whether files are whole ---- */

/* Returns whether a path leads to a regular file, and is not `-`, which is standard input. */
static bool is_regular_file(const char *path) {
    struct stat status;
    return strcmp(path, "-") != 0 && stat(path, &status) == 0 && S_ISREG(status.st_mode);
}

/* Reads all lines of an open file by the rules of the input, and counts them in *totals. Returns false after a
 * complaint and, without one, after a signal. */
static bool count_all_lines(const struct input *input, struct reader *reader, struct totals *totals) {
    struct tsv_record record;
    struct problem problem;
    enum reader_status status;
    const char *line;
    size_t length;
    while ((status = reader_read_any_line(reader, true, &line, &length)) == READER_OK || status == READER_TOO_LONG) {
        enum tsv_kind kind =
            status == READER_TOO_LONG ? TSV_BAD : tsv_parse_line(&input->rules, line, length, &record, &problem);
        totals_count_line(totals, kind, &record);
    }
    return status == READER_END;
}

bool input_files_are_whole(const struct input *input) {
    struct reader reader = READER_INIT;
    bool are_whole = true;
    if (input->format != INPUT_TSV || input->partial) return true;
    for (size_t i = 0; i < input->paths.count && are_whole; i++) {
        struct totals totals = {0};
        if (!is_regular_file(input->paths.values[i])) continue;
        are_whole = reader_open(&reader, input->paths.values[i]) && count_all_lines(input, &reader, &totals) &&
                    totals_are_whole(&totals, reader.name);
        reader_close(&reader);
    }
    reader_free(&reader);
    return are_whole;
}

/* ---- Documents ---- */

enum input_status input_find_recipe(struct input *input) {
    input->recipe_is_final = input->recipe != NULL;
    if (input->recipe != NULL || input->format != INPUT_TSV) return INPUT_DOCUMENTS;
    input->first_records_status = refill_records(input);
    input->holds_first_records = true;
    return input->first_records_status;
}

enum input_status input_read_records(struct input *input, const struct tsv_record **records, size_t *count) {
    enum input_status status = input->holds_first_records ? input->first_records_status : refill_records(input);
    input->holds_first_records = false;
    *records = input->records;
    *count = input->record_count;
    return status;
}

/* ---- How much there is ---- */

/* How many bytes of a TSV file are read to estimate what it has. */
enum { SAMPLE_BYTES = 1 << 16 };

/* Adds to *size an estimate of what a TSV file of `file_bytes` bytes has: what the whole lines of a sample have, times
 * file_bytes / (bytes of these lines). The sample is the `length` bytes at `lines`, and its last line may be cut. */
static void add_extrapolated_size(const struct input *input, const char *lines, size_t length, double file_bytes,
                                  struct input_size *size) {
    struct tsv_record record;
    struct problem problem;
    uint64_t document_count = 0, id_bytes = 0;
    const char *line = lines, *lines_end = lines + length, *newline;
    for (; (newline = memchr(line, '\n', (size_t)(lines_end - line))) != NULL; line = newline + 1) {
        if (tsv_parse_line(&input->rules, line, (size_t)(newline - line), &record, &problem) != TSV_RECORD) continue;
        document_count++;
        if (input->rules.ids == TSV_ID_TEXT) id_bytes += record.id_length;
    }
    if (line == lines) return;
    double factor = file_bytes / (double)(line - lines);
    size->document_count += (uint64_t)((double)document_count * factor);
    size->id_bytes += (uint64_t)((double)id_bytes * factor);
}

/* Adds to *size an estimate of what an open TSV file of `file_bytes` bytes has. The sample of a large file is from its
 * middle, since the first lines are shorter if IDs are numbers that grow. Returns false, without a complaint, if the
 * file can't be read. */
static bool add_tsv_size_estimate(const struct input *input, int file, uint64_t file_bytes, struct input_size *size) {
    static char sample[SAMPLE_BYTES];
    bool is_large = file_bytes > 2 * SAMPLE_BYTES;
    ssize_t sample_length = pread(file, sample, sizeof sample, is_large ? (off_t)(file_bytes / 2) : 0);
    if (sample_length <= 0) return sample_length == 0;
    /* A sample from the middle begins within a line, the rest of which is skipped. */
    const char *newline = is_large ? memchr(sample, '\n', (size_t)sample_length) : NULL;
    size_t lines_begin = newline != NULL ? (size_t)(newline - sample) + 1 : 0;
    add_extrapolated_size(input, sample + lines_begin, (size_t)sample_length - lines_begin, (double)file_bytes, size);
    return true;
}

/* Opens a regular file and returns its descriptor, which the caller closes, or that of standard input for `-`. Returns
 * -1, without a complaint, if it can't be opened, and for anything else: if a FIFO were opened twice, what is written
 * to it in between would be lost. */
static int open_file_to_measure(const char *path) {
    if (strcmp(path, "-") == 0) return STDIN_FILENO;
    return !is_regular_file(path) ? -1 : open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
}

/* Adds to *size an estimate of what an open file has. Returns false, without a complaint, if it is no regular file or
 * can't be read. */
static bool add_file_size_estimate(const struct input *input, int file, struct input_size *size) {
    struct stat status;
    if (fstat(file, &status) != 0 || !S_ISREG(status.st_mode)) return false;
    if (input->format == INPUT_TSV) return add_tsv_size_estimate(input, file, (uint64_t)status.st_size, size);
    size->document_count += (uint64_t)status.st_size / sizeof(uint64_t);
    return true;
}

bool input_estimate_size(const struct input *input, struct input_size *size) {
    bool is_known = true;
    *size = (struct input_size){0, 0};
    for (size_t i = 0; i < count_inputs(input) && is_known; i++) {
        int file = open_file_to_measure(get_input_path(input, i));
        is_known = file >= 0 && add_file_size_estimate(input, file, size);
        if (file > STDIN_FILENO) close(file);
    }
    return is_known;
}

void input_report_skipped_lines(const struct input *input) {
    if (input->skipped_lines == 1)
        complain("skipped 1 bad line, which is reported above");
    else if (input->skipped_lines > 1)
        complain("skipped %" PRIu64 " bad lines; the first one is reported above", input->skipped_lines);
}

void input_free(struct input *input) {
    reader_free(&input->reader);
    free(input->stated_recipe);
}
