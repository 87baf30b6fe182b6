"""The Python package beside packages that its users have: faiss-cpu, pynear, usearch, datasketch and rensa, one thread
each. bench/sets.py compares which texts are kept.

usage: python_peers.py fingerprints COUNT [SYSTEM…]
       python_peers.py resembling PARAGRAPHS COUNT RESEMBLANCE [SYSTEM…]

fingerprints: COUNT fingerprints, a tenth of them near-copies of another, and queries of which half are 1 to 3 bits from
one of them. A system finds what is within 3 bits; what it finds for the first 1000 queries is compared with a linear
scan. Those that search the nearest ones only are asked for 16, with their default settings.

resembling: COUNT lines of PARAGRAPHS, a file that bench/corpus --paragraphs made, are put into an index, which then finds
for 20,000 of them the others whose sets of word 5-shingles have a Jaccard coefficient of RESEMBLANCE or more; and then
2,000 new texts, which resemble none, are each looked up and added. Peers' candidates are confirmed by the sets, which they
get from libidx.shingles and keep in memory. The time of a text has that of making its set and its sketch. Bytes are those
of the index and of the sets: of files, or what the resident size grew by, of the Redis server as well. This runs for that
table alone, keeps all in memory, saves nothing, and is reached by a socket of the file system, which is the fastest; an
insertion session fills it. Milvus Lite 3.2 is left out, since it has no binary vectors, which MINHASH_LSH needs.

The commands idx and redis-server, which systems run, are those of the environment variables IDX and REDIS, or of PATH.
Prints a line per system. Each runs in a process of its own. Seconds are processor time, user and system. Without SYSTEM
all run; one whose package is not installed says so."""

import atexit
import collections
import json
import math
import os
import re
import resource
import subprocess
import sys
import tempfile
import time

import numpy

K, NEAREST, CHECKED = 3, 16, 1000
SECONDS = 3  # of queries
ASKED, NEW = 20_000, 2_000  # texts


def resident(process="self", field="VmRSS"):
    with open(f"/proc/{process}/status") as status:
        found = re.search(rf"{field}:\s+(\d+)", status.read())
    return int(found[1]) * 1024 if found else 0


def processor_seconds():
    """Of this process, the commands that have ended, and the server."""
    mine, others = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return mine.ru_utime + mine.ru_stime + others.ru_utime + others.ru_stime + Server.seconds()


class Server:
    """A Redis server of this process's own."""

    process = None

    @classmethod
    def start(cls, folder):
        cls.stop()
        path = f"{folder}/redis.sock"
        options = ["--port", "0", "--unixsocket", path, "--save", "", "--appendonly", "no", "--dir", folder]
        atexit.register(cls.stop)
        cls.process = subprocess.Popen([os.environ.get("REDIS", "redis-server"), *options], stdout=subprocess.DEVNULL)
        while not os.path.exists(path):
            assert cls.process.poll() is None, "redis-server has ended"
            time.sleep(0.01)
        return path

    @classmethod
    def stop(cls):
        if cls.process:
            cls.process.kill()
            cls.process.wait()
        cls.process = None

    @classmethod
    def seconds(cls):
        if not cls.process:
            return 0
        with open(f"/proc/{cls.process.pid}/stat") as status:
            user, system = status.read().rsplit(")", 1)[1].split()[11:13]
        return (int(user) + int(system)) / os.sysconf("SC_CLK_TCK")


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


def pynear_hashing(parts):
    """Multi-index hashing: what is within K bits of a query agrees with it in one of more than K parts."""

    def make(fingerprints, folder):
        import pynear

        index = pynear.MIHBinaryIndex(parts)
        index.set(as_bytes(fingerprints))

        def search(queries):
            rows, distances = index.searchKNN_arrays(as_bytes(queries), NEAREST, K)
            return near_rows(rows, distances, fingerprints)

        return search

    return make


