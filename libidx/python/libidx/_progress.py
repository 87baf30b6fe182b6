"""What `progress=` takes: a callable, or a bar with tqdm's methods."""

from __future__ import annotations

from typing import Any, Callable, Optional, Protocol, Union

Callback = Callable[[str, int, int], object]


class Bar(Protocol):
    """What is used of a tqdm bar."""

    total: Any
    n: Any

    def update(self, n: Any = ...) -> Any: ...
    def refresh(self) -> Any: ...
    def set_description(self, desc: Optional[str] = ...) -> Any: ...


Progress = Union[Callback, Bar, None]


def callback(progress: Any) -> Optional[Callback]:
    """The callable (phase, done, total) that the library calls; a bar is set to each phase's total as it begins."""
    if isinstance(progress, type) and hasattr(progress, "update"):
        progress = progress()
    if not hasattr(progress, "update"):
        if progress is not None and not callable(progress):
            raise TypeError(f"progress: {type(progress)!r}, which is neither callable nor a tqdm bar")
        return progress  # type: ignore[no-any-return]
    bar: Bar = progress
    current = ""

    def show(phase: str, done: int, total: int) -> None:
        nonlocal current
        if phase != current or done < bar.n:
            current = phase
            bar.n = 0
            bar.total = total or None
            bar.set_description(phase)
        bar.update(done - bar.n)
        bar.refresh()

    return show
