"""Documents whose texts resemble each other, and which of them represents the others: exactly, as on one machine.

The shingles of all texts are counted, by hash, in saturating counters that several may share. So a counter of 1 proves
that one text alone has a shingle. Of two texts that resemble each other by T, each has one of the shingles of both
among its first |A| - ceil(T |A|) + 1, in any order of all shingles. In the order of rarity, these are mostly shingles
that no other text has: then nothing resembles the text, and its task is done with it. The others are compared by one
task; or by many, which then get what is connected. Which text joins which is decided there by libidx. Where one task can
compare all texts, none are counted.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, Callable, Iterator, NamedTuple, Optional

import numpy
import pyarrow
import pyarrow.compute
import pyarrow.ipc
from pyspark import StorageLevel
from pyspark.sql import DataFrame
from pyspark.sql import functions as F
from pyspark.sql.types import StructField, StructType

from .._resemblance import Sets, Unit, make_sets
from ._components import keep
from ._columns import LOG, PACKED, Batches, column_of, concatenate, invalid, read_sets, task_folder
from ._connect import connect
from ._documents import hint_few

if TYPE_CHECKING:
    from pyspark import Broadcast

ONE_TASK = 1 << 28
"""Shingles that one task compares; more are divided."""
UNCOUNTED = 1 << 32
"""Bytes of texts of which one task compares all, unless many are to."""
MOST_BYTES = 1 << 30
"""Of the shingles of a text, and half of what Arrow holds in a batch."""
ROWS = 1024
"""Texts whose shingles are made at once, and rows in a batch of results."""
BYTES = 3
"""Of texts, for which there is a counter: for words, that is two for each shingle."""
MOST_BITS = 32
"""Of a hash, which find its counter: places are uint32."""
SLICE = 1 << 22
"""Counters that are added up at once."""
UNITS = 10000
"""Of a resemblance, as IDX_THRESHOLD_ONE."""


class Rule(NamedTuple):
    """When texts resemble each other."""

    resemblance: float
    width: int
    unit: Unit
    most: Optional[int] = None  # texts that may have a shingle that counts

    @property
    def least(self) -> int:
        """The resemblance in units of 1/UNITS, rounded down."""
        return int(self.resemblance * UNITS)

    def prefixes(self, counts: Any) -> Any:
        """How many of the first of so many shingles two texts have one of in common: int64[n]."""
        return counts + -self.least * counts // UNITS + 1

    def suffices(self, shared: Any, sizes: Any) -> Any:
        """Whether so many shared shingles are enough for two texts that have so many together: bool[n]."""
        return shared * (UNITS + self.least) >= self.least * sizes


class Counters(NamedTuple):
    """In how many texts shingles are, at most up to 255; and those that don't count, ascending."""

    counts: Broadcast[Any]
    shift: int
    texts: int  # how many have shingles
    common: Optional[Broadcast[Any]] = None

    def of(self, hashes: Any) -> Any:
        """The counters of hashes: uint8[n]."""
        return self.counts.value[hashes >> numpy.uint64(self.shift)]

    def destroy(self) -> None:
        """Frees what the driver and workers hold. Spark itself does so once Python and the JVM collect garbage."""
        for sent in self.counts, self.common:
            if sent is not None:
                sent.destroy()


def find_duplicates(
    texts: DataFrame,
    rule: Rule,
    most: Optional[Callable[[int], int]],
    size: int,
    distribute: Optional[bool],
    memory: int,
) -> DataFrame:
    """Rows of id and text → those of documents that others represent: id, representative_id, resemblance. most: how many
    of so many texts may have a shingle that counts. size: bytes of all texts. Compares at once."""
    id_type = texts.schema["id"].dataType
    if not distribute and size <= UNCOUNTED:
        LOG.info("dedup: one task compares all documents")
        return keep(_decide_in_one(texts, partial(_make_all_sets, rule), rule, most, memory))
    counters = _count_shingles_of_all(texts, rule, size, memory)
    if most is not None:
        rule = rule._replace(most=most(counters.texts))
        counters = _ignore_common(texts, rule, counters)
    schema = StructType([StructField("id", id_type)]).add("name", "long").add("packed", "binary")
    left = texts.mapInArrow(partial(_leave, rule, counters), schema).persist(StorageLevel.DISK_ONLY)
    try:
        return keep(_compare_all(left, rule, counters, distribute, memory))
    finally:
        left.unpersist()
        counters.destroy()


