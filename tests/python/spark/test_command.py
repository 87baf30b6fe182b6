"""The command, by spark-submit, and a packed environment that brings libidx to the workers."""

import os
import pathlib
import subprocess
import sys
import sysconfig
import tarfile

import pyarrow.parquet
from cluster import HOME
from conftest import near_copies
from test_dedup import documents, expected_texts
from test_match import expected, with_ids

import libidx
from libidx.spark import __main__

SUBMIT = [
    str(HOME / "bin" / "spark-submit"),
    *("--conf", "spark.driver.host=127.0.0.1", "--conf", "spark.driver.bindAddress=127.0.0.1"),
    *("--conf", "spark.ui.enabled=false", "--conf", "spark.executor.memory=512m", "--conf", "spark.cores.max=2"),
]


def submit(cluster, *arguments, options=(), environment=None):
    command = [*SUBMIT, "--master", cluster.url, *options, __main__.__file__, *arguments]
    environment = {**os.environ, "PYSPARK_PYTHON": sys.executable, "SPARK_HOME": str(HOME), **(environment or {})}
    done = subprocess.run(command, capture_output=True, text=True, env=environment)
    # spark-submit puts standard error there, too.
    said = [line for line in done.stdout.splitlines() if line.startswith("libidx.spark: ")]
    assert said, done.stdout + done.stderr
    return done.returncode, said


def test_commands(free_cluster, random):
    held = near_copies(random, 3000)
    ids = [f"old-{n}" for n in range(len(held))]
    pyarrow.parquet.write_table(pyarrow.table({"fingerprint": held.view("int64"), "id": ids}), "old.parquet")
    pyarrow.parquet.write_table(pyarrow.table({"fingerprint": held[:50].view("int64")}), "new.parquet")
    old, new = os.path.abspath("old.parquet"), os.path.abspath("new.parquet")

    progress = []

    def run(name, *arguments, output=None):
        output = output or name
        status, said = submit(free_cluster, name, "--output", os.path.abspath(output), *arguments)
        assert status == 0 and said[-1].endswith(f"/{output} is complete"), said
        progress.extend(line for line in said if line.endswith(" partitions"))
        if name != "build":
            table = pyarrow.parquet.read_table(output).to_pydict()
            return sorted(zip(*table.values()))

    assert run("match", "--input", new, "--old", old) == expected(held[:50], held, 3)
    run("build", "--input", old, "--shards", "2", "--id", "id", "-k", "4")
    found = run("lookup", "--input", new, "--shards", os.path.abspath("build"), "-k", "3")
    wanted = with_ids(held[:50], range(50), held, ids, 3)
    assert found == sorted({row[:3] + row[4:] for row in wanted})
    rows = {"url": ["a", "b", "c"], "text": ["one two three four", "five six", "FIVE, six"]}
    pyarrow.parquet.write_table(pyarrow.table(rows), "texts.parquet")
    given = "--input", os.path.abspath("texts.parquet"), "--id", "url", "--text", "text"
    run("build", *given, "--shards", "2", "--resemble", "0.5", output="texts")
    found = run("lookup", *given, "--shards", os.path.abspath("texts"), output="alike")
    assert found == [("a", "a", 1.0), *((one, other, 1.0) for one in "bc" for other in "bc")]
    assert progress
    assert submit(free_cluster, "match", "--input", new, "--old", old, "--output", old) == (
        2,
        [f"libidx.spark: {old} exists: remove it, or give another place"],
    )
    refused = "pairs", "--input", old, "--output", os.path.abspath("p"), "--fingerprint", "print"
    status, said = submit(free_cluster, *refused)
    assert status == 2 and "there is no column 'print'" in said[-1]


def test_packed_environment(free_cluster, random):
    """Workers whose own Python has no libidx take it from an archive that the job brings along."""
    texts = documents(random, 60)
    ids = list(range(len(texts)))
    pyarrow.parquet.write_table(pyarrow.table({"id": ids, "text": texts}), "texts.parquet")
    library = sysconfig.get_paths()["platlib"]
    with tarfile.open("environment.tar.gz", "w:gz", compresslevel=1) as archive:
        libraries = "numpy.libs", "pyarrow.libs", "pandas.libs"
        for name in "libidx", "numpy", "pyarrow", "pandas", "dateutil", "six.py", *libraries:
            if os.path.exists(os.path.join(library, name)):
                archive.add(os.path.join(library, name), name)
    bare = pathlib.Path("bare")
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", bare], check=True)
    python = str((bare / "bin" / "python").absolute())
    assert subprocess.run([python, "-c", "import libidx"], stderr=subprocess.DEVNULL).returncode == 1
    status, said = submit(
        free_cluster,
        *("dedup", "--input", os.path.abspath("texts.parquet"), "--output", os.path.abspath("out")),
        *("--id", "id", "--text", "text"),
        options=[
            *("--archives", "environment.tar.gz#environment"),
            *("--conf", "spark.executorEnv.PYTHONPATH=./environment"),
            *("--conf", f"spark.pyspark.python={python}", "--conf", f"spark.pyspark.driver.python={sys.executable}"),
        ],
        environment={"PYSPARK_PYTHON": python},
    )
    assert status == 0, said
    table = pyarrow.parquet.read_table("out", columns=["id", "representative_id", "resemblance", "is_duplicate"])
    assert sorted(zip(*table.to_pydict().values())) == expected_texts(list(zip(ids, texts)), 0.8)
