"""Agents that the board knows: the references, and a search that needs no model."""

from __future__ import annotations

import importlib

from ._agent import Agent, as_action
from ._references import Gold, Noop, Random
from ._search import Search

AGENTS = ("noop", "random", "search@K", "gold", "module:name")


def make_agent(name: str, *, seed: int = 0) -> Agent:
    """An agent by name, ``search@100`` for a hundred attempts (raises ValueError).

    ``module:name`` is your own: ``name(seed=seed)`` must give an `Agent`.
    """
    if ":" in name:
        return _load(name, seed)
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


def _load(name: str, seed: int) -> Agent:
    module, _, factory = name.partition(":")
    try:
        make = getattr(importlib.import_module(module), factory)
    except (ImportError, AttributeError, ValueError) as error:
        raise ValueError(f"agent {name!r}: {error}") from error
    try:
        agent = make(seed=seed)
    except TypeError as error:
        raise ValueError(f"agent {name!r}: {factory}(seed={seed}) fails: {error}") from error
    for wanted in ("name", "parameters", "act"):
        if not hasattr(agent, wanted):
            raise ValueError(f"agent {name!r}: what it makes has no attribute {wanted!r}")
    return agent  # type: ignore[no-any-return]  # what was imported has no type


__all__ = ["AGENTS", "Agent", "Gold", "Noop", "Random", "Search", "as_action", "make_agent"]
