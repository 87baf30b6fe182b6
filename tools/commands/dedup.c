/* dedup.c: `idx dedup`: finds which texts to keep, by the sets of their shingles.
 *
 * The way of a document, from file to file; [ ] is where only some options lead:
 *
 *   inputs          documents/documents.c, cut.c cut the inputs into documents
 *     |             documents/text_reader.c      takes out their texts, called by the threads of reading.c, and makes
 *     |                                          sets of shingles of them
 *     v
 *   intake          dedup/intake.c, id_hashes.c  keeps aside what can't be compared
 *     |             [dedup/against.c]            reads texts that are known, or their sets in an index
 *     |             [documents/journal.c]        notes where each document is in the inputs, to read it once more
 *     v
 *   clusters        resemblance/resemble.c       by sets of shingles
 *     |             [resemblance/contains.c]     or by the known texts that a document contains, as it comes
 *     v
 *   listing         answers/cluster_listing.c    prints the IDs
 *                   [dedup/folders.c, kept.c]    write the records of --write and --dropped
 *                   [report/report.c]            writes the page of --report
 */
#include "tools/dedup/against.h"
#include "tools/dedup/folders.h"
#include "tools/dedup/intake.h"
#include "tools/documents/bits.h"
#include "tools/documents/text_options.h"
#include "tools/report/report.h"
#include "tools/resemblance/shingling.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

/* The values of enum idx_representative, and then those of enum preferred without its first. */
static const char *const dedup_representatives[] = {"first",  "most-documents", "smallest-id", "longest",
                                                    "newest", "best",           NULL};
enum { LAST_OF_INDEX = IDX_REPRESENTATIVE_SMALLEST_ID };

/* What texts that resemble each other have in common if --resemble does not say it, in units of
 * 1/IDX_THRESHOLD_ONE. */
#define DEFAULT_RESEMBLANCE (IDX_THRESHOLD_ONE / 10 * 8)

/* Without --min-words, parts of fewer words are not compared. */
enum { DEFAULT_MIN_WORDS_OF_PART = 5 };

/* The values of enum parts_by. */
static const char *const by_names[] = {"document", "paragraph", "line", NULL};

struct dedup {
    struct text_options texts;
    struct listing listing;
    int format;
    bool lists_clusters; /* Whether --clusters, or --json, is given. */
    const char *again;   /* The argument of --again; NULL: not given. */
    uint64_t min_words;
    int by;                              /* Of enum parts_by. */
    struct divided divided;              /* Unless documents are compared. */
    char remark[RESEMBLE_REMARK];        /* What the summary says of parts, or of common shingles. */
    const char *shingle, *ignore_common; /* The arguments of --shingle and --ignore-common; NULL: not given. */
    bool lists_pairs;                    /* Pairs are printed, and nothing is decided. */
    struct strings paths;
    const char *against;     /* Texts that were kept before; NULL: none were. */
    struct idx_index *known; /* The index that has them, or NULL. */
    struct folders folders;
    struct report report;
    struct resemble resemble;
    struct scratch scratch;
    struct journal journal;
    struct intake intake;
    const char *score_field; /* The argument of --score-field; NULL: not given. */
    uint64_t *dropped;       /* A bit for each document that was compared; NULL: nothing asks for it. */
};

/* ---- Options ---- */

/* Returns whether the inputs are read a second time, once it is decided which documents are kept: to copy records to
 * folders, or to show texts in the report. */
static bool reads_inputs_twice(const struct dedup *dedup) {
    return folders_are_asked_for(&dedup->folders) || dedup->report.path != NULL;
}

/* Completes the options of comparisons: the threshold, and which shingles are made and ignored. Complains and returns
 * false if --shingle or --ignore-common is wrong. */
