"""Deduplication: which of many documents to keep."""

from __future__ import annotations

import datetime
import itertools
import numbers
import os
import pickle
import tempfile
from typing import TYPE_CHECKING, Any, Callable, Iterable, Iterator, Literal, NamedTuple, Optional, Sequence, Union

from . import _core
from ._errors import invalid_argument
from ._index import Index, choose
from ._making import build, kind_of
from ._parquet import read_texts
from ._progress import Progress, callback

if TYPE_CHECKING:
    from ._core import Clusters
    from ._fingerprints import Fingerprinter
    from ._types import BoolArray, Float64Array, Int64Array, Numbers, Path, Texts, UInt8Array, UInt64Array


class Deduplicated(NamedTuple):
    """For each of n documents: whether to keep it, its cluster, the representative's row, and its distance to that.

    keep bool[n]; cluster int64[n], from 0, without gaps; representative int64[n]; distance uint8[n], in bits, or None
    where fingerprints were not compared: then clusters are numbered by the rows of their representatives. A document
    without near-duplicates is a cluster of its own. resemblance float64[n], to the representative's text, 1 for that
    itself; None where texts were not compared.
    """

    keep: BoolArray
    cluster: Int64Array
    representative: Int64Array
    distance: Optional[UInt8Array]
    resemblance: Optional[Float64Array] = None


def _is_text(documents: Any) -> bool:
    """Whether an argument of dedup holds texts, rather than fingerprints."""
    return kind_of(documents) == "text"


def _is_null(text: Any) -> bool:
    """Whether an item is None, or NaN, which pandas has for it."""
    return not isinstance(text, (str, bytes)) and (text is None or text != text)


def _split_nulls(texts: Any) -> tuple[Any, Optional[Any]]:
    """Texts with empty ones in place of nulls, and which are null: bool[n], or None where none is."""
    import numpy

    nulls: Any = None
    if isinstance(texts, (list, tuple)) or (isinstance(texts, numpy.ndarray) and texts.dtype.kind == "O"):
        nulls = numpy.fromiter(map(_is_null, texts), numpy.bool_, len(texts))
    elif hasattr(texts, "isna"):  # of pandas
        nulls = numpy.asarray(texts.isna())
    elif hasattr(texts, "is_null") and hasattr(texts, "null_count"):  # of pyarrow and Polars
        count = texts.null_count() if callable(texts.null_count) else texts.null_count
        nulls = numpy.asarray(texts.is_null()) if count else None
    if nulls is None or not nulls.any():
        return texts, None
    items = texts.to_pylist() if hasattr(texts, "to_pylist") else list(texts)
    return ["" if null else item for item, null in zip(items, nulls.tolist(), strict=True)], nulls


def _pick(texts: Any, rows: Any) -> list[Any]:
    """The texts of some rows."""
    items = getattr(texts, "iloc", texts)  # of pandas, by their places
    picked = [items[row] for row in rows.tolist()]
    return [item.as_py() for item in picked] if hasattr(texts, "to_pylist") else picked


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
        return numpy.ascontiguousarray(values).view(numpy.int64)  # NaT is the least
    if values.dtype.kind == "f":
        return numpy.where(numpy.isnan(values), -numpy.inf, values)
    if values.dtype.kind not in "iu":
        raise TypeError(f"dates: of type {values.dtype}: give seconds, datetime or numpy.datetime64")
    return values


def _prefer(lengths: Any, representative: str, dates: Any, count: int) -> Any:
    """The rows of texts, those first that are to represent others."""
    import numpy

    values = lengths if representative == "longest" else _take_dates(dates, count)
    return (count - 1 - numpy.argsort(values[::-1], kind="stable")[::-1]).astype(numpy.uint64)


