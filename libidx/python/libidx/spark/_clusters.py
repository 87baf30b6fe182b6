"""Clusters of documents by their fingerprints, and of pairs."""

from __future__ import annotations

from typing import Optional

from pyspark import StorageLevel
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from ._columns import LOG, MEMORY, check_distance, check_fingerprints, packed
from ._components import connected_components, keep
from ._documents import add_representatives, check_columns, check_documents
from ._pairs import compare_all, components

ONE_TASK = 1 << 32
"""Documents from which on one task no longer compares them."""


def clusters(
    df: DataFrame,
    id: Optional[str] = None,
    k: int = 3,
    *,
    fingerprint: str = "fingerprint",
    distribute: Optional[bool] = None,
    memory: int = MEMORY,
) -> DataFrame:
    """The DataFrame of documents and three more columns: representative_id, distance BYTE, and is_duplicate BOOLEAN.

    Documents whose fingerprints chains of pairs within k bits connect are a cluster, and the one with the smallest ID
    represents it; strings compare by their bytes. IDs must be unique. A document whose fingerprint is null is compared
    with none. distribute: whether many tasks compare fingerprints, rather than one while many read the input; None:
    from 2^32 documents on. Compares at once, whatever the partitions, and logs which way it took.

    Without id, df has pairs, the columns a and b, as libidx.spark.pairs returns them, or others of one type. The result
    has a row for each member of a pair: member, and cluster, its smallest member.
    """
    if id is None:
        return connected_components(df, "a", "b")
    id_type, bits = check_columns(df, id), check_fingerprints(df, fingerprint).bits
    check_distance(k, bits)
    marked = df.select(F.col(id).alias("id"), F.col(fingerprint).alias("print")).persist(StorageLevel.MEMORY_AND_DISK)
    try:
        count, _ = check_documents(marked, id=id)
        many = count >= ONE_TASK if distribute is None else distribute
        way = "many tasks compare them" if many else "one task compares them"
        LOG.info("clusters: %d documents, k = %d: %s", count, k, way)
        found = _find_near(marked.where("print is not null"), k, bits, many, memory)
    finally:
        marked.unpersist()
    return add_representatives(df, id, found, id_type, "distance", F.lit(0).cast("byte"))


def _find_near(marked: DataFrame, k: int, bits: int, distribute: bool, memory: int) -> DataFrame:
    """The documents that others represent: id, representative_id, distance."""
    if distribute:
        blobs = packed(marked, "print").persist(StorageLevel.MEMORY_AND_DISK)
        found = connected_components(compare_all(blobs, k, bits, memory, True), "member", "cluster")
        blobs.unpersist()
    else:
        found = keep(components(marked, k, "print", bits, memory))
    joined = marked.join(found, F.col("print") == F.col("member"), "left")
    documents = joined.select("id", "print", F.coalesce("cluster", "print").alias("cluster"))
    first = F.min(F.struct("id", "print")).alias("first")
    groups = documents.groupBy("cluster").agg(first, F.count("*").alias("count")).where("count > 1")
    near = documents.join(groups, "cluster").where(F.col("id") != F.col("first.id"))
    apart: Column = F.bit_count(F.col("print").bitwiseXOR(F.col("first.print")))
    found = keep(near.select("id", F.col("first.id").alias("representative_id"), apart.cast("byte").alias("distance")))
    LOG.info("clusters: others represent %d documents", found.count())
    return found
