"""python -m libidx dedup: files in, files out."""

import bz2
import contextlib
import datetime
import gzip
import io
import json
import lzma
import os
import pathlib
import shutil
import subprocess
import sys
import warnings

import pytest

import libidx
from libidx import __main__ as command

pytestmark = pytest.mark.skipif(not libidx.HAS_TEXT, reason="built without ICU")

WORDS = [f"word{i}" for i in range(300)]
TEXTS = [" ".join(WORDS), " ".join(WORDS[:280]), " ".join(WORDS[::-1]), "short", "other words", " ".join(WORDS[:290])]
KEPT = [0, 2, 3, 4]


def run(*arguments, status=0):
    """The lines of standard output, and standard error. What raises or warns fails the test."""
    out, err = (io.TextIOWrapper(io.BytesIO(), "utf-8", "surrogateescape") for _ in range(2))
    with warnings.catch_warnings(), contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        warnings.simplefilter("error")
        returned = command.main(["dedup", *map(str, arguments)])
    out.flush(), err.flush()
    written = [stream.buffer.getvalue().decode("utf-8", "surrogateescape") for stream in (out, err)]
    assert returned == status, written[1]
    return written[0].splitlines(), written[1]


def refused(*arguments):
    """The sentence of what is refused: nothing is printed or written, and no work was done."""
    before = sorted(pathlib.Path().rglob("*"))
    out, err = run(*arguments, status=2)
    assert out == [] and sorted(pathlib.Path().rglob("*")) == before
    assert err.count("\n") == 1 and err.startswith("libidx: "), err
    return err.removeprefix("libidx: ").rstrip()


def write_lines(path, rows):
    with (gzip.open if path.suffix == ".gz" else open)(path, "wt", encoding="utf-8") as file:
        file.writelines(json.dumps(row) + "\n" for row in rows)


def test_parquet_and_lines(folder):
    import pyarrow
    from pyarrow import parquet

    rows = [{"url": f"u{i}", "text": text, "more": i} for i, text in enumerate(TEXTS)]
    parquet.write_table(pyarrow.Table.from_pylist(rows[:3]), "a.parquet")
    write_lines(folder / "b.jsonl.gz", rows[3:])
    out, err = run("a.parquet", "b.jsonl.gz", "--id", "url", "--resemble", "0.8")
    assert out == [f"u{i}" for i in KEPT]
    assert err.splitlines()[-1] == "libidx: 6 documents: 4 to keep, 2 to drop"
    out, _ = run("a.parquet", "b.jsonl.gz", "--id", "url", "--resemble", "0.8", "--output", "kept", "--progress")
    assert out == []
    assert parquet.read_table("kept/a.parquet").to_pylist() == [rows[0], rows[2]]
    with gzip.open("kept/b.jsonl.gz", "rt") as file:
        assert [json.loads(line) for line in file] == [rows[3], rows[4]]
    assert sorted(path.name for path in folder.iterdir()) == ["a.parquet", "b.jsonl.gz", "kept"]
    assert run("a.parquet", "b.jsonl.gz", "--id", "url")[0] == [f"u{i}" for i in KEPT]


def test_pairs(folder):
    """In the order of the records, with the escapes of IDs, and copies beside the first one."""
    rows = [{"id": f"u{i}" if i else "a\tb", "text": text} for i, text in enumerate([*TEXTS, TEXTS[1]])]
    write_lines(folder / "a.jsonl", [{"text": None}, *rows])
    out, err = run("a.jsonl", "--id", "id", "--pairs", "--resemble", "0.93")
    pairs = (0, 1), (0, 5), (1, 5), (1, 6)
    ids = "\ta\\tb", "u1", "u2", "u3", "u4", "u5", "u6"
    alike = [libidx.resemblance(*(TEXTS[row % 6 if row < 6 else 1] for row in pair)) for pair in pairs]
    assert out == [f"{ids[a]}\t{ids[b]}\t{int(10000 * j) / 10000:.4f}" for (a, b), j in zip(pairs, alike, strict=True)]
    assert alike[3] == 1 and len({*alike}) == 4
    assert err.splitlines()[-1] == f"libidx: 8 documents: {len(out)} pairs"


def test_against(folder):
    write_lines(folder / "a.jsonl", [{"text": text} for text in TEXTS])
    write_lines(folder / "old.jsonl", [{"text": TEXTS[1]}, {"text": "of other words"}, {"text": None}])
    assert run("a.jsonl", "--against", "old.jsonl", "--resemble", "0.9")[0] == [f"a.jsonl:{i}" for i in (3, 4, 5)]
    libidx.build("old.idx", [1], recipe=libidx.Fingerprinter().recipe)
    assert refused("a.jsonl", "--against", "old.idx").startswith("against: old.idx is an index of fingerprints: give texts")


def test_ignore_common(folder):
    write_lines(folder / "a.jsonl", [{"text": f"one licence of all {end}"} for end in ("", "that", "end", "", "end")])
    out, err = run("a.jsonl", "--shingle", "4", "--resemble", "0.4")
    assert out == ["a.jsonl:1"]
    for common in "4", "80%":
        out, err = run("a.jsonl", "--shingle", "4", "--resemble", "0.4", "--ignore-common", common)
        assert out == [f"a.jsonl:{i}" for i in (1, 2, 3, 4)]
        assert err == "libidx: 5 documents: 4 to keep, 1 to drop; 1 common shingles did not count\n"


def test_shingle(folder):
    write_lines(folder / "a.jsonl", [{"text": "misspelling"}, {"text": "mispelling"}])
    assert len(run("a.jsonl", "--resemble", "0.5", "--shingle", "chars:3")[0]) == 1
    assert len(run("a.jsonl", "--resemble", "0.5", "--shingle", "1")[0]) == 2


