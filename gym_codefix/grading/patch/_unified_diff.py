"""Unified diffs: reading the files of one, and turning them into splices."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from gym_codefix.grading.patch._errors import ActionError, quote
from gym_codefix.grading.patch._filetext import Splice
from gym_codefix.grading.patch._hunks import (
    Hunk,
    is_file_header,
    read_hunk,
    splices,
    starts_section,
)
from gym_codefix.grading.patch._tree import Tree

_NULL = "/dev/null"
_GIT_HEADER = "diff --git "
_EXTENDED = ("index ", "old mode ", "new mode ", "similarity index ", "dissimilarity index ")
_REFUSED = {
    "deleted file mode ": "deletes a file; files can only be edited or created",
    "rename from ": "renames a file; files can only be edited or created",
    "rename to ": "renames a file; files can only be edited or created",
    "copy from ": "copies a file; create the new file from /dev/null",
    "copy to ": "copies a file; create the new file from /dev/null",
    "GIT binary patch": "is a binary patch; only text files can be edited",
}
_BINARY = re.compile(r"Binary files .* differ\s*$")
_BULLET = re.compile(r"[-+] \S")


@dataclass
class FilePatch:
    """What a diff does to one file."""

    path: str
    is_new: bool
    location: str
    hunks: list[Hunk] = field(default_factory=list)


class DiffReader:
    """Reads a diff section by section; ``patches`` grows with each file."""

    def __init__(self) -> None:
        self.patches: list[FilePatch] = []
        self._hunk_count = 0
        self._hunk_end: int | None = None

    @property
    def edit_count(self) -> int:
        """Files and hunks read so far."""
        return len(self.patches) + self._hunk_count

    def starts(self, lines: Sequence[str], at: int) -> bool:
        """Whether line ``at`` belongs to a diff, well formed or not."""
        if lines[at][:1] not in ("@", "d", "-", "+", "B", "G"):
            return False
        return (
            starts_section(lines, at)
            or lines[at].startswith(("+++ ", "GIT binary patch"))
            or _BINARY.match(lines[at]) is not None
            or self._is_stray(lines, at)
        )

    def _is_stray(self, lines: Sequence[str], at: int) -> bool:
        """Whether a line right after a hunk looks like more of it."""
        if self._hunk_end is None or lines[at][:1] not in ("+", "-"):
            return False
        return not _BULLET.match(lines[at]) and not any(
            line.strip() for line in lines[self._hunk_end : at]
        )

    def read(self, lines: Sequence[str], at: int) -> int:
        """Read the section that starts at ``at``; returns the index after it.

        Raises:
            ActionError: ``malformed`` or ``unsupported``.
        """
        line = lines[at]
        if line.startswith("@@"):
            return self._read_hunk(lines, at)
        if line.startswith(_GIT_HEADER):
            return self._read_git_header(lines, at)
        if is_file_header(lines, at):
            return self._read_file_header(lines, at)
        location = self._location(at)
        if line.startswith("+++ "):
            raise ActionError(
                "malformed",
                "`+++` without `--- a/path` on the line before it; write both",
                location,
            )
        if line[0] in "+-":
            raise ActionError(
                "malformed",
                f"{quote(line)} follows a hunk that has ended by the counts in its `@@` header; "
                "correct the counts",
                location,
            )
        raise ActionError("unsupported", f"the diff {_REFUSED['GIT binary patch']}", location)

    def _location(self, at: int) -> str:
        return f"file {len(self.patches) + 1}, line {at + 1}"

    def _read_hunk(self, lines: Sequence[str], at: int) -> int:
        self._hunk_count += 1
        if not self.patches:
            raise ActionError(
                "malformed",
                "a hunk before any file; write `--- a/path` and `+++ b/path` above it",
                f"hunk {self._hunk_count}, line {at + 1}",
            )
        hunk, end = read_hunk(lines, at, self._hunk_count)
        self.patches[-1].hunks.append(hunk)
        self._hunk_end = end
        return end

    def _read_git_header(self, lines: Sequence[str], at: int) -> int:
        location = self._location(at)
        index, is_new = at + 1, False
        while index < len(lines):
            line = lines[index]
            for prefix, what in _REFUSED.items():
                if line.startswith(prefix):
                    raise ActionError("unsupported", f"the diff {what}", self._location(index))
            if line.startswith("new file mode "):
                is_new = True
            elif not line.startswith(_EXTENDED):
                break
            index += 1
        names = lines[at].removeprefix(_GIT_HEADER).rstrip()
        if index < len(lines):
            # After an empty new file the next `---` belongs to another file.
            has_header = is_file_header(lines, index)
            if has_header and (not is_new or names.endswith(" " + _header_path(lines[index + 1]))):
                return index
            if _BINARY.match(lines[index]):
                return index
        if not is_new:
            problem = "`diff --git` without `--- a/path` and `+++ b/path`; write both after it"
            raise ActionError("malformed", problem, location)
        # An empty new file has no other place for its name.
        half = len(names) // 2
        old, new = names[:half], names[half + 1 :]
        if not (old.startswith("a/") and new.startswith("b/") and old[2:] == new[2:]):
            problem = f"cannot read the path of {quote(names)}; write `diff --git a/path b/path`"
            raise ActionError("malformed", problem, location)
        self.patches.append(FilePatch(new[2:], True, location))
        return index

    def _read_file_header(self, lines: Sequence[str], at: int) -> int:
        location = self._location(at)
        old, new = (_header_path(line) for line in lines[at : at + 2])
        if new == _NULL:
            raise ActionError("unsupported", f"the diff {_REFUSED['deleted file mode ']}", location)
        if old == _NULL:
            self.patches.append(FilePatch(new.removeprefix("b/"), True, location))
            return at + 2
        if old == new:
            path = old
        elif old.removeprefix("a/") == new.removeprefix("b/"):
            path = new.removeprefix("b/")
        else:
            raise ActionError(
                "unsupported",
                f"the diff renames {quote(old)} to {quote(new)}; files can only be edited or "
                "created, so both must name the same file",
                location,
            )
        self.patches.append(FilePatch(path, False, location))
        if at + 2 >= len(lines) or not lines[at + 2].startswith("@@"):
            problem = "no hunk follows the file header; write `@@ -LINE,COUNT +LINE,COUNT @@`"
            raise ActionError("malformed", problem, location)
        return at + 2


def _header_path(line: str) -> str:
    return line[4:].split("\t", 1)[0].rstrip()


def resolve_patch(patch: FilePatch, tree: Tree) -> None:
    """Find each hunk's place in its file and add the splices.

    Raises:
        ActionError: those of locating a hunk, ``file_exists``, or one of the path's.
    """
    if not patch.is_new:
        hint = "write `--- /dev/null` above `+++ b/path` to create it"
        target = tree.existing(patch.path, patch.location, hint)
        for hunk in patch.hunks:
            target.splices += splices(hunk, target.file, target.path)
        return
    target = tree.missing(patch.path, patch.location, "write `--- a/path` to edit it")
    if len(patch.hunks) > 1:
        problem = "a new file takes one hunk, `@@ -0,0 +1,COUNT @@`; merge them"
        raise ActionError("malformed", problem, patch.hunks[1].location)
    for hunk in patch.hunks:
        if hunk.old:
            problem = "a new file has only added lines; begin each with '+'"
            raise ActionError("malformed", problem, hunk.location)
        target.splices += splices(hunk, target.file, target.path)
    if not target.splices:
        target.splices.append(Splice(0, 0, (), patch.location, exact=True))
