/* text_options.h: the options by which texts become fingerprints or sets of shingles, of `idx fingerprint`, `idx dedup`
 * and `idx build`. */
#ifndef IDX_TOOLS_DOCUMENTS_TEXT_OPTIONS_H
#define IDX_TOOLS_DOCUMENTS_TEXT_OPTIONS_H

#include "tools/documents/reading.h"

struct text_options {
    struct reading_rules rules;
    bool features; /* The input is features; text_options_complete also sets it for --hashes and --tokens. */
    int hash;      /* --hash, of enum idx_hash_kind. Like --ties, it becomes a part of the recipe. */
    unsigned ties;
    char recipe[IDX_MAX_RECIPE_BYTES + 1]; /* If rules.recipe points here, the recipe with these parts. */
};

/* Sets the recipe to minhash:M, by the shingles of the rules, with M so large that sketches find texts with a
 * resemblance of `threshold` or more, in units of 1/IDX_THRESHOLD_ONE. Sets *value_count to M. Returns false, after a
 * complaint, if M is more than IDX_MAX_SKETCH. */
bool text_options_set_sketch_recipe(struct text_options *options, int64_t threshold, unsigned *value_count);

/* The values of --format, from FORMAT_AUTO to FORMAT_MAN, ended by NULL. */
extern const char *const text_format_names[];

/* Sets the options to their defaults, before the command line is read. */
void text_options_init(struct text_options *options);

/* Checks the options once the command line is read, and completes the rules by them. `format` is that of --format,
 * FORMAT_AUTO without it. Returns false, after a complaint, if the recipe is too long, has a tab or newline, or has a
 * part of an option that is given as well; or if one for features names an unknown hash or ties. The rules may then
 * point into *options, which must stay where it is. */
bool text_options_complete(struct text_options *options, enum document_format format);

/* Frees the lists in the rules. */
void text_options_free(struct text_options *options);

#endif
