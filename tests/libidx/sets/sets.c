/* sets.c: which sets are kept, and all similar pairs, compared with a plain program that compares each set with all
 * others, on any number of threads and in any memory. */
#include <stdlib.h>
#include <string.h>

#include "libidx/sets/members.h"
#include "tests/libidx/support.h"
#include "tests/random.h"

/* ---- Sets ---- */

/* A corpus: sets of hashes, each ascending and without repetitions. */
struct corpus {
    uint64_t **sets;
    size_t *counts;
    size_t count;
};

/* What hashes agree in once they are mixed (idxi_mix): the bits by which a structure of the library finds them. */
enum agreeing {
    IN_NOTHING,
    IN_TAGS,       /* the high half, which postings know of a member */
    IN_COUNTERS,   /* the highest bits */
    IN_SHARDS,     /* the low bits of tags */
    IN_SLOTS,      /* the high bits of tags that were multiplied, by which postings are found */
    IN_LOWS,       /* the low half, by which members are compared first */
    IN_BUCKETS,    /* the lowest bits, by which the members of a set are found */
    IN_SIGNATURES, /* the bit of a signature that a member stands for */
    IN_SUMS,       /* the sums of many sets, since hashes are small numbers */
    KINDS_OF_AGREEING
};

/* How a corpus is made. */
struct make {
    const char *name;
    size_t count;   /* sets */
    size_t members; /* of a set at most */
    uint64_t range; /* members are drawn from so many hashes */
    unsigned frame; /* of a hundred sets, so many begin with the same members */
    unsigned edits; /* of a hundred sets, so many are an earlier one with up to half of its members replaced */
    unsigned equal; /* of a hundred sets, so many equal an earlier one */
    bool single;    /* all sets have one size */
    unsigned parts; /* of a hundred sets, so many are a part of an earlier one, with few members of their own */
    enum agreeing agreeing;
    uint64_t groups; /* hashes are divided into so many groups, within which they agree */
};

static uint64_t random_below(uint64_t *seed, uint64_t end) { return next_random(seed) % end; }

static size_t make_distinct(uint64_t *hashes, size_t count) {
    size_t distinct = 0;
    if (count > 0) qsort(hashes, count, sizeof *hashes, compare_numbers);
    for (size_t i = 0; i < count; i++)
        if (i == 0 || hashes[i] != hashes[i - 1]) hashes[distinct++] = hashes[i];
    return distinct;
}

/* Returns the hash that becomes this one when it is mixed (idxi_mix). */
static uint64_t unmix(uint64_t mixed) {
    mixed = (mixed ^ mixed >> 31 ^ mixed >> 62) * UINT64_C(0x319642b2d24d8ec3);
    mixed = (mixed ^ mixed >> 27 ^ mixed >> 54) * UINT64_C(0x96de1b173f119089);
    return (mixed ^ mixed >> 30 ^ mixed >> 60) - UINT64_C(0x9e3779b97f4a7c15);
}

/* The factor whose product with that of slots.h is 1, modulo 2^32. */
#define GATHERING UINT32_C(0x144cbc89)

/* Returns a hash that agrees with those of its group, which is one of `groups`. */
static uint64_t agree(enum agreeing agreeing, uint64_t number, uint64_t groups) {
    static const uint64_t bits[KINDS_OF_AGREEING] = {
        [IN_TAGS] = UINT64_C(0xffffffff00000000),      [IN_COUNTERS] = UINT64_C(0xffff000000000000),
        [IN_SHARDS] = UINT64_C(0x0000ffff00000000),    [IN_SLOTS] = UINT64_C(0xffff000000000000),
        [IN_LOWS] = UINT64_C(0x00000000ffffffff),      [IN_BUCKETS] = UINT64_C(0x0000000000000fff),
        [IN_SIGNATURES] = UINT64_C(0x00000000000001ff)};
    const uint64_t group = idxi_mix(number % groups), own = idxi_mix(number + groups);
    uint64_t mixed = (group & bits[agreeing]) | (own & ~bits[agreeing]);
    if (agreeing == IN_SLOTS) mixed = (uint64_t)((uint32_t)(mixed >> 32) * GATHERING) << 32 | (uint32_t)mixed;
    return unmix(agreeing == IN_SUMS ? number : mixed);
}

/* Some hashes are small numbers and their complements, and 0 is among them. */
static uint64_t draw(const struct make *make, uint64_t *seed) {
    uint64_t number = random_below(seed, make->range);
    if (make->agreeing != IN_NOTHING) return agree(make->agreeing, number, make->groups);
    return number % 3 == 0 ? number : number % 3 == 1 ? ~number : number * UINT64_C(0x9e3779b97f4a7c15);
}

static struct corpus make_corpus(const struct make *make, uint64_t seed) {
    struct corpus corpus = {calloc(make->count, sizeof(uint64_t *)), calloc(make->count, sizeof(size_t)), make->count};
    assert_non_null(corpus.sets);
    for (size_t i = 0; i < make->count; i++) {
        size_t earlier = i == 0 ? 0 : random_below(&seed, i);
        size_t size = make->single ? make->members : random_below(&seed, make->members + 1);
        unsigned kind = (unsigned)random_below(&seed, 100);
        bool edits = i > 0 && kind<make->edits, equals = i> 0 && kind >= 100 - make->equal;
        bool is_part = i > 0 && random_below(&seed, 100) < make->parts;
        if (edits || equals || is_part) size = corpus.counts[earlier];
        if (is_part) size = random_below(&seed, size + 1);
        uint64_t *set = calloc(size + 1, sizeof *set);
        assert_non_null(set);
        size_t frame = !edits && random_below(&seed, 100) < make->frame ? size - size / 4 : 0;
        for (size_t j = 0; j < size; j++) set[j] = j < frame ? j * 7 + 1 : draw(make, &seed);
        if (edits || equals || is_part) memcpy(set, corpus.sets[earlier], size * sizeof *set);
        for (size_t j = random_below(&seed, size / 2 + 1); edits && j > 0; j--)
            set[random_below(&seed, size)] = draw(make, &seed);
        for (size_t j = random_below(&seed, size / 8 + 1); is_part && j > 0; j--)
            set[random_below(&seed, size)] = draw(make, &seed);
        corpus.sets[i] = set;
        corpus.counts[i] = make_distinct(set, size);
    }
    return corpus;
}

