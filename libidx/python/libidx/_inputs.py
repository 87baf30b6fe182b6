"""The files that `python -m libidx dedup` reads: what is in them, and how their records are written again."""

from __future__ import annotations

import bz2
import codecs
import contextlib
import gzip
import io
import json
import lzma
import os
import re
import shutil
import stat
import zlib
from typing import Any, BinaryIO, Callable, Iterator, Literal, Mapping, NamedTuple, Optional, Union, cast

from . import _parquet
from ._divide import By, divide, join

BATCH = 4096
"""Texts that are read at a time."""
BATCH_BYTES = 1 << 25
"""Bytes of lines after which a batch also ends."""
TEXT_MOST = (1 << 30) - 1
"""Bytes of the longest text that is fingerprinted."""
SNIFFED = 8192
"""Bytes by which the format of a file is recognised."""


class Mistake(Exception):
    """Something wrong with the inputs or options of the command. str() is a sentence that says so."""


class Unread(Mistake):
    """A file of a kind that is not read. In a folder it is left out."""

    def __init__(self, path: str, kind: str, advice: str) -> None:
        super().__init__(f"{path}: {kind}: {advice}")
        self.kind = kind


class OfCommand(Mistake):
    """A file of a kind that only idx reads."""

    def __init__(self, path: str, kind: str) -> None:
        super().__init__(f"{path}: {kind}")
        self.path, self.kind = path, kind


# ---- Compression ----

COMPRESSIONS = {"gzip": rb"\x1f\x8b", "bzip2": rb"BZh[1-9][1\x17]", "xz": rb"\xfd7zXZ\x00"}
COMPRESSIONS["zstd"] = rb"\x28\xb5\x2f\xfd"
ENDINGS = (".gz", ".bz2", ".xz", ".zst")


def find_compression(path: str) -> Optional[str]:
    """The name of a file's compression, by its first bytes; None for none that is known."""
    with open(path, "rb") as file:
        begin = file.read(6)
    return next((name for name, magic in COMPRESSIONS.items() if re.match(magic, begin)), None)


@contextlib.contextmanager
def opened(path: str, compression: Optional[str], mode: Literal["rb", "wb"] = "rb") -> Iterator[BinaryIO]:
    """Opens a file, which is decompressed as it is read, or compressed as it is written. Raises Mistake if it is damaged."""
    with contextlib.ExitStack() as files:
        file: Any = files.enter_context(open(path, mode))
        if compression is not None:
            file = files.enter_context(WRAPPERS[compression](path, file, mode))
        try:
            yield cast(BinaryIO, file)
        except (EOFError, zlib.error, lzma.LZMAError, OSError) as error:
            if isinstance(error, OSError) and error.errno is not None:
                raise  # of the system
            raise Mistake(f"{path}: its compression, {compression}, is broken: {error}") from None


def wrap_zstd(path: str, file: BinaryIO, mode: str) -> Any:
    """A file that is decompressed or compressed by pyarrow. Raises Mistake without that package."""
    try:
        import pyarrow
    except ImportError as error:
        raise Mistake(f"{path}: it is compressed by zstd, which needs the package pyarrow: {error}") from None
    if mode == "wb":
        return pyarrow.CompressedOutputStream(file, "zstd")
    return io.BufferedReader(pyarrow.CompressedInputStream(file, "zstd"))


WRAPPERS: dict[str, Callable[[str, Any, Any], Any]] = {
    "gzip": lambda path, file, mode: gzip.GzipFile("", mode, 6, file, 0),
    "bzip2": lambda path, file, mode: bz2.BZ2File(file, mode),
    "xz": lambda path, file, mode: lzma.LZMAFile(file, mode),
    "zstd": wrap_zstd,
}


# ---- Records ----


class Bad(NamedTuple):
    """Why a record can't be compared: a kind, and a sentence."""

    kind: str
    sentence: str

    def at(self, place: bytes) -> Bad:
        return Bad(self.kind, f"{os.fsdecode(place)}: {self.sentence}")


