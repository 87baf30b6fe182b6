/* text_options.h: the options by which texts become fingerprints, of `idx fingerprint` and `idx dedup`. */
#ifndef IDX_TOOLS_TEXT_OPTIONS_H
#define IDX_TOOLS_TEXT_OPTIONS_H

#include "tools/text/pipeline.h"

#include <idx.h>

struct text_options {
    struct pipeline_rules rules;
    bool features; /* the input is features; once settled, also with --hashes and --tokens */
    int hash;      /* enum idx_hash_kind: --hash and --ties become parts of the recipe */
    unsigned ties;
    char recipe[IDX_MAX_RECIPE_BYTES + 1]; /* with these parts; rules.recipe points to it then */
};

/* The values of --hash, by enum idx_hash_kind; ends with NULL. */
extern const char *const text_hash_names[];

/* The defaults. */
void text_options_init(struct text_options *options);

/* Fills the list with the rules of the options, whose values they set. */
enum { TEXT_OPTIONS = 19 };
void text_options_list(struct text_options *options, struct option_rule list[TEXT_OPTIONS]);

/* Once they are read: completes the rules, for a format, which is FORMAT_AUTO where none was given. False after a
 * complaint. */
bool text_options_settle(struct text_options *options, enum document_format format);

#endif
