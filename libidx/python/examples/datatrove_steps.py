"""Near-duplicates in a datatrove pipeline, within a crawl and against older ones.

Signatures writes the fingerprints of each task's documents, decide chooses in one process which documents to keep, and
DropDuplicates drops the others. An index of what was kept makes the next crawl know this one: of what it has, only
fingerprints are there. Within a crawl, texts are compared, which are read once more.

    pip install 'datatrove[io]' orjson
    python datatrove_steps.py CRAWL KEPT OLD_INDEX      # folders of JSON Lines; the index is made where there is none
"""

import itertools
import os
import sys
import tempfile
from pathlib import Path

import numpy
from datatrove.executor import LocalPipelineExecutor
from datatrove.pipeline.base import PipelineStep
from datatrove.pipeline.readers import JsonlReader
from datatrove.pipeline.writers import JsonlWriter

import libidx

BATCH = 1000


class Signatures(PipelineStep):
    """Writes fingerprints into a folder, a file per task. Documents pass through."""

    type = "DEDUP"
    name = "SimHash signatures"

    def __init__(self, folder, recipe=None):
        super().__init__()
        self.folder, self.recipe = folder, recipe

    def run(self, data, rank=0, world_size=1):
        fingerprinter = libidx.Fingerprinter(self.recipe)
        fingerprints, features = [numpy.empty(0, numpy.uint64)], [numpy.empty(0, numpy.uint64)]
        documents = iter(data)
        while batch := list(itertools.islice(documents, BATCH)):
            with self.track_time("batch"):
                made, counts = fingerprinter.with_features([document.text for document in batch])
            fingerprints.append(made)
            features.append(counts)
            yield from batch
        os.makedirs(self.folder, exist_ok=True)
        path = f"{self.folder}/{rank:05d}.signatures.npz"
        numpy.savez(path, fingerprints=numpy.concatenate(fingerprints), features=numpy.concatenate(features))


def decide(folder, texts, resemble=0.8, old=None, k=3, threads=1):
    """Keeps one of the documents of all tasks that resemble each other, and none within k bits of one of the index `old`.

    texts() gives the texts of all tasks, in batches. Documents without any word have no fingerprint to compare, and are
    kept. Returns the fingerprints that are new.
    """
    paths = sorted(Path(folder).glob("*.signatures.npz"))
    parts = [numpy.load(path) for path in paths]
    fingerprints = numpy.concatenate([part["fingerprints"] for part in parts])
    compared = numpy.concatenate([part["features"] for part in parts]) > 0
    keep = numpy.ones(len(fingerprints), numpy.bool_)
    if old is not None:
        with libidx.open(old) as index:
            keep[compared] = ~index.exists(fingerprints[compared], k, threads=threads)
    rows = numpy.flatnonzero(keep)

    def read():
        begin = 0
        for batch in texts():
            yield [text for text, fresh in zip(batch, keep[begin : begin + len(batch)], strict=True) if fresh]
            begin += len(batch)

    kept = libidx.dedup(read, resemble=resemble, threads=threads).keep
    keep[rows] = kept
    ends = numpy.cumsum([len(part["features"]) for part in parts])
    for path, kept in zip(paths, numpy.split(keep, ends[:-1]), strict=True):
        numpy.save(str(path).replace(".signatures.npz", ".keep.npy"), kept)
    return fingerprints[keep & compared]


class DropDuplicates(PipelineStep):
    """Drops what decide chose to drop. Reads the same documents in the same tasks as Signatures did."""

    type = "DEDUP"
    name = "near-duplicates"

    def __init__(self, folder):
        super().__init__()
        self.folder = folder

    def run(self, data, rank=0, world_size=1):
        keep = numpy.load(f"{self.folder}/{rank:05d}.keep.npy")
        for document, kept in zip(data, keep, strict=True):
            self.stat_update("total", "forwarded" if kept else "dropped")
            if kept:
                yield document


def main(crawl, kept, old, tasks=2):
    with tempfile.TemporaryDirectory() as folder:
        logs = f"{folder}/logs"
        steps = [JsonlReader(crawl), Signatures(folder)]
        LocalPipelineExecutor(steps, tasks=tasks, logging_dir=f"{logs}/1").run()
        if not os.path.exists(old):
            libidx.build(old, numpy.empty(0, numpy.uint64), id_type="none", recipe=libidx.Fingerprinter().recipe)

        def texts():
            for rank in range(tasks):
                documents = JsonlReader(crawl).run(rank=rank, world_size=tasks)
                while batch := [document.text for document in itertools.islice(documents, BATCH)]:
                    yield batch

        new = decide(folder, texts, old=old)
        steps = [JsonlReader(crawl), DropDuplicates(folder), JsonlWriter(kept, compression=None)]
        LocalPipelineExecutor(steps, tasks=tasks, logging_dir=f"{logs}/2").run()
    with libidx.Writer(old) as writer:
        writer.add(new)


if __name__ == "__main__":
    if len(sys.argv) != 4:
        sys.exit("usage: python datatrove_steps.py CRAWL KEPT OLD_INDEX")
    main(*sys.argv[1:])
