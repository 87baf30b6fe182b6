"""dedup(resemble=): which texts it keeps, compared with what their shingles say."""

import collections
import itertools
import random as randomness
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


def make_order(texts, representative, dates):
    """The rows of texts in the order in which they are taken."""
    lengths = [len(text.encode()) for text in texts]
    sets = [frozenset(families.shingle(text)) for text in texts]
    copies = collections.Counter(sets)
    values = {
        "first": [0] * len(texts),
        "longest": lengths,
        "newest": dates,
        "most-documents": [copies[members] for members in sets],
    }[representative]
    return sorted(range(len(texts)), key=lambda row: (-values[row], row))


def check_exact(found, texts, resemblance, order):
    """All columns are those of the plain program."""
    joined = families.keep([families.shingle(text) for text in texts], resemblance, order)
    assert found.representative.tolist() == [row for row, _ in joined]
    assert found.resemblance.tolist() == [float(alike) for _, alike in joined]
    assert found.keep.tolist() == [row == i for i, (row, _) in enumerate(joined)]
    kept = [i for i, (row, _) in enumerate(joined) if row == i]
    assert found.cluster.tolist() == [kept.index(row) for row, _ in joined]
    assert found.distance is None


@pytest.mark.parametrize("resemblance", ["0.0001", "0.17", "0.3", "0.5", "0.8", "1"])
@pytest.mark.parametrize("representative", ["first", "longest", "newest", "most-documents"])
def test_resemblance_alone_is_exact(resemblance, representative):
    for seed in 1, 2, 3:
        texts = make_texts(400, seed)
        texts[7:7] = ["", " ! ", texts[0]]
        source = randomness.Random(seed)
        dates = [source.choice((-1.5, 0.0, 2.0, 1e300)) for _ in texts]
        order = make_order(texts, representative, dates)
        options = {"representative": representative}
        if representative == "newest":
            options["dates"] = [float("nan") if date == -1.5 else date for date in dates]
        for threads in 1, 2:
            found = libidx.dedup(texts, resemble=float(resemblance), threads=threads, **options)
            check_exact(found, texts, resemblance, order)
        assert 0 < found.keep.sum() < len(texts)


@pytest.mark.parametrize("threads", [1, 2])
def test_small_memory(tmp_path, threads):
    """Sets go to a temporary file, which has no name, and are compared in several rounds."""
    texts = make_texts(20000, 8)
    found = libidx.dedup(iter(texts), resemble=0.5, memory=1 << 20, tmpdir=tmp_path, threads=threads)
    check_exact(found, texts, "0.5", None)
    assert list(tmp_path.iterdir()) == []
    with pytest.raises(libidx.InvalidArgumentError, match="5 bytes of memory"):
        libidx.dedup(texts, resemble=0.5, memory=5)
    with pytest.raises(libidx.NotFoundError, match="missing"):
        libidx.dedup(texts, resemble=0.5, memory=1 << 20, tmpdir=tmp_path / "missing")


def test_columns_without_a_length():
    """What has nothing but Arrow's interface, as other packages' columns do."""
    import pyarrow

    class Column:
        def __init__(self, chunks):
            self.__arrow_c_stream__ = pyarrow.chunked_array(chunks, pyarrow.string()).__arrow_c_stream__

    given = Column([["one two", "One"], [], ["one, two"]])
    for documents in given, lambda: iter([given]):
        for options in {}, {"representative": "newest", "dates": [1, 1, 2]}, {"representative": "longest"}:
            found = libidx.dedup(documents, resemble=0.5, **options)
            assert found.keep.tolist() == ([True, True, False] if not options else [False, True, True])


def test_dates_are_as_many_as_texts():
    for dates in [1], [1, 2, 3]:
        with pytest.raises(libidx.InvalidArgumentError, match="2 texts and dates of shape .*: give as many"):
            libidx.dedup(["a", "b"], resemble=0.5, representative="newest", dates=dates)


