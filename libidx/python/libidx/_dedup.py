"""Deduplication of texts: which of many to keep, what to cut out of them, and which resemble each other."""

from __future__ import annotations

import datetime
import numbers
import os
from typing import TYPE_CHECKING, Any, Callable, Iterable, Literal, Optional, Union

from . import _core
from ._batches import list_files, read_files, split_nulls, take_texts
from ._errors import invalid_argument
from ._index import Index, choose
from ._parts import Divided, drop_parts, make_rules
from ._progress import Progress
from ._resemblance import Common, Least, Sets, Shingle, check_least, parse_common, parse_shingle
from ._resembling import Deduplicated, TextPairs, list_kept, read_sets, sketch_of

if TYPE_CHECKING:
    from ._batches import Documents
    from ._types import Path


REPRESENTATIVES = ("first", "most-documents", "longest", "newest")


def _in_utc(date: Any) -> Any:
    """A datetime in UTC without its zone, which NumPy does not read; None for NaT, and all else as it is."""
    if date != date or getattr(date, "tzinfo", None) is None:
        return date if date == date else None
    return date.astimezone(datetime.timezone.utc).replace(tzinfo=None)


def _parse_dates(values: Any) -> Any:
    """Objects as an array of numbers or of datetime64, in UTC if they name a zone. None becomes the least value of
    either."""
    import numpy

    given = [value for value in values.tolist() if value is not None]
    if all(isinstance(value, numbers.Real) for value in given):
        return numpy.array([float("nan") if value is None else float(value) for value in values.tolist()])
    for value in given:
        if not isinstance(value, (datetime.date, numpy.datetime64)):
            raise TypeError(f"dates: {value!r} among others: give seconds, datetime or numpy.datetime64 for all")
    return numpy.array([_in_utc(value) for value in values.tolist()], "datetime64[us]")


def _take_dates(dates: Any, count: int) -> Any:
    """An array of numbers that are larger the newer a text is; a text without a date is the oldest."""
    import numpy

    if isinstance(dates, numpy.ma.MaskedArray):
        raise TypeError("dates: a masked array, whose mask would be lost: give x.filled(numpy.nan), or NaT")
    values = dates if isinstance(dates, numpy.ndarray) else numpy.asarray(dates)
    if values.shape != (count,):
        raise invalid_argument(f"{count} texts and dates of shape {values.shape}: give as many")
    if values.dtype.kind == "O":
        values = _parse_dates(values)
    if values.dtype.kind == "M":
        return values.astype(numpy.int64)  # NaT is the least
    if values.dtype.kind == "f":
        return numpy.where(numpy.isnan(values), -numpy.inf, values)
    if values.dtype.kind not in "iu":
        raise TypeError(f"dates: of type {values.dtype}: give seconds, datetime or numpy.datetime64")
    return values


def _check_representative(representative: str, dates: Any) -> None:
    """Refuses a representative that is unknown, dates without "newest", and "newest" without dates."""
    choose("representative", representative, REPRESENTATIVES)
    if representative == "newest" and dates is None:
        raise invalid_argument("representative 'newest' needs dates: give as many as texts")
    if representative != "newest" and dates is not None:
        raise invalid_argument("dates: without representative 'newest' they have no effect: omit them")


def _list_preferences(representative: str, dates: Any, lengths: list[Any], known: int, count: int) -> Any:
    """How much each set is preferred to represent others, int64[known + count]; None where none is preferred."""
    import numpy

    if representative == "longest":
        preferences = numpy.concatenate(lengths)
    elif representative == "newest":
        preferences = numpy.unique(_take_dates(dates, count), return_inverse=True)[1].astype(numpy.int64)
    else:
        return None
    return numpy.concatenate([numpy.zeros(known, numpy.int64), preferences])


def _take_texts(texts: Any, text: str) -> Iterable[Any]:
    """Batches of texts, some of which may be null. Refuses numbers."""
    if (batches := take_texts(texts, text)) is None:
        raise TypeError("texts: these are numbers; expected texts; libidx.clusters compares fingerprints")
    return batches


