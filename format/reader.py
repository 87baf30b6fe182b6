#!/usr/bin/env python3
"""A reader of idx indexes, written from SPEC.md alone.

usage: reader.py table FILE               the fingerprints of a table, after it was verified
       reader.py index FOLDER             those of all tables of an index
       reader.py documents FOLDER         the documents of an index
       reader.py sets FOLDER              the texts of an index with sets, and the members of each
       reader.py lookup FOLDER HEX D      the fingerprints within the distance D of HEX
       reader.py vectors FOLDER           try the conformance vectors
"""
import contextlib
import itertools
import os
import re
import struct
import sys
import tempfile
from types import SimpleNamespace

import xxhash


# Chapter 1: conventions
class Fault(Exception):
    """A rule of SPEC.md that bytes break, by its name there, and the path of the file that has the bytes."""

    def __init__(self, name, path=None):
        super().__init__(name)
        self.name, self.path = name, path


def check(holds, name):
    """Raises the fault with this name unless its rule holds."""
    if not holds:
        raise Fault(name)


@contextlib.contextmanager
def faults_in(path):
    """Gives this path to faults that are raised in a `with` block and have none."""
    try:
        yield path
    except Fault as fault:
        raise Fault(fault.name, fault.path or path) from None


def read_file(path):
    with open(path, "rb") as file:
        return file.read()


