/* merging.c: a tree of merges of two, each into a buffer of its own: within the buffers a merge is a loop without
 * branches that could be mispredicted. */
#include "libidx/merging.h"

#include <stdlib.h>
#include <string.h>

#include "format/processor.h"
#include "libidx/error.h"

#define NODE_ENTRIES 1024

/* What a node has merged and its parent not yet taken: [begin, end). */
struct node {
    uint64_t *fingerprints, *values; /* values: NULL for fingerprints alone */
    size_t begin, end;
    bool ended;                /* nothing comes after these */
    struct idxi_stream *input; /* of a leaf; NULL for the others: */
    struct node *left, *right;
};

struct idxi_merging {
    struct idxi_stream stream;
    struct node *nodes; /* each behind its children; the last is the root */
    size_t node_count;
    uint64_t *entries; /* all buffers */
    bool any;          /* an entry was given, and the last one was: */
    uint64_t fingerprint, value;
};

/* Two sides of a merge, and where it puts what they have. */
struct sides {
    const uint64_t *a, *a_values, *b, *b_values;
    uint64_t *out, *out_values;
};

IDXF_INLINE bool takes_a(const struct sides *sides, size_t i, size_t j, bool with_values) {
    bool takes = sides->a[i] <= sides->b[j];
    if (!with_values) return takes;
    return takes & ((sides->a[i] != sides->b[j]) | (sides->a_values[i] <= sides->b_values[j]));
}

