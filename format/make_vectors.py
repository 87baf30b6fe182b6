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

def count_positions(values, f):
    counts = [0] * 64
    for y, x in zip(values, values[1:]):
        counts[f - (x ^ y).bit_length()] += 1
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

def bits_needed(values, f, lengths):
    """In an xor block."""
    total = 80
    for y, x in zip(values, values[1:]):
        below = (x ^ y).bit_length() - 1
        total += lengths[f - 1 - below] + below
    return total


def block_of_bits(stream, block_size):
    """What does not fit is cut off."""
    return bytearray((stream & (1 << 8 * block_size) - 1).to_bytes(block_size, "little"))


def xor_block(values, f, lengths, block_size):
    words = code_words(lengths)
    stream, at = len(values) | values[0] << 64 - f << 16, 80
    for y, x in zip(values, values[1:]):
        d = x ^ y
        below = d.bit_length() - 1
        position = f - 1 - below
        for i in range(lengths[position]):
            stream |= (words[position] >> lengths[position] - 1 - i & 1) << at
            at += 1
        stream |= d - (1 << below) << at
        at += below
    return block_of_bits(stream, block_size)


def delta_block(values, f, width, block_size):
    """Also with differences that are none, as long as they are not negative."""
    stream = len(values) | width << 10 | (values[0] << 64 - f & ALL_BITS) << 16
    for i in range(1, len(values)):
        d = values[i] - values[0]
        stream |= 1 << 80 + (d >> width) + i - 1
        stream |= (d & (1 << width) - 1) << 8 * block_size - i * width
    return block_of_bits(stream, block_size)


def fitting(values, width, block_size):
    """How many of the values, from the first one on, fit into a delta block with low parts of this width."""
    m = 1
    while m < min(len(values), 1023) and \
            m * (width + 1) + (values[m] - values[0] >> width) <= 8 * (block_size - 10):
        m += 1
    return m


def best_width(values, block_size):
    counts = [fitting(values, width, block_size) for width in range(57)]
    return counts.index(max(counts))


def cut_into_blocks(values, f, codec, lengths, block_size):
    """As many values in each block as fit."""
    groups = []
    if codec == DELTA:
        while values:
            n = fitting(values, best_width(values, block_size), block_size)
            groups.append(values[:n])
            values = values[n:]
        return groups
    first, used = 0, 80
    for i in range(1, len(values)):
        more = bits_needed(values[i - 1:i + 1], f, lengths) - 80
        if used + more > 8 * block_size:
            groups.append(values[first:i])
            first, used, more = i, 80, 0
        used += more
    return groups + [values[first:]] if values else []


# Chapter 5: table files

LINE_CELLS, LINE_BLOCKS = 448, 56


