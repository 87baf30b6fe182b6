/* clusters.c: clusters are those of a plain model, which compares every fingerprint with every other, document by
 * document and in the same order: whatever the data, the IDs, the segments, the threads and the memory. */
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "tests/libidx/forge.h"
#include "tests/libidx/sets.h"
#include "tests/libidx/support.h"

/* Whether the memory does not hold the fingerprints and their numbers, as if they were many. */
static bool has_little_memory;
uint64_t __real_idxi_value_slots_bytes(size_t count);
uint64_t __wrap_idxi_value_slots_bytes(size_t count);
uint64_t __wrap_idxi_value_slots_bytes(size_t count) {
    return has_little_memory ? UINT64_MAX / 2 : __real_idxi_value_slots_bytes(count);
}

#define MOST_SEGMENTS 3
#define ID_BYTES 24

/* ---- Documents ---- */

struct document {
    uint64_t fingerprint;
    size_t place; /* in which it was added, over the segments */
    uint64_t number;
    char id[ID_BYTES];
    size_t id_length;
};

struct documents {
    struct document *items; /* sorted for the model: see sort_documents */
    size_t count;
    enum idx_id_type id_type;
    unsigned bits;
};

/* Short ones, some of which others begin with, some with bytes above 127, or 0, and empty ones. */
static void make_id(struct document *document, uint64_t *seed) {
    static const char *const ends[] = {"", "", "", "-\xff", "-", "-a"};
    uint64_t random = next_random(seed);
    document->number = random % 3000;
    document->id_length = (size_t)snprintf(document->id, ID_BYTES, "%u%s", (unsigned)(random >> 16) % 20,
                                           ends[(random >> 40) % LENGTH(ends)]);
    if (random >> 60 == 0) document->id[document->id_length++] = '\0';
    if (random >> 60 == 1) document->id_length = 0;
}

static struct documents make_documents(const struct set *set, enum idx_id_type id_type, uint64_t seed) {
    struct documents documents = {calloc(set->count + 1, sizeof(struct document)), set->count, id_type, set->bits};
    assert_non_null(documents.items);
    for (size_t i = 0; i < set->count; i++) {
        struct document *document = &documents.items[i];
        document->fingerprint = set->items[i];
        document->place = i;
        make_id(document, &seed);
    }
    return documents;
}

static int compare_ids(const struct document *x, const struct document *y) {
    size_t common = x->id_length < y->id_length ? x->id_length : y->id_length;
    int order = memcmp(x->id, y->id, common);
    return order != 0 ? order : (x->id_length > y->id_length) - (x->id_length < y->id_length);
}

static void add(struct idx_builder *builder, const struct documents *documents, const struct document *document) {
    if (documents->id_type == IDX_ID_TEXT)
        assert_ok(idx_builder_add(builder,
                                  &(struct idx_item){.fingerprint = document->fingerprint,
                                                     .id = document->id,
                                                     .id_length = document->id_length},
                                  &failure));
    else
        assert_ok(idx_builder_add(
            builder, &(struct idx_item){.fingerprint = document->fingerprint, .number = document->number}, &failure));
}

static struct idx_index *build(const char *folder, const struct documents *documents, unsigned k, size_t segments) {
    const char *parts[MOST_SEGMENTS], *path = path_in(folder, "whole.idx");
    char scheme[16];
    snprintf(scheme, sizeof scheme, "%u:1:1", k / 2 + 1);
    struct idx_build_options options = options_for(documents->bits, k, scheme);
    options.id_type = documents->id_type;
    for (size_t i = 0; i < segments; i++) {
        struct idx_builder *builder;
        parts[i] = segments == 1 ? path : path_in(folder, "%zu.idx", i);
        assert_ok(idx_builder_open(&builder, parts[i], &options, &failure));
        for (size_t j = documents->count * i / segments; j < documents->count * (i + 1) / segments; j++)
            add(builder, documents, &documents->items[j]);
        assert_ok(idx_builder_finish(builder, NULL, &failure));
        idx_builder_close(builder);
    }
    if (segments > 1) join_indexes(path, parts, segments);
    struct idx_index *index = open_index(path, IDX_RESIDENCE_NONE);
    return index;
}

