/* index_making.c: what commands say before and after they make an index, and how they add documents to it. */
#include "tools/input/index_making.h"

#include "tools/shared/files.h"

#include <inttypes.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/statvfs.h>

/* ---- Before an index is made ---- */

static void check_room(const char *folder, const char *what, uint64_t bytes) {
    char needed[SIZE_LENGTH], left[SIZE_LENGTH];
    struct statvfs status;
    if (statvfs(folder, &status) != 0) return;
    double room = (double)status.f_bavail * (double)status.f_frsize;
    if (room >= (double)bytes) return;
    size_print(needed, (double)bytes);
    size_print(left, room);
    complain("the file system of %s has %s free, but %s may need %s there", folder, left, what, needed);
}

static bool same_file_system(const char *a, const char *b) {
    struct stat status_a, status_b;
    return stat(a, &status_a) == 0 && stat(b, &status_b) == 0 && status_a.st_dev == status_b.st_dev;
}

static void say_forecast(const struct idx_build_estimate *estimate, const struct input_size *size) {
    char memory[SIZE_LENGTH], index[SIZE_LENGTH], peak[SIZE_LENGTH];
    size_print(memory, (double)estimate->memory_bytes);
    size_print(index, (double)(estimate->index_bytes + size->id_bytes));
    size_print(peak, (double)(estimate->peak_bytes + size->id_bytes));
    complain("about %" PRIu64 " documents: up to %s of memory, up to %s of disk, and %s for the index", size->documents,
             memory, peak, index);
}

void forecast(const struct idx_build_options *options, const char *output, const struct input_size *size, bool shown) {
    struct idx_build_estimate estimate;
    char *folder = folder_parent(output);
    if (folder == NULL || idx_estimate_build(options, size->documents, &estimate, NULL) != IDX_OK) {
        free(folder);
        return;
    }
    if (shown) say_forecast(&estimate, size);
    const char *temporary = options->temporary_folder;
    if (temporary == NULL || same_file_system(folder, temporary)) {
        check_room(folder, "the build", estimate.peak_bytes + size->id_bytes);
    } else {
        check_room(folder, "the index", estimate.index_bytes + size->id_bytes);
        check_room(temporary, "temporary files", estimate.temporary_bytes);
    }
    free(folder);
}

/* ---- Adding documents ---- */

bool making_add(struct idx_builder *builder, enum idx_id_type id_type, const struct tsv_record *record) {
    struct idx_error error;
    enum idx_status status = id_type == IDX_ID_TEXT
                                 ? idx_builder_add(builder, record->fingerprint, record->id, record->id_length, &error)
                                 : idx_builder_add_u64(builder, record->fingerprint, record->number, &error);
    return succeeded(status, &error);
}

/* ---- The summary ---- */

static void say_summary(const char *path, const struct idx_build_summary *summary,
                        const struct idx_properties *properties) {
    double tables = summary->tables > 0 ? (double)summary->tables : 1;
    struct density density = density_of((double)summary->table_bytes / tables, summary->fingerprints, properties->bits);
    complain("added %" PRIu64 " %s to %s: %" PRIu64 " distinct fingerprints; scheme %s, %zu tables of %" PRIu64
             " bytes in total; document map: %" PRIu64 " bytes",
             summary->documents, names_of_documents(properties->id_type, summary->documents), path,
             summary->fingerprints, summary->scheme, summary->tables, summary->table_bytes, summary->documents_bytes);
    if (summary->by_id_bytes > 0) complain("map from IDs: %" PRIu64 " bytes", summary->by_id_bytes);
    complain(DENSITY_MEAN_FORMAT, density.bits, density.ratio);
    complain("%" PRIu64 " bytes went through temporary files", summary->temporary_bytes);
}

/* ---- Warnings ---- */

/* There are no warnings about fewer fingerprints, which are quick to search anyway. */
#define FINGERPRINTS_WORTH_A_WARNING 1000
#define MUCH_MORE 4 /* Probes that search this many times the blocks of evenly spread fingerprints are warned of. */

