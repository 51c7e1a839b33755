"""A file as numbered lines: finding a block of lines in it, and splicing lines into it."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

from gym_codefix.grading.patch._errors import ActionError

MAX_REPORTED_MATCHES = 20
NO_FINAL_NEWLINE = "\\ No newline at end of file"

_COMPARED_STARTS = 50
_COMPARED_LINES = 2000
_COMPARED_CHARS = 200
_WORD = re.compile(r"\w+")


@dataclass(frozen=True)
class Splice:
    """Lines ``start`` to ``end`` (from 0, end excluded) give way to ``new``.

    ``new`` has no line ends. ``exact`` takes a trailing CR of a new line as it stands;
    otherwise the file's own newline style is used. ``final_newline`` says whether the file
    ends in a newline afterwards; None keeps what it had.
    """

    start: int
    end: int
    new: Sequence[str]
    location: str
    exact: bool
    final_newline: bool | None = None


def split_lines(text: str) -> list[str]:
    """Lines with their ends; LF alone separates lines, so numbers agree with an editor's."""
    lines = text.split("\n")
    last = lines.pop()
    return [line + "\n" for line in lines] + ([last] if last else [])


def body(line: str) -> str:
    """``line`` without its LF or CRLF."""
    return line.removesuffix("\n").removesuffix("\r")


class FileText:
    """The original text of one file."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.raw = split_lines(text)
        self.bodies = [body(line) for line in self.raw]
        self.ends_in_newline = not self.raw or self.raw[-1].endswith("\n")
        crlf = text.count("\r\n")
        self.newline = "\r\n" if crlf > text.count("\n") - crlf else "\n"

    def __len__(self) -> int:
        return len(self.raw)

    @cached_property
    def _positions(self) -> dict[str, list[int]]:
        positions: defaultdict[str, list[int]] = defaultdict(list)
        for index, line in enumerate(self.bodies):
            positions[line].append(index)
        return dict(positions)

    def matches_at(self, block: Sequence[str], start: int) -> bool:
        """Whether the bodies in ``block`` stand at line ``start`` (from 0)."""
        end = start + len(block)
        return start >= 0 and end <= len(self) and self.bodies[start:end] == list(block)

    def find(self, block: Sequence[str]) -> list[int]:
        """Where the bodies in ``block`` stand (from 0): the first few places only."""
        offset = min(range(len(block)), key=lambda at: len(self._positions.get(block[at], ())))
        found = []
        for position in self._positions.get(block[offset], ()):
            start = position - offset
            last = start + len(block) - 1
            if start < 0 or last >= len(self) or self.bodies[last] != block[-1]:
                continue
            if self.matches_at(block, start):
                found.append(start)
                if len(found) > MAX_REPORTED_MATCHES:
                    break
        return found

    def is_exact(self, lines: Sequence[str], start: int) -> bool:
        """Whether ``lines``, already found at ``start``, also spell the file's line ends.

        Without a line end to compare it is the file's style that counts: True unless CRLF.
        """
        raw = [line for line in self.raw[start : start + len(lines)] if line.endswith("\n")]
        if not raw:
            return self.newline == "\n"
        return all(line + "\n" == there for line, there in zip(lines, raw, strict=False))

    def closest(self, block: Sequence[str], at: int | None) -> tuple[int, int] | None:
        """The first difference where ``block`` fits best: (line in the file, line in block).

        ``at`` is where the block was expected, if anywhere. None when nothing resembles it.
        """
        known = [line for line in block if line.strip() and line in self._positions]
        starts = [] if at is None or not 0 <= at < len(self) else [at]
        if known:
            anchor = min(known, key=lambda line: len(self._positions[line]))
            offset = block.index(anchor)
            places = self._positions[anchor][:_COMPARED_STARTS]
            starts += [place - offset for place in places if place >= offset]
        if not known or not starts:
            wanted = next((n for n, line in enumerate(block) if line.strip()), 0)
            similar = self._similar(block[wanted])
            if similar is not None:
                return similar, wanted
        if not starts:
            return None

        def agreement(start: int) -> int:
            there = self.bodies[start : start + _COMPARED_LINES]
            return sum(a == b for a, b in zip(there, block, strict=False))

        start = max(starts, key=agreement)
        for index, line in enumerate(block):
            if start + index >= len(self) or self.bodies[start + index] != line:
                return start + index, index
        return None

    def _similar(self, line: str) -> int | None:
        """The line that shares the most words with ``line``, if any does."""
        wanted = set(_WORD.findall(line[:_COMPARED_CHARS]))
        best, best_score = None, 0.0
        for index, other in enumerate(self.bodies):
            words = set(_WORD.findall(other[:_COMPARED_CHARS]))
            common = len(wanted & words)
            if common and common / len(wanted | words) > best_score:
                best, best_score = index, common / len(wanted | words)
        return best

    def apply(self, splices: Sequence[Splice]) -> str:
        """The whole new text.

        Raises:
            ActionError: ``overlap`` when two splices touch the same line or the same gap;
                ``final_newline`` when one that sets the end of file is not at its end.
        """
        ordered = sorted(splices, key=lambda splice: (splice.start, splice.end))
        for before, after in pairwise(ordered):
            same_gap = before.start == before.end == after.start == after.end
            if before.end > after.start or same_gap:
                line = max(after.start, 1) if same_gap else after.start + 1
                raise ActionError(
                    "overlap",
                    f"overlaps the edit at {before.location} (file line {line}); "
                    "merge the two into one edit",
                    after.location,
                )
        out: list[str] = []
        position = 0
        for splice in ordered:
            at_end = splice is ordered[-1] and splice.end == len(self)
            if splice.final_newline is False and not at_end:
                raise ActionError(
                    "final_newline",
                    f"'{NO_FINAL_NEWLINE}' stands before the end of the file; leave it out",
                    splice.location,
                )
            out += self.raw[position : splice.start]
            if splice.new and out and not out[-1].endswith("\n"):
                out[-1] += self.newline
            out += self._rendered(splice, at_end)
            position = splice.end
        return "".join(out + self.raw[position:])

    def _rendered(self, splice: Splice, at_end: bool) -> list[str]:
        if splice.exact:
            lines, newline = list(splice.new), "\n"
        else:
            lines, newline = [line.removesuffix("\r") for line in splice.new], self.newline
        rendered = [line + newline for line in lines]
        keeps = self.ends_in_newline if splice.final_newline is None else splice.final_newline
        if rendered and at_end and not keeps:
            rendered[-1] = lines[-1]
        return rendered
