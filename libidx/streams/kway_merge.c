/* kway_merge.c: a tree of two-way merges, in which each node has a buffer of its own. */
#include "libidx/streams/kway_merge.h"

#include <stdlib.h>
#include <string.h>

#include "libidx/base/base.h"
#include "libidx/streams/two_way.h"

#define NODE_ENTRIES 2048
#define MIN_TO_MERGE 384 /* a node with fewer entries is refilled first, since many are merged faster than few */

/* A node of the tree. Entries [begin, end) of its buffer are merged, and not yet consumed by its parent. */
struct node {
    uint64_t *fingerprints, *values; /* values: NULL for fingerprints alone */
    size_t begin, end;
    bool ended;                /* no entries come after those in the buffer */
    struct idxi_stream *input; /* what a leaf reads; NULL for a node with children */
    struct node *left, *right;
};

struct idxi_kway_merge {
    struct idxi_stream stream;
    struct node *nodes; /* each after its children; the last is the root */
    size_t node_count;
    uint64_t *entries; /* the buffers of all nodes */
    bool has_last;     /* whether an entry was read yet; the last one is in the next members */
    uint64_t last_fingerprint, last_value;
};

/* Merges the next `count` entries of a node's children, which have at least as many each, into its buffer. */
static void merge_children(struct node *node, struct node *left, struct node *right, size_t count) {
    struct idxi_sides sides = {.a = left->fingerprints + left->begin,
                               .b = right->fingerprints + right->begin,
                               .out = node->fingerprints + node->end};
    size_t from_left;
    if (node->values == NULL) {
        from_left = idxi_merge_fingerprints(&sides, count);
    } else {
        sides.a_values = left->values + left->begin;
        sides.b_values = right->values + right->begin;
        sides.out_values = node->values + node->end;
        from_left = idxi_merge_entries(&sides, count);
    }
    left->begin += from_left;
    right->begin += count - from_left;
    node->end += count;
}

/* Moves the next `count` entries of one child to the end of the node's buffer, while the other child has none. */
static void move_entries_from_child(struct node *node, struct node *child, size_t count) {
    memcpy(node->fingerprints + node->end, child->fingerprints + child->begin, count * sizeof *node->fingerprints);
    if (node->values != NULL)
        memcpy(node->values + node->end, child->values + child->begin, count * sizeof *node->values);
    child->begin += count;
    node->end += count;
}

static enum idx_status refill_node(struct node *node, struct idx_error *error);

/* Refills the node if it has fewer than MIN_TO_MERGE entries. Sets *count to how many it has then; 0 only if no more
 * come. */
static enum idx_status refill_and_count_entries(struct node *node, size_t *count, struct idx_error *error) {
    if (node->end - node->begin < MIN_TO_MERGE && !node->ended) IDXI_TRY(refill_node(node, error));
    *count = node->end - node->begin;
    return IDX_OK;
}

/* Moves the entries that the parent has not consumed to the front of the buffer, so that there is room behind them. */
static void move_entries_to_front(struct node *node) {
    size_t count = node->end - node->begin;
    memmove(node->fingerprints, node->fingerprints + node->begin, count * sizeof *node->fingerprints);
    if (node->values != NULL) memmove(node->values, node->values + node->begin, count * sizeof *node->values);
    node->begin = 0;
    node->end = count;
}

/* Reads the input of a leaf, until the buffer has MIN_TO_MERGE entries or the input ends. */
static enum idx_status read_leaf_input(struct node *node, struct idx_error *error) {
    for (size_t count; node->end < MIN_TO_MERGE && !node->ended; node->end += count) {
        IDXI_TRY(node->input->read(node->input, node->fingerprints + node->end,
                                   node->values == NULL ? NULL : node->values + node->end, NODE_ENTRIES - node->end,
                                   &count, error));
        node->ended = count == 0;
    }
    return IDX_OK;
}

/* Moves the entries that the parent has not consumed to the front of the buffer, and adds others behind them: until the
 * buffer is full, for a leaf until it has MIN_TO_MERGE entries, or until no more come, which sets node->ended. */
static enum idx_status refill_node(struct node *node, struct idx_error *error) {
    move_entries_to_front(node);
    if (node->input != NULL) return read_leaf_input(node, error);
    while (node->end < NODE_ENTRIES) {
        size_t left_count, right_count, space = NODE_ENTRIES - node->end;
        IDXI_TRY(refill_and_count_entries(node->left, &left_count, error));
        IDXI_TRY(refill_and_count_entries(node->right, &right_count, error));
        node->ended = left_count + right_count == 0;
        if (node->ended) break;
        if (left_count == 0 || right_count == 0)
            move_entries_from_child(node, left_count > 0 ? node->left : node->right,
                                    idxi_min(left_count + right_count, space));
        else
            merge_children(node, node->left, node->right, idxi_min(space, idxi_min(left_count, right_count)));
    }
    return IDX_OK;
}

/* Copies the root's next `count` entries, except those that equal the entry before, and leaves them in the root.
 * Returns how many it copied. Where `values` is NULL, only fingerprints are compared. */
