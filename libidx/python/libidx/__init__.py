"""An exact, compressed, on-disk index of document fingerprints.

An index answers which of its fingerprints differ from a given one in at most k bits, and which documents they belong
to. Fingerprints are 64-bit integers: `int`, or arrays of uint64 in whatever holds them (NumPy, Arrow, anything with a
buffer); int64 is taken as the same bits, and masked arrays are refused. Results are read-only columns, which NumPy
views without a copy, and which Arrow can take.

Functions; help(libidx.build) and so on show all arguments, errors and an example:

    open(path)                      Open an index, to look up fingerprints, documents, pairs and clusters: Index
    build(path, fingerprints, ids)  Build an index, also of texts; Builder does it step by step
    merge(path, inputs)             Merge indexes into a new one
    compact(path)                   Merge what Writer added to an index into one segment
    dedup(texts, resemble)          Which of many texts to keep
    dedup_parts(texts, by)          Texts without the paragraphs or lines that repeat
    text_pairs(texts, resemble)     All pairs of texts that resemble each other, or one of which contains the other
    clusters(fingerprints, ids, k)  The clusters of near-duplicates among fingerprints
    resemblance(a, b)               How much two texts have in common
    shingles(text, width)           What resemblance compares, as sorted hashes
    train(texts, recipe)            Count document frequencies, for Fingerprinter, which makes fingerprints of texts
    shard(fingerprints, shards)     The shard of each fingerprint, for an index that is built in parts
    plan(count, k)                  The schemes worth considering, and what they cost
    plan_unpacked(count, k)         What opening with residence="unpacked" takes
    calibrate(tmpdir)               Measure this machine, for plan
    scheme(name, k)                 The tables of a scheme

Writer adds to an index and removes from it; Stream needs no index. An index of texts, build(path, texts=...), finds
texts by resemblance: Index.lookup and Writer.check_and_add take texts there. Every exception is an Error.

>>> import numpy, libidx
>>> fingerprints = numpy.array([6, 7, 2**64 - 1], numpy.uint64)
>>> libidx.build("crawl.idx", fingerprints, ["a", "b", "c"]).documents
3
>>> with libidx.open("crawl.idx") as index:
...     index.lookup(7, k=1)
...     index.documents(7)
[libidx.Match(fingerprint=7, distance=0), libidx.Match(fingerprint=6, distance=1)]
['b']
"""

from ._core import INSTRUCTIONS as INSTRUCTIONS
from ._core import VERSION as __version__
from ._core import Match, Simhash
from ._errors import (
    BadChecksumError,
    BadContentError,
    BadDistanceError,
    BadRecipeError,
    BadSchemeError,
    BusyError,
    CancelledError,
    DamagedError,
    DiskFullError,
    Error,
    ExistsError,
    ForeignFileError,
    InputOutputError,
    InvalidArgumentError,
    LimitError,
    MissingFileError,
    NewVersionError,
    NoAccessError,
    NotAnIndexError,
    NotFoundError,
    OutOfMemoryError,
    UnsupportedError,
    WeakSchemeError,
    WrongSizeError,
)
from ._clusters import clusters
from ._dedup import dedup, dedup_parts, text_pairs
from ._fingerprints import HAS_TEXT, Fingerprinter, Table, train
from ._index import FileCheck, Found, Index, Info, open
from ._making import (
    Builder,
    BuildSummary,
    CompactSummary,
    Mask,
    Plan,
    Removal,
    Stream,
    UnpackedPlan,
    Writer,
    build,
    calibrate,
    compact,
    merge,
    plan,
    plan_unpacked,
    scheme,
    shard,
)
from ._parts import Divided
from ._resemblance import resemblance, shingles
from ._resembling import Deduplicated, TextPairs
from ._results import Clusters, Documents, Matches, Pairs, Resembling

WEIGHT_ONE = 65536
"""Weight 1 in the fixed point that recipes use."""

__all__ = [
    "BadChecksumError",
    "BadContentError",
    "BadDistanceError",
    "BadRecipeError",
    "BadSchemeError",
    "BuildSummary",
    "Builder",
    "BusyError",
    "CancelledError",
    "Clusters",
    "CompactSummary",
    "DamagedError",
    "Deduplicated",
    "DiskFullError",
    "Divided",
    "Documents",
    "Error",
    "ExistsError",
    "FileCheck",
    "Fingerprinter",
    "ForeignFileError",
    "Found",
    "HAS_TEXT",
    "INSTRUCTIONS",
    "Index",
    "Info",
    "InputOutputError",
    "InvalidArgumentError",
    "LimitError",
    "Mask",
    "Match",
    "Matches",
    "MissingFileError",
    "NewVersionError",
    "NoAccessError",
    "NotAnIndexError",
    "NotFoundError",
    "OutOfMemoryError",
    "Pairs",
    "Plan",
    "Removal",
    "Resembling",
    "Simhash",
    "Stream",
    "Table",
    "TextPairs",
    "UnpackedPlan",
    "UnsupportedError",
    "WEIGHT_ONE",
    "WeakSchemeError",
    "Writer",
    "WrongSizeError",
    "build",
    "calibrate",
    "clusters",
    "compact",
    "dedup",
    "dedup_parts",
    "merge",
    "open",
    "plan",
    "plan_unpacked",
    "resemblance",
    "scheme",
    "shard",
    "shingles",
    "text_pairs",
    "train",
]
