/* resemble.c: decides by the shingles of texts which documents to keep: hands their sets to the library, and then
 * visits the clusters that these make. It keeps the IDs of the documents in a temporary file. */
#include "tools/dedup/resemble.h"

#include "tools/answers/cluster_listing.h"
#include "tools/shared/array.h"

#include <stdlib.h>
#include <string.h>

bool resemblance_read(const char *option, const char *argument, int64_t *least) {
    /* A number that reading rounds is refused: with 0.79999, texts would be taken for less alike than they are. */
    if (idx_weight_parse(argument, strlen(argument), least) && *least > 0 && *least <= IDX_DECIMAL_WEIGHT_ONE &&
        strtod(argument, NULL) == (double)*least / (double)IDX_DECIMAL_WEIGHT_ONE)
        return true;
    return complain_of_usage("%s needs a number above 0 and up to 1, with up to 4 digits after the point, not '%s'",
                             option, argument);
}

bool shingling_read(const char *argument, struct shingling *shingling) {
    static const char characters[] = "chars:";
    const size_t prefix = sizeof characters - 1;
    const char *number = argument;
    uint64_t width;
    shingling->of_characters = strncmp(argument, characters, prefix) == 0;
    if (shingling->of_characters) number += prefix;
    if (!number_parse_digits(number, strlen(number), &width) || width == 0 || width > TEXT_MOST_WIDTH)
        return complain_of_usage("--shingle needs a number of words, 1 to %d, or chars:N, not '%s'", TEXT_MOST_WIDTH,
                                 argument);
    shingling->width = (unsigned)width;
    return true;
}

uint64_t shingling_count(const struct shingling *shingling, uint64_t words) {
    const uint64_t width = shingling->width != 0 ? shingling->width : DEFAULT_SHINGLE_WORDS;
    return words < width ? words > 0 : words - width + 1;
}

bool most_common_read(const char *argument, struct most_common *most) {
    size_t length = strlen(argument);
    bool is_share = length > 0 && argument[length - 1] == '%';
    if (is_share) length--;
    if (is_share && length > 0 && argument[length - 1] == ' ') length--;
    if (is_share ? idx_weight_parse(argument, length, &most->share) && most->share > 0 &&
                       most->share <= 100 * IDX_DECIMAL_WEIGHT_ONE
                 : number_parse(argument, &most->count) && most->count > 0)
        return true;
    return complain_of_usage("--ignore-common needs a number of documents, or a share such as 0.1%%, not '%s'",
                             argument);
}

bool resemble_open(struct resemble *resemble, const struct idx_sets_options *options, const struct scratch *scratch,
                   const char *folder) {
    struct idx_error error;
    resemble->options = *options;
    return temporary_open(&resemble->ids, scratch, folder) &&
           succeeded(idx_sets_open(&resemble->sets, options, &error), &error);
}

/* Notes the value of the document that is being added, for which id_ends has room. Values are kept from the first one
 * on that is not 0, which may be that of any document. */
static bool note_value(struct resemble *resemble, int64_t value) {
    const size_t before = resemble->value_capacity, capacity = resemble->id_capacity;
    if (value == 0 && resemble->values == NULL) return true;
    if (before < capacity) {
        int64_t *values = realloc(resemble->values, capacity * sizeof *values);
        if (values == NULL) return false;
        memset(values + before, 0, (capacity - before) * sizeof *values);
        resemble->values = values;
        resemble->value_capacity = capacity;
    }
    resemble->values[resemble->count] = value;
    return true;
}

/* Returns where a document's ID begins in the temporary file. */
static uint64_t id_begin(const struct resemble *resemble, uint64_t number) {
    return number == 0 ? 0 : resemble->id_ends[number - 1];
}

bool resemble_add(struct resemble *resemble, struct span id, const uint64_t *shingles, size_t count, int64_t value) {
    const uint64_t number = resemble->count;
    struct idx_error error;
    if (!array_grow(&resemble->id_ends, &resemble->id_capacity, (size_t)number, sizeof *resemble->id_ends) ||
        !note_value(resemble, value))
        return complain("out of memory");
    resemble->id_ends[number] = id_begin(resemble, number) + id.length;
    resemble->count++;
    output_bytes(&resemble->ids.output, id.bytes, id.length);
    return (resemble->ids.output.error == 0 || temporary_flush(&resemble->ids)) &&
           succeeded(idx_sets_add(resemble->sets, shingles, count, &error), &error);
}

