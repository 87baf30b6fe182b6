/* passing.c: reads the fingerprints that pass queries. Lines of a fixed width are read some at a time; any other line
 * goes the way of all lines. */
#include "tools/input/input.h"

#include "tools/shared/library.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* How many fingerprints the visitor gets at a time, and how many bytes of a file are looked at together. */
enum { KEPT = 1 << 20, READ_BYTES = 1 << 16 };

struct kept {
    struct passing *passing;
    passing_visitor visit;
    void *context;
    size_t count;
    struct totals totals; /* They are of the file that is read. */
    uint64_t fingerprints[KEPT];
};

static bool hand_over(struct kept *kept) {
    size_t count = kept->count;
    kept->count = 0;
    return count == 0 || kept->visit(kept->context, kept->fingerprints, count);
}

static bool keep_fingerprint(struct kept *kept, uint64_t fingerprint) {
    kept->fingerprints[kept->count++] = fingerprint;
    return kept->count < KEPT || hand_over(kept);
}

/* ---- Lines ---- */

static uint64_t load_big(const char *bytes) {
    uint64_t word = 0;
    for (int i = 0; i < 8; i++) word = word << 8 | (unsigned char)bytes[i];
    return word;
}

/* Returns a bit, the highest, of each byte from `least` to `most`, of bytes below 0x80. */
static uint64_t find_between(uint64_t bytes, uint64_t least, uint64_t most) {
    const uint64_t ones = UINT64_C(0x0101010101010101);
    return ((bytes | ones * 0x80) - ones * least) & (ones * (0x80 + most) - bytes) & ones * 0x80;
}

/* Reads eight hex digits at once: each byte's digit, then pairs, fours and all of them. Sets bits of *odd where one is
 * none. */
static uint64_t read_digits(const char *bytes, uint64_t *odd) {
    const uint64_t ones = UINT64_C(0x0101010101010101);
    uint64_t text = load_big(bytes), ascii = text & ones * 0x7f;
    uint64_t small = find_between(ascii, 'a', 'f'), letter = small | find_between(ascii, 'A', 'F');
    uint64_t digits = (ascii & ones * 0x0f) + (letter >> 7) * 9;
    *odd |= (text & ones * 0x80) | ((letter | find_between(ascii, '0', '9')) ^ ones * 0x80);
    digits = (digits | digits >> 4) & UINT64_C(0x00ff00ff00ff00ff);
    digits = (digits | digits >> 8) & UINT64_C(0x0000ffff0000ffff);
    return (digits | digits >> 16) & UINT64_C(0xffffffff);
}

/* Takes lines of nothing but 16 hex digits, up to the first line that is another one. Sets *taken to their bytes. */
static bool take_plain_lines(struct kept *kept, const char *bytes, size_t length, size_t *taken) {
    size_t at = 0;
    for (; length - at >= 17 && bytes[at + 16] == '\n'; at += 17) {
        uint64_t odd = 0, high = read_digits(bytes + at, &odd), low = read_digits(bytes + at + 8, &odd);
        if (odd != 0) break;
        if (!keep_fingerprint(kept, high << 32 | low)) return false;
    }
    *taken = at;
    return true;
}

static bool complain_of_line(const struct reader *reader, const struct problem *problem, const char *line,
                             size_t length) {
    return complain("%s:%" PRIu64 ": %s%s", reader->name, reader->line, problem->sentence, input_advice(line, length));
}

/* Takes the fingerprint in the first column of a line of any kind; the other columns do not count. */
static bool take_line(struct kept *kept, const struct reader *reader, const char *line, size_t length) {
    struct passing *passing = kept->passing;
    struct tsv_rules rules = passing->rules;
    struct tsv_record record;
    struct problem problem;
    const char *tab = length > 0 && line[0] != '#' ? memchr(line, '\t', length) : NULL;
    rules.ids = TSV_ID_NONE;
    enum tsv_kind kind = tsv_parse(&rules, line, tab == NULL ? length : (size_t)(tab - line), &record, &problem);
    totals_count(&kept->totals, kind, &record);
    switch (kind) {
        case TSV_RECORD: return keep_fingerprint(kept, record.fingerprint);
        case TSV_TOTAL:
        case TSV_COMMENT: return true;
        case TSV_RECIPE:
            if (passing->recipe == NULL ||
                recipes_match(passing->recipe, record.id, record.id_length, &passing->warned_of_icu))
                return true;
            problem_set(&problem, "the recipe of these fingerprints is not that of the queries, so they "
                                  "can't be compared");
            return complain_of_line(reader, &problem, line, length);
        default: return complain_of_line(reader, &problem, line, length);
    }
}

