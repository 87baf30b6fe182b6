/* info.c: `idx info`: prints what an index is, how large it is beside the least that its fingerprints need, and how
 * unevenly they are distributed. */
#include "tools/answers/properties.h"
#include "tools/shared/command.h"
#include "tools/shared/library.h"

#include <inttypes.h>

/* Returns dividend / divisor, or 0 where the divisor is 0, as in an empty index. */
static double divide_or_zero(double dividend, double divisor) { return divisor > 0 ? dividend / divisor : 0; }

/* ---- Text ---- */

/* Writes how many bits are the same in all fingerprints of each segment, and `dead_bits`, the mask of these bits.
 * `bits` is how many bits a fingerprint has. */
static void write_dead_bits(uint64_t dead_bits, unsigned bits, struct output *output) {
    if (dead_bits == 0) {
        output_format(output, "dead bits       none\n");
        return;
    }
    output_format(output, "dead bits       %d, ", __builtin_popcountll(dead_bits));
    output_fingerprint(output, NOTATION_HEX, bits, dead_bits);
    output_byte(output, '\n');
}

/* Writes the fingerprint that the most documents have, and how many, or "none" if there are no documents. */
static void write_heaviest(const struct index_facts *facts, unsigned bits, struct output *output) {
    if (facts->heaviest_documents == 0) {
        output_format(output, "heaviest        none\n");
        return;
    }
    output_format(output, "heaviest        ");
    output_fingerprint(output, NOTATION_HEX, bits, facts->heaviest);
    output_format(output, ", documents: %" PRIu64 "\n", facts->heaviest_documents);
}

/* Writes the size of the map from IDs, or "no" if the index has none. */
static void write_map_from_ids(const struct idx_properties *properties, struct output *output) {
    if (!properties->by_id)
        output_format(output, "map from IDs    no\n");
    else
        output_format(output, "map from IDs    bytes: %" PRIu64 ", %.2f per document\n", properties->by_id_bytes,
                      divide_or_zero((double)properties->by_id_bytes, (double)properties->documents));
}

/* Writes what properties_compute_max_live counts, documents for example, and ends the line. */
static void write_noun_of_live(const struct idx_properties *properties, struct output *output) {
    struct idx_recipe_properties recipe = recipe_read(properties->recipe);
    if (recipe.method == IDX_RECIPE_MINHASH)
        output_format(output, "values of sketches, up to %u per text\n", recipe.number);
    else
        output_text(output, properties->id_type == IDX_ID_NONE ? "fingerprints\n" : "documents\n");
}

/* Writes the lines that only indexes of texts have; none for others. */
static void write_properties_of_texts(const struct idx_properties *properties, struct output *output) {
    double texts = (double)properties->texts;
    if (properties->sketch == 0) return;
    output_format(output, "resemblance     %.4g\n", (double)properties->threshold / (double)IDX_THRESHOLD_ONE);
    output_format(output, "texts           %" PRIu64 ", shingles: %" PRIu64 ", %.2f per text\n", properties->texts,
                  properties->members, divide_or_zero((double)properties->members, texts));
    output_format(output, "set bytes       %" PRIu64 ", %.2f per text\n", properties->sets_bytes,
                  divide_or_zero((double)properties->sets_bytes, texts));
}

/* Writes a line for each property of the index, and an empty line. */
static void write_properties(const struct idx_properties *properties, const struct index_facts *facts,
                             struct output *output) {
    double fingerprints = (double)properties->fingerprints;
    output_format(output, "format version  %u\n", properties->format_version);
    output_format(output, "uuid            %s\n", properties->uuid);
    output_format(output, "bits            %u\n", properties->bits);
    output_format(output, "k               %u\n", properties->k);
    output_format(output, "scheme          %s, %zu table%s\n", properties->scheme->name,
                  properties->scheme->table_count, properties->scheme->table_count == 1 ? "" : "s");
    output_text(output, "recipe          ");
    output_printable(output, *properties->recipe != '\0' ? properties->recipe : "not known");
    output_byte(output, '\n');
    output_format(output, "id type         %s\n", id_type_names[properties->id_type]);
    output_format(output, "live            %s%" PRIu64 " ", properties_max_live_is_exact(properties) ? "" : "at most ",
                  properties_compute_max_live(properties));
    write_noun_of_live(properties, output);
    output_format(output, "segments        %zu\n", properties->segments);
    output_format(output, "fingerprints    %" PRIu64 "\n", properties->fingerprints);
    output_format(output, "documents       %" PRIu64 "\n", properties->documents);
    output_format(output, "removals        %" PRIu64 "\n", properties->removals);
    output_format(output, "pending         documents: %" PRIu64 ", removals: %" PRIu64 "\n",
                  properties->pending_documents, properties->pending_removals);
    write_dead_bits(facts->dead_bits, properties->bits, output);
    write_heaviest(facts, properties->bits, output);
    output_format(output, "table bytes     %" PRIu64 ", %.2f per fingerprint\n", properties->table_bytes,
                  divide_or_zero((double)properties->table_bytes, fingerprints));
    output_format(output, "document bytes  %" PRIu64 ", %.2f per fingerprint\n", properties->documents_bytes,
                  divide_or_zero((double)properties->documents_bytes, fingerprints));
    write_map_from_ids(properties, output);
    write_properties_of_texts(properties, output);
    output_format(output, "resident bytes  %" PRIu64 ", %.2f per fingerprint\n\n", properties->resident_bytes,
                  divide_or_zero((double)properties->resident_bytes, fingerprints));
}

