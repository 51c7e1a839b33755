"""Editing a source text by the positions of its syntax tree."""

from __future__ import annotations

import ast
import functools
import re
from typing import NamedTuple

from gym_codefix.catalog.syntax import parse
from gym_codefix.grading.twins._vary import USED_NAMES, varied

_LINE = re.compile(r"[^\r\n]*(?:\r\n|\r|\n)|[^\r\n]+\Z")
_BREAK = re.compile(r"\r\n|\r|\n")


class Span(NamedTuple):
    """Half-open range of character offsets."""

    start: int
    end: int


class Splice(NamedTuple):
    """Replace the characters of `span` by `text`."""

    span: Span
    text: str


class SourceText:
    """A parsed source text. Raises SyntaxError (or ValueError) if it does not parse."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.tree = parse(text)
        self._lines = _LINE.findall(text)
        self._starts = [0]
        for line in self._lines:
            self._starts.append(self._starts[-1] + len(line))
        self._bound = {
            getattr(node, "id", getattr(node, "arg", getattr(node, "name", None)))
            for node in ast.walk(self.tree)
            if not (isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load))
        }

    def column(self, node: ast.expr | ast.stmt) -> int:
        """Column of a node in characters (the tree counts UTF-8 bytes)."""
        return self._characters(node.lineno, node.col_offset)

    def span(self, node: ast.expr | ast.stmt) -> Span:
        end_line = node.end_lineno or node.lineno
        end = self._starts[end_line - 1] + self._characters(end_line, node.end_col_offset or 0)
        return Span(self._starts[node.lineno - 1] + self.column(node), end)

    def of(self, node: ast.expr | ast.stmt) -> str:
        start, end = self.span(node)
        return self.text[start:end]

    def breaks(self, node: ast.expr | ast.stmt) -> str:
        """The line breaks inside a node, to be kept by what replaces it."""
        return "".join(_BREAK.findall(self.of(node)))

    @property
    def alien(self) -> str:
        """An expression that equals nothing else."""
        return ("().__class__.__base__" if "object" in self._bound else "object") + "()"

    def stranger(self, node: ast.expr) -> str:
        """An expression in place of `node` that differs from it, after `node` was evaluated.

        What `node` calls must still run: a forgery that sits there could not show itself else. The
        other value is like the first, lest a forgery know it, but for `is` a fresh object will do.
        """
        inner = f"({self.of(node)})"
        if USED_NAMES & self._bound:
            return f"({inner}, {self.alien})[1]"
        return varied(inner)

    def never(self, node: ast.expr, base: str) -> str:
        """A class in place of `node`, derived from `base`, that nothing raises."""
        name = "().__class__.__class__" if "type" in self._bound else "type"
        return f'{name}("Never", ({base},), {{{self.breaks(node)}}})'

    def apply(self, *splices: Splice) -> str:
        text = self.text
        for span, new in sorted(splices, reverse=True):
            text = text[: span.start] + new + text[span.end :]
        return text

    def _characters(self, line: int, column: int) -> int:
        return len(self._lines[line - 1].encode()[:column].decode())


@functools.lru_cache(maxsize=32)
def read_source(text: str) -> SourceText:
    """`SourceText` of a text that is asked for again and again."""
    return SourceText(text)
