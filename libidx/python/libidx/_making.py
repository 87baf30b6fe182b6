"""Building, merging, compacting, writing and streams."""

from __future__ import annotations

import atexit
import contextlib
import os
import tempfile
import weakref
from typing import TYPE_CHECKING, Any, Iterator, Mapping, NamedTuple, Optional, Self, Union, overload

from . import _core
from ._batches import ID_TYPES, kind_of, split_nulls, take_texts
from ._errors import InvalidArgumentError, invalid_argument
from ._index import Closing, Residence, choose
from ._progress import Progress
from ._resemblance import check_resemblance
from ._resembling import Bounds, Sketch, add_unlike, choose_sketch, cut, read_sketch, to_parts

if TYPE_CHECKING:
    from ._batches import Documents, IdType
    from ._results import Matches, Resembling
    from ._resemblance import Shingle
    from ._types import BoolArray, Ids, Int64Array, Numbers, Path, Texts


class BuildSummary(NamedTuple):
    """The result of a build or a merge. Without IDs, documents are the fingerprints added. Sizes are in bytes.

    In an index of texts, texts counts each text once, and documents once for each of its fingerprints.
    """

    documents: int
    fingerprints: int
    table_bytes: int
    documents_bytes: int
    scheme: str
    tables: int
    temporary_bytes: int
    leftovers: int
    mixed_icu: bool
    by_id_bytes: int
    texts: int
    sets_bytes: int


class CompactSummary(NamedTuple):
    """The result of a compaction. changed is False if there was nothing to do."""

    changed: bool
    segments: int
    merged: int
    records: int
    documents: int
    fingerprints: int
    removals: int
    leftovers: int


class Removal(NamedTuple):
    """How many documents were removed, and how many of those given were not in the index."""

    documents: int
    missing: int


class Plan(NamedTuple):
    """A scheme and its expected cost. Times are per query, on one thread, among many or alone; sizes are in bytes."""

    scheme: str
    tables: int
    min_prefix: int
    max_prefix: int
    probes: float
    candidates: float
    blocks: float
    nanoseconds: float
    table_bytes: float
    resident_bytes: float
    chosen: bool
    single_nanoseconds: float
    pages: float


class UnpackedPlan(NamedTuple):
    """What residence="unpacked" is expected to take: memory in all, opening on one thread, and a query among many on
    one thread."""

    bytes: float
    opening_seconds: float
    nanoseconds: float


class Mask(NamedTuple):
    """A table of a scheme: the bits that it moves to the front, and how many of them may differ in a probe."""

    mask: int
    radius: int


class Builder(_core.Builder, Closing):
    """Builds an index step by step. A context manager: leaving it publishes the index, unless an exception was raised.

    Arguments are those of build; id_type is "text", "u64" or "none". With `resemble`, add takes texts in place of
    fingerprints. One thread at a time; a forked process can't use it.

    >>> with libidx.Builder("grown.idx", id_type="u64", k=2) as builder:
    ...     builder.add(fingerprints, numpy.arange(3, dtype=numpy.uint64))
    ...     builder.add(fingerprints)  # numbered on, from 3
    >>> builder.summary.documents
    6
    """

    summary: BuildSummary
    _sketch: Optional[Sketch]
    __slots__ = ("summary", "_sketch")

    def __new__(
        cls,
        path: Path,
        *,
        id_type: IdType = "text",
        k: Optional[int] = None,
        bits: int = 64,
        scheme: str = "auto",
        block_size: int = 64,
        recipe: Optional[str] = None,
        threads: int = 1,
        memory: int = 0,
        tmpdir: Optional[Path] = None,
        max_bytes_per_fingerprint: int = 0,
        by_id: bool = False,
        resemble: Optional[float] = None,
        shingle: Optional[Shingle] = None,
        replace: bool = False,
        progress: Progress = None,
    ) -> Self:
        values = 0
        if resemble is not None:
            _refuse_of_fingerprints(k=k, bits=bits, recipe=recipe, by_id=by_id)
            values, recipe = choose_sketch(resemble, shingle)
        elif shingle is not None:
            raise invalid_argument(f"shingle = {shingle!r}: is for an index of texts: give resemble as well")
        k = default_k(recipe) if k is None else k
        _check_small(k=k, bits=bits, block_size=block_size)
        number, call = choose("id_type", id_type, ID_TYPES), (threads, memory, tmpdir, progress)
        of_texts = values, 8000 if resemble is None else to_parts(resemble)
        of_tables = bits, k, scheme, block_size, number, recipe, replace, max_bytes_per_fingerprint, by_id
        builder = super().__new__(cls, path, *of_tables, *of_texts, call)
        builder._sketch = read_sketch(recipe or "", values, resemble or 0)
        return builder

    def __exit__(self, kind: object, *unused: object) -> None:
        if kind is not None:
            self.discard()
        elif not self.closed:
            self.finish()

    def add(self, items: Union[Numbers, Texts], ids: Optional[Ids] = None) -> None:
        """Add n documents, by their fingerprints or texts. Without IDs, "u64" numbers them in order; "none" takes no IDs.

        A text without words is not in the index. Several texts may have the same ID.
        """
        if self._sketch is None:
            self._add(items, ids)
            return
        for some, names in cut(items, ids):
            self._add_texts(*self._sketch.make_sets(some), names)

    def finish(self) -> BuildSummary:
        """Sort, encode, write and publish the index. The builder can't be used afterwards."""
        self.summary = BuildSummary(*self._finish())
        return self.summary

    def discard(self) -> None:
        """End without an index. May be called again."""
        self._discard()


