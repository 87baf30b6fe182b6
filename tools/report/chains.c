/* chains.c: finds the largest clusters that form chains, and follows their chains. */
#include "tools/report/gather.h"

#include <stdlib.h>
#include <string.h>

/* The most fingerprints that a search for one chain visits; a power of two, as the hash table needs it. */
enum { MOST_FOLLOWED = 1 << 17 };

/* ---- Choosing ---- */

/* Keeps the cluster that ended, if it has documents far from the representative and is among the largest of those. */
static void keep_ended_cluster(struct findings *findings) {
    const struct chain_ends *ends = &findings->current;
    size_t place = findings->chain_count;
    if (ends->size.far == 0) return;
    while (place > 0 && findings->chains[place - 1].ends.size.documents < ends->size.documents) place--;
    if (place == FINDINGS_CHAINS) return;
    if (findings->chain_count < FINDINGS_CHAINS) findings->chain_count++;
    for (size_t i = findings->chain_count; --i > place;) findings->chains[i].ends = findings->chains[i - 1].ends;
    findings->chains[place].ends = *ends;
}

void chains_note(struct findings *findings, const struct idx_cluster_member *member) {
    struct chain_ends *ends = &findings->current;
    if (member == NULL || member->cluster != ends->size.cluster) {
        keep_ended_cluster(findings);
        *ends = (struct chain_ends){.distance = 0};
    }
    if (member == NULL) return;
    ends->size.cluster = member->cluster;
    ends->size.representative = member->representative_fingerprint;
    ends->size.documents++;
    ends->size.far += member->distance > findings->k;
    if (member->distance <= ends->distance) return;
    ends->distance = member->distance;
    ends->farthest = member->fingerprint;
}

/* ---- Following ---- */

struct node {
    uint64_t fingerprint;
    uint32_t parent; /* The place of the node from which it was reached. */
};

struct following {
    const struct idx_index *index;
    unsigned k;
    struct node *nodes; /* In the order in which they were reached. */
    size_t count;
    uint32_t *slots; /* A hash table of the nodes, twice as large: each slot has a node's place plus 1, or 0. */
    struct idx_error *error;
};

/* Adds a fingerprint as a node, unless it was reached before, or there are MOST_FOLLOWED nodes already. */
static void add_node(struct following *following, uint64_t fingerprint, size_t parent) {
    size_t mask = 2 * MOST_FOLLOWED - 1, at = (size_t)sample_mix(fingerprint) & mask;
    while (following->slots[at] != 0) {
        if (following->nodes[following->slots[at] - 1].fingerprint == fingerprint) return;
        at = (at + 1) & mask;
    }
    if (following->count == MOST_FOLLOWED) return;
    following->nodes[following->count++] = (struct node){fingerprint, (uint32_t)parent};
    following->slots[at] = (uint32_t)following->count;
}

static enum idx_status add_near_nodes(struct following *following, size_t node) {
    struct idx_match_lists_options options = IDX_MATCH_LISTS_OPTIONS_INIT;
    struct idx_match_lists lists;
    options.distance = following->k;
    enum idx_status status = idx_match_lists_make(following->index, &following->nodes[node].fingerprint, 1, &options,
                                                  &lists, following->error);
    if (status != IDX_OK) return status;
    for (int64_t i = 0; i < lists.offsets[1]; i++) add_node(following, lists.matches[i].fingerprint, node);
    idx_match_lists_free(&lists);
    return IDX_OK;
}

/* Searches breadth first from near fingerprint to near fingerprint, so that the chain is a shortest one. Sets *found to
 * the place of what is sought, or to 0 if it was not reached. Returns false after an error or a signal. */
static bool find_chain(struct following *following, uint64_t from, uint64_t sought, size_t *found) {
    *found = following->count = 0;
    memset(following->slots, 0, 2 * MOST_FOLLOWED * sizeof *following->slots);
    add_node(following, from, 0);
    for (size_t at = 0; at < following->count && *found == 0; at++) {
        if (interrupt_noted() || add_near_nodes(following, at) != IDX_OK) return false;
        if (following->nodes[at].fingerprint == sought) *found = at;
    }
    return true;
}

/* Sets the steps of a chain that ends at node `last`; of one that is too long, only its first and last steps. */
static void keep_steps(const struct following *following, struct chain *chain, size_t last) {
    uint64_t from = chain->ends.size.representative;
    size_t length = 1;
    for (size_t at = last; at != 0; at = following->nodes[at].parent) length++;
    chain->length = length;
    chain->step_count = length < FINDINGS_STEPS ? length : FINDINGS_STEPS;
    size_t skipped = length - chain->step_count, half = FINDINGS_STEPS / 2;
    for (size_t at = last, i = length; i-- > 0; at = following->nodes[at].parent) {
        uint64_t fingerprint = following->nodes[at].fingerprint;
        struct step step = {.fingerprint = fingerprint, .distance = idx_distance(from, fingerprint)};
        if (skipped == 0 || i < half)
            chain->steps[i] = step;
        else if (i >= skipped + half)
            chain->steps[i - skipped] = step;
    }
}

bool chains_follow(struct findings *findings, const struct idx_index *index, struct idx_error *error) {
    struct following following = {.index = index, .k = findings->k, .error = error};
    bool ok = true;
    size_t found;
    if (findings->chain_count == 0) return true;
    following.nodes = malloc(MOST_FOLLOWED * sizeof *following.nodes);
    following.slots = malloc(2 * MOST_FOLLOWED * sizeof *following.slots);
    if (following.nodes == NULL || following.slots == NULL) {
        complain("out of memory");
        ok = false;
    }
    for (size_t i = 0; i < findings->chain_count && ok; i++) {
        struct chain *chain = &findings->chains[i];
        ok = find_chain(&following, chain->ends.size.representative, chain->ends.farthest, &found);
        if (ok && found != 0) keep_steps(&following, chain, found);
    }
    free(following.nodes);
    free(following.slots);
    return ok;
}
