/* text.c: fingerprints of documents, over libidxtext. A build without it has without_text.c in place of this one, and
 * of all that only this one and pipeline.c use. */
#include "tools/text.h"

#include "tools/features.h"

#include <idx_text.h>

const char text_default_recipe[] = IDX_TEXT_DEFAULT_RECIPE;

bool text_open(struct text *text, const char *recipe, unsigned bits, const struct extract_rules *rules) {
    struct idx_error error;
    struct idx_text_options options = IDX_TEXT_OPTIONS_INIT;
    *text = (struct text){.bits = bits};
    extractor_init(&text->extractor, rules);
    options.recipe = recipe;
    if (recipe == NULL || idx_text_open(&text->fingerprinter, &options, &error) == IDX_OK) return true;
    complain("%s", error.sentence);
    return false;
}

static bool fingerprint_fields(struct text *text, const struct fields *fields, struct text_result *result,
                               struct bad *bad) {
    const struct idx_text_field parts[] = {{"body", fields->body.bytes, fields->body.length},
                                           {"title", fields->title.bytes, fields->title.length},
                                           {"description", fields->description.bytes, fields->description.length}};
    /* An empty description is none: the recipe goes by the text then. */
    size_t count = fields->description.length > 0 ? 3 : 2;
    struct idx_text_counts counts;
    struct idx_error error;
    if (idx_text_fingerprints(text->fingerprinter, parts, count, text->bits, result->fingerprints,
                              TEXT_MOST_FINGERPRINTS, &result->count, &counts, &error) != IDX_OK)
        return bad_set(bad, BAD_LONG, "%s", error.sentence);
    result->features = counts.features;
    /* Of segments:N none has words: as other recipes do, one fingerprint 0 stands for that. */
    if (result->count == 0) result->fingerprints[result->count++] = 0;
    return true;
}

bool text_fingerprint(struct text *text, struct raw_document *raw, struct text_result *result, struct bad *bad) {
    struct span lines = {raw->bytes.bytes, raw->bytes.length};
    struct fields fields;
    *result = (struct text_result){.count = 1};
    if (raw->format == FORMAT_FEATURES)
        return features_fingerprint(lines, text->bits, &result->id, result->fingerprints, &result->features, bad);
    if (!extract(&text->extractor, raw, &fields, bad)) return false;
    result->id = fields.id;
    return fingerprint_fields(text, &fields, result, bad);
}

/* What a file's one document came to. */
struct taken {
    struct text *text;
    struct text_result result;
    bool good;
};

static bool take(void *context, struct raw_document *raw) {
    struct taken *taken = context;
    taken->good = raw->bad.kind == BAD_NONE && text_fingerprint(taken->text, raw, &taken->result, &raw->bad);
    if (!taken->good) complain("%s: %s", raw->place, raw->bad.problem.sentence);
    raw_document_free(raw);
    return taken->good;
}

bool text_fingerprint_file(struct text *text, const char *path, uint64_t *fingerprint) {
    struct taken taken = {.text = text};
    struct documents documents = {.take = take, .context = &taken};
    documents_read_one(&documents, path);
    documents_free(&documents);
    *fingerprint = taken.result.fingerprints[0];
    return taken.good;
}

void text_close(struct text *text) {
    idx_text_close(text->fingerprinter);
    extractor_free(&text->extractor);
}
