/* writer.c: indexes that are added to and removed from, compared with a plain list of documents after each step: each
 * ID type, one segment and several, with removals of their own; views of any age; batches that match in themselves. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "format/bytes.h"
#include "format/checksum.h"
#include "format/removed.h"
#include "tests/libidx/sets.h"
#include "tests/libidx/support.h"

#define BITS 32
#define K 3
#define ROOM 4096 /* documents, at most */

/* ---- The model: documents, in the order in which the index gives those of one fingerprint ---- */

struct document {
    uint64_t fingerprint;
    uint64_t id; /* as text: in decimal, nothing for 0 */
};

struct model {
    enum idx_id_type id_type;
    size_t count;
    struct document documents[ROOM];
};

/* The place of a document, from `begin` on. */
static size_t find(const struct model *model, size_t begin, uint64_t fingerprint, uint64_t id) {
    size_t i = begin;
    while (i < model->count && (model->documents[i].fingerprint != fingerprint || model->documents[i].id != id)) i++;
    return i;
}

/* Adds a document; one that stands from `begin` on already, but for texts, is the same. */
static void model_add_behind(struct model *model, size_t begin, uint64_t fingerprint, uint64_t id) {
    if (model->id_type == IDX_ID_NONE) id = 0;
    if (model->id_type != IDX_ID_TEXT && find(model, begin, fingerprint, id) < model->count) return;
    assert_true(model->count < ROOM);
    model->documents[model->count++] = (struct document){fingerprint, id};
}

static void model_add(struct model *model, uint64_t fingerprint, uint64_t id) {
    model_add_behind(model, 0, fingerprint, id);
}

/* Removes from the first `end` documents; all of a fingerprint, or those with an ID. Returns how many. */
static size_t model_remove(struct model *model, size_t end, uint64_t fingerprint, bool all, uint64_t id) {
    size_t kept = 0, removed = 0;
    for (size_t i = 0; i < model->count; i++) {
        struct document document = model->documents[i];
        bool goes = i < end && document.fingerprint == fingerprint && (all || document.id == id);
        removed += goes;
        if (!goes) model->documents[kept++] = document;
    }
    model->count = kept;
    return removed;
}

static bool model_has(const struct model *model, size_t end, uint64_t fingerprint) {
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
        if (idx_distance(query, fingerprint) > distance || model_has(model, i, fingerprint)) continue;
        matches[count++] = (struct idx_match){fingerprint, idx_distance(query, fingerprint)};
    }
    sort_matches(matches, count);
    return count;
}

/* A fingerprint's IDs, in the order in which they come. */
static size_t model_ids(const struct model *model, uint64_t fingerprint, uint64_t *ids) {
    size_t count = 0;
    for (size_t i = 0; i < model->count; i++) {
        if (model->documents[i].fingerprint == fingerprint) ids[count++] = model->documents[i].id;
    }
    if (model->id_type == IDX_ID_U64) qsort(ids, count, sizeof *ids, compare_numbers);
    return count;
}

/* ---- Comparing ---- */

static size_t write_text(char text[32], uint64_t id) {
    return id == 0 ? 0 : (size_t)snprintf(text, 32, "%llu", (unsigned long long)id);
}

static void assert_matches(const struct idx_match *found, const struct idx_match *expected, size_t count) {
    for (size_t i = 0; i < count; i++) {
        assert_true(found[i].fingerprint == expected[i].fingerprint);
        assert_int_equal(found[i].distance, expected[i].distance);
    }
}

static uint64_t read_id(const struct model *model, const struct idx_document *document) {
    char text[32] = "";
    if (model->id_type == IDX_ID_U64) return document->number;
    assert_true(document->id_length < sizeof text);
    if (document->id_length > 0) memcpy(text, document->id, document->id_length);
    return document->id_length == 0 ? 0 : strtoull(text, NULL, 10);
}

static void check_documents(const struct model *model, struct idx_documents *cursor, uint64_t fingerprint) {
    static uint64_t ids[ROOM];
    size_t expected = model_ids(model, fingerprint, ids);
    struct idx_document document;
    uint64_t count;
    bool found;
    assert_ok(idx_documents_find(cursor, fingerprint, &count, &failure));
    if (model->id_type == IDX_ID_NONE) {
        assert_int_equal(count, 0);
        return;
    }
    if (model->id_type == IDX_ID_TEXT) assert_int_equal(count, expected);
    assert_true(count >= expected);
    for (size_t i = 0; i < expected; i++) {
        assert_ok(idx_documents_next(cursor, &document, &found, &failure));
        assert_true(found);
        assert_true(read_id(model, &document) == ids[i]);
    }
    for (size_t i = 0; i < 2; i++) {
        assert_ok(idx_documents_next(cursor, &document, &found, &failure));
        assert_false(found);
    }
}

