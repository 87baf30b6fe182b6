/* progress.c: shows on standard error how far a command is. */
#include "tools/shared/progress.h"

#include "tools/shared/clock.h"
#include "tools/shared/command.h"

#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* The least seconds between two lines. */
#define TERMINAL_INTERVAL 0.2
#define LOG_INTERVAL 5

/* The most bytes of a number with its unit, and of a line, with the terminating NUL. */
enum { CELL_BYTES = 32, LINE_BYTES = 160 };

static const struct {
    const char *name, *unit;
} phase_words[IDX_PHASE_COUNT] = {
    [IDX_PHASE_ADDING] = {"reading documents", " documents"},
    [IDX_PHASE_SORTING] = {"sorting documents", " documents"},
    [IDX_PHASE_MERGING] = {"merging", " entries"},
    [IDX_PHASE_TABLES] = {"writing tables", " fingerprints"},
    [IDX_PHASE_PUBLISHING] = {"publishing", ""},
    [IDX_PHASE_COMPARING] = {"comparing", " fingerprints"},
    [IDX_PHASE_CLUSTERING] = {"clustering", " entries"},
    [IDX_PHASE_DOCUMENTS] = {"fetching IDs", " documents"},
    [IDX_PHASE_COUNTING] = {"counting shingles", " shingles"},
    [IDX_PHASE_SETS] = {"comparing texts", " texts"},
    [IDX_PHASE_TASKS] = {"working", " tasks"},
};

/* Returns the time of a clock that never jumps, in seconds. */
static double read_seconds(void) { return (double)read_nanoseconds() / 1e9; }

/* Returns the processor seconds of all threads of the process so far. */
static double read_processor_seconds(void) { return (double)read_processor_nanoseconds() / 1e9; }

/* ---- Memory ---- */

/* Returns the peak of the process's resident memory, in bytes, since reset_peak_bytes, or 0 if the system does not tell
 * it. */
static uint64_t read_peak_bytes(void) {
    unsigned long long kibibytes = 0;
    char line[256];
    FILE *file = fopen("/proc/self/status", "re");
    if (file == NULL) return 0;
    while (fgets(line, sizeof line, file) != NULL && sscanf(line, "VmHWM: %llu", &kibibytes) != 1) {
    }
    fclose(file);
    return kibibytes * 1024;
}

/* Makes the peak that read_peak_bytes returns begin again from the resident memory of now. Where the system can't do
 * that, the peak of a phase is that of the process so far. */
static void reset_peak_bytes(void) {
    int file = open("/proc/self/clear_refs", O_WRONLY | O_CLOEXEC);
    if (file < 0) return;
    (void)!write(file, "5", 1);
    close(file);
}

/* ---- Numbers ---- */

/* Writes a count, rounded, with a prefix of its unit (powers of 1000): `17`, `1.5 K`, `640.0 M`. The caller appends the
 * unit. */
static void format_count(char cell[CELL_BYTES], double count) {
    static const char units[] = " KMGT";
    size_t unit = 0;
    for (; count >= 999.95 && unit + 1 < strlen(units); unit++) count /= 1000; /* From there on it rounds to 1000. */
    if (unit == 0)
        snprintf(cell, CELL_BYTES, "%.0f", count);
    else
        snprintf(cell, CELL_BYTES, "%.1f %c", count, units[unit]);
}

/* Writes a duration, in seconds, as `17 s`, `3 min 20 s`, `5 h 3 min`; at most 10^9 s, so that a cell has room. */
static void format_duration(char cell[CELL_BYTES], double seconds) {
    unsigned long long whole = seconds < 1e9 ? (unsigned long long)(seconds + 0.5) : 1000000000;
    if (whole < 60)
        snprintf(cell, CELL_BYTES, "%llu s", whole);
    else if (whole < 3600)
        snprintf(cell, CELL_BYTES, "%llu min %llu s", whole / 60, whole % 60);
    else
        snprintf(cell, CELL_BYTES, "%llu h %llu min", whole / 3600, whole / 60 % 60);
}

/* ---- Lines ---- */

/* Shows a line: in place of the last one on the terminal, or else as a message. `now` is the time, in seconds. */
static void show_line(struct progress *progress, const char *line, double now) {
    progress->line_shown = now;
    if (progress->terminal)
        message_show_status_line(line);
    else
        complain("%s", line);
}

/* How far a phase is, in the unit of phase_words. */
struct phase_state {
    uint64_t done, total; /* total 0: not known. */
    double rate;          /* Per second; 0: not known. */
};

/* Returns how far the current phase is at the time `now`, in seconds, with its rate if that is known. Reading pauses
 * whenever memory is full and has to be sorted; its rate counts these pauses as well, so that it says how long the
 * build will take. */
static struct phase_state find_phase_state(const struct progress *progress, double now) {
    const struct idx_progress *report = &progress->last;
    bool reading = report->phase == IDX_PHASE_ADDING;
    struct phase_state state = {.done = report->done, .total = report->total};
    double rate_begin = reading ? progress->started : progress->rate_began;
    if (reading) state = (struct phase_state){.done = progress->added, .total = progress->documents};
    uint64_t done_before_rate = reading ? 0 : progress->done_at_rate_begin;
    if (rate_begin > 0 && now > rate_begin && state.done > done_before_rate)
        state.rate = (double)(state.done - done_before_rate) / (now - rate_begin);
    if (state.total < state.done) state.total = 0; /* The total that the command expected was wrong. */
    return state;
}

