/* verify.c: `idx verify`: says whether the files of an index are whole. */
#include "tools/shared/command.h"
#include "tools/shared/output.h"

#include <string.h>

/* What print_file_result needs to print the results of one index. */
struct report {
    const char *path; /* That of the index. */
    struct output *output;
    bool has_printed_damage; /* The sentence about a damaged file was printed. */
};

/* Prints a sentence as printable text on a line of its own. */
static void print_sentence(struct output *output, const char *sentence) {
    output_printable(output, sentence);
    output_byte(output, '\n');
}

/* Prints the result of `file`, a path below that of the index: both paths and OK, or else `sentence`, which begins with
 * them and says what is wrong. This is a visitor of idx_verify, whose context is a struct report. */
static void print_file_result(void *context, const char *file, enum idx_status status, const char *sentence) {
    struct report *report = context;
    const char *slash = report->path[strlen(report->path) - 1] == '/' ? "" : "/";
    if (status == IDX_OK) {
        output_printable(report->output, report->path);
        output_format(report->output, "%s%s: OK\n", slash, file);
    } else {
        print_sentence(report->output, sentence);
        report->has_printed_damage = true;
    }
}

/* Returns whether a status says that files of the index are missing or damaged. In enum idx_status, these are the ones
 * from IDX_MISSING_FILE up to the first failure of the system, IDX_OUT_OF_MEMORY. */
static bool is_damage(enum idx_status status) { return status >= IDX_MISSING_FILE && status < IDX_OUT_OF_MEMORY; }

/* Verifies an index, and prints the results of all its files. Returns the status of the process: ENDS_WITHOUT if the
 * index is damaged, and ENDS_BADLY, after a complaint, if it could not be verified. */
static int verify_index(const char *path, struct output *output) {
    struct report report = {.path = path, .output = output};
    struct idx_error error;
    enum idx_status status = idx_verify(path, print_file_result, &report, &error);
    if (status == IDX_OK) return ENDS_WELL;
    if (is_damage(status)) {
        if (!report.has_printed_damage) print_sentence(output, error.sentence);
        return ENDS_WITHOUT;
    }
    output_flush(output);
    complain("%s", error.sentence);
    return ENDS_BADLY;
}

/* Runs `idx verify`. Returns the worst status of all indexes: ENDS_WITHOUT if one is damaged, ENDS_BADLY if one could
 * not be read. */
int command_verify(int argc, char **argv) {
    struct output output = OUTPUT_STANDARD;
    struct strings operands;
    int worst_status = ENDS_WELL, status;
    const struct grammar grammar = {&help_verify, NULL, 0, "INDEX", 1, SIZE_MAX};
    if (!arguments_read(&grammar, argc, argv, &operands, &status)) return status;
    for (size_t i = 0; i < operands.count; i++) {
        status = verify_index(operands.values[i], &output);
        if (status > worst_status) worst_status = status;
    }
    return output_close(&output) ? worst_status : ENDS_BADLY;
}
