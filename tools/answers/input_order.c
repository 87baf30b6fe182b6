/* input_order.c: keeps lines in a temporary file until all are known, and sorts where they are. */
#include "tools/answers/input_order.h"

#include "tools/shared/array.h"
#include "tools/shared/command.h"

#include <stdlib.h>

bool input_order_add_line(struct input_order *order, uint64_t number, const char *line, size_t length) {
    if (!array_grow(&order->places, &order->capacity, order->count, sizeof *order->places))
        return complain("out of memory");
    order->places[order->count++] = (struct ordered_line){number, order->byte_count, length};
    order->byte_count += length;
    output_bytes(&order->lines.output, line, length);
    return order->lines.output.error == 0 || temporary_flush(&order->lines);
}

bool input_order_print_lines(struct input_order *order, struct output *output) {
    if (!temporary_map(&order->lines)) return false;
    if (order->count > 1) qsort(order->places, order->count, sizeof *order->places, compare_u64); /* by numbers */
    for (size_t i = 0; i < order->count; i++) {
        uint64_t offset = order->places[i].offset;
        output_bytes(output, temporary_read_bytes(&order->lines, &offset, order->places[i].length),
                     order->places[i].length);
    }
    return true;
}

void input_order_close(struct input_order *order) {
    temporary_close(&order->lines);
    free(order->places);
}