def _check_representative(representative: str, dates: Any, of_texts: bool) -> bool:
    """Whether the texts or their dates say which documents represent others."""
    choose("representative", representative, DEDUP_REPRESENTATIVES)
    preferred = representative in ("longest", "newest")
    if preferred and not of_texts:
        raise invalid_argument(f"representative {representative!r} is for texts: give texts, not fingerprints")
    if representative == "newest" and dates is None:
        raise invalid_argument("representative 'newest' needs dates: give as many as texts")
    if representative != "newest" and dates is not None:
        raise invalid_argument("dates: without representative 'newest' they have no effect: omit them")
    return preferred


WITHOUT_TABLES = 8
"""From this distance on, pairs are found in memory faster than by any tables."""


def _lead(found: Clusters) -> Any:
    """The place of each member's representative."""
    import numpy

    places = numpy.flatnonzero(found.is_representative)
    first = numpy.empty(len(places), numpy.int64)
    first[found.clusters[places]] = places
    return first[found.clusters]


def _count_bits(numbers: UInt64Array) -> Any:
    import numpy

    return numpy.unpackbits(numbers.view(numpy.uint8).reshape(-1, 8), axis=1).sum(axis=1, dtype=numpy.uint8)


class _Corpus:
    """Texts, which are held, or read twice: batches, as often as `read` is called."""

    def __init__(self, documents: Any, folder: str) -> None:
        spool = os.path.join(folder, "texts")
        is_read = callable(documents) or isinstance(documents, Iterator)
        held: Any = (None, None) if is_read else _split_nulls(documents)
        self.held, self.nulls = held
        self.read = _spool(documents, spool) if isinstance(documents, Iterator) else documents

    def fingerprint(self, fingerprinter: Fingerprinter, threads: int, with_lengths: bool) -> tuple[Any, ...]:
        """Of each text its fingerprint, features, length if that is asked for, and 1 where it is null."""
        import numpy

        columns: list[list[Any]] = [[numpy.empty(0, numpy.uint64)] for _ in range(4)]
        held = [(self.held, self.nulls)]
        for batch, nulls in held if self.held is not None else map(_split_nulls, self.read()):
            made: Any = fingerprinter.with_features(batch, threads=threads)
            sizes = _core.lengths(batch) if with_lengths else numpy.empty(0)
            absent = numpy.zeros(len(made[0])) if nulls is None else nulls
            for column, values in zip(columns, (*made, sizes, absent), strict=True):
                column.append(numpy.asarray(values, numpy.uint64))
        prints, features, lengths, absent = (numpy.concatenate(column) for column in columns)
        return prints, features, lengths, absent

    def write_sets(self, rows: Any, prints: Any, fingerprinter: Fingerprinter, threads: int, path: str) -> Any:
        """Writes the shingles of the texts of these rows, which ascend, to a file; returns where each ends, behind 0.

        What is read again must be as it was."""
        import numpy

        from . import _text

        counts, begin = [numpy.zeros(1, numpy.uint64)], 0
        with open(path, "wb", buffering=0) as file:
            if self.held is not None:
                counts.append(_text.write_sets(self.held, rows, file.fileno()))
                return numpy.cumsum(numpy.concatenate(counts), dtype=numpy.uint64)
            for batch in self.read():
                within = rows[numpy.searchsorted(rows, begin) : numpy.searchsorted(rows, begin + len(batch))] - begin
                some = _pick(batch, within)
                if (fingerprinter(some, threads=threads) != prints[within + begin]).any():
                    last = begin + len(batch) - 1
                    raise invalid_argument(f"of texts {begin} to {last}, some are others when read again")
                counts.append(_text.write_sets(some, None, file.fileno()))
                begin += len(batch)
        if begin != len(prints):
            raise invalid_argument(f"there are {begin} texts when they are read again, and there were {len(prints)}")
        return numpy.cumsum(numpy.concatenate(counts), dtype=numpy.uint64)


def _list_files(documents: Any) -> Optional[list[os.PathLike[str]]]:
    """The paths, where there is a path or a list of them."""
    paths = list(documents) if isinstance(documents, (list, tuple)) else [documents]
    return paths if paths and all(isinstance(path, os.PathLike) for path in paths) else None


