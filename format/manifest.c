/* manifest.c: reads and writes the manifest, line by line in the order of SPEC.md. */
#include "format/manifest.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "format/bytes.h"
#include "format/checksum.h"

static const char first_word[] = "idx-index ";
static const char needs_word[] = "needs ";
static const char need_of_sets[] = "sets"; /* the one addition that this version knows */
static const char optional_word[] = "optional ";
static const char checksum_word[] = "checksum ";
static const char *const id_types[IDXF_ID_TYPE_COUNT] = {"text", "u64", "none"};

#define CHECKSUM_LINE_BYTES (sizeof checksum_word - 1 + 16 + 1)

/* Returns with how many hexadecimal digits a number of `bits` bits is written. */
static unsigned count_hex_digits(unsigned bits) { return (bits + 3) / 4; }

void idxf_uuid_write(const uint8_t uuid[IDXF_UUID_BYTES], char text[IDXF_UUID_TEXT_BYTES + 1]) {
    char *at = text;
    for (unsigned i = 0; i < IDXF_UUID_BYTES; i++) {
        if (i == 4 || i == 6 || i == 8 || i == 10) *at++ = '-';
        at += sprintf(at, "%02x", uuid[i]);
    }
}

/* ---- Writing ---- */

size_t idxf_manifest_write(struct idxf_manifest *manifest, char *text) {
    char uuid[IDXF_UUID_TEXT_BYTES + 1];
    char *at = text;
    idxf_uuid_write(manifest->uuid, uuid);
    at += sprintf(at, "%s%u\n", first_word, (unsigned)IDXF_VERSION);
    if (manifest->sketch > 0) at += sprintf(at, "%s%s\n", needs_word, need_of_sets);
    at += sprintf(at, "uuid %s\nbits %u\nk %u\nid-type %s\nby-id %s\nrecipe%s%s\n", uuid, manifest->bits, manifest->k,
                  id_types[manifest->id_type], manifest->by_id ? "yes" : "no", manifest->recipe[0] ? " " : "",
                  manifest->recipe);
    if (manifest->sketch > 0) at += sprintf(at, "sketch %u %u\n", manifest->sketch, manifest->resemblance);
    at += sprintf(at, "scheme %s\n", manifest->scheme);
    for (uint32_t i = 0; i < manifest->table_count; i++)
        at += sprintf(at, "table %0*" PRIx64 " %u\n", (int)count_hex_digits(manifest->bits), manifest->tables[i].mask,
                      manifest->tables[i].radius);
    at += sprintf(at, "sequence %" PRIu64 "\n", manifest->sequence);
    if (manifest->log.exists) {
        idxf_uuid_write(manifest->log.id, uuid);
        at += sprintf(at, "log %s %" PRIu64 " %" PRIu64 "\n", uuid, manifest->log.first, manifest->log.last);
    }
    for (uint32_t i = 0; i < manifest->segment_count; i++) {
        const struct idxf_manifest_segment *segment = &manifest->segments[i];
        idxf_uuid_write(segment->uuid, uuid);
        at += sprintf(at, "segment %06" PRIu32 " %s %" PRIu64 " %" PRIu64 " %" PRIu64 "\n", segment->number, uuid,
                      segment->fingerprints, segment->documents, segment->removed);
    }
    manifest->checksum = idxf_checksum(text, (size_t)(at - text));
    at += sprintf(at, "%s%016" PRIx64 "\n", checksum_word, manifest->checksum);
    return (size_t)(at - text);
}

/* ---- Reading ---- */

struct reader {
    const char *at; /* the next character */
    const char *end;
    unsigned line; /* the number of the line that is being read, from 1 */
};

/* If `word` comes next, moves the reader behind it and returns true. Else returns false, and moves nothing. */
static bool skip_word(struct reader *reader, const char *word) {
    size_t length = strlen(word);
    if ((size_t)(reader->end - reader->at) < length || memcmp(reader->at, word, length) != 0) return false;
    reader->at += length;
    return true;
}

