/* dump.c: `idx dump`: prints the documents of an index, in the form that `idx build` reads, or the IDs of its texts. */
#include "tools/shared/command.h"
#include "tools/shared/library.h"
#include "tools/shared/rows.h"

#include <inttypes.h>

struct dump {
    struct idx_properties properties;
    enum notation notation;
    struct idx_documents *cursor; /* NULL: the index has no IDs. */
    struct output output;
    struct idx_error error;
    uint64_t line_count; /* Lines of fingerprints that were printed so far. */
    bool failed;         /* The library failed, and `error` says why. */
};

/* Prints and counts the line of a fingerprint, with one of its documents unless that is NULL. */
static void print_fingerprint_line(struct dump *dump, uint64_t fingerprint, const struct idx_document *document) {
    struct rows rows = {.output = &dump->output};
    row_write_fingerprint(&rows, NULL, dump->notation, dump->properties.bits, fingerprint);
    if (document != NULL) row_write_document_id(&rows, NULL, document);
    row_end(&rows);
    dump->line_count++;
}

/* Prints a line for each document of a fingerprint. Sets `error` and returns false if the library fails. */
static bool print_lines_of_documents(struct dump *dump, uint64_t fingerprint) {
    struct idx_document document;
    bool found = true;
    if (idx_documents_find(dump->cursor, fingerprint, NULL, &dump->error) != IDX_OK) return false;
    while (dump->output.error == 0) {
        if (idx_documents_next(dump->cursor, &document, &found, &dump->error) != IDX_OK) return false;
        if (!found) break;
        print_fingerprint_line(dump, fingerprint, &document);
    }
    return true;
}

/* Prints the lines of a fingerprint: one for each document, or a single one if the index has no IDs. Returns false to
 * stop: the library failed (`failed`), or the output did. This is a visitor of idx_visit_all, whose context is a struct
 * dump. */
static bool print_lines_of_fingerprint(void *context, const struct idx_match *match) {
    struct dump *dump = context;
    if (dump->properties.id_type == IDX_ID_NONE)
        print_fingerprint_line(dump, match->fingerprint, NULL);
    else
        dump->failed = !print_lines_of_documents(dump, match->fingerprint);
    return !dump->failed && dump->output.error == 0;
}

/* Prints how many members the set of a text has, and the text's ID. Returns false to stop if the output failed. This is
 * an idx_set_visitor, whose context is a struct dump. */
static bool print_set_size_and_id(void *context, const struct idx_document *document, const struct idx_set *set) {
    struct dump *dump = context;
    struct rows rows = {.output = &dump->output};
    row_write_number(&rows, NULL, set->count);
    row_write_document_id(&rows, NULL, document);
    row_end(&rows);
    return dump->output.error == 0;
}

/* Prints the recipe, all fingerprints and their number, or for an index of texts the texts' IDs. Sets `error` and
 * returns false if the library fails. Returns true even if the output failed, whose `error` says so. */
static bool print_index(struct dump *dump, const struct idx_index *index) {
    idx_get_properties(index, &dump->properties);
    if (dump->properties.sketch > 0) return idx_visit_sets(index, print_set_size_and_id, dump, &dump->error) == IDX_OK;
    if (*dump->properties.recipe != '\0') output_format(&dump->output, "#recipe\t%s\n", dump->properties.recipe);
    if (dump->properties.id_type != IDX_ID_NONE && idx_documents_open(&dump->cursor, index, &dump->error) != IDX_OK)
        return false;
    bool ok = idx_visit_all(index, print_lines_of_fingerprint, dump, &dump->error) == IDX_OK && !dump->failed;
    if (*dump->properties.recipe != '\0')
        output_format(&dump->output, "#total\t%" PRIu64 "\t0\t%d\n", dump->line_count, ok ? ENDS_WELL : ENDS_BADLY);
    idx_documents_close(dump->cursor);
    return ok;
}

/* Opens the index at `path`, and prints it; complains if that fails. Returns the status of the process. */
static int dump_index(const char *path, enum notation notation) {
    struct dump dump = {.notation = notation, .output = OUTPUT_STANDARD};
    struct idx_index *index;
    if (!open_index_unloaded(&index, path)) return ENDS_BADLY;
    bool ok = print_index(&dump, index);
    bool written = output_close(&dump.output);
    if (!ok) complain("%s", dump.error.sentence);
    idx_close(index);
    return ok && written ? ENDS_WELL : ENDS_BADLY;
}

/* Runs `idx dump`. Returns ENDS_WELL if everything was printed, or else ENDS_BADLY. */
int command_dump(int argc, char **argv) {
    int notation = NOTATION_HEX, status;
    struct strings operands;
    const struct option_rule rules[] = {
#include "options/dump.h" /* the rules made of dump.txt; they set `notation` */
    };
    const struct grammar grammar = GRAMMAR(dump, rules, "INDEX", 1, 1);
    if (!arguments_read(&grammar, argc, argv, &operands, &status)) return status;
    return dump_index(operands.values[0], (enum notation)notation);
}
