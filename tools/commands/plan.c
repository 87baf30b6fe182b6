/* plan.c: `idx plan`: prints the schemes worth considering for so many fingerprints and a distance, and their costs. */
#include "tools/shared/command.h"
#include "tools/shared/json.h"
#include "tools/shared/scratch.h"

#include <idx_planning.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* CELL_SIZE and NOTE_SIZE are in bytes, with the NUL at the end. */
enum { CELL_SIZE = 24, COLUMN_COUNT = 13, MAX_PLANS = IDX_MAX_TABLES, MAX_NOTES = 4, NOTE_SIZE = 320 };

/* A note says that queries are slow if one takes longer than this. */
#define SLOW_NANOSECONDS 1e6

/* A note names a faster scheme if it saves at least this share of the time of a query. */
#define MIN_GAIN 0.07

/* A note warns of matches by chance if a query has at least this many. */
#define MIN_CHANCE_MATCHES 0.1

struct report {
    struct idx_plan_options options;
    struct strings schemes;         /* Those of --scheme; none: those worth considering. */
    const char *calibration_path;   /* A file, or NULL. */
    bool measures;                  /* --measure is given. */
    struct idx_calibration machine; /* Set by measure_or_read_calibration. */
    struct idx_plan plans[MAX_PLANS];
    size_t plan_count;
    double chance_matches;              /* How many matches a query has by chance. */
    double chance_pairs, pairs_seconds; /* Pairs that are near by chance; the time to find all pairs on one core. */
    bool can_unpack;                    /* The index can be unpacked in memory. */
    struct idx_unpacked_plan unpacked;  /* Set if `can_unpack`. */
    char notes[MAX_NOTES][NOTE_SIZE];
    size_t note_count;
};

/* ---- Numbers ---- */

/* Formats a number in `cell`, of CELL_SIZE bytes: with up to three digits if it is below 10, and as a whole number
 * otherwise. Numbers from 9.995 on round to 10 with three digits, and count as 10. */
static void format_number(char *cell, double number) {
    snprintf(cell, CELL_SIZE, number >= 9.995 ? "%.0f" : "%.3g", number);
}

/* Returns the bytes of a scheme's tables in files plus those in memory. The limit of `auto` applies to this sum. */
static double sum_table_bytes(const struct idx_plan *plan) { return plan->table_bytes + plan->resident_bytes; }

/* Returns `bytes` divided by the number of fingerprints, --count. */
static double bytes_per_fingerprint(const struct report *report, double bytes) {
    return bytes / (double)report->options.count;
}

/* Returns the plan of the scheme that `auto` chooses, or the first one if that is not among the plans. */
static const struct idx_plan *find_chosen_plan(const struct report *report) {
    for (size_t i = 0; i < report->plan_count; i++) {
        if (report->plans[i].chosen) return &report->plans[i];
    }
    return &report->plans[0];
}

/* ---- Notes ---- */

/* Appends a note, formatted as by printf and cut to NOTE_SIZE - 1 bytes. There must be fewer than MAX_NOTES before. */
__attribute__((format(printf, 2, 3))) static void add_note(struct report *report, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(report->notes[report->note_count++], NOTE_SIZE, format, arguments);
    va_end(arguments);
}

/* Adds a note that `chosen`, the plan of auto's scheme, is slow. If a scheme is not slow, the note says how many bytes
 * have to be allowed for the smallest such scheme. Plans are in the order of their bytes, so that is the first one. */
static void add_note_of_slow_choice(struct report *report, const struct idx_plan *chosen) {
    for (size_t i = 0; i < report->plan_count; i++) {
        const struct idx_plan *plan = &report->plans[i];
        if (plan->nanoseconds > SLOW_NANOSECONDS) continue;
        add_note(report,
                 "Within the allowed bytes, a query takes %.1f ms; --max-bytes-per-fingerprint %.0f allows a scheme "
                 "that takes %.2f ms.",
                 chosen->nanoseconds / 1e6, bytes_per_fingerprint(report, sum_table_bytes(plan)) + 1,
                 plan->nanoseconds / 1e6);
        return;
    }
    add_note(report,
             "No scheme answers a query in 1 ms: use a smaller -k, or divide the fingerprints among several machines.");
}

/* Adds a note if a scheme within the allowed bytes is clearly faster than `chosen`, the plan of auto's scheme, on the
 * machine that was measured. Without a measurement, adds none. */