def test_plain_files(folder):
    (folder / "texts" / "within").mkdir(parents=True)
    for i, text in enumerate(TEXTS):
        (folder / "texts" / ("within" if i % 2 else "") / f"{i}.txt").write_text(text)
    kept = {f"{i}.txt" for i in KEPT}
    out, _ = run("texts", "--resemble", "0.8", "--representative", "longest")
    assert {path.rsplit("/", 1)[1] for path in out} == kept
    run("texts", "--resemble", "0.8", "--output", "kept")
    assert {path.name for path in (folder / "kept").rglob("*.txt")} == kept
    assert (folder / "kept" / "texts" / "0.txt").read_text() == TEXTS[0]
    assert (folder / "kept" / "texts" / "within" / "3.txt").read_text() == TEXTS[3]


# ---- Formats and compression ----


def zstd(data):
    import pyarrow

    sink = pyarrow.BufferOutputStream()
    with pyarrow.CompressedOutputStream(sink, "zstd") as stream:
        stream.write(data)
    return sink.getvalue().to_pybytes()


def unzstd(data):
    import pyarrow

    with pyarrow.CompressedInputStream(pyarrow.BufferReader(data), "zstd") as stream:
        return stream.read()


PACKED = {"": (bytes, bytes), ".gz": (gzip.compress, gzip.decompress), ".bz2": (bz2.compress, bz2.decompress)}
PACKED |= {".xz": (lzma.compress, lzma.decompress), ".zst": (zstd, unzstd)}


@pytest.mark.parametrize("named", [True, False])
@pytest.mark.parametrize("ending", PACKED)
@pytest.mark.parametrize("format", [".jsonl", ".ndjson", ".json", ".tsv", ".txt", ""])
def test_formats(folder, format, ending, named):
    """Formats by name, or by content; compression by content, whatever the name says, and written as it was."""
    pack, unpack = PACKED[ending]
    lines = [json.dumps({"text": text, "id": f"u{i}"}) + "\n" for i, text in enumerate(TEXTS)]
    if format == ".tsv":
        lines = [f"u{i}\t{text}\n" for i, text in enumerate(TEXTS)]
    name = f"a{format}{ending if named else ''}"
    (folder / name).write_bytes(pack("".join(lines).encode()))
    if ending == ".gz":  # and a file of two members
        (folder / name).write_bytes(pack("".join(lines[:2]).encode()) + pack("".join(lines[2:]).encode()))
    assert run(name, "--id", "id")[0] == [f"u{i}" for i in KEPT]
    run(name, "--resemble", "0.8", "--output", "kept")
    assert unpack((folder / "kept" / name).read_bytes()) == "".join(lines[i] for i in KEPT).encode()


@pytest.mark.parametrize("ending", PACKED)
def test_plain_texts_that_are_compressed(folder, ending):
    pack = PACKED[ending][0]
    written = {"0.txt": TEXTS[0].encode(), "1.md": TEXTS[0].encode("utf-16"), "2": b"\xef\xbb\xbf" + TEXTS[0].encode()}
    written["{.txt"] = b"{ this begins as an object does"
    for name, data in written.items():
        (folder / f"{name}{ending}").write_bytes(pack(data))
    assert run(*(name + ending for name in written))[0] == [f"0.txt{ending}", f"{{.txt{ending}"]


def test_what_only_the_command_reads(folder):
    page = b"<!DOCTYPE html><title>a</title>words"
    manual = b".\\\" a comment\n.TH A 1\nwords\n"
    for name, data, kind in [
        ("a.html", b"words", "HTML"),
        ("a.xhtml.gz", gzip.compress(b"words"), "HTML"),
        ("page", b"\n " + page, "HTML"),
        ("page.txt.xz", lzma.compress(page), "HTML"),
        ("a.warc.gz", gzip.compress(b"WARC/1.0\r\n"), "WARC"),
        ("crawl", b"WARC/1.1\r\n", "WARC"),
        ("a.warc.wet.zst", zstd(b"WARC/1.1\r\n"), "WARC"),
        ("a.1", manual, "a manual page"),
        ("a.3pm.gz", gzip.compress(b".so man3/b.3\n"), "a manual page"),
    ]:
        (folder / "pages").mkdir(exist_ok=True)
        (folder / "pages" / name).write_bytes(data)
        wanted = f"pages/{name}: {kind}, which is not read here, but by the command idx: idx dedup "
        assert refused(f"pages/{name}", "--resemble", "0.5", "--output", "o").startswith(
            wanted + f"--resemble 0.5 --write o -- pages/{name}"
        )
        assert refused("pages").startswith(wanted + "-- pages")
        (folder / "pages" / name).unlink()
    for name in "words.1", "b.txt":  # are none
        (folder / name).write_text("plain words of one text\n.TH is not here at the beginning of the file\n")
    assert run("words.1", "b.txt")[0] == ["words.1"]


UNREAD = {
    "a.csv": (b"id,text\na,b\n", "CSV"),
    "a.csv.gz": (gzip.compress(b"id,text\na,b\n"), "CSV"),
    "a.pdf": (b"%PDF-1.7\n", "PDF"),
    "b.txt": (b"%PDF-1.7\n", "PDF"),
    "a.arc": (b"filedesc://", "ARC"),
    "a.docx": (b"PK\3\4", "a document of Word"),
    "a.npy": (b"\x93NUMPY", "fingerprints"),
    "a.tsv": (b"#recipe\twords:1\n", "fingerprints"),
    "a.jsonl.lz4": (b"\x04\x22\x4d\x18", "LZ4"),
    "a.jsonl.Z": (b"\x1f\x9d", "compress"),
    "a.tar.gz": (gzip.compress(b"a.txt"), "tar"),
    "a.json": (b' [{"text": "one"}]', "a JSON array"),
    "b.json": (b'{\n  "text": "one"\n}\n', "JSON of several lines"),
    "a.parquet.gz": (gzip.compress(b"PAR1"), "Parquet within gzip"),
}


@pytest.mark.parametrize("name", UNREAD)
def test_what_is_not_read(folder, name):
    data, kind = UNREAD[name]
    (folder / "in").mkdir()
    (folder / "in" / name).write_bytes(data)
    assert refused(f"in/{name}", "--output", "kept").startswith(f"in/{name}: {kind}: ")
    assert run(f"in/{name}", "--format", "plain")[0] == [f"in/{name}"]
    if kind in ("CSV", "JSON of several lines"):
        assert run("in")[0] == [f"in/{name}"]
        return
    assert refused("in") == f"in: there is nothing in this folder that is read, but 1 × {kind}"
    (folder / "in" / "c").write_text("words")
    (folder / "in" / "d").write_bytes(b"\x7fELF\0")
    out, err = run("in")
    assert out == ["in/c"]
    assert sorted(err.splitlines()[0].removeprefix("libidx: left out of folders: ").split(", ")) == sorted(
        [f"1 × {kind}", "1 × not text"]
    )


