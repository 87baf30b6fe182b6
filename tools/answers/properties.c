/* properties.c: what `idx info` knows of an index. */
#include "tools/answers/properties.h"

#include "tools/shared/command.h"
#include "tools/shared/json.h"

#include <string.h>

bool properties_measure_table(const struct idx_index *index, const struct idx_properties *properties, size_t segment,
                              size_t table, struct table_measure *measure, struct idx_error *error) {
    if (idx_get_table_properties(index, segment, table, &measure->table, error) != IDX_OK) return false;
    measure->density =
        compute_density((double)measure->table.file_bytes, measure->table.fingerprints, properties->bits);
    return true;
}

double properties_compute_key_bits(const struct idx_table_properties *table) {
    return table->blocks > 0 ? (double)table->directory_bytes * 8 / (double)table->blocks : 0;
}

/* Sets *dead_bits to a mask of the bits that are dead in each segment: all fingerprints of the segment have the same
 * value there, though that of another segment may differ. All tables of a segment have the same fingerprints, so only
 * the first one is read. Segments without fingerprints are skipped, and an index without any has no dead bits. Sets
 * *error and returns false if the library fails. */
static bool find_dead_bits(const struct idx_index *index, const struct idx_properties *properties, uint64_t *dead_bits,
                           struct idx_error *error) {
    struct table_measure measure;
    *dead_bits = properties->fingerprints > 0 ? UINT64_MAX : 0;
    for (size_t segment = 0; segment < properties->segments; segment++) {
        if (!properties_measure_table(index, properties, segment, 0, &measure, error)) return false;
        if (measure.table.fingerprints > 0) *dead_bits &= measure.table.dead_bits;
    }
    return true;
}

bool properties_find_dead_bits_and_heaviest(const struct idx_index *index, const struct idx_properties *properties,
                                            struct index_facts *facts, struct idx_error *error) {
    return find_dead_bits(index, properties, &facts->dead_bits, error) &&
           idx_get_heaviest(index, &facts->heaviest, &facts->heaviest_documents, error) == IDX_OK;
}

uint64_t properties_compute_max_live(const struct idx_properties *properties) {
    const bool has_ids = properties->id_type != IDX_ID_NONE;
    return (has_ids ? properties->documents : properties->fingerprints) + properties->pending_documents;
}

bool properties_max_live_is_exact(const struct idx_properties *properties) {
    /* A text ID that is added twice makes two documents, but an integer ID in two places may be one. */
    bool once = properties->id_type == IDX_ID_TEXT || (properties->segments == 1 && properties->pending_documents == 0);
    return once && properties->removals == 0 && properties->pending_removals == 0;
}

/* ---- JSON ---- */

/* Returns a number as an integer of JSON, or NULL, without a complaint, if memory ran out. The caller owns it, as it
 * does all values that pack_ functions return. */
static json_t *pack_integer(uint64_t number) { return json_integer((json_int_t)number); }

/* Returns table `number` of a segment, both from 0, as an object of JSON, or NULL, without a complaint, if memory ran
 * out. `bits` is how many bits a fingerprint of the index has. */
static json_t *pack_table(size_t segment, size_t number, unsigned bits, const struct table_measure *measure) {
    const struct idx_table_properties *table = &measure->table;
    char mask[NOTATION_MAX_LENGTH];
    size_t length = notation_format_fingerprint(NOTATION_HEX, bits, table->mask, mask);
    return json_pack("{s:o,s:o,s:s%,s:o,s:o,s:o,s:o,s:o,s:o,s:f,s:o,s:f,s:f,s:f,s:f,s:o,s:f}", "segment",
                     pack_integer(segment), "table", pack_integer(number), "mask", mask, length, "prefix",
                     pack_integer(table->prefix), "radius", pack_integer(table->radius), "block_size",
                     pack_integer(table->block_size), "fingerprints", pack_integer(table->fingerprints), "blocks",
                     pack_integer(table->blocks), "directory_bytes", pack_integer(table->directory_bytes), "key_bits",
                     properties_compute_key_bits(table), "bytes", pack_integer(table->file_bytes),
                     "bits_per_fingerprint", measure->density.bits, "limit", measure->density.limit, "ratio",
                     measure->density.ratio, "mean_group", table->mean_group, "largest_group",
                     pack_integer(table->largest_group), "expected_blocks", table->expected_blocks);
}

/* Returns an index as an object of JSON, or NULL, without a complaint, if memory ran out. Takes over the reference
 * to `tables`, which may be NULL. */
static json_t *pack_index(const struct idx_properties *properties, const struct index_facts *facts, json_t *tables) {
    char dead_bits[NOTATION_MAX_LENGTH], heaviest[NOTATION_MAX_LENGTH];
    size_t dead_bits_length = notation_format_fingerprint(NOTATION_HEX, properties->bits, facts->dead_bits, dead_bits);
    size_t heaviest_length = notation_format_fingerprint(NOTATION_HEX, properties->bits, facts->heaviest, heaviest);
    return json_pack(
        "{s:o,s:s,s:o,s:o,s:s,s:o,s:s,s:b,s:o,s:b,s:o,s:o,s:o,s:o,s:o,s:o,s:s%,s:s%,s:o,s:o,s:o,s:o,s:o,s:o,s:o,s:o,"
        "s:f,s:o}",
        "format_version", pack_integer(properties->format_version), "uuid", properties->uuid, "bits",
        pack_integer(properties->bits), "k", pack_integer(properties->k), "scheme", properties->scheme->name, "recipe",
        *properties->recipe != '\0' ? json_from_bytes(properties->recipe, strlen(properties->recipe)) : json_null(),
        "id_type", id_type_names[properties->id_type], "by_id", (int)properties->by_id, "live",
        pack_integer(properties_compute_max_live(properties)), "live_exact",
        (int)properties_max_live_is_exact(properties), "segments", pack_integer(properties->segments), "fingerprints",
        pack_integer(properties->fingerprints), "documents", pack_integer(properties->documents), "removals",
        pack_integer(properties->removals), "pending_documents", pack_integer(properties->pending_documents),
        "pending_removals", pack_integer(properties->pending_removals), "dead_bits", dead_bits, dead_bits_length,
        "heaviest_fingerprint", heaviest, heaviest_length, "heaviest_documents",
        pack_integer(facts->heaviest_documents), "table_bytes", pack_integer(properties->table_bytes), "document_bytes",
        pack_integer(properties->documents_bytes), "by_id_bytes", pack_integer(properties->by_id_bytes),
        "resident_bytes", pack_integer(properties->resident_bytes), "texts", pack_integer(properties->texts),
        "shingles", pack_integer(properties->members), "set_bytes", pack_integer(properties->sets_bytes), "resemblance",
        (double)properties->threshold / (double)IDX_THRESHOLD_ONE, "tables", tables);
}

bool properties_write_json(const struct idx_index *index, struct output *output, struct idx_error *error) {
    struct idx_properties properties;
    struct table_measure measure;
    struct index_facts facts;
    idx_get_properties(index, &properties);
    if (!properties_find_dead_bits_and_heaviest(index, &properties, &facts, error)) return false;
    json_t *tables = json_array();
    for (size_t segment = 0; segment < properties.segments; segment++) {
        for (size_t table = 0; table < properties.scheme->table_count; table++) {
            if (!properties_measure_table(index, &properties, segment, table, &measure, error)) {
                json_decref(tables);
                return false;
            }
            tables = json_append_value(tables, pack_table(segment, table, properties.bits, &measure));
        }
    }
    json_write_value(output, pack_index(&properties, &facts, tables));
    output_byte(output, '\n');
    return true;
}
