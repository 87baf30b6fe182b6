"""Documents whose texts contain one of few texts, which all workers get."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import numpy
import pyarrow
from pyspark.sql import DataFrame
from pyspark.sql.types import StructField, StructType

from .._resemblance import Least, Sets, make_sets
from ._components import keep
from ._columns import LOG, Batches, column_of, invalid, task_folder
from ._resemble import Rule

if TYPE_CHECKING:
    from pyspark import Broadcast


def find_containing(texts: DataFrame, sought: DataFrame, rule: Rule, least: Least, memory: int) -> DataFrame:
    """Rows of id and text, of documents and of what is looked for → of the documents that contain such a text: id,
    representative_id, contains. Compares at once."""
    rows = sought.orderBy("id").collect()
    ids, sets = [row.id for row in rows], make_sets([row.text for row in rows], rule.width, rule.unit)
    _, left_out = _make_finder(rule, least, memory, sets, None)
    if left_out == len(ids) > 0:
        raise invalid(f"against: all {left_out} texts are too short to be looked for: give a smaller min_words, or longer ones")
    LOG.info("dedup: %d texts are looked for, and %d are too short", len(ids) - left_out, left_out)
    sent = texts.sparkSession.sparkContext.broadcast((ids, *sets))
    id_type = texts.schema["id"].dataType
    schema = StructType([StructField("id", id_type), StructField("representative_id", id_type)]).add("contains", "double")
    try:
        return keep(texts.mapInArrow(partial(_find_containing, rule, least, memory, sent), schema))
    finally:
        sent.destroy()


def _make_finder(rule: Rule, least: Least, memory: int, sets: tuple[Any, ...], folder: Any) -> tuple[Any, int]:
    """Sets that find in texts which of the sought ones these contain, and how many of the sought ones are too short."""
    made = Sets(rule.width, rule.unit, (1, memory, folder, None))
    made.add_sets(*sets)
    return made, made.seek(least.contained, least.members)


# ---- In a task ----


def _find_containing(rule: Rule, least: Least, memory: int, sent: Broadcast[Any], batches: Batches) -> Batches:
    """The documents that contain a sought text, and which one each contains."""
    sought, *sets = sent.value
    made, _ = _make_finder(rule, least, memory, tuple(sets), task_folder())
    for batch in batches:
        numbers, shares, _ = made.find(column_of(batch, "text"))
        rows = numpy.flatnonzero(numbers >= 0)
        ids = column_of(batch, "id").take(pyarrow.array(rows))
        names = pyarrow.array([sought[number] for number in numbers[rows].tolist()], ids.type)
        columns = [ids, names, pyarrow.array(shares[rows])]
        yield pyarrow.RecordBatch.from_arrays(columns, names=["id", "representative_id", "contains"])