/* How many of the first `count` entries come from a; both sides have as many. */
static size_t count_a(const struct sides *sides, size_t count, bool with_values) {
    size_t low = 0, high = count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (takes_a(sides, middle, count - 1 - middle, with_values))
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* Puts entry `at`, of which `*i` before it come from a. */
IDXF_INLINE void put_next(const struct sides *sides, size_t at, size_t *i, bool with_values) {
    size_t j = at - *i;
    bool takes = takes_a(sides, *i, j, with_values);
    const uint64_t *from = takes ? sides->a + *i : sides->b + j;
    if (with_values) {
        const uint64_t *values = takes ? sides->a_values + *i : sides->b_values + j;
        sides->out_values[at] = *values;
    }
    sides->out[at] = *from;
    *i += takes;
}

/* Merges the first `count` entries; both sides have as many. Returns how many come from a. Each entry waits for the one
 * before it, so that four parts are merged side by side. */
IDXF_INLINE size_t merge_parts(const struct sides *sides, size_t count, bool with_values) {
    size_t part = count / 4, i0 = 0, i1 = count_a(sides, part, with_values);
    size_t i2 = count_a(sides, 2 * part, with_values), i3 = count_a(sides, 3 * part, with_values);
    for (size_t at = 0; at < part; at++) {
        put_next(sides, at, &i0, with_values);
        put_next(sides, part + at, &i1, with_values);
        put_next(sides, 2 * part + at, &i2, with_values);
        put_next(sides, 3 * part + at, &i3, with_values);
    }
    for (size_t at = 4 * part; at < count; at++) put_next(sides, at, &i3, with_values);
    return i3;
}

/* Merges `count` entries of two nodes that have as many each. */
static void merge_nodes(struct node *node, struct node *left, struct node *right, size_t count) {
    struct sides sides = {left->fingerprints + left->begin, NULL, right->fingerprints + right->begin, NULL,
                          node->fingerprints + node->end,   NULL};
    size_t taken;
    if (node->values == NULL) {
        taken = merge_parts(&sides, count, false);
    } else {
        sides.a_values = left->values + left->begin;
        sides.b_values = right->values + right->begin;
        sides.out_values = node->values + node->end;
        taken = merge_parts(&sides, count, true);
    }
    left->begin += taken;
    right->begin += count - taken;
    node->end += count;
}

static void take_rest(struct node *node, struct node *from, size_t count) {
    memcpy(node->fingerprints + node->end, from->fingerprints + from->begin, count * sizeof *node->fingerprints);
    if (node->values != NULL)
        memcpy(node->values + node->end, from->values + from->begin, count * sizeof *node->values);
    from->begin += count;
    node->end += count;
}

static size_t least(size_t a, size_t b) { return a < b ? a : b; }

static enum idx_status fill(struct node *node, struct idx_error *error);

/* Sets *has to how many entries the node has to offer, 0 at the end. */
static enum idx_status offer(struct node *node, size_t *has, struct idx_error *error) {
    if (node->begin == node->end && !node->ended) IDXI_TRY(fill(node, error));
    *has = node->end - node->begin;
    return IDX_OK;
}

/* Fills the node's buffer, which is empty. */
static enum idx_status fill(struct node *node, struct idx_error *error) {
    node->begin = node->end = 0;
    if (node->input != NULL) {
        IDXI_TRY(node->input->read(node->input, node->fingerprints, node->values, NODE_ENTRIES, &node->end, error));
        node->ended = node->end == 0;
        return IDX_OK;
    }
    while (node->end < NODE_ENTRIES) {
        size_t left, right, room = NODE_ENTRIES - node->end;
        IDXI_TRY(offer(node->left, &left, error));
        IDXI_TRY(offer(node->right, &right, error));
        node->ended = left + right == 0;
        if (node->ended) break;
        if (left == 0 || right == 0)
            take_rest(node, left > 0 ? node->left : node->right, least(left + right, room));
        else
            merge_nodes(node, node->left, node->right, least(room, least(left, right)));
    }
    return IDX_OK;
}

/* Copies entries, but for those like the one before. Returns how many remain. */
static size_t copy_distinct(struct idxi_merging *merging, const struct node *root, size_t count, uint64_t *fingerprints,
                            uint64_t *values) {
    const uint64_t *from = root->fingerprints + root->begin;
    uint64_t fingerprint = merging->fingerprint, value = merging->value;
    bool fresh = !merging->any;
    size_t made = 0;
    for (size_t i = 0; i < count; i++) {
        uint64_t next = values == NULL ? 0 : root->values[root->begin + i];
        fresh |= (from[i] != fingerprint) | (next != value);
        fingerprints[made] = fingerprint = from[i];
        value = next;
        if (values != NULL) values[made] = value;
        made += fresh;
        fresh = false;
    }
    merging->any = true;
    merging->fingerprint = fingerprint;
    merging->value = value;
    return made;
}

static enum idx_status read_merging(struct idxi_stream *stream, uint64_t *fingerprints, uint64_t *values,
                                    size_t capacity, size_t *count, struct idx_error *error) {
    struct idxi_merging *merging = (struct idxi_merging *)stream;
    *count = 0;
    if (merging->node_count == 0) return IDX_OK;
    struct node *root = &merging->nodes[merging->node_count - 1];
    while (*count < capacity) {
        size_t has;
        IDXI_TRY(offer(root, &has, error));
        if (has == 0) break;
        has = least(has, capacity - *count);
        *count += copy_distinct(merging, root, has, fingerprints + *count, values == NULL ? NULL : values + *count);
        root->begin += has;
    }
    return IDX_OK;
}

static enum idx_status rewind_merging(struct idxi_stream *stream, struct idx_error *error) {
    struct idxi_merging *merging = (struct idxi_merging *)stream;
    merging->any = false;
    for (size_t i = 0; i < merging->node_count; i++) {
        struct node *node = &merging->nodes[i];
        node->begin = node->end = 0;
        node->ended = false;
        if (node->input != NULL) IDXI_TRY(node->input->rewind(node->input, error));
    }
    return IDX_OK;
}

/* Adds the nodes that merge `count` inputs, and returns the last. */
static struct node *add_nodes(struct idxi_merging *merging, struct idxi_stream *const *inputs, size_t count) {
    struct node *left = count == 1 ? NULL : add_nodes(merging, inputs, count / 2);
    struct node *right = count == 1 ? NULL : add_nodes(merging, inputs + count / 2, count - count / 2);
    struct node *node = &merging->nodes[merging->node_count++];
    node->left = left;
    node->right = right;
    node->input = count == 1 ? inputs[0] : NULL;
    return node;
}

enum idx_status idxi_merging_open(struct idxi_merging **result, struct idxi_stream *const *inputs, size_t count,
                                  bool with_values, struct idx_error *error) {
    struct idxi_merging *merging = calloc(1, sizeof *merging);
    size_t nodes = count == 0 ? 0 : 2 * count - 1, arrays = with_values ? 2 : 1;
    if (merging == NULL) return idxi_fail_memory(error);
    merging->stream = (struct idxi_stream){read_merging, rewind_merging};
    merging->nodes = calloc(nodes + 1, sizeof *merging->nodes);
    merging->entries = malloc((nodes + 1) * arrays * NODE_ENTRIES * sizeof *merging->entries);
    if (merging->nodes == NULL || merging->entries == NULL) {
        idxi_merging_close(merging);
        return idxi_fail_memory(error);
    }
    if (count > 0) add_nodes(merging, inputs, count);
    for (size_t i = 0; i < nodes; i++) {
        merging->nodes[i].fingerprints = merging->entries + i * arrays * NODE_ENTRIES;
        merging->nodes[i].values = with_values ? merging->nodes[i].fingerprints + NODE_ENTRIES : NULL;
    }
    *result = merging;
    return IDX_OK;
}

struct idxi_stream *idxi_merging_stream(struct idxi_merging *merging) {
    return &merging->stream;
}

void idxi_merging_close(struct idxi_merging *merging) {
    if (merging == NULL) return;
    free(merging->nodes);
    free(merging->entries);
    free(merging);
}