static void check_query(const struct model *model, const struct idx_index *index, struct idx_documents *cursor,
                        uint64_t query, unsigned distance) {
    static struct idx_match expected[ROOM], found[ROOM];
    size_t count = model_scan(model, query, distance, expected), found_count;
    bool exists;
    assert_ok(idx_lookup(index, query, distance, found, ROOM, &found_count, &failure));
    assert_int_equal(found_count, count);
    assert_matches(found, expected, count);
    assert_ok(idx_exists(index, query, distance, &exists, &failure));
    assert_int_equal(exists, count > 0);
    for (size_t i = 0; i < count && i < 3; i++) check_documents(model, cursor, found[i].fingerprint);
}

struct visited {
    struct idx_match matches[ROOM];
    size_t count;
};

static bool note_visit(void *context, const struct idx_match *match) {
    struct visited *visited = context;
    assert_true(visited->count < ROOM);
    assert_int_equal(match->distance, 0);
    visited->matches[visited->count++] = *match;
    return true;
}

/* All fingerprints, each once, with all their documents. */
static void check_all(const struct model *model, const struct idx_index *index, struct idx_documents *cursor) {
    static struct visited visited;
    size_t distinct = 0;
    visited.count = 0;
    assert_ok(idx_visit_all(index, note_visit, &visited, &failure));
    sort_matches(visited.matches, visited.count);
    for (size_t i = 0; i < model->count; i++) distinct += !model_has(model, i, model->documents[i].fingerprint);
    assert_int_equal(visited.count, distinct);
    for (size_t i = 0; i < visited.count; i++) {
        if (i > 0) assert_true(visited.matches[i - 1].fingerprint < visited.matches[i].fingerprint);
        assert_true(model_has(model, model->count, visited.matches[i].fingerprint));
        check_documents(model, cursor, visited.matches[i].fingerprint);
    }
}

#define MANY 300 /* more than look-ups take at a time */

/* Many queries at once, on one thread and on two. */
static void check_many(const struct model *model, const struct idx_index *index, const uint64_t *queries) {
    static struct idx_match expected[ROOM], found[2 * MANY];
    size_t counts[MANY];
    for (unsigned threads = 1; threads <= 2; threads++) {
        assert_ok(look_up_many(index, queries, MANY, K, threads, found, 2, counts, &failure));
        for (size_t i = 0; i < MANY; i++) {
            size_t count = model_scan(model, queries[i], K, expected);
            assert_int_equal(counts[i], count);
            assert_matches(found + 2 * i, expected, count < 2 ? count : 2);
        }
    }
}

/* What a batch gives: matches in the order of queries, those of each by distance, then by value. */
struct given {
    struct idx_match matches[ROOM];
    size_t queries[ROOM];
    size_t count;
};

static bool note_batch(void *context, size_t query, const struct idx_match *matches, size_t count) {
    struct given *given = context;
    for (size_t i = 0; i < count; i++) {
        assert_true(given->count < ROOM);
        given->queries[given->count] = query;
        given->matches[given->count++] = matches[i];
    }
    return true;
}

/* The same in each way of a batch. */
static void check_batch(const struct model *model, const struct idx_index *index, const uint64_t *queries,
                        enum idx_batch_method method) {
    static struct idx_match expected[ROOM];
    static struct given given;
    struct idx_batch_options options = IDX_BATCH_OPTIONS_INIT;
    options.distance = K;
    options.method = method;
    options.threads = 2;
    given.count = 0;
    assert_ok(idx_batch(index, queries, MANY, &options, note_batch, &given, &failure));
    size_t at = 0;
    for (size_t i = 0; i < MANY; i++) {
        size_t count = model_scan(model, queries[i], K, expected);
        assert_true(given.count - at >= count);
        assert_matches(given.matches + at, expected, count);
        for (size_t j = 0; j < count; j++) assert_int_equal(given.queries[at + j], i);
        at += count;
    }
    assert_int_equal(at, given.count);
}

