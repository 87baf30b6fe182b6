/* resemble.c: decides by the shingles of texts which documents to keep: hands their sets to the library, and then
 * visits the clusters that these make. It keeps the IDs of the documents in a temporary file. */
#include "tools/resemblance/resemble.h"

#include "tools/shared/array.h"
#include "tools/shared/rows.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Texts of fewer words are not looked for in others, unless --min-words says it. */
enum { MIN_WORDS_CONTAINED = 20 };

void resemble_set_contained_size(struct resemble *resemble, const struct idx_text_shingle_options *shingling,
                                 uint64_t min_words) {
    const uint64_t width = shingling->width;
    const uint64_t words = min_words != NO_MIN_WORDS ? min_words : MIN_WORDS_CONTAINED;
    /* A text of fewer words than a shingle has one shingle, of all its words. */
    resemble->contained_size = words < width ? words > 0 : words - width + 1;
}

bool quota_read(const char *option, const char *argument, struct quota *quota) {
    size_t length = strlen(argument);
    bool is_share = length > 0 && argument[length - 1] == '%';
    if (is_share) length--;
    if (is_share && length > 0 && argument[length - 1] == ' ') length--;
    bool is_valid = is_share ? share_parse(argument, length, &quota->share) && quota->share > 0 &&
                                   quota->share <= 100 * IDX_THRESHOLD_ONE
                             : number_parse(argument, &quota->count) && quota->count > 0;
    return is_valid ||
           complain_of_usage("%s needs a number of documents, or a share such as 0.1%%, not '%s'", option, argument);
}

uint64_t quota_find_count(const struct quota *quota, uint64_t document_count) {
    const uint64_t whole = 100 * IDX_THRESHOLD_ONE;
    return quota->share > 0 ? (document_count * (uint64_t)quota->share + whole - 1) / whole : quota->count;
}

bool resemble_open(struct resemble *resemble, const struct idx_sets_options *options, const struct scratch *scratch,
                   const char *folder) {
    struct idx_error error;
    resemble->options = *options;
    return temporary_open(&resemble->ids, scratch, folder) &&
           succeeded(idx_sets_open(&resemble->sets, options, &error), &error);
}

/* Notes the value of the document that is being added, for which id_ends has room. The list of values is allocated only
 * with the first one that is not 0. Returns false, without a complaint, if memory ran out. */
static bool note_preference_value(struct resemble *resemble, int64_t value) {
    const size_t old_capacity = resemble->value_capacity, capacity = resemble->id_capacity;
    if (value == 0 && resemble->values == NULL) return true;
    if (old_capacity < capacity) {
        int64_t *values = realloc(resemble->values, capacity * sizeof *values);
        if (values == NULL) return false;
        memset(values + old_capacity, 0, (capacity - old_capacity) * sizeof *values);
        resemble->values = values;
        resemble->value_capacity = capacity;
    }
    resemble->values[resemble->count] = value;
    return true;
}

/* Returns where a document's ID begins in the temporary file. */
static uint64_t find_id_begin(const struct resemble *resemble, uint64_t number) {
    return number == 0 ? 0 : resemble->id_ends[number - 1];
}

/* Finds which known texts a document contains, which decides what it joins. Returns false after a complaint. */
static bool find_contained_texts(struct resemble *resemble, uint64_t number, const uint64_t *shingles, size_t count) {
    if (!array_grow(&resemble->kept, &resemble->kept_capacity, (size_t)number, sizeof *resemble->kept))
        return complain("out of memory");
    return contains_find_best(&resemble->contains, number, shingles, count, &resemble->kept[number]);
}

bool resemble_add_document(struct resemble *resemble, struct span id, const uint64_t *shingles, size_t shingle_count,
                           int64_t value) {
    const uint64_t number = resemble->count;
    struct idx_error error;
    if (!array_grow(&resemble->id_ends, &resemble->id_capacity, (size_t)number, sizeof *resemble->id_ends) ||
        !note_preference_value(resemble, value))
        return complain("out of memory");
    resemble->id_ends[number] = find_id_begin(resemble, number) + id.length;
    resemble->count++;
    output_bytes(&resemble->ids.output, id.bytes, id.length);
    if (resemble->ids.output.error != 0 && !temporary_flush(&resemble->ids)) return false;
    if (resemble->contains.finder != NULL) return find_contained_texts(resemble, number, shingles, shingle_count);
    return succeeded(idx_sets_add(resemble->sets, shingles, shingle_count, &error), &error);
}

