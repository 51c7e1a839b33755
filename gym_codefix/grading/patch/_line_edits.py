"""Line edits, ``path:LINE| text``: reading one, and turning it into a splice."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from gym_codefix.grading.patch._errors import ActionError
from gym_codefix.grading.patch._filetext import NO_FINAL_NEWLINE, Splice
from gym_codefix.grading.patch._tree import Tree

_EDIT = re.compile(
    r"(?P<path>[^|]*?):(?P<start>[0-9]{1,9})(?:-(?P<end>[0-9]{1,9}))?(?P<kind>[+-]?)\|"
)


@dataclass(frozen=True)
class LineEdit:
    """One edit; ``kind`` is "" to replace, "+" to insert after ``start``, "-" to delete."""

    path: str
    start: int
    end: int
    kind: str
    text: Sequence[str]
    without_final_newline: bool
    location: str


def opens_edit(line: str) -> re.Match[str] | None:
    """The match of ``line`` as the first line of an edit, if it is one."""
    return _EDIT.match(line) if "|" in line else None


def read_edit(
    lines: Sequence[str], start: int, opening: re.Match[str], number: int
) -> tuple[LineEdit, int]:
    """The edit whose first line is at ``start``, and the index after its last line.

    Raises:
        ActionError: ``malformed``.
    """
    location = f"edit {number}, line {start + 1}"
    text = [_after_bar(lines[start][opening.end() :])]
    after = start + 1
    while after < len(lines) and lines[after].startswith("|"):
        text.append(_after_bar(lines[after][1:]))
        after += 1
    without_final_newline = after < len(lines) and lines[after].rstrip() == NO_FINAL_NEWLINE
    after += without_final_newline
    kind, first, last = opening["kind"], opening["start"], opening["end"]
    if kind == "+" and last is not None:
        raise ActionError(
            "malformed", "an insertion takes one line number; write `path:LINE+| text`", location
        )
    if kind == "-":
        if text != [""] or without_final_newline:
            raise ActionError(
                "malformed",
                "a deletion takes no text; write `path:LINE-|` or `path:LINE-LINE-|` to delete, "
                "`path:LINE-LINE| text` to replace",
                location,
            )
        text = []
    path = opening["path"].strip().lstrip("`")
    end = int(first if last is None else last)
    return LineEdit(path, int(first), end, kind, text, without_final_newline, location), after


def _after_bar(rest: str) -> str:
    return rest.removeprefix(" ") if rest != "\r" else ""


def resolve_edit(edit: LineEdit, tree: Tree) -> None:
    """Check the edit's line numbers against the file as it was and add the splice.

    Raises:
        ActionError: ``out_of_range``, or one of the path's.
    """
    if edit.kind == "+" and edit.start == 0:
        target = tree.target(edit.path, edit.location)
    else:
        hint = "write `path:0+| text` to create it"
        target = tree.existing(edit.path, edit.location, hint)
    count = len(target.file)
    first = 0 if edit.kind == "+" else 1
    if not first <= edit.start <= edit.end <= count:
        wrong = f"{edit.start}-{edit.end}" if edit.end != edit.start else str(edit.start)
        allowed = f"lines {first} to {count}, the smaller number first"
        if count < first:
            allowed = "no line to replace: write `path:0+| text`"
        raise ActionError(
            "out_of_range",
            f"line {wrong} is not in {target.path}, which takes {allowed}",
            edit.location,
        )
    target.splices.append(
        Splice(
            start=edit.start if edit.kind == "+" else edit.start - 1,
            end=edit.end,
            new=edit.text,
            location=edit.location,
            exact=target.file.newline == "\n",
            final_newline=False if edit.without_final_newline else None,
        )
    )
