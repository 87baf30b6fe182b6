"""Deduplication: every document, and which one represents it."""

from __future__ import annotations

from typing import Any, Optional

from pyspark import StorageLevel
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F
from pyspark.sql.types import StringType

from .._divide import By
from .._fingerprints import Table
from .._parts import check_rules
from .._resemblance import Common, Shingle, check_resemblance, parse_common, parse_shingle
from ._clusters import clusters, keep
from ._columns import LOG, MEMORY, check_distance, check_fingerprints, check_ids, field_of, invalid, packed
from ._fingerprint import add_fingerprints
from ._pairs import compare_all, components
from ._parts import drop_parts
from ._resemble import Rule, find_duplicates

ADDED = ("representative_id", "distance", "resemblance", "is_duplicate", "dropped_parts", "cut_text")
DISTANCE = 3
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
    shingle: Optional[Shingle] = None,
    ignore_common: Optional[Common] = None,
    by: By = "document",
    min_words: Optional[int] = None,
    min_document_words: Optional[int] = None,
    again: Optional[int] = None,
    within: bool = False,
    recipe: Optional[str] = None,
    table: Optional[Table] = None,
    bits: Optional[int] = None,
    min_features: Optional[int] = None,
    distribute: Optional[bool] = None,
    memory: int = MEMORY,
) -> DataFrame:
    """The DataFrame and three more columns: representative_id, resemblance DOUBLE or distance BYTE, and is_duplicate
    BOOLEAN.

    Give a column of texts or of fingerprints. IDs must be unique; strings compare by their bytes. Texts are compared as
    libidx.dedup does, exactly, in the order of their IDs: each joins the one it resembles most of those kept so far, by
    `resemble` (0.8) or more, or else represents itself. shingle: what has to be in common, and ignore_common: what does
    not count, as there. distribute: whether many tasks compare the texts that have rare shingles in common, rather than
    one; None: where there are more than 2^28 shingles. Up to half of memory counts shingles, in each task.
    by: "paragraph" or "line" compares these parts of texts, as libidx.dedup does, and there min_words,
    min_document_words, again and within. The columns are then dropped_parts, an array of part INT, from 0, kept_id,
    kept_part and resemblance, null where nothing is dropped; and cut_text, what is left, null for a document that is
    dropped as a whole.
    With k, or where there are fingerprints, documents that chains of pairs within k bits (3 by default) connect are a
    cluster, and the one with the smallest ID represents it. recipe, table and bits make fingerprints of texts; texts
    with fewer than min_features (1) features are not compared. distribute: whether many tasks compare fingerprints,
    rather than one while many read the texts; None: from 2^32 documents on.
    Compares at once, whatever the partitions, and logs which way it took.
    """
    id_type = check_ids(df, id).dataType
    taken = [name for name in ADDED if name in df.columns]
    if taken:
        raise invalid(f"there is a column {taken[0]!r} already: rename it")
    for name in df.columns:
        field_of(df, name)  # The result has them all, by their names.
    if (text is None) == (fingerprint is None):
        raise invalid("give text=, a column of texts, or fingerprint=, and not both")
    if text is not None and not isinstance(field_of(df, text).dataType, StringType):
        raise invalid(f"column {text!r} is of type {df.schema[text].dataType.simpleString()}: texts are strings")
    of_texts = {"resemble": resemble, "shingle": shingle, "ignore_common": ignore_common}
    of_prints = {"recipe": recipe, "table": table, "bits": bits, "min_features": min_features}
    given = {"min_words": min_words, "min_document_words": min_document_words, "again": again, "within": within}
    if (rules := check_rules(by, given)) is not None:
        if ignore_common is not None:
            raise invalid(f"ignore_common is for whole documents: omit it, or by={by!r}")
        if again is not None and not isinstance(again, int):
            raise invalid(f"again = {again!r}: give a number of documents")
        of_texts["by"] = by
    elif min_words is not None:
        raise invalid("min_words needs by='paragraph' or by='line'")
    _check_options(of_texts, of_prints, text is not None, k)
    if text is not None and k is None:
        texts = df.select(F.col(id).alias("id"), F.col(text).alias("text"))
        most = parse_common(ignore_common)
        rule = Rule(check_resemblance(resemble), *parse_shingle(shingle))
        count, size = _check_documents(texts, id=id, text=text)
        if rules is not None:
            return drop_parts(df, id, text, rule, rules, size, distribute, memory)
        rule = rule._replace(most=None if most is None else most(count))
        found = find_duplicates(texts, rule, size, distribute, memory)
        LOG.info("dedup: %d documents, of which others represent %d", count, found.count())
        return _add(df, id, found, id_type, "resemblance", F.lit(1.0))
    k = DISTANCE if k is None else k
    if text is None:
        assert fingerprint is not None
        bits = check_fingerprints(df, fingerprint).bits
        marked = df.select(F.col(id).alias("id"), F.col(fingerprint).alias("print"))
    else:
        bits = 64 if bits is None else bits
        only = df.select(*dict.fromkeys((id, text)))
        least_features = 1 if min_features is None else min_features
        made, _ = add_fingerprints(only, text, recipe, table, bits, "idx_print", least_features)
        marked = made.select(F.col(id).alias("id"), F.col("idx_print").alias("print"))
    check_distance(k, bits)
    marked = marked.persist(StorageLevel.MEMORY_AND_DISK)
    try:
        found = _near(marked, id, fingerprint, k, bits, distribute, memory)
    finally:
        marked.unpersist()
    return _add(df, id, found, id_type, "distance", F.lit(0).cast("byte"))


