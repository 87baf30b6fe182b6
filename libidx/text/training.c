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

/* Fails because memory runs out for a table. */
static enum idx_status fail_table_memory(struct idx_error *error) {
    return idxt_fail(error, IDX_OUT_OF_MEMORY, "out of memory for a table of document frequencies");
}

/* Writes to `recipe` the recipe by which a table for the fingerprinter `text` counts: the part of its recipe that says
 * what features are. */
static void write_features_recipe(const struct idx_text *text, char recipe[IDX_MAX_RECIPE_BYTES + 1]) {
    struct idxt_recipe features = idxt_recipe_of_features(&text->features.recipe);
    idxt_recipe_print(&features, recipe);
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
    if (table->documents >= UINT32_MAX)
        return idxt_fail(error, IDX_LIMIT, "a table can count fewer than 2^32 documents only");
    enum idx_status status = idxt_check_fields(fields, field_count, error);
    if (status == IDX_OK) status = idxt_count_document(text, fields, field_count, error);
    if (status != IDX_OK) return status;
    const struct idxt_words *words = &text->features.words;
    table->documents++;
    table->hashed = false;
    for (size_t i = 0; i < words->count; i++) {
        if (!idxt_table_add(table, words->words[i].hash, 1)) return fail_table_memory(error);
    }
    return IDX_OK;
}

void idx_text_table_get_properties(const struct idx_text_table *table, struct idx_text_table_properties *properties) {
    *properties = (struct idx_text_table_properties){.documents = table->documents,
                                                     .terms = table->term_count,
                                                     .dropped = table->dropped,
                                                     .features = table->features};
}

/* Writes all bytes to a file, in as many steps as the system needs. Returns false and sets errno if that fails. */
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
    int folder, file;
    const char *name;   /* its name in the folder */
    char temporary[40]; /* its name there while it is written; "" if it has none */
};

enum { ATTEMPTS = 100 };

/* Sets the temporary name to one that probably no file has. Its first character, a point, hides the file. */
static void choose_temporary_name(struct publication *publication) {
    uint64_t random;
    if (getentropy(&random, sizeof random) != 0) random = (uint64_t)getpid() << 32 ^ (uintptr_t)publication;
    snprintf(publication->temporary, sizeof publication->temporary, ".idx-table-%016" PRIx64, random);
}

/* Opens the folder of `path`, and in it a file without a name, or where there are none, one with a temporary name.
 * Returns false and sets errno if that fails. The caller closes what is open in any case. `path` must stay valid. */
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
        if (publication->file >= 0 || (errno != EOPNOTSUPP && errno != EISDIR && errno != EINVAL))
            return publication->file >= 0;
    }
#endif
    /* Not every file system supports files without names. */
    for (int i = 0; i < ATTEMPTS && publication->file < 0 && (i == 0 || errno == EEXIST); i++) {
        choose_temporary_name(publication);
        publication->file =
            openat(publication->folder, publication->temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    }
    if (publication->file < 0) publication->temporary[0] = '\0';
    return publication->file >= 0;
}

/* Names a file without a name. If its own name is taken, gives it a temporary name, from which give_final_name renames
 * it, since linkat can't put a file in the place of another. Returns false and sets errno on failure. */
static bool link_unnamed_file(struct publication *publication) {
    char link[40];
    snprintf(link, sizeof link, "/proc/self/fd/%d", publication->file);
    if (linkat(AT_FDCWD, link, publication->folder, publication->name, AT_SYMLINK_FOLLOW) == 0) return true;
    for (int i = 0; i < ATTEMPTS && errno == EEXIST; i++) {
        choose_temporary_name(publication);
        if (linkat(AT_FDCWD, link, publication->folder, publication->temporary, AT_SYMLINK_FOLLOW) == 0) return true;
    }
    publication->temporary[0] = '\0';
    return false;
}

/* Gives the file its name, in place of any former file. Returns false and sets errno if that fails. */
static bool give_final_name(struct publication *publication) {
    if (publication->temporary[0] == '\0' && !link_unnamed_file(publication)) return false;
    if (publication->temporary[0] == '\0') return true;
    if (renameat(publication->folder, publication->temporary, publication->folder, publication->name) != 0)
        return false;
    publication->temporary[0] = '\0';
    return true;
}

/* Makes a file of these bytes appear at `path` as a whole, and waits until it is on disk. If that fails, returns false
 * and sets errno, and a former file stays as it was. */
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

/* About the most bytes that are read of a file: no table of IDXT_MAX_TERMS has more, nor a list of as many words. */
#define MOST_BYTES ((size_t)1 << 28)
enum { READ_BYTES = 1 << 16 };

/* Returns all bytes of a file, and sets *length; the caller frees them. Of a file of more than MOST_BYTES it returns a
 * little more than these. On failure returns NULL and sets errno. */
static unsigned char *read_bytes(int file, size_t *length) {
    unsigned char *bytes = NULL;
    size_t capacity = 0;
    for (*length = 0; *length <= MOST_BYTES;) {
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

/* Makes a table from the bytes of its file, or of a list that another program made; the caller closes it. `path` is
 * what errors say of it. There may be more than MOST_BYTES, which is an error. */
static enum idx_status decode_table(struct idx_text_table **table, const unsigned char *bytes, size_t length,
                                    const char *path, struct idx_error *error) {
    struct idx_text_table *decoded = idxt_table_new();
    const char *fault = "is too long for a table of document frequencies";
    enum idx_status status = IDX_BAD_CONTENT;
    if (decoded == NULL) return fail_table_memory(error);
    bool is_list = length <= MOST_BYTES && !idxt_table_is_encoded(bytes, length);
    if (is_list)
        status = idxt_list_read(decoded, (const char *)bytes, length, path, error);
    else if (length <= MOST_BYTES)
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
    unsigned char *bytes = read_bytes(file, &length);
    int saved_errno = errno;
    close(file);
    if (bytes == NULL) return idxt_fail_system(error, path, "read the table", saved_errno);
    enum idx_status status = decode_table(table, bytes, length, idxt_path_end(path), error);
    free(bytes);
    return status;
}

void idx_text_table_close(struct idx_text_table *table) {
    if (table == NULL) return;
    free(table->slots);
    free(table);
}
