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
    are left of it. For each of m parts that are dropped: row int64[m], of its text, and part int64[m], among all parts
    of that text, from 0; kept_row and kept_part int64[m], of the one that is kept instead, or with all_copies of the first
    copy, which may be this one; resemblance float64[m], and where it was asked for, contained float64[m]: the share of
    its own shingles that are in the one that is kept.
    """

    texts: list[Union[str, bytes, None]]
    row: Int64Array
    part: Int64Array
    kept_row: Int64Array
    kept_part: Int64Array
    resemblance: Float64Array
    contained: Optional[Float64Array] = None


class Rules(NamedTuple):
    """What is compared and dropped, beside how much parts resemble each other."""

    by: By
    min_words: int
    min_document_words: int
    again: Common
    within: bool
    all_copies: bool

    def least_texts(self, count: int) -> tuple[int, float]:
        """How many texts, of so many that are compared, have what is dropped: of its copies, and of the first one as well."""
        again = parse_common(self.again, "again")(count)
        return again, max(again, 2) if self.all_copies else math.inf


class Parts(NamedTuple):
    """All parts of all texts: the rows of their texts, their numbers there, their bytes, whether they were compared, which
    ones they join, and what they have in common with these, as Sets.keep says; whether they are dropped; and of each text,
    whether it is dropped as a whole."""

    row: Any
    part: Any
    bytes: Any
    compared: Any
    kept: Any
    alike: list[Any]
    dropped: Any
    gone: Any

    def lost(self, first: int, end: int) -> dict[int, set[int]]:
        """The numbers of the parts that are dropped of each text of some rows, which are counted from the first one on."""
        import numpy

        begin, stop = numpy.searchsorted(self.row, (first, end))
        found: dict[int, set[int]] = {}
        for at in (begin + numpy.flatnonzero(self.dropped[begin:stop])).tolist():
            found.setdefault(int(self.row[at]) - first, set()).add(int(self.part[at]))
        return found


def _items(batch: Any) -> list[Any]:
    """The texts of a batch as str or bytes."""
    return list(batch.to_pylist() if hasattr(batch, "to_pylist") else batch)


def find_parts(batches: Iterable[Any], sets: Any, least: Least, rules: Rules, held: Optional[list[Any]] = None) -> Parts:
    """Adds the parts of all texts to the sets, and finds which to drop, as they resemble one of another text. `held` gets a
    list of the parts of each text, or None for a null."""
    import numpy

    columns: list[list[Any]] = [[numpy.empty(0, numpy.int64)] for _ in range(4)]
    count = 0
    for batch, nulls in map(split_nulls, batches):
        given = [divide(text, rules.by) or [text] for text in _items(batch)]
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
    row, part, words, sizes = map(numpy.concatenate, columns)
    kept, *alike = sets.keep(least.resemble, 0, None, False, *least.of_contained())
    kept = kept.astype(numpy.int64)
    pairs = numpy.unique(numpy.stack([kept, row]), axis=1)[0]  # each part that is kept, once for each text
    compared, having = words >= max(rules.min_words, 1), numpy.bincount(pairs, minlength=len(kept))[kept]
    again, all_copies = rules.least_texts(len(numpy.unique(row[compared])))
    dropped = (kept != numpy.arange(len(kept))) & (having >= again)
    if not rules.within:
        dropped &= row[kept] != row
    dropped |= having >= all_copies
    left = numpy.bincount(row, numpy.where(dropped, 0, words), count)
    gone = (numpy.bincount(row, dropped, count) > 0) & (left < max(rules.min_document_words, 1))
    return Parts(row, part, sizes, compared, kept, alike, dropped, gone)


def drop_parts(batches: Iterable[Any], sets: Any, least: Least, rules: Rules) -> Divided:
    """The texts without what is dropped of them."""
    texts: list[Any] = []
    found = find_parts(batches, sets, least, rules, texts)
    lost = found.lost(0, len(texts))
    for number, parts in enumerate(texts):
        if parts is not None:
            texts[number] = None if found.gone[number] else join(parts, lost.get(number, ()))
    row, part, kept = found.row[found.dropped], found.part[found.dropped], found.kept[found.dropped]
    alike = [column[found.dropped] for column in found.alike]
    return Divided(texts, row, part, found.row[kept], found.part[kept], *alike)


def make_rules(
    by: str, min_words: Optional[int], min_document_words: int, again: Common, within: bool, all_copies: bool = False
) -> Rules:
    """The arguments of dedup_parts as Rules."""
    unit: By = ("paragraph", "line")[choose("by", by, ("paragraph", "line"))]
    parse_common(again, "again")
    return Rules(unit, 5 if min_words is None else min_words, min_document_words, again, within, all_copies)