bool resemble_ignore_common(struct resemble *resemble) {
    const uint64_t count = quota_find_count(&resemble->most_common, resemble->count);
    struct idx_error error;
    if (resemble->count == 0) return true;
    return count == 0 || succeeded(idx_sets_ignore_common(resemble->sets, count, &resemble->ignored, &error), &error);
}

const char *resemble_write_remark(const struct resemble *resemble, char remark[RESEMBLE_REMARK]) {
    snprintf(remark, RESEMBLE_REMARK, "; %" PRIu64 " common %s did not count", resemble->ignored,
             resemble->ignored == 1 ? "shingle" : "shingles");
    return remark;
}

/* ---- The order of preference ---- */

struct span resemble_find_id(struct resemble *resemble, uint64_t number) {
    uint64_t offset = find_id_begin(resemble, number);
    size_t length = (size_t)(resemble->id_ends[number] - offset);
    return (struct span){length == 0 ? "" : temporary_take_bytes(&resemble->ids, &offset, length), length};
}

/* An ID that is being sorted, and the number of its document. */
struct ranked_id {
    struct span id;
    uint64_t number;
};

/* Compares two ranked IDs by their bytes, and if these are equal, by the order in which the documents came, for
 * qsort. */
static int compare_ids_by_bytes(const void *first, const void *second) {
    const struct ranked_id *a = first, *b = second;
    size_t length = a->id.length < b->id.length ? a->id.length : b->id.length;
    int order = memcmp(a->id.bytes, b->id.bytes, length);
    if (order != 0) return order;
    if (a->id.length != b->id.length) return a->id.length < b->id.length ? -1 : 1;
    return (a->number > b->number) - (a->number < b->number);
}

/* Sets the values of documents so that those with smaller IDs are preferred, whatever the values were. Returns false
 * after a complaint if memory ran out. */
static bool prefer_smallest_ids(struct resemble *resemble) {
    struct ranked_id *ids = calloc((size_t)resemble->count + 1, sizeof *ids);
    int64_t *values = calloc((size_t)resemble->count + 1, sizeof *values);
    free(resemble->values);
    resemble->values = values;
    if (ids == NULL || values == NULL) {
        free(ids);
        return complain("out of memory");
    }
    for (uint64_t i = 0; i < resemble->count; i++) ids[i] = (struct ranked_id){resemble_find_id(resemble, i), i};
    qsort(ids, (size_t)resemble->count, sizeof *ids, compare_ids_by_bytes);
    for (uint64_t i = 0; i < resemble->count; i++) values[ids[i].number] = -(int64_t)i;
    free(ids);
    return true;
}

/* Frees the sets and the values, which are needed only to decide and for more questions. */
static void close_sets(struct resemble *resemble) {
    idx_sets_close(resemble->sets);
    free(resemble->values);
    resemble->sets = NULL;
    resemble->values = NULL;
}

bool resemble_look_for_known(struct resemble *resemble, const char *place) {
    struct contains *contains = &resemble->contains;
    bool ok = contains_open(contains, resemble->sets, resemble->known, resemble->contained_size, place);
    close_sets(resemble);
    for (uint64_t i = 0; i < resemble->known && ok; i++) {
        ok = array_grow(&resemble->kept, &resemble->kept_capacity, (size_t)i, sizeof *resemble->kept) ||
             complain("out of memory");
        if (ok) resemble->kept[i] = (struct idx_kept_set){i, 1, 1};
    }
    return ok;
}

