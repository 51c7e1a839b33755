"""The facts of dependency tasks, and what wrong ones say."""

from __future__ import annotations

from typing import Any

import pytest

from gym_codefix.catalog import CatalogError, Dependency, Task

FACTS: dict[str, Any] = {
    "goal": "resolve",
    "moved": "werkzeug",
    "before": "2.2.3",
    "after": "2.3.0",
    "stage": "import",
    "pins": {"werkzeug": "2.3.0"},
    "floors": ["werkzeug>=2.2.3"],
    "solution": {"werkzeug": "2.2.3"},
}
TASK = {
    "kind": "dependency",
    "repository": "flask",
    "release": "2.2.3",
    "flips": ["tests/t.py::a", "tests/t.py::b"],
    "hidden": ["tests/t.py::b"],
    "dependency": FACTS,
}


def test_facts_survive_a_round_trip() -> None:
    task = Task.from_json(TASK)
    assert Task.from_json(task.to_json()) == task
    assert task.dependency is not None and not task.dependency.reverts
    assert task.tests_release is None


def test_without_a_floor_the_old_version_is_an_answer() -> None:
    assert Dependency.from_json({**FACTS, "floors": []}).reverts


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"goal": "guess"}, "goal 'guess'; valid: resolve, migrate"),
        ({"stage": "lint"}, "stage 'lint'; valid: resolve, install"),
        ({"pins": {}}, "pins must have werkzeug at 2.3.0"),
        ({"solution": {}}, "solution belongs to the goal resolve"),
        ({"goal": "migrate"}, "solution belongs to the goal resolve"),
        ({"floors": ["werkzeug >>> 2"]}, "dependency: "),
        ({"solution": {"Werkzeug": "2"}}, "not a canonical name"),
        ({"solution": {"werkzeug": "two"}}, "dependency: "),
    ],
)
def test_wrong_facts_say_what_is_wrong(changes: dict[str, Any], said: str) -> None:
    with pytest.raises(CatalogError, match=said):
        Task.from_json({**TASK, "dependency": {**FACTS, **changes}})


def test_the_kind_and_the_facts_belong_together() -> None:
    with pytest.raises(CatalogError, match="belong to the kind dependency"):
        Task.from_json({**TASK, "kind": "release"})
    with pytest.raises(CatalogError, match="belong to the kind dependency"):
        Task.from_json({key: value for key, value in TASK.items() if key != "dependency"})
