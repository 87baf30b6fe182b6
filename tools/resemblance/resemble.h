/* resemble.h: decides by the shingles of texts which documents to keep. */
#ifndef IDX_TOOLS_RESEMBLANCE_RESEMBLE_H
#define IDX_TOOLS_RESEMBLANCE_RESEMBLE_H

#include "tools/documents/text_reader.h"
#include "tools/resemblance/contains.h"
#include "tools/shared/library.h"
#include "tools/shared/scratch.h"
#include "tools/shared/temporary.h"

/* A number of documents, as an option gives it. */
struct quota {
    uint64_t count; /* 0: no number is given. */
    int64_t share;  /* Of all documents, in units of 1/IDX_THRESHOLD_ONE percent; 0: `count` says it. */
};

struct resemble {
    /* These are set by the caller. */
    int64_t threshold;               /* In units of 1/IDX_THRESHOLD_ONE; 0: only what is contained is dropped. */
    int64_t contained;               /* The same, for texts that are contained in others; 0: none are looked for. */
    uint64_t contained_size;         /* Texts with fewer different shingles are not looked for in others. */
    enum idx_representative prefers; /* IDX_REPRESENTATIVE_FIRST: by the values of documents. */
    struct quota most_common;        /* Shingles that more documents have don't count. */
    struct contains contains;        /* Finds the known documents that others contain (resemble_look_for_known). */
    uint64_t known;                  /* How many documents, the first ones, are known: all of them are kept. */
    bool between;                    /* Pairs are those of a known document and another one, further copies included. */
    bool groups_known;               /* With `by_cluster`, those that join one known document are visited together. */
    bool keeps_sets_open;            /* resemble_decide_kept leaves the sets open, for more questions. */

    struct idx_kept_set *kept; /* Which document each one joins, itself if it is kept; set by resemble_decide_kept. */
    uint64_t count;            /* How many documents were added, known ones included. */
    uint64_t like_known;       /* How many join a known one; set by resemble_visit. */
    uint64_t ignored;          /* How many shingles did not count because they are common. */

    /* For more questions. */
    struct idx_sets *sets;
    struct idx_sets_options options;
    struct idx_keep_options keeping; /* How it was decided. */

    /* These are used by resemble.c alone. */
    int64_t *preferences; /* Documents with larger ones are preferred; NULL: all are 0. Freed with the sets. */
    size_t preference_capacity, kept_capacity;
    struct temporary ids; /* The IDs of all documents, one after the other. */
    uint64_t *id_ends;    /* Where each of them ends in that file. */
    size_t id_capacity;
};

#define RESEMBLE_NONE                                                                                                  \
    { .contains = CONTAINS_NOTHING, .keeping = IDX_KEEP_OPTIONS_INIT, .ids = TEMPORARY_CLOSED }

/* The value of --min-words if it is not given. */
#define NO_MIN_WORDS UINT64_MAX

/* Sets contained_size to how many shingles a text of `min_words` words has; or of `min_words` characters, if
 * `shingling` makes shingles of these. NO_MIN_WORDS means 20. */
void resemble_set_contained_size(struct resemble *resemble, const struct idx_text_shingle_options *shingling,
                                 uint64_t min_words);

/* Parses the argument of an option that is a number of documents, or a share of them such as 0.1%. Both must be more
 * than 0, and a share up to 100%. Returns false, after a complaint that calls the option `option`, if it is neither;
 * then *quota is unspecified. */
bool quota_parse(const char *option, const char *argument, struct quota *quota);

/* Returns the number of documents that a quota means if there are `document_count` in all: quota->count, or the share
 * of all, rounded up. Returns 0 if no quota is given. */
uint64_t quota_find_count(const struct quota *quota, uint64_t document_count);

/* Makes the temporary file of IDs in `scratch`, a scratch folder in `folder`, and the sets by `options`; there are no
 * documents yet. Returns false after a complaint; the caller calls resemble_close even then. */
bool resemble_open(struct resemble *resemble, const struct idx_sets_options *options, const struct scratch *scratch,
                   const char *folder);

/* Ends the known documents: the first resemble->known ones, all that were added so far. From now on,
 * resemble_add_document looks for the known ones that a document contains. That decides at once which one it joins, so
 * its set is not stored. `known_path` is the path of the known ones, for messages. Returns false after a complaint. */
