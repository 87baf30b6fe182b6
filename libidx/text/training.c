/* training.c: the public functions that make, write and read document-frequency tables. */
#include "libidx/text/base.h"
#include "libidx/text/document.h"
#include "libidx/text/list.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

/* Fills *error, which may be NULL, for lack of memory for a table, and returns IDX_OUT_OF_MEMORY. */
static enum idx_status fail_table_memory(struct idx_error *error) {
    return idxt_fail(error, IDX_OUT_OF_MEMORY, "out of memory for a table of document frequencies");
}

/* Writes the recipe of the features of a fingerprinter (idxt_recipe_of_features) to `recipe`, as a string: the name of
 * the features that its table counts. */
static void write_features_recipe(const struct idx_text *text, char recipe[IDX_MAX_RECIPE_BYTES + 1]) {
    struct idxt_recipe features = idxt_recipe_of_features(&text->features.recipe);
    idxt_recipe_format(&features, recipe);
}

enum idx_status idx_text_table_open(struct idx_text_table **table, const struct idx_text *text,
                                    struct idx_error *error) {
    if (table == NULL || text == NULL)
        return idxt_fail(error, IDX_INVALID_ARGUMENT, "a table needs a fingerprinter and a pointer for its result");
    if (!idxt_recipe_has_features(&text->features.recipe))
        return idxt_fail(error, IDX_INVALID_ARGUMENT, "recipe '%s' has no features that a table could count",
                         text->recipe);
    struct idx_text_table *opened = idxt_table_new();
    if (opened == NULL) return fail_table_memory(error);
    write_features_recipe(text, opened->features);
    *table = opened;
    return IDX_OK;
}

enum idx_status idx_text_table_add(struct idx_text_table *table, struct idx_text *text,
                                   const struct idx_text_field *fields, size_t field_count, struct idx_error *error) {
    char recipe[IDX_MAX_RECIPE_BYTES + 1];
    if (table == NULL || text == NULL || (fields == NULL && field_count > 0))
        return idxt_fail(error, IDX_INVALID_ARGUMENT, "training needs a table, a fingerprinter and a text");
    if (table->kind != IDXT_COUNTED)
        return idxt_fail(error, IDX_INVALID_ARGUMENT,
                         "a list of words that another program made is complete: no document can be added to it");
    write_features_recipe(text, recipe);
    if (strcmp(recipe, table->features) != 0)
        return idxt_fail(error, IDX_INVALID_ARGUMENT, "a table of '%s' can't count '%s'", table->features, recipe);
    if (table->document_count >= UINT32_MAX)
        return idxt_fail(error, IDX_LIMIT, "a table can count fewer than 2^32 documents only");
    enum idx_status status = idxt_check_fields(fields, field_count, error);
    if (status == IDX_OK) status = idxt_find_document_features(text, fields, field_count, error);
    if (status != IDX_OK) return status;
    const struct idxt_words *words = &text->features.words;
    table->document_count++;
    table->hash_is_valid = false;
    for (size_t i = 0; i < words->count; i++) {
        if (!idxt_table_add_documents(table, words->words[i].hash, 1)) return fail_table_memory(error);
    }
    return IDX_OK;
}

void idx_text_table_get_properties(const struct idx_text_table *table, struct idx_text_table_properties *properties) {
    *properties = (struct idx_text_table_properties){.documents = table->document_count,
                                                     .terms = table->term_count,
                                                     .dropped = table->dropped,
                                                     .features = table->features};
}

/* Writes all bytes to a file descriptor, in as many steps as the system needs. Returns false and sets errno if that
 * fails. */
static bool write_all_bytes(int file, const unsigned char *bytes, size_t length) {
    while (length > 0) {
        ssize_t written = write(file, bytes, length);
        if (written < 0 && errno == EINTR) continue;
        if (written < 0) return false;
        bytes += written;
        length -= (size_t)written;
    }
    return true;
}

/* A file that is written before it gets its name, so that nobody sees it half-written, and a killed process leaves
 * none. */
struct publication {
    int folder, file;   /* descriptors; below 0: not open */
    const char *name;   /* its name in the folder */
    char temporary[40]; /* its name there while it is written; "" if it has none */
};

