"""Every status of the library is an exception of its own, with a builtin parent of its kind."""

import itertools
import os
import pickle
import re
import resource
from pathlib import Path

import numpy
import pytest
import xxhash

import libidx
from libidx import _errors

FINGERPRINTS = numpy.arange(1000, dtype=numpy.uint64)


def make():
    libidx.build("i", FINGERPRINTS, [f"document {n}" for n in range(1000)])


def damage(name, change):
    """Opens and reads an index one of whose files was changed."""
    make()
    path = next(Path("i").rglob(name))
    change(path)
    with libidx.open("i") as index:
        index.lookup(FINGERPRINTS)
        index.documents(FINGERPRINTS)


def flip(offset):
    def change(path):
        content = bytearray(path.read_bytes())
        content[offset] ^= 1
        path.write_bytes(content)

    return change


def foreign(path):
    libidx.build("other", FINGERPRINTS, ["other"] * 1000)
    path.write_bytes(next(Path("other").rglob(path.name)).read_bytes())


def rewrite(before, after):
    """Opens an index of which a line of the manifest says something else, its checksum included."""
    make()
    manifest = Path("i/manifest")
    lines = manifest.read_bytes()[:-26].replace(before + b"\n", after + b"\n", 1)
    manifest.write_bytes(lines + b"checksum %016x\n" % xxhash.xxh3_64_intdigest(lines))
    libidx.open("i")


def swap_magic(path):
    """As a machine with the other byte order would write the number that LMDB's files begin with."""
    content, sums = bytearray(path.read_bytes()), path.with_name("docs.sum")
    checksums = bytearray(sums.read_bytes())
    for page in 0, 1:
        place = slice(4096 * page + 16, 4096 * page + 20)
        content[place] = content[place][::-1]
        checksum = xxhash.xxh3_64_intdigest(content[4096 * page : 4096 * (page + 1)])
        checksums[64 + 8 * page : 72 + 8 * page] = checksum.to_bytes(8, "little")
    path.write_bytes(content)
    sums.write_bytes(checksums)


def limited(kind, most, call):
    """A call while the system gives no more than so much of something."""
    before = resource.getrlimit(kind)
    resource.setrlimit(kind, (most, before[1]))
    try:
        call()
    finally:
        resource.setrlimit(kind, before)


def without_memory():
    """Sorting more fingerprints than there is memory for."""
    many = numpy.arange(20_000_000, dtype=numpy.uint64)
    mapped = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    limited(resource.RLIMIT_AS, mapped + (32 << 20), lambda: libidx.Stream(many, 1))


def without_access():
    """Root may write everywhere, so it becomes somebody else for a moment."""
    user = os.geteuid()
    Path("closed").mkdir(0o500)
    if user == 0:
        os.seteuid(65534)
    try:
        libidx.build("closed/i", FINGERPRINTS)
    finally:
        os.seteuid(user)


def cancel():
    libidx.build("c", FINGERPRINTS, progress=lambda phase, done, total: False)


def busy():
    make()
    with libidx.Writer("i"):
        libidx.Writer("i")


CASES = {
    100: (lambda: libidx.build("i", [4], bits=2, k=1), ValueError),
    101: (lambda: libidx.build("i", FINGERPRINTS, scheme="what"), ValueError),
    102: (lambda: libidx.build("i", FINGERPRINTS, scheme="4", k=5), ValueError),
    103: (lambda: libidx.Fingerprinter("letters:1"), ValueError),
    104: (lambda: (make(), libidx.open("i").lookup(1, 4)), ValueError),
    200: (lambda: libidx.open("nowhere"), FileNotFoundError),
    201: (lambda: (Path("i").mkdir(), libidx.open("i")), ValueError),
    202: (lambda: (make(), make()), FileExistsError),
    203: (lambda: rewrite(b"idx-index 1", b"idx-index 9"), NotImplementedError),
    204: (lambda: damage("docs.mdb", swap_magic), NotImplementedError),
    205: (lambda: (make(), libidx.open("i").documents([1], max_bytes=3)), OverflowError),
    206: (cancel, libidx.Error),
    207: (busy, BlockingIOError),
    300: (lambda: damage("table-00.tbl", os.unlink), OSError),
    301: (lambda: damage("docs.sum", foreign), OSError),
    302: (lambda: damage("table-00.tbl", lambda path: os.truncate(path, 5000)), OSError),
    303: (lambda: damage("table-00.tbl", flip(100)), OSError),
    304: (lambda: rewrite(b"k 3", b"k 17"), OSError),
    400: (without_memory, MemoryError),
    401: (lambda: (make(), limited(resource.RLIMIT_NOFILE, 5, lambda: libidx.open("i"))), OSError),
    402: (lambda: limited(resource.RLIMIT_FSIZE, 4096, make), OSError),
    403: (without_access, PermissionError),
}