bool resemble_look_for_known(struct resemble *resemble, const char *known_path);

/* Adds the next document, whose number is `count` before the call, with the hashes of its shingles in any order; the ID
 * is copied. The document is preferred to those with a smaller `preference`. Returns false after a complaint. */
bool resemble_add_document(struct resemble *resemble, struct span id, const uint64_t *shingles, size_t shingle_count,
                           int64_t preference);

/* Removes the shingles that more documents have than most_common allows, once all documents are added, and sets
 * `ignored`. Does nothing without that quota. Returns false after a complaint, or if a signal was noted. */
bool resemble_ignore_common_shingles(struct resemble *resemble);

/* The most bytes of a remark at the end of a summary, with its NUL. */
enum { RESEMBLE_REMARK = 128 };

/* Writes to `remark` how many common shingles did not count, as in "; 12 common shingles did not count", and returns
 * `remark`. */
const char *resemble_write_remark(const struct resemble *resemble, char remark[RESEMBLE_REMARK]);

/* Writes all pairs of documents that resemble each other, unless both are known, as lines ID<TAB>ID<TAB>RESEMBLANCE.
 * - If `contained` is set, <TAB>SHARE follows: the share of the smaller set that both have.
 * - Of documents with the same shingles, all but the first are only in a pair with the first one, unless `between` is
 * set.
 * - After resemble_look_for_known, pairs are instead those of known documents and others that contain them, as lines
 * ID<TAB>ID<TAB>SHARE.
 * Sets *pair_count to how many lines there are. Returns false after a complaint, if a signal was noted, or if output
 * failed. */
bool resemble_write_pairs(struct resemble *resemble, struct output *output, uint64_t *pair_count);

/* Decides which documents are kept, and sets `kept`; after resemble_look_for_known, that was decided already. Maps the
 * file of IDs, and frees the sets unless keeps_sets_open is set. No document may be added afterwards. Returns false
 * after a complaint, or if a signal was noted. */
bool resemble_decide_kept(struct resemble *resemble);

/* The cluster of a document that joins one that --against names; it is printed as -. */
#define CLUSTER_KNOWN UINT64_MAX

/* A function that gets a document, its representative (the one of its cluster that is kept), and what both have in
 * common. Documents are numbered from 0, without the known ones; the number of a known representative is unspecified.
 * The member has no fingerprints. Returns false to stop. */
typedef bool (*resemble_visitor)(void *context, const struct idx_cluster_member *member,
                                 const struct idx_kept_set *kept);

/* Returns whether a document, numbered without the known ones, joins a known one. */
static inline bool resemble_is_like_known(const struct resemble *resemble, uint64_t number) {
    return resemble->known > 0 && resemble->kept[resemble->known + number].kept < resemble->known;
}

/* Visits all documents that are not known, in the order in which they were added. With `by_cluster`, instead visits
 * - the clusters of two or more, one after the other: first the representative, then the others;
 * - then the documents that join a known one, whose cluster is CLUSTER_KNOWN: grouped by it with groups_known, and
 * otherwise in the order in which they were added.
 * Before the visits, sets like_known, and *summary to that of all documents that join no known one. Call it once, after
 * resemble_decide_kept. Returns false after a complaint, if a signal was noted, or if `visit` returned false. */
bool resemble_visit(struct resemble *resemble, bool by_cluster, resemble_visitor visit, void *context,
                    struct idx_cluster_summary *summary);

/* Returns the ID of document `number`, counted from 0 and with the known ones. Call it after resemble_decide_kept, or
 * while pairs are visited, when the file of IDs is mapped. The ID has no NUL at its end, and is valid until
 * resemble_close. */
struct span resemble_find_id(struct resemble *resemble, uint64_t number);

/* Returns how many different shingles document `number` has, counted from 0 and with the known ones. Call it after
 * resemble_decide_kept. */
uint32_t resemble_get_set_size(const struct resemble *resemble, uint64_t number);

/* Keeps a document that joins another one: it then joins itself. `number` is counted without the known ones. Call it
 * after resemble_decide_kept, and before resemble_visit. */
void resemble_keep_document(struct resemble *resemble, uint64_t number);

/* Frees everything, and removes the temporary file. */
void resemble_close(struct resemble *resemble);

#endif
