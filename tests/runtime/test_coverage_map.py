"""The map from lines to tests, against a plain model of it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from gym_codefix.runtime import CoverageMap

TESTS = tuple(f"tests/t.py::test_{letter}" for letter in "abcdef")
FIXTURES = ("one", "two")
CONTEXTS = ("", *TESTS, *(f"fixture:{name}" for name in FIXTURES))
PATH = "pkg/a.py"
LAST_LINE = 12


@dataclass
class Model:
    """Which contexts ran each line, who uses each fixture, who imports, who starts processes."""

    lines: dict[int, frozenset[str]]
    users: dict[str, frozenset[str]]
    importing: frozenset[str]
    spawning: frozenset[str]

    def document(self) -> dict[str, Any]:
        """As a worker reports it."""
        sets = sorted({self._mask(names) for names in self.lines.values()})
        return {
            "contexts": list(CONTEXTS),
            "sets": [f"{mask:x}" for mask in sets],
            "files": {
                PATH: {str(n): sets.index(self._mask(c)) for n, c in self.lines.items()},
            },
            "fixtures": {
                test: [name for name in FIXTURES if test in self.users[name]] for test in TESTS
            },
            "importing": sorted(self.importing),
            "spawning": sorted(self.spawning),
        }

    @staticmethod
    def _mask(names: frozenset[str]) -> int:
        return sum(1 << CONTEXTS.index(name) for name in names)

    def tests(self, line: int) -> frozenset[str]:
        """The tests that run a line themselves or over a fixture."""
        found: set[str] = set()
        for name in self.lines.get(line, ()):
            if name.startswith("fixture:"):
                found |= self.users[name.removeprefix("fixture:")]
            elif name:
                found.add(name)
        return frozenset(found)


some_tests = st.frozensets(st.sampled_from(TESTS))
models = st.builds(
    Model,
    lines=st.dictionaries(
        st.integers(1, LAST_LINE), st.frozensets(st.sampled_from(CONTEXTS), min_size=1)
    ),
    users=st.fixed_dictionaries(dict.fromkeys(FIXTURES, some_tests)),
    importing=some_tests,
    spawning=st.frozensets(st.sampled_from(TESTS), max_size=1),
)
ranges = st.tuples(st.integers(1, LAST_LINE), st.integers(1, LAST_LINE)).map(sorted)


@given(models, ranges)
def test_tests_that_reach_a_range(model: Model, span: list[int]) -> None:
    first, last = span
    expected = frozenset().union(*(model.tests(n) for n in range(first, last + 1)))
    found = CoverageMap(model.document()).tests_reaching(PATH, first, last)
    assert found == expected | model.spawning


@given(models, ranges)
def test_lines_that_ran_while_modules_were_imported(model: Model, span: list[int]) -> None:
    first, last = span
    during_import = {"", *model.importing}
    expected = any(model.lines.get(n, frozenset()) & during_import for n in range(first, last + 1))
    assert CoverageMap(model.document()).ran_at_import(PATH, first, last) == expected
    assert CoverageMap(model.document(), trust_imports=False).ran_at_import(PATH, first, last)


@given(models)
def test_the_tests_of_each_line(model: Model) -> None:
    coverage = CoverageMap(model.document())
    assert coverage.files() == (PATH,)
    assert coverage.lines(PATH) == frozenset(model.lines)
    assert coverage.tests_by_line(PATH) == {n: model.tests(n) for n in model.lines}
    assert coverage.always == model.spawning


@given(models)
def test_a_file_that_never_ran(model: Model) -> None:
    coverage = CoverageMap(model.document())
    assert coverage.lines("pkg/other.py") == frozenset()
    assert coverage.tests_by_line("pkg/other.py") == {}
    assert coverage.tests_reaching("pkg/other.py", 1, 9) == model.spawning
    assert not coverage.ran_at_import("pkg/other.py", 1, 9)