/* ---- The model ---- */

/* A fingerprint with its documents, [begin, end) of the documents as the index gives them. */
struct node {
    uint64_t fingerprint;
    size_t begin, end;
    uint64_t first;
    const struct document *smallest;
    size_t root;
};

struct model {
    struct documents documents;
    struct node *nodes; /* in the order of preference */
    size_t count;
    unsigned distance;
    bool by_id, by_count;
};

static int compare_u64(uint64_t a, uint64_t b) { return (a > b) - (a < b); }

static int by_fingerprint_and_place(const void *a, const void *b) {
    const struct document *x = a, *y = b;
    int order = compare_u64(x->fingerprint, y->fingerprint);
    return order != 0 ? order : compare_u64(x->place, y->place);
}

static int by_fingerprint_and_number(const void *a, const void *b) {
    const struct document *x = a, *y = b;
    int order = compare_u64(x->fingerprint, y->fingerprint);
    return order != 0 ? order : compare_u64(x->number, y->number);
}

/* As the index gives them: equal integer IDs of a fingerprint once, no more than one for each without IDs. */
static void sort_documents(struct documents *documents) {
    struct document *items = documents->items;
    bool by_place = documents->id_type == IDX_ID_TEXT;
    size_t kept = 0;
    qsort(items, documents->count, sizeof *items, by_place ? by_fingerprint_and_place : by_fingerprint_and_number);
    for (size_t i = 0; i < documents->count; i++) {
        bool again = kept > 0 && items[kept - 1].fingerprint == items[i].fingerprint;
        if (documents->id_type == IDX_ID_TEXT) again = false;
        if (documents->id_type == IDX_ID_U64) again = again && items[kept - 1].number == items[i].number;
        if (!again) items[kept++] = items[i];
    }
    documents->count = kept;
}

static uint64_t first_of(const struct documents *documents, const struct document *document) {
    if (documents->id_type == IDX_ID_TEXT) return document->place;
    return documents->id_type == IDX_ID_U64 ? document->number : document->fingerprint;
}

static int by_first(const void *a, const void *b) {
    const struct node *x = a, *y = b;
    int order = compare_u64(x->first, y->first);
    return order != 0 ? order : compare_u64(x->fingerprint, y->fingerprint);
}

static int by_count(const void *a, const void *b) {
    const struct node *x = a, *y = b;
    int order = compare_u64(y->end - y->begin, x->end - x->begin);
    return order != 0 ? order : by_first(a, b);
}

static int by_smallest(const void *a, const void *b) {
    const struct node *x = a, *y = b;
    int order = compare_ids(x->smallest, y->smallest);
    return order != 0 ? order : compare_u64(x->smallest->place, y->smallest->place);
}

static void make_nodes(struct model *model, enum idx_representative representative) {
    struct document *items = model->documents.items;
    model->nodes = calloc(model->documents.count + 1, sizeof *model->nodes);
    assert_non_null(model->nodes);
    for (size_t i = 0; i < model->documents.count; i++) {
        struct node *node = &model->nodes[model->count - (model->count > 0)];
        if (model->count == 0 || node->fingerprint != items[i].fingerprint) {
            node = &model->nodes[model->count++];
            *node = (struct node){items[i].fingerprint, i, i, first_of(&model->documents, &items[i]), &items[i], 0};
        }
        node->end++;
        if (compare_ids(&items[i], node->smallest) < 0) node->smallest = &items[i];
    }
    model->by_count = representative == IDX_REPRESENTATIVE_MOST_DOCUMENTS && model->documents.id_type != IDX_ID_NONE;
    model->by_id = representative == IDX_REPRESENTATIVE_SMALLEST_ID && model->documents.id_type == IDX_ID_TEXT;
    qsort(model->nodes, model->count, sizeof *model->nodes,
          model->by_id                                          ? by_smallest
          : representative == IDX_REPRESENTATIVE_MOST_DOCUMENTS ? by_count
                                                                : by_first);
}

