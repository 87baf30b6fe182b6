/* arguments.c: reads the command line of a subcommand by a table of its options, over getopt_long. */
#include "tools/shared/command.h"

#include "tools/shared/folder.h"
#include "tools/shared/output.h"

#include <getopt.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* For --help and for option i, getopt returns HELP_OPTION and FIRST_OPTION + i, which are above any character. */
enum { HELP_OPTION = 999, FIRST_OPTION = 1000, MOST_OPTIONS = 64 };

/* The command line that was read: the argument of each option that was given, "" if it takes none, and NULL of others.
 */
static struct {
    struct option_rule rules[MOST_OPTIONS];
    const char *arguments[MOST_OPTIONS];
    size_t count;
    bool has_operands; /* There are more than have to be given. */
} given;

/* Returns what an option's name is written behind: a letter behind one dash, a word behind two. */
static const char *dashes_of(const struct option_rule *rule) { return rule->name[1] == '\0' ? "-" : "--"; }

/* Sets *count to the number that the text is, which must be within the bounds of the rule. */
static bool parse_within_bounds(const struct option_rule *rule, const char *text, uint64_t *count) {
    if (!number_parse(text, count))
        return complain_of_usage("%s%s needs a whole number below 2^64 (such as 12, 4K, 1.5e9 or 2^34), not '%s'",
                                 dashes_of(rule), rule->name, text);
    if (*count >= rule->least && (rule->most == 0 || *count <= rule->most)) return true;
    if (rule->most == 0)
        return complain_of_usage("%s%s needs a number of at least %" PRIu64 ", not %s", dashes_of(rule), rule->name,
                                 rule->least, text);
    return complain_of_usage("%s%s needs a number from %" PRIu64 " to %" PRIu64 ", not %s", dashes_of(rule), rule->name,
                             rule->least, rule->most, text);
}

/* Sets the value of an OPTION_NUMBER, which is at most UINT_MAX, also where the rule has no bound. */
static bool store_number(const struct option_rule *rule, const char *text) {
    struct option_rule bounded = *rule;
    uint64_t number;
    if (rule->most == 0) bounded.most = UINT_MAX;
    if (!parse_within_bounds(&bounded, text, &number)) return false;
    *(unsigned *)rule->value = (unsigned)number;
    return true;
}

/* Sets the value of an OPTION_SHARE. A number that reading rounds is refused: with 0.79999 for 0.8, texts would be
 * taken for less alike than they are. */
static bool store_share(const struct option_rule *rule, const char *text) {
    int64_t *share = rule->value;
    if (share_parse(text, strlen(text), share) && *share > 0 && *share <= IDX_THRESHOLD_ONE &&
        strtod(text, NULL) == (double)*share / (double)IDX_THRESHOLD_ONE)
        return true;
    return complain_of_usage("%s%s needs a number above 0 and up to 1, with up to 4 digits after the point, not '%s'",
                             dashes_of(rule), rule->name, text);
}

/* Complains of an option, or of a value of one, that the command no longer takes. */
static bool complain_of_gone(const struct option_rule *rule) {
    return complain_of_usage("there is no %s%s%s%s%s; write %s", rule->gone_value == NULL ? "option " : "",
                             dashes_of(rule), rule->name, rule->gone_value == NULL ? "" : " ",
                             rule->gone_value == NULL ? "" : rule->gone_value, rule->instead);
}

/* Sets the value of an OPTION_CHOICE to the index of the name that the text is. */
static bool store_choice(const struct option_rule *rule, const char *text) {
    char names[256] = ""; /* For the message: the names of each table's choices are far shorter. */
    for (int i = 0; rule->names[i] != NULL; i++) {
        if (strcmp(rule->names[i], text) == 0) {
            *(int *)rule->value = i;
            return true;
        }
        strcat(strcat(names, i > 0 ? ", " : ""), rule->names[i]);
    }
    for (size_t i = 0; i < given.count; i++) {
        const struct option_rule *gone = &given.rules[i];
        if (gone->gone_value != NULL && strcmp(gone->name, rule->name) == 0 && strcmp(gone->gone_value, text) == 0)
            return complain_of_gone(gone);
    }
    return complain_of_usage("%s%s must be one of %s, not '%s'", dashes_of(rule), rule->name, names, text);
}

