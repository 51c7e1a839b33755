"""Seeded tasks: what is found, that it is the same every time, and what validation refuses."""

from __future__ import annotations

from dataclasses import replace

from gym_codefix.catalog import Manifest
from gym_codefix.grading.repair import load_problem
from gym_codefix.mining import mine_seeded, validate_tasks
from gym_codefix.runtime import Runtime


def test_found_again(tiny: Manifest, runtime: Runtime) -> None:
    tasks = mine_seeded(tiny, runtime, count=8, seed=3)
    assert tasks and tasks == mine_seeded(tiny, runtime, count=8, seed=3)
    assert len({task.id for task in tasks}) == len(tasks)
    assert {task.level for task in tasks} >= {1, 3}
    for task in tasks:
        assert task.path == "tiny/__init__.py" and task.flips
        assert len(task.mutations) == (2 if task.level == 2 else 1)
        broken = load_problem(task, runtime)
        assert broken.read(task.path) != broken.snapshot.read(task.path)


def test_validation_keeps_and_drops(tiny: Manifest, runtime: Runtime) -> None:
    task = mine_seeded(tiny, runtime, count=2)[0]
    kept = next(
        t for t in ("test_count", "test_mean") if f"tests/test_tiny.py::{t}" not in task.flips
    )
    never_fails = replace(task, flips=(*task.flips, f"tests/test_tiny.py::{kept}"))
    never_passes = replace(task, flips=(*task.flips, "tests/test_tiny.py::test_unheard_of"))
    other_file = replace(task, sha256_before="0" * 64)
    good, *bad = validate_tasks([task, never_fails, never_passes, other_file], runtime)
    assert good.reason is None and good.task.validation["seeds"] == [0, 1, 2, 3, 4]
    assert [proof.reason is not None for proof in bad] == [True] * 3
    assert "passes" in (bad[0].reason or "")
    assert "does not pass" in (bad[1].reason or "")
    assert "not the file" in (bad[2].reason or "")


def test_validation_says_the_same_twice(tiny: Manifest, runtime: Runtime) -> None:
    tasks = mine_seeded(tiny, runtime, count=4)
    together = validate_tasks(tasks, runtime)
    alone = [validate_tasks([task], runtime)[0] for task in reversed(tasks)]
    assert together == alone[::-1]
