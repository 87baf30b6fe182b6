/* fingerprint.c: `idx fingerprint`: from texts to the lines that `idx build` and `idx lookup` read. */
#include "tools/shared/command.h"
#include "tools/shared/wording.h"
#include "tools/text/text.h"

#include <string.h>
#include <sys/stat.h>

/* A string has at most 4095 bytes. */
static const char help_of_inputs[] =
    "Usage: idx fingerprint [OPTION…] [FILE|FOLDER…]\n"
    "Print the fingerprint of each document in the form that idx build reads: a line #recipe, tab, RECIPE, one line\n"
    "per document (fingerprint, tab, ID), and a line #total. Without FILE, or where it is -, read standard input.\n"
    "Inputs that are compressed with gzip, zstd, xz or bzip2 are decompressed.\n"
    "\n"
    "  --format FORMAT        auto (default: by the name of the file, or else by its first bytes), or:\n"
    "                         plain  text, one document per file; its ID is the path\n"
    "                         html   the text of an HTML page, likewise\n"
    "                         man    the text of a manual page, likewise, as mandoc prints it\n"
    "                         jsonl  JSON Lines, one document per line\n"
    "                         tsv    ID, tab, text: one document per line\n"
    "                         warc   WARC or WET, one document per record of text or HTML; its ID is the target URI\n"
    "  --include GLOB         of FOLDER, read the files whose path below it matches GLOB, a pattern as in '*.md', in "
    "which\n"
    "                         * also stands for slashes; may be repeated\n"
    "  --exclude GLOB         leave out such files, and such folders with all that is in them; of several that match,\n"
    "                         the last counts; what none matches is read, unless the first is --include\n"
    "  --text-field FIELD     jsonl field that contains the text (default text), as a name, a.b or /a/b\n"
    "  --id-field FIELD       jsonl field that contains the ID (default: FILE:LINE)\n"
    "  --title-field FIELD    jsonl field that contains a title, for recipes that use one\n"
    "  --main-text            for HTML: drop navigation, headers, footers, asides, forms and lists of links\n"
    "  --max-text SIZE        leave out documents of more bytes, as stored, decompressed or in UTF-8 (default 64M)\n"
    "  --features             input is lines ID, tab, feature, tab, weight (or no weight: 1) in place of text;\n"
    "                         consecutive lines with the same ID are one document\n"
    "  --hashes               the same, but a feature is a hash of 16 hex digits that was made elsewhere\n"
    "  --tokens               the same as --features or --hashes, but lines are ID, tab, and any number of\n"
    "                         feature:weight with spaces or tabs between them\n";

static const char help_of_recipes[] =
    "  --hash HASH            how features are hashed: xxh3 (default), or as in other programs fnv1, fnv1a, or md5 "
    "(its\n"
    "                         last 64 bits); part of the recipe (hash=HASH), as --ties is (ties=1)\n"
    "  --ties BIT             a bit whose weights add up to 0 is 0 (default), or 1 as in many other programs\n"
    "  --recipe RECIPE        how fingerprints are made (default words:1;nfkc-cf;w=logtf;v1); see idx-recipes(7)\n"
    "  --table FILE           table of document frequencies, for recipes with w=tfidf or w=idf: from --train, or a\n"
    "                         list of words with idf or counts that another program made\n"
    "  --train FILE           make such a table for the features of --recipe in place of fingerprints, in one thread\n"
    "  --compare              compare the texts in two FILEs in place of fingerprints, and print: same or different,\n"
    "                         their distance, the weight of each, and the difference of the weights from 0 to 1,\n"
    "                         separated by tabs\n"
    "  --bits F               bits per fingerprint, 1 to 64 (default 64)\n"
    "  --min-features N       leave out documents that have fewer features (default 0: none)\n"
    "  --strict               end with status 2 at the first bad record\n"
    "  --threads N            number of threads (default: the number of processors, up to 16)\n"
    "  --progress             show progress even if standard error is not a terminal\n"
    "\n"
    "A FOLDER means the regular files in it and in the folders below it, in the order of their names. Symbolic links\n"
    "in it are not followed. Plain text and HTML files in it with a NUL byte in their first 8 KiB are left out,\n"
    "unless a byte order mark says UTF-16 or UTF-32. A FILE of this kind is a bad record, but --format plain reads\n"
    "it. Text is UTF-8 unless it says otherwise. A text without words has fingerprint 0.\n"
    "\n"
    "Bad records are left out and counted, and the first of each kind is reported. A file that cannot be read, or\n"
    "whose compression is broken, is an error, but the other files are processed.\n"
    "\n"
    "Examples:\n"
    "  idx fingerprint docs/ | idx build docs.idx\n"
    "  zcat posts.gz | idx fingerprint --format jsonl --text-field body --id-field /meta/url\n"
    "  idx fingerprint --include '*.md' docs/ >docs.tsv\n"
    "\n"
    "Exit status: 0 all files were read; 2 error, or with --strict a bad record; 1 with --compare: different.\n";