/* Adds the argument of an OPTION_TEXTS to those of its other occurrences. */
static bool append_string(struct strings *strings, char *text) {
    char **values = realloc(strings->values, (strings->count + 1) * sizeof *values);
    if (values == NULL) return complain("out of memory");
    strings->values = values;
    strings->values[strings->count++] = text;
    return true;
}

/* Sets the value of an option of any kind. `text` is its argument, or NULL for OPTION_FLAG. */
static bool store_value(const struct option_rule *rule, char *text) {
    if (rule->given != NULL) *rule->given = true;
    switch (rule->kind) {
        case OPTION_FLAG: *(bool *)rule->value = true; return true;
        case OPTION_CHOICE: return store_choice(rule, text);
        case OPTION_COUNT: return parse_within_bounds(rule, text, rule->value);
        case OPTION_NUMBER: return store_number(rule, text);
        case OPTION_GONE: return complain_of_gone(rule);
        default: break;
    }
    if (*text == '\0' && !rule->may_be_empty)
        return complain_of_usage("%s%s has an empty argument", dashes_of(rule), rule->name);
    if (rule->kind == OPTION_INCLUDE || rule->kind == OPTION_EXCLUDE)
        return globs_append(rule->value, text, rule->kind == OPTION_INCLUDE) || complain("out of memory");
    if (rule->kind == OPTION_SHARE) return store_share(rule, text);
    if (rule->kind == OPTION_TEXTS) return append_string(rule->value, text);
    *(const char **)rule->value = text;
    return true;
}

/* What getopt_long takes: the options of one letter, each before a colon if it takes an argument, and the longer ones,
 * up to one without a name. */
struct getopt_tables {
    char letters[3 * MOST_OPTIONS + 8];
    struct option words[MOST_OPTIONS + 2];
};

/* Makes getopt's tables of the grammar's options, and of -h and --help. */
static void fill_tables(const struct grammar *grammar, struct getopt_tables *tables) {
    char *letter = tables->letters;
    struct option *word = tables->words;
    *letter++ = ':'; /* It makes getopt tell a missing argument from an unknown option, and print nothing. */
    for (size_t i = 0; i < grammar->option_count; i++) {
        const struct option_rule *rule = &grammar->options[i];
        int takes_argument = rule->kind == OPTION_FLAG   ? no_argument
                             : rule->kind == OPTION_GONE ? optional_argument
                                                         : required_argument;
        if (rule->gone_value != NULL) continue;
        if (rule->name[1] == '\0') {
            *letter++ = rule->name[0];
            for (int colons = takes_argument; colons > 0; colons--) *letter++ = ':';
        } else {
            *word++ = (struct option){rule->name, takes_argument, NULL, FIRST_OPTION + (int)i};
        }
    }
    *letter++ = 'h';
    *letter = '\0';
    *word++ = (struct option){"help", no_argument, NULL, HELP_OPTION};
    *word = (struct option){NULL, 0, NULL, 0};
}

/* Returns the option for which getopt_long returned `value`, or NULL if there is none. */
static const struct option_rule *find_rule(const struct grammar *grammar, int value) {
    if (value >= FIRST_OPTION) return &grammar->options[value - FIRST_OPTION];
    for (size_t i = 0; i < grammar->option_count; i++) {
        if (grammar->options[i].name[1] == '\0' && grammar->options[i].name[0] == value) return &grammar->options[i];
    }
    return NULL;
}

