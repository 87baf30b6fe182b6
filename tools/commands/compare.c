/* compare.c: `idx compare`: whether the texts in two files agree, as `idx fingerprint --compare` says it. */
#include "tools/text/text.h"

#include "tools/shared/command.h"
#include "tools/shared/wording.h"

static const char help[] =
    "Usage: idx compare [OPTION…] A B\n"
    "Compare the texts in two files of plain text or HTML. Print one line of five columns, separated by tabs: same or\n"
    "different, the distance of their fingerprints in bits, the weight of each text, and the difference of the\n"
    "weights, from 0 to 1. One of the files may be -, which is standard input. Files that are compressed with gzip,\n"
    "zstd, xz or bzip2 are decompressed.\n"
    "\n"
    "  --recipe RECIPE        how fingerprints are made (default words:1;nfkc-cf;w=logtf;v1); see idx-recipes(7)\n"
    "  --table FILE           table of document frequencies, for recipes with w=tfidf or w=idf\n"
    "  --hash HASH            how features are hashed: xxh3 (default), fnv1, fnv1a or md5; part of the recipe\n"
    "  --ties BIT             a bit whose weights add up to 0 is 0 (default) or 1; part of the recipe\n"
    "  --bits F               bits per fingerprint, 1 to 64 (default 64)\n"
    "  --main-text            for HTML: drop navigation, headers, footers, asides, forms and lists of links\n"
    "  --max-text SIZE        refuse texts of more bytes, as stored, decompressed or in UTF-8 (default 64M)\n"
    "\n"
    "Texts are the same if their fingerprints are equal, and what these are the hashes of is equal as well. idx\n"
    "fingerprint --compare prints the same line. See idx distance for fingerprints that are made already.\n"
    "\n"
    "Examples:\n"
    "  idx compare a.txt b.txt\n"
    "  idx compare --recipe terms:20 a.txt b.txt\n"
    "  idx compare --main-text old.html new.html\n"
    "\n"
    "Exit status: 0 the texts are the same; 1 they are different; 2 error.\n";

int command_compare(int argc, char **argv) {
    struct text_options texts;
    struct pipeline_rules *rules = &texts.rules;
    struct texts paths;
    int status;
    bool same;
    const struct option_rule options[] = {
        {.name = "recipe", .kind = OPTION_TEXT, .value = &rules->recipe},
        {.name = "table", .kind = OPTION_TEXT, .value = &rules->table},
        {.name = "hash", .kind = OPTION_CHOICE, .value = &texts.hash, .names = text_hash_names},
        {.name = "ties", .kind = OPTION_NUMBER, .value = &texts.ties, .least = 0, .most = 1},
        {.name = "bits", .kind = OPTION_NUMBER, .value = &rules->bits, .least = 1, .most = IDX_MAX_BITS},
        {.name = "main-text", .kind = OPTION_FLAG, .value = &rules->extract.main_text},
        {.name = "max-text", OPTION_COUNT, &rules->extract.max_text, .least = 1, .most = MOST_DOCUMENT_BYTES},
    };
    const struct grammar grammar = {help, options, sizeof options / sizeof *options, "A", 0, 2, NULL};
    text_options_init(&texts);
    if (!arguments_read(&grammar, argc, argv, &paths, &status)) return status;
    if (paths.count != 2) {
        complain_of_usage("give the two files to compare");
        return ENDS_BADLY;
    }
    if (!text_options_settle(&texts, FORMAT_AUTO) || !compare_files(rules, paths.values, &same)) return ENDS_BADLY;
    return same ? ENDS_WELL : ENDS_WITHOUT;
}
