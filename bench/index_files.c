/* index_files.c: see index_files.h. */
#include "bench/index_files.h"

#include "bench/memory.h"

#include <fcntl.h>
#include <ftw.h>
#include <idx.h>
#include <stdio.h>
#include <unistd.h>

static void try(enum idx_status status, const struct idx_error *error) {
    if (status != IDX_OK) die("%s", error->sentence);
}

/* The index that stands there now, or "". */
static char made[4096];

static int remove_file(const char *path, const struct stat *status, int type, struct FTW *walk) {
    (void)status, (void)type, (void)walk;
    return remove(path);
}

void remove_index_at(const char *path) { nftw(path, remove_file, 8, FTW_DEPTH | FTW_PHYS); }

void remove_index(void) {
    if (made[0] != 0) remove_index_at(made);
    made[0] = 0;
}

void make_index(const struct data *data, const struct index_choice *choice, const char *path) {
    struct idx_build_options options = IDX_BUILD_OPTIONS_INIT;
    struct idx_builder *builder;
    struct idx_error error;
    options.k = data->k;
    options.scheme = choice->scheme;
    options.block_size = choice->block_size;
    options.id_type = IDX_ID_NONE;
    options.threads = 2;
    try(idx_builder_open(&builder, path, &options, &error), &error);
    for (size_t i = 0; i < data->count; i++)
        try(idx_builder_add_u64(builder, data->fingerprints[i], 0, &error), &error);
    try(idx_builder_finish(builder, NULL, &error), &error);
    idx_builder_close(builder);
    snprintf(made, sizeof made, "%s", path);
}

static int drop_file(const char *path, const struct stat *status, int type, struct FTW *walk) {
    (void)status, (void)walk;
    if (type != FTW_F) return 0;
    int file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0) return -1;
    int result = fsync(file) == 0 && posix_fadvise(file, 0, 0, POSIX_FADV_DONTNEED) == 0 ? 0 : -1;
    close(file);
    return result;
}

void drop_cache(const char *path) {
    if (nftw(path, drop_file, 8, FTW_PHYS) != 0) die("%s can't be taken out of the page cache", path);
}
