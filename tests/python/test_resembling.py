"""Indexes of sketches: look-ups by resemblance, and adding what resembles none, beside plain programs."""

import functools
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


def build(path, texts, ids, recipe, **options):
    fingerprinter = libidx.Fingerprinter(recipe)
    fingerprints, rows = fingerprinter.several(texts)
    return libidx.build(path, fingerprints, [ids[row] for row in rows], recipe=fingerprinter.recipe, **options)


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


@pytest.mark.parametrize("least, values", [("0.8", 8), ("0.5", 17), ("0.25", 41)])
def test_every_text(least, values):
    fingerprinter = libidx.Fingerprinter(resemble=float(least))
    assert fingerprinter.recipe == f"minhash:{values};words=5;v1"
    build("i", TEXTS, IDS, fingerprinter.recipe)
    build("u", TEXTS, list(range(len(TEXTS))), fingerprinter.recipe)
    with libidx.KeptSets("sets", writes=True) as kept, libidx.KeptSets("numbers", writes=True) as numbers:
        kept.add(TEXTS, IDS)
        numbers.add(TEXTS, list(range(len(TEXTS))))
        assert kept.find(IDS[7]).tolist() == words.hash_shingles(TEXTS[7]) == numbers.find(7).tolist()
        assert kept.find(IDS[-1]) is kept.find("none") is None
    expected = [find(TEXTS, IDS, text, least) for text in TEXTS]
    assert sum(map(len, expected)) > 1.5 * len(TEXTS) and expected[-1] == []
    by_number = dict(enumerate(TEXTS))
    sets = {id: libidx.shingles(text) for id, text in zip(IDS, TEXTS, strict=True)}
    with libidx.open("i") as index, libidx.open("u") as by_row, libidx.KeptSets("sets") as kept:
        for documents in kept, "sets", dict(zip(IDS, TEXTS, strict=True)), sets.__getitem__:
            found = index.lookup_texts(TEXTS, float(least), documents=documents)
            assert rows(found) == expected and found.errors is None
        for documents in "numbers", by_number.get:
            found = by_row.lookup_texts(TEXTS, float(least), documents=documents, threads=2)
            assert rows(found) == [find(TEXTS, range(len(TEXTS)), text, least) for text in TEXTS]
        found = index.lookup_texts(TEXTS, float(least), documents=kept, limit=1)
        assert rows(found) == [row[:1] for row in expected]
        assert index.exists_texts(TEXTS, float(least), documents=kept).tolist() == [row != [] for row in expected]
        found = rows(index.lookup_texts(TEXTS, float(least), documents=kept, agree=values))
        assert all(set(few) <= set(all) for few, all in zip(found, expected, strict=True))
        assert [row[0][0] == 1 for row in found[:-2]] == [True] * (len(TEXTS) - 2)


def test_characters_of_every_script():
    drawn = randomness.Random(3)
    texts = [words.draw(drawn) + " x" for _ in range(40)]
    texts += [f"{text} and more" for text in texts[:20]]
    build("i", texts, list(range(60)), "minhash:64;chars=3")
    with libidx.open("i") as index:
        found = index.lookup_texts(texts, 0.4, documents=dict(enumerate(texts)))
        assert rows(found) == [find(texts, range(60), text, "0.4", 3, "characters") for text in texts]
        assert repr(found) == f"<libidx.Resembling: {found.offsets[-1]} documents of 60 texts>" and len(found) == 60


def test_estimates():
    """Of the 64 smallest values of both sketches, which the map from IDs has."""
    build("i", TEXTS, IDS, "minhash:64", by_id=True)
    sketches = [words.hash_shingles(text)[:64] for text in TEXTS]
    expected = []
    for own in sketches[:60]:
        near = []
        for id, other in zip(IDS, sketches, strict=True):
            union = sorted({*own, *other})[:64]
            shared = len({*union} & {*own} & {*other})
            if own and 2 * shared >= len(union):
                share = shared / len(union)
                near.append((-share, id.encode(), (share * (1 - share) / len(union)) ** 0.5 if len(union) == 64 else 0))
        expected.append([(-share, id.decode(), error) for share, id, error in sorted(near)])
    with libidx.open("i") as index:
        found = index.lookup_texts(TEXTS[:60], 0.5)
        errors = numpy.split(found.errors, found.offsets[1:-1])
        made = [[(*a, e) for a, e in zip(row, own, strict=True)] for row, own in zip(rows(found), errors, strict=True)]
        assert made == [[(s, id, pytest.approx(e)) for s, id, e in row] for row in expected]
        assert 0 < found.errors.max() < 0.0626 and found.errors.min() == 0