FIELD = "missing field, or field of another type"
LONG = Bad("too long", "it has a GiB or more")
WIDE = Bad("UTF-16 or UTF-32, which is not divided", "only texts in UTF-8 are divided: convert it first")
BINARY = Bad("not text", "it has a NUL byte in its first 8 KiB")


class Batch(NamedTuple):
    """IDs and texts of records, and why some of them can't be compared, by row: their texts are None."""

    ids: list[bytes]
    texts: Any
    bad: dict[int, Bad]


def mend(text: str) -> str:
    """A text with U+FFFD in place of each lone surrogate, which UTF-8 does not have."""
    try:
        text.encode()
        return text
    except UnicodeEncodeError:
        return re.sub("[\ud800-\udfff]", "\ufffd", text)


Lost = Mapping[int, set[int]]
"""By row, the numbers of the parts that are cut out of its text."""


class Source:
    """A file of documents, with a subclass for each format. by: how texts are divided into parts. by_name: whether the
    format was named, and not found."""

    by: By = "document"
    by_name = False

    def __init__(self, path: str, compression: Optional[str], text: str, id: Optional[str]) -> None:
        self.path, self.compression, self.text, self.id = path, compression, text, id
        self.state = self.look()

    def look(self) -> tuple[int, int]:
        """What differs once the file is another one."""
        found = os.stat(self.path)
        return found.st_size, found.st_mtime_ns

    def changed(self) -> Mistake:
        """What to raise about a file that is not what it was."""
        return Mistake(f"{self.path}: it has changed since it was read: run this again")

    def check(self) -> None:
        """Refuses a file that has changed since it was found."""
        if self.look() != self.state:
            raise self.changed()

    def place(self, number: int) -> bytes:
        """The ID of a record without one."""
        return os.fsencode(f"{self.path}:{number}")

    def batches(self) -> Iterator[Batch]:
        """All records. Each call reads the file anew."""
        raise NotImplementedError

    def keep(self, kept: list[bool], path: str, lost: Lost) -> None:
        """Writes the records that are kept to a new file at the path, without the parts that are lost."""
        raise NotImplementedError


class Plain(Source):
    """One document, which is the whole file."""

    def batches(self) -> Iterator[Batch]:
        with opened(self.path, self.compression) as file:
            data = file.read()
        id, text = os.fsencode(self.path), decode(data)
        bad = BINARY if is_binary(data[:SNIFFED]) and not self.by_name else LONG if len(text) > TEXT_MOST else None
        if self.by != "document" and find_mark(data) not in ("", "utf-8-sig"):
            bad = WIDE
        yield Batch([id], [text if bad is None else None], {} if bad is None else {0: bad.at(id)})

    def keep(self, kept: list[bool], path: str, lost: Lost) -> None:
        if not lost:
            shutil.copyfile(self.path, path)
            return
        with opened(self.path, self.compression) as source:
            data = source.read()
        mark = codecs.BOM_UTF8 if data.startswith(codecs.BOM_UTF8) else b""
        with opened(path, self.compression, "wb") as target:
            target.write(mark + join(divide(data[len(mark) :], self.by), lost[0]))


MARKS = {codecs.BOM_UTF8: "utf-8-sig", codecs.BOM_UTF32_LE: "utf-32", codecs.BOM_UTF32_BE: "utf-32"}
MARKS |= {codecs.BOM_UTF16_LE: "utf-16", codecs.BOM_UTF16_BE: "utf-16"}


def find_mark(data: bytes) -> str:
    """The encoding by the byte order mark."""
    return next((encoding for mark, encoding in MARKS.items() if data.startswith(mark)), "")


def is_binary(begin: bytes) -> bool:
    """Whether a file that begins so is no text: it has a zero byte, and no byte order mark of UTF-16 or UTF-32."""
    return b"\0" in begin and find_mark(begin) in ("", "utf-8-sig")


def decode(data: bytes) -> bytes:
    """A text in UTF-8 without its byte order mark."""
    mark = find_mark(data)
    return data.decode(mark, "replace").encode() if mark else data


