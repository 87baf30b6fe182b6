"""Texts that are cut by paragraphs or lines, compared with a plain program."""

import contextlib
import fractions
import gzip
import io
import json
import math
import random

import families
import numpy
import pytest
import words

import libidx
from libidx import __main__ as command
from libidx._divide import divide
from test_command import columns_of_texts

BREAKS = ("\n\n", "\n\n", "\r\n\r\n", "\n \t\n", "\n", "\n\v\f\r\n", "\n\u00a0\n", "\n\u3000 \u2028\n", "\n>\n", "\n> >\u00a0\n", "\n> ", "\n\x1c\n",
          "\n\u200b\n")  # fmt: skip


def make_texts(source):
    paragraphs = [" ".join(source.choices("one two три τέσσερα 五 six שבע".split(), k=source.choice((1, 4, 5, 7, 12)))) for _ in range(20)]
    paragraphs += ["", "---", "}"]
    texts = []
    for _ in range(source.randrange(1, 30)):
        text = source.choice(("", "", "\n", "\r\n \n"))
        for _ in range(source.randrange(6)):
            text += source.choice(paragraphs) + source.choice(BREAKS)
        texts.append(text if source.random() < 0.5 else text.rstrip("\r\n"))
    return texts


def expect(texts, by, resemble, min_words, min_document_words, again, within, all_copies, contained=None):
    """The texts that are left, and the rows and parts that are dropped, and of what is kept instead, and both measures."""
    parts = [families.divide(text, by) for text in texts]
    counts = [[len(words.words(part)) for part in text] for text in parts]
    places = [(row, at) for row, text in enumerate(parts) for at in range(len(text)) if counts[row][at] >= max(min_words, 1)]
    sets, order = [words.shingles(parts[row][at]) for row, at in places], None
    if contained is not None:
        order = sorted(range(len(sets)), key=lambda number: -len(sets[number]))
    joined = families.keep(sets, resemble, order, contained=contained, contained_size=max(min_words - 4, min(min_words, 1)))
    having = {}
    for at, (kept, _) in enumerate(joined):
        having.setdefault(kept, set()).add(places[at][0])
    if not isinstance(again, int):
        share = fractions.Fraction(again[:-1]) / 100 if isinstance(again, str) else fractions.Fraction(str(again))
        again = math.ceil(share * len({row for row, _ in places}))
    dropped = [
        (*places[at], *places[kept], float(alike), len(sets[at] & sets[kept]) / len(sets[at]))
        for at, (kept, alike) in enumerate(joined)
        if (kept != at and (within or places[kept][0] != places[at][0]) and len(having[kept]) >= again)
        or (all_copies and len(having[kept]) >= max(again, 2))
    ]  # fmt: skip
    lost = {place[:2] for place in dropped}  # by row and part
    left = []
    for row, text in enumerate(parts):
        kept = [at for at in range(len(text)) if (row, at) not in lost]
        few = sum(counts[row][at] for at in kept) < max(min_document_words, 1) and len(kept) < len(text)
        left.append(None if few else "".join(text[at] for at in kept))
    return left, dropped


@pytest.mark.parametrize("seed", range(40))
def test_same_as_a_plain_program(seed):
    source = random.Random(seed)
    texts = make_texts(source)
    options = {"by": source.choice(("paragraph", "line")), "min_words": source.choice((0, 1, 5)), "again": source.choice((1, 2, 3, "30%", "0.1%", 0.125, 1.0)),
               "min_document_words": source.choice((1, 10)), "within": source.random() < 0.5, "all_copies": source.random() < 0.4}  # fmt: skip
    resemble, contained = source.choice((("0.3", None), ("0.8", None), ("1", None), (None, "0.6"), ("0.8", "0.9")))
    left, dropped = expect(texts, resemble=resemble, contained=contained, **options)
    options |= {"resemble": resemble and float(resemble), "contained": contained and float(contained)}
    found = libidx.dedup_parts(texts, **options)
    assert found.texts == left
    assert (found.contained is None) == (contained is None)
    columns = found[1:7] if contained is not None else found[1:6]
    assert found.known_row is None and found.known_part is None
    assert list(zip(*(column.tolist() for column in columns), strict=True)) == [line[: len(columns)] for line in dropped]
    assert put_back(found, texts, options["by"]) == [text for text, cut in zip(texts, left, strict=True) if cut is not None]
    batches = libidx.dedup_parts(lambda: iter([texts[:3], texts[3:]]), **options)
    assert batches.texts == left


