"""range_search as FAISS has it, over an index of libidx with integer IDs: lims, D, I.

Like IndexBinaryFlat.range_search, it returns what is nearer than `radius` bits: the neighbours of query i are
I[lims[i]:lims[i + 1]], and their distances D[lims[i]:lims[i + 1]].
"""

import numpy

import libidx


def range_search(index: libidx.Index, queries, radius):
    found = index.lookup(queries, radius - 1)
    documents = index.documents(found.fingerprints)
    distances = numpy.repeat(found.distances, numpy.diff(documents.offsets))
    return documents.offsets[found.offsets], distances, documents.numbers


if __name__ == "__main__":
    libidx.build("rows.idx", numpy.array([6, 7, 7, 1 << 40], numpy.uint64))
    with libidx.open("rows.idx") as index:
        print(*range_search(index, [7, 0], radius=2))
