/* format.c: see format.h. */
#include "tools/input/format.h"

#include "tools/shared/message.h"

#include <fcntl.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

const char *const input_format_names[] = {"auto", "tsv", "u64", "npy", NULL};

static const char npy_mark[] = {'\x93', 'N', 'U', 'M', 'P', 'Y'};

static bool has_ending(const char *path, const char *ending) {
    size_t length = strlen(path), size = strlen(ending);
    return length > size && strcasecmp(path + length - size, ending) == 0;
}

/* Whether a regular file begins with NumPy's mark; of an open one, what is read next. */
static bool begins_as_npy(const char *path) {
    char first[sizeof npy_mark];
    struct stat status;
    bool standard = strcmp(path, "-") == 0;
    bool regular = (standard ? fstat(STDIN_FILENO, &status) : stat(path, &status)) == 0 && S_ISREG(status.st_mode);
    if (!regular) return false;
    int file = standard ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
    off_t at = standard ? lseek(file, 0, SEEK_CUR) : 0;
    bool begins = file >= 0 && at >= 0 && pread(file, first, sizeof first, at) == (ssize_t)sizeof first &&
                  memcmp(first, npy_mark, sizeof first) == 0;
    if (file > STDIN_FILENO) close(file);
    return begins;
}

enum input_format input_format_of(const char *path) {
    if (has_ending(path, ".tsv")) return INPUT_TSV;
    if (has_ending(path, ".u64")) return INPUT_U64;
    return has_ending(path, ".npy") || begins_as_npy(path) ? INPUT_NPY : INPUT_AUTO;
}

static enum input_format format_or_tsv(const char *path) {
    enum input_format format = input_format_of(path);
    return format == INPUT_AUTO ? INPUT_TSV : format;
}

bool input_settle_format(const struct texts *paths, enum input_format *format) {
    static char standard[] = "-";
    if (*format != INPUT_AUTO) return true;
    *format = format_or_tsv(paths->count == 0 ? standard : paths->values[0]);
    for (size_t i = 1; i < paths->count; i++) {
        enum input_format other = format_or_tsv(paths->values[i]);
        if (other == *format) continue;
        complain_of_usage("%s is taken for %s, and %s for %s: give inputs of one format, or say it with --format",
                          paths->values[0], input_format_names[*format], paths->values[i], input_format_names[other]);
        return false;
    }
    return true;
}

const char *input_advice(const char *line, size_t length) {
    static const char *const compressed[] = {"\x1f\x8b", "\x28\xb5\x2f\xfd",
                                             "\xfd"
                                             "7zXZ",
                                             "BZh"};
    for (size_t i = 0; i < sizeof compressed / sizeof *compressed; i++) {
        size_t size = strlen(compressed[i]);
        if (length >= size && memcmp(line, compressed[i], size) == 0)
            return "; this looks compressed: decompress it, as zcat does, and give that";
    }
    for (size_t i = 0; i < length; i++) {
        unsigned char byte = (unsigned char)line[i];
        if ((byte < ' ' && strchr("\t\r", byte) == NULL) || byte == '\0')
            return "; this looks like a binary file, which --format u64 or --format npy reads";
    }
    return "";
}
