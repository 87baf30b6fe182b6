/* resembling.h: looks texts up by resemblance. */
#ifndef IDX_TOOLS_SERVE_RESEMBLING_H
#define IDX_TOOLS_SERVE_RESEMBLING_H

#include "tools/serve/answers.h"
#include "tools/shared/command.h"

struct sets_file;

/* Opens the file of sets at `path`, for an index. Leaves *file NULL where there is no file. */
bool sets_file_open(struct sets_file **file, const char *path, const struct idx_index *index);

/* NULL is accepted. */
void sets_file_close(struct sets_file *file);

/* Returns whether the index answers by resemblance, and how. If not, the request failed. */
bool resembling_check(struct answers *answers, struct sketch *sketch);

/* Answers with the documents that resemble the text whose set this is. */
void resembling_put(struct answers *answers, const struct idx_set *set, const struct sketch *sketch);

#endif
