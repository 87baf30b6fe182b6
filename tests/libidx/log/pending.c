/* pending.c: tests of records in memory against a plain list of them, gone through from end to end, in views of all
 * ages; and with threads that look up while another appends. */
#include "libidx/log/pending.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "libidx/log/pending_find.h"
#include "tests/libidx/support.h"

/* ---- Numbers, and records of few fingerprints and IDs, so that they meet ---- */

static uint64_t mix(uint64_t number) {
    uint64_t z = number * UINT64_C(0x9e3779b97f4a7c15) + 1;
    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return z ^ z >> 31;
}

struct trial {
    struct idxf_record_rules rules;
    unsigned k;
    uint64_t after; /* the records come behind it */
    size_t centres; /* fingerprints lie around so many */
    size_t ids;     /* different ones */
    size_t count;   /* of records */
    struct idxf_record *records;
    uint8_t (*id_bytes)[8];
};

/* A fingerprint with up to four bits other than its centre's. */
static uint64_t draw_fingerprint(const struct trial *trial, uint64_t random) {
    uint64_t fingerprint = mix(random % trial->centres);
    for (unsigned i = 0; i < (random >> 20) % 5; i++) fingerprint ^= UINT64_C(1) << (random >> (30 + 6 * i)) % 64;
    return trial->rules.bits == 64 ? fingerprint : fingerprint & ((UINT64_C(1) << trial->rules.bits) - 1);
}

static void draw_record(const struct trial *trial, size_t number) {
    uint64_t random = mix(number + 77 * trial->ids + trial->k), kind = mix(random) % 8;
    struct idxf_record *record = &trial->records[number];
    bool has_ids = trial->rules.id_type != IDXF_ID_NONE;
    record->fingerprint = draw_fingerprint(trial, random);
    record->operation = kind == 0 ? IDXF_REMOVE_FINGERPRINT : kind < 3 && has_ids ? IDXF_REMOVE_DOCUMENT : IDXF_ADD;
    if (!has_ids || record->operation == IDXF_REMOVE_FINGERPRINT) return;
    uint64_t id = mix(random + 1) % trial->ids;
    memcpy(trial->id_bytes[number], &id, 8);
    record->id = trial->id_bytes[number];
    record->id_size = trial->rules.id_type == IDXF_ID_U64 ? 8 : id % 4; /* texts: some of no bytes */
}

static struct trial make_trial(enum idxf_id_type id_type, unsigned bits, unsigned k, size_t centres, size_t ids,
                               size_t count) {
    struct trial trial = {.rules = {.bits = (uint8_t)bits, .id_type = id_type},
                          .k = k,
                          .after = 1000 * k,
                          .centres = centres,
                          .ids = ids,
                          .count = count};
    trial.records = calloc(count, sizeof *trial.records);
    trial.id_bytes = calloc(count, sizeof *trial.id_bytes);
    assert_non_null(trial.records);
    assert_non_null(trial.id_bytes);
    for (size_t i = 0; i < count; i++) draw_record(&trial, i);
    return trial;
}

static void free_trial(struct trial *trial) {
    free(trial->records);
    free(trial->id_bytes);
}

/* ---- The model: the records from `begin` to `end` ---- */

struct model {
    const struct trial *trial;
    size_t begin, end;
};

static bool same_id(const struct idxf_record *a, const struct idxf_record *b) {
    return a->id_size == b->id_size && (a->id_size == 0 || memcmp(a->id, b->id, a->id_size) == 0);
}

/* Whether this document was added and is there still, and is not another one's double. */
static bool is_document(const struct model *model, size_t number) {
    const struct idxf_record *records = model->trial->records, *ours = &records[number];
    bool is_u64 = model->trial->rules.id_type == IDXF_ID_U64, is_double = false;
    if (ours->operation != IDXF_ADD) return false;
    for (size_t i = model->begin; i < model->end; i++) {
        if (records[i].fingerprint != ours->fingerprint) continue;
        bool alike = same_id(&records[i], ours);
        if (i > number && records[i].operation == IDXF_REMOVE_FINGERPRINT) return false;
        if (i > number && records[i].operation == IDXF_REMOVE_DOCUMENT && alike) return false;
        if (i >= number || !is_u64) continue;
        if (records[i].operation == IDXF_ADD && alike) is_double = true;
        if (records[i].operation == IDXF_REMOVE_FINGERPRINT || alike) is_double &= records[i].operation == IDXF_ADD;
    }
    return !is_double;
}

