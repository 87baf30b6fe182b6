"""How much texts resemble each other, over libidxtext."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, Optional, Union

from ._errors import invalid_argument
from ._fingerprints import HAS_TEXT, refuse

if TYPE_CHECKING:
    from . import _text
    from ._types import UInt64Array
elif HAS_TEXT:
    from . import _text
else:

    class _text:
        shingles = resemblance = Sets = staticmethod(refuse)


Sets = _text.Sets
Unit = Literal["words", "characters"]


def shingles(text: Union[str, bytes], width: int = 5, *, unit: Unit = "words") -> UInt64Array:
    """The shingles of a text, as hashes, ascending and each once: uint64[n].

    A shingle is `width` (1 to 16) consecutive words or characters; a text of fewer is one shingle, and one without any
    has none. Words are runs of letters, digits and accents, after NFKC case folding; in scripts without spaces
    each character is one. Characters are those of words, with a space between words. See `Resemblance` in idx_text.h.
    Another release of libidx may make other hashes.

    >>> one, other = libidx.shingles("a rose is a rose"), libidx.shingles("A rose, is: a ROSE!")
    >>> bool((one == other).all()), len(one)
    (True, 1)
    """
    return _text.shingles(text, width, unit)


def resemblance(a: Union[str, bytes], b: Union[str, bytes], *, width: int = 5, unit: Unit = "words") -> float:
    """The resemblance of two texts, 0 to 1: the share of shingles that both have, among all that either has.

    That is the Jaccard coefficient of their shingles, exactly, and what dedup goes by; 1 if neither text has any.

    >>> libidx.resemblance("one two three four five six", "one two three four five seven")
    0.3333333333333333
    """
    return _text.resemblance(a, b, width, unit)


RESEMBLE = 0.8
"""By how much near-duplicates resemble each other, if nothing else is said."""

Shingle = Union[int, str]


def parse_shingle(shingle: Optional[Shingle]) -> tuple[int, Unit]:
    """The width and the unit of shingles: N or 'chars:N'."""
    given = 5 if shingle is None else shingle
    unit, _, width = given.rpartition(":") if isinstance(given, str) else ("", "", str(given))
    if unit not in ("", "chars") or not width.isascii() or not width.isdigit() or not 1 <= int(width) <= 16:
        raise invalid_argument(f"shingle = {shingle!r}: give 1 to 16, for words, or 'chars:1' to 'chars:16'")
    return int(width), "characters" if unit else "words"


def check_resemblance(resemblance: Optional[float]) -> float:
    """The one that is given, or else the default."""
    found = RESEMBLE if resemblance is None else resemblance
    if not 0.0001 <= found <= 1:
        raise invalid_argument(f"resemblance = {found}: give one from 0.0001 to 1")
    return found
