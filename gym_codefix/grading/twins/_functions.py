"""Finding a test function, and what it calls, inside its file."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from gym_codefix.grading.twins._text import read_source

TestFunction = ast.FunctionDef | ast.AsyncFunctionDef


def find_function(tree: ast.Module, qualified: str) -> TestFunction | None:
    """The definition that "TestX.test_y" means, also when a base class in the file has it."""
    *classes, name = qualified.split(".")
    if not classes:
        return _function_in(tree.body, name)
    owner: ast.ClassDef | None = None
    block = tree.body
    for step in classes:
        owner = _class_in(block, step)
        if owner is None:
            return None
        block = owner.body
    return _method(tree, owner, name, set()) if owner is not None else None


def outermost_at(source: str, line: int) -> str | None:
    """The qualified name of the outermost function that holds a line of a module or class body.

    None where there is none, or where it is defined in some branch. Raises SyntaxError.
    """
    block, prefix = read_source(source).tree.body, ""
    while True:
        holder = next((n for n in block if n.lineno <= line <= (n.end_lineno or 0)), None)
        if isinstance(holder, TestFunction):
            return prefix + holder.name
        if not isinstance(holder, ast.ClassDef):
            return None
        block, prefix = holder.body, f"{prefix}{holder.name}."


def helpers_of(tree: ast.Module, qualified: str) -> list[TestFunction]:
    """Functions and methods of the file that the test calls itself, in order of the calls."""
    function = find_function(tree, qualified)
    owner = qualified.rpartition(".")[0]
    found: list[TestFunction] = []
    for node in ast.walk(function) if function is not None else ():
        helper: TestFunction | None = None
        match node:
            case ast.Call(func=ast.Name(id=name)):
                helper = find_function(tree, name)
            case ast.Call(func=ast.Attribute(value=ast.Name(id="self" | "cls"), attr=name)):
                helper = find_function(tree, f"{owner}.{name}") if owner else None
        if helper is not None and helper is not function and helper not in found:
            found.append(helper)
    return found


def _definitions(block: list[ast.stmt]) -> Iterator[ast.stmt]:
    """The definitions of a block, also those inside `if`, `try` and `with`."""
    for node in block:
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            yield node
            continue
        for name in ("body", "orelse", "finalbody"):
            yield from _definitions(getattr(node, name, []))
        for handler in getattr(node, "handlers", []):
            yield from _definitions(handler.body)


def _function_in(block: list[ast.stmt], name: str) -> TestFunction | None:
    found = None
    for node in _definitions(block):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)) and node.name == name:
            found = node  # the last definition wins, as at run time
    return found


def _class_in(block: list[ast.stmt], name: str) -> ast.ClassDef | None:
    found = None
    for node in _definitions(block):
        if isinstance(node, ast.ClassDef) and node.name == name:
            found = node
    return found


def _method(
    tree: ast.Module, owner: ast.ClassDef, name: str, seen: set[str]
) -> TestFunction | None:
    found = _function_in(owner.body, name)
    for base in owner.bases:
        if found is None and isinstance(base, ast.Name) and base.id not in seen:
            parent = _class_in(tree.body, base.id)
            if parent is not None:
                found = _method(tree, parent, name, seen | {base.id})
    return found