/* Whether this document was added and is there still. */
static bool is_kept(const struct model *model, size_t number) {
    const struct idxf_record *records = model->trial->records, *ours = &records[number];
    bool kept = number >= model->begin && number < model->end && ours->operation == IDXF_ADD;
    for (size_t i = number + 1; i < model->end && kept; i++) {
        if (records[i].fingerprint != ours->fingerprint) continue;
        kept = records[i].operation == IDXF_ADD ||
               (records[i].operation == IDXF_REMOVE_DOCUMENT && !same_id(&records[i], ours));
    }
    return kept;
}

static bool model_holds(const struct model *model, uint64_t fingerprint) {
    for (size_t i = model->begin; i < model->end; i++)
        if (model->trial->records[i].fingerprint == fingerprint && is_document(model, i)) return true;
    return false;
}

static enum idxi_removal model_removal(const struct model *model, uint64_t fingerprint) {
    enum idxi_removal removal = IDXI_REMOVED_NONE;
    for (size_t i = model->begin; i < model->end; i++) {
        const struct idxf_record *record = &model->trial->records[i];
        if (record->fingerprint != fingerprint) continue;
        if (record->operation == IDXF_REMOVE_FINGERPRINT) removal = IDXI_REMOVED_ALL;
        if (record->operation == IDXF_REMOVE_DOCUMENT && removal == IDXI_REMOVED_NONE) removal = IDXI_REMOVED_SOME;
    }
    return removal;
}

static bool model_removes(const struct model *model, const struct idxf_record *document) {
    for (size_t i = model->begin; i < model->end; i++) {
        const struct idxf_record *record = &model->trial->records[i];
        if (record->fingerprint != document->fingerprint || record->operation == IDXF_ADD) continue;
        if (record->operation == IDXF_REMOVE_FINGERPRINT || same_id(record, document)) return true;
    }
    return false;
}

/* ---- Comparing ---- */

/* What the records say of one document's fingerprint and ID. */
static void compare_document(const struct idxi_pending_view *view, const struct model *model, size_t number) {
    const struct idxf_record *records = model->trial->records, *ours = &records[number];
    struct idxi_pending_cursor cursor;
    const uint8_t *id;
    size_t id_size;
    assert_int_equal(idxi_pending_has_document(view, ours->fingerprint), model_holds(model, ours->fingerprint));
    assert_int_equal(idxi_pending_get_removal_kind(view, ours->fingerprint), model_removal(model, ours->fingerprint));
    assert_int_equal(idxi_pending_removes_document(view, ours->fingerprint, ours->id, ours->id_size),
                     model_removes(model, ours));
    idxi_pending_seek_fingerprint(view, ours->fingerprint, &cursor);
    for (size_t i = model->begin; i < model->end && model->trial->rules.id_type != IDXF_ID_NONE; i++) {
        if (records[i].fingerprint != ours->fingerprint || !is_document(model, i)) continue;
        assert_true(idxi_pending_next_document(&cursor, &id, &id_size));
        assert_int_equal(id_size, records[i].id_size);
        if (id_size > 0) assert_memory_equal(id, records[i].id, id_size);
    }
    assert_false(idxi_pending_next_document(&cursor, &id, &id_size));
}

/* The fingerprints that have a document with an ID. */
static void compare_id(const struct idxi_pending_view *view, const struct model *model, size_t number) {
    const struct idxf_record *records = model->trial->records, *ours = &records[number];
    struct idxi_pending_cursor cursor;
    uint64_t fingerprint, sum = 0, expected = 0;
    idxi_pending_seek_id(view, ours->id, ours->id_size, &cursor);
    while (idxi_pending_next_fingerprint(&cursor, &fingerprint)) sum += mix(fingerprint) | 1;
    for (size_t i = model->begin; i < model->end && model->trial->rules.id_type != IDXF_ID_NONE; i++)
        if (same_id(&records[i], ours) && is_document(model, i)) expected += mix(records[i].fingerprint) | 1;
    assert_int_equal(sum, expected);
}

#define QUERIES 37 /* no multiple of those that are staged together */

struct found {
    uint64_t queries[QUERIES];
    uint64_t sums[QUERIES];
    size_t visits, most; /* most: of visits, 0 for all */
};

static bool note(void *context, size_t query, uint64_t fingerprint) {
    struct found *found = context;
    found->sums[query] += mix(fingerprint) | 1;
    return ++found->visits != found->most;
}