static bool are_near(const struct model *model, size_t a, size_t b) {
    return idx_distance(model->nodes[a].fingerprint, model->nodes[b].fingerprint) <= model->distance;
}

/* From each node that nobody has, to all that can be reached. */
static void make_components(struct model *model) {
    size_t *open = malloc((model->count + 1) * sizeof *open);
    assert_non_null(open);
    for (size_t i = 0; i < model->count; i++) model->nodes[i].root = SIZE_MAX;
    for (size_t i = 0; i < model->count; i++) {
        size_t count = 0;
        if (model->nodes[i].root != SIZE_MAX) continue;
        model->nodes[i].root = i;
        for (open[count++] = i; count > 0;) {
            size_t from = open[--count];
            for (size_t j = i + 1; j < model->count; j++) {
                if (model->nodes[j].root != SIZE_MAX || !are_near(model, from, j)) continue;
                model->nodes[j].root = i;
                open[count++] = j;
            }
        }
    }
    free(open);
}

static void make_stars(struct model *model) {
    for (size_t i = 0; i < model->count; i++) model->nodes[i].root = SIZE_MAX;
    for (size_t i = 0; i < model->count; i++) {
        if (model->nodes[i].root != SIZE_MAX) continue;
        for (size_t j = i; j < model->count; j++) {
            if (model->nodes[j].root == SIZE_MAX && are_near(model, i, j)) model->nodes[j].root = i;
        }
    }
}

static struct model make_model(const struct documents *documents, unsigned distance, enum idx_cluster_method method,
                               enum idx_representative representative) {
    struct model model = {.documents = *documents, .distance = distance};
    model.documents.items = malloc((documents->count + 1) * sizeof *documents->items);
    assert_non_null(model.documents.items);
    memcpy(model.documents.items, documents->items, documents->count * sizeof *documents->items);
    sort_documents(&model.documents);
    make_nodes(&model, representative);
    if (method == IDX_CLUSTER_STAR)
        make_stars(&model);
    else
        make_components(&model);
    return model;
}

static void free_model(struct model *model) {
    free(model->documents.items);
    free(model->nodes);
}

/* ---- What both say ---- */

struct text {
    char *bytes;
    size_t length, capacity;
    uint64_t lines, most; /* after which the visit is stopped */
};

static void write_text(struct text *text, const void *bytes, size_t length) {
    if (text->length + length > text->capacity) {
        text->capacity = 2 * text->capacity + length;
        text->bytes = realloc(text->bytes, text->capacity);
        assert_non_null(text->bytes);
    }
    memcpy(text->bytes + text->length, bytes, length);
    text->length += length;
}

struct said {
    uint64_t cluster, fingerprint, representative;
    unsigned distance;
    bool is_representative;
};

static void say_id(struct text *text, enum idx_id_type id_type, const void *id, size_t length, uint64_t number) {
    char line[32];
    if (id_type == IDX_ID_TEXT)
        write_text(text, id, length);
    else if (id_type == IDX_ID_U64)
        write_text(text, line, (size_t)snprintf(line, sizeof line, "%llu", (unsigned long long)number));
    write_text(text, "\n", 1);
}

static void say(struct text *text, const struct said *said) {
    char line[128];
    int length = snprintf(line, sizeof line, "%llu: %llx of %llx, %u%s\n", (unsigned long long)said->cluster,
                          (unsigned long long)said->fingerprint, (unsigned long long)said->representative,
                          said->distance, said->is_representative ? ", the representative" : "");
    write_text(text, line, (size_t)length);
    text->lines++;
}

struct visit {
    struct text text;
    enum idx_id_type id_type;
};

static bool visit_member(void *context, const struct idx_cluster_member *member) {
    struct visit *visit = context;
    struct said said = {member->cluster, member->fingerprint, member->representative_fingerprint, member->distance,
                        member->is_representative};
    say(&visit->text, &said);
    assert_int_equal(member->representative.id == NULL, visit->id_type != IDX_ID_TEXT);
    say_id(&visit->text, visit->id_type, member->document.id, member->document.id_length, member->document.number);
    say_id(&visit->text, visit->id_type, member->representative.id, member->representative.id_length,
           member->representative.number);
    return visit->text.lines != visit->text.most;
}