def default_k(recipe: Optional[str]) -> int:
    """The k of an index for which none is given: 3, or the most for the recipe if that is less."""
    return min(3, _core.recipe_max_k(recipe or ""))


def _refuse_of_fingerprints(k: Optional[int], bits: int, recipe: Optional[str], by_id: bool) -> None:
    """Refuses what an index of texts has no choice of."""
    for name, value, own in ("k", k, None), ("bits", bits, 64), ("recipe", recipe, None), ("by_id", by_id, False):
        if value != own:
            raise invalid_argument(f"{name} = {value!r}: is for fingerprints: omit it, or resemble")


def _check_small(**values: int) -> None:
    """Refuses what is no unsigned int in C; the library refuses other wrong values."""
    for name, value in values.items():
        if not 0 <= value < 2**31:
            raise ValueError(f"{name} = {value}: give a small positive number")


def build(
    path: Path,
    fingerprints: Optional[Numbers] = None,
    ids: Optional[Ids] = None,
    *,
    texts: Optional[Documents] = None,
    resemble: Optional[float] = None,
    shingle: Optional[Shingle] = None,
    text: str = "text",
    id_type: Optional[IdType] = None,
    k: Optional[int] = None,
    bits: int = 64,
    scheme: str = "auto",
    block_size: int = 64,
    recipe: Optional[str] = None,
    threads: int = 1,
    memory: int = 0,
    tmpdir: Optional[Path] = None,
    max_bytes_per_fingerprint: int = 0,
    by_id: bool = False,
    replace: bool = False,
    progress: Progress = None,
) -> BuildSummary:
    """Build the index at a path, a folder, from n fingerprints or texts and as many IDs. It is published whole or not at all.

    IDs are str, bytes or uint64. Without IDs, the ID of a document is its row; with id_type="none" there are no IDs. k
    is the largest distance in bits for look-ups: 3 if it is not given, and 0 for recipes that make hashes, which have no
    other. scheme, block_size and max_bytes_per_fingerprint are as for idx build.
    by_id keeps a map from IDs for find. memory is in bytes; 0 means half of the free memory. replace replaces an index
    at the path.

    texts: makes an index of texts, which finds those that resemble one by `resemble` (0.8) or more; 0.17 to 1. It has
    the shingles of each text, 8 bytes each, but no text. shingle and texts are as for dedup: files, iterators and
    callables are read once, in bounded memory, and take no IDs. A text without words is not in the index. Index.lookup,
    exists, count, pairs and clusters answer from it, Writer.add and check_and_add take texts, and dedup drops what
    resembles a text of it (`against`).

    tmpdir, here and elsewhere, is for temporary files; the default is the folder of the index, or for a new one the
    folder that will hold it. progress, here and elsewhere: True shows a bar on a terminal and in a notebook, by tqdm if
    that is installed, else lines on standard error; or a bar of tqdm, or a callable (phase, done, total), which ends
    the call with CancelledError when it returns False.
    Raises ExistsError, NotAnIndexError, NotFoundError, BadSchemeError, WeakSchemeError, BusyError, DiskFullError,
    NoAccessError.

    >>> libidx.build("rows.idx", fingerprints).fingerprints
    3
    >>> libidx.build("texts.idx", texts=["to be or not to be that is the question"], ids=["x"], resemble=0.5).texts
    1
    >>> libidx.open("texts.idx").lookup("To be, or not to be: that is a question")
    [('x', 0.5)]
    """
    if (fingerprints is None) == (texts is None):
        raise invalid_argument("give fingerprints or texts")
    if texts is None and (resemble is not None or shingle is not None):
        raise invalid_argument("resemble and shingle are for an index of texts: give texts in place of fingerprints")
    builder = Builder(
        path,
        id_type=id_type or kind_of(ids),
        k=k,
        bits=bits,
        scheme=scheme,
        block_size=block_size,
        recipe=recipe,
        threads=threads,
        memory=memory,
        tmpdir=tmpdir,
        max_bytes_per_fingerprint=max_bytes_per_fingerprint,
        by_id=by_id,
        resemble=None if texts is None else check_resemblance(resemble, "resemble"),
        shingle=shingle,
        replace=replace,
        progress=progress,
    )
    with builder:
        if fingerprints is not None:
            builder.add(fingerprints, ids)
        else:
            _add_documents(builder, texts, ids, text)
    return builder.summary


