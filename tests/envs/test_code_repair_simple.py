"""CodeRepair-Simple through gym.make, on the embedded suite, with real jobs."""

from __future__ import annotations

import json
import multiprocessing
import warnings
from concurrent.futures import ProcessPoolExecutor
from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env

import gym_codefix
from gym_codefix.agents import as_action

ID = gym_codefix.ENVIRONMENT_IDS[0]


@pytest.fixture(scope="module")
def env() -> Any:
    environment = gymnasium.make(ID, disable_env_checker=True)
    yield environment
    environment.close()


def gold(environment: Any) -> str:
    problem = environment.unwrapped.problem
    return as_action(problem.reference_edits(), problem)


@pytest.mark.parametrize("env_id", gym_codefix.ENVIRONMENT_IDS)
def test_every_environment_passes_the_checker(env_id: str) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        check_env(gymnasium.make(env_id, disable_env_checker=True).unwrapped)


@pytest.mark.parametrize("env_id", gym_codefix.ENVIRONMENT_IDS)
def test_every_specification_is_plain_data(env_id: str) -> None:
    assert json.loads(gymnasium.spec(env_id).to_json())["id"] == env_id


def test_the_reference_earns_one_and_doing_nothing_earns_zero(env: Any) -> None:
    observation, info = env.reset(seed=3)
    assert observation in env.observation_space
    assert set(info) >= {
        "task_id",
        "suite_hash",
        "reward_parts",
        "reward_valid",
        "failure_reason",
        "isolation",
    }
    observation, reward, terminated, truncated, info = env.step(gold(env))
    assert (reward, terminated, truncated) == (1.0, True, False), info
    assert info["resolved"] and observation["budget"] == [0]
    env.reset(seed=3)
    path = env.unwrapped.problem.snapshot.source_files()[0]
    first = (env.unwrapped.problem.read(path) or "").splitlines()[0]
    _, reward, _, _, info = env.step(f"{path}:1| {first}")
    assert reward == 0 and info["explanation"] == "nothing was changed"


def test_the_same_seed_draws_the_same_task(env: Any) -> None:
    first, info = env.reset(seed=11)
    second, again = env.reset(seed=11)
    assert info == again
    assert first["log"] == second["log"] and first["source"] == second["source"]


def test_hidden_tests_are_named_nowhere(env: Any) -> None:
    tasks = [task for task in env.unwrapped.episodes.suite.tasks if task.hidden][:10]
    for task in tasks:
        observation, info = env.reset(options={"task_id": task.id})
        shown = observation["instruction"] + observation["log"] + observation["source"] + str(info)
        assert not [test for test in task.hidden if test in shown]
        assert env.unwrapped.problem.log


@pytest.mark.parametrize(
    ("action", "word"),
    [
        ("", "empty"),
        ("   \n", "empty"),
        ("hello there", "edit"),
        ("x" * 1_000_000, "characters"),
        ("a\0b", "NUL"),
        ("../up.py:1| x", "tree"),
        ("/etc/passwd:1| x", "tree"),
        ("tests/test_x.py:1| x", "task"),
        ("conftest.py:0+| x", "task"),
        ("pyproject.toml:1| x", "edited"),
    ],
)
def test_a_malformed_action_costs_reward_and_says_why(env: Any, action: str, word: str) -> None:
    env.reset(seed=1)
    _, reward, terminated, _, info = env.step(action)
    assert reward == 0 and terminated and info["reward_valid"]
    assert word.lower() in info["action_error"].lower()


def test_a_patch_that_does_not_parse_is_the_agents_error(env: Any) -> None:
    env.reset(seed=1)
    path = env.unwrapped.problem.snapshot.source_files()[0]
    _, reward, _, _, info = env.step(f"{path}:1| def broken(:")
    assert reward == 0 and "does not parse" in info["explanation"]


@pytest.mark.parametrize(
    ("arguments", "valid"),
    [
        ({"suite": "nope"}, "embedded"),
        ({"split": "nope"}, "train"),
        ({"kinds": ["nope"]}, "seeded"),
        ({"repos": ["nope"]}, "rowquery"),
        ({"repos": "rowquery"}, "collection"),
        ({"reward": "nope"}, "shaped"),
        ({"isolation": "nope"}, "strict"),
        ({"context_chars": 1}, "200"),
        ({"render_mode": "nope"}, "ansi"),
    ],
)
def test_a_wrong_argument_names_the_valid_values(arguments: dict[str, Any], valid: str) -> None:
    with pytest.raises(ValueError, match=valid):
        gymnasium.make(ID, disable_env_checker=True, **arguments)


@pytest.mark.parametrize("options", [{"task_id": "nope/seeded/1"}, {"task": "x"}])
def test_a_wrong_reset_option_is_an_error(env: Any, options: dict[str, str]) -> None:
    with pytest.raises(ValueError, match="unknown"):
        env.reset(options=options)


def test_a_second_step_needs_a_reset(env: Any) -> None:
    env.reset(seed=1)
    env.step("")
    with pytest.raises(gymnasium.error.ResetNeeded):
        env.step("")


def test_shaped_pays_parts_but_never_as_much_as_a_repair() -> None:
    environment = gymnasium.make(ID, reward="shaped", disable_env_checker=True)
    environment.reset(seed=2)
    path = environment.unwrapped.problem.snapshot.source_files()[-1]
    _, reward, _, _, info = environment.step(f"{path}:0+| # a comment")
    assert 0 < reward < 1 and info["reward_parts"]["parses"] == 1


def test_render_ansi_shows_the_episode() -> None:
    environment = gymnasium.make(ID, render_mode="ansi", disable_env_checker=True)
    environment.reset(seed=2)
    environment.step("[bold]not markup[/bold]")
    shown = environment.render()
    assert "[bold]not markup[/bold]" in shown and "verdict" in shown


def test_the_vector_environment_equals_single_ones(env: Any) -> None:
    vector = gymnasium.make_vec(ID, num_envs=3)
    observations, infos = vector.reset(seed=5)
    actions, singles = [], []
    for index in range(3):
        observation, info = env.reset(seed=5 + index)
        assert info["task_id"] == infos["task_id"][index]
        assert observation["log"] == observations["log"][index]
        actions.append(gold(env) if index != 1 else "nonsense")
        singles.append(env.step(actions[-1])[1])
    _, rewards, terminated, truncated, infos = vector.step(actions)
    assert list(rewards) == singles == [1.0, 0.0, 1.0]
    assert terminated.all() and not truncated.any()
    _, rewards, terminated, _, _ = vector.step(actions)  # the step that resets
    assert not rewards.any() and not terminated.any()
    assert isinstance(observations["source"], tuple)
    assert np.asarray(observations["counts"]).shape == (3, 4)
    vector.close()


def test_a_pool_of_processes_gives_the_same_verdicts(env: Any) -> None:
    env.reset(seed=5)
    actions = [gold(env), "nonsense"]
    options = {"task_id": env.unwrapped.problem.task.id}
    given = []
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(1, mp_context=context) as pool:
        for executor in (None, pool):
            vector = gymnasium.make_vec(ID, num_envs=2, executor=executor)
            vector.reset(options=options)
            _, rewards, _, _, infos = vector.step(actions)
            given.append((list(rewards), list(infos["explanation"]), list(infos["action_error"])))
            vector.close()
    assert given[0] == given[1]
    assert given[0][0] == [1.0, 0.0]


def test_a_vector_environment_needs_a_seed_for_each() -> None:
    vector = gymnasium.make_vec(ID, num_envs=2)
    with pytest.raises(ValueError, match="2 seeds"):
        vector.reset(seed=[1])
    vector.close()
