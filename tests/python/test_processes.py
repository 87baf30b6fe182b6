"""Threads, signals, forks, pickles: what else goes on in a process while an index is open."""

import gc
import io
import itertools
import multiprocessing
import os
import pickle
import signal
import subprocess
import sys
import threading
import time

import numpy
import pytest

import libidx

FINGERPRINTS = numpy.arange(0, 3_000_000, 1000, dtype=numpy.uint64)


@pytest.fixture
def index():
    libidx.build("i", FINGERPRINTS, [str(n) for n in range(len(FINGERPRINTS))])
    with libidx.open("i", residence="none", check_pages=False) as index:
        yield index


def look_up(index, queries):
    found = index.lookup(queries, 0)
    return found.fingerprints.tolist(), index.documents(queries[:2]).tolist()


@pytest.mark.parametrize("method", ["fork", "spawn", "forkserver"])
def test_pools(index, method):
    index.lookup(FINGERPRINTS)
    parts = numpy.array_split(FINGERPRINTS[:400], 8)
    with multiprocessing.get_context(method).Pool(2) as pool:
        answers = pool.starmap(look_up, [(index, part) for part in parts])
    for i, (part, (fingerprints, documents)) in enumerate(zip(parts, answers, strict=True)):
        assert fingerprints == part.tolist()
        assert documents == [[str(50 * i)], [str(50 * i + 1)]]


def run_in_fork(work):
    """What `work` returns in a forked child, as text."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            answer = work()
        except BaseException as error:  # noqa: BLE001
            answer = type(error).__name__
        os.write(writing, repr(answer).encode())
        os._exit(0)
    os.close(writing)
    answer = os.read(reading, 10000).decode()
    os.close(reading)
    assert os.waitpid(child, 0)[1] == 0
    return answer


def test_a_fork_goes_on_with_an_index(index):
    assert run_in_fork(lambda: index.lookup(1000, 0)) == repr(index.lookup(1000, 0))
    assert run_in_fork(index.close) == "None"
    assert index.exists(1000)


def test_a_fork_leaves_writers_and_builders_alone(index):
    with libidx.Writer("i") as writer:
        assert run_in_fork(lambda: writer.add([1], ["a"])) == "'InvalidArgumentError'"
        assert run_in_fork(lambda: (writer.close(), writer.closed)) == "(None, True)"

        def leave():
            with writer:
                return "left"

        assert run_in_fork(leave) == "'left'"

        def drop():
            nonlocal writer
            del writer
            return gc.collect() >= 0

        assert run_in_fork(drop) == "True"
        writer.add([2], ["b"])
    builder = libidx.Builder("j")
    builder.add([1], ["a"])
    assert run_in_fork(builder.finish) == "'InvalidArgumentError'"
    assert run_in_fork(lambda: builder.add([1], ["a"])) == "'InvalidArgumentError'"
    assert builder.finish().documents == 1
    stream = libidx.Stream([1])
    assert run_in_fork(lambda: stream.add([1])) == "'InvalidArgumentError'"
    stream.close()


def test_pickles(index, monkeypatch):
    pickled = pickle.dumps(index)
    os.mkdir("elsewhere")
    monkeypatch.chdir("elsewhere")
    with pickle.loads(pickled) as again:
        assert again._options == ("none", False, None)
        assert again.lookup(1000, 0) == index.lookup(1000, 0)
    assert pickle.loads(pickle.dumps(index.lookup(1000, 0)[0])) == (1000, 0)


def test_threads_beside_refresh(index):
    """Look-ups see whole views, whatever is added, refreshed and closed meanwhile."""
    stop = threading.Event()
    failures = []

    def read():
        try:
            while not stop.is_set():
                found = index.lookup(FINGERPRINTS[:500], 0)
                assert found.fingerprints.tolist() == FINGERPRINTS[:500].tolist()
                assert index.documents(int(FINGERPRINTS[7])) == ["7"]
                assert index.lookup(7000, 0) == [(7000, 0)]
        except BaseException as error:  # noqa: BLE001
            failures.append(error)

    threads = [threading.Thread(target=read) for _ in range(4)]
    for thread in threads:
        thread.start()
    refreshed = 0
    with libidx.Writer("i") as writer:
        for i in range(60):
            writer.add([(1 << 63) + i], ["new"])
            refreshed += index.refresh()
            assert index.exists((1 << 63) + i, 0)
        libidx.compact("i", all=True)
        assert index.refresh()
    stop.set()
    for thread in threads:
        thread.join()
    assert not failures and refreshed == 60
    assert not index.refresh()


def test_threads_that_refresh_at_once(index):
    """What was added before a refresh is there after it, though a slower refresh began before that one."""
    added = 0
    failures = []
    stop = threading.Event()

    def refresh():
        try:
            while not stop.is_set():
                known = added
                index.refresh()
                assert index.count((1 << 63) + known, 0) == (known > 0)
        except BaseException as error:  # noqa: BLE001
            failures.append(error)

    threads = [threading.Thread(target=refresh) for _ in range(4)]
    for thread in threads:
        thread.start()
    with libidx.Writer("i") as writer:
        for i in range(1, 301):
            writer.add([(1 << 63) + i], ["new"])
            added = i
    stop.set()
    for thread in threads:
        thread.join()
    assert not failures


def test_closing_beside_threads(index):
    """A call ends with the view that it began with; the next one is refused."""
    outcomes = []

    def read():
        try:
            while True:
                index.count(FINGERPRINTS)
        except ValueError as error:
            outcomes.append(error)

    threads = [threading.Thread(target=read) for _ in range(3)]
    for thread in threads:
        thread.start()
    index.close()
    for thread in threads:
        thread.join()
    assert [type(outcome) for outcome in outcomes] == [libidx.InvalidArgumentError] * 3
    assert index.closed


def test_two_threads_on_one_writer(index):
    """One of them is refused, or comes later; nothing is lost that was acknowledged."""
    added = []
    with libidx.Writer("i", compact_records=0, compact_segments=0) as writer:

        def write(first):
            for i in range(50):
                fingerprint = (1 << 62) + first + i
                try:
                    writer.add([fingerprint], ["x"])
                    added.append(fingerprint)
                except libidx.InvalidArgumentError:
                    pass

        threads = [threading.Thread(target=write, args=(1000 * n,)) for n in range(2)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    index.refresh()
    assert len(added) >= 50
    assert index.exists(numpy.array(added, numpy.uint64), 0).all()


class Interrupted(Exception):
    pass


def interrupt(*unused):
    raise Interrupted


@pytest.mark.parametrize("how", ["build", "lookup", "texts", "stream"])
def test_signals_end_long_calls(how, random):
    """A handler's exception comes out of the call under way."""
    many = random.integers(0, 2**63, 200_000).astype(numpy.uint64)
    if how == "lookup":
        libidx.build("s", many[:100_000], scheme="4")
        index = libidx.open("s")

    def work():
        if how == "build":
            libidx.build("b", numpy.tile(many, 20), replace=True)
        elif how == "lookup":
            index.count(many)
        elif how == "stream":
            libidx.Stream(many[:1000]).add(numpy.tile(many, 20))
        else:
            libidx.Fingerprinter()(["word " * 1000] * 20000)

    old = signal.signal(signal.SIGALRM, interrupt)
    signal.setitimer(signal.ITIMER_REAL, 0.05)
    try:
        with pytest.raises(Interrupted):
            for _ in range(1000):
                work()
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, old)
    assert not os.path.exists("b")
    assert not [name for name in os.listdir() if ".tmp-" in name]


