"""Every way to ask, compared with a linear scan by NumPy."""

import pickle
import threading

import families
import numpy
import pytest
from conftest import distances, near_copies, scan
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import libidx

UINT64 = st.integers(0, 2**64 - 1)
CALM = settings(max_examples=40, deadline=None, suppress_health_check=list(HealthCheck))


def rows(matches):
    """Matches as a list for each query."""
    assert matches.offsets.dtype == numpy.int64
    assert matches.fingerprints.dtype == numpy.uint64
    assert matches.distances.dtype == numpy.uint8
    assert matches.offsets[0] == 0 and matches.offsets[-1] == len(matches.fingerprints) == len(matches.distances)
    pairs = list(zip(matches.fingerprints.tolist(), matches.distances.tolist(), strict=True))
    return [pairs[begin:end] for begin, end in zip(matches.offsets[:-1], matches.offsets[1:], strict=True)]


@CALM
@given(
    centres=st.lists(UINT64, min_size=0, max_size=6),
    turns=st.lists(st.tuples(st.integers(0, 5), st.integers(0, 63), st.integers(0, 63)), max_size=40),
    queries=st.lists(UINT64, max_size=4),
    k=st.integers(0, 3),
    limit=st.none() | st.integers(0, 5),
    threads=st.integers(1, 3),
)
def test_lookups(tmp_path_factory, centres, turns, queries, k, limit, threads):
    fingerprints = centres + [centres[c % len(centres)] ^ (1 << a) ^ (1 << b) for c, a, b in turns if centres]
    held = numpy.array(fingerprints, numpy.uint64)
    path = tmp_path_factory.mktemp("index") / "i"
    libidx.build(path, held)
    asked = numpy.array(queries + fingerprints[:20], numpy.uint64)
    expected = [scan(held, query, k) for query in asked.tolist()]
    with libidx.open(path) as index:
        found = index.lookup(asked, k, limit=limit, threads=threads)
        assert rows(found) == [row[:limit] for row in expected]
        assert len(found) == len(asked)
        assert index.count(asked, k, threads=threads).tolist() == [len(row) for row in expected]
        assert index.exists(asked, k, threads=threads).tolist() == [bool(row) for row in expected]
        for query, row in zip(asked.tolist(), expected, strict=True):
            assert index.lookup(query, k, limit=limit) == row[:limit]
            assert index.count(query, k) == len(row)
            assert index.exists(query, k) is bool(row)
        for method in "auto", "probe", "sweep", "stream":
            assert rows(index.batch(asked, k, method=method, threads=threads)) == expected
    stream = libidx.Stream(asked, k)
    for piece in numpy.array_split(held, 3):
        stream.add(piece)
    assert [sorted(row) for row in rows(stream.finish())] == [sorted(row) for row in expected]


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("count", [0, 1, 255, 256, 257, 40000])
def test_batches_of_every_size(random, count, threads):
    held = near_copies(random, 3000)
    libidx.build("i", held)
    queries = random.choice(held, count) ^ numpy.uint64(1)
    with libidx.open("i") as index:
        found = index.lookup(queries, threads=threads)
        assert len(found) == count
        assert index.count(queries, threads=threads).tolist() == numpy.diff(found.offsets).tolist()
        apart = numpy.bitwise_count(found.fingerprints ^ numpy.repeat(queries, numpy.diff(found.offsets)))
        assert apart.tolist() == found.distances.tolist()
        for i in range(0, count, max(1, count // 50)):
            got = found.fingerprints[found.offsets[i] : found.offsets[i + 1]].tolist()
            assert got == [fingerprint for fingerprint, _ in scan(held, int(queries[i]), 3)]


def test_unpacked(random):
    held = near_copies(random, 2000)
    queries = held[:300]
    libidx.build("i", held[1:], k=6)
    with libidx.open("i") as index, libidx.open("i", residence="unpacked") as unpacked:
        assert rows(unpacked.lookup(queries)) == rows(index.lookup(queries))
        assert len(unpacked.lookup(int(held[1]), k=0)) == 1


def test_unpacked_for_a_distance(random):
    held = near_copies(random, 3000, most=9)
    libidx.build("i", held[:2000], k=2, id_type="none")

    def compare(index, known, farthest):
        for k in range(farthest + 1):
            queries = random.choice(held, 40) ^ numpy.uint64(2**k - 1)
            expected = [scan(known, query, k) for query in queries.tolist()]
            assert [index.lookup(query, k) for query in queries.tolist()] == expected
            assert rows(index.lookup(queries, k, threads=2)) == expected
            assert index.count(queries, k).tolist() == [len(row) for row in expected]
            assert index.exists(queries, k).tolist() == [bool(row) for row in expected]
            for method in "auto", "probe", "stream":
                assert rows(index.batch(queries, k, method=method)) == expected
        assert index.lookup(queries[0]) == index.lookup(queries[0], index.info().k)
        for call in index.lookup, index.count, index.exists:
            for asked in int(queries[0]), queries:
                with pytest.raises(libidx.BadDistanceError, match=rf"k = {farthest + 1}: .* 0 to {farthest}$"):
                    call(asked, farthest + 1)
        with pytest.raises(libidx.BadDistanceError):
            index.batch(queries, farthest + 1, method="probe")

    with libidx.open("i", residence="unpacked", k=7) as index, libidx.Writer("i") as writer:
        compare(index, held[:2000], 7)
        writer.add(held[2000:])
        assert index.refresh()
        compare(index, held, 7)
        writer.remove_fingerprints(held[:500])
        writer.close()
        libidx.compact("i")
        assert index.refresh() and index.info().pending_documents == 0
        live = numpy.setdiff1d(held, held[:500])
        compare(index, live, 7)
        with pickle.loads(pickle.dumps(index)) as again:
            compare(again, live, 7)
    # The least is the k of the index, also of one that takes its place.
    with libidx.open("i", residence="unpacked", k=3) as index:
        libidx.build("i", held[:1000], k=5, id_type="none", replace=True)
        assert index.refresh()
        compare(index, held[:1000], 5)


@pytest.mark.nightly  # 375 million matches
def test_many_matches_are_not_cut_short(random):
    ball = numpy.array(
        [(1 << a) | (1 << b) | (1 << c) for a in range(64) for b in range(a) for c in range(b)], numpy.uint64
    )
    libidx.build("i", ball)
    with libidx.open("i", residence="all") as index:
        assert len(index.lookup(0)) == len(ball) == index.count(0)
        found = index.lookup(numpy.array([0, 2**63, 0], numpy.uint64))
        assert numpy.diff(found.offsets)[[0, 2]].tolist() == [len(ball)] * 2
        assert found.fingerprints[: len(ball)].tolist() == sorted(ball.tolist())
        assert (
            rows(index.lookup(numpy.zeros(9000, numpy.uint64), limit=3))
            == [[(fingerprint, 3) for fingerprint in sorted(ball.tolist())[:3]]] * 9000
        )
        assert len(index.lookup(0, limit=50)) == 50
        # Of several threads, each looks up again what has more matches than it expected.
        nearest = [(fingerprint, 3) for fingerprint in sorted(ball.tolist())[:100]]
        assert rows(index.lookup(numpy.zeros(600, numpy.uint64), limit=100, threads=3)) == [nearest] * 600


def test_queries_that_change_meanwhile():
    """Another thread changes the caller's array: each answer is that of one of its two contents."""
    libidx.build("i", numpy.array([1 << i | 1 << j for i in range(40) for j in range(i)], numpy.uint64))
    here, away = numpy.zeros(64, numpy.uint64), numpy.full(64, 2**64 - 1, numpy.uint64)
    changing, is_done = here.copy(), threading.Event()

    def change():
        while not is_done.is_set():
            changing[:] = away
            changing[:] = here

    with libidx.open("i") as index:
        expected = [], rows(index.lookup(here[:1], limit=40))[0]
        thread = threading.Thread(target=change)
        thread.start()
        try:
            for _ in range(300):
                assert all(row in expected for row in rows(index.lookup(changing, limit=40)))
        finally:
            is_done.set()
            thread.join()


def test_pairs_and_joins(random):
    held, other = near_copies(random, 600), near_copies(random, 300)
    other[:100] = held[:100] ^ numpy.uint64(4)
    libidx.build("a", held, scheme="4")
    libidx.build("b", other, scheme="4")
    distinct, others = numpy.unique(held), numpy.unique(other)
    apart = distances(distinct, distinct)
    expected = {
        (int(distinct[i]), int(distinct[j]), int(apart[i, j])) for i, j in zip(*numpy.nonzero(apart <= 3)) if i < j
    }
    with libidx.open("a") as a, libidx.open("b") as b:
        pairs = a.pairs(threads=2)
        assert len(pairs) == len(expected) > 100
        assert set(zip(pairs.a.tolist(), pairs.b.tolist(), pairs.distances.tolist())) == expected
        joined = a.join(b, 2)
        apart = distances(distinct, others)
        expected = {(int(distinct[i]), int(others[j]), int(apart[i, j])) for i, j in zip(*numpy.nonzero(apart <= 2))}
        assert set(zip(joined.a.tolist(), joined.b.tolist(), joined.distances.tolist())) == expected
        assert len(joined) >= 100
    with pytest.raises(libidx.InvalidArgumentError):
        a.join(b)


def components(fingerprints, k):
    """Of each row, the smallest row that a chain of pairs leads to."""
    near = distances(fingerprints, fingerprints) <= k
    least = numpy.arange(len(fingerprints))
    while True:
        lower = numpy.where(near, least[None, :], len(fingerprints)).min(axis=1)
        if (lower == least).all():
            return least
        least = lower


def expect_clusters(fingerprints, ids, k, representative, method):
    """The clusters of a plain program: (ID, number, distance, whether it represents), as Clusters has its rows."""
    prints, first = fingerprints.tolist(), {}
    for at, fingerprint in enumerate(prints):
        first.setdefault(fingerprint, at)
    keys = {
        "first": lambda at: at,
        "most-documents": lambda at: (-prints.count(prints[at]), at),
        "smallest-id": lambda at: (ids[at].encode() if isinstance(ids[at], str) else ids[at], at),
    }
    found = families.cluster(prints, sorted(range(len(prints)), key=keys[representative]), k, method)
    return sorted(
        sorted((ids[at], (prints[at] ^ prints[members[0]]).bit_count(), at == members[0]) for at in members)
        for members in found
    )


def rows_of_clusters(found):
    """The same of Clusters. Clusters have numbers from 0 on, and the representative of each comes first."""
    assert found.clusters.tolist() == (numpy.cumsum(found.is_representative) - 1).tolist()
    by_number = {}
    for cluster, *row in zip(found.clusters.tolist(), found.tolist(), found.distances.tolist(), found.is_representative.tolist()):
        by_number.setdefault(cluster, []).append(tuple(row))
    return sorted(sorted(members) for members in by_number.values())


def check_clusters(fingerprints, k, bits=64):
    """Of rows and of IDs, those that are alone included, by all methods and representatives."""
    names = [f"d{at * 7919 % 10007}" for at in range(len(fingerprints))]
    for method in "components", "star":
        for representative in "first", "most-documents", "smallest-id":
            options = {"bits": bits, "method": method, "representative": representative}
            for ids, passed in (names, names), (list(range(len(names))), None):
                found = libidx.clusters(fingerprints, passed, k, alone=True, **options)
                expected = expect_clusters(fingerprints, ids, k, representative, method)
                assert rows_of_clusters(found) == expected
                some = libidx.clusters(fingerprints, passed, k, **options)
                assert rows_of_clusters(some) == [members for members in expected if len(members) > 1]


CLUSTERED = given(
    centres=st.lists(UINT64, min_size=1, max_size=5),
    turns=st.lists(st.tuples(st.integers(0, 4), st.integers(0, 63), st.integers(0, 63)), max_size=30),
    k=st.integers(0, 4),
)


@settings(CALM, max_examples=10)
@CLUSTERED
def test_clusters_without_an_index(centres, turns, k):
    check_turned(centres, turns, k)


@pytest.mark.nightly  # four times as many
@CALM
@CLUSTERED
def test_more_clusters_without_an_index(centres, turns, k):
    check_turned(centres, turns, k)


def check_turned(centres, turns, k):
    fingerprints = numpy.array(
        centres + [centres[c % len(centres)] ^ (1 << a) ^ (1 << b) for c, a, b in turns], numpy.uint64
    )
    check_clusters(fingerprints, k)


@pytest.mark.parametrize(("k", "bits"), [(7, 64), (8, 64), (16, 64), (7, 8), (8, 9), (9, 33)])
def test_clusters_at_large_distances(random, k, bits):
    check_clusters(near_copies(random, 150, bits, most=k + 2), k, bits)


@pytest.mark.parametrize("k", [4, 9, 16])
def test_distances_beyond_the_index(random, k):
    held, other = near_copies(random, 600, most=k + 2), near_copies(random, 300, most=k + 2)
    libidx.build("i", held, id_type="u64", k=1)
    libidx.build("other", numpy.concatenate([other, held[:50] ^ numpy.uint64(5)]), id_type="none", k=3)
    held, other = numpy.unique(held), numpy.unique(numpy.concatenate([other, held[:50] ^ numpy.uint64(5)]))
    with libidx.open("i") as index, libidx.open("other") as beside:
        within, between = index.pairs(k), index.join(beside, k)
        assert [row[:2] for row in rows(index.batch(other, k))] == [scan(held, q, k)[:2] for q in other.tolist()]
        clusters = index.clusters(k, alone=True)
        with pytest.raises(libidx.BadDistanceError):
            index.pairs(17)
    close = distances(held, held) <= k
    assert sorted(zip(within.a.tolist(), within.b.tolist(), strict=True)) == [
        (int(held[i]), int(held[j])) for i, j in zip(*numpy.nonzero(numpy.triu(close, 1)), strict=True)
    ]
    assert sorted(zip(between.a.tolist(), between.b.tolist(), strict=True)) == [
        (int(held[i]), int(other[j])) for i, j in zip(*numpy.nonzero(distances(held, other) <= k), strict=True)
    ]
    assert clusters.clusters.max() + 1 == len(set(components(held, k).tolist()))


def test_clusters_of_nothing():
    for ids in None, []:
        found = libidx.clusters(numpy.empty(0, numpy.uint64), ids, alone=True)
        assert len(found) == 0 and found.tolist() == []


def test_clusters_leave_no_files(tmp_path):
    place = tmp_path / "of clusters"
    place.mkdir()
    assert len(libidx.clusters([1, 1], tmpdir=place)) == 2 and list(place.iterdir()) == []
    for options, error in ({"k": 17}, libidx.BadDistanceError), ({"ids": ["a"]}, ValueError), ({"bits": 3}, libidx.Error):
        with pytest.raises(error):
            libidx.clusters([1, 9], tmpdir=place, **options)
        assert list(place.iterdir()) == []
    with pytest.raises(libidx.CancelledError):
        libidx.clusters([1, 9], progress=lambda *unused: False)


def test_parts(random):
    held = near_copies(random, 5000)
    libidx.build("i", held)
    with libidx.open("i") as index:
        parts = [index.part(i, 7) for i in range(7)]
    assert numpy.sort(numpy.concatenate(parts)).tolist() == numpy.unique(held).tolist()


@pytest.mark.parametrize("bits", [1, 7, 33, 64])
def test_other_widths(random, bits):
    held = near_copies(random, 200, bits)
    k = min(3, bits - 1)
    libidx.build("i", held, bits=bits, k=k)
    with libidx.open("i") as index:
        for query in held[:50].tolist():
            assert index.lookup(query) == scan(held, query, k)
        if bits < 64:
            with pytest.raises(libidx.InvalidArgumentError):
                index.lookup(1 << bits)
            with pytest.raises(libidx.InvalidArgumentError):
                index.lookup(numpy.array([1 << bits], numpy.uint64))


def test_shard(random):
    fingerprints = near_copies(random, 1000)
    shards = libidx.shard(fingerprints, 7)
    assert set(shards.tolist()) == set(range(7))
    assert (libidx.shard(fingerprints.view(numpy.int64), 7) == shards).all()