static void compare_queries(const struct idxi_pending_view *view, const struct model *model, unsigned distance,
                            uint64_t seed) {
    struct found found = {.most = 0};
    const struct idxf_record *records = model->trial->records;
    for (size_t i = 0; i < QUERIES; i++) found.queries[i] = draw_fingerprint(model->trial, mix(seed + i));
    idxi_pending_find_near(view, distance, found.queries, 0, QUERIES / 3, note, &found);
    idxi_pending_find_near(view, distance, found.queries, QUERIES / 3, QUERIES, note, &found);
    for (size_t q = 0; q < QUERIES; q++) {
        uint64_t expected = 0;
        for (size_t i = model->begin; i < model->end; i++) {
            if (__builtin_popcountll(records[i].fingerprint ^ found.queries[q]) > (int)distance) continue;
            bool again = !is_document(model, i);
            for (size_t j = model->begin; j < i && !again; j++)
                again = records[j].fingerprint == records[i].fingerprint && is_document(model, j);
            if (!again) expected += mix(records[i].fingerprint) | 1;
        }
        assert_int_equal(found.sums[q], expected);
    }
    if (found.visits < 2) return;
    found.most = found.visits / 2;
    found.visits = 0;
    idxi_pending_find_near(view, distance, found.queries, 0, QUERIES, note, &found);
    assert_int_equal(found.visits, found.most);
}

static enum idx_status compare_record(void *context, uint64_t sequence, const struct idxf_record *record,
                                      struct idx_error *error) {
    struct model *model = context;
    const struct idxf_record *expected = &model->trial->records[model->begin++];
    (void)error;
    assert_int_equal(sequence, model->trial->after + model->begin);
    assert_int_equal(record->operation, expected->operation);
    assert_int_equal(record->fingerprint, expected->fingerprint);
    assert_true(same_id(record, expected));
    return IDX_OK;
}

/* Which records were visited, and the sequence number of the last one. */
struct visited {
    const struct trial *trial;
    bool *records;
    uint64_t last;
};

static enum idx_status note_record(void *context, uint64_t sequence, const struct idxf_record *record,
                                   struct idx_error *error) {
    struct visited *visited = context;
    size_t number = (size_t)(sequence - visited->trial->after - 1);
    (void)error;
    assert_true(sequence > visited->last);
    assert_int_equal(record->fingerprint, visited->trial->records[number].fingerprint);
    assert_true(same_id(record, &visited->trial->records[number]));
    visited->records[number] = true;
    visited->last = sequence;
    return IDX_OK;
}

static void compare_documents(const struct idxi_pending_view *view, const struct model *model) {
    struct visited visited = {model->trial, calloc(model->trial->count, sizeof(bool)), 0};
    assert_non_null(visited.records);
    assert_ok(idxi_pending_visit_documents(view, note_record, &visited, &failure));
    for (size_t i = 0; i < model->trial->count; i += 1 + model->trial->count / 200)
        assert_int_equal(visited.records[i], is_kept(model, i));
    free(visited.records);
}

static void compare(const struct idxi_pending_view *view, const struct trial *trial) {
    struct model model = {trial, view->after - trial->after, view->last - trial->after}, walk = model;
    for (unsigned distance = 0; distance <= trial->k; distance++)
        compare_queries(view, &model, distance, view->last + 1000 * distance);
    for (size_t i = 0; i < trial->count; i += 1 + trial->count / 60) {
        compare_document(view, &model, i);
        compare_id(view, &model, i);
    }
    compare_documents(view, &model);
    assert_ok(idxi_pending_visit_records(view, compare_record, &walk, &failure));
    assert_int_equal(walk.begin, walk.end);
}

/* Appends one record after the other; views that were made on the way are compared later, too. */
static void run_trial(struct trial *trial) {
    enum { VIEWS = 9 };
    struct idxi_pending *pending;
    struct idxi_pending_view views[VIEWS];
    uint64_t at_once = trial->count / 3 * (trial->k % 2);
    uint64_t room = trial->k % 3 == 0 ? 0 : trial->count;
    assert_ok(idxi_pending_new(&pending, &trial->rules, trial->k, trial->after, at_once, room, &failure));
    if (at_once == 0) assert_ok(idxi_pending_make_runs(pending, &failure));
    for (size_t i = 0, view = 0; i <= trial->count; i++) {
        assert_int_equal(idxi_pending_get_last_sequence(pending), trial->after + i);
        if (i == view * trial->count / (VIEWS - 1)) {
            if (i >= at_once) assert_ok(idxi_pending_make_runs(pending, &failure));
            views[view] = (struct idxi_pending_view){pending, trial->after + i / 3 * (view % 2), trial->after + i, 0};
            idxi_pending_hold(pending);
            if (i >= at_once) compare(&views[view], trial);
            view++;
        }
        if (i < trial->count) assert_ok(idxi_pending_append_record(&pending, &trial->records[i], NULL, &failure));
    }
    for (size_t view = 0; view < VIEWS; view++) {
        compare(&views[view], trial);
        idxi_pending_release(views[view].records);
    }
    assert_int_equal(idxi_pending_get_last_sequence(pending), trial->after + trial->count);
    idxi_pending_release(pending);
    free_trial(trial);
}