def test_format_that_is_named(folder):
    """It decides for all inputs and those of --against, whatever they are called, but not what files in folders are none."""
    lines = [json.dumps({"text": text, "id": f"u{i}"}) for i, text in enumerate(TEXTS)]
    (folder / "in").mkdir()
    (folder / "in" / "a.txt").write_text("\n".join(lines))
    (folder / "in" / "b").write_bytes(b"\x7fELF\0")
    (folder / "old.csv").write_text(lines[3])
    bad = ["in/b:1"]
    options = "--id", "id", "--against", "old.csv", "--format", "jsonl"
    assert run("in/a.txt", "in/b", *options)[0] == [*(f"u{i}" for i in KEPT if i != 3), *bad]
    assert run("in", "--format", "plain")[0] == ["in/a.txt"]
    assert run("in/b", "in/a.txt", "--format", "plain")[0] == ["in/b", "in/a.txt"]
    (folder / "a.jsonl").write_text("a\tone\nb\ttwo\nc\tone\n")
    assert run("a.jsonl", "--format", "tsv")[0] == ["a", "b"]
    assert refused("a.jsonl", "--format", "parquet").startswith("a.jsonl: it is damaged, or no Parquet: ")
    assert refused("a.jsonl", "--format", "warc").endswith("by the command idx: idx dedup --format warc -- a.jsonl")
    names = "auto, plain, jsonl, tsv, warc, html, man, parquet"
    assert refused("a.jsonl", "--format", "csv") == f"--format must be one of {names}, not 'csv'"


def test_what_jobs_leave_in_folders(folder):
    import pyarrow
    from pyarrow import parquet

    for place in "out", "out/lang=en", "out/_temporary/0", "out/_delta_log", "out/.libidx-x":
        (folder / place).mkdir(parents=True)
    for name in "_SUCCESS", "._SUCCESS.crc", ".part-0.parquet.crc", "_metadata", "_committed_12", "_delta_log/0.json":
        (folder / "out" / name).write_text("words of no document")
    for name in "lang=en/part-0.parquet", "_temporary/0/part-1.parquet", ".libidx-x/part-2.parquet":
        parquet.write_table(pyarrow.table({"text": ["one"]}), folder / "out" / name)
    (folder / "out" / "__init__.py").write_text("of which somebody may keep texts")
    out, err = run("out")
    assert out == ["out/__init__.py", "out/lang=en/part-0.parquet:0"] and "left out" not in err
    (folder / "empty").mkdir()
    assert refused("empty") == "empty: there is nothing in this folder that is read"
    os.mkfifo(folder / "pipe")
    assert refused("pipe").startswith("pipe: no regular file: ")


# ---- Bad records ----

FINE = "one two three four five six"
RECORDS = [
    ('{"id": "a", "text": "%s", "n": 14768377071773524949}', "a", ""),
    ('{"id": 14768377071773524949, "text": "1 %s"}', "14768377071773524949", ""),
    ('{"id": -%s, "text": "2 %%s"}' % ("9" * 5000), "-" + "9" * 5000, ""),
    ('{"id": 1.50, "text": "3 %s", "n": [NaN, Infinity, 1e400]}', "1.50", ""),
    ('{"id": "\\ud800", "text": "\\udfff 4 %s"}', "\ufffd", ""),
    ('{"id": "b", "text": "5 %s", "\\u0000": 1}', "b", ""),
    ('{"id": "c", "deep": %s, "text": "6 %%s"}' % ("[" * 100000 + "]" * 100000), "c", ""),
    ('{"id": "d", "deep": %s1%s, "text": "7 %%s"}' % ('{"]": ' * 2048, "}" * 2048), "d", ""),
    ('{"id": "e\\n\\t\\\\\\u001b", "text": "8 %s"}', "\te\\n\\t\\\\\\x1b", ""),
    ('{"id": "", "text": "9 %s"}', "\t", ""),
    ('{"id": "f", "text": "10 \xff%s"}', "f", ""),
    ('{"id": "k\\u007f", "more": "\t\x01", "text": "11 %s"}', "\tk\\x7f", ""),
    ("", None, ""),
    (" \t", None, ""),
    ('{"id": "g", "text": null}', "g", "missing field, or field of another type"),
    ('{"id": "h"}', "h", "missing field, or field of another type"),
    ('{"id": "i", "text": 12}', "i", "missing field, or field of another type"),
    ('{"id": "j", "text": ["%s"]}', "j", "missing field, or field of another type"),
    ('{"id": null, "text": "%s"}', "", "unusable ID"),
    ('{"id": {}, "text": "%s"}', "", "unusable ID"),
    ('{"id": NaN, "text": "%s"}', "", "unusable ID"),
    ('{"text": "%s"}', "", "unusable ID"),
    ('{"id": "l", "text": "%s"', "", "not a JSON object"),
    ('[{"text": "%s"}]', "", "not a JSON object"),
    ("null", "", "not a JSON object"),
    ("[" * 100000, "", "not a JSON object"),
    ('"' + '\\"' * 100000, "", "not a JSON object"),
    ("%s", "", "not a JSON object"),
    ("\xff\xfe\0", "", "not a JSON object"),
]
BAD = {kind: sum(kind == of for _, _, of in RECORDS) for _, _, kind in RECORDS if kind}


