#!/usr/bin/env python3
"""Makes the conformance vectors of idx: the text files in vectors, one for each chapter of SPEC.md that has some.

A second writer of the format, written from SPEC.md alone, so that the C code is not tested with files that it wrote.
Each run makes the same files. Needs Python 3.9 and the module xxhash (Debian: python3-xxhash).

    make_vectors.py
"""
import itertools
import math
import os
import re
import struct
import sys
from collections import Counter

import xxhash

VECTORS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "vectors")
VERSION, PAGE = 1, 4096
ALL_BITS = 2**64 - 1


# Numbers that look random

class Numbers:
    """splitmix64: the same numbers from the same seed, for good."""

    def __init__(self, seed):
        self.state = seed

    def bits(self, count):
        """A number of that many bits, up to 64."""
        self.state = self.state + 0x9e3779b97f4a7c15 & ALL_BITS
        z = self.state
        z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9 & ALL_BITS
        z = (z ^ z >> 27) * 0x94d049bb133111eb & ALL_BITS
        return (z ^ z >> 31) >> 64 - count if count else 0

    def below(self, limit):
        """A number from 0 on, below the limit."""
        return self.bits(64) * limit >> 64

    def distinct(self, count, f):
        """That many distinct numbers of f bits, sorted."""
        found = set()
        while len(found) < count:
            found.add(self.bits(f))
        return sorted(found)

    def uuid(self):
        """The bytes of a uuid of version 4 (RFC 9562)."""
        data = bytearray(struct.pack("<QQ", self.bits(64), self.bits(64)))
        data[6] = data[6] & 0x0f | 0x40
        data[8] = data[8] & 0x3f | 0x80
        return bytes(data)


# Chapter 1: conventions

def checksum(data):
    return xxhash.xxh3_64_intdigest(bytes(data))


def up_to_page(data):
    return bytes(data) + bytes(-len(data) % PAGE)


def as_text(fingerprint, f):
    return f"{fingerprint:0{(f + 3) // 4}x}"


def uuid_text(uuid):
    digits = uuid.hex()
    return "-".join((digits[:8], digits[8:12], digits[12:16], digits[16:20], digits[20:]))


# Chapter 2: tables and schemes

def bit_order(mask, f):
    """The places of the bits of a fingerprint, in the order in which the permuted one has them, from its highest on."""
    descending = range(f - 1, -1, -1)
    return [b for b in descending if mask >> b & 1] + [b for b in descending if not mask >> b & 1]


def permute(fingerprint, mask, f):
    permuted = 0
    for bit in bit_order(mask, f):
        permuted = permuted << 1 | fingerprint >> bit & 1
    return permuted


def unpermute(permuted, mask, f):
    fingerprint = 0
    for i, bit in enumerate(bit_order(mask, f)):
        fingerprint |= (permuted >> f - 1 - i & 1) << bit
    return fingerprint


def cut_evenly(bits, count):
    """The masks of `count` blocks of the bits in a list, which have as many bits each or one more, the wider first."""
    narrow, wider = divmod(len(bits), count)
    masks = []
    for i in range(count):
        width = narrow + (i < wider)
        masks.append(sum(1 << bit for bit in bits[:width]))
        bits = bits[width:]
    return masks


def scheme_tables(f, blocks, chosen, radius=0, inner=None):
    """The (mask, radius) of each table of the scheme B:C, B:C:R or, where inner is (b, c), B:C/b:c."""
    descending = range(f - 1, -1, -1)
    tables = []
    for choice in itertools.combinations(cut_evenly(descending, blocks), chosen):
        mask = sum(choice)
        if not inner:
            tables.append((mask, radius))
            continue
        outside = [bit for bit in descending if not mask >> bit & 1]
        for more in itertools.combinations(cut_evenly(outside, inner[0]), inner[1]):
            tables.append((mask + sum(more), radius))
    return tables


# Chapter 5: the position code

def package_merge(counts, limit=6):
    """The lengths of codes with which symbols that occur so often take the fewest bits, none above the limit."""
    leaves = [(count, (symbol,)) for count, symbol in sorted((count, symbol) for symbol, count in enumerate(counts))]
    row, lengths = leaves, [0] * len(counts)
    for _ in range(limit - 1):
        packages = [(a[0] + b[0], a[1] + b[1]) for a, b in zip(row[::2], row[1::2])]
        row = sorted(leaves + packages, key=lambda item: item[0])  # stable: leaves stay in front of packages
    for _, symbols in row[:2 * len(leaves) - 2]:
        for symbol in symbols:
            lengths[symbol] += 1
    return lengths


class Code:
    """A code for f bits: w, here `near`, and the lengths of its classes, here symbols; any, if it is not used."""

    def __init__(self, near, lengths, f):
        self.near, self.lengths, self.f = near, list(lengths), f
        self.tail = min(57, f)
        self.words = [0] * len(self.lengths)
        following, last = 0, 0
        for length, symbol in sorted((length, symbol) for symbol, length in enumerate(self.lengths)):
            following <<= length - last
            self.words[symbol] = following
            following, last = following + 1, length
        zeros = self.words[0] << 64 >> self.lengths[0]
        self.words = [word ^ zeros >> 64 - length for word, length in zip(self.words, self.lengths)]

    def padded(self):
        """The lengths as a header has them."""
        return self.lengths + [0] * (64 - len(self.lengths))

    @property
    def far(self):  # the last class
        return len(self.lengths) - 1

    def tail_of(self, symbol):
        """How many bits the tails of a class have."""
        if symbol == self.far:
            return self.tail
        return self.near + max(symbol - 1, 0)

    def lowest(self, d):
        """The lowest class that can hold a difference; None if the tails of no class are long enough."""
        symbol = max(d.bit_length() - self.near, 0)
        return symbol if symbol < self.far else self.far if d < 1 << self.tail else None

    def bits(self, symbol):
        """How many bits a difference of a class takes."""
        return self.lengths[symbol] + self.tail_of(symbol)

    def cost(self, differences):
        """The bits of all differences that have a code, where each class counts as used once at least."""
        counts = Counter(self.lowest(d) for d in differences)
        return sum(max(counts[symbol], 1) * self.bits(symbol) for symbol in range(len(self.lengths)))


def best_code(differences, f):
    """The code in which these take the fewest bits; of several, the one of the least w, then of the fewest classes."""
    tail = min(57, f)
    of_bits = Counter(d.bit_length() for d in differences)
    choices = []
    for near in range(tail + 1):
        for classes in range(2, min(tail - near + 2, 64) + 1):
            far = classes - 1
            counts = [sum(of_bits[bits] for bits in range(near + 1))]
            counts += [of_bits[near + symbol] for symbol in range(1, far)]
            counts.append(sum(of_bits[bits] for bits in range(near + far, tail + 1)))
            counts = [max(count, 1) for count in counts]
            tails = [near, *range(near, near + far - 1), tail]
            tails = sum(count * bits for count, bits in zip(counts, tails))
            # no code takes fewer bits than this
            least = tails + sum(count * math.log2(sum(counts) / count) for count in counts)
            choices.append((least, near, classes, tails, counts))
    best = (math.inf,)
    for least, near, classes, tails, counts in sorted(choices):
        if least > best[0] + 1e-3:
            break
        lengths = package_merge(counts)
        bits = tails + sum(count * length for count, length in zip(counts, lengths))
        best = min(best, (bits, near, classes, lengths))
    code = Code(best[1], best[3], f)
    assert code.cost(d for d in differences if d < 1 << tail) == best[0]
    return code


def differences_of(values):
    return [x - y for y, x in zip(values, values[1:])]


# Chapter 6: blocks

class Bits:
    """A stream of bits, filled from both ends."""

    def __init__(self, size):
        self.size, self.stream = size, 0

    def put(self, value, at):  # at bit `at`, where all bits are 0
        self.stream |= value << at

    def data(self):
        """The stream as `size` bytes; what does not fit is cut off."""
        return bytearray((self.stream & (1 << 8 * self.size) - 1).to_bytes(self.size, "little"))


def reversed_bits(value, count):
    return int(f"{value:0{count}b}"[::-1], 2)


def most_chains(block_size):
    return 1 if block_size < 1024 else 2 if block_size < 4096 else 4


def chain_of(values, code, symbol=None):
    """A chain of these values: the differences from its key downwards, each with its class, by default the lowest."""
    return [(d, code.lowest(d) if symbol is None else symbol) for d in reversed(differences_of(values))]


def chain_bits(chain, code):
    return sum(code.bits(symbol) for _, symbol in chain)


def list_bits(size, width):
    """How many bits the list of chains takes in a block of `size` bytes, with offsets of `width` bits."""
    return 6 + (most_chains(size) - 1) * (width + (8 * size - 1).bit_length()) if size >= 1024 else 0


def block_of(size, f, code, anchor, key, chains, whole=False, offsets=(), places=None, width=None):
    """A block of `size` bytes with these chains, the highest first, and the offsets of all but that. Unless places are
    given, each chain begins behind the one before."""
    bits, end, entries = Bits(size), 8 * size, most_chains(size) - 1
    bits.put(1 | key << 1 if whole else (key & (1 << anchor) - 1) << 1, 0)
    at = 1 + (f if whole else anchor)
    width = max(offset.bit_length() for offset in [0, *offsets]) if width is None else width
    begin = at + list_bits(size, width)
    if places is None:
        places = [begin + sum(chain_bits(chain, code) for chain in chains[:i + 1]) for i in range(len(chains) - 1)]
    if entries:
        bits.put(width, at)
        at += 6
    place_bits = (end - 1).bit_length()
    for i in range(entries):
        if i < len(offsets):
            bits.put(offsets[i], at)
        if i < len(places):
            bits.put(places[i], at + width)
        at += width + place_bits
    for i, chain in enumerate(chains):
        at, top = begin if i == 0 else places[i - 1], places[i] if i < len(places) and i + 1 < len(chains) else end
        for d, symbol in chain:
            length, tail = code.lengths[symbol], code.tail_of(symbol)
            bits.put(reversed_bits(code.words[symbol], length), at)
            at, top = at + length, top - tail
            bits.put(d & (1 << tail) - 1, max(top, 0))
    return bits.data()