/* A document of a cluster, and the node of its fingerprint. */
struct placed {
    const struct model *model;
    const struct node *node;
    const struct document *document;
};

/* By preference, document by document: those of the fingerprints with the most documents, or with the smallest IDs, and
 * of several the first. */
static int by_preference(const void *a, const void *b) {
    const struct placed *x = a, *y = b;
    const struct documents *documents = &x->model->documents;
    int order = 0;
    if (x->model->by_id) order = compare_ids(x->document, y->document);
    if (x->model->by_count) order = compare_u64(y->node->end - y->node->begin, x->node->end - x->node->begin);
    if (order == 0) order = compare_u64(first_of(documents, x->document), first_of(documents, y->document));
    return order != 0 ? order : compare_u64(x->node->fingerprint, y->node->fingerprint);
}

static void say_cluster(const struct model *model, size_t root, uint64_t cluster, struct text *text) {
    struct placed *placed = malloc((model->documents.count + 1) * sizeof *placed);
    size_t count = 0;
    assert_non_null(placed);
    for (size_t i = root; i < model->count; i++) {
        const struct node *node = &model->nodes[i];
        for (size_t j = node->begin; j < node->end && node->root == root; j++)
            placed[count++] = (struct placed){model, node, &model->documents.items[j]};
    }
    qsort(placed, count, sizeof *placed, by_preference);
    const struct document *representative = placed[0].document;
    for (size_t i = 0; i < count; i++) {
        const struct document *document = placed[i].document;
        uint64_t fingerprint = document->fingerprint, of = representative->fingerprint;
        struct said said = {cluster, fingerprint, of, idx_distance(fingerprint, of), i == 0};
        say(text, &said);
        say_id(text, model->documents.id_type, document->id, document->id_length, document->number);
        say_id(text, model->documents.id_type, representative->id, representative->id_length, representative->number);
    }
    free(placed);
}

static void count_cluster(const struct model *model, size_t root, struct idx_cluster_size *size) {
    for (size_t i = root; i < model->count; i++) {
        const struct node *node = &model->nodes[i];
        if (node->root != root) continue;
        size->documents += node->end - node->begin;
        bool is_far = idx_distance(node->fingerprint, model->nodes[root].fingerprint) > model->distance;
        size->far += is_far ? node->end - node->begin : 0;
    }
}

static void sum_up(struct idx_cluster_summary *summary, const struct idx_cluster_size *size) {
    struct idx_cluster_size *largest = summary->largest;
    size_t bit = 0, at;
    while (size->documents >> (bit + 1) > 0) bit++;
    summary->sizes[bit]++;
    summary->documents += size->documents;
    if (size->documents < 2) return;
    summary->clusters++;
    summary->clustered += size->documents;
    summary->far += size->far;
    for (at = 0; at < summary->largest_count && largest[at].documents >= size->documents;) at++;
    if (at == IDX_LARGEST_CLUSTERS) return;
    if (summary->largest_count == IDX_LARGEST_CLUSTERS) summary->largest_count--;
    memmove(largest + at + 1, largest + at, (summary->largest_count - at) * sizeof *largest);
    largest[at] = *size;
    summary->largest_count++;
}

static void say_model(const struct model *model, bool alone, struct text *text, struct idx_cluster_summary *summary) {
    uint64_t cluster = 0;
    memset(summary, 0, sizeof *summary);
    for (size_t i = 0; i < model->count; i++) {
        struct idx_cluster_size size = {.cluster = cluster, .representative = model->nodes[i].fingerprint};
        if (model->nodes[i].root != i) continue;
        count_cluster(model, i, &size);
        sum_up(summary, &size);
        if (size.documents < 2 && !alone) continue;
        say_cluster(model, i, cluster++, text);
    }
}

/* ---- The comparison ---- */