def test_arrow():
    import pyarrow

    build("i", TEXTS, IDS, "minhash:64", by_id=True)
    with libidx.open("i") as index:
        table = pyarrow.table(index.lookup_texts(TEXTS[:9], 0.5, documents=dict(zip(IDS, TEXTS, strict=True))))
        assert table.column_names == ["query", "id", "resemblance"]
        expected = [(n, id, share) for n in range(9) for share, id in find(TEXTS, IDS, TEXTS[n], "0.5")]
        assert list(zip(*table.to_pydict().values(), strict=True)) == expected
        assert pyarrow.table(index.lookup_texts(TEXTS[:1], 0.5)).column_names == ["query", "id", "resemblance", "error"]


def begin(path, recipe="minhash:17", id_type="text"):
    libidx.build(path, [], [], id_type=id_type, recipe=libidx.Fingerprinter(recipe).recipe)


@pytest.mark.parametrize("id_type", ["text", "u64"])
@pytest.mark.parametrize("known", [0, 100])
def test_adding(id_type, known):
    """In batches, with restarts between some: a first corpus has its sets in the file, or in a mapping."""
    ids = IDS if id_type == "text" else [7 * n for n in range(len(TEXTS))]
    kept = families.keep([families.shingle(text.strip(".")) for text in TEXTS], "0.5", known=known)
    added = [kept[n][0] == n and TEXTS[n].strip(".") != "" for n in range(len(TEXTS))]
    begin("i", id_type=id_type)
    if known:
        build("i", TEXTS[:known], ids[:known], "minhash:17", replace=True)
        with libidx.KeptSets("sets", writes=True) as sets:
            sets.add(TEXTS[: known // 2], ids[: known // 2])
    others = {ids[n]: TEXTS[n] for n in range(known // 2, known)}
    at = known
    for sizes in (1, 2, 3), (50, 0, 1), (200, 400):
        with libidx.Writer("i") as writer:
            for size in sizes:
                batch = slice(at, at + size)
                made, found = writer.check_and_add(
                    TEXTS[batch], ids[batch], resemble=0.5, keep_sets="sets", documents=others
                )
                assert made.tolist() == added[batch]
                before = [n for n in range(at) if n < known or added[n]]
                for row, text in zip(rows(found), TEXTS[batch], strict=True):
                    expected = find([TEXTS[n] for n in before], [ids[n] for n in before], text, "0.5")
                    assert row == expected
                    before += [at] if added[at] else []
                    at += 1
    assert at == len(TEXTS)
    with libidx.open("i") as index:
        assert index.info().id_type == id_type
        assert {id for n in range(len(TEXTS)) if added[n] or n < known for id in [ids[n]]} == {
            id for row in index.documents(index.part(0, 1)).tolist() for id in row
        }


CRAWLER = """
import json, sys
import libidx
with libidx.Writer("i") as writer:
    for line in sys.stdin:
        pages = json.loads(line)
        added, _ = writer.check_and_add(list(pages.values()), list(pages), resemble=0.5, keep_sets="sets")
        print(sum(map(int, added)), flush=True)
"""


def test_a_kill_loses_nothing_that_was_answered():
    """What was not answered is given again, as a crawler does: the index has the same documents as without kills."""
    import json

    batches = [range(at, min(at + 25, 400)) for at in range(0, 400, 25)]
    kept = families.keep([families.shingle(text) for text in TEXTS[:400]], "0.5")
    begin("i")
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
        with libidx.open("i") as index, libidx.KeptSets("sets") as sets:
            there = numpy.unique(sum(index.documents(index.part(0, 1)).tolist(), []))
            assert {IDS[n] for n in range(25 * answered) if kept[n][0] == n} <= set(there.tolist())
            for id in there:
                text = TEXTS[IDS.index(id)]
                assert sets.find(id).tolist() == words.hash_shingles(text)
                for value in words.hash_shingles(text)[:17]:
                    assert id in index.documents(value)
            assert all(index.exists_texts(TEXTS[: 25 * answered], 0.5, documents=sets))
    assert set(there.tolist()) == {IDS[n] for n in range(400) if kept[n][0] == n}


def suppress_pipe(process, text):
    try:
        with process.stdin:
            process.stdin.write(text)
    except BrokenPipeError:
        pass


def test_what_may_be_missed_is_warned_of():
    build("i", ["a b c d e f", "a b c d e g"], ["x", "y"], "minhash:8")
    with libidx.open("i") as index, warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        found = index.lookup_texts(["a b c d e f"], 0.3, documents={"x": "a b c d e f"}, max_candidates=1)
        assert found.tolist() == [["x"]]
        assert [str(warning.message) for warning in said] == [
            "resemble = 0.3: the index has sketches of 8 values, so of documents that resemble a text by just that "
            "much, up to one in 17 is missed",
            "1 documents were not looked at, since more have a value of their text than max_candidates allows",
        ]
        assert {warning.filename for warning in said} == {__file__}
        index.lookup_texts(["a b c d e f"], 0.8, documents={}.get)
        assert str(said[-1].message) == (
            "2 candidates have no text in documents, and so count as not resembling the text that was looked up"
        )
        libidx.build("n", [], [], id_type="text", recipe="minhash:8;words=5;v1")
        with libidx.Writer("n") as writer:
            writer.check_and_add(["a"], ["a"], resemble=0.3, keep_sets="sets")
        assert said[-1].message.args[0].startswith("resemble = 0.3") and said[-1].filename == __file__


def test_sets_are_added_all_or_none():
    with libidx.KeptSets("sets", writes=True) as kept:
        with pytest.raises(libidx.InvalidArgumentError, match="an ID of 16777216 bytes is too long"):
            kept.add(["a b", "c d"], ["x", "y" * 16777216])
        kept.add(["e"], ["z"])
        assert kept.find("z") is not None and kept.find("x") is None


def test_what_is_refused():
    build("i", TEXTS[:9], IDS[:9], "minhash:17")
    build("e", TEXTS[:9], IDS[:9], "minhash:64")
    libidx.build("w", [1], ["a"], recipe=libidx.Fingerprinter().recipe)
    libidx.KeptSets("chars", "chars:3", writes=True).close()
    index, plain, writer = libidx.open("i"), libidx.open("w"), libidx.Writer("i")
    damaged = bytearray(b"")
    with libidx.KeptSets("sets", writes=True) as kept:
        kept.add(TEXTS[:9], IDS[:9])
        with pytest.raises(libidx.BusyError):
            libidx.KeptSets("sets", writes=True)
    damaged += open("sets", "rb").read()
    damaged[150] ^= 1
    open("damaged", "wb").write(damaged)

    def add(texts=("a",), ids=("a",), resemble=0.5, **options):
        return writer.check_and_add(list(texts), list(ids), resemble=resemble, **{"keep_sets": "more", **options})

    def fail(id):
        raise ZeroDivisionError("no")

    recipe = "needs an index of sketches, minhash:M, and this one has the recipe 'words:1;nfkc-cf;w=logtf;v2'; make one"
    for call, kind, sentence in (
        (lambda: plain.lookup_texts(["a"], 0.5), ValueError, f"resemble = 0.5: {recipe}"),
        (
            lambda: libidx.Writer("w").check_and_add(["a"], ["a"], resemble=0.5, keep_sets="s"),
            ValueError,
            f"resemble = 0.5: {recipe}",
        ),
        (lambda: index.lookup_texts(["a"], 0.5), ValueError, "sketches of 17 values, by which a resemblance of 0.8 is"),
        (lambda: libidx.open("e").lookup_texts(["a"], 0.5), ValueError, r"give the sets (by_id=True, documents=)"),
        (lambda: index.lookup_texts(["a"], 0, documents={}), ValueError, "resemblance = 0: give one from 0.0001 to 1"),
        (lambda: index.lookup_texts(["a"], 0.5, documents={}, agree=0), ValueError, "agree = 0: give 1 to 256"),
        (lambda: index.lookup_texts("a", 0.5, documents={}), TypeError, "texts: one str"),
        (lambda: index.lookup_texts([TEXTS[0]], 0.5, documents=7), TypeError, "expected a mapping, a callable, or a"),
        (lambda: index.lookup_texts(TEXTS[:1], 0.5, documents=fail), ZeroDivisionError, "no"),
        (lambda: index.lookup_texts(TEXTS[:1], 0.5, documents=lambda id: [2, 1]), ValueError, "do not ascend"),
        (lambda: index.lookup_texts(TEXTS[:1], 0.5, documents=lambda id: 5), TypeError, "a set"),
        (lambda: index.lookup_texts(["a"], 0.5, documents="none"), libidx.NotFoundError, "none"),
        (lambda: index.lookup_texts(["a"], 0.5, documents="chars"), ValueError, "has sets of 'chars=3;v1'"),
        (lambda: index.lookup_texts(["a"], 0.5, documents=libidx.KeptSets("chars", "chars:3")), ValueError, "chars=3"),
        (lambda: index.lookup_texts(["a"], 0.5, documents="damaged"), libidx.BadChecksumError, "damaged at byte 64"),
        (lambda: index.lookup_texts(["a"], 0.5, documents=__file__), libidx.BadContentError, "is no file of sets"),
        (lambda: add(keep_sets=None), ValueError, "resemble = 0.5: needs keep_sets"),
        (lambda: add(limit=0), ValueError, "limit = 0 does not say which documents were added"),
        (lambda: add(ids=("a", "b")), ValueError, "1 texts and 2 ids: give as many"),
        (lambda: add(keep_sets=libidx.KeptSets("sets")), ValueError, "is open for reading alone"),
        (lambda: add(keep_sets="others"), ValueError, "keep_sets: the sets of this writer are in 'more'; give that"),
        (lambda: add(TEXTS[:1], documents=fail), ZeroDivisionError, "no"),
        (lambda: writer.check_and_add([1], ["a"], keep_sets="more"), ValueError, "are for texts: give resemble"),
        (lambda: kept.find("a"), ValueError, "this file of sets is closed"),
        (lambda: libidx.KeptSets("x", "sentences"), ValueError, "shingle = 'sentences'"),
        (lambda: libidx.Fingerprinter(resemble=0.16), ValueError, "resemble = 0.16: give 0.17 to 1"),
        (lambda: libidx.Fingerprinter("words:1", resemble=0.5), ValueError, "give it or a recipe, not both"),
    ):
        with pytest.raises(kind) as raised:
            call()
        assert sentence in str(raised.value), sentence
    with libidx.open("i") as after:  # nothing was added by calls that failed
        assert after.info().pending_documents == 0


def test_threads_take_turns_and_writers_do_not():
    build("i", TEXTS, IDS, "minhash:17")
    with libidx.KeptSets("sets", writes=True) as kept:
        kept.add(TEXTS, IDS)
    with libidx.KeptSets("sets") as kept, libidx.open("i") as index:
        expected = rows(index.lookup_texts(TEXTS, 0.5, documents=kept))
        made = []
        threads = [
            threading.Thread(target=lambda: made.append(rows(index.lookup_texts(TEXTS, 0.5, documents=kept))))
            for _ in range(4)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert made == [expected] * 4
    with libidx.Writer("i") as writer, libidx.KeptSets("more", writes=True) as kept:
        with pytest.raises(libidx.InvalidArgumentError, match="another call is using this file of sets"):
            writer.check_and_add(TEXTS[:1], ["x"], resemble=0.5, keep_sets=kept, documents=kept.find)
        assert writer.check_and_add(["new"], ["x"], resemble=0.5, keep_sets=kept)[0].tolist() == [True]
        if (child := os.fork()) == 0:
            try:
                kept.add(["one"], ["y"])
            except libidx.InvalidArgumentError as error:
                os._exit("before the process forked" in str(error))
            os._exit(0)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 1
