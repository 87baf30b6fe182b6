/* fingerprint.c: `idx fingerprint`: from text files to the lines that `idx build` and `idx lookup` read. */
#include "tools/arguments.h"
#include "tools/command.h"
#include "tools/folder.h"
#include "tools/message.h"
#include "tools/output.h"
#include "tools/text.h"

#include <idx.h>

#include <inttypes.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const char help[] =
    "Usage: idx fingerprint [OPTION…] [FILE|FOLDER…]\n"
    "Print the fingerprint of each plain text file, one document a file, in the form that idx build reads:\n"
    "a line #recipe, tab, RECIPE; then a line a file: fingerprint, tab, path. No FILE, or -, is standard input.\n"
    "\n"
    "  --recipe RECIPE        how fingerprints are made (default words:1;nfkc-cf;w=logtf;v1)\n"
    "  --bits F               bits of a fingerprint, 1 to 64 (default 64)\n"
    "\n"
    "A FOLDER stands for the regular files in it and in the folders below, in the order of their names. Symbolic "
    "links\n"
    "in it aren't followed, and files that hold a NUL byte in their first 8 KiB, or are gzip's, are left out; a FILE\n"
    "that is named is always taken. Text is read as UTF-8. A text without words has fingerprint 0.\n"
    "A file that can't be read, or whose path has a tab or a newline, is an error; the others are still printed.\n"
    "\n"
    "Examples:\n"
    "  idx fingerprint docs/ | idx build docs.idx\n"
    "  idx fingerprint new.txt | idx lookup docs.idx\n"
    "\n"
    "Exit status: 0 all files were fingerprinted; 2 error.\n";

struct run {
    struct text text;
    struct output output;
    unsigned bits;
    uint64_t left_out;
    bool failed;
};

/* False when standard output can't be written any more. */
static bool print_file(struct run *run, const char *path, bool leave_out_binary) {
    uint64_t fingerprint;
    if (strpbrk(path, "\t\n") != NULL) {
        complain("%s: its path has a tab or a newline, which an ID can't have; rename it", path);
        run->failed = true;
        return true;
    }
    switch (text_fingerprint_file(&run->text, path, leave_out_binary, &fingerprint)) {
        case TEXT_BINARY: run->left_out++; return true;
        case TEXT_FAILED: run->failed = true; return true;
        case TEXT_DONE: break;
    }
    output_fingerprint(&run->output, NOTATION_HEX, run->bits, fingerprint);
    output_byte(&run->output, '\t');
    output_text(&run->output, path);
    output_byte(&run->output, '\n');
    return run->output.error == 0;
}

static bool visit(void *context, const char *path) { return print_file(context, path, true); }

static bool print_all(struct run *run, const struct texts *paths) {
    static char dash[] = "-", *standard_input[] = {dash};
    char **path = paths->count == 0 ? standard_input : paths->values;
    size_t count = paths->count == 0 ? 1 : paths->count;
    struct stat status;
    for (size_t i = 0; i < count; i++) {
        bool folder = strcmp(path[i], "-") != 0 && stat(path[i], &status) == 0 && S_ISDIR(status.st_mode);
        if (folder ? !folder_walk(path[i], visit, run, &run->failed) : !print_file(run, path[i], false)) return false;
    }
    return true;
}

int command_fingerprint(int argc, char **argv) {
    const char *recipe = text_default_recipe;
    struct run run = {.output = OUTPUT_STANDARD, .bits = IDX_MAX_BITS};
    struct texts paths;
    int status;
    const struct option_rule rules[] = {
        {.name = "recipe", .kind = OPTION_TEXT, .value = &recipe},
        {.name = "bits", .kind = OPTION_NUMBER, .value = &run.bits, .least = 1, .most = IDX_MAX_BITS},
    };
    const struct grammar grammar = {help, rules, sizeof rules / sizeof *rules, "FILE", 0, SIZE_MAX};
    if (!arguments_read(&grammar, argc, argv, &paths, &status)) return status;
    if (!text_open(&run.text, recipe, run.bits)) return ENDS_BADLY;
    output_format(&run.output, "#recipe\t%s\n", recipe);
    bool whole = print_all(&run, &paths);
    text_close(&run.text);
    if (run.left_out > 0 && isatty(STDERR_FILENO))
        complain("left out %" PRIu64 " files that are not plain text", run.left_out);
    return output_close(&run.output) && whole && !run.failed ? ENDS_WELL : ENDS_BADLY;
}
