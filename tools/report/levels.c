/* levels.c: finds what a report says of documents that are compared by their resemblance, for each tenth: exactly, down
 * to where there are too many of them, and below it from a sample of documents that are compared with each other. */
#include "tools/report/gather.h"

#include <stdlib.h>

/* The sample has at most this many documents, and so few that hashes compared to find all its pairs are fewer than
 * SAMPLE_WORK. Fewer documents than that have no sample. */
enum { MOST_SAMPLED = 4096 };
#define SAMPLE_WORK ((uint64_t)1 << 33)

/* Pairs are found exactly if they take at most one part in so many of the memory; what is dropped, too, if so many
 * hashes at most have to be compared, which takes about a minute. */
enum { BYTES_OF_PAIR = 16, PAIRS_SHARE = 8 };
#define MOST_WORK ((uint64_t)1 << 35)

/* Without --memory, so that the page is the same on all machines. */
#define MEMORY_UNLESS_GIVEN ((uint64_t)1 << 30)

/* Sets that questions are asked about: those of all documents, or of a sample. */
struct asking {
    struct findings *findings;
    struct idx_sets *sets;
    struct idx_keep_options options;
    size_t count;                     /* How many sets there are. */
    uint64_t *numbers;                /* The documents of the sample, ascending; NULL: all documents. */
    int64_t *preferences;             /* Those of the sample, which `options` points to; NULL: of all documents. */
    struct idx_kept_set *kept;        /* The answer for one threshold. */
    uint32_t *counts;                 /* How many documents join each one, itself included. */
    double work[FINDINGS_THRESHOLDS]; /* Pairs of sets that were compared for each level. */
};

/* ---- Thresholds ---- */

static void add_threshold(struct findings *findings, int64_t threshold) {
    findings->levels[findings->threshold_count++].threshold = threshold;
}

/* Sets the thresholds: all tenths from 1 down, and between them the one that was asked for, unless it is 0. What is
 * contained is asked for without a threshold, too: this level comes before them. */
static void set_thresholds(struct findings *findings, int64_t asked) {
    const int64_t tenth = IDX_DECIMAL_WEIGHT_ONE / 10;
    if (findings->contained > 0) add_threshold(findings, 0);
    for (int64_t threshold = IDX_DECIMAL_WEIGHT_ONE; threshold > 0; threshold -= tenth) {
        add_threshold(findings, threshold);
        if (asked < threshold && asked > threshold - tenth) add_threshold(findings, asked);
        if (asked <= threshold && asked > threshold - tenth) findings->asked_level = findings->threshold_count - 1;
    }
}

/* Returns whether `shared` of `total` are a share or more, in units of 1/IDX_DECIMAL_WEIGHT_ONE. */
static bool reaches(uint64_t shared, uint64_t total, int64_t share) {
    return shared * (uint64_t)IDX_DECIMAL_WEIGHT_ONE >= (uint64_t)share * total;
}

/* Returns the level of a resemblance, which is behind the last one if it is less. */
static size_t level_of(const struct findings *findings, uint64_t shared, uint64_t total) {
    size_t level = findings_first_level(findings);
    while (level < findings->threshold_count && !reaches(shared, total, findings->levels[level].threshold)) level++;
    return level;
}

/* ---- Asking ---- */

/* Counts a pair at its level unless both documents are known, and offers it unless one is: only inputs are read again.
 * Contained ones that resemble each other as much are shown last. This is an idx_set_pair_visitor. */
static bool take_pair(void *context, const struct idx_set_pair *pair) {
    const struct asking *asking = context;
    const uint64_t *numbers = asking->numbers, known = asking->options.known;
    struct findings *findings = asking->findings;
    const uint64_t size = pair->first_size < pair->second_size ? pair->first_size : pair->second_size;
    const int64_t contained = findings->contained;
    const bool is_contained =
        contained > 0 && size >= findings->contained_size && reaches(pair->shared, size, contained);
    const bool comes_last = is_contained && reaches(pair->shared, pair->total, contained);
    struct level *at = &findings->levels[is_contained ? 0 : level_of(findings, pair->shared, pair->total)];
    const struct shown_pair shown = {.key = (uint64_t)comes_last << 63,
                                     .a = numbers != NULL ? numbers[pair->first] : pair->first,
                                     .b = numbers != NULL ? numbers[pair->second] : pair->second,
                                     .resemblance = (double)pair->shared / pair->total,
                                     .contained = contained > 0 ? (double)pair->shared / (double)size : 0};
    at->pairs += pair->second >= known;
    if (pair->first >= known) gather_offer(at, shown);
    return !interrupt_noted();
}

/* Finds all pairs down to a level. Returns false also if a signal was noted. */
static bool ask_pairs(struct asking *asking, size_t level) {
    struct idx_error error;
    struct idx_set_pair_options options = IDX_SET_PAIR_OPTIONS_INIT;
    options.threshold = asking->findings->levels[level].threshold;
    options.contained = asking->findings->contained;
    options.contained_size = asking->findings->contained_size;
    return succeeded(idx_sets_visit_pairs(asking->sets, &options, take_pair, asking, NULL, &error), &error) &&
           !interrupt_noted();
}

