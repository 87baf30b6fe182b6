/* levels.c: finds what a report says of documents that are compared by their resemblance, for each tenth: exactly, down
 * to where there are too many of them, and below it from a sample of documents that are compared with each other. */
#include "tools/report/gather.h"

#include <stdlib.h>
#include <string.h>

/* The sample has at most MAX_SAMPLED documents. It is halved until comparing all its pairs takes fewer than
 * MAX_SAMPLE_WORK comparisons of hashes. */
enum { MAX_SAMPLED = 4096 };
#define MAX_SAMPLE_WORK ((uint64_t)1 << 33)

/* Pairs, of PAIR_BYTES each, are found exactly if they take at most 1 / PAIRS_MEMORY_DIVISOR of the memory. What is
 * dropped is found exactly if that takes at most MAX_WORK comparisons of hashes, which last about a minute. */
enum { PAIR_BYTES = 16, PAIRS_MEMORY_DIVISOR = 8 };
#define MAX_WORK ((uint64_t)1 << 35)

/* The bytes of memory without --memory. It is fixed, so that the page is the same on all machines. */
#define DEFAULT_MEMORY_BYTES ((uint64_t)1 << 30)

/* The sets that are compared: those of all documents, or of a sample. */
struct comparison {
    struct findings *findings;
    struct idx_sets *sets;
    struct idx_keep_options options;
    size_t set_count;          /* How many sets there are. */
    uint64_t *numbers;         /* The documents of the sample, ascending; NULL: all documents. */
    int64_t *preferences;      /* Those of the sample, which `options` points to; NULL: of all documents. */
    struct idx_kept_set *kept; /* Which document each one joins at the threshold that was compared last. */
    uint32_t *joined_counts;   /* How many documents join each one, itself included; 0: it is dropped. */
    double compared_pair_counts[FINDINGS_THRESHOLDS]; /* Pairs of sets that were compared for each level. */
};

/* ---- Thresholds ---- */

/* Appends a level with this threshold, in units of 1/IDX_THRESHOLD_ONE. There must be fewer than FINDINGS_THRESHOLDS
 * levels. */
static void add_level(struct findings *findings, int64_t threshold) {
    findings->levels[findings->threshold_count++].threshold = threshold;
}

/* Sets the thresholds of all levels: each tenth from 1 down to 0.1, and between them `asked`, unless it is 0 or a tenth
 * itself. With --contained, a level with the threshold 0 comes before them. Notes which level has the threshold
 * `asked`: 0 stands for that of --contained. */
static void set_thresholds(struct findings *findings, int64_t asked) {
    const int64_t tenth = IDX_THRESHOLD_ONE / 10;
    if (findings->contained > 0) add_level(findings, 0);
    for (int64_t threshold = IDX_THRESHOLD_ONE; threshold > 0; threshold -= tenth) {
        add_level(findings, threshold);
        if (asked < threshold && asked > threshold - tenth) add_level(findings, asked);
        /* The last level so far has the threshold `asked`: the tenth itself, or the level that was just added. */
        if (asked <= threshold && asked > threshold - tenth) findings->asked_level = findings->threshold_count - 1;
    }
}

/* Returns whether shared / total is at least `share`, which is in units of 1/IDX_THRESHOLD_ONE. The products must be
 * below 2^64. */
static bool meets_share(uint64_t shared, uint64_t total, int64_t share) {
    return shared * (uint64_t)IDX_THRESHOLD_ONE >= (uint64_t)share * total;
}

/* Returns the level of the resemblance shared / total: the first level whose threshold is not above it, or
 * threshold_count if all thresholds are. */
static size_t find_level(const struct findings *findings, uint64_t shared, uint64_t total) {
    size_t level = findings_find_first_level(findings);
    while (level < findings->threshold_count && !meets_share(shared, total, findings->levels[level].threshold)) level++;
    return level;
}

/* ---- Comparing ---- */

/* Counts a pair at its level, unless both documents are known. Offers it to be shown unless one of them is known, since
 * only the texts of inputs can be read again. A pair with one text contained in the other counts at the level of
 * --contained; if its resemblance is as high as that share, it is shown only after other pairs. This is an
 * idx_set_pair_visitor. */