static void free_corpus(struct corpus *corpus) {
    for (size_t i = 0; i < corpus->count; i++) free(corpus->sets[i]);
    free(corpus->sets);
    free(corpus->counts);
}

static const struct make makes[] = {
    {"of all kinds", 300, 40, 2000, 30, 40, 10, false, 0, IN_NOTHING, 0},
    {"of few hashes", 300, 12, 30, 0, 30, 10, false, 0, IN_NOTHING, 0},
    {"of one size", 300, 30, 400, 50, 50, 0, true, 0, IN_NOTHING, 0},
    {"alike but for little", 200, 60, 100000, 100, 0, 5, false, 0, IN_NOTHING, 0},
    {"of one member", 100, 1, 20, 0, 0, 10, false, 0, IN_NOTHING, 0},
    {"all equal", 100, 20, 1000, 0, 0, 100, true, 0, IN_NOTHING, 0},
    {"without members", 50, 0, 10, 0, 0, 0, false, 0, IN_NOTHING, 0},
    {"unrelated", 300, 40, UINT64_C(1) << 60, 0, 0, 0, false, 0, IN_NOTHING, 0},
    {"single", 1, 20, 100, 0, 0, 0, false, 0, IN_NOTHING, 0},
    {"parts of others", 300, 60, 3000, 10, 20, 10, false, 60, IN_NOTHING, 0},
    {"parts of a frame", 200, 60, 100000, 60, 0, 5, false, 40, IN_NOTHING, 0},
    {"of few tags", 300, 30, 600, 0, 60, 5, false, 0, IN_TAGS, 20},
    {"of few tags and one size", 300, 40, 400, 0, 60, 5, true, 20, IN_TAGS, 40},
};

/* ---- A plain program ---- */

PLAIN static uint32_t count_shared(const struct corpus *corpus, size_t a, size_t b) {
    uint32_t shared = 0;
    for (size_t i = 0, j = 0; i < corpus->counts[a] && j < corpus->counts[b];) {
        uint64_t x = corpus->sets[a][i], y = corpus->sets[b][j];
        shared += x == y;
        i += x <= y;
        j += y <= x;
    }
    return shared;
}

static bool is_similar(uint64_t shared, uint64_t total, int64_t threshold) {
    return total > 0 && shared * (uint64_t)IDX_THRESHOLD_ONE >= (uint64_t)threshold * total;
}

/* Returns whether a set joins one that is kept, as far as the options say. */
static bool may_join(const struct idx_keep_options *options, uint64_t shared, uint64_t total, uint64_t size) {
    if (options->threshold > 0 && is_similar(shared, total, options->threshold)) return true;
    return options->contained > 0 && size > 0 && size >= options->contained_size &&
           is_similar(shared, size, options->contained);
}

static bool is_equal(const struct corpus *corpus, size_t a, size_t b) {
    return corpus->counts[a] == corpus->counts[b] &&
           memcmp(corpus->sets[a], corpus->sets[b], corpus->counts[a] * sizeof(uint64_t)) == 0;
}

/* Returns the value by which a set is preferred. */
static int64_t value_of(const struct corpus *corpus, const struct idx_keep_options *options, size_t number) {
    int64_t copies = 0;
    if (options->preferences != NULL) return options->preferences[number];
    for (size_t i = 0; i < corpus->count && options->prefer_copies; i++) copies += is_equal(corpus, i, number);
    return copies;
}

/* Returns whether a set is taken before an earlier one. */
static bool is_before(const struct corpus *corpus, const struct idx_keep_options *options, const int64_t *values,
                      size_t later, size_t earlier) {
    size_t size = corpus->counts[later], other = corpus->counts[earlier];
    return options->contained > 0 && size != other ? size > other : values[later] > values[earlier];
}

/* Lists the sets in the order of preference. */
static void list_in_order(const struct corpus *corpus, const struct idx_keep_options *options, size_t *order) {
    int64_t *values = calloc(corpus->count, sizeof *values);
    for (size_t i = 0; i < corpus->count; i++) {
        size_t at = i;
        values[i] = value_of(corpus, options, i);
        for (; at > options->known && is_before(corpus, options, values, i, order[at - 1]); at--)
            order[at] = order[at - 1];
        order[at] = i;
    }
    free(values);
}

static void keep_plainly(const struct corpus *corpus, const struct idx_keep_options *options,
                         struct idx_kept_set *kept) {
    size_t *order = calloc(corpus->count, sizeof *order), *leaders = calloc(corpus->count, sizeof *leaders);
    size_t leader_count = 0;
    list_in_order(corpus, options, order);
    for (size_t i = 0; i < corpus->count; i++) {
        size_t number = order[i];
        struct idx_kept_set best = {0};
        for (size_t j = 0; j < leader_count && number >= options->known; j++) {
            uint32_t shared = count_shared(corpus, number, leaders[j]);
            uint32_t total = (uint32_t)(corpus->counts[number] + corpus->counts[leaders[j]]) - shared;
            if (!may_join(options, shared, total, corpus->counts[number])) continue;
            if (best.total > 0 && (uint64_t)shared * best.total <= (uint64_t)best.shared * total) continue;
            best = (struct idx_kept_set){leaders[j], shared, total};
        }
        uint32_t size = (uint32_t)corpus->counts[number];
        kept[number] = best.total > 0 ? best : (struct idx_kept_set){number, size, size};
        if (best.total == 0) leaders[leader_count++] = number;
    }
    free(order);
    free(leaders);
}

