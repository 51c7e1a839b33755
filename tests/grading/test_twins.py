from __future__ import annotations

import ast
import re
import subprocess
import sys
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gym_codefix.grading.twins import (
    KINDS,
    TwinSite,
    append_failure,
    break_assertion,
    twin_sites,
)
from gym_codefix.grading.twins._vary import varied

TESTS = """\
import unittest
import warnings

import pytest


class AlmostBase:
    def test_inherited(self):
        assert 1 == 1


class TestPlain(AlmostBase):
    def helper(self, value):
        assert value == 3

    def test_helper(self):
        self.helper(3)

    def test_compare(self):
        é = "x"
        assert é == "x", "message"

    def test_identity(self):
        assert (None) is None
        assert (1 == 1) is True


def test_literals():
    for value in (1, -2, 1.5, "a", b"a", [1], (1,), (), {1}, {}, {"a": 1}, True, None):
        assert value == value
    assert 3 == 3; assert -2 == -2; assert [] == []
    assert (1, 2) == (1, 2)
    assert {"a": 1} == {"a": 1}
    assert {1} == {1}
    assert b"x" == b"x"
    assert 0.0 == 0.0


def test_multiline():
    text = "ab"
    assert (
        text
        == "a"
        "b"
    )
    assert text in [
        "ab",
    ]
    assert "a" in text
    assert not (text ==
                "c"), text


def test_raises():
    with pytest.raises(
        ValueError,
        match="invalid",
    ):
        int("x")
    with pytest.warns(UserWarning):
        warnings.warn("w")
    pytest.raises((ValueError, KeyError), int, "x")


def assert_close(left, right):
    if left != right:
        raise AssertionError


def test_call():
    assert_close(1, 1)


class TestUnit(unittest.TestCase):
    def test_pairs(self):
        self.assertEqual(1, 1)
        self.assertTrue([1])
        self.assertIn(1, [1])
        self.assertNotEqual(1, 2)
        self.assertIsNone(None)
        self.assertCountEqual([1, 2], [2, 1])
        self.assertListEqual([1], [1])
        self.assertLess(1, 2)
        self.assertAlmostEqual(1.0, 1.0)
        with self.assertRaises(ValueError) as caught:
            int("x")
        self.assertIsInstance(caught.exception, ValueError)
        self.assertRaises(ValueError, int, "x")
"""

NAMES = (
    "TestPlain.test_inherited",
    "TestPlain.test_helper",
    "TestPlain.test_compare",
    "TestPlain.test_identity",
    "test_literals",
    "test_multiline",
    "test_raises",
    "test_call",
    "TestUnit.test_pairs",
)

TWINS = [(name, site) for name in NAMES for site in twin_sites(TESTS, name)]

BODIES = {
    "simple": "    f()\n",
    "comment": "    f()  # why\n",
    "return": "    return f()\n",
    "docstring": '    """Nothing\n    more."""\n',
    "one line": None,
    "semicolon": "    f(); g = 1;\n",
    "after compound": "    f()\n    for x in ():\n        f()\n",
    "with": "    with open(__file__) as a, open(__file__) as b:\n        f()\n",
    "for": "    for x in 1, *(2, 3):\n        f()\n",
    "if": "    if x := f():\n        f()\n    elif 1:\n        f()\n",
    "while": "    while (not\n           1):\n        f()\n",
    "match": "    match 1:\n        case _:\n            f()\n",
    "try": "    try:\n        f()\n    except Exception:\n        pass\n",
    "finally": "    try:\n        f()\n    finally:\n        f()\n",
    "class": "    class A:\n        if 1:\n            f()\n",
    "raises": "    import pytest\n    with pytest.raises(ValueError):\n        int('x')\n",
}


def file_of(body: str | None) -> str:
    head = "def f():\n    pass\n\n\n"
    tail = "\n\ndef test_other():\n    f()\n"
    return head + ("def test_x(): f()\n" if body is None else f"def test_x():\n{body}") + tail


def run_all(folder: Path, files: dict[str, str]) -> dict[str, set[str]]:
    """Names of the tests that fail in each file, from one run of pytest."""
    for name, text in files.items():
        (folder / f"test_{name}.py").write_text(text, encoding="utf-8")
    command = [sys.executable, "-m", "pytest", "-q", "-rfE", "--tb=no", "-p", "no:cacheprovider"]
    done = subprocess.run(
        [*command, "-W", "ignore", "--rootdir", str(folder), str(folder)],
        capture_output=True,
        text=True,
        cwd=folder,
        check=False,
    )
    assert "ERROR" not in done.stdout, done.stdout
    failed: dict[str, set[str]] = {name: set() for name in files}
    for name, test in re.findall(r"^FAILED test_(\w+)\.py::([\w:]+)", done.stdout, re.MULTILINE):
        failed[name].add(test.replace("::", "."))
    return failed