static void test_all_id_types(void **state) {
    (void)state;
    for (unsigned type = 0; type < IDXF_ID_TYPE_COUNT; type++) {
        struct trial few = make_trial((enum idxf_id_type)type, 64, 3, 5, 4, 400);
        struct trial many = make_trial((enum idxf_id_type)type, 64, 3, 200, 50, scale(1500));
        run_trial(&few);
        run_trial(&many);
    }
}

static void test_all_k(void **state) {
    (void)state;
    for (unsigned k = 0; k <= 16; k++) {
        struct trial trial = make_trial(IDXF_ID_U64, 64, k, 20, 30, 300);
        run_trial(&trial);
    }
}

static void test_bits(void **state) {
    (void)state;
    for (unsigned bits = 1; bits <= 64; bits += bits < 20 ? 1 : 11) {
        struct trial trial = make_trial(IDXF_ID_TEXT, bits, bits > 4 ? 3 : bits - 1, 20, 30, 200);
        run_trial(&trial);
    }
}

/* Many fingerprints: hash tables and blocks grow, and all is found. */
static void test_growth(void **state) {
    (void)state;
    const size_t count = scale(200000);
    struct idxf_record_rules rules = {.bits = 64, .id_type = IDXF_ID_U64};
    struct idxi_pending *pending;
    struct found found;
    assert_ok(idxi_pending_new(&pending, &rules, 3, 0, 0, 0, &failure));
    assert_ok(idxi_pending_make_runs(pending, &failure));
    size_t bytes = idxi_pending_get_bytes(pending);
    for (size_t i = 0; i < count; i++) {
        uint64_t id = i;
        /* one bucket of the first part gets many */
        uint64_t fingerprint = i % 4 == 0 ? mix(i) >> 16 : mix(i);
        struct idxf_record record = {
            .operation = IDXF_ADD, .fingerprint = fingerprint, .id = (uint8_t *)&id, .id_size = sizeof id};
        assert_ok(idxi_pending_append_record(&pending, &record, NULL, &failure));
    }
    assert_in_range(idxi_pending_get_bytes(pending), bytes + 40 * count, bytes + 160 * count);
    struct idxi_pending_view view = {pending, 0, count, 0};
    for (size_t i = 0; i < count; i += QUERIES) {
        memset(&found, 0, sizeof found);
        for (size_t q = 0; q < QUERIES; q++) {
            uint64_t fingerprint = (i + q) % 4 == 0 ? mix(i + q) >> 16 : mix(i + q);
            found.queries[q] = fingerprint ^ UINT64_C(1) << q ^ UINT64_C(1) << 63 ^ UINT64_C(1) << 40;
        }
        size_t some = count - i < QUERIES ? count - i : QUERIES;
        idxi_pending_find_near(&view, 3, found.queries, 0, some, note, &found);
        assert_int_equal(found.visits, some);
    }
    idxi_pending_release(pending);
}

