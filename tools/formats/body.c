/* body.c: makes UTF-8 of the bytes of a document: joins the chunks of HTTP, decompresses, and decodes. */
#include "tools/formats/body.h"
#include "tools/formats/source.h"
#include "tools/formats/warc.h"

#ifdef IDX_BROTLI
#include <brotli/decode.h>
#endif

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* ---- Content-Encoding ---- */

/* How the decompression of a body ended. */
enum ending {
    ENDING_WHOLE,
    ENDING_CUT, /* The body ends within its compression. */
    ENDING_BROKEN,
    ENDING_LONG,   /* Decompressed, the body has more bytes than are allowed. */
    ENDING_MEMORY, /* Memory ran out. */
};

/* Appends the decompressed body to `buffer`, which must be empty; or a copy of the body if it is in no format that a
 * source reads. All functions of this group return ENDING_LONG once `buffer` would have more than about `max_bytes`
 * bytes. They set *problem, which counts only with ENDING_BROKEN: why the data can't be read. If memory runs out for
 * `buffer`, they set buffer->error, which the caller checks. */
static enum ending decompress_by_source(struct span body, uint64_t max_bytes, struct output *buffer,
                                        struct problem *problem) {
    struct source source = {.passes_over_rest = true};
    const char *bytes;
    size_t byte_count;
    bool opened = source_open_memory(&source, body.bytes, body.length), fits_max_bytes = true;
    while (opened && fits_max_bytes && buffer->error == 0 && (byte_count = source_peek(&source, 1, &bytes)) > 0) {
        fits_max_bytes = byte_count <= max_bytes - buffer->length;
        if (fits_max_bytes) output_bytes(buffer, bytes, byte_count);
        source_skip(&source, byte_count);
    }
    /* A source in memory is unreadable only if memory ran out. */
    enum ending ending = !opened || source.unreadable ? ENDING_MEMORY
                         : !fits_max_bytes            ? ENDING_LONG
                         : source.cut                 ? ENDING_CUT
                         : source.broken              ? ENDING_BROKEN
                                                      : ENDING_WHOLE;
    *problem = source.problem;
    source_free(&source);
    return ending;
}

/* Appends to `buffer` the body decompressed from `deflate`: the format of zlib or, as some servers send it, the same
 * without header and checksum. A header is two bytes: the lower four bits of the first one are the method, and both
 * make one number, which is a multiple of 31. Otherwise like decompress_by_source. */
static enum ending decompress_deflate(struct span body, uint64_t max_bytes, struct output *buffer,
                                      struct problem *problem) {
    z_stream stream = {.next_in = (const Bytef *)body.bytes, .avail_in = (uInt)body.length};
    const unsigned char *header = (const unsigned char *)body.bytes;
    bool has_header = body.length >= 2 && (header[0] & 15) == Z_DEFLATED && (header[0] << 8 | header[1]) % 31 == 0;
    unsigned char inflated[4096];
    int status = inflateInit2(&stream, has_header ? MAX_WBITS : -MAX_WBITS);
    if (status != Z_OK) return ENDING_MEMORY;
    while (status == Z_OK && buffer->length <= max_bytes && buffer->error == 0) {
        stream.next_out = inflated;
        stream.avail_out = sizeof inflated;
        status = inflate(&stream, Z_NO_FLUSH);
        output_bytes(buffer, inflated, sizeof inflated - stream.avail_out);
    }
    problem_set(problem, "the compressed data is broken: %s",
                stream.msg != NULL ? stream.msg : "not in deflate format");
    inflateEnd(&stream);
    if (buffer->length > max_bytes) return ENDING_LONG;
    return status == Z_STREAM_END  ? ENDING_WHOLE
           : status == Z_BUF_ERROR ? ENDING_CUT
           : status == Z_MEM_ERROR ? ENDING_MEMORY
                                   : ENDING_BROKEN;
}

#ifdef IDX_BROTLI
/* Appends to `buffer` the body decompressed from `br`, the format of Brotli. Otherwise like decompress_by_source. */
static enum ending decompress_brotli(struct span body, uint64_t max_bytes, struct output *buffer,
                                     struct problem *problem) {
    BrotliDecoderState *state = BrotliDecoderCreateInstance(NULL, NULL, NULL);
    BrotliDecoderResult result = BROTLI_DECODER_RESULT_NEEDS_MORE_OUTPUT;
    const uint8_t *next_input = (const uint8_t *)body.bytes, *piece;
    size_t input_bytes_left = body.length;
    if (state == NULL) return ENDING_MEMORY;
    while (result == BROTLI_DECODER_RESULT_NEEDS_MORE_OUTPUT && buffer->length <= max_bytes && buffer->error == 0) {
        /* Without a buffer, the decoder holds its output; then a length of 0 asks for all of it. */
        size_t buffer_bytes = 0, piece_length = 0;
        result = BrotliDecoderDecompressStream(state, &input_bytes_left, &next_input, &buffer_bytes, NULL, NULL);
        while ((piece = BrotliDecoderTakeOutput(state, &piece_length)) != NULL && piece_length > 0) {
            output_bytes(buffer, piece, piece_length);
            piece_length = 0;
        }
    }
    BrotliDecoderErrorCode code = BrotliDecoderGetErrorCode(state);
    problem_set(problem, "the compressed data is broken: not in Brotli format");
    BrotliDecoderDestroyInstance(state);
    if (buffer->length > max_bytes) return ENDING_LONG;
    if (code <= BROTLI_DECODER_ERROR_ALLOC_CONTEXT_MODES && code > BROTLI_DECODER_ERROR_UNREACHABLE)
        return ENDING_MEMORY; /* Codes in this range are those of failed allocations. */
    return result == BROTLI_DECODER_RESULT_SUCCESS            ? ENDING_WHOLE
           : result == BROTLI_DECODER_RESULT_NEEDS_MORE_INPUT ? ENDING_CUT
                                                              : ENDING_BROKEN;
}
#else
/* Returns ENDING_BROKEN, with *problem set, since this build can't decompress Brotli. */
static enum ending decompress_brotli(struct span body, uint64_t max_bytes, struct output *buffer,
                                     struct problem *problem) {
    (void)body, (void)max_bytes, (void)buffer;
    problem_set(problem, "its Content-Encoding is br, and this idx was built without libbrotlidec, which reads that");
    return ENDING_BROKEN;
}
#endif