def _compare_all(left: DataFrame, rule: Rule, counters: Counters, distribute: Optional[bool], memory: int) -> DataFrame:
    """The documents that others represent, of the sets that are left after counting. These are cached, and what is
    returned is computed later."""
    row = left.agg(F.count("*"), F.sum(F.octet_length("packed"))).first()
    assert row is not None
    shingles = (row[1] or 0) // 8
    if distribute is None:
        distribute = shingles > ONE_TASK
    way = "many tasks compare them" if distribute else "one task compares them"
    LOG.info("dedup: %d documents have shingles in common with others: %s", row[0], way)
    if not distribute:
        return _decide_in_one(left, iter, rule, None, memory)
    clusters = keep(connect(left.select("name", "packed"), shingles, rule, counters))
    divided = left.join(hint_few(clusters), "name").repartition("cluster").select("id", "packed")
    return divided.mapInArrow(partial(_decide, rule, None, memory), _make_found_schema(left))


def _make_found_schema(sets: DataFrame) -> StructType:
    """Columns of the documents that others represent."""
    id_type = sets.schema["id"].dataType
    return StructType([StructField("id", id_type), StructField("representative_id", id_type)]).add("resemblance", "double")


def _decide_in_one(
    rows: DataFrame,
    make: Callable[[Batches], Batches],
    rule: Rule,
    most: Optional[Callable[[int], int]],
    memory: int,
) -> DataFrame:
    """The documents that others represent, decided by one task. `make` makes sets of the rows, in many tasks."""
    blobs = rows.mapInArrow(partial(_enclose, make), "blob binary, schema binary").repartition(1)
    return blobs.mapInArrow(partial(_decide_enclosed, rule, most, memory), _make_found_schema(rows))


