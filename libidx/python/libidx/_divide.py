"""The paragraphs and lines of a text, and a text without some of them."""

from __future__ import annotations

import re
from typing import Any, Collection, Literal

By = Literal["document", "paragraph", "line"]

LINE, BREAK, WHITE = r"[^\n]*\n|[^\n]+", r"\n(?:[ \t\r\v\f]*\n)+", " \t\n\r\v\f"


def divide(text: Any, by: By) -> list[Any]:
    """The parts of a str or bytes, which together are the text: lines end behind \\n, paragraphs behind what follows of lines
    that are blank, in ASCII."""
    patterns: list[Any] = [LINE, BREAK, WHITE]
    line, gap, white = patterns if isinstance(text, str) else [pattern.encode() for pattern in patterns]
    if by == "line":
        return re.findall(line, text)
    ends = [match.end() for match in re.finditer(gap, text)]
    parts = [text[begin:end] for begin, end in zip([0, *ends], [*ends, len(text)], strict=True) if begin < end]
    # What is blank before the first paragraph, or behind the last one, belongs to it.
    if len(parts) > 1 and not parts[0].strip(white):
        parts[:2] = [parts[0] + parts[1]]
    if len(parts) > 1 and not parts[-1].strip(white):
        parts[-2:] = [parts[-2] + parts[-1]]
    return parts


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
