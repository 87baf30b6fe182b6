/* forge.h: changes to the files of an index whose checksums agree again afterwards. */
#ifndef IDX_TESTS_LIBIDX_FORGE_H
#define IDX_TESTS_LIBIDX_FORGE_H

#include <stddef.h>
#include <stdint.h>

/* Overwrites bytes of a file, and no more. */
void change_bytes(const char *path, size_t offset, const void *bytes, size_t length);

/* Cuts a file, or lengthens it with zeros. */
void change_size(const char *path, size_t size);

/* Makes the checksums of a table file right: of its pages and its header. */
void seal_table(const char *path);

/* Overwrites bytes of a table file and seals it. */
void forge_table(const char *path, size_t offset, const void *bytes, size_t length);

/* Writes the docs.sum of a segment's folder for the docs.mdb that is there, and for the segment of that uuid. */
void forge_sums(const char *segment, const uint8_t *uuid);

/* The uuid of the segment that a table file belongs to. */
void read_segment_uuid(const char *table, uint8_t uuid[16]);

/* Writes a manifest of these lines (each with its line end) and their checksum's line. */
void forge_manifest(const char *path, const char *lines);

#endif