static void add_note_of_faster_scheme(struct report *report, const struct idx_plan *chosen) {
    double count = (double)report->options.count, max_bytes = report->options.max_bytes_per_fingerprint * count;
    const struct idx_plan *fastest = chosen;
    if (max_bytes == 0) max_bytes = report->options.bits * count + (1 << 20); /* What `auto` allows by default. */
    for (size_t i = 0; i < report->plan_count; i++) {
        const struct idx_plan *plan = &report->plans[i];
        if (sum_table_bytes(plan) <= max_bytes && plan->nanoseconds < fastest->nanoseconds) fastest = plan;
    }
    double gain = 1 - fastest->nanoseconds / chosen->nanoseconds;
    if (report->options.calibration != NULL && gain >= MIN_GAIN)
        add_note(report,
                 "On this machine, auto's scheme takes %.2f times as long as one of %zu table%s that fits as well.",
                 1 / (1 - gain), fastest->tables, fastest->tables == 1 ? "" : "s");
}

/* Adds the notes about the scheme that `auto` chooses. */
static void add_notes_of_choice(struct report *report) {
    const struct idx_plan *chosen = find_chosen_plan(report);
    unsigned limit = report->options.max_bytes_per_fingerprint;
    if (limit > 0 && bytes_per_fingerprint(report, sum_table_bytes(chosen)) > limit)
        add_note(report, "No scheme fits into %u bytes per fingerprint: auto chooses the smallest.", limit);
    add_note_of_faster_scheme(report, chosen);
    if (chosen->nanoseconds > SLOW_NANOSECONDS) add_note_of_slow_choice(report, chosen);
}

/* Adds all notes: at most three about the choice of `auto`, and one about matches by chance. */
static void add_all_notes(struct report *report) {
    if (report->schemes.count == 0) add_notes_of_choice(report);
    if (report->chance_matches >= MIN_CHANCE_MATCHES) {
        char matches[CELL_SIZE];
        format_number(matches, report->chance_matches);
        add_note(report, "A query has %s matches that are not near-duplicates: use a smaller -k%s.", matches,
                 report->options.bits < IDX_MAX_BITS ? ", or fingerprints of more bits" : "");
    }
}

/* ---- Text ---- */

/* A row of the table, whose last column is the scheme. */
struct row {
    char cells[COLUMN_COUNT][CELL_SIZE];
    const char *scheme;
};

/* Formats how many bits the prefixes of the tables have in `cell`, of CELL_SIZE bytes: "MIN-MAX", or one number if both
 * are the same. */
static void format_prefix_bits(char *cell, const struct idx_plan *plan) {
    if (plan->min_prefix == plan->max_prefix)
        snprintf(cell, CELL_SIZE, "%u", plan->min_prefix);
    else
        snprintf(cell, CELL_SIZE, "%u-%u", plan->min_prefix, plan->max_prefix);
}

/* Sets the cells of a scheme's row, in the order of the columns in the heading of write_plans_as_text, and the scheme's
 * name, which is not copied. */
static void format_plan_row(const struct report *report, const struct idx_plan *plan, struct row *row) {
    row->scheme = plan->scheme;
    snprintf(row->cells[0], CELL_SIZE, "%s", plan->chosen ? "*" : "");
    snprintf(row->cells[1], CELL_SIZE, "%zu", plan->tables);
    format_prefix_bits(row->cells[2], plan);
    format_number(row->cells[3], plan->probes);
    format_number(row->cells[4], plan->candidates);
    format_number(row->cells[5], plan->candidates / plan->probes);
    format_number(row->cells[6], plan->blocks);
    format_number(row->cells[7], plan->pages);
    format_number(row->cells[8], plan->nanoseconds / 1e3);
    format_number(row->cells[9], 1e9 / plan->nanoseconds);
    snprintf(row->cells[10], CELL_SIZE, "%.1f", bytes_per_fingerprint(report, plan->table_bytes));
    size_format(row->cells[11], plan->table_bytes);
    size_format(row->cells[12], plan->resident_bytes);
}