/* Sets a level's clusters, the largest one, and how many documents are dropped, by which document each one joins. */
static void count_clusters(struct asking *asking, struct level *level, const struct idx_kept_set *kept) {
    uint64_t kept_count = 0;
    level->largest = level->clusters.clusters = 0;
    for (size_t i = 0; i < asking->count; i++) asking->counts[i] = 0;
    for (size_t i = 0; i < asking->count; i++) asking->counts[kept[i].kept]++;
    for (size_t i = 0; i < asking->count; i++) {
        uint64_t documents = asking->counts[i];
        kept_count += documents > 0;
        level->clusters.clusters += documents > 1;
        if (documents > 1 && documents > level->largest) level->largest = documents;
    }
    level->dropped = asking->count - kept_count;
}

/* Finds what would be kept at a level, and sets its clusters and its work. Returns false also if a signal was noted. */
static bool ask_kept(struct asking *asking, size_t level) {
    struct idx_sets_summary summary;
    struct idx_error error;
    asking->options.threshold = asking->findings->levels[level].threshold;
    if (!succeeded(idx_sets_keep(asking->sets, &asking->options, asking->kept, &summary, &error), &error)) return false;
    asking->work[level] = (double)summary.candidates;
    count_clusters(asking, &asking->findings->levels[level], asking->kept);
    return !interrupt_noted();
}

static bool allocate_asking(struct asking *asking) {
    asking->kept = calloc(asking->count + 1, sizeof *asking->kept);
    asking->counts = calloc(asking->count + 1, sizeof *asking->counts);
    return (asking->kept != NULL && asking->counts != NULL) || complain("out of memory");
}

static void free_asking(struct asking *asking) {
    free(asking->numbers);
    free(asking->preferences);
    free(asking->kept);
    free(asking->counts);
}

/* ---- The sample ---- */

/* Chooses the documents of the sample, each with the same chance, and always the same ones: the next document is taken
 * with a chance of those still wanted to those still to come (Knuth's algorithm S). Known ones stay the first ones. */
static void choose_sample(struct asking *sample, const struct resemble *resemble) {
    size_t chosen = 0;
    const int64_t *preferences = sample->options.preferences;
    sample->options.known = 0;
    for (uint64_t i = 0; chosen < sample->count; i++) {
        if (sample_mix(i + 1) % (resemble->count - i) >= sample->count - chosen) continue;
        sample->numbers[chosen] = i;
        if (preferences != NULL) sample->preferences[chosen] = preferences[i];
        sample->options.known += i < resemble->known;
        chosen++;
    }
    if (preferences != NULL) sample->options.preferences = sample->preferences;
}

/* Asks all questions about the sample: the pairs and what is dropped, at all levels. */
static bool ask_sample(struct asking *sample, const struct resemble *resemble) {
    struct idx_error error;
    sample->numbers = calloc(sample->count, sizeof *sample->numbers);
    sample->preferences = calloc(sample->count, sizeof *sample->preferences);
    if (sample->numbers == NULL || sample->preferences == NULL) return complain("out of memory");
    choose_sample(sample, resemble);
    bool ok =
        allocate_asking(sample) && succeeded(idx_sets_open(&sample->sets, &resemble->options, &error), &error) &&
        succeeded(idx_sets_add_from(sample->sets, resemble->sets, sample->numbers, sample->count, &error), &error) &&
        ask_pairs(sample, sample->findings->threshold_count - 1);
    for (size_t i = 0; i < sample->findings->threshold_count && ok; i++) ok = ask_kept(sample, i);
    idx_sets_close(sample->sets);
    return ok;
}

/* Scales the sample's pairs up to those of `all` documents, and decides at how many levels pairs, and what is dropped,
 * are to be found exactly; the sample's pairs at those levels are forgotten. `members` is how many a set has on
 * average, and `memory` is in bytes. */
static void estimate_pairs(const struct asking *sample, uint64_t all, double members, uint64_t memory) {
    struct findings *findings = sample->findings;
    const double scale = (double)all * (double)(all - 1) / ((double)sample->count * (double)(sample->count - 1));
    double pairs = 0;
    findings->exact_count = findings->decided_count = 0;
    for (size_t i = 0; i < findings->threshold_count; i++) {
        struct level *at = &findings->levels[i];
        const double found = (double)at->pairs * scale;
        pairs += found;
        if (findings->decided_count == i && sample->work[i] * scale * members <= (double)MOST_WORK)
            findings->decided_count++;
        const bool fits = findings->exact_count == i && findings->decided_count > i &&
                          pairs * BYTES_OF_PAIR <= (double)(memory / PAIRS_SHARE);
        findings->exact_count += fits;
        at->pairs = fits ? 0 : (uint64_t)(found + 0.5);
        if (fits) at->shown_count = 0;
    }
}

