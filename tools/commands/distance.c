/* distance.c: `idx distance`: prints the distance of two fingerprints, or of the two in each line. */
#include "tools/input/reader.h"
#include "tools/shared/output.h"

#include <inttypes.h>
#include <limits.h>
#include <string.h>

struct distance {
    unsigned bits, max_distance; /* `max_distance` is that of -k. */
    int notation;
    struct strings operands; /* A and B, or none. */
    struct output output;
    bool has_printed; /* A distance was printed. */
};

/* Reads the command line. Returns false after --help, or after a mistake, of which it complains; then *status is the
 * status of the process. */
static bool read_distance_arguments(int argc, char **argv, struct distance *distance, int *status) {
    const struct option_rule rules[] = {
#include "options/distance.h" /* the rules made of distance.txt; they set *distance */
    };
    const struct grammar grammar = GRAMMAR(distance, rules, "A", 0, 2);
    if (!arguments_read(&grammar, argc, argv, &distance->operands, status)) return false;
    return distance->operands.count != 1 ||
           complain_of_usage("give two fingerprints, or none to read pairs from standard input");
}

/* Parses the `length` bytes at `text` as a fingerprint in the notation of --fingerprints. Sets *problem and returns
 * false if they are none. */
static bool parse_fingerprint(const struct distance *distance, const char *text, size_t length, uint64_t *fingerprint,
                              struct problem *problem) {
    return notation_parse_fingerprint((enum notation)distance->notation, distance->bits, text, length, fingerprint,
                                      problem);
}

/* Prints the distance of a and b, in bits, if it is at most -k, and behind it the line of `length` bytes that they are
 * from. A line of NULL is not printed. */
static void print_distance(struct distance *distance, uint64_t a, uint64_t b, const char *line, size_t length) {
    unsigned differing_bits = idx_distance(a, b);
    if (differing_bits > distance->max_distance) return;
    distance->has_printed = true;
    output_decimal(&distance->output, differing_bits);
    if (line != NULL) {
        output_byte(&distance->output, '\t');
        output_bytes(&distance->output, line, length);
    }
    output_byte(&distance->output, '\n');
}

/* Prints the distance of the two operands. Complains and returns false if one is no fingerprint. */
static bool answer_operands(struct distance *distance) {
    uint64_t fingerprints[2];
    for (size_t i = 0; i < 2; i++) {
        const char *text = distance->operands.values[i];
        struct problem problem;
        if (parse_fingerprint(distance, text, strlen(text), &fingerprints[i], &problem)) continue;
        return complain("%s", problem.sentence);
    }
    print_distance(distance, fingerprints[0], fingerprints[1], NULL, 0);
    return true;
}

/* Prints the distance of the first two fingerprints of a line, unless it begins with #. `reader`, which returned the
 * line, is for messages. Complains and returns false if the line does not have two fingerprints. */
static bool answer_line(struct distance *distance, const struct reader *reader, const char *line, size_t length) {
    const char *tab = memchr(line, '\t', length), *second_begin = tab == NULL ? NULL : tab + 1;
    struct problem problem;
    uint64_t a, b;
    if (length > 0 && line[0] == '#') return true;
    if (tab == NULL)
        return complain("%s:%" PRIu64 ": the line has no tab; a line is two fingerprints, separated by a tab",
                        reader->name, reader->line);
    const char *second_end = memchr(second_begin, '\t', length - (size_t)(second_begin - line));
    if (second_end == NULL) second_end = line + length;
    if (parse_fingerprint(distance, line, (size_t)(tab - line), &a, &problem) &&
        parse_fingerprint(distance, second_begin, (size_t)(second_end - second_begin), &b, &problem)) {
        print_distance(distance, a, b, line, length);
        return true;
    }
    return complain("%s:%" PRIu64 ": %s", reader->name, reader->line, problem.sentence);
}

/* Prints the distances of all lines of standard input, and flushes the output whenever it has to wait for further
 * lines. Returns false after a complaint or a failure of the output. */
static bool answer_lines(struct distance *distance) {
    struct reader reader = READER_INIT;
    const char *line;
    size_t length;
    bool ok = reader_open(&reader, "-");
    while (ok) {
        enum reader_status status = reader_read_line(&reader, false, &line, &length);
        if (status == READER_PENDING && output_flush(&distance->output))
            status = reader_read_line(&reader, true, &line, &length);
        if (status == READER_END) break;
        ok = status == READER_OK && answer_line(distance, &reader, line, length) && distance->output.error == 0;
    }
    reader_free(&reader);
    return ok;
}

/* Runs `idx distance`. Returns ENDS_WELL if a distance was printed, ENDS_WITHOUT if none was at most -k, and ENDS_BADLY
 * after an error. */
int command_distance(int argc, char **argv) {
    struct distance distance = {.bits = IDX_MAX_BITS, .max_distance = UINT_MAX, .output = OUTPUT_STANDARD};
    int status;
    if (!read_distance_arguments(argc, argv, &distance, &status)) return status;
    bool ok = distance.operands.count == 2 ? answer_operands(&distance) : answer_lines(&distance);
    bool written = output_close(&distance.output);
    if (!ok || !written) return ENDS_BADLY;
    return distance.has_printed ? ENDS_WELL : ENDS_WITHOUT;
}
