/* json_fields.c: prints what jsonl_parse finds in each line of standard input, for tests/tools/json_lines: text, ID and
 * title in hex, and the date; or "object" where the line is no JSON object, and "field" where a field is missing or of
 * another type.
 *
 * usage: json_fields TEXT ID TITLE DATE */
#include "tools/formats/extract.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

static void print_hex(struct span field) {
    for (size_t i = 0; i < field.length; i++) printf("%02x", (unsigned char)field.bytes[i]);
    putchar('\t');
}

static void print_fields(const struct jsonl_rules *rules, struct span line, struct jsonl *jsonl) {
    struct fields fields = {.id = {NULL, 0}};
    struct bad bad = {.kind = BAD_NONE};
    if (!jsonl_parse(rules, line, jsonl, &fields, &bad)) {
        puts(bad.kind == BAD_JSON ? "object" : "field");
        return;
    }
    print_hex(fields.body);
    print_hex(fields.id);
    print_hex(fields.title);
    printf("%" PRId64 "\n", jsonl->date);
}

int main(int argc, char **argv) {
    struct jsonl jsonl = JSONL_INIT;
    char *line = NULL;
    size_t capacity = 0;
    ssize_t length;
    if (argc != 5) return EXIT_FAILURE;
    const struct jsonl_rules rules = {
        .text = argv[1], .texts = {argv + 1, 1}, .id = argv[2], .title = argv[3], .date = argv[4]};
    while ((length = getline(&line, &capacity, stdin)) > 0) {
        if (line[length - 1] == '\n') length--;
        print_fields(&rules, (struct span){line, (size_t)length}, &jsonl);
    }
    jsonl_free(&jsonl);
    free(line);
    return EXIT_SUCCESS;
}
