"""Pairs, clusters and deduplication on a cluster, beside one process."""

import os
import time
import types

import families
import numpy
import pyarrow
import pytest
from cluster import kill
from conftest import columns, count_bits, frame, near_copies
from test_match import ball, rows, signed

import libidx
import libidx.spark as idx
from libidx.spark import _columns, _connect, _pairs, _resemble


def expected_pairs(held, k):
    libidx.build("pairs.idx", held, k=k, id_type="none", replace=True, scheme=f"{k // 2 + 1}:1:1")
    with libidx.open("pairs.idx") as index:
        found = index.pairs(k)
    return sorted(zip(signed(found.a), signed(found.b), found.distances.tolist()))


@pytest.mark.small
def test_pairs(spark, random):
    held = random.choice(near_copies(random, 6000), 8000)
    df = frame(spark, held)
    for k in 3, 5, 0:
        found = idx.pairs(df, k)
        assert rows(found) == expected_pairs(held, k)
    assert found.schema.simpleString() == "struct<a:bigint,b:bigint,distance:tinyint>"
    assert len(expected_pairs(held, 3)) > 500


def test_pairs_of_fewer_bits(spark, random):
    held = near_copies(random, 3000) >> numpy.uint64(44)
    df = frame(spark, held)
    df = df.withMetadata("fingerprint", {"libidx": {"recipe": "mine", "bits": 20}})
    assert rows(idx.pairs(df, 2)) == expected_pairs(held, 2)


def test_heavy_prefixes(spark, random, monkeypatch, caplog):
    """Prefixes that are too many for a task are cut into pieces, of which each two meet in one task."""
    held = near_copies(random, 9000)
    held[:6000] &= numpy.uint64(2**48 - 1)
    held[:3000] &= numpy.uint64(2**16 - 1)
    monkeypatch.setattr(_pairs, "MOST", 1000)
    monkeypatch.setattr(_pairs, "GATHERED", 1000)
    df = frame(spark, held)
    assert rows(idx.pairs(df)) == expected_pairs(held, 3)
    assert "prefixes have more than 1000 fingerprints, and are cut into pieces" in caplog.text


@pytest.mark.small
@pytest.mark.parametrize("kind", [pyarrow.binary(), pyarrow.large_binary()])
def test_packed_columns(kind):
    """Spark hands over large columns where spark.sql.execution.arrow.useLargeVarTypes is set."""
    held = [numpy.arange(n, n + n % 3, dtype=numpy.uint64) for n in range(9)]
    blobs = pyarrow.array([numbers.tobytes() for numbers in held], kind)
    batch = pyarrow.RecordBatch.from_pydict({"packed": blobs})
    for some, rows in (batch, held), (batch.slice(4, 3), held[4:7]):
        hashes, counts = _columns.read_sets(some, "packed")
        assert hashes.tolist() == numpy.concatenate(rows).tolist()
        assert counts.tolist() == [len(numbers) for numbers in rows]
        assert _columns.unpack_column(some, 1, 2).tolist() == rows[1].tolist()


@pytest.mark.small
def test_many_ids():
    """IDs of all batches may be more than a string column of Arrow holds: their offsets get 64 bits."""
    numbers, names = pyarrow.array([1, 2]), pyarrow.array(["a", "b"])
    parts = pyarrow.StructArray.from_arrays([names, numbers], names=["document", "part"])
    for ids in numbers, names, parts:
        whole = _columns.concatenate([ids, ids[1:]])
        assert whole.to_pylist() == ids.to_pylist() + ids.to_pylist()[1:]
        assert "string" not in str(whole.type).replace("large_string", "")
        assert whole.cast(ids.type).type == ids.type


