"""killing.py: commands that are killed, interrupted or terminated at random moments while they read a stream."""
import os
import random
import signal
import subprocess
import threading
import time
signal.signal(signal.SIGINT, signal.default_int_handler)  # the shell ignores it for what runs in the background

PATIENCE = 1800  # seconds, for what takes milliseconds on an idle machine: a busy one is no failure
SIGNALS = [signal.SIGKILL, signal.SIGKILL, signal.SIGTERM, signal.SIGINT]


def choose_place():
    """In memory, where writers, which sync a lot, are fast; None is the default."""
    return "/dev/shm" if "TMPDIR" not in os.environ and os.access("/dev/shm", os.W_OK) else None


class Command:
    """A command at work, which gets its input in pieces, and whose output is kept."""

    def __init__(self, trial, arguments, pieces, ends=True):
        self.random = random.Random(trial.random.getrandbits(64))
        self.process = subprocess.Popen([trial.idx, *arguments], cwd=trial.path, stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, stderr=subprocess.PIPE, bufsize=0)
        self.out, self.err, self.ends = [], [], ends
        readers = ((self.process.stdout, self.out), (self.process.stderr, self.err))
        self.threads = [threading.Thread(target=lambda pipe, kept: kept.append(pipe.read()), args=one)
                        for one in readers]
        self.threads.append(threading.Thread(target=self.feed, args=(pieces,)))
        for thread in self.threads:
            thread.start()

    def feed(self, pieces):
        try:
            for piece in pieces:
                self.process.stdin.write(piece)
                time.sleep(self.random.choice((0, 0, 0.001)))
        except BrokenPipeError:
            return
        if self.ends:
            self.process.stdin.close()

    def end_by(self, number, duration):
        """Sends a signal within that many seconds, where it has not ended before; returns the status."""
        try:
            self.process.wait(self.random.uniform(0, duration))
        except subprocess.TimeoutExpired:
            self.process.send_signal(number)
        self.process.wait(PATIENCE)
        for thread in self.threads:
            thread.join(PATIENCE)
        if not self.process.stdin.closed:
            self.process.stdin.close()
        self.out, self.err = b"".join(self.out), b"".join(self.err)
        assert self.process.returncode in (0, -number), (self.process.args, self.process.returncode, self.err)
        return self.process.returncode