enum { MAX_ATTEMPTS = 100 };

/* Sets the temporary name to a random one, which no other file is likely to have. The point that it begins with hides
 * the file. */
static void choose_temporary_name(struct publication *publication) {
    uint64_t random;
    if (getentropy(&random, sizeof random) != 0) random = (uint64_t)getpid() << 32 ^ (uintptr_t)publication;
    snprintf(publication->temporary, sizeof publication->temporary, ".idx-table-%016" PRIx64, random);
}

/* Opens the folder of `path`, and in it a new file: one without a name if the system can name it later, or else one
 * with a temporary name. Returns false and sets errno if that fails. In any case the caller closes what is open, and
 * `path` must stay valid until then. */
static bool open_publication(struct publication *publication, const char *path) {
    const char *slash = strrchr(path, '/');
    char *folder = slash == NULL ? strdup(".") : strndup(path, (size_t)(slash - path) + 1);
    *publication = (struct publication){.file = -1, .name = slash == NULL ? path : slash + 1};
    publication->folder = folder == NULL ? -1 : open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    free(folder);
    if (publication->folder < 0) return false;
#ifdef IDX_LINUX
    if (access("/proc/self/fd", F_OK) == 0) { /* where link_unnamed_file finds a file without a name */
        publication->file = openat(publication->folder, ".", O_WRONLY | O_TMPFILE | O_CLOEXEC, 0666);
        bool is_unsupported = errno == EOPNOTSUPP || errno == EISDIR || errno == EINVAL; /* by this file system */
        if (publication->file >= 0 || !is_unsupported) return publication->file >= 0;
    }
#endif
    /* Another name is tried only if the one before was taken. */
    for (int i = 0; i < MAX_ATTEMPTS && publication->file < 0 && (i == 0 || errno == EEXIST); i++) {
        choose_temporary_name(publication);
        publication->file =
            openat(publication->folder, publication->temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    }
    if (publication->file < 0) publication->temporary[0] = '\0';
    return publication->file >= 0;
}

/* Gives a file without a name its final name, or if another file has that, a temporary one, since linkat can't replace
 * a file, as renaming can. Returns false and sets errno on failure. */
static bool link_unnamed_file(struct publication *publication) {
    char source[40];
    snprintf(source, sizeof source, "/proc/self/fd/%d", publication->file);
    if (linkat(AT_FDCWD, source, publication->folder, publication->name, AT_SYMLINK_FOLLOW) == 0) return true;
    for (int i = 0; i < MAX_ATTEMPTS && errno == EEXIST; i++) {
        choose_temporary_name(publication);
        if (linkat(AT_FDCWD, source, publication->folder, publication->temporary, AT_SYMLINK_FOLLOW) == 0) return true;
    }
    publication->temporary[0] = '\0';
    return false;
}

/* Gives the file its final name, in place of any former file. Returns false and sets errno if that fails. */
static bool give_final_name(struct publication *publication) {
    if (publication->temporary[0] == '\0' && !link_unnamed_file(publication)) return false;
    if (publication->temporary[0] == '\0') return true; /* link_unnamed_file gave it the final name */
    if (renameat(publication->folder, publication->temporary, publication->folder, publication->name) != 0)
        return false;
    publication->temporary[0] = '\0';
    return true;
}

/* Makes a file of these bytes appear at `path` as a whole, and waits until it is on disk. If that fails, returns false
 * and sets errno; a former file stays as it was, unless only the last step, waiting for the new name to be on disk,
 * failed. */
static bool publish_bytes(const char *path, const unsigned char *bytes, size_t length) {
    struct publication publication;
    bool ok = open_publication(&publication, path) && write_all_bytes(publication.file, bytes, length) &&
              fsync(publication.file) == 0 && give_final_name(&publication) && fsync(publication.folder) == 0;
    int saved_errno = errno;
    if (publication.temporary[0] != '\0') unlinkat(publication.folder, publication.temporary, 0);
    if (publication.file >= 0) close(publication.file);
    if (publication.folder >= 0) close(publication.folder);
    errno = saved_errno;
    return ok;
}

enum idx_status idx_text_table_write(const struct idx_text_table *table, const char *path, struct idx_error *error) {
    if (table == NULL || path == NULL) return idxt_fail(error, IDX_INVALID_ARGUMENT, "a table needs a path");
    size_t length;
    unsigned char *bytes = idxt_table_encode(table, &length);
    if (bytes == NULL) return fail_table_memory(error);
    bool ok = publish_bytes(path, bytes, length);
    int saved_errno = errno;
    free(bytes);
    return ok ? IDX_OK : idxt_fail_system(error, path, "write the table", saved_errno);
}

/* A file of more bytes is refused: no table of IDXT_MAX_TERMS has so many, and no list of so many words. */
#define MAX_BYTES ((size_t)1 << 28)
enum { READ_BYTES = 1 << 16 };

/* Reads a file descriptor to its end. Returns the bytes, for the caller to free, and sets *length to how many there
 * are. Stops once it has more than MAX_BYTES, so that the caller sees from *length that the file is too long. On
 * failure returns NULL and sets errno. */
static unsigned char *read_whole_file(int file, size_t *length) {
    unsigned char *bytes = NULL;
    size_t capacity = 0;
    for (*length = 0; *length <= MAX_BYTES;) {
        unsigned char *grown = idxt_buffer_grow(bytes, &capacity, *length + READ_BYTES, 1);
        if (grown != NULL) bytes = grown;
        ssize_t read_count = grown == NULL ? -1 : read(file, bytes + *length, READ_BYTES);
        if (read_count == 0) break;
        if (read_count > 0) {
            *length += (size_t)read_count;
            continue;
        }
        int read_errno = grown == NULL ? ENOMEM : errno;
        if (read_errno == EINTR) continue;
        free(bytes);
        errno = read_errno;
        return NULL;
    }
    return bytes;
}

/* Makes a table from the bytes of its file, or of a list that another program made, and sets *table to it; the caller
 * closes it. `path` is for messages. Errors: IDX_BAD_CONTENT (also for more than MAX_BYTES), IDX_OUT_OF_MEMORY, and the
 * others of idxt_list_read; *table is unchanged then. */
static enum idx_status decode_table_or_list(struct idx_text_table **table, const unsigned char *bytes, size_t length,
                                            const char *path, struct idx_error *error) {
    struct idx_text_table *decoded = idxt_table_new();
    const char *fault = "is too long for a table of document frequencies";
    enum idx_status status = IDX_BAD_CONTENT;
    if (decoded == NULL) return fail_table_memory(error);
    bool is_list = length <= MAX_BYTES && !idxt_table_has_magic(bytes, length);
    if (is_list)
        status = idxt_list_read(decoded, (const char *)bytes, length, path, error);
    else if (length <= MAX_BYTES)
        status = idxt_table_decode(decoded, bytes, length, &fault);
    if (status == IDX_OK) {
        *table = decoded;
        return IDX_OK;
    }
    idx_text_table_close(decoded);
    if (status == IDX_OUT_OF_MEMORY) return fail_table_memory(error);
    if (!is_list) idxt_fail(error, status, "%s %s", path, fault);
    if (error != NULL) snprintf(error->file, sizeof error->file, "%s", path);
    return status;
}

enum idx_status idx_text_table_read(struct idx_text_table **table, const char *path, struct idx_error *error) {
    if (table == NULL || path == NULL) return idxt_fail(error, IDX_INVALID_ARGUMENT, "a table needs a path");
    int file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0) return idxt_fail_system(error, path, "open the table", errno);
    size_t length;
    unsigned char *bytes = read_whole_file(file, &length);
    int saved_errno = errno;
    close(file);
    if (bytes == NULL) return idxt_fail_system(error, path, "read the table", saved_errno);
    enum idx_status status = decode_table_or_list(table, bytes, length, idxt_path_end(path), error);
    free(bytes);
    return status;
}

void idx_text_table_close(struct idx_text_table *table) {
    if (table == NULL) return;
    free(table->slots);
    free(table);
}
