"""Fingerprints and matches on a cluster, row for row beside one process."""

import os

import numpy
import pyarrow
import pyarrow.parquet
import pytest
from conftest import frame, near_copies

import libidx
import libidx.spark as idx
from libidx.spark import _columns, _files, _fingerprint

TEXTS = [f"the quick brown fox number {n % 40} jumps over {n % 7} lazy dogs" for n in range(400)]


def rows(df):
    return sorted(tuple(row) for row in df.collect())


def signed(numbers):
    return numpy.asarray(numbers, numpy.uint64).view(numpy.int64).tolist()


def expected(queries, held, k):
    """(query, fingerprint, distance) of one process."""
    asked = numpy.unique(queries)
    stream = libidx.Stream(asked, k)
    found = stream.add(held).finish()
    repeated = numpy.repeat(asked, numpy.diff(found.offsets))
    return sorted(zip(signed(repeated), signed(found.fingerprints), found.distances.tolist()))


@pytest.mark.small
def test_fingerprints(spark):
    df = spark.createDataFrame([(i, text) for i, text in enumerate(TEXTS)], "id long, text string").repartition(3)
    made = idx.fingerprint(df, "text")
    assert made.columns == ["id", "text", "fingerprint"]
    fingerprinter = libidx.Fingerprinter()
    found = {row.id: row.fingerprint for row in made.collect()}
    assert [found[i] for i in range(len(TEXTS))] == signed(fingerprinter(TEXTS))
    assert made.schema["fingerprint"].metadata["libidx"] == {"recipe": fingerprinter.recipe, "bits": 64}
    made.write.parquet(os.path.abspath("made"))
    again = spark.read.parquet(os.path.abspath("made"))
    assert again.schema["fingerprint"].metadata == made.schema["fingerprint"].metadata
    other = idx.fingerprint(df, "text", "chars:4")
    for old in other, os.path.abspath("made"):
        with pytest.raises(libidx.InvalidArgumentError, match="'chars:4.*'words:1|'words:1.*'chars:4"):
            idx.match(other if isinstance(old, str) else made, old)
    table = libidx.train(TEXTS, "words:1")
    weighted = idx.fingerprint(df, "text", "words:1;w=tfidf", table=table, bits=32)
    found = {row.id: row.fingerprint for row in weighted.collect()}
    one = libidx.Fingerprinter("words:1;w=tfidf", table=table, bits=32)
    assert [found[i] for i in range(len(TEXTS))] == signed(one(TEXTS))


@pytest.mark.small
@pytest.mark.parametrize("recipe", ["minhash:4", "segments:3"])
def test_several_fingerprints(spark, recipe):
    """Each text has a row for each of its fingerprints, and one that shares any of them is found."""
    texts = [*TEXTS, "", "of its own"]
    df = spark.createDataFrame(list(enumerate(texts)), "id long, text string").repartition(3)
    fingerprinter = libidx.Fingerprinter(recipe)
    held, owners = fingerprinter.several(texts)
    wanted = sorted(zip(owners.tolist(), signed(held)))
    made = idx.fingerprint(df, "text", recipe)
    assert rows(made.select("id", "fingerprint")) == wanted and len(wanted) > len(texts)
    assert made.schema["fingerprint"].metadata["libidx"] == {"recipe": fingerprinter.recipe, "bits": 64}
    new = idx.fingerprint(df.where("id % 50 = 1"), "text", recipe)
    asked = [(id, value) for id, value in wanted if id % 50 == 1]
    expected = sorted((value, value, 0, id, other) for id, value in asked for other, same in wanted if same == value)
    assert rows(idx.match(new, made, 0, new_id="id", old_id="id")) == expected
    shares = {(id, other) for _, _, _, id, other in expected}
    sets = [set(held[owners == row].tolist()) for row in range(len(texts))]
    assert shares == {(a, b) for a in range(1, len(texts), 50) for b in range(len(texts)) if sets[a] & sets[b]}
    with pytest.raises(libidx.InvalidArgumentError, match=f"'words:1.*'{recipe}"):
        idx.match(idx.fingerprint(df, "text"), made)


@pytest.mark.small
def test_batches_of_repeated_rows(monkeypatch):
    """Repeated rows that Arrow does not hold in a batch go on in several."""
    texts = [text * (20 if n % 9 == 0 else 1) for n, text in enumerate(["", *TEXTS, ""])]
    batch = pyarrow.RecordBatch.from_pydict({"id": list(range(len(texts))), "text": texts})
    kind = _columns.Kind(libidx.Fingerprinter("minhash:8").recipe)

    def repeat(part):
        return list(_fingerprint._repeat("text", ["id", "text", "print"], kind, None, iter([part])))

    whole = repeat(batch)
    monkeypatch.setattr(_fingerprint, "MOST_BYTES", 3000)
    parts = repeat(batch)
    assert len(whole) == 1 and max(part.nbytes for part in parts) < 3000 < whole[0].nbytes // 50
    assert pyarrow.Table.from_batches(parts) == pyarrow.Table.from_batches(whole)
    monkeypatch.setattr(_fingerprint, "MOST_BYTES", 1)
    assert {part.num_rows for part in repeat(batch.slice(1, 2))} == {1}
    assert [part.num_rows for part in repeat(batch.slice(0, 1))] == [0]


