"""Hunks: the places where two releases of a tree differ, and edits made of some of them.

A hunk stores line ranges only, no text, so a task can name a change without carrying
anybody's code. Lines end as Python's tokenizer ends them (``\\n``, ``\\r\\n`` or ``\\r``), so a
range agrees with coverage data, and line ends are kept byte for byte.
"""

from __future__ import annotations

import io
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from difflib import SequenceMatcher
from typing import Any

__all__ = ["Hunk", "apply_hunks", "diff_hunks", "split_lines"]

_RANGE_FIELDS = ("start", "end", "new_start", "new_end")


@dataclass(frozen=True, order=True)
class Hunk:
    """One change of one file, without context: old lines ``[start, end)`` become new lines.

    Ranges are 0-based and half-open. ``start`` and ``end`` are both None when the file is new,
    ``new_start`` and ``new_end`` when it is deleted; such a hunk is the whole file.
    """

    path: str
    start: int | None
    end: int | None
    new_start: int | None
    new_end: int | None

    def __post_init__(self) -> None:
        """Raise ValueError for ranges that no diff has."""
        for first, last in ((self.start, self.end), (self.new_start, self.new_end)):
            if (first is None) != (last is None):
                raise ValueError(f"{self!r}: a range has both ends or neither")
            if first is not None and last is not None and not 0 <= first <= last:
                raise ValueError(f"{self!r}: a range must have 0 <= start <= end")
        if self.start is None and self.new_start is None:
            raise ValueError(f"{self!r}: one of the two ranges must be there")

    @property
    def old_lines(self) -> range:
        """The 1-based numbers of the lines that it takes out of the old release."""
        return _line_numbers(self.start, self.end)

    @property
    def new_lines(self) -> range:
        """The 1-based numbers of the lines that it puts in, counted in the new release."""
        return _line_numbers(self.new_start, self.new_end)

    def to_json(self) -> dict[str, Any]:
        """The hunk as plain JSON data."""
        return asdict(self)

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Hunk:
        """The hunk that `to_json` wrote; ValueError where a field is missing, extra or wrong."""
        if set(data) != {"path", *_RANGE_FIELDS}:
            raise ValueError(
                f"a hunk has the fields path, {', '.join(_RANGE_FIELDS)}; got {sorted(data)}"
            )
        if not isinstance(data["path"], str):
            raise ValueError(f"a hunk's path must be text, got {data['path']!r}")
        for name in _RANGE_FIELDS:
            value = data[name]
            if value is not None and (not isinstance(value, int) or isinstance(value, bool)):
                raise ValueError(f"a hunk's {name} must be a whole number or null, got {value!r}")
        return cls(**data)


def _line_numbers(first: int | None, last: int | None) -> range:
    return range(0) if first is None or last is None else range(first + 1, last + 1)


def split_lines(text: str) -> list[str]:
    """The lines of `text` with their ends; joined they are `text` again."""
    return io.StringIO(text, newline="").readlines()


def equal_ends(before: Sequence[object], after: Sequence[object]) -> tuple[int, int]:
    """How many lines are equal at the beginning, and how many of the others at the end."""
    shorter = min(len(before), len(after))
    first = next((i for i in range(shorter) if before[i] != after[i]), shorter)
    left = shorter - first
    last = next((i for i in range(left) if before[-1 - i] != after[-1 - i]), left)
    return first, last


def diff_hunks(old: Mapping[str, str], new: Mapping[str, str]) -> list[Hunk]:
    """Every hunk between two trees (path to whole text), ordered by path and line.

    Two changes with an unchanged line between them are two hunks. The result depends on the
    texts only, never on the order of the mappings.
    """
    hunks: list[Hunk] = []
    for path in sorted(old.keys() | new.keys()):
        if path not in old:
            hunks.append(Hunk(path, None, None, 0, len(split_lines(new[path]))))
        elif path not in new:
            hunks.append(Hunk(path, 0, len(split_lines(old[path])), None, None))
        elif old[path] != new[path]:
            old_lines, new_lines = split_lines(old[path]), split_lines(new[path])
            changed = _changed_ranges(
                old_lines, new_lines, (0, len(old_lines)), (0, len(new_lines))
            )
            hunks.extend(Hunk(path, *ranges) for ranges in changed)
    return hunks


def apply_hunks(
    old: Mapping[str, str], new: Mapping[str, str], hunks: Iterable[Hunk]
) -> dict[str, str]:
    """The files of `old` that change when only `hunks` are applied: path to whole new text.

    No hunks give no edits; all hunks of ``diff_hunks(old, new)`` give exactly the files of
    `new` that differ from `old`. An edit cannot delete, so a deleted file becomes empty.

    Raises ValueError when a hunk does not fit the two trees or overlaps another.
    """
    by_path: dict[str, list[Hunk]] = {}
    for hunk in hunks:
        by_path.setdefault(hunk.path, []).append(hunk)
    edits: dict[str, str] = {}
    for path, group in sorted(by_path.items()):
        group.sort(key=lambda hunk: (hunk.start or 0, hunk.end or 0))
        whole_file = any(hunk.start is None or hunk.new_start is None for hunk in group)
        if whole_file:
            edits[path] = _apply_whole_file(path, path in old, new.get(path), group)
        elif path not in old or path not in new:
            raise ValueError(f"{path}: its hunks need the file in both releases")
        else:
            edits[path] = _apply_ranges(split_lines(old[path]), split_lines(new[path]), group)
    return edits