@pytest.mark.small
def test_no_fingerprints(spark):
    tables = _pairs._make_tables(3, 64)
    division = _pairs.divide(tables, numpy.zeros((4, 1 << _pairs.PREFIX_BITS), numpy.int64), 1000)
    assert len(division.parts) == len(division.keys) == 1
    df = spark.createDataFrame([(1, "", 5)], "id long, text string, fingerprint long")
    assert rows(idx.pairs(df.limit(0))) == []
    assert added(idx.clusters(df, "id", distribute=True)) == [(1, 1, 0, False)]
    assert added(idx.clusters(df.selectExpr("id", "cast(null as long) as fingerprint"), "id")) == [(1, 1, 0, False)]


def test_clusters_of_pairs(spark, random):
    """Chains, stars and random graphs, of numbers and strings, beside a search."""
    chain = [(n, n + 1) for n in range(500)]
    star = [(1000, n) for n in range(1001, 1500)]
    some = [(int(a), int(b)) for a, b in random.integers(2000, 3000, (600, 2))]
    edges = [(a * 7919 % 10007, b * 7919 % 10007) for a, b in chain + star + some]
    least = {}
    for a, b in edges:
        if a != b:
            least[a], least[b] = least.get(a, a), least.get(b, b)
    changed = True
    while changed:
        changed = False
        for a, b in edges + edges[::-1]:
            if a != b and least[a] != least[b]:
                least[a] = least[b] = min(least[a], least[b])
                changed = True
    df = spark.createDataFrame(edges, "a long, b long")
    assert rows(idx.clusters(df)) == sorted(least.items())
    text = df.selectExpr("format_string('%05d', a) as a", "format_string('%05d', b) as b")
    assert rows(idx.clusters(text)) == sorted((f"{a:05}", f"{b:05}") for a, b in least.items())
    assert rows(idx.clusters(df.where("a < 0"))) == []


WORDS = [f"word{n}" for n in range(3000)]


def documents(random, count):
    """Texts of which a third are edited copies, in no order."""
    texts = []
    for n in range(count):
        if n % 3 == 2:
            words = texts[int(random.integers(0, n))].split()
            for _ in range(int(random.integers(0, 3))):
                words[int(random.integers(0, len(words)))] = WORDS[int(random.integers(0, len(WORDS)))]
        else:
            words = [WORDS[i] for i in random.zipf(1.2, 200) % len(WORDS)]
        texts.append(" ".join(words))
    return texts


def expected_clusters(held, ids, k):
    """(ID, the smallest ID of its cluster, the distance, whether it is a duplicate) of one process."""
    found = libidx.clusters(held, ids, k, representative="smallest-id", alone=True)
    names = found.tolist()
    first = [name for name, represents in zip(names, found.is_representative.tolist()) if represents]
    leaders = [first[cluster] for cluster in found.clusters.tolist()]
    return sorted(zip(names, leaders, found.distances.tolist(), (~found.is_representative).tolist()))


def added(df):
    return rows(df.select("id", "representative_id", "distance", "is_duplicate"))


@pytest.mark.small
def test_clusters(spark, random, caplog):
    caplog.set_level("INFO", "libidx.spark")
    texts = documents(random, 900)
    ids = [f"https://example.org/{n}" for n in random.permutation(len(texts)).tolist()]
    df = spark.createDataFrame(list(zip(ids, texts)), "id string, text string").repartition(5)
    held = libidx.Fingerprinter()(texts)
    wanted = expected_clusters(held, ids, 3)
    assert sum(row[3] for row in wanted) > 150
    made = idx.fingerprint(df, "text")
    found = idx.clusters(made, "id", 3)
    assert found.columns == ["id", "text", "fingerprint", "representative_id", "distance", "is_duplicate"]
    assert added(found) == wanted
    assert "clusters: 900 documents, k = 3: one task compares them" in caplog.text
    numbers = made.selectExpr("id", "fingerprint as print")
    for partitions in 1, 7:
        found = idx.clusters(numbers.repartition(partitions), "id", fingerprint="print", distribute=partitions == 7)
        assert added(found) == wanted
        assert found.schema["distance"].dataType.simpleString() == "tinyint"
    assert "many tasks compare them" in caplog.text


