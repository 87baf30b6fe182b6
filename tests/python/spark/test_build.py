"""Shards that are built on a cluster, whatever is killed meanwhile, and look-ups in them."""

import os
import pathlib
import shutil
import threading
import time
import uuid

import families
import numpy
import pytest
from cluster import kill
from conftest import frame, near_copies
from test_match import expected, rows, with_ids

import libidx
import libidx.spark as idx


def check_shards(built, held, ids=None):
    """Every shard is sound, and has the documents that libidx.shard says."""
    found = built.orderBy("shard").collect()
    places = libidx.shard(held, len(found))
    for row in found:
        with libidx.open(row.path) as index:
            info = index.info()
            assert all(check.error is None for check in index.verify())
            mine = numpy.unique(held[places == row.shard])
            assert (info.uuid, info.fingerprints, row.fingerprints) == (row.uuid, len(mine), len(mine))
            assert index.part(0, 1).tolist() == mine.tolist()
            if ids is not None:
                assert row.documents == info.documents == int((places == row.shard).sum())
                wanted = {}
                for number, id in zip(held[places == row.shard].tolist(), numpy.array(ids)[places == row.shard]):
                    wanted.setdefault(number, []).append(id)
                lists = index.documents(mine).tolist()
                assert [sorted(some) for some in lists] == [sorted(wanted[number]) for number in mine.tolist()]
    assert len({row.uuid for row in found}) == len(found)
    return found


def left_over(folder="."):
    return sorted(path.name for path in pathlib.Path(folder).glob(".*building*"))


@pytest.mark.small
def test_shards(spark, random):
    held = random.choice(near_copies(random, 3000), 4000)
    ids = [f"document-{n}" for n in range(len(held))]
    built = idx.build(frame(spark, held, ids), os.path.abspath("out"), 3, id="id", by_id=True)
    shards = check_shards(built, held, ids)
    assert [os.path.basename(row.path) for row in shards] == [f"shard-{n:05}.idx" for n in range(3)]
    assert sorted(os.listdir("out")) == [f"shard-{n:05}.idx" for n in range(3)] + ["shards.json"]
    assert left_over() == []
    schemes = {libidx.open(row.path).info().scheme for row in shards}
    assert len(schemes) == 1
    queries = random.choice(held, 100) ^ numpy.uint64(3)
    new_ids = list(range(100))
    df = frame(spark, queries, new_ids)
    wanted = with_ids(queries, new_ids, held, ids, 3)
    assert rows(idx.lookup(df, built, id="id")) == wanted
    assert rows(idx.lookup(df, os.path.abspath("out"), id="id", copy=True)) == wanted
    assert rows(idx.lookup(df, os.path.abspath("out"), documents=False)) == expected(queries, held, 3)
    assert rows(idx.lookup(df, [row.path for row in shards], 1, documents=False)) == expected(queries, held, 1)
    merged = libidx.merge("merged.idx", [row.path for row in shards])
    assert merged.documents == len(held)
    with pytest.raises(libidx.BadDistanceError, match="k = 4: the index .* was built for distances up to 3"):
        idx.lookup(df, built, 4)
    with pytest.raises(libidx.ExistsError, match="out exists"):
        idx.build(df, os.path.abspath("out"), 3)


@pytest.mark.small
def test_store(spark, random):
    """A place that is a URI is taken to have no rename: shards have the names of their UUIDs, the list is last."""
    held = near_copies(random, 2000)
    ids = list(range(len(held)))
    store = "file://" + os.path.abspath("store")
    built = idx.build(frame(spark, held, ids), store, 2, id="id", k=2)
    shards = built.orderBy("shard").collect()
    assert sorted(os.listdir("store")) == sorted([row.uuid for row in shards] + ["shards.json"])
    assert [row.path for row in shards] == [f"{store}/{row.uuid}" for row in shards]
    local = spark.createDataFrame([row.asDict() | {"path": f"store/{row.uuid}"} for row in shards], built.schema)
    check_shards(local, held, ids)
    df = frame(spark, held[:50], ids[:50])
    wanted = with_ids(held[:50], ids[:50], held, ids, 2)
    for shards in store, built:
        assert rows(idx.lookup(df, shards, id="id")) == wanted
    with pytest.raises(libidx.ExistsError, match="store exists and holds 'shards.json'"):
        idx.build(df, store, 2)
    with pytest.raises(libidx.NotFoundError, match="nowhere/shards.json"):
        idx.lookup(df, "file:///nowhere")


