/* idx_planning.h: the public header of libidx, which says what schemes and machines are expected to take.
 *
 * These calls list the schemes to choose from, estimate what look-ups with them take, and measure what this machine
 * takes for their parts. `idx plan` is made of them. Nothing else needs them: a builder chooses a scheme by itself.
 *
 * Unlike idx.h, this header may change with any release: its calls, structs and macros are no part of the binary
 * interface that stays the same for all releases 1.x, since the model of costs that they expose may still change. They
 * have a version of their own, IDX_PLANNING, in the library. A program that uses them is compiled for one release.
 *
 * Calls
 *   idx_calibrate          measures what look-ups take on this machine
 *   idx_plan               lists the schemes that are worth considering, with their costs
 *   idx_plan_scheme        says what one scheme is expected to cost
 *   idx_plan_unpacked      says what an unpacked index is expected to take
 *   idx_chance_matches     returns how many fingerprints are near by chance
 *   idx_pairs_seconds      returns what finding all pairs is expected to take
 *   idx_information_limit  returns the least size of a set of fingerprints
 *
 * Conventions
 * The conventions are those of idx.h.
 */
#ifndef IDX_PLANNING_H
#define IDX_PLANNING_H

#include <idx.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Calibration ------------------------------------------------------------------------------------------------- */

#define IDX_CALIBRATION_SIZES 10
#define IDX_CALIBRATION_LEAST 65536

/* What look-ups take on one core of a machine, in nanoseconds: work, with everything in the first caches, and waits for
 * memory. idx_calibrate measures them. */
struct idx_calibration {
    size_t size;
    double table;     /* each table that a query probes */
    double probe;     /* each probe, with a block of IDX_MIN_BLOCK_SIZE */
    double byte;      /* each byte of that block beyond IDX_MIN_BLOCK_SIZE */
    double block;     /* each further block of a probe */
    double candidate; /* each fingerprint that has the prefix */
    double single;    /* each query that is looked up alone */
    /* For a cache line at random among IDX_CALIBRATION_LEAST · 4^i bytes: loaded ones, or mapped ones of a file. A wait
     * is the time per line when many lines are requested together, a latency the time for one line alone. */
    double loaded_waits[IDX_CALIBRATION_SIZES];
    double loaded_latencies[IDX_CALIBRATION_SIZES];
    double mapped_waits[IDX_CALIBRATION_SIZES];
    double mapped_latencies[IDX_CALIBRATION_SIZES];
};

#define IDX_CALIBRATION_INIT                                                                                           \
    {                                                                                                                  \
        sizeof(struct idx_calibration), 0, 0, 0, 0, 0, 0, {0}, {0}, {0}, { 0 }                                         \
    }

/* Measures a calibration on this machine, on the caller's thread, in about five seconds at most, also where others
 * leave it little of the processor: looks up in small indexes, which it builds in `temporary_folder` (may be
 * NULL) and removes, and reads memory, up to 4 GiB or a quarter of what is free. Beyond that, it extrapolates.
 * `calibration` must have been initialised. Errors: as idx_builder_open and idx_builder_finish. */
IDX_API enum idx_status idx_calibrate(struct idx_calibration *calibration, const char *temporary_folder,
                                      struct idx_error *error);

/* ---- Plans ------------------------------------------------------------------------------------------------------- */

struct idx_plan_options {
    size_t size;
    uint64_t count; /* distinct fingerprints */
    unsigned bits;
    unsigned k;
    uint32_t block_size;
    unsigned max_bytes_per_fingerprint; /* as in struct idx_build_options */
    /* What is known of the fingerprints: the bits that are the same in all of them, and a function that returns how
     * many other fingerprints share the bits of a mask with a random one, on average. 0 and NULL: they are uniform. */
    uint64_t dead_bits;
    double (*expected_group)(void *context, uint64_t mask);
    void *context;
    /* The machine that look-ups run on; NULL: a typical server. Only times depend on it, and which schemes are worth
     * considering. What `auto` chooses does not. */
    const struct idx_calibration *calibration;
    enum idx_residence residence; /* of the open index, on which the same depends; not IDX_RESIDENCE_UNPACKED, for which
                                     there is idx_plan_unpacked */
};

#define IDX_PLAN_OPTIONS_INIT                                                                                          \
    {                                                                                                                  \
        sizeof(struct idx_plan_options), 0, 64, 3, IDX_DEFAULT_BLOCK_SIZE, 0, 0, NULL, NULL, NULL,                     \
            IDX_RESIDENCE_DIRECTORY                                                                                    \
    }