def test_integer_ids_and_checkpoints(spark, random):
    spark.sparkContext.setCheckpointDir(os.path.abspath("checkpoints"))
    held = random.choice(near_copies(random, 4000), 5000)
    ids = random.permutation(len(held)).tolist()
    df = frame(spark, held, ids)
    wanted = expected_clusters(held, ids, 3)
    for distribute in False, True:
        assert added(idx.clusters(df, "id", distribute=distribute)) == wanted


def test_texts_without_features(spark):
    df = spark.createDataFrame([("a", ""), ("b", "..."), ("c", "one two"), ("d", "two, one")], "id string, text string")
    found = idx.clusters(idx.fingerprint(df, "text", min_features=1), "id")
    assert added(found) == [
        ("a", "a", 0, False),
        ("b", "b", 0, False),
        ("c", "c", 0, False),
        ("d", "c", 0, True),
    ]
    assert sorted(row.id for row in found.where("fingerprint is null").collect()) == ["a", "b"]
    few = idx.fingerprint(df, "text", min_features=3)
    assert not any(row[3] for row in added(idx.clusters(few, "id")))
    assert rows(idx.clusters(idx.pairs(few.na.drop()))) == []


def test_ball_and_one_fingerprint(spark):
    """A ball of radius 3, and a million documents on its centre: one cluster."""
    centre = 0x123456789ABCDEF
    held = numpy.concatenate([ball(centre, 3), numpy.full(1_000_000, centre, numpy.uint64)])
    df = frame(spark, held, list(range(len(held))))
    for distribute in False, True:
        found = idx.clusters(df, "id", distribute=distribute)
        ids, first, apart = columns(found.select("id", "representative_id", "distance"))
        assert (ids == numpy.arange(len(held))).all() and (first == 0).all()
        assert (apart == count_bits(held ^ held[0])).all()


def expected_texts(rows, resemblance, **options):
    """The same of texts: (ID, that of its representative, resemblance, whether it is a duplicate) of one process."""
    rows = sorted(rows)
    ids, texts = [id for id, _ in rows], [text for _, text in rows]
    found = libidx.dedup(texts, resemble=resemblance, **options)
    wanted = zip(found.representative.tolist(), found.resemblance.tolist(), (~found.keep).tolist())
    return [(id, ids[row], alike, is_duplicate) for id, (row, alike, is_duplicate) in zip(ids, wanted)]


def holds_results(spark):
    """Whether the driver's scheduler still holds, ten seconds later, what it keeps of queries and frees when they end."""
    scheduler = spark._jsparkSession.sparkContext().dagScheduler()
    if "activeQueryToJobs" not in dir(scheduler):  # before Spark 4.3
        return False
    end = time.monotonic() + 10
    while not (freed := scheduler.activeQueryToJobs().isEmpty()) and time.monotonic() < end:
        time.sleep(0.1)
    return not freed


def compared(df):
    return rows(df.select("id", "representative_id", "resemblance", "is_duplicate"))


@pytest.mark.small
@pytest.mark.parametrize("resemblance, distribute", [(0.5, True), (None, None)])
def test_texts(spark, random, monkeypatch, resemblance, distribute):
    """The same as one process, and as a plain program. Nothing stays cached, sent to workers, or in the driver."""
    texts = ["", *families.make_texts(600, int(random.integers(1000))), "!"]
    ids = [f"https://example.org/{n}" for n in random.permutation(len(texts)).tolist()]
    both = list(zip(ids, texts))
    df = spark.createDataFrame(both, "id string, text string").repartition(5)
    spark.catalog.clearCache()
    sent, context = [], type(spark.sparkContext)
    broadcast = context.broadcast
    monkeypatch.setattr(context, "broadcast", lambda *given: sent.append(broadcast(*given)) or sent[-1])
    found = idx.dedup(df, "id", "text", resemble=resemblance, distribute=distribute)
    assert spark._jsparkSession.sharedState().cacheManager().isEmpty()
    assert len(sent) == bool(distribute) and not any(os.path.exists(one._path) for one in sent)
    assert not holds_results(spark)
    assert found.columns == ["id", "text", "representative_id", "resemblance", "is_duplicate"]
    wanted = expected_texts(both, resemblance)
    assert compared(found) == wanted
    sets = [families.shingle(text.replace("!", "")) for _, text in sorted(both)]
    plain = families.keep(sets, str(resemblance or 0.8))
    assert [(wanted[row][0], float(alike)) for row, alike in plain] == [row[1:3] for row in wanted]
    assert 100 < sum(row[3] for row in wanted) < 500


