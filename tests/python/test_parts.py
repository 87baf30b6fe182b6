"""Texts that are cut by paragraphs or lines, compared with a plain program."""

import random

import families
import numpy
import pytest
import words

import libidx

BREAKS = ("\n\n", "\n\n", "\r\n\r\n", "\n \t\n", "\n", "\n\v\f\r\n", "\n\u00a0\n")


def make_texts(source):
    paragraphs = [" ".join(source.choices("one two три τέσσερα 五 six שבע".split(), k=source.choice((1, 4, 5, 7, 12)))) for _ in range(20)]
    paragraphs += ["", "---", "}"]
    texts = []
    for _ in range(source.randrange(1, 30)):
        text = source.choice(("", "", "\n", "\r\n \n"))
        for _ in range(source.randrange(6)):
            text += source.choice(paragraphs) + source.choice(BREAKS)
        texts.append(text if source.random() < 0.5 else text.rstrip("\r\n"))
    return texts


def expect(texts, by, resemble, min_words, min_document_words, again, within):
    """The texts that are left, and the rows and parts that are dropped, and of what is kept instead."""
    parts = [families.divide(text, by) for text in texts]
    counts = [[len(words.words(part)) for part in text] for text in parts]
    places = [(row, at) for row, text in enumerate(parts) for at in range(len(text)) if counts[row][at] >= max(min_words, 1)]
    joined = families.keep([words.shingles(parts[row][at]) for row, at in places], resemble)
    having = {}
    for at, (kept, _) in enumerate(joined):
        having.setdefault(kept, set()).add(places[at][0])
    dropped = [
        (*places[at], *places[kept]) for at, (kept, _) in enumerate(joined)
        if kept != at and (within or places[kept][0] != places[at][0]) and len(having[kept]) >= again
    ]  # fmt: skip
    lost = {place[:2] for place in dropped}
    left = []
    for row, text in enumerate(parts):
        kept = [at for at in range(len(text)) if (row, at) not in lost]
        few = sum(counts[row][at] for at in kept) < max(min_document_words, 1) and len(kept) < len(text)
        left.append(None if few else "".join(text[at] for at in kept))
    return left, dropped


@pytest.mark.parametrize("seed", range(40))
def test_same_as_a_plain_program(seed):
    source = random.Random(seed)
    texts = make_texts(source)
    options = {"by": source.choice(("paragraph", "line")), "min_words": source.choice((0, 1, 5)), "again": source.choice((1, 2, 3)),
               "min_document_words": source.choice((1, 10)), "within": source.random() < 0.5}  # fmt: skip
    resemble = source.choice(("0.3", "0.8", "1"))
    left, dropped = expect(texts, resemble=resemble, **options)
    found = libidx.dedup(texts, resemble=float(resemble), **options)
    assert found.texts == left
    assert list(zip(*(column.tolist() for column in found[1:5]), strict=True)) == dropped
    assert ((float(resemble) - 1e-9 <= found.resemblance) & (found.resemblance <= 1)).all()
    batches = libidx.dedup(lambda: iter([texts[:3], texts[3:]]), resemble=float(resemble), **options)
    assert batches.texts == left


def test_bytes_nulls_and_none():
    notice = "We use cookies to make this site better."
    found = libidx.dedup([f"{notice}\r\n\r\nOwn words of this text.".encode(), None, f"\n{notice}".encode(), b""], by="paragraph")
    assert found.texts == [f"{notice}\r\n\r\nOwn words of this text.".encode(), None, None, b""]
    assert [column.tolist() for column in found[1:]] == [[2], [0], [0], [0], [1.0]]
    assert found.row.dtype == numpy.int64
    assert libidx.dedup([], by="line").texts == []


def test_what_has_no_effect_is_refused():
    for options in ({"k": 3}, {"against": ["a"]}, {"representative": "longest"}, {"ignore_common": 3}):
        with pytest.raises(libidx.InvalidArgumentError, match=f"{min(options)} is for whole documents"):
            libidx.dedup(["a"], by="line", **options)
    for options in ({"min_words": 3}, {"min_document_words": 3}, {"again": 2}, {"within": True}):
        with pytest.raises(libidx.InvalidArgumentError, match=f"{min(options)} needs by"):
            libidx.dedup(["a"], **options)
    with pytest.raises(libidx.InvalidArgumentError, match="by = 'word'"):
        libidx.dedup(["a"], by="word")
    with pytest.raises(libidx.InvalidArgumentError, match="is for texts"):
        libidx.dedup(numpy.array([1], numpy.uint64), by="line")
