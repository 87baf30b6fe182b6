"""From texts to fingerprints: equal whatever holds the texts and whatever threads there are."""

import datetime

import numpy
import pytest

import libidx

pytestmark = pytest.mark.skipif(not libidx.HAS_TEXT, reason="built without ICU")

TEXTS = [f"the {n} quick brown foxes of {n * n} and the dog {chr(0x4E00 + n)} ü{n}" for n in range(500)]


def test_threads_and_holders_agree():
    import pyarrow

    fingerprinter = libidx.Fingerprinter()
    alone = numpy.concatenate([fingerprinter([text]) for text in TEXTS])
    assert alone.dtype == numpy.uint64 and len(set(alone.tolist())) > 400
    for given in TEXTS, tuple(TEXTS), [text.encode() for text in TEXTS], pyarrow.array(TEXTS):
        for threads in 1, 4:
            assert (fingerprinter(given, threads=threads) == alone).all()
    assert libidx.Fingerprinter(bits=16)(TEXTS).tolist() == (alone & numpy.uint64(0xFFFF)).tolist()


def test_features_and_fields():
    fingerprinter = libidx.Fingerprinter("words:1;title=3")
    assert fingerprinter.recipe == "words:1;nfkc-cf;w=logtf;title=3;v2"
    prints, features = fingerprinter.with_features(["a b", "", "a a a"], titles=["c", "", "a"])
    assert features.tolist() == [3, 0, 1] and prints[1] == 0
    with pytest.raises(ValueError, match="give as many"):
        fingerprinter(["a"], titles=["b", "c"])
    with pytest.raises(TypeError):
        fingerprinter("one text")
    with pytest.raises(TypeError):
        fingerprinter([None])
    assert len(fingerprinter([])) == 0


def test_other_programs():
    """The values are those of the Python package simhash: Simhash(text).value, Simhash(text.split()).value."""
    chars = libidx.Fingerprinter("chars:4;w=tf;hash=md5")
    assert chars.recipe == "chars:4;nfkc-cf;w=tf;hash=md5;v1"
    texts = ["howareyouiamfineblarblarblarblarblarthanks", "近似重复的网页会浪费索引的空间", "abc"]
    assert chars(texts).tolist() == [0x7521C1F341161C7A, 0xD72C28A854EA6900, 0xD6963F7D28E17F72]
    words = "this is a test string for testing also"
    assert libidx.Fingerprinter("words:1;w=tf;hash=md5")([words]).tolist() == [0x41C4808A0E2904E1]
    tied = libidx.Fingerprinter("words:1;w=tf;hash=fnv1a;ties=1")
    assert tied([words, ""]).tolist() == [0xECE7FCCFBA4978D1, 0]
    with pytest.raises(libidx.BadRecipeError, match="the hashes are"):
        libidx.Fingerprinter("words:1;hash=sha1")


def test_recipes_that_make_several():
    with pytest.raises(libidx.InvalidArgumentError):
        libidx.Fingerprinter("segments:4")(["a b c d e f"])


def test_sketches(tmp_path):
    """A sketch is the smallest shingles of a text, and the rows say whose they are."""
    texts = [*TEXTS[:200], "", "...", "a b"]
    fingerprinter = libidx.Fingerprinter("minhash:8")
    assert fingerprinter.recipe == "minhash:8;words=5;v1"
    expected = [(int(value), row) for row, text in enumerate(texts) for value in libidx.shingles(text)[:8]]
    for threads in 1, 3:
        fingerprints, rows = fingerprinter.several(texts, threads=threads)
        assert list(zip(fingerprints.tolist(), rows.tolist())) == expected
    characters = libidx.Fingerprinter("minhash:64;chars=3").several(texts[:1])[0]
    assert characters.tolist() == libidx.shingles(texts[0], 3, unit="characters")[:64].tolist()
    one, rows = libidx.Fingerprinter().several(texts)
    assert rows.tolist() == list(range(len(texts))) and (one == libidx.Fingerprinter()(texts)).all()
    with pytest.raises(libidx.InvalidArgumentError):
        fingerprinter(texts)
    with pytest.raises(libidx.InvalidArgumentError):
        libidx.Fingerprinter("minhash:8", bits=63).several(texts)

    path = tmp_path / "sketches.idx"
    fingerprints, rows = fingerprinter.several(texts)
    with pytest.raises(libidx.InvalidArgumentError, match="k = 0, not 3"):
        libidx.build(path, fingerprints, rows, recipe=fingerprinter.recipe, k=3)
    libidx.build(path, fingerprints, rows, recipe=fingerprinter.recipe)
    with libidx.open(path) as index:
        assert index.info().k == 0