def test_texts_over_few_counters(spark, random, monkeypatch, caplog):
    """Shingles that share a counter cost time, and change nothing; nor do partitions."""
    caplog.set_level("INFO", "libidx.spark")
    texts = families.make_texts(1200, int(random.integers(1000)))
    both = list(zip((random.permutation(len(texts)) - 150).tolist(), texts))
    df = spark.createDataFrame(both, "id long, text string")
    monkeypatch.setattr(_resemble, "UNCOUNTED", 0)
    for resemblance in 0.3, 0.8:
        wanted = expected_texts(both, resemblance)
        for partitions, size, distribute in (1, 3, True), (6, 99, True), (6, 99, False):
            monkeypatch.setattr(_resemble, "BYTES", size)
            given = df.repartition(partitions)
            found = idx.dedup(given, "id", "text", resemble=resemblance, distribute=distribute)
            assert compared(found) == wanted
    said = [record.getMessage() for record in caplog.records if "have shingles in common" in record.getMessage()]
    few, many, same = (int(sentence.split()[1]) for sentence in said[-3:])
    assert few < many == same < 1200


@pytest.mark.small
def test_long_lists(spark, random, monkeypatch, caplog):
    """Lists of a licence that all texts share, of which most resemble no other, are cut into pieces. No pair is compared
    twice, though it is in many lists; nor are copies, or texts of a template that other pairs connect."""
    caplog.set_level("INFO", "libidx.spark")
    for name, value in ("NEAR", 2), ("SHORT", 3), ("PIECE", 16):
        monkeypatch.setattr(_connect, name, value)
    licence = " ".join(f"licence{n}" for n in range(40))
    own = [random.integers(0, 9999, random.integers(3, 25)).tolist() for _ in range(120)]
    texts = [" ".join([licence, *(f"own{n}" for n in numbers)]) for numbers in own]
    template = [f"{licence.replace('licence', 'template')} {n}" for n in range(90)]
    both = list(zip(random.permutation(330).tolist(), texts + texts + template))
    df = spark.createDataFrame(both, "id long, text string").repartition(3)
    wanted = expected_texts(both, 0.7)
    assert compared(idx.dedup(df, "id", "text", resemble=0.7, distribute=True)) == wanted
    near, far = (int(r.getMessage().split()[1]) for r in caplog.records if "pairs are compared" in r.getMessage())
    assert 2 * 80 < near and 100 < far < 1000 - near


@pytest.mark.small
def test_counters_are_found_by_32_bits():
    """However many texts and however much memory there are, the place of a counter is a uint32."""
    rule = _resemble.Rule(0.5, 5, "words")
    assert [_resemble._choose_bits(rule, size, 16 << 30) for size in (0, 10**6, 12 * 10**9, 10**13)] == [10, 19, 32, 32]
    rule = rule._replace(unit="characters")
    assert [_resemble._choose_bits(rule, 10**13, memory) for memory in (1 << 29, 1 << 34, 1 << 40)] == [28, 32, 32]


