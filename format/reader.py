#!/usr/bin/env python3
"""A second reader of idx indexes, written from SPEC.md alone, to be read beside it.

It tests the specification and the conformance vectors. It is short and slow, and shares nothing with the C code.
Needs Python 3.9 and the module xxhash (Debian: python3-xxhash).

    reader.py table FILE        verify a table file; print its fingerprints, unpermuted, in the table's order
    reader.py index FOLDER      verify the manifest and all tables of an index; print each table's path and fingerprints
    reader.py documents FOLDER  verify the document maps of an index, its pending records and its removals; print all
                                live documents: fingerprint, tab, ID
    reader.py vectors FOLDER    try all conformance vectors that FOLDER/vectors.tsv lists

Exit status: 0 if all is well, 1 if something is wrong (it is printed), 2 for wrong usage.
"""
import os
import re
import struct
import sys
from collections import Counter, namedtuple
from functools import reduce
from operator import and_, or_

import xxhash

VERSION, PAGE = 1, 4096
LINE, LINE_CELLS, LINE_BLOCKS = 64, 448, 56
MOST_IN_BLOCK, MOST_TAIL = 1023, 57

Manifest = namedtuple("Manifest", "uuid bits id_type by_id tables sequence log segments")
Log = namedtuple("Log", "id first last")
Segment = namedtuple("Segment", "number uuid fingerprints documents removed")
Header = namedtuple("Header", "number uuid mask bits radius anchor near block_size fingerprints blocks lengths "
                              "statistics lists long extra")
Code = namedtuple("Code", "codes near tail classes")

class Fault(Exception):
    """What is wrong with a file: one of the names of chapter 13."""

def require(condition, fault):
    if not condition:
        raise Fault(fault)

# Chapter 1: conventions

def u32(data, offset):
    return int.from_bytes(data[offset:offset + 4], "little")

def u64(data, offset):
    return int.from_bytes(data[offset:offset + 8], "little")

def checksum(data):
    return xxhash.xxh3_64_intdigest(data)

