"""Documents that resemble texts, in an index of sketches; and the files of sets that decide which do."""

from __future__ import annotations

import math
import os
import re
import warnings
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Callable, NamedTuple, Optional, Self, Union

from . import _core
from ._errors import invalid_argument
from ._resemblance import Shingle, Unit, check_resemblance, make_sets, parse_shingle, shingles

if TYPE_CHECKING:
    from ._core import Resembling
    from ._making import Writer
    from ._types import BoolArray, Ids, Path, Texts, UInt64Array

    Finder = Union[Mapping[Any, Any], Callable[[Any], Union[str, bytes, UInt64Array, None]]]
    Documents = Union["KeptSets", Path, Finder]

VALUES_OF_ESTIMATES = 64
"""From so many values on, an estimate of 0.8 has a standard error of 0.05."""


class Sketch(NamedTuple):
    """What the sketches of an index are: how many values they have, and of what shingles."""

    values: int
    width: int
    unit: Unit

    @property
    def shingles(self) -> str:
        """How a file of sets names these shingles."""
        return f"{'words' if self.unit == 'words' else 'chars'}={self.width};v1"


def read_sketch(recipe: str, resemble: float) -> Sketch:
    """The sketch that a recipe says. Raises InvalidArgumentError if it makes no sketches."""
    found = re.fullmatch(r"minhash:(\d+);(words|chars)=(\d+);v1", recipe)
    if not found:
        raise invalid_argument(
            f"resemble = {resemble}: needs an index of sketches, minhash:M, and this one has the recipe '{recipe}'; "
            f"make one by Fingerprinter(resemble={resemble})"
        )
    return Sketch(int(found[1]), int(found[3]), "words" if found[2] == "words" else "characters")


def _texts_of(ids: Ids) -> Texts:
    """IDs as a file of sets has them: integers are decimal text."""
    first = ids[0] if isinstance(ids, (list, tuple)) and ids else None
    if not isinstance(first, (str, bytes)):
        try:
            return list(map(str, _core.numbers(ids).tolist()))
        except TypeError:
            pass
    return ids  # type: ignore[return-value]


class KeptSets(_core.KeptSets):
    """A file of sets: the shingles of documents' texts, found by their IDs, which decide what resembles a text.

    It takes 8 bytes for each shingle, grows at its end, and needs 24 to 48 bytes of memory for each document while it is
    open. Index.lookup_texts reads it, Writer.check_and_add reads and grows it, and so do `idx lookup --documents`, `idx
    add --keep-sets` and `idx fingerprint --keep-sets`. Integer IDs are found by their decimal text. A context manager.

    shingle: N words or 'chars:N', as of the index's recipe. writes: add may be called, by one process at a time; a file
    that is not there is made. Calls that only read take turns on threads.
    Raises NotFoundError, BadContentError and BadChecksumError (damage), InvalidArgumentError (sets of other shingles),
    BusyError (another process writes), NewVersionError, NoAccessError.

    >>> with libidx.KeptSets("docs.sets", writes=True) as kept:
    ...     kept.add(["one two three", "four"], ["a", "b"])
    ...     kept.find("b").tolist() == libidx.shingles("four").tolist(), kept.find("c")
    (True, None)
    """

    path: Path
    shingles: str
    _shingle: tuple[int, Unit]
    __slots__ = ("path", "shingles", "_shingle")

    def __new__(cls, path: Path, shingle: Optional[Shingle] = None, *, writes: bool = False) -> Self:
        sketch = Sketch(0, *parse_shingle(shingle))
        kept = super().__new__(cls, path, sketch.shingles, writes)
        kept.path, kept.shingles, kept._shingle = path, sketch.shingles, (sketch.width, sketch.unit)
        return kept

    def __enter__(self) -> KeptSets:
        return self

    def __exit__(self, *unused: object) -> None:
        self.close()

    def add(self, texts: Texts, ids: Ids) -> None:
        """Add the sets of n texts, which are on disk when the call returns. Of several of an ID the last one counts."""
        self._add(*make_sets(texts, *self._shingle), _texts_of(ids))

    def find(self, id: Union[int, str, bytes]) -> Optional[UInt64Array]:
        """The set of a document: its shingles, ascending, or None."""
        return self._find(str(id) if isinstance(id, int) else id)


def _open_sets(place: Union[KeptSets, Path], sketch: Sketch, *, writes: bool = False) -> KeptSets:
    """The file of sets of an index, which is opened if it is not yet."""
    if not isinstance(place, KeptSets):
        return KeptSets(place, sketch.width if sketch.unit == "words" else f"chars:{sketch.width}", writes=writes)
    if place.shingles != sketch.shingles:
        raise invalid_argument(
            f"{os.fsdecode(place.path)}: has sets of '{place.shingles}', but the index needs '{sketch.shingles}'"
        )
    return place


