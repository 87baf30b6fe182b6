"""The Python package beside C: the same index and the same queries in one process, in turns; medians. On a
busy machine, believe the ratio of processor time alone.

usage: python.py BUILD_FOLDER [COUNT]

BUILD_FOLDER is that of a build of this version, of which python.so, which makes the calls from C, and the idx command
are taken; COUNT fingerprints (default 1000000) are indexed with text IDs, in a temporary folder."""

import ctypes
import gc
import os
import pathlib
import resource
import statistics
import subprocess
import sys
import tempfile
import time

import numpy

import libidx

TURNS = 9


def processor_seconds():
    mine, others = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return mine.ru_utime + mine.ru_stime + others.ru_utime + others.ru_stime


def with_processor_time(call):
    begin = processor_seconds()
    took = call()
    return took, processor_seconds() - begin


def in_turns(one, other, turns=TURNS):
    """Medians of two calls, each of which returns its own seconds, and of their ratios in each turn: of these seconds
    and of processor time."""
    calls, times = [one, other], []
    for turn in range(turns + 1):
        order = calls if turn % 2 else calls[::-1]
        took = {call: with_processor_time(call) for call in order}
        if turn > 0:  # the first warms up
            times.append((*took[one], *took[other]))
    return (
        statistics.median(a for a, _, _, _ in times),
        statistics.median(b for _, _, b, _ in times),
        statistics.median(a / b for a, _, b, _ in times),
        statistics.median(a / b for _, a, _, b in times),
    )


def timed(call, *arguments, **keywords):
    begin = time.perf_counter()
    call(*arguments, **keywords)
    return time.perf_counter() - begin


def row(name, count, python, c, ratio, of_processor_time):
    scale = 1e9 / count
    times = f"{python * scale:,.0f} ns | {c * scale:,.0f} ns | {ratio:.3f} | {of_processor_time:.3f}"
    print(f"| {name} | {times} |", flush=True)


class C:
    """The calls of python.so."""

    def __init__(self, build, path):
        self.library = ctypes.CDLL(str(build / "bench" / "python.so"))
        self.library.open_index.restype = ctypes.c_void_p
        self.index = ctypes.c_void_p(self.library.open_index(os.fsencode(path)))
        assert self.index

    def __call__(self, name, array, *numbers):
        function = getattr(self.library, name)
        function.restype = ctypes.c_uint64
        pointer = array.ctypes.data_as(ctypes.c_void_p)
        took = function(self.index, pointer, *(ctypes.c_size_t(n) for n in numbers))
        assert took > 0
        return took / 1e9


def look_ups(index, c, queries):
    for threads in 1, 2:
        for batch in 100_000, 1000, 1:
            some = queries if batch > 1 else queries[:20000]
            if batch == 1 and threads == 2:
                continue
            pieces = [some[i : i + batch] for i in range(0, len(some), batch)]

            def python():
                begin = time.perf_counter()
                for piece in pieces:
                    index.lookup(piece, threads=threads)
                return time.perf_counter() - begin

            result = in_turns(python, lambda: c("look_up_batches", some, len(some), batch, 3, threads))
            row(f"`lookup(array)`, batches of {batch:,}, threads: {threads}", len(some), *result)
    numbers = queries[:20000].tolist()

    def each(call):
        begin = time.perf_counter()
        for number in numbers:
            call(number)
        return time.perf_counter() - begin

    row(
        "`lookup(int)`",
        len(numbers),
        *in_turns(lambda: each(index.lookup), lambda: c("look_up_each", queries, len(numbers), 3)),
    )
    row(
        "`exists(int)`",
        len(numbers),
        *in_turns(lambda: each(index.exists), lambda: c("exists_each", queries, len(numbers), 3)),
    )


def documents(index, c, fingerprints):
    count = len(fingerprints)
    many = in_turns(
        lambda: timed(index.documents, fingerprints), lambda: c("documents_many", fingerprints, count, 1), 5
    )
    row("`documents(array)`, beside idx_list_documents", count, *many)


def builds(idx, folder, fingerprints):
    fingerprints.tofile(folder / "raw.u64")

    def python():
        return timed(libidx.build, folder / "p", fingerprints, replace=True)

    def command():
        return timed(subprocess.run, [idx, "build", "--force", "--threads", "1", "--id-type", "u64", "--format", "u64",
                                      folder / "c", folder / "raw.u64"], check=True, stderr=subprocess.DEVNULL)  # fmt: skip

    row("`build(array)`, beside the command", len(fingerprints), *in_turns(python, command, 5))


def texts(idx, folder, random):
    words = [f"word{n}" for n in range(5000)]
    documents = [" ".join(words[n] for n in random.zipf(1.3, 400) % 5000) for _ in range(20000)]
    (folder / "texts.tsv").write_text("".join(f"{i}\t{text}\n" for i, text in enumerate(documents)))
    fingerprinter = libidx.Fingerprinter()
    for threads in 1, 2:

        def command():
            return timed(subprocess.run, [idx, "fingerprint", "--format", "tsv", "--threads", str(threads),
                                          folder / "texts.tsv"], check=True, stdout=subprocess.DEVNULL)  # fmt: skip

        result = in_turns(lambda: timed(fingerprinter, documents, threads=threads), command, 5)
        row(f"`Fingerprinter`, texts of 400 words, threads: {threads}, beside the command", len(documents), *result)


def main():
    build, count = pathlib.Path(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 10**6
    random = numpy.random.default_rng(1)
    fingerprints = random.integers(0, 2**64 - 1, count, numpy.uint64, endpoint=True)
    queries = random.integers(0, 2**64 - 1, 200_000, numpy.uint64, endpoint=True)
    queries[::2] = random.choice(fingerprints, len(queries) // 2) ^ numpy.uint64(5 << 20)
    print(f"libidx {libidx.__version__}, {libidx.INSTRUCTIONS}, {count:,} fingerprints, half of the queries near one\n")
    print("| call | Python | C | Python / C | of processor time |\n|---|---|---|---|---|")
    gc.disable()
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        libidx.build(folder / "i", fingerprints, [f"https://example.org/{n}/page" for n in range(count)], threads=2)
        c = C(build, folder / "i")
        with libidx.open(folder / "i") as index:
            index.lookup(queries)
            look_ups(index, c, queries)
            documents(index, c, random.permutation(fingerprints))
        idx = build / "tools" / "idx"
        builds(idx, folder, fingerprints)
        if libidx.HAS_TEXT:
            texts(idx, folder, random)


if __name__ == "__main__":
    main()
