"""Fingerprints of a text column."""

from __future__ import annotations

import os
import tempfile
from functools import partial
from typing import TYPE_CHECKING, Any, Optional

import numpy
import pyarrow
from pyspark.sql import DataFrame
from pyspark.sql.types import LongType, StringType, StructField, StructType

from .._fingerprints import Fingerprinter, Table
from ._columns import Batches, Kind, column_of, field_of, invalid

if TYPE_CHECKING:
    from pyspark import Broadcast

MOST_BYTES = 1 << 27
"""Of repeated rows in a batch: Arrow holds 2 GiB of a column."""


def fingerprint(
    df: DataFrame,
    text: str,
    recipe: Optional[str] = None,
    *,
    table: Optional[Table] = None,
    bits: int = 64,
    column: str = "fingerprint",
    min_features: int = 0,
) -> DataFrame:
    """The DataFrame and one more column: the fingerprints of a column of texts. Nothing is shuffled.

    recipe, table and bits are as for libidx.Fingerprinter. The column's metadata hold the recipe in its canonical form,
    so that fingerprints of different recipes are never compared. Texts without features have the fingerprint 0, or with
    min_features, those with fewer distinct features null, which clusters does not compare. Of recipes that make several
    fingerprints, segments:N and minhash:M, each has a row, and texts without words have none.
    """
    field = field_of(df, text)
    if not isinstance(field.dataType, StringType):
        raise invalid(f"column {text!r} is of type {field.dataType.simpleString()}: texts are strings")
    if column in df.columns:
        raise invalid(f"there is a column {column!r} already: give another name for the fingerprints")
    made = Fingerprinter(recipe, table=table, bits=bits)
    kind = Kind(made.recipe, bits)
    schema = StructType([*df.schema.fields, StructField(column, LongType(), True, kind.metadata())])
    sent = None if table is None else df.sparkSession.sparkContext.broadcast(_write_table(table))
    if min_features > 0:
        make = partial(_fingerprint, text, schema.names, min_features, kind, sent)
    else:
        make = partial(_repeat, text, schema.names, kind, sent)
    return df.mapInArrow(make, schema).withMetadata(column, kind.metadata())


def _write_table(table: Table) -> bytes:
    """The bytes of a table's file, as they are sent to workers."""
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "table")
        table.save(path)
        with open(path, "rb") as file:
            return file.read()


def _load_table(sent: bytes) -> Table:
    """The table whose file has these bytes."""
    with tempfile.NamedTemporaryFile() as file:
        file.write(sent)
        file.flush()
        return Table.load(file.name)


def make_fingerprinter(kind: Kind, sent: Optional[Broadcast[bytes]]) -> Fingerprinter:
    """The fingerprinter of a worker, whose recipe has to be that of the driver."""
    made = Fingerprinter(kind.recipe, table=None if sent is None else _load_table(sent.value), bits=kind.bits)
    if made.recipe != kind.recipe:
        raise invalid(f"this worker makes {made.recipe!r}, the driver {kind.recipe!r}: give both one build of libidx")
    return made


def _fingerprint(
    text: str,
    names: list[str],
    min_features: int,
    kind: Kind,
    sent: Optional[Broadcast[bytes]],
    batches: Batches,
) -> Batches:
    """Adds to each row the fingerprint of its text, or null where the text has too few features."""
    made = make_fingerprinter(kind, sent)
    for batch in batches:
        numbers, features = made.with_features(column_of(batch, text))
        found = pyarrow.array(numbers.view(numpy.int64), mask=features < min_features)
        yield pyarrow.RecordBatch.from_arrays([*batch.columns, found], names=names)


def _repeat(text: str, names: list[str], kind: Kind, sent: Optional[Broadcast[bytes]], batches: Batches) -> Batches:
    """Repeats each row for every fingerprint of its text, and adds that."""
    made = make_fingerprinter(kind, sent)
    for batch in batches:
        numbers, rows = made.several(column_of(batch, text))
        yield from _take_rows(batch, names, numbers, rows)


def _take_rows(batch: pyarrow.RecordBatch, names: list[str], numbers: Any, rows: Any) -> Batches:
    """These rows of a batch, ascending, each with a number, in batches of up to MOST_BYTES, or of a single row."""
    if len(rows) > 1:
        repeated_bytes = batch.slice(rows[0], rows[-1] - rows[0] + 1).nbytes * numpy.bincount(rows - rows[0]).max()
        if repeated_bytes > MOST_BYTES:
            for half in slice(len(rows) // 2), slice(len(rows) // 2, None):
                yield from _take_rows(batch, names, numbers[half], rows[half])
            return
    repeated = batch.take(pyarrow.array(rows))
    columns = [*repeated.columns, pyarrow.array(numbers.view(numpy.int64))]
    yield pyarrow.RecordBatch.from_arrays(columns, names=names)
