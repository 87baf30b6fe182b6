/* scheme.c: parses schemes, and proves that a scheme covers k. */
#include "libidx/scheme/scheme.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "format/bytes.h"

/* ---- Making ---- */

/* Cuts the bits that are set in `bits`, at least `blocks`, into `blocks` blocks as idxi_scheme_add_tables says. Sets
 * masks[i] to the bits of block i. */
static void cut_into_blocks(uint64_t bits, unsigned blocks, uint64_t *masks) {
    unsigned width = (unsigned)__builtin_popcountll(bits), position = 64;
    for (unsigned block = 0; block < blocks; block++) {
        unsigned bits_left = width / blocks + (block < width % blocks);
        masks[block] = 0;
        while (bits_left > 0) {
            uint64_t bit = UINT64_C(1) << --position;
            if ((bits & bit) == 0) continue;
            masks[block] |= bit;
            bits_left--;
        }
    }
}

/* Appends a table to the scheme. Returns false, and appends nothing, if it already has IDX_MAX_TABLES. */
static bool append_table(struct idx_scheme *scheme, uint64_t mask, unsigned radius) {
    if (scheme->table_count == IDX_MAX_TABLES) return false;
    scheme->tables[scheme->table_count++] = (struct idx_table){.mask = mask, .radius = radius};
    return true;
}

/* Replaces a combination, `front` ascending numbers below `blocks`, by the next one in lexicographic order: {0, 2} by
 * {1, 2} for 3 blocks. Returns false, and changes nothing, if it is the last one. */
static bool go_to_next_combination(unsigned *combination, unsigned blocks, unsigned front) {
    unsigned i = front;
    while (i > 0 && combination[i - 1] == blocks - front + i - 1) i--;
    if (i == 0) return false;
    combination[i - 1]++;
    for (; i < front; i++) combination[i] = combination[i - 1] + 1;
    return true;
}

bool idxi_scheme_add_tables(struct idx_scheme *scheme, uint64_t bits, uint64_t fixed, unsigned blocks, unsigned front,
                            unsigned radius) {
    uint64_t block_masks[64];
    unsigned combination[64];
    if (blocks > (unsigned)__builtin_popcountll(bits) || front < 1 || front > blocks || radius > IDX_MAX_RADIUS)
        return false;
    cut_into_blocks(bits, blocks, block_masks);
    for (unsigned i = 0; i < front; i++) combination[i] = i;
    do {
        uint64_t mask = fixed;
        for (unsigned i = 0; i < front; i++) mask |= block_masks[combination[i]];
        if (!append_table(scheme, mask, radius)) return false;
    } while (go_to_next_combination(combination, blocks, front));
    return true;
}

void idxi_scheme_init(struct idx_scheme *scheme, const char *name, unsigned bits) {
    memset(scheme, 0, sizeof *scheme);
    snprintf(scheme->name, sizeof scheme->name, "%s", name);
    scheme->bits = bits;
}

/* What a level of a scheme, such as `5:2`, says: there is a table for each choice of `front` of its `blocks` blocks. */
struct level {
    unsigned blocks, front;
};

/* Sets *scheme to B:C:radius, where `level` is B:C and cuts the whole fingerprint. Returns false if
 * idxi_scheme_add_tables does; then *scheme is unspecified. */
static bool make_one_level_scheme(struct idx_scheme *scheme, unsigned bits, struct level level, unsigned radius) {
    char name[sizeof scheme->name];
    snprintf(name, sizeof name, radius > 0 ? "%u:%u:%u" : "%u:%u", level.blocks, level.front, radius);
    idxi_scheme_init(scheme, name, bits);
    return idxi_scheme_add_tables(scheme, idxf_low_bits(bits), 0, level.blocks, level.front, radius);
}

/* Sets *scheme to B:C/b:c, where `first` is B:C and `second` is b:c. For each choice of C of B blocks, the other bits
 * are cut into b blocks, and each choice of c of these makes a table. Returns false if idxi_scheme_add_tables
 * does; then *scheme is unspecified. */
static bool make_two_level_scheme(struct idx_scheme *scheme, unsigned bits, struct level first, struct level second) {
    struct idx_scheme first_scheme;
    char name[sizeof scheme->name];
    snprintf(name, sizeof name, "%u:%u/%u:%u", first.blocks, first.front, second.blocks, second.front);
    idxi_scheme_init(scheme, name, bits);
    if (!make_one_level_scheme(&first_scheme, bits, first, 0)) return false;
    for (size_t i = 0; i < first_scheme.table_count; i++) {
        uint64_t fixed = first_scheme.tables[i].mask, others = idxf_low_bits(bits) & ~fixed;
        if (!idxi_scheme_add_tables(scheme, others, fixed, second.blocks, second.front, 0)) return false;
    }
    return true;
}

