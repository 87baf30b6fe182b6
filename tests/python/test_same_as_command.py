"""The package beside the command idx, over random collections with texts that are empty, short or equal: the same answers.

IDX_COMMAND is the command."""

import contextlib
import io
import json
import os
import random
import subprocess

import families
import pytest

import libidx
from libidx import __main__ as command

COMMAND = os.environ.get("IDX_COMMAND")
pytestmark = pytest.mark.skipif(not libidx.HAS_TEXT or COMMAND is None, reason="built without ICU, or IDX_COMMAND is not set")


LETTERS = ("d", "é", '"', "\\", " ")
"""With which IDs begin."""


def make_documents(source, count):
    """IDs and texts, of which some have no words, one, or those of another."""
    texts = families.make_texts(count, source.randrange(1000)) if count else []
    for at in range(len(texts)):
        if source.random() < 0.4:
            texts[at] = source.choice(["", " \n", "–", "w1", "w1 w2", source.choice(texts), f"{source.choice(texts)} {source.choice(texts)}"])
    return [(source.choice(LETTERS) + str(at), text) for at, text in enumerate(texts)]


def write(path, documents):
    with open(path, "w", encoding="utf-8") as file:
        file.writelines(json.dumps({"id": id, "text": text}) + "\n" for id, text in documents)