def _apply_whole_file(
    path: str, was_there: bool, new_text: str | None, group: Sequence[Hunk]
) -> str:
    adds = group[0].start is None
    if len(group) > 1 or was_there == adds or (new_text is not None) != adds:
        raise ValueError(f"{path}: a whole-file hunk does not fit these two releases")
    return new_text or ""


def _apply_ranges(old_lines: Sequence[str], new_lines: Sequence[str], group: Sequence[Hunk]) -> str:
    pieces: list[str] = []
    position = 0
    for hunk in group:
        start, end, new_start, new_end = hunk.start, hunk.end, hunk.new_start, hunk.new_end
        assert start is not None and end is not None  # whole-file hunks never come here
        assert new_start is not None and new_end is not None
        if start < position:
            raise ValueError(f"{hunk.path}: the hunk at old line {start + 1} overlaps another")
        if end > len(old_lines) or new_end > len(new_lines):
            raise ValueError(f"{hunk.path}: the hunk at old line {start + 1} is past the end")
        pieces.extend(old_lines[position:start])
        pieces.extend(new_lines[new_start:new_end])
        position = end
    pieces.extend(old_lines[position:])
    return "".join(pieces)


def _changed_ranges(
    old_lines: Sequence[str],
    new_lines: Sequence[str],
    old_gap: tuple[int, int],
    new_gap: tuple[int, int],
) -> Iterator[tuple[int, int, int, int]]:
    """The ranges where the two gaps differ, in order."""
    (old_at, old_end), (new_at, new_end) = old_gap, new_gap
    while old_at < old_end and new_at < new_end and old_lines[old_at] == new_lines[new_at]:
        old_at, new_at = old_at + 1, new_at + 1
    while (
        old_at < old_end and new_at < new_end and old_lines[old_end - 1] == new_lines[new_end - 1]
    ):
        old_end, new_end = old_end - 1, new_end - 1
    if old_at == old_end or new_at == new_end:
        if old_at < old_end or new_at < new_end:
            yield old_at, old_end, new_at, new_end
        return
    # Lines that occur once on either side cut the gap into short ones, so that the quadratic
    # matcher never sees a whole file.
    anchors = _unique_anchors(old_lines, new_lines, (old_at, old_end), (new_at, new_end))
    if anchors:
        for old_anchor, new_anchor in [*anchors, (old_end, new_end)]:
            yield from _changed_ranges(
                old_lines, new_lines, (old_at, old_anchor), (new_at, new_anchor)
            )
            old_at, new_at = old_anchor + 1, new_anchor + 1
        return
    matcher = SequenceMatcher(
        None, old_lines[old_at:old_end], new_lines[new_at:new_end], autojunk=False
    )
    for tag, i1, i2, j1, j2 in matcher.get_opcodes():
        if tag != "equal":
            yield old_at + i1, old_at + i2, new_at + j1, new_at + j2


def _unique_anchors(
    old_lines: Sequence[str],
    new_lines: Sequence[str],
    old_gap: tuple[int, int],
    new_gap: tuple[int, int],
) -> list[tuple[int, int]]:
    """The longest in-order run of lines that occur exactly once in either gap."""
    new_places = _single_places(new_lines, *new_gap)
    pairs = [
        (old_place, new_places[line])
        for line, old_place in _single_places(old_lines, *old_gap).items()
        if line in new_places
    ]
    return _longest_increasing(pairs)


def _single_places(lines: Sequence[str], first: int, last: int) -> dict[str, int]:
    places: dict[str, int] = {}
    repeated: set[str] = set()
    for place in range(first, last):
        if lines[place] in places:
            repeated.add(lines[place])
        places[lines[place]] = place
    return {line: place for line, place in places.items() if line not in repeated}


def _longest_increasing(pairs: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """The longest subsequence of `pairs` (sorted by first) whose seconds increase."""
    tails: list[int] = []  # seconds that end the best run of each length
    tail_index: list[int] = []
    previous: list[int] = []
    for index, (_, second) in enumerate(pairs):
        length = bisect_left(tails, second)
        previous.append(tail_index[length - 1] if length else -1)
        tails[length : length + 1] = [second]
        tail_index[length : length + 1] = [index]
    chain: list[tuple[int, int]] = []
    at = tail_index[-1] if tail_index else -1
    while at >= 0:
        chain.append(pairs[at])
        at = previous[at]
    return chain[::-1]
