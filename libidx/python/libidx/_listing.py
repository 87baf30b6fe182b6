"""What `python -m libidx dedup` prints: IDs to keep or to drop, clusters and pairs, as the command idx prints them."""

from __future__ import annotations

import itertools
import json
import math
import re
import sys
from typing import TYPE_CHECKING, Any, Iterable, Iterator, NamedTuple

import numpy

if TYPE_CHECKING:
    from ._resembling import Deduplicated, TextPairs
    from ._parts import Parts

CONTROL, ESCAPED = re.compile(rb"[\0-\x1f\x7f]"), re.compile(rb"[\0-\x1f\x7f\\]")
LETTERS = {b"\t": rb"\t", b"\n": rb"\n", b"\\": rb"\\"}


def escape(id: bytes) -> bytes:
    """An ID as idx prints it: escaped behind a tab if it is empty or has control characters."""
    if id and CONTROL.search(id) is None:
        return id
    return b"\t" + ESCAPED.sub(lambda found: LETTERS.get(found[0], b"\\x%02x" % ord(found[0])), id)


def quote(id: bytes) -> bytes:
    """An ID in JSON: a string, or an object with its hexadecimal digits if it is not UTF-8."""
    try:
        return json.dumps(id.decode(), ensure_ascii=False).encode()
    except UnicodeDecodeError:
        return b'{"hex":"%b"}' % id.hex().encode()


def _round_down(share: float) -> bytes:
    """A share as bytes with four decimal digits, rounded down."""
    return b"%.4f" % (math.floor(share * 10000 + 1e-9) / 10000)


NAMES = b"resemblance", b"contained"


class Listing(NamedTuple):
    """Documents or parts of them, by numbers from 0, and what became of them."""

    ids: list[bytes]
    kept: Any  # bool[n]: of those that were compared
    dropped: Any  # bool[n]
    joined: Any  # int64[n]: which one each joins, itself if it is alone or first, or -1 if it joins a known one
    alike: list[Any]  # float64[n]: the resemblance to that one, and where it was asked for, the share that is contained
    known: list[bytes]  # the IDs of known documents
    known_rows: Any  # int64[n]: which of these each joins
    measures: tuple[bytes, ...]  # the names of what `alike` has
    last: list[bytes]  # the IDs of documents that are kept without being compared
    gone: list[bytes]  # the IDs of documents that are dropped as a whole


def list_documents(ids: list[bytes], bad: list[int], found: Deduplicated, known: list[bytes]) -> Listing:
    """The documents with these IDs; those of some rows are bad."""
    kept = found.keep.copy()
    kept[bad] = False
    columns = {b"resemblance": found.resemblance, b"contained": found.contained}
    if found.contains is not None:
        columns = {b"contains": found.contains}
    measures = {name: column for name, column in columns.items() if column is not None}
    last, alike = [ids[row] for row in bad], list(measures.values())
    return Listing(ids, kept, ~found.keep, found.representative, alike, known, found.known, tuple(measures), last, [])


def _name_parts(ids: list[bytes], rows: Any, parts: Any) -> list[bytes]:
    """The names of parts: ID:NUMBER, counted from 1."""
    return [b"%b:%d" % (ids[row], part + 1) for row, part in zip(rows.tolist(), parts.tolist(), strict=True)]


def list_parts(ids: list[bytes], bad: list[int], found: Parts, known: list[bytes]) -> Listing:
    """The parts of the documents with these IDs, as ID:NUMBER."""
    last = set(range(len(ids))).difference(found.row[found.compared].tolist()).union(bad)
    names = _name_parts(ids, found.row, found.part)
    known = _name_parts(known, found.known_rows, found.known_parts)
    joined = numpy.where(found.dropped, found.kept, numpy.arange(len(names)))
    gone = [ids[row] for row in numpy.flatnonzero(found.gone).tolist()]
    kept = found.compared & ~found.dropped
    last_ids, measures = [ids[row] for row in sorted(last)], NAMES[: len(found.alike)]
    return Listing(names, kept, found.dropped, joined, found.alike, known, found.known, measures, last_ids, gone)


