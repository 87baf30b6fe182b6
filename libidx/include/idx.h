/* idx.h: the public header of libidx, an exact, compressed, on-disk index of document fingerprints.
 *
 * An index answers which of its fingerprints differ from a given one in at most k bits, and which documents they
 * belong to. A builder writes it, and publishes it whole or not at all; a writer adds documents and removes some.
 *
 * Conventions
 * - A fingerprint is a number of f bits (`bits`, 1 to 64) in a uint64_t, right-aligned; the bits above f are 0.
 * - A distance is a Hamming distance in bits.
 * - Fallible calls return an enum idx_status, and fill `error` (caller-owned, may be NULL) when it is not IDX_OK.
 *   They leave their other out-parameters unset then, unless they say otherwise. Finding nothing is success.
 * - Option structs begin with their own size: initialise them with their _INIT macro, then set what you need.
 * - `_close` and `_free` accept NULL and never fail.
 * - The library prints nothing, keeps no global or thread-local state but which instructions the processor has, and
 *   never ends the process.
 *
 * Threads
 * - An open index is immutable, a view of one time: any number of threads may call every function that takes a
 *   const struct idx_index *, and writers in this process and others don't disturb it. idx_refresh gives a newer view.
 * - A builder, a writer, a document cursor and a SimHash accumulator belong to one thread at a time.
 *
 * Honest limits
 * - The files of an index are mapped. An I/O error under a mapped page, or another process that truncates a file after
 *   it was opened, raises SIGBUS, as with every mapped file. Replacing an index by `replace` or rename is safe.
 * - Checksums (XXH3) find accidents, not forgery. Forged files may give wrong answers, but are decoded safely, whatever
 *   their bytes are.
 * - A builder that meets a file size limit raises SIGXFSZ, unless the process ignores it; then it is IDX_DISK_FULL.
 * - docs.mdb, by-id.mdb and pending.mdb have the byte order and the page size of the machine that built them; tables
 *   and manifest are portable.
 */
#ifndef IDX_H
#define IDX_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#define IDX_API __attribute__((visibility("default")))
#else
#define IDX_API
#endif

#define IDX_VERSION "0.2.0"

/* Limits (SPEC.md, chapter 2). */
#define IDX_MAX_BITS 64
#define IDX_MAX_K 16
#define IDX_MAX_RADIUS 3
#define IDX_MAX_TABLES 256
#define IDX_MAX_THREADS 256
#define IDX_MIN_BLOCK_SIZE 64
#define IDX_MAX_BLOCK_SIZE 4096
#define IDX_DEFAULT_BLOCK_SIZE 64
#define IDX_MAX_RECIPE_BYTES 255
#define IDX_MIN_MEMORY_BYTES ((uint64_t)1 << 20)

/* ---- Errors ------------------------------------------------------------------------------------------------------ */

enum idx_status {
    IDX_OK = 0,

    /* The caller's fault. */
    IDX_INVALID_ARGUMENT = 100, /* an argument outside its range */
    IDX_BAD_SCHEME = 101,       /* a scheme that can't be parsed, or does not fit f */
    IDX_WEAK_SCHEME = 102,      /* a scheme that does not cover k */
    IDX_BAD_RECIPE = 103,       /* a recipe that is not known */
    IDX_BAD_DISTANCE = 104,     /* a distance above the k of the index */

    /* Not found, or not possible. */
    IDX_NOT_FOUND = 200,    /* nothing at that path */
    IDX_NOT_AN_INDEX = 201, /* something is there, but not an idx index */
    IDX_EXISTS = 202,       /* the output exists, and replacing it was not asked for */
    IDX_NEW_VERSION = 203,  /* a format version that this library does not read */
    IDX_UNSUPPORTED = 204,  /* the system or the file system can't do it */
    IDX_LIMIT = 205,        /* more than the format can hold */
    IDX_CANCELLED = 206,    /* a progress visitor wanted no more */
    IDX_BUSY = 207,         /* another writer has the index, or a compaction */

    /* Damaged files. */
    IDX_MISSING_FILE = 300, /* a file that the manifest names is not there */
    IDX_FOREIGN_FILE = 301, /* a file of another index or segment */
    IDX_WRONG_SIZE = 302,   /* a file shorter or longer than it says */
    IDX_BAD_CHECKSUM = 303, /* a checksum that differs */
    IDX_BAD_CONTENT = 304,  /* checksums agree, but a rule of SPEC.md is broken */

    /* The system. */
    IDX_OUT_OF_MEMORY = 400,
    IDX_IO_ERROR = 401,  /* errno says which */
    IDX_DISK_FULL = 402, /* no space, no quota, or over the file size limit */
    IDX_NO_ACCESS = 403, /* permission, or a read-only file system */
};

/* What went wrong: caller-owned, filled by the call that failed. */
struct idx_error {
    enum idx_status status;
    int system_errno;    /* errno of the failed system call, or 0 */
    uint64_t offset;     /* byte offset in `file` where the fault lies, or 0 */
    char file[1024];     /* the file or folder concerned, or empty; a long path keeps its end */
    char sentence[1536]; /* one sentence: what, where, what to do; without a line end */
};

/* A short English phrase for a status; "unknown status" for a number that is none. Static storage. */
IDX_API const char *idx_status_string(enum idx_status status);

/* The library's version, IDX_VERSION of its build. Static storage. */
IDX_API const char *idx_version(void);

/* Which instructions look-ups use on this processor: "avx512" (x86-64 with BMI2 and with AVX-512 F, BW, DQ, VL, VBMI,
 * VBMI2 and VPOPCNTDQ), "bmi2" (x86-64 with BMI1, BMI2, LZCNT and POPCNT) or "portable" (any other). Results are
 * the same, times are not: for a program's log or its description of the machine. Static storage. */
IDX_API const char *idx_instructions(void);

/* ---- Fingerprints ------------------------------------------------------------------------------------------------ */

/* Hamming distance: in how many bits a and b differ, 0 to 64. */
IDX_API unsigned idx_distance(uint64_t a, uint64_t b);

/* SimHash accumulator (Charikar 2002; WWW 2007, section 2). sums[i] belongs to bit i, bit 0 the least significant.
 * The sum of all |weight| must stay below 2^63. A fingerprint of more than 64 bits takes an accumulator for each 64
 * bits of the features' hashes: sums of different bits have nothing to do with each other. */
struct idx_simhash {
    int64_t sums[IDX_MAX_BITS];
};

/* Weight 1 in the fixed point that recipes use: 16 fraction bits. Any other unit serves as well, used throughout. */
#define IDX_WEIGHT_ONE ((int64_t)65536)

IDX_API void idx_simhash_init(struct idx_simhash *simhash);

/* Adds a feature by the XXH3 64-bit hash, seed 0, of its `length` bytes: weight is added to the sums of the hash's
 * 1 bits and taken from those of its 0 bits. */
IDX_API void idx_simhash_add(struct idx_simhash *simhash, const void *feature, size_t length, int64_t weight);

/* The same with a hash made elsewhere. */
IDX_API void idx_simhash_add_hash(struct idx_simhash *simhash, uint64_t hash, int64_t weight);

struct idx_feature {
    uint64_t hash;
    int64_t weight;
};

/* The same for many, several times as fast where the processor has wide instructions. `features` may be NULL for none.
 */
IDX_API void idx_simhash_add_features(struct idx_simhash *simhash, const struct idx_feature *features, size_t count);

