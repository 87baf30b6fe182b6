/* cluster_listing.c: prints clusters and their summary, as cluster_listing.h says. */
#include "tools/answers/cluster_listing.h"

#include "tools/shared/library.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

/* ---- Rows ---- */

/* Writes a document's ID, or its fingerprint if the index keeps no documents. `name` is for JSON. */
static void write_document_id(struct rows *rows, const struct listing *listing, const char *name,
                              const struct idx_document *document, uint64_t fingerprint) {
    if (listing->properties.id_type == IDX_ID_NONE)
        row_write_fingerprint(rows, name, NOTATION_HEX, listing->properties.bits, fingerprint);
    else
        row_write_document_id(rows, name, document);
}

/* Writes the number of a cluster. For CLUSTER_KNOWN, which is none, writes null in JSON and - in columns. */
static void write_cluster_number(struct rows *rows, uint64_t cluster) {
    if (cluster == CLUSTER_KNOWN)
        row_write_word(rows, "cluster", rows->json ? "null" : "-");
    else
        row_write_number(rows, "cluster", cluster);
}

/* Writes the ID of the representative of a document. */
static void write_representative_id(struct rows *rows, const struct listing *listing,
                                    const struct idx_cluster_member *member) {
    write_document_id(rows, listing, "representative", &member->representative, member->representative_fingerprint);
}

/* Writes what a document has in common with its representative: its resemblance, or else the distance. With `set_size`,
 * also writes the share of its own shingles that both have. */
static void write_nearness(struct rows *rows, const struct listing *listing, const struct idx_cluster_member *member) {
    const struct idx_kept_set *kept = listing->kept;
    if (kept == NULL)
        row_write_number(rows, "distance", member->distance);
    else
        row_write_share(rows, listing->measure, kept->shared, kept->total);
    if (listing->set_size > 0) row_write_share(rows, "contained", kept->shared, listing->set_size);
}

/* Writes the row of a document: its ID, its cluster, the representative, and what both have in common. */
static void write_member_row(struct listing *listing, const struct idx_cluster_member *member) {
    struct rows rows = {.output = &listing->output};
    row_begin(&rows);
    write_document_id(&rows, listing, NULL, &member->document, member->fingerprint);
    write_cluster_number(&rows, member->cluster);
    write_representative_id(&rows, listing, member);
    write_nearness(&rows, listing, member);
    row_end(&rows);
}

/* ---- JSON ---- */

/* Ends the object of a cluster, if one is open. */
static void end_cluster_object(struct listing *listing) {
    if (listing->in_object) {
        row_end_array(&listing->rows);
        row_end(&listing->rows);
    }
    listing->in_object = false;
}

/* Begins the object of a cluster, up to the array of its documents. */
static void begin_cluster_object(struct listing *listing, const struct idx_cluster_member *member) {
    struct rows *rows = &listing->rows;
    *rows = (struct rows){.output = &listing->output, .json = true};
    row_begin(rows);
    write_cluster_number(rows, member->cluster);
    write_representative_id(rows, listing, member);
    row_begin_array(rows, "documents");
    listing->in_object = true;
    listing->object_cluster = member->cluster;
    listing->object_representative = member->representative.number;
}

/* Writes a document, in the open object if it is of the same cluster, or else in a new object. Known texts share a
 * cluster number, so those with another representative get another object. */
static void write_json_member(struct listing *listing, const struct idx_cluster_member *member) {
    struct rows *rows = &listing->rows;
    if (listing->object_cluster != member->cluster ||
        (member->cluster == CLUSTER_KNOWN && listing->object_representative != member->representative.number))
        end_cluster_object(listing);
    if (!listing->in_object) begin_cluster_object(listing, member);
    row_begin_object(rows, NULL);
    write_document_id(rows, listing, "id", &member->document, member->fingerprint);
    if (listing->kept == NULL)
        row_write_fingerprint(rows, "fingerprint", NOTATION_HEX, listing->properties.bits, member->fingerprint);
    write_nearness(rows, listing, member);
    row_end_object(rows);
}

/* ---- Chains ---- */

/* Updates chain_count, largest_chain and with_most_far by the current cluster, once all its documents were counted. */
static void update_chains_by_cluster(struct listing *listing) {
    const struct idx_cluster_size *size = &listing->current_cluster;
    if (size->far > listing->with_most_far.far) listing->with_most_far = *size;
    if (size->documents <= listing->cap || size->far == 0) return;
    listing->chain_count++;
    if (size->documents > listing->largest_chain.documents) listing->largest_chain = *size;
}

/* Counts a document in listing->current_cluster. The documents of a cluster must follow each other: if this one is of
 * another cluster than the one before, that cluster is complete, and the chains are updated by it first. */
