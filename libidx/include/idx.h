/* idx.h: the public header of libidx, an exact, compressed, on-disk index of document fingerprints. An index is a
 * folder. Link with -lidx, or with what `pkg-config --libs --static idx` prints.
 *
 * An index finds the fingerprints that differ from a given one in at most k bits, and the documents that have them.
 * A builder writes an index and publishes it completely or not at all. A writer adds documents to an existing index and
 * removes documents from it.
 *
 * The calls are in the order in which a program needs them: first those that open an index, look up and read
 * documents, then those that make and change indexes. idx_simhash.h has calls that make fingerprints from features, and
 * idx_text.h, of the library libidxtext, those that make them from texts. idx_planning.h has the calls that any release
 * may still change.
 *
 * Calls
 *   idx_open                    opens an index
 *   idx_close                   closes it
 *   idx_replaced                says whether its path has another index now
 *   idx_refresh                 opens a newer view of it
 *   idx_distance                returns how many bits of two fingerprints differ
 *   idx_lookup                  finds what is near to one fingerprint
 *   idx_list_matches            lists what is near to each of many
 *   idx_match_lists_close       releases these lists
 *   idx_batch                   finds what is near to millions, in bounded memory
 *   idx_lookup_many             finds the nearest few of each of many, into arrays of the caller
 *   idx_visit_matches           calls a function for each match as it is found
 *   idx_exists                  says whether anything is near
 *   idx_stream_open             begins to compare fingerprints from any source with queries
 *   idx_stream_add              compares some of them
 *   idx_stream_finish           visits the matches
 *   idx_stream_close            ends the comparison
 *   idx_visit_all               calls a function for each fingerprint of an index
 *   idx_visit_part              the same for a part of them, some at a time
 *   idx_documents_open          opens a cursor over documents
 *   idx_documents_find          moves it to the documents of a fingerprint
 *   idx_documents_next          returns the next document
 *   idx_documents_close         closes the cursor
 *   idx_list_documents          lists the documents of many fingerprints
 *   idx_document_lists_close    releases these lists
 *   idx_find_id                 finds the fingerprints of a document ID
 *   idx_builder_open            begins to build an index
 *   idx_builder_add             adds a document to it
 *   idx_builder_add_text        adds a text with its set to it
 *   idx_builder_finish          publishes the index
 *   idx_builder_close           closes the builder; what was not published is gone
 *   idx_estimate_build          estimates the memory and the disk that a build needs
 *   idx_shard                   returns which of several indexes a fingerprint belongs to
 *   idx_merge                   merges indexes into a new one
 *   idx_writer_open             opens an index for changes
 *   idx_writer_close            closes the writer
 *   idx_writer_view             returns the index as the writer sees it
 *   idx_writer_set_recipe       records how the fingerprints of an empty index will be made
 *   idx_writer_wait             waits for a compaction that the writer began
 *   idx_writer_add              adds documents
 *   idx_writer_check_and_add    adds each document that no other one is near to
 *   idx_writer_remove           removes documents, fingerprints or IDs
 *   idx_compact                 makes one segment of several, without what was removed
 *   idx_verify                  checks every checksum, order and count of an index
 *   idx_sketch_values           returns how many values of a sketch a threshold needs
 *   idx_list_resembling         lists the texts that resemble each of many sets
 *   idx_resembling_lists_close  releases these lists
 *   idx_visit_sets              calls a function for each text and its set
 *   idx_writer_add_texts        adds texts with their sets
 *   idx_writer_add_unlike       adds each text that resembles no other one
 *   idx_pairs                   finds all near pairs of an index
 *   idx_join                    finds all near pairs between two indexes
 *   idx_array_pairs             finds all near pairs of an array
 *   idx_clusters                finds the documents that near pairs connect
 *   idx_sets_open               begins a collection of sets
 *   idx_sets_add                adds a set
 *   idx_sets_ignore_common      removes the hashes that many sets have
 *   idx_sets_add_from           adds sets of another collection
 *   idx_sets_keep               decides which sets to keep, so that none resembles another one
 *   idx_sets_visit_pairs        finds all pairs of sets that resemble each other
 *   idx_sets_close              releases the collection
 *   idx_needles_open            makes needles of sets, which others may contain
 *   idx_needles_close           releases them
 *   idx_needle_finder_open      makes what a thread needs to find needles
 *   idx_needle_finder_close     releases it
 *   idx_needles_find            finds the needles that a set contains
 *   idx_get_properties          says what an index is, and how much it holds
 *   idx_get_table_properties    says the same of one of its tables
 *   idx_get_heaviest            finds the fingerprint that has the most documents
 *   idx_scheme_parse            reads the name of a scheme
 *   idx_recipe_matches          says whether fingerprints of two recipes can be compared
 *   idx_recipe_read             says what a recipe is
 *   idx_run_tasks               runs tasks of the caller on several threads
 *   idx_status_string           returns a phrase for a status
 *   idx_version                 returns the version of the library
 *   idx_instructions            returns which instructions look-ups use on this processor
 *
 * Conventions
 * - A fingerprint has f bits (`bits`, 1 to 64). It is stored right-aligned in a uint64_t; the bits above f are 0.
 * - A distance is a Hamming distance in bits.
 * - A call that can fail returns an enum idx_status. If it is not IDX_OK, the call fills `error`, which the caller owns
 *   and which may be NULL. The other out-parameters are then not set, unless the function's comment says otherwise: set
 *   them to NULL or {0} before the call if you close them in any case.
 *   Finding nothing is success.
 * - An option struct begins with its own size: initialise it with its _INIT macro, then set what you need. It can grow
 *   at its end: the library fills in what the size leaves out, and ignores what is beyond the size that it knows. A
 *   size of 0 is refused. Each call takes NULL for options: they are then as the macro sets them.
 * - A struct that the library fills can grow in its `reserved` members: the library sets them to 0, and a later release
 *   may give them names. A caller that fills such a struct sets them to 0 as well. Elements of arrays do not grow.
 * - A `temporary_folder` that is NULL means the folder of the index; for a new index, the folder that will hold it; and
 *   for streams and calibration, which have no index, $TMPDIR, or /tmp if that is not set.
 * - Whatever a call makes for its caller, a handle or lists, is released by the call `_close` of its type. That call
 *   accepts NULL and never fails. Handles, which are structs that only the library sees into, are made by calls `_open`
 *   and by idx_refresh; lists, by calls `_list_` and by two calls that add.
 * - The library prints nothing and never ends the process. Its only global state is which instructions the processor
 *   has; it has no thread-local state.
 *
 * Threads
 * - An open index is an immutable view. Any number of threads may call every function that takes a
 *   const struct idx_index *. Writers, in this process or another, do not affect an open view; idx_refresh opens a
 *   newer one.
 * - A builder, a writer, a stream, a document cursor and a SimHash accumulator belong to one thread at a time.
 * - A forked process inherits what is open, and frees its copy as usual. It cannot use the builders and writers that it
 *   inherited; they remain usable in the process that opened them.
 *
 * Stack
 * - idx_lookup, idx_visit_matches, idx_exists, and idx_lookup_many with one thread take up to 16 KiB of the caller's
 *   stack, or 80 KiB if the index was opened with IDX_RESIDENCE_DISK, besides what a visitor takes. All other calls of
 *   this header take up to 256 KiB.
 *
 * Limitations
 * - The files of an index are mapped. As with every mapped file, an I/O error under a mapped page raises SIGBUS, and so
 *   does another process that truncates a file after it was opened. Replacing an index by `replace` or by rename is
 *   safe.
 * - Checksums (XXH3) detect accidents, not forgery. Forged files may give wrong results, but are always decoded safely.
 * - A builder that exceeds a file size limit raises SIGXFSZ. If the process ignores that signal, the builder returns
 *   IDX_DISK_FULL.
 * - docs.mdb and by-id.mdb have the byte order of the machine that wrote them; a machine with the other byte order
 *   refuses them. All other files are portable.
 *
 * Compatibility
 * - A program that was compiled with the header of a release 1.x runs with the libraries of all later releases 1.y, and
 *   these read its indexes. Structs with a `size` may grow at their end, and so may those that only visitors get, by a
 *   pointer: struct idx_progress and struct idx_cluster_member. All other structs keep their size. Enumerations may get
 *   further values. idx_planning.h makes none of these promises.
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

#define IDX_VERSION "1.0.0"
#define IDX_VERSION_NUMBER 10000 /* of that version: major · 10000 + minor · 100 + patch, for #if */

/* Limits (SPEC.md, chapter 1). */
#define IDX_MAX_BITS 64
#define IDX_MAX_K 16
#define IDX_DEFAULT_K 3
#define IDX_MAX_RADIUS 3
#define IDX_MAX_TABLES 256
#define IDX_MAX_THREADS 256
#define IDX_MIN_BLOCK_SIZE 64
#define IDX_MAX_BLOCK_SIZE 4096
#define IDX_DEFAULT_BLOCK_SIZE 64
#define IDX_MAX_RECIPE_BYTES 255
#define IDX_MAX_ID_BYTES 16777215
#define IDX_MAX_SKETCH 64        /* values of a sketch */
#define IDX_MAX_MEMBERS 16777215 /* of a set */
#define IDX_MIN_MEMORY_BYTES ((uint64_t)1 << 20)

/* 1 in the unit of thresholds, of resemblance and of containment: a threshold of 8000 is 0.8. */
#define IDX_THRESHOLD_ONE ((int64_t)10000)

/* ---- Errors ------------------------------------------------------------------------------------------------------ */

enum idx_status {
    IDX_OK = 0,

    /* Errors of the caller. */
    IDX_INVALID_ARGUMENT = 100, /* an argument is outside its range */
    IDX_BAD_SCHEME = 101,       /* the scheme can't be parsed, or does not fit f */
    IDX_WEAK_SCHEME = 102,      /* the scheme does not cover k */
    IDX_BAD_RECIPE = 103,       /* the recipe is not known */
    IDX_BAD_DISTANCE = 104,     /* the distance is above the k of the index, or what it was unpacked for */

    /* Not found, or not possible. */
    IDX_NOT_FOUND = 200,    /* nothing exists at that path */
    IDX_NOT_AN_INDEX = 201, /* something exists there, but it is not an idx index */
    IDX_EXISTS = 202,       /* the output exists, and `replace` was not set */
    IDX_NEW_VERSION = 203,  /* this library does not read that format version, or lacks what the index needs */
    IDX_UNSUPPORTED = 204,  /* the system or the file system can't do it */
    IDX_LIMIT = 205,        /* more than the format can hold, or the call can take */
    IDX_CANCELLED = 206,    /* the progress callback cancelled the call */
    IDX_BUSY = 207,         /* another writer or a compaction, of any process, holds the index */

    /* Damaged files. */
    IDX_MISSING_FILE = 300, /* a file that the manifest lists does not exist */
    IDX_FOREIGN_FILE = 301, /* a file belongs to another index or segment */
    IDX_WRONG_SIZE = 302,   /* a file is shorter or longer than it must be */
    IDX_BAD_CHECKSUM = 303, /* a checksum does not match */
    IDX_BAD_CONTENT = 304,  /* the checksums match, but the content breaks a rule of SPEC.md */

    /* The system. */
    IDX_OUT_OF_MEMORY = 400, /* no memory left, or less than the call needs */
    IDX_IO_ERROR = 401,      /* errno has the cause */
    IDX_DISK_FULL = 402,     /* no space left, or a quota or the file size limit is exceeded */
    IDX_NO_ACCESS = 403,     /* no permission, or a read-only file system */
};

/* Why a call failed. The caller owns the struct, the failed call fills it. */
struct idx_error {
    enum idx_status status;
    int system_errno;    /* errno of the failed system call, or 0 */
    uint64_t offset;     /* byte offset of the fault in `file`, or 0 */
    char file[1024];     /* the file or folder concerned, or empty; of a long path, the end */
    char sentence[1536]; /* one sentence without a line end: what is wrong, where, and what to do */
    uint64_t reserved[8];
};

/* ---- Opening ----------------------------------------------------------------------------------------------------- */