/* Decompresses a body that has a Content-Encoding: sets *body to bytes in the extractor's memory. A body that turns out
 * not to be compressed stays as it is, since many archives keep decompressed bodies with heads that say otherwise. If
 * the body is cut short, keeps what could be read, and sets raw->cut. Sets *bad and returns false if nothing could be
 * read, if it is too long, or if memory ran out. */
static bool decompress_body(struct extractor *extractor, struct raw_document *raw, struct span *body, struct bad *bad) {
    struct output *buffer = &extractor->decompressed;
    uint64_t max_bytes = extractor->rules->max_text;
    struct problem problem = {0};
    bool is_brotli = strcasecmp(raw->encoding, "br") == 0, is_deflate = strcasecmp(raw->encoding, "deflate") == 0;
    if (raw->encoding[0] == '\0') return true;
    buffer->length = 0;
    enum ending ending = is_brotli    ? decompress_brotli(*body, max_bytes, buffer, &problem)
                         : is_deflate ? decompress_deflate(*body, max_bytes, buffer, &problem)
                                      : decompress_by_source(*body, max_bytes, buffer, &problem);
    if (ending == ENDING_MEMORY || buffer->error != 0) return bad_set_memory(bad);
    /* These two formats have no mark at their beginning, but hardly any of their data is well-formed UTF-8. */
    bool is_plain = (is_brotli || is_deflate) && ending != ENDING_WHOLE && bytes_are_utf8(body->bytes, body->length);
    if (is_plain) return true;
    if (ending == ENDING_LONG)
        return bad_set(bad, BAD_LONG, "decompressed, it has more than %" PRIu64 " bytes; --max-text takes longer ones",
                       max_bytes);
    if (ending == ENDING_CUT && buffer->length == 0)
        return bad_set(bad, BAD_COMPRESSION, "the compressed data is cut short, and nothing of it could be read");
    if (ending == ENDING_BROKEN) return bad_set(bad, BAD_COMPRESSION, "%s", problem.sentence);
    if (ending == ENDING_CUT) raw->cut = true;
    *body = (struct span){buffer->bytes, buffer->length};
    return true;
}

/* ---- Character sets ---- */

/* Removes the body's byte order mark, and sets `charset` to the name of its character set: that of the mark, or else
 * the one that HTTP states, or else the one that HTML states. Names that ICU does not know are ignored, as by browsers.
 * Without any of these, `charset` becomes "" for plain text, which means UTF-8; for HTML and manual pages it becomes
 * utf-8 if their bytes are well-formed UTF-8, and windows-1252 otherwise. */
static void find_charset(const struct raw_document *raw, struct span *body, char charset[CHARSET_NAME_SIZE]) {
    strcpy(charset, charset_is_known(raw->charset) ? raw->charset : "");
    charset_remove_mark(body, charset);
    if (raw->format != FORMAT_HTML && raw->format != FORMAT_MAN) return;
    if (charset[0] == '\0' && raw->format == FORMAT_HTML) html_find_charset(*body, charset);
    bool is_utf8 = bytes_are_utf8(body->bytes, body->length);
    if (charset[0] == '\0') strcpy(charset, is_utf8 ? "utf-8" : "windows-1252");
    /* libxml2 needs well-formed UTF-8. Under this other name for UTF-8, ICU replaces what is ill-formed. */
    if (charset_is_utf8(charset) && !is_utf8) strcpy(charset, "ibm-1208");
}

bool body_decode(struct extractor *extractor, struct raw_document *raw, struct span *body, struct bad *bad) {
    char charset[CHARSET_NAME_SIZE];
    if (raw->chunked && !http_join_chunks(raw->bytes.bytes, &raw->bytes.length, &raw->cut, bad)) return false;
    *body = (struct span){raw->bytes.bytes, raw->bytes.length};
    if (!decompress_body(extractor, raw, body, bad)) return false;
    find_charset(raw, body, charset);
    if (!charset_decode(body, charset, &extractor->decoded, bad)) return false;
    if (body->length <= extractor->rules->max_text) return true;
    return bad_set(bad, BAD_LONG, "in UTF-8, it has more than %" PRIu64 " bytes; --max-text takes longer ones",
                   extractor->rules->max_text);
}