/* All calls accept a view of nothing. */
static void test_nothing(void **state) {
    (void)state;
    const struct idxi_pending_view view = {.after = 7, .last = 7};
    struct found found = {.queries = {0}};
    struct idxi_pending_cursor cursor;
    struct idxi_pending_text text;
    struct model walk = {0};
    const uint8_t *id;
    uint64_t fingerprint;
    size_t id_size;
    for (unsigned distance = 0; distance <= 3; distance++) {
        idxi_pending_prefetch_near(&view, 0, distance);
        idxi_pending_find_near(&view, distance, found.queries, 0, 1, note, &found);
    }
    assert_int_equal(found.visits, 0);
    assert_false(idxi_pending_has_document(&view, 0));
    assert_int_equal(idxi_pending_get_removal_kind(&view, 0), IDXI_REMOVED_NONE);
    assert_false(idxi_pending_removes_document(&view, 0, "", 0));
    idxi_pending_seek_fingerprint(&view, 0, &cursor);
    assert_false(idxi_pending_next_document(&cursor, &id, &id_size));
    idxi_pending_seek_id(&view, "", 0, &cursor);
    assert_false(idxi_pending_next_fingerprint(&cursor, &fingerprint));
    assert_false(idxi_pending_next_text(&cursor, &text));
    assert_false(idxi_pending_find_live_text(&view, 0, &text));
    assert_false(idxi_pending_get_text(&view, 0, &text));
    assert_ok(idxi_pending_visit_records(&view, compare_record, &walk, &failure));
    assert_ok(idxi_pending_visit_documents(&view, compare_record, &walk, &failure));
    assert_int_equal(walk.begin, 0);
    assert_int_equal(idxi_pending_count_records(&view), 0);
    assert_int_equal(idxi_pending_get_bytes(NULL), 0);
}

/* Fingerprints that differ in the same places of both halves are the same when they are folded. */
static void test_folded(void **state) {
    (void)state;
    const uint64_t query = mix(1);
    struct idxf_record_rules rules = {.bits = 64, .id_type = IDXF_ID_NONE};
    struct idxi_pending *pending;
    assert_ok(idxi_pending_new(&pending, &rules, 3, 0, 0, 0, &failure));
    assert_ok(idxi_pending_make_runs(pending, &failure));
    for (uint64_t errors = 1; errors < 16; errors++) {
        struct idxf_record record = {.operation = IDXF_ADD, .fingerprint = query ^ errors ^ errors << 32};
        assert_ok(idxi_pending_append_record(&pending, &record, NULL, &failure));
    }
    struct idxi_pending_view view = {pending, 0, 15, 0};
    for (unsigned distance = 0; distance <= 3; distance++) {
        struct found found = {.queries = {query}};
        idxi_pending_find_near(&view, distance, found.queries, 0, 1, note, &found);
        assert_int_equal(found.visits, distance < 2 ? 0 : 4);
    }
    idxi_pending_release(pending);
}

/* Each record is found as soon as it is appended: the last one that comes into runs, and the first ones behind them. */
static void test_behind_runs(void **state) {
    (void)state;
    struct idxf_record_rules rules = {.bits = 64, .id_type = IDXF_ID_NONE};
    struct idxi_pending *pending;
    assert_ok(idxi_pending_new(&pending, &rules, 3, 7, 5, 0, &failure));
    for (uint64_t count = 1; count <= 2000; count++) {
        struct idxf_record record = {.operation = IDXF_ADD, .fingerprint = mix(count)};
        assert_ok(idxi_pending_append_record(&pending, &record, NULL, &failure));
        if (count < 5) continue;
        assert_ok(idxi_pending_make_runs(pending, &failure));
        struct idxi_pending_view view = {pending, 7, 7 + count, 0};
        for (uint64_t i = count - 4; i <= count; i++) {
            struct found found = {.queries = {mix(i) ^ 1}};
            idxi_pending_find_near(&view, 1, found.queries, 0, 1, note, &found);
            assert_int_equal(found.visits, 1);
        }
    }
    idxi_pending_release(pending);
}

static void test_ways_to_scan(void **state) {
    (void)state;
    idxi_pending_scan *scans[IDXI_PENDING_SCANS];
    size_t ways = idxi_pending_list_scans(scans);
    uint32_t folded[64], query = (uint32_t)mix(1);
    for (size_t count = 0; count <= 64; count++) {
        uint32_t *exactly = malloc(count * sizeof *exactly + (count == 0));
        uint64_t expected[4] = {0};
        assert_non_null(exactly);
        for (size_t i = 0; i < count; i++) {
            unsigned distance = (unsigned)(mix(i + count) % 4);
            folded[i] = query;
            for (unsigned bit = 0; bit < distance; bit++) folded[i] ^= UINT32_C(1) << (mix(i) + 11 * bit) % 32;
            for (unsigned most = distance; most < 4; most++) expected[most] |= UINT64_C(1) << i;
        }
        memcpy(exactly, folded, count * sizeof *exactly);
        for (size_t way = 0; way < ways; way++)
            for (unsigned most = 0; most < 4; most++)
                assert_int_equal(scans[way](exactly, count, query, most), expected[most]);
        free(exactly);
    }
}

/* ---- Threads ---- */