bool resemble_decide_kept(struct resemble *resemble) {
    struct idx_keep_options *options = &resemble->keeping;
    struct idx_error error;
    if (resemble->contains.finder != NULL) return temporary_map(&resemble->ids);
    resemble->kept = calloc((size_t)resemble->count + 1, sizeof *resemble->kept);
    bool ok = (resemble->kept != NULL || complain("out of memory")) && temporary_map(&resemble->ids);
    if (ok && resemble->prefers == IDX_REPRESENTATIVE_SMALLEST_ID) ok = prefer_smallest_ids(resemble);
    options->threshold = resemble->threshold;
    options->contained = resemble->contained;
    options->contained_size = resemble->contained_size;
    options->known = resemble->known;
    options->prefer_copies = resemble->prefers == IDX_REPRESENTATIVE_MOST_DOCUMENTS;
    if (!options->prefer_copies) options->preferences = resemble->values;
    ok = ok && succeeded(idx_sets_keep(resemble->sets, options, resemble->kept, NULL, &error), &error);
    if (!resemble->asks_more) close_sets(resemble);
    return ok;
}

/* A set i that joins set j has as many members as either of them has, plus those that both have, minus those of j. A
 * set that is kept joins itself, so that `total` and `shared` are both how many it has. */
uint32_t resemble_get_set_size(const struct resemble *resemble, uint64_t number) {
    const struct idx_kept_set *kept = &resemble->kept[number];
    return kept->total + kept->shared - resemble->kept[kept->kept].total;
}

void resemble_keep_document(struct resemble *resemble, uint64_t number) {
    number += resemble->known;
    const uint32_t size = resemble_get_set_size(resemble, number);
    resemble->kept[number] = (struct idx_kept_set){number, size, size};
}

/* ---- Pairs ---- */

/* What is needed to write the lines of pairs. */
struct pair_writer {
    struct resemble *resemble;
    struct rows rows;
    uint64_t pairs;
    uint32_t *copies; /* With `between`: of each document the next one with the same shingles, or the number of all. */
};

/* Begins a row with the IDs of a pair, and the share of `shared` in `total`. */
static void begin_row(struct pair_writer *writer, uint64_t first, uint64_t second, uint64_t shared, uint64_t total) {
    const struct span first_id = resemble_find_id(writer->resemble, first),
                      second_id = resemble_find_id(writer->resemble, second);
    row_begin(&writer->rows);
    row_put_id(&writer->rows, NULL, first_id.bytes, first_id.length);
    row_put_id(&writer->rows, NULL, second_id.bytes, second_id.length);
    row_put_share(&writer->rows, NULL, shared, total);
    writer->pairs++;
}

/* Writes the row of two documents whose sets are those of `pair`, or copies of these; only the counts of `pair` are
 * used. Where sets may be contained in others, the row has a second share, that of the smaller set. */
static void put_pair_row(struct pair_writer *writer, uint64_t first, uint64_t second, const struct idx_set_pair *pair) {
    begin_row(writer, first, second, pair->shared, pair->total);
    if (writer->resemble->contained > 0)
        row_put_share(&writer->rows, NULL, pair->shared,
                      pair->first_size < pair->second_size ? pair->first_size : pair->second_size);
    row_end(&writer->rows);
}

/* Writes the row of a pair, unless both documents are known. This is an idx_set_pair_visitor. */
static bool visit_pair(void *context, const struct idx_set_pair *pair) {
    struct pair_writer *writer = context;
    if (pair->second >= writer->resemble->known) put_pair_row(writer, pair->first, pair->second, pair);
    return writer->rows.output->error == 0 && !interrupt_is_noted();
}

/* Writes the rows of all known copies of document `first`, each with all copies of document `second` that are not
 * known. A document's list of copies ascends, so its known ones come first. Returns false if output failed or a signal
 * was noted. */
static bool put_copies(struct pair_writer *writer, uint64_t first, uint64_t second, const struct idx_set_pair *pair) {
    const uint64_t known = writer->resemble->known, document_count = writer->resemble->count;
    while (second < known) second = writer->copies[second];
    for (uint64_t i = first; i < known && second < document_count; i = writer->copies[i]) {
        for (uint64_t j = second; j < document_count; j = writer->copies[j]) {
            put_pair_row(writer, i, j, pair);
            if (writer->rows.output->error != 0 || interrupt_is_noted()) return false;
        }
    }
    return true;
}

/* Writes the rows of a pair and of all copies of its documents, each of a known document and another one. Of several
 * documents with the same shingles, the first makes a pair with each of the others; all rows of these are written with
 * the first of their pairs. This is an idx_set_pair_visitor. */
