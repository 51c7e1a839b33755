"""Cutting the diff between two releases into slices: the smallest sets of hunks that flip tests.

A *flip* is a test that fails on the old release and passes on the new one. Both releases are
run elsewhere; this module only decides which hunks to try next.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Generic, TypeVar

from gym_codefix.catalog.hunks import Hunk

__all__ = [
    "BudgetSpent",
    "DroppedFlip",
    "ExecutedLines",
    "Guess",
    "MinimiseResult",
    "Slice",
    "SlicingResult",
    "minimise",
    "slice_release",
]

H = TypeVar("H")
Guess = Callable[[str, Sequence[Hunk]], Collection[Hunk]]
_Unit = frozenset[int]  # places of hunks that are kept or left out together


@dataclass(frozen=True)
class MinimiseResult(Generic[H]):
    """What is left of the hunks, in their first order.

    `minimal`: no single hunk (or group) can be left out; false when the budget ended first.
    `runs`: how often the caller's function was called.
    """

    kept: tuple[H, ...]
    minimal: bool
    runs: int


@dataclass(frozen=True)
class ExecutedLines:
    """Lines that something executes, 1-based, by path, in the old and in the new release."""

    old: Mapping[str, Collection[int]] = field(default_factory=dict)
    new: Mapping[str, Collection[int]] = field(default_factory=dict)

    def touch(self, hunk: Hunk) -> bool:
        """Whether a line of `hunk` is among them, in either release."""
        old, new = self.old.get(hunk.path, ()), self.new.get(hunk.path, ())
        return any(line in old for line in hunk.old_lines) or any(
            line in new for line in hunk.new_lines
        )


@dataclass(frozen=True)
class Slice:
    """Hunks, and the flips for which exactly these were found to be the fewest that do."""

    hunks: tuple[Hunk, ...]
    flips: tuple[str, ...]


@dataclass(frozen=True)
class DroppedFlip:
    """A flip that is in no slice, and why."""

    flip: str
    reason: str


@dataclass(frozen=True)
class SlicingResult:
    """The slices in the order of their first hunks, what was dropped, and how many runs it took."""

    slices: tuple[Slice, ...]
    dropped: tuple[DroppedFlip, ...]
    runs: int


def minimise(
    hunks: Sequence[H],
    passes: Callable[[Sequence[H]], bool],
    *,
    budget: int,
    groups: Iterable[Collection[H]] = (),
) -> MinimiseResult[H]:
    """Leave out as many of `hunks` as `passes` allows: delta debugging to a 1-minimal set.

    `passes` is called at most `budget` times, never twice with the same hunks, and always with
    hunks in their first order. Hunks of one of the `groups` are kept or left out together.

    Raises ValueError when `passes` fails with all hunks, when a hunk occurs twice, or when a
    group overlaps another or has a hunk that is not in `hunks`.
    """
    units = _units(hunks, groups)
    tried: dict[_Unit, bool] = {}

    def test(places: _Unit) -> bool:
        if places not in tried:
            if len(tried) >= budget:
                raise BudgetSpent
            tried[places] = passes([hunks[place] for place in sorted(places)])
        return tried[places]

    everything = frozenset(range(len(hunks)))
    if budget > 0 and not test(everything):
        raise ValueError("the hunks do not pass all together, so no part of them can be chosen")
    kept, minimal = _shrink(units, test)
    return MinimiseResult(tuple(hunks[place] for place in sorted(kept)), minimal, len(tried))


def slice_release(
    hunks: Sequence[Hunk],
    flips: Sequence[str],
    run: Callable[[Sequence[Hunk]], Collection[str]],
    *,
    executed: Mapping[str, ExecutedLines],
    import_time: ExecutedLines,
    budget: int,
    max_hunks: int = 10,
    guess: Guess = lambda _, touched: touched,
) -> SlicingResult:
    """Find small slices that together explain as many `flips` as they can.

    `run(hunks)` gives the flips that pass with these hunks applied to the old release; without
    any, none does. `executed` has the lines that each flip runs in its body, `import_time` those
    that run when the package is imported; `guess` makes the hunks that a flip may need out of
    those that it runs: all three only steer the search. Each flip is in one slice, its own
    smallest, so a slice may lie inside another one. At most `budget` runs are made, and a flip
    is dropped when its slice would have more than `max_hunks`. `run` may raise
    BudgetSpent to end the search early.
    """
    oracle = _Oracle(hunks, run, budget)
    at_import = frozenset(place for place, hunk in enumerate(hunks) if import_time.touch(hunk))
    found: dict[_Unit, list[str]] = {}
    dropped: list[DroppedFlip] = []
    for flip in flips:
        lines = executed.get(flip, ExecutedLines())
        touched = frozenset(place for place, hunk in enumerate(hunks) if lines.touch(hunk))
        guessed = set(guess(flip, [hunks[place] for place in sorted(touched)]))
        likely = frozenset(place for place, hunk in enumerate(hunks) if hunk in guessed)
        try:
            kept = _slice_of(flip, oracle, (touched, likely, touched | at_import), at_import)
        except BudgetSpent:
            dropped.append(DroppedFlip(flip, f"not minimised within {budget} runs"))
            continue
        if kept is None:
            reason = "does not pass with every hunk applied"
            dropped.append(DroppedFlip(flip, reason))
        elif len(kept) > max_hunks:
            reason = f"needs {len(kept)} hunks, more than {max_hunks}"
            dropped.append(DroppedFlip(flip, reason))
        else:
            found.setdefault(kept, []).append(flip)
    slices = [
        Slice(tuple(hunks[place] for place in sorted(kept)), tuple(chosen))
        for kept, chosen in sorted(found.items(), key=lambda item: sorted(item[0]))
    ]
    return SlicingResult(tuple(slices), tuple(dropped), oracle.runs)


class BudgetSpent(Exception):
    """No run is left; a caller's own function may raise it too."""


