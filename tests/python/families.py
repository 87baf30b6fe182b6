"""Texts that resemble each other more or less, and a plain program that decides which of them are kept: the same as the
command (tests/tools/resemble) and Python (test_dedup.py)."""

import collections
import itertools
import random as randomness
import re
import unicodedata
from fractions import Fraction

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


# The letters of eleven ranges of scripts, and what stands between words there.
SCRIPTS = [(range(0x61, 0x7B), " "), (range(0xE0, 0x100), ", "), (range(0x3B1, 0x3CA), " "), (range(0x430, 0x450), " "),
           (range(0x5D0, 0x5EB), " "), (range(0x627, 0x63B), " "), (range(0x915, 0x93A), " "), (range(0xAC00, 0xAD00), " "),
           (range(0x10D0, 0x10F1), " \u2013 "), (range(0x4E00, 0x5200), ""), (range(0xE01, 0xE2F), "")]


def rewrite(rand, text):
    """The same words, written otherwise: in capitals, decomposed, or with soft hyphens."""
    return rand.choice((str, str, str.upper, lambda text: unicodedata.normalize("NFD", text),
                        lambda text: text.replace("a", "a\u00ad")))(text)


def make_scripts(rand, count):
    """Families of texts of one script, whose members resemble the first one by 0.2 to 1."""
    vocabularies = [["".join(rand.choices(letters, k=rand.randrange(2, 7) if between else 1)) for _ in range(3000)]
                    for letters, between in ([list(map(chr, codes)), between] for codes, between in SCRIPTS)]
    texts = ["", "+ – *", "…"]
    while len(texts) < count:
        script = rand.randrange(len(SCRIPTS))
        original = rand.choices(vocabularies[script], k=rand.choice((4, 8, 40, 120)))
        for member in range(rand.randrange(1, 8)):
            alike = rand.uniform(0.2, 1)
            rate = (1 - (2 * alike / (1 + alike)) ** 0.2) if member > 0 else 0  # of words that are others
            changed = [rand.choice(vocabularies[script]) if rand.random() < rate else word for word in original]
            texts.append(rewrite(rand, SCRIPTS[script][1].join(changed)))
    rand.shuffle(texts)
    return texts[:count]


def shingle(text):
    """The shingles of a text of words that blanks separate."""
    words = text.lower().split()
    return {tuple(words[at:at + 5]) for at in range(max(len(words) - 4, 1))} if words else set()


def find_pairs(sets, threshold, contained=None, contained_size=0):
    """All pairs of sets that resemble each other by the threshold or more, or of which the smaller one has a share
    `contained` of its members, if these are `contained_size` or more, in the other one: both numbers, the resemblance
    and that share. A set that equals earlier ones is in one pair, with the first of them."""
    least, most = Fraction(2 if threshold is None else threshold), Fraction(2 if contained is None else contained)
    first = {own: number for number, own in reversed([*enumerate(map(frozenset, sets))]) if own}
    pairs = [(own, own, first[own], number) for number, own in enumerate(map(frozenset, sets)) if own and first[own] < number]
    pairs += [(a, b, *sorted((first[a], first[b]))) for a, b in itertools.combinations(first, 2)]
    found = []
    for a, b, one, other in pairs:
        if a.isdisjoint(b):
            continue
        shared, size = len(a & b), min(len(a), len(b))
        alike, share = Fraction(shared, len(a | b)), Fraction(shared, size)
        if alike >= least or (size >= contained_size and share >= most):
            found.append((one, other, alike, share))
    return sorted(found)


def keep(sets, threshold, order=None, known=0, contained=None, contained_size=0):
    """For each set the number of the one that it joins, its own if it is kept, and their resemblance. Sets are taken in an
    order, by their numbers; each joins the one of those kept so far that it resembles most, of equals the first, if it does
    so by the threshold, which is written as a decimal number; or, unless that is None, that has a share `contained` of its
    members, if these are `contained_size` or more. The first `known` sets are kept in any case."""
    least, share = Fraction(2 if threshold is None else threshold), Fraction(2 if contained is None else contained)
    joined, having, ranks = [None] * len(sets), collections.defaultdict(list), {}
    for rank, number in enumerate(order if order is not None else range(len(sets))):
        members, ranks[number] = sets[number], rank
        shared = collections.Counter(other for member in members for other in having[member])
        alike = [(Fraction(count, len(members) + len(sets[other]) - count), -ranks[other], other)
                 for other, count in shared.items()
                 if Fraction(count, len(members) + len(sets[other]) - count) >= least or
                 (len(members) >= contained_size and Fraction(count, len(members)) >= share)]
        best = max(alike, default=None)
        if number < known or best is None:
            joined[number] = number, Fraction(1)
            for member in members:
                having[member].append(number)
        else:
            joined[number] = best[2], best[0]
    return joined


def is_blank(c):
    """Whether a character is white space, which Python's isspace has as well as four separators, or marks a quotation."""
    return c == ">" or (c.isspace() and not "\x1c" <= c <= "\x1f")


def divide(text, by):
    """The parts of a text, which together are the text."""
    lines = re.findall(r"[^\n]*\n|[^\n]+", text)
    if by == "line":
        return lines
    parts = []
    for at, line in enumerate(lines):
        blank = all(is_blank(c) for c in line)
        begins = parts and not blank and parts[-1][1]
        if begins or not parts:
            parts.append(["", False])
        parts[-1][1] = blank and not all(is_blank(c) for c in parts[-1][0])
        parts[-1][0] += line
    return [part for part, _ in parts]


def find_dropped(texts, threshold):
    joined = keep([shingle(text) for text in texts], threshold)
    return {number for number, (kept, _) in enumerate(joined) if kept != number}


def cluster(prints, order, distance, method="components"):
    """Lists of the places of fingerprints, each with its representative first: of those left, the one that comes first in the
    order begins a cluster, which has what chains of pairs within the distance connect to it, or with method star what is
    within the distance of it."""
    left, clusters = list(order), []
    while left:
        members = [left[0]]
        for at in members:  # which grows
            near = [other for other in left if bin(prints[at] ^ prints[other]).count("1") <= distance]
            members += [other for other in near if other not in members]
            if method == "star":
                break
        left = [at for at in left if at not in members]
        clusters.append([at for at in order if at in members])
    return clusters