static bool put_pair_between(void *context, const struct idx_set_pair *pair) {
    struct pair_writer *writer = context;
    if (pair->shared == pair->total)
        return pair->second != writer->copies[pair->first] || put_copies(writer, pair->first, pair->first, pair);
    return put_copies(writer, pair->first, pair->second, pair) && put_copies(writer, pair->second, pair->first, pair);
}

/* Sets `copies`: of each document, the next one with the same shingles. Goes backwards, and inserts each document
 * behind the first one that has its shingles, so that the lists ascend. Returns false after a complaint. */
static bool find_copies(struct pair_writer *writer) {
    struct resemble *resemble = writer->resemble;
    const struct idx_keep_options options = {.size = sizeof options, .threshold = IDX_THRESHOLD_ONE};
    struct idx_kept_set *kept = calloc((size_t)resemble->count + 1, sizeof *kept);
    struct idx_error error;
    writer->copies = calloc((size_t)resemble->count + 1, sizeof *writer->copies);
    bool ok = (kept != NULL && writer->copies != NULL) || complain("out of memory");
    ok = ok && succeeded(idx_sets_keep(resemble->sets, &options, kept, NULL, &error), &error);
    for (uint64_t i = 0; i < resemble->count && ok; i++) writer->copies[i] = (uint32_t)resemble->count;
    for (uint64_t i = resemble->count; ok && i-- > 0;) {
        const uint64_t first = kept[i].kept;
        if (first == i) continue;
        writer->copies[i] = writer->copies[first];
        writer->copies[first] = (uint32_t)i;
    }
    free(kept);
    return ok;
}

/* Writes the rows of all known documents and those that contain them. Returns false after a complaint. */
static bool put_contained_pairs(struct pair_writer *writer) {
    struct contains *contains = &writer->resemble->contains;
    struct contained_pair pair;
    uint64_t offset = 0;
    if (!temporary_map(&contains->pairs)) return false;
    while (writer->rows.output->error == 0 && !interrupt_is_noted() &&
           contains_next_pair(contains, &offset, &pair) != NULL) {
        begin_row(writer, pair.text, pair.document, pair.shared, pair.size);
        row_end(&writer->rows);
    }
    return true;
}

bool resemble_put_pairs(struct resemble *resemble, struct output *output, uint64_t *pairs) {
    const struct idx_set_pair_options options = {sizeof options, resemble->threshold, resemble->contained,
                                                 resemble->contained_size};
    struct pair_writer writer = {resemble, {.output = output}, 0, NULL};
    struct idx_error error;
    bool ok = temporary_map(&resemble->ids) && (!resemble->between || find_copies(&writer));
    if (ok && resemble->contains.finder != NULL)
        ok = put_contained_pairs(&writer);
    else if (ok)
        ok = succeeded(idx_sets_visit_pairs(resemble->sets, &options, resemble->between ? put_pair_between : visit_pair,
                                            &writer, NULL, &error),
                       &error);
    free(writer.copies);
    *pairs = writer.pairs;
    return ok && output->error == 0 && !interrupt_is_noted();
}

/* ---- Visiting ---- */

/* A visit of all documents or clusters. */
struct visiting {
    struct resemble *resemble;
    resemble_visitor visit;
    void *context;
    uint64_t cluster; /* The number of the cluster that is visited. */
};

/* Passes a document, and the one that it joins, to the visitor. Returns false also if a signal was noted. */
static bool visit_document(const struct visiting *visiting, uint64_t number) {
    struct resemble *resemble = visiting->resemble;
    uint64_t kept = resemble->kept[number].kept;
    struct span id = resemble_find_id(resemble, number), kept_id = resemble_find_id(resemble, kept);
    const struct idx_cluster_member member = {
        .cluster = kept < resemble->known ? CLUSTER_KNOWN : visiting->cluster,
        .is_representative = number == kept,
        .document = {number - resemble->known, id.bytes, id.length},
        .representative = {kept - resemble->known, kept_id.bytes, kept_id.length}};
    return visiting->visit(visiting->context, &member, &resemble->kept[number]) && !interrupt_is_noted();
}

/* Sets like_known, and the summary of the documents that join no known one. counts[i] is how many documents join
 * document i, itself included. */
