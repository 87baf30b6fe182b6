"""Deduplication: every document, and which one represents it."""

from __future__ import annotations

from typing import Any, Optional

from pyspark import StorageLevel
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F
from pyspark.sql.types import StringType

from .._fingerprints import Table
from .._resemblance import choose_distance
from ._clusters import clusters, keep
from ._columns import LOG, MEMORY, Kind, check_distance, check_fingerprints, check_ids, field_of, invalid, packed
from ._confirm import confirm_clusters
from ._fingerprint import add_fingerprints
from ._pairs import compare_all, components

ADDED = ("representative_id", "distance", "is_duplicate")
DISTANCE = 3
DOCUMENT_FEATURES = 64
"""Distinct features from which on idx_text_distance takes a text for a document."""
ONE_TASK = 1 << 32
"""Documents from which on one task no longer compares them."""
SENT = 1 << 20
"""Rows of near-duplicates up to which each worker gets all of them, so that texts are not shuffled."""


def dedup(
    df: DataFrame,
    id: str,
    text: Optional[str] = None,
    fingerprint: Optional[str] = None,
    k: Optional[int] = None,
    *,
    resemble: Optional[float] = None,
    recipe: Optional[str] = None,
    table: Optional[Table] = None,
    bits: int = 64,
    min_features: int = 1,
    confirm: Optional[float] = None,
    distribute: Optional[bool] = None,
    memory: int = MEMORY,
) -> DataFrame:
    """The DataFrame and three more columns: representative_id, distance BYTE and is_duplicate BOOLEAN.

    Documents that chains of pairs within k bits (3 if neither k nor resemble is given) connect are a cluster, and the
    one with the smallest ID represents it, whatever the partitions; strings compare by their bytes. A document without
    near-duplicates represents itself. IDs must be unique. Give a column of texts, of fingerprints, or both.
    recipe, table and bits make fingerprints of texts. Texts with fewer than min_features features are not compared.
    resemble: as confirm, and k is chosen by measurements if it is not given, so that hardly any texts that resemble
    each other so much are missed; see idx-recipes(7).
    confirm: a resemblance above 0 and up to 1. A document is a duplicate only if its text shares that part of its word
    5-shingles with its representative's; see idx-dedup(1). Documents are then taken in the order of their IDs.
    distribute: whether many tasks compare fingerprints, rather than one while many read texts; None: from 2^32
    documents on. Compares at once, and logs which way it took.
    """
    id_type = check_ids(df, id).dataType
    taken = [name for name in ADDED if name in df.columns]
    if taken:
        raise invalid(f"there is a column {taken[0]!r} already: rename it")
    if confirm is not None and resemble is not None:
        raise invalid("give resemble=, or confirm= and k=, not both")
    least, name = (confirm, "confirm") if resemble is None else (resemble, "resemble")
    if least is not None and not 0 < least <= 1:
        raise invalid(f"{name} = {least}: give a resemblance above 0 and up to 1")
    if text is not None and not isinstance(field_of(df, text).dataType, StringType):
        raise invalid(f"column {text!r} is of type {df.schema[text].dataType.simpleString()}: texts are strings")
    if (text is None and fingerprint is None) or (text is None and least is not None):
        raise invalid("give text=, a column of texts" + ("" if least else ", or fingerprint="))
    if fingerprint is not None:
        kind = check_fingerprints(df, fingerprint)
        marked = df.select(F.col(id).alias("id"), F.col(fingerprint).alias("print"), F.lit(0).alias("features"))
    else:
        assert text is not None
        only = df.select(*dict.fromkeys((id, text)))
        made, kind = add_fingerprints(only, text, recipe, table, bits, "idx_print", min_features, "idx_features")
        columns = {id: "id", "idx_print": "print", "idx_features": "features"}
        marked = made.select(*[F.col(name).alias(alias) for name, alias in columns.items()])
    bits = kind.bits
    if k is not None:
        check_distance(k, bits)
    marked = marked.persist(StorageLevel.MEMORY_AND_DISK)
    try:
        if k is None:
            k = DISTANCE if resemble is None else _choose_distance(marked, resemble, kind)
            check_distance(k, bits)
        found = _near(df, id, text, marked.drop("features"), fingerprint, k, bits, least, distribute, memory)
    finally:
        marked.unpersist()
    return _add(df, id, found, id_type)


