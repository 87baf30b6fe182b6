/* chains.c: finds the largest clusters that form chains, and follows their chains. */
#include "tools/report/gather.h"

#include <stdlib.h>
#include <string.h>

/* The most fingerprints that a search for one chain visits; a power of two, as the hash table needs it. */
enum { MAX_NODES = 1 << 17 };

/* The most fingerprints that are looked up together. */
enum { MAX_BATCH_QUERIES = 1 << 12 };

/* ---- Choosing ---- */

/* Inserts the cluster of `current_ends`, which has ended, into `chains`, where the largest cluster comes first. Does so
 * only if the cluster has documents beyond k from its representative, and is among the FINDINGS_CHAINS largest such
 * clusters. */
static void insert_ended_cluster(struct findings *findings) {
    const struct chain_ends *ends = &findings->current_ends;
    size_t place = findings->chain_count;
    if (ends->size.far == 0) return;
    while (place > 0 && findings->chains[place - 1].ends.size.documents < ends->size.documents) place--;
    if (place == FINDINGS_CHAINS) return;
    if (findings->chain_count < FINDINGS_CHAINS) findings->chain_count++;
    for (size_t i = findings->chain_count - 1; i > place; i--) findings->chains[i].ends = findings->chains[i - 1].ends;
    findings->chains[place].ends = *ends;
}

void chains_add_member(struct findings *findings, const struct idx_cluster_member *member) {
    struct chain_ends *ends = &findings->current_ends;
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

/* A fingerprint that the search reached. */
struct node {
    uint64_t fingerprint;
    uint32_t parent; /* The place in `nodes` of the fingerprint within k from which it was reached. */
};

/* A breadth-first search for the chain of one cluster. */
struct search {
    const struct idx_index *index;
    struct idx_batch_options options;
    struct node *nodes;                /* In the order in which they were reached. */
    size_t node_count, expanded_count; /* For so many of them, from the first on, all matches were added as nodes. */
    uint32_t *slots; /* A hash table of 2 * MAX_NODES slots: each has a node's place plus 1, or 0 if it is empty. */
    struct idx_error *error;
};

/* Adds a fingerprint as a node that was reached from the node at the place `parent`. Does nothing if the fingerprint is
 * a node already, or if there are MAX_NODES nodes. */
static void add_node(struct search *search, uint64_t fingerprint, size_t parent) {
    size_t slot_mask = 2 * MAX_NODES - 1, slot = (size_t)sample_hash(fingerprint) & slot_mask;
    while (search->slots[slot] != 0) {
        if (search->nodes[search->slots[slot] - 1].fingerprint == fingerprint) return;
        slot = (slot + 1) & slot_mask;
    }
    if (search->node_count == MAX_NODES) return;
    search->nodes[search->node_count++] = (struct node){fingerprint, (uint32_t)parent};
    search->slots[slot] = (uint32_t)search->node_count;
}

/* Adds the matches of a node as further nodes. `query` is the node's place among those that are looked up together,
 * which begin at the node `expanded_count`. Returns false once a signal is noted. This is an idx_batch_visitor. */
static bool add_near_fingerprints(void *context, size_t query, const struct idx_match *matches, size_t match_count) {
    struct search *search = context;
    for (size_t i = 0; i < match_count; i++) add_node(search, matches[i].fingerprint, search->expanded_count + query);
    return !interrupt_is_noted();
}

/* Adds as nodes all fingerprints within k of the next nodes, up to MAX_BATCH_QUERIES of these. They are looked up
 * together, since a batch beyond the index's own k reads the whole index, but not all at once, since their matches take
 * memory. Returns false after an error, which is in search->error, or a signal. */
static bool look_up_next_nodes(struct search *search) {
    uint64_t queries[MAX_BATCH_QUERIES];
    size_t query_count = 0;
    for (size_t node = search->expanded_count; node < search->node_count && query_count < MAX_BATCH_QUERIES; node++)
        queries[query_count++] = search->nodes[node].fingerprint;
    bool ok = idx_batch(search->index, queries, query_count, &search->options, add_near_fingerprints, search,
                        search->error) == IDX_OK;
    search->expanded_count += query_count;
    return ok && !interrupt_is_noted();
}

/* Searches breadth first, from each fingerprint to those within k of it, so that the chain from the fingerprint `from`
 * to the fingerprint `target` is a shortest one. Sets *target_node to the place of the node of `target`, or to 0, which
 * is the place of `from`, if MAX_NODES nodes do not reach it. `from` and `target` must differ. Returns false after an
 * error, with search->error set, or after a signal. */
static bool search_for_chain_end(struct search *search, uint64_t from, uint64_t target, size_t *target_node) {
    *target_node = 0;
    search->node_count = search->expanded_count = 0;
    memset(search->slots, 0, 2 * MAX_NODES * sizeof *search->slots);
    add_node(search, from, 0);
    while (search->expanded_count < search->node_count && *target_node == 0) {
        size_t new_node = search->node_count;
        if (!look_up_next_nodes(search)) return false;
        for (; new_node < search->node_count; new_node++)
            if (search->nodes[new_node].fingerprint == target) *target_node = new_node;
    }
    return true;
}

/* Sets the length and the steps of a chain: the way from the first node, which is the representative, to the node at
 * the place `last_node`. Of a chain of more than FINDINGS_STEPS steps, only the first and the last FINDINGS_STEPS / 2
 * are stored. */
static void store_steps(const struct search *search, struct chain *chain, size_t last_node) {
    uint64_t representative = chain->ends.size.representative;
    size_t length = 1;
    for (size_t node = last_node; node != 0; node = search->nodes[node].parent) length++;
    chain->length = length;
    chain->step_count = length < FINDINGS_STEPS ? length : FINDINGS_STEPS;
    size_t skipped = length - chain->step_count, half = FINDINGS_STEPS / 2;
    /* Step i, from the last one back to step 0, which is the representative's. */
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
    struct progress hidden_progress = {.shown = false};
    struct search search = {
        .index = index, .options = sample_get_batch_options(options, findings->k, &hidden_progress), .error = error};
    size_t end_node;
    if (findings->chain_count == 0) return true;
    search.nodes = malloc(MAX_NODES * sizeof *search.nodes);
    search.slots = malloc(2 * MAX_NODES * sizeof *search.slots);
    bool ok = (search.nodes != NULL && search.slots != NULL) || complain("out of memory");
    for (size_t i = 0; i < findings->chain_count && ok; i++) {
        struct chain *chain = &findings->chains[i];
        ok = search_for_chain_end(&search, chain->ends.size.representative, chain->ends.farthest, &end_node);
        if (ok && end_node != 0) store_steps(&search, chain, end_node);
    }
    free(search.nodes);
    free(search.slots);
    return ok;
}
