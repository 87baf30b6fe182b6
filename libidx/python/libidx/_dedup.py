"""Deduplication: which of many documents to keep, and which texts resemble each other."""

from __future__ import annotations

import contextlib
import datetime
import numbers
import os
import tempfile
from functools import partial
from typing import TYPE_CHECKING, Any, Callable, Iterable, Literal, NamedTuple, Optional, Union, overload

from . import _core
from ._batches import list_files, read_files, split_nulls, take_texts
from ._divide import By
from ._errors import invalid_argument
from ._fingerprints import Fingerprinter
from ._index import Index, choose
from ._making import build
from ._parts import Divided, check_rules, drop_parts
from ._progress import Progress, callback
from ._resemblance import Common, Least, Sets, Shingle, check_least, parse_common, parse_shingle

if TYPE_CHECKING:
    from ._batches import Documents
    from ._core import Clusters
    from ._types import BoolArray, Float64Array, Int64Array, Numbers, Path, UInt8Array


class Deduplicated(NamedTuple):
    """For each of n documents: whether to keep it, its cluster, the representative's row, and what they have in common.

    keep bool[n]; cluster int64[n], from 0, without gaps; representative int64[n]. A document without near-duplicates is
    a cluster of its own. distance uint8[n], to the representative, in bits; None where texts were compared, whose
    clusters are numbered by the rows of their representatives. resemblance float64[n], to the representative's text, 1
    for that itself; None where fingerprints were compared. What `against` has near-duplicates of is not kept, has -1 as
    its cluster and representative, the distance to the nearest one, and of an index NaN as the resemblance. known
    int64[n]: of which text of `against` a text is a near-duplicate, from 0 on, or -1; None without such texts. ignored:
    how many shingles did not count because of ignore_common. contained float64[n]: the share of a text's own shingles
    that its representative has, 1 for that itself; None where that was not asked for.
    """

    keep: BoolArray
    cluster: Int64Array
    representative: Int64Array
    distance: Optional[UInt8Array]
    resemblance: Optional[Float64Array] = None
    known: Optional[Int64Array] = None
    ignored: int = 0
    contained: Optional[Float64Array] = None


class TextPairs(NamedTuple):
    """Pairs of texts: the row of the first int64[m], that of the second int64[m], and their resemblance float64[m].

    contained float64[m]: of the text that has fewer shingles, the share of them that the other one has; None where that
    was not asked for.
    """

    a: Int64Array
    b: Int64Array
    resemblance: Float64Array
    contained: Optional[Float64Array] = None


DEDUP_REPRESENTATIVES = ("first", "most-documents", "longest", "newest")


def _in_utc(date: Any) -> Any:
    """A datetime in UTC without its zone, which NumPy does not read. None of NaT; others are as they are."""
    if date != date or getattr(date, "tzinfo", None) is None:
        return date if date == date else None
    return date.astimezone(datetime.timezone.utc).replace(tzinfo=None)


def _parse_dates(values: Any) -> Any:
    """Objects as numbers or datetime64, in UTC where they name a zone. None is the least of either."""
    import numpy

    given = [value for value in values.tolist() if value is not None]
    if all(isinstance(value, numbers.Real) for value in given):
        return numpy.array([float("nan") if value is None else float(value) for value in values.tolist()])
    for value in given:
        if not isinstance(value, (datetime.date, numpy.datetime64)):
            raise TypeError(f"dates: {value!r} among others: give seconds, datetime or numpy.datetime64 for all")
    return numpy.array([_in_utc(value) for value in values.tolist()], "datetime64[us]")


def _take_dates(dates: Any, count: int) -> Any:
    """Numbers that are larger the newer a text is; a text without a date is the oldest."""
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


def _check_representative(representative: str, dates: Any, of_texts: bool) -> None:
    """Refuses a representative that is not known, or not for what is given."""
    choose("representative", representative, DEDUP_REPRESENTATIVES)
    if representative in ("longest", "newest") and not of_texts:
        raise invalid_argument(f"representative {representative!r} is for texts: give texts, not fingerprints")
    if representative == "newest" and dates is None:
        raise invalid_argument("representative 'newest' needs dates: give as many as texts")
    if representative != "newest" and dates is not None:
        raise invalid_argument("dates: without representative 'newest' they have no effect: omit them")


