"""The paragraphs and lines of a text, and a text without some of them."""

from __future__ import annotations

import re
from typing import Any, Collection, Literal, NamedTuple, cast

By = Literal["document", "paragraph", "line"]

# What has Unicode's property White_Space, but for \n, and the mark of quotation, in a str, and in UTF-8.
BLANK = "[\t\v\f\r \x85\xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000>]"
BLANK_BYTES = rb"(?:[\t\v\f\r >]|\xc2[\x85\xa0]|\xe1\x9a\x80|\xe2\x80[\x80-\x8a\xa8\xa9\xaf]|\xe2\x81\x9f|\xe3\x80\x80)"


class Patterns(NamedTuple):
    """Patterns of a type of text. gap: a line end and the lines behind it that are blank. marks: what a line begins with, if
    that has marks of quotation."""

    line: Any
    gap: Any
    blank: Any
    marks: Any


STR = Patterns(
    re.compile(r"[^\n]*\n|[^\n]+"),
    re.compile(rf"\n(?:{BLANK}*\n)+"),
    re.compile(rf"(?:{BLANK}|\n)*"),
    re.compile(rf"^{BLANK}*>{BLANK}*", re.MULTILINE),
)
BYTES = Patterns(
    re.compile(rb"[^\n]*\n|[^\n]+"),
    re.compile(rb"\n(?:%b*\n)+" % BLANK_BYTES),
    re.compile(rb"(?:%b|\n)*" % BLANK_BYTES),
    re.compile(rb"^%b*>%b*" % (BLANK_BYTES, BLANK_BYTES), re.MULTILINE),
)


def patterns_of(text: Any) -> Patterns:
    return STR if isinstance(text, str) else BYTES


def divide(text: Any, by: By) -> list[Any]:
    """The parts of a str or bytes, which together are the text: lines end behind \n, paragraphs behind what follows of lines
    that are blank: white space, as Unicode has it, and marks of quotation, >."""
    patterns = patterns_of(text)
    if by == "line":
        return cast(list[Any], patterns.line.findall(text))
    ends = [match.end() for match in patterns.gap.finditer(text)]
    parts = [text[begin:end] for begin, end in zip([0, *ends], [*ends, len(text)], strict=True) if begin < end]
    # What is blank before the first paragraph, or behind the last one, belongs to it.
    if len(parts) > 1 and patterns.blank.fullmatch(parts[0]):
        parts[:2] = [parts[0] + parts[1]]
    if len(parts) > 1 and patterns.blank.fullmatch(parts[-1]):
        parts[-2:] = [parts[-2] + parts[-1]]
    return parts


def unquote(part: Any) -> Any:
    """What is compared of a part: without the marks of quotation that its lines begin with."""
    return patterns_of(part).marks.sub(part[:0], part)


def join(parts: list[Any], lost: Collection[int]) -> Any:
    """The text of these parts, of which there is one at least, without those of some numbers."""
    empty = parts[0][:0]  # str or bytes, as the parts
    return empty.join(part for number, part in enumerate(parts) if number not in lost)


ESCAPE = re.compile(rb"\\(?:u[0-9a-fA-F]{4}|.)", re.DOTALL)
LINE_FEEDS = rb"\n", rb"\u000a", rb"\u000A"


def cut_string(written: bytes, text: str, lost: Collection[int], by: By) -> bytes:
    """What is between the quotes of a string of JSON, without the parts of these numbers of the text that it stands for."""
    ends = [found.end() for found in ESCAPE.finditer(written) if found[0] in LINE_FEEDS]
    ends.append(len(written))
    kept, begin, lines = [], 0, 0  # `lines` of the text have ended
    for number, part in enumerate(divide(text, by)):
        lines += part.count("\n")
        end = ends[lines - 1 if part.endswith("\n") else lines]
        if number not in lost:
            kept.append(written[begin:end])
        begin = end
    return b"".join(kept)