def run_command(*options):
    done = subprocess.run([COMMAND, "dedup", "--id-field", "id", *options], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


def run_package(*options):
    out, err = io.TextIOWrapper(io.BytesIO(), "utf-8"), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        status = command.main(["dedup", "--id", "id", *options])
    out.flush()
    assert status == 0, err.getvalue()
    return out.buffer.getvalue().decode().splitlines()


FILES = {
    "a.jsonl": '{"text": "one"}\n{"text": "two"}\n', "b.NDJSON": '{"text": "three"}', "c.tsv": "x\tfour\ny\tfive\n",
    "d.json": '{"text": "six"}\n', "e": '\n{"text": "seven"}\n', "f.txt": '{"key": 1}\n{"text": "eight"}\n',
    "g.json": '{"key": "nine"}\n', "h.csv": "text\nten\n", "i.json": '{\n  "key": "eleven"\n}\n', "j.txt": "{twelve}",
    "k.1": "thirteen\n.TH A 1\n", "l.tsv.txt": "x\tfourteen\n",
}  # fmt: skip


@pytest.mark.parametrize("format", [None, "auto", "plain", "jsonl", "tsv"])
def test_formats(folder, format):
    """Files of a folder are read alike, whether their format is found or named, and --format knows the same names."""
    os.mkdir("in")
    for name, text in FILES.items():
        with open(os.path.join("in", name), "w") as file:
            file.write(text)
    options = () if format is None else ("--format", format)
    done = subprocess.run([COMMAND, "dedup", *options, "in"], capture_output=True, text=True)
    out = io.TextIOWrapper(io.BytesIO(), "utf-8")
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(io.StringIO()):
        assert command.main(["dedup", *options, "in"]) == done.returncode
    assert out.buffer.getvalue().decode() == done.stdout and done.stdout.count("\n") >= 12
    done = subprocess.run([COMMAND, "dedup", "--format", "", "in"], capture_output=True, text=True)
    names = done.stderr.partition("one of ")[2].partition(", not ")[0].split(", ")
    assert {*names, "parquet"} == {"auto", *command._inputs.FORMATS}


SHARES = ("50%", "12.5%", "3%", "99.9%", "0.01%", "100%", "1", "2", "7")


def choose_options(source):
    """Options of both commands that go together."""
    options = ["--shingle", source.choice(("1", "2", "5", "chars:3", "chars:8"))]
    options += source.choice(([], ["--resemble", source.choice(("0.0001", "0.3", "0.5", "0.8", "1"))]))
    if source.random() < 0.3:
        options += ["--contained", source.choice(("0.4", "0.75", "1")), "--min-words", source.choice(("0", "2", "9"))]
    return options


@pytest.mark.parametrize("seed", range(60))
def test_what_is_printed(folder, seed):
    """IDs to keep and to drop, clusters, JSON and pairs, also against known texts, and with what is common left out."""
    source = random.Random(seed)
    documents = make_documents(source, source.choice((0, 1, 2, 8, 40, 150)))
    write("texts.jsonl", documents)
    write("known.jsonl", make_documents(source, 30) + [(f"k{id}", text) for id, text in documents[::9]])
    options = choose_options(source)
    if source.random() < 0.5:
        options += ["--representative", "longest"]
    if source.random() < 0.7:
        options += ["--ignore-common", source.choice(SHARES)]
    against = ["--against", "known.jsonl"] if source.random() < 0.4 else []
    for shown in ["--drop"], ["--clusters"], ["--json"]:
        assert run_package(*options, *against, *shown, "texts.jsonl") == run_command(*options, *against, *shown, "texts.jsonl")
    kept = run_package(*options, *against, "texts.jsonl")
    assert sorted(kept) == sorted(run_command(*options, *against, "texts.jsonl"))
    if not against and "--representative" not in options:
        assert run_package(*options, "--pairs", "texts.jsonl") == run_command(*options, "--pairs", "texts.jsonl")


@pytest.mark.parametrize("seed", range(30))
def test_parts_that_are_printed(folder, seed):
    source = random.Random(seed)
    texts = [text for _, text in make_documents(source, 60)]
    breaks = ("\n", "\r\n", "\n\n", " \n \t\n")
    joined = ["".join(source.choice(texts) + source.choice(breaks) for _ in range(source.randrange(5))) for _ in range(60)]
    write("texts.jsonl", [(f"d{at}", text) for at, text in enumerate(joined)])
    options = ["--by", source.choice(("paragraph", "line")), *choose_options(source)]
    if "--min-words" not in options:
        options += source.choice(([], ["--min-words", "2"]))
    if source.random() < 0.3:
        write("known.jsonl", [(f"k{at}", text) for at, text in enumerate(joined[::7])])
        options += ["--against", "known.jsonl"]
    options += source.choice((["--again", "3"], ["--again", "1"], ["--within"], ["--within", "--again", "2"], ["--all-copies"], ["--again", "30%", "--all-copies"], ["--again", "9.5%"], ["--min-document-words", "9", "--again", "2"]))
    for shown in [], ["--drop"], ["--clusters"], ["--json"]:
        assert run_package(*options, *shown, "texts.jsonl") == run_command(*options, *shown, "texts.jsonl"), options


@pytest.mark.parametrize("seed", range(40))
def test_what_contains_a_text(folder, seed):
    """Of documents that have texts within them, some of whose words are others: which, what they contain, and how much."""
    source = random.Random(seed)
    known = make_documents(source, source.choice((1, 10, 40)))
    documents = make_documents(source, 60)
    for at, (id, text) in enumerate(documents):
        words = source.choice(known)[1].split()
        if words and source.random() < 0.6:
            words[source.randrange(len(words))] = "w7"
            documents[at] = id, f"{text} {' '.join(words)} {source.choice(documents)[1]}"
    write("texts.jsonl", documents)
    write("known.jsonl", [(f"k{id}", text) for id, text in known] + [("long", "one two three four five six seven eight")])
    share, width, least = source.choice(("0.0001", "0.5", "0.8", "1")), source.choice(("1", "3", "5", "chars:8")), source.choice((0, 2, 8))
    options = ["--against", "known.jsonl", "--contains", share, "--shingle", width, "--min-words", str(least)]
    for shown in ["--drop"], ["--clusters"], ["--json"]:
        assert run_package(*options, *shown, "texts.jsonl") == run_command(*options, *shown, "texts.jsonl")
    texts, old = [text for _, text in documents], [text for _, text in known] + ["one two three four five six seven eight"]
    found = libidx.dedup(texts, against=old, contains=float(share), shingle=width, min_words=least)
    dropped = [id for (id, _), stays in zip(documents, found.keep.tolist(), strict=True) if not stays]
    assert dropped == run_package(*options, "--drop", "texts.jsonl")
    unit = {"width": int(width.rpartition(":")[2]), "unit": "characters" if ":" in width else "words"}
    for row, number in enumerate(found.known.tolist()):
        alike = libidx.resemblance(texts[row], old[number], **unit) if number >= 0 else 1
        assert found.resemblance[row] == alike
        assert (found.representative[row] == row) == (number < 0) == (found.cluster[row] >= 0)


@pytest.mark.parametrize("seed", range(20))
def test_shares_of_what_is_compared(folder, seed):
    """Where many texts have no words, in the library, with known texts as well."""
    source = random.Random(seed)
    documents, known = make_documents(source, 40), make_documents(source, 20)
    documents = [(id, text if source.random() < 0.5 else "") for id, text in documents]
    write("texts.jsonl", documents)
    write("known.jsonl", known)
    texts, old = [text for _, text in documents], [text for _, text in known]
    for share in SHARES:
        for given, options in (None, []), (old, ["--against", "known.jsonl"]):
            keep = libidx.dedup(texts, 0.5, shingle=2, ignore_common=share, against=given).keep.tolist()
            dropped = run_command("--resemble", "0.5", "--shingle", "2", "--ignore-common", share, "--drop", *options, "texts.jsonl")
            assert [id for (id, _), stays in zip(documents, keep, strict=True) if not stays] == dropped, share


@pytest.mark.parametrize("shingle", ["5", "chars:4"])
def test_an_index_of_texts_is_the_same(folder, shingle):
    """That of the command and that of the package have the same texts and sets, and answer the same."""
    source = random.Random(8)
    documents = make_documents(source, 300)
    write("texts.jsonl", documents)
    given = ["--resemble", "0.6", "--shingle", shingle, "--id-field", "id", "by-command", "texts.jsonl"]
    done = subprocess.run([COMMAND, "build", *given], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    ids, texts = map(list, zip(*documents))
    libidx.build("by-package", texts=texts, ids=ids, resemble=0.6, shingle=shingle)
    with libidx.open("by-command") as one, libidx.open("by-package") as other:
        names = "recipe", "resemble", "sketch", "texts", "members", "documents", "fingerprints"
        assert [getattr(one.info(), name) for name in names] == [getattr(other.info(), name) for name in names]
        assert one.lookup(texts).tolist() == other.lookup(texts).tolist()
        assert one.clusters().ids == other.clusters().ids
        assert one.pairs().a.tolist() == other.pairs().a.tolist() and len(one.pairs().a) > 50
        done = subprocess.run([COMMAND, "pairs", "by-package"], capture_output=True, text=True)
        assert len(done.stdout.splitlines()) == len(one.pairs().a), done.stderr
        done = subprocess.run([COMMAND, "clusters", "--drop", "by-package"], capture_output=True, text=True)
        assert len(done.stdout.splitlines()) == (~one.clusters().keep).sum() > 50, done.stderr
    write("new.jsonl", make_documents(source, 200) + documents[:200])
    for options in ["--clusters"], ["--json"], ["--drop", "--resemble", "0.3"], ["--clusters", "--contained", "0.8"]:
        given = ["--against", "by-command", "new.jsonl", *options]
        assert run_package(*given) == run_command(*given), options
