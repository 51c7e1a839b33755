"""What an agent of the build loop is."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Generator, Mapping
from typing import Any, Protocol

from gym_codefix.envs.loop import Workbench

Observation = Mapping[str, Any]
Episode = Generator[str, Observation, None]


class LoopAgent(Protocol):
    """Plays whole episodes of CodeRepair-Full.

    ``episode`` is a generator: it gets the first observation, yields actions, and is sent the
    observation that each gave; when it returns, the episode is abandoned. ``bench`` is for the
    references: an agent must not read the answer from it.
    """

    name: str
    parameters: Mapping[str, Any]

    def episode(self, observation: Observation, bench: Workbench) -> Episode:
        """The actions of one episode."""
        ...


def play_episode(
    environment: Any, episode: Episode, actions: list[str]
) -> tuple[float, dict[str, Any]]:
    """Step an environment that was reset until it ends or the episode does.

    The sum of rewards and the last step's info (empty when there was no step); what was done is
    put into ``actions``. Raises ChatError where the agent is a model that gives no answer.
    """
    total, info = 0.0, dict[str, Any]()
    with contextlib.suppress(StopIteration):
        action = next(episode)
        while True:
            actions.append(action)
            observation, reward, terminated, truncated, info = environment.step(action)
            total += reward
            if terminated or truncated:
                break
            action = episode.send(observation)
    return total, info


def call(tool: str, **arguments: str | int) -> str:
    """An action."""
    return json.dumps({"tool": tool, "arguments": arguments}, ensure_ascii=False)