/* ---- Comparing both ---- */

static struct idx_sets *add_all(const struct corpus *corpus, const struct idx_sets_options *options, uint64_t seed) {
    struct idx_sets *sets;
    assert_ok(idx_sets_open(&sets, options, &failure));
    for (size_t i = 0; i < corpus->count; i++) {
        /* Hashes are given in another order, and the first one twice. */
        size_t count = corpus->counts[i];
        uint64_t *given = calloc(count + 2, sizeof *given);
        memcpy(given, corpus->sets[i], count * sizeof *given);
        for (size_t j = count; j > 1; j--) {
            size_t other = random_below(&seed, j);
            uint64_t hash = given[j - 1];
            given[j - 1] = given[other];
            given[other] = hash;
        }
        if (count > 0) given[count] = given[0];
        assert_ok(idx_sets_add(sets, given, count == 0 ? 0 : count + 1, &failure));
        free(given);
    }
    return sets;
}

static void check_kept(const char *name, const struct corpus *corpus, const struct idx_keep_options *options,
                       const struct idx_kept_set *expected, struct idx_sets *sets, struct idx_sets_summary *summary) {
    struct idx_kept_set *kept = calloc(corpus->count, sizeof *kept);
    assert_ok(idx_sets_keep(sets, options, kept, summary, &failure));
    for (size_t i = 0; i < corpus->count; i++) {
        const struct idx_kept_set *a = &kept[i], *b = &expected[i];
        if (a->kept != b->kept || a->shared != b->shared || a->total != b->total)
            fail_msg("%s, threshold %lld, contained %lld: set %zu joins %llu by %u of %u, not %llu by %u of %u", name,
                     (long long)options->threshold, (long long)options->contained, i, (unsigned long long)a->kept,
                     a->shared, a->total, (unsigned long long)b->kept, b->shared, b->total);
    }
    free(kept);
}

static const int64_t thresholds[] = {1, 1000, 3333, 5000, 5001, 8000, 9999, 10000};

/* Returns how many trials there are to the next one that is made: with a sanitizer not all of them are, but all kinds
 * of sets and all thresholds. */
static size_t stride(void) { return is_sanitized() ? 7 : 1; }

/* All kinds of sets, thresholds and orders of preference. */
static void test_kept(void **state) {
    (void)state;
    for (size_t trial = 0; trial < LENGTH(makes) * LENGTH(thresholds); trial += stride()) {
        const struct make *make = &makes[trial % LENGTH(makes)];
        struct corpus corpus = make_corpus(make, trial + 1);
        struct idx_sets_options options = IDX_SETS_OPTIONS_INIT;
        struct idx_keep_options keep = IDX_KEEP_OPTIONS_INIT;
        struct idx_kept_set *expected = calloc(corpus.count, sizeof *expected);
        int64_t *preferences = calloc(corpus.count, sizeof *preferences);
        uint64_t seed = trial;
        for (size_t i = 0; i < corpus.count; i++) preferences[i] = (int64_t)random_below(&seed, 9) - 4;
        options.threads = 1 + trial % 3;
        options.memory_bytes = trial % 2 == 0 ? 0 : IDX_MIN_MEMORY_BYTES;
        struct idx_sets *sets = add_all(&corpus, &options, trial);
        for (unsigned kind = 0; kind < 6; kind++) {
            keep.threshold = thresholds[trial / LENGTH(makes) % LENGTH(thresholds)];
            keep.known = kind % 2 == 0 ? 0 : corpus.count / 3;
            keep.preferences = kind / 2 == 1 ? preferences : NULL;
            keep.prefer_copies = kind / 2 == 2;
            keep_plainly(&corpus, &keep, expected);
            check_kept(make->name, &corpus, &keep, expected, sets, NULL);
        }
        idx_sets_close(sets);
        free(expected);
        free(preferences);
        free_corpus(&corpus);
    }
}

/* Checks which sets of a corpus are kept: by similarity, in parts, and both, without known sets and with some. */
static void check_all_kept(const char *name, const struct corpus *corpus, int64_t threshold, struct idx_sets *sets) {
    struct idx_kept_set *expected = calloc(corpus->count, sizeof *expected);
    for (unsigned kind = 0; kind < 6; kind++) {
        struct idx_keep_options keep = IDX_KEEP_OPTIONS_INIT;
        keep.threshold = kind % 3 == 1 ? 0 : threshold;
        keep.contained = kind % 3 == 0 ? 0 : 6000;
        keep.known = kind / 3 * corpus->count / 2;
        keep_plainly(corpus, &keep, expected);
        check_kept(name, corpus, &keep, expected, sets, NULL);
    }
    free(expected);
}

/* Sets whose hashes agree in the bits by which a structure finds them: small ones, of which each resembles many, and
 * larger ones. */
