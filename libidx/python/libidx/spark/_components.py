"""Connected components: of few pairs of numbers in one task, or of others by alternating stars."""

from __future__ import annotations

from typing import Any

import numpy
import pyarrow
from pyspark.sql import DataFrame, Window
from pyspark.sql import functions as F
from pyspark.sql.types import LongType

from ._columns import LOG, Batches, distinct, field_of, invalid

MOST_ROUNDS = 100
ONE_TASK = 1 << 22
"""Pairs of numbers that one task connects."""


def connected_components(pairs: DataFrame, a: str, b: str) -> DataFrame:
    """What pairs in two columns connect: a row for each member of a pair, member and cluster, its smallest member. Runs at
    once: where there are too many pairs for one task, by alternating large and small stars (Kiveris, Lattanzi, Mirrokni,
    Rastogi, Vassilvitskii, 2014), in about log2 of the size rounds."""
    if field_of(pairs, a).dataType != field_of(pairs, b).dataType:
        raise invalid(f"columns {a!r} and {b!r} are of two types: pairs have one")
    edges = keep(pairs.select(F.greatest(a, b).alias("u"), F.least(a, b).alias("v")).where("u <> v").distinct())
    before = _summarize_edges(edges)
    if before[0] <= ONE_TASK and isinstance(edges.schema["u"].dataType, LongType):
        return keep(edges.repartition(1).mapInArrow(_connect_members, "member long, cluster long"))
    for rounds in range(1, MOST_ROUNDS + 1):
        stars = keep(_apply_small_star(_apply_large_star(edges)))
        edges, now = stars, _summarize_edges(stars)
        if now == before:
            break
        before = now
    else:
        raise RuntimeError(f"no clusters after {MOST_ROUNDS} rounds")
    LOG.info("clusters: %d rounds, %d members that are not the smallest", rounds, now[0])
    centres = edges.select(F.col("v").alias("member"), F.col("v").alias("cluster")).distinct()
    return edges.select(F.col("u").alias("member"), F.col("v").alias("cluster")).union(centres)


def keep(df: DataFrame) -> DataFrame:
    """The rows, computed now and once: where the session has a checkpoint folder, there; or else on the executors."""
    reliable = df.sparkSession.sparkContext.getCheckpointDir() is not None
    return df.checkpoint() if reliable else df.localCheckpoint()


def _summarize_edges(edges: DataFrame) -> tuple[int, int]:
    """How many edges there are, and a sum that changes when they do."""
    row = edges.agg(F.count("*"), F.sum(F.xxhash64("u", "v").cast("decimal(20,0)"))).first()
    assert row is not None
    return row[0], int(row[1] or 0)


def _apply_large_star(edges: DataFrame) -> DataFrame:
    """Joins the larger neighbours of each member to the smallest of its neighbours and itself."""
    both = edges.union(edges.select(F.col("v").alias("u"), F.col("u").alias("v")))
    least = F.least(F.col("u"), F.min("v").over(Window.partitionBy("u")))
    stars = both.withColumn("m", least).where("v > u")
    return stars.select(F.col("v").alias("u"), F.col("m").alias("v"))


def _apply_small_star(edges: DataFrame) -> DataFrame:
    """Joins the smaller neighbours of each member, and itself, to the smallest of them. Here u > v everywhere."""
    stars = edges.withColumn("m", F.min("v").over(Window.partitionBy("u")))
    neighbours = stars.where("v <> m").select(F.col("v").alias("u"), F.col("m").alias("v"))
    return neighbours.union(stars.select("u", F.col("m").alias("v"))).distinct()


# ---- In a task ----


def _connect_members(batches: Batches) -> Batches:
    """The members of all pairs of a task, each with the smallest member that it is connected to."""
    pairs = [[column.to_numpy() for column in batch.columns] for batch in batches]
    if not pairs:
        return
    ends: list[Any] = [numpy.concatenate(column) for column in zip(*pairs)]
    members = distinct(numpy.concatenate(ends))
    u, v = (numpy.searchsorted(members, column) for column in ends)
    least = numpy.arange(len(members))
    while len(u) > 0:  # each larger end joins the smallest one, and then what that one joined
        numpy.minimum.at(least, numpy.maximum(u, v), numpy.minimum(u, v))
        while (least[least] != least).any():
            least = least[least]
        u, v = least[u], least[v]
        u, v = u[u != v], v[u != v]
    yield pyarrow.RecordBatch.from_arrays(list(map(pyarrow.array, (members, members[least]))), names=["member", "cluster"])