bool resemble_ignore_common(struct resemble *resemble) {
    const struct most_common *most = &resemble->most_common;
    const uint64_t all = 100 * IDX_DECIMAL_WEIGHT_ONE;
    struct idx_error error;
    uint64_t count = most->count;
    if (most->share > 0) count = (resemble->count * (uint64_t)most->share + all - 1) / all;
    if (resemble->count == 0) return true;
    return count == 0 || succeeded(idx_sets_ignore_common(resemble->sets, count, &resemble->ignored, &error), &error);
}

/* ---- The order of preference ---- */

struct span resemble_id(struct resemble *resemble, uint64_t number) {
    uint64_t offset = id_begin(resemble, number);
    size_t length = (size_t)(resemble->id_ends[number] - offset);
    return (struct span){temporary_take(&resemble->ids, &offset, length), length};
}

struct ranked_id {
    struct span id;
    uint64_t number;
};

static int compare_ids(const void *first, const void *second) {
    const struct ranked_id *a = first, *b = second;
    size_t length = a->id.length < b->id.length ? a->id.length : b->id.length;
    int order = memcmp(a->id.bytes, b->id.bytes, length);
    if (order != 0) return order;
    if (a->id.length != b->id.length) return a->id.length < b->id.length ? -1 : 1;
    return (a->number > b->number) - (a->number < b->number);
}

/* Sets the values of documents so that those with smaller IDs are preferred, whatever the values were. */
static bool prefer_smallest_ids(struct resemble *resemble) {
    struct ranked_id *ids = calloc((size_t)resemble->count + 1, sizeof *ids);
    int64_t *values = calloc((size_t)resemble->count + 1, sizeof *values);
    free(resemble->values);
    resemble->values = values;
    if (ids == NULL || values == NULL) {
        free(ids);
        return complain("out of memory");
    }
    for (uint64_t i = 0; i < resemble->count; i++) ids[i] = (struct ranked_id){resemble_id(resemble, i), i};
    qsort(ids, (size_t)resemble->count, sizeof *ids, compare_ids);
    for (uint64_t i = 0; i < resemble->count; i++) values[ids[i].number] = -(int64_t)i;
    free(ids);
    return true;
}

/* Frees what only more questions need. */
static void close_sets(struct resemble *resemble) {
    idx_sets_close(resemble->sets);
    free(resemble->values);
    resemble->sets = NULL;
    resemble->values = NULL;
}

