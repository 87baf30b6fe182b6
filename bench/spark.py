"""libidx.spark beside one process: processor time of the executors, less that of an empty job, in turns; medians.

usage: spark.py IDX FOLDER FIGURE…

IDX is the command; FOLDER has u7.u64 and u8.u64, 1e7 and 1e8 uniform fingerprints, and paragraphs.tsv (bench/corpus).
FIGURE is match, match-rows, fingerprint, pairs, dedup, texts, recombined, minhash or growth. The cluster is that of the
tests: a master and two workers on loopback. TURNS=1 in the environment takes one turn instead of three, and SCALE=100 a
hundredth of all counts, to try the script; COUNTS='1e6 3e6' are those of recombined, instead of 1e6 and 1e7."""

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
import pyarrow.csv
import pyarrow.parquet

import libidx
import libidx.spark as idx

TURNS = int(os.environ.get("TURNS", "3"))
SCALE = int(os.environ.get("SCALE", "1"))
FILES = 8  # of a DataFrame
PIECE = 1 << 23  # fingerprints of a file that a task reads
TICKS = os.sysconf("SC_CLK_TCK")


class Bench:
    def __init__(self, command, data, folder):
        self.command, self.data, self.folder = command, pathlib.Path(data), pathlib.Path(folder)
        os.environ["PYSPARK_PYTHON"] = sys.executable
        self.cluster = spark_cluster.Cluster(self.folder / "cluster", 1, "5g")
        settings = {
            "spark.ui.enabled": "true",
            "spark.ui.port": "0",
            "spark.speculation": "false",
            "spark.executor.memory": "4g",  # with a gigabyte, a growing share of the time is the JVM's making room
        }
        self.spark = spark_cluster.connect(self.cluster, **settings)
        self.discard(self.spark.range(1 << 16, numPartitions=16).mapInArrow(lambda batches: batches, "id long"))

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

    def keep(self, df):
        shutil.rmtree(self.folder / "out", ignore_errors=True)
        df.write.parquet(str(self.folder / "out"))

    def discard(self, df):
        """All rows reach Spark, and go nowhere: Hadoop starts processes for each file that it writes."""
        df.write.format("noop").mode("overwrite").save()

    def job(self, make, write=None):
        """Processor seconds of a job."""
        before = self.spent()
        (write or self.discard)(make())
        return self.spent() - before

    def empty(self, tasks, write=None):
        """The same of a job that does nothing, with as many tasks in Python."""
        nothing = self.spark.range(tasks, numPartitions=tasks).mapInArrow(drop, "id long")
        return self.job(lambda: nothing, write)

    def shuffled(self):
        """Bytes that all stages so far wrote for shuffles."""
        url = f"{self.spark.sparkContext.uiWebUrl}/api/v1/applications/{self.spark.sparkContext.applicationId}/stages"
        with urllib.request.urlopen(re.sub(r"//[^:/]+:", "//127.0.0.1:", url)) as answer:
            return sum(stage["shuffleWriteBytes"] for stage in json.load(answer))

    def parquet(self, name, table):
        path = self.folder / name
        shutil.rmtree(path, ignore_errors=True)
        path.mkdir()
        step = -(-len(table) // FILES)
        for i in range(FILES):
            pyarrow.parquet.write_table(table.slice(i * step, step), path / f"{i}.parquet")
        return self.spark.read.parquet(str(path))

    def numbers(self, name, numbers, **columns):
        held = pyarrow.array(numpy.ascontiguousarray(numbers).view(numpy.int64))
        return self.parquet(name, pyarrow.table({"fingerprint": held, **columns}))

    def read(self, name, count):
        """So many fingerprints of a file, or a SCALE-th of that, in no order."""
        numbers = numpy.fromfile(self.data / name, numpy.uint64)
        numbers = numbers[:: max(1, len(numbers) // (count // SCALE))].copy()
        numpy.random.default_rng(3).shuffle(numbers)
        return numbers


def drop(batches):
    for batch in batches:
        yield batch.slice(0, 0)


def process(*command, **options):
    """Processor seconds of a command."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(list(map(str, command)), check=True, stderr=subprocess.DEVNULL, **options)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def count_of(number):
    return f"{number // SCALE:.0e}".replace("e+0", "e")


def own(call):
    begin = time.process_time()
    call()
    return time.process_time() - begin


def in_turns(name, items, job, empty, other):
    """Prints medians of a job, less an empty one, and of one process, after a turn that warms the executors up."""
    rows = []
    job()
    for _ in range(TURNS):
        theirs = other()
        empty()  # Spark ends Python workers that had nothing to do for a minute: this one starts them again
        nothing = empty()
        rows.append((job() - nothing, theirs))
        print(f"  {rows[-1][0]:.2f} s (an empty job: {nothing:.2f} s), one process {theirs:.2f} s", flush=True)
    mine, theirs = (statistics.median(column) for column in zip(*rows))
    ratio = statistics.median(a / b for a, b in rows)
    each = f"{1e9 * mine / items:.0f} ns each"
    print(f"{name}: {mine:.2f} s, {each}, one process {theirs:.2f} s, ratio {ratio:.2f}", flush=True)


def queries_of(bench, held):
    """1e5 queries, of which half are near one."""
    random = numpy.random.default_rng(1)
    queries = random.integers(0, 2**64 - 1, 10**5 // SCALE, numpy.uint64, endpoint=True)
    queries[::2] = random.choice(held, len(queries) // 2) ^ numpy.uint64(5 << 20)
    queries.tofile(bench.folder / "new.u64")
    return queries


def streamed(bench, old):
    with open(bench.folder / "matches", "w") as file:
        options = "--stream", bench.folder / "new.u64", old, "--threads", "1"
        return process(bench.command, "batch", *options, stdout=file)


def match(bench):
    held = bench.read("u8.u64", 10**8)
    old = bench.folder / "old.u64"
    held.tofile(old)
    new = bench.numbers("new", queries_of(bench, held[: 10**7]))
    in_turns(
        f"match over paths, {count_of(10**5)} against {count_of(10**8)}",
        len(held),
        lambda: bench.job(lambda: idx.match(new, str(old))),
        lambda: bench.empty(FILES + -(-len(held) // PIECE)),
        lambda: streamed(bench, old),
    )
    old.unlink()


def match_rows(bench):
    held = bench.read("u7.u64", 10**7)
    held.tofile(bench.folder / "rows.u64")
    new = bench.numbers("new-rows", queries_of(bench, held))
    df = bench.numbers("old-rows", held)
    in_turns(
        f"match of a DataFrame, {count_of(10**5)} against {count_of(10**7)}",
        len(held),
        lambda: bench.job(lambda: idx.match(new, df)),
        lambda: bench.empty(2 * FILES),
        lambda: streamed(bench, bench.folder / "rows.u64"),
    )


def read_texts(bench, count):
    with open(bench.data / "paragraphs.tsv", encoding="utf-8") as file:
        return [line.rstrip("\n").split("\t", 1)[1] for line in itertools.islice(file, count)]


def fingerprint(bench):
    texts = read_texts(bench, 400_000 // SCALE)
    df = bench.parquet("texts", pyarrow.table({"text": texts}))
    documents = [" ".join(texts[i : i + 10]) for i in range(0, len(texts), 10)]
    longer = bench.parquet("documents", pyarrow.table({"text": documents}))
    made = libidx.Fingerprinter()
    for name, some, frame in ("paragraphs", texts, df), ("documents of ten paragraphs", documents, longer):
        column = pyarrow.array(some)
        in_turns(
            f"fingerprint, {len(some)} {name}",
            len(some),
            lambda frame=frame: bench.job(lambda: idx.fingerprint(frame, "text").select("fingerprint")),
            lambda: bench.empty(FILES),
            lambda column=column: own(lambda: made(column)),
        )


def pairs(bench):
    held = bench.read("u7.u64", 10**7)
    held.tofile(bench.folder / "pairs.u64")
    df = bench.numbers("pairs", held)

    def one():
        path = bench.folder / "pairs.idx"
        options = "--force", "--threads", 1, "--id-type", "none"
        spent = process(bench.command, "build", *options, path, bench.folder / "pairs.u64")
        with open(bench.folder / "pairs.txt", "w") as file:
            return spent + process(bench.command, "pairs", "--threads", 1, path, stdout=file)

    def job():
        bench.spark.catalog.clearCache()
        return bench.job(lambda: idx.pairs(df))

    tasks = 2 * FILES + 4 * max(4, -(-len(held) // (1 << 21)))
    in_turns(f"pairs of {count_of(10**7)}", len(held), job, lambda: bench.empty(tasks), one)


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
    """Documents of some ten paragraphs, of which each fourth is an edited copy of another; and which."""
    texts = read_texts(bench, count)
    random = numpy.random.default_rng(2)
    documents = [" ".join(texts[i] for i in some) for some in random.integers(0, len(texts), (count, 10)).tolist()]
    origin = edited(documents, random)
    return bench.parquet(f"corpus-{count}", pyarrow.table({"id": list(range(count)), "text": documents})), origin


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


def measure(bench, name, find, origin):
    """Says what a job that writes pairs of document and representative takes, and how right these are."""
    empty = bench.empty(3 * FILES, bench.keep)
    before, begin = bench.shuffled(), time.perf_counter()
    seconds = bench.job(find, bench.keep) - empty
    wall, bytes_shuffled = time.perf_counter() - begin, bench.shuffled() - before
    found = list(zip(*pyarrow.parquet.read_table(bench.folder / "out").to_pydict().values()))
    report(name, found, origin, seconds, len(origin))
    print(f"  {wall:.0f} s of wall time, {bytes_shuffled / len(origin):.1f} bytes shuffled a document", flush=True)


def duplicates(df, **options):
    found = idx.dedup(df, "id", "text", **options)
    return found.where("is_duplicate").select("id", "representative_id")


def dedup(bench):
    df, origin = corpus(bench, 10**6 // SCALE)
    duplicates(df.limit(1000)).collect()  # warms up
    measure(bench, "dedup", lambda: duplicates(df), origin)


def texts(bench):
    """Paragraphs, compared exactly, beside the command."""
    held = read_texts(bench, 10**6 // SCALE)
    path = bench.folder / "texts.tsv"

    def one():
        path.write_text("".join(f"{row}\t{text}\n" for row, text in enumerate(held)), encoding="utf-8")
        with open(bench.folder / "kept.txt", "w") as file:
            return process(bench.command, "dedup", "--threads", 1, "--drop", "--format", "tsv", path, stdout=file)

    df = bench.parquet("texts", pyarrow.table({"id": numpy.arange(len(held)), "text": held}))
    in_turns(f"dedup of {len(held):,} paragraphs", len(held), lambda: bench.job(lambda: duplicates(df)),
             lambda: bench.empty(2 * FILES + 2), one)  # fmt: skip
    dropped = set(map(int, (bench.folder / "kept.txt").read_text().split()))
    assert dropped == {row["id"] for row in duplicates(df).collect()}


def recombined(bench):
    """How the time grows with recombined paragraphs (bench/make), of one task that compares them, and of many."""

    def frame(count):
        path = bench.folder / "recombined.tsv"
        with open(path, "wb") as file:
            make = pathlib.Path(bench.command).parent.parent / "bench" / "make"
            subprocess.run([make, "recombined", str(count), bench.data / "paragraphs.tsv"], check=True, stdout=file)
        tabs = pyarrow.csv.ParseOptions(delimiter="\t", quote_char=False)
        names = pyarrow.csv.ReadOptions(column_names=["id", "text"])
        made = bench.parquet(f"recombined-{count}", pyarrow.csv.read_csv(path, names, tabs))
        path.unlink()
        pyarrow.default_memory_pool().release_unused()  # 7 GB that the executors need
        return made

    for distribute in False, True:

        def deduplicating(count, distribute=distribute):
            some = frame(count)
            return lambda: duplicates(some, distribute=distribute), 2 * FILES + 2

        counts = [int(float(count)) // SCALE for count in os.environ.get("COUNTS", "1e6 1e7").split()]
        way = "many tasks" if distribute else "one task"
        grow(bench, f"dedup of recombined paragraphs, {way},", counts, deduplicating)


def minhash(bench):
    """Spark MLlib's MinHashLSH, as its guide uses it, on word 5-shingles; and dedup beside it."""
    from pyspark.ml.feature import HashingTF, MinHashLSH, NGram, RegexTokenizer
    from pyspark.sql import functions as F

    df, origin = corpus(bench, 10**5 // SCALE)
    duplicates(df.limit(1000)).collect()  # warms up
    measure(bench, "dedup", lambda: duplicates(df), origin)
    for k in 6, 3:
        measure(bench, f"clusters, k = {k}", lambda k=k: idx.clusters(idx.fingerprint(df, "text", min_features=1), "id", k).where(
            "is_duplicate").select("id", "representative_id"), origin)
    words = RegexTokenizer(inputCol="text", outputCol="words", pattern=r"\W+").transform(df)
    grams = NGram(n=5, inputCol="words", outputCol="grams").transform(words).where(F.size("grams") > 0)
    features = HashingTF(numFeatures=1 << 20, binary=True, inputCol="grams", outputCol="features").transform(grams)
    features = features.select("id", "features")
    for tables in 4, 8:

        def find(tables=tables):
            model = MinHashLSH(inputCol="features", outputCol="hashes", numHashTables=tables, seed=1).fit(features)
            near = model.approxSimilarityJoin(features, features, 0.3)
            return near.selectExpr("datasetA.id as a", "datasetB.id as b").where("a < b")

        measure(bench, f"MinHashLSH, {tables} tables", find, origin)


def grow(bench, name, counts, make):
    """A job at growing sizes, after a turn of the smallest that warms the executors up: what they compile counts for
    none."""
    rows = []
    for count in counts:
        job, tasks = make(count)
        if not rows:
            bench.job(job)
        turns = [(bench.job(job), bench.empty(tasks)) for _ in range(TURNS)]
        spent, empty = (statistics.median(column) for column in zip(*turns))
        spent -= empty
        rows.append((count, spent))
        more = ", ".join(f"{spent / s / (count / c):.2f} × linear from {c:.0e}" for c, s in rows[:-1])
        print(f"{name} {count:.0e}: {spent:.2f} s, empty {empty:.2f}{', ' + more if more else ''}", flush=True)


def growth(bench):
    held = bench.read("u8.u64", 10**8)
    new = bench.numbers("new-growth", queries_of(bench, held[: 10**6]))
    ids = itertools.count()

    def matching(count):
        path = bench.folder / "growth.u64"
        held[:count].tofile(path)
        return lambda: idx.match(new, str(path)), FILES + -(-count // PIECE)

    def deduplicating(count):
        prints = held[:count].copy()
        prints[1::4] = prints[::4][: len(prints[1::4])] ^ numpy.uint64(1 << 17)
        df = bench.numbers(f"dedup-growth-{next(ids)}", prints, id=pyarrow.array(numpy.arange(count)))
        return lambda: idx.clusters(df, "id"), FILES  # its tasks in Python, at most

    grow(bench, f"match of {count_of(10**5)} against", [n // SCALE for n in (10**6, 10**7, 10**8)], matching)
    grow(bench, "clusters of", [n // SCALE for n in (10**5, 10**6, 10**7)], deduplicating)


FIGURES = {
    "match": match,
    "match-rows": match_rows,
    "fingerprint": fingerprint,
    "pairs": pairs,
    "dedup": dedup,
    "texts": texts,
    "recombined": recombined,
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