@pytest.mark.parametrize("resemble", [[], ["--resemble", "1"]])
def test_bad_records(folder, resemble):
    """Of every record, also of each alone, what becomes of it: it is printed once, and written byte for byte."""
    lines = [record.replace("%s", FINE).encode("latin-1") + b"\n" for record, _, _ in RECORDS]
    (folder / "a.jsonl").write_bytes(b"".join(lines))
    good = [id for _, id, kind in RECORDS if id is not None and not kind]
    last = [id or f"a.jsonl:{number}" for number, (_, id, kind) in enumerate(RECORDS, 1) if kind]
    out, err = run("a.jsonl", "--id", "id", *resemble)
    assert out == good + last
    counted = ", ".join(f"{count} × {kind}" for kind, count in BAD.items())
    assert err.splitlines()[len(BAD) :] == [
        f"libidx: kept bad records, which were not compared: {counted}",
        f"libidx: {len(out)} documents: {len(out)} to keep, 0 to drop",
    ]
    first = {kind: number for number, (_, _, kind) in reversed(list(enumerate(RECORDS, 1))) if kind}
    assert [line.split(": ")[1] for line in err.splitlines()[: len(BAD)]] == [f"a.jsonl:{first[kind]}" for kind in BAD]
    run("a.jsonl", "--id", "id", "--output", "kept", *resemble)
    assert (folder / "kept" / "a.jsonl").read_bytes() == b"".join(line for line in lines if line.strip())
    assert refused("a.jsonl", "--id", "id", "--strict").startswith(f"a.jsonl:{first[next(iter(BAD))]}: ")


def test_equal_records_beside_bad_ones(folder):
    """What is dropped lies on either side of a bad record, which is never compared."""
    lines = [json.dumps({"text": text}) for text in (FINE, FINE)]
    for bad in "{", '{"text": null}', "[]", "\xff":
        (folder / "a.jsonl").write_text("\n".join([bad, lines[0], bad, "", lines[1], bad, FINE]))
        assert run("a.jsonl")[0] == [f"a.jsonl:{n}" for n in (2, 1, 3, 6, 7)]
    (folder / "a.tsv").write_bytes(b"a\t%s\nno tab\n\tno ID\n\nb\t%s\n" % (FINE.encode(), FINE.encode()))
    out, err = run("a.tsv")
    assert out == ["a", "a.tsv:2", "a.tsv:3"]
    assert "1 × no tab after the ID, 1 × unusable ID" in err


@pytest.mark.parametrize("data", [b'{"body": "one"}\n' * 3, b"{\n", b"\xff\n\n"])
def test_all_records_are_bad(folder, data):
    (folder / "a.jsonl").write_bytes(data)
    out, err = run("a.jsonl", status=2)
    assert out == [f"a.jsonl:{number}" for number, line in enumerate(data.split(b"\n"), 1) if line]
    assert err.splitlines()[-1] == "libidx: all records are bad, and none was compared"
    run("a.jsonl", "--output", "kept", status=2)
    assert (folder / "kept" / "a.jsonl").read_bytes() == data.replace(b"\n\n", b"\n")


@pytest.mark.parametrize("format", ["txt", "jsonl", "tsv", "parquet"])
def test_texts_that_are_too_long(folder, monkeypatch, format):
    """Those that the library refuses are kept, by their bytes in UTF-8 and not by those of the line."""
    import pyarrow
    from pyarrow import parquet

    monkeypatch.setattr(command._inputs, "TEXT_MOST", 100)
    texts = ["a" * 100, "b" * 101, "é" * 50, "é" * 51, "a" * 100]
    names = [f"a.{format}:{number + (format != 'parquet')}" for number in range(5)]
    if format == "txt":
        names = [f"{i}.txt" for i in range(5)]
        for name, text in zip(names, texts, strict=True):
            (folder / name).write_text(text)
    elif format == "jsonl":
        write_lines(folder / "a.jsonl", [{"more": "x" * 300, "text": text} for text in texts])
    elif format == "tsv":
        names = [*"01234"]
        (folder / "a.tsv").write_text("".join(f"{i}\t{text}\n" for i, text in enumerate(texts)))
        names[1], names[3] = "1", "3"
    else:
        parquet.write_table(pyarrow.table({"text": texts}), "a.parquet")
    out, err = run(*(names if format == "txt" else [f"a.{format}"]))
    assert out == [names[0], names[2], names[1], names[3]]
    assert "2 × too long" in err


def test_fields_within_others(folder):
    rows = [{"doc": {"text": text, "ids": [0, {"a.b": f"u{i}"}]}, "a.b": text} for i, text in enumerate(TEXTS)]
    write_lines(folder / "a.jsonl", rows)
    for text, id in ("doc.text", "/doc/ids/1/a.b"), ("/doc/text", "/doc/ids/1/a.b"), ("a.b", "/doc/ids/1/a.b"):
        assert run("a.jsonl", "--text", text, "--id", id, "--resemble", "0.8")[0] == [f"u{i}" for i in KEPT]
    assert "there is no field 'doc.texts'" in run("a.jsonl", "--text", "doc.texts", status=2)[1]


@pytest.mark.parametrize("ending", [".gz", ".bz2", ".xz", ".zst"])
@pytest.mark.parametrize("format", ["jsonl", "txt"])
def test_damaged_compression(folder, format, ending):
    """Cut anywhere, or with a byte that is another one: a sentence, or the same records; never a traceback."""
    lines = "".join(json.dumps({"text": f"{i} {text}"}) + "\n" for i, text in enumerate(TEXTS * 40))
    whole = PACKED[ending][0](lines.encode())
    name = f"a.{format}{ending}"
    for at in 7, len(whole) // 2, len(whole) - 5, len(whole) - 1:
        (folder / name).write_bytes(whole[:at])
        sentence = refused(name, "--output", "kept")
        assert sentence.startswith(f"{name}: its compression, "), sentence
    for at in 8, len(whole) // 3:
        (folder / name).write_bytes(whole[:at] + bytes([whole[at] ^ 0x55]) + whole[at + 1 :])
        done = subprocess.run([sys.executable, "-m", "libidx", "dedup", name], capture_output=True, text=True)
        assert done.returncode in (0, 2) and "Traceback" not in done.stderr, done.stderr


# ---- Parquet ----