def open_known(place: Any) -> Optional[Index]:
    """Opens the index of texts at a place, or takes one that is open; None if none is there. Refuses other indexes."""
    if isinstance(place, Index):
        index = place
    elif isinstance(place, (str, bytes, os.PathLike)) and os.path.exists(os.path.join(os.fsdecode(place), "manifest")):
        index = Index(place, residence="none")
    else:
        return None
    if sketch_of(index) is None:
        advice = "give texts, or an index of texts; Index.exists says for which fingerprints this one has near ones"
        raise invalid_argument(f"against: {os.fsdecode(index.path)} is an index of fingerprints: {advice}")
    return index


def _choose_shingle(known: Union[Index, Iterable[Any]], shingle: Optional[Shingle]) -> Optional[Shingle]:
    """The shingles that are compared: those of an index of texts, from which given ones must not differ."""
    if not isinstance(known, Index):
        return shingle
    sketch = sketch_of(known)
    assert sketch is not None
    if shingle is not None and parse_shingle(shingle) != (sketch.width, sketch.unit):
        raise invalid_argument(f"shingle = {shingle!r}: the index of against has shingles of {sketch.shingle!r}: omit it")
    return sketch.shingle


def _take_known(against: Any, text: str) -> Union[Index, Iterable[Any]]:
    """An index of texts that were kept before, or batches of such texts, from files of any format or as dedup takes
    texts."""
    if (index := open_known(against)) is not None:
        return index
    places: Any = [against] if isinstance(against, (str, bytes)) else list_files(against)
    if any(open_known(place) is not None for place in places or ()):
        raise invalid_argument("against: one of the places is an index: give it alone, or texts")
    if places is not None:
        return read_files(places, text)
    if (batches := take_texts(against, text)) is None:
        raise TypeError(f"against: {type(against)!r}: give files as pathlib.Path, or texts")
    return batches


def _check_least(
    resemble: Optional[float], contained: Optional[float], shingle: Optional[Shingle], min_words: Optional[int]
) -> Least:
    """What whole texts must have in common to be near-duplicates."""
    if min_words is not None and contained is None:
        raise invalid_argument("min_words needs contained")
    return check_least(resemble, contained, shingle, min_words)


def _add_known(sets: Any, known: Union[Index, Iterable[Any]]) -> tuple[int, Any]:
    """Adds the texts that were kept before. Returns how many there are, and their IDs if they are an index."""
    if not isinstance(known, Index):
        return _add_texts(sets, known), None
    ids = read_sets(known, sets)
    return len(ids), ids


def _add_texts(sets: Any, batches: Iterable[Any]) -> int:
    """Adds texts to the sets, nulls as empty ones. Returns how many there are."""
    return sum(sets.add(batch, None) for batch, _ in map(split_nulls, batches))


def _parse_common(common: Optional[Common]) -> Optional[Callable[[int], int]]:
    """A function from a number of texts to how many of them may have a shingle that counts; None without
    ignore_common."""
    return None if common is None else parse_common(common)


def _ignore_common(sets: Any, most: Optional[Callable[[int], int]]) -> int:
    """Ignores the shingles that too many of the texts with words have. Returns how many these are."""
    return 0 if most is None else sets.ignore_common(most(sets.compared()))


def _check_contains(against: Any, representative: str, others: dict[str, Any]) -> None:
    """Refuses arguments that have no effect or no meaning together with contains."""
    if against is None:
        raise invalid_argument("contains needs against: give the texts that are looked for")
    others = {**others, "representative": None if representative == "first" else representative}
    for name in (name for name, value in others.items() if value is not None):
        raise invalid_argument(f"{name} compares texts with each other, and contains with those of against: give one of them")


def _drop_containing(
    batches: Iterable[Any], known: Union[Index, Iterable[Any]], sets: Any, least: Least
) -> Deduplicated:
    """Drops the texts that contain a known one, with the share of its shingles that `least` says."""
    import numpy

    count, ids = _add_known(sets, known)
    left_out = sets.seek(least.contained, least.members)
    if left_out == count > 0:
        raise invalid_argument(f"against: all {count} texts are too short to be looked for: give a smaller min_words, or longer ones")
    empty = numpy.empty(0, numpy.int64), numpy.empty(0), numpy.empty(0)
    found = [empty, *(sets.find(batch) for batch, _ in map(split_nulls, batches))]
    numbers, shares, alike = map(numpy.concatenate, zip(*found, strict=True))
    keep = numbers < 0
    cluster, chosen = numpy.where(keep, numpy.cumsum(keep) - 1, -1), numpy.where(keep, numpy.arange(len(keep)), -1)
    return Deduplicated(keep, cluster, chosen, alike, numbers, contains=shares, left_out=left_out, ids=ids)