class Mine(Exception):
    pass


def test_progress_exceptions_come_out():
    def fail(phase, done, total):
        raise Mine(phase)

    with pytest.raises(Mine, match="adding"):
        libidx.build("p", FINGERPRINTS, progress=fail)
    libidx.build("p", FINGERPRINTS)
    with libidx.open("p") as index:
        for call in index.pairs, index.clusters:
            with pytest.raises(Mine):
                call(progress=fail)
        for call in index.batch, index.documents:
            with pytest.raises(Mine):
                call(FINGERPRINTS, progress=fail)


def test_progress():
    calls = []
    libidx.build("p", FINGERPRINTS, progress=lambda *told: calls.append(told))
    assert [phase for phase, _, _ in calls][0] == "adding" and calls[-1][0] == "publishing"
    assert all(isinstance(done, int) and isinstance(total, int) for _, done, total in calls)
    from tqdm import tqdm

    with open(os.devnull, "w") as nowhere:
        bar = tqdm(file=nowhere)
        libidx.merge("q", ["p"], progress=bar)
        assert bar.desc.startswith("publishing")
    with pytest.raises(TypeError):
        libidx.merge("r", ["p"], progress=5)


class Terminal(io.StringIO):
    def isatty(self):
        return True


def without_tqdm(monkeypatch):
    for name in "tqdm", "tqdm.auto":
        monkeypatch.setitem(sys.modules, name, None)


def show_everywhere():
    """Every call that takes progress."""
    libidx.build("p", FINGERPRINTS, progress=True, replace=True)
    libidx.merge("q", ["p"], replace=True, progress=True)
    libidx.compact("p", progress=True)
    libidx.clusters(FINGERPRINTS, progress=True)
    libidx.Stream([1], progress=True).add(FINGERPRINTS).finish()
    with libidx.open("p") as index, libidx.open("q") as other:
        index.documents(FINGERPRINTS, progress=True)
        index.batch(FINGERPRINTS, progress=True)
        index.pairs(progress=True)
        index.join(other, progress=True)
        index.clusters(progress=True)
    with libidx.Writer("p", compact_records=10, progress=True) as writer:
        writer.add(FINGERPRINTS, FINGERPRINTS)
        writer.wait()


