"""Documents whose texts resemble each other, and which of them represents the others."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy
import pyarrow
from pyspark.sql import DataFrame
from pyspark.sql.types import StructField, StructType

from .._resemblance import Sets, Unit
from ._columns import Batches, column_of, task_folder


def find_duplicates(texts: DataFrame, resemblance: float, width: int, unit: Unit, memory: int) -> DataFrame:
    """Rows of id and text → those of documents that others represent: id, representative_id, resemblance."""
    id_type = texts.schema["id"].dataType
    schema = StructType([StructField("id", id_type), StructField("representative_id", id_type)])
    run = partial(_decide, resemblance, width, unit, memory)
    return texts.repartition(1).sortWithinPartitions("id").mapInArrow(run, schema.add("resemblance", "double"))


def _decide(resemblance: float, width: int, unit: Unit, memory: int, batches: Batches) -> Batches:
    """Takes all documents in the order of their IDs."""
    sets, ids = Sets(width, unit, memory, 1, task_folder(), None), list[Any]()
    for batch in batches:
        sets.add(column_of(batch, "text"), None)
        ids.append(column_of(batch, "id"))
    if not ids:
        return
    whole = pyarrow.concat_arrays(ids)
    kept, alike = sets.keep(resemblance, 0, None, False)
    rows = numpy.flatnonzero(kept != numpy.arange(len(kept), dtype=numpy.uint64))
    columns = [whole.take(pyarrow.array(rows)), whole.take(pyarrow.array(kept[rows])), pyarrow.array(alike[rows])]
    yield pyarrow.RecordBatch.from_arrays(columns, names=["id", "representative_id", "resemblance"])