/* The fingerprint: bit i is 1 when sums[i] is above 0, for i below `bits` (1 to 64; other values count as 64). */
IDX_API uint64_t idx_simhash_finish(const struct idx_simhash *simhash, unsigned bits);

/* The ties: bit i is 1 when sums[i] is 0. Programs that count a tie as 1 get the fingerprint and these, by `|`. */
IDX_API uint64_t idx_simhash_ties(const struct idx_simhash *simhash, unsigned bits);

/* Weight 1 in the fixed point of weights that users give: 4 decimal fraction digits. */
#define IDX_DECIMAL_WEIGHT_ONE ((int64_t)10000)

/* Reads a weight of `length` bytes, such as 3, 0.25 or -1.5, exactly, in units of 1/IDX_DECIMAL_WEIGHT_ONE: digits,
 * and up to 4 more behind a point, from -1000000 to 1000000. False, and *weight unset, for anything else. */
IDX_API bool idx_weight_parse(const char *text, size_t length, int64_t *weight);

/* Whether fingerprints of two recipes can be compared: they are the same but for a last part `;icu=` and a number,
 * which says which version of ICU segmented the texts (idx_text.h). *same_icu (may be NULL) is set then: false when
 * both have that part and differ in it, so that some words of scripts without spaces may be cut otherwise, which is to
 * be warned of. Neither is NULL. */
IDX_API bool idx_recipe_matches(const char *a, const char *b, bool *same_icu);

/* ---- Schemes (SPEC.md, chapter 3) -------------------------------------------------------------------------------- */

/* A table: the bits of `mask` stand in front, in order, then the others; up to `radius` of the front bits may differ
 * when it is probed. */
struct idx_table {
    uint64_t mask;
    unsigned radius;
};

struct idx_scheme {
    char name[64]; /* as --scheme takes it; "masks" for a list of masks */
    unsigned bits; /* f */
    size_t table_count;
    struct idx_table tables[IDX_MAX_TABLES];
};

/* Makes a scheme from its text: `4`, `10`, `16`, `20` (the paper's), `B:C`, `B:C:R`, `B:C/b:c`, `auto`, or masks,
 * `@hex[:R],@hex[:R]…`. `count` is the number of fingerprints expected; only `auto` uses it, and takes what idx_plan
 * chooses by default (a builder chooses by its data too).
 * Errors: IDX_INVALID_ARGUMENT (bits not 1 to 64, k above IDX_MAX_K or not below bits), IDX_BAD_SCHEME,
 * IDX_WEAK_SCHEME (it does not cover k: proved, not sampled), IDX_OUT_OF_MEMORY (`auto`). */
IDX_API enum idx_status idx_scheme_parse(struct idx_scheme *scheme, const char *text, unsigned bits, unsigned k,
                                         uint64_t count, struct idx_error *error);

/* Whether every error pattern of at most k bits leaves at most `radius` errors in the prefix of some table. False too
 * where a proof would take more than some seconds, which only unusual lists of masks bring about. */
IDX_API bool idx_scheme_covers(const struct idx_scheme *scheme, unsigned k);

struct idx_plan_options {
    size_t size;
    uint64_t count; /* distinct fingerprints */
    unsigned bits;
    unsigned k;
    uint32_t block_size;
    unsigned max_bytes_per_fingerprint; /* as in struct idx_build_options */
    /* What is known of the fingerprints, else they are taken as uniform: the bits that are the same in all of them, and
     * how many others share a random one's bits of a mask, on average. */
    uint64_t dead_bits;
    double (*expected_group)(void *context, uint64_t mask);
    void *context;
};

#define IDX_PLAN_OPTIONS_INIT                                                                                          \
    { sizeof(struct idx_plan_options), 0, 64, 3, IDX_DEFAULT_BLOCK_SIZE, 0, 0, NULL, NULL }

/* A scheme that fits, with what it is expected to cost. */
struct idx_plan {
    char scheme[832]; /* as idx_scheme_parse takes it: a name, or up to 40 masks */
    size_t tables;
    unsigned min_prefix, max_prefix; /* bits, over the tables */
    double probes;                   /* prefixes looked for, a query */
    double candidates;               /* fingerprints that have them, a query */
    double blocks;                   /* searched, a query */
    double nanoseconds;              /* a query, one thread, many queries at once, the index in memory */
    double table_bytes;              /* all table files, in all */
    double resident_bytes;           /* what opening allocates for the tables, in all */
    bool chosen;                     /* by `auto` */
};

/* Lists the schemes worth having, fewest tables, and so bytes, first: each is at least a twentieth faster than all
 * before it. Every one was proved to cover k. Stores up to `capacity` plans and sets *plan_count to how many there are.
 * Errors: IDX_INVALID_ARGUMENT, IDX_LIMIT (more blocks than a table can have: larger blocks are needed),
 * IDX_OUT_OF_MEMORY. */
IDX_API enum idx_status idx_plan(const struct idx_plan_options *options, struct idx_plan *plans, size_t capacity,
                                 size_t *plan_count, struct idx_error *error);

/* Expected number of fingerprints within k bits of a query by chance, among `count` uniform ones:
 * count · Σ C(bits, i) / 2^bits, i from 0 to k. */
IDX_API double idx_chance_matches(uint64_t count, unsigned bits, unsigned k);

/* The least bits a fingerprint that a set of `count` uniform distinct fingerprints of `bits` bits needs, nearly:
 * bits − log2(count) + 1.4427; 0 for no fingerprints. */
IDX_API double idx_information_limit(uint64_t count, unsigned bits);

/* ---- Building ---------------------------------------------------------------------------------------------------- */

enum idx_id_type {
    IDX_ID_TEXT = 0, /* bytes of any length; they need not be unique */
    IDX_ID_U64 = 1,  /* an unsigned 64-bit integer; the same one twice on one fingerprint is one document */
    IDX_ID_NONE = 2, /* no documents are kept, only which fingerprints there are */
};

/* What a long call does; they may come more than once, and in any order. */
enum idx_phase {
    IDX_PHASE_ADDING = 0,     /* taking documents; done: documents, total: 0, not known */
    IDX_PHASE_SORTING = 1,    /* sorting what fills the memory, and writing it as sorted runs; documents */
    IDX_PHASE_MERGING = 2,    /* merging sorted runs, or indexes, and writing the document map or the map from IDs;
                                 documents, and where indexes are merged, fingerprints, each once a table; there, and
                                 in compaction, it first looks up what was removed, total: 0, and then begins anew */
    IDX_PHASE_TABLES = 3,     /* sorting and writing tables; fingerprints, each twice a table */
    IDX_PHASE_PUBLISHING = 4, /* syncing and renaming; 0 of 0 */
    IDX_PHASE_COMPARING = 5,  /* pairs and joins: fingerprints, of the first index, each once a table; batches:
                                 queries, each once a table where they are merged, or fingerprints streamed */
    IDX_PHASE_CLUSTERING = 6, /* numbering fingerprints, joining pairs, and giving clusters; entries sorted or gone
                                 through, total: 0, not known */
    IDX_PHASE_COUNT
};

struct idx_progress {
    enum idx_phase phase;
    uint64_t done, total; /* in the phase's unit; done ends below the total where entries repeat; 0: not known */
};

/* Called by the thread that called the library, when a phase begins and then some times a second at most; returns false
 * to cancel: the call under way ends soon with IDX_CANCELLED. */
