"""Offsets, lines and splices of one source text."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable
from dataclasses import dataclass

BYTE_ORDER_MARK = "\ufeff"
_NEWLINE = re.compile(r"\r\n|\r|\n")

Span = tuple[int, int]
"""Start and end offset, in characters, end exclusive."""


@dataclass(frozen=True, slots=True)
class Edit:
    """Replace the characters from `start` to `end` by `text`."""

    start: int
    end: int
    text: str


class SourceText:
    """A text whose lines are Python's (`str.splitlines` also splits at form feeds)."""

    def __init__(self, text: str) -> None:
        self.text = text
        self._starts = [0, *(match.end() for match in _NEWLINE.finditer(text))]

    def offset(self, line: int, column: int) -> int:
        """The offset of a 1-based line and a 0-based column."""
        return self._starts[line - 1] + column

    def position(self, offset: int) -> tuple[int, int]:
        """The 1-based line and the 0-based column of an offset."""
        line = bisect_right(self._starts, offset)
        return line, offset - self._starts[line - 1]

    def line_start(self, offset: int) -> int:
        """The offset at which the line of `offset` begins."""
        return self._starts[bisect_right(self._starts, offset) - 1]

    def next_line(self, offset: int) -> int:
        """The offset at which the line after that of `offset` begins, or the end of the text."""
        line = bisect_right(self._starts, offset)
        return self._starts[line] if line < len(self._starts) else len(self.text)


def splice(text: str, edits: Iterable[Edit]) -> str:
    """The text with sorted, non-overlapping edits made.

    A blank is put where an edit would otherwise make one word of two (`return-x` losing its minus).
    """
    pieces: list[str] = []
    position = 0
    for edit in edits:
        _append(pieces, text[position : edit.start])
        _append(pieces, edit.text)
        position = edit.end
    _append(pieces, text[position:])
    return "".join(pieces)


def _append(pieces: list[str], piece: str) -> None:
    if not piece:
        return
    if pieces and _is_word(pieces[-1][-1]) and _is_word(piece[0]):
        pieces.append(" ")
    pieces.append(piece)


def _is_word(character: str) -> bool:
    return character.isalnum() or character == "_"
