"""The command `python -m libidx`: what `python -m libidx.spark` does of many files, on one machine without Spark."""

from __future__ import annotations

import argparse
import contextlib
import errno
import math
import os
import pathlib
import re
import shlex
import sys
import tempfile
from typing import Any, Callable, Iterator, Optional

import libidx

from . import _inputs as _inputs
from ._inputs import Bad, Mistake, OfCommand, Source, Sources, find_sources, list_counts
from ._parquet import has_star
from ._parts import Parts, check_rules, find_parts
from ._progress import Progress, callback
from ._resemblance import Sets, check_least, parse_shingle

SIZES = {"": 1, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30}


# ---- The command ----


def size_of(text: str) -> int:
    """The type of options such as 512M, in bytes."""
    found = re.fullmatch(r"(\d+)([KMG]?)", text)
    if found is None:
        raise argparse.ArgumentTypeError(f"{text!r} is no size: give a number of bytes, such as 512M")
    return int(found[1]) * SIZES[found[2]]


def make_parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m libidx", description="Near-duplicates in files.")
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    words = "Keep one of each cluster of documents whose texts resemble each other."
    bad = "Bad records, such as lines that are not JSON and nulls, are kept, printed last and counted."
    made = commands.add_parser("dedup", help=words, description=f"{words} {bad}")
    made.add_argument(
        "input",
        nargs="+",
        metavar="INPUT",
        help="Parquet (.parquet), JSON Lines (.jsonl, .ndjson, .json), TSV (.tsv: ID, tab, text) or plain text, also "
        "compressed with gzip, bzip2, xz or zstd, and folders of these, where links to files that are not read as well count as files",
    )
    names = "column or field of the"
    made.add_argument("--text", default="text", metavar="NAME", help=f"{names} text: name, a.b or /a/b, or /a/*/b: in each element of a list, joined (default text)")
    made.add_argument("--id", metavar="NAME", help=f"{names} ID, likewise (default: FILE:NUMBER)")
    made.add_argument(
        "--resemble", type=float, metavar="T", help="by how much near-duplicates resemble, 0 to 1 (default 0.8)"
    )
    made.add_argument(
        "--contained",
        metavar="T",
        type=float,
        help="also drop texts that have T or more of their own shingles in one that is kept, 0 to 1; longer ones are kept first",
    )
    made.add_argument(
        "--by",
        choices=("document", "paragraph", "line"),
        default="document",
        help="what is compared, kept and dropped; paragraphs and lines are cut out, the first one stays",
    )
    made.add_argument(
        "--min-words",
        type=int,
        metavar="N",
        help="with --by: keep shorter paragraphs or lines (default 5); with --contained: look for no shorter texts (20)",
    )
    made.add_argument(
        "--min-document-words", type=int, metavar="N", help="with --by: drop what has fewer words left (default 1)"
    )
    made.add_argument(
        "--again",
        metavar="N",
        help="with --by: keep what fewer than N documents have (default 2, or 1 with --within), or a share of them, 30%%",
    )
    made.add_argument("--all-copies", action="store_true", help="with --by: drop the first copy as well, of what two documents have, or N")
    made.add_argument("--within", action="store_true", help="with --by: also drop what repeats within a document")
    made.add_argument(
        "--shingle", metavar="N", help="what they have in common: N words in a row (default 5), or chars:N characters"
    )
    made.add_argument(
        "--ignore-common", metavar="N", help="leave out what more than N texts have, or a share of them, such as 0.1%%"
    )
    made.add_argument(
        "--against",
        metavar="PLACE",
        help="first drop what resembles a text of this file or folder of texts, or is near to a document of this index",
    )
    made.add_argument("-k", type=int, help="compare fingerprints instead of texts: their distance in bits")
    made.add_argument("--recipe", help="with -k: as for idx fingerprint")
    made.add_argument("--min-features", type=int, metavar="N", help="with -k: keep texts that have fewer (default 1)")
    made.add_argument("--representative", choices=("first", "longest"), default="first", help="which one is kept")
    made.add_argument(
        "--output",
        metavar="FOLDER",
        help="make it, with the records to keep, in files with the paths of the inputs; else print IDs",
    )
    made.add_argument(
        "--pairs", action="store_true", help="print all pairs that resemble each other instead: ID, ID, resemblance, and with --contained that share"
    )
    made.add_argument("--strict", action="store_true", help="end with status 2 at the first bad record")
    made.add_argument("--threads", type=int, default=1, metavar="N")
    made.add_argument(
        "--memory", type=size_of, default=0, metavar="SIZE", help="for comparing (default: half of the free memory)"
    )
    made.add_argument("--tmpdir", metavar="FOLDER")
    made.add_argument("--progress", action="store_true", help="show progress even if this is no terminal")
    return parser