def _check_options(by_texts: dict[str, Any], by_prints: dict[str, Any], of_texts: bool, k: Optional[int]) -> None:
    """Refuses what has no effect, by its name."""
    for name in (name for name, value in by_texts.items() if value is not None):
        if not of_texts:
            raise invalid(f"{name} is for texts: give text=")
        if k is not None:
            raise invalid(f"{name} compares texts, and with k fingerprints decide: give one of them")
    for name in (name for name, value in by_prints.items() if value is not None):
        if of_texts and k is None:
            raise invalid(f"{name} needs k: without k, texts are compared, and not their fingerprints")
        if not of_texts:
            raise invalid(f"{name} is for texts: give text=")


def _check_documents(marked: DataFrame, **names: Optional[str]) -> tuple[int, int]:
    """Refuses nulls in columns, which are called otherwise in the input if they are there, and IDs that occur twice.
    Returns how many documents there are, and the bytes of their texts."""
    size = F.sum(F.octet_length("text")) if "text" in names else F.lit(0)
    row = marked.agg(F.count("*"), *map(F.count, names), size).first()
    assert row is not None
    for name, found in zip(names.values(), row[1:-1], strict=True):
        if name is not None and found < row[0]:
            raise invalid(
                f"column {name!r} has {row[0] - found} nulls: leave them out, with df.na.drop(subset=[{name!r}])"
            )
    twice = marked.groupBy("id").count().where("count > 1").first()
    if twice is not None:
        raise invalid(f"column {names['id']!r} has {twice['id']!r} {twice['count']} times: IDs must be unique")
    return int(row[0]), int(row[-1] or 0)


def _near(
    marked: DataFrame,
    id: str,
    fingerprint: Optional[str],
    k: int,
    bits: int,
    distribute: Optional[bool],
    memory: int,
) -> DataFrame:
    """The documents of clusters of two or more: id, representative_id, distance."""
    count, _ = _check_documents(marked, id=id, print=fingerprint)
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
    apart: Column = F.bit_count(F.col("print").bitwiseXOR(F.col("first.print")))
    kept = keep(near.select("id", F.col("first.id").alias("representative_id"), apart.cast("byte").alias("distance")))
    LOG.info("dedup: %d documents are in clusters of two or more", kept.count())
    return kept


def _broadcast_few(near: DataFrame) -> DataFrame:
    """The rows of near-duplicates, sent to each worker if they are few, so that a join leaves texts where they are."""
    return F.broadcast(near) if near.count() <= SENT else near


def _add(df: DataFrame, id: str, found: DataFrame, id_type: Any, name: str, alone: Column) -> DataFrame:
    """Adds the columns to the input; `name` is `alone` where a document represents itself."""
    found = _broadcast_few(found.withColumnRenamed("id", "idx_id"))
    joined = df.join(found, df[id] == found["idx_id"], "left")
    representative = F.coalesce(found["representative_id"], df[id])
    return joined.select(
        *[df[name] for name in df.columns],
        representative.cast(id_type).alias("representative_id"),
        F.coalesce(found[name], alone).alias(name),
        (representative != df[id]).alias("is_duplicate"),
    )
