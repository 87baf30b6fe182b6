/* indexed.h: the texts of indexes with sets, as what resemble.h compares: `idx pairs`, `idx join` and `idx clusters`
 * answer by them what `idx dedup` answers by texts. No text is read. */
#ifndef IDX_TOOLS_DEDUP_INDEXED_H
#define IDX_TOOLS_DEDUP_INDEXED_H

#include "tools/answers/cluster_listing.h"
#include "tools/answers/near_pairs.h"
#include "tools/resemblance/resemble.h"

struct indexed {
    /* These are set by the caller. */
    struct resemble resemble;  /* Its threshold, contained and prefers. */
    const char *ignore_common; /* The argument of --ignore-common; NULL: not given. */
    uint64_t min_words;        /* As resemble_set_contained_size takes it. */
    const char *folder;        /* For temporary files; NULL: the usual one. */
    struct listing *listing;   /* Of indexed_list_texts; NULL: pairs are asked for. */
    char remark[RESEMBLE_REMARK];
};

#define INDEXED_INIT                                                                                                   \
    { .resemble = RESEMBLE_NONE, .min_words = NO_MIN_WORDS }

/* Adds all texts of an index to `resemble`. Integer IDs become decimal text. Returns false after a complaint, or if a
 * signal was noted. */
bool indexed_add_texts(struct resemble *resemble, const struct idx_index *index);

/* Writes the pairs among the texts of near->sides[0].index to near->output; or with an `index_count` of 2, those of a
 * text of that index and one of near->sides[1].index. near->texts says what a pair is; its `resemble` is closed then.
 * Sets near->found to whether there are any. Returns false after a complaint, if output failed, or if a signal was
 * noted. */
bool indexed_write_pairs(struct near *near, size_t index_count);

/* Decides which texts of an index are kept, and lists what indexed->listing asks for. Returns false after a complaint,
 * if output failed, or if a signal was noted; the caller closes indexed->resemble even then. */
bool indexed_list_texts(struct indexed *indexed, const struct idx_index *index);

#endif