def put_back(found, texts, by):
    """The texts that are left, with what was dropped of them in its place: by the parts that the texts had."""
    dropped = {}
    for row, part in zip(found.row.tolist(), found.part.tolist(), strict=True):
        dropped.setdefault(row, set()).add(part)
    whole = []
    for row, cut in enumerate(found.texts):
        parts, rest = families.divide(texts[row], by), [] if cut is None else families.divide(cut, by)
        mixed = [part if at in dropped.get(row, ()) else rest.pop(0) for at, part in enumerate(parts)] if rest else parts
        if cut is not None:
            assert rest == [], row
            whole.append("".join(mixed))
    return whole


@pytest.mark.parametrize("by", ["paragraph", "line"])
def test_hostile_texts_are_whole_again(by):
    notice = "We use cookies to make this site better."
    texts = [notice, f"{notice}\r\n", f"\r\n\r\n{notice}\r\n \t\r\nOwn words of this text\rwithout an end", "\n\n\n", "", " ",
             f"\n{notice}\n\n\n", "word " * 1_000_000, f"{'word ' * 1_000_000}\n\n{notice}", "\r\r" * 1000, f"\v\f\n{notice}\n"]  # fmt: skip
    found = libidx.dedup_parts(texts, by, 1)
    left = [row for row, text in enumerate(found.texts) if text is not None]
    assert left == [0, 2, 3, 4, 5, 7, 9]
    assert put_back(found, texts, by) == [texts[row] for row in left]


def test_bytes_nulls_and_none():
    notice = "We use cookies to make this site better."
    found = libidx.dedup_parts([f"{notice}\r\n\r\nOwn words of this text.".encode(), None, f"\n{notice}".encode(), b""])
    assert found.texts == [f"{notice}\r\n\r\nOwn words of this text.".encode(), None, None, b""]
    assert [column.tolist() for column in found[1:6]] == [[2], [0], [0], [0], [1.0]]
    assert found.row.dtype == numpy.int64
    assert libidx.dedup_parts([], by="line").texts == []


@pytest.mark.parametrize("by", ["paragraph", "line"])
def test_parts_of_known_texts(by):
    """Each part that resembles one of a known text is dropped, however few texts have it, and says which one that is."""
    source, whole = random.Random(by), []
    while len(whole) < 24:
        whole = make_texts(source)
    known, texts = whole[:8], whole[8:]
    found = libidx.dedup_parts(texts, by, 0.5, against=known, again=10**6)
    assert (found.known_row >= 0).all() and (found.kept_row == -1).all() and (found.kept_part == -1).all()
    parts, theirs = ([families.divide(text, by) for text in some] for some in (texts, known))
    of_known = [words.shingles(part) for text in theirs for part in text if len(words.words(part)) >= 5]
    dropped = set(zip(found.row.tolist(), found.part.tolist(), strict=True))
    for row, text in enumerate(parts):
        for at, part in enumerate(text):
            own = words.shingles(part)
            alike = max((len(own & other) / len(own | other) for other in of_known), default=0) if len(words.words(part)) >= 5 else 0
            assert ((row, at) in dropped) == (alike >= 0.5)
    places = zip(found.row.tolist(), found.part.tolist(), found.known_row.tolist(), found.known_part.tolist(), found.resemblance.tolist(), strict=True)
    for row, at, other, part, alike in places:
        assert libidx.resemblance(parts[row][at], theirs[other][part]) == alike >= 0.5
    assert 2 < len(dropped) < sum(map(len, parts))
    mixed = libidx.dedup_parts(texts, by, 0.5, against=known)
    assert ((mixed.known_row >= 0) != (mixed.kept_row >= 0)).all() and len(mixed.row) > len(dropped)


def test_units_that_are_refused():
    for unit in "word", "document", "":
        with pytest.raises(ValueError, match=f"by: {unit!r}, which is none of 'paragraph', 'line'"):
            libidx.dedup_parts(lambda: pytest.fail("read before"), unit)
    for again in (0, 1.5, "101%", "many", -1):
        with pytest.raises(libidx.InvalidArgumentError, match=f"again = {again!r}: give a number of texts, or a share"):
            libidx.dedup_parts(lambda: pytest.fail("read before"), again=again)


# ---- The command ----


def run(*arguments):
    """The lines of standard output, and of standard error."""
    out, err = io.TextIOWrapper(io.BytesIO(), "utf-8"), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        status = command.main(["dedup", *map(str, arguments)])
    out.flush()
    assert status == 0, err.getvalue()
    return out.buffer.getvalue().decode().splitlines(), err.getvalue().splitlines()