def columns_of_texts(texts):
    """Columns of all types that hold texts."""
    import pyarrow

    found = {str(kind): pyarrow.array(texts, kind) for kind in (pyarrow.string(), pyarrow.large_string())}
    found["string_view"] = pyarrow.array(texts, pyarrow.string_view())
    binaries = [text if text is None else text.encode() for text in texts]
    found |= {str(kind): pyarrow.array(binaries, kind) for kind in (pyarrow.binary(), pyarrow.large_binary())}
    found["dictionary"] = found["string"].dictionary_encode()
    found["struct"] = pyarrow.StructArray.from_arrays([found["string"]], ["text"])
    found["views"] = pyarrow.StructArray.from_arrays([found["string_view"]], ["text"])
    return found


@pytest.mark.parametrize("codec", ["zstd", "gzip", "none", {"text": "zstd", "more.list.element": "gzip"}])
@pytest.mark.parametrize("kind", columns_of_texts([]))
def test_parquet(folder, kind, codec):
    """Every type of text, with nulls, in several row groups; what is written has the rows, codecs and groups of it."""
    import pyarrow
    from pyarrow import parquet

    texts = [None if i % 7 == 3 else f"{i // 2 if i % 4 < 2 else i} {TEXTS[3 + i % 2 * 0]} {FINE}" for i in range(1000)]
    more = pyarrow.array([None if i % 5 == 0 else [i, None] for i in range(1000)])
    times = pyarrow.array([datetime.datetime(2026, 1, 1)] * 1000, pyarrow.timestamp("us"))
    table = pyarrow.table({"text": columns_of_texts(texts)[kind], "more": more, "time": times})
    table = table.replace_schema_metadata({"made": "by a test"})
    if isinstance(codec, dict) and kind in ("struct", "views"):
        codec = {"text.text": "zstd", "more.list.element": "gzip"}
    times = {"use_deprecated_int96_timestamps": True}
    with parquet.ParquetWriter("a.parquet", table.schema, compression=codec, **times) as writer:
        for begin in range(0, 1000, 300):  # since arrays of views can't be cut by the writer
            some = columns_of_texts(texts[begin : begin + 300])[kind]
            writer.write_table(table.slice(begin, 300).set_column(0, "text", some))
    wanted = libidx.dedup(texts, resemble=0.9)
    keep = wanted.keep.tolist()
    options = "--resemble", "0.9", "--text", "text.text" if kind in ("struct", "views") else "text"
    out, err = run("a.parquet", *options)
    rows = [*(i for i in range(1000) if keep[i] and texts[i]), *(i for i in range(1000) if texts[i] is None)]
    assert out == [f"a.parquet:{row}" for row in rows] and 0 < sum(keep) < 1000
    assert f"{sum(text is None for text in texts)} × null" in err
    run("a.parquet", *options, "--output", "kept")
    found, given = parquet.ParquetFile("kept/a.parquet"), parquet.ParquetFile("a.parquet")
    assert found.read().to_pylist() == [row for row, stays in zip(given.read().to_pylist(), keep, strict=True) if stays]
    assert found.schema_arrow.equals(given.schema_arrow, check_metadata=True)
    groups = [found.metadata.row_group(i) for i in range(found.num_row_groups)]
    assert [group.num_rows for group in groups] == [sum(keep[i : i + 300]) for i in range(0, 1000, 300)]

    def ways(file):
        columns = (file.metadata.row_group(0).column(i) for i in range(file.metadata.num_columns))
        return [(column.path_in_schema, column.compression, column.physical_type) for column in columns]

    assert ways(found) == ways(given) and ways(found)[-1][2] == "INT96"


def test_parquet_on_a_full_disk(folder):
    """It is the output that is named, and not the input, which would be called damaged."""
    import pyarrow
    from pyarrow import parquet

    parquet.write_table(pyarrow.table({"text": ["one"]}), "a.parquet")
    with parquet.ParquetFile("a.parquet") as file, pytest.raises(OSError, match="No space left") as raised:
        libidx._parquet.copy_rows(file, "a.parquet", [True], "/dev/full")
    assert raised.value.filename == "/dev/full"


def test_large_row_groups_are_cut(folder, monkeypatch):
    import pyarrow
    from pyarrow import parquet

    from libidx import _parquet

    monkeypatch.setattr(_parquet, "GROUP_BYTES", 100_000)
    parquet.write_table(pyarrow.table({"text": [f"{i}" for i in range(50_000)]}), "a.parquet")
    with _parquet.open_file("a.parquet") as file:
        _parquet.copy_rows(file, "a.parquet", [True] * 50_000, "b.parquet")
    assert parquet.read_table("b.parquet").equals(parquet.read_table("a.parquet"))
    assert 3 < parquet.ParquetFile("b.parquet").num_row_groups < 10


def test_ids_of_parquet(folder):
    """IDs of every type are printed as idx prints them; those that are null have the place of their row."""
    import decimal
    import uuid

    import pyarrow
    from pyarrow import parquet

    texts = [f"{i} {FINE}" for i in range(3)]
    for values, printed in [
        (pyarrow.array(["a\nb", "", None]), ["\ta\\nb", "\t"]),
        (pyarrow.array(["a\tb\\", "a\\", None], pyarrow.string_view()), ["\ta\\tb\\\\", "a\\"]),
        (pyarrow.array([b"\xff", b"\0\x7f", None]), ["\udcff", "\t\\x00\\x7f"]),
        (pyarrow.array([b"ab", b"cd", None], pyarrow.binary(2)), ["ab", "cd"]),
        (pyarrow.array(["é", "b", None]).dictionary_encode(), ["é", "b"]),
        (pyarrow.array([2**64 - 1, 0, None], pyarrow.uint64()), ["18446744073709551615", "0"]),
        (pyarrow.array([datetime.date(2026, 1, 2), datetime.date(1, 1, 1), None]), ["2026-01-02", "0001-01-01"]),
        (pyarrow.array([decimal.Decimal("1.50"), decimal.Decimal("2"), None]), ["1.50", "2.00"]),
        (pyarrow.array([uuid.UUID(int=1).bytes, uuid.UUID(int=2).bytes, None], pyarrow.binary(16)).cast(pyarrow.uuid()),
         ["00000000-0000-0000-0000-000000000001", "00000000-0000-0000-0000-000000000002"]),
        (pyarrow.array([1, 2, None], pyarrow.timestamp("ns")),
         ["1970-01-01 00:00:00.000000001", "1970-01-01 00:00:00.000000002"]),
    ]:  # fmt: skip
        parquet.write_table(pyarrow.table({"text": texts, "id": values}), "a.parquet")
        out, err = run("a.parquet", "--id", "id")
        assert out == [*printed, "a.parquet:2"], values.type
        assert "1 × unusable ID" in err
    parquet.write_table(pyarrow.table({"text": texts, "id": [[1], [2], [3]]}), "a.parquet")
    assert refused("a.parquet", "--id", "id").startswith("a.parquet: column 'id' is of type list<")


