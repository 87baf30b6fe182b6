"""The command `python -m libidx`: what `python -m libidx.spark` does of many files, on one machine without Spark."""

from __future__ import annotations

import argparse
import gzip
import json
import os
import re
import shutil
import sys
import tempfile
from typing import Any, BinaryIO, Callable, Iterator, Optional, cast

import libidx

from ._progress import Progress, callback

SIZES = {"": 1, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30}
BATCH = 4096
"""Texts that are read at a time."""
LINES = (".jsonl", ".ndjson", ".jsonl.gz", ".ndjson.gz")


class Mistake(Exception):
    """Of the input: its text is a sentence."""


# ---- Inputs ----


class Source:
    """A file of documents. batches: IDs and texts, read anew. keep: writes the documents that are kept to a path."""

    def __init__(self, path: str, text: str, id: Optional[str]) -> None:
        self.path, self.text, self.id = path, text, id

    def batches(self) -> Iterator[tuple[list[str], Any]]:
        """One document, which is the whole file."""
        with open(self.path, "rb") as file:
            yield [self.path], [file.read()]

    def keep(self, kept: list[bool], path: str) -> None:
        if kept[0]:
            shutil.copyfile(self.path, path)


class Lines(Source):
    """JSON Lines, one document a line."""

    def open(self, path: str, mode: str) -> BinaryIO:
        return cast(BinaryIO, gzip.open(path, mode) if path.endswith(".gz") else open(path, mode))

    def batches(self) -> Iterator[tuple[list[str], Any]]:
        ids: list[str] = []
        texts: list[str] = []
        with self.open(self.path, "rb") as file:
            for number, line in enumerate(file, 1):
                place = f"{self.path}:{number}"
                try:
                    record = json.loads(line)
                    texts.append(record[self.text])
                    ids.append(place if self.id is None else str(record[self.id]))
                except (ValueError, TypeError, KeyError) as error:
                    missing = f"there is no field {error}" if isinstance(error, KeyError) else "it is not a JSON object"
                    raise Mistake(f"{place}: {missing}") from None
                if not isinstance(texts[-1], str):
                    raise Mistake(f"{place}: the field {self.text!r} is no string")
                if len(ids) == BATCH:
                    yield ids, texts
                    ids, texts = [], []
        yield ids, texts

    def keep(self, kept: list[bool], path: str) -> None:
        with self.open(self.path, "rb") as source, self.open(path, "wb") as target:
            target.writelines(line for line, stays in zip(source, kept, strict=True) if stays)


class Parquet(Source):
    """A Parquet file, one document a row."""

    def file(self) -> Any:
        from pyarrow import parquet

        file = parquet.ParquetFile(self.path)
        for name in (self.text,) if self.id is None else (self.text, self.id):
            if name not in file.schema_arrow.names:
                raise Mistake(f"{self.path}: there is no column {name!r}: it has {', '.join(file.schema_arrow.names)}")
        return file

    def batches(self) -> Iterator[tuple[list[str], Any]]:
        columns, begin = [self.text] if self.id is None else [self.text, self.id], 0
        for batch in self.file().iter_batches(BATCH, columns=columns):
            texts = batch.column(columns.index(self.text))
            if texts.null_count:
                raise Mistake(f"{self.path}: column {self.text!r} has nulls: leave these rows out")
            if self.id is None:
                ids = [f"{self.path}:{row}" for row in range(begin, begin + len(batch))]
            else:
                ids = [str(value) for value in batch.column(columns.index(self.id)).to_pylist()]
            begin += len(batch)
            yield ids, texts

    def keep(self, kept: list[bool], path: str) -> None:
        import pyarrow
        from pyarrow import parquet

        file, begin = self.file(), 0
        with parquet.ParquetWriter(path, file.schema_arrow) as target:
            for batch in file.iter_batches(BATCH):
                target.write_batch(batch.filter(pyarrow.array(kept[begin : begin + len(batch)], pyarrow.bool_())))
                begin += len(batch)


def find_sources(paths: list[str], text: str, id: Optional[str]) -> list[Source]:
    """Of each file, and of all files in folders."""
    files: list[str] = []
    for path in paths:
        if os.path.isdir(path):
            files += sorted(os.path.join(folder, name) for folder, _, names in os.walk(path) for name in names)
        else:
            files.append(path)
    kinds = [Parquet if f.endswith(".parquet") else Lines if f.endswith(LINES) else Source for f in files]
    return [kind(file, text, id) for kind, file in zip(kinds, files, strict=True)]


# ---- The command ----


