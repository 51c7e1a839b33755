from __future__ import annotations

import sys
from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from textwrap import dedent
from types import FrameType
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gym_codefix.catalog.hunks import Hunk, apply_hunks, diff_hunks
from gym_codefix.mining.slicing import (
    DroppedFlip,
    ExecutedLines,
    MinimiseResult,
    Slice,
    SlicingResult,
    minimise,
    slice_release,
)

numbers = st.sets(st.integers(0, 11), max_size=6)


@given(st.lists(numbers, min_size=1, max_size=3))
def test_minimise_is_sufficient_and_1_minimal(alternatives: list[set[int]]) -> None:
    def passes(chosen: Sequence[int]) -> bool:
        assert list(chosen) == sorted(chosen)
        calls.append(tuple(chosen))
        return any(needed <= set(chosen) for needed in alternatives)

    calls: list[tuple[int, ...]] = []
    result = minimise(range(12), passes, budget=1000)
    assert result.minimal and result.runs == len(calls) == len(set(calls))
    kept = set(result.kept)
    assert any(needed <= kept for needed in alternatives)
    for hunk in kept:
        assert not any(needed <= kept - {hunk} for needed in alternatives)


@given(st.sets(numbers.map(frozenset), min_size=1), numbers, st.integers(1, 40))
def test_minimise_with_any_oracle(
    failing: set[frozenset[int]], needed: set[int], budget: int
) -> None:
    """Some sets fail for reasons of their own: what is kept still passes."""

    def passes(chosen: Sequence[int]) -> bool:
        return needed <= set(chosen) and frozenset(chosen) not in failing

    result = minimise(range(12), passes, budget=budget)
    assert passes(result.kept) and result.runs <= budget
    if result.minimal:
        assert not any(passes(sorted(set(result.kept) - {hunk})) for hunk in result.kept)


@given(numbers, numbers, numbers)
def test_groups_stay_together(needed: set[int], one: set[int], other: set[int]) -> None:
    groups = [one, other - one]

    def passes(chosen: Sequence[int]) -> bool:
        assert all(group <= set(chosen) or not group & set(chosen) for group in groups)
        return needed <= set(chosen)

    kept = set(minimise(range(12), passes, budget=1000, groups=groups).kept)
    expected = needed.union(*(group for group in groups if group & needed))
    assert kept == expected


def test_minimise_needs_few_runs() -> None:
    result = minimise(range(512), lambda chosen: {100, 301} <= set(chosen), budget=1000)
    assert result == MinimiseResult((100, 301), True, result.runs)
    assert result.runs <= 45


def test_minimise_refuses_what_it_cannot_do() -> None:
    with pytest.raises(ValueError, match="all together"):
        minimise([1, 2], lambda chosen: False, budget=9)
    with pytest.raises(ValueError, match="twice"):
        minimise([1, 1], bool, budget=9)
    with pytest.raises(ValueError, match="not among"):
        minimise([1, 2], bool, budget=9, groups=[[3]])
    with pytest.raises(ValueError, match="overlaps"):
        minimise([1, 2], bool, budget=9, groups=[[1], [1, 2]])
    assert minimise([1, 2], bool, budget=0) == MinimiseResult((1, 2), False, 0)


_HUNKS = [Hunk("m.py", 10 * n, 10 * n + 1, 10 * n, 10 * n + 1) for n in range(12)]


class _Release:
    """A release whose flips each need a set of hunks, and whose `broken` set must be whole."""

    def __init__(self, needs: Mapping[str, set[int]], broken: Collection[int] = ()) -> None:
        self.needs = needs
        self.broken = set(broken)
        self.runs = 0

    def run(self, hunks: Sequence[Hunk]) -> set[str]:
        self.runs += 1
        return self.passing({_HUNKS.index(hunk) for hunk in hunks})

    def passing(self, chosen: set[int]) -> set[str]:
        if self.broken & chosen and not self.broken <= chosen:
            return set()
        return {flip for flip, needed in self.needs.items() if needed <= chosen}

    def executed(self, places: Collection[int]) -> ExecutedLines:
        lines = {"m.py": {10 * place + 1 for place in places}}
        return ExecutedLines(lines, {})


needs = st.dictionaries(
    st.sampled_from("abcdef"), st.sets(st.integers(0, 11), min_size=1, max_size=6), min_size=1
)


@given(needs, st.sets(st.integers(0, 11), max_size=4), st.data())
def test_slices_against_brute_force(
    needs: dict[str, set[int]], broken: set[int], data: st.DataObject
) -> None:
    release = _Release(needs, broken)
    hints = {flip: release.executed(data.draw(numbers)) for flip in needs}
    result = slice_release(
        _HUNKS,
        sorted(needs),
        release.run,
        executed=hints,
        import_time=release.executed(broken),
        budget=2000,
        max_hunks=5,
    )
    assert result.runs == release.runs
    chosen = [{_HUNKS.index(hunk) for hunk in piece.hunks} for piece in result.slices]
    for piece, places in zip(result.slices, chosen, strict=True):
        assert len(places) <= 5
        assert piece.flips and set(piece.flips) <= release.passing(places)
        for place in places:
            assert not set(piece.flips) & release.passing(places - {place})
    assert len({frozenset(places) for places in chosen}) == len(chosen)
    in_slices = {flip for piece in result.slices for flip in piece.flips}
    dropped = {entry.flip for entry in result.dropped}
    assert in_slices | dropped == set(needs) and not in_slices & dropped
    for flip in dropped:
        needed = needs[flip] | (broken if needs[flip] & broken else set())
        assert len(needed) > 5


