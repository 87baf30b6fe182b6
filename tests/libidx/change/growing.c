/* growing.c: an index that grows, compared with a plain list of documents after every step: random sequences of adding,
 * checking and adding, removing, compacting, closing and opening, and killing. The writer is a process of its own, and
 * so is who compacts, beside it: both get killed. The readers are here: views of any age, each of which must keep
 * telling what it told. After a kill all that was acknowledged is there, and of the call that was under way all or
 * nothing.
 *
 *   growing [SEED [STEPS]]
 *
 * runs so many steps, by default a number that is the same in the suite each time. */
#include <inttypes.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "tests/libidx/model.h"
#include "tests/libidx/sets.h"
#include "tests/libidx/support.h"

#define DEFAULT_SEED 1
#define DEFAULT_STEPS 20000
#define STEPS_OF_AN_INDEX 1000
#define ENOUGH 1200 /* documents: from there on removals come more often than additions */
#define BATCH 24    /* documents of a call, at most */
#define SHOWN 4     /* matches of each that the writer stores */
#define POOL 300    /* fingerprints that come up often, near each other */
#define IDS 200     /* IDs that come up often */
#define VIEWS 4

static const char *path, *scratch; /* of the index at hand, and of one to compare it with */
static pid_t compactor;            /* a process that compacts; 0: none */
static uint64_t seed, first_seed;
static size_t step, steps = DEFAULT_STEPS;

static uint64_t below(uint64_t bound) { return next_random(&seed) % bound; }

static const struct make makes[] = {
    {64, 3, "4", IDX_ID_TEXT, true},    {64, 3, "2:1:1", IDX_ID_U64, true}, {32, 2, "auto", IDX_ID_TEXT, false},
    {20, 1, "auto", IDX_ID_U64, true},  {40, 3, "4", IDX_ID_NONE, false},   {16, 2, "1:1:2", IDX_ID_TEXT, true},
    {64, 0, "auto", IDX_ID_U64, false},
};

static struct make make; /* of the index at hand */
static uint64_t pool[POOL];

/* ---- The model ---- */

/* Whether one of the first `end` documents has a fingerprint. */
static bool has_fingerprint(const struct model *model, size_t end, uint64_t fingerprint) {
    for (size_t i = 0; i < end; i++) {
        if (model->documents[i].fingerprint == fingerprint) return true;
    }
    return false;
}

/* The distinct fingerprints within a distance, as idx_lookup orders them. */
static size_t model_scan(const struct model *model, uint64_t query, unsigned distance, struct idx_match *matches) {
    size_t count = 0;
    for (size_t i = 0; i < model->count; i++) {
        uint64_t fingerprint = model->documents[i].fingerprint;
        if (idx_distance(query, fingerprint) > distance || has_fingerprint(model, i, fingerprint)) continue;
        matches[count++] = (struct idx_match){fingerprint, idx_distance(query, fingerprint)};
    }
    sort_matches(matches, count);
    return count;
}

static uint64_t read_id(const struct idx_document *document) {
    char text[LONGEST_ID] = "", again[LONGEST_ID];
    if (make.id_type == IDX_ID_U64) return document->number;
    assert_true(document->id_length < sizeof text);
    if (document->id_length == 0) return 0;
    memcpy(text, document->id, document->id_length);
    uint64_t id = strtoull(text, NULL, 10);
    assert_int_equal(write_text_id(again, id), document->id_length);
    assert_memory_equal(text, again, document->id_length);
    return id;
}

/* ---- Building ---- */

static void build_at(const char *place, const struct model *model) {
    struct idx_builder *builder = model_begin_build(place, &make);
    model_give(model, &make, builder);
    assert_ok(idx_builder_finish(builder, NULL, &failure));
    idx_builder_close(builder);
}

/* ---- What is asked of the writer, and what it answers ---- */

enum operation {
    OPERATION_ADD,
    OPERATION_CHECK_AND_ADD,
    OPERATION_REMOVE,
    OPERATION_REMOVE_FINGERPRINTS,
    OPERATION_REMOVE_IDS,
    OPERATION_REOPEN,
    OPERATION_CLOSE, /* the process ends */
};

struct request {
    enum operation operation;
    unsigned distance;
    size_t count;
    struct document documents[BATCH];
};

