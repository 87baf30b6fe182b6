/* worker.c: fingerprints documents, or makes of them what reading.c asks for, a batch at a time. */
#include "tools/documents/worker.h"

#include <stdlib.h>

/* ---- The worker ---- */

/* Opens the worker's text reader. Returns false, and sets *error without a complaint, if that fails; then the reader
 * has nothing to close. */
static bool open_reader(struct worker *worker, struct idx_error *error) {
    const struct reading_rules *rules = worker->rules;
    const char *recipe = rules->format == FORMAT_FEATURES ? NULL : rules->recipe;
    const struct idx_text_table *table = rules->train == NULL ? worker->table : NULL;
    return text_reader_try_open(&worker->reader, recipe, table, rules->bits, &rules->extract, error);
}

bool worker_open(struct worker *worker, struct idx_error *error) {
    worker->parts = worker->unquoted = (struct output)OUTPUT_BUFFER;
    return open_reader(worker, error);
}

void worker_close(struct worker *worker) {
    text_reader_close(&worker->reader);
    free(worker->parts.bytes);
    free(worker->unquoted.bytes);
}

/* ---- Documents ---- */

/* Appends a line for each fingerprint of a document, all with its ID. */
static void append_fingerprint_lines(struct output *lines, unsigned bits, const struct text_result *result) {
    for (size_t i = 0; i < result->count; i++) {
        output_fingerprint(lines, NOTATION_HEX, bits, result->fingerprints[i]);
        output_byte(lines, '\t');
        output_id(lines, result->id.bytes, result->id.length);
        output_byte(lines, '\n');
    }
}

/* Appends zeros up to the next whole number of 64 bits, so that numbers can be read where they are. */
static void pad_to_64_bits(struct output *output) {
    static const char zeros[sizeof(uint64_t)];
    output_bytes(output, zeros, (sizeof zeros - output->length % sizeof zeros) % sizeof zeros);
}

bool makes_sketches(const struct reading_rules *rules) {
    return rules->format != FORMAT_FEATURES && rules->recipe != NULL &&
           recipe_read(rules->recipe).method == IDX_RECIPE_MINHASH;
}

/* Sets result->feature_count to how many features a text has, and result->has_few to whether these are fewer than
 * min_features; if that is 0, to whether they are fewer than FEW_FEATURES, which counts for SimHash alone. Returns
 * whether the text has at least min_features. */
static bool note_feature_count(const struct reading_rules *rules, struct document_result *result,
                               const struct text_result *text) {
    uint64_t few_limit = text->signature.bytes == NULL && !makes_sketches(rules) ? FEW_FEATURES : 0;
    result->feature_count = text->features;
    result->has_few = text->features < (rules->min_features > 0 ? rules->min_features : few_limit);
    return text->features >= rules->min_features;
}

/* Appends the shingles of a whole text to `output`. Returns false, with result->raw.bad set, if that fails. */
static bool append_shingles(const struct reading_rules *rules, struct document_result *result, const struct span *body,
                            struct output *output) {
    size_t length_before = output->length;
    if (!text_list_shingles(body, &rules->shingling, output, &result->raw.bad)) return false;
    result->made.shingle_count = (output->length - length_before) / sizeof(uint64_t);
    result->has_few = result->made.shingle_count == 0;
    return true;
}

/* Appends the shingles of part `number` of a text, counted from 1, to `output`, and a struct made_part to the worker's
 * `parts`. If the part has no words, or fewer than min_words, only adds their number to other_words. Returns false,
 * with result->raw.bad set, if that fails. */
static bool append_part_shingles(struct worker *worker, struct document_result *result, struct span part,
                                 uint32_t number, struct output *output) {
    struct made *made = &result->made;
    const size_t length_before = output->length;
    uint64_t word_count;
    const struct idx_text_shingle_options *shingling = &worker->rules->shingling;
    const uint32_t byte_count = (uint32_t)part.length; /* With the marks of quotation, which are removed below. */
    if (!parts_unquote(&part, &worker->unquoted)) return bad_set_memory(&result->raw.bad);
    if (!text_list_shingles(&part, shingling, output, &result->raw.bad)) return false;
    const uint32_t shingle_count = (uint32_t)((output->length - length_before) / sizeof(uint64_t));
    const bool counted = text_count_words(&part, shingling, shingle_count, &word_count, &result->raw.bad);
    if (!counted || word_count < worker->rules->min_words || word_count == 0) {
        output->length = length_before;
        made->other_words += counted ? word_count : 0;
        return counted;
    }
    const struct made_part record = {number, byte_count, (uint32_t)word_count, shingle_count};
    output_bytes(&worker->parts, &record, sizeof record);
    made->shingle_count += shingle_count;
    made->part_count++;
    return true;
}

