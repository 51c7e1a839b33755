"""SEARCH/REPLACE blocks: reading one, and turning it into a splice."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from gym_codefix.grading.patch._errors import ActionError, quote
from gym_codefix.grading.patch._filetext import (
    MAX_REPORTED_MATCHES,
    NO_FINAL_NEWLINE,
    FileText,
    Splice,
    body,
)
from gym_codefix.grading.patch._tree import Tree

_OPENING = re.compile(r"(<{7,}) SEARCH\s*$")
_FENCE = re.compile(r"\s*(?:```|~~~)")
_HOW = "write `<<<<<<< SEARCH`, `=======` and `>>>>>>> REPLACE`, each alone on its line"


@dataclass(frozen=True)
class SearchBlock:
    """One block; ``location`` is that of its opening marker in the action."""

    path: str
    search: Sequence[str]
    replace: Sequence[str]
    location: str


def opens_block(line: str) -> bool:
    """Whether ``line`` begins a block, well formed or not."""
    return line.startswith("<<<<<<<")


def closes_block(line: str) -> bool:
    """Whether ``line`` is the last marker of a block."""
    return line.startswith(">>>>>>>") and line.rstrip().endswith(" REPLACE")


def path_before(lines: Sequence[str], start: int, floor: int) -> str | None:
    """The path line above the marker at ``start``, not looking above ``floor``."""
    for index in range(start - 1, floor - 1, -1):
        line = lines[index].strip()
        if line and not _FENCE.match(line):
            return line.strip("*`").removesuffix(":").strip("*`").strip()
    return None


def read_block(
    lines: Sequence[str], start: int, path: str | None, number: int
) -> tuple[SearchBlock, int]:
    """The block whose opening marker is at ``start``, and the index after its last marker.

    Raises:
        ActionError: ``malformed``.
    """

    def malformed(index: int, problem: str) -> ActionError:
        return ActionError("malformed", problem, f"block {number}, line {index + 1}")

    opening = _OPENING.match(lines[start])
    if opening is None:
        raise malformed(start, f"{quote(lines[start].rstrip())} opens no block; {_HOW}")
    if path is None:
        raise malformed(start, "no path on the line before `<<<<<<< SEARCH`; write it there")
    size = len(opening[1])
    begin, divide, end = "<" * size + " SEARCH", "=" * size, ">" * size + " REPLACE"
    divided_at = None
    for index in range(start + 1, len(lines)):
        line = lines[index]
        if line[:1] not in ("<", "=", ">"):
            continue
        marker = line.rstrip()
        if marker == begin:
            raise malformed(start, f"the block is not closed before line {index + 1}; {_HOW}")
        if marker == divide:
            if divided_at is not None:
                raise malformed(
                    index,
                    f"a second {quote(divide)} in the block; where the text itself has such a "
                    f"line, write all three markers with {size + 1} characters or more",
                )
            divided_at = index
        elif marker == end:
            if divided_at is None:
                raise malformed(index, f"{quote(divide)} is missing in the block; {_HOW}")
            location = f"block {number}, line {start + 1}"
            search, replace = lines[start + 1 : divided_at], lines[divided_at + 1 : index]
            return SearchBlock(path, search, replace, location), index + 1
    missing = divide if divided_at is None else end
    raise malformed(start, f"the block ends without {quote(missing)}; {_HOW}")


def resolve_block(block: SearchBlock, tree: Tree) -> None:
    """Find the block's place in its file and add the splice.

    Raises:
        ActionError: ``no_match``, ``ambiguous``, ``file_exists``, or one of the path's.
    """
    if not block.search:
        hint = "put the lines to be replaced into SEARCH (an empty SEARCH creates a file)"
        target = tree.target(block.path, block.location)
        if len(target.file) or target.is_touched:
            target = tree.missing(block.path, block.location, hint)
        start = 0
    else:
        hint = (
            "the line before `<<<<<<< SEARCH` must be an existing path and nothing else "
            "(an empty SEARCH creates a file)"
        )
        target = tree.existing(block.path, block.location, hint)
        start = _locate(target.file, target.path, block)
    target.splices.append(_splice(target.file, block, start))


def _locate(file: FileText, path: str, block: SearchBlock) -> int:
    wanted = [body(line) for line in block.search]
    found = file.find(wanted)
    if len(found) == 1:
        return found[0]
    if found:
        shown = ", ".join(str(start + 1) for start in found[:MAX_REPORTED_MATCHES])
        many = len(found) > MAX_REPORTED_MATCHES
        count = f"more than {MAX_REPORTED_MATCHES}" if many else str(len(found))
        raise ActionError(
            "ambiguous",
            f"SEARCH matches {count} places in {path} (at lines {shown}{', …' if many else ''}); "
            "add lines around it until it matches once",
            block.location,
        )
    raise ActionError(
        "no_match",
        f"SEARCH matches nothing in {path}: {describe_difference(file, wanted, 'SEARCH')}; "
        "copy the lines exactly, with their indentation",
        block.location,
    )


def describe_difference(
    file: FileText, wanted: Sequence[str], what: str, at: int | None = None
) -> str:
    """Where ``wanted`` comes closest to the file, and the first line that differs."""
    closest = file.closest(wanted, at)
    if closest is None:
        return f"no line of the file resembles {quote(wanted[0])}"
    line, index = closest
    expected = f"line {index + 1} of {what} has {quote(wanted[index])}"
    if line >= len(file):
        return f"the file ends after line {len(file)} where {expected}"
    return f"the closest is line {line + 1}, {quote(file.bodies[line])}, where {expected}"


def _splice(file: FileText, block: SearchBlock, start: int) -> Splice:
    old, new = list(block.search), list(block.replace)
    end = start + len(old)
    exact = file.is_exact(old, start)
    final_newline = None
    if end == len(file) and new and new[-1].rstrip() == NO_FINAL_NEWLINE:
        new.pop()
        final_newline = False
    elif end < len(file) or file.ends_in_newline:
        # Lines that only give context may be shared by two blocks. At the end of a file
        # without a final newline they are not: there the last line differs by its end.
        same = _common_prefix(old, new)
        old, new, start = old[same:], new[same:], start + same
        same = _common_prefix(old[::-1], new[::-1])
        old, new, end = old[: len(old) - same], new[: len(new) - same], end - same
    return Splice(start, end, new, block.location, exact, final_newline)


def _common_prefix(first: Sequence[str], second: Sequence[str]) -> int:
    length = 0
    for one, other in zip(first, second, strict=False):
        if one != other:
            break
        length += 1
    return length
