"""Leaving out of a module what an edit cannot have made it use."""

from __future__ import annotations

import ast
import copy
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from gym_codefix.catalog.hunks import equal_ends, split_lines
from gym_codefix.catalog.syntax import parse

_WORD = re.compile(r"[^\W\d]\w*")
_DEFINITION = re.compile(r"(?m)^[ \t\f]*(?:async\b.*)?def\b")
_IMPORT = re.compile(r"(?m)(?:^|[:;])[ \t\f]*(?:from|import)\b")
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
_IMPORTS = (ast.Import, ast.ImportFrom)

_Function = ast.FunctionDef | ast.AsyncFunctionDef


def changed_parts(old: str, new: str) -> tuple[ast.Module, ast.Module] | None:
    """Both modules without bodies that use in one what they use in the other; None where that is
    not certain.

    Out go the bodies of functions that lie outside the changed lines and have nothing to do with
    them: neither names a function or a binding of the other, through whatever statements of the
    module. All imports stay; an edit that touches one is not for this, nor are ``global`` and the
    head of a class, which change what a name means elsewhere. Raises what ``parse`` raises for
    ``new``.
    """
    tree = parse(new)
    try:
        tree_before = parse(old)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
    old_lines, new_lines = split_lines(old), split_lines(new)
    first, unchanged = equal_ends(old_lines, new_lines)
    # A line more on either side: a decorator changes what it stands above.
    before = _Side(tree_before, old_lines, first, len(old_lines) - unchanged + 1)
    after = _Side(tree, new_lines, first, len(new_lines) - unchanged + 1)
    if not (before.told_apart() and after.told_apart()):
        return None
    idle = list(_idle(before, after))
    return before.without([old for old, _ in idle]), after.without([new for _, new in idle])


def _first_line(node: ast.AST) -> int:
    decorators = getattr(node, "decorator_list", ())
    line: int = min([getattr(node, "lineno", 1), *(part.lineno for part in decorators)])
    return line


def _last_line(node: ast.stmt) -> int:
    return node.end_lineno or node.lineno


def _outermost(statements: Iterable[ast.stmt], prefix: str = "") -> Iterator[tuple[str, ast.stmt]]:
    """The statements of a module and of its classes but the classes, by what they stand in."""
    for node in statements:
        if isinstance(node, ast.ClassDef):
            yield from _outermost(node.body, f"{prefix}{node.name}.")
        else:
            yield prefix, node


@dataclass(frozen=True)
class _Side:
    """One of the two modules, and the first and last of the lines that the edit touches."""

    tree: ast.Module
    lines: Sequence[str]
    first: int
    last: int

    def touches(self, node: ast.stmt) -> bool:
        return _first_line(node) <= self.last and self.first <= _last_line(node)

    def touched(self) -> list[ast.stmt]:
        return [node for _, node in _outermost(self.tree.body) if self.touches(node)]

    def text(self, node: ast.stmt) -> str:
        return "".join(self.lines[_first_line(node) - 1 : _last_line(node)])

    def functions(self) -> dict[tuple[str, int, int], _Function]:
        """Outermost functions by qualified name, first and last line."""
        return {
            (prefix + node.name, _first_line(node), _last_line(node)): node
            for prefix, node in _outermost(self.tree.body)
            if isinstance(node, _FUNCTIONS)
        }

    def without(self, functions: Iterable[_Function]) -> ast.Module:
        """The module with nothing but their imports in these functions."""
        idle = set(map(id, functions))

        def reduced(node: ast.stmt) -> ast.stmt:
            if isinstance(node, ast.ClassDef):
                return _with_body(node, [reduced(part) for part in node.body])
            if isinstance(node, _FUNCTIONS) and id(node) in idle:
                text = self.text(node)
                parts = ast.walk(node) if "import" in text and _IMPORT.search(text) else ()
                return _with_body(node, [part for part in parts if isinstance(part, _IMPORTS)])
            return node

        return ast.Module([reduced(node) for node in self.tree.body], [])

    def told_apart(self) -> bool:
        """Whether nothing is touched that changes the meaning of names everywhere."""
        if any(self.first < _first_line(one.body[0]) for one in self._touched_classes()):
            return False
        for outermost in self.touched():
            for node in ast.walk(outermost):
                if isinstance(node, ast.Global):
                    return False
                if isinstance(node, (ast.ClassDef, *_IMPORTS)) and self.touches(node):
                    return False
        return True

    def _touched_classes(self) -> Iterator[ast.ClassDef]:
        todo = [*self.tree.body]
        while todo:
            node = todo.pop()
            if isinstance(node, ast.ClassDef) and self.touches(node):
                yield node
                todo += node.body

    def connected(self, names: set[str]) -> tuple[set[str], set[str]]:
        """``names`` and what statements outside of functions make of them; all that these name."""
        others = [
            set(_named(node))
            for _, node in _outermost(self.tree.body)
            if not isinstance(node, _FUNCTIONS) and not self.touches(node)
        ]
        said = set[str]()
        while reached := [found for found in others if not found.isdisjoint(names)]:
            others = [found for found in others if found.isdisjoint(names)]
            names = names.union(*reached)
            said = said.union(*reached)
        return names, said


def _idle(before: _Side, after: _Side) -> Iterator[tuple[_Function, _Function]]:
    """Functions, as they stand on both sides, that have nothing to do with what changed."""
    bound = {name for side in (before, after) for n in side.touched() for name in _bound(n)}
    bound, said = after.connected(before.connected(bound)[0])
    said = said.union(
        *(_WORD.findall(side.text(n)) for side in (before, after) for n in side.touched())
    )
    known = before.functions()
    for (name, first, last), node in after.functions().items():
        shift = after.last - before.last if first > after.last else 0
        twin = known.get((name, first - shift, last - shift))
        if twin is None or after.touches(node) or node.name in said:
            continue
        text = after.text(node)
        words = _WORD.findall(text)
        if "global" in words or not bound.isdisjoint(words):
            continue
        if len(_DEFINITION.findall(text)) > 1:  # others within it
            within = (part for part in ast.walk(node) if isinstance(part, _FUNCTIONS))
            if any(part.name in said for part in within):
                continue
        yield twin, node


def _named(node: ast.stmt) -> Iterator[str]:
    """Names that a statement reads or binds."""
    yield from _bound(node)
    for part in ast.walk(node):
        if isinstance(part, ast.Name):
            yield part.id
        elif isinstance(part, _IMPORTS):
            yield from (alias.asname or alias.name.partition(".")[0] for alias in part.names)


def _with_body(node: _Function | ast.ClassDef, body: list[ast.stmt]) -> ast.stmt:
    changed = copy.copy(node)
    changed.body = body or [ast.copy_location(ast.Pass(), node.body[0])]
    return changed


def _bound(node: ast.stmt) -> Iterator[str]:
    """Names that a statement binds outside of itself: a function its own, and all within it."""
    for part in ast.walk(node):
        if isinstance(part, (*_FUNCTIONS, ast.ClassDef)):
            yield part.name
        elif isinstance(node, _FUNCTIONS):
            continue
        elif isinstance(part, ast.Name) and isinstance(part.ctx, (ast.Store, ast.Del)):
            yield part.id
        elif isinstance(part, (ast.ExceptHandler, ast.MatchAs, ast.MatchStar)) and part.name:
            yield part.name
        elif isinstance(part, ast.MatchMapping) and part.rest:
            yield part.rest
