"""CodeRepair-Full: read the log, retrieve, fix, build, and again until the build is green."""

from __future__ import annotations

import json
import time
from collections.abc import Collection
from typing import Any

import gymnasium
import numpy as np
from gymnasium import spaces
from rich.console import Console

from gym_codefix.chat import open_chat
from gym_codefix.envs.loop import (
    MAX_CHARS,
    TOOLS,
    Call,
    CallError,
    Session,
    Workbench,
    grade_state,
    instruction_of,
    load_workbench,
    parse_call,
    second_opinion,
)
from gym_codefix.grading.build import BUILD_STAGES
from gym_codefix.spaces import Unicode

from ._episode import RepairEpisodes, info_of
from ._render import as_text, loop_panels

_LOG_CHARS = 6_000
_RESULT_CHARS = 8_000
_INSTRUCTION_CHARS = 6_000
_TOUCHED_CHARS = 2_000


class CodeRepairFull(gymnasium.Env[dict[str, Any], str]):
    """Mend a red build in a loop of tool calls.

    ## Description
    A real repository whose build is red: a distribution that it needs has moved, or its source is
    broken as in CodeRepair-Simple. The agent reads the log, retrieves, edits the source or the
    constraints, builds, and submits when the build is green. Everything is offline.

    ## Action Space
    `Unicode(100000)`: one tool call as JSON, `{"tool": …, "arguments": {…}}`, bare or in a fenced
    block. Tools: `read_log`, `retrieve`, `read_file`, `edit`, `list_versions`,
    `upgrade_dependency`, `validate_and_build`, `submit`. A bad call spends its step and says why
    in `result`; the episode goes on.

    ## Observation Space
    `Dict` of texts `instruction`, `stage` (that failed; empty when green), `log` (its head),
    `result` (of the last call, cut where it is long), `touched` (changed files), and `budget`
    (steps, seconds of building, characters left).

    ## Rewards
    On `submit`, `binary`: 1 when a fresh process builds the submitted state green, every test
    passes that the task asks for, hidden ones too, and the judge finds nothing lost; else 0.
    `shaped`: weighted parts (`info["reward_parts"]`). Each step costs `step_cost`.

    ## Starting State
    A task drawn by the seeded generator, or `reset(options={"task_id": …})`.

    ## Episode End
    Terminated by `submit`; truncated when a budget is spent.

    ## Arguments
    As CodeRepair-Simple, and `max_steps`, `build_seconds`, `max_chars` (of results), `step_cost`.
    `second_judge`: a language model, `MODEL@http://HOST:PORT/v1` or a folder, that is asked whether
    a resolved repair lost anything; `info["second_judge"]` has its answer, which can only take the
    reward away; what cannot be read is ignored.

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
        isolation: str = "auto",
        max_steps: int = 30,
        build_seconds: float = 600.0,
        max_chars: int = 200_000,
        step_cost: float = 0.0,
        second_judge: str | None = None,
        render_mode: str | None = None,
    ) -> None:
        if render_mode is not None and render_mode not in self.metadata["render_modes"]:
            valid = ", ".join(self.metadata["render_modes"])
            raise ValueError(f"unknown render_mode {render_mode!r}; valid: {valid}")
        for name, value in (
            ("max_steps", max_steps),
            ("build_seconds", build_seconds),
            ("max_chars", max_chars),
        ):
            if not value > 0:
                raise ValueError(f"{name} must be more than 0, not {value!r}")
        if not 0 <= step_cost <= 1:
            raise ValueError(f"step_cost must be from 0 to 1, not {step_cost!r}")
        self.episodes = RepairEpisodes(
            suite=suite,
            split=split,
            kinds=kinds,
            repos=repos,
            reward=reward,
            context_chars=_LOG_CHARS,
            isolation=isolation,
            confirm=True,
            versions=True,
        )
        self._limits = (max_steps, build_seconds, max_chars)
        self._step_cost = step_cost
        self._second = open_chat(second_judge, max_tokens=200) if second_judge else None
        self.observation_space = spaces.Dict(
            {
                "instruction": Unicode(_INSTRUCTION_CHARS),
                "stage": Unicode(max(map(len, BUILD_STAGES))),
                "log": Unicode(_LOG_CHARS),
                "result": Unicode(_RESULT_CHARS),
                "touched": Unicode(_TOUCHED_CHARS),
                "budget": spaces.Box(0, np.iinfo(np.int64).max, (3,), np.int64),
            }
        )
        self.action_space = Unicode(MAX_CHARS)
        self.render_mode = render_mode
        self.session: Session | None = None
        self.messages: list[dict[str, Any]] = []
        self._ended = True
        self._steps = self._chars = 0
        self._result = ""
        self._info: dict[str, Any] = {}
        self._timing: dict[str, float] = {}

    @property
    def bench(self) -> Workbench:
        """The task at hand."""
        assert self.session is not None
        return self.session.bench

    @property
    def timing(self) -> dict[str, float]:
        """Seconds that the last reset and step took, and that builds took so far."""
        return dict(self._timing)

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[dict[str, Any], dict[str, Any]]:
        """Start an episode (raises ValueError for unknown options or tasks, NotPrepared)."""
        super().reset(seed=seed)
        started = time.perf_counter()
        task = self.episodes.choose(self.np_random, options)
        self.session = Session(load_workbench(task, self.episodes.runtime))
        self._steps = self._chars = 0
        self._ended, self._result = False, ""
        self._info = self.episodes.info(task)
        observation = self._observe()
        self.messages = [
            {"role": "system", "content": observation["instruction"]},
            {"role": "user", "content": f"{observation['stage']}\n{observation['log']}"},
        ]
        self._timing = {"reset": time.perf_counter() - started}
        self._show(None)
        return observation, dict(self._info)

    def step(self, action: str) -> tuple[dict[str, Any], float, bool, bool, dict[str, Any]]:
        """Carry out one call."""
        if self.session is None or self._ended:
            raise gymnasium.error.ResetNeeded("call reset() before step()")
        started = time.perf_counter()
        self._steps += 1
        written = action if isinstance(action, str) else repr(action)
        written = written.encode(errors="replace").decode()  # for transcripts and terminals
        self._info = self.episodes.info(self.bench.task)
        reward, terminated = self._carry_out(action, written)
        reward -= self._step_cost
        truncated = not terminated and self._spent()
        self._ended = terminated or truncated
        self._timing |= {
            "step": time.perf_counter() - started,
            "builds": self.session.build_seconds,
        }
        self._show(written)
        return self._observe(), reward, terminated, truncated, dict(self._info)

    def _carry_out(self, action: str, written: str) -> tuple[float, bool]:
        assert self.session is not None
        try:
            call = parse_call(action, TOOLS)
        except CallError as error:
            self._say(None, written, f"error: {error}", error=True)
            return 0.0, False
        if call.tool == "submit":
            if self.session.built is None:
                text = "error: build first: what was changed since the last build is not built"
                self._say(call, written, text, error=True)
                return 0.0, False
            return self._submit(call, written), True
        answer = self.session.answer(call)
        self._say(call, written, answer.text, error=answer.error)
        if self.session.failure is not None:
            self._info |= {"reward_valid": False, "failure_reason": self.session.failure}
        return 0.0, False

    def _submit(self, call: Call, action: str) -> float:
        assert self.session is not None
        graded = grade_state(self.session, self.episodes.reward)
        if self._second is not None:
            graded, opinion = second_opinion(self.session, graded, self._second)
            if opinion is not None:
                self._info["second_judge"] = {"lost": opinion.lost, "answer": opinion.text}
        self._info |= info_of(graded)
        verdict = "resolved" if graded.resolved else graded.explanation or "not resolved"
        self._say(call, action, verdict, error=False)
        return graded.reward

    def _say(self, call: Call | None, action: str, text: str, *, error: bool) -> None:
        """Answer a call, in the observation and in the transcript."""
        left = max(0, self._limits[2] - self._chars)
        limit = min(_RESULT_CHARS, left)
        if len(text) > limit:
            note = f"\n… {len(text) - limit} characters more were cut off"
            text = (text[: max(0, limit - len(note))] + note)[:limit]
        self._result = text
        self._chars += len(text)
        if error:
            self._info["action_error"] = text
        name = f"call_{self._steps}"
        if call is None:
            self.messages += [
                {"role": "assistant", "content": action[:_RESULT_CHARS]},
                {"role": "user", "content": text},
            ]
            return
        function = {"name": call.tool, "arguments": json.dumps(dict(call.arguments))}
        asked = {"id": name, "type": "function", "function": function}
        self.messages += [
            {"role": "assistant", "content": "", "tool_calls": [asked]},
            {"role": "tool", "tool_call_id": name, "content": text},
        ]

    def _spent(self) -> bool:
        steps, seconds, chars = self._left()
        return steps <= 0 or seconds <= 0 or chars <= 0

    def _left(self) -> tuple[int, int, int]:
        assert self.session is not None
        steps, seconds, chars = self._limits
        left = (steps - self._steps, seconds - self.session.build_seconds, chars - self._chars)
        return tuple(max(0, int(value)) for value in left)  # type: ignore[return-value]

    def _observe(self) -> dict[str, Any]:
        assert self.session is not None and self.session.last is not None
        last = self.session.last
        return {
            "instruction": instruction_of(self.bench)[:_INSTRUCTION_CHARS],
            "stage": last.stage or "",
            "log": last.log[:_LOG_CHARS],
            "result": self._result,
            "touched": "\n".join(self.session.touched)[:_TOUCHED_CHARS],
            "budget": np.array(self._left(), np.int64),
        }

    def _show(self, action: str | None) -> None:
        self._shown = action
        if self.render_mode == "human":
            self.render()

    def render(self) -> str | None:
        """The last call and its answer: text in mode ``ansi``, printed in mode ``human``."""
        if self.render_mode is None or self.session is None:
            return None
        panels = loop_panels(self.bench.task.id, self._observe(), self._shown)
        if self.render_mode == "ansi":
            return as_text(panels)
        Console().print(panels)
        return None
