/* compact.c: makes one segment from the pending records and some of the newest segments, while readers and the writer
 * go on; a writer runs that in a thread of its own. */
#include "libidx/change/compact.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "libidx/change/index_lock.h"
#include "libidx/change/purge.h"
#include "libidx/change/remaining_removals.h"
#include "libidx/log/log_writer.h"
#include "libidx/view/refresh.h"

#define MAX_SEGMENT_NUMBER 999999 /* the largest number of a segment, whose folder has six digits */

struct compaction {
    struct idx_compact_options options;
    struct idx_index *index; /* the view that is compacted */
    int lock;
    size_t first_merged; /* the segments from this one on become part of the new one; the number of segments: none do */
    struct idxi_combination combination;
    struct idxi_progress progress;
    struct idxi_output output;
    bool switched; /* whether the manifest lists the new segment */
    struct idx_compact_summary summary;
};

/* ---- Folders of segments ---- */

/* Returns whether the manifest lists a segment with this number. */
static bool is_listed(const struct idxf_manifest *manifest, unsigned long number) {
    for (size_t i = 0; i < manifest->segment_count; i++)
        if (manifest->segments[i].number == number) return true;
    return false;
}

/* Removes the folders of segments that the manifest does not list, and adds to *removed how many are gone. A
 * killed compaction left them, or their segments became part of another one. Syncs the index's folder first, so that
 * the manifest that was read is on disk. Errors: IDX_IO_ERROR and others of listing the folder. */
