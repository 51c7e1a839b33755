"""Writing edits as actions, the reverse of parsing them."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from gym_codefix.grading.patch._errors import ActionError
from gym_codefix.grading.patch._filetext import NO_FINAL_NEWLINE, FileText, split_lines
from gym_codefix.grading.patch._parse import parse_action

_Read = Callable[[str], str | None]


@dataclass(frozen=True)
class _Change:
    """Lines ``start`` to ``end`` (from 0, end excluded) of the old text become ``new``."""

    start: int
    end: int
    new: Sequence[str]


def format_line_edits(edits: Mapping[str, str], read: _Read) -> str:
    """``edits`` (path to whole new text) as line edits; ``read`` as for ``parse_action``.

    Raises:
        ValueError: nothing changes, or the format cannot express the edits (a path with a
            ``|`` in it, line ends that turn from CRLF to LF).
    """
    return _checked(edits, read, _line_edits)


def format_search_replace(edits: Mapping[str, str], read: _Read) -> str:
    """``edits`` (path to whole new text) as SEARCH/REPLACE blocks; ``read`` as above.

    Raises:
        ValueError: nothing changes, or the format cannot express the edits.
    """
    return _checked(edits, read, _search_replace)


def format_unified_diff(edits: Mapping[str, str], read: _Read) -> str:
    """``edits`` (path to whole new text) as a unified diff; ``read`` as above.

    Raises:
        ValueError: nothing changes, or the format cannot express the edits.
    """
    return _checked(edits, read, _unified_diff)


def _checked(
    edits: Mapping[str, str],
    read: _Read,
    write: Callable[[str, str | None, str], Iterator[str]],
) -> str:
    old = {path: read(path) for path in edits}
    changed = {path: text for path, text in edits.items() if text != old[path]}
    if not changed:
        raise ValueError("nothing to write: no edit changes its file")
    problem = ""
    # Without the CRs first: the file's own style puts them back, and it is how people write.
    for plain in (True, False):
        text = ""
        for path, new in changed.items():
            before = old[path]
            if plain:
                before = None if before is None else before.replace("\r\n", "\n")
                new = new.replace("\r\n", "\n")
            text += "".join(write(path, before, new))
        if "\r\n" in text:
            text = "\n" + text
        try:
            if parse_action(text, old.get, editable=lambda _: None, max_chars=len(text)) == changed:
                return text
            problem = "it would be read as other edits"
        except ActionError as error:
            problem = str(error)
    raise ValueError(f"the format cannot express these edits: {problem}")


def _changes(old: Sequence[str], new: Sequence[str]) -> list[_Change]:
    opcodes = difflib.SequenceMatcher(None, old, new).get_opcodes()
    return [
        _Change(start, end, new[new_start:new_end])
        for tag, start, end, new_start, new_end in opcodes
        if tag != "equal"
    ]


def _new_lines(old: Sequence[str], change: _Change) -> tuple[list[str], bool]:
    """The new lines without their LF, and whether the marker of no final newline follows.

    What replaces the end of a file keeps its final newline or the lack of it. An empty last
    line without an end is how a final newline comes to a file that had none.
    """
    lines = [line.removesuffix("\n") for line in change.new]
    if not lines or change.end < len(old):
        return lines, False
    had_newline = not old or old[-1].endswith("\n")
    has_newline = change.new[-1].endswith("\n")
    if has_newline and not had_newline:
        lines.append("")
    return lines, had_newline and not has_newline


def _line_edits(path: str, old: str | None, new: str) -> Iterator[str]:
    old_lines = split_lines(old or "")
    if old is None and not new:
        yield f"{path}:0+|\n{NO_FINAL_NEWLINE}\n"
        return
    for change in _changes(old_lines, split_lines(new)):
        lines, marked = _new_lines(old_lines, change)
        first, last = change.start + 1, change.end
        span = str(first) if first == last else f"{first}-{last}"
        if not lines:
            yield f"{path}:{span}-|\n"
            continue
        yield f"{path}:{change.start}+" if first > last else f"{path}:{span}"
        for line in lines:
            yield f"| {line}\n" if line else "|\n"
        if marked:
            yield NO_FINAL_NEWLINE + "\n"


def _search_replace(path: str, old: str | None, new: str) -> Iterator[str]:
    old_lines, new_lines = split_lines(old or ""), split_lines(new)
    changes = _changes(old_lines, new_lines) or [_Change(0, 0, [])]
    if old_lines:
        changes = _widened(FileText(old or ""), changes)
    for change in changes:
        lines, marked = _new_lines(old_lines, change)
        search = [line.removesuffix("\n") for line in old_lines[change.start : change.end]]
        replace = lines + [NO_FINAL_NEWLINE] * marked
        size = _marker_size(search + replace)
        yield f"{path}\n{'<' * size} SEARCH\n"
        yield from (line + "\n" for line in search)
        yield "=" * size + "\n"
        yield from (line + "\n" for line in replace)
        yield ">" * size + " REPLACE\n"


def _widened(file: FileText, changes: Sequence[_Change]) -> list[_Change]:
    """``changes`` with lines around them until each block of old lines occurs once."""
    blocks: list[tuple[int, int, list[_Change]]] = []
    for change in changes:
        start, end, step = change.start, change.end, 1
        while start == end or len(file.find(file.bodies[start:end])) > 1:
            start, end, step = max(0, start - step), min(len(file), end + step), 2 * step
        inside = [change]
        while blocks and blocks[-1][1] > start:
            earlier_start, earlier_end, earlier = blocks.pop()
            start, end = min(start, earlier_start), max(end, earlier_end)
            inside = earlier + inside
        blocks.append((start, end, inside))
    return [_joined(file, start, end, inside) for start, end, inside in blocks]


def _joined(file: FileText, start: int, end: int, changes: Sequence[_Change]) -> _Change:
    new: list[str] = []
    position = start
    for change in changes:
        new += [*file.raw[position : change.start], *change.new]
        position = change.end
    return _Change(start, end, new + file.raw[position:end])


def _marker_size(lines: Sequence[str]) -> int:
    taken = {len(line.rstrip()) for line in lines if line.rstrip().strip("=") == ""}
    taken |= {len(line) - len(line.lstrip("<>")) for line in lines if line[:1] in ("<", ">")}
    size = 7
    while size in taken:
        size += 1
    return size


def _unified_diff(path: str, old: str | None, new: str) -> Iterator[str]:
    if old is None and not new:
        yield f"diff --git a/{path} b/{path}\nnew file mode 100644\n"
        return
    before = "/dev/null" if old is None else f"a/{path}"
    for line in difflib.unified_diff(split_lines(old or ""), split_lines(new), before, f"b/{path}"):
        yield line if line.endswith("\n") else f"{line}\n{NO_FINAL_NEWLINE}\n"