def size_of(text: str) -> int:
    found = re.fullmatch(r"(\d+)([KMG]?)", text)
    if found is None:
        raise argparse.ArgumentTypeError(f"{text!r} is no size: give a number of bytes, such as 512M")
    return int(found[1]) * SIZES[found[2]]


def make_parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m libidx", description="Near-duplicates in files.")
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    words = "Keep one of each cluster of documents whose texts resemble each other."
    made = commands.add_parser("dedup", help=words, description=words)
    made.add_argument(
        "input", nargs="+", metavar="INPUT", help="Parquet (.parquet), JSON Lines (.jsonl, .ndjson, also .gz), text"
    )
    made.add_argument("--text", default="text", metavar="NAME", help="column or field of the text (default text)")
    made.add_argument("--id", metavar="NAME", help="column or field of the ID (default: FILE:NUMBER)")
    made.add_argument("--resemble", type=float, metavar="T", help="by how much near-duplicates resemble, 0 to 1")
    made.add_argument("-k", type=int, help="distance in bits (default 3, or what --resemble needs)")
    made.add_argument("--recipe", help="as for idx fingerprint")
    made.add_argument("--min-features", type=int, default=1, metavar="N", help="keep texts that have fewer")
    made.add_argument("--representative", choices=("first", "longest"), default="first", help="which one is kept")
    made.add_argument("--output", metavar="FOLDER", help="make it, with the documents to keep; else print their IDs")
    made.add_argument("--threads", type=int, default=1, metavar="N")
    made.add_argument("--memory", type=size_of, default=0, metavar="SIZE", help="for comparing (default: half of it all)")
    made.add_argument("--tmpdir", metavar="FOLDER")
    made.add_argument("--progress", action="store_true", help="show progress even if this is no terminal")
    return parser


def _write(sources: list[Source], counts: list[int], keep: list[bool], output: str) -> None:
    """Files with the names of the inputs, in a folder that appears when it is complete."""
    names = [os.path.basename(source.path) for source in sources]
    if len(set(names)) < len(names):
        raise Mistake(f"two inputs are called {max(names, key=names.count)!r}: their names must differ for --output")
    parent = os.path.dirname(os.path.abspath(output))
    with tempfile.TemporaryDirectory(prefix=".libidx-", dir=parent) as folder:
        made, begin = os.path.join(folder, "made"), 0
        os.mkdir(made)
        for source, name, count in zip(sources, names, counts, strict=True):
            source.keep(keep[begin : begin + count], os.path.join(made, name))
            begin += count
        os.rename(made, output)


def dedup(given: argparse.Namespace) -> None:
    if given.output is not None and os.path.exists(given.output):
        raise Mistake(f"{given.output} exists: remove it, or give another place")
    sources = find_sources(given.input, given.text, given.id)
    progress: Progress = given.progress or sys.stderr.isatty() or None
    shown: Optional[Callable[[str, int, int], object]] = callback(progress)
    ids: list[str] = []
    counts: list[int] = []

    def read() -> Iterator[Any]:
        first, done = not counts, 0
        for source in sources:
            before = done
            for some, texts in source.batches():
                done += len(some)
                if first and given.output is None:
                    ids.extend(some)
                if shown is not None:
                    shown("reading", done, 0)
                yield texts
            if first:
                counts.append(done - before)

    found = libidx.dedup(
        read,
        given.k,
        resemble=given.resemble,
        representative=given.representative,
        fingerprinter=libidx.Fingerprinter(given.recipe),
        min_features=given.min_features,
        threads=given.threads,
        memory=given.memory,
        tmpdir=given.tmpdir,
        progress=progress,
    )
    keep = found.keep.tolist()
    if given.output is not None:
        _write(sources, counts, keep, given.output)
    else:
        sys.stdout.writelines(f"{id}\n" for id, stays in zip(ids, keep, strict=True) if stays)
    print(f"libidx: {len(keep)} documents: {sum(keep)} to keep, {len(keep) - sum(keep)} to drop", file=sys.stderr)


def main(arguments: Optional[list[str]] = None) -> int:
    given = make_parser().parse_args(arguments)
    try:
        dedup(given)
        return 0
    except (libidx.Error, Mistake) as error:
        print(f"libidx: {getattr(error, 'sentence', error)}", file=sys.stderr)
    except OSError as error:
        print(f"libidx: {error.filename or given.input[0]}: {error.strerror or error}", file=sys.stderr)
    except ImportError as error:
        print(f"libidx: Parquet needs the package pyarrow: {error}", file=sys.stderr)
    return 2


if __name__ == "__main__":
    sys.exit(main())
