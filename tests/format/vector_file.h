/* vector_file.h: reads the text files of conformance vectors (SPEC.md, chapter 14). What breaks their syntax ends the
 * program with a message.
 */
#ifndef IDX_TESTS_FORMAT_VECTOR_FILE_H
#define IDX_TESTS_FORMAT_VECTOR_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define VECTORS_FOLDER IDX_SOURCE_DIR "/format/vectors"

struct bytes {
    uint8_t *at; /* The bytes are followed by a 0 that `size` does not count. */
    size_t size;
};

struct vector {
    char name[128], kind[16], fault[32];
    char *lines; /* the lines after the first one, none of them continued; a string */
};

/* A whole file; the caller frees the bytes. */
struct bytes read_file(const char *path);

/* The text of all vectors of VECTORS_FOLDER, for vector_next; the caller frees it. */
char *vectors_load(void);

/* Gives the vector that begins at `*at`, whose lines stay a part of the text, and moves `*at` behind it. False at the
 * end. */
bool vector_next(char **at, struct vector *vector);

/* The value of the next line of this name, which ends with a line feed; NULL if there is none. `*at` is where to look
 * from, at first the vector's lines, and is moved behind the line. */
char *vector_line(char **at, const char *name);

/* The bytes that a value has up to its line feed; the caller frees them. */
struct bytes vector_bytes(const char *value);

#endif
