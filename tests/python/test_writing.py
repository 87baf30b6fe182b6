"""Builders, writers, merging and compacting; documents and their IDs."""

import numpy
import pytest

import libidx


def fill(path, **options):
    return libidx.build(path, [1, 2, 2, 3], ["a", "b", "c", "d"], by_id=True, **options)


def test_build():
    summary = fill("i", k=2, scheme="4:1", recipe="mine", block_size=128, threads=2)
    assert summary.documents == 4 and summary.fingerprints == 3 and summary.scheme == "4:1" and summary.by_id_bytes > 0
    with libidx.open("i") as index:
        info = index.info()
        assert (info.bits, info.k, info.id_type, info.recipe, info.scheme) == (64, 2, "text", "mine", "4:1")
        assert (info.documents, info.fingerprints, info.segments, info.by_id) == (4, 3, 1, True)
        assert repr(index) == "<libidx.Index 'i': 3 fingerprints of 64 bits, k = 2>"
    assert repr(index) == "<libidx.Index 'i', closed>"
    with pytest.raises(libidx.ExistsError):
        fill("i")
    fill("i", replace=True)


@pytest.mark.parametrize(
    "ids, id_type", [([5, 6], "u64"), (numpy.array([5, 6]), "u64"), ([b"5", "6"], "text"), (None, "u64")]
)
def test_the_type_of_ids_follows_them(ids, id_type):
    libidx.build("i", [1, 2], ids)
    with libidx.open("i") as index:
        assert index.info().id_type == id_type
        expected = {"text": ["6"], "u64": [6]}[id_type] if ids is not None else [1]
        assert index.documents(2) == expected


def test_documents():
    fill("i")
    with libidx.Writer("i", compact_records=0) as writer:
        writer.add([2, 9], ["e", "f"])
        assert writer.remove([2, 2], ["b", "none"]) == (1, 1)
        assert writer.remove_fingerprints([3, 77]) == (1, 1)
        assert writer.remove_ids(["a", "z"]) == (1, 1)
    with libidx.open("i") as index:
        assert index.documents(2) == ["c", "e"]
        found = index.documents([9, 2, 3, 2, 1], limit=1, threads=2)
        assert found.tolist() == [["f"], ["c"], [], ["c"], []]
        assert found.counts.tolist() == [1, 2, 0, 2, 0]
        assert found.offsets.tolist() == [0, 1, 2, 2, 3, 3]
        assert found.id_bytes.tobytes() == b"fcc" and found.id_offsets.tolist() == [0, 1, 2, 3]
        assert found.numbers is None
        assert index.find("e").tolist() == [2] and index.find(b"a").tolist() == []
        found = index.find(["c", "d", "f"])
        assert found.offsets.tolist() == [0, 1, 1, 2] and found.fingerprints.tolist() == [2, 9]
        with pytest.raises(TypeError):
            index.find([5])


def test_find_more_than_a_few():
    libidx.build("i", numpy.arange(100, dtype=numpy.uint64), ["same"] * 100, by_id=True)
    libidx.build("n", numpy.arange(100, dtype=numpy.uint64), numpy.full(100, 5), by_id=True)
    libidx.build("u", [1], ["a"])
    with libidx.open("i") as texts, libidx.open("n") as numbers, libidx.open("u") as without:
        assert texts.find("same").tolist() == list(range(100))
        assert numbers.find(5).tolist() == list(range(100))
        assert numbers.find([4, 5]).offsets.tolist() == [0, 0, 100]
        with pytest.raises(libidx.InvalidArgumentError):
            without.find("a")


def test_check_and_add(random):
    libidx.build("i", numpy.empty(0, numpy.uint64), id_type="u64")
    centres = random.integers(0, 2**63, 30).astype(numpy.uint64)
    given = numpy.concatenate([centres, centres ^ numpy.uint64(3), centres ^ numpy.uint64(1 << 50), centres])
    held, added, expected = [], [], []
    for fingerprint in given.tolist():
        near = sorted((bin(fingerprint ^ other).count("1"), other) for other in set(held))
        near = [(other, apart) for apart, other in near if apart <= 1]
        added.append(not near)
        expected.append(near)
        if not near:
            held.append(fingerprint)
    with libidx.Writer("i") as writer:
        got, matches = writer.check_and_add(given, numpy.arange(len(given), dtype=numpy.uint64), 1)
    assert got.tolist() == added and got.dtype == bool
    rows = list(zip(matches.fingerprints.tolist(), matches.distances.tolist()))
    assert [rows[a:b] for a, b in zip(matches.offsets[:-1], matches.offsets[1:])] == expected


