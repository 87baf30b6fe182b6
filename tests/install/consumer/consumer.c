/* consumer.c: an outside program over the installed libidx: builds an index at the path given, opens it, looks a
 * fingerprint up, and prints the match: fingerprint, distance, document. */
#include <idx.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static int fail(const struct idx_error *error) {
    fprintf(stderr, "%s (%s)\n", error->sentence, idx_status_string(error->status));
    return 1;
}

static int build(const char *path) {
    struct idx_builder *builder = NULL;
    struct idx_error error;
    enum idx_status status = idx_builder_open(&builder, path, NULL, &error);
    if (status == IDX_OK)
        status = idx_builder_add(
            builder, &(struct idx_item){.fingerprint = 0x1234, .id = "first", .id_length = strlen("first")}, &error);
    if (status == IDX_OK)
        status = idx_builder_add(
            builder, &(struct idx_item){.fingerprint = 0xcafe, .id = "second", .id_length = strlen("second")}, &error);
    if (status == IDX_OK) status = idx_builder_finish(builder, NULL, &error);
    idx_builder_close(builder);
    return status == IDX_OK ? 0 : fail(&error);
}

static int look_up(const char *path, uint64_t fingerprint) {
    struct idx_index *index = NULL;
    struct idx_documents *documents = NULL;
    struct idx_document document;
    struct idx_match match;
    size_t matches = 0;
    bool found = false;
    struct idx_error error;
    enum idx_status status = idx_open(&index, path, NULL, &error);
    if (status == IDX_OK) status = idx_lookup(index, fingerprint, 3, &match, 1, &matches, &error);
    if (status == IDX_OK) status = idx_documents_open(&documents, index, &error);
    if (status == IDX_OK && matches == 1) status = idx_documents_find(documents, match.fingerprint, NULL, &error);
    if (status == IDX_OK && matches == 1) status = idx_documents_next(documents, &document, &found, &error);
    if (status == IDX_OK && found) {
        printf("%016" PRIx64 "\t%u\t%.*s\n", match.fingerprint, match.distance, (int)document.id_length,
               (const char *)document.id);
    }
    idx_documents_close(documents);
    idx_close(index);
    return status == IDX_OK ? 0 : fail(&error);
}

int main(int argc, char **argv) {
    if (argc != 2 || strcmp(idx_version(), IDX_VERSION) != 0) return 2;
    return build(argv[1]) != 0 || look_up(argv[1], 0xcaff) != 0;
}
