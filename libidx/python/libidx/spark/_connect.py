"""Which texts pairs that resemble each other connect, in any number of tasks.

A text goes by its name here, the sum of its shingles. So copies have one name; where two other sets had, by chance, they
would be connected, which costs time alone. Texts are listed by each of their first shingles, in the order of rarity,
that others may have: by the leading bits of its hash. In a short list each text is compared with all others, and in a
long one with the few next to it. Then long lists are cut into pieces, each two of which meet, and texts are compared
that no pairs connect: so a list of texts that all resemble each other takes linear time. Of most pairs, parities of
their sets tell that they have too little in common. A pair is compared once: where its first common shingle is, as far
as the ones before tell, and by leaving out what other lists propose as well.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import numpy
import pyarrow
from pyspark import StorageLevel
from pyspark.sql import DataFrame, Window
from pyspark.sql import functions as F

from ._components import connected_components, keep
from ._columns import (
    GATHERED,
    LOG,
    PACKED,
    Batches,
    count_bits,
    count_slots,
    distinct,
    numbers_of,
    partition_keys,
    read_sets,
    unpack_column,
)
from ._documents import hint_few

if TYPE_CHECKING:
    from ._resemble import Counters, Rule

NEAR = 8
"""Texts that one is compared with behind it in a long list."""
SHORT = 64
"""Texts of a list, each two of which are compared."""
PIECE = 1 << 12
"""Texts of a piece of a list."""
LISTED = 1 << 21
"""Rows of lists in a task."""
TEXTS = 1 << 10
"""Texts whose shingles are sorted at once."""
MEMBER_BITS = 46
"""Of a hash, by which texts are listed: with the number of one of TEXTS and a counter, that is 64."""
FIELDS = "member", "previous", "name", "parity", "size", "place"
"""Of a text in a list: the shingle, the one before it there (0: none), the name of the text, the bits of its parity, how
many shingles it has, and how many are before this one."""
ROW = numpy.dtype([(name, "u4" if name in ("size", "place") else "u8") for name in FIELDS])
PAIR = "a long, b long"


def connect(sets: DataFrame, shingles: int, rule: Rule, counters: Counters) -> DataFrame:
    """Rows of name and packed, which have so many shingles → name and cluster, of those that others resemble."""
    tasks = max(count_slots(sets.sparkSession), int(shingles * (1 - rule.resemblance)) // LISTED)
    rows = sets.mapInArrow(partial(_list_members, rule, counters, tasks), "task long, packed binary")
    lists = rows.repartition(tasks, "task").select("packed").persist(StorageLevel.DISK_ONLY)
    near = keep(lists.mapInArrow(partial(_pair_near, rule, NEAR, SHORT), PAIR).distinct())
    edges = _compare_pairs(near.where("a <> b"), sets, rule)
    found = connected_components(edges, "a", "b").withColumnRenamed("member", "name")
    columns = ", ".join(f"{name} long" for name in (*FIELDS, "texts"))
    longer = lists.mapInArrow(partial(_read_long_lists, SHORT), columns)
    if longer.first() is not None:
        pieces = _cut_lists(longer.join(found, "name", "left").withColumn("cluster", F.coalesce("cluster", "name")))
        far = keep(pieces.mapInArrow(partial(_pair_far, rule), PAIR).distinct().subtract(near))
        links = found.selectExpr("name as a", "cluster as b").union(_compare_pairs(far, sets, rule))
        found = connected_components(links, "a", "b").withColumnRenamed("member", "name")
    lists.unpersist()
    copies = near.where("a = b").selectExpr("a as name", "b as cluster")
    return found.unionByName(copies).groupBy("name").agg(F.min("cluster").alias("cluster"))


def _cut_lists(members: DataFrame) -> DataFrame:
    """The rows of lists, once for each two pieces that meet, `one` and `two`. Rows of a cluster are next to each other,
    and do not meet those pieces that consist of the same cluster alone."""
    of_member, of_cluster = Window.partitionBy("member"), Window.partitionBy("member", "cluster")
    rows = members.withColumn("row", F.row_number().over(of_member.orderBy("cluster", "name")) - 1)
    rows = rows.withColumn("head", F.min("row").over(of_cluster)).withColumn("tail", F.max("row").over(of_cluster))
    others = F.expr(
        f"array_distinct(concat(sequence(0L, head div {PIECE}), array(row div {PIECE}),"
        f" sequence(tail div {PIECE}, (texts - 1) div {PIECE})))"
    )
    pieces = rows.selectExpr("*", f"row div {PIECE} as piece").withColumn("other", F.explode(others))
    pieces = pieces.selectExpr("*", "least(piece, other) as one", "greatest(piece, other) as two")
    keys = "member", "one", "two"
    return pieces.repartition(*keys).sortWithinPartitions(*keys, "row")


def _compare_pairs(pairs: DataFrame, sets: DataFrame, rule: Rule) -> DataFrame:
    """The pairs of texts that resemble each other; by chance, some others as well."""
    LOG.info("dedup: %d pairs are compared", pairs.count())
    names = pairs.selectExpr("a as name").union(pairs.selectExpr("b as name")).distinct()
    found = sets.join(hint_few(names), "name", "leftsemi").dropDuplicates(["name"]).persist(StorageLevel.DISK_ONLY)
    both = pairs.join(found.selectExpr("name as a", "packed as one"), "a").join(found.withColumnRenamed("name", "b"), "b")
    alike = keep(both.select("a", "b", "one", "packed").mapInArrow(partial(_check_pairs, rule), PAIR))
    found.unpersist()
    return alike


# ---- In a task ----


def _list_members(rule: Rule, counters: Counters, tasks: int, batches: Batches) -> Batches:
    """Rows of lists, packed, for each task that makes lists."""
    keys, held, size = partition_keys(tasks), list[Any](), 0
    for batch in batches:
        for begin in range(0, batch.num_rows, TEXTS):
            held.append(_list_texts(rule, counters, batch.slice(begin, TEXTS)))
            size += len(held[-1])
            if size >= GATHERED:
                yield from _pack_by_task(numpy.concatenate(held), keys)
                held, size = [], 0
    if held:
        yield from _pack_by_task(numpy.concatenate(held), keys)


def _list_texts(rule: Rule, counters: Counters, batch: pyarrow.RecordBatch) -> Any:
    """The rows of the lists that have some texts: ROW[n]."""
    hashes, counts = read_sets(batch, "packed")
    begins, owners = numpy.cumsum(counts) - counts, numpy.repeat(numpy.arange(len(counts)), counts)
    rarity = counters.of(hashes).astype(numpy.uint64)
    bits = numpy.uint64(MEMBER_BITS)
    members = rarity << bits | hashes >> numpy.uint64(64 - MEMBER_BITS)
    keys = owners.astype(numpy.uint64) << numpy.uint64(MEMBER_BITS + 8) | members
    keys.sort()
    members = keys & (numpy.uint64(1) << bits) - numpy.uint64(1)
    is_shared = keys >> bits & numpy.uint64(255) > 1
    places = numpy.arange(len(keys)) - begins[owners]
    chosen = numpy.flatnonzero(is_shared & (places < rule.prefixes(counts)[owners]))
    of, rows = owners[chosen], numpy.empty(len(chosen), ROW)
    has_previous = numpy.diff(of, prepend=-1) == 0
    rows["member"] = members[chosen]
    rows["previous"] = numpy.where(has_previous, numpy.roll(rows["member"], 1), 0)
    rows["name"] = numbers_of(batch, "name")[of]
    parities = numpy.bitwise_xor.reduceat(numpy.uint64(1) << (hashes & numpy.uint64(63)), begins)
    rows["parity"], rows["size"], rows["place"] = parities[of], counts[of], places[chosen]
    return rows


def _pack_by_task(rows: Any, keys: Any) -> Batches:
    """Rows, packed, with the key of the task that makes their lists."""
    tasks = (rows["member"] >> numpy.uint64(MEMBER_BITS - 30)) * numpy.uint64(len(keys)) >> numpy.uint64(30)
    order = numpy.argsort(tasks, kind="stable")
    rows, ends = rows[order], numpy.cumsum(numpy.bincount(tasks.astype(numpy.int64), minlength=len(keys)))
    most = 8 * PACKED // ROW.itemsize
    for key, begin, end in zip(keys.tolist(), [0, *ends], ends):
        blobs = [rows[i : min(i + most, end)].tobytes() for i in range(begin, end, most)]
        task = pyarrow.array([key] * len(blobs), pyarrow.int64())
        yield pyarrow.RecordBatch.from_arrays([task, pyarrow.array(blobs, pyarrow.binary())], names=["task", "packed"])


def _read_lists(batches: Batches) -> Any:
    """The rows of a task's lists, list by list: ROW[n]. In a list they are ordered by about their sizes, and copies are
    next to each other."""
    parts = [unpack_column(batch, 0, batch.num_rows).view(ROW) for batch in batches]
    rows = numpy.concatenate(parts) if parts else numpy.empty(0, ROW)
    sizes = numpy.minimum(12 * numpy.log2(rows["size"]), 255).astype(numpy.uint64)  # grow by 6 %
    low = 64 - MEMBER_BITS
    keys = rows["member"] << numpy.uint64(low) | sizes << numpy.uint64(low - 8) | rows["name"] >> numpy.uint64(72 - low)
    return rows[numpy.argsort(keys)]


def _is_copy(rows: Any) -> Any:
    """Whether the row before is of the same list and has the same name: bool[n]."""
    found = numpy.zeros(len(rows), bool)
    found[1:] = (rows["member"][1:] == rows["member"][:-1]) & (rows["name"][1:] == rows["name"][:-1])
    return found


def _count_texts(rows: Any) -> Any:
    """How many texts each row's list has: int64[n]."""
    ends = _find_run_ends(rows["member"])
    return ends - numpy.searchsorted(ends, ends)