def _count_shingles_of_all(texts: DataFrame, rule: Rule, size: int, memory: int) -> Counters:
    """Counts the shingles of all texts, in as many counters as they may need, or as half of the memory holds."""
    bits = _choose_bits(rule, size, memory)
    schema = "slice long, places binary, counts binary, texts long"
    slices = texts.select("text").mapInArrow(partial(_count_shingles, rule, bits), schema)
    summed = slices.repartition(max(1, (1 << bits) // SLICE), "slice").mapInArrow(
        partial(_add_slices, min(SLICE, 1 << bits)), "slice long, counts binary, texts long"
    )
    counts, with_shingles = numpy.zeros(1 << bits, numpy.uint8), 0
    for row in summed.rdd.toLocalIterator():  # Spark 4.3.0 never frees the rows that DataFrame.toLocalIterator gives
        begin = row["slice"] * SLICE
        counts[begin : begin + SLICE] = numpy.frombuffer(row["counts"], numpy.uint8)
        with_shingles += row["texts"]
    LOG.info("dedup: %d counters of shingles, of which %.3f are 1", len(counts), (counts == 1).mean())
    return Counters(texts.sparkSession.sparkContext.broadcast(counts), 64 - bits, with_shingles)


def _choose_bits(rule: Rule, size: int, memory: int) -> int:
    """How many leading bits of a hash are the number of its counter."""
    needed = size if rule.unit == "characters" else size // BYTES
    return min(MOST_BITS, max(10, min(needed, memory // 4).bit_length()))


def _ignore_common(texts: DataFrame, rule: Rule, counters: Counters) -> Counters:
    """Finds the shingles that more than rule.most texts have. Those whose counter reaches this number are counted
    exactly."""
    run = partial(_count_frequent, rule, counters)
    counted = texts.select("text").mapInArrow(run, "member long, texts long").groupBy("member").agg(F.sum("texts"))
    found = counted.where(F.col("sum(texts)") > rule.most).select("member").toPandas()["member"]
    common = numpy.sort(found.to_numpy().astype(numpy.int64).view(numpy.uint64))
    LOG.info("dedup: %d shingles don't count, which more than %d texts have", len(common), rule.most)
    return counters._replace(common=texts.sparkSession.sparkContext.broadcast(common))


# ---- In a task ----


def make_sets_of(rule: Rule, batches: Batches, text: str = "text", common: Any = None) -> Any:
    """The rows of batches, a few at a time: the batch, the shingles of its texts, and how many each has."""
    for whole in batches:
        for begin in range(0, whole.num_rows, ROWS):
            batch = whole.slice(begin, ROWS)
            hashes, counts = make_sets(column_of(batch, text), rule.width, rule.unit)
            if common is not None and len(common) > 0:
                places = numpy.minimum(numpy.searchsorted(common, hashes), len(common) - 1)
                counting = common[places] != hashes
                hashes, counts = hashes[counting], _sum_runs(counting, counts)
            yield batch, hashes, counts


def pack_sets(hashes: Any, counts: Any) -> Iterator[tuple[Any, pyarrow.Array]]:
    """Sets, none of them empty, as binaries: their numbers, and as many of them as Arrow holds in a batch."""
    sizes = 8 * counts
    if len(sizes) > 0 and sizes.max() > MOST_BYTES:
        raise invalid(f"a text has {sizes.max() // 8} shingles, and {MOST_BYTES // 8} are the most: leave it out")
    parts = (numpy.cumsum(sizes) - 1) // MOST_BYTES
    for some in numpy.split(numpy.arange(len(sizes)), numpy.flatnonzero(numpy.diff(parts)) + 1):
        taken = int(sizes[some].sum()) // 8
        offsets = pyarrow.py_buffer(numpy.concatenate([[0], numpy.cumsum(sizes[some])]).astype(numpy.int32))
        buffers = [None, offsets, pyarrow.py_buffer(numpy.ascontiguousarray(hashes[:taken]))]
        yield some, pyarrow.Array.from_buffers(pyarrow.binary(), len(some), buffers)
        hashes = hashes[taken:]


def _sum_runs(numbers: Any, counts: Any) -> Any:
    """The sums of runs of numbers, which have counts[i] numbers each; for marks, how many of each run are set:
    int64[n]."""
    sums = numpy.concatenate([[0], numpy.cumsum(numbers)])
    ends = numpy.cumsum(counts)
    return sums[ends] - sums[ends - counts]


def _count_distinct(numbers: Any) -> tuple[Any, Any]:
    """The different numbers, ascending, and how often each is there."""
    ascending = numpy.sort(numbers)
    first = numpy.flatnonzero(numpy.diff(ascending, prepend=~ascending[:1]))
    return ascending[first], numpy.diff(first, append=len(ascending))


def _count_shingles(rule: Rule, bits: int, batches: Batches) -> Batches:
    """Counters of the shingles of a task's texts, in slices: all counters of a slice, or where few are not 0, the
    places and values of these. The first slice has how many texts have shingles."""
    counters, texts = numpy.zeros(1 << bits, numpy.uint8), 0
    for _, hashes, sizes in make_sets_of(rule, batches):
        texts += int(numpy.count_nonzero(sizes))
        places, found = _count_distinct((hashes >> numpy.uint64(64 - bits)).astype(numpy.uint32))
        counters[places] = numpy.minimum(counters[places] + found, 255)
    for begin in range(0, len(counters), SLICE):
        counts = counters[begin : begin + SLICE]
        places = numpy.flatnonzero(counts).astype(numpy.uint32)
        if 5 * len(places) < len(counts):
            counts = counts[places]
        else:
            places = places[:0]
        yield pyarrow.RecordBatch.from_pydict(
            {
                "slice": pyarrow.array([begin // SLICE], pyarrow.int64()),
                "places": pyarrow.array([places.tobytes()], pyarrow.binary()),
                "counts": pyarrow.array([counts.tobytes()], pyarrow.binary()),
                "texts": pyarrow.array([texts if begin == 0 else 0], pyarrow.int64()),
            }
        )


def _add_slices(size: int, batches: Batches) -> Batches:
    """The sums of the tasks' counters, by slice, up to 255 each; and of how many texts have shingles."""
    sums: dict[int, Any] = {}
    texts: dict[int, int] = {}
    for batch in batches:
        for number, places, given, some in zip(*(column.to_pylist() for column in batch.columns), strict=True):
            counts = sums.setdefault(number, numpy.zeros(size, numpy.uint16))
            if len(given) == size:
                counts += numpy.frombuffer(given, numpy.uint8)
            else:
                counts[numpy.frombuffer(places, numpy.uint32)] += numpy.frombuffer(given, numpy.uint8)
            numpy.minimum(counts, 255, out=counts)
            texts[number] = texts.get(number, 0) + some
    for number, counts in sums.items():
        made = pyarrow.array([counts.astype(numpy.uint8).tobytes()], pyarrow.binary())
        numbers = {name: pyarrow.array([value], pyarrow.int64()) for name, value in (("slice", number), ("texts", texts[number]))}
        yield pyarrow.RecordBatch.from_pydict({"slice": numbers["slice"], "counts": made, "texts": numbers["texts"]})


def _count_frequent(rule: Rule, counters: Counters, batches: Batches) -> Batches:
    """Shingles that may be in more texts than rule.most, and in how many texts of a batch they are."""
    assert rule.most is not None
    for _, hashes, _ in make_sets_of(rule, batches):
        members, counts = _count_distinct(hashes[counters.of(hashes) >= min(rule.most, 255)])
        columns = [pyarrow.array(column.astype(numpy.int64)) for column in (members.view(numpy.int64), counts)]
        yield pyarrow.RecordBatch.from_arrays(columns, names=["member", "texts"])


def _make_all_sets(rule: Rule, batches: Batches) -> Batches:
    """The IDs, names and sets of texts that have shingles."""
    for batch, hashes, counts in make_sets_of(rule, batches):
        yield from _pack_some(batch, hashes, counts, counts > 0)


def _leave(rule: Rule, counters: Counters, batches: Batches) -> Batches:
    """The IDs, names and sets of texts that others may resemble. A name is the sum of a text's shingles."""
    common = None if counters.common is None else counters.common.value
    for batch, hashes, counts in make_sets_of(rule, batches, common=common):
        alone = _sum_runs(counters.of(hashes) == 1, counts)
        yield from _pack_some(batch, hashes, counts, (counts > 0) & (alone < rule.prefixes(counts)))


def _pack_some(batch: pyarrow.RecordBatch, hashes: Any, counts: Any, stays: Any) -> Batches:
    """The rows of a batch for which `stays` is set: ID, name and set."""
    ids = column_of(batch, "id").take(pyarrow.array(numpy.flatnonzero(stays)))
    names = _sum_runs(hashes.view(numpy.int64), counts)[stays]
    for some, sets in pack_sets(hashes[numpy.repeat(stays, counts)], counts[stays]):
        columns = [ids.take(pyarrow.array(some)), pyarrow.array(names[some]), sets]
        yield pyarrow.RecordBatch.from_arrays(columns, names=["id", "name", "packed"])


def _enclose(make: Callable[[Batches], Batches], batches: Batches) -> Batches:
    """The rows that `make` makes, which have many sets each, in few rows, so that they cost the JVM next to nothing:
    pieces of batches as messages of Arrow."""
    for batch in make(batches):
        rows = batch.select(["id", "packed"])
        _, counts = read_sets(rows, "packed")
        bounds = numpy.flatnonzero(numpy.diff(numpy.cumsum(counts) // PACKED, prepend=-1, append=-1)).tolist()
        pieces = [rows.slice(begin, end - begin) for begin, end in zip(bounds, bounds[1:])]
        blobs = pyarrow.array([piece.serialize().to_pybytes() for piece in pieces], pyarrow.binary())
        schema = pyarrow.array([rows.schema.serialize().to_pybytes()] * len(blobs), pyarrow.binary())
        yield pyarrow.RecordBatch.from_arrays([blobs, schema], names=["blob", "schema"])


def _disclose(batches: Batches) -> Batches:
    """The batches that _enclose has put into its rows."""
    for batch in batches:
        if batch.num_rows > 0:
            schema = pyarrow.ipc.read_schema(batch.column("schema")[0].as_buffer())
            pieces = [pyarrow.ipc.read_record_batch(blob.as_buffer(), schema) for blob in batch.column("blob")]
            yield from pyarrow.Table.from_batches(pieces).combine_chunks().to_batches()


def _rank_ids(ids: pyarrow.Array) -> Any:
    """A number for each ID, the greater the smaller the ID is: int64[n]."""
    columns = pyarrow.Table.from_arrays([ids], names=["id"]).flatten()  # parts of texts have two
    order = pyarrow.compute.sort_indices(columns, [(name, "ascending") for name in columns.column_names])
    ranks = numpy.empty(len(ids), numpy.int64)
    ranks[order.to_numpy()] = numpy.arange(len(ids), 0, -1)
    return ranks


def _decide_enclosed(rule: Rule, most: Optional[Callable[[int], int]], memory: int, batches: Batches) -> Batches:
    """Does what _decide does, for rows that _enclose made."""
    return _decide(rule, most, memory, _disclose(batches))


def _decide(rule: Rule, most: Optional[Callable[[int], int]], memory: int, batches: Batches) -> Batches:
    """The documents that others represent, of all sets that come in. In the order of their IDs, the first ones are
    kept."""
    sets, ids = Sets(rule.width, rule.unit, (1, memory, task_folder(), None)), list[Any]()
    for batch in batches:
        sets.add_sets(*read_sets(batch, "packed"))
        ids.append(column_of(batch, "id"))
    if not ids:
        return
    whole = concatenate(ids)
    if most is not None:
        sets.ignore_common(most(sets.compared()))
    kept, alike = sets.keep(rule.resemblance, 0, _rank_ids(whole), False)
    rows = numpy.flatnonzero(kept != numpy.arange(len(kept), dtype=numpy.uint64))
    for begin in range(0, len(rows), ROWS):
        some = rows[begin : begin + ROWS]
        names = [whole.take(pyarrow.array(which)).cast(ids[0].type) for which in (some, kept[some])]
        columns = [*names, pyarrow.array(alike[some])]
        yield pyarrow.RecordBatch.from_arrays(columns, names=["id", "representative_id", "resemblance"])
