/* sets.c: joins and compares sets of hashes. */
#include "libidx/text/resemblance.h"

#include <string.h>

/* ---- Sorting ---- */

enum { SMALL = 48, DIGITS = 256 };

static void sort_small(uint64_t *hashes, size_t count) {
    for (size_t i = 1; i < count; i++) {
        uint64_t hash = hashes[i];
        size_t at = i;
        for (; at > 0 && hashes[at - 1] > hash; at--) hashes[at] = hashes[at - 1];
        hashes[at] = hash;
    }
}

/* Sorts by the byte at `shift`, and then what has the same one by the bytes below it: in place, and in time that
 * is linear, whatever the hashes are. */
static void sort_by_byte(uint64_t *hashes, size_t count, unsigned shift) {
    size_t next[DIGITS], ends[DIGITS] = {0};
    if (count <= SMALL) {
        sort_small(hashes, count);
        return;
    }
    for (size_t i = 0; i < count; i++) ends[hashes[i] >> shift & 0xff]++;
    for (size_t digit = 0, sum = 0; digit < DIGITS; digit++) {
        next[digit] = sum;
        ends[digit] = sum += ends[digit];
    }
    for (size_t digit = 0; digit < DIGITS; digit++) {
        while (next[digit] < ends[digit]) {
            uint64_t hash = hashes[next[digit]];
            size_t own = hash >> shift & 0xff;
            hashes[next[digit]] = hashes[next[own]];
            hashes[next[own]++] = hash;
        }
    }
    for (size_t digit = 0, begin = 0; digit < DIGITS && shift > 0; begin = ends[digit++])
        sort_by_byte(hashes + begin, ends[digit] - begin, shift - 8);
}

size_t idxt_make_set(uint64_t *hashes, size_t count) {
    size_t distinct = 0;
    sort_by_byte(hashes, count, 56);
    for (size_t i = 0; i < count; i++)
        if (i == 0 || hashes[i] != hashes[i - 1]) hashes[distinct++] = hashes[i];
    return distinct;
}

bool idxt_is_set(const uint64_t *hashes, size_t count) {
    for (size_t i = 1; i < count; i++)
        if (hashes[i - 1] >= hashes[i]) return false;
    return true;
}

/* ---- Comparing ---- */

size_t idxt_count_shared(const uint64_t *a, size_t a_count, const uint64_t *b, size_t b_count) {
    size_t shared = 0;
    for (size_t i = 0, j = 0; i < a_count && j < b_count;) {
        uint64_t x = a[i], y = b[j];
        shared += x == y;
        i += x <= y;
        j += y <= x;
    }
    return shared;
}

bool idxt_share(const uint64_t *a, size_t a_count, const uint64_t *b, size_t b_count, uint64_t needed) {
    size_t i = 0, j = 0;
    uint64_t shared = 0;
    while (shared < needed) {
        size_t left = a_count - i < b_count - j ? a_count - i : b_count - j;
        if (shared + left < needed) return false;
        uint64_t x = a[i], y = b[j];
        shared += x == y;
        i += x <= y;
        j += y <= x;
    }
    return true;
}
