/* numbering.c: sorts fingerprints by preference, numbers them in that order, and sorts them by value again. */
#include "libidx/pairs/numbering.h"

#include "libidx/pairs/document_groups.h"

/* ---- By the first document ---- */

/* Adds each fingerprint to the sorter, with its group's first_document (document_groups.h) as key. */
static enum idx_status add_groups_by_first_document(struct idxi_sorter *sorter, struct idxi_document_groups *groups,
                                                    struct idx_error *error) {
    struct idxi_document_group group;
    bool found;
    for (;;) {
        IDXI_TRY(idxi_document_groups_read_next(groups, &group, &found, error));
        if (!found) return IDX_OK;
        IDXI_TRY(idxi_sorter_add_or_spill(sorter, group.first_document, group.fingerprint, error));
    }
}

/* Opens the groups of an index, and adds all their fingerprints to the sorter by add_groups_by_first_document. `ranks`
 * may be NULL: then first_document is no rank. */
static enum idx_status add_index_by_first_document(struct idxi_sorter *sorter, const struct idx_index *index,
                                                   const struct idxi_id_ranks *ranks, struct idx_error *error) {
    struct idxi_document_groups groups;
    enum idx_status status = idxi_document_groups_open(&groups, index, &sorter->options, ranks, error);
    if (status == IDX_OK) status = add_groups_by_first_document(sorter, &groups, error);
    idxi_document_groups_close(&groups);
    return status;
}

/* Numbers the fingerprints in the order of `sorter`, which has them as values. Sorts them with their numbers in
 * numbering->sorter, and sets numbering->stream to its stream. Errors: IDX_LIMIT (too many), those of sorting. */
static enum idx_status number_sorted_fingerprints(struct idxi_numbering *numbering, struct idxi_sorter *sorter,
                                                  struct idx_error *error) {
    struct idxi_reading reading;
    struct idxi_stream *stream;
    bool found;
    size_t place;
    IDXI_TRY(idxi_sorter_open_stream(sorter, &stream, error));
    idxi_reading_init(&reading, stream, sorter->options.progress);
    for (;;) {
        IDXI_TRY(idxi_reading_next(&reading, &place, &found, error));
        if (!found) break;
        if (numbering->count == IDXI_MAX_NUMBERED)
            return idxi_fail(error, IDX_LIMIT, NULL, "the index has more than %llu fingerprints: it can't be clustered",
                             (unsigned long long)IDXI_MAX_NUMBERED);
        IDXI_TRY(idxi_sorter_add_or_spill(&numbering->sorter, reading.values[place], numbering->count++, error));
    }
    return idxi_sorter_open_stream(&numbering->sorter, &numbering->stream, error);
}

/* Numbers fingerprints in the order of their first document, or if `ranks` is not NULL, of the smallest rank of their
 * IDs. */
static enum idx_status number_by_first_document(struct idxi_numbering *numbering, const struct idx_index *index,
                                                const struct idxi_sorter_options *options,
                                                const struct idxi_id_ranks *ranks, struct idx_error *error) {
    struct idxi_sorter by_first;
    enum idx_status status = idxi_sorter_open(&by_first, options, error);
    if (status == IDX_OK) status = idxi_sorter_open(&numbering->sorter, options, error);
    if (status == IDX_OK) status = add_index_by_first_document(&by_first, index, ranks, error);
    if (status == IDX_OK) status = number_sorted_fingerprints(numbering, &by_first, error);
    idxi_sorter_close(&by_first);
    return status;
}

/* Numbers fingerprints in the order of their smallest text ID. */
static enum idx_status number_by_smallest_id(struct idxi_numbering *numbering, const struct idx_index *index,
                                             const struct idxi_sorter_options *options, uint64_t max_memory,
                                             struct idx_error *error) {
    struct idxi_id_ranks ranks;
    enum idx_status status = idxi_id_ranks_make(&ranks, index, max_memory, error);
    if (status == IDX_OK) status = number_by_first_document(numbering, index, options, &ranks, error);
    idxi_id_ranks_free(&ranks);
    return status;
}

/* ---- By how many documents ---- */

/* Adds each fingerprint to the sorter, with a key that orders by descending count of documents, then by its number in
 * `numbering`. 2^32 - 1 documents and more count as equal. The numbers and the groups are both read in the order of
 * fingerprints, so each group belongs to the number that was just read. */
static enum idx_status add_groups_by_count(struct idxi_sorter *sorter, const struct idxi_numbering *numbering,
                                           struct idxi_document_groups *groups, struct idx_error *error) {
    struct idxi_reading reading;
    struct idxi_document_group group;
    bool found;
    size_t place;
    idxi_reading_init(&reading, numbering->stream, sorter->options.progress);
    for (;;) {
        IDXI_TRY(idxi_reading_next(&reading, &place, &found, error));
        if (!found) return IDX_OK;
        IDXI_TRY(idxi_document_groups_read_next(groups, &group, &found, error));
        if (!found) return IDX_OK;
        uint64_t inverted = group.count < UINT32_MAX ? UINT32_MAX - group.count : 0;
        IDXI_TRY(idxi_sorter_add_or_spill(sorter, inverted << 32 | reading.values[place], group.fingerprint, error));
    }
}

/* Opens the groups of an index, and adds all their fingerprints to the sorter by add_groups_by_count. */
static enum idx_status add_index_by_count(struct idxi_sorter *sorter, const struct idxi_numbering *numbering,
                                          const struct idx_index *index, struct idx_error *error) {
    struct idxi_document_groups groups;
    enum idx_status status = idxi_document_groups_open(&groups, index, &sorter->options, NULL, error);
    if (status == IDX_OK) status = add_groups_by_count(sorter, numbering, &groups, error);
    idxi_document_groups_close(&groups);
    return status;
}

/* Numbers fingerprints by how many documents they have, most first; of equal counts, by their first document. */
static enum idx_status number_by_count(struct idxi_numbering *numbering, const struct idx_index *index,
                                       const struct idxi_sorter_options *options, struct idx_error *error) {
    struct idxi_numbering by_first = {0};
    struct idxi_sorter by_count = {0};
    enum idx_status status = number_by_first_document(&by_first, index, options, NULL, error);
    if (status == IDX_OK) status = idxi_sorter_open(&by_count, options, error);
    if (status == IDX_OK) status = add_index_by_count(&by_count, &by_first, index, error);
    idxi_numbering_close(&by_first);
    if (status == IDX_OK) status = idxi_sorter_open(&numbering->sorter, options, error);
    if (status == IDX_OK) status = number_sorted_fingerprints(numbering, &by_count, error);
    idxi_sorter_close(&by_count);
    return status;
}

/* ---- All ---- */

enum idx_status idxi_numbering_open(struct idxi_numbering *numbering, const struct idx_index *index,
                                    enum idx_representative representative, const struct idxi_sorter_options *options,
                                    uint64_t max_memory, struct idx_error *error) {
    enum idxf_id_type id_type = index->manifest->id_type;
    *numbering = (struct idxi_numbering){0};
    if (representative == IDX_REPRESENTATIVE_MOST_DOCUMENTS && id_type != IDXF_ID_NONE)
        return number_by_count(numbering, index, options, error);
    if (representative == IDX_REPRESENTATIVE_SMALLEST_ID && id_type == IDXF_ID_TEXT)
        return number_by_smallest_id(numbering, index, options, max_memory, error);
    return number_by_first_document(numbering, index, options, NULL, error);
}

void idxi_numbering_close(struct idxi_numbering *numbering) { idxi_sorter_close(&numbering->sorter); }
