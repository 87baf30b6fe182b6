"""Indexes built in shards, and looked up in."""

from __future__ import annotations

import errno
import fcntl
import json
import os
import re
import shutil
import uuid
from collections.abc import Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple, Optional, Union

import numpy
import pyarrow
import pyarrow.compute
import pyarrow.fs
from pyspark import TaskContext
from pyspark.sql import DataFrame
from pyspark.sql import functions as F
from pyspark.sql.types import LongType, StringType, StructField, StructType

from .._errors import make
from .._index import Index
from .._making import Builder, default_k, plan
from .._resemblance import Shingle, check_resemblance, parse_shingle
from .._resembling import choose_sketch
from .._making import scheme as list_masks
from .._making import shard as shard_of
from ._columns import (
    LOG,
    MEMORY,
    Batches,
    Kind,
    check_distance,
    check_fingerprints,
    check_ids,
    check_same,
    check_texts,
    column_of,
    invalid,
    numbers_of,
    partition_keys,
    read_sets,
    signed,
    task_folder,
)
from ._files import check_index, locate, not_found
from ._match import add_new_ids, chosen, compare, list_matches, queries_of, with_documents
from ._resemble import ROWS, Rule, make_sets_of, pack_sets

if TYPE_CHECKING:
    from pyspark import Broadcast

    from .._batches import IdType

LIST = "shards.json"
ROW = "path string, uuid string, documents long, fingerprints long"
UUID = re.compile("[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")
QUERY_BYTES = 64
"""Memory that a batch of look-ups needs for a query, at most."""


class Job(NamedTuple):
    """What the tasks of a build have in common."""

    out: str  # where shards are published: a folder, or the URI of a store without rename
    shards: int
    column: str  # of fingerprints, or of texts
    id: Optional[str]
    options: dict[str, Any]
    rule: Optional[Rule]  # what the shingles of texts are; None: of fingerprints


def is_store(path: str) -> bool:
    """Whether a path is the URI of a store, where nothing can be renamed."""
    return "://" in path