def dedup(
    texts: Documents,
    resemble: Optional[float] = None,
    *,
    text: str = "text",
    contained: Optional[float] = None,
    min_words: Optional[int] = None,
    shingle: Optional[Shingle] = None,
    ignore_common: Optional[Common] = None,
    against: Any = None,
    contains: Optional[float] = None,
    representative: Literal["first", "most-documents", "longest", "newest"] = "first",
    dates: Any = None,
    threads: int = 1,
    memory: int = 0,
    tmpdir: Optional[Path] = None,
    progress: Progress = None,
) -> Deduplicated:
    """Which of n texts to keep: one of those that are near-duplicates.

    Near-duplicates resemble each other by `resemble` or more, 0.0001 to 1; 0.8 is the default. The answer is exact. In
    the order that representative says, each text joins the kept one that it resembles most, or the first of several, or
    else is kept; a text without words resembles none. So each text that is dropped resembles the one that is kept in
    its place, and no two texts that are kept resemble each other.
    shingle: what has to be in common, as for libidx.shingles: N words (5 by default), or 'chars:N' characters.
    ignore_common: shingles that more than so many texts have don't count, such as those of licences and menus: a number
    of texts, copies included, or a share, such as 0.001 or '0.1%', rounded up, of the texts with words, those of
    `against` included. A text with only such shingles resembles none.
    contained: a text is also dropped if this share of its own shingles, or more, is in one that is kept, such as a
    quotation; unless it has fewer than min_words (20), or with 'chars:N' characters. Longer texts are taken first,
    equally long ones as representative says, and each joins the one that it resembles most. Without `resemble` only
    such texts are dropped.

    Texts that are None or null are kept. representative: which text of a cluster to keep; "longest", by bytes in UTF-8;
    "newest", by `dates`: n seconds, datetime or datetime64, in UTC if they name no zone; None, NaN and NaT are the
    oldest; "most-documents", a text whose shingles most texts have. The first of several is kept.

    against: texts that were kept before, whose near-duplicates are dropped: files and folders of texts in any format
    that `python -m libidx dedup` reads, given as paths, or texts, as `texts` are; or an index of texts or its path,
    whose shingles are compared, and whose IDs are `ids`.
    contains: drops only texts that have this share or more of the shingles of a text of `against`, such as texts for
    training that contain a question of a test. Each joins the one of which it has the largest share, or the first of
    several. Texts are not compared with each other, nor held. Texts of `against` with fewer shingles than min_words
    (20) words have are not looked for.

    Texts that do not fit in memory: Parquet files and folders of them, given as pathlib.Path or a list of these, are
    read by pyarrow, from the column `text` (a.b or /a/b within structs), one after the other, those of a folder by
    name. A callable that returns an iterator of batches (lists, Arrow arrays) is called once. An iterator of texts is
    read once. If memory does not hold the shingles of all texts, they go to tmpdir, 8 bytes each. memory, in bytes,
    bounds all but some 100 bytes per text; 0 is half of what is free.

    >>> libidx.dedup(["the same words here", "other words", "the same words here"]).representative
    array([0, 1, 0])
    >>> libidx.dedup(["one two three four five six", "one two three four five"], 0.5).resemblance
    array([1. , 0.5])
    >>> libidx.dedup(["one two three four five", "zero one two three four five six"], contained=1, min_words=5).keep
    array([False,  True])
    >>> items = ["which of these rivers is the longest of all"]
    >>> found = libidx.dedup(["He asked: which of these rivers is the longest?"], against=items, contains=0.5, min_words=5)
    >>> found.keep, found.known, found.contains
    (array([False]), array([0]), array([0.6]))
    """
    import numpy

    if contains is not None:
        others = {"resemble": resemble, "contained": contained, "ignore_common": ignore_common, "dates": dates}
        _check_contains(against, representative, others)
        given = _take_known(against, text)
        shingle = _choose_shingle(given, shingle)
        least = check_least(None, contains, shingle, min_words, "contains")
        sets = Sets(*parse_shingle(shingle), (threads, memory, tmpdir, progress))
        return _drop_containing(_take_texts(texts, text), given, sets, least)
    batches = _take_texts(texts, text)
    _check_representative(representative, dates)
    given = () if against is None else _take_known(against, text)
    shingle = _choose_shingle(given, shingle)
    least, most = _check_least(resemble, contained, shingle, min_words), _parse_common(ignore_common)
    sets = Sets(*parse_shingle(shingle), (threads, memory, tmpdir, progress))
    known, ids = _add_known(sets, given)  # the sets have the known texts first
    count = 0
    lengths = [numpy.empty(0, numpy.int64)]
    for batch, _ in map(split_nulls, batches):
        count += sets.add(batch, None)
        if representative == "longest":
            lengths.append(_core.lengths(batch))
    preferences = _list_preferences(representative, dates, lengths, known, count)
    ignored = _ignore_common(sets, most)
    copies = representative == "most-documents"
    found = list_kept(*sets.keep(least.resemble, known, preferences, copies, *least.of_contained()), known=known)
    return found._replace(known=None if against is None else found.known, ignored=ignored, ids=ids)


