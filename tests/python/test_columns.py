"""What goes in and what comes out: every holder of 64-bit integers and of texts, and results as Arrow."""

import array
import gc
import io

import numpy
import pytest

import libidx

FINGERPRINTS = [6, 7, 2**64 - 1]
IDS = ["a", "ü" * 10, "c"]


@pytest.fixture
def index():
    libidx.build("i", FINGERPRINTS, IDS, by_id=True)
    with libidx.open("i") as index:
        yield index


def holders():
    """The same three numbers in every holder."""
    import pandas
    import polars
    import pyarrow

    plain = numpy.array(FINGERPRINTS, numpy.uint64)
    wide = numpy.zeros((3, 2), numpy.uint64)
    wide[:, 1] = plain
    unaligned = numpy.frombuffer(b"x" + plain.tobytes(), numpy.uint64, offset=1)
    chunks = pyarrow.chunked_array([plain[:1], plain[1:1], plain[1:]])
    return {
        "list": FINGERPRINTS,
        "tuple": tuple(numpy.uint64(n) for n in FINGERPRINTS),
        "array": array.array("Q", FINGERPRINTS),
        "memoryview": memoryview(plain),
        "numpy": plain,
        "signed": plain.view(numpy.int64),
        "read-only": numpy.frombuffer(plain.tobytes(), numpy.uint64),
        "strided": wide[:, 1],
        "reversed": plain[::-1].copy()[::-1],
        "unaligned": unaligned,
        "arrow": pyarrow.array(plain),
        "arrow, signed": pyarrow.array(plain.view(numpy.int64)),
        "arrow, sliced": pyarrow.array([1, 2, *FINGERPRINTS, 3], pyarrow.uint64()).slice(2, 3),
        "arrow, chunks": chunks,
        "arrow, unsliced nulls": pyarrow.array([None, *FINGERPRINTS], pyarrow.uint64()).slice(1),
        "polars": polars.Series(plain),
        "pandas": pandas.Series(plain),
    }


@pytest.mark.parametrize("name", holders())
def test_numbers_of_every_holder(index, name):
    held = holders()[name]
    found = index.lookup(held, 0)
    assert found.fingerprints.tolist() == FINGERPRINTS
    assert found.offsets.tolist() == [0, 1, 2, 3]
    assert index.documents(held).tolist() == [[id] for id in IDS]
    assert libidx.clusters(held, k=1).numbers.tolist() == [0, 1]


@pytest.mark.parametrize(
    "given, error, words",
    [
        (numpy.array([1.0]), TypeError, "floats hold only 53 bits"),
        (numpy.array([1], numpy.float32), TypeError, "floats"),
        (numpy.array([1], object), TypeError, "objects"),
        (numpy.array([1], numpy.uint32), TypeError, "astype"),
        (numpy.array([1], ">u8"), TypeError, "big-endian"),
        (numpy.array([True]), TypeError, "uint64 or int64"),
        (numpy.array([[1]], numpy.uint64), TypeError, "2 dimensions"),
        (numpy.array(["2020"], "datetime64[s]"), TypeError, "array of uint64"),
        (b"12345678", TypeError, "bytes"),
        ("0000000000000007", TypeError, "array of uint64"),
        ([1, -1], ValueError, r"n & \(2\*\*64 - 1\)"),
        ([2**64], ValueError, "not from 0"),
        ([1.5], TypeError, "float"),
        (["7"], TypeError, "integer"),
        (-1, ValueError, "not from 0"),
        (2**64, ValueError, "not from 0"),
        (1.0, TypeError, "float"),
        (numpy.float64(1), TypeError, "float"),
        (None, TypeError, "NoneType"),
        ({1}, TypeError, "set"),
    ],
)
def test_what_is_refused(index, given, error, words):
    for call in index.lookup, index.exists, index.count:
        with pytest.raises(error, match=words):
            call(given)


TEXTS_AS_NUMBERS = r"expected .*integer.*: make fingerprints of texts by Fingerprinter, of hex digits by int\(x, 16\)$"
IDS_AS_NUMBERS = r'expected .*integer.*: give all IDs as int, or make an index of text IDs by id_type="text"$'