def _refuse_names(documents: Any) -> None:
    """Refuses a str in place of a list of texts, and names of files in place of texts."""
    advice = "give files as pathlib.Path, or a list of these"
    if isinstance(documents, (str, bytes)):
        raise TypeError(f"documents: one {type(documents).__name__}; expected a list of texts; {advice}")
    if not isinstance(documents, (list, tuple)) or len(documents) == 0:
        return
    if all(isinstance(name, str) and name.endswith(".parquet") for name in documents) and os.path.exists(documents[0]):
        raise TypeError(f"documents: {documents[0]!r} is a file, but its name would be taken for a text; {advice}")


SPOOLED = 1024
"""Texts of an iterator that are taken at a time."""


def _batch(texts: Iterator[Any]) -> Iterator[list[Any]]:
    """The texts in lists."""
    return iter(lambda: list(itertools.islice(texts, SPOOLED)), [])


def _spool(texts: Iterator[Any], path: str) -> Callable[[], Iterable[Any]]:
    """Writes texts to a file, from which they can be read in batches."""
    with open(path, "wb") as file:
        for batch in _batch(texts):
            pickle.dump(batch, file)

    def read() -> Iterable[Any]:
        with open(path, "rb") as file:
            while file.peek(1):
                yield pickle.load(file)

    return read


