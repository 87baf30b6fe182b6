/* files.c: reads documents that are files below one folder. A path is followed folder by folder, with a descriptor for
 * each, and through no symbolic link, so that nothing outside the folder is ever opened. */
#include "tools/serve/files.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* The largest file that is shown: its text is held in memory, and a page shows all of it. */
enum { MOST_FILE_BYTES = 16 << 20 };

int files_open_folder(const char *path) {
    int folder = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (folder < 0) complain("%s: can't open the folder of the documents: %s", path, strerror(errno));
    return folder;
}

/* Opens one part of a path: the last one as a file, without waiting if it is a FIFO or a terminal, and others as
 * folders. Returns -1 and sets errno if that fails, as it does for `..`, which would lead out of the folder. */
static int open_part(int folder, const char *name, bool is_last) {
    int flags = is_last ? O_RDONLY | O_NONBLOCK | O_NOCTTY : O_RDONLY | O_DIRECTORY;
    if (strcmp(name, "..") == 0) {
        errno = EACCES;
        return -1;
    }
    return openat(folder, name, flags | O_NOFOLLOW | O_CLOEXEC);
}

/* Opens a relative path below the folder. Returns -1 and sets errno if that fails. */
static int open_below(int folder, const char *path) {
    char parts[PATH_MAX], *part = parts, *next;
    int reached = folder, file = -1;
    if (strlen(path) >= sizeof parts) {
        errno = ENAMETOOLONG;
        return -1;
    }
    strcpy(parts, path);
    for (; part != NULL; part = next) {
        next = strchr(part, '/');
        if (next != NULL) *next++ = '\0';
        if (*part == '\0' && next != NULL) continue; /* A part is empty in a//b. */
        file = open_part(reached, part, next == NULL);
        int error = errno;
        if (reached != folder) close(reached);
        errno = error;
        if (file < 0) return -1;
        reached = file;
    }
    return file;
}

/* Opens the file that an ID names, or returns -1 if there is none. The ID is relative to the folder, or begins with the
 * folder's path as --documents has it. */
static int open_document(const struct service *service, const char *id) {
    const char *folder = service->options->documents;
    size_t length = strlen(folder);
    while (length > 0 && folder[length - 1] == '/') length--;
    int file = *id == '/' ? -1 : open_below(service->documents_folder, id);
    if (file < 0 && strncmp(id, folder, length) == 0 && id[length] == '/')
        file = open_below(service->documents_folder, id + length + 1);
    return file;
}

static void fail_as_too_large(struct request *request) {
    request_fail(request, MHD_HTTP_UNPROCESSABLE_CONTENT, "the document has more than %d bytes", MOST_FILE_BYTES);
}

/* Appends the file to `bytes`, and counts them as held by the request. Returns false where the request failed. */
static bool read_and_hold(struct request *request, int file, struct output *bytes) {
    char piece[1 << 16];
    struct stat status;
    ssize_t length = -1;
    if (fstat(file, &status) != 0 || !S_ISREG(status.st_mode))
        return request_fail(request, MHD_HTTP_NOT_FOUND, "no document below the folder has this name");
    while (bytes->length <= MOST_FILE_BYTES && (length = read(file, piece, sizeof piece)) > 0)
        output_bytes(bytes, piece, (size_t)length);
    if (bytes->length > MOST_FILE_BYTES)
        fail_as_too_large(request);
    else if (length < 0)
        request_fail(request, MHD_HTTP_INTERNAL_SERVER_ERROR, "the document can't be read: %s", strerror(errno));
    else if (bytes->error != 0 || !request_hold(request, bytes->length))
        request_fail(request, MHD_HTTP_SERVICE_UNAVAILABLE, "the service is busy; try again later");
    return request->status == 0;
}

bool files_read(const struct service *service, const char *id, struct output *bytes) {
    char piece[1 << 16];
    struct stat status;
    ssize_t length = -1;
    int file = open_document(service, id);
    if (file < 0) return false;
    if (fstat(file, &status) == 0 && S_ISREG(status.st_mode)) {
        while (bytes->length <= MOST_FILE_BYTES && (length = read(file, piece, sizeof piece)) > 0)
            output_bytes(bytes, piece, (size_t)length);
    }
    close(file);
    return length == 0 && bytes->error == 0; /* A length of 0 is the end of the file. */
}

void files_answer(struct request *request) {
    struct service *service = request->service;
    struct output bytes = OUTPUT_KEPT;
    int file = -1;
    if (service->documents_folder < 0) {
        request_fail(request, MHD_HTTP_NOT_FOUND, "this service shows no documents; --documents names their folder");
        return;
    }
    /* An ID with a NUL byte names no file. */
    if (strlen(request->id) == request->id_length) file = open_document(service, request->id);
    if (file < 0)
        request_fail(request, MHD_HTTP_NOT_FOUND, "no document below the folder has this name");
    else if (read_and_hold(request, file, &bytes))
        texts_put_document(request, &bytes, request->id);
    if (file >= 0) close(file);
    free(bytes.bytes);
    request_finish_answer(request, "text/plain; charset=utf-8");
}