def say(sentence: str) -> None:
    print(f"libidx: {sentence}", file=sys.stderr, flush=True)


# ---- Records ----


class Read:
    """What was read: IDs, how many records each file has, and the rows of bad records, which are not compared."""

    def __init__(self, with_ids: bool, strict: bool) -> None:
        self.with_ids, self.strict = with_ids, strict
        self.ids: list[bytes] = []
        self.counts: list[int] = []
        self.bad: list[int] = []
        self.kinds: dict[str, int] = {}

    def add_bad(self, row: int, bad: Bad) -> None:
        """Counts a bad record, and reports the first of its kind."""
        if self.strict:
            raise Mistake(bad.sentence)
        if bad.kind not in self.kinds:
            say(bad.sentence)
        self.kinds[bad.kind] = self.kinds.get(bad.kind, 0) + 1
        self.bad.append(row)


def read_texts(sources: list[Source], read: Read, shown: Optional[Callable[[str, int, int], object]]) -> Iterator[Any]:
    """The texts of all files, in batches. What else is read of them goes into `read`."""
    done = 0
    for source in sources:
        before = done
        for batch in source.batches():
            if read.with_ids:
                read.ids.extend(batch.ids)
            for row, bad in batch.bad.items():
                read.add_bad(done + row, bad)
            done += len(batch.ids)
            if shown is not None:
                shown("reading", done, 0)
            yield batch.texts
        read.counts.append(done - before)


# ---- Output ----

CONTROL, ESCAPED = re.compile(rb"[\0-\x1f\x7f]"), re.compile(rb"[\0-\x1f\x7f\\]")
LETTERS = {b"\t": rb"\t", b"\n": rb"\n", b"\\": rb"\\"}


def escape(id: bytes) -> bytes:
    """An ID as idx prints it: escaped behind a tab if it is empty or has control characters."""
    if id and CONTROL.search(id) is None:
        return id
    return b"\t" + ESCAPED.sub(lambda found: LETTERS.get(found[0], b"\\x%02x" % ord(found[0])), id)


def print_ids(read: Read, keep: list[bool]) -> None:
    """The IDs to keep, those of bad records last."""
    last = set(read.bad)
    sys.stdout.flush()
    good = (id for row, id in enumerate(read.ids) if keep[row] and row not in last)
    sys.stdout.buffer.writelines(escape(id) + b"\n" for id in good)
    sys.stdout.buffer.writelines(escape(read.ids[row]) + b"\n" for row in read.bad)
    sys.stdout.buffer.flush()


def print_parts(read: Read, found: Parts) -> None:
    """The IDs of parts to keep, ID:NUMBER, and last those of records of which no part was compared."""
    last = set(range(len(read.ids))).difference(found.row[found.compared].tolist(), read.bad)
    kept = found.compared & ~found.dropped
    sys.stdout.flush()
    rows = zip(found.row[kept].tolist(), found.part[kept].tolist(), strict=True)
    sys.stdout.buffer.writelines(escape(b"%b:%d" % (read.ids[row], part + 1)) + b"\n" for row, part in rows)
    sys.stdout.buffer.writelines(escape(read.ids[row]) + b"\n" for row in sorted(last.union(read.bad)))
    sys.stdout.buffer.flush()


def print_pairs(read: Read, found: libidx.TextPairs) -> None:
    """Lines of ID, ID, resemblance, and where it was asked for, contained, rounded down to four digits."""
    sys.stdout.flush()
    measures = [column.tolist() for column in (found.resemblance, found.contained) if column is not None]
    for a, b, *shares in zip(found.a.tolist(), found.b.tolist(), *measures, strict=True):
        digits = b"".join(b"\t%.4f" % (math.floor(share * 10000 + 1e-9) / 10000) for share in shares)
        sys.stdout.buffer.write(b"%b\t%b%b\n" % (escape(read.ids[a]), escape(read.ids[b]), digits))
    sys.stdout.buffer.flush()


def name_outputs(sources: list[Source]) -> list[str]:
    """What the files of the inputs are called in the output: their paths, from the root or the last `..` on."""
    names: list[str] = []
    for source in sources:
        parts: list[str] = []
        for part in source.path.split("/"):
            parts = [] if part == ".." else parts if part in ("", ".") else [*parts, part]
        names.append("/".join(parts))
    folders = {name[: at.start()] for name in names for at in re.finditer("/", name)}
    seen: set[str] = set()
    for name in names:
        if name in seen or name in folders:
            raise Mistake(f"two inputs would be written as {name!r}: give each file and folder once")
        seen.add(name)
    return names


