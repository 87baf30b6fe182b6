/* files.h: answers with the text of a file below the folder of the documents. */
#ifndef IDX_TOOLS_SERVE_FILES_H
#define IDX_TOOLS_SERVE_FILES_H

#include "tools/serve/service.h"

/* Answers GET /document?id=ID with the text of the file that the ID names, below the folder of the documents, or fails
 * the request: with status 404 if the service shows no documents or has none of this name, 422 if the file has too many
 * bytes or no text can be made of it, 503 if memory ran out, or 500 if it can't be read. Finishes the answer. */
void files_answer_document(struct request *request);

/* Opens the folder of the documents. Returns a descriptor, which the caller closes, or -1 after a complaint. */
int files_open_folder(const char *path);

#endif