static bool count_and_offer_pair(void *context, const struct idx_set_pair *pair) {
    const struct comparison *comparison = context;
    const uint64_t *numbers = comparison->numbers, known = comparison->options.known;
    struct findings *findings = comparison->findings;
    const uint64_t smaller = pair->first_size < pair->second_size ? pair->first_size : pair->second_size;
    const int64_t contained = findings->contained;
    const bool is_contained =
        contained > 0 && smaller >= findings->contained_size && meets_share(pair->shared, smaller, contained);
    const bool comes_last = is_contained && meets_share(pair->shared, pair->total, contained);
    struct level *level = &findings->levels[is_contained ? 0 : find_level(findings, pair->shared, pair->total)];
    const struct shown_pair shown = {.key = (uint64_t)comes_last << 63,
                                     .a = numbers != NULL ? numbers[pair->first] : pair->first,
                                     .b = numbers != NULL ? numbers[pair->second] : pair->second,
                                     .resemblance = (double)pair->shared / pair->total,
                                     .contained = contained > 0 ? (double)pair->shared / (double)smaller : 0};
    if (pair->second >= known) level->pair_count++;
    if (pair->first >= known) gather_offer_pair(level, shown);
    return !interrupt_is_noted();
}

/* Counts and offers all pairs of the level with this index and those before it. Returns false after a complaint, or if
 * a signal was noted. */
static bool find_pairs_to_level(struct comparison *comparison, size_t level) {
    struct idx_error error;
    struct idx_set_pair_options options = IDX_SET_PAIR_OPTIONS_INIT;
    options.threshold = comparison->findings->levels[level].threshold;
    options.contained = comparison->findings->contained;
    options.contained_size = comparison->findings->contained_size;
    return succeeded(idx_sets_visit_pairs(comparison->sets, &options, count_and_offer_pair, comparison, NULL, &error),
                     &error) &&
           !interrupt_is_noted();
}

/* Sets how many clusters a level has, the size of the largest one in documents, and how many documents are dropped.
 * kept[i].kept is the document that document i joins; a kept one joins itself. Overwrites joined_counts. */
static void count_clusters(struct comparison *comparison, struct level *level, const struct idx_kept_set *kept) {
    level->largest = level->clusters.clusters = level->dropped_count = 0;
    memset(comparison->joined_counts, 0, comparison->set_count * sizeof *comparison->joined_counts);
    for (size_t i = 0; i < comparison->set_count; i++) comparison->joined_counts[kept[i].kept]++;
    for (size_t i = 0; i < comparison->set_count; i++) {
        uint64_t documents = comparison->joined_counts[i];
        if (documents == 0) level->dropped_count++;
        if (documents < 2) continue; /* A cluster has at least two documents. */
        level->clusters.clusters++;
        if (documents > level->largest) level->largest = documents;
    }
}

/* Finds which documents the threshold of the level with this index keeps, and sets its clusters, how many documents it
 * drops, and its `compared_pair_counts`. Returns false after a complaint, or if a signal was noted. */
static bool find_kept_at_level(struct comparison *comparison, size_t level) {
    struct idx_sets_summary summary;
    struct idx_error error;
    comparison->options.threshold = comparison->findings->levels[level].threshold;
    if (!succeeded(idx_sets_keep(comparison->sets, &comparison->options, comparison->kept, &summary, &error), &error))
        return false;
    comparison->compared_pair_counts[level] = (double)summary.candidates;
    count_clusters(comparison, &comparison->findings->levels[level], comparison->kept);
    return !interrupt_is_noted();
}

/* Allocates `kept` and `joined_counts`. Each has one element more than needed, so that NULL is a failure even if there
 * are no sets. Returns false after a complaint; the caller calls free_comparison even then. */
static bool allocate_comparison(struct comparison *comparison) {
    comparison->kept = calloc(comparison->set_count + 1, sizeof *comparison->kept);
    comparison->joined_counts = calloc(comparison->set_count + 1, sizeof *comparison->joined_counts);
    return (comparison->kept != NULL && comparison->joined_counts != NULL) || complain("out of memory");
}

/* Frees what the comparison has allocated, but not its sets, which are `resemble`'s or closed by compare_sample. */
static void free_comparison(struct comparison *comparison) {
    free(comparison->numbers);
    free(comparison->preferences);
    free(comparison->kept);
    free(comparison->joined_counts);
}

/* ---- The sample ---- */

/* Chooses the documents of the sample, all with the same probability, and always the same ones. By Knuth's algorithm S,
 * each next document is chosen with the probability wanted / left: how many are still to be chosen, of how many that
 * were not yet looked at. A hash of the document's number serves as the random number. Also counts the known documents
 * among them, which stay the first ones, and copies their preferences. */
