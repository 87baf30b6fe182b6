/* sink.c: a new file, compressed by libarchive's filters. */
#include "tools/text/sink.h"

#include <archive.h>
#include <archive_entry.h>

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

void sink_open(struct sink *sink, int descriptor, int filter) {
    *sink = (struct sink){.output = OUTPUT_KEPT, .filter = filter};
    sink->output.descriptor = descriptor;
}

static void fail(struct sink *sink, int error) {
    if (sink->output.error == 0) sink->output.error = error == 0 ? ENOMEM : error;
}

static la_ssize_t write_some(struct archive *archive, void *context, const void *bytes, size_t length) {
    struct sink *sink = context;
    (void)archive;
    output_bytes(&sink->output, bytes, length);
    return sink->output.error == 0 ? (la_ssize_t)length : -1;
}

/* Without a time in it, the same bytes are written each time. */
static bool begin(struct sink *sink, struct archive *archive) {
    if (archive_write_set_format_raw(archive) != ARCHIVE_OK) return false;
    if (archive_write_add_filter(archive, sink->filter) != ARCHIVE_OK) return false;
    if (sink->filter == ARCHIVE_FILTER_GZIP &&
        archive_write_set_filter_option(archive, "gzip", "timestamp", NULL) != ARCHIVE_OK)
        return false;
    if (archive_write_set_bytes_in_last_block(archive, 1) != ARCHIVE_OK) return false;
    if (archive_write_open(archive, sink, NULL, write_some, NULL) != ARCHIVE_OK) return false;
    struct archive_entry *entry = archive_entry_new();
    if (entry == NULL) return false;
    archive_entry_set_pathname(entry, "data");
    archive_entry_set_filetype(entry, AE_IFREG);
    bool begun = archive_write_header(archive, entry) == ARCHIVE_OK;
    archive_entry_free(entry);
    return begun;
}

static bool begin_member(struct sink *sink) {
    sink->archive = archive_write_new();
    if (sink->archive == NULL || !begin(sink, sink->archive))
        fail(sink, sink->archive == NULL ? ENOMEM : archive_errno(sink->archive));
    return sink->output.error == 0;
}

void sink_write(struct sink *sink, const void *bytes, size_t length) {
    if (sink->output.error != 0 || length == 0) return;
    if (sink->filter == ARCHIVE_FILTER_NONE) {
        output_bytes(&sink->output, bytes, length);
        return;
    }
    if (sink->archive == NULL && !begin_member(sink)) return;
    if (archive_write_data(sink->archive, bytes, length) != (la_ssize_t)length)
        fail(sink, archive_errno(sink->archive));
}

void sink_end_member(struct sink *sink) {
    if (sink->archive == NULL) return;
    if (archive_write_close(sink->archive) != ARCHIVE_OK) fail(sink, archive_errno(sink->archive));
    archive_write_free(sink->archive);
    sink->archive = NULL;
}

bool sink_close(struct sink *sink) {
    sink_end_member(sink);
    output_flush(&sink->output);
    if (close(sink->output.descriptor) != 0 && errno != EINTR) fail(sink, errno);
    free(sink->output.bytes);
    sink->output.bytes = NULL;
    sink->output.descriptor = -1;
    return sink->output.error == 0;
}