def _lead_sets(rows: Any, groups: Any, resemblance: float, memory: int, path: str, write: Any) -> tuple[Any, Any]:
    """Of each row, those of a group together: the place of its representative, and how much it resembles that one.

    The shingles of texts are in a file, which is mapped."""
    import numpy

    from . import _text

    wanted = numpy.sort(rows)
    ends = write(wanted, path)
    is_mapped = int(ends[-1]) > 0
    hashes: Any = numpy.memmap(path, numpy.uint64, "r") if is_mapped else numpy.empty(0, numpy.uint64)
    places = numpy.searchsorted(wanted, rows).astype(numpy.uint64)
    return _text.lead(hashes, ends, places, groups, resemblance, memory // 2, is_mapped)


def _confirm(found: Clusters, places: Any, by_row: bool, lead: Any) -> tuple[Any, Any, Any]:
    """Of the members of clusters, in an order that has those of a cluster together: their places among `found`, who
    represents them, and how much they resemble that one.

    The members of a cluster are taken in their order, or by their rows, its representative before all others. Each
    joins the first that it resembles, or represents those behind it. Only texts that have neighbours are compared.
    """
    import numpy

    places_within = found.numbers if by_row else numpy.arange(len(found))
    order = numpy.lexsort((places_within, ~found.is_representative, found.clusters))
    sizes = numpy.bincount(found.clusters)
    near = numpy.flatnonzero(sizes[found.clusters[order]] > 1)
    leaders, resemblances = numpy.arange(len(found)), numpy.ones(len(found))
    joined, resemblances[near] = lead(places[order[near]], found.clusters[order[near]])
    leaders[near] = near[joined.astype(numpy.int64)]
    return order, order[leaders], resemblances


def _find(numbers: Any, k: int, bits: int, by: str, method: str, folder: str, common: dict[str, Any]) -> Clusters:
    """The clusters of fingerprints, by an index of few tables, which are read once: blocks may differ in one bit.

    From some distance on, pairs are found without tables."""
    path = os.path.join(folder, "index")
    tables = k if k < WITHOUT_TABLES or k >= bits else 0
    build(path, numbers, id_type="u64", k=tables, bits=bits, scheme=f"{tables // 2 + 1}:1:1", **common)
    with Index(path, residence="none") as index:
        options: dict[str, Any] = {"method": method, "representative": by, "tmpdir": folder, **common}
        return index.clusters(k, alone=True, **options)


def _keep(
    documents: Any, resemble: float, representative: str, dates: Any, options: tuple[Any, ...]
) -> Deduplicated:
    """Which texts to keep, of which none resembles another one. Texts are read once; nulls are like empty ones."""
    import numpy

    from ._resemblance import Sets

    sets, lengths, count = Sets(*options), [numpy.empty(0, numpy.int64)], 0
    if isinstance(documents, Iterator):
        batches: Iterable[Any] = _batch(documents)
    else:
        batches = documents() if callable(documents) else [documents]
    for batch, _ in map(_split_nulls, batches):
        count += sets.add(batch)
        if representative == "longest":
            lengths.append(_core.lengths(batch))
    preferences: Any = None
    if representative == "longest":
        preferences = numpy.concatenate(lengths)
    elif representative == "newest":
        preferences = numpy.unique(_take_dates(dates, count), return_inverse=True)[1].astype(numpy.int64)
    kept, alike = sets.keep(resemble, preferences, representative == "most-documents")
    chosen = kept.astype(numpy.int64)
    keep = chosen == numpy.arange(count)
    return Deduplicated(keep, (numpy.cumsum(keep) - 1)[chosen], chosen, None, alike)


def dedup(
    documents: Union[
        Numbers, Texts, Iterator[str], Callable[[], Iterable[Texts]], os.PathLike[str], Sequence[os.PathLike[str]]
    ],
    k: Optional[int] = None,
    *,
    text: str = "text",
    resemble: Optional[float] = None,
    method: Literal["components", "star"] = "components",
    representative: Literal["first", "most-documents", "longest", "newest"] = "first",
    dates: Any = None,
    fingerprinter: Optional[Fingerprinter] = None,
    min_features: int = 1,
    bits: int = 64,
    threads: int = 1,
    memory: int = 0,
    tmpdir: Optional[Path] = None,
    progress: Progress = None,
) -> Deduplicated:
    """Which of n documents, given as fingerprints or texts, to keep: one of each cluster of near-duplicates.

    Near-duplicates are within k bits of each other, 3 if neither k nor resemble is given. resemble: of texts, those
    that resemble each other by so much or more, 0.0001 to 1 (libidx.resemblance). Without k, all texts are compared,
    exactly: each, in the order that representative says, joins the one it resembles most of those kept so far, of
    equals the first, or else is kept; one without any word resembles none. Distances are None then, method and bits
    count for nothing, and a fingerprinter or min_features are refused. With both, the texts within k bits are compared,
    each joins the first one that it resembles, and method counts for nothing. In either case each document that is
    dropped resembles its representative.

    Texts are fingerprinted by `fingerprinter` (by default with the default recipe). Those with fewer than min_features
    distinct features, and those that are None or null, are always kept. representative: which document of a cluster to
    keep; of texts also "longest", by bytes in UTF-8, and "newest", by `dates`: n seconds, datetime or datetime64, in
    UTC where they name no zone, of which None, NaN and NaT are oldest; of several the first. With resemble alone,
    "most-documents" goes by how many texts have the same shingles. Fingerprints take a temporary index in tmpdir, about
    20 bytes per document.

    Texts that do not fit in memory: Parquet files and folders of them, given as pathlib.Path or a list of these, are
    read by pyarrow, of the column `text`, also a.b or /a/b within structs, and count as one after the other, those of a
    folder by name. A callable that returns an iterator of batches (lists, Arrow arrays) is called once. An iterator of
    texts is read once. With resemble alone, the shingles of all texts go to tmpdir, 8 bytes for each, where memory does
    not hold them. With resemble and k, a callable is called once more, for the texts that have neighbours, and what it
    gives must not change in between; an iterator is written to tmpdir, as are the shingles of texts that have
    neighbours. memory, in bytes, bounds all but some 100 bytes per text; 0 is half of what is free, and then comparing
    texts within k bits has no bound.

    >>> libidx.dedup(fingerprints, k=1).keep
    array([ True, False,  True])
    >>> libidx.dedup(["the same words here", "other words", "the same words here"]).representative
    array([0, 1, 0])
    >>> libidx.dedup(["one two three four five six", "one two three four five"], resemble=0.5).resemblance
    array([1. , 0.5])
    """
    import numpy

    if (files := _list_files(documents)) is not None:
        documents = read_texts(files, text)
    _refuse_names(documents)
    rows: Optional[Any] = None  # that are compared, in the order of their preference; None: all
    of_texts = callable(documents) or isinstance(documents, Iterator) or _is_text(documents)
    preferred = _check_representative(representative, dates, of_texts)
    if resemble is not None and not of_texts:
        raise invalid_argument("resemble compares texts: give texts, not fingerprints")
    if resemble is not None and not 0.0001 <= resemble <= 1:
        raise invalid_argument(f"resemblance = {resemble}: give one from 0.0001 to 1")
    if resemble is not None and k is None:
        if fingerprinter is not None or min_features != 1:
            name = "min_features" if fingerprinter is None else "fingerprinter"
            raise invalid_argument(f"{name} needs k: with resemble alone, texts are compared without fingerprints")
        options = (memory, threads, tmpdir, callback(progress))
        return _keep(documents, resemble, representative, dates, options)
    place = None if tmpdir is None else os.fsdecode(tmpdir)
    with tempfile.TemporaryDirectory(prefix="libidx-", dir=place) as folder:
        if of_texts:
            from ._fingerprints import Fingerprinter as Default

            fingerprinter = fingerprinter or Default(bits=bits)
            bits = fingerprinter.bits
            corpus = _Corpus(documents, folder)
            prints, features, lengths, nulls = corpus.fingerprint(fingerprinter, threads, representative == "longest")
            compared = (features >= min_features) & (nulls == 0)
            rows = numpy.flatnonzero(compared).astype(numpy.uint64)
            if preferred:
                order = _prefer(lengths, representative, dates, len(prints))
                rows = order[compared[order]]
            count = len(prints)
            numbers: Any = prints[rows]
        else:
            numbers = documents
            count = len(_core.shard(documents, 1))
        by = "first" if preferred else representative
        common: dict[str, Any] = {"threads": threads, "memory": memory, "progress": callback(progress)}
        found = _find(numbers, 3 if k is None else k, bits, by, method, folder, common)
        assert found.numbers is not None
        places = found.numbers.astype(numpy.int64)
        if rows is not None:
            places = rows[places].astype(numpy.int64)
        if resemble is None:
            members, leaders, resemblances = numpy.arange(len(found)), _lead(found), None
            distances: Any = found.distances
        else:

            def write(wanted: Any, path: str) -> Any:
                return corpus.write_sets(wanted, prints, fingerprinter, threads, path)

            def lead(wanted: Any, groups: Any) -> tuple[Any, Any]:
                return _lead_sets(wanted, groups, resemble, memory, os.path.join(folder, "sets"), write)

            members, leaders, resemblances = _confirm(found, places, preferred, lead)
            distances = _count_bits(found.fingerprints[members] ^ found.fingerprints[leaders])
    return _gather(count, places, members, leaders, distances, resemblances)


def _gather(count: int, places: Any, members: Any, leaders: Any, distances: Any, resemblances: Any) -> Deduplicated:
    """Of members of clusters, where they and who represents them are, columns of all documents."""
    import numpy

    keep = numpy.ones(count, numpy.bool_)
    cluster = numpy.full(count, -1, numpy.int64)
    chosen = numpy.arange(count, dtype=numpy.int64)
    distance = numpy.zeros(count, numpy.uint8)
    alike = None if resemblances is None else numpy.ones(count)
    is_leader = leaders == members
    number = numpy.empty(len(members), numpy.int64)  # of the cluster that a member leads
    number[members[is_leader]] = numpy.arange(int(is_leader.sum()))
    keep[places[members]] = is_leader
    cluster[places[members]] = number[leaders]
    chosen[places[members]] = places[leaders]
    distance[places[members]] = distances
    if alike is not None:
        alike[places[members]] = resemblances
    left = cluster < 0
    cluster[left] = numpy.arange(int(is_leader.sum()), int(is_leader.sum()) + int(left.sum()))
    return Deduplicated(keep, cluster, chosen, distance, alike)
