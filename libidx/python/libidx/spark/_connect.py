"""Which texts pairs that resemble each other connect, in any number of tasks.

Texts are listed by each of their first shingles, in the order of rarity, that others may have. In a list a text is
compared with the few next to it. Longer lists are cut into pieces, each two of which meet, and then texts are compared
that no pairs connect: so a list of texts that all resemble each other takes linear time. A pair is compared once: where
its first common shingle is, as far as the ones before tell, and by leaving out what other lists propose as well.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, Optional

import numpy
import pyarrow
from pyspark import StorageLevel
from pyspark.sql import DataFrame, Window
from pyspark.sql import functions as F
from pyspark.sql.types import StructField, StructType

from ._components import connected_components, keep
from ._columns import GATHERED, LOG, Batches, column_of, read_sets

if TYPE_CHECKING:
    from ._resemble import Counters, Rule

NEAR = 8
"""Texts that one is compared with behind it in a list."""
PIECE = 1 << 12
"""Texts of a piece of a list."""


def connect(sets: DataFrame, rule: Rule, counters: Counters) -> DataFrame:
    """Rows of id and packed → id and cluster, of those that resemble others."""
    id_type = sets.schema["id"].dataType
    first = F.min("id").over(Window.partitionBy("packed"))
    equal = sets.withColumn("first", first).persist(StorageLevel.DISK_ONLY)
    sets = equal.where("id = first").select("id", "packed")
    schema = StructType([StructField("id", id_type)])
    for name in "member", "previous", "size", "place":
        schema.add(name, "long")
    members = sets.mapInArrow(partial(_list_members, rule, counters), schema)
    members = members.withColumn("texts", F.count("*").over(Window.partitionBy("member"))).where("texts > 1")
    members = members.persist(StorageLevel.DISK_ONLY)
    pair = StructType([StructField("a", id_type), StructField("b", id_type)])
    in_order = F.least("a", "b").alias("a"), F.greatest("a", "b").alias("b")
    near = members.sortWithinPartitions("member", "size", "id").mapInArrow(partial(_pair_near, rule, NEAR), pair)
    near = keep(near.select(*in_order).distinct())
    edges = equal.where("id <> first").selectExpr("id as a", "first as b").union(_compare(near, sets, rule))
    found = connected_components(edges, "a", "b").withColumnRenamed("member", "id")
    longer = members.where(F.col("texts") > NEAR + 1)
    if longer.first() is not None:
        pieces = _cut(longer.join(found, "id", "left").withColumn("cluster", F.coalesce("cluster", "id")))
        far = keep(pieces.mapInArrow(partial(_pair_far, rule), pair).select(*in_order).subtract(near))
        links = found.selectExpr("id as a", "cluster as b").union(_compare(far, sets, rule))
        found = connected_components(links, "a", "b").withColumnRenamed("member", "id")
    members.unpersist()
    equal.unpersist()
    return found


def _cut(members: DataFrame) -> DataFrame:
    """The rows of lists by the pieces that meet, one and two. Rows of a cluster are next to each other, and do not meet
    those pieces that consist of the same cluster alone."""
    of_member, of_cluster = Window.partitionBy("member"), Window.partitionBy("member", "cluster")
    rows = members.withColumn("row", F.row_number().over(of_member.orderBy("cluster", "id")) - 1)
    rows = rows.withColumn("head", F.min("row").over(of_cluster)).withColumn("tail", F.max("row").over(of_cluster))
    others = F.expr(
        f"array_distinct(concat(sequence(0L, head div {PIECE}), array(row div {PIECE}),"
        f" sequence(tail div {PIECE}, (texts - 1) div {PIECE})))"
    )
    pieces = rows.selectExpr("*", f"row div {PIECE} as piece").withColumn("other", F.explode(others))
    pieces = pieces.selectExpr("*", "least(piece, other) as one", "greatest(piece, other) as two")
    keys = "member", "one", "two"
    return pieces.repartition(*keys).sortWithinPartitions(*keys, "row")


def _compare(pairs: DataFrame, sets: DataFrame, rule: Rule) -> DataFrame:
    """The pairs that resemble each other; by chance, some others."""
    LOG.info("dedup: %d pairs are compared", pairs.count())
    one = sets.selectExpr("id as a", "packed as one")
    both = pairs.join(one, "a").join(sets.withColumnRenamed("id", "b"), "b").select("a", "b", "one", "packed")
    return keep(both.mapInArrow(partial(_check, rule), pairs.schema))


# ---- In a task ----


def _list_members(rule: Rule, counters: Counters, batches: Batches) -> Batches:
    """The IDs of texts, with each of their first shingles that others may have, the one before it there (0: none), how
    many the text has, and how many are before it."""
    for batch in batches:
        hashes, counts = read_sets(batch, "packed")
        rarity, owners = counters.of(hashes), numpy.repeat(numpy.arange(len(counts)), counts)
        order = numpy.lexsort((hashes, rarity, owners))
        places = numpy.arange(len(hashes)) - numpy.repeat(numpy.cumsum(counts) - counts, counts)
        chosen = numpy.flatnonzero((places < numpy.repeat(rule.prefixes(counts), counts)) & (rarity[order] > 1))
        members, of = hashes[order[chosen]].view(numpy.int64), owners[chosen]
        previous = numpy.where(numpy.diff(of, prepend=-1) == 0, numpy.roll(members, 1), 0)
        columns = [pyarrow.array(column) for column in (members, previous, counts[of], places[chosen])]
        ids = column_of(batch, "id").take(pyarrow.array(of))
        yield pyarrow.RecordBatch.from_arrays([ids, *columns], names=["id", "member", "previous", "size", "place"])


def _numbers(table: Any, *names: str) -> list[Any]:
    return [table.column(name).to_numpy() for name in names]


def _select(rule: Rule, table: Any, one: Any, other: Any) -> pyarrow.RecordBatch:
    """The pairs of rows of which this may be the first shingle that both have, and that may resemble each other: behind
    it, each has as many more as it has."""
    previous, size, place = _numbers(table, "previous", "size", "place")
    is_first = (previous[one] != previous[other]) | (previous[one] == 0)
    most = numpy.minimum((size - place)[one], (size - place)[other])
    chosen = is_first & rule.suffices(most, size[one] + size[other])
    ids = table.column("id").combine_chunks()
    columns = [ids.take(pyarrow.array(rows[chosen])) for rows in (one, other)]
    return pyarrow.RecordBatch.from_arrays(columns, names=["a", "b"])


def _pair_near(rule: Rule, near: int, batches: Batches) -> Batches:
    """Pairs of texts that are next to each other in a list."""
    table: Optional[Any] = None
    for batch in batches:
        held = [] if table is None else table.slice(max(0, len(table) - near)).to_batches()
        table = pyarrow.Table.from_batches([*held, batch])
        (members,) = _numbers(table, "member")
        for distance in range(1, near + 1):
            one = numpy.flatnonzero(members[:-distance] == members[distance:])
            yield _select(rule, table, one, one + distance)


def _ends(*columns: Any) -> Any:
    """Where each row's run of equal rows ends: int64[n]."""
    changes = numpy.any([column[1:] != column[:-1] for column in columns], axis=0)
    bounds = numpy.concatenate([[0], numpy.flatnonzero(changes) + 1, [len(columns[0])]])
    return numpy.repeat(bounds[1:], numpy.diff(bounds))


