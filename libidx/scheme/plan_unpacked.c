/* plan_unpacked.c: what unpacking is expected to take. */
#include "libidx/base/base.h"
#include "libidx/scheme/scheme.h"
#include "libidx/segment/unpacked_layout.h"

#include <idx_planning.h>

enum idx_status idx_plan_unpacked(uint64_t count, unsigned bits, unsigned distance, struct idx_unpacked_plan *plan,
                                  struct idx_error *error) {
    IDXI_TRY(idxi_check_bits_and_k(bits, distance, error));
    if (count >= UINT32_MAX)
        return idxi_fail(error, IDX_LIMIT, NULL,
                         "%llu fingerprints are more than the 2^32 - 2 of a segment that can be unpacked: choose "
                         "another residence, or several indexes",
                         (unsigned long long)count);
    struct idxi_layout layout = idxi_layout_choose(count, bits, distance, UINT64_MAX);
    *plan = (struct idx_unpacked_plan){
        .bytes = (double)layout.bytes,
        .opening_seconds = idxi_layout_estimate_seconds(&layout, count),
        .nanoseconds = layout.nanoseconds,
    };
    return IDX_OK;
}