def write_files(held):
    """The fingerprints in every kind of file that workers read."""
    pieces = numpy.array_split(held, 5)
    pieces[0].tofile("a.u64")
    numpy.save("b.npy", pieces[1])
    os.mkdir("folder")
    pyarrow.parquet.write_table(pyarrow.table({"fingerprint": pieces[2].view(numpy.int64)}), "folder/c.parquet")
    pieces[3].tofile("folder/d.u64")
    open("folder/_SUCCESS", "w").close()
    libidx.build("e.idx", pieces[4], k=3)
    return [os.path.abspath(name) for name in ("a.u64", "b.npy", "folder", "e.idx")]


@pytest.mark.small
def test_index_that_changes(random, monkeypatch):
    """Its parts are of one view: additions may be pending meanwhile, and other segments are refused."""
    held = random.integers(0, 2**63, 5000, numpy.uint64)
    libidx.build("old.idx", held, k=3)
    monkeypatch.setattr(_files, "PIECE", 2000)
    pieces, _ = _files.cut(["old.idx"], None, "fingerprint", 3)

    def read(piece):
        return numpy.concatenate([rows.fingerprints for rows in _files.read(piece, "fingerprint", None)])

    whole = [read(piece) for piece in pieces]
    assert len(whole) == 3 and (numpy.sort(numpy.concatenate(whole)) == numpy.unique(held)).all()
    with libidx.Writer("old.idx") as writer:
        writer.add([7], [9000])
        assert (read(pieces[0]) == whole[0]).all()
    libidx.compact("old.idx", all=True)
    with pytest.raises(ValueError, match="old.idx: it got other segments since tasks began to read it"):
        read(pieces[1])
    monkeypatch.setattr(_files, "PIECE", 9000)
    ((piece, *others), _) = _files.cut(["old.idx"], None, "fingerprint", 3)
    assert len(read(piece)) == 5001 and not others


@pytest.mark.small
def test_matches(spark, random):
    held = near_copies(random, 20000)
    queries = numpy.concatenate([random.choice(held, 500) ^ numpy.uint64(5 << 40), held[:10], held[:10]])
    new, old = frame(spark, queries), frame(spark, held, partitions=7)
    wanted = expected(queries, held, 3)
    assert len(wanted) > 500
    assert rows(idx.match(new, old)) == wanted
    paths = write_files(held)
    assert rows(idx.match(new, paths)) == wanted
    assert rows(idx.match(new, ["file://" + paths[0], paths[1], paths[2], "file://" + paths[3]])) == wanted
    assert rows(idx.match(new, old, 1)) == expected(queries, held, 1)
    assert idx.match(new, old).schema.simpleString() == "struct<query:bigint,fingerprint:bigint,distance:tinyint>"


def with_ids(queries, new_ids, held, old_ids, k):
    mine, theirs = {}, {}
    for numbers, ids, into in (queries, new_ids, mine), (held, old_ids, theirs):
        for number, id in zip(signed(numbers), ids):
            into.setdefault(number, []).append(id)
    return sorted(
        (query, near, distance, new, old)
        for query, near, distance in expected(queries, held, k)
        for new in mine[query]
        for old in theirs[near]
    )


@pytest.mark.small
def test_matches_with_ids(spark, random):
    held = random.choice(near_copies(random, 3000), 5000)
    queries = random.choice(held, 200) ^ numpy.uint64(1)
    old_ids, new_ids = [f"old-{n}" for n in range(len(held))], list(range(len(queries)))
    new, old = frame(spark, queries, new_ids), frame(spark, held, old_ids)
    wanted = with_ids(queries, new_ids, held, old_ids, 3)
    columns = {"new_id": "id", "old_id": "id"}
    assert rows(idx.match(new, old, **columns)) == wanted
    pyarrow.parquet.write_table(
        pyarrow.table({"fingerprint": held.view(numpy.int64), "id": old_ids}), "old.parquet", row_group_size=700
    )
    assert rows(idx.match(new, os.path.abspath("old.parquet"), **columns)) == wanted
    for number, ids in enumerate((old_ids, list(range(len(held))))):
        libidx.build(f"{number}.idx", held, ids if number == 0 else None)
        wanted = with_ids(queries, new_ids, held, ids, 3)
        assert rows(idx.match(new, os.path.abspath(f"{number}.idx"), **columns)) == wanted


def test_parts(spark, random, caplog):
    """New fingerprints that a task can't hold are compared part by part, and it says so."""
    held = near_copies(random, 5000)
    found = idx.match(frame(spark, held), frame(spark, held), memory=1 << 20)
    assert "the old ones are read 1 times" not in caplog.text
    assert rows(found) == expected(held, held, 3)
    many = random.integers(0, 2**63, 300_000, numpy.uint64)
    found = idx.match(frame(spark, many), frame(spark, held), memory=24 << 20)
    assert "300000 new fingerprints are more than a task's memory holds: the old ones are read 2 times" in caplog.text
    assert rows(found) == expected(many, held, 3)


