"""An open index: all but look-ups, which are in _core."""

from __future__ import annotations

import functools
import os
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, Optional, Self, Union, overload

from . import _core
from ._errors import BY_STATUS, Error, invalid_argument
from ._progress import Progress
from ._resembling import Bounds, Deduplicated, TextPairs, cluster_texts, join_texts, look_up, pair_texts, sketch_of

if TYPE_CHECKING:
    from ._results import Clusters, Documents, Matches, Pairs
    from ._types import Ids, Int64Array, Numbers, Path, UInt64Array

Residence = Literal["directory", "none", "all", "disk", "unpacked"]
METHODS = ("components", "star")
REPRESENTATIVES = ("first", "most-documents", "smallest-id")


class Info(NamedTuple):
    """The properties of an index. Sizes are in bytes. Counts of segments include removed documents.

    In an index of texts, sketch is the most fingerprints of a text, resemble the resemblance that it was built for, and
    members the number of shingles of all texts; texts counts each text once, and documents once for each of its
    fingerprints. In other indexes sketch, resemble, members and texts are 0.
    """

    format_version: int
    uuid: str
    bits: int
    k: int
    id_type: str
    recipe: str
    scheme: str
    tables: int
    segments: int
    fingerprints: int
    documents: int
    table_bytes: int
    documents_bytes: int
    resident_bytes: int
    by_id: bool
    by_id_bytes: int
    removals: int
    pending_documents: int
    pending_removals: int
    sketch: int
    resemble: float
    texts: int
    members: int
    sets_bytes: int


class FileCheck(NamedTuple):
    """The check of one file of an index: an exception class and a sentence if it is damaged, else None for both."""

    file: str
    error: Optional[type[Error]]
    sentence: Optional[str]


class Found(NamedTuple):
    """Fingerprints of many IDs: those of ID i are fingerprints[offsets[i]:offsets[i + 1]], ascending."""

    offsets: Int64Array
    fingerprints: UInt64Array


def choose(name: str, value: str, values: tuple[str, ...]) -> int:
    """The position of a value among the allowed ones."""
    if value not in values:
        raise ValueError(f"{name}: {value!r}, which is none of {', '.join(map(repr, values))}")
    return values.index(value)


class Closing:
    """A context manager that closes itself."""

    __slots__ = ()

    def __enter__(self) -> Self:
        return self

    def __exit__(self: Any, kind: object, *unused: object) -> None:
        self.close()


