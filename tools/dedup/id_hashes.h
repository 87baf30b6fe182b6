/* id_hashes.h: hashes of IDs, by which to find those that several documents have. */
#ifndef IDX_TOOLS_DEDUP_ID_HASHES_H
#define IDX_TOOLS_DEDUP_ID_HASHES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A list of the hashes of IDs: 8 bytes for each ID, which is there as often as it was added. All zero, it is empty. */
struct id_hashes {
    uint64_t *hashes;
    size_t count, capacity;
};

/* Adds the hash of an ID. Returns false after a complaint if memory ran out. */
bool id_hashes_add(struct id_hashes *ids, const void *id, size_t length);

/* Sorts the hashes, once all IDs are added. */
void id_hashes_sort(struct id_hashes *ids);

/* Sets *repeated_ids to how many different IDs were added more than once, and *document_count to how often these were
 * added in all. Of a, a, a, b, b and c, that is 2 and 5. The hashes must be sorted. */
void id_hashes_count_repeated(const struct id_hashes *ids, uint64_t *repeated_ids, uint64_t *document_count);

/* Sorts the hashes, and frees them. If several documents have the same ID, which a list of IDs does not tell apart,
 * complains of how many there are, with `advice` as the end of the sentence. Returns whether there are any. */
bool id_hashes_report_repeated(struct id_hashes *ids, const char *advice);

/* Frees the hashes, and leaves an empty list. */
void id_hashes_free(struct id_hashes *ids);

#endif
