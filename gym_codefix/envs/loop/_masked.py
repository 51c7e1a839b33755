"""Test files with the hidden tests left out."""

from __future__ import annotations

import ast
from collections.abc import Collection

from gym_codefix.catalog.hunks import split_lines
from gym_codefix.catalog.syntax import parse


def without_functions(text: str, names: Collection[str], *, stand_in: str = "") -> str:
    """The text with these functions (``name`` or ``Class.name``) as blank lines.

    ``stand_in``: a statement in place of each, for a text that must still run: a class may have
    nothing else.

    A method that its class does not define itself may come from any other: every function of that
    name is left out then. Where the text does not parse, nothing of it is shown.
    """
    try:
        tree = parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return ""
    lines = split_lines(text)
    functions = _functions(tree, "")
    defined = {name for name, _ in functions}
    inherited = {name.rpartition(".")[2] for name in set(names) - defined}
    for name, node in functions:
        if name in names or name.rpartition(".")[2] in inherited:
            first = min([node.lineno, *(item.lineno for item in node.decorator_list)])
            indent = lines[first - 1][: -len(lines[first - 1].lstrip())]
            for place in range(first - 1, node.end_lineno or node.lineno):
                lines[place] = "\n"
            if stand_in:
                lines[first - 1] = f"{indent}{stand_in}\n"
    return "".join(lines)


def _functions(
    tree: ast.AST, prefix: str
) -> list[tuple[str, ast.FunctionDef | ast.AsyncFunctionDef]]:
    found: list[tuple[str, ast.FunctionDef | ast.AsyncFunctionDef]] = []
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            found.append((prefix + node.name, node))
        elif isinstance(node, ast.ClassDef):
            found += _functions(node, f"{prefix}{node.name}.")
        else:
            found += _functions(node, prefix)
    return found
