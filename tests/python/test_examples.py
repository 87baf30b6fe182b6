"""The examples for other tools do what they say."""

import ast
import asyncio
import http.client
import importlib.util
import json
import os
import re
import socket
import subprocess
import sys
import time
from pathlib import Path

import numpy
import pytest

import libidx

EXAMPLES = Path(os.environ.get("LIBIDX_EXAMPLES", Path(__file__).parent / "examples"))
pytestmark = [
    pytest.mark.skipif(not EXAMPLES.exists(), reason="there is no folder of examples here"),
    pytest.mark.skipif(not libidx.HAS_TEXT, reason="built without ICU"),
]

# Number of the text and what follows it: the third of OLD is near to its first, and the fourth of NEW to its second.
OLD = [(1, ""), (2, ""), (1, "!"), (3, "")]
NEW = [(2, "?"), (4, ""), (5, ""), (4, " "), (None, "!!!"), (None, "...")]


def text(number):
    """Sixty words, which only texts of the same number share; of None no words."""
    return "" if number is None else " ".join(f"word{number}x{i}" for i in range(60))


def rows_of(crawl, name):
    return [
        {"url": f"https://{name}.example/{i}", "text": text(number) + more} for i, (number, more) in enumerate(crawl)
    ]


def load(name):
    specification = importlib.util.spec_from_file_location(name, EXAMPLES / f"{name}.py")
    module = importlib.util.module_from_spec(specification)
    specification.loader.exec_module(module)
    return module


@pytest.mark.nightly  # the packages take seconds to be loaded; test_without_arguments loads them, too
def test_datatrove(tmp_path):
    """Two crawls, in two tasks of two files each; the second is compared with the first."""
    pytest.importorskip("datatrove")
    kept = {}
    for name, crawl in ("old", OLD), ("new", NEW):
        folder = tmp_path / name
        folder.mkdir()
        rows = rows_of(crawl, name)
        for part in 0, 1:
            lines = [json.dumps({"text": row["text"], "id": row["url"]}) for row in rows[part::2]]
            (folder / f"{part}.jsonl").write_text("\n".join(lines) + "\n")
        command = [sys.executable, EXAMPLES / "datatrove_steps.py", folder, tmp_path / f"{name}-kept", "crawl.idx"]
        done = subprocess.run(command, capture_output=True, text=True, env={**os.environ, "HF_HUB_OFFLINE": "1"})
        assert done.returncode == 0, done.stdout + done.stderr
        files = (tmp_path / f"{name}-kept").iterdir()
        kept[name] = {int(json.loads(line)["id"].rsplit("/", 1)[1]) for file in files for line in file.open()}
    assert kept == {"old": {0, 1, 3}, "new": {1, 2, 4, 5}}  # the first of NEW is near to one of OLD
    with libidx.open("crawl.idx") as index:
        assert index.info().pending_documents == 5  # texts 1, 2 and 3, then 4 and 5


@pytest.mark.parametrize("path", sorted(EXAMPLES.glob("*.py")), ids=lambda path: path.stem)
def test_what_to_install(path):
    """The docstring has a line for pip, with all that the example imports."""
    tree = ast.parse(path.read_text())
    imported = set()
    for node in ast.walk(tree):
        names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
        names += [node.module] if isinstance(node, ast.ImportFrom) else []
        imported |= {name.split(".")[0] for name in names}
    imported = {{"PIL": "pillow"}.get(name, name) for name in imported}
    needed = imported - set(sys.stdlib_module_names) - {"libidx", "numpy"}
    needed |= {"datatrove_steps": {"orjson"}, "asgi": {"uvicorn"}}.get(path.stem, set())
    line = re.search(r"^ *pip install (.*)$", ast.get_docstring(tree), re.M)
    assert needed <= (set(re.findall(r"[\w-]+", line[1])) if line else set())


@pytest.mark.parametrize(
    "name, needs",
    [
        ("datasets_dedup", "datasets"),
        ("datatrove_steps", "datatrove"),
        ("parquet", "duckdb"),
        ("asgi", None),
        ("image_hashes", None),
    ],
)
def test_without_arguments(name, needs):
    if needs is not None:
        pytest.importorskip(needs)
    environment = {name: value for name, value in os.environ.items() if name != "INDEX"}
    done = subprocess.run([sys.executable, EXAMPLES / f"{name}.py"], capture_output=True, text=True, env=environment)
    assert done.returncode == 1 and done.stdout == ""
    assert re.fullmatch(r"usage: .*\n", done.stderr)