struct reply {
    enum idx_status status;
    char sentence[512];
    struct idx_removal removal;
    size_t counts[BATCH];
    struct idx_match matches[BATCH * SHOWN];
};

/* What the model answers, which is changed by it. */
static void model_answer(struct model *model, const struct request *request, struct reply *reply) {
    static struct idx_match found[ROOM];
    memset(reply, 0, sizeof *reply);
    for (size_t i = 0; i < request->count; i++) {
        const struct document *document = &request->documents[i];
        size_t removed = 0;
        switch (request->operation) {
            case OPERATION_ADD: model_add(model, &make, document); continue;
            case OPERATION_CHECK_AND_ADD:
                reply->counts[i] = model_scan(model, document->fingerprint, request->distance, found);
                for (size_t j = 0; j < reply->counts[i] && j < SHOWN; j++) reply->matches[i * SHOWN + j] = found[j];
                if (reply->counts[i] == 0) model_add(model, &make, document);
                continue;
            case OPERATION_REMOVE: removed = model_remove(model, &document->fingerprint, &document->id); break;
            case OPERATION_REMOVE_FINGERPRINTS: removed = model_remove(model, &document->fingerprint, NULL); break;
            case OPERATION_REMOVE_IDS: removed = model_remove(model, NULL, &document->id); break;
            default: continue;
        }
        reply->removal.documents += removed;
        reply->removal.missing += removed == 0;
    }
}

static void assert_reply(const struct request *request, const struct reply *reply, const struct reply *expected) {
    if (reply->status != IDX_OK) fail_msg("the writer: operation %d: %s", request->operation, reply->sentence);
    assert_int_equal(reply->removal.documents, expected->removal.documents);
    assert_int_equal(reply->removal.missing, expected->removal.missing);
    if (request->operation != OPERATION_CHECK_AND_ADD) return;
    for (size_t i = 0; i < request->count; i++) {
        assert_int_equal(reply->counts[i], expected->counts[i]);
        for (size_t j = i * SHOWN; j < i * SHOWN + SHOWN && j - i * SHOWN < reply->counts[i]; j++) {
            assert_true(reply->matches[j].fingerprint == expected->matches[j].fingerprint);
            assert_int_equal(reply->matches[j].distance, expected->matches[j].distance);
        }
    }
}

/* ---- The writer: a process of its own, without assertions ---- */

static bool transfer(int descriptor, void *bytes, size_t size, bool writes) {
    for (char *at = bytes; size > 0;) {
        ssize_t some = writes ? write(descriptor, at, size) : read(descriptor, at, size);
        if (some <= 0) return false;
        at += some;
        size -= (size_t)some;
    }
    return true;
}

static enum idx_status call_writer(struct idx_writer *writer, const struct request *request, struct reply *reply,
                                   struct idx_error *error) {
    struct idx_item items[BATCH];
    char texts[BATCH][LONGEST_ID];
    uint64_t fingerprints[BATCH];
    for (size_t i = 0; i < request->count; i++) {
        fingerprints[i] = request->documents[i].fingerprint;
        items[i] = item_of(&request->documents[i], texts[i]);
    }
    leave_out_ids(writer, items, request->count);
    switch (request->operation) {
        case OPERATION_ADD: return idx_writer_add(writer, items, request->count, error);
        case OPERATION_CHECK_AND_ADD:
            return check_and_add(writer, items, request->count, request->distance, reply->matches, SHOWN, reply->counts,
                                 error);
        case OPERATION_REMOVE:
            return idx_writer_remove(writer, IDX_REMOVE_DOCUMENTS, items, request->count, &reply->removal, error);
        case OPERATION_REMOVE_FINGERPRINTS:
            return remove_by_fingerprint(writer, fingerprints, request->count, &reply->removal, error);
        case OPERATION_REMOVE_IDS:
            return idx_writer_remove(writer, IDX_REMOVE_IDS, items, request->count, &reply->removal, error);
        default: return IDX_OK;
    }
}

/* A compaction has the writer's lock for a moment, when it trims the log. */
static enum idx_status open_writer(struct idx_writer **writer, struct idx_error *error) {
    struct timespec pause = {0, 1000000};
    enum idx_status status = idx_writer_open(writer, path, NULL, error);
    for (size_t i = 0; i < 10000 && status == IDX_BUSY; i++) {
        nanosleep(&pause, NULL);
        status = idx_writer_open(writer, path, NULL, error);
    }
    return status;
}

