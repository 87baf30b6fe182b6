/* files.h: answers with the text of a file below the folder of the documents. */
#ifndef IDX_TOOLS_SERVE_FILES_H
#define IDX_TOOLS_SERVE_FILES_H

#include "tools/serve/service.h"

/* Answers GET /document?id=ID with the text of the file that the ID names, below the folder of the documents.
 * files_open_folder returns the descriptor of that folder, or -1 if it fails. */
void files_answer(struct request *request);
int files_open_folder(const char *path);

/* Appends the file that an ID names to `bytes`. Returns false if there is none, or it can't be read or is too large. */
bool files_read(const struct service *service, const char *id, struct output *bytes);

#endif
