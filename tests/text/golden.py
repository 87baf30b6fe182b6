#!/usr/bin/env python3
"""golden.py: makes the expected values of golden.c, without ICU and without idx: words by a regular expression or, where
a dictionary finds them, by hand; logarithms by integer powers; hashes by the xxhash module (pip install xxhash).
Prints a line for each text: fingerprint, number of features, text."""
import collections
import re
import unicodedata

import xxhash

# Letters joined by ' or . and digits joined by . , or a fraction slash are one word, as _ is part of one (Unicode
# Standard Annex 29, rules WB5 to WB13b).
WORD = re.compile(r"\w+(?:(?<=[^\W\d_])['.](?=[^\W\d_])\w+|(?<=\d)[.,\u2044](?=\d)\w+)*")

TEXTS = [
    "",
    " \t\r\n .,;!?()-- ",
    "a",
    "A a A",
    "The quick brown fox jumps over the lazy dog.",
    "the lazy dog\njumps over\nthe quick brown fox",
    "To be, or not to be, that is the question: whether 'tis nobler in the mind to suffer",
    "Don't stop: pi is 3.14159 (22/7), a million is 1,000,000; foo_bar e-mail U.S.A. someone@example.com x:y",
    " ".join(f"word{i}" for i in range(100) for _ in range(i + 1)),
    "In Straßburg steht das höchste Fachwerkhaus; in Köln steht der höchste Dom. STRASSBURG und KÖLN liegen am Rhein.",
    "ﬁne Ａ①２ ½ Ⅻ Å e\u0301 soft\u00adware Ünïcödé",
]

# What ICU's dictionaries make of these: text, then words. ICU 72, 73, 74, 76, 77 and 78 agree on them.
DICTIONARY_TEXTS = [
    ("敏捷的棕色狐狸跳过了懒狗。近似重复的网页会浪费索引的空间。",
     "敏捷 的 棕色 狐狸 跳 过 了 懒 狗 近似 重复 的 网页 会 浪费 索引 的 空间"),
    ("東京都に住んでいます。カタカナとひらがなと漢字を使います。",
     "東京 都 に 住 んで い ます カタカナ と ひ ら が な と 漢字 を 使い ます"),
    ("ภาษาไทยไม่มีช่องว่างระหว่างคำ เอกสารที่คล้ายกันมีลายนิ้วมือใกล้กัน",
     "ภาษา ไทย ไม่มี ช่อง ว่าง ระ หว่าง คำ เอกสาร ที่ คล้าย กัน มี ลาย นิ้ว มือ ใกล้ กัน"),
]

# A run of more than 256 UTF-16 units without a normalisation boundary is normalised in parts of 256.
LONG_RUN = "a" + "\u0301\u0316" * 200


def normalize(text):
    """NFKC_Casefold, for the texts above: soft hyphens are the only characters in them that it removes."""
    text = text.replace("\u00ad", "")
    for _ in range(2):
        text = unicodedata.normalize("NFKC", text).casefold()
    return unicodedata.normalize("NFKC", text)


def weight(count):
    """65536 + floor(65536 * log2(count)): the last is the number of bits of count to the 65536th, less one."""
    return 65536 + (count**65536).bit_length() - 1


def fingerprint(words):
    sums = [0] * 64
    for word, count in collections.Counter(words).items():
        value = xxhash.xxh3_64_intdigest(word.encode())
        for bit in range(64):
            sums[bit] += weight(count) if value >> bit & 1 else -weight(count)
    return sum(1 << bit for bit in range(64) if sums[bit] > 0)


def main():
    pairs = [(text, WORD.findall(normalize(text))) for text in TEXTS]
    pairs += [(text, [normalize(word) for word in words.split()]) for text, words in DICTIONARY_TEXTS]
    pairs += [(LONG_RUN, [normalize(LONG_RUN[:256]) + normalize(LONG_RUN[256:])])]
    for text, words in pairs:
        print(f"{fingerprint(words):016x} {len(set(words))} {text!r}")


if __name__ == "__main__":
    main()
