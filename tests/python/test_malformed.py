"""A thousand malformed calls: each raises, or is fine; none ends the process. Run under the address sanitizer, too."""

import itertools
import tempfile

import numpy
import pytest

import libidx

VALUES = [
    None, -1, 0, 1, 2**31, 2**63, 2**64, 1.5, True, "", "a", b"", b"\xff" * 9, [], [1], [None], ["a"], [b"\0"],
    [1, "a"], (), {}, object(), print, numpy.array([1], numpy.uint64), numpy.array(1, numpy.uint64), numpy.array([1.0]),
    numpy.empty(0, numpy.uint64), numpy.empty((2, 2), numpy.int64), memoryview(b"12345678"), float("nan"), "\udc80",
    "i",
]  # fmt: skip


class Liar:
    """Says that it is an Arrow array or stream, or an array."""

    def __init__(self, name, answer):
        setattr(self, name, lambda *unused, **also: answer)


LIARS = [
    Liar(name, answer)
    for name in ("__arrow_c_array__", "__arrow_c_stream__", "__array__")
    for answer in (None, (), (1, 2), (None, None), "capsule", numpy.array([1.0]))
]


class Raises:
    @property
    def __arrow_c_array__(self):
        raise RuntimeError

    def __index__(self):
        raise RuntimeError

    def __iter__(self):
        raise RuntimeError


def calls(index, writer, builder, stream):
    """Calls of one and of two arguments, and their keywords."""
    simhash = libidx.Simhash()
    found = index.documents([1])
    one = [
        index.lookup, index.exists, index.count, index.documents, index.find, index.batch, index.pairs, index.join,
        index.clusters, index._pairs, index._documents, index._find, index._batch, index._part, index._clusters,
        writer.add, writer.remove_ids, writer.remove_fingerprints, writer._add, writer._check_and_add,
        builder.add, builder._add, stream.add, simhash.add, simhash.add_hash, simhash.finish, simhash.ties,
        found.tolist, found.__arrow_c_stream__, libidx.open, libidx.merge, libidx.plan, libidx.dedup, libidx.clusters, libidx.Stream,
        libidx.plan_unpacked, libidx._core.plan_unpacked,
        libidx._core.Stream, libidx._core.Builder, libidx._core.Writer, libidx._core.Index, libidx._core.merge,
        libidx._core.compact, libidx._core.verify, libidx._core.plan, libidx._core.shard, libidx._core.lengths,
        libidx._core.numbers,
    ]  # fmt: skip
    two = [
        index.lookup, index.exists, index.count, index.batch, index.join, index.part, writer.add, writer.check_and_add,
        writer.remove, builder.add, simhash.add, simhash.add_hash, libidx.Stream, libidx.shard,
        lambda a, b: index.lookup(a, limit=b), lambda a, b: index.lookup(a, threads=b),
        lambda a, b: index.exists(a, threads=b), lambda a, b: index.documents(a, limit=b),
        lambda a, b: index.documents(a, threads=b), lambda a, b: index.documents(a, progress=b),
        lambda a, b: libidx.clusters(a, b), lambda a, b: libidx.clusters([1], ids=a, k=b), lambda a, b: libidx.clusters([1], k=a, tmpdir=b),
        lambda a, b: libidx.build("x", a, b, replace=True), lambda a, b: libidx.open("i", residence=a, check_pages=b),
        lambda a, b: libidx.open("i", residence="unpacked", check_pages=a, k=b),
        lambda a, b: libidx.build("y", [1], k=a, scheme=b), lambda a, b: libidx.build("y", [1], bits=a, recipe=b),
        lambda a, b: index._documents(a, b, b, (b, b, b, b)), lambda a, b: index._clusters(a, b, b, b, (1, b, b, b)),
        lambda a, b: index._pairs(a, b, (1, 0, None, None)), lambda a, b: libidx._core.merge("m", a, False, b),
    ]  # fmt: skip
    if libidx.HAS_TEXT:
        fingerprinter = libidx.Fingerprinter()
        one += [libidx.Fingerprinter, fingerprinter, fingerprinter._fingerprint, libidx.train, libidx.Table.load]
        one += [libidx.shingles, libidx.text_pairs, libidx.dedup_parts, libidx._text.shingles, libidx._text.resemblance, libidx._text.train]
        sets = libidx._text.Sets(5, "words", (1, 0, None, None))
        path = tempfile.mkdtemp(dir=".") + "/t"
        libidx.build(path, texts=["a", "b"], ids=["a", "b"])
        of_texts, text_writer, text_builder = libidx.open(path), libidx.Writer(path), libidx.Builder(path + "2", resemble=0.8)
        for object in of_texts, index:
            one += [object._visit_sets, object._resembling, object.pairs, object.clusters]
            two += [lambda a, b, object=object: object._resembling(a, b, (8000, 1, -1, -1))]
        for object in text_writer, writer:
            one += [object._add_texts, object._add_unlike, object.check_and_add]
            two += [lambda a, b, object=object: object._add_unlike((a, a, b), (8000, 1, -1, -1)), object._add_unlike]
            two += [lambda a, b, object=object: object._add_texts(a, a, b)]
        one += [of_texts.lookup, of_texts.exists, of_texts.count, text_builder.add, text_builder._add_texts]
        one += [sets.add, sets.add_sets, libidx._text.sets, sets.keep, sets.pairs, sets.ignore_common, sets.seek, sets.find, libidx._text.Sets]
        two += [text_writer.add, text_writer.check_and_add, lambda a, b: of_texts.lookup(a, resemble=b)]
        two += [lambda a, b: text_builder._add_texts(a, a, b), lambda a, b: of_texts.lookup(["a"], limit=a, max_candidates=b)]
        two += [lambda a, b: libidx.build("x", texts=a, ids=b, replace=True), libidx.build]
        two += [libidx.resemblance, libidx.shingles, lambda a, b: libidx.shingles("a", a, unit=b), sets.add, sets.add_sets]
        two += [lambda a, b: libidx.dedup(["a"], against=a, shingle=b), lambda a, b: sets.keep(0.5, a, b, True)]
        two += [lambda a, b: libidx._text.Sets(a, b, (1, 0, None, None)), lambda a, b: sets.keep(a, b, None, False)]
        two += [lambda a, b: libidx._text.Sets(5, "words", (1, a, b, None)).keep(0.5, 0, None, a)]
        two += [lambda a, b: libidx._text.Sets(5, "words", (a, 0, None, b)).pairs(0.5)]
    return one, two