/* Where look-ups find their data. Loaded data is checked on opening, and is in huge pages if the system has them.
 * Mapped data is read from the files; each page is checked before its first use. */
enum idx_residence {
    IDX_RESIDENCE_DIRECTORY = 0, /* directories loaded, blocks mapped: for readers that stay open */
    IDX_RESIDENCE_NONE = 1,      /* everything mapped: opening takes the same time at any size */
    IDX_RESIDENCE_ALL = 2,       /* everything loaded: the fastest look-ups in blocks; needs memory for all tables */
    IDX_RESIDENCE_DISK = 3,      /* as DIRECTORY, for an index larger than memory: a look-up requests all blocks that it
                                    needs from the disk (idx_lookup_many: those of several queries) before it waits for
                                    the first one, with one system call per block */
    IDX_RESIDENCE_UNPACKED = 4   /* everything mapped; besides, opening makes plain tables in memory from the files. The
                                    fastest for up to tens of millions of fingerprints and small distances.
                                    idx_plan_unpacked says what the tables take */
};

struct idx_progress;

/* Reports the progress of a long call; the section Progress says what. The call calls it on the caller's thread, at the
 * start of each phase and then at most ten times per second. Returns false to cancel: the call soon returns
 * IDX_CANCELLED. */
typedef bool (*idx_progress_visitor)(void *context, const struct idx_progress *progress);

struct idx_open_options {
    size_t size;
    enum idx_residence residence;
    bool skip_page_checks; /* don't check pages before their first use */
    /* For IDX_RESIDENCE_UNPACKED; refreshing uses them for new segments. */
    uint64_t memory_bytes;         /* the most memory for unpacking, at least IDX_MIN_MEMORY_BYTES; 0: half of the free
                                      memory. Where it does not suffice, opening fails with IDX_OUT_OF_MEMORY */
    unsigned threads;              /* that unpack, 1 to IDX_MAX_THREADS */
    idx_progress_visitor progress; /* IDX_PHASE_TABLES, for each segment; may be NULL. If it cancels: IDX_CANCELLED */
    void *context;                 /* of `progress` */
    /* The largest distance of look-ups and of probing, 0 to IDX_MAX_K. Tables are made for it, and each pending record
     * takes 8 bytes for each bit of it. A distance below the k of the index, or UINT_MAX, means that k. With another
     * residence, any value but UINT_MAX is IDX_INVALID_ARGUMENT. */
    unsigned distance;
};

#define IDX_OPEN_OPTIONS_INIT                                                                                          \
    { sizeof(struct idx_open_options), IDX_RESIDENCE_DIRECTORY, false, 0, 1, NULL, NULL, UINT_MAX }

struct idx_index;

/* Opens the index at `path`: all its files and everything that is pending. Checks the manifest and the headers. All
 * files are of the same version of the index, even while it is being replaced. The index uses two file descriptors, for
 * the folder and the manifest, and one more if there is a pending.log. idx_replaced and idx_refresh use `path` again: a
 * relative one is then relative to the working directory of that time. Works on read-only media, and any number of
 * times in a process. The caller closes *index. Errors: IDX_INVALID_ARGUMENT (options), IDX_NOT_FOUND,
 * IDX_NOT_AN_INDEX, IDX_NEW_VERSION, the damaged-file group, IDX_LIMIT (2^32 pending records or more, or a segment of
 * 2^32 - 1 fingerprints or more that is to be unpacked), IDX_CANCELLED, IDX_OUT_OF_MEMORY, IDX_IO_ERROR, IDX_NO_ACCESS,
 * IDX_UNSUPPORTED (a docs.mdb that another kind of machine wrote). */
IDX_API enum idx_status idx_open(struct idx_index **index, const char *path, const struct idx_open_options *options,
                                 struct idx_error *error);

/* Closes the index. No cursor of it may be open, and no call on it running. Accepts NULL. */
IDX_API void idx_close(struct idx_index *index);

/* Sets *replaced to whether the path from which the index was opened now has another version of it (built anew, or with
 * other segments), or no index any more. A program calls it to know whether to warn or to open anew; one that follows
 * changes calls idx_refresh alone. Newly pending documents do not make another version. The open index stays complete
 * and usable.
 * Errors: IDX_OUT_OF_MEMORY, IDX_IO_ERROR, IDX_NO_ACCESS. */
IDX_API enum idx_status idx_replaced(const struct idx_index *index, bool *replaced, struct idx_error *error);

/* Opens the current state of the index at the path of `index` as *newer, with the same options, or sets *newer to NULL
 * if `index` is still current. This includes everything that writers acknowledged before the call, and a new index that
 * has taken the place of the old one, with whatever properties it has. After an error, `index` stays usable. Both views
 * are complete and independent; the caller closes both, in any order. They share what they have in common, so only new
 * records and new segments are read; if nothing is new, the call takes two system calls. So a program that follows an
 * index calls it from time to time, and if *newer is not NULL, closes its cursors and `index`, and goes on with *newer.
 * Any number of threads may call it, on one index or several; views refreshed from one another read new records one
 * after the other. Errors: as idx_open. */
IDX_API enum idx_status idx_refresh(const struct idx_index *index, struct idx_index **newer, struct idx_error *error);

/* ---- Looking up -------------------------------------------------------------------------------------------------- */

/* Three calls are enough for most programs: idx_lookup for one query, idx_list_matches for many, and idx_batch for more
 * queries than memory has room for matches. The calls of the next section find the same matches, and each says where it
 * is better. */

/* The Hamming distance of a and b: the number of bits in which they differ, 0 to 64. */
IDX_API unsigned idx_distance(uint64_t a, uint64_t b);

struct idx_match {
    uint64_t fingerprint;
    unsigned distance;
};

/* Finds every fingerprint of the index within `distance` of `fingerprint`, each once, unless all its documents were
 * removed. The distance is 0 to the k of the index (struct idx_properties), or to the distance of idx_open_options if
 * that is larger; UINT_MAX, which means k in option structs, is no distance here. Stores the nearest `capacity` matches
 * in `matches`, ordered by distance, then by value, and sets *match_count to how many there are, which may exceed
 * capacity. `matches` may be NULL if capacity is 0. Allocates nothing, takes no lock, makes no system call (except with
 * IDX_RESIDENCE_DISK). Errors: IDX_INVALID_ARGUMENT (a fingerprint of more than `bits` bits), IDX_BAD_DISTANCE,
 * IDX_BAD_CHECKSUM, IDX_BAD_CONTENT. */
IDX_API enum idx_status idx_lookup(const struct idx_index *index, uint64_t fingerprint, unsigned distance,
                                   struct idx_match *matches, size_t capacity, size_t *match_count,
                                   struct idx_error *error);

struct idx_match_lists_options {
    size_t size;
    unsigned distance;    /* as of idx_lookup; UINT_MAX: the k of the index */
    unsigned threads;     /* 1 to IDX_MAX_THREADS */
    uint64_t max_matches; /* how many are listed for a fingerprint, the nearest ones; 0: they are only counted */
    uint64_t max_bytes;   /* how much the lists may take; making them takes up to four times as much for a while */
    idx_progress_visitor progress; /* IDX_PHASE_COMPARING; may be NULL */
    void *context;                 /* of `progress` */
};

#define IDX_MATCH_LISTS_OPTIONS_INIT                                                                                   \
    { sizeof(struct idx_match_lists_options), UINT_MAX, 1, UINT64_MAX, UINT64_MAX, NULL, NULL }

/* The matches of many fingerprints. Those of fingerprints[i] are matches[offsets[i]] to matches[offsets[i + 1] - 1].
 * The caller owns the arrays, and releases them by idx_match_lists_close, or each one by free. */
struct idx_match_lists {
    int64_t *offsets; /* one more than there are fingerprints */
    int64_t *counts;  /* for each fingerprint, how many matches it has: the list has at most max_matches of them */
    struct idx_match *matches;
    void *reserved[4];
};

/* Lists all matches of each of `count` fingerprints, in the order of the fingerprints; the matches of each are ordered
 * as by idx_lookup. As fast as idx_lookup_many. Errors: as idx_lookup; IDX_INVALID_ARGUMENT (threads), IDX_LIMIT (more
 * than max_bytes), IDX_CANCELLED, IDX_OUT_OF_MEMORY. */
IDX_API enum idx_status idx_list_matches(const struct idx_index *index, const uint64_t *fingerprints, size_t count,
                                         const struct idx_match_lists_options *options, struct idx_match_lists *lists,
                                         struct idx_error *error);

/* Frees the arrays, and sets them to NULL. Accepts NULL. */
IDX_API void idx_match_lists_close(struct idx_match_lists *lists);

/* How to look up a batch of queries. The matches are the same with all methods. */
enum idx_batch_method {
    IDX_BATCH_AUTO = 0,   /* the method that is expected to take the least time */
    IDX_BATCH_PROBE = 1,  /* query by query, as idx_lookup_many: for few queries */
    IDX_BATCH_SWEEP = 2,  /* table by table: the queries are sorted in the table's order, and each part of the table
                             that they need is read once, in file order */
    IDX_BATCH_STREAM = 3, /* the fingerprints of the index's first table stream past the queries, in memory: for very
                             many queries and for large distances. The only method for distances above the k of the
                             index and above that of idx_open_options */
};

struct idx_batch_options {
    size_t size;
    /* UINT_MAX: the k of the index. IDX_BATCH_AUTO and IDX_BATCH_STREAM take 0 to IDX_MAX_K; IDX_BATCH_SWEEP takes 0 to
     * k, and IDX_BATCH_PROBE 0 to k or to the distance of idx_open_options. */
    unsigned distance;
    enum idx_batch_method method;
    unsigned threads; /* 1 to IDX_MAX_THREADS */
    /* The memory that the call may use besides the index and the queries, in bytes. Half of it is for matches; if they
     * need more, they go through temporary files. IDX_MIN_MEMORY_BYTES or more, though the buffers alone need a few MiB
     * per thread. 0: half of what is free. */
    uint64_t memory_bytes;
    const char *temporary_folder;  /* for these files, which have no name; may be NULL */
    idx_progress_visitor progress; /* may be NULL */
    void *context;                 /* of `progress` */
};

#define IDX_BATCH_OPTIONS_INIT                                                                                         \
    { sizeof(struct idx_batch_options), UINT_MAX, IDX_BATCH_AUTO, 1, 0, NULL, NULL, NULL }

/* Called on the caller's thread for matches of query number `query`, in the order of the queries. The matches of one
 * query may come in several consecutive calls; for a query without matches there is no call. Returns false to stop,
 * which is no error. */
typedef bool (*idx_batch_visitor)(void *context, size_t query, const struct idx_match *matches, size_t count);

/* Finds the matches of all queries, and then visits them: query by query, and for each query ordered as by idx_lookup.
 * All are found before the first is visited. Errors: as idx_lookup; IDX_INVALID_ARGUMENT (options), IDX_LIMIT (2^32 - 1
 * queries or more, where fingerprints stream past them), IDX_CANCELLED, IDX_OUT_OF_MEMORY, IDX_NOT_FOUND (the temporary
 * folder), IDX_IO_ERROR, IDX_DISK_FULL, IDX_NO_ACCESS. */
IDX_API enum idx_status idx_batch(const struct idx_index *index, const uint64_t *queries, size_t count,
                                  const struct idx_batch_options *options, idx_batch_visitor visit, void *visit_context,
                                  struct idx_error *error);

/* ---- Other ways to look up --------------------------------------------------------------------------------------- */

struct idx_lookup_options {
    size_t size;
    unsigned distance; /* as of idx_lookup; UINT_MAX: the k of the index */
    unsigned threads;  /* how many work at most, the caller's included: 1 to IDX_MAX_THREADS */
};

#define IDX_LOOKUP_OPTIONS_INIT                                                                                        \
    { sizeof(struct idx_lookup_options), UINT_MAX, 1 }