def _add_documents(builder: Builder, texts: Any, ids: Optional[Ids], text: str) -> None:
    """Adds texts as dedup takes them."""
    batches = take_texts(texts, text)
    if batches is None:
        raise TypeError("texts: these are numbers; give them as fingerprints")
    if ids is not None and not isinstance(batches, list):
        raise invalid_argument("ids: of texts that are read from files, by an iterator or a callable, the IDs are rows: omit ids")
    for batch, _ in map(split_nulls, batches):
        builder.add(batch, ids)


def merge(
    path: Path,
    inputs: list[Path],
    *,
    threads: int = 1,
    memory: int = 0,
    replace: bool = False,
    progress: Progress = None,
) -> BuildSummary:
    """Merge indexes with the same properties into a new one at a path, without sorting again.

    Raises InvalidArgumentError if they don't match (the sentence names the difference), and the errors of build and
    open.

    >>> libidx.merge("merged.idx", ["crawl.idx"]).documents
    3
    """
    return BuildSummary(*_core.merge(path, inputs, replace, (threads, memory, None, progress)))


def compact(
    path: Path,
    *,
    all: bool = False,
    max_segments: int = 2,
    growth: int = 24,
    threads: int = 1,
    memory: int = 0,
    tmpdir: Optional[Path] = None,
    progress: Progress = None,
) -> CompactSummary:
    """Merge pending records and the newest segments into one segment; all: everything. Readers and a writer go on.

    >>> libidx.compact("crawl.idx").changed
    False
    """
    _check_small(max_segments=max_segments, growth=growth)
    return CompactSummary(*_core.compact(path, all, max_segments, growth, (threads, memory, tmpdir, progress)))


# Their compacting threads may not call progress once Python ends.
_watched: weakref.WeakSet[Writer] = weakref.WeakSet()


@atexit.register
def _close_watched() -> None:
    """Closes the writers that are still open when Python ends."""
    for writer in list(_watched):
        with contextlib.suppress(InvalidArgumentError):  # another thread is using it
            writer.close()