static void count_cluster_member(struct listing *listing, const struct idx_cluster_member *member) {
    struct idx_cluster_size *size = &listing->current_cluster;
    if (size->cluster != member->cluster) {
        update_chains_by_cluster(listing);
        *size = (struct idx_cluster_size){.cluster = member->cluster};
    }
    size->documents++;
    if (member->distance > listing->options.distance) size->far++;
}

/* There is a warning of documents that are far from their representatives if they are at least this many, and at least
 * this part of all documents, in percent. */
enum { MIN_FAR_DOCUMENTS = 10, MIN_FAR_PERCENT = 5 };

/* Warns of clusters that may be chains: of large ones with far documents, or else, if there are none, of far documents
 * where these are many in all clusters together. */
static void warn_of_chains(const struct listing *listing) {
    const struct idx_cluster_size *largest_chain = &listing->largest_chain, *with_most_far = &listing->with_most_far;
    const struct idx_cluster_summary *summary = &listing->summary;
    double far_percent = summary->documents > 0 ? 100.0 * (double)summary->far / (double)summary->documents : 0;
    if (listing->chain_count == 0 && summary->far >= MIN_FAR_DOCUMENTS && far_percent >= MIN_FAR_PERCENT)
        complain("%" PRIu64 " of %" PRIu64 " documents (%.1f %%) differ from the representative of their cluster in "
                 "more than %u bits, so clusters may be chains: %" PRIu64 " do in one of %" PRIu64
                 " documents; --method star does not chain, and a smaller -k chains less",
                 summary->far, summary->documents, far_percent, listing->options.distance, with_most_far->far,
                 with_most_far->documents);
    if (listing->chain_count > 0)
        complain("%" PRIu64 " %s of more than %" PRIu64 " documents (--cap) may be chains: in the largest, of %" PRIu64
                 " documents, %" PRIu64 " differ from the representative in more than %u bits; --method star does not "
                 "chain, and a smaller -k chains less",
                 listing->chain_count, listing->chain_count == 1 ? "cluster" : "clusters", listing->cap,
                 largest_chain->documents, largest_chain->far, listing->options.distance);
}

/* ---- The summary ---- */

/* Writes a message for each range of cluster sizes (2 to 3, 4 to 7 and so on) that has clusters, with their number. */
static void say_cluster_sizes(const struct idx_cluster_summary *summary) {
    for (size_t i = 1; i < sizeof summary->sizes / sizeof *summary->sizes; i++) {
        if (summary->sizes[i] > 0)
            complain("clusters of %" PRIu64 " to %" PRIu64 " documents: %" PRIu64, UINT64_C(1) << i,
                     (UINT64_C(2) << i) - 1, summary->sizes[i]);
    }
}

/* Replaces *name by the name of the cluster whose representative has this fingerprint: the ID of the first document
 * with it. Without one, if the library fails, or if the cursor `documents` is NULL, it is the fingerprint in hex. */
static void set_cluster_name(const struct listing *listing, struct idx_documents *documents, uint64_t fingerprint,
                             struct output *name) {
    struct idx_document document;
    bool found = false;
    bool is_read = documents != NULL && idx_documents_find(documents, fingerprint, NULL, NULL) == IDX_OK &&
                   idx_documents_next(documents, &document, &found, NULL) == IDX_OK;
    found = found && is_read;
    name->length = 0;
    if (found && document.id == NULL)
        output_decimal(name, document.number);
    else if (found)
        output_bytes(name, document.id, document.id_length);
    else
        output_fingerprint(name, NOTATION_HEX, listing->properties.bits, fingerprint);
}

/* Writes a message with the size and name of each of the largest clusters. If the library fails, they are left out, or
 * named by fingerprints. */
static void say_largest_clusters(const struct listing *listing, const struct idx_index *index,
                                 const struct idx_cluster_summary *summary) {
    struct idx_documents *documents = NULL;
    struct output name = OUTPUT_BUFFER;
    if (listing->properties.id_type != IDX_ID_NONE && idx_documents_open(&documents, index, NULL) != IDX_OK) return;
    for (size_t i = 0; i < summary->largest_count; i++) {
        const struct idx_cluster_size *size = &summary->largest[i];
        set_cluster_name(listing, documents, size->representative, &name);
        complain("%s: %" PRIu64 " documents like %.*s, %" PRIu64 " of them far from it",
                 i == 0 ? "the largest cluster" : "the next largest", size->documents, (int)name.length,
                 name.bytes != NULL ? name.bytes : "", size->far);
    }
    free(name.bytes);
    idx_documents_close(documents);
}

/* Writes a message with how many documents are to be kept and dropped, with those outside the index. It says also how
 * many of those in the index differ from their representative in more bits than the distance. */