def test_parquet_that_is_refused(folder):
    import pyarrow
    from pyarrow import parquet

    table = pyarrow.table({"text": [FINE], "n": [1], "s": [{"text": FINE, "n": 1}], "l": [[FINE]]})
    parquet.write_table(table, "a.parquet")
    whole = (folder / "a.parquet").read_bytes()
    for text, sentence in [
        ("n", "column 'n' is of type int64, and holds no texts"),
        ("l", "column 'l' is of type list<element: string>, and holds no texts"),
        ("s", "column 's' is of type struct<text: string, n: int64>, and holds no texts"),
        ("s.n", "column 's.n' is of type int64, and holds no texts"),
        ("words", "there is no column 'words': it has text, n, s, l"),
        ("s.words", "there is no column 's.words': 's' has text, n"),
        ("text.words", "there is no column 'text.words': 'text' is of type string"),
        ("/l/0", "there is no column '/l/0': 'l' is of type list<element: string>"),
    ]:
        assert refused("a.parquet", "--text", text, "--output", "kept") == f"a.parquet: {sentence}"
    (folder / "good.jsonl").write_text('{"text": "one"}\n')
    for at in 0, 4, 12, len(whole) // 2, len(whole) - 1:
        (folder / "b.parquet").write_bytes(whole[:at])
        assert refused("good.jsonl", "b.parquet").startswith("b.parquet: it is damaged, or no Parquet: ")
    for at in range(4, len(whole), 23):
        (folder / "b.parquet").write_bytes(whole[:at] + bytes([whole[at] ^ 0xFF]) + whole[at + 1 :])
        with contextlib.suppress(libidx.Error):  # and no other exception, also where resemblance reads again
            libidx.dedup(pathlib.Path("b.parquet"), resemble=0.5)
    (folder / "b.parquet").write_text("no Parquet at all")
    assert refused("b.parquet").startswith("b.parquet: it is damaged, or no Parquet: ")
    texts = pyarrow.array(["one", "two"] * 3).dictionary_encode()
    nested = pyarrow.table({"s": pyarrow.StructArray.from_arrays([texts], ["text"])})
    parquet.write_table(nested, "b.parquet", row_group_size=2)
    assert refused("b.parquet", "--text", "s.text").startswith("b.parquet: pyarrow does not read it: write dictionaries")
    parquet.write_table(table.slice(0, 0), "b.parquet")
    assert run("b.parquet")[1] == "libidx: 0 documents: 0 to keep, 0 to drop\n"


@pytest.mark.parametrize("codec", ["none", "zstd"])
def test_damaged_pages_of_parquet(folder, codec):
    """A byte of the pages may be another one: that is refused, or read as it is, also where rows are written."""
    import pyarrow
    from pyarrow import parquet

    texts = pyarrow.array([f"{i // 2} {FINE}" for i in range(20)])
    few = pyarrow.array([f"{i % 3}" for i in range(20)]).dictionary_encode()
    parquet.write_table(pyarrow.table({"text": texts, "few": few}), "a.parquet", compression=codec)
    whole = (folder / "a.parquet").read_bytes()
    pages = parquet.ParquetFile("a.parquet").metadata.row_group(0).column(1)
    dictionary = range(pages.dictionary_page_offset, pages.dictionary_page_offset + pages.total_compressed_size)
    ends = 0
    for at in [*range(4, dictionary[0], 5), *dictionary]:
        (folder / "a.parquet").write_bytes(whole[:at] + bytes([whole[at] ^ 0x5F]) + whole[at + 1 :])
        out, err = io.TextIOWrapper(io.BytesIO()), io.StringIO()
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            status = command.main(["dedup", "a.parquet", "--text", "few" if at % 2 else "text", "--output", "kept"])
        assert (status == 2) == ("it is damaged, or no Parquet: " in err.getvalue())
        ends += status == 2
        assert status == 2 or (folder / "kept").exists()
        shutil.rmtree("kept", ignore_errors=True)
        assert [path.name for path in folder.iterdir()] == ["a.parquet"]
    assert ends > 10


# ---- Output ----


def test_paths_in_the_output(folder):
    (folder / "in").mkdir()
    for name in "lang=en/part-0.jsonl", "lang=de/part-0.jsonl", "lang=de/gone.jsonl":
        (folder / "in" / name).parent.mkdir(exist_ok=True)
        write_lines(folder / "in" / name, [{"text": name}])
    write_lines(folder / "in" / "lang=de/gone.jsonl", [{"text": "lang=de/part-0.jsonl"}])
    (folder / "in/lang=de/gone.jsonl").rename(folder / "in/lang=de/z.jsonl")
    (folder / "kept").mkdir()  # an empty folder is replaced

    def written(*given):
        run(*given, "--output", folder / "kept")
        files = [path for path in (folder / "kept").rglob("*") if path.is_file()]
        found = sorted(str(path.relative_to(folder / "kept")) for path in files)
        shutil.rmtree(folder / "kept")
        return found

    parts = ["lang=de/part-0.jsonl", "lang=en/part-0.jsonl"]
    assert written("in") == [f"in/{part}" for part in parts]
    assert written("./in//lang=en/part-0.jsonl", "in/lang=de") == [f"in/{part}" for part in parts]
    assert written(folder / "in") == [f"{str(folder / 'in')[1:]}/{part}" for part in parts]
    os.chdir("in/lang=en")
    assert written("../lang=de", "part-0.jsonl") == sorted(["lang=de/part-0.jsonl", "part-0.jsonl"])


