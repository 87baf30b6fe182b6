"""The Python package beside packages that its users have: faiss-cpu, usearch, datasketch, rensa, gaoya, text-dedup and
datatrove, one thread each.

usage: python_peers.py fingerprints COUNT [SYSTEM…]
       python_peers.py texts PARAGRAPHS COUNT RESEMBLANCE [SYSTEM…]
       python_peers.py parts PARAGRAPHS COUNT [SYSTEM…]
       python_peers.py resembling PARAGRAPHS COUNT RESEMBLANCE [SYSTEM…]

fingerprints: COUNT fingerprints, a tenth of them near-copies of another, and queries of which half are 1 to 3 bits from
one of them. A system finds what is within 3 bits; what it finds for the first 1000 queries is compared with a linear
scan. Those that search the nearest ones only are asked for 16, with their default settings.

texts: COUNT lines of PARAGRAPHS, a file that bench/corpus --paragraphs made, or files of a folder. A system finds pairs
of near-duplicates; they are compared with all pairs whose sets of word 5-shingles have a Jaccard coefficient of
RESEMBLANCE or more, computed exactly. Whoever deduplicates by pairs drops the later document of each: resolved is the
share of true pairs of which one is dropped, and those are dropped rightly that are the later one of a true pair. The
command idx, which a system runs, is that of the environment variable IDX, or of PATH.

parts: COUNT lines of PARAGRAPHS, each 100 of which are a document. A system finds the lines of five words or more that
repeat an earlier one. They are compared, by their bytes, with those that a plain program finds: whose words 5-shingles
are the same. Others are those that it does not find: datatrove, for one, takes all numbers for the same.

resembling: the texts are put into an index, which then finds for each of them the others that resemble it, exactly:
peers' candidates are confirmed by the sets of the texts. A query's time has that of making its sketch. Bytes are those
of the index: of files, or what the resident size grew by. Milvus Lite 3.2 is left out, since it has no binary vectors,
which MINHASH_LSH needs.

Prints a line per system. Each runs in a process of its own. Seconds are processor time, user and system; memory is what
the resident size grew by, mapped files among it, and of a command its peak. Without SYSTEM all run; one whose
package is not installed says so."""

import collections
import json
import math
import os
import pathlib
import pickle
import re
import resource
import subprocess
import sys
import tempfile
import time

import numpy

K, NEAREST, CHECKED = 3, 16, 1000
SHINGLE = 5
SECONDS = 3  # of queries


def resident(process="self", field="VmRSS"):
    with open(f"/proc/{process}/status") as status:
        found = re.search(rf"{field}:\s+(\d+)", status.read())
    return int(found[1]) * 1024 if found else 0


def processor_seconds():
    mine, others = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return mine.ru_utime + mine.ru_stime + others.ru_utime + others.ru_stime


class Command:
    """Runs commands, and remembers the greatest memory that one took."""

    peak = 0

    @classmethod
    def run(cls, arguments, output):
        process = subprocess.Popen(arguments, stdout=output, stderr=subprocess.DEVNULL)
        while process.poll() is None:
            cls.peak = max(cls.peak, resident(process.pid, "VmHWM"))  # is gone with the process
            time.sleep(0.005)
        assert process.returncode == 0, arguments


def memory_of(call):
    before, Command.peak = resident(), 0
    begin = processor_seconds()
    result = call()
    return result, processor_seconds() - begin, max(Command.peak, resident() - before)


# ---- Fingerprints: each system takes them and returns a search, from queries to (offsets, fingerprints) ----