/* Better than idx_list_matches where the nearest few matches of each query are enough, and the caller has arrays for
 * them. Looks up `count` queries as idx_lookup does, but faster than one by one, since their memory accesses overlap.
 * Stores the nearest `capacity` matches of fingerprints[i] from matches[i · capacity] on, ordered as by idx_lookup, and
 * the number of its matches in match_counts[i]. With one thread, it allocates nothing, takes no lock and makes no
 * system call (except with IDX_RESIDENCE_DISK). After an error all results are unspecified. Errors: as idx_lookup;
 * IDX_INVALID_ARGUMENT (threads). */
IDX_API enum idx_status idx_lookup_many(const struct idx_index *index, const uint64_t *fingerprints, size_t count,
                                        const struct idx_lookup_options *options, struct idx_match *matches,
                                        size_t capacity, size_t *match_counts, struct idx_error *error);

/* Called for each match. Returns false to stop the look-up. */
typedef bool (*idx_match_visitor)(void *context, const struct idx_match *match);

/* Better than idx_lookup where a query may have more matches than there is room for, or the order does not matter.
 * Calls `visit` for each match as it is found, in no particular order. Errors: as idx_lookup. */
IDX_API enum idx_status idx_visit_matches(const struct idx_index *index, uint64_t fingerprint, unsigned distance,
                                          idx_match_visitor visit, void *context, struct idx_error *error);

/* Better than idx_lookup where only this matters: whether there is any match within `distance`. Stops at the
 * first one. Errors: as idx_lookup. */
IDX_API enum idx_status idx_exists(const struct idx_index *index, uint64_t fingerprint, unsigned distance, bool *exists,
                                   struct idx_error *error);

/* Better than idx_batch where the fingerprints are in no index: queries in memory, which fingerprints from any source
 * stream past. One thread at a time. */
struct idx_stream;

/* Prepares queries of `bits` bits (1 to 64). The distance of `options` is 0 to IDX_MAX_K, and by default IDX_DEFAULT_K;
 * the method is IDX_BATCH_AUTO or IDX_BATCH_STREAM. The queries are copied. The caller closes *stream.
 * Errors: IDX_INVALID_ARGUMENT, IDX_LIMIT (2^32 - 1 queries or more), IDX_OUT_OF_MEMORY, IDX_NOT_FOUND (the temporary
 * folder), IDX_NO_ACCESS, IDX_IO_ERROR. */
IDX_API enum idx_status idx_stream_open(struct idx_stream **stream, const uint64_t *queries, size_t count,
                                        unsigned bits, const struct idx_batch_options *options,
                                        struct idx_error *error);

/* Compares fingerprints with the queries, on all threads of the stream. Fingerprints may come in any order and any
 * number of times; about a million per call keeps all threads busy. After an error the stream can only be closed.
 * Errors: IDX_INVALID_ARGUMENT (a fingerprint of more than `bits` bits), IDX_CANCELLED, IDX_OUT_OF_MEMORY,
 * IDX_IO_ERROR, IDX_DISK_FULL. */
IDX_API enum idx_status idx_stream_add(struct idx_stream *stream, const uint64_t *fingerprints, size_t count,
                                       struct idx_error *error);

/* Visits the matches, each once, by query, then fingerprint. Afterwards the stream can only be closed. Errors: as
 * idx_stream_add. */
IDX_API enum idx_status idx_stream_finish(struct idx_stream *stream, idx_batch_visitor visit, void *visit_context,
                                          struct idx_error *error);

/* Closes the stream, whether it was finished or not. Accepts NULL. */
IDX_API void idx_stream_close(struct idx_stream *stream);

/* ---- Visiting all fingerprints ----------------------------------------------------------------------------------- */

/* Calls `visit` for every fingerprint of the index, each once, with distance 0: segment by segment, in the order of
 * each segment's first table, then for the fingerprints that are only pending, in ascending order.
 * Errors: IDX_OUT_OF_MEMORY, IDX_BAD_CHECKSUM, IDX_BAD_CONTENT. */
IDX_API enum idx_status idx_visit_all(const struct idx_index *index, idx_match_visitor visit, void *context,
                                      struct idx_error *error);

/* Called for one or more fingerprints at a time. Returns false to stop. */
typedef bool (*idx_fingerprints_visitor)(void *context, const uint64_t *fingerprints, size_t count);

/* Visits part `part` (from 0) of `parts` of the fingerprints, in the order of idx_visit_all. All parts together visit
 * each fingerprint once. A part is a contiguous share of each segment. Parts are of nearly equal size, but the last one
 * also has the fingerprints that are only pending.
 * Errors: IDX_INVALID_ARGUMENT (no such part), IDX_OUT_OF_MEMORY, IDX_BAD_CHECKSUM, IDX_BAD_CONTENT. */
IDX_API enum idx_status idx_visit_part(const struct idx_index *index, uint32_t part, uint32_t parts,
                                       idx_fingerprints_visitor visit, void *context, struct idx_error *error);

/* ---- Documents (SPEC.md, chapter 8) ------------------------------------------------------------------------------ */

/* What a document's ID is. */
enum idx_id_type {
    IDX_ID_TEXT = 0, /* bytes of any length; they need not be unique */
    IDX_ID_U64 = 1,  /* an unsigned 64-bit integer; the same one twice on one fingerprint is one document */
    IDX_ID_NONE = 2, /* the index has no documents, only the fingerprints */
};

/* A document to add, to find or to remove. Its ID is of the index's ID type; calls refuse one of another type. */
struct idx_item {
    uint64_t fingerprint;
    uint64_t number;  /* IDX_ID_U64: its ID. IDX_ID_TEXT: ignored, but 0 if `id` is NULL */
    const void *id;   /* IDX_ID_TEXT: the bytes of its ID, which the call copies. Other types: NULL */
    size_t id_length; /* bytes, up to IDX_MAX_ID_BYTES; 0: the empty ID, and `id` may be NULL. No NUL ends the ID */
};

/* A document that was found. */
struct idx_document {
    uint64_t number; /* IDX_ID_U64: its ID. IDX_ID_TEXT: its number within its segment, which changes when segments are
                        merged, or UINT64_MAX while it is pending */
    const void *id;  /* IDX_ID_TEXT: the bytes of its ID, which belong to the cursor and are valid until its next use; a
                        NUL does not end them. Other types: NULL */
    size_t id_length; /* bytes */
};

/* A cursor over the documents of one fingerprint at a time. The caller owns it. One thread at a time. */
struct idx_documents;

/* Opens a cursor, which idx_documents_find can move any number of times. The caller closes *documents before the index.
 * Errors: IDX_BAD_CHECKSUM, IDX_BAD_CONTENT, IDX_OUT_OF_MEMORY, IDX_IO_ERROR. */
IDX_API enum idx_status idx_documents_open(struct idx_documents **documents, const struct idx_index *index,
                                           struct idx_error *error);

/* Moves the cursor to the documents of a fingerprint, and sets *count (may be NULL) to how many there are: 0 for
 * IDX_ID_NONE, and where the index does not hold the fingerprint. With IDX_ID_U64, an ID that is in two segments, or in
 * one and among the pending documents, may count twice here. If single documents of the fingerprint were removed, the
 * call visits its documents to count them. Errors: IDX_INVALID_ARGUMENT (a fingerprint of more than `bits` bits),
 * IDX_BAD_CONTENT (the tables hold the fingerprint, but the document map does not), IDX_BAD_CHECKSUM,
 * IDX_OUT_OF_MEMORY. */
IDX_API enum idx_status idx_documents_find(struct idx_documents *documents, uint64_t fingerprint, uint64_t *count,
                                           struct idx_error *error);

/* Returns the next document: by segment and number, then pending ones in the order in which they were added; for
 * IDX_ID_U64 by ID, each ID once. *found is false after the last one. Errors: IDX_BAD_CHECKSUM, IDX_BAD_CONTENT,
 * IDX_OUT_OF_MEMORY. */
IDX_API enum idx_status idx_documents_next(struct idx_documents *documents, struct idx_document *document, bool *found,
                                           struct idx_error *error);

/* Closes the cursor. Accepts NULL. */
IDX_API void idx_documents_close(struct idx_documents *documents);

struct idx_document_lists_options {
    size_t size;
    unsigned threads;              /* 1 to IDX_MAX_THREADS */
    uint64_t max_documents;        /* how many are listed for a fingerprint, the first ones; 0: they are only counted */
    uint64_t max_bytes;            /* how much the lists may take; making them takes four times as much for a while */
    idx_progress_visitor progress; /* may be NULL */
    void *context;                 /* of `progress` */
};

#define IDX_DOCUMENT_LISTS_OPTIONS_INIT                                                                                \
    { sizeof(struct idx_document_lists_options), 1, UINT64_MAX, UINT64_MAX, NULL, NULL }

/* The documents of many fingerprints. Those of fingerprints[i] are documents offsets[i] to offsets[i + 1] - 1. The
 * caller owns the arrays, and releases them by idx_document_lists_close, or each one by free. */
struct idx_document_lists {
    int64_t *offsets;    /* one more than there are fingerprints */
    int64_t *counts;     /* for each fingerprint, how many documents it has: the list has at most max_documents */
    uint64_t *numbers;   /* IDX_ID_U64: numbers[j] is the ID of document j; else NULL */
    int64_t *id_offsets; /* IDX_ID_TEXT: the ID of document j is ids[id_offsets[j]] to ids[id_offsets[j + 1] - 1], so
                            there is one more than there are documents; else NULL */
    uint8_t *ids;        /* IDX_ID_TEXT; else NULL */
    void *reserved[4];
};

/* Lists the documents of each of `count` fingerprints, in the order of the fingerprints, which may repeat; the
 * documents of each are in the order of idx_documents_next. The files are read in their order, which is several times
 * as fast as a cursor. A fingerprint that the index does not hold has no documents, and with IDX_ID_NONE none has any.
 * Errors: IDX_INVALID_ARGUMENT (options, a fingerprint of more than `bits` bits), IDX_LIMIT (more than max_bytes),
 * IDX_BAD_CHECKSUM, IDX_BAD_CONTENT (also where the tables hold a fingerprint and the map lacks it), IDX_CANCELLED,
 * IDX_OUT_OF_MEMORY, IDX_IO_ERROR. */
IDX_API enum idx_status idx_list_documents(const struct idx_index *index, const uint64_t *fingerprints, size_t count,
                                           const struct idx_document_lists_options *options,
                                           struct idx_document_lists *lists, struct idx_error *error);

/* Frees the arrays, and sets them to NULL. Accepts NULL. */
IDX_API void idx_document_lists_close(struct idx_document_lists *lists);

/* ---- Documents by their IDs -------------------------------------------------------------------------------------- */

/* Finds the fingerprints that have a document with the ID of `item`, in an index built with by_id; the item's own
 * fingerprint does not matter. Stores the smallest `capacity` of them in `fingerprints`, ascending, and sets *count to
 * how many there are, which may exceed capacity. `fingerprints` may be NULL if capacity is 0. Confirms each fingerprint
 * by reading its documents up to the one with this ID. Errors: IDX_INVALID_ARGUMENT (no map from IDs, or another ID
 * type), IDX_WRONG_SIZE, IDX_BAD_CHECKSUM, IDX_BAD_CONTENT, IDX_FOREIGN_FILE, IDX_OUT_OF_MEMORY, IDX_IO_ERROR. */
IDX_API enum idx_status idx_find_id(const struct idx_index *index, const struct idx_item *item, uint64_t *fingerprints,
                                    size_t capacity, size_t *count, struct idx_error *error);

/* ---- Building ---------------------------------------------------------------------------------------------------- */

