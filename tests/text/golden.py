#!/usr/bin/env python3
"""golden.py: makes the expected values of golden.c, without ICU and without idx: words by a regular expression or,
where a dictionary finds them, by hand; logarithms by integer powers; hashes by the xxhash module (pip install xxhash).
Prints a line for each text by words:1: fingerprint, number of features, text; then a line for each other recipe:
recipe, number of features, summed weight, fingerprints."""
import collections
import math
import pathlib
import re
import struct
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
    """NFKC_Casefold, for the texts here: soft hyphens and zero-width joiners are all in them that it removes."""
    text = text.replace("\u00ad", "").replace("\u200d", "")
    for _ in range(2):
        text = unicodedata.normalize("NFKC", text).casefold()
    return unicodedata.normalize("NFKC", text)


def weight(count):
    """65536 + floor(65536 * log2(count)): the last is the number of bits of count to the 65536th, less one."""
    return 65536 + (count**65536).bit_length() - 1


# Han, kana, Thai: the scripts without spaces in the texts here, of which version 2 takes characters and pairs.
UNSPACED = "[\u0e01-\u0e3a\u0e40-\u0e4e\u3040-\u309f\u30a1-\u30fa\u30fc-\u30ff\u4e00-\u9fff]"


def cut(text, singles=True):
    """The words of version 2 of a text: of a run its pairs, and with `singles` its characters."""
    words = []
    for part in re.findall(f"{UNSPACED}+|[^{UNSPACED[1:]}+", normalize(text).replace(":", " ").replace("@", " ")):
        if not re.match(UNSPACED, part):
            words += WORD.findall(part)
            continue
        for i in range(len(part)):
            if singles or len(part) == 1:
                words.append(part[i])
            if i + 1 < len(part):
                words.append(part[i:i + 2])
    return words


def halvings(feature):
    """How often the weight of a feature is halved: once for a character of these scripts, twice for a pair."""
    return len(feature) if re.fullmatch(UNSPACED + "{1,2}", feature) else 0


def fingerprint(words, version=1):
    sums = [0] * 64
    for word, count in collections.Counter(words).items():
        value = xxhash.xxh3_64_intdigest(word.encode())
        by = weight(count) >> (halvings(word) if version == 2 else 0)
        for bit in range(64):
            sums[bit] += by if value >> bit & 1 else -by
    return sum(1 << bit for bit in range(64) if sums[bit] > 0)


# ---- Other recipes ------------------------------------------------------------------------------------------------

TITLE = "Near-Duplicate Web Documents"
BODY = """Near-duplicate web documents are abundant. Two such documents differ from each other in a very small portion
that displays advertisements, for example.  Such differences are irrelevant for web search! So the quality of a web
crawler increases if it can assess whether a newly crawled web page is a near-duplicate of a previously crawled web page
or not. In the course of developing a near-duplicate detection system, we make two research contributions. First, we
show that it works. Is that all?"""
CORPUS = ["The web page is a page of the web.", "A crawler and a search", "the quality of documents, and the crawler"]

# Text, and its words by hand.
SCRIPTS = (
    "敏捷的棕色狐狸跳过了懒狗。近似重复的网页会浪费索引的空间。\n東京都に住んでいます。カタカナとひらがなと漢字を使います。\n"
    "ภาษาไทยไม่มีช่องว่างระหว่างคำ เอกสารที่คล้ายกันมีลายนิ้วมือใกล้กัน\n"
    "الوثائق المتشابهة تقريبا كثيرة في الشبكة.\nवेब पर लगभग समान दस्तावेज़ बहुत हैं।\n"
    "Cafe\u0301 Å e\u0301te\u0301 q\u0323\u0307 🎉 👩‍👩‍👧 ok 🇩🇪!",
    "敏捷 的 棕色 狐狸 跳 过 了 懒 狗 近似 重复 的 网页 会 浪费 索引 的 空间 "
    "東京 都 に 住 んで い ます カタカナ と ひ ら が な と 漢字 を 使い ます "
    "ภาษา ไทย ไม่มี ช่อง ว่าง ระ หว่าง คำ เอกสาร ที่ คล้าย กัน มี ลาย นิ้ว มือ ใกล้ กัน "
    "الوثائق المتشابهة تقريبا كثيرة في الشبكة वेब पर लगभग समान दस्तावेज़ बहुत हैं "
    "Cafe\u0301 Å e\u0301te\u0301 q\u0323\u0307 ok")