WITHOUT_TABLES = 8
"""From this distance on, pairs are found in memory faster than by any tables."""


def _find_leaders(found: Clusters) -> Any:
    """The place of each member's representative."""
    import numpy

    places = numpy.flatnonzero(found.is_representative)
    first = numpy.empty(len(places), numpy.int64)
    first[found.clusters[places]] = places
    return first[found.clusters]


def _cluster(numbers: Any, k: int, bits: int, by: str, method: str, folder: str, common: dict[str, Any]) -> Clusters:
    """The clusters of fingerprints, by an index of few tables, which are read once: blocks may differ in one bit.

    From some distance on, pairs are found without tables."""
    path = os.path.join(folder, "index")
    tables = k if k < WITHOUT_TABLES or k >= bits else 0
    build(path, numbers, id_type="u64", k=tables, bits=bits, scheme=f"{tables // 2 + 1}:1:1", **common)
    with Index(path, residence="none") as index:
        options: dict[str, Any] = {"method": method, "representative": by, "tmpdir": folder, **common}
        return index.clusters(k, alone=True, **options)


class _Against:
    """What was kept before: an index, or texts in batches, or nothing."""

    def __init__(self, against: Any, text: str, opened: contextlib.ExitStack) -> None:
        self.index: Optional[Index] = None
        self.texts: Optional[Iterable[Any]] = None
        files: Any = [against] if isinstance(against, (str, bytes)) else list_files(against)
        if isinstance(against, Index):
            self.index = against
        elif files is not None and len(files) == 1 and os.path.exists(os.path.join(os.fsdecode(files[0]), "manifest")):
            self.index = opened.enter_context(Index(files[0]))
        elif files is not None:
            self.texts = read_files(files, text)
        elif against is not None and (texts := take_texts(against, text)) is not None:
            self.texts = texts
        elif against is not None:
            raise TypeError(f"against: {type(against)!r}: give an index, files as pathlib.Path, or texts")

    def fingerprinter(self, given: Optional[Fingerprinter], bits: Optional[int]) -> Fingerprinter:
        """What makes fingerprints of texts as those of the index, if there is one."""
        if self.index is None:
            return given or Fingerprinter(bits=64 if bits is None else bits)
        info = self.index.info()
        if not info.recipe:
            sentence = "does not record the recipe of its fingerprints, so texts can't be compared with them"
            raise invalid_argument(f"{os.fsdecode(self.index.path)}: it {sentence}")
        made = given or Fingerprinter(info.recipe, bits=info.bits if bits is None else bits)
        if made.bits != info.bits or not _core.recipes_match(made.recipe, info.recipe):
            has = f"{os.fsdecode(self.index.path)}: it has fingerprints of {info.bits} bits by {info.recipe!r}"
            raise invalid_argument(f"{has}, and not of {made.bits} by {made.recipe!r}")
        return made


def _check_options(given: dict[str, Any], k: Optional[int], of_texts: bool, against: _Against) -> None:
    """Refuses what has no effect, by its name."""
    named = {name for name, value in given.items() if value is not None}
    by_texts = {"resemble", "contained", "shingle", "ignore_common"} & named
    by_prints = {"method", "min_features", "bits", "fingerprinter"} & named
    if not of_texts and (wrong := by_texts | {"min_features", "fingerprinter"} & named):
        raise invalid_argument(f"{min(wrong)} is for texts: give texts, not fingerprints")
    if of_texts and k is not None and by_texts:
        raise invalid_argument(f"{min(by_texts)} compares texts, and with k fingerprints decide: give one of them")
    if (not of_texts or k is not None) and against.texts is not None:
        raise invalid_argument("against: texts are compared without k: give an index")
    if of_texts and k is None and against.index is not None:
        by_prints.discard("fingerprinter")
    if "min_words" in named and "contained" not in named:
        raise invalid_argument("min_words needs by='paragraph' or by='line', or contained")
    if of_texts and k is None and by_prints:
        raise invalid_argument(f"{min(by_prints)} needs k: without k, texts are compared, and not their fingerprints")


