"""Indexes of texts: built, looked up, grown, and their pairs and clusters, beside plain programs."""

import functools
import json
import os
import random as randomness
import signal
import subprocess
import sys
import threading
import warnings
from fractions import Fraction

import families
import numpy
import pytest
import words

import libidx

pytestmark = pytest.mark.skipif(not libidx.HAS_TEXT, reason="built without ICU")

TEXTS = families.make_texts(400, 1) + ["", "..."]
IDS = [f"{'é' * (n % 3)}{n}" for n in range(len(TEXTS))]
NUMBERS = [7 * n for n in range(len(TEXTS))]
WITH_WORDS = [n for n in range(len(TEXTS)) if TEXTS[n].strip(".")]


shingle = functools.cache(words.shingles)


def find(texts, ids, query, least, width=5, unit="words"):
    """What a plain program finds: [(resemblance, ID)], the greatest first, of equals by ID, as bytes or a number."""
    own = shingle(query, width, unit)
    found = []
    for text, id in zip(texts, ids, strict=True):
        other = shingle(text, width, unit)
        if own & other and (share := Fraction(len(own & other), len(own | other))) >= Fraction(least):
            found.append((float(share), id))
    return sorted(found, key=lambda pair: (-pair[0], pair[1].encode() if isinstance(pair[1], str) else pair[1]))


def rows(found):
    """Resembling as find has it."""
    shares = iter(found.resemblances.tolist())
    return [[(next(shares), id) for id in ids] for ids in found.tolist()]


@pytest.mark.parametrize("ids", [IDS, NUMBERS], ids=["text", "u64"])
@pytest.mark.parametrize("least, values", [("0.8", 8), ("0.5", 17), ("0.25", 41)])
def test_every_text(least, values, ids):
    made = libidx.build("i", texts=TEXTS, ids=ids, resemble=float(least))
    assert made.texts == len(WITH_WORDS) and made.sets_bytes > 8 * made.texts
    expected = [find(TEXTS, ids, text, least) for text in TEXTS]
    assert sum(map(len, expected)) > 1.5 * len(TEXTS) and expected[-1] == []
    with libidx.open("i") as index, libidx.open("i", residence="disk") as from_disk:
        info = index.info()
        assert (info.recipe, info.sketch, info.texts) == (f"minhash:{values};words=5;v1", values, len(WITH_WORDS))
        assert info.resemble == float(least)
        assert info.members == sum(len(shingle(text)) for text in TEXTS) and info.sets_bytes == made.sets_bytes
        assert repr(index) == f"<libidx.Index 'i': {info.texts} texts, {info.recipe}>"
        assert rows(index.lookup(TEXTS)) == rows(from_disk.lookup(TEXTS, threads=2)) == expected
        assert rows(index.lookup(TEXTS, limit=1, resemble=float(least))) == [row[:1] for row in expected]
        assert index.exists(TEXTS).tolist() == [row != [] for row in expected]
        assert index.count(TEXTS).tolist() == [len(row) for row in expected]
        more = rows(index.lookup(TEXTS, resemble=0.9))
        assert more == [[pair for pair in row if pair[0] >= 0.9] for row in expected]
        for n in (0, 7, len(TEXTS) - 1):
            assert index.lookup(TEXTS[n]) == [(id, share) for share, id in expected[n]]
            assert index.lookup(TEXTS[n].encode(), limit=1) == index.lookup(TEXTS[n])[:1]
            assert index.exists(TEXTS[n]) is (expected[n] != []) and index.count(TEXTS[n]) == len(expected[n])
        assert all(file.error is None for file in index.verify())


def test_more_texts_than_are_looked_up_at_once():
    texts = [f"word{n} a b c d" for n in range(9000)]
    libidx.build("i", texts=texts)
    with libidx.open("i") as index:
        found = index.lookup(texts, threads=2)
        assert found.offsets.tolist() == list(range(9001)) and found.numbers.tolist() == list(range(9000))


