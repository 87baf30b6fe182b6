/* resemble.c: decides by the shingles of texts which documents to keep: hands their sets to the library, and then
 * visits the clusters that these make. It keeps the IDs of the documents in a temporary file. */
#include "tools/resemblance/resemble.h"

#include "tools/shared/array.h"
#include "tools/shared/rows.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Texts of fewer words are not looked for in others, unless --min-words says another number. */
enum { DEFAULT_MIN_WORDS_CONTAINED = 20 };

void resemble_set_contained_size(struct resemble *resemble, const struct idx_text_shingle_options *shingling,
                                 uint64_t min_words) {
    const uint64_t width = shingling->width;
    const uint64_t words = min_words != NO_MIN_WORDS ? min_words : DEFAULT_MIN_WORDS_CONTAINED;
    /* A text of fewer words than a shingle has one shingle, of all its words. */
    resemble->contained_size = words < width ? words > 0 : words - width + 1;
}

bool quota_parse(const char *option, const char *argument, struct quota *quota) {
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

/* Sets preferences[count] to the preference of the document that is being added, for which id_ends has a place already.
 * The list of values is allocated only with the first value that is not 0, since most commands have none; those before
 * it are 0. Returns false, without a complaint, if memory ran out. */
static bool note_preference(struct resemble *resemble, int64_t preference) {
    const size_t old_capacity = resemble->preference_capacity, capacity = resemble->id_capacity;
    if (preference == 0 && resemble->preferences == NULL) return true;
    if (old_capacity < capacity) {
        int64_t *preferences = realloc(resemble->preferences, capacity * sizeof *preferences);
        if (preferences == NULL) return false;
        memset(preferences + old_capacity, 0, (capacity - old_capacity) * sizeof *preferences);
        resemble->preferences = preferences;
        resemble->preference_capacity = capacity;
    }
    resemble->preferences[resemble->count] = preference;
    return true;
}

/* Returns where a document's ID begins in the temporary file. */
static uint64_t find_id_begin(const struct resemble *resemble, uint64_t number) {
    return number == 0 ? 0 : resemble->id_ends[number - 1];
}

/* Finds which known texts document `number` contains, and sets kept[number] to the best of them, as
 * contains_find_best_text does. Returns false after a complaint. */
static bool find_contained_texts(struct resemble *resemble, uint64_t number, const uint64_t *shingles,
                                 size_t shingle_count) {
    if (!array_grow(&resemble->kept, &resemble->kept_capacity, (size_t)number, sizeof *resemble->kept))
        return complain("out of memory");
    return contains_find_best_text(&resemble->contains, number, shingles, shingle_count, &resemble->kept[number]);
}

bool resemble_add_document(struct resemble *resemble, struct span id, const uint64_t *shingles, size_t shingle_count,
                           int64_t preference) {
    const uint64_t number = resemble->count;
    struct idx_error error;
    if (!array_grow(&resemble->id_ends, &resemble->id_capacity, (size_t)number, sizeof *resemble->id_ends) ||
        !note_preference(resemble, preference))
        return complain("out of memory");
    resemble->id_ends[number] = find_id_begin(resemble, number) + id.length;
    resemble->count++;
    output_bytes(&resemble->ids.output, id.bytes, id.length);
    if (resemble->ids.output.error != 0 && !temporary_flush(&resemble->ids)) return false;
    if (resemble->contains.finder != NULL) return find_contained_texts(resemble, number, shingles, shingle_count);
    return succeeded(idx_sets_add(resemble->sets, shingles, shingle_count, &error), &error);
}

bool resemble_ignore_common_shingles(struct resemble *resemble) {
    const uint64_t max_documents = quota_find_count(&resemble->most_common, resemble->count);
    struct idx_error error;
    if (resemble->count == 0 || max_documents == 0) return true;
    return succeeded(idx_sets_ignore_common(resemble->sets, max_documents, &resemble->ignored, &error), &error);
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
    return (struct span){length == 0 ? "" : temporary_read_bytes(&resemble->ids, &offset, length), length};
}

/* An entry of the list that is sorted by ID: an ID, and the number of its document. */
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

/* Sets the value of each document to minus its rank among all IDs, so that documents with smaller IDs are preferred.
 * Returns false after a complaint if memory ran out. */
static bool prefer_smallest_ids(struct resemble *resemble) {
    struct ranked_id *ids = calloc((size_t)resemble->count + 1, sizeof *ids);
    int64_t *preferences = calloc((size_t)resemble->count + 1, sizeof *preferences);
    free(resemble->preferences);
    resemble->preferences = preferences;
    if (ids == NULL || preferences == NULL) {
        free(ids);
        return complain("out of memory");
    }
    for (uint64_t i = 0; i < resemble->count; i++) ids[i] = (struct ranked_id){resemble_find_id(resemble, i), i};
    qsort(ids, (size_t)resemble->count, sizeof *ids, compare_ids_by_bytes);
    for (uint64_t i = 0; i < resemble->count; i++) preferences[ids[i].number] = -(int64_t)i;
    free(ids);
    return true;
}

/* Frees the sets and the values, which are needed only to decide and for more questions. */
static void free_sets_and_preferences(struct resemble *resemble) {
    idx_sets_close(resemble->sets);
    free(resemble->preferences);
    resemble->sets = NULL;
    resemble->preferences = NULL;
}

bool resemble_look_for_known(struct resemble *resemble, const char *known_path) {
    struct contains *contains = &resemble->contains;
    bool ok = contains_open_texts(contains, resemble->sets, resemble->known, resemble->contained_size, known_path);
    free_sets_and_preferences(resemble);
    for (uint64_t i = 0; i < resemble->known && ok; i++) {
        ok = array_grow(&resemble->kept, &resemble->kept_capacity, (size_t)i, sizeof *resemble->kept) ||
             complain("out of memory");
        if (ok) resemble->kept[i] = (struct idx_kept_set){.kept = i, .shared = 1, .total = 1};
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
    if (!options->prefer_copies) options->preferences = resemble->preferences;
    ok = ok && succeeded(idx_sets_keep(resemble->sets, options, resemble->kept, NULL, &error), &error);
    if (!resemble->keeps_sets_open) free_sets_and_preferences(resemble);
    return ok;
}

/* If set i joins set j, kept[i] has total = |i ∪ j| and shared = |i ∩ j|, and so |i| = total + shared - |j|. A kept set
 * j joins itself, so that kept[j] has total = shared = |j|. */
uint32_t resemble_get_set_size(const struct resemble *resemble, uint64_t number) {
    const struct idx_kept_set *kept = &resemble->kept[number];
    return kept->total + kept->shared - resemble->kept[kept->kept].total;
}

void resemble_keep_document(struct resemble *resemble, uint64_t number) {
    number += resemble->known;
    const uint32_t size = resemble_get_set_size(resemble, number);
    resemble->kept[number] = (struct idx_kept_set){.kept = number, .shared = size, .total = size};
}

/* ---- Pairs ---- */

/* What is needed to write the lines of pairs. */
struct pair_writer {
    struct resemble *resemble;
    struct rows rows;
    uint64_t pair_count; /* How many rows were written. */
    uint32_t *next_copy; /* With `between`: for each document, the next one with the same shingles, or else
                            resemble->count. */
};

/* Begins a row with the IDs of documents `first` and `second` and the share shared / total, and counts it. The caller
 * ends it. */
static void begin_row(struct pair_writer *writer, uint64_t first, uint64_t second, uint64_t shared, uint64_t total) {
    const struct span first_id = resemble_find_id(writer->resemble, first),
                      second_id = resemble_find_id(writer->resemble, second);
    row_begin(&writer->rows);
    row_write_id(&writer->rows, NULL, first_id.bytes, first_id.length);
    row_write_id(&writer->rows, NULL, second_id.bytes, second_id.length);
    row_write_share(&writer->rows, NULL, shared, total);
    writer->pair_count++;
}

/* Writes the row of documents `first` and `second`. Their sets are those of `pair`, or copies of these, so only the
 * counts of `pair` are used. With `contained`, the row ends with the share of the smaller set that both have. */
static void write_row(struct pair_writer *writer, uint64_t first, uint64_t second, const struct idx_set_pair *pair) {
    begin_row(writer, first, second, pair->shared, pair->total);
    if (writer->resemble->contained > 0)
        row_write_share(&writer->rows, NULL, pair->shared,
                        pair->first_size < pair->second_size ? pair->first_size : pair->second_size);
    row_end(&writer->rows);
}

/* Writes the row of a pair, unless both documents are known: pair->second is the larger number, and known ones come
 * first. Returns false if output failed or a signal was noted. This is an idx_set_pair_visitor; `context` is the struct
 * pair_writer. */
static bool write_pair_unless_known(void *context, const struct idx_set_pair *pair) {
    struct pair_writer *writer = context;
    if (pair->second >= writer->resemble->known) write_row(writer, pair->first, pair->second, pair);
    return writer->rows.output->error == 0 && !interrupt_is_noted();
}

/* Writes a row for each known copy of document `first` with each copy of document `second` that is not known. A
 * document is a copy of itself here. The numbers of copies ascend, so the known ones come first. Returns false if
 * output failed or a signal was noted. */
static bool write_copies(struct pair_writer *writer, uint64_t first, uint64_t second, const struct idx_set_pair *pair) {
    const uint64_t known = writer->resemble->known, document_count = writer->resemble->count;
    while (second < known) second = writer->next_copy[second];
    for (uint64_t i = first; i < known && second < document_count; i = writer->next_copy[i]) {
        for (uint64_t j = second; j < document_count; j = writer->next_copy[j]) {
            write_row(writer, i, j, pair);
            if (writer->rows.output->error != 0 || interrupt_is_noted()) return false;
        }
    }
    return true;
}

/* Writes the rows of a pair and of all copies of its documents; each row is of a known document and one that is not.
 * idx_sets_visit_pairs reports documents with the same shingles as pairs of the first one with each of the others: all
 * their rows are written at the first of these pairs. Returns false if output failed or a signal was noted. This is an
 * idx_set_pair_visitor; `context` is the struct pair_writer. */
static bool write_pair_between(void *context, const struct idx_set_pair *pair) {
    struct pair_writer *writer = context;
    if (pair->shared == pair->total)
        return pair->second != writer->next_copy[pair->first] || write_copies(writer, pair->first, pair->first, pair);
    return write_copies(writer, pair->first, pair->second, pair) &&
           write_copies(writer, pair->second, pair->first, pair);
}

/* Sets next_copy, which makes a list of all documents with the same shingles. Goes through the documents backwards, and
 * inserts each behind the first one that has its shingles, so that the lists ascend. Returns false after a complaint;
 * the caller frees next_copy even then. */
static bool link_copies(struct pair_writer *writer) {
    struct resemble *resemble = writer->resemble;
    const struct idx_keep_options options = {.size = sizeof options, .threshold = IDX_THRESHOLD_ONE};
    struct idx_kept_set *kept = calloc((size_t)resemble->count + 1, sizeof *kept);
    struct idx_error error;
    writer->next_copy = calloc((size_t)resemble->count + 1, sizeof *writer->next_copy);
    bool ok = (kept != NULL && writer->next_copy != NULL) || complain("out of memory");
    ok = ok && succeeded(idx_sets_keep(resemble->sets, &options, kept, NULL, &error), &error);
    for (uint64_t i = 0; i < resemble->count && ok; i++) writer->next_copy[i] = (uint32_t)resemble->count;
    for (uint64_t i = resemble->count; ok && i-- > 0;) {
        const uint64_t first = kept[i].kept;
        if (first == i) continue;
        writer->next_copy[i] = writer->next_copy[first];
        writer->next_copy[first] = (uint32_t)i;
    }
    free(kept);
    return ok;
}

/* Writes the rows of all known documents and those that contain them, until output fails or a signal is noted. Returns
 * false after a complaint. */
static bool write_contained_pairs(struct pair_writer *writer) {
    struct contains *contains = &writer->resemble->contains;
    struct contained_pair pair;
    uint64_t offset = 0;
    if (!temporary_map(&contains->pairs)) return false;
    while (writer->rows.output->error == 0 && !interrupt_is_noted() &&
           contains_read_next_pair(contains, &offset, &pair) != NULL) {
        begin_row(writer, pair.text, pair.document, pair.shared, pair.size);
        row_end(&writer->rows);
    }
    return true;
}

bool resemble_write_pairs(struct resemble *resemble, struct output *output, uint64_t *pair_count) {
    const struct idx_set_pair_options options = {.size = sizeof options,
                                                 .threshold = resemble->threshold,
                                                 .contained = resemble->contained,
                                                 .contained_size = resemble->contained_size};
    struct pair_writer writer = {.resemble = resemble, .rows.output = output};
    struct idx_error error;
    bool ok = temporary_map(&resemble->ids) && (!resemble->between || link_copies(&writer));
    if (ok && resemble->contains.finder != NULL)
        ok = write_contained_pairs(&writer);
    else if (ok)
        ok = succeeded(idx_sets_visit_pairs(resemble->sets, &options,
                                            resemble->between ? write_pair_between : write_pair_unless_known, &writer,
                                            NULL, &error),
                       &error);
    free(writer.next_copy);
    *pair_count = writer.pair_count;
    return ok && output->error == 0 && !interrupt_is_noted();
}

/* ---- Visiting ---- */

/* The state of resemble_visit. */
struct visit_state {
    struct resemble *resemble;
    resemble_visitor visit;
    void *context;
    uint64_t cluster; /* The number, from 0, of the cluster that is visited. */
};

/* Calls the visitor for document `number`, counted with the known ones, and the one that it joins. Returns what the
 * visitor returns, or false if a signal was noted. */
static bool visit_document(const struct visit_state *state, uint64_t number) {
    struct resemble *resemble = state->resemble;
    uint64_t kept_number = resemble->kept[number].kept;
    struct span id = resemble_find_id(resemble, number), kept_id = resemble_find_id(resemble, kept_number);
    const struct idx_cluster_member member = {
        .cluster = kept_number < resemble->known ? CLUSTER_KNOWN : state->cluster,
        .is_representative = number == kept_number,
        .document = {.number = number - resemble->known, .id = id.bytes, .id_length = id.length},
        .representative = {.number = kept_number - resemble->known, .id = kept_id.bytes, .id_length = kept_id.length}};
    return state->visit(state->context, &member, &resemble->kept[number]) && !interrupt_is_noted();
}

/* Adds to like_known how many documents join a known one, and sets the summary of the others. In *summary, `sizes` also
 * counts clusters of one, `clusters` and `clustered` only larger ones. member_counts[i] is how many documents join
 * document i, itself included; it is 0 if document i joins another one, and at least 1 for a known one. */
static void summarize_clusters(struct resemble *resemble, const uint32_t *member_counts,
                               struct idx_cluster_summary *summary) {
    *summary = (struct idx_cluster_summary){0};
    for (uint64_t i = 0; i < resemble->known; i++) resemble->like_known += member_counts[i] - 1;
    summary->documents = resemble->count - resemble->known - resemble->like_known;
    for (uint64_t i = resemble->known; i < resemble->count; i++) {
        if (member_counts[i] == 0) continue;
        summary->sizes[31 - __builtin_clz(member_counts[i])]++; /* The binary logarithm, rounded down. */
        summary->clusters += member_counts[i] > 1;
        summary->clustered += member_counts[i] > 1 ? member_counts[i] : 0;
    }
}

/* Sets `list` to the numbers of all documents, cluster by cluster, the representative of each first. Before the call,
 * ends[i] is how many documents join document i, itself included; afterwards, it is the index in `list` behind the last
 * of them. */
static void list_documents_by_cluster(const struct resemble *resemble, uint32_t *ends, uint32_t *list) {
    uint32_t cluster_begin = 0;
    for (uint64_t i = 0; i < resemble->count; i++) {
        uint32_t count = ends[i];
        ends[i] = cluster_begin; /* It moves on as members are listed. */
        if (count > 0) list[ends[i]++] = (uint32_t)i;
        cluster_begin += count;
    }
    for (uint64_t i = 0; i < resemble->count; i++) {
        uint64_t kept = resemble->kept[i].kept;
        if (kept != i) list[ends[kept]++] = (uint32_t)i;
    }
}

/* Visits the documents that join a known one. With groups_known, visits them in the order of `list`: its first
 * `listed_count` numbers are theirs and those of the known ones. Otherwise visits them in the order in which they were
 * added. Returns false if visit_document does. */
static bool visit_like_known(struct visit_state *state, const uint32_t *list, uint64_t listed_count) {
    struct resemble *resemble = state->resemble;
    bool ok = true;
    for (uint64_t i = 0; i < listed_count && ok && resemble->groups_known; i++)
        ok = list[i] < resemble->known || visit_document(state, list[i]);
    if (resemble->groups_known || resemble->like_known == 0) return ok;
    for (uint64_t i = resemble->known; i < resemble->count && ok; i++)
        ok = resemble->kept[i].kept >= resemble->known || visit_document(state, i);
    return ok;
}

/* Visits the documents of clusters of two or more that have no known one, and then those that join a known one.
 * member_counts[i] is how many documents join document i, itself included; these numbers are changed. Returns false
 * after a complaint, or if visit_document does. */
static bool visit_clusters(struct visit_state *state, uint32_t *member_counts) {
    struct resemble *resemble = state->resemble;
    uint32_t *list = calloc((size_t)resemble->count + 1, sizeof *list);
    if (list == NULL) return complain("out of memory");
    list_documents_by_cluster(resemble, member_counts, list);
    const uint32_t *cluster_ends = member_counts; /* Which list_documents_by_cluster has put in their place. */
    const uint64_t known_end = resemble->known > 0 ? cluster_ends[resemble->known - 1] : 0;
    bool ok = true;
    for (uint64_t begin = known_end, end; begin < resemble->count && ok; begin = end) {
        end = cluster_ends[list[begin]];
        if (end - begin == 1) continue;
        for (uint64_t i = begin; i < end && ok; i++) ok = visit_document(state, list[i]);
        state->cluster++;
    }
    ok = ok && visit_like_known(state, list, known_end);
    free(list);
    return ok;
}

bool resemble_visit(struct resemble *resemble, bool by_cluster, resemble_visitor visit, void *context,
                    struct idx_cluster_summary *summary) {
    struct visit_state state = {.resemble = resemble, .visit = visit, .context = context};
    uint32_t *member_counts = calloc((size_t)resemble->count + 1, sizeof *member_counts);
    bool ok = member_counts != NULL || complain("out of memory");
    for (uint64_t i = 0; i < resemble->count && ok; i++) member_counts[resemble->kept[i].kept]++;
    if (ok) summarize_clusters(resemble, member_counts, summary);
    if (ok && by_cluster) ok = visit_clusters(&state, member_counts);
    for (uint64_t i = resemble->known; i < resemble->count && ok && !by_cluster; i++) ok = visit_document(&state, i);
    free(member_counts);
    return ok;
}

void resemble_close(struct resemble *resemble) {
    free_sets_and_preferences(resemble);
    contains_close(&resemble->contains);
    temporary_close(&resemble->ids);
    free(resemble->id_ends);
    free(resemble->kept);
}
