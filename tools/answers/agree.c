/* agree.c: counts for each document how many queries of a group it is near to. */
#include "tools/answers/answers.h"

#include "tools/shared/array.h"
#include "tools/shared/rows.h"

#include <stdlib.h>
#include <string.h>

/* ---- Records: a struct record and `length` bytes behind it, in memory alone ---- */

/* The bytes are a query's ID, or without one its fingerprint in the notation that is printed, or a document's ID. */
enum record_kind { RECORD_QUERY, RECORD_QUERY_WITHOUT_ID, RECORD_DOCUMENT };

struct record {
    enum record_kind kind;
    size_t length;
};

/* Appends a struct record, and behind it the `length` bytes at `bytes`. If memory runs out, records->error is set. */
static void append_record(struct output *records, enum record_kind kind, const void *bytes, size_t length) {
    struct record record = {kind, length};
    output_bytes(records, &record, sizeof record);
    output_bytes(records, bytes, length);
}

void agree_append_query(const struct question *question, const struct query *query, struct output *records) {
    char text[NOTATION_MAX_LENGTH];
    if (query->id != NULL) {
        append_record(records, RECORD_QUERY, query->id, query->id_length);
        return;
    }
    size_t length =
        notation_format_fingerprint(question->notation, question->properties.bits, query->fingerprint, text);
    append_record(records, RECORD_QUERY_WITHOUT_ID, text, length);
}

/* An integer ID becomes 8 bytes, big-endian, so that memcmp orders IDs as numbers. */
void agree_append_document(const struct idx_document *document, struct output *records) {
    unsigned char bytes[8];
    if (document->id != NULL) {
        append_record(records, RECORD_DOCUMENT, document->id, document->id_length);
        return;
    }
    for (unsigned i = 0; i < 8; i++) bytes[i] = (unsigned char)(document->number >> (56 - 8 * i));
    append_record(records, RECORD_DOCUMENT, bytes, sizeof bytes);
}

/* ---- Counting a group ---- */

/* A document near to a query of the group. The IDs are in `ids`, in the order of the entries. */
struct entry {
    const char *id; /* Set when the group ends, since `ids` moves as it grows. */
    size_t length;
    uint64_t ordinal;      /* That of the query in its group. */
    uint64_t near_queries; /* How many queries of the group the document is near to; keep_agreed_documents sets it. */
};

/* Compares entries by the bytes of their IDs. Of two IDs that begin alike, the shorter one comes first. */
static int compare_by_id(const struct entry *a, const struct entry *b) {
    int order = memcmp(a->id, b->id, a->length < b->length ? a->length : b->length);
    return order != 0 ? order : (a->length > b->length) - (a->length < b->length);
}

/* Compares entries by ID, and then by the ordinal of the query, so that keep_agreed_documents can count. For qsort. */
static int compare_by_id_and_ordinal(const void *first, const void *second) {
    const struct entry *a = first, *b = second;
    int order = compare_by_id(a, b);
    return order != 0 ? order : compare_u64(&a->ordinal, &b->ordinal);
}

/* Compares entries by near_queries, larger counts first, and then by ID. For qsort. */
static int compare_by_count_and_id(const void *first, const void *second) {
    const struct entry *a = first, *b = second;
    int order = compare_u64(&b->near_queries, &a->near_queries);
    return order != 0 ? order : compare_by_id(a, b);
}

/* Replaces the entries by one for each document that at least `min_queries` queries are near to, with near_queries set.
 * Returns how many entries are left. The entries must be sorted by ID and ordinal: those of one document are then
 * together, and several of one query, which count once, follow each other. */
static size_t keep_agreed_documents(struct entry *entries, size_t entry_count, uint64_t min_queries) {
    size_t kept_count = 0;
    for (size_t first = 0, next; first < entry_count; first = next) {
        struct entry document = {entries[first].id, entries[first].length, 0, 1};
        for (next = first + 1; next < entry_count && compare_by_id(&document, &entries[next]) == 0; next++)
            if (entries[next].ordinal != entries[next - 1].ordinal) document.near_queries++;
        if (document.near_queries >= min_queries) entries[kept_count++] = document;
    }
    return kept_count;
}

