"""Shingles, resemblance and representatives of texts, beside their definition in Python (words.py)."""

import itertools
import threading
from random import Random

import numpy
import pytest
import words
from words import resemblance, shingles

import libidx

pytestmark = pytest.mark.skipif(not libidx.HAS_TEXT, reason="built without ICU")


def edited(random, text):
    parts = text.split(" ")
    for _ in range(random.randrange(4)):
        parts[random.randrange(len(parts))] = random.choice(words.SAMPLES)
    return " ".join(parts)


@pytest.mark.parametrize("unit", ["words", "characters"])
def test_every_script_and_width(random, unit):
    between, drawn = 0, Random(int(random.integers(2**32)))
    for _ in range(60):
        a = words.draw(drawn)
        b = edited(drawn, a)
        for width in range(1, 17):
            made = libidx.shingles(a, width, unit=unit)
            assert made.dtype == numpy.uint64 and made.tolist() == words.hash_shingles(a, width, unit), (a, width)
            found = libidx.resemblance(a, b, width=width, unit=unit)
            assert found == resemblance(a, b, width, unit), (a, b, width)
            shared = len(numpy.intersect1d(made, other := libidx.shingles(b, width, unit=unit)))
            assert found == (shared / (len(made) + len(other) - shared) if len(made) + len(other) else 1)
            between += 0 < found < 1
    assert between > 300


def test_what_there_is_of_texts():
    assert libidx.shingles("").tolist() == [] == libidx.shingles("... !").tolist()
    assert libidx.resemblance("", "...") == 1 and libidx.resemblance("", "one") == 0
    assert (libidx.shingles("one two") == libidx.shingles(b"One, TWO")).all()
    assert libidx.resemblance(b"\xffone\x80two\xc3", "one two") == 1
    assert libidx.resemblance("one\0two", "one two") == 1
    assert libidx.resemblance("one\udcfftwo", "one two") == 1  # a byte, as Python has it in file names
    assert libidx.resemblance("night", "nacht", width=2, unit="characters") == 1 / 7
    for same in ("STRASSE", "straße"), ("so\xadft", "soft"), ("e\u0301", "É"), ("ﬁｎｅ", "fine"), ("㌖", "キロメートル"):
        assert libidx.resemblance(*same) == libidx.resemblance(*same, width=2, unit="characters") == 1, same
    long = "a b " * 100_000
    assert len(libidx.shingles(long)) == 2 and len(libidx.shingles(long * 3 + "c")) == 3


def expected_leaders(sets, least):
    """By integers; the number of the first representative that resembles each, in order."""
    found, leaders, threshold = [], [], round(least * 10000)
    for number, members in enumerate(sets):
        for leader in leaders:
            if len(members & sets[leader]) * 10000 >= threshold * len(members | sets[leader]):
                found.append(leader)
                break
        else:
            leaders.append(number)
            found.append(number)
    return found


def make_texts(random, count):
    """Texts and edited copies, also of copies, so short that no representative is overlooked."""
    drawn, texts = Random(int(random.integers(2**32))), []
    for _ in range(count):
        if texts and drawn.random() < 0.7:
            texts.append(edited(drawn, drawn.choice(texts[-30:])))
        else:
            texts.append(" ".join(drawn.choices(words.SAMPLES, k=drawn.choice([0, 1, 4, 6, 15]))))
    return texts


@pytest.mark.parametrize("least", [0.3, 0.5, 0.8, 2 / 3, 1])
def test_leaders(random, least):
    import pyarrow

    texts = make_texts(random, 600)
    sets = [shingles(text) for text in texts]
    wanted = expected_leaders(sets, least)
    assert len(set(wanted)) < len(texts) - 50
    assert libidx.Leaders(least).join(texts).tolist() == wanted
    by_calls, given = libidx.Leaders(least), []
    for begin in range(0, len(texts), 37):
        given += by_calls.join(pyarrow.array(texts[begin : begin + 37])).tolist()
    assert given == wanted
    assert by_calls.join([]).tolist() == []
    by_calls.clear()
    assert by_calls.join(["", "one", "one"]).tolist()[2] == 601


def test_groups(random):
    texts = make_texts(random, 500)
    groups = numpy.sort(random.integers(-5, 30, len(texts)))
    wanted = []
    for group in numpy.unique(groups):
        rows = numpy.flatnonzero(groups == group)
        wanted += (rows[0] + expected_leaders([shingles(texts[row]) for row in rows], 0.5)).tolist()
    assert libidx.Leaders(0.5).join(texts, groups).tolist() == wanted
    leaders, given = libidx.Leaders(0.5), []
    for begin in range(0, len(texts), 11):  # groups that go on in the next call
        given += leaders.join(texts[begin : begin + 11], groups[begin : begin + 11]).tolist()
    assert given == wanted
    assert libidx.Leaders(0.5).join(["a", "a", "a"], [1, 2, 1]).tolist() == [0, 1, 2]


def test_characters_of_leaders():
    assert libidx.Leaders(0.5, width=3, unit="characters").join(["misspelling", "mispelling"]).tolist() == [0, 0]
    assert libidx.Leaders(0.5).join(["misspelling", "mispelling"]).tolist() == [0, 1]


def test_one_thread_at_a_time():
    leaders, texts = libidx.Leaders(0.5), [f"{n} " * 2000 for n in range(300)]
    raised = []

    def join():
        try:
            leaders.join(texts)
        except libidx.InvalidArgumentError as error:
            raised.append(str(error))

    threads = [threading.Thread(target=join) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert all("one at a time" in sentence for sentence in raised)
    assert len(leaders.join(["x"])) == 1


@pytest.mark.parametrize(
    "call, words",
    [
        (lambda: libidx.shingles("a", 0), "width = 0: give 1 to 16"),
        (lambda: libidx.shingles("a", 17), "width = 17"),
        (lambda: libidx.shingles("a", unit="bytes"), "unit = 'bytes': give 'words' or 'characters'"),
        (lambda: libidx.resemblance("a", "b", width=0), "width = 0"),
        (lambda: libidx.Leaders(0), "resemblance = 0.0: give one from 0.0001 to 1"),
        (lambda: libidx.Leaders(1.01), "resemblance = 1.01"),
        (lambda: libidx.Leaders(80), "resemblance = 80.0"),
        (lambda: libidx.Leaders(float("nan")), "resemblance = nan"),
        (lambda: libidx.Leaders(0.00001), "resemblance = 1e-05"),
        (lambda: libidx.Leaders(0.5, width=0), "width = 0"),
        (lambda: libidx.Leaders(0.5).join(["a", "b"], [1]), "2 texts and 1 groups: give as many"),
    ],
)
def test_what_is_refused(call, words):
    with pytest.raises((libidx.InvalidArgumentError, ValueError), match="^" + words):
        call()


def test_what_is_no_text():
    for call in (
        lambda: libidx.shingles(1),
        lambda: libidx.shingles(["a"]),
        lambda: libidx.resemblance("a", None),
        lambda: libidx.Leaders(0.5).join("a"),
        lambda: libidx.Leaders(0.5).join([1]),
        lambda: libidx.Leaders("0.5"),
        lambda: libidx.Leaders(),
    ):
        with pytest.raises(TypeError):
            call()


def test_all_cases_of_few_words():
    """All texts of up to four of two words: what is one shingle, and what is the same one."""
    texts = [" ".join(letters) for size in range(5) for letters in itertools.product("ab", repeat=size)]
    for width in 1, 2, 3, 5:
        for a, b in itertools.product(texts, texts):
            assert libidx.resemblance(a, b, width=width) == resemblance(a, b, width)
