/* resembling.c: answers which texts of an index with sets resemble one. */
#include "tools/serve/resembling.h"

#include "tools/resemblance/texts.h"

bool resembling_begin(struct answers *answers, struct shingling *shingling, struct idx_resembling_options *options) {
    const struct request *request = answers->request;
    char reason[RESEMBLING_REASON];
    if (!resembling_read_recipe(answers->properties, "the index", shingling, reason))
        return request_fail(answers->request, MHD_HTTP_CONFLICT, "%s", reason);
    *options = (struct idx_resembling_options)IDX_RESEMBLING_OPTIONS_INIT;
    options->threshold = request->resemble > 0 ? request->resemble : answers->properties->threshold;
    options->limit = request->limit;
    return true;
}

void resembling_put(struct answers *answers, const struct idx_resembling_lists *lists, size_t text) {
    struct output *output = &answers->request->answer;
    int64_t begin = lists->offsets[text], end = lists->offsets[text + 1];
    output_text(output, "\"resembling\":[");
    for (int64_t i = begin; i < end; i++) {
        output_text(output, i == begin ? "{" : ",{");
        put_resembling_document(output, lists, &lists->documents[i], answers->properties->id_type, true);
        output_byte(output, '}');
    }
    output_byte(output, ']');
    answers->queries++;
    answers->matches += (uint64_t)(end - begin);
}

void resembling_answer_set(struct answers *answers, const struct idx_set *set,
                           const struct idx_resembling_options *options) {
    struct request *request = answers->request;
    struct idx_resembling_lists lists;
    struct idx_error error;
    if (idx_list_resembling(answers->index, set, 1, options, &lists, &error) != IDX_OK) {
        request_fail_by_error(request, &error);
        return;
    }
    output_format(&request->answer, "{\"features\":%zu,\"missed\":%.2g,", set->count,
                  resembling_miss_probability(answers->properties->sketch, options->threshold));
    resembling_put(answers, &lists, 0);
    output_text(&request->answer, "}\n");
    idx_resembling_lists_close(&lists);
}
