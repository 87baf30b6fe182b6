"""A million fingerprints and more: 1e5 against 1e7, 1e6 against 1e6 with IDs, and deduplicating a million."""

import os

import numpy
import pytest
from conftest import columns, count_bits, frame, near_copies
from test_build import check_shards
from test_match import expected

import libidx
import libidx.spark as idx

pytestmark = pytest.mark.large


def test_1e5_against_1e7(spark, random):
    held = random.integers(0, 2**64 - 1, 10**7, numpy.uint64, endpoint=True)
    queries = held[::100] ^ numpy.uint64(9 << 30)
    held.tofile("old.u64")
    wanted = numpy.array(expected(queries, held, 3))
    found = columns(idx.match(frame(spark, queries), os.path.abspath("old.u64")))
    assert (numpy.stack(found, axis=1) == wanted).all() and len(wanted) >= 10**5


def test_1e6_against_1e6_with_ids(spark, random):
    held, queries = near_copies(random, 10**6), near_copies(random, 10**6)
    queries[::3] = held[::3] ^ numpy.uint64(1 << 63)
    numbers = numpy.arange(10**6)
    new, old = frame(spark, queries, numbers), frame(spark, held, numbers)
    found = columns(idx.match(new, old, new_id="id", old_id="id", memory=1 << 29))
    asked, near, distance, new_id, old_id = found
    assert (queries[new_id] == asked.view(numpy.uint64)).all() and (held[old_id] == near.view(numpy.uint64)).all()
    assert (count_bits(asked ^ near) == distance).all()
    wanted = expected(queries, held, 3)
    values, counts = numpy.unique(queries, return_counts=True)
    theirs, their_counts = numpy.unique(held, return_counts=True)
    pairs = numpy.array([row[:2] for row in wanted]).view(numpy.uint64)
    weights = counts[numpy.searchsorted(values, pairs[:, 0])] * their_counts[numpy.searchsorted(theirs, pairs[:, 1])]
    assert len(asked) == weights.sum() == len(set(zip(new_id.tolist(), old_id.tolist())))


def test_a_million_deduplicated_and_built(spark, random):
    held = near_copies(random, 10**6)
    ids = random.permutation(10**6)
    df = frame(spark, held, ids)
    one = libidx.clusters(held, ids.astype(numpy.uint64), 3, representative="smallest-id", alone=True)
    wanted = numpy.empty(10**6, numpy.int64)
    wanted[one.numbers.view(numpy.int64)] = one.numbers[one.is_representative].view(numpy.int64)[one.clusters]
    for distribute in False, True:
        found = idx.clusters(df, "id", distribute=distribute)
        found = columns(found.select("id", "representative_id"))
        assert (found[1] == wanted).all()
    check_shards(idx.build(df, os.path.abspath("out"), 4, id="id"), held)
