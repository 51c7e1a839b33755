"""Leaving out of a module what an edit cannot have made it use."""

from __future__ import annotations

import ast
import copy
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from gym_codefix.catalog.hunks import equal_ends, split_lines
from gym_codefix.catalog.syntax import parse

_WORD = re.compile(r"[A-Za-z_][A-Za-z_0-9]*")
_DEFINITION = re.compile(r"(?m)^[ \t\f]*(?:async\b.*)?def\b")
_IMPORT = re.compile(r"(?m)(?:^|[:;])[ \t\f]*(?:from|import)\b")
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
_IMPORTS = (ast.Import, ast.ImportFrom)

_Function = ast.FunctionDef | ast.AsyncFunctionDef


def changed_parts(old: str, new: str) -> tuple[ast.Module, ast.Module] | None:
    """Both modules without bodies that use in one what they use in the other; None where that is
    not certain.

    Out go the bodies of functions that are equal on both sides and have nothing to do with what
    changed: neither names a function or a binding of the other, through whatever statements of the
    module. All imports stay. An edit is not for this if what it changes holds an import or a
    ``global``, or is the head of a class: these change what names mean elsewhere. Raises what
    ``parse`` raises for ``new``.
    """
    tree = parse(new)
    try:
        tree_before = parse(old)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
    before = list(_items(tree_before.body, split_lines(old), ""))
    after = list(_items(tree.body, split_lines(new), ""))
    first, last = equal_ends(before, after)
    changed = [*before[first : len(before) - last], *after[first : len(after) - last]]
    headers = (item.node for item in (*before, *after)) if ":=" in old or ":=" in new else ()
    if any(map(_means_more, changed)) or any(map(_binds_in_header, headers)):
        return None
    equal = [*after[:first], *after[len(after) - last :]]
    twins = [*before[:first], *before[len(before) - last :]]
    idle = [*_idle(changed, equal)]
    return (
        _without(tree_before, [twins[place] for place in idle]),
        _without(tree, [equal[place] for place in idle]),
    )


@dataclass(frozen=True)
class _Item:
    """A statement of the module or of a class in it; of a class the head. Equal are items with the
    same text at the same place of a line, in the same class."""

    prefix: str
    kind: type[ast.stmt]
    lines: tuple[str, ...]
    columns: tuple[int, int | None]
    node: ast.stmt = field(compare=False)

    @property
    def text(self) -> str:
        text = "".join(self.lines)
        return text.replace("\r\n", "\n").replace("\r", "\n") if "\r" in text else text


def _items(statements: Iterable[ast.stmt], lines: Sequence[str], prefix: str) -> Iterator[_Item]:
    for node in statements:
        first, last = _first_line(node), node.end_lineno or node.lineno
        if isinstance(node, ast.ClassDef):
            head = tuple(lines[first - 1 : _first_line(node.body[0])])
            yield _Item(prefix, type(node), head, (node.col_offset, None), node)
            yield from _items(node.body, lines, f"{prefix}{node.name}.")
        else:
            columns = (node.col_offset, node.end_col_offset)
            yield _Item(prefix, type(node), tuple(lines[first - 1 : last]), columns, node)


def _first_line(node: ast.AST) -> int:
    decorators = getattr(node, "decorator_list", ())
    line: int = min([getattr(node, "lineno", 1), *(part.lineno for part in decorators)])
    return line


def _means_more(item: _Item) -> bool:
    if isinstance(item.node, ast.ClassDef):
        return True
    return any(isinstance(part, (ast.Global, *_IMPORTS)) for part in ast.walk(item.node))


def _binds_in_header(node: ast.stmt) -> bool:
    """Whether a function or class, while it is defined, binds a name with a walrus."""
    if isinstance(node, ast.ClassDef):
        headers: list[ast.AST] = [*node.bases, *node.keywords, *node.decorator_list]
    elif isinstance(node, _FUNCTIONS):
        headers = [node.args, *node.decorator_list, *([node.returns] if node.returns else [])]
    else:
        return False
    return any(isinstance(part, ast.NamedExpr) for head in headers for part in ast.walk(head))


def _idle(changed: Sequence[_Item], equal: Sequence[_Item]) -> Iterator[int]:
    """Which of the ``equal`` items are functions that have nothing to do with what changed."""
    bound = {name for item in changed for name in _bound(item.node)}
    said = {name for item in changed for name in _named(item.node)}
    others = [
        set(_named(item.node))
        for item in equal
        if not isinstance(item.node, (ast.ClassDef, *_FUNCTIONS))
    ]
    while reached := [names for names in others if not names.isdisjoint(bound)]:
        others = [names for names in others if names.isdisjoint(bound)]
        bound, said = bound.union(*reached), said.union(*reached)
    for place, item in enumerate(equal):
        node, text = item.node, item.text
        if not isinstance(node, _FUNCTIONS) or node.name in said or not text.isascii():
            continue  # Python reads a name that is not ASCII as another spelling of it
        words = _WORD.findall(text)
        if "global" in words or not bound.isdisjoint(words):
            continue
        if len(_DEFINITION.findall(text)) > 1:  # others within it
            within = (part for part in ast.walk(node) if isinstance(part, _FUNCTIONS))
            if any(part.name in said for part in within):
                continue
        yield place


def _without(tree: ast.Module, idle: Iterable[_Item]) -> ast.Module:
    """The module with nothing but their imports in these functions."""
    imports: dict[int, list[ast.stmt]] = {}
    for item in idle:
        text = item.text
        parts = ast.walk(item.node) if "import" in text and _IMPORT.search(text) else ()
        imports[id(item.node)] = [part for part in parts if isinstance(part, _IMPORTS)]

    def reduced(node: ast.stmt) -> ast.stmt:
        if isinstance(node, ast.ClassDef):
            return _with_body(node, [reduced(part) for part in node.body])
        if isinstance(node, _FUNCTIONS) and id(node) in imports:
            return _with_body(node, imports[id(node)])
        return node

    return ast.Module([reduced(node) for node in tree.body], [])


def _with_body(node: _Function | ast.ClassDef, body: list[ast.stmt]) -> ast.stmt:
    changed = copy.copy(node)
    changed.body = body or [ast.copy_location(ast.Pass(), node.body[0])]
    return changed


def _named(node: ast.stmt) -> Iterator[str]:
    """Names that a statement reads or binds."""
    yield from _bound(node)
    for part in ast.walk(node):
        if isinstance(part, ast.Name):
            yield part.id


def _bound(node: ast.stmt) -> Iterator[str]:
    """Names that a statement binds outside of itself: a function its own, and all within it."""
    for part in ast.walk(node):
        if isinstance(part, (*_FUNCTIONS, ast.ClassDef)):
            yield part.name
        elif isinstance(part, _IMPORTS):
            yield from (alias.asname or alias.name.partition(".")[0] for alias in part.names)
        elif isinstance(node, _FUNCTIONS):
            continue
        elif isinstance(part, ast.Name) and isinstance(part.ctx, (ast.Store, ast.Del)):
            yield part.id
        elif isinstance(part, (ast.ExceptHandler, ast.MatchAs, ast.MatchStar)) and part.name:
            yield part.name
        elif isinstance(part, ast.MatchMapping) and part.rest:
            yield part.rest
