/* replay.c: runs a fuzz target over every file below the folders named, without libFuzzer. Each input stands in an
 * allocation of its own size, so that a sanitizer sees a read of one byte too many. */
#include "tests/fuzz/fuzz.h"

#include <ftw.h>

static unsigned inputs;

static int replay(const char *path, const struct stat *stat, int type, struct FTW *ftw) {
    (void)ftw;
    if (type != FTW_F) return 0;
    size_t size = (size_t)stat->st_size;
    uint8_t *data = malloc(size > 0 ? size : 1);
    FILE *file = fopen(path, "rb");
    if (data == NULL || file == NULL || fread(data, 1, size, file) != size) {
        perror(path);
        exit(1);
    }
    fclose(file);
    if (size == 0) {
        free(data);
        data = NULL;
    }
    LLVMFuzzerTestOneInput(data, size);
    free(data);
    inputs++;
    return 0;
}

int main(int argc, char **argv) {
    for (int i = 1; i < argc; i++) {
        unsigned before = inputs;
        if (nftw(argv[i], replay, 16, FTW_PHYS) != 0) {
            perror(argv[i]);
            return 1;
        }
        printf("%s: %u inputs\n", argv[i], inputs - before);
        if (inputs == before) return 1;
    }
    return argc > 1 ? 0 : 1;
}