def is_long(text: Union[str, bytes]) -> bool:
    """Whether a text is longer than TEXT_MOST in UTF-8. Only one that may be is encoded for that."""
    if isinstance(text, str) and len(text) > TEXT_MOST // 4:
        text = text.encode()
    return len(text) > TEXT_MOST


class Lines(Source):
    """One document a line. Blank lines are none."""

    def parse(self, line: bytes) -> tuple[Optional[bytes], Any, Optional[Bad]]:
        """The ID, if there is one, and the text, or why there is none."""
        raise NotImplementedError

    def cut(self, line: bytes, lost: set[int]) -> bytes:
        """The line without parts of its text."""
        raise NotImplementedError

    def batches(self) -> Iterator[Batch]:
        batch, size = Batch([], [], {}), 0
        with opened(self.path, self.compression) as file:
            for number, line in enumerate(file, 1):
                if line.isspace():
                    continue
                id, text, bad = self.parse(line.removeprefix(codecs.BOM_UTF8) if number == 1 else line)
                if bad is None and is_long(text):
                    bad = LONG
                if bad is not None:
                    batch.bad[len(batch.ids)] = bad.at(self.place(number))
                batch.ids.append(self.place(number) if id is None else id)
                batch.texts.append(None if bad is not None else text)
                size += len(line)
                if len(batch.ids) == BATCH or size >= BATCH_BYTES:
                    yield batch
                    batch, size = Batch([], [], {}), 0
        yield batch

    def keep(self, kept: list[bool], path: str, lost: Lost) -> None:
        with opened(self.path, self.compression) as source, opened(path, self.compression, "wb") as target:
            records = (line for line in source if not line.isspace())
            rows = enumerate(zip(records, kept, strict=True))
            try:
                target.writelines(self.cut(line, lost[row]) if row in lost else line for row, (line, stays) in rows if stays)
            except ValueError:
                raise self.changed() from None


class Tsv(Lines):
    """ID, tab, text."""

    def parse(self, line: bytes) -> tuple[Optional[bytes], Any, Optional[Bad]]:
        id, tab, text = line.rstrip(b"\r\n").partition(b"\t")
        if not tab:
            return None, None, Bad("no tab after the ID", "the line has no tab after the ID")
        if not id:
            return None, None, Bad("unusable ID", "the ID is empty")
        return id, text, None

    def cut(self, line: bytes, lost: set[int]) -> bytes:
        id, tab, text = line.partition(b"\t")
        written = text.rstrip(b"\r\n")
        return b"".join((id, tab, join(divide(written, self.by), lost), text[len(written) :]))


class Json(Lines):
    """JSON Lines."""

    def parse(self, line: bytes) -> tuple[Optional[bytes], Any, Optional[Bad]]:
        try:
            record = parse_json(line.decode("utf-8", "replace"))
        except ValueError as error:
            return None, None, Bad("not a JSON object", f"it is not JSON: {error}")
        if not isinstance(record, dict):
            return None, None, Bad("not a JSON object", "it is not a JSON object")
        id = None
        if self.id is not None:
            found = find_value(record, self.id)
            if not isinstance(found, (str, Number)):
                return None, None, Bad("unusable ID", describe(self.id, found, "neither a string nor a number"))
            id = mend(str(found)).encode()
        text = find_text(record, self.text)
        if isinstance(text, Number) or not isinstance(text, str):
            return id, None, Bad(FIELD, describe(self.text, text, "no string"))
        return id, mend(text), None

    def cut(self, line: bytes, lost: set[int]) -> bytes:
        mark = codecs.BOM_UTF8 if line.startswith(codecs.BOM_UTF8) else b""
        written = line[len(mark) :].decode("utf-8", "surrogateescape")
        found = find_value(parse_json(written, LOCATOR), self.text)
        if not isinstance(found, Located):
            raise self.changed()
        begin, end = (len(mark + written[:at].encode("utf-8", "surrogateescape")) for at in (found.begin, found.end))
        kept: bytes = join(divide(line[begin:end], self.by, True), lost)
        return line[:begin] + kept + line[end:]


