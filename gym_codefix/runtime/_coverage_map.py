"""Which tests run which lines, from one run with a coverage context per test."""

from __future__ import annotations

import functools
from collections.abc import Iterable, Mapping
from typing import Any

_FIXTURE = "fixture:"


class CoverageMap:
    """Answers over the ``contexts`` report of a worker (``worker.tracing``)."""

    def __init__(self, document: Mapping[str, Any], *, trust_imports: bool = True) -> None:
        """``trust_imports``: whether import-time lines were measured at all."""
        self._names: list[str] = document["contexts"]
        self._masks = [int(mask, 16) for mask in document["sets"]]
        self._files: Mapping[str, Mapping[str, int]] = document["files"]
        self._fixtures: Mapping[str, list[str]] = document["fixtures"]
        self._importing = frozenset(document["importing"])
        self._trust_imports = trust_imports
        self.always = frozenset(document["spawning"])

    @functools.cached_property
    def _users(self) -> dict[str, frozenset[str]]:
        users: dict[str, set[str]] = {}
        for test, names in self._fixtures.items():
            for name in names:
                users.setdefault(name, set()).add(test)
        return {name: frozenset(tests) for name, tests in users.items()}

    @functools.cached_property
    def _import_mask(self) -> int:
        """Contexts in which modules of the repository were imported."""
        return sum(
            1 << index
            for index, name in enumerate(self._names)
            if not name or name in self._importing
        )

    def _mask(self, path: str, lines: Iterable[int]) -> int:
        found = self._files.get(path, {})
        mask = 0
        for line in lines:
            index = found.get(str(line))
            if index is not None:
                mask |= self._masks[index]
        return mask

    def _tests(self, mask: int) -> frozenset[str]:
        tests: set[str] = set()
        while mask:
            low = mask & -mask
            name = self._names[low.bit_length() - 1]
            mask ^= low
            if name.startswith(_FIXTURE):
                tests |= self._users.get(name.removeprefix(_FIXTURE), frozenset())
            elif name:
                tests.add(name)
        return frozenset(tests)

    def tests_reaching(self, path: str, first: int, last: int) -> frozenset[str]:
        """Tests that run a line of ``first..last`` (1-based, inclusive) or start processes."""
        return self._tests(self._mask(path, range(first, last + 1))) | self.always

    def ran_at_import(self, path: str, first: int, last: int) -> bool:
        """Whether a line of the range ran while modules were imported or tests collected."""
        if not self._trust_imports:
            return True
        return bool(self._mask(path, range(first, last + 1)) & self._import_mask)

    def files(self) -> tuple[str, ...]:
        """Measured files."""
        return tuple(self._files)

    def lines(self, path: str) -> frozenset[int]:
        """Every executed line of a file."""
        return frozenset(int(line) for line in self._files.get(path, ()))

    def tests_by_line(self, path: str) -> Mapping[int, frozenset[str]]:
        """The tests that run each executed line."""
        cache: dict[int, frozenset[str]] = {}
        result = {}
        for line, index in self._files.get(path, {}).items():
            if index not in cache:
                cache[index] = self._tests(self._masks[index])
            result[int(line)] = cache[index]
        return result