typedef bool (*idx_progress_visitor)(void *context, const struct idx_progress *progress);

struct idx_build_options {
    size_t size;
    unsigned bits;       /* f, 1 to 64 */
    unsigned k;          /* largest distance to be answered: 0 to IDX_MAX_K, below bits */
    const char *scheme;  /* as idx_scheme_parse takes it */
    uint32_t block_size; /* bytes, a power of two from IDX_MIN_BLOCK_SIZE to IDX_MAX_BLOCK_SIZE */
    enum idx_id_type id_type;
    const char *recipe; /* how the fingerprints were made, up to IDX_MAX_RECIPE_BYTES bytes without control
                           characters; NULL or empty: not known */
    unsigned threads;   /* 1 to IDX_MAX_THREADS: fingerprints are sorted and tables are built in parallel */
    bool replace;       /* replace an idx index that stands at the path, atomically */
    /* `auto` takes the fastest scheme whose table files and resident bytes together are up to this many a fingerprint,
     * or the smallest one. 0: as many as `bits`, which is eight times the plain fingerprints, and 1 MiB in all. */
    unsigned max_bytes_per_fingerprint;
    /* What the builder may hold in memory, in bytes, mapped pages counted: IDX_MIN_MEMORY_BYTES or more, though buffers
     * alone take 24 MiB, and 4 MiB a thread. What does not fit is sorted in parts, and goes through temporary files.
     * 0: half of what is free when it is opened. */
    uint64_t memory_bytes;
    const char *temporary_folder; /* for these files, which no other process sees; NULL: the folder that holds `path` */
    idx_progress_visitor progress; /* may be NULL */
    void *context;                 /* of `progress` */
    bool by_id; /* keep a map from IDs to fingerprints too, for idx_find_id; not with IDX_ID_NONE. What the builder
                   sorts is twice as much then, and its buffers take 16 MiB more */
};

#define IDX_BUILD_OPTIONS_INIT                                                                                         \
    {                                                                                                                  \
        sizeof(struct idx_build_options), 64, 3, "auto", IDX_DEFAULT_BLOCK_SIZE, IDX_ID_TEXT, NULL, 1, false, 0, 0,    \
            NULL, NULL, NULL, false                                                                                    \
    }

struct idx_builder;

/* Begins an index that will stand at `path`, a folder. Works in a temporary folder beside it, `.NAME.tmp-` and eight
 * digits, after removing those that killed builds of the same path left; checks at once that this can be written, and
 * that nothing is at `path` (with `replace`: that nothing, or an idx index, is). Several may build the same index at a
 * time: the first publishes it, with `replace` the last. `options` may be NULL; the builder copies it. The caller frees
 * *builder. Errors: IDX_INVALID_ARGUMENT, IDX_BAD_SCHEME, IDX_WEAK_SCHEME, IDX_EXISTS, IDX_NOT_AN_INDEX, IDX_NOT_FOUND
 * (the folder to hold it, or the temporary one), IDX_CANCELLED, IDX_OUT_OF_MEMORY, IDX_IO_ERROR, IDX_DISK_FULL,
 * IDX_NO_ACCESS. */
IDX_API enum idx_status idx_builder_open(struct idx_builder **builder, const char *path,
                                         const struct idx_build_options *options, struct idx_error *error);

/* Adds a document by its fingerprint and its ID of `length` bytes, which are copied. For IDX_ID_TEXT.
 * Errors: IDX_INVALID_ARGUMENT (a fingerprint of more than `bits` bits, another ID type; the builder stays usable),
 * IDX_LIMIT, IDX_CANCELLED, IDX_OUT_OF_MEMORY, IDX_IO_ERROR, IDX_DISK_FULL (the builder can only be freed then). */
IDX_API enum idx_status idx_builder_add(struct idx_builder *builder, uint64_t fingerprint, const void *id,
                                        size_t length, struct idx_error *error);

/* The same for IDX_ID_U64; and for IDX_ID_NONE, where `id` is ignored. */
IDX_API enum idx_status idx_builder_add_u64(struct idx_builder *builder, uint64_t fingerprint, uint64_t id,
                                            struct idx_error *error);

/* What a build made. */
struct idx_build_summary {
    uint64_t documents;       /* added; for IDX_ID_U64 the same ID twice on one fingerprint counts once */
    uint64_t fingerprints;    /* distinct */
    uint64_t table_bytes;     /* all table files */
    uint64_t documents_bytes; /* docs.mdb and docs.sum */
    char scheme[64];          /* chosen by `auto`, or given */
    size_t tables;
    uint64_t temporary_bytes; /* written to temporary files, in all */
    size_t leftovers;         /* folders that killed builds had left beside the path, and that were removed */
    bool mixed_icu;           /* idx_merge: recipes of two inputs differ in their version of ICU (idx_recipe_matches) */
    uint64_t by_id_bytes;     /* by-id.mdb and by-id.sum; 0 without them */
};

/* Sorts, encodes, writes, syncs, and publishes the index under its path: the only call that does. An error of the very
 * last step, syncing the folder that holds it, leaves the whole index in place, and a replaced one beside it, which the
 * next build removes. `summary` may be NULL. Afterwards, whatever it returned, the builder can only be freed. Errors:
 * IDX_EXISTS, IDX_NOT_AN_INDEX (something came to stand at the path meanwhile), IDX_BUSY (a writer has the index to be
 * replaced; its pending documents would go with it), IDX_UNSUPPORTED (the file system can't
 * exchange folders), IDX_BAD_CHECKSUM (a temporary file), IDX_LIMIT, IDX_CANCELLED, IDX_OUT_OF_MEMORY, IDX_IO_ERROR,
 * IDX_DISK_FULL, IDX_NO_ACCESS.
 */
IDX_API enum idx_status idx_builder_finish(struct idx_builder *builder, struct idx_build_summary *summary,
                                           struct idx_error *error);

/* Frees the builder; one that has not published leaves nothing behind. */
IDX_API void idx_builder_free(struct idx_builder *builder);

/* What a build takes. */
struct idx_build_estimate {
    uint64_t memory_bytes;    /* what it may hold: the option's, or half of what is free */
    uint64_t index_bytes;     /* the index, without the bytes of text IDs */
    uint64_t temporary_bytes; /* temporary files at their largest */
    uint64_t peak_bytes;      /* on disk, all in, where temporary files stand beside the index */
};

/* Estimates what a build of so many documents takes, all fingerprints distinct and uniform: that is an upper bound, but
 * for skewed data with `auto`. `options` may be NULL. Errors: IDX_INVALID_ARGUMENT, IDX_BAD_SCHEME, IDX_WEAK_SCHEME,
 * IDX_OUT_OF_MEMORY. */
IDX_API enum idx_status idx_estimate_build(const struct idx_build_options *options, uint64_t documents,
                                           struct idx_build_estimate *estimate, struct idx_error *error);

/* The shard, 0 to shards - 1, that a fingerprint belongs to where an index is built in parts, on several machines:
 * documents of one fingerprint come together, so shards have no fingerprint in common, and fingerprints spread evenly
 * however skewed they are: ⌊h · shards / 2^64⌋, h the XXH3 hash of the fingerprint's 8 bytes, little-endian. 0 for
 * fewer than 2 shards. */
IDX_API uint64_t idx_shard(uint64_t fingerprint, uint64_t shards);

