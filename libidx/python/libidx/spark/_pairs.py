"""All near pairs of a corpus that one task can't compare."""

from __future__ import annotations

import itertools
import math
import os
import tempfile
from collections.abc import Iterable
from functools import partial
from typing import Any, NamedTuple

import numpy
import pyarrow
import pyarrow.compute
from pyspark import StorageLevel
from pyspark.sql import DataFrame

from .._index import Index
from .._making import Builder, scheme
from .._making import shard as shard_of
from ._columns import (
    GATHERED,
    LOG,
    MEMORY,
    PACKED,
    ROWS,
    Batches,
    check_distance,
    check_fingerprints,
    count_slots,
    gather,
    packed,
    partition_keys,
    signed,
    task_folder,
    unpack_column,
)

PREFIX_BITS = 12
"""Of a table's prefix, by which fingerprints are counted and divided."""
MOST = 1 << 23
"""Fingerprints that a task compares, unless a prefix alone has more."""
ALL = "task long, packed binary"


class Table(NamedTuple):
    """A table of a scheme, and the leading bits of its prefix."""

    mask: int
    shift: int
    prefixes: int

    def prefix(self, fingerprints: Any) -> Any:
        """The prefixes of fingerprints in this table: int64[n], from 0 to before self.prefixes."""
        return ((fingerprints & numpy.uint64(self.mask)) >> numpy.uint64(self.shift)).astype(numpy.int64)


class Part(NamedTuple):
    """What a task compares: a range of a table's prefixes; or of a heavy prefix, two of the pieces it was cut into."""

    table: int = 0
    pieces: int = 1
    one: int = 0
    other: int = 0


class Division(NamedTuple):
    """Which parts fingerprints go to: by table and prefix, the first part, and into how many pieces it is cut."""

    tables: list[Table]
    parts: list[Part]
    first: Any  # int64[table, prefix]
    pieces: Any
    keys: Any  # of the parts


def pairs(df: DataFrame, k: int = 3, *, fingerprint: str = "fingerprint", memory: int = MEMORY) -> DataFrame:
    """Every pair of distinct fingerprints of a column within k bits: a LONG, b LONG, distance BYTE, each pair once.

    a is below b, as unsigned numbers. The fingerprints are cut into k + 1 blocks of bits; two of them within k bits
    agree in one of these, and the first block in which they agree owns the pair. Each is sent once for every block, 8
    bytes. The fingerprints are cached, until spark.catalog.clearCache(). memory is in bytes, for each task.
    """
    bits = check_fingerprints(df, fingerprint).bits
    check_distance(k, bits)
    return compare_all(packed(df, fingerprint).persist(StorageLevel.MEMORY_AND_DISK), k, bits, memory, False)


def components(df: DataFrame, k: int, fingerprint: str, bits: int, memory: int) -> DataFrame:
    """The clusters of the fingerprints of a column, compared in one task: member LONG, cluster LONG."""
    run = partial(_compare_parts, k, bits, memory, [Part()], {0: 0}, [], True)
    whole = packed(df, fingerprint).selectExpr("0L as task", "packed").repartition(1)
    return whole.mapInArrow(run, "member long, cluster long")


def compare_all(blobs: DataFrame, k: int, bits: int, memory: int, as_edges: bool) -> DataFrame:
    """All near pairs of packed fingerprints; or as edges, member LONG and cluster LONG, pairs that form the same
    clusters, and are at most as many as fingerprints in each part."""
    division = _divide_fingerprints(blobs, k, bits)
    numbers = {int(key): part for part, key in enumerate(division.keys)}
    scattered = blobs.mapInArrow(partial(_send_to_parts, division), ALL).repartition(len(division.parts), "task")
    run = partial(_compare_parts, k, bits, memory, division.parts, numbers, division.tables, as_edges)
    schema = "member long, cluster long" if as_edges else "a long, b long, distance byte"
    return scattered.mapInArrow(run, schema)


def _make_tables(k: int, bits: int) -> list[Table]:
    """A table for each of k + 1 blocks of bits, in one of which a near pair agrees."""
    found = []
    for mask, _ in scheme(f"{k + 1}:1", k, bits=bits):
        width = mask.bit_count()
        taken = min(PREFIX_BITS, width)
        found.append(Table(mask, (mask & -mask).bit_length() - 1 + width - taken, 1 << taken))
    return found