/* Appends text to a line as printf does, and cuts off what does not fit. */
__attribute__((format(printf, 2, 3))) static void append_format(char line[LINE_BYTES], const char *format, ...) {
    va_list arguments;
    size_t length = strlen(line);
    va_start(arguments, format);
    vsnprintf(line + length, LINE_BYTES - length, format, arguments);
    va_end(arguments);
}

/* Shows a line with how far the current phase is at the time `now`, in seconds: share or count, rate and time left, as
 * far as these are known. */
static void show_phase(struct progress *progress, double now) {
    enum idx_phase phase = progress->last.phase;
    struct phase_state state = find_phase_state(progress, now);
    char line[LINE_BYTES] = "", cell[CELL_BYTES];
    append_format(line, "%s", phase_words[phase].name);
    if (state.total > 0) {
        append_format(line, ": %.0f %%", 100 * (double)state.done / (double)state.total);
    } else if (state.done > 0) {
        format_count(cell, (double)state.done);
        append_format(line, ": %s%s", cell, phase_words[phase].unit);
    }
    if (state.rate > 0) {
        format_count(cell, state.rate);
        append_format(line, ", %s%s per second", cell, phase_words[phase].unit);
    }
    if (state.rate > 0 && state.total > 0) {
        format_duration(cell, (double)(state.total - state.done) / state.rate);
        append_format(line, ", %s left", cell);
    }
    if (phase == IDX_PHASE_SORTING && progress->added > 0) {
        format_count(cell, (double)progress->added);
        append_format(line, "; %s read", cell);
    }
    show_line(progress, line, now);
}

/* ---- Phases ---- */

/* Returns whether two phases take turns: reading and sorting, whenever memory is full; comparing and clustering, at
 * each distance. Such a phase has ended only when a third one begins. */
static bool can_alternate(enum idx_phase phase_a, enum idx_phase phase_b) {
    if (phase_a <= IDX_PHASE_SORTING) return phase_b <= IDX_PHASE_SORTING; /* Adding and sorting are the first two. */
    bool is_clustering = phase_a == IDX_PHASE_COMPARING || phase_a == IDX_PHASE_CLUSTERING;
    return is_clustering && (phase_b == IDX_PHASE_COMPARING || phase_b == IDX_PHASE_CLUSTERING);
}

/* Prints, unless on a terminal, how long each phase took that has ended because `next_phase` begins. IDX_PHASE_COUNT as
 * `next_phase` means that the command ends. */
static void print_ended_phase_times(struct progress *progress, enum idx_phase next_phase) {
    for (enum idx_phase i = 0; i < IDX_PHASE_COUNT; i++) {
        if (!progress->phases[i].ended || progress->phases[i].is_printed || can_alternate(i, next_phase)) continue;
        progress->phases[i].is_printed = true;
        if (!progress->terminal)
            complain("%s took %.1f s", phase_words[i].name,
                     progress->phases[i].seconds - progress->phases[i].printed_seconds);
        progress->phases[i].printed_seconds = progress->phases[i].seconds;
    }
}

/* Adds to the current phase the time and the processor time since it was entered, and notes its peak memory. `now` is
 * the time, in seconds. */
static void leave_phase(struct progress *progress, double now) {
    enum idx_phase phase = progress->last.phase;
    uint64_t peak_bytes = read_peak_bytes();
    progress->phases[phase].ended = true;
    progress->phases[phase].is_printed = false;
    progress->phases[phase].seconds += now - progress->phase_began;
    progress->phases[phase].processor_seconds += read_processor_seconds() - progress->processor_before;
    if (peak_bytes > progress->phases[phase].peak_bytes) progress->phases[phase].peak_bytes = peak_bytes;
}

/* Begins to measure a phase at the time `now`, in seconds. Prints how long those phases took that have ended by
 * that. */
static void enter_phase(struct progress *progress, enum idx_phase phase, double now) {
    reset_peak_bytes();
    progress->running = true;
    progress->phase_began = now;
    progress->processor_before = read_processor_seconds();
    progress->rate_began = 0;
    print_ended_phase_times(progress, phase);
}

/* Notes what the library reported: changes to the phase of the report, if that is another one, and shows a line if the
 * last one is old enough. */