/* Appends the shingles of all parts of a text to `output`, and behind them a struct made_part for each. If that fails,
 * appends nothing, sets result->raw.bad, and returns false. */
static bool append_all_parts(struct worker *worker, struct document_result *result, const struct span *body,
                             struct output *output) {
    const struct raw_document *raw = &result->raw;
    struct parts parts = {.rest = *body, .by = worker->rules->by};
    struct span part = {raw->bytes.bytes, raw->bytes.length};
    bool is_escaped, ok = true;
    /* The parts of texts in UTF-16 could not be cut out of their files later, so these texts are bad. */
    if (raw->unit == UNIT_FILE && raw->format == FORMAT_PLAIN &&
        !parts_find_text(&worker->rules->extract, raw->format, part, &part, &is_escaped, &result->raw.bad))
        return false;
    struct made *made = &result->made;
    worker->parts.length = 0;
    for (uint32_t number = 1; ok && parts_cut_next(&parts, &part); number++)
        ok = append_part_shingles(worker, result, part, number, output);
    if (ok && worker->parts.error != 0) ok = bad_set_memory(&result->raw.bad);
    if (!ok) {
        output->length -= made->shingle_count * sizeof(uint64_t);
        made->shingle_count = made->part_count = 0;
        return false;
    }
    output_bytes(output, worker->parts.bytes, worker->parts.length);
    result->has_few = made->part_count == 0 && made->other_words == 0;
    return true;
}

/* Appends the fingerprints of a document and its ID to `output`, for MAKES_FINGERPRINTS: shingle_count becomes the
 * number of fingerprints. Appends nothing if the document has too few features, or is bad, which sets
 * result->raw.bad. */
static void append_fingerprints(struct worker *worker, struct document_result *result, struct output *output) {
    struct text_result text;
    if (!text_reader_fingerprint(&worker->reader, &result->raw, &text, &result->raw.bad) ||
        !note_feature_count(worker->rules, result, &text))
        return;
    output_bytes(output, text.fingerprints, text.count * sizeof *text.fingerprints);
    output_bytes(output, text.id.bytes, text.id.length);
    result->made.shingle_count = text.count;
    result->made.id.length = text.id.length;
}

/* Appends the shingles, the ID and the text of a document to `output`, as far as they are asked for, in the order in
 * which batch_find_made finds them. Of a bad document, appends the ID alone, and sets result->raw.bad. */
static void append_shingles_or_body(struct worker *worker, struct document_result *result, struct output *output) {
    const struct reading_rules *rules = worker->rules;
    struct raw_document *raw = &result->raw;
    struct made *made = &result->made;
    struct span id = {NULL, 0}, body = {NULL, 0};
    result->feature_count = UINT64_MAX; /* Where there are no fingerprints, none is reported as having few. */
    bool ok = text_reader_extract_text(&worker->reader, raw, &id, &body, &raw->bad);
    if (ok && rules->makes == MAKES_SHINGLES)
        ok = rules->by == PARTS_DOCUMENT ? append_shingles(rules, result, &body, output)
                                         : append_all_parts(worker, result, &body, output);
    made->id.length = id.length;
    output_bytes(output, id.bytes, id.length);
    if (!ok || rules->makes != MAKES_BODY) return;
    made->body_bytes = body.length;
    made->body.length = printable_find_cut(body.bytes, body.length, READING_MAX_BODY_BYTES);
    output_bytes(output, body.bytes, made->body.length);
}

/* Appends what the rules ask for to `output`: lines, fingerprints, shingles or the text; or counts the document in the
 * table. Sets result->raw.bad if the document turns out to be bad. Does nothing for one that is bad already, or for a
 * WARC record without a document. */
