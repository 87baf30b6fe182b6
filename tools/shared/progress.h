/* progress.h: shows on standard error how far a command is, if that is a terminal or if it was asked for. */
#ifndef IDX_TOOLS_PROGRESS_H
#define IDX_TOOLS_PROGRESS_H

#include <idx.h>

struct progress {
    bool shown;
    uint64_t documents; /* How many documents will be read; 0: not known. */
    uint64_t input;     /* How many bytes or documents of texts will be read; 0: not known. */
    bool reading;       /* Texts are only read, not fingerprinted. */
    bool texts;         /* How far reading is, the progress of texts shows, and this one does not. */

    /* The caller does not touch these. */
    bool terminal;            /* One line is overwritten; otherwise, lines follow each other every few seconds. */
    bool running;             /* A phase was entered. */
    struct idx_progress last; /* What the library reported last. */
    double started, phase_began, line_shown; /* The start of the command and of this phase, and the last line. */
    double work_before;                      /* The processor seconds of the process when this phase began. */
    double rate_begin; /* The time from which on the rate is counted, when `done_before` was done; 0: none yet. */
    uint64_t done_before;
    uint64_t added; /* Documents that were added, as the library reported last. */
    struct {
        double seconds, printed_seconds; /* How long the phase took, and how much of that was printed. */
        double work;                     /* Processor seconds of all threads. */
        uint64_t peak_bytes;             /* The most resident memory of the phase; 0: not known. */
        bool ended, is_printed;          /* It was left once; all of its time was printed. */
    } phases[IDX_PHASE_COUNT];
};

/* Clears the struct, and begins to measure. Progress is shown on a terminal, or if `forced`. */
void progress_start(struct progress *progress, bool forced);

/* Shows how far the command is by what the library reports. Returns false once a signal is noted (command.h). This is
 * an idx_progress_visitor, whose context is a struct progress. */
bool progress_visit(void *progress, const struct idx_progress *report);

/* Ends the last phase, says how long it took, and removes the line on the terminal. */
void progress_end(struct progress *progress);

/* Notes that reading all documents took the time since progress_start, as the first phase. progress_end_documents has
 * said how long that was. */
void progress_note_reading(struct progress *progress);

/* Prints how long each phase took, the processor seconds of all its threads, and how much memory. */
void progress_print_phases(const struct progress *progress);

/* Shows how many documents and bytes of texts were read so far, unless it did so just before. `done` is how much of
 * progress->input is read, from which come the share that is done and the time left. One thread alone may call this. */
void progress_say_documents(struct progress *progress, uint64_t documents, uint64_t bytes, uint64_t done);

/* Shows how many documents and bytes of texts were read in all, once that is done. One thread alone may call this. */
void progress_end_documents(struct progress *progress, uint64_t documents, uint64_t bytes);

#endif
