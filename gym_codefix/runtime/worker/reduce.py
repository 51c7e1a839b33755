"""Leaving out of a module what an edit does not touch, so that little has to be compiled."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

Lines = tuple[int, int]  # first and last, 1-based


@dataclass
class _Block:
    """What a module or class defines, by name: lines to keep whole, and classes to look into."""

    spans: dict[str, set[Lines]] = field(default_factory=dict)
    classes: dict[str, list[_Class]] = field(default_factory=dict)
    imports: set[Lines] = field(default_factory=set)  # they decide how calls are compiled

    def find(self, path: Sequence[str]) -> tuple[set[Lines], set[Lines]]:
        """The lines that define ``path`` (empty if nothing does), and those they depend on."""
        name, rest = path[0], path[1:]
        found, around = set(self.spans.get(name, ())), set(self.imports)
        for one in self.classes.get(name, ()):
            inside, headers = one.body.find(rest) if rest else (set[Lines](), set[Lines]())
            found |= inside or {one.lines}
            around |= {one.header} | headers if inside else set()
        return found, around


@dataclass
class _Class:
    """A class whose header ends on a line before its body."""

    lines: Lines
    header: Lines
    body: _Block


class Outline:
    """Where a module's functions and classes lie."""

    def __init__(self, text: str) -> None:
        self._lines = _split(text)
        self._module = _block(ast.parse(text).body)

    def reduced(self, text: str, changed: Iterable[str]) -> tuple[str, str] | None:
        """Both texts with blank lines for all but the functions ``changed``, by qualified name.

        What stays lies where it lay, in the headers of its classes. None when more than these
        functions differ or moved.
        """
        touched, context = set[int](), set[int]()
        for name in changed:
            found, around = self._module.find(name.split("."))
            if not found:
                return None
            touched |= _numbers(found)
            context |= _numbers(around)
        lines = _split(text)
        if len(lines) != len(self._lines):
            return None
        for number, (old, new) in enumerate(zip(self._lines, lines, strict=True)):
            if old != new and number not in touched:
                return None
        kept = touched | context
        return _only(self._lines, kept), _only(lines, kept)


def _block(statements: Sequence[ast.stmt]) -> _Block:
    block = _Block()
    for node in statements:
        lines = _lines_of(node)
        if isinstance(node, (ast.Import, ast.ImportFrom)):
            block.imports.add(lines)
        body = _lines_of(node.body[0])[0] if isinstance(node, ast.ClassDef) else 0
        if isinstance(node, ast.ClassDef) and body > node.lineno:
            one = _Class(lines, (lines[0], body - 1), _block(node.body))
            block.classes.setdefault(node.name, []).append(one)
        else:
            for name in _defined(node):
                block.spans.setdefault(name, set()).add(lines)
    return block


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
