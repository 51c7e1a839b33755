"""CodeRepair-Full through gym.make, on the embedded suite, with real builds."""

from __future__ import annotations

import json
import multiprocessing
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from typing import Any

import gymnasium
import pytest

from gym_codefix.agents import as_action
from gym_codefix.envs.loop import MAX_CHARS
from gym_codefix.grading.build import Builder
from gym_codefix.grading.repair import Infrastructure

ID = "gym_codefix/CodeRepair-Full-v0"


@pytest.fixture(scope="module")
def env() -> Iterator[Any]:
    environment = gymnasium.make(ID, disable_env_checker=True)
    yield environment
    environment.close()


def call(tool: str, **arguments: Any) -> str:
    return json.dumps({"tool": tool, "arguments": arguments})


def reference(environment: Any) -> str:
    problem = environment.unwrapped.bench.problem
    return as_action(problem.reference_edits(), problem)


def test_the_loop_from_a_red_build_to_a_reward(env: Any) -> None:
    observation, _ = env.reset(seed=1)
    assert observation in env.observation_space and observation["stage"] == "test"
    observation, *_ = env.step(call("edit", patch=reference(env)))
    assert observation["touched"] and observation["stage"] == "test"
    observation, reward, terminated, truncated, _ = env.step(call("validate_and_build"))
    assert (observation["stage"], reward, terminated, truncated) == ("", 0, False, False)
    observation, reward, terminated, _, info = env.step(call("submit"))
    assert (reward, terminated, info["resolved"]) == (1, True, True), info
    assert observation in env.observation_space
    with pytest.raises(gymnasium.error.ResetNeeded):
        env.step(call("submit"))


def test_what_is_submitted_untouched_earns_nothing(env: Any) -> None:
    env.reset(seed=1)
    env.step(call("validate_and_build"))
    _, reward, terminated, _, info = env.step(call("submit"))
    assert (reward, terminated, info["resolved"]) == (0, True, False)


@pytest.mark.parametrize(
    ("action", "said"),
    [
        ("hello", "JSON"),
        ("", "empty"),
        ("x" * (MAX_CHARS + 1), "characters"),
        ("{" * 5_000, "JSON"),
        (call("fly"), "unknown tool 'fly'; the tools are read_log"),
        (call("retrieve"), "query"),
        (call("retrieve", query="a", limit=3), "limit"),
        (call("retrieve", query=3), "query"),
        (call("read_log", stage="lint"), "valid: resolve, install"),
        (call("read_log", stage="resolve"), "no log of the stage resolve"),
        (call("read_log", around="xyzzy"), "does not hold 'xyzzy'"),
        (call("read_file", path="../../etc/passwd"), "no file"),
        (call("read_file", path="/etc/passwd"), "no file"),
        (call("read_file", path="setup.py", start=0), "no file"),
        (call("edit", patch="tests/test_cache.py:1| x"), "belong to the task"),
        (call("edit", patch="constraints.txt:1| x"), "versions of this task are fixed"),
        (call("edit", patch="nothing"), "no edit"),
        (call("list_versions", name="nope"), "unknown distribution 'nope'"),
        (call("upgrade_dependency", name="a", specifier="==1"), "versions of this task are fixed"),
        (call("submit"), "build first"),
    ],
)
def test_a_bad_call_spends_its_step_and_says_why(env: Any, action: str, said: str) -> None:
    env.reset(seed=1)
    observation, reward, terminated, truncated, info = env.step(action)
    assert (reward, terminated, truncated) == (0, False, False)
    assert said in observation["result"] and said in info["action_error"]
    assert observation["budget"][0] == 29 and info["reward_valid"]


def test_hidden_tests_are_in_no_answer(env: Any) -> None:
    tasks = [task for task in env.unwrapped.episodes.suite.tasks if task.hidden][:5]
    for task in tasks:
        env.reset(options={"task_id": task.id})
        bench = env.unwrapped.bench
        names = {test.rpartition("::")[2].partition("[")[0] for test in task.hidden}
        for path in {test.partition("::")[0] for test in task.hidden}:
            shown = bench.read(path)
            assert shown is not None and not [name for name in names if f"def {name}(" in shown]
            original = bench.snapshot.read(path) or ""
            assert len(shown.splitlines()) == len(original.splitlines())
        assert not set(task.hidden) & set(bench.visible)
        observation, *_ = env.step(call("validate_and_build"))
        assert not [test for test in task.hidden if test in observation["result"]]
        for name in names:
            observation, *_ = env.step(call("retrieve", query=name))
            assert f"def {name}(" not in observation["result"]