static void assert_same_summary(const struct idx_cluster_summary *given, const struct idx_cluster_summary *expected) {
    assert_int_equal(given->documents, expected->documents);
    assert_int_equal(given->clusters, expected->clusters);
    assert_int_equal(given->clustered, expected->clustered);
    assert_int_equal(given->far, expected->far);
    assert_memory_equal(given->sizes, expected->sizes, sizeof given->sizes);
    assert_int_equal(given->largest_count, expected->largest_count);
    assert_memory_equal(given->largest, expected->largest, given->largest_count * sizeof *given->largest);
}

static void compare(const struct idx_index *index, const struct documents *documents,
                    const struct idx_cluster_options *options, unsigned distance) {
    struct visit visit = {.id_type = documents->id_type};
    struct text expected = {0};
    struct idx_cluster_summary summary, expected_summary;
    struct model model = make_model(documents, distance, options->method, options->representative);
    say_model(&model, options->alone, &expected, &expected_summary);
    assert_ok(idx_clusters(index, options, visit_member, &visit, &summary, &failure));
    assert_int_equal(visit.text.length, expected.length);
    if (expected.length > 0) assert_memory_equal(visit.text.bytes, expected.bytes, expected.length);
    assert_same_summary(&summary, &expected_summary);
    free(visit.text.bytes);
    free(expected.bytes);
    free_model(&model);
}

/* Every method and representative, by threads and in memory that differ from one to the next. */
static void compare_all(const struct idx_index *index, const struct documents *documents, unsigned k) {
    static const unsigned threads[] = {1, 2, 7};
    unsigned round = (unsigned)documents->count;
    for (int method = 0; method <= IDX_CLUSTER_STAR; method++) {
        for (int representative = 0; representative <= IDX_REPRESENTATIVE_SMALLEST_ID; representative++) {
            struct idx_cluster_options options = IDX_CLUSTER_OPTIONS_INIT;
            unsigned distance = round % 4 < 2 ? k : round % (k + 1);
            options.method = (enum idx_cluster_method)method;
            options.representative = (enum idx_representative)representative;
            options.distance = round % 4 == 0 ? UINT_MAX : distance;
            options.alone = round % 5 < 2;
            options.threads = threads[round % LENGTH(threads)];
            options.memory_bytes = round % 2 == 0 ? 0 : IDX_MIN_MEMORY_BYTES;
            compare(index, documents, &options, distance);
            has_little_memory = true;
            compare(index, documents, &options, distance);
            has_little_memory = false;
            round++;
        }
    }
}

static void check(const char *folder, const struct set *set, enum idx_id_type id_type, unsigned k, size_t segments) {
    struct documents documents = make_documents(set, id_type, set->count);
    struct idx_index *index = build(folder, &documents, k, segments);
    compare_all(index, &documents, k);
    idx_close(index);
    free(documents.items);
    remove_all(path_in(folder, "whole.idx"));
    for (size_t i = 0; i < segments && segments > 1; i++) remove_all(path_in(folder, "%zu.idx", i));
}

/* ---- Tests ---- */

static void clusters_are_those_of_the_model(void **state) {
    for (int shape = 0; shape < SHAPE_COUNT; shape++) {
        for (int id_type = IDX_ID_TEXT; id_type <= IDX_ID_NONE; id_type++) {
            unsigned bits = shape % 2 == 0 ? 64 : 20, k = 1 + (unsigned)(shape + id_type) % 4;
            struct set set = make_set((enum shape)shape, bits, scale(700), (uint64_t)shape);
            size_t segments = 1 + (size_t)(shape + id_type) % MOST_SEGMENTS;
            check(*state, &set, (enum idx_id_type)id_type, k, segments);
            free_set(&set);
        }
    }
}

/* More pairs than little memory holds. */
static void pairs_may_outgrow_the_memory(void **state) {
    struct set ball = make_ball(UINT64_C(0x0123456789abcdef), 64, 2);
    struct set dense = make_set(SHAPE_DENSE_LOW, 11, 2048, 0);
    for (int id_type = IDX_ID_TEXT; id_type <= IDX_ID_NONE; id_type++) {
        check(*state, &ball, (enum idx_id_type)id_type, 2, 2);
        check(*state, &dense, (enum idx_id_type)id_type, 3, 1);
    }
    free_set(&ball);
    free_set(&dense);
}