def write_new(path):
    """Returns the URLs of the rows that are to be kept."""
    import pyarrow
    import pyarrow.parquet

    rows = rows_of(NEW, "new")
    pyarrow.parquet.write_table(pyarrow.Table.from_pylist(rows), path)
    return [row["url"] for i, row in enumerate(rows) if i != 3]


@pytest.mark.nightly  # as above
def test_datasets(tmp_path):
    pytest.importorskip("datasets")
    import pyarrow.parquet

    expected = write_new("new.parquet")
    environment = {**os.environ, "HF_HOME": str(tmp_path / "cache"), "HF_HUB_OFFLINE": "1"}
    command = [sys.executable, EXAMPLES / "datasets_dedup.py", "new.parquet", "kept.parquet"]
    done = subprocess.run(command, capture_output=True, text=True, env=environment)
    assert done.returncode == 0, done.stdout + done.stderr
    kept = pyarrow.parquet.read_table("kept.parquet").to_pydict()
    assert kept["url"] == expected
    assert kept["fingerprint"][0] == int(libidx.Fingerprinter()([text(2) + "?"])[0])


def test_parquet():
    pytest.importorskip("polars")
    import pyarrow.parquet

    example = load("parquet")
    expected = write_new("new.parquet")
    example.deduplicate("new.parquet", "kept.parquet")
    assert pyarrow.parquet.read_table("kept.parquet")["url"].to_pylist() == expected
    rows = example.clusters("new.parquet").fetchall()
    assert rows == [(0, "https://new.example/1", 0), (0, "https://new.example/3", 0)]