@pytest.mark.parametrize("status", CASES)
def test_status(status):
    call, parent = CASES[status]
    with pytest.raises(libidx.Error) as caught:
        call()
    error = caught.value
    assert error.status == status
    assert type(error) is _errors.BY_STATUS[status] and isinstance(error, parent)
    assert str(error) == error.sentence and len(error.sentence) > 10
    assert isinstance(error, libidx.DamagedError) == (300 <= status < 400)


def test_there_is_an_exception_for_every_status():
    assert CASES.keys() == _errors.BY_STATUS.keys()
    for status, kind in _errors.BY_STATUS.items():
        error = _errors.make(status, 5, "file", 7, "a sentence")
        assert type(error) is kind and issubclass(kind, libidx.Error)
        assert (error.status, error.errno, error.file, error.offset, str(error)) == (status, 5, "file", 7, "a sentence")
        again = pickle.loads(pickle.dumps(error))
        assert type(again) is kind and again.__dict__.keys() == error.__dict__.keys()
        assert (again.status, again.errno, again.file, str(again)) == (status, 5, "file", "a sentence")
    assert issubclass(libidx.OutOfMemoryError, MemoryError)
    assert issubclass(libidx.NoAccessError, PermissionError)
    assert type(_errors.make(999, 0, "", 0, "new")) is libidx.Error


@pytest.mark.parametrize(
    "call, sentence",
    [
        (lambda: libidx.shard([1], 0), "shards = 0: give 1 or more"),
        (lambda: libidx.plan(1000, calibration={}), "calibration: .* is missing: make it with calibrate"),
    ],
)
def test_arguments_refused_in_python(call, sentence):
    with pytest.raises(libidx.InvalidArgumentError) as caught:
        call()
    assert re.fullmatch(sentence, str(caught.value))
    assert (caught.value.status, caught.value.errno, caught.value.file) == (100, None, "")
    assert str(pickle.loads(pickle.dumps(caught.value))) == str(caught.value)


@pytest.mark.parametrize(
    "residence, k, sentence",
    [
        ("unpacked", 17, "k = 17: give 0 to 16"),
        ("unpacked", -1, "k = -1: give 0 to 16"),
        ("directory", 4, 'k = 4: .* give residence="unpacked" too, or omit k'),
        ("all", 3, 'k = 3: .* give residence="unpacked" too, or omit k'),
    ],
)
def test_distances_to_unpack_for(residence, k, sentence):
    make()
    with pytest.raises(libidx.InvalidArgumentError) as caught:
        libidx.open("i", residence=residence, k=k)
    assert re.fullmatch(sentence, str(caught.value))


def replace_nothing():
    make()
    libidx.merge("i", ["i"])


def find_without_map():
    make()
    with libidx.open("i") as index:
        index.find("document 1")


def remove_without_map():
    make()
    with libidx.Writer("i") as writer:
        writer.remove_ids(["document 1"])


