"""python -m libidx dedup: files in, files out."""

import gzip
import json
import subprocess
import sys

import pytest

import libidx

pytestmark = pytest.mark.skipif(not libidx.HAS_TEXT, reason="built without ICU")

WORDS = [f"word{i}" for i in range(300)]
TEXTS = [" ".join(WORDS), " ".join(WORDS[:280]), " ".join(WORDS[::-1]), "short", "other words", " ".join(WORDS[:290])]
KEPT = [0, 2, 3, 4]


def run(*arguments, status=0):
    command = [sys.executable, "-m", "libidx", "dedup", *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == status, done.stderr
    assert "Traceback" not in done.stderr
    return done.stdout.splitlines(), done.stderr


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
    by_words_alone = ["a.parquet:0", "b.jsonl.gz:1", "b.jsonl.gz:2"]  # whatever their order
    assert run("a.parquet", "b.jsonl.gz")[0] == by_words_alone


def test_plain_files(folder):
    (folder / "texts" / "within").mkdir(parents=True)
    for i, text in enumerate(TEXTS):
        (folder / "texts" / ("within" if i % 2 else "") / f"{i}.txt").write_text(text)
    kept = {f"{i}.txt" for i in KEPT}
    out, _ = run("texts", "--resemble", "0.8", "--representative", "longest")
    assert {path.rsplit("/", 1)[1] for path in out} == kept
    run("texts", "--resemble", "0.8", "--output", "kept")
    assert {path.name for path in (folder / "kept").iterdir()} == kept
    assert (folder / "kept" / "0.txt").read_text() == TEXTS[0]


def test_mistakes(folder):
    import pyarrow
    from pyarrow import parquet

    write_lines(folder / "a.jsonl", [{"text": "one"}, {"other": "two"}])
    write_lines(folder / "number.jsonl", [{"text": 5}])
    (folder / "bad.jsonl").write_text('{"text": "one"}\n{"text"\n')
    parquet.write_table(pyarrow.table({"body": ["a"], "text": pyarrow.array([None], pyarrow.string())}), "a.parquet")
    (folder / "twice").mkdir()
    write_lines(folder / "twice" / "good.jsonl", [{"text": "one"}])
    write_lines(folder / "good.jsonl", [{"text": "one"}])
    for arguments, sentence in [
        (["a.jsonl"], "a.jsonl:2: there is no field 'text'"),
        (["number.jsonl"], "number.jsonl:1: the field 'text' is no string"),
        (["bad.jsonl"], "bad.jsonl:2: it is not a JSON object"),
        (["a.parquet", "--text", "words"], "a.parquet: there is no column 'words': it has body, text"),
        (["a.parquet"], "a.parquet: column 'text' has nulls: leave these rows out"),
        (["missing.txt"], "missing.txt: No such file or directory"),
        (["good.jsonl", "--output", "twice"], "twice exists: remove it, or give another place"),
        (["good.jsonl", "twice", "--output", "kept"], "two inputs are called 'good.jsonl'"),
        (["good.jsonl", "--resemble", "2"], "resemblance = 2.0"),
    ]:
        out, err = run(*arguments, status=2)
        assert out == [] and err.splitlines()[-1].startswith(f"libidx: {sentence}"), err
    assert not (folder / "kept").exists()
    assert not [path for path in folder.iterdir() if path.name.startswith(".libidx-")]
