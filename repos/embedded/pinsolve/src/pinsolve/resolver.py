"""Choose one version of each package such that all constraints hold."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from pinsolve.constraint import Constraint, parse_constraint
from pinsolve.version import Version


class ResolutionError(ValueError):
    """No choice of versions fits. `package` is where the search failed last."""

    def __init__(self, package: str, message: str) -> None:
        super().__init__(message)
        self.package = package


@dataclass(frozen=True)
class _Demand:
    """`origin` wants `constraint` of a package."""

    origin: str
    constraint: Constraint


class Index:
    """The packages there are: their versions, and what each version needs."""

    def __init__(self) -> None:
        self._packages: dict[str, dict[Version, dict[str, Constraint]]] = {}
        self._yanked: set[tuple[str, Version]] = set()

    def add(
        self,
        name: str,
        version: str,
        needs: Mapping[str, str] | None = None,
        *,
        yanked: bool = False,
    ) -> None:
        """Add a version. A yanked one is chosen only where nothing else fits.

        Raises ValueError for a version added twice or a package that needs itself.
        """
        parsed = Version.parse(version)
        versions = self._packages.setdefault(name, {})
        if parsed in versions:
            raise ValueError(f"{name} {parsed} is there already")
        if needs and name in needs:
            raise ValueError(f"{name} {parsed} needs itself")
        versions[parsed] = {need: parse_constraint(text) for need, text in (needs or {}).items()}
        if yanked:
            self._yanked.add((name, parsed))

    def __contains__(self, name: str) -> bool:
        return name in self._packages

    def needs(self, name: str, version: Version) -> dict[str, Constraint]:
        """What a version needs. Raises KeyError for one that is not there."""
        return dict(self._packages[name][version])

    def candidates(self, name: str) -> list[Version]:
        """The versions of a package, the best first: newest to oldest, then those yanked."""
        newest_first = sorted(self._packages.get(name, ()), reverse=True)
        return sorted(newest_first, key=lambda version: (name, version) in self._yanked)


def resolve(
    index: Index,
    wanted: Mapping[str, str],
    *,
    preferred: Mapping[str, Version] | None = None,
    max_steps: int = 10_000,
) -> dict[str, Version]:
    """One version for each wanted package and all that they need, by name.

    The newest versions win; a `preferred` one (that of an old lock) wins over them where it fits.
    Raises ResolutionError if nothing fits, or after `max_steps` choices.
    """
    demands = {name: [_Demand("you", parse_constraint(text))] for name, text in wanted.items()}
    search = _Search(index, preferred or {}, max_steps)
    chosen = search.extend({}, demands)
    if chosen is None:
        raise search.failure()
    return dict(sorted(chosen.items()))


class _Search:
    def __init__(self, index: Index, preferred: Mapping[str, Version], max_steps: int) -> None:
        self._index = index
        self._preferred = preferred
        self._steps_left = max_steps
        self._failed: tuple[str, list[_Demand]] = ("", [])

    def extend(
        self, chosen: dict[str, Version], demands: dict[str, list[_Demand]]
    ) -> dict[str, Version] | None:
        """Complete a choice in which all demands on chosen packages hold, or None."""
        open_names = [name for name in demands if name not in chosen]
        if not open_names:
            return chosen
        options = {name: self._options(name, demands[name]) for name in open_names}
        # The package with the fewest options first: that is where a dead end shows soonest.
        name = min(open_names, key=lambda item: (len(options[item]), item))
        for version in options[name]:
            if self._steps_left == 0:
                raise ResolutionError(name, "gave up: too many combinations")
            self._steps_left -= 1
            merged = self._merge(name, version, chosen, demands)
            if merged is None:
                continue
            result = self.extend({**chosen, name: version}, merged)
            if result is not None:
                return result
        if not options[name]:
            self._failed = (name, demands[name])
        return None

    def failure(self) -> ResolutionError:
        name, demands = self._failed
        if name not in self._index:
            return ResolutionError(name, f"no package {name!r}, which {demands[0].origin} needs")
        reasons = "; ".join(f"{item.origin} wants {item.constraint}" for item in demands)
        return ResolutionError(name, f"no version of {name} fits: {reasons}")

    def _options(self, name: str, demands: list[_Demand]) -> list[Version]:
        # Each demand is asked by itself: a prerelease must be named by every one of them.
        fitting = [
            version
            for version in self._index.candidates(name)
            if all(demand.constraint.allows(version) for demand in demands)
        ]
        favourite = self._preferred.get(name)
        return sorted(fitting, key=lambda version: version != favourite)

    def _merge(
        self,
        name: str,
        version: Version,
        chosen: Mapping[str, Version],
        demands: Mapping[str, list[_Demand]],
    ) -> dict[str, list[_Demand]] | None:
        """The demands with those of a version added, or None if they rule out a chosen one."""
        merged = dict(demands)
        for need, constraint in self._index.needs(name, version).items():
            merged[need] = [*merged.get(need, ()), _Demand(f"{name} {version}", constraint)]
            if need in chosen and not constraint.allows(chosen[need]):
                self._failed = (need, merged[need])
                return None
        return merged
