/* segmented.h: texts as another program segments them: a process that answers each line with one, whose words have
 * spaces between them. */
#ifndef BENCH_SEGMENTED_H
#define BENCH_SEGMENTED_H

#include <stddef.h>

struct segmenter;

/* Starts a shell's command; the program ends where it can't. */
struct segmenter *open_segmenter(const char *command);

/* The text with spaces between its words, until the next call. Line ends count as spaces. */
const char *segment(struct segmenter *segmenter, const char *bytes, size_t length, size_t *segmented);

void close_segmenter(struct segmenter *segmenter);

#endif
