"""Dependency tasks from an index on this machine: mined, proven, and played to their end."""

from __future__ import annotations

import datetime
import json
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import gymnasium
import pytest

from gym_codefix.agents.loop import make_loop_agent, play_episode
from gym_codefix.catalog import Task, forget_manifests, manifest, tasks_file, write_tasks
from gym_codefix.mining import Validator, mine_resolve
from gym_codefix.mining._dependency import spread
from gym_codefix.mining.add import add_repository
from gym_codefix.runtime import HOME_VARIABLE, Runtime
from tests.index import Wheel, served

WHEELS = (
    # A window: 1.1 is the last that works, and the release's lock has 1.0.
    Wheel("gcfnames", "1.0", "2024-01-01", "def old(): return 1\n"),
    Wheel("gcfnames", "1.1", "2024-03-01", "def old(): return 1\ndef new(): return 1\n"),
    Wheel("gcfnames", "2.0", "2024-06-01", "def new(): return 1\n"),
    # Nothing but the old version is an answer.
    Wheel("gcfvalues", "1.0", "2024-01-01", "VALUE = 1\n"),
    Wheel("gcfvalues", "1.1", "2024-08-01", "VALUE = 2\n"),
    # A neighbour mends it: gcfuser 1 breaks with gcfbase 2, gcfuser 2 does not.
    Wheel("gcfbase", "1.0", "2024-01-01", "A = 1\n"),
    Wheel("gcfbase", "2.0", "2024-05-01", "B = 1\n"),
    Wheel("gcfuser", "1.0", "2024-01-01", "from gcfbase import A as X\n", ("gcfbase",)),
    Wheel("gcfuser", "2.0", "2024-05-02", "from gcfbase import B as X\n", ("gcfbase>=2",)),
)
PROJECT = """
[project]
name = "pk"
version = "1"
dependencies = ["gcfnames", "gcfvalues", "gcfuser", "gcfbase"]
[build-system]
requires = ["setuptools"]
build-backend = "setuptools.build_meta"
"""
FILES = {
    "pyproject.toml": PROJECT,
    "src/pk/__init__.py": "from gcfnames import old\nimport gcfvalues\n",
    "src/pk/user.py": "from gcfuser import X\n",
    "tests/test_old.py": "import pk\n\ndef test_old(): assert pk.old()\n",
    "tests/test_value.py": "import pk\n\ndef test_value(): assert pk.gcfvalues.VALUE == 1\n",
    "tests/test_user.py": "from pk.user import X\n\ndef test_user(): assert X == 1\n",
}
FIRST, LAST = datetime.date(2024, 2, 1), datetime.date(2024, 12, 1)


@pytest.fixture(scope="module")
def mined(
    tmp_path_factory: pytest.TempPathFactory, runtime: Runtime
) -> Iterator[dict[tuple[str, str], Task]]:
    """Validated tasks by moved distribution and stage; the catalogue and the store are set."""
    out, tree = tmp_path_factory.mktemp("out"), tmp_path_factory.mktemp("tree")
    for path, text in FILES.items():
        (tree / path).parent.mkdir(parents=True, exist_ok=True)
        (tree / path).write_text(text)
    with pytest.MonkeyPatch.context() as patch, served(*WHEELS) as address:
        patch.setenv("UV_INDEX", address)
        add_repository(
            str(tree), store=runtime.store, out=out, as_of=FIRST.isoformat(), split="test"
        )
        patch.setenv("GYM_CODEFIX_REPOS", str(out))
        patch.setenv(HOME_VARIABLE, str(runtime.store.home))
        forget_manifests()
        found, inherent = mine_resolve(manifest("pk"), "1", FIRST, LAST, runtime)
        (out / "wheels").mkdir()
        (out / "wheels" / "pk-1.txt").write_text(found.wheels)
        proofs = [Validator(runtime).validate(task) for task in found.tasks]
        # gcfbase moved alone resolves, and is the task of another stage.
        assert {proof.reason for proof in proofs} == {None, "it comes past the stage resolve"}
        tasks = [proof.task for proof in proofs if proof.reason is None]
        write_tasks(tasks_file("pk"), tasks)
        assert {breakage.moved for breakage in inherent} == {"gcfnames", "gcfvalues"}
    with pytest.MonkeyPatch.context() as patch:  # the index is gone: all is offline from here
        patch.setenv("GYM_CODEFIX_REPOS", str(out))
        patch.setenv(HOME_VARIABLE, str(runtime.store.home))
        patch.setenv("UV_OFFLINE", "1")
        yield {
            (task.dependency.moved, task.dependency.stage): task
            for task in tasks
            if task.dependency is not None
        }
    forget_manifests()