/* What one probe of each table of a segment searches, and the table with the largest group of equal prefixes. */
struct skew {
    double blocks,
        even_blocks; /* Blocks that the probes search, and would search if fingerprints were spread evenly. */
    size_t table;
    struct idx_table_properties largest;
};

/* Measures the tables of the first segment. Returns false if the library fails. */
static bool measure_skew(const struct idx_index *index, size_t tables, struct skew *skew) {
    struct idx_table_properties table;
    *skew = (struct skew){0};
    for (size_t i = 0; i < tables; i++) {
        if (idx_get_table_properties(index, 0, i, &table, NULL) != IDX_OK) return false;
        skew->blocks += table.expected_blocks;
        skew->even_blocks += table.even_blocks;
        if (i > 0 && table.largest_group <= skew->largest.largest_group) continue;
        skew->table = i;
        skew->largest = table;
    }
    return true;
}

/* Warns of dead bits, and of prefixes that many fingerprints share. */
static void warn_of_skew(const struct idx_properties *properties, const struct skew *skew) {
    uint64_t dead = skew->largest.dead_bits;
    char mask[NOTATION_MAX_LENGTH];
    size_t length = notation_print(NOTATION_HEX, properties->bits, dead, mask);
    if (dead != 0)
        complain("%d of %u bits are the same in all fingerprints (mask %.*s): tables with these bits in front are less "
                 "selective; see idx info and idx plan",
                 __builtin_popcountll(dead), properties->bits, (int)length, mask);
    if (skew->blocks > MUCH_MORE * skew->even_blocks)
        complain("one probe of each table searches about %.0f blocks, compared with %.0f for evenly spread "
                 "fingerprints: the largest group, in table %zu, has %" PRIu64
                 " fingerprints with the same %u-bit prefix; another --scheme may be better, see idx info",
                 skew->blocks, skew->even_blocks, skew->table, skew->largest.largest_group, skew->largest.prefix);
}

/* A fingerprint is warned of if at least one of this many documents has it. */
#define HEAVY_SHARE 100

static void warn_of_heaviest(const struct idx_index *index, const struct idx_properties *properties) {
    uint64_t fingerprint, documents;
    char text[NOTATION_MAX_LENGTH];
    if (idx_get_heaviest(index, &fingerprint, &documents, NULL) != IDX_OK) return;
    if (documents < properties->documents / HEAVY_SHARE) return;
    size_t length = notation_print(NOTATION_HEX, properties->bits, fingerprint, text);
    complain("%" PRIu64 " of %" PRIu64 " documents have the fingerprint %.*s: such documents are often empty pages, or "
             "nothing but menus; idx lookup lists them",
             documents, properties->documents, (int)length, text);
}

/* ---- The whole ---- */

static void say_leftovers(const char *path, size_t leftovers) {
    if (leftovers == 1)
        complain("removed a folder that a killed build had left beside %s", path);
    else if (leftovers > 1)
        complain("removed %zu folders that killed builds had left beside %s", leftovers, path);
}

/* If the index can't be opened here, messages about it are left out; it is published nevertheless. */
void making_report(const char *path, const struct idx_build_summary *summary, const struct progress *progress) {
    struct idx_open_options options = IDX_OPEN_OPTIONS_INIT;
    struct idx_index *index = NULL;
    struct idx_properties properties;
    struct skew skew;
    options.residence = IDX_RESIDENCE_NONE;
    bool open = idx_open(&index, path, &options, NULL) == IDX_OK;
    if (open) idx_get_properties(index, &properties);
    if (open && progress->shown) say_summary(path, summary, &properties);
    if (progress->shown) progress_print_phases(progress);
    say_leftovers(path, summary->leftovers);
    if (summary->mixed_icu) complain("%s", recipes_icu_warning);
    if (open && properties.fingerprints >= FINGERPRINTS_WORTH_A_WARNING &&
        measure_skew(index, properties.scheme->table_count, &skew))
        warn_of_skew(&properties, &skew);
    if (open && properties.documents >= FINGERPRINTS_WORTH_A_WARNING) warn_of_heaviest(index, &properties);
    if (open) idx_close(index);
}
