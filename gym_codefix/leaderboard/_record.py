"""One episode as it is published: enough to replay it with no model."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any, Protocol

from gym_codefix.leaderboard._json import canonical_json, rounded

SPENT = ("tokens", "seconds", "cost")
FLAGS = ("overfit", "tampering", "malformed", "refused")
# Gold's action is third-party code: published as the fact of which task it repairs.
REFERENCE_PREFIX = "reference:"
REFERENCE_AGENT = "gold"


class SuiteTask(Protocol):
    """What the leaderboard needs to know of a task of a suite."""

    @property
    def id(self) -> str: ...
    @property
    def kind(self) -> str: ...
    @property
    def repository(self) -> str: ...
    @property
    def level(self) -> int | None: ...
    @property
    def label(self) -> str | None: ...
    @property
    def date(self) -> str | None: ...
    @property
    def split(self) -> str: ...


@dataclass(frozen=True, kw_only=True)
class EpisodeRecord:
    """One episode: what was asked, what the agent wrote, what the environment decided.

    Floats are kept to six decimals, so that a record read back equals the one written.
    Tokens, seconds and cost (US dollars) are ``None`` where they were not measured.
    ``verdict`` holds ``log_sha256`` (hex, or ``None`` where nothing ran) and ``tests``
    (outcome -> number of tests), and may hold more facts.

    Raises:
        ValueError: when the fields contradict each other.
    """

    env_id: str
    task_id: str
    kind: str
    repository: str
    level: int | None = None
    label: str | None = None
    split: str
    date: str | None = None
    seed: int
    attempt: int = 0
    action: str
    action_error: str | None = None
    reward: float
    reward_parts: Mapping[str, float]
    resolved: bool
    reward_valid: bool = True
    failure_reason: str | None = None
    overfit: bool = False
    tampering: bool = False
    malformed: bool = False
    refused: bool = False
    isolation: str
    verdict: Mapping[str, Any]
    tokens: int | None = None
    seconds: float | None = None
    cost: float | None = None

    def __post_init__(self) -> None:
        parts = {name: rounded(part) for name, part in self.reward_parts.items()}
        object.__setattr__(self, "reward_parts", parts)
        object.__setattr__(self, "reward", rounded(self.reward))
        for name in ("seconds", "cost"):
            if getattr(self, name) is not None:
                object.__setattr__(self, name, rounded(getattr(self, name)))
        if self.attempt < 0:
            raise ValueError(f"attempt is {self.attempt}; attempts count from 0")
        if not self.reward_valid and not self.failure_reason:
            raise ValueError("an invalid reward needs a failure_reason")
        if self.resolved and not self.reward_valid:
            raise ValueError("resolved, but its reward is not valid")
        if not self.reward_valid and self.reward > 0:
            raise ValueError("a reward that is not valid cannot pay")
        for flag in FLAGS:
            if self.resolved and getattr(self, flag):
                raise ValueError(f"both resolved and {flag}")

    def to_dict(self) -> dict[str, Any]:
        """The record as JSON values."""
        plain = {field.name: getattr(self, field.name) for field in fields(self)}
        return plain | {
            "reward_parts": dict(self.reward_parts),
            "verdict": dict(self.verdict),
        }

    def to_line(self) -> str:
        """The record as its one line of canonical JSON, without the newline."""
        return canonical_json(self.to_dict())


def task_facts(task: SuiteTask) -> dict[str, Any]:
    """The fields that every record of ``task`` must repeat."""
    return {
        "kind": task.kind,
        "repository": task.repository,
        "level": task.level,
        "label": task.label,
        "split": task.split,
        "date": task.date,
    }
