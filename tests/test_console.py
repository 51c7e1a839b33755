"""What is shown of a long step, on a terminal and in a log."""

from __future__ import annotations

import io
from concurrent.futures import ThreadPoolExecutor

import pytest
from rich.console import Console

from gym_codefix.console import Steps


def _log() -> Console:
    return Console(file=io.StringIO(), force_terminal=False, width=80)


def _text(console: Console) -> str:
    assert isinstance(console.file, io.StringIO)
    return console.file.getvalue()


def test_a_log_gets_a_line_at_the_end_of_a_step() -> None:
    console = _log()
    with Steps(console) as steps, ThreadPoolExecutor(4) as pool:
        tell = steps.start("gold", 50)
        list(pool.map(tell, range(1, 51)))
    assert _text(console) == "gold 50/50 (0 s)\n"


def test_a_log_gets_a_line_now_and_then(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = iter([0.0, 5.0, 16.0, 20.0])
    monkeypatch.setattr("gym_codefix.console.time.monotonic", lambda: next(clock))
    console = _log()
    with Steps(console) as steps:
        tell = steps.start("prepare", 10)
        for done in (1, 2, 3):
            tell(done, "click [8.1]")
    assert _text(console) == "prepare 2/10 (16 s) click [8.1]\n"


def test_a_terminal_gets_a_bar() -> None:
    console = Console(file=io.StringIO(), force_terminal=True, width=80)
    with Steps(console) as steps:
        steps.start("search@10", 3)(3)
    assert "search@10" in _text(console) and "3/3" in _text(console)