def pages(size):
    return -(-size // PAGE)

def as_text(fingerprint, f):
    return f"{fingerprint:0{-(-f // 4)}x}"

def check_start(data, magic, header_size):
    require(data[:8] == magic, "magic")
    require(len(data) >= 12, "size")
    require(int.from_bytes(data[8:12], "little") == VERSION, "version")
    require(len(data) >= header_size, "size")

# Chapter 2: tables and schemes

def unpermute(permuted, mask, f):
    """The fingerprint, as users see it, of one that is permuted and left-aligned."""
    bits = range(f - 1, -1, -1)
    order = [b for b in bits if mask >> b & 1] + [b for b in bits if not mask >> b & 1]
    return sum((permuted >> (63 - i) & 1) << b for i, b in enumerate(order))

def covers(f, k, tables):
    """Whether every set of at most k bits has at most radius bits in the mask of some table.

    Looks for a set that has more in every mask. Bits that stand in the same masks are all alike.
    """
    masks_of = [[mask >> bit & 1 for mask, _ in tables] for bit in range(f)]
    alike = [sum(1 << b for b in range(f) if masks_of[b] == masks_of[bit]) for bit in range(f)]

    def exceeds_all(left, needs, usable):
        """Whether left more of the usable bits can meet the needs: masks, and how many of their bits are wanted."""
        if not needs:
            return True
        most_hit = max((sum(mask >> b & 1 for mask, _ in needs) for b in range(f) if usable >> b & 1), default=0)
        if sum(need for _, need in needs) > left * most_hit:
            return False
        choices = [mask & usable for mask, _ in needs]
        if any(need > min(left, bin(choice).count("1")) for choice, (_, need) in zip(choices, needs)):
            return False
        hardest = min(choices, key=lambda choice: bin(choice).count("1"))
        for bit in range(f):
            if hardest & usable & 1 << bit:
                rest = [(mask, need - (mask >> bit & 1)) for mask, need in needs]
                if exceeds_all(left - 1, [(mask, need) for mask, need in rest if need], usable & ~(1 << bit)):
                    return True
                usable &= ~alike[bit]
        return False

    return not exceeds_all(k, [(mask, radius + 1) for mask, radius in tables], 2**f - 1)

# Chapter 3: the manifest

def number(text):
    """A decimal number; of one with more than 20 digits, only that it is large."""
    require(re.fullmatch(rb"0|[1-9][0-9]*", text), "syntax")
    return int(text) if len(text) <= 20 else 10**20

def uuid_of(text):
    require(re.fullmatch(rb"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", text), "uuid")
    return bytes.fromhex(text.replace(b"-", b"").decode())

def printable(text, most):
    return 1 <= len(text) <= most and all(byte >= 32 and byte != 127 for byte in text)

def is_name(text):
    return bool(re.fullmatch(rb"[!-~]{1,63}", text))

def fields_of(line, keyword, count):
    fields = line.split(b" ")
    require(fields[0] == keyword and len(fields) == count + 1, "syntax")
    return fields[1:]

def manifest_table(line, f):
    mask, radius = fields_of(line, b"table", 2)
    require(re.fullmatch(rb"[0-9a-f]{%d}" % -(-f // 4), mask) and 0 < int(mask, 16) < 2**f, "mask")
    require(number(radius) <= 3, "radius")
    return int(mask, 16), int(radius)

def manifest_segment(line, before, id_type):
    digits, uuid, fingerprints, documents, removed = fields_of(line, b"segment", 5)
    require(re.fullmatch(rb"[0-9]{6}", digits), "syntax")
    segment = Segment(int(digits), uuid_of(uuid), number(fingerprints), number(documents), number(removed))
    require(segment.number > 0 and segment.number not in [s.number for s in before], "segment")
    require(segment.uuid not in [s.uuid for s in before], "segment")
    require(max(segment.fingerprints, segment.documents, segment.removed) < 2**64, "count")
    require(before or not segment.removed, "count")
    require(segment.documents == 0 if id_type == b"none" else segment.documents >= segment.fingerprints, "count")
    return segment

def read_manifest(data):
    start = re.match(rb"idx-index (0|[1-9][0-9]{0,9})(?![0-9])", data)
    require(start and int(start[1]) < 2**32, "magic")
    require(int(start[1]) == VERSION, "version")
    require(len(data) <= 262144, "size")
    require(data[-26:] == b"checksum %016x\n" % checksum(data[:-26]), "checksum")
    lines = iter(data[:-26].split(b"\n"))
    require(next(lines) == b"idx-index %d" % VERSION, "syntax")
    # from here on, a line that lacks is read as an empty one
    line = next(lines, b"")
    if line.startswith(b"needs "):
        need, = fields_of(line, b"needs", 1)
        require(is_name(need), "syntax")
        raise Fault("needs")
    uuid = uuid_of(*fields_of(line, b"uuid", 1))
    f = number(*fields_of(next(lines, b""), b"bits", 1))
    require(1 <= f <= 64, "bits")
    k = number(*fields_of(next(lines, b""), b"k", 1))
    require(k <= 16 and k < f, "k")
    id_type, = fields_of(next(lines, b""), b"id-type", 1)
    require(id_type in (b"text", b"u64", b"none"), "id-type")
    by_id, = fields_of(next(lines, b""), b"by-id", 1)
    require(by_id in (b"yes", b"no") and (by_id, id_type) != (b"yes", b"none"), "by-id")
    keyword, space, recipe = next(lines, b"").partition(b" ")
    require(keyword == b"recipe", "syntax")
    require(not space or printable(recipe, 255), "recipe")
    keyword, _, scheme = next(lines, b"").partition(b" ")
    require(keyword == b"scheme" and scheme.isascii() and printable(scheme, 63), "syntax")
    tables, segments, line = [], [], next(lines, b"")
    while line.startswith(b"table "):
        require(len(tables) < 256, "mask")
        tables.append(manifest_table(line, f))
        line = next(lines, b"")
    require(tables, "mask")
    sequence = number(*fields_of(line, b"sequence", 1))
    require(sequence < 2**64 - 1, "count")
    log, line = None, next(lines, b"")
    if line.startswith(b"log "):
        own, first, last = fields_of(line, b"log", 3)
        log = Log(uuid_of(own), number(first), number(last))
        require(log.first <= sequence and log.first <= log.last < 2**64 - 1, "count")
        line = next(lines, b"")
    while line.startswith(b"segment "):
        require(len(segments) < 1024, "segment")
        segments.append(manifest_segment(line, segments, id_type))
        line = next(lines, b"")
    require(segments, "segment")
    while line.startswith(b"optional "):
        name, space, content = line[9:].partition(b" ")
        require(is_name(name) and (content == b"" or printable(content, len(content))), "syntax")
        line = next(lines, b"")
    require(line == b"" and next(lines, None) is None and data[-27:-26] == b"\n", "syntax")
    require(covers(f, k, tables), "cover")
    return Manifest(uuid, f, id_type.decode(), by_id == b"yes", tables, sequence, log, segments)

# Chapter 4: table files

def read_header(data):
    check_start(data, b"idxtable", PAGE)
    require(u64(data, 4088) == checksum(data[:4088]), "checksum")
    require(not any(data[169:172] + data[176:4088]), "reserved")
    *fields, lengths, statistics, lists, long, extra = struct.unpack_from("<I16sQBBBBIQQ64s32sQB3xI", data, 12)
    h = Header(*fields, lengths, struct.unpack("<4Q", statistics), lists, long, extra)
    require(1 <= h.bits <= 64, "bits")
    require(0 < h.mask < 2**h.bits, "mask")
    require(h.radius <= 3, "radius")
    require(1 <= h.anchor <= min(h.bits, 63), "anchor")
    require(h.block_size in (64, 128, 256, 512, 1024, 2048, 4096), "block-size")
    require(h.blocks < 2**32 and h.fingerprints <= 2**h.bits, "count")
    require(h.blocks <= h.fingerprints <= h.blocks * MOST_IN_BLOCK, "count")
    require(h.lists <= h.blocks * 8, "count")
    require(h.long <= (h.block_size == 64), "code")
    code_of(h.near, h.lengths, h.bits)
    return h

def compare(h, number, uuid, mask, f, radius, fingerprints):
    """The header with what the manifest says."""
    require((h.number, h.uuid) == (number, uuid), "uuid")
    require(h.mask == mask, "mask")
    require(h.bits == f, "bits")
    require(h.radius == radius, "radius")
    require(h.fingerprints == fingerprints, "count")

def list_of(parts):
    """The bits of a cell's number, and the bytes, of the list of keys at these parts of their line."""
    bits = next(b for b in range(1, 65) if len({part >> 64 - b for part in parts}) == len(parts))
    stream = sum((part >> 64 - bits) << i * bits for i, part in enumerate(parts))
    return bits, stream.to_bytes(-(-len(parts) * bits // 8), "little")

def directory_of(keys):
    """The bytes of the directory of blocks with these keys: its lines, and its lists."""
    count = -(-len(keys) // LINE_BLOCKS)
    parts = [[] for _ in range(count)]
    for key in keys:
        line, part = divmod(key * count, 2**64)
        parts[line].append(part)
    lines, lists, first = b"", b"", 0
    for held in parts:
        cells = {part * LINE_CELLS // 2**64 for part in held}
        if len(cells) == len(held):
            lines += struct.pack("<II", first, 0) + sum(1 << cell for cell in cells).to_bytes(56, "little")
        else:
            bits, own = list_of(held)
            lines += struct.pack("<IIQB47x", first, len(held), len(lists), bits)
            lists += own
        first += len(held)
    return lines, lists

def statistics_of(fingerprints, mask, f):
    """Union, intersection, largest group and pairs of fingerprints that are permuted and left-aligned."""
    plain = [unpermute(x, mask, f) for x in fingerprints]
    groups = Counter(x & mask for x in plain).values()
    pairs = sum(g * (g - 1) // 2 for g in groups)
    union, intersection = (reduce(combine, plain) if plain else 0 for combine in (or_, and_))
    return union, intersection, max(groups, default=0), min(pairs, 2**64 - 1)

def read_table(data, expected=None):
    """Verify a whole table file; gives its header, and its fingerprints permuted and left-aligned."""
    h = read_header(data)
    blocks_end = PAGE + h.blocks * h.block_size
    directory = pages(blocks_end) * PAGE
    lists = directory + -(-h.blocks // LINE_BLOCKS) * LINE
    directory_end = lists + h.lists
    checksums = pages(directory_end) * PAGE
    end = checksums + (checksums - PAGE) // PAGE * 8
    require(len(data) == end + h.extra, "size")
    if expected:
        compare(h, *expected)
    for i, (expected,) in enumerate(struct.iter_unpack("<Q", data[checksums:end])):
        require(checksum(data[PAGE * (i + 1):PAGE * (i + 2)]) == expected, "checksum")
    require(not any(data[blocks_end:directory]) and not any(data[directory_end:checksums]), "padding")
    code, before = code_of(h.near, h.lengths, h.bits), -1
    fingerprints, keys = [], []
    for start in range(PAGE, blocks_end, h.block_size):
        block = read_block(data[start:start + h.block_size], h.bits, h.anchor, code, h.long, before)
        before = block[-1]
        fingerprints += (x << 64 - h.bits for x in block)
        keys.append(fingerprints[-1])
    require(len(fingerprints) == h.fingerprints, "count")
    require((data[directory:lists], data[lists:directory_end]) == directory_of(keys), "directory")
    require(h.statistics == statistics_of(fingerprints, h.mask, h.bits), "statistics")
    return h, fingerprints

# Chapter 5: the position code

def code_of(near, lengths, f):
    """The code of a table: a dictionary from (length, bits of the code as a number, first bit first) to the class."""
    lengths = bytes(lengths)
    used, tail = lengths.rstrip(b"\0"), min(f, MOST_TAIL)
    require(len(used) >= 2 and all(1 <= length <= 6 for length in used), "code")
    require(sum(2**(6 - length) for length in used) == 2**6, "code")
    require(near + len(used) - 2 <= tail, "code")
    codes, following, last = [0] * len(used), 0, 0
    for length, number in sorted((length, number) for number, length in enumerate(used)):
        following <<= length - last
        codes[number] = following
        following, last = following + 1, length
    # that of class 0, continued by 0 bits to six, then cut to the length of each
    zeros = codes[0] << 6 - used[0]
    return Code({(length, codes[i] ^ zeros >> 6 - length): i for i, length in enumerate(used)}, near, tail, len(used))

def difference_at(stream, at, top, code):
    """What a reader meets with its codes read up to one bit, and its tails down to another: difference, l and t."""
    length, bits = 0, 0
    while (length, bits) not in code.codes:
        length, bits, at = length + 1, bits << 1 | stream >> at & 1, at + 1
    number = code.codes[length, bits]
    leading = 0
    if number == 0:
        t = code.near
    elif number == code.classes - 1:
        t = code.tail
    else:
        t = code.near + number - 1
        leading = 1 << t
    return leading | stream >> max(top - t, 0) & 2**t - 1, length, t

# Chapter 6: blocks

def read_chain(stream, start, end, most_codes, key, lowest, code):
    """The fingerprints of a chain, from its key downwards, none below the lowest, and its padding as a number."""
    at, top, fingerprints = start, end, [key]
    while len(fingerprints) <= MOST_IN_BLOCK:
        d, length, t = difference_at(stream, at, top, code)
        if at + length + t > top or at + length > start + most_codes or d == 0:
            return fingerprints, stream >> at & 2**(top - at) - 1
        require(fingerprints[-1] - d >= lowest, "order")
        fingerprints.append(fingerprints[-1] - d)
        at, top = at + length, top - t
    return fingerprints, 0  # too many

def read_block(block, f, anchor, code, long, before):
    """The fingerprints of a block, permuted, as numbers of f bits; before: the key of the block before it, or -1."""
    most_codes = 64 if len(block) == 64 and not long else 8 * len(block)
    stream, end, at = int.from_bytes(block, "little"), 8 * len(block), 0

    def take(bits):
        nonlocal at
        require(at + bits <= end, "overrun")
        at += bits
        return stream >> at - bits & 2**bits - 1

    lowest = before + 1
    if take(1):
        key = take(f)
    else:
        key = lowest + (take(anchor) - lowest) % 2**anchor
    require(lowest <= key < 2**f, "order")
    chains, padding = [[key, at]], 0  # from the highest on: key, and where it begins
    if len(block) >= 1024:
        width, place_bits = take(6), (end - 1).bit_length()
        entries = [(take(width), take(place_bits)) for _ in range(3 if len(block) == 4096 else 1)]
        chains[0][1] = at
        missing = False
        for offset, place in entries:
            missing = missing or not offset
            if missing:
                padding |= offset | place
                continue
            require(place >= chains[-1][1], "overrun")
            require(key - chains[-1][0] < offset <= key - lowest, "order")
            chains.append([key - offset, place])
    fingerprints = []
    for i, (own, start) in enumerate(chains):
        least, stop = (chains[i + 1][0] + 1, chains[i + 1][1]) if i + 1 < len(chains) else (lowest, end)
        members, rest = read_chain(stream, start, stop, most_codes, own, least, code)
        fingerprints += members
        padding |= rest
    require(len(fingerprints) <= MOST_IN_BLOCK, "count")
    require(not padding, "padding")
    return fingerprints[::-1]

# Chapter 8: groups of documents and IDs, and the checksums of the document map

def read_group(data):
    """The entries of a group of documents."""
    require(19 <= len(data) <= 4096, "size")
    n, w = int.from_bytes(data[:2], "little") % 2**10, data[1] >> 2
    b, base, first = data[2], u64(data, 3), u64(data, 11)
    require(n >= 1, "count")
    require(w <= 56 and b <= 64, "overrun")
    end = 8 * (len(data) - -(-n * b // 8))
    require(end >= 8 * 19, "overrun")
    require((n - 1) * (w + 1) <= end - 8 * 19, "overrun")
    stream = int.from_bytes(data, "little")
    room = end - (n - 1) * w - 8 * 19
    high = stream >> 8 * 19 & 2**room - 1
    ones = [i for i in range(room) if high >> i & 1][:n - 1]
    require(len(ones) == n - 1, "overrun")
    fingerprints = [first]
    for i, one in enumerate(ones, 1):
        low = stream >> end - i * w & 2**w - 1
        fingerprints.append(first + ((one - i + 1 << w) + low))
    values = [base + (stream >> end + i * b & 2**b - 1) for i in range(n)]
    entries = list(zip(fingerprints, values))
    require(all(x < y for x, y in zip(entries, entries[1:])), "order")
    require(fingerprints[-1] < 2**64 and max(values) < 2**64, "order")
    require(not high >> (ones[-1] + 1 if ones else 0) and not stream >> end + n * b, "padding")
    return entries

def read_ids(data, dictionary):
    """The IDs of a group."""
    at = 2

    def take(count):
        nonlocal at
        require(at + count <= len(data), "overrun")
        at += count
        return data[at - count:at]

    def varied():
        value, shift, byte = 0, 0, 128
        while byte >= 128:
            require(shift < 35, "overrun")
            byte, = take(1)
            value, shift = value | byte % 128 << shift, shift + 7
        require(value < 2**32, "overrun")
        return value

    require(len(data) >= 2, "size")
    n = int.from_bytes(data[:2], "little")
    require(n >= 1, "count")
    ids, last = [], b""
    for _ in range(n):
        shared, piece = varied(), 1
        require(shared <= len(last), "overrun")
        last = last[:shared]
        while piece:
            token, = take(1)
            own, piece = token >> 4, token & 15
            last += take(own + (varied() if own == 15 else 0))
            require(len(last) <= 16777215, "overrun")
            if piece:
                place = int.from_bytes(take(2), "little")
                end = place + piece + 3 + (varied() if piece == 15 else 0)
                require(end <= len(dictionary), "overrun")
                last += dictionary[place:end]
                require(len(last) <= 65535, "overrun")
        ids.append(last)
    require(at == len(data), "size")
    return ids

def read_sums(data):
    check_start(data, b"idxdsums", 64)
    require(u64(data, 56) == checksum(data[:56]), "checksum")
    require(not any(data[40:56]), "reserved")
    require(len(data) == 64 + 8 * pages(u64(data, 32)) + u32(data, 12), "size")

def read_databases(data):
    """The databases of an LMDB file, entries in order; made where words have 64 bits, least significant byte first."""
    require(data[16:24] == struct.pack("<II", 0xBEEFC0DE, 1), "magic")
    size, = struct.unpack_from("<I", data, 40)
    newest = max((0, size), key=lambda meta: u64(data, meta + 144))

    def entries(root):
        if root == 2**64 - 1:
            return
        kind, lower = struct.unpack_from("<HH", data, root * size + 10)
        for place, in struct.iter_unpack("<H", data[root * size + 16:root * size + lower]):
            node = root * size + place
            length, flags, key_size = struct.unpack_from("<IHH", data, node)
            value = node + 8 + key_size
            if kind & 1:
                yield from entries(length | flags << 32)
                continue
            if flags & 1:
                value = u64(data, value) * size + 16
            yield data[node + 8:node + 8 + key_size], data[value:value + length]

    return {name.decode(): list(entries(u64(database, 40))) for name, database in entries(u64(data, newest + 128))}

def read_map(folder, name, uuid, fingerprints=None):
    """The entries of a document map, of so many fingerprints, or of a map from IDs; and its texts, by number."""
    data, sums = contents(folder, name + ".mdb"), contents(folder, name + ".sum")
    read_sums(sums)
    require(sums[16:32] == uuid, "uuid")
    require(u64(sums, 32) == len(data), "size")
    for i, (expected,) in enumerate(struct.iter_unpack("<Q", sums[64:])):
        require(checksum(data[4096 * i:4096 * (i + 1)]) == expected, "checksum")
    databases, documents, texts = read_databases(data), [], []
    meta = dict(databases["meta"])
    require(meta[b"uuid"] == uuid, "uuid")
    for key, group in databases["docs"]:
        documents += read_group(group)
        require(struct.unpack(">QQ", key) == documents[-1], "order")
    for key, group in databases.get("ids", []):
        texts += read_ids(group, meta[b"dictionary"])
        require(int.from_bytes(key, "big") == len(texts) - 1, "order")
    require(documents == sorted(set(documents)), "order")
    counts = Counter(fingerprint for fingerprint, _ in documents)
    require(u64(meta[b"documents"], 0) == len(documents), "count")
    require(u64(meta[b"fingerprints"], 0) == (len(counts) if fingerprints is None else fingerprints), "count")
    heaviest = min(counts, key=lambda x: (-counts[x], x)) if counts else 0
    require(struct.unpack("<QQ", meta[b"heaviest"]) == (heaviest, counts[heaviest]), "statistics")
    return documents, texts

# Chapter 10: records, and removals of segments

OPERATIONS = ("add", "remove-document", "remove-fingerprint")

def check_record(operation, fingerprint, own, f, id_type):
    require(operation < 3 and not (id_type == "none" and operation == 1), "operation")
    require(fingerprint < 2**f, "bits")
    if operation == 2 or id_type == "none":
        require(not own, "size")
    else:
        require(len(own) == 8 if id_type == "u64" else len(own) <= 16777215, "size")

def read_record(data, at, f, id_type):
    """The operation, fingerprint and ID of the record at a place, and where it ends."""
    def take(size):
        nonlocal at
        require(at + size <= len(data), "overrun")
        at += size
        return data[at - size:at]

    fingerprint, operation = struct.unpack("<QB", take(9))
    own = b""
    if operation < 2 and id_type != "none":
        own = take(8 if id_type == "u64" else int.from_bytes(take(4), "little"))
    check_record(operation, fingerprint, own, f, id_type)
    return (operation, fingerprint, own), at

def read_removed(data, f, id_type):
    """The removals of a segment: each an operation, a fingerprint and an ID."""
    check_start(data, b"idxremov", 64)
    require(u64(data, 56) == checksum(data[:56]), "checksum")
    count, length, expected = struct.unpack_from("<QQQ", data, 32)
    require(count, "count")
    require(len(data) == 64 + length + u32(data, 12), "size")
    data = data[:64 + length]
    require(checksum(data[64:]) == expected, "checksum")
    at, removals, keys = 64, [], []
    while len(removals) < count:
        removal, at = read_record(data, at, f, id_type)
        operation, fingerprint, own = removal
        require(operation, "operation")
        removals.append(removal)
        keys.append((fingerprint, 2 - operation, own[::-1] if id_type == "u64" else own))
        both = len(keys) > 1 and keys[-2][:2] == (fingerprint, 0)
        require(not both and keys[-2:] == sorted(set(keys[-2:])), "order")
    require(at == len(data), "size")
    return removals

def read_slot(data, at, seed):
    """How far frames were acknowledged: the place, the last record, the checksum; None where the slot is not sound."""
    if u64(data, at + 24) == xxhash.xxh3_64_intdigest(data[at:at + 24], seed=seed):
        return struct.unpack_from("<QQQ", data, at)
    return None

def read_frame(data, at, last, chain):
    """The bytes of the frame at a place behind record `last`, and the number of its records; None if there is none."""
    if len(data) - at < 24:
        return None
    size, count, first = struct.unpack_from("<QQQ", data, at)
    if not 32 < size <= len(data) - at or not 0 < count <= size - 32 or first != last + 1 or last + count >= 2**64 - 1:
        return None
    frame = data[at:at + size]
    return (frame, count) if u64(frame, size - 8) == xxhash.xxh3_64_intdigest(frame[:-8], seed=chain) else None

def read_frames(data, known, first, chain, f, id_type):
    """The records of all frames, which go on at least as far as is known."""
    at, last, records = 12288, first, []
    while found := read_frame(data, at, last, chain):
        frame, count = found
        place, at, last, chain = at, at + len(frame), last + count, u64(frame, len(frame) - 8)
        require(not place < known[0] <= at or known == (at, last, chain), "checksum")
        own, place = frame[:-8], 24
        for _ in range(count):
            record, place = read_record(own, place, f, id_type)
            records.append(record)
        require(place == len(own), "size")
    require(at >= known[0], "checksum")
    return records

def read_log(data, uuid, f, id_type):
    """The ids of a log and of the one before it, the record that it begins behind, and its records."""
    check_start(data, b"idxpendi", 12288)
    chain = u64(data, 80)
    require(chain == checksum(data[:80]), "checksum")
    require(not any(data[12:16]), "reserved")
    first = u64(data, 72)
    require(first < 2**64 - 1, "count")
    require(data[16:32] == uuid, "uuid")
    slots = [slot for slot in (read_slot(data, 4096, chain), read_slot(data, 8192, chain)) if slot]
    require(slots, "checksum")
    known = max(slots)
    require(known[0] <= len(data), "size")
    return data[32:48], data[48:64], first, read_frames(data, known, first, chain, f, id_type)

def read_pending(folder, manifest):
    """The records behind the manifest's sequence."""
    if manifest.log is None:
        return []
    data = contents(folder, "pending.log")
    own, before, first, records = read_log(data, manifest.uuid, manifest.bits, manifest.id_type)
    require((own, first) == manifest.log[:2] or before == manifest.log.id, "uuid")
    require(first <= manifest.sequence and first + len(records) >= manifest.log.last, "order")
    return records[manifest.sequence - first:]

def read_segment(folder, manifest, segment):
    """The fingerprints and IDs of a segment's documents, and what it removes from those before it."""
    mask, radius = manifest.tables[0]
    expected = 0, segment.uuid, mask, manifest.bits, radius, segment.fingerprints
    table = read_table(contents(folder, "table-00.tbl"), expected)[1]
    fingerprints = {unpermute(x, mask, manifest.bits) for x in table}
    entries, texts = read_map(folder, "docs", segment.uuid, segment.fingerprints)
    require(len(entries) == segment.documents, "count")
    documents = [(x, b"") for x in fingerprints]
    if manifest.id_type == "u64":
        documents = [(x, value.to_bytes(8, "little")) for x, value in entries]
    if manifest.id_type == "text":
        require(sorted(value for _, value in entries) == list(range(len(texts))), "count")
        documents = [(x, texts[value]) for x, value in entries]
    require({x for x, _ in documents} == fingerprints, "count")
    if manifest.by_id:
        hashes = read_map(folder, "by-id", segment.uuid)[0]
        require(set(hashes) == {(checksum(own), x) for x, own in documents}, "count")
    removals = []
    if segment.removed:
        data = contents(folder, "removed")
        removals = read_removed(data, manifest.bits, manifest.id_type)
        require(data[16:32] == segment.uuid, "uuid")
        require(len(removals) == segment.removed, "count")
    return documents, removals

class Documents:
    """Those that are there: lists of IDs, by fingerprint; and the fingerprints that are found without counting them."""

    def __init__(self, manifest):
        self.texts, self.ids, self.found = manifest.id_type == "text", {}, set()

    def apply(self, operation, fingerprint, own):
        ids = self.ids.setdefault(fingerprint, [])
        if operation == 0:
            self.found.add(fingerprint)
            if self.texts or own not in ids:
                ids.append(own)
        elif operation == 1:
            ids[:] = [other for other in ids if other != own]
        else:
            ids.clear()
            self.found.discard(fingerprint)

def read_documents(folder):
    """The manifest, and all documents: those of its segments, the oldest first, then what is pending."""
    manifest = read_manifest(contents(folder, "manifest"))
    documents = Documents(manifest)
    for segment in manifest.segments:
        own, removals = read_segment(os.path.join(folder, f"{segment.number:06}"), manifest, segment)
        for change in [*removals, *((0, *document) for document in own)]:
            documents.apply(*change)
    for record in read_pending(folder, manifest):
        documents.apply(*record)
    require(documents.found == {x for x, ids in documents.ids.items() if ids}, "operation")
    return manifest, documents.ids

# Chapter 14: conformance vectors, and the commands

def values_of(text):
    """The values of lines of names and values."""
    return dict(line.split(" ", 1) for line in text.splitlines())

def bytes_of(value):
    runs = [run.partition("*") for run in value.split(" ")]
    return b"".join(bytes.fromhex(byte) * int(times or 1) for byte, _, times in runs)

def read_block_text(text):
    """A block written for people; gives its bits f, and its fingerprints, which are not permuted."""
    values = values_of(text)
    f, anchor, before = int(values["bits"]), int(values["anchor-bits"]), values["before"]
    code = code_of(int(values["near-bits"]), map(int, values["lengths"].split(" ")), f)
    block = bytes_of(values["block"])
    require(len(block) == int(values["block-size"]), "size")
    long = int(values["long-codes"])
    require(long <= (len(block) == 64), "code")
    return f, read_block(block, f, anchor, code, long, -1 if before == "none" else int(before, 16))

def read_vector(kind, data):
    """The fingerprints of a table or block, entries or IDs of a group, records: lines of text; of others, nothing."""
    if kind == "table":
        h, fingerprints = read_table(data)
        return [as_text(unpermute(x, h.mask, h.bits), h.bits) for x in fingerprints]
    if kind == "block":
        f, fingerprints = read_block_text(data.decode("ascii"))
        return [as_text(x, f) for x in fingerprints]
    if kind == "group":
        return [f"{x:016x} {value}" for x, value in read_group(bytes_of(values_of(data.decode("ascii"))["group"]))]
    if kind == "ids":
        values = values_of(data.decode("ascii"))
        return [name.hex() for name in read_ids(bytes_of(values["group"]), bytes_of(values["dictionary"]))]
    if kind in ("record", "log", "removed"):
        values = values_of(data.decode("ascii"))
        f, id_type, uuid = int(values["bits"]), values["id-type"], uuid_of(values["uuid"].encode())
        if kind == "record":
            record, end = read_record(bytes_of(values["record"]), 0, f, id_type)
            require(end == len(bytes_of(values["record"])), "size")
            removals = [record]
        elif kind == "log":
            removals = read_log(bytes_of(values["log"]), uuid, f, id_type)[-1]
        else:
            removals = read_removed(bytes_of(values["file"]), f, id_type)
        return [f"{OPERATIONS[operation]} {fingerprint:x} {own.hex()}" for operation, fingerprint, own in removals]
    {"manifest": read_manifest, "sums": read_sums}[kind](data)
    return []

def contents(*path):
    with open(os.path.join(*path), "rb") as file:
        return file.read()

def try_vector(folder, file, kind, fault, expected):
    """What is wrong with the way in which a vector is read; None where all is well."""
    try:
        fingerprints = read_vector(kind, contents(folder, file))
    except Fault as found:
        return None if str(found) == fault else f"expected {fault}, found {found}"
    if fault != "ok":
        return f"expected {fault}, found no fault"
    listed = contents(folder, expected).decode("ascii").splitlines() if expected else []
    return None if fingerprints == listed else "other fingerprints than expected"

def command_vectors(folder):
    title, *rows = contents(folder, "vectors.tsv").decode("ascii").splitlines() or [""]
    failed = not rows or title != "file\tkind\tfault\tfingerprints"
    if failed:
        print("FAILED vectors.tsv: no vectors, or not the header line expected")
    for row in rows:
        try:
            why = try_vector(folder, *row.split("\t"))
        except (OSError, ValueError, TypeError, LookupError, struct.error) as error:
            why = f"{type(error).__name__}: {error}"
        failed |= why is not None
        print("ok" if why is None else "FAILED", row.split("\t")[0] + (f": {why}" if why else ""))
    return 1 if failed else 0

def command_table(path):
    print("".join(line + "\n" for line in read_vector("table", contents(path))), end="")
    return 0

def command_index(folder):
    path = os.path.join(folder, "manifest")
    try:
        manifest = read_manifest(contents(path))
        for segment in manifest.segments:
            same = shared = None
            for i, (mask, radius) in enumerate(manifest.tables):
                name = f"{segment.number:06}/table-{i:02}.tbl"
                path = os.path.join(folder, name)
                expected = i, segment.uuid, mask, manifest.bits, radius, segment.fingerprints
                h, permuted = read_table(contents(path), expected)
                shared = shared or h
                require(h.block_size == shared.block_size, "block-size")
                plain = [unpermute(x, mask, manifest.bits) for x in permuted]
                same = sorted(plain) if same is None else same
                if sorted(plain) != same:
                    print(f"{path}: other fingerprints than in the segment's first table")
                    return 1
                print(name, *(as_text(x, manifest.bits) for x in plain), sep="\n")
    except Fault as fault:
        print(f"{path}: fault {fault}")
        return 1
    return 0

def command_documents(folder):
    manifest, documents = read_documents(folder)
    for fingerprint, ids in sorted(documents.items()):
        for own in ids:
            shown = str(u64(own, 0)).encode() if manifest.id_type == "u64" else own
            line = as_text(fingerprint, manifest.bits).encode() + (b"" if manifest.id_type == "none" else b"\t" + shown)
            sys.stdout.buffer.write(line + b"\n")
    return 0

def main(arguments):
    commands = {"table": command_table, "index": command_index, "documents": command_documents,
                "vectors": command_vectors}
    if len(arguments) != 2 or arguments[0] not in commands:
        print(__doc__, file=sys.stderr)
        return 2
    try:
        return commands[arguments[0]](arguments[1])
    except Fault as fault:
        print(f"{arguments[1]}: fault {fault}")
    except OSError as error:
        print(f"{error.filename}: {error.strerror}", file=sys.stderr)
    return 1

if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
