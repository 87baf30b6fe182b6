/* regroup.c: divides each cluster by fingerprints into clusters that the texts confirm. Its documents are taken in the
 * order of preference; each one joins the first representative so far whose text resembles its own, or becomes a
 * representative itself. */
#include "tools/dedup/dedup.h"

#include <idx_text.h>

#include <stdlib.h>
#include <string.h>

/* From this many documents on, representatives are listed only by features that several documents of the cluster share,
 * which takes less memory. */
enum { LARGE_CLUSTER = 1024 };

/* A document of the cluster by fingerprints that is being divided. */
struct candidate {
    uint64_t in_index;     /* Its number in the index. */
    uint64_t offset;       /* Where its struct confirm_member is in the file of members. */
    const struct set *set; /* NULL: the document has no text. */
    uint32_t place;        /* Its own place among the candidates. */
    uint32_t group;        /* The place of its representative, or NO_GROUP. */
};

struct regroup {
    struct confirm *confirm;
    struct temporary *members; /* struct confirm_member and IDs, cluster by cluster. */
    struct sets *sets;
    unsigned distance; /* Beyond it, a document counts as far from its representative. */
    bool alone;        /* Documents that are in no cluster are visited, too. */
    idx_cluster_visitor visit;
    void *context;
    struct idx_cluster_summary *summary;

    struct candidate *candidates;
    size_t count, capacity;
    struct idx_text_leaders *leaders; /* Candidates, numbered by their places. */
    uint64_t clusters;
    uint64_t left_out; /* Known documents that were read so far. */
    uint64_t missing;  /* Documents in clusters by fingerprints that have no text. */
    bool stopped;
};

/* ---- Groups ---- */

/* The group of a candidate that has no representative yet. */
#define NO_GROUP UINT32_MAX

bool regroup_offer(struct idx_text_leaders *leaders, uint64_t number, struct sets *sets, const struct set *set,
                   uint64_t *leader) {
    const void *features = sets_features(sets, set);
    struct idx_error error;
    enum idx_status status = sets->weighted
                                 ? idx_text_leaders_join_features(leaders, number, features, set->count, leader, &error)
                                 : idx_text_leaders_join(leaders, number, features, set->count, leader, &error);
    return succeeded(status, &error);
}

static bool join_group(struct regroup *regroup, size_t place) {
    struct candidate *candidate = &regroup->candidates[place];
    uint64_t leader = place;
    bool joined = regroup_offer(regroup->leaders, place, regroup->sets, candidate->set, &leader);
    candidate->group = leader == IDX_TEXT_NO_LEADER ? NO_GROUP : (uint32_t)leader;
    return joined;
}

/* Announces the features of all documents without a group, so that leaders can tell which ones several of them
 * share. */
static bool expect_features(struct regroup *regroup) {
    struct idx_error error;
    for (size_t i = 0; i < regroup->count && !regroup->sets->weighted; i++) {
        const struct set *set = regroup->candidates[i].set;
        if (regroup->candidates[i].group != NO_GROUP) continue;
        const void *features = sets_features(regroup->sets, set);
        if (!succeeded(idx_text_leaders_expect(regroup->leaders, features, set->count, &error), &error)) return false;
    }
    return true;
}

/* Goes through the documents that have no group until all have one. It takes several rounds if all representatives
 * together need too much memory. */
static bool join_all(struct regroup *regroup) {
    size_t left = regroup->count;
    bool good = true;
    while (left > 0 && good) {
        idx_text_leaders_clear(regroup->leaders);
        good = left < LARGE_CLUSTER || expect_features(regroup);
        left = 0;
        for (size_t i = 0; i < regroup->count && good; i++) {
            struct candidate *candidate = &regroup->candidates[i];
            if (candidate->group == NO_GROUP) good = join_group(regroup, i) && !interrupt_noted();
            left += candidate->group == NO_GROUP;
        }
    }
    return good;
}

static int by_group(const void *first, const void *second) {
    const struct candidate *a = first, *b = second;
    if (a->group != b->group) return a->group < b->group ? -1 : 1;
    return (a->place > b->place) - (a->place < b->place);
}

/* ---- Visiting ---- */

/* Sets a candidate's document and fingerprint as its record in the file of members has them. */
static void read_document(struct regroup *regroup, const struct candidate *candidate, struct idx_document *document,
                          uint64_t *fingerprint) {
    struct confirm_member kept;
    uint64_t offset = candidate->offset;
    memcpy(&kept, temporary_take(regroup->members, &offset, sizeof kept), sizeof kept);
    *fingerprint = kept.fingerprint;
    const char *id = temporary_take(regroup->members, &offset, kept.id_length);
    *document = (struct idx_document){candidate->in_index, id, kept.id_length};
}

static void visit_member(struct regroup *regroup, struct idx_cluster_member *member,
                         const struct candidate *candidate) {
    read_document(regroup, candidate, &member->document, &member->fingerprint);
    member->distance = idx_distance(member->fingerprint, member->representative_fingerprint);
    regroup->summary->far += member->distance > regroup->distance;
    regroup->stopped = !regroup->visit(regroup->context, member);
    member->is_representative = false;
}

