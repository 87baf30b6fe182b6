"""A standalone cluster on loopback: a master and two workers, each a process, from the pyspark package."""

import os
import pathlib
import signal
import subprocess
import sys
import time

import pyspark

HOME = pathlib.Path(pyspark.__file__).parent
REGISTERED = "Successfully registered with master"


class Cluster:
    """What runs, and how to end it: by process ID, and nothing else."""

    def __init__(self, folder, cores, memory):
        self.folder = folder
        self.processes = []
        try:
            self._start("master", "Master", "--port", "0", "--webui-port", "0")
            self.url = self._wait("master", "Starting Spark master at ").split()[-1]
            for name in "worker-1", "worker-2":
                options = "--cores", str(cores), "--memory", memory, "--webui-port", "0", "--work-dir", folder / name
                self._start(name, "Worker", *options, self.url)
            for name in "worker-1", "worker-2":
                self._wait(name, REGISTERED)
        except BaseException:
            self.end()
            raise

    def _start(self, name, kind, *options):
        (self.folder / f"{name}-tmp").mkdir(parents=True)
        environment = {
            **os.environ,
            "SPARK_HOME": str(HOME),
            "SPARK_LOCAL_DIRS": str(self.folder / f"{name}-tmp"),
            "SPARK_DAEMON_MEMORY": "256m",
            "PYSPARK_PYTHON": sys.executable,
        }
        command = [HOME / "bin" / "spark-class", f"org.apache.spark.deploy.{kind.lower()}.{kind}"]
        with open(self.folder / f"{name}.log", "w") as log:
            self.processes.append(
                subprocess.Popen(
                    [*command, "--host", "127.0.0.1", *options],
                    env=environment,
                    stdout=log,
                    stderr=log,
                    stdin=subprocess.DEVNULL,
                    cwd=self.folder,
                )
            )

    def _wait(self, name, words):
        """The line of a log with these words, once it is there."""
        log = self.folder / f"{name}.log"
        for _ in range(3000):
            for line in log.read_text().splitlines():
                if words in line:
                    return line
            if any(process.poll() is not None for process in self.processes):
                break
            time.sleep(0.1)
        raise RuntimeError(f"{name} did not say {words!r}:\n{log.read_text()}")

    def end(self):
        for process in reversed(self.processes):
            process.terminate()
        for process in self.processes:
            try:
                process.wait(30)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()

    def descendants(self, words):
        """The processes below the workers whose command lines hold these words."""
        parents, commands = {}, {}
        for entry in pathlib.Path("/proc").glob("[0-9]*"):
            try:
                stat = (entry / "stat").read_text()
                commands[int(entry.name)] = (entry / "cmdline").read_bytes().replace(b"\0", b" ").decode()
            except (FileNotFoundError, ProcessLookupError):
                continue
            parents[int(entry.name)] = int(stat.rsplit(")", 1)[1].split()[1])
        mine = {process.pid for process in self.processes}

        def is_mine(pid):
            while pid in parents:
                pid = parents[pid]
                if pid in mine:
                    return True
            return False

        return [pid for pid, command in commands.items() if words in command and is_mine(pid)]

    def python_workers(self):
        """Those that run tasks: the daemon forks them."""
        found = self.descendants("pyspark.daemon")
        return [pid for pid in found if _parent(pid) in found]

    def executors(self):
        return self.descendants("CoarseGrainedExecutorBackend")

    def open_paths(self, worker):
        """Of the files and folders that a Python worker has open; none of one that has ended."""
        try:
            return [os.readlink(entry) for entry in pathlib.Path(f"/proc/{worker}/fd").iterdir()]
        except (FileNotFoundError, ProcessLookupError):
            return []

    def executor_of(self, worker):
        """Or None, if one of them has ended."""
        pid, executors = worker, self.executors()
        while pid > 1 and pid not in executors:
            pid = _parent(pid)
        return pid if pid > 1 else None


def _parent(pid):
    try:
        return int(pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[1])
    except (FileNotFoundError, ProcessLookupError):
        return 0


def connect(cluster, **settings):
    """A session on the cluster. Another one has to be stopped before."""
    from pyspark.sql import SparkSession

    builder = SparkSession.builder.master(cluster.url).appName("libidx")
    defaults = {
        "spark.driver.host": "127.0.0.1",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        # Slow tasks get a second attempt, in all tests.
        "spark.speculation": "true",
        "spark.speculation.quantile": "0.5",
        "spark.speculation.minTaskRuntime": "4s",
        "spark.executor.memory": "1g",
        "spark.driver.memory": "1g",
        "spark.sql.shuffle.partitions": "4",
        "spark.sql.session.timeZone": "UTC",
        "spark.sql.warehouse.dir": str(cluster.folder / "warehouse"),
        "spark.local.dir": str(cluster.folder / "driver"),
    }
    for name, value in {**defaults, **settings}.items():
        builder = builder.config(name, value)
    session = builder.getOrCreate()
    session.sparkContext.setLogLevel("ERROR")
    return session


def stop():
    from pyspark.sql import SparkSession

    session = SparkSession.getActiveSession()
    if session is not None:
        session.stop()


def kill(pid):
    os.kill(pid, signal.SIGKILL)