class Writer(_core.Writer, Closing):
    """Adds documents to an existing index and removes documents. A call is on disk when it returns. A context manager.

    An index has one writer at a time; a second one raises BusyError. One thread at a time; a forked process can't use
    it: there, close and the end of `with` do nothing, and all else raises InvalidArgumentError. A thread compacts the
    index in the background above compact_records pending records (None: by the size of the index; 0: never) or
    compact_segments segments, and calls progress; what that raises, wait raises. A writer with progress that is open
    when Python ends is closed.

    >>> with libidx.Writer("crawl.idx") as writer:
    ...     added, matches = writer.check_and_add([1 << 41, 5], ["d", "e"], k=1)
    ...     added.tolist(), matches.offsets.tolist()
    ([True, False], [0, 0, 1])
    """

    _sketch: Optional[Sketch]
    _threads: int
    __slots__ = ("__weakref__", "_sketch", "_threads")

    def __new__(
        cls,
        path: Path,
        *,
        threads: int = 1,
        compact_records: Optional[int] = None,
        compact_segments: int = 2,
        progress: Progress = None,
    ) -> Self:
        _check_small(compact_segments=compact_segments)
        records, call = -1 if compact_records is None else compact_records, (threads, 0, None, progress)
        writer = super().__new__(cls, path, records, compact_segments, call)
        writer._sketch, writer._threads = read_sketch(*writer._about()), threads
        if progress is not None:
            _watched.add(writer)
        return writer

    def add(self, items: Union[Numbers, Texts], ids: Optional[Ids] = None) -> None:
        """Add n documents, by their fingerprints, or to an index of texts n texts; whatever the index holds.

        IDs are of its ID type. Several texts may have the same ID.
        """
        if self._sketch is None:
            self._add(items, ids)
        else:
            self._add_texts(*self._sketch.make_sets(items), ids)

    @overload
    def check_and_add(
        self, items: Numbers, ids: Optional[Ids] = None, k: Optional[int] = None, *, limit: Optional[int] = None
    ) -> tuple[BoolArray, Matches]: ...
    @overload
    def check_and_add(
        self,
        items: Union[list[str], list[bytes], tuple[str, ...], tuple[bytes, ...]],
        ids: Ids,
        *,
        resemble: Optional[float] = None,
        limit: Optional[int] = None,
        max_candidates: Optional[int] = None,
    ) -> tuple[BoolArray, Resembling]: ...
    @overload
    def check_and_add(
        self,
        items: Texts,
        ids: Ids,
        *,
        resemble: float,
        limit: Optional[int] = None,
        max_candidates: Optional[int] = None,
    ) -> tuple[BoolArray, Resembling]: ...
    def check_and_add(
        self,
        items: Any,
        ids: Any = None,
        k: Optional[int] = None,
        *,
        limit: Optional[int] = None,
        resemble: Optional[float] = None,
        max_candidates: Optional[int] = None,
    ) -> tuple[BoolArray, Union[Matches, Resembling]]:
        """Add each document that has no fingerprint within k bits, also among those that this call added before it.

        Returns added bool[n], and the matches of the documents that were not added; with `limit`, the nearest so many.

        In an index of texts: add each of n texts that resembles no text in it by `resemble` or more, exactly, nor one
        that this call added before it; and return what the others resemble. The default is the resemblance that the
        index was built for. A text without words is not added. After a kill, a text is in the index with all of its
        shingles or not at all. max_candidates is as for Index.lookup.
        """
        if self._sketch is not None:
            if k is not None:
                raise invalid_argument(f"k = {k}: this index is one of texts: give resemble")
            return add_unlike(self, self._sketch, items, ids, resemble, Bounds(self._threads, limit, max_candidates))
        if resemble is not None or max_candidates is not None:
            raise invalid_argument(
                "resemble: this index has no sets of texts; make one by libidx.build(path, texts=..., resemble=...)"
            )
        if k is not None:
            _check_small(k=k)
        return self._check_and_add(items, ids, -1 if k is None else k, -1 if limit is None else limit)

    def remove(self, fingerprints: Numbers, ids: Ids) -> Removal:
        """Remove n documents by fingerprint and ID."""
        return Removal(*self._remove(fingerprints, ids))

    def remove_fingerprints(self, fingerprints: Numbers) -> Removal:
        """Remove n fingerprints with all their documents."""
        return Removal(*self._remove_fingerprints(fingerprints))

    def remove_ids(self, ids: Ids) -> Removal:
        """Remove all documents of n IDs, in an index of texts or one built with by_id."""
        return Removal(*self._remove_ids(ids))


class Stream(_core.Stream, Closing):
    """Compares fingerprints from anywhere with queries in memory. No index is needed.

    queries: n uint64 of `bits` bits; k: 0 to 16. Matches that do not fit into `memory`, in bytes, go through files in
    `tmpdir`; the default is $TMPDIR, or /tmp. One thread at a time. A context manager.

    >>> stream = libidx.Stream(numpy.array([7], numpy.uint64), k=1)
    >>> stream.add(fingerprints).finish().fingerprints
    array([6, 7], dtype=uint64)
    """

    __slots__ = ()

    def __new__(
        cls,
        queries: Numbers,
        k: int = 3,
        *,
        bits: int = 64,
        threads: int = 1,
        memory: int = 0,
        tmpdir: Optional[Path] = None,
        progress: Progress = None,
    ) -> Self:
        _check_small(k=k, bits=bits)
        return super().__new__(cls, queries, k, bits, (threads, memory, tmpdir, progress))

    def add(self, fingerprints: Numbers) -> Stream:
        """Compare fingerprints, best about a million at a time. Returns the stream."""
        self._add(fingerprints)
        return self

    def finish(self) -> Matches:
        """The matches of each query, by fingerprint. The stream can't be used afterwards."""
        return self._finish()