/* Answers requests until it is to close. Returns what the process ends with. */
static int serve(int in, int out) {
    static struct request request;
    static struct reply reply;
    struct idx_writer *writer = NULL;
    struct idx_error error;
    for (;;) {
        memset(&reply, 0, sizeof reply);
        error.sentence[0] = '\0';
        reply.status = writer == NULL ? open_writer(&writer, &error) : IDX_OK;
        if (!transfer(in, &request, sizeof request, false)) return 1;
        if (request.operation == OPERATION_CLOSE) break;
        if (request.operation == OPERATION_REOPEN) {
            idx_writer_close(writer);
            writer = NULL;
            reply.status = open_writer(&writer, &error);
        }
        if (reply.status == IDX_OK) reply.status = call_writer(writer, &request, &reply, &error);
        memcpy(reply.sentence, error.sentence, sizeof reply.sentence - 1);
        if (!transfer(out, &reply, sizeof reply, true)) return 1;
    }
    idx_writer_close(writer);
    return 0;
}

static struct {
    pid_t process;
    int to, from; /* descriptors */
} writer;

static void start_writer(void) {
    int to[2], from[2];
    assert_int_equal(pipe(to), 0);
    assert_int_equal(pipe(from), 0);
    writer.process = fork();
    assert_true(writer.process >= 0);
    if (writer.process == 0) {
        close(to[1]);
        close(from[0]);
        _exit(serve(to[0], from[1]));
    }
    close(to[0]);
    close(from[1]);
    writer.to = to[1];
    writer.from = from[0];
}

/* Waits for its end, and returns how it ended, as waitpid tells. */
static int end_writer(void) {
    int status;
    assert_int_equal(waitpid(writer.process, &status, 0), writer.process);
    close(writer.to);
    close(writer.from);
    return status;
}

static void stop_writer(void) {
    static struct request request;
    request.operation = OPERATION_CLOSE;
    assert_true(transfer(writer.to, &request, sizeof request, true));
    assert_int_equal(end_writer(), 0);
}

/* ---- Comparing all of it ---- */

struct state {
    size_t count;
    struct line {
        uint64_t fingerprint, order, id;
    } lines[ROOM];
};

static int compare_lines(const void *a, const void *b) {
    const struct line *one = a, *other = b;
    if (one->fingerprint != other->fingerprint) return one->fingerprint < other->fingerprint ? -1 : 1;
    return (one->order > other->order) - (one->order < other->order);
}

static void model_state(const struct model *model, struct state *state) {
    state->count = model->count;
    for (size_t i = 0; i < model->count; i++) {
        const struct document *document = &model->documents[i];
        uint64_t order = make.id_type == IDX_ID_TEXT ? i : document->id;
        state->lines[i] = (struct line){document->fingerprint, order, document->id};
    }
    qsort(state->lines, state->count, sizeof *state->lines, compare_lines);
}

static bool take_line(void *context, const struct idx_match *match) {
    struct state *state = context;
    if (state->count == ROOM) return false;
    state->lines[state->count++] = (struct line){match->fingerprint, state->count, 0};
    return true;
}

/* A fingerprint's documents, in the order in which they come. */
static void add_documents(struct idx_documents *cursor, uint64_t fingerprint, struct state *state) {
    struct idx_document document;
    uint64_t count;
    size_t given = 0;
    bool found;
    assert_ok(idx_documents_find(cursor, fingerprint, &count, &failure));
    for (;; given++) {
        assert_ok(idx_documents_next(cursor, &document, &found, &failure));
        if (!found) break;
        assert_true(state->count < ROOM);
        state->lines[state->count++] = (struct line){fingerprint, state->count, read_id(&document)};
    }
    assert_true(make.id_type == IDX_ID_U64 ? count >= given : count == given);
    if (make.id_type != IDX_ID_NONE) assert_true(given > 0);
}

