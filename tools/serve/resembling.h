/* resembling.h: looks texts up by resemblance, in an index with sets. */
#ifndef IDX_TOOLS_SERVE_RESEMBLING_H
#define IDX_TOOLS_SERVE_RESEMBLING_H

#include "tools/documents/text_reader.h"
#include "tools/serve/answers.h"

/* Sets, by the index and the request, what shingles are and what is asked of each text. Returns false where the request
 * failed, as it does if the index has no sets. */
bool resembling_begin(struct answers *answers, struct shingling *shingling, struct idx_resembling_options *options);

/* Writes "resembling":[…], the texts that resemble this one of the lists, and counts it as answered. */
void resembling_put(struct answers *answers, const struct idx_resembling_lists *lists, size_t text);

/* Looks a set up, and writes the object with the texts that resemble it, unless the request fails. */
void resembling_answer_set(struct answers *answers, const struct idx_set *set,
                           const struct idx_resembling_options *options);

#endif
