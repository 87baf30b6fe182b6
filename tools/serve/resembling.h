/* resembling.h: looks texts up by resemblance. */
#ifndef IDX_TOOLS_SERVE_RESEMBLING_H
#define IDX_TOOLS_SERVE_RESEMBLING_H

#include "tools/serve/answers.h"
#include "tools/shared/command.h"

struct sets_file;

/* Opens the file of sets at `path`, for an index. *file is NULL before, and stays so where there is no file. The caller
 * closes it even if the result is false. */
bool sets_file_open(struct sets_file **file, const char *path, const struct idx_index *index);

/* NULL is accepted. */
void sets_file_close(struct sets_file *file);

/* Reads from the recipe of the index how it answers by resemblance. Returns false where the request failed, as it does
 * if the index has no sketches or has others than the sets of --documents. */
bool resembling_read_sketch(struct answers *answers, struct sketch *sketch);

/* Looks the set of a text up, and writes the documents that resemble the text, unless the request fails. */
void resembling_answer_set(struct answers *answers, const struct idx_set *set, const struct sketch *sketch);

#endif
