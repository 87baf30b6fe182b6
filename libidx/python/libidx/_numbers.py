"""Numbers as callers give them, where they are neither plain arrays of 64-bit integers nor Arrow's: C takes those."""

from __future__ import annotations

import array
import operator
import sys
from typing import Any, NoReturn, Optional


def _advise_on_texts(what: str) -> str:
    """What to do instead of giving texts as the argument `what`."""
    if what == "ids":
        return 'give all IDs as int, or make an index of text IDs by id_type="text"'
    return "make fingerprints of texts by Fingerprinter, of hex digits by int(x, 16)"


def refuse_texts(unused: Any, what: str) -> NoReturn:
    """Raises TypeError for texts that were given as the argument `what`."""
    raise TypeError(f"{what}: texts; expected integers: {_advise_on_texts(what)}")


def refuse_masked(object: Any, what: str) -> None:
    """There are masked arrays only where numpy.ma was imported, so this does not import it."""
    if "numpy.ma" in sys.modules and isinstance(object, sys.modules["numpy.ma"].MaskedArray):
        raise TypeError(f"{what}: a masked array, whose mask would be lost: give x.compressed() or x.filled(value)")


def take_number(object: Any, what: str, at: Optional[int] = None) -> int:
    """An integer of 64 bits: the argument `what`, or item `at` of it. Signed ones of NumPy are taken as the same bits."""
    place = f"{what}:" if at is None else f"{what}: item {at}"
    colon = "" if at is None else ":"
    if isinstance(object, float):
        raise TypeError(f"{place}{colon} a float holds only 53 bits; give int")
    refuse_masked(object, what)
    try:
        number = operator.index(object)
    except TypeError:
        advice = _advise_on_texts(what) if isinstance(object, (str, bytes)) and at is not None else "give an int"
        is_ = "" if at is None else " is"
        raise TypeError(f"{place}{is_} {type(object)!r}; expected an integer: {advice}") from None
    if number < 0 and str(getattr(object, "dtype", "")) == "int64":  # of NumPy
        number += 2**64
    if not 0 <= number < 2**64:
        same = "of signed 64-bit integers take the same bits: n & (2**64 - 1)"
        raise ValueError(f"{place}{colon} {number} is not from 0 to 2**64 - 1; {same}")
    return number


def _advise(dtype: Any) -> str:
    """How to make 64-bit integers of items of a type that has none."""
    if dtype.kind in "fc":
        return "floats hold only 53 bits; make the numbers uint64 where they come from"
    if dtype.kind == "O":
        return "objects; convert them by numpy.array(x, numpy.uint64)"
    if not dtype.isnative:
        return "big-endian; convert them by x.astype(numpy.uint64)"
    if dtype.itemsize == 1:
        return "bytes; give numbers of 8 bytes by numpy.frombuffer(x, numpy.uint64)"
    return "convert them by x.astype(numpy.uint64)"


def take_numbers(object: Any, what: str) -> Any:
    """What has a buffer of aligned 64-bit integers, one after the other: of a list or tuple of int, what has a buffer, or
    what NumPy makes an array of."""
    import numpy

    if isinstance(object, (list, tuple)):
        try:
            return array.array("Q", object)
        except (TypeError, OverflowError):  # also of signed ones, which are taken
            return array.array("Q", [take_number(item, what, at) for at, item in enumerate(object)])
    try:
        found = numpy.asarray(memoryview(object))
    except TypeError:
        if not hasattr(object, "__array__"):
            holders = "an array of uint64 (NumPy, Arrow, or anything with a buffer) or a list of int"
            raise TypeError(f"{what}: expected {holders}, not {type(object)!r}") from None
        found = numpy.asarray(object.__array__())
    except (ValueError, BufferError, RuntimeError):  # NumPy has no buffers of dates
        raise TypeError(f"{what}: the buffer can't be read; give an array of uint64") from None
    if found.dtype.kind in "US":
        refuse_texts(object, what)
    if found.dtype.kind not in "iu" or found.dtype.itemsize != 8 or not found.dtype.isnative:
        size = found.dtype.itemsize
        raise TypeError(f"{what}: items of {found.dtype}, {size} bytes each; expected uint64 or int64: {_advise(found.dtype)}")
    if found.ndim != 1:
        raise TypeError(f"{what}: an array of {found.ndim} dimensions; give one of a single dimension")
    return numpy.require(found, None, ["C", "A"])