/* Moves the reader to the next line. Returns false where the line does not end here. */
static bool skip_line_end(struct reader *reader) {
    if (!skip_word(reader, "\n")) return false;
    reader->line++;
    return true;
}

/* Whether the reader is behind the last character of a field: at a space, a line end, or the end of all. */
static bool is_at_field_end(const struct reader *reader) {
    return reader->at == reader->end || *reader->at == ' ' || *reader->at == '\n';
}

/* Reads the decimal number that a field begins with, whatever follows its digits. Returns IDXF_FAULT_SYNTAX if there is
 * none or it has leading zeros, and the fault `too_big` if it is above `max`. */
static enum idxf_fault read_digits(struct reader *reader, uint64_t max, enum idxf_fault too_big, uint64_t *number) {
    const char *begin = reader->at;
    uint64_t value = 0;
    bool fits = true;
    for (; reader->at < reader->end && *reader->at >= '0' && *reader->at <= '9'; reader->at++) {
        unsigned digit = (unsigned)(*reader->at - '0');
        fits = fits && digit <= max && value <= (max - digit) / 10;
        value = value * 10 + digit;
    }
    *number = value;
    if (reader->at == begin || (*begin == '0' && reader->at > begin + 1)) return IDXF_FAULT_SYNTAX;
    return fits ? IDXF_OK : too_big;
}

/* Reads a number as read_digits does, which must be the whole field. */
static enum idxf_fault read_number(struct reader *reader, uint64_t max, enum idxf_fault too_big, uint64_t *number) {
    enum idxf_fault fault = read_digits(reader, max, too_big, number);
    return is_at_field_end(reader) ? fault : IDXF_FAULT_SYNTAX;
}

/* Reads exactly `digit_count` (up to 16) lower-case hexadecimal digits. Returns false if there are fewer. */
static bool read_hex(struct reader *reader, unsigned digit_count, uint64_t *number) {
    uint64_t value = 0;
    for (unsigned i = 0; i < digit_count; i++, reader->at++) {
        if (reader->at == reader->end) return false;
        char c = *reader->at;
        if (c >= '0' && c <= '9')
            value = value << 4 | (uint64_t)(c - '0');
        else if (c >= 'a' && c <= 'f')
            value = value << 4 | (uint64_t)(c - 'a' + 10);
        else
            return false;
    }
    *number = value;
    return true;
}

/* Reads a uuid as text, which must be the whole field. Returns false if it is malformed. */
static bool read_uuid(struct reader *reader, uint8_t uuid[IDXF_UUID_BYTES]) {
    for (unsigned i = 0; i < IDXF_UUID_BYTES; i++) {
        uint64_t byte;
        if ((i == 4 || i == 6 || i == 8 || i == 10) && !skip_word(reader, "-")) return false;
        if (!read_hex(reader, 2, &byte)) return false;
        uuid[i] = (uint8_t)byte;
    }
    return is_at_field_end(reader);
}

/* Reads the rest of the line into `text`, of max_length + 1 bytes, and adds a terminator. Returns false if the rest
 * has more than `max_length` bytes, or one that is below 32, above `max_byte`, or 127 (DEL); then `text` has no
 * terminator. */
static bool read_text(struct reader *reader, size_t max_length, unsigned max_byte, char *text) {
    size_t length = 0;
    for (; reader->at < reader->end && *reader->at != '\n'; reader->at++) {
        unsigned char c = (unsigned char)*reader->at;
        if (length == max_length || c < 32 || c == 127 || c > max_byte) return false;
        text[length++] = (char)c;
    }
    text[length] = '\0';
    return true;
}

/* Reads the name of an addition to the format, and adds a terminator. Returns false if it is no field of 1 to
 * IDXF_MAX_NEED_BYTES visible ASCII characters. */
static bool read_addition_name(struct reader *reader, char name[IDXF_MAX_NEED_BYTES + 1]) {
    size_t length = 0;
    while (!is_at_field_end(reader) && length < IDXF_MAX_NEED_BYTES) {
        char c = *reader->at;
        if (c <= ' ' || c >= 127) break;
        name[length++] = c;
        reader->at++;
    }
    name[length] = '\0';
    return length > 0 && is_at_field_end(reader);
}