@pytest.mark.parametrize(
    "call, words",
    [
        (lambda: libidx.build("x", ["a", "b"]), r"fingerprints: item 0 is <class 'str'>; " + TEXTS_AS_NUMBERS),
        (lambda: libidx.build("x", [1, b"b"]), r"fingerprints: item 1 is <class 'bytes'>; " + TEXTS_AS_NUMBERS),
        (lambda: libidx.build("x", numpy.array(["a"])), r"fingerprints: texts; " + TEXTS_AS_NUMBERS),
        (lambda: libidx.build("x", numpy.array([b"a"])), r"fingerprints: texts; " + TEXTS_AS_NUMBERS),
        (lambda: libidx.Stream(["a"]), r"queries: item 0 is <class 'str'>; " + TEXTS_AS_NUMBERS),
        (lambda: libidx.build("x", [1, None]), "fingerprints: item 1 is <class 'NoneType'>; expected an integer: give"),
        (lambda: libidx.build("x", [1, 2], [1, "b"]), r"ids: item 1 is <class 'str'>; " + IDS_AS_NUMBERS),
        (lambda: libidx.plan("many"), r"count: <class 'str'>; expected an integer: give an int$"),
        (lambda: libidx.build("x", [1, 1.5]), r"fingerprints: item 1: a float holds only 53 bits"),
        (lambda: libidx.build("x", [1, -1]), r"fingerprints: item 1: -1 is not from 0"),
    ],
)
def test_what_is_no_number(call, words):
    """What it is, where, and what to do."""
    with pytest.raises((TypeError, ValueError), match="^" + words):
        call()


def test_arrow_texts_are_no_numbers():
    import pyarrow

    for texts in pyarrow.array(["a"]), pyarrow.chunked_array([["a"], ["b"]]), pyarrow.array([b"a"], pyarrow.binary()):
        with pytest.raises(TypeError, match="^fingerprints: texts; " + TEXTS_AS_NUMBERS):
            libidx.build("x", texts)


@pytest.mark.parametrize("mask", [[False, True, False], [False] * 3, numpy.ma.nomask])
def test_masked_arrays_are_refused(index, mask):
    """Wherever arrays are taken, whatever the mask is: nobody reads it."""
    numbers = numpy.ma.array(numpy.array(FINGERPRINTS, numpy.uint64), mask=mask)
    texts = numpy.ma.array(numpy.array(IDS), mask=mask)
    libidx.build("numbered", FINGERPRINTS, FINGERPRINTS, by_id=True)
    builder = libidx.Builder("b")
    with libidx.Writer("i") as writer, libidx.open("numbered") as numbered:
        of_numbers = [
            index.lookup, index.exists, index.count, index.documents, index.batch, numbered.find, libidx.Stream,
            libidx.Stream([1]).add, libidx.clusters, writer.remove_fingerprints, lambda x: libidx.shard(x, 2),
            lambda x: writer.add(x, IDS), lambda x: writer.check_and_add(x, IDS), lambda x: writer.remove(x, IDS),
            lambda x: builder.add(x, IDS), lambda x: libidx.build("x", x), lambda x: libidx.build("x", FINGERPRINTS, x),
        ]  # fmt: skip
        of_texts = [
            index.find, writer.remove_ids, lambda x: writer.add(FINGERPRINTS, x), libidx.dedup,
            lambda x: libidx.build("x", FINGERPRINTS, x),
        ]  # fmt: skip
        if libidx.HAS_TEXT:
            of_texts += [libidx.Fingerprinter(), lambda x: libidx.Fingerprinter()(IDS, titles=x), libidx.train]
        for calls, array in (of_numbers, numbers), (of_texts, texts):
            for call in calls:
                with pytest.raises(TypeError, match=r"masked array.*: give x.compressed\(\) or x.filled"):
                    call(array)
        for one in numbers[0:1].reshape(()), numpy.ma.masked:
            with pytest.raises(TypeError, match="masked"):
                index.lookup(one)
    assert builder.finish().documents == 0
    assert index.lookup(numbers.data, 0).fingerprints.tolist() == FINGERPRINTS
    assert not index.refresh()


def test_scalars_are_single(index):
    for one in 7, True + 6, numpy.uint64(7), numpy.int64(7), numpy.uint8(7):
        assert index.lookup(one, 0) == [(7, 0)]
    assert index.lookup(numpy.int64(-1), 0) == [(2**64 - 1, 0)]
    assert isinstance(index.lookup([7]), libidx.Matches)
    assert isinstance(index.documents(7), list) and isinstance(index.documents([7]), libidx.Documents)
    assert index.documents(numpy.uint64(7)) == [IDS[1]]


