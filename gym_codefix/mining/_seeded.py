"""Seeded tasks: mutations put into functions that tests cover, kept when they flip tests."""

from __future__ import annotations

import hashlib
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from gym_codefix.catalog import Manifest, Task, hide_half
from gym_codefix.grading.mutation import Mutation, apply_mutations, enumerate_mutations
from gym_codefix.grading.policy import refuse
from gym_codefix.grading.repair import plan_edits, sha256_text
from gym_codefix.runtime import Runtime, Snapshot, prepare

from ._trial import run_tests

_REMOVALS = ("remove-branch", "delete-statement", "comprehension-filter")
_MOST_FLIPS = 60
# A suite past this is not run as a whole for one candidate: functions with wider effects are left.
_WHOLE_SUITE_S = 2.0
_SHARES = {1: 0.5, 2: 0.2, 3: 0.3}
_FILES_LOOKED_AT = 60
_TURNS = 40


@dataclass(frozen=True)
class _Flipper:
    path: str
    mutation: Mutation
    flips: frozenset[str]


@dataclass
class _Search:
    """One walk over a snapshot's candidates."""

    snapshot: Snapshot
    runtime: Runtime
    seed: int
    deadline: float
    texts: dict[str, str] = field(default_factory=dict)
    paired: set[tuple[str, Mutation, Mutation]] = field(default_factory=set)

    def rank(self, *parts: object) -> bytes:
        return hashlib.sha256(repr((self.seed, *parts)).encode()).digest()

    def functions(self) -> Iterator[tuple[str, list[Mutation]]]:
        """(path, mutations of one function), file by file in turn."""
        coverage = self.snapshot.baseline.coverage
        paths = sorted(self.snapshot.source_files(), key=lambda path: self.rank(path))
        queues: list[tuple[str, list[list[Mutation]]]] = []
        for path in paths:
            lines = coverage.lines(path)
            if len(queues) == _FILES_LOOKED_AT or not lines:
                continue
            try:
                text = self.snapshot.read(path) or ""
                found = enumerate_mutations(text, lines=lines)
            except ValueError:  # not UTF-8, or a syntax of another Python
                continue
            by_function: dict[str, list[Mutation]] = defaultdict(list)
            for mutation in found:
                if not coverage.ran_at_import(path, mutation.line, mutation.end_line):
                    by_function[mutation.function].append(mutation)
            if by_function:
                self.texts[path] = text
                names = sorted(by_function, key=lambda name: self.rank(path, name))
                queues.append((path, [by_function[name] for name in names]))
        for turn in range(max((len(functions) for _, functions in queues), default=0)):
            for path, functions in queues:
                if turn < len(functions):
                    yield path, functions[turn]

    def flips(self, path: str, *mutations: Mutation) -> frozenset[str]:
        """The tests that fail with these mutations; empty when the mutant is no use as a task."""
        text = self.texts[path]
        try:
            mutant = apply_mutations(text, mutations)
            plan = plan_edits(self.snapshot, {path: mutant})
        except ValueError:
            return frozenset()
        slow = self.snapshot.baseline.suite_seconds > _WHOLE_SUITE_S
        if (plan.everywhere and slow) or refuse({path: mutant}, {path: text}):
            return frozenset()
        tests = plan.reaching(self.snapshot)
        if not tests:
            return frozenset()
        trial = run_tests(self.snapshot, self.runtime, {path: mutant}, tests, plan=plan)
        if not trial.clean or len(trial.failed) > _MOST_FLIPS:
            return frozenset()
        return trial.failed if trial.failed < set(self.snapshot.baseline.passing) else frozenset()


def mine_seeded(
    manifest: Manifest,
    runtime: Runtime,
    *,
    count: int,
    seed: int = 0,
    seconds: float = 240.0,
    progress: Callable[[str], None] = lambda _: None,
) -> list[Task]:
    """About ``count`` tasks of a repository's main release, spread over files and operators.

    Half have one mutation (level 1), a fifth two in one file (2), the rest a removed branch or
    statement (3). Which ones depends on ``seed`` and on what the tests do, never on the clock,
    unless ``seconds`` end the search first. Raises PrepareError, StoreError.
    """
    snapshot = prepare(manifest, store=runtime.store, level=runtime.isolation)
    search = _Search(snapshot, runtime, seed, time.monotonic() + seconds)
    wanted = {level: max(1, round(count * share)) for level, share in _SHARES.items()}
    found: dict[int, list[Task]] = {level: [] for level in wanted}
    spare: dict[str, list[_Flipper]] = defaultdict(list)
    families: Counter[str] = Counter()
    pool = list(search.functions())
    for turn in range(_TURNS):
        for path, mutations in pool:
            if all(len(found[level]) >= wanted[level] for level in wanted):
                return _collected(found)
            if time.monotonic() > search.deadline:
                progress(f"{manifest.name}: the time for seeding is over")
                return _collected(found)
            level = min(wanted, key=lambda level: len(found[level]) / wanted[level])
            if level == 2 and (pair := _pair(search, path, spare[path])):
                found[2].append(_task(snapshot, path, search.texts[path], 2, *pair))
                continue
            removal = level == 3
            mutation = _next(search, path, mutations, families, removal=removal, turn=turn)
            if mutation is None:
                continue
            flips = search.flips(path, mutation)
            if not flips:
                continue
            families[mutation.family] += 1
            if level != 2 and len(found[level]) < wanted[level]:
                text = search.texts[path]
                found[level].append(_task(snapshot, path, text, level, flips, mutation))
                progress(f"{manifest.name}: {sum(map(len, found.values()))} seeded")
            else:
                spare[path].append(_Flipper(path, mutation, flips))
    return _collected(found)


def _collected(found: dict[int, list[Task]]) -> list[Task]:
    return [task for level in sorted(found) for task in found[level]]


def _next(
    search: _Search,
    path: str,
    mutations: list[Mutation],
    families: Counter[str],
    *,
    removal: bool,
    turn: int,
) -> Mutation | None:
    """Take one of a function's mutations, of the family that was used least."""
    fitting = [mutation for mutation in mutations if (mutation.family in _REMOVALS) == removal]
    if not fitting:
        return None
    chosen = min(
        fitting, key=lambda each: (families[each.family], search.rank(path, each.to_json(), turn))
    )
    mutations.remove(chosen)
    return chosen


def _pair(
    search: _Search, path: str, spare: list[_Flipper]
) -> tuple[frozenset[str], Mutation, Mutation] | None:
    """Two mutations of a file, each of which alone breaks some of what they break together."""
    for place, first in enumerate(spare):
        for second in spare[place + 1 :]:
            both = (path, first.mutation, second.mutation)
            if first.mutation.line == second.mutation.line or both in search.paired:
                continue
            search.paired.add(both)
            flips = search.flips(path, first.mutation, second.mutation)
            if flips & first.flips and flips & second.flips:
                spare.remove(first)
                spare.remove(second)
                return flips, first.mutation, second.mutation
    return None


def _task(
    snapshot: Snapshot,
    path: str,
    text: str,
    level: int,
    flips: frozenset[str],
    *mutations: Mutation,
) -> Task:
    ordered = tuple(test for test in snapshot.baseline.passing if test in flips)
    return Task(
        kind="seeded",
        repository=snapshot.manifest.name,
        release=snapshot.release,
        flips=ordered,
        hidden=hide_half(ordered),
        level=level,
        path=path,
        sha256_before=sha256_text(text),
        sha256_after=sha256_text(apply_mutations(text, mutations)),
        mutations=tuple(mutation.to_json() for mutation in sorted(mutations)),
    )