@pytest.mark.small
def test_batches_of_sets(monkeypatch):
    """Sets that Arrow does not hold in a batch go on in several; one that it can't hold is refused by name."""
    texts = families.make_texts(400, 3)
    batch = pyarrow.RecordBatch.from_pydict({"id": list(range(len(texts))), "text": texts})
    rule = _resemble.Rule(0.5, 5, "words")
    slices = _resemble._add_slices(1 << 17, _resemble._count_shingles(rule, 17, iter([batch])))
    counts = numpy.frombuffer(next(slices)["counts"][0].as_py(), numpy.uint8)
    counters = _resemble.Counters(types.SimpleNamespace(value=counts), 64 - 17, len(texts))
    whole = list(_resemble._leave(rule, counters, iter([batch])))
    monkeypatch.setattr(_resemble, "MOST_BYTES", 3000)
    parts = list(_resemble._leave(rule, counters, iter([batch])))
    assert len(whole) == 1 and len(parts) > 20
    assert pyarrow.Table.from_batches(parts) == pyarrow.Table.from_batches(whole)
    for id, packed in zip(*whole[0].select(["id", "packed"]).to_pydict().values(), strict=True):
        assert numpy.frombuffer(packed, numpy.uint64).tolist() == libidx.shingles(texts[id]).tolist()
    monkeypatch.setattr(_resemble, "MOST_BYTES", 300)
    with pytest.raises(libidx.InvalidArgumentError, match="a text has [0-9]+ shingles, and 37 are the most"):
        list(_resemble._leave(rule, counters, iter([batch])))


def test_common_and_other_shingles_and_ids(spark, random):
    texts = ["one licence of all texts here " + text for text in families.make_texts(300, 7)] + ["one licence of all texts"]
    both = list(zip((random.permutation(len(texts)) - 150).tolist(), texts))
    df = spark.createDataFrame(both, "id long, text string").repartition(3)
    for options in {"shingle": "chars:8"}, {"shingle": 2, "ignore_common": 4}, {"ignore_common": "90%"}:
        for distribute in False, True:
            found = idx.dedup(df, "id", "text", resemble=0.6, distribute=distribute, **options)
            wanted = expected_texts(both, 0.6, **options)
            assert compared(found) == wanted and 10 < sum(row[3] for row in wanted) < 250
    assert compared(idx.dedup(df.where("id > 1000"), "id", "text")) == []
    assert compared(idx.dedup(df.where("id = 1"), "id", "text"))[0][1:] == (1, 1.0, False)


@pytest.mark.small
def test_shares_are_of_texts_with_words(spark, random):
    """As in one process: texts of no words, in any partition, are not among those that a share is of."""
    texts = ["one licence of all texts here " + text for text in families.make_texts(30, 7)] + ["", "...", " "] * 15
    both = list(zip(random.permutation(len(texts)).tolist(), texts))
    df = spark.createDataFrame(both, "id long, text string")
    for common, partitions in ("50%", 1), ("99%", 5), ("60%", 3):
        found = compared(idx.dedup(df.repartition(partitions), "id", "text", 0.3, shingle=2, ignore_common=common))
        assert found == expected_texts(both, 0.3, shingle=2, ignore_common=common)


@pytest.mark.small
def test_what_contains_a_text(spark, random):
    """As in one process, with what is looked for in the order of IDs."""
    items = families.make_texts(20, 3)
    texts = families.make_texts(60, 4) + [f"before {items[n % 20]} after w{n}" for n in range(40)] + [""]
    both = list(zip(random.permutation(len(texts)).tolist(), texts))
    sought = list(zip((random.permutation(20) + 50).tolist(), items))
    df, against = (spark.createDataFrame(some, "id long, text string").repartition(3) for some in (both, sought))
    found = idx.dedup(df, "id", "text", against=against, contains=0.9, shingle=2, min_words=5)
    assert found.columns == ["id", "text", "representative_id", "contains", "is_duplicate"]
    ids, names = sorted(both), sorted(sought)
    wanted = libidx.dedup([text for _, text in ids], against=[text for _, text in names], contains=0.9, shingle=2, min_words=5)
    known = [id if number < 0 else names[number][0] for (id, _), number in zip(ids, wanted.known.tolist())]
    expected = zip([id for id, _ in ids], known, wanted.contains.tolist(), (wanted.known >= 0).tolist())
    assert rows(found.select("id", "representative_id", "contains", "is_duplicate")) == list(expected)
    assert 20 < (wanted.known >= 0).sum() < 60
    for options, sentence in [
        ({"against": against}, "against and contains go together"),
        ({"contains": 0.5}, "against and contains go together"),
        ({"against": against, "contains": 0.5, "resemble": 0.5}, "contains compares no documents with each other"),
        ({"against": against, "contains": 2}, "contains = 2"),
        ({"against": against, "contains": 0.5, "min_words": 10**6}, "against: all 20 texts are too short"),
        ({"against": against.selectExpr("string(id) as id", "text"), "contains": 0.5}, "columns 'id' of both DataFrames"),
        ({"min_words": 5}, "min_words needs contains"),
    ]:
        with pytest.raises(libidx.InvalidArgumentError, match=sentence):
            idx.dedup(df, "id", "text", **options)


