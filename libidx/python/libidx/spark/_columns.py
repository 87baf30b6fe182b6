"""Columns of DataFrames: their types, the recipe in their metadata, and how they travel between Spark and NumPy."""

from __future__ import annotations

import logging
import os
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from functools import partial
from typing import Any, NamedTuple, Optional

import numpy
import pyarrow
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.types import LongType, StringType, StructField

from .. import _core
from .._errors import InvalidArgumentError, make

LOG = logging.getLogger("libidx.spark")
METADATA = "libidx"
MEMORY = 1 << 29
"""What a task may use by default, in bytes."""
GATHERED = 1 << 20
"""Fingerprints that are compared or sorted at once."""
PACKED = 2048
"""Fingerprints in a packed row: ten thousand rows, which Spark sends at once, are then 160 MB."""
ROWS = 1 << 16
"""Rows in a batch of results."""

Batches = Iterator[pyarrow.RecordBatch]


class Kind(NamedTuple):
    """How the fingerprints of a column were made, as its metadata say; None: unknown."""

    recipe: Optional[str] = None
    bits: int = 64

    def metadata(self) -> dict[str, Any]:
        """What the metadata of a column of such fingerprints say."""
        return {METADATA: {"recipe": self.recipe, "bits": self.bits}}


def invalid(sentence: str) -> InvalidArgumentError:
    """What to raise about an argument."""
    error = make(100, 0, "", 0, sentence)
    assert isinstance(error, InvalidArgumentError)
    return error


def field_of(df: DataFrame, name: str) -> StructField:
    """The field of a column by its name."""
    if name not in df.schema.names:
        raise invalid(f"there is no column {name!r}: the columns are {', '.join(map(repr, df.columns))}")
    if (found := df.schema.names.count(name)) > 1:
        raise invalid(f"there are {found} columns {name!r}: rename all but one")
    if "." in name:
        raise invalid(f"column {name!r} has a dot in its name, which Spark takes for a field of a struct: rename it")
    return df.schema[name]


def check_fingerprints(df: DataFrame, name: str) -> Kind:
    """Refuses a column of another type than LONG; returns what its metadata say."""
    field = field_of(df, name)
    if not isinstance(field.dataType, LongType):
        raise invalid(
            f"column {name!r} is of type {field.dataType.simpleString()}: fingerprints are LONG (bigint), "
            "their 64 bits as a signed number"
        )
    return kind_of(field.metadata)


def kind_of(metadata: Optional[Mapping[str, Any]]) -> Kind:
    """What a column's metadata say of its fingerprints."""
    noted = (metadata or {}).get(METADATA, {})
    return Kind(noted.get("recipe"), noted.get("bits", 64))


def check_ids(df: DataFrame, name: str) -> StructField:
    """Refuses a column of another type than string and LONG."""
    field = field_of(df, name)
    if not isinstance(field.dataType, (LongType, StringType)):
        raise invalid(f"column {name!r} is of type {field.dataType.simpleString()}: IDs are string or LONG (bigint)")
    return field


def check_texts(df: DataFrame, name: str) -> None:
    """Refuses a column of another type than string."""
    field = field_of(df, name)
    if not isinstance(field.dataType, StringType):
        raise invalid(f"column {name!r} is of type {field.dataType.simpleString()}: texts are strings")


def check_distance(k: int, bits: int = 64) -> None:
    """Refuses a distance that no index of fingerprints of so many bits may have."""
    if not 0 <= k < min(bits, 17):
        raise invalid(f"k = {k}: give 0 to {min(bits - 1, 16)} bits")


def check_same(one: Kind, one_name: str, other: Kind, other_name: str) -> Kind:
    """Refuses to compare fingerprints of two recipes. Where one is unknown, it is taken to be the other."""
    if one.recipe and other.recipe and not _core.recipes_match(one.recipe, other.recipe):
        raise invalid(
            f"{one_name} has fingerprints of the recipe {one.recipe!r}, and {other_name} of {other.recipe!r}: they "
            "can't be compared; make both by one recipe"
        )
    if one.recipe and other.recipe and one.bits != other.bits:
        raise invalid(f"{one_name} has fingerprints of {one.bits} bits, and {other_name} of {other.bits}")
    return one if one.recipe else other


def column_of(batch: pyarrow.RecordBatch, name: str) -> pyarrow.Array:
    """A column of a batch, without nulls."""
    column = batch.column(name)
    if column.null_count:
        raise ValueError(f"column {name!r} has nulls: leave them out, with df.na.drop(subset=[{name!r}])")
    return column


def numbers_of(batch: pyarrow.RecordBatch, name: str) -> Any:
    """A LONG column as uint64[n]."""
    return column_of(batch, name).to_numpy().view(numpy.uint64)


def concatenate(ids: list[pyarrow.Array]) -> pyarrow.Array:
    """IDs of several batches, with offsets of 64 bits: together they may have more than 2 GiB."""
    return pyarrow.concat_arrays([column.cast(_widen(column.type)) for column in ids])


def _widen(kind: pyarrow.DataType) -> pyarrow.DataType:
    """The type with offsets of 64 bits for strings, also for those in structs."""
    if pyarrow.types.is_struct(kind):
        return pyarrow.struct([field.with_type(_widen(field.type)) for field in kind])
    return pyarrow.large_string() if pyarrow.types.is_string(kind) else kind


def signed(numbers: Any) -> pyarrow.Array:
    """uint64[n] as a LONG column."""
    return pyarrow.array(numpy.ascontiguousarray(numbers).view(numpy.int64))


def task_folder() -> str:
    """Where a task may keep files: Spark removes it at the end of the application, however tasks end."""
    return os.environ.get("SPARK_LOCAL_DIRS", tempfile.gettempdir()).split(",")[0]


