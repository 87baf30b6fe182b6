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
enum { MAX_FILE_BYTES = 16 << 20 };

int files_open_folder(const char *path) {
    int folder = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (folder < 0) complain("%s: can't open the folder of the documents: %s", path, strerror(errno));
    return folder;
}

/* Opens one part of a path, `name`, in the folder `parent`, to which the parts before it lead. The last part is opened
 * as a file, without waiting if it is a FIFO or a terminal, and others as folders; neither through a symbolic link.
 * Returns a descriptor, which the caller closes, or -1 if that fails, or if the part is `..`, which would lead out of
 * the folder. */
static int open_path_part(int parent, const char *name, bool is_last) {
    int flags = is_last ? O_RDONLY | O_NONBLOCK | O_NOCTTY : O_RDONLY | O_DIRECTORY;
    if (strcmp(name, "..") == 0) return -1;
    return openat(parent, name, flags | O_NOFOLLOW | O_CLOEXEC);
}

/* Opens a relative path below a folder, which stays open, part by part. Returns a descriptor of the file, which the
 * caller closes, or -1 if there is none that can be opened. */
static int open_path_below(int folder, const char *path) {
    char parts[PATH_MAX], *part = parts, *next;
    int descriptor = folder;
    if (strlen(path) >= sizeof parts) return -1;
    strcpy(parts, path);
    for (; part != NULL && descriptor >= 0; part = next) {
        next = strchr(part, '/');
        if (next != NULL) *next++ = '\0';
        if (*part == '\0' && next != NULL) continue; /* A part is empty in a//b. */
        int parent = descriptor;
        descriptor = open_path_part(parent, part, next == NULL);
        if (parent != folder) close(parent);
    }
    return descriptor;
}

/* Opens the file that an ID names. The ID is relative to the folder, or begins with the folder's path as --documents
 * has it. Returns a descriptor of the file, which the caller closes, or -1 if there is none. */
static int open_document(const struct service *service, const char *id) {
    const char *folder_path = service->options->documents;
    size_t length = strlen(folder_path);
    while (length > 0 && folder_path[length - 1] == '/') length--;
    int file = *id == '/' ? -1 : open_path_below(service->documents_folder, id);
    if (file < 0 && strncmp(id, folder_path, length) == 0 && id[length] == '/')
        file = open_path_below(service->documents_folder, id + length + 1);
    return file;
}

/* Appends the bytes of an open file to `bytes`, and closes the file in any case. Returns 0, or an errno: ENOENT if the
 * file is no regular one, EFBIG if it has more than MAX_FILE_BYTES, ENOMEM if memory ran out, or the errno of a failed
 * read. `bytes` must be empty before. */
static int append_and_close_file(int file, struct output *bytes) {
    char chunk[1 << 16];
    struct stat status;
    ssize_t length = 0;
    int error = 0;
    if (fstat(file, &status) != 0 || !S_ISREG(status.st_mode)) {
        error = ENOENT;
    } else {
        while (bytes->length <= MAX_FILE_BYTES && (length = read(file, chunk, sizeof chunk)) > 0)
            output_bytes(bytes, chunk, (size_t)length);
        if (length < 0) error = errno;
        if (bytes->length > MAX_FILE_BYTES) error = EFBIG;
    }
    close(file);
    return error == 0 ? bytes->error : error;
}

void files_answer_document(struct request *request) {
    struct output bytes = OUTPUT_BUFFER;
    if (request->service->documents_folder < 0) {
        request_fail(request, MHD_HTTP_NOT_FOUND, "this service shows no documents; --documents names their folder");
        return;
    }
    /* An ID with a NUL byte names no file. */
    int file = strlen(request->id) == request->id_length ? open_document(request->service, request->id) : -1;
    int error = file < 0 ? ENOENT : append_and_close_file(file, &bytes);
    if (error == 0 && !request_count_held_bytes(request, bytes.length)) error = ENOMEM;
    if (error == 0)
        texts_write_document(request, &bytes, request->id);
    else if (error == ENOENT)
        request_fail(request, MHD_HTTP_NOT_FOUND, "no document below the folder has this name");
    else if (error == EFBIG)
        request_fail(request, MHD_HTTP_UNPROCESSABLE_CONTENT, "the document has more than %d bytes", MAX_FILE_BYTES);
    else if (error == ENOMEM)
        request_fail(request, MHD_HTTP_SERVICE_UNAVAILABLE, "the service is busy; try again later");
    else
        request_fail(request, MHD_HTTP_INTERNAL_SERVER_ERROR, "the document can't be read: %s", strerror(error));
    free(bytes.bytes);
    request_finish_answer(request, "text/plain; charset=utf-8");
}