def _choose_distance(marked: DataFrame, resemblance: float, kind: Kind) -> int:
    """The distance by measurements: those of documents if at most a quarter of the texts is shorter."""
    compared = marked.where("print is not null")
    row = compared.agg(F.count("*"), F.count(F.when(F.col("features") < DOCUMENT_FEATURES, 1))).first()
    assert row is not None
    features = DOCUMENT_FEATURES if 4 * row[1] <= row[0] else 0
    k = choose_distance(resemblance, features, kind.recipe, kind.bits)
    LOG.info("dedup: k = %d for resemble = %s", k, resemblance)
    return k


def _check_documents(marked: DataFrame, id: str, fingerprint: Optional[str]) -> int:
    """Refuses nulls, and IDs that occur twice. Returns how many documents there are."""
    row = marked.agg(F.count("*"), F.count("id"), F.count("print")).first()
    assert row is not None
    for name, found in (id, row[1]), (fingerprint, row[2]):
        if name is not None and found < row[0]:
            raise invalid(
                f"column {name!r} has {row[0] - found} nulls: leave them out, with df.na.drop(subset=[{name!r}])"
            )
    twice = marked.groupBy("id").count().where("count > 1").first()
    if twice is not None:
        raise invalid(f"column {id!r} has {twice['id']!r} {twice['count']} times: IDs must be unique")
    return int(row[0])


def _near(
    df: DataFrame,
    id: str,
    text: Optional[str],
    marked: DataFrame,
    fingerprint: Optional[str],
    k: int,
    bits: int,
    confirm: Optional[float],
    distribute: Optional[bool],
    memory: int,
) -> DataFrame:
    """The documents of clusters of two or more: id, representative_id, distance."""
    count = _check_documents(marked, id, fingerprint)
    marked = marked.where("print is not null")
    if distribute is None:
        distribute = count >= ONE_TASK
    way = "many tasks compare them" if distribute else "one task compares them"
    LOG.info("dedup: %d documents, k = %d: %s", count, k, way)
    if distribute:
        blobs = packed(marked, "print").persist(StorageLevel.MEMORY_AND_DISK)
        found = clusters(compare_all(blobs, k, bits, memory, True), "member", "cluster")
        blobs.unpersist()
    else:
        found = keep(components(marked, k, "print", bits, memory))
    joined = marked.join(found, F.col("print") == F.col("member"), "left")
    documents = joined.select("id", "print", F.coalesce("cluster", "print").alias("cluster"))
    first = F.min(F.struct("id", "print")).alias("first")
    groups = documents.groupBy("cluster").agg(first, F.count("*").alias("count")).where("count > 1")
    near = documents.join(groups, "cluster")
    if confirm is not None:
        assert text is not None
        texts = df.select(F.col(id).alias("id"), F.col(text).alias("text"))
        near = keep(near.select("id", "print", "cluster"))
        near = confirm_clusters(_broadcast_few(near).join(texts, "id"), confirm)
    apart: Column = F.bit_count(F.col("print").bitwiseXOR(F.col("first.print")))
    kept = keep(near.select("id", F.col("first.id").alias("representative_id"), apart.cast("byte").alias("distance")))
    LOG.info("dedup: %d documents are in clusters of two or more", kept.count())
    return kept


def _broadcast_few(near: DataFrame) -> DataFrame:
    """The rows of near-duplicates, sent to each worker if they are few, so that a join leaves texts where they are."""
    return F.broadcast(near) if near.count() <= SENT else near


def _add(df: DataFrame, id: str, found: DataFrame, id_type: Any) -> DataFrame:
    """Adds the columns to the input."""
    found = _broadcast_few(found.withColumnRenamed("id", "idx_id"))
    joined = df.join(found, df[id] == found["idx_id"], "left")
    representative = F.coalesce(found["representative_id"], df[id])
    return joined.select(
        *[df[name] for name in df.columns],
        representative.cast(id_type).alias("representative_id"),
        F.coalesce(found["distance"], F.lit(0).cast("byte")).alias("distance"),
        (representative != df[id]).alias("is_duplicate"),
    )


