/* tsv.c: fuzzes the parser of input lines. An input is: bits, notation, kind of IDs, then the line. A fingerprint that
 * is accepted must fit, and come back when written and read again. */
#include "tools/tsv.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_fingerprint(const struct tsv_rules *rules, uint64_t fingerprint) {
    char text[NOTATION_MAX_LENGTH];
    uint64_t again;
    struct problem problem;
    if (rules->bits < 64 && fingerprint >> rules->bits != 0) abort();
    size_t length = notation_print(rules->notation, rules->bits, fingerprint, text);
    if (length > sizeof text) abort();
    if (!notation_parse(rules->notation, rules->bits, text, length, &again, &problem)) abort();
    if (again != fingerprint) abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    if (size < 3) return 0;
    struct tsv_rules rules = {
        .bits = 1 + data[0] % 64,
        .notation = (enum notation)(data[1] % 3),
        .ids = (enum tsv_ids)(data[2] % 4),
    };
    size_t length = size - 3;
    char *line = malloc(length > 0 ? length : 1); /* exactly: a read beyond it is seen */
    if (line == NULL) return 0;
    memcpy(line, data + 3, length);

    struct tsv_record record = {0};
    struct problem problem = {.sentence = ""};
    enum tsv_kind kind = tsv_parse(&rules, line, length, &record, &problem);
    if (kind == TSV_BAD) {
        if (problem.sentence[0] == '\0' || memchr(problem.sentence, '\0', sizeof problem.sentence) == NULL) abort();
    } else if (kind != TSV_COMMENT && record.id != NULL) {
        if (record.id < line || record.id_length > (size_t)(line + length - record.id)) abort();
    }
    if (kind == TSV_RECORD) check_fingerprint(&rules, record.fingerprint);
    free(line);
    return 0;
}