def test_exactly_the_broken_test_fails(tmp_path: Path) -> None:
    files = {f"t{n}": break_assertion(TESTS, site) for n, (_, site) in enumerate(TWINS)}
    failed = run_all(tmp_path, {"whole": TESTS, **files})
    assert failed.pop("whole") == set()
    wrong = {n: (TWINS[int(n[1:])], f) for n, f in failed.items() if f != {TWINS[int(n[1:])][0]}}
    assert wrong == {}
    assert {site.kind for _, site in TWINS} == set(KINDS)


def test_an_always_equal_value_passes_an_operand_twin(tmp_path: Path) -> None:
    text = (
        "class Any:\n    def __eq__(self, other):\n        return True\n\n\n"
        "def test_x():\n    assert Any() == 3\n"
    )
    sites = {site.kind: site for site in twin_sites(text, "test_x")}
    files = {kind: break_assertion(text, site) for kind, site in sites.items()}
    failed = run_all(tmp_path, files)
    assert failed == {"negate": {"test_x"}, "operand": set()}


@pytest.mark.parametrize("name, site", TWINS)
def test_only_lines_of_the_assertion_change(name: str, site: TwinSite) -> None:
    broken = break_assertion(TESTS, site)
    old, new = TESTS.split("\n"), broken.split("\n")
    assert len(old) == len(new)
    (end,) = {
        max(node.end_lineno or 0, site.line)
        for node in ast.walk(ast.parse(TESTS))
        if isinstance(node, (ast.Assert, ast.Call))
        and node.lineno == site.line
        and len(TESTS.split("\n")[node.lineno - 1].encode()[: node.col_offset].decode())
        == site.column
    }
    changed = [n for n, (a, b) in enumerate(zip(old, new, strict=True), 1) if a != b]
    assert changed and all(site.line <= n <= end for n in changed)
    assert [n.name for n in ast.walk(ast.parse(broken)) if isinstance(n, ast.FunctionDef)] == [
        n.name for n in ast.walk(ast.parse(TESTS)) if isinstance(n, ast.FunctionDef)
    ]


def test_straight_assertions_come_before_conditional_ones_and_helpers() -> None:
    text = (
        "def check_it(x):\n    assert x\n\n\n"
        "def test_x():\n    if f:\n        assert 1 < 2\n    check_it(1)\n    assert 2 < 3\n"
    )
    assert [site.line for site in twin_sites(text, "test_x")] == [8, 9, 7, 2]


def test_shadowed_builtins_are_avoided(tmp_path: Path) -> None:
    text = (
        "import pytest\n\n\n@pytest.mark.parametrize('type, object', [(1, 2)])\n"
        "def test_x(type, object):\n    assert type == type\n"
        "    with pytest.raises(ValueError):\n        int('x')\n"
    )
    sites = twin_sites(text, "test_x")
    files = {f"t{n}": break_assertion(text, site) for n, site in enumerate(sites)}
    assert all("().__class__" in new for new in files.values() if "not (" not in new)
    assert set(map(frozenset, run_all(tmp_path, files).values())) == {frozenset({"test_x"})}


def test_append_makes_exactly_that_test_fail(tmp_path: Path) -> None:
    files = {key.replace(" ", "_"): file_of(body) for key, body in BODIES.items()}
    broken = {key: append_failure(text, "test_x") for key, text in files.items()}
    for key, text in files.items():
        old, new = text.split("\n"), broken[key].split("\n")
        assert len(old) == len(new)
        assert sum(a != b for a, b in zip(old, new, strict=True)) <= 2
    assert run_all(tmp_path, broken) == {key: {"test_x"} for key in files}


def test_append_refuses_what_it_cannot_do() -> None:
    with pytest.raises(ValueError, match="test_missing"):
        append_failure("x = 1\n", "test_missing")
    with pytest.raises(ValueError, match="only defines functions"):
        append_failure("def test_x():\n    def g():\n        pass\n", "test_x")


def test_no_function_no_sites_and_a_foreign_site_is_an_error() -> None:
    assert twin_sites("x = 1\n", "test_x") == []
    assert twin_sites("x = 1\n", "TestX.test_x") == []
    with pytest.raises(ValueError, match="no assertion to break"):
        break_assertion("x = 1\n", TwinSite(1, 0, "negate", ""))