class Index(_core.Index, Closing):
    """An open index: an immutable view of it, until refresh moves on to a newer one.

    Any number of threads may use it at the same time. It is a context manager, works after a fork, and pickles as its
    path and options. After close, its methods raise InvalidArgumentError.

    path: a folder. residence: "directory" (directories loaded, blocks mapped), "none" (all mapped: opens at once),
    "all" (all loaded: the fastest for look-ups in blocks), "disk" (for an index larger than memory), "unpacked" (plain
    tables made on opening, for many queries: `plan_unpacked` says what they take, and the man page idx-lookup(1) how
    much faster they are, and where they are not). check_pages: check each page before its first use. k: with
    "unpacked", the largest distance of lookup, exists, count and batch by "probe", 0 to 16; the plain tables are made
    for it. The default, and the least, is the k of the index.
    Raises NotFoundError, NotAnIndexError, NewVersionError, DamagedError, NoAccessError, UnsupportedError,
    OutOfMemoryError, InvalidArgumentError (k above 16, or with another residence).
    """

    __slots__ = ()

    def __reduce__(self) -> tuple[Any, ...]:
        residence, check_pages, k = self._options
        reopen = functools.partial(type(self), residence=residence, check_pages=check_pages, k=k)
        return reopen, (os.path.abspath(self.path),)

    def __repr__(self) -> str:
        if self.closed:
            return f"<libidx.Index {os.fspath(self.path)!r}, closed>"
        info = self.info()
        what = f"{info.fingerprints} fingerprints of {info.bits} bits, k = {info.k}"
        if info.sketch > 0:
            what = f"{info.texts} texts, {info.recipe}"
        return f"<libidx.Index {os.fspath(self.path)!r}: {what}>"

    def info(self) -> Info:
        """The properties of the index.

        >>> index.info().k
        3
        """
        return Info(**self._info())

    def verify(self) -> list[FileCheck]:
        """Check every checksum, order, count and rule of the files at the path; one entry for each file.

        Raises the errors of opening if the index can't be opened at all.

        >>> all(file.error is None for file in index.verify())
        True
        """
        files = _core.verify(self.path)
        return [FileCheck(file, BY_STATUS.get(status), sentence) for file, status, sentence in files]

    @overload
    def documents(self, fingerprints: int, *, limit: Optional[int] = None, errors: str = "strict") -> list[Any]: ...
    @overload
    def documents(
        self,
        fingerprints: Numbers,
        *,
        limit: Optional[int] = None,
        max_bytes: Optional[int] = None,
        threads: int = 1,
        progress: Progress = None,
    ) -> Documents: ...
    def documents(
        self,
        fingerprints: Union[int, Numbers],
        *,
        limit: Optional[int] = None,
        errors: str = "strict",
        max_bytes: Optional[int] = None,
        threads: int = 1,
        progress: Progress = None,
    ) -> Union[list[Any], Documents]:
        """The documents of fingerprints: a list of IDs for an int, Documents for an array of n uint64.

        IDs are str, or int if the index has integer IDs. `errors` says how to treat text IDs that are not UTF-8:
        "surrogateescape" keeps them, "bytes" returns all IDs as bytes. `limit` lists only the first so many of each
        fingerprint. If all lists together exceed `max_bytes`, LimitError is raised. A fingerprint that is not in the
        index has no documents.

        >>> index.documents(7)
        ['b']
        >>> found = index.documents(numpy.array([7, 8, 6], numpy.uint64))
        >>> found.offsets
        array([0, 1, 1, 2])
        >>> found.tolist()
        [['b'], [], ['a']]
        """
        bounds = (-1 if limit is None else limit, -1 if max_bytes is None else max_bytes)
        is_one = not hasattr(fingerprints, "__len__") and hasattr(fingerprints, "__index__")
        return self._documents(fingerprints, *bounds, (threads, 0, None, progress), *([errors] if is_one else []))

    @overload
    def find(self, ids: Union[int, str, bytes]) -> UInt64Array: ...
    @overload
    def find(self, ids: Ids) -> Found: ...
    def find(self, ids: Union[int, str, bytes, Ids]) -> Union[UInt64Array, Found]:
        """The fingerprints of IDs, in an index built with by_id: uint64[m] for one ID, Found for many.

        >>> index.find("b")
        array([7], dtype=uint64)
        >>> index.find(["c", "none"]).offsets
        array([0, 1, 1])
        """
        if isinstance(ids, (str, bytes, int)):
            return self._find([ids])[1]
        return Found(*self._find(ids))

    def _ask(
        self,
        what: str,
        queries: Any,
        k: Optional[int] = None,
        *,
        limit: Optional[int] = None,
        threads: int = 1,
        resemble: Optional[float] = None,
        max_candidates: Optional[int] = None,
    ) -> Any:
        """The answers of the methods lookup, exists and count in an index of texts."""
        if what != "lookup" and limit is not None:
            raise TypeError("there is no argument 'limit' here")
        most = 1 if what == "exists" else limit
        found, is_one = look_up(self, queries, k, resemble, Bounds(threads, most, max_candidates))
        if what == "lookup" and is_one:
            return list(zip(found.tolist(errors="surrogateescape")[0], found.resemblances.tolist(), strict=True))
        if what == "lookup":
            return found
        counts: Any = found.offsets[1:] - found.offsets[:-1]
        if what == "exists":
            counts = counts > 0
        return counts.tolist()[0] if is_one else counts

    def batch(
        self,
        queries: Numbers,
        k: Optional[int] = None,
        *,
        method: Literal["auto", "probe", "sweep", "stream"] = "auto",
        threads: int = 1,
        memory: int = 0,
        tmpdir: Optional[Path] = None,
        progress: Progress = None,
    ) -> Matches:
        """The matches of very many queries, by the fastest method: faster than lookup for millions of queries.

        k may be any from 0 to 16; beyond what lookup takes, fingerprints stream past the queries.
        `memory` is in bytes; 0 means half of the free memory. Matches that do not fit go through files in `tmpdir`.

        >>> index.batch(fingerprints, k=1).offsets
        array([0, 2, 4, 5])
        """
        return self._batch(queries, k, method, (threads, memory, tmpdir, progress))

    @overload
    def pairs(
        self, k: Optional[int] = None, *, threads: int = 1, memory: int = 0, progress: Progress = None
    ) -> Pairs: ...
    @overload
    def pairs(
        self,
        *,
        resemble: float,
        threads: int = 1,
        memory: int = 0,
        tmpdir: Optional[Path] = None,
        progress: Progress = None,
    ) -> TextPairs: ...
    def pairs(
        self,
        k: Optional[int] = None,
        *,
        resemble: Optional[float] = None,
        threads: int = 1,
        memory: int = 0,
        tmpdir: Optional[Path] = None,
        progress: Progress = None,
    ) -> Union[Pairs, TextPairs]:
        """Every pair of fingerprints of the index within k bits, each once, a below b, in no particular order.

        k may be any from 0 to 16.

        In an index of texts: every pair of texts that resemble each other by `resemble` or more, exactly, as text_pairs
        finds them. a and b are rows of `ids`. The default is the resemblance that the index was built for.

        >>> pairs = index.pairs()
        >>> pairs.a, pairs.b, pairs.distances
        (array([6], dtype=uint64), array([7], dtype=uint64), array([1], dtype=uint8))
        """
        sketch = sketch_of(self, resemble, k)
        if sketch is not None:
            return pair_texts(self, sketch, resemble, (threads, memory, tmpdir, progress))
        return self._pairs(None, k, (threads, memory, None, progress))

    @overload
    def join(
        self,
        other: Index,
        k: Optional[int] = None,
        *,
        threads: int = 1,
        memory: int = 0,
        progress: Progress = None,
    ) -> Pairs: ...
    @overload
    def join(
        self,
        other: Index,
        *,
        resemble: float,
        threads: int = 1,
        memory: int = 0,
        tmpdir: Optional[Path] = None,
        progress: Progress = None,
    ) -> TextPairs: ...
    def join(
        self,
        other: Index,
        k: Optional[int] = None,
        *,
        resemble: Optional[float] = None,
        threads: int = 1,
        memory: int = 0,
        tmpdir: Optional[Path] = None,
        progress: Progress = None,
    ) -> Union[Pairs, TextPairs]:
        """Every pair of a fingerprint of this index and one of another within k bits, equal ones included.

        Both must have the same bits and recipe; else InvalidArgumentError is raised. k may be any from 0 to 16.

        For two indexes of texts, with the same shingles: every pair of a text of this index and one of the other that
        resemble each other by `resemble` or more, exactly, by a and then by b. a are rows of `ids`, and b of
        `other_ids`. The default is the resemblance that this index was built for.

        >>> len(index.join(index, k=0))
        3
        """
        sketch, others = sketch_of(self, resemble, k), sketch_of(other, resemble, k)
        if sketch is not None and others is not None:
            return join_texts((self, other), (sketch, others), resemble, (threads, memory, tmpdir, progress))
        if sketch is not None or others is not None:
            raise invalid_argument("one of the indexes is of texts, and the other one of fingerprints: build both of texts")
        return self._pairs(other, k, (threads, memory, None, progress))

    @overload
    def clusters(
        self,
        k: Optional[int] = None,
        *,
        method: Literal["components", "star"] = "components",
        representative: Literal["first", "most-documents", "smallest-id"] = "first",
        alone: bool = False,
        threads: int = 1,
        memory: int = 0,
        tmpdir: Optional[Path] = None,
        progress: Progress = None,
    ) -> Clusters: ...
    @overload
    def clusters(
        self,
        *,
        resemble: float,
        representative: Literal["first", "most-documents"] = "first",
        threads: int = 1,
        memory: int = 0,
        tmpdir: Optional[Path] = None,
        progress: Progress = None,
    ) -> Deduplicated: ...
    def clusters(
        self,
        k: Optional[int] = None,
        *,
        method: Literal["components", "star"] = "components",
        representative: Literal["first", "most-documents", "smallest-id"] = "first",
        alone: bool = False,
        resemble: Optional[float] = None,
        threads: int = 1,
        memory: int = 0,
        tmpdir: Optional[Path] = None,
        progress: Progress = None,
    ) -> Union[Clusters, Deduplicated]:
        """The clusters of near-duplicates among the documents. `alone` adds a cluster for each other document.

        "components" puts all documents that chains of pairs connect into one cluster; in a "star", no document is
        farther than k bits from its representative. k may be any from 0 to 16.

        In an index of texts: all of its texts, in the order of `ids`, with what dedup says of them, exactly, for
        `resemble`; representative is then "first" or "most-documents". The default is the resemblance that the index
        was built for.

        >>> clusters = index.clusters()
        >>> clusters.tolist(), clusters.clusters
        (['a', 'b'], array([0, 0]))
        """
        by = choose("method", method, METHODS), choose("representative", representative, REPRESENTATIVES)
        sketch = sketch_of(self, resemble, k)
        if sketch is not None:
            if method != "components" or representative == "smallest-id":
                raise invalid_argument("an index of texts has clusters as dedup makes them: omit method and 'smallest-id'")
            copies = representative == "most-documents"
            return cluster_texts(self, sketch, resemble, copies, (threads, memory, tmpdir, progress))
        return self._clusters(k, *by, alone, (threads, memory, tmpdir, progress))

    def part(self, part: int, parts: int) -> UInt64Array:
        """The fingerprints of part `part`, from 0, of `parts`. All parts together have each fingerprint once.

        >>> index.part(0, 1)
        array([                   6,                    7, 18446744073709551615],
              dtype=uint64)
        """
        return self._part(part, parts)


def open(
    path: Path, *, residence: Residence = "directory", check_pages: bool = True, k: Optional[int] = None
) -> Index:
    """Open the index at a path: see Index.

    >>> with libidx.open("crawl.idx") as opened:
    ...     opened.exists(7)
    True
    """
    return Index(path, residence=residence, check_pages=check_pages, k=k)