/* Writes `count` rows: each with its cells, right-aligned to the widest of their column, and then the scheme. */
static void write_aligned_rows(const struct row *rows, size_t count, struct output *output) {
    int widths[COLUMN_COUNT] = {0};
    for (size_t i = 0; i < count; i++) {
        for (size_t j = 0; j < COLUMN_COUNT; j++) {
            int width = (int)strlen(rows[i].cells[j]);
            if (width > widths[j]) widths[j] = width;
        }
    }
    for (size_t i = 0; i < count; i++) {
        for (size_t j = 0; j < COLUMN_COUNT; j++) output_format(output, "%*s  ", widths[j], rows[i].cells[j]);
        output_text(output, rows[i].scheme);
        output_byte(output, '\n');
    }
}

/* Writes the line about an index that is unpacked in memory: its bytes, the seconds to open it, and the microseconds
 * per query, or that this is not possible. */
static void write_unpacked_line(const struct report *report, struct output *output) {
    char memory[CELL_SIZE], opening[CELL_SIZE], query[CELL_SIZE];
    if (!report->can_unpack) {
        output_text(output, "unpacked: not possible for 2^32 - 1 fingerprints or more\n");
        return;
    }
    size_format(memory, report->unpacked.bytes);
    format_number(opening, report->unpacked.opening_seconds);
    format_number(query, report->unpacked.nanoseconds / 1e3);
    output_format(output, "unpacked: %s of memory, %s s to open, %s us/query\n", memory, opening, query);
}

/* Writes the schemes as a table, and below it the lines that the help announces. */
static void write_plans_as_text(const struct report *report, struct output *output) {
    const struct idx_plan_options *options = &report->options;
    char seconds[CELL_SIZE];
    struct row rows[MAX_PLANS + 1] = {{{"", "tables", "prefix", "probes", "candidates", "per probe", "blocks", "pages",
                                        "us/query", "queries/s", "bytes/fp", "files", "memory"},
                                       "scheme"}};
    for (size_t i = 0; i < report->plan_count; i++) {
        format_plan_row(report, &report->plans[i], &rows[i + 1]);
        if (rows[i + 1].scheme[0] == '\0')
            rows[i + 1].scheme = report->schemes.values[i]; /* A scheme of many masks has no short name. */
    }
    output_format(output, "%" PRIu64 " fingerprints of %u bits, k = %u, blocks of %" PRIu32 " bytes\n\n",
                  options->count, options->bits, options->k, options->block_size);
    write_aligned_rows(rows, report->plan_count + 1, output);
    output_format(output, "\nchance matches per query: %.3g\n", report->chance_matches);
    format_number(seconds, report->pairs_seconds);
    output_format(output, "all pairs: %s s on one core, %.3g pairs by chance\n", seconds, report->chance_pairs);
    write_unpacked_line(report, output);
    for (size_t i = 0; i < report->note_count; i++) output_format(output, "%s\n", report->notes[i]);
}

/* ---- JSON ---- */

/* Returns a number in JSON, or NULL, without a complaint, if memory ran out. Integers of jansson end at 2^63 - 1;
 * larger numbers become real ones. */
static json_t *pack_number(uint64_t number) {
    return number > INT64_MAX ? json_real((double)number) : json_integer((json_int_t)number);
}

/* Returns a plan as an object of JSON, or NULL, without a complaint, if memory ran out. */
static json_t *pack_plan(const struct idx_plan *plan) {
    return json_pack("{s:s,s:o,s:o,s:o,s:f,s:f,s:f,s:f,s:f,s:f,s:f,s:f,s:b}", "scheme", plan->scheme, "tables",
                     pack_number(plan->tables), "min_prefix", pack_number(plan->min_prefix), "max_prefix",
                     pack_number(plan->max_prefix), "probes", plan->probes, "candidates", plan->candidates, "blocks",
                     plan->blocks, "pages", plan->pages, "nanoseconds", plan->nanoseconds, "single_nanoseconds",
                     plan->single_nanoseconds, "table_bytes", plan->table_bytes, "resident_bytes", plan->resident_bytes,
                     "auto", (int)plan->chosen);
}

/* Returns in JSON what unpacking costs, or null if it is not possible. Returns NULL, without a complaint, if memory ran
 * out. */
static json_t *pack_unpacked(const struct report *report) {
    const struct idx_unpacked_plan *unpacked = &report->unpacked;
    if (!report->can_unpack) return json_null();
    return json_pack("{s:f,s:f,s:f}", "bytes", unpacked->bytes, "opening_seconds", unpacked->opening_seconds,
                     "nanoseconds", unpacked->nanoseconds);
}