static void note_report(struct progress *progress, const struct idx_progress *report) {
    double now = read_seconds(), interval = progress->terminal ? TERMINAL_INTERVAL : LOG_INTERVAL;
    bool is_new_phase = !progress->running || report->phase != progress->last.phase;
    if (is_new_phase && progress->running) leave_phase(progress, now);
    if (is_new_phase) {
        enter_phase(progress, report->phase, now);
    } else if (progress->rate_began <= 0 || report->done < progress->done_at_rate_begin) {
        /* The phase reports for the second time, or counts from 0 again. */
        progress->rate_began = now;
        progress->done_at_rate_begin = report->done;
    }
    progress->last = *report;
    if (report->phase == IDX_PHASE_ADDING && report->done > progress->added) progress->added = report->done;
    if (report->phase == IDX_PHASE_ADDING && progress->texts)
        return; /* progress_show_documents_so_far shows this phase. */
    bool shown_at_once = is_new_phase && report->phase > IDX_PHASE_SORTING; /* The first two take turns too often. */
    if ((shown_at_once && progress->terminal) || now - progress->line_shown >= interval) show_phase(progress, now);
}

/* ---- The whole ---- */

void progress_start(struct progress *progress, bool forced) {
    bool terminal = isatty(STDERR_FILENO) == 1;
    *progress = (struct progress){.shown = forced || terminal, .terminal = terminal, .started = read_seconds()};
    progress->phase_began = progress->started;
    progress->processor_before = read_processor_seconds();
    progress->line_shown = terminal ? 0 : progress->started;
}

bool progress_visit(void *context, const struct idx_progress *report) {
    struct progress *progress = context;
    if (progress->shown && (unsigned)report->phase < IDX_PHASE_COUNT) note_report(progress, report);
    return !interrupt_is_noted();
}

void progress_end(struct progress *progress) {
    if (!progress->shown || !progress->running) return;
    leave_phase(progress, read_seconds());
    progress->running = false;
    print_ended_phase_times(progress, IDX_PHASE_COUNT);
    message_show_status_line("");
}

void progress_note_reading(struct progress *progress) {
    progress->last.phase = IDX_PHASE_ADDING;
    leave_phase(progress, read_seconds());
    progress->phases[IDX_PHASE_ADDING].is_printed = true;
}

void progress_print_phases(const struct progress *progress) {
    double seconds = 0, processor_seconds = 0;
    uint64_t max_peak_bytes = 0;
    char peak_text[SIZE_TEXT_BYTES];
    fprintf(stderr, "%-18s %10s %10s %12s\n", "phase", "seconds", "processor", "peak memory");
    for (size_t i = 0; i < IDX_PHASE_COUNT; i++) {
        if (!progress->phases[i].ended) continue;
        size_format(peak_text, (double)progress->phases[i].peak_bytes);
        fprintf(stderr, "%-18s %10.1f %10.1f %12s\n", phase_words[i].name, progress->phases[i].seconds,
                progress->phases[i].processor_seconds, peak_text);
        seconds += progress->phases[i].seconds;
        processor_seconds += progress->phases[i].processor_seconds;
        if (progress->phases[i].peak_bytes > max_peak_bytes) max_peak_bytes = progress->phases[i].peak_bytes;
    }
    size_format(peak_text, (double)max_peak_bytes);
    fprintf(stderr, "%-18s %10.1f %10.1f %12s\n", "all", seconds, processor_seconds, peak_text);
}

/* ---- Texts ---- */

/* Appends to the line how many documents and bytes were read, and how many bytes per second that is. `seconds` is how
 * long the reading took; 0 makes the rate 0. */
static void append_documents_read(char line[LINE_BYTES], uint64_t documents, uint64_t bytes, double seconds) {
    char cell[CELL_BYTES];
    format_count(cell, (double)documents);
    append_format(line, "%s documents", cell);
    format_count(cell, (double)bytes);
    append_format(line, ", %sB", cell);
    format_count(cell, seconds > 0 ? (double)bytes / seconds : 0);
    append_format(line, ", %sB per second", cell);
}

/* Appends to the line the share done / total as a percentage, and the time left, computed from `seconds_so_far`.
 * Appends nothing if nothing is done, or if an input has grown, which makes `total` too small. */
static void append_share_done(char line[LINE_BYTES], uint64_t done, uint64_t total, double seconds_so_far) {
    char cell[CELL_BYTES];
    if (done == 0 || done > total) return;
    format_duration(cell, seconds_so_far * (double)(total - done) / (double)done);
    append_format(line, ", %.0f %%, %s left", 100 * (double)done / (double)total, cell);
}

void progress_show_documents_so_far(struct progress *progress, uint64_t documents, uint64_t bytes, uint64_t done) {
    char line[LINE_BYTES] = "";
    if (!progress->shown) return;
    double now = read_seconds(), seconds = now - progress->started;
    if (now - progress->line_shown < (progress->terminal ? TERMINAL_INTERVAL : LOG_INTERVAL)) return;
    append_format(line, "%s: ", progress->reading ? "reading texts" : "fingerprinting");
    append_documents_read(line, documents, bytes, seconds);
    append_share_done(line, done, progress->input, seconds);
    show_line(progress, line, now);
}

void progress_show_documents_in_all(struct progress *progress, uint64_t documents, uint64_t bytes) {
    char line[LINE_BYTES] = "";
    double now = read_seconds();
    if (!progress->shown) return;
    message_show_status_line("");
    if (progress->terminal) return;
    append_format(line, "%s ", progress->reading ? "read texts of" : "fingerprinted");
    append_documents_read(line, documents, bytes, now - progress->started);
    show_line(progress, line, now);
}