def _keep(
    batches: Iterable[Any],
    against: _Against,
    sets: Any,
    least: Least,
    representative: str,
    dates: Any,
    fingerprinter: Optional[Fingerprinter],
    threads: int,
    most: Optional[Callable[[int], int]],
) -> Deduplicated:
    """Which texts to keep, of which none resembles another one. Texts are read once; nulls are like empty ones.

    The sets have the `known` texts of `against` first, then those of the batches, so rows there are `known` larger."""
    import numpy

    lengths, dropped = [numpy.empty(0, numpy.int64)], [numpy.empty(0, numpy.bool_)]
    known, count = _add_texts(sets, against.texts or ())
    for batch, nulls in map(split_nulls, batches):
        marks = None
        if against.index is not None:  # what is near to it is dropped, and not compared
            assert fingerprinter is not None
            prints, features = fingerprinter.with_features(batch, threads=threads)
            compared = features > 0 if nulls is None else (features > 0) & ~nulls
            marks = numpy.zeros(len(prints), numpy.bool_)
            marks[compared] = against.index.exists(prints[compared], threads=threads)
        added = sets.add(batch, None if marks is None else marks.astype(numpy.uint64))
        dropped.append(numpy.zeros(added, numpy.bool_) if marks is None else marks)
        count += added - (0 if marks is None else int(marks.sum())) - (0 if nulls is None else int(nulls.sum()))
        if representative == "longest":
            lengths.append(_core.lengths(batch))
    gone = numpy.concatenate(dropped)
    preferences = _list_preferences(representative, dates, lengths, known, len(gone))
    ignored = 0 if most is None else sets.ignore_common(most(count))
    copies = representative == "most-documents"
    kept, *alike = sets.keep(least.resemble, known, preferences, copies, *least.of_contained())
    joined, alike = kept[known:].astype(numpy.int64), [column[known:] for column in alike]  # those of the batches
    chosen = numpy.where(gone | (joined < known), -1, joined - known)  # as rows of the batches
    for column in alike:
        column[gone] = numpy.nan
    keep = chosen == numpy.arange(len(gone))
    cluster = numpy.where(chosen < 0, -1, (numpy.cumsum(keep) - 1)[chosen])
    theirs = None if against.texts is None else numpy.where(joined < known, joined, -1)
    return Deduplicated(keep, cluster, chosen, None, alike[0], theirs, ignored, *alike[1:])


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


def _add_texts(sets: Any, batches: Iterable[Any]) -> tuple[int, int]:
    """Adds texts to the sets. Returns how many there are, and how many of them are not null."""
    rows = count = 0
    for batch, nulls in map(split_nulls, batches):
        added = sets.add(batch, None)
        rows += added
        count += added - (0 if nulls is None else int(nulls.sum()))
    return rows, count


def _keep_prints(
    prints: Any, rows: Any, index: Optional[Index], k: Optional[int], threads: int, find: Callable[[Any], Clusters]
) -> Deduplicated:
    """Which documents to keep, by fingerprints. Only those of `rows` are compared, in this order, at first with the index,
    within `k` or its own k, then by `find`, which finds the clusters of fingerprints."""
    import numpy

    count = len(prints)
    keep, cluster = numpy.ones(count, numpy.bool_), numpy.full(count, -1, numpy.int64)
    chosen, distance, alone = numpy.arange(count), numpy.zeros(count, numpy.uint8), numpy.ones(count, numpy.bool_)
    if index is not None:
        near = index.lookup(prints[rows], k, limit=1, threads=threads)
        is_near = numpy.diff(near.offsets) > 0
        gone, rows = rows[is_near], rows[~is_near]
        keep[gone], chosen[gone], distance[gone], alone[gone] = False, -1, near.distances, False
    found = find(prints[rows])
    assert found.numbers is not None
    places, leaders = rows[found.numbers.astype(numpy.int64)], _find_leaders(found)
    keep[places], chosen[places], distance[places] = found.is_representative, places[leaders], found.distances
    alone[places] = False
    cluster[places] = (numpy.cumsum(found.is_representative) - 1)[leaders]
    cluster[alone] = numpy.arange(int(alone.sum())) + int(found.is_representative.sum())
    return Deduplicated(keep, cluster, chosen, distance)