NOTICE = "We use cookies to make this site better for all of you."
ESCAPED = NOTICE.replace("all", "\\u0061ll")


def test_command_cuts_each_format(folder):
    """What is left of each file, byte for byte, as it was written and compressed; and what is listed."""
    deep = "[" * 3000 + "]" * 3000
    written = {
        "a.txt": (f"First of all.\r\n\r\n{NOTICE}\n", None),
        "b.txt": (f"\ufeff{NOTICE}\n\nThe words of another text.", "\ufeffThe words of another text."),
        "c.jsonl": (
            f'\ufeff{{"id": 1, "doc": {{"text": "no"}}, "doc": {{"text": "Caf\\u00e9 \\ud800\\u000A\\n{ESCAPED}\\r\\n \\n", "more": 1}}}}\r\n\n'
            f'{{"id": 2, "deep": {deep}, "doc": {{"text": "{NOTICE}\\n\\n\xe9\\"Other\\\\n"}}}}\n{{"id": 3, "doc": {{"text": "{NOTICE}"}}}}\n{{"id": 4}}',
            '\ufeff{"id": 1, "doc": {"text": "no"}, "doc": {"text": "Caf\\u00e9 \\ud800\\u000A\\n", "more": 1}}\r\n'
            f'{{"id": 2, "deep": {deep}, "doc": {{"text": "\xe9\\"Other\\\\n"}}}}\n{{"id": 4}}',
        ),
        "d.tsv": (f"d\t{NOTICE}\r\ne\tSome other words of a text\r\n", "e\tSome other words of a text\r\n"),
    }
    for name, (data, _) in written.items():
        (folder / name).write_bytes(data.encode())
    (folder / "e.txt.gz").write_bytes(gzip.compress(f"{NOTICE}\n\nWhat is in here, also.".encode()))
    (folder / "f.txt").write_bytes(NOTICE.encode("utf-16"))
    names = [*written, "e.txt.gz", "f.txt"]
    options = ["--by", "paragraph", "--text", "doc.text", "--id", "id", "--min-words", "4"]
    out, err = run(*names, *options, "--output", "kept")
    for name, (data, left) in written.items():
        assert (folder / "kept" / name).read_bytes().decode() == (data if left is None else left), name
    assert gzip.decompress((folder / "kept/e.txt.gz").read_bytes()).decode() == "What is in here, also."
    assert (folder / "kept/f.txt").read_bytes() == (folder / "f.txt").read_bytes()
    assert err[-1].startswith("libidx: 10 paragraphs: 4 to keep, 6 to drop, ") and err[-1].endswith("; 2 of 10 documents to drop as a whole")
    assert "1 × UTF-16 or UTF-32, which is not divided" in err[-2]
    out, _ = run(*names, *options)
    assert out == ["a.txt:2", "b.txt:2", "e:1", "e.txt.gz:2", "4", "f.txt"]


@pytest.mark.parametrize("mark", [b"", b"\xef\xbb\xbf"])
def test_command_cuts_files_that_are_not_utf8(folder, mark):
    """Other bytes stay as they are, also behind a byte order mark."""
    text = mark + b"\xff\xe9First \xe2\x82\r\n" + NOTICE.encode() + b"\nLast \xc3"
    (folder / "a.txt").write_text(NOTICE)
    (folder / "b.txt").write_bytes(text)
    run("a.txt", "b.txt", "--by", "line", "--output", "kept")
    assert (folder / "kept/b.txt").read_bytes() == text.replace(NOTICE.encode() + b"\n", b"")


@pytest.mark.parametrize("kind", columns_of_texts([]))
def test_command_cuts_parquet(folder, kind):
    """Columns of all types: the same schema, rows and other columns, and the texts that the library leaves."""
    import pyarrow
    from pyarrow import parquet

    texts = ["First of all.", f"{NOTICE}\n\nThe words of another text.", None, "short", f"\n{NOTICE}", f"One\n\n{NOTICE}\n\ntwo", NOTICE] * 2
    texts[0] += f"\n\n{NOTICE}\n"
    more = pyarrow.array([{"a": [at]} for at in range(14)])
    table = pyarrow.table({"text": columns_of_texts(texts)[kind], "more": more}).replace_schema_metadata({"made": "by a test"})
    parquet.write_table(table, "a.parquet")
    left = libidx.dedup_parts(texts).texts
    assert left[:7] == [texts[0], "The words of another text.", None, "short", None, "One\n\ntwo", None] and left[7] == "First of all."
    within = kind in ("struct", "views")
    run("a.parquet", "--text", "text.text" if within else "text", "--by", "paragraph", "--output", "kept")
    found = parquet.read_table("kept/a.parquet")
    assert found.schema.equals(parquet.read_table("a.parquet").schema, check_metadata=True)
    found.validate(full=True)
    expected = [text.encode() if "binary" in kind and text else text for text in left]
    rows = [row for row, (text, cut) in enumerate(zip(texts, left, strict=True)) if cut is not None or text is None]
    assert found.to_pylist() == [{"text": {"text": expected[row]} if within else expected[row], "more": {"a": [row]}} for row in rows]
    assert libidx.dedup_parts(folder / "a.parquet", text="text.text" if within else "text").texts == [
        text if text is None else text.encode() for text in left
    ]


