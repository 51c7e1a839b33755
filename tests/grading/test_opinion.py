"""A second judge behind a real server: it can only take a reward away."""

from __future__ import annotations

import json
from typing import Any

import gymnasium
import pytest

from gym_codefix.agents import as_action
from gym_codefix.chat import open_chat
from gym_codefix.grading.judge import Opinion, ask_opinion
from tests.model_server import model_server, says

BEFORE = {"a.py": "def f(x):\n    check(x)\n    return x\n"}
AFTER = {"a.py": "def f(x):\n    return x\n"}


@pytest.mark.parametrize(
    ("said", "lost"),
    [
        ("KEPT: it only moves an import", False),
        ("LOST: check(x) is gone\n", True),
        ("lost: check(x)", None),
        ("I think it is KEPT: fine", None),
        ("KEPT: fine\nLOST: no", None),
        ("KEPT:", None),
        ("", None),
        ("LOST: " + "x" * 5_000, None),
    ],
)
def test_an_answer_is_read_strictly(said: str, lost: bool | None) -> None:
    heard: list[str] = []

    def answer(messages: list[dict[str, Any]]) -> dict[str, Any]:
        heard.append(messages[-1]["content"])
        return says(said)

    with model_server(answer) as where:
        opinion = ask_opinion(open_chat(where), BEFORE, AFTER)
    assert opinion == Opinion(lost, said.strip()[:500])
    assert "-    check(x)" in heard[0].splitlines()


def test_a_huge_repair_is_cut() -> None:
    heard: list[str] = []

    def answer(messages: list[dict[str, Any]]) -> dict[str, Any]:
        heard.append(messages[-1]["content"])
        return says("KEPT: so it seems")

    with model_server(answer) as where:
        ask_opinion(open_chat(where), {}, {"a.py": "x = 1\n" * 100_000})
    assert len(heard[0]) < 21_000 and heard[0].endswith("characters more")


def test_no_answer_is_no_opinion() -> None:
    opinion = ask_opinion(open_chat("m@http://127.0.0.1:9/v1", timeout_s=1), BEFORE, AFTER)
    assert opinion.lost is None and "Connection" in opinion.text


@pytest.mark.parametrize(
    ("said", "reward", "lost"),
    [("LOST: everything", 0.0, True), ("KEPT: all of it", 1.0, False), ("well", 1.0, None)],
)
def test_the_loop_asks_it_of_what_is_resolved(said: str, reward: float, lost: bool | None) -> None:
    with model_server(lambda _: says(said)) as where:
        env: Any = gymnasium.make(
            "gym_codefix/CodeRepair-Full-v0", second_judge=where, disable_env_checker=True
        )
        env.reset(seed=1)
        problem = env.unwrapped.bench.problem
        patch = as_action(problem.reference_edits(), problem)
        env.step(json.dumps({"tool": "edit", "arguments": {"patch": patch}}))
        env.step('{"tool": "validate_and_build", "arguments": {}}')
        _, earned, terminated, _, info = env.step('{"tool": "submit", "arguments": {}}')
        env.close()
    assert (earned, terminated, info["resolved"]) == (reward, True, reward == 1)
    assert info["second_judge"] == {"lost": lost, "answer": said}
    assert info["reward_valid"]


def test_it_is_not_asked_of_what_is_not_resolved() -> None:
    with model_server(lambda _: says("KEPT: all")) as where:
        env: Any = gymnasium.make(
            "gym_codefix/CodeRepair-Full-v0", second_judge=where, disable_env_checker=True
        )
        env.reset(seed=1)
        env.step('{"tool": "validate_and_build", "arguments": {}}')
        _, earned, _, _, info = env.step('{"tool": "submit", "arguments": {}}')
        env.close()
    assert earned == 0 and "second_judge" not in info


def test_a_judge_that_cannot_be_is_an_error() -> None:
    with pytest.raises(ValueError, match="MODEL@http"):
        gymnasium.make("gym_codefix/CodeRepair-Full-v0", second_judge="x", disable_env_checker=True)
