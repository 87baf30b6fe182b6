"""What the tests of libidx.spark share: a cluster, a session on it, and DataFrames."""

import os
import sys

import numpy
import pytest
from cluster import Cluster, connect, stop

@pytest.fixture(scope="session")
def cluster(tmp_path_factory):
    found = Cluster(tmp_path_factory.mktemp("cluster"), int(os.environ.get("IDX_SPARK_CORES", "2")), "2g")
    yield found
    stop()
    found.end()


@pytest.fixture
def spark(cluster):
    """A session that the tests share."""
    os.environ["PYSPARK_PYTHON"] = sys.executable
    return connect(cluster)


@pytest.fixture
def free_cluster(cluster):
    """The cluster without that session, whose executors hold its cores."""
    stop()
    return cluster


@pytest.fixture
def random():
    return numpy.random.default_rng(int(os.environ.get("SEED", "1")))


def count_bits(numbers):
    """Of each number of 64 bits, how many are set: NumPy 1 has no function for that."""
    return numpy.unpackbits(numbers.view(numpy.uint8).reshape(-1, 8), axis=1).sum(axis=1)


def near_copies(random, count):
    """Fingerprints of which half are within up to four bits of another."""
    fingerprints = random.integers(0, 2**64 - 1, count, numpy.uint64, endpoint=True)
    turned = fingerprints[: len(fingerprints[1::2])].copy()
    for _ in range(4):
        bits = numpy.uint64(1) << random.integers(0, 64, len(turned)).astype(numpy.uint64)
        turned ^= bits * random.integers(0, 2, len(turned)).astype(numpy.uint64)
    fingerprints[1::2] = turned
    return fingerprints


def frame(spark, fingerprints, ids=None, partitions=4):
    """A DataFrame of fingerprints, and IDs, by Parquet: rows in Python would take long."""
    import tempfile

    import pyarrow
    import pyarrow.parquet

    columns = {"fingerprint": pyarrow.array(numpy.ascontiguousarray(fingerprints).view(numpy.int64))}
    if ids is not None:
        columns["id"] = pyarrow.array(ids) if len(ids) else pyarrow.array([], pyarrow.int64())
    folder = tempfile.mkdtemp(dir=os.getcwd())
    table = pyarrow.table(columns)
    step = max(1, -(-len(table) // partitions))
    for i in range(partitions):
        pyarrow.parquet.write_table(table.slice(i * step, step), f"{folder}/{i}.parquet")
    return spark.read.schema(spark.read.parquet(folder).schema).parquet(folder)


def columns(df):
    """The columns of a DataFrame of numbers, sorted by the first of them, then the second and so on."""
    import tempfile

    import pyarrow.parquet

    path = os.path.join(tempfile.mkdtemp(dir=os.getcwd()), "found")
    df.write.parquet(path)
    found = [column.to_numpy() for column in pyarrow.parquet.read_table(path).columns]
    order = numpy.lexsort(found[::-1])
    return [column[order] for column in found]


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    """Each test works in an empty folder."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


def pytest_configure(config):
    config.addinivalue_line("markers", "small: also part of tests/run all")
