"""What calls return: read-only columns, which NumPy views without a copy, and which Arrow can take."""

from __future__ import annotations

import codecs
from typing import TYPE_CHECKING, Any, ClassVar, Optional, overload

from . import _core

if TYPE_CHECKING:
    from ._types import BoolArray, Float64Array, Int64Array, UInt8Array, UInt64Array


def _format_count(number: int, one: str, many: str) -> str:
    """A number and the noun for it: "1 match", "2 matches"."""
    return f"{number} {one if number == 1 else many}"


def _are_utf8(offsets: Any, text: Any) -> bool:
    """Whether all IDs are UTF-8, each by itself, as Arrow's strings must be."""
    if (text[offsets[offsets < len(text)]] & 0xC0 == 0x80).any():  # an ID begins within a character
        return False
    decoder, size = codecs.getincrementaldecoder("utf-8")(), 1 << 20
    try:
        for begin in range(0, len(text) + 1, size):
            decoder.decode(bytes(text[begin : begin + size]), begin + size > len(text))
    except UnicodeDecodeError:
        return False
    return True


class _Rows:
    """Columns, as calls of the library make them."""

    __slots__: Any = ("_held",)
    _words: ClassVar[tuple[str, str]] = ("document", "documents")

    def __init__(self, columns: tuple[Any, ...]) -> None:
        self._held = columns

    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any:
            """Makes an array of a column when it is asked for the first time."""
            import numpy

            for slot, column in zip(type(self).__slots__, self._held, strict=True):
                if slot == name:
                    setattr(self, name, None if column is None else numpy.asarray(column))
                    return getattr(self, name)
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")

    def __len__(self) -> int:
        return len(getattr(self, next(iter(self.__slots__))))

    def _rows(self) -> int:
        """How many rows there are in all."""
        return len(self)

    def _wholes(self) -> str:
        return ""

    def _columns(self) -> list[tuple[Any, ...]]:
        """The name, Arrow's format, and the buffers of each column of rows, but for IDs."""
        raise NotImplementedError

    def __repr__(self) -> str:
        return f"<libidx.{type(self).__name__}: {_format_count(self._rows(), *self._words)}{self._wholes()}>"

    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any:
        """All rows, for whatever reads Arrow: a capsule of a stream."""
        return _core.arrow_stream(self._rows(), tuple(self._columns()))


class _ByQuery(_Rows):
    """The rows of many queries: those of query i are the ones from offsets[i] on, before offsets[i + 1]."""

    __slots__ = ()
    _queries: ClassVar[tuple[str, str]]
    offsets: Int64Array

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def _rows(self) -> int:
        """How many rows there are in all."""
        return int(self.offsets[-1])

    def _wholes(self) -> str:
        return f" of {_format_count(len(self), *self._queries)}"

    def _columns(self) -> list[tuple[Any, ...]]:
        return [("query", "l", _core.rows(self.offsets))]


class _WithIds(_Rows):
    """Rows with IDs, which are numbers, or texts, or none."""
    __slots__ = ()
    numbers: Optional[UInt64Array]
    id_offsets: Optional[Int64Array]
    id_bytes: Optional[UInt8Array]

    def _ids(self) -> list[tuple[Any, ...]]:
        """The column of IDs, if there are any, in the form in which _columns has others."""
        if self.numbers is not None:
            return [("id", "L", self.numbers)]
        if self.id_offsets is None:
            return []
        return [("id", "U" if _are_utf8(self.id_offsets, self.id_bytes) else "Z", self.id_offsets, self.id_bytes)]

    def _list_ids(self, type: Any, errors: str) -> list[Any]:
        """The IDs of all rows, as tolist has them."""
        if type not in (str, bytes):
            raise TypeError(f"type: expected str or bytes, not {type!r}")
        numbers, offsets, text = self._held[-3:]
        if numbers is not None:
            return memoryview(numbers).tolist()
        return [None] * self._rows() if offsets is None else _core.texts(offsets, text, "bytes" if type is bytes else errors)


class _IdsByQuery(_WithIds, _ByQuery):
    """The rows of many queries, with IDs."""
    __slots__ = ()

    @overload
    def tolist(self, type: type[bytes], *, errors: str = "strict") -> list[list[bytes]]: ...
    @overload
    def tolist(self, type: type[str] = str, *, errors: str = "strict") -> list[list[Any]]: ...
    def tolist(self, type: Any = str, *, errors: str = "strict") -> list[list[Any]]:
        """The IDs of each query, a list for each: of int, or of str or bytes as `type` says. `errors` is what becomes of
        bytes that are no UTF-8: 'surrogateescape' keeps them."""
        return _core.lists(self._list_ids(type, errors), self._held[0])