def _pair_far(rule: Rule, batches: Batches) -> Batches:
    """Pairs of texts of two pieces, or of one, that are in different clusters."""
    held: list[Any] = []
    for batch in batches:
        table = pyarrow.Table.from_batches([*held, batch])
        ends = _ends(*_numbers(table, "member", "one", "two"))
        whole = int(numpy.searchsorted(ends, len(table)))  # the last pieces may go on in the next batch
        yield from _pair_pieces(rule, table.slice(0, whole))
        held = table.slice(whole).to_batches()
    if held:
        yield from _pair_pieces(rule, pyarrow.Table.from_batches(held))


def _pair_pieces(rule: Rule, table: Any) -> Batches:
    """Pairs each row of a first piece with all behind it in the second one, or in the same one where a piece meets itself,
    but for those of its own cluster, which are next to it."""
    if len(table) == 0:
        return
    member, one, two, piece, head = _numbers(table, "member", "one", "two", "piece", "head")
    key = member, one, two
    begins = numpy.where(one == two, 0, _ends(*key, piece))
    begins = numpy.maximum(begins, _ends(*key, head))
    counts = numpy.where(piece == one, _ends(*key) - begins, 0)
    parts = numpy.cumsum(counts) // GATHERED
    for rows in numpy.split(numpy.arange(len(table)), numpy.flatnonzero(numpy.diff(parts)) + 1):
        some = counts[rows]
        other = numpy.arange(some.sum()) + numpy.repeat(begins[rows] - (numpy.cumsum(some) - some), some)
        yield _select(rule, table, numpy.repeat(rows, some), other)


def _check(rule: Rule, batches: Batches) -> Batches:
    """Pairs of sets that resemble each other, by their rows and the leading bits of hashes."""
    for batch in batches:
        keys, sizes = [], numpy.zeros(batch.num_rows, numpy.int64)
        bits = numpy.uint64(max(1, batch.num_rows.bit_length()))
        for name in "one", "packed":
            hashes, counts = read_sets(batch, name)
            rows = numpy.repeat(numpy.arange(batch.num_rows, dtype=numpy.uint64), counts)
            keys.append(rows << numpy.uint64(64) - bits | hashes >> bits)
            sizes += counts
        ascending = numpy.sort(numpy.concatenate(keys))
        same = ascending[1:][ascending[1:] == ascending[:-1]] >> numpy.uint64(64) - bits
        shared = numpy.bincount(same.astype(numpy.int64), minlength=batch.num_rows)
        yield batch.select(["a", "b"]).filter(pyarrow.array(rule.suffices(shared, sizes)))
