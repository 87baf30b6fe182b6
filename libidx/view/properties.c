/* properties.c: what an open index is, how large its files are, and how skewed its data is. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "libidx/base/base.h"
#include "libidx/log/pending.h"
#include "libidx/segment/table_reader.h"
#include "libidx/view/live.h"

/* Adds the counts and bytes of one segment to the properties of its index. */
static void add_segment_properties(const struct idxi_segment *segment, size_t table_count,
                                   struct idx_properties *properties) {
    properties->fingerprints += segment->entry.fingerprints;
    properties->documents += segment->entry.documents;
    properties->removals += segment->entry.removed;
    properties->documents_bytes += segment->map.bytes;
    properties->by_id_bytes += segment->by_id.bytes;
    properties->texts += segment->sets.header.sets;
    properties->members += segment->sets.header.members;
    properties->sets_bytes += segment->sets.map == NULL ? 0 : segment->sets.layout.file_size;
    if (segment->unpacked != NULL) properties->resident_bytes += idxi_unpacked_count_bytes(segment->unpacked);
    properties->resident_bytes += sizeof *segment + segment->loaded_bytes + segment->map.pages.allocated_bytes +
                                  segment->by_id.pages.allocated_bytes + segment->sets.allocated_bytes;
    for (size_t i = 0; i < table_count; i++) {
        properties->table_bytes += segment->tables[i].layout.file_size;
        properties->resident_bytes += segment->tables[i].allocated_bytes + sizeof segment->tables[i];
    }
}

void idx_get_properties(const struct idx_index *index, struct idx_properties *properties) {
    const struct idxf_manifest *manifest = index->manifest;
    memset(properties, 0, sizeof *properties);
    properties->format_version = IDXF_VERSION;
    idxf_uuid_write(manifest->uuid, properties->uuid);
    properties->bits = manifest->bits;
    properties->k = manifest->k;
    properties->id_type = (enum idx_id_type)manifest->id_type;
    properties->recipe = manifest->recipe;
    properties->scheme = &index->scheme;
    properties->by_id = manifest->by_id;
    properties->sketch = manifest->sketch;
    properties->threshold = manifest->resemblance;
    properties->segments = manifest->segment_count;
    properties->resident_bytes = sizeof *index + sizeof *manifest;
    properties->pending_removals = index->pending.removals;
    properties->pending_documents = idxi_pending_count_records(&index->pending) - index->pending.removals;
    properties->resident_bytes += idxi_pending_get_bytes(index->pending.records);
    for (size_t i = 0; i < manifest->segment_count; i++)
        add_segment_properties(index->segments[i], index->scheme.table_count, properties);
    /* The sequence number of the last record is 0 only if nothing was ever added or removed. */
    properties->is_empty = properties->fingerprints == 0 && index->pending.last == 0;
}

/* Sets the properties that say how skewed a table's data is: its dead bits, and its groups of fingerprints with equal
 * prefixes. mean_group is the mean size of the group of a random fingerprint, so each group counts by the square of its
 * size. If the table has no fingerprints, mean_group and the numbers of blocks stay as they are. */
static void set_skew_properties(const struct idxi_table *table, struct idx_table_properties *properties) {
    const struct idxf_statistics *statistics = &table->header.statistics;
    double count = (double)table->header.fingerprints, blocks = (double)table->header.blocks;
    properties->dead_bits = ~(statistics->set_bits ^ statistics->common_bits) & idxf_low_bits(table->header.bits);
    properties->largest_group = statistics->largest_group;
    if (count == 0) return;
    properties->mean_group = 1 + 2 * (double)statistics->pairs / count;
    double even_group = ldexp(count, -(int)table->prefix), per_block = count / blocks;
    properties->expected_blocks = fmin(idxi_estimate_probe_blocks(properties->mean_group, per_block), blocks);
    properties->even_blocks = fmin(idxi_estimate_probe_blocks(even_group, per_block), blocks);
}

enum idx_status idx_get_table_properties(const struct idx_index *index, size_t segment, size_t table,
                                         struct idx_table_properties *properties, struct idx_error *error) {
    if (segment >= index->manifest->segment_count || table >= index->scheme.table_count)
        return idxi_fail(error, IDX_INVALID_ARGUMENT, index->path, "has no table %zu in segment %zu", table, segment);
    const struct idxi_table *open_table = &index->segments[segment]->tables[table];
    *properties = (struct idx_table_properties){
        .mask = open_table->header.mask,
        .radius = open_table->header.radius,
        .prefix = open_table->prefix,
        .block_size = open_table->header.block_size,
        .fingerprints = open_table->header.fingerprints,
        .blocks = open_table->header.blocks,
        .file_bytes = open_table->layout.file_size,
        .directory_bytes = open_table->layout.lists - open_table->layout.directory + open_table->header.list_bytes,
    };
    set_skew_properties(open_table, properties);
    return IDX_OK;
}

/* Replaces *heaviest by a fingerprint with this number of documents if that is more, or equal and the fingerprint is
 * smaller. */
static void replace_if_heavier(struct idxi_heaviest *heaviest, uint64_t fingerprint, uint64_t document_count) {
    if (document_count < heaviest->documents) return;
    if (document_count == heaviest->documents && fingerprint >= heaviest->fingerprint) return;
    heaviest->fingerprint = fingerprint;
    heaviest->documents = document_count;
}

/* Replaces *heaviest by the fingerprint with the most pending documents, if these are more. The documents that it has
 * in segments are not added to them. Errors: as idxi_pending_entries_open. */
static enum idx_status weigh_pending_documents(const struct idx_index *index, struct idxi_heaviest *heaviest,
                                               struct idx_error *error) {
    struct idxi_pending_entries entries;
    if (index->manifest->id_type == IDXF_ID_NONE) return IDX_OK;
    enum idx_status status = idxi_pending_entries_open(&entries, index, 0, error);
    for (size_t begin = 0, end = 0; begin < entries.count && status == IDX_OK; begin = end) {
        uint64_t fingerprint = entries.fingerprints[begin];
        while (end < entries.count && entries.fingerprints[end] == fingerprint) end++;
        replace_if_heavier(heaviest, fingerprint, end - begin);
    }
    idxi_pending_entries_close(&entries);
    return status;
}

enum idx_status idx_get_heaviest(const struct idx_index *index, uint64_t *fingerprint, uint64_t *documents,
                                 struct idx_error *error) {
    struct idxi_heaviest heaviest = {0};
    for (size_t i = 0; i < index->open_segments; i++) {
        struct idxi_map *map = &index->segments[i]->map;
        IDXI_TRY(idxi_map_prepare(map, error));
        if (idxi_get_first_live_segment(index, map->heaviest_fingerprint) <= i)
            replace_if_heavier(&heaviest, map->heaviest_fingerprint, map->heaviest_documents);
    }
    IDXI_TRY(weigh_pending_documents(index, &heaviest, error));
    *fingerprint = heaviest.fingerprint;
    *documents = heaviest.documents;
    return IDX_OK;
}
