/* names.c: see names.h. */
#include "libidx/segment/names.h"

#include <stdio.h>
#include <string.h>

#include "libidx/base/lock.h"
#include "libidx/segment/document_map.h"
#include "libidx/segment/removed.h"

/* Of a segment's number. */
#define DIGITS 6

void idxi_segment_name(uint32_t number, char name[IDXI_NAME_BYTES]) {
    snprintf(name, IDXI_NAME_BYTES, "%06u", (unsigned)number);
}

void idxi_table_name(size_t number, char name[IDXI_NAME_BYTES]) {
    snprintf(name, IDXI_NAME_BYTES, "table-%02zu.tbl", number);
}

static bool is_one_of(const char *name, const char *const *names, size_t count) {
    size_t i = 0;
    while (i < count && strcmp(name, names[i]) != 0) i++;
    return i < count;
}

static size_t count_digits(const char *text) { return strspn(text, "0123456789"); }

bool idxi_is_segment_name(const char *name) { return count_digits(name) == DIGITS && name[DIGITS] == '\0'; }

bool idxi_is_segment_file_name(const char *name) {
    const char *const names[] = {idxi_map_name(IDXI_MAP_DOCUMENTS), idxi_sums_name(IDXI_MAP_DOCUMENTS),
                                 idxi_map_name(IDXI_MAP_BY_ID), idxi_sums_name(IDXI_MAP_BY_ID), IDXI_REMOVED_NAME};
    size_t begin = strlen("table-"), digits = strncmp(name, "table-", begin) == 0 ? count_digits(name + begin) : 0;
    return (digits >= 2 && strcmp(name + begin + digits, ".tbl") == 0) ||
           is_one_of(name, names, sizeof names / sizeof *names);
}

bool idxi_is_index_file_name(const char *name) {
    static const char *const names[] = {
        IDXI_MANIFEST_NAME,     IDXI_NEW_MANIFEST_NAME,  IDXI_LOG_NAME, IDXI_NEW_LOG_NAME,  IDXI_LOCK_NAME,
        IDXI_COMPACT_LOCK_NAME, IDXI_MANIFEST_LOCK_NAME, "pending.mdb", "pending.mdb-lock", /* these of version 0 */
    };
    return is_one_of(name, names, sizeof names / sizeof *names);
}
