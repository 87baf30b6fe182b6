/* signatures.c: makes signatures, and compares one with many. */
#include "libidx/sets/signatures.h"

#include "format/processor.h"

void idxi_sign(struct idxi_signature *signature, uint32_t set, const uint32_t *members, uint32_t shared) {
    *signature = (struct idxi_signature){.set = set, .shared = shared};
    for (uint32_t i = 0; i < shared; i++)
        signature->words[members[i] % IDXI_SIGNATURE_WORDS] ^= UINT64_C(1) << members[i] / IDXI_SIGNATURE_WORDS % 64;
}

enum idx_status idxi_signed_sets_add(struct idxi_signed_sets *sets, const struct idxi_signature *signature,
                                     struct idx_error *error) {
    IDXI_GROW(sets->list, sets->capacity, sets->count + 1, error);
    sets->list[sets->count++] = *signature;
    return IDX_OK;
}

/* What idxi_signed_sets_find was called with, for its variants below. */
struct finding {
    const struct idxi_signed_sets *sets;
    const struct idxi_signature *signature;
    uint64_t needed;
    struct idxi_signed_match *matches;
    size_t room;
};

/* Is idxi_signed_sets_find, compiled once for each kind of processor below. Writes each match, and counts it only if it
 * shares enough: few do, in no order that a processor could predict. */
IDXF_INLINE size_t find_matches(const struct finding *finding, size_t *at) {
    const struct idxi_signature *a = finding->signature, *list = finding->sets->list;
    const size_t count = finding->sets->count, room = finding->room;
    size_t i = *at, found = 0;
    for (; i < count && found < room; i++) {
        const struct idxi_signature *b = &list[i];
        uint64_t differing = 0;
        for (int j = 0; j < IDXI_SIGNATURE_WORDS; j++) differing += idxf_count_bits(a->words[j] ^ b->words[j]);
        /* each bit that differs stands for a member of one set alone */
        const uint64_t most = ((uint64_t)a->shared + b->shared - differing) / 2;
        finding->matches[found] = (struct idxi_signed_match){b->set, (uint32_t)most};
        found += most >= finding->needed;
    }
    *at = i;
    return found;
}

static size_t find_portable(const struct finding *finding, size_t *at) { return find_matches(finding, at); }

#ifdef IDXF_X86
IDXF_BMI2 static size_t find_bmi2(const struct finding *finding, size_t *at) { return find_matches(finding, at); }
IDXF_AVX512 static size_t find_avx512(const struct finding *finding, size_t *at) { return find_matches(finding, at); }
#endif

size_t idxi_signed_sets_find(const struct idxi_signed_sets *sets, const struct idxi_signature *signature,
                             uint64_t needed, size_t *at, struct idxi_signed_match *matches, size_t room) {
    const struct finding finding = {sets, signature, needed, matches, room};
#ifdef IDXF_X86
    if (idxf_has_avx512()) return find_avx512(&finding, at);
    if (idxf_has_bmi2()) return find_bmi2(&finding, at);
#endif
    return find_portable(&finding, at);
}