struct idx_build_options {
    size_t size;
    unsigned bits; /* f, 1 to 64 */
    unsigned k;    /* the largest distance of look-ups: below bits, and at most IDX_MAX_K, or max_k of the recipe */
    const char *scheme;  /* as idx_scheme_parse accepts it */
    uint32_t block_size; /* bytes, a power of two from IDX_MIN_BLOCK_SIZE to IDX_MAX_BLOCK_SIZE */
    enum idx_id_type id_type;
    const char *recipe; /* how the fingerprints were made: up to IDX_MAX_RECIPE_BYTES bytes without control
                           characters; NULL or empty: unknown */
    unsigned threads;   /* 1 to IDX_MAX_THREADS: fingerprints are sorted and tables are built in parallel */
    bool replace;       /* replace an existing idx index at the path, atomically */
    /* `auto` chooses the fastest scheme whose table files and resident bytes together are at most this many bytes per
     * fingerprint; if there is none, the smallest scheme. 0: `bits` bytes per fingerprint, which is eight times the
     * size of plain fingerprints, plus 1 MiB in all. */
    unsigned max_bytes_per_fingerprint;
    /* The memory that the builder may use, in bytes, mapped pages included. At least IDX_MIN_MEMORY_BYTES, but the
     * buffers alone need 24 MiB, and 4 MiB per thread. What does not fit is sorted in runs, which go through temporary
     * files. 0: half of the memory that is free when the builder is opened. */
    uint64_t memory_bytes;
    const char *temporary_folder;  /* for these files, which no other process sees; may be NULL */
    idx_progress_visitor progress; /* may be NULL */
    void *context;                 /* of `progress` */
    bool by_id; /* also write a map from IDs to fingerprints, for idx_find_id; not with IDX_ID_NONE. The builder then
                   sorts twice as much, and its buffers need 16 MiB more */
    /* 0: documents have no sets. 1 to IDX_MAX_SKETCH: the index has the sets of texts, which idx_builder_add_text adds,
     * and this many of the smallest members of each set are the text's fingerprints; with a recipe minhash:M, it is M.
     * Such an index has 64 bits, k = 0, IDX_ID_TEXT or IDX_ID_U64, and no map from IDs. */
    unsigned sketch;
    int64_t threshold; /* with a sketch: the least coefficient that look-ups will ask for, 1 to IDX_THRESHOLD_ONE */
};

#define IDX_BUILD_OPTIONS_INIT                                                                                         \
    {                                                                                                                  \
        sizeof(struct idx_build_options), 64, IDX_DEFAULT_K, "auto", IDX_DEFAULT_BLOCK_SIZE, IDX_ID_TEXT, NULL, 1,     \
            false, 0, 0, NULL, NULL, NULL, false, 0, 8000                                                              \
    }

struct idx_builder;

/* Begins to build an index at `path`, a folder. The builder works in a temporary folder beside it, `.NAME.tmp-` and
 * eight hex digits (a NAME that is too long for that is cut, and followed by a hash of it), and first removes the ones
 * that killed builds of the same path left behind; a folder of such a name that holds anything but files of an index
 * stays. It checks at once that it can write there, and that nothing exists at `path` (with `replace`: nothing, or an
 * idx index). Several builders may build the same index at a time: the first one to finish publishes it; with
 * `replace`, the last one to finish replaces the others. The caller closes *builder. Errors: IDX_INVALID_ARGUMENT,
 * IDX_BAD_SCHEME, IDX_WEAK_SCHEME, IDX_EXISTS, IDX_NOT_AN_INDEX, IDX_NOT_FOUND (the folder that is to hold the index,
 * or the temporary folder), IDX_CANCELLED, IDX_OUT_OF_MEMORY, IDX_IO_ERROR, IDX_DISK_FULL, IDX_NO_ACCESS. */
IDX_API enum idx_status idx_builder_open(struct idx_builder **builder, const char *path,
                                         const struct idx_build_options *options, struct idx_error *error);

/* Adds a document. With IDX_ID_NONE, its fingerprint alone counts. Errors: IDX_INVALID_ARGUMENT (a fingerprint of more
 * than `bits` bits, an ID of more than IDX_MAX_ID_BYTES bytes, another ID type; the builder stays usable). After
 * IDX_LIMIT, IDX_CANCELLED, IDX_OUT_OF_MEMORY, IDX_IO_ERROR or IDX_DISK_FULL the builder can only be closed. */
IDX_API enum idx_status idx_builder_add(struct idx_builder *builder, const struct idx_item *item,
                                        struct idx_error *error);

/* A set of 64-bit hashes, its members. They ascend, and each is there once. */
struct idx_set {
    const uint64_t *hashes; /* NULL: not known */
    size_t count;
};

/* Adds a text and its set to an index with sets: the smallest members of the set are the text's fingerprints. `item`
 * has the text's ID; its fingerprint is ignored. A text whose set is empty is not added. Sets take 8 bytes a member on
 * disk, and with integer IDs as much again in temporary files. Errors: as idx_builder_add, IDX_INVALID_ARGUMENT (an
 * index without sets, or members that don't ascend), IDX_LIMIT (more than IDX_MAX_MEMBERS; the builder stays usable).
 */
IDX_API enum idx_status idx_builder_add_text(struct idx_builder *builder, const struct idx_item *item,
                                             const struct idx_set *set, struct idx_error *error);

/* The result of a build. */
struct idx_build_summary {
    uint64_t documents;       /* documents added; IDX_ID_U64: the same ID twice on one fingerprint counts once;
                                 IDX_ID_NONE: fingerprints added, where idx_merge counts equal ones once */
    uint64_t fingerprints;    /* distinct fingerprints */
    uint64_t table_bytes;     /* total of all table files */
    uint64_t documents_bytes; /* docs.mdb and docs.sum */
    char scheme[64];          /* the name of the scheme given, or chosen by `auto`, as in struct idx_scheme */
    size_t tables;
    uint64_t temporary_bytes; /* total written to temporary files */
    size_t leftovers;         /* folders of killed builds beside the path that were removed */
    bool mixed_icu;           /* idx_merge: recipes of two inputs differ in their version of ICU (idx_recipe_matches) */
    uint64_t by_id_bytes;     /* by-id.mdb and by-id.sum; 0 without them */
    uint64_t texts;           /* with sets; a text is a document for each of its fingerprints */
    uint64_t sets_bytes;      /* the file of sets; 0 without sets */
    uint64_t reserved[6];
};

/* Sorts, encodes, writes, syncs, and publishes the index at its path. This is the only call that publishes. If its very
 * last step fails, syncing the folder that holds the index, the new index is complete and in place; a replaced index is
 * left beside it, and the next build removes that. `summary` may be NULL. Whatever the call returned, the builder can
 * only be closed afterwards.
 * Errors: IDX_EXISTS, IDX_NOT_AN_INDEX (something appeared at the path since the builder was opened), IDX_BUSY (the
 * index that is to be replaced has a writer, whose pending documents would be lost, or is being compacted),
 * IDX_UNSUPPORTED (the file system can't exchange folders), IDX_BAD_CHECKSUM (a temporary file), IDX_LIMIT,
 * IDX_CANCELLED, IDX_OUT_OF_MEMORY, IDX_IO_ERROR, IDX_DISK_FULL, IDX_NO_ACCESS. */
IDX_API enum idx_status idx_builder_finish(struct idx_builder *builder, struct idx_build_summary *summary,
                                           struct idx_error *error);

/* Closes the builder. If it did not publish, it leaves nothing behind. Accepts NULL. */
IDX_API void idx_builder_close(struct idx_builder *builder);

/* What a build needs. */
struct idx_build_estimate {
    uint64_t memory_bytes;    /* the memory that it may use: as the option says, or half of what is free */
    uint64_t index_bytes;     /* the index, without the bytes of text IDs */
    uint64_t temporary_bytes; /* temporary files at their largest */
    uint64_t peak_bytes;      /* the peak on disk of both together, if temporary files are beside the index */
    uint64_t reserved[8];
};

/* Estimates what a build of `documents` documents needs, if all fingerprints are distinct and uniform. This is an upper
 * bound, except for skewed data with `auto`. Of an index with sets, documents are texts with sketches of the full size;
 * the sets are not counted: 8 bytes a member, and with integer IDs as much again in temporary files. Errors:
 * IDX_INVALID_ARGUMENT, IDX_BAD_SCHEME, IDX_WEAK_SCHEME, IDX_OUT_OF_MEMORY. */
IDX_API enum idx_status idx_estimate_build(const struct idx_build_options *options, uint64_t documents,
                                           struct idx_build_estimate *estimate, struct idx_error *error);

/* The shard of a fingerprint, 0 to shards - 1, for building an index in parts on several machines:
 * ⌊h · shards / 2^64⌋, where h is the XXH3 hash of the fingerprint's 8 bytes, little-endian. All documents of one
 * fingerprint are in one shard, so shards have no fingerprint in common. Shards are even, however skewed the
 * fingerprints are. 0 if there are fewer than 2 shards. */
IDX_API uint64_t idx_shard(uint64_t fingerprint, uint64_t shards);

/* ---- Merging ----------------------------------------------------------------------------------------------------- */

struct idx_merge_options {
    size_t size;
    unsigned threads;              /* 1 to IDX_MAX_THREADS: tables are merged in parallel */
    bool replace;                  /* replace an existing idx index at the path, which may be one of the inputs */
    uint64_t memory_bytes;         /* as in struct idx_build_options */
    idx_progress_visitor progress; /* may be NULL */
    void *context;                 /* of `progress` */
};

#define IDX_MERGE_OPTIONS_INIT                                                                                         \
    { sizeof(struct idx_merge_options), 1, false, 0, NULL, NULL }

/* Merges `count` indexes, 1 or more, into a new index with one segment at `path`. The result has the documents of all
 * segments and the pending documents, without those that were removed, as if it had been built from them. Nothing is
 * sorted again: tables are decoded, merged and encoded one by one.
 * - The inputs must have the same bits, k, ID type, recipe and tables, and either all or none of them a map from IDs.
 *   No two of them may be the same index, or a copy of it. If they differ in the part `;icu=` of their recipes, the
 *   result's recipe does not have it. The first input's first segment determines the block size.
 * - Text IDs get new document numbers: input by input, within an input segment by segment, then its pending documents.
 *   With integer IDs, the same ID on one fingerprint becomes one document.
 * - The inputs are not changed. Each page of their blocks and document maps is checked as it is read; their directories
 *   are not read.
 * - Each input is the view that the call opens; writers and compactions of it go on. An input that is to be replaced is
 *   locked against both before its view is opened, so nothing that they acknowledge is lost.
 * - Besides `memory_bytes`, the call needs about 300 bytes per pending document, with text IDs and a map from IDs, and
 *   about 150 bytes per removed one. `summary` may be NULL.
 * Errors: as idx_open for the inputs; as idx_builder_open and idx_builder_finish; IDX_INVALID_ARGUMENT (the inputs
 * don't match, and the sentence names the difference; or two are the same index); IDX_BUSY (an input that is to be
 * replaced, or at the end the index at `path`, has a writer or is being compacted); the damaged-file group. */
IDX_API enum idx_status idx_merge(const char *path, const char *const *inputs, size_t count,
                                  const struct idx_merge_options *options, struct idx_build_summary *summary,
                                  struct idx_error *error);

/* ---- Adding and removing (SPEC.md, chapter 10) ------------------------------------------------------------------- */

#define IDX_COMPACT_BY_SIZE UINT64_MAX

struct idx_writer_options {
    size_t size;
    enum idx_residence residence; /* of the segments, for the writer's look-ups */
    /* If more records than compact_records are pending, or there are more segments than compact_segments, a thread of
     * the writer compacts the index (idx_compact) while the writer goes on. At one and a half times as many records,
     * the writer waits for the compaction. 0: this number never causes one.
     * IDX_COMPACT_BY_SIZE: a sixth of the number of documents, but at least 100,000 and at most 4,000,000. A million
     * pending records with integer IDs need about 65 MB in a process that opens the index, and 0.2 microseconds per
     * look-up; four million need 256 MB, and 0.3 microseconds per look-up. Look-ups probe each segment, so they take
     * nearly twice as long with two segments as with one; but with more segments, compaction writes less again. */
    uint64_t compact_records;
    unsigned compact_segments; /* 0 to 1024 */
    unsigned threads; /* for the look-ups of check_and_add, and as many more for compaction; 1 to IDX_MAX_THREADS */
    /* May be NULL. The compacting thread calls it as idx_compact does; false cancels that compaction without effect. */
    idx_progress_visitor progress;
    void *context; /* of `progress` */
};

#define IDX_WRITER_OPTIONS_INIT                                                                                        \
    { sizeof(struct idx_writer_options), IDX_RESIDENCE_DIRECTORY, IDX_COMPACT_BY_SIZE, 2, 1, NULL, NULL }