def test_arrow_that_is_refused(index):
    import pyarrow

    for bad, error, words in [
        (pyarrow.array([1, None], pyarrow.uint64()), ValueError, "nulls"),
        (pyarrow.chunked_array([[1], [None]], pyarrow.uint64()), ValueError, "nulls"),
        (pyarrow.array([1.0]), TypeError, "format 'g'"),
        (pyarrow.array([1], pyarrow.int32()), TypeError, "format 'i'"),
        (pyarrow.array(["a"]).dictionary_encode(), TypeError, "dictionary"),
        (pyarrow.table({"a": [1]}), TypeError, "uint64"),
    ]:
        with pytest.raises(error, match=words):
            index.lookup(bad)


@pytest.mark.parametrize("column", [IDS, FINGERPRINTS])
def test_arrow_streams_that_are_read_once(index, column):
    """What finds their type first can't read them again, and says so."""
    import pyarrow

    class Once:
        def __init__(self):
            self.stream = pyarrow.chunked_array([pyarrow.array(column, "string" if column is IDS else "uint64")]).__arrow_c_stream__()

        def __arrow_c_stream__(self, requested_schema=None):
            return self.stream

    assert [len(ids) for ids in index.documents(Once() if column is FINGERPRINTS else FINGERPRINTS).tolist()] == [1] * 3
    libidx.build("once", FINGERPRINTS, Once(), id_type="text" if column is IDS else "u64")
    with pytest.raises(ValueError, match="an Arrow stream that was read before"):
        libidx.build("twice", FINGERPRINTS, Once())
    if column is FINGERPRINTS:
        assert libidx.clusters(Once(), k=1).fingerprints.tolist() == FINGERPRINTS[:2]
    elif libidx.HAS_TEXT:
        with pytest.raises(ValueError, match="an Arrow stream that was read before"):
            libidx.dedup(Once())


def text_holders():
    import pandas
    import polars
    import pyarrow

    return {
        "list": IDS,
        "tuple": tuple(IDS),
        "bytes": [id.encode() for id in IDS],
        "iterable": dict.fromkeys(IDS),
        "numpy": numpy.array(IDS),
        "objects": numpy.array(IDS, object),
        "arrow": pyarrow.array(IDS),
        "arrow, large": pyarrow.array(IDS, pyarrow.large_string()),
        "arrow, binary": pyarrow.array(IDS, pyarrow.binary()),
        "arrow, views": pyarrow.array(IDS).cast(pyarrow.string_view()),
        "arrow, sliced": pyarrow.array(["", *IDS]).slice(1),
        "arrow, chunks": pyarrow.chunked_array([IDS[:1], IDS[1:]]),
        "polars": polars.Series(IDS),
        "pandas": pandas.Series(IDS),
    }


@pytest.mark.parametrize("name", text_holders())
def test_texts_of_every_holder(name):
    libidx.build("t", FINGERPRINTS, text_holders()[name], id_type="text", by_id=True)
    with libidx.open("t") as index:
        assert index.documents(FINGERPRINTS).tolist() == [[id] for id in IDS]
        assert index.find(text_holders()[name]).fingerprints.tolist() == FINGERPRINTS


def test_ids_of_any_bytes():
    ids = [b"\xff\xfe", b"", "\udcff".encode("utf-8", "surrogateescape") + b"x"]
    libidx.build("t", FINGERPRINTS, ids)
    with libidx.open("t") as index:
        found = index.documents(FINGERPRINTS)
        assert found.tolist(bytes) == [[id] for id in ids]
        assert [row[0].encode("utf-8", "surrogateescape") for row in found.tolist(errors="surrogateescape")] == ids
        with pytest.raises(UnicodeDecodeError):
            found.tolist()
        assert index.documents(6, errors="bytes") == [ids[0]]
        assert index.documents(6, errors="surrogateescape") == ["\udcff\udcfe"]
        import pyarrow

        assert pyarrow.table(found)["id"].to_pylist() == ids
    libidx.build("u", FINGERPRINTS, ["\udcff\udcfe", "", "\udcffx"])
    with libidx.open("u") as index:
        assert index.documents(FINGERPRINTS).tolist(bytes) == [[id] for id in ids]


@pytest.mark.parametrize("ids", [[1, 2, 3], None, ["a", 2, "c"], ["a"], "abc", b"abc", [None] * 3])
def test_ids_that_are_refused(ids):
    with pytest.raises((TypeError, ValueError)):
        libidx.build("bad", FINGERPRINTS, ids, id_type="text")
    assert not (libidx.build("good", FINGERPRINTS, IDS) is None)