@given(needs, st.integers(0, 30))
def test_the_budget_holds(needs: dict[str, set[int]], budget: int) -> None:
    release = _Release(needs)
    result = slice_release(
        _HUNKS,
        sorted(needs),
        release.run,
        executed={},
        import_time=ExecutedLines(),
        budget=budget,
    )
    assert result.runs == release.runs <= budget
    in_slices = {flip for piece in result.slices for flip in piece.flips}
    assert in_slices | {entry.flip for entry in result.dropped} == set(needs)
    for entry in result.dropped:
        assert entry.reason == f"not minimised within {budget} runs"


def test_reasons_and_slices_inside_others() -> None:
    release = _Release(
        {"big": set(range(6)), "small": {0}, "larger": {0, 1}, "other": {7}, "never": {99}}
    )
    result = slice_release(
        _HUNKS,
        ["big", "small", "larger", "other", "never"],
        release.run,
        executed={},
        import_time=ExecutedLines(),
        budget=500,
        max_hunks=4,
    )
    assert result.slices == (
        Slice((_HUNKS[0],), ("small",)),
        Slice((_HUNKS[0], _HUNKS[1]), ("larger",)),
        Slice((_HUNKS[7],), ("other",)),
    )
    assert result.dropped == (
        DroppedFlip("big", "needs 6 hunks, more than 4"),
        DroppedFlip("never", "does not pass with every hunk applied"),
    )


def test_hints_save_runs() -> None:
    release = _Release({"a": {3}})
    hint = {"a": release.executed({3, 4})}
    result = slice_release(
        _HUNKS, ["a"], release.run, executed=hint, import_time=ExecutedLines(), budget=50
    )
    assert result.slices == (Slice((_HUNKS[3],), ("a",)),)
    assert result.runs <= 3


_OLD = dedent(
    """\
    LIMIT = 1
    # end of constants
    def double(x):
        return x + x + 1

    def clip(x):
        if x > LIMIT:
            return x
        return x

    def unused():
        return 1

    def both(x):
        return double(x) - 1
    """
)
_NEW = dedent(
    """\
    LIMIT = 5
    # end of constants
    def double(x):
        return x + x

    def clip(x):
        if x > LIMIT:
            return LIMIT
        return x

    def unused():
        return 2

    def both(x):
        return double(x)

    def fresh():
        return LIMIT
    """
)
_FLIPS = {
    "double": "double(2) == 4",
    "clip": "clip(7) == 5",
    "both": "both(2) == 4 and double(2) == 4",
    "fresh": "fresh() == 5",
}


def _attempt(text: str, flip: str) -> tuple[bool, set[int], set[int]]:
    """Whether a flip passes on a module's text, and the lines that import and it execute."""
    lines: set[int] = set()

    def trace(frame: FrameType, event: str, argument: Any) -> Any:
        if frame.f_code.co_filename == "m.py":
            lines.add(frame.f_lineno)
        return trace

    names: dict[str, Any] = {}
    previous = sys.gettrace()
    sys.settrace(trace)
    try:
        exec(compile(text, "m.py", "exec"), names)
        at_import, passed = set(lines), False
        lines.clear()
        with suppress(NameError):
            passed = eval(_FLIPS[flip], names)
    finally:
        sys.settrace(previous)
    return passed, at_import, lines


def test_a_program() -> None:
    old, new = {"m.py": _OLD}, {"m.py": _NEW}
    hunks = diff_hunks(old, new)

    def run(chosen: Sequence[Hunk]) -> set[str]:
        text = apply_hunks(old, new, chosen).get("m.py", _OLD)
        return {flip for flip in _FLIPS if _attempt(text, flip)[0]}

    def lines(flip: str, *, at_import: bool = False) -> ExecutedLines:
        _, old_import, old_call = _attempt(_OLD, flip)
        _, new_import, new_call = _attempt(_NEW, flip)
        if at_import:
            return ExecutedLines({"m.py": old_import}, {"m.py": new_import})
        return ExecutedLines({"m.py": old_call}, {"m.py": new_call})

    def cut() -> SlicingResult:
        return slice_release(
            hunks,
            list(_FLIPS),
            run,
            executed={flip: lines(flip) for flip in _FLIPS},
            import_time=lines("double", at_import=True),
            budget=200,
        )

    result = cut()
    limit, double, clip, _, both = hunks
    assert [(piece.hunks, piece.flips) for piece in result.slices] == [
        ((limit, clip), ("clip",)),
        ((limit, both), ("fresh",)),
        ((double,), ("double",)),
        ((double, both), ("both",)),
    ]
    assert result.dropped == ()
    assert cut() == result