static void test_agreeing(void **state) {
    static const struct {
        enum agreeing agreeing;
        const char *name;
    } kinds[] = {{IN_TAGS, "of equal tags"},   {IN_COUNTERS, "of equal counters"}, {IN_SHARDS, "of one shard"},
                 {IN_SLOTS, "of equal slots"}, {IN_LOWS, "of equal low halves"},   {IN_BUCKETS, "of equal buckets"},
                 {IN_SUMS, "of equal sums"}};
    (void)state;
    for (size_t trial = 0; trial < 20 * LENGTH(kinds); trial += stride()) {
        const size_t kind = trial % LENGTH(kinds), round = trial / LENGTH(kinds);
        const size_t members = round % 2 == 0 ? 5 : 30, range = (1 + round % 5) * 6 * members;
        const struct make make = {
            kinds[kind].name, 250, members, range, 0, 40, 5, false, 10, kinds[kind].agreeing, range / (2 + round % 4)};
        struct corpus corpus = make_corpus(&make, trial + 1);
        struct idx_sets_options options = IDX_SETS_OPTIONS_INIT;
        options.threads = 1 + trial % 3;
        options.memory_bytes = round % 3 == 0 ? IDX_MIN_MEMORY_BYTES : 0;
        struct idx_sets *sets = add_all(&corpus, &options, trial);
        check_all_kept(make.name, &corpus, thresholds[1 + round % 5], sets);
        idx_sets_close(sets);
        free_corpus(&corpus);
    }
}

/* So many sets that the least memory holds neither them nor all that are kept, known ones among them. There are
 * six kinds of options. */
static void check_rounds(unsigned begin, unsigned end) {
    static const struct make make = {"in rounds", 0, 100, 20000, 20, 40, 5, false, 20, IN_NOTHING, 0};
    struct make scaled = make;
    uint64_t most_rounds = 0;
    scaled.count = is_sanitized() ? 2000 : 4000;
    struct corpus corpus = make_corpus(&scaled, 1);
    struct idx_kept_set *expected = calloc(corpus.count, sizeof *expected);
    for (unsigned kind = begin; kind < end; kind++) {
        static const int64_t of_kinds[] = {3000, 0, 5000, 3000, 5000, 5000};
        struct idx_keep_options keep = IDX_KEEP_OPTIONS_INIT;
        keep.threshold = of_kinds[kind];
        keep.known = kind == 0 || kind == 4 ? corpus.count / 3 : 0;
        keep.contained = kind % 4 == 1 ? 6000 : 0;
        keep_plainly(&corpus, &keep, expected);
        for (unsigned threads = 1; threads <= 3; threads++) {
            struct idx_sets_options options = IDX_SETS_OPTIONS_INIT;
            struct idx_sets_summary summary;
            options.threads = threads;
            options.memory_bytes = IDX_MIN_MEMORY_BYTES;
            struct idx_sets *sets = add_all(&corpus, &options, kind);
            check_kept(make.name, &corpus, &keep, expected, sets, &summary);
            if (!is_sanitized()) assert_true(summary.rounds > 1);
            if (summary.rounds > most_rounds) most_rounds = summary.rounds;
            idx_sets_close(sets);
        }
    }
    assert_true(most_rounds > 1); /* Of the fewer sets with a sanitizer, not every case needs several. */
    free(expected);
    free_corpus(&corpus);
}

static void test_rounds(void **state) {
    (void)state;
    check_rounds(0, 2);
}

static void test_more_rounds(void **state) {
    (void)state;
    check_rounds(2, 6);
}

/* Sets that the memory holds, but not beside all that are kept: they move to a file, and one round suffices. */
static void test_moved_to_a_file(void **state) {
    static const struct make make = {"moved to a file", 3000, 42, 20000, 0, 40, 5, false, 10, IN_NOTHING, 0};
    struct corpus corpus = make_corpus(&make, 2);
    struct idx_sets_options options = IDX_SETS_OPTIONS_INIT;
    struct idx_keep_options keep = IDX_KEEP_OPTIONS_INIT;
    struct idx_sets_summary summary;
    struct idx_kept_set *expected = calloc(corpus.count, sizeof *expected);
    (void)state;
    options.memory_bytes = IDX_MIN_MEMORY_BYTES;
    keep.threshold = 5000;
    keep_plainly(&corpus, &keep, expected);
    struct idx_sets *sets = add_all(&corpus, &options, 1);
    for (unsigned again = 0; again < 2; again++) {
        check_kept(make.name, &corpus, &keep, expected, sets, &summary);
        assert_int_equal(summary.rounds, 1);
    }
    idx_sets_close(sets);
    free(expected);
    free_corpus(&corpus);
}

/* Sets of 10 of 20 blocks of members, the last one cut, and few members of their own. */
static struct corpus make_forms(size_t count, enum agreeing agreeing) {
    struct corpus corpus = {calloc(count, sizeof(uint64_t *)), calloc(count, sizeof(size_t)), count};
    uint64_t seed = 1, own = UINT64_C(1) << 40;
    assert_non_null(corpus.sets);
    for (size_t i = 0; i < count; i++) {
        uint64_t *set = calloc(10 * 6 + 3, sizeof *set);
        size_t size = 0;
        assert_non_null(set);
        for (uint64_t left = 20, wanted = 10; left > 0; left--) {
            if (random_below(&seed, left) >= wanted) continue;
            for (uint64_t j = wanted == 1 ? i % 3 * 2 : 0; j < 6; j++) set[size++] = left * 6 + j;
            wanted--;
        }
        for (uint64_t j = 2 + i % 2; j > 0; j--) set[size++] = own++;
        for (size_t j = 0; j < size && agreeing != IN_NOTHING; j++) set[j] = agree(agreeing, set[j], 30);
        corpus.sets[i] = set;
        corpus.counts[i] = make_distinct(set, size);
    }
    return corpus;
}

