"""CodeRepair-Simple: one action, one patch."""

from __future__ import annotations

import time
from collections.abc import Collection
from typing import Any

import gymnasium
from rich.console import Console

from gym_codefix.grading.repair import Problem

from ._episode import RepairEpisodes
from ._render import as_text, episode_panels


class CodeRepairSimple(gymnasium.Env[dict[str, Any], str]):
    """Repair a broken repository with one patch.

    ## Description
    A real repository with one problem: a seeded mutation, or the source of one release under the
    tests of the next. The agent reads the failing log and the most suspicious source, and answers
    with a patch, graded by running the repository's tests in a sandbox from warm processes.

    ## Action Space
    `Unicode(100000)`: SEARCH/REPLACE blocks, a unified diff, or line edits `path:LINE| new text`.

    ## Observation Space
    `Dict` of texts `instruction`, `log`, `source` (numbered excerpts ranked by spectrum-based
    fault localisation), `budget` (steps left) and `counts` (visible targets, kept tests, suspicious
    files, source files).

    ## Rewards
    `binary`: 1 when every target test (some are hidden) and every kept test passes, no check was
    lost, and negative twins fail as they must; else 0. `shaped`: weighted parts
    (`info["reward_parts"]`). A malformed action earns 0 and `info["action_error"]` says why.
    `info["reward_valid"]` is False when the failure was ours.

    ## Starting State
    A task drawn by the seeded generator, or `reset(options={"task_id": …})`.

    ## Episode End
    After one step.

    ## Arguments
    `suite` (`embedded`, `lite`, `full`, `train`), `split`, `kinds`, `repos`: which tasks;
    `reward`; `context_chars`: budget of `source`; `isolation` (`auto`, `strict`, or a level);
    `confirm`: prove right patches in a fresh process over the full kept set (turn off to train).

    ## Version History
    * v0: first.
    """

    metadata: dict[str, Any] = {  # noqa: RUF012 - gymnasium declares it so
        "render_modes": ["ansi", "human"],
        "render_fps": 1,
    }

    def __init__(
        self,
        *,
        suite: str = "embedded",
        split: str | None = None,
        kinds: Collection[str] | None = None,
        repos: Collection[str] | None = None,
        reward: str = "binary",
        context_chars: int = 6_000,
        isolation: str = "auto",
        confirm: bool = True,
        render_mode: str | None = None,
    ) -> None:
        if render_mode is not None and render_mode not in self.metadata["render_modes"]:
            valid = ", ".join(self.metadata["render_modes"])
            raise ValueError(f"unknown render_mode {render_mode!r}; valid: {valid}")
        self.episodes = RepairEpisodes(
            suite=suite,
            split=split,
            kinds=kinds,
            repos=repos,
            reward=reward,
            context_chars=context_chars,
            isolation=isolation,
            confirm=confirm,
        )
        self.observation_space = self.episodes.observation_space
        self.action_space = self.episodes.action_space
        self.render_mode = render_mode
        self.problem: Problem | None = None
        self._timing: dict[str, float] = {}
        self._observation: dict[str, Any] = {}
        self._action: str | None = None
        self._info: dict[str, Any] = {}

    @property
    def timing(self) -> dict[str, float]:
        """Seconds that the last reset and step took, and the stages of grading."""
        return dict(self._timing)

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[dict[str, Any], dict[str, Any]]:
        """Start an episode (raises ValueError for unknown options or tasks, NotPrepared)."""
        super().reset(seed=seed)
        started = time.perf_counter()
        task = self.episodes.choose(self.np_random, options)
        self.problem = self.episodes.load(task)
        self._observation = self.episodes.observe(self.problem, budget=1)
        self._action, self._info = None, self.episodes.info(task)
        self._timing = {"reset": time.perf_counter() - started}
        self._show()
        return dict(self._observation), dict(self._info)

    def step(self, action: str) -> tuple[dict[str, Any], float, bool, bool, dict[str, Any]]:
        """Grade the patch; the episode ends."""
        if self.problem is None or self._action is not None:
            raise gymnasium.error.ResetNeeded("call reset() before step(): an episode is one step")
        started = time.perf_counter()
        graded, self._info = self.episodes.step(self.problem, action)
        self._action = action
        self._timing["step"] = time.perf_counter() - started
        if graded is not None:
            self._timing.update(graded.timing)
        self._observation = self.episodes.observe(self.problem, budget=0)
        self._show()
        reward = 0.0 if graded is None else graded.reward
        return dict(self._observation), reward, True, False, dict(self._info)

    def _show(self) -> None:
        if self.render_mode == "human":
            self.render()

    def render(self) -> str | None:
        """The episode so far: text in mode ``ansi``, printed in mode ``human``."""
        if self.render_mode is None or self.problem is None:
            return None
        panels = episode_panels(self.problem, self._observation, self._action, self._info)
        if self.render_mode == "ansi":
            return as_text(panels)
        Console().print(panels)
        return None