static void index_state(const struct idx_index *index, struct state *state) {
    static struct state all;
    struct idx_documents *cursor;
    all.count = state->count = 0;
    assert_ok(idx_visit_all(index, take_line, &all, &failure));
    assert_true(all.count < ROOM);
    assert_ok(idx_documents_open(&cursor, index, &failure));
    for (size_t i = 0; i < all.count; i++) {
        if (make.id_type == IDX_ID_NONE)
            state->lines[state->count++] = all.lines[i];
        else
            add_documents(cursor, all.lines[i].fingerprint, state);
    }
    idx_documents_close(cursor);
    qsort(state->lines, state->count, sizeof *state->lines, compare_lines);
}

static bool is_same(const struct idx_index *index, const struct model *model) {
    static struct state found, expected;
    index_state(index, &found);
    model_state(model, &expected);
    if (found.count != expected.count) return false;
    for (size_t i = 0; i < found.count; i++) {
        if (found.lines[i].fingerprint != expected.lines[i].fingerprint || found.lines[i].id != expected.lines[i].id)
            return false;
    }
    return true;
}

/* ---- Comparing answers ---- */

static uint64_t choose_fingerprint(const struct model *model) {
    uint64_t kind = below(10);
    if (kind == 0) return next_random(&seed) & all_ones(make.bits);
    if (kind < 4 && model->count > 0) return model->documents[below(model->count)].fingerprint;
    return pool[below(POOL)];
}

static void check_query(const struct model *model, const struct idx_index *index) {
    static struct idx_match expected[ROOM], found[ROOM];
    unsigned turned = (unsigned)below(make.k + 2), distance = (unsigned)below(make.k + 1);
    uint64_t query = flip_bits(choose_fingerprint(model), make.bits, turned, &seed);
    size_t count = model_scan(model, query, distance, expected), found_count;
    bool exists;
    assert_ok(idx_lookup(index, query, distance, found, ROOM, &found_count, &failure));
    assert_int_equal(found_count, count);
    for (size_t i = 0; i < count; i++) {
        assert_true(found[i].fingerprint == expected[i].fingerprint);
        assert_int_equal(found[i].distance, expected[i].distance);
    }
    assert_ok(idx_exists(index, query, distance, &exists, &failure));
    assert_int_equal(exists, count > 0);
}

#define MANY 20

static void check_many(const struct model *model, const struct idx_index *index) {
    static struct idx_match expected[ROOM], found[MANY];
    uint64_t queries[MANY];
    size_t counts[MANY];
    for (size_t i = 0; i < MANY; i++) queries[i] = choose_fingerprint(model);
    assert_ok(look_up_many(index, queries, MANY, make.k, 1, found, 1, counts, &failure));
    for (size_t i = 0; i < MANY; i++) {
        assert_int_equal(counts[i], model_scan(model, queries[i], make.k, expected));
        if (counts[i] > 0) assert_true(found[i].fingerprint == expected[0].fingerprint);
    }
}

static void check_id(const struct model *model, const struct idx_index *index) {
    uint64_t expected[ROOM], found[ROOM], id = below(IDS);
    size_t count = 0, found_count, length;
    char text[LONGEST_ID];
    for (size_t i = 0; i < model->count; i++) {
        bool again = false;
        if (model->documents[i].id != id) continue;
        for (size_t j = 0; j < count; j++) again |= expected[j] == model->documents[i].fingerprint;
        if (!again) expected[count++] = model->documents[i].fingerprint;
    }
    qsort(expected, count, sizeof *expected, compare_numbers);
    length = write_text_id(text, id);
    if (make.id_type == IDX_ID_U64)
        assert_ok(idx_find_id(index, &(struct idx_item){.number = id}, found, ROOM, &found_count, &failure));
    else
        assert_ok(idx_find_id(index, &(struct idx_item){.id = text, .id_length = length}, found, ROOM, &found_count,
                              &failure));
    assert_int_equal(found_count, count);
    assert_memory_equal(found, expected, count * sizeof *found);
}

/* ---- Comparing what goes through all of it ---- */

#define PAIRS 100000

struct pairs {
    size_t count;
    struct idx_pair pairs[PAIRS];
};

static bool take_pairs(void *context, const struct idx_pair *pairs, size_t count) {
    struct pairs *taken = context;
    if (taken->count + count > PAIRS) return false;
    memcpy(taken->pairs + taken->count, pairs, count * sizeof *pairs);
    taken->count += count;
    return true;
}

