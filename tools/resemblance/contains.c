/* contains.c: asks the library which texts of --against a document contains, and notes all of them for --pairs. */
#include "tools/resemblance/contains.h"

#include <inttypes.h>
#include <string.h>

/* Complains that `short_count` of `text_count` texts are too short to be looked for, unless that is 0; `path` is the
 * path of the texts. Returns false if all are too short. */
static bool report_too_short(uint64_t short_count, uint64_t text_count, const char *path) {
    if (short_count == 0) return true;
    complain("%" PRIu64 " of %" PRIu64 " texts of %s %s too short to be looked for; see --min-words%s", short_count,
             text_count, path, short_count == 1 ? "is" : "are",
             short_count == text_count ? ", and give longer ones" : "");
    return short_count < text_count;
}

bool contains_open_texts(struct contains *contains, struct idx_sets *texts, uint64_t text_count, uint64_t min_size,
                         const char *texts_path) {
    const struct idx_needles_options options = {
        .size = sizeof options, .contained = contains->least, .contained_size = min_size};
    struct idx_error error;
    uint64_t short_count;
    return succeeded(idx_needles_open(&contains->needles, texts, &options, &short_count, &error), &error) &&
           succeeded(idx_needle_finder_open(&contains->finder, contains->needles, &error), &error) &&
           report_too_short(short_count, text_count, texts_path);
}

bool contains_find_best_text(struct contains *contains, uint64_t document, const uint64_t *shingles,
                             size_t shingle_count, struct idx_kept_set *kept) {
    const struct idx_needle_match *matches;
    struct idx_error error;
    size_t match_count;
    if (!succeeded(idx_needles_find(contains->finder, shingles, shingle_count, &matches, &match_count, &error), &error))
        return false;
    *kept = (struct idx_kept_set){document, 1, 1};
    /* The first match is the best one. */
    if (match_count > 0) *kept = (struct idx_kept_set){matches->needle, matches->shared, matches->size};
    for (size_t i = 0; i < match_count && contains->notes_pairs; i++) {
        const struct contained_pair pair = {matches[i].needle, document, matches[i].shared, matches[i].size};
        output_bytes(&contains->pairs.output, &pair, sizeof pair);
    }
    return contains->pairs.output.error == 0 || temporary_flush(&contains->pairs);
}

const char *contains_read_next_pair(struct contains *contains, uint64_t *offset, struct contained_pair *pair) {
    const char *bytes = temporary_read_bytes(&contains->pairs, offset, sizeof *pair);
    if (bytes != NULL) memcpy(pair, bytes, sizeof *pair);
    return bytes;
}

void contains_close(struct contains *contains) {
    idx_needle_finder_close(contains->finder);
    idx_needles_close(contains->needles);
    temporary_close(&contains->pairs);
}