def test_choose_distance():
    """Of the distance of texts whose quartile has so many features, which Spark compares."""
    recipe = libidx.Fingerprinter().recipe
    assert [libidx._resemblance.choose_distance(0.8, 30, recipe, 64) for _ in range(2)] == [10, 10]
    assert libidx._resemblance.choose_distance(0.9, 150, recipe, 64) == 7
    with pytest.warns(UserWarning, match="k = 12 for resemble=0.3"):
        libidx._resemblance.choose_distance(0.3, 30, recipe, 64)
    with pytest.warns(UserWarning, match="not measured"):
        libidx._resemblance.choose_distance(0.5, 30, "words:2", 64)


@pytest.mark.parametrize("k", [16, None])
def test_dedup_of_few_texts(k):
    assert columns(libidx.dedup([], k, resemble=0.5)) == [[], [], [], None if k is None else [], []]
    found = libidx.dedup(["one two", "", "!", "One Two"], k, resemble=0.5)
    assert found.keep.tolist() == [True, True, True, False]
    assert found.resemblance.tolist() == [1, 1, 1, 1]
    assert libidx.dedup(iter(["one two", "one two"]), k, resemble=1).representative.tolist() == [0, 0]


def test_dedup_refuses():
    for least in 0, -1, 1.5, float("nan"):
        with pytest.raises(libidx.InvalidArgumentError, match="resemblance"):
            libidx.dedup(lambda: pytest.fail("read before"), resemble=least, k=3)
        with pytest.raises(libidx.InvalidArgumentError, match="resemblance"):
            libidx.dedup(lambda: pytest.fail("read before"), resemble=least)
    for options in {"min_features": 2}, {"min_features": 0}, {"fingerprinter": libidx.Fingerprinter()}:
        with pytest.raises(libidx.InvalidArgumentError, match=f"^{next(iter(options))} needs k: "):
            libidx.dedup(lambda: pytest.fail("read before"), resemble=0.5, **options)
        assert libidx.dedup(["a", "a"], 0, resemble=0.5, **options) is not None
    with pytest.raises(libidx.InvalidArgumentError, match="give texts"):
        libidx.dedup(numpy.arange(3, dtype=numpy.uint64), resemble=0.5)


def columns(found):
    return [column if column is None else column.tolist() for column in found]