/* Returns the document of an entry: undoes what agree_append_document does to its ID. The ID is not copied. */
static struct idx_document make_document(const struct agree *agree, const struct entry *entry) {
    struct idx_document document = {0, entry->id, entry->length};
    if (agree->question->properties.id_type != IDX_ID_U64) return document;
    document.id = NULL;
    for (unsigned i = 0; i < 8; i++) document.number = document.number << 8 | (unsigned char)entry->id[i];
    return document;
}

/* Writes the row of a document: the group's ID, how many of its queries are near, and the document's ID. */
static void write_document_row(struct rows *rows, const struct agree *agree, const struct entry *entry) {
    const struct idx_document document = make_document(agree, entry);
    row_begin(rows);
    row_write_id(rows, "query", agree->group.bytes, agree->group.length);
    row_write_number(rows, "agree", entry->near_queries);
    row_write_document_id(rows, "document", &document);
    row_end(rows);
}

void agree_write_group(struct agree *agree, struct output *output) {
    struct rows rows = {.output = output, .json = agree->question->json};
    struct entry *entries = (void *)agree->entries.bytes;
    size_t entry_count = agree->entries.length / sizeof *entries;
    int error = agree->group.error | agree->ids.error | agree->entries.error; /* Each is 0 or ENOMEM. */
    if (error != 0 && output->error == 0) output->error = error;
    if (error != 0 || entry_count == 0) return;
    const char *id = agree->ids.bytes == NULL ? "" : agree->ids.bytes; /* NULL: all IDs are empty. */
    for (size_t i = 0; i < entry_count; i++) {
        entries[i].id = id;
        id += entries[i].length;
    }
    qsort(entries, entry_count, sizeof *entries, compare_by_id_and_ordinal);
    entry_count = keep_agreed_documents(entries, entry_count, agree->question->agree);
    qsort(entries, entry_count, sizeof *entries, compare_by_count_and_id);
    for (size_t i = 0; i < entry_count && output->error == 0; i++) write_document_row(&rows, agree, &entries[i]);
    if (entry_count > 0) agree->found = true;
}

/* Adds a query to the current group if it has the group's ID; otherwise writes that group to `output`, and begins
 * another. Without an ID, `id` is the fingerprint as it is printed. If memory runs out, output->error is set, or
 * group.error, by which agree_write_group sets it later. */
static void add_query_to_group(struct agree *agree, bool has_id, const char *id, size_t length, struct output *output) {
    struct output *group = &agree->group;
    bool is_in_group = agree->query_count > 0 && has_id && agree->has_id && length == group->length &&
                       memcmp(id, group->bytes, length) == 0;
    if (is_in_group) {
        agree->query_count++;
        return;
    }
    agree_write_group(agree, output);
    group->length = agree->ids.length = agree->entries.length = 0;
    output_bytes(group, id, length);
    agree->has_id = has_id;
    agree->query_count = 1;
}

void agree_count_records(struct agree *agree, struct output *output) {
    struct output *records = &agree->records;
    struct record record;
    if (records->error != 0) { /* The bytes behind a struct record may be missing. */
        if (output->error == 0) output->error = records->error;
        return;
    }
    for (size_t offset = 0; offset < records->length; offset += sizeof record + record.length) {
        memcpy(&record, records->bytes + offset, sizeof record);
        const char *bytes = records->bytes + offset + sizeof record;
        if (record.kind == RECORD_DOCUMENT) {
            struct entry entry = {NULL, record.length, agree->query_count, 0};
            output_bytes(&agree->ids, bytes, record.length);
            output_bytes(&agree->entries, &entry, sizeof entry);
        } else {
            add_query_to_group(agree, record.kind == RECORD_QUERY, bytes, record.length, output);
        }
    }
    records->length = 0;
}

void agree_free(struct agree *agree) {
    free(agree->records.bytes);
    free(agree->group.bytes);
    free(agree->ids.bytes);
    free(agree->entries.bytes);
}