def test_output_that_is_refused(folder):
    write_lines(folder / "good.jsonl", [{"text": "one"}])
    (folder / "full").mkdir()
    write_lines(folder / "full" / "good.jsonl", [{"text": "one"}])
    (folder / "bad.jsonl").write_text("{\n")  # which is not even read
    (folder / "bare").mkdir()
    (folder / "link").symlink_to("bare")
    for output, sentence in [
        ("", "--output has an empty argument: give the name of a folder"),
        ("link", "link exists: remove it, or give another place"),
        ("link/", "link/ exists: remove it, or give another place"),
        ("bare/.", "bare/. exists: remove it, or give another place"),
        ("/", "/ exists: remove it, or give another place"),
        ("full", "full exists: remove it, or give another place"),
        ("good.jsonl", "good.jsonl exists: remove it, or give another place"),
        ("none/kept", "none/kept: there is no folder none: make it, or give another place"),
        ("good.jsonl/../kept", "good.jsonl/../kept: there is no folder good.jsonl/..: make it, or give another place"),
        ("/proc/kept/", "/proc/kept/: nothing can be written to /proc: No such file or directory"),
        ("good.jsonl/kept", "good.jsonl/kept: there is no folder good.jsonl: make it, or give another place"),
    ]:
        assert refused("good.jsonl", "bad.jsonl", "--output", output) == sentence
    for inputs in ["good.jsonl", "./good.jsonl"], ["full", "full/good.jsonl"], ["good.jsonl", "full/../good.jsonl"]:
        sentence = refused(*inputs, "bad.jsonl", "--output", "kept")
        assert sentence.startswith("two inputs would be written as ") and "bad.jsonl:1" not in sentence
    assert not [path for path in folder.iterdir() if path.name.startswith(".libidx-")]


def test_output_where_a_file_system_is_mounted(folder):
    write_lines(folder / "a.jsonl", [{"text": "one"}])
    (folder / "mounted").mkdir()
    if subprocess.run(["mount", "-t", "tmpfs", "none", "mounted"], capture_output=True).returncode != 0:
        pytest.skip("nothing can be mounted here")
    try:
        sentence = "a file system is mounted there, which can't be replaced: give a folder within it"
        assert refused("a.jsonl", "--output", "mounted") == f"mounted: {sentence}"
        run("a.jsonl", "--output", "mounted/kept")
    finally:
        subprocess.run(["umount", "mounted"], check=True)


def test_output_is_on_disk(folder, monkeypatch):
    """Each file and folder before the rename, and then what the rename changed."""
    write_lines(folder / "a.jsonl", [{"text": "one"}])
    write_lines(folder / "b.jsonl.gz", [{"text": "two"}])
    steps, rename = [], os.rename
    monkeypatch.setattr(os, "fsync", lambda file: steps.append(pathlib.Path(f"/proc/self/fd/{file}").resolve().name))
    monkeypatch.setattr(os, "rename", lambda made, output: (rename(made, output), steps.append("rename")))
    run("a.jsonl", "b.jsonl.gz", "--output", "kept/")
    assert sorted(steps[:2]) == ["a.jsonl", "b.jsonl.gz"] and steps[2:] == ["made", "rename", folder.name]


def test_other_mistakes(folder):
    write_lines(folder / "good.jsonl", [{"text": "one"}])
    for arguments, sentence in [
        (["good.jsonl", "missing.txt"], "missing.txt: No such file or directory"),
        (["good.jsonl", "--resemble", "2"], "resemblance = 2.0"),
        *(
            (["missing.txt", option, "3"], f"{option} is for fingerprints, and dedup compares texts: libidx.Fingerprinter makes")
            for option in ("-k", "--recipe", "--min-features")
        ),
        (["missing.txt", "--drop", "--json"], "give --drop or --json, not both"),
        (["missing.txt", "--clusters", "--drop"], "give --drop or --clusters, not both"),
        (["missing.txt", "--contains", "0.5"], "--contains needs --against"),
        (["good.jsonl", "--against", "good.jsonl", "--contains", "0"], "contains = 0.0: give one from 0.0001 to 1"),
        (["good.jsonl", "--against", "good.jsonl", "--contains", "1"], "against: all 1 texts are too short to be looked for"),
        *(
            (["missing.txt", "--against", "o", "--contains", "0.5", *more], f"{more[0]} compares texts with each other")
            for more in (["--resemble", "0.5"], ["--contained", "0.5"], ["--ignore-common", "3"], ["--representative", "longest"])
        ),
        *(
            (["missing.txt", "--pairs", option], f"{option} says what to keep, and --pairs lists pairs")
            for option in ("--drop", "--clusters", "--json")
        ),
        (["good.jsonl", "--ignore-common", "x"], "ignore_common = 'x': give a number of texts, or a share such as '0.1%'"),
        (["good.jsonl", "--ignore-common", "0.001"], "ignore_common = '0.001': give a number of texts, or a share such as '"),
        (["missing.txt", "--pairs", "--output", "o"], "--output says what to keep, and --pairs lists pairs"),
        (["missing.txt", "--pairs", "--against", "o"], "--against says what to keep, and --pairs lists pairs"),
        (["good.jsonl", "--shingle", "0"], "shingle = '0': give 1 to 16"),
        (["good.jsonl", "--against", "missing"], "missing: No such file or directory"),
    ]:
        assert refused(*arguments).startswith(sentence)


CHANGES = """
import sys
from libidx import __main__ as command, _inputs
write = command.write
def change(*arguments):
    with open("a.jsonl", "a") as file:
        file.write('{"text": "more"}\\n')
    write(*arguments)
command.write = change
sys.exit(command.main(["dedup", "a.jsonl", "--output", "kept"]))
"""


def test_input_that_changes(folder):
    write_lines(folder / "a.jsonl", [{"text": "one"}])
    done = subprocess.run([sys.executable, "-c", CHANGES], capture_output=True, text=True)
    assert done.returncode == 2
    assert done.stderr == "libidx: a.jsonl: it has changed since it was read: run this again\n"
    assert sorted(path.name for path in folder.iterdir()) == ["a.jsonl"]


# ---- A text in each element of a list ----