static bool complete_comparison_options(struct dedup *dedup) {
    struct resemble *resemble = &dedup->resemble;
    struct idx_text_shingle_options *shingling = &dedup->texts.rules.shingling;
    if (resemble->threshold == 0 && resemble->contained == 0 && resemble->contains.least == 0)
        resemble->threshold = DEFAULT_RESEMBLANCE;
    shingling->in_text_order = true;
    return (dedup->shingle == NULL || shingling_parse_option(dedup->shingle, shingling)) &&
           (dedup->ignore_common == NULL ||
            quota_parse("--ignore-common", dedup->ignore_common, &resemble->most_common));
}

/* If --against is an index, opens it as dedup->known, and sets the options of shingles to those of the index. Complains
 * and returns false if it can't be opened, or if parts are to be compared with its texts. */
static bool open_known_index(struct dedup *dedup) {
    struct idx_text_shingle_options *shingling = &dedup->texts.rules.shingling;
    if (!against_open_index(&dedup->known, dedup->against, dedup->shingle != NULL, shingling)) return false;
    return dedup->known == NULL || dedup->by == PARTS_DOCUMENT ||
           complain_of_usage(
               "%s has whole texts, which parts can't be compared with; leave out --by, or give --against "
               "the texts themselves",
               dedup->against);
}

/* Applies --by, the options that are for it alone, and --min-words, which is also for --contained and --contains.
 * Complains and returns false if options don't fit together. */
static bool apply_by_options(struct dedup *dedup) {
    struct divided *divided = &dedup->divided;
    struct reading_rules *rules = &dedup->texts.rules;
    const bool has_min_words = dedup->min_words != NO_MIN_WORDS;
    resemble_set_contained_size(&dedup->resemble, &rules->shingling, dedup->min_words);
    if (dedup->by == PARTS_DOCUMENT) return true;
    if (dedup->again != NULL && !quota_parse("--again", dedup->again, &divided->again)) return false;
    if (jsonl_joins_texts(&rules->extract.json))
        return complain_of_usage("give --by %s or a --text-field of several texts, not both", by_names[dedup->by]);
    divided->by = rules->by = (enum parts_by)dedup->by;
    rules->min_words = has_min_words ? dedup->min_words : DEFAULT_MIN_WORDS_OF_PART;
    rules->extract.divides_blocks = divided->by == PARTS_PARAGRAPH;
    dedup->intake.divided = divided;
    return true;
}

/* Checks the places of folders and of the report and, if the inputs have to be read twice for these, the inputs.
 * Complains and returns false if a place can't be written, or if the inputs can't be read twice. */
static bool check_second_reading_and_outputs(struct dedup *dedup) {
    const bool cuts_records = dedup->intake.divided != NULL && folders_are_asked_for(&dedup->folders);
    return folders_check_places(&dedup->folders, dedup->report.path) &&
           (dedup->report.path == NULL || report_check(&dedup->report)) &&
           (!reads_inputs_twice(dedup) || journal_check_readable_twice(&dedup->paths)) &&
           (!folders_are_asked_for(&dedup->folders) || folders_check_creatable(&dedup->folders, &dedup->paths)) &&
           (!cuts_records || intake_check_can_be_cut(&dedup->intake, &dedup->texts.rules, &dedup->paths));
}

/* Applies --representative, which says what document of each cluster is kept. The values of the option behind
 * LAST_OF_INDEX are those of enum preferred from 1 on: for them, intake finds a value of each document, such as its
 * date, and the document with the largest one is kept. Complains and returns false if --score-field is missing. */
static bool apply_representative_option(struct dedup *dedup) {
    struct listing *listing = &dedup->listing;
    struct jsonl_rules *json = &dedup->texts.rules.extract.json;
    dedup->report.origin.representative = dedup_representatives[listing->representative];
    if (listing->representative > LAST_OF_INDEX) {
        dedup->intake.preferred = (enum preferred)(listing->representative - LAST_OF_INDEX);
        listing->representative = IDX_REPRESENTATIVE_FIRST;
    }
    json->date_is_score = dedup->intake.preferred == PREFERRED_BEST;
    if (json->date_is_score) json->date = dedup->score_field;
    return !json->date_is_score || dedup->score_field != NULL ||
           complain_of_usage("--representative best needs --score-field");
}

