"""Fingerprints of texts in many scripts, by every recipe, are those for ever: golden.json is computed without ICU."""

import json
from pathlib import Path

import pytest

import libidx

GOLDEN = Path(__file__).parent / "golden.json"
pytestmark = pytest.mark.skipif(not libidx.HAS_TEXT, reason="built without ICU")


@pytest.fixture(scope="module")
def golden():
    if not GOLDEN.exists():
        pytest.skip("there is no golden.json here; tests/python/golden makes it")
    return json.loads(GOLDEN.read_text())


def test_golden(golden):
    table = libidx.train(golden["corpus"], "words:1;w=tf")
    weights = set()
    for recipe, title, text, features, fingerprint in golden["rows"]:
        weighted = recipe is not None and "idf:" in recipe
        fingerprinter = libidx.Fingerprinter(recipe, table=table if weighted else None)
        titles = None if title is None else [title]
        found, counts = fingerprinter.with_features([text], titles=titles)
        assert [int(found[0]), int(counts[0])] == [fingerprint, features], (recipe, text)
        weights.add(recipe)
    assert len(weights) > 15
