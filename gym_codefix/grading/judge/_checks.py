"""The checks, handlers and definitions of one module."""

from __future__ import annotations

import ast
import functools
from collections.abc import Iterator
from dataclasses import dataclass, field, replace

from gym_codefix.catalog.hunks import split_lines
from gym_codefix.catalog.syntax import parse

_Function = ast.FunctionDef | ast.AsyncFunctionDef
_BROAD = frozenset({"Exception", "BaseException"})
_LEAVING = (ast.Return, ast.Raise, ast.Continue, ast.Break)
_GUARDING_CALLS = frozenset({"isinstance", "issubclass", "len", "callable", "hasattr"})


@dataclass(frozen=True)
class Check:
    """One statement that refuses, catches or guards something.

    `kind` is "raise", "assert", "guard", "broad-except" or "choice" (a returned conditional
    expression, one for its condition and one for the opposite: no check of its own, but what a
    guard may have become); `shape` is a dump without positions;
    `outcome` names the exception raised, or "return"; `names` are the names that the check reads;
    `under` are the conditions that it stands under, outermost first; `text` is its first line.
    """

    kind: str
    function: str
    shape: str
    outcome: str
    names: frozenset[str]
    line: int
    text: str = ""
    under: tuple[str, ...] = ()


@dataclass
class Contents:
    """What one module defines and checks, by qualified name; `bodies` are its functions."""

    checks: list[Check] = field(default_factory=list)
    bodies: set[str] = field(default_factory=set)
    stubs: dict[str, int] = field(default_factory=dict)
    lines: dict[str, int] = field(default_factory=dict)
    public: set[str] = field(default_factory=set)


@functools.lru_cache(maxsize=64)
def read_contents(text: str, *, exports_imports: bool) -> Contents:
    """Everything the judge compares. `exports_imports`: imported names are public (a package's
    `__init__.py`). Kept, since the same texts are asked for again and again: not to be changed.
    Raises SyntaxError, ValueError, RecursionError or MemoryError as `ast.parse`.
    """
    tree = parse(text)
    contents = Contents()
    _read_block(tree.body, "", contents, exports_imports)
    lines = split_lines(text)
    contents.checks = [
        replace(check, text=lines[check.line - 1].strip()[:120]) for check in contents.checks
    ]
    return contents


def _read_block(
    block: list[ast.stmt],
    scope: str,
    contents: Contents,
    exports: bool,
    *,
    inner: bool = False,
    under: tuple[str, ...] = (),
) -> None:
    """Read the statements of `block` that can be reached; `inner` is inside a function."""
    for statement in block:
        _read_statement(statement, scope, contents, exports, inner, under)
        if isinstance(statement, _LEAVING) or _always_leaves(statement):
            return  # what follows can never run, so it checks nothing


def _read_statement(
    node: ast.stmt,
    scope: str,
    contents: Contents,
    exports: bool,
    inner: bool,
    under: tuple[str, ...],
) -> None:
    match node:
        case ast.FunctionDef() | ast.AsyncFunctionDef():
            _define(node.name, node.lineno, scope, contents, inner)
            name = scope + node.name
            contents.bodies.add(name)
            if _is_stub(node):
                contents.stubs[name] = node.lineno
            _read_block(node.body, f"{name}.", contents, exports, inner=True)
            return
        case ast.ClassDef():
            _define(node.name, node.lineno, scope, contents, inner)
            _read_block(node.body, f"{scope}{node.name}.", contents, exports, inner=inner)
            return
        case ast.Assign(targets=targets):
            for target in targets:
                for part in ast.walk(target):
                    if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Store):
                        _define(part.id, node.lineno, scope, contents, inner)
        case ast.AnnAssign(target=ast.Name(id=name)):
            _define(name, node.lineno, scope, contents, inner)
        case ast.Import(names=aliases) | ast.ImportFrom(names=aliases):
            for alias in aliases:
                name = (alias.asname or alias.name).split(".")[0]
                _define(name, node.lineno, scope, contents, inner, public=exports)
    checks = _own_checks(node, scope.rstrip("."))
    contents.checks.extend(replace(check, under=under) for check in checks)
    for branch in _live_branches(node):
        condition = _condition_of(node, branch)
        inside = under if condition is None else (*under, condition)
        _read_block(branch, scope, contents, exports, inner=inner, under=inside)


def _define(
    name: str, line: int, scope: str, contents: Contents, inner: bool, *, public: bool = True
) -> None:
    if inner:
        return
    qualified = scope + name
    contents.lines.setdefault(qualified, line)
    if public and not any(map(_is_private, qualified.split("."))):
        contents.public.add(qualified)


def _is_private(name: str) -> bool:
    return name.startswith("_") and not name.endswith("__")


def _live_branches(node: ast.stmt) -> Iterator[list[ast.stmt]]:
    truth = _truth(node.test) if isinstance(node, (ast.If, ast.While)) else None
    if truth is not False:
        yield getattr(node, "body", [])
    for handler in getattr(node, "handlers", []):
        yield handler.body
    for case in getattr(node, "cases", []):
        yield case.body
    if truth is not True:
        yield getattr(node, "orelse", [])
    yield getattr(node, "finalbody", [])


def _condition_of(node: ast.stmt, branch: list[ast.stmt]) -> str | None:
    if not isinstance(node, ast.If | ast.While):
        return None
    return ("" if branch is node.body else "not ") + ast.dump(node.test)