def test_store_with_other_things(spark, random):
    """What failed builds left in a store is removed; a place with anything else is refused, and stays as it is."""
    df = frame(spark, near_copies(random, 100))
    os.makedirs("store/diary")
    with pytest.raises(libidx.ExistsError, match="store exists and holds 'diary': give a place of its own"):
        idx.build(df, "file://" + os.path.abspath("store"), 2)
    assert os.listdir("store") == ["diary"]
    os.rename("store/diary", f"store/{uuid.uuid4()}")
    built = idx.build(df, "file://" + os.path.abspath("store"), 2)
    assert sorted(os.listdir("store")) == sorted([*(row.uuid for row in built.collect()), "shards.json"])


def test_copies_of_what_was_built_anew(spark, random):
    """Workers don't take the copy of a shard for that of another one at the same place."""
    for _ in range(5):
        held = near_copies(random, 100)
        df = frame(spark, held)
        idx.build(df, os.path.abspath("out"), 1)
        assert rows(idx.lookup(df, os.path.abspath("out"), copy=True)) == expected(held, held, 3)
        shutil.rmtree("out")


def test_recipe(spark):
    texts = spark.createDataFrame([(str(n), f"text number {n} of some") for n in range(50)], "id string, text string")
    made = idx.fingerprint(texts, "text")
    built = idx.build(made, os.path.abspath("out"), 2, id="id", k=1)
    recipe = libidx.Fingerprinter().recipe
    assert {libidx.open(row.path).info().recipe for row in built.collect()} == {recipe}
    assert idx.lookup(made, built, id="id").where("new_id = old_id and distance = 0").count() == 50
    with pytest.raises(libidx.InvalidArgumentError, match="can't be compared"):
        idx.lookup(idx.fingerprint(texts, "text", "chars:4"), built)


@pytest.mark.small
@pytest.mark.parametrize("texts_have", ["text IDs", "numbers"])
def test_texts(spark, texts_have):
    """Shards of texts have each text once, and answer as one index of all texts does, also when they are merged."""
    texts = [*families.make_texts(600, 3), "", "..."]
    ids = [f"d{n}" if texts_have == "text IDs" else 7 * n for n in range(len(texts))]
    kind = "string" if texts_have == "text IDs" else "long"
    df = spark.createDataFrame(list(zip(ids, texts)), f"name {kind}, body string").repartition(5)
    built = idx.build(df, os.path.abspath("out"), 3, id="name", text="body", resemble=0.5)
    found = built.orderBy("shard").collect()
    libidx.build("whole", texts=texts, ids=ids, resemble=0.5)
    with libidx.open("whole") as whole:
        info = whole.info()
        assert sum(row.documents for row in found) == info.texts == 600
        wanted = {least: whole.lookup(texts, resemble=least) for least in (0.5, 0.9)}
    for row in found:
        with libidx.open(row.path) as index:
            assert all(check.error is None for check in index.verify()) and 100 < index.info().texts < 300
            assert index.info().recipe == info.recipe and index.info().resemble == 0.5
            for id in index.clusters().ids:
                smallest = libidx.shingles(texts[ids.index(id)])[:1]
                assert libidx.shard(smallest, 3).tolist() == [row.shard]
    for least, shards in (0.5, built), (0.9, os.path.abspath("out")), (0.5, [row.path for row in found]):
        expected = {
            (ids[n], id, share)
            for n, (some, begin) in enumerate(zip(wanted[least].tolist(), wanted[least].offsets))
            for id, share in zip(some, wanted[least].resemblances[begin:])
        }
        given = {} if least == 0.5 else {"resemble": least, "copy": True}
        answers = idx.lookup(df, shards, id="name", text="body", **given).collect()
        assert {tuple(row) for row in answers} == expected and len(answers) == len(expected) > 600
    libidx.merge("merged", [row.path for row in found])
    with libidx.open("merged") as merged:
        assert [sorted(some) for some in merged.lookup(texts).tolist()] == [sorted(some) for some in wanted[0.5].tolist()]