def check_place(output: str, parent: str) -> None:
    """Refuses what a rename can't replace: all but an empty folder, which may be neither where a file system is mounted
    nor named through itself, as by "folder/."."""
    place = output.rstrip("/") or output  # with a slash behind it, a link to a folder would look like the folder
    if not os.path.lexists(place):
        return
    if os.path.islink(place) or not os.path.isdir(place) or os.listdir(place) or os.path.samefile(place, parent):
        raise Mistake(f"{output} exists: remove it, or give another place")
    if os.stat(place).st_dev != os.stat(parent).st_dev:
        raise Mistake(f"{output}: a file system is mounted there, which can't be replaced: give a folder within it")


@contextlib.contextmanager
def scratch(output: str) -> Iterator[str]:
    """Makes a folder beside the output, and removes it in the end. Used before all the work, to refuse an output that can't
    be made."""
    if not output:
        raise Mistake("--output has an empty argument: give the name of a folder")
    parent = os.path.dirname(output.rstrip("/")) or ("/" if output.startswith("/") else ".")
    check_place(output, parent)
    if not os.path.isdir(parent):
        raise Mistake(f"{output}: there is no folder {parent}: make it, or give another place")
    try:
        folder = tempfile.TemporaryDirectory(prefix=".libidx-", dir=parent)
    except OSError as error:
        raise Mistake(f"{output}: nothing can be written to {parent}: {error.strerror}") from None
    with folder as path:
        yield path


def write(
    sources: list[Source], names: list[str], counts: list[int], keep: list[bool], made: str, parts: Optional[Parts] = None
) -> None:
    """The records to keep, without the parts that are dropped, in files with the paths of the inputs."""
    os.mkdir(made)
    begin = 0
    for source, name, count in zip(sources, names, counts, strict=True):
        kept = keep[begin : begin + count]
        lost = {} if parts is None else parts.lost(begin, begin + count)
        begin += count
        if not any(kept):
            continue
        os.makedirs(os.path.dirname(os.path.join(made, name)), exist_ok=True)
        source.check()
        source.keep(kept, os.path.join(made, name), lost)
        source.check()


