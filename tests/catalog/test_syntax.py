"""Parsing from several threads, and without warnings."""

from __future__ import annotations

import ast
import gc
import sys
import threading
import warnings
from collections.abc import Iterator
from pathlib import Path

import pytest

from gym_codefix.catalog.syntax import parse


class _Loop:
    """Garbage whose finaliser runs Python, so that threads change inside the parser."""

    def __init__(self) -> None:
        self.me = self

    def __del__(self) -> None:
        sum(range(50))


@pytest.fixture
def restless() -> Iterator[None]:
    interval, thresholds = sys.getswitchinterval(), gc.get_threshold()
    sys.setswitchinterval(1e-6)
    gc.set_threshold(20)
    yield
    sys.setswitchinterval(interval)
    gc.set_threshold(*thresholds)


@pytest.mark.usefixtures("restless")
def test_threads_do_not_disturb_each_other() -> None:
    """`ast.parse` itself raises SystemError here on CPython 3.11."""
    texts = [Path(ast.__file__).with_name(name).read_text() for name in ("ast.py", "abc.py")]
    problems: list[BaseException] = []

    def work() -> None:
        try:
            for text in texts * 8:
                _Loop()
                parse(text)
        except BaseException as error:
            problems.append(error)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not problems


def test_an_invalid_escape_is_not_an_error_where_warnings_are() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert isinstance(parse('x = "\\d"\n'), ast.Module)


@pytest.mark.parametrize("text", ["def f(:", "\0", "(" * 10_000])
def test_what_does_not_parse_raises_as_documented(text: str) -> None:
    with pytest.raises((SyntaxError, ValueError, RecursionError, MemoryError)):
        parse(text)
