/* brief.c: cuts the screen of `idx COMMAND -h` out of the command's help. A help has a paragraph about the command,
 * then a paragraph of options, each of which begins with two spaces and a hyphen, and later examples, whose lines are
 * indented and follow a line that begins with 'Example'. */
#include "tools/shared/brief.h"

#include <string.h>

enum { MOST_EXAMPLES = 3 };

static bool is_named(const char *option, const char *names) {
    size_t length = strcspn(option, " \n");
    for (const char *name = names; *name != '\0'; name += strcspn(name, " "), name += *name == ' ') {
        if (strcspn(name, " ") == length && strncmp(name, option, length) == 0) return true;
    }
    return false;
}

static bool begins_with(const char *line, const char *text) { return strncmp(line, text, strlen(text)) == 0; }

static void put_line(struct output *output, const char *line) {
    output_bytes(output, line, strcspn(line, "\n"));
    output_byte(output, '\n');
}

/* Returns the beginning of the next line, or the end of the text. */
static const char *next_line(const char *line) {
    line += strcspn(line, "\n");
    return *line == '\n' ? line + 1 : line;
}

/* Returns the first line from `line` on that begins with the text, or the end where there is none. */
static const char *find_line(const char *line, const char *text) {
    while (*line != '\0' && !begins_with(line, text)) line = next_line(line);
    return line;
}

static void put_options(struct output *output, const char *line, const char *common) {
    bool shown = true;
    for (; begins_with(line, "  "); line = next_line(line)) {
        if (line[2] == '-') shown = common == NULL || is_named(line + 2, common);
        if (shown) put_line(output, line);
    }
    output_byte(output, '\n');
}

void brief_put(struct output *output, const char *help, const char *common, const char *command) {
    const char *line = help, *options = find_line(help, "  -");
    for (; *line != '\n'; line = next_line(line)) put_line(output, line);
    output_byte(output, '\n');
    if (*options != '\0') put_options(output, options, common);
    line = find_line(line, "Example");
    for (int i = 0; i <= MOST_EXAMPLES && (i == 0 || begins_with(line, "  ")); i++, line = next_line(line))
        put_line(output, line);
    output_format(output, "\nThis is a summary; idx %s --help prints the whole help.\n", command);
}
