/* manifest.c: fuzzes the reader of manifests: each input as it is, and with its checksum made right, which no mutation
 * would hit. One that is accepted must be written back byte for byte, but for optional lines, which are left out; of
 * another, a line that it has is said to be at fault. */
#include "format/manifest.h"

#include <inttypes.h>

#include "format/checksum.h"
#include "tests/fuzz/fuzz.h"

enum { DIGITS = 16, CHECKSUM_LINE = 26 };

static unsigned count_lines(const char *text, size_t size) {
    unsigned lines = 1;
    for (size_t i = 0; i < size; i++) lines += text[i] == '\n';
    return lines;
}

static void check(const char *text, size_t size) {
    static struct idxf_manifest manifest;
    static char again[IDXF_MAX_MANIFEST_BYTES];
    unsigned line = UINT32_MAX;
    uint32_t version = IDXF_VERSION;
    enum idxf_fault fault = idxf_manifest_read(&manifest, text, size, &line, &version);
    CHECK(fault == IDXF_OK || line <= count_lines(text, size));
    CHECK((fault == IDXF_FAULT_VERSION) == (version != IDXF_VERSION));
    if (fault != IDXF_OK) return;
    const char *optional = memmem(text, size, "\noptional ", 10);
    size_t kept = optional == NULL ? size : (size_t)(optional + 1 - text),
           written = idxf_manifest_write(&manifest, again);
    CHECK(optional == NULL ? written == size : written == kept + CHECKSUM_LINE);
    CHECK(memcmp(again, text, kept) == 0);
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
    char *text = copy_exactly(data, size);
    check(text, size);
    mend_checksum(text, size);
    check(text, size);
    free(text);
    return 0;
}