/* What the threads share: one appends, the others look up in what there is, and count what is wrong. */
struct race {
    struct trial trial;
    pthread_mutex_t mutex; /* over the pointer */
    struct idxi_pending *pending;
    atomic_bool done;
    atomic_size_t failures;
    atomic_size_t rounds;
};

struct counted {
    uint64_t sum;
};

static bool add_up(void *context, size_t query, uint64_t fingerprint) {
    ((struct counted *)context)->sum += (mix(fingerprint) | 1) * (query + 1);
    return true;
}

/* The same view must give the same, now and when more has come. */
static uint64_t sum_up(const struct race *race, const struct idxi_pending_view *view, uint64_t seed) {
    struct counted counted = {0};
    uint64_t queries[QUERIES];
    for (size_t i = 0; i < QUERIES; i++) {
        struct idxi_pending_cursor cursor;
        const uint8_t *id;
        size_t id_size;
        uint64_t fingerprint;
        queries[i] = draw_fingerprint(&race->trial, mix(seed + i));
        const struct idxf_record *record = &race->trial.records[(seed + i) % race->trial.count];
        idxi_pending_seek_fingerprint(view, record->fingerprint, &cursor);
        while (idxi_pending_next_document(&cursor, &id, &id_size)) counted.sum = mix(counted.sum + id_size);
        idxi_pending_seek_id(view, record->id, record->id_size, &cursor);
        while (idxi_pending_next_fingerprint(&cursor, &fingerprint)) counted.sum = mix(counted.sum + fingerprint);
        counted.sum += idxi_pending_get_removal_kind(view, record->fingerprint);
        counted.sum += idxi_pending_removes_document(view, record->fingerprint, record->id, record->id_size);
    }
    idxi_pending_find_near(view, race->trial.k, queries, 0, QUERIES, add_up, &counted);
    return counted.sum;
}

static void *look_up(void *context) {
    struct race *race = context;
    for (uint64_t round = 0; !atomic_load(&race->done); round++) {
        pthread_mutex_lock(&race->mutex);
        idxi_pending_hold(race->pending);
        struct idxi_pending_view view = {race->pending, race->trial.after,
                                         idxi_pending_get_last_sequence(race->pending), 0};
        pthread_mutex_unlock(&race->mutex);
        uint64_t first = sum_up(race, &view, round), again;
        for (int i = 0; i < 3; i++) {
            again = sum_up(race, &view, round);
            race->failures += first != again;
        }
        race->rounds++;
        idxi_pending_release(view.records);
    }
    return NULL;
}

static void test_threads(void **state) {
    (void)state;
    enum { THREADS = 3 };
    static struct race race;
    pthread_t threads[THREADS];
    memset(&race, 0, sizeof race);
    race.trial = make_trial(IDXF_ID_TEXT, 64, 3, 300, 500, scale(100000));
    assert_ok(idxi_pending_new(&race.pending, &race.trial.rules, 3, race.trial.after, 0, 0, &failure));
    assert_ok(idxi_pending_make_runs(race.pending, &failure));
    pthread_mutex_init(&race.mutex, NULL);
    for (size_t i = 0; i < THREADS; i++) assert_int_equal(pthread_create(&threads[i], NULL, look_up, &race), 0);
    for (size_t i = 0; i < race.trial.count; i++) {
        /* Most are appended beside the threads; another one takes the place of those that are full under the mutex. */
        struct idxi_pending *newest = race.pending;
        idxi_pending_hold(newest);
        assert_ok(idxi_pending_append_record(&newest, &race.trial.records[i], NULL, &failure));
        if (newest != race.pending) {
            pthread_mutex_lock(&race.mutex);
            idxi_pending_release(race.pending);
            race.pending = newest;
            pthread_mutex_unlock(&race.mutex);
        } else {
            idxi_pending_release(newest);
        }
    }
    while (atomic_load(&race.rounds) < THREADS) continue;
    race.done = true;
    for (size_t i = 0; i < THREADS; i++) pthread_join(threads[i], NULL);
    idxi_pending_release(race.pending);
    assert_int_equal(race.failures, 0);
    free_trial(&race.trial);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_all_id_types), cmocka_unit_test(test_all_k),        cmocka_unit_test(test_bits),
        cmocka_unit_test(test_growth),       cmocka_unit_test(test_nothing),      cmocka_unit_test(test_folded),
        cmocka_unit_test(test_behind_runs),  cmocka_unit_test(test_ways_to_scan), cmocka_unit_test(test_threads),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
