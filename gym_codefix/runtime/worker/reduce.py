"""Leaving out of a module what an edit does not touch, so that little has to be compiled."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator

Lines = tuple[int, int]  # first and last, 1-based


class Outline:
    """Where a module's functions and classes lie: their outermost statements, by name."""

    def __init__(self, text: str) -> None:
        self._lines = _split(text)
        self._spans: dict[str, set[Lines]] = {}
        self._imports: set[Lines] = set()  # what they bind decides how calls are compiled
        for node in ast.parse(text).body:
            lines = _lines_of(node)
            if isinstance(node, (ast.Import, ast.ImportFrom)):
                self._imports.add(lines)
            for name in _defined(node):
                self._spans.setdefault(name, set()).add(lines)

    def reduced(self, text: str, changed: Iterable[str]) -> tuple[str, str] | None:
        """Both texts with blank lines for all but the statements that define ``changed``.

        What stays lies where it lay. None when more than these statements differ or moved.
        """
        spans: set[Lines] = set()
        for name in changed:
            found = self._spans.get(name.partition(".")[0])
            if not found:
                return None
            spans |= found
        lines = _split(text)
        if len(lines) != len(self._lines):
            return None
        touched = _numbers(spans)
        for number, (old, new) in enumerate(zip(self._lines, lines, strict=True)):
            if old != new and number not in touched:
                return None
        kept = touched | _numbers(self._imports)
        return _only(self._lines, kept), _only(lines, kept)


def _numbers(spans: set[Lines]) -> set[int]:
    return {number for first, last in spans for number in range(first - 1, last)}


def _split(text: str) -> list[str]:
    return text.replace("\r\n", "\n").replace("\r", "\n").split("\n")


def _only(lines: list[str], kept: set[int]) -> str:
    return "\n".join(line if number in kept else "" for number, line in enumerate(lines))


def _lines_of(node: ast.stmt) -> Lines:
    first = min(part.lineno for part in (node, *getattr(node, "decorator_list", ())))
    return first, node.end_lineno or first


def _defined(node: ast.AST) -> Iterator[str]:
    """Names of functions and classes that a statement defines, in whatever branch of it."""
    if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
        yield node.name
    else:
        for child in ast.iter_child_nodes(node):
            if not isinstance(child, ast.expr):
                yield from _defined(child)
