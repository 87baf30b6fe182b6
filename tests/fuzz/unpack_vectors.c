/* unpack_vectors.c: writes the files that conformance vectors have whole (tables, manifests and sums) into a folder, as
 * inputs of the fuzz targets. usage: unpack_vectors FOLDER
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/format/vector_file.h"

static unsigned written;

static void write_bytes(const char *folder, const char *value) {
    char path[4096];
    struct bytes bytes = vector_bytes(value);
    snprintf(path, sizeof path, "%s/%u", folder, written++);
    FILE *file = fopen(path, "wb");
    if (file == NULL || fwrite(bytes.at, 1, bytes.size, file) != bytes.size || fclose(file) != 0) {
        perror(path);
        exit(1);
    }
    free(bytes.at);
}

int main(int argc, char **argv) {
    if (argc != 2) return 2;
    char *text = vectors_load(), *next = text, *value;
    struct vector vector;
    while (vector_next(&next, &vector)) {
        char *at = vector.lines;
        while ((value = vector_line(&at, "bytes")) != NULL) write_bytes(argv[1], value);
        at = vector.lines;
        while ((value = vector_line(&at, "part")) != NULL) write_bytes(argv[1], strchr(value, ' ') + 1);
    }
    free(text);
    printf("%s: %u files\n", argv[1], written);
    return written > 0 ? 0 : 1;
}