def _read_long_lists(short: int, batches: Batches) -> Batches:
    """The rows of lists that are not short, without copies."""
    rows = _read_lists(batches)
    rows = rows[~_is_copy(rows)]
    texts = _count_texts(rows)
    chosen = numpy.flatnonzero(texts > short)
    for some in numpy.split(chosen, range(GATHERED, len(chosen), GATHERED)):
        columns = [pyarrow.array(column) for column in (*(rows[name][some].astype(numpy.int64) for name in FIELDS), texts[some])]
        yield pyarrow.RecordBatch.from_arrays(columns, names=[*FIELDS, "texts"])


def _make_pairs(a: Any, b: Any) -> pyarrow.RecordBatch:
    """A batch of pairs of names, the smaller one first."""
    a, b = a.view(numpy.int64), b.view(numpy.int64)
    columns = [pyarrow.array(some) for some in (numpy.minimum(a, b), numpy.maximum(a, b))]
    return pyarrow.RecordBatch.from_arrays(columns, names=["a", "b"])


def _select_pairs(rule: Rule, rows: Any, one: Any, other: Any) -> pyarrow.RecordBatch:
    """Those pairs of rows `one` and `other` of a list that may resemble each other, and of which this may be the first
    shingle that both have: behind it, each has as many more as it has, and they differ in more shingles than in bits of
    their parities."""
    size, parity = rows["size"], rows["parity"]
    sizes = size[one].astype(numpy.int64) + size[other]
    chosen = rule.suffices(sizes - count_bits(parity[one] ^ parity[other]), 2 * sizes)
    one, other, sizes = one[chosen], other[chosen], sizes[chosen]
    previous, place = rows["previous"], rows["place"]
    is_first = (previous[one] != previous[other]) | (previous[one] == 0)
    left = [size[row].astype(numpy.int64) - place[row] for row in (one, other)]
    chosen = is_first & rule.suffices(numpy.minimum(*left), sizes)
    name = rows["name"]
    return _make_pairs(name[one[chosen]], name[other[chosen]])


