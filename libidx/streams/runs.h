/* runs.h: sorted runs in temporary files: ascending entries, packed in groups (SPEC.md, chapter 8). The files have no
 * name, so none is left behind, however a process ends. */
#ifndef IDX_LIBIDX_RUNS_H
#define IDX_LIBIDX_RUNS_H

#include "libidx/streams/stream.h"

/* A file of runs, one after the other. Only one thread at a time may write to it. */
struct idxi_run_file {
    int fd;
    const char *folder_path; /* for messages; the caller's */
    uint64_t written;        /* bytes in the file */
    uint64_t last_run_end;   /* where the last complete run ends */
    uint8_t *buffer;
    size_t used;                     /* bytes in the buffer, which are not written yet */
    uint64_t *fingerprints, *values; /* entries that do not yet fill a group */
    size_t waiting_count;            /* how many these are */
    bool with_values;
};

/* A run: bytes [begin, end) of a file. */
struct idxi_run {
    const struct idxi_run_file *file;
    uint64_t begin, end;
};

/* Creates an empty file in `folder`, a descriptor; `path`, its path for messages, must outlive the file. `with_values`:
 * entries have values. Takes about 1 MiB of memory. Call idxi_run_file_close even if this fails. Errors:
 * IDX_OUT_OF_MEMORY, and those of idxi_make_temporary_file. */
enum idx_status idxi_run_file_open(struct idxi_run_file *file, int folder, const char *path, bool with_values,
                                   struct idx_error *error);

/* Adds `count` entries to the run at the end of the file. They must not descend, by fingerprint, then value. `values`
 * is ignored, and may be NULL, if the file is without values. Entries may stay in memory until the run ends. Fails as
 * idxi_write_at does; then the file can only be closed. */
enum idx_status idxi_run_file_write(struct idxi_run_file *file, const uint64_t *fingerprints, const uint64_t *values,
                                    size_t count, struct idx_error *error);

/* Ends the run at the end of the file: writes what is in memory, and sets *run to its place in the file. What is
 * written next begins another run. Fails as idxi_run_file_write does. */
enum idx_status idxi_run_file_end(struct idxi_run_file *file, struct idxi_run *run, struct idx_error *error);

/* Frees the disk space of a run, if the system can do that; errors are ignored. The run must not be read afterwards. */
void idxi_run_drop(const struct idxi_run *run);

/* Closes the file, which then no longer exists, and frees its memory. Its streams must not be read afterwards. */
void idxi_run_file_close(struct idxi_run_file *file);

/* A stream of a run's entries as they were written, including equal ones. Any number of streams and threads may read
 * the runs of a file, even while others are appended. Reading fails as idxi_read_at does, or with IDX_BAD_CHECKSUM if
 * the file does not have what was written. */
struct idxi_run_stream {
    struct idxi_stream stream;
    struct idxi_run run;
    bool drops;      /* frees the disk space of what was read, so it is read once */
    uint64_t offset; /* in the file, of what is read next */
    uint8_t *buffer;
    size_t capacity, begin, end; /* bytes read and not yet decoded: [begin, end) */
    uint64_t *fingerprints, *values;
    size_t next_entry, count; /* of the decoded entries, [next_entry, count) are not read yet */
};

/* Opens a stream of a run, whose file must outlive it. `drops`: it frees the disk space of what was read, and can't be
 * rewound. Takes `buffer_bytes`, IDXI_MIN_RUN_BUFFER or more, and 16 KiB. Call idxi_run_stream_close even if this
 * fails. Errors: IDX_OUT_OF_MEMORY. */
#define IDXI_MIN_RUN_BUFFER ((size_t)32 << 10)
enum idx_status idxi_run_stream_open(struct idxi_run_stream *stream, const struct idxi_run *run, bool drops,
                                     size_t buffer_bytes, struct idx_error *error);

/* A stream that drops its run keeps less than this of what was read on the disk. */
#define IDXI_RUN_DROP_BYTES ((uint64_t)4 << 20)

/* Frees the stream's memory. The run stays. */
void idxi_run_stream_close(struct idxi_run_stream *stream);

#endif
