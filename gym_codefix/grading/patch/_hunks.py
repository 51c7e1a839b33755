"""Hunks of a unified diff: reading one, and turning it into splices."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from gym_codefix.grading.patch._errors import ActionError, quote
from gym_codefix.grading.patch._filetext import MAX_REPORTED_MATCHES, FileText, Splice, body
from gym_codefix.grading.patch._search_replace import describe_difference

_HEADER = re.compile(
    r"@@ -([0-9]{1,9})(?:,([0-9]{1,9}))? \+([0-9]{1,9})(?:,([0-9]{1,9}))? @@(?:\s.*)?$"
)
_FENCE = re.compile(r"\s*(?:```|~~~)")


@dataclass(frozen=True)
class Hunk:
    """One hunk. ``body`` keeps the first character of each line; blank context has one too."""

    start: int
    old_count: int
    body: Sequence[str]
    location: str

    @property
    def old(self) -> list[str]:
        """The lines that the hunk expects in the file."""
        return [line[1:] for line in self.body if line[0] in " -"]


def starts_section(lines: Sequence[str], at: int) -> bool:
    """Whether line ``at`` begins a hunk or a file of a diff."""
    line = lines[at]
    if line[:1] not in ("@", "d", "-"):
        return False
    if line.startswith(("@@", "diff --git ")):
        return True
    return is_file_header(lines, at)


def is_file_header(lines: Sequence[str], at: int) -> bool:
    """Whether lines ``at`` and the next are ``--- x`` and ``+++ y``."""
    return lines[at].startswith("--- ") and at + 1 < len(lines) and lines[at + 1].startswith("+++ ")


def read_hunk(lines: Sequence[str], start: int, number: int) -> tuple[Hunk, int]:
    """The hunk whose header is at ``start``, and the index after its last line.

    The counts of the header say where it ends; where they disagree with the lines that
    follow, the hunk runs to the next header, or to a line that cannot belong to it.

    Raises:
        ActionError: ``malformed``.
    """
    location = f"hunk {number}, line {start + 1}"
    header = _HEADER.match(lines[start])
    if header is None:
        raise ActionError(
            "malformed",
            f"{quote(lines[start].rstrip())} is no hunk header; write `@@ -LINE,COUNT +LINE,COUNT "
            "@@`",
            location,
        )
    old_count, new_count = (1 if count is None else int(count) for count in header.group(2, 4))
    end = _end_by_counts(lines, start + 1, old_count, new_count)
    if end is None:
        end = _end_by_shape(lines, start + 1, number)
    hunk_body = [" " + line if line in ("", "\r") else line for line in lines[start + 1 : end]]
    if all(line[0] == "\\" for line in hunk_body):
        raise ActionError(
            "malformed", "the hunk has no lines; begin each with ' ', '+' or '-'", location
        )
    return Hunk(int(header[1]), old_count, hunk_body, location), end


def _end_by_counts(lines: Sequence[str], start: int, old: int, new: int) -> int | None:
    index = start
    while (old or new) and index < len(lines):
        kind = lines[index][:1].strip("\r") or " "
        if kind not in " +-\\":
            return None
        old -= kind in " -"
        new -= kind in " +"
        if old < 0 or new < 0:
            return None
        index += 1
    if old or new:
        return None
    if index < len(lines) and lines[index].startswith("\\"):
        index += 1
    goes_on = index < len(lines) and lines[index][:1] in ("+", "-", " ")
    return None if goes_on and not starts_section(lines, index) else index


def _end_by_shape(lines: Sequence[str], start: int, number: int) -> int:
    index = start
    while index < len(lines):
        if (lines[index][:1].strip("\r") or " ") not in " +-\\" or starts_section(lines, index):
            break
        index += 1
    end = index
    while end > start and lines[end - 1] in ("", "\r"):
        end -= 1
    broken = end == index < len(lines) and not starts_section(lines, index)
    if broken and not _FENCE.match(lines[index]):
        raise ActionError(
            "malformed",
            f"{quote(lines[index])} is no hunk line; begin unchanged lines with a space, "
            "added ones with '+', removed ones with '-'",
            f"hunk {number}, line {index + 1}",
        )
    return end


def splices(hunk: Hunk, file: FileText, path: str) -> list[Splice]:
    """The hunk's changes, once it has been located in ``file``.

    Raises:
        ActionError: ``no_match``, ``ambiguous``, ``out_of_range`` or ``final_newline``.
    """
    position = _locate(hunk, file, path)
    exact = file.is_exact(hunk.old, position)
    found: list[Splice] = []
    start, new = position, list[str]()
    # What the last line of each side was, for a "\ No newline at end of file" after it.
    old_unterminated = new_unterminated = False
    previous = ""

    def flush() -> None:
        if new or position > start:
            found.append(Splice(start, position, tuple(new), hunk.location, exact))
            new.clear()

    for line in hunk.body:
        kind = line[0]
        if kind == "\\":
            old_unterminated |= previous in ("-", " ")
            new_unterminated |= previous in ("+", " ")
            previous = ""
            continue
        if new_unterminated and kind in " +":
            raise ActionError(
                "final_newline",
                "`\\ No newline at end of file` stands before the last new line of the hunk; "
                "leave it out",
                hunk.location,
            )
        if kind == " ":
            flush()
            position += 1
            start = position
        elif kind == "-":
            position += 1
        else:
            new.append(line[1:])
        previous = kind
    flush()
    if found and found[-1].end == position and found[-1].new:
        if new_unterminated:
            found[-1] = replace(found[-1], final_newline=False)
        elif old_unterminated and position == len(file):
            found[-1] = replace(found[-1], final_newline=True)
    return found


def _locate(hunk: Hunk, file: FileText, path: str) -> int:
    wanted = [body(line) for line in hunk.old]
    if not wanted:
        return _locate_insertion(hunk, file, path)
    expected = hunk.start - 1
    if file.matches_at(wanted, expected):
        return expected
    found = file.find(wanted)
    if len(found) == 1:
        return found[0]
    if found:
        shown = ", ".join(str(start + 1) for start in found[:MAX_REPORTED_MATCHES])
        raise ActionError(
            "ambiguous",
            f"the hunk is not at line {hunk.start} of {path} but matches at lines {shown}; "
            "correct the line number or add context",
            hunk.location,
        )
    raise ActionError(
        "no_match",
        f"the hunk does not fit {path}: "
        f"{describe_difference(file, wanted, 'the hunk (removed and unchanged lines)', expected)}; "
        "copy unchanged and removed lines exactly",
        hunk.location,
    )


def _locate_insertion(hunk: Hunk, file: FileText, path: str) -> int:
    """With nothing to compare, git's reading: a count of 0 means after that line."""
    if not len(file):
        return 0
    if hunk.old_count:
        raise ActionError(
            "malformed",
            f"the header promises {hunk.old_count} old lines but the hunk only adds; add context, "
            f"or write `@@ -{hunk.start},0 …` to insert after line {hunk.start}",
            hunk.location,
        )
    if hunk.start > len(file):
        raise ActionError(
            "out_of_range",
            f"the hunk inserts after line {hunk.start} but {path} has {len(file)} lines",
            hunk.location,
        )
    return hunk.start
