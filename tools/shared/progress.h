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
    bool terminal;                 /* One line is overwritten; otherwise, lines follow each other every few seconds. */
    bool running;                  /* A phase was entered. */
    struct idx_progress last;      /* What the library reported last. */
    double started, entered, said; /* When the command, this phase, and the last line began, in seconds. */
    double entered_work;           /* The processor seconds of the process when this phase began. */
    double rate_start; /* The time from which on the rate is counted, when `done_at_start` was done; 0: none yet. */
    uint64_t done_at_start;
    uint64_t added; /* Documents that were added, as the library reported last. */
    struct {
        double seconds, told_seconds; /* How long the phase took, and how much of that was printed. */
        double work;                  /* Processor seconds of all threads. */
        uint64_t peak_bytes;          /* The most resident memory of the phase; 0: not known. */
        bool seen, told;              /* It was left once; all of its time was printed. */
    } phases[IDX_PHASE_COUNT];
};

/* Clears the struct, and begins to measure. Progress is shown on a terminal, or if `forced`. */
void progress_start(struct progress *progress, bool forced);

/* This is an idx_progress_visitor, whose context is a struct progress. It shows how far the command is, and returns
 * false once a signal is noted (command.h). */
bool progress_visit(void *progress, const struct idx_progress *now);

/* Ends the last phase, says how long it took, and removes the line on the terminal. */
void progress_end(struct progress *progress);

/* Notes that all documents were read since progress_start, which is the first phase then. The second function of
 * those below has said how long that took. */
void progress_note_reading(struct progress *progress);

/* Prints how long each phase took, the processor seconds of all its threads, and how much memory. */
void progress_print_phases(const struct progress *progress);

/* Show how many documents and bytes of texts were read: the first function now and then, with the share of the input of
 * which `done` is done, and the time left; the second one at the end. One thread alone may call these. */
void progress_say_documents(struct progress *progress, uint64_t documents, uint64_t bytes, uint64_t done);
void progress_end_documents(struct progress *progress, uint64_t documents, uint64_t bytes);

#endif
