"""The reference agents on embedded tasks."""

from __future__ import annotations

import sys
import types

import pytest

from gym_codefix.agents import make_agent
from gym_codefix.catalog import select
from gym_codefix.grading.patch import parse_action
from gym_codefix.grading.repair import Problem, grade, load_problem
from gym_codefix.runtime import default_runtime


@pytest.fixture(scope="module")
def problems() -> list[Problem]:
    tasks = select("embedded", repos=["ledgerbook"]).tasks[:4]
    return [load_problem(task, default_runtime()) for task in tasks]


def act(name: str, problem: Problem) -> dict[str, str]:
    action = make_agent(name).act({}, problem, default_runtime())
    return parse_action(action, problem.read, editable=problem.editable)


def test_gold_is_the_reference_and_noop_changes_nothing(problems: list[Problem]) -> None:
    for problem in problems:
        assert act("gold", problem) == problem.reference_edits()
        assert act("noop", problem) == {}


@pytest.mark.parametrize("name", ["random", "search@1", "search@5"])
def test_an_agent_answers_the_same_twice(problems: list[Problem], name: str) -> None:
    for problem in problems[:2]:
        first = act(name, problem)
        assert first == act(name, problem)
        assert first  # it does change something


def test_a_long_search_undoes_an_operator() -> None:
    """Of a few single mutations, a search of a hundred tries repairs at least one."""
    runtime = default_runtime()
    tasks = [t for t in select("embedded", repos=["ledgerbook"]).tasks if t.level == 1][:3]
    solved = 0
    for task in tasks:
        problem = load_problem(task, runtime)
        solved += grade(problem, act("search@100", problem), runtime, confirm=False).resolved
    assert solved


@pytest.mark.parametrize("name", ["nobody", "search@", "search@0", "search@x", ""])
def test_an_unknown_agent_names_the_valid_ones(name: str) -> None:
    with pytest.raises(ValueError, match="noop, random, search@K, gold"):
        make_agent(name)


class Mine:
    """An agent as a user would write one."""

    name, parameters = "mine", {"size": 3}

    def __init__(self, seed: int) -> None:
        self.seed = seed

    def act(self, observation: object, problem: object, runtime: object) -> str:
        return ""


def test_an_agent_of_your_own_is_named_by_module(monkeypatch: pytest.MonkeyPatch) -> None:
    module = types.ModuleType("my_agents")
    module.Mine, module.nothing = Mine, lambda seed: object()  # type: ignore[attr-defined]
    module.unseeded = lambda: Mine(0)  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "my_agents", module)
    agent = make_agent("my_agents:Mine", seed=7)
    assert isinstance(agent, Mine) and agent.seed == 7
    for name, words in (
        ("my_agents:Gone", "no attribute 'Gone'"),
        ("my_agents:nothing", "has no attribute 'name'"),
        ("my_agents:unseeded", r"unseeded\(seed=0\) fails: .* unexpected keyword argument 'seed'"),
        ("no_such_module:Mine", "No module named 'no_such_module'"),
    ):
        with pytest.raises(ValueError, match=words):
            make_agent(name)
