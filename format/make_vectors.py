#!/usr/bin/env python3
"""Makes the conformance vectors of idx: the files in vectors/valid and vectors/invalid, and vectors/vectors.tsv.

A second writer of the format, written from SPEC.md alone, so that the C code is not tested with what it wrote itself.
Each run makes the same files. Wants Python 3.9 and the module xxhash (Debian: python3-xxhash).

    make_vectors.py
"""
import heapq
import itertools
import os
import shutil
import struct
import sys

import xxhash

VECTORS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "vectors")
PAGE = 4096
XOR, DELTA = 0, 1
CODECS = ("xor", "delta")
ALL_BITS = 2**64 - 1


# Numbers that look random

class Numbers:
    """splitmix64: the same numbers from the same seed, for good."""

    def __init__(self, seed):
        self.state = seed

    def bits(self, count):
        self.state = self.state + 0x9e3779b97f4a7c15 & ALL_BITS
        z = self.state
        z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9 & ALL_BITS
        z = (z ^ z >> 27) * 0x94d049bb133111eb & ALL_BITS
        return (z ^ z >> 31) >> 64 - count if count else 0

    def below(self, limit):
        return self.bits(64) * limit >> 64

    def distinct(self, count, f):
        """That many distinct numbers of f bits, sorted."""
        found = set()
        while len(found) < count:
            found.add(self.bits(f))
        return sorted(found)

    def uuid(self):
        """As RFC 9562, version 4, has it."""
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


# Chapter 3: tables and schemes

def places(mask, f):
    """The bits of a fingerprint in the order in which the permuted one has them, from the most significant."""
    descending = range(f - 1, -1, -1)
    return [b for b in descending if mask >> b & 1] + [b for b in descending if not mask >> b & 1]


def permute(fingerprint, mask, f):
    permuted = 0
    for bit in places(mask, f):
        permuted = permuted << 1 | fingerprint >> bit & 1
    return permuted


def unpermute(permuted, mask, f):
    fingerprint = 0
    for i, bit in enumerate(places(mask, f)):
        fingerprint |= (permuted >> f - 1 - i & 1) << bit
    return fingerprint


def cut(bits, count):
    """A list of bits in count blocks, as even as they come, wider ones first, as masks."""
    narrow, wider = divmod(len(bits), count)
    masks = []
    for i in range(count):
        width = narrow + (i < wider)
        masks.append(sum(1 << bit for bit in bits[:width]))
        bits = bits[width:]
    return masks


def scheme(f, blocks, chosen, radius=0, inner=None):
    """The (mask, radius) of B:C, B:C:R or, where inner is (b, c), B:C/b:c."""
    descending = range(f - 1, -1, -1)
    tables = []
    for choice in itertools.combinations(cut(descending, blocks), chosen):
        mask = sum(choice)
        if not inner:
            tables.append((mask, radius))
            continue
        outside = [bit for bit in descending if not mask >> bit & 1]
        for more in itertools.combinations(cut(outside, inner[0]), inner[1]):
            tables.append((mask + sum(more), radius))
    return tables


# Chapter 6: the position code

def difference(x, y, codec):
    """Of x and the one before it, y."""
    return x ^ y if codec == XOR else x - y


def count_positions(values, f, codec):
    counts = [0] * 64
    for y, x in zip(values, values[1:]):
        counts[f - difference(x, y, codec).bit_length()] += 1
    return counts


def code_lengths(counts, limit=11):
    """Package-merge."""
    leaves = [(count, (position,)) for count, position in sorted((c, q) for q, c in enumerate(counts) if c)]
    lengths = [0] * 64
    if len(leaves) == 1:
        lengths[leaves[0][1][0]] = 1
    if len(leaves) < 2:
        return lengths
    row = leaves
    for _ in range(limit - 1):
        packages = [(a[0] + b[0], a[1] + b[1]) for a, b in zip(row[::2], row[1::2])]
        row = sorted(leaves + packages, key=lambda item: item[0])  # stable: leaves stay in front of packages
    for _, positions in row[:2 * len(leaves) - 2]:
        for position in positions:
            lengths[position] += 1
    return lengths


def longest_unlimited(counts):
    """The longest code of Huffman's own construction, the shallower of equals first."""
    heap = [(count, 0) for count in counts if count]
    heapq.heapify(heap)
    while len(heap) > 1:
        a, b = heapq.heappop(heap), heapq.heappop(heap)
        heapq.heappush(heap, (a[0] + b[0], 1 + max(a[1], b[1])))
    return heap[0][1]


def code_words(lengths):
    """The code of each position, as RFC 1951, 3.2.2 computes it."""
    per_length = [sum(length == n for length in lengths) for n in range(13)]
    per_length[0] = 0
    following, code = [0] * 13, 0
    for n in range(1, 13):
        code = (code + per_length[n - 1]) << 1
        following[n] = code
    words = [0] * 64
    for position, length in enumerate(lengths):
        if length:
            words[position] = following[length]
            following[length] += 1
    return words


# Chapter 7: blocks

def bits_needed(values, f, codec, lengths):
    total = 80
    for y, x in zip(values, values[1:]):
        below = difference(x, y, codec).bit_length() - 1
        total += lengths[f - 1 - below] + below
    return total


def block_of(values, f, codec, lengths, block_size):
    """The bytes of a block; what does not fit is cut off, and with delta overlaps."""
    words = code_words(lengths)
    end = 8 * block_size
    stream, at = len(values) | values[0] << 64 - f << 16, 80
    for y, x in zip(values, values[1:]):
        d = difference(x, y, codec)
        below = d.bit_length() - 1
        tail = d - (1 << below)
        position = f - 1 - below
        for i in range(lengths[position]):
            stream |= (words[position] >> lengths[position] - 1 - i & 1) << at
            at += 1
        if codec == XOR:
            stream |= tail << at
            at += below
        else:
            end -= below
            stream |= tail << end
    return bytearray((stream & (1 << 8 * block_size) - 1).to_bytes(block_size, "little"))


def cut_into_blocks(values, f, codec, lengths, block_size):
    """As many values in each block as fit."""
    blocks, first, used = [], 0, 80
    for i in range(1, len(values)):
        more = bits_needed(values[i - 1:i + 1], f, codec, lengths) - 80
        if used + more > 8 * block_size:
            blocks.append(values[first:i])
            first, used, more = i, 80, 0
        used += more
    return blocks + [values[first:]] if values else []


