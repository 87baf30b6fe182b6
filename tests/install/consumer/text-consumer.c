/* text-consumer.c: an outside program over the installed libidxtext: fingerprints a text twice, differently written. */
#include <idx_text.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static const char first[] = "Near duplicates of duplicates differ.";
static const char second[] = "NEAR \xef\xbd\x84uplicates: of duplicates, differ";

int main(void) {
    struct idx_text *text = NULL;
    uint64_t a = 0, b = 0, features = 0;
    struct idx_error error;
    enum idx_status status = idx_text_open(&text, NULL, &error);
    if (status == IDX_OK) status = idx_text_fingerprint(text, first, strlen(first), 64, &a, &features, &error);
    if (status == IDX_OK) status = idx_text_fingerprint(text, second, strlen(second), 64, &b, NULL, &error);
    if (status == IDX_OK) printf("%" PRIu64 " words, distance %u\n", features, idx_distance(a, b));
    if (status != IDX_OK) fprintf(stderr, "%s\n", error.sentence);
    idx_text_close(text);
    return status == IDX_OK ? 0 : 1;
}
