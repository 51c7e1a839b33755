"""What is left of a module when an edit's functions alone are compiled."""

from __future__ import annotations

import argparse
import ast
import fractions
import inspect
import textwrap
from collections.abc import Iterator
from types import CodeType, ModuleType

import pytest

from gym_codefix.runtime.worker.reduce import Outline

TEXT = '''\
"""Documentation."""
from __future__ import annotations
LIMIT = 3

@decorated(
    1,
)
def first(x):
    return x + LIMIT

if LIMIT:
    def second(x):
        return x
else:
    def second(x):
        return -x

class Third:
    from os import path
    size = 1

    @property
    def area(self):
        return 2

    @area.setter
    def area(self, value):
        self.size = value

    def fourth(self):
        """A text
        over lines."""
        return [self.size for _ in range(3)]
'''


def test_what_an_edit_touches_stays_where_it_was() -> None:
    old, new = Outline(TEXT).reduced(TEXT.replace("x + LIMIT", "x - LIMIT"), ["first"]) or ("", "")
    assert [line for line in old.split("\n") if line] == TEXT.split("\n")[1:2] + TEXT.split("\n")[
        4:9
    ]
    assert new == old.replace("x + LIMIT", "x - LIMIT")
    assert ast.parse(new).body[1].lineno == 8


@pytest.mark.parametrize(
    ("old", "new", "changed"),
    [
        ("return x\n", "return 0\n", ["second"]),
        ("range(3)", "range(4)", ["Third.fourth"]),
        ("over lines", "over rows", ["Third.fourth"]),
    ],
)
def test_all_definitions_of_a_name_are_kept(old: str, new: str, changed: list[str]) -> None:
    assert old in TEXT
    found = Outline(TEXT).reduced(TEXT.replace(old, new), changed)
    assert found is not None and new in found[1] and "first" not in found[1]


@pytest.mark.parametrize(
    ("text", "changed"),
    [
        (TEXT.replace("LIMIT = 3", "LIMIT = 4"), ["first"]),
        (TEXT.replace("LIMIT = 3", "LIMIT = 3\n"), ["first"]),
        (TEXT.replace("range(3)", "range(4)"), ["first"]),
        (TEXT.replace("annotations", "division"), ["first"]),
        (TEXT, ["gone"]),
    ],
)
def test_an_edit_of_more_is_not_reduced(text: str, changed: list[str]) -> None:
    assert Outline(TEXT).reduced(text, changed) is None


def test_of_a_class_its_head_its_imports_and_the_method_are_kept() -> None:
    text = TEXT.replace("self.size = value", "self.size = 2 * value")
    old, new = Outline(TEXT).reduced(text, ["Third.area"]) or ("", "")
    assert new == old.replace("self.size = value", "self.size = 2 * value")
    tree = ast.parse(new).body[-1]
    assert isinstance(tree, ast.ClassDef) and [type(node).__name__ for node in tree.body] == [
        "ImportFrom",
        "FunctionDef",
        "FunctionDef",
    ]


@pytest.mark.parametrize(
    "text",
    ["class A: x = 1\n", "if B:\n    class A:\n        def x(self):\n            pass\n"],
)
def test_a_class_that_cannot_be_cut_is_kept_whole(text: str) -> None:
    assert Outline(text).reduced(text, ["A.x"]) == (text, text)


@pytest.mark.parametrize("end", ["\r\n", "\r"])
def test_every_end_of_line_counts_as_python_counts_it(end: str) -> None:
    text = TEXT.replace("\n", end)
    found = Outline(text).reduced(text.replace("x + LIMIT", "x - LIMIT"), ["first"])
    assert found is not None and ast.parse(found[1]).body[1].lineno == 8


def _codes(code: CodeType) -> Iterator[CodeType]:
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield constant
            yield from _codes(constant)


def _functions(body: list[ast.stmt], prefix: str) -> Iterator[str]:
    for node in body:
        if isinstance(node, ast.FunctionDef):
            yield prefix + node.name
        elif isinstance(node, ast.ClassDef):
            yield from _functions(node.body, f"{prefix}{node.name}.")


@pytest.mark.parametrize("module", [textwrap, fractions, argparse])
def test_functions_compile_to_the_same_code(module: ModuleType) -> None:
    text = inspect.getsource(module)
    outline = Outline(text)
    whole: dict[str, list[CodeType]] = {}
    for code in _codes(compile(text, "m", "exec")):
        whole.setdefault(code.co_qualname, []).append(code)
    tree = ast.parse(text)
    classes = {node.name for node in ast.walk(tree) if isinstance(node, ast.ClassDef)}
    compared = 0
    for name in _functions(tree.body, ""):
        reduced = outline.reduced(text, [name])
        assert reduced is not None and reduced[0] == reduced[1]
        for code in _codes(compile(reduced[0], "m", "exec")):
            if code.co_name in classes:
                continue  # cut
            same = [one for one in whole[code.co_qualname] if one == code]
            assert list(code.co_positions()) in [list(one.co_positions()) for one in same]
            compared += 1
    assert compared > 10
