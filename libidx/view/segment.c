/* segment.c: opens the segments of an index, shares them with newer views, and searches one for a fingerprint. */
#include "libidx/view/index.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "libidx/base/base.h"

/* ---- Opening its files ---- */

enum idx_status idxi_segment_open_folder(struct idx_index *index, size_t number, int *folder, struct idx_error *error) {
    char name[IDXI_NAME_BYTES];
    struct idxi_segment *segment = calloc(1, sizeof *segment);
    if (segment == NULL) return idxi_fail_memory(error);
    index->segments[number] = segment;
    index->open_segments = number + 1;
    atomic_init(&segment->holders, 1);
    segment->entry = index->manifest->segments[number];
    idxi_format_segment_name(segment->entry.number, name);
    segment->path = idxi_join_path(index->path, name);
    segment->tables = calloc(index->scheme.table_count, sizeof *segment->tables);
    if (segment->path == NULL || segment->tables == NULL) return idxi_fail_memory(error);
    return idxi_open_index_file(folder, index->folder, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC, segment->path, error);
}

/* Checks that the header of open table `number` agrees with the manifest, and that it has the block size of the first
 * table, if that is open. Errors: IDX_FOREIGN_FILE, IDX_BAD_CONTENT. */
static enum idx_status check_table(const struct idx_index *index, const struct idxi_segment *segment, size_t number,
                                   struct idx_error *error) {
    const struct idxi_table *table = &segment->tables[number];
    const struct idxf_table_header *header = &table->header;
    enum idxf_fault fault = IDXF_OK;
    if (memcmp(header->uuid, segment->entry.uuid, IDXF_UUID_BYTES) != 0 || header->number != number)
        return idxi_fail_foreign_file(error, table->path);
    if (header->mask != index->scheme.tables[number].mask)
        fault = IDXF_FAULT_MASK;
    else if (header->bits != index->manifest->bits)
        fault = IDXF_FAULT_BITS;
    else if (header->radius != index->scheme.tables[number].radius)
        fault = IDXF_FAULT_RADIUS;
    else if (header->fingerprints != segment->entry.fingerprints)
        fault = IDXF_FAULT_COUNT;
    else if (number > 0 && segment->tables[0].map != NULL && header->block_size != segment->tables[0].header.block_size)
        fault = IDXF_FAULT_BLOCK_SIZE;
    return fault == IDXF_OK ? IDX_OK : idxi_fail_fault(error, fault, table->path, 0);
}

enum idx_status idxi_segment_open_table(struct idx_index *index, size_t segment_number, size_t table, int folder,
                                        struct idx_error *error) {
    struct idxi_segment *segment = index->segments[segment_number];
    char name[IDXI_NAME_BYTES];
    idxi_format_table_name(table, name);
    segment->open_tables = table + 1;
    IDXI_TRY(idxi_table_open(&segment->tables[table], folder, segment->path, name, &index->options, error));
    return check_table(index, segment, table, error);
}

enum idx_status idxi_segment_open_map(struct idx_index *index, size_t segment_number, enum idxi_map_kind kind,
                                      int folder, struct idx_error *error) {
    struct idxi_segment *segment = index->segments[segment_number];
    struct idxi_map *map = kind == IDXI_MAP_BY_ID ? &segment->by_id : &segment->map;
    bool *is_open = kind == IDXI_MAP_BY_ID ? &segment->by_id_open : &segment->map_open;
    *is_open = true; /* It is to be closed also after an error. */
    IDXI_TRY(idxi_map_open(map, kind, folder, segment->path, &segment->entry,
                           (enum idx_id_type)index->manifest->id_type, &index->options, error));
    map->is_of_texts = index->manifest->sketch > 0;
    if (map->is_of_texts) map->numbers = segment->sets.map == NULL ? UINT64_MAX : segment->sets.header.sets;
    return IDX_OK;
}

enum idx_status idxi_segment_open_sets(struct idx_index *index, size_t segment_number, int folder,
                                       struct idx_error *error) {
    struct idxi_segment *segment = index->segments[segment_number];
    if (index->manifest->sketch == 0) return IDX_OK;
    return idxi_sets_open(&segment->sets, folder, segment->path, &segment->entry,
                          (enum idx_id_type)index->manifest->id_type, &index->options, error);
}

/* Loads into memory the part of each open table that the residence of the index asks for: all parts into
 * segment->loaded, one piece of memory. Errors: IDX_OUT_OF_MEMORY; as idxi_table_load. */
static enum idx_status load_tables(struct idx_index *index, struct idxi_segment *segment, struct idx_error *error) {
    size_t bytes = 0, offset = 0;
    for (size_t i = 0; i < segment->open_tables; i++)
        bytes += idxi_table_count_load_bytes(&segment->tables[i], index->options.residence);
    if (bytes > 0) segment->loaded = idxi_allocate_pages(bytes);
    if (bytes > 0 && segment->loaded == NULL) return idxi_fail_memory(error);
    segment->loaded_bytes = bytes;
    for (size_t i = 0; i < segment->open_tables; i++) {
        struct idxi_table *table = &segment->tables[i];
        IDXI_TRY(idxi_table_load(table, &index->options, bytes > 0 ? segment->loaded + offset : NULL, error));
        offset += idxi_table_count_load_bytes(table, index->options.residence);
    }
    return IDX_OK;
}

enum idx_status idxi_segment_open_removed(struct idx_index *index, size_t segment_number, int folder,
                                          struct idx_error *error) {
    struct idxi_segment *segment = index->segments[segment_number];
    struct idxf_record_rules rules = idxi_index_get_rules(index);
    return idxi_removed_open(&segment->removed, folder, segment->path, &rules, &segment->entry, error);
}

