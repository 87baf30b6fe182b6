/* plan.c: `idx plan`: the schemes that fit a number of fingerprints and a distance, with what they cost. */
#include "tools/arguments.h"
#include "tools/command.h"
#include "tools/output.h"

#include <idx.h>

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char help[] =
    "Usage: idx plan --count N [OPTION…]\n"
    "Print the schemes that answer distance K among N fingerprints, and what each costs, fewest tables first.\n"
    "\n"
    "  --count N              how many fingerprints: 8M, 1e9, 2^34\n"
    "  -k K                   largest distance to be answered (default 3)\n"
    "  --bits F               bits of a fingerprint, 1 to 64 (default 64)\n"
    "  --block-size N         bytes a block, a power of two from 128 to 4096 (default 128)\n"
    "\n"
    "Columns, as expected of uniform fingerprints:\n"
    "  scheme      as idx build --scheme takes it\n"
    "  tables      sorted copies of the fingerprints\n"
    "  prefix      bits that a probe compares at once, by table\n"
    "  probes      prefixes looked for, a query\n"
    "  candidates  fingerprints with the prefix of one probe, by table\n"
    "  compared    fingerprints compared, a query, before rounding up to blocks\n"
    "  bytes/fp    bytes of all table files, a fingerprint\n"
    "  files       the same in all\n"
    "  memory      of the keys and directories that an open index holds\n"
    "The documents come on top. The last line says how many fingerprints are near to a query by chance alone.\n"
    "\n"
    "Example:\n"
    "  idx plan --count 1e8 -k 3\n"
    "\n"
    "Exit status: 0 there are such schemes; 2 error.\n";

enum { CELL = 48, COLUMNS = 9 };

struct row {
    char cells[COLUMNS][CELL];
};

struct plan {
    uint64_t count; /* UINT64_MAX: not given */
    unsigned k, bits, block_size;
};

/* A number in a few digits: whole from 10 on. */
static void write_number(char *cell, double number) { snprintf(cell, CELL, number >= 9.995 ? "%.0f" : "%.3g", number); }

static void write_size(char *cell, double bytes) {
    static const char units[] = "BKMGTPE";
    size_t unit = 0;
    for (; bytes >= 1024 && unit + 2 < sizeof units; unit++) bytes /= 1024;
    snprintf(cell, CELL, unit == 0 || bytes >= 99.95 ? "%.0f %c%s" : "%.1f %c%s", bytes, units[unit],
             unit == 0 ? "" : "iB");
}

/* The prefixes that tables of the scheme have, in bits, shortest first: prefixes[bits] is true. */
static bool find_prefixes(const struct plan *plan, const char *scheme_text, bool prefixes[IDX_MAX_BITS + 1]) {
    struct idx_error error;
    struct idx_scheme *scheme = malloc(sizeof *scheme);
    bool parsed =
        scheme != NULL && idx_scheme_parse(scheme, scheme_text, plan->bits, plan->k, plan->count, &error) == IDX_OK;
    for (size_t i = 0; parsed && i < scheme->table_count; i++)
        prefixes[__builtin_popcountll(scheme->tables[i].mask)] = true;
    free(scheme);
    return parsed;
}

static void append(char *cell, const char *text) {
    size_t length = strlen(cell);
    snprintf(cell + length, CELL - length, "%s%s", length > 0 ? "," : "", text);
}

/* The prefixes of the tables, and for each how many candidates it leaves. */
static void write_prefixes(const struct plan *plan, const struct idx_plan *costs, char *prefix_cell,
                           char *candidates_cell) {
    bool prefixes[IDX_MAX_BITS + 1] = {false};
    char text[CELL];
    if (!find_prefixes(plan, costs->scheme, prefixes)) prefixes[costs->min_prefix] = prefixes[costs->max_prefix] = true;
    double candidates = (double)plan->count;
    for (unsigned bits = 0; bits <= IDX_MAX_BITS; bits++, candidates /= 2) {
        if (!prefixes[bits]) continue;
        snprintf(text, sizeof text, "%u", bits);
        append(prefix_cell, text);
        write_number(text, candidates);
        append(candidates_cell, text);
    }
}