/* Limits the memory of texts that are read to a quarter of --memory, which must be given. Half of --memory is for the
 * sets (open_sets), and the last quarter for a large text, which is read alone and may need more. */
static void limit_memory_of_reading(struct dedup *dedup) {
    dedup->texts.rules.memory_bytes = dedup->listing.options.memory_bytes / 4;
}

/* Decides which IDs are listed, and sets the options that the report names. With folders or a report, IDs are listed
 * only if an option asks for them. */
static void choose_listing_and_origin(struct dedup *dedup) {
    struct listing *listing = &dedup->listing;
    bool has_files = folders_are_asked_for(&dedup->folders) || dedup->report.path != NULL;
    listing->quiet = has_files && !listing->drop && !dedup->lists_clusters;
    listing->keep = !listing->drop && !dedup->lists_clusters && !listing->quiet;
    dedup->intake.notes_ids = !listing->quiet || dedup->folders.dropped.path != NULL;
    dedup->report.origin.against = dedup->against;
    dedup->report.origin.shingling = dedup->texts.rules.shingling;
    dedup->report.origin.ignore_common = dedup->ignore_common;
}

/* Checks the options as far as the table of options does not, and sets by them what the parts of the command need.
 * Complains and returns false if they are wrong. */
static bool check_and_complete_options(struct dedup *dedup) {
    struct listing *listing = &dedup->listing;
    dedup->lists_clusters |= listing->json;
    if (!complete_comparison_options(dedup) || !open_known_index(dedup) || !apply_by_options(dedup)) return false;
    if (listing->options.memory_bytes > 0) limit_memory_of_reading(dedup);
    if (!text_options_complete(&dedup->texts, (enum document_format)dedup->format)) return false;
    if (!apply_representative_option(dedup) || !check_second_reading_and_outputs(dedup)) return false;
    choose_listing_and_origin(dedup);
    listing->options.threads = dedup->texts.rules.threads;
    return true;
}

/* Reads the command line. Returns false after --help, or after a mistake, of which it complains; then *status is the
 * status of the process. */
static bool read_dedup_arguments(int argc, char **argv, struct dedup *dedup, int *status) {
    struct text_options *texts = &dedup->texts;
    struct listing *listing = &dedup->listing;
    const struct option_rule rules[] = {
#include "options/dedup.h" /* the rules made of dedup.txt; they set *dedup, *listing and *texts */
    };
    const struct grammar grammar = GRAMMAR(dedup, rules, "FILE", 0, SIZE_MAX);
    return arguments_read(&grammar, argc, argv, &dedup->paths, status);
}

/* ---- The whole ---- */

/* Before any ID is printed, writes a message if several documents have one ID. Returns false, after that message, if
 * --strict is given and no folders are asked for. Folders get the records themselves, so IDs need not be unique. */
static bool report_repeated_ids(struct dedup *dedup) {
    bool is_refused = dedup->texts.rules.strict && !folders_are_asked_for(&dedup->folders);
    const char *advice = is_refused ? "; --write copies records, whatever their IDs; --strict refuses this"
                                    : "; --write copies records, whatever their IDs";
    return !id_hashes_report_repeated(&dedup->intake.all_ids, advice) || !is_refused;
}

/* Reads all texts and, unless --pairs is given, decides by the sets of their shingles which of them are kept. Texts of
 * --against are read first, so that they are known. Returns false after a complaint or a signal. */
static bool read_and_compare_texts(struct dedup *dedup) {
    const char *against = dedup->against;
    bool is_read = (against == NULL || against_read(dedup->known, against, &dedup->texts.rules, &dedup->resemble)) &&
                   (dedup->resemble.contains.least == 0 || resemble_look_for_known(&dedup->resemble, against)) &&
                   intake_read(&dedup->intake, &dedup->texts.rules, &dedup->paths) && report_repeated_ids(dedup);
    progress_note_reading(&dedup->listing.progress);
    if (!is_read || !resemble_ignore_common_shingles(&dedup->resemble)) return false;
    if (!dedup->lists_pairs && !resemble_decide_kept(&dedup->resemble)) return false;
    return dedup->intake.divided == NULL || divided_decide_dropped(&dedup->divided, &dedup->resemble);
}