def build(
    df: DataFrame,
    out: str,
    shards: int,
    *,
    id: Optional[str] = None,
    fingerprint: str = "fingerprint",
    text: Optional[str] = None,
    resemble: Optional[float] = None,
    shingle: Optional[Shingle] = None,
    k: Optional[int] = None,
    scheme: str = "auto",
    by_id: bool = False,
    memory: int = MEMORY,
) -> DataFrame:
    """Build an index in shards, at once: a row for each, shard INT, path, uuid, documents and fingerprints LONG.

    Shard i has the fingerprints for which libidx.shard says i. out: a folder that all workers and the driver see, which
    appears when it is complete; or the URI of a store, such as s3://bucket/name, in which each shard has the name of
    its UUID, and the list of the shards, shards.json, is written last. The store must hold nothing there but what
    failed builds left, which is removed. k: as for libidx.build. scheme is chosen once for all shards, by the number of documents. memory is in
    bytes, for each task; what does not fit is sorted in files. id: a column of IDs; without one, the index holds
    fingerprints alone.
    text: a column of texts, which need IDs, in place of fingerprints: makes an index of texts for `resemble` (0.8), as
    libidx.build does, and shard i has the texts for whose smallest shingle libidx.shard says i. Texts without words are
    left out.
    """
    id_field = None if id is None else check_ids(df, id)
    if text is None and (resemble is not None or shingle is not None):
        raise invalid("resemble and shingle are for texts: give text")
    if text is not None:
        k, options, rule = _check_texts(df, text, id, resemble, shingle, k, by_id)
        bits, each = 64, choose_sketch(options["resemble"], shingle)[0]
    else:
        kind = check_fingerprints(df, fingerprint)
        k = default_k(kind.recipe) if k is None else k
        check_distance(k, kind.bits)
        options, rule = {"k": k, "bits": kind.bits, "recipe": kind.recipe, "by_id": by_id}, None
        bits, each = kind.bits, 1
    if shards < 1:
        raise invalid(f"shards = {shards}: give 1 or more")
    _check_free(out)
    id_type: IdType = "none" if id_field is None else "text" if isinstance(id_field.dataType, StringType) else "u64"
    if scheme == "auto":
        scheme = next(p.scheme for p in plan(max(1, each * df.count() // shards), k, bits=bits) if p.chosen)
    else:
        list_masks(scheme, k, bits=bits)  # refuses one that can't be parsed, or misses pairs
    options = {"id_type": id_type, "scheme": scheme, **options}
    job = Job(out, shards, text or fingerprint, id, {**options, "memory": memory}, rule)
    rows = _build_in_store(df, job) if is_store(out) else _build_in_folder(df, job)
    listed = [(shard, *row) for shard, row in enumerate(rows)]
    return df.sparkSession.createDataFrame(listed, "shard int, " + ROW)


def _check_texts(
    df: DataFrame,
    text: str,
    id: Optional[str],
    resemble: Optional[float],
    shingle: Optional[Shingle],
    k: Optional[int],
    by_id: bool,
) -> tuple[int, dict[str, Any], Rule]:
    """Checks what an index of texts is made of. Returns its k, its options, and what shingles are."""
    if id is None:
        raise invalid("texts need IDs: give id")
    if k is not None or by_id:
        raise invalid("k and by_id are for fingerprints: omit them, or text")
    check_texts(df, text)
    least = check_resemblance(resemble, "resemble")
    return 0, {"resemble": least, "shingle": shingle}, Rule(least, *parse_shingle(shingle))


def _check_free(out: str) -> None:
    """Refuses a place where something is, but for shards that failed builds left in a store."""
    system, inside = locate(out)
    if is_store(out):
        listed = system.get_file_info(pyarrow.fs.FileSelector(inside, allow_not_found=True))
        other = next((entry.base_name for entry in listed if not _is_left(entry)), None)
        if other is not None:
            raise make(202, errno.EEXIST, out, 0, f"{out} exists and holds {other!r}: give a place of its own")
    elif system.get_file_info(inside).type != pyarrow.fs.FileType.NotFound:
        raise make(202, errno.EEXIST, out, 0, f"{out} exists: remove it, or give another place")


def _is_left(entry: pyarrow.fs.FileInfo) -> bool:
    """Whether an entry of a store is a shard that a build left there."""
    return entry.type == pyarrow.fs.FileType.Directory and UUID.fullmatch(entry.base_name) is not None


def _run_tasks(df: DataFrame, job: Job) -> dict[int, Any]:
    """Builds the shards, a task each. Returns the row that the task of each has reported."""
    columns = [job.column] if job.id is None else [job.column, job.id]
    keys = partition_keys(job.shards)
    rows = df.select(*columns, F.lit(0).cast("long").alias("idx_key"))
    divide = _add_shard_keys
    if job.rule is not None:
        rows = rows.select(F.lit(None).cast("binary").alias("packed"), F.col(str(job.id)), "idx_key")
        divide = _add_shard_keys_to_sets
    divided = df.select(*columns).mapInArrow(partial(divide, job, keys), rows.schema)
    built = divided.repartition(job.shards, "idx_key").mapInArrow(
        partial(_build_shards, job, keys), "shard long, " + ROW
    )
    found = {row.shard: tuple(row)[1:] for row in built.collect()}
    for shard in range(job.shards):  # Spark leaves out what it knows to be empty
        if shard not in found:
            found[shard] = Shard(job, shard).publish()
    return found


# ---- Publishing in a folder ----


def _build_in_folder(df: DataFrame, job: Job) -> list[Any]:
    """Tasks publish in a hidden folder beside `out`, which becomes `out` when all shards are there."""
    out = os.path.abspath(job.out)
    parent, name = os.path.split(out)
    if not os.path.isdir(parent):
        raise not_found(parent)
    _sweep_killed(parent, name)
    staging = os.path.join(parent, f".{name}.building-{uuid.uuid4().hex}")
    os.makedirs(os.path.join(staging, "attempts"))
    with open(os.path.join(staging, "lock"), "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        try:
            found = _run_tasks(df, job._replace(out=staging))
            # Once it is renamed, attempts that still run can't put anything into it by its path.
            rows = [(os.path.join(out, os.path.basename(row[0])), *row[1:]) for _, row in sorted(found.items())]
            with open(os.path.join(staging, LIST), "w") as file:
                json.dump(_make_list(job, rows), file, indent=1)
                file.flush()
                os.fsync(file.fileno())
            discarded = staging + "-attempts"
            os.rename(os.path.join(staging, "attempts"), discarded)
            remove(discarded)
            os.rename(staging, out)
            os.unlink(os.path.join(out, "lock"))
        except BaseException:
            remove(staging)
            raise
    return rows


def _sweep_killed(parent: str, name: str) -> None:
    """Removes what builds of the same name left whose drivers were killed: nobody holds their locks."""
    for entry in os.listdir(parent):
        if not entry.startswith(f".{name}.building-"):
            continue
        path = os.path.join(parent, entry)
        try:
            with open(os.path.join(path, "lock")) as lock:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                remove(path)
        except BlockingIOError:
            continue
        except FileNotFoundError:
            remove(path)


def remove(path: str) -> None:
    """Removes a folder, also while a task that was given up still writes there."""
    gone = f"{path}-removed"
    try:
        os.rename(path, gone)
    except FileNotFoundError:
        return
    for _ in range(100):
        shutil.rmtree(gone, ignore_errors=True)
        if not os.path.exists(gone):
            return
    LOG.warning("%s could not be removed", gone)


def _make_list(job: Job, rows: list[Any]) -> dict[str, Any]:
    """The content of the list of shards, a file of JSON."""
    options = {name: value for name, value in job.options.items() if name != "memory"}
    names = ("path", "uuid", "documents", "fingerprints")
    shards = [dict(zip(names, (os.path.basename(row[0]), *row[1:]), strict=True)) for row in rows]
    return {**options, "shards": shards}


# ---- Publishing in a store ----


def _build_in_store(df: DataFrame, job: Job) -> list[Any]:
    """Builds in a store, where every attempt's shard has a name of its own. A shard that the list does not name does
    not count."""
    system, inside = locate(job.out)
    system.create_dir(inside)
    rows = [row for _, row in sorted(_run_tasks(df, job).items())]
    named = {os.path.basename(row[0]) for row in rows}
    for entry in system.get_file_info(pyarrow.fs.FileSelector(inside)):
        if _is_left(entry) and entry.base_name not in named:
            system.delete_dir(entry.path)
    with system.open_output_stream(f"{inside}/{LIST}") as file:
        file.write(json.dumps(_make_list(job, rows), indent=1).encode())
    return rows


# ---- In a task ----


def _add_shard_keys(job: Job, keys: Any, batches: Batches) -> Batches:
    """Adds the column idx_key, by which Spark sends each fingerprint to the task of its shard."""
    for batch in batches:
        shards = shard_of(numbers_of(batch, job.column), job.shards)
        columns = [column_of(batch, name) for name in batch.schema.names]
        yield pyarrow.RecordBatch.from_arrays(
            [*columns, pyarrow.array(keys[shards])], names=[*batch.schema.names, "idx_key"]
        )


def _add_shard_keys_to_sets(job: Job, keys: Any, batches: Batches) -> Batches:
    """Adds the column idx_key to texts, and puts the packed shingles of each text in place of the text."""
    assert job.rule is not None and job.id is not None
    for batch, hashes, counts in make_sets_of(job.rule, batches, job.column):
        stays = counts > 0
        rows, sizes = numpy.flatnonzero(stays), counts[stays]
        places = keys[shard_of(hashes[numpy.cumsum(sizes) - sizes], job.shards)]  # the smallest shingles are the first
        ids = column_of(batch, job.id).take(pyarrow.array(rows))
        for some, sets in pack_sets(hashes, sizes):
            columns = [sets, ids.take(pyarrow.array(some)), pyarrow.array(places[some])]
            yield pyarrow.RecordBatch.from_arrays(columns, names=["packed", job.id, "idx_key"])


class Shard:
    """A shard that a task builds, in a folder of its attempt's own."""

    def __init__(self, job: Job, number: int) -> None:
        self.job, self.number = job, number
        context = TaskContext.get()
        attempt = f"{number}-{0 if context is None else context.taskAttemptId()}-{uuid.uuid4().hex}"
        if is_store(job.out):
            self.folder = os.path.join(task_folder(), f"libidx-attempt-{attempt}")
        else:
            self.folder = os.path.join(job.out, "attempts", attempt)
        os.mkdir(self.folder)
        self.path = os.path.join(self.folder, "index")
        self.builder = Builder(self.path, tmpdir=self.folder, **job.options)

    def add(self, batch: pyarrow.RecordBatch) -> None:
        """Adds the rows of a batch to the index: fingerprints or sets of texts, with IDs if there are any."""
        ids = None if self.job.id is None else column_of(batch, self.job.id)
        if self.job.rule is None:
            self.builder.add(numbers_of(batch, self.job.column), ids)
        else:
            self.builder._add_texts(*read_sets(batch, "packed"), ids)

    def publish(self) -> tuple[str, str, int, int]:
        """Publishes the index, unless another attempt did so before. Returns the row of the one that is there."""
        self.builder.finish()
        path = self._publish_in_store() if is_store(self.job.out) else self._publish_in_folder()
        with Index(self.path if is_store(self.job.out) else path, residence="none") as index:
            info = index.info()
        shutil.rmtree(self.folder)
        documents = info.texts if info.sketch > 0 else info.documents if info.id_type != "none" else info.fingerprints
        return path, info.uuid, documents, info.fingerprints

    def _publish_in_folder(self) -> str:
        """Renames the index to its path, unless another attempt has done so. Returns that path."""
        path = os.path.join(self.job.out, f"shard-{self.number:05}.idx")
        try:
            os.rename(self.path, path)
        except OSError:
            if not os.path.isdir(path):
                raise
        return path

    def _publish_in_store(self) -> str:
        """Copies the index to a path of its own. Returns that path."""
        with Index(self.path, residence="none") as index:
            name = index.info().uuid
        system, inside = locate(self.job.out)
        pyarrow.fs.copy_files(
            self.path, f"{inside}/{name}", source_filesystem=pyarrow.fs.LocalFileSystem(), destination_filesystem=system
        )
        return f"{self.job.out.rstrip('/')}/{name}"

    def discard(self) -> None:
        """Discards the index, and removes its folder."""
        self.builder.discard()
        shutil.rmtree(self.folder, ignore_errors=True)


def _build_shards(job: Job, keys: Any, batches: Batches) -> Batches:
    """Builds the shard of a partition: there is one, as the keys are chosen."""
    shards: dict[int, Shard] = {}
    numbers = {int(key): shard for shard, key in enumerate(keys)}
    try:
        for batch in batches:
            column = batch.column("idx_key")
            for key in pyarrow.compute.unique(column).to_pylist():
                shard = shards.get(key) or shards.setdefault(key, Shard(job, numbers[key]))
                shard.add(batch.filter(pyarrow.compute.equal(column, key)))
        for key, shard in shards.items():
            path, identity, documents, fingerprints = shard.publish()
            row = {"shard": [numbers[key]], "path": [path], "uuid": [identity]}
            yield pyarrow.RecordBatch.from_pydict({**row, "documents": [documents], "fingerprints": [fingerprints]})
    except BaseException:
        for shard in shards.values():
            shard.discard()
        raise


# ---- Looking up ----


def lookup(
    df: DataFrame,
    shards: Union[str, Sequence[str], DataFrame],
    k: Optional[int] = None,
    *,
    fingerprint: str = "fingerprint",
    text: Optional[str] = None,
    resemble: Optional[float] = None,
    id: Optional[str] = None,
    documents: bool = True,
    copy: bool = False,
    memory: int = MEMORY,
) -> DataFrame:
    """The documents of an index in shards that are within k bits of the fingerprints of a column.

    shards: what build returned, its `out`, or paths of indexes. A row for each document: query LONG, fingerprint LONG,
    distance BYTE, new_id if `id` names a column of IDs, and old_id if the shards hold documents; documents=False leaves
    these out. Each shard is read by one task, where it was built; copy=True copies it to the worker first, once, as it
    always is from a store. k: by default that of the shards.
    text: a column of texts, which need IDs, for shards of texts: a row for each text of theirs that resembles one by
    `resemble` or more, as Index.lookup says: new_id, old_id and resemblance DOUBLE. Each task then reads all shards.
    """
    paths, about = _open_list(shards)
    if "resemble" in about or text is not None:
        return _look_up_texts(df, paths, about, text, id, resemble, copy)
    kind = check_same(
        check_fingerprints(df, fingerprint), "df", Kind(about["recipe"] or None, about["bits"]), paths[0]
    )
    distance = about["k"] if k is None else k
    check_distance(distance, kind.bits)
    check_index(paths[0], about["k"], distance)
    if id is not None:
        check_ids(df, id)
    types = {"text": StringType(), "u64": LongType(), "none": None}
    id_type = types[about["id_type"]] if documents else None
    source = df.sparkSession.range(len(paths), numPartitions=len(paths))
    run = partial(_look_up, paths, distance, id_type is not None, copy, memory)
    found = compare(df, fingerprint, source, run, id_type, memory // QUERY_BYTES)
    return found if id is None else add_new_ids(found, df, fingerprint, id)


def _open_list(shards: Union[str, Sequence[str], DataFrame]) -> tuple[list[str], dict[str, Any]]:
    """The paths of shards, and what they have in common."""
    if isinstance(shards, DataFrame):
        paths = [row.path for row in shards.orderBy("shard").select("path").collect()]
    elif isinstance(shards, str):
        return _read_list(shards)
    else:
        paths = list(shards)
    if not paths:
        raise invalid("shards: there are none")
    if is_store(paths[0]):
        return paths, _read_list(os.path.dirname(paths[0]))[1]
    about: Optional[dict[str, Any]] = None
    for path in paths:
        with Index(path, residence="none") as index:
            info = index.info()
        this = {"k": info.k, "bits": info.bits, "recipe": info.recipe, "id_type": info.id_type}
        if info.sketch > 0:
            this["resemble"] = info.resemble
        if about is not None and about != this:
            raise invalid(f"{path} has other properties than {paths[0]}: {this}, not {about}")
        about = this
    assert about is not None
    return paths, about


def _read_list(out: str) -> tuple[list[str], dict[str, Any]]:
    """The paths of shards, and what they have in common, of what is at a path: a list of shards, or a single index."""
    system, inside = locate(out)
    if system.get_file_info(inside + "/manifest").type == pyarrow.fs.FileType.File:
        return _open_list([out])
    path = f"{inside}/{LIST}"
    if system.get_file_info(path).type == pyarrow.fs.FileType.NotFound:
        raise not_found(f"{out}/{LIST}")
    with system.open_input_file(path) as file:
        about: dict[str, Any] = json.loads(file.read())
    return [f"{out.rstrip('/')}/{shard['path']}" for shard in about["shards"]], about


def _look_up_texts(
    df: DataFrame,
    paths: list[str],
    about: dict[str, Any],
    text: Optional[str],
    id: Optional[str],
    resemble: Optional[float],
    copy: bool,
) -> DataFrame:
    """What lookup does for texts."""
    if text is None or id is None or "resemble" not in about:
        what = "of texts, which need text and id" if "resemble" in about else "of fingerprints: omit text"
        raise invalid(f"{paths[0]} is an index {what}")
    check_texts(df, text)
    least = about["resemble"] if resemble is None else check_resemblance(resemble, "resemble")
    schema = StructType([StructField("new_id", check_ids(df, id).dataType)])
    schema.add("old_id", StringType() if about["id_type"] == "text" else LongType()).add("resemblance", "double")
    run = partial(_look_up_resembling, paths, text, id, least, copy)
    return df.select(id, text).mapInArrow(run, schema)


def _localize(path: str, copy: bool) -> str:
    """Where a task can open a shard: a copy in the worker's own folder, made once, or the shard itself."""
    if not copy and not is_store(path):
        return path
    system, inside = locate(path)
    # A shard that was built anew, or grew, since it was copied is another one.
    files = system.get_file_info(pyarrow.fs.FileSelector(inside, recursive=True))
    version = sorted((file.path, file.size, file.mtime_ns) for file in files if file.is_file)
    here = os.path.join(task_folder(), "libidx-copy-" + uuid.uuid5(uuid.NAMESPACE_URL, f"{path} {version}").hex)
    if not os.path.isdir(here):
        attempt = f"{here}-{uuid.uuid4().hex}"
        local = pyarrow.fs.LocalFileSystem()
        os.mkdir(attempt)
        pyarrow.fs.copy_files(inside, attempt, source_filesystem=system, destination_filesystem=local)
        try:
            os.rename(attempt, here)
        except OSError:  # another task was faster
            shutil.rmtree(attempt)
    return here


def _look_up(
    paths: list[str], k: int, with_ids: bool, copy: bool, memory: int, sent: Broadcast[bytes], batches: Batches
) -> Batches:
    """The matches of all queries in the shards whose numbers come in, with IDs or without."""
    queries = queries_of(sent)
    for path in chosen(batches, paths):
        with Index(_localize(path, copy), residence="none") as index:
            found = index.batch(queries, k, memory=memory, tmpdir=task_folder())
            asked = numpy.repeat(queries, numpy.diff(found.offsets))
            if with_ids:
                yield from with_documents(index, asked, found.fingerprints, found.distances)
            else:
                yield from list_matches(asked, found.fingerprints, found.distances)


def _look_up_resembling(paths: list[str], text: str, id: str, least: float, copy: bool, batches: Batches) -> Batches:
    """The texts in the shards that resemble those that come in."""
    indexes = [Index(_localize(path, copy), residence="none") for path in paths]
    for whole in batches:
        for begin in range(0, whole.num_rows, ROWS):
            batch = whole.slice(begin, ROWS)
            for index in indexes:
                found = index.lookup(column_of(batch, text), resemble=least)
                queries = numpy.repeat(numpy.arange(batch.num_rows), numpy.diff(found.offsets))
                old_ids = signed(found.numbers) if found.numbers is not None else pyarrow.table(found)["id"].combine_chunks()
                if not pyarrow.types.is_integer(old_ids.type):
                    old_ids = old_ids.cast(pyarrow.string())
                columns = [column_of(batch, id).take(pyarrow.array(queries)), old_ids, pyarrow.array(found.resemblances)]
                yield pyarrow.RecordBatch.from_arrays(columns, names=["new_id", "old_id", "resemblance"])
