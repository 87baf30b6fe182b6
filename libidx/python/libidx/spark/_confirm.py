"""Clusters of documents whose texts resemble each other, out of clusters by fingerprints."""

from __future__ import annotations

from functools import partial
from typing import Any

import pyarrow
from pyspark.sql import DataFrame
from pyspark.sql.types import StructField, StructType

from .._resemblance import Leaders
from ._columns import Batches, column_of, numbers_of


def confirm_clusters(near: DataFrame, resemblance: float) -> DataFrame:
    """Rows of id, print, cluster and text → id, print, and first: the ID and fingerprint of the representative."""
    id_type = near.schema["id"].dataType
    sorted_near = near.repartition("cluster").sortWithinPartitions("cluster", "id")
    both = StructType([StructField("id", id_type)]).add("print", "long")
    schema = StructType([StructField("id", id_type)]).add("print", "long").add("first", both)
    return sorted_near.mapInArrow(partial(_confirm, resemblance), schema)


def _confirm(resemblance: float, batches: Batches) -> Batches:
    leaders = Leaders(resemblance)
    found: dict[int, tuple[Any, int]] = {}  # the representatives of the cluster at hand, by their numbers
    current, offered = None, 0
    for batch in batches:
        ids, prints, texts = (column_of(batch, name) for name in ("id", "print", "text"))
        groups = numbers_of(batch, "cluster")
        first: list[tuple[Any, int]] = []
        joined = leaders.join(texts, groups).tolist()
        rows = zip(joined, groups.tolist(), ids.to_pylist(), prints.to_pylist(), strict=True)
        for leader, group, id, number in rows:
            if group != current:
                current = group
                found.clear()
            if leader == offered:
                found[leader] = id, number
            first.append(found[leader])
            offered += 1
        yield _rows(ids, prints, first)


def _rows(ids: pyarrow.Array, prints: pyarrow.Array, first: list[tuple[Any, int]]) -> pyarrow.RecordBatch:
    leaders, numbers = (list(column) for column in zip(*first)) if first else ([], [])
    pairs = [pyarrow.array(leaders, ids.type), pyarrow.array(numbers, pyarrow.int64())]
    both = pyarrow.StructArray.from_arrays(pairs, names=["id", "print"])
    return pyarrow.RecordBatch.from_arrays([ids, prints, both], names=["id", "print", "first"])