static int compare_pairs(const void *a, const void *b) {
    const struct idx_pair *one = a, *other = b;
    if (one->a != other->a) return one->a < other->a ? -1 : 1;
    return (one->b > other->b) - (one->b < other->b);
}

/* The distinct fingerprints, ascending. */
static size_t model_distinct(const struct model *model, uint64_t *distinct) {
    size_t count = 0;
    for (size_t i = 0; i < model->count; i++) distinct[i] = model->documents[i].fingerprint;
    qsort(distinct, model->count, sizeof *distinct, compare_numbers);
    for (size_t i = 0; i < model->count; i++) {
        if (i == 0 || distinct[i] != distinct[count - 1]) distinct[count++] = distinct[i];
    }
    return count;
}

/* Pairs of fingerprints of two models; of one and the same, those of different ones, once. In order. */
static void model_pairs(const struct model *a, const struct model *b, unsigned distance, struct pairs *pairs) {
    static uint64_t of_a[ROOM], of_b[ROOM];
    size_t a_count = model_distinct(a, of_a), b_count = model_distinct(b, of_b);
    pairs->count = 0;
    for (size_t i = 0; i < a_count; i++) {
        for (size_t j = a == b ? i + 1 : 0; j < b_count; j++) {
            unsigned found = idx_distance(of_a[i], of_b[j]);
            if (found > distance || pairs->count == PAIRS) continue;
            pairs->pairs[pairs->count++] = (struct idx_pair){of_a[i], of_b[j], found};
        }
    }
}

static void assert_pairs(struct pairs *found, const struct pairs *expected) {
    if (expected->count == PAIRS) return;
    assert_int_equal(found->count, expected->count);
    qsort(found->pairs, found->count, sizeof *found->pairs, compare_pairs);
    for (size_t i = 0; i < found->count; i++) {
        assert_int_equal(compare_pairs(&found->pairs[i], &expected->pairs[i]), 0);
        assert_int_equal(found->pairs[i].distance, expected->pairs[i].distance);
    }
}

/* Pairs are found by tables and by arrays in turn, where both ways are possible. */
static double cost_of_arrays;
double __wrap_idxi_estimate_arrays_time(unsigned distance, unsigned bits, uint64_t a, uint64_t b);
double __wrap_idxi_estimate_arrays_time(unsigned distance, unsigned bits, uint64_t a, uint64_t b) {
    (void)distance, (void)bits, (void)a, (void)b;
    return cost_of_arrays;
}

/* Within the k of the index, or farther. */
static unsigned choose_distance(void) {
    cost_of_arrays = below(2) == 0 ? 0 : HUGE_VAL;
    return (unsigned)below(below(2) == 0 ? make.k + 1 : IDX_MAX_K + 1);
}

/* All pairs of an index, or where there are two, of both. */
static void check_pairs(const struct model *model, const struct idx_index *index, const struct model *other_model,
                        const struct idx_index *other) {
    static struct pairs found, expected;
    struct idx_join_options options = IDX_JOIN_OPTIONS_INIT;
    options.distance = choose_distance();
    options.threads = 1 + (unsigned)below(2);
    options.memory_bytes = (uint64_t)16 << 20;
    found.count = 0;
    if (other == NULL)
        assert_ok(idx_pairs(index, &options, take_pairs, &found, &failure));
    else
        assert_ok(idx_join(index, other, &options, take_pairs, &found, &failure));
    model_pairs(model, other == NULL ? model : other_model, options.distance, &expected);
    assert_pairs(&found, &expected);
}

#define BATCHED 200

struct batched {
    size_t counts[BATCHED];
    struct idx_match nearest[BATCHED];
};

static bool take_batched(void *context, size_t query, const struct idx_match *matches, size_t count) {
    struct batched *batched = context;
    if (count > 0 && batched->counts[query] == 0) batched->nearest[query] = matches[0];
    batched->counts[query] += count;
    return true;
}

