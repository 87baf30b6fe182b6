"""The words and shingles by which texts are compared (idx_text.h, Resemblance), as a plain program defines them: by the
tables of Python's own unicodedata, and hashed by the same arithmetic. It is not for characters that these tables lack
(Python 3.11 has Unicode 14), nor for runs of 256 characters or more without a normalisation boundary."""

import functools
import itertools
import re
import unicodedata

IGNORABLE = (
    (0xAD, 0xAD), (0x34F, 0x34F), (0x61C, 0x61C), (0x115F, 0x1160), (0x17B4, 0x17B5), (0x180B, 0x180F),
    (0x200B, 0x200F), (0x202A, 0x202E), (0x2060, 0x206F), (0x3164, 0x3164), (0xFE00, 0xFE0F), (0xFEFF, 0xFEFF),
    (0xFFA0, 0xFFA0), (0xFFF0, 0xFFF8), (0x1BCA0, 0x1BCA3), (0x1D173, 0x1D17A), (0xE0000, 0xE0FFF),
)  # fmt: skip

# Letters that are words by themselves: Han and kana, line breaking class SA, and the property Ideographic.
WHOLE = (
    (0x3040, 0x30FF), (0x3005, 0x3005), (0x3031, 0x3035), (0x303B, 0x303B), (0x31F0, 0x31FF), (0x16FE3, 0x16FE3),
    (0x16FF0, 0x16FF1), (0x1AFF0, 0x1AFFE), (0x1B000, 0x1B167),
    (0xE01, 0xE3A), (0xE40, 0xE4E), (0xE81, 0xEC6), (0xEC8, 0xECE), (0xEDC, 0xEDF), (0x1000, 0x103F), (0x1050, 0x108F),
    (0x109A, 0x109D), (0x1780, 0x17D3), (0x17D7, 0x17D7), (0x17DC, 0x17DD), (0x1950, 0x196D), (0x1970, 0x1974),
    (0x1980, 0x19AB), (0x19B0, 0x19C9), (0x1A20, 0x1A5E), (0x1A60, 0x1A7C), (0x1AA7, 0x1AA7), (0xA9E0, 0xA9EF),
    (0xA9FA, 0xA9FE), (0xAA60, 0xAA76), (0xAA7A, 0xAAC2), (0xAADB, 0xAADD), (0x11700, 0x1171A), (0x1171D, 0x1172B),
    (0x11740, 0x11746),
    (0x3006, 0x3006), (0x3400, 0x4DBF), (0x4E00, 0x9FFF), (0xF900, 0xFAD9), (0x16FE4, 0x16FE4), (0x17000, 0x18DFF),
    (0x1B170, 0x1B2FB), (0x20000, 0x3FFFF),
)  # fmt: skip


def is_in(c, ranges):
    return any(first <= ord(c) <= last for first, last in ranges)


CHILLUS = {"\u0d7a": "\u0d23", "\u0d7b": "\u0d28", "\u0d7c": "\u0d30", "\u0d7d": "\u0d32", "\u0d7e": "\u0d33",
           "\u0d7f": "\u0d15", "\u0d54": "\u0d2e", "\u0d55": "\u0d2f", "\u0d56": "\u0d34"}  # fmt: skip
TATWEEL, VIRAMA = "\u0640", "\u0d4d"


@functools.lru_cache(None)
def fold_character(c):
    """NFKC_CF of Unicode: folded again and again until nothing changes, without what is ignorable."""
    folded = before = c
    while True:
        folded = unicodedata.normalize("NFKC", unicodedata.normalize("NFD", before).casefold())
        folded = "".join(d for d in folded if not is_in(d, IGNORABLE))
        if folded == before:
            return folded
        before = folded


@functools.lru_cache(None)
def unify(c):
    """What a character is without tatweel, and a chillu as its letter and virama."""
    if c in CHILLUS:
        return CHILLUS[c] + VIRAMA
    folded = fold_character(c)
    return folded[1:] if folded.startswith(TATWEEL) else c


@functools.lru_cache(2)  # since the same text is cut again and again
def fold(text):
    unified = unicodedata.normalize("NFD", "".join(map(unify, text)))
    return unicodedata.normalize("NFC", "".join(map(fold_character, unified)))


@functools.lru_cache(None)
def is_letter(c):
    category = unicodedata.category(c)
    return category[0] in "LM" or category == "Nd"


@functools.lru_cache(None)
def is_word(c):
    return is_letter(c) and is_in(c, WHOLE)


def decode(text):
    """Bytes as text, with U+FFFD for what is ill-formed."""
    return text.decode("utf-8", "replace") if isinstance(text, bytes) else text


