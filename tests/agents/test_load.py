"""Agents of the user's own, by module and name."""

from __future__ import annotations

import sys
from types import ModuleType

import pytest

from gym_codefix.agents.loop import make_loop_agent


class Own:
    name = "own"
    parameters: dict[str, object] = {}  # noqa: RUF012

    def __init__(self, seed: int) -> None:
        self.seed = seed

    def episode(self, observation: object, bench: object) -> object:
        return iter(())


@pytest.fixture(autouse=True)
def _module(monkeypatch: pytest.MonkeyPatch) -> None:
    module = ModuleType("gcf_own_agents")
    module.Own, module.Half, module.Bare = Own, object, lambda: None  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "gcf_own_agents", module)


def test_an_agent_of_the_loop_by_module_and_name() -> None:
    agent = make_loop_agent("gcf_own_agents:Own", seed=7)
    assert isinstance(agent, Own) and agent.seed == 7


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("gcf_own_agents:Nope", "no attribute 'Nope'"),
        ("gcf_no_such_module:A", "No module named"),
        ("gcf_own_agents:Bare", "fails"),
        ("gcf_own_agents:Half", "fails"),
        ("nope", "valid: noop, random, scripted, gold, model:WHERE, module:name"),
        ("model:", "unknown language model ''"),
        ("model:some-name", "MODEL@http"),
        ("model:@http://127.0.0.1:1/v1", "unknown language model"),
    ],
)
def test_what_is_wrong_with_a_name_is_said(name: str, said: str) -> None:
    with pytest.raises(ValueError, match=said):
        make_loop_agent(name)
