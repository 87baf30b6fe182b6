"""Old fingerprints that stream past new ones."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, Optional, Union

import numpy
import pyarrow
from pyspark.sql import DataFrame
from pyspark.sql import functions as F
from pyspark.sql.types import ByteType, DataType, LongType, StringType, StructField, StructType

from .._index import Index
from .._making import Stream
from ._columns import (
    GATHERED,
    LOG,
    MEMORY,
    ROWS,
    Batches,
    Kind,
    check_distance,
    check_fingerprints,
    check_ids,
    check_same,
    collect,
    column_of,
    concatenate,
    gather,
    invalid,
    numbers_of,
    signed,
    task_folder,
)
from ._files import Piece, Rows, cut, read

if TYPE_CHECKING:
    from pyspark import Broadcast

STREAM_BYTES = 128
"""Memory that a stream's tables need for a query."""


def match(
    new: DataFrame,
    old: Union[DataFrame, str, Sequence[str]],
    k: int = 3,
    *,
    fingerprint: str = "fingerprint",
    new_id: Optional[str] = None,
    old_id: Optional[str] = None,
    format: Optional[str] = None,
    memory: int = MEMORY,
) -> DataFrame:
    """The old fingerprints within k bits of new ones: query LONG, fingerprint LONG, distance BYTE, each pair once.

    old: a DataFrame, or paths of raw u64, npy or Parquet files, of folders of them, or of indexes, which the workers
    read themselves by the same paths: local or mounted everywhere, or URIs that pyarrow.fs knows. format ("u64", "npy",
    "parquet" or "index") is for files whose names don't say it. fingerprint: the column, in DataFrames and in Parquet.
    With new_id and old_id, columns of IDs, there are also the columns new_id and old_id, and a row for every pair of
    documents; IDs of an index are its documents', whatever old_id says.
    new is collected and sent to each worker; what is too much for a task's memory, in bytes, is compared part by part.
    """
    kind = check_fingerprints(new, fingerprint)
    if new_id is not None:
        check_ids(new, new_id)
    if isinstance(old, DataFrame):
        kind = check_same(kind, "new", check_fingerprints(old, fingerprint), "old")
        check_distance(k, kind.bits)
        id_type = None if old_id is None else check_ids(old, old_id).dataType
        columns = [fingerprint] if old_id is None else [fingerprint, old_id]
        source = old.select(*columns)
        run = partial(_match_rows, k, fingerprint, old_id, kind.bits, memory)
    else:
        paths = [old] if isinstance(old, str) else list(old)
        check_distance(k, kind.bits)
        pieces, kinds = cut(paths, format, fingerprint, k)
        for path, other in kinds.items():
            kind = check_same(kind, "new", other, path)
        id_type = None if old_id is None else _find_id_type(pieces, fingerprint, old_id)
        source = new.sparkSession.range(len(pieces), numPartitions=max(1, len(pieces)))
        run = partial(_match_pieces, k, fingerprint, old_id, kind.bits, memory, pieces)
    found = compare(new, fingerprint, source, run, id_type, memory // STREAM_BYTES)
    if id_type is None:
        found = found.distinct()
    return found if new_id is None else add_new_ids(found, new, fingerprint, new_id)


def add_new_ids(found: DataFrame, new: DataFrame, fingerprint: str, id: str) -> DataFrame:
    """Matches with the column new_id: a row for each document of `new` that has the query's fingerprint."""
    mine = new.select(F.col(fingerprint).alias("query"), F.col(id).alias("new_id"))
    old_ids = [name for name in ("old_id",) if name in found.columns]
    return found.join(mine, "query").select("query", "fingerprint", "distance", "new_id", *old_ids)


def compare(
    new: DataFrame, fingerprint: str, source: DataFrame, run: Any, id_type: Optional[DataType], most: int
) -> DataFrame:
    """What `run` finds in a source for the distinct fingerprints of `new`, `most` of them at a time."""
    queries = collect(new, fingerprint)
    parts = max(1, -(-len(queries) // max(1, most)))
    if parts > 1:
        LOG.warning(
            "%d new fingerprints are more than a task's memory holds: the old ones are read %d times; raise memory= if "
            "workers have more",
            len(queries),
            parts,
        )
    schema = StructType([StructField(name, LongType(), False) for name in ("query", "fingerprint")])
    schema.add(StructField("distance", ByteType(), False))
    if id_type is not None:
        schema.add(StructField("old_id", id_type, False))
    found: Optional[DataFrame] = None
    for part in numpy.array_split(queries, parts):
        sent = new.sparkSession.sparkContext.broadcast(part.tobytes())
        some = source.mapInArrow(partial(run, sent), schema)
        found = some if found is None else found.union(some)
    assert found is not None
    return found


def _find_id_type(pieces: list[Piece], fingerprint: str, old_id: str) -> DataType:
    """The type of the IDs of pieces. Refuses pieces without IDs, and those whose IDs have other types than others."""
    types: dict[str, DataType] = {}
    for piece in pieces:
        if piece.format in ("u64", "npy"):
            raise invalid(f"{piece.path}: files of numbers alone hold no IDs: leave old_id out")
        if piece.format == "index":
            with Index(piece.path, residence="none") as index:
                kind = index.info().id_type
            if kind == "none":
                raise invalid(f"{piece.path}: this index holds no documents: leave old_id out")
            types[piece.path] = StringType() if kind == "text" else LongType()
        elif piece.path not in types:
            types[piece.path] = _find_parquet_id_type(piece, fingerprint, old_id)
    if len(set(map(type, types.values()))) > 1:
        raise invalid("IDs are strings in some of the files, and numbers in others")
    return next(iter(types.values()), StringType())


def _find_parquet_id_type(piece: Piece, fingerprint: str, old_id: str) -> DataType:
    """The type of the IDs of a Parquet file, by its first rows; string if it has none."""
    for rows in read(piece._replace(end=min(piece.end, piece.begin + 1)), fingerprint, old_id):
        assert rows.ids is not None
        kind = rows.ids.type
        if kind in (pyarrow.int64(), pyarrow.uint64()):
            return LongType()
        if kind in (pyarrow.string(), pyarrow.large_string()):
            return StringType()
        raise invalid(f"{piece.path}: column {old_id!r} is of type {kind}: IDs are strings or 64-bit integers")
    return StringType()


# ---- In a task ----


def queries_of(sent: Broadcast[bytes]) -> Any:
    """The queries that `compare` sends to workers: uint64[n]."""
    return numpy.frombuffer(sent.value, numpy.uint64)


class Comparison:
    """Streams fingerprints past queries. With IDs it compares a chunk at a time, while it holds the chunk's IDs."""

    def __init__(self, queries: Any, k: int, bits: int, memory: int, with_ids: bool) -> None:
        self.queries = queries
        self.options: dict[str, Any] = {"k": k, "bits": bits, "memory": memory, "tmpdir": task_folder()}
        self.most = max(GATHERED, 4 * len(queries)) if with_ids else 0
        self.stream = self.open()
        self.held: list[Rows] = []
        self.size = 0

    def open(self) -> Stream:
        """A stream without fingerprints, for the queries."""
        return Stream(self.queries, **self.options)

    def add(self, rows: Rows) -> Batches:
        """Compares rows. Yields matches where a chunk is complete."""
        self.stream.add(rows.fingerprints)
        if self.most > 0:
            self.held.append(rows)
            self.size += len(rows.fingerprints)
            if self.size >= self.most:
                yield from self.finish()
                self.stream = self.open()

    def finish(self) -> Batches:
        """The matches of all rows since the last call. The stream has ended then."""
        found = self.stream.finish()
        asked = numpy.repeat(self.queries, numpy.diff(found.offsets))
        if self.most == 0:
            yield from list_matches(asked, found.fingerprints, found.distances)
        elif self.held:
            numbers = numpy.concatenate([rows.fingerprints for rows in self.held])
            ids = concatenate([rows.ids for rows in self.held])
            order = numpy.argsort(numbers, kind="stable")
            numbers = numbers[order]
            first = numpy.searchsorted(numbers, found.fingerprints, "left")
            last = numpy.searchsorted(numbers, found.fingerprints, "right")
            yield from expand(asked, found.fingerprints, found.distances, first, last - first, order, ids)
        self.held, self.size = [], 0


def list_matches(queries: Any, fingerprints: Any, distances: Any) -> Batches:
    """Rows of matches, which are given as columns of one length."""
    for i in range(0, len(queries), ROWS):
        yield _batch(queries[i : i + ROWS], fingerprints[i : i + ROWS], distances[i : i + ROWS])


def expand(
    queries: Any, fingerprints: Any, distances: Any, first: Any, counts: Any, order: Any, ids: pyarrow.Array
) -> Batches:
    """A row for each document of each match: those of match m are ids[order[first[m]:first[m] + counts[m]]]."""
    ends = numpy.cumsum(counts)
    total = int(ends[-1]) if len(ends) else 0
    for begin in range(0, total, ROWS):
        rows = numpy.arange(begin, min(begin + ROWS, total))
        of = numpy.searchsorted(ends, rows, "right")
        places = first[of] + rows - (ends[of] - counts[of])
        taken = ids.take(pyarrow.array(places if order is None else order[places]))
        yield _batch(queries[of], fingerprints[of], distances[of], taken)


def _batch(queries: Any, fingerprints: Any, distances: Any, ids: Optional[pyarrow.Array] = None) -> pyarrow.RecordBatch:
    """A batch of matches, with the column old_id where there are IDs."""
    columns = [signed(queries), signed(fingerprints), pyarrow.array(distances.view(numpy.int8))]
    names = ["query", "fingerprint", "distance"]
    if ids is not None:
        text = not pyarrow.types.is_integer(ids.type)
        columns.append(ids.cast(pyarrow.string()) if text else signed(ids.to_numpy()))
        names.append("old_id")
    return pyarrow.RecordBatch.from_arrays(columns, names=names)


def _match_rows(
    k: int,
    column: str,
    id: Optional[str],
    bits: int,
    memory: int,
    sent: Broadcast[bytes],
    batches: Batches,
) -> Batches:
    """The matches of rows of a DataFrame: of fingerprints of `column`, with IDs of the column `id` if there is one."""
    comparison = Comparison(queries_of(sent), k, bits, memory, id is not None)
    if id is None:
        for numbers in gather(numbers_of(batch, column) for batch in batches):
            yield from comparison.add(Rows(numbers))
    else:
        for batch in batches:
            yield from comparison.add(Rows(numbers_of(batch, column), column_of(batch, id)))
    yield from comparison.finish()


def _match_pieces(
    k: int,
    column: str,
    id: Optional[str],
    bits: int,
    memory: int,
    pieces: list[Piece],
    sent: Broadcast[bytes],
    batches: Batches,
) -> Batches:
    """The matches of those pieces of files whose numbers come in."""
    for piece in chosen(batches, pieces):
        comparison = Comparison(queries_of(sent), k, bits, memory, id is not None and piece.format == "parquet")
        for rows in read(piece, column, id):
            yield from comparison.add(rows)
        if id is not None and piece.format == "index":
            found = comparison.stream.finish()
            asked = numpy.repeat(comparison.queries, numpy.diff(found.offsets))
            with Index(piece.path, residence="none") as index:
                yield from with_documents(index, asked, found.fingerprints, found.distances)
        else:
            yield from comparison.finish()


def chosen(batches: Batches, items: Sequence[Any]) -> Iterator[Any]:
    """The items whose numbers come in, as those of SparkSession.range."""
    for batch in batches:
        for number in batch.column(0).to_pylist():
            yield items[number]


def with_documents(index: Index, queries: Any, fingerprints: Any, distances: Any) -> Batches:
    """A row for each document of each match in an index."""
    for i in range(0, len(queries), ROWS):
        some = fingerprints[i : i + ROWS]
        distinct, which = numpy.unique(some, return_inverse=True)
        documents = index.documents(distinct)
        if documents.numbers is not None:
            ids = signed(documents.numbers)
        else:
            assert documents.id_offsets is not None and documents.id_bytes is not None
            buffers = [None, pyarrow.py_buffer(documents.id_offsets), pyarrow.py_buffer(documents.id_bytes)]
            ids = pyarrow.Array.from_buffers(pyarrow.large_binary(), len(documents.id_offsets) - 1, buffers)
        first, counts = documents.offsets[:-1][which], numpy.diff(documents.offsets)[which]
        yield from expand(queries[i : i + ROWS], some, distances[i : i + ROWS], first, counts, None, ids)