/* Visits the candidates of one group, the representative first. */
static void visit_group(struct regroup *regroup, const struct candidate *candidates, size_t count) {
    struct idx_cluster_summary *summary = regroup->summary;
    struct idx_cluster_member member = {.cluster = regroup->clusters, .is_representative = true};
    summary->sizes[63 - __builtin_clzll(count)]++;
    summary->clusters += count > 1;
    summary->clustered += count > 1 ? count : 0;
    if (count == 1 && !regroup->alone) return;
    regroup->clusters++;
    read_document(regroup, candidates, &member.representative, &member.representative_fingerprint);
    for (size_t i = 0; i < count && !regroup->stopped; i++) visit_member(regroup, &member, &candidates[i]);
}

static void visit_groups(struct regroup *regroup) {
    size_t end;
    if (regroup->count > 1) qsort(regroup->candidates, regroup->count, sizeof *regroup->candidates, by_group);
    for (size_t i = 0; i < regroup->count && !regroup->stopped; i = end) {
        for (end = i + 1; end < regroup->count; end++)
            if (regroup->candidates[end].group != regroup->candidates[i].group) break;
        visit_group(regroup, &regroup->candidates[i], end - i);
    }
}

/* ---- All ---- */

static int by_number(const void *first, const void *second) {
    const struct candidate *a = first, *b = second;
    return (a->in_index > b->in_index) - (a->in_index < b->in_index);
}

/* Groups the candidates, which are all documents of a cluster by fingerprints, and visits the groups. */
static bool end_cluster(struct regroup *regroup) {
    if (regroup->confirm->preference != NULL && regroup->count > 1)
        qsort(regroup->candidates, regroup->count, sizeof *regroup->candidates, by_number);
    for (size_t i = 0; i < regroup->count; i++) {
        struct candidate *candidate = &regroup->candidates[i];
        bool has_text = candidate->set != NULL;
        candidate->place = (uint32_t)i;
        candidate->group = has_text ? NO_GROUP : (uint32_t)i; /* A document without a text is alone. */
        regroup->missing += !has_text && regroup->count > 1;
    }
    bool good = join_all(regroup);
    if (good) visit_groups(regroup);
    regroup->count = 0;
    return good;
}

static bool is_known(const struct regroup *regroup, uint64_t number) {
    const uint64_t *known = regroup->confirm->known.bits;
    return known != NULL && bit_is_set(known, number);
}

/* Adds a document to the candidates. The cluster's representative becomes the first one, even if its fingerprint has
 * documents before it. */
static bool add_candidate(struct regroup *regroup, const struct confirm_member *kept, uint64_t offset) {
    if (regroup->count == NO_GROUP)
        return complain(
            "a cluster by fingerprints has %zu documents, and no more can be compared by their texts; a smaller "
            "distance makes smaller ones (-k)",
            regroup->count);
    if (!array_grow(&regroup->candidates, &regroup->capacity, regroup->count, sizeof *regroup->candidates))
        return complain("out of memory");
    const struct set *set = sets_find(regroup->sets, kept->number);
    struct candidate candidate = {kept->in_index, offset, set, 0, 0};
    regroup->candidates[regroup->count++] = candidate;
    if (!kept->is_representative || regroup->count == 1) return true;
    memmove(regroup->candidates + 1, regroup->candidates, (regroup->count - 1) * sizeof candidate);
    regroup->candidates[0] = candidate;
    return true;
}

/* Reads all members, and groups those of each cluster. */
static bool group_members(struct regroup *regroup) {
    struct confirm_member kept;
    const char *record;
    uint64_t offset = 0, cluster = 0;
    bool good = true;
    while (good && !regroup->stopped && (record = temporary_take(regroup->members, &offset, sizeof kept)) != NULL) {
        uint64_t begin = offset - sizeof kept;
        memcpy(&kept, record, sizeof kept);
        if (kept.cluster != cluster) good = end_cluster(regroup);
        cluster = kept.cluster;
        offset += kept.id_length;
        if (is_known(regroup, kept.number))
            regroup->left_out++;
        else
            good = good && add_candidate(regroup, &kept, begin);
    }
    return good && (regroup->stopped || end_cluster(regroup));
}

bool regroup_all(struct confirm *confirm, const struct idx_cluster_options *options, idx_cluster_visitor visit,
                 void *context, struct idx_cluster_summary *summary, uint64_t *missing) {
    struct regroup regroup = {.confirm = confirm,
                              .members = &confirm->members,
                              .sets = &confirm->sets,
                              .distance = options->distance,
                              .alone = options->alone,
                              .visit = visit,
                              .context = context,
                              .summary = summary};
    const struct known *known = &confirm->known;
    uint64_t in_none = options->alone ? 0 : summary->sizes[0];
    uint64_t known_count = known->is_asked_for ? known->intake->known_count : 0;
    struct idx_error error;
    *summary = (struct idx_cluster_summary){.documents = summary->documents - known_count};
    bool good = succeeded(idx_text_leaders_make(&regroup.leaders, confirm->least, &error), &error);
    if (good) idx_text_leaders_limit(regroup.leaders, options->memory_bytes / 2);
    good = good && group_members(&regroup);
    /* Known documents without near-duplicates are in the summary, but not in the file of members. */
    if (!options->alone) summary->sizes[0] += in_none - (known_count - regroup.left_out);
    *missing = regroup.missing;
    free(regroup.candidates);
    idx_text_leaders_free(regroup.leaders);
    return good;
}