def separated(text):
    return normalize(text).replace(":", " ").replace("@", " ")


def folded(text):
    return " ".join(text.split())


def stop_words(languages):
    """The lists are data, and read from where they stand."""
    source = (pathlib.Path(__file__).parent / "../../libidx/text/stop_words.c").read_text()
    lists = {code: "".join(re.findall('"([^"]*)"', rest)).split()
             for code, rest in re.findall(r'\{"(\w\w)",((?:\s*"[^"]*")+)\}', source)}
    return {word for language in languages for word in lists[language]}


def hash_of(text):
    return xxhash.xxh3_64_intdigest(text.encode())


def sums_to(weights):
    return sum(1 << bit for bit in range(64)
               if sum(w if hash_of(f) >> bit & 1 else -w for f, w in weights.items()) > 0)


def idf(feature):
    documents = sum(feature in WORD.findall(normalize(text)) for text in CORPUS)
    return weight(len(CORPUS) + 1) - weight(documents + 1)


WEIGHTS = {
    "1": lambda feature, tf: 65536,
    "tf": lambda feature, tf: tf * 65536,
    "logtf": lambda feature, tf: weight(tf),
    "tfidf": lambda feature, tf: tf * idf(feature),
    "idf": lambda feature, tf: idf(feature),
}


def shingles(words, number, needed=frozenset()):
    number = min(number, len(words))
    rows = [words[i:i + number] for i in range(len(words) - number + 1)] if words else []
    return [" ".join(row) for row in rows if not needed or set(row) & needed]


def ngrams(text, number):
    number = min(number, len(text))
    return [text[i:i + number] for i in range(len(text) - number + 1)] if text else []


def weigh(features, by, title=(), factor=0, version=1):
    weights = collections.Counter()
    for feature, tf in collections.Counter(features).items():
        weights[feature] += WEIGHTS[by](feature, tf) >> (halvings(feature) if version == 2 else 0)
    for feature, tf in collections.Counter(title).items():
        weights[feature] += factor * WEIGHTS[by](feature, tf)
    return weights


def heaviest(weights):
    return sorted(weights, key=lambda feature: (-weights[feature], hash_of(feature)))


def table_hash(version):
    counts = collections.Counter(word for text in CORPUS for word in set(WORD.findall(normalize(text))))
    terms = sorted((hash_of(word), documents) for word, documents in counts.items())
    name = f"words:1;nfkc-cf;w=tf;v{version}".encode()
    head = b"idxterms" + struct.pack("<IIQQQ", 1, len(name), len(CORPUS), 0, len(terms)) + name
    return f"{xxhash.xxh3_64_intdigest(head + b''.join(struct.pack('<QI', *term) for term in terms)):016x}"


def report(recipe, features, total, *fingerprints):
    print(f'{{"{recipe}", {features}, {total}, {len(fingerprints)}, '
          f'{{{", ".join(f"UINT64_C(0x{one:016x})" for one in fingerprints)}}}}},')


def simhash(recipe, weights, top=None):
    kept = {feature: weights[feature] for feature in heaviest(weights)[:top]}
    report(recipe, len(weights), sum(kept.values()), sums_to(kept))


def digest(recipe, weights, number, order=list):
    kept = heaviest(weights)[:number]
    report(recipe, len(weights), sum(weights[feature] for feature in kept), hash_of("\n".join(order(kept))))


