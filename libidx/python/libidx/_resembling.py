"""Indexes of texts, which have the sets of these, their shingles: what resembles a text, and what resembles nothing."""

from __future__ import annotations

import math
import re
import warnings
from typing import TYPE_CHECKING, Any, Iterator, NamedTuple, Optional

from . import _core
from ._errors import invalid_argument
from ._resemblance import Sets, Shingle, Unit, check_resemblance, make_sets, parse_shingle

if TYPE_CHECKING:
    from ._making import Writer
    from ._results import Resembling
    from ._types import BoolArray, Call, Float64Array, Ids, Int64Array, Texts


class Sketch(NamedTuple):
    """How an index finds its texts: the number of smallest shingles of each, the resemblance, and what shingles are."""

    values: int
    resemblance: float
    width: int
    unit: Unit

    @property
    def shingle(self) -> Shingle:
        """The shingles as the argument shingle has them."""
        return self.width if self.unit == "words" else f"chars:{self.width}"

    def make_sets(self, texts: Any) -> tuple[Any, Any]:
        return make_sets(texts, self.width, self.unit)


def to_parts(resemble: float) -> int:
    """A resemblance in units of 0.0001. Raises InvalidArgumentError unless it is from that to 1."""
    return int(check_resemblance(resemble, "resemble") * 10000 + 0.5)


def choose_sketch(resemble: float, shingle: Optional[Shingle]) -> tuple[int, str]:
    """How many values sketches need for a resemblance, and the recipe of such an index."""
    values = _core.sketch_values(to_parts(resemble))
    if values > 64:
        raise invalid_argument(f"resemble = {resemble}: give 0.17 to 1, which sketches of up to 64 values answer")
    width, unit = parse_shingle(shingle)
    return values, f"minhash:{values};{'words' if unit == 'words' else 'chars'}={width};v1"


def read_sketch(recipe: str, values: int, resemblance: float) -> Optional[Sketch]:
    """The sketch of an index of this recipe; None if it has no sets, and so 0 values."""
    if values == 0:
        return None
    found = re.fullmatch(r"minhash:\d+;(words|chars)=(\d+);v1", recipe)
    if not found:
        raise invalid_argument(f"the index has sets of the recipe {recipe!r}, which this version of libidx can't make")
    return Sketch(values, resemblance, int(found[2]), "words" if found[1] == "words" else "characters")


class Deduplicated(NamedTuple):
    """For each of n texts: whether to keep it, its cluster, the representative's row, and what they have in common.

    keep bool[n]; cluster int64[n], from 0, without gaps, by the rows of their representatives; representative int64[n].
    A text without near-duplicates is a cluster of its own. resemblance float64[n], to the representative, 1 for that
    itself. A near-duplicate of a text of `against` is not kept, and has -1 as its cluster and representative. known
    int64[n]: the text of `against` that a text is near to, from 0 on, or -1; None without such texts. ignored: how many
    shingles did not count because of ignore_common. contained float64[n]: the share of a text's own shingles that its
    representative has, 1 for that itself; None unless it was asked for. contains float64[n]: the share of the shingles
    of a text of `against` that a text has, 1 if it is kept; None unless it was asked for. left_out: how many texts of
    `against` were too short to be looked for. ids: the IDs of the texts of an index that has the rows or was `against`,
    uint64[m] or a list of str.
    """

    keep: BoolArray
    cluster: Int64Array
    representative: Int64Array
    resemblance: Float64Array
    known: Optional[Int64Array] = None
    ignored: int = 0
    contained: Optional[Float64Array] = None
    contains: Optional[Float64Array] = None
    left_out: int = 0
    ids: Any = None


class TextPairs(NamedTuple):
    """Pairs of texts: the row of the first int64[m], that of the second int64[m], and their resemblance float64[m].

    contained float64[m]: the share of the shingles of the text with fewer that the other one has; None unless it was
    asked for. ids: from Index.pairs, the IDs of the texts; a and b are their rows: uint64[n] or a list of str.
    other_ids: from Index.join, those of the other index; b are their rows.
    """

    a: Int64Array
    b: Int64Array
    resemblance: Float64Array
    contained: Optional[Float64Array] = None
    ids: Any = None
    other_ids: Any = None


PIECE = 1024
"""Texts whose shingles are made at once."""


