"""The paragraphs and lines of a text, and a text without some of them."""

from __future__ import annotations

from typing import Any, Collection, Literal

from ._resemblance import divide as divide
from ._resemblance import unquote as unquote

By = Literal["document", "paragraph", "line"]


def join(parts: list[Any], lost: Collection[int]) -> Any:
    """The text of these parts, one at least, without those of some numbers."""
    empty = parts[0][:0]  # str or bytes, as the parts
    return empty.join(part for number, part in enumerate(parts) if number not in lost)
