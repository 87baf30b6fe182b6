/* without_text.c: replaces texts.c in a build without libidxtext. */
#include "tools/serve/texts.h"

bool texts_open(struct texts_service *texts, const struct serve_options *options, const struct idx_index *index) {
    (void)index;
    *texts = (struct texts_service){.table = NULL};
    return options->table_path == NULL || text_table_read(&texts->table, options->table_path);
}

void texts_answer(struct request *request) {
    request_fail(request, MHD_HTTP_NOT_IMPLEMENTED, "this idx was built without text support, which needs ICU");
}

void texts_write_document(struct request *request, struct output *file, const char *name) {
    (void)name;
    output_bytes(&request->answer, file->bytes, file->length);
}

bool texts_append_shingle_hashes(const struct span *text, const struct idx_text_shingle_options *shingling,
                                 struct output *hashes, struct problem *problem) {
    (void)text, (void)shingling, (void)hashes;
    return problem_set(problem, "this idx was built without text support, which needs ICU");
}

void texts_close(struct texts_service *texts) { (void)texts; }
