"""Texts that resemble each other more or less, and which of them dedup drops: the same from the command (tests/tools/confirm)
and from Python (test_dedup.py)."""

import hashlib
import random as randomness

COUNT, SEED = 3000, 5


def make_texts(count, seed):
    """Families of texts of which more and more words are others."""
    source = randomness.Random(seed)
    texts = []
    while len(texts) < count:
        text = [f"w{source.randrange(3000)}" for _ in range(source.choice((8, 40, 200)))]
        for _ in range(source.randrange(1, 8)):
            texts.append(" ".join(text))
            for _ in range(source.choice((0, 1, 1 + len(text) // 20))):
                text[source.randrange(len(text))] = f"w{source.randrange(3000)}"
    source.shuffle(texts)
    return texts[:count]


def digest(dropped):
    """Of the numbers of the texts that are dropped."""
    return hashlib.sha256(",".join(map(str, sorted(dropped))).encode()).hexdigest()[:16]


DROPPED = {"0.5": "822780434975622a", "0.8": "74461640141ad05c", "1": "e70206e044cb60ef"}
"""Of make_texts(COUNT, SEED) by --resemble T."""
