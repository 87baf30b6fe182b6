"""Deduplication of the paragraphs or lines within the texts of a column."""

from __future__ import annotations

from functools import partial
from typing import Optional

import numpy
import pyarrow
from pyspark.sql import DataFrame
from pyspark.sql import functions as F
from pyspark.sql.types import StructField, StructType

from .._divide import divide, join, unquote
from .._parts import Rules
from .._resemblance import count_words
from ._components import keep
from ._columns import LOG, Batches, column_of
from ._resemble import Rule, find_duplicates


def drop_parts(
    df: DataFrame, id: str, text: str, rule: Rule, rules: Rules, size: int, distribute: Optional[bool], memory: int
) -> DataFrame:
    """The DataFrame with the columns cut_text and dropped_parts. size: bytes of all texts."""
    id_type = df.schema[id].dataType
    part_type = StructType([StructField("document", id_type)]).add("part", "integer")
    schema = StructType([StructField("id", part_type)]).add("text", "string")
    texts = df.select(F.col(id).alias("id"), F.col(text).alias("text"))
    found = find_duplicates(texts.mapInArrow(partial(_divide, rules), schema), rule, None, size, distribute, memory)
    document, kept = F.col("id.document"), F.col("representative_id.document")
    again, _ = rules.least_texts(0)
    if again > 1:
        others = F.countDistinct(F.when(document != kept, document))
        often = found.groupBy("representative_id").agg(others.alias("others")).where(F.col("others") + 1 >= again)
        found = found.join(often, "representative_id")
    if not rules.within:
        found = found.where(document != kept)
    kept_part = F.col("representative_id.part").alias("kept_part")
    dropped = F.collect_list(F.struct("id.part", kept.alias("kept_id"), kept_part, "resemblance"))
    lists = keep(found.groupBy(document.alias("idx_id")).agg(F.sort_array(dropped).alias("dropped_parts")))
    LOG.info("dedup: parts of %d documents are dropped", lists.count())
    joined = df.join(lists, df[id] == lists["idx_id"], "left").drop(lists["idx_id"])
    schema = StructType([*df.schema.fields, StructField("dropped_parts", lists.schema["dropped_parts"].dataType)])
    return joined.mapInArrow(partial(_cut_texts, rules, text), schema.add("cut_text", "string"))


# ---- In a task ----


def _divide(rules: Rules, batches: Batches) -> Batches:
    """The parts of texts that are compared, with the IDs of their documents and their numbers there."""
    for batch in batches:
        texts = [divide(text, rules.by) for text in column_of(batch, "text").to_pylist()]
        parts = pyarrow.array([part for text in texts for part in text], pyarrow.string())
        counts = [len(text) for text in texts]
        rows = numpy.flatnonzero(numpy.asarray(count_words(parts)) >= max(rules.min_words, 1))
        owners = numpy.repeat(numpy.arange(len(texts)), counts)
        numbers = numpy.arange(len(parts)) - numpy.repeat(numpy.cumsum(counts) - counts, counts)
        documents = column_of(batch, "id").take(pyarrow.array(owners[rows]))
        ids = pyarrow.StructArray.from_arrays(
            [documents, pyarrow.array(numbers[rows].astype(numpy.int32))], names=["document", "part"]
        )
        compared = pyarrow.array([unquote(part) for part in parts.take(pyarrow.array(rows)).to_pylist()], pyarrow.string())
        yield pyarrow.RecordBatch.from_arrays([ids, compared], names=["id", "text"])


def _cut_texts(rules: Rules, text: str, batches: Batches) -> Batches:
    """Adds to each row what is left of its text: null where that has too few words."""
    for batch in batches:
        dropped = batch.column(batch.num_columns - 1)
        left: list[Optional[str]] = column_of(batch, text).to_pylist()
        for row in numpy.flatnonzero(dropped.is_valid().to_numpy(zero_copy_only=False)).tolist():
            parts, lost = divide(left[row], rules.by), {part["part"] for part in dropped[row].as_py()}
            words = numpy.delete(count_words(parts), list(lost)).sum()
            left[row] = None if words < max(rules.min_document_words, 1) else join(parts, lost)
        columns = [*batch.columns, pyarrow.array(left, pyarrow.string())]
        yield pyarrow.RecordBatch.from_arrays(columns, names=[*batch.schema.names, "cut_text"])