/* The fingerprints that have a document of each ID, and of one that none has. */
static void check_ids(const struct model *model, const struct idx_index *index) {
    uint64_t found[ROOM];
    for (uint64_t id = 0; id < 4 && model->id_type != IDX_ID_NONE; id++) {
        char text[32];
        size_t length = write_text(text, id), count, distinct = 0;
        if (model->id_type == IDX_ID_TEXT)
            assert_ok(
                idx_find_id(index, &(struct idx_item){.id = text, .id_length = length}, found, ROOM, &count, &failure));
        else
            assert_ok(idx_find_id(index, &(struct idx_item){.number = id}, found, ROOM, &count, &failure));
        for (size_t i = 0; i < model->count; i++) {
            const struct document *document = &model->documents[i];
            distinct += document->id == id && find(model, 0, document->fingerprint, id) == i;
        }
        assert_int_equal(count, distinct);
        for (size_t i = 0; i < count; i++) {
            if (i > 0) assert_true(found[i - 1] < found[i]);
            assert_true(find(model, 0, found[i], id) < model->count);
        }
    }
}

/* ---- Indexes to begin with ---- */

/* Fingerprints that come up often, near each other. */
static uint64_t pool[200];

static void make_pool(uint64_t seed) {
    for (size_t i = 0; i < LENGTH(pool); i++)
        pool[i] = i % 4 == 0 ? next_random(&seed) & all_ones(BITS) : flip_bits(pool[i - 1], BITS, 2, &seed);
}

static uint64_t draw(uint64_t *seed) {
    uint64_t fingerprint = pool[next_random(seed) % LENGTH(pool)];
    return next_random(seed) % 3 == 0 ? flip_bits(fingerprint, BITS, (unsigned)(next_random(seed) % 4 + 1), seed)
                                      : fingerprint;
}

static uint64_t draw_id(uint64_t *seed) { return next_random(seed) % 3; }

static void build_part(const char *path, struct model *model, uint64_t *seed) {
    struct idx_build_options options = options_for(BITS, K, "4");
    struct idx_builder *builder;
    options.id_type = model->id_type;
    options.by_id = model->id_type != IDX_ID_NONE;
    assert_ok(idx_builder_open(&builder, path, &options, &failure));
    size_t begin = model->count;
    for (size_t i = 0; i < 120; i++) {
        uint64_t fingerprint = draw(seed), id = draw_id(seed);
        char text[32];
        if (model->id_type == IDX_ID_TEXT)
            assert_ok(idx_builder_add(
                builder, &(struct idx_item){.fingerprint = fingerprint, .id = text, .id_length = write_text(text, id)},
                &failure));
        else
            assert_ok(idx_builder_add(builder, &(struct idx_item){.fingerprint = fingerprint, .number = id}, &failure));
        model_add_behind(model, begin, fingerprint, id);
    }
    assert_ok(idx_builder_finish(builder, NULL, &failure));
    idx_builder_close(builder);
}

/* One removal of a `removed` file. */
struct removal {
    uint64_t fingerprint;
    bool all;
    uint64_t id;
};

static int compare_removals(const void *a, const void *b) {
    const struct removal *one = a, *other = b;
    if (one->fingerprint != other->fingerprint) return one->fingerprint < other->fingerprint ? -1 : 1;
    return compare_numbers(&one->id, &other->id);
}

/* Writes a segment's file `removed`, and says so in the manifest. */
static void write_removed(const char *path, size_t segment, enum idx_id_type id_type, const struct removal *removals,
                          size_t count) {
    static uint8_t bytes[64 * ROOM];
    struct idxf_manifest *manifest = malloc(sizeof *manifest);
    size_t size = IDXF_REMOVED_HEADER_BYTES;
    assert_non_null(manifest);
    read_manifest(path, manifest);
    for (size_t i = 0; i < count; i++) {
        uint8_t id[32];
        struct idxf_record record = {.operation = removals[i].all ? IDXF_REMOVE_FINGERPRINT : IDXF_REMOVE_DOCUMENT,
                                     .fingerprint = removals[i].fingerprint,
                                     .id = id};
        if (!removals[i].all && id_type == IDX_ID_TEXT) record.id_size = write_text((char *)id, removals[i].id);
        if (!removals[i].all && id_type == IDX_ID_U64) {
            idxf_store64(id, removals[i].id);
            record.id_size = 8;
        }
        struct idxf_record_rules rules = {.id_type = (enum idxf_id_type)id_type};
        size = (size_t)(idxf_record_write(&rules, &record, bytes + size) - bytes);
    }
    struct idxf_removed header = {.count = count, .length = size - IDXF_REMOVED_HEADER_BYTES};
    memcpy(header.uuid, manifest->segments[segment].uuid, sizeof header.uuid);
    header.checksum = idxf_checksum(bytes + IDXF_REMOVED_HEADER_BYTES, header.length);
    idxf_removed_header_write(&header, bytes);
    write_file(path_in(path, "%06zu/removed", segment + 1), bytes, size);
    manifest->segments[segment].removed = count;
    write_manifest(path, manifest);
    free(manifest);
}

