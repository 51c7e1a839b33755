"""Release tasks: slices of the diff between two releases, each the fewest hunks for its tests."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass

from gym_codefix.catalog import Manifest, Task, hide_half
from gym_codefix.catalog.hunks import Hunk, apply_hunks, diff_hunks
from gym_codefix.grading.repair import limits_for, run_reliably, test_function
from gym_codefix.runtime import (
    CoverageMap,
    Job,
    Limits,
    Runtime,
    Snapshot,
    Verdict,
    files_below,
    prepare,
    release_tree,
)

from ._definitions import Definitions, words_of_test
from ._label import label_of
from ._trial import Trial, run_tests
from .slicing import BudgetSpent, ExecutedLines, Slice, slice_release

_RUNS = 400
_SECONDS = 240.0
_MOST_HUNKS = 10
_ROUNDS = 3
_MOST_FLIPS = 60


@dataclass(frozen=True)
class DroppedCandidate:
    """A flip or a slice that made no task, and why."""

    candidate: str
    reason: str


@dataclass(frozen=True)
class MinedRelease:
    """Tasks that are not validated yet, and what was dropped on the way to them."""

    tasks: tuple[Task, ...]
    dropped: tuple[DroppedCandidate, ...]


@dataclass(frozen=True)
class Pair:
    """A snapshot, and its source in two releases: the tests may be those of either."""

    snapshot: Snapshot
    runtime: Runtime
    old: Mapping[str, str]
    new: Mapping[str, str]
    hunks: tuple[Hunk, ...]

    def run(
        self,
        hunks: Sequence[Hunk],
        tests: Collection[str],
        *,
        coverage: str | None = None,
        limits: Limits | None = None,
    ) -> Trial:
        edits = apply_hunks(self.old, self.new, hunks)
        return run_tests(
            self.snapshot, self.runtime, edits, tests, coverage=coverage, limits=limits
        )


def mine_release(
    manifest: Manifest,
    earlier: str,
    later: str,
    runtime: Runtime,
    *,
    runs: int = _RUNS,
    seconds: float = _SECONDS,
    progress: Callable[[str], None] = lambda _: None,
) -> MinedRelease:
    """Tasks from ``earlier`` to ``later``: its source, the later tests, a few hunks as reference.

    At most ``runs`` runs, and about ``seconds``, are spent on the slicing. A slice has at most 10
    hunks. Raises CatalogError for an unknown release, PrepareError when the earlier source cannot
    run the later tests at all, StoreError.
    """
    snapshot = prepare(
        manifest,
        store=runtime.store,
        release=earlier,
        tests_release=later,
        level=runtime.isolation,
    )
    pair = load_pair(snapshot, manifest, later, runtime)
    if not pair.hunks:
        return MinedRelease((), (DroppedCandidate(later, "no source file differs"),))
    flips, hopeless, unfit = _flips(pair, manifest, earlier, later)
    progress(f"{manifest.name} {earlier} -> {later}: {len(pair.hunks)} hunks, {len(flips)} flips")
    if not flips:
        return MinedRelease((), (*unfit, DroppedCandidate(later, "no test flips")))
    before = pair.run((), flips, coverage="contexts")
    after = pair.run(pair.hunks, flips, coverage="contexts")
    hints = _executed(flips, before.verdict, after.verdict)
    slices, dropped = _sound_slices(pair, flips, hopeless, hints, runs, seconds)
    words = "\n".join(pair.old.values())
    tasks = [_task(manifest, earlier, later, part, before.verdict, words) for part in slices]
    progress(
        f"{manifest.name} {earlier} -> {later}: {len(tasks)} slices, {len(dropped)} flips in none"
    )
    return MinedRelease(tuple(tasks), (*unfit, *dropped))


def _sound_slices(
    pair: Pair,
    flips: Sequence[str],
    hopeless: frozenset[str],
    hints: tuple[Mapping[str, ExecutedLines], ExecutedLines],
    runs: int,
    seconds: float,
) -> tuple[list[Slice], list[DroppedCandidate]]:
    """Slices that keep what passed before.

    The smallest set of hunks may be half of a change and break other tests: those become guards,
    which the next round's slices must keep passing. ``hopeless`` ones fail with all hunks as well.
    """
    deadline = time.monotonic() + seconds
    kept = frozenset(pair.snapshot.baseline.passing) - set(flips) - hopeless
    guards: frozenset[str] = frozenset()
    sound: list[Slice] = []
    dropped: list[DroppedCandidate] = []
    left = _unlike_first(flips)
    definitions = Definitions(pair.new, pair.hunks)

    def guess(flip: str, touched: Sequence[Hunk]) -> Collection[Hunk]:
        path, function = test_function(flip)
        words = words_of_test(pair.snapshot.read(path) or "", function)
        return definitions.needed_by(touched, words)

    for _ in range(_ROUNDS):
        limits = _limits(pair.run(pair.hunks, {*left, *guards}).verdict)

        def passing(hunks: Sequence[Hunk]) -> Collection[str]:
            if time.monotonic() > deadline:
                raise BudgetSpent
            try:
                trial = pair.run(hunks, {*left, *guards}, limits=limits)  # noqa: B023  (used now)
            except ValueError:  # half of a change that does not parse
                return ()
            return trial.passed - guards if guards <= trial.passed else ()  # noqa: B023

        sliced = slice_release(
            pair.hunks,
            left,
            passing,
            executed=hints[0],
            import_time=hints[1],
            budget=runs,
            max_hunks=_MOST_HUNKS,
            guess=guess,
        )
        runs -= sliced.runs
        dropped += [DroppedCandidate(entry.flip, entry.reason) for entry in sliced.dropped]
        left = []
        for part in sliced.slices:
            broken = kept - pair.run(part.hunks, kept).passed
            if broken:
                guards |= broken
                left += part.flips
            else:
                sound.append(part)
        if not left:
            break
    reason = "its slice breaks tests that passed before"
    return _merged(sound), [*dropped, *(DroppedCandidate(flip, reason) for flip in left)]


def _merged(slices: Sequence[Slice]) -> list[Slice]:
    """Rounds may find the same hunks for different flips."""
    flips: dict[tuple[Hunk, ...], tuple[str, ...]] = {}
    for part in slices:
        flips[part.hunks] = flips.get(part.hunks, ()) + part.flips
    return [Slice(hunks, tests) for hunks, tests in flips.items()]


def _unlike_first(tests: Sequence[str]) -> list[str]:
    """One test of each function before the other parameters of the same functions."""
    first: dict[str, str] = {}
    for test in tests:
        first.setdefault(test.partition("[")[0], test)
    chosen = set(first.values())
    return [*first.values(), *(test for test in tests if test not in chosen)]


def _limits(verdict: Verdict) -> Limits:
    """Half of a change may run for ever; with all of it the tests take known time."""
    return Limits(cpu_s=int(3 + 4 * verdict.cpu_s), wall_s=int(10 + 10 * verdict.cpu_s))


def _task(
    manifest: Manifest, earlier: str, later: str, part: Slice, before: Verdict, source: str
) -> Task:
    flips = tuple(sorted(part.flips)[:_MOST_FLIPS])
    return Task(
        kind="release",
        repository=manifest.name,
        release=earlier,
        next_release=later,
        flips=flips,
        hidden=hide_half(flips),
        label=label_of(flips, before, source),
        date=manifest.find_release(later).date,
        hunks=part.hunks,
    )


def load_pair(snapshot: Snapshot, manifest: Manifest, later: str, runtime: Runtime) -> Pair:
    """Both sources as texts; files of another kind or encoding are no part of a repair."""
    tree = release_tree(manifest, later, runtime.store)
    layout = manifest.layout_of(later)
    new = {}
    for path in files_below(tree):
        if layout.is_source(path) and snapshot.layout.is_source(path):
            try:
                with open(tree / path, encoding="utf-8", newline="") as file:
                    new[path] = file.read()
            except UnicodeDecodeError:
                continue
    old = {}
    for path in snapshot.source_files():
        try:
            old[path] = snapshot.read(path) or ""
        except UnicodeDecodeError:
            new.pop(path, None)
    return Pair(snapshot, runtime, old, new, tuple(diff_hunks(old, new)))


def _flips(
    pair: Pair, manifest: Manifest, earlier: str, later: str
) -> tuple[list[str], frozenset[str], tuple[DroppedCandidate, ...]]:
    """Tests that the whole diff repairs, tests that it breaks, and what is unfit to be a flip."""
    unstable = manifest.unstable_tests(earlier) | manifest.unstable_tests(later)
    everything = apply_hunks(pair.old, pair.new, pair.hunks)
    baseline = frozenset(pair.snapshot.baseline.passing)
    whole = _whole_run(pair, everything)
    flips = sorted(whole.passed() - baseline - unstable)
    hopeless = baseline - whole.passed()
    if not flips:
        return [], hopeless, ()
    already = pair.run((), flips).passed
    unfit = tuple(DroppedCandidate(test, "passes at times without a repair") for test in already)
    return [test for test in flips if test not in already], hopeless, unfit


def _whole_run(pair: Pair, edits: Mapping[str, str]) -> Verdict:
    """Every test that can be collected with these edits, those that the snapshot lacks too."""
    limits = limits_for(pair.snapshot, pair.snapshot.baseline.collected, slow=True)
    return run_reliably(pair.snapshot, Job(edits=edits, limits=limits), pair.runtime)


def _executed(
    flips: Sequence[str], before: Verdict, after: Verdict
) -> tuple[dict[str, ExecutedLines], ExecutedLines]:
    """Lines that each flip runs in either release, and those that run at import."""
    sides = [
        CoverageMap(verdict.contexts) if verdict.contexts is not None else None
        for verdict in (before, after)
    ]
    by_test: list[dict[str, dict[str, set[int]]]] = [{}, {}]
    imported: list[dict[str, set[int]]] = [{}, {}]
    for side, coverage in enumerate(sides):
        if coverage is None:
            continue
        for path in coverage.files():
            for line, tests in coverage.tests_by_line(path).items():
                for test in tests:
                    by_test[side].setdefault(test, {}).setdefault(path, set()).add(line)
                if coverage.ran_at_import(path, line, line):
                    imported[side].setdefault(path, set()).add(line)
    executed = {
        flip: ExecutedLines(by_test[0].get(flip, {}), by_test[1].get(flip, {})) for flip in flips
    }
    return executed, ExecutedLines(imported[0], imported[1])
