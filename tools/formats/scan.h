/* scan.h: values in JSON, as they are written. */
#ifndef IDX_TOOLS_FORMATS_SCAN_H
#define IDX_TOOLS_FORMATS_SCAN_H

#include "tools/formats/charset.h"

/* The most bytes that an escape in a string becomes. */
enum { SCAN_ESCAPE_BYTES = 4 };

/* A member of an object that is looked for. */
struct scan_member {
    struct span name;  /* Without bytes, nothing is found. */
    struct span value; /* Its bytes are NULL as long as none was found. */
};

/* Finds members of an object, around which there may be blanks. Of members of one name the last one counts. Values are
 * passed over by their strings and brackets alone, so they may be invalid. Sets *bad and returns false if the object
 * has another form than {"name":value,...}. */
bool scan_members(struct span object, struct scan_member *members, size_t member_count, struct bad *bad);

/* How a piece of JSON ends: there is none, it is cut off, or it is whole. */
enum scan_end { SCAN_NONE, SCAN_CUT, SCAN_WHOLE };

/* Finds members of the object that *bytes begin with, as scan_members does, and removes the object from *bytes. Returns
 * SCAN_CUT if the bytes end before the object does; then the last value may be cut. Returns SCAN_NONE if they begin
 * with something else; then they stay. */
enum scan_end scan_object(struct span *bytes, struct scan_member *members, size_t member_count);

/* Sets *value to the next element of an array, of which *rest is what follows its bracket or the comma behind an
 * element, and moves *rest behind the comma that follows. Returns false if there is none. */
bool scan_next_element(struct span *rest, struct span *value);

/* Returns the element of an array, which begins with its bracket, or a span without bytes if there is none. */
struct span scan_find_element(struct span array, uint64_t index);

/* Sets *string to what a value is that begins with a quote: a part of it if it has no escapes, or else in the memory of
 * `buffer`. Bytes that are not UTF-8 stay as they are; an escaped surrogate without the other one of its pair becomes
 * U+FFFD. Sets *bad and returns false if JSON has no such escape, or if memory ran out. */
bool scan_string(struct span value, struct output *buffer, struct span *string, struct bad *bad);

/* Returns whether a value is a number of JSON, which NaN and Infinity are not. */
bool scan_is_number(struct span value);

#endif