def test_arrow_out(index):
    import duckdb
    import pandas
    import polars
    import pyarrow

    found = index.lookup(numpy.array([7, 5, 2**64 - 1], numpy.uint64), 1)
    rows = [(0, 7, 0), (0, 6, 1), (1, 7, 1), (2, 2**64 - 1, 0)]
    table = pyarrow.table(found)
    assert [tuple(row.values()) for row in table.to_pylist()] == rows
    assert table.schema.types == [pyarrow.int64(), pyarrow.uint64(), pyarrow.uint8()]
    assert polars.DataFrame(found).rows() == rows
    assert duckdb.sql("select * from found").fetchall() == rows
    assert [tuple(row) for row in pandas.DataFrame(table.to_pandas()).itertuples(index=False)] == rows
    documents = pyarrow.table(index.documents([7, 9, 6]))
    assert documents.to_pydict() == {"query": [0, 2], "id": [IDS[1], IDS[0]]}
    assert pyarrow.table(index.pairs()).to_pydict() == {"a": [6], "b": [7], "distance": [1]}
    clusters = pyarrow.table(index.clusters(alone=True)).to_pydict()
    assert clusters == {
        "cluster": [0, 0, 1],
        "fingerprint": FINGERPRINTS,
        "distance": [0, 1, 0],
        "is_representative": [True, False, True],
        "id": IDS,
    }


def test_arrow_out_of_integers_and_nothing():
    import pyarrow

    libidx.build("n", FINGERPRINTS)
    libidx.build("e", numpy.empty(0, numpy.uint64))
    libidx.build("x", FINGERPRINTS, id_type="none")
    with libidx.open("n") as numbered, libidx.open("e") as empty, libidx.open("x") as bare:
        assert pyarrow.table(numbered.documents(FINGERPRINTS)).to_pydict() == {"query": [0, 1, 2], "id": [0, 1, 2]}
        for result in empty.lookup([]), empty.documents([]), empty.pairs(), empty.clusters():
            assert pyarrow.table(result).num_rows == 0 and len(result) == 0
        assert bare.documents(FINGERPRINTS).counts.tolist() == [0, 0, 0]
        assert bare.clusters(alone=True).tolist() == [None] * 3
        assert pyarrow.table(bare.clusters(alone=True)).column_names[-1] == "is_representative"


def test_columns_outlive_their_results(index):
    found = index.lookup(numpy.array([7] * 1000, numpy.uint64))
    fingerprints, stream = found.fingerprints, found.__arrow_c_stream__()
    assert found.fingerprints is fingerprints
    del found
    index.close()
    gc.collect()
    assert (fingerprints.reshape(-1, 2) == [7, 6]).all()
    del stream


def test_columns_of_results_are_read_only(index):
    """What a caller wrote into offsets, later calls would read other columns by."""
    results = index.lookup([7, 6]), index.documents([7, 6]), index.pairs(), index.clusters()
    for found in results:
        columns = [name for name in dir(found) if not name.startswith("_") and isinstance(getattr(found, name), numpy.ndarray)]
        assert len(columns) >= 3
        for name in columns:
            column = getattr(found, name)
            with pytest.raises(ValueError, match="read-only"):
                column[:] = 0
            with pytest.raises(ValueError):
                column.flags.writeable = True
            with pytest.raises(TypeError):
                io.BytesIO(bytes(8)).readinto(column.base.obj)
    index.exists([7, 6])[:] = False  # it is the caller's


def test_what_results_look_like(index):
    found = index.lookup(numpy.array([7, 5, 2**64 - 1], numpy.uint64), 1)
    assert repr(found) == str(found) == "<libidx.Matches: 4 matches of 3 queries>"
    assert repr(index.lookup([6], 0)) == "<libidx.Matches: 1 match of 1 query>"
    assert repr(index.documents([6, 9])) == "<libidx.Documents: 1 document of 2 fingerprints>"
    assert repr(index.pairs()) == "<libidx.Pairs: 1 pair>"
    assert repr(index.pairs(0)) == "<libidx.Pairs: 0 pairs>"
    assert repr(index.clusters(alone=True)) == "<libidx.Clusters: 3 documents in 2 clusters>"
    assert repr(index.clusters(0)) == "<libidx.Clusters: 0 documents in 0 clusters>"


def test_results_are_made_by_calls_alone():
    for kind in libidx.Matches, libidx.Documents, libidx.Pairs, libidx.Clusters:
        with pytest.raises(TypeError):
            kind()