bool resemble_decide(struct resemble *resemble) {
    struct idx_keep_options *options = &resemble->keeping;
    struct idx_error error;
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
uint32_t resemble_set_size(const struct resemble *resemble, uint64_t number) {
    const struct idx_kept_set *kept = &resemble->kept[number];
    return kept->total + kept->shared - resemble->kept[kept->kept].total;
}

void resemble_keep(struct resemble *resemble, uint64_t number) {
    number += resemble->known;
    const uint32_t size = resemble_set_size(resemble, number);
    resemble->kept[number] = (struct idx_kept_set){number, size, size};
}

/* ---- Pairs ---- */

struct pair_writer {
    struct resemble *resemble;
    struct output *output;
    uint64_t pairs;
};

/* Writes the line of a pair, unless both documents are known. This is an idx_set_pair_visitor. */
static bool put_pair(void *context, const struct idx_set_pair *pair) {
    struct pair_writer *writer = context;
    struct span first = resemble_id(writer->resemble, pair->first),
                second = resemble_id(writer->resemble, pair->second);
    if (pair->second < writer->resemble->known) return true;
    output_id(writer->output, first.bytes, first.length);
    output_byte(writer->output, '\t');
    output_id(writer->output, second.bytes, second.length);
    output_byte(writer->output, '\t');
    listing_put_share(writer->output, pair->shared, pair->total);
    if (writer->resemble->contained > 0) {
        output_byte(writer->output, '\t');
        listing_put_share(writer->output, pair->shared,
                          pair->first_size < pair->second_size ? pair->first_size : pair->second_size);
    }
    output_byte(writer->output, '\n');
    writer->pairs++;
    return writer->output->error == 0 && !interrupt_noted();
}

bool resemble_put_pairs(struct resemble *resemble, struct output *output, uint64_t *pairs) {
    const struct idx_set_pair_options options = {sizeof options, resemble->threshold, resemble->contained,
                                                 resemble->contained_size};
    struct pair_writer writer = {resemble, output, 0};
    struct idx_error error;
    bool ok = temporary_map(&resemble->ids) &&
              succeeded(idx_sets_visit_pairs(resemble->sets, &options, put_pair, &writer, NULL, &error), &error);
    *pairs = writer.pairs;
    return ok && output->error == 0 && !interrupt_noted();
}

/* ---- Visiting ---- */

struct visiting {
    struct resemble *resemble;
    resemble_visitor visit;
    void *context;
    uint64_t cluster; /* The number of the cluster that is visited. */
};

/* Passes a document and the other one, which it joins, to the visitor. Returns false also if a signal was noted. */
static bool visit_document(const struct visiting *visiting, uint64_t number) {
    struct resemble *resemble = visiting->resemble;
    uint64_t kept = resemble->kept[number].kept;
    struct span id = resemble_id(resemble, number), other = resemble_id(resemble, kept);
    const struct idx_cluster_member member = {.cluster = kept < resemble->known ? CLUSTER_KNOWN : visiting->cluster,
                                              .is_representative = number == kept,
                                              .document = {number - resemble->known, id.bytes, id.length},
                                              .representative = {kept - resemble->known, other.bytes, other.length}};
    return visiting->visit(visiting->context, &member, &resemble->kept[number]) && !interrupt_noted();
}

/* Sets like_known, and the summary of all others. counts[i]: how many documents join document i, itself included. */
static void summarize(struct resemble *resemble, const uint32_t *counts, struct idx_cluster_summary *summary) {
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

/* Lists the numbers of all documents, cluster by cluster, the representative of each first. At first, ends[i] is how
 * many documents join document i, itself included; in the end, where these end in the list. */
static void list_by_cluster(const struct resemble *resemble, uint32_t *ends, uint32_t *list) {
    uint32_t begin = 0;
    for (uint64_t i = 0; i < resemble->count; i++) {
        uint32_t count = ends[i];
        ends[i] = begin;
        if (count > 0) list[ends[i]++] = (uint32_t)i;
        begin += count;
    }
    for (uint64_t i = 0; i < resemble->count; i++) {
        uint64_t kept = resemble->kept[i].kept;
        if (kept != i) list[ends[kept]++] = (uint32_t)i;
    }
}

/* Visits the documents of clusters of two or more that have no known one, and then those that join a known one. Changes
 * the counts, which are as in `summarize`. */
static bool visit_clusters(struct visiting *visiting, uint32_t *counts) {
    struct resemble *resemble = visiting->resemble;
    uint32_t *list = calloc((size_t)resemble->count + 1, sizeof *list);
    uint64_t begin = 0, end = 0;
    bool ok = list != NULL || complain("out of memory");
    if (ok) list_by_cluster(resemble, counts, list);
    if (ok && resemble->known > 0) end = counts[resemble->known - 1]; /* Counts have become the ends of clusters. */
    for (begin = end; begin < resemble->count && ok; begin = end) {
        end = counts[list[begin]];
        if (end - begin == 1) continue;
        for (uint64_t i = begin; i < end && ok; i++) ok = visit_document(visiting, list[i]);
        visiting->cluster++;
    }
    free(list);
    for (uint64_t i = resemble->known; i < resemble->count && ok && resemble->like_known > 0; i++)
        ok = resemble->kept[i].kept >= resemble->known || visit_document(visiting, i);
    return ok;
}

bool resemble_visit(struct resemble *resemble, bool clusters, resemble_visitor visit, void *context,
                    struct idx_cluster_summary *summary) {
    struct visiting visiting = {resemble, visit, context, 0};
    uint32_t *counts = calloc((size_t)resemble->count + 1, sizeof *counts);
    bool ok = counts != NULL || complain("out of memory");
    for (uint64_t i = 0; i < resemble->count && ok; i++) counts[resemble->kept[i].kept]++;
    if (ok) summarize(resemble, counts, summary);
    if (ok && clusters) ok = visit_clusters(&visiting, counts);
    for (uint64_t i = resemble->known; i < resemble->count && ok && !clusters; i++) ok = visit_document(&visiting, i);
    free(counts);
    return ok;
}

void resemble_close(struct resemble *resemble) {
    close_sets(resemble);
    temporary_close(&resemble->ids);
    free(resemble->id_ends);
    free(resemble->kept);
}
