"""Agents of CodeRepair-Full: the references, and a script that needs no model."""

from __future__ import annotations

from ._agent import Episode, LoopAgent, Observation, call, play_episode
from ._references import LoopGold, LoopNoop, LoopRandom
from ._scripted import Scripted

LOOP_AGENTS = ("noop", "random", "scripted", "gold")


def make_loop_agent(name: str, *, seed: int = 0) -> LoopAgent:
    """An agent of the loop by name (raises ValueError)."""
    if name == "random":
        return LoopRandom(seed)
    kinds: dict[str, type[LoopNoop] | type[LoopGold] | type[Scripted]] = {
        "noop": LoopNoop,
        "gold": LoopGold,
        "scripted": Scripted,
    }
    if name not in kinds:
        raise ValueError(f"unknown agent {name!r} of the loop; valid: {', '.join(LOOP_AGENTS)}")
    return kinds[name]()


__all__ = [
    "LOOP_AGENTS",
    "Episode",
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
