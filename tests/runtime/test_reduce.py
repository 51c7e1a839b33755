"""What is left of a module when an edit's functions alone are compiled."""

from __future__ import annotations

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
    size = 1

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


@pytest.mark.parametrize("module", [textwrap, fractions])
def test_functions_compile_to_the_same_code(module: ModuleType) -> None:
    text = inspect.getsource(module)
    outline = Outline(text)
    whole = {code.co_qualname: code for code in _codes(compile(text, "m", "exec"))}
    compared = 0
    for node in ast.parse(text).body:
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            reduced = outline.reduced(text, [node.name])
            assert reduced is not None and reduced[0] == reduced[1]
            for code in _codes(compile(reduced[0], "m", "exec")):
                assert code == whole[code.co_qualname]
                assert list(code.co_positions()) == list(whole[code.co_qualname].co_positions())
                compared += 1
    assert compared > 10