static void write_row(const struct plan *plan, const struct idx_plan *costs, struct row *row) {
    double count = (double)plan->count;
    memset(row, 0, sizeof *row);
    snprintf(row->cells[0], CELL, "%.*s", CELL - 1, costs->scheme);
    snprintf(row->cells[1], CELL, "%zu", costs->tables);
    write_prefixes(plan, costs, row->cells[2], row->cells[4]);
    write_number(row->cells[3], costs->probes);
    write_number(row->cells[5], costs->candidates);
    snprintf(row->cells[6], CELL, "%.1f", costs->table_bytes);
    write_size(row->cells[7], costs->table_bytes * count);
    write_size(row->cells[8], costs->resident_bytes * count);
}

static void print_rows(const struct row *rows, size_t count, struct output *output) {
    int widths[COLUMNS] = {0};
    for (size_t i = 0; i < count * COLUMNS; i++) {
        int width = (int)strlen(rows[i / COLUMNS].cells[i % COLUMNS]);
        if (width > widths[i % COLUMNS]) widths[i % COLUMNS] = width;
    }
    for (size_t i = 0; i < count; i++) {
        output_format(output, "%-*s", widths[0], rows[i].cells[0]);
        for (size_t j = 1; j < COLUMNS; j++) output_format(output, "  %*s", widths[j], rows[i].cells[j]);
        output_byte(output, '\n');
    }
}

static bool print_plans(const struct plan *plan, const struct idx_plan *plans, size_t count) {
    static const struct row head = {
        {"scheme", "tables", "prefix", "probes", "candidates", "compared", "bytes/fp", "files", "memory"}};
    struct output output = OUTPUT_STANDARD;
    struct row *rows = malloc((count + 1) * sizeof *rows);
    if (rows == NULL) {
        complain("out of memory");
        return false;
    }
    rows[0] = head;
    for (size_t i = 0; i < count; i++) write_row(plan, &plans[i], &rows[i + 1]);
    output_format(&output, "%" PRIu64 " fingerprints of %u bits, k = %u, blocks of %u bytes\n\n", plan->count,
                  plan->bits, plan->k, plan->block_size);
    print_rows(rows, count + 1, &output);
    free(rows);
    output_format(&output, "\nchance matches a query: %.3g\n", idx_chance_matches(plan->count, plan->bits, plan->k));
    return output_close(&output);
}

static int run(const struct plan *plan) {
    struct idx_plan plans[64];
    const size_t capacity = sizeof plans / sizeof *plans;
    struct idx_error error;
    size_t count;
    if (idx_plan(plan->count, plan->bits, plan->k, plan->block_size, plans, capacity, &count, &error) != IDX_OK) {
        complain("%s", error.sentence);
        return ENDS_BADLY;
    }
    if (count == 0) {
        complain("no scheme answers k = %u on fingerprints of %u bits", plan->k, plan->bits);
        return ENDS_BADLY;
    }
    return print_plans(plan, plans, count < capacity ? count : capacity) ? ENDS_WELL : ENDS_BADLY;
}

int command_plan(int argc, char **argv) {
    struct plan plan = {UINT64_MAX, 3, IDX_MAX_BITS, IDX_DEFAULT_BLOCK_SIZE};
    struct texts operands;
    int status;
    const struct option_rule rules[] = {
        {.name = "count", .kind = OPTION_COUNT, .value = &plan.count, .least = 1, .most = UINT64_MAX - 1},
        {.name = "k", .kind = OPTION_NUMBER, .value = &plan.k},
        {.name = "bits", .kind = OPTION_NUMBER, .value = &plan.bits, .least = 1, .most = IDX_MAX_BITS},
        {.name = "block-size", .kind = OPTION_NUMBER, .value = &plan.block_size},
    };
    const struct grammar grammar = {help, rules, sizeof rules / sizeof *rules, "", 0, 0};
    if (!arguments_read(&grammar, argc, argv, &operands, &status)) return status;
    if (plan.count == UINT64_MAX) {
        complain_of_usage("--count is missing: how many fingerprints there are to be");
        return ENDS_BADLY;
    }
    return run(&plan);
}