OF_IDS = {
    "numbers": "uint64[m]: IDs that are integers; else None.",
    "id_offsets": "int64[m + 1]: ID j is id_bytes[id_offsets[j]:id_offsets[j + 1]]; None where IDs are no text.",
    "id_bytes": "uint8[...]: the bytes of all IDs; None where IDs are no text.",
}


class Matches(_ByQuery):
    """The matches of many queries, as columns. Arrow's rows are query, fingerprint, distance.

    len() is the number of queries.
    """

    __slots__ = {
        "offsets": "int64[n + 1]: the matches of query i are those from offsets[i] on, before offsets[i + 1].",
        "fingerprints": "uint64[m]: of each query by distance, then by value.",
        "distances": "uint8[m]: Hamming distance to the query, in bits.",
    }
    fingerprints: UInt64Array
    distances: UInt8Array
    _words, _queries = ("match", "matches"), ("query", "queries")

    def _columns(self) -> list[tuple[Any, ...]]:
        return [*super()._columns(), ("fingerprint", "L", self.fingerprints), ("distance", "C", self.distances)]


class Documents(_IdsByQuery):
    """The documents of many fingerprints, as columns. Arrow's rows are query, id.

    len() is the number of fingerprints.
    """

    __slots__ = {
        "offsets": "int64[n + 1]: the documents of fingerprint i are those from offsets[i] on, before offsets[i + 1].",
        "counts": "int64[n]: how many documents each has, of which `limit` may be listed.",
        **OF_IDS,
    }
    counts: Int64Array
    _queries = ("fingerprint", "fingerprints")

    def _columns(self) -> list[tuple[Any, ...]]:
        return [*super()._columns(), *self._ids()]


class Pairs(_Rows):
    """Pairs of fingerprints, as columns. Arrow's rows are a, b, distance.

    len() is their number.
    """

    __slots__ = {
        "a": "uint64[m]: the one fingerprint.",
        "b": "uint64[m]: the other one; of pairs of one index the greater one.",
        "distances": "uint8[m]: in bits.",
    }
    a: UInt64Array
    b: UInt64Array
    distances: UInt8Array
    _words = ("pair", "pairs")

    def _columns(self) -> list[tuple[Any, ...]]:
        return [("a", "L", self.a), ("b", "L", self.b), ("distance", "C", self.distances)]


class Clusters(_WithIds):
    """The documents of clusters, as columns. Arrow's rows are cluster, fingerprint, distance, is_representative, id.

    len() is the number of documents.
    """

    __slots__ = {
        "clusters": "int64[m]: the cluster of each document, from 0, without gaps, ascending.",
        "fingerprints": "uint64[m]: of each document.",
        "distances": "uint8[m]: to the fingerprint of the cluster's representative, in bits.",
        "is_representative": "bool[m]: one of each cluster is.",
        **OF_IDS,
    }
    clusters: Int64Array
    fingerprints: UInt64Array
    distances: UInt8Array
    is_representative: BoolArray

    def _wholes(self) -> str:
        return f" in {_format_count(int(self.clusters[-1]) + 1 if len(self) else 0, 'cluster', 'clusters')}"

    def _columns(self) -> list[tuple[Any, ...]]:
        import numpy

        bits = numpy.packbits(self.is_representative, bitorder="little")
        numbers = [("cluster", "l", self.clusters), ("fingerprint", "L", self.fingerprints)]
        return [*numbers, ("distance", "C", self.distances), ("is_representative", "b", bits), *self._ids()]

    @overload
    def tolist(self, type: type[bytes], *, errors: str = "strict") -> list[bytes]: ...
    @overload
    def tolist(self, type: type[str] = str, *, errors: str = "strict") -> list[Any]: ...
    def tolist(self, type: Any = str, *, errors: str = "strict") -> list[Any]:
        """The ID of each document: int, or str or bytes as `type` says; None where the index keeps none. `errors` is what
        becomes of bytes that are no UTF-8: 'surrogateescape' keeps them."""
        return self._list_ids(type, errors)


class Resembling(_IdsByQuery):
    """The documents that resemble each of many texts, as columns. Arrow's rows are query, id, resemblance.

    len() is the number of texts.
    """

    __slots__ = {
        "offsets": "int64[n + 1]: the documents of text i are those from offsets[i] on, before offsets[i + 1].",
        "resemblances": "float64[m]: how much each resembles its text; of each text the greatest first, of equals by ID.",
        **OF_IDS,
    }
    resemblances: Float64Array
    _queries = ("text", "texts")

    def _columns(self) -> list[tuple[Any, ...]]:
        return [*super()._columns(), *self._ids(), ("resemblance", "g", self.resemblances)]
