/* sample.h: what is beyond the distance of an index: how near to others some of its fingerprints are, by a small index
 * of these that is built for a larger distance. */
#ifndef IDX_TOOLS_SAMPLE_H
#define IDX_TOOLS_SAMPLE_H

#include "tools/report/findings.h"

/* Mixes the bits of a value, so that equal ones are equal and others seem random. */
uint64_t sample_mix(uint64_t value);

/* Counts fingerprints and their bits, and what is beyond k, by an index in the folder for temporary files. False after
 * an error, or with status IDX_OK where a signal was noted, or after a complaint. */
bool sample_far(struct findings *findings, const struct idx_index *index, const char *folder, unsigned threads,
                struct idx_error *error);

#endif
