"""Near-duplicates in a dataset of Hugging Face's datasets: a column of fingerprints, and a selection of rows.

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
    fingerprints, features = fingerprinter().with_features(batch["text"])
    return {"fingerprint": fingerprints, "features": features}


def drop_near_duplicates(dataset, k=3):
    """The rows of which no earlier row is a near-duplicate, and those without any word."""
    dataset = dataset.map(sign, batched=True)
    columns = dataset.with_format("arrow")[:]  # Arrow goes into libidx as it is
    rows = numpy.flatnonzero(columns["features"].to_numpy())
    keep = numpy.ones(len(dataset), bool)
    keep[rows] = libidx.dedup(columns["fingerprint"].to_numpy()[rows], k).keep
    return dataset.select(numpy.flatnonzero(keep)).remove_columns("features")


def main(source, target):
    dataset = load_dataset("parquet", data_files=source, split="train")
    drop_near_duplicates(dataset).to_parquet(target)


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit("usage: python datasets_dedup.py INPUT.parquet OUTPUT.parquet")
    main(*sys.argv[1:])