static void process_document(struct worker *worker, struct document_result *result, struct output *output) {
    const struct reading_rules *rules = worker->rules;
    struct raw_document *raw = &result->raw;
    struct text_result text;
    if (raw->bad.kind != BAD_NONE || raw->format == FORMAT_AUTO) return;
    if (rules->train != NULL) {
        text_table_add(worker->table, &worker->reader, raw, &raw->bad);
        result->feature_count = UINT64_MAX; /* Features are not counted here, and none is reported as having few. */
    } else if (rules->makes == MAKES_FINGERPRINTS) {
        append_fingerprints(worker, result, output);
    } else if (rules->makes != MAKES_LINES) {
        append_shingles_or_body(worker, result, output);
    } else if (text_reader_fingerprint(&worker->reader, raw, &text, &raw->bad) &&
               note_feature_count(rules, result, &text)) {
        append_fingerprint_lines(output, rules->bits, &text);
    }
}

/* ---- Batches ---- */

/* Returns whether fingerprinting a document of `bytes` bytes may need more than a worker's share of the memory. */
static bool may_exceed_share(const struct reading_rules *rules, uint64_t bytes) {
    return bytes * READING_BYTES_PER_BYTE > rules->memory_bytes / rules->threads;
}

/* Returns how many bytes a document may have in any form: what it has now, or if it is compressed, extract.max_text. */
static uint64_t find_max_bytes(const struct reading_rules *rules, const struct raw_document *raw) {
    return raw->encoding[0] != '\0' ? rules->extract.max_text : raw->bytes.length;
}

/* Processes a large document while no other worker does, and frees the memory that the worker would keep: the reader is
 * opened anew. Sets raw->is_large if it may have needed more than a worker's share. */
static void process_large_document(struct worker *worker, struct document_result *result, struct output *output) {
    struct raw_document *raw = &result->raw;
    struct idx_error error;
    pthread_mutex_lock(worker->large_mutex);
    process_document(worker, result, output);
    size_t decompressed = raw->encoding[0] != '\0' ? worker->reader.extractor.decompressed.length : 0;
    raw->is_large = may_exceed_share(worker->rules, raw->bytes.length) || may_exceed_share(worker->rules, decompressed);
    text_reader_close(&worker->reader);
    if (!open_reader(worker, &error)) bad_set_memory(&raw->bad);
    pthread_mutex_unlock(worker->large_mutex);
}

bool worker_process_batch(struct worker *worker, struct document_batch *batch) {
    bool ok = true;
    for (size_t i = 0; i < batch->count; i++) {
        struct document_result *result = &batch->results[i];
        struct raw_document *raw = &result->raw;
        if (worker->rules->makes != MAKES_LINES) pad_to_64_bits(&batch->output);
        result->begin = batch->output.length;
        if (ok && may_exceed_share(worker->rules, find_max_bytes(worker->rules, raw)))
            process_large_document(worker, result, &batch->output);
        else if (ok)
            process_document(worker, result, &batch->output);
        if (batch->output.error != 0) bad_set_memory(&raw->bad);
        ok = ok && raw->bad.kind != BAD_MEMORY;
        if (!ok) batch->output.length = result->begin; /* Drops what was made before memory ran out. */
        result->end = batch->output.length;
        free(raw->bytes.bytes);
        raw->bytes = (struct output)OUTPUT_BUFFER;
    }
    return ok;
}

const struct made *batch_find_made(const struct document_batch *batch, struct document_result *result) {
    struct made *made = &result->made;
    const char *bytes = batch->output.bytes == NULL ? "" : batch->output.bytes + result->begin;
    /* Nothing was appended, so all counts must be 0, whatever was set before memory ran out. */
    if (result->begin == result->end) *made = (struct made){.id.bytes = bytes};
    made->raw = &result->raw;
    made->shingles = (const uint64_t *)(const void *)bytes;
    made->parts = (const struct made_part *)(const void *)(made->shingles + made->shingle_count);
    made->id.bytes = (const char *)(made->parts + made->part_count);
    made->body.bytes = made->id.bytes + made->id.length;
    return made;
}