def _print(lines: Iterable[bytes]) -> None:
    """Prints lines on standard output, after what was printed before."""
    sys.stdout.flush()
    sys.stdout.buffer.writelines(lines)
    sys.stdout.buffer.flush()


def print_kept(listing: Listing) -> None:
    """The IDs to keep, those that were not compared last."""
    ids = itertools.chain((listing.ids[number] for number in numpy.flatnonzero(listing.kept).tolist()), listing.last)
    _print(escape(id) + b"\n" for id in ids)


def print_dropped(listing: Listing) -> None:
    """The IDs to drop, those of whole documents behind those of parts."""
    ids = itertools.chain((listing.ids[number] for number in numpy.flatnonzero(listing.dropped).tolist()), listing.gone)
    _print(escape(id) + b"\n" for id in ids)


class Member(NamedTuple):
    """A document of a cluster; the cluster's number is negative if its representative is a known document."""

    cluster: int
    id: bytes
    representative: bytes
    measures: list[bytes]


def _list_members(listing: Listing, by_known: bool = False) -> Iterator[Member]:
    """The members of clusters of two or more, by their representatives, which come first; then those of known ones, in
    their order, or by what they join."""
    of_known = numpy.flatnonzero(listing.joined < 0)
    if by_known and len(of_known) > 0:
        of_known = of_known[numpy.argsort(listing.known_rows[of_known], kind="stable")]
    sizes = numpy.bincount(listing.joined[listing.joined >= 0], minlength=len(listing.ids))
    some = numpy.flatnonzero((listing.joined >= 0) & (sizes[listing.joined] > 1))
    leaders = listing.joined[some]
    some = some[numpy.lexsort((some, leaders != some, leaders))]
    clusters = numpy.cumsum(numpy.diff(listing.joined[some], prepend=-1) != 0) - 1
    if len(of_known) > 0:
        clusters = numpy.concatenate([clusters, -1 - listing.known_rows[of_known]])
    for number, cluster in zip([*some.tolist(), *of_known.tolist()], clusters.tolist(), strict=True):
        measures = [_round_down(column[number]) for column in listing.alike]
        joins = listing.known[-1 - cluster] if cluster < 0 else listing.ids[listing.joined[number]]
        yield Member(cluster, listing.ids[number], joins, measures)


def print_clusters(listing: Listing) -> None:
    """Lines of ID, cluster, ID of the representative, and the measures of what both have in common."""

    def write(member: Member) -> bytes:
        cluster = b"-" if member.cluster < 0 else b"%d" % member.cluster
        return b"\t".join([escape(member.id), cluster, escape(member.representative), *member.measures]) + b"\n"

    _print(map(write, _list_members(listing)))


def print_json(listing: Listing) -> None:
    """A line of JSON for each cluster."""

    def write(member: Member) -> bytes:
        measures = b"".join(b',"%b":%b' % pair for pair in zip(listing.measures, member.measures, strict=True))
        return b'{"id":%b%b}' % (quote(member.id), measures)

    members = _list_members(listing, by_known=True)
    for (cluster, leader), some in itertools.groupby(members, lambda member: (member.cluster, member.representative)):
        number = b"null" if cluster < 0 else b"%d" % cluster
        documents = b",".join(map(write, some))
        _print([b'{"cluster":%b,"representative":%b,"documents":[%b]}\n' % (number, quote(leader), documents)])


def print_pairs(ids: list[bytes], found: TextPairs) -> None:
    """Lines of ID, ID, resemblance, and where it was asked for, contained."""
    columns = [column.tolist() for column in (found.a, found.b, found.resemblance, found.contained) if column is not None]
    rows = zip(*columns, strict=True)
    _print(b"\t".join([escape(ids[a]), escape(ids[b]), *map(_round_down, shares)]) + b"\n" for a, b, *shares in rows)