/* A chain: each is near the next, and the ends are far apart. */
static void stars_do_not_chain(void **state) {
    uint64_t items[] = {0x0, 0x7, 0x3f, 0x1ff, 0xfff, 0x7fff, 0x7fff};
    struct set set = set_of(items, LENGTH(items), 64);
    struct documents documents = make_documents(&set, IDX_ID_TEXT, 1);
    struct idx_index *index = build(*state, &documents, 3, 1);
    struct idx_cluster_options options = IDX_CLUSTER_OPTIONS_INIT;
    struct idx_cluster_summary summary;
    struct visit visit = {.id_type = IDX_ID_TEXT};
    assert_ok(idx_clusters(index, NULL, visit_member, &visit, &summary, &failure));
    assert_int_equal(summary.clusters, 1);
    assert_int_equal(summary.clustered, 7);
    assert_int_equal(summary.far, 5);
    assert_int_equal(summary.largest[0].far, 5);
    options.method = IDX_CLUSTER_STAR;
    assert_ok(idx_clusters(index, &options, visit_member, &visit, &summary, &failure));
    assert_int_equal(summary.clusters, 3);
    assert_int_equal(summary.clustered, 7);
    assert_int_equal(summary.far, 0);
    assert_int_equal(summary.sizes[1], 3);
    compare_all(index, &documents, 3);
    free(visit.text.bytes);
    idx_close(index);
    free(documents.items);
    free_set(&set);
}

static void a_visitor_may_stop(void **state) {
    struct set set = make_set(SHAPE_CLUSTERED, 64, 500, 7);
    struct documents documents = make_documents(&set, IDX_ID_U64, 1);
    struct idx_index *index = build(*state, &documents, 3, 2);
    struct visit whole = {.id_type = IDX_ID_U64};
    struct idx_cluster_summary summary;
    assert_ok(idx_clusters(index, NULL, visit_member, &whole, NULL, &failure));
    assert_true(whole.text.lines > 20);
    for (uint64_t most = 1; most < 20; most++) {
        struct visit part = {.text = {.most = most}, .id_type = IDX_ID_U64};
        assert_ok(idx_clusters(index, NULL, visit_member, &part, &summary, &failure));
        assert_int_equal(part.text.lines, most);
        assert_memory_equal(part.text.bytes, whole.text.bytes, part.text.length);
        free(part.text.bytes);
    }
    free(whole.text.bytes);
    idx_close(index);
    free(documents.items);
    free_set(&set);
}

/* Cancels at a call of the progress visitor. */
struct canceller {
    uint64_t calls, at;
    bool seen[IDX_PHASE_COUNT];
};

static bool count_call(void *context, const struct idx_progress *progress) {
    struct canceller *canceller = context;
    canceller->seen[progress->phase] = true;
    return ++canceller->calls != canceller->at;
}

static void clustering_can_be_cancelled(void **state) {
    struct set set = make_set(SHAPE_CLUSTERED, 64, 500, 7);
    struct documents documents = make_documents(&set, IDX_ID_TEXT, 1);
    struct idx_index *index = build(*state, &documents, 3, 1);
    struct visit visit = {.id_type = IDX_ID_TEXT};
    struct canceller canceller = {0};
    struct idx_cluster_options options = IDX_CLUSTER_OPTIONS_INIT;
    options.progress = count_call;
    options.context = &canceller;
    assert_ok(idx_clusters(index, &options, visit_member, &visit, NULL, &failure));
    assert_true(canceller.seen[IDX_PHASE_COMPARING] && canceller.seen[IDX_PHASE_CLUSTERING]);
    for (uint64_t at = 1; at <= 3; at++) { /* numbering, comparing, joining */
        canceller = (struct canceller){.at = at};
        visit.text.lines = 0;
        assert_status(IDX_CANCELLED, idx_clusters(index, &options, visit_member, &visit, NULL, &failure));
        assert_string_equal(failure.sentence, "cancelled: the results are incomplete");
        assert_int_equal(canceller.calls, at);
        assert_int_equal(visit.text.lines, 0);
    }
    free(visit.text.bytes);
    idx_close(index);
    free(documents.items);
    free_set(&set);
}

