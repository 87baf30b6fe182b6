/* output.c: writes standard output, or keeps what is written. */
#include "tools/shared/output.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The most bytes that are buffered for a file. */
enum { MAX_BUFFERED_BYTES = 1 << 16 };

/* Writes bytes to the file at once, past the buffer, and sets the output's error to the errno of a failure. Writes
 * nothing after an earlier error. */
static void write_bytes_to_file(struct output *output, const char *bytes, size_t length) {
    while (length > 0 && output->error == 0) {
        ssize_t written = write(output->descriptor, bytes, length);
        if (written < 0 && errno != EINTR) output->error = errno;
        if (written <= 0) continue;
        bytes += written;
        length -= (size_t)written;
    }
}

/* Grows the buffer, if need be, so that `more_bytes` fit behind those in it. Returns false, without a complaint, and
 * sets the error if memory ran out. */
static bool ensure_capacity(struct output *output, size_t more_bytes) {
    if (more_bytes <= output->capacity - output->length) return true;
    size_t capacity = output->capacity == 0 ? 256 : output->capacity * 2;
    if (capacity < output->length + more_bytes) capacity = output->length + more_bytes;
    char *bytes = realloc(output->bytes, capacity);
    if (bytes == NULL) {
        output->error = ENOMEM;
        return false;
    }
    output->bytes = bytes;
    output->capacity = capacity;
    return true;
}

char *output_reserve(struct output *output, size_t size) {
    return ensure_capacity(output, size) ? output->bytes + output->length : NULL;
}

void output_bytes(struct output *output, const void *bytes, size_t length) {
    if (output->error != 0 || length == 0) return;
    if (output->descriptor >= 0 && output->length + length > MAX_BUFFERED_BYTES) output_flush(output);
    if (output->descriptor >= 0 && length >= MAX_BUFFERED_BYTES) {
        write_bytes_to_file(output, bytes, length);
    } else if (ensure_capacity(output, length)) {
        memcpy(output->bytes + output->length, bytes, length);
        output->length += length;
    }
}

void output_text(struct output *output, const char *text) { output_bytes(output, text, strlen(text)); }

void output_printable(struct output *output, const char *text) {
    char piece[PRINTABLE_PIECE_BYTES];
    while (*text != '\0') {
        text += printable_write_piece(text, piece);
        output_text(output, piece);
    }
}

void output_id(struct output *output, const void *id, size_t length) {
    const char *byte = id;
    char escaped[ESCAPE_MAX_BYTES];
    if (!escape_is_needed(id, length)) {
        output_bytes(output, id, length);
        return;
    }
    output_byte(output, '\t');
    for (size_t i = 0; i < length; i++) output_bytes(output, escaped, escape_byte(byte[i], escaped));
}

void output_byte(struct output *output, char byte) { output_bytes(output, &byte, 1); }

void output_decimal(struct output *output, uint64_t number) {
    char text[NOTATION_MAX_LENGTH];
    output_bytes(output, text, notation_format_decimal(number, text));
}

void output_fingerprint(struct output *output, enum notation notation, unsigned bits, uint64_t fingerprint) {
    char text[NOTATION_MAX_LENGTH];
    output_bytes(output, text, notation_format_fingerprint(notation, bits, fingerprint, text));
}

void output_format(struct output *output, const char *format, ...) {
    va_list arguments, arguments_copy;
    va_start(arguments, format);
    va_copy(arguments_copy, arguments);
    int length = vsnprintf(NULL, 0, format, arguments);
    va_end(arguments);
    char *text = length < 0 ? NULL : malloc((size_t)length + 1);
    if (text != NULL) {
        vsnprintf(text, (size_t)length + 1, format, arguments_copy);
        output_bytes(output, text, (size_t)length);
    } else if (output->error == 0) {
        output->error = ENOMEM;
    }
    va_end(arguments_copy);
    free(text);
}

void output_share(struct output *output, uint64_t shared, uint64_t total) {
    uint64_t ten_thousandths = total == 0 ? 10000 : shared * 10000 / total;
    output_format(output, "%" PRIu64 ".%04" PRIu64, ten_thousandths / 10000, ten_thousandths % 10000);
}

bool output_flush(struct output *output) {
    if (output->descriptor >= 0) {
        write_bytes_to_file(output, output->bytes, output->length);
        output->length = 0;
    }
    return output->error == 0;
}

bool output_close(struct output *output) {
    bool ok = output_flush(output);
    if (!ok) complain("can't write standard output: %s", strerror(output->error));
    free(output->bytes);
    output->bytes = NULL;
    output->length = output->capacity = 0;
    return ok;
}

bool output_print(const char *text) {
    struct output output = OUTPUT_STANDARD;
    output_text(&output, text);
    return output_close(&output);
}