def test_readme(tmp_path):
    """README's block runs as it is, and prints what its remarks say."""
    places = [Path(__file__).parent / "README.md", Path(__file__).parents[2] / "README.md"]
    readme = next((place for place in places if place.exists()), None)
    if readme is None:
        pytest.skip("there is no README here")
    block = re.search(r"```python\n(import libidx\n.*?)```", readme.read_text(), re.S)[1]
    done = subprocess.run([sys.executable, "-c", block], capture_output=True, text=True, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    said = re.findall(r"^ *print\(.*# (?:.*?: )?(\[.*\])", block, re.M)
    assert len(said) == block.count("print(") == 3
    for line, expected in zip(done.stdout.splitlines(), said, strict=True):
        assert re.fullmatch(re.escape(expected).replace("…", r"\d+"), line.replace("libidx.Match", "Match")), line


def test_minhash_lsh(random):
    """Beside a dictionary of texts: insertions alone and in sessions, queries, removals, and by another process."""
    lsh_module = load("minhash_lsh")
    texts = {f"k{i}": " ".join(f"w{w}" for w in random.integers(0, 4, random.integers(3, 9))) for i in range(300)}
    with lsh_module.MinHashLSH("lsh.idx", threshold=0.5, shingle=2) as lsh:
        held = {}

        def check():
            answers = lsh.query_many(texts.values(), threads=2)
            for text, answer in zip(texts.values(), answers, strict=True):
                alike = {key: libidx.resemblance(text, other, width=2) for key, other in held.items()}
                assert set(answer) == {key for key, share in alike.items() if share >= 0.5}
                assert [alike[key] for key in answer] == sorted((alike[key] for key in answer), reverse=True)
            assert answers[7] == lsh.query(texts["k7"])

        check()
        for key in "k0", "k1", "k2":
            lsh.insert(key, texts[key])
            held[key] = texts[key]
        check()
        with lsh.insertion_session(buffer_size=40) as session:
            for key in list(texts)[3:100]:
                session.insert(key, texts[key])
                held[key] = texts[key]
        check()
        for key in list(held)[::3]:
            lsh.remove(key)
            del held[key]
        check()
        with pytest.raises(ValueError, match="does not exist"):
            lsh.remove("k0")
        keys = list(texts)[100:]
        added = lsh.query_and_insert(keys, [texts[key] for key in keys])
        for key, is_new in zip(keys, added, strict=True):
            alike = any(libidx.resemblance(texts[key], other, width=2) >= 0.5 for other in held.values())
            assert is_new is not alike
            held |= {key: texts[key]} if is_new else {}
        assert 0 < sum(added) < len(added)
        check()
        lsh.compact()
        check()
        with lsh_module.MinHashLSH("lsh.idx", threshold=0.5, shingle=2) as other:
            assert other.query(texts["k1"]) == lsh.query(texts["k1"]) != []
            lsh.insert("new", "a text of its own")
            assert other.query("a text of its own") == ["new"]
            with pytest.raises(libidx.BusyError):
                other.remove("new")
    with pytest.raises(ValueError, match="other shingles"):
        lsh_module.MinHashLSH("lsh.idx", threshold=0.5)


def flip(hashes, random, counts):
    """Hashes of 256 bits with so many other bits in each of their quarters."""
    changed = hashes.copy()
    for row in changed:
        for quarter in range(4):
            for bit in random.choice(64, counts[quarter], replace=False):
                row[quarter] ^= numpy.uint64(1) << numpy.uint64(bit)
    return changed


def test_image_hashes(tmp_path, random):
    """Every pair within 31 bits is found, however the bits are spread, and none beyond: as comparing all with all."""
    example = load("image_hashes")
    hashes = random.integers(0, 1 << 64, (5000, 4), numpy.uint64)
    hashes[2000:2100] = hashes[0]  # the same image often
    hashes[2100:2200, :3] = hashes[1, :3]  # and hashes that share quarters
    spreads = [(8, 8, 8, 7), (7, 8, 8, 8), (31, 0, 0, 0), (0, 15, 0, 16), (8, 8, 8, 8), (32, 0, 0, 0), (0, 0, 0, 0)]
    queries = numpy.concatenate([flip(hashes[at * 10 : at * 10 + 10], random, one) for at, one in enumerate(spreads)])
    example.build(tmp_path / "pdq", hashes)
    for most in 31, 30, 8, 0:
        query, number, distance = example.search(tmp_path / "pdq", queries, most)
        apart = numpy.bitwise_count(queries[:, None] ^ hashes[None]).sum(2)
        expected = {(int(q), int(n), int(apart[q, n])) for q, n in numpy.argwhere(apart <= most)}
        assert set(zip(query.tolist(), number.tolist(), distance.tolist())) == expected
        assert len(query) == len(expected) and (most != 31 or len(expected) > 50)
    assert [len(column) for column in example.search(tmp_path / "pdq", queries[:0])] == [0, 0, 0]
    texts = ["f" * 16 + "0" * 47 + "1", "0" * 64]
    assert example.parse(texts).tolist() == [[2**64 - 1, 0, 0, 1], [0] * 4]


def test_images(tmp_path, random):
    """Copies of pictures that were scaled, and saved by another program, are pairs of their paths; others aren't."""
    pytest.importorskip("imagehash")
    from PIL import Image

    paths = []
    for number in range(12):
        rows = random.integers(0, 256, (9, 9, 3), numpy.uint8)
        image = Image.fromarray(rows).resize((300, 200), Image.Resampling.BICUBIC)
        for kind, copy in ("png", image), ("jpg", image.resize((160, 120))):
            paths.append(str(tmp_path / f"{number}.{kind}"))
            copy.save(paths[-1])
    command = [sys.executable, EXAMPLES / "image_hashes.py", *paths]
    done = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    found = [line.split("\t") for line in done.stdout.splitlines()]
    assert sorted(pair[1:] for pair in found) == sorted(sorted(paths[at : at + 2]) for at in range(0, 24, 2))
    assert all(0 <= int(pair[0]) <= 8 for pair in found)


def test_faiss(random):
    """The same neighbours as FAISS finds, with equal fingerprints among them."""
    faiss = pytest.importorskip("faiss")
    fingerprints = random.integers(0, 1 << 63, 20000, numpy.uint64)
    fingerprints[10000:] = fingerprints[:10000] ^ (numpy.uint64(1) << random.integers(0, 64, 10000, numpy.uint64))
    fingerprints[100:200] = fingerprints[0]
    queries = fingerprints[50:10050:100].copy()
    flat = faiss.IndexBinaryFlat(64)
    flat.add(fingerprints.view(numpy.uint8).reshape(-1, 8))
    lims, distances, ids = flat.range_search(queries.view(numpy.uint8).reshape(-1, 8), 4)
    libidx.build("rows.idx", fingerprints)
    with libidx.open("rows.idx") as index:
        found = load("faiss_range_search").range_search(index, queries, 4)
    assert found[0].tolist() == lims.tolist() and len(ids) > 100
    for i in range(len(queries)):
        one, other = ([*zip(d[l[i] : l[i + 1]], n[l[i] : l[i + 1]])] for l, d, n in (found, (lims, distances, ids)))
        assert sorted((int(d), int(n)) for d, n in one) == sorted((int(d), int(n)) for d, n in other)


def make_index(generation):
    """Fingerprints that each have a near copy; the IDs of both say which generation they are of."""
    numbers = numpy.arange(1, 1001, dtype=numpy.uint64) * numpy.uint64(0x9E3779B97F4A7C15)
    both = numpy.concatenate([numbers, numbers ^ numpy.uint64(1)])
    libidx.build("served.idx", both, [f"g{generation}"] * len(both), replace=True)
    return numbers.tolist()


async def get(application, path, query=b""):
    sent = []

    async def send(message):
        sent.append(message)

    async def receive():
        return {"type": "http.request"}

    await application({"type": "http", "method": "GET", "path": path, "query_string": query}, receive, send)
    assert [message["type"] for message in sent] == ["http.response.start", "http.response.body"]
    assert dict(sent[0]["headers"])[b"content-type"] == b"application/json"
    return sent[0]["status"], json.loads(sent[1]["body"])


async def use(application, numbers):
    """Asks while the index is replaced three times, and returns the generations that answered."""
    told, started, ended, seen = asyncio.Queue(), asyncio.Event(), asyncio.Event(), []

    async def send(message):
        {"lifespan.startup.complete": started, "lifespan.shutdown.complete": ended}[message["type"]].set()

    told.put_nowait({"type": "lifespan.startup"})
    server = asyncio.create_task(application({"type": "lifespan"}, told.get, send))
    await started.wait()

    async def ask():
        while len(seen) == 0 or seen[-1] != "g4":
            number = numbers[len(seen) % len(numbers)]
            status, answer = await get(application, f"/lookup/{number:x}", b"k=1")
            (first, second) = answer["matches"]
            assert status == 200 and first["fingerprint"] == f"{number:016x}" and second["distance"] == 1
            (generation,) = first["documents"]
            assert second["documents"] == [generation]
            seen.append(generation)

    asking = [asyncio.create_task(ask()) for _ in range(4)]
    for generation in 2, 3, 4:
        await asyncio.sleep(1.2)
        await asyncio.to_thread(make_index, generation)
    await asyncio.wait_for(asyncio.gather(*asking), 60)
    assert (await get(application, "/elsewhere"))[0] == 404
    for path, query in ("/lookup/x", b""), ("/lookup/1", b"k=9"), ("/lookup/1", b"k=a"), ("/lookup/" + "1" * 17, b""):
        status, answer = await get(application, path, query)
        assert status == 400 and len(answer["error"]) > 10
    assert await get(application, "/lookup/5") == (200, {"matches": []})
    told.put_nowait({"type": "lifespan.shutdown"})
    await server
    assert ended.is_set()
    return set(seen)


def test_asgi(monkeypatch):
    numbers = make_index(1)
    monkeypatch.setenv("INDEX", "served.idx")
    assert asyncio.run(use(load("asgi").application, numbers)) == {"g1", "g2", "g3", "g4"}


class Local(http.client.HTTPConnection):
    """A connection to a socket in this folder."""

    def connect(self):
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.settimeout(60)
        self.sock.connect("socket")


def test_asgi_under_uvicorn():
    pytest.importorskip("uvicorn")
    (number, *_) = make_index(1)
    command = [sys.executable, "-m", "uvicorn", "--app-dir", EXAMPLES, "--uds", "socket", "asgi:application"]
    with subprocess.Popen(command, env={**os.environ, "INDEX": "served.idx"}, stderr=subprocess.PIPE) as server:
        until = time.monotonic() + 60
        while not os.path.exists("socket") and server.poll() is None and time.monotonic() < until:
            time.sleep(0.05)
        try:
            connection = Local("localhost")
            connection.request("GET", f"/lookup/{number:016X}")
            answer = connection.getresponse()
            assert answer.status == 200
            assert [match["documents"] for match in json.load(answer)["matches"]] == [["g1"], ["g1"]]
        finally:
            server.terminate()
    assert server.returncode in (0, -15)