def test_training():
    table = libidx.train(TEXTS)
    assert table.documents == len(TEXTS) and table.terms > 500 and table.dropped == 0 and table.features
    table.save("table")
    again = libidx.Table.load("table")
    recipe = "words:1;w=tfidf"
    weighted = libidx.Fingerprinter(recipe, table=table)(TEXTS)
    assert (libidx.Fingerprinter(recipe, table=again)(TEXTS) == weighted).all()
    assert (libidx.Fingerprinter()(TEXTS) != weighted).any()
    with pytest.raises(libidx.BadRecipeError):
        libidx.Fingerprinter(recipe)
    with pytest.raises(TypeError):
        libidx.Fingerprinter(recipe, table="table")
    with pytest.raises(libidx.NotFoundError):
        libidx.Table.load("none")
    with pytest.raises(TypeError):
        libidx.Table()


def test_lists_of_other_programs(tmp_path):
    path = tmp_path / "idf.txt"
    path.write_text("近似 5.5\n网页 2.25\n的 0.5\n", encoding="utf-8")
    table = libidx.Table.load(path)
    assert (table.documents, table.terms, table.dropped) == (0, 3, 0)
    table.save(tmp_path / "table")
    text, recipe = "近似 重复 的 网页", "words:1;cut=spaces;w=tfidf"
    weighted = libidx.Fingerprinter(recipe, table=table)
    assert weighted.recipe == libidx.Fingerprinter(recipe, table=libidx.Table.load(tmp_path / "table")).recipe
    simhash = libidx.Simhash()
    for word, idf in ("近似", 5.5), ("重复", 2.25), ("的", 0.5), ("网页", 2.25):  # what it lacks has the median
        simhash.add(word, int(idf * 65536))
    assert weighted([text]).tolist() == [simhash.finish()]
    path.write_text("#documents\t9\n网页\t10\n", encoding="utf-8")
    with pytest.raises(libidx.BadContentError, match=r"idf\.txt:2: the second column"):
        libidx.Table.load(path)


# Of the first four, which have the same words, the second and the third are longest: the ü has two bytes.
CLUSTER = ["the grün fox", "The,  grün -- fox", "the ... grün, fox", "the grün fox.", "another one"]


def text_columns():
    import polars
    import pyarrow

    yield from (CLUSTER, tuple(CLUSTER), numpy.array(CLUSTER), numpy.array(CLUSTER, object), polars.Series(CLUSTER))
    yield from (pyarrow.array(CLUSTER), pyarrow.chunked_array([CLUSTER[:2], CLUSTER[2:]]), dict.fromkeys(CLUSTER))
    yield from ([text.encode() for text in CLUSTER], iter(CLUSTER))


def test_the_longest_represents():
    for texts in text_columns():
        found = libidx.dedup(texts, representative="longest")
        assert found.representative.tolist() == [1, 1, 1, 1, 4]
        assert found.keep.tolist() == [False, True, False, False, True]
        assert found.cluster[:4].tolist() == [found.cluster[0]] * 4 and found.cluster[4] != found.cluster[0]
    with_stubs = libidx.dedup(["...", *CLUSTER, ""], representative="longest")
    assert with_stubs.representative.tolist() == [0, 2, 2, 2, 2, 5, 6]
    nothing = libidx.dedup(numpy.array([], str), representative="longest")
    assert [len(column) for column in nothing[:4]] == [0] * 4


@pytest.mark.parametrize(
    "dates",
    [
        [1, 5, 7, 7, 0],
        numpy.array([1, 5, 7, 7, 0], numpy.int64) - 2**62,
        [0.1, 0.5, 0.7, 0.7, numpy.nan],
        [numpy.nan, numpy.nan, -7.0, -7.0, 1.0],
        numpy.array(["2026-01-01", "NaT", "2026-01-02", "2026-01-02", "1970-01-01"], "datetime64[D]"),
        [datetime.datetime(2026, 1, 1), None, datetime.datetime(2026, 1, 2), datetime.datetime(2026, 1, 2), None],
    ],
)
def test_the_newest_represents(dates):
    found = libidx.dedup(CLUSTER, representative="newest", dates=dates)
    assert found.representative.tolist() == [2, 2, 2, 2, 4]


@pytest.mark.parametrize(
    "documents, options, sentence",
    [
        (CLUSTER, {"representative": "newest"}, "representative 'newest' needs dates: give as many as texts"),
        (CLUSTER, {"dates": [1] * 5}, "dates: without representative 'newest' they have no effect"),
        (CLUSTER, {"representative": "newest", "dates": [1]}, "5 texts and dates of shape \\(1,\\): give as many"),
        (CLUSTER, {"representative": "newest", "dates": ["2026"] * 5}, "dates: .*: give seconds, datetime or"),
        (CLUSTER, {"representative": "newest", "dates": numpy.ma.array([1] * 5, mask=[1] * 5)}, "dates: a masked"),
        (CLUSTER, {"representative": "oldest"}, "representative: 'oldest', which is none of .*'longest', 'newest'"),
    ],
)
def test_representatives_that_are_refused(documents, options, sentence):
    with pytest.raises((ValueError, TypeError), match="^" + sentence):
        libidx.dedup(documents, **options)
