"""Deduplication of the paragraphs or lines within texts."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Iterable, Literal, NamedTuple, Optional, Union

from ._batches import split_nulls
from ._errors import invalid_argument
from ._resemblance import count_words

if TYPE_CHECKING:
    from ._types import Float64Array, Int64Array

By = Literal["document", "paragraph", "line"]


class Divided(NamedTuple):
    """Texts without the paragraphs or lines that repeat, and what was dropped of them.

    texts: as they were given, but cut; None for a null, and for a text that is dropped as a whole, since too few words
    are left of it. For each of m parts that are dropped: row int64[m], of its text, and part int64[m], among all parts
    of that text, from 0; kept_row and kept_part int64[m], of the one that is kept instead; and resemblance float64[m].
    """

    texts: list[Union[str, bytes, None]]
    row: Int64Array
    part: Int64Array
    kept_row: Int64Array
    kept_part: Int64Array
    resemblance: Float64Array


LINE, BREAK, WHITE = r"[^\n]*\n|[^\n]+", r"\n(?:[ \t\r\v\f]*\n)+", " \t\n\r\v\f"


def divide(text: Any, by: By) -> list[Any]:
    """The parts of a str or bytes, which together are the text: lines end behind \\n, paragraphs behind what follows of lines
    that are blank, in ASCII."""
    patterns: list[Any] = [LINE, BREAK, WHITE]
    line, gap, white = patterns if isinstance(text, str) else [pattern.encode() for pattern in patterns]
    if by == "line":
        return re.findall(line, text)
    ends = [match.end() for match in re.finditer(gap, text)]
    parts = [text[begin:end] for begin, end in zip([0, *ends], [*ends, len(text)], strict=True) if begin < end]
    if len(parts) > 1 and not parts[0].strip(white):
        parts[:2] = [parts[0] + parts[1]]
    if len(parts) > 1 and not parts[-1].strip(white):
        parts[-2:] = [parts[-2] + parts[-1]]
    return parts


class Rules(NamedTuple):
    """What is compared and dropped, beside how much parts resemble each other."""

    by: By
    min_words: int
    min_document_words: int
    again: int
    within: bool


def drop_parts(batches: Iterable[Any], sets: Any, resemble: float, rules: Rules) -> Divided:
    """Adds the parts of all texts to the sets, and drops those that resemble one of another text."""
    import numpy

    texts: list[list[Any]] = []
    columns: list[list[Any]] = [[numpy.empty(0, numpy.int64)] for _ in range(3)]
    nulls: set[int] = set()
    for batch, absent in map(split_nulls, batches):
        given = [divide(text, rules.by) or [text] for text in batch]
        nulls.update(len(texts) + row for row in ([] if absent is None else numpy.flatnonzero(absent).tolist()))
        parts = [part for text in given for part in text]
        words = numpy.asarray(count_words(parts))
        compared = words >= max(rules.min_words, 1)
        sets.add(parts, (~compared).astype(numpy.uint64))
        sizes = numpy.array([len(text) for text in given], numpy.int64)
        columns[0].append(numpy.repeat(numpy.arange(len(texts), len(texts) + len(given)), sizes))
        columns[1].append(numpy.arange(len(parts)) - numpy.repeat(numpy.cumsum(sizes) - sizes, sizes))
        columns[2].append(words)
        texts.extend(given)
    row, part, words = map(numpy.concatenate, columns)
    kept, alike = sets.keep(resemble, 0, None, False)
    kept = kept.astype(numpy.int64)
    pairs = numpy.unique(numpy.stack([kept, row]), axis=1)[0]  # each part that is kept, once for each text
    dropped = (kept != numpy.arange(len(kept))) & (numpy.bincount(pairs, minlength=len(kept))[kept] >= rules.again)
    if not rules.within:
        dropped &= row[kept] != row
    left = numpy.bincount(row, numpy.where(dropped, 0, words), len(texts))
    gone = (numpy.bincount(row, dropped, len(texts)) > 0) & (left < max(rules.min_document_words, 1))
    cut = _cut(texts, nulls, gone, numpy.flatnonzero(dropped), row, part)
    return Divided(cut, row[dropped], part[dropped], row[kept[dropped]], part[kept[dropped]], alike[dropped])


def _cut(texts: list[Any], nulls: set[int], gone: Any, dropped: Any, row: Any, part: Any) -> list[Any]:
    """What is left of the texts."""
    lost: dict[int, set[int]] = {}
    for at in dropped.tolist():
        lost.setdefault(int(row[at]), set()).add(int(part[at]))
    left = []
    for number, parts in enumerate(texts):
        kept = [item for at, item in enumerate(parts) if at not in lost.get(number, ())]
        left.append(None if number in nulls or gone[number] else parts[0][:0].join(kept))
    return left


def check_rules(by: By, given: dict[str, Any]) -> Optional[Rules]:
    """The rules, or None where documents are compared. Refuses what has no effect, by its name."""
    if by not in ("document", "paragraph", "line"):
        raise invalid_argument(f"by = {by!r}: give 'document', 'paragraph' or 'line'")
    named = [name for name, value in given.items() if value not in (None, False)]
    if by == "document" and named:
        raise invalid_argument(f"{named[0]} needs by='paragraph' or by='line'")
    if by == "document":
        return None
    least = 5 if given["min_words"] is None else given["min_words"]
    return Rules(by, least, given["min_document_words"] or 1, given["again"] or 1, given["within"])