def _rank(representative: str, dates: Any, lengths: Any, compared: Any) -> Any:
    """The rows of the texts that are compared, those first that are to represent others."""
    import numpy

    count = len(compared)
    rows = numpy.arange(count)
    if representative in ("longest", "newest"):
        values = lengths if representative == "longest" else _take_dates(dates, count)
        # Both are reversed, so that values descend, and of equal ones the first row stays first.
        rows = count - 1 - numpy.argsort(values[::-1], kind="stable")[::-1]
    return rows[compared[rows]]


def _fingerprint(
    batches: Iterable[Any], fingerprinter: Fingerprinter, threads: int, with_lengths: bool
) -> tuple[Any, ...]:
    """Of each text its fingerprint, features, length if that is asked for, and whether it is null."""
    import numpy

    kinds = numpy.uint64, numpy.uint64, numpy.int64, numpy.bool_
    columns: list[list[Any]] = [[numpy.empty(0, kind)] for kind in kinds]
    for batch, nulls in map(split_nulls, batches):
        made: Any = fingerprinter.with_features(batch, threads=threads)
        sizes = _core.lengths(batch) if with_lengths else numpy.empty(0, numpy.int64)
        absent = numpy.zeros(len(made[0]), numpy.bool_) if nulls is None else nulls
        for column, values in zip(columns, (*made, sizes, absent), strict=True):
            column.append(values)
    return tuple(map(numpy.concatenate, columns))