MISSING = object()


def describe(field: str, value: Any, otherwise: str) -> str:
    return f"there is no field {field!r}" if value is MISSING else f"the field {field!r} is {otherwise}"


class Number(str):
    """A number as its digits, any number of them."""


JSON: Any = json
"""Its scanner of pure Python is not declared."""


class Located(str):
    """A string, and where that is between its quotes which it was parsed from."""

    begin: int
    end: int


def scan_located(written: str, begin: int, strict: bool) -> tuple[Located, int]:
    """As json's scanner of strings, from behind the opening quote: the string, and where its closing quote ends."""
    text, end = JSON.decoder.scanstring(written, begin, strict)
    found = Located(text)
    found.begin, found.end = begin, end - 1
    return found, end


DECODER = json.JSONDecoder(parse_int=Number, parse_float=Number, strict=False)
LOCATOR: Any = json.JSONDecoder(parse_int=Number, parse_float=Number, strict=False)
"""The same, but slower, and strings know where they are."""
LOCATOR.parse_string = scan_located
LOCATOR.scan_once = JSON.scanner.py_make_scanner(LOCATOR)
TOKENS = re.compile(r'"(?:[^"\\]++|\\.)*+"?|[\[\]{}]', re.DOTALL)
DEEP = 100
"""Levels of JSON that are read where there are more than Python reads."""


def parse_json(line: str, decoder: json.JSONDecoder = DECODER) -> Any:
    """The value. Strings may have control characters. What is nested deeper than Python reads is left out."""
    try:
        return decoder.decode(line)
    except RecursionError:
        return decoder.decode(cut_depths(line))


def cut_depths(line: str) -> str:
    """A line of JSON, with nothing within what is deeper than DEEP levels; all else is where it was."""
    pieces, depth, begin = [], 0, 0
    for found in TOKENS.finditer(line):
        if found[0] in "[{":
            depth += 1
            if depth == DEEP:
                pieces.append(line[begin : found.end()])
                begin = found.end()
        elif found[0] in "]}":
            depth -= 1
            if depth == DEEP - 1:
                pieces.append(" " * (found.start() - begin))
                begin = found.start()
    if depth != 0:
        raise ValueError("brackets that do not match")
    return "".join(pieces) + line[begin:]


def find_value(record: Any, path: str) -> Any:
    """The value of a field, as a name, a.b or /a/b; MISSING if there is none."""
    if isinstance(record, dict) and path in record:
        return record[path]
    for name in _parquet.split(path):
        record = _parquet.find_member(record, name, MISSING)
    return record


def find_text(record: Any, path: str) -> Any:
    """The value of a field, or where its path has a *, those in each element of arrays there, joined by line ends; MISSING if
    there is none, or what is no string."""
    if not _parquet.has_star(path):
        return find_value(record, path)
    found = _parquet.find_each(record, _parquet.split(path))
    for value in found:
        if isinstance(value, Number) or not isinstance(value, str):
            return value
    return "\n".join(found) if found else MISSING