def ceil_div(a, b):
    return -(-a // b)


def u16(data, at=0):
    return int.from_bytes(data[at:at + 2], "little")


def u32(data, at=0):
    return int.from_bytes(data[at:at + 4], "little")


def u64(data, at=0):
    return int.from_bytes(data[at:at + 8], "little")


def bits(data, at, width):
    """The number in `width` bits of a bit stream, from bit `at` on."""
    number = int.from_bytes(data[at // 8:ceil_div(at + width, 8)], "little")
    return number >> at % 8 & ((1 << width) - 1)


def checksum(data, seed=0):
    return xxhash.xxh3_64_intdigest(data, seed)


def hexadecimal(x, f):
    return f"{x:0{ceil_div(f, 4)}x}"


def check_beginning(data, magic, header_size):
    """Checks what all binary files begin with, and that the whole header is there."""
    check(data[:8] == magic, "magic")
    check(len(data) >= 12, "size")
    check(u32(data, 8) == 1, "version")
    check(len(data) >= header_size, "size")


# Chapter 2: the index
class Permutation:
    """Moves the bits of a mask to the front of fingerprints of f bits, and back."""

    def __init__(self, mask, f):
        self.f, self.prefix_bits = f, mask.bit_count()
        self.runs = []  # (lowest bit, width) of neighbouring bits, in permuted order
        for i in sorted(range(f), key=lambda i: (not mask >> i & 1, -i)):
            if self.runs and self.runs[-1][0] == i + 1:
                self.runs[-1] = (i, self.runs[-1][1] + 1)
            else:
                self.runs.append((i, 1))

    def permute(self, x):
        result = 0
        for low, width in self.runs:
            result = result << width | (x >> low & ((1 << width) - 1))
        return result

    def unpermute(self, x):
        result, at = 0, self.f
        for low, width in self.runs:
            at -= width
            result |= (x >> at & ((1 << width) - 1)) << low
        return result


COVER_STEPS = 20000  # then this reader gives up


class Cover:
    """Searches for k bits of which each table has more than its radius in its mask: pairs that differ in these bits are
    missed, and the tables do not cover k. Bits are of one kind if the same tables have them in their masks."""

    def __init__(self, tables, f):
        kinds = [tuple(mask >> i & 1 for mask, _ in tables) for i in range(f)]
        self.bits_of = {kind: kinds.count(kind) for kind in sorted(set(kinds))}
        self.tables, self.steps = tables, 0

    def too_many(self, open_tables, remaining):
        """Whether tables whose masks share no bit need more bits than remain."""
        used = 0
        for needed, mask, _ in sorted(open_tables, key=lambda table: (-table[0], table[1].bit_count())):
            if not used & mask:
                used, remaining = used | mask, remaining - needed
        return remaining < 0

    def covers(self, k):
        return not self.escapes([radius + 1 for _, radius in self.tables], k, frozenset(), {})

    def escapes(self, needs, remaining, excluded, taken):
        """Whether each table can get as many more bits as it needs by the choice of `remaining` bits, of no kind in
        `excluded`, where of each kind those in `taken` are chosen already."""
        self.steps += 1
        check(self.steps < COVER_STEPS, "cover")
        open_tables = [(needed, self.tables[i][0], i) for i, needed in enumerate(needs) if needed > 0]
        if not open_tables:
            return True
        if self.too_many(open_tables, remaining):
            return False
        choices = [[kind for kind, count in self.bits_of.items()
                    if kind[i] and kind not in excluded and taken.get(kind, 0) < count] for _, _, i in open_tables]
        for kind in min(choices, key=len):
            after = [needed - has for needed, has in zip(needs, kind)]
            if self.escapes(after, remaining - 1, excluded, {**taken, kind: taken.get(kind, 0) + 1}):
                return True
            excluded = excluded | {kind}
        return False


# Chapter 3: the manifest
LARGEST = 2**64 - 1


class Lines:
    """The lines of a manifest, which are taken one after the other."""

    def __init__(self, data):
        self.lines = data.split(b"\n")[::-1]  # the next one last

    def is_next(self, keyword):
        return self.lines[-1].startswith(keyword + b" ")

    def take(self, keyword, count):
        """The `count` fields of the next line, which must begin with the keyword."""
        fields = self.lines.pop().split(b" ")
        check(fields[0] == keyword and len(fields) == count + 1, "syntax")
        return fields[1:]

    def take_text(self, keyword):
        """What follows the keyword and a space in the next line, or None without the space."""
        key, space, text = self.lines.pop().partition(b" ")
        check(key == keyword, "syntax")
        return text if space else None


def parse_number(field, least, most, fault):
    """The number in a field of the manifest. One that is not from `least` to `most` raises this fault."""
    check(re.fullmatch(b"0|[1-9][0-9]*", field), "syntax")
    value = int(field[:21])  # more digits are out of range in any case
    check(least <= value <= most, fault)
    return value


def parse_uuid(field):
    check(re.fullmatch(b"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}", field), "uuid")
    return bytes.fromhex(field.replace(b"-", b"").decode())


def is_name(field):
    return 1 <= len(field) <= 63 and all(33 <= byte <= 126 for byte in field)


def is_text(field):
    return all(byte >= 32 and byte != 127 for byte in field)


def read_tables(lines, f):
    tables = []
    while lines.is_next(b"table"):
        check(len(tables) < 256, "mask")
        mask, radius = lines.take(b"table", 2)
        check(re.fullmatch(b"[0-9a-f]{%d}" % ceil_div(f, 4), mask) and 0 < int(mask, 16) < 1 << f, "mask")
        tables.append((int(mask, 16), parse_number(radius, 0, 3, "radius")))
    check(tables, "mask")
    return tables


def read_segments(lines, id_type):
    segments = []
    while lines.is_next(b"segment"):
        check(len(segments) < 1024, "segment")
        name, identity, *counts = lines.take(b"segment", 5)
        check(re.fullmatch(b"[0-9]{6}", name), "syntax")
        check(name != b"000000" and all(name.decode() != other.name for other in segments), "segment")
        identity = parse_uuid(identity)
        check(all(identity != other.uuid for other in segments), "segment")
        fingerprints, documents, removed = (parse_number(count, 0, LARGEST, "count") for count in counts)
        check(documents == 0 if id_type == "none" else documents >= fingerprints, "count")
        check(segments or removed == 0, "count")
        segments.append(SimpleNamespace(name=name.decode(), uuid=identity, fingerprints=fingerprints,
                                        documents=documents, removed=removed))
    check(segments, "segment")
    return segments


def read_last_lines(lines):
    """Passes over optional lines and the checksum, which was compared before."""
    while lines.is_next(b"optional"):
        name, _, content = (lines.take_text(b"optional") or b"").partition(b" ")
        check(is_name(name) and is_text(content), "syntax")
    lines.take(b"checksum", 1)
    check(lines.lines == [b""], "syntax")


def read_manifest(data):
    start = re.match(b"idx-index (0|[1-9][0-9]*)(?![0-9])", data)
    version = int(start[1][:21]) if start else LARGEST
    check(version < 2**32, "magic")
    check(version == 1, "version")
    check(len(data) <= 262144, "size")
    check(data[-26:] == b"checksum %016x\n" % checksum(data[:-26]), "checksum")
    lines, manifest = Lines(data), SimpleNamespace(log=None)
    parse_number(lines.take(b"idx-index", 1)[0], 1, 1, "version")
    manifest.sketch = 0
    while lines.is_next(b"needs"):
        name = lines.take(b"needs", 1)[0]
        check(is_name(name), "syntax")
        check(name == b"sets", "needs")
        check(not manifest.sketch, "syntax")
        manifest.sketch = 1
    manifest.uuid = parse_uuid(lines.take(b"uuid", 1)[0])
    manifest.f = parse_number(lines.take(b"bits", 1)[0], 64 if manifest.sketch else 1, 64, "bits")
    manifest.k = parse_number(lines.take(b"k", 1)[0], 0, 0 if manifest.sketch else min(16, manifest.f - 1), "k")
    manifest.id_type = lines.take(b"id-type", 1)[0].decode("latin-1")
    check(manifest.id_type in ("text", "u64", "none")[:2 if manifest.sketch else 3], "id-type")
    by_id = lines.take(b"by-id", 1)[0]
    check(by_id == b"no" or by_id == b"yes" and manifest.id_type != "none" and not manifest.sketch, "by-id")
    manifest.by_id = by_id == b"yes"
    recipe = lines.take_text(b"recipe")
    check(recipe is None or 1 <= len(recipe) <= 255 and is_text(recipe), "recipe")
    if manifest.sketch:
        values, resemblance = lines.take(b"sketch", 2)
        manifest.sketch = parse_number(values, 1, 64, "count")
        manifest.resemblance = parse_number(resemblance, 1, 10000, "count")
    scheme = lines.take_text(b"scheme") or b""
    check(1 <= len(scheme) <= 63 and is_text(scheme), "syntax")
    manifest.tables = read_tables(lines, manifest.f)
    manifest.sequence = parse_number(lines.take(b"sequence", 1)[0], 0, LARGEST - 1, "count")
    if lines.is_next(b"log"):
        identity, first, last = lines.take(b"log", 3)
        identity, first = parse_uuid(identity), parse_number(first, 0, manifest.sequence, "count")
        manifest.log = SimpleNamespace(uuid=identity, first=first, last=parse_number(last, first, LARGEST - 1, "count"))
    manifest.segments = read_segments(lines, manifest.id_type)
    read_last_lines(lines)
    check(Cover(manifest.tables, manifest.f).covers(manifest.k), "cover")
    return manifest


def open_manifest(folder):
    with faults_in(os.path.join(folder, "manifest")) as path:
        return read_manifest(read_file(path))


# Chapter 4: table files
HEADER = struct.Struct("<8sII16sQ4BIQQ64s5QB3sI3912sQ")


class Table:
    """A table file whose header is sound. Other pages are checked when they are first used."""

    def __init__(self, data):
        check_beginning(data, b"idxtable", 4096)
        check(checksum(data[:4088]) == u64(data, 4088), "checksum")
        (_, _, self.number, self.uuid, self.mask, self.f, self.radius, self.A, self.w, self.block_size,
         self.fingerprints, self.blocks, self.lengths, *self.statistics, self.list_bytes, self.long_codes,
         reserved, self.extra, more_reserved, _) = HEADER.unpack_from(data)
        check(not any(reserved) and not any(more_reserved), "reserved")
        self.data, self.checked = data, set()
        self.check_fields()
        self.code = Code(self.f, self.w, self.lengths)
        self.directory = 4096 + ceil_div(self.blocks * self.block_size, 4096) * 4096
        self.lines = ceil_div(self.blocks, 56)
        self.lists = self.directory + 64 * self.lines
        self.checksums = ceil_div(self.lists + self.list_bytes, 4096) * 4096
        check(len(data) == self.checksums + (self.checksums - 4096) // 4096 * 8 + self.extra, "size")
        self.permutation = Permutation(self.mask, self.f)

    def check_fields(self):
        """Checks the header's fields, but for the code."""
        check(1 <= self.f <= 64, "bits")
        check(0 < self.mask < 1 << self.f, "mask")
        check(self.radius <= 3, "radius")
        check(1 <= self.A <= min(self.f, 63), "anchor")
        check(self.block_size in (64, 128, 256, 512, 1024, 2048, 4096), "block-size")
        check(self.blocks <= 2**32 - 1, "count")
        check(self.blocks <= self.fingerprints <= min(self.blocks * 1023, 1 << self.f), "count")
        check(self.list_bytes <= self.blocks * 8, "count")
        check(self.long_codes <= (self.block_size == 64), "code")

    def check_against(self, number, manifest, segment):
        """Checks that this is the table with this number of a segment of the manifest."""
        check(self.number == number and self.uuid == segment.uuid, "uuid")
        mask, radius = manifest.tables[number]
        check(self.mask == mask, "mask")
        check(self.f == manifest.f, "bits")
        check(self.radius == radius, "radius")
        check(self.fingerprints == segment.fingerprints, "count")

    def checked_part(self, at, size):
        """Bytes of the file, after the checksums of their pages were compared."""
        for page in range(at // 4096, ceil_div(at + size, 4096)):
            if page not in self.checked:
                expected = u64(self.data, self.checksums + 8 * (page - 1))
                check(checksum(self.data[4096 * page:4096 * (page + 1)]) == expected, "checksum")
                self.checked.add(page)
        return self.data[at:at + size]

    def block(self, i):
        return self.checked_part(4096 + i * self.block_size, self.block_size)

    def verify(self):
        """Checks the whole table. Returns the fingerprints in its order, permuted."""
        self.checked_part(4096, self.checksums - 4096)
        check(not any(self.data[4096 + self.blocks * self.block_size:self.directory]), "padding")
        check(not any(self.data[self.lists + self.list_bytes:self.checksums]), "padding")
        fingerprints, keys = [], []
        for i in range(self.blocks):
            least = keys[-1] + 1 if keys else 0
            fingerprints += decode_block(self, self.block(i), least, least)
            keys.append(fingerprints[-1])
        check(len(fingerprints) == self.fingerprints, "count")
        directory = make_directory([key << 64 - self.f for key in keys], self.lines)
        check(directory == self.data[self.directory:self.lists + self.list_bytes], "directory")
        self.check_statistics(fingerprints)
        return fingerprints

    def check_statistics(self, fingerprints):
        union, intersection = 0, (1 << self.f) - 1 if fingerprints else 0
        for x in fingerprints:
            union, intersection = union | x, intersection & x
        union, intersection = self.permutation.unpermute(union), self.permutation.unpermute(intersection)
        shift = self.f - self.permutation.prefix_bits
        groups = [len(list(group)) for _, group in itertools.groupby(fingerprints, lambda x: x >> shift)]
        pairs = sum(g * (g - 1) // 2 for g in groups)
        expected = [union, intersection, max(groups, default=0), min(pairs, LARGEST)]
        check(self.statistics == expected, "statistics")

    def verify_and_unpermute(self):
        """Checks the whole table. Returns the fingerprints in its order, as users see them."""
        return [self.permutation.unpermute(x) for x in self.verify()]


def table_name(segment, number):
    return f"{segment.name}/table-{number:02}.tbl"


def read_index(folder, manifest):
    """Checks all tables of all segments. Yields each one's path in the folder and its fingerprints, in its order."""
    for segment in manifest.segments:
        sizes, sets = set(), []
        for number in range(len(manifest.tables)):
            name = table_name(segment, number)
            with faults_in(os.path.join(folder, name)) as path:
                table = Table(read_file(path))
                table.check_against(number, manifest, segment)
                sizes.add(table.block_size)
                check(len(sizes) == 1, "block-size")
                fingerprints = table.verify_and_unpermute()
                sets.append(set(fingerprints))
                check(sets[-1] == sets[0], "count")
            yield name, fingerprints


# Chapter 5: the position code
class Code:
    """A position code for fingerprints of f bits, by its w near bits and the lengths of its codes."""

    def __init__(self, f, w, lengths):
        T, c = min(57, f), len(bytes(lengths).rstrip(b"\0"))
        check(c >= 2 and all(1 <= length <= 6 for length in lengths[:c]), "code")
        check(sum(64 >> length for length in lengths[:c]) == 64, "code")
        check(w + c - 2 <= T, "code")
        self.next = [None] * 64  # by the next 6 bits of the block: bits of the code, bits of the tail, leading 1
        codes = self.assign_codes(lengths[:c])
        for i, length in enumerate(lengths[:c]):
            tail = w if i == 0 else T if i == c - 1 else w + i - 1
            leading = 0 if i in (0, c - 1) else 1 << tail
            first = int(f"{codes[i] ^ codes[0]:06b}"[:length][::-1], 2)
            for bits_behind in range(0, 64, 1 << length):
                self.next[first | bits_behind] = (length, tail, leading)

    @staticmethod
    def assign_codes(lengths):
        """The codes before they are XORed, left-aligned in 6 bits."""
        codes, code = [0] * len(lengths), 0
        for i in sorted(range(len(lengths)), key=lambda i: (lengths[i], i)):
            codes[i] = code
            code += 64 >> lengths[i]
        return codes


# Chapter 6: blocks
def read_key(form, block, y):
    """The key of a block, and the bit behind the anchor. y is at least the key before and at most this one. form, here
    and below, has f, A, block_size, long_codes and code: a Table, or the like."""
    if bits(block, 0, 1):
        key, end = bits(block, 1, form.f), 1 + form.f
    else:
        key, end = y + (bits(block, 1, form.A) - y) % (1 << form.A), 1 + form.A
    check(y <= key < 1 << form.f, "order")
    return key, end


def read_list(form, block, key, at, least):
    """The chains' keys and the bits where they begin, the highest first; and whether the entries of absent chains have
    only zeros. The list is at bit `at`, and no fingerprint may be below `least`."""
    if form.block_size < 1024:
        return [(key, at)], True
    count, place_bits = {1024: 1, 2048: 1, 4096: 3}[form.block_size], (8 * form.block_size).bit_length() - 1
    o, at = bits(block, at, 6), at + 6
    begin = at + count * (o + place_bits)
    chains, greatest = [(key, begin)], 0
    for i in range(count):
        entry = at + i * (o + place_bits)
        offset, place = bits(block, entry, o), bits(block, entry + o, place_bits)
        if offset == 0:
            return chains, bits(block, entry, begin - entry) == 0
        check(place >= chains[-1][1], "overrun")
        check(greatest < offset <= key - least, "order")
        chains.append((key - offset, place))
        greatest = offset
    return chains, True


def read_chain(form, block, key, begin, end):
    """The fingerprints of a chain, from its key downwards, and whether its padding is 0."""
    fingerprints, P, Q = [key], begin, end
    codes_end = begin + 64 if form.block_size == 64 and not form.long_codes else end
    while len(fingerprints) < 1024:
        length, tail, leading = form.code.next[bits(block, P, 6)]
        if P + length + tail > Q or P + length > codes_end:
            break
        d = leading | bits(block, Q - tail, tail)
        if d == 0:
            break
        fingerprints.append(fingerprints[-1] - d)
        P, Q = P + length, Q - tail
    return fingerprints, bits(block, P, Q - P) == 0


def decode_block(form, block, y, least):
    """The fingerprints of a block, ascending. y is for read_key; a fingerprint below `least` is a fault."""
    key, at = read_key(form, block, y)
    chains, padding_is_0 = read_list(form, block, key, at, least)
    ends = [begin for _, begin in chains[1:]] + [8 * form.block_size]
    bounds = [key + 1 for key, _ in chains[1:]] + [least]
    fingerprints = []
    for (key, begin), end, bound in zip(chains, ends, bounds):
        chain, is_0 = read_chain(form, block, key, begin, end)
        check(chain[-1] >= bound, "order")
        fingerprints += chain
        padding_is_0 = padding_is_0 and is_0
    check(len(fingerprints) <= 1023, "count")
    check(padding_is_0, "padding")
    return fingerprints[::-1]


# Chapter 7: the directory
def make_directory(keys, lines):
    """The directory's lines and lists, of left-aligned keys."""
    parts = [[] for _ in range(lines)]
    for key in keys:
        line, p = divmod(key * lines, 1 << 64)
        parts[line].append(p)
    directory, lists, first = b"", b"", 0
    for part in parts:
        cells = {p * 448 >> 64 for p in part}
        if len(cells) == len(part):
            directory += struct.pack("<II", first, 0) + sum(1 << cell for cell in cells).to_bytes(56, "little")
        else:
            b = next(b for b in range(1, 65) if len({p >> 64 - b for p in part}) == len(part))
            directory += struct.pack("<IIQB47x", first, len(part), len(lists), b)
            stream = sum((p >> 64 - b) << i * b for i, p in enumerate(part))
            lists += stream.to_bytes(ceil_div(len(part) * b, 8), "little")
        first += len(part)
    return directory + lists


def look_into_directory(table, x):
    """The number m of the left-aligned x, the beginning of x's cell, and whether the cell holds a key."""
    line, p = divmod(x * table.lines, 1 << 64)
    data = table.checked_part(table.directory + 64 * line, 64)
    first, listed = u32(data, 0), u32(data, 4)
    if listed == 0:
        cells, cell = bits(data, 64, 448), p * 448 >> 64
        below, holds = (cells & ((1 << cell) - 1)).bit_count(), cells >> cell & 1 == 1
        count, P = below, ceil_div(cell << 64, 448)
    else:
        place, b = u64(data, 8), data[16]
        size = ceil_div(listed * b, 8)
        check(1 <= b <= 64 and place + size <= table.list_bytes, "directory")
        stream, cell = table.checked_part(table.lists + place, size), p >> 64 - b
        numbers = [bits(stream, i * b, b) for i in range(listed)]
        count, below, holds = listed, sum(other < cell for other in numbers), cell in numbers
        P = cell << 64 - b
    check(first + count <= table.blocks, "directory")
    return first + below, ceil_div((line << 64) + P, table.lines), holds


def find_block(table, x):
    """The first block whose key is at least x, a number of f bits, and a y to find its key with; or None."""
    if table.blocks == 0:
        return None
    m, beginning, holds = look_into_directory(table, x << 64 - table.f)
    y = beginning >> 64 - table.f
    if holds and m < table.blocks:
        key, _ = read_key(table, table.block(m), y)
        if key < x:
            m, y = m + 1, key + 1
    return (m, y) if m < table.blocks else None


# Chapter 8: the document map
def check_sums(data):
    """Checks a docs.sum or by-id.sum, but for the checksums of pages in it."""
    check_beginning(data, b"idxdsums", 64)
    check(checksum(data[:56]) == u64(data, 56), "checksum")
    check(not any(data[40:56]), "reserved")
    check(len(data) == 64 + 8 * ceil_div(u64(data, 32), 4096) + u32(data, 12), "size")


class Lmdb:
    """A data file of LMDB 0.9: page 0 and 1 are meta pages, the newer one counts."""

    def __init__(self, data):
        self.data = data
        check(len(data) >= 4096, "size")
        self.page_size = u32(data, 40)
        check(u32(data, 16) == 0xbeefc0de, "magic")
        check(u32(data, 20) == 1, "version")
        check(self.page_size in (4096, 8192, 16384, 32768, 65536) and len(data) >= 2 * self.page_size, "size")
        metas = [data[at + 16:at + 152] for at in (0, self.page_size)]
        check(all(meta[:8] == metas[0][:8] for meta in metas), "magic")
        meta = max(metas, key=lambda meta: u64(meta, 128))
        self.databases = {name: value for name, value, flags in self.items(meta[72:120]) if flags & 2}

    def items(self, database):
        """Keys, values and flags of the nodes of a database, in order, by its record."""
        depth, root = u16(database, 6), u64(database, 40)
        if root != LARGEST:
            yield from self.items_below(root, min(depth, 32), set())

    def items_below(self, page, depth, seen):
        """The items of a page and of all pages below, `depth` levels at most, none of which may be in `seen`."""
        at = page * self.page_size
        check(depth > 0 and page not in seen and at + self.page_size <= len(self.data), "overrun")
        seen.add(page)
        is_branch = u16(self.data, at + 10) & 1
        for i in range((u16(self.data, at + 12) - 16) // 2):
            node = at + u16(self.data, at + 16 + 2 * i)
            size, flags, key_size = u32(self.data, node), u16(self.data, node + 4), u16(self.data, node + 6)
            if is_branch:
                yield from self.items_below(size | flags << 32, depth - 1, seen)
                continue
            value = node + 8 + key_size
            if flags & 1:
                value, flags = u64(self.data, value) * self.page_size + 16, flags & ~1
            yield self.data[node + 8:node + 8 + key_size], self.data[value:value + size], flags

    def pairs_in(self, name):
        """The keys and values of the database with this name."""
        check(name in self.databases, "count")
        return [(key, value) for key, value, _ in self.items(self.databases[name])]


def read_group(data, before=None):
    """The entries of a group of documents. They are above the entry before, if there is one."""
    check(19 <= len(data) <= 4096, "size")
    n, w, b, base, x0 = u16(data) & 1023, u16(data) >> 10, data[2], u64(data, 3), u64(data, 11)
    check(n >= 1, "count")
    check(w <= 56 and b <= 64, "overrun")
    V = len(data) - ceil_div(n * b, 8)
    check(V >= 19 and (n - 1) * (w + 1) <= 8 * (V - 19), "overrun")
    high_parts = bits(data, 152, 8 * V - (n - 1) * w - 152)
    ones = [i for i, bit in enumerate(reversed(f"{high_parts:b}")) if bit == "1"]
    check(len(ones) >= n - 1, "overrun")
    differences = [(ones[i - 1] - i + 1) << w | bits(data, 8 * V - i * w, w) for i in range(1, n)]
    values = [base + bits(data, 8 * V + i * b, b) for i in range(n)]
    entries = list(zip([x0] + [x0 + d for d in differences], values))
    check(not before or before < entries[0], "order")
    check(all(a < b for a, b in itertools.pairwise(entries)), "order")
    check(all(max(entry) <= LARGEST for entry in entries), "order")
    check(len(ones) == n - 1, "padding")
    check(bits(data, 8 * V + n * b, -n * b % 8) == 0, "padding")
    return entries


class Tokens:
    """The bytes of a group of IDs, which are read one after the other."""

    def __init__(self, data):
        self.data, self.at = data, 2

    def take(self, size):
        check(self.at + size <= len(self.data), "overrun")
        self.at += size
        return self.data[self.at - size:self.at]

    def read_number(self):
        result = 0
        for i in range(5):
            byte = self.take(1)[0]
            result |= (byte & 127) << 7 * i
            if byte < 128:
                check(result < 2**32, "overrun")
                return result
        raise Fault("overrun")

    def read_id(self, before, dictionary):
        shared = self.read_number()
        check(shared <= len(before), "overrun")
        result, b = before[:shared], 1
        while b != 0:
            a, b = divmod(self.take(1)[0], 16)
            result += self.take(a + self.read_number() if a == 15 else a)
            if b != 0:
                place = u16(self.take(2))
                end = place + 3 + (b + self.read_number() if b == 15 else b)
                check(end <= len(dictionary) and len(result) + end - place <= 65535, "overrun")
                result += dictionary[place:end]
        check(len(result) <= 16777215, "overrun")
        return result


def count_ids(data):
    """The number of IDs that a group says it has."""
    check(len(data) >= 2, "size")
    check(u16(data) >= 1, "count")
    return u16(data)


def read_ids(data, dictionary):
    count, tokens, ids = count_ids(data), Tokens(data), []
    for _ in range(count):
        ids.append(tokens.read_id(ids[-1] if ids else b"", dictionary))
    check(tokens.at == len(data), "size")
    return ids


def open_map(folder, name, uuid, has_texts=False, fingerprints=None, documents=None):
    """A sound LMDB file, and its database `meta` as a dict, which has a dictionary if IDs are texts, and whose numbers
    of fingerprints and documents are compared with those given, if any."""
    with faults_in(os.path.join(folder, name + ".sum")) as path:
        sums = read_file(path)
        check_sums(sums)
        check(sums[16:32] == uuid, "uuid")
    with faults_in(os.path.join(folder, name + ".mdb")) as path:
        data = read_file(path)
        check(len(data) == u64(sums, 32), "size")
        for i in range(ceil_div(len(data), 4096)):
            check(checksum(data[4096 * i:4096 * (i + 1)]) == u64(sums, 64 + 8 * i), "checksum")
        database = Lmdb(data)
        meta = dict(database.pairs_in(b"meta"))
        check(meta.get(b"uuid") == uuid, "uuid")
        check(len(meta.get(b"heaviest", b"")) == 16, "size")
        check(not has_texts or len(meta.get(b"dictionary", b"?" * 65536)) <= 65535, "size")
        for key, number in ((b"fingerprints", fingerprints), (b"documents", documents)):
            check(len(meta.get(key, b"")) == 8 and number in (None, u64(meta[key])), "count")
        return database, meta


def read_entries(database, documents=None, repeated=False):
    """All entries of a map. If the number of documents is given, values must be document numbers, each at most once
    unless they may be `repeated`."""
    entries, seen = [], set()
    for key, value in database.pairs_in(b"docs"):
        check(len(key) == 16, "size")
        group = read_group(value, entries[-1] if entries else None)
        check(key == struct.pack(">QQ", *group[-1]), "order")
        for _, number in group if documents is not None else ():
            check(number < documents and (repeated or number not in seen), "count")
            seen.add(number)
        entries += group
    return entries


def check_heaviest(meta, entries):
    """Checks which fingerprint has the most entries (the lowest of several), and how many."""
    counts = {x: len(list(group)) for x, group in itertools.groupby(entries, lambda entry: entry[0])}
    x = max(counts, key=lambda x: (counts[x], -x), default=0)
    check(meta[b"heaviest"] == struct.pack("<QQ", x, counts.get(x, 0)), "statistics")


def read_all_ids(database, dictionary, documents):
    """The text IDs by document number, from 0 on."""
    ids = []
    for key, value in database.pairs_in(b"ids"):
        check(len(key) == 8, "size")
        last = len(ids) + count_ids(value) - 1
        check(last < documents and key == struct.pack(">Q", last), "count")
        ids += read_ids(value, dictionary)
    check(len(ids) == documents, "count")
    return ids


def read_document_map(folder, manifest, segment, fingerprints):
    """The documents of a segment, (fingerprint, ID), where the ID is None, a number or bytes. Checks its maps."""
    sets = open_sets(folder, manifest, segment)
    folder, has_texts = os.path.join(folder, segment.name), manifest.id_type == "text"
    with faults_in(os.path.join(folder, "docs.mdb")):
        database, meta = open_map(folder, "docs", segment.uuid, has_texts, segment.fingerprints, segment.documents)
        numbers = segment.documents if sets is None else len(sets)
        documents = entries = read_entries(database, numbers if has_texts else None, sets is not None)
        check(len(entries) == segment.documents, "count")
        check(manifest.id_type == "none" or {x for x, _ in entries} == set(fingerprints), "count")
        if has_texts:
            ids = read_all_ids(database, meta[b"dictionary"], numbers)
            documents = [(x, ids[number]) for x, number in entries]
        check_heaviest(meta, entries)
        if manifest.id_type == "none":
            return [(x, None) for x in fingerprints]
    if sets is not None:
        with faults_in(os.path.join(folder, "sets")):
            check(entries == sorted({(x, key) for key, members in sets for x in members[:manifest.sketch]}), "count")
    if manifest.by_id:
        verify_map_from_ids(folder, manifest, segment, documents)
    return documents


# Chapter 9: the map from IDs
def hash_of_id(identity):
    return checksum(identity if isinstance(identity, bytes) else struct.pack("<Q", identity))


def verify_map_from_ids(folder, manifest, segment, documents):
    with faults_in(os.path.join(folder, "by-id.mdb")):
        database, meta = open_map(folder, "by-id", segment.uuid)
        hashes, count = u64(meta[b"fingerprints"]), u64(meta[b"documents"])
        check(hashes <= count and (hashes > 0 or count == 0), "count")
        check(segment.fingerprints <= count <= segment.documents, "count")
        check(manifest.id_type != "u64" or count == segment.documents, "count")
        entries = read_entries(database)
        check(len(entries) == count and len({hashed for hashed, _ in entries}) == hashes, "count")
        check_heaviest(meta, entries)
        check(entries == sorted({(hash_of_id(identity), x) for x, identity in documents}), "count")


# Chapter 10: the log of pending records
ADD, REMOVE_DOCUMENT, REMOVE_FINGERPRINT, ADD_TEXT = range(4)


def read_record(data, at, f, id_type, sketch=0):
    """Operation, fingerprint, the bytes of the ID and the members (of a text) of the record at byte `at`, and where the
    record ends."""
    check(at + 9 <= len(data), "overrun")
    x, operation, at = u64(data, at), data[at + 8], at + 9
    has_id, members = operation < 2 or sketch and operation == ADD_TEXT, []
    size = 8 if id_type == "u64" and has_id else 0
    if id_type == "text" and has_id:
        check(at + 4 <= len(data), "overrun")
        size, at = u32(data, at), at + 4
    end = at + size + (8 * x if sketch and operation == ADD_TEXT else 0)
    check(end <= len(data), "overrun")
    check(operation == (ADD_TEXT if sketch else ADD) or operation == 1 and id_type != "none" or operation == 2,
          "operation")
    check(x < 1 << f, "bits")
    check(size <= 16777215, "size")
    if operation == ADD_TEXT:
        check(1 <= x <= 16777215, "count")
        members = read_members(data, at + size, x)
    return operation, x, data[at:at + size], members, end


def read_members(data, at, count):
    members = struct.unpack(f"<{count}Q", data[at:at + 8 * count])
    check(all(a < b for a, b in itertools.pairwise(members)), "order")
    return members


def decode_id(identity, id_type):
    """The ID of a document by the bytes of a record: bytes, a number or None."""
    return {"text": identity, "u64": u64(identity), "none": None}[id_type]


def read_frame(data, at, sequence, seed):
    """Where the frame at byte `at` ends, the number of its records and its checksum; None where there is no frame that
    follows the record with this sequence number, and what has the checksum `seed`."""
    size, count, first = u64(data, at), u64(data, at + 8), u64(data, at + 16)
    if size <= 32 or at + size > len(data) or not 1 <= count <= size - 32:
        return None
    if first != sequence + 1 or sequence + count > LARGEST - 1:
        return None
    stored = u64(data, at + size - 8)
    return (at + size, count, stored) if checksum(data[at:at + size - 8], seed) == stored else None


def read_slot(data, seed):
    """The offset, sequence number and checksum in the slot that counts, of two: the sound one that is further on."""
    slots = [data[at:at + 32] for at in (4096, 8192)]
    slots = [struct.unpack("<QQQ", slot[:24]) for slot in slots if checksum(slot[:24], seed) == u64(slot, 24)]
    check(slots, "checksum")
    slot = max(slots)
    check(slot[0] <= len(data), "size")
    return slot


def read_log(data, uuid, f, id_type, sketch=0, line=None, sequence=None):
    """The records of a log: sequence number of the last addition that each represents, operation, fingerprint, bytes of
    the ID, members. If they are given, the log must suit a manifest's line `log` and its sequence."""
    check_beginning(data, b"idxpendi", 12288)
    seed = u64(data, 80)
    check(checksum(data[:80]) == seed, "checksum")
    check(u32(data, 12) == 0, "reserved")
    last = u64(data, 72)
    check(last <= LARGEST - 1, "count")
    check(data[16:32] == uuid, "uuid")
    if line:
        check(data[32:48] == line.uuid and last == line.first or data[48:64] == line.uuid, "uuid")
        check(last <= sequence, "order")
    slot = read_slot(data, seed)
    records, at = [], 12288
    check(slot[0] > at or slot == (at, last, seed), "checksum")
    while frame := read_frame(data, at, last, seed):
        end, count, seed = frame
        check(not at < slot[0] <= end or slot == (end, last + count, seed), "checksum")
        at += 24
        before, last = last, last + count
        while before < last:
            *record, at = read_record(data[:end - 8], at, f, id_type, sketch)
            numbers = min(sketch, len(record[3])) if record[0] == ADD_TEXT else 1
            check(numbers <= last - before, "overrun")
            check(not line or not before < sequence < before + numbers, "order")
            before += numbers
            records.append((before, *record))
        check(at == end - 8, "size")
        at = end
    check(slot[0] <= at, "checksum")
    check(not line or last >= line.last, "order")
    return records


def read_pending_records(folder, manifest):
    """The records that no segment has, which are behind the manifest's sequence, without their sequence numbers."""
    if not manifest.log:
        return []
    with faults_in(os.path.join(folder, "pending.log")) as path:
        data = read_file(path)
        records = read_log(data, manifest.uuid, manifest.f, manifest.id_type, manifest.sketch, manifest.log,
                           manifest.sequence)
    return [record for number, *record in records if number > manifest.sequence]


def read_pending(folder, manifest):
    """The same as operation, fingerprint, bytes of the ID, with the additions that texts represent."""
    return [addition for record in read_pending_records(folder, manifest)
            for addition in additions_of(record, manifest.sketch)]


def additions_of(record, sketch):
    """A record as (operation, fingerprint, bytes of the ID); a text as the additions that it represents."""
    operation, x, identity, members = record
    return [(ADD, x, identity) for x in members[:sketch]] if operation == ADD_TEXT else [(operation, x, identity)]


# Chapter 11: removals of a segment
def read_removals(data, uuid, f, id_type, sketch=0, removed=None):
    """The removals in a file: operation, fingerprint, bytes of the ID. If `removed` is given, it is their number."""
    check_beginning(data, b"idxremov", 64)
    check(checksum(data[:56]) == u64(data, 56), "checksum")
    count, length = u64(data, 32), u64(data, 40)
    check(count >= 1, "count")
    check(length == len(data) - 64 - u32(data, 12), "size")
    check(data[16:32] == uuid, "uuid")
    check(removed is None or count == removed, "count")
    records, at, before = data[64:64 + length], 0, None
    check(checksum(records) == u64(data, 48), "checksum")
    removals = []
    while len(removals) < count:
        operation, x, identity, _, at = read_record(records, at, f, id_type, sketch)
        check(operation not in (ADD, ADD_TEXT), "operation")
        if before:
            lone = REMOVE_FINGERPRINT in (before[0], operation)
            after = (x, b"" if lone else identity[::-1] if id_type == "u64" else identity)
            check((before[1], b"" if lone else before[2]) < after, "order")
        before = (operation, x, identity[::-1] if id_type == "u64" else identity)
        removals.append((operation, x, identity))
    check(at == len(records), "size")
    return removals


def open_removals(folder, manifest, segment):
    if segment.removed == 0:
        return []
    with faults_in(os.path.join(folder, segment.name, "removed")) as path:
        return read_removals(read_file(path), segment.uuid, manifest.f, manifest.id_type, manifest.sketch,
                             segment.removed)


# Chapters 10 and 11: what the records leave of the documents
def apply_record(record, documents, id_type):
    """Does to `documents` what a record says. They are a dict of a list of IDs for each fingerprint that has any."""
    operation, x, identity = record
    identity = decode_id(identity, id_type)
    if operation == ADD:
        add_document(documents, x, identity, id_type)
    elif operation == REMOVE_FINGERPRINT:
        documents.pop(x, None)
    elif x in documents:
        documents[x] = [other for other in documents[x] if other != identity]
        if not documents[x]:
            del documents[x]


def add_document(documents, x, identity, id_type):
    """Adds a document. Without text IDs, adding it again changes nothing."""
    ids = documents.setdefault(x, [])
    if id_type == "text" or identity not in ids:
        ids.append(identity)


def read_documents(folder, manifest):
    """The IDs of the documents of an index that are not removed, as a dict of lists by fingerprint."""
    documents, number_of_tables = {}, len(manifest.tables)
    tables = read_index(folder, manifest)
    for segment in manifest.segments:
        (_, fingerprints), *_ = itertools.islice(tables, number_of_tables)
        added = read_document_map(folder, manifest, segment, fingerprints)
        for removal in open_removals(folder, manifest, segment):
            apply_record(removal, documents, manifest.id_type)
        for x, identity in added:
            add_document(documents, x, identity, manifest.id_type)
    for record in read_pending(folder, manifest):
        apply_record(record, documents, manifest.id_type)
    return documents


# Chapter 12: looking up
def probed_ranges(table, x, distance):
    """The lowest and the highest fingerprint with each prefix that is probed, as numbers of f bits."""
    p = table.permutation.prefix_bits
    rest = table.f - p
    for count in range(min(table.radius, distance) + 1):
        for places in itertools.combinations(range(p), count):
            prefix = x >> rest ^ sum(1 << place for place in places)
            yield prefix << rest, (prefix + 1 << rest) - 1


def look_up_in_table(table, query, distance):
    x, found = table.permutation.permute(query), set()
    for low, high in probed_ranges(table, x, distance):
        block = find_block(table, low)
        while block and block[0] < table.blocks:
            i, y = block
            fingerprints = decode_block(table, table.block(i), y, 0)
            found.update(other for other in fingerprints if (other ^ x).bit_count() <= distance)
            key = fingerprints[-1]
            block = (i + 1, key + 1) if key < high else None
    return {table.permutation.unpermute(other) for other in found}


def look_up(folder, query, distance):
    """The fingerprints of an index within the distance, of which none was removed as a whole."""
    manifest, found = open_manifest(folder), set()
    for segment in manifest.segments:
        for operation, x, _ in open_removals(folder, manifest, segment):
            if operation == REMOVE_FINGERPRINT:
                found.discard(x)
        for number in range(len(manifest.tables)):
            with faults_in(os.path.join(folder, table_name(segment, number))) as path:
                table = Table(read_file(path))
                table.check_against(number, manifest, segment)
                found |= look_up_in_table(table, query, distance)
    for operation, x, _ in read_pending(folder, manifest):
        if operation == ADD and (x ^ query).bit_count() <= distance:
            found.add(x)
        elif operation == REMOVE_FINGERPRINT:
            found.discard(x)
    return found


# Chapter 15: sets of texts
def read_long_number(data, at):
    """The number at byte `at`, seven bits per byte, and where it ends."""
    number = 0
    for i in range(10):
        check(at < len(data), "overrun")
        number |= (data[at] & 127) << 7 * i
        check(number <= LARGEST, "overrun")
        at += 1
        if data[at - 1] < 128:
            return number, at
    raise Fault("overrun")


def read_sets(data, id_type, uuid=None):
    """The sets in a file, completely verified: a list of (key, members)."""
    check_beginning(data, b"idx-sets", 4096)
    check(checksum(data[:4088]) == u64(data, 4088), "checksum")
    check(not any(data[64:4088]), "reserved")
    sets, members, size, entries = (u64(data, at) for at in (32, 40, 48, 56))
    check(size <= 2**56 and 8 * members + 2 * sets <= size and sets <= members, "count")
    check(any((sets, members, size, entries)) == all((sets, members, size, entries)), "count")
    check(entries <= sets and entries <= ceil_div(size, 4096), "count")
    D = ceil_div(4096 + size, 4096) * 4096
    C = ceil_div(D + 16 * entries, 4096) * 4096
    pages = C // 4096 - 1
    check(len(data) == C + 8 * pages + u32(data, 12), "size")
    check(uuid is None or data[16:32] == uuid, "uuid")
    for i in range(pages):
        check(checksum(data[4096 * (i + 1):4096 * (i + 2)]) == u64(data, C + 8 * i), "checksum")
    check(not any(data[4096 + size:D]) and not any(data[D + 16 * entries:C]), "padding")
    return read_set_records(data[4096:4096 + size], [(u64(data, at), u64(data, at + 8))
                                                     for at in range(D, D + 16 * entries, 16)], sets, members, id_type)


def read_set_records(records, entries, sets, members, id_type):
    found, at, used, key = [], 0, 0, 0
    while at < len(records):
        begin = at
        step, at = read_long_number(records, at)
        count, at = read_long_number(records, at)
        check(1 <= count <= 16777215, "count")
        check(at + 8 * count <= len(records), "overrun")
        if used == 0 or begin >= entries[used - 1][1] + 4096:
            check(used < len(entries) and entries[used][1] == begin and step == 0, "directory")
            step, used = entries[used][0] - key, used + 1
        check(0 <= step <= LARGEST - key, "order")
        key += step
        check(id_type != "text" or key == len(found), "order")
        found.append((key, read_members(records, at, count)))
        at += 8 * count
    check(used == len(entries), "directory")
    check(len(found) == sets and sum(len(set) for _, set in found) == members, "count")
    return found


def open_sets(folder, manifest, segment):
    """The sets of a segment, or None if the index has none."""
    if not manifest.sketch:
        return None
    with faults_in(os.path.join(folder, segment.name, "sets")) as path:
        return read_sets(read_file(path), manifest.id_type, segment.uuid)


def read_texts(folder, manifest):
    """The ID and the members of each text of an index that is not removed, which its smallest member decides."""
    texts = []
    for segment in manifest.segments:
        added = open_sets(folder, manifest, segment)
        if manifest.id_type == "text":
            database, meta = open_map(os.path.join(folder, segment.name), "docs", segment.uuid, True)
            ids = read_all_ids(database, meta[b"dictionary"], len(added))
            added = [(ids[number], members) for number, members in added]
        for removal in open_removals(folder, manifest, segment):
            texts = without_removed(texts, removal, manifest.id_type)
        texts += added
    for operation, x, identity, members in read_pending_records(folder, manifest):
        if operation == ADD_TEXT:
            texts.append((decode_id(identity, manifest.id_type), members))
        else:
            texts = without_removed(texts, (operation, x, identity), manifest.id_type)
    return texts


def without_removed(texts, removal, id_type):
    operation, x, identity = removal
    return [text for text in texts if text[1][0] != x or
            operation == REMOVE_DOCUMENT and text[0] != decode_id(identity, id_type)]


# Chapter 14: conformance vectors
def vector_bytes(text):
    """The bytes that items of a vector give: texts in quotes, and hexadecimal digits, which may be repeated by *."""
    data = b""
    for item in re.findall('"[^"]*"|[^ ]+', text):
        digits, _, times = item.partition("*")
        data += item[1:-1].encode() if item[0] == '"' else bytes.fromhex(digits) * int(times or 1)
    return data


def read_vectors(folder):
    """Yields each vector's name, kind, fault, lines (name and value), and the values of its lines `expect`."""
    for name in sorted(os.listdir(folder)):
        if not name.endswith(".txt"):
            continue
        text = read_file(os.path.join(folder, name)).decode("ascii").replace("\n ", " ")
        for paragraph in text[:-1].split("\n\n"):
            (_, title), *lines = [line.partition(" ")[::2] for line in paragraph.split("\n")]
            yield (*title.split(" "), [line for line in lines if line[0] != "expect"],
                   [value for name, value in lines if name == "expect"])


def try_block(fields):
    f, block_size, long_codes = (int(fields[name]) for name in ("bits", "block-size", "long-codes"))
    check(long_codes <= (block_size == 64), "code")
    code = Code(f, int(fields["near-bits"]), [int(length) for length in fields["lengths"].split()])
    form = SimpleNamespace(f=f, A=int(fields["anchor-bits"]), block_size=block_size, long_codes=long_codes, code=code)
    least = 0 if fields["before"] == "none" else int(fields["before"], 16) + 1
    return [hexadecimal(x, f) for x in decode_block(form, vector_bytes(fields["block"]), least, least)]


def try_ids(fields):
    return [id.hex() for id in read_ids(vector_bytes(fields["group"]), vector_bytes(fields["dictionary"]))]


def try_records(kind, fields):
    f, id_type, identity = int(fields["bits"]), fields["id-type"], parse_uuid(fields["uuid"].encode())
    sketch = int(fields.get("sketch", 0))
    if kind == "log":
        records = [record[1:] for record in read_log(vector_bytes(fields["log"]), identity, f, id_type, sketch)]
    elif kind == "removed":
        records = [(*removal, ()) for removal in read_removals(vector_bytes(fields["file"]), identity, f, id_type,
                                                               sketch)]
    else:
        record = vector_bytes(fields["record"])
        *fields, end = read_record(record, 0, f, id_type, sketch)
        check(end == len(record), "size")
        records = [fields]
    operations = ("add", "remove-document", "remove-fingerprint", "add-text")
    return [f"{operations[operation]} {x:x} {(identity + struct.pack(f'<{len(members)}Q', *members)).hex()}"
            for operation, x, identity, members in records]


def try_index(parts):
    """The tables of an index without document maps, from the names and bytes of its files: the name of each table, and
    its fingerprints, in one list."""
    with tempfile.TemporaryDirectory() as folder:
        for value in parts:
            name, _, text = value.partition(" ")
            os.makedirs(os.path.dirname(os.path.join(folder, name)), exist_ok=True)
            with open(os.path.join(folder, name), "wb") as file:
                file.write(vector_bytes(text))
        manifest = open_manifest(folder)
        return [word for name, fingerprints in read_index(folder, manifest)
                for word in (name, *(hexadecimal(x, manifest.f) for x in fingerprints))]


def try_vector(kind, lines):
    """What the vector holds, in the form of expected_of. Raises a fault if it has one."""
    fields = dict(lines)
    if kind == "index":
        return try_index(value for _, value in lines)
    if kind == "table":
        table = Table(vector_bytes(fields["bytes"]))
        return [hexadecimal(x, table.f) for x in table.verify_and_unpermute()]
    if kind == "block":
        return try_block(fields)
    if kind == "group":
        return [f"{x:016x} {value}" for x, value in read_group(vector_bytes(fields["group"]))]
    if kind == "ids":
        return try_ids(fields)
    if kind in ("record", "log", "removed"):
        return try_records(kind, fields)
    if kind == "sets":
        return [f"{key} {struct.pack(f'<{len(members)}Q', *members).hex()}"
                for key, members in read_sets(vector_bytes(fields["bytes"]), fields["id-type"])]
    {"manifest": read_manifest, "sums": check_sums}[kind](vector_bytes(fields["bytes"]))
    return []


def expected_of(kind, values):
    """What try_vector gives for a vector whose lines `expect` have these values."""
    if kind in ("index", "table", "block"):
        return " ".join(values).split()
    if kind == "ids":
        return [vector_bytes(value).hex() for value in values]
    if kind == "sets":
        return [f"{key} {vector_bytes(text).hex()}" for key, _, text in (value.partition(" ") for value in values)]
    if kind in ("record", "log", "removed"):
        words = (value.split(" ", 2) for value in values)
        return [f"{operation} {x} {vector_bytes(' '.join(identity)).hex()}" for operation, x, *identity in words]
    return values


def run_vectors(folder):
    """Tries all vectors, prints the outcomes, and returns an exit status."""
    failed = 0
    for name, kind, fault, lines, values in read_vectors(folder):
        try:
            found = "ok" if try_vector(kind, lines) == expected_of(kind, values) else "other content"
        except Fault as raised:
            found = raised.name
        failed += found != fault
        print(f"ok {name}" if found == fault else f"FAIL {name}: expected {fault}, found {found}")
    return 1 if failed else 0


# The commands
def print_table(path):
    with faults_in(path):
        table = Table(read_file(path))
        for x in table.verify_and_unpermute():
            print(hexadecimal(x, table.f))


def print_index(folder):
    manifest = open_manifest(folder)
    for name, fingerprints in list(read_index(folder, manifest)):
        print(name)
        for x in fingerprints:
            print(hexadecimal(x, manifest.f))


def print_documents(folder):
    manifest = open_manifest(folder)
    for x, ids in read_documents(folder, manifest).items():
        for identity in ids:
            text = identity if isinstance(identity, bytes) else str(identity).encode()
            text = b"" if identity is None else b"\t" + text
            sys.stdout.buffer.write(hexadecimal(x, manifest.f).encode() + text + b"\n")


def print_sets(folder):
    for identity, members in read_texts(folder, open_manifest(folder)):
        text = identity if isinstance(identity, bytes) else str(identity).encode()
        sys.stdout.buffer.write(text + b"\t" + b",".join(b"%016x" % member for member in members) + b"\n")


def print_found(folder, query, distance):
    manifest = open_manifest(folder)
    if not re.fullmatch("[0-9a-fA-F]{1,16}", query) or int(query, 16) >> manifest.f:
        return fail_usage(f"{query}: not a fingerprint of {manifest.f} bits")
    if not distance.isdecimal() or int(distance) > manifest.k:
        return fail_usage(f"{distance}: not a distance up to {manifest.k}")
    for x in sorted(look_up(folder, int(query, 16), int(distance))):
        print(hexadecimal(x, manifest.f))
    return 0


def fail_usage(message=__doc__[__doc__.index("usage"):-1]):
    """Prints a message, how to call this by default, and returns an exit status."""
    print(message, file=sys.stderr)
    return 2


def main(command="", *arguments):
    commands = {"table": (print_table, 1), "index": (print_index, 1), "documents": (print_documents, 1), "sets": (print_sets, 1),
                "lookup": (print_found, 3), "vectors": (run_vectors, 1)}
    function, count = commands.get(command, (None, -1))
    if len(arguments) != count:
        return fail_usage()
    try:
        return function(*arguments) or 0
    except Fault as fault:
        print(f"{fault.path}: fault {fault.name}", file=sys.stderr)
    except OSError as error:
        print(f"{error.filename}: {error.strerror}", file=sys.stderr)
    return 1


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
