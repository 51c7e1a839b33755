"""What an agent is, and the patches that agents make."""

from __future__ import annotations

import hashlib
import random
from collections.abc import Mapping
from typing import Any, Protocol

from gym_codefix.grading.patch import format_line_edits, format_search_replace
from gym_codefix.grading.repair import Problem
from gym_codefix.runtime import Runtime


class Agent(Protocol):
    """Answers an observation with an action.

    ``problem`` and ``runtime`` are for agents that may run the visible tests; an agent must not
    read the reference from them (``gold`` alone does, and says so on the board).
    """

    name: str
    parameters: Mapping[str, Any]

    def act(self, observation: Mapping[str, Any], problem: Problem, runtime: Runtime) -> str:
        """The action text."""
        ...


def generator(seed: int, problem: Problem) -> random.Random:
    """Randomness that depends on the seed and the task only."""
    digest = hashlib.sha256(f"{seed}/{problem.task.id}".encode()).digest()
    return random.Random(digest)


def as_action(edits: Mapping[str, str], problem: Problem) -> str:
    """Whole texts as the shortest format that can say them."""
    for write in (format_line_edits, format_search_replace):
        try:
            return write(edits, problem.read)
        except ValueError:
            continue
    return ""
