"""What commands and benchmarks show while they work."""

from __future__ import annotations

import threading
import time
from types import TracebackType
from typing import Protocol

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

_EVERY_S = 15.0


class Update(Protocol):
    """Tells how far a step is."""

    def __call__(self, done: int, note: str = "") -> None: ...


class Steps:
    """Bars on a terminal; elsewhere (a log, a pipe) a line now and then and one at the end.

    Steps may be updated from any thread.
    """

    def __init__(self, console: Console, every_s: float = _EVERY_S) -> None:
        self._console, self._every_s = console, every_s
        self._lock = threading.Lock()
        self._bars = Progress(
            TextColumn("{task.description:<24}"),
            BarColumn(),
            MofNCompleteColumn(),
            TimeElapsedColumn(),
            console=console,
            disable=not console.is_terminal,
        )

    def __enter__(self) -> Steps:
        self._bars.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._bars.stop()

    def start(self, name: str, total: int) -> Update:
        """A new step; what it returns takes how many are done and a note on the present one."""
        if self._console.is_terminal:
            bar = self._bars.add_task(name, total=total)

            def move(done: int, note: str = "") -> None:
                self._bars.update(bar, completed=done, description=f"{name} {note}".strip())

            return move
        started = last = time.monotonic()

        def update(done: int, note: str = "") -> None:
            nonlocal last
            with self._lock:
                now = time.monotonic()
                if done < total and now - last < self._every_s:
                    return
                last = now
                text = f"{name} {done}/{total} ({now - started:.0f} s) {note}".strip()
                self._console.print(text, markup=False, highlight=False)

        return update