/* Reads the lines `needs`, the additions to the format that a reader must know. Returns IDXF_FAULT_NEEDS for all but
 * sets. Sets manifest->sketch to 1 for an index with sets, until the line `sketch` gives the number. */
static enum idxf_fault read_needs_lines(struct reader *reader, struct idxf_manifest *manifest) {
    manifest->sketch = 0;
    while (skip_word(reader, needs_word)) {
        struct reader line_reader = *reader; /* a copy, so that `reader` stays in a line that has a fault */
        if (!read_addition_name(&line_reader, manifest->need) || !skip_line_end(&line_reader)) return IDXF_FAULT_SYNTAX;
        if (strcmp(manifest->need, need_of_sets) != 0) return IDXF_FAULT_NEEDS;
        if (manifest->sketch > 0) return IDXF_FAULT_SYNTAX;
        manifest->sketch = 1;
        *reader = line_reader;
    }
    return IDXF_OK;
}

/* Skips the lines `optional`, additions that readers need not know: the addition's name, and any text. */
static enum idxf_fault skip_optional_lines(struct reader *reader) {
    char name[IDXF_MAX_NEED_BYTES + 1];
    while (skip_word(reader, optional_word)) {
        if (!read_addition_name(reader, name)) return IDXF_FAULT_SYNTAX;
        for (; reader->at < reader->end && *reader->at != '\n'; reader->at++) {
            if ((unsigned char)*reader->at < 32 || *reader->at == 127) return IDXF_FAULT_SYNTAX;
        }
        if (!skip_line_end(reader)) return IDXF_FAULT_SYNTAX;
    }
    return IDXF_OK;
}

/* Reads the lines `bits` and `k`. With sets, these must be 64 and 0. */
static enum idxf_fault read_bits_and_k(struct reader *reader, struct idxf_manifest *manifest) {
    uint64_t number;
    if (!skip_word(reader, "bits ")) return IDXF_FAULT_SYNTAX;
    enum idxf_fault fault = read_number(reader, IDXF_MAX_BITS, IDXF_FAULT_BITS, &number);
    if (fault != IDXF_OK) return fault;
    if (number == 0 || (manifest->sketch > 0 && number != IDXF_MAX_BITS)) return IDXF_FAULT_BITS;
    manifest->bits = (uint8_t)number;
    if (!skip_line_end(reader) || !skip_word(reader, "k ")) return IDXF_FAULT_SYNTAX;
    fault = read_number(reader, IDXF_MAX_K, IDXF_FAULT_K, &number);
    if (fault != IDXF_OK) return fault;
    if (number >= manifest->bits || (manifest->sketch > 0 && number != 0)) return IDXF_FAULT_K;
    manifest->k = (uint8_t)number;
    return skip_line_end(reader) ? IDXF_OK : IDXF_FAULT_SYNTAX;
}

/* Reads the lines `id-type` and `by-id`. With sets, documents must have IDs, and there is no map from IDs. */
static enum idxf_fault read_id_properties(struct reader *reader, struct idxf_manifest *manifest) {
    unsigned type = 0;
    if (!skip_word(reader, "id-type ")) return IDXF_FAULT_SYNTAX;
    while (type < IDXF_ID_TYPE_COUNT && !skip_word(reader, id_types[type])) type++;
    if (type == IDXF_ID_TYPE_COUNT || !is_at_field_end(reader)) return IDXF_FAULT_ID_TYPE;
    manifest->id_type = (enum idxf_id_type)type;
    if (manifest->sketch > 0 && type == IDXF_ID_NONE) return IDXF_FAULT_ID_TYPE;
    if (!skip_line_end(reader) || !skip_word(reader, "by-id ")) return IDXF_FAULT_SYNTAX;
    manifest->by_id = skip_word(reader, "yes");
    if ((!manifest->by_id && !skip_word(reader, "no")) || !is_at_field_end(reader)) return IDXF_FAULT_BY_ID;
    if (manifest->by_id && (manifest->id_type == IDXF_ID_NONE || manifest->sketch > 0)) return IDXF_FAULT_BY_ID;
    return skip_line_end(reader) ? IDXF_OK : IDXF_FAULT_SYNTAX;
}