FINGERPRINT_SYSTEMS = {
    "libidx auto": libidx_scheme("auto"),
    "libidx 2:1:1": libidx_scheme("2:1:1"),
    "faiss Flat": faiss_ranges(lambda faiss: faiss.IndexBinaryFlat(64)),
    "faiss MultiHash 4x16": multi_hash(4, 16, 0),
    "faiss MultiHash 2x32 flip 1": multi_hash(2, 32, 1),
    "pynear MIH 4x16": pynear_hashing(4),
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


# ---- Look-ups by resemblance: each system takes texts, and returns a search for some rows of them, which returns pairs
# of a row and another one; what looks texts up and adds them, and returns how many were added; and bytes, or None ----


def read_texts(path, count):
    with open(path, encoding="utf-8") as lines:
        texts = [line.rstrip("\n").split("\t", 1)[1] for line in lines]
    return [texts[i * len(texts) // count] for i in range(count)] if count < len(texts) else texts


def true_pairs(texts, least):
    """All pairs that resemble each other by `least` or more: two such sets share one of their rarest shingles."""
    import libidx

    sets = [frozenset(libidx.shingles(text).tolist()) for text in texts]
    counts = collections.Counter(shingle for one in sets for shingle in one)
    rows_of, pairs = collections.defaultdict(list), []
    for b, one in enumerate(sets):
        rarest = sorted(one, key=lambda shingle: (counts[shingle], shingle))
        rarest = rarest[: len(one) - math.ceil(least * len(one)) + 1]
        for a in sorted({a for shingle in rarest for a in rows_of[shingle]}):
            common = len(sets[a] & one)
            if common / (len(sets[a]) + len(one) - common) >= least:
                pairs.append((a, b))
        for shingle in rarest:
            rows_of[shingle].append(b)
    return pairs


def write_lines(path, numbered):
    with open(path, "w", encoding="utf-8") as lines:
        lines.writelines(f"{number}\t{text}\n" for number, text in numbered)


def idx_texts(texts, folder, least):
    """An index of texts, which has their sets."""
    idx, options = os.environ.get("IDX", "idx"), ["--threads", "1", "--resemble", str(least)]
    index, lines = f"{folder}/x.idx", f"{folder}/texts.tsv"
    write_lines(lines, enumerate(texts))
    with open(os.devnull, "w") as nothing:
        Command.run([idx, "build", *options, "--id-type", "u64", "--format", "tsv", index, lines], nothing)

    def search(rows):
        write_lines(lines, ((row, texts[row]) for row in rows))
        with open(f"{folder}/found.tsv", "w+") as found:
            Command.run([idx, "lookup", index, "--text", lines, *options], found)
            found.seek(0)
            columns = (line.split("\t") for line in found)
            return [(int(row), int(other)) for row, _, other in columns if int(row) != int(other)]

    def add(new):
        write_lines(lines, enumerate(new, len(texts)))
        with open(f"{folder}/added.tsv", "w+") as answers:
            Command.run([idx, "add", "--if-new", *options, "--format", "tsv", index, lines], answers)
            answers.seek(0)
            return sum(line.endswith("\tadded\n") for line in answers)

    files = (os.path.join(path, name) for path, _, names in os.walk(index) for name in names)
    return search, add, sum(map(os.path.getsize, files))


def lsh_of(texts, least, hashes, lsh, fill):
    """Keeps the sets of all texts, which confirm what the hashes of these propose. `fill` inserts all rows and hashes."""
    import libidx

    sets = [libidx.shingles(text) for text in texts]
    fill((row, hashes(one)) for row, one in enumerate(sets))

    def find(one, made):
        members, found = set(one.tolist()), []
        for other in lsh.query(made):
            common = len(members.intersection(sets[other].tolist()))
            if common / (len(one) + len(sets[other]) - common) >= least:
                found.append(other)
        return found

    def search(rows):
        found = []
        for row in rows:
            one = libidx.shingles(texts[row])
            found += [(row, other) for other in find(one, hashes(one)) if other != row]
        return found

    def add(new):
        before = len(sets)
        for text in new:
            one = libidx.shingles(text)
            made = hashes(one)
            if not find(one, made):
                lsh.insert(len(sets), made)
                sets.append(one)
        return len(sets) - before

    return search, add, None


def tokens(hashes):
    """The hashes as bytes, which is what peers take one text at a time."""
    data = hashes.tobytes()
    return [data[at : at + 8] for at in range(0, len(data), 8)]


def datasketch_hashes(values):
    from datasketch import MinHash

    def hashes(one):
        made = MinHash(num_perm=values)
        made.update_batch(tokens(one))
        return made

    return hashes


def insert_each(lsh):
    def fill(rows):
        for row, made in rows:
            lsh.insert(row, made)

    return fill


def datasketch_lsh(bands, width):
    def make(texts, folder, least):
        from datasketch import MinHashLSH

        lsh = MinHashLSH(threshold=least, num_perm=bands * width, params=(bands, width))
        return lsh_of(texts, least, datasketch_hashes(bands * width), lsh, insert_each(lsh))

    return make


def datasketch_redis(bands, width):
    def make(texts, folder, least):
        from datasketch import MinHashLSH

        before = resident()
        storage = {"type": "redis", "basename": b"texts", "redis": {"unix_socket_path": Server.start(folder)},
                   "redis_buffer": {"transaction": False}}
        lsh = MinHashLSH(threshold=least, num_perm=bands * width, params=(bands, width), storage_config=storage)

        def fill(rows):
            with lsh.insertion_session() as session:
                for row, made in rows:
                    session.insert(row, made, check_duplication=False)

        search, add, _ = lsh_of(texts, least, datasketch_hashes(bands * width), lsh, fill)
        return search, add, resident() - before + resident(Server.process.pid)

    return make


def rensa_lsh(bands, width):
    def make(texts, folder, least):
        from rensa import RMinHash, RMinHashLSH

        def hashes(one):
            made = RMinHash(bands * width, 42)
            made.update(tokens(one))
            return made

        lsh = RMinHashLSH(least, bands * width, bands)
        return lsh_of(texts, least, hashes, lsh, insert_each(lsh))

    return make


RESEMBLING_SYSTEMS = {
    "idx build --resemble": idx_texts,
    "datasketch 32 × 4": datasketch_lsh(32, 4),
    "datasketch 16 × 5": datasketch_lsh(16, 5),
    "datasketch 16 × 5, Redis": datasketch_redis(16, 5),
    "rensa 32 × 4": rensa_lsh(32, 4),
    "rensa 16 × 5": rensa_lsh(16, 5),
}


def run_resembling(system, folder):
    texts, least = json.load(open(f"{folder}/texts.json"))
    rows = range(0, len(texts), max(1, len(texts) // ASKED))
    truth = {(a, b) for pair in json.load(open(f"{folder}/truth.json")) for a, b in (pair, pair[::-1]) if a in rows}
    make = RESEMBLING_SYSTEMS[system]
    make(texts[:100], tempfile.mkdtemp(dir=folder), least)[0](range(100))
    (search, add, size), seconds, memory = memory_of(lambda: make(texts, tempfile.mkdtemp(dir=folder), least))
    begin = processor_seconds()
    found = set(search(rows))
    asked = processor_seconds()
    # In reverse order, the words of a text of six or more make other shingles.
    new = [" ".join(reversed(text.split())) for text in texts[: NEW]]
    begin_adding = processor_seconds()
    added = add(new)
    end = processor_seconds()
    Server.stop()
    return {
        "seconds to build": round(seconds, 1),
        "texts per second": round(len(rows) / (asked - begin)),
        "checked and added per second": round(len(new) / (end - begin_adding)),
        "bytes per text": round((size or memory) / len(texts), 1),
        "recall": round(len(truth & found) / max(1, len(truth)), 6),
        "wrong": len(found - truth),
        "added": added,
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
        else:
            names = arguments[3:]
            texts, least = read_texts(arguments[0], int(float(arguments[1]))), float(arguments[2])
            truth = true_pairs(texts, least)
            json.dump((texts, least), open(f"{folder}/texts.json", "w"))
            systems = RESEMBLING_SYSTEMS
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


NEEDED = {"fingerprints": 1, "resembling": 3}  # arguments
RUN = {"fingerprints": run_fingerprints, "resembling": run_resembling}


if __name__ == "__main__":
    if sys.argv[1:2] == ["--one"]:
        kind, system, folder = sys.argv[2:]
        print(json.dumps(RUN[kind](system, folder)))
    elif len(sys.argv) < 2 or len(sys.argv) - 2 < NEEDED.get(sys.argv[1], math.inf):
        sys.exit(__doc__)
    else:
        main(*sys.argv[1:])
