/* probing.h: which tables a query probes, and with which radius. */
#ifndef IDX_LIBIDX_PROBING_H
#define IDX_LIBIDX_PROBING_H

#include <idx.h>

#include "libidx/base/error.h"

/* A table that is probed. */
struct idxi_probed {
    uint64_t mask;
    unsigned radius; /* up to the scheme's */
    uint32_t table;  /* its number in the scheme */
};

/* The tables that together find every error pattern of a distance. */
struct idxi_probing {
    size_t count;
    struct idxi_probed *tables;
};

/* Makes the probings for the distances 0 to k of a scheme that covers k: for k all its tables, for less as many as
 * suffice. The caller frees *probings by idxi_probings_free. */
enum idx_status idxi_probings_make(struct idxi_probing **probings, const struct idx_scheme *scheme, unsigned k,
                                   struct idx_error *error);

/* Whether a table lets an error pattern through. Few bits are cleared faster than counted. */
static inline bool idxi_lets_through(const struct idxi_probed *table, uint64_t errors) {
    errors &= table->mask;
    for (unsigned i = 0; i < table->radius; i++) errors &= errors - 1;
    return errors == 0;
}

/* Whether table `order` of the probing is the first that lets an error pattern through, and so reports it. */
static inline bool idxi_owns(const struct idxi_probing *probing, size_t order, uint64_t errors) {
    for (size_t i = 0; i < order; i++) {
        if (idxi_lets_through(&probing->tables[i], errors)) return false;
    }
    return idxi_lets_through(&probing->tables[order], errors);
}

void idxi_probings_free(struct idxi_probing *probings);

#endif