@pytest.mark.parametrize(
    "call, ending",
    [
        (lambda: (make(), make()), "ask for it to be replaced (replace=True)"),
        (replace_nothing, "ask for it to be replaced (replace=True)"),
        (find_without_map, "build it with such a map (by_id=True)"),
        (remove_without_map, "build it with such a map (by_id=True)"),
        (lambda: libidx.Fingerprinter("words:1;w=tfidf"), "and give it (table=, as libidx.train makes it)"),
        (lambda: libidx.Fingerprinter("words:1;w=tfidf:74120555b59355ce"), "give that table (table=)"),
        (lambda: libidx.Fingerprinter("words:2;w=tfidf", table=libidx.train(["a"], "words:1")), "v2'"),
    ],
)
def test_arguments_are_called_what_python_calls_them(call, ending):
    """No sentence names an option of the command."""
    if not libidx.HAS_TEXT and ending.endswith(("(table=)", "makes it)", "v2'")):
        pytest.skip("built without ICU")
    with pytest.raises(libidx.Error) as caught:
        call()
    assert str(caught.value).endswith(ending) and "--" not in str(caught.value)
    assert str(pickle.loads(pickle.dumps(caught.value))) == str(caught.value)


def test_no_exception_without_its_fields():
    for kind in {libidx.Error, *_errors.BY_STATUS.values()}:
        with pytest.raises(TypeError):
            kind("a sentence")


def test_the_header_has_no_other_status():
    header = os.environ.get("LIBIDX_HEADER")
    if header is None:
        pytest.skip("LIBIDX_HEADER is not set")
    statuses = {int(n) for n in re.findall(r"^    IDX_[A-Z_]+ = ([1-4]\d\d),", Path(header).read_text(), re.M)}
    assert statuses == set(_errors.BY_STATUS)


def test_where_it_failed():
    with pytest.raises(libidx.NotFoundError) as caught:
        libidx.open(b"nowhere")
    assert caught.value.filename == caught.value.file == "nowhere"
    with pytest.raises(libidx.BadChecksumError) as caught:
        damage("table-00.tbl", flip(4096 + 70))
    assert caught.value.file.endswith("table-00.tbl")


def test_verify():
    make()
    with libidx.open("i") as index:
        assert all(check.error is None and check.sentence is None for check in index.verify())
        path = next(Path("i").rglob("table-00.tbl"))
        flip(4096 + 70)(path)
        bad = [check for check in index.verify() if check.error is not None]
        assert [check.error for check in bad][0] is libidx.BadChecksumError
        assert bad[0].file.endswith("table-00.tbl") and bad[0].sentence
        path.unlink()
        assert libidx.MissingFileError in [check.error for check in index.verify()]
    with pytest.raises(libidx.NotFoundError):
        os.rename("i", "j")
        libidx._core.verify("i")


def test_numbers_below_zero():
    """They are not taken modulo 2^64, nor is what has more bits."""
    make()
    index = libidx.open("i")
    calls = {
        "memory": [
            lambda wrong: libidx.build("j", [1], memory=wrong),
            lambda wrong: libidx.merge("j", ["i"], memory=wrong),
            lambda wrong: libidx.compact("i", memory=wrong),
            lambda wrong: libidx.Stream([1], memory=wrong),
            lambda wrong: index.batch([1], memory=wrong),
            lambda wrong: index.pairs(memory=wrong),
            lambda wrong: index.join(index, memory=wrong),
            lambda wrong: index.clusters(memory=wrong),
        ],
        "max_bytes_per_fingerprint": [
            lambda wrong: libidx.build("j", [1], max_bytes_per_fingerprint=wrong),
            lambda wrong: libidx.plan(9, max_bytes_per_fingerprint=wrong),
        ],
        "shards": [lambda wrong: libidx.shard([1], wrong)],
    }
    if libidx.HAS_TEXT:
        calls["memory"].append(lambda wrong: libidx.dedup(["a"], memory=wrong))
    for name, each in calls.items():
        for call, wrong in itertools.product(each, (-1, 2**64)):
            with pytest.raises(libidx.InvalidArgumentError, match=f"^{name} = {wrong}: give "):
                call(wrong)


def test_verify_where_the_path_is_not_utf8():
    make()
    os.rename(b"i", b"caf\xe9")
    flip(4096 + 70)(next(Path("caf\udce9").rglob("table-00.tbl")))
    with libidx.open(b"caf\xe9") as index:
        bad = [check for check in index.verify() if check.error is not None]
    assert "caf\udce9/" in bad[0].sentence