def make_fingerprints(count):
    random = numpy.random.default_rng(1)
    fingerprints = random.integers(0, 1 << 64, count, numpy.uint64)
    copies = count // 10
    fingerprints[:copies] = turn_bits(random, fingerprints[-copies:])
    queries = random.integers(0, 1 << 64, 200_000, numpy.uint64)
    queries[::2] = turn_bits(random, random.choice(fingerprints, len(queries) // 2))
    return numpy.unique(fingerprints), queries


def turn_bits(random, fingerprints):
    turned = fingerprints.copy()
    for bits in range(1, K + 1):  # a third have one bit turned, a third two, a third three; or fewer
        some = slice((bits - 1) * len(turned) // K, None)
        turned[some] ^= numpy.uint64(1) << random.integers(0, 64, len(turned[some]), numpy.uint64)
    return turned


def libidx_scheme(scheme):
    def make(fingerprints, folder):
        import libidx

        libidx.build(f"{folder}/index", fingerprints, id_type="none", k=K, scheme=scheme)
        index = libidx.open(f"{folder}/index")

        def search(queries):
            found = index.lookup(queries, K)
            return found.offsets, found.fingerprints

        return search

    return make


def as_bytes(fingerprints):
    return fingerprints.view(numpy.uint8).reshape(-1, 8)


def faiss_ranges(make_index):
    def make(fingerprints, folder):
        import faiss

        faiss.omp_set_num_threads(1)
        index = make_index(faiss)
        index.add(as_bytes(fingerprints))

        def search(queries):
            offsets, _, rows = index.range_search(as_bytes(queries), K + 1)
            return offsets, fingerprints[rows]

        return search

    return make


def multi_hash(tables, bits, flips):
    def make(faiss):
        index = faiss.IndexBinaryMultiHash(64, tables, bits)
        index.nflip = flips
        return index

    return faiss_ranges(make)


def near_rows(rows, distances, fingerprints):
    near = (distances <= K) & (rows >= 0) & (rows < len(fingerprints))
    return numpy.concatenate([[0], numpy.cumsum(near.sum(1))]), fingerprints[rows[near].astype(numpy.int64)]


def faiss_hnsw(fingerprints, folder):
    import faiss

    faiss.omp_set_num_threads(1)
    index = faiss.IndexBinaryHNSW(64, 32)
    index.add(as_bytes(fingerprints))

    def search(queries):
        distances, rows = index.search(as_bytes(queries), NEAREST)
        return near_rows(rows, distances, fingerprints)

    return search


def usearch_hnsw(fingerprints, folder):
    from usearch.index import Index

    index = Index(ndim=64, metric="hamming", dtype="b1")
    index.add(numpy.arange(len(fingerprints), dtype=numpy.uint64), as_bytes(fingerprints), threads=1)

    def search(queries):
        found = index.search(as_bytes(queries), NEAREST, threads=1)
        rows = numpy.where(numpy.arange(NEAREST) < numpy.reshape(found.counts, (-1, 1)), found.keys, 2**63)
        return near_rows(rows.astype(numpy.int64), found.distances, fingerprints)

    return search


FINGERPRINT_SYSTEMS = {
    "libidx auto": libidx_scheme("auto"),
    "libidx 2:1:1": libidx_scheme("2:1:1"),
    "faiss Flat": faiss_ranges(lambda faiss: faiss.IndexBinaryFlat(64)),
    "faiss MultiHash 4x16": multi_hash(4, 16, 0),
    "faiss MultiHash 2x32 flip 1": multi_hash(2, 32, 1),
    "faiss HNSW": faiss_hnsw,
    "usearch HNSW": usearch_hnsw,
}


def scan(fingerprints, queries):
    """The truth: for each query the set of fingerprints within K bits."""
    found = [set() for _ in queries]
    for begin in range(0, len(fingerprints), 1 << 20):
        part = fingerprints[begin : begin + (1 << 20)]
        for i, query in enumerate(queries):
            found[i].update(part[numpy.bitwise_count(part ^ query) <= K].tolist())
    return found


def rate(search, queries):
    """Queries per second, in growing batches until one takes long enough."""
    count = 100
    while True:
        some = numpy.resize(queries, count)
        begin = processor_seconds()
        search(some)
        seconds = processor_seconds() - begin
        if seconds >= SECONDS:
            return count / seconds
        count = math.ceil(count * min(100, 1.2 * SECONDS / max(seconds, 1e-6)))


def run_fingerprints(system, folder):
    fingerprints, queries = numpy.load(f"{folder}/fingerprints.npy"), numpy.load(f"{folder}/queries.npy")
    truth = json.load(open(f"{folder}/truth.json"))
    FINGERPRINT_SYSTEMS[system](fingerprints[:1000], tempfile.mkdtemp(dir=folder))(queries[:2])  # loads it
    search, seconds, memory = memory_of(lambda: FINGERPRINT_SYSTEMS[system](fingerprints, tempfile.mkdtemp(dir=folder)))
    before = resident()
    queries_per_second = rate(search, queries)
    memory += resident() - before
    offsets, found = search(queries[:CHECKED])
    right = wrong = 0
    for i, expected in enumerate(truth):
        mine = set(found[int(offsets[i]) : int(offsets[i + 1])].tolist())
        right += len(mine & set(expected))
        wrong += len(mine - set(expected))
    return {
        "seconds to build": round(seconds, 1),
        "queries per second": round(queries_per_second),
        "bytes per fingerprint": round(memory / len(fingerprints), 1),
        "recall": round(right / sum(map(len, truth)), 4),
        "wrong": wrong,
    }


# ---- Texts: each system takes them and returns pairs of rows ----


# As idx dedup has it: runs of letters and digits, and single characters of scripts that put no space between
# words: Thai, Lao, Burmese, Khmer, Chinese and Japanese.
UNSPACED = "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff"
WORD = re.compile(rf"[{UNSPACED}]|[^\W_{UNSPACED}]+")


def words_of(text):
    return WORD.findall(text.lower())


def shingles(text):
    words = words_of(text)
    return {" ".join(words[i : i + SHINGLE]) for i in range(max(1, len(words) - SHINGLE + 1))}


def resemblance(a, b):
    common = len(a & b)
    return common / (len(a) + len(b) - common)


def true_pairs(texts, least):
    """All pairs that resemble each other by `least` or more: two such sets share one of their rarest shingles."""
    sets = [shingles(text) for text in texts]
    counts = collections.Counter(shingle for one in sets for shingle in one)
    rows_of, pairs = collections.defaultdict(list), []
    for b, one in enumerate(sets):
        rarest = sorted(one, key=lambda shingle: (counts[shingle], shingle))
        rarest = rarest[: len(one) - math.ceil(least * len(one)) + 1]
        for a in sorted({a for shingle in rarest for a in rows_of[shingle]}):
            if resemblance(sets[a], one) >= least:
                pairs.append((a, b))
        for shingle in rarest:
            rows_of[shingle].append(b)
    return pairs


def pairs_of_clusters(clusters):
    """All pairs of rows of one cluster."""
    rows_of, pairs = collections.defaultdict(list), []
    for row, cluster in clusters:
        pairs += [(min(row, other), max(row, other)) for other in rows_of[cluster]]
        rows_of[cluster].append(row)
    return pairs


def libidx_fingerprints(texts, folder, least):
    import libidx

    return pairs_of_clusters(enumerate(libidx.dedup(texts, 3).cluster.tolist()))


def libidx_texts(texts, folder, least):
    import libidx

    return pairs_of_clusters(enumerate(libidx.dedup(texts, resemble=least).cluster.tolist()))


def idx_dedup(texts, folder, least):
    with open(f"{folder}/texts.tsv", "w", encoding="utf-8") as lines:
        lines.writelines(f"{row}\t{text}\n" for row, text in enumerate(texts))
    with open(f"{folder}/clusters.tsv", "w+") as output:
        given = ["--resemble", str(least), "--clusters", "--format", "tsv", "--threads", "1", f"{folder}/texts.tsv"]
        Command.run([os.environ.get("IDX", "idx"), "dedup", *given], output)
        output.seek(0)
        return pairs_of_clusters([int(column) for column in line.split("\t")[:2]] for line in output)


def datasketch_texts(confirm):
    def pairs_of(texts, folder, least):
        from datasketch import MinHash, MinHashLSH

        lsh, pairs = MinHashLSH(threshold=least, num_perm=128), []
        for row, text in enumerate(texts):
            minhash = MinHash(num_perm=128)
            minhash.update_batch([shingle.encode() for shingle in shingles(text)])
            pairs += [(other, row) for other in lsh.query(minhash)]
            lsh.insert(row, minhash)
        if confirm:
            pairs = [(a, b) for a, b in pairs if resemblance(shingles(texts[a]), shingles(texts[b])) >= least]
        return pairs

    return pairs_of


def rensa_texts(texts, folder, least):
    """32 bands of 4 find more than other numbers that were tried; pairs by the estimate of all 128."""
    from rensa import RMinHash, RMinHashLSH

    lsh, hashes, pairs = RMinHashLSH(least, 128, 32), [], []
    for row, text in enumerate(texts):
        minhash = RMinHash(128, 42)
        minhash.update(list(shingles(text)))
        pairs += [(other, row) for other in lsh.query(minhash) if hashes[other].jaccard(minhash) >= least]
        lsh.insert(row, minhash)
        hashes.append(minhash)
    return pairs


def gaoya_texts(bands, hashes):
    def pairs_of(texts, folder, least):
        from gaoya.minhash import MinHashStringIndex

        index = MinHashStringIndex(32, least, bands, hashes, None, lambda text: sorted(shingles(text)))
        pairs = []
        for row, text in enumerate(texts):
            pairs += [(other, row) for other in index.query(text)]
            index.insert_document(row, text)
        return pairs

    return pairs_of


def text_dedup_texts(texts, folder, least):
    """Its own command, whose clusters are those of the bands, unconfirmed."""
    import text_dedup  # noqa: F401

    with open(f"{folder}/texts.jsonl", "w", encoding="utf-8") as lines:
        lines.writelines(json.dumps({"text": text}) + "\n" for text in texts)
    given = {"path": "json", "data_files": f"{folder}/texts.jsonl", "split": "train", "cache_dir": f"{folder}/cache"}
    given |= {"column": "text", "ngram": SHINGLE, "min_length": 1, "num_perm": 128, "threshold": least}
    given |= {"hash_func": "xxh3", "num_proc": 1, "output": f"{folder}/kept"}
    options = [part for name, value in given.items() for part in (f"--{name}", str(value))]
    with open(os.devnull, "wb") as nothing:
        Command.run([sys.executable, "-m", "text_dedup.minhash", *options, "--debug"], nothing)
    with open(f"{folder}/kept/uf.pkl", "rb") as clusters:
        found = pickle.load(clusters)
    return pairs_of_clusters([(row, found.find(row)) for row in range(len(texts))])


TEXT_SYSTEMS = {
    "libidx.dedup(texts, 3)": libidx_fingerprints,
    "libidx.dedup(texts, resemble=T)": libidx_texts,
    "idx dedup --resemble T": idx_dedup,
    "datasketch 128": datasketch_texts(False),
    "datasketch 128, confirmed": datasketch_texts(True),
    "rensa 128, 32 bands": rensa_texts,
    "gaoya 42 × 3": gaoya_texts(42, 3),
    "gaoya 32 × 4": gaoya_texts(32, 4),
    "text-dedup 128": text_dedup_texts,
}


def read_texts(path, count):
    if os.path.isdir(path):
        names = sorted(os.path.join(folder, name) for folder, _, names in os.walk(path) for name in names)
        texts = [" ".join(open(name, encoding="utf-8", errors="replace").read().split()) for name in names]
    else:
        with open(path, encoding="utf-8") as lines:
            texts = [line.rstrip("\n").split("\t", 1)[1] for line in lines]
    return [texts[i * len(texts) // count] for i in range(count)] if count < len(texts) else texts


def run_texts(system, folder):
    texts, least = json.load(open(f"{folder}/texts.json"))
    truth = {tuple(pair) for pair in json.load(open(f"{folder}/truth.json"))}
    TEXT_SYSTEMS[system](texts[:100], tempfile.mkdtemp(dir=folder), least)
    pairs, seconds, memory = memory_of(lambda: TEXT_SYSTEMS[system](texts, tempfile.mkdtemp(dir=folder), least))
    right = len(truth & set(pairs))
    dropped, alike = {later for _, later in pairs}, {later for _, later in truth}
    return {
        "seconds": round(seconds, 2),
        "MiB": round(memory / 2**20, 1),
        "pairs": len(pairs),
        "recall": round(right / max(1, len(truth)), 4),
        "precision": round(right / max(1, len(pairs)), 4),
        "resolved": round(sum(not dropped.isdisjoint(pair) for pair in truth) / max(1, len(truth)), 4),
        "dropped": len(dropped),
        "dropped rightly": round(len(dropped & alike) / max(1, len(dropped)), 4),
    }


# ---- Parts: each system takes documents of lines and returns (document, line) of those that it drops ----

LINES, LEAST_WORDS = 100, 5


def read_documents(path, count):
    """The texts of a folder, at most so many, or so many texts of a file, LINES to a document. What else than \\n ends a
    line somewhere is made one, since these systems do not agree on it."""
    if os.path.isdir(path):
        files = sorted(pathlib.Path(path).glob("*.txt"))[:count]
        return ["\n".join(file.read_text(encoding="utf-8", errors="replace").splitlines()) for file in files]
    texts = read_texts(path, count)
    return ["\n".join(texts[at : at + LINES]) for at in range(0, len(texts), LINES)]


def true_parts(documents):
    """The lines whose shingles an earlier one has."""
    seen, found = set(), []
    for row, document in enumerate(documents):
        for number, line in enumerate(document.split("\n")):
            if len(words_of(line)) >= LEAST_WORDS:
                members = frozenset(shingles(line))
                if members in seen:
                    found.append((row, number))
                seen.add(members)
    return found


def libidx_parts(resemble):
    def parts_of(documents, folder):
        import libidx

        found = libidx.dedup(documents, by="line", resemble=resemble, within=True)
        return zip(found.row.tolist(), found.part.tolist(), strict=True)

    return parts_of


def idx_parts(documents, folder):
    with open(f"{folder}/in.jsonl", "w", encoding="utf-8") as lines:
        lines.writelines(json.dumps({"id": row, "text": text}) + "\n" for row, text in enumerate(documents))
    with open(f"{folder}/dropped", "w+") as output:
        given = ["--by", "line", "--resemble", "1", "--within", "--id-field", "id", "--threads", "1", "--drop"]
        Command.run([os.environ.get("IDX", "idx"), "dedup", *given, f"{folder}/in.jsonl"], output)
        output.seek(0)
        places = [line.split(":") for line in output if ":" in line]
        return [(int(row), int(number) - 1) for row, number in places]


def datatrove_parts(documents, folder):
    """Its hashes of single lines; those of fewer words are left out afterwards, since it has no rule for them."""
    from datatrove.data import Document
    from datatrove.pipeline.dedup.sentence_dedup import SentDedupConfig, SentenceDedupSignature, SentenceFindDedups
    from datatrove.utils.hashing import HashConfig

    hashes = HashConfig(hash_fc="sha1")  # Its default fails with xxhash 4, which takes bytes alone.
    config = SentDedupConfig(n_sentences=1, split_sentences=False, hash_config=hashes)
    for at, step in enumerate((SentenceDedupSignature, SentenceFindDedups)):
        places = (f"{folder}/0",) if at == 0 else (f"{folder}/0", f"{folder}/1")
        step(*places, config=config).run((Document(text, str(row)) for row, text in enumerate(documents)), 0, 1)
    found = numpy.fromfile(f"{folder}/1/0000/00000.c4_dup", [("row", "<u4"), ("line", "<u2")])
    lines = [document.split("\n") for document in documents]
    places = zip(found["row"].tolist(), found["line"].tolist(), strict=True)
    return [(row, line) for row, line in places if len(words_of(lines[row][line])) >= LEAST_WORDS]


PART_SYSTEMS = {
    "idx dedup --by line --resemble 1": idx_parts,
    "libidx.dedup(by='line', resemble=1)": libidx_parts(1),
    "libidx.dedup(by='line', resemble=0.8)": libidx_parts(0.8),
    "datatrove, sentences": datatrove_parts,
}


def run_parts(system, folder):
    documents = json.load(open(f"{folder}/texts.json"))
    truth = {tuple(place) for place in json.load(open(f"{folder}/truth.json"))}
    PART_SYSTEMS[system](documents[:10], tempfile.mkdtemp(dir=folder))
    found, seconds, memory = memory_of(lambda: set(PART_SYSTEMS[system](documents, tempfile.mkdtemp(dir=folder))))
    lines = [document.split("\n") for document in documents]

    def size(places):
        return sum(len(lines[row][number].encode()) + 1 for row, number in places)

    return {
        "seconds": round(seconds, 2),
        "MiB": round(memory / 2**20, 1),
        "lines dropped": len(found),
        "bytes dropped": size(found),
        "bytes missed": size(truth - found),
        "bytes of others": size(found - truth),
    }


# ---- Look-ups by resemblance: each system takes texts, and returns a search for all of them, which returns pairs of a
# row and another one, and the bytes of its files, or None ----


def idx_minhash(maps):
    def make(texts, folder, least):
        idx, threads = os.environ.get("IDX", "idx"), ["--threads", "1"]
        given = ["--resemble", str(least), "--documents", f"{folder}/sets"]
        with open(f"{folder}/texts.tsv", "w", encoding="utf-8") as lines:
            lines.writelines(f"{row}\t{text}\n" for row, text in enumerate(texts))
        with open(f"{folder}/sketches.tsv", "w") as lines:
            given_sets = ["--keep-sets", given[3], f"{folder}/texts.tsv"]
            Command.run([idx, "fingerprint", *threads, *given[:2], *given_sets], lines)
        with open(os.devnull, "w") as nothing:
            Command.run([idx, "build", *threads, "--id-type", "u64", *maps, f"{folder}/x.idx", lines.name], nothing)

        def search():
            with open(f"{folder}/found.tsv", "w+") as found:
                asked = [f"{folder}/x.idx", "--text", f"{folder}/texts.tsv"]
                Command.run([idx, "lookup", *asked, *threads, *given], found)
                found.seek(0)
                columns = (line.split("\t") for line in found)
                return [(int(row), int(other)) for row, _, other in columns if int(row) != int(other)]

        files = (os.path.join(path, name) for path, _, names in os.walk(f"{folder}/x.idx") for name in names)
        return search, sum(map(os.path.getsize, files))

    return make


def confirmed(texts, least, candidates):
    """The pairs of candidates that resemble each other."""

    def search():
        return [(row, other) for row, text in enumerate(texts) for other in candidates(row)
                if other != row and resemblance(shingles(text), shingles(texts[other])) >= least]

    return search


def datasketch_lsh(*bands):
    def make(texts, folder, least):
        from datasketch import MinHash, MinHashLSH

        def hashes(text):
            made = MinHash(num_perm=128)
            made.update_batch([shingle.encode() for shingle in shingles(text)])
            return made

        lsh = MinHashLSH(threshold=least, num_perm=128, params=bands or None)
        for row, text in enumerate(texts):
            lsh.insert(row, hashes(text))
        return confirmed(texts, least, lambda row: lsh.query(hashes(texts[row]))), None

    return make


def rensa_lsh(bands):
    def make(texts, folder, least):
        from rensa import RMinHash, RMinHashLSH

        def hashes(text):
            made = RMinHash(128, 42)
            made.update(list(shingles(text)))
            return made

        lsh = RMinHashLSH(least, 128, bands)
        for row, text in enumerate(texts):
            lsh.insert(row, hashes(text))
        return confirmed(texts, least, lambda row: lsh.query(hashes(texts[row]))), None

    return make


RESEMBLING_SYSTEMS = {
    "idx minhash": idx_minhash([]),
    "idx minhash, --by-id": idx_minhash(["--by-id"]),
    "datasketch 128": datasketch_lsh(),
    "datasketch 32 × 4": datasketch_lsh(32, 4),
    "rensa 32 × 4": rensa_lsh(32),
    "rensa 64 × 2": rensa_lsh(64),
}


def run_resembling(system, folder):
    texts, least = json.load(open(f"{folder}/texts.json"))
    truth = {pair for a, b in json.load(open(f"{folder}/truth.json")) for pair in ((a, b), (b, a))}
    make = RESEMBLING_SYSTEMS[system]
    make(texts[:100], tempfile.mkdtemp(dir=folder), least)[0]()
    (search, size), seconds, memory = memory_of(lambda: make(texts, tempfile.mkdtemp(dir=folder), least))
    begin = processor_seconds()
    found = set(search())
    return {
        "seconds to build": round(seconds, 1),
        "texts per second": round(len(texts) / (processor_seconds() - begin)),
        "bytes per text": round((size or memory) / len(texts), 1),
        "recall": round(len(truth & found) / max(1, len(truth)), 6),
        "wrong": len(found - truth),
    }


# ---- All of them ----


def main(kind, *arguments):
    with tempfile.TemporaryDirectory(dir=os.environ.get("TMPDIR")) as folder:
        if kind == "fingerprints":
            count, names = int(float(arguments[0])), arguments[1:]
            fingerprints, queries = make_fingerprints(count)
            truth = [sorted(found) for found in scan(fingerprints, queries[:CHECKED])]
            numpy.save(f"{folder}/fingerprints.npy", fingerprints)
            numpy.save(f"{folder}/queries.npy", queries)
            systems = FINGERPRINT_SYSTEMS
            print(f"{len(fingerprints)} fingerprints, {sum(map(len, truth))} neighbours of {CHECKED} queries")
        elif kind == "parts":
            names, documents = arguments[2:], read_documents(arguments[0], int(float(arguments[1])))
            truth = true_parts(documents)
            json.dump(documents, open(f"{folder}/texts.json", "w"))
            systems = PART_SYSTEMS
            print(f"{len(documents)} documents, {sum(len(text.encode()) + 1 for text in documents)} bytes")
        else:
            names = arguments[3:]
            texts, least = read_texts(arguments[0], int(float(arguments[1]))), float(arguments[2])
            truth = true_pairs(texts, least)
            json.dump((texts, least), open(f"{folder}/texts.json", "w"))
            systems = TEXT_SYSTEMS if kind == "texts" else RESEMBLING_SYSTEMS
            print(f"{len(texts)} texts, {len(truth)} pairs of resemblance {least} or more")
        json.dump(truth, open(f"{folder}/truth.json", "w"))
        header = None
        for system in names or systems:
            command = [sys.executable, __file__, "--one", kind, system, folder]
            done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
            missing = re.search(r"ModuleNotFoundError: No module named '(\w+)'", done.stderr)
            if missing:
                print(f"{system}: the package {missing[1]} is not installed", file=sys.stderr)
                continue
            if done.returncode != 0:
                sys.exit(f"{system}: {done.stderr}")
            result = json.loads(done.stdout.splitlines()[-1])
            if header is None:
                header = list(result)
                print(f"| system | {' | '.join(header)} |\n|{'---|' * (len(header) + 1)}")
            print(f"| {system} | {' | '.join(format(result[name], ',') for name in header)} |", flush=True)


NEEDED = {"fingerprints": 1, "texts": 3, "parts": 2, "resembling": 3}  # arguments
RUN = {"fingerprints": run_fingerprints, "texts": run_texts, "parts": run_parts, "resembling": run_resembling}


if __name__ == "__main__":
    if sys.argv[1:2] == ["--one"]:
        kind, system, folder = sys.argv[2:]
        print(json.dumps(RUN[kind](system, folder)))
    elif len(sys.argv) < 2 or len(sys.argv) - 2 < NEEDED.get(sys.argv[1], math.inf):
        sys.exit(__doc__)
    else:
        main(*sys.argv[1:])