def test_progress_as_a_bar(monkeypatch, capsys):
    """tqdm chooses between a bar for a terminal and one for a notebook."""
    import tqdm.auto

    bars = []

    class Watched(tqdm.auto.tqdm):
        def __init__(self, *given, **more):
            super().__init__(*given, **more)
            self.ended = False
            bars.append(self)

        def close(self):
            super().close()
            self.ended = True

    monkeypatch.setattr(tqdm.auto, "tqdm", Watched)
    show_everywhere()
    said = capsys.readouterr()
    assert len(bars) == 11 and all(bar.ended for bar in bars)
    assert said.out == "" and "publishing" in said.err and "clustering" in said.err and said.err.endswith("\n")
    assert f"/{len(FINGERPRINTS)} [" in said.err
    with pytest.raises(libidx.ExistsError):
        libidx.build("p", FINGERPRINTS, progress=True)
    assert bars[-1].ended


def test_progress_as_lines(monkeypatch, capsys):
    """Without tqdm: a line for each phase, where there is no terminal."""
    without_tqdm(monkeypatch)
    libidx.build("p", FINGERPRINTS, progress=True)
    said = capsys.readouterr()
    lines = said.err.splitlines()
    assert said.out == "" and lines[0] == "libidx: adding" and lines[-1] == "libidx: publishing"
    assert len(lines) == len(set(lines))
    show_everywhere()
    assert "libidx: clustering\n" in capsys.readouterr().err


def test_progress_as_a_line_of_a_terminal(monkeypatch):
    without_tqdm(monkeypatch)
    monkeypatch.setattr(sys, "stderr", Terminal())
    libidx.build("p", FINGERPRINTS, progress=True)
    said = sys.stderr.getvalue()
    assert said.count("\n") == 1 and said.endswith("\n") and said.startswith("\rlibidx: adding")
    shown = said.rstrip("\n").split("\r")[1:]
    assert shown[-1].startswith("libidx: publishing")
    for before, after in itertools.pairwise(shown):
        assert len(after) >= len(before.rstrip())  # and hides what was there


def test_progress_where_nobody_looks(monkeypatch, capsys):
    libidx.build("p", FINGERPRINTS, progress=False)
    assert capsys.readouterr() == ("", "")
    without_tqdm(monkeypatch)
    monkeypatch.setattr(sys, "stderr", None)
    libidx.build("q", FINGERPRINTS, progress=True)


def compacting(progress):
    """A writer whose compaction has begun."""
    libidx.build("w", FINGERPRINTS, id_type="u64", replace=True)
    writer = libidx.Writer("w", compact_records=10, progress=progress)
    writer.add(FINGERPRINTS, FINGERPRINTS)
    return writer


def test_progress_of_compactions():
    calls = []
    with compacting(lambda *told: calls.append(told)) as writer:
        writer.wait()
    assert {"merging", "publishing"} <= {phase for phase, _, _ in calls}
    with libidx.open("w") as index:
        assert index.info().pending_documents == 0
    with compacting(lambda *told: False) as writer, pytest.raises(libidx.CancelledError):
        writer.wait()

    def fail(*told):
        raise Mine(*told)

    with compacting(fail) as writer:
        with pytest.raises(Mine, match="merging"):
            writer.wait()
        with pytest.raises(libidx.CancelledError):
            writer.wait()  # the exception has come out once
    with libidx.open("w") as index:
        assert index.info().pending_documents == len(FINGERPRINTS)


def test_progress_that_fails_and_nobody_waits(monkeypatch):
    seen, told = [], threading.Event()
    monkeypatch.setattr(sys, "unraisablehook", lambda args: seen.append(args.exc_type))

    def fail(*unused):
        told.set()
        raise Mine

    with compacting(fail):
        assert told.wait(60)
    assert seen == [Mine]


def test_signals_end_waiting():
    """The compaction is cancelled, and the writer goes on."""
    asked = threading.Event()

    def interrupt_once(*unused):
        asked.set()
        raise Interrupted

    old = signal.signal(signal.SIGALRM, interrupt_once)
    try:
        with compacting(lambda *told: (asked.wait(60), time.sleep(0.2))) as writer:
            signal.setitimer(signal.ITIMER_REAL, 0.05)
            with pytest.raises(Interrupted):
                writer.wait()
            with pytest.raises(libidx.CancelledError):
                writer.wait()
            writer.add([5], [5])
    finally:
        signal.signal(signal.SIGALRM, old)
    with libidx.open("w") as index:
        assert index.info().pending_documents == len(FINGERPRINTS) + 1


def test_ending_while_compacting():
    """A process that ends with an open writer neither hangs nor crashes."""
    program = """
import sys, threading, time, libidx
begun = threading.Event()
def progress(*told):
    begun.set()
    time.sleep(0.01)
writer = libidx.Writer("w", compact_records=10, progress=progress)
writer.add(list(range(100)), list(range(100)))
begun.wait()
"""
    libidx.build("w", FINGERPRINTS, id_type="u64")
    ended = subprocess.run([sys.executable, "-c", program], timeout=60, capture_output=True, text=True)
    assert (ended.returncode, ended.stderr) == (0, "")


def test_the_gil_is_free_meanwhile(index):
    """Another thread runs Python while one looks up."""
    ticks = 0
    done = threading.Event()

    def work():
        for _ in range(20):
            index.count(numpy.tile(FINGERPRINTS, 10))
        done.set()

    thread = threading.Thread(target=work)
    thread.start()
    while not done.is_set():
        ticks += 1
        time.sleep(0)
    thread.join()
    assert ticks > 20
