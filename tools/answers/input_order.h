/* input_order.h: prints IDs in the order in which their documents came, though they are found in another. */
#ifndef IDX_TOOLS_INPUT_ORDER_H
#define IDX_TOOLS_INPUT_ORDER_H

#include "tools/shared/temporary.h"

struct ordered_line {
    uint64_t number; /* The number of the document, in the order of the input. compare_u64 needs it in front. */
    uint64_t offset; /* Where the line is in the temporary file. */
    size_t length;
};

struct input_order {
    struct temporary lines;      /* The caller opens it. */
    uint64_t byte_count;         /* How many bytes that file has. */
    struct ordered_line *places; /* In the order in which the lines were added. */
    size_t count, capacity;
};

#define INPUT_ORDER_CLOSED                                                                                             \
    { .lines = TEMPORARY_CLOSED }

/* Stores a copy of the line of document `number`, of `length` bytes, in the temporary file `lines`, which must be open.
 * Needs 24 bytes of memory per line. Complains and returns false if memory ran out or the file can't be written. */
bool input_order_add_line(struct input_order *order, uint64_t number, const char *line, size_t length);

/* Prints all lines in the order of their documents' numbers. No line may be added afterwards. Complains and returns
 * false if the temporary file can't be written or read. Returns true even if the output failed (output->error). */
bool input_order_print_lines(struct input_order *order, struct output *output);

/* Closes the temporary file, which may not have been opened, and frees `places`. */
void input_order_close(struct input_order *order);

#endif