@functools.lru_cache(2)
def cut(text):
    """The words of a text; None stands between words that something separates."""
    words, inside = [], False
    for c in fold(decode(text)):
        if not is_letter(c):
            inside = False
            words.append(None)
        elif inside and not is_word(c):
            words[-1] += c
        else:
            words.append(c)
            inside = not is_word(c)
    return words


def words(text, unit="words"):
    """The words of a text, or its characters."""
    if unit == "words":
        return [word for word in cut(text) if word is not None]
    white_space = "[\t-\r \x85\xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]+"
    return list(re.sub(white_space, " ", "".join(fold(decode(text)))).strip(" "))


def list_shingles(text, width=5, unit="words"):
    """All shingles, each a tuple of words or characters, in the order of the text."""
    items = words(text, unit)
    if len(items) < width:
        return [tuple(items)] if items else []
    return [tuple(items[at : at + width]) for at in range(len(items) - width + 1)]


def shingles(text, width=5, unit="words"):
    return set(list_shingles(text, width, unit))


def resemblance(a, b, width=5, unit="words"):
    one, other = shingles(a, width, unit), shingles(b, width, unit)
    return len(one & other) / len(one | other) if one | other else 1.0


# ---- Hashes ----

MOST = 2**64 - 1


def mix(value):
    value = (value ^ value >> 30) * 0xBF58476D1CE4E5B9 & MOST
    value = (value ^ value >> 27) * 0x94D049BB133111EB & MOST
    return value ^ value >> 31


@functools.lru_cache(None)
def hash_word(word):
    value = 0
    for c in word:
        value = ((value + 1) * 0x100000001B3 & MOST) ^ ord(c) or 1
    return mix(value)


@functools.lru_cache(None)
def hash_character(c):
    return mix(ord(c))


def hash_shingle(items, unit="words"):
    value = len(items)
    hash_item = hash_word if unit == "words" else hash_character
    for item in items:
        value = (value * 0x9E3779B97F4A7C15 + hash_item(item)) & MOST
    return mix(value)


def hash_shingles(text, width=5, unit="words"):
    return sorted({hash_shingle(items, unit) for items in shingles(text, width, unit)})


# ---- Texts ----

SAMPLES = (
    "the The WEB web don't 3.14 a_b x 7 naïve ÉCOLE école STRASSE straße ГОРОД город Ελλάδα ΕΛΛΆΔΑ σας ΣΑΣ שלום מרחבא "
    "مرحبا ﷺ ﷻ हिन्दी ภาษาไทย น้ำ ລາວ ຳ ໜ မြန်မာ ខ្មែរ 我们今天 近似重复 ，。 カタカナ ｶﾞｷﾞ ひらがな 한글 ｆｕｌｌ １２ ½ x² … — 😀 ñandú "
    "ﬁne oﬃce ㌖ ㌀ 株式会社 ㍿ 令和 İstanbul ı ǅ 𝔸𝕓 ℌ ﬆ ﬓ ﭏ Å Å 豈 𠀀 ê̌ ᾳ ΐ ᾊ ᾯ عـمـر ﹷ ﳲ നൻ അവൻ ന്‍"
).split()
MARKS = "\u0301\u0323\u0308\u0334\u0345\u3099\u0e38\u0e48\u17d2\u05b4\u05c1\u0640\u0653\u00ad\u200b\u200d\ufe0f\ufeff\u1160\u11a8"
SPACES = (" ", " ", " ", "\n", ", ", "\0", "\u3000", "\ufffd")


def draw(random, most=60):
    """A text of up to `most` samples, each as it is or in another form of normalisation, among marks and spaces."""
    parts = []
    for _ in range(random.randrange(most + 1)):
        sample = random.choice(SAMPLES)
        if random.random() < 0.5:
            sample = unicodedata.normalize(random.choice(("NFC", "NFD", "NFKC", "NFKD")), sample)
        parts.append(sample)
        parts.extend(random.choice(MARKS) for _ in range(random.choice((0, 0, 0, 0, 1, 2))))
        parts.extend(random.choice(SPACES) for _ in range(random.choice((0, 1, 1, 2))))
    return "".join(parts)


def every_character():
    """All characters but those of private use, in texts of 1000 each."""
    characters = (chr(c) for c in itertools.chain(range(0xD800), range(0xE000, 0x110000)))
    known = [c for c in characters if unicodedata.category(c) not in ("Cn", "Co")]
    return [f"a{' b'.join(known[at : at + 1000])}" for at in range(0, len(known), 1000)]
