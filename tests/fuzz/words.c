/* words.c: fuzzes the words and shingles by which texts are compared. An input is: how wide shingles are and of which
 * unit, then the text. There are no more of them than idx_text.h says, in the order and at the places that it says, and
 * a text that is normalised has the same. */
#include <idx_text.h>

#include "libidx/text/segmenter.h"
#include "tests/fuzz/fuzz.h"

/* The words of a text so far. */
struct visited {
    size_t length, count, begin, end;
};

static bool take_word(void *context, const struct idx_text_word *word) {
    struct visited *visited = context;
    CHECK(word->begin < word->end && word->end <= visited->length);
    CHECK(word->begin >= visited->begin && word->end >= visited->end);
    *visited = (struct visited){visited->length, visited->count + 1, word->begin, word->end};
    return true;
}

/* Makes the shingles of a text in just the room that they need. Returns that. */
static size_t make_shingles(const uint8_t *text, size_t length, const struct idx_text_shingle_options *options) {
    size_t room, count;
    enum idx_status status = idx_text_shingles(text, length, options, NULL, 0, &room, NULL);
    CHECK(status == (room == 0 ? IDX_OK : IDX_INVALID_ARGUMENT));
    CHECK(room <= (options->unit == IDX_TEXT_WORDS ? IDX_TEXT_MAX_WORDS(length) : IDX_TEXT_MAX_CHARACTERS(length)));
    uint64_t *hashes = malloc(room * sizeof *hashes + 1);
    CHECK(hashes != NULL);
    CHECK(idx_text_shingles(text, length, options, hashes, room, &count, NULL) == IDX_OK);
    CHECK(count <= room);
    for (size_t i = 1; i < count; i++) CHECK(hashes[i - 1] < hashes[i]);
    free(hashes);
    return room;
}

/* Normalises a text as recipes of version 2 do, since NFKC case folding alone may put the letter that U+0345 folds to
 * in front of marks. The caller frees what is returned. */
static char *normalize(const uint8_t *text, size_t length, size_t *normalized) {
    static struct idxt_segmenter segmenter = {.cut = {.unifies_forms = true}};
    if (segmenter.normalizer == NULL) CHECK(idxt_segmenter_open(&segmenter) == U_ZERO_ERROR);
    CHECK(idxt_segmenter_normalize_keeping_marks(&segmenter, (const char *)text, length) == U_ZERO_ERROR);
    struct idxt_span span = {segmenter.units, segmenter.unit_length, NULL, 0};
    char *utf8 = malloc(span.length * IDXT_UTF8_PER_UNIT + 1);
    CHECK(utf8 != NULL);
    *normalized = idxt_span_write_utf8(span, utf8);
    return utf8;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    if (size < 1) return 0;
    struct idx_text_shingle_options options = IDX_TEXT_SHINGLE_OPTIONS_INIT;
    options.width = 1 + data[0] % IDX_TEXT_MAX_SHINGLE_WIDTH;
    options.unit = data[0] < 128 ? IDX_TEXT_WORDS : IDX_TEXT_CHARACTERS;
    size_t length = size - 1, normalized;
    uint8_t *text = copy_exactly(data + 1, length);
    struct visited visited = {length, 0, 0, 0};
    CHECK(idx_text_visit_words(text, length, take_word, &visited, NULL) == IDX_OK);
    size_t made = make_shingles(text, length, &options), count = visited.count;
    if (options.unit == IDX_TEXT_WORDS)
        CHECK(made == (count == 0 ? 0 : count < options.width ? 1 : count - options.width + 1));
    /* A longer text may have a run that is cut. */
    double resemblance = 1;
    char *folded = normalize(text, length, &normalized);
    if (length <= IDXT_MAX_RUN_UNITS)
        CHECK(idx_text_resemblance(text, length, folded, normalized, &options, &resemblance, NULL) == IDX_OK);
    CHECK(resemblance == 1);
    free(folded);
    free(text);
    return 0;
}
