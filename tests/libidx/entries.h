/* entries.h: entries (libidx/streams/stream.h) for the tests of what carries them: sets of every kind, the model that
 * streams are compared with, and a stream that gives them in odd portions, and fails when it is told to. */
#ifndef IDX_TESTS_LIBIDX_ENTRIES_H
#define IDX_TESTS_LIBIDX_ENTRIES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "libidx/streams/stream.h"

struct entries {
    uint64_t *fingerprints, *values;
    size_t count, capacity;
};

enum kind {
    KIND_UNIFORM,
    KIND_FEW,      /* few different fingerprints and values */
    KIND_EQUAL,    /* all the same */
    KIND_EXTREMES, /* the least and the greatest fingerprints and values */
    KIND_DENSE,    /* near one another */
    KIND_COUNT
};

extern const char *const kind_names[KIND_COUNT];

/* Appends one, or `count` of a kind. */
void add_entry(struct entries *entries, uint64_t fingerprint, uint64_t value);
void add_entries(struct entries *entries, enum kind kind, size_t count, uint64_t *seed);

/* Appends all of others. */
void append_entries(struct entries *entries, const struct entries *others);

/* The model: ascending by fingerprint, then, `with_values`, by value. */
void sort_entries(struct entries *entries, bool with_values);

/* Of sorted ones, drops those like the one before; without values, fingerprints alone are compared. */
void drop_repeated(struct entries *entries, bool with_values);

void free_entries(struct entries *entries);

/* A stream that gives up to 1, 2, 3, 1000, 5, 0 more … entries a read, by turns. */
struct portions {
    struct idxi_stream stream;
    const struct entries *entries;
    size_t given, reads;
    size_t fails_at; /* the number of the read, from 1, that fails by IDX_IO_ERROR; 0: none */
    bool fails_to_rewind;
};

void init_portions(struct portions *portions, const struct entries *entries, size_t first);

/* Reads up to `count` entries, `capacity` at a time, and fails where they are not those from number `from` on; nothing
 * may be written behind what was asked for. */
void assert_gives(struct idxi_stream *stream, const struct entries *expected, size_t from, size_t count,
                  bool with_values, size_t capacity);

/* The same for all of them; the stream must end behind them. */
void assert_gives_all(struct idxi_stream *stream, const struct entries *expected, bool with_values, size_t capacity);

#endif
