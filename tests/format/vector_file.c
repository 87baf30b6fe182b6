/* vector_file.c: see vector_file.h. */
#include "tests/format/vector_file.h"

#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static _Noreturn void refuse(const char *what, const char *at) {
    fprintf(stderr, "%s: %.60s\n", what, at);
    exit(1);
}

static void *allocate(size_t size) {
    void *memory = calloc(1, size);
    if (memory == NULL) refuse("no memory", "");
    return memory;
}

struct bytes read_file(const char *path) {
    struct bytes bytes;
    FILE *file = fopen(path, "rb");
    if (file == NULL || fseek(file, 0, SEEK_END) != 0) refuse("can't be read", path);
    bytes.size = (size_t)ftell(file);
    rewind(file);
    bytes.at = allocate(bytes.size + 1);
    if (fread(bytes.at, 1, bytes.size, file) != bytes.size) refuse("can't be read", path);
    fclose(file);
    return bytes;
}

/* Appends a file, with its continued lines joined, and an empty line. Returns the end. */
static char *append_joined(char *to, const struct bytes *file) {
    for (size_t i = 0; i < file->size; i++) {
        if (file->at[i] != '\n' || file->at[i + 1] != ' ') *to++ = (char)file->at[i];
    }
    *to++ = '\n';
    return to;
}

char *vectors_load(void) {
    glob_t found;
    size_t room = 1;
    if (glob(VECTORS_FOLDER "/*.txt", 0, NULL, &found) != 0) refuse("no vectors", VECTORS_FOLDER);
    struct bytes *files = allocate(found.gl_pathc * sizeof *files);
    for (size_t i = 0; i < found.gl_pathc; i++) {
        files[i] = read_file(found.gl_pathv[i]);
        room += files[i].size + 1;
    }
    char *text = allocate(room), *end = text;
    for (size_t i = 0; i < found.gl_pathc; i++) {
        end = append_joined(end, &files[i]);
        free(files[i].at);
    }
    free(files);
    globfree(&found);
    return text;
}

bool vector_next(char **at, struct vector *vector) {
    int length = 0;
    if (**at == '\0') return false;
    if (sscanf(*at, "vector %127[^ \n] %15[^ \n] %31[^ \n]%n", vector->name, vector->kind, vector->fault, &length) !=
            3 ||
        (*at)[length] != '\n')
        refuse("no vector begins here", *at);
    char *end = strstr(*at + length, "\n\n");
    if (end == NULL) refuse("no empty line follows", *at);
    vector->lines = *at + length + 1;
    end[1] = '\0';
    *at = end + 2;
    return true;
}

char *vector_line(char **at, const char *name) {
    size_t length = strlen(name);
    while (**at != '\0') {
        char *line = *at, *end = strchr(line, '\n');
        *at = end + 1;
        if (strncmp(line, name, length) != 0) continue;
        if (line[length] == '\n') return line + length;
        if (line[length] == ' ') return line + length + 1;
    }
    return NULL;
}

static bool read_pair(const char *at, uint8_t *byte) {
    static const char digits[] = "0123456789abcdef";
    const char *high = *at == '\0' ? NULL : strchr(digits, at[0]);
    const char *low = high == NULL || at[1] == '\0' ? NULL : strchr(digits, at[1]);
    if (low == NULL) return false;
    *byte = (uint8_t)((high - digits) << 4 | (low - digits));
    return true;
}

/* Reads the item that begins at `*at`, and moves that behind it. Returns how many bytes it has, which are written to
 * `to` unless that is NULL. */
static size_t read_item(const char **at, uint8_t *to) {
    const char *item = *at;
    size_t size = 0;
    uint8_t byte = 0;
    if (*item == '"') {
        size = strcspn(item + 1, "\"\n");
        if (item[size + 1] != '"') refuse("no quotation mark follows", item);
        if (to != NULL) memcpy(to, item + 1, size);
        *at = item + size + 2;
        return size;
    }
    if (read_pair(item, &byte) && item[2] == '*') {
        char *end;
        size = strtoul(item + 3, &end, 10);
        if (to != NULL) memset(to, byte, size);
        *at = end;
    } else {
        for (; read_pair(*at, &byte); *at += 2, size++)
            if (to != NULL) to[size] = byte;
    }
    if (size == 0) refuse("no item", item);
    return size;
}

static size_t read_items(const char *at, uint8_t *to) {
    size_t size = 0;
    while (*at != '\n') {
        size += read_item(&at, to == NULL ? NULL : to + size);
        if (*at == ' ' && at[1] != '\n')
            at++;
        else if (*at != '\n')
            refuse("no item ends here", at);
    }
    return size;
}

struct bytes vector_bytes(const char *value) {
    struct bytes bytes = {NULL, read_items(value, NULL)};
    bytes.at = allocate(bytes.size + 1);
    read_items(value, bytes.at);
    return bytes;
}
