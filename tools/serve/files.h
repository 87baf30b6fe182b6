/* files.h: answers with documents that are files below one folder. */
#ifndef IDX_TOOLS_SERVE_FILES_H
#define IDX_TOOLS_SERVE_FILES_H

#include "tools/serve/request.h"

/* Opens the folder and returns its descriptor, or -1 after a complaint. */
int files_open_folder(const char *path);

/* Answers GET /document?id=ID with the text of the file that the ID names. */
void files_answer(struct request *request);

#endif
