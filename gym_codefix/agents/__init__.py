"""Agents that the board knows: the references, and a search that needs no model."""

from __future__ import annotations

from ._agent import Agent, as_action
from ._load import load_agent
from ._references import Gold, Noop, Random
from ._search import Search

AGENTS = ("noop", "random", "search@K", "gold", "module:name")


def make_agent(name: str, *, seed: int = 0) -> Agent:
    """An agent by name, ``search@100`` for a hundred attempts (raises ValueError).

    ``module:name`` is your own: ``name(seed=seed)`` must give an `Agent`.
    """
    if ":" in name:
        return load_agent(name, seed, "act")  # type: ignore[no-any-return]
    kind, _, attempts = name.partition("@")
    if kind == "search" and attempts.isdigit() and int(attempts):
        return Search(int(attempts))
    if name == "noop":
        return Noop()
    if name == "gold":
        return Gold()
    if name == "random":
        return Random(seed)
    raise ValueError(f"unknown agent {name!r}; valid: {', '.join(AGENTS)} (K a whole number)")


__all__ = [
    "AGENTS",
    "Agent",
    "Gold",
    "Noop",
    "Random",
    "Search",
    "as_action",
    "load_agent",
    "make_agent",
]