def gather(arrays: Iterable[Any]) -> Iterator[Any]:
    """Arrays of fingerprints put together, to GATHERED or more at a time: uint64[n]."""
    held: list[Any] = []
    size = 0
    for numbers in arrays:
        held.append(numbers)
        size += len(numbers)
        if size >= GATHERED:
            yield numpy.concatenate(held)
            held, size = [], 0
    if size:
        yield numpy.concatenate(held)


def pack(numbers: Any, **columns: int) -> Batches:
    """Rows that hold up to PACKED fingerprints as bytes each, and constants: they cost the JVM next to nothing."""
    blobs = [numbers[i : i + PACKED].tobytes() for i in range(0, len(numbers), PACKED)]
    constants = {name: pyarrow.array(numpy.full(len(blobs), value, numpy.int64)) for name, value in columns.items()}
    yield pyarrow.RecordBatch.from_pydict({**constants, "packed": pyarrow.array(blobs, pyarrow.binary())})


def unpack(blobs: Iterable[Any]) -> Any:
    """uint64[n] of packed rows."""
    return numpy.concatenate([numpy.empty(0, numpy.uint64), *(numpy.frombuffer(blob, numpy.uint64) for blob in blobs)])


def _read_offsets(column: pyarrow.Array) -> Any:
    """Where the rows of a binary column begin and end. Offsets have 64 bits if Spark is configured so, and otherwise
    32."""
    width = numpy.int64 if pyarrow.types.is_large_binary(column.type) else numpy.int32
    return numpy.frombuffer(column.buffers()[1], width)[column.offset : column.offset + len(column) + 1]


def count_bits(numbers: Any) -> Any:
    """Of each number, how many of its 64 bits are set, as int64[n]: NumPy 1 has no function for that."""
    fives, threes, ones = (numpy.uint64(0xFFFFFFFFFFFFFFFF // divisor) for divisor in (3, 5, 255))
    shift = numpy.uint64
    numbers = numbers - (numbers >> shift(1) & fives)
    numbers = (numbers & threes) + (numbers >> shift(2) & threes)
    numbers = (numbers + (numbers >> shift(4))) & shift(15) * ones
    return (numbers * ones >> shift(56)).view(numpy.int64)


def unpack_column(batch: pyarrow.RecordBatch, start: int, end: int, name: str = "packed") -> Any:
    """uint64[n] of the packed rows `start` to `end` of a batch, without a Python object for each."""
    column = batch.column(name)
    data = column.buffers()[2]
    if data is None:
        return numpy.empty(0, numpy.uint64)
    offsets = _read_offsets(column)
    begin, stop = int(offsets[start]), int(offsets[end])
    return numpy.frombuffer(data, numpy.uint8)[begin:stop].view(numpy.uint64)


def read_sets(batch: pyarrow.RecordBatch, name: str) -> tuple[Any, Any]:
    """The hashes of packed sets, and how many each has: uint64[n], int64[m]."""
    column = column_of(batch, name)
    return unpack_column(batch, 0, batch.num_rows, name), numpy.diff(_read_offsets(column)).astype(numpy.int64) // 8


def distinct(numbers: Any) -> Any:
    """Each number once, ascending. numpy.unique does it by a hash table, which takes many times as long."""
    ascending = numpy.sort(numbers)
    return ascending[numpy.diff(ascending, prepend=~ascending[:1]) != 0]


def _pack_distinct(name: str, batches: Batches) -> Batches:
    """Packs the fingerprints of a task, without most of those that repeat."""
    for numbers in gather(numbers_of(batch, name) for batch in batches):
        yield from pack(distinct(numbers))


def packed(df: DataFrame, name: str) -> DataFrame:
    """The fingerprints of a column, packed, the same one seldom twice."""
    return df.select(name).mapInArrow(partial(_pack_distinct, name), "packed binary")


def collect(df: DataFrame, name: str) -> Any:
    """The distinct fingerprints of a column, ascending, on the driver: uint64[n]."""
    return distinct(unpack(row.packed for row in packed(df, name).collect()))


def count_slots(spark: SparkSession) -> int:
    """How many tasks the cluster runs at once, as far as Spark knows."""
    return max(1, spark.sparkContext.defaultParallelism)


def partition_keys(count: int) -> Any:
    """Numbers that Spark's hash partitioning puts into partitions 0 to count - 1, in order: int64[count]."""
    tried = max(1024, 4 * count)
    while True:
        keys = numpy.arange(tried, dtype=numpy.uint64)
        places, first = numpy.unique(murmur3(keys).view(numpy.int32).astype(numpy.int64) % count, return_index=True)
        if len(places) == count:
            return first.astype(numpy.int64)
        tried *= 2


def murmur3(numbers: Any) -> Any:
    """Spark's hash of LONG columns: Murmur3 of 32 bits, seed 42. uint32[n]."""
    with numpy.errstate(over="ignore"):
        state = numpy.full(len(numbers), 42, numpy.uint32)
        for part in numbers.astype(numpy.uint32), (numbers >> numpy.uint64(32)).astype(numpy.uint32):
            mixed = part * numpy.uint32(0xCC9E2D51)
            mixed = (mixed << numpy.uint32(15) | mixed >> numpy.uint32(17)) * numpy.uint32(0x1B873593)
            state ^= mixed
            state = (state << numpy.uint32(13) | state >> numpy.uint32(19)) * numpy.uint32(5) + numpy.uint32(0xE6546B64)
        state ^= numpy.uint32(8)
        state = (state ^ state >> numpy.uint32(16)) * numpy.uint32(0x85EBCA6B)
        state = (state ^ state >> numpy.uint32(13)) * numpy.uint32(0xC2B2AE35)
        return state ^ state >> numpy.uint32(16)