/* Whether a removal of this fingerprint is among them. */
static bool is_among(const struct removal *removals, size_t count, uint64_t fingerprint) {
    for (size_t i = 0; i < count; i++) {
        if (removals[i].fingerprint == fingerprint) return true;
    }
    return false;
}

/* Removes some of the first `end` documents by the segment behind them. */
static void remove_by_segment(const char *path, size_t segment, struct model *model, size_t end, uint64_t *seed) {
    struct removal removals[20];
    size_t count = 0;
    while (count < LENGTH(removals)) {
        struct document document = model->documents[next_random(seed) % end];
        struct removal removal = {document.fingerprint, false, document.id};
        size_t others = 0;
        if (is_among(removals, count, removal.fingerprint)) continue;
        for (size_t i = 0; i < end; i++)
            others += model->documents[i].fingerprint == removal.fingerprint && model->documents[i].id != removal.id;
        removal.all = others == 0 || next_random(seed) % 4 == 0;
        end -= model_remove(model, end, removal.fingerprint, removal.all, removal.id);
        if (removal.all) removal.id = 0;
        removals[count++] = removal;
    }
    qsort(removals, count, sizeof *removals, compare_removals);
    write_removed(path, segment, model->id_type, removals, count);
}

/* An index of some segments at `path`. With two and more, those behind the first remove from older ones; in the model,
 * integer IDs that several segments have become one behind that. */
static void make_index(const char *folder, const char *path, struct model *model, size_t segments, uint64_t seed) {
    const char *parts[3];
    size_t ends[3];
    assert_true(segments <= LENGTH(parts));
    for (size_t i = 0; i < segments; i++) {
        parts[i] = path_in(folder, "part-%zu", i);
        build_part(parts[i], model, &seed);
        ends[i] = model->count;
    }
    join_indexes(path, parts, segments);
    for (size_t i = 1; i < segments; i++) {
        size_t before = model->count;
        remove_by_segment(path, i, model, ends[i - 1], &seed);
        for (size_t j = i - 1; j < segments; j++) ends[j] -= before - model->count;
    }
    if (model->id_type == IDX_ID_TEXT) return;
    struct model *all = malloc(sizeof *all);
    assert_non_null(all);
    *all = *model;
    model->count = 0;
    for (size_t i = 0; i < all->count; i++) model_add(model, all->documents[i].fingerprint, all->documents[i].id);
    free(all);
}

/* ---- Steps ---- */

#define VIEWS 4

/* A view of some age, and what it shows. */
struct view {
    struct idx_index *index;
    struct model model;
};

struct play {
    const char *path;
    uint64_t seed;
    struct idx_writer *writer;
    struct model model;
    struct view views[VIEWS]; /* the newest first */
};

#define BATCH 300

/* Items, their IDs in text. */
struct batch {
    size_t count;
    struct idx_item items[BATCH];
    uint64_t ids[BATCH];
    char texts[BATCH][32];
};

static void draw_item(struct play *play, struct batch *batch, uint64_t fingerprint, uint64_t id) {
    size_t i = batch->count++;
    batch->ids[i] = id;
    batch->items[i] = (struct idx_item){fingerprint, id, batch->texts[i], write_text(batch->texts[i], id)};
    leave_out_ids(play->writer, &batch->items[i], 1);
    if (batch->items[i].id_length == 0 && play->model.id_type == IDX_ID_TEXT)
        batch->items[i] = (struct idx_item){.fingerprint = fingerprint};
}

/* Mostly a few, at times more than are looked up together. */
static size_t draw_count(struct play *play) {
    return next_random(&play->seed) % 50 == 0 ? BATCH : next_random(&play->seed) % 6;
}

static void add(struct play *play) {
    static struct batch batch;
    batch.count = 0;
    for (size_t left = draw_count(play) % 20; left > 0; left--)
        draw_item(play, &batch, draw(&play->seed), draw_id(&play->seed));
    assert_ok(idx_writer_add(play->writer, batch.items, batch.count, &failure));
    for (size_t i = 0; i < batch.count; i++) model_add(&play->model, batch.items[i].fingerprint, batch.ids[i]);
}

