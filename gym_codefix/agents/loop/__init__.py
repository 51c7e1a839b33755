"""Agents of CodeRepair-Full: the references, and a script that needs no model."""

from __future__ import annotations

from gym_codefix.agents import load_agent

from ._agent import Episode, LoopAgent, Observation, call, play_episode
from ._language_model import LanguageModel
from ._references import LoopGold, LoopNoop, LoopRandom
from ._scripted import Scripted

LOOP_AGENTS = ("noop", "random", "scripted", "gold")
LOOP_AGENT_FORMS = (*LOOP_AGENTS, "model:WHERE", "module:name")
_MODEL = "model:"


def make_loop_agent(name: str, *, seed: int = 0) -> LoopAgent:
    """An agent of the loop by name (raises ValueError).

    ``model:WHERE`` is a language model, as `gym_codefix.chat.open_chat` takes it; ``module:name``
    is your own: ``name(seed=seed)`` must give a `LoopAgent`.
    """
    if name.startswith(_MODEL):
        return LanguageModel(name.removeprefix(_MODEL), seed=seed)
    if ":" in name:
        return load_agent(name, seed, "episode")  # type: ignore[no-any-return]
    if name == "random":
        return LoopRandom(seed)
    kinds: dict[str, type[LoopNoop] | type[LoopGold] | type[Scripted]] = {
        "noop": LoopNoop,
        "gold": LoopGold,
        "scripted": Scripted,
    }
    if name not in kinds:
        valid = ", ".join(LOOP_AGENT_FORMS)
        raise ValueError(f"unknown agent {name!r} of the loop; valid: {valid}")
    return kinds[name]()


__all__ = [
    "LOOP_AGENTS",
    "LOOP_AGENT_FORMS",
    "Episode",
    "LanguageModel",
    "LoopAgent",
    "LoopGold",
    "LoopNoop",
    "LoopRandom",
    "Observation",
    "Scripted",
    "call",
    "make_loop_agent",
    "play_episode",
]
