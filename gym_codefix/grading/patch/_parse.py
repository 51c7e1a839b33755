"""The one parser of repair actions."""

from __future__ import annotations

from collections.abc import Callable

from gym_codefix.grading.patch._errors import ActionError
from gym_codefix.grading.patch._line_edits import LineEdit, opens_edit, read_edit, resolve_edit
from gym_codefix.grading.patch._search_replace import (
    SearchBlock,
    closes_block,
    opens_block,
    path_before,
    read_block,
    resolve_block,
)
from gym_codefix.grading.patch._tree import Tree
from gym_codefix.grading.patch._unified_diff import DiffReader, resolve_patch

MAX_EDITS = 2_000
"""Most blocks, hunks and files, or line edits in one action."""

_FORMATS = "SEARCH/REPLACE blocks, a unified diff, or line edits `path:LINE| text`"


def parse_action(
    action: str | bytes,
    read: Callable[[str], str | None],
    *,
    editable: Callable[[str], str | None],
    max_chars: int = 200_000,
) -> dict[str, str]:
    """Apply a repair action to the files it names, in memory.

    The format is found from the text (see ``ACTION_FORMATS``); prose and markdown fences
    around the edits are passed over. All edits refer to the files as they were.

    Args:
        action: what the agent wrote.
        read: current text of a path, with its line ends as they are, or None without a file.
        editable: None when a path may be edited, else the reason why not.
        max_chars: longest action accepted.

    Returns:
        Path to whole new text, for every file whose text changes; empty when none does.

    Raises:
        ActionError: the action cannot be applied. Nothing else is raised because of its text.
    """
    lines = _decoded(action, max_chars).split("\n")
    edits = _Scanner(lines).scan()
    tree = Tree(read, editable)
    for block in edits.blocks:
        resolve_block(block, tree)
    for patch in edits.diff.patches:
        resolve_patch(patch, tree)
    for edit in edits.line_edits:
        resolve_edit(edit, tree)
    return tree.edits()


def _decoded(action: str | bytes, max_chars: int) -> str:
    if not isinstance(action, (str, bytes)):
        problem = f"the action is {type(action).__name__}, not text; write {_FORMATS}"
        raise ActionError("not_text", problem)
    # UTF-8 takes at most four bytes a character.
    limit = max_chars if isinstance(action, str) else 4 * max_chars
    if len(action) > limit:
        unit = "characters" if isinstance(action, str) else "bytes"
        problem = f"the action has {len(action)} {unit}; at most {limit} are allowed"
        raise ActionError("too_long", problem)
    try:
        text = action.decode("utf-8") if isinstance(action, bytes) else action
        text.encode("utf-8")
    except UnicodeError as error:
        problem = "the action is not UTF-8 text"
        raise ActionError("not_text", f"{problem} (position {error.args[2]})") from None
    if "\0" in text:
        position = text.index("\0")
        raise ActionError("not_text", f"the action has a NUL character (position {position})")
    if len(text) > max_chars:
        problem = f"the action has {len(text)} characters; at most {max_chars} are allowed"
        raise ActionError("too_long", problem)
    text = text.removeprefix("\ufeff")
    if not text.strip():
        raise ActionError("empty", f"the action is empty; write {_FORMATS}")
    # An action with CRLF throughout was written so; CR before some LFs only is content.
    if text.count("\r\n") == text.count("\n"):
        text = text.replace("\r\n", "\n")
    # A newline at the end closes the last line, it does not open another.
    return text.removesuffix("\n")


class _Scanner:
    """One pass over the lines: tells edits from prose and collects them by format."""

    def __init__(self, lines: list[str]) -> None:
        self._lines = lines
        self.blocks: list[SearchBlock] = []
        self.line_edits: list[LineEdit] = []
        self.diff = DiffReader()

    def scan(self) -> _Scanner:
        """Read every edit.

        Raises:
            ActionError: ``malformed``, ``unsupported``, ``mixed_formats``, ``no_edit`` or
                ``too_many_edits``.
        """
        index, block_end, follows_edit = 0, 0, False
        while index < len(self._lines):
            line = self._lines[index]
            if opens_block(line):
                index = block_end = self._read_block(index, block_end)
            elif self.diff.starts(self._lines, index):
                index = self.diff.read(self._lines, index)
            elif opening := opens_edit(line):
                edit, index = read_edit(self._lines, index, opening, len(self.line_edits) + 1)
                self.line_edits.append(edit)
                follows_edit = True
                self._check_counts(index)
                continue
            else:
                self._check_stray(index, follows_edit)
                index += 1
                follows_edit = follows_edit and not line.strip()
                continue
            follows_edit = False
            self._check_counts(index)
        if not (self.blocks or self.diff.patches or self.line_edits):
            raise ActionError("no_edit", f"the action has no edit; write {_FORMATS}")
        return self

    def _read_block(self, index: int, block_end: int) -> int:
        path = path_before(self._lines, index, block_end)
        if path is None and self.blocks:
            path = self.blocks[-1].path
        block, end = read_block(self._lines, index, path, len(self.blocks) + 1)
        self.blocks.append(block)
        return end

    def _check_stray(self, index: int, follows_edit: bool) -> None:
        line = self._lines[index]
        location = f"line {index + 1}"
        if closes_block(line):
            problem = "`>>>>>>> REPLACE` without `<<<<<<< SEARCH` and `=======` above it"
            raise ActionError("malformed", problem, location)
        if follows_edit and line.startswith("|"):
            problem = (
                "a blank line before more lines of an edit; write an empty line of the text as `|`"
            )
            raise ActionError("malformed", problem, location)

    def _check_counts(self, index: int) -> None:
        counts = (len(self.blocks), self.diff.edit_count, len(self.line_edits))
        if sum(map(bool, counts)) > 1:
            problem = f"a second format in one action; use one of: {_FORMATS}"
            raise ActionError("mixed_formats", problem, f"line {index}")
        if sum(counts) > MAX_EDITS:
            problem = f"more than {MAX_EDITS} edits in one action; merge neighbouring edits"
            raise ActionError("too_many_edits", problem, f"line {index}")