/* Lets no file grow any more once pairs are looked for. */
static bool fill_disk(void *context, const struct idx_progress *progress) {
    const struct rlimit *limit = context;
    return progress->phase != IDX_PHASE_COMPARING || setrlimit(RLIMIT_FSIZE, limit) == 0;
}

static void a_full_disk_is_told(void **state) {
    struct set set = make_set(SHAPE_DENSE_LOW, 11, 2048, 0);
    struct documents documents = make_documents(&set, IDX_ID_U64, 1);
    struct idx_index *index = build(*state, &documents, 3, 1);
    struct visit visit = {.id_type = IDX_ID_U64};
    struct idx_cluster_options options = IDX_CLUSTER_OPTIONS_INIT;
    struct rlimit before, limit;
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
    limit = (struct rlimit){0, before.rlim_max};
    signal(SIGXFSZ, SIG_IGN);
    options.progress = fill_disk;
    options.context = &limit;
    options.memory_bytes = IDX_MIN_MEMORY_BYTES;
    has_little_memory = true;
    for (unsigned threads = 1; threads <= 2; threads++) {
        options.threads = threads;
        enum idx_status status = idx_clusters(index, &options, visit_member, &visit, NULL, &failure);
        assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
        assert_status(IDX_DISK_FULL, status);
    }
    signal(SIGXFSZ, SIG_DFL);
    has_little_memory = false;
    assert_int_equal(visit.text.lines, 0);
    idx_close(index);
    free(documents.items);
    free_set(&set);
}

/* Nor can any file grow here: pairs that the memory does not hold are found again. */
static void stars_write_no_pairs(void **state) {
    struct set set = make_set(SHAPE_DENSE_LOW, 11, 2048, 0);
    struct documents documents = make_documents(&set, IDX_ID_U64, 1);
    struct idx_index *index = build(*state, &documents, 3, 1);
    struct idx_cluster_options options = IDX_CLUSTER_OPTIONS_INIT;
    struct rlimit before, limit;
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
    limit = (struct rlimit){0, before.rlim_max};
    signal(SIGXFSZ, SIG_IGN);
    options.method = IDX_CLUSTER_STAR;
    options.distance = 3;
    options.progress = fill_disk;
    options.context = &limit;
    options.memory_bytes = IDX_MIN_MEMORY_BYTES;
    for (options.threads = 1; options.threads <= 2; options.threads++) {
        compare(index, &documents, &options, 3);
        assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
    }
    signal(SIGXFSZ, SIG_DFL);
    idx_close(index);
    free(documents.items);
    free_set(&set);
}

static void bad_options_are_refused(void **state) {
    uint64_t items[] = {1, 2};
    struct set set = set_of(items, LENGTH(items), 64);
    struct documents documents = make_documents(&set, IDX_ID_TEXT, 1);
    struct idx_index *index = build(*state, &documents, 3, 1);
    struct visit visit = {.id_type = IDX_ID_TEXT};
    struct idx_cluster_options options = IDX_CLUSTER_OPTIONS_INIT, good = options;
    options.distance = IDX_MAX_K + 1;
    assert_status(IDX_BAD_DISTANCE, idx_clusters(index, &options, visit_member, &visit, NULL, &failure));
    options = good;
    options.threads = 0;
    assert_status(IDX_INVALID_ARGUMENT, idx_clusters(index, &options, visit_member, &visit, NULL, &failure));
    options.threads = IDX_MAX_THREADS + 1;
    assert_status(IDX_INVALID_ARGUMENT, idx_clusters(index, &options, visit_member, &visit, NULL, &failure));
    options = good;
    options.method = (enum idx_cluster_method)2;
    assert_status(IDX_INVALID_ARGUMENT, idx_clusters(index, &options, visit_member, &visit, NULL, &failure));
    options = good;
    options.representative = (enum idx_representative)3;
    assert_status(IDX_INVALID_ARGUMENT, idx_clusters(index, &options, visit_member, &visit, NULL, &failure));
    options = good;
    options.memory_bytes = IDX_MIN_MEMORY_BYTES - 1;
    assert_status(IDX_INVALID_ARGUMENT, idx_clusters(index, &options, visit_member, &visit, NULL, &failure));
    options = good;
    options.temporary_folder = path_in(*state, "missing");
    assert_status(IDX_NOT_FOUND, idx_clusters(index, &options, visit_member, &visit, NULL, &failure));
    assert_int_equal(visit.text.lines, 0);
    idx_close(index);
    free(documents.items);
    free_set(&set);
}