def test_texts_in_a_store(spark):
    texts = ["one two three", "four five six seven", "ONE two   three"]
    df = spark.createDataFrame([(n, n, text) for n, text in enumerate(texts)], "id long, print long, text string")
    store = "file://" + os.path.abspath("store")
    idx.build(df, store, 2, id="id", text="text", shingle="chars:3")
    assert {tuple(row)[:2] for row in idx.lookup(df, store, id="id", text="text").collect()} == {
        (0, 0), (0, 2), (1, 1), (2, 0), (2, 2)
    }
    for call, sentence in (
        (lambda: idx.lookup(df, store, fingerprint="print"), "is an index of texts, which need text and id"),
        (lambda: idx.build(df, "x", 2, text="text"), "texts need IDs: give id"),
        (lambda: idx.build(df, "x", 2, id="id", text="text", k=3), "k and by_id are for fingerprints"),
        (lambda: idx.build(df, "x", 2, id="id", fingerprint="print", resemble=0.5), "resemble and shingle are for texts"),
        (lambda: idx.build(df, "x", 2, id="id", text="id"), "column 'id' is of type bigint: texts are strings"),
        (lambda: idx.build(df, "x", 2, id="id", text="text", resemble=0.1), "give 0.17 to 1"),
    ):
        with pytest.raises(libidx.InvalidArgumentError) as raised:
            call()
        assert sentence in str(raised.value)
    idx.build(df, os.path.abspath("plain"), 1, id="id", fingerprint="print")
    with pytest.raises(libidx.InvalidArgumentError, match="is an index of fingerprints: omit text"):
        idx.lookup(df, os.path.abspath("plain"), id="id", text="text")


def test_empty_shards(spark, random):
    for count, shards in (0, 2), (1, 5), (20, 40):
        held = near_copies(random, max(count, 1))[:count]
        built = idx.build(frame(spark, held, list(range(count))), os.path.abspath(f"out-{count}"), shards, id="id")
        assert len(check_shards(built, held, list(range(count)))) == shards
        assert rows(idx.lookup(frame(spark, held), built, documents=False)) == expected(held, held, 3)


def test_one_fingerprint(spark):
    """Of a million documents that have one fingerprint, none is lost, and a task holds few of them."""
    count = 1_000_000
    held = numpy.full(count, 12345, numpy.uint64)
    df = frame(spark, held, list(range(count)))
    built = idx.build(df, os.path.abspath("out"), 2, id="id")
    assert sorted(row.documents for row in built.collect()) == [0, count]
    found = idx.lookup(frame(spark, held[:1] ^ numpy.uint64(4)), built)
    assert found.selectExpr("count(distinct old_id)", "min(distance)", "max(distance)").first()[0:3] == (count, 1, 1)
    matched = idx.match(frame(spark, held[:1]), df, old_id="id")
    assert matched.selectExpr("count(distinct old_id)", "count(*)").first()[0:2] == (count, count)


def test_what_is_refused(spark, random):
    df = frame(spark, near_copies(random, 10), list(range(10)))
    for call, error, words in [
        (lambda: idx.build(df, "out", 0), libidx.InvalidArgumentError, "shards = 0"),
        (lambda: idx.build(df, "none/out", 1), libidx.NotFoundError, "none: there is no such"),
        (lambda: idx.build(df, "out", 1, scheme="2:1"), libidx.WeakSchemeError, "2:1"),
        (lambda: idx.build(df, "out", 1, scheme="x"), libidx.BadSchemeError, "x"),
        (lambda: idx.build(df, "out", 1, id="fingerprints"), libidx.InvalidArgumentError, "no column 'fingerprints'"),
    ]:
        with pytest.raises(error, match=words):
            call()
    nulls = spark.sql("select 1L as fingerprint, cast(null as string) as id")
    with pytest.raises(Exception, match="column 'id' has nulls"):
        idx.build(nulls, os.path.abspath("out"), 1, id="id")
    assert os.listdir(".") == [name for name in os.listdir(".") if not name.startswith((".out", "out"))]


