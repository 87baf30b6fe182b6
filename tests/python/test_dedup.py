"""dedup(resemble=): which texts it keeps, compared with what their shingles say."""

import subprocess
import sys

import numpy
import pytest

import families
import libidx
from families import make_texts

pytestmark = pytest.mark.skipif(not libidx.HAS_TEXT, reason="built without ICU")


def members(text):
    """The word 5-shingles of a text of plain words."""
    words = text.split()
    return {tuple(words[i : i + 5]) for i in range(len(words) - 4)} or {tuple(words)}


def jaccard(a, b):
    return len(a & b) / len(a | b)


@pytest.mark.parametrize("resemblance", [0.3, 0.5, 0.8, 1])
@pytest.mark.parametrize("representative", ["first", "longest"])
def test_dedup(resemblance, representative):
    texts = make_texts(600, 1)
    found = libidx.dedup(texts, 16, resemble=resemblance, representative=representative)
    near = libidx.dedup(texts, 16)
    sets = [members(text) for text in texts]
    prints = libidx.Fingerprinter()(texts)
    assert found.representative[found.keep].tolist() == numpy.flatnonzero(found.keep).tolist()
    assert found.keep[found.representative].all()
    assert found.resemblance.tolist() == [jaccard(sets[i], sets[j]) for i, j in enumerate(found.representative)]
    assert (found.resemblance >= resemblance).all()
    assert found.distance.tolist() == [
        int(a ^ b).bit_count() for a, b in zip(prints.tolist(), prints[found.representative].tolist(), strict=True)
    ]
    assert (near.cluster == near.cluster[found.representative]).all()
    assert sorted(set(found.cluster.tolist())) == list(range(int(found.keep.sum())))
    assert (found.cluster == found.cluster[found.representative]).all()
    kept = numpy.flatnonzero(found.keep)
    for cluster in set(near.cluster.tolist()):
        alone = [sets[i] for i in kept[near.cluster[kept] == cluster]]
        assert all(jaccard(a, b) < resemblance for i, a in enumerate(alone) for b in alone[:i])
    assert 0 < found.keep.sum() < len(texts)
    if representative == "longest":
        assert all(len(texts[i]) <= len(texts[j]) for i, j in enumerate(found.representative))


def test_dedup_chooses_k():
    texts = make_texts(300, 2)
    chosen = libidx.dedup(texts, resemble=0.8)
    of_paragraphs = libidx.dedup(texts, 10, resemble=0.8)
    assert all((a == b).all() for a, b in zip(chosen, of_paragraphs, strict=True))
    long = [text for text in texts if len(text) > 700]
    assert all(
        (a == b).all()
        for a, b in zip(libidx.dedup(long, resemble=0.9), libidx.dedup(long, 7, resemble=0.9), strict=True)
    )
    with pytest.warns(UserWarning, match="k = 12 for resemble=0.3"):
        libidx.dedup(texts, resemble=0.3)
    with pytest.warns(UserWarning, match="not measured"):
        libidx.dedup(texts, resemble=0.5, fingerprinter=libidx.Fingerprinter("words:2"))


def test_dedup_of_few_texts():
    assert [list(column) for column in libidx.dedup([], resemble=0.5)[:4]] == [[]] * 4
    found = libidx.dedup(["one two", "", "!", "One Two"], resemble=0.5)
    assert found.keep.tolist() == [True, True, True, False]
    assert found.resemblance.tolist() == [1, 1, 1, 1]
    assert libidx.dedup(iter(["one two", "one two"]), resemble=1).representative.tolist() == [0, 0]


def test_dedup_refuses():
    for least in 0, -1, 1.5, float("nan"):
        with pytest.raises(libidx.InvalidArgumentError, match="resemblance"):
            libidx.dedup(["a b c"], resemble=least, k=3)
    with pytest.raises(libidx.InvalidArgumentError, match="give texts"):
        libidx.dedup(numpy.arange(3, dtype=numpy.uint64), resemble=0.5)


def columns(found):
    return [column.tolist() for column in found]


