"""The examples of the docstrings are right, and there is one for every public function."""

import doctest
import inspect
import pathlib
import pydoc
import re
import shutil
import sys

import numpy
import pytest

import libidx

FINGERPRINTS = numpy.array([6, 7, 2**64 - 1], numpy.uint64)
TEXTS = {"Fingerprinter", "build", "dedup", "dedup_parts", "resemblance", "shingles", "text_pairs", "train"}


def examples():
    finder = doctest.DocTestFinder(exclude_empty=True)
    for name in libidx.__all__:
        if name in TEXTS and not libidx.HAS_TEXT:
            continue
        for test in finder.find(getattr(libidx, name), name, module=False):
            if test.examples and ".__" not in test.name:
                yield test
    for test in finder.find(libidx, "libidx", module=False):
        if test.name == "libidx":
            yield test
    for name in "lookup", "exists", "count", "refresh", "replaced":
        yield from finder.find(getattr(libidx._core.Index, name), f"Index.{name}", module=False)


@pytest.mark.parametrize("test", list(examples()), ids=lambda test: test.name)
def test_example(test):
    if test.name != "libidx":
        libidx.build("crawl.idx", FINGERPRINTS, ["a", "b", "c"], by_id=True)
        test.globs = {"libidx": libidx, "numpy": numpy, "fingerprints": FINGERPRINTS, "index": libidx.open("crawl.idx")}
    else:
        test.globs = {}
    result = doctest.DocTestRunner().run(test)
    assert result.failed == 0 and result.attempted > 0


def test_everything_is_documented():
    names = {test.name for test in examples()}
    for name in libidx.__all__:
        value = getattr(libidx, name)
        if not callable(value):
            continue
        assert value.__doc__, name
        if inspect.isfunction(value):
            assert name in names or (name in TEXTS and not libidx.HAS_TEXT), name
    for name, value in vars(libidx.Index).items():
        if inspect.isfunction(value) and not name.startswith("_"):
            assert f"Index.{name}" in names


def test_help_begins_with_the_functions():
    """pydoc lists classes before functions, so the docstring has the functions; exceptions don't repeat parents."""
    lines = pydoc.plain(pydoc.render_doc(libidx)).splitlines()
    classes = lines.index("CLASSES")
    most = 3400 if sys.version_info < (3, 13) else 4000  # Python 3.13 begins a line for each parameter of long signatures
    assert classes < 70 and len(lines) < most
    listed = {}
    for line in lines[:classes]:
        if found := re.match(r" {8}(\w+)\(([\w, ]*)\)  +[A-Z]", line):
            listed[found[1]] = found[2].split(", ")
    functions = {name for name in libidx.__all__ if inspect.isfunction(getattr(libidx, name))}
    assert listed.keys() == functions
    for name, parameters in listed.items():
        assert list(inspect.signature(getattr(libidx, name)).parameters)[: len(parameters)] == parameters
    for name in libidx.__all__:
        value = getattr(libidx, name)
        if inspect.isclass(value) and issubclass(value, libidx.Error):
            assert name == "Error" or len(pydoc.plain(pydoc.render_doc(value)).splitlines()) < 30, name
    assert list(inspect.signature(libidx.Error).parameters) == ["status", "errno", "file", "offset", "sentence"]


@pytest.mark.skipif(not libidx.HAS_TEXT, reason="built without ICU")
def test_parquet_of_the_man_page():
    """The lines that idx-fingerprint(1) has for Parquet index its documents, by the recipe that the index names."""
    import pyarrow.parquet

    page = (pathlib.Path(__file__).parent / "idx-fingerprint.1").read_text()
    code = re.search(r"^\.Ss Parquet\n.*?^\.Bd [^\n]*\n(.*?)^\.Ed$", page, re.M | re.S)
    assert code and len(code[1].splitlines()) == 3
    texts, urls = ["the quick brown fox", "", "jumps over the lazy dog"], ["a", "b", "c"]
    pyarrow.parquet.write_table(pyarrow.table({"url": urls, "text": texts}), "pages.parquet", row_group_size=2)
    exec(code[1], {})
    with libidx.open("pages.idx") as index:
        made = libidx.Fingerprinter()
        assert index.info().recipe == made.recipe
        assert index.documents(made(texts)).tolist() == [["a"], ["b"], ["c"]]


