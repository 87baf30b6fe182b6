/* feature_hash.c: tests of the hashes of features: MD5 against RFC 1321 and another implementation, FNV against its
 * published vectors. */
#include "libidx/fingerprints/simhash.h"

#include <idx_simhash.h>

#include <stdio.h>
#include <stdlib.h>

#include "tests/testing.h"

static void assert_digest(const uint8_t digest[IDXI_MD5_BYTES], const char *expected) {
    char printed[2 * IDXI_MD5_BYTES + 1];
    for (unsigned i = 0; i < IDXI_MD5_BYTES; i++) snprintf(printed + 2 * i, 3, "%02x", digest[i]);
    assert_string_equal(printed, expected);
}

/* RFC 1321, appendix A.5. */
static void test_md5_of_its_specification(void **state) {
    (void)state;
    static const struct {
        const char *text, *digest;
    } cases[] = {
        {"", "d41d8cd98f00b204e9800998ecf8427e"},
        {"a", "0cc175b9c0f1b6a831c399e269772661"},
        {"abc", "900150983cd24fb0d6963f7d28e17f72"},
        {"message digest", "f96b697d7cb7938d525a2f31aaf161d0"},
        {"abcdefghijklmnopqrstuvwxyz", "c3fcd3d76192e4007dfb496cca67e13b"},
        {"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789", "d174ab98d277d9f5a5611c2c9f419d9f"},
        {"12345678901234567890123456789012345678901234567890123456789012345678901234567890",
         "57edf4a22be3c955ac49da2e2107b67a"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        uint8_t digest[IDXI_MD5_BYTES];
        idxi_hash_md5(cases[i].text, strlen(cases[i].text), digest);
        assert_digest(digest, cases[i].digest);
    }
}

/* All lengths around the ends of blocks, from buffers of their exact size; the digest of all digests by Python's
 * hashlib. */
static void test_md5_of_every_length(void **state) {
    (void)state;
    enum { LONGEST = 300 };
    static uint8_t digests[LONGEST + 1][IDXI_MD5_BYTES];
    for (size_t length = 0; length <= LONGEST; length++) {
        uint8_t *bytes = malloc(length + (length == 0));
        assert_non_null(bytes);
        for (size_t i = 0; i < length; i++) bytes[i] = (uint8_t)(i % 251);
        idxi_hash_md5(bytes, length, digests[length]);
        free(bytes);
    }
    uint8_t digest[IDXI_MD5_BYTES];
    idxi_hash_md5(digests, sizeof digests, digest);
    assert_digest(digest, "eeb77f5f54b2e46b4849a40454d8e547");
}

static void test_hashes(void **state) {
    (void)state;
    static const struct {
        const char *feature;
        uint64_t xxh3, fnv1, fnv1a, md5;
    } cases[] = {
        {"", UINT64_C(0x2d06800538d394c2), UINT64_C(0xcbf29ce484222325), UINT64_C(0xcbf29ce484222325),
         UINT64_C(0xe9800998ecf8427e)},
        {"a", UINT64_C(0xe6c632b61e964e1f), UINT64_C(0xaf63bd4c8601b7be), UINT64_C(0xaf63dc4c8601ec8c),
         UINT64_C(0x31c399e269772661)},
        {"foobar", UINT64_C(0xd78fda63144c5c84), UINT64_C(0x340d8765a4dda9c2), UINT64_C(0x85944171f73967e8),
         UINT64_C(0x5f300c664312c63f)},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const char *feature = cases[i].feature;
        size_t length = strlen(feature);
        assert_true(idx_hash(IDX_HASH_XXH3, feature, length) == cases[i].xxh3);
        assert_true(idx_hash(IDX_HASH_FNV1, feature, length) == cases[i].fnv1);
        assert_true(idx_hash(IDX_HASH_FNV1A, feature, length) == cases[i].fnv1a);
        assert_true(idx_hash(IDX_HASH_MD5, feature, length) == cases[i].md5);
    }
    assert_true(idx_hash(IDX_HASH_MD5, NULL, 0) == cases[0].md5);
    assert_true(idx_hash(IDX_HASH_FNV1A, NULL, 0) == cases[0].fnv1a);
}

static void test_names(void **state) {
    (void)state;
    static const char *const names[] = {"xxh3", "fnv1", "fnv1a", "md5"};
    enum { NAMES = sizeof names / sizeof *names };
    for (int i = 0; i < NAMES; i++) assert_string_equal(idx_hash_name((enum idx_hash_kind)i), names[i]);
    assert_null(idx_hash_name((enum idx_hash_kind)NAMES));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_md5_of_its_specification),
        cmocka_unit_test(test_md5_of_every_length),
        cmocka_unit_test(test_hashes),
        cmocka_unit_test(test_names),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