def test_sites_survive_json() -> None:
    for _, site in TWINS:
        assert TwinSite.from_json(site.to_json()) == site
    with pytest.raises(ValueError, match="valid: negate, operand"):
        TwinSite.from_json({"line": 1, "column": 0, "kind": "other", "variant": ""})
    with pytest.raises(ValueError, match="has the fields"):
        TwinSite.from_json({"line": 1})


_VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False)
    | st.text(max_size=8)
    | st.binary(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.tuples(inner, inner) | st.tuples(inner),
    max_leaves=5,
)


@settings(max_examples=150)
@given(value=_VALUES, newline=st.sampled_from(["\n", "\r\n"]), indent=st.sampled_from(["", "é="]))
def test_any_literal_is_replaced_by_something_else(
    value: object, newline: str, indent: str
) -> None:
    inf = {"inf": float("inf")}
    head = f"def test_x():{newline}    {indent + '1; ' if indent else ''}"
    text = f"{head}assert value == ({newline}{value!r}){newline}"
    for site in twin_sites(text, "test_x"):
        space: dict[str, object] = {"value": value, **inf}
        broken = break_assertion(text, site)
        assert broken.count("\n") == text.count("\n")
        exec(compile(broken, "twin", "exec"), space)
        with pytest.raises(AssertionError):
            space["test_x"]()  # type: ignore[operator]


@pytest.mark.parametrize(
    "assertion",
    [
        "assert f(1) == f(2)",
        "assert [x for x in f(3)] == wanted",
        "assert f(1) in f(2)",
        "assert f(1) is f(2)",
        "assert_same(f(1), f(2))",
        "self.assertEqual(f(1), f(2))",
        "assert f(\n        1\n    ) == f(2)  # why\n",
    ],
)
def test_a_twin_still_runs_what_the_assertion_calls(assertion: str) -> None:
    """A forgery that sits in the code under test must get its chance to show itself."""
    source = f"def test_x(f, wanted, self, assert_same):\n    {assertion}\n"
    sites = [site for site in twin_sites(source, "test_x") if site.kind in ("operand", "call")]
    assert sites
    for site in sites:
        broken = ast.parse(break_assertion(source, site))
        calls = [node for node in ast.walk(broken) if isinstance(node, ast.Call)]
        names = [getattr(node.func, "id", None) for node in calls]
        assert names.count("f") == source.count("f(", source.index("\n"))


class _Plain:
    def __init__(self, *values: object) -> None:
        self.first, self.rest = values[0], values[1:]

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Plain) and vars(self) == vars(other)

    __hash__ = None  # type: ignore[assignment]


class _Slots:
    __slots__ = ("x", "y")

    def __init__(self, x: object, y: object) -> None:
        self.x, self.y = x, y

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Slots) and (self.x, self.y) == (other.x, other.y)

    __hash__ = None  # type: ignore[assignment]


@dataclass(frozen=True)
class _Frozen:
    name: str
    amount: int


_SCALARS = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.floats(-1e300, 1e300),
    st.text(),
    st.binary(),
    st.decimals(-(10**9), 10**9),
    st.dates(max_value=date(9000, 1, 1)),
    st.datetimes(max_value=datetime(9000, 1, 1)),
    st.timedeltas(max_value=timedelta(days=9)),
)
_VALUES = st.recursive(
    _SCALARS,
    lambda inner: st.one_of(
        st.lists(inner, max_size=3),
        st.lists(inner, max_size=3).map(tuple),
        st.dictionaries(st.text(max_size=2), inner, max_size=3),
        st.sets(st.integers(), max_size=3),
        st.lists(inner, min_size=1, max_size=3).map(lambda items: _Plain(*items)),
        st.builds(_Slots, inner, inner),
        st.builds(_Frozen, st.text(), st.integers()),
    ),
    max_leaves=5,
)


@given(_VALUES)
def test_a_varied_value_differs_and_has_the_same_type(value: object) -> None:
    found = eval(varied("value"), {"value": value})
    assert not (found == value)  # noqa: SIM201 - the classes above define == only
    assert value is None or type(found) is type(value)
    if isinstance(value, list | tuple | dict) and value:
        assert len(found) == len(value)


def test_a_varied_value_is_made_without_the_code_of_its_class() -> None:
    class Watchful:
        def __new__(cls, *arguments: object) -> Watchful:
            made.append(cls)
            return super().__new__(cls)

        def __init__(self, value: int) -> None:
            made.append(value)
            self.value = value

    made: list[object] = []
    value = Watchful(3)
    made.clear()
    found = eval(varied("value"), {"value": value})
    assert type(found) is Watchful and found.value == 4 and value.value == 3 and not made