static void check_and_add_some(struct play *play) {
    static struct batch batch;
    static struct idx_match found[3 * BATCH], expected[ROOM];
    static size_t counts[BATCH];
    unsigned distance = (unsigned)(next_random(&play->seed) % (K + 1));
    batch.count = 0;
    for (size_t left = draw_count(play); left > 0; left--) {
        uint64_t fingerprint =
            next_random(&play->seed) % 2 == 0 ? next_random(&play->seed) & all_ones(BITS) : draw(&play->seed);
        if (batch.count > 0 && next_random(&play->seed) % 3 == 0)
            fingerprint = flip_bits(batch.items[next_random(&play->seed) % batch.count].fingerprint, BITS,
                                    (unsigned)(next_random(&play->seed) % 4), &play->seed);
        draw_item(play, &batch, fingerprint, draw_id(&play->seed));
    }
    assert_ok(check_and_add(play->writer, batch.items, batch.count, distance, found, 3, counts, &failure));
    for (size_t i = 0; i < batch.count; i++) {
        size_t count = model_scan(&play->model, batch.items[i].fingerprint, distance, expected);
        assert_int_equal(counts[i], count);
        assert_matches(found + 3 * i, expected, count < 3 ? count : 3);
        if (count == 0) model_add(&play->model, batch.items[i].fingerprint, batch.ids[i]);
    }
}

static void remove_items(struct play *play) {
    static struct batch batch;
    struct idx_removal removal, expected = {0};
    batch.count = 0;
    for (size_t left = draw_count(play) % 30; left > 0; left--) {
        struct document document = {draw(&play->seed), draw_id(&play->seed)};
        if (play->model.count > 0 && next_random(&play->seed) % 3 > 0)
            document = play->model.documents[next_random(&play->seed) % play->model.count];
        draw_item(play, &batch, document.fingerprint, document.id);
    }
    if (play->model.id_type == IDX_ID_NONE) {
        assert_status(IDX_INVALID_ARGUMENT,
                      idx_writer_remove(play->writer, IDX_REMOVE_DOCUMENTS, batch.items, 0, &removal, &failure));
        return;
    }
    assert_ok(idx_writer_remove(play->writer, IDX_REMOVE_DOCUMENTS, batch.items, batch.count, &removal, &failure));
    for (size_t i = 0; i < batch.count; i++) {
        size_t removed = model_remove(&play->model, play->model.count, batch.items[i].fingerprint, false, batch.ids[i]);
        expected.documents += removed;
        expected.missing += removed == 0;
    }
    assert_int_equal(removal.documents, expected.documents);
    assert_int_equal(removal.missing, expected.missing);
}

static void remove_fingerprints(struct play *play) {
    uint64_t fingerprints[6] = {0};
    struct idx_removal removal, expected = {0};
    size_t count = (size_t)(next_random(&play->seed) % LENGTH(fingerprints));
    for (size_t i = 0; i < count; i++) {
        fingerprints[i] = draw(&play->seed);
        if (play->model.count > 0 && next_random(&play->seed) % 2 == 0)
            fingerprints[i] = play->model.documents[next_random(&play->seed) % play->model.count].fingerprint;
    }
    assert_ok(remove_by_fingerprint(play->writer, fingerprints, count, &removal, &failure));
    for (size_t i = 0; i < count; i++) {
        size_t removed = model_remove(&play->model, play->model.count, fingerprints[i], true, 0);
        expected.documents += removed;
        expected.missing += removed == 0;
    }
    assert_int_equal(removal.documents, expected.documents);
    assert_int_equal(removal.missing, expected.missing);
}

/* All documents with an ID: a third of all, so seldom. */
static void remove_ids(struct play *play) {
    static struct batch batch;
    struct idx_removal removal, expected = {0};
    batch.count = 0;
    for (size_t i = 0; i < 2; i++) draw_item(play, &batch, 0, draw_id(&play->seed) + (i == 0 ? 0 : 2));
    if (play->model.id_type == IDX_ID_NONE) {
        assert_status(IDX_INVALID_ARGUMENT,
                      idx_writer_remove(play->writer, IDX_REMOVE_IDS, batch.items, 2, &removal, &failure));
        return;
    }
    assert_ok(idx_writer_remove(play->writer, IDX_REMOVE_IDS, batch.items, 2, &removal, &failure));
    for (size_t i = 0; i < 2; i++) {
        size_t removed = 0;
        for (size_t j = 0; j < play->model.count;) {
            struct document document = play->model.documents[j];
            if (document.id == batch.ids[i])
                removed += model_remove(&play->model, play->model.count, document.fingerprint, false, document.id);
            else
                j++;
        }
        expected.documents += removed;
        expected.missing += removed == 0;
    }
    assert_int_equal(removal.documents, expected.documents);
    assert_int_equal(removal.missing, expected.missing);
}

