"""Texts and IDs as callers give them: lists, columns, and for texts iterators, callables and files, in batches."""

from __future__ import annotations

import itertools
import os
from typing import TYPE_CHECKING, Any, Callable, Iterable, Iterator, Literal, Optional, Sequence, Union

from . import _core, _inputs
from ._errors import invalid_argument
from ._parquet import read_texts

if TYPE_CHECKING:
    from ._types import Texts

    Documents = Union[
        Texts, Iterator[str], Callable[[], Iterable[Texts]], os.PathLike[str], Sequence[os.PathLike[str]]
    ]


IdType = Literal["text", "u64", "none"]
ID_TYPES = ("text", "u64", "none")


def kind_of(ids: Any) -> IdType:
    """The ID type that IDs need: by the first of a list, and of a column by whether it holds 64-bit integers."""
    if ids is None:
        return "u64"
    if isinstance(ids, (list, tuple)):
        first = next((id for id in ids if id is not None), "")
        return "text" if isinstance(first, (str, bytes)) else "u64"
    try:
        _core.shard(ids, 1)
    except TypeError:
        return "text"
    return "u64"


def list_files(documents: Any) -> Optional[list[os.PathLike[str]]]:
    """The paths, where there is a path or a list of them."""
    paths = list(documents) if isinstance(documents, (list, tuple)) else [documents]
    return paths if paths and all(isinstance(path, os.PathLike) for path in paths) else None


def _refuse_names(documents: Any) -> None:
    """Refuses a str in place of a list of texts, and names of files in place of texts."""
    advice = "give files as pathlib.Path, or a list of these"
    if isinstance(documents, (str, bytes)):
        raise TypeError(f"documents: one {type(documents).__name__}; expected a list of texts; {advice}")
    if not isinstance(documents, (list, tuple)) or len(documents) == 0:
        return
    if all(isinstance(name, str) and name.endswith(".parquet") for name in documents) and os.path.exists(documents[0]):
        raise TypeError(f"documents: {documents[0]!r} is a file, but its name would be taken for a text; {advice}")


BATCH = 1024
"""Texts of an iterator that are taken at a time."""


def take_texts(documents: Any, text: str) -> Optional[Iterable[Any]]:
    """Batches of texts, some of which may be null; None if these are no texts. `text` is the column of files."""
    if (files := list_files(documents)) is not None:
        return read_texts(files, text)()
    _refuse_names(documents)
    if isinstance(documents, Iterator):
        texts = documents
        return iter(lambda: list(itertools.islice(texts, BATCH)), [])
    if callable(documents):  # it is called when the first batch is asked for
        return (batch for call in [documents] for batch in call())
    return [documents] if kind_of(documents) == "text" else None


def read_files(paths: Sequence[Union[str, bytes, os.PathLike[str]]], text: str) -> Iterable[Any]:
    """The texts of files and folders of any format that `python -m libidx` reads."""
    try:
        sources = _inputs.find_sources([os.fsdecode(path) for path in paths], text).files
    except _inputs.Mistake as error:
        raise invalid_argument(str(error)) from None
    return (batch.texts for source in sources for batch in source.batches())


def _is_null(text: Any) -> bool:
    """Whether an item is None, or NaN, which pandas has for it."""
    return not isinstance(text, (str, bytes)) and (text is None or text != text)


def split_nulls(texts: Any) -> tuple[Any, Optional[Any]]:
    """Texts with empty ones in place of nulls, and which are null: bool[n], or None where none is."""
    import numpy

    nulls: Any = None
    if isinstance(texts, (list, tuple)) or (isinstance(texts, numpy.ndarray) and texts.dtype.kind == "O"):
        nulls = numpy.fromiter(map(_is_null, texts), numpy.bool_, len(texts))
    elif hasattr(texts, "isna"):  # of pandas
        nulls = numpy.asarray(texts.isna())
    elif hasattr(texts, "is_null") and hasattr(texts, "null_count"):  # of pyarrow and Polars
        count = texts.null_count() if callable(texts.null_count) else texts.null_count
        nulls = numpy.asarray(texts.is_null()) if count else None
    if nulls is None or not nulls.any():
        return texts, None
    items = texts.to_pylist() if hasattr(texts, "to_pylist") else list(texts)
    return ["" if null else item for item, null in zip(items, nulls.tolist(), strict=True)], nulls