def directory_of(keys):
    """The lines, each a list of first, crowded, and the cells as one number of 448 bits."""
    count = -(-len(keys) // LINE_BLOCKS)
    lines = [[0, 0, 0] for _ in range(count)]
    for line in range(count):
        cells = [(key * count & ALL_BITS) * LINE_CELLS >> 64 for key in keys if key * count >> 64 == line]
        lines[line][0] = sum(key * count >> 64 < line for key in keys)
        lines[line][1] = 0 if len(set(cells)) == len(cells) else len(cells)
        for cell in cells:
            lines[line][2] |= 1 << cell
    return lines


class Table:
    """A table, from values that are permuted already but not left-aligned; its parts may be broken before data()."""

    def __init__(self, f, codec, values, mask=None, radius=0, number=0, uuid=bytes(range(16)), block_size=128,
                 lengths=None, groups=None, widths=None):
        self.f, self.codec, self.block_size = f, codec, block_size
        self.mask = 2**f - 1 if mask is None else mask
        self.radius, self.number, self.uuid, self.values = radius, number, uuid, values
        self.fingerprints = len(values)
        self.lengths = lengths or (code_lengths(count_positions(values, f)) if codec == XOR else [0] * 64)
        self.groups = groups or cut_into_blocks(values, f, codec, self.lengths, block_size)
        if codec == XOR:
            self.blocks = [xor_block(group, f, self.lengths, block_size) for group in self.groups]
        else:
            # the smallest width for what may follow is the smallest one for what the block holds, too
            self.widths = widths or [best_width(group, block_size) for group in self.groups]
            self.blocks = [delta_block(group, f, width, block_size) for group, width in zip(self.groups, self.widths)]
        self.keys = [group[-1] << 64 - f for group in self.groups]
        self.directory = directory_of(self.keys)
        self.union, self.intersection = 0, ALL_BITS if values else 0
        for value in values:
            self.union |= unpermute(value, self.mask, f)
            self.intersection &= unpermute(value, self.mask, f)
        below = f - bin(self.mask).count("1")
        sizes = [len(list(group)) for _, group in itertools.groupby(values, lambda value: value >> below)]
        self.largest_group = max(sizes, default=0)
        self.pairs = sum(size * (size - 1) // 2 for size in sizes)

    def data(self):
        header = b"idxtable" + struct.pack("<II16sQBBBBIQQ", 0, self.number, self.uuid, self.mask, self.f, self.radius,
                                           self.codec, 0, self.block_size, self.fingerprints,
                                           len(self.blocks)) + bytes(self.lengths)
        header += struct.pack("<QQQQ", self.union, self.intersection, self.largest_group, self.pairs)
        directory = b"".join(struct.pack("<II", first, crowded) + cells.to_bytes(56, "little")
                             for first, crowded, cells in self.directory)
        pages = up_to_page(header) + up_to_page(b"".join(self.blocks)) + up_to_page(directory)
        return sealed(pages + bytes((len(pages) - PAGE) // PAGE * 8))

    def plain(self):
        return [as_text(unpermute(value, self.mask, self.f), self.f) for value in self.values]

    def crowded(self):
        return [crowded for _, crowded, _ in self.directory]


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

def manifest_lines(uuids, bits=16, k=3, id_type="text", by_id="no", recipe="simhash, words", title="2:1:1",
                   tables=((0xff00, 1), (0x00ff, 1)), segments=(("000001", 10, 12),), sequence=0):
    """The lines of a manifest, without the checksum's."""
    return ["idx-index 0", f"uuid {uuid_text(uuids.uuid())}", f"bits {bits}", f"k {k}", f"id-type {id_type}",
            f"by-id {by_id}",
            "recipe" if recipe is None else f"recipe {recipe}", f"scheme {title}",
            *(f"table {as_text(mask, bits)} {radius}" for mask, radius in tables),
            f"sequence {sequence}",
            *(f"segment {number} {uuid_text(uuids.uuid())} {fingerprints} {documents} {removed[0] if removed else 0}"
              for number, fingerprints, documents, *removed in segments)]


def with_checksum(data):
    return data + b"checksum %016x\n" % checksum(data)


def manifest_data(lines):
    return with_checksum("".join(line + "\n" for line in lines).encode())


# Chapter 8: groups, and the checksums of the document map

def group_width(fingerprints):
    """The width of low parts with which the differences take the fewest bits, the smallest of several."""
    n, last = len(fingerprints), fingerprints[-1] - fingerprints[0]
    costs = [(n - 1) * (width + 1) + (last >> width) for width in range(57)]
    return costs.index(min(costs)), min(costs)


def group_bytes(entries, width=None, block_size=None, b=None, base=None):
    """A group of documents, as the writer makes it but for what is given."""
    fingerprints, values = [x for x, _ in entries], [value for _, value in entries]
    best, bits = group_width(fingerprints)
    size = block_size or max(64, 10 + -(-bits // 8))
    base = min(values) if base is None else base
    b = (max(values) - base).bit_length() if b is None else b
    packed = sum((value - base) << i * b for i, value in enumerate(values)) & (1 << len(values) * b) - 1
    block = delta_block(fingerprints, 64, best if width is None else width, size)
    return struct.pack("<BQ", b, base) + bytes(block) + packed.to_bytes(-(-len(values) * b // 8), "little")


def varied(number, size=1):
    """A number, seven bits a byte, in at least that many bytes."""
    if number < 128 and size <= 1:
        return bytes([number])
    return bytes([number & 127 | 128]) + varied(number >> 7, size - 1)


def token(own=b"", piece=None):
    """A token: bytes of the ID itself, and a piece of the dictionary as (place, length)."""
    a, b = min(len(own), 15), min(piece[1] - 3, 15) if piece else 0
    data = bytes([16 * a + b]) + (varied(len(own) - 15) if a == 15 else b"") + own
    if piece:
        data += struct.pack("<H", piece[0]) + (varied(piece[1] - 18) if b == 15 else b"")
    return data


def ids_bytes(*ids):
    """A group of IDs, each as a number of bytes shared and tokens."""
    return struct.pack("<H", len(ids)) + b"".join(varied(shared) + b"".join(tokens) for shared, *tokens in ids)


def sums_data(uuid, documents):
    """docs.sum for a docs.mdb of these bytes."""
    header = sums_header(b"idxdsums" + struct.pack("<II16sQ16x", 0, 0, uuid, len(documents)))
    pages = [documents[i:i + PAGE] for i in range(0, len(documents), PAGE)]
    return header + b"".join(struct.pack("<Q", checksum(page)) for page in pages)


def sums_header(data):
    """docs.sum with the checksum of its header made right."""
    return data[:56] + struct.pack("<Q", checksum(data[:56])) + data[64:]


# Chapter 12: records, and removals of segments

ADD, REMOVE_DOCUMENT, REMOVE_FINGERPRINT = 0, 1, 2


def record_bytes(uuid, sequence, operation, fingerprint, own):
    rest = struct.pack("<BQ", operation, fingerprint) + own
    place = checksum(uuid + struct.pack("<Q", sequence))
    return struct.pack("<Q", xxhash.xxh3_64_intdigest(rest, seed=place)) + rest


def removed_data(uuid, id_type, removed):
    """The file of these removals, each a fingerprint, an operation and an ID, whatever their order."""
    data = b""
    for fingerprint, operation, own in removed:
        data += struct.pack("<QB", fingerprint, operation)
        data += struct.pack("<I", len(own)) if id_type == "text" and operation == REMOVE_DOCUMENT else b""
        data += own
    return removed_whole(uuid, len(removed), data)


def removed_whole(uuid, count, data):
    header = b"idxremov" + struct.pack("<II16sQQQ8x", 0, 0, uuid, count, len(data), checksum(data))
    return removed_header(header + data)


def removed_header(data):
    """The file with the checksum of its header made right."""
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
    file = f"{folder}/{name}.{dict(table='tbl', sums='sum').get(kind, kind)}"
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


def runs_of(data):
    """Bytes as people can read them."""
    runs = []
    for byte, run in itertools.groupby(data):
        count = len(list(run))
        runs.append(f"{byte:02x}" if count == 1 else f"{byte:02x}*{count}")
    return " ".join(runs)


def block_text(codec, f, lengths, block):
    return (f"codec {CODECS[codec]}\nbits {f}\nblock-size {len(block)}\nlengths {' '.join(map(str, lengths))}\n"
            f"block {runs_of(block)}\n").encode()


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
        if codec == DELTA:
            width = best_width(values, 128)
            n = fitting(values, width, 128)
            if (n - 1) * (width + 1) + (values[n - 1] - values[0] >> width) == 944:
                return values[:n], values[:n + 1]
            continue
        for n in range(30, 45):
            lengths, more = (code_lengths(count_positions(values[:m], f)) for m in (n, n + 1))
            if bits_needed(values[:n], f, lengths) == 1024 < bits_needed(values[:n + 1], f, more):
                return values[:n], values[:n + 1]


def one_bit_too_long(f):
    """Values that need one bit more than an xor block of 128 bytes has."""
    for seed in itertools.count():
        values = Numbers(seed).distinct(45, f)
        for n in range(30, 45):
            if bits_needed(values[:n], f, code_lengths(count_positions(values[:n], f))) == 1025:
                return values[:n]


def skewed(f, numbers):
    """Values whose positions are as frequent as the Fibonacci numbers, the rarest 14 of them: codes want 13 bits."""
    fibonacci = [1, 1]
    while len(fibonacci) < 14:
        fibonacci.append(fibonacci[-1] + fibonacci[-2])
    prefixes = [0]
    for depth in range(f):  # a pair of neighbours differs first at a position where a prefix goes on both ways
        both = set()
        while depth < 14 and len(both) < fibonacci[depth]:
            both.add(prefixes[numbers.below(len(prefixes))])
        prefixes = [prefix << 1 | bit for prefix in prefixes
                    for bit in ((0, 1) if prefix in both else (numbers.bits(1),))]
    return prefixes


def between(numbers, low, high, count):
    """That many distinct numbers from low on, below high, sorted."""
    found = set()
    while len(found) < count:
        found.add(low + numbers.below(high - low))
    return sorted(found)


def cell_start(cell, lines):
    """The least number of 64 bits that falls into this cell, counted from the first line's first."""
    return -(-(cell << 64) // (LINE_CELLS * lines))


def ending_at(keys, numbers):
    """Values of 64 bits of which the writer makes delta blocks of 64 bytes with these keys."""
    values, before, first = [], 0, []
    for key, following in zip(keys, keys[1:] + [ALL_BITS]):
        for _ in range(1000):
            group = first + between(numbers, (first or [before])[0] + 1, key, 4 + numbers.below(6)) + [key]
            after = between(numbers, key + 1, following, 1)
            if max(fitting(group + after, width, 64) for width in range(57)) == len(group):
                break
        else:
            sys.exit("no block found")
        values += group
        before, first = key, after
    return values


def two_lines(numbers, mirrored=False):
    """Values of 64 bits for more than 56 blocks of 64 bytes: the first line crowded, the second not, or mirrored."""
    dense, apart = between(numbers, 1 << 40, 1 << 58, 230), between(numbers, 1 << 63, 1 << 64, 250)
    return sorted(ALL_BITS - value for value in dense + apart) if mirrored else dense + apart


def valid_tables():
    numbers = Numbers(1)

    def more(mask, radius, number):
        return dict(mask=mask, radius=radius, number=number, uuid=numbers.uuid())

    for codec in (XOR, DELTA):
        c = CODECS[codec]
        add_table(f"{c}-empty", 16, codec, [], **more(0xf00f, 0, 0))
        full, fuller = exactly_full(codec, 32)
        add_table(f"{c}-full-block", 32, codec, full, **more(0xffff0000, 0, 3))
        table = add_table(f"{c}-full-block-and-one", 32, codec, fuller, **more(0x80f00f01, 0, 3))
        assert codec == XOR or [len(group) for group in table.groups] == [len(full), 1]
        add_table(f"{c}-f1-both", 1, codec, [0, 1], **more(1, 0, 0))
        mask = 0x5555555555555555 if codec == XOR else 1
        add_table(f"{c}-f63", 63, codec, numbers.distinct(150, 63), **more(mask, 1, 5))
        add_table(f"{c}-f64-first-and-last", 64, codec, [0] + numbers.distinct(150, 64) + [ALL_BITS],
                  **more(0xf0f0f0f0f0f0f0f0, 1, 255))
        add_table(f"{c}-f10-all-values", 10, codec, list(range(1024)), block_size=128 if codec == XOR else 64,
                  **more(0x155, 2, 9))
        for f, block_size, count in ((33, 256, 120), (41, 512, 200), (48, 2048, 500), (64, 4096, 600)):
            if (codec, block_size) not in ((DELTA, 512), (XOR, 256)):
                table = add_table(f"{c}-block-size-{block_size}", f, codec, numbers.distinct(count, f),
                                  block_size=block_size, **more((1 << f) - (1 << f - f // 4), 1, 14))
                assert len(table.blocks) > 1

    values = skewed(20, numbers)
    counts = count_positions(values, 20)
    assert longest_unlimited(counts) > 11 and max(code_lengths(counts)) == 11
    add_table("xor-code-length-11", 20, XOR, values, block_size=1024, **more(0x0ff0f, 1, 8))
    add_table("xor-one", 16, XOR, [0xbeef], **more(0x0ff0, 1, 1))
    add_table("delta-one-f1", 1, DELTA, [1], **more(1, 3, 0))
    # one position only
    add_table("xor-one-symbol", 16, XOR, [0x1234, 0x1274], **more(0xf0f0, 0, 0))
    # a delta block of as many fingerprints as it may have at most, and another one
    table = add_table("delta-1023-and-one", 10, DELTA, list(range(1024)), block_size=512, **more(0x2aa, 0, 0))
    assert [len(group) for group in table.groups] == [1023, 1] and table.widths == [0, 0]
    table = add_table("delta-1023-in-each-block", 14, DELTA, [8 * i + numbers.bits(3) for i in range(2047)],
                      block_size=1024, **more(0x3ff0, 2, 0))
    assert [len(group) for group in table.groups] == [1023, 1023, 1] and table.widths[0] > 0
    # a difference of 64 bits needs the widest low parts that there are
    table = add_table("delta-widest", 64, DELTA, [0, ALL_BITS], block_size=64, **more(0xff, 0, 0))
    assert table.widths == [56]
    # prefixes that many share, and few
    values = sorted({numbers.bits(3) << 13 | numbers.bits(13) for _ in range(100)} | set(range(0x6000, 0x6010)))
    table = add_table("delta-groups", 16, DELTA, values, **more(0x8421, 1, 2))
    assert table.largest_group > 16 and table.pairs > 300
    # union and intersection are not what they are of permuted fingerprints
    values = [permute(value, 0x00f0, 16) for value in (0x0121, 0x0923, 0x4123)]
    table = add_table("xor-union-and-intersection", 16, XOR, sorted(values), **more(0x00f0, 1, 2))
    assert (table.union, table.intersection) == (0x4923, 0x0121)

    # directories: up to 56 blocks have one line
    for codec, f, blocks, lines in ((DELTA, 64, 56, 1), (XOR, 60, 57, 2)):
        drawn = (numbers.distinct(count, f) for count in itertools.cycle(range(420, 500)))
        values = next(values for values in drawn if len(Table(f, codec, values, block_size=64).blocks) == blocks)
        table = add_table(f"{CODECS[codec]}-{blocks}-blocks", f, codec, values, block_size=64, **more(0xf0f, 1, 1))
        assert len(table.directory) == lines
    # keys that are the last in their cell, and the first
    cells = sorted({*range(13, 896, 15), 447, 895} - {448})
    keys = [cell_start(cell + i % 2, 2) - i % 2 for i, cell in enumerate(cells)]
    keys[cells.index(447)] = 2**63 - 1
    table = add_table("delta-keys-at-borders", 64, DELTA, ending_at(keys, numbers), block_size=64, **more(255, 0, 6))
    assert table.keys == keys and table.crowded() == [0, 0]
    # crowded lines
    table = add_table("delta-crowded-first", 64, DELTA, two_lines(numbers), block_size=64, **more(1 << 63, 0, 7))
    assert table.crowded()[0] and table.crowded()[1:] == [0]
    table = add_table("xor-crowded-last", 64, XOR, two_lines(numbers, True), block_size=64, **more(1, 0, 7))
    assert table.crowded()[1] and table.crowded()[:1] == [0]
    line = 2**64 // 3
    values = between(numbers, 0, line, 240) + between(numbers, line + 2**60, line + 2**60 + 2**57, 520)
    values += between(numbers, 2 * line + 1, 2**64, 240)
    table = add_table("delta-crowded-middle", 64, DELTA, values, block_size=64, **more(0x8000000000000001, 0, 7))
    assert [crowded > 0 for crowded in table.crowded()] == [False, True, False]
    # all keys in the last line: the other holds none
    values = [2**64 - 2**58 + value for value in between(numbers, 0, 2**58, 530)]
    table = add_table("delta-all-in-last-line", 64, DELTA, values, block_size=64, **more(2**32 - 1, 0, 7))
    assert table.directory[0] == [0, 0, 0] and table.crowded() == [0, len(table.blocks)]
    # one line that holds two keys in one cell, and few others
    values = numbers.distinct(40, 64)
    values = sorted(set(values) | set(between(numbers, values[20], values[20] + 2**50, 14)))
    table = add_table("xor-crowded-by-two", 64, XOR, values, block_size=64, **more(0xffff, 0, 7))
    assert table.crowded() == [len(table.blocks)] and bin(table.directory[0][2]).count("1") == len(table.blocks) - 1

    # valid, but not as the writer of chapters 6 and 7 makes them
    values = numbers.distinct(150, 32)
    add_table("xor-foreign-code", 32, XOR, values, lengths=[5] * 32 + [0] * 32, **more(0xff00ff, 0, 15))
    add_table("delta-foreign-short-blocks", 32, DELTA, values[:50],
              groups=[values[:1], values[1:3], values[3:10], values[10:20], values[20:50]], **more(0xff00ff, 0, 16))
    add_table("xor-foreign-one-in-each-block", 32, XOR, values[:4], groups=[[v] for v in values[:4]],
              lengths=[0] * 64, **more(0xff00ff, 0, 20))
    add_table("delta-foreign-widths", 32, DELTA, values, groups=[values[i:i + 10] for i in range(0, 150, 10)],
              widths=[*range(28, 35), 40, 48, 53, 54, 55, 56, 31, 30], block_size=128, **more(0xff00ff, 0, 21))
    # one fingerprint a block, on both sides of cells' borders, the lines' borders too
    cells = sorted({*range(2, 448, 23), 448, *range(470, 880, 23), 896, *range(903, 1344, 23)})
    values = [0] + [cell_start(cell, 3) - i for cell in cells for i in (1, 0)] + [ALL_BITS]
    table = add_table("delta-foreign-keys-at-borders", 64, DELTA, values, block_size=64,
                      groups=[[value] for value in values], widths=[i % 57 for i in range(len(values))],
                      **more(0xf0f0, 2, 22))
    assert table.crowded() == [0, 0, 0]


def invalid_tables():
    def add_broken(name, fault, data):
        add("table", f"table-{name}", data, fault)

    numbers = Numbers(2)
    uuid = numbers.uuid()
    empty = Table(16, XOR, [], mask=0xf00f, uuid=uuid).data()
    three = {codec: numbers.distinct(85, 32) for codec in (XOR, DELTA)}
    skew = two_lines(numbers)

    def fresh(codec=XOR):
        """A table of three blocks."""
        table = Table(32, codec, three[codec], mask=0xff0000ff, uuid=uuid)
        assert len(table.blocks) == 3
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
    header("reserved-first-byte", "reserved", 160, "B", 1)
    header("reserved-last-byte", "reserved", 4087, "B", 0x80)
    header("reserved-43", "reserved", 43, "B", 0x80)
    header("f-0", "bits", 40, "B", 0)
    header("f-65", "bits", 40, "B", 65)
    header("mask-0", "mask", 32, "Q", 0)
    header("mask-too-wide", "mask", 32, "Q", 0x1000f)
    header("mask-too-wide-f63", "mask", 32, "Q", 2**63, data=Table(63, XOR, []).data())
    header("radius-4", "radius", 41, "B", 4)
    header("codec-2", "codec", 42, "B", 2)
    for size in (0, 32, 192, 8192):
        header(f"block-size-{size}", "block-size", 44, "I", size)
    header("count-no-blocks", "count", 48, "QQ", 1, 0)
    header("count-fewer-fingerprints-than-blocks", "count", 48, "QQ", 2, 3)
    header("count-no-fingerprints", "count", 48, "QQ", 0, 1)
    header("count-most-in-blocks-and-one", "count", 48, "QQ", 2 * 945 + 1, 2)
    header("count-f1-three", "count", 48, "QQ", 3, 1, data=Table(1, XOR, [], mask=1).data())
    header("count-2-32-blocks", "count", 48, "QQ", 2**32, 2**32, data=Table(64, XOR, []).data())
    header("count-2-57-blocks", "count", 48, "QQ", 2**57, 2**57, data=Table(64, XOR, []).data())

    # code lengths, f = 16
    def lengths(name, values, data=empty):
        header(name, "code", 64, "64s", bytes(values), data=data)

    lengths("code-length-12", ladder(12))
    lengths("code-incomplete", lengths_of(p0=2, p1=2, p2=2))
    lengths("code-over-full", lengths_of(p0=1, p1=2, p2=2, p3=11))
    lengths("code-single-of-length-2", lengths_of(p5=2))
    lengths("code-position-f", lengths_of(p15=1, p16=1))
    lengths("delta-code", lengths_of(p0=1, p15=1), data=Table(16, DELTA, []).data())
    lengths("delta-code-last-length", lengths_of(p63=1), data=Table(64, DELTA, []).data())

    # the size of the file
    add_broken("size-one-byte-less", "size", whole[:-1])
    add_broken("size-one-page-less", "size", whole[:-PAGE])
    header("size-one-block-in-header-only", "size", 48, "QQ", 1, 1)
    add_broken("size-empty-and-one-byte", "size", empty + b"\0")
    header("size-most-blocks", "size", 44, "IQQ", 4096, 2**32 - 1, 2**32 - 1, data=Table(64, XOR, []).data())
    header("code-before-size", "code", 64, "B", 12, data=empty + b"\0")

    # checksums of pages
    add_broken("checksum-blocks", "checksum", patched(whole, PAGE, 1))
    add_broken("checksum-directory", "checksum", patched(whole, 2 * PAGE, 1))
    add_broken("checksum-itself", "checksum", patched(whole, -1, 0x80))

    # padding between sections
    def padding(name, data, offset, bit):
        add_broken(f"padding-{name}", "padding", sealed(patched(data, offset, bit)))

    padding("after-blocks-first", whole, PAGE + 3 * 128, 1)
    padding("after-directory-last", whole, 3 * PAGE - 1, 0x80)

    # blocks
    def broken(name, fault, codec, *changes):
        table = fresh(codec)
        for change in changes:
            change(table)
        add_broken(f"{CODECS[codec]}-{name}", fault, table.data())

    def set_u16(block, value):
        block[0:2] = struct.pack("<H", value)

    def set_first(block, value):
        block[2:10] = struct.pack("<Q", value)

    def swap(items):
        items[0], items[1] = items[1], items[0]

    def flip(items, i, mask):
        items[i] ^= mask

    def add_to(name, value):
        return lambda table: setattr(table, name, getattr(table, name) + value)

    def pad(table):
        """A bit more behind the last high part of a delta table's last block."""
        group, width = table.groups[2], table.widths[2]
        at = 80 + (group[-1] - group[0] >> width) + len(group) - 1
        assert at < 1024 - (len(group) - 1) * width
        table.blocks[2][at // 8] |= 1 << at % 8

    def one_more(table):
        """The last block of a delta table has one fingerprint more than it has high parts."""
        set_u16(table.blocks[2], len(table.groups[2]) + 1 | table.widths[2] << 10)

    broken("block-count-0", "count", XOR, lambda t: set_u16(t.blocks[2], 0))
    broken("sum-of-counts-one-less", "count", XOR, add_to("fingerprints", 1))
    broken("sum-of-counts-one-more", "count", DELTA, add_to("fingerprints", -1))
    broken("order-between-blocks", "order", XOR, lambda t: swap(t.blocks))
    broken("order-equal-between-blocks", "order", DELTA, lambda t: set_first(t.blocks[1], t.keys[0]))
    # a block is decoded whole before its order is looked at, and its padding comes last
    broken("overrun-before-order", "overrun", DELTA, one_more, lambda t: set_first(t.blocks[2], t.keys[0]))
    broken("order-before-padding", "order", DELTA, pad, lambda t: set_first(t.blocks[2], t.keys[0]))
    broken("padding-in-last-block", "padding", DELTA, pad)
    table = Table(16, XOR, [1, 2, 4, 6], lengths=lengths_of(p15=1), groups=[[1], [2], [4], [6]])
    set_u16(table.blocks[2], 3)
    set_first(table.blocks[2], 0)
    table.blocks[2][10] = 2  # a difference that is fine, then a code that is not assigned
    add_broken("xor-code-before-order", "code", table.data())

    # the directory: its first line is crowded, its second is not
    def broken_line(name, line, field, change):
        table = Table(64, DELTA, skew, mask=0xff0000ff, uuid=uuid, block_size=64)
        crowded, sparse = table.directory
        assert crowded[0] == sparse[1] == 0 < crowded[1] == sparse[0]
        table.directory[line][field] = change(table.directory[line][field])
        add_broken(f"directory-{name}", "directory", table.data())

    broken_line("first-one-more-in-first-line", 0, 0, lambda first: 1)
    broken_line("first-one-less", 1, 0, lambda first: first - 1)
    broken_line("crowded-0", 0, 1, lambda crowded: 0)
    broken_line("crowded-one-more", 0, 1, lambda crowded: crowded + 1)
    sparse = Table(64, DELTA, skew, block_size=64).directory[1]
    broken_line("not-crowded-all-keys", 1, 1, lambda crowded: bin(sparse[2]).count("1"))
    broken_line("cell-missing", 1, 2, lambda cells: cells & cells - 1)
    broken_line("cell-missing-in-crowded-line", 0, 2, lambda cells: cells & cells - 1)
    broken_line("cell-447-more", 0, 2, lambda cells: cells | 1 << 447)
    broken("directory-cell-beside", "directory", XOR, lambda t: flip(t.directory[0], 2, 3 * (
        t.directory[0][2] & -t.directory[0][2])))

    # the statistics
    for codec, field, value in ((XOR, "union", -1), (DELTA, "intersection", 1), (XOR, "largest_group", 1),
                                (DELTA, "pairs", -1)):
        values = sorted({0x10 | numbers.bits(16) for _ in range(60)})
        table = Table(16, codec, values, mask=0x0321, uuid=uuid)
        assert table.union & 1 and not table.intersection & 1 and table.largest_group > 1
        add_to(field, value)(table)
        add_broken(f"{CODECS[codec]}-statistics-{field.replace('_', '-')}", "statistics", table.data())
    values = [0x8001, 0x8011, 0x9001]
    table = Table(16, XOR, values, mask=0x00ff, uuid=uuid)
    table.union = values[0] | values[1] | values[2]
    add_broken("statistics-union-permuted", "statistics", table.data())
    table = fresh()
    table.directory[0][0], table.pairs = 1, 2**64 - 1
    add_broken("directory-before-statistics", "directory", table.data())
    for i, (name, value) in enumerate((("union", 1), ("intersection", ALL_BITS), ("largest-group", 1), ("pairs", 1))):
        header(f"statistics-empty-{name}", "statistics", 128 + 8 * i, "Q", value)


def blocks():
    def add_valid(name, codec, f, values, lengths, block):
        add("block", f"block-{name}", block_text(codec, f, lengths, block),
            fingerprints=[as_text(value, f) for value in values])
        return lengths, block

    def add_xor(name, f, values, block_size=128, lengths=None):
        lengths = lengths or code_lengths(count_positions(values, f))
        return add_valid(name, XOR, f, values, lengths, xor_block(values, f, lengths, block_size))

    def add_delta(name, f, values, width=None, block_size=64):
        width = best_width(values, block_size) if width is None else width
        assert fitting(values, width, block_size) == len(values)
        return add_valid(name, DELTA, f, values, [0] * 64, delta_block(values, f, width, block_size))[1]

    def add_broken(name, fault, codec, f, lengths, block, *changes):
        block = bytearray(block)
        for at, new in changes:
            block[at:at + len(new)] = new
        add("block", f"block-{name}", block_text(codec, f, lengths, block), fault)

    def broken_delta(name, fault, f, block, *changes, lengths=(0,) * 64):
        add_broken(f"delta-{name}", fault, DELTA, f, lengths, block, *changes)

    def bits_set(block, *bits):
        block = bytearray(block)
        for bit in bits:
            assert not block[bit // 8] >> bit % 8 & 1
            block[bit // 8] |= 1 << bit % 8
        return block

    def counts(n, width):
        return 0, struct.pack("<H", n | width << 10)

    # the examples of chapter 7
    example = [0x12, 0x15, 0x16, 0x96, 0x97]
    block = add_delta("example-delta", 8, example, 6)
    assert block == bytes.fromhex("0518 0000000000000012 33") + bytes(50) + bytes.fromhex("05410c")
    assert best_width(example, 64) == 0 and all(fitting(example, width, 64) == 5 for width in range(8))
    add_delta("example-delta-of-writer", 8, example)
    broken_delta("count-0", "count", 8, block, counts(0, 6))
    broken_delta("count-0-width-63", "count", 8, block, counts(0, 63))
    broken_delta("first-low-bit", "bits", 8, block, (8, b"\x80"))
    broken_delta("bits-before-count", "bits", 8, block, (2, b"\1"), counts(0, 63))
    broken_delta("code", "code", 8, block, lengths=lengths_of(p0=1))
    broken_delta("code-complete", "code", 8, block, (0, b"\0\0"), lengths=lengths_of(p0=2, p5=2, p6=2, p7=2))
    broken_delta("order", "order", 8, block, (61, b"\x04"))
    broken_delta("order-equal", "order", 8, block, (61, b"\x04\x41"))
    broken_delta("order-equal-to-first", "order", 8, block, (63, b"\0"))
    broken_delta("one-bit-too-few", "overrun", 8, block, (10, b"\x13"))
    broken_delta("no-bits", "overrun", 8, block, (10, b"\0"))
    broken_delta("padding-after-high-parts", "padding", 8, bits_set(block, 86))
    broken_delta("padding-before-low-parts", "padding", 8, bits_set(block, 487))
    lengths, block = add_xor("example-xor", 8, example, 64)
    assert lengths == lengths_of(p0=2, p5=2, p6=2, p7=2)
    assert block == bytes.fromhex("0500 0000000000000012 5e0003") + bytes(51)
    lengths, block = add_xor("example-xor-128", 8, example)
    add_broken("xor-count-0", "count", XOR, 8, lengths, block, (0, b"\0\0"))
    add_broken("xor-count-946", "count", XOR, 8, lengths, block, (0, struct.pack("<H", 946)))
    add_broken("xor-first-low-bit", "bits", XOR, 8, lengths, block, (8, b"\x80"))
    add_broken("xor-bits-before-count", "bits", XOR, 8, lengths, block, (8, b"\x80"), (0, b"\0\0"))
    add_broken("xor-order", "order", XOR, 8, lengths, block, (9, b"\x16"))
    add_broken("xor-padding-first", "padding", XOR, 8, lengths, block, (12, b"\x07"))
    add_broken("xor-padding-last", "padding", XOR, 8, lengths, block, (127, b"\x80"))

    numbers = Numbers(3)
    # xor
    lengths, block = add_xor("xor-one", 16, [0x1234])
    add_broken("xor-code-none-assigned", "code", XOR, 16, lengths, block, (0, b"\2"))
    add_broken("xor-one-padding-first", "padding", XOR, 16, lengths, block, (10, b"\1"))
    add_xor("xor-f1", 1, [0, 1])
    add_xor("xor-f3-all", 3, list(range(8)), 64)
    add_xor("xor-tail-of-63-bits", 64, [0, ALL_BITS], 64)
    # positions 0, 1, ... 6, so tails of 63 to 57 bits, none of which begins with a byte
    x = [0]
    for below in range(63, 56, -1):
        x.append(x[-1] + (1 << below) + (numbers.bits(48) | 1))
    assert count_positions(x, 64)[:7] == [1] * 7
    add_xor("xor-tails-of-63-to-57-bits", 64, x)
    add_xor("xor-full", 32, exactly_full(XOR, 32)[0])
    add_xor("xor-code-length-11", 12, [0] + [2**i for i in range(12)], lengths=ladder(11))
    add_xor("xor-f64-512", 64, numbers.distinct(20, 64), block_size=512)
    lengths, block = add_xor("xor-two", 16, [0x1234, 0x1235])
    add_broken("xor-code-not-assigned", "code", XOR, 16, lengths, block, (10, b"\1"))
    values = one_bit_too_long(32)
    lengths = code_lengths(count_positions(values, 32))
    add_broken("xor-overrun-by-one-bit", "overrun", XOR, 32, lengths, xor_block(values, 32, lengths, 128))
    # code lengths; the block itself needs none of them
    _, block = add_xor("xor-one-8000", 16, [0x8000])
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
    lengths = code_lengths(count_positions(range(1024), 10))
    values = next(list(range(first, last + 1)) for last in range(1024) for first in range(0, last, 2)
                  if bits_needed(range(first, last + 1), 10, lengths) == 1024 and last % 2 == 0)
    _, block = add_xor("xor-full-consecutive", 10, values, lengths=lengths)
    add_broken("xor-overrun-by-code", "overrun", XOR, 10, lengths, block, (0, struct.pack("<H", len(values) + 1)))

    # delta: one fingerprint, which leaves all bits to padding; widths, which it has no use for
    block = add_delta("delta-one", 16, [0x1234])
    broken_delta("one-padding-first", "padding", 16, bits_set(block, 80))
    broken_delta("one-padding-last", "padding", 16, bits_set(block, 511))
    add_delta("delta-one-width-56", 16, [0x1234], 56)
    for width in range(57, 64):
        broken_delta(f"width-{width}", "overrun", 16, block, counts(1, width))
    broken_delta("width-57-would-fit", "overrun", 64, delta_block([0, 1, 2], 64, 57, 64))
    # widths of low parts; the last high part is as high as there is room for it, or as f has bits
    for width in (0, 1, 8, 15, 31, 32, 33, 47, 55, 56):
        most = min((432 - 5 * (width + 1) << width) + (1 << width) - 1, 2**63)
        values = [first := numbers.bits(63)]
        values += sorted({first + 1 + numbers.below(most) for _ in range(4)} | {first + most})
        assert len(values) == 6
        add_delta(f"delta-width-{width}", 64, values, width)
    # a low part has more bits than a fingerprint
    add_delta("delta-width-more-than-f", 8, [0, 3, 255], 20)
    for f in (1, 2, 5, 8):
        add_delta(f"delta-f{f}-all", f, list(range(2**f)), None, 64 if f < 8 else 128)
    for f in (11, 31, 33, 47, 57, 63):
        add_delta(f"delta-f{f}", f, [0, *numbers.distinct(4, f), 2**f - 1])
    add_delta("delta-f64", 64, [0, *numbers.distinct(2, 64), ALL_BITS])
    full, _ = exactly_full(DELTA, 32)
    add_delta("delta-full", 32, full, None, 128)
    # 1023 fingerprints, the most; the last bit of the high parts is the last before the low ones, or of the block
    block = add_delta("delta-1023", 10, list(range(1023)), None, 512)
    broken_delta("1023-one-bit-too-few", "overrun", 10, block, (10, b"\x54"))
    add_delta("delta-1023-width-2", 12, numbers.distinct(1023, 12), 2, 1024)
    broken_delta("1023-in-64-bytes", "overrun", 10, block[:64])
    block = add_delta("delta-last-bit-of-block", 10, [100, 531], 0)
    assert block[63] == 0x80
    broken_delta("high-part-cut-off", "overrun", 10, block[:63] + b"\0")
    values = [5, 6, 5 + (432 - 2 * 12 << 11) + 0x7ff]
    block = add_delta("delta-last-bit-before-low-parts", 32, values, 11)
    broken_delta("last-bit-among-low-parts", "overrun", 32,
                 delta_block(values[:2] + [values[2] + (1 << 11)], 32, 11, 64))
    # (n - 1)(w + 1) is all the room there is, and one bit more
    block = add_delta("delta-no-zeros", 64, [2**40 + i for i in range(37)], 11)
    broken_delta("one-difference-too-many", "overrun", 64, block, counts(38, 11))
    broken_delta("full-of-ones", "order", 64, block[:10] + b"\xff" * 54)
    values = [2**40 + i for i in range(36)]
    broken_delta("one-bit-too-many", "overrun", 64, delta_block(values, 64, 26, 128))
    block = add_delta("delta-no-zeros-width-0", 64, [7], 0)
    broken_delta("width-0-434", "overrun", 64, block[:10] + b"\xff" * 54, counts(434, 0))
    broken_delta("width-0-433", "order", 64, block[:10] + b"\xff" * 54, counts(433, 0))
    broken_delta("width-56-9-in-64-bytes", "overrun", 64, block[:10] + b"\xff" * 54, counts(9, 56))
    # too few bits, and low parts full of ones, which are none of them
    block = add_delta("delta-low-parts-of-ones", 64, [9] + [9 + (i << 20) + 0xfffff for i in range(5)], 20)
    broken_delta("low-parts-of-ones-one-bit-too-few", "overrun", 64, block, (10, b"\x55\0"))
    # fingerprints that fall, by their low parts; sums that wrap
    block = delta_block([100, 100 + 256 + 9, 100 + 256 + 9], 64, 8, 64)
    broken_delta("equal-low-parts", "order", 64, block)
    broken_delta("order-by-low-parts", "order", 64, delta_block([100, 100 + 256 + 9, 100 + 256 + 8], 64, 8, 64))
    add_delta("delta-no-wrap", 64, [ALL_BITS - 300, ALL_BITS - 1, ALL_BITS], 4)
    for name, f, last, width in (("to-0", 64, 2**64, 4), ("to-0-f8", 8, 2**8, 4), ("to-less", 64, 2**64 + 1, 4),
                                 ("to-less-f63", 63, 2**63 + 1, 50)):
        broken_delta(f"wrap-{name}", "order", f, delta_block([2**f - 300 if f > 8 else 200, last], f, width, 64))
    # a difference of 2^f and more: modulo 2^64, the fingerprint is once more behind the one before it
    for name, f, values, width in (("high-part", 8, [0, 2**8 + 1], 0), ("high-part-f64", 64, [3, 2**64 + 4], 56),
                                   ("high-part-f1", 1, [0, 3], 0), ("twice", 12, [5, 6, 2 * 2**12 + 7], 6),
                                   ("low-part", 8, [0, 2**8 + 1], 12), ("low-part-f16", 16, [1, 2, 5 * 2**16 + 3], 56),
                                   ("high-part-2-70", 64, [3, 2**70 + 4], 56)):
        block = delta_block(values, f, width, 64 if max(values) < 2**70 else 4096)
        broken_delta(f"wrap-around-{name}", "order", f, block)


def groups():
    """Groups of documents."""
    numbers = Numbers(7)

    def add_group(name, entries, fault="ok", data=None, **options):
        data = group_bytes(entries, **options) if data is None else data
        listed = [f"{x:016x} {value}" for x, value in entries] if fault == "ok" else None
        add("group", f"group-{name}", f"group {runs_of(data)}\n".encode(), fault, listed)

    def broken(name, fault, data):
        add_group(name, None, fault, data)

    fingerprints = numbers.distinct(99, 64)
    entries = sorted((x, numbers.below(5 * 10**6)) for x in fingerprints)
    add_group("random", entries)
    add_group("of-a-dense-stretch", sorted((x >> 26, numbers.below(5 * 10**6)) for x in fingerprints))
    add_group("one", [(77, 5)])
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
    add_group("foreign-other-width", entries, width=56, block_size=800)
    add_group("foreign-wider-values", entries, b=29)
    add_group("foreign-lower-base", entries, b=30, base=0)
    few = entries[:7]
    add_group("foreign-4096-bytes", few, block_size=4096 - 9 - -(-7 * 24 // 8), b=24, base=0)
    good = group_bytes(entries)
    block_end = len(good) - -(-99 * good[0] // 8)
    broken("size-0", "size", b"")
    broken("size-72", "size", good[:72])
    broken("size-4097", "size", group_bytes(few, block_size=4097 - 9 - 21, b=24, base=0))
    assert len(group_bytes(few, block_size=4097 - 9 - 21, b=24, base=0)) == 4097
    broken("values-of-65-bits", "overrun", patched(good, 0, b"\x41"))
    broken("values-of-255-bits", "overrun", patched(good, 0, b"\xff"))
    broken("block-of-63-bytes", "overrun", group_bytes([(1, 2), (2, 130)])[:-1])
    broken("values-cut-off", "overrun", good[:block_end])
    broken("count-0", "count", patched(good, 9, struct.pack("<H", good[10] >> 2 << 10)))
    broken("count-0-values-of-65-bits", "overrun", patched(patched(good, 9, bytes(2)), 0, b"\x41"))
    broken("width-57", "overrun", patched(group_bytes(few), 9, struct.pack("<H", 7 | 57 << 10)))
    broken("differences-cut-off", "overrun", group_bytes(entries, block_size=block_end - 9 - 40))
    broken("order-of-fingerprints", "order", group_bytes([(1 << 40, 1), (2 << 40, 2), (3 << 40, 9), (2 << 40, 3)], width=43))
    broken("order-of-values", "order", group_bytes([(1, 3), (2, 3), (2, 2)]))
    broken("order-equal", "order", group_bytes([(1, 3), (2, 3), (2, 3)]))
    broken("value-of-2-64", "order", patched(group_bytes([(1, 3), (2, 4)]), 1, b"\xff" * 8))
    broken("fingerprint-of-2-64", "order", patched(group_bytes([(1, 3), (20, 4)]), 11, b"\xff" * 8))
    broken("padding-in-block", "padding", patched(group_bytes([(1, 3), (20, 4)]), 40, 1))
    assert 99 * good[0] % 8
    broken("padding-behind-values", "padding", patched(good, len(good) - 1, 0x80))


def id_groups():
    """Groups of IDs."""
    dictionary = b"http://example.org/"

    def add_ids(name, data, ids=None, fault="ok", of=dictionary):
        text = f"dictionary {runs_of(of)}\ngroup {runs_of(data)}\n"
        add("ids", f"ids-{name}", text.encode(), fault, None if ids is None else [one.hex() for one in ids])

    def broken(name, fault, data, of=dictionary):
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
    add_ids("numbers-in-five-bytes", struct.pack("<H", 2) + varied(0, 5) + token(b"ab") + varied(1, 5) + token(b"c"),
            [b"ab", b"ac"])
    add_ids("300", ids_bytes(*((0, token(b"%d" % i)) for i in range(300))), [b"%d" % i for i in range(300)])
    wide = b"a" * 65534 + b"b"
    add_ids("dictionary-65535", ids_bytes((0, token(b"", (0, 65535)), token(b"x"))), [wide + b"x"], of=wide)
    broken("size-0", "size", b"")
    broken("size-1", "size", b"\1")
    broken("count-0", "count", bytes(2))
    broken("count-0-and-more", "count", bytes(2) + example[2:])
    broken("byte-more", "size", example + b"\0")
    broken("id-less", "size", b"\1" + example[1:])
    broken("id-more", "overrun", b"\3" + example[1:])
    for i in range(2, len(example)):
        broken(f"cut-off-at-{i}", "overrun", example[:i])
    broken("first-shares", "overrun", ids_bytes((1, token(b"x"))))
    broken("shares-too-much", "overrun", ids_bytes((0, token(b"ab")), (3, token(b"x"))))
    broken("shares-2-32", "overrun", struct.pack("<H", 1) + varied(2**32) + token(b"x"))
    broken("number-in-six-bytes", "overrun", struct.pack("<H", 1) + varied(0, 6) + token(b"x"))
    broken("own-2-32", "overrun", struct.pack("<H", 1) + b"\0\xf0" + varied(2**32 - 16) + b"x")
    broken("piece-behind-dictionary", "overrun", ids_bytes((0, token(b"", (16, 4)), token())))
    broken("piece-at-65535", "overrun", ids_bytes((0, token(b"", (65535, 4)), token())))
    broken("piece-of-2-32", "overrun", ids_bytes((0, token(b"", (0, 2**32 + 17)), token())))
    broken("piece-of-no-dictionary", "overrun", ids_bytes((0, token(b"", (0, 4)), token())), b"")
    broken("piece-to-65536", "overrun", ids_bytes((0, token(b"x", (0, 65535)), token())), wide)


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
    added("by-id", by_id="yes")
    added("by-id-u64", id_type="u64", by_id="yes")
    added("no-recipe", recipe=None)
    added("recipe-not-ascii", recipe="Simhash: Wörter, Länge ≥ 3, 東京 😀")
    add("manifest", "manifest-recipe-not-utf-8", with_checksum(
        "".join(f"{line}\n" for line in manifest_lines(numbers, recipe="R\xff\x80")).encode("latin-1")))
    added("recipe-1-byte", recipe="r")
    added("recipe-255-bytes", recipe="r" * 255)
    added("scheme-name-63-bytes", title="n" * 63)
    added("two-segments", segments=[("000001", 10, 12), ("000002", 7, 7)])
    added("segments-with-gaps", segments=[("000003", 10, 12), ("000008", 0, 0), ("999999", 2**64 - 1, 2**64 - 1)])
    added("removed", segments=[("000004", 10, 12), ("000002", 7, 7, 1), ("000003", 0, 0, 2**64 - 1)], sequence=2**64 - 2)
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
    changed("by-id-unknown", "by-id", "by-id", "by-id maybe")
    changed("by-id-capital", "by-id", "by-id", "by-id Yes")
    changed("by-id-longer", "by-id", "by-id", "by-id not")
    changed("by-id-no-field", "syntax", "by-id", "by-id")
    changed("by-id-two-fields", "syntax", "by-id", "by-id no no")
    added("by-id-with-none", "by-id", id_type="none", by_id="yes", segments=[("000001", 10, 0)])
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
    added("segments-descend", segments=[("000002", 10, 12), ("000001", 7, 7)])
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
    changed("segment-two-spaces", "syntax", "segment", lambda line: line[:-2] + " " + line[-2:])
    changed("segment-space-after", "syntax", "segment", lambda line: line + " ")
    changed("segment-field-less", "syntax", "segment", lambda line: line[:-2])
    changed("segment-field-more", "syntax", "segment", lambda line: line + " 12")
    added("segment-fingerprints-leading-zero", "syntax", segments=[("000001", "010", 12)])
    added("segment-documents-leading-zero", "syntax", segments=[("000001", 10, "012")])
    added("segment-documents-not-a-number", "syntax", segments=[("000001", 10, "x")])
    added("segment-documents-fewer", "count", segments=[("000001", 10, 9)])
    added("segment-documents-with-none", "count", id_type="none", segments=[("000001", 10, 1)])
    added("segment-removed-by-the-oldest", "count", segments=[("000001", 10, 12, 1), ("000002", 7, 7)])
    added("segment-removed-2-64", "count", segments=[("000001", 10, 12), ("000002", 7, 7, 2**64)])
    added("segment-removed-leading-zero", "syntax", segments=[("000001", 10, 12), ("000002", 7, 7, "01")])
    changed("sequence-2-64-less-one", "count", "sequence", "sequence 18446744073709551615")
    changed("sequence-2-64", "count", "sequence", "sequence 18446744073709551616")
    changed("sequence-leading-zero", "syntax", "sequence", "sequence 00")
    changed("sequence-negative", "syntax", "sequence", "sequence -1")
    changed("sequence-no-field", "syntax", "sequence", "sequence")
    changed("sequence-two-fields", "syntax", "sequence", "sequence 0 0")
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


NAME = dict(enumerate(("add", "remove-document", "remove-fingerprint")))


def records():
    """Records of pending.mdb."""
    numbers = Numbers(8)
    uuid = numbers.uuid()

    def add_record(name, fault="ok", id_type="text", bits=64, sequence=1, operation=ADD, fingerprint=None, own=b"",
                   data=None):
        fingerprint = numbers.bits(bits) if fingerprint is None else fingerprint
        data = record_bytes(uuid, sequence, operation, fingerprint, own) if data is None else data
        text = (f"uuid {uuid_text(uuid)}\nbits {bits}\nid-type {id_type}\nsequence {sequence}\n"
                f"record {runs_of(data)}\n")
        listed = [f"{NAME[operation]} {fingerprint:x} {own.hex()}"] if fault == "ok" else None
        add("record", f"record-{name}", text.encode(), fault, listed)

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
    add_record("sequence-2-64-less-one", sequence=2**64 - 1, own=b"last")
    for bits in (1, 12, 63):
        add_record(f"bits-{bits}", bits=bits, fingerprint=2**bits - 1, own=b"id")
        add_record(f"bits-{bits}-and-one", "bits", bits=bits, fingerprint=2**bits, own=b"id")
    good = record_bytes(uuid, 7, ADD, 99, b"12345678")
    add_record("empty", "size", data=b"")
    add_record("16-bytes", "size", data=good[:16])
    add_record("text-of-16777216-bytes", "size", own=b"x" * 16777216)
    add_record("u64-of-7-bytes", "size", id_type="u64", own=number[:7])
    add_record("u64-of-9-bytes", "size", id_type="u64", own=number + b"\0")
    add_record("u64-of-no-bytes", "size", id_type="u64")
    add_record("none-with-id", "size", id_type="none", own=b"i")
    add_record("remove-fingerprint-with-id", "size", operation=REMOVE_FINGERPRINT, own=b"i")
    add_record("operation-3", "operation", operation=3)
    add_record("operation-255", "operation", operation=255)
    add_record("remove-document-of-none", "operation", id_type="none", operation=REMOVE_DOCUMENT)
    add_record("operation-before-bits", "operation", bits=12, fingerprint=2**12, operation=3)
    add_record("bits-before-size", "bits", id_type="u64", bits=12, fingerprint=2**12)
    add_record("of-another-number", "checksum", sequence=8, data=good)
    add_record("of-another-index", "checksum", sequence=7, data=record_bytes(numbers.uuid(), 7, ADD, 99, b"12345678"))
    for at in (0, 7, 8, 9, 16, 17, len(good) - 1):
        add_record(f"checksum-{at}", "checksum", sequence=7, data=patched(good, at, 1))
    add_record("cut-off", "checksum", sequence=7, data=good[:-1])
    add_record("byte-more", "checksum", sequence=7, data=good + b"\0")
    add_record("checksum-before-operation", "checksum", sequence=7, data=patched(good, 8, b"\x09"))


def removals():
    """The file `removed` of a segment."""
    numbers = Numbers(9)
    uuid = numbers.uuid()

    def add_removed(name, removed, fault="ok", id_type="text", bits=64, data=None):
        data = removed_data(uuid, id_type, removed) if data is None else data
        text = f"uuid {uuid_text(uuid)}\nbits {bits}\nid-type {id_type}\nfile {runs_of(data)}\n"
        listed = [f"{NAME[operation]} {fingerprint:x} {own.hex()}" for fingerprint, operation, own in removed or ()]
        add("removed", f"removed-{name}", text.encode(), fault, listed if fault == "ok" else None)

    def number(value):
        return struct.pack("<Q", value)

    texts = [(5, REMOVE_DOCUMENT, b""), (5, REMOVE_DOCUMENT, b"a"), (5, REMOVE_DOCUMENT, b"ab"),
             (5, REMOVE_DOCUMENT, b"b"), (5, REMOVE_DOCUMENT, b"\xff"), (7, REMOVE_FINGERPRINT, b""),
             (ALL_BITS, REMOVE_DOCUMENT, b"x" * 300)]
    u64s = [(0, REMOVE_DOCUMENT, number(255)), (0, REMOVE_DOCUMENT, number(256)), (1, REMOVE_FINGERPRINT, b""),
            (2, REMOVE_DOCUMENT, number(ALL_BITS))]
    nones = [(fingerprint, REMOVE_FINGERPRINT, b"") for fingerprint in numbers.distinct(20, 33)]
    add_removed("text", texts)
    add_removed("u64", u64s, id_type="u64")
    add_removed("none", nones, id_type="none", bits=33)
    add_removed("one", texts[:1])
    good, three = removed_data(uuid, "text", texts), removed_data(uuid, "u64", u64s[:3])

    def broken(name, fault, data, id_type="text", bits=64):
        add_removed(name, None, fault, id_type, bits, data)

    def unordered(name, fault, *removed, id_type="text", bits=64):
        broken(name, fault, removed_data(uuid, id_type, removed), id_type, bits)

    broken("empty-file", "magic", b"")
    broken("magic", "magic", removed_header(patched(good, 0, 1)))
    broken("version-1", "version", removed_header(patched(good, 8, 1)))
    broken("version-1-all-else-broken", "version", b"idxremov\1\0\0\0\xff")
    broken("size-12-bytes", "size", good[:12])
    broken("size-63-bytes", "size", good[:63])
    broken("reserved", "reserved", removed_header(patched(good, 15, 0x80)))
    for at, name in ((16, "uuid"), (32, "count"), (40, "length"), (48, "removals"), (56, "itself")):
        broken(f"checksum-{name}", "checksum", patched(good, at, 1))
    broken("checksum-of-removals", "checksum", patched(good, 64, 1))
    broken("checksum-of-removals-last-byte", "checksum", patched(good, -1, 1))
    broken("count-0", "count", removed_header(good[:32] + bytes(16) + good[48:64]))
    broken("size-one-byte-less", "size", good[:-1])
    broken("size-one-byte-more", "size", good + b"\0")
    broken("size-length-2-64-less-one", "size", removed_header(patched(good, 40, number(ALL_BITS))))
    broken("one-removal-less", "size", removed_header(patched(good, 32, number(6))))
    broken("one-removal-more", "overrun", removed_header(patched(good, 32, number(8))))
    broken("count-2-64-less-one", "overrun", removed_header(patched(good, 32, number(ALL_BITS))))
    broken("u64-cut-off", "overrun", removed_whole(uuid, 1, three[64:80]), "u64")
    broken("u64-cut-off-before-id", "overrun", removed_whole(uuid, 1, three[64:73]), "u64")
    broken("cut-off-before-operation", "overrun", removed_whole(uuid, 1, three[64:72]), "u64")
    broken("text-cut-off-in-length", "overrun", removed_whole(uuid, 1, good[64:76]))
    broken("text-of-2-32-less-one", "overrun", removed_whole(uuid, 1, good[64:73] + b"\xff" * 4 + b"x"))
    unordered("text-of-16777216-bytes", "size", (1, REMOVE_DOCUMENT, b"x" * 16777216))
    unordered("operation-0", "operation", (1, ADD, b""))
    unordered("operation-3", "operation", (1, 3, b""))
    unordered("document-of-none", "operation", (1, REMOVE_DOCUMENT, b""), id_type="none")
    unordered("bits", "bits", (2**12, REMOVE_FINGERPRINT, b""), bits=12)
    unordered("order-of-fingerprints", "order", texts[5], texts[4])
    unordered("order-equal-fingerprints", "order", texts[5], texts[5])
    unordered("order-of-texts", "order", texts[3], texts[2])
    unordered("order-of-texts-by-length", "order", texts[2], texts[1])
    unordered("order-equal-texts", "order", texts[3], texts[3])
    unordered("order-of-numbers", "order", u64s[1], u64s[0], id_type="u64")
    unordered("order-equal-numbers", "order", u64s[1], u64s[1], id_type="u64")
    unordered("order-document-behind-fingerprint", "order", (5, REMOVE_FINGERPRINT, b""), texts[0])
    unordered("order-fingerprint-behind-document", "order", texts[0], (5, REMOVE_FINGERPRINT, b""))


def two_segments():
    """A whole index, but for its document maps; listed as reader.py prints it."""
    numbers, f = Numbers(6), 16
    tables = scheme(f, 2, 1, 1)
    first = numbers.distinct(60, f)
    second = sorted(set(first[::10]) | set(numbers.distinct(40, f)))
    segments = [(1, numbers.uuid(), first), (2, numbers.uuid(), second)]
    lines = manifest_lines(numbers, f, 3, "text", "no", None, "2:1:1", tables, [])
    listed = []
    for number, uuid, fingerprints in segments:
        lines.append(f"segment {number:06} {uuid_text(uuid)} {len(fingerprints)} {len(fingerprints) + 5} 0")
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
    groups()
    id_groups()
    manifests()
    sums()
    records()
    removals()
    two_segments()
    invalid_tables()
    rows = sorted(ROWS, key=lambda row: row[2] != "ok")
    rows.insert(0, ("file", "kind", "fault", "fingerprints"))
    write("vectors.tsv", "".join("\t".join(row) + "\n" for row in rows).encode())


if __name__ == "__main__":
    main()