/* ---- Parsing ---- */

/* Reads a decimal number of one or two digits, and moves *text past it. Returns false if the number is missing or
 * longer; then neither *text nor *number changes. */
static bool parse_small_number(const char **text, unsigned *number) {
    char *number_end;
    if (**text < '0' || **text > '9') return false;
    unsigned long value = strtoul(*text, &number_end, 10);
    if (number_end - *text > 2) return false;
    *number = (unsigned)value;
    *text = number_end;
    return true;
}

/* Moves *text past its next character if that is `expected`. Returns whether it is. */
static bool skip_character(const char **text, char expected) {
    if (**text != expected) return false;
    ++*text;
    return true;
}

/* Reads two numbers with a colon between them, such as `5:2`, and moves *text past them. Returns false if they are not
 * there; then *text may have moved, and *level is unspecified. */
static bool parse_level(const char **text, struct level *level) {
    return parse_small_number(text, &level->blocks) && skip_character(text, ':') &&
           parse_small_number(text, &level->front);
}

/* Sets *scheme to that of a text `B:C`, `B:C:R` or `B:C/b:c`. Returns false if the text is none of these, or the scheme
 * is not possible for `bits` bits; then *scheme is unspecified. */
static bool parse_block_scheme(struct idx_scheme *scheme, const char *text, unsigned bits) {
    struct level first, second;
    unsigned radius = 0;
    if (!parse_level(&text, &first)) return false;
    if (skip_character(&text, '/'))
        return parse_level(&text, &second) && *text == '\0' && make_two_level_scheme(scheme, bits, first, second);
    if (skip_character(&text, ':') && !parse_small_number(&text, &radius)) return false;
    return *text == '\0' && make_one_level_scheme(scheme, bits, first, radius);
}

/* Reads one mask, `@hex[:R]`, adds its table, and moves *text past it. Returns false if the mask has not as many digits
 * as a fingerprint of `bits` bits, or is 0 or too large, if the radius R is above IDX_MAX_RADIUS, or if the scheme has
 * too many tables. Then *text may have moved. */
static bool parse_mask(struct idx_scheme *scheme, const char **text, unsigned bits) {
    char *mask_end;
    unsigned radius = 0, digits = (bits + 3) / 4; /* four bits a digit */
    if (!skip_character(text, '@') || strspn(*text, "0123456789abcdefABCDEF") != digits) return false;
    uint64_t mask = strtoull(*text, &mask_end, 16);
    if (mask == 0 || (mask & ~idxf_low_bits(bits)) != 0) return false;
    *text = mask_end;
    if (skip_character(text, ':') && !parse_small_number(text, &radius)) return false;
    return radius <= IDX_MAX_RADIUS && append_table(scheme, mask, radius);
}

/* Sets *scheme to that of a list `@hex[:R],…` of masks. Returns false if parse_mask does for one of them, or if
 * anything but commas is between them; then *scheme is unspecified. */
static bool parse_mask_scheme(struct idx_scheme *scheme, const char *text, unsigned bits) {
    idxi_scheme_init(scheme, "masks", bits);
    do {
        if (!parse_mask(scheme, &text, bits)) return false;
    } while (skip_character(&text, ','));
    return *text == '\0';
}

bool idxi_scheme_parse_unproved(struct idx_scheme *scheme, const char *text, unsigned bits) {
    /* the schemes of the paper on near-duplicates of web pages (Manku and others, WWW 2007), by their names */
    static const char *const paper_schemes[][2] = {{"4", "4:1"}, {"10", "5:2"}, {"16", "4:1/4:1"}, {"20", "6:3"}};
    if (text[0] == '@') return parse_mask_scheme(scheme, text, bits);
    for (size_t i = 0; i < sizeof paper_schemes / sizeof *paper_schemes; i++) {
        if (strcmp(text, paper_schemes[i][0]) == 0) text = paper_schemes[i][1];
    }
    return parse_block_scheme(scheme, text, bits);
}

enum idx_status idxi_check_bits_and_k(unsigned bits, unsigned k, struct idx_error *error) {
    if (bits < 1 || bits > IDX_MAX_BITS)
        return idxi_fail(error, IDX_INVALID_ARGUMENT, NULL, "%u bits per fingerprint: the number must be 1 to %d", bits,
                         IDX_MAX_BITS);
    if (k > IDX_MAX_K || k >= bits)
        return idxi_fail(error, IDX_INVALID_ARGUMENT, NULL,
                         "k = %u with fingerprints of %u bits: k must be 0 to %d, and less than the number of bits", k,
                         bits, IDX_MAX_K);
    return IDX_OK;
}