/* Writes the plans, and all else that the report says, as one object of JSON. */
static void write_plans_as_json(const struct report *report, struct output *output) {
    const struct idx_plan_options *options = &report->options;
    json_t *plans = json_array(), *notes = json_array();
    for (size_t i = 0; i < report->plan_count; i++) plans = json_append_value(plans, pack_plan(&report->plans[i]));
    for (size_t i = 0; i < report->note_count; i++) notes = json_append_value(notes, json_string(report->notes[i]));
    json_write_value(output,
                     json_pack("{s:o,s:o,s:o,s:o,s:f,s:f,s:f,s:o,s:o,s:o}", "fingerprints", pack_number(options->count),
                               "bits", pack_number(options->bits), "k", pack_number(options->k), "block_size",
                               pack_number(options->block_size), "chance_matches", report->chance_matches,
                               "chance_pairs", report->chance_pairs, "pairs_seconds", report->pairs_seconds, "unpacked",
                               pack_unpacked(report), "plans", plans, "notes", notes));
    output_byte(output, '\n');
}

/* ---- The command ---- */

/* Makes the plans of the schemes that --scheme names, and marks the one that `auto` chooses. Returns the library's
 * status, and sets *error if it is not IDX_OK. */
static enum idx_status plan_given_schemes(struct report *report, struct idx_error *error) {
    const struct idx_plan_options *options = &report->options;
    struct idx_plan chosen = {.chosen = false};
    size_t listed_count;
    enum idx_status status = idx_plan(options, report->plans, MAX_PLANS, &listed_count, error);
    for (size_t i = 0; status == IDX_OK && i < listed_count && i < MAX_PLANS; i++) {
        if (report->plans[i].chosen) chosen = report->plans[i];
    }
    report->plan_count = report->schemes.count;
    for (size_t i = 0; status == IDX_OK && i < report->plan_count; i++) {
        struct idx_scheme scheme;
        struct idx_plan *plan = &report->plans[i];
        const char *text = report->schemes.values[i];
        if (strcmp(text, "auto") == 0) text = chosen.scheme;
        status = idx_scheme_parse(&scheme, text, options->bits, options->k, options->count, error);
        if (status == IDX_OK) status = idx_plan_scheme(options, &scheme, plan, error);
        if (status == IDX_OK) plan->chosen = plan->scheme[0] != '\0' && strcmp(plan->scheme, chosen.scheme) == 0;
    }
    return status;
}

/* Makes the plans for the block size that is set: of the schemes that --scheme names, or else of those worth
 * considering. Returns the library's status, and sets *error if it is not IDX_OK. */
static enum idx_status plan_for_block_size(struct report *report, struct idx_error *error) {
    if (report->schemes.count > 0) return plan_given_schemes(report, error);
    return idx_plan(&report->options, report->plans, MAX_PLANS, &report->plan_count, error);
}

/* Makes the plans. If no block size is given, sets the default one, and doubles it until a table can hold all
 * fingerprints. Complains and returns false if that fails. */
static bool make_plans(struct report *report) {
    struct idx_plan_options *options = &report->options;
    struct idx_error error;
    bool chooses_block_size = options->block_size == 0;
    if (chooses_block_size) options->block_size = IDX_DEFAULT_BLOCK_SIZE;
    enum idx_status status = plan_for_block_size(report, &error);
    while (chooses_block_size && status == IDX_LIMIT && options->block_size < IDX_MAX_BLOCK_SIZE) {
        options->block_size *= 2;
        status = plan_for_block_size(report, &error);
    }
    return status == IDX_OK || complain("%s", error.sentence);
}

/* Complains of a failed measurement. If the disk was full, names `parent`, the folder for temporary files, since the
 * user knows neither the folder below it nor its files. */
static void complain_of_measurement(const char *parent, const struct idx_error *error) {
    if (error->status == IDX_DISK_FULL)
        complain("%s: there is no room to measure: %s; choose another place with $TMPDIR", parent,
                 strerror(error->system_errno));
    else
        complain("%s", error->sentence);
}

/* Sets *machine to what look-ups take on this machine, measured with an index in a scratch folder. A signal ends the
 * process only afterwards, so that no files are left. Complains and returns false if that fails. */
