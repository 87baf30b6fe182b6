"""dedup and text_pairs of texts, beside a plain program: which texts are kept, and which resemble each other."""

import collections
import json
import random as randomness
import subprocess
import sys

import numpy
import pytest

import families
import libidx
from families import make_texts
from libidx import _resemblance

pytestmark = pytest.mark.skipif(not libidx.HAS_TEXT, reason="built without ICU")


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


def check_exact(found, texts, resemblance, order, shingle=families.shingle):
    """All columns are those of the plain program."""
    joined = families.keep([shingle(text) for text in texts], resemblance, order)
    assert found.representative.tolist() == [row for row, _ in joined]
    assert found.resemblance.tolist() == [float(alike) for _, alike in joined]
    assert found.keep.tolist() == [row == i for i, (row, _) in enumerate(joined)]
    kept = [i for i, (row, _) in enumerate(joined) if row == i]
    assert found.cluster.tolist() == [kept.index(row) for row, _ in joined]
    assert found.known is None


@pytest.mark.parametrize("resemblance", ["0.0001", "0.17", "0.3", "0.5", "0.8", "1"])
@pytest.mark.parametrize("representative", ["first", "longest", "newest", "most-documents"])
def test_texts_are_compared_exactly(resemblance, representative):
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


@pytest.mark.parametrize("threads", [pytest.param(1, marks=pytest.mark.nightly), 2])
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


def plain_shingle(width, of_characters):
    """What makes the shingles of a text of words that single blanks separate."""

    def shingle(text):
        units = text if of_characters else tuple(text.split())
        return {units[at : at + width] for at in range(max(len(units) - width + 1, 1))} if units else set()

    return shingle


@pytest.mark.parametrize("shingle", [1, 3, 16, "1", "chars:1", "chars:8", "chars:16"])
def test_shingles(shingle):
    texts = make_texts(300, 4)
    plain = plain_shingle(int(str(shingle).removeprefix("chars:")), str(shingle).startswith("chars:"))
    for resemblance in "0.5", "0.8":
        check_exact(libidx.dedup(texts, resemble=float(resemblance), shingle=shingle), texts, resemblance, None, plain)
        check_pairs(libidx.text_pairs(texts, float(resemblance), shingle=shingle), texts, resemblance, plain)


def check_pairs(found, texts, resemblance, shingle=families.shingle, contained=None, members=0):
    """All pairs of different sets, and each copy once, beside its first."""
    pairs = families.find_pairs([shingle(text) for text in texts], resemblance, contained, members)
    expected = [(*rows, float(alike), float(share))[: 3 if contained is None else 4] for *rows, alike, share in pairs]
    assert list(zip(*(column for column in columns(found) if column is not None), strict=True)) == expected
    assert len(pairs) > 5


@pytest.mark.parametrize("resemblance", ["0.0001", "0.5", "0.8", "1"])
def test_text_pairs(resemblance):
    texts = make_texts(400, 9)
    texts[7:7] = ["", " ! ", texts[0], None]
    words = [text or "" for text in texts]
    for documents in texts, iter(texts), lambda: iter([texts[:9], texts[9:]]):
        check_pairs(libidx.text_pairs(documents, float(resemblance), threads=2), words, resemblance)
    for alike in None, resemblance:
        found = libidx.text_pairs(texts, alike and float(alike), contained=0.6, min_words=8, threads=2)
        check_pairs(found, words, alike, contained="0.6", members=4)
    if resemblance == "0.8":
        assert columns(libidx.text_pairs(texts)) == columns(libidx.text_pairs(texts, 0.8, shingle=5))
    assert columns(libidx.text_pairs([])) == [[], [], [], None, None, None]


@pytest.mark.parametrize("common, most", [(3, 3), ("3", 3), (0.01, 4), ("1%", 4), ("0.5%", 2), (1.0, 400)])
def test_common_shingles(common, most):
    """What more than so many texts have, copies included, does not count; nulls are no texts."""
    texts = make_texts(397, 4)
    texts[7:7] = ["", texts[0], texts[0], None]
    words = [text or "" for text in texts]
    having = collections.Counter(member for text in words for member in families.shingle(text))

    def shingle(text):
        return {member for member in families.shingle(text) if having[member] <= most}

    assert (most == 400) == all(count <= most for count in having.values())
    for batches in [texts], [texts[:200], texts[200:]]:
        found = libidx.dedup(lambda batches=batches: iter(batches), resemble=0.5, ignore_common=common)
        check_exact(found, words, "0.5", None, shingle)
        assert found.ignored == sum(count > most for count in having.values())
        check_pairs(libidx.text_pairs(lambda batches=batches: iter(batches), 0.5, ignore_common=common), words, "0.5", shingle)