/* If a document is dropped, sets its bit in dedup->dropped, and adds its line to the table in the folders. With --by,
 * the bits are set already. This is `note` of struct listing, whose context is a struct dedup. */
static void record_dropped_member(void *context, const struct idx_cluster_member *member) {
    struct dedup *dedup = context;
    if ((member->is_representative && !dedup->listing.drops_representative) || dedup->dropped == NULL) return;
    if (dedup->intake.divided == NULL) bit_set(dedup->dropped, member->document.number);
    if (folders_are_asked_for(&dedup->folders))
        folders_write_table_line(&dedup->folders, member, dedup->listing.kept, dedup->listing.set_size);
}

/* Prints a document by listing_print_member, which gets `kept`, what the document has in common with its
 * representative. Sets before whether the representative is dropped as well, and with --contained the size of the
 * document's set. Returns false to stop, as listing_print_member does. This is a resemble_visitor, whose context is a
 * struct dedup. */
static bool list_member(void *context, const struct idx_cluster_member *member, const struct idx_kept_set *kept) {
    struct dedup *dedup = context;
    if (dedup->intake.divided != NULL)
        dedup->listing.drops_representative = bit_is_set(dedup->divided.dropped, member->document.number);
    if (dedup->resemble.contained > 0)
        dedup->listing.set_size =
            resemble_get_set_size(&dedup->resemble, dedup->resemble.known + member->document.number);
    return listing_print_member(&dedup->listing, member, kept);
}

/* Sets the noun, the remark and the counts of the summary with --by, where it counts paragraphs or lines in place of
 * documents. The parts must be decided. */
static void set_summary_of_parts(struct dedup *dedup) {
    const struct divided *divided = &dedup->divided;
    const double dropped_percent =
        divided->text_bytes > 0 ? 100 * (double)divided->dropped_bytes / (double)divided->text_bytes : 0;
    dedup->listing.noun = dedup->by == PARTS_LINE ? "lines" : "paragraphs";
    dedup->listing.kept_apart = 0;
    dedup->listing.dropped_representatives = divided->first_count;
    snprintf(dedup->remark, sizeof dedup->remark,
             ", %" PRIu64 " of %" PRIu64 " bytes (%.1f %%); %" PRIu64 " of %" PRIu64 " documents to drop as a whole",
             divided->dropped_bytes, divided->text_bytes, dropped_percent, divided->gone_count,
             divided->document_count + dedup->intake.apart_count);
    dedup->listing.remark = dedup->remark;
}

/* Prints all pairs of texts that resemble each other, for --pairs, and a message with their number. Returns false after
 * a complaint or a signal. */
static bool list_pairs(struct dedup *dedup) {
    struct listing *listing = &dedup->listing;
    uint64_t pairs, documents = dedup->intake.compared + dedup->intake.apart_count;
    if (!resemble_write_pairs(&dedup->resemble, &listing->output, &pairs)) return false;
    progress_end(&listing->progress);
    if (listing->progress.shown)
        complain("%" PRIu64 " %s: %" PRIu64 " %s%s", documents, documents == 1 ? "document" : "documents", pairs,
                 pairs == 1 ? "pair" : "pairs", listing->remark);
    return true;
}

/* Lists which documents are kept and dropped, and gathers what the report shows of them. Returns false after a
 * complaint, a failure of the output or a signal. */