static size_t copy_distinct_entries(const struct idxi_kway_merge *merge, const struct node *root, size_t count,
                                    uint64_t *fingerprints, uint64_t *values) {
    const uint64_t *from = root->fingerprints + root->begin;
    uint64_t fingerprint = merge->last_fingerprint, value = merge->last_value;
    bool is_new = !merge->has_last; /* the entry differs from the one before; `copied += is_new` avoids a branch */
    size_t copied = 0;
    for (size_t i = 0; i < count; i++) {
        uint64_t next_value = values == NULL ? 0 : root->values[root->begin + i];
        is_new |= (from[i] != fingerprint) | (next_value != value);
        fingerprint = from[i];
        value = next_value;
        fingerprints[copied] = fingerprint;
        if (values != NULL) values[copied] = value;
        copied += is_new;
        is_new = false;
    }
    return copied;
}

/* Whether each of `count` (1 or more) fingerprints differs from the one before it, so that no entry is repeated. */
static bool are_all_different(const struct idxi_kway_merge *merge, const uint64_t *fingerprints, size_t count) {
    uint64_t repeated = merge->has_last && fingerprints[0] == merge->last_fingerprint;
    for (size_t i = 1; i < count; i++) repeated += fingerprints[i] == fingerprints[i - 1];
    return repeated == 0;
}

/* Removes the next `count` (1 or more) entries from the root, and copies those that differ from the entry before.
 * Returns how many it copied. */
static size_t consume_distinct_entries(struct idxi_kway_merge *merge, struct node *root, size_t count,
                                       uint64_t *fingerprints, uint64_t *values) {
    const uint64_t *from = root->fingerprints + root->begin, *last = from + count - 1;
    size_t copied = count;
    if (are_all_different(merge, from, count)) {
        memcpy(fingerprints, from, count * sizeof *fingerprints);
        if (values != NULL) memcpy(values, root->values + root->begin, count * sizeof *values);
    } else {
        copied = copy_distinct_entries(merge, root, count, fingerprints, values);
    }
    merge->has_last = true;
    merge->last_fingerprint = *last;
    merge->last_value = values == NULL ? 0 : root->values[root->begin + count - 1];
    root->begin += count;
    return copied;
}

/* Reads entries as struct idxi_stream says. Returns fewer entries than there is room for only if no more come. */
static enum idx_status read_merged_entries(struct idxi_stream *stream, uint64_t *fingerprints, uint64_t *values,
                                           size_t capacity, size_t *count, struct idx_error *error) {
    struct idxi_kway_merge *merge = (struct idxi_kway_merge *)stream;
    *count = 0;
    if (merge->node_count == 0) return IDX_OK;
    struct node *root = &merge->nodes[merge->node_count - 1];
    while (*count < capacity) {
        size_t available;
        IDXI_TRY(refill_and_count_entries(root, &available, error));
        if (available == 0) break;
        *count += consume_distinct_entries(merge, root, idxi_min(available, capacity - *count), fingerprints + *count,
                                           values == NULL ? NULL : values + *count);
    }
    return IDX_OK;
}

/* Goes back to the first entry: empties all buffers, and rewinds all inputs, which must be able to. */
static enum idx_status rewind_merge(struct idxi_stream *stream, struct idx_error *error) {
    struct idxi_kway_merge *merge = (struct idxi_kway_merge *)stream;
    merge->has_last = false;
    for (size_t i = 0; i < merge->node_count; i++) {
        struct node *node = &merge->nodes[i];
        node->begin = node->end = 0;
        node->ended = false;
        if (node->input != NULL) IDXI_TRY(node->input->rewind(node->input, error));
    }
    return IDX_OK;
}

/* Adds the nodes that merge `count` inputs, 1 or more, children before their parents, and returns their root. */
static struct node *add_nodes(struct idxi_kway_merge *merge, struct idxi_stream *const *inputs, size_t count) {
    struct node *left = NULL, *right = NULL;
    if (count > 1) {
        left = add_nodes(merge, inputs, count / 2);
        right = add_nodes(merge, inputs + count / 2, count - count / 2);
    }
    struct node *node = &merge->nodes[merge->node_count++];
    node->left = left;
    node->right = right;
    node->input = count == 1 ? inputs[0] : NULL;
    return node;
}

enum idx_status idxi_kway_merge_open(struct idxi_kway_merge **result, struct idxi_stream *const *inputs, size_t count,
                                     bool with_values, struct idx_error *error) {
    struct idxi_kway_merge *merge = calloc(1, sizeof *merge);
    size_t node_count = count == 0 ? 0 : 2 * count - 1, arrays_per_node = with_values ? 2 : 1; /* a binary tree */
    if (merge == NULL) return idxi_fail_memory(error);
    merge->stream = (struct idxi_stream){read_merged_entries, rewind_merge};
    merge->nodes = calloc(node_count + 1, sizeof *merge->nodes); /* + 1, so that no size is 0 */
    merge->entries = malloc((node_count + 1) * arrays_per_node * NODE_ENTRIES * sizeof *merge->entries);
    if (merge->nodes == NULL || merge->entries == NULL) {
        idxi_kway_merge_close(merge);
        return idxi_fail_memory(error);
    }
    if (count > 0) add_nodes(merge, inputs, count);
    for (size_t i = 0; i < node_count; i++) {
        merge->nodes[i].fingerprints = merge->entries + i * arrays_per_node * NODE_ENTRIES;
        merge->nodes[i].values = with_values ? merge->nodes[i].fingerprints + NODE_ENTRIES : NULL;
    }
    *result = merge;
    return IDX_OK;
}

struct idxi_stream *idxi_kway_merge_get_stream(struct idxi_kway_merge *merge) {
    return &merge->stream;
}

void idxi_kway_merge_close(struct idxi_kway_merge *merge) {
    if (merge == NULL) return;
    free(merge->nodes);
    free(merge->entries);
    free(merge);
}
