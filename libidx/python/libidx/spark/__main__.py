"""The command: `spark-submit $(python -c 'import libidx.spark.__main__ as m; print(m.__file__)')`, or
`python -m libidx.spark`, which takes the master from --master."""

from __future__ import annotations

import argparse
import logging
import os
import re
import sys
import threading
import time
from typing import Any, Optional

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

import libidx
from libidx import spark as idx
from libidx.__main__ import size_of
from libidx.spark._columns import invalid


def _make_parser() -> argparse.ArgumentParser:
    """The parser of the command's arguments."""
    parser = argparse.ArgumentParser(prog="libidx.spark", description="Near-duplicates on Apache Spark.")
    parser.add_argument("--master", help="the cluster, such as spark://host:7077; by default that of spark-submit")
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")

    def command(name: str, help: str, input: str = "documents") -> argparse.ArgumentParser:
        added = commands.add_parser(name, help=help, description=help)
        added.add_argument("--input", required=True, nargs="+", metavar="PATH", help=f"Parquet: {input}")
        added.add_argument("--output", required=True, metavar="PATH", help="what to make; it must not exist")
        if name != "fingerprint":
            added.add_argument("--memory", type=size_of, default=1 << 29, metavar="SIZE", help="of a task (default 512M)")
        if name not in ("fingerprint", "dedup"):
            default = None if name in ("build", "lookup") else 3
            added.add_argument("-k", type=int, default=default, help="distance in bits (default 3, or that of the shards)")
            added.add_argument("--fingerprint", default="fingerprint", metavar="COLUMN", help="(default fingerprint)")
        return added

    made = command("fingerprint", "Add a column of fingerprints of texts.")
    made.add_argument("--text", required=True, metavar="COLUMN")
    made.add_argument("--recipe", help="as for idx fingerprint")
    made.add_argument("--bits", type=int, default=64)
    made.add_argument("--min-features", type=int, default=0, metavar="N", help="null for texts that have fewer")
    matched = command("match", "List old fingerprints that are near to new ones.", "new fingerprints")
    matched.add_argument("--old", required=True, nargs="+", metavar="PATH", help="files or indexes that workers read")
    matched.add_argument("--format", choices=("u64", "npy", "parquet", "index"), help="of --old")
    matched.add_argument("--new-id", metavar="COLUMN")
    matched.add_argument("--old-id", metavar="COLUMN")
    built = command("build", "Build an index in shards.", "fingerprints")
    built.add_argument("--shards", type=int, required=True, metavar="N")
    built.add_argument("--id", metavar="COLUMN")
    built.add_argument("--scheme", default="auto", help="as for idx build")
    built.add_argument("--by-id", action="store_true", help="keep a map from IDs")
    built.add_argument("--text", metavar="COLUMN", help="make an index of texts in place of fingerprints")
    built.add_argument("--shingle", metavar="N", help="with --text: as for idx build")
    asked = command("lookup", "List the documents of an index in shards that are near.", "fingerprints")
    asked.add_argument("--shards", required=True, metavar="PATH", help="the output of build")
    asked.add_argument("--id", metavar="COLUMN")
    asked.add_argument("--copy", action="store_true", help="copy shards to workers first")
    asked.add_argument("--text", metavar="COLUMN", help="list the texts that resemble these, in shards of texts")
    for one in built, asked:
        one.add_argument("--resemble", type=float, metavar="T", help="with --text: by how much texts resemble (default 0.8, or what the shards were built for)")
    command("pairs", "List all near pairs of fingerprints.", "fingerprints")
    joined = command("clusters", "Say of each fingerprint which document represents it.", "fingerprints")
    joined.add_argument("--id", metavar="COLUMN", help="without it, the input is what pairs made")
    kept = command("dedup", "Say of each document which one represents it.")
    kept.add_argument("--id", required=True, metavar="COLUMN")
    kept.add_argument("--text", required=True, metavar="COLUMN")
    kept.add_argument("--resemble", type=float, metavar="T", help="as for idx dedup (default 0.8)")
    kept.add_argument("--shingle", metavar="N", help="as for idx dedup")
    kept.add_argument("--ignore-common", metavar="N", help="as for idx dedup")
    kept.add_argument("--by", choices=("document", "paragraph", "line"), default="document", help="as for idx dedup")
    for name in "--min-words", "--min-document-words", "--again":
        kept.add_argument(name, type=int, metavar="N", help="with --by: as for idx dedup")
    kept.add_argument("--within", action="store_true", help="with --by: as for idx dedup")
    for one in joined, kept:
        one.add_argument("--keep", action="store_true", help="write only the documents to keep, without added columns")
    return parser


OF_PARTS = "min_words", "min_document_words", "again", "within"


