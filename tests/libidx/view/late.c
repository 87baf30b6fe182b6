/* late.c: a thread that is late: it has read a manifest, and is held while an index changes, and while another thread
 * refreshes a view that shares its records. Threads are held before they take a lock of libidx, since what views share
 * is behind locks: one of them at each lock in turn, and then at each later one; the other one at each lock, too.
 * Nothing fails, and each view has whole calls, all that were acknowledged before it was asked for. */
#include <pthread.h>
#include <string.h>

#include "tests/libidx/sets.h"
#include "tests/libidx/support.h"

#define BASE 20 /* documents of a build */
#define CALL 5  /* documents of a call */

/* ---- Threads that are held ---- */

/* A thread that refreshes a view, or asks whether it is replaced. */
struct reader {
    const struct idx_index *view;
    bool asks;
    uint64_t least; /* documents that had been acknowledged before it began */
    struct idx_index *newer;
    enum idx_status status;
    struct idx_error error;
    pthread_t thread;
    size_t locks;   /* that it has asked for */
    size_t hold_at; /* the one before which it stops; SIZE_MAX: none */
    bool held, ended;
};

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER; /* over the last four of each reader */
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static __thread struct reader *reader; /* that of this thread, or NULL */
static __thread size_t depth;          /* locks that this thread has */

int __real_pthread_mutex_lock(pthread_mutex_t *lock);
int __wrap_pthread_mutex_lock(pthread_mutex_t *lock);
int __real_pthread_mutex_unlock(pthread_mutex_t *lock);
int __wrap_pthread_mutex_unlock(pthread_mutex_t *lock);

static void hold(void) {
    __real_pthread_mutex_lock(&mutex);
    reader->held = reader->locks++ == reader->hold_at;
    pthread_cond_broadcast(&changed);
    while (reader->held) pthread_cond_wait(&changed, &mutex);
    __real_pthread_mutex_unlock(&mutex);
}

int __wrap_pthread_mutex_lock(pthread_mutex_t *lock) {
    if (reader != NULL && depth++ == 0) hold();
    return __real_pthread_mutex_lock(lock);
}

int __wrap_pthread_mutex_unlock(pthread_mutex_t *lock) {
    depth -= reader != NULL;
    return __real_pthread_mutex_unlock(lock);
}

static void *read_newer(void *context) {
    bool replaced;
    reader = context;
    reader->status = reader->asks ? idx_replaced(reader->view, &replaced, &reader->error)
                                  : idx_refresh(reader->view, &reader->newer, &reader->error);
    __real_pthread_mutex_lock(&mutex);
    reader->ended = true;
    pthread_cond_broadcast(&changed);
    __real_pthread_mutex_unlock(&mutex);
    return NULL;
}

/* Lets a reader go on to a lock, counted from 0, or to its end. Returns whether it was held there. */
static bool go_on(struct reader *other, size_t lock) {
    __real_pthread_mutex_lock(&mutex);
    other->hold_at = lock;
    other->held = false;
    pthread_cond_broadcast(&changed);
    while (!other->held && !other->ended) pthread_cond_wait(&changed, &mutex);
    bool held = other->held;
    __real_pthread_mutex_unlock(&mutex);
    return held;
}

/* Begins a reader, and lets it go on to a lock. */
static bool begin(struct reader *other, size_t lock) {
    other->hold_at = lock;
    assert_int_equal(pthread_create(&other->thread, NULL, read_newer, other), 0);
    __real_pthread_mutex_lock(&mutex);
    while (!other->held && !other->ended) pthread_cond_wait(&changed, &mutex);
    bool held = other->held;
    __real_pthread_mutex_unlock(&mutex);
    return held;
}

/* ---- The index ---- */

struct index {
    const char *path;
    uint64_t documents, most;  /* that it has, and that it has ever had */
    struct idx_writer *writer; /* open throughout, or NULL */
};

static uint64_t fingerprint_of(uint64_t number) {
    uint64_t seed = number;
    return next_random(&seed);
}

static void build(struct index *index, bool replace) {
    uint64_t fingerprints[BASE];
    struct idx_build_options options = options_for(64, 1, "2:1");
    options.id_type = IDX_ID_U64;
    options.replace = replace;
    for (uint64_t i = 0; i < BASE; i++) fingerprints[i] = fingerprint_of(i);
    build_index(index->path, &options, fingerprints, BASE);
    index->documents = BASE;
}

static void act_add(struct index *index) {
    struct idx_writer *writer = index->writer == NULL ? open_simple_writer(index->path) : index->writer;
    struct idx_item items[CALL];
    for (size_t i = 0; i < CALL; i++, index->documents++)
        items[i] = (struct idx_item){.fingerprint = fingerprint_of(index->documents), .number = index->documents};
    assert_ok(idx_writer_add(writer, items, CALL, &failure));
    if (index->documents > index->most) index->most = index->documents;
    if (index->writer == NULL) idx_writer_close(writer);
}

/* Without a writer, the log goes with what is compacted; the writer replaces it when it next adds. */
static void act_compact(struct index *index) {
    struct idx_compact_options options = IDX_COMPACT_OPTIONS_INIT;
    options.growth = 0;
    assert_ok(idx_compact(index->path, &options, NULL, &failure));
}

