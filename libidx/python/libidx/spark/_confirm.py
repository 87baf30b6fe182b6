"""Clusters of documents whose texts resemble each other, out of clusters by fingerprints."""

from __future__ import annotations

import re
import sys
import unicodedata
from collections.abc import Iterator
from functools import cache, partial
from typing import Any, Optional

import pyarrow
from pyspark.sql import DataFrame
from pyspark.sql.types import StructField, StructType

from ._columns import ROWS, Batches, column_of

WORDS = 5
ALONE = "\u0e01-\u0eff\u1000-\u109f\u1780-\u17ff\u3005-\u3007\u3021-\u3029\u3038-\u303b\u3040-\u30ff\uff66-\uff9f"
"""Scripts without spaces, beside the ideographs: each character is a word."""


def _is_ideograph(c: str) -> bool:
    return unicodedata.name(c, "").startswith(("CJK UNIFIED IDEOGRAPH", "CJK COMPATIBILITY IDEOGRAPH"))


def _ranges(of: Any) -> str:
    """The characters for which `of` is true, as the inside of a set of a regular expression."""
    ranges: list[list[int]] = []
    for c in range(0x80, sys.maxunicode + 1):
        if not of(chr(c)):
            continue
        if ranges and ranges[-1][1] == c - 1:
            ranges[-1][1] = c
        else:
            ranges.append([c, c])
    return "".join(f"{chr(a)}-{chr(b)}" for a, b in ranges)


@cache
def _words() -> re.Pattern[str]:
    """Words as idx dedup --confirm has them: runs of letters, digits and accents; in some scripts, a character each."""
    alone = ALONE + _ranges(_is_ideograph)
    letters = "a-zA-Z0-9" + _ranges(lambda c: unicodedata.category(c)[0] in "LM" or unicodedata.category(c) == "Nd")
    return re.compile(f"[{alone}]|(?:(?![{alone}])[{letters}])+")


def shingles(text: str) -> frozenset[tuple[str, ...]]:
    """The word 5-shingles of a text; a text of fewer words is one shingle."""
    words = [word.casefold() for word in _words().findall(text)]
    if len(words) < WORDS:
        return frozenset([tuple(words)] if words else [])
    return frozenset(zip(*(words[i:] for i in range(WORDS))))


class Leaders:
    """The representatives of a cluster so far.

    Sets of n and m members that share the part T of their union share one of the (1 - T) n + 1 first members of the one
    and the (1 - T) m + 1 first of the other, in any order that all sets keep. So only the first members are listed.
    """

    def __init__(self, resemblance: float) -> None:
        self.resemblance = resemblance
        self.found: list[tuple[Any, int, frozenset[Any]]] = []
        self.places: dict[Any, list[int]] = {}

    def _first(self, members: frozenset[Any]) -> list[Any]:
        return sorted(members, key=hash)[: int((1 - self.resemblance) * len(members) + 1e-9) + 1]

    def join(self, id: Any, number: int, members: frozenset[Any]) -> tuple[Any, int]:
        """The first representative that resembles a document; it becomes one itself if there is none."""
        first = self._first(members)
        for place in sorted({place for member in first for place in self.places.get(member, ())}):
            leader, its_number, others = self.found[place]
            shared = len(members & others)
            if shared >= self.resemblance * (len(members) + len(others) - shared):
                return leader, its_number
        for member in first:
            self.places.setdefault(member, []).append(len(self.found))
        self.found.append((id, number, members))
        return id, number


def confirm_clusters(near: DataFrame, resemblance: float) -> DataFrame:
    """Rows of id, print, cluster and text → id, print, and first: the ID and fingerprint of the representative."""
    id_type = near.schema["id"].dataType
    sorted_near = near.repartition("cluster").sortWithinPartitions("cluster", "id")
    both = StructType([StructField("id", id_type)]).add("print", "long")
    schema = StructType([StructField("id", id_type)]).add("print", "long").add("first", both)
    return sorted_near.mapInArrow(partial(_confirm, resemblance), schema)


def _confirm(resemblance: float, batches: Batches) -> Batches:
    joined: list[tuple[Any, int, Any, int]] = []
    kind: Optional[pyarrow.DataType] = None
    for kind, row in _join(resemblance, batches):
        joined.append(row)
        if len(joined) == ROWS:
            yield _rows(joined, kind)
            joined = []
    if kind is not None:
        yield _rows(joined, kind)


def _join(resemblance: float, batches: Batches) -> Iterator[tuple[pyarrow.DataType, tuple[Any, int, Any, int]]]:
    leaders = Leaders(resemblance)
    current = None
    for batch in batches:
        columns = [column_of(batch, name) for name in ("id", "print", "cluster", "text")]
        for id, number, cluster, text in zip(*(column.to_pylist() for column in columns), strict=True):
            if cluster != current:
                current, leaders = cluster, Leaders(resemblance)
            yield columns[0].type, (id, number, *leaders.join(id, number, shingles(text)))


def _rows(joined: list[tuple[Any, int, Any, int]], kind: pyarrow.DataType) -> pyarrow.RecordBatch:
    ids, prints, leaders, numbers = (list(column) for column in zip(*joined)) if joined else ([], [], [], [])
    long = pyarrow.int64()
    first = pyarrow.StructArray.from_arrays(
        [pyarrow.array(leaders, kind), pyarrow.array(numbers, long)], names=["id", "print"]
    )
    return pyarrow.RecordBatch.from_arrays(
        [pyarrow.array(ids, kind), pyarrow.array(prints, long), first], names=["id", "print", "first"]
    )