def test_characters_of_every_script():
    drawn = randomness.Random(3)
    texts = [words.draw(drawn) + " x" for _ in range(40)]
    texts += [f"{text} and more" for text in texts[:20]]
    libidx.build("i", texts=texts, resemble=0.4, shingle="chars:3")
    with libidx.open("i") as index:
        found = index.lookup(texts)
        assert index.info().recipe == "minhash:23;chars=3;v1"
        assert rows(found) == [find(texts, range(60), text, "0.4", 3, "characters") for text in texts]
        assert repr(found) == f"<libidx.Resembling: {found.offsets[-1]} documents of 60 texts>" and len(found) == 60


def test_texts_of_all_kinds(tmp_path):
    """Lists, arrays, columns, iterators, callables and files make the same index, in pieces and at once."""
    import pandas
    import polars
    import pyarrow
    import pyarrow.parquet

    class Column:
        """Arrow's interface alone, which can't be sliced."""

        def __arrow_c_stream__(self, requested_schema=None):
            return pyarrow.chunked_array([TEXTS[:7], TEXTS[7:]]).__arrow_c_stream__(requested_schema)

    many = 9 * TEXTS  # more than are made at once
    pyarrow.parquet.write_table(pyarrow.table({"t": TEXTS}), "texts.parquet")
    numbers = numpy.arange(len(many), dtype=numpy.uint64)
    for texts, given in (
        (many, {}),
        (many, {"ids": numbers}),
        (tuple(many), {"ids": numbers.tolist()}),
        (numpy.array(many), {}),
        (pyarrow.array(many), {"ids": pyarrow.array(numbers)}),
        (polars.Series(many), {"ids": polars.Series(numbers)}),
        (pandas.Series(many), {"ids": pandas.Series(numbers)}),
        (iter(many), {}),
        (lambda: [many[:5], many[5:]], {}),
        (Column(), {"times": 1}),
        (Column(), {"times": 1, "ids": numbers[: len(TEXTS)]}),
        (tmp_path / "texts.parquet", {"times": 1, "text": "t"}),
    ):
        times = given.pop("times", 9)
        libidx.build("i", texts=texts, replace=True, **given)
        with libidx.open("i") as index:
            assert index.info().texts == times * len(WITH_WORDS)
            for query in 0, 399:
                copies = [n for at in range(times) for n in [at * len(TEXTS) + query]]
                assert set(copies) <= {number for number, share in index.lookup(TEXTS[query]) if share == 1}
    libidx.build("i", texts=["a b", None, "c d"], replace=True)
    assert libidx.open("i").lookup("C D") == [(2, 1.0)]


def test_arrow():
    import pyarrow

    libidx.build("i", texts=TEXTS, ids=IDS, resemble=0.5)
    with libidx.open("i") as index:
        table = pyarrow.table(index.lookup(TEXTS[:9]))
        assert table.column_names == ["query", "id", "resemblance"]
        expected = [(n, id, share) for n in range(9) for share, id in find(TEXTS, IDS, TEXTS[n], "0.5")]
        assert list(zip(*table.to_pydict().values(), strict=True)) == expected


