/* progress.h: how far a build, a merge or fingerprinting is, on standard error: where that is a terminal, or where it
 * was asked for. */
#ifndef IDX_TOOLS_PROGRESS_H
#define IDX_TOOLS_PROGRESS_H

#include <idx.h>

struct progress {
    bool shown;
    uint64_t documents; /* that will be read, as far as that is known; 0: it is not */
    uint64_t input;     /* likewise, of texts: the sizes of the inputs, or the documents that are read once more */
    bool reading;       /* texts are only read, not fingerprinted */

    /* Within. */
    bool terminal; /* one line, overwritten; else a line every few seconds, and one for each phase that ended */
    bool running;
    struct idx_progress last;
    double started, entered, said; /* when: all of it, this phase, the last line */
    double base;                   /* since when the rate is counted, `base_done` being done then; 0: not yet */
    uint64_t base_done;
    uint64_t added; /* documents, as far as the library told */
    struct {
        double seconds, told_seconds; /* in all, and as far as lines said it */
        uint64_t peak_bytes;          /* resident memory at its largest; 0: not known */
        bool seen, told;
    } phases[IDX_PHASE_COUNT];
};

void progress_start(struct progress *progress, bool forced);

/* An idx_progress_visitor, whose context is a struct progress: shows how far it is, and goes on until a signal is noted
 * (interrupt.h). */
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