@pytest.mark.parametrize("required", [False, True])
@pytest.mark.parametrize("kind", ["string", "large_string", "binary"])
def test_command_cuts_texts_of_null_structs(folder, kind, required):
    """Structs that are null stay null, also where a text in them can't be; and bytes that are not UTF-8 stay as they are,
    in a text that is cut and in others, also in columns of strings. There are more rows than are read at a time."""
    import pyarrow
    from pyarrow import compute, parquet

    rows = range(5000)
    texts = [(b"\xff\xfeFirst \xed\xa0\x80of all\xc3 %d\r\n\r\n" % row + NOTICE.encode(), NOTICE.encode() + b"\n\n\xc3( %d" % row, None, None,
              b"\xf0\x9f %d" % row, NOTICE.encode())[row % 6] for row in rows]  # fmt: skip
    column = pyarrow.array([b"" if text is None and required else text for text in texts], "large_binary" if "large" in kind else "binary")
    column = column.view(kind)
    outer_nulls, inner_nulls = ([row % 6 in which for row in rows] for which in ((3,), (2, 3) if required else (3,)))
    fields = [pyarrow.field("text", column.type, not required), pyarrow.field("row", "int64")]
    inner = pyarrow.StructArray.from_arrays([column, pyarrow.array(rows)], fields=fields, mask=pyarrow.array(inner_nulls))
    outer = pyarrow.StructArray.from_arrays([inner], ["a"], mask=pyarrow.array(outer_nulls))
    parquet.write_table(pyarrow.table({"doc": outer, "row": pyarrow.array(rows)}), "a.parquet", row_group_size=4900)
    left = libidx.dedup_parts(texts).texts
    assert left[:6] == [texts[0], b"\xc3( 1", None, None, texts[4], None] and left[6] == texts[6][: -len(NOTICE)]
    run("a.parquet", "--text", "doc.a.text", "--by", "paragraph", "--output", "kept")
    found = parquet.read_table("kept/a.parquet").combine_chunks()
    found.validate()
    assert found.schema.equals(parquet.read_schema("a.parquet"))
    kept = [row for row in rows if left[row] is not None or texts[row] is None]
    assert found["row"].to_pylist() == kept
    doc = found["doc"].chunk(0)
    inner, text = compute.struct_field(doc, ["a"]), compute.struct_field(doc, ["a", "text"])
    assert text.view("large_binary" if "large" in kind else "binary").to_pylist() == [left[row] for row in kept]
    assert [doc.is_null().to_pylist(), inner.is_null().to_pylist()] == [[some[row] for row in kept] for some in (outer_nulls, inner_nulls)]
    assert compute.struct_field(doc, ["a", "row"]).to_pylist() == [None if inner_nulls[row] else row for row in kept]


@pytest.mark.parametrize("kind", ["string", "large_string", "dictionary"])
def test_command_cuts_strings_that_are_not_utf8(folder, kind):
    """Columns of strings with other bytes: texts are cut between these, and all others stay."""
    import pyarrow
    from pyarrow import parquet

    texts = [NOTICE.encode() + b"\n\nLast \xff", b"\xe2\x82 first\n\n" + NOTICE.encode() + b"\n\n\xed\xbf\xbf last \xf4\x90", b"\x80", None]
    large = "large_binary" if kind == "large_string" else "binary"
    column = pyarrow.array(texts, large).view("string" if kind == "dictionary" else kind)
    column = column.dictionary_encode() if kind == "dictionary" else column
    parquet.write_table(pyarrow.table({"text": column}), "a.parquet")
    run("a.parquet", "--by", "paragraph", "--output", "kept")
    found = parquet.read_table("kept/a.parquet")
    assert found.schema.equals(parquet.read_schema("a.parquet"))
    column = found["text"].chunk(0)
    column = column.dictionary_decode() if kind == "dictionary" else column
    assert column.view(large).to_pylist() == [texts[0], b"\xe2\x82 first\n\n\xed\xbf\xbf last \xf4\x90", *texts[2:]]


