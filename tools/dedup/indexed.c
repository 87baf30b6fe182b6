/* indexed.c: reads the sets of indexes, and lists which of their texts are kept. */
#include "tools/dedup/indexed.h"

#include "tools/resemblance/shingling.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* ---- Options ---- */

/* Checks that the sets of two indexes are of the same shingles. Returns false after a complaint. */
static bool check_same_shingles(const struct idx_properties *first, const struct idx_properties *second) {
    struct idx_text_shingle_options first_shingling, second_shingling;
    const bool are_known = shingling_read_recipe(first->recipe, &first_shingling) &&
                           shingling_read_recipe(second->recipe, &second_shingling);
    bool warned = false;
    if (first->sketch == 0 || second->sketch == 0)
        return complain("one of the indexes is of texts, and the other one of fingerprints, so they can't be compared; "
                        "build both of texts, by idx build --resemble");
    if (are_known ? first_shingling.width == second_shingling.width && first_shingling.unit == second_shingling.unit
                  : recipes_match(first->recipe, second->recipe, strlen(second->recipe), &warned))
        return true;
    return complain(
        "the texts of these indexes have the recipes '%s' and '%s', so they can't be compared; build one of "
        "them by the shingles of the other",
        first->recipe, second->recipe);
}

/* Completes indexed->resemble by the properties of one index or two, which must have the same shingles: sets the
 * threshold if none is given, and what --min-words and --ignore-common say. Returns false after a complaint. */
static bool complete_comparison(struct indexed *indexed, const struct idx_properties *properties, size_t index_count) {
    struct resemble *resemble = &indexed->resemble;
    struct idx_text_shingle_options shingling;
    shingling_read_recipe(properties->recipe, &shingling);
    if (index_count == 2 && !check_same_shingles(&properties[0], &properties[1])) return false;
    if (resemble->threshold == 0 && resemble->contained == 0) resemble->threshold = properties->threshold;
    resemble_set_contained_size(resemble, &shingling, indexed->min_words);
    return indexed->ignore_common == NULL ||
           quota_parse("--ignore-common", indexed->ignore_common, &resemble->most_common);
}

/* ---- Reading ---- */

/* The context of add_text. */
struct text_adder {
    struct resemble *resemble;
    bool failed;
};

/* Adds a text of an index to what is compared, with an integer ID as decimal text. Returns false after a complaint,
 * which sets adder->failed, or if a signal was noted. This is an idx_set_visitor; `context` is a struct text_adder. */
static bool add_text(void *context, const struct idx_document *document, const struct idx_set *set) {
    struct text_adder *adder = context;
    char digits[24];
    struct span id = {document->id, document->id_length};
    if (document->id == NULL)
        id = (struct span){digits, (size_t)snprintf(digits, sizeof digits, "%" PRIu64, document->number)};
    adder->failed = !resemble_add_document(adder->resemble, id, set->hashes, set->count, 0);
    return !adder->failed && !interrupt_is_noted();
}

bool indexed_add_texts(struct resemble *resemble, const struct idx_index *index) {
    struct text_adder adder = {.resemble = resemble};
    struct idx_error error;
    return succeeded(idx_visit_sets(index, add_text, &adder, &error), &error) && !adder.failed && !interrupt_is_noted();
}

/* Opens indexed->resemble, adds the texts of one index or two, and leaves out the shingles that too many texts have.
 * With two indexes, pairs will be those of a text of the first and one of the second. `options` say how many threads
 * and how much memory are used. Returns false after a complaint, or if a signal was noted; the caller closes `resemble`
 * even then. */
static bool read_texts(struct indexed *indexed, const struct idx_index *const indexes[], size_t index_count,
                       struct idx_sets_options options) {
    struct resemble *resemble = &indexed->resemble;
    struct idx_properties properties[2];
    struct scratch scratch = {0};
    for (size_t i = 0; i < index_count; i++) idx_get_properties(indexes[i], &properties[i]);
    /* Texts with integer IDs come in their order. */
    if (properties->id_type == IDX_ID_U64 && resemble->prefers == IDX_REPRESENTATIVE_SMALLEST_ID)
        resemble->prefers = IDX_REPRESENTATIVE_FIRST;
    options.temporary_folder = scratch_choose_parent(indexed->folder);
    bool ok = complete_comparison(indexed, properties, index_count) &&
              scratch_open(&scratch, options.temporary_folder, "--tmpdir") &&
              resemble_open(resemble, &options, &scratch, options.temporary_folder) &&
              indexed_add_texts(resemble, indexes[0]);
    scratch_remove(&scratch); /* Its files are open, and need no names. */
    if (index_count == 2) {
        resemble->known = resemble->count;
        resemble->between = true;
        ok = ok && indexed_add_texts(resemble, indexes[1]);
    }
    progress_note_reading(options.context);
    return ok && resemble_ignore_common_shingles(resemble);
}

/* ---- Answers ---- */

bool indexed_write_pairs(struct near *near, size_t index_count) {
    const struct idx_index *const indexes[] = {near->sides[0].index, near->sides[1].index};
    struct idx_sets_options options = IDX_SETS_OPTIONS_INIT;
    uint64_t pair_count = 0;
    options.threads = near->options.threads;
    options.memory_bytes = near->options.memory_bytes;
    options.progress = near->options.progress;
    options.context = near->options.context;
    bool ok = arguments_fit_input("texts") && read_texts(near->texts, indexes, index_count, options) &&
              resemble_write_pairs(&near->texts->resemble, &near->output, &pair_count);
    resemble_close(&near->texts->resemble);
    near->found = pair_count > 0;
    return ok;
}

/* Lists a text, and what it has in common with the one that is kept. Returns what listing_print_member returns. This is
 * a resemble_visitor; `context` is the struct indexed. */
static bool list_text(void *context, const struct idx_cluster_member *member, const struct idx_kept_set *kept) {
    struct indexed *indexed = context;
    if (indexed->resemble.contained > 0)
        indexed->listing->set_size = resemble_get_set_size(&indexed->resemble, member->document.number);
    return listing_print_member(indexed->listing, member, kept);
}

/* Lists all texts with --keep or --drop, and otherwise those of clusters of two or more. Returns false after a
 * complaint, if a signal was noted, or if output failed. */
static bool list_texts(struct indexed *indexed) {
    struct listing *listing = indexed->listing;
    const bool only_clusters = !listing->keep && !listing->drop;
    if (indexed->ignore_common != NULL) listing->remark = resemble_write_remark(&indexed->resemble, indexed->remark);
    listing_begin_with_text_ids(listing);
    if (!resemble_visit(&indexed->resemble, only_clusters, list_text, indexed, &listing->summary)) return false;
    listing_end(listing);
    return listing->output.error == 0;
}

bool indexed_list_texts(struct indexed *indexed, const struct idx_index *index) {
    const struct idx_cluster_options *listing_options = &indexed->listing->options;
    struct idx_sets_options options = IDX_SETS_OPTIONS_INIT;
    options.threads = listing_options->threads;
    options.memory_bytes = listing_options->memory_bytes;
    options.progress = progress_visit;
    options.context = &indexed->listing->progress;
    indexed->resemble.prefers = (enum idx_representative)indexed->listing->representative;
    return read_texts(indexed, &index, 1, options) && resemble_decide_kept(&indexed->resemble) && list_texts(indexed);
}
