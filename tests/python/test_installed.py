"""What is true of an installed package: the README's example runs, and look-ups need nothing of ICU."""

import importlib.metadata
import re
import subprocess
import sys

import pytest

import libidx


def example():
    """The README is the long description in the package's metadata."""
    readme = importlib.metadata.metadata("libidx").get_payload()
    blocks = [block for block in re.findall(r"^```python\n(.*?)^```", readme, re.M | re.S) if "import libidx" in block]
    assert len(blocks) == 1
    return blocks[0]


@pytest.mark.skipif(not libidx.HAS_TEXT, reason="built without ICU")
def test_readme():
    names = {}
    exec(example(), names)
    assert names["added"].tolist() == [True]
    assert names["found"].fingerprints.tolist() == [int(names["fingerprints"][at]) for at in (0, 0, 2)]
    with libidx.open("pages.idx") as index:
        assert index.documents(int(names["fingerprints"][0])) == ["a", "b"]
        assert index.documents(int(libidx.Fingerprinter()(["a new page"])[0])) == ["d"]


def test_look_ups_without_text():
    """As on a machine that has no ICU: the module of texts can't be loaded there."""
    program = """
import sys
sys.modules["libidx._text"] = None
import libidx
assert not libidx.HAS_TEXT
libidx.build("i", [6, 7, 1 << 63])
with libidx.open("i") as index:
    print(index.lookup(7, 1), index.documents(6))
try:
    libidx.Fingerprinter()
except libidx.UnsupportedError as error:
    print(error)
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert "Match(fingerprint=6, distance=1)" in done.stdout and "built without ICU" in done.stdout