def test_one_text_many_times(spark):
    """And a licence that all have in common: each of its shingles is in all texts."""
    licence = " ".join(f"licence{n}" for n in range(40))
    texts = [f"{licence} {n} {' '.join(f'own{n * 31 + i}' for i in range(n % 7))}" for n in range(3000)]
    both = list(enumerate(texts + ["the same text of some words"] * 3000))
    df = spark.createDataFrame(both, "id long, text string").repartition(4)
    for distribute in False, True:
        found = idx.dedup(df, "id", "text", resemble=0.9, distribute=distribute)
        assert compared(found) == expected_texts(both, 0.9)


def make_documents(random):
    """Texts of few different lines and paragraphs, some of which repeat with a word replaced, with all line ends."""
    lines = ["".join(f"{word} " for word in text.split()[:15]) for text in families.make_texts(60, int(random.integers(1000)))]
    lines += ["", "}", "two words", " \t", "five words are in here"]
    ends = ["\n", "\r\n", "\n\n", "\r\n \r\n", ""]
    return ["", *("".join(str(random.choice(lines)) + str(random.choice(ends)) for _ in range(n % 9)) for n in range(250))]


@pytest.mark.small
def test_parts(spark, random):
    """The same as one process, with the texts in the order of their IDs."""
    texts = make_documents(random)
    ids = [f"{n:x}" for n in random.permutation(len(texts)).tolist()]
    df = spark.createDataFrame(list(zip(ids, texts)), "id string, text string").repartition(5)
    df = df.selectExpr("id as idx_id", "*")
    texts, ids = [text for _, text in sorted(zip(ids, texts))], sorted(ids)
    for by, options, distribute in [
        ("paragraph", {"min_document_words": 9, "within": True}, None),
        ("line", {"resemble": 0.5, "min_words": 2, "again": 3, "shingle": 2}, True),
    ]:
        found = idx.dedup_parts(df, "id", "text", by, distribute=distribute, **options)
        wanted = libidx.dedup_parts(texts, by, **options)
        assert found.columns == ["idx_id", "id", "text", "dropped_parts", "cut_text"]
        assert [(row.idx_id, row.cut_text) for row in found.orderBy("id").collect()] == list(zip(ids, wanted.texts))
        parts = rows(found.selectExpr("id", "inline(dropped_parts)"))
        names = [[ids[row] for row in column.tolist()] for column in (wanted.row, wanted.kept_row)]
        others = wanted.part.tolist(), wanted.kept_part.tolist(), wanted.resemblance.tolist()
        assert parts == sorted(zip(names[0], others[0], names[1], *others[1:]))
        assert len(parts) > 100 and any(text is None for text in wanted.texts)