static bool list_kept_and_dropped(struct dedup *dedup) {
    struct listing *listing = &dedup->listing;
    listing->kept_apart = dedup->intake.apart_count;
    if (dedup->intake.divided != NULL) set_summary_of_parts(dedup);
    listing_begin_with_text_ids(listing);
    if (!resemble_visit(&dedup->resemble, dedup->lists_clusters, list_member, dedup, &listing->summary)) return false;
    listing->dropped_apart = dedup->resemble.like_known;
    if (dedup->intake.divided != NULL && listing->drop)
        divided_write_dropped_documents(&dedup->divided, &dedup->resemble, &listing->output, "\n");
    listing_end(listing);
    return listing->output.error == 0 &&
           (dedup->report.path == NULL || report_gather_by_resemblance(&dedup->report, &dedup->resemble));
}

/* Has the listing call record_dropped_member, and if the inputs are read twice, makes what that function writes to: the
 * bits in dedup->dropped and the folders. Complains and returns false if memory ran out or a folder can't be made. */
static bool prepare_outputs(struct dedup *dedup) {
    dedup->listing.note = record_dropped_member;
    dedup->listing.context = dedup;
    if (dedup->intake.journal == NULL) return true;
    dedup->dropped = dedup->intake.divided != NULL ? dedup->divided.gone : bits_allocate(dedup->intake.compared);
    return dedup->dropped != NULL && (!folders_are_asked_for(&dedup->folders) || folders_open(&dedup->folders));
}

/* Writes the report to a temporary file, which report_publish renames. Returns false after a complaint or a signal. */
static bool write_report(struct dedup *dedup) {
    struct report *report = &dedup->report;
    return report_count_inputs(report, &dedup->intake, dedup->dropped) &&
           report_read_texts(report, &dedup->intake, &dedup->texts.rules) && report_write(report);
}

/* Writes a message if no document is kept, since empty output could be taken for a mistake. With --by, writes none. */
static void say_nothing_kept(const struct dedup *dedup) {
    const struct intake *intake = &dedup->intake;
    const uint64_t like_known = dedup->resemble.like_known;
    if (intake->divided != NULL || like_known == 0 || intake->compared != like_known || intake->apart_count > 0) return;
    complain("no document is kept: each %s %s",
             dedup->resemble.contains.least > 0 ? "contains a text of" : "has a near-duplicate in", dedup->against);
}

/* Prints what was found, and writes the folders and the report, which are published once both are complete. Returns
 * false after a complaint, a failure of the output or a signal. */
static bool list_and_write(struct dedup *dedup) {
    if (dedup->ignore_common != NULL) dedup->listing.remark = resemble_write_remark(&dedup->resemble, dedup->remark);
    if (dedup->lists_pairs) return list_pairs(dedup);
    if (!prepare_outputs(dedup) || !list_kept_and_dropped(dedup) ||
        !intake_print_ids_apart(&dedup->intake, &dedup->listing))
        return false;
    say_nothing_kept(dedup);
    bool has_folders = folders_are_asked_for(&dedup->folders), has_report = dedup->report.path != NULL;
    if (has_folders && !folders_write(&dedup->folders, &dedup->intake, dedup->dropped, &dedup->texts.rules.extract))
        return false;
    if (has_report && !write_report(dedup)) return false;
    if (has_folders && !folders_publish(&dedup->folders)) return false;
    return !has_report || report_publish(&dedup->report);
}

/* Opens dedup->resemble, an empty collection of sets, by the options, with its temporary files in `folder`. It may use
 * 5/8 of --memory, since sets need a quarter of that while texts are read, and more only afterwards. Complains and
 * returns false if that fails. */