def cut(texts: Any, ids: Any) -> Iterator[tuple[Any, Any]]:
    """Pieces of texts and their IDs, or all at once where either can't be sliced."""
    if all(column is None or hasattr(column, "__getitem__") and hasattr(column, "__len__") for column in (texts, ids)):
        if ids is None or len(texts) == len(ids):
            for at in range(0, len(texts), PIECE):
                yield texts[at : at + PIECE], None if ids is None else ids[at : at + PIECE]
            return
    yield texts, ids


class Bounds(NamedTuple):
    """What look-ups by resemblance are bounded by."""

    threads: int
    limit: Optional[int]
    max_candidates: Optional[int]


def make_options(resemble: Optional[float], sketch: Sketch, bounds: Bounds) -> tuple[int, ...]:
    """The options of a look-up, as _core takes them. Warns where the sketches are too small for the resemblance."""
    if not 1 <= bounds.threads <= 256:
        raise invalid_argument(f"threads = {bounds.threads}: give 1 to 256")
    least = sketch.resemblance if resemble is None else resemble
    parts = to_parts(least)
    if _core.sketch_values(parts) > sketch.values:
        missed = math.floor(1 / (1 - parts / 10000) ** sketch.values)
        warn(
            f"resemble = {least}: the index has sketches of {sketch.values} values, so of texts that resemble another "
            f"one by just that much, up to one in {missed} is missed"
        )
    limits = (-1 if limit is None else limit for limit in (bounds.limit, bounds.max_candidates))
    return (parts, bounds.threads, *limits)


def warn(sentence: str) -> None:
    """Warns at the line that calls Index.lookup, or what else is four calls above this one."""
    warnings.warn(sentence, stacklevel=5)


def warn_of_unread(unread: int) -> None:
    """Warns if texts were not looked at because of max_candidates."""
    if unread:
        warn(f"{unread} texts were not looked at, since more have a value of their sketch than max_candidates allows")


def sketch_of(index: _core.Index, resemble: Optional[float] = None, k: Optional[int] = None) -> Optional[Sketch]:
    """The sketch of an index of texts, None for one of fingerprints. Refuses a distance of texts, and a resemblance of
    fingerprints."""
    info = index._info()
    sketch = read_sketch(info["recipe"], info["sketch"], info["resemble"])
    if sketch is None and resemble is not None:
        advice = "make one by libidx.build(path, texts=..., resemble=...)"
        raise invalid_argument(f"resemble: this index has no sets of texts; {advice}")
    if sketch is not None and k is not None:
        raise invalid_argument(f"k = {k}: this index is one of texts: give resemble")
    return sketch


def look_up(
    index: _core.Index, queries: Any, k: Optional[int], resemble: Optional[float], bounds: Bounds
) -> tuple[Resembling, bool]:
    """What resembles each of n texts, or a str or bytes, in an index of texts; and whether it was a str or bytes."""
    sketch = sketch_of(index, k=k)
    assert sketch is not None
    options = make_options(resemble, sketch, bounds)
    is_one = isinstance(queries, (str, bytes))
    found, unread = index._resembling(*sketch.make_sets([queries] if is_one else queries), options)
    warn_of_unread(unread)
    return found, is_one


def add_unlike(
    writer: Writer, sketch: Sketch, texts: Texts, ids: Ids, resemble: Optional[float], bounds: Bounds
) -> tuple[BoolArray, Resembling]:
    """Adds each of n texts that resembles nothing. Returns which were added, and what the others resemble."""
    options = make_options(resemble, sketch, bounds)
    added, found, unread = writer._add_unlike((*sketch.make_sets(texts), ids), options)
    warn_of_unread(unread)
    return added, found


def read_sets(index: _core.Index, sets: Sets) -> Any:
    """Adds the sets of all texts of an index to others. Returns the IDs of the texts: uint64[n], or a list of str."""
    import numpy

    pieces: list[Any] = []

    def take(hashes: Any, counts: Any, numbers: Any, offsets: Any, texts: Any) -> None:
        """Adds the sets of some texts, and keeps their IDs."""
        sets.add_sets(hashes, counts)
        pieces.append(_core.texts(offsets, texts, "surrogateescape") if numbers is None else numbers)

    index._visit_sets(take)
    if isinstance(pieces[0], list):
        return [id for ids in pieces for id in ids]
    return numpy.concatenate(pieces)