@pytest.mark.small
def test_what_is_refused(spark):
    df = spark.createDataFrame([(1, 5, "a"), (1, 6, "b")], "id long, print long, text string")
    nulls = spark.createDataFrame([(1, None, "a"), (None, 6, None)], "id long, print long, text string")
    for call, words in [
        (lambda: idx.clusters(df, "id", fingerprint="print"), "column 'id' has 1 2 times: IDs must be unique"),
        (lambda: idx.dedup(df, "id", "text", resemble=0), "resemblance = 0"),
        (lambda: idx.dedup(df, "id", "text", shingle=17), "shingle = 17"),
        (lambda: idx.dedup(df, "id", "text", ignore_common=0), "ignore_common = 0"),
        (lambda: idx.dedup_parts(df, "id", "text", resemble=2), "resemblance = 2"),
        (lambda: idx.dedup_parts(df, "id", "text"), "column 'id' has 1 2 times: IDs must be unique"),
        (lambda: idx.dedup_parts(nulls, "id", "text"), "column 'id' has 1 nulls"),
        (lambda: idx.dedup_parts(df, "id", "print"), "column 'print' is of type bigint: texts are strings"),
        (lambda: idx.dedup(df, "id", "text"), "column 'id' has 1 2 times: IDs must be unique"),
        (lambda: idx.dedup(nulls, "id", "text"), "column 'id' has 1 nulls"),
        (lambda: idx.dedup(df, "id", "print"), "column 'print' is of type bigint: texts are strings"),
        (lambda: idx.clusters(df, "text", 17, fingerprint="print"), "k = 17"),
        (lambda: idx.clusters(nulls, "id", fingerprint="print"), "column 'id' has 1 nulls"),
        (lambda: idx.clusters(df, "id", fingerprint="text"), "column 'text' is of type string: fingerprints are LONG"),
        (lambda: idx.clusters(df, "id"), "fingerprint"),
        (lambda: idx.dedup(df.withColumn("distance", df.id), "id", "text"), "a column 'distance' already"),
        (lambda: idx.pairs(df.select("text"), fingerprint="text"), "'text' is of type string"),
        (lambda: idx.clusters(df.selectExpr("id as a", "text as b")), "columns 'a' and 'b' are of two types"),
        (lambda: idx.dedup(df.selectExpr("*", "text as id"), "id", "text"), "there are 2 columns 'id': rename"),
        (lambda: idx.dedup(df.withColumnRenamed("id", "a.id"), "a.id", "text"), "column 'a.id' has a dot in its name"),
        (lambda: idx.dedup(df.withColumnRenamed("print", "a.b"), "id", "text"), "column 'a.b' has a dot in its name"),
    ]:
        with pytest.raises(libidx.InvalidArgumentError, match=words):
            call()
    with pytest.raises(libidx.InvalidArgumentError, match="column 'body' has 1 nulls"):
        idx.dedup(nulls.fillna(2, ["id"]).withColumnRenamed("text", "body"), "id", "body")
    with pytest.raises(ValueError, match="by: 'word', which is none of 'paragraph', 'line'"):
        idx.dedup_parts(df, "id", "text", "word")


def test_killed_workers(spark, cluster, random):
    """Python workers and an executor are killed while pairs are compared; what they left is gone."""
    import threading
    import time

    held = near_copies(random, 300_000)
    df = frame(spark, held, list(range(len(held))))
    spark.sparkContext.setCheckpointDir(os.path.abspath("checkpoints"))
    killed, done = [], threading.Event()

    def kill_some():
        for victims in cluster.python_workers, cluster.executors:
            while not done.wait(0.02):
                busy = list(cluster.folder.glob("*-tmp/**/libidx-pairs-*/*"))
                if busy and victims():
                    time.sleep(0.2)
                    pid = victims()[0]
                    kill(pid)
                    killed.append(pid)
                    time.sleep(3)
                    break

    killer = threading.Thread(target=kill_some, daemon=True)
    killer.start()
    expected = expected_clusters(held, list(range(len(held))), 3)
    for _ in range(8):  # until both came while there was something to kill
        assert added(idx.clusters(df, "id", distribute=True)) == expected
        if len(killed) == 2:
            break
    done.set()
    killer.join()
    assert len(killed) == 2
