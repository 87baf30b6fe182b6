"""What `progress=` takes: True, a callable, or a bar with tqdm's methods."""

from __future__ import annotations

import sys
import time
from typing import Any, Callable, Optional, Protocol, Union

Callback = Callable[[str, int, int], object]


class Bar(Protocol):
    """What is used of a tqdm bar."""

    total: Any
    n: Any

    def update(self, n: Any = ...) -> Any: ...
    def refresh(self) -> Any: ...
    def set_description(self, desc: Optional[str] = ...) -> Any: ...


Progress = Union[Callback, Bar, bool, None]


class _OnBar:
    """Shows progress on a bar, whose total is that of the phase. A bar of our own ends with the call that it is for."""

    def __init__(self, bar: Any, ours: bool) -> None:
        self.bar = bar
        self.ours = ours
        self.phase = ""

    def __call__(self, phase: str, done: int, total: int) -> None:
        bar = self.bar
        if phase != self.phase or done < bar.n:
            self.phase = phase
            bar.n = 0
            bar.total = total or None
            bar.set_description(phase)
        bar.update(done - bar.n)
        bar.refresh()

    def __del__(self) -> None:
        if self.ours:
            self.bar.close()


class _OnLines:
    """Without tqdm: on a terminal a line that overwrites itself, elsewhere one for each phase, on standard error."""

    INTERVAL = 0.1  # seconds

    def __init__(self) -> None:
        self.stream = sys.stderr
        self.terminal = self.stream is not None and self.stream.isatty()
        self.phase = ""
        self.width = 0
        self.shown = 0.0

    def _write(self, text: str) -> None:
        if self.stream is not None:
            self.stream.write(text)
            self.stream.flush()

    def __call__(self, phase: str, done: int, total: int) -> None:
        now = time.monotonic()
        begins = phase != self.phase
        self.phase = phase
        if begins and not self.terminal:
            self._write(f"libidx: {phase}\n")
        if self.terminal and (begins or done == total or now - self.shown > self.INTERVAL):
            self.shown = now
            share = f" of {total:,} ({100 * done // total} %)" if total else ""
            line = f"libidx: {phase} {done:,}{share}"
            self._write("\r" + line.ljust(self.width))
            self.width = len(line)

    def __del__(self) -> None:
        if self.width > 0:
            self._write("\n")


def _choose_default() -> Callback:
    """What progress=True shows: the bar that tqdm has for a terminal or a notebook; without tqdm, lines."""
    try:
        from tqdm.auto import tqdm
    except ImportError:
        return _OnLines()
    return _OnBar(tqdm(), ours=True)


def callback(progress: Any) -> Optional[Callback]:
    """The callable (phase, done, total) that the library calls for what `progress=` is given; None for none."""
    if progress is None or progress is False:
        return None
    if progress is True:
        return _choose_default()
    if isinstance(progress, type) and hasattr(progress, "update"):
        progress = progress()
    if hasattr(progress, "update"):
        return _OnBar(progress, ours=False)
    if not callable(progress):
        raise TypeError(f"progress: {type(progress)!r}, which is neither True, nor callable, nor a tqdm bar")
    return progress  # type: ignore[no-any-return]
