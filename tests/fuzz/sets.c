/* sets.c: fuzzes the reader of files of sets: an input is such a file, as it is, and then its bytes are one frame
 * behind a header and a head that are made right. What can be opened is read, and written to; opened again, it has no
 * more that is cut off. */
#include <idx.h>

#include <sys/mman.h>
#include <unistd.h>

#include "format/bytes.h"
#include "format/checksum.h"
#include "tests/fuzz/fuzz.h"

enum { HEADER = 64, FRAME = 24 };

static struct idx_kept_sets *open_sets(const char *path, bool writes) {
    struct idx_kept_sets_options options = IDX_KEPT_SETS_OPTIONS_INIT;
    struct idx_kept_sets *kept;
    options.writes = writes;
    return idx_kept_sets_open(&kept, path, &options, NULL) == IDX_OK ? kept : NULL;
}

/* Reads all hashes of a set, so that a sanitizer sees those that are not there. */
static uint64_t find(struct idx_kept_sets *kept, const void *id, size_t length) {
    struct idx_set set = {NULL, 0};
    uint64_t sum = 0;
    CHECK(idx_kept_sets_find(kept, &(struct idx_document){0, id, length}, &set, NULL) == IDX_OK);
    for (size_t i = 0; i < set.count; i++) sum += set.hashes[i];
    return sum;
}

static void check(const char *path) {
    static const uint64_t hashes[] = {1, 2};
    struct idx_kept_sets *kept = open_sets(path, false);
    if (kept != NULL) find(kept, "a", 1);
    idx_kept_sets_close(kept);
    kept = open_sets(path, true);
    if (kept == NULL) return;
    CHECK(idx_kept_sets_add(kept, &(struct idx_item){.id = "a", .id_length = 1}, &(struct idx_set){hashes, 2}, NULL) ==
          IDX_OK);
    CHECK(idx_kept_sets_sync(kept, NULL) == IDX_OK && find(kept, "a", 1) == 3);
    idx_kept_sets_close(kept);
    kept = open_sets(path, false);
    CHECK(kept != NULL && idx_kept_sets_cut(kept) == 0 && find(kept, "a", 1) == 3);
    idx_kept_sets_close(kept);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static const char shingles[] = "words=5;v1";
    uint8_t front[HEADER + FRAME] = "idx sets";
    char path[64];
    int file = memfd_create("sets", 0);
    CHECK(file >= 0);
    snprintf(path, sizeof path, "/proc/self/fd/%d", file);
    CHECK(write(file, data, size) == (ssize_t)size);
    check(path);
    idxf_store32(front + 8, 1);
    memcpy(front + 16, shingles, sizeof shingles);
    idxf_store64(front + HEADER - 8, idxf_checksum(front, HEADER - 8));
    idxf_store64(front + HEADER, size);
    idxf_store64(front + HEADER + 8, idxf_checksum(data, size));
    idxf_store64(front + HEADER + 16, idxf_checksum(front + HEADER, FRAME - 8));
    CHECK(ftruncate(file, 0) == 0 && pwrite(file, front, sizeof front, 0) == sizeof front);
    CHECK(pwrite(file, data, size, sizeof front) == (ssize_t)size);
    check(path);
    close(file);
    return 0;
}
