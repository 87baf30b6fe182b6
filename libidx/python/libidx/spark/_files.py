"""Files of fingerprints that workers read themselves: raw numbers, NumPy's files, Parquet and indexes."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple, Optional

import numpy
import pyarrow
import pyarrow.fs
import pyarrow.parquet

from .._errors import NotFoundError, make
from .._index import Index
from ._columns import Kind, column_of, invalid, kind_of, numbers_of

PIECE = 1 << 23
"""Fingerprints that a task reads."""
READ = 1 << 17
"""Fingerprints that are read at once."""
FORMATS = ("u64", "npy", "parquet", "index")


class Piece(NamedTuple):
    """A part of a file: numbers `begin` to `end`, row groups of Parquet, or parts of an index."""

    path: str
    format: str
    begin: int
    end: int
    parts: int = 1
    segments: bytes = b""  # of an index, as a hash


class Rows(NamedTuple):
    """Fingerprints, and IDs for those with any."""

    fingerprints: Any
    ids: Optional[pyarrow.Array] = None


def locate(path: str) -> tuple[pyarrow.fs.FileSystem, str]:
    """The file system of a path or a URI, such as s3://bucket/key, and the path there."""
    if "://" in path:
        system, inside = pyarrow.fs.FileSystem.from_uri(path)
        return system, inside
    return pyarrow.fs.LocalFileSystem(), os.path.abspath(path)


def not_found(path: str) -> NotFoundError:
    """What to raise about a path where there is nothing."""
    error = make(200, 2, path, 0, f"{path}: there is no such file or folder; workers read it by the same path")
    assert isinstance(error, NotFoundError)
    return error


def _choose_format(path: str, format: Optional[str]) -> str:
    """The format that is given, or else the one that the path's ending says."""
    known = {".npy": "npy", ".parquet": "parquet", ".u64": "u64"}
    chosen = format or known.get(os.path.splitext(path)[1])
    if chosen not in FORMATS:
        raise invalid(f"{path}: give format=, one of {', '.join(FORMATS)}; it is known for .u64, .npy and .parquet")
    return chosen


def _read_npy_header(file: Any, path: str) -> tuple[int, int]:
    """At which byte the numbers of an npy file begin, and how many there are."""
    try:
        version = numpy.lib.format.read_magic(file)
        read = numpy.lib.format.read_array_header_1_0 if version == (1, 0) else numpy.lib.format.read_array_header_2_0
        shape, _, kind = read(file)
    except ValueError as error:
        raise invalid(f"{path}: not a file of NumPy: {error}") from None
    if len(shape) != 1 or kind not in (numpy.dtype("<u8"), numpy.dtype("<i8")):
        raise invalid(f"{path}: an array of {kind} in {len(shape)} dimensions: fingerprints are uint64 or int64 in one")
    return int(file.tell()), int(shape[0])


def _cut_numbers(path: str, format: str, count: int) -> Iterator[Piece]:
    """The pieces of a file of `count` plain numbers."""
    for begin in range(0, count, PIECE):
        yield Piece(path, format, begin, min(begin + PIECE, count))


def _cut_parquet(path: str, source: Any, column: str, kinds: dict[str, Kind]) -> Iterator[Piece]:
    """The pieces of a Parquet file, by row groups. Sets kinds[path] to what Spark noted of the column."""
    file = pyarrow.parquet.ParquetFile(source)
    place = file.schema_arrow.get_field_index(column)
    kind = file.schema_arrow.field(place).type if place >= 0 else None
    if kind not in (pyarrow.int64(), pyarrow.uint64()):
        what = f"there is no column {column!r}" if kind is None else f"column {column!r} is of type {kind}"
        raise invalid(f"{path}: {what}: fingerprints are 64-bit integers")
    noted = (file.schema_arrow.metadata or {}).get(b"org.apache.spark.sql.parquet.row.metadata", b"{}")
    for field in json.loads(noted).get("fields", []):
        if field["name"] == column:
            kinds[path] = kind_of(field.get("metadata"))
    begin = rows = 0
    for group in range(file.num_row_groups):
        rows += file.metadata.row_group(group).num_rows
        if rows >= PIECE or group == file.num_row_groups - 1:
            yield Piece(path, "parquet", begin, group + 1)
            begin, rows = group + 1, 0


