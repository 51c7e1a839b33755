"""Suites: what is in them, hashes that are the same everywhere, and bad names."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from gym_codefix.catalog import (
    KINDS,
    SUITES,
    CatalogError,
    Task,
    manifests,
    read_tasks,
    select,
    suite,
    write_tasks,
)

ROOT = Path(__file__).parents[2]
PRINT_HASHES = (
    "from gym_codefix.catalog import SUITES, suite; print(*(suite(n).hash for n in sorted(SUITES)))"
)


@pytest.mark.parametrize("hash_seed", ["0", "1", "4242"])
def test_hashes_do_not_depend_on_the_process(hash_seed: str) -> None:
    done = subprocess.run(
        [sys.executable, "-c", PRINT_HASHES],
        env={**os.environ, "PYTHONHASHSEED": hash_seed, "LC_ALL": "C", "PYTHONPATH": str(ROOT)},
        cwd="/",
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.split() == [suite(name).hash for name in sorted(SUITES)]


# A changed hash is a changed task set: raise the version of the environment id with it.
PINNED = {
    "embedded": "a879479dc3f35ec305c0416e1e5319405864cb1e5784ed5ad71772b802924163",
    "lite": "9bb072a8b0216674c12b217e1fa095c34deaf8eb64cea879eb81fec2df9696b4",
}


@pytest.mark.parametrize("name", PINNED)
def test_published_suites_are_pinned(name: str) -> None:
    assert suite(name).hash == PINNED[name]


def test_no_task_is_there_twice() -> None:
    ids = [task.id for task in suite("full").tasks]
    assert len(ids) == len(set(ids))


def test_embedded_is_offline() -> None:
    known = manifests()
    tasks = suite("embedded").tasks
    assert tasks
    assert all(known[task.repository].embedded for task in tasks)


def test_lite_is_of_the_test_split_and_balanced() -> None:
    tasks = suite("lite").tasks
    assert len(tasks) == 60
    assert {task.split for task in tasks} == {"test"}
    of_split = select("full", split="test").tasks
    for kind in KINDS:
        available = sum(task.kind == kind for task in of_split)
        chosen = sum(task.kind == kind for task in tasks)
        assert chosen >= min(available, 60 // len(KINDS))
    assert any(manifests()[task.repository].embedded for task in tasks)
    assert {task.id for task in tasks} <= suite("full").by_id.keys()


def test_train_is_of_the_train_split() -> None:
    assert {task.split for task in suite("train").tasks} == {"train"}


def test_a_task_is_found_by_its_id() -> None:
    whole = suite("embedded")
    assert whole.task(whole.tasks[3].id) is whole.tasks[3]


def test_an_unknown_task_gives_examples_of_its_repository() -> None:
    with pytest.raises(
        CatalogError, match=r"'rowquery/seeded/nope' in suite 'embedded'.*rowquery/"
    ):
        suite("embedded").task("rowquery/seeded/nope")


def test_part_of_a_suite() -> None:
    part = select("full", split="test", kinds=["seeded"], repos=["rowquery"])
    assert part.tasks
    assert {(task.kind, task.repository) for task in part.tasks} == {("seeded", "rowquery")}
    assert part.hash != suite("full").hash
    assert select("full") is suite("full")


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ({"name": "huge"}, "unknown suite 'huge'; known: embedded, lite, full, train"),
        ({"name": "full", "split": "eval"}, "unknown split 'eval'; known: train, dev, test"),
        ({"name": "full", "kinds": ["odd"]}, "unknown kind 'odd'; known: seeded, release"),
        ({"name": "full", "repos": ["nope"]}, "unknown repository 'nope'; known: .*rowquery"),
        ({"name": "embedded", "kinds": ["release"]}, "no task of suite 'embedded' is left"),
    ],
)
def test_a_bad_choice_names_the_valid_ones(arguments: dict[str, object], said: str) -> None:
    with pytest.raises(CatalogError, match=said):
        select(**arguments)  # type: ignore[arg-type]


@pytest.fixture
def tasks() -> list[Task]:
    return [task for task in suite("embedded").tasks if task.repository == "rowquery"][:3]


def test_tasks_are_written_sorted_and_read_back(tmp_path: Path, tasks: list[Task]) -> None:
    path = tmp_path / "rowquery.jsonl"
    write_tasks(path, reversed(tasks))
    assert read_tasks(path) == sorted(tasks, key=lambda task: task.id)
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("{", r"rowquery\.jsonl:3: "),
        ("[]", r"rowquery\.jsonl:3: not a task: the key 'kind' is missing"),
        ("7", r"rowquery\.jsonl:3: not a task"),
        ("", r"rowquery\.jsonl:3: "),
        ('{"kind": "odd"}', r"rowquery\.jsonl:3: task kind 'odd'; valid"),
    ],
)
def test_a_bad_line_is_named(tmp_path: Path, tasks: list[Task], line: str, said: str) -> None:
    path = tmp_path / "rowquery.jsonl"
    write_tasks(path, tasks)
    lines = path.read_text().splitlines()
    path.write_text("\n".join([*lines[:2], line, *lines[2:]]) + "\n")
    with pytest.raises(CatalogError, match=said):
        read_tasks(path)


def test_a_changed_fact_no_longer_fits_its_id(tmp_path: Path, tasks: list[Task]) -> None:
    path = tmp_path / "rowquery.jsonl"
    document = {"id": tasks[0].id, **tasks[0].to_json(), "sha256_after": "0" * 64}
    path.write_text(json.dumps(document) + "\n")
    with pytest.raises(CatalogError, match=r"rowquery\.jsonl:1: id .* does not fit"):
        read_tasks(path)


def test_a_repeated_task_is_an_error(tmp_path: Path, tasks: list[Task]) -> None:
    path = tmp_path / "rowquery.jsonl"
    write_tasks(path, [*tasks, tasks[0]])
    with pytest.raises(CatalogError, match="there twice"):
        read_tasks(path)


def test_a_task_in_another_repositorys_file_is_an_error(tmp_path: Path, tasks: list[Task]) -> None:
    path = tmp_path / "pinsolve.jsonl"
    write_tasks(path, tasks)
    with pytest.raises(CatalogError, match=r"pinsolve\.jsonl:1: repository 'rowquery'"):
        read_tasks(path)


@pytest.mark.parametrize("content", [None, b"\xff\xfe"])
def test_a_file_that_cannot_be_read_is_named(tmp_path: Path, content: bytes | None) -> None:
    path = tmp_path / "rowquery.jsonl"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(CatalogError, match=r"rowquery\.jsonl"):
        read_tasks(path)