def test_known_texts_count(tmp_path):
    """In whether shingles are common, and in how many texts there are."""
    texts = ["a b c d e", "a b c d e", "f g h i j", "f g h i j"]
    for common, keep in (2, [True, True, False]), (3, [False, True, False]), (0.4, [True, True, False]):
        found = libidx.dedup(texts[1:], against=[texts[0], texts[0]], ignore_common=common)
        assert found.keep.tolist() == keep
    assert libidx.dedup(texts[1:], against=[texts[0], "k"], ignore_common=0.4).known.tolist() == [0, -1, -1]


def test_small_memory_of_pairs(tmp_path):
    texts = make_texts(20000, 8)
    found = libidx.text_pairs(iter(texts), 0.5, memory=1 << 20, tmpdir=tmp_path, threads=2)
    assert columns(found) == columns(libidx.text_pairs(texts, 0.5)) and len(found.a) > 5000
    assert list(tmp_path.iterdir()) == []


def test_what_is_compared_without_options():
    texts = make_texts(400, 3)
    assert columns(libidx.dedup(texts)) == columns(libidx.dedup(texts, 0.8, shingle=5))


def test_dedup_of_few_texts():
    for documents, keep in ([], []), (["one two", "", "!", "One Two"], [True, True, True, False]):
        found = libidx.dedup(documents)
        assert columns((found.keep, found.resemblance)) == [keep, [1] * len(keep)]
    assert libidx.dedup(iter(["one two", "one two"])).representative.tolist() == [0, 0]


def test_small_shares_of_common_shingles():
    for common, count, most in (2.5e-6, 4 * 10**6, 10), (4e-7, 10**7, 4), (numpy.float64(1e-300), 9, 1), (1.0, 7, 7):
        assert _resemblance.parse_common(common)(count) == most


def test_dedup_refuses():
    for least in 0, -1, 1.5, float("nan"):
        for call in libidx.dedup, libidx.text_pairs:
            with pytest.raises(libidx.InvalidArgumentError, match="resemblance"):
                call(lambda: pytest.fail("read before"), resemble=least)
    for shingle in 0, 17, -1, "", "5 ", "chars", "chars:", "chars:0", "chars:17", "words:5", "٣", 2.5, "5:chars":
        for call in libidx.dedup, libidx.text_pairs:
            with pytest.raises(libidx.InvalidArgumentError, match="^shingle = "):
                call(lambda: pytest.fail("read before"), shingle=shingle)
    for common in 0, -1, 0.0, 1.5, 2.5, "1e2", "", "x", "101%", "0%", "0.5", True:
        for call in libidx.dedup, libidx.text_pairs:
            with pytest.raises(libidx.InvalidArgumentError, match="^ignore_common = "):
                call(lambda: pytest.fail("read before"), ignore_common=common)
    for call in libidx.dedup, libidx.dedup_parts, libidx.text_pairs:
        for numbers in [1, 2], numpy.arange(3, dtype=numpy.uint64):
            with pytest.raises(TypeError, match="texts: these are numbers; .*; libidx.clusters compares fingerprints"):
                call(numbers)
        for options in {"min_words": 2}, {"min_words": 2, "resemble": 0.5}:
            if call is not libidx.dedup_parts:
                with pytest.raises(libidx.InvalidArgumentError, match="^min_words needs contained"):
                    call(["a"], **options)


# ---- Against what was kept before ----


def write_places(folder, texts):
    """The same texts in all that they can be in: what dedup takes as against."""
    import pyarrow
    import pyarrow.parquet

    pyarrow.parquet.write_table(pyarrow.table({"text": texts}), folder / "a.parquet")
    (folder / "a.jsonl").write_text("".join(json.dumps({"text": text}) + "\n" for text in texts))
    (folder / "of").mkdir()
    for number, text in enumerate(texts):
        (folder / "of" / f"{number:04}.txt").write_text(text)
    files = [folder / "a.parquet", folder / "a.jsonl", str(folder / "a.jsonl"), [folder / "of"], str(folder / "of")]
    return [*files, texts, iter(texts), lambda: iter([texts[:5], texts[5:]])]


@pytest.mark.parametrize("representative", ["first", "longest", "newest", "most-documents"])
def test_against_texts(tmp_path, representative):
    """Known texts are kept, also those that resemble each other, and are taken first."""
    texts = make_texts(500, 6)
    known, texts = texts[:150], texts[150:]
    dates = [row * 7 % 13 for row in range(len(texts))]
    order = [row - 150 for row in make_order([*known, *texts], representative, [0] * 150 + dates) if row >= 150]
    if representative == "most-documents":  # copies among the known ones count
        assert order != list(range(len(texts)))
    joined = families.keep(
        [families.shingle(text) for text in [*known, *texts]], "0.5", [*range(150), *(row + 150 for row in order)], 150
    )[150:]
    options = {"dates": dates} if representative == "newest" else {}
    for place in write_places(tmp_path, known):
        found = libidx.dedup(texts, resemble=0.5, against=place, representative=representative, **options)
        assert found.representative.tolist() == [max(row - 150, -1) for row, _ in joined]
        assert found.known.tolist() == [row if row < 150 else -1 for row, _ in joined]
        assert found.resemblance.tolist() == [float(alike) for _, alike in joined]
        assert found.keep.tolist() == [row == at + 150 for at, (row, _) in enumerate(joined)]
        kept = numpy.flatnonzero(found.keep).tolist()
        assert found.cluster.tolist() == [kept.index(row - 150) if row >= 150 else -1 for row, _ in joined]
    assert 30 < sum(row < 150 for row, _ in joined) < 300