/* Makes estimates of what is dropped at the levels that were not decided exactly: of what the last exact level keeps,
 * or of all documents if no level is exact, they keep the same share as in the sample. */
static void estimate_dropped(struct findings *findings, uint64_t all,
                             const uint64_t dropped_in_sample[FINDINGS_THRESHOLDS]) {
    const size_t last = findings->decided_count - 1;
    double kept = (double)all, of = (double)findings->sampled;
    if (findings->decided_count > 0) {
        kept -= (double)findings->levels[last].dropped;
        of -= (double)dropped_in_sample[last];
    }
    for (size_t i = findings->decided_count; i < findings->threshold_count; i++)
        if (i != findings->asked_level)
            findings->levels[i].dropped =
                all - (uint64_t)(kept * ((double)findings->sampled - (double)dropped_in_sample[i]) / of + 0.5);
}

static double average_members(const struct resemble *resemble) {
    double sum = 0;
    for (uint64_t i = 0; i < resemble->count; i++) sum += resemble_set_size(resemble, i);
    return resemble->count == 0 ? 0 : sum / (double)resemble->count;
}

/* Compares a sample, which decides what levels are found exactly: all, without a sample, if there are few documents. */
static bool sample_levels(struct findings *findings, const struct resemble *resemble, uint64_t memory) {
    struct asking sample = {.findings = findings, .options = resemble->keeping, .count = MOST_SAMPLED};
    const double members = average_members(resemble);
    while ((double)sample.count * (double)sample.count / 2 * members > (double)SAMPLE_WORK && sample.count > 2)
        sample.count /= 2;
    findings->exact_count = findings->decided_count = findings->threshold_count;
    if (resemble->count <= sample.count) return true;
    findings->sampled = sample.count;
    bool ok = ask_sample(&sample, resemble);
    if (ok) estimate_pairs(&sample, resemble->count, members, memory);
    free_asking(&sample);
    return ok;
}

/* ---- All ---- */

/* Finds exactly what sample_levels decided, and estimates the rest. */
static bool find_levels(struct findings *findings, const struct resemble *resemble) {
    struct asking asking = {
        .findings = findings, .sets = resemble->sets, .options = resemble->keeping, .count = (size_t)resemble->count};
    uint64_t dropped_in_sample[FINDINGS_THRESHOLDS];
    for (size_t i = 0; i < findings->threshold_count; i++) dropped_in_sample[i] = findings->levels[i].dropped;
    bool ok = allocate_asking(&asking) && (findings->exact_count == 0 || ask_pairs(&asking, findings->exact_count - 1));
    for (size_t i = 0; i < findings->decided_count && ok; i++)
        if (i != findings->asked_level) ok = ask_kept(&asking, i);
    if (ok) count_clusters(&asking, &findings->levels[findings->asked_level], resemble->kept);
    if (ok && findings->sampled > 0) estimate_dropped(findings, resemble->count, dropped_in_sample);
    free_asking(&asking);
    return ok;
}

/* Adds both documents of the pairs that are shown to findings->shown, and forgets the other pairs. */
static void show_pairs(struct findings *findings, struct resemble *resemble) {
    for (size_t i = 0; i < findings->threshold_count; i++) {
        struct level *at = &findings->levels[i];
        if (at->shown_count > FINDINGS_PAIRS_SHOWN) at->shown_count = FINDINGS_PAIRS_SHOWN;
        for (size_t j = 0; j < at->shown_count; j++) {
            struct shown *two = &findings->shown[findings->shown_count];
            const uint64_t numbers[2] = {at->shown[j].a, at->shown[j].b};
            for (size_t k = 0; k < 2; k++) {
                const struct span id = resemble_id(resemble, numbers[k]);
                two[k].resemblance = at->shown[j].resemblance;
                two[k].contained = at->shown[j].contained;
                gather_set_id(&two[k], numbers[k] - resemble->known, id.bytes, id.length);
            }
            at->shown[j].documents = two;
            findings->shown_count += 2;
        }
    }
}

bool levels_gather(struct findings *findings, struct resemble *resemble, uint64_t memory) {
    findings->properties.id_type = IDX_ID_TEXT;
    findings->shown = calloc(FINDINGS_DOCUMENTS, sizeof *findings->shown);
    if (findings->shown == NULL) return complain("out of memory");
    findings->contained = resemble->contained;
    findings->contained_size = resemble->contained_size;
    set_thresholds(findings, resemble->threshold);
    if (!sample_levels(findings, resemble, memory != 0 ? memory : MEMORY_UNLESS_GIVEN) ||
        !find_levels(findings, resemble))
        return false;
    for (uint64_t i = 0; i < resemble->count; i++) {
        const struct idx_kept_set *kept = &resemble->kept[i];
        if (kept->kept != i) findings->distances[level_of(findings, kept->shared, kept->total)]++;
    }
    show_pairs(findings, resemble);
    return true;
}
