"""Which of many texts to keep: idx beside MinHash and other exact programs, from hashes and from texts, one thread each.

usage: sets.py hashes|texts LIBRARY PARAGRAPHS COUNT RESEMBLANCE [SYSTEM…]

COUNT texts: lines of PARAGRAPHS, a file that bench/corpus --paragraphs made, and for a tenth of them a copy of one with
50 words or more, in which one word, or up to 4 % of them, were replaced. LIBRARY is build-release/bench/sets.so.

hashes: all get the same two arrays: the 64-bit hashes of the texts' shingles of five words, and where each set begins.
texts: all get the texts, and make what they need of them: hashes by idx's own shingles, which is the fastest way, or
what their documentation says.

Pairs of texts are true if the Jaccard coefficient of their sets is RESEMBLANCE or more; a product of sparse matrices
finds all. What a system proposes is verified by the same sets, in C. The later text of each pair that is left is
dropped. Columns: seconds of processor time to read the texts, to make sketches, to propose, and to verify; MiB that
the resident size grew by, at most, until all is proposed; how many texts or pairs were proposed; resolved: the share
of true pairs of which a text is dropped; dropped rightly: of the dropped texts, those that are the later one of a true
pair, which is idx's own definition; copies found: the share of the edited copies that is dropped, which is nobody's
definition.

Each system runs in a process of its own. Without SYSTEM all run. py_stringsimjoin, which needs an older NumPy, is run by
the Python of the environment variable OLD_PYTHON, and the command idx is that of IDX, or of PATH."""

import ctypes
import json
import os
import random
import re
import resource
import subprocess
import sys
import tempfile
import time

import numpy

VALUES = 128
LEAST_WORDS = 50  # of a text that is copied


# ---- What C does ----


class Library:
    def __init__(self, path):
        self.calls = ctypes.CDLL(path)
        self.calls.open_sets.restype = ctypes.c_void_p
        for name in ("make_sets", "add_sets", "keep_sets"):
            getattr(self.calls, name).restype = ctypes.c_bool
        self.calls.add_sets.argtypes = [ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_size_t]
        self.calls.keep_sets.argtypes = [ctypes.c_void_p, ctypes.c_uint32, ctypes.c_void_p, ctypes.c_size_t]
        self.calls.close_sets.argtypes = [ctypes.c_void_p]
        self.calls.make_sets.argtypes = [ctypes.c_char_p, ctypes.c_void_p, ctypes.c_size_t, ctypes.c_void_p, ctypes.c_void_p]
        self.calls.count_shared.argtypes = [ctypes.c_void_p] * 3 + [ctypes.c_size_t, ctypes.c_void_p]

    def shingles(self, texts):
        """The hashes of all texts, and where each set begins."""
        encoded = [text.encode() for text in texts]
        ends = numpy.cumsum([len(text) for text in encoded], dtype=numpy.uint64)
        hashes, begins = numpy.empty(int(ends[-1]), numpy.uint64), numpy.empty(len(texts) + 1, numpy.uint64)
        assert self.calls.make_sets(b"".join(encoded), ends.ctypes.data, len(texts), hashes.ctypes.data, begins.ctypes.data)
        return hashes[: int(begins[-1])].copy(), begins

    def verified(self, sets, pairs, least):
        """Those of the pairs, an array of two columns, that resemble each other by `least` or more."""
        hashes, begins = sets
        pairs = numpy.ascontiguousarray(pairs, numpy.uint32)
        shared, sizes = numpy.empty(len(pairs), numpy.uint32), numpy.diff(begins).astype(numpy.int64)
        self.calls.count_shared(hashes.ctypes.data, begins.ctypes.data, pairs.ctypes.data, len(pairs), shared.ctypes.data)
        total = sizes[pairs[:, 0]] + sizes[pairs[:, 1]] - shared
        return pairs[resemble(shared, total, least)]


def resemble(shared, total, least):
    """Whether shared / total is `least` or more, by whole numbers."""
    return (shared.astype(numpy.int64) * 10000 >= round(least * 10000) * total) & (total > 0)


# ---- Texts, and which of them resemble each other ----