static bool measure_machine(struct idx_calibration *machine) {
    struct scratch scratch = {0};
    struct idx_error error;
    const char *parent = scratch_choose_parent(NULL);
    if (!scratch_open(&scratch, parent, "$TMPDIR")) return false;
    interrupt_catch();
    bool measured = idx_calibrate(machine, scratch.path, &error) == IDX_OK;
    if (!measured) complain_of_measurement(parent, &error);
    scratch_remove(&scratch);
    interrupt_end_process();
    return measured;
}

/* Sets report->machine to what --measure measures, or to what the file of --calibration says, and has the plans use it.
 * Without either option, plans use the library's figures. Complains and returns false if the machine can't be measured
 * or the file can't be read. */
static bool measure_or_read_calibration(struct report *report) {
    report->machine = (struct idx_calibration)IDX_CALIBRATION_INIT;
    if (report->measures && !measure_machine(&report->machine)) return false;
    if (report->calibration_path != NULL && !calibration_read(report->calibration_path, &report->machine)) return false;
    if (report->measures || report->calibration_path != NULL) report->options.calibration = &report->machine;
    return true;
}

/* Sets what the report says besides its plans, which must be made: how many matches and pairs are near by chance, the
 * time for all pairs with the scheme that `auto` chooses or else the first one, and what unpacking costs. */
static void estimate_besides_plans(struct report *report) {
    const struct idx_plan_options *options = &report->options;
    const struct idx_plan *plan = find_chosen_plan(report);
    struct idx_scheme scheme;
    bool is_parsed = plan->scheme[0] != '\0' &&
                     idx_scheme_parse(&scheme, plan->scheme, options->bits, options->k, options->count, NULL) == IDX_OK;
    report->chance_matches = idx_chance_matches(options->count, options->bits, options->k);
    report->chance_pairs =
        (double)options->count / 2 * idx_chance_matches(options->count - 1, options->bits, options->k);
    report->pairs_seconds = idx_pairs_seconds(options->count, options->bits, options->k, is_parsed ? &scheme : NULL);
    report->can_unpack =
        idx_plan_unpacked(options->count, options->bits, options->k, &report->unpacked, NULL) == IDX_OK;
}

/* Makes and prints the plans, as JSON if `json` is set, or without --count, prints what was measured. Complains if that
 * fails. Returns the status of the process. */
static int make_and_print_plans(struct report *report, bool json) {
    struct output output = OUTPUT_STANDARD;
    if (!measure_or_read_calibration(report)) return ENDS_BADLY;
    if (report->options.count == 0) {
        calibration_write(&output, &report->machine);
        return output_close(&output) ? ENDS_WELL : ENDS_BADLY;
    }
    if (!make_plans(report)) return ENDS_BADLY;
    estimate_besides_plans(report);
    add_all_notes(report);
    if (json)
        write_plans_as_json(report, &output);
    else
        write_plans_as_text(report, &output);
    return output_close(&output) ? ENDS_WELL : ENDS_BADLY;
}

/* Complains and returns false if --count is missing, unless the command only measures, or if there are too many
 * --scheme. */
static bool check_count_and_schemes(const struct report *report) {
    bool only_measures = report->measures && report->schemes.count == 0;
    if (report->options.count == 0 && !only_measures)
        return complain_of_usage("--count is missing: the expected number of fingerprints");
    if (report->schemes.count > MAX_PLANS)
        return complain_of_usage("--scheme is repeated more than %d times", MAX_PLANS);
    return true;
}

/* Runs `idx plan`. Returns ENDS_WELL if the plans or the measurement were printed, or else ENDS_BADLY. */
int command_plan(int argc, char **argv) {
    struct report *report = calloc(1, sizeof *report);
    struct strings operands;
    int format = PRINTS_LINES, status;
    if (report == NULL) {
        complain("out of memory");
        return ENDS_BADLY;
    }
    struct idx_plan_options *options = &report->options;
    *options = (struct idx_plan_options)IDX_PLAN_OPTIONS_INIT;
    options->block_size = 0; /* 0: not given. */
    const struct option_rule rules[] = {
#include "options/plan.h" /* the rules made of plan.txt; they set *report, *options and `format` */
    };
    const struct grammar grammar = GRAMMAR(plan, rules, "", 0, 0);
    if (arguments_read(&grammar, argc, argv, &operands, &status))
        status = check_count_and_schemes(report) ? make_and_print_plans(report, format == PRINTS_JSON) : ENDS_BADLY;
    strings_free(&report->schemes);
    free(report);
    return status;
}