def segments(recipe, words, number, version=1):
    parts = [[word for i, word in enumerate(words) if i * number // len(words) == part] for part in range(number)]
    weights = [weigh(part, "logtf", version=version) for part in parts if part]
    report(recipe, len(set(words)), sum(sum(one.values()) for one in weights), *map(sums_to, weights))


def sentences(recipe, text, number):
    found = re.split(r"(?<=[.!?]) (?=[A-Z])", folded(text))
    kept = sorted(sorted(range(len(found)), key=lambda i: -len(found[i]))[:number])
    report(recipe, len(found), 0, hash_of("\n".join(folded(separated(found[i])) for i in kept)))


def other_recipes(v):
    words, title, text = WORD.findall(normalize(BODY)), WORD.findall(normalize(TITLE)), folded(separated(BODY))
    english = stop_words(["en"])
    named = table_hash(v)
    for number in (2, 3, 5, 8):
        simhash(f"words:{number};nfkc-cf;w=logtf;v{v}", weigh(shingles(words, number), "logtf"))
    simhash(f"words:3,stop=en;nfkc-cf;w=logtf;v{v}", weigh(shingles(words, 3, english), "logtf"))
    content = [word for word in words if word not in stop_words(["de", "en"])]
    simhash(f"words:1;nfkc-cf;stop=de+en;w=logtf;v{v}", weigh(content, "logtf"))
    for by in ("1", "tf"):
        simhash(f"words:1;nfkc-cf;w={by};v{v}", weigh(words, by))
    for by in ("tfidf", "idf"):
        simhash(f"words:1;nfkc-cf;w={by}:{named};v{v}", weigh(words, by))
    simhash(f"words:1;nfkc-cf;w=tf;top=10;v{v}", weigh(words, "tf"), 10)
    simhash(f"words:1;nfkc-cf;w=logtf;title=5;v{v}", weigh(words, "logtf", title, 5))
    for number in (1, 4, 32):
        simhash(f"chars:{number};nfkc-cf;w=logtf;v1", weigh(ngrams(text, number), "logtf"))
    segments(f"segments:4;nfkc-cf;w=logtf;v{v}", words, 4)
    sentences("sentences:3;nfkc-cf;v1", BODY, 3)
    report("description;nfkc-cf;v1", 1, 0, hash_of(text[:512]))
    digest(f"terms:10;nfkc-cf;w=logtf;order=weight;v{v}", weigh(words, "logtf"), 10)
    digest(f"terms:10;nfkc-cf;w=logtf;order=sorted;v{v}", weigh(words, "logtf"), 10, sorted)
    weights = weigh(words, "idf")
    digest(f"idf:70;nfkc-cf;w=idf:{named};v{v}", weights, math.ceil(len(weights) * 70 / 100))


def scripts():
    text, words = SCRIPTS[0], [normalize(word) for word in SCRIPTS[1].split()]
    simhash("words:1;nfkc-cf;w=logtf;v1", weigh(words, "logtf"))
    simhash("words:3;nfkc-cf;w=logtf;v1", weigh(shingles(words, 3), "logtf"))
    content = [word for word in words if word not in stop_words(["zh"])]
    simhash("words:1;nfkc-cf;stop=zh;w=tf;v1", weigh(content, "tf"))
    simhash("chars:2;nfkc-cf;w=logtf;v1", weigh(ngrams(folded(separated(text)), 2), "logtf"))
    segments("segments:5;nfkc-cf;w=logtf;v1", words, 5)
    digest("terms:9;nfkc-cf;w=logtf;order=weight;v1", weigh(words, "logtf"), 9)
    cut = folded(separated(text)).encode()[:512].decode(errors="ignore")
    report("description;nfkc-cf;v1", 1, 0, hash_of(cut))


def scripts_by_pairs():
    unspaced = "".join(text + "\n" for text, _ in DICTIONARY_TEXTS)
    others = [normalize(word) for word in SCRIPTS[1].partition(" \u0627")[2].split()]
    others[0] = "\u0627" + others[0]
    words, pairs = cut(unspaced) + others, cut(unspaced, singles=False) + others
    simhash("words:1;nfkc-cf;w=logtf;v2", weigh(words, "logtf", version=2))
    simhash("words:3;nfkc-cf;w=logtf;v2", weigh(shingles(pairs, 3), "logtf"))
    simhash("words:1;nfkc-cf;w=tf;v2", weigh(words, "tf", version=2))
    segments("segments:5;nfkc-cf;w=logtf;v2", words, 5, version=2)
    digest("terms:9;nfkc-cf;w=logtf;order=weight;v2", weigh(words, "logtf", version=2), 9)


def main():
    pairs = [(text, WORD.findall(normalize(text))) for text in TEXTS]
    pairs += [(text, [normalize(word) for word in words.split()]) for text, words in DICTIONARY_TEXTS]
    pairs += [(LONG_RUN, [normalize(LONG_RUN[:256]) + normalize(LONG_RUN[256:])])]
    for text, words in pairs:
        print(f"{fingerprint(words):016x} {len(set(words))} {text!r}")
    for text, _ in DICTIONARY_TEXTS:
        print(f"{fingerprint(cut(text), 2):016x} {len(set(cut(text)))} {text!r} by version 2")
    other_recipes(1)
    other_recipes(2)
    scripts()
    scripts_by_pairs()


if __name__ == "__main__":
    main()
