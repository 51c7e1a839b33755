"""Slices of two real (if tiny) releases become tasks, and the tasks hold."""

from __future__ import annotations

from gym_codefix.catalog import Manifest, Task
from gym_codefix.mining import Validator, mine_release
from gym_codefix.runtime import Runtime

_TEST = "tests/test_tiny.py::"


def test_each_change_is_a_task(tiny: Manifest, runtime: Runtime) -> None:
    found = mine_release(tiny, "1.0", "1.1", runtime)
    assert found.dropped == ()
    by_first = {task.flips[0].removeprefix(_TEST): task for task in found.tasks}
    assert set(by_first) == {"test_clamp_high[6]", "test_mean", "test_spread"}
    clamp, mean, spread = (by_first[name] for name in sorted(by_first))
    assert len(clamp.flips) == 3 and len(clamp.hidden) == 1
    assert (clamp.label, mean.label, spread.label) == ("bugfix", "bugfix", "feature")
    assert {task.date for task in found.tasks} == {"2024-03-04"}
    assert all(len(task.hunks) == 1 for task in found.tasks)


def test_the_tasks_are_proven(tiny: Manifest, runtime: Runtime) -> None:
    validator = Validator(runtime)
    for task in mine_release(tiny, "1.0", "1.1", runtime).tasks:
        proof = validator.validate(task)
        assert proof.reason is None
        assert proof.task.validation["gold"] == proof.task.validation["noop"] == 5
        assert proof.task.validation["kept"] == 2
        assert proof.task.twins
        assert proof.task.id == task.id
        assert Task.from_json(proof.task.to_json()) == proof.task


def test_the_reverse_has_no_flip(tiny: Manifest, runtime: Runtime) -> None:
    found = mine_release(tiny, "1.1", "1.0", runtime)
    assert found.tasks == ()
    assert [entry.reason for entry in found.dropped] == ["no test flips"]