class Parquet(Source):
    """A Parquet file, one document a row."""

    def __init__(self, path: str, compression: Optional[str], text: str, id: Optional[str]) -> None:
        super().__init__(path, compression, text, id)
        with _parquet.open_file(path) as file:
            schema = file.schema_arrow
        self.texts = _parquet.find_texts(path, schema, text)
        self.ids = None if id is None else _parquet.find_ids(path, schema, id)

    def batches(self) -> Iterator[Batch]:
        columns, begin = [column.path for column in (self.texts, self.ids) if column is not None], 0
        with _parquet.open_file(self.path) as file:
            for rows in _parquet.iterate(file, self.path, columns):
                with _parquet.named(self.path):
                    batch = self.batch(rows, begin)
                yield batch
                begin += len(rows)

    def batch(self, rows: Any, begin: int) -> Batch:
        """The records of some rows; the first is number `begin` of the file."""
        import pyarrow
        from pyarrow import compute

        texts = _parquet.plain_texts(self.texts.take(rows))
        bad: dict[int, Bad] = {}
        ids = [self.place(begin + row) for row in range(len(rows))]
        for row in compute.indices_nonzero(texts.is_null()).to_pylist():
            bad[row] = Bad("null", f"the column {self.text!r} is null").at(ids[row])
        for row in compute.indices_nonzero(compute.greater(compute.binary_length(texts), TEXT_MOST)).to_pylist():
            bad[row] = LONG.at(ids[row])
        for row, id in enumerate([] if self.ids is None else _parquet.plain_ids(self.ids.take(rows))):
            if id is None:
                bad[row] = Bad("unusable ID", f"the column {self.id!r} is null").at(ids[row])
            else:
                ids[row] = id
        if bad:
            stays = pyarrow.array([row not in bad for row in range(len(rows))])
            texts = compute.if_else(stays, texts, pyarrow.scalar(None, texts.type))
        return Batch(ids, texts, bad)

    def keep(self, kept: list[bool], path: str, lost: Lost) -> None:
        def cut(text: bytes, row: int) -> bytes:
            return cast(bytes, join(divide(text, self.by), lost[row]))

        with _parquet.open_file(self.path) as file:
            if file.metadata.num_rows != len(kept):
                raise self.changed()
            _parquet.copy_rows(file, self.path, kept, path, _parquet.Cut(self.texts, cut, lost))


# ---- Formats ----

FORMATS: dict[str, Union[type[Source], str]] = {"plain": Plain, "jsonl": Json, "tsv": Tsv, "warc": "WARC", "html": "HTML"}
FORMATS |= {"man": "a manual page", "parquet": Parquet}
"""What --format names, as of idx dedup, and Parquet: how a file is read, or what only idx reads."""
NAMED = {".jsonl": "jsonl", ".ndjson": "jsonl", ".tsv": "tsv", ".warc": "warc", ".wet": "warc", ".html": "html"}
NAMED |= {".htm": "html", ".xhtml": "html", ".parquet": "parquet"}
UNREAD = {".csv": "CSV", ".pdf": "PDF", ".arc": "ARC", ".wacz": "WACZ", ".docx": "a document of Word", ".zip": "ZIP"}
UNREAD |= {".npy": "fingerprints", ".u64": "fingerprints", ".avro": "Avro", ".orc": "ORC", ".arrow": "Arrow"}
UNREAD |= {".tar": "tar", ".tgz": "tar", ".7z": "7z", ".rar": "RAR", ".lz4": "LZ4", ".lzma": "LZMA", ".lzo": "LZO"}
UNREAD |= {".br": "Brotli", ".z": "compress", ".snappy": "Snappy"}
MAGICS = {b"%PDF-": "PDF", b"PK\x03\x04": "ZIP", b"\x93NUMPY": "fingerprints", b"#recipe\t": "fingerprints"}
MAGICS |= {b"Obj\x01": "Avro", b"ARROW1": "Arrow", b"\x04\x22\x4d\x18": "LZ4"}
MANUAL_NAME = re.compile(r".*[^/]\.(n|man|[1-9]([A-Za-z][A-Za-z0-9]*)?)")
MANUAL = re.compile(rb"(\s|[.'].*\n)*[.'][ \t]*(TH|Dd|so)[ \t\r\n]")


