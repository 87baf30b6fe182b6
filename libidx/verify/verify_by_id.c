/* verify_by_id.c: checks that the two maps of a segment hold the same documents. The documents are read in chunks. The
 * entries of a chunk are sorted, and searched for in the map, which is read from end to end. Text documents are in the
 * order of their numbers, so each ID is decoded once. */
#include "libidx/verify/verify.h"

#include <stdlib.h>

#include "libidx/streams/sort.h"

struct comparison {
    const struct idxi_map *documents, *by_id;
    uint64_t *hashes, *fingerprints, *spare, *spare_fingerprints; /* the chunk: hashes of IDs, and scratch to sort it */
    size_t capacity, count;                                       /* of documents of the chunk */
    uint64_t *seen;                                               /* a bit for each entry of the map from IDs */
    uint64_t seen_count;                                          /* of the bits that are set */
};

/* Fails with IDX_BAD_CONTENT because the maps differ. */
static enum idx_status fail_mismatch(const struct comparison *comparison, struct idx_error *error) {
    return idxi_fail(error, IDX_BAD_CONTENT, comparison->by_id->path,
                     "contains other IDs than the documents have: rebuild the index, or restore it");
}

/* Marks entry number `number` of the map from IDs, and counts it if it was not marked before. */
static void mark_entry_seen(struct comparison *comparison, uint64_t number) {
    uint64_t bit = UINT64_C(1) << number % 64, *seen = &comparison->seen[number / 64];
    comparison->seen_count += (*seen & bit) == 0;
    *seen |= bit;
}

/* Marks those entries of the map from IDs that the sorted chunk has, among the `count` entries in `hashes` and
 * `fingerprints`, which are numbered from `first_number` on. Compares them with the chunk from its entry *chunk_next
 * on, and moves *chunk_next behind the entries found. Returns false if the map lacks an entry of the chunk. */
static bool mark_chunk_entries(struct comparison *comparison, size_t *chunk_next, uint64_t first_number,
                               const uint64_t *hashes, const uint64_t *fingerprints, size_t count) {
    for (size_t i = 0; i < count && *chunk_next < comparison->count; i++) {
        uint64_t hash = comparison->hashes[*chunk_next], fingerprint = comparison->fingerprints[*chunk_next];
        if (hash < hashes[i] || (hash == hashes[i] && fingerprint < fingerprints[i])) return false;
        if (hash != hashes[i] || fingerprint != fingerprints[i]) continue;
        mark_entry_seen(comparison, first_number + i);
        while (*chunk_next < comparison->count && comparison->hashes[*chunk_next] == hash &&
               comparison->fingerprints[*chunk_next] == fingerprint)
            ++*chunk_next;
    }
    return true;
}

/* Sorts the current chunk, compares it with the map from IDs, and empties it. Fails if the map lacks an entry of it. */
static enum idx_status compare_chunk(struct comparison *comparison, struct idx_error *error) {
    uint64_t hashes[IDXI_STREAM_ENTRIES], fingerprints[IDXI_STREAM_ENTRIES];
    struct idxi_map_stream map;
    size_t count, next = 0;
    idxi_sort_pairs(comparison->hashes, comparison->fingerprints, comparison->count, true, comparison->spare,
                    comparison->spare_fingerprints);
    idxi_map_stream_init(&map, comparison->by_id, 0);
    for (uint64_t number = 0; next < comparison->count; number += count) {
        IDXI_TRY(map.stream.read(&map.stream, hashes, fingerprints, IDXI_STREAM_ENTRIES, &count, error));
        if (count == 0 || !mark_chunk_entries(comparison, &next, number, hashes, fingerprints, count))
            return fail_mismatch(comparison, error);
    }
    comparison->count = 0;
    return IDX_OK;
}

/* ---- Integer IDs ---- */

/* Compares all documents, which have integer IDs, chunk by chunk in the order of the document map. */
static enum idx_status compare_integer_ids(struct comparison *comparison, struct idx_error *error) {
    uint64_t fingerprints[IDXI_STREAM_ENTRIES], ids[IDXI_STREAM_ENTRIES];
    struct idxi_map_stream map;
    size_t count;
    idxi_map_stream_init(&map, comparison->documents, 0);
    for (;;) {
        IDXI_TRY(map.stream.read(&map.stream, fingerprints, ids, IDXI_STREAM_ENTRIES, &count, error));
        if (count == 0) return compare_chunk(comparison, error);
        for (size_t i = 0; i < count; i++) {
            if (comparison->count == comparison->capacity) IDXI_TRY(compare_chunk(comparison, error));
            comparison->hashes[comparison->count] = idxi_hash_u64_id(ids[i]);
            comparison->fingerprints[comparison->count++] = fingerprints[i];
        }
    }
}

