/* progress.h: shows on standard error how far a command is, if that is a terminal or if it was asked for. */
#ifndef IDX_TOOLS_PROGRESS_H
#define IDX_TOOLS_PROGRESS_H

#include <idx.h>

struct progress {
    bool shown;
    uint64_t documents; /* How many documents will be read; 0: not known. */
    uint64_t input;     /* How many bytes or documents of texts will be read; 0: not known. */
    bool reading;       /* Texts are only read, not fingerprinted. */
    bool texts;         /* progress_show_documents_so_far shows how far reading is, and progress_visit does not. */

    /* The caller does not touch these. */
    bool terminal;            /* One line is overwritten; otherwise, lines follow each other every few seconds. */
    bool running;             /* A phase was entered. */
    struct idx_progress last; /* What the library reported last. */
    double started, phase_began, line_shown; /* The start of the command and of this phase, and the last line. */
    double processor_before;                 /* The processor seconds of the process when this phase began. */
    double rate_began;                       /* The rate is counted from this time on, in seconds; 0: not yet. */
    uint64_t done_at_rate_begin;             /* How much was done at that time. */
    uint64_t added;                          /* Documents that were added, as the library reported last. */
    struct {
        double seconds, printed_seconds; /* How long the phase took, and how much of that was printed. */
        double processor_seconds;        /* Those of all threads. */
        uint64_t peak_bytes;             /* The most resident memory of the phase; 0: not known. */
        bool ended, is_printed;          /* It was left once; all of its time was printed. */
    } phases[IDX_PHASE_COUNT];
};

/* Clears the struct, and begins to measure the time. Progress is shown if standard error is a terminal, or if `forced`.
 * Afterwards the caller sets `documents`, `input`, `reading` and `texts`, where they apply. */
void progress_start(struct progress *progress, bool forced);

/* Shows how far the command is, by what the library reports, if progress is shown. Returns false, which cancels the
 * call of the library, once a signal is noted (command.h). This is an idx_progress_visitor, whose context is a struct
 * progress. */
bool progress_visit(void *context, const struct idx_progress *report);

/* Ends the last phase, if one was entered and progress is shown: prints how long it took, or removes the line on the
 * terminal. */
void progress_end(struct progress *progress);

/* Notes that reading all documents, as the first phase, took the time since progress_start. Prints nothing, since
 * progress_show_documents_in_all has printed that time. */
void progress_note_reading(struct progress *progress);

/* Prints to standard error a table of the phases that have ended: the seconds and the processor seconds of all threads
 * that each took, and its peak memory. */
void progress_print_phases(const struct progress *progress);

/* Shows how many documents and bytes of texts were read so far, unless a line was shown just before. Also shows the
 * share of the input that is read and the time left, by `done`, in the unit of progress->input. One thread alone may
 * call this. */
void progress_show_documents_so_far(struct progress *progress, uint64_t documents, uint64_t bytes, uint64_t done);

/* Shows how many documents and bytes of texts were read in all, once that is done. One thread alone may call this. */
void progress_show_documents_in_all(struct progress *progress, uint64_t documents, uint64_t bytes);

#endif