def _divide_fingerprints(blobs: DataFrame, k: int, bits: int) -> Division:
    """Counts the fingerprints by table and prefix, and puts prefixes together into parts until each has enough for a
    task."""
    tables = _make_tables(k, bits)
    widest = max(table.prefixes for table in tables)
    slots = count_slots(blobs.sparkSession)
    # The driver gets few sums of many partitions' counts, which have 32 KiB for each table.
    counted = blobs.mapInArrow(partial(_count_prefixes, tables, widest), "counts binary").repartition(math.isqrt(slots))
    rows = counted.mapInArrow(partial(_add_counts, len(tables) * widest), "counts binary").collect()
    counts = _sum_counts((row.counts for row in rows), len(tables) * widest).reshape(len(tables), widest)
    total = int(counts[0].sum())
    most = min(MOST, max(GATHERED, total // (2 * slots)))
    division = divide(tables, counts, most)
    cut = int((division.pieces > 1).sum())
    LOG.info("pairs: %d fingerprints in %d tables and %d tasks", total, len(tables), len(division.parts))
    if cut > 0:
        LOG.warning("pairs: %d prefixes have more than %d fingerprints, and are cut into pieces", cut, MOST)
    return division


def divide(tables: list[Table], counts: Any, most: int) -> Division:
    """Puts prefixes that follow each other into parts of up to `most` fingerprints. One that has more than MOST is cut into
    pieces, with a part for each two of them, and for each with itself. There is a part even without fingerprints, since
    Spark has no division into 0 partitions."""
    parts: list[Part] = []
    first = numpy.zeros(counts.shape, numpy.int64)
    pieces = numpy.ones(counts.shape, numpy.int64)
    for table in range(len(tables)):
        size = most
        for prefix in range(tables[table].prefixes):
            here = int(counts[table, prefix])
            cut = -(-here // MOST)
            if cut > 1:
                first[table, prefix], pieces[table, prefix] = len(parts), cut
                parts += [Part(table, cut, one, other) for one in range(cut) for other in range(one, cut)]
                size = most
                continue
            if size + here > most:
                parts.append(Part(table))
                size = 0
            size += here
            first[table, prefix] = len(parts) - 1
    parts = parts or [Part()]
    return Division(tables, parts, first, pieces, partition_keys(len(parts)))


# ---- In a task ----


def _read_fingerprints(batches: Batches) -> Any:
    """The fingerprints of packed rows, in arrays of GATHERED or more."""
    return gather(unpack_column(batch, 0, batch.num_rows) for batch in batches)


def _count_prefixes(tables: list[Table], widest: int, batches: Batches) -> Batches:
    """How many fingerprints of this task each table has of each prefix: one row of int64[table, widest], as bytes."""
    counts = numpy.zeros((len(tables), widest), numpy.int64)
    for numbers in _read_fingerprints(batches):
        for number, table in enumerate(tables):
            counts[number] += numpy.bincount(table.prefix(numbers), minlength=widest)
    yield _make_counts_batch(counts)


def _make_counts_batch(counts: Any) -> pyarrow.RecordBatch:
    """A row with counts, as bytes."""
    return pyarrow.RecordBatch.from_pydict({"counts": pyarrow.array([counts.tobytes()], pyarrow.binary())})


def _add_counts(size: int, batches: Batches) -> Batches:
    """The sum of the counts of several tasks."""
    yield _make_counts_batch(_sum_counts((counts for batch in batches for counts in batch.column(0).to_pylist()), size))


def _sum_counts(blobs: Iterable[bytes], size: int) -> Any:
    """The sum of arrays of counts, each given as bytes: int64[size]."""
    total = numpy.zeros(size, numpy.int64)
    for counts in blobs:
        total += numpy.frombuffer(counts, numpy.int64)
    return total


def _send_to_parts(division: Division, batches: Batches) -> Batches:
    """The fingerprints, packed, with the keys of all parts that compare them."""
    for numbers in _read_fingerprints(batches):
        for number, table in enumerate(division.tables):
            prefixes = table.prefix(numbers)
            parts, pieces = division.first[number][prefixes], division.pieces[number][prefixes]
            whole = pieces == 1
            yield _pack_parts(division, numbers[whole], parts[whole])
            for first in numpy.unique(parts[~whole]).tolist():
                some = numbers[parts == first]
                cut = division.parts[first].pieces
                mine = shard_of(some, cut)
                for part in range(first, first + cut * (cut + 1) // 2):
                    one, other = division.parts[part][2:]
                    taken = some[(mine == one) | (mine == other)]
                    yield _pack_parts(division, taken, numpy.full(len(taken), part))


def _pack_parts(division: Division, numbers: Any, parts: Any) -> pyarrow.RecordBatch:
    """Fingerprints, packed, each with the key of its part. Parts are sorted as small integers, by their digits."""
    small = numpy.uint16 if len(division.parts) <= 1 << 16 else numpy.uint32
    order = numpy.argsort(parts.astype(small), kind="stable")
    numbers, parts = numbers[order], parts[order]
    begins = numpy.flatnonzero(numpy.diff(parts, prepend=-1)).tolist()
    blobs, keys = [], []
    for begin, end in itertools.pairwise([*begins, len(numbers)]):
        for i in range(begin, end, PACKED):
            blobs.append(numbers[i : min(i + PACKED, end)].tobytes())
            keys.append(int(division.keys[parts[begin]]))
    return pyarrow.RecordBatch.from_pydict(
        {"task": pyarrow.array(keys, pyarrow.int64()), "packed": pyarrow.array(blobs, pyarrow.binary())}
    )


def _compare_parts(
    k: int,
    bits: int,
    memory: int,
    parts: list[Part],
    numbers: dict[int, int],
    tables: list[Table],
    as_edges: bool,
    batches: Batches,
) -> Batches:
    """The pairs, or edges, of the fingerprints of each part that comes in, found by a temporary index of few tables,
    which are read once."""
    options: dict[str, Any] = {"k": k, "bits": bits, "memory": memory, "id_type": "none"}
    with tempfile.TemporaryDirectory(prefix="libidx-pairs-", dir=task_folder()) as folder:
        builders: dict[int, Builder] = {}
        try:
            for batch in batches:
                column = batch.column("task")
                for key in pyarrow.compute.unique(column).to_pylist():
                    if key not in builders:
                        path = os.path.join(folder, str(key))
                        builders[key] = Builder(path, scheme=f"{k // 2 + 1}:1:1", tmpdir=folder, **options)
                    some = batch.filter(pyarrow.compute.equal(column, key))
                    builders[key].add(unpack_column(some, 0, some.num_rows))
            for builder in builders.values():
                builder.finish()
        except BaseException:
            for builder in builders.values():
                builder.discard()
            raise
        for key in builders:
            with Index(os.path.join(folder, str(key)), residence="none") as index:
                if as_edges:
                    yield from _list_edges(index, k, memory, folder)
                else:
                    yield from _list_owned_pairs(index, k, memory, parts[numbers[key]], tables)


def _list_edges(index: Index, k: int, memory: int, folder: str) -> Batches:
    """The members of the clusters of an index, each with the fingerprint that represents it, as edges."""
    found = index.clusters(k, memory=memory, tmpdir=folder)
    first = found.fingerprints[found.is_representative]
    for i in range(0, len(found), ROWS):
        columns = [found.fingerprints[i : i + ROWS], first[found.clusters[i : i + ROWS] - found.clusters[0]]]
        yield pyarrow.RecordBatch.from_arrays([signed(column) for column in columns], names=["member", "cluster"])


def _list_owned_pairs(index: Index, k: int, memory: int, part: Part, tables: list[Table]) -> Batches:
    """The pairs of a part that it owns: those that agree in its table's mask and in that of no earlier table; and where
    it compares two pieces, only those with a fingerprint of each."""
    found = index.pairs(k, memory=memory)
    for i in range(0, len(found), ROWS):
        a, b = found.a[i : i + ROWS], found.b[i : i + ROWS]
        apart = a ^ b
        mine = apart & numpy.uint64(tables[part.table].mask) == 0
        for earlier in tables[: part.table]:
            mine &= apart & numpy.uint64(earlier.mask) != 0
        if part.one != part.other:
            mine &= shard_of(a, part.pieces) != shard_of(b, part.pieces)
        distances = found.distances[i : i + ROWS][mine].view(numpy.int8)
        columns = [signed(a[mine]), signed(b[mine]), pyarrow.array(distances)]
        yield pyarrow.RecordBatch.from_arrays(columns, names=["a", "b", "distance"])
