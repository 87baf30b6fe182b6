"""Near-duplicates in a dataset of Hugging Face's datasets: a selection of rows, and a column of their fingerprints.

    pip install datasets
    python datasets_dedup.py INPUT.parquet OUTPUT.parquet
"""

import functools
import sys

import numpy
from datasets import load_dataset

import libidx


@functools.cache
def fingerprinter():
    return libidx.Fingerprinter()


def sign(batch):
    return {"fingerprint": fingerprinter()(batch["text"])}


def drop_near_duplicates(dataset, resemble=0.8):
    """The rows whose texts resemble no earlier row's that is kept, with their fingerprints."""

    def read():
        for batch in dataset.with_format("arrow").iter(1000):  # Arrow goes into libidx as it is
            yield batch["text"]

    keep = libidx.dedup(read, resemble=resemble).keep
    return dataset.select(numpy.flatnonzero(keep)).map(sign, batched=True)


def main(source, target):
    dataset = load_dataset("parquet", data_files=source, split="train")
    drop_near_duplicates(dataset).to_parquet(target)


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit("usage: python datasets_dedup.py INPUT.parquet OUTPUT.parquet")
    main(*sys.argv[1:])