/* ---- Merging ----------------------------------------------------------------------------------------------------- */

struct idx_merge_options {
    size_t size;
    unsigned threads;              /* 1 to IDX_MAX_THREADS: tables are merged in parallel */
    bool replace;                  /* replace an idx index that stands at the path, which may be one of the inputs */
    uint64_t memory_bytes;         /* as in struct idx_build_options */
    idx_progress_visitor progress; /* may be NULL */
    void *context;                 /* of `progress` */
};

#define IDX_MERGE_OPTIONS_INIT                                                                                         \
    { sizeof(struct idx_merge_options), 1, false, 0, NULL, NULL }

/* Merges `count` indexes, 1 or more, all segments of each and what is pending, less what was removed, into one of one
 * segment at `path`, as if built of their documents, but without sorting again: table by table they are decoded, merged
 * and encoded. They must have the same bits, k, ID type, recipe and tables, and all or none a map from IDs (a part
 * `;icu=` that differs is left out of the result's recipe); the block size is that of the first one's first segment.
 * Text IDs are numbered anew: index after index, and in each the segments' one after the other, then those
 * that are pending; with integer IDs, the same one on one fingerprint becomes one document.
 * The inputs are not changed; each page of their blocks and document maps is checked as it is read, their directories
 * are not read. Of each index it takes the view that it opens, while writers and compactions go on; but an input that
 * is replaced is locked against both from before its view on, so that nothing is lost that they acknowledge. Beside
 * `memory_bytes` it takes about 300 bytes a pending document, with text IDs and a map from IDs, and 150 a removed one.
 * `options` and `summary` may be NULL. Errors: as idx_open for the inputs, and as idx_builder_open and
 * idx_builder_finish; IDX_INVALID_ARGUMENT (indexes that don't match: the sentence names what differs); IDX_BUSY (an
 * input that is to be replaced, or in the end what stands at `path`, has a writer or is being compacted); the
 * damaged-file group. */
IDX_API enum idx_status idx_merge(const char *path, const char *const *inputs, size_t count,
                                  const struct idx_merge_options *options, struct idx_build_summary *summary,
                                  struct idx_error *error);

/* ---- Opening ----------------------------------------------------------------------------------------------------- */

/* Where a reader keeps what look-ups read. Loaded parts are checked on opening, and held in huge pages where the system
 * has them; mapped ones are read from the files, each page checked before its first use. */
enum idx_residence {
    IDX_RESIDENCE_DIRECTORY = 0, /* directories loaded, blocks mapped: for readers that stay open */
    IDX_RESIDENCE_NONE = 1,      /* all mapped: opening costs the same at any size */
    IDX_RESIDENCE_ALL = 2,       /* all loaded: the fastest look-ups, for the memory of the whole tables */
    IDX_RESIDENCE_DISK = 3       /* as DIRECTORY, for an index larger than memory: look-ups ask the disk for all blocks
                                    that they need, of several queries with idx_lookup_many, before they wait for the
                                    first, by a system call a block */
};

struct idx_open_options {
    size_t size;
    enum idx_residence residence;
    bool skip_page_checks; /* don't check pages before their first use */
};

#define IDX_OPEN_OPTIONS_INIT                                                                                          \
    { sizeof(struct idx_open_options), IDX_RESIDENCE_DIRECTORY, false }

struct idx_index;

/* Opens the index at `path`: every file of it, its manifest and headers checked, all of one and the same version of
 * the index even while it is being replaced, and all that is pending. `options` may be NULL. Takes one file descriptor,
 * for the folder, and two more where there is pending.mdb. A relative path is kept as it is, for idx_replaced and
 * idx_refresh. The caller closes *index. Works on read-only media, and any number
 * of times in a process. Errors: IDX_INVALID_ARGUMENT (options), IDX_NOT_FOUND, IDX_NOT_AN_INDEX, IDX_NEW_VERSION, the
 * damaged-file group, IDX_LIMIT (2^32 - 1 pending records and more), IDX_OUT_OF_MEMORY, IDX_IO_ERROR, IDX_NO_ACCESS,
 * IDX_UNSUPPORTED (a docs.mdb or pending.mdb made on another kind of machine). */
IDX_API enum idx_status idx_open(struct idx_index **index, const char *path, const struct idx_open_options *options,
                                 struct idx_error *error);

/* Closes it; no cursor of it may be open, no call on it under way. */
IDX_API void idx_close(struct idx_index *index);

/* Whether another version of the index stands at the path that it was opened by (built anew, or with other segments),
 * or none any more. What came to be pending is no other version. The open one stays whole and usable. Errors:
 * IDX_IO_ERROR, IDX_NO_ACCESS. */
IDX_API enum idx_status idx_replaced(const struct idx_index *index, bool *replaced, struct idx_error *error);

/* Opens what now stands at the path as *newer, opened with the same options, or sets it to NULL where that is what
 * `index` is. All that writers acknowledged before the call is there. Both are whole, in use independently of each
 * other, and closed by the caller, in any order. They share what is the same, so that only records and segments that
 * are new are read; where nothing is, it takes some system calls. Any number of threads may call it, on one index or
 * several; those of one origin read new records one after the other. Errors: as idx_open. */
IDX_API enum idx_status idx_refresh(const struct idx_index *index, struct idx_index **newer, struct idx_error *error);

struct idx_properties {
    unsigned format_version;
    char uuid[37];
    unsigned bits;
    unsigned k;
    enum idx_id_type id_type;
    const char *recipe;              /* "" when not known; lives as long as the index */
    const struct idx_scheme *scheme; /* lives as long as the index */
    size_t segments;
    uint64_t fingerprints;    /* distinct ones of each segment, added up, removed ones among them */
    uint64_t documents;       /* of the segments, removed ones among them; 0 for IDX_ID_NONE */
    uint64_t table_bytes;     /* all table files */
    uint64_t documents_bytes; /* docs.mdb and docs.sum */
    uint64_t resident_bytes;  /* what opening allocated: directories, decoders, page bitmaps, pending records */
    bool by_id;               /* it has a map from IDs to fingerprints, for idx_find_id */
    uint64_t by_id_bytes;     /* by-id.mdb and by-id.sum; 0 without them */
    uint64_t removals; /* of documents, or of fingerprints with all of theirs, that segments have of older ones */
    uint64_t pending_documents; /* added since the newest segment, removed ones among them */
    uint64_t pending_removals;  /* of documents, or of fingerprints with all of theirs, since the newest segment */
};

IDX_API void idx_get_properties(const struct idx_index *index, struct idx_properties *properties);

struct idx_table_properties {
    uint64_t mask;
    unsigned radius;
    unsigned prefix; /* bits */
    uint32_t block_size;
    uint64_t fingerprints;
    uint64_t blocks;
    uint64_t file_bytes;
    uint64_t directory_bytes;
    /* Skew. */
    uint64_t dead_bits;     /* the same in all fingerprints of the segment: masked bits of these tell nothing apart */
    uint64_t largest_group; /* fingerprints that share a prefix, at most */
    double mean_group;      /* fingerprints with the prefix of a random one of the table's, itself among them */
    double expected_blocks; /* that one probe for the prefix of a random one of the table's searches */
    double even_blocks;     /* the same, were as many fingerprints spread evenly */
};

/* Table `table` of segment `segment`, both from 0.
 * Errors: IDX_INVALID_ARGUMENT (there is no such table). */