/* Adds documents to an existing index and removes documents. The changes are pending, in pending.log, and visible to
 * every reader that opens or refreshes the index afterwards. One thread at a time. Each call is atomic and durable: its
 * changes are on disk when it returns, and a reader sees all of them or none. After an error none of them are there,
 * and the writer stays usable unless the function's comment says otherwise. This includes a full disk: once there is
 * space again, the writer goes on.
 * A reader may see the changes of a call a moment before they are on disk, while the call has not returned. If the
 * machine fails in that moment, they may be lost.
 * If a sync fails, the call returns IDX_IO_ERROR, and the sync is not repeated. Then it is unknown whether the changes
 * of this call are on disk, and the writer can only be closed. The next writer keeps the changes that it finds. */
struct idx_writer;

/* Opens the one writer that an index can have at a time, and creates pending.log if there is none. The caller closes
 * *writer. Errors: as idx_open; IDX_BUSY (another writer has the index; the sentence names its process and host),
 * IDX_DISK_FULL. */
IDX_API enum idx_status idx_writer_open(struct idx_writer **writer, const char *path,
                                        const struct idx_writer_options *options, struct idx_error *error);

/* Closes the writer. Cancels a running compaction without effect: pending records stay pending. Records in the manifest
 * how far pending.log goes, so that an older copy of it is detected. Accepts NULL. */
IDX_API void idx_writer_close(struct idx_writer *writer);

/* The index as the writer sees it, its own changes included, for the documents of matches. The writer owns it; it is
 * valid until the next call with this writer, and no cursor of it may be open then. It is no view for
 * idx_refresh; to get one of your own, call idx_open. */
IDX_API const struct idx_index *idx_writer_view(const struct idx_writer *writer);

/* Records how the fingerprints to be added were made, in an empty index that was built without a recipe. The recipe is
 * on disk when the call returns; older views see it once they are refreshed. `recipe` is as in struct
 * idx_build_options. Does nothing if the index already has this recipe. Errors: IDX_INVALID_ARGUMENT (a bad recipe; the
 * index has another one, or is not empty: see struct idx_properties; its k is more than max_k of the recipe,
 * idx_recipe_read), IDX_OUT_OF_MEMORY, IDX_DISK_FULL, IDX_NO_ACCESS, IDX_IO_ERROR. */
IDX_API enum idx_status idx_writer_set_recipe(struct idx_writer *writer, const char *recipe, struct idx_error *error);

/* Waits for the running compaction, if any. Returns its result, or if none is running, the result of the last one:
 * IDX_OK (also if there was none), or an error of idx_compact. A failed compaction loses nothing, and the writer tries
 * again when as many records more are pending. No other call reports its error. */
IDX_API enum idx_status idx_writer_wait(struct idx_writer *writer, struct idx_error *error);

/* Adds `count` documents, whatever the index holds. As in a build, text IDs need not be unique, and the same integer ID
 * on one fingerprint is one document. Errors: IDX_INVALID_ARGUMENT (a fingerprint of more than `bits` bits, an ID that
 * is too long), IDX_LIMIT (more than 2^32 - 1 pending records), IDX_OUT_OF_MEMORY, IDX_DISK_FULL, IDX_NO_ACCESS,
 * IDX_IO_ERROR (afterwards the writer can only be closed). */
IDX_API enum idx_status idx_writer_add(struct idx_writer *writer, const struct idx_item *items, size_t count,
                                       struct idx_error *error);

/* Looks up each of `count` documents in order, also among those that this call has added before it, and adds it if no
 * fingerprint is within the distance of `options` (0 to the k of the index, which is the default). The lists, made as
 * by idx_list_matches, have what each document was near to among those before it: lists->counts[i] is 0 if items[i] was
 * added. `options` may be NULL; there is no progress, and the threads are the writer's. Many documents per call are
 * much faster than one by one. After an error, none was added. Errors: as idx_writer_add and idx_list_matches. */
IDX_API enum idx_status idx_writer_check_and_add(struct idx_writer *writer, const struct idx_item *items, size_t count,
                                                 const struct idx_match_lists_options *options,
                                                 struct idx_match_lists *lists, struct idx_error *error);

/* What the items of a removal name. */
enum idx_removal_key {
    IDX_REMOVE_DOCUMENTS = 0, /* documents, by fingerprint and ID. With text IDs, all documents of the fingerprint that
                                 have the ID; not with IDX_ID_NONE */
    IDX_REMOVE_FINGERPRINTS = 1, /* fingerprints, with all their documents; IDs are ignored. Not from an index with
                                    sets */
    IDX_REMOVE_IDS = 2, /* all documents that have the ID, whatever their fingerprints, from an index built with
                           by_id. From an index with sets, all texts that have the ID; each counts once */
};

/* The result of a removal. */
struct idx_removal {
    uint64_t documents; /* documents removed; for IDX_ID_NONE, fingerprints */
    uint64_t missing;   /* items for which there was nothing to remove */
    uint64_t reserved[8];
};

/* Removes what each of `count` items names, in order. A fingerprint that has no documents left is no longer a match.
 * The time for an item grows with the number of documents of its fingerprint. In an index with sets and text IDs, a
 * call with IDX_REMOVE_IDS reads the IDs of all segments once (40 ms for a million IDs of 60 bytes), so many items in
 * one call are faster than one by one. `removal` may be NULL. Errors: as idx_writer_check_and_add and idx_find_id;
 * IDX_INVALID_ARGUMENT (the index has no such key). */
IDX_API enum idx_status idx_writer_remove(struct idx_writer *writer, enum idx_removal_key key,
                                          const struct idx_item *items, size_t count, struct idx_removal *removal,
                                          struct idx_error *error);

/* ---- Compacting -------------------------------------------------------------------------------------------------- */

struct idx_compact_options {
    size_t size;
    bool all;              /* make one segment of all, so that nothing of a removed document is left */
    unsigned max_segments; /* the most segments to have afterwards, 1 to 1024; as compact_segments of a writer */
    /* Compaction merges all segments from the oldest one that is at most `growth` times as large as everything newer.
     * A larger growth leaves fewer segments, but writes each document again more often: about `growth` times per
     * segment. If that would leave more than max_segments, compaction uses the growth that it needs instead: about the
     * m-th root of n for at most m segments, if the index is n times as large as what is pending. With a growth of 0 it
     * then merges only as many of the newest segments as are too many, which writes the least. */
    unsigned growth;
    unsigned threads;              /* 1 to IDX_MAX_THREADS */
    uint64_t memory_bytes;         /* as in struct idx_build_options; pending and removed documents need more */
    const char *temporary_folder;  /* for what does not fit, in files without names; may be NULL */
    idx_progress_visitor progress; /* may be NULL; idx_compact calls it as idx_merge does */
    void *context;                 /* of `progress` */
};

#define IDX_COMPACT_OPTIONS_INIT                                                                                       \
    { sizeof(struct idx_compact_options), false, 2, 24, 1, 0, NULL, NULL, NULL }

struct idx_compact_summary {
    bool changed;          /* false: there was nothing to do */
    size_t segments;       /* segments that the index has now */
    size_t merged;         /* segments that were merged into the new one */
    uint64_t records;      /* pending records that went into the new segment */
    uint64_t documents;    /* documents of the new segment */
    uint64_t fingerprints; /* its distinct fingerprints */
    uint64_t removals;     /* its removals from older segments */
    size_t leftovers;      /* segment folders of killed compactions that were removed */
    uint64_t reserved[8];
};

/* Makes a segment of the pending records and the newest segments, beginning with the oldest segment that is at most
 * `growth` times as large as everything newer. This keeps segments few, and limits how often each document is written
 * again. Documents that were removed from the merged segments are dropped; once all segments become one, nothing of a
 * removed document is left.
 * Look-ups and the index's writer, in any process, go on during a compaction. Only one compaction runs at a time. The
 * new manifest replaces the old one in one step, then the merged segments are deleted; open views keep their files. If
 * the process is killed, the index is as before or as after, and the next compaction removes what was left. A writer in
 * another process notices the compaction at its next call. `summary` may be NULL.
 * Errors: as idx_open, and as idx_merge; IDX_BUSY (another compaction is running). */
IDX_API enum idx_status idx_compact(const char *path, const struct idx_compact_options *options,
                                    struct idx_compact_summary *summary, struct idx_error *error);

/* ---- Verifying --------------------------------------------------------------------------------------------------- */

/* Called for each file of an index. `file` is relative to the index. `status` is IDX_OK, or what is wrong with the
 * file, with a sentence. */
typedef void (*idx_verify_visitor)(void *context, const char *file, enum idx_status status, const char *sentence);

/* Checks every checksum, order, count and rule of SPEC.md in the index at `path`. Also checks that all tables and the
 * document map of a segment hold the same fingerprints, that the segment's map from IDs holds the same documents, and
 * that the records of the log are valid, also those that are no longer pending, but in segments. Continues after
 * damage, to report all of it. Checks one state of the index, whatever a writer or a compaction does at the same time.
 * `visit` may be NULL. Returns IDX_OK, or the status of the first damage. If the index can't be opened for a reason
 * other than damage, it returns what idx_open returns (IDX_NOT_FOUND, IDX_NOT_AN_INDEX, IDX_NEW_VERSION,
 * IDX_OUT_OF_MEMORY, IDX_IO_ERROR, IDX_NO_ACCESS). */
IDX_API enum idx_status idx_verify(const char *path, idx_verify_visitor visit, void *context, struct idx_error *error);

/* ---- Looking up by resemblance ----------------------------------------------------------------------------------- */

/* An index with sets finds texts by their sketches: the M smallest members of their sets. The texts whose sketch shares
 * a value with that of a query are candidates. The Jaccard coefficient of a candidate's set and the query's, compared
 * in integers, decides whether the candidate resembles the query. */

struct idx_resembling_options {
    size_t size;
    int64_t threshold;       /* 1 to IDX_THRESHOLD_ONE */
    unsigned threads;        /* how many find candidates, 1 to IDX_MAX_THREADS */
    uint64_t limit;          /* how many documents are listed for a set, those that resemble it most */
    uint64_t max_candidates; /* how many documents of a value are compared, the first ones; at least 1 */
};

#define IDX_RESEMBLING_OPTIONS_INIT                                                                                    \
    { sizeof(struct idx_resembling_options), 8000, 1, UINT64_MAX, UINT64_MAX }

/* A text that resembles a query: `shared` members are in both sets, `total` in at least one of them. */
struct idx_resembling_document {
    uint64_t number;    /* IDX_ID_U64: its ID */
    uint64_t id;        /* IDX_ID_TEXT: where its ID begins in `ids` of the lists */
    uint64_t id_length; /* bytes */
    uint32_t shared, total;
};

/* The documents that resemble each of the queries. Those of query i are documents[offsets[i]] to
 * documents[offsets[i + 1] - 1], the greatest coefficient first, and by ID where coefficients are equal. */
struct idx_resembling_lists {
    int64_t *offsets; /* one more than there are queries */
    struct idx_resembling_document *documents;
    uint8_t *ids;
    uint64_t unread; /* documents that were not compared because of max_candidates, once for each value */
    uint64_t reserved[5];
};

/* Returns how many values of a sketch a threshold needs: 8 for 8000, 17 for 5000. A set whose coefficient with the
 * query is exactly the threshold T shares none of the first v values with a probability of at most (1 - T)^v. The call
 * returns the smallest v for which this is 1e-5 or less, or IDX_MAX_SKETCH + 1 if IDX_MAX_SKETCH is too small.
 * `threshold` is 1 to IDX_THRESHOLD_ONE. */
IDX_API unsigned idx_sketch_values(int64_t threshold);

/* Lists the documents that resemble each of `count` sets by the threshold or more. Reads the idx_sketch_values smallest
 * members of each set, or as many as sketches have. Common values are read as well, since texts that share only these
 * would be missed otherwise; max_candidates bounds what a value costs. If several texts have an integer ID, the one
 * that resembles the set most is listed. The caller closes *lists. Errors: IDX_INVALID_ARGUMENT (options; an index
 * without sets), and as idx_list_documents. */