def ball(centre, radius):
    numbers = [0]
    for _ in range(radius):
        numbers = sorted({n ^ (1 << bit) for n in numbers for bit in range(64)} | set(numbers))
    return numpy.array(numbers, numpy.uint64) ^ numpy.uint64(centre)


def test_ball(spark):
    held = ball(0x123456789ABCDEF, 3)
    assert len(held) == 43745
    new = frame(spark, held[:1] * 0 + numpy.uint64(0x123456789ABCDEF))
    found = idx.match(new, frame(spark, held))
    assert rows(found) == expected(new_numbers(new), held, 3)
    assert found.count() == 43745


def new_numbers(df):
    return numpy.array([row.fingerprint for row in df.collect()], numpy.int64).view(numpy.uint64)


def test_empty(spark, random):
    held = near_copies(random, 100)
    none, some = frame(spark, held[:0], []), frame(spark, held, list(range(100)), partitions=40)
    assert rows(idx.match(none, some)) == [] == rows(idx.match(some, none))
    assert rows(idx.match(none, some, new_id="id", old_id="id")) == []
    open("empty.u64", "w").close()
    assert rows(idx.match(some, os.path.abspath("empty.u64"))) == []
    os.mkdir("folder")
    assert rows(idx.match(some, os.path.abspath("folder"))) == []
    texts = spark.createDataFrame([], "text string")
    assert idx.fingerprint(texts, "text").collect() == []


@pytest.mark.small
def test_what_is_refused(spark, random):
    df = frame(spark, near_copies(random, 10), list(range(10)))
    text = spark.createDataFrame([("a", 1.5)], "text string, number double")
    invalid = libidx.InvalidArgumentError
    for call, words in [
        (lambda: idx.match(df, df, fingerprint="print"), "no column 'print': the columns are 'fingerprint', 'id'"),
        (lambda: idx.match(text, df, fingerprint="text"), "'text' is of type string: fingerprints are LONG"),
        (lambda: idx.match(df, df, 17), "k = 17: give 0 to 16"),
        (lambda: idx.match(df, text, old_id="number"), "no column 'fingerprint'"),
        (lambda: idx.match(df, text.selectExpr("1L as fingerprint", "number"), old_id="number"), "'number'.*double"),
        (lambda: idx.fingerprint(text, "number"), "'number' is of type double: texts are strings"),
        (lambda: idx.fingerprint(text.selectExpr("*", "'b' as text"), "text"), "there are 2 columns 'text': rename"),
        (lambda: idx.fingerprint(text, "text", column="number"), "there is a column 'number' already"),
    ]:
        with pytest.raises(invalid, match=words):
            call()
    with pytest.raises(libidx.BadRecipeError):
        idx.fingerprint(text, "text", "word:1")
    with pytest.raises(invalid, match="odd.u64 is a file: an index is a folder"):
        open("odd.u64", "wb").write(b"123")
        idx.match(df, os.path.abspath("odd.u64"), format="index")
    with pytest.raises(libidx.NotFoundError, match="/none: there is no such file"):
        idx.match(df, "/none")
    open("odd.u64", "wb").write(b"123")
    numpy.save("floats.npy", numpy.zeros(3))
    open("other.txt", "w").close()
    open("broken.npy", "w").write("x" * 100)
    pyarrow.parquet.write_table(pyarrow.table({"fingerprint": ["a"]}), "text.parquet")
    libidx.build("k1.idx", [1, 2], k=1)
    for name, error, words in [
        ("odd.u64", invalid, "no multiple of 8"),
        ("floats.npy", invalid, "array of float64"),
        ("broken.npy", invalid, "not a file of NumPy"),
        ("other.txt", invalid, "give format="),
        ("text.parquet", invalid, "column 'fingerprint' is of type string"),
        ("k1.idx", libidx.BadDistanceError, "k = 3: the index .*/k1.idx was built for distances up to 1"),
    ]:
        with pytest.raises(error, match=words):
            idx.match(df, os.path.abspath(name))
    numpy.zeros(3).tofile("raw.u64")
    with pytest.raises(invalid, match="hold no IDs"):
        idx.match(df, os.path.abspath("raw.u64"), old_id="id")


def test_nulls(spark):
    nulls = spark.createDataFrame([(1, "a"), (None, None)], "fingerprint long, text string")
    whole = spark.createDataFrame([(1, "a")], "fingerprint long, text string")
    for call, column in [
        (lambda: idx.match(nulls, whole), "fingerprint"),
        (lambda: idx.match(whole, nulls).collect(), "fingerprint"),
        (lambda: idx.match(whole, whole.union(nulls.where("fingerprint = 1")).union(nulls)).collect(), "fingerprint"),
        (lambda: idx.fingerprint(nulls, "text", column="print").collect(), "text"),
    ]:
        with pytest.raises(Exception, match=f"column '{column}' has nulls: leave them out"):
            call()