_SIZES = 10
_WORK = "table", "probe", "byte", "block", "candidate", "single"
_WAITS = "loaded_waits", "loaded_latencies", "mapped_waits", "mapped_latencies"


def calibrate(tmpdir: Optional[Path] = None) -> dict[str, Any]:
    """Measure what look-ups take on this machine, in up to five seconds: the object that `idx plan --measure` prints.

    tmpdir: a folder for a few small indexes, which are removed; the default is $TMPDIR, or /tmp.

    >>> machine = libidx.calibrate()
    >>> len(libidx.plan(10**6, scheme="5:2", calibration=machine))
    1
    """
    numbers = _core.calibrate(tmpdir)
    waits = numbers[len(_WORK) :]
    found: dict[str, Any] = dict(zip(_WORK, numbers))
    found.update((name, list(waits[i * _SIZES : (i + 1) * _SIZES])) for i, name in enumerate(_WAITS))
    return found


def _flatten(calibration: Mapping[str, Any]) -> tuple[float, ...]:
    """The numbers of what calibrate returns, in the order in which _core.calibrate gives them."""
    try:
        work = [calibration[name] for name in _WORK]
        waits = [calibration[name] for name in _WAITS]
    except KeyError as error:
        raise invalid_argument(f"calibration: {error} is missing: make it with calibrate") from None
    if any(len(numbers) != _SIZES for numbers in waits):
        raise invalid_argument(f"calibration: waits are {_SIZES} numbers each: make it with calibrate")
    return (*work, *(number for numbers in waits for number in numbers))


def plan(
    count: int,
    k: int = 3,
    *,
    bits: int = 64,
    block_size: int = 64,
    max_bytes_per_fingerprint: int = 0,
    scheme: Optional[str] = None,
    residence: Residence = "directory",
    calibration: Optional[Mapping[str, Any]] = None,
) -> list[Plan]:
    """The schemes worth considering for `count` fingerprints, fewest tables first. "auto" chooses the `chosen` one.

    scheme: the cost of only this one. residence: as for open. calibration: the machine, as `calibrate` or
    `idx plan --measure` measures it; it changes the times, not the choice.

    >>> [plan.chosen for plan in libidx.plan(10**6)].count(True)
    1
    >>> [plan.tables for plan in libidx.plan(10**6, scheme="5:2")]
    [10]
    """
    _check_small(k=k, bits=bits, block_size=block_size)
    numbers = None if calibration is None else _flatten(calibration)
    rows = _core.plan(count, bits, k, block_size, max_bytes_per_fingerprint, scheme, residence, numbers)
    return [Plan(*row) for row in rows]


def plan_unpacked(count: int, k: int = 3, *, bits: int = 64) -> UnpackedPlan:
    """What an index of `count` distinct fingerprints takes if it is opened with residence="unpacked" for look-ups up to
    k: estimates for one segment, uniform fingerprints and a typical server.

    Raises InvalidArgumentError, LimitError (2^32 - 1 fingerprints or more).

    >>> round(libidx.plan_unpacked(10**6, 8).bytes / 10**6)
    33
    """
    _check_small(k=k, bits=bits)
    return UnpackedPlan(*_core.plan_unpacked(count, bits, k))


def scheme(name: str, k: int = 3, *, bits: int = 64) -> list[Mask]:
    """The tables of a scheme, such as "4:1". Every two fingerprints within k bits agree in the mask of one of them, up
    to its radius.

    Raises BadSchemeError, WeakSchemeError (it does not cover k).

    >>> [f"{mask:016x}" for mask, radius in libidx.scheme("4:1")]
    ['ffff000000000000', '0000ffff00000000', '00000000ffff0000', '000000000000ffff']
    """
    _check_small(k=k, bits=bits)
    return [Mask(*table) for table in _core.scheme(name, bits, k)]


def shard(fingerprints: Numbers, shards: int) -> Int64Array:
    """The shard, 0 to shards - 1, of each of n fingerprints, for an index that is built in parts: int64[n].

    >>> libidx.shard(fingerprints, 1)
    array([0, 0, 0])
    """
    if shards < 1:
        raise invalid_argument(f"shards = {shards}: give 1 or more")
    return _core.shard(fingerprints, shards)
