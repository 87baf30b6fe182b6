"""Clusters of fingerprints that are in no index."""

from __future__ import annotations

import os
import tempfile
from typing import TYPE_CHECKING, Any, Literal, Optional

from ._index import Index
from ._making import build
from ._progress import Progress, callback

if TYPE_CHECKING:
    from ._results import Clusters
    from ._types import Ids, Numbers, Path

WITHOUT_TABLES = 8
"""From this distance on, pairs are found in memory faster than by any tables."""


def clusters(
    fingerprints: Numbers,
    ids: Optional[Ids] = None,
    k: int = 3,
    *,
    bits: int = 64,
    method: Literal["components", "star"] = "components",
    representative: Literal["first", "most-documents", "smallest-id"] = "first",
    alone: bool = False,
    threads: int = 1,
    memory: int = 0,
    tmpdir: Optional[Path] = None,
    progress: Progress = None,
) -> Clusters:
    """The clusters of near-duplicates among n documents, by their fingerprints: those of Index.clusters, without an index.

    ids: str, bytes or uint64, as many; without them, the ID of a document is its row. k: 0 to 16 bits. bits: of a
    fingerprint, 1 to 64. `alone` adds a cluster for each document without near-duplicates, so that the representatives
    are all documents to keep. "first" is the document that comes first, or that of the smallest integer ID. During the
    call, an index in tmpdir takes about 20 bytes per document and its ID.
    Raises InvalidArgumentError, BadDistanceError, NotFoundError (tmpdir), DiskFullError, OutOfMemoryError.

    >>> found = libidx.clusters(fingerprints, ["a", "b", "c"], k=1)
    >>> found.tolist(), found.clusters, found.distances
    (['a', 'b'], array([0, 0]), array([0, 1], dtype=uint8))
    >>> found = libidx.clusters(fingerprints, k=1, alone=True)
    >>> found.numbers[found.is_representative]  # rows to keep
    array([0, 2], dtype=uint64)
    """
    common: dict[str, Any] = {"threads": threads, "memory": memory, "progress": callback(progress)}
    tables = k if k < WITHOUT_TABLES or k >= bits else 0
    place = None if tmpdir is None else os.fsdecode(tmpdir)
    with tempfile.TemporaryDirectory(prefix="libidx-", dir=place) as folder:
        path = os.path.join(folder, "index")
        # Tables are read once here, so few of them are best: blocks may differ in one bit.
        build(path, fingerprints, ids, k=tables, bits=bits, scheme=f"{tables // 2 + 1}:1:1", **common)
        with Index(path, residence="none") as index:
            options: dict[str, Any] = {"method": method, "representative": representative, "alone": alone}
            return index.clusters(k, tmpdir=folder, **options, **common)