def attempt(call, *arguments):
    try:
        call(*arguments)
    except Exception:  # noqa: BLE001
        return 1
    return 0


def test_malformed_calls():
    libidx.build("i", [1, 2, 3], ["a", "b", "c"], by_id=True)
    raised = tried = 0
    with libidx.open("i") as index, libidx.Writer("i") as writer:
        builder, stream = libidx.Builder("b"), libidx.Stream([1, 2])
        one, two = calls(index, writer, builder, stream)
        for call in one:
            tried += 2
            raised += attempt(call) + attempt(call, *[None] * 20)
        for call, value in itertools.product(one, VALUES + LIARS + [Raises()]):
            tried += 1
            raised += attempt(call, value)
        for call, (i, a), (j, b) in itertools.product(two, enumerate(VALUES), enumerate(VALUES)):
            if (i + j) % 3 == 0:
                tried += 1
                raised += attempt(call, a, b)
        builder.discard()
        stream.close()
        one, two = calls(index, writer, builder, stream)
        assert index.lookup(1, 0) == [(1, 0)]
    for call in one[:28]:  # of what is closed
        tried += 1
        raised += attempt(call, [1])
    assert tried > 1000 and raised > tried / 2


def test_closed_ones_refuse():
    libidx.build("i", [1, 2, 3])
    index = libidx.open("i")
    index.close()
    index.close()
    for call in (
        lambda: index.lookup(1),
        lambda: index.lookup([1]),
        lambda: index.exists(1),
        lambda: index.count([1]),
        lambda: index.documents(1),
        lambda: index.find(1),
        lambda: index.batch([1]),
        lambda: index.pairs(),
        lambda: index.join(index),
        lambda: index.clusters(),
        lambda: index.part(0, 1),
        lambda: index.info(),
        lambda: index.refresh(),
        lambda: index.replaced(),
    ):
        try:
            call()
        except libidx.InvalidArgumentError as error:
            assert "closed" in str(error)
        else:
            raise AssertionError


def test_handles_and_arguments_that_they_share():
    """What has ended says so, also as the end of `with`; and threads, memory and tmpdir are read alike by all calls."""
    libidx.build("i", [1, 2, 3])
    makers = {"builder": lambda **o: libidx.Builder("b", id_type="u64", replace=True, **o), "writer": lambda **o: libidx.Writer("i", **o)}
    makers["stream"] = lambda **o: libidx.Stream([1], **o)
    for name, make in makers.items():
        with make() as handle:
            assert not handle.closed
        assert handle.closed
        getattr(handle, "discard" if name == "builder" else "close")()
        with pytest.raises(libidx.InvalidArgumentError, match=f"this {name} (has ended: make|is closed: open) another one"):
            handle.add([1], *([[1]] if name == "writer" else []))
    with libidx.open("i") as index:
        calls = [
            *makers.values(), lambda **o: index.batch([1], **o), index.pairs, index.clusters,
            lambda **o: index.join(index, **o), lambda **o: libidx.merge("m", ["i"], **o), lambda **o: libidx.compact("i", **o),
            lambda **o: index.documents([1], **o), lambda **o: libidx.build("x", [1], **o), lambda **o: index.lookup([1], **o),
        ]  # fmt: skip
        if libidx.HAS_TEXT:
            calls += [lambda **o: libidx.dedup(["a"], **o), lambda **o: libidx.text_pairs(["a"], **o)]
        for call in calls:
            for threads in 0, 257, -1:
                with pytest.raises(libidx.InvalidArgumentError, match=f"^threads = {threads}: give 1 to 256$"):
                    call(threads=threads)
    for call in makers["builder"], makers["stream"], lambda **o: libidx.compact("i", **o):
        with pytest.raises(libidx.InvalidArgumentError, match="^memory = -1: give 0 to "):
            call(memory=-1)
        with pytest.raises(TypeError):
            call(tmpdir=1.5)
