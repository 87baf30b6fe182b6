"""libidx.spark beside one process: processor time of the executors, less that of an empty job, in turns; medians.

usage: spark.py IDX FOLDER FIGURE…

IDX is the command; FOLDER has u7.u64 and u8.u64, 1e7 and 1e8 uniform fingerprints, and paragraphs.tsv (bench/corpus).
FIGURE is match, match-rows, fingerprint, pairs, dedup, minhash or growth. The cluster is that of the tests: a master
and two workers on loopback. TURNS=1 in the environment takes one turn instead of three."""

import itertools
import json
import os
import pathlib
import re
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.request

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "tests" / "python" / "spark"))

import cluster as spark_cluster
import numpy
import pyarrow
import pyarrow.parquet

import libidx
import libidx.spark as idx

TURNS = int(os.environ.get("TURNS", "3"))
TICKS = os.sysconf("SC_CLK_TCK")


class Bench:
    def __init__(self, command, data, folder):
        self.command, self.data, self.folder = command, pathlib.Path(data), pathlib.Path(folder)
        os.environ["PYSPARK_PYTHON"] = sys.executable
        self.cluster = spark_cluster.Cluster(self.folder / "cluster", 1, "2g")
        settings = {"spark.ui.enabled": "true", "spark.ui.port": "0", "spark.speculation": "false"}
        self.spark = spark_cluster.connect(self.cluster, **settings)
        self.write(self.spark.range(1 << 16, numPartitions=16).mapInArrow(lambda batches: batches, "id long"))

    def end(self):
        spark_cluster.stop()
        self.cluster.end()

    def spent(self):
        """Processor time of the executors and their Python workers so far, in seconds."""
        total = 0
        for pid in self.cluster.descendants(""):
            try:
                fields = pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
            except FileNotFoundError:
                continue
            total += sum(map(int, fields[11:15]))
        return total / TICKS

    def write(self, df):
        shutil.rmtree(self.folder / "out", ignore_errors=True)
        df.write.parquet(str(self.folder / "out"))

    def job(self, make, write=None):
        """Processor seconds of a job."""
        before = self.spent()
        (write or self.write)(make())
        return self.spent() - before

    def empty(self, tasks):
        """The same of a job that does nothing, with as many tasks."""
        nothing = self.spark.range(tasks, numPartitions=max(1, tasks)).mapInArrow(drop, "id long")
        return self.job(lambda: nothing)

    def shuffled(self):
        """Bytes that all stages so far wrote for shuffles."""
        url = f"{self.spark.sparkContext.uiWebUrl}/api/v1/applications/{self.spark.sparkContext.applicationId}/stages"
        with urllib.request.urlopen(re.sub(r"//[^:/]+:", "//127.0.0.1:", url)) as answer:
            return sum(stage["shuffleWriteBytes"] for stage in json.load(answer))

    def parquet(self, name, table, files=8):
        path = self.folder / name
        path.mkdir()
        step = -(-len(table) // files)
        for i in range(files):
            pyarrow.parquet.write_table(table.slice(i * step, step), path / f"{i}.parquet")
        return self.spark.read.parquet(str(path))

    def numbers(self, name, numbers, **columns):
        held = pyarrow.array(numpy.ascontiguousarray(numbers).view(numpy.int64))
        return self.parquet(name, pyarrow.table({"fingerprint": held, **columns}))

    def read(self, name, count=-1):
        return numpy.fromfile(self.data / name, numpy.uint64, count)


def drop(batches):
    for batch in batches:
        yield batch.slice(0, 0)


def process(*command, **options):
    """Processor seconds of a command."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(list(map(str, command)), check=True, stderr=subprocess.DEVNULL, **options)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def own(call):
    begin = time.process_time()
    call()
    return time.process_time() - begin


def in_turns(name, job, empty, other):
    """Prints medians of a job, less an empty one, and of one process."""
    rows = []
    for _ in range(TURNS):
        rows.append((job() - empty(), other()))
        print(f"  {rows[-1][0]:.2f} s, one process {rows[-1][1]:.2f} s", flush=True)
    mine, theirs = (statistics.median(column) for column in zip(*rows))
    ratio = statistics.median(a / b for a, b in rows)
    print(f"{name}: {mine:.2f} s, one process {theirs:.2f} s, ratio {ratio:.2f}", flush=True)


def queries_of(bench, held):
    """1e5 queries, of which half are near one."""
    random = numpy.random.default_rng(1)
    queries = random.integers(0, 2**64 - 1, 10**5, numpy.uint64, endpoint=True)
    queries[::2] = random.choice(held, len(queries) // 2) ^ numpy.uint64(5 << 20)
    queries.tofile(bench.folder / "new.u64")
    return queries


def streamed(bench, old):
    with open(bench.folder / "matches", "w") as file:
        options = "--stream", bench.folder / "new.u64", old, "--threads", "1"
        return process(bench.command, "batch", *options, stdout=file)


def match(bench):
    old = bench.data / "u8.u64"
    new = bench.numbers("new", queries_of(bench, bench.read("u8.u64", 10**7)))
    in_turns(
        "match over paths, 1e5 against 1e8",
        lambda: bench.job(lambda: idx.match(new, str(old))),
        lambda: bench.empty(13),
        lambda: streamed(bench, old),
    )


def match_rows(bench):
    held = bench.read("u7.u64")
    new = bench.numbers("new-rows", queries_of(bench, held))
    df = bench.numbers("old-rows", held)
    in_turns(
        "match of a DataFrame, 1e5 against 1e7",
        lambda: bench.job(lambda: idx.match(new, df)),
        lambda: bench.empty(8),
        lambda: streamed(bench, bench.data / "u7.u64"),
    )


def read_texts(bench, count):
    with open(bench.data / "paragraphs.tsv", encoding="utf-8") as file:
        return [line.rstrip("\n").split("\t", 1)[1] for line in itertools.islice(file, count)]


def fingerprint(bench):
    texts = read_texts(bench, 200_000)
    df = bench.parquet("texts", pyarrow.table({"text": texts}))
    documents = [" ".join(texts[i : i + 10]) for i in range(0, len(texts), 10)]
    longer = bench.parquet("documents", pyarrow.table({"text": documents}))
    made = libidx.Fingerprinter()
    for name, some, frame in ("paragraphs", texts, df), ("documents of ten paragraphs", documents, longer):
        column = pyarrow.array(some)
        in_turns(
            f"fingerprint, {len(some)} {name}",
            lambda frame=frame: bench.job(lambda: idx.fingerprint(frame, "text").select("fingerprint")),
            lambda: bench.empty(8),
            lambda column=column: own(lambda: made(column)),
        )


def pairs(bench):
    df = bench.numbers("pairs", bench.read("u7.u64"))

    def one():
        path = bench.folder / "pairs.idx"
        options = "--force", "--threads", 1, "--id-type", "none"
        spent = process(bench.command, "build", *options, path, bench.data / "u7.u64")
        with open(bench.folder / "pairs.txt", "w") as file:
            return spent + process(bench.command, "pairs", "--threads", 1, path, stdout=file)

    in_turns("pairs of 1e7", lambda: bench.job(lambda: idx.pairs(df)), lambda: bench.empty(24), one)


def edited(texts, random):
    """Texts of which each fourth is an earlier one with a word or two replaced; and which one, or -1."""
    origin = numpy.full(len(texts), -1)
    for i in range(3, len(texts), 4):
        origin[i] = i - 1 - int(random.integers(0, 3))
        words = texts[origin[i]].split()
        for _ in range(1 + len(words) // 100):
            words[int(random.integers(0, len(words)))] = f"edited{int(random.integers(0, 1000))}"
        texts[i] = " ".join(words)
    return origin


def corpus(bench, count):
    """Documents of some ten paragraphs, of which each fourth is an edited copy of another."""
    texts = read_texts(bench, 10**6)
    random = numpy.random.default_rng(2)
    documents = [" ".join(texts[i] for i in random.integers(0, len(texts), 10)) for _ in range(count)]
    return documents, edited(documents, random)


def report(name, pairs_found, origin, seconds, count):
    """Recall of edited copies, and precision of the pairs (document, representative)."""
    family = numpy.where(origin < 0, numpy.arange(len(origin)), origin)
    right = sum(family[a] == family[b] for a, b in pairs_found)
    found = {frozenset(pair) for pair in pairs_found}
    copies = numpy.flatnonzero(origin >= 0)
    recalled = sum(frozenset((int(i), int(origin[i]))) in found for i in copies)
    print(
        f"{name}: {count} documents, {seconds:.1f} s of executors, {1e6 * seconds / count:.0f} µs a document; "
        f"recall {recalled / max(1, len(copies)):.3f}, precision {right / max(1, len(pairs_found)):.4f}",
        flush=True,
    )


def dedup(bench, counts=(10**6,)):
    for count in counts:
        documents, origin = corpus(bench, count)
        ids = list(range(count))
        df = bench.parquet(f"dedup-{count}", pyarrow.table({"id": ids, "text": documents}))
        before, begin = bench.shuffled(), time.perf_counter()
        only = "id", "representative_id", "is_duplicate"
        seconds = bench.job(lambda: idx.dedup(df, "id", "text").select(*only))
        wall, bytes_shuffled = time.perf_counter() - begin, bench.shuffled() - before
        found = pyarrow.parquet.read_table(bench.folder / "out").to_pydict()
        near = [(a, b) for a, b, drop in zip(*found.values()) if drop]
        report("dedup", near, origin, seconds - bench.empty(8), count)
        print(f"  {wall:.0f} s of wall time, {bytes_shuffled / count:.1f} bytes shuffled a document", flush=True)


def minhash(bench):
    """Spark MLlib's MinHashLSH, as its guide uses it, on word 5-shingles, with 8 and 32 tables."""
    from pyspark.ml.feature import HashingTF, MinHashLSH, NGram, RegexTokenizer
    from pyspark.sql import functions as F

    count = 10**5
    documents, origin = corpus(bench, count)
    df = bench.parquet("minhash", pyarrow.table({"id": list(range(count)), "text": documents}))
    words = RegexTokenizer(inputCol="text", outputCol="words", pattern=r"\W+").transform(df)
    grams = NGram(n=5, inputCol="words", outputCol="grams").transform(words).where(F.size("grams") > 0)
    features = HashingTF(1 << 20, binary=True, inputCol="grams", outputCol="features").transform(grams)
    features = features.select("id", "features").cache()
    for tables in 4, 8:
        before, begin = bench.shuffled(), time.perf_counter()

        def find(tables=tables):
            model = MinHashLSH(inputCol="features", outputCol="hashes", numHashTables=tables, seed=1).fit(features)
            near = model.approxSimilarityJoin(features, features, 0.3)
            return near.selectExpr("datasetA.id as a", "datasetB.id as b").where("a < b")

        seconds = bench.job(find)
        wall, bytes_shuffled = time.perf_counter() - begin, bench.shuffled() - before
        found = pyarrow.parquet.read_table(bench.folder / "out").to_pydict()
        report(f"MinHashLSH, {tables} tables", list(zip(*found.values())), origin, seconds, count)
        print(f"  {wall:.0f} s of wall time, {bytes_shuffled / count:.1f} bytes shuffled a document", flush=True)


def growth(bench):
    held = bench.read("u8.u64")
    new = bench.numbers("new-growth", queries_of(bench, held[: 10**6]))
    for count in 10**6, 10**7, 10**8:
        path = bench.folder / f"{count}.u64"
        held[:count].tofile(path)
        tasks = -(-count // (1 << 23))
        spent = [bench.job(lambda p=path: idx.match(new, str(p))) - bench.empty(tasks) for _ in range(TURNS)]
        print(f"match, 1e5 against {count:.0e}: {statistics.median(spent):.2f} s", flush=True)
        path.unlink()
    for count in 10**5, 10**6, 10**7:
        prints = held[:count].copy()
        prints[1::4] = prints[::4][: len(prints[1::4])] ^ numpy.uint64(1 << 17)
        df = bench.numbers(f"dedup-growth-{count}", prints, id=pyarrow.array(numpy.arange(count)))
        spent = bench.job(lambda df=df: idx.dedup(df, "id", fingerprint="fingerprint"))
        print(f"dedup of {count:.0e} fingerprints: {spent - bench.empty(8):.2f} s", flush=True)


FIGURES = {
    "match": match,
    "match-rows": match_rows,
    "fingerprint": fingerprint,
    "pairs": pairs,
    "dedup": dedup,
    "minhash": minhash,
    "growth": growth,
}


def main():
    if len(sys.argv) < 4 or not set(sys.argv[3:]) <= FIGURES.keys():
        sys.exit(__doc__)
    with tempfile.TemporaryDirectory() as folder:
        bench = Bench(sys.argv[1], sys.argv[2], folder)
        try:
            for name in sys.argv[3:]:
                FIGURES[name](bench)
        finally:
            bench.end()


if __name__ == "__main__":
    main()