def find_format(path: str, stem: str, compression: Optional[str], begin: bytes, field: str, in_folder: bool) -> str:
    """The format of a file, as idx finds it: by its name, or else its first bytes. In folders, JSON without the field and
    CSV are plain texts, as are the settings of programs. Raises Unread."""
    ending = os.path.splitext(stem)[1].lower()
    if begin.startswith(b"PAR1"):
        return "parquet"
    unread = None if in_folder and ending == ".csv" else UNREAD.get(ending)
    for name in (unread, *(name for magic, name in MAGICS.items() if begin.startswith(magic))):
        if name is not None:
            made = "make texts, JSON Lines or Parquet of it"
            raise Unread(path, name, "idx clusters reads these" if name == "fingerprints" else f"not read here; {made}")
    text, named = begin.removeprefix(codecs.BOM_UTF8).lstrip(), NAMED.get(ending)
    if named in (None, "jsonl") and re.match(rb"\[\s*\{", text):
        raise Unread(path, "a JSON array", "make JSON Lines of it, one object per line, as by jq -c '.[]'")
    if named is not None:
        return named
    is_object, has_more = look_for_objects(path, compression, field) if text.startswith(b"{") else (False, False)
    if is_object and (has_more or not in_folder):
        return "jsonl"
    if ending == ".json" and text and not in_folder:
        raise Unread(path, "JSON of several lines", "make JSON Lines of it, one object per line, as by jq -c .")
    if begin.startswith(b"WARC/"):
        return "warc"
    if text[:14].lower().startswith((b"<!doctype html", b"<html")):
        return "html"
    return "man" if MANUAL_NAME.fullmatch(stem) and MANUAL.match(text) else "plain"


def look_for_objects(path: str, compression: Optional[str], field: str) -> tuple[bool, bool]:
    """Whether the first line with anything in it is a JSON object; and whether that has the field, or another one follows."""
    with opened(path, compression) as file:
        line, after = (next((line for line in file if not line.isspace()), b"") for _ in range(2))
    try:
        record = parse_json(line.removeprefix(codecs.BOM_UTF8).decode("utf-8", "replace"))
    except ValueError:
        return False, False
    return isinstance(record, dict), find_text(record, field) is not MISSING or after.lstrip().startswith(b"{")


def make_source(path: str, text: str, id: Optional[str], format: str, in_folder: bool) -> Source:
    """The source of a file. Raises Unread, also for binary files that a folder has, and OfCommand."""
    if not stat.S_ISREG(os.stat(path).st_mode):
        raise Unread(path, "no regular file", "it can't be read twice; write its content to a file")
    compression = find_compression(path)
    stem, ending = os.path.splitext(path)
    stem = stem if ending.lower() in ENDINGS else path
    with opened(path, compression) as file:
        begin = file.read(SNIFFED)
    kind = FORMATS[find_format(path, stem, compression, begin, text, in_folder) if format == "auto" else format]
    if isinstance(kind, str):
        raise OfCommand(path, kind)
    if kind is Parquet and compression is not None:
        raise Unread(path, f"Parquet within {compression}", "decompress it")
    if in_folder and kind is Plain and is_binary(begin):
        raise Unread(path, "not text", "")
    source = kind(path, compression, text, id)
    source.by_name = format != "auto"
    return source


def list_counts(counts: dict[str, int]) -> str:
    """Such as 2 × PDF, 1 × CSV."""
    return ", ".join(f"{count} × {kind}" for kind, count in counts.items())


class Sources(NamedTuple):
    """The files that are read, and how many of each kind were left out of folders."""

    files: list[Source]
    left_out: dict[str, int]


def find_sources(paths: list[str], text: str, id: Optional[str] = None, format: str = "auto") -> Sources:
    """The sources of files, and of all files in folders but those that are not read. Raises Mistake."""
    if format not in ("auto", *FORMATS):
        raise Mistake(f"--format must be one of auto, {', '.join(FORMATS)}, not {format!r}")
    folders = _parquet.Folders(paths)
    found = Sources([], folders.left_out)
    for path in paths:
        if not os.path.isdir(path):
            found.files.append(make_source(path, text, id, format, False))
            continue
        before, known = len(found.files), folders.left_out.get(_parquet.KNOWN, 0)
        for file in folders.walk(path):
            try:
                found.files.append(make_source(file, text, id, format, True))
            except Unread as unread:
                folders.leave_out(unread.kind)
        if len(found.files) == before and folders.left_out.get(_parquet.KNOWN, 0) == known:
            but = f", but {list_counts(found.left_out)}" if found.left_out else ""
            raise Mistake(f"{path}: there is nothing in this folder that is read{but}")
    return found