static bool open_sets(struct dedup *dedup, const char *folder) {
    struct idx_sets_options options = IDX_SETS_OPTIONS_INIT;
    options.threads = dedup->listing.options.threads;
    options.memory_bytes = dedup->listing.options.memory_bytes / 8 * 5;
    if (options.memory_bytes > 0 && options.memory_bytes < IDX_MIN_MEMORY_BYTES)
        options.memory_bytes = IDX_MIN_MEMORY_BYTES;
    options.temporary_folder = folder;
    options.progress = progress_visit;
    options.context = &dedup->listing.progress;
    dedup->resemble.keeps_sets_open = dedup->report.path != NULL;
    dedup->resemble.prefers = (enum idx_representative)dedup->listing.representative;
    dedup->resemble.groups_known = dedup->listing.json;
    dedup->resemble.contains.notes_pairs = dedup->lists_pairs;
    if (dedup->resemble.contains.least > 0) dedup->listing.measure = "contains";
    if (dedup->resemble.contains.least > 0 && !temporary_open(&dedup->resemble.contains.pairs, &dedup->scratch, folder))
        return false;
    return resemble_open(&dedup->resemble, &options, &dedup->scratch, folder);
}

/* Opens the temporary files that the options need, in `folder`, and what writes to them: intake, sets and, if the
 * inputs are read twice, the journal. The scratch folder must be open. Complains and returns false if that fails. */
static bool open_temporary_files(struct dedup *dedup, const char *folder) {
    struct intake *intake = &dedup->intake;
    intake->resemble = &dedup->resemble;
    if (!temporary_open(&intake->apart, &dedup->scratch, folder) || !open_sets(dedup, folder)) return false;
    if (!reads_inputs_twice(dedup)) return true;
    intake->journal = &dedup->journal;
    return journal_open(&dedup->journal, &dedup->scratch, folder);
}

/* Reads and compares all texts, and prints and writes what is found, by options that are complete. Returns false after
 * a complaint, a failure of the output or a signal; also if a part of the inputs could not be read. */
static bool read_compare_and_write(struct dedup *dedup) {
    const char *folder = scratch_choose_parent(dedup->listing.options.temporary_folder);
    dedup->listing.options.temporary_folder = folder;
    if (!folders_remove_leftovers(&dedup->folders, dedup->report.path) ||
        !scratch_open(&dedup->scratch, folder, "--tmpdir"))
        return false;
    bool ok = open_temporary_files(dedup, folder) && read_and_compare_texts(dedup) && list_and_write(dedup);
    scratch_remove(&dedup->scratch);
    return ok && !dedup->intake.partly;
}

/* Frees and closes all that the command holds, but not its output. With --by, `dropped` is the array of `divided`,
 * which frees it. */
static void free_dedup(struct dedup *dedup) {
    text_options_free(&dedup->texts);
    folders_close(&dedup->folders);
    report_close(&dedup->report);
    if (dedup->intake.divided == NULL) free(dedup->dropped);
    divided_close(&dedup->divided);
    idx_close(dedup->known);
    resemble_close(&dedup->resemble);
    intake_close(&dedup->intake);
    journal_close(&dedup->journal);
}

/* Runs `idx dedup`. Returns ENDS_WELL if all inputs were read and everything was written, or else ENDS_BADLY. */
int command_dedup(int argc, char **argv) {
    static struct dedup dedup; /* Too large for the stack. */
    int status;
    dedup = (struct dedup){
        .listing = LISTING_INIT,
        .format = FORMAT_AUTO,
        .min_words = NO_MIN_WORDS,
        .folders = {.kept.option = "--write", .dropped.option = "--dropped"},
        .resemble = RESEMBLE_NONE,
        .report = {.listing = &dedup.listing, .origin.command = "idx dedup"},
        .journal = JOURNAL_CLOSED,
        .intake = {.apart = TEMPORARY_CLOSED},
    };
    text_options_init(&dedup.texts);
    if (!read_dedup_arguments(argc, argv, &dedup, &status)) return status;
    bool ok = check_and_complete_options(&dedup);
    if (ok) {
        progress_start(&dedup.listing.progress, dedup.texts.rules.progress);
        interrupt_catch();
        ok = read_compare_and_write(&dedup);
    }
    free_dedup(&dedup);
    bool written = output_close(&dedup.listing.output);
    interrupt_end_process();
    return ok && written ? ENDS_WELL : ENDS_BADLY;
}