@overload
def dedup(
    documents: Documents,
    *,
    by: Literal["paragraph", "line"],
    text: str = "text",
    resemble: Optional[float] = None,
    contained: Optional[float] = None,
    shingle: Optional[Shingle] = None,
    min_words: Optional[int] = None,
    min_document_words: Optional[int] = None,
    again: Optional[Common] = None,
    within: bool = False,
    all_copies: bool = False,
    threads: int = 1,
    memory: int = 0,
    tmpdir: Optional[Path] = None,
    progress: Progress = None,
) -> Divided: ...
@overload
def dedup(
    documents: Union[Numbers, Documents],
    k: Optional[int] = None,
    *,
    by: Literal["document"] = "document",
    text: str = "text",
    resemble: Optional[float] = None,
    contained: Optional[float] = None,
    shingle: Optional[Shingle] = None,
    ignore_common: Optional[Common] = None,
    against: Any = None,
    method: Optional[Literal["components", "star"]] = None,
    representative: Literal["first", "most-documents", "longest", "newest"] = "first",
    dates: Any = None,
    fingerprinter: Optional[Fingerprinter] = None,
    min_features: Optional[int] = None,
    bits: Optional[int] = None,
    min_words: Optional[int] = None,
    threads: int = 1,
    memory: int = 0,
    tmpdir: Optional[Path] = None,
    progress: Progress = None,
) -> Deduplicated: ...
def dedup(
    documents: Union[Numbers, Documents],
    k: Optional[int] = None,
    *,
    by: By = "document",
    text: str = "text",
    resemble: Optional[float] = None,
    contained: Optional[float] = None,
    shingle: Optional[Shingle] = None,
    ignore_common: Optional[Common] = None,
    against: Any = None,
    method: Optional[Literal["components", "star"]] = None,
    representative: Literal["first", "most-documents", "longest", "newest"] = "first",
    dates: Any = None,
    fingerprinter: Optional[Fingerprinter] = None,
    min_features: Optional[int] = None,
    bits: Optional[int] = None,
    min_words: Optional[int] = None,
    min_document_words: Optional[int] = None,
    again: Optional[Common] = None,
    within: bool = False,
    all_copies: bool = False,
    threads: int = 1,
    memory: int = 0,
    tmpdir: Optional[Path] = None,
    progress: Progress = None,
) -> Union[Deduplicated, Divided]:
    """Which of n documents, given as texts or fingerprints, to keep: one of those that are near-duplicates.

    Of texts, near-duplicates resemble each other by `resemble`, 0.0001 to 1, or more; 0.8 is the default. All are
    compared, exactly: each, in the order that representative says, joins the one it resembles most of those kept so
    far, of equals the first, or else is kept; one without any word resembles none. So each text that is dropped
    resembles the one that is kept in its place, and no two texts that are kept resemble each other.
    shingle: what has to be in common, as for libidx.shingles: N words (5 by default), or 'chars:N' characters.
    ignore_common: shingles that more than so many texts have don't count, such as those of licences and menus: a number
    of texts, copies included, or a share of all that are compared, such as 0.001 or '0.1%', rounded up. A text that has
    no others resembles none.
    contained: a text is also dropped if this share of its own shingles, or more, is in one that is kept, such as a
    quotation; unless it has fewer than min_words (20), or with 'chars:N' characters. Longer texts are taken first, of
    equals as representative says, and each joins what it resembles most. Without `resemble` only such texts are dropped.

    With k, or where documents are fingerprints, those decide: near-duplicates are what chains of pairs within k bits
    connect (3 by default); with method="star", what is within k bits of a representative. Half of the texts that are
    dropped may not resemble the one that is kept. `fingerprinter` makes fingerprints of texts; those with fewer than
    min_features (1) distinct features are kept. bits: of a fingerprint, 64 by default. Fingerprints take a temporary
    index in tmpdir, about 20 bytes per document.

    Texts that are None or null are kept. representative: which document of a cluster to keep; of texts also "longest",
    by bytes in UTF-8, and "newest", by `dates`: n seconds, datetime or datetime64, in UTC where they name no zone, of
    which None, NaN and NaT are oldest; of several the first. "most-documents" goes by how many texts have the same
    shingles, or how many documents the same fingerprint.

    against: what was kept before, whose near-duplicates are dropped. An index (Index, or its path) drops what is within
    its k, or `k`, bits of one of its fingerprints; with k or without, the others are then compared with each other.
    Files and folders of texts in any format that `python -m libidx dedup` reads, given as paths, or texts, as documents
    are, drop what resembles one of them, and are compared without k.

    by: "paragraph" or "line" compares these parts of texts, and gives texts without those that resemble one of an
    earlier text (Divided). Lines end behind \\n; paragraphs behind what follows of lines that are blank: white space,
    as Unicode has it, and ">" of quoted mail, which is not compared where a line begins with it. Parts
    of fewer than min_words (5) are neither compared nor dropped. A text of which parts are dropped, and fewer words
    than min_document_words (1) are left, is dropped as a whole. again: what fewer texts have stays in all of them;
    a number, or a share of those with parts to compare, as ignore_common is. within: what repeats within a text is dropped
    as well. all_copies: of what two texts have, or `again`, no copy is kept. Cut texts are in memory.

    Texts that do not fit in memory: Parquet files and folders of them, given as pathlib.Path or a list of these, are
    read by pyarrow, of the column `text`, also a.b or /a/b within structs, and count as one after the other, those of a
    folder by name. A callable that returns an iterator of batches (lists, Arrow arrays) is called once. An iterator of
    texts is read once. Where memory does not hold the shingles of all texts, they go to tmpdir, 8 bytes for each.
    memory, in bytes, bounds all but some 100 bytes per text; 0 is half of what is free.

    >>> libidx.dedup(["the same words here", "other words", "the same words here"]).representative
    array([0, 1, 0])
    >>> libidx.dedup(["one two three four five six", "one two three four five"], resemble=0.5).resemblance
    array([1. , 0.5])
    >>> libidx.dedup(["one two three four five", "zero one two three four five six"], contained=1, min_words=5).keep
    array([False,  True])
    >>> libidx.dedup(["One text.\\n\\nWe use cookies on this site.", "We use cookies on this site!"], by="paragraph").texts
    ['One text.\\n\\nWe use cookies on this site.', None]
    >>> libidx.dedup(fingerprints, k=1).keep
    array([ True, False,  True])
    """
    import numpy

    batches = take_texts(documents, text)
    of_texts = batches is not None
    _check_representative(representative, dates, of_texts)
    given = {"min_words": min_words, "min_document_words": min_document_words, "again": again, "within": within}
    given["all_copies"] = all_copies
    if (rules := check_rules(by, given)) is not None:
        others = {"k": k, "ignore_common": ignore_common, "against": against, "method": method, "dates": dates}
        others |= {"fingerprinter": fingerprinter, "min_features": min_features, "bits": bits}
        if representative != "first" or not all(value is None for value in others.values()):
            named = [name for name, value in others.items() if value is not None] or ["representative"]
            raise invalid_argument(f"{named[0]} is for whole documents: omit it, or by={by!r}")
        if batches is None:
            raise invalid_argument(f"by={by!r} is for texts: give texts, not fingerprints")
        sets = Sets(*parse_shingle(shingle), memory, threads, tmpdir, callback(progress))
        return drop_parts(batches, sets, check_least(resemble, contained, shingle, min_words), rules)
    with contextlib.ExitStack() as opened:
        known = _Against(against, text, opened)
        options = {"resemble": resemble, "shingle": shingle, "ignore_common": ignore_common, "method": method, "fingerprinter": fingerprinter}
        options |= {"contained": contained, "min_words": min_words, "min_features": min_features, "bits": bits}
        _check_options(options, k, of_texts, known)
        watch, most = callback(progress), parse_common(ignore_common)
        least = check_least(resemble, contained, shingle, min_words)
        if of_texts and (k is not None or known.index is not None):
            fingerprinter = known.fingerprinter(fingerprinter, bits)
        if batches is not None and k is None:
            sets = Sets(*parse_shingle(shingle), memory, threads, tmpdir, watch)
            return _keep(batches, known, sets, least, representative, dates, fingerprinter, threads, most)
        place = None if tmpdir is None else os.fsdecode(tmpdir)
        folder = opened.enter_context(tempfile.TemporaryDirectory(prefix="libidx-", dir=place))
        common: dict[str, Any] = {"threads": threads, "memory": memory, "progress": watch}
        if batches is None:
            prints: Any = _core.numbers(documents)
            rows, size, prefers = numpy.arange(len(prints)), 64 if bits is None else bits, representative
        else:
            assert fingerprinter is not None
            made = _fingerprint(batches, fingerprinter, threads, representative == "longest")
            prints, features, lengths, nulls = made
            compared = (features >= (1 if min_features is None else min_features)) & ~nulls
            rows, size = _rank(representative, dates, lengths, compared), fingerprinter.bits
            prefers = "first" if representative in ("longest", "newest") else representative
        apart, method = 3 if k is None else k, method or "components"
        find = partial(_cluster, k=apart, bits=size, by=prefers, method=method, folder=folder, common=common)
        return _keep_prints(prints, rows, known.index, k, threads, find)


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

    With contained, also those of which the text with fewer shingles has this share of them or more in the other one, and
    without resemble only these; beside the resemblance, there is that share.

    Of each text that has the same shingles as earlier ones, there is its pair with the first of them alone. Pairs
    ascend by a, then by b, the larger row. Texts and other arguments are as those of dedup.

    >>> texts = ["one two three four five six", "other words", "one two three four five", "ONE two, three four five"]
    >>> libidx.text_pairs(texts, 0.5)
    TextPairs(a=array([0, 2]), b=array([2, 3]), resemblance=array([0.5, 1. ]), contained=None)
    """
    batches = take_texts(texts, text)
    if batches is None:
        raise TypeError("texts: these are numbers; expected texts")
    if min_words is not None and contained is None:
        raise invalid_argument("min_words needs contained")
    least, most = check_least(resemble, contained, shingle, min_words), parse_common(ignore_common)
    sets = Sets(*parse_shingle(shingle), memory, threads, tmpdir, callback(progress))
    _, count = _add_texts(sets, batches)
    if most is not None:
        sets.ignore_common(most(count))
    return TextPairs(*sets.pairs(least.resemble, *least.of_contained()))