static enum idx_status remove_stale_folders(const struct idx_index *index, size_t *removed, struct idx_error *error) {
    struct stat status;
    IDXI_TRY(idxi_sync_folder(index->folder, index->path, error));
    int folder = openat(index->folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *listing = folder < 0 ? NULL : fdopendir(folder);
    if (listing == NULL) {
        enum idx_status failed = idxi_fail_system(error, errno, index->path, "list");
        if (folder >= 0) close(folder);
        return failed;
    }
    for (struct dirent *entry; (entry = readdir(listing)) != NULL;) {
        /* The name of a segment's folder is its number. */
        if (!idxi_is_segment_name(entry->d_name)) continue;
        if (is_listed(index->manifest, strtoul(entry->d_name, NULL, 10))) continue;
        idxi_remove_tree(folder, entry->d_name);
        *removed += fstatat(folder, entry->d_name, &status, AT_SYMLINK_NOFOLLOW) != 0;
    }
    closedir(listing);
    return IDX_OK;
}

/* Removes the folder of segment `number`, if it is there. Goes by the open folder of the index, because another index
 * may have taken its path. */
static void remove_segment_folder(const struct idx_index *index, uint32_t number) {
    char name[IDXI_NAME_BYTES];
    idxi_format_segment_name(number, name);
    idxi_remove_tree(index->folder, name);
}

/* Returns a number for the new segment that no segment has: one more than the largest, or if that has too many digits,
 * the least free one. */
static uint32_t choose_segment_number(const struct idxf_manifest *manifest) {
    uint32_t number = 1;
    for (size_t i = 0; i < manifest->segment_count; i++)
        if (manifest->segments[i].number >= number) number = manifest->segments[i].number + 1;
    if (number <= MAX_SEGMENT_NUMBER) return number;
    number = 1;
    while (is_listed(manifest, number)) number++;
    return number;
}

/* ---- Which segments become one ---- */

/* Returns a + b, or UINT64_MAX if the sum is larger. A damaged manifest may have numbers of any size. */
static uint64_t add_saturating(uint64_t a, uint64_t b) { return a > UINT64_MAX - b ? UINT64_MAX : a + b; }

/* Returns the size of a segment that decides what is compacted: its documents (without IDs, its fingerprints) plus its
 * removals. */
static uint64_t measure_segment(const struct idxi_segment *segment) {
    const struct idxf_manifest_segment *entry = &segment->entry;
    return add_saturating(entry->documents > 0 ? entry->documents : entry->fingerprints, entry->removed);
}

/* Sets growth[i], for i below `end`, to the size of segment i divided by that of all newer segments and pending
 * records, rounded down. */
static void measure_growth(const struct idx_index *index, size_t end, uint64_t growth[]) {
    uint64_t newer_size = idxi_pending_count_records(&index->pending);
    for (size_t i = index->open_segments; i-- > 0;) {
        uint64_t size = measure_segment(index->segments[i]);
        if (i < end) growth[i] = size / add_saturating(newer_size, 1); /* plus 1, since nothing may be newer */
        newer_size = add_saturating(newer_size, size);
    }
}

/* Returns the number of the first segment that becomes part of the new one, as do all newer ones: the first whose
 * growth (measure_growth) is at most options.growth. If that might leave more than options.max_segments, the least
 * growth among the first max_segments ones takes the place of options.growth, if it is higher. Returns the number of
 * segments if all stay. */
static size_t choose_first_merged(const struct compaction *compaction) {
    const struct idx_index *index = compaction->index;
    size_t max_segments = compaction->options.max_segments, first_merged = 0;
    /* The segments before `end` may stay: where nothing is pending, the newest one is a part in any case. */
    size_t end = idxi_pending_count_records(&index->pending) > 0 ? index->open_segments : index->open_segments - 1;
    uint64_t growth[IDXF_MAX_SEGMENTS], max_growth = compaction->options.growth;
    if (compaction->options.all) return 0;
    measure_growth(index, end, growth);
    /* With growth = 0, only the newest segments become one, so that max_segments are left in all. */
    if (end + 1 > max_segments && max_growth == 0) return max_segments - 1;
    if (end + 1 > max_segments) {
        uint64_t least_growth = UINT64_MAX;
        for (size_t i = 0; i < max_segments; i++) least_growth = growth[i] < least_growth ? growth[i] : least_growth;
        if (least_growth > max_growth) max_growth = least_growth;
    }
    while (first_merged < end && growth[first_merged] > max_growth) first_merged++;
    return first_merged;
}

/* ---- The new segment ---- */

/* Writes the new segment, with its file of removals. The manifest does not list it yet. Errors: as
 * idxi_fill_combination, idxi_output_open_segment, idxi_combine_segments and idxi_write_removals. */
static enum idx_status write_segment(struct compaction *compaction, struct idx_error *error) {
    const struct idx_index *index = compaction->index;
    struct idxi_output *output = &compaction->output;
    struct idxi_combination *combination = &compaction->combination;
    combination->model = index;
    combination->memory_bytes = compaction->options.memory_bytes;
    combination->threads = compaction->options.threads;
    combination->progress = &compaction->progress;
    combination->output = output;
    IDXI_TRY(idxi_fill_combination(&compaction->index, 1, compaction->first_merged, combination, error));
    IDXI_TRY(idxi_output_open_segment(output, index->path, choose_segment_number(index->manifest),
                                      compaction->options.temporary_folder, (enum idx_id_type)index->manifest->id_type,
                                      error));
    IDXI_TRY(idxi_combine_segments(combination, error));
    return idxi_write_removals(index, compaction->first_merged, &output->segment, output->segment_folder,
                               output->segment_path, error);
}

/* Checks that the index is still at its path. Otherwise files of the segment may have been written to a folder that has
 * taken its place. Errors: IDX_IO_ERROR (it is not), and as idx_replaced. */
static enum idx_status check_index_not_moved(const struct idx_index *index, struct idx_error *error) {
    bool replaced;
    IDXI_TRY(idx_replaced(index, &replaced, error));
    if (!replaced) return IDX_OK;
    return idxi_fail(error, IDX_IO_ERROR, index->path,
                     "was moved while it was compacted: nothing was changed; compact it where it is now");
}

/* Lists the new segment in the manifest, in place of those that became part of it. Only compactions change the list,
 * and this one has their lock, so the manifest still lists the segments that the view has. This is an
 * idxi_manifest_change. */
static void list_new_segment(void *context, struct idxf_manifest *manifest) {
    const struct compaction *compaction = context;
    manifest->sequence = compaction->index->pending.last;
    manifest->segments[compaction->first_merged] = compaction->output.segment;
    manifest->segment_count = (uint32_t)compaction->first_merged + 1;
}

/* Puts the new segment into the manifest. Sets compaction->switched to whether the manifest at the path is the new one,
 * which it may be even after an error. Until then, a compaction that fails has changed nothing. Errors: IDX_CANCELLED;
 * as check_index_not_moved and idxi_output_switch_manifest. */
static enum idx_status switch_manifest(struct compaction *compaction, struct idx_error *error) {
    const struct idx_index *index = compaction->index;
    IDXI_TRY(idxi_progress_begin(&compaction->progress, IDX_PHASE_PUBLISHING, 0, error));
    IDXI_TRY(check_index_not_moved(index, error));
    return idxi_output_switch_manifest(&compaction->output, index->folder, index->path, list_new_segment, compaction,
                                       &compaction->switched, error);
}

/* ---- After the switch ---- */

/* Deletes from the log the records that segments have now, unless a writer is open, which does so itself. A writer that
 * is being opened waits, because the lock is shared for a moment. Errors are ignored: readers skip such records. */
static void trim_log(const struct compaction *compaction) {
    const struct idx_index *index = compaction->index;
    struct idxi_log_writer *log;
    int lock = -1;
    if (!idxi_index_has_log(index)) return;
    if (idxi_lock(&lock, IDXI_LOCK_MOMENT, IDXI_LOCK_NAME, index->folder, index->path, NULL) != IDX_OK) return;
    /* Opening the log trims it. */
    if (idxi_log_writer_open(&log, index->folder, index->path, NULL) == IDX_OK) idxi_log_writer_close(log);
    idxi_lock_close(lock);
}

/* ---- The whole ---- */

/* Sets compaction->summary, but for `leftovers`, to the numbers of the new segment and of what became part of it. */
static void set_summary(struct compaction *compaction) {
    const struct idxf_manifest_segment *segment = &compaction->output.segment;
    struct idx_compact_summary *summary = &compaction->summary;
    summary->changed = true;
    summary->segments = compaction->first_merged + 1;
    summary->merged = compaction->combination.source_count;
    summary->records = idxi_pending_count_records(&compaction->index->pending);
    summary->documents = segment->documents;
    summary->fingerprints = segment->fingerprints;
    summary->removals = segment->removed;
}

/* Compacts the index of compaction->index, whose lock is held, if there is anything to compact, and sets
 * compaction->summary. In any case, removes leftover folders and trims the log. Errors: as remove_stale_folders,
 * write_segment and switch_manifest. */
static enum idx_status compact_locked_index(struct compaction *compaction, struct idx_error *error) {
    const struct idx_index *index = compaction->index;
    IDXI_TRY(remove_stale_folders(index, &compaction->summary.leftovers, error));
    compaction->first_merged = choose_first_merged(compaction);
    compaction->summary.segments = index->open_segments;
    /* A single segment, with nothing pending, is compact already. */
    if (idxi_pending_count_records(&index->pending) > 0 || index->open_segments - compaction->first_merged > 1) {
        IDXI_TRY(write_segment(compaction, error));
        IDXI_TRY(switch_manifest(compaction, error));
        set_summary(compaction);
        /* Views that have the old segments open can still read them. */
        for (size_t i = compaction->first_merged; i < index->open_segments; i++)
            remove_segment_folder(index, index->segments[i]->entry.number);
    }
    trim_log(compaction); /* also records that an earlier compaction left, which was killed or ran beside a writer */
    return IDX_OK;
}

/* Opens the index at a path, locks it for compactions, and then refreshes the view, so that it has what an earlier
 * compaction has done. free_compaction closes both, even after an error. Errors: as idx_open and idxi_lock_index. */
static enum idx_status open_and_lock_index(struct compaction *compaction, const char *path, struct idx_error *error) {
    struct idx_open_options options = IDX_OPEN_OPTIONS_INIT;
    options.residence = IDX_RESIDENCE_NONE;
    IDXI_TRY(idx_open(&compaction->index, path, &options, error));
    return idxi_lock_index(&compaction->lock, IDXI_COMPACT_LOCK_NAME, &compaction->index, error);
}

/* Locks the index of the view for compactions. Sets *outdated to whether another compaction has changed the manifest
 * since the view was opened. free_compaction releases the lock, even after an error. Errors: as idxi_lock and
 * idx_replaced. */
static enum idx_status lock_view(struct compaction *compaction, bool *outdated, struct idx_error *error) {
    const struct idx_index *index = compaction->index;
    IDXI_TRY(idxi_lock(&compaction->lock, IDXI_LOCK_TAKE, IDXI_COMPACT_LOCK_NAME, index->folder, index->path, error));
    return idx_replaced(index, outdated, error);
}

/* Compacts the index at `path`, or if that is NULL, the index of the view compaction->index. Does nothing if another
 * compaction has changed the latter since the view was opened. Checks the options. Errors: as idx_compact. */
static enum idx_status run_compaction(struct compaction *compaction, const char *path, struct idx_error *error) {
    bool outdated = false;
    struct idx_compact_options *options = &compaction->options;
    IDXI_TRY(idxi_check_threads(options->threads, error));
    if (options->max_segments < 1 || options->max_segments > IDXF_MAX_SEGMENTS)
        return idxi_fail(error, IDX_INVALID_ARGUMENT, NULL, "%u segments: the number must be 1 to %d",
                         options->max_segments, IDXF_MAX_SEGMENTS);
    IDXI_TRY(idxi_memory_choose_limit(&options->memory_bytes, error));
    idxi_progress_init(&compaction->progress, options->progress, options->context);
    IDXI_TRY(path != NULL ? open_and_lock_index(compaction, path, error) : lock_view(compaction, &outdated, error));
    if (outdated) return IDX_OK;
    IDXI_TRY(idxi_progress_begin(&compaction->progress, IDX_PHASE_MERGING, 0, error));
    return compact_locked_index(compaction, error);
}

/* Frees a compaction and closes its view. Removes the new segment's folder, unless the manifest lists it by now. */
static void free_compaction(struct compaction *compaction) {
    bool has_segment = compaction->output.segment_path != NULL && !compaction->switched;
    idxi_output_close(&compaction->output); /* first, because removing needs a descriptor */
    if (has_segment) remove_segment_folder(compaction->index, compaction->output.segment.number);
    idxi_free_combination_arrays(&compaction->combination);
    idxi_lock_close(compaction->lock);
    idx_close(compaction->index);
    free(compaction);
}

/* Returns a compaction with these options (NULL: the defaults), or NULL when memory runs out. */
static struct compaction *new_compaction(const struct idx_compact_options *options) {
    struct compaction *compaction = calloc(1, sizeof *compaction);
    if (compaction == NULL) return NULL;
    compaction->options = (struct idx_compact_options)IDX_COMPACT_OPTIONS_INIT;
    if (options != NULL) compaction->options = *options;
    compaction->lock = compaction->output.segment_folder = compaction->output.temporary_folder = -1;
    return compaction;
}

enum idx_status idxi_compact_view(struct idx_index *index, const struct idx_compact_options *options,
                                  struct idx_error *error) {
    struct compaction *compaction = new_compaction(options);
    if (compaction == NULL) {
        idx_close(index);
        return idxi_fail_memory(error);
    }
    compaction->index = index;
    enum idx_status status = run_compaction(compaction, NULL, error);
    free_compaction(compaction);
    return status;
}

enum idx_status idx_compact(const char *path, const struct idx_compact_options *options,
                            struct idx_compact_summary *summary, struct idx_error *error) {
    struct idx_compact_options settings = IDX_COMPACT_OPTIONS_INIT;
    IDXI_TRY(idxi_copy_options(&settings, options, error));
    struct compaction *compaction = new_compaction(&settings);
    if (compaction == NULL) return idxi_fail_memory(error);
    enum idx_status status = run_compaction(compaction, path, error);
    if (status == IDX_OK && summary != NULL) *summary = compaction->summary;
    free_compaction(compaction);
    return status;
}

/* ---- In the background ---- */

/* Returns whether to go on: false if the writer has cancelled the compaction; otherwise what its own callback, if there
 * is one, says. This is an idx_progress_visitor. */
static bool may_go_on(void *context, const struct idx_progress *progress) {
    struct idxi_background *background = context;
    if (atomic_load(&background->cancelled)) return false;
    return background->progress == NULL || background->progress(background->context, progress);
}

/* The thread of a background compaction: compacts background->index, which idxi_compact_view closes, and leaves status
 * and error for idxi_background_wait. Returns NULL. */
static void *run_in_background(void *context) {
    struct idxi_background *background = context;
    struct idx_compact_options options = IDX_COMPACT_OPTIONS_INIT;
    options.max_segments = background->max_segments;
    options.threads = background->threads;
    options.progress = may_go_on;
    options.context = background;
    background->status = idxi_compact_view(background->index, &options, &background->error);
    atomic_store(&background->ended, true);
    return NULL;
}

/* Starts the thread of a background compaction, with all signals blocked: they are for the threads of the program.
 * Returns false if that fails. */
static bool start_thread(struct idxi_background *background) {
    sigset_t all_signals, former_signals;
    sigfillset(&all_signals);
    if (pthread_sigmask(SIG_SETMASK, &all_signals, &former_signals) != 0) return false;
    bool started = pthread_create(&background->thread, NULL, run_in_background, background) == 0;
    pthread_sigmask(SIG_SETMASK, &former_signals, NULL);
    return started;
}

void idxi_background_begin(struct idxi_background *background, const struct idx_index *index, unsigned max_segments) {
    struct idx_open_options options = IDX_OPEN_OPTIONS_INIT;
    options.residence = IDX_RESIDENCE_NONE;
    background->max_segments = max_segments;
    atomic_store(&background->ended, false);
    atomic_store(&background->cancelled, false);
    background->status = idxi_index_open(&background->index, index->path, &options, index, &background->error);
    if (background->status != IDX_OK) return;
    background->has_thread = start_thread(background);
    if (background->has_thread) return;
    idx_close(background->index);
    background->status = idxi_fail_memory(&background->error);
}

enum idx_status idxi_background_wait(struct idxi_background *background, struct idx_error *error) {
    if (background->has_thread) pthread_join(background->thread, NULL);
    background->has_thread = false;
    if (background->status != IDX_OK && error != NULL) *error = background->error;
    return background->status;
}

void idxi_background_cancel(struct idxi_background *background) {
    atomic_store(&background->cancelled, true);
    idxi_background_wait(background, NULL);
}