/* Checks forms whose hashes agree in some bits, which are compared by signatures as well. */
static void check_agreeing_forms(enum agreeing agreeing) {
    struct corpus corpus = make_forms(is_sanitized() ? 500 : 1000, agreeing);
    struct idx_sets_options options = IDX_SETS_OPTIONS_INIT;
    options.threads = 2;
    struct idx_sets *sets = add_all(&corpus, &options, 1);
    check_all_kept("forms that agree", &corpus, 8000, sets);
    idx_sets_close(sets);
    free_corpus(&corpus);
}

/* So many sets share frequent members that they are compared by signatures, and few of them otherwise. */
static void test_signed(void **state) {
    (void)state;
    check_agreeing_forms(IN_SIGNATURES);
    check_agreeing_forms(IN_TAGS);
    struct corpus corpus = make_forms(is_sanitized() ? 1300 : 2300, IN_NOTHING);
    struct idx_kept_set *expected = calloc(corpus.count, sizeof *expected);
    for (unsigned kind = 0; kind < 3; kind++) {
        struct idx_sets_options options = IDX_SETS_OPTIONS_INIT;
        struct idx_keep_options keep = IDX_KEEP_OPTIONS_INIT;
        struct idx_sets_summary summary;
        keep.threshold = 8000;
        keep.contained = kind == 2 ? 8500 : 0;
        if (kind != 1) keep_plainly(&corpus, &keep, expected);
        options.threads = 1;
        if (kind == 1) options.memory_bytes = IDX_MIN_MEMORY_BYTES;
        struct idx_sets *sets = add_all(&corpus, &options, kind);
        check_kept("forms", &corpus, &keep, expected, sets, &summary);
        if (!is_sanitized()) assert_true(summary.candidates < corpus.count * corpus.count / 4);
        if (!is_sanitized() && kind == 1) assert_true(summary.rounds > 1);
        idx_sets_close(sets);
    }
    free(expected);
    free_corpus(&corpus);
}

/* Sets that are contained in others: all shares, sizes and orders, alone and beside what resembles. */
static void test_contained(void **state) {
    (void)state;
    for (size_t trial = 0; trial < LENGTH(makes) * LENGTH(thresholds); trial += stride()) {
        const struct make *make = &makes[trial % LENGTH(makes)];
        struct corpus corpus = make_corpus(make, trial + 1000);
        struct idx_sets_options options = IDX_SETS_OPTIONS_INIT;
        struct idx_keep_options keep = IDX_KEEP_OPTIONS_INIT;
        struct idx_kept_set *expected = calloc(corpus.count, sizeof *expected);
        int64_t *preferences = calloc(corpus.count, sizeof *preferences);
        uint64_t seed = trial;
        for (size_t i = 0; i < corpus.count; i++) preferences[i] = (int64_t)random_below(&seed, 9) - 4;
        options.threads = 1 + trial % 3;
        options.memory_bytes = trial % 2 == 0 ? 0 : IDX_MIN_MEMORY_BYTES;
        struct idx_sets *sets = add_all(&corpus, &options, trial);
        for (unsigned kind = 0; kind < 12; kind++) {
            keep.contained = thresholds[trial / LENGTH(makes) % LENGTH(thresholds)];
            keep.threshold = kind % 2 == 0 ? 0 : thresholds[random_below(&seed, LENGTH(thresholds))];
            keep.contained_size = kind % 3 == 0 ? 0 : random_below(&seed, make->members + 1);
            keep.known = kind / 6 * corpus.count / 3;
            keep.preferences = kind / 2 % 3 == 1 ? preferences : NULL;
            keep.prefer_copies = kind / 2 % 3 == 2;
            keep_plainly(&corpus, &keep, expected);
            check_kept(make->name, &corpus, &keep, expected, sets, NULL);
        }
        idx_sets_close(sets);
        free(expected);
        free(preferences);
        free_corpus(&corpus);
    }
}

/* ---- Pairs ---- */

struct pairs {
    struct idx_set_pair *pairs;
    size_t count, most;
};

static bool take_pair(void *context, const struct idx_set_pair *pair) {
    struct pairs *pairs = context;
    if ((pairs->count & (pairs->count - 1)) == 0) /* A power of two, or 0, is all that was allocated. */
        pairs->pairs = realloc(pairs->pairs, (pairs->count == 0 ? 1 : 2 * pairs->count) * sizeof *pair);
    pairs->pairs[pairs->count++] = *pair;
    return pairs->count < pairs->most;
}

/* Returns whether two sets are a pair. */
static bool are_pair(const struct idx_set_pair_options *options, const struct idx_set_pair *pair) {
    uint64_t smaller = pair->first_size < pair->second_size ? pair->first_size : pair->second_size;
    if (options->threshold > 0 && is_similar(pair->shared, pair->total, options->threshold)) return true;
    return options->contained > 0 && smaller >= options->contained_size &&
           is_similar(pair->shared, smaller, options->contained);
}

/* Lists the pairs that idx_sets_visit_pairs must visit. */
static struct pairs list_pairs(const struct corpus *corpus, const struct idx_set_pair_options *options) {
    struct pairs pairs = {.most = SIZE_MAX};
    bool *is_copy = calloc(corpus->count, sizeof *is_copy);
    for (size_t i = 0; i < corpus->count; i++)
        for (size_t j = 0; j < i && !is_copy[i]; j++) is_copy[i] = corpus->counts[i] > 0 && is_equal(corpus, i, j);
    for (size_t i = 0; i < corpus->count; i++) {
        for (size_t j = i + 1; j < corpus->count && !is_copy[i]; j++) {
            uint32_t shared = count_shared(corpus, i, j);
            uint32_t size = (uint32_t)corpus->counts[i], other = (uint32_t)corpus->counts[j];
            struct idx_set_pair pair = {i, j, shared, size + other - shared, size, other};
            if (are_pair(options, &pair) && (!is_copy[j] || shared == pair.total)) take_pair(&pairs, &pair);
        }
    }
    free(is_copy);
    return pairs;
}