IDX_API enum idx_status idx_list_resembling(const struct idx_index *index, const struct idx_set *sets, size_t count,
                                            const struct idx_resembling_options *options,
                                            struct idx_resembling_lists *lists, struct idx_error *error);

/* Frees the arrays, and sets them to NULL. Accepts NULL. */
IDX_API void idx_resembling_lists_close(struct idx_resembling_lists *lists);

/* Called for a text and its set, which stay valid during the call. Returns false to end the visit. */
typedef bool (*idx_set_visitor)(void *context, const struct idx_document *document, const struct idx_set *set);

/* Visits all texts of an index with sets, without removed ones, in the order in which they were added. With IDX_ID_U64,
 * texts come by ascending ID, which is the `number` of the document, and pending ones take 32 bytes each. Errors:
 * IDX_INVALID_ARGUMENT (an index without sets), IDX_BAD_CHECKSUM, IDX_BAD_CONTENT, IDX_OUT_OF_MEMORY. */
IDX_API enum idx_status idx_visit_sets(const struct idx_index *index, idx_set_visitor visit, void *context,
                                       struct idx_error *error);

/* Adds texts and their sets to an index with sets: all of them or, after an error or a kill, none. items[i] has the ID
 * of a text, and sets[i] is its set; the item's fingerprint is ignored. A text whose set is empty is not added. Several
 * texts may have the same ID. Errors: as idx_writer_add, IDX_INVALID_ARGUMENT (an index without sets, members that
 * don't ascend), IDX_LIMIT (more than IDX_MAX_MEMBERS). */
IDX_API enum idx_status idx_writer_add_texts(struct idx_writer *writer, const struct idx_item *items,
                                             const struct idx_set *sets, size_t count, struct idx_error *error);

/* Adds each of `count` texts, in order, unless it resembles a text of the index, or one that this call has added before
 * it, by the threshold of `options` or more. Lists the texts that each one resembles, as idx_list_resembling does:
 * those with an empty list were added. A text whose set is empty resembles none, and is not added either. The `limit`
 * is above 0. The caller closes *lists. Errors: as idx_list_resembling and idx_writer_add_texts; after an error none of
 * the texts were added. */
IDX_API enum idx_status idx_writer_add_unlike(struct idx_writer *writer, const struct idx_item *items,
                                              const struct idx_set *sets, size_t count,
                                              const struct idx_resembling_options *options,
                                              struct idx_resembling_lists *lists, struct idx_error *error);

/* ---- Pairs and joins --------------------------------------------------------------------------------------------- */