/* ---- Text ---- */

/* Sets comparison->fingerprints to those of the chunk's documents, which are numbered from `first_number` on. Reads all
 * documents for that, since they are in the order of fingerprints. */
static enum idx_status find_chunk_fingerprints(struct comparison *comparison, uint64_t first_number,
                                               struct idx_error *error) {
    uint64_t fingerprints[IDXI_STREAM_ENTRIES], numbers[IDXI_STREAM_ENTRIES];
    struct idxi_map_stream map;
    size_t count;
    idxi_map_stream_init(&map, comparison->documents, 0);
    for (;;) {
        IDXI_TRY(map.stream.read(&map.stream, fingerprints, numbers, IDXI_STREAM_ENTRIES, &count, error));
        if (count == 0) return IDX_OK;
        for (size_t i = 0; i < count; i++) {
            /* False also for lower numbers, whose difference wraps. */
            if (numbers[i] - first_number < comparison->capacity)
                comparison->fingerprints[numbers[i] - first_number] = fingerprints[i];
        }
    }
}

/* A visitor of IDs for idxi_map_visit_ids, which calls it in the order of document numbers. Adds the ID to the chunk of
 * the comparison `context`, and compares the chunk when it is full. With the first ID of a chunk, finds the
 * fingerprints of all its documents. */
static enum idx_status add_id_to_chunk(void *context, uint64_t number, const void *id, size_t length,
                                       struct idx_error *error) {
    struct comparison *comparison = context;
    if (comparison->count == 0) IDXI_TRY(find_chunk_fingerprints(comparison, number, error));
    comparison->hashes[comparison->count++] = idxi_hash_id(id, length);
    return comparison->count == comparison->capacity ? compare_chunk(comparison, error) : IDX_OK;
}

/* Compares all documents, which have text IDs: the chunks that the visit fills, and then the last one, which may not be
 * full. */
static enum idx_status compare_text_ids(struct comparison *comparison, struct idx_error *error) {
    IDXI_TRY(idxi_map_visit_ids(comparison->documents, add_id_to_chunk, comparison, error));
    return compare_chunk(comparison, error);
}

/* ---- The whole ---- */

/* Compares all documents with the map from IDs, which must have no other entries. Fails with IDX_OUT_OF_MEMORY if an
 * array of the comparison is NULL. */
static enum idx_status compare_maps(struct comparison *comparison, struct idx_error *error) {
    bool has_memory = comparison->hashes != NULL && comparison->fingerprints != NULL && comparison->spare != NULL &&
                      comparison->spare_fingerprints != NULL && comparison->seen != NULL;
    if (!has_memory) return idxi_fail_memory(error);
    bool is_text = comparison->documents->id_type == IDX_ID_TEXT;
    enum idx_status status = is_text ? compare_text_ids(comparison, error) : compare_integer_ids(comparison, error);
    if (status != IDX_OK) return status;
    return comparison->seen_count == comparison->by_id->segment.documents ? IDX_OK : fail_mismatch(comparison, error);
}

enum idx_status idxi_verify_by_id(const struct idxi_map *documents, const struct idxi_map *by_id,
                                  uint64_t chunk_documents, struct idx_error *error) {
    size_t capacity = (size_t)idxi_min(documents->segment.documents + 1, chunk_documents);
    struct comparison comparison = {
        .documents = documents,
        .by_id = by_id,
        .hashes = idxi_array_reserve(capacity),
        .fingerprints = idxi_array_reserve(capacity),
        .spare = idxi_array_reserve(capacity),
        .spare_fingerprints = idxi_array_reserve(capacity),
        .capacity = capacity,
        .seen = calloc((size_t)(by_id->segment.documents / 64 + 1), sizeof(uint64_t)),
    };
    enum idx_status status = compare_maps(&comparison, error);
    idxi_array_release(comparison.hashes, capacity);
    idxi_array_release(comparison.fingerprints, capacity);
    idxi_array_release(comparison.spare, capacity);
    idxi_array_release(comparison.spare_fingerprints, capacity);
    free(comparison.seen);
    return status;
}
