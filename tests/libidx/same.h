/* same.h: whether two indexes, made in different ways, are the same but for their uuids and all that depends on these.
 */
#ifndef IDX_TESTS_LIBIDX_SAME_H
#define IDX_TESTS_LIBIDX_SAME_H

/* Fails where two indexes of one segment each differ: in what they are made for, in their tables, byte by byte behind
 * the headers, or in the documents of any fingerprint and their order; or where idx_verify finds fault with one. */
void assert_same_index(const char *path, const char *other);

#endif
