"""A language model in the loop, behind a real server, on embedded tasks with real builds."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import gymnasium
import pytest

from gym_codefix.agents import as_action
from gym_codefix.agents.loop import make_loop_agent, play_episode
from gym_codefix.catalog import Suite, suite
from gym_codefix.leaderboard import FULL, episodes_of, read_records, run_agent
from tests.model_server import calls, model_server, says

ID = "gym_codefix/CodeRepair-Full-v0"


@pytest.fixture(scope="module")
def env() -> Iterator[Any]:
    environment = gymnasium.make(ID, disable_env_checker=True)
    yield environment
    environment.close()


def test_a_model_repairs_by_text_and_by_calls(env: Any) -> None:
    observation, _ = env.reset(seed=1)
    problem = env.unwrapped.bench.problem
    patch = as_action(problem.reference_edits(), problem)
    heard: list[list[dict[str, Any]]] = []
    script = [
        says('I look first.\n```json\n{"tool": "read_log", "arguments": {}}\n```'),
        says("What shall I do?"),
        calls(("fly", "{}"), ("edit", '{"patch": ')),
        calls(("edit", json.dumps({"patch": patch})), ("validate_and_build", "")),
        calls(("submit", "{}")),
    ]

    def answer(messages: list[dict[str, Any]]) -> dict[str, Any]:
        heard.append(messages)
        return script[len(heard) - 1]

    with model_server(answer) as where:
        agent = make_loop_agent(f"model:{where}")
        assert agent.name == "model"
        episode = agent.episode(observation, env.unwrapped.bench)
        actions: list[str] = []
        reward, info = play_episode(env, episode, actions)
    assert (reward, info["resolved"], len(actions)) == (1.0, True, 7)
    assert episode.tokens == 5 * 15
    told = [message["content"] for message in heard[-1] if message["role"] in ("tool", "user")]
    assert heard[0][0]["content"] == observation["instruction"]
    assert observation["log"] in told[0]
    assert "no JSON object" in told[2]
    assert "unknown tool 'fly'" in told[3] and "not JSON" in told[4]
    assert "the build is green" in told[6] and "(24 steps left)" in told[6]


def test_a_long_conversation_loses_its_oldest_answers(env: Any) -> None:
    observation, _ = env.reset(seed=1)
    path = env.unwrapped.bench.snapshot.source_files()[0]
    sizes: list[int] = []

    def answer(messages: list[dict[str, Any]]) -> dict[str, Any]:
        sizes.append(sum(len(message["content"] or "") for message in messages))
        assert messages[0]["content"] == observation["instruction"]
        return calls(("read_file", json.dumps({"path": path})))

    with model_server(answer) as where:
        agent = make_loop_agent(f"model:{where}")
        agent._context_chars = sum(len(observation[k]) for k in ("instruction", "log")) + 20_000
        play_episode(env, agent.episode(observation, env.unwrapped.bench), [])
    assert len(sizes) == 30
    assert max(sizes) < agent._context_chars + 1_000


def test_a_server_that_fails_makes_an_episode_that_does_not_count(tmp_path: Any) -> None:
    tasks = suite("embedded").tasks[:2]
    small = Suite("embedded", tasks)
    count = 0

    def answer(_: Any) -> dict[str, Any] | int:
        nonlocal count
        count += 1
        return calls(("read_log", "{}")) if count < 3 else 400

    with model_server(answer) as where:
        agent = make_loop_agent(f"model:{where}")
        result, _ = run_agent(small, agent, tmp_path, env_id=FULL, workers=1, command="test")
    assert (result.counts.invalid, result.metrics.resolved_at_1.value) == (2, 0)
    records = read_records(tmp_path / "model-coderepair-full-v0.records.jsonl")
    assert "400" in (records[0].failure_reason or "") and records[0].tokens == 30
    assert (records[0].verdict["steps"], records[1].verdict["steps"]) == (2, 0)
    assert episodes_of(FULL)(small).replay(records[0]).verdict["steps"] == 2