struct idx_join_options {
    size_t size;
    unsigned distance; /* 0 to IDX_MAX_K, whatever the k of the index; UINT_MAX: that k */
    unsigned threads;  /* 1 to IDX_MAX_THREADS */
    /* The memory that the call may use, in bytes, mapped pages not included: IDX_MIN_MEMORY_BYTES or more. It needs a
     * few MiB per thread if fingerprints are spread evenly, more if many share a prefix. From distance 4 or 5 on, the
     * call is many times as fast if it may use 32 bytes per fingerprint and some MiB. 0: half of what is free. */
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

/* Called for a few thousand pairs at a time, by any thread of the call, but by one thread at a time. Returns false to
 * stop the call, which is no error. */
typedef bool (*idx_pairs_visitor)(void *context, const struct idx_pair *pairs, size_t count);

/* Finds every pair of fingerprints of the index within the distance, each once, a below b, in no particular order.
 * There are two ways, and the call takes the one that it expects to be faster.
 * - By tables: reads each table once in file order, and a table with a radius a few more times in parts. The time grows
 *   with the number of fingerprints and pairs, far less than quadratically, however many fingerprints share a prefix.
 *   Fingerprints that are only pending are looked up on one thread, and need 16 bytes each.
 * - In memory: reads one table and compares its fingerprints in memory, at any distance. This is faster from a distance
 *   of 4 or 5 on if memory suffices; otherwise the call reads the table several times, and compares each part with each
 *   other part. The time grows with the distance, and more than linearly with the number: on one core with AVX-512, 1e6
 *   uniform fingerprints are expected to take 0.07 s at distance 6, 0.15 s at 8, 0.3 s at 10 and 0.7 s at 12, and 1e7
 *   of them 2 s at 6 and 4 s at 8. idx_pairs_seconds estimates other cases.
 * Errors: IDX_INVALID_ARGUMENT, IDX_BAD_DISTANCE, IDX_CANCELLED, IDX_BAD_CHECKSUM, IDX_BAD_CONTENT, IDX_OUT_OF_MEMORY.
 * After an error the pairs visited so far are correct, but not complete. */
IDX_API enum idx_status idx_pairs(const struct idx_index *index, const struct idx_join_options *options,
                                  idx_pairs_visitor visit, void *visit_context, struct idx_error *error);

/* Finds every pair of a fingerprint of index `a` and one of index `b` within the distance, equal ones included, each
 * once. Both must have the same bits and recipe; they may be the same index. The default distance is the k of `a`. If k
 * and the tables are also the same, the call may find the pairs by tables. It then reads only those parts of the tables
 * of `b` that may be near to fingerprints of `a`. Errors: as idx_pairs; IDX_INVALID_ARGUMENT (the indexes don't match;
 * the sentence names the difference). */
IDX_API enum idx_status idx_join(const struct idx_index *a, const struct idx_index *b,
                                 const struct idx_join_options *options, idx_pairs_visitor visit, void *visit_context,
                                 struct idx_error *error);

/* Finds every pair of fingerprints of an array within the distance (by default IDX_DEFAULT_K), each once, a below b, in
 * no particular order. Fingerprints may come in any order, and one that comes several times counts once. Fingerprints
 * of fewer bits than 64 have zeros before them. The call needs no index. The call copies and sorts the array, in 16
 * bytes per fingerprint, however small `memory_bytes` is. It is fastest with 32 bytes per fingerprint. Errors:
 * IDX_INVALID_ARGUMENT, IDX_LIMIT (2^32 - 1 fingerprints or more), IDX_CANCELLED, IDX_OUT_OF_MEMORY. */
IDX_API enum idx_status idx_array_pairs(const uint64_t *fingerprints, size_t count,
                                        const struct idx_join_options *options, idx_pairs_visitor visit,
                                        void *visit_context, struct idx_error *error);

/* ---- Clusters ---------------------------------------------------------------------------------------------------- */

enum idx_cluster_method {
    /* Connected components: two documents are in one cluster if a chain of pairs within the distance connects them. The
     * ends of a chain may be far apart. */
    IDX_CLUSTER_COMPONENTS = 0,
    /* Stars: the most preferred fingerprint becomes a representative. Its cluster is every fingerprint within the
     * distance that is not yet in another cluster. Then the next fingerprint that is in no cluster becomes a
     * representative. No fingerprint is farther from its representative than the distance, but two near fingerprints
     * may be in different clusters. */
    IDX_CLUSTER_STAR = 1,
};

/* Which document represents a cluster, and for stars, which fingerprint becomes a representative first. The first
 * document is the one with the lowest segment and document number, so the first one added; with integer IDs, the one
 * with the smallest ID; for IDX_ID_NONE, always the smallest fingerprint, whatever the option. */
enum idx_representative {
    IDX_REPRESENTATIVE_FIRST = 0,
    IDX_REPRESENTATIVE_MOST_DOCUMENTS = 1, /* of the fingerprint with the most documents; at a tie, the first */
    IDX_REPRESENTATIVE_SMALLEST_ID = 2,    /* by its bytes; if several documents have this ID, the first */
};

struct idx_cluster_options {
    size_t size;
    unsigned distance; /* 0 to IDX_MAX_K, whatever the k of the index; UINT_MAX: that k */
    enum idx_cluster_method method;
    enum idx_representative representative;
    bool alone;       /* also visit documents without near-duplicates, each as a cluster of its own */
    unsigned threads; /* 1 to IDX_MAX_THREADS */
    /* As in struct idx_build_options. The call also needs 4 bytes per fingerprint, and 16 bytes per pending document
     * (32 for a while). IDX_REPRESENTATIVE_SMALLEST_ID needs the bytes of all text IDs and 40 bytes for each; if
     * memory_bytes is less, the call returns IDX_OUT_OF_MEMORY. Afterwards it needs twice the bytes of the IDs of a
     * cluster, and up to 96 bytes for each of its documents. */
    uint64_t memory_bytes;
    const char *temporary_folder;  /* for what does not fit, in files without names; may be NULL */
    idx_progress_visitor progress; /* may be NULL */
    void *context;                 /* of `progress` */
};

#define IDX_CLUSTER_OPTIONS_INIT                                                                                       \
    {                                                                                                                  \
        sizeof(struct idx_cluster_options), ~0U, IDX_CLUSTER_COMPONENTS, IDX_REPRESENTATIVE_FIRST, false, 1, 0, NULL,  \
            NULL, NULL                                                                                                 \
    }

/* A document of a cluster. For IDX_ID_NONE, a fingerprint, and both documents are all 0. */
struct idx_cluster_member {
    uint64_t cluster; /* from 0, without gaps */
    uint64_t fingerprint;
    unsigned distance; /* to the representative's fingerprint */
    bool is_representative;
    struct idx_document document; /* the IDs of both documents are valid during the call */
    uint64_t representative_fingerprint;
    struct idx_document representative;
};

/* Called for each document. Returns false to stop. */
typedef bool (*idx_cluster_visitor)(void *context, const struct idx_cluster_member *member);

#define IDX_LARGEST_CLUSTERS 10

struct idx_cluster_size {
    uint64_t cluster;
    uint64_t representative; /* its fingerprint */
    uint64_t documents;
    uint64_t far; /* documents that are farther from the representative than the distance */
};

/* A summary of all clusters of two or more documents. An ID on several fingerprints counts as several documents. */
struct idx_cluster_summary {
    uint64_t documents; /* of the index; for IDX_ID_NONE, fingerprints, here and below */
    uint64_t clusters;
    uint64_t clustered; /* documents in clusters */
    uint64_t far;       /* documents farther from their representative than the distance: the effect of chains */
    uint64_t sizes[64]; /* how many clusters have 2^i to 2^(i+1) - 1 documents; sizes[0]: documents in no cluster */
    size_t largest_count;
    struct idx_cluster_size largest[IDX_LARGEST_CLUSTERS]; /* largest first; at equal sizes, the lower number first */
    uint64_t reserved[8];
};

/* Finds the clusters of the documents of an index. Documents of one fingerprint are always in one cluster. Calls
 * `visit` on the caller's thread, cluster by cluster, in the order of their numbers. Within a cluster, documents come
 * in the order in which they are preferred as representatives, whatever their fingerprints: the representative first.
 * The result is the same for any number of threads and any memory. If memory_bytes is 80 to 128 bytes per fingerprint,
 * the call joins pairs as it finds them, so they take no memory, however many there are. IDX_CLUSTER_STAR then keeps
 * pairs of 16 bytes in a quarter of the memory; if there are more, the call finds all pairs again, until all
 * fingerprints have their cluster. With less memory, the call sorts the pairs, 16 bytes each, in files if memory does
 * not hold them. `summary` may be NULL. If `visit` stopped the call, the summary covers what was visited. Errors:
 * IDX_INVALID_ARGUMENT, IDX_BAD_DISTANCE, IDX_LIMIT (2^32 fingerprints or more), IDX_CANCELLED, IDX_OUT_OF_MEMORY, the
 * damaged-file group, IDX_NOT_FOUND (the temporary folder), IDX_IO_ERROR, IDX_DISK_FULL, IDX_NO_ACCESS. */
IDX_API enum idx_status idx_clusters(const struct idx_index *index, const struct idx_cluster_options *options,
                                     idx_cluster_visitor visit, void *visit_context,
                                     struct idx_cluster_summary *summary, struct idx_error *error);

/* ---- Sets that resemble each other ------------------------------------------------------------------------------- */

/* Sets of 64-bit hashes, such as those of the shingles of texts (idx_text.h), are compared by their Jaccard
 * coefficient: with A and B members, of which s are shared, it is s / (A + B - s). The share of a set's members that a
 * larger set has, s / A, says how far the larger set contains it. Answers are exact: those of a comparison of each set
 * with all others, by hashes. If two different shingles have the same hash, a set with one of them seems to have both.
 * The chance that any two of a billion shingles have the same hash is one in forty. Thresholds are integers in units of
 * 1/IDX_THRESHOLD_ONE, and compared exactly.
 *
 * The algorithm is a set similarity self-join by prefix filter (Chaudhuri, Ganti and Kaushik, ICDE 2006; Bayardo, Ma
 * and Srikant, WWW 2007; positions: Xiao, Wang, Lin and Yu, WWW 2008). In any fixed order of all hashes, two sets with
 * a coefficient of T or more have a member in common that is among the first A - ceil(T A) + 1 members of one and the
 * first B - ceil(T B) + 1 members of the other. If rare hashes come first, no other set has most of these members. If
 * no other set has any of them, the set needs no comparison. A set that has the share C or more of its members in
 * another one has one of its first A - ceil(C A) + 1 members there, at any place. */

#define IDX_MAX_SET_MEMBERS ((uint64_t)1 << 30)

struct idx_sets_options {
    size_t size;
    unsigned threads;              /* 1 to IDX_MAX_THREADS */
    uint64_t memory_bytes;         /* as in struct idx_build_options, at least IDX_MIN_MEMORY_BYTES; besides, each set
                                      takes 16 to 32 bytes, 48 more while sets are put in an order of preference, and
                                      each thread a few MiB, or up to 600 bytes for each hash of the largest set */
    const char *temporary_folder;  /* for the sets, 8 bytes per hash, if half of the memory does not hold them, or all
                                      of it does not hold them and those that are kept; if it does not hold the latter
                                      alone, up to 16 more per set and 4 per hash; may be NULL */
    idx_progress_visitor progress; /* may be NULL; called during all calls that read the sets */
    void *context;                 /* of `progress` */
};

#define IDX_SETS_OPTIONS_INIT                                                                                          \
    { sizeof(struct idx_sets_options), 1, 0, NULL, NULL, NULL }

/* Sets that are to be compared, numbered from 0 in the order in which they are added. One thread at a time may use
 * them. */
struct idx_sets;

/* Makes an empty collection of sets, which the caller closes. Errors: IDX_INVALID_ARGUMENT, IDX_OUT_OF_MEMORY. */
IDX_API enum idx_status idx_sets_open(struct idx_sets **sets, const struct idx_sets_options *options,
                                      struct idx_error *error);

/* Adds a set of `count` hashes, in any order; hashes that repeat count once. The array is copied. An empty set
 * resembles none. A set that equals an earlier one takes no further memory. The files of sets leave 16 MiB of the disk
 * free. Errors: IDX_INVALID_ARGUMENT, IDX_LIMIT (more than IDX_MAX_SET_MEMBERS hashes, or 2^32 - 1 sets),
 * IDX_OUT_OF_MEMORY, IDX_NOT_FOUND (the temporary folder), IDX_NO_ACCESS, IDX_DISK_FULL, IDX_IO_ERROR. */
IDX_API enum idx_status idx_sets_add(struct idx_sets *sets, const uint64_t *hashes, size_t count,
                                     struct idx_error *error);

/* Removes the hashes that more than `most` sets have from all sets, as if these had been added without them: sets that
 * differ in such hashes alone become equal, and a set that has no other hashes becomes empty. Equal sets count each;
 * hashes are counted exactly. Sets that are added later keep all their hashes. Sets *ignored to how many different
 * hashes were removed. `most` is at least 1. Errors: as idx_sets_keep, and those of files as idx_sets_add. After an
 * error the sets can only be closed. */
IDX_API enum idx_status idx_sets_ignore_common(struct idx_sets *sets, uint64_t most, uint64_t *ignored,
                                               struct idx_error *error);

/* Adds `count` sets of another collection, such as a sample of it, by their numbers there. Their hashes change, but any
 * two of the sets have as many in common as before. Errors: IDX_INVALID_ARGUMENT, and those of idx_sets_add; the sets
 * before the one that failed were added. */
IDX_API enum idx_status idx_sets_add_from(struct idx_sets *sets, struct idx_sets *others, const uint64_t *numbers,
                                          size_t count, struct idx_error *error);

struct idx_keep_options {
    size_t size;
    int64_t threshold; /* 1 to IDX_THRESHOLD_ONE; 0, only with `contained`: none */
    uint64_t known;    /* the first `known` sets are known: they are kept, whatever they resemble */
    /* The order in which sets are taken after the known ones. The array has a value for each set, known ones included:
     * sets with greater values come first, and sets with equal values in the order in which they were added. NULL: all
     * values are equal. */
    const int64_t *preferences;
    bool prefer_copies; /* the value of a set is how many sets equal it, itself included; without `preferences` */
    /* 0: no sets that others contain are looked for. Otherwise, 1 to IDX_THRESHOLD_ONE: a set also joins a set that has
     * this share of its members or more, unless it has fewer members than `contained_size`. After the known sets, those
     * with more members are then taken first, and those with equally many in the order above. If `threshold` is 0, sets
     * join only those that contain them. */
    int64_t contained;
    uint64_t contained_size;
};

#define IDX_KEEP_OPTIONS_INIT                                                                                          \
    { sizeof(struct idx_keep_options), 8000, 0, NULL, false, 0, 0 }

/* What became of a set. `kept` is the number of the set that it joins, or its own number if it is kept. `shared` hashes
 * are in both sets, `total` in at least one of them: of a set that is kept, both are its size, and 0 if it is empty. So
 * a set i that joins set j has total + shared - kept[j].total hashes. */
struct idx_kept_set {
    uint64_t kept;
    uint32_t shared, total;
};

/* How sets were compared. */
struct idx_sets_summary {
    uint64_t rounds;     /* how often sets were read; 1 if the memory held all that are kept */
    uint64_t candidates; /* pairs of sets whose hashes were compared */
    uint64_t reserved[6];
};

/* Decides which sets to keep, so that no two of these resemble each other, known ones excepted. Sets are taken in the
 * order of preference: known ones first, then as `options` say. Each set joins a kept set that it resembles by the
 * threshold or more: the one that it resembles most, or the first of several that it resembles equally. A set that
 * resembles none is kept. With `contained`, a set may also join a kept set that contains it; of all these sets, it
 * joins the one that it resembles most. This reads the sets once more. Fills `kept`, an array with an element for each
 * set. The result is the same for any number of threads and any memory. Further sets may be added afterwards. `summary`
 * may be NULL. Errors: IDX_INVALID_ARGUMENT, IDX_LIMIT (with 16 GiB of memory or more: a round has more than it can
 * number, and less memory makes more rounds), IDX_CANCELLED, IDX_OUT_OF_MEMORY, IDX_NOT_FOUND (the temporary folder),
 * IDX_NO_ACCESS, IDX_DISK_FULL, IDX_IO_ERROR. After an error, `kept` is unspecified. */
IDX_API enum idx_status idx_sets_keep(struct idx_sets *sets, const struct idx_keep_options *options,
                                      struct idx_kept_set *kept, struct idx_sets_summary *summary,
                                      struct idx_error *error);

struct idx_set_pair_options {
    size_t size;
    int64_t threshold; /* 1 to IDX_THRESHOLD_ONE; 0: only sets that are contained in others make pairs */
    /* 0: no sets that others contain are looked for. Otherwise, 1 to IDX_THRESHOLD_ONE: two sets are also a pair if
     * their shared members are this share of the smaller one's or more, unless that one has fewer members than
     * `contained_size`. */
    int64_t contained;
    uint64_t contained_size;
};

#define IDX_SET_PAIR_OPTIONS_INIT                                                                                      \
    { sizeof(struct idx_set_pair_options), 8000, 0, 0 }

/* Two sets, the one with the lower number first. `shared` hashes are in both, `total` in at least one of them. */
struct idx_set_pair {
    uint64_t first, second;
    uint32_t shared, total;
    uint32_t first_size, second_size;
};

/* Called for each pair. Returns false to stop. */
typedef bool (*idx_set_pair_visitor)(void *context, const struct idx_set_pair *pair);

/* Calls `visit`, on the caller's thread, for all pairs of different sets whose coefficient is the threshold or more, or
 * where one contains the other as `options` say. Of equal sets, each but the first makes one pair, with the first.
 * Pairs ascend by `first`, then by `second`, and are the same for any number of threads and any memory. Those that
 * don't fit into memory are sorted in temporary files, at up to 16 bytes each. `summary` may be NULL. Errors: as
 * idx_sets_keep, and those of files as idx_sets_add. */
IDX_API enum idx_status idx_sets_visit_pairs(struct idx_sets *sets, const struct idx_set_pair_options *options,
                                             idx_set_pair_visitor visit, void *visit_context,
                                             struct idx_sets_summary *summary, struct idx_error *error);

/* Frees the sets. Accepts NULL. */
IDX_API void idx_sets_close(struct idx_sets *sets);

/* ---- Needles: sets that others may contain ----------------------------------------------------------------------- */

/* A needle is a set that is looked for in others, such as the text of a test, which no text for training should have.
 * Memory holds the needles, but not the sets that may contain them, so these can be asked about one after the other,
 * without end. A set contains a needle if it has at least the share C of the needle's members: of N members, C N or
 * more, computed in integers. The size of the set does not matter.
 *
 * Asking about a set takes some nanoseconds for each of its hashes. If the set has one of a needle's N - ceil(C N) + 1
 * members that are rarest among the needles, it also takes time for all members of this needle. So members that all
 * needles have cost nothing, as long as they are less than the share C of each needle. Needles may share even their
 * rarest members, because they are equal or because hashes were forged: a set that has these members takes time for the
 * members of all needles, but never more than that. */

struct idx_needles_options {
    size_t size;
    int64_t contained;       /* 1 to IDX_THRESHOLD_ONE: a set contains a needle of which it has this share or more */
    uint64_t contained_size; /* needles with fewer members are in no set; those without members never are */
};

#define IDX_NEEDLES_OPTIONS_INIT                                                                                       \
    { sizeof(struct idx_needles_options), 8000, 0 }

/* Needles in memory. They never change, and any number of threads may use them. */
struct idx_needles;

/* Makes needles of all sets of a collection: needle i is set i. The caller closes them. The collection may be closed
 * earlier; sets that it gets later are no needles. Takes up to 40 bytes of memory per member, and 40 more while they
 * are made. Unless `left_out` is NULL, sets *left_out to how many needles have too few members, so that no set contains
 * them. Errors: IDX_INVALID_ARGUMENT, IDX_LIMIT (2^32 - 1 members or more in all), IDX_OUT_OF_MEMORY, and where the
 * collection is in a file, IDX_NOT_FOUND, IDX_NO_ACCESS, IDX_DISK_FULL, IDX_IO_ERROR. */
IDX_API enum idx_status idx_needles_open(struct idx_needles **needles, struct idx_sets *sets,
                                         const struct idx_needles_options *options, uint64_t *left_out,
                                         struct idx_error *error);

/* Frees the needles, after all finders of them were closed. Accepts NULL. */
IDX_API void idx_needles_close(struct idx_needles *needles);

/* What a thread needs to find needles; each thread has its own. Takes a bit for each needle, and for each different
 * hash of all needles. */
struct idx_needle_finder;

/* Makes a finder, which the caller closes. Errors: IDX_INVALID_ARGUMENT, IDX_OUT_OF_MEMORY. */
IDX_API enum idx_status idx_needle_finder_open(struct idx_needle_finder **finder, const struct idx_needles *needles,
                                               struct idx_error *error);

/* Frees the finder. Accepts NULL. */
IDX_API void idx_needle_finder_close(struct idx_needle_finder *finder);

/* A needle that a set contains: `shared` of its `size` members are in the set. */
struct idx_needle_match {
    uint64_t needle;
    uint32_t shared, size;
};

/* Finds all needles that a set contains. The set has `count` hashes in any order; hashes that repeat count once.
 * Needles with the largest share come first, and at equal shares those with lower numbers. Sets *matches to them, which
 * are valid until the finder is used again or closed, and *match_count to how many they are. Errors:
 * IDX_INVALID_ARGUMENT, IDX_OUT_OF_MEMORY, after which the finder can still be used. */
IDX_API enum idx_status idx_needles_find(struct idx_needle_finder *finder, const uint64_t *hashes, size_t count,
                                         const struct idx_needle_match **matches, size_t *match_count,
                                         struct idx_error *error);

/* ---- Properties -------------------------------------------------------------------------------------------------- */

struct idx_properties {
    unsigned format_version;
    char uuid[37];
    unsigned bits;
    unsigned k;
    enum idx_id_type id_type;
    const char *recipe;              /* "" if unknown; valid as long as the index */
    const struct idx_scheme *scheme; /* valid as long as the index */
    size_t segments;
    uint64_t fingerprints;      /* sum of the distinct fingerprints of each segment, removed ones included */
    uint64_t documents;         /* of the segments, removed ones included; 0 for IDX_ID_NONE */
    uint64_t table_bytes;       /* total of all table files */
    uint64_t documents_bytes;   /* docs.mdb and docs.sum */
    uint64_t resident_bytes;    /* allocated by opening: what is loaded or unpacked, decoders, page bitmaps, pending
                                   records */
    bool by_id;                 /* it has a map from IDs to fingerprints, for idx_find_id */
    uint64_t by_id_bytes;       /* by-id.mdb and by-id.sum; 0 without them */
    uint64_t removals;          /* removals that segments hold against older ones: of single documents, or of a
                                   fingerprint with all its documents */
    uint64_t pending_documents; /* added since the newest segment, removed ones included */
    uint64_t pending_removals;  /* removals, counted as above, since the newest segment */
    bool is_empty;              /* it was built of no documents, and nothing was added since, removed or not */
    uint8_t sketch;             /* how many members of each set are fingerprints; 0: the index has no sets */
    uint64_t texts;             /* sets in segments, removed ones included; each counts once, as a document for each
                                   fingerprint */
    uint64_t members;           /* of these sets */
    uint64_t sets_bytes;        /* of the files of sets */
    int64_t threshold;          /* for which the index with sets was built; 0 without sets */
    uint64_t reserved[3];
};

/* Says what an open index is and how much it holds. Reads no file. */
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
    uint64_t dead_bits;     /* bits that are the same in all fingerprints of the segment: useless in a mask */
    uint64_t largest_group; /* the most fingerprints that share a prefix */
    double mean_group;      /* fingerprints that share the prefix of a random one of the table, itself included */
    double expected_blocks; /* blocks that a probe for the prefix of a random one of the table searches */
    double even_blocks;     /* the same if as many fingerprints were uniform */
    uint64_t reserved[8];
};

