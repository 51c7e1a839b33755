"""Agents that the board knows: the references, and a search that needs no model."""

from __future__ import annotations

from ._agent import Agent, as_action
from ._references import Gold, Noop, Random
from ._search import Search

AGENTS = ("noop", "random", "search@K", "gold")


def make_agent(name: str, *, seed: int = 0) -> Agent:
    """An agent by name, ``search@100`` for a hundred attempts (raises ValueError)."""
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


__all__ = ["AGENTS", "Agent", "Gold", "Noop", "Random", "Search", "as_action", "make_agent"]