# ---- What is killed ----


class Killer(threading.Thread):
    """Kills a worker that builds a shard, or its executor, `times` times, each time in an attempt begun after that."""

    def __init__(self, folder, cluster, victim_of, times):
        super().__init__(daemon=True)
        self.folder = pathlib.Path(folder).absolute()
        self.cluster, self.victim_of, self.times = cluster, victim_of, times
        self.killed, self.stop = 0, False

    def attempt_of(self, worker):
        """The attempt whose files the worker has open, or None."""
        for path in self.cluster.open_paths(worker):
            if path.startswith(str(self.folder)) and "/attempts/" in path:
                return path.split("/attempts/")[1].split("/")[0]
        return None

    def run(self):
        seen = set()
        while not self.stop and self.killed < self.times:
            time.sleep(0.01)
            attempts = {path.name for path in self.folder.glob(".out.building-*/attempts/*")} - seen
            for worker in self.cluster.python_workers() if attempts else []:
                attempt, victim = self.attempt_of(worker), self.victim_of(worker)
                if attempt not in attempts or victim is None:
                    continue
                try:
                    kill(victim)
                except ProcessLookupError:
                    continue
                self.killed += 1
                seen |= attempts
                break


COUNT = 400_000


def build_under_fire(spark, cluster, victim_of, times, random, shards):
    """An attempt may end before it is found: then the next build is to be hit."""
    held = near_copies(random, COUNT)
    ids = [f"https://example.org/{n}" for n in range(COUNT)]
    for _ in range(5):
        shutil.rmtree("out", ignore_errors=True)
        killer = Killer(".", cluster, victim_of, times)
        killer.start()
        built = idx.build(frame(spark, held, ids), os.path.abspath("out"), shards, id="id")
        killer.stop = True
        killer.join()
        check_shards(built, held, ids)
        assert sorted(os.listdir("out")) == [f"shard-{n:05}.idx" for n in range(shards)] + ["shards.json"]
        assert left_over() == []
        if killer.killed == times:
            return
    raise AssertionError("no build of five was hit")


def test_python_worker_killed_twice(spark, cluster, random):
    build_under_fire(spark, cluster, lambda worker: worker, 2, random, 1)


def test_executor_killed(spark, cluster, random):
    build_under_fire(spark, cluster, cluster.executor_of, 1, random, 2)


def test_what_a_killed_driver_left_is_swept(spark, random):
    """A folder without a lock that somebody holds is of a driver that was killed; one with is another build's."""
    import fcntl

    for name in "dead", "alive", "bare":
        os.makedirs(f".out.building-{name}/attempts/1")
    os.mkdir(".other.building-dead")
    open(".out.building-dead/lock", "w").close()
    with open(".out.building-alive/lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        idx.build(frame(spark, near_copies(random, 10)), os.path.abspath("out"), 1)
    assert left_over() == [".other.building-dead", ".out.building-alive"]


def test_failing_twice_with_speculation(spark, random):
    """The tasks above a build fail twice, and slow ones are started again: every shard is published once."""
    from pyspark import TaskContext

    def fail_twice(batches):
        context = TaskContext.get()
        if context.attemptNumber() < 2:
            raise RuntimeError("as the test wants")
        if context.partitionId() == 0:
            time.sleep(10)  # so that another attempt is started
        yield from batches

    held = near_copies(random, 20000)
    df = frame(spark, held, list(range(len(held))))
    built = idx.build(df.mapInArrow(fail_twice, df.schema), os.path.abspath("out"), 2, id="id")
    check_shards(built, held, list(range(len(held))))
    assert left_over() == []
    queries = frame(spark, held[:100])
    assert rows(idx.match(queries, df.mapInArrow(fail_twice, df.schema))) == expected(held[:100], held, 3)