static void summarize_clusters(struct resemble *resemble, const uint32_t *counts, struct idx_cluster_summary *summary) {
    *summary = (struct idx_cluster_summary){0};
    for (uint64_t i = 0; i < resemble->known; i++) resemble->like_known += counts[i] - 1;
    summary->documents = resemble->count - resemble->known - resemble->like_known;
    for (uint64_t i = resemble->known; i < resemble->count; i++) {
        if (counts[i] == 0) continue;
        summary->sizes[31 - __builtin_clz(counts[i])]++;
        summary->clusters += counts[i] > 1;
        summary->clustered += counts[i] > 1 ? counts[i] : 0;
    }
}

/* Lists the numbers of all documents, cluster by cluster, the representative of each first. When this is called,
 * ends[i] is how many documents join document i, itself included; when it returns, where these end in the list. */
static void list_by_cluster(const struct resemble *resemble, uint32_t *ends, uint32_t *list) {
    uint32_t cluster_begin = 0;
    for (uint64_t i = 0; i < resemble->count; i++) {
        uint32_t count = ends[i];
        ends[i] = cluster_begin;
        if (count > 0) list[ends[i]++] = (uint32_t)i;
        cluster_begin += count;
    }
    for (uint64_t i = 0; i < resemble->count; i++) {
        uint64_t kept = resemble->kept[i].kept;
        if (kept != i) list[ends[kept]++] = (uint32_t)i;
    }
}

/* Visits the documents that join a known one: with groups_known, in the order of `list`, whose first `count` members
 * these and the known ones are; otherwise in the order in which they came. */
static bool visit_like_known(struct visiting *visiting, const uint32_t *list, uint64_t count) {
    struct resemble *resemble = visiting->resemble;
    bool ok = true;
    for (uint64_t i = 0; i < count && ok && resemble->groups_known; i++)
        ok = list[i] < resemble->known || visit_document(visiting, list[i]);
    if (resemble->groups_known || resemble->like_known == 0) return ok;
    for (uint64_t i = resemble->known; i < resemble->count && ok; i++)
        ok = resemble->kept[i].kept >= resemble->known || visit_document(visiting, i);
    return ok;
}

/* Visits the documents of clusters of two or more that have no known one, and then those that join a known one. Changes
 * the counts, which are as in `summarize_clusters`. */
static bool visit_clusters(struct visiting *visiting, uint32_t *counts) {
    struct resemble *resemble = visiting->resemble;
    uint32_t *list = calloc((size_t)resemble->count + 1, sizeof *list);
    uint64_t cluster_begin = 0, cluster_end = 0, like_known = 0;
    bool ok = list != NULL || complain("out of memory");
    if (ok) list_by_cluster(resemble, counts, list);
    if (ok && resemble->known > 0) like_known = counts[resemble->known - 1]; /* Counts are now the ends of clusters. */
    for (cluster_begin = cluster_end = like_known; cluster_begin < resemble->count && ok; cluster_begin = cluster_end) {
        cluster_end = counts[list[cluster_begin]];
        if (cluster_end - cluster_begin == 1) continue;
        for (uint64_t i = cluster_begin; i < cluster_end && ok; i++) ok = visit_document(visiting, list[i]);
        visiting->cluster++;
    }
    ok = ok && visit_like_known(visiting, list, like_known);
    free(list);
    return ok;
}

bool resemble_visit(struct resemble *resemble, bool by_cluster, resemble_visitor visit, void *context,
                    struct idx_cluster_summary *summary) {
    struct visiting visiting = {resemble, visit, context, 0};
    uint32_t *counts = calloc((size_t)resemble->count + 1, sizeof *counts);
    bool ok = counts != NULL || complain("out of memory");
    for (uint64_t i = 0; i < resemble->count && ok; i++) counts[resemble->kept[i].kept]++;
    if (ok) summarize_clusters(resemble, counts, summary);
    if (ok && by_cluster) ok = visit_clusters(&visiting, counts);
    for (uint64_t i = resemble->known; i < resemble->count && ok && !by_cluster; i++) ok = visit_document(&visiting, i);
    free(counts);
    return ok;
}

void resemble_close(struct resemble *resemble) {
    close_sets(resemble);
    contains_close(&resemble->contains);
    temporary_close(&resemble->ids);
    free(resemble->id_ends);
    free(resemble->kept);
}
