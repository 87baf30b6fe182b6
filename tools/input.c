/* input.c: what `idx build` reads: the documents of all inputs, one after the other. */
#include "tools/input.h"

#include <idx.h>

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

void input_complain(const struct input *input, const char *sentence) {
    if (input->format == INPUT_TSV)
        complain("%s:%" PRIu64 ": %s", input->reader.name, input->reader.line, sentence);
    else
        complain("%s, row %" PRIu64 " from 0: %s", input->reader.name, input->row - 1, sentence);
}

static enum input_status from_reader(enum reader_status status) {
    return status == READER_INTERRUPTED ? INPUT_INTERRUPTED : status == READER_END ? INPUT_END : INPUT_FAILED;
}

static enum input_status fail(const struct input *input, const char *sentence) {
    complain("%s: %s", input->reader.name, sentence);
    return INPUT_FAILED;
}

/* ---- TSV ---- */

static bool is_recipe(const struct tsv_record *record) {
    if (record->id_length == 0 || record->id_length > IDX_MAX_RECIPE_BYTES) return false;
    for (size_t i = 0; i < record->id_length; i++) {
        if ((unsigned char)record->id[i] < ' ' || record->id[i] == 0x7f) return false;
    }
    return true;
}

/* The first recipe line, before any fingerprint, settles the recipe; every other one has to say the same. */
static bool take_recipe(struct input *input, const struct tsv_record *record) {
    if (input->recipe != NULL && input->own_recipe == NULL) return true; /* --recipe */
    if (!is_recipe(record)) {
        input_complain(input, "the recipe is empty, too long, or has control characters; mend it, or give --recipe");
        return false;
    }
    if (!input->recipe_settled) {
        input->recipe = input->own_recipe = strndup(record->id, record->id_length);
        input->recipe_settled = true;
        if (input->own_recipe == NULL) input_complain(input, "out of memory");
        return input->own_recipe != NULL;
    }
    if (input->recipe != NULL && strlen(input->recipe) == record->id_length &&
        memcmp(input->recipe, record->id, record->id_length) == 0)
        return true;
    input_complain(input,
                   input->recipe == NULL
                       ? "a recipe, after fingerprints of which none is known; --recipe says what holds for all"
                       : "another recipe than that of the fingerprints before; --recipe says what holds for all");
    return false;
}

static bool skip_bad_line(struct input *input, const struct problem *problem) {
    if (!input->skip_bad_lines || input->skipped == 0) input_complain(input, problem->sentence);
    if (input->skip_bad_lines) input->skipped++;
    return input->skip_bad_lines;
}

static enum input_status next_of_tsv(struct input *input, struct tsv_record *record) {
    for (;;) {
        const char *line;
        size_t length;
        struct problem problem;
        enum reader_status status = reader_line(&input->reader, true, &line, &length);
        if (status != READER_OK) return from_reader(status);
        switch (tsv_parse(&input->rules, line, length, record, &problem)) {
            case TSV_RECORD: input->recipe_settled = true; return INPUT_DOCUMENT;
            case TSV_COMMENT: break;
            case TSV_RECIPE:
                if (!take_recipe(input, record)) return INPUT_FAILED;
                break;
            case TSV_BAD:
                if (!skip_bad_line(input, &problem)) return INPUT_FAILED;
                break;
        }
    }
}

/* ---- u64 and npy ---- */

static uint64_t load_row(const struct input *input, const char *bytes) {
    uint64_t value = 0;
    for (unsigned i = 0; i < 8; i++) {
        unsigned at = input->array.big_endian ? i : 7 - i;
        value = value << 8 | (unsigned char)bytes[at];
    }
    return value;
}

static enum input_status next_row(struct input *input, struct tsv_record *record) {
    const char *bytes;
    size_t got;
    enum reader_status status = reader_bytes(&input->reader, sizeof(uint64_t), &bytes, &got);
    if (status == READER_END && input->format == INPUT_NPY && input->row < input->array.rows)
        return fail(input, "it ends before its last row; the file is incomplete");
    if (status != READER_OK) return from_reader(status);
    if (input->format == INPUT_NPY && input->row == input->array.rows)
        return fail(input, "it goes on after the last row that its header counts");
    if (got < sizeof(uint64_t)) return fail(input, "its length is not a multiple of 8 bytes, as that of u64 rows is");
    memset(record, 0, sizeof *record);
    record->fingerprint = load_row(input, bytes);
    record->number = input->documents;
    input->row++;
    if (input->rules.bits == 64 || record->fingerprint >> input->rules.bits == 0) return INPUT_DOCUMENT;
    input_complain(input, "the fingerprint has more bits than --bits says");
    return INPUT_FAILED;
}

static enum input_status start_npy(struct input *input) {
    const char *bytes = NULL;
    size_t got = 0;
    struct npy_prefix prefix = {0, 0};
    struct problem problem;
    enum reader_status status = reader_bytes(&input->reader, NPY_PREFIX_BYTES, &bytes, &got);
    if (status != READER_OK && status != READER_END) return from_reader(status);
    if (!npy_read_prefix(bytes, got, &prefix, &problem)) return fail(input, problem.sentence);
    reader_give_back(&input->reader, NPY_PREFIX_BYTES - prefix.header_offset);
    status = reader_bytes(&input->reader, prefix.header_length, &bytes, &got);
    if (status != READER_OK && status != READER_END) return from_reader(status);
    if (got < prefix.header_length) return fail(input, "it ends within its header; the file is incomplete");
    if (!npy_read_header(bytes, got, &input->array, &problem)) return fail(input, problem.sentence);
    return INPUT_DOCUMENT;
}

/* ---- All inputs ---- */

static enum input_status open_next(struct input *input) {
    size_t count = input->paths.count == 0 ? 1 : input->paths.count;
    reader_close(&input->reader);
    if (input->path == count) return INPUT_END;
    const char *path = input->paths.count == 0 ? "-" : input->paths.values[input->path];
    input->path++;
    input->row = 0;
    input->array = (struct npy_array){0, false};
    if (!reader_open(&input->reader, path)) return INPUT_FAILED;
    return input->format == INPUT_NPY ? start_npy(input) : INPUT_DOCUMENT;
}

static enum input_status read_next(struct input *input, struct tsv_record *record) {
    enum input_status status = input->path == 0 ? open_next(input) : INPUT_DOCUMENT;
    while (status == INPUT_DOCUMENT) {
        status = input->format == INPUT_TSV ? next_of_tsv(input, record) : next_row(input, record);
        if (status != INPUT_END) break;
        status = open_next(input);
    }
    if (status == INPUT_DOCUMENT) input->documents++;
    return status;
}

enum input_status input_find_recipe(struct input *input) {
    input->recipe_settled = input->recipe != NULL;
    if (input->recipe != NULL || input->format != INPUT_TSV) return INPUT_DOCUMENT;
    input->first_status = read_next(input, &input->first);
    input->ahead = true;
    return input->first_status;
}

enum input_status input_next(struct input *input, struct tsv_record *record) {
    if (!input->ahead) return read_next(input, record);
    input->ahead = false;
    *record = input->first;
    return input->first_status;
}

void input_free(struct input *input) {
    reader_free(&input->reader);
    free(input->own_recipe);
}