@pytest.mark.parametrize("ids", [IDS, NUMBERS], ids=["text", "u64"])
@pytest.mark.parametrize("known", [0, 100])
def test_adding(ids, known):
    """In batches, with restarts between some: what a plain program keeps, one text after the other."""
    kept = families.keep([families.shingle(text.strip(".")) for text in TEXTS], "0.5", known=known)
    added = [kept[n][0] == n and n in WITH_WORDS for n in range(len(TEXTS))]
    libidx.build("i", texts=[], ids=[], id_type="text" if ids is IDS else "u64", resemble=0.5)
    with libidx.Writer("i") as writer:
        writer.add(TEXTS[:known], ids[:known])
    at = known
    for sizes in (1, 2, 3), (50, 0, 1), (200, 400):
        with libidx.Writer("i", threads=2) as writer:
            for size in sizes:
                batch = slice(at, at + size)
                made, found = writer.check_and_add(TEXTS[batch], ids[batch])
                assert made.tolist() == added[batch]
                before = [n for n in range(at) if n < known or added[n]]
                for row, text in zip(rows(found), TEXTS[batch], strict=True):
                    expected = find([TEXTS[n] for n in before], [ids[n] for n in before], text, "0.5")
                    assert row == expected
                    before += [at] if added[at] else []
                    at += 1
    assert at == len(TEXTS)
    there = {n for n in WITH_WORDS if added[n] or n < known}
    with libidx.open("i") as index:
        assert [id for row in index.lookup(TEXTS, resemble=1).tolist() for id in row if id == ids[0]]
        assert {id for row in index.lookup(TEXTS).tolist() for id in row} == {ids[n] for n in there}
        gone = sorted(there)[::3]
        with libidx.Writer("i") as writer:
            assert writer.remove_ids([ids[n] for n in gone] + [ids[gone[0]]]) == (len(gone), 1)
        libidx.compact("i", all=True)
        assert index.refresh() and all(file.error is None for file in index.verify())
        left = sorted(there - set(gone))
        expected = [find([TEXTS[n] for n in left], [ids[n] for n in left], text, "0.5") for text in TEXTS]
        assert rows(index.lookup(TEXTS)) == expected


CRAWLER = """
import json, sys
import libidx
with libidx.Writer("i") as writer:
    for line in sys.stdin:
        pages = json.loads(line)
        added, _ = writer.check_and_add(list(pages.values()), list(pages))
        print(sum(map(int, added)), flush=True)
"""


