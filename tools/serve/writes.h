/* writes.h: adds and removes documents, in the one thread that has the index's writer. */
#ifndef IDX_TOOLS_SERVE_WRITES_H
#define IDX_TOOLS_SERVE_WRITES_H

#include "tools/connections/options.h"
#include "tools/serve/request.h"

struct writes {
    const struct serve_options *options;
    struct idx_writer *writer; /* NULL: none is open, as in a service that does not write, or after an I/O error. */
};

/* Opens the writer if the service is to write. The caller calls writes_close even if this fails. */
bool writes_open(struct writes *writes, const struct serve_options *options);

/* Answers POST /check-and-add. */
void writes_answer_add(struct request *request);

/* Answers POST /remove. */
void writes_answer_remove(struct request *request);

void writes_close(struct writes *writes);

#endif