/* Reads the line `sketch`, which an index with sets has: how many members of a set are fingerprints, and the
 * resemblance that look-ups ask for. */
static enum idxf_fault read_sketch(struct reader *reader, struct idxf_manifest *manifest) {
    uint64_t number;
    if (manifest->sketch == 0) return IDXF_OK;
    if (!skip_word(reader, "sketch ")) return IDXF_FAULT_SYNTAX;
    enum idxf_fault fault = read_number(reader, IDXF_MAX_SKETCH, IDXF_FAULT_COUNT, &number);
    if (fault != IDXF_OK) return fault;
    if (number == 0) return IDXF_FAULT_COUNT;
    manifest->sketch = (uint8_t)number;
    if (!skip_word(reader, " ")) return IDXF_FAULT_SYNTAX;
    fault = read_number(reader, IDXF_MAX_RESEMBLANCE, IDXF_FAULT_COUNT, &number);
    if (fault != IDXF_OK) return fault;
    if (number == 0) return IDXF_FAULT_COUNT;
    manifest->resemblance = (uint16_t)number;
    return skip_line_end(reader) ? IDXF_OK : IDXF_FAULT_SYNTAX;
}

/* Reads the lines from `recipe` to `scheme`. The recipe is empty where its line has none. */
static enum idxf_fault read_recipe_and_scheme(struct reader *reader, struct idxf_manifest *manifest) {
    if (!skip_word(reader, "recipe")) return IDXF_FAULT_SYNTAX;
    manifest->recipe[0] = '\0';
    if (skip_word(reader, " ") &&
        (!read_text(reader, IDXF_MAX_RECIPE_BYTES, 255, manifest->recipe) || manifest->recipe[0] == '\0'))
        return IDXF_FAULT_RECIPE;
    if (!skip_line_end(reader)) return IDXF_FAULT_SYNTAX;
    enum idxf_fault fault = read_sketch(reader, manifest);
    if (fault != IDXF_OK) return fault;
    if (!skip_word(reader, "scheme ")) return IDXF_FAULT_SYNTAX;
    if (!read_text(reader, IDXF_MAX_SCHEME_NAME_BYTES, 126, manifest->scheme) || manifest->scheme[0] == '\0')
        return IDXF_FAULT_SYNTAX;
    return skip_line_end(reader) ? IDXF_OK : IDXF_FAULT_SYNTAX;
}

/* Reads the lines from `uuid` to `scheme`. */
static enum idxf_fault read_properties(struct reader *reader, struct idxf_manifest *manifest) {
    if (!skip_word(reader, "uuid ")) return IDXF_FAULT_SYNTAX;
    if (!read_uuid(reader, manifest->uuid)) return IDXF_FAULT_UUID;
    if (!skip_line_end(reader)) return IDXF_FAULT_SYNTAX;
    enum idxf_fault fault = read_bits_and_k(reader, manifest);
    if (fault == IDXF_OK) fault = read_id_properties(reader, manifest);
    return fault == IDXF_OK ? read_recipe_and_scheme(reader, manifest) : fault;
}

/* Reads the lines `table`. Returns IDXF_FAULT_MASK also if there are none or too many. */
static enum idxf_fault read_tables(struct reader *reader, struct idxf_manifest *manifest) {
    manifest->table_count = 0;
    while (skip_word(reader, "table ")) {
        uint64_t mask, radius;
        if (manifest->table_count == IDXF_MAX_TABLES) return IDXF_FAULT_MASK;
        if (!read_hex(reader, count_hex_digits(manifest->bits), &mask) || !is_at_field_end(reader) || mask == 0 ||
            (mask & ~idxf_low_bits(manifest->bits)) != 0)
            return IDXF_FAULT_MASK;
        if (!skip_word(reader, " ")) return IDXF_FAULT_SYNTAX;
        enum idxf_fault fault = read_number(reader, IDXF_MAX_RADIUS, IDXF_FAULT_RADIUS, &radius);
        if (fault != IDXF_OK) return fault;
        manifest->tables[manifest->table_count++] = (struct idxf_manifest_table){mask, (uint8_t)radius};
        if (!skip_line_end(reader)) return IDXF_FAULT_SYNTAX;
    }
    return manifest->table_count == 0 ? IDXF_FAULT_MASK : IDXF_OK;
}