/* Sets the `alike` of each open table to the number of the first table with the same code: blocks of both can be
 * searched side by side. */
static void find_tables_alike(struct idxi_segment *segment) {
    for (size_t i = 0; i < segment->open_tables; i++) {
        const struct idxf_table_header *header = &segment->tables[i].header;
        size_t alike = 0;
        while (alike < i && (memcmp(&segment->tables[alike].header.code, &header->code, sizeof header->code) != 0 ||
                             segment->tables[alike].header.long_codes != header->long_codes))
            alike++;
        segment->tables[i].alike = alike;
    }
}

enum idx_status idxi_segment_open(struct idx_index *index, size_t number, struct idx_error *error) {
    int folder;
    IDXI_TRY(idxi_segment_open_folder(index, number, &folder, error));
    struct idxi_segment *segment = index->segments[number];
    enum idx_status status = IDX_OK;
    for (size_t table = 0; table < index->scheme.table_count && status == IDX_OK; table++)
        status = idxi_segment_open_table(index, number, table, folder, error);
    find_tables_alike(segment);
    if (status == IDX_OK) status = load_tables(index, segment, error);
    if (status == IDX_OK) status = idxi_segment_open_sets(index, number, folder, error);
    if (status == IDX_OK) status = idxi_segment_open_map(index, number, IDXI_MAP_DOCUMENTS, folder, error);
    if (status == IDX_OK && index->manifest->by_id)
        status = idxi_segment_open_map(index, number, IDXI_MAP_BY_ID, folder, error);
    if (status == IDX_OK) status = idxi_segment_open_removed(index, number, folder, error);
    close(folder);
    return status;
}

/* ---- Sharing ---- */

/* Returns whether a segment was opened for the same entry of a manifest: with this UUID and these counts. */
static bool was_opened_for_entry(const struct idxi_segment *segment, const struct idxf_manifest_segment *entry) {
    return memcmp(segment->entry.uuid, entry->uuid, IDXF_UUID_BYTES) == 0 &&
           segment->entry.fingerprints == entry->fingerprints && segment->entry.documents == entry->documents &&
           segment->entry.removed == entry->removed;
}

bool idxi_segment_share(struct idx_index *index, const struct idx_index *older, size_t number) {
    if (older == NULL || older->options.residence != index->options.residence || older->unpacks != index->unpacks)
        return false;
    for (size_t i = 0; i < older->open_segments; i++) {
        if (!was_opened_for_entry(older->segments[i], &index->manifest->segments[number])) continue;
        atomic_fetch_add(&older->segments[i]->holders, 1);
        index->segments[number] = older->segments[i];
        index->open_segments = number + 1;
        return true;
    }
    return false;
}

void idxi_segment_release(struct idxi_segment *segment) {
    if (segment == NULL || atomic_fetch_sub(&segment->holders, 1) != 1) return;
    for (size_t table = 0; table < segment->open_tables; table++) idxi_table_close(&segment->tables[table]);
    if (segment->map_open) idxi_map_close(&segment->map);
    if (segment->by_id_open) idxi_map_close(&segment->by_id);
    idxi_removed_close(&segment->removed);
    idxi_sets_close(&segment->sets);
    free(segment->tables);
    free(segment->loaded);
    idxi_unpacked_free(segment->unpacked);
    free(segment->path);
    free(segment);
}

/* ---- Searching one for a fingerprint ---- */

/* Ends a search when its array of hits is full, because one hit is enough. This is the `take` of the hits. */
static bool end_search(struct idxf_hits *hits) {
    (void)hits;
    return false;
}

/* Returns whether a chain of a block holds the permuted fingerprint `value`, which is right-aligned. */
static bool chain_contains(const struct idxf_decoder *decoder, const struct idxf_chain *chain, uint64_t value) {
    struct idxf_lanes lanes = {.blocks = {chain->block},
                               .keys = {chain->key},
                               .begins = {chain->begin},
                               .ends = {chain->end},
                               .low = {value},
                               .high = {value},
                               .queries = {value}};
    struct idxf_hits hits = {.take = end_search};
    idxf_search(decoder, &lanes, 1, 0, &hits);
    return hits.count > 0;
}

enum idx_status idxi_segment_contains(const struct idx_index *index, size_t segment, uint64_t fingerprint,
                                      bool *contains, struct idx_error *error) {
    const struct idxi_table *table = &index->segments[segment]->tables[0];
    uint64_t permuted = idxf_permute(&table->permutation, fingerprint), value = permuted >> (64 - table->header.bits);
    struct idxf_start start;
    *contains = false;
    if (table->header.blocks == 0) return IDX_OK;
    IDXI_TRY(idxi_table_find_block(table, permuted, &start, error));
    struct idxf_bounds bounds = {.above = start.above >> (64 - table->header.bits), .floor = 0};
    for (uint64_t block = start.block; block < table->header.blocks; block++) {
        struct idxf_chain chains[IDXF_MAX_CHAINS];
        enum idxf_fault fault;
        uint64_t offset = idxi_table_get_block_offset(table, block);
        IDXI_TRY(idxi_table_check_page_at(table, offset, error));
        unsigned chain_count =
            idxf_block_list_chains(table->decoder, idxi_table_get_block(table, block), bounds, chains, &fault);
        if (chain_count == 0) return idxi_fail_fault(error, fault, table->path, offset);
        /* Keys, the last fingerprints of chains, ascend: only the first chain whose key is not below may hold it. */
        for (unsigned i = 0; i < chain_count; i++) {
            if (chains[i].key < value) continue;
            *contains = chain_contains(table->decoder, &chains[i], value);
            return IDX_OK;
        }
        bounds.above = bounds.floor = chains[chain_count - 1].key + 1;
    }
    return IDX_OK;
}
