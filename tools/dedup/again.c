/* again.c: see again.h. */
#include "tools/dedup/again.h"

#include "tools/shared/interrupt.h"
#include "tools/shared/message.h"

static bool is_marked(const struct again *again, uint64_t number) {
    return (again->wanted[number / 64] >> number % 64 & 1) != 0;
}

static uint64_t count_wanted(const struct again *again) {
    uint64_t wanted = 0;
    for (uint64_t i = 0; i <= again->compared / 64; i++) wanted += (uint64_t)__builtin_popcountll(again->wanted[i]);
    return wanted;
}

static void find_wanted(struct again *again) {
    again->is_wanting = false;
    while (!again->is_wanting && journal_next(again->journal, &again->place))
        again->is_wanting = again->place.fate == FATE_COMPARED && is_marked(again, again->next_number++);
}

static bool next_file(void *context, struct opened_file *file, uint64_t *number) {
    struct again *again = context;
    const struct journal_file *noted = &again->journal->file;
    if (!again->is_wanting || again->failed || interrupt_noted()) return false;
    if (again->journal->next_file == again->place.file + 1) {
        complain("%s: it was changed while it was compared; run the command again", noted->path);
        again->failed = true;
    } else if (!journal_find_file(again->journal, again->place.file)) {
        again->failed = true;
    }
    *file = (struct opened_file){noted->path, noted->in_folder, -1};
    *number = again->place.file;
    return !again->failed;
}

static bool check_file(void *context, const struct opened_file *file) {
    struct again *again = context;
    again->failed = again->failed || !journal_check_file(&again->journal->file, file->descriptor);
    return !again->failed;
}

static bool is_wanted(void *context, const struct raw_document *raw) {
    struct again *again = context;
    const struct place *place = &again->place;
    if (!again->is_wanting || raw->bad.kind != BAD_NONE || raw->file != place->file || raw->begins != place->begins ||
        raw->ends != place->ends)
        return false;
    find_wanted(again);
    return true;
}

/* A result_visitor, of the wanted documents, in order. */
static bool take(void *context, const struct raw_document *raw, const char *made, size_t length) {
    struct again *again = context;
    while (!is_marked(again, again->taken)) again->taken++;
    uint64_t number = again->taken++;
    if (interrupt_noted()) return false;
    return raw->bad.kind != BAD_NONE || again->take(again->context, number, made, length);
}

struct pipeline_rules again_rules(const struct pipeline_rules *rules, const char *recipe) {
    struct pipeline_rules listing = *rules;
    listing.recipe = recipe;
    if (recipe != rules->recipe) listing.table = NULL;
    listing.min_features = 0;
    listing.strict = listing.others = false;
    listing.expected_recipe = NULL;
    listing.visit_file = NULL;
    return listing;
}

bool again_read(struct again *again, const struct pipeline_rules *rules, const char *recipe, enum listed listed) {
    const struct pipeline_features features = {listed, next_file, is_wanted, NULL, count_wanted(again)};
    struct pipeline_rules listing = again_rules(rules, recipe);
    listing.visit = take;
    listing.visit_file = check_file;
    listing.context = again;
    listing.features = &features;
    if (!journal_rewind(again->journal)) return false;
    again->next_number = again->taken = 0;
    find_wanted(again);
    return pipeline_run(&listing, NULL) == PIPELINE_WELL && !again->failed && !again->is_wanting &&
           journal_is_read(again->journal);
}
