from __future__ import annotations

import random
import time
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gym_codefix.catalog.hunks import Hunk, apply_hunks, diff_hunks, split_lines

# Few distinct lines, all three line ends and a missing last one: many repeats, many ties.
lines = st.sampled_from(["a", "b", "    c", "", "\x0c", "d\u2028"])
ends = st.sampled_from(["\n", "\r\n", "\r"])
texts = st.builds(
    lambda parts, last: "".join(line + end for line, end in parts) + last,
    st.lists(st.tuples(lines, ends), max_size=12),
    st.sampled_from(["", "a", "z"]),
)
trees = st.dictionaries(st.sampled_from(["m.py", "p/a.py", "p/b.py"]), texts, max_size=3)


@given(texts)
def test_split_lines_is_lossless(text: str) -> None:
    assert "".join(split_lines(text)) == text


@given(trees, trees)
def test_all_hunks_give_the_new_tree(old: dict[str, str], new: dict[str, str]) -> None:
    edits = apply_hunks(old, new, diff_hunks(old, new))
    expected = {path: text for path, text in new.items() if old.get(path) != text}
    deleted = {path: "" for path in old if path not in new}
    assert edits == expected | deleted


@given(trees, trees)
def test_no_hunks_give_no_edits(old: dict[str, str], new: dict[str, str]) -> None:
    assert apply_hunks(old, new, []) == {}
    assert diff_hunks(old, dict(old)) == []


@given(trees, trees)
def test_mapping_order_does_not_matter(old: dict[str, str], new: dict[str, str]) -> None:
    backwards = dict(reversed(list(old.items()))), dict(reversed(list(new.items())))
    assert diff_hunks(*backwards) == diff_hunks(old, new)


@given(texts, texts)
def test_hunks_are_separated_and_minimal(old: str, new: str) -> None:
    hunks = diff_hunks({"m.py": old}, {"m.py": new})
    old_lines, new_lines = split_lines(old), split_lines(new)
    for hunk in hunks:
        removed = old_lines[hunk.start : hunk.end]
        added = new_lines[hunk.new_start : hunk.new_end]
        assert removed or added
        if removed and added:
            assert removed[0] != added[0]
            assert removed[-1] != added[-1]
    for before, after in pairwise(hunks):
        assert before.end is not None and after.start is not None
        assert before.new_end is not None and after.new_start is not None
        gap = old_lines[before.end : after.start]
        assert gap and gap == new_lines[before.new_end : after.new_start]


@given(trees, trees, st.data())
def test_any_subset_is_applied_file_by_file(
    old: dict[str, str], new: dict[str, str], data: st.DataObject
) -> None:
    hunks = diff_hunks(old, new)
    chosen = [hunk for hunk in hunks if data.draw(st.booleans())]
    edits = apply_hunks(old, new, reversed(chosen))
    assert set(edits) == {hunk.path for hunk in chosen}
    for path in edits:
        same_file = [hunk for hunk in chosen if hunk.path == path]
        if same_file == [hunk for hunk in hunks if hunk.path == path]:
            assert edits[path] == new.get(path, "")


def test_one_of_two_hunks() -> None:
    old = {"m.py": "a\r\nb\r\nc\r\nd"}
    new = {"m.py": "A\r\nb\r\nc\r\nd\r\n"}
    first, second = diff_hunks(old, new)
    assert first == Hunk("m.py", 0, 1, 0, 1)
    assert second == Hunk("m.py", 3, 4, 3, 4)
    assert apply_hunks(old, new, [first]) == {"m.py": "A\r\nb\r\nc\r\nd"}
    assert apply_hunks(old, new, [second]) == {"m.py": "a\r\nb\r\nc\r\nd\r\n"}
    assert list(first.old_lines) == [1] and list(second.new_lines) == [4]


def test_whole_files() -> None:
    added, deleted = diff_hunks({"z.py": "1\n"}, {"a.py": "1\n2\n"})
    assert added == Hunk("a.py", None, None, 0, 2)
    assert deleted == Hunk("z.py", 0, 1, None, None)
    assert list(added.old_lines) == [] and list(added.new_lines) == [1, 2]


@given(trees, trees)
def test_json_round_trip(old: dict[str, str], new: dict[str, str]) -> None:
    for hunk in diff_hunks(old, new):
        assert Hunk.from_json(hunk.to_json()) == hunk


@pytest.mark.parametrize(
    "change",
    [
        {"path": 3},
        {"start": "1"},
        {"start": True},
        {"start": None},
        {"end": 0},
        {"new_start": -1},
        {"extra": 1},
        {"start": None, "end": None, "new_start": None, "new_end": None},
    ],
)
def test_bad_json_is_refused(change: dict[str, object]) -> None:
    data = Hunk("m.py", 1, 2, 1, 3).to_json()
    with pytest.raises(ValueError):
        Hunk.from_json(data | change)


@pytest.mark.parametrize(
    "hunks",
    [
        [Hunk("m.py", 0, 2, 0, 1), Hunk("m.py", 1, 2, 1, 2)],
        [Hunk("m.py", 2, 9, 2, 3)],
        [Hunk("m.py", None, None, 0, 2)],
        [Hunk("m.py", 0, 2, None, None)],
        [Hunk("gone.py", 0, 1, 0, 1)],
    ],
)
def test_hunks_of_another_diff_are_refused(hunks: list[Hunk]) -> None:
    with pytest.raises(ValueError, match=hunks[0].path):
        apply_hunks({"m.py": "a\nb\nc\n"}, {"m.py": "x\ny\nz\n"}, hunks)


def test_a_large_file_is_quick() -> None:
    source = random.Random(0)
    old = [source.choice(["", "    return x", f"    y = {n}", "x = 1"]) for n in range(6000)]
    new = [line + "  # new" if source.random() < 0.05 else line for line in old]
    started = time.process_time()
    hunks = diff_hunks({"m.py": "\n".join(old)}, {"m.py": "\n".join(new)})
    assert len(hunks) > 200
    assert time.process_time() - started < 2