static void choose_sample(struct comparison *sample, const struct resemble *resemble) {
    const int64_t *preferences = sample->options.preferences;
    size_t chosen = 0;
    sample->options.known = 0;
    for (uint64_t i = 0; chosen < sample->set_count; i++) {
        /* i + 1, since the hash of 0 is 0, so that document 0 would always be chosen. */
        if (sample_hash(i + 1) % (resemble->count - i) >= sample->set_count - chosen) continue;
        sample->numbers[chosen] = i;
        if (preferences != NULL) sample->preferences[chosen] = preferences[i];
        if (i < resemble->known) sample->options.known++;
        chosen++;
    }
    if (preferences != NULL) sample->options.preferences = sample->preferences;
}

/* Chooses the documents of the sample, `sample->set_count` of them, and finds their pairs and what is dropped at all
 * levels. Returns false after a complaint, or if a signal was noted; the caller calls free_comparison even then. */
static bool compare_sample(struct comparison *sample, const struct resemble *resemble) {
    struct idx_error error;
    sample->numbers = calloc(sample->set_count, sizeof *sample->numbers);
    sample->preferences = calloc(sample->set_count, sizeof *sample->preferences);
    if (sample->numbers == NULL || sample->preferences == NULL) return complain("out of memory");
    choose_sample(sample, resemble);
    bool ok = allocate_comparison(sample) &&
              succeeded(idx_sets_open(&sample->sets, &resemble->options, &error), &error) &&
              succeeded(idx_sets_add_from(sample->sets, resemble->sets, sample->numbers, sample->set_count, &error),
                        &error) &&
              find_pairs_to_level(sample, sample->findings->threshold_count - 1);
    for (size_t i = 0; i < sample->findings->threshold_count && ok; i++) ok = find_kept_at_level(sample, i);
    idx_sets_close(sample->sets);
    return ok;
}

/* Estimates how many pairs of `document_count` documents each level has: those of the sample, scaled up. Sets
 * exact_count to how many levels, from the first on, have so few pairs that finding them fits into `memory_bytes`; and
 * decided_count to how many have so few that finding what is dropped does not take too long. Empties the levels whose
 * pairs will be found exactly of the sample's pairs. `mean_set_size` is how many hashes a set has on average. */
static void estimate_pairs_and_choose_exact_levels(const struct comparison *sample, uint64_t document_count,
                                                   double mean_set_size, uint64_t memory_bytes) {
    struct findings *findings = sample->findings;
    const double scale = (double)document_count * (double)(document_count - 1) /
                         ((double)sample->set_count * (double)(sample->set_count - 1));
    double pairs = 0;
    bool is_decided = true, is_exact = true;
    findings->exact_count = findings->decided_count = 0;
    for (size_t i = 0; i < findings->threshold_count; i++) {
        struct level *level = &findings->levels[i];
        const double estimate = (double)level->pair_count * scale;
        pairs += estimate;
        is_decided = is_decided && sample->compared_pair_counts[i] * scale * mean_set_size <= (double)MAX_WORK;
        is_exact = is_exact && is_decided && pairs * PAIR_BYTES <= (double)(memory_bytes / PAIRS_MEMORY_DIVISOR);
        if (is_decided) findings->decided_count++;
        if (is_exact) findings->exact_count++;
        level->pair_count = is_exact ? 0 : (uint64_t)(estimate + 0.5);
        if (is_exact) level->shown_count = 0;
    }
}

/* Estimates how many documents are dropped at each level i behind the exact ones, except for the asked level, which is
 * known: kept(i) = kept(e) * sample_kept(i) / sample_kept(e), where e is the last exact level, or with none, all
 * documents. A lower threshold may even keep more, as it may drop a document that others would join. So the estimate of
 * kept(i) may exceed the number of documents; then none is dropped. */
static void estimate_dropped_counts(struct findings *findings, uint64_t document_count,
                                    const uint64_t dropped_in_sample[FINDINGS_THRESHOLDS]) {
    double kept = (double)document_count, kept_in_sample = (double)findings->sampled_count;
    if (findings->decided_count > 0) {
        kept -= (double)findings->levels[findings->decided_count - 1].dropped_count;
        kept_in_sample -= (double)dropped_in_sample[findings->decided_count - 1];
    }
    for (size_t i = findings->decided_count; i < findings->threshold_count; i++) {
        const double level_kept_in_sample = (double)findings->sampled_count - (double)dropped_in_sample[i];
        const uint64_t level_kept = (uint64_t)(kept * level_kept_in_sample / kept_in_sample + 0.5);
        if (i != findings->asked_level)
            findings->levels[i].dropped_count = level_kept < document_count ? document_count - level_kept : 0;
    }
}

/* Returns how many hashes the sets of `resemble` have on average, or 0 if there are no sets. */
static double compute_mean_set_size(const struct resemble *resemble) {
    double sum = 0;
    for (uint64_t i = 0; i < resemble->count; i++) sum += resemble_get_set_size(resemble, i);
    return resemble->count == 0 ? 0 : sum / (double)resemble->count;
}