def test_types(tmp_path):
    """mypy and pyright find nothing wrong with the package as it is used, and stubtest nothing with its stubs."""
    import subprocess

    if shutil.which("mypy", path=sys.exec_prefix + "/bin") is None:
        pytest.skip("mypy is not installed")
    (tmp_path / "used.py").write_text(USED)

    def run(*command):
        done = subprocess.run([sys.executable, "-m", *command], capture_output=True, text=True, cwd=tmp_path)
        assert done.returncode == 0, done.stdout + done.stderr

    run("mypy", "--strict", "used.py")
    mypy = [sys.executable, "-m", "mypy", "--strict", "-p", "libidx"]  # stubs of other packages, and Spark, are not there
    said = subprocess.run(mypy, capture_output=True, text=True, cwd=tmp_path).stdout.splitlines()
    others = re.compile(r"/libidx/spark/|: note: |\[import-(untyped|not-found)\]$|^Found ")
    assert [line for line in said if not others.search(line)] == []
    run("pyright", "--pythonpath", sys.executable, "used.py")
    run("mypy.stubtest", "libidx._core", "libidx._text") if libidx.HAS_TEXT else run("mypy.stubtest", "libidx._core")
    (tmp_path / "wrong.py").write_text(WRONG)
    done = subprocess.run(
        [sys.executable, "-m", "mypy", "--strict", "wrong.py"], capture_output=True, text=True, cwd=tmp_path
    )
    assert done.stdout.count(": error:") == WRONG.count("# error"), done.stdout


USED = """
from typing import List

import numpy
from tqdm import tqdm  # type: ignore[import-untyped, unused-ignore]

import libidx

fingerprints = numpy.array([1, 2], numpy.uint64)
summary: libidx.BuildSummary = libidx.build("i", fingerprints, ["a", "b"], k=2, by_id=True)
with libidx.open("i", residence="all") as index:
    matches: List[libidx.Match] = index.lookup(7, limit=3)
    distances: List[int] = [match.distance for match in matches]
    many: libidx.Matches = index.lookup(fingerprints, threads=2)
    total = int(many.offsets[-1]) + len(many)
    yes: bool = index.exists(7)
    which = index.exists(fingerprints)[0]
    documents = index.documents(fingerprints, limit=2).tolist(bytes)
    first: bytes = documents[0][0]
    found = index.find(["a"]).fingerprints
    index.batch(many.fingerprints, method="sweep", progress=lambda phase, done, total: print(phase))
    index.batch(fingerprints, progress=True)
    index.batch(fingerprints, progress=tqdm())
    clusters = index.clusters(method="star").clusters.max()
with libidx.open("i", residence="unpacked", k=5) as unpacked:
    far: List[libidx.Match] = unpacked.lookup(7, 5)
with libidx.Builder("j") as builder:
    builder.add(fingerprints, ["a", "b"])
with libidx.Writer("j") as writer:
    added, near = writer.check_and_add(fingerprints.view(numpy.int64), ["c", "d"])
with libidx.Stream(fingerprints, 1) as stream:
    streamed: libidx.Matches = stream.add(fingerprints).finish()
ended: bool = stream.closed and builder.closed
prints = libidx.Fingerprinter(bits=32)(["text"], threads=2)
keep = libidx.dedup(["text", "text"]).keep
alike: float = libidx.resemblance("text", b"text", width=3, unit="characters")
hashes = libidx.shingles("text", 2)
alike_rows: List[int] = libidx.text_pairs(["text", "text"], 0.8, shingle="chars:8").a.tolist()
fresh = libidx.dedup(["text"], shingle=3, against=["text"]).known
cut: List[str | bytes | None] = libidx.dedup_parts(["text"], "line", within=True).texts
libidx.build("t", texts=["text", "other"], ids=["a", "b"], resemble=0.8, shingle=3)
with libidx.open("t") as of_texts:
    one: List[tuple[object, float]] = of_texts.lookup("text", resemble=0.9)
    many_alike: libidx.Resembling = of_texts.lookup(["text"], limit=1)
    alike_ids = of_texts.pairs(resemble=0.9).ids
    is_kept = of_texts.clusters(resemble=0.9).keep
with libidx.Writer("t") as text_writer:
    text_writer.add(["more"], ["c"])
    new, alike_ones = text_writer.check_and_add(["more"], ["d"])
    first_alike = alike_ones.resemblances[0]
members = libidx.clusters(fingerprints, ["a", "b"], 2, alone=True).is_representative
try:
    libidx.open("k")
except libidx.NotFoundError as error:
    print(error.status, error.file, error.offset)
"""

WRONG = """
import libidx

index = libidx.open("i", residence="memory")  # error
index.lookup(7.5)  # error
index.lookup(7).offsets  # error
libidx.build("i", [1], id_type="string")  # error
libidx.shingles("a", unit="bytes")  # error
libidx.dedup(["a"], k=3)  # error
libidx.dedup_parts(["a"], by="document")  # error
"""