/* Many queries at once, in each way. */
static void check_batch(const struct model *model, const struct idx_index *index) {
    static struct batched batched;
    static struct idx_match expected[ROOM];
    uint64_t queries[BATCHED];
    struct idx_batch_options options = IDX_BATCH_OPTIONS_INIT;
    options.method = (enum idx_batch_method)below(4);
    options.memory_bytes = (uint64_t)16 << 20;
    for (size_t i = 0; i < BATCHED; i++) queries[i] = choose_fingerprint(model);
    memset(&batched, 0, sizeof batched);
    assert_ok(idx_batch(index, queries, BATCHED, &options, take_batched, &batched, &failure));
    for (size_t i = 0; i < BATCHED; i++) {
        assert_int_equal(batched.counts[i], model_scan(model, queries[i], make.k, expected));
        if (batched.counts[i] > 0) assert_true(batched.nearest[i].fingerprint == expected[0].fingerprint);
    }
}

struct clusters {
    size_t count;
    struct member {
        uint64_t cluster, fingerprint, id, representative_fingerprint, representative, distance, is_representative;
    } members[ROOM];
};

static bool take_member(void *context, const struct idx_cluster_member *member) {
    struct clusters *clusters = context;
    if (clusters->count == ROOM) return false;
    clusters->members[clusters->count++] =
        (struct member){.cluster = member->cluster,
                        .fingerprint = member->fingerprint,
                        .id = read_id(&member->document),
                        .representative_fingerprint = member->representative_fingerprint,
                        .representative = read_id(&member->representative),
                        .distance = member->distance,
                        .is_representative = member->is_representative};
    return true;
}

/* The clusters of an index, beside those of one that is built of the documents. */
static void check_clusters(const struct model *model, const struct idx_index *index) {
    static struct clusters found, expected;
    struct idx_cluster_options options = IDX_CLUSTER_OPTIONS_INIT;
    options.distance = choose_distance();
    options.method = (enum idx_cluster_method)below(2);
    options.representative = (enum idx_representative)below(3);
    options.alone = below(2) == 0;
    options.memory_bytes = (uint64_t)16 << 20;
    build_at(scratch, model);
    struct idx_index *built = open_index(scratch, IDX_RESIDENCE_DIRECTORY);
    found.count = expected.count = 0;
    assert_ok(idx_clusters(built, &options, take_member, &expected, NULL, &failure));
    assert_ok(idx_clusters(index, &options, take_member, &found, NULL, &failure));
    idx_close(built);
    assert_int_equal(found.count, expected.count);
    assert_memory_equal(found.members, expected.members, found.count * sizeof *found.members);
}

/* ---- Views, each with the model as it was then ---- */

struct view {
    struct idx_index *index; /* NULL: none */
    struct model model;
};

static struct view views[VIEWS];
static size_t newest;

static void check_view(const struct view *view) {
    if (view->index == NULL) return;
    check_query(&view->model, view->index);
    check_query(&view->model, view->index);
    check_many(&view->model, view->index);
    if (make.by_id) check_id(&view->model, view->index);
}

static void check_whole_view(const struct view *view) {
    const struct view *other = &views[below(VIEWS)];
    if (view->index == NULL) return;
    assert_true(is_same(view->index, &view->model));
    check_batch(&view->model, view->index);
    check_pairs(&view->model, view->index, NULL, NULL);
    check_clusters(&view->model, view->index);
    if (other->index != NULL && other != view) check_pairs(&view->model, view->index, &other->model, other->index);
}

static void put_view(struct idx_index *index, const struct model *model) {
    newest = (newest + 1) % VIEWS;
    idx_close(views[newest].index);
    views[newest].index = index;
    views[newest].model = *model;
}

static void open_view(const struct model *model) {
    struct idx_open_options options = IDX_OPEN_OPTIONS_INIT;
    struct idx_index *index;
    options.residence = (enum idx_residence)below(4);
    assert_ok(idx_open(&index, path, &options, &failure));
    put_view(index, model);
}

/* Brings the newest view up to date, or any of the older ones, or opens the index anew. */
static void refresh(const struct model *model) {
    const struct view *view = &views[(newest + (below(8) == 0 ? 1 : 0)) % VIEWS];
    struct idx_index *newer;
    if (view->index == NULL || below(40) == 0) {
        open_view(model);
        return;
    }
    assert_ok(idx_refresh(view->index, &newer, &failure));
    if (newer != NULL)
        put_view(newer, model);
    else
        assert_true(is_same(view->index, model));
}

static void close_views(void) {
    for (size_t i = 0; i < VIEWS; i++) {
        idx_close(views[i].index);
        views[i].index = NULL;
    }
}