/* Compares a sample, and decides by it which levels are found exactly. If the sample would have all documents, none is
 * taken, and all levels are exact. Of `memory_bytes`, the pairs may take a part (PAIRS_MEMORY_DIVISOR). Returns false
 * after a complaint, or if a signal was noted. */
static bool sample_levels(struct findings *findings, const struct resemble *resemble, uint64_t memory_bytes) {
    struct comparison sample = {.findings = findings, .options = resemble->keeping, .set_count = MAX_SAMPLED};
    const double mean_set_size = compute_mean_set_size(resemble);
    /* A sample of n documents has about n^2 / 2 pairs, each of which takes about mean_set_size comparisons of hashes.
     */
    while ((double)sample.set_count * (double)sample.set_count / 2 * mean_set_size > (double)MAX_SAMPLE_WORK &&
           sample.set_count > 2)
        sample.set_count /= 2;
    findings->exact_count = findings->decided_count = findings->threshold_count;
    if (resemble->count <= sample.set_count) return true;
    findings->sampled_count = sample.set_count;
    bool ok = compare_sample(&sample, resemble);
    if (ok) estimate_pairs_and_choose_exact_levels(&sample, resemble->count, mean_set_size, memory_bytes);
    free_comparison(&sample);
    return ok;
}

/* ---- All ---- */

/* Compares all documents at the levels that sample_levels chose to be exact, and estimates what the others drop.
 * Returns false after a complaint, or if a signal was noted. */
static bool compare_all_documents(struct findings *findings, const struct resemble *resemble) {
    struct comparison comparison = {.findings = findings,
                                    .sets = resemble->sets,
                                    .options = resemble->keeping,
                                    .set_count = (size_t)resemble->count};
    uint64_t dropped_in_sample[FINDINGS_THRESHOLDS];
    /* Copied, since finding the exact levels overwrites what the sample set. */
    for (size_t i = 0; i < findings->threshold_count; i++) dropped_in_sample[i] = findings->levels[i].dropped_count;
    bool ok = allocate_comparison(&comparison) &&
              (findings->exact_count == 0 || find_pairs_to_level(&comparison, findings->exact_count - 1));
    for (size_t i = 0; i < findings->decided_count && ok; i++)
        if (i != findings->asked_level) ok = find_kept_at_level(&comparison, i); /* resemble->kept is that level's. */
    if (ok) count_clusters(&comparison, &findings->levels[findings->asked_level], resemble->kept);
    if (ok && findings->sampled_count > 0) estimate_dropped_counts(findings, resemble->count, dropped_in_sample);
    free_comparison(&comparison);
    return ok;
}

/* Adds both documents of each shown pair to findings->shown. Their numbers count the documents of the inputs alone, not
 * the known ones. */
static void describe_shown_pairs(struct findings *findings, struct resemble *resemble) {
    for (size_t i = 0; i < findings->threshold_count; i++) {
        struct level *level = &findings->levels[i];
        for (size_t j = 0; j < level->shown_count; j++) {
            struct shown_pair *pair = &level->shown[j];
            struct shown_document *documents = &findings->shown[findings->shown_count];
            const uint64_t numbers[2] = {pair->a, pair->b};
            for (size_t which = 0; which < 2; which++) {
                const struct span id = resemble_find_id(resemble, numbers[which]);
                documents[which].resemblance = pair->resemblance;
                documents[which].contained = pair->contained;
                gather_set_id(&documents[which], numbers[which] - resemble->known, id.bytes, id.length);
            }
            pair->documents = documents;
            findings->shown_count += 2;
        }
    }
}

bool levels_gather_findings(struct findings *findings, struct resemble *resemble, uint64_t memory_bytes) {
    findings->properties.id_type = IDX_ID_TEXT;
    findings->shown = calloc(FINDINGS_DOCUMENTS, sizeof *findings->shown);
    if (findings->shown == NULL) return complain("out of memory");
    findings->contained = resemble->contained;
    findings->contained_size = resemble->contained_size;
    set_thresholds(findings, resemble->threshold);
    if (!sample_levels(findings, resemble, memory_bytes != 0 ? memory_bytes : DEFAULT_MEMORY_BYTES) ||
        !compare_all_documents(findings, resemble))
        return false;
    for (uint64_t i = 0; i < resemble->count; i++) {
        const struct idx_kept_set *kept = &resemble->kept[i];
        if (kept->kept != i) findings->dropped_counts[find_level(findings, kept->shared, kept->total)]++;
    }
    describe_shown_pairs(findings, resemble);
    return true;
}