def _always_leaves(node: ast.stmt) -> bool:
    if isinstance(node, ast.If):
        branches = [node.body, node.orelse]
        truth = _truth(node.test)
        if truth is not None:
            branches = [node.body if truth else node.orelse]
        return all(branch and _block_leaves(branch) for branch in branches)
    return isinstance(node, (ast.With, ast.AsyncWith)) and isinstance(node.body[-1], ast.Return)


def _block_leaves(block: list[ast.stmt]) -> bool:
    return any(isinstance(node, _LEAVING) or _always_leaves(node) for node in block)


def _own_checks(node: ast.stmt, function: str) -> Iterator[Check]:
    match node:
        case ast.Raise():
            yield _check("raise", function, node, [], _raised(node))
        case ast.Assert(test=test) if _truth(test) is not True:
            yield _check("assert", function, node, [test], "AssertionError")
        case ast.If(test=test, body=body) if _truth(test) is None:
            outcome = _outcome(test, body)
            if outcome:
                yield _check("guard", function, node, [test], outcome)
        case ast.Return(value=ast.IfExp(test=test)) if _truth(test) is None:
            for asked in (test, _opposite(test)):
                yield _check("choice", function, node, [asked], "return")
        case ast.Try(handlers=handlers):
            for handler in handlers:
                if _is_broad(handler.type) and _swallows(handler.body):
                    yield _check("broad-except", function, handler, [], "")
        case ast.With(items=items) | ast.AsyncWith(items=items):
            for item in items:
                match item.context_expr:
                    case ast.Call(func=function_node, args=args):
                        if _last_name(function_node) == "suppress" and any(map(_is_broad, args)):
                            yield _check("broad-except", function, node, [], "")


def _check(
    kind: str,
    function: str,
    node: ast.stmt | ast.ExceptHandler,
    parts: list[ast.expr],
    outcome: str,
) -> Check:
    names = frozenset(
        getattr(inner, "id", getattr(inner, "attr", ""))
        for part in parts
        for inner in ast.walk(part)
        if isinstance(inner, (ast.Name, ast.Attribute))
    )
    return Check(kind, function, _dump(parts), outcome, names, node.lineno)


def _outcome(test: ast.expr, body: list[ast.stmt]) -> str:
    """What a validation branch ends in: the exception that it raises, or an early return."""
    last = body[-1]
    if isinstance(last, ast.Raise):
        return _raised(last)
    if isinstance(last, ast.Return) and len(body) == 1 and _is_guarding(test):
        return "return"
    return ""


def _opposite(test: ast.expr) -> ast.expr:
    """The condition that holds when `test` does not, as one would write it."""
    match test:
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            return operand
        case ast.Compare(left=left, ops=[ast.Is()], comparators=others):
            return ast.Compare(left, [ast.IsNot()], others)
        case ast.Compare(left=left, ops=[ast.IsNot()], comparators=others):
            return ast.Compare(left, [ast.Is()], others)
    return ast.UnaryOp(ast.Not(), test)


def _is_guarding(test: ast.expr) -> bool:
    for part in ast.walk(test):
        if isinstance(part, ast.Call) and _last_name(part.func) in _GUARDING_CALLS:
            return True
        if isinstance(part, ast.Constant) and part.value is None:
            return True
    return isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not)


def _raised(node: ast.Raise) -> str:
    if node.exc is None:
        return "raise"
    target = node.exc.func if isinstance(node.exc, ast.Call) else node.exc
    return _last_name(target) or "raise"


def _last_name(node: ast.expr) -> str:
    return str(getattr(node, "attr", getattr(node, "id", "")))


def _is_broad(node: ast.expr | None) -> bool:
    if isinstance(node, ast.Tuple):
        return any(_is_broad(part) for part in node.elts)
    return node is None or _last_name(node) in _BROAD


def _swallows(body: list[ast.stmt]) -> bool:
    """Whether a handler goes on as if nothing had happened."""
    quiet = (ast.Pass, ast.Return, ast.Continue, ast.Break, ast.Assign, ast.Expr)
    return all(isinstance(statement, quiet) for statement in body)


def _truth(node: ast.expr) -> bool | None:
    """Truth of a condition that is fixed by its constants alone."""
    match node:
        case ast.Constant(value=value):
            return bool(value)
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            truth = _truth(operand)
            return None if truth is None else not truth
        case ast.BoolOp(op=op, values=values):
            deciding = isinstance(op, ast.Or)
            truths = [_truth(value) for value in values]
            if deciding in truths:
                return deciding
            return (not deciding) if all(t is not None for t in truths) else None
    return None


def _is_stub(node: _Function) -> bool:
    body = node.body
    if _is_text(body[0]):
        body = body[1:]
    return all(_does_nothing(statement) for statement in body) and len(body) <= 1


def _does_nothing(node: ast.stmt) -> bool:
    match node:
        case ast.Pass() | ast.Expr(value=ast.Constant()) | ast.Return(value=None):
            return True
        case ast.Return(value=ast.Constant()):
            return True
        case ast.Return(value=ast.List(elts=[]) | ast.Tuple(elts=[]) | ast.Dict(keys=[])):
            return True
        case ast.Raise():
            return _raised(node) == "NotImplementedError"
    return False


def _is_text(node: ast.stmt) -> bool:
    match node:
        case ast.Expr(value=ast.Constant(value=str())):
            return True
    return False


def _dump(nodes: list[ast.expr] | list[ast.stmt]) -> str:
    return "\n".join(ast.dump(node) for node in nodes)