/* The properties of table `table` of segment `segment`, both counted from 0.
 * Errors: IDX_INVALID_ARGUMENT (there is no such table). */
IDX_API enum idx_status idx_get_table_properties(const struct idx_index *index, size_t segment, size_t table,
                                                 struct idx_table_properties *properties, struct idx_error *error);

/* The fingerprint with the most documents in one place, a segment or the pending documents, and how many these are.
 * Documents in different places are not added up. If several fingerprints have as many, it is the smallest. Both are 0
 * if the index has no documents. A segment counts all documents that it was built with, single removed ones included; a
 * segment is passed over if its heaviest fingerprint was removed with all its documents. Errors: IDX_WRONG_SIZE,
 * IDX_BAD_CHECKSUM, IDX_BAD_CONTENT, IDX_FOREIGN_FILE, IDX_OUT_OF_MEMORY, IDX_IO_ERROR. */
IDX_API enum idx_status idx_get_heaviest(const struct idx_index *index, uint64_t *fingerprint, uint64_t *documents,
                                         struct idx_error *error);

/* ---- Schemes (SPEC.md, chapter 2) -------------------------------------------------------------------------------- */

/* A table: it moves the bits of `mask` to the front, in order, followed by the others. Up to `radius` of the front bits
 * may differ when the table is probed. */
struct idx_table {
    uint64_t mask;
    unsigned radius;
};

struct idx_scheme {
    char name[64]; /* as --scheme accepts it; "masks" for a list of masks */
    unsigned bits; /* f */
    size_t table_count;
    struct idx_table tables[IDX_MAX_TABLES];
    uint64_t reserved[8];
};

/* Parses a scheme: `4`, `10`, `16`, `20` (the paper's), `B:C`, `B:C:R`, `B:C/b:c`, `auto`, or masks,
 * `@hex[:R],@hex[:R]…`. `count` is the number of fingerprints expected. Only `auto` uses it, and chooses what idx_plan
 * chooses by default (a builder chooses by its data as well).
 * Errors: IDX_INVALID_ARGUMENT (bits not 1 to 64, k above IDX_MAX_K or not below bits), IDX_BAD_SCHEME,
 * IDX_WEAK_SCHEME (it does not cover k: proved, not sampled), IDX_OUT_OF_MEMORY (`auto`). */
IDX_API enum idx_status idx_scheme_parse(struct idx_scheme *scheme, const char *text, unsigned bits, unsigned k,
                                         uint64_t count, struct idx_error *error);

/* ---- Recipes ----------------------------------------------------------------------------------------------------- */

/* Whether fingerprints of two recipes can be compared: whether the recipes are the same, apart from a last part `;icu=`
 * and a number. That part is the version of ICU that segmented the texts (idx_text.h). If the function returns true, it
 * sets *same_icu, which may be NULL. *same_icu is false if both recipes have that part and differ in it: words of
 * scripts without spaces may then be segmented differently, so warn the user. `a` and `b` must not be NULL. */
IDX_API bool idx_recipe_matches(const char *a, const char *b, bool *same_icu);

/* The hashes of features that idx knows: its own, and those of other programs. */
enum idx_hash_kind {
    IDX_HASH_XXH3,  /* XXH3, 64 bits, seed 0: that of idx_simhash_add */
    IDX_HASH_FNV1,  /* FNV-1, 64 bits */
    IDX_HASH_FNV1A, /* FNV-1a, 64 bits */
    IDX_HASH_MD5,   /* MD5: the last 64 bits of the digest, as a big-endian number */
};

/* How a recipe makes fingerprints of a text (idx_text.h). */
enum idx_recipe_method {
    IDX_RECIPE_OTHER, /* none of these: the name of what another program did */
    IDX_RECIPE_WORDS,
    IDX_RECIPE_CHARS,
    IDX_RECIPE_SEGMENTS,
    /* From here on, fingerprints are hashes, which are equal or unrelated. */
    IDX_RECIPE_SENTENCES,
    IDX_RECIPE_DESCRIPTION,
    IDX_RECIPE_TERMS,
    IDX_RECIPE_IDF,
    IDX_RECIPE_MINHASH,
};

struct idx_recipe_properties {
    enum idx_recipe_method method;
    unsigned number;         /* that of the method, such as N of words:N; 0 if it has none */
    unsigned fingerprints;   /* the most of a document: N of segments:N, M of minhash:M, and 1 of others */
    unsigned max_k;          /* the largest distance at which fingerprints say anything: 0 of hashes, else IDX_MAX_K */
    unsigned shingle_width;  /* of minhash: how many words or characters a shingle has; of others 0 */
    bool by_characters;      /* a shingle has characters, not words */
    bool by_table;           /* weights come from a table of document frequencies */
    unsigned version;        /* of the definitions; 0: the recipe does not say */
    unsigned manuals;        /* the version of the text of manual pages; 0: there are none */
    unsigned icu;            /* the major version of ICU; 0: the recipe does not say */
    enum idx_hash_kind hash; /* that of features; an unknown name counts as IDX_HASH_XXH3 */
    unsigned ties;           /* 1: a bit is 1 where the weights on both sides are equal, else 0 */
    uint64_t reserved[3];
};

/* Says what a recipe is, canonical or not. idx_text_open checks it, this call does not. If a part occurs twice, the
 * last one counts. `recipe` must not be NULL. The k of an index of this recipe is at most max_k. */
IDX_API void idx_recipe_read(const char *recipe, struct idx_recipe_properties *properties);

/* ---- Progress ---------------------------------------------------------------------------------------------------- */

/* What a long call is doing. Phases may come in any order, and more than once. In the comments below, what follows the
 * semicolon is the unit of `done` and `total` in struct idx_progress. */
enum idx_phase {
    IDX_PHASE_ADDING = 0,     /* adding documents; documents, total unknown */
    IDX_PHASE_SORTING = 1,    /* sorting what fills the memory, and writing it as a sorted run; documents */
    IDX_PHASE_MERGING = 2,    /* merging sorted runs or indexes, and writing the document map or the map from IDs;
                                 documents, or for merged indexes fingerprints, each counted once per table. Merging and
                                 compaction first look up what was removed, total unknown, and then begin again at 0 */
    IDX_PHASE_TABLES = 3,     /* sorting and writing tables; fingerprints, each counted twice per table. Unpacking;
                                 fingerprints, each counted once as it is read and once per plain table */
    IDX_PHASE_PUBLISHING = 4, /* syncing and renaming; 0 of 0 */
    IDX_PHASE_COMPARING = 5,  /* pairs and joins; fingerprints of the first index or array, each counted once per table,
                                 and once more per unit of a table's radius, or once in all if no tables are used.
                                 Batches and match lists; queries, each counted once if they probe, once per table if
                                 they sweep, or fingerprints that stream past them, for a struct idx_stream total
                                 unknown */
    IDX_PHASE_CLUSTERING = 6, /* numbering fingerprints, joining pairs, and assigning clusters; entries sorted or
                                 visited, total unknown */
    IDX_PHASE_DOCUMENTS = 7,  /* the documents of many fingerprints; fingerprints, then text IDs */
    IDX_PHASE_COUNTING = 8,   /* in how many sets hashes are; hashes of all sets */
    IDX_PHASE_SETS = 9,       /* comparing sets; sets, again from 0 where the memory does not hold all that are kept */
    IDX_PHASE_TASKS = 10,     /* of idx_run_tasks; tasks */
    IDX_PHASE_COUNT
};

struct idx_progress {
    enum idx_phase phase;
    uint64_t done, total; /* in the unit of the phase. If entries repeat, `done` ends below `total`. 0: not known */
};

/* ---- Tasks on several threads ------------------------------------------------------------------------------------ */

/* Runs a task, by its number from 0. `thread` is the number of the thread that runs it, below the number of threads, 0
 * for the caller's: a task may use what belongs to its thread without a lock. */
typedef enum idx_status (*idx_task)(void *context, size_t number, unsigned thread, struct idx_error *error);

/* Runs the tasks 0 to count - 1, each once, on up to `threads` threads (1 to IDX_MAX_THREADS), the caller's included.
 * The tasks are whatever a program does besides calling the library. Each thread takes the next task until none is left
 * or one has failed; the tasks before that one are then all run, and the first error is returned. If a thread can't be
 * started, the others run all tasks. `visit` may be NULL; its phase is IDX_PHASE_TASKS. Errors: those of the tasks;
 * IDX_INVALID_ARGUMENT (threads), IDX_CANCELLED. */
IDX_API enum idx_status idx_run_tasks(size_t count, unsigned threads, idx_task task, void *context,
                                      idx_progress_visitor visit, void *visit_context, struct idx_error *error);

/* ---- The library ------------------------------------------------------------------------------------------------- */

/* A short English phrase for a status; "unknown status" for any other number. Static storage. */
IDX_API const char *idx_status_string(enum idx_status status);

/* The version of the library: IDX_VERSION when it was built. Static storage. */
IDX_API const char *idx_version(void);

/* The instructions that look-ups use on this processor, for a log or a description of the machine: "avx512" (x86-64
 * with BMI2 and with AVX-512 F, BW, DQ, VL, VBMI, VBMI2 and VPOPCNTDQ), "bmi2" (x86-64 with BMI1, BMI2, LZCNT and
 * POPCNT) or "portable" (any other). Results are the same with all of them, times are not. Static storage. */
IDX_API const char *idx_instructions(void);

#ifdef __cplusplus
}
#endif

#endif
