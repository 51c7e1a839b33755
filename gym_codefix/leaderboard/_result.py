"""One leaderboard row."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

SCHEMA_VERSION = 2
STATUSES = ("self-reported", "replayed", "retrained")
REFERENCE_AGENTS = ("gold", "noop", "random")


def python_version() -> str:
    """Major and minor version of the Python that runs this."""
    return ".".join(map(str, sys.version_info[:2]))


@dataclass(frozen=True)
class Estimate:
    """A value with its 95% interval."""

    value: float
    low: float
    high: float


@dataclass(frozen=True)
class EstimateAtK(Estimate):
    """An estimate for the best of ``k`` attempts, made from ``n`` attempts a task."""

    k: int
    n: int


@dataclass(frozen=True)
class Group:
    """resolved@1 over the tasks of one group."""

    name: str
    tasks: int
    resolved_at_1: Estimate


@dataclass(frozen=True)
class Spent:
    """A cost of the whole run and its mean over episodes; ``None`` where not measured."""

    total: float | None
    mean: float | None


@dataclass(frozen=True)
class Metrics:
    """Everything computed from the records."""

    resolved_at_1: Estimate
    pass_at_k: tuple[EstimateAtK, ...]
    reward_mean: Estimate
    reward_interquartile_mean: Estimate
    reward_max_at_k: tuple[EstimateAtK, ...]
    by_kind: tuple[Group, ...]
    by_repository: tuple[Group, ...]
    by_level: tuple[Group, ...]
    by_release_year: tuple[Group, ...]
    tokens: Spent
    seconds: Spent
    cost: Spent
    steps: Spent  # of environments with more than one
    builds: Spent


@dataclass(frozen=True)
class Counts:
    """Numbers of episodes (``tasks`` apart). Invalid ones are never resolved."""

    tasks: int
    episodes: int
    resolved: int
    invalid: int
    overfit: int
    tampering: int
    malformed: int
    refused: int


@dataclass(frozen=True)
class SuiteRef:
    """A suite by name and content hash."""

    name: str
    hash: str


@dataclass(frozen=True)
class EnvironmentRef:
    """An environment by its full id, and the version that the id ends in."""

    id: str
    version: int


@dataclass(frozen=True)
class GitRef:
    """The code that ran; ``commit`` is ``None`` outside a git checkout."""

    commit: str | None
    dirty: bool


@dataclass(frozen=True)
class RecordsRef:
    """The records file (beside the result) and its sha256."""

    file: str
    sha256: str


@dataclass(frozen=True)
class Intervals:
    """How the intervals were made."""

    method: str
    confidence: float
    resamples: int
    seed: int


@dataclass(frozen=True)
class Result:
    """One leaderboard row, recomputed from its episode records."""

    schema_version: int
    agent: str
    parameters: Mapping[str, Any]
    seeds: tuple[int, ...]
    suite: SuiteRef
    environments: tuple[EnvironmentRef, ...]
    git: GitRef
    lock_sha256: str
    python: str  # major and minor version: logs are worded by it
    isolation: tuple[str, ...]
    counts: Counts
    metrics: Metrics
    intervals: Intervals
    status: str
    records: RecordsRef
    command: str

    @property
    def is_reference(self) -> bool:
        """Whether this is one of the rows that stand on every board."""
        return self.agent in REFERENCE_AGENTS

    @property
    def board(self) -> tuple[SuiteRef, str]:
        """Rows of one board can be ranked: its suite, and the environment's name."""
        names = (each.id.partition("/")[2] or each.id for each in self.environments)
        return self.suite, ", ".join(names)

    def to_dict(self) -> dict[str, Any]:
        """The result as JSON values."""
        plain: dict[str, Any] = _listed(asdict(self))
        return plain

    @classmethod
    def from_dict(cls, value: Mapping[str, Any]) -> Result:
        """The result of JSON values that the schema has accepted (see ``validate_result``)."""
        rest = dict(value)
        return cls(
            seeds=tuple(rest.pop("seeds")),
            suite=SuiteRef(**rest.pop("suite")),
            environments=tuple(EnvironmentRef(**each) for each in rest.pop("environments")),
            git=GitRef(**rest.pop("git")),
            isolation=tuple(rest.pop("isolation")),
            counts=Counts(**rest.pop("counts")),
            metrics=_metrics(rest.pop("metrics")),
            intervals=Intervals(**rest.pop("intervals")),
            records=RecordsRef(**rest.pop("records")),
            **rest,
        )


def _metrics(value: Mapping[str, Any]) -> Metrics:
    return Metrics(
        resolved_at_1=Estimate(**value["resolved_at_1"]),
        pass_at_k=_at_k(value["pass_at_k"]),
        reward_mean=Estimate(**value["reward_mean"]),
        reward_interquartile_mean=Estimate(**value["reward_interquartile_mean"]),
        reward_max_at_k=_at_k(value["reward_max_at_k"]),
        by_kind=_groups(value["by_kind"]),
        by_repository=_groups(value["by_repository"]),
        by_level=_groups(value["by_level"]),
        by_release_year=_groups(value["by_release_year"]),
        tokens=Spent(**value["tokens"]),
        seconds=Spent(**value["seconds"]),
        cost=Spent(**value["cost"]),
        steps=Spent(**value["steps"]),
        builds=Spent(**value["builds"]),
    )


def _at_k(values: Sequence[Mapping[str, Any]]) -> tuple[EstimateAtK, ...]:
    return tuple(EstimateAtK(**each) for each in values)


def _groups(values: Sequence[Mapping[str, Any]]) -> tuple[Group, ...]:
    return tuple(
        Group(each["name"], each["tasks"], Estimate(**each["resolved_at_1"])) for each in values
    )


def _listed(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _listed(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_listed(item) for item in value]
    return value