/* ---- The proof ---- */

/* Bits that belong to the same tables are an atom: which of them are in error makes no difference. A pattern escapes
 * when every table has more errors in its prefix than its radius; the scheme covers k when none of at most k errors
 * does. The search takes the first table that still lets the pattern through, and tries each atom of its mask for the
 * next error. An atom tried is closed for the later branches, so that no pattern is tried twice. */
struct proof {
    const struct idx_scheme *scheme;
    unsigned atom_count;
    uint64_t atoms[IDX_MAX_BITS];
    unsigned free_bits[IDX_MAX_BITS]; /* how many more errors an atom can have; 0 once it is closed */
    unsigned errors[IDX_MAX_TABLES];  /* of the pattern so far, in each table's prefix */
    uint64_t *steps;                  /* how many may still be taken; when none are left, the answer is no */
};

/* The steps of a proof look at so many tables and atoms at most, which takes up to three seconds. */
#define MAX_LOOKS 500000000

/* Sets the atoms of proof->scheme, by splitting the bits of the fingerprint by each mask, and makes all their bits
 * free. */
static void find_atoms(struct proof *proof) {
    const struct idx_scheme *scheme = proof->scheme;
    proof->atom_count = 1;
    proof->atoms[0] = idxf_low_bits(scheme->bits);
    for (size_t table = 0; table < scheme->table_count; table++) {
        unsigned atoms_before = proof->atom_count;
        for (unsigned i = 0; i < atoms_before; i++) {
            uint64_t inside = proof->atoms[i] & scheme->tables[table].mask;
            if (inside == 0 || inside == proof->atoms[i]) continue;
            proof->atoms[proof->atom_count++] = proof->atoms[i] & ~inside;
            proof->atoms[i] = inside;
        }
    }
    for (unsigned i = 0; i < proof->atom_count; i++)
        proof->free_bits[i] = (unsigned)__builtin_popcountll(proof->atoms[i]);
}

/* Adds `change`, 1 or -1, to the error count of each table whose prefix has atom number `atom`. */
static void change_error_count(struct proof *proof, unsigned atom, int change) {
    for (size_t table = 0; table < proof->scheme->table_count; table++) {
        if (proof->scheme->tables[table].mask & proof->atoms[atom])
            proof->errors[table] = (unsigned)((int)proof->errors[table] + change);
    }
}

/* Returns whether the pattern so far, with up to `errors_left` more errors, can escape every table. Also returns true
 * once the steps are used up. A table that still allows `errors_left` errors can't be escaped. If there is none, the
 * pattern needs one more error in the first table that it does not escape yet. */
static bool can_escape(struct proof *proof, unsigned errors_left) {
    const struct idx_scheme *scheme = proof->scheme;
    size_t first_open = scheme->table_count;
    if (*proof->steps == 0) return true;
    --*proof->steps;
    for (size_t table = scheme->table_count; table-- > 0;) {
        if (proof->errors[table] > scheme->tables[table].radius) continue;
        first_open = table;
        if (scheme->tables[table].radius - proof->errors[table] >= errors_left) return false;
    }
    if (first_open == scheme->table_count) return true;

    unsigned free_bits_before[IDX_MAX_BITS];
    bool is_found = false;
    memcpy(free_bits_before, proof->free_bits, sizeof free_bits_before);
    for (unsigned atom = 0; atom < proof->atom_count && !is_found; atom++) {
        if (proof->free_bits[atom] == 0 || (proof->atoms[atom] & scheme->tables[first_open].mask) == 0) continue;
        proof->free_bits[atom]--;
        change_error_count(proof, atom, 1);
        is_found = can_escape(proof, errors_left - 1);
        change_error_count(proof, atom, -1);
        proof->free_bits[atom] = 0; /* closed until this call ends */
    }
    memcpy(proof->free_bits, free_bits_before, sizeof free_bits_before);
    return is_found;
}

bool idxi_scheme_covers_within(const struct idx_scheme *scheme, unsigned k, uint64_t *steps) {
    struct proof proof = {.scheme = scheme, .steps = steps};
    if (scheme->bits < 1 || scheme->bits > IDX_MAX_BITS || scheme->table_count > IDX_MAX_TABLES) return false;
    find_atoms(&proof);
    *steps -= *steps < proof.atom_count ? *steps : proof.atom_count; /* finding an atom takes about a step */
    return !can_escape(&proof, k);
}

bool idxi_scheme_covers(const struct idx_scheme *scheme, unsigned k) {
    uint64_t steps = MAX_LOOKS / (scheme->table_count + IDX_MAX_BITS);
    return idxi_scheme_covers_within(scheme, k, &steps);
}