IDX_API enum idx_status idx_get_table_properties(const struct idx_index *index, size_t segment, size_t table,
                                                 struct idx_table_properties *properties, struct idx_error *error);

/* The fingerprint with the most documents, and how many they are: those of one segment, that in which they are most, or
 * the pending ones; of fingerprints with as many, the smallest. Both are 0 where no documents are kept. Segments tell
 * it of all their documents, single removed ones among them; one whose fingerprint was removed with all is passed over.
 * Errors: IDX_WRONG_SIZE, IDX_BAD_CHECKSUM, IDX_BAD_CONTENT, IDX_FOREIGN_FILE, IDX_OUT_OF_MEMORY, IDX_IO_ERROR. */
IDX_API enum idx_status idx_get_heaviest(const struct idx_index *index, uint64_t *fingerprint, uint64_t *documents,
                                         struct idx_error *error);

/* ---- Looking up -------------------------------------------------------------------------------------------------- */

struct idx_match {
    uint64_t fingerprint;
    unsigned distance;
};

/* Finds every fingerprint within `distance` (0 to the k of the index) of `fingerprint` that has a document, or with
 * IDX_ID_NONE was not removed, each once. Stores the nearest
 * `capacity` of them in `matches`, ordered by distance, then by value, and sets *match_count to how many there are,
 * which may exceed capacity. `matches` may be NULL when capacity is 0. Allocates nothing, takes no lock, makes no
 * system call.
 * Errors: IDX_INVALID_ARGUMENT (a fingerprint of more than `bits` bits), IDX_BAD_DISTANCE, IDX_BAD_CHECKSUM,
 * IDX_BAD_CONTENT. */
IDX_API enum idx_status idx_lookup(const struct idx_index *index, uint64_t fingerprint, unsigned distance,
                                   struct idx_match *matches, size_t capacity, size_t *match_count,
                                   struct idx_error *error);

/* The same for `count` queries, which are staged together: faster than one by one. The nearest `capacity` matches of
 * fingerprints[i] are stored from matches[i · capacity] on, ordered as by idx_lookup, and how many there are in
 * match_counts[i]. Works on up to `threads` threads, 1 to IDX_MAX_THREADS, the caller's among them; with 1 it allocates
 * nothing, takes no lock and makes no system call. After an error nothing is known of the results.
 * Errors: as idx_lookup; IDX_INVALID_ARGUMENT (threads). */
IDX_API enum idx_status idx_lookup_many(const struct idx_index *index, const uint64_t *fingerprints, size_t count,
                                        unsigned distance, unsigned threads, struct idx_match *matches, size_t capacity,
                                        size_t *match_counts, struct idx_error *error);

/* Called for a match; returns false to stop the look-up. */
typedef bool (*idx_match_visitor)(void *context, const struct idx_match *match);

/* The same, calling `visit` for each match as it is found, in no particular order. Errors: as idx_lookup. */
IDX_API enum idx_status idx_visit_matches(const struct idx_index *index, uint64_t fingerprint, unsigned distance,
                                          idx_match_visitor visit, void *context, struct idx_error *error);

/* Whether there is any fingerprint within `distance`; stops at the first. Errors: as idx_lookup. */
IDX_API enum idx_status idx_exists(const struct idx_index *index, uint64_t fingerprint, unsigned distance, bool *exists,
                                   struct idx_error *error);

/* Calls `visit` for every fingerprint of the index, each once, with distance 0, segment after segment, in the order of
 * their first table; then for those that are pending alone, ascending. Errors: IDX_OUT_OF_MEMORY, IDX_BAD_CHECKSUM,
 * IDX_BAD_CONTENT. */
IDX_API enum idx_status idx_visit_all(const struct idx_index *index, idx_match_visitor visit, void *context,
                                      struct idx_error *error);

/* Called for some fingerprints, one or more; returns false to stop. */
typedef bool (*idx_fingerprints_visitor)(void *context, const uint64_t *fingerprints, size_t count);

/* Gives the fingerprints of part `part` (from 0) of `parts`, some at a time, in the order of idx_visit_all: all parts
 * together give each once. Parts are contiguous and nearly of a size, but that the last one has those that are pending
 * alone, too.
 * Errors: IDX_INVALID_ARGUMENT (no such part), IDX_OUT_OF_MEMORY, IDX_BAD_CHECKSUM, IDX_BAD_CONTENT. */
IDX_API enum idx_status idx_visit_part(const struct idx_index *index, uint32_t part, uint32_t parts,
                                       idx_fingerprints_visitor visit, void *context, struct idx_error *error);

/* ---- Pairs and joins --------------------------------------------------------------------------------------------- */

struct idx_join_options {
    size_t size;
    unsigned distance; /* UINT_MAX: the k of the index */
    unsigned threads;  /* 1 to IDX_MAX_THREADS */
    /* What the call may hold in memory, in bytes, mapped pages not counted: IDX_MIN_MEMORY_BYTES or more. It takes some
     * MiB a thread where fingerprints are spread evenly, and more where many share a prefix. 0: half of what is free.
     */
    uint64_t memory_bytes;
    idx_progress_visitor progress; /* may be NULL */
    void *context;                 /* of `progress` */
};

#define IDX_JOIN_OPTIONS_INIT                                                                                          \
    { sizeof(struct idx_join_options), UINT_MAX, 1, 0, NULL, NULL }

struct idx_pair {
    uint64_t a, b;
    unsigned distance;
};

/* Called for pairs, some thousand at a time, by any thread of the call but by one at a time; returns false to stop the
 * call, which is no error. */
typedef bool (*idx_pairs_visitor)(void *context, const struct idx_pair *pairs, size_t count);

/* Finds every pair of fingerprints of the index within the distance, each once, a below b, in no particular order. Goes
 * through each table once in file order, and where it has a radius, some more times in parts. However many fingerprints
 * share a prefix, the time it takes grows with their number, and with that of the pairs, far less than by the square.
 * Fingerprints that are pending alone are looked up, on one thread, and take 16 bytes each. `options` may be NULL.
 * Errors: IDX_INVALID_ARGUMENT, IDX_BAD_DISTANCE, IDX_CANCELLED, IDX_BAD_CHECKSUM, IDX_BAD_CONTENT, IDX_OUT_OF_MEMORY.
 * After an error the pairs visited so far are right, but not all. */
IDX_API enum idx_status idx_pairs(const struct idx_index *index, const struct idx_join_options *options,
                                  idx_pairs_visitor visit, void *visit_context, struct idx_error *error);

/* Finds every pair of a fingerprint of index `a` and one of index `b` within the distance, equal ones too, each once.
 * Both must have the same bits, k, recipe and tables; they may be one and the same. Of `b` no more is
 * read, and checked, than may be near to what `a` has. Errors: as idx_pairs; IDX_INVALID_ARGUMENT (indexes that don't
 * match: the sentence names what differs). */
IDX_API enum idx_status idx_join(const struct idx_index *a, const struct idx_index *b,
                                 const struct idx_join_options *options, idx_pairs_visitor visit, void *visit_context,
                                 struct idx_error *error);

/* ---- Batches ----------------------------------------------------------------------------------------------------- */