def test_command_and_contained(folder):
    """The library gives both measures, and the command keeps the same."""
    texts = [" ".join(f"w{number}" for number in range(begin, end)) for begin, end in ((0, 30), (0, 200), (180, 205), (0, 19))]
    (folder / "a.jsonl").write_text("".join(json.dumps({"text": text}) + "\n" for text in texts))
    found = libidx.dedup(texts, contained=0.7)
    assert found.representative.tolist() == [1, 1, 1, 3]
    assert found.contained.tolist() == [1, 1, 16 / 21, 1] and found.resemblance.tolist() == [26 / 196, 1, 16 / 201, 1]
    assert libidx.dedup(texts, contained=0.8).keep.tolist() == [False, True, True, True]
    assert libidx.dedup(texts, contained=0.8, resemble=0.05, min_words=19).representative.tolist() == [1, 1, 1, 1]
    known = libidx.dedup(texts[2:], contained=0.7, against=texts[:2])
    assert known.known.tolist() == [1, -1] and known.contained.tolist() == [16 / 21, 1]
    assert run("a.jsonl", "--contained", "0.7")[0] == ["a.jsonl:2", "a.jsonl:4"]
    pairs = libidx.text_pairs(texts, contained=0.7)
    assert list(zip(*(column.tolist() for column in pairs[:4]))) == [(0, 1, 26 / 196, 1), (1, 2, 16 / 201, 16 / 21)]
    assert run("a.jsonl", "--contained", "0.7", "--pairs")[0] == ["a.jsonl:1\ta.jsonl:2\t0.1326\t1.0000", "a.jsonl:2\ta.jsonl:3\t0.0796\t0.7619"]
    assert run("a.jsonl", "--contained", "0.7", "--by", "line", "--min-words", "5")[0] == ["a.jsonl:2:1"]


@pytest.mark.parametrize("options, sentence", [
    (["--again", "2"], "--again needs --by paragraph or --by line"), (["--min-words", "2"], "--min-words needs --by"),
    (["--by", "line", "--contains", "1"], "--contains "), (["--by", "line", "--pairs"], "--pairs is for whole"),
    (["--contained", "1.5"], "contained = 1.5: give one from"),
])  # fmt: skip
def test_command_refuses(folder, options, sentence):
    (folder / "a.txt").write_text("words")
    err = io.StringIO()
    with contextlib.redirect_stderr(err):
        assert command.main(["dedup", "a.txt", *options]) == 2
    assert sentence in err.getvalue()


QUOTED = ["First point, at some length, of the mail.", "Second point of it, which is longer than that.", "A third one, and the last of all."]


def test_quoted_mail_is_cut():
    """What a mail quotes of another one is cut out of it, however often it is quoted, and by characters as by words."""
    first = "\n\n".join(QUOTED) + "\n"
    answer, second = "I agree with all that you say there.\n", "So do I, but for one thing or the other.\n"
    quote = lambda text: "".join(f">{'' if line == chr(10) else ' '}{line}" for line in text.splitlines(True))  # noqa: E731
    mails = [first, quote(first) + "\n" + answer, quote(quote(first) + "\n" + answer) + "\n" + second]
    for options in {}, {"shingle": "chars:5"}, {"resemble": 1}:
        found = libidx.dedup_parts(mails, **options)
        assert found.texts == [first, answer, second]
        assert libidx.dedup_parts([mail.encode() for mail in mails], **options).texts == [mail.encode() for mail in found.texts]
        found = libidx.dedup_parts([first, quote(first)], "line", **options)
        assert found.texts == [first, None]


def test_every_blank():
    """A line of one character ends a paragraph if that is white space or marks a quotation, in str and in UTF-8."""
    for code in (*range(1, 0xD800), *range(0xE000, 0x110000, 1)):
        c = chr(code)
        if c == "\n":
            continue
        parts = ["a\n" + c + "\n", "b"] if families.is_blank(c) else ["a\n" + c + "\nb"]
        assert divide("a\n" + c + "\nb", "paragraph") == parts, hex(code)
        assert divide(("a\n" + c + "\nb").encode(), "paragraph") == [part.encode() for part in parts], hex(code)
    for ill in b"\xc2", b"\xe3\x80", b"\xe0\x80\xa0", b"\xa0", b"\x85":
        assert divide(b"a\n" + ill + b"\nb", "paragraph") == [b"a\n" + ill + b"\nb"]
