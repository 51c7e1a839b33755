"""Assignments that reach out of the module: into other modules, builtins and the environment."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass

from gym_codefix.grading.policy import _tables as tables
from gym_codefix.grading.policy._names import Names
from gym_codefix.grading.policy._scopes import Scopes

_CLASS_NAME = re.compile(r"[A-Z]\w*[a-z]\w*")
_NAMESPACES = frozenset({"globals()", "locals()", "vars()"})
_SETTERS = frozenset({"builtins.setattr", "builtins.delattr"})


@dataclass(frozen=True)
class Store:
    """One assignment, deletion or mutating call."""

    code: str
    name: str
    line: int


def stores(scopes: Scopes, names: Names) -> Iterator[Store]:
    """The watched assignments of a module."""
    for node in scopes.scope_of:
        match node:
            case ast.Attribute(ctx=ast.Store() | ast.Del()):
                yield from _set_member(node.value, node.attr, node.lineno, scopes, names)
            case ast.Subscript(ctx=ast.Store() | ast.Del()):
                yield from _mutated(node.value, node.lineno, names)
            case ast.AugAssign(target=target):
                yield from _mutated(target, node.lineno, names)
            case ast.Call(func=ast.Attribute(value=owner, attr=method)):
                if method in tables.MUTATORS:
                    yield from _mutated(owner, node.lineno, names)
                if method in {"__setattr__", "__delattr__"} and len(node.args) >= 2:
                    name = names.text(node.args[1]) or "…"
                    yield from _set_member(node.args[0], name, node.lineno, scopes, names)
            case ast.Call() if len(node.args) >= 2 and names.dotted(node.func) & _SETTERS:
                name = names.text(node.args[1]) or "…"
                yield from _set_member(node.args[0], name, node.lineno, scopes, names)
        yield from _bound(node)


def _set_member(
    owner: ast.expr, name: str, line: int, scopes: Scopes, names: Names
) -> Iterator[Store]:
    if name in tables.TWO_SIDED_METHODS | {"__bool__"}:
        yield Store("always-equal", f"….{name} =", line)
    for base in names.dotted(owner):
        if _is_foreign(base, scopes):
            yield Store("monkeypatch", f"{base}.{name} =", line)


def _is_foreign(base: str, scopes: Scopes) -> bool:
    """Whether `base` is another module, a builtin, or a class that another module defines."""
    head, _, last = base.rpartition(".")
    top = base.split(".")[0]
    if top in tables.STDLIB or base in scopes.modules:
        return "(" not in base
    return bool(head) and base in scopes.imported and _CLASS_NAME.fullmatch(last) is not None


def _mutated(owner: ast.expr, line: int, names: Names) -> Iterator[Store]:
    for base in names.dotted(owner):
        if base in _NAMESPACES:
            yield Store("namespace-write", base, line)
        elif base.endswith((".environ", ".environb")):
            yield Store("environment", "os.environ", line)
        elif base.endswith(".__dict__") and base.split(".")[0] in tables.STDLIB:
            yield Store("monkeypatch", base, line)
    if isinstance(owner, ast.Attribute) and owner.attr == "__dict__":
        for base in names.dotted(owner.value):
            if base.islower():
                yield Store("monkeypatch", f"{base}.__dict__", line)
    if isinstance(owner, ast.Call) and "builtins.vars" in names.dotted(owner.func):
        for argument in owner.args:
            for base in names.dotted(argument):
                yield Store("monkeypatch", f"vars({base})", line)


def _bound(node: ast.AST) -> Iterator[Store]:
    """Names whose mere binding matters: AssertionError, and what the test runner looks for."""
    bound: list[str] = []
    line = getattr(node, "lineno", 0)
    match node:
        case ast.Name(id=name, ctx=ast.Store()):
            bound = [name]
        case ast.ClassDef(name=name) | ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name):
            bound = [name]
        case ast.Import(names=aliases) | ast.ImportFrom(names=aliases):
            bound = [alias.asname or alias.name for alias in aliases]
        case ast.Attribute(attr=name, ctx=ast.Store()):
            bound = [name] if name != "__test__" else []
    for name in bound:
        if isinstance(node, ast.Import | ast.ImportFrom) and name in tables.ANSWERING_METHODS:
            yield Store("always-equal", name, line)
        if name == "AssertionError":
            yield Store("monkeypatch", name, line)
        elif name in tables.RUNNER_NAMES:
            yield Store("test-runner", name, line)
