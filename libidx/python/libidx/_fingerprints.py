"""From texts to fingerprints, over libidxtext; a package that was built without ICU says so when it is called."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Optional

from ._errors import make


def refuse(*unused: Any, **also_unused: Any) -> Any:
    """What a package without ICU has in place of the functions of texts: raises UnsupportedError."""
    raise make(204, 0, "", 0, "this package was built without ICU: it reads no texts")


if TYPE_CHECKING:
    from typing import Self

    from . import _text
    from ._text import Table as Table
    from ._types import Int64Array, Texts, UInt64Array

    _Base = _text.Fingerprinter
    HAS_TEXT: bool
else:
    try:
        from . import _text
        from ._text import Table as Table

        _Base = _text.Fingerprinter
        HAS_TEXT = True
    except ImportError:
        HAS_TEXT = False

        class _Base:
            __new__ = refuse

        class Table:
            __new__ = refuse
            load = staticmethod(refuse)


class Fingerprinter(_Base):
    """Fingerprints texts by a recipe; None is the default one, of words. Any number of threads may use it.

    table: for recipes with w=tfidf and w=idf. bits: of a fingerprint, 1 to 64. `recipe` is the canonical form, to be
    given to build. Raises BadRecipeError.

    >>> fingerprinter = libidx.Fingerprinter()
    >>> fingerprinter.recipe.split(";")[0]
    'words:1'
    >>> one, other = fingerprinter(["The quick brown fox", "the quick, brown fox!"])
    >>> bool(one == other)
    True
    """

    __slots__ = ()

    def __new__(
        cls,
        recipe: Optional[str] = None,
        *,
        table: Optional[Table] = None,
        bits: int = 64,
    ) -> Self:
        return super().__new__(cls, recipe, table=table, bits=bits)

    def __call__(
        self,
        texts: Texts,
        *,
        titles: Optional[Texts] = None,
        descriptions: Optional[Texts] = None,
        threads: int = 1,
    ) -> UInt64Array:
        """The fingerprints of n texts: uint64[n]. A text without features has 0.

        Texts are str, or bytes or Arrow binaries, read as UTF-8. titles and descriptions are fields of the same
        documents, for recipes that take them. Raises InvalidArgumentError (a recipe that makes several fingerprints: see several),
        LimitError (a text of a GiB).
        """
        return self.with_features(texts, titles=titles, descriptions=descriptions, threads=threads)[0]

    def with_features(
        self,
        texts: Texts,
        *,
        titles: Optional[Texts] = None,
        descriptions: Optional[Texts] = None,
        threads: int = 1,
    ) -> tuple[UInt64Array, UInt64Array]:
        """The same, and how many distinct features each text has: uint64[n]."""
        return self._fingerprint(texts, titles, descriptions, threads, False)[:2]

    def several(
        self,
        texts: Texts,
        *,
        titles: Optional[Texts] = None,
        descriptions: Optional[Texts] = None,
        threads: int = 1,
    ) -> tuple[UInt64Array, Int64Array]:
        """All fingerprints of n texts, and the row of the text of each: uint64[m], int64[m].

        For recipes that make several, segments:N and minhash:M; texts without words have none. Build an index of the
        fingerprints and `ids[rows]`.

        >>> fingerprints, rows = libidx.Fingerprinter("minhash:2").several(["a b c d e f g", "", "a b"])
        >>> rows.tolist()
        [0, 0, 2]
        """
        import numpy

        fingerprints, _, counts = self._fingerprint(texts, titles, descriptions, threads, True)
        places = fingerprints.reshape(len(counts), len(fingerprints) // max(len(counts), 1))
        filled = numpy.arange(places.shape[1]) < counts[:, None]
        return places[filled], numpy.repeat(numpy.arange(len(counts)), counts.astype(numpy.int64))


def train(
    texts: Texts,
    recipe: Optional[str] = None,
    *,
    titles: Optional[Texts] = None,
    descriptions: Optional[Texts] = None,
) -> Table:
    """Count how many of n texts have each feature of a recipe, for Fingerprinter's `table`.

    >>> table = libidx.train(["a b", "b c"])
    >>> table.documents, table.terms
    (2, 3)
    >>> libidx.Fingerprinter("words:1;w=tfidf", table=table)(["a c"]).dtype
    dtype('uint64')
    """
    return _text.train(Fingerprinter(recipe), texts, titles, descriptions)