def test_against_refuses(tmp_path):
    libidx.build("a.idx", [1, 2], recipe=libidx.Fingerprinter().recipe)
    (tmp_path / "a.html").write_text("<p>words")
    refuse = lambda: pytest.fail("read before")  # noqa: E731
    with libidx.open("a.idx") as index:
        for place in index, "a.idx", b"a.idx", tmp_path / "a.idx", [tmp_path / "a.html", tmp_path / "a.idx"]:
            with pytest.raises(libidx.InvalidArgumentError, match="^against: .*a.idx is an index of fingerprints: give texts, or an"):
                libidx.dedup(refuse, against=place)
    with pytest.raises(libidx.InvalidArgumentError, match="^.*a.html: HTML"):
        libidx.dedup(refuse, against=tmp_path / "a.html")
    with pytest.raises(FileNotFoundError):
        libidx.dedup(refuse, against="missing")
    with pytest.raises(TypeError, match="against: "):
        libidx.dedup(refuse, against=numpy.array([1, 2]))


def columns(found):
    return [column.tolist() if isinstance(column, numpy.ndarray) else column for column in found]


@pytest.mark.parametrize("representative", ["first", "longest"])
def test_texts_that_are_read(tmp_path, representative):
    """Once, in batches."""
    import pyarrow

    texts = make_texts(3000, 3)
    wanted = columns(libidx.dedup(texts, representative=representative))
    calls = []

    def read():
        calls.append(len(calls))
        for begin in range(0, len(texts), 700):
            some = texts[begin : begin + 700]
            yield [some, pyarrow.array(some), numpy.array(some)][begin // 700 % 3]

    options = {"representative": representative, "tmpdir": tmp_path}
    assert columns(libidx.dedup(read, **options)) == wanted
    assert calls == [0]
    assert columns(libidx.dedup(iter(texts), **options)) == wanted
    assert list(tmp_path.iterdir()) == []
    assert [len(column) for column in libidx.dedup(lambda: iter([]), **options)[:3]] == [0] * 3


def test_parquet_files(tmp_path):
    import pyarrow
    import pyarrow.parquet

    texts = make_texts(300, 6)
    paths = [tmp_path / "0.parquet", tmp_path / "1.parquet"]
    for path, some in zip(paths, (texts[:200], texts[200:]), strict=True):
        pyarrow.parquet.write_table(pyarrow.table({"url": list(range(len(some))), "body": some}), path)
    assert columns(libidx.dedup(paths, text="body")) == columns(libidx.dedup(texts))
    assert columns(libidx.text_pairs(paths, text="body")) == columns(libidx.text_pairs(texts))
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
        for documents in ways:
            # A text without any word resembles none, as nulls do.
            assert libidx.dedup(documents()).keep.tolist() == keep
        assert libidx.dedup(given, representative="longest").keep.tolist() == keep


def test_nulls_among_numbers_are_refused():
    import pyarrow

    for documents in [None, 5], [5, None], pyarrow.array([None, 5]), pyarrow.array([5, None], pyarrow.uint64()):
        sentence = "fingerprints: (item . is <class 'NoneType'>|the column has nulls)"
        with pytest.raises((TypeError, ValueError), match=sentence):
            libidx.clusters(documents)
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


@pytest.mark.parametrize("kind", [">M8[s]", "<M8[s]", ">i8", ">f8"])
def test_dates_in_any_byte_order(kind):
    dates = numpy.array([255, 256, 1]).astype(kind)
    found = libidx.dedup(["same words"] * 3, representative="newest", dates=dates)
    assert found.keep.tolist() == [False, True, False]


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


@pytest.mark.parametrize("resemblance", ["0.5", "0.8", "1"])
def test_dedup_is_that_of_the_command(resemblance):
    texts = make_texts(families.COUNT, families.SEED)
    found = libidx.dedup(texts, resemble=float(resemblance))
    assert set(numpy.flatnonzero(~found.keep).tolist()) == families.find_dropped(texts, resemblance)


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
found = libidx.dedup(read, resemble=0.5, memory=64 << 20)
print(int(found.keep.sum()), (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) >> 10)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="memory is counted in other units")
def test_one_cluster_of_nearly_all_texts():
    """Nearly all have a sentence in common; memory has room for neither the texts nor their shingles."""
    done = subprocess.run([sys.executable, "-c", ONE_CLUSTER], capture_output=True, text=True, check=True)
    kept, mib = map(int, done.stdout.split())
    assert kept == 150000
    assert mib < 64 + 96, mib  # 233 were needed to hold them
