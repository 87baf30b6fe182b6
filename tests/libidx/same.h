/* same.h: whether two indexes, made in different ways, are the same but for their uuids and all that depends on these.
 */
#ifndef IDX_TESTS_LIBIDX_SAME_H
#define IDX_TESTS_LIBIDX_SAME_H

/* Fails where two indexes of one segment each differ: in what they are made for, in their tables, in the documents of
 * any fingerprint and their order; or where idx_verify finds fault with one. Tables are compared byte by byte behind
 * the headers where the first of them has the order of numbers, so that there is one code to choose; else by what they
 * hold. */
void assert_same_index(const char *path, const char *other);

#endif