/* How a batch of queries is answered; the matches are the same. */
enum idx_batch_method {
    IDX_BATCH_AUTO = 0,   /* what is expected to take the least time */
    IDX_BATCH_PROBE = 1,  /* query by query, as idx_lookup_many does: for few queries */
    IDX_BATCH_MERGE = 2,  /* table by table, the queries sorted along it, each part of the table read once, in the order
                             of its file, as far as queries need it */
    IDX_BATCH_STREAM = 3, /* the queries become tables in memory, and the fingerprints of the index's first table stream
                             past them: for very many queries, or where other tables are not at hand */
};

struct idx_batch_options {
    size_t size;
    unsigned distance; /* UINT_MAX: the k of the index */
    enum idx_batch_method method;
    unsigned threads; /* 1 to IDX_MAX_THREADS */
    /* What the call may hold in memory, in bytes, besides the index and the queries; half of it for matches, which go
     * through temporary files where they are more. 0: half of what is free. IDX_MIN_MEMORY_BYTES or more, though
     * buffers alone take some MiB a thread. */
    uint64_t memory_bytes;
    const char *temporary_folder;  /* for these files, which have no name; NULL: /tmp */
    idx_progress_visitor progress; /* may be NULL */
    void *context;                 /* of `progress` */
};

#define IDX_BATCH_OPTIONS_INIT                                                                                         \
    { sizeof(struct idx_batch_options), UINT_MAX, IDX_BATCH_AUTO, 1, 0, NULL, NULL, NULL }

/* Called by the calling thread for matches of query number `query`, in the order of the queries; a query with many
 * matches may come in several calls, one after the other. Returns false to stop: that is no error. */
typedef bool (*idx_batch_visitor)(void *context, size_t query, const struct idx_match *matches, size_t count);

/* Finds the matches of all queries: each query's by distance, then fingerprint, as idx_lookup does. All are found
 * before the first is given. `options` may be NULL. Errors: as idx_lookup; IDX_INVALID_ARGUMENT (options), IDX_LIMIT
 * (2^32 queries or more, with IDX_BATCH_STREAM), IDX_CANCELLED, IDX_OUT_OF_MEMORY, IDX_NOT_FOUND (the temporary
 * folder), IDX_IO_ERROR, IDX_DISK_FULL, IDX_NO_ACCESS. */
IDX_API enum idx_status idx_batch(const struct idx_index *index, const uint64_t *queries, size_t count,
                                  const struct idx_batch_options *options, idx_batch_visitor visit, void *visit_context,
                                  struct idx_error *error);

/* Queries in memory, past which fingerprints stream from anywhere: no index is needed. One thread at a time. */
struct idx_stream;

/* Makes the tables of queries of `bits` bits (1 to 64); `options` may not be NULL: its distance is 0 to IDX_MAX_K, its
 * method IDX_BATCH_AUTO or IDX_BATCH_STREAM. The queries are copied. The caller closes *stream.
 * Errors: IDX_INVALID_ARGUMENT, IDX_LIMIT (2^32 queries or more), IDX_OUT_OF_MEMORY (also where the tables need more
 * than memory_bytes), IDX_NOT_FOUND (the temporary folder), IDX_NO_ACCESS, IDX_IO_ERROR. */
IDX_API enum idx_status idx_stream_open(struct idx_stream **stream, const uint64_t *queries, size_t count,
                                        unsigned bits, const struct idx_batch_options *options,
                                        struct idx_error *error);

/* Lets fingerprints stream past, in any order, each any number of times; by all threads, among which calls of a million
 * or so are shared well. After an error the stream can only be closed. Errors: IDX_INVALID_ARGUMENT (a fingerprint of
 * more than `bits` bits), IDX_CANCELLED, IDX_OUT_OF_MEMORY, IDX_IO_ERROR, IDX_DISK_FULL. */
IDX_API enum idx_status idx_stream_add(struct idx_stream *stream, const uint64_t *fingerprints, size_t count,
                                       struct idx_error *error);

/* Gives the matches, each once: by query, then fingerprint. The stream can only be closed then. Errors: as
 * idx_stream_add. */
IDX_API enum idx_status idx_stream_finish(struct idx_stream *stream, idx_batch_visitor visit, void *visit_context,
                                          struct idx_error *error);

IDX_API void idx_stream_close(struct idx_stream *stream);

/* ---- Documents (SPEC.md, chapter 8) ------------------------------------------------------------------------------ */

struct idx_document {
    uint64_t number;  /* IDX_ID_TEXT: its document number within its segment, UINT64_MAX while it is pending;
                         IDX_ID_U64: its ID */
    const void *id;   /* IDX_ID_TEXT: its bytes; NULL otherwise. The cursor's: valid until it is used again */
    size_t id_length; /* bytes */
};

/* A caller-owned cursor over the documents of one fingerprint at a time; one thread at a time. */
struct idx_documents;

/* Opens a cursor.
 * Errors: IDX_BAD_CHECKSUM, IDX_BAD_CONTENT, IDX_OUT_OF_MEMORY, IDX_IO_ERROR. */
IDX_API enum idx_status idx_documents_open(const struct idx_index *index, struct idx_documents **documents,
                                           struct idx_error *error);

/* Goes to the documents of a fingerprint that the index holds, and sets *count (may be NULL) to how many they are
 * (IDX_ID_U64: an ID that stands in two segments, or in one and among pending documents, may count twice here). 0 for
 * IDX_ID_NONE. Where single documents of the fingerprint were removed, they are gone through to be counted.
 * Errors: IDX_BAD_CONTENT (the tables hold the fingerprint and the map lacks it), IDX_BAD_CHECKSUM, IDX_OUT_OF_MEMORY.
 */
IDX_API enum idx_status idx_documents_find(struct idx_documents *documents, uint64_t fingerprint, uint64_t *count,
                                           struct idx_error *error);

/* Gives the next document, by segment and number, then pending ones as they were added; or by ID for IDX_ID_U64 (each
 * ID once); *found is false after the last one. Errors: IDX_BAD_CHECKSUM, IDX_BAD_CONTENT, IDX_OUT_OF_MEMORY. */
IDX_API enum idx_status idx_documents_next(struct idx_documents *documents, struct idx_document *document, bool *found,
                                           struct idx_error *error);

IDX_API void idx_documents_close(struct idx_documents *documents);

/* ---- Clusters ---------------------------------------------------------------------------------------------------- */

enum idx_cluster_method {
    /* Connected components: documents are in one cluster when a chain of pairs within the distance leads from one to
     * the other, so that the ends of a chain may lie far apart. */
    IDX_CLUSTER_COMPONENTS = 0,
    /* Stars: the fingerprint that is preferred most becomes a representative, and all within the distance of it, which
     * no other representative has, its cluster; then the next one that is in no cluster. Nothing is farther from its
     * representative than the distance; but two that are near each other may be in different clusters. */
    IDX_CLUSTER_STAR = 1,
};

/* Which document of a cluster represents it, and for stars which fingerprint becomes a representative first. First is
 * the document that comes first: by segment and document number, so in the order in which they were added; the smallest
 * integer ID; the smallest fingerprint for IDX_ID_NONE, whatever is asked for. */
enum idx_representative {
    IDX_REPRESENTATIVE_FIRST = 0,
    IDX_REPRESENTATIVE_MOST_DOCUMENTS = 1, /* of the fingerprint with the most documents; of these, the first */
    IDX_REPRESENTATIVE_SMALLEST_ID = 2,    /* by its bytes; of the same ID several times, the first */
};

