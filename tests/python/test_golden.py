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


def lacks_dictionaries():
    """Wheels do: there, recipes of version 1 refuse texts of scripts that are written without spaces."""
    try:
        libidx.Fingerprinter("words:1;v1")(["\u4e2d\u6587"])
    except libidx.Error as error:
        assert "python3-libidx" in str(error) and "conda-forge" in str(error)
        return True
    return False


def is_refused(recipe, text):
    words = (recipe or "").startswith(("words", "segments", "terms", "idf"))
    return words and recipe.endswith(";v1") and any("\u0e00" < c < "\uac00" for c in text)


def test_golden(golden):
    tables = {v: libidx.train(golden["corpus"], f"words:1;w=tf;v{v}") for v in "12"}
    weights, without = set(), lacks_dictionaries()
    for recipe, title, text, features, fingerprint in golden["rows"]:
        weighted = recipe is not None and "idf:" in recipe
        fingerprinter = libidx.Fingerprinter(recipe, table=tables[recipe[-1]] if weighted else None)
        titles = None if title is None else [title]
        if without and is_refused(recipe, text):
            with pytest.raises(libidx.Error, match="lacks dictionaries"):
                fingerprinter([text])
            continue
        found, counts = fingerprinter.with_features([text], titles=titles)
        assert [int(found[0]), int(counts[0])] == [fingerprint, features], (recipe, text)
        weights.add(recipe)
    assert len(weights) > 15
