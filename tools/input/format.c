/* format.c: finds out in which format a file has fingerprints, by its name and first bytes. */
#include "tools/input/format.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

const char *const input_format_names[] = {"auto", "tsv", "u64", "npy", NULL};

static const char npy_mark[] = {'\x93', 'N', 'U', 'M', 'P', 'Y'};

/* Returns whether a path ends in `ending`, in capital or small letters, and has more before that. */
static bool ends_with(const char *path, const char *ending) {
    size_t length = strlen(path), ending_length = strlen(ending);
    return length > ending_length && strcasecmp(path + length - ending_length, ending) == 0;
}

#ifdef IDX_LINUX
/* Copies up to `size` bytes of a pipe to `bytes`, and leaves them in the pipe. Waits for the first byte, or for a
 * signal that is noted. Returns how many bytes were copied; 0 at the end of the pipe, after a signal, or if that
 * failed. Sets *ended to whether the writer closed the pipe, so that no bytes will follow. */
static size_t peek_at_pipe(int pipe, char *bytes, size_t size, bool *ended) {
    struct pollfd descriptors[2] = {{.fd = pipe, .events = POLLIN},
                                    {.fd = interrupt_get_descriptor(), .events = POLLIN}};
    int copy[2];
    ssize_t copied = -1;
    while (poll(descriptors, 2, -1) < 0 && errno == EINTR) continue;
    *ended = (descriptors[0].revents & POLLHUP) != 0;
    if (descriptors[1].revents != 0 || pipe2(copy, O_CLOEXEC) != 0) return 0;
    if (tee(pipe, copy[1], size, SPLICE_F_NONBLOCK) > 0) copied = read(copy[0], bytes, size);
    close(copy[0]);
    close(copy[1]);
    return copied < 0 ? 0 : (size_t)copied;
}
#else
/* Returns 0, as if the pipe had ended: without tee(2), no byte of a pipe can be read without removing it. */
static size_t peek_at_pipe(int pipe, char *bytes, size_t size, bool *ended) {
    (void)pipe, (void)bytes, (void)size, (void)ended;
    return 0;
}
#endif

/* Waits until the first bytes of a pipe show whether it begins with NumPy's mark, and returns that. Returns false also
 * if the pipe ends within the mark, or after a signal. poll can't wait for the rest of the mark, since a pipe with a
 * part of it is readable: this sleeps between looks. The first byte of a line of TSV already differs from the mark. */
static bool is_npy_pipe(int pipe) {
    static const struct timespec millisecond = {0, 1000000};
    char first_bytes[sizeof npy_mark];
    for (;;) {
        bool ended;
        size_t available = peek_at_pipe(pipe, first_bytes, sizeof first_bytes, &ended);
        if (available == 0 || memcmp(first_bytes, npy_mark, available) != 0) return false;
        if (available == sizeof first_bytes) return true;
        if (ended) return false;
        nanosleep(&millisecond, NULL);
    }
}

/* Returns whether a regular file begins with NumPy's mark; standard input, if it is a regular file, from its current
 * offset on. Returns false also if the file can't be read. */
static bool is_npy_file(const char *path) {
    char first_bytes[sizeof npy_mark];
    struct stat status;
    bool is_standard = strcmp(path, "-") == 0;
    int stat_result = is_standard ? fstat(STDIN_FILENO, &status) : stat(path, &status);
    if (stat_result != 0 || !S_ISREG(status.st_mode)) return false;
    int file = is_standard ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
    off_t offset = is_standard ? lseek(file, 0, SEEK_CUR) : 0;
    bool is_npy = file >= 0 && offset >= 0 &&
                  pread(file, first_bytes, sizeof first_bytes, offset) == (ssize_t)sizeof first_bytes &&
                  memcmp(first_bytes, npy_mark, sizeof first_bytes) == 0;
    if (file > STDIN_FILENO) close(file);
    return is_npy;
}

enum input_format input_recognize_format(const char *path) {
    if (ends_with(path, ".tsv")) return INPUT_TSV;
    if (ends_with(path, ".u64")) return INPUT_U64;
    return ends_with(path, ".npy") || is_npy_file(path) ? INPUT_NPY : INPUT_AUTO;
}

/* Returns the format of a file like input_recognize_format, but INPUT_TSV if nothing shows it. */
static enum input_format recognize_format_or_tsv(const char *path) {
    enum input_format format = input_recognize_format(path);
    return format == INPUT_AUTO ? INPUT_TSV : format;
}

/* Returns whether standard input is the only input: there is no path, or `-` alone. */
static bool is_standard_input_alone(const struct strings *paths) {
    return paths->count == 0 || (paths->count == 1 && strcmp(paths->values[0], "-") == 0);
}

bool input_wait_and_resolve_format(const struct strings *paths, enum input_format *format) {
    struct stat status;
    if (*format == INPUT_AUTO && is_standard_input_alone(paths) && fstat(STDIN_FILENO, &status) == 0 &&
        S_ISFIFO(status.st_mode) && is_npy_pipe(STDIN_FILENO))
        *format = INPUT_NPY;
    return input_resolve_format(paths, format);
}

bool input_resolve_format(const struct strings *paths, enum input_format *format) {
    if (*format != INPUT_AUTO) return true;
    *format = recognize_format_or_tsv(paths->count == 0 ? "-" : paths->values[0]);
    for (size_t i = 1; i < paths->count; i++) {
        enum input_format other_format = recognize_format_or_tsv(paths->values[i]);
        if (other_format == *format) continue;
        return complain_of_usage(
            "%s is taken for %s, and %s for %s: give inputs of one format, or say it with --format", paths->values[0],
            input_format_names[*format], paths->values[i], input_format_names[other_format]);
    }
    return true;
}

const char *input_advise_on_binary_line(const char *line, size_t length) {
    /* What files of gzip, zstd, xz and bzip2 begin with. */
    static const char *const marks[] = {"\x1f\x8b", "\x28\xb5\x2f\xfd", "\xfd\x37zXZ", "BZh"};
    for (size_t i = 0; i < sizeof marks / sizeof *marks; i++) {
        size_t mark_length = strlen(marks[i]);
        if (length >= mark_length && memcmp(line, marks[i], mark_length) == 0)
            return "; this looks compressed: decompress it, as zcat does, and give that";
    }
    /* Of the control characters, lines of text have only tabs and carriage returns. */
    for (size_t i = 0; i < length; i++) {
        unsigned char byte = (unsigned char)line[i];
        if (byte < ' ' && byte != '\t' && byte != '\r')
            return "; this looks like a binary file, which --format u64 or --format npy reads";
    }
    return "";
}