def test_a_kill_loses_nothing_that_was_answered():
    """What was not answered is given again, as a crawler does: the index has the same texts as without kills."""
    batches = [range(at, min(at + 25, 400)) for at in range(0, 400, 25)]
    kept = families.keep([families.shingle(text) for text in TEXTS[:400]], "0.5")
    libidx.build("i", texts=[], ids=[], id_type="text", resemble=0.5)
    answered, source = 0, randomness.Random(int(os.environ.get("SEED", "1")))
    while answered < len(batches):
        lines = [json.dumps({IDS[n]: TEXTS[n] for n in batch}) + "\n" for batch in batches[answered:]]
        crawler = subprocess.Popen(
            [sys.executable, "-c", CRAWLER], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        feeder = threading.Thread(target=lambda c=crawler, text="".join(lines): suppress_pipe(c, text))
        feeder.start()
        for _ in range(source.randrange(1, 6)):
            answered += crawler.stdout.readline() != ""
        if source.random() < 0.5:
            threading.Event().wait(source.random() / 50)
        crawler.send_signal(signal.SIGKILL)
        feeder.join()
        crawler.wait()
        crawler.stdout.close()
        with libidx.open("i") as index:
            there = [IDS.index(id) for id in index.clusters().ids]
            assert len(there) == len(set(there))
            assert {n for n in range(25 * answered) if kept[n][0] == n} <= set(there)
            for n in there:
                assert (IDS[n], 1.0) in index.lookup(TEXTS[n])
                for value in words.hash_shingles(TEXTS[n])[:17]:
                    assert IDS[n] in index.documents(value)
            assert all(index.exists(TEXTS[: 25 * answered]))
    assert set(there) == {n for n in range(400) if kept[n][0] == n}


def suppress_pipe(process, text):
    try:
        with process.stdin:
            process.stdin.write(text)
    except BrokenPipeError:
        pass


@pytest.mark.parametrize("ids", [IDS, NUMBERS], ids=["text", "u64"])
def test_pairs_clusters_and_against(ids):
    """From the sets alone, the same as of the texts, also after some were removed."""
    live = [n for n in WITH_WORDS if n % 5]
    libidx.build("i", texts=TEXTS[:200], ids=ids[:200], resemble=0.5)
    with libidx.Writer("i") as writer:
        writer.add(TEXTS[200:], ids[200:])
        assert writer.remove_ids([ids[n] for n in WITH_WORDS if n not in live]).missing == 0
    texts = [TEXTS[n] for n in live]
    with libidx.open("i") as index:
        for least in 0.5, 0.8:
            expected, found = libidx.text_pairs(texts, least), index.pairs(resemble=least, threads=2)
            assert list(found.ids) == [ids[n] for n in live] and len(expected.a) > 50
            for name in "a", "b", "resemblance":
                assert getattr(found, name).tolist() == getattr(expected, name).tolist()
            for representative in "first", "most-documents":
                expected = libidx.dedup(texts, least, representative=representative)
                found = index.clusters(resemble=least, representative=representative)
                assert list(found.ids) == [ids[n] for n in live]
                for name in "keep", "cluster", "representative", "resemblance":
                    assert getattr(found, name).tolist() == getattr(expected, name).tolist()
        assert len(index.pairs().a) == len(index.pairs(resemble=0.5).a)
        for against in index, "i":
            for options in {"resemble": 0.5}, {"contained": 0.9, "min_words": 6}, {"contains": 0.6, "min_words": 6}:
                expected = libidx.dedup(TEXTS, against=texts, **options)
                found = libidx.dedup(TEXTS, against=against, **options)
                assert list(found.ids) == [ids[n] for n in live] and (~expected.keep).sum() > 100
                for one, other in zip(expected[:-1], found[:-1], strict=True):
                    assert numpy.array_equal(one, other)
    libidx.build("chars", texts=TEXTS[:99], ids=ids[:99], shingle="chars:3")
    expected, found = (
        libidx.dedup(TEXTS, against=TEXTS[:99], shingle="chars:3"),
        libidx.dedup(TEXTS, against="chars"),
    )
    assert found.keep.tolist() == expected.keep.tolist() != libidx.dedup(TEXTS, against=TEXTS[:99]).keep.tolist()
    libidx.build("empty", texts=[], ids=[], id_type="u64" if ids is NUMBERS else "text")
    with libidx.open("empty") as index:
        assert len(index.pairs().a) == len(index.clusters().keep) == len(index.clusters().ids) == 0
        assert libidx.dedup(["a"], against=index).keep.tolist() == [True]


@pytest.mark.parametrize("ids", [IDS, NUMBERS], ids=["text", "u64"])
def test_pairs_between_two_indexes(ids):
    """Each pair of two texts, copies among them, as a plain program finds them; with itself, each text is its own."""
    sides = [*range(150), *range(40)], [*range(100, 260), 3, 3]
    for path, rows in zip("ab", sides):
        libidx.build(path, texts=[TEXTS[n] for n in rows], ids=[ids[n] for n in rows])
    with libidx.open("a") as a, libidx.open("b") as b:
        sets = {n: set(libidx.shingles(TEXTS[n]).tolist()) for n in range(260)}
        for least in 0.5, 0.8:
            found, expected = a.join(b, resemble=least, threads=2), []
            names = {ids[n]: n for n in range(260)}
            for i, one in enumerate(list(found.ids)):
                for j, other in enumerate(list(found.other_ids)):
                    mine, theirs = sets[names[one]], sets[names[other]]
                    if mine and theirs and len(mine & theirs) / len(mine | theirs) >= least:
                        expected.append((i, j, len(mine & theirs) / len(mine | theirs)))
            assert list(zip(found.a.tolist(), found.b.tolist(), found.resemblance.tolist())) == expected
            assert len({row for row, *_ in expected}) > 20
        own = a.join(a, resemble=1)
        assert {(row, row) for row in range(len(own.ids))} <= set(zip(own.a.tolist(), own.b.tolist()))
        assert a.join(b).a.tolist() == a.join(b, resemble=0.8).a.tolist()


def test_the_command_takes_an_index_against(capfd):
    libidx.build("i", texts=["one two three four", "five six"], ids=["x", "é"])
    open("new.tsv", "w").write("a\tSix, five\nb\tfive SIX\nc\tone two three four\n")
    command = [sys.executable, "-m", "libidx", "dedup", "new.tsv", "--against", "i"]
    assert subprocess.run(command, check=True, capture_output=True, text=True).stdout == "a\n"
    shown = subprocess.run([*command, "--json"], check=True, capture_output=True, text=True).stdout
    assert '"é"' in shown and '"x"' in shown
    refused = subprocess.run([*command, "--by", "line"], capture_output=True, text=True)
    assert refused.returncode == 2 and "i is an index of texts, which has no parts of them" in refused.stderr


def test_what_may_be_missed_is_warned_of():
    libidx.build("i", texts=["a b c d e f", "a b c d e g"], ids=["x", "y"])
    with libidx.open("i") as index, libidx.Writer("i") as writer, warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        assert index.lookup(["a b c d e f"], resemble=0.3, max_candidates=1).tolist() == [["x"]]
        index.exists("a b c d e f", resemble=0.3)
        writer.check_and_add(["a b c d e f"], ["z"], resemble=0.3, max_candidates=1)
        missed = (
            "resemble = 0.3: the index has sketches of 8 values, so of texts that resemble another one by just that "
            "much, up to one in 17 is missed"
        )
        unread = "1 texts were not looked at, since more have a value of their sketch than max_candidates allows"
        assert [str(warning.message) for warning in said] == [missed, unread, missed, missed, unread]
        assert {warning.filename for warning in said} == {__file__}


def test_several_texts_of_an_id():
    libidx.build("i", texts=["one two three"], ids=["a"])
    with libidx.Writer("i") as writer:
        assert writer.check_and_add(["four five six"], ["a"])[0].tolist() == [True]
    with libidx.open("i") as index:
        assert index.lookup("one two three") == index.lookup("four five six") == [("a", 1.0)]
        with libidx.Writer("i") as writer:
            assert writer.remove_ids(["a"]) == (2, 0)
        index.refresh()
        assert not index.exists("one two three") and not index.exists("four five six")


def test_what_is_refused():
    libidx.build("i", texts=TEXTS[:9], ids=IDS[:9], resemble=0.5)
    libidx.build("w", [1], ["a"], recipe=libidx.Fingerprinter().recipe)
    libidx.build("c", texts=["a"], ids=["a"], shingle="chars:3")
    index, plain, writer = libidx.open("i"), libidx.open("w"), libidx.Writer("i")
    no_sets = "resemble: this index has no sets of texts; make one by libidx.build(path, texts=..., resemble=...)"
    for call, kind, sentence in (
        (lambda: plain.lookup(["a"], resemble=0.5), ValueError, no_sets),
        (lambda: plain.exists(["a"], resemble=0.5), ValueError, no_sets),
        (lambda: plain.pairs(resemble=0.5), ValueError, no_sets),
        (lambda: plain.clusters(resemble=0.5), ValueError, no_sets),
        (lambda: libidx.Writer("w").check_and_add(["a"], ["a"], resemble=0.5), ValueError, no_sets),
        (lambda: plain._visit_sets(print), ValueError, "has no sets: build it of texts"),
        (lambda: index.lookup(["a"], resemble=0), ValueError, "resemble = 0: give one from 0.0001 to 1"),
        (lambda: index.lookup(["a"], threads=0), ValueError, "threads = 0: give 1 to 256"),
        (lambda: index.lookup(["a"], 3), ValueError, "k = 3: this index is one of texts: give resemble"),
        (lambda: index.pairs(3), ValueError, "k = 3: this index is one of texts: give resemble"),
        (lambda: index.lookup(7), TypeError, "not iterable"),
        (lambda: index.exists(["a"], limit=2), TypeError, "there is no argument 'limit' here"),
        (lambda: index.lookup(["a"], radius=2), TypeError, "radius"),
        (lambda: index.join(plain), ValueError, "one of the indexes is of texts, and the other one of fingerprints"),
        (lambda: plain.join(index), ValueError, "one of the indexes is of texts, and the other one of fingerprints"),
        (lambda: plain.join(plain, resemble=0.5), ValueError, no_sets),
        (lambda: index.join(libidx.open("c")), ValueError, "the indexes have shingles of 5 and chars:3, so"),
        (lambda: index.clusters(method="star"), ValueError, "clusters as dedup makes them"),
        (lambda: index._visit_sets(lambda *sets: 1 / 0), ZeroDivisionError, "division"),
        (lambda: index._resembling([2, 1], [2], (8000, 1, -1, -1)), ValueError, "do not ascend"),
        (lambda: index._resembling([1], [2], (8000, 1, -1, -1)), ValueError, "counts: they are above the hashes"),
        (lambda: writer.check_and_add(["a"], ["a"], limit=0), ValueError, "limit = 0 does not say which documents"),
        (lambda: writer.check_and_add(["a"], ["a", "b"]), ValueError, "1 texts and 2 ids: give as many"),
        (lambda: writer.check_and_add(["a"], ["a"], 3), ValueError, "k = 3: this index is one of texts"),
        (lambda: writer.add(["a"], ["a", "b"]), ValueError, "1 texts and 2 ids: give as many"),
        (lambda: writer.add(["a b", "c d"], ["x", "y" * 16777216]), ValueError, "16777216"),
        (lambda: libidx.dedup(["a"], against=plain), ValueError, "against: w is an index of fingerprints: give texts"),
        (lambda: libidx.dedup(["a"], against=index, shingle=4), ValueError, "the index of against has shingles of 5"),
        (lambda: libidx.dedup(["a"], against="c", shingle=5), ValueError, "has shingles of 'chars:3': omit it"),
        (lambda: libidx.dedup_parts(["a"], against=index), ValueError, "an index of texts has no parts of them"),
        (lambda: libidx.build("x"), ValueError, "give fingerprints or texts"),
        (lambda: libidx.build("x", [1], texts=["a"]), ValueError, "give fingerprints or texts"),
        (lambda: libidx.build("x", [1], resemble=0.5), ValueError, "resemble and shingle are for an index of texts"),
        (lambda: libidx.build("x", texts=["a"], resemble=0.16), ValueError, "resemble = 0.16: give 0.17 to 1"),
        (lambda: libidx.build("x", texts=["a"], shingle="sentences"), ValueError, "shingle = 'sentences'"),
        (lambda: libidx.build("x", texts=["a"], k=3), ValueError, "k = 3: is for fingerprints"),
        (lambda: libidx.build("x", texts=["a"], by_id=True), ValueError, "by_id = True: is for fingerprints"),
        (lambda: libidx.build("x", texts=["a", "b"], ids=["a"]), ValueError, "2 texts and 1 ids: give as many"),
        (lambda: libidx.build("x", texts=iter(["a"]), ids=["a"]), ValueError, "the IDs are rows: omit ids"),
        (lambda: libidx.build("x", texts=[1]), TypeError, "these are numbers"),
        (lambda: libidx.build("x", texts="a"), TypeError, "expected a list of texts"),
        (lambda: libidx.build("x", texts=["a"], id_type="none"), ValueError, "IDs"),
        (lambda: libidx.Builder("x", shingle=4), ValueError, "shingle = 4: is for an index of texts"),
    ):
        with pytest.raises(kind) as raised:
            call()
            pytest.fail(sentence)
        assert sentence in str(raised.value), sentence
    assert not os.path.exists("x")
    with libidx.open("i") as after:  # nothing was added by calls that failed
        assert after.info().pending_documents == 0


def test_threads():
    libidx.build("i", texts=TEXTS, ids=IDS, resemble=0.5)
    with libidx.open("i") as index:
        expected, made = rows(index.lookup(TEXTS)), []
        threads = [threading.Thread(target=lambda: made.append(rows(index.lookup(TEXTS)))) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert made == [expected] * 4