/* Whether a segment has a number above 0, and neither the number nor the uuid of one that was read before. */
static bool is_new_segment(const struct idxf_manifest *manifest, const struct idxf_manifest_segment *segment) {
    for (uint32_t i = 0; i < manifest->segment_count; i++) {
        if (manifest->segments[i].number == segment->number ||
            memcmp(manifest->segments[i].uuid, segment->uuid, IDXF_UUID_BYTES) == 0)
            return false;
    }
    return segment->number > 0;
}

/* Reads the three counts at the end of a segment's line, each with the space before it. */
static enum idxf_fault read_segment_counts(struct reader *reader, struct idxf_manifest_segment *segment) {
    uint64_t *const counts[] = {&segment->fingerprints, &segment->documents, &segment->removed};
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
        if (!skip_word(reader, " ")) return IDXF_FAULT_SYNTAX;
        enum idxf_fault fault = read_number(reader, UINT64_MAX, IDXF_FAULT_COUNT, counts[i]);
        if (fault != IDXF_OK) return fault;
    }
    return IDXF_OK;
}

/* Whether a segment's counts are possible: the oldest segment removes nothing; and each fingerprint has a document, or
 * documents have no IDs and are not counted. */
static bool are_counts_possible(const struct idxf_manifest *manifest, const struct idxf_manifest_segment *segment) {
    if (manifest->segment_count == 0 && segment->removed != 0) return false;
    return manifest->id_type == IDXF_ID_NONE ? segment->documents == 0 : segment->documents >= segment->fingerprints;
}

/* Reads the line `sequence`: the number of the last record that is in the segments. */
static enum idxf_fault read_sequence(struct reader *reader, struct idxf_manifest *manifest) {
    if (!skip_word(reader, "sequence ")) return IDXF_FAULT_SYNTAX;
    enum idxf_fault fault = read_number(reader, IDXF_MAX_SEQUENCE, IDXF_FAULT_COUNT, &manifest->sequence);
    if (fault != IDXF_OK) return fault;
    return skip_line_end(reader) ? IDXF_OK : IDXF_FAULT_SYNTAX;
}

/* Reads the line `log`, if there is one. Returns IDXF_FAULT_COUNT also if the log begins after the last record that
 * segments have, since records between would be lost, or ends before it begins. */
static enum idxf_fault read_log(struct reader *reader, struct idxf_manifest *manifest) {
    struct idxf_manifest_log *log = &manifest->log;
    *log = (struct idxf_manifest_log){.exists = skip_word(reader, "log ")};
    if (!log->exists) return IDXF_OK;
    if (!read_uuid(reader, log->id)) return IDXF_FAULT_UUID;
    if (!skip_word(reader, " ")) return IDXF_FAULT_SYNTAX;
    enum idxf_fault fault = read_number(reader, manifest->sequence, IDXF_FAULT_COUNT, &log->first);
    if (fault == IDXF_OK && !skip_word(reader, " ")) fault = IDXF_FAULT_SYNTAX;
    if (fault == IDXF_OK) fault = read_number(reader, IDXF_MAX_SEQUENCE, IDXF_FAULT_COUNT, &log->last);
    if (fault == IDXF_OK && log->last < log->first) fault = IDXF_FAULT_COUNT;
    if (fault != IDXF_OK) return fault;
    return skip_line_end(reader) ? IDXF_OK : IDXF_FAULT_SYNTAX;
}

enum { SEGMENT_DIGITS = 6 }; /* of a segment's number, with leading zeros, as in its folder's name */