@pytest.mark.parametrize("representative", ["first", "longest"])
def test_texts_that_are_read_twice(tmp_path, representative):
    import pyarrow

    texts = make_texts(3000, 3)
    wanted = columns(libidx.dedup(texts, resemble=0.5, representative=representative))
    calls = []

    def read():
        calls.append(len(calls))
        for begin in range(0, len(texts), 700):
            some = texts[begin : begin + 700]
            yield [some, pyarrow.array(some), numpy.array(some)][begin // 700 % 3]

    options = {"resemble": 0.5, "representative": representative, "tmpdir": tmp_path}
    assert columns(libidx.dedup(read, **options)) == wanted
    assert calls == [0, 1]
    assert columns(libidx.dedup(iter(texts), **options)) == wanted
    assert list(tmp_path.iterdir()) == []
    assert columns(libidx.dedup(lambda: iter([]), **options)) == [[]] * 5
    alone = libidx.dedup(read, representative=representative)
    assert columns(alone[:4]) == columns(libidx.dedup(texts, representative=representative)[:4])
    assert calls == [0, 1, 2]


def test_parquet_files(tmp_path):
    import pyarrow
    import pyarrow.parquet

    texts = make_texts(300, 6)
    paths = [tmp_path / "0.parquet", tmp_path / "1.parquet"]
    for path, some in zip(paths, (texts[:200], texts[200:]), strict=True):
        pyarrow.parquet.write_table(pyarrow.table({"url": list(range(len(some))), "body": some}), path)
    for resemble in 0.5, None:
        wanted = libidx.dedup(texts, resemble=resemble)
        found = libidx.dedup(paths, resemble=resemble, text="body")
        assert columns(found[:4]) == columns(wanted[:4])
    assert len(libidx.dedup(paths[0], text="body").keep) == 200
    with pytest.raises(libidx.InvalidArgumentError, match="0.parquet: there is no column 'text': it has url, body"):
        libidx.dedup(paths)
    pyarrow.parquet.write_table(pyarrow.table({"text": ["a", None]}), paths[0])
    with pytest.raises(libidx.InvalidArgumentError, match="column 'text' has nulls"):
        libidx.dedup(paths[0])
    with pytest.raises(FileNotFoundError):
        libidx.dedup(tmp_path / "missing.parquet")


def test_texts_that_change_between_readings():
    texts = make_texts(300, 4)
    for change in lambda: [["other words than before", *texts[1:]]], lambda: [texts[:-1]], lambda: [[*texts, "one"]]:
        readings = iter([[[texts[1], *texts[1:]]], change()])
        with pytest.raises(libidx.InvalidArgumentError, match="read again"):
            libidx.dedup(lambda: next(readings), resemble=0.5)


@pytest.mark.parametrize("resemblance", families.DROPPED)
def test_dedup_is_that_of_the_command(resemblance):
    found = libidx.dedup(make_texts(families.COUNT, families.SEED), resemble=float(resemblance))
    assert families.digest(numpy.flatnonzero(~found.keep).tolist()) == families.DROPPED[resemblance]


ONE_CLUSTER = """
import random, resource, sys, libidx
source = random.Random(1)
sentences = [" ".join("%x" % source.getrandbits(30) for _ in range(12)) for _ in range(150000)]
def read():
    source = random.Random(2)
    for _ in range(150):
        yield [" ".join(source.sample(sentences, 3)) for _ in range(1000)]
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
found = libidx.dedup(read, 16, resemble=0.5, memory=64 << 20)
print(int(found.keep.sum()), (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) >> 10)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="memory is counted in other units")
def test_one_cluster_of_nearly_all_texts():
    """At this distance nearly all are joined by chains; memory has room for neither the texts nor their shingles."""
    done = subprocess.run([sys.executable, "-c", ONE_CLUSTER], capture_output=True, text=True, check=True)
    kept, mib = map(int, done.stdout.split())
    assert kept == 150000
    assert mib < 64 + 96, mib  # 233 were needed to hold them
