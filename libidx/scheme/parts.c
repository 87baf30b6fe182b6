/* parts.c: finds the fastest schemes of parts, by dynamic programming over errors, bits and tables. */
#include "libidx/scheme/price.h"

#include <math.h>
#include <stdlib.h>

#include "libidx/base/base.h"
#include "libidx/scheme/scheme.h"

#define MAX_BLOCKS 10 /* of a part; cuts into more are not considered */
#define MAX_CUTS 256  /* more than list_cuts lists */
#define MAX_SHARES (IDX_MAX_K + 1)

/* A way to cut a part, as a scheme blocks:front:radius does. */
struct cut {
    unsigned blocks, front, radius;
    unsigned shares; /* the errors that it covers plus 1; a scheme covers k if its parts have k + 1 shares together */
    unsigned tables;
    double times[IDX_MAX_BITS + 1]; /* nanoseconds of all its tables, by the bits of the part */
};

/* The fastest scheme with so many shares, bits and tables. */
struct state {
    double time;                      /* nanoseconds; infinite: there is no such scheme */
    uint8_t cut, bits, shares_before; /* its last part's place in the list of cuts and width; shares of the others */
};

/* The state of idxi_parts_find: states[shares][bits][tables]. */
struct parts_search {
    struct cut cuts[MAX_CUTS];
    unsigned cut_count;
    struct state states[MAX_SHARES + 1][IDX_MAX_BITS + 1][IDXI_MAX_PARTS_TABLES + 1];
};

unsigned idxi_count_covered_errors(unsigned blocks, unsigned front, unsigned radius) {
    for (unsigned errors = 1;; errors++) {
        /* At worst errors are spread evenly: then `cleaner` blocks have `least` errors, and the others one more. The
         * table with the fewest errors has the cleaner blocks in front, as many as there are. */
        unsigned least = errors / blocks, cleaner = blocks - errors % blocks;
        if (front * least + (front > cleaner ? front - cleaner : 0) > radius) return errors - 1;
    }
}

/* ---- Cuts ---- */

/* Returns the nanoseconds of all tables of a part of `bits` bits, or infinity if it has fewer bits than blocks. Some
 * blocks are one bit wider than the others, and tables differ in how many of these they have in front. */
static double estimate_part_time(const struct cut *cut, unsigned bits, const struct idxi_table_times *times) {
    unsigned width = bits / cut->blocks, wider_blocks = bits % cut->blocks;
    double time = 0;
    if (width == 0) return INFINITY;
    for (unsigned wider = 0; wider <= cut->front; wider++) {
        double tables = idxi_count_combinations(wider_blocks, wider) *
                        idxi_count_combinations(cut->blocks - wider_blocks, cut->front - wider);
        if (tables > 0) time += tables * times->of[cut->radius][width * cut->front + wider];
    }
    return time;
}

/* Completes a cut and appends it to the list, unless it makes more than IDXI_MAX_PARTS_TABLES tables. The caller has
 * set its blocks, front and radius. It gets at most `max_shares` shares, since more are not needed. */
static void append_cut(struct parts_search *search, struct cut cut, unsigned max_shares,
                       const struct idxi_table_times *times) {
    cut.shares = idxi_count_covered_errors(cut.blocks, cut.front, cut.radius) + 1;
    cut.tables = (unsigned)idxi_count_combinations(cut.blocks, cut.front);
    if (cut.shares > max_shares) cut.shares = max_shares;
    if (cut.tables > IDXI_MAX_PARTS_TABLES) return;
    for (unsigned bits = 0; bits <= IDX_MAX_BITS; bits++) cut.times[bits] = estimate_part_time(&cut, bits, times);
    search->cuts[search->cut_count++] = cut;
}

/* Sets search->cuts to all cuts of a part into one block, or into several with two or more in front. A cut with one of
 * several blocks in front is left out, because its blocks can be parts of their own. */
static void list_cuts(struct parts_search *search, unsigned max_shares, const struct idxi_table_times *times) {
    for (unsigned radius = 0; radius <= IDX_MAX_RADIUS && radius < max_shares; radius++) {
        append_cut(search, (struct cut){.blocks = 1, .front = 1, .radius = radius}, max_shares, times);
        for (unsigned blocks = 3; blocks <= MAX_BLOCKS; blocks++) {
            for (unsigned front = 2; front < blocks; front++)
                append_cut(search, (struct cut){.blocks = blocks, .front = front, .radius = radius}, max_shares, times);
        }
    }
}

/* ---- Parts ---- */