def test_a_file_has_one_spelling(env: Any) -> None:
    """Under another, the answer of a seeded task and the hidden tests would be shown."""
    task = next(task for task in env.unwrapped.episodes.suite.tasks if task.hidden and task.path)
    env.reset(options={"task_id": task.id})
    for path in (task.path, task.hidden[0].partition("::")[0]):
        observation, *_ = env.step(call("read_file", path=path))
        assert "1| " in observation["result"]
        folder, _, name = path.rpartition("/")
        for other in (f"./{path}", f"{folder}//{name}", f"{folder}/./{name}", f"{path}/"):
            observation, *_ = env.step(call("read_file", path=other))
            assert "no file" in observation["result"]


def test_what_the_policy_refuses_is_not_built(env: Any) -> None:
    """It could read hidden tests and tell of them in the log."""
    env.reset(seed=1)
    bench = env.unwrapped.bench
    (path, *_) = {span.path: None for span in bench.problem.spans}
    text = bench.read(path) or ""
    spy = "raise RuntimeError(open('/repo/tests/test_cache.py').read())"
    patch = f"{path}\n<<<<<<< SEARCH\n{text}=======\n{text}\n{spy}\n>>>>>>> REPLACE\n"
    observation, *_ = env.step(call("edit", patch=patch))
    assert "changed" in observation["result"], observation["result"]
    observation, *_ = env.step(call("validate_and_build"))
    assert observation["result"].startswith(f"error: refused: {path}:")


def test_the_tests_that_run_have_no_hidden_ones_beside_them(env: Any) -> None:
    """Masked on the disk, and never collected by the process that they run in."""
    task = next(
        task
        for task in env.unwrapped.episodes.suite.tasks
        if {test.partition("[")[0] for test in task.hidden}
        - {test.partition("[")[0] for test in task.visible}
    )
    env.reset(options={"task_id": task.id})
    bench, session = env.unwrapped.bench, env.unwrapped.session
    seen = {test.partition("[")[0] for test in bench.visible}
    hidden = next(test for test in task.hidden if test.partition("[")[0] not in seen)
    path, name = hidden.partition("::")[0], hidden.rpartition("::")[2].partition("[")[0]
    assert f"def {name}(" in (bench.snapshot.read(path) or "")
    (suspect, *_) = {span.path: None for span in bench.problem.spans}
    for spy in (
        f"raise RuntimeError([line for line in open('/repo/{path}') if 'def ' in line])",
        "import gc\nraise RuntimeError([f.__name__ for f in gc.get_objects()"
        " if getattr(f, '__name__', '').startswith('test')])",
    ):
        edits = {suspect: f"{bench.read(suspect)}\n{spy}\n"}
        build = bench.builder().build(edits, start=session._start)
        assert "RuntimeError" in build.log and name not in build.log


@pytest.mark.parametrize("action", [None, 5, {}, b"x", "\ud800"])
def test_an_action_that_is_no_text_is_a_bad_call(action: Any) -> None:
    environment = gymnasium.make(ID, render_mode="ansi", disable_env_checker=True)
    environment.reset(seed=1)
    _, reward, terminated, _, info = environment.step(action)
    assert (reward, terminated) == (0, False) and info["action_error"]
    environment.render()
    json.dumps(environment.unwrapped.messages)
    environment.close()


@pytest.mark.parametrize(
    ("budget", "actions"),
    [({"max_steps": 2}, 2), ({"max_chars": 500}, 1), ({"build_seconds": 0.001}, 1)],
)
def test_a_spent_budget_truncates(budget: dict[str, Any], actions: int) -> None:
    environment = gymnasium.make(ID, disable_env_checker=True, **budget)
    environment.reset(seed=1)
    for number in range(1, actions + 1):
        observation, _, terminated, truncated, _ = environment.step(call("validate_and_build"))
        assert (terminated, truncated) == (False, number == actions)
    assert len(observation["result"]) <= 500 or "max_chars" not in budget
    environment.close()