@pytest.mark.parametrize("representative", ["first", "longest"])
@pytest.mark.parametrize("k", [10, None])
def test_texts_that_are_read(tmp_path, representative, k):
    """Once, and a second time for the texts that are near each other."""
    import pyarrow

    texts = make_texts(3000, 3)
    wanted = columns(libidx.dedup(texts, k, resemble=0.5, representative=representative))
    calls = []

    def read():
        calls.append(len(calls))
        for begin in range(0, len(texts), 700):
            some = texts[begin : begin + 700]
            yield [some, pyarrow.array(some), numpy.array(some)][begin // 700 % 3]

    options = {"k": k, "resemble": 0.5, "representative": representative, "tmpdir": tmp_path}
    assert columns(libidx.dedup(read, **options)) == wanted
    readings = [0] if k is None else [0, 1]
    assert calls == readings
    assert columns(libidx.dedup(iter(texts), **options)) == wanted
    assert list(tmp_path.iterdir()) == []
    assert columns(libidx.dedup(lambda: iter([]), **options)) == [[], [], [], None if k is None else [], []]
    alone = libidx.dedup(read, representative=representative)
    assert columns(alone[:4]) == columns(libidx.dedup(texts, representative=representative)[:4])
    assert calls == [*readings, len(readings)]


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
    with pytest.raises(FileNotFoundError):
        libidx.dedup(tmp_path / "missing.parquet")


def test_folders_of_parquet(tmp_path):
    """Files in folders count by name, beside files, with columns within structs; what jobs leave there is none."""
    import pyarrow
    import pyarrow.parquet

    texts = [*make_texts(200, 6), None]
    for name, some in ("b=1/0.parquet", texts[:50]), ("b=1/1.parquet", texts[50:90]), ("b=2/0.parquet", texts[90:]):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        table = pyarrow.table({"doc": [{"body": {"text": text}} for text in some]})
        pyarrow.parquet.write_table(table, tmp_path / name)
    (tmp_path / "_temporary").mkdir()
    for name in "_SUCCESS", "_metadata", "b=1/.0.parquet.crc", "_temporary/x.parquet":
        (tmp_path / name).write_bytes(b"no Parquet")
    wanted = columns(libidx.dedup(texts, resemble=0.5))
    for column in "doc.body.text", "/doc/body/text":
        assert columns(libidx.dedup(tmp_path, resemble=0.5, text=column)) == wanted
        paths = [tmp_path / "b=1", tmp_path / "b=2/0.parquet"]
        assert columns(libidx.dedup(paths, resemble=0.5, text=column)) == wanted
    (tmp_path / "empty").mkdir()
    with pytest.raises(libidx.InvalidArgumentError, match="empty: there is no file in this folder"):
        libidx.dedup(tmp_path / "empty")


def test_parquet_is_checked_before_all_the_work(tmp_path):
    """What is wrong with the last file is said before any text is read."""
    import pyarrow
    import pyarrow.parquet

    fine, path = tmp_path / "0.parquet", tmp_path / "1.parquet"
    pyarrow.parquet.write_table(pyarrow.table({"text": ["a b c"]}), fine)
    whole = fine.read_bytes()
    long = whole[:-8] + b"\xff\xff\xff\x7fPAR1"
    for data in b"", b"PAR1", whole[: len(whole) // 2], whole[:-1], long, b"no Parquet at all":
        path.write_bytes(data)
        with pytest.raises(libidx.InvalidArgumentError, match="1.parquet: it is damaged, or no Parquet: "):
            libidx.dedup([fine, path], progress=lambda *unused: pytest.fail("work has begun"))
    for column in [1, 2], [["a"]], [{"a": "b"}], [1.5, None]:
        pyarrow.parquet.write_table(pyarrow.table({"text": column}), path)
        sentence = "1.parquet: column 'text' is of type .*, and holds no texts"
        with pytest.raises(libidx.InvalidArgumentError, match=sentence):
            libidx.dedup([fine, path], progress=lambda *unused: pytest.fail("work has begun"))


def holders(texts):
    """All that texts, of which some are null, can be in."""
    import pandas
    import polars
    import pyarrow

    binaries = [text if text is None else text.encode() for text in texts]
    return {
        "list": texts,
        "tuple": tuple(texts),
        "bytes": binaries,
        "objects": numpy.array(texts, object),
        "string": pyarrow.array(texts),
        "large": pyarrow.array(texts, pyarrow.large_string()),
        "views": pyarrow.array(texts, pyarrow.string_view()),
        "binary": pyarrow.array(binaries),
        "chunks": pyarrow.chunked_array([texts[:2], texts[2:]]),
        "pandas": pandas.Series(texts, index=range(7, 7 + len(texts))),
        "pandas objects": pandas.Series(texts, dtype=object),
        "polars": polars.Series(texts),
    }


@pytest.mark.parametrize("way", holders(["a", None, "b"]))
def test_nulls_are_kept(way):
    """Where they are: first, last, all; in what is held and in what is read; and they are like no text, nor each other,
    nor an empty one."""
    one, other = "one two three four five six", "other words that are long enough"
    for texts in [None, one, other, one], [one, None, "", None, one, None], [None, None], [one, one, None]:
        given = holders(texts)[way]
        keep = [text is None or text not in texts[:i] for i, text in enumerate(texts)]
        halves = lambda: iter([given[:1], given[1:]])  # noqa: E731
        ways = [lambda: given, lambda: lambda: iter([given]), lambda: halves]
        if not hasattr(next(iter(given)), "as_py"):
            ways.append(lambda: iter(given))
        for documents, resemble in itertools.product(ways, (0.8, None)):
            assert libidx.dedup(documents(), 3, resemble=resemble, min_features=0).keep.tolist() == keep
        for documents in ways:
            # A text without any word resembles none, as nulls do.
            assert libidx.dedup(documents(), resemble=0.8).keep.tolist() == keep
        assert libidx.dedup(given, representative="longest", min_features=0).keep.tolist() == keep


def test_nulls_among_numbers_are_refused():
    import pyarrow

    for documents in [None, 5], [5, None], pyarrow.array([None, 5]), pyarrow.array([5, None], pyarrow.uint64()):
        sentence = "fingerprints: (item . is <class 'NoneType'>|the column has nulls)"
        with pytest.raises((TypeError, ValueError), match=sentence):
            libidx.dedup(documents)
    with pytest.raises(TypeError, match="ids: item 0 is <class 'NoneType'>; expected str or bytes"):
        libidx.build("x", [1, 2], [None, "a"])
    with pytest.raises(ValueError, match="ids: the column has nulls"):
        libidx.build("x", [1, 2], pyarrow.array([None, "a"]))


def test_names_of_files_are_no_texts(tmp_path):
    for documents in "a.parquet", str(tmp_path), b"a.parquet":
        with pytest.raises(TypeError, match="documents: one (str|bytes); expected a list of texts; .*pathlib.Path"):
            libidx.dedup(documents)
    (tmp_path / "a.parquet").write_bytes(b"")
    for documents in ["a.parquet"], ("a.parquet", "b.parquet"):
        with pytest.raises(TypeError, match="'a.parquet' is a file, but its name .*pathlib.Path"):
            libidx.dedup(documents)
    assert libidx.dedup(["a.parquet", "of words"]).keep.all() and libidx.dedup(["c.parquet"]).keep.all()


def dates_in_utc():
    """Times, of which the third is the newest, in zones that order their clocks otherwise; the last has none."""
    import datetime

    import pandas
    import polars
    import pyarrow

    utc = datetime.timezone.utc
    east, west = (datetime.timezone(datetime.timedelta(hours=hours)) for hours in (9, -9))
    aware = [
        datetime.datetime(2026, 1, 1, 9, tzinfo=east),
        datetime.datetime(2026, 1, 1, 1, tzinfo=utc),
        datetime.datetime(2025, 12, 31, 23, tzinfo=west),
        None,
    ]
    plain = [date and date.astimezone(utc) for date in aware]
    return {
        "list": aware,
        "objects": numpy.array(aware, object),
        "pandas": pandas.Series(plain),
        "pandas objects": pandas.Series(aware, dtype=object),
        "arrow": pyarrow.array(plain),
        "polars": polars.Series(plain),
        "without zones": [date and date.replace(tzinfo=None) for date in plain],
        "mixed": [aware[0], plain[1].replace(tzinfo=None), aware[2], None],
        "seconds": [date and date.timestamp() for date in aware],
        "days": [datetime.date(2026, 1, 1), datetime.date(2025, 1, 1), datetime.date(2026, 1, 2), None],
        "numbers": [1, 2.5, 2**40, None],
    }


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("way", dates_in_utc())
def test_dates_of_zones(way):
    dates = dates_in_utc()[way]
    found = libidx.dedup(["same words"] * 4, representative="newest", dates=dates)
    assert found.keep.tolist() == [False, False, True, False]


@pytest.mark.filterwarnings("error")
def test_dates_that_are_refused():
    import datetime

    zoned = ["2026-01-01T00:00:00Z", None]
    for dates in ["2026-01-01", None], [1, datetime.date(2026, 1, 1)], zoned, zoned[:1] * 2, [object(), None]:
        with pytest.raises(TypeError, match="dates: .*give seconds, datetime or numpy.datetime64"):
            libidx.dedup(["a", "b"], representative="newest", dates=dates)


def test_parquet_that_is_no_utf8(tmp_path):
    """Strings that a file says are UTF-8, and are not, are read as bytes are, and a second time, too."""
    import pyarrow
    import pyarrow.parquet

    texts = [b"one two three four five \xff six"] * 2 + [b"\xc3"]
    offsets = numpy.cumsum([0, *map(len, texts)], dtype=numpy.int32)
    buffers = [None, pyarrow.py_buffer(offsets.tobytes()), pyarrow.py_buffer(b"".join(texts))]
    strings = pyarrow.Array.from_buffers(pyarrow.string(), 3, buffers)
    pyarrow.parquet.write_table(pyarrow.table({"text": strings}), tmp_path / "a.parquet")
    assert columns(libidx.dedup(tmp_path / "a.parquet", resemble=0.8)) == columns(libidx.dedup(texts, resemble=0.8))


def test_texts_that_change_between_readings():
    texts = make_texts(300, 4)
    for change in lambda: [["other words than before", *texts[1:]]], lambda: [texts[:-1]], lambda: [[*texts, "one"]]:
        readings = iter([[[texts[1], *texts[1:]]], change()])
        with pytest.raises(libidx.InvalidArgumentError, match="read again"):
            libidx.dedup(lambda: next(readings), 10, resemble=0.5)


@pytest.mark.parametrize("resemblance", ["0.5", "0.8", "1"])
def test_dedup_is_that_of_the_command(resemblance):
    texts = make_texts(families.COUNT, families.SEED)
    found = libidx.dedup(texts, resemble=float(resemblance))
    assert set(numpy.flatnonzero(~found.keep).tolist()) == families.find_dropped(texts, resemblance)


@pytest.mark.parametrize("method", ["components", "star"])
@pytest.mark.parametrize("representative", ["first", "most-documents", "longest", "newest"])
def test_representatives_by_fingerprints(representative, method):
    """Documents of a cluster are taken in the order in which they are preferred, also where several have a fingerprint."""
    rand, words, distance = randomness.Random(f"{representative} {method}"), [f"w{number}" for number in range(40)], 9
    for _ in range(25):
        texts = []
        for _ in range(rand.randrange(1, 30)):
            text = rand.sample(words, 12) if not texts or rand.random() < 0.2 else rand.choice(texts).split()
            rand.shuffle(text)
            texts.append("  ".join(text[: len(text) - rand.choice([0, 0, 0, 1])])[: rand.choice([999, -1])])
        dates = [rand.randrange(9) for _ in texts]
        prints = libidx.Fingerprinter()(texts).tolist()
        keys = {
            "first": lambda at: 0,
            "most-documents": lambda at, prints=prints: -prints.count(prints[at]),
            "longest": lambda at, texts=texts: -len(texts[at]),
            "newest": lambda at, dates=dates: -dates[at],
        }
        order = sorted(range(len(texts)), key=keys[representative])
        expected = [0] * len(texts)
        for members in families.cluster(prints, order, distance, method):
            for at in members:
                expected[at] = members[0]
        given = {"dates": dates} if representative == "newest" else {}
        found = libidx.dedup(texts, k=distance, method=method, representative=representative, **given)
        assert found.representative.tolist() == expected
        assert found.keep.tolist() == [kept == at for at, kept in enumerate(expected)]


def test_the_callers_exception_ends_it():
    """What the progress, the reading or a text raises comes out, and False cancels."""
    texts = make_texts(300, 4)

    def fail(*unused):
        raise KeyError("mine")

    with pytest.raises(KeyError, match="mine"):
        libidx.dedup(texts, resemble=0.5, progress=fail)
    with pytest.raises(libidx.CancelledError):
        libidx.dedup(texts, resemble=0.5, progress=lambda *unused: False)
    with pytest.raises(KeyError, match="mine"):
        libidx.dedup(lambda: map(fail, [texts]), resemble=0.5)
    with pytest.raises(TypeError, match="texts: item 1 is <class 'int'>"):
        libidx.dedup(["one", 2], resemble=0.5)
    phases = set()
    libidx.dedup(texts, resemble=0.5, progress=lambda phase, done, total: phases.add(phase))
    assert phases == {"counting", "sets"}


ONE_CLUSTER = """
import random, resource, sys, libidx
source = random.Random(1)
sentences = [" ".join("%x" % source.getrandbits(30) for _ in range(12)) for _ in range(150000)]
def read():
    source = random.Random(2)
    for _ in range(150):
        yield [" ".join(source.sample(sentences, 3)) for _ in range(1000)]
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
found = libidx.dedup(read, *map(int, sys.argv[1:]), resemble=0.5, memory=64 << 20)
print(int(found.keep.sum()), (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) >> 10)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="memory is counted in other units")
@pytest.mark.parametrize("k", [["16"], []])
def test_one_cluster_of_nearly_all_texts(k):
    """At this distance nearly all are joined by chains; memory has room for neither the texts nor their shingles."""
    done = subprocess.run([sys.executable, "-c", ONE_CLUSTER, *k], capture_output=True, text=True, check=True)
    kept, mib = map(int, done.stdout.split())
    assert kept == 150000
    assert mib < 64 + 96, mib  # 233 were needed to hold them
