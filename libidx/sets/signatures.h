/* signatures.h: 512 bits for each set, by which a set is compared with all others of one size in some nanoseconds each
 * (Sandes and others, Information Systems 2020). Each bit is the parity of the members that it stands for, so two
 * signatures differ in no more bits than members are in one of the two sets alone. */
#ifndef IDX_LIBIDX_SIGNATURES_H
#define IDX_LIBIDX_SIGNATURES_H

#include "libidx/base/base.h"

#define IDXI_SIGNATURE_WORDS 8

struct idxi_signature {
    uint64_t words[IDXI_SIGNATURE_WORDS];
    uint32_t set;    /* what the caller calls the set */
    uint32_t shared; /* members that the signature is made of */
};

/* Signatures that are compared together, a word of all of them at a time. */
#define IDXI_SIGNED_TOGETHER 8

struct idxi_signature_group {
    uint64_t words[IDXI_SIGNATURE_WORDS][IDXI_SIGNED_TOGETHER];
    uint32_t sets[IDXI_SIGNED_TOGETHER], shared[IDXI_SIGNED_TOGETHER];
};

/* Sets that are looked through together. Zeroed, there are none. */
struct idxi_signed_sets {
    struct idxi_signature_group *groups; /* the last one may have room left */
    size_t count;                        /* sets */
    size_t capacity;                     /* groups */
};

/* A set that may share enough. */
struct idxi_signed_match {
    uint32_t set;
    uint32_t max_shared; /* it shares so many members at most */
};

/* Makes the signature of a set from the low 32 bits of `member_count` members. */
void idxi_sign(struct idxi_signature *signature, uint32_t set, const uint32_t *members, uint32_t member_count);

/* Adds a signature. Errors: IDX_OUT_OF_MEMORY. */
enum idx_status idxi_signed_sets_add(struct idxi_signed_sets *sets, const struct idxi_signature *signature,
                                     struct idx_error *error);

/* Looks from set number *next_set on, which is 0 or what an earlier call left there, for up to `room` sets that may
 * share `needed` members with the set of a signature. `room` is IDXI_SIGNED_TOGETHER or more. Moves *next_set past the
 * last set that was looked at. Returns how many sets it found; the search is over once *next_set is not below
 * sets->count. */
size_t idxi_signed_sets_find(const struct idxi_signed_sets *sets, const struct idxi_signature *signature,
                             uint64_t needed, size_t *next_set, struct idxi_signed_match *matches, size_t room);

#endif
