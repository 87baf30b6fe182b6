/* fingerprint.c: `idx fingerprint`: from texts to the lines that `idx build` and `idx lookup` read. */
#include "tools/shared/arguments.h"
#include "tools/shared/command.h"
#include "tools/shared/message.h"
#include "tools/text/compare.h"
#include "tools/text/text_options.h"

#include <string.h>
#include <sys/stat.h>

static const char help[] =
    "Usage: idx fingerprint [OPTION…] [FILE|FOLDER…]\n"
    "Print the fingerprint of each document, in the form that idx build reads: a line #recipe, tab, RECIPE; then a "
    "line\n"
    "a document: fingerprint, tab, ID. No FILE, or -, is standard input. What is compressed with gzip, zstd, xz or "
    "bzip2\n"
    "is decompressed.\n"
    "\n"
    "  --format FORMAT        auto (default: by the name of the file, else by how it begins), or:\n"
    "                         plain  text, a document a file; its ID is the path\n"
    "                         html   the same, of the text of an HTML page\n"
    "                         jsonl  JSON Lines, a document a line\n"
    "                         tsv    ID, tab, text: a document a line\n"
    "                         warc   WARC or WET: a document a record of text or HTML; its ID is the target URI\n"
    "  --text-field FIELD     of jsonl: which holds the text (default text), as a name, a.b or /a/b\n"
    "  --id-field FIELD       of jsonl: which holds the ID (default: FILE:LINE)\n"
    "  --title-field FIELD    of jsonl: which holds a title, for recipes that use one\n"
    "  --main-text            of HTML: without navigation, headers, footers, asides, forms and lists of links\n"
    "  --features             input is lines ID, tab, feature, tab, weight (or no weight: 1) instead of text;\n"
    "                         consecutive lines of an ID are a document\n"
    "  --hashes               the same, but a feature is a hash made elsewhere, of 16 hex digits\n"
    "  --recipe RECIPE        how fingerprints are made (default words:1;nfkc-cf;w=logtf;v1); see the man page\n"
    "  --table FILE           of document frequencies, for recipes with w=tfidf or w=idf\n"
    "  --train FILE           make such a table of the features of --recipe, in place of fingerprints, by one thread\n"
    "  --compare              print how the texts in two FILEs compare, in place of fingerprints: same or different, "
    "the\n"
    "                         distance, the weight of each, and how far apart these are from 0 to 1; by tabs\n"
    "  --bits F               bits of a fingerprint, 1 to 64 (default 64)\n"
    "  --min-features N       leave documents out that have fewer features (default 0: none)\n"
    "  --strict               end with status 2 at the first bad record\n"
    "  --threads N            fingerprint by N threads (default: as many as processors, up to 16)\n"
    "  --progress             say how far it is, also where standard error is no terminal\n"
    "\n"
    "A FOLDER stands for the regular files in it and in the folders below, in the order of their names. Symbolic "
    "links\n"
    "in it aren't followed, and files that hold a NUL byte in their first 8 KiB are left out; a FILE that is named is\n"
    "always taken. Text is UTF-8 where nothing says otherwise. A text without words has fingerprint 0.\n"
    "Bad records are left out and counted, and the first of each kind is told. A file that can't be read is an "
    "error;\n"
    "the others are still printed.\n"
    "\n"
    "Examples:\n"
    "  idx fingerprint docs/ | idx build docs.idx\n"
    "  idx fingerprint crawl.warc.gz | idx lookup docs.idx\n"
    "  zcat posts.gz | idx fingerprint --format jsonl --text-field body --id-field /meta/url\n"
    "\n"
    "Exit status: 0 all files were read; 2 error, and with --strict a bad record; 1 with --compare, different.\n";

/* FORMAT_AUTO to FORMAT_HTML. */
static const char *const format_names[] = {"auto", "plain", "jsonl", "tsv", "warc", "html", NULL};

/* The table takes the place of what is there, which must not be a device, or a link like /dev/stdout. */
static bool check_train(const struct text_options *texts) {
    const struct pipeline_rules *rules = &texts->rules;
    struct stat there;
    if (rules->train == NULL) return true;
    if (texts->features || rules->table != NULL || rules->min_features > 0)
        complain_of_usage("--train counts the features of texts: leave --features, --hashes, --table and "
                          "--min-features out");
    else if (lstat(rules->train, &there) == 0 && !S_ISREG(there.st_mode))
        complain_of_usage("--train %s: this is no regular file, and the table would replace it", rules->train);
    else
        return true;
    return false;
}

static bool check_compare(const struct pipeline_rules *rules, size_t paths) {
    bool others = rules->format != FORMAT_AUTO || rules->train != NULL || rules->min_features > 0;
    if (paths == 2 && !others) return true;
    complain_of_usage("--compare takes two files of text or HTML: leave --format, --features, --hashes, --train and "
                      "--min-features out");
    return false;
}

static int compare(const struct pipeline_rules *rules, const struct texts *paths) {
    bool same;
    if (!check_compare(rules, paths->count) || !compare_files(rules, paths->values, &same)) return ENDS_BADLY;
    return same ? ENDS_WELL : ENDS_WITHOUT;
}

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
    const struct grammar grammar = {help, options, sizeof options / sizeof *options, "FILE", 0, SIZE_MAX};
    text_options_init(&texts);
    text_options_list(&texts, options);
    memcpy(options + TEXT_OPTIONS, own, sizeof own);
    if (!arguments_read(&grammar, argc, argv, &paths, &status)) return status;
    if (!text_options_settle(&texts, (enum document_format)format)) return ENDS_BADLY;
    if (!check_train(&texts)) return ENDS_BADLY;
    if (rules->train != NULL) rules->threads = 1; /* so that the table is the same every time */
    if (compares) return compare(rules, &paths);
    return pipeline_run(rules, &paths) == PIPELINE_WELL ? ENDS_WELL : ENDS_BADLY;
}