def _dedup(df: DataFrame, given: argparse.Namespace) -> DataFrame:
    """The documents with what was found, or with --keep those to keep."""
    options: dict[str, Any] = {"shingle": given.shingle, "memory": given.memory}
    of_parts = {name: getattr(given, name) for name in OF_PARTS if getattr(given, name) not in (None, False)}
    if given.by == "document":
        for name in of_parts:
            raise invalid(f"{name} needs by='paragraph' or by='line'")
        found = idx.dedup(df, given.id, given.text, given.resemble, ignore_common=given.ignore_common, **options)
        return found.where("not is_duplicate").select(df.columns) if given.keep else found
    if given.ignore_common is not None:
        raise invalid("ignore_common is for whole documents: omit it, or by")
    found = idx.dedup_parts(df, given.id, given.text, given.by, given.resemble, **of_parts, **options)
    if given.keep:
        found = found.where("cut_text is not null").withColumn(given.text, F.col("cut_text")).select(df.columns)
    return found


def _run_command(spark: SparkSession, given: argparse.Namespace) -> Optional[DataFrame]:
    """Runs a command. Returns the DataFrame to write; None if it is written already."""
    df = spark.read.parquet(*given.input)
    if given.command == "fingerprint":
        return idx.fingerprint(df, given.text, given.recipe, bits=given.bits, min_features=given.min_features)
    if given.command == "dedup":
        return _dedup(df, given)
    options: dict[str, Any] = {"fingerprint": given.fingerprint, "memory": given.memory}
    if given.command == "clusters":
        if given.keep and given.id is None:
            raise invalid("keep needs id: pairs are no documents")
        found = idx.clusters(df, given.id, given.k, **options)
        return found.where("not is_duplicate").select(df.columns) if given.keep else found
    if given.command == "match":
        ids = {"new_id": given.new_id, "old_id": given.old_id}
        return idx.match(df, given.old, given.k, format=given.format, **ids, **options)
    if given.command == "build":
        more = {name: getattr(given, name) for name in ("id", "k", "scheme", "by_id", "text", "resemble", "shingle")}
        idx.build(df, given.output, given.shards, **more, **options)
        return None
    if given.command == "lookup":
        more = {name: getattr(given, name) for name in ("id", "copy", "text", "resemble")}
        return idx.lookup(df, given.shards, given.k, **more, **options)
    return idx.pairs(df, given.k, **options)


class Progress(threading.Thread):
    """Says on standard error how many partitions of each running stage are done, at most once a second."""

    def __init__(self, spark: SparkSession) -> None:
        super().__init__(daemon=True)
        self.tracker = spark.sparkContext.statusTracker()
        self.ended = threading.Event()

    def run(self) -> None:
        said: dict[int, tuple[int, float]] = {}
        while not self.ended.wait(0.2):
            for stage in sorted(self.tracker.getActiveStageIds()):
                info = self.tracker.getStageInfo(stage)
                done, since = said.get(stage, (-1, 0.0))
                if info is not None and info.numCompletedTasks != done and time.monotonic() - since >= 1:
                    said[stage] = info.numCompletedTasks, time.monotonic()
                    _say(f"stage {stage}: {info.numCompletedTasks} of {info.numTasks} partitions")


def _say(words: str) -> None:
    """Prints a line on standard error."""
    print(f"libidx.spark: {words}", file=sys.stderr, flush=True)


def _describe_error(error: Exception) -> str:
    """What went wrong, in one line: of an error in a worker, the last line of its traceback."""
    text = str(error)
    raised = re.findall(r"^\s*(?:[A-Za-z_]\w*\.)*[A-Za-z_]*(?:Error|Exception): (.+)$", text, re.M)
    if "Traceback" in text and raised:
        return str(raised[-1])
    return text.strip().splitlines()[0] if text.strip() else type(error).__name__


def main(arguments: Optional[list[str]] = None) -> int:
    given = _make_parser().parse_args(arguments)
    logging.basicConfig(level=logging.WARNING, format="libidx.spark: %(message)s", stream=sys.stderr)
    logging.getLogger("libidx.spark").setLevel(logging.INFO)
    if "://" not in given.output and os.path.exists(given.output):
        _say(f"{given.output} exists: remove it, or give another place")
        return 2
    builder = SparkSession.builder.appName(f"libidx {given.command}")
    spark = (builder.master(given.master) if given.master else builder).getOrCreate()
    progress = Progress(spark)
    progress.start()
    try:
        found = _run_command(spark, given)
        if found is not None:
            found.write.parquet(given.output)
        _say(f"{given.output} is complete")
        return 0
    except Exception as error:  # of Spark, of a worker or of libidx: a sentence says it all
        _say(error.sentence if isinstance(error, libidx.Error) else _describe_error(error))
        return 2
    finally:
        progress.ended.set()
        progress.join()
        spark.stop()


if __name__ == "__main__":
    sys.exit(main())
