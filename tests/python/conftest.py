"""What the tests of the Python package share: a folder of their own, and the linear scan to compare look-ups with."""

import os

import numpy
import pytest


def pytest_configure(config):
    config.addinivalue_line("markers", "nightly: takes seconds, and is not among what continuous integration runs")


def pytest_terminal_summary(terminalreporter):
    """How to run alone what failed: by the script that ran all."""
    script = os.environ.get("LIBIDX_TESTS")
    failed = [report.nodeid for kind in ("failed", "error") for report in terminalreporter.stats.get(kind, ())]
    if script and failed:
        terminalreporter.write_line("To run one of these alone:")
        for test in dict.fromkeys(failed):
            terminalreporter.write_line(f"    {script} '{test}'")


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    """Each test works in an empty folder."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def random():
    return numpy.random.default_rng(int(os.environ.get("SEED", "1")))


def distances(a, b):
    """Hamming distances between all of a and all of b."""
    return numpy.bitwise_count(a[:, None] ^ b[None, :])


def scan(fingerprints, query, k):
    """The distinct fingerprints within k bits of a query, nearest first, then by value: (fingerprint, distance)."""
    distinct = numpy.unique(fingerprints)
    apart = distances(numpy.array([query], numpy.uint64), distinct)[0]
    near = numpy.flatnonzero(apart <= k)
    order = numpy.lexsort((distinct[near], apart[near]))
    return [(int(distinct[i]), int(apart[i])) for i in near[order]]


def near_copies(random, count, bits=64, most=5):
    """Fingerprints of which half are within some bits of another, up to `most`."""
    top = (1 << bits) - 1
    fingerprints = random.integers(0, top, count, numpy.uint64, endpoint=True)
    for i in range(1, count, 2):
        turned = int(fingerprints[i - 1])
        for bit in random.integers(0, bits, random.integers(0, most + 1)):
            turned ^= 1 << int(bit)
        fingerprints[i] = turned
    return fingerprints