struct idx_cluster_options {
    size_t size;
    unsigned distance; /* 0 to the k of the index; UINT_MAX: that k */
    enum idx_cluster_method method;
    enum idx_representative representative;
    bool alone;                    /* visit documents without near-duplicates, too, each as a cluster of its own */
    unsigned threads;              /* 1 to IDX_MAX_THREADS */
    uint64_t memory_bytes;         /* as in struct idx_build_options. 4 bytes a fingerprint come on top, for
                                      IDX_REPRESENTATIVE_MOST_DOCUMENTS 8 for a while. IDX_REPRESENTATIVE_SMALLEST_ID needs as
                                      much as all text IDs take, and 40 bytes each: else it is IDX_OUT_OF_MEMORY.
                                      Pending documents take 16 bytes each */
    const char *temporary_folder;  /* for what does not fit; NULL: the folder that holds the index */
    idx_progress_visitor progress; /* may be NULL */
    void *context;                 /* of `progress` */
};

#define IDX_CLUSTER_OPTIONS_INIT                                                                                       \
    {                                                                                                                  \
        sizeof(struct idx_cluster_options), ~0U, IDX_CLUSTER_COMPONENTS, IDX_REPRESENTATIVE_FIRST, false, 1, 0, NULL,  \
            NULL, NULL                                                                                                 \
    }

/* A document of a cluster; for IDX_ID_NONE a fingerprint, whose documents are all 0. */
struct idx_cluster_member {
    uint64_t cluster; /* from 0, without gaps */
    uint64_t fingerprint;
    unsigned distance; /* to that of the representative */
    bool is_representative;
    struct idx_document document; /* its ID, and the other one, are valid during the call */
    uint64_t representative_fingerprint;
    struct idx_document representative;
};

/* Called for a document; returns false to stop. */
typedef bool (*idx_cluster_visitor)(void *context, const struct idx_cluster_member *member);

#define IDX_LARGEST_CLUSTERS 10

struct idx_cluster_size {
    uint64_t cluster;
    uint64_t representative; /* its fingerprint */
    uint64_t documents;
    uint64_t far; /* of them, those farther than the distance from the representative */
};

/* Of all clusters of two documents or more; an ID on several fingerprints is as many documents. */
struct idx_cluster_summary {
    uint64_t documents; /* of the index; for IDX_ID_NONE, here as below, fingerprints */
    uint64_t clusters;
    uint64_t clustered; /* documents in them */
    uint64_t far; /* of them, those farther than the distance from their representative: what chains bring about */
    uint64_t sizes[64]; /* how many clusters have 2^i to 2^(i+1) - 1 documents; sizes[0]: documents in none */
    size_t largest_count;
    struct idx_cluster_size largest[IDX_LARGEST_CLUSTERS]; /* the largest first; of as large ones, the lower number */
};

/* Finds the clusters of the documents of an index: those of one fingerprint are always in one. Calls `visit`, from the
 * calling thread, cluster after cluster by its number, for its representative's fingerprint and then for the others, in
 * the order in which they are preferred as representatives, with the documents of each as idx_documents_next gives
 * them. All of that is the same whatever the threads and the memory. `options` and `summary` may be NULL. After
 * `visit` stopped it, the summary is of what it was called for. Errors: IDX_INVALID_ARGUMENT, IDX_BAD_DISTANCE,
 * IDX_LIMIT (2^32 fingerprints or more), IDX_CANCELLED, IDX_OUT_OF_MEMORY, the damaged-file group, IDX_IO_ERROR,
 * IDX_DISK_FULL, IDX_NO_ACCESS. */
IDX_API enum idx_status idx_clusters(const struct idx_index *index, const struct idx_cluster_options *options,
                                     idx_cluster_visitor visit, void *visit_context,
                                     struct idx_cluster_summary *summary, struct idx_error *error);
/* ---- Documents by their IDs -------------------------------------------------------------------------------------- */

/* Finds the fingerprints that have a document of this ID, of `length` bytes: IDX_ID_TEXT, in an index built with by_id.
 * Stores the smallest `capacity` of them in `fingerprints`, ascending, and sets *count to how many there are, which may
 * exceed capacity; `fingerprints` may be NULL when that is 0. Every one is confirmed by its documents, which are read
 * for that up to the one looked for. Errors: IDX_INVALID_ARGUMENT (no map from IDs, or another ID type),
 * IDX_WRONG_SIZE, IDX_BAD_CHECKSUM, IDX_BAD_CONTENT, IDX_FOREIGN_FILE, IDX_OUT_OF_MEMORY, IDX_IO_ERROR. */
IDX_API enum idx_status idx_find_id(const struct idx_index *index, const void *id, size_t length,
                                    uint64_t *fingerprints, size_t capacity, size_t *count, struct idx_error *error);

/* The same for IDX_ID_U64. */
IDX_API enum idx_status idx_find_id_u64(const struct idx_index *index, uint64_t id, uint64_t *fingerprints,
                                        size_t capacity, size_t *count, struct idx_error *error);

/* ---- Adding and removing (SPEC.md, chapter 12) ------------------------------------------------------------------- */

#define IDX_COMPACT_BY_SIZE UINT64_MAX

struct idx_writer_options {
    size_t size;
    enum idx_residence residence; /* of the segments, which it looks up in, too */
    /* Once more records than these are pending, or there are more segments than these, a thread of the writer compacts
     * the index (idx_compact) while the writer goes on; at half as many more it waits for that. 0: never for that
     * reason. IDX_COMPACT_BY_SIZE: an eighth as many records as there are documents, but 100,000 to 2,000,000: a
     * million take some 100 MB in each process, a quarter of a second to open, and 0.2 microseconds of a look-up.
     * Look-ups probe each segment, so two make them nearly twice as slow as one; but with more of them, less is written
     * again. */
    uint64_t compact_records;
    unsigned compact_segments; /* up to 1024 */
    unsigned threads; /* that look up a batch of check_and_add, and as many more that compact; 1 to IDX_MAX_THREADS */
    /* May be NULL. That thread calls it as idx_compact does; false ends that compaction, undone. */
    idx_progress_visitor progress;
    void *context; /* of `progress` */
};

#define IDX_WRITER_OPTIONS_INIT                                                                                        \
    { sizeof(struct idx_writer_options), IDX_RESIDENCE_DIRECTORY, IDX_COMPACT_BY_SIZE, 2, 1, NULL, NULL }

/* Adds documents to an index that stands, and removes some: they are pending from then on, in pending.mdb, and all who
 * open or refresh the index see them. One thread at a time. All of one call is one step: it is on disk when the call
 * returns, and who reads sees all of it, or nothing. After an error nothing of it is there, and the writer stays
 * usable, unless it says otherwise; so it does when the disk is full, once there is room again. */
struct idx_writer;

/* Opens the one writer that an index can have at a time, and makes pending.mdb, where there is none. `options` may be
 * NULL. The caller closes *writer. Errors: as idx_open; IDX_BUSY (another writer has it: the sentence names its process
 * and host), IDX_DISK_FULL. */
IDX_API enum idx_status idx_writer_open(struct idx_writer **writer, const char *path,
                                        const struct idx_writer_options *options, struct idx_error *error);

/* Ends a compaction that is at work, undone: what is pending stays so. NULL is accepted. */
IDX_API void idx_writer_close(struct idx_writer *writer);