/* Returns whether an argument, which begins with two dashes, abbreviates the names of several options. */
static bool is_ambiguous(const struct getopt_tables *tables, const char *argument) {
    size_t length = strcspn(argument, "="), matches = 0;
    for (const struct option *word = tables->words; word->name != NULL; word++)
        matches += length > 2 && strncmp(word->name, argument + 2, length - 2) == 0;
    return matches > 1;
}

/* Complains of an option that is a mistake, for which getopt_long returned `value`, '?' or ':'. */
static void complain_of_option(const struct grammar *grammar, const struct getopt_tables *tables, char **argv,
                               int value) {
    const struct option_rule *rule = optopt > 0 ? find_rule(grammar, optopt) : NULL;
    const char *argument = argv[optind - 1];
    if (value == ':' && rule != NULL)
        complain_of_usage("%s%s needs an argument", dashes_of(rule), rule->name);
    else if (optopt >= HELP_OPTION)
        complain_of_usage("'%s' has an argument, but the option takes none", argument);
    else if (optopt > 0)
        complain_of_usage("there is no option -%c", optopt);
    else if (is_ambiguous(tables, argument))
        complain_of_usage("'%s' is ambiguous; write the option in full", argument);
    else
        complain_of_usage("there is no option %s", argument);
}

/* Refuses operands that are empty, too few or too many. */
static bool check_operands(const struct grammar *grammar, const struct strings *operands) {
    for (size_t i = 0; i < operands->count; i++) {
        if (*operands->values[i] == '\0') return complain_of_usage("argument %zu is empty", i + 1);
    }
    if (operands->count < grammar->least_operands) return complain_of_usage("%s is missing", grammar->operand);
    if (operands->count <= grammar->most_operands) return true;
    return complain_of_usage("'%s' is one argument too many", operands->values[grammar->most_operands]);
}

/* ---- What the table says of options that are given together, and of inputs ---- */

/* Returns whether `text` is one of the values that an item of a list has, which slashes divide; `length` is that of all
 * of them. */
static bool is_among(const char *text, const char *values, size_t length) {
    const size_t size = strlen(text);
    for (size_t i = 0; i < length; i += strcspn(values + i, "/,;") + 1)
        if (strcspn(values + i, "/,;") == size && memcmp(values + i, text, size) == 0) return true;
    return false;
}

/* Returns the argument of the option that an item of a list names, "" if it takes none, or NULL if it was not given. */
static const char *find_argument(const char *item) {
    const size_t dashes = strspn(item, "-"), length = strcspn(item, " ,;") - dashes;
    for (size_t i = 0; i < given.count; i++)
        if (strncmp(given.rules[i].name, item + dashes, length) == 0 && given.rules[i].name[length] == '\0')
            return given.arguments[i];
    return NULL;
}

/* Returns whether an item of a list was given. */
static bool has_item(const char *item, size_t length) {
    const size_t name = strcspn(item, " ,;");
    const char *argument = find_argument(item);
    if (*item != '-') return given.has_operands;
    return argument != NULL && (name == length || is_among(argument, item + name + 1, length - name - 1));
}

/* Returns the first item of a list that was given, and sets its length. Returns NULL if there is none. */
static const char *find_item(const char *list, size_t *length) {
    for (;; list += strspn(list, ", ")) {
        *length = strcspn(list, ",;");
        if (has_item(list, *length)) return list;
        list += *length;
        if (*list != ',') return NULL;
    }
}

/* Returns whether a list, up to its end or a semicolon, has this item. */
static bool list_has(const char *list, const char *item) {
    for (;; list += strspn(list, ", ")) {
        const size_t length = strcspn(list, ",;");
        if (strlen(item) == length && memcmp(list, item, length) == 0) return true;
        list += length;
        if (*list != ',') return false;
    }
}