/* IDs larger than the memory that is allowed for putting them in order. */
static void smallest_ids_take_memory(void **state) {
    struct idx_cluster_options options = IDX_CLUSTER_OPTIONS_INIT;
    struct idx_build_options building = options_for(64, 3, "auto");
    struct visit visit = {.id_type = IDX_ID_TEXT};
    struct idx_builder *builder;
    static char id[1024];
    assert_ok(idx_builder_open(&builder, path_in(*state, "x.idx"), &building, &failure));
    for (uint64_t i = 0; i < 1100; i++) {
        memset(id, 'a' + (int)(i % 26), sizeof id);
        assert_ok(idx_builder_add(builder, &(struct idx_item){.fingerprint = i % 7, .id = id, .id_length = sizeof id},
                                  &failure));
    }
    assert_ok(idx_builder_finish(builder, NULL, &failure));
    idx_builder_close(builder);
    struct idx_index *index = open_index(path_in(*state, "x.idx"), IDX_RESIDENCE_NONE);
    options.representative = IDX_REPRESENTATIVE_SMALLEST_ID;
    options.memory_bytes = IDX_MIN_MEMORY_BYTES;
    assert_status(IDX_OUT_OF_MEMORY, idx_clusters(index, &options, visit_member, &visit, NULL, &failure));
    options.memory_bytes *= 2;
    assert_ok(idx_clusters(index, &options, visit_member, &visit, NULL, &failure));
    free(visit.text.bytes);
    idx_close(index);
}

/* The tables of an index with other fingerprints, of which the documents that are there have none: all of these come
 * before, or one behind. */
static void tables_and_documents_must_agree(void **state) {
    static const uint64_t documents[][2] = {{0, 1}, {0, 9}};
    struct idx_build_options options = options_for(64, 3, "2:1:1");
    for (size_t i = 0; i < LENGTH(documents); i++) {
        const char *path = path_in(*state, "%zu.idx", i), *other = path_in(*state, "other-%zu.idx", i);
        struct visit visit = {.id_type = IDX_ID_TEXT};
        uint8_t uuid[16];
        build_index(path, &options, documents[i], 2);
        build_index(other, &options, (const uint64_t[]){2, 3}, 2);
        for (unsigned table = 0; table < 2; table++) {
            const char *name = path_in(path, "000001/table-%02u.tbl", table);
            size_t size;
            uint8_t *content = read_file(path_in(other, "000001/table-%02u.tbl", table), &size);
            read_segment_uuid(name, uuid);
            write_file(name, content, size);
            forge_table(name, 16, uuid, sizeof uuid);
            free(content);
        }
        struct idx_index *index = open_index(path, IDX_RESIDENCE_NONE);
        for (unsigned way = 0; way < 2; way++) {
            has_little_memory = way == 1;
            assert_status(IDX_BAD_CONTENT, idx_clusters(index, NULL, visit_member, &visit, NULL, &failure));
            assert_non_null(strstr(failure.sentence, "0000000000000002"));
        }
        has_little_memory = false;
        idx_close(index);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        in_folder(clusters_are_those_of_the_model),
        in_folder(pairs_may_outgrow_the_memory),
        in_folder(stars_do_not_chain),
        in_folder(a_visitor_may_stop),
        in_folder(clustering_can_be_cancelled),
        in_folder(bad_options_are_refused),
        in_folder(smallest_ids_take_memory),
        in_folder(a_full_disk_is_told),
        in_folder(stars_write_no_pairs),
        in_folder(tables_and_documents_must_agree),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
