"""Shingles and resemblance of texts, beside their definition in Python (words.py)."""

import itertools
from random import Random

import numpy
import pytest
import words
from words import resemblance

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


@pytest.mark.parametrize(
    "call, words",
    [
        (lambda: libidx.shingles("a", 0), "width = 0: give 1 to 16"),
        (lambda: libidx.shingles("a", 17), "width = 17"),
        (lambda: libidx.shingles("a", unit="bytes"), "unit = 'bytes': give 'words' or 'characters'"),
        (lambda: libidx.resemblance("a", "b", width=0), "width = 0"),
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
    ):
        with pytest.raises(TypeError):
            call()


def test_all_cases_of_few_words():
    """All texts of up to four of two words: what is one shingle, and what is the same one."""
    texts = [" ".join(letters) for size in range(5) for letters in itertools.product("ab", repeat=size)]
    for width in 1, 2, 3, 5:
        for a, b in itertools.product(texts, texts):
            assert libidx.resemblance(a, b, width=width) == resemblance(a, b, width)