# Chapter 5: table files

class Table:
    """A table, from values that are permuted already but not left-aligned; its parts may be broken before data()."""

    def __init__(self, f, codec, values, mask=None, radius=0, number=0, uuid=bytes(range(16)), block_size=128,
                 lengths=None, groups=None, directory_bits=None):
        self.f, self.codec, self.block_size = f, codec, block_size
        self.mask = 2**f - 1 if mask is None else mask
        self.radius, self.number, self.uuid, self.values = radius, number, uuid, values
        self.fingerprints = len(values)
        self.lengths = lengths or code_lengths(count_positions(values, f, codec))
        self.groups = groups or cut_into_blocks(values, f, codec, self.lengths, block_size)
        self.blocks = [block_of(group, f, codec, self.lengths, block_size) for group in self.groups]
        self.keys = [group[-1] << 64 - f for group in self.groups]
        if directory_bits is None:
            directory_bits = min(len(self.blocks).bit_length() - 1, f) if len(self.blocks) > 1 else 0
        self.directory_bits = directory_bits
        self.directory = []
        if directory_bits:
            tops = [key >> 64 - directory_bits for key in self.keys]
            self.directory = [sum(top < e for top in tops) for e in range(2**directory_bits + 1)]

    def data(self):
        header = b"idxtable" + struct.pack("<II16sQBBBBIQQ", 0, self.number, self.uuid, self.mask, self.f, self.radius,
                                           self.codec, self.directory_bits, self.block_size, self.fingerprints,
                                           len(self.blocks)) + bytes(self.lengths)
        body = up_to_page(b"".join(self.blocks))
        index = struct.pack(f"<{len(self.keys)}Q", *self.keys)
        index += struct.pack(f"<{len(self.directory)}I", *self.directory)
        pages = up_to_page(header) + body + up_to_page(index)
        return sealed(pages + bytes((len(pages) - PAGE) // PAGE * 8))

    def plain(self):
        return [as_text(unpermute(value, self.mask, self.f), self.f) for value in self.values]


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


# Chapter 4: the manifest

def manifest_lines(uuids, bits=16, k=3, id_type="text", recipe="simhash, words", title="2:1:1",
                   tables=((0xff00, 1), (0x00ff, 1)), segments=(("000001", 10, 12),)):
    """The lines of a manifest, without the checksum's."""
    return ["idx-index 0", f"uuid {uuid_text(uuids.uuid())}", f"bits {bits}", f"k {k}", f"id-type {id_type}",
            "recipe" if recipe is None else f"recipe {recipe}", f"scheme {title}",
            *(f"table {as_text(mask, bits)} {radius}" for mask, radius in tables),
            *(f"segment {number} {uuid_text(uuids.uuid())} {fingerprints} {documents}"
              for number, fingerprints, documents in segments)]


def with_checksum(data):
    return data + b"checksum %016x\n" % checksum(data)


def manifest_data(lines):
    return with_checksum("".join(line + "\n" for line in lines).encode())


# Chapter 8: the checksums of the document map

def sums_data(uuid, documents):
    """docs.sum for a docs.mdb of these bytes."""
    header = sums_header(b"idxdsums" + struct.pack("<II16sQ16x", 0, 0, uuid, len(documents)))
    pages = [documents[i:i + PAGE] for i in range(0, len(documents), PAGE)]
    return header + b"".join(struct.pack("<Q", checksum(page)) for page in pages)


def sums_header(data):
    """docs.sum with the checksum of its header made right."""
    return data[:56] + struct.pack("<Q", checksum(data[:56])) + data[64:]


# Chapter 11: the vectors

ROWS = []


def write(path, data):
    path = os.path.join(VECTORS, path)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "wb") as file:
        file.write(data)


def add(kind, name, data, fault="ok", fingerprints=None):
    folder = "valid" if fault == "ok" else "invalid"
    file = f"{folder}/{name}.{dict(table='tbl', manifest='manifest', sums='sum', block='block')[kind]}"
    listed = f"{folder}/{name}.txt" if fingerprints is not None else ""
    if any(row[0] == file for row in ROWS):
        sys.exit(f"{file}: made twice")
    write(file, data)
    if listed:
        write(listed, "".join(line + "\n" for line in fingerprints).encode())
    ROWS.append((file, kind, fault, listed))


def add_table(name, *arguments, **options):
    table = Table(*arguments, **options)
    add("table", f"table-{name}", table.data(), fingerprints=table.plain())
    return table


def block_text(codec, f, lengths, block):
    runs = []
    for byte, run in itertools.groupby(block):
        count = len(list(run))
        runs.append(f"{byte:02x}" if count == 1 else f"{byte:02x}*{count}")
    return (f"codec {CODECS[codec]}\nbits {f}\nblock-size {len(block)}\nlengths {' '.join(map(str, lengths))}\n"
            f"block {' '.join(runs)}\n").encode()


def lengths_of(**lengths):
    """Code lengths from p0=2, p6=2, p7=1, ..."""
    return [lengths.get(f"p{position}", 0) for position in range(64)]


def ladder(longest):
    """Lengths 1, 2, 3, ... of the positions from longest on down to 1, and the longest of 0 too: a complete code."""
    return lengths_of(p0=longest, **{f"p{position}": longest + 1 - position for position in range(1, longest + 1)})


def exactly_full(codec, f):
    """Values that fill a block of 128 bytes to the last bit, and one value more."""
    for seed in itertools.count():
        values = Numbers(seed).distinct(45, f)
        for n in range(30, 45):
            lengths = code_lengths(count_positions(values[:n], f, codec))
            more = code_lengths(count_positions(values[:n + 1], f, codec))
            if bits_needed(values[:n], f, codec, lengths) == 1024 < bits_needed(values[:n + 1], f, codec, more):
                return values[:n], values[:n + 1]


def one_bit_too_long(codec, f):
    """Values that need one bit more than a block of 128 bytes has."""
    for seed in itertools.count():
        values = Numbers(seed).distinct(45, f)
        for n in range(30, 45):
            lengths = code_lengths(count_positions(values[:n], f, codec))
            if bits_needed(values[:n], f, codec, lengths) != 1025:
                continue
            block = block_of(values[:n], f, codec, lengths, 128)
            twice = block_of(values[:n], f, codec, lengths, 256)  # one is the other, cut, or with one bit on another
            if codec == XOR or sum(bin(b).count("1") for b in block) == sum(bin(b).count("1") for b in twice):
                return values[:n]


def skewed(codec, f, numbers):
    """Values whose positions are as frequent as the Fibonacci numbers, the rarest 14 of them: codes want 13 bits."""
    fibonacci = [1, 1]
    while len(fibonacci) < 14:
        fibonacci.append(fibonacci[-1] + fibonacci[-2])
    if codec == DELTA:
        positions = [f - 14 + i for i, count in enumerate(fibonacci) for _ in range(count)]
        for i in range(len(positions) - 1, 0, -1):
            j = numbers.below(i + 1)
            positions[i], positions[j] = positions[j], positions[i]
        values = [numbers.bits(8)]
        for position in positions:
            below = f - 1 - position
            values.append(values[-1] + (1 << below) + numbers.bits(below))
        return values
    prefixes = [0]
    for depth in range(f):  # a pair of neighbours differs first at a position where a prefix goes on both ways
        both = set()
        while depth < 14 and len(both) < fibonacci[depth]:
            both.add(prefixes[numbers.below(len(prefixes))])
        prefixes = [prefix << 1 | bit for prefix in prefixes
                    for bit in ((0, 1) if prefix in both else (numbers.bits(1),))]
    return prefixes


def valid_tables():
    numbers = Numbers(1)

    def more(mask, radius, number):
        return dict(mask=mask, radius=radius, number=number, uuid=numbers.uuid())

    for codec in (XOR, DELTA):
        c = CODECS[codec]
        add_table(f"{c}-empty", 16, codec, [], **more(0xf00f, 0, 0))
        full, fuller = exactly_full(codec, 32)
        add_table(f"{c}-full-block", 32, codec, full, **more(0xffff0000, 0, 3))
        add_table(f"{c}-full-block-and-one", 32, codec, fuller, **more(0x80f00f01, 0, 3))
        add_table(f"{c}-f1-both", 1, codec, [0, 1], **more(1, 0, 0))
        mask = 0x5555555555555555 if codec == XOR else 1
        add_table(f"{c}-f63", 63, codec, numbers.distinct(150, 63), **more(mask, 1, 5))
        add_table(f"{c}-f64-first-and-last", 64, codec, [0] + numbers.distinct(150, 64) + [ALL_BITS],
                  **more(0xf0f0f0f0f0f0f0f0, 1, 255))
        values = skewed(codec, 20, numbers)
        counts = count_positions(values, 20, codec)
        assert longest_unlimited(counts) > 11 and max(code_lengths(counts)) == 11
        add_table(f"{c}-code-length-11", 20, codec, values, block_size=1024 if codec == XOR else 256,
                  **more(0x0ff0f, 1, 8))
        add_table(f"{c}-block-size-4096", 64, codec, numbers.distinct(600, 64), block_size=4096,
                  **more(0xffff000000000000, 1, 14))

    add_table("xor-f10-all-values", 10, XOR, list(range(1024)), **more(0x155, 2, 9))
    add_table("xor-one", 16, XOR, [0xbeef], **more(0x0ff0, 1, 1))
    add_table("delta-one-f1", 1, DELTA, [1], **more(1, 3, 0))
    # one position only; with consecutive values, codes of one bit and no tails
    add_table("xor-one-symbol", 16, XOR, [0x1234, 0x1274], **more(0xf0f0, 0, 0))
    for name, f, first, count, size in (("delta-one-symbol-full-block", 16, 5000, 945, 128),
                                        ("delta-one-symbol-full-block-4096", 15, 0, 32689, 4096)):
        table = add_table(name, f, DELTA, list(range(first, first + count)), block_size=size, **more(0x70f0, 0, 0))
        assert len(table.blocks) == 1 and not any(table.blocks[0][10:])
    # valid, but not as the writer of chapters 5 to 7 makes them
    values = numbers.distinct(150, 32)
    add_table("xor-foreign-code-no-directory", 32, XOR, values, lengths=[5] * 32 + [0] * 32, directory_bits=0,
              **more(0xff00ff, 0, 15))
    add_table("delta-foreign-short-blocks-small-directory", 32, DELTA, values[:50], directory_bits=1,
              groups=[values[:1], values[1:3], values[3:10], values[10:20], values[20:50]], **more(0xff00ff, 0, 16))
    add_table("delta-foreign-code-unused", 32, DELTA, values[:1], lengths=lengths_of(p31=1), **more(0xff00ff, 0, 18))
    add_table("xor-foreign-one-in-each-block", 32, XOR, values[:4], groups=[[v] for v in values[:4]],
              lengths=[0] * 64, **more(0xff00ff, 0, 20))


def invalid_tables():
    def add_broken(name, fault, data):
        add("table", f"table-{name}", data, fault)

    numbers = Numbers(2)
    uuid = numbers.uuid()
    empty = Table(16, XOR, [], mask=0xf00f, uuid=uuid).data()
    three = {codec: numbers.distinct(85, 32) for codec in (XOR, DELTA)}

    def fresh(codec=XOR):
        """A table of three blocks, with a directory."""
        table = Table(32, codec, three[codec], mask=0xff0000ff, uuid=uuid)
        assert len(table.blocks) == 3 and table.directory_bits == 1
        return table

    whole = fresh().data()

    def header(name, fault, offset, form, *values, data=empty):
        add_broken(name, fault, sealed(patched(data, offset, struct.pack("<" + form, *values))))

    # the header
    add_broken("magic", "magic", sealed(patched(empty, 7, 1)))
    add_broken("empty-file", "magic", b"")
    header("version-1", "version", 8, "I", 1)
    add_broken("version-1-all-else-broken", "version", b"idxtable\1\0\0\0" + b"\xff" * 4084)
    add_broken("version-1-12-bytes", "version", b"idxtable\1\0\0\0")
    add_broken("size-8-bytes", "size", b"idxtable")
    add_broken("size-12-bytes", "size", b"idxtable\0\0\0\0")
    add_broken("size-4095-bytes", "size", empty[:-1])
    add_broken("checksum-header", "checksum", patched(empty, 40, 1))
    add_broken("checksum-before-reserved", "checksum", patched(empty, 2000, 1))
    header("reserved-first-byte", "reserved", 128, "B", 1)
    header("reserved-last-byte", "reserved", 4087, "B", 0x80)
    header("f-0", "bits", 40, "B", 0)
    header("f-65", "bits", 40, "B", 65)
    header("mask-0", "mask", 32, "Q", 0)
    header("mask-too-wide", "mask", 32, "Q", 0x1000f)
    header("mask-too-wide-f63", "mask", 32, "Q", 2**63, data=Table(63, XOR, []).data())
    header("radius-4", "radius", 41, "B", 4)
    header("codec-2", "codec", 42, "B", 2)
    for size in (0, 64, 192, 8192):
        header(f"block-size-{size}", "block-size", 44, "I", size)
    header("count-no-blocks", "count", 48, "QQ", 1, 0)
    header("count-fewer-fingerprints-than-blocks", "count", 48, "QQ", 2, 3)
    header("count-no-fingerprints", "count", 48, "QQ", 0, 1)
    header("count-most-in-blocks-and-one", "count", 48, "QQ", 2 * 945 + 1, 2)
    header("count-f1-three", "count", 48, "QQ", 3, 1, data=Table(1, XOR, [], mask=1).data())
    header("count-2-32-blocks", "count", 48, "QQ", 2**32, 2**32, data=Table(64, XOR, []).data())
    header("count-2-57-blocks", "count", 48, "QQ", 2**57, 2**57, data=Table(64, XOR, []).data())
    header("directory-bits-1-no-blocks", "directory", 43, "B", 1)
    header("directory-bits-2-three-blocks", "directory", 43, "BIQQ", 2, 128, 3, 3)
    for bits in (33, 64):
        header(f"directory-bits-{bits}", "directory", 43, "B", bits)
    header("directory-bits-32-most-blocks", "directory", 43, "BIQQ", 32, 4096, 2**32 - 1, 2**32 - 1,
           data=Table(64, XOR, []).data())

    # code lengths, f = 16
    def lengths(name, values):
        header(name, "code", 64, "64s", bytes(values))

    lengths("code-length-12", ladder(12))
    lengths("code-incomplete", lengths_of(p0=2, p1=2, p2=2))
    lengths("code-over-full", lengths_of(p0=1, p1=2, p2=2, p3=11))
    lengths("code-single-of-length-2", lengths_of(p5=2))
    lengths("code-position-f", lengths_of(p15=1, p16=1))

    # the size of the file
    add_broken("size-one-byte-less", "size", whole[:-1])
    add_broken("size-one-page-less", "size", whole[:-PAGE])
    header("size-one-block-in-header-only", "size", 48, "QQ", 1, 1)
    add_broken("size-empty-and-one-byte", "size", empty + b"\0")
    header("size-most-blocks", "size", 43, "BIQQ", 31, 4096, 2**32 - 1, 2**32 - 1, data=Table(64, XOR, []).data())
    header("code-before-size", "code", 64, "B", 12, data=empty + b"\0")

    # checksums of pages
    add_broken("checksum-blocks", "checksum", patched(whole, PAGE, 1))
    add_broken("checksum-keys", "checksum", patched(whole, 2 * PAGE, 1))
    add_broken("checksum-itself", "checksum", patched(whole, -1, 0x80))

    # padding between sections
    def padding(name, data, offset, bit):
        add_broken(f"padding-{name}", "padding", sealed(patched(data, offset, bit)))

    padding("after-blocks-first", whole, PAGE + 3 * 128, 1)
    padding("after-directory-last", whole, 3 * PAGE - 1, 0x80)

    # blocks
    def broken(name, fault, codec, change):
        table = fresh(codec)
        change(table)
        add_broken(f"{CODECS[codec]}-{name}", fault, table.data())

    def set_u16(block, value):
        block[0:2] = struct.pack("<H", value)

    def set_first(block, value):
        block[2:10] = struct.pack("<Q", value)

    def first_of(block):
        return struct.unpack_from("<Q", block, 2)[0]

    def swap(items):
        items[0], items[1] = items[1], items[0]

    def flip_first(table):
        """x0 gets the bit in which x1 differs first: XOR then takes it away again."""
        bit = (table.groups[1][0] ^ table.groups[1][1]).bit_length() - 1
        assert not table.groups[1][0] >> bit & 1
        set_first(table.blocks[1], first_of(table.blocks[1]) | 1 << bit << 32)

    def flip(items, i, mask):
        items[i] ^= mask

    def add_to(name, value):
        return lambda table: setattr(table, name, getattr(table, name) + value)

    broken("block-count-0", "count", XOR, lambda t: set_u16(t.blocks[2], 0))
    broken("sum-of-counts-one-less", "count", XOR, add_to("fingerprints", 1))
    broken("sum-of-counts-one-more", "count", DELTA, add_to("fingerprints", -1))
    broken("order-between-blocks", "order", XOR, lambda t: (swap(t.blocks), swap(t.keys)))
    broken("order-equal-between-blocks", "order", DELTA, lambda t: set_first(t.blocks[1], t.keys[0]))
    broken("order-inside-block", "order", XOR, flip_first)
    broken("key-one-more", "key", XOR, lambda t: flip(t.keys, 0, 1 << 32))
    broken("key-low-bit", "key", DELTA, lambda t: flip(t.keys, 2, 1))
    broken("first-low-bit-31", "bits", XOR, lambda t: flip(t.blocks[1], 2 + 3, 0x80))
    broken("directory-middle-entry", "directory", DELTA, lambda t: flip(t.directory, 1, 1))
    broken("directory-last-entry", "directory", XOR, lambda t: flip(t.directory, 2, 1))

    def pad_between(table):
        group = table.groups[2]
        codes = sum(table.lengths[q] * n for q, n in enumerate(count_positions(group, 32, DELTA)))
        tails = bits_needed(group, 32, DELTA, table.lengths) - 80 - codes
        assert 80 + codes < 1023 - tails
        table.blocks[2][(80 + codes) // 8] |= 1 << codes % 8

    broken("padding-in-last-block", "padding", DELTA, pad_between)
    values = one_bit_too_long(DELTA, 32)
    add_broken("delta-overrun-by-one-bit", "overrun", Table(32, DELTA, values, groups=[values]).data())
    table = Table(16, DELTA, list(range(100)))
    table.blocks[0][10 + 98 // 8] |= 1 << 98 % 8
    add_broken("delta-code-not-assigned", "code", table.data())


def blocks():
    def add_block(name, codec, f, values, block_size=128, lengths=None):
        lengths = lengths or code_lengths(count_positions(values, f, codec))
        block = block_of(values, f, codec, lengths, block_size)
        add("block", f"block-{name}", block_text(codec, f, lengths, block),
            fingerprints=[as_text(value, f) for value in values])
        return lengths, block

    def add_broken(name, fault, codec, f, lengths, block, *changes):
        block = bytearray(block)
        for at, new in changes:
            block[at:at + len(new)] = new
        add("block", f"block-{name}", block_text(codec, f, lengths, block), fault)

    # the examples of chapter 7
    example = [0x12, 0x15, 0x16, 0x96, 0x97]
    lengths, block = add_block("example-delta", DELTA, 8, example)
    assert lengths == lengths_of(p0=2, p6=2, p7=1)
    assert block == bytes.fromhex("0500 0000000000000012 0b") + bytes(116) + b"\x80"
    add_broken("delta-count-0", "count", DELTA, 8, lengths, block, (0, b"\0\0"))
    add_broken("delta-count-946", "count", DELTA, 8, lengths, block, (0, struct.pack("<H", 946)))
    add_broken("delta-first-low-bit", "bits", DELTA, 8, lengths, block, (8, b"\x80"))
    add_broken("delta-order", "order", DELTA, 8, lengths, block, (9, b"\x7c"))
    add_broken("delta-padding-after-codes", "padding", DELTA, 8, lengths, block, (10, b"\x4b"))
    add_broken("delta-padding-before-tails", "padding", DELTA, 8, lengths, block, (126, b"\x80"))
    lengths, block = add_block("example-xor", XOR, 8, example)
    assert lengths == lengths_of(p0=2, p5=2, p6=2, p7=2)
    assert block == bytes.fromhex("0500 0000000000000012 5e0003") + bytes(115)
    add_broken("xor-count-0", "count", XOR, 8, lengths, block, (0, b"\0\0"))
    add_broken("xor-count-946", "count", XOR, 8, lengths, block, (0, struct.pack("<H", 946)))
    add_broken("xor-first-low-bit", "bits", XOR, 8, lengths, block, (8, b"\x80"))
    add_broken("xor-order", "order", XOR, 8, lengths, block, (9, b"\x16"))
    add_broken("xor-padding-first", "padding", XOR, 8, lengths, block, (12, b"\x07"))
    add_broken("xor-padding-last", "padding", XOR, 8, lengths, block, (127, b"\x80"))

    numbers = Numbers(3)
    for codec in (XOR, DELTA):
        c = CODECS[codec]
        lengths, block = add_block(f"{c}-one", codec, 16, [0x1234])
        add_broken(f"{c}-code-none-assigned", "code", codec, 16, lengths, block, (0, b"\2"))
        add_broken(f"{c}-one-padding-first", "padding", codec, 16, lengths, block, (10, b"\1"))
        add_block(f"{c}-f1", codec, 1, [0, 1])
        add_block(f"{c}-tail-of-63-bits", codec, 64, [0, ALL_BITS])
        # positions 0, 1, ... 6, so tails of 63 to 57 bits, none of which begins with a byte
        x = [0]
        for below in range(63, 56, -1):
            x.append(x[-1] + (1 << below) + (numbers.bits(48) | 1))
        assert count_positions(x, 64, codec)[:7] == [1] * 7
        add_block(f"{c}-tails-of-63-to-57-bits", codec, 64, x)
        add_block(f"{c}-full", codec, 32, exactly_full(codec, 32)[0])
        add_block(f"{c}-code-length-11", codec, 12, [0] + [2**i for i in range(12)],
                  lengths=ladder(11))
        add_block(f"{c}-f64-512", codec, 64, numbers.distinct(20, 64), block_size=512)
        lengths, block = add_block(f"{c}-two", codec, 16, [0x1234, 0x1235])
        add_broken(f"{c}-code-not-assigned", "code", codec, 16, lengths, block, (10, b"\1"))
        values = one_bit_too_long(codec, 32)
        lengths = code_lengths(count_positions(values, 32, codec))
        add_broken(f"{c}-overrun-by-one-bit", "overrun", codec, 32, lengths,
                   block_of(values, 32, codec, lengths, 128))
    lengths, block = add_block("delta-most-fingerprints", DELTA, 12, list(range(1000, 1945)))
    add_broken("delta-code-not-assigned-at-end", "code", DELTA, 12, lengths, block, (127, b"\x80"))
    # code lengths; the block itself needs none of them
    _, block = add_block("xor-one-8000", XOR, 16, [0x8000])
    for name, lengths in (("length-12", ladder(12)), ("length-12-only", lengths_of(p0=12)),
                          ("length-255", lengths_of(p0=1, p1=1, p2=255)),
                          ("incomplete", lengths_of(p3=1, p4=2)),
                          ("incomplete-by-one-of-11-bits", ladder(11)[:1] + [0] + ladder(11)[2:]),
                          ("over-full", lengths_of(p0=1, p1=1, p2=11)),
                          ("over-full-twice", lengths_of(p0=1, p1=1, p2=1, p3=1)),
                          ("single-of-length-2", lengths_of(p15=2)),
                          ("position-f", lengths_of(p15=1, p16=1)),
                          ("position-f-single", lengths_of(p16=1)),
                          ("position-63", lengths_of(p0=1, p63=1))):
        add_broken(f"xor-code-{name}", "code", XOR, 16, lengths, block)
    # a code of one bit and a tail of 57 for each: 16 of them fit; all bits are 0
    lengths, block = add_block("delta-long-tails", DELTA, 64, [i << 57 for i in range(17)])
    add_broken("delta-overrun-by-one-difference", "overrun", DELTA, 64, lengths, block, (0, b"\x12"))
    # room for 16 differences of 58 bits and 16 of one bit: the code of one more begins where there is no room left
    values = [i << 57 for i in range(17)] + [(16 << 57) + i for i in range(1, 17)]
    lengths, block = add_block("delta-full-two-symbols", DELTA, 64, values)
    assert lengths == lengths_of(p6=1, p63=1) and bits_needed(values, 64, DELTA, lengths) == 1024
    add_broken("delta-overrun-by-code", "overrun", DELTA, 64, lengths, block, (0, bytes([len(values) + 1])))
    lengths = code_lengths(count_positions(range(1024), 10, XOR))
    values = next(list(range(first, last + 1)) for last in range(1024) for first in range(0, last, 2)
                  if bits_needed(range(first, last + 1), 10, XOR, lengths) == 1024 and last % 2 == 0)
    _, block = add_block("xor-full-consecutive", XOR, 10, values, lengths=lengths)
    add_broken("xor-overrun-by-code", "overrun", XOR, 10, lengths, block, (0, struct.pack("<H", len(values) + 1)))


def manifests():
    numbers = Numbers(4)

    def add_lines(name, lines, fault="ok"):
        add("manifest", f"manifest-{name}", manifest_data(lines), fault)

    def added(name, fault="ok", **fields):
        add_lines(name, manifest_lines(numbers, **fields), fault)

    # valid
    added("text")
    added("u64", id_type="u64")
    added("none", id_type="none", segments=[("000001", 10, 0)])
    added("no-recipe", recipe=None)
    added("recipe-not-ascii", recipe="Simhash: Wörter, Länge ≥ 3, 東京 😀")
    add("manifest", "manifest-recipe-not-utf-8", with_checksum(
        "".join(f"{line}\n" for line in manifest_lines(numbers, recipe="R\xff\x80")).encode("latin-1")))
    added("recipe-1-byte", recipe="r")
    added("recipe-255-bytes", recipe="r" * 255)
    added("scheme-name-63-bytes", title="n" * 63)
    added("two-segments", segments=[("000001", 10, 12), ("000002", 7, 7)])
    added("segments-with-gaps", segments=[("000003", 10, 12), ("000008", 0, 0), ("999999", 2**64 - 1, 2**64 - 1)])
    added("no-fingerprints", segments=[("000001", 0, 0)])
    added("documents-as-many-as-fingerprints", segments=[("000001", 10, 10)])
    for f, k in ((1, 0), (2, 1), (4, 3), (5, 3), (31, 3), (32, 3), (33, 3), (60, 3), (61, 3), (63, 3), (64, 3)):
        added(f"bits-{f}", bits=f, k=k, title="masks" if f < 4 else "4",
              tables=[(1 << bit, 0) for bit in range(k + 1)] if f < 4 else scheme(f, 4, 1))
    added("k-0", k=0, title="masks", tables=[(1, 0)])
    added("k-15-bits-16", k=15, title="16:1", tables=scheme(16, 16, 1))
    added("k-16-bits-64", bits=64, k=16, title="17:1", tables=scheme(64, 17, 1))
    added("scheme-4", bits=64, title="4", tables=scheme(64, 4, 1))
    added("scheme-10", bits=64, title="10", tables=scheme(64, 5, 2))
    added("scheme-16", bits=64, title="16", tables=scheme(64, 4, 1, inner=(4, 1)))
    added("scheme-20", bits=64, title="20", tables=scheme(64, 6, 3))
    added("scheme-4-1-1", bits=64, k=7, title="4:1:1", tables=scheme(64, 4, 1, 1))
    added("scheme-5-2-1-k-4", bits=64, k=4, title="5:2:1", tables=scheme(64, 5, 2, 1))
    added("tables-256", bits=8, k=7, title="masks", tables=[(mask or 1, 0) for mask in range(256)])
    added("table-twice", title="masks", tables=[(0xff00, 1), (0xff00, 1), (0x00ff, 1)])
    added("radius-of-whole-mask", bits=64, k=16, title="masks", tables=[(2**63 + 5, 3)])
    added("radius-mixed", k=4, title="masks", tables=[(0xff80, 2), (0x007f, 1)])
    added("segments-1024", bits=4, k=0, title="1:1", tables=[(0xf, 0)],
          segments=[(f"{i:06}", 1, 1) for i in range(1, 1025)])

    # invalid: whole files
    good = manifest_lines(numbers, segments=[("000001", 10, 12), ("000002", 7, 7)])
    data = manifest_data(good)
    short = manifest_lines(numbers, k=0, title="1:1", tables=[(0xffff, 0)])

    def add_data(name, fault, broken):
        add("manifest", f"manifest-{name}", broken, fault)

    def changed(name, fault, old, new, lines=None):
        """With one line in the place of another."""
        lines = list(lines or good)
        at = [i for i, line in enumerate(lines) if line.startswith(old)][0]
        lines[at] = new(lines[at]) if callable(new) else new
        add_lines(name, lines, fault)

    add_data("empty-file", "magic", b"")
    add_data("magic", "magic", with_checksum(data[:-26].replace(b"idx-index", b"idx_index")))
    add_data("magic-capital", "magic", with_checksum(data[:-26].replace(b"idx-index", b"Idx-index")))
    changed("version-none", "magic", "idx-index", "idx-index ")
    changed("version-not-a-number", "magic", "idx-index", "idx-index one")
    changed("version-2-32", "magic", "idx-index", "idx-index 4294967296")
    changed("version-2-64", "magic", "idx-index", "idx-index 18446744073709551616")
    changed("version-1", "version", "idx-index", "idx-index 1")
    changed("version-2-32-less-one", "version", "idx-index", "idx-index 4294967295")
    add_data("version-1-all-else-broken", "version", b"idx-index 1\xff\0")
    changed("version-and-space", "syntax", "idx-index", "idx-index 0 ")
    changed("version-and-field", "syntax", "idx-index", "idx-index 0 0")
    add_data("first-line-only", "checksum", b"idx-index 0\n")
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

    # invalid: each line missing, twice, exchanged with the next; the lines of short: one table, one segment
    names = ("idx-index", "uuid", "bits", "k", "id-type", "recipe", "scheme", "table", "segment")
    for i, name in enumerate(names):
        fault = {"idx-index": "magic", "table": "mask", "segment": "segment"}.get(name, "syntax")
        add_lines(f"{name}-line-missing", short[:i] + short[i + 1:], fault)
        if name != "table":
            fault = {"scheme": "mask", "segment": "segment"}.get(name, "syntax")
            add_lines(f"{name}-line-twice", short[:i + 1] + short[i:], fault)
        if name != "segment":
            fault = {"idx-index": "magic", "table": "mask"}.get(name, "syntax")
            add_lines(f"{name}-line-after-next", short[:i] + [short[i + 1], short[i]] + short[i + 2:], fault)
    add_data("checksum-line-missing", "checksum", manifest_data(short)[:-26])
    add_data("checksum-line-twice", "syntax", with_checksum(manifest_data(short)))
    add_data("checksum-line-before-segment", "checksum", with_checksum(
        "".join(line + "\n" for line in short[:-1]).encode()) + short[-1].encode() + b"\n")
    add_lines("table-line-after-segment", good[:-1] + [good[7], good[-1]], "syntax")

    # invalid: fields
    changed("uuid-upper-case", "uuid", "uuid", lambda line: line[:5] + line[5:].upper())
    changed("uuid-no-hyphens", "uuid", "uuid", lambda line: line.replace("-", ""))
    changed("uuid-hyphen-misplaced", "uuid", "uuid", lambda line: line[:13] + line[14] + "-" + line[15:])
    changed("uuid-35-characters", "uuid", "uuid", lambda line: line[:-1])
    changed("uuid-37-characters", "uuid", "uuid", lambda line: line + "0")
    changed("uuid-not-hexadecimal", "uuid", "uuid", lambda line: line[:-1] + "g")
    changed("uuid-two-fields", "syntax", "uuid", lambda line: line + " 0")
    changed("bits-0", "bits", "bits", "bits 0")
    changed("bits-65", "bits", "bits", "bits 65")
    changed("bits-2-32-and-16", "bits", "bits", "bits 4294967312")
    changed("bits-2-64-and-16", "bits", "bits", "bits 18446744073709551632")
    changed("bits-leading-zero", "syntax", "bits", "bits 016")
    changed("bits-signed", "syntax", "bits", "bits +16")
    changed("bits-negative", "syntax", "bits", "bits -16")
    changed("bits-hexadecimal", "syntax", "bits", "bits 0x10")
    changed("bits-two-spaces", "syntax", "bits", "bits  16")
    changed("bits-tab", "syntax", "bits", "bits\t16")
    changed("bits-space-after", "syntax", "bits", "bits 16 ")
    changed("bits-space-before", "syntax", "bits", " bits 16")
    changed("bits-capital", "syntax", "bits", "Bits 16")
    changed("bits-no-field", "syntax", "bits", "bits")
    changed("bits-crlf", "syntax", "bits", "bits 16\r")
    changed("bits-nul", "syntax", "bits", "bits 16\0")
    added("k-equals-f", "k", bits=16, k=16, title="16:1", tables=scheme(16, 16, 1))
    added("k-1-bits-1", "k", bits=1, k=1, title="1:1", tables=[(1, 0)])
    added("k-17", "k", bits=64, k=17, title="18:1", tables=scheme(64, 18, 1))
    changed("k-leading-zero", "syntax", "k ", "k 03")
    changed("k-2-32", "k", "k ", "k 4294967296")
    changed("id-type-unknown", "id-type", "id-type", "id-type u32")
    changed("id-type-capital", "id-type", "id-type", "id-type Text")
    changed("id-type-longer", "id-type", "id-type", "id-type textual")
    changed("id-type-no-field", "syntax", "id-type", "id-type")
    changed("recipe-256-bytes", "recipe", "recipe", "recipe " + "r" * 256)
    changed("recipe-of-0-bytes", "recipe", "recipe", "recipe ")
    changed("recipe-tab", "recipe", "recipe", "recipe a\tb")
    changed("recipe-byte-31", "recipe", "recipe", "recipe \x1f")
    changed("recipe-byte-127", "recipe", "recipe", "recipe a\x7f")
    changed("recipe-nul", "recipe", "recipe", "recipe a\0")
    changed("recipe-crlf", "recipe", "recipe", lambda line: line + "\r")
    changed("recipe-keyword-longer", "syntax", "recipe", "recipes x")
    changed("scheme-name-64-bytes", "syntax", "scheme", "scheme " + "n" * 64)
    changed("scheme-name-none", "syntax", "scheme", "scheme")
    changed("scheme-name-of-0-bytes", "syntax", "scheme", "scheme ")
    changed("scheme-name-byte-127", "syntax", "scheme", "scheme a\x7f")
    changed("scheme-name-byte-31", "syntax", "scheme", "scheme a\x1f")
    changed("mask-0", "mask", "table", "table 0000 1")
    changed("mask-3-digits", "mask", "table", "table f00 1")
    changed("mask-5-digits", "mask", "table", "table 0ff00 1")
    changed("mask-upper-case", "mask", "table", "table FF00 1")
    changed("mask-prefixed", "mask", "table", "table 0xff00 1")
    added("mask-too-wide", "mask", bits=17, title="masks", tables=[(0x20000, 0)])
    added("mask-too-wide-f1", "mask", bits=1, k=0, title="masks", tables=[(2, 0)])
    added("mask-too-wide-f63", "mask", bits=63, title="masks", tables=[(2**63, 0)])
    added("tables-257", "mask", bits=8, k=0, title="masks", tables=[(1, 0)] * 257)
    changed("radius-4", "radius", "table", "table ff00 4")
    changed("radius-2-32", "radius", "table", "table ff00 4294967296")
    changed("radius-leading-zero", "syntax", "table", "table ff00 01")
    changed("radius-none", "syntax", "table", "table ff00")
    changed("table-two-spaces", "syntax", "table", "table ff00  1")
    changed("table-field-more", "syntax", "table", "table ff00 1 1")
    added("segment-0", "segment", segments=[("000000", 10, 12)])
    added("segments-descend", "segment", segments=[("000002", 10, 12), ("000001", 7, 7)])
    added("segment-number-twice", "segment", segments=[("000002", 10, 12), ("000002", 7, 7)])
    lines = manifest_lines(numbers, segments=[("000001", 10, 12), ("000002", 7, 7)])
    lines[-1] = lines[-2].replace("000001", "000002")
    add_lines("segment-uuid-twice", lines, "segment")
    added("segments-1025", "segment", bits=4, k=0, title="1:1", tables=[(0xf, 0)],
          segments=[(f"{i:06}", 1, 1) for i in range(1, 1026)])
    added("segment-number-5-digits", "syntax", segments=[("00001", 10, 12)])
    added("segment-number-7-digits", "syntax", segments=[("0000001", 10, 12)])
    added("segment-number-signed", "syntax", segments=[("+00001", 10, 12)])
    changed("segment-uuid-upper-case", "uuid", "segment", lambda line: line[:15] + line[15:].upper())
    changed("segment-two-spaces", "syntax", "segment", lambda line: line[:-3] + " " + line[-3:])
    changed("segment-space-after", "syntax", "segment", lambda line: line + " ")
    changed("segment-field-less", "syntax", "segment", lambda line: line[:-3])
    changed("segment-field-more", "syntax", "segment", lambda line: line + " 12")
    added("segment-fingerprints-leading-zero", "syntax", segments=[("000001", "010", 12)])
    added("segment-documents-leading-zero", "syntax", segments=[("000001", 10, "012")])
    added("segment-documents-not-a-number", "syntax", segments=[("000001", 10, "x")])
    added("segment-documents-fewer", "count", segments=[("000001", 10, 9)])
    added("segment-documents-with-none", "count", id_type="none", segments=[("000001", 10, 1)])
    added("cover-4-k-4", "cover", bits=64, k=4, title="4", tables=scheme(64, 4, 1))
    added("cover-2-1-1-k-4", "cover", k=4)
    added("cover-4-1-1-k-8", "cover", bits=64, k=8, title="4:1:1", tables=scheme(64, 4, 1, 1))
    added("cover-16-k-4", "cover", bits=64, k=4, title="16", tables=scheme(64, 4, 1, inner=(4, 1)))
    added("cover-20-k-4", "cover", bits=64, k=4, title="20", tables=scheme(64, 6, 3))
    added("cover-20-without-last", "cover", bits=64, title="masks", tables=scheme(64, 6, 3)[:-1])
    added("cover-k-1-one-bit", "cover", bits=64, k=1, title="masks", tables=[(1, 0)])
    added("cover-k-16", "cover", bits=64, k=16, title="16:1", tables=scheme(64, 16, 1))
    added("cover-shared-bit", "cover", k=1, title="masks", tables=[(0xff80, 0), (0x00ff, 0)])
    added("cover-radius-of-one-less", "cover", bits=64, k=7, title="masks",
          tables=scheme(64, 4, 1, 1)[:-1] + scheme(64, 4, 1)[-1:])


def sums():
    numbers = Numbers(5)
    documents = b"".join(struct.pack("<Q", numbers.bits(64)) for _ in range(1200))
    for name, length in (("empty", 0), ("one-byte", 1), ("one-page", 4096), ("one-page-and-one-byte", 4097),
                         ("last-page-not-full", 9000)):
        add("sums", f"sums-{name}", sums_data(numbers.uuid(), documents[:length]))
    good = sums_data(numbers.uuid(), documents[:8192])

    def add_broken(name, fault, data):
        add("sums", f"sums-{name}", data, fault)

    def length(value):
        return sums_header(patched(good, 32, struct.pack("<Q", value)))

    add_broken("empty-file", "magic", b"")
    add_broken("magic", "magic", sums_header(patched(good, 0, 1)))
    add_broken("version-1", "version", sums_header(patched(good, 8, 1)))
    add_broken("version-1-all-else-broken", "version", b"idxdsums\1\0\0\0\xff")
    add_broken("size-12-bytes", "size", good[:12])
    add_broken("size-63-bytes", "size", good[:63])
    add_broken("reserved-12", "reserved", sums_header(patched(good, 12, 1)))
    add_broken("reserved-15", "reserved", sums_header(patched(good, 15, 0x80)))
    add_broken("reserved-40", "reserved", sums_header(patched(good, 40, 1)))
    add_broken("reserved-55", "reserved", sums_header(patched(good, 55, 0x80)))
    add_broken("checksum-uuid", "checksum", patched(good, 16, 1))
    add_broken("checksum-length", "checksum", patched(good, 32, 1))
    add_broken("checksum-itself", "checksum", patched(good, 63, 0x80))
    add_broken("size-no-page-sums", "size", good[:64])
    add_broken("size-one-byte-less", "size", good[:-1])
    add_broken("size-one-byte-more", "size", good + b"\0")
    add_broken("size-one-sum-more", "size", good + bytes(8))
    add_broken("size-length-one-page-less", "size", length(4096))
    add_broken("size-length-one-byte-more", "size", length(8193))
    add_broken("size-length-0", "size", length(0))
    add_broken("size-length-2-61-pages", "size", length(2**64 - 4096))
    add_broken("size-length-2-64-less-one", "size", sums_header(patched(good[:64], 32, b"\xff" * 8)))


def two_segments():
    """A whole index, but for its document maps; listed as reader.py prints it."""
    numbers, f = Numbers(6), 16
    tables = scheme(f, 2, 1, 1)
    first = numbers.distinct(60, f)
    second = sorted(set(first[::10]) | set(numbers.distinct(40, f)))
    segments = [(1, numbers.uuid(), first), (2, numbers.uuid(), second)]
    lines = manifest_lines(numbers, f, 3, "text", None, "2:1:1", tables, [])
    listed = []
    for number, uuid, fingerprints in segments:
        lines.append(f"segment {number:06} {uuid_text(uuid)} {len(fingerprints)} {len(fingerprints) + 5}")
        for i, (mask, radius) in enumerate(tables):
            values = sorted(permute(fingerprint, mask, f) for fingerprint in fingerprints)
            table = Table(f, DELTA if number == 1 else XOR, values, mask, radius, i, uuid)
            assert sorted(table.plain()) == [as_text(fingerprint, f) for fingerprint in fingerprints]
            name = f"{number:06}/table-{i:02}.tbl"
            write(f"valid/two-segments.idx/{name}", table.data())
            listed += [name] + table.plain()
    write("valid/two-segments.idx/manifest", manifest_data(lines))
    write("valid/two-segments.txt", "".join(line + "\n" for line in listed).encode())


def main():
    for folder in ("valid", "invalid"):
        shutil.rmtree(os.path.join(VECTORS, folder), ignore_errors=True)
    assert permute(0b00011011, 0x3c, 8) == 0b01100011  # chapter 3: cdefabgh from abcdefgh
    valid_tables()
    blocks()
    manifests()
    sums()
    two_segments()
    invalid_tables()
    rows = sorted(ROWS, key=lambda row: row[2] != "ok")
    rows.insert(0, ("file", "kind", "fault", "fingerprints"))
    write("vectors.tsv", "".join("\t".join(row) + "\n" for row in rows).encode())


if __name__ == "__main__":
    main()
