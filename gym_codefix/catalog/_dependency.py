"""What a dependency task says of versions: which one moved, what broke, and what may mend it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from packaging.requirements import InvalidRequirement, Requirement
from packaging.utils import canonicalize_name
from packaging.version import InvalidVersion, Version

from ._errors import CatalogError

GOALS = {
    "resolve": "any versions with which the build is green",
    "migrate": "the new version stays, so the source must change",
}
STAGES = ("resolve", "install", "import", "collect", "test")


@dataclass(frozen=True)
class Dependency:
    """A distribution that moved from ``before``, with which the build is green, to ``after``.

    ``stage``: where the build breaks. ``pins``: the versions that the constraints have and the
    release's lock has not. ``floors``: requirements that an answer must satisfy besides the
    repository's own. ``solution``: for ``resolve``, the versions of the reference that the
    constraints have not.
    """

    goal: str
    moved: str
    before: str
    after: str
    stage: str
    pins: Mapping[str, str]
    floors: tuple[str, ...] = ()
    solution: Mapping[str, str] = field(default_factory=dict)

    @property
    def reverts(self) -> bool:
        """Whether putting the old version back is an answer."""
        return self.goal == "resolve" and not self.floors

    def to_json(self) -> dict[str, Any]:
        """A plain document without empty fields."""
        document = {**vars(self), "pins": dict(self.pins), "solution": dict(self.solution)}
        document["floors"] = list(self.floors)
        return {key: value for key, value in document.items() if value not in ([], {})}

    @classmethod
    def from_json(cls, document: Mapping[str, Any]) -> Dependency:
        """The facts of a document (raises CatalogError naming the valid values)."""
        facts = cls(**{**document, "floors": tuple(document.get("floors", ()))})
        if facts.goal not in GOALS:
            raise CatalogError(f"goal {facts.goal!r}; valid: {', '.join(GOALS)}")
        if facts.stage not in STAGES:
            raise CatalogError(f"stage {facts.stage!r}; valid: {', '.join(STAGES)}")
        if facts.pins.get(facts.moved) != facts.after:
            raise CatalogError(f"pins must have {facts.moved} at {facts.after}")
        if (facts.goal == "resolve") != bool(facts.solution):
            raise CatalogError("a solution belongs to the goal resolve, and only to that")
        try:
            for floor in facts.floors:
                Requirement(floor)
            for name, version in {**facts.pins, **facts.solution}.items():
                if canonicalize_name(name) != name:
                    raise CatalogError(f"{name!r} is not a canonical name")
                Version(version)
        except (InvalidRequirement, InvalidVersion, TypeError) as error:
            raise CatalogError(f"dependency: {error}") from None
        return facts
