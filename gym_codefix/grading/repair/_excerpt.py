"""Numbered excerpts of the most suspicious functions, within a budget of characters."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, NamedTuple

from gym_codefix.catalog.syntax import parse

from ._localise import Suspect

if TYPE_CHECKING:
    from ._problem import Problem

_CUT = "…"
_MOST_SPANS = 80
_LINES_WITHOUT_FUNCTION = 20


class Span(NamedTuple):
    """Lines ``first..last`` of a file of the broken tree, 1-based and inclusive."""

    path: str
    first: int
    last: int


def _functions(text: str) -> list[tuple[int, int]]:
    try:
        tree = parse(text)
    except SyntaxError:
        return []
    spans = []
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            first = min([node.lineno, *(item.lineno for item in node.decorator_list)])
            spans.append((first, node.end_lineno or node.lineno))
    return spans


def rank_spans(suspects: Iterable[Suspect], read: Callable[[str], str | None]) -> list[Span]:
    """Innermost functions around the suspects, in the order of their best line."""
    found: dict[Span, None] = {}
    functions: dict[str, list[tuple[int, int]]] = {}
    for path, line, _ in suspects:
        if path not in functions:
            functions[path] = _functions(read(path) or "")
        around = [span for span in functions[path] if span[0] <= line <= span[1]]
        alone = (line, line + _LINES_WITHOUT_FUNCTION)
        found[Span(path, *min(around, key=lambda span: span[1] - span[0], default=alone))] = None
    return list(found)[:_MOST_SPANS]


def excerpt(problem: Problem, context_chars: int) -> str:
    """Blocks of a line ``path:`` and lines ``LINE| text``, as many as ``context_chars`` hold.

    What does not fit is left out for what does; alone, it is cut.
    """
    blocks = _blocks(problem)
    left = context_chars
    parts: list[str] = []
    for block in blocks:
        if len(block) + 2 <= left:
            parts.append(block)
            left -= len(block) + 2
    if not parts and blocks:
        return blocks[0][: max(0, context_chars - 1)] + _CUT
    return "\n\n".join(parts)


def _blocks(problem: Problem) -> list[str]:
    lines: dict[str, list[str]] = {}
    blocks = []
    for path, first, last in problem.spans:
        if path not in lines:
            lines[path] = (problem.read(path) or "").splitlines()
        shown = enumerate(lines[path][first - 1 : last], first)
        blocks.append("\n".join([f"{path}:", *(f"{number}| {line}" for number, line in shown)]))
    return blocks
