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
    uint32_t most; /* it shares so many members at most */
};

/* Makes the signature of members, by their low 32 bits. */
void idxi_sign(struct idxi_signature *signature, uint32_t set, const uint32_t *members, uint32_t shared);

/* Adds a signature. Errors: IDX_OUT_OF_MEMORY. */
enum idx_status idxi_signed_sets_add(struct idxi_signed_sets *sets, const struct idxi_signature *signature,
                                     struct idx_error *error);

/* Looks from the set at *at on, which is 0 or what an earlier call set, for up to `room` sets, IDXI_SIGNED_TOGETHER or
 * more, that may share `needed` members with that of a signature, and moves *at past the last one that was looked at.
 * Returns how many it found. */
size_t idxi_signed_sets_find(const struct idxi_signed_sets *sets, const struct idxi_signature *signature,
                             uint64_t needed, size_t *at, struct idxi_signed_match *matches, size_t room);

#endif