class _Oracle:
    """Remembers which flips passed with each set of hunks that was tried."""

    def __init__(
        self,
        hunks: Sequence[Hunk],
        run: Callable[[Sequence[Hunk]], Collection[str]],
        budget: int,
    ) -> None:
        self.everything = frozenset(range(len(hunks)))
        self._hunks = hunks
        self._run = run
        self._budget = budget
        # Nothing passes without hunks: that is what makes it a flip.
        self._tried: dict[_Unit, frozenset[str]] = {frozenset(): frozenset()}

    @property
    def runs(self) -> int:
        return len(self._tried) - 1

    def passing(self, places: _Unit) -> frozenset[str]:
        if places not in self._tried:
            if self.runs >= self._budget:
                raise BudgetSpent
            chosen = [self._hunks[place] for place in sorted(places)]
            self._tried[places] = frozenset(self._run(chosen))
        return self._tried[places]

    def smallest_known(self, flip: str) -> _Unit | None:
        """The smallest set tried so far with which `flip` passed; the first of equals."""
        known = (places for places, passing in self._tried.items() if flip in passing)
        return min(known, key=len, default=None)


def _slice_of(
    flip: str, oracle: _Oracle, candidates: Sequence[_Unit], at_import: _Unit
) -> _Unit | None:
    """A 1-minimal set of places with which `flip` passes; None if even all do not do.

    The search starts from the first of the candidates that does, or from a smaller set that is
    known to.
    """

    def test(places: _Unit) -> bool:
        return flip in oracle.passing(places)

    start = oracle.smallest_known(flip)
    for places in candidates:
        if (start is None or len(places) < len(start)) and test(places):
            start = places
            break
    if start is None:
        if not test(oracle.everything):
            return None
        start = oracle.everything
    # Half of a release's import-time hunks seldom imports: try to do without all of them
    # first, then look for the few that are needed.
    together = start & at_import
    units = [frozenset({place}) for place in sorted(start - together)]
    if together:
        units.append(together)
    kept, minimal = _shrink(units, test)
    if minimal:
        kept, minimal = _shrink([frozenset({place}) for place in sorted(kept)], test)
    if not minimal:
        raise BudgetSpent
    return kept


def _shrink(units: Sequence[_Unit], test: Callable[[_Unit], bool]) -> tuple[_Unit, bool]:
    """Leave out ever smaller runs of units, at last single ones until none can go.

    Gives the places that are left, and whether it came to that end before the budget's.
    """
    left = list(units)
    size = max(1, len(left) // 2)
    try:
        while True:
            shrunk = False
            at = 0
            while at < len(left):
                rest = left[:at] + left[at + size :]
                if test(frozenset().union(*rest)):
                    left, shrunk = rest, True
                else:
                    at += size
            if size == 1 and not shrunk:
                return frozenset().union(*left), True
            size = max(1, size // 2)
    except BudgetSpent:
        return frozenset().union(*left), False


def _units(hunks: Sequence[H], groups: Iterable[Collection[H]]) -> list[_Unit]:
    place_of = {hunk: place for place, hunk in enumerate(hunks)}
    if len(place_of) < len(hunks):
        raise ValueError("a hunk occurs twice")
    unit_of: dict[int, _Unit] = {}
    for group in groups:
        if not all(hunk in place_of for hunk in group):
            raise ValueError(f"a group has a hunk that is not among those given: {group!r}")
        unit = frozenset(place_of[hunk] for hunk in group)
        if unit & unit_of.keys():
            raise ValueError(f"a group overlaps another: {group!r}")
        unit_of.update(dict.fromkeys(unit, unit))
    everyone: Iterator[_Unit] = (
        unit_of.get(place, frozenset({place})) for place in range(len(hunks))
    )
    return list(dict.fromkeys(everyone))
