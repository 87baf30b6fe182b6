/* manifest.c: fuzzes the reader of manifests: each input as it is, and with its checksum made right, which no mutation
 * would hit. One that is accepted must be written back byte for byte. */
#include "format/manifest.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "format/checksum.h"

enum { DIGITS = 16 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(const char *text, size_t size) {
    static struct idxf_manifest manifest;
    static char again[IDXF_MAX_MANIFEST_BYTES];
    unsigned line;
    uint32_t version;
    if (idxf_manifest_read(&manifest, text, size, &line, &version) != IDXF_OK) return;
    if (idxf_manifest_write(&manifest, again) != size || memcmp(again, text, size) != 0) abort();
}

static void mend_checksum(char *text, size_t size) {
    static const char word[] = "checksum ";
    const size_t line = sizeof word - 1 + DIGITS + 1;
    char digits[DIGITS + 1];
    if (size < line) return;
    snprintf(digits, sizeof digits, "%016" PRIx64, idxf_checksum(text, size - line));
    memcpy(text + size - line, word, sizeof word - 1);
    memcpy(text + size - 1 - DIGITS, digits, DIGITS);
    text[size - 1] = '\n';
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    check((const char *)data, size);
    char *text = malloc(size > 0 ? size : 1); /* exactly: a read beyond it is seen */
    if (text == NULL) return 0;
    if (size > 0) memcpy(text, data, size);
    mend_checksum(text, size);
    check(text, size);
    free(text);
    return 0;
}