static void say_kept_and_dropped(const struct listing *listing, const struct idx_cluster_summary *summary) {
    uint64_t dropped = summary->clustered - summary->clusters + listing->dropped_representatives;
    uint64_t kept = summary->documents - dropped;
    uint64_t total = summary->documents + listing->kept_apart + listing->dropped_apart;
    char far_clause[128] = "";
    if (summary->far > 0)
        snprintf(far_clause, sizeof far_clause,
                 "; %" PRIu64 " of these differ from the one that is kept in more than %u bits", summary->far,
                 listing->options.distance);
    complain("%" PRIu64 " %s: %" PRIu64 " to keep, %" PRIu64 " to drop%s%s", total,
             listing->noun != NULL ? listing->noun : choose_noun(&listing->properties, total),
             kept + listing->kept_apart, dropped + listing->dropped_apart, far_clause, listing->remark);
}

/* Writes the messages of the summary, with `verbose` all of them. `index` may be NULL: then the largest clusters are
 * left out. */
static void say_summary(const struct listing *listing, const struct idx_index *index,
                        const struct idx_cluster_summary *summary) {
    say_kept_and_dropped(listing, summary);
    if (!listing->verbose) return;
    complain("clusters of two documents or more: %" PRIu64 ", with %" PRIu64 " documents", summary->clusters,
             summary->clustered);
    say_cluster_sizes(summary);
    if (index != NULL) say_largest_clusters(listing, index, summary);
    if (listing->progress.shown) progress_print_phases(&listing->progress);
}

/* ---- The whole ---- */

/* Writes the line of a document's ID, or stores it in listing->order, if that is set, until all lines can be printed in
 * their order. Complains and returns false if it can't be stored. */
static bool write_or_store_id(struct listing *listing, const struct idx_cluster_member *member) {
    struct output line = OUTPUT_BUFFER, *output = listing->order != NULL ? &line : &listing->output;
    struct rows rows = {.output = output};
    write_document_id(&rows, listing, NULL, &member->document, member->fingerprint);
    row_end(&rows);
    if (listing->order == NULL) return true;
    bool ok = (line.error == 0 || complain("out of memory")) &&
              input_order_add_line(listing->order, member->document.number, line.bytes, line.length);
    free(line.bytes);
    return ok;
}

/* Counts a document for the warning of chains, calls `note`, and prints the document unless `quiet` is set: with
 * `keep`, the ID of a representative, with `drop`, the ID of any other document, otherwise its row or its JSON. Returns
 * false to stop: after a complaint (`failed`), or if the output failed. This is an idx_cluster_visitor. */
static bool count_and_print_member(void *context, const struct idx_cluster_member *member) {
    struct listing *listing = context;
    const bool is_kept = member->is_representative && !listing->drops_representative;
    count_cluster_member(listing, member);
    if (listing->note != NULL) listing->note(listing->context, member);
    if (listing->quiet) return true;
    if (listing->json) {
        write_json_member(listing, member);
    } else if (!listing->keep && !listing->drop) {
        write_member_row(listing, member);
    } else if (listing->keep == is_kept && !write_or_store_id(listing, member)) {
        listing->failed = true;
        return false;
    }
    return listing->output.error == 0;
}

void listing_begin_with_text_ids(struct listing *listing) {
    listing->properties = (struct idx_properties){.id_type = IDX_ID_TEXT};
}

bool listing_print_member(struct listing *listing, const struct idx_cluster_member *member,
                          const struct idx_kept_set *kept) {
    listing->kept = kept;
    return count_and_print_member(listing, member);
}

void listing_end(struct listing *listing) {
    progress_end(&listing->progress);
    end_cluster_object(listing);
    if (listing->progress.shown || listing->verbose) say_summary(listing, NULL, &listing->summary);
}

bool listing_print_clusters(struct listing *listing, const struct idx_index *index) {
    struct idx_cluster_options *options = &listing->options;
    struct idx_cluster_summary *summary = &listing->summary;
    struct idx_error error;
    idx_get_properties(index, &listing->properties);
    if (options->distance == ~0U) options->distance = listing->properties.k; /* ~0U: -k is not given. */
    options->method = (enum idx_cluster_method)listing->method;
    options->representative = (enum idx_representative)listing->representative;
    options->alone = listing->keep;
    options->progress = progress_visit;
    options->context = &listing->progress;
    enum idx_status status = idx_clusters(index, options, count_and_print_member, listing, summary, &error);
    progress_end(&listing->progress);
    if (!succeeded(status, &error) || listing->failed || listing->output.error != 0) return false;
    if (listing->order != NULL && !input_order_print_lines(listing->order, &listing->output)) return false;
    end_cluster_object(listing);
    update_chains_by_cluster(listing);
    if (listing->progress.shown || listing->verbose) say_summary(listing, index, summary);
    warn_of_chains(listing);
    return true;
}