/* Copies a list, up to its end or a semicolon, with "or" before its last item. */
enum { LONGEST_LIST = 256 }; /* That of no table is as long. */
static const char *list_in_words(char words[LONGEST_LIST], const char *list) {
    const size_t length = strcspn(list, ";");
    size_t last = length;
    while (last > 0 && list[last] != ',') last--;
    if (last == 0)
        snprintf(words, LONGEST_LIST, "%.*s", (int)length, list);
    else
        snprintf(words, LONGEST_LIST, "%.*s or%.*s", (int)last, list, (int)(length - last - 1), list + last + 1);
    return words;
}

/* Checks an option that was given against the others that were. */
static bool check_relations(const struct option_rule *rule) {
    char words[LONGEST_LIST];
    size_t length;
    for (const char *list = rule->needs; list != NULL; list = strchr(list, ';')) {
        list += strspn(list, "; ");
        if (find_item(list, &length) == NULL)
            return complain_of_usage("%s%s needs %s", dashes_of(rule), rule->name, list_in_words(words, list));
    }
    const char *other = rule->excludes == NULL ? NULL : find_item(rule->excludes, &length);
    if (other == NULL) return true;
    const size_t name = strcspn(other, " ,");
    return complain_of_usage("give %s%s or %.*s%s%s, not both", dashes_of(rule), rule->name, (int)name, other,
                             name < length ? " " : "", name < length ? find_argument(other) : "");
}

bool arguments_have(const char *name) {
    for (size_t i = 0; i < given.count; i++)
        if (given.arguments[i] != NULL && strcmp(given.rules[i].name, name) == 0) return true;
    return false;
}

bool arguments_fit_input(const char *input) {
    char words[LONGEST_LIST];
    for (size_t i = 0; i < given.count; i++) {
        const struct option_rule *rule = &given.rules[i];
        if (given.arguments[i] == NULL || rule->inputs == NULL || list_has(rule->inputs, input)) continue;
        return complain_of_usage("%s%s is for %s, not for %s", dashes_of(rule), rule->name,
                                 list_in_words(words, rule->inputs), input);
    }
    return true;
}

/* ---- The whole ---- */

bool arguments_read(const struct grammar *grammar, int argc, char **argv, struct strings *operands, int *status) {
    struct getopt_tables tables;
    int value;
    *status = ENDS_BADLY;
    if (grammar->option_count > MOST_OPTIONS)
        return complain("the table of this command has %zu options, and at most %d are read", grammar->option_count,
                        MOST_OPTIONS);
    fill_tables(grammar, &tables);
    memset(&given, 0, sizeof given);
    given.count = grammar->option_count;
    for (size_t i = 0; i < grammar->option_count; i++) given.rules[i] = grammar->options[i];
    optind = 0; /* This makes getopt of glibc and of musl begin again. */
    opterr = 0;
    while ((value = getopt_long(argc, argv, tables.letters, tables.words, NULL)) != -1) {
        if (value == 'h' || value == HELP_OPTION) {
            bool printed = output_print(value == 'h' ? grammar->help->summary : grammar->help->whole);
            *status = printed ? ENDS_WELL : ENDS_BADLY;
            return false;
        }
        if (value == '?' || value == ':') {
            complain_of_option(grammar, &tables, argv, value);
            return false;
        }
        const struct option_rule *rule = find_rule(grammar, value);
        if (!store_value(rule, optarg)) return false;
        given.arguments[rule - grammar->options] = optarg != NULL ? optarg : "";
    }
    operands->values = argv + optind;
    operands->count = (size_t)(argc - optind);
    if (!check_operands(grammar, operands)) return false;
    given.has_operands = operands->count > grammar->least_operands;
    for (size_t i = 0; i < given.count; i++)
        if (given.arguments[i] != NULL && !check_relations(&given.rules[i])) return false;
    return true;
}

unsigned arguments_default_threads(void) {
    long processors = sysconf(_SC_NPROCESSORS_ONLN);
    return processors < 1 ? 1 : processors > 16 ? 16 : (unsigned)processors;
}

void strings_free(struct strings *strings) {
    free(strings->values);
    *strings = (struct strings){NULL, 0};
}
