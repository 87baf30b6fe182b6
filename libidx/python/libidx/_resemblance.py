"""How much texts resemble each other, over libidxtext."""

from __future__ import annotations

import decimal
import fractions
import math
import re
from typing import TYPE_CHECKING, Any, Callable, Literal, NamedTuple, Optional, Union

from ._errors import invalid_argument
from ._fingerprints import HAS_TEXT, refuse

if TYPE_CHECKING:
    from . import _text
    from ._types import UInt64Array
elif HAS_TEXT:
    from . import _text
else:

    class _text:
        shingles = sets = words = resemblance = divide = unquote = Sets = staticmethod(refuse)


Sets = _text.Sets
make_sets = _text.sets
count_words = _text.words
divide = _text.divide
unquote = _text.unquote
Unit = Literal["words", "characters"]


def shingles(text: Union[str, bytes], width: int = 5, *, unit: Unit = "words") -> UInt64Array:
    """The shingles of a text, as hashes, ascending and each once: uint64[n].

    A shingle is `width` (1 to 16) consecutive words or characters; a shorter text is one shingle, and one without any
    has none. Words are runs of letters, digits and accents, after NFKC case folding; in scripts without spaces each
    character is one. Characters are all that this folding leaves, symbols included; white space of any length is one
    space. See `Resemblance` in idx_text.h. The hashes are the same in all releases, and may be stored.

    >>> one, other = libidx.shingles("a rose is a rose"), libidx.shingles("A rose, is: a ROSE!")
    >>> bool((one == other).all()), len(one)
    (True, 1)
    """
    return _text.shingles(text, width, unit)


def resemblance(a: Union[str, bytes], b: Union[str, bytes], *, width: int = 5, unit: Unit = "words") -> float:
    """The resemblance of two texts, 0 to 1: the share of shingles that both have, among all that either has.

    That is the exact Jaccard coefficient of their shingles, by which dedup decides; 1 if neither text has any.

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


Common = Union[int, float, str]


def parse_common(common: Common, name: str = "ignore_common") -> Callable[[int], int]:
    """A function from a number of texts to how many of them the argument `name` means, such as how many may have a shingle
    that counts. `common` is that number itself, or a share of the texts, a float up to 1 or 'P%', rounded up."""
    written = format(decimal.Decimal(repr(float(common))), "f") if isinstance(common, float) else str(common)
    found = re.fullmatch(r"([0-9]+(?:\.[0-9]+)?)(%?)", written)
    number = fractions.Fraction(found[1]) / (100 if found[2] else 1) if found else 0
    is_share = found is not None and (found[2] == "%" or isinstance(common, float))
    if not 0 < number or (number > 1 if is_share else number.denominator > 1) or isinstance(common, bool):
        share = "'0.1%'" if isinstance(common, str) else "0.001 or '0.1%'"
        raise invalid_argument(f"{name} = {common!r}: give a number of texts, or a share such as {share}")
    return lambda count: max(1, math.ceil(number * count)) if is_share else int(number)


def check_resemblance(resemblance: Optional[float], name: str = "resemblance") -> float:
    """The one that is given, or else the default. Raises InvalidArgumentError unless it is from 0.0001 to 1."""
    found = RESEMBLE if resemblance is None else resemblance
    if not 0.0001 <= found <= 1:
        raise invalid_argument(f"{name} = {found}: give one from 0.0001 to 1")
    return found


class Least(NamedTuple):
    """What two texts must have in common for one to be dropped: the least resemblance, 0 if that does not count; or of one
    that has `members` shingles or more, the least share of these that is in the other; None if that does not count."""

    resemble: float
    contained: Optional[float] = None
    members: int = 0

    def of_contained(self) -> tuple[Any, ...]:
        """What Sets.keep is given of it."""
        return () if self.contained is None else (self.contained, self.members)


MIN_WORDS_CONTAINED = 20
"""Texts of fewer words are not looked for in others, if nothing else is said."""


def check_least(
    resemble: Optional[float],
    contained: Optional[float] = None,
    shingle: Optional[Shingle] = None,
    min_words: Optional[int] = None,
    name: str = "contained",
) -> Least:
    """The arguments as Least. The default resemblance counts where neither is given; min_words is in words, not shingles.
    `name` is that of `contained`."""
    words, width = MIN_WORDS_CONTAINED if min_words is None else min_words, parse_shingle(shingle)[0]
    if words < 0:
        raise invalid_argument(f"min_words = {words}: give 0 or more")
    members = max(words - width + 1, min(words, 1))
    if contained is None:
        return Least(check_resemblance(resemble))
    alike = 0 if resemble is None else check_resemblance(resemble)
    return Least(alike, check_resemblance(contained, name), members)