@pytest.mark.parametrize("limit", [None, 0, 1, 8, 9, 40])
def test_check_and_add_gives_all_matches(limit):
    """Also where there are more than it keeps room for, and others come in the same call that are nearer."""
    ball = [1 << bit for bit in range(40)]
    libidx.build("i", ball, k=2)
    # 0 is within 1 of all; 3 << 40 within 2 of 0, but of none that is held, so that it is added behind.
    with libidx.Writer("i") as writer:
        added, matches = writer.check_and_add([0, 3 << 40, 0], [100, 101, 102], 1, limit=limit)
        assert added.tolist() == [False, True, False]
        assert matches.fingerprints.tolist() == ball[:limit] * 2
        assert matches.offsets.tolist() == [0, len(ball[:limit]), len(ball[:limit]), 2 * len(ball[:limit])]
        added, matches = writer.check_and_add([0, 1 << 41], [103, 104], 2, limit=limit)
        assert added.tolist() == [False, False]
        assert (matches.fingerprints[: matches.offsets[1]].tolist()) == (ball + [3 << 40])[:limit]


def test_builders():
    with libidx.Builder("i", id_type="none", k=1, bits=8) as builder:
        builder.add([1, 2])
        with pytest.raises(libidx.InvalidArgumentError):
            builder.add([256])
        with pytest.raises(TypeError):
            builder.add([3], ["a"])
        builder.add([3])
    assert builder.summary.fingerprints == 3
    for call in builder.finish, lambda: builder.add([1]):
        with pytest.raises(libidx.InvalidArgumentError):
            call()
    builder.discard()
    with pytest.raises(KeyError), libidx.Builder("j") as builder:
        raise KeyError
    with libidx.Builder("j", id_type="none") as builder:
        builder.add([1])
        builder.discard()
    with pytest.raises(libidx.NotFoundError):
        libidx.open("j")


def test_merge_and_compact():
    fill("a")
    fill("b")
    summary = libidx.merge("c", ["a", "b"], threads=2)
    assert (summary.documents, summary.fingerprints) == (8, 3)
    summary = libidx.build("n", [1, 2, 2], id_type="none")
    assert (summary.documents, summary.fingerprints) == (3, 2)
    summary = libidx.merge("m", ["n"])
    assert (summary.documents, summary.fingerprints) == (2, 2)
    libidx.build("d", [1], k=1)
    with pytest.raises(libidx.InvalidArgumentError):
        libidx.merge("e", ["a", "d"])
    with pytest.raises(TypeError):
        libidx.merge("e", [None])
    with pytest.raises(TypeError):
        libidx.merge("e", 5)
    with libidx.Writer("c") as writer:
        writer.add([7], ["x"])
        with libidx.open("c") as index:
            assert index.info().pending_documents == 1 and not index.replaced()
            done = libidx.compact("c", all=True)
            assert done.changed and done.segments == 1 and done.documents == 9
            assert index.replaced() and index.refresh() and not index.replaced()
            assert index.info().pending_documents == 0 and index.documents(7) == ["x"]
        writer.wait()
    assert writer.closed
    writer.close()
    with pytest.raises(libidx.InvalidArgumentError):
        writer.add([1], ["a"])


def test_plan():
    plans = libidx.plan(10**7, 3)
    assert sum(plan.chosen for plan in plans) == 1
    assert [plan.tables for plan in plans] == sorted(plan.tables for plan in plans)
    assert all(a.nanoseconds > b.nanoseconds for a, b in zip(plans, plans[1:]))
    with pytest.raises(libidx.InvalidArgumentError):
        libidx.plan(10, 17)
    for count in -1, 2**64 + 5:
        with pytest.raises(ValueError, match="count: .* is not from 0"):
            libidx.plan(count)


