"""An open index: all but look-ups, which are in _core."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, Optional, Union, overload

from . import _core
from ._core import Clusters, Documents, Matches, Pairs
from ._errors import BY_STATUS, Error
from ._progress import Progress, callback
from ._resembling import Bounds, look_up

if TYPE_CHECKING:
    from ._core import Resembling
    from ._resembling import Documents as DocumentTexts
    from ._types import BoolArray, Ids, Int64Array, Numbers, Path, Texts, UInt64Array

Residence = Literal["directory", "none", "all", "disk", "unpacked"]
METHODS = ("components", "star")
REPRESENTATIVES = ("first", "most-documents", "smallest-id")


class Info(NamedTuple):
    """The properties of an index. Sizes are in bytes. Counts of segments include removed documents."""

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


class Index(_core.Index):
    """An open index: an immutable view of it, until refresh moves on to a newer one.

    Any number of threads may use it at the same time. It is a context manager, works after a fork, and pickles as its
    path and options. After close, its methods raise InvalidArgumentError.

    path: a folder. residence: "directory" (directories loaded, blocks mapped), "none" (all mapped: opens at once),
    "all" (all loaded: the fastest of those that read blocks), "disk" (for an index larger than memory), "unpacked"
    (plain tables made on opening, for many queries: `plan_unpacked` says what they take, and the man page idx-lookup(1)
    how much faster they are, and where they are not). check_pages: check each page before its first use. k: with
    "unpacked", the largest distance of lookup, exists, count and batch by "probe", 0 to 16; the plain tables are made
    for it. The default, and the least, is the k of the index.
    Raises NotFoundError, NotAnIndexError, NewVersionError, DamagedError, NoAccessError, UnsupportedError,
    OutOfMemoryError, InvalidArgumentError (k above 16, or with another residence).
    """

    __slots__ = ()

    def __enter__(self) -> Index:
        return self

    def __exit__(self, *unused: object) -> None:
        self.close()

    def __reduce__(self) -> tuple[Any, ...]:
        return _reopen, (type(self), os.path.abspath(self.path), *self._options)

    def __repr__(self) -> str:
        if self.closed:
            return f"<libidx.Index {os.fspath(self.path)!r}, closed>"
        info = self.info()
        what = f"{info.fingerprints} fingerprints of {info.bits} bits, k = {info.k}"
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
        if not hasattr(fingerprints, "__len__") and hasattr(fingerprints, "__index__"):
            found = self._documents((fingerprints,), *bounds, threads, callback(progress))
            return found.tolist(bytes)[0] if errors == "bytes" else found.tolist(errors=errors)[0]
        return self._documents(fingerprints, *bounds, threads, callback(progress))

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

    def lookup_texts(
        self,
        texts: Texts,
        resemble: float,
        *,
        documents: Optional[DocumentTexts] = None,
        limit: Optional[int] = None,
        agree: int = 1,
        max_candidates: Optional[int] = None,
        threads: int = 1,
    ) -> Resembling:
        """The documents that resemble each of n texts by `resemble` (0 to 1) or more, in an index of sketches.

        Such an index has the M smallest shingles of each document (the recipe minhash:M; see Fingerprinter). Those that
        share one with a text are candidates; a document that resembles it by exactly J has none of them with a
        probability of at most (1 - J)^M. `documents` decides which of them resemble the text, exactly: KeptSets, the
        path of such a file, which is opened for this call alone, or a mapping or a callable from an ID to the
        document's text, to its shingles, or to None if it is not known. Without it, and with M = 64 and by_id, the
        resemblances are estimates with standard errors, 0.05 for 0.8.
        `limit` lists the documents that resemble each text most. `agree`: candidates share so many values, which is
        faster, and misses more. `max_candidates`: so many documents of each value are looked at. What was not decided,
        or may be missed, is warned of. Raises InvalidArgumentError (an index of another recipe), what `documents`
        raises, and the errors of lookup.

        >>> sketches = libidx.Fingerprinter(resemble=0.5)
        >>> texts = {"x": "to be or not to be that is the question", "y": "all the world is a stage"}
        >>> fingerprints, rows = sketches.several(list(texts.values()))
        >>> libidx.build("texts.idx", fingerprints, [list(texts)[i] for i in rows], recipe=sketches.recipe).documents
        8
        >>> with libidx.open("texts.idx") as opened:
        ...     found = opened.lookup_texts(["To be, or not to be: that is a question"], 0.5, documents=texts)
        >>> found.tolist(), found.resemblances
        ([['x']], array([0.5]))
        """
        bounds = Bounds(threads, agree, limit, max_candidates)
        return look_up(self, self.info().recipe, texts, resemble, documents, bounds)

    def exists_texts(
        self,
        texts: Texts,
        resemble: float,
        *,
        documents: Optional[DocumentTexts] = None,
        agree: int = 1,
        max_candidates: Optional[int] = None,
        threads: int = 1,
    ) -> BoolArray:
        """Whether any document resembles each of n texts: bool[n]. Arguments and errors are those of lookup_texts.

        >>> sketches = libidx.Fingerprinter(resemble=0.5)
        >>> libidx.build("texts.idx", sketches.several(["one two"])[0], [1], recipe=sketches.recipe).documents
        1
        >>> libidx.open("texts.idx").exists_texts(["One two.", "two"], 0.5, documents={1: "one two"})
        array([ True, False])
        """
        bounds = Bounds(threads, agree, 1, max_candidates)
        offsets = look_up(self, self.info().recipe, texts, resemble, documents, bounds).offsets
        return offsets[1:] > offsets[:-1]

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
        return self._batch(queries, k, method, threads, memory, tmpdir, callback(progress))

    def pairs(self, k: Optional[int] = None, *, threads: int = 1, memory: int = 0, progress: Progress = None) -> Pairs:
        """Every pair of fingerprints of the index within k bits, each once, a below b, in no particular order.

        k may be any from 0 to 16.

        >>> pairs = index.pairs()
        >>> pairs.a, pairs.b, pairs.distances
        (array([6], dtype=uint64), array([7], dtype=uint64), array([1], dtype=uint8))
        """
        return self._pairs(k, threads, memory, callback(progress))

    def join(
        self,
        other: Index,
        k: Optional[int] = None,
        *,
        threads: int = 1,
        memory: int = 0,
        progress: Progress = None,
    ) -> Pairs:
        """Every pair of a fingerprint of this index and one of another within k bits, equal ones included.

        Both must have the same bits and recipe; else InvalidArgumentError is raised. k may be any from 0 to 16.

        >>> len(index.join(index, k=0))
        3
        """
        return self._join(other, k, threads, memory, callback(progress))

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
    ) -> Clusters:
        """The clusters of near-duplicates among the documents. `alone` adds a cluster for each other document.

        "components" puts all documents that chains of pairs connect into one cluster; in a "star", no document is
        farther than k bits from its representative. k may be any from 0 to 16.

        >>> clusters = index.clusters()
        >>> clusters.tolist(), clusters.clusters
        (['a', 'b'], array([0, 0]))
        """
        by = choose("method", method, METHODS), choose("representative", representative, REPRESENTATIVES)
        return self._clusters(k, *by, alone, threads, memory, tmpdir, callback(progress))

    def part(self, part: int, parts: int) -> UInt64Array:
        """The fingerprints of part `part`, from 0, of `parts`. All parts together have each fingerprint once.

        >>> index.part(0, 1)
        array([                   6,                    7, 18446744073709551615],
              dtype=uint64)
        """
        return self._part(part, parts)


def _reopen(
    kind: type[Index], path: Path, residence: str, check_pages: bool, k: Optional[int] = None
) -> _core.Index:
    """What pickles call."""
    return kind(path, residence=residence, check_pages=check_pages, k=k)


def open(
    path: Path, *, residence: Residence = "directory", check_pages: bool = True, k: Optional[int] = None
) -> Index:
    """Open the index at a path: see Index.

    >>> with libidx.open("crawl.idx") as opened:
    ...     opened.exists(7)
    True
    """
    return Index(path, residence=residence, check_pages=check_pages, k=k)
