"""Tasks as facts: how to rebuild one problem from pinned artifacts."""

from __future__ import annotations

import functools
import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from ._dependency import Dependency
from ._errors import CatalogError
from ._manifest import manifest
from .hunks import Hunk

KINDS = ("seeded", "release", "dependency")
LEVELS = {1: "one mutation", 2: "two mutations in one file", 3: "a removed branch or statement"}
LABELS = ("bugfix", "feature")


@dataclass(frozen=True)
class Task:
    """One problem in a repository.

    ``seeded``: ``mutations`` (facts, in the terms of grading.mutation) put into ``path``, whose
    sha256 before and after is pinned. ``release``: the source of ``release`` with the tests of
    ``next_release``; ``hunks`` of the diff between them are the reference repair. ``dependency``:
    ``release`` under other versions of what it needs; where the source must change,
    ``hunks`` of the diff to ``next_release`` are the reference, and the tests stay; where no later
    release has one, ``repair`` is: line edits written for this catalogue.

    ``flips``: the tests that must change from failing to passing; ``hidden`` of them are kept from
    the agent. ``twins``: assertions of the flips whose breaking was seen to fail under the
    reference.
    """

    kind: str
    repository: str
    release: str
    flips: tuple[str, ...]
    hidden: tuple[str, ...]
    level: int | None = None
    label: str | None = None
    date: str | None = None
    path: str | None = None
    sha256_before: str | None = None
    sha256_after: str | None = None
    mutations: tuple[Mapping[str, Any], ...] = ()
    next_release: str | None = None
    hunks: tuple[Hunk, ...] = ()
    repair: str | None = None
    dependency: Dependency | None = None
    twins: Mapping[str, tuple[Mapping[str, Any], ...]] = field(default_factory=dict)
    validation: Mapping[str, Any] = field(default_factory=dict)

    @functools.cached_property
    def id(self) -> str:
        """``repository/kind/digest`` of the facts that define the problem."""
        facts = self.to_json()
        for key in ("id", "flips", "hidden", "twins", "validation", "label"):
            facts.pop(key, None)
        return f"{self.repository}/{self.kind}/{_digest(facts)[:12]}"

    @property
    def split(self) -> str:
        """The split of its repository."""
        return manifest(self.repository).split

    @property
    def tests_release(self) -> str | None:
        """The release that the tests come from, when it is another one."""
        return self.next_release if self.kind == "release" else None

    @property
    def visible(self) -> tuple[str, ...]:
        """The flips that the agent may see."""
        hidden = set(self.hidden)
        return tuple(test for test in self.flips if test not in hidden)

    def to_json(self) -> dict[str, Any]:
        """A plain document without empty fields."""
        document: dict[str, Any] = {
            "kind": self.kind,
            "repository": self.repository,
            "release": self.release,
            "flips": list(self.flips),
            "hidden": list(self.hidden),
            "level": self.level,
            "label": self.label,
            "date": self.date,
            "path": self.path,
            "sha256_before": self.sha256_before,
            "sha256_after": self.sha256_after,
            "mutations": [dict(mutation) for mutation in self.mutations],
            "next_release": self.next_release,
            "hunks": [hunk.to_json() for hunk in self.hunks],
            "repair": self.repair,
            "dependency": self.dependency.to_json() if self.dependency else None,
            "twins": {test: [dict(site) for site in sites] for test, sites in self.twins.items()},
            "validation": dict(self.validation),
        }
        return {key: value for key, value in document.items() if value not in (None, [], {})}

    @classmethod
    def from_json(cls, document: Mapping[str, Any]) -> Task:
        """The task of a document.

        Raises CatalogError for missing, unknown and wrong keys, and for an ``id`` of other facts.
        """
        try:
            facts = dict(document)
            written_id = facts.pop("id", None)
            kind = facts["kind"]
            if kind not in KINDS:
                raise CatalogError(f"task kind {kind!r}; valid: {', '.join(KINDS)}")
            for key, tests in (("flips", facts["flips"]), ("hidden", facts.get("hidden", []))):
                if not isinstance(tests, list) or not all(isinstance(item, str) for item in tests):
                    raise CatalogError(f"{key} must be a list of node ids, not {tests!r}")
                facts[key] = tuple(tests)
            facts["mutations"] = tuple(facts.get("mutations", ()))
            facts["hunks"] = tuple(Hunk.from_json(hunk) for hunk in facts.get("hunks", ()))
            if "dependency" in facts:
                facts["dependency"] = Dependency.from_json(facts["dependency"])
            facts["twins"] = {test: tuple(sites) for test, sites in facts.get("twins", {}).items()}
            task = cls(**facts)
        except KeyError as error:
            raise CatalogError(f"not a task: the key {error} is missing") from None
        except (TypeError, AttributeError) as error:
            raise CatalogError(f"not a task: {error}") from None
        if (task.kind == "dependency") != (task.dependency is not None):
            raise CatalogError("dependency facts belong to the kind dependency, and only to that")
        migrates = task.dependency is not None and task.dependency.goal == "migrate"
        if task.repair is not None and (not migrates or task.hunks):
            raise CatalogError("a repair belongs to the goal migrate where there are no hunks")
        if not set(task.hidden) < set(task.flips):
            raise CatalogError("flips must not be empty, and hidden only some of them")
        if written_id is not None and written_id != task.id:
            raise CatalogError(f"id {written_id!r} does not fit these facts, whose id is {task.id}")
        return task


def _digest(document: object) -> str:
    text = json.dumps(document, sort_keys=True, separators=(",", ":"), ensure_ascii=True)
    return hashlib.sha256(text.encode()).hexdigest()


def facts_digest(tasks: list[Task]) -> str:
    """sha256 over the facts of tasks in their order: the same on every machine."""
    return _digest([{"id": task.id, **task.to_json()} for task in tasks])


def hide_half(flips: tuple[str, ...]) -> tuple[str, ...]:
    """Every second flip in an order that only the names decide; none when there is but one."""
    ranked = sorted(flips, key=lambda test: hashlib.sha256(test.encode()).digest())
    return tuple(sorted(ranked[: len(flips) // 2]))
