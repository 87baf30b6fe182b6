/* chains.c: finds the largest clusters that form chains, and follows their chains. */
#include "tools/report/gather.h"

#include <stdlib.h>
#include <string.h>

/* The most fingerprints that a search for one chain visits; a power of two, as the hash table needs it. */
enum { MOST_FOLLOWED = 1 << 17 };

/* How many of these are looked up together at most. */
enum { MOST_AT_ONCE = 1 << 12 };

/* ---- Choosing ---- */

/* Inserts the cluster that ended into the chains, which are by falling size, if it has documents far from the
 * representative and is among the largest of those. */
static void insert_ended_cluster(struct findings *findings) {
    const struct chain_ends *ends = &findings->current;
    size_t place = findings->chain_count;
    if (ends->size.far == 0) return;
    while (place > 0 && findings->chains[place - 1].ends.size.documents < ends->size.documents) place--;
    if (place == FINDINGS_CHAINS) return;
    if (findings->chain_count < FINDINGS_CHAINS) findings->chain_count++;
    for (size_t i = findings->chain_count - 1; i > place; i--) findings->chains[i].ends = findings->chains[i - 1].ends;
    findings->chains[place].ends = *ends;
}

void chains_add_member(struct findings *findings, const struct idx_cluster_member *member) {
    struct chain_ends *ends = &findings->current;
    if (member == NULL || member->cluster != ends->size.cluster) {
        insert_ended_cluster(findings);
        *ends = (struct chain_ends){.distance = 0};
    }
    if (member == NULL) return;
    ends->size.cluster = member->cluster;
    ends->size.representative = member->representative_fingerprint;
    ends->size.documents++;
    if (member->distance > findings->k) ends->size.far++;
    if (member->distance <= ends->distance) return;
    ends->distance = member->distance;
    ends->farthest = member->fingerprint;
}

/* ---- Following ---- */

/* A fingerprint that was reached from the representative, by one that is near. */
struct node {
    uint64_t fingerprint;
    uint32_t parent; /* The place of the node from which it was reached. */
};

/* A breadth-first search for the chain of one cluster. */
struct search {
    const struct idx_index *index;
    struct idx_batch_options options;
    struct node *nodes; /* In the order in which they were reached. */
    size_t count, done; /* How many there are, and of how many, from the first on, the near ones were added. */
    uint32_t *slots;    /* A hash table of the nodes, twice as large: each slot has a node's place plus 1, or 0. */
    struct idx_error *error;
};

/* Adds a fingerprint as a node, unless it was reached before, or there are MOST_FOLLOWED nodes already. */
static void add_node(struct search *search, uint64_t fingerprint, size_t parent) {
    size_t mask = 2 * MOST_FOLLOWED - 1, slot = (size_t)sample_hash(fingerprint) & mask;
    while (search->slots[slot] != 0) {
        if (search->nodes[search->slots[slot] - 1].fingerprint == fingerprint) return;
        slot = (slot + 1) & mask;
    }
    if (search->count == MOST_FOLLOWED) return;
    search->nodes[search->count++] = (struct node){fingerprint, (uint32_t)parent};
    search->slots[slot] = (uint32_t)search->count;
}

/* Adds the fingerprints that are near to a node as further nodes. `query` is the node's place among those that are
 * looked up together. This is an idx_batch_visitor. */
static bool add_near_fingerprints(void *context, size_t query, const struct idx_match *matches, size_t match_count) {
    struct search *search = context;
    for (size_t i = 0; i < match_count; i++) add_node(search, matches[i].fingerprint, search->done + query);
    return !interrupt_is_noted();
}

/* Adds all fingerprints within k of the next nodes. Beyond the index's own k, only a batch finds them, and reads the
 * whole index for that; so the nodes are looked up together, up to as many as have not too many matches at a time.
 * Returns false after an error or a signal. */
static bool look_up_next_nodes(struct search *search) {
    uint64_t queries[MOST_AT_ONCE];
    size_t query_count = 0;
    for (size_t node = search->done; node < search->count && query_count < MOST_AT_ONCE; node++)
        queries[query_count++] = search->nodes[node].fingerprint;
    bool ok = idx_batch(search->index, queries, query_count, &search->options, add_near_fingerprints, search,
                        search->error) == IDX_OK;
    search->done += query_count;
    return ok && !interrupt_is_noted();
}

/* Searches breadth first from near fingerprint to near fingerprint, so that the chain is a shortest one. Sets *found to
 * the place of the node of `sought`, which is not `from`, or to 0 if it was not reached. Returns false after an error
 * or a signal. */
static bool find_chain(struct search *search, uint64_t from, uint64_t sought, size_t *found) {
    *found = search->count = search->done = 0;
    memset(search->slots, 0, 2 * MOST_FOLLOWED * sizeof *search->slots);
    add_node(search, from, 0);
    while (search->done < search->count && *found == 0) {
        size_t node = search->count;
        if (!look_up_next_nodes(search)) return false;
        for (; node < search->count; node++)
            if (search->nodes[node].fingerprint == sought) *found = node;
    }
    return true;
}

/* Sets the steps of a chain that ends at node `last_node`; of one that is too long, only its first and last steps. */
static void store_steps(const struct search *search, struct chain *chain, size_t last_node) {
    uint64_t representative = chain->ends.size.representative;
    size_t length = 1;
    for (size_t node = last_node; node != 0; node = search->nodes[node].parent) length++;
    chain->length = length;
    chain->step_count = length < FINDINGS_STEPS ? length : FINDINGS_STEPS;
    size_t skipped = length - chain->step_count, half = FINDINGS_STEPS / 2;
    for (size_t node = last_node, i = length; i-- > 0; node = search->nodes[node].parent) {
        uint64_t fingerprint = search->nodes[node].fingerprint;
        struct step step = {.fingerprint = fingerprint, .distance = idx_distance(representative, fingerprint)};
        if (skipped == 0 || i < half)
            chain->steps[i] = step;
        else if (i >= skipped + half)
            chain->steps[i - skipped] = step;
    }
}

bool chains_follow(struct findings *findings, const struct idx_index *index, const struct idx_cluster_options *options,
                   struct idx_error *error) {
    struct progress unseen = {.shown = false};
    struct search search = {
        .index = index, .options = sample_make_batch(options, findings->k, &unseen), .error = error};
    bool ok = true;
    size_t found;
    if (findings->chain_count == 0) return true;
    search.nodes = malloc(MOST_FOLLOWED * sizeof *search.nodes);
    search.slots = malloc(2 * MOST_FOLLOWED * sizeof *search.slots);
    if (search.nodes == NULL || search.slots == NULL) {
        complain("out of memory");
        ok = false;
    }
    for (size_t i = 0; i < findings->chain_count && ok; i++) {
        struct chain *chain = &findings->chains[i];
        ok = find_chain(&search, chain->ends.size.representative, chain->ends.farthest, &found);
        if (ok && found != 0) store_steps(&search, chain, found);
    }
    free(search.nodes);
    free(search.slots);
    return ok;
}