def _make_finder(documents: Any, sketch: Sketch) -> Optional[Callable[[Any], Any]]:
    """A callable from an ID to a set, of a mapping or a callable to texts or sets; None where there is none."""
    if documents is None:
        return None
    get = documents.get if isinstance(documents, Mapping) else documents
    if not callable(get):
        raise TypeError(f"documents: {type(documents)!r}; expected a mapping, a callable, or a file of sets")

    def find(id: Any) -> Any:
        found = get(id)
        return shingles(found, sketch.width, unit=sketch.unit) if isinstance(found, (str, bytes)) else found

    return find


class Bounds(NamedTuple):
    """What look-ups by resemblance are bounded by."""

    threads: int
    agree: int
    limit: Optional[int]
    max_candidates: Optional[int]


def _make_options(resemble: float, sketch: Sketch, bounds: Bounds) -> tuple[int, ...]:
    """The options of a look-up, as _core takes them. Warns where the sketches are too small for the resemblance."""
    for name, value in ("threads", bounds.threads), ("agree", bounds.agree):
        if not 1 <= value <= 256:
            raise invalid_argument(f"{name} = {value}: give 1 to 256")
    parts = int(check_resemblance(resemble) * 10000 + 0.5)
    if _core.sketch_values(parts) > sketch.values:
        missed = math.floor(1 / (1 - parts / 10000) ** sketch.values)
        _warn(
            f"resemble = {resemble}: the index has sketches of {sketch.values} values, so of documents that resemble a "
            f"text by just that much, up to one in {missed} is missed"
        )
    limits = (-1 if limit is None else limit for limit in (bounds.limit, bounds.max_candidates))
    return (parts, sketch.values, bounds.threads, bounds.agree, *limits)


def _warn(sentence: str) -> None:
    """Warns at the line that calls Index.lookup_texts, or what else is four calls above this one."""
    warnings.warn(sentence, stacklevel=5)


def _warn_of(unread: int, unknown: int) -> None:
    """Warns of documents that a look-up did not decide."""
    if unread:
        _warn(f"{unread} documents were not looked at, since more have a value of their text than max_candidates allows")
    if unknown:
        what = "candidate has" if unknown == 1 else "candidates have"
        _warn(f"{unknown} {what} no text in documents, and so count as not resembling the text that was looked up")


def look_up(
    index: _core.Index, recipe: str, texts: Texts, resemble: float, documents: Optional[Documents], bounds: Bounds
) -> Resembling:
    """Does what Index.lookup_texts says, in an index of this recipe."""
    sketch = read_sketch(recipe, resemble)
    if documents is None and sketch.values < VALUES_OF_ESTIMATES:
        raise invalid_argument(
            f"the index has sketches of {sketch.values} values, by which a resemblance of 0.8 is estimated with an "
            f"error of {math.sqrt(0.16 / sketch.values):.2f}: give documents, or make an index by minhash:64"
        )
    options = _make_options(resemble, sketch, bounds)
    sets = make_sets(texts, sketch.width, sketch.unit)
    if isinstance(documents, (KeptSets, str, bytes, os.PathLike)):
        found, *counts = index._resembling(*sets, (*options, _open_sets(documents, sketch), None))
    else:
        found, *counts = index._resembling(*sets, (*options, None, _make_finder(documents, sketch)))
    _warn_of(*counts)
    return found


def add_unlike(
    writer: Writer,
    texts: Texts,
    ids: Ids,
    resemble: float,
    keep_sets: Union[KeptSets, Path, None],
    documents: Optional[Finder],
    limit: Optional[int],
    max_candidates: Optional[int],
) -> tuple[BoolArray, Resembling]:
    """Writer.check_and_add by resemblance. A file of sets that is given by its path stays open as the writer's own."""
    if keep_sets is None:
        raise invalid_argument(f"resemble = {resemble}: needs keep_sets, a file for the sets of what is added")
    sketch = read_sketch(writer._recipe, resemble)
    options = _make_options(resemble, sketch, Bounds(writer._threads, 1, limit, max_candidates))
    find = _make_finder(documents, sketch)
    if isinstance(keep_sets, KeptSets) or writer._kept is None:
        kept = _open_sets(keep_sets, sketch, writes=True)
        if kept is not keep_sets:
            writer._kept = kept
    else:
        kept = writer._kept
        if os.path.abspath(os.fsdecode(keep_sets)) != os.path.abspath(os.fsdecode(kept.path)):
            raise invalid_argument(f"keep_sets: the sets of this writer are in {os.fsdecode(kept.path)!r}; give that")
    added, found, *counts = writer._add_unlike(
        *make_sets(texts, sketch.width, sketch.unit), ids, (*options, kept, find)
    )
    _warn_of(*counts)
    return added, found