/* A scheme that covers k, and its expected cost. */
struct idx_plan {
    char scheme[832]; /* as idx_scheme_parse accepts it: a name, or up to 40 masks; empty if they are more */
    size_t tables;
    unsigned min_prefix, max_prefix; /* bits, over the tables */
    double probes;                   /* prefixes looked up per query */
    double candidates;               /* fingerprints with one of these prefixes, per query */
    double blocks;                   /* blocks searched per query */
    double pages;                    /* pages of 4096 bytes that have these: reads, if blocks are on a disk */
    double nanoseconds;              /* per query: one thread, many queries at once, files in the page cache */
    double single_nanoseconds;       /* the same if queries are asked for one by one */
    double table_bytes;              /* total of all table files */
    double resident_bytes;           /* total that opening with IDX_RESIDENCE_DIRECTORY allocates for the tables */
    bool chosen;                     /* `auto` chooses this one */
    uint64_t reserved[8];
};

/* Lists the schemes worth considering, those with the fewest tables (and so bytes) first. Each is at least a twentieth
 * faster than all before it, and is proved to cover k; but with a calibration, or any residence except
 * IDX_RESIDENCE_DIRECTORY, the one that `auto` chooses is listed however fast it is. Stores up to `capacity` plans, and
 * sets *plan_count to how many there are.
 * Errors: IDX_INVALID_ARGUMENT, IDX_LIMIT (more blocks than a table can have: larger blocks are needed),
 * IDX_OUT_OF_MEMORY. */
IDX_API enum idx_status idx_plan(const struct idx_plan_options *options, struct idx_plan *plans, size_t capacity,
                                 size_t *plan_count, struct idx_error *error);

/* The expected cost of one scheme of `bits` bits, whether idx_plan lists it or not. `chosen` is false. Errors:
 * IDX_INVALID_ARGUMENT (also a scheme of other bits), IDX_WEAK_SCHEME (it does not cover k), IDX_LIMIT. */
IDX_API enum idx_status idx_plan_scheme(const struct idx_plan_options *options, const struct idx_scheme *scheme,
                                        struct idx_plan *plan, struct idx_error *error);

/* What IDX_RESIDENCE_UNPACKED is expected to take for uniform fingerprints on a typical server. */
struct idx_unpacked_plan {
    double bytes;           /* of memory, for all fingerprints */
    double opening_seconds; /* of one core; several threads divide most of it */
    double nanoseconds;     /* per query: one thread, many queries at once */
    uint64_t reserved[8];
};

/* For an index of one segment with `count` distinct fingerprints, `bits` bits each, that is opened for look-ups up to
 * `distance`. Errors: IDX_INVALID_ARGUMENT (bits not from 1 to 64, or a distance that is above IDX_MAX_K or not below
 * bits), IDX_LIMIT (2^32 - 1 fingerprints or more). */
IDX_API enum idx_status idx_plan_unpacked(uint64_t count, unsigned bits, unsigned distance,
                                          struct idx_unpacked_plan *plan, struct idx_error *error);

/* The expected number of fingerprints within k bits of a query by chance, among `count` uniform ones:
 * count · Σ C(bits, i) / 2^bits, i from 0 to k. */
IDX_API double idx_chance_matches(uint64_t count, unsigned bits, unsigned k);

/* The seconds that finding all pairs of `count` uniform fingerprints of `bits` bits is expected to take on one core of
 * a typical server, one with AVX-512, where memory has room for 32 bytes per fingerprint: idx_pairs of an index of
 * `scheme`, a valid one, by the faster way; or idx_array_pairs if `scheme` is NULL. Times measured at distances up to
 * 12 were within a third of these (bench/RESULTS.md). `distance` is 0 to IDX_MAX_K, of an index at most its k, or it is
 * compared as an array. The number of pairs that are near by chance is count / 2 · idx_chance_matches(count - 1, bits,
 * distance). */
IDX_API double idx_pairs_seconds(uint64_t count, unsigned bits, unsigned distance, const struct idx_scheme *scheme);

/* The information limit: about the least number of bits per fingerprint in which a set of `count` uniform distinct
 * fingerprints of `bits` bits can be stored, bits − log2(count) + 1.4427. 0 for no fingerprints. */
IDX_API double idx_information_limit(uint64_t count, unsigned bits);

#ifdef __cplusplus
}
#endif

#endif