def _pair_near(rule: Rule, near: int, short: int, batches: Batches) -> Batches:
    """Pairs of texts whose rows are up to `near` apart in a list, or anywhere in a list of up to `short` texts; and
    each name that copies have, paired with itself."""
    rows = _read_lists(batches)
    is_copy = _is_copy(rows)
    names = distinct(rows["name"][is_copy])
    yield _make_pairs(names, names)
    rows = rows[~is_copy]
    members, reach = rows["member"], _count_texts(rows)
    reach = numpy.where(reach > short, near, reach)
    for distance in range(1, int(reach.max(initial=0)) + 1):
        one = numpy.flatnonzero((members[:-distance] == members[distance:]) & (reach[:-distance] >= distance))
        yield _select_pairs(rule, rows, one, one + distance)


def _find_run_ends(*columns: Any) -> Any:
    """Where each row's run of equal rows ends: int64[n]."""
    changes = numpy.any([column[1:] != column[:-1] for column in columns], axis=0)
    bounds = numpy.concatenate([[0], numpy.flatnonzero(changes) + 1, [len(columns[0])]])
    return numpy.repeat(bounds[1:], numpy.diff(bounds))


def _pair_far(rule: Rule, batches: Batches) -> Batches:
    """Pairs of texts of two pieces, or of one, that are in different clusters."""
    held: list[Any] = []
    for batch in batches:
        table = pyarrow.Table.from_batches([*held, batch])
        ends = _find_run_ends(*(table.column(name).to_numpy() for name in ("member", "one", "two")))
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
    held = {name: table.column(name).to_numpy() for name in table.column_names}
    held.update((name, held[name].view(numpy.uint64)) for name in ("name", "parity"))
    member, one, two, piece, head = (held[name] for name in ("member", "one", "two", "piece", "head"))
    key = member, one, two
    begins = numpy.where(one == two, 0, _find_run_ends(*key, piece))
    begins = numpy.maximum(begins, _find_run_ends(*key, head))
    counts = numpy.where(piece == one, _find_run_ends(*key) - begins, 0)
    parts = numpy.cumsum(counts) // GATHERED
    for rows in numpy.split(numpy.arange(len(table)), numpy.flatnonzero(numpy.diff(parts)) + 1):
        some = counts[rows]
        other = numpy.arange(some.sum()) + numpy.repeat(begins[rows] - (numpy.cumsum(some) - some), some)
        yield _select_pairs(rule, held, numpy.repeat(rows, some), other)


def _check_pairs(rule: Rule, batches: Batches) -> Batches:
    """Those pairs of sets that resemble each other. Shared hashes are counted by their leading bits."""
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
