/* again.h: reads some of the documents that were compared once more, by the journal of the first time. */
#ifndef IDX_TOOLS_AGAIN_H
#define IDX_TOOLS_AGAIN_H

#include "tools/dedup/journal.h"
#include "tools/text/pipeline.h"

struct again {
    /* Set by the caller. */
    struct journal *journal;
    const uint64_t *wanted; /* a bit for each document that was compared */
    uint64_t compared;      /* how many were */
    /* Called for each of these that can be read, in order, with its number and what is listed of it. Returns false to
     * stop, after a complaint. */
    bool (*take)(void *context, uint64_t number, const char *listed, size_t length);
    void *context;

    /* Within. */
    struct place place; /* of the next document to be read */
    uint64_t next_number, taken;
    bool is_wanting, failed;
};

/* Reads them as the rules say, but lists `listed` of them by the recipe. False after a complaint, or where a signal was
 * noted. */
bool again_read(struct again *again, const struct pipeline_rules *rules, const char *recipe, enum listed listed);

/* The rules by which documents are listed, not fingerprinted, by a recipe. */
struct pipeline_rules again_rules(const struct pipeline_rules *rules, const char *recipe);

#endif
