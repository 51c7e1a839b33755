"""Classes whose values agree with anything they are compared with."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator

from gym_codefix.grading.policy import _tables as tables
from gym_codefix.grading.policy._fold import Budget
from gym_codefix.grading.policy._scopes import Scopes

_WORK_OF_A_FUNCTION = 50
_Function = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda


def answering_classes(
    scopes: Scopes, text: Callable[[ast.AST], str | None], budget: Budget
) -> Iterator[tuple[str, int]]:
    """(name, line) of every special method that answers without looking, and its like.

    Names are "Outer.Inner.__eq__"; "X.__eq__ on str" for a value type that redefines equality;
    "X.__eq__ bound" where a class body binds one in a way that hides what it means. ``text``
    folds an expression to the string that it is.
    """
    functions: dict[str, list[_Function]] = {}
    for node in scopes.scope_of:
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            functions.setdefault(node.name, []).append(node)
    for node in scopes.scope_of:
        match node:
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name):
                if name in tables.ANSWERING_METHODS or name == "__class__":
                    parent = scopes.parent_of[node]
                    for owner in _classes_around(node, scopes):
                        if owner is parent or name in tables.ANSWERING_METHODS:
                            yield from _in_class(owner, name, node.lineno, [node], scopes, budget)
            case ast.Assign(targets=targets, value=value):
                for target in targets:
                    if isinstance(target, ast.Name) and target.id.startswith("__"):
                        meant = _meant(value, functions)
                        for owner in _classes_around(node, scopes):
                            line = node.lineno
                            yield from _in_class(owner, target.id, line, meant, scopes, budget)
            case ast.Name(id=name, ctx=ast.Store()) if name in tables.ANSWERING_METHODS:
                parent = scopes.parent_of[node]
                plain = isinstance(parent, ast.Assign) and node in parent.targets
                plain = plain or (isinstance(parent, ast.AnnAssign) and parent.value is None)
                if scopes.scope_of[node].kind == "class" and not plain:
                    yield f"{_qualified(node, scopes)}{name} bound", node.lineno
            case ast.Dict():
                yield from _in_dict(_qualified(node, scopes), node, functions, text)


def _defines(node: ast.AST) -> bool:
    return isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef))


def _classes_around(node: ast.AST, scopes: Scopes) -> Iterator[ast.ClassDef]:
    return (up for up in scopes.chain(node) if isinstance(up, ast.ClassDef))


def _qualified(node: ast.AST, scopes: Scopes) -> str:
    """The definitions around a node and its own, each with a dot behind it."""
    around = [up for up in (node, *scopes.chain(node)) if _defines(up)]
    return "".join(f"{getattr(up, 'name', '')}." for up in reversed(around))


def _in_class(
    owner: ast.ClassDef,
    method: str,
    line: int,
    candidates: list[_Function],
    scopes: Scopes,
    budget: Budget,
) -> Iterator[tuple[str, int]]:
    """What a class's method means, which one of the ``candidates`` is."""
    budget.spend(1 + _WORK_OF_A_FUNCTION * len(candidates))
    prefix = _qualified(owner, scopes)
    if method == "__class__" or any(_answers_blindly(method, f) for f in candidates):
        yield f"{prefix}{method}", line
    if method in {"__eq__", "__ne__"}:
        bases = {base.id for base in owner.bases if isinstance(base, ast.Name)}
        for base in sorted(bases & tables.VALUE_TYPES):
            yield f"{prefix}{method} on {base}", line


def _in_dict(
    prefix: str,
    node: ast.Dict,
    functions: dict[str, list[_Function]],
    text: Callable[[ast.AST], str | None],
) -> Iterator[tuple[str, int]]:
    """`type("X", (), {"__eq__": lambda self, other: True})`."""
    for key, value in zip(node.keys, node.values, strict=True):
        meant = _meant(value, functions)
        name = text(key) if key is not None and meant else None
        if key is not None and name and any(_answers_blindly(name, f) for f in meant):
            yield f"{prefix}{{{name}}}", key.lineno


def _meant(value: ast.expr, functions: dict[str, list[_Function]]) -> list[_Function]:
    if isinstance(value, ast.Lambda):
        return [value]
    return functions.get(value.id, []) if isinstance(value, ast.Name) else []


def _answers_blindly(method: str, function: _Function) -> bool:
    if method not in tables.ANSWERING_METHODS:
        return False
    answers = [value for value in _returned(function) if not _is_not_implemented(value)]
    if not answers:
        return False
    if method == "__bool__":
        return all(_constant_truth(value) is True for value in answers)
    if all(_constant_truth(value) is not None for value in answers):
        return True
    return method in tables.TWO_SIDED_METHODS and not _reads_other(function)


def _returned(function: _Function) -> list[ast.expr]:
    if isinstance(function, ast.Lambda):
        return [function.body]
    found: list[ast.expr] = []
    todo: list[ast.AST] = list(function.body)
    while todo:
        node = todo.pop()
        if isinstance(node, ast.Return) and node.value is not None:
            found.append(node.value)
        if not _defines(node) and not isinstance(node, ast.Lambda):
            todo.extend(ast.iter_child_nodes(node))
    return found


def _is_not_implemented(value: ast.expr) -> bool:
    return isinstance(value, ast.Name) and value.id == "NotImplemented"


def _constant_truth(value: ast.expr) -> bool | None:
    """Truth of an expression that depends on nothing; None when it depends on something."""
    match value:
        case ast.Constant(value=constant):
            return bool(constant)
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            truth = _constant_truth(operand)
            return None if truth is None else not truth
        case ast.Compare(left=left, ops=[ast.Eq() | ast.Is() | ast.LtE()], comparators=[right]):
            return True if ast.dump(left) == ast.dump(right) else None
        case ast.Call(func=ast.Name(id="bool" | "hash" | "int"), args=[argument]):
            return _constant_truth(argument)
    names = any(isinstance(part, (ast.Name, ast.Call)) for part in ast.walk(value))
    return None if names else True


def _reads_other(function: _Function) -> bool:
    arguments = function.args
    positional = [argument.arg for argument in (*arguments.posonlyargs, *arguments.args)]
    others = set(positional[1:] or positional)
    others |= {rest.arg for rest in (arguments.vararg, arguments.kwarg) if rest is not None}
    body = [function.body] if isinstance(function, ast.Lambda) else function.body
    return any(_looks_at(statement, others) for statement in body)


def _looks_at(node: ast.AST, names: set[str]) -> bool:
    """Whether more of a value is used than what type it has."""
    match node:
        case ast.Name(id=name):
            return name in names
        case ast.Attribute(value=ast.Name(), attr="__class__"):
            return False
        case ast.Call(func=ast.Name(id="type" | "isinstance" | "issubclass" | "id" | "callable")):
            return any(_looks_at(part, names) for part in node.args[1:])
    return any(_looks_at(part, names) for part in ast.iter_child_nodes(node))