static enum idx_status open_writer(struct play *play) {
    struct idx_writer_options options = IDX_WRITER_OPTIONS_INIT;
    options.compact_records = next_random(&play->seed) % 3 == 0 ? 100 : 0;
    options.compact_segments = next_random(&play->seed) % 3 == 0 ? 2 : 0;
    return idx_writer_open(&play->writer, play->path, &options, &failure);
}

static void reopen_writer(struct play *play) {
    idx_writer_close(play->writer);
    assert_ok(open_writer(play));
}

/* Takes the newest state as the first view; drops a random one of the others. */
/* Beside the writer, now and then of all segments, or of nothing. */
static void compact(struct play *play) {
    struct idx_compact_options options = IDX_COMPACT_OPTIONS_INIT;
    uint64_t random = next_random(&play->seed);
    options.all = random % 4 == 0;
    options.max_segments = 1 + (unsigned)(random / 4 % 4);
    options.growth = (unsigned)(random / 64 % 4);
    options.threads = 1 + (unsigned)(random / 16 % 2);
    for (uint64_t i = 0; i <= random / 32 % 2; i++) {
        struct idx_compact_summary summary;
        assert_ok(idx_writer_wait(play->writer, &failure)); /* one at a time */
        assert_ok(idx_compact(play->path, &options, &summary, &failure));
        assert_true(summary.segments <= options.max_segments);
    }
    if (random / 64 % 8 == 0) assert_ok(idx_verify(play->path, NULL, NULL, &failure));
}

static void refresh(struct play *play) {
    struct idx_index *newer;
    size_t from = (size_t)(next_random(&play->seed) % VIEWS), dropped = 1 + (size_t)(next_random(&play->seed) % 3);
    if (next_random(&play->seed) % 10 == 0)
        newer = open_index(play->path, IDX_RESIDENCE_DIRECTORY);
    else
        assert_ok(idx_refresh(play->views[from].index, &newer, &failure));
    if (newer == NULL) { /* then that view is the newest, for all that differs in it */
        struct idx_documents *cursor;
        assert_ok(idx_documents_open(&cursor, play->views[from].index, &failure));
        check_all(&play->model, play->views[from].index, cursor);
        idx_documents_close(cursor);
        return;
    }
    idx_close(play->views[dropped].index);
    for (size_t i = dropped; i > 0; i--) play->views[i] = play->views[i - 1];
    play->views[0].index = newer;
    play->views[0].model = play->model;
}

static void check_view(const struct view *view, uint64_t *seed, bool all) {
    struct idx_documents *cursor;
    uint64_t queries[MANY];
    assert_ok(idx_documents_open(&cursor, view->index, &failure));
    for (size_t i = 0; i < 4; i++)
        check_query(&view->model, view->index, cursor, draw(seed), (unsigned)(next_random(seed) % (K + 1)));
    if (all) {
        for (size_t i = 0; i < MANY; i++) queries[i] = draw(seed);
        check_many(&view->model, view->index, queries);
        check_batch(&view->model, view->index, queries, IDX_BATCH_PROBE);
        check_batch(&view->model, view->index, queries, IDX_BATCH_SWEEP);
        check_batch(&view->model, view->index, queries, IDX_BATCH_STREAM);
        check_all(&view->model, view->index, cursor);
        check_ids(&view->model, view->index);
    }
    idx_documents_close(cursor);
}

static void step(struct play *play) {
    switch (next_random(&play->seed) % 18) {
        case 0:
        case 1:
        case 2:
        case 3:
        case 4: add(play); break;
        case 5:
        case 6:
        case 7: check_and_add_some(play); break;
        case 8:
        case 9:
        case 10:
        case 11: remove_items(play); break;
        case 12:
        case 13:
        case 14: remove_fingerprints(play); break;
        case 15: reopen_writer(play); break;
        default: compact(play); break;
    }
}