CHATS = [
    {"id": "a", "chat": [{"value": "the quick"}, {"value": "brown fox"}, {"from": "x", "value": None}]},
    {"id": "b", "chat": []},
    {"id": "c", "chat": None},
    {"id": "d", "chat": [{"value": "the quick\nbrown fox"}]},
    {"id": "e", "chat": [{"value": None}, None, {"value": "other words"}]},
]


def test_each_element(folder):
    pyarrow = pytest.importorskip("pyarrow")
    from pyarrow import parquet

    odd = [{"id": "f", "chat": [{"value": 7}]}, {"id": "g", "chat": {"*": {"value": "a name of"}}}, {"id": "h", "chat": "x"}]
    write_lines(folder / "a.jsonl", CHATS + [{"id": "i", "chat": [[{"value": "x"}], 7, {"value": "nothing else"}]}] + odd)
    parquet.write_table(pyarrow.Table.from_pylist(CHATS), "a.parquet")
    for text in "/chat/*/value", "chat.*.value":
        out, err = run("a.jsonl", "--text", text, "--id", "id")
        assert out == ["a", "e", "i", "g", "b", "c", "f", "h"]
        assert "1 to drop" in err and f"a.jsonl:2: there is no field {text!r}" in err
        out, err = run("a.parquet", "--text", text, "--id", "id")
        assert out == ["a", "e", "b", "c"] and "1 to drop" in err
    run("a.parquet", "--text", "/chat/*/value", "--output", "kept")
    rows = parquet.read_table("a.parquet").to_pylist()
    assert parquet.read_table("kept/a.parquet").to_pylist() == [row for row in rows if row["id"] != "d"]
    assert "no column 'chat.*.other'" in refused("a.parquet", "--text", "chat.*.other")
    assert "no column 'id.*'" in refused("a.parquet", "--text", "id.*")
    assert "holds no texts" in refused("a.parquet", "--text", "chat.*")
    for name in "a.jsonl", "a.parquet":
        assert "--by cuts texts" in refused(name, "--text", "/chat/*/value", "--by", "line")


def test_each_of_hostile_lists(folder):
    """Deep and huge ones are read like others."""
    deep = "[" * 5000 + '"x"' + "]" * 5000
    huge = ",".join('{"v":"%d"}' % number for number in range(200000))
    lines = ['{"text":[[["%s"]]]}' % ("x " * 9), '{"text":%s}' % deep, '{"text":[[[%s]]]}' % huge, '{"text":[[["x"],7]]}']
    (folder / "a.jsonl").write_text("\n".join(lines))
    out, err = run("a.jsonl", "--text", "text.*.*.*")
    assert out == ["a.jsonl:1", "a.jsonl:4", "a.jsonl:2", "a.jsonl:3"] and "2 × missing field" in err
    assert run("a.jsonl", "--text", "text.*.*.*.v")[0] == ["a.jsonl:3", "a.jsonl:1", "a.jsonl:2", "a.jsonl:4"]


# ---- Links in folders ----


def test_links(folder):
    """A link to a file is read unless the file is read as well, or was; what else links lead to is counted."""
    for name, text in (("docs/a.txt", "one two"), ("docs/sub/b.txt", "three"), ("else/c.txt", "four"), ("else/d.txt", "five")):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    links = {"a": "../docs/a.txt", "c": "../else/c.txt", "c2": "../else/c.txt", "c3": "c2", "folder": "../docs", "loop": "loop",
             "nothing": "nowhere", "null": "/dev/null", "up": ".."}  # fmt: skip
    (folder / "links").mkdir()
    for name, target in links.items():
        (folder / "links" / name).symlink_to(target)
    os.mkfifo(folder / "links" / "pipe")
    os.link(folder / "else" / "d.txt", folder / "links" / "hard")
    kinds = "2 × link to nothing, 2 × no regular file, 2 × link to a folder"
    out, err = run("links")
    assert out == ["links/a", "links/c", "links/hard"]
    assert sorted(err.splitlines()[0].removeprefix("libidx: left out of folders: ").split(", ")) == sorted(
        f"2 × link to a file that is read as well, {kinds}".split(", ")
    )
    assert run("links", "docs")[0] == ["links/c", "links/hard", "docs/a.txt", "docs/sub/b.txt"]
    assert run("links", "else/c.txt")[0] == ["links/a", "links/hard", "else/c.txt"]
    assert run("links", "links/c2")[0] == ["links/a", "links/hard", "links/c2"]
    assert run("docs", "links/a")[0] == ["docs/a.txt", "docs/sub/b.txt"]  # which was named, and so is read as well
    run("links", "docs", "--output", "kept")
    assert sorted(map(str, (folder / "kept").rglob("*.*"))) == [str(folder / "kept" / name) for name in ("docs/a.txt", "docs/sub/b.txt")]
    assert not any(path.is_symlink() for path in (folder / "kept").rglob("*"))
    assert (folder / "kept/links/c").read_text() == "four"
    for name in "folder", "nothing", "loop", "null":
        (folder / name).mkdir()
        (folder / name / name).symlink_to({"folder": "../docs", "nothing": "nowhere", "loop": "loop", "null": "/dev/null"}[name])
        assert f"{name}: there is nothing in this folder that is read, but 1 × " in refused(name)
    (folder / "known").mkdir()
    (folder / "known" / "a").symlink_to("../docs/a.txt")
    assert run("docs", "known")[0] == ["docs/a.txt", "docs/sub/b.txt"]


def test_links_to_parquet(folder):
    pyarrow = pytest.importorskip("pyarrow")
    from pyarrow import parquet

    (folder / "blobs").mkdir()
    (folder / "main").mkdir()
    for number, text in enumerate(TEXTS):
        parquet.write_table(pyarrow.Table.from_pylist([{"text": text}]), f"blobs/{number}")
        (folder / "main" / f"part-{number}.parquet").symlink_to(f"../blobs/{number}")
        (folder / "main" / f"again-{number}").symlink_to(f"../blobs/{number}")
    (folder / "main" / "z.parquet").symlink_to("part-1.parquet")
    assert libidx.dedup(pathlib.Path("main")).keep.tolist() == libidx.dedup(TEXTS).keep.tolist()