/* The index as the writer sees it, all that it wrote among it: for the matches' documents. It is the writer's, stays so
 * until the next call that takes the writer, and has no cursor open then. idx_refresh is not for it: idx_open gives a
 * view of one's own. */
IDX_API const struct idx_index *idx_writer_view(const struct idx_writer *writer);

/* Waits for the compaction that is at work, if any, and returns what it did, or where none is, what the last one did:
 * IDX_OK, also for none, or an error of idx_compact. Nothing is lost by one that fails: it is tried again when as many
 * records more are pending; nothing else tells of it. */
IDX_API enum idx_status idx_writer_wait(struct idx_writer *writer, struct idx_error *error);

/* A document to be added or removed; its ID as the index has it. */
struct idx_item {
    uint64_t fingerprint;
    uint64_t number;  /* IDX_ID_U64: its ID */
    const void *id;   /* IDX_ID_TEXT: its bytes, which are copied; may be NULL for none */
    size_t id_length; /* bytes, up to 16777215 */
};

/* Adds `count` documents, whatever there is. As when an index is built, text IDs need not be unique, and the same
 * integer ID on one fingerprint is one document. Errors: IDX_INVALID_ARGUMENT (a fingerprint of more than `bits` bits,
 * an ID that is too long), IDX_LIMIT (2^32 - 1 pending records), IDX_OUT_OF_MEMORY, IDX_DISK_FULL, IDX_NO_ACCESS;
 * IDX_IO_ERROR, after which it can only be closed. */
IDX_API enum idx_status idx_writer_add(struct idx_writer *writer, const struct idx_item *items, size_t count,
                                       struct idx_error *error);

/* Looks up each of `count` documents in turn, with those added by this call before it, and adds it where no fingerprint
 * is within `distance` (0 to the k of the index): then match_counts[i] is 0. Else it is how many there are, and the
 * nearest `capacity` of them are stored from matches[i · capacity] on, as by idx_lookup_many. Many at once are faster
 * by far than one by one. Errors: as idx_writer_add; IDX_BAD_DISTANCE, IDX_BAD_CHECKSUM, IDX_BAD_CONTENT. */
IDX_API enum idx_status idx_writer_check_and_add(struct idx_writer *writer, const struct idx_item *items, size_t count,
                                                 unsigned distance, struct idx_match *matches, size_t capacity,
                                                 size_t *match_counts, struct idx_error *error);

/* What a removal found. */
struct idx_removal {
    uint64_t documents; /* that were removed; for IDX_ID_NONE, fingerprints */
    uint64_t missing;   /* of those that were to be removed, how many there were not */
};

/* Removes `count` documents, one after the other; of text IDs, all of a fingerprint's documents that have it. A
 * fingerprint without documents is no match any more. Each takes a time that grows with the number of its fingerprint's
 * documents. `removal` may be NULL. Errors: as idx_writer_check_and_add; IDX_INVALID_ARGUMENT (IDX_ID_NONE). */
IDX_API enum idx_status idx_writer_remove(struct idx_writer *writer, const struct idx_item *items, size_t count,
                                          struct idx_removal *removal, struct idx_error *error);

/* Removes `count` fingerprints with all their documents. Errors: as idx_writer_check_and_add. */
IDX_API enum idx_status idx_writer_remove_fingerprints(struct idx_writer *writer, const uint64_t *fingerprints,
                                                       size_t count, struct idx_removal *removal,
                                                       struct idx_error *error);

/* Removes all documents that have the ID of one of `count` items, whatever their fingerprints, in an index built with
 * by_id. Errors: as idx_writer_check_and_add and idx_find_id; IDX_INVALID_ARGUMENT (no map from IDs). */
IDX_API enum idx_status idx_writer_remove_ids(struct idx_writer *writer, const struct idx_item *items, size_t count,
                                              struct idx_removal *removal, struct idx_error *error);

/* ---- Compacting -------------------------------------------------------------------------------------------------- */

struct idx_compact_options {
    size_t size;
    bool all;              /* make one segment of all, so that nothing removed is kept */
    unsigned max_segments; /* how many there may be afterwards, 1 to 1024; as compact_segments of a writer */
    /* From the oldest segment on that is at most so many times as large as all that is newer, all become one. With
     * more, there are fewer segments, and documents are written again more often: about so many times for each segment.
     * Where there would be too many segments, it is as many times as it takes: with n times what is pending, and at
     * most m segments, about the m-th root of n. */
    unsigned growth;
    unsigned threads;              /* 1 to IDX_MAX_THREADS */
    uint64_t memory_bytes;         /* as in struct idx_build_options; pending and removed documents come on top */
    const char *temporary_folder;  /* NULL for the index's own */
    idx_progress_visitor progress; /* may be NULL; idx_compact calls it as idx_merge does */
    void *context;                 /* of `progress` */
};

#define IDX_COMPACT_OPTIONS_INIT                                                                                       \
    { sizeof(struct idx_compact_options), false, 2, 24, 1, 0, NULL, NULL, NULL }

struct idx_compact_summary {
    bool changed;          /* else there was nothing to do */
    size_t segments;       /* that the index has now */
    size_t merged;         /* segments that became part of the new one */
    uint64_t records;      /* pending ones that went into it */
    uint64_t documents;    /* that the new segment has */
    uint64_t fingerprints; /* distinct ones of it */
    uint64_t removals;     /* what it removes from older ones */
    size_t leftovers;      /* folders of segments, of compactions that were killed, that were removed */
};

/* Makes a segment of what is pending, together with the newest segments, from the oldest one on that is at most
 * `growth` times as large as all that is newer: so there stay few, and each document is written again only so many
 * times. Documents that were removed from these go, and once all segments become one, nothing of what was removed is
 * left. Look-ups and the index's writer go on meanwhile, in whatever process; one compaction at a time. The new
 * manifest takes the old one's place in one step, and segments that became part of another are deleted; open views
 * keep their files. If it is killed, the index is as before or as after, and the next one removes what was left. A
 * writer in another process notices by its next call. `options` and `summary` may be NULL.
 * Errors: as idx_open, and as idx_merge; IDX_BUSY (it is being compacted already). */
IDX_API enum idx_status idx_compact(const char *path, const struct idx_compact_options *options,
                                    struct idx_compact_summary *summary, struct idx_error *error);

/* ---- Verifying --------------------------------------------------------------------------------------------------- */

/* Called for each file of an index: status IDX_OK, or what is wrong with it and a sentence. `file` is relative to the
 * index. */
typedef void (*idx_verify_visitor)(void *context, const char *file, enum idx_status status, const char *sentence);

/* Checks every checksum, every order, every count and every rule of SPEC.md in the index at `path`, and that all tables
 * and the document map of a segment hold the same fingerprints, and its map from IDs the same documents; records that
 * are pending, too. Goes on after damage, so that all of it is reported. Whatever a writer or a compaction does
 * meanwhile, it is one state of the index that is checked. `visit` may be NULL. Returns IDX_OK, or the first damage's
 * status; errors of opening that are no damage (IDX_NOT_FOUND, IDX_NOT_AN_INDEX, IDX_NEW_VERSION, IDX_OUT_OF_MEMORY,
 * IDX_IO_ERROR, IDX_NO_ACCESS) are returned as idx_open does. */
IDX_API enum idx_status idx_verify(const char *path, idx_verify_visitor visit, void *context, struct idx_error *error);

#ifdef __cplusplus
}
#endif

#endif
