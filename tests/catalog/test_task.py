"""Tasks as documents: round trips, identities, and what a malformed one says."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gym_codefix.catalog import CatalogError, Task, facts_digest, hide_half, suite
from gym_codefix.catalog.hunks import Hunk

TASK = Task(
    kind="release",
    repository="rowquery",
    release="1.0",
    next_release="1.1",
    flips=("tests/t.py::a", "tests/t.py::b"),
    hidden=("tests/t.py::b",),
    label="bugfix",
    date="2020-01-01",
    hunks=(Hunk("pkg/a.py", 1, 2, 1, 3),),
)


def test_every_task_of_the_catalogue_survives_a_round_trip() -> None:
    for task in suite("full").tasks:
        again = Task.from_json(json.loads(json.dumps({"id": task.id, **task.to_json()})))
        assert again == task
        assert again.id == task.id


def test_the_id_says_repository_and_kind() -> None:
    repository, kind, digest = TASK.id.split("/")
    assert (repository, kind, len(digest)) == ("rowquery", "release", 12)


def test_the_id_depends_on_the_facts_of_the_problem_only() -> None:
    assert replace(TASK, label="feature", validation={"gold": 5}).id == TASK.id
    assert replace(TASK, hunks=(Hunk("pkg/a.py", 1, 2, 1, 4),)).id != TASK.id
    assert replace(TASK, next_release="1.2").id != TASK.id


def test_the_digest_of_a_suite_depends_on_everything_and_on_order() -> None:
    other = replace(TASK, next_release="1.2")
    assert facts_digest([TASK, other]) != facts_digest([other, TASK])
    assert facts_digest([replace(TASK, hidden=())]) != facts_digest([TASK])


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"kind": "guess"}, "'guess'; valid: seeded, release"),
        ({"kind": None}, "'kind' is missing"),
        ({"flips": None}, "'flips' is missing"),
        ({"flips": "tests/t.py::a"}, "flips must be a list"),
        ({"flips": []}, "must not be empty"),
        ({"hidden": ["tests/t.py::c"]}, "hidden only some of them"),
        ({"hidden": ["tests/t.py::a", "tests/t.py::b"]}, "hidden only some of them"),
        ({"repository": None}, "repository"),
        ({"flip": []}, "flip"),
        ({"hunks": [{"path": "a.py"}]}, "hunk"),
        ({"hunks": [3]}, "not a task"),
        ({"twins": []}, "not a task"),
        ({"id": "rowquery/release/000000000000"}, "does not fit these facts"),
    ],
)
def test_a_malformed_task_says_what_is_wrong(changes: dict[str, Any], said: str) -> None:
    document = {**TASK.to_json(), **changes}
    document = {key: value for key, value in document.items() if value is not None}
    with pytest.raises(ValueError, match=said):
        Task.from_json(document)


def test_a_task_of_an_unknown_repository_has_no_split() -> None:
    with pytest.raises(CatalogError, match="unknown repository 'nope'"):
        _ = replace(TASK, repository="nope").split


@given(st.lists(st.text(min_size=1), unique=True, max_size=12))
def test_half_of_the_flips_are_hidden(flips: list[str]) -> None:
    hidden = hide_half(tuple(flips))
    assert set(hidden) <= set(flips)
    assert len(hidden) == len(flips) // 2
    assert hide_half(tuple(reversed(flips))) == hidden