def cut_into_chains(values, count):
    """The values of each chain of a block, the lowest first."""
    return [values[len(values) * i // count:len(values) * (i + 1) // count] for i in range(count)]


def is_short(key, before, anchor):
    """Whether a key is near enough to the one before, or to 0, for an anchor of `anchor` low bits."""
    return key - (before or 0) < 1 << anchor


def written_block(values, before, f, code, anchor, size, whole=None, count=None):
    """The block of these values, whether they fit or not; before: the key before, or None."""
    whole = not is_short(values[-1], before, anchor) if whole is None else whole
    count = most_chains(size) if count is None and len(values) >= 64 else count or 1
    chains = cut_into_chains(values, count)[::-1]
    offsets = [values[-1] - chain[-1] for chain in chains[1:]]
    return block_of(size, f, code, anchor, values[-1], [chain_of(chain, code) for chain in chains], whole, offsets)


def count_fitting(values, before, f, code, anchor, size, whole=None, long=False):
    """How many of the values, from the first on, fit into a block; long: a block of 64 bytes may have long codes."""
    most, totals, codes = 0, [0], [0]
    for d in differences_of(values[:1023]):
        symbol = code.lowest(d)
        if symbol is None:
            break
        totals.append(totals[-1] + code.bits(symbol))
        codes.append(codes[-1] + code.lengths[symbol])
    for m in range(1, len(totals) + 1):
        short = is_short(values[m - 1], before, anchor) if whole is None else not whole
        bits, count = 1 + (anchor if short else f), most_chains(size) if m >= 64 else 1
        cuts = [m * i // count for i in range(count + 1)]
        bits += sum(totals[end - 1] - totals[begin] for begin, end in zip(cuts, cuts[1:]))
        width = (values[m - 1] - values[cuts[1] - 1]).bit_length() if count > 1 else 0
        bits += list_bits(size, width)
        if bits <= 8 * size and (size > 64 or long or codes[m - 1] <= 64) and width < 64:
            most = m
    return most


def best_anchor(count, f, size):
    """The bits of anchors with which blocks of that many uniform fingerprints are smallest."""
    g = (2**f - 1) // max(count, 1)
    h = (8 * size - f) // (g.bit_length() + 1)
    return min(max((g * (h * 8 // 5)).bit_length(), 1), f, 63)


def cut_into_blocks(values, f, code, anchor, size, long=False):
    """The values of each block: as many as fit."""
    groups, before, at = [], None, 0
    while at < len(values):
        n = count_fitting(values[at:at + 1023], before, f, code, anchor, size, long=long)
        groups.append(values[at:at + n])
        before, at = groups[-1][-1], at + n
    return groups


# Chapter 4: table files

LINE_CELLS, LINE_BLOCKS = 448, 56


class Line:
    """A line of a directory, with keys at these parts of it, and what its list has of them; first: the number of the
    first of these keys, place: where the list begins."""

    def __init__(self, first, parts, place):
        cells = {part * LINE_CELLS >> 64 for part in parts}
        self.first, self.listed, self.place, self.bits, self.reserved = first, 0, place, 0, bytes(47)
        self.cells, self.items = sum(1 << cell for cell in cells), []
        if len(cells) < len(parts):
            self.listed = len(parts)
            while len({part >> 64 - self.bits for part in parts}) < len(parts):
                self.bits += 1
            self.items = [part >> 64 - self.bits for part in parts]

    def list_data(self):
        stream = sum(item << i * self.bits for i, item in enumerate(self.items))
        return stream.to_bytes(-(-len(self.items) * self.bits // 8), "little")

    def data(self):
        start = struct.pack("<II", self.first, self.listed)
        if self.listed:
            return start + struct.pack("<QB", self.place, self.bits) + self.reserved
        return start + self.cells.to_bytes(56, "little")


def directory_of(keys):
    """The lines of the directory of a table with these keys, left-aligned."""
    count, lines, first, place = -(-len(keys) // LINE_BLOCKS), [], 0, 0
    for line in range(count):
        parts = [key * count & ALL_BITS for key in keys if key * count >> 64 == line]
        lines.append(Line(first, parts, place))
        first, place = first + len(parts), place + len(lines[-1].list_data())
    return lines


class Table:
    """A table of values that are permuted but not left-aligned. Its members may be changed before data() is called."""

    def __init__(self, f, values, mask=None, radius=0, number=0, uuid=bytes(range(16)), block_size=128, code=None,
                 groups=None, anchor=None, blocks=None, long=False):
        self.f, self.block_size = f, block_size
        self.mask = 2**f - 1 if mask is None else mask
        self.radius, self.number, self.uuid, self.values = radius, number, uuid, values
        self.fingerprints, self.long = len(values), long
        plain = [unpermute(value, self.mask, f) for value in values]
        self.code = code or best_code(differences_of(sorted(plain)), f)
        self.anchor = anchor or best_anchor(len(values), f, block_size)
        self.groups = groups or cut_into_blocks(values, f, self.code, self.anchor, block_size, long)
        self.befores = [None] + [group[-1] for group in self.groups[:-1]]
        self.blocks = blocks or [written_block(group, before, f, self.code, self.anchor, block_size)
                                 for group, before in zip(self.groups, self.befores)]
        self.keys = [group[-1] << 64 - f for group in self.groups]
        self.directory = directory_of(self.keys)
        self.lists = b"".join(line.list_data() for line in self.directory)
        self.union, self.intersection = 0, ALL_BITS if values else 0
        for fingerprint in plain:
            self.union |= fingerprint
            self.intersection &= fingerprint
        below = f - bin(self.mask).count("1")
        sizes = [len(list(group)) for _, group in itertools.groupby(values, lambda value: value >> below)]
        self.largest_group = max(sizes, default=0)
        self.pairs = sum(size * (size - 1) // 2 for size in sizes)

    def data(self):
        header = b"idxtable" + struct.pack("<II16sQBBBBIQQ", VERSION, self.number, self.uuid, self.mask, self.f,
                                           self.radius, self.anchor, self.code.near, self.block_size,
                                           self.fingerprints, len(self.blocks)) + bytes(self.code.padded())
        header += struct.pack("<QQQQQB", self.union, self.intersection, self.largest_group, self.pairs, len(self.lists),
                              self.long)
        directory = b"".join(line.data() for line in self.directory) + self.lists
        pages = up_to_page(header) + up_to_page(b"".join(self.blocks)) + up_to_page(directory)
        return sealed(pages + bytes((len(pages) - PAGE) // PAGE * 8))

    def plain(self):
        """The fingerprints as users see them, in the table's order."""
        return [as_text(unpermute(value, self.mask, self.f), self.f) for value in self.values]

    def listed(self):
        """How many keys the list of each line has."""
        return [line.listed for line in self.directory]

    def whole(self):
        """Which blocks have whole anchors."""
        return [block[0] & 1 for block in self.blocks]


def sealed(data):
    """A table file with all its checksums made right."""
    data = bytearray(data)
    pages = (len(data) - PAGE) // (PAGE + 8)
    data[4088:4096] = struct.pack("<Q", checksum(data[:4088]))
    for i in range(pages):
        at = PAGE * (1 + pages) + 8 * i
        data[at:at + 8] = struct.pack("<Q", checksum(data[PAGE * (i + 1):PAGE * (i + 2)]))
    return bytes(data)


def patched(data, offset, new):
    """The data with other bytes from offset on, or with bits of one byte flipped where new is a number."""
    if isinstance(new, int):
        new = bytes([data[offset] ^ new])
    offset %= len(data)
    return data[:offset] + new + data[offset + len(new):]


# Chapter 3: the manifest

def manifest_lines(uuids, bits=16, k=3, id_type="text", by_id="no", recipe="simhash, words", title="2:1:1",
                   tables=((0xff00, 1), (0x00ff, 1)), segments=(("000001", 10, 12),), sequence=0, log=None):
    """The lines of a manifest, without the checksum's."""
    return [f"idx-index {VERSION}", f"uuid {uuid_text(uuids.uuid())}", f"bits {bits}", f"k {k}", f"id-type {id_type}",
            f"by-id {by_id}",
            "recipe" if recipe is None else f"recipe {recipe}", f"scheme {title}",
            *(f"table {as_text(mask, bits)} {radius}" for mask, radius in tables),
            f"sequence {sequence}", *([f"log {uuid_text(uuids.uuid())} {log[0]} {log[1]}"] if log else []),
            *(f"segment {number} {uuid_text(uuids.uuid())} {fingerprints} {documents} {removed[0] if removed else 0}"
              for number, fingerprints, documents, *removed in segments)]


def with_checksum(data):
    return data + b"checksum %016x\n" % checksum(data)


def manifest_data(lines):
    return with_checksum("".join(line + "\n" for line in lines).encode())


# Chapter 8: groups, and the checksums of the document map

def group_width(fingerprints):
    """The least width of low parts with which the differences take the fewest bits, and how many bits these are."""
    n, last = len(fingerprints), fingerprints[-1] - fingerprints[0]
    costs = [(n - 1) * (width + 1) + (last >> width) for width in range(57)]
    return costs.index(min(costs)), min(costs)


def group_bytes(entries, width=None, size=None, b=None, base=None):
    """A group of documents, as writers make it unless told otherwise: the bytes of its differences (size), the bits of
    a value (b), and what is subtracted from values (base). Entries need not ascend, but none is below the first."""
    fingerprints, values = [x for x, _ in entries], [value for _, value in entries]
    best, bits = group_width(fingerprints)
    width = best if width is None else width
    size = -(-bits // 8) if size is None else size
    base = min(values) if base is None else base
    b = (max(values) - base).bit_length() if b is None else b
    packed = sum((value - base) << i * b for i, value in enumerate(values)) & (1 << len(values) * b) - 1
    differences = Bits(size)
    for i, x in enumerate(fingerprints[1:], 1):
        d = x - fingerprints[0]
        differences.put(1, (d >> width) + i - 1)
        differences.put(d & (1 << width) - 1, max(8 * size - i * width, 0))
    header = struct.pack("<HBQQ", len(entries) | width << 10, b, base, fingerprints[0])
    return header + bytes(differences.data()) + packed.to_bytes(-(-len(values) * b // 8), "little")


def number_bytes(number, size=1):
    """A number, seven bits a byte, in at least that many bytes."""
    if number < 128 and size <= 1:
        return bytes([number])
    return bytes([number & 127 | 128]) + number_bytes(number >> 7, size - 1)


def token(own=b"", piece=None):
    """A token, with bytes of the ID itself, and with a piece of the dictionary, (place, length), or at its end."""
    a, b = min(len(own), 15), min(piece[1] - 3, 15) if piece else 0
    data = bytes([16 * a + b]) + (number_bytes(len(own) - 15) if a == 15 else b"") + own
    if piece:
        data += struct.pack("<H", piece[0]) + (number_bytes(piece[1] - 18) if b == 15 else b"")
    return data


def ids_bytes(*ids):
    """A group of IDs, each given as how many bytes it shares with the one before, and its tokens."""
    return struct.pack("<H", len(ids)) + b"".join(number_bytes(shared) + b"".join(tokens) for shared, *tokens in ids)


def sums_data(uuid, documents):
    """docs.sum for a docs.mdb of these bytes."""
    header = reseal_sums(b"idxdsums" + struct.pack("<II16sQ16x", VERSION, 0, uuid, len(documents)))
    pages = [documents[i:i + PAGE] for i in range(0, len(documents), PAGE)]
    return header + b"".join(struct.pack("<Q", checksum(page)) for page in pages)


def reseal_sums(data):
    """docs.sum with the checksum of its header made right."""
    return data[:56] + struct.pack("<Q", checksum(data[:56])) + data[64:]


# Chapter 10: records, and removals of segments

ADD, REMOVE_DOCUMENT, REMOVE_FINGERPRINT, ADD_TEXT = range(4)


def record_bytes(id_type, operation, fingerprint, own):
    header = struct.pack("<QB", fingerprint, operation)
    if id_type == "text" and operation < REMOVE_FINGERPRINT:
        header += struct.pack("<I", len(own))
    return header + own


def text_bytes(id_type, own, members, count=None):
    """The record of a text, which says that it has `count` members."""
    length = struct.pack("<I", len(own)) if id_type == "text" else b""
    return record_bytes(id_type, ADD_TEXT, len(members) if count is None else count, length + own) + member_bytes(members)


def member_bytes(members):
    return struct.pack(f"<{len(members)}Q", *members)


def seeded_checksum(data, seed):  # as bytes
    return struct.pack("<Q", xxhash.xxh3_64_intdigest(data, seed=seed))


def frame(chain, first, records, count=None):
    """A frame of records, the first of which has the sequence number `first`, and its checksum; chain: that before."""
    data = b"".join(records)
    data = struct.pack("<QQQ", 32 + len(data), len(records) if count is None else count, first) + data
    data += seeded_checksum(data, chain)
    return data, struct.unpack("<Q", data[-8:])[0]


def log_header(uuid, own, before, salt, first):
    header = struct.pack("<8sII16s16s16sQQ", b"idxpendi", VERSION, 0, uuid, own, before, salt, first)
    return header + struct.pack("<Q", checksum(header))


def slot(chain, place):
    """A slot of a place, (offset, sequence number, checksum); chain: the checksum of the log's header."""
    data = struct.pack("<QQQ", *place)
    return data + seeded_checksum(data, chain)


def log_file(header, slots, frames):
    """The file; slots are bytes, frames all that follows them."""
    return header + bytes(4096 - 88) + b"".join(slot + bytes(4096 - len(slot)) for slot in slots) + frames


def removed_data(uuid, id_type, removed):
    """The file of these removals, each a fingerprint, an operation and an ID, whatever their order."""
    data = b"".join(record_bytes(id_type, operation, fingerprint, own) for fingerprint, operation, own in removed)
    return removed_file(uuid, len(removed), data)


def removed_file(uuid, count, data):
    """The file that says that it has `count` removals, with these bytes of them."""
    header = b"idxremov" + struct.pack("<II16sQQQ8x", VERSION, 0, uuid, count, len(data), checksum(data))
    return reseal_removed(header + data)


def reseal_removed(data):
    """The file with the checksum of its header made right."""
    return data[:56] + struct.pack("<Q", checksum(data[:56])) + data[64:]


# Chapter 15: sets

def long_number(number, size=1):
    """A number of seven bits per byte, in `size` bytes at least."""
    data = b""
    while number >= 128 or size > 1:
        data, number, size = data + bytes([number & 127 | 128]), number >> 7, size - 1
    return data + bytes([number])


def sets_file(uuid, sets, entries=None, records=None, counts=None, size=1, last=-1):
    """A file of sets, each a key and its members; numbers have `size` bytes at least. Other entries, bytes of records,
    and counts than these sets have may be given, and the step of the last record."""
    data, listed, before = b"", [], 0
    for i, (key, members) in enumerate(sets):
        begins = not listed or len(data) >= listed[-1][1] + 4096
        step = last if i == len(sets) - 1 and last >= 0 else 0 if begins else key - before
        listed += [(key, len(data))] if begins else []
        data, before = data + long_number(step, size) + long_number(len(members), size) + member_bytes(members), key
    listed, data = entries if entries is not None else listed, data if records is None else records
    counts = counts or (len(sets), sum(len(members) for _, members in sets), len(data), len(listed))
    header = struct.pack("<8sII16s4Q", b"idx-sets", VERSION, 0, uuid, *counts)
    directory = b"".join(struct.pack("<QQ", *entry) for entry in listed)
    pages = up_to_page(data) + up_to_page(directory)
    return sealed(up_to_page(header) + pages + bytes(len(pages) // PAGE * 8))


# Chapter 14: the vectors

FILES = {"index": "02-index", "manifest": "03-manifest", "table": "04-tables", "block": "06-blocks",
         "group": "08-document-map", "ids": "08-document-map", "sums": "08-document-map", "record": "10-log",
         "log": "10-log", "removed": "11-removals", "sets": "15-sets"}
PARAGRAPHS = {}  # of each vector, by its name: the file, whether it has a fault, and the lines


def wrapped(name, items):
    """A line of these items, continued where it would be wider than 120 columns."""
    lines = [name]
    for item in items:
        if len(lines[-1]) + 1 + len(item) > 120:
            lines.append("")
        lines[-1] += " " + item
    return lines


def runs_of(data):
    """Bytes as people can read them: items of up to 32 bytes, and runs of one byte."""
    items, rest = [], ""
    for byte, run in itertools.groupby(data):
        count = len(list(run))
        if count < 8:
            rest += f"{byte:02x}" * count
        else:
            items += [rest[i:i + 64] for i in range(0, len(rest), 64)] + [f"{byte:02x}*{count}"]
            rest = ""
    return items + [rest[i:i + 64] for i in range(0, len(rest), 64)]


def bytes_line(name, data):
    return wrapped(name, runs_of(data))


def text_lines(name, data):
    """Bytes that are lines of text, each in a line of its own, quoted where people can read them."""
    lines = [name]
    for line in data.splitlines(keepends=True):
        items = []
        for quoted in re.findall(rb"[ !#-~]+|[^ !#-~]+", line):
            is_text = 0x20 <= quoted[0] < 0x7f and quoted[0] != 0x22 and len(quoted) < 100
            items += [f'"{quoted.decode()}"'] if is_text else runs_of(quoted)
        lines += wrapped("", items)
    return lines


def add_vector(kind, name, lines, fault="ok", expected=()):
    """Adds a vector of these lines and, unless it is to have a fault, a line `expect` for each list of items."""
    if name in PARAGRAPHS:
        sys.exit(f"{name}: made twice")
    for items in expected if fault == "ok" else ():
        lines = lines + wrapped("expect", items)
    PARAGRAPHS[name] = FILES[kind], fault != "ok", [f"vector {name} {kind} {fault}"] + lines


def write_vectors():
    """Writes the files. In each the vectors without a fault are first."""
    os.makedirs(VECTORS, exist_ok=True)
    for name in sorted(set(FILES.values())):
        chosen = sorted((is_broken, i, lines) for i, (file, is_broken, lines) in enumerate(PARAGRAPHS.values())
                        if file == name)
        text = "\n".join("".join(line + "\n" for line in lines) for _, _, lines in chosen)
        with open(os.path.join(VECTORS, name + ".txt"), "w", encoding="ascii", newline="\n") as file:
            file.write(text)


def add_table(name, *arguments, **options):
    """Adds a vector of a sound table, and returns the table."""
    table = Table(*arguments, **options)
    add_vector("table", f"table-{name}", bytes_line("bytes", table.data()), expected=[table.plain()])
    return table


def block_lines(f, anchor, code, before, block, long):
    """The lines of a vector of a block, but for what is expected."""
    return [f"bits {f}", f"anchor-bits {anchor}", f"block-size {len(block)}", f"long-codes {long:d}",
            f"near-bits {code.near}", *wrapped("lengths", map(str, code.padded())),
            f"before {'none' if before is None else as_text(before, f)}", *bytes_line("block", block)]


def distinct_between(numbers, low, high, count):
    """That many distinct numbers from low on, below high, sorted."""
    found = set()
    while len(found) < count:
        found.add(low + numbers.below(high - low))
    return sorted(found)


def cell_start(cell, lines):
    """The least number of 64 bits that falls into this cell, counted from the first line's first."""
    return -(-(cell << 64) // (LINE_CELLS * lines))


def lists_of(values, mask=ALL_BITS):
    """For each line of a table of these values, of 64 bits, in blocks of 64 bytes, whether it has a list."""
    return [listed > 0 for listed in Table(64, values, mask=mask, block_size=64).listed()]


def two_lines(numbers, mirrored=False, mask=ALL_BITS):
    """Values of 64 bits for more than 56 blocks of 64 bytes: the first line has a list, the second not, or mirrored."""
    while True:
        values = distinct_between(numbers, 1 << 40, 1 << 58, 260) + distinct_between(numbers, 1 << 63, 1 << 64, 200)
        values = sorted(ALL_BITS - value for value in values) if mirrored else values
        if lists_of(values, mask) == [not mirrored, mirrored]:
            return values


def exactly_full(f):
    """Values that fill a block of 128 bytes to the last bit, and one value more."""
    for seed in itertools.count():
        values = Numbers(seed).distinct(80, f)
        code = best_code(differences_of(values), f)
        for n in range(30, 60):
            for m in (n, n + 1):
                anchor = best_anchor(m, f, 128)
                size = 1 + anchor + chain_bits(chain_of(values[:n], code), code)
                if size != 1024 or count_fitting(values[:m], None, f, code, anchor, 128, False) != n:
                    break
            else:
                return values[:n], values[:n + 1], code


EXAMPLE = [0x12, 0x15, 0x16, 0x96, 0x97]


def add_valid_table_vectors():
    numbers = Numbers(1)

    def fields(mask, radius, number):
        """What tells a table from others of its segment."""
        return dict(mask=mask, radius=radius, number=number, uuid=numbers.uuid())

    # the example of chapter 6
    table = add_table("foreign-example", 8, EXAMPLE, block_size=64, code=Code(2, [2] * 4, 8), **fields(0xff, 0, 0))
    assert table.anchor == 8
    assert table.blocks == [bytes.fromhex("2e19") + bytes(60) + bytes.fromhex("1c60")]

    add_table("empty", 16, [], **fields(0xf00f, 0, 0))
    add_table("empty-f1", 1, [], **fields(1, 0, 0))
    full, fuller, code = exactly_full(32)
    table = add_table("foreign-full-block", 32, full, code=code, **fields(0xffffffff, 0, 3))
    assert len(table.blocks) == 1
    table = add_table("foreign-full-block-and-one", 32, fuller, code=code, **fields(0xffffffff, 0, 3))
    assert [len(group) for group in table.groups] == [len(full), 1]
    for f, masks in ((1, [1]), (8, [0x3c, 0xff]), (63, [1, 2**62]), (64, [0xf0f0f0f0f0f0f0f0])):
        for mask in masks:
            values = [0, 2**f - 1] if f == 1 else sorted({0, 2**f - 1, *numbers.distinct(min(2**f // 2, 300), f)})
            table = add_table(f"f{f}-mask-{mask:x}", f, values, **fields(mask, 1, 255))
            assert f < 63 or sum(table.whole()) < len(table.blocks) > 8
    add_table("f1-one", 1, [1], **fields(1, 3, 0))
    add_table("one", 16, [0xbeef], **fields(0x0ff0, 1, 1))
    add_table("one-f64", 64, [0xfeedbeefbeefbeef], **fields(0x0ff0, 1, 1))
    add_table("f10-all-values", 10, list(range(1024)), **fields(0x155, 2, 9))
    add_table("f10-all-values-in-64-bytes", 10, list(range(1024)), block_size=64, **fields(0x155, 2, 9))
    for f, block_size, count in ((64, 64, 400), (33, 128, 120), (41, 256, 300), (41, 512, 300), (48, 1024, 900),
                                 (48, 2048, 1500), (64, 4096, 2000), (22, 4096, 4000)):
        table = add_table(f"f{f}-block-size-{block_size}", f, numbers.distinct(count, f), block_size=block_size,
                          **fields((1 << f) - (1 << f - f // 4), 1, 14))
        assert len(table.blocks) > 1
        assert block_size < 1024 or sum(len(group) >= 64 for group in table.groups) > 1

    # dense ones in blocks of 64 bytes, whose codes may be long
    for name, f, values, near in (("f10", 10, list(range(1024)), 0), ("f64", 64, list(range(10**18, 10**18 + 3000)), 0),
                                  ("skewed", 64, distinct_between(numbers, 2**60, 2**60 + 8000, 2000), None),
                                  ("scattered", 40, sorted(numbers.distinct(900, 40)), None)):
        code = Code(near, [2, 1, 2], f) if near is not None else None
        for long in (True, False):
            table = add_table(f"{name}-{'long' if long else 'short'}-codes", f, values, block_size=64, code=code,
                              long=long, **fields(2**f - 1, 0, 3))
            bits = [sum(table.code.lengths[symbol] for _, symbol in chain_of(group, table.code))
                    for group in table.groups]
            assert max(bits) <= 64 or long
            assert not long or name == "scattered" or max(bits) > 64
    # fingerprints of a block: just few enough for one chain, and 64; 1023, the most, and 1024
    for n in (63, 64, 65, 66, 67):
        for block_size in (1024, 2048, 4096):
            add_table(f"{n}-in-{block_size}-bytes", 32, numbers.distinct(n, 32), block_size=block_size,
                      **fields(0xffff, 0, 1))
    for block_size in (512, 1024, 4096):
        table = add_table(f"1023-in-{block_size}-bytes", 64, list(range(10**18, 10**18 + 1023)), block_size=block_size,
                          **fields(ALL_BITS, 0, 1))
        assert len(table.blocks) == 1
        table = add_table(f"1024-in-{block_size}-bytes", 64, list(range(10**18, 10**18 + 1024)), block_size=block_size,
                          **fields(ALL_BITS, 0, 1))
        # the keys differ in their last bit alone
        assert len(table.blocks) == 2 and table.keys[0] ^ table.keys[1] == 1
        assert table.directory[0].bits == 64 and len(table.lists) == 16
    # differences that no class holds, and the greatest that one does
    values = [5, 5 + 2**57 - 1, 5 + 2**58 - 1, 5 + 2**58 + 7, 5 + 2**59 + 6, 2**63 + 2**60, 2**64 - 2**57, ALL_BITS]
    for block_size in (64, 4096):
        table = add_table(f"differences-of-57-bits-in-{block_size}-bytes", 64, values, block_size=block_size,
                          **fields(ALL_BITS, 0, 1))
        assert [len(group) for group in table.groups] == [2, 2, 1, 1, 2], table.groups
    add_table("first-0-last-2-64-less-one", 64, [0, ALL_BITS], block_size=64, **fields(0xff, 0, 0))
    # wide ones, so that offsets of chains have up to 63 bits
    values = [0] + [1 + i * (2**57 - 1 - 2**50) for i in range(80)]
    add_table("chains-with-wide-offsets", 64, values, block_size=4096, **fields(ALL_BITS, 0, 0))
    # an offset of 64 bits has no width: such fingerprints do not fit, though there is room
    values = [0] + [1 + i * (2**57 - 1 - 2**50) for i in range(126)]
    table = add_table("chains-with-too-wide-offsets", 64, values, block_size=4096, **fields(ALL_BITS, 0, 0))
    assert 80 < len(table.groups[0]) < 127
    # whole anchors: far from the fingerprints before, in one block of many and in most
    values = sorted(numbers.distinct(100, 64) + distinct_between(numbers, 2**63, 2**63 + 2**40, 2000))
    table = add_table("whole-anchors", 64, values, block_size=256, **fields(0xff00, 0, 0))
    assert 5 < sum(table.whole()) < len(table.blocks) - 5
    table = add_table("whole-anchors-4096", 64, sorted([3, *range(2**63 - 7000, 2**63), ALL_BITS]), block_size=4096,
                      **fields(0xff00, 0, 0))
    assert 1 < sum(table.whole()) < len(table.blocks)
    # prefixes that many share, and few
    values = sorted({numbers.bits(3) << 13 | numbers.bits(13) for _ in range(100)} | set(range(0x6000, 0x6010)))
    table = add_table("groups", 16, values, **fields(0x8421, 1, 2))
    assert table.largest_group > 16 and table.pairs > 300
    # union and intersection are not what they are of permuted fingerprints
    values = [permute(value, 0x00f0, 16) for value in (0x0121, 0x0923, 0x4123)]
    table = add_table("union-and-intersection", 16, sorted(values), **fields(0x00f0, 1, 2))
    assert (table.union, table.intersection) == (0x4923, 0x0121)

    # directories: up to 56 blocks have one line
    for f, blocks, lines in ((64, 56, 1), (60, 57, 2)):
        counts = itertools.count(400 + numbers.below(10), 3)
        drawn = (Table(f, numbers.distinct(count, f), block_size=64) for count in counts)
        values = next(table.values for table in drawn if len(table.blocks) == blocks)
        table = add_table(f"{blocks}-blocks", f, values, block_size=64, **fields(2**f - 1, 1, 1))
        assert len(table.directory) == lines
    # lists
    add_table("list-first", 64, two_lines(numbers, False, 1 << 63), block_size=64, **fields(1 << 63, 0, 7))
    add_table("list-last", 64, two_lines(numbers, True, 1), block_size=64, **fields(1, 0, 7))
    line, mask = 2**64 // 3, 0x8000000000000001
    for name, wanted, first in (("list-middle", [False, True, False], (0, line, 240)),
                                ("lists-of-two-lines", [True, True, False], (0, 2**50, 700))):
        values = []
        while not values or lists_of(values, mask) != wanted:
            values = distinct_between(numbers, *first)
            values += distinct_between(numbers, line + 2**60, line + 2**60 + 2**57, 520)
            values += distinct_between(numbers, 2 * line + 1, 2**64, 200)
        add_table(name, 64, values, block_size=64, **fields(mask, 0, 7))
    # all keys in one line: the others hold none
    for name, first in (("last", 2**64 - 2**58), ("first", 2**40)):
        values = [first + value for value in distinct_between(numbers, 0, 2**58, 600)]
        table = add_table(f"all-in-{name}-line", 64, values, block_size=64, **fields(2**32 - 1, 0, 7))
        assert sorted(table.listed()) == [0, len(table.blocks)]
    # a list of all keys, which share most of their bits
    table = add_table("all-in-one-cell", 64, [5 * 2**61 + value for value in distinct_between(numbers, 0, 2**20, 4000)],
                      block_size=64, **fields(ALL_BITS, 0, 7))
    assert len(table.lists) > 300 and max(table.listed()) == len(table.blocks)

    # valid, but not as the writer of chapters 5 and 6 makes them
    values = numbers.distinct(150, 32)
    add_table("foreign-code", 32, values, code=Code(10, [4] * 16, 32), **fields(0xff00ff, 0, 15))
    add_table("foreign-code-near-and-far", 32, values, code=Code(32, [1, 1], 32), **fields(0xff00ff, 0, 15))
    add_table("foreign-anchor-1", 32, values, anchor=1, **fields(0xff00ff, 0, 15))
    add_table("foreign-anchor-f", 32, values, anchor=32, **fields(0xff00ff, 0, 15))
    add_table("foreign-anchor-63", 64, numbers.distinct(900, 64), anchor=63, **fields(0xff00ff, 0, 15))
    add_table("foreign-short-blocks", 32, values[:50],
              groups=[values[:1], values[1:3], values[3:10], values[10:20], values[20:50]], **fields(0xff00ff, 0, 16))
    add_table("foreign-one-in-each-block", 32, values[:4], groups=[[v] for v in values[:4]], **fields(0xff00ff, 0, 20))
    code, befores, parts = Code(24, [2] * 4, 32), [None, *values[19::20]], [values[i:i + 20] for i in range(0, 140, 20)]
    add_table("foreign-whole-anchors", 32, values[:140], code=code, groups=parts, anchor=30, block_size=256,
              blocks=[written_block(part, before, 32, code, 30, 256, True) for part, before in zip(parts, befores)],
              **fields(0xff00ff, 0, 20))
    add_table("foreign-all-far", 32, values[:140], code=code, groups=parts, block_size=128,
              blocks=[block_of(128, 32, code, 32, part[-1], [chain_of(part, code, 3)]) for part in parts], anchor=32,
              **fields(0xff00ff, 0, 20))
    values = numbers.distinct(200, 32)
    for count in (1, 2, 3, 4):
        add_table(f"foreign-{count}-chains", 32, values, code=code, groups=[values], block_size=4096,
                  blocks=[written_block(values, None, 32, code, 32, 4096, count=count)], anchor=32,
                  **fields(0xff00ff, 0, 20))
    # one fingerprint a block, on both sides of cells' borders, the lines' borders too
    cells = sorted({*range(2, 448, 23), 448, *range(470, 880, 23), 896, *range(903, 1344, 23)})
    values = [0] + [cell_start(cell, 3) - i for cell in cells for i in (1, 0)] + [ALL_BITS]
    table = add_table("foreign-keys-at-borders", 64, values, block_size=64, groups=[[value] for value in values],
                      **fields(0xf0f0, 2, 22))
    assert table.listed() == [0, 0, 0]
    # two keys of a line that need b = 1, 9 and 64
    for b, keys in ((9, [2**62, 2**62 + 2**55]), (64, [2**63 - 2, 2**63 - 1]), (64, [ALL_BITS - 1, ALL_BITS])):
        table = add_table(f"foreign-list-b-{b}-{keys[1]:x}", 64, keys, block_size=64, groups=[[key] for key in keys],
                          **fields(0xf0f0, 2, 22))
        assert table.directory[0].bits == b
    # a page of lists and more
    values = [5 * 2**61 + 2 * i for i in range(700)]
    table = add_table("foreign-page-of-lists", 64, values, block_size=64, groups=[[value] for value in values],
                      **fields(ALL_BITS, 2, 22))
    assert len(table.lists) > PAGE
    # in a list, keys on both sides of a line's border
    values = [2**63 - 2, 2**63 - 1, 2**63, 2**63 + 1] + distinct_between(numbers, 2**63 + 2, ALL_BITS, 53)
    table = add_table("foreign-lists-at-border", 64, values, block_size=64, groups=[[value] for value in values],
                      **fields(0xf0f0, 2, 22))
    assert all(table.listed())
    # what a later release may write behind the checksums of the pages
    own = Numbers(11)
    table = Table(16, own.distinct(40, 16), mask=0xf00f, uuid=own.uuid())
    header = patched(table.data(), 172, struct.pack("<I", 5))[:4088]
    data = header + struct.pack("<Q", checksum(header)) + table.data()[4096:] + b"extra"
    add_vector("table", "table-foreign-extra", bytes_line("bytes", data), expected=[table.plain()])


def add_invalid_table_vectors():
    def add_broken(name, fault, data):
        add_vector("table", f"table-{name}", bytes_line("bytes", data), fault)

    numbers = Numbers(2)
    uuid = numbers.uuid()
    empty = Table(16, [], mask=0xf00f, uuid=uuid).data()
    three = numbers.distinct(95, 32)
    skew = two_lines(numbers)
    skew_code = best_code(differences_of(skew), 64)

    def three_blocks():
        """A table of three blocks."""
        table = Table(32, three, mask=0xff0000ff, uuid=uuid)
        assert len(table.blocks) == 3
        return table

    whole = three_blocks().data()

    def add_header(name, fault, offset, form, *values, data=empty):
        """Adds a table with other values at an offset of its header."""
        add_broken(name, fault, sealed(patched(data, offset, struct.pack("<" + form, *values))))

    # the header
    add_broken("magic", "magic", sealed(patched(empty, 7, 1)))
    add_broken("empty-file", "magic", b"")
    add_header("version-0", "version", 8, "I", 0)
    add_header("version-2", "version", 8, "I", 2)
    add_broken("version-2-all-else-broken", "version", b"idxtable\2\0\0\0" + b"\xff" * 4084)
    add_broken("version-2-12-bytes", "version", b"idxtable\2\0\0\0")
    add_broken("size-8-bytes", "size", b"idxtable")
    add_broken("size-12-bytes", "size", b"idxtable\1\0\0\0")
    add_broken("size-4095-bytes", "size", empty[:-1])
    add_broken("checksum-header", "checksum", patched(empty, 40, 1))
    add_broken("checksum-before-reserved", "checksum", patched(empty, 2000, 1))
    add_header("reserved-first-byte", "reserved", 169, "B", 1)
    add_header("reserved-before-extra", "reserved", 171, "B", 0x80)
    add_header("reserved-behind-extra", "reserved", 176, "B", 1)
    add_header("size-extra-less", "size", 172, "I", 1)
    add_header("size-extra-2-32-less-one", "size", 172, "I", 2**32 - 1)
    add_broken("size-extra-more", "size", empty + b"x")
    add_header("reserved-last-byte", "reserved", 4087, "B", 0x80)
    add_header("f-0", "bits", 40, "B", 0)
    add_header("f-65", "bits", 40, "B", 65)
    add_header("mask-0", "mask", 32, "Q", 0)
    add_header("mask-too-wide", "mask", 32, "Q", 0x1000f)
    add_header("mask-too-wide-f63", "mask", 32, "Q", 2**63, data=Table(63, []).data())
    add_header("radius-4", "radius", 41, "B", 4)
    add_header("anchor-0", "anchor", 42, "B", 0)
    add_header("anchor-17-f16", "anchor", 42, "B", 17)
    add_header("anchor-2-f1", "anchor", 42, "B", 2, data=Table(1, [], mask=1).data())
    add_header("anchor-64", "anchor", 42, "B", 64, data=Table(64, []).data())
    add_header("anchor-255", "anchor", 42, "B", 255, data=Table(64, []).data())
    for size in (0, 32, 192, 8192):
        add_header(f"block-size-{size}", "block-size", 44, "I", size)
    add_header("count-no-blocks", "count", 48, "QQ", 1, 0)
    add_header("count-fewer-fingerprints-than-blocks", "count", 48, "QQ", 2, 3)
    add_header("count-no-fingerprints", "count", 48, "QQ", 0, 1)
    add_header("count-most-in-blocks-and-one", "count", 48, "QQ", 2 * 1023 + 1, 2)
    add_header("count-f1-three", "count", 48, "QQ", 3, 1, data=Table(1, [], mask=1).data())
    add_header("count-2-32-blocks", "count", 48, "QQ", 2**32, 2**32, data=Table(64, []).data())
    add_header("count-2-57-blocks", "count", 48, "QQ", 2**57, 2**57, data=Table(64, []).data())
    add_header("count-list-of-no-blocks", "count", 160, "Q", 1)
    add_header("count-lists-of-25-bytes", "count", 160, "Q", 25, data=whole)
    add_header("count-lists-2-64-less-one", "count", 160, "Q", ALL_BITS, data=whole)
    # one before the other
    add_header("bits-before-mask", "bits", 32, "QBB", 0, 0, 4)
    add_header("mask-before-radius", "mask", 32, "QBB", 0, 16, 4)
    add_header("radius-before-anchor", "radius", 41, "BB", 4, 0)
    add_header("anchor-before-block-size", "anchor", 42, "BBI", 0, 0, 0)
    add_header("block-size-before-count", "block-size", 44, "IQQ", 0, 1, 0)
    add_header("count-before-code", "count", 43, "BIQQ", 255, 128, 1, 0)
    add_header("count-of-lists-before-code", "count", 64, "B95xQ", 255, 1)
    add_header("count-before-long-codes", "count", 160, "QB", 1, 2)

    # long codes, for blocks of 64 bytes alone
    tiny = Table(16, [], block_size=64).data()
    for value in (1, 2, 255):
        add_header(f"long-codes-{value}-in-128-bytes", "code", 168, "B", value)
        if value > 1:
            add_header(f"long-codes-{value}-in-64-bytes", "code", 168, "B", value, data=tiny)
    add_header("long-codes-1-in-4096-bytes", "code", 168, "B", 1, data=Table(16, [], block_size=4096).data())
    add_header("reserved-before-long-codes", "reserved", 168, "BB", 2, 1)
    add_broken("long-codes-before-size", "code", sealed(patched(empty + b"\0", 168, b"\1")))

    # w and code lengths, f = 16
    def add_code(name, near, values, data=empty):
        broken = patched(patched(data, 43, bytes([near])), 64, bytes(values) + bytes(64 - len(values)))
        add_broken(f"code-{name}", "code", sealed(broken))

    add_code("none", 0, [])
    add_code("one-class", 0, [1])
    add_code("length-7", 0, [1, 2, 3, 4, 5, 6, 7, 7])
    add_code("incomplete", 0, [2, 2, 2])
    add_code("over-complete", 0, [1, 2, 2, 6])
    add_code("gap", 0, [1, 0, 1])
    add_code("near-17-f16", 17, [1, 1])
    add_code("near-15-4-classes-f16", 15, [2] * 4)
    add_code("near-58-f64", 58, [1, 1], Table(64, []).data())
    add_code("all-of-6-bits-f64", 0, [6] * 64, Table(64, []).data())

    # the size of the file
    add_broken("size-one-byte-less", "size", whole[:-1])
    add_broken("size-one-page-less", "size", whole[:-PAGE])
    add_header("size-one-block-in-header-only", "size", 48, "QQ", 1, 1)
    add_broken("size-empty-and-one-byte", "size", empty + b"\0")
    add_header("size-most-blocks", "size", 44, "IQQ", 4096, 2**32 - 1, 2**32 - 1, data=Table(64, []).data())
    add_header("size-most-blocks-and-lists", "size", 160, "Q", 8 * (2**32 - 1), data=patched(
        Table(64, []).data(), 44, struct.pack("<IQQ", 4096, 2**32 - 1, 2**32 - 1)))
    add_header("code-before-size", "code", 64, "B", 12, data=empty + b"\0")

    # checksums of pages
    add_broken("checksum-blocks", "checksum", patched(whole, PAGE, 1))
    add_broken("checksum-directory", "checksum", patched(whole, 2 * PAGE, 1))
    add_broken("checksum-itself", "checksum", patched(whole, -1, 0x80))

    # padding between sections
    def add_padding(name, data, offset, bit):
        add_broken(f"padding-{name}", "padding", sealed(patched(data, offset, bit)))

    listed = Table(64, skew, code=skew_code, uuid=uuid, block_size=64)
    pages = len(up_to_page(b"".join(listed.blocks))) // PAGE
    add_padding("after-blocks-first", whole, PAGE + 3 * 128, 1)
    add_padding("after-directory-first", whole, 2 * PAGE + 64, 1)
    add_padding("after-directory-last", whole, 3 * PAGE - 1, 0x80)
    add_padding("after-lists-first", listed.data(), (1 + pages) * PAGE + 128 + len(listed.lists), 1)

    # blocks
    def add_changed(name, fault, *changes):
        """Adds the table of three blocks after changes, which are functions of the table."""
        table = three_blocks()
        for change in changes:
            change(table)
        add_broken(name, fault, table.data())

    def rewrite_block(i, values=None, **options):
        """A change that writes block i again, of these values if they are given."""
        def change(table):
            table.blocks[i] = written_block(values or table.groups[i], table.befores[i], 32, table.code, table.anchor,
                                            128, **options)
        return change

    def add_to(name, value):
        """A change that adds a value to a member of the table."""
        return lambda table: setattr(table, name, getattr(table, name) + value)

    def set_padding_bit(table):
        """A change that sets a bit in the padding of the last block."""
        assert not any(table.blocks[2][60:64])
        table.blocks[2][62] |= 1

    def swap_blocks(table):
        """A change that exchanges the first two blocks, with whole anchors."""
        table.blocks[0], table.blocks[1] = (written_block(table.groups[i], None, 32, table.code, table.anchor, 128,
                                                          True) for i in (1, 0))

    first, second = three_blocks().groups[:2]
    add_changed("sum-of-counts-one-less", "count", add_to("fingerprints", 1))
    add_changed("sum-of-counts-one-more", "count", add_to("fingerprints", -1))
    add_changed("order-between-blocks", "order", swap_blocks)
    add_changed("order-equal-between-blocks", "order", rewrite_block(1, first[-1:], whole=True))
    add_changed("order-difference-to-key-before", "order", rewrite_block(1, first[-1:] + second[1:]))
    add_changed("order-difference-below-key-before", "order", rewrite_block(1, [first[-1] - 1] + second[1:]))
    for key in (0, 5, ALL_BITS):
        table = Table(64, [5, 8, ALL_BITS], groups=[[5, 8], [ALL_BITS]], block_size=64, anchor=63)
        table.blocks.append(block_of(64, 64, table.code, 63, key, [[]], True))
        table.fingerprints = 4
        add_broken(f"order-{key:x}-behind-greatest", "order", table.data())
    add_changed("padding-in-last-block", "padding", set_padding_bit)
    add_changed("padding-before-counts", "padding", set_padding_bit, add_to("fingerprints", 1))
    add_changed("order-before-padding", "order", set_padding_bit, swap_blocks)
    # codes that are long, but not said to be
    dense = Table(64, list(range(3000)), uuid=uuid, block_size=64, code=Code(0, [2, 1, 2], 64), long=True)
    dense.long = False
    add_broken("padding-of-long-codes", "padding", dense.data())
    # 1024 fingerprints in a block, more than there may be
    values, code_of_ones = list(range(1024)), Code(1, [1, 1], 64)
    for block_size in (512, 4096):
        table = Table(64, values, code=code_of_ones, groups=[values], block_size=block_size)
        table.fingerprints = 1023
        add_broken(f"count-1024-in-{block_size}-bytes", "count", table.data())

    # the directory: its first line has a list, its second none
    def add_broken_line(name, line, *changes):
        """Adds a table with lists after changes of a directory's line: (member, new value or function of the old)."""
        table = Table(64, skew, mask=0xff0000ff, uuid=uuid, block_size=64, code=skew_code)
        assert table.listed()[0] and table.listed()[1:] == [0]
        for field, change in changes:
            value = getattr(table.directory[line], field)
            setattr(table.directory[line], field, change(value) if callable(change) else change)
        if table.lists == listed.lists:
            table.lists = b"".join(line.list_data() for line in table.directory)
        add_broken(f"directory-{name}", "directory", table.data())

    sparse = listed.directory[1]
    add_broken_line("first-1-in-first-line", 0, ("first", 1))
    add_broken_line("first-one-less", 1, ("first", lambda first: first - 1))
    add_broken_line("first-one-more", 1, ("first", lambda first: first + 1))
    add_broken_line("first-beyond-blocks", 1, ("first", 2**32 - 1))
    add_broken_line("listed-0", 0, ("listed", 0))
    add_broken_line("listed-one-more", 0, ("listed", lambda listed: listed + 1))
    add_broken_line("listed-one-less", 0, ("listed", lambda listed: listed - 1))
    add_broken_line("listed-2-32-less-one", 0, ("listed", 2**32 - 1))
    add_broken_line("listed-all-keys-of-cells", 1, ("listed", bin(sparse.cells).count("1")))
    add_broken_line("place-1", 0, ("place", 1))
    add_broken_line("place-2-64-less-one", 0, ("place", ALL_BITS))
    add_broken_line("place-of-end", 0, ("place", len(listed.lists)))
    for b in (0, 65, 255):
        table = Table(64, skew, mask=0xff0000ff, uuid=uuid, block_size=64, code=skew_code)
        table.directory[0].bits = b
        add_broken(f"directory-b-{b}", "directory", table.data())
    table = Table(64, skew, mask=0xff0000ff, uuid=uuid, block_size=64, code=skew_code)
    table.directory[0].bits -= 1
    add_broken("directory-b-one-less-in-line-only", "directory", table.data())
    parts = [key * 2 for key in listed.keys if key < 2**63]
    bits = listed.directory[0].bits
    add_broken_line("b-one-less", 0, ("bits", bits - 1), ("items", [part >> 65 - bits for part in parts]))
    add_broken_line("b-one-more", 0, ("bits", bits + 1), ("items", [part >> 63 - bits for part in parts]))
    add_broken_line("b-64", 0, ("bits", 64), ("items", parts))
    items = listed.directory[0].items
    add_broken_line("item-one-more", 0, ("items", items[:5] + [items[5] + 1] + items[6:]))
    add_broken_line("first-item-one-less", 0, ("items", [items[0] - 1] + items[1:]))
    add_broken_line("last-item-one-more", 0, ("items", items[:-1] + [items[-1] + 1]))
    add_broken_line("items-exchanged", 0, ("items", [items[1], items[0]] + items[2:]))
    add_broken_line("items-equal", 0, ("items", [items[0]] + items[:1] + items[2:]))
    add_broken_line("reserved-first", 0, ("reserved", b"\1" + bytes(46)))
    add_broken_line("reserved-last", 0, ("reserved", bytes(46) + b"\x80"))
    add_broken_line("cell-missing", 1, ("cells", lambda cells: cells & cells - 1))
    add_broken_line("cell-more", 1, ("cells", lambda cells: cells | cells + 1))
    add_broken_line("cell-beside", 1, ("cells", lambda cells: cells ^ 3 * (cells & -cells)))

    def add_broken_lists(name, change):
        table = Table(64, skew, mask=0xff0000ff, uuid=uuid, block_size=64, code=skew_code)
        table.lists = change(table.lists)
        add_broken(f"directory-{name}", "directory", table.data())

    add_broken_lists("lists-one-byte-more", lambda lists: lists + b"\0")
    add_broken_lists("lists-one-byte-less", lambda lists: lists[:-1])
    add_broken_lists("no-lists", lambda lists: b"")
    assert len(items) * bits % 8
    add_broken_lists("bit-behind-list", lambda lists: lists[:-1] + bytes([lists[-1] | 0x80]))
    # a list where cells would do, and the other way round
    table = three_blocks()
    parts = table.keys
    table.directory[0].listed, table.directory[0].bits = 3, 64
    table.directory[0].items = parts
    while len({part >> 65 - table.directory[0].bits for part in parts}) == 3:
        table.directory[0].bits -= 1
    table.directory[0].items = [part >> 64 - table.directory[0].bits for part in parts]
    table.lists = table.directory[0].list_data()
    add_broken("directory-list-not-needed", "directory", table.data())
    # two keys in one cell, and no list of them
    table = Table(64, [2**62, 2**62 + 1], block_size=64, groups=[[2**62], [2**62 + 1]])
    table.directory[0].listed, table.lists = 0, b""
    add_broken("directory-no-list", "directory", table.data())

    # the statistics
    for field, value in (("union", -1), ("intersection", 1), ("largest_group", 1), ("pairs", -1)):
        values = sorted({0x10 | numbers.bits(16) for _ in range(60)})
        table = Table(16, values, mask=0x0321, uuid=uuid)
        assert table.union & 1 and not table.intersection & 1 and table.largest_group > 1
        add_to(field, value)(table)
        add_broken(f"statistics-{field.replace('_', '-')}", "statistics", table.data())
    values = [0x8001, 0x8011, 0x9001]
    table = Table(16, values, mask=0x00ff, uuid=uuid)
    table.union = values[0] | values[1] | values[2]
    add_broken("statistics-union-permuted", "statistics", table.data())
    table = three_blocks()
    table.directory[0].first, table.pairs = 1, 2**64 - 1
    add_broken("directory-before-statistics", "directory", table.data())
    for i, (name, value) in enumerate((("union", 1), ("intersection", ALL_BITS), ("largest-group", 1), ("pairs", 1))):
        add_header(f"statistics-empty-{name}", "statistics", 128 + 8 * i, "Q", value)


def add_block_vectors():
    def add_block(name, f, anchor, code, values, block, before=None, long=False):
        """Adds a block that is valid, and returns it."""
        add_vector("block", f"block-{name}", block_lines(f, anchor, code, before, block, long),
                   expected=[[as_text(value, f) for value in values]])
        return block

    def add_written(name, f, anchor, code, values, before=None, size=64, **options):
        return add_block(name, f, anchor, code, values, written_block(values, before, f, code, anchor, size, **options),
                         before)

    def add_broken(name, fault, f, anchor, code, block, before=None, long=False):
        add_vector("block", f"block-{name}", block_lines(f, anchor, code, before, block, long), fault)

    def with_bits(block, *bits):
        """The block with these bits set, which were 0."""
        block = bytearray(block)
        for bit in bits:
            assert not block[bit // 8] >> bit % 8 & 1
            block[bit // 8] |= 1 << bit % 8
        return block

    def chain_values(key, chain):
        """The values of a chain of differences and classes."""
        return [key - sum(d for d, _ in chain[:i]) for i in range(len(chain), -1, -1)]

    numbers = Numbers(3)
    plain = Code(2, [2] * 4, 8)
    block = add_written("example", 8, 8, plain, EXAMPLE)
    assert block == bytes.fromhex("2e19") + bytes(60) + bytes.fromhex("1c60")
    # a far difference of 0, and what stands between the code and the tail of a near one
    add_broken("padding-first-after-codes", "padding", 8, 8, plain, with_bits(block, 17, 18))
    add_broken("padding-behind-code", "padding", 8, 8, plain, with_bits(block, 19))
    add_broken("padding-before-tails", "padding", 8, 8, plain, with_bits(block, 497 - 8))
    block = add_written("example-3-3-2-1", 8, 8, Code(2, [3, 3, 2, 1], 8), EXAMPLE)
    add_written("example-whole", 8, 8, plain, EXAMPLE, whole=True)
    add_written("example-after-11", 8, 8, plain, EXAMPLE, before=0x11)

    # anchors, up to the limit of a short one
    single, wide = Code(1, [1, 1], 64), Code(20, [1, 2, 3, 3], 64)
    for f in (1, 8, 63, 64):
        code = Code(1, [1, 1], f)
        add_written(f"f{f}-greatest", f, 1, code, [2**f - 1], whole=True)
        add_written(f"f{f}-greatest-from-0", f, min(f, 63), code, [0, 2**f - 1] if f < 57 else [2**f - 2, 2**f - 1])
        add_written(f"f{f}-0", f, 1, code, [0])
        add_written(f"f{f}-0-whole", f, 1, code, [0], whole=True)
        if f > 1:
            add_written(f"f{f}-short-at-the-end", f, 3, code, [2**f - 1], before=2**f - 3)
    for anchor in (1, 2, 7, 8, 62, 63):
        most = 2**anchor - 1
        for before in (None, 10**18 + 3):
            name = f"anchor-{anchor}-{'first' if before is None else 'after-another'}"
            base = before or 0
            add_written(f"{name}-most", 64, anchor, single, [base + most], before=before, whole=False)
            add_written(f"{name}-most-and-one-whole", 64, anchor, single, [base + most + 1], before=before)
            add_written(f"{name}-least", 64, anchor, single, [base + (before is not None)], before=before, whole=False)
            add_written(f"{name}-least-whole", 64, anchor, single, [base + (before is not None)], before=before,
                        whole=True)
    add_written("anchor-as-wide-as-f", 33, 33, Code(1, [1, 1], 33), [2**32 + 77], before=2**32 - 1)
    add_broken("anchor-as-wide-as-f-below-before", "order", 33, 33, Code(1, [1, 1], 33),
               block_of(64, 33, Code(1, [1, 1], 33), 33, 76, [[]]), 77)
    for f, anchor, before in ((8, 4, 0xf8), (63, 4, 2**63 - 3), (64, 4, 2**64 - 3), (64, 63, 2**64 - 3), (1, 1, 0)):
        code = Code(1, [1, 1], f)
        add_broken(f"order-short-anchor-of-2-{f}-{anchor}", "order", f, anchor, code,
                   block_of(64, f, code, anchor, 0, [[]]), before)
        add_broken(f"order-short-anchor-behind-greatest-{f}-{anchor}", "order", f, anchor, code,
                   block_of(64, f, code, anchor, 0, [[]]), 2**f - 1)
        add_broken(f"order-whole-anchor-behind-greatest-{f}-{anchor}", "order", f, anchor, code,
                   block_of(64, f, code, anchor, 2**f - 1, [[]], True), 2**f - 1)
    for name, key in (("equal", 1000), ("below", 999), ("0", 0)):
        add_broken(f"order-key-{name}", "order", 64, 5, single, block_of(64, 64, single, 5, key, [[]], True), 1000)

    # codes; the block itself needs none of them
    none = block_of(64, 16, Code(1, [1, 1], 16), 16, 0x1234, [[]])
    for name, near, lengths in (
            ("none", 0, []), ("one-class", 0, [1]), ("one-class-of-6-bits", 0, [6]), ("length-0-first", 0, [0, 1, 1]),
            ("gap", 0, [1, 0, 1]), ("gap-before-last", 0, [1, 2, 3, 3] + [0] * 59 + [6]),
            ("length-7", 0, [1, 2, 3, 4, 5, 6, 7, 7]), ("length-255", 0, [1, 1, 255]),
            ("incomplete", 0, [2, 2, 2]), ("incomplete-by-one-of-6-bits", 0, [1, 2, 3, 4, 5, 6]),
            ("over-complete", 0, [1, 2, 2, 2]), ("over-complete-by-one-of-6-bits", 0, [1, 1, 6]),
            ("over-complete-twice", 0, [1] * 4), ("near-17", 17, [1, 1]), ("near-255", 255, [1, 1]),
            ("near-16-3-classes", 16, [1, 2, 2]), ("near-0-19-classes", 0, [4] * 13 + [5] * 6),
            ("64-classes", 0, [6] * 64)):
        code = Code(0, [1, 1], 16)
        code.near, code.lengths = near, lengths
        add_broken(f"code-{name}", "code", 16, 16, code, none)
    add_broken("code-before-order", "code", 16, 16, Code(17, [1, 1], 16), none, 0xffff)
    for f, near, lengths, fine in ((16, 16, [1, 1], True), (16, 15, [1, 2, 2], True),
                                   (16, 0, [4] * 14 + [5] * 4, True), (64, 57, [1, 1], True), (64, 58, [1, 1], False),
                                   (57, 57, [1, 1], True), (58, 58, [1, 1], False), (1, 1, [1, 1], True),
                                   (1, 0, [1, 2, 2], True), (1, 1, [1, 2, 2], False), (1, 0, [2] * 4, False),
                                   (64, 0, [5] * 5 + [6] * 54, True), (64, 1, [5] * 5 + [6] * 54, False),
                                   (64, 0, [5] * 4 + [6] * 56, False), (64, 0, [6] * 64, False),
                                   (57, 0, [5] * 5 + [6] * 54, True), (56, 0, [5] * 5 + [6] * 54, False)):
        code = Code(near, lengths, f)
        name = f"code-f{f}-near-{near}-{len(lengths)}-classes"
        if fine:
            add_written(name, f, min(f, 63), code, [0, 1])
        else:
            add_broken(name, "code", f, min(f, 63), code, block_of(64, f, single, 1, 0, [[]]))

    # each class of many, the greatest and the least difference of it
    for near, lengths in ((0, [5] * 5 + [6] * 54), (7, [4] * 14 + [6] * 8), (30, [6] * 4 + [5] * 2 + [3, 2, 2, 2]),
                          (57, [1, 1]), (0, [1, 1]), (3, [1, 2, 3, 4, 5, 6, 6]), (3, [6, 6, 5, 4, 3, 2, 1])):
        code, chain = Code(near, lengths, 64), []
        for symbol in range(len(lengths)):
            low = 1 if symbol == 0 else 1 << near + symbol - 1
            high = 2**57 - 1 if symbol == code.far else (1 << near + symbol) - 1
            chain += [(d, symbol) for d in {low, high, (low + high) // 2} if code.lowest(d) is not None and high >= low]
        key = 2**64 - 77
        values = chain_values(key, chain)
        assert values[0] >= 0
        add_block(f"each-class-near-{near}-lengths-{lengths[0]}-to-{lengths[-1]}", 64, 60, code, values,
                  block_of(4096, 64, code, 60, key, [chain], True, places=[]))
    # a far difference in place of each other
    code = Code(3, [1, 2, 3, 4, 5, 6, 6], 40)
    for d in (1, 7, 8, 15, 16, 100, 255, 256, 2**39):
        chain = [(d, 6), (5, 0)] + [(d, 6)] * (d < 2**39)
        add_block(f"far-{d}", 40, 40, code, chain_values(2**40 - 1, chain),
                  block_of(64, 40, code, 40, 2**40 - 1, [chain]))
    # a difference of 0 ends a chain; a near one reads as padding, a far one has a code that is none
    add_broken("difference-0-far", "padding", 40, 40, code, block_of(64, 40, code, 40, 77, [[(3, 0), (0, 6)]]))
    add_broken("difference-0-near-then-another", "padding", 40, 40, code,
               block_of(64, 40, code, 40, 77, [[(3, 0), (0, 0), (3, 0)]]))
    code = Code(0, [2, 1, 2], 40)
    add_broken("difference-0-of-no-bits", "padding", 40, 40, code,
               block_of(64, 40, code, 40, 77, [[(1, 1), (0, 0), (1, 1)]]))

    # exactly full blocks, without padding; and all that is left is too little
    for size, f, lengths in ((64, 64, [1, 2, 3, 3]), (128, 64, [1, 2, 3, 3]), (512, 60, [3, 3, 2, 1]),
                             (256, 64, [2] * 4)):
        code, anchor = Code(20, lengths, f), 40
        for left in range(0, 21):
            room = 8 * size - 1 - anchor - left
            costs = [code.bits(symbol) for symbol in range(4)]
            choices = ((a, b, c, d) for d in range(3) for c in range(25) for b in range(25)
                       for a in [(room - costs[1] * b - costs[2] * c - costs[3] * d) // costs[0]]
                       if a >= 0 and costs[0] * a + costs[1] * b + costs[2] * c + costs[3] * d == room)
            counts = next(choices, None)
            if counts is None or left and left % 5 != 1:
                continue
            chain = []
            for symbol, count in enumerate(counts):
                chain += [((1 << code.tail_of(symbol)) - 1 - i | (symbol in (1, 2)) << code.tail_of(symbol), symbol)
                          for i in range(count)]
            key = 2**anchor - 1
            if sum(d for d, _ in chain) > key:
                chain = [(d if symbol < 3 else 2**20 + i, symbol) for i, (d, symbol) in enumerate(chain)]
            block = add_block(f"full-but-{left}-bits-{size}-{lengths[0]}", f, anchor, code, chain_values(key, chain),
                              block_of(size, f, code, anchor, key, [chain]))
            at = 1 + anchor + sum(code.lengths[symbol] for _, symbol in chain)
            if left:
                add_broken(f"full-but-{left}-bits-{size}-{lengths[0]}-padding-first", "padding", f, anchor, code,
                           with_bits(block, at))
                add_broken(f"full-but-{left}-bits-{size}-{lengths[0]}-padding-last", "padding", f, anchor, code,
                           with_bits(block, at + left - 1))

    # in 64 bytes a chain ends before its codes have more than 64 bits
    add_block("codes-of-64-bits", 64, 8, single, range(101, 166), block_of(64, 64, single, 8, 165, [[(1, 0)] * 64]))
    add_broken("codes-of-65-bits", "padding", 64, 8, single,
               block_of(64, 64, single, 8, 165, [[(1, 0)] * 64 + [(1, 1)]]))
    add_broken("codes-of-64-bits-and-tail", "padding", 64, 8, single, block_of(64, 64, single, 8, 165, [[(1, 0)] * 65]))
    code = Code(1, [2, 2, 2, 3, 3], 64)
    chain = [(1, 0)] * 20 + [(2, 1)] * 10 + [(8, 3)]
    for more, bits in (([], 63), ([(1, 0)], 65), ([(4, 2)], 65), ([(8, 3)], 66)):
        values = chain_values(200, chain + (more if bits < 64 else []))
        block = block_of(64, 64, code, 8, 200, [chain + more])
        name = f"codes-of-63-bits-and-{bits - 63}"
        if bits == 63:
            add_block(name, 64, 8, code, values, block)
        else:
            add_broken(f"{name}-{more[0][0]}", "padding", 64, 8, code, block)
    add_block("codes-of-66-bits-in-128-bytes", 64, 8, code, chain_values(200, chain + [(8, 3)]),
              block_of(128, 64, code, 8, 200, [chain + [(8, 3)]]))
    code = Code(1, [2, 2, 2, 2], 64)
    add_block("codes-of-64-bits-by-twos", 64, 8, code, chain_values(200, [(2, 1), (4, 2)] * 16),
              block_of(64, 64, code, 8, 200, [[(2, 1), (4, 2)] * 16]))
    code = Code(0, [2, 1, 2], 64)
    add_block("codes-of-64-bits-without-tails", 64, 8, code, range(101, 166),
              block_of(64, 64, code, 8, 165, [[(1, 1)] * 64]))
    add_broken("codes-of-65-bits-without-tails", "padding", 64, 8, code,
               block_of(64, 64, code, 8, 165, [[(1, 1)] * 65]))
    # but where codes may be long
    for name, own, chain in (("65", single, [(1, 0)] * 64 + [(1, 1)]), ("65-near", single, [(1, 0)] * 65),
                             ("65-without-tails", code, [(1, 1)] * 65), ("66", code, [(1, 1)] * 64 + [(5, 2)]),
                             ("487", code, [(1, 1)] * 487), ("430-and-far", code, [(1, 1)] * 427 + [(77, 2)]),
                             ("128-and-8", Code(1, [1, 2, 2], 64), [(1, 0)] * 128 + [(2, 1)] * 4),
                             ("64", single, [(1, 0)] * 64), ("1", single, [(1, 0)])):
        block = block_of(64, 64, own, 24, 10000, [chain])
        add_block(f"long-codes-of-{name}", 64, 24, own, chain_values(10000, chain), block, long=True)
        if sum(own.lengths[symbol] for _, symbol in chain) > 64:
            add_broken(f"long-codes-of-{name}-not-allowed", "padding", 64, 24, own, block)
    block = block_of(64, 64, single, 24, 10000, [[(1, 0)] * 100])
    add_broken("long-codes-padding-first", "padding", 64, 24, single, with_bits(block, 126), long=True)
    add_broken("long-codes-padding-last", "padding", 64, 24, single, with_bits(block, 410), long=True)
    add_broken("long-codes-up-to-the-end-but-two-bits", "padding", 64, 24, code,
               block_of(64, 64, code, 24, 10000, [[(1, 1)] * 485 + [(5, 2)]]), long=True)
    add_broken("long-codes-order", "order", 64, 24, code, block_of(64, 64, code, 24, 400, [[(1, 1)] * 401]), long=True)
    add_broken("long-codes-order-before", "order", 64, 24, code, block_of(64, 64, code, 24, 400, [[(1, 1)] * 300]), 100,
               long=True)
    for size in (128, 1024):
        block = block_of(size, 64, single, 24, 5, [[]])
        add_broken(f"long-codes-in-{size}-bytes", "code", 64, 24, single, block, long=True)
    # codes up to the tails, one bit too many, and up to the last bit of a block without tails
    code = Code(0, [2, 1, 2], 64)
    add_block("codes-up-to-the-end", 64, 10, code, chain_values(2000, [(1, 1)] * 1013),
              block_of(128, 64, code, 10, 2000, [[(1, 1)] * 1013]), 980)
    add_broken("codes-up-to-the-end-but-two-bits", "padding", 64, 10, code,
               block_of(128, 64, code, 10, 2000, [[(1, 1)] * 1011 + [(5, 2)]]), 980)

    # order
    code = Code(4, [1, 2, 2], 12)
    for before in (None, 99):
        lowest = 0 if before is None else before + 1
        name = "first-block" if before is None else "after-another"
        for size in (64, 128):
            add_block(f"down-to-lowest-{name}-{size}", 12, 12, code, [lowest, lowest + 3, 500],
                      block_of(size, 12, code, 12, 500, [[(500 - lowest - 3, 2), (3, 0)]]), before)
            for below in (1, 2, 3, 2**11):
                for first in (0, 4):
                    chain = [(500 - lowest - first, 2)] + [(first + below, 2)]
                    add_broken(f"order-{below}-below-lowest-{name}-{first}-{size}", "order", 12, 12, code,
                               block_of(size, 12, code, 12, 500, [chain]), before)
            add_broken(f"order-before-padding-{name}-{size}", "order", 12, 12, code,
                       with_bits(block_of(size, 12, code, 12, 500, [[(501 - lowest, 2)]]), 60), before)
    far = Code(10, [1, 1], 64)
    add_broken("order-far-wraps", "order", 64, 10, far, block_of(64, 64, far, 10, 1000, [[(2**57 - 1, 1)] * 2]))
    # as far as differences go, it wraps again and again
    chain = [(2**57 - 1, 1)] * 140
    add_broken("order-wraps-twice", "order", 64, 10, far, block_of(2048, 64, far, 10, 1000, [chain], places=[]))

    # 1023 fingerprints, and more
    ones = Code(0, [2, 1, 2], 64)
    for n in (1022, 1023):
        for size in (256, 512, 1024, 2048, 4096):
            values = list(range(5000, 5000 + n))
            add_written(f"{n}-in-{size}", 64, 10, single if size > 256 else ones, values, 4990, size)
    for n in (1024, 1025, 2000):
        for size in (256, 512, 1024, 2048, 4096):
            if n == 2000 and size == 256:
                continue
            values = list(range(5000, 5000 + n))
            code = single if size > 512 else ones
            add_broken(f"count-{n}-in-{size}", "count", 64, 12, code,
                       written_block(values, 4990, 64, code, 12, size), 4990)
            if size >= 1024:
                add_broken(f"count-{n}-in-{size}-one-chain", "count", 64, 12, code,
                           written_block(values, 4990, 64, code, 12, size, count=1), 4990)
    values = list(range(5000, 6024))
    add_broken("order-before-count", "order", 64, 12, single, written_block(values, 4990, 64, single, 12, 512), 5000)
    add_broken("order-before-count-in-4096", "order", 64, 12, single,
               written_block(values, 4990, 64, single, 12, 4096), 5000)
    add_broken("count-before-padding", "count", 64, 12, single,
               with_bits(written_block(values, 4990, 64, single, 12, 512), 2100), 4990)

    # chains
    mixed = Code(22, [2, 2, 2, 2], 40)
    values = numbers.distinct(120, 33)
    for size, most in ((1024, 2), (2048, 2), (4096, 4)):
        for count in range(1, most + 1):
            for before in (None, values[0] - 1):
                name = f"chains-{count}-{size}-{'first' if before is None else 'after-another'}"
                block = add_written(name, 40, 40, mixed, values, before, size, count=count)
        for count in range(1, most + 1):
            few = values[:count]
            add_written(f"chains-{count}-of-one-each-{size}", 40, 40, mixed, few, None, size, count=count)
        add_written(f"one-{size}", 40, 40, mixed, values[:1], None, size)
        chains = cut_into_chains(values, most)[::-1]
        offsets = [values[-1] - chain[-1] for chain in chains[1:]]
        parts = [chain_of(chain, mixed) for chain in chains]
        for width in (max(offsets).bit_length() + 1, 63):
            add_block(f"chains-width-{width}-{size}", 40, 40, mixed, values,
                      block_of(size, 40, mixed, 40, values[-1], parts, offsets=offsets, width=width))
        begin = 41 + list_bits(size, max(offsets).bit_length())
        ends = [begin + sum(chain_bits(part, mixed) for part in parts[:i + 1]) for i in range(most - 1)]
        room = 8 * size - begin - sum(chain_bits(part, mixed) for part in parts)
        gap = room // most
        spread = [end + gap * (i + 1) for i, end in enumerate(ends)]
        block = add_block(f"chains-with-gaps-{size}", 40, 40, mixed, values,
                          block_of(size, 40, mixed, 40, values[-1], parts, offsets=offsets, places=spread))
        for i, place in enumerate([*spread, 8 * size]):
            codes = sum(mixed.lengths[symbol] for _, symbol in parts[i])
            at = (begin if i == 0 else spread[i - 1]) + codes
            # a far difference of 0, and what stands between the code and the tail of a near one
            top = place - sum(mixed.tail_of(symbol) for _, symbol in parts[i])
            add_broken(f"chains-padding-{i}-far-{size}", "padding", 40, 40, mixed, with_bits(block, at, at + 1))
            add_broken(f"chains-padding-{i}-behind-code-{size}", "padding", 40, 40, mixed, with_bits(block, at + 2))
            add_broken(f"chains-padding-{i}-before-tail-{size}", "padding", 40, 40, mixed, with_bits(block, top - 23))

        def add_shaped(name, fault, chains, offsets, places, key=1000, before=None, width=12, change=None, whole=False):
            """Adds a broken block of this key; chains that are not given have one fingerprint."""
            block = block_of(size, 40, mixed, 40, key, chains, whole, offsets, places, width)
            block = change(block) if change else block
            add_broken(f"chains-{name}-{size}", fault, 40, 40, mixed, block, before)

        begin = 41 + list_bits(size, 12)
        low = [(7, 0)]
        # a place where the highest chain begins: that is of its key alone
        add_block(f"chains-place-of-entries-end-{size}", 40, 40, mixed, [893, 900, 1000],
                  block_of(size, 40, mixed, 40, 1000, [[], low], offsets=[100], places=[begin], width=12))
        add_block(f"chains-place-of-last-bit-{size}", 40, 40, mixed, [900, 993, 1000],
                  block_of(size, 40, mixed, 40, 1000, [low, []], offsets=[100], places=[8 * size - 1], width=12))
        add_shaped("place-in-entries", "overrun", [low], [100], [begin - 1])
        add_shaped("place-0", "overrun", [low], [100], [0])
        # offsets down to the lowest number allowed
        for before in (None, 499):
            lowest, name = (0, "first") if before is None else (500, "after-another")
            add_block(f"chains-lowest-offset-{name}-{size}", 40, 40, mixed, [lowest, 993, 1000],
                      block_of(size, 40, mixed, 40, 1000, [low, []], offsets=[1000 - lowest], places=[begin + 100],
                               width=12), before)
            add_shaped(f"offset-one-too-many-{name}", "order", [low, []], [1001 - lowest], [begin + 100], before=before)
            add_shaped(f"difference-below-lowest-{name}", "order", [low, [(901 - lowest, 3)]], [100], [begin + 100],
                       before=before)
            add_block(f"chains-difference-to-lowest-{name}-{size}", 40, 40, mixed, [lowest, 900, 993, 1000], block_of(
                size, 40, mixed, 40, 1000, [low, [(900 - lowest, 3)]], offsets=[100], places=[begin + 100], width=12),
                before)
        add_shaped("offset-above-key-63-bits", "order", [low], [2**63 - 1], [begin + 300], width=63)
        # chains that lead to the key of the one below, and beyond; next to it is as far as they go
        add_block(f"chains-next-to-each-other-{size}", 40, 40, mixed, [893, 900, 901, 1000], block_of(
            size, 40, mixed, 40, 1000, [[(99, 0)], low], offsets=[100], places=[begin + 100], width=12))
        for d in (100, 101, 107, 110, 1000):
            add_shaped(f"overlap-{d}", "order", [[(d, 0)], low], [100], [begin + 100])
        # chains that are not there
        absent = block_of(size, 40, mixed, 40, 1000, [low], width=12)
        add_block(f"chains-absent-with-width-{size}", 40, 40, mixed, [993, 1000], absent)
        for place in (1, begin - 1, begin + 1000):
            add_shaped(f"absent-with-place-{place}", "padding", [low], [0], [place])
        add_shaped("absent-with-place-of-less-than-its-own", "padding", [low], [0], [41])
        # the key first, then the list, then what is in the chains
        add_shaped("key-before-place", "order", [low], [100], [0], before=1000, whole=True)
        add_shaped("place-before-offset", "overrun", [low], [1001], [0])
        add_shaped("place-before-differences", "overrun", [[(1001, 3)]], [100], [begin - 1])
        add_shaped("offset-before-padding", "order", [low], [1001], [begin + 100],
                   change=lambda block: with_bits(block, 8 * size - 100))
        if most == 4:
            add_block("chains-of-keys-at-one-place", 40, 40, mixed, [900, 901, 902, 1000], block_of(
                size, 40, mixed, 40, 1000, [[]] * 4, offsets=[98, 99, 100], places=[begin] * 3, width=12))
            for name, offsets in (("equal", [100, 100]), ("descend", [100, 99]), ("equal-last", [50, 100, 100]),
                                  ("descend-last", [50, 100, 1])):
                places = [begin + 100 * (i + 1) for i in range(len(offsets))]
                add_shaped(f"offsets-{name}", "order", [low], offsets, places)
                add_shaped(f"offsets-{name}-before-place-behind", "order" if len(offsets) == 2 else "overrun", [low],
                           offsets, places[:2] + [0])
            add_shaped("places-descend", "overrun", [low], [100, 200], [begin + 100, begin + 99])
            add_shaped("places-descend-last", "overrun", [low], [100, 200, 300],
                       [begin + 100, begin + 200, begin + 199])
            add_shaped("places-to-0", "overrun", [low], [100, 200], [begin + 100, 0])
            add_shaped("overrun-in-second-behind-order-in-first", "order", [low], [1001, 1002], [begin + 100, 0])
            add_shaped("offset-behind-absent", "padding", [low], [0, 100], [])
            add_shaped("offset-and-place-behind-absent", "padding", [low], [0, 100], [0, begin + 100])
            add_shaped("last-offset-behind-absent", "padding", [low, low], [100, 0, 1], [begin + 100])
            add_shaped("last-place-behind-absent", "padding", [low, low], [100, 0, 0], [begin + 100, 0, 1])
            for i in range(3):
                parts = [low, low, low, low]
                parts[i] = [(100, 0)]
                add_shaped(f"overlap-of-{i}", "order", parts, [100, 200, 300], [begin + 100, begin + 200, begin + 300])
            # the highest chain is looked at as well as the lowest
            add_shaped("below-0-in-lowest", "order", [low, low, low, [(701, 3)]], [100, 200, 300],
                       [begin + 100, begin + 200, begin + 300])


def add_group_vectors():
    """Groups of documents."""
    numbers = Numbers(7)

    def add_group(name, entries, fault="ok", data=None, **options):
        data = group_bytes(entries, **options) if data is None else data
        add_vector("group", f"group-{name}", bytes_line("group", data), fault,
                   [[f"{x:016x}", str(value)] for x, value in entries or ()])
        return data

    def add_broken(name, fault, data):
        add_group(name, None, fault, data)

    def with_zeros(*fingerprints):
        return [(x, 0) for x in fingerprints]

    def group_start(n, width):
        return struct.pack("<H", n | width << 10)

    fingerprints = numbers.distinct(99, 64)
    entries = sorted((x, numbers.below(5 * 10**6)) for x in fingerprints)
    add_group("random", entries)
    add_group("of-a-dense-stretch", sorted((x >> 26, numbers.below(5 * 10**6)) for x in fingerprints))
    assert len(add_group("one", [(77, 5)])) == 19
    add_group("one-of-the-greatest", [(ALL_BITS, ALL_BITS)])
    add_group("two-extremes", [(0, 0), (ALL_BITS, ALL_BITS)])
    add_group("extremes-among-others", [(0, ALL_BITS)] + entries[:80] + [(ALL_BITS, 0)])
    add_group("one-fingerprint", [(1 << 63, 3 * i + 7) for i in range(500)])
    add_group("1023-on-one-fingerprint", [(5, 10**12 + i) for i in range(1023)])
    add_group("1023-neighbours", [(10**10 + i, 0) for i in range(1023)])
    add_group("values-alike", [(x, 12345) for x, _ in entries])
    add_group("values-ascend", [(x, 100 + i) for i, (x, _) in enumerate(entries)])
    add_group("values-of-63-bits", [(x, numbers.bits(63) | (i == 3) << 62) for i, (x, _) in enumerate(entries[:31])])
    add_group("values-of-64-bits", [(x, (0, ALL_BITS, numbers.bits(64))[min(i, 2)])
                                    for i, (x, _) in enumerate(entries[:30])])
    add_group("fingerprints-of-several", sorted((x, numbers.below(9999)) for x in fingerprints[:40] for _ in range(3)))
    add_group("foreign-other-width", entries, width=56, size=800)
    add_group("foreign-wider-values", entries, b=29)
    add_group("foreign-lower-base", entries, b=30, base=0)
    add_group("foreign-room-to-spare", entries[:5], size=60)
    add_group("foreign-one-width-56", [(77, 5)], width=56)
    few = entries[:7]
    assert len(add_group("foreign-4096-bytes", few, size=4096 - 19 - 21, b=24, base=0)) == 4096
    # widths of low parts; the last high part is as high as there is room for it, or as 64 bits allow
    for width in (0, 1, 8, 15, 31, 32, 33, 47, 55, 56):
        most = min((432 - 5 * (width + 1) << width) + (1 << width) - 1, 2**63)
        first = numbers.bits(63)
        drawn = sorted({first + 1 + numbers.below(most) for _ in range(4)} | {first + most})
        assert len(drawn) == 5
        add_group(f"foreign-width-{width}", with_zeros(first, *drawn), width=width, size=54)
    # the last bit of the high parts is the last in front of the low ones, or of the differences
    full = add_group("foreign-last-bit-of-differences", [(100, 3), (531, 4)], width=0, size=54)
    assert full[19 + 53] == 0x80
    add_broken("high-part-cut-off", "overrun", full[:19 + 53] + b"\0" + full[19 + 54:])
    add_group("foreign-last-bit-before-low-parts", with_zeros(5, 6, 5 + (432 - 2 * 12 << 11) + 0x7ff), width=11,
              size=54)
    add_broken("last-bit-among-low-parts", "overrun",
               group_bytes(with_zeros(5, 6, 5 + (432 - 2 * 12 + 1 << 11) + 0x7ff), width=11, size=54))
    # (n - 1)(w + 1) is all the room there is, and one bit more
    full = add_group("foreign-no-zeros", with_zeros(*(2**40 + i for i in range(37))), width=11, size=54)
    add_broken("one-difference-too-many", "overrun", patched(full, 0, group_start(38, 11)))
    add_broken("one-bit-too-many", "overrun",
               group_bytes(with_zeros(*(2**40 + i for i in range(36))), width=26, size=118))
    add_broken("full-of-ones", "order", full[:19] + b"\xff" * 54)
    add_broken("width-0-434", "overrun", group_start(434, 0) + full[2:19] + b"\xff" * 54)
    add_broken("width-56-9-in-54-bytes", "overrun", group_start(9, 56) + full[2:19] + b"\xff" * 54)
    # too few bits, and low parts full of ones, which are none of them
    full = add_group("foreign-low-parts-of-ones", with_zeros(9, *(9 + (i << 20) + 0xfffff for i in range(5))), width=20,
                     size=54)
    add_broken("low-parts-of-ones-one-bit-too-few", "overrun", patched(full, 19, b"\x55\0"))
    add_broken("no-bits", "overrun", patched(full, 19, bytes(2)))
    good = group_bytes(entries)
    end = len(good) - -(-99 * good[2] // 8)
    add_broken("size-0", "size", b"")
    add_broken("size-18", "size", good[:18])
    add_broken("size-4097", "size", group_bytes(few, size=4097 - 19 - 21, b=24, base=0))
    add_broken("size-before-count", "size", bytes(18))
    add_broken("values-of-65-bits", "overrun", patched(good, 2, b"\x41"))
    add_broken("values-of-255-bits", "overrun", patched(good, 2, b"\xff"))
    add_broken("values-from-byte-18-on", "overrun", group_bytes([(1, 0), (1, ALL_BITS)])[:-2])
    add_broken("values-cut-off", "overrun", good[:end])
    add_broken("count-0", "count", patched(good, 0, group_start(0, good[1] >> 2)))
    add_broken("count-0-width-63", "count", patched(good, 0, group_start(0, 63)))
    add_broken("count-0-values-of-65-bits", "count", patched(patched(good, 0, bytes(2)), 2, b"\x41"))
    for width in (57, 63):
        add_broken(f"width-{width}", "overrun", patched(group_bytes([(1, 3)]), 0, group_start(1, width)))
    add_broken("width-57-would-fit", "overrun", group_bytes(with_zeros(0, 1, 2), width=57, size=54))
    add_broken("differences-cut-off", "overrun", group_bytes(entries, size=end - 19 - 40))
    add_broken("order-of-fingerprints", "order",
               group_bytes([(1 << 40, 1), (2 << 40, 2), (3 << 40, 9), (2 << 40, 3)], width=43, size=40))
    add_broken("order-of-fingerprints-by-low-parts", "order", group_bytes(with_zeros(100, 365, 364), width=8, size=20))
    add_broken("order-of-values", "order", group_bytes([(1, 3), (2, 3), (2, 2)]))
    add_broken("order-equal", "order", group_bytes([(1, 3), (2, 3), (2, 3)]))
    add_broken("order-equal-to-first", "order", group_bytes([(1, 3), (1, 3), (2, 3)]))
    add_broken("value-of-2-64", "order", patched(group_bytes([(1, 3), (2, 4)]), 3, b"\xff" * 8))
    add_broken("fingerprint-of-2-64", "order", patched(group_bytes([(1, 3), (20, 4)]), 11, b"\xff" * 8))
    for name, last, width in (("to-0", 2**64, 4), ("to-less", 2**64 + 1, 4), ("to-the-same", 2**65 - 300, 56),
                              ("to-more", 2**65 - 290, 56), ("by-high-part-2-70", 2**70 + 2**64 - 290, 56)):
        first = ALL_BITS + 1 - 300
        add_broken(f"wrap-{name}", "order", group_bytes(with_zeros(first, last), width=width, size=2400))
    add_broken("order-before-padding", "order", patched(group_bytes([(1, 3), (1, 3), (9, 3)], size=9), 19 + 5, 1))
    add_broken("padding-behind-high-parts", "padding", patched(group_bytes([(1, 3), (20, 4)], size=40), 19 + 20, 1))
    add_broken("padding-of-one", "padding", patched(group_bytes([(1, 3)], size=1), 19, 0x80))
    assert 99 * good[2] % 8
    add_broken("padding-behind-values", "padding", patched(good, len(good) - 1, 0x80))


def add_id_group_vectors():
    """Groups of IDs."""
    dictionary = b"http://example.org/"

    def add_ids(name, data, ids=None, fault="ok", of=dictionary):
        add_vector("ids", f"ids-{name}", bytes_line("dictionary", of) + bytes_line("group", data), fault,
                   [runs_of(one) for one in ids or ()])

    def add_broken(name, fault, data, of=dictionary):
        add_ids(name, data, None, fault, of)

    whole = (0, 19)
    example = ids_bytes((0, token(b"", whole), token(b"a")), (20, token(b"b")))
    assert example == bytes.fromhex("0200 00 0f000001 1061 14 1062")
    add_ids("example", example, [dictionary + b"a", dictionary + b"ab"])
    add_ids("empty", ids_bytes((0, token())), [b""])
    add_ids("empty-ones", ids_bytes((0, token()), (0, token()), (0, token(b"x")), (0, token())), [b"", b"", b"x", b""])
    add_ids("no-dictionary", ids_bytes((0, token(b"abc")), (2, token(b"d"))), [b"abc", b"abd"], of=b"")
    add_ids("own-14-15-16", ids_bytes((0, token(b"x" * 14)), (0, token(b"y" * 15)), (0, token(b"z" * 16))),
            [b"x" * 14, b"y" * 15, b"z" * 16])
    add_ids("own-142-143", ids_bytes((0, token(b"x" * 142)), (0, token(b"y" * 143))), [b"x" * 142, b"y" * 143])
    add_ids("pieces-4-17-18", ids_bytes((0, token(b"", (0, 4)), token(b"-", (2, 17)), token(b"", (1, 18)), token())),
            [dictionary[:4] + b"-" + dictionary[2:] + dictionary[1:]])
    add_ids("shared-less-than-could-be", ids_bytes((0, token(b"abc")), (1, token(b"bc")), (0, token(b"abc"))),
            [b"abc"] * 3)
    add_ids("any-bytes", ids_bytes((0, token(bytes(range(256))))), [bytes(range(256))])
    add_ids("numbers-in-five-bytes",
            struct.pack("<H", 2) + number_bytes(0, 5) + token(b"ab") + number_bytes(1, 5) + token(b"c"),
            [b"ab", b"ac"])
    add_ids("300", ids_bytes(*((0, token(b"%d" % i)) for i in range(300))), [b"%d" % i for i in range(300)])
    wide = b"a" * 65534 + b"b"
    add_ids("dictionary-65535", ids_bytes((0, token(b"", (0, 65535)), token(b"x"))), [wide + b"x"], of=wide)
    add_broken("size-0", "size", b"")
    add_broken("size-1", "size", b"\1")
    add_broken("count-0", "count", bytes(2))
    add_broken("count-0-and-more", "count", bytes(2) + example[2:])
    add_broken("byte-more", "size", example + b"\0")
    add_broken("id-less", "size", b"\1" + example[1:])
    add_broken("id-more", "overrun", b"\3" + example[1:])
    for i in range(2, len(example)):
        add_broken(f"cut-off-at-{i}", "overrun", example[:i])
    add_broken("first-shares", "overrun", ids_bytes((1, token(b"x"))))
    add_broken("shares-too-much", "overrun", ids_bytes((0, token(b"ab")), (3, token(b"x"))))
    add_broken("shares-2-32", "overrun", struct.pack("<H", 1) + number_bytes(2**32) + token(b"x"))
    add_broken("number-in-six-bytes", "overrun", struct.pack("<H", 1) + number_bytes(0, 6) + token(b"x"))
    add_broken("own-2-32", "overrun", struct.pack("<H", 1) + b"\0\xf0" + number_bytes(2**32 - 16) + b"x")
    add_broken("piece-behind-dictionary", "overrun", ids_bytes((0, token(b"", (16, 4)), token())))
    add_broken("piece-at-65535", "overrun", ids_bytes((0, token(b"", (65535, 4)), token())))
    add_broken("piece-of-2-32", "overrun", ids_bytes((0, token(b"", (0, 2**32 + 17)), token())))
    add_broken("piece-of-no-dictionary", "overrun", ids_bytes((0, token(b"", (0, 4)), token())), b"")
    add_broken("piece-to-65536", "overrun", ids_bytes((0, token(b"x", (0, 65535)), token())), wide)


def add_manifest_vectors():
    numbers = Numbers(4)

    def add_lines(name, lines, fault="ok"):
        add_vector("manifest", f"manifest-{name}", text_lines("bytes", manifest_data(lines)), fault)

    def add_made(name, fault="ok", **fields):
        """Adds a manifest that manifest_lines makes of these fields."""
        add_lines(name, manifest_lines(numbers, **fields), fault)

    # valid
    add_made("text")
    add_made("u64", id_type="u64")
    add_made("none", id_type="none", segments=[("000001", 10, 0)])
    add_made("by-id", by_id="yes")
    add_made("by-id-u64", id_type="u64", by_id="yes")
    add_made("no-recipe", recipe=None)
    add_made("recipe-not-ascii", recipe="Simhash: Wörter, Länge ≥ 3, 東京 😀")
    add_vector("manifest", "manifest-recipe-not-utf-8", text_lines("bytes", with_checksum(
        "".join(f"{line}\n" for line in manifest_lines(numbers, recipe="R\xff\x80")).encode("latin-1"))))
    add_made("recipe-1-byte", recipe="r")
    add_made("recipe-255-bytes", recipe="r" * 255)
    add_made("scheme-name-63-bytes", title="n" * 63)
    add_made("two-segments", segments=[("000001", 10, 12), ("000002", 7, 7)])
    add_made("segments-with-gaps", segments=[("000003", 10, 12), ("000008", 0, 0), ("999999", 2**64 - 1, 2**64 - 1)])
    add_made("removed", segments=[("000004", 10, 12), ("000002", 7, 7, 1), ("000003", 0, 0, 2**64 - 1)],
             sequence=2**64 - 2)
    add_made("no-fingerprints", segments=[("000001", 0, 0)])
    add_made("documents-as-many-as-fingerprints", segments=[("000001", 10, 10)])
    for f, k in ((1, 0), (2, 1), (4, 3), (5, 3), (31, 3), (32, 3), (33, 3), (60, 3), (61, 3), (63, 3), (64, 3)):
        add_made(f"bits-{f}", bits=f, k=k, title="masks" if f < 4 else "4",
                 tables=[(1 << bit, 0) for bit in range(k + 1)] if f < 4 else scheme_tables(f, 4, 1))
    add_made("k-0", k=0, title="masks", tables=[(1, 0)])
    add_made("k-15-bits-16", k=15, title="16:1", tables=scheme_tables(16, 16, 1))
    add_made("k-16-bits-64", bits=64, k=16, title="17:1", tables=scheme_tables(64, 17, 1))
    add_made("scheme-4", bits=64, title="4", tables=scheme_tables(64, 4, 1))
    add_made("scheme-10", bits=64, title="10", tables=scheme_tables(64, 5, 2))
    add_made("scheme-16", bits=64, title="16", tables=scheme_tables(64, 4, 1, inner=(4, 1)))
    add_made("scheme-20", bits=64, title="20", tables=scheme_tables(64, 6, 3))
    add_made("scheme-4-1-1", bits=64, k=7, title="4:1:1", tables=scheme_tables(64, 4, 1, 1))
    add_made("scheme-5-2-1-k-4", bits=64, k=4, title="5:2:1", tables=scheme_tables(64, 5, 2, 1))
    add_made("tables-256", bits=8, k=7, title="masks", tables=[(mask or 1, 0) for mask in range(256)])
    add_made("table-twice", title="masks", tables=[(0xff00, 1), (0xff00, 1), (0x00ff, 1)])
    add_made("radius-of-whole-mask", bits=64, k=16, title="masks", tables=[(2**63 + 5, 3)])
    add_made("radius-mixed", k=4, title="masks", tables=[(0xff80, 2), (0x007f, 1)])
    own, longest = Numbers(12), "!" + "n" * 61 + "~"
    for name, lines in (("optional", ["optional bloom-filters 7 000001"]),
                        ("optional-several", ["optional a", "optional a ", f"optional {longest}  two  spaces \xff"]),
                        ("optional-fills-manifest", ["optional x " + "y" * 261700])):
        add_vector("manifest", f"manifest-{name}",
                   text_lines("bytes", with_checksum(
                       "".join(f"{line}\n" for line in manifest_lines(own) + lines).encode("latin-1"))))
    add_made("segments-1024", bits=4, k=0, title="1:1", tables=[(0xf, 0)],
             segments=[(f"{i:06}", 1, 1) for i in range(1, 1025)])

    # invalid: whole files
    good = manifest_lines(numbers, segments=[("000001", 10, 12), ("000002", 7, 7)])
    data = manifest_data(good)
    short = manifest_lines(numbers, k=0, title="1:1", tables=[(0xffff, 0)])

    def add_data(name, fault, broken):
        add_vector("manifest", f"manifest-{name}", text_lines("bytes", broken), fault)

    def add_changed(name, fault, old, new, lines=None):
        """Adds a manifest with another line in the place of the first that begins with `old`."""
        lines = list(lines or good)
        at = [i for i, line in enumerate(lines) if line.startswith(old)][0]
        lines[at] = new(lines[at]) if callable(new) else new
        add_lines(name, lines, fault)

    add_data("empty-file", "magic", b"")
    add_data("magic", "magic", with_checksum(data[:-26].replace(b"idx-index", b"idx_index")))
    add_data("magic-capital", "magic", with_checksum(data[:-26].replace(b"idx-index", b"Idx-index")))
    add_changed("version-none", "magic", "idx-index", "idx-index ")
    add_changed("version-not-a-number", "magic", "idx-index", "idx-index one")
    add_changed("version-leading-zero", "magic", "idx-index", "idx-index 01")
    add_changed("version-2-32", "magic", "idx-index", "idx-index 4294967296")
    add_changed("version-2-64", "magic", "idx-index", "idx-index 18446744073709551616")
    add_changed("version-0", "version", "idx-index", "idx-index 0")
    add_changed("version-2", "version", "idx-index", "idx-index 2")
    add_changed("version-2-32-less-one", "version", "idx-index", "idx-index 4294967295")
    add_data("version-2-all-else-broken", "version", b"idx-index 2\xff\0")
    add_changed("version-and-space", "syntax", "idx-index", "idx-index 1 ")
    add_changed("version-and-field", "syntax", "idx-index", "idx-index 1 0")
    add_data("first-line-only", "checksum", b"idx-index 1\n")
    add_data("checksum-wrong", "checksum", patched(data, -2, b"0" if data[-2:-1] != b"0" else b"1"))
    add_data("checksum-of-other-bytes", "checksum", patched(data, 100, 1))
    add_data("checksum-upper-case", "checksum", data[:-17] + data[-17:].upper())
    assert data[-17:] != data[-17:].upper()
    add_data("checksum-15-digits", "checksum", data[:-2] + b"\n")
    add_data("checksum-two-spaces", "checksum", data[:-17] + b" " + data[-17:])
    add_data("no-final-newline", "checksum", data[:-1])
    add_data("empty-line-at-end", "checksum", data + b"\n")
    add_data("crlf-everywhere", "checksum", data.replace(b"\n", b"\r\n"))
    add_data("crlf-but-checksum", "syntax", with_checksum(data[:-26].replace(b"\n", b"\r\n")))
    add_data("checksum-not-on-a-line", "syntax", with_checksum(data[:-27]))
    add_data("bom", "magic", with_checksum(b"\xef\xbb\xbf" + data[:-26]))
    add_lines("empty-line-before-checksum", good + [""], "syntax")
    add_lines("line-more", good + ["comment x"], "syntax")
    for name, line in (("none", "optional "), ("no-space", "optional"), ("two-spaces", "optional  x"),
                       ("64-bytes", "optional " + "n" * 64), ("not-ascii", "optional \xe9"),
                       ("control", "optional x y\x1f"), ("delete", "optional x \x7f")):
        add_lines(f"optional-{name}", good + [line], "syntax")
    add_lines("optional-before-segments", good[:-2] + ["optional x"] + good[-2:], "segment")
    for name, fault, lines in (("one", "needs", ["needs x"]), ("63-bytes", "needs", ["needs " + "n" * 63]),
                               ("two", "needs", ["needs x", "needs y"]), ("none", "syntax", ["needs "]),
                               ("64-bytes", "syntax", ["needs " + "n" * 64]), ("field", "syntax", ["needs x y"]),
                               ("space", "syntax", ["needs x "]), ("delete", "syntax", ["needs \x7f"]),
                               ("sets-and-another", "needs", ["needs sets", "needs x"])):
        add_lines(f"needs-{name}", good[:1] + lines + good[1:], fault)
    add_lines("needs-and-all-else-unknown", [good[0], "needs x", "what later releases write"], "needs")
    add_lines("needs-at-end", good + ["needs x"], "syntax")

    # invalid: each line missing, twice, exchanged with the next; the lines of short: one table, one segment
    names = ("idx-index", "uuid", "bits", "k", "id-type", "by-id", "recipe", "scheme", "table", "sequence", "segment")
    for i, name in enumerate(names):
        fault = {"idx-index": "magic", "table": "mask", "segment": "segment"}.get(name, "syntax")
        add_lines(f"{name}-line-missing", short[:i] + short[i + 1:], fault)
        if name != "table":
            fault = {"scheme": "mask", "sequence": "segment", "segment": "segment"}.get(name, "syntax")
            add_lines(f"{name}-line-twice", short[:i + 1] + short[i:], fault)
        if name != "segment":
            fault = {"idx-index": "magic", "table": "mask"}.get(name, "syntax")
            add_lines(f"{name}-line-after-next", short[:i] + [short[i + 1], short[i]] + short[i + 2:], fault)
    add_data("checksum-line-missing", "checksum", manifest_data(short)[:-26])
    add_data("checksum-line-twice", "syntax", with_checksum(manifest_data(short)))
    add_data("checksum-line-before-segment", "checksum", with_checksum(
        "".join(line + "\n" for line in short[:-1]).encode()) + short[-1].encode() + b"\n")
    add_lines("table-line-after-segment", good[:-1] + [good[8], good[-1]], "syntax")

    # invalid: fields
    add_changed("uuid-upper-case", "uuid", "uuid", lambda line: line[:5] + line[5:].upper())
    add_changed("uuid-no-hyphens", "uuid", "uuid", lambda line: line.replace("-", ""))
    add_changed("uuid-hyphen-misplaced", "uuid", "uuid", lambda line: line[:13] + line[14] + "-" + line[15:])
    add_changed("uuid-35-characters", "uuid", "uuid", lambda line: line[:-1])
    add_changed("uuid-37-characters", "uuid", "uuid", lambda line: line + "0")
    add_changed("uuid-not-hexadecimal", "uuid", "uuid", lambda line: line[:-1] + "g")
    add_changed("uuid-two-fields", "syntax", "uuid", lambda line: line + " 0")
    add_changed("bits-0", "bits", "bits", "bits 0")
    add_changed("bits-65", "bits", "bits", "bits 65")
    add_changed("bits-2-32-and-16", "bits", "bits", "bits 4294967312")
    add_changed("bits-2-64-and-16", "bits", "bits", "bits 18446744073709551632")
    add_changed("bits-leading-zero", "syntax", "bits", "bits 016")
    add_changed("bits-signed", "syntax", "bits", "bits +16")
    add_changed("bits-negative", "syntax", "bits", "bits -16")
    add_changed("bits-hexadecimal", "syntax", "bits", "bits 0x10")
    add_changed("bits-two-spaces", "syntax", "bits", "bits  16")
    add_changed("bits-tab", "syntax", "bits", "bits\t16")
    add_changed("bits-space-after", "syntax", "bits", "bits 16 ")
    add_changed("bits-space-before", "syntax", "bits", " bits 16")
    add_changed("bits-capital", "syntax", "bits", "Bits 16")
    add_changed("bits-no-field", "syntax", "bits", "bits")
    add_changed("bits-crlf", "syntax", "bits", "bits 16\r")
    add_changed("bits-nul", "syntax", "bits", "bits 16\0")
    add_made("k-equals-f", "k", bits=16, k=16, title="16:1", tables=scheme_tables(16, 16, 1))
    add_made("k-1-bits-1", "k", bits=1, k=1, title="1:1", tables=[(1, 0)])
    add_made("k-17", "k", bits=64, k=17, title="18:1", tables=scheme_tables(64, 18, 1))
    add_changed("k-leading-zero", "syntax", "k ", "k 03")
    add_changed("k-2-32", "k", "k ", "k 4294967296")
    add_changed("id-type-unknown", "id-type", "id-type", "id-type u32")
    add_changed("id-type-capital", "id-type", "id-type", "id-type Text")
    add_changed("id-type-longer", "id-type", "id-type", "id-type textual")
    add_changed("id-type-no-field", "syntax", "id-type", "id-type")
    add_changed("by-id-unknown", "by-id", "by-id", "by-id maybe")
    add_changed("by-id-capital", "by-id", "by-id", "by-id Yes")
    add_changed("by-id-longer", "by-id", "by-id", "by-id not")
    add_changed("by-id-no-field", "syntax", "by-id", "by-id")
    add_changed("by-id-two-fields", "syntax", "by-id", "by-id no no")
    add_made("by-id-with-none", "by-id", id_type="none", by_id="yes", segments=[("000001", 10, 0)])
    add_changed("recipe-256-bytes", "recipe", "recipe", "recipe " + "r" * 256)
    add_changed("recipe-of-0-bytes", "recipe", "recipe", "recipe ")
    add_changed("recipe-tab", "recipe", "recipe", "recipe a\tb")
    add_changed("recipe-byte-31", "recipe", "recipe", "recipe \x1f")
    add_changed("recipe-byte-127", "recipe", "recipe", "recipe a\x7f")
    add_changed("recipe-nul", "recipe", "recipe", "recipe a\0")
    add_changed("recipe-crlf", "recipe", "recipe", lambda line: line + "\r")
    add_changed("recipe-keyword-longer", "syntax", "recipe", "recipes x")
    add_changed("scheme-name-64-bytes", "syntax", "scheme", "scheme " + "n" * 64)
    add_changed("scheme-name-none", "syntax", "scheme", "scheme")
    add_changed("scheme-name-of-0-bytes", "syntax", "scheme", "scheme ")
    add_changed("scheme-name-byte-127", "syntax", "scheme", "scheme a\x7f")
    add_changed("scheme-name-byte-31", "syntax", "scheme", "scheme a\x1f")
    add_changed("mask-0", "mask", "table", "table 0000 1")
    add_changed("mask-3-digits", "mask", "table", "table f00 1")
    add_changed("mask-5-digits", "mask", "table", "table 0ff00 1")
    add_changed("mask-upper-case", "mask", "table", "table FF00 1")
    add_changed("mask-prefixed", "mask", "table", "table 0xff00 1")
    add_made("mask-too-wide", "mask", bits=17, title="masks", tables=[(0x20000, 0)])
    add_made("mask-too-wide-f1", "mask", bits=1, k=0, title="masks", tables=[(2, 0)])
    add_made("mask-too-wide-f63", "mask", bits=63, title="masks", tables=[(2**63, 0)])
    add_made("tables-257", "mask", bits=8, k=0, title="masks", tables=[(1, 0)] * 257)
    add_changed("radius-4", "radius", "table", "table ff00 4")
    add_changed("radius-2-32", "radius", "table", "table ff00 4294967296")
    add_changed("radius-leading-zero", "syntax", "table", "table ff00 01")
    add_changed("radius-none", "syntax", "table", "table ff00")
    add_changed("table-two-spaces", "syntax", "table", "table ff00  1")
    add_changed("table-field-more", "syntax", "table", "table ff00 1 1")
    add_made("segment-0", "segment", segments=[("000000", 10, 12)])
    add_made("segments-descend", segments=[("000002", 10, 12), ("000001", 7, 7)])
    add_made("segment-number-twice", "segment", segments=[("000002", 10, 12), ("000002", 7, 7)])
    lines = manifest_lines(numbers, segments=[("000001", 10, 12), ("000002", 7, 7)])
    lines[-1] = lines[-2].replace("000001", "000002")
    add_lines("segment-uuid-twice", lines, "segment")
    add_made("segments-1025", "segment", bits=4, k=0, title="1:1", tables=[(0xf, 0)],
             segments=[(f"{i:06}", 1, 1) for i in range(1, 1026)])
    add_made("segment-number-5-digits", "syntax", segments=[("00001", 10, 12)])
    add_made("segment-number-7-digits", "syntax", segments=[("0000001", 10, 12)])
    add_made("segment-number-signed", "syntax", segments=[("+00001", 10, 12)])
    add_changed("segment-uuid-upper-case", "uuid", "segment", lambda line: line[:15] + line[15:].upper())
    add_changed("segment-two-spaces", "syntax", "segment", lambda line: line[:-2] + " " + line[-2:])
    add_changed("segment-space-after", "syntax", "segment", lambda line: line + " ")
    add_changed("segment-field-less", "syntax", "segment", lambda line: line[:-2])
    add_changed("segment-field-more", "syntax", "segment", lambda line: line + " 12")
    add_made("segment-fingerprints-leading-zero", "syntax", segments=[("000001", "010", 12)])
    add_made("segment-documents-leading-zero", "syntax", segments=[("000001", 10, "012")])
    add_made("segment-documents-not-a-number", "syntax", segments=[("000001", 10, "x")])
    add_made("segment-documents-fewer", "count", segments=[("000001", 10, 9)])
    add_made("segment-documents-with-none", "count", id_type="none", segments=[("000001", 10, 1)])
    add_made("segment-removed-by-the-oldest", "count", segments=[("000001", 10, 12, 1), ("000002", 7, 7)])
    add_made("segment-removed-2-64", "count", segments=[("000001", 10, 12), ("000002", 7, 7, 2**64)])
    add_made("segment-removed-leading-zero", "syntax", segments=[("000001", 10, 12), ("000002", 7, 7, "01")])
    add_changed("sequence-2-64-less-one", "count", "sequence", "sequence 18446744073709551615")
    add_changed("sequence-2-64", "count", "sequence", "sequence 18446744073709551616")
    add_changed("sequence-leading-zero", "syntax", "sequence", "sequence 00")
    add_changed("sequence-negative", "syntax", "sequence", "sequence -1")
    add_changed("sequence-no-field", "syntax", "sequence", "sequence")
    add_changed("sequence-two-fields", "syntax", "sequence", "sequence 0 0")
    add_made("cover-4-k-4", "cover", bits=64, k=4, title="4", tables=scheme_tables(64, 4, 1))
    add_made("cover-2-1-1-k-4", "cover", k=4)
    add_made("cover-4-1-1-k-8", "cover", bits=64, k=8, title="4:1:1", tables=scheme_tables(64, 4, 1, 1))
    add_made("cover-16-k-4", "cover", bits=64, k=4, title="16", tables=scheme_tables(64, 4, 1, inner=(4, 1)))
    add_made("cover-20-k-4", "cover", bits=64, k=4, title="20", tables=scheme_tables(64, 6, 3))
    add_made("cover-20-without-last", "cover", bits=64, title="masks", tables=scheme_tables(64, 6, 3)[:-1])
    add_made("cover-k-1-one-bit", "cover", bits=64, k=1, title="masks", tables=[(1, 0)])
    add_made("cover-k-16", "cover", bits=64, k=16, title="16:1", tables=scheme_tables(64, 16, 1))
    add_made("cover-shared-bit", "cover", k=1, title="masks", tables=[(0xff80, 0), (0x00ff, 0)])
    add_made("cover-radius-of-one-less", "cover", bits=64, k=7, title="masks",
             tables=scheme_tables(64, 4, 1, 1)[:-1] + scheme_tables(64, 4, 1)[-1:])
    add_made("log", log=(0, 0))
    add_made("log-of-records", log=(5, 2**64 - 2), sequence=7)
    add_made("log-first-above-sequence", "count", log=(8, 9), sequence=7)
    add_made("log-last-below-first", "count", log=(5, 4), sequence=7)
    add_made("log-last-2-64-less-one", "count", log=(5, 2**64 - 1), sequence=7)
    add_made("log-last-2-64", "count", log=(5, 2**64), sequence=7)
    add_made("log-first-leading-zero", "syntax", log=("05", 6), sequence=7)
    add_made("log-last-negative", "syntax", log=(5, -1), sequence=7)
    for name, line, fault in (("uuid", "log 00000000-0000-4000-8000-00000000000g 0 0", "uuid"),
                              ("capital", "log 00000000-0000-4000-8000-00000000000A 0 0", "uuid"),
                              ("field-less", "log 00000000-0000-4000-8000-000000000000 0", "syntax"),
                              ("field-more", "log 00000000-0000-4000-8000-000000000000 0 0 0", "syntax"),
                              ("alone", "log", "segment")):
        add_changed(f"log-{name}", fault, "sequence", f"sequence 0\n{line}")


def add_manifest_vectors_of_sets():
    """Manifests of indexes with sets."""
    numbers = Numbers(13)

    def add_with_sets(name, fault="ok", sketch=("sketch 8 8000",), needs=1, **fields):
        fields = {"bits": 64, "k": 0, "title": "masks", "tables": [(1 << 63, 0)], **fields}
        lines = manifest_lines(numbers, **fields)
        lines = lines[:1] + ["needs sets"] * needs + lines[1:7] + list(sketch) + lines[7:]
        add_vector("manifest", f"manifest-sets-{name}", text_lines("bytes", manifest_data(lines)), fault)

    add_with_sets("text")
    add_with_sets("u64", id_type="u64")
    add_with_sets("sketch-1", sketch=["sketch 1 10000"])
    add_with_sets("sketch-64", sketch=["sketch 64 1"])
    for value, fault in (("0 8000", "count"), ("65 8000", "count"), ("08 8000", "syntax"), ("", "syntax"), ("8", "syntax"),
                         ("8 0", "count"), ("8 10001", "count"), ("8 08000", "syntax"), ("8 8000 8", "syntax")):
        add_with_sets(f"sketch-{value.replace(' ', '-') or 'none'}", fault, sketch=[f"sketch {value}"])
    add_with_sets("no-sketch", "syntax", sketch=[])
    add_with_sets("two-sketches", "syntax", sketch=["sketch 8 8000"] * 2)
    add_with_sets("sketch-without-needs", "syntax", needs=0)
    add_with_sets("needs-twice", "syntax", needs=2)
    add_with_sets("bits-63", "bits", bits=63, tables=[(1 << 62, 0)])
    add_with_sets("k-1", "k", k=1)
    add_with_sets("none", "id-type", id_type="none", segments=[("000001", 10, 0)])
    add_with_sets("by-id", "by-id", by_id="yes")


def add_sums_vectors():
    numbers = Numbers(5)
    documents = b"".join(struct.pack("<Q", numbers.bits(64)) for _ in range(1200))
    for name, length in (("empty", 0), ("one-byte", 1), ("one-page", 4096), ("one-page-and-one-byte", 4097),
                         ("last-page-not-full", 9000)):
        add_vector("sums", f"sums-{name}", bytes_line("bytes", sums_data(numbers.uuid(), documents[:length])))
    good = sums_data(numbers.uuid(), documents[:8192])

    def add_broken(name, fault, data):
        add_vector("sums", f"sums-{name}", bytes_line("bytes", data), fault)

    def with_length(value):
        """The good file, with this length of docs.mdb in its header."""
        return reseal_sums(patched(good, 32, struct.pack("<Q", value)))

    add_broken("empty-file", "magic", b"")
    add_broken("magic", "magic", reseal_sums(patched(good, 0, 1)))
    add_broken("version-0", "version", reseal_sums(patched(good, 8, 1)))
    add_broken("version-2", "version", reseal_sums(patched(good, 8, 3)))
    add_broken("version-2-all-else-broken", "version", b"idxdsums\2\0\0\0\xff")
    add_broken("size-12-bytes", "size", good[:12])
    add_broken("size-63-bytes", "size", good[:63])
    add_vector("sums", "sums-extra",
               bytes_line("bytes", reseal_sums(patched(good, 12, struct.pack("<I", 5))) + b"extra"))
    add_broken("size-extra-less", "size", reseal_sums(patched(good, 12, struct.pack("<I", 6))) + b"extra")
    add_broken("size-extra-more", "size", reseal_sums(patched(good, 12, struct.pack("<I", 4))) + b"extra")
    add_broken("size-extra-2-32-less-one", "size", reseal_sums(patched(good, 12, b"\xff" * 4)))
    add_broken("reserved-40", "reserved", reseal_sums(patched(good, 40, 1)))
    add_broken("reserved-55", "reserved", reseal_sums(patched(good, 55, 0x80)))
    add_broken("checksum-uuid", "checksum", patched(good, 16, 1))
    add_broken("checksum-length", "checksum", patched(good, 32, 1))
    add_broken("checksum-itself", "checksum", patched(good, 63, 0x80))
    add_broken("size-no-page-sums", "size", good[:64])
    add_broken("size-one-byte-less", "size", good[:-1])
    add_broken("size-one-byte-more", "size", good + b"\0")
    add_broken("size-one-sum-more", "size", good + bytes(8))
    add_broken("size-length-one-page-less", "size", with_length(4096))
    add_broken("size-length-one-byte-more", "size", with_length(8193))
    add_broken("size-length-0", "size", with_length(0))
    add_broken("size-length-2-61-pages", "size", with_length(2**64 - 4096))
    add_broken("size-length-2-64-less-one", "size", reseal_sums(patched(good[:64], 32, b"\xff" * 8)))


NAME = dict(enumerate(("add", "remove-document", "remove-fingerprint", "add-text")))


def rules_lines(uuid, bits, id_type, sketch=0):
    lines = [f"uuid {uuid_text(uuid)}", f"bits {bits}", f"id-type {id_type}"]
    return lines + [f"sketch {sketch}"] if sketch else lines


def record_items(operation, fingerprint, own):
    return [NAME[operation], f"{fingerprint:x}", *runs_of(own)]


def text_items(own, members):
    return [NAME[ADD_TEXT], f"{len(members):x}", *runs_of(own + member_bytes(members))]


def add_text_record_vectors():
    """Records of texts, each by itself, and in logs."""
    numbers = Numbers(11)
    uuid, own_id = numbers.uuid(), numbers.uuid()

    def add_text(name, fault="ok", id_type="text", own=b"an ID", members=(1, 2, ALL_BITS), data=None, sketch=8):
        data = text_bytes(id_type, own, members) if data is None else data
        add_vector("record", f"record-of-text-{name}", rules_lines(uuid, 64, id_type, sketch) + bytes_line("record", data),
                   fault, [text_items(own, members)])

    number = struct.pack("<Q", 10**18)
    many = numbers.distinct(300, 64)
    add_text("3-members")
    add_text("1-member", members=(0,))
    add_text("300-members", members=many)
    add_text("u64", id_type="u64", own=number)
    add_text("of-no-bytes", own=b"")
    for operation in (REMOVE_DOCUMENT, REMOVE_FINGERPRINT):
        own = b"an ID" if operation == REMOVE_DOCUMENT else b""
        add_vector("record", f"record-with-sketch-{NAME[operation]}", rules_lines(uuid, 64, "text", 8) +
                   bytes_line("record", record_bytes("text", operation, 5, own)),
                   expected=[record_items(operation, 5, own)])
    good = text_bytes("text", b"an ID", (1, 2, 3))
    add_text("operation-0", "operation", data=record_bytes("text", ADD, 5, b"an ID"))
    add_text("without-sketch", "operation", sketch=0, data=record_bytes("text", ADD_TEXT, 0, b"")[:9])
    add_text("0-members", "count", members=())
    add_text("16777216-members", "count", data=text_bytes("text", b"", (), 2**24) + bytes(2**27))
    add_text("cut-off-in-members", "overrun", data=good[:-1])
    add_text("cut-off-in-id", "overrun", data=good[:15])
    add_text("member-more-than-bytes", "overrun", data=text_bytes("text", b"an ID", (1, 2, 3), 4))
    add_text("2-61-members", "overrun", data=text_bytes("text", b"", (), 2**61))
    add_text("byte-more", "size", data=good + b"\0")
    add_text("equal-members", "order", members=(1, 2, 2))
    add_text("descending-members", "order", members=(2, 1))
    add_text("id-of-16777216-bytes", "size", own=b"x" * 16777216)

    def add_log(name, records, count, fault="ok", listed=()):
        header = log_header(uuid, own_id, bytes(16), 1, 0)
        chain, = struct.unpack("<Q", header[-8:])
        data, behind = frame(chain, 1, records, count)
        known = slot(chain, (12288 + len(data), count, behind))
        add_vector("log", f"log-of-texts-{name}", rules_lines(uuid, 64, "text", 8) +
                   bytes_line("log", log_file(header, [known, b""], data)), fault, listed)

    records = [text_bytes("text", b"a", (1, 2, 3)), text_bytes("text", b"b", many),
               record_bytes("text", REMOVE_DOCUMENT, 1, b"a")]
    listed = [text_items(b"a", (1, 2, 3)), text_items(b"b", many), record_items(REMOVE_DOCUMENT, 1, b"a")]
    add_log("two", records, 3 + 8 + 1, listed=listed)
    add_log("number-less", records, 11, "size")
    add_log("number-more", records, 13, "overrun")
    add_log("cut-in-two", records[:2], 10, "overrun")


def add_sets_vectors():
    """The file `sets` of a segment."""
    numbers = Numbers(12)
    uuid = numbers.uuid()

    def add_sets(name, sets=None, fault="ok", id_type="u64", data=None, **options):
        data = sets_file(uuid, sets, **options) if data is None else data
        add_vector("sets", f"sets-{name}", [f"id-type {id_type}"] + bytes_line("bytes", data), fault,
                   [[str(key), *runs_of(member_bytes(members))] for key, members in sets or ()])

    def numbered(*counts):
        return [(i, numbers.distinct(count, 64)) for i, count in enumerate(counts)]

    texts = numbered(*[50] * 21)
    few = [(5, [1, 2]), (5, [1, 3]), (300, [7]), (ALL_BITS, [0, ALL_BITS])]
    add_sets("none", [])
    add_sets("text", texts, id_type="text")
    add_sets("text-of-many-sizes", numbered(3, 1, 900, *[50] * 12, 1, 64, 8), id_type="text")
    add_sets("u64", few)
    add_sets("u64-from-0", [(0, [9])])
    add_sets("first-key-is-the-greatest", [(ALL_BITS, [9])] * 2)
    add_sets("long-numbers", few, size=9)
    add_sets("interval-of-4096", [(1, list(range(511)) + [2**40]), (2, [6]), (7, [8])], size=2, entries=None)
    add_sets("extra", few, data=sealed_extra(sets_file(uuid, few), b"extra"))
    good, long = sets_file(uuid, few), sets_file(uuid, texts)

    def add_broken(name, fault, data, id_type="u64"):
        add_sets(name, None, fault, id_type, data)

    add_broken("empty-file", "magic", b"")
    add_broken("magic", "magic", sealed(patched(good, 0, 1)))
    add_broken("version-2", "version", sealed(patched(good, 8, 3)))
    add_broken("size-12-bytes", "size", good[:12])
    add_broken("size-4095-bytes", "size", good[:4095])
    add_broken("checksum-of-header", "checksum", patched(good, 32, 1))
    add_broken("reserved-first", "reserved", sealed(patched(good, 64, 1)))
    add_broken("reserved-last", "reserved", sealed(patched(good, 4087, 128)))
    size = len(few) * 2 + 7 * 8 + 1 + 9  # the steps 295 and 2^64 - 301 take 2 and 10 bytes
    for name, counts in (("sets-0", (0, 7, size, 1)), ("members-0", (4, 0, size, 1)), ("bytes-0", (4, 7, 0, 1)),
                         ("entries-0", (4, 7, size, 0)), ("sets-above-members", (8, 7, size, 1)),
                         ("bytes-below-members", (4, 8, size - 10, 1)), ("bytes-2-56-and-1", (4, 7, 2**56 + 1, 1)),
                         ("members-2-63", (4, 2**63, size, 1)), ("entries-above-bytes", (4, 7, size, 2)),
                         ("all-2-64-less-1", (ALL_BITS,) * 4)):
        add_broken(f"count-{name}", "count", sets_file(uuid, few, counts=counts))
    add_broken("count-set-less", "count", sets_file(uuid, few, counts=(3, 7, size, 1)))
    add_broken("count-set-more", "count", sets_file(uuid, few, counts=(5, 7, size, 1)))
    add_broken("count-member-less", "count", sets_file(uuid, few, counts=(4, 6, size, 1)))
    add_broken("count-entries-above-sets", "count", sets_file(uuid, [(1, range(600))], entries=[(1, 0), (1, 4096)]))
    add_broken("size-byte-less", "size", good[:-1])
    add_broken("size-byte-more", "size", good + b"\0")
    for page in range(1, 5):
        add_broken(f"checksum-of-page-{page}", "checksum", patched(long, 4096 * page + 9, 1), "text")
    add_broken("padding-behind-records", "padding", sealed(patched(good, 4096 + size, 1)))
    add_broken("padding-behind-directory", "padding", sealed(patched(good, 8192 + 16, 1)))
    add_broken("key-descends", "order", sets_file(uuid, texts + [(5, [1])], last=ALL_BITS))
    add_broken("key-2-64", "order", sets_file(uuid, few, last=2**64 - 300))
    add_broken("step-2-64", "overrun", sets_file(uuid, few, last=2**64))
    add_broken("entry-below-key-before", "order",
               sets_file(uuid, texts, entries=[(key // 2, offset) for key, offset in entries_of(long)]))
    add_broken("text-number-missing", "order", sets_file(uuid, [(0, [1]), (2, [1])]), "text")
    add_broken("text-from-1", "order", sets_file(uuid, [(1, [1])]), "text")
    add_broken("text-number-twice", "order", sets_file(uuid, [(0, [1]), (0, [2])]), "text")
    add_broken("members-equal", "order", sets_file(uuid, [(0, [1, 1])]))
    add_broken("members-descend", "order", sets_file(uuid, [(0, [2, 1])]))
    add_broken("no-members", "count", sets_file(uuid, [(0, [1, 2]), (1, [])]))
    one = long_number(0) + long_number(1) + member_bytes([1])
    for name, fault, records in (("number-of-11-bytes", "overrun", b"\x80" * 10 + one),
                                 ("number-of-65-bits", "overrun", b"\xff" * 9 + b"\2" + one),
                                 ("number-unended", "overrun", one + b"\x80" * 2),
                                 ("members-beyond", "overrun", one + b"\0\2" + member_bytes([1])),
                                 ("members-2-24", "count", one + b"\0\x80\x80\x80\x08" + member_bytes([1])),
                                 ("byte-behind", "overrun", one + b"\0")):
        add_broken(name, fault, sets_file(uuid, [], entries=[(0, 0)], records=records, counts=(1, 1, len(records), 1)))
    entries = entries_of(long)
    for name, changed in (("first-offset", [(0, 1)] + entries[1:]), ("offset", entries[:1] + [(entries[1][0], 1)] + entries[2:]),
                          ("missing", entries[:-1]), ("one-more", entries + [(42, entries[-1][1] + 20)])):
        add_broken(f"directory-{name}", "directory", sets_file(uuid, texts, entries=changed), "text")
    add_broken("directory-step", "directory", sets_file(uuid, [(7, [1])], last=7))


def entries_of(data):
    """The entries of the directory of a file of sets."""
    size, count = struct.unpack("<QQ", data[48:64])
    begin = PAGE + len(up_to_page(bytes(size)))
    return [struct.unpack("<QQ", data[at:at + 16]) for at in range(begin, begin + 16 * count, 16)]


def sealed_extra(data, extra):
    header = data[:12] + struct.pack("<I", len(extra)) + data[16:4088]
    return header + struct.pack("<Q", checksum(header)) + data[4096:] + extra


def add_record_vectors():
    """Records, each by itself."""
    numbers = Numbers(8)
    uuid = numbers.uuid()

    def add_record(name, fault="ok", id_type="text", bits=64, operation=ADD, fingerprint=None, own=b"", data=None):
        fingerprint = numbers.bits(bits) if fingerprint is None else fingerprint
        data = record_bytes(id_type, operation, fingerprint, own) if data is None else data
        add_vector("record", f"record-{name}", rules_lines(uuid, bits, id_type) + bytes_line("record", data), fault,
                   [record_items(operation, fingerprint, own)] if fault == "ok" else [])

    number = struct.pack("<Q", 10**18)
    add_record("text", own=b"http://example.org/")
    add_record("text-of-no-bytes")
    add_record("text-of-65536-bytes", own=b"x" * 65536)
    add_record("text-of-any-bytes", own=bytes(range(256)))
    add_record("u64", id_type="u64", own=number)
    add_record("u64-0", id_type="u64", own=bytes(8), fingerprint=0)
    add_record("none", id_type="none", fingerprint=ALL_BITS)
    add_record("remove-document", own=b"an ID", operation=REMOVE_DOCUMENT)
    add_record("remove-document-u64", id_type="u64", own=number, operation=REMOVE_DOCUMENT)
    for id_type in ("text", "u64", "none"):
        add_record(f"remove-fingerprint-{id_type}", id_type=id_type, operation=REMOVE_FINGERPRINT)
    for bits in (1, 12, 63):
        add_record(f"bits-{bits}", bits=bits, fingerprint=2**bits - 1, own=b"id")
        add_record(f"bits-{bits}-and-one", "bits", bits=bits, fingerprint=2**bits, own=b"id")
    good = record_bytes("text", ADD, 99, b"12345678")
    for size in (0, 8, 9, 12, 13, len(good) - 1):
        add_record(f"cut-off-at-{size}", "overrun", data=good[:size])
    add_record("byte-more", "size", data=good + b"\0")
    add_record("text-of-16777216-bytes", "size", own=b"x" * 16777216)
    add_record("text-of-2-32-less-one", "overrun", data=good[:9] + b"\xff" * 4 + good[13:])
    add_record("u64-of-7-bytes", "overrun", id_type="u64", own=number[:7])
    add_record("u64-of-9-bytes", "size", id_type="u64", own=number + b"\0")
    add_record("u64-of-no-bytes", "overrun", id_type="u64")
    add_record("none-with-id", "size", id_type="none", own=b"i")
    add_record("remove-fingerprint-with-id", "size", operation=REMOVE_FINGERPRINT, own=b"i")
    add_record("operation-3", "operation", operation=3)
    add_record("operation-255", "operation", operation=255)
    add_record("remove-document-of-none", "operation", id_type="none", operation=REMOVE_DOCUMENT)
    add_record("operation-before-bits", "operation", bits=12, fingerprint=2**12, operation=3)
    add_record("overrun-before-bits", "overrun", id_type="u64", bits=12, fingerprint=2**12)
    add_record("bits-before-size", "bits", bits=12, fingerprint=2**12, own=b"x" * 16777216)


def add_log_vectors():
    """Logs of pending records."""
    numbers = Numbers(10)
    uuid, own, before = numbers.uuid(), numbers.uuid(), numbers.uuid()
    texts = [(ADD, 5, b"a"), (ADD, ALL_BITS, b""), (REMOVE_DOCUMENT, 5, b"a"), (REMOVE_FINGERPRINT, 7, b""),
             (ADD, 6, b"http://example.org/")]

    def add_log(name, data, fault="ok", id_type="text", bits=64, listed=()):
        add_vector("log", f"log-{name}", rules_lines(uuid, bits, id_type) + bytes_line("log", data), fault,
                   [record_items(*record) for record in listed])

    def log_parts(changes, id_type="text", first=0, salt=1, header=None):
        """The header, the frames of records, and the places between them."""
        header = header or log_header(uuid, own, before, salt, first)
        chain, = struct.unpack("<Q", header[-8:])
        frames, places = [], [(12288, first, chain)]
        for records in changes:
            at, last, chain = places[-1]
            data, chain = frame(chain, last + 1, [record_bytes(id_type, *record) for record in records])
            frames.append(data)
            places.append((at + len(data), last + len(records), chain))
        return header, frames, places

    def whole_log(changes, known=None, tail=bytes(300), id_type="text", first=0):
        """A log with a frame for each list of records; its slots say the last two places of those that are known."""
        header, frames, places = log_parts(changes, id_type, first)
        chain, known = places[0][2], places if known is None else known
        return log_file(header, [slot(chain, known[-1]), slot(chain, known[-2]) if len(known) > 1 else b""],
                        b"".join(frames) + tail)

    two = [texts[:3], texts[3:]]
    header, frames, places = log_parts(two)
    chain = places[0][2]
    slots = [slot(chain, place) for place in places]
    add_log("empty", whole_log([]))
    add_log("empty-without-room", whole_log([], tail=b""))
    add_log("one-frame", whole_log([texts]), listed=texts)
    add_log("two-frames", whole_log(two), listed=texts)
    add_log("two-frames-without-room", whole_log(two, tail=b""), listed=texts)
    add_log("begins-at-7", whole_log(two, first=7), listed=texts)
    add_log("sequence-2-64-less-two", whole_log([texts], first=2**64 - 7), listed=texts)
    add_log("u64", whole_log([[(ADD, 1, bytes(8)), (REMOVE_FINGERPRINT, 1, b"")]], id_type="u64"), id_type="u64",
            listed=[(ADD, 1, bytes(8)), (REMOVE_FINGERPRINT, 1, b"")])
    add_log("none", whole_log([[(ADD, 4095, b"")]], id_type="none"), id_type="none", bits=12, listed=[(ADD, 4095, b"")])
    good = whole_log(two)
    end = places[2][0]
    add_log("first-slot-torn", patched(good, 4096, b"\xff" * 32), listed=texts)
    add_log("second-slot-torn", patched(good, 8192, b"\xff" * 32), listed=texts)
    add_log("older-slots", log_file(header, [slots[0], slots[1]], b"".join(frames) + bytes(300)), listed=texts)
    add_log("frame-behind-slot", log_file(header, [slots[0], b""], frames[0] + bytes(300)), listed=texts[:3])
    add_log("frame-behind-slot-torn", log_file(header, [slots[0], slots[1]], frames[0] + frames[1][:-1] + bytes(300)),
            listed=texts[:3])
    add_log("frame-behind-slot-cut-off", log_file(header, [slots[1], b""], frames[0] + frames[1][:-1]),
            listed=texts[:3])
    add_log("header-of-frame-cut-off", log_file(header, [slots[1], b""], frames[0] + frames[1][:23]), listed=texts[:3])
    add_log("bytes-behind-frames", whole_log(two, tail=bytes(range(1, 256))), listed=texts)
    stale, _ = frame(places[1][2], 6, [record_bytes("text", *texts[0])])
    add_log("frame-of-another-place-behind", whole_log(two, tail=stale), listed=texts)
    add_log("frame-doubled", log_file(header, [slots[1], slots[0]], frames[0] + frames[0]), listed=texts[:3])
    inside = [(ADD, 3, log_parts([[(ADD, 9, b"x")]], header=header)[1][0])]
    add_log("frame-within-an-id", whole_log([inside, texts]), listed=inside + texts)
    last, _ = frame(places[2][2], 2**64 - 1, [record_bytes("text", *texts[0])])
    add_log("frame-count-0-behind", whole_log(two, tail=frame(places[2][2], 6, [], 0)[0]), listed=texts)
    add_log("frame-of-32-bytes-behind", whole_log(two, tail=frame(places[2][2], 6, [], 1)[0]), listed=texts)
    add_log("frame-of-another-number-behind", whole_log(two, tail=last), listed=texts)
    # broken
    def with_header(new):
        """The good log with another header, whose checksum is made right."""
        return patched(good, 0, new[:80] + struct.pack("<Q", checksum(new[:80])))

    add_log("no-bytes", b"", "magic")
    add_log("magic", with_header(patched(header, 0, 1)), "magic")
    add_log("version-0", with_header(patched(header, 8, 1)), "version")
    add_log("version-2", with_header(patched(header, 8, 3)), "version")
    add_log("version-2-all-else-broken", b"idxpendi\2\0\0\0\xff", "version")
    for size in (8, 11, 12, 88, 4096, 8224, 12287):
        add_log(f"size-{size}-bytes", good[:size], "size")
    for at, name in ((16, "uuid"), (32, "id"), (48, "before"), (64, "salt"), (72, "first"), (80, "itself")):
        add_log(f"checksum-of-{name}", patched(good, at, 1), "checksum")
    add_log("reserved", with_header(patched(header, 15, 0x80)), "reserved")
    add_log("first-2-64-less-one", with_header(patched(header, 72, b"\xff" * 8)), "count")
    add_log("of-another-index", with_header(patched(header, 16, 1)), "uuid")
    add_log("slots-of-another-salt", with_header(patched(header, 64, 1)), "checksum")
    add_log("both-slots-torn", patched(patched(good, 4096, 1), 8192, 1), "checksum")
    add_log("no-slots", log_file(header, [b"", b""], b"".join(frames)), "checksum")
    add_log("cut-off", good[:end - 1], "size")
    add_log("frames-gone", patched(good, 12288, bytes(end - 12288)), "checksum")
    add_log("last-frame-gone", patched(good, places[1][0], bytes(end - places[1][0])), "checksum")
    for at, name in ((0, "size"), (8, "count"), (16, "number"), (24, "record"), (len(frames[0]) - 1, "checksum")):
        add_log(f"frame-{name}", patched(good, 12288 + at, 1), "checksum")
    add_log("last-frame-last-byte", patched(good, end - 1, 0x80), "checksum")
    add_log("slot-within-a-frame", whole_log(two, [(end - 1, 5, places[2][2])]), "checksum")
    add_log("slot-of-another-number", whole_log(two, [(end, 6, places[2][2])]), "checksum")
    add_log("slot-of-another-chain", whole_log(two, [(end, 5, places[2][2] ^ 1)]), "checksum")
    for at, name in ((0, "at-0"), (5, "at-5"), (12287, "at-12287")):
        add_log(f"slot-{name}", whole_log(two, [(at, 0, chain)]), "checksum")
    add_log("slot-at-12288", whole_log(two, places[:1]), listed=texts)
    add_log("slot-at-12288-of-another-number", whole_log(two, [(12288, 1, chain)]), "checksum")
    add_log("slot-at-12288-of-another-chain", whole_log(two, [(12288, 0, chain ^ 1)]), "checksum")
    add_log("slot-at-5-beside-a-good-one", whole_log(two, [(5, 0, chain), places[2]]), listed=texts)
    add_log("slot-behind-frames", whole_log(two, [(end + 100, 5, places[2][2])]), "checksum")
    add_log("slot-behind-the-end", whole_log(two, [(2**64 - 1, 5, places[2][2])]), "size")
    add_log("sequence-2-64-less-one", whole_log([texts], first=2**64 - 6), "checksum")
    add_log("operation", whole_log([[(3, 1, b"")]]), "operation")
    add_log("bits", whole_log([[(ADD, 4096, b"")]], id_type="none"), "bits", "none", 12)
    wrong = [texts, [(3, 1, b"")], texts]
    ends = [place[0] for place in log_parts(wrong)[2]]
    for at, fault in ((5, "checksum"), (ends[1] - 1, "checksum"), (ends[2] - 1, "checksum"), (ends[2] + 1, "operation"),
                      (ends[3] + 1, "operation")):
        add_log(f"operation-and-slot-at-{at}", whole_log(wrong, [(at, 0, chain)]), fault)
    data, chain_behind = frame(chain, 1, [record_bytes("text", *texts[0]) + b"\0"])
    broken = [(12288 + len(data), 1, chain_behind)]
    add_log("byte-more-than-records", log_file(header, [slot(chain, broken[0]), b""], data), "size")
    data, chain_behind = frame(chain, 1, [], 1)
    add_log("frame-of-32-bytes", log_file(header, [slot(chain, (12288 + len(data), 1, chain_behind)), b""], data),
            "checksum")
    record = record_bytes("text", *texts[0])
    for count, name, fault in ((len(record), "byte", "overrun"), (len(record) + 1, "byte-and-one", "checksum")):
        data, chain_behind = frame(chain, 1, [record], count)
        known = slot(chain, (12288 + len(data), count, chain_behind))
        add_log(f"record-for-each-{name}", log_file(header, [known, b""], data), fault)
    data, chain_behind = frame(chain, 1, [record], 2)
    add_log("record-less", log_file(header, [slot(chain, (12288 + len(data), 2, chain_behind)), b""], data), "overrun")


def add_removal_vectors():
    """The file `removed` of a segment."""
    numbers = Numbers(9)
    uuid = numbers.uuid()

    def add_removed(name, removed, fault="ok", id_type="text", bits=64, data=None):
        data = removed_data(uuid, id_type, removed) if data is None else data
        expected = [(operation, x, own) for x, operation, own in removed or ()] if fault == "ok" else []
        add_vector("removed", f"removed-{name}", rules_lines(uuid, bits, id_type) + bytes_line("file", data), fault,
                   [record_items(*record) for record in expected])

    def u64_bytes(value):
        return struct.pack("<Q", value)

    texts = [(5, REMOVE_DOCUMENT, b""), (5, REMOVE_DOCUMENT, b"a"), (5, REMOVE_DOCUMENT, b"ab"),
             (5, REMOVE_DOCUMENT, b"b"), (5, REMOVE_DOCUMENT, b"\xff"), (7, REMOVE_FINGERPRINT, b""),
             (ALL_BITS, REMOVE_DOCUMENT, b"x" * 300)]
    u64s = [(0, REMOVE_DOCUMENT, u64_bytes(255)), (0, REMOVE_DOCUMENT, u64_bytes(256)), (1, REMOVE_FINGERPRINT, b""),
            (2, REMOVE_DOCUMENT, u64_bytes(ALL_BITS))]
    nones = [(fingerprint, REMOVE_FINGERPRINT, b"") for fingerprint in numbers.distinct(20, 33)]
    add_removed("text", texts)
    add_removed("u64", u64s, id_type="u64")
    add_removed("none", nones, id_type="none", bits=33)
    add_removed("one", texts[:1])
    good, three = removed_data(uuid, "text", texts), removed_data(uuid, "u64", u64s[:3])

    def add_broken(name, fault, data, id_type="text", bits=64):
        add_removed(name, None, fault, id_type, bits, data)

    def add_unordered(name, fault, *removed, id_type="text", bits=64):
        add_broken(name, fault, removed_data(uuid, id_type, removed), id_type, bits)

    add_broken("empty-file", "magic", b"")
    add_broken("magic", "magic", reseal_removed(patched(good, 0, 1)))
    add_broken("version-0", "version", reseal_removed(patched(good, 8, 1)))
    add_broken("version-2", "version", reseal_removed(patched(good, 8, 3)))
    add_broken("version-2-all-else-broken", "version", b"idxremov\2\0\0\0\xff")
    add_broken("size-12-bytes", "size", good[:12])
    add_broken("size-63-bytes", "size", good[:63])
    add_removed("extra", texts, data=reseal_removed(patched(good, 12, struct.pack("<I", 5))) + b"extra")
    add_broken("size-extra-less", "size", reseal_removed(patched(good, 12, struct.pack("<I", 6))) + b"extra")
    add_broken("size-extra-more", "size", reseal_removed(patched(good, 12, struct.pack("<I", 4))) + b"extra")
    add_broken("size-extra-2-32-less-one", "size", reseal_removed(patched(good, 12, b"\xff" * 4)))
    for at, name in ((16, "uuid"), (32, "count"), (40, "length"), (48, "removals"), (56, "itself")):
        add_broken(f"checksum-{name}", "checksum", patched(good, at, 1))
    add_broken("checksum-of-removals", "checksum", patched(good, 64, 1))
    add_broken("checksum-of-removals-last-byte", "checksum", patched(good, -1, 1))
    add_broken("count-0", "count", reseal_removed(good[:32] + bytes(16) + good[48:64]))
    add_broken("size-one-byte-less", "size", good[:-1])
    add_broken("size-one-byte-more", "size", good + b"\0")
    add_broken("size-length-2-64-less-one", "size", reseal_removed(patched(good, 40, u64_bytes(ALL_BITS))))
    add_broken("one-removal-less", "size", reseal_removed(patched(good, 32, u64_bytes(6))))
    add_broken("one-removal-more", "overrun", reseal_removed(patched(good, 32, u64_bytes(8))))
    add_broken("count-2-64-less-one", "overrun", reseal_removed(patched(good, 32, u64_bytes(ALL_BITS))))
    add_broken("u64-cut-off", "overrun", removed_file(uuid, 1, three[64:80]), "u64")
    add_broken("u64-cut-off-before-id", "overrun", removed_file(uuid, 1, three[64:73]), "u64")
    add_broken("cut-off-before-operation", "overrun", removed_file(uuid, 1, three[64:72]), "u64")
    add_broken("text-cut-off-in-length", "overrun", removed_file(uuid, 1, good[64:76]))
    add_broken("text-of-2-32-less-one", "overrun", removed_file(uuid, 1, good[64:73] + b"\xff" * 4 + b"x"))
    add_unordered("text-of-16777216-bytes", "size", (1, REMOVE_DOCUMENT, b"x" * 16777216))
    add_unordered("operation-0", "operation", (1, ADD, b""))
    add_unordered("operation-3", "operation", (1, 3, b""))
    add_unordered("document-of-none", "operation", (1, REMOVE_DOCUMENT, b""), id_type="none")
    add_unordered("bits", "bits", (2**12, REMOVE_FINGERPRINT, b""), bits=12)
    add_unordered("order-of-fingerprints", "order", texts[5], texts[4])
    add_unordered("order-equal-fingerprints", "order", texts[5], texts[5])
    add_unordered("order-of-texts", "order", texts[3], texts[2])
    add_unordered("order-of-texts-by-length", "order", texts[2], texts[1])
    add_unordered("order-equal-texts", "order", texts[3], texts[3])
    add_unordered("order-of-numbers", "order", u64s[1], u64s[0], id_type="u64")
    add_unordered("order-equal-numbers", "order", u64s[1], u64s[1], id_type="u64")
    add_unordered("order-document-behind-fingerprint", "order", (5, REMOVE_FINGERPRINT, b""), texts[0])
    add_unordered("order-fingerprint-behind-document", "order", texts[0], (5, REMOVE_FINGERPRINT, b""))


def add_index_vector():
    """A whole index, but for its document maps; listed as reader.py prints it."""
    numbers, f = Numbers(6), 16
    tables = scheme_tables(f, 2, 1, 1)
    first = numbers.distinct(60, f)
    second = sorted(set(first[::10]) | set(numbers.distinct(40, f)))
    segments = [(1, numbers.uuid(), first), (2, numbers.uuid(), second)]
    lines = manifest_lines(numbers, f, 3, "text", "no", None, "2:1:1", tables, [])
    parts, expected = [], []
    for number, uuid, fingerprints in segments:
        lines.append(f"segment {number:06} {uuid_text(uuid)} {len(fingerprints)} {len(fingerprints) + 5} 0")
        for i, (mask, radius) in enumerate(tables):
            values = sorted(permute(fingerprint, mask, f) for fingerprint in fingerprints)
            table = Table(f, values, mask, radius, i, uuid)
            assert sorted(table.plain()) == [as_text(fingerprint, f) for fingerprint in fingerprints]
            name = f"{number:06}/table-{i:02}.tbl"
            parts += bytes_line(f"part {name}", table.data())
            expected.append([name] + table.plain())
    add_vector("index", "two-segments", text_lines("part manifest", manifest_data(lines)) + parts, expected=expected)


def main():
    assert permute(0b00011011, 0x3c, 8) == 0b01100011  # chapter 2: cdefabgh from abcdefgh
    add_valid_table_vectors()
    add_block_vectors()
    add_group_vectors()
    add_id_group_vectors()
    add_manifest_vectors()
    add_sums_vectors()
    add_record_vectors()
    add_log_vectors()
    add_removal_vectors()
    add_manifest_vectors_of_sets()
    add_text_record_vectors()
    add_sets_vectors()
    add_index_vector()
    add_invalid_table_vectors()
    write_vectors()


if __name__ == "__main__":
    main()
