"""The command `python -m libidx`: what `python -m libidx.spark` does of many files, on one machine without Spark."""

from __future__ import annotations

import argparse
import contextlib
import errno
import os
import re
import shlex
import sys
import tempfile
from typing import Any, Callable, Iterator, Optional, Union

import libidx

from . import _inputs as _inputs
from . import _listing
from ._dedup import open_known
from ._index import Index
from ._inputs import Bad, Mistake, OfCommand, Source, Sources, find_sources, list_counts
from ._parquet import has_star
from ._parts import Parts, find_parts, make_rules
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


OF_FINGERPRINTS = "-k", "--recipe", "--min-features"


class OfFingerprints(argparse.Action):
    """Refuses an option of fingerprints."""

    def __call__(self, parser: Any, namespace: Any, values: Any, option_string: Optional[str] = None) -> None:
        calls = "libidx.Fingerprinter makes fingerprints of texts, and libidx.clusters compares them, as idx clusters does"
        raise Mistake(f"{option_string} is for fingerprints, and dedup compares texts: {calls}")


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
        help="Parquet (.parquet), JSON Lines (.jsonl, .ndjson), TSV (.tsv: ID, tab, text) or plain text, also "
        "compressed with gzip, bzip2, xz or zstd, and folders of these, where links to files that are not read as well count as files",
    )
    made.add_argument(
        "--format",
        default="auto",
        help="auto (default: by the file's name, or else its content), plain, jsonl, tsv or parquet; the command idx reads warc, "
        "html and man as well",
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
        help="with --by: keep shorter paragraphs or lines (default 5); with --contained and --contains: look for no shorter "
        "texts (20)",
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
    made.add_argument("--against", metavar="PLACE", help="first drop what resembles a text of this file, folder, or index of texts")
    made.add_argument(
        "--contains",
        metavar="C",
        type=float,
        help="drop only texts that contain a text of --against: C or more of its shingles, 0 to 1, as of a question of a test",
    )
    for name in OF_FINGERPRINTS:
        made.add_argument(name, action=OfFingerprints, help=argparse.SUPPRESS)
    made.add_argument("--representative", choices=("first", "longest"), default="first", help="which one is kept")
    made.add_argument("--drop", action="store_true", help="print the IDs to drop instead")
    made.add_argument(
        "--clusters",
        action="store_true",
        help="print clusters instead: ID, number, ID of the representative, resemblance, and with --contained that share",
    )
    made.add_argument("--json", action="store_true", help="print clusters as JSON, one per line")
    made.add_argument(
        "--pairs", action="store_true", help="print all pairs that resemble each other instead: ID, ID, resemblance, and with --contained that share"
    )
    made.add_argument(
        "--output",
        metavar="FOLDER",
        help="make it, with the records to keep, in files with the paths of the inputs; then IDs are not printed, unless "
        "--drop, --clusters or --json asks for them",
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


CONFLICTS: dict[str, tuple[tuple[str, ...], str]] = {
    "pairs": (("output", "against", "drop", "clusters", "json"), "{} says what to keep, and --pairs lists pairs: give one of them"),
    "by": (("contains", "ignore_common", "pairs", "representative"), "{} is for whole documents: omit it, or --by"),
    "drop": (("clusters", "json"), "give --drop or {}, not both"),
    "contains": (
        ("resemble", "contained", "ignore_common", "representative"),
        "{} compares texts with each other, and --contains with those of --against: give one of them",
    ),
}
"""Of options, those that have no place beside them, and a sentence about one of these."""
OF_PARTS = "min_document_words", "again", "within", "all_copies"


def check(given: argparse.Namespace) -> None:
    """Refuses options that would have no effect."""
    of_parts = (*OF_PARTS, "min_words") if given.contained is None and given.contains is None else OF_PARTS
    named = {name for name, value in vars(given).items() if value not in (None, False, "first", "document")}
    for name in (name for name in of_parts if name in named and given.by == "document"):
        raise Mistake(f"{spell(name)} needs --by paragraph or --by line")
    if given.contains is not None and given.against is None:
        raise Mistake("--contains needs --against")
    if given.by != "document" and has_star(given.text):
        raise Mistake("--by cuts texts, and --text of several texts has none to cut: omit it, or --by")
    for option in CONFLICTS.keys() & named:
        others, sentence = CONFLICTS[option]
        for other in (other for other in others if other in named):
            raise Mistake(sentence.format(spell(other)))


def spell(name: str) -> str:
    """An option as it is written."""
    return "--" + name.replace("_", "-")


OF_TEXTS = "format", "resemble", "shingle", "ignore_common", "contained", "contains", "against", "by"


def find(given: argparse.Namespace, paths: list[str]) -> Sources:
    """The files of the inputs, or of --against. Those that only idx reads are refused, with the command that does it."""
    try:
        return find_sources(paths, given.text, given.id, given.format)
    except OfCommand as error:
        options = {spell(name): getattr(given, name) for name in OF_TEXTS} | {"--write": given.output}
        named = {name: value for name, value in options.items() if value not in (None, "auto", "document")}
        words = [word for name, value in named.items() for word in (name, str(value))]
        inputs = given.input if len(given.input) <= 8 else [*given.input[:8], "…"]
        command = shlex.join(["idx", "dedup", *words, "--", *inputs])
        raise Mistake(f"{error}, which is not read here, but by the command idx: {command}") from None


Shown = Optional[Callable[[str, int, int], object]]


def find_known(
    given: argparse.Namespace, known: Read, shown: Shown
) -> Union[Index, Callable[[], Iterator[Any]], None]:
    """The index of texts that --against names, or what reads its texts; None without it."""
    if given.against is None:
        return None
    if (index := open_known(given.against)) is not None:
        return index
    files = find(given, [given.against]).files
    for file in files:
        file.by = given.by
    return lambda: read_texts(files, known, shown)


def compare(given: argparse.Namespace, sources: Sources, read: Read, known: Read) -> Any:
    """Which records to keep, or with --pairs, which resemble each other."""
    progress: Progress = given.progress or sys.stderr.isatty() or None
    shown: Shown = callback(progress)
    texts = lambda: read_texts(sources.files, read, shown)  # noqa: E731
    options = {name: getattr(given, name) for name in ("contained", "shingle", "min_words", "ignore_common")}
    options |= {name: getattr(given, name) for name in ("threads", "memory", "tmpdir")}
    if given.pairs:
        return libidx.text_pairs(texts, given.resemble, progress=progress, **options)
    if given.by != "document":
        least_words, again = given.min_document_words or 1, given.again or 1
        rules = make_rules(given.by, given.min_words, least_words, again, given.within, given.all_copies)
        least = check_least(given.resemble, given.contained, given.shingle, given.min_words)
        sets = Sets(*parse_shingle(given.shingle), (given.threads, given.memory, given.tmpdir, shown))
        known_texts = find_known(given, known, shown)
        if isinstance(known_texts, Index):
            raise Mistake(f"{given.against} is an index of texts, which has no parts of them: omit --by, or give the texts")
        return find_parts(
            read_texts(sources.files, read, shown), () if known_texts is None else known_texts(), sets, least, rules
        )
    options |= {"against": find_known(given, known, shown), "representative": given.representative}
    options["contains"] = given.contains
    found = libidx.dedup(texts, given.resemble, progress=progress, **options)
    if found.ids is not None:
        known.ids = [str(id).encode("utf-8", "surrogateescape") for id in found.ids]
    return found


def show(given: argparse.Namespace, read: Read, known: Read, found: Any) -> None:
    """Prints what is asked for."""
    if given.pairs:
        _listing.print_pairs(read.ids, found)
        return
    of_parts = given.by != "document"
    listing = (
        _listing.list_parts(read.ids, read.bad, found, known.ids)
        if of_parts
        else _listing.list_documents(read.ids, read.bad, found, known.ids)
    )
    if given.drop:
        _listing.print_dropped(listing)
    elif given.json:
        _listing.print_json(listing)
    elif given.clusters:
        _listing.print_clusters(listing)
    else:
        _listing.print_kept(listing)


def dedup(given: argparse.Namespace) -> int:
    """Runs the command. Returns its exit status: 2 if all records are bad."""
    check(given)
    shows = given.output is None or given.drop or given.clusters or given.json
    sources, read, known = find(given, given.input), Read(shows, given.strict), Read(shows, given.strict)
    for source in sources.files:
        source.by = given.by
    if given.output is None:
        found = compare(given, sources, read, known)
    else:
        names = name_outputs(sources.files)
        with scratch(given.output) as folder:
            found = compare(given, sources, read, known)
            parts, keep = (None, found.keep) if given.by == "document" else (found, ~found.gone)
            write(sources.files, names, read.counts, keep.tolist(), os.path.join(folder, "made"), parts)
            publish(os.path.join(folder, "made"), given.output)
    if shows:
        show(given, read, known, found)
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
        how = "" if given.ignore_common is None else f"; {found.ignored} common shingles did not count"
        how += f"; {found.left_out} texts of --against were too short to be looked for" if found.left_out else ""
        say(f"{count} documents: {kept} to keep, {count - kept} to drop{how}")


def main(arguments: Optional[list[str]] = None) -> int:
    try:
        return dedup(make_parser().parse_args(arguments))
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