/* Compares all pairs with those of the plain program, and stops once at the first one. Returns how many there are. */
static size_t check_pairs(const struct corpus *corpus, const struct idx_set_pair_options *options,
                          struct idx_sets *sets, struct idx_sets_summary *summary) {
    struct pairs expected = list_pairs(corpus, options), found = {.most = SIZE_MAX};
    assert_ok(idx_sets_visit_pairs(sets, options, take_pair, &found, summary, &failure));
    assert_int_equal(found.count, expected.count);
    for (size_t i = 0; i < found.count; i++)
        assert_memory_equal(&found.pairs[i], &expected.pairs[i], sizeof *found.pairs);
    if (found.count > 1 && options->contained == 0) {
        found.count = 0;
        found.most = 1;
        assert_ok(idx_sets_visit_pairs(sets, options, take_pair, &found, NULL, &failure));
        assert_int_equal(found.count, 1);
    }
    free(expected.pairs);
    free(found.pairs);
    return expected.count;
}

/* All kinds of sets and thresholds, and sets that are contained in others, alone and beside what resembles. */
static void test_pairs(void **state) {
    uint64_t seed = 1;
    (void)state;
    for (size_t trial = 0; trial < LENGTH(makes) * LENGTH(thresholds); trial += stride()) {
        const struct make *make = &makes[trial % LENGTH(makes)];
        int64_t threshold = thresholds[trial / LENGTH(makes)];
        struct corpus corpus = make_corpus(make, trial + 100);
        struct idx_sets_options options = IDX_SETS_OPTIONS_INIT;
        struct idx_set_pair_options pairs = {sizeof pairs, threshold, 0, 0};
        options.threads = 1 + trial % 3;
        /* A sanitizer marks all of the memory that the pairs are sorted in. */
        options.memory_bytes = trial % 2 == 0 && !is_sanitized() ? 0 : IDX_MIN_MEMORY_BYTES;
        struct idx_sets *sets = add_all(&corpus, &options, trial);
        check_pairs(&corpus, &pairs, sets, NULL);
        pairs.contained = thresholds[random_below(&seed, LENGTH(thresholds))];
        pairs.contained_size = random_below(&seed, make->members + 1);
        check_pairs(&corpus, &pairs, sets, NULL);
        pairs.threshold = 0;
        check_pairs(&corpus, &pairs, sets, NULL);
        idx_sets_close(sets);
        free_corpus(&corpus);
    }
}

/* More sets than the memory holds, many of them parts of others: pairs are found in several rounds. */
static void test_pairs_in_rounds(void **state) {
    const struct make make = {"in rounds", 2600, 200, 20000, 10, 20, 5, false, 30, IN_NOTHING, 0};
    struct idx_sets_options options = IDX_SETS_OPTIONS_INIT;
    struct idx_set_pair_options pairs = {sizeof pairs, 7000, 8000, 10};
    struct corpus corpus = make_corpus(&make, 7);
    (void)state;
    options.threads = 2;
    options.memory_bytes = IDX_MIN_MEMORY_BYTES;
    struct idx_sets *sets = add_all(&corpus, &options, 1);
    for (; pairs.threshold >= 0; pairs.threshold -= 7000) {
        struct idx_sets_summary summary;
        assert_true(check_pairs(&corpus, &pairs, sets, &summary) > 100);
        assert_true(summary.rounds > 1);
    }
    idx_sets_close(sets);
    free_corpus(&corpus);
}

/* ---- Common hashes ---- */

/* Removes the hashes that more than `most` sets have from a corpus, and returns how many different ones these are. */
static uint64_t remove_plainly(struct corpus *corpus, uint64_t most) {
    size_t members = 0, common = 0, at = 0;
    for (size_t i = 0; i < corpus->count; i++) members += corpus->counts[i];
    uint64_t *all = calloc(members + 1, sizeof *all);
    for (size_t i = 0; i < corpus->count; at += corpus->counts[i++])
        if (corpus->counts[i] > 0) memcpy(all + at, corpus->sets[i], corpus->counts[i] * sizeof *all);
    if (members > 0) qsort(all, members, sizeof *all, compare_numbers);
    for (size_t begin = 0, end = 0; begin < members; begin = end) {
        while (end < members && all[end] == all[begin]) end++;
        if (end - begin > most) all[common++] = all[begin];
    }
    for (size_t i = 0; i < corpus->count; i++) {
        size_t left = 0;
        for (size_t j = 0; j < corpus->counts[i]; j++) {
            uint64_t hash = corpus->sets[i][j];
            if (bsearch(&hash, all, common, sizeof hash, compare_numbers) == NULL) corpus->sets[i][left++] = hash;
        }
        corpus->counts[i] = left;
    }
    free(all);
    return common;
}