/* Writes the names of the columns of tables. */
static void write_table_head(struct output *output) {
    output_format(output, "%7s %5s %16s %6s %6s %10s %12s %9s %8s %12s %9s %7s %7s %9s %9s %7s\n", "segment", "table",
                  "mask", "prefix", "radius", "block size", "fingerprints", "directory", "key bits", "bytes", "bits/fp",
                  "limit", "ratio", "group", "largest", "blocks");
}

/* Writes the line of table `number` of a segment, both from 0, with the columns of write_table_head. `bits` is how many
 * bits a fingerprint has. */
static void write_table_row(size_t segment, size_t number, unsigned bits, const struct table_measure *measure,
                            struct output *output) {
    const struct idx_table_properties *table = &measure->table;
    int hex_digits = (int)(bits + 3) / 4; /* Spaces before them align them with the 16 of a wider mask. */
    output_format(output, "%7zu %5zu %*s", segment, number, 17 - hex_digits, "");
    output_fingerprint(output, NOTATION_HEX, bits, table->mask);
    output_format(output,
                  " %6u %6u %10" PRIu32 " %12" PRIu64 " %9" PRIu64 " %8.2f %12" PRIu64
                  " %9.3f %7.3f %7.4f %9.2f %9" PRIu64 " %7.2f\n",
                  table->prefix, table->radius, table->block_size, table->fingerprints, table->directory_bytes,
                  properties_compute_key_bits(table), table->file_bytes, measure->density.bits, measure->density.limit,
                  measure->density.ratio, table->mean_group, table->largest_group, table->expected_blocks);
}

/* Writes the properties, a line for each table, and means of all tables. Sets *error and returns false if the library
 * fails; then a part may be written. */
static bool write_info_as_text(const struct idx_index *index, struct output *output, struct idx_error *error) {
    struct idx_properties properties;
    /* Sums over all tables, for the means. */
    double tables = 0, bits_sum = 0, ratio_sum = 0, key_bytes = 0, blocks = 0;
    struct table_measure measure;
    struct index_facts facts;
    idx_get_properties(index, &properties);
    if (!properties_find_dead_bits_and_heaviest(index, &properties, &facts, error)) return false;
    write_properties(&properties, &facts, output);
    write_table_head(output);
    for (size_t segment = 0; segment < properties.segments; segment++) {
        for (size_t table = 0; table < properties.scheme->table_count; table++) {
            if (!properties_measure_table(index, &properties, segment, table, &measure, error)) return false;
            write_table_row(segment, table, properties.bits, &measure, output);
            bits_sum += measure.density.bits;
            ratio_sum += measure.density.ratio;
            tables++;
            key_bytes += (double)measure.table.directory_bytes;
            blocks += (double)measure.table.blocks;
        }
    }
    output_format(output, "\non average, %.2f bits of each block's last fingerprint are in memory\n",
                  divide_or_zero(key_bytes * 8, blocks));
    output_format(output, DENSITY_MEAN_FORMAT "\n", divide_or_zero(bits_sum, tables),
                  divide_or_zero(ratio_sum, tables));
    return true;
}

/* Opens the index at `path`, and prints its properties, in JSON if `json` is set; complains if that fails. Returns the
 * status of the process. */
static int open_and_print_index(const char *path, bool json) {
    struct output output = OUTPUT_STANDARD;
    struct idx_index *index = NULL;
    struct idx_error error;
    if (!succeeded(idx_open(&index, path, NULL, &error), &error)) return ENDS_BADLY;
    bool ok = json ? properties_write_json(index, &output, &error) : write_info_as_text(index, &output, &error);
    if (!ok) complain("%s", error.sentence);
    idx_close(index);
    return output_close(&output) && ok ? ENDS_WELL : ENDS_BADLY;
}

/* Runs `idx info`. Returns ENDS_WELL if everything was printed, or else ENDS_BADLY. */
int command_info(int argc, char **argv) {
    int format = PRINTS_LINES, status;
    struct strings operands;
    const struct option_rule rules[] = {
#include "options/info.h" /* the rules made of info.txt; they set `format` */
    };
    const struct grammar grammar = GRAMMAR(info, rules, "INDEX", 1, 1);
    if (!arguments_read(&grammar, argc, argv, &operands, &status)) return status;
    return open_and_print_index(operands.values[0], format == PRINTS_JSON);
}