/* Adds each possible next part to the fastest scheme of states[shares][bits][tables]. If the longer scheme is the
 * fastest so far of its own state, stores it there. A scheme has at most `max_bits` bits, and more than `max_shares`
 * shares count as `max_shares`. */
static void extend_by_next_part(struct parts_search *search, unsigned shares, unsigned bits, unsigned tables,
                                unsigned max_shares, unsigned max_bits) {
    double time = search->states[shares][bits][tables].time;
    for (unsigned i = 0; i < search->cut_count; i++) {
        const struct cut *cut = &search->cuts[i];
        unsigned next_shares = shares + cut->shares < max_shares ? shares + cut->shares : max_shares;
        if (tables + cut->tables > IDXI_MAX_PARTS_TABLES) continue;
        for (unsigned width = cut->blocks; bits + width <= max_bits; width++) {
            struct state *state = &search->states[next_shares][bits + width][tables + cut->tables];
            double next_time = time + cut->times[width];
            if (next_time >= state->time) continue;
            *state = (struct state){next_time, (uint8_t)i, (uint8_t)width, (uint8_t)shares};
        }
    }
}

/* Sets the states with up to `max_shares` shares and `max_bits` bits to their fastest schemes. A part adds to all three
 * numbers of a state, so a state is final when the loops reach it. */
static void find_fastest_schemes(struct parts_search *search, unsigned max_shares, unsigned max_bits) {
    for (unsigned shares = 0; shares <= max_shares; shares++) {
        for (unsigned bits = 0; bits <= max_bits; bits++) {
            for (unsigned tables = 0; tables <= IDXI_MAX_PARTS_TABLES; tables++)
                search->states[shares][bits][tables].time = INFINITY;
        }
    }
    search->states[0][0][0].time = 0;
    for (unsigned shares = 0; shares < max_shares; shares++) {
        for (unsigned bits = 0; bits < max_bits; bits++) {
            for (unsigned tables = 0; tables < IDXI_MAX_PARTS_TABLES; tables++) {
                if (search->states[shares][bits][tables].time < INFINITY)
                    extend_by_next_part(search, shares, bits, tables, max_shares, max_bits);
            }
        }
    }
}

/* Returns the `count` highest bits that are set in `bits`. At least `count` must be set. */
static uint64_t keep_highest_bits(uint64_t bits, unsigned count) {
    for (unsigned excess = (unsigned)__builtin_popcountll(bits) - count; excess > 0; excess--) bits &= bits - 1;
    return bits;
}

/* Adds the tables of states[shares][bits][tables] to a scheme, from its last part to its first. Each part takes the
 * highest bits of `live` that the parts before it have left. */
static void add_tables_of_parts(const struct parts_search *search, unsigned shares, unsigned bits, unsigned tables,
                                uint64_t live, struct idx_scheme *scheme) {
    while (shares > 0) {
        const struct state *state = &search->states[shares][bits][tables];
        const struct cut *cut = &search->cuts[state->cut];
        uint64_t part = keep_highest_bits(live, state->bits);
        idxi_scheme_add_tables(scheme, part, 0, cut->blocks, cut->front, cut->radius);
        live &= ~part;
        shares = state->shares_before;
        bits -= state->bits;
        tables -= cut->tables;
    }
}

enum idx_status idxi_parts_find(unsigned bits, uint64_t live, unsigned k, const struct idxi_table_times *times,
                                idxi_scheme_visitor visit, void *context, struct idx_error *error) {
    unsigned live_bits = (unsigned)__builtin_popcountll(live);
    unsigned shares = (k < live_bits ? k : live_bits) + 1; /* no more errors than bits */
    struct parts_search *search = malloc(sizeof *search);
    if (search == NULL) return idxi_fail_memory(error);
    search->cut_count = 0;
    list_cuts(search, shares, times);
    find_fastest_schemes(search, shares, live_bits);
    for (unsigned tables = 1; tables <= IDXI_MAX_PARTS_TABLES; tables++) {
        struct idx_scheme scheme;
        unsigned best_bits = 0; /* a scheme has some, so the state of 0 bits has an infinite time */
        for (unsigned used_bits = 1; used_bits <= live_bits; used_bits++) {
            if (search->states[shares][used_bits][tables].time < search->states[shares][best_bits][tables].time)
                best_bits = used_bits;
        }
        if (best_bits == 0) continue;
        idxi_scheme_init(&scheme, "masks", bits);
        add_tables_of_parts(search, shares, best_bits, tables, live, &scheme);
        visit(context, &scheme);
    }
    free(search);
    return IDX_OK;
}