/* Removes hashes twice, in the end more of them, and asks both questions each time. */
static void check_common(const struct make *make, uint64_t most, const struct idx_sets_options *options,
                         uint64_t seed) {
    struct corpus corpus = make_corpus(make, seed);
    struct idx_sets *sets = add_all(&corpus, options, seed);
    struct idx_kept_set *expected = calloc(corpus.count, sizeof *expected);
    for (unsigned again = 0; again < 2; again++, most = most / 2 + 1) {
        struct idx_keep_options keep = IDX_KEEP_OPTIONS_INIT;
        uint64_t ignored;
        assert_ok(idx_sets_ignore_common(sets, most, &ignored, &failure));
        assert_int_equal(ignored, remove_plainly(&corpus, most));
        keep.threshold = thresholds[seed % LENGTH(thresholds)];
        keep.prefer_copies = seed % 2 == 0;
        keep_plainly(&corpus, &keep, expected);
        check_kept(make->name, &corpus, &keep, expected, sets, NULL);
        const struct idx_set_pair_options pairs = {sizeof pairs, keep.threshold, 0, 0};
        check_pairs(&corpus, &pairs, sets, NULL);
    }
    idx_sets_close(sets);
    free(expected);
    free_corpus(&corpus);
}

/* Sets without the hashes that many of them have: in memory and in files, few and more than the memory holds, and as
 * many as a counter counts. */
static void test_common(void **state) {
    static const struct make large = {"in passes", 1000, 100, 20000, 20, 40, 5, false, 0, IN_NOTHING, 0};
    static const struct make framed = {"with a frame", 500, 20, 3000, 60, 10, 30, false, 0, IN_NOTHING, 0};
    static const uint64_t most[] = {1, 2, 5, 20, 100};
    struct idx_sets_options options = IDX_SETS_OPTIONS_INIT;
    (void)state;
    for (size_t trial = 0; trial < LENGTH(makes) * LENGTH(most); trial += stride()) {
        options.threads = 1 + trial % 3;
        options.memory_bytes = trial % 2 == 0 ? 0 : IDX_MIN_MEMORY_BYTES;
        check_common(&makes[trial % LENGTH(makes)], most[trial / LENGTH(makes)], &options, trial);
    }
    options.memory_bytes = IDX_MIN_MEMORY_BYTES;
    check_common(&large, 1, &options, 4);
    check_common(&large, 100, &options, 4);
    for (uint64_t number = 250; number < 260; number += is_sanitized() ? 5 : 1)
        check_common(&framed, number, &options, number);
}

/* ---- Ends ---- */

/* Sets can be added between two questions. */
static void test_added_later(void **state) {
    static const struct make make = {"added later", 400, 30, 500, 20, 40, 10, false, 0, IN_NOTHING, 0};
    struct corpus corpus = make_corpus(&make, 5), half = corpus;
    struct idx_keep_options keep = IDX_KEEP_OPTIONS_INIT;
    struct idx_kept_set *expected = calloc(corpus.count, sizeof *expected);
    (void)state;
    half.count /= 2;
    keep.threshold = 4000;
    struct idx_sets *sets = add_all(&half, NULL, 1);
    keep_plainly(&half, &keep, expected);
    check_kept("first half", &half, &keep, expected, sets, NULL);
    for (size_t i = half.count; i < corpus.count; i++)
        assert_ok(idx_sets_add(sets, corpus.sets[i], corpus.counts[i], &failure));
    keep_plainly(&corpus, &keep, expected);
    check_kept("whole", &corpus, &keep, expected, sets, NULL);
    keep.prefer_copies = true; /* so that it matters which sets of the two halves are equal */
    keep_plainly(&corpus, &keep, expected);
    check_kept("whole, by copies", &corpus, &keep, expected, sets, NULL);
    idx_sets_close(sets);
    free(expected);
    free_corpus(&corpus);
}

/* Sets that memory holds, or a file, are added to others: from the last on, which is empty, every third one, and one
 * twice. */
static void test_added_from(void **state) {
    struct make make = {"added from", 0, 100, 20000, 20, 40, 5, false, 0, IN_NOTHING, 0};
    (void)state;
    for (make.count = 100; make.count <= 4000; make.count += 3900) {
        struct corpus corpus = make_corpus(&make, 3), some = {NULL, NULL, 0};
        struct idx_sets_options options = IDX_SETS_OPTIONS_INIT;
        struct idx_keep_options keep = IDX_KEEP_OPTIONS_INIT;
        struct idx_kept_set *expected = calloc(corpus.count, sizeof *expected);
        uint64_t *numbers = calloc(corpus.count, sizeof *numbers), past = corpus.count;
        struct idx_sets *others, *sets;
        corpus.counts[corpus.count - 1] = 0;
        some.sets = calloc(corpus.count, sizeof *some.sets);
        some.counts = calloc(corpus.count, sizeof *some.counts);
        for (size_t i = 0; i < corpus.count / 3; i++) {
            numbers[i] = i == 1 ? numbers[0] : corpus.count - 1 - 3 * i;
            some.sets[some.count] = corpus.sets[numbers[i]];
            some.counts[some.count++] = corpus.counts[numbers[i]];
        }
        options.memory_bytes = IDX_MIN_MEMORY_BYTES;
        keep.threshold = 4000;
        others = add_all(&corpus, &options, 1);
        assert_ok(idx_sets_open(&sets, NULL, &failure));
        assert_ok(idx_sets_add_from(sets, others, numbers, some.count, &failure));
        keep_plainly(&some, &keep, expected);
        check_kept(make.name, &some, &keep, expected, sets, NULL);
        assert_status(IDX_INVALID_ARGUMENT, idx_sets_add_from(sets, others, &past, 1, &failure));
        assert_status(IDX_INVALID_ARGUMENT, idx_sets_add_from(sets, sets, numbers, 1, &failure));
        keep_plainly(&corpus, &keep, expected);
        check_kept(make.name, &corpus, &keep, expected, others, NULL);
        idx_sets_close(sets);
        idx_sets_close(others);
        free(some.sets);
        free(some.counts);
        free(numbers);
        free(expected);
        free_corpus(&corpus);
    }
}

static bool cancel(void *context, const struct idx_progress *progress) {
    (void)progress;
    return --*(int *)context > 0;
}