def sync(path: str) -> None:
    """Returns when the content of a file, or the names in a folder, are on disk."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    except OSError as error:
        if error.errno != errno.EINVAL:  # which file systems return that do not do so with folders
            raise
    finally:
        os.close(descriptor)


def publish(made: str, output: str) -> None:
    """Renames what was made once it is on disk, so that the output is whole after a power failure, if it is there."""
    for folder, _, names in os.walk(made):
        for name in names:
            sync(os.path.join(folder, name))
        sync(folder)
    os.rename(made, output)
    with contextlib.suppress(PermissionError):  # of a folder in which files can be made, but which can't be listed
        sync(os.path.dirname(output.rstrip("/")) or ".")


# ---- The whole ----


def check(given: argparse.Namespace) -> None:
    """Refuses options that would have no effect."""
    of_texts = {"--resemble": given.resemble, "--contained": given.contained, "--shingle": given.shingle}
    of_texts |= {"--ignore-common": given.ignore_common, "--pairs": given.pairs or None}
    of_texts["--by"] = None if given.by == "document" else given.by
    for name, value in of_texts.items():
        if given.k is not None and value is not None:
            raise Mistake(f"{name} compares texts, and with -k fingerprints decide: give one of them")
    for name, value in ("--recipe", given.recipe), ("--min-features", given.min_features):
        if given.k is None and value is not None:
            raise Mistake(f"{name} needs -k: without -k, texts are compared, and not their fingerprints")
    for name, value in ("--output", given.output), ("--against", given.against):
        if given.pairs and value is not None:
            raise Mistake(f"{name} says what to keep, and --pairs lists pairs: give one of them")
    of_parts = {"--min-document-words": given.min_document_words, "--again": given.again, "--within": given.within or None, "--all-copies": given.all_copies or None}
    for name, value in {**of_parts, "--min-words": given.min_words if given.contained is None else None}.items():
        if given.by == "document" and value is not None:
            raise Mistake(f"{name} needs --by paragraph or --by line")
    of_documents = {"--against": given.against, "--ignore-common": given.ignore_common, "--pairs": given.pairs or None}
    of_documents["--representative"] = None if given.representative == "first" else given.representative
    if given.by != "document" and has_star(given.text):
        raise Mistake("--by cuts texts, and --text of several texts has none to cut: omit it, or --by")
    for name, value in of_documents.items():
        if given.by != "document" and value is not None:
            raise Mistake(f"{name} is for whole documents: omit it, or --by")


def find(given: argparse.Namespace) -> Sources:
    """The inputs. Those that only idx reads are refused, with the command that does it."""
    try:
        return find_sources(given.input, given.text, given.id)
    except OfCommand as error:
        options = {"--resemble": given.resemble, "--shingle": given.shingle, "--ignore-common": given.ignore_common}
        options |= {"--contained": given.contained, "--by": None if given.by == "document" else given.by}
        options |= {"--against": given.against, "-k": given.k}
        options |= {"--recipe": given.recipe, "--write": given.output}
        words = [word for name, value in options.items() if value is not None for word in (name, str(value))]
        inputs = given.input if len(given.input) <= 8 else [*given.input[:8], "…"]
        command = shlex.join(["idx", "dedup", *words, "--", *inputs])
        raise Mistake(f"{error}, which is not read here, but by the command idx: {command}") from None


RULES = "min_words", "min_document_words", "again", "within", "all_copies"


def compare(given: argparse.Namespace, sources: Sources, read: Read) -> Any:
    """Which records to keep, or with --pairs, which resemble each other."""
    progress: Progress = given.progress or sys.stderr.isatty() or None
    shown: Optional[Callable[[str, int, int], object]] = callback(progress)
    texts = lambda: read_texts(sources.files, read, shown)  # noqa: E731
    options = {name: getattr(given, name) for name in ("resemble", "shingle", "ignore_common", "threads", "memory", "tmpdir")}
    if given.pairs:
        of_contained = {"contained": given.contained, "min_words": given.min_words}
        return libidx.text_pairs(texts, progress=progress, **of_contained, **options)
    if given.by != "document":
        rules = check_rules(given.by, {name: getattr(given, name) for name in RULES})
        assert rules is not None
        least = check_least(given.resemble, given.contained, given.shingle, given.min_words)
        sets = Sets(*parse_shingle(given.shingle), given.memory, given.threads, given.tmpdir, shown)
        return find_parts(read_texts(sources.files, read, shown), sets, least, rules)
    return libidx.dedup(
        texts,
        given.k,
        contained=given.contained,
        min_words=given.min_words,
        text=given.text,
        against=None if given.against is None else pathlib.Path(given.against),
        representative=given.representative,
        fingerprinter=None if given.recipe is None else libidx.Fingerprinter(given.recipe),
        min_features=given.min_features,
        progress=progress,
        **options,
    )


def dedup(given: argparse.Namespace) -> int:
    """Runs the command. Returns its exit status: 2 if all records are bad."""
    check(given)
    sources, read = find(given), Read(given.output is None, given.strict)
    for source in sources.files:
        source.by = given.by
    if given.pairs:
        found = compare(given, sources, read)
        print_pairs(read, found)
    elif given.output is None:
        found = compare(given, sources, read)
        print_parts(read, found) if given.by != "document" else print_ids(read, found.keep.tolist())
    else:
        names = name_outputs(sources.files)
        with scratch(given.output) as folder:
            found = compare(given, sources, read)
            parts, keep = (None, found.keep) if given.by == "document" else (found, ~found.gone)
            write(sources.files, names, read.counts, keep.tolist(), os.path.join(folder, "made"), parts)
            publish(os.path.join(folder, "made"), given.output)
    if sources.left_out:
        say(f"left out of folders: {list_counts(sources.left_out)}")
    if read.bad:
        say(f"kept bad records, which were not compared: {list_counts(read.kinds)}")
    count = sum(read.counts)
    say_result(given, found, count)
    if read.bad and len(read.bad) == count:
        say("all records are bad, and none was compared")
        return 2
    return 0


def say_result(given: argparse.Namespace, found: Any, count: int) -> None:
    """Says what compare found among `count` documents."""
    if given.pairs:
        say(f"{count} documents: {len(found.a)} pairs")
    elif given.by != "document":
        parts, dropped, gone = (int(column.sum()) for column in (found.compared, found.dropped, found.gone))
        size = f"{int(found.bytes[found.dropped].sum())} of {int(found.bytes.sum())} bytes"
        what = f"{parts} {given.by}s: {parts - dropped} to keep, {dropped} to drop, {size}"
        say(f"{what}; {gone} of {count} documents to drop as a whole")
    else:
        kept = int(found.keep.sum())
        how = "" if given.k is None else "; fingerprints were compared, and not their texts"
        how += "" if given.ignore_common is None else f"; {found.ignored} common shingles did not count"
        say(f"{count} documents: {kept} to keep, {count - kept} to drop{how}")


def main(arguments: Optional[list[str]] = None) -> int:
    given = make_parser().parse_args(arguments)
    try:
        return dedup(given)
    except (libidx.Error, Mistake) as error:
        say(str(error))
    except OSError as error:
        say(f"{error.filename}: {error.strerror}" if error.filename else error.strerror or str(error))
    except ImportError as error:
        say(f"Parquet needs the package pyarrow: {error}")
    except MemoryError:
        say("out of memory")
    return 2


if __name__ == "__main__":
    sys.exit(main())