def pair_texts(index: _core.Index, sketch: Sketch, resemble: Optional[float], call: Call) -> TextPairs:
    """All pairs of texts of an index."""
    sets = Sets(sketch.width, sketch.unit, call)
    ids = read_sets(index, sets)
    return TextPairs(*sets.pairs(sketch.resemblance if resemble is None else resemble))._replace(ids=ids)


def join_texts(
    indexes: tuple[_core.Index, _core.Index], sketches: tuple[Sketch, Sketch], resemble: Optional[float], call: Call
) -> TextPairs:
    """All pairs of a text of one index and one of the other."""
    import numpy

    sketch, others = sketches
    if (sketch.width, sketch.unit) != (others.width, others.unit):
        raise invalid_argument(f"the indexes have shingles of {sketch.shingle} and {others.shingle}, so their texts can't be compared")
    sets = Sets(sketch.width, sketch.unit, call)
    ids, other_ids = (read_sets(index, sets) for index in indexes)
    firsts = numpy.asarray(sets.keep(1.0, 0, None, False)[0])  # of each text, the first one that equals it
    a, b, shares, *_ = map(numpy.asarray, sets.pairs(sketch.resemblance if resemble is None else resemble))
    # Pairs are of first ones, and of copies with their first one. Each is for all texts that equal the two.
    differ, equal = shares < 1, numpy.intersect1d(firsts[: len(ids)], firsts[len(ids) :])
    a, b = numpy.concatenate([a[differ], b[differ], equal]), numpy.concatenate([b[differ], a[differ], equal])
    shares = numpy.concatenate([shares[differ], shares[differ], numpy.ones(len(equal))])
    rows, other_rows, pairs = products(firsts[: len(ids)], a, firsts[len(ids) :], b)
    order = numpy.lexsort((other_rows, rows))
    return TextPairs(rows[order], other_rows[order], shares[pairs[order]], None, ids, other_ids)


def products(values: Any, wanted: Any, other_values: Any, others_wanted: Any) -> tuple[Any, Any, Any]:
    """For each i, all pairs of a row of `values` that has wanted[i] and one of `other_values` that has others_wanted[i]: the
    two rows, and i, three arrays int64[n]."""
    import numpy

    def find(values: Any, wanted: Any) -> tuple[Any, Any, Any]:
        """For each wanted value, its rows: the order of all rows by value, where its rows begin there, and how many
        there are."""
        order = numpy.argsort(values, kind="stable")
        begins, ends = (numpy.searchsorted(values[order], wanted, side) for side in ("left", "right"))
        return order, begins, ends - begins

    (order, begins, lengths), (other_order, other_begins, widths) = find(values, wanted), find(other_values, others_wanted)
    counts = lengths * widths
    pairs = numpy.repeat(numpy.arange(len(counts)), counts)
    place = numpy.arange(len(pairs)) - numpy.repeat(numpy.cumsum(counts) - counts, counts)
    row, column = begins[pairs] + place // widths[pairs], other_begins[pairs] + place % widths[pairs]
    return order[row], other_order[column], pairs


def cluster_texts(
    index: _core.Index, sketch: Sketch, resemble: Optional[float], copies: bool, call: Call
) -> Deduplicated:
    """All texts of an index, and which of them represent others."""
    sets = Sets(sketch.width, sketch.unit, call)
    ids = read_sets(index, sets)
    found = sets.keep(sketch.resemblance if resemble is None else resemble, 0, None, copies)
    return list_kept(*found)._replace(ids=ids)


def list_kept(joined: Any, alike: Any, contained: Any = None, *, known: int = 0) -> Deduplicated:
    """What Sets.keep says of the texts that follow the first `known` ones."""
    import numpy

    joined = joined[known:].astype(numpy.int64)
    chosen = numpy.where(joined < known, -1, joined - known)
    keep = chosen == numpy.arange(len(joined))
    cluster = numpy.where(chosen < 0, -1, (numpy.cumsum(keep) - 1)[chosen])
    theirs = numpy.where(joined < known, joined, -1)
    share = None if contained is None else contained[known:]
    return Deduplicated(keep, cluster, chosen, alike[known:], theirs, 0, share)
