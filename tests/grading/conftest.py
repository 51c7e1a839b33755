"""Small honest edits of real modules, made from the standard library at hand."""

from __future__ import annotations

import ast
import random
import sysconfig
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

_OPERATORS = {
    " == ": " != ",
    " != ": " == ",
    " < ": " <= ",
    " > ": " >= ",
    " + ": " - ",
    " and ": " or ",
    " is not ": " is ",
    "True": "False",
    "False": "True",
    " not in ": " in ",
}


def _honest_edits(module: str, count: int) -> Iterator[tuple[str, str]]:
    """Up to `count` pairs (original, edited) of one module: operators, constants, statements."""
    path = Path(sysconfig.get_path("stdlib")) / f"{module}.py"
    text = path.read_text(encoding="utf-8")
    dice = random.Random(module)
    lines = text.splitlines(keepends=True)
    statements = [
        node
        for function in ast.walk(ast.parse(text))
        if isinstance(function, ast.FunctionDef)
        for node in function.body
        if isinstance(node, (ast.Assign, ast.AugAssign, ast.If, ast.Expr, ast.Raise, ast.Return))
    ]
    made = 0
    for node in dice.sample(statements, k=len(statements)):
        first, last = node.lineno - 1, node.end_lineno or node.lineno
        block = "".join(lines[first:last])
        indent = " " * node.col_offset
        options = [block.replace(a, b, 1) for a, b in _OPERATORS.items() if a in block]
        options.append(f"{indent}pass\n")
        options.append(f"{indent}if self is not None:\n{indent}    pass\n{block}")
        edited = "".join(lines[:first]) + dice.choice(options) + "".join(lines[last:])
        try:
            ast.parse(edited)
        except SyntaxError:
            continue
        if edited != text:
            yield text, edited
            made += 1
        if made == count:
            return


@pytest.fixture(scope="session")
def honest_edits() -> Callable[[str, int], Iterator[tuple[str, str]]]:
    """A function (module of the standard library, count) -> pairs (original, edited)."""
    return _honest_edits