/* Takes as many lines of 16 hex digits as there are in a row, and then a line of any kind. */
static enum reader_status read_some(struct kept *kept, struct reader *reader, bool *on) {
    bool is_plain = kept->passing->rules.bits == 64 && kept->passing->rules.notation == NOTATION_HEX;
    const char *bytes;
    size_t got, taken = 0;
    while (is_plain) {
        enum reader_status status = reader_bytes(reader, READ_BYTES, &bytes, &got);
        if (status != READER_OK) return status;
        *on = take_plain_lines(kept, bytes, got, &taken);
        reader->line += taken / 17;
        kept->totals.lines += taken / 17;
        reader_give_back(reader, got - taken);
        if (!*on) return READER_OK;
        if (got - taken >= 17 || taken == 0) break;
    }
    enum reader_status status = reader_line(reader, true, &bytes, &got);
    if (status == READER_OK) *on = take_line(kept, reader, bytes, got);
    return status;
}

static bool read_lines(struct kept *kept, const char *path) {
    struct reader reader = READER_INIT;
    enum reader_status status = READER_FAILED;
    kept->totals = (struct totals){0};
    bool on = reader_open(&reader, path);
    while (on && (status = read_some(kept, &reader, &on)) == READER_OK) continue;
    bool whole = on && status == READER_END && (kept->passing->partial || totals_check(&kept->totals, reader.name));
    reader_free(&reader);
    return whole;
}

/* ---- All ---- */

static bool read_rows(struct kept *kept) {
    struct passing *passing = kept->passing;
    struct input input = {
        .paths = passing->paths, .format = passing->format, .rules = passing->rules, .reader = READER_INIT};
    const struct tsv_record *records;
    enum input_status status;
    size_t count;
    bool on = true;
    while (on && (status = input_next(&input, &records, &count)) == INPUT_DOCUMENTS) {
        for (size_t i = 0; i < count && on; i++) on = keep_fingerprint(kept, records[i].fingerprint);
    }
    input_free(&input);
    return on && status == INPUT_END;
}

static bool keep_all(void *context, const uint64_t *fingerprints, size_t count) {
    struct kept *kept = context;
    bool on = true;
    for (size_t i = 0; i < count && on; i++) on = keep_fingerprint(kept, fingerprints[i]);
    kept->passing->failed |= !on;
    return on;
}

static bool read_index(struct kept *kept) {
    struct passing *passing = kept->passing;
    struct idx_error error;
    uint32_t parts = passing->parts == 0 ? 1 : passing->parts;
    return succeeded(idx_visit_part(passing->index, passing->part, parts, keep_all, kept, &error), &error) &&
           !passing->failed;
}

bool passing_open(struct passing *passing) {
    struct stat status;
    bool is_index =
        passing->paths.count == 1 && stat(passing->paths.values[0], &status) == 0 && S_ISDIR(status.st_mode);
    if (!is_index && passing->parts > 0) complain_of_usage("--part needs an index");
    if (!is_index) return passing->parts == 0 && input_await_format(&passing->paths, &passing->format);
    return open_unloaded(&passing->index, passing->paths.values[0]);
}

bool passing_read(struct passing *passing, passing_visitor visit, void *context) {
    struct kept *kept = malloc(sizeof *kept);
    bool whole = true;
    if (kept == NULL) return complain("out of memory");
    kept->passing = passing;
    kept->visit = visit;
    kept->context = context;
    kept->count = 0;
    if (passing->index != NULL)
        whole = read_index(kept);
    else if (passing->format != INPUT_TSV)
        whole = read_rows(kept);
    else if (passing->paths.count == 0)
        whole = read_lines(kept, "-");
    for (size_t i = 0; i < passing->paths.count && passing->index == NULL && passing->format == INPUT_TSV && whole; i++)
        whole = read_lines(kept, passing->paths.values[i]);
    whole = whole && hand_over(kept);
    free(kept);
    return whole;
}

void passing_close(struct passing *passing) { idx_close(passing->index); }
