"""Negative twins: which are chosen, and whom they accuse."""

from __future__ import annotations

import random
from dataclasses import replace
from types import SimpleNamespace

import pytest

from gym_codefix.catalog import Task
from gym_codefix.grading import repair
from gym_codefix.grading.repair._plan import Plan
from gym_codefix.grading.repair._twinning import choose_twins, twins_passing
from gym_codefix.runtime import Job, Start, Verdict

SOURCE = """import pytest

def test_plain():
    assert add(1, 2) == 3

@pytest.mark.parametrize("x", [1, 2, 3])
def test_many(x):
    assert add(x, 0) == x

def test_silent():
    add(1, 1)

def test_several():
    assert add(0, 0) == 0
    assert add(
        1, 1
    ) == 2
    assert add(2, 2) == 4
"""
PLAIN, SILENT = "tests/test_a.py::test_plain", "tests/test_a.py::test_silent"
SEVERAL = "tests/test_a.py::test_several"
MANY = tuple(f"tests/test_a.py::test_many[{x}]" for x in (1, 2, 3))
INHERITED = "tests/test_a.py::TestChild::test_of_the_parent"
SNAPSHOT = SimpleNamespace(read=lambda path: SOURCE if path == "tests/test_a.py" else None)


def task(*flips: str, **changes: object) -> Task:
    made = Task(kind="seeded", repository="r", release="1", flips=flips, hidden=())
    return replace(made, **changes)  # type: ignore[arg-type]


def chosen(of: Task, seed: int, functions: int = 1, **failing: int) -> list[repair.Twins]:
    named = {test: line for test in of.flips for name, line in failing.items() if name in test}
    problem = SimpleNamespace(task=of, snapshot=SNAPSHOT, failing=named)
    return choose_twins(problem, random.Random(seed), functions=functions)  # type: ignore[arg-type]


def changed_lines(twins: repair.Twins) -> list[int]:
    (text,) = twins.texts.values()
    lines = zip(SOURCE.splitlines(), text.splitlines(), strict=True)
    return [number for number, (old, new) in enumerate(lines, 1) if old != new]


def test_every_function_has_its_turn_alone_with_or_without_proven_sites() -> None:
    sites = {MANY[0]: tuple(repair.candidate_sites(SOURCE, "test_many", 4))}
    of = task(PLAIN, SILENT, *MANY, twins=sites)
    seen = set()
    for seed in range(60):
        first, *others = chosen(of, seed)
        assert len({test.partition("[")[0] for test in first.tests}) == 1
        assert all(twins.tests == first.tests for twins in others) and len(others) <= 1
        assert len(changed_lines(first)) == 1
        seen.add(first.tests)
    assert seen == {(PLAIN,), (SILENT,), MANY}


def test_what_the_agent_did_not_see_comes_first() -> None:
    of = task(PLAIN, SEVERAL, *MANY, hidden=(SEVERAL,))
    alone = [chosen(of, seed)[0].tests for seed in range(60)]
    assert alone.count((SEVERAL,)) > 40 and len(set(alone)) == 3
    for seed in range(10):
        several = [twins.tests for twins in chosen(of, seed, functions=3)]
        assert several[0] == (SEVERAL,) and set(several) == {(SEVERAL,), (PLAIN,), MANY}


def test_a_twin_runs_among_all_flips_in_their_order() -> None:
    """A forgery may hang on what the process has seen before."""
    of = task(PLAIN, SEVERAL, *MANY)
    jobs: list[Job] = []

    def run(_: object, job: Job) -> Verdict:
        jobs.append(job)
        return Verdict(outcomes={PLAIN: "passed", SEVERAL: "passed"}, ended=True)

    baseline = SimpleNamespace(seconds={}, suite_seconds=1.0, entangled=frozenset())
    snapshot = SimpleNamespace(read=SNAPSHOT.read, baseline=baseline)
    order = (MANY[1], SEVERAL, PLAIN, MANY[0], MANY[2])
    twins = next(t for seed in range(60) for t in chosen(of, seed) if t.tests == (PLAIN,))
    plan = Plan(Start.TEMPLATE, {}, (), False)
    runtime = SimpleNamespace(run=run)
    assert twins_passing(snapshot, {}, twins, runtime, plan, order) == {PLAIN}  # type: ignore[arg-type]
    assert jobs[0].tests == jobs[0].gate == order and jobs[0].swap == twins.functions


def test_a_task_without_facts_has_twins() -> None:
    first, second = chosen(task(PLAIN), 0)
    assert first.tests == second.tests == (PLAIN,) and first.texts != second.texts
    assert first.functions == {"tests/test_a.py": ("test_plain",)}
    (only,) = chosen(task(SILENT), 0)
    assert "assert False" in only.texts["tests/test_a.py"] and only.functions is None


@pytest.mark.parametrize("line", [14, 15, 16, 17, 18])
def test_the_assertion_that_fails_without_a_repair_is_broken_on_both_sides(line: int) -> None:
    begins = {14: 14, 15: 15, 16: 15, 17: 15, 18: 18}[line]
    for seed in range(20):
        rounds = chosen(task(SEVERAL), seed, several=line)
        assert len({twins.texts["tests/test_a.py"] for twins in rounds}) == len(rounds) == 2
        for twins in rounds:
            assert begins <= changed_lines(twins)[0] < begins + 3


@pytest.mark.parametrize("test", [INHERITED, "tests/gone.py::test_x"])
def test_what_cannot_be_broken_is_left_out(test: str) -> None:
    assert chosen(task(test), 0) == []


def test_node_ids_name_functions() -> None:
    assert repair.test_function("tests/t.py::TestA::test_b[x::y]") == ("tests/t.py", "TestA.test_b")