/* ---- Compacting: a process of its own, beside the writer and the views ---- */

/* The writer may be compacting in a thread of its own, which is waited for. */
static int compact(const struct idx_compact_options *options) {
    struct timespec pause = {0, 1000000};
    struct idx_error error;
    enum idx_status status = idx_compact(path, options, NULL, &error);
    for (size_t i = 0; i < 10000 && status == IDX_BUSY; i++) {
        nanosleep(&pause, NULL);
        status = idx_compact(path, options, NULL, &error);
    }
    if (status != IDX_OK) print_error("compacting: %s\n", error.sentence);
    return status == IDX_OK ? 0 : 1;
}

static void start_compacting(const struct idx_compact_options *options) {
    compactor = fork();
    assert_true(compactor >= 0);
    if (compactor == 0) _exit(compact(options));
}

static int end_compacting(void) {
    int status;
    assert_int_equal(waitpid(compactor, &status, 0), compactor);
    compactor = 0;
    return status;
}

static struct idx_compact_options choose_compaction(void) {
    struct idx_compact_options options = IDX_COMPACT_OPTIONS_INIT;
    options.all = below(4) == 0;
    options.max_segments = 1 + (unsigned)below(6);
    options.growth = (unsigned)below(4);
    options.threads = 1 + (unsigned)below(2);
    options.memory_bytes = (uint64_t)64 << 20;
    return options;
}

/* With nobody at work beside it, it leaves nothing pending, and in one segment of all, nothing removed. */
static void compact_alone(const struct model *model) {
    static uint64_t distinct[ROOM];
    struct idx_compact_options options = choose_compaction();
    struct idx_properties properties;
    start_compacting(&options);
    assert_int_equal(end_compacting(), 0);
    open_view(model);
    assert_true(is_same(views[newest].index, model));
    idx_get_properties(views[newest].index, &properties);
    assert_int_equal(properties.pending_documents, 0);
    assert_int_equal(properties.pending_removals, 0);
    assert_true(properties.segments <= options.max_segments);
    if (!options.all) return;
    assert_true(properties.segments <= 1);
    assert_int_equal(properties.removals, 0);
    assert_int_equal(properties.fingerprints, model_distinct(model, distinct));
    assert_int_equal(properties.documents, make.id_type == IDX_ID_NONE ? 0 : model->count);
}

/* Begins to compact, or ends it, by a kill or not. */
static void compact_some(const struct model *model) {
    if (compactor == 0 && below(4) == 0) {
        compact_alone(model);
    } else if (compactor == 0) {
        struct idx_compact_options options = choose_compaction();
        start_compacting(&options);
    } else if (below(2) == 0) {
        kill(compactor, SIGKILL);
        end_compacting();
    } else {
        assert_int_equal(end_compacting(), 0);
    }
}

/* ---- Steps ---- */

static size_t choose_size(void) { return 1 + (size_t)below(below(4) == 0 ? BATCH : 3); }

static enum operation choose_operation(const struct model *model) {
    bool many = model->count > ENOUGH;
    uint64_t kind = below(many ? 160 : 100);
    if (kind < 35) return OPERATION_ADD;
    if (kind < 70) return OPERATION_CHECK_AND_ADD;
    if (kind < 73) return OPERATION_REOPEN;
    if (kind < 85 && make.id_type != IDX_ID_NONE) return OPERATION_REMOVE;
    if (kind < 90 && make.by_id) return OPERATION_REMOVE_IDS;
    return OPERATION_REMOVE_FINGERPRINTS;
}

static void choose_request(const struct model *model, struct request *request) {
    memset(request, 0, sizeof *request);
    request->operation = choose_operation(model);
    request->distance = (unsigned)below(make.k + 1);
    request->count = request->operation == OPERATION_REOPEN ? 0 : choose_size();
    for (size_t i = 0; i < request->count; i++) {
        struct document *document = &request->documents[i];
        if (request->operation == OPERATION_REMOVE && model->count > 0 && below(4) > 0) {
            *document = model->documents[below(model->count)];
            continue;
        }
        document->fingerprint = choose_fingerprint(model);
        document->id = make.id_type == IDX_ID_NONE ? 0 : below(below(3) == 0 ? UINT64_MAX >> 1 : IDS);
    }
}

