"""Near-duplicates of images, by their perceptual hashes: of 64 bits, and exactly so of 256 bits, such as those of PDQ.

    pip install pillow imagehash
    python image_hashes.py IMAGE…

prints the pairs of images whose 64-bit hashes are within 8 bits of each other. `build` and `search` are for hashes of
256 bits that another program made. Fingerprints have at most 64 bits, so each quarter of the hashes has an index. Where
two hashes differ in at most 31 bits, one of their four quarters differs in at most 7, since 4 · 8 is more than 31. So
looking up each quarter at k = 7 misses none, and the whole hashes decide about the candidates that this finds.
"""

import pathlib
import sys

import numpy

import libidx

FARTHEST = 31  # bits of 256, at which PDQ takes images for the same
QUARTERS = 4


def parse(lines):
    """Hashes of 256 bits in 64 hex digits, as PDQ's programs print them: uint64[n, 4]."""
    return numpy.array([numpy.frombuffer(bytes.fromhex(line), ">u8") for line in lines], numpy.uint64).reshape(-1, 4)


def build(folder, hashes):
    """Writes an index of each quarter into a new folder, and the hashes beside them."""
    folder = pathlib.Path(folder)
    folder.mkdir()
    for quarter in range(QUARTERS):
        column = numpy.ascontiguousarray(hashes[:, quarter])
        libidx.build(folder / f"{quarter}.idx", column, k=FARTHEST // QUARTERS)
    numpy.save(folder / "hashes.npy", hashes)


def find_candidates(index, queries, k):
    """A query's number, and that of a hash with a near quarter, in each row."""
    found = index.lookup(numpy.ascontiguousarray(queries), k)
    documents = index.documents(found.fingerprints)
    numbers = numpy.repeat(numpy.arange(len(queries)), numpy.diff(found.offsets))
    return numpy.stack([numpy.repeat(numbers, numpy.diff(documents.offsets)), documents.numbers.astype(int)], 1)


def search(folder, queries, most=FARTHEST):
    """All that is within `most` bits of a query: the query's number, that of the hash, and their distance."""
    folder = pathlib.Path(folder)
    hashes = numpy.load(folder / "hashes.npy", mmap_mode="r")
    candidates = []
    for quarter in range(QUARTERS):
        with libidx.open(folder / f"{quarter}.idx") as index:
            candidates.append(find_candidates(index, queries[:, quarter], most // QUARTERS))
    query, number = numpy.unique(numpy.concatenate(candidates), axis=0).T
    differing = (queries[query] ^ hashes[number]).view(numpy.uint8)
    distance = numpy.unpackbits(differing, axis=1).sum(1)
    near = distance <= most
    return query[near], number[near], distance[near]


def hash_image(path):
    """The perceptual hash of 64 bits. Any other of imagehash's is converted in the same way."""
    import imagehash
    from PIL import Image

    with Image.open(path) as image:
        return int(str(imagehash.phash(image)), 16)


def find_pairs(paths, index_path, k=8):
    """Builds an index of images by their paths, and yields the pairs of near ones and their distances."""
    hashes = numpy.array([hash_image(path) for path in paths], numpy.uint64)
    libidx.build(index_path, hashes, paths, k=k)
    with libidx.open(index_path) as index:
        found = index.lookup(hashes, k)
        documents = index.documents(found.fingerprints).tolist()
    numbers = numpy.repeat(numpy.arange(len(paths)), numpy.diff(found.offsets))
    for number, distance, near in zip(numbers, found.distances, documents):
        yield from ((int(distance), paths[number], other) for other in near if paths[number] < other)


if __name__ == "__main__":
    if len(sys.argv) < 3:
        sys.exit("usage: python image_hashes.py IMAGE…")
    for pair in find_pairs(sys.argv[1:], "images.idx"):
        print(*pair, sep="\t")
