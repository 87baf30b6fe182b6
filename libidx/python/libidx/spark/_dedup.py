"""Deduplication of texts: every document, and which one represents it, or what is left of it."""

from __future__ import annotations

from typing import Any, Literal, Optional

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from .._parts import make_rules
from .._resemblance import Common, Least, Shingle, check_least, check_resemblance, parse_common, parse_shingle
from ._columns import LOG, MEMORY, check_texts, invalid
from ._contains import find_containing
from ._documents import add_representatives, check_columns, check_documents
from ._parts import drop_parts
from ._resemble import Rule, find_duplicates


def dedup(
    df: DataFrame,
    id: str,
    text: str,
    resemble: Optional[float] = None,
    *,
    shingle: Optional[Shingle] = None,
    ignore_common: Optional[Common] = None,
    against: Optional[DataFrame] = None,
    contains: Optional[float] = None,
    min_words: Optional[int] = None,
    distribute: Optional[bool] = None,
    memory: int = MEMORY,
) -> DataFrame:
    """The DataFrame and three more columns: representative_id, resemblance DOUBLE, and is_duplicate BOOLEAN.

    IDs must be unique; strings compare by their bytes. Texts are compared as libidx.dedup does, exactly, in the order
    of their IDs: each joins the one it resembles most of those kept so far, by `resemble` (0.8) or more, or else
    represents itself. shingle: what has to be in common, and ignore_common: what does not count, as there. distribute:
    whether many tasks compare the texts that have rare shingles in common, rather than one; None: where there are more
    than 2^28 shingles. Up to half of memory counts shingles, in each task.
    contains: documents are compared with the texts of another DataFrame alone, `against`, with the same two columns,
    which each worker holds; those that contain one, as libidx.dedup says, are duplicates, the ID of that text represents
    them, and there is a column contains DOUBLE in place of resemblance. min_words is as there.
    Compares at once, whatever the partitions, and logs which way it took.
    """
    id_type, most = _check_inputs(df, id, text), None if ignore_common is None else parse_common(ignore_common)
    rule, texts = Rule(check_resemblance(resemble), *parse_shingle(shingle)), _select(df, id, text)
    if against is not None or contains is not None:
        if resemble is not None or ignore_common is not None or distribute is not None:
            raise invalid("contains compares no documents with each other: omit resemble, ignore_common and distribute")
        least = check_least(None, contains, shingle, min_words, "contains")
        return _mark_containing(df, id, text, against, rule, least, memory)
    if min_words is not None:
        raise invalid("min_words needs contains")
    count, size = check_documents(texts, id=id, text=text)
    found = find_duplicates(texts, rule, most, size, distribute, memory)
    LOG.info("dedup: %d documents, of which others represent %d", count, found.count())
    return add_representatives(df, id, found, id_type, "resemblance", F.lit(1.0))


def _mark_containing(
    df: DataFrame, id: str, text: str, against: Optional[DataFrame], rule: Rule, least: Least, memory: int
) -> DataFrame:
    """What dedup does if it is given `contains`."""
    if against is None or least.contained is None:
        raise invalid("against and contains go together: give both, or none")
    id_type, texts, sought = _check_inputs(df, id, text), _select(df, id, text), _select(against, id, text)
    if _check_inputs(against, id, text) != id_type:
        raise invalid(f"columns {id!r} of both DataFrames are of two types: give IDs of one")
    for some in texts, sought:
        check_documents(some, id=id, text=text)
    found = find_containing(texts, sought, rule, least, memory)
    LOG.info("dedup: %d documents contain a text of against", found.count())
    return add_representatives(df, id, found, id_type, "contains", F.lit(1.0))


def dedup_parts(
    df: DataFrame,
    id: str,
    text: str,
    by: Literal["paragraph", "line"] = "paragraph",
    resemble: Optional[float] = None,
    *,
    shingle: Optional[Shingle] = None,
    min_words: Optional[int] = None,
    min_document_words: int = 1,
    again: int = 1,
    within: bool = False,
    distribute: Optional[bool] = None,
    memory: int = MEMORY,
) -> DataFrame:
    """The DataFrame and two more columns: dropped_parts, and cut_text, the text without these.

    Parts are compared as libidx.dedup_parts does, with its arguments, in the order of IDs. dropped_parts is an array of
    part INT, from 0, kept_id, kept_part and resemblance, null where nothing is dropped. cut_text is null for a document
    that is dropped as a whole. All else is as for dedup.
    """
    _check_inputs(df, id, text)
    if not isinstance(again, int):
        raise invalid(f"again = {again!r}: give a number of documents")
    rules = make_rules(by, min_words, min_document_words, again, within)
    rule = Rule(check_resemblance(resemble), *parse_shingle(shingle))
    _, size = check_documents(_select(df, id, text), id=id, text=text)
    return drop_parts(df, id, text, rule, rules, size, distribute, memory)


def _check_inputs(df: DataFrame, id: str, text: str) -> Any:
    """Refuses columns whose types are not those of IDs and texts. Returns the type of IDs."""
    id_type = check_columns(df, id)
    check_texts(df, text)
    return id_type


def _select(df: DataFrame, id: str, text: str) -> DataFrame:
    """The columns of IDs and texts, as id and text."""
    return df.select(F.col(id).alias("id"), F.col(text).alias("text"))