static void wait_some(void) {
    struct timespec time = {0, (long)below(UINT64_C(1) << below(22))}; /* up to 4 ms, mostly less */
    nanosleep(&time, NULL);
}

/* The writer was killed within a call: what it left is the model of before or after; only the latter where it answered.
 */
static void settle(struct model *model, const struct model *after) {
    struct reply reply;
    bool answered = transfer(writer.from, &reply, sizeof reply, false);
    assert_true(WIFSIGNALED(end_writer()));
    struct idx_index *index;
    assert_ok(idx_open(&index, path, NULL, &failure));
    bool is_after = is_same(index, after);
    if (answered || is_after) *model = *after;
    assert_true(is_same(index, model));
    idx_close(index);
    if (compactor == 0 && below(4) == 0) assert_ok(idx_verify(path, NULL, NULL, &failure));
    start_writer();
}

/* A step of the writer, which may be killed. */
static void write_some(struct model *model, bool kills) {
    static struct request request;
    static struct reply reply, expected;
    static struct model after;
    choose_request(model, &request);
    after = *model;
    model_answer(&after, &request, &expected);
    assert_true(transfer(writer.to, &request, sizeof request, true));
    if (kills) {
        wait_some();
        kill(writer.process, SIGKILL);
        settle(model, &after);
        return;
    }
    assert_true(transfer(writer.from, &reply, sizeof reply, false));
    assert_reply(&request, &reply, &expected);
    *model = after;
}

static void check_second_writer(void) {
    struct idx_writer *second;
    assert_status(IDX_BUSY, idx_writer_open(&second, path, NULL, &failure));
}

static void take_step(struct model *model) {
    bool kills = below(25) == 0;
    write_some(model, kills);
    if (below(20) == 0) compact_some(model);
    if (kills || below(4) > 0) refresh(model);
    for (size_t i = 0; i < VIEWS; i++) {
        if (i == newest || below(4) == 0) check_view(&views[i]);
    }
    if (below(40) == 0) check_whole_view(&views[below(VIEWS)]);
    if (!kills && below(200) == 0) check_second_writer();
}

/* ---- Indexes ---- */

static void make_pool(void) {
    uint64_t centre = 0;
    for (size_t i = 0; i < POOL; i++) {
        if (i % 8 == 0) centre = next_random(&seed) & all_ones(make.bits);
        pool[i] = flip_bits(centre, make.bits, (unsigned)below(make.k + 3), &seed);
    }
}

static void build(struct model *model) {
    size_t count = below(3) == 0 ? 0 : below(600);
    struct model documents = {0};
    model->count = 0;
    for (size_t i = 0; i < count; i++) {
        struct document document = {choose_fingerprint(model), make.id_type == IDX_ID_NONE ? 0 : below(IDS)};
        documents.documents[documents.count++] = document;
        model_add(model, &make, &document);
    }
    build_at(path, &documents);
}

/* The index is built over the one before it, whose views stay. */
static void grow_index(size_t count) {
    static struct model model;
    make = makes[below(LENGTH(makes))];
    make_pool();
    build(&model);
    open_view(&model);
    start_writer();
    for (size_t i = 0; i < count; i++, step++) take_step(&model);
    stop_writer();
    if (compactor != 0) assert_int_equal(end_compacting(), 0);
    refresh(&model);
    assert_true(is_same(views[newest].index, &views[newest].model));
    assert_ok(idx_verify(path, NULL, NULL, &failure));
    close_views();
}

static void grow(void **state) {
    path = path_in(*state, "growing.idx");
    scratch = path_in(*state, "built.idx");
    signal(SIGPIPE, SIG_IGN);
    while (step < steps) grow_index(steps - step < STEPS_OF_AN_INDEX ? steps - step : STEPS_OF_AN_INDEX);
}

int main(int argc, char **argv) {
    const struct CMUnitTest tests[] = {in_folder(grow)};
    first_seed = seed = argc > 1 ? strtoull(argv[1], NULL, 10) : DEFAULT_SEED;
    steps = argc > 2 ? strtoull(argv[2], NULL, 10) : scale(DEFAULT_STEPS);
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    if (failed > 0) print_error("seed %" PRIu64 ", step %zu\n", first_seed, step);
    return failed;
}