static void play_steps(const char *folder, enum idx_id_type id_type, size_t segments, size_t steps) {
    struct play *play = calloc(1, sizeof *play);
    assert_non_null(play);
    play->seed = 100 * (uint64_t)id_type + segments;
    play->path = path_in(folder, "i");
    play->model.id_type = id_type;
    make_pool(play->seed);
    make_index(folder, play->path, &play->model, segments, play->seed);
    for (size_t i = 0; i < VIEWS; i++) {
        play->views[i].index = open_index(play->path, (enum idx_residence)i);
        play->views[i].model = play->model;
    }
    check_view(&play->views[0], &play->seed, true);
    assert_ok(open_writer(play));
    for (size_t i = 0; i < steps; i++) {
        if (i % 100 == 90)
            remove_ids(play);
        else if (play->model.count > 700)
            remove_fingerprints(play);
        else
            step(play);
        refresh(play);
        check_view(&play->views[0], &play->seed, i % 20 == 0);
        check_view(&play->views[1 + i % (VIEWS - 1)], &play->seed, i % 20 == 10);
    }
    idx_writer_close(play->writer);
    for (size_t i = 0; i < VIEWS; i++) idx_close(play->views[i].index);
    free(play);
}

static void test_text(void **state) { play_steps(*state, IDX_ID_TEXT, 1, scale(1200)); }
static void test_text_in_segments(void **state) { play_steps(*state, IDX_ID_TEXT, 3, scale(1200)); }
static void test_numbers(void **state) { play_steps(*state, IDX_ID_U64, 1, scale(1200)); }
static void test_numbers_in_segments(void **state) { play_steps(*state, IDX_ID_U64, 3, scale(1200)); }
static void test_none(void **state) { play_steps(*state, IDX_ID_NONE, 1, scale(1200)); }
static void test_none_in_segments(void **state) { play_steps(*state, IDX_ID_NONE, 2, scale(1200)); }

/* ---- Large batches ---- */

#define LARGE 5000
#define SPREAD 2 /* distance that is checked */

/* Clustered ones. */
static void make_items(struct idx_item items[LARGE]) {
    uint64_t seed = 5;
    for (size_t i = 0; i < LARGE; i++) {
        uint64_t near = i % 3 > 0 ? items[next_random(&seed) % i].fingerprint : next_random(&seed);
        for (size_t errors = next_random(&seed) % 4; errors > 0; errors--)
            near ^= UINT64_C(1) << next_random(&seed) % 64;
        items[i] = (struct idx_item){.fingerprint = near & UINT32_MAX, .number = i};
    }
}

/* How many different ones of a list are near, and the nearest. */
static size_t scan_list(const uint64_t *list, size_t count, uint64_t query, struct idx_match *nearest) {
    size_t near = 0;
    *nearest = (struct idx_match){0, 64};
    for (size_t i = 0; i < count; i++) {
        struct idx_match match = {list[i], idx_distance(list[i], query)};
        bool again = match.distance > SPREAD;
        for (size_t j = 0; j < i && !again; j++) again = list[j] == list[i];
        if (again) continue;
        near++;
        if (match.distance < nearest->distance ||
            (match.distance == nearest->distance && match.fingerprint < nearest->fingerprint))
            *nearest = match;
    }
    return near;
}

/* Some in what was built, some pending, and one batch by several threads: each is added where no other within the
 * distance was there before it, one of the batch or not. */
static void check_large_batch(const char *path, unsigned threads) {
    struct idx_writer_options options = IDX_WRITER_OPTIONS_INIT;
    struct idx_build_options build = options_for(BITS, K, "auto");
    static struct idx_item items[LARGE];
    static struct idx_match matches[LARGE];
    static uint64_t there[LARGE];
    static size_t counts[LARGE];
    const size_t built = 500, pending = 1000;
    struct idx_builder *builder;
    struct idx_writer *writer;
    size_t count = pending;
    make_items(items);
    for (size_t i = 0; i < pending; i++) there[i] = items[i].fingerprint;
    build.id_type = IDX_ID_U64;
    assert_ok(idx_builder_open(&builder, path, &build, &failure));
    for (size_t i = 0; i < built; i++)
        assert_ok(idx_builder_add(builder, &(struct idx_item){.fingerprint = there[i], .number = i}, &failure));
    assert_ok(idx_builder_finish(builder, NULL, &failure));
    idx_builder_close(builder);
    options.threads = threads;
    assert_ok(idx_writer_open(&writer, path, &options, &failure));
    assert_ok(idx_writer_add(writer, items + built, pending - built, &failure));
    assert_ok(check_and_add(writer, items + pending, LARGE - pending, SPREAD, matches, 1, counts, &failure));
    for (size_t i = pending; i < LARGE; i++) {
        struct idx_match nearest, *match = &matches[i - pending];
        size_t near = scan_list(there, count, items[i].fingerprint, &nearest);
        assert_int_equal(counts[i - pending], near);
        if (near > 0) assert_true(match->fingerprint == nearest.fingerprint && match->distance == nearest.distance);
        if (near == 0) there[count++] = items[i].fingerprint;
    }
    assert_in_range(count, LARGE / 4, LARGE * 3 / 4);
    idx_writer_close(writer);
    remove_all(path);
}

