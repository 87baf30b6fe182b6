/* scan.h: values in JSON, as they are written. */
#ifndef IDX_TOOLS_FORMATS_SCAN_H
#define IDX_TOOLS_FORMATS_SCAN_H

#include "tools/formats/charset.h"

/* The most bytes that an escape in a string becomes. */
enum { SCAN_ESCAPE_BYTES = 4 };

/* A member of an object that is looked for. */
struct scan_member {
    struct span name;  /* If its bytes are NULL, nothing is found. */
    struct span value; /* Its bytes are NULL as long as nothing was found. */
};

/* Finds members of an object by the names in `members`, and sets their values; one that is not found stays as it is.
 * Blanks may be around the object. If it has several members of a name, the last one counts. Values are skipped by
 * their strings and brackets alone, so they may be invalid. Sets *bad and returns false if the object has another form
 * than {"name":value,...}; then some values may have been set. */
bool scan_members(struct span object, struct scan_member *members, size_t member_count, struct bad *bad);

/* What bytes begin with: no object, one that is cut off, or a whole one. */
enum scan_end { SCAN_NONE, SCAN_CUT, SCAN_WHOLE };

/* Finds members of the object that *bytes begin with, as scan_members does, and removes the object from *bytes. With
 * SCAN_CUT, the bytes end before the object does, and the last value may be cut off. With SCAN_NONE, *bytes stays as it
 * is, but values may have been set. */
enum scan_end scan_object(struct span *bytes, struct scan_member *members, size_t member_count);

/* Sets *value to the next element of an array, and removes it from *rest with the comma behind it. *rest is what
 * follows the array's opening bracket, or the last element that was removed. Returns false if there is none. */
bool scan_next_element(struct span *rest, struct span *value);

/* Returns the element number `index`, from 0, of an array, which begins with its bracket; a span whose bytes are NULL
 * if there is none. */
struct span scan_find_element(struct span array, uint64_t index);

/* Decodes a string of JSON. `value` is the string as it is written, with both quotes. Without escapes, *string is a
 * part of it; otherwise *string is in the memory of `buffer`, whose content is replaced. Bytes that are not UTF-8 stay
 * as they are; an escaped surrogate without the other one of its pair becomes U+FFFD. Sets *bad and returns false if
 * JSON has no such escape, or if memory ran out. */
bool scan_string(struct span value, struct output *buffer, struct span *string, struct bad *bad);

/* Returns whether a value is a number of JSON, which NaN and Infinity are not. */
bool scan_is_number(struct span value);

#endif
