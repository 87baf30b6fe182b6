/* text.c: fingerprints of text files, over libidxtext where this build has it: the only file that knows whether. */
#include "tools/text.h"

#include "tools/message.h"

#include <string.h>

#ifdef IDX_WITH_TEXT

#include <idx_text.h>

const char text_default_recipe[] = IDX_TEXT_DEFAULT_RECIPE;

/* One byte more than idx_text_fingerprint takes, so that it refuses what is longer. */
enum { MOST_BYTES = 1 << 30, SNIFFED_BYTES = 8192 };

bool text_open(struct text *text, const char *recipe, unsigned bits) {
    struct idx_error error;
    *text = (struct text){NULL, bits, READER_INIT};
    struct idx_text_options options = IDX_TEXT_OPTIONS_INIT;
    options.recipe = recipe;
    if (idx_text_open(&text->fingerprinter, &options, &error) == IDX_OK) return true;
    complain("%s", error.sentence);
    return false;
}

static bool is_binary(const char *bytes, size_t length) {
    if (length >= 2 && memcmp(bytes, "\x1f\x8b", 2) == 0) return true;
    return length > 0 && memchr(bytes, '\0', length < SNIFFED_BYTES ? length : SNIFFED_BYTES) != NULL;
}

static enum text_status fingerprint_opened(struct text *text, bool leave_out_binary, uint64_t *fingerprint) {
    const char *bytes = "";
    size_t length = 0;
    struct idx_error error;
    if (leave_out_binary) {
        if (reader_bytes(&text->reader, SNIFFED_BYTES, &bytes, &length) == READER_FAILED) return TEXT_FAILED;
        if (is_binary(bytes, length)) return TEXT_BINARY;
        reader_give_back(&text->reader, length);
    }
    if (reader_bytes(&text->reader, MOST_BYTES, &bytes, &length) == READER_FAILED) return TEXT_FAILED;
    if (idx_text_fingerprint(text->fingerprinter, bytes, length, text->bits, fingerprint, NULL, &error) == IDX_OK)
        return TEXT_DONE;
    complain("%s: %s", text->reader.name, error.sentence);
    return TEXT_FAILED;
}

enum text_status text_fingerprint_file(struct text *text, const char *path, bool leave_out_binary,
                                       uint64_t *fingerprint) {
    if (!reader_open(&text->reader, path)) return TEXT_FAILED;
    enum text_status status = fingerprint_opened(text, leave_out_binary, fingerprint);
    reader_close(&text->reader);
    return status;
}

void text_close(struct text *text) {
    idx_text_close(text->fingerprinter);
    reader_free(&text->reader);
}

#else

const char text_default_recipe[] = "none: this idx was built without text support";

bool text_open(struct text *text, const char *recipe, unsigned bits) {
    (void)recipe;
    *text = (struct text){NULL, bits, READER_INIT};
    complain("this idx was built without text support (libidxtext, which needs ICU)");
    return false;
}

enum text_status text_fingerprint_file(struct text *text, const char *path, bool leave_out_binary,
                                       uint64_t *fingerprint) {
    (void)text, (void)path, (void)leave_out_binary, (void)fingerprint;
    return TEXT_FAILED;
}

void text_close(struct text *text) { reader_free(&text->reader); }

#endif
