"""DataFrames of documents: what is checked of them, and the columns that say which document represents which."""

from __future__ import annotations

from typing import Any

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from ._columns import check_ids, field_of, invalid

ADDED = ("representative_id", "distance", "resemblance", "contains", "is_duplicate", "dropped_parts", "cut_text")
SENT = 1 << 20
"""Rows of near-duplicates up to which each worker gets all of them, so that texts are not shuffled."""


def check_columns(df: DataFrame, id: str) -> Any:
    """Refuses columns that have the names of those that are added, or no name of their own. Returns the type of IDs."""
    id_type = check_ids(df, id).dataType
    taken = [name for name in ADDED if name in df.columns]
    if taken:
        raise invalid(f"there is a column {taken[0]!r} already: rename it")
    for name in df.columns:
        field_of(df, name)  # The result has them all, by their names.
    return id_type


def check_documents(marked: DataFrame, **names: str) -> tuple[int, int]:
    """Refuses nulls in columns, which are called otherwise in the input if they are there, and IDs that occur twice.
    Returns how many documents there are, and the bytes of their texts."""
    size = F.sum(F.octet_length("text")) if "text" in names else F.lit(0)
    row = marked.agg(F.count("*"), *map(F.count, names), size).first()
    assert row is not None
    for name, found in zip(names.values(), row[1:-1], strict=True):
        if found < row[0]:
            raise invalid(
                f"column {name!r} has {row[0] - found} nulls: leave them out, with df.na.drop(subset=[{name!r}])"
            )
    twice = marked.groupBy("id").count().where("count > 1").first()
    if twice is not None:
        raise invalid(f"column {names['id']!r} has {twice['id']!r} {twice['count']} times: IDs must be unique")
    return int(row[0]), int(row[-1] or 0)


def hint_few(near: DataFrame) -> DataFrame:
    """Rows for a join with texts. Few are sent to each worker, so that texts stay where they are; others are held by
    hash, so that texts are not sorted."""
    return near.hint("broadcast" if near.count() <= SENT else "shuffle_hash")


def add_representatives(
    df: DataFrame, id: str, found: DataFrame, id_type: Any, name: str, alone: Column
) -> DataFrame:
    """Adds the columns to the input, of which some documents were found that others represent; `name` is `alone` for all
    others, which represent themselves."""
    found = hint_few(found.withColumnRenamed("id", "idx_id"))
    joined = df.join(found, df[id] == found["idx_id"], "left")
    representative = F.coalesce(found["representative_id"], df[id])
    return joined.select(
        *[df[name] for name in df.columns],
        representative.cast(id_type).alias("representative_id"),
        F.coalesce(found[name], alone).alias(name),
        found["representative_id"].isNotNull().alias("is_duplicate"),
    )