static void act_rebuild(struct index *index) { build(index, true); }

static void check_view(const struct idx_index *view, uint64_t least, uint64_t most) {
    struct idx_properties properties;
    struct idx_documents *documents;
    idx_get_properties(view, &properties);
    uint64_t count = properties.documents + properties.pending_documents;
    assert_in_range(count, least, most);
    assert_int_equal((count - BASE) % CALL, 0);
    assert_ok(idx_documents_open(&documents, view, &failure));
    for (uint64_t i = 0; i <= count; i++) {
        uint64_t found;
        bool exists;
        assert_ok(idx_exists(view, fingerprint_of(i), 0, &exists, &failure));
        assert_int_equal(exists, i < count);
        if (!exists) continue;
        assert_ok(idx_documents_find(documents, fingerprint_of(i), &found, &failure));
        assert_int_equal(found, 1);
    }
    idx_documents_close(documents);
}

/* ---- A late reader, and one that overtakes it ---- */

struct schedule {
    void (*act)(struct index *index);
    bool beside;                 /* a writer is open throughout */
    bool asks;                   /* the late reader asks whether its view is replaced, and does not refresh it */
    bool same;                   /* the other reader has the same view, and not a newer one */
    size_t first, second, other; /* the locks at which the late reader is held, and then the other one */
};

static struct idx_index *refresh(const struct idx_index *view) {
    struct idx_index *newer;
    assert_ok(idx_refresh(view, &newer, &failure));
    assert_non_null(newer);
    return newer;
}

/* What a reader has found once it has ended; then its newest view has all. */
static void check_reader(struct reader *other, const struct index *index) {
    struct idx_index *newest;
    assert_int_equal(pthread_join(other->thread, NULL), 0);
    failure = other->error;
    assert_status(IDX_OK, other->status);
    if (other->newer != NULL) check_view(other->newer, other->least, index->most);
    const struct idx_index *last = other->newer == NULL ? other->view : other->newer;
    assert_ok(idx_refresh(last, &newest, &failure));
    check_view(newest == NULL ? last : newest, index->documents, index->documents);
    idx_close(newest);
    idx_close(other->newer);
}

/* Which of the readers were held where the schedule says. */
struct held {
    bool first, second, other;
};

static struct held play(const char *folder, const struct schedule *schedule) {
    struct index index = {.path = path_in(folder, "x.idx")};
    struct held held;
    build(&index, false);
    if (schedule->beside) index.writer = open_simple_writer(index.path);
    act_add(&index);
    struct idx_index *elder = open_index(index.path, IDX_RESIDENCE_NONE);
    schedule->act(&index);
    struct idx_index *view = refresh(elder), *newer = NULL;
    act_add(&index);
    struct reader late = {.view = view, .asks = schedule->asks, .least = index.documents};
    held.first = begin(&late, schedule->first);
    struct idx_index *reread = refresh(view); /* so that records which are compacted next are in memory */
    schedule->act(&index);
    act_add(&index);
    if (!schedule->same) newer = refresh(reread);
    schedule->act(&index);
    act_add(&index);
    struct reader other = {.view = schedule->same ? view : newer, .least = index.documents};
    if (schedule->act == act_rebuild) late.least = other.least = BASE;
    held.other = begin(&other, schedule->other);
    held.second = go_on(&late, schedule->second);
    go_on(&other, SIZE_MAX);
    go_on(&late, SIZE_MAX);
    check_reader(&other, &index);
    check_reader(&late, &index);
    idx_close(newer);
    idx_close(reread);
    idx_close(view);
    idx_close(elder);
    idx_writer_close(index.writer);
    remove_all(index.path);
    return held;
}

/* Holds the readers at all locks that they ask for. */
static void play_all(const char *folder, struct schedule schedule) {
    struct held held = {.first = true};
    size_t schedules = 0;
    for (schedule.first = 0; held.first; schedule.first++) {
        held.second = true;
        for (schedule.second = schedule.first + 1; held.first && held.second; schedule.second++) {
            held.other = true;
            for (schedule.other = 0; held.other; schedule.other++, schedules++) held = play(folder, &schedule);
        }
    }
    assert_in_range(schedules, 5, 1000);
}

/* All schedules of one act. */
static void check_late(const char *folder, void (*act)(struct index *index), bool beside) {
    for (unsigned i = 0; i < 4; i++)
        play_all(folder, (struct schedule){.act = act, .beside = beside, .asks = i % 2 == 1, .same = i / 2 == 1});
}

static void test_add(void **state) { check_late(*state, act_add, false); }
static void test_add_beside(void **state) { check_late(*state, act_add, true); }
static void test_compact(void **state) { check_late(*state, act_compact, false); }
static void test_compact_beside(void **state) { check_late(*state, act_compact, true); }
static void test_rebuild(void **state) { check_late(*state, act_rebuild, false); }

int main(void) {
    const struct CMUnitTest tests[] = {in_folder(test_add), in_folder(test_add_beside), in_folder(test_compact),
                                       in_folder(test_compact_beside), in_folder(test_rebuild)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