def test_steps_may_cost() -> None:
    environment = gymnasium.make(ID, disable_env_checker=True, step_cost=0.25)
    environment.reset(seed=1)
    _, reward, *_ = environment.step(call("read_log"))
    assert reward == -0.25
    environment.close()


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ({"max_steps": 0}, "max_steps must be more than 0"),
        ({"build_seconds": -1}, "build_seconds"),
        ({"step_cost": 2}, "step_cost must be from 0 to 1"),
        ({"reward": "much"}, "unknown reward"),
        ({"render_mode": "film"}, "unknown render_mode"),
        ({"suite": "nope"}, "unknown suite"),
    ],
)
def test_a_wrong_argument_names_what_is_valid(arguments: dict[str, Any], said: str) -> None:
    with pytest.raises(ValueError, match=said):
        gymnasium.make(ID, disable_env_checker=True, **arguments)


def test_a_transcript_is_what_a_chat_model_is_trained_on(env: Any) -> None:
    env.reset(seed=1)
    env.step(call("read_log"))
    env.step("no call at all")
    messages = env.unwrapped.messages
    assert [message["role"] for message in messages] == [
        *("system", "user", "assistant", "tool", "assistant", "user")
    ]
    asked = messages[2]["tool_calls"][0]
    assert asked["function"] == {"name": "read_log", "arguments": "{}"}
    assert messages[3]["tool_call_id"] == asked["id"]
    json.dumps(messages)


def test_a_fault_of_ours_is_told_for_its_step_only(
    env: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: Any, **__: Any) -> None:
        raise Infrastructure("boom")

    env.reset(seed=1)
    with monkeypatch.context() as patch:
        patch.setattr(Builder, "build", broken)
        observation, _, _, _, info = env.step(call("validate_and_build"))
        assert not info["reward_valid"] and info["failure_reason"] == "boom"
        assert "not your fault" in observation["result"]
    _, _, _, _, info = env.step(call("validate_and_build"))
    assert info["reward_valid"] and info["failure_reason"] is None


def test_the_vector_environment_equals_single_ones(env: Any) -> None:
    vector = gymnasium.make_vec(ID, num_envs=3, max_steps=4)
    observations, infos = vector.reset(seed=5)
    patches, logs = [], []
    for index in range(3):
        observation, info = env.reset(seed=5 + index)
        assert info["task_id"] == infos["task_id"][index]
        logs.append(observation["log"])
        patches.append(reference(env))
    assert list(observations["log"]) == logs
    vector.step([call("edit", patch=patches[0]), call("read_log"), call("edit", patch=patches[2])])
    observations, *_ = vector.step([call("validate_and_build")] * 3)
    assert [stage == "" for stage in observations["stage"]] == [True, False, True]
    _, rewards, terminated, truncated, infos = vector.step([call("submit")] * 2 + ["nonsense"])
    assert list(rewards) == [1, 0, 0] and list(terminated) == [True, True, False]
    assert "no JSON" in infos["action_error"][2]
    last = [call("read_log")] * 3
    observations, rewards, terminated, truncated, _ = vector.step(last)  # resets the first two
    assert list(truncated) == [False, False, True] and not terminated.any()
    assert observations["budget"].shape == (3, 3) and observations["budget"][0][0] == 4
    vector.close()
    vector.close()


def test_the_state_of_a_loop_stays_in_this_process() -> None:
    context = multiprocessing.get_context("spawn")
    with (
        ProcessPoolExecutor(1, mp_context=context) as pool,
        pytest.raises(ValueError, match="threads"),
    ):
        gymnasium.make_vec(ID, num_envs=2, executor=pool)


def test_what_does_not_parse_fails_at_its_stage(env: Any) -> None:
    env.reset(seed=1)
    path = env.unwrapped.bench.snapshot.source_files()[0]
    env.step(call("edit", patch=f"{path}:0+| def broken(:"))
    observation, _, _, _, info = env.step(call("validate_and_build"))
    assert observation["stage"] == "compile" and path in observation["log"]
    assert "action_error" not in info
    _, reward, terminated, *_ = env.step(call("submit"))
    assert (reward, terminated) == (0, True)