/* Reads the number of a segment, and the space after it. Returns false if it does not have exactly SEGMENT_DIGITS. */
static bool read_segment_number(struct reader *reader, uint32_t *number) {
    *number = 0;
    for (unsigned i = 0; i < SEGMENT_DIGITS; i++, reader->at++) {
        if (reader->at == reader->end || *reader->at < '0' || *reader->at > '9') return false;
        *number = *number * 10 + (uint32_t)(*reader->at - '0');
    }
    return skip_word(reader, " ");
}

/* Reads the lines `segment`. Returns IDXF_FAULT_SEGMENT if there are none or too many, or a number or uuid comes
 * twice. */
static enum idxf_fault read_segments(struct reader *reader, struct idxf_manifest *manifest) {
    manifest->segment_count = 0;
    while (skip_word(reader, "segment ")) {
        struct idxf_manifest_segment segment;
        if (!read_segment_number(reader, &segment.number)) return IDXF_FAULT_SYNTAX;
        if (!read_uuid(reader, segment.uuid)) return IDXF_FAULT_UUID;
        if (manifest->segment_count == IDXF_MAX_SEGMENTS || !is_new_segment(manifest, &segment))
            return IDXF_FAULT_SEGMENT;
        enum idxf_fault fault = read_segment_counts(reader, &segment);
        if (fault != IDXF_OK) return fault;
        if (!are_counts_possible(manifest, &segment)) return IDXF_FAULT_COUNT;
        if (!skip_line_end(reader)) return IDXF_FAULT_SYNTAX;
        manifest->segments[manifest->segment_count++] = segment;
    }
    return manifest->segment_count == 0 ? IDXF_FAULT_SEGMENT : IDXF_OK;
}

/* Reads all lines between the first one and the line `checksum`, whose checksum agrees. */
static enum idxf_fault read_lines(struct reader *reader, struct idxf_manifest *manifest) {
    enum idxf_fault fault = read_needs_lines(reader, manifest);
    if (fault == IDXF_OK) fault = read_properties(reader, manifest);
    if (fault == IDXF_OK) fault = read_tables(reader, manifest);
    if (fault == IDXF_OK) fault = read_sequence(reader, manifest);
    if (fault == IDXF_OK) fault = read_log(reader, manifest);
    if (fault == IDXF_OK) fault = read_segments(reader, manifest);
    if (fault == IDXF_OK) fault = skip_optional_lines(reader);
    if (fault == IDXF_OK && reader->at != reader->end) fault = IDXF_FAULT_SYNTAX;
    return fault;
}

enum idxf_fault idxf_manifest_read(struct idxf_manifest *manifest, const char *text, size_t size, unsigned *line,
                                   uint32_t *version) {
    struct reader reader = {text, text + size, 1};
    uint64_t version_number;
    *line = 1;
    if (!skip_word(&reader, first_word)) return IDXF_FAULT_MAGIC;
    if (read_digits(&reader, UINT32_MAX, IDXF_FAULT_MAGIC, &version_number) != IDXF_OK) return IDXF_FAULT_MAGIC;
    *version = (uint32_t)version_number;
    if (version_number != IDXF_VERSION) return IDXF_FAULT_VERSION;
    *line = 0; /* a wrong size or checksum is a fault of the whole */
    if (size > IDXF_MAX_MANIFEST_BYTES) return IDXF_FAULT_SIZE;
    if (size < (size_t)(reader.at - text) + CHECKSUM_LINE_BYTES) return IDXF_FAULT_CHECKSUM;
    size_t summed_bytes = size - CHECKSUM_LINE_BYTES;
    struct reader checksum_reader = {text + summed_bytes, text + size, 0};
    if (!skip_word(&checksum_reader, checksum_word) || !read_hex(&checksum_reader, 16, &manifest->checksum) ||
        !skip_word(&checksum_reader, "\n") || manifest->checksum != idxf_checksum(text, summed_bytes))
        return IDXF_FAULT_CHECKSUM;
    reader.end = text + summed_bytes;
    enum idxf_fault fault = skip_line_end(&reader) ? read_lines(&reader, manifest) : IDXF_FAULT_SYNTAX;
    *line = reader.line;
    return fault;
}
