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
    struct idxi_signature_group *groups; /* the last one may not be full */
    size_t count;                        /* sets */
    size_t capacity;                     /* groups */
};

/* A set that may share enough members. */
struct idxi_signed_match {
    uint32_t set;
    uint32_t max_shared; /* it shares so many members at most */
};

/* Sets *signature to that of a set, from the low 32 bits of `member_count` members. `set` is what the caller calls it.
 */
void idxi_sign_set(struct idxi_signature *signature, uint32_t set, const uint32_t *members, uint32_t member_count);

/* Adds a signature. Errors: IDX_OUT_OF_MEMORY. */
enum idx_status idxi_signed_sets_add(struct idxi_signed_sets *sets, const struct idxi_signature *signature,
                                     struct idx_error *error);

/* Writes to `matches` up to `max_matches` sets that may share `needed` members with the set of a signature, and returns
 * how many. Looks at the sets from number *next_set on, which is 0 at first, and moves *next_set past the last one that
 * it looked at. Call it again until *next_set is not below sets->count. `max_matches` must be IDXI_SIGNED_TOGETHER or
 * more. */
size_t idxi_signed_sets_find(const struct idxi_signed_sets *sets, const struct idxi_signature *signature,
                             uint64_t needed, size_t *next_set, struct idxi_signed_match *matches, size_t max_matches);

#endif