def test_plan_of_one_scheme():
    (plan,) = libidx.plan(2**34, 3, block_size=128, scheme="10")
    assert (plan.scheme, plan.tables, plan.min_prefix, plan.max_prefix) == ("5:2", 10, 25, 26)
    assert plan.candidates == 4 * 2**9 + 6 * 2**8
    assert plan.single_nanoseconds > plan.nanoseconds
    assert plan.tables < plan.pages < plan.blocks
    (loaded,) = libidx.plan(2**34, 3, block_size=128, scheme="10", residence="all")
    assert loaded.nanoseconds < plan.nanoseconds
    with pytest.raises(libidx.WeakSchemeError):
        libidx.plan(1000, 4, scheme="4:1")
    with pytest.raises(ValueError):
        libidx.plan(1000, residence="somewhere")


def test_plan_unpacked():
    """The same as `idx plan`, whose cases in tests/tools print these."""
    plan = libidx.plan_unpacked(10**6, 8, bits=64)
    assert isinstance(plan, libidx.UnpackedPlan)
    assert (plan.bytes, round(plan.opening_seconds, 3), round(plan.nanoseconds, -1)) == (33446784, 0.024, 2210)
    assert libidx.plan_unpacked(10**7).bytes == libidx.plan_unpacked(10**7, 3).bytes == 547113008
    assert libidx.plan_unpacked(1, 0, bits=1).bytes < libidx.plan_unpacked(1000, 2, bits=32).bytes <= 2**16
    for count, k, bits in (10, 17, 64), (10, 3, 65), (10, 3, 3):
        with pytest.raises(libidx.InvalidArgumentError):
            libidx.plan_unpacked(count, k, bits=bits)
    with pytest.raises(libidx.LimitError, match="4294967295 fingerprints are more than the 2.32 - 2 of a segment"):
        libidx.plan_unpacked(2**32 - 1)
    with pytest.raises(ValueError, match="count: .* is not from 0"):
        libidx.plan_unpacked(-1)


def test_plan_of_a_machine(tmp_path):
    machine = libidx.calibrate(tmp_path)
    assert list(tmp_path.iterdir()) == []
    assert machine["probe"] > 0 and len(machine["mapped_waits"]) == 10
    slow = {name: [10 * n for n in value] if isinstance(value, list) else 10 * value for name, value in machine.items()}
    (here,), (there,) = (libidx.plan(10**7, scheme="5:2", calibration=numbers) for numbers in (machine, slow))
    assert there.nanoseconds == pytest.approx(10 * here.nanoseconds)
    listed = libidx.plan(10**7), libidx.plan(10**7, calibration=slow)
    chosen = [[plan.scheme for plan in plans if plan.chosen] for plans in listed]
    assert chosen[0] == chosen[1]
    for wrong in {}, {**machine, "mapped_waits": [1.0]}, {**machine, "probe": 0.0}, {**machine, "block": -1.0}:
        with pytest.raises(libidx.InvalidArgumentError):
            libidx.plan(10**7, calibration=wrong)


def test_simhash():
    one, other = libidx.Simhash(), libidx.Simhash()
    for word in "the quick brown fox".split():
        one.add(word)
        other.add(word.encode(), weight=3)
    assert one.finish() == other.finish() == 0x8002C6820052906B
    assert one.finish(8) == 0x6B and one.finish(bits=8) | one.ties(8) >= one.finish(8)
    hashes = libidx.Simhash()
    hashes.add_hash(5, libidx.WEIGHT_ONE)
    hashes.add_hash(4, -1)
    assert hashes.finish() == 5
    assert libidx.Simhash().ties() == 2**64 - 1
    hashes = libidx.Simhash()
    hashes.add_hash(1, 2**63 - 1)
    for weight in 1, -1, -(2**63):
        with pytest.raises(OverflowError):
            hashes.add_hash(1, weight)
    with pytest.raises(libidx.InvalidArgumentError):
        hashes.finish(65)