static void test_large_batches(void **state) {
    check_large_batch(path_in(*state, "i"), 1);
    check_large_batch(path_in(*state, "i"), 4);
}

static void test_threads(void **state) {
    struct idx_writer_options options = IDX_WRITER_OPTIONS_INIT;
    const unsigned wrong[] = {0, IDX_MAX_THREADS + 1};
    struct model *model = calloc(1, sizeof *model);
    const char *path = path_in(*state, "i");
    struct idx_writer *writer;
    assert_non_null(model);
    make_pool(1);
    make_index(*state, path, model, 1, 1);
    for (size_t i = 0; i < LENGTH(wrong); i++) {
        options.threads = wrong[i];
        assert_status(IDX_INVALID_ARGUMENT, idx_writer_open(&writer, path, &options, &failure));
    }
    free(model);
}

/* ---- Damage ---- */

static enum idx_status open_and_close(const char *path) {
    struct idx_index *index;
    enum idx_status status = idx_open(&index, path, NULL, &failure);
    if (status == IDX_OK) idx_close(index);
    return status;
}

/* Each byte of a segment's file `removed`, changed, is found by opening and by verifying. */
static void test_damaged_removals(void **state) {
    struct model *model = calloc(1, sizeof *model);
    const char *path = path_in(*state, "i"), *file = path_in(path, "000002/removed");
    size_t size;
    assert_non_null(model);
    make_pool(1);
    make_index(*state, path, model, 2, 1);
    uint8_t *bytes = read_file(file, &size);
    assert_ok(open_and_close(path));
    assert_ok(idx_verify(path, NULL, NULL, &failure));
    for (size_t i = 0; i < size; i++) {
        bytes[i] ^= 0x10;
        write_file(file, bytes, size);
        enum idx_status status = open_and_close(path);
        assert_true(status == (i < 8 ? IDX_BAD_CONTENT : i < 12 ? IDX_NEW_VERSION : IDX_BAD_CHECKSUM));
        assert_status(status, idx_verify(path, NULL, NULL, &failure));
        bytes[i] ^= 0x10;
    }
    write_file(file, bytes, size - 1);
    assert_status(IDX_WRONG_SIZE, open_and_close(path));
    assert_int_equal(remove(file), 0);
    assert_status(IDX_MISSING_FILE, open_and_close(path));
    write_file(file, bytes, size);
    assert_ok(open_and_close(path));
    free(bytes);
    free(model);
}

/* Of two faults that of the removal which comes first is told, however many there are said to be. */
static void test_removals_of_two_faults(void **state) {
    struct model *model = calloc(1, sizeof *model);
    struct idxf_manifest *manifest = malloc(sizeof *manifest);
    const char *path = path_in(*state, "i"), *file = path_in(path, "000002/removed");
    struct idxf_removed header;
    uint32_t version;
    size_t size;
    assert_non_null(model);
    assert_non_null(manifest);
    make_pool(1);
    make_index(*state, path, model, 2, 1);
    uint8_t *bytes = read_file(file, &size), *removals = bytes + IDXF_REMOVED_HEADER_BYTES;
    assert_int_equal(idxf_removed_header_read(&header, bytes, size, &version), IDXF_OK);
    header.count = UINT64_C(1) << 40;
    read_manifest(path, manifest);
    manifest->segments[1].removed = header.count;
    write_manifest(path, manifest);
    for (int i = 0; i < 2; i++) {
        if (i == 1) removals[8] = IDXF_OPERATION_COUNT;
        header.checksum = idxf_checksum(removals, (size_t)header.length);
        idxf_removed_header_write(&header, bytes);
        write_file(file, bytes, size);
        assert_status(IDX_BAD_CONTENT, open_and_close(path));
        assert_non_null(strstr(failure.sentence, i == 0 ? "has content that doesn't fit" : "has an unknown operation"));
        assert_int_equal(failure.offset, i == 0 ? size : IDXF_REMOVED_HEADER_BYTES);
    }
    free(bytes);
    free(manifest);
    free(model);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        in_folder(test_text),
        in_folder(test_text_in_segments),
        in_folder(test_numbers),
        in_folder(test_numbers_in_segments),
        in_folder(test_none),
        in_folder(test_none_in_segments),
        in_folder(test_large_batches),
        in_folder(test_threads),
        in_folder(test_damaged_removals),
        in_folder(test_removals_of_two_faults),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
