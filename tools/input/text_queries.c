/* text_queries.c: reads the texts that `idx lookup --text` names, and makes queries of their fingerprints. A build
 * without libidxtext has commands/without_text.c in place of this file. */
#include "tools/input/queries.h"

#include <stdlib.h>
#include <string.h>

bool queries_open_fingerprinter(struct queries *queries) {
    queries->shingles = (struct output)OUTPUT_BUFFER;
    if (queries->table_path != NULL && !text_table_read(&queries->table, queries->table_path)) return false;
    if (!text_reader_open(&queries->reader, queries->recipe, queries->table, queries->rules.bits, &queries->extract))
        return false;
    const char *recipe = text_reader_get_recipe(&queries->reader);
    recipes_match(queries->recipe, recipe, strlen(recipe), &queries->warned_of_icu);
    return true;
}

/* Fingerprints the text in queries->raw, and lists its shingles with lists_shingles. Returns false, without a
 * complaint, if the text is bad or memory ran out: raw.bad says why, and there are no fingerprints. */
static bool fingerprint_raw_text(struct queries *queries) {
    struct raw_document *raw = &queries->raw;
    struct text_result *result = &queries->result;
    queries->returned_count = queries->shingles.length = 0;
    bool ok = raw->bad.kind == BAD_NONE && text_reader_fingerprint(&queries->reader, raw, result, &raw->bad) &&
              (!queries->lists_shingles || text_list_shingles(&result->body, NULL, &queries->shingles, &raw->bad));
    if (!ok) result->count = 0;
    return ok;
}

/* Reads the file at `path` as one text, whose ID is the path, and fingerprints it. Complains and returns false if it
 * can't be read or is bad. */
static bool fingerprint_file(struct queries *queries, const char *path) {
    struct raw_document *raw = &queries->raw;
    queries->documents = (struct documents){.most = queries->extract.max_text};
    documents_read_one(&queries->documents, path, raw);
    bool ok = fingerprint_raw_text(queries);
    if (!ok) complain("%s: %s", raw->place, raw->bad.problem.sentence);
    queries->result.id = (struct span){path, strlen(path)};
    documents_free(&queries->documents);
    return ok;
}

/* Begins to read the texts of the folder at *path. `path` must point into the list of texts, since it is used until the
 * folder ends. */
static void begin_reading_folder(struct queries *queries, char **path) {
    queries->folder = (struct strings){path, 1};
    queries->documents = (struct documents){.most = queries->extract.max_text,
                                            .json = &queries->extract.json,
                                            .globs = &queries->globs,
                                            .paths = &queries->folder};
    queries->bad = (struct bad_counts){.cut = 0};
    queries->good_count = 0;
    queries->in_folder = true;
}

/* Ends the folder once all its files were read: writes messages about what was left out of it, and sets folder_failed
 * if a file could not be read or all records were bad. */
static void end_reading_folder(struct queries *queries) {
    struct documents *documents = &queries->documents;
    documents_report_left_out(documents);
    const bool all_bad = !bad_report_totals(&queries->bad, "left out bad records", queries->good_count);
    queries->folder_failed |= all_bad || documents->failed || queries->bad.of[BAD_FILE] > 0;
    queries->in_folder = false;
    documents_free(documents);
}

/* Reads and fingerprints the next text of the folder, or ends the folder if there is none. Counts a bad text, which has
 * no fingerprints, and a good one that was cut. Complains and returns false if memory ran out. */
static bool fingerprint_next_text_in_folder(struct queries *queries) {
    struct raw_document *raw = &queries->raw;
    if (!documents_next(&queries->documents, raw)) {
        end_reading_folder(queries);
        return true;
    }
    const bool ok = fingerprint_raw_text(queries);
    const char *place = raw->place != NULL ? raw->place : "input";
    queries->good_count += ok;
    if (!ok)
        bad_count_record(&queries->bad, &raw->bad, place);
    else if (raw->cut)
        bad_count_cut_document(&queries->bad, place);
    return queries->bad.of[BAD_MEMORY] == 0;
}

enum queries_status queries_next_fingerprint_of_text(struct queries *queries, struct query *query) {
    struct text_result *result = &queries->result;
    while (queries->returned_count == result->count) {
        raw_document_free(&queries->raw);
        queries->returned_count = result->count = 0;
        if (queries->in_folder) {
            if (!fingerprint_next_text_in_folder(queries)) return QUERIES_FAILED;
            continue;
        }
        if (queries->begun_count == queries->texts.count) return queries->folder_failed ? QUERIES_FAILED : QUERIES_END;
        char **path = &queries->texts.values[queries->begun_count++];
        if (strpbrk(*path, "\t\n") != NULL) {
            problem_set(&queries->problem,
                        "the path contains a tab or a newline, which an ID can't contain; rename the file");
            return QUERIES_BAD;
        }
        if (folder_is_at(*path))
            begin_reading_folder(queries, path);
        else if (!fingerprint_file(queries, *path))
            return QUERIES_FAILED;
    }
    const struct span shingles = {queries->shingles.bytes, queries->shingles.length};
    *query =
        (struct query){result->fingerprints[queries->returned_count++], result->id.bytes, result->id.length, shingles};
    return QUERIES_ONE;
}

void queries_close_texts(struct queries *queries) {
    raw_document_free(&queries->raw);
    if (queries->in_folder) documents_free(&queries->documents);
    text_reader_close(&queries->reader);
    text_table_free(queries->table);
    free(queries->shingles.bytes);
}
