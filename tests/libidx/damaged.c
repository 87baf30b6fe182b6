/* damaged.c: see damaged.h. */
#include "tests/libidx/damaged.h"

#include "tests/libidx/same.h"
#include "tests/libidx/support.h"

bool merge_finds_damage(const char *folder, const char *const *inputs, const char *path, uint8_t *bytes, size_t size,
                        size_t at, enum idx_status *verified) {
    const char *output = path_in(folder, "out");
    bytes[at] ^= (uint8_t)(1u << at % 8);
    write_file(path, bytes, size);
    bytes[at] ^= (uint8_t)(1u << at % 8);
    *verified = idx_verify(inputs[1], NULL, NULL, &failure);
    enum idx_status status = idx_merge(output, inputs, 2, NULL, NULL, &failure);
    if (status == IDX_OK) {
        assert_same_index(path_in(folder, "whole"), output);
        remove_all(output);
        return false;
    }
    if (status != *verified) fail_msg("%s, byte %zu: status %d, not %d", path, at, status, *verified);
    assert_true(is_damage(status));
    assert_int_equal(count_entries(folder), 3);
    return true;
}
