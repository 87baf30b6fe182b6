"""How much texts resemble each other, over libidxtext."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Literal, Optional, Union

from ._fingerprints import HAS_TEXT, refuse

if TYPE_CHECKING:
    from . import _text
    from ._types import Numbers, Texts, UInt64Array

    _Base = _text.Leaders
elif HAS_TEXT:
    from . import _text

    _Base = _text.Leaders
else:

    class _text:
        shingles = resemblance = distance = Sets = staticmethod(refuse)

    class _Base:
        __new__ = refuse


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

    That is the Jaccard coefficient of their shingles, exactly, and what idx dedup --confirm goes by; 1 if neither text
    has any.

    >>> libidx.resemblance("one two three four five six", "one two three four five seven")
    0.3333333333333333
    """
    return _text.resemblance(a, b, width, unit)


class Leaders(_Base):
    """Groups texts one after the other: each joins the first representative that it resembles, or becomes one itself.

    resemblance: from which on a text joins, 0.0001 to 1, rounded to 4 digits. So each text resembles its
    representative, and groups are no chains. Representatives are looked for by their smallest hashes: at most one in
    100,000 that resembles a text is overlooked, and more for a resemblance below 0.17. Of representatives, the hashes
    of their shingles are kept. One thread at a time. `clear` forgets all representatives.

    >>> leaders = libidx.Leaders(0.3)
    >>> leaders.join(["one two three four five six", "none of it", "one two three four five seven"]).tolist()
    [0, 1, 0]
    """

    __slots__ = ()

    def join(self, texts: Texts, groups: Optional[Numbers] = None) -> UInt64Array:
        """The number of the representative of each of n texts, its own if it became one: uint64[n].

        Texts are numbered from 0 on, over all calls. groups: n numbers. A text whose group is not that of the text
        before it begins anew: it and those behind it join no representative of another group.
        """
        return self._join(texts, groups)


def choose_distance(resemblance: float, features: int, recipe: Optional[str], bits: int) -> int:
    """The distance at which fingerprints propose texts that resemble each other; a quarter has fewer features."""
    distance, measured = _text.distance(resemblance, features, recipe, bits)
    if not measured:
        warnings.warn(
            f"k = {distance} for resemble={resemblance}: what it misses was not measured for a resemblance below 0.5, "
            "other recipes or fewer bits; a larger k misses less",
            stacklevel=3,
        )
    return distance