/* FORMAT_AUTO to FORMAT_MAN. */
static const char *const format_names[] = {"auto", "plain", "jsonl", "tsv", "warc", "html", "man", NULL};

/* The table takes the place of what is there, which must not be a device, or a link like /dev/stdout. */
static bool check_train(const struct text_options *texts) {
    const struct pipeline_rules *rules = &texts->rules;
    struct stat there;
    if (rules->train == NULL) return true;
    if (texts->features || rules->table != NULL || rules->min_features > 0)
        return complain_of_usage(
            "--train counts the features of texts; omit --features, --hashes, --tokens, --table and --min-features");
    if (lstat(rules->train, &there) == 0 && !S_ISREG(there.st_mode))
        return complain_of_usage("--train %s: this is not a regular file, and the table would replace it",
                                 rules->train);
    return true;
}

static bool check_compare(const struct pipeline_rules *rules, size_t paths) {
    bool others = rules->format != FORMAT_AUTO || rules->train != NULL || rules->min_features > 0;
    if (paths == 2 && !others) return true;
    return complain_of_usage(
        "--compare needs two files of text or HTML; omit --format, --features, --hashes, --tokens, --train and "
        "--min-features");
}

static int compare(const struct pipeline_rules *rules, const struct texts *paths) {
    bool same;
    if (!check_compare(rules, paths->count) || !compare_files(rules, paths->values, &same)) return ENDS_BADLY;
    return same ? ENDS_WELL : ENDS_WITHOUT;
}

static int run(struct text_options *texts, enum document_format format, bool compares, const struct texts *paths) {
    struct pipeline_rules *rules = &texts->rules;
    if (!text_options_settle(texts, format) || !check_train(texts)) return ENDS_BADLY;
    if (rules->train != NULL) rules->threads = 1; /* The table is the same every time by this. */
    if (compares) return compare(rules, paths);
    return pipeline_run(rules, paths) == PIPELINE_WELL ? ENDS_WELL : ENDS_BADLY;
}

/* The options that -h shows. */
static const char common[] =
    "--format --include --exclude --text-field --id-field --main-text --recipe --bits --threads --progress";

int command_fingerprint(int argc, char **argv) {
    struct text_options texts;
    struct pipeline_rules *rules = &texts.rules;
    struct option_rule options[TEXT_OPTIONS + 3];
    struct texts paths;
    int status, format = FORMAT_AUTO;
    bool compares = false;
    const struct option_rule own[] = {
        {.name = "format", .kind = OPTION_CHOICE, .value = &format, .names = format_names},
        {.name = "train", .kind = OPTION_TEXT, .value = &rules->train},
        {.name = "compare", .kind = OPTION_FLAG, .value = &compares},
    };
    char help[sizeof help_of_inputs + sizeof help_of_recipes];
    const struct grammar grammar = {help, options, sizeof options / sizeof *options, "FILE", 0, SIZE_MAX, common};
    strcat(strcpy(help, help_of_inputs), help_of_recipes);
    text_options_init(&texts);
    text_options_list(&texts, options);
    memcpy(options + TEXT_OPTIONS, own, sizeof own);
    if (arguments_read(&grammar, argc, argv, &paths, &status))
        status = run(&texts, (enum document_format)format, compares, &paths);
    globs_free(&rules->globs);
    return status;
}
