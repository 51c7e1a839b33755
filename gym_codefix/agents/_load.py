"""Agents of the user's own, by module and name."""

from __future__ import annotations

import importlib
from typing import Any


def load_agent(name: str, seed: int, method: str) -> Any:
    """What ``module:factory`` makes when called with ``seed=``: an agent that has ``method``.

    Raises ValueError with what is wrong.
    """
    module, _, factory = name.partition(":")
    try:
        make = getattr(importlib.import_module(module), factory)
    except (ImportError, AttributeError, ValueError) as error:
        raise ValueError(f"agent {name!r}: {error}") from error
    try:
        agent = make(seed=seed)
    except TypeError as error:
        raise ValueError(f"agent {name!r}: {factory}(seed={seed}) fails: {error}") from error
    for wanted in ("name", "parameters", method):
        if not hasattr(agent, wanted):
            raise ValueError(f"agent {name!r}: what it makes has no attribute {wanted!r}")
    return agent
