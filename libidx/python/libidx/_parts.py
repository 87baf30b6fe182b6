"""Deduplication of the paragraphs or lines within texts."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Iterable, NamedTuple, Optional, Union

from . import _core
from ._batches import split_nulls
from ._divide import By, divide, join, unquote
from ._index import choose
from ._resemblance import Common, Least, count_words, parse_common

if TYPE_CHECKING:
    from ._types import Float64Array, Int64Array


class Divided(NamedTuple):
    """Texts without the paragraphs or lines that repeat, and what was dropped of them.

    texts: as they were given, but cut; None for a null, and for a text that is dropped as a whole, since too few words
    are left of it. For each of m dropped parts: row int64[m] of its text, and part int64[m], its number in that text,
    from 0; kept_row and kept_part int64[m] of the part that is kept instead, or with all_copies of the first copy,
    which may be this one; resemblance float64[m], and with contained, contained float64[m]: the share of its own
    shingles that are in the kept one. known_row and known_part int64[m] of the part of `against` that it resembles, or
    -1; None without such texts. There kept_row and kept_part are -1.
    """

    texts: list[Union[str, bytes, None]]
    row: Int64Array
    part: Int64Array
    kept_row: Int64Array
    kept_part: Int64Array
    resemblance: Float64Array
    contained: Optional[Float64Array] = None
    known_row: Optional[Int64Array] = None
    known_part: Optional[Int64Array] = None


class Rules(NamedTuple):
    """What is compared and dropped, except how much parts must resemble each other."""

    by: By
    min_words: int
    min_document_words: int
    again: Common
    within: bool
    all_copies: bool

    def least_texts(self, count: int) -> tuple[int, float]:
        """How many of the compared texts must have a part before its copies are dropped, and before the first one is as
        well."""
        again = parse_common(self.again, "again")(count)
        return again, max(again, 2) if self.all_copies else math.inf


class Parts(NamedTuple):
    """All parts of all texts: the rows of their texts, their numbers there, their bytes, whether they were compared, which
    ones they join, or -1, and which known ones, or -1, and what they have in common with these, as Sets.keep says; whether
    they are dropped; and of each text, whether it is dropped as a whole. Of known parts, the rows of their texts and their
    numbers there."""

    row: Any
    part: Any
    bytes: Any
    compared: Any
    kept: Any
    known: Any
    alike: list[Any]
    dropped: Any
    gone: Any
    known_rows: Any
    known_parts: Any

    def lost(self, first: int, end: int) -> dict[int, set[int]]:
        """The numbers of the parts that are dropped of each text of some rows, which are counted from the first one on."""
        import numpy

        begin, stop = numpy.searchsorted(self.row, (first, end))
        found: dict[int, set[int]] = {}
        for at in (begin + numpy.flatnonzero(self.dropped[begin:stop])).tolist():
            found.setdefault(int(self.row[at]) - first, set()).add(int(self.part[at]))
        return found


def _list_texts(batch: Any) -> list[Any]:
    """The texts of a batch as str or bytes."""
    return list(batch.to_pylist() if hasattr(batch, "to_pylist") else batch)


def _add_parts(batches: Iterable[Any], sets: Any, rules: Rules, held: Optional[list[Any]] = None) -> tuple[int, list[Any]]:
    """Adds the parts of texts to the sets. Returns how many texts there are, and for each part the row of its text, its
    number there, its words and its bytes. `held` gets a list of the parts of each text, or None for a null."""
    import numpy

    columns: list[list[Any]] = [[numpy.empty(0, numpy.int64)] for _ in range(4)]
    count = 0
    for batch, nulls in map(split_nulls, batches):
        given = [divide(text, rules.by) or [text] for text in _list_texts(batch)]
        parts = [part for text in given for part in text]
        words = numpy.asarray(count_words(parts))
        sets.add([unquote(part) for part in parts], (words < max(rules.min_words, 1)).astype(numpy.uint64))
        sizes = numpy.array([len(text) for text in given], numpy.int64)
        rows = numpy.repeat(numpy.arange(count, count + len(given)), sizes)
        numbers = numpy.arange(len(parts)) - numpy.repeat(numpy.cumsum(sizes) - sizes, sizes)
        for column, values in zip(columns, (rows, numbers, words, _core.lengths(parts)), strict=True):
            column.append(values)
        count += len(given)
        if held is not None:
            absent = [False] * len(given) if nulls is None else nulls.tolist()
            held.extend(None if null else text for text, null in zip(given, absent, strict=True))
    return count, list(map(numpy.concatenate, columns))


def find_parts(
    batches: Iterable[Any],
    known_batches: Iterable[Any],
    sets: Any,
    least: Least,
    rules: Rules,
    held: Optional[list[Any]] = None,
) -> Parts:
    """Adds the parts of known texts and of all texts to the sets, and finds which of the latter to drop, as they resemble
    a known one, or one of another text. `held` is as in _add_parts."""
    import numpy

    _, (known_rows, known_parts, *_) = _add_parts(known_batches, sets, rules)
    count, (row, part, words, sizes) = _add_parts(batches, sets, rules, held)
    kept, *alike = (column[len(known_rows) :] for column in sets.keep(least.resemble, len(known_rows), None, False, *least.of_contained()))
    kept = kept.astype(numpy.int64)
    known = numpy.where(kept < len(known_rows), kept, -1)
    kept = numpy.where(known < 0, kept - len(known_rows), -1)
    of_known = known >= 0
    pairs = numpy.unique(numpy.stack([kept, row])[:, ~of_known], axis=1)[0]  # each part that is kept, once for each text
    compared, having = words >= max(rules.min_words, 1), numpy.bincount(pairs, minlength=len(kept))[kept]
    again, all_copies = rules.least_texts(len(numpy.unique(row[compared])))
    dropped = (kept != numpy.arange(len(kept))) & (having >= again)
    if not rules.within:
        dropped &= row[kept] != row
    dropped |= (having >= all_copies) | of_known
    left = numpy.bincount(row, numpy.where(dropped, 0, words), count)
    gone = (numpy.bincount(row, dropped, count) > 0) & (left < max(rules.min_document_words, 1))
    return Parts(row, part, sizes, compared, kept, known, alike, dropped, gone, known_rows, known_parts)


def _take_places(numbers: Any, *columns: Any) -> list[Any]:
    """The values of columns at these places, and -1 where the place is -1."""
    import numpy

    return [numpy.where(numbers < 0, -1, numpy.append(column, -1)[numbers]) for column in columns]


def drop_parts(
    batches: Iterable[Any], known_batches: Optional[Iterable[Any]], sets: Any, least: Least, rules: Rules
) -> Divided:
    """The texts without what is dropped of them."""
    texts: list[Any] = []
    found = find_parts(batches, known_batches or (), sets, least, rules, texts)
    lost = found.lost(0, len(texts))
    for number, parts in enumerate(texts):
        if parts is not None:
            texts[number] = None if found.gone[number] else join(parts, lost.get(number, ()))
    row, part, kept = found.row[found.dropped], found.part[found.dropped], found.kept[found.dropped]
    kept_row, kept_part = _take_places(kept, found.row, found.part)
    resemblance, contained = [*(column[found.dropped] for column in found.alike), None][:2]
    if known_batches is None:
        return Divided(texts, row, part, kept_row, kept_part, resemblance, contained)
    known_row, known_part = _take_places(found.known[found.dropped], found.known_rows, found.known_parts)
    return Divided(texts, row, part, kept_row, kept_part, resemblance, contained, known_row, known_part)


def make_rules(
    by: str, min_words: Optional[int], min_document_words: int, again: Common, within: bool, all_copies: bool = False
) -> Rules:
    """The arguments of dedup_parts as Rules."""
    unit: By = ("paragraph", "line")[choose("by", by, ("paragraph", "line"))]
    parse_common(again, "again")
    return Rules(unit, 5 if min_words is None else min_words, min_document_words, again, within, all_copies)