def dedup_parts(
    texts: Documents,
    by: Literal["paragraph", "line"] = "paragraph",
    resemble: Optional[float] = None,
    *,
    text: str = "text",
    contained: Optional[float] = None,
    shingle: Optional[Shingle] = None,
    against: Any = None,
    min_words: Optional[int] = None,
    min_document_words: int = 1,
    again: Common = 1,
    within: bool = False,
    all_copies: bool = False,
    threads: int = 1,
    memory: int = 0,
    tmpdir: Optional[Path] = None,
    progress: Progress = None,
) -> Divided:
    """The texts without those paragraphs or lines that resemble one of an earlier text; the first one stays.

    A line ends behind \\n, a paragraph behind its blank lines: those with only white space, as Unicode defines it, and
    ">" of quoted mail, which is not compared at the beginning of a line. Parts of fewer than min_words (5) words are
    neither compared nor dropped. If parts of a text are dropped, and fewer words than min_document_words are left, the
    whole text is dropped. again: parts that fewer texts have stay in all of them; a number, or a share of the texts
    with parts to compare, as for ignore_common. within: also drops what repeats within a text. all_copies: keeps no
    copy of what two texts have, or `again`, such as the frame of a site. against: drops what a text there has, however
    few texts have it. Cut texts are in memory. All other arguments are as those of dedup.

    >>> libidx.dedup_parts(["One text.\\n\\nWe use cookies on this site.", "We use cookies on this site!"]).texts
    ['One text.\\n\\nWe use cookies on this site.', None]
    """
    batches, rules = _take_texts(texts, text), make_rules(by, min_words, min_document_words, again, within, all_copies)
    least = check_least(resemble, contained, shingle, min_words)
    sets = Sets(*parse_shingle(shingle), (threads, memory, tmpdir, progress))
    known = None if against is None else _take_known(against, text)
    if isinstance(known, Index):
        raise invalid_argument("against: an index of texts has no parts of them: give the texts")
    return drop_parts(batches, known, sets, least, rules)


def text_pairs(
    texts: Documents,
    resemble: Optional[float] = None,
    *,
    text: str = "text",
    contained: Optional[float] = None,
    min_words: Optional[int] = None,
    shingle: Optional[Shingle] = None,
    ignore_common: Optional[Common] = None,
    threads: int = 1,
    memory: int = 0,
    tmpdir: Optional[Path] = None,
    progress: Progress = None,
) -> TextPairs:
    """All pairs of texts that resemble each other by `resemble` (0.8) or more, exactly: a, b and resemblance.

    With contained, also pairs in which the text with fewer shingles has this share of them or more in the other one,
    and without resemble only these; this share follows the resemblance.

    A text with the same shingles as earlier ones is only in a pair with the first of them. Pairs ascend by a, then by
    b, the larger row. Texts and other arguments are as those of dedup.

    >>> texts = ["one two three four five six", "other words", "one two three four five", "ONE two, three four five"]
    >>> libidx.text_pairs(texts, 0.5)[:3]
    (array([0, 2]), array([2, 3]), array([0.5, 1. ]))
    """
    batches, least = _take_texts(texts, text), _check_least(resemble, contained, shingle, min_words)
    most = _parse_common(ignore_common)
    sets = Sets(*parse_shingle(shingle), (threads, memory, tmpdir, progress))
    _add_texts(sets, batches)
    _ignore_common(sets, most)
    return TextPairs(*sets.pairs(least.resemble, *least.of_contained()))
