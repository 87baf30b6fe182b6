/* progress.h: shows on standard error how far a command is, if that is a terminal or if it was asked for. */
#ifndef IDX_TOOLS_PROGRESS_H
#define IDX_TOOLS_PROGRESS_H

#include <idx.h>

struct progress {
    bool shown;
    uint64_t documents; /* So many documents will be read; 0: that is not known. */
    uint64_t input;     /* So many bytes or documents of texts will be read; 0: that is not known. */
    bool reading;       /* Texts are only read, not fingerprinted. */

    /* The caller does not touch these. */
    bool terminal; /* One line is overwritten. Otherwise a line comes every few seconds, and one for each phase that
                      ended. */
    bool running;
    struct idx_progress last;
    double started, entered, said; /* All, this phase, and the last line began at these times. */
    double base; /* The rate is counted since then, when `base_done` was done; 0: it is not counted yet. */
    uint64_t base_done;
    uint64_t added; /* The library said that so many documents were added. */
    struct {
        double seconds, told_seconds; /* The phase took so long in all, and as far as lines said it. */
        uint64_t peak_bytes;          /* Resident memory had at most so many bytes; 0: that is not known. */
        bool seen, told;
    } phases[IDX_PHASE_COUNT];
};

void progress_start(struct progress *progress, bool forced);

/* This is an idx_progress_visitor, whose context is a struct progress. It shows how far the command is, and returns
 * false once a signal is noted (command.h). */
bool progress_visit(void *progress, const struct idx_progress *now);

/* Ends the last phase. */
void progress_end(struct progress *progress);

/* Prints how long each phase took, and how much memory. */
void progress_print_phases(const struct progress *progress);

/* Reading texts has one phase: shows at intervals how many documents and bytes there were, and by what is done of the
 * input the share and the time left; and at the end. By one thread. */
void progress_say_documents(struct progress *progress, uint64_t documents, uint64_t bytes, uint64_t done);
void progress_end_documents(struct progress *progress, uint64_t documents, uint64_t bytes);

#endif