static void test_cancelled(void **state) {
    struct idx_sets_options options = IDX_SETS_OPTIONS_INIT;
    struct idx_kept_set kept[1];
    const uint64_t hash = 1;
    int calls;
    (void)state;
    options.progress = cancel;
    options.context = &calls;
    for (int most = 1; most <= 2; most++) {
        struct idx_sets *sets;
        calls = most;
        assert_ok(idx_sets_open(&sets, &options, &failure));
        assert_ok(idx_sets_add(sets, &hash, 1, &failure));
        assert_status(IDX_CANCELLED, idx_sets_keep(sets, NULL, kept, NULL, &failure));
        calls = 100;
        assert_ok(idx_sets_keep(sets, NULL, kept, NULL, &failure)); /* the next call is not cancelled */
        assert_int_equal(kept[0].kept, 0);
        idx_sets_close(sets);
    }
}

static void test_arguments(void **state) {
    struct idx_sets_options options = IDX_SETS_OPTIONS_INIT;
    struct idx_keep_options keep = IDX_KEEP_OPTIONS_INIT;
    struct idx_kept_set kept[1];
    struct idx_sets *sets;
    const struct idx_set_pair_options none = {.size = sizeof none}, over = {.size = sizeof over, .contained = 10001};
    const uint64_t hash = 1;
    const int64_t preference = 1;
    uint64_t ignored;
    (void)state;
    assert_status(IDX_INVALID_ARGUMENT, idx_sets_open(NULL, NULL, &failure));
    options.threads = 0;
    assert_status(IDX_INVALID_ARGUMENT, idx_sets_open(&sets, &options, &failure));
    options.threads = 1;
    options.memory_bytes = IDX_MIN_MEMORY_BYTES - 1;
    assert_status(IDX_INVALID_ARGUMENT, idx_sets_open(&sets, &options, &failure));
    assert_ok(idx_sets_open(&sets, NULL, &failure));
    assert_ok(idx_sets_keep(sets, NULL, NULL, NULL, &failure));
    assert_status(IDX_INVALID_ARGUMENT, idx_sets_add(sets, NULL, 1, &failure));
    assert_status(IDX_LIMIT, idx_sets_add(sets, &hash, (size_t)IDX_MAX_SET_MEMBERS + 1, &failure));
    assert_ok(idx_sets_add(sets, &hash, 1, &failure));
    for (keep.threshold = 0; keep.threshold <= 10001; keep.threshold += 10001)
        assert_status(IDX_INVALID_ARGUMENT, idx_sets_keep(sets, &keep, kept, NULL, &failure));
    keep.threshold = 1;
    for (keep.contained = -1; keep.contained <= 10001; keep.contained += 10002)
        assert_status(IDX_INVALID_ARGUMENT, idx_sets_keep(sets, &keep, kept, NULL, &failure));
    keep.contained = 0;
    keep.known = 2;
    assert_status(IDX_INVALID_ARGUMENT, idx_sets_keep(sets, &keep, kept, NULL, &failure));
    keep.known = 0;
    keep.preferences = &preference;
    keep.prefer_copies = true;
    assert_status(IDX_INVALID_ARGUMENT, idx_sets_keep(sets, &keep, kept, NULL, &failure));
    assert_status(IDX_INVALID_ARGUMENT, idx_sets_visit_pairs(sets, NULL, NULL, NULL, NULL, &failure));
    assert_status(IDX_INVALID_ARGUMENT, idx_sets_visit_pairs(sets, &none, take_pair, NULL, NULL, &failure));
    assert_status(IDX_INVALID_ARGUMENT, idx_sets_visit_pairs(sets, &over, take_pair, NULL, NULL, &failure));
    assert_status(IDX_INVALID_ARGUMENT, idx_sets_ignore_common(sets, 0, &ignored, &failure));
    assert_status(IDX_INVALID_ARGUMENT, idx_sets_ignore_common(sets, 1, NULL, &failure));
    idx_sets_close(sets);
    idx_sets_close(NULL);
}

/* A folder for temporary files that does not exist is named once it is needed. */
static void test_folder(void **state) {
    struct idx_sets_options options = IDX_SETS_OPTIONS_INIT;
    struct idx_sets *sets;
    uint64_t hashes[1000];
    enum idx_status status = IDX_OK;
    options.memory_bytes = IDX_MIN_MEMORY_BYTES;
    options.temporary_folder = path_in(*state, "missing");
    assert_ok(idx_sets_open(&sets, &options, &failure));
    for (uint64_t i = 0; i < 1000 && status == IDX_OK; i++) {
        for (uint64_t j = 0; j < LENGTH(hashes); j++) hashes[j] = i * 1000 + j;
        status = idx_sets_add(sets, hashes, LENGTH(hashes), &failure);
    }
    assert_int_equal(status, IDX_NOT_FOUND);
    assert_non_null(strstr(failure.sentence, options.temporary_folder));
    idx_sets_close(sets);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_kept),
        cmocka_unit_test(test_rounds),
        cmocka_unit_test(test_pairs),
        cmocka_unit_test(test_pairs_in_rounds),
        cmocka_unit_test(test_common),
        cmocka_unit_test(test_contained),
        cmocka_unit_test(test_cancelled),
        cmocka_unit_test(test_arguments),
        cmocka_unit_test(test_added_later),
        cmocka_unit_test(test_added_from),
        cmocka_unit_test(test_agreeing),
        cmocka_unit_test(test_moved_to_a_file),
        cmocka_unit_test(test_signed),
        cmocka_unit_test(test_more_rounds),
        in_folder(test_folder),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