def edited(text, words, chance):
    parts = text.split(" ")
    for at in chance.sample(range(len(parts)), max(1, len(parts) * chance.randint(1, 4) // 100)):
        parts[at] = chance.choice(words)
    return " ".join(parts)


def read_texts(path, count):
    """(texts, [(copy, original)]): nine tenths are lines of the file, and a tenth are edited copies of these."""
    chance = random.Random(1)
    with open(path, encoding="utf-8") as lines:
        lines = [line.rstrip("\n").split("\t", 1)[1] for line in lines]
    kept = min(len(lines), count - count // 10)
    texts = [lines[i * len(lines) // kept] for i in range(kept)]
    words = [word for text in texts[:: max(1, kept // 10000)] for word in text.split(" ")]
    long = [row for row, text in enumerate(texts) if text.count(" ") + 1 >= LEAST_WORDS]
    copies = [(kept + i, original) for i, original in enumerate(chance.choices(long, k=kept // 9))]
    return texts + [edited(texts[original], words, chance) for _, original in copies], copies


def true_pairs(sets, least):
    """All pairs that resemble each other, by products of blocks of a matrix of texts and hashes."""
    import scipy.sparse

    hashes, begins = sets
    sizes = numpy.diff(begins).astype(numpy.int64)
    _, columns = numpy.unique(hashes, return_inverse=True)
    matrix = scipy.sparse.csr_matrix((numpy.ones(len(hashes), numpy.int32), columns, begins.astype(numpy.int64)))
    transposed, found = matrix.T.tocsr(), []
    for begin in range(0, len(sizes), 10000):
        product = (matrix[begin : begin + 10000] @ transposed).tocoo()
        rows, others = product.row.astype(numpy.int64) + begin, product.col.astype(numpy.int64)
        true = (rows < others) & resemble(product.data, sizes[rows] + sizes[others] - product.data, least)
        found.append(numpy.stack([rows[true], others[true]], 1))
    return numpy.concatenate(found).astype(numpy.uint32)


# ---- Systems ----


class Clock:
    """Processor seconds of each step, one after the other. A step begins where the last one ended, or at `last`."""

    def __init__(self):
        self.steps, self.last = {}, self.now()

    @staticmethod
    def now():
        mine, others = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
        return mine.ru_utime + mine.ru_stime + others.ru_utime + others.ru_stime

    def end(self, step):
        now = self.now()
        self.steps[step], self.last = self.steps.get(step, 0) + now - self.last, now


def numbered_groups(keys):
    """Pairs of rows that have the same key: of each group, the first one with each other, and neighbours."""
    order = numpy.argsort(keys, kind="stable")
    same = keys[order][1:] == keys[order][:-1]
    starts = numpy.maximum.accumulate(numpy.where(numpy.concatenate([[True], ~same]), numpy.arange(len(keys)), 0))
    later = numpy.flatnonzero(same) + 1
    return numpy.concatenate([numpy.stack([order[later - 1], order[later]], 1),
                              numpy.stack([order[starts[later]], order[later]], 1)])


def pairs_of_bands(digests, bands, rows):
    """Pairs of the rows, of which `digests` has those values, whose values in a band are equal; or, by chance, a hash of
    these, which does no harm, since pairs are verified."""
    width = digests.shape[1] // bands
    factors = numpy.random.default_rng(1).integers(1, 1 << 63, width, numpy.uint64) | numpy.uint64(1)
    keys = [(digests[:, band * width : (band + 1) * width].astype(numpy.uint64) * factors).sum(1, dtype=numpy.uint64)
            for band in range(bands)]
    pairs = numpy.sort(rows[numpy.concatenate([numbered_groups(key) for key in keys])], 1)
    numbers = numpy.unique(pairs[:, 0].astype(numpy.uint64) << numpy.uint64(32) | pairs[:, 1].astype(numpy.uint64))
    return numpy.stack([numbers >> numpy.uint64(32), numbers & numpy.uint64(0xFFFFFFFF)], 1)


def of_rows(sets, rows):
    """The sets of some rows."""
    hashes, begins = sets
    sizes = numpy.diff(begins)[rows]
    ends = numpy.cumsum(sizes)
    places = numpy.arange(int(ends[-1]) if len(rows) else 0) + numpy.repeat(
        begins[:-1][rows].astype(numpy.int64) - (ends - sizes).astype(numpy.int64), sizes.astype(numpy.int64))
    return hashes[places], numpy.concatenate([[0], ends]).astype(numpy.uint64)


def idx_sets(library, sets, least, clock):
    hashes, begins = sets
    kept = numpy.empty(len(begins) - 1, numpy.uint64)
    handle = library.calls.open_sets()
    assert library.calls.add_sets(handle, hashes.ctypes.data, begins.ctypes.data, len(kept))
    assert library.calls.keep_sets(handle, round(least * 10000), kept.ctypes.data, len(kept))
    clock.end("propose and verify")
    dropped = numpy.flatnonzero(kept != numpy.arange(len(kept)))
    held = Memory.most()
    library.calls.close_sets(handle)
    return len(dropped), numpy.stack([kept[dropped].astype(numpy.int64), dropped], 1), held


def rensa(bands):
    def run(library, sets, least, clock):
        from rensa import RMinHash, RMinHashLSH

        hashes, begins = sets
        digests = RMinHash.digest_matrix_from_flat_token_hashes(hashes, begins, VALUES, 42)
        clock.end("sketch")
        flags = RMinHashLSH(least, VALUES, bands).query_duplicate_flags_matrix_one_shot(digests)
        rows = numpy.flatnonzero(numpy.asarray(flags))
        held = Memory.most()
        clock.end("propose")
        # Flags don't say of which pairs: the values of what is flagged are made once more, as Python can read them, which
        # does not count.
        some = numpy.array(RMinHash.digest_matrix_from_flat_token_hashes(*of_rows(sets, rows), VALUES, 42).to_rows(), numpy.uint32)
        clock.last = clock.now()
        pairs = library.verified(sets, pairs_of_bands(some.reshape(-1, VALUES), bands, rows), least)
        clock.end("verify")
        return len(rows), pairs, held

    return run


def fast_sketch(bands):
    def run(library, sets, least, clock):
        from FastSketchLSH import LSH, FastSimilaritySketch

        hashes, begins = sets
        digests = FastSimilaritySketch(VALUES, 42).batch_csr(hashes, begins, prehashed=True, num_threads=1)
        clock.end("sketch")
        lsh = LSH(VALUES, bands, num_threads=1)
        rows = numpy.flatnonzero(lsh.insert_and_query_duplicates(digests))
        held = Memory.most()
        clock.end("propose")
        pairs = library.verified(sets, pairs_of_bands(digests[rows], bands, rows), least)
        clock.end("verify")
        return len(rows), pairs, held

    return run


def datasketch(library, sets, least, clock):
    from datasketch import MinHash, MinHashLSH

    hashes, begins = sets
    low = (hashes & numpy.uint64(0xFFFFFFFF)).tolist()
    ends = begins.tolist()
    made = MinHash.bulk((low[a:b] for a, b in zip(ends, ends[1:])), num_perm=VALUES, hashfunc=int)
    clock.end("sketch")
    lsh, pairs = MinHashLSH(threshold=least, num_perm=VALUES), []
    for row, minhash in enumerate(made):
        pairs += [(other, row) for other in lsh.query(minhash)]
        lsh.insert(row, minhash)
    held = Memory.most()
    clock.end("propose")
    found = library.verified(sets, numpy.array(pairs or numpy.empty((0, 2))), least)
    clock.end("verify")
    return len(pairs), found, held


def set_similarity_search(library, sets, least, clock):
    from SetSimilaritySearch import all_pairs

    hashes, begins = sets
    members, ends = hashes.tolist(), begins.tolist()
    pairs = [(min(a, b), max(a, b)) for a, b, _ in all_pairs(
        [members[a:b] for a, b in zip(ends, ends[1:])], similarity_func_name="jaccard", similarity_threshold=least)]
    held = Memory.most()
    clock.end("propose and verify")
    return len(pairs), numpy.array(pairs), held


def duckdb_sql(library, sets, least, clock):
    import duckdb
    import pyarrow

    hashes, begins = sets
    sizes = numpy.diff(begins).astype(numpy.int64)
    members = pyarrow.table({"id": numpy.repeat(numpy.arange(len(sizes)), sizes), "hash": hashes})  # noqa: F841
    texts = pyarrow.table({"id": numpy.arange(len(sizes)), "size": sizes})  # noqa: F841
    connection = duckdb.connect(config={"threads": 1})
    found = connection.sql(f"""
        WITH shared AS (SELECT a.id AS a, b.id AS b, count(*) AS n FROM members AS a JOIN members AS b
                        ON a.hash = b.hash AND a.id < b.id GROUP BY a.id, b.id)
        SELECT shared.a, shared.b FROM shared JOIN texts AS x ON x.id = shared.a JOIN texts AS y ON y.id = shared.b
        WHERE 10000 * n >= {round(least * 10000)} * (x.size + y.size - n)""").fetchnumpy()
    held = Memory.most()
    clock.end("propose and verify")
    return len(found["a"]), numpy.stack([found["a"], found["b"]], 1), held


def py_stringsimjoin(library, sets, least, clock):
    """It compares strings of words, which are hashes here, and needs a version of NumPy of its own."""
    import pandas
    from py_stringmatching import WhitespaceTokenizer
    from py_stringsimjoin import jaccard_join

    hashes, begins = sets
    members, ends = hashes.tolist(), begins.tolist()
    table = pandas.DataFrame({"id": range(len(ends) - 1),
                              "text": [" ".join(map(str, members[a:b])) for a, b in zip(ends, ends[1:])]})
    clock.end("read")
    found = jaccard_join(table, table, "id", "id", "text", "text", WhitespaceTokenizer(return_set=True), least,
                         out_sim_score=False, show_progress=False, n_jobs=1)
    held = Memory.most()
    pairs = found[found["l_id"] < found["r_id"]][["l_id", "r_id"]].to_numpy()
    clock.end("propose and verify")
    return len(pairs), pairs, held


def idx_command(library, texts, least, clock, folder):
    with open(f"{folder}/texts.tsv", "w", encoding="utf-8") as lines:
        lines.writelines(f"{row}\t{text}\n" for row, text in enumerate(texts))
    clock.last = clock.now()
    with open(f"{folder}/clusters.tsv", "w+") as output:
        given = ["--resemble", str(least), "--clusters", "--format", "tsv", "--threads", "1", f"{folder}/texts.tsv"]
        subprocess.run([os.environ.get("IDX", "idx"), "dedup", *given], stdout=output, stderr=subprocess.DEVNULL, check=True)
        clock.end("propose and verify")
        output.seek(0)
        rows = numpy.array([[int(column) for column in line.split("\t")[:2]] for line in output], int).reshape(-1, 2)
    firsts, numbers = numpy.unique(rows[:, 1], return_index=True)
    first = rows[numbers[numpy.searchsorted(firsts, rows[:, 1])], 0]
    pairs = numpy.stack([first, rows[:, 0]], 1)[first != rows[:, 0]]
    return len(pairs), numpy.sort(pairs, 1), resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss * 1024 + Memory.before


def libidx_dedup(library, texts, least, clock, folder):
    import libidx

    found = libidx.dedup(texts, resemble=least)
    held = Memory.most()
    clock.end("propose and verify")
    cluster = numpy.asarray(found.cluster)
    dropped = numpy.flatnonzero(~numpy.asarray(found.keep))
    _, firsts = numpy.unique(cluster, return_index=True)
    first = dict(zip(cluster[firsts].tolist(), firsts.tolist()))
    return len(dropped), numpy.array([[first[cluster[row]], row] for row in dropped.tolist()]), held


def gaoya(library, texts, least, clock, folder):
    """Its own words and shingles, which are made in Rust."""
    from gaoya.minhash import MinHashStringIndex

    index = MinHashStringIndex(32, least, 42, 3, None, "word", True, (5, 5))
    index.par_bulk_insert_docs(list(range(len(texts))), texts)
    clock.end("sketch")
    pairs = [(other, row) for row, found in enumerate(index.par_bulk_query(texts)) for other in found if other < row]
    held = Memory.most()
    clock.end("propose")
    sets = library.shingles(texts)
    found = library.verified(sets, numpy.array(pairs or numpy.empty((0, 2))), least)
    clock.end("verify")
    return len(pairs), found, held


def from_texts(system):
    """The same, from hashes that idx's shingles give."""

    def run(library, texts, least, clock, folder):
        sets = library.shingles(texts)
        clock.end("read")
        return system(library, sets, least, clock)

    return run


HASHES = {
    "idx_sets": idx_sets,
    "rensa, 16 bands": rensa(16),
    "rensa, 32 bands": rensa(32),
    "FastSketchLSH, 16 bands": fast_sketch(16),
    "FastSketchLSH, 32 bands": fast_sketch(32),
    "datasketch": datasketch,
    "SetSimilaritySearch": set_similarity_search,
    "py_stringsimjoin": py_stringsimjoin,
    "DuckDB, SQL": duckdb_sql,
}
TEXTS = {
    "idx dedup": idx_command,
    "libidx.dedup": libidx_dedup,
    "gaoya, 42 bands of 3": gaoya,
    **{system: from_texts(run) for system, run in HASHES.items() if system != "idx_sets"},
}


# ---- Measuring ----


TOUCHED = 1 << 32
"""Bytes that a process writes to, and frees, before its clock begins. On a virtual machine, whose host gives memory when
it is first used, which takes more time than all else, the first system would pay for those after it."""


class Memory:
    """What the resident size was above what it was at first, at most."""

    before = 0

    @staticmethod
    def read(name):
        with open("/proc/self/status") as status:
            return int(re.search(rf"{name}:\s+(\d+)", status.read())[1]) * 1024

    @classmethod
    def begin(cls):
        with open("/proc/self/clear_refs", "w") as file:
            file.write("5")  # forgets what the size was at most
        cls.before = cls.read("VmRSS")

    @classmethod
    def most(cls):
        return cls.read("VmHWM")


def run_one(kind, library, system, least, folder):
    library = Library(library)
    if kind == "hashes":
        given, more = (numpy.load(f"{folder}/hashes.npy"), numpy.load(f"{folder}/begins.npy")), ()
        small = given[0][: int(given[1][100])], given[1][:101]
    else:
        with open(f"{folder}/texts.json", encoding="utf-8") as texts:
            given = json.load(texts)
        small, more = given[:100], (folder,)
    call = (HASHES if kind == "hashes" else TEXTS)[system]
    call(library, small, least, Clock(), *more)  # loads it
    numpy.zeros(TOUCHED, numpy.uint8).fill(1)
    Memory.begin()
    clock = Clock()
    proposed, pairs, held = call(library, given, least, clock, *more)
    return judged(clock.steps, held - Memory.before, proposed, numpy.asarray(pairs, numpy.int64).reshape(-1, 2), folder)


def judged(steps, memory, proposed, pairs, folder):
    truth, copies = numpy.load(f"{folder}/truth.npy"), numpy.load(f"{folder}/copies.npy")
    dropped, later = numpy.unique(pairs[:, 1]), numpy.unique(truth[:, 1])
    row = {step: f"{steps[step]:.3f}" if step in steps else "-" for step in ("read", "sketch", "propose", "verify")}
    return {
        **row,
        "all": f"{sum(steps.values()):.3f}",
        "MiB": round(memory / 2**20, 1),
        "proposed": proposed,
        "resolved": round(float(numpy.isin(truth, dropped).any(1).mean()), 4) if len(truth) else 1,
        "dropped": len(dropped),
        "dropped rightly": round(float(numpy.isin(dropped, later).mean()), 4) if len(dropped) else 1,
        "copies found": round(float(numpy.isin(copies[:, 0], dropped).mean()), 4),
    }


def main(kind, library, path, count, least, *names):
    systems = HASHES if kind == "hashes" else TEXTS
    with tempfile.TemporaryDirectory(dir=os.environ.get("TMPDIR")) as folder:
        texts, copies = read_texts(path, int(float(count)))
        sets = Library(library).shingles(texts)
        numpy.save(f"{folder}/truth.npy", truth := true_pairs(sets, float(least)))
        numpy.save(f"{folder}/hashes.npy", sets[0])
        numpy.save(f"{folder}/begins.npy", sets[1])
        numpy.save(f"{folder}/copies.npy", numpy.array(copies))
        with open(f"{folder}/texts.json", "w", encoding="utf-8") as file:
            json.dump(texts, file)
        print(f"{len(texts)} texts, {len(sets[0])} hashes, {len(truth)} pairs of resemblance {least} or more")
        header = None
        for system in names or systems:
            begin = time.monotonic()
            python = os.environ.get("OLD_PYTHON", sys.executable) if system == "py_stringsimjoin" else sys.executable
            done = subprocess.run([python, __file__, "--one", kind, library, system, least, folder],
                                  capture_output=True, text=True, check=False)
            if done.returncode != 0:
                sys.exit(f"{system}: {done.stderr}")
            result = json.loads(done.stdout.splitlines()[-1])
            if header is None:
                header = ["system", *result]
                print("\t".join(header))
            print("\t".join([system, *map(str, result.values())]), flush=True)
            print(f"{system}: {time.monotonic() - begin:.0f} s", file=sys.stderr, flush=True)


if __name__ == "__main__":
    if sys.argv[1:2] == ["--one"]:
        kind, library, system, least, folder = sys.argv[2:]
        print(json.dumps(run_one(kind, library, system, float(least), folder)))
    elif len(sys.argv) < 6 or sys.argv[1] not in ("hashes", "texts"):
        sys.exit(__doc__)
    else:
        main(*sys.argv[1:])
