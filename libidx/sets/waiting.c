/* waiting.c: writes and reads the sets that wait for a further round. */
#include "libidx/sets/waiting.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* What the file has for a set, before the tags of its prefix; and how many numbers of 32 bits that is. */
struct head {
    uint32_t rank, size, shared, prefix;
};
#define HEAD_NUMBERS (sizeof(struct head) / sizeof(uint32_t))

void idxi_waiting_init(struct idxi_waiting *waiting, struct idxi_set_store *store) {
    *waiting = (struct idxi_waiting){.store = store, .file = -1};
    pthread_mutex_init(&waiting->mutex, NULL);
}

enum idx_status idxi_waiting_append_set(struct idxi_query_arena *numbers, const struct idxi_query *query,
                                        struct idx_error *error) {
    const struct head head = {query->rank, query->size, query->shared, query->prefix};
    if (query->prefix == 0) return IDX_OK;
    IDXI_GROW(numbers->numbers, numbers->capacity, numbers->used + HEAD_NUMBERS + query->prefix, error);
    memcpy(numbers->numbers + numbers->used, &head, sizeof head);
    memcpy(numbers->numbers + numbers->used + HEAD_NUMBERS, query->tags, query->prefix * sizeof *query->tags);
    numbers->used += HEAD_NUMBERS + query->prefix;
    return IDX_OK;
}

/* Appends a part to the list, with a place at the end of the file, which is made if there is none. The caller holds the
 * mutex, and writes the part's numbers to that place afterwards. */
static enum idx_status register_part(struct idxi_waiting *waiting, const struct idxi_waiting_part *part,
                                     struct idx_error *error) {
    struct idxi_set_store *store = waiting->store;
    IDXI_GROW(waiting->parts, waiting->capacity, waiting->count + 1, error);
    IDXI_TRY(idxi_set_store_open_folder(store, error));
    if (waiting->file < 0) IDXI_TRY(idxi_make_temporary_file(&waiting->file, store->folder, store->path, error));
    IDXI_TRY(idxi_set_store_check_disk(store, waiting->file, part->count * sizeof(uint32_t), error));
    waiting->parts[waiting->count] = *part;
    waiting->parts[waiting->count++].offset = waiting->used;
    waiting->used += part->count;
    return IDX_OK;
}

enum idx_status idxi_waiting_write_part(struct idxi_waiting *waiting, struct idxi_query_arena *numbers,
                                        uint32_t begin_rank, uint32_t end_rank, struct idx_error *error) {
    const struct idxi_waiting_part part = {.count = (uint32_t)numbers->used, .begin = begin_rank, .end = end_rank};
    if (part.count == 0) return IDX_OK;
    numbers->used = 0;
    pthread_mutex_lock(&waiting->mutex);
    const enum idx_status status = register_part(waiting, &part, error);
    const uint64_t offset = waiting->used - part.count;
    pthread_mutex_unlock(&waiting->mutex);
    IDXI_TRY(status);
    return idxi_write_at(waiting->file, numbers->numbers, part.count * sizeof(uint32_t), offset * sizeof(uint32_t),
                         waiting->store->path, error);
}

enum idx_status idxi_waiting_read_part(const struct idxi_waiting *waiting, const struct idxi_waiting_part *part,
                                       struct idxi_query_arena *numbers, struct idx_error *error) {
    IDXI_GROW(numbers->numbers, numbers->capacity, part->count, error);
    numbers->used = part->count;
    return idxi_read_at(waiting->file, numbers->numbers, part->count * sizeof(uint32_t),
                        part->offset * sizeof(uint32_t), waiting->store->path, error);
}

void idxi_waiting_parse_set(const struct idxi_query_arena *numbers, size_t *position, struct idxi_query *query) {
    struct head head;
    memcpy(&head, numbers->numbers + *position, sizeof head);
    *query = (struct idxi_query){.rank = head.rank,
                                 .size = head.size,
                                 .shared = head.shared,
                                 .prefix = head.prefix,
                                 .listed = head.prefix,
                                 .tags = numbers->numbers + *position + HEAD_NUMBERS};
    *position += HEAD_NUMBERS + head.prefix;
}

void idxi_waiting_close(struct idxi_waiting *waiting) {
    if (waiting->file >= 0) close(waiting->file);
    free(waiting->parts);
    pthread_mutex_destroy(&waiting->mutex);
}