def test_every_way_out_is_found(mined: dict[tuple[str, str], Task]) -> None:
    facts = {key: task.dependency for key, task in mined.items() if task.dependency}
    assert {
        key: (one.before, one.after, one.floors, dict(one.solution)) for key, one in facts.items()
    } == {
        ("gcfnames", "import"): ("1.1", "2.0", ("gcfnames>=1.1",), {"gcfnames": "1.1"}),
        ("gcfvalues", "test"): ("1.0", "1.1", (), {"gcfvalues": "1.0"}),
        ("gcfbase", "collect"): ("1.0", "2.0", ("gcfbase>=2.0",), {"gcfuser": "2.0"}),
        ("gcfuser", "resolve"): ("1.0", "2.0", ("gcfuser>=2.0",), {"gcfbase": "2.0"}),
    }
    assert [key for key, one in facts.items() if one.reverts] == [("gcfvalues", "test")]


def play(name: str, task: Task) -> tuple[float, dict[str, Any], Any]:
    environment = gymnasium.make(
        "gym_codefix/CodeRepair-Full-v0", suite="dependency", disable_env_checker=True
    )
    observation, _ = environment.reset(options={"task_id": task.id})
    episode = make_loop_agent(name).episode(observation, environment.unwrapped.bench)
    reward, info = play_episode(environment, episode, [])
    return reward, info, environment


@pytest.mark.parametrize(("name", "reward"), [("gold", 1.0), ("noop", 0.0), ("scripted", 1.0)])
def test_agents_play_offline(mined: dict[tuple[str, str], Task], name: str, reward: float) -> None:
    for task in mined.values():
        earned, info, _ = play(name, task)
        assert earned == reward, (task.dependency, info)
        assert info["reward_valid"]


def test_a_floor_forbids_the_old_version(mined: dict[tuple[str, str], Task]) -> None:
    task = mined["gcfbase", "collect"]
    _, _, environment = play("noop", task)
    environment.reset(options={"task_id": task.id})

    def answer(tool: str, **arguments: str) -> tuple[dict[str, Any], dict[str, Any]]:
        action = json.dumps({"tool": tool, "arguments": arguments})
        observation, _, _, _, info = environment.step(action)
        return observation, info

    answer("upgrade_dependency", name="gcfbase", specifier="==1.0")
    observation, _ = answer("validate_and_build")
    assert observation["stage"] == "resolve" and "gcfbase" in observation["log"]
    for arguments, said in (
        ({"name": "gcfbase", "specifier": "==7"}, "not available here; there: 1.0, 2.0"),
        ({"name": "gcfbase", "specifier": "~7"}, "not a PEP 440 specifier"),
        ({"name": "gcfother", "specifier": "==1"}, "is not available here"),
        ({"name": "gcfbase", "specifier": "==" + "9" * 150}, "not available here"),
        ({"name": "gcfbase", "specifier": "==" + "9" * 5_000}, "at most 200 characters"),
        ({"name": "a b", "specifier": "==1"}, "not the name of a distribution"),
    ):
        observation, info = answer("upgrade_dependency", **arguments)
        assert said in observation["result"] and "action_error" in info
    observation, _ = answer("edit", patch="src/pk/user.py:1| X = 1")
    assert "solved by versions alone" in observation["result"]
    observation, _ = answer("retrieve", query="cannot import name A from gcfbase")
    assert "removed: gcfbase.A" in observation["result"]
    observation, _ = answer("list_versions", name="GCFbase")
    assert observation["result"] == "gcfbase: 1.0, 2.0"


def test_a_reference_that_mends_nothing_is_no_task(
    mined: dict[tuple[str, str], Task], runtime: Runtime
) -> None:
    task = mined["gcfbase", "collect"]
    assert task.dependency is not None
    wrong = replace(task.dependency, solution={"gcfnames": "1.1"})
    proof = Validator(runtime).validate(replace(task, dependency=wrong))
    assert proof.reason == "reference run 0: tests/test_user.py::test_user does not pass"
    early = replace(task.dependency, stage="resolve")
    proof = Validator(runtime).validate(replace(task, dependency=early))
    assert proof.reason == "it comes past the stage resolve"


def test_a_few_tests_stand_for_many() -> None:
    many = [f"tests/t.py::test_{a}[{b}]" for a in "abcde" for b in range(9)]
    few = spread(many, 7)
    assert len(few) == 7 and {test.partition("[")[0][-1] for test in few} == set("abcde")
    assert spread(many[:3], 7) == tuple(sorted(many[:3]))
