"""Numbered excerpts of the most suspicious functions, within a budget of characters."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from ._problem import Problem

_CUT = "…"


def _functions(text: str) -> list[tuple[int, int]]:
    try:
        tree = ast.parse(text)
    except SyntaxError:
        return []
    spans = []
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            first = min([node.lineno, *(item.lineno for item in node.decorator_list)])
            spans.append((first, node.end_lineno or node.lineno))
    return spans


def _ranked_spans(problem: Problem) -> Iterator[tuple[str, int, int]]:
    """Innermost functions around the suspects, in the order of their best line."""
    seen: set[tuple[str, int, int]] = set()
    functions: dict[str, list[tuple[int, int]]] = {}
    for suspect in problem.suspects:
        if suspect.path not in functions:
            functions[suspect.path] = _functions(problem.read(suspect.path) or "")
        around = [s for s in functions[suspect.path] if s[0] <= suspect.line <= s[1]]
        first, last = min(
            around, key=lambda s: s[1] - s[0], default=(suspect.line, suspect.line + 20)
        )
        span = (suspect.path, first, last)
        if span not in seen:
            seen.add(span)
            yield span


def excerpt(problem: Problem, context_chars: int) -> str:
    """``path:LINE| text`` lines, cut at ``context_chars``."""
    parts: list[str] = []
    left = context_chars
    for path, first, last in _ranked_spans(problem):
        lines = (problem.read(path) or "").splitlines()[first - 1 : last]
        block = "\n".join(f"{path}:{number}| {line}" for number, line in enumerate(lines, first))
        if len(block) + 2 > left:
            if not parts:
                parts.append(block[: max(0, left - 1)] + _CUT)
            break
        parts.append(block)
        left -= len(block) + 2
    return "\n\n".join(parts)