def _cut_index(path: str, k: int, kinds: dict[str, Kind]) -> Iterator[Piece]:
    """The pieces of an index. Sets kinds[path] to what it knows of its fingerprints."""
    segments = _hash_segments(path)
    with Index(path, residence="none") as index:
        info = index.info()
    check_index(path, info.k, k)
    kinds[path] = Kind(info.recipe or None, info.bits)
    parts = max(1, -(-info.fingerprints // PIECE))
    for part in range(parts):
        yield Piece(path, "index", part, part + 1, parts, segments)


def _hash_segments(path: str) -> bytes:
    """A hash of what the manifest of an index says of its segments."""
    with open(os.path.join(path, "manifest"), "rb") as file:
        return hashlib.sha256(b"".join(line for line in file if line.startswith(b"segment "))).digest()


def check_index(path: str, most: int, k: int) -> None:
    """Refuses a distance above the one that an index was built for."""
    if k > most:
        raise make(104, 0, path, 0, f"k = {k}: the index {path} was built for distances up to {most}")


def _cut_file(path: str, format: Optional[str], column: str, kinds: dict[str, Kind]) -> Iterator[Piece]:
    """The pieces of a file, of the given format or that of its ending. Refuses files without 64-bit numbers."""
    system, inside = locate(path)
    chosen = _choose_format(path, format)
    if chosen == "index":
        raise invalid(f"{path} is a file: an index is a folder")
    with system.open_input_file(inside) as file:
        if chosen == "parquet":
            yield from _cut_parquet(path, file, column, kinds)
        elif chosen == "npy":
            yield from _cut_numbers(path, chosen, _read_npy_header(file, path)[1])
        elif file.size() % 8:
            raise invalid(f"{path}: {file.size()} bytes, which is no multiple of 8: it does not hold 64-bit numbers")
        else:
            yield from _cut_numbers(path, chosen, file.size() // 8)


def cut(
    paths: Sequence[str], format: Optional[str], column: str, k: int
) -> tuple[list[Piece], dict[str, Kind]]:
    """The pieces of files, folders of files, and indexes; and what is known of their fingerprints."""
    pieces: list[Piece] = []
    kinds: dict[str, Kind] = {}
    for path in paths:
        system, inside = locate(path)
        info = system.get_file_info(inside)
        if info.type == pyarrow.fs.FileType.NotFound:
            raise not_found(path)
        if info.type == pyarrow.fs.FileType.File:
            pieces += _cut_file(path, format, column, kinds)
        elif format == "index" or system.get_file_info(inside + "/manifest").type == pyarrow.fs.FileType.File:
            local = isinstance(system, pyarrow.fs.LocalFileSystem)
            pieces += _cut_index(inside if local else path, k, kinds)
        else:
            below = system.get_file_info(pyarrow.fs.FileSelector(inside, recursive=True))
            for name in sorted(entry.path[len(inside) :].lstrip("/") for entry in below if entry.is_file):
                if not any(part.startswith((".", "_")) for part in name.split("/")):
                    pieces += _cut_file(f"{path.rstrip('/')}/{name}", format, column, kinds)
    return pieces, kinds


def _read_numbers(piece: Piece) -> Iterator[Rows]:
    """The rows of a piece of plain numbers, raw or NumPy's."""
    system, inside = locate(piece.path)
    with system.open_input_file(inside) as file:
        first = _read_npy_header(file, piece.path)[0] if piece.format == "npy" else 0
        for begin in range(piece.begin, piece.end, READ):
            count = min(READ, piece.end - begin)
            read = file.read_at(8 * count, first + 8 * begin)
            if len(read) != 8 * count:
                raise ValueError(f"{piece.path}: it became shorter while it was read")
            yield Rows(numpy.frombuffer(read, numpy.uint64))


def _read_parquet(piece: Piece, column: str, id: Optional[str]) -> Iterator[Rows]:
    """The rows of a piece of a Parquet file, with IDs if `id` names their column."""
    system, inside = locate(piece.path)
    columns = [column] if id is None else [column, id]
    with system.open_input_file(inside) as source:
        file = pyarrow.parquet.ParquetFile(source)
        if id is not None and id not in file.schema_arrow.names:
            raise invalid(f"{piece.path}: there is no column {id!r}")
        groups = list(range(piece.begin, piece.end))
        for batch in file.iter_batches(1 << 17, row_groups=groups, columns=columns):
            yield Rows(numbers_of(batch, column), None if id is None else column_of(batch, id))


def read(piece: Piece, column: str, id: Optional[str]) -> Iterator[Rows]:
    """The rows of a piece, with IDs for Parquet if `id` names them."""
    if piece.format == "parquet":
        yield from _read_parquet(piece, column, id)
    elif piece.format == "index":
        with Index(piece.path, residence="none") as index:
            # Parts are shares of each segment: where others replaced these, fingerprints would be in no part.
            if piece.parts > 1 and _hash_segments(piece.path) != piece.segments:
                raise ValueError(f"{piece.path}: it got other segments since tasks began to read it: match again")
            numbers = index.part(piece.begin, piece.parts)
        for begin in range(0, len(numbers), READ):
            yield Rows(numbers[begin : begin + READ])
    else:
        yield from _read_numbers(piece)
