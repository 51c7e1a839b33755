"""Where a test can be broken, and the broken file."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from gym_codefix.catalog.syntax import child_nodes
from gym_codefix.grading.twins._edits import breaks_of
from gym_codefix.grading.twins._functions import TestFunction, find_function, helpers_of
from gym_codefix.grading.twins._site import TwinSite
from gym_codefix.grading.twins._text import SourceText, read_source

_SURE, _MAYBE, _NESTED, _HELPER = range(4)
_CATCHING = frozenset({"Exception", "BaseException", "AssertionError"})


def twin_sites(source: str, test_function: str) -> list[TwinSite]:
    """Every way to break one assertion of a test, the surest to be reached first.

    `test_function` is a qualified name ("TestX.test_y", "test_y") without a parametrisation.
    Assertions on the test's straight path come first, then those in branches, loops and nested
    functions, then those of helpers in the same file that the test calls itself. The list is
    empty when the file has no such function or the function has no assertion. That a site is
    reached and fails is for a run on the reference to show. Raises SyntaxError (or ValueError) if
    the source does not parse.
    """
    text = read_source(source)
    function = find_function(text.tree, test_function)
    if function is None:
        return []
    ranked = list(_ranked(text, function, _SURE))
    for helper in helpers_of(text.tree, test_function):
        ranked += list(_ranked(text, helper, _HELPER))
    ordered = [site for _, site in sorted(ranked, key=lambda pair: pair[0])]
    return list(dict.fromkeys(ordered))


def break_assertion(source: str, site: TwinSite) -> str:
    """The file with exactly that assertion broken and as many lines as before.

    Only lines of the assertion itself change. Raises ValueError when the source has no such site,
    SyntaxError (or ValueError) when it does not parse.
    """
    text = read_source(source)
    todo: list[ast.AST] = [text.tree]
    while todo:
        node = todo.pop()
        line = getattr(node, "lineno", site.line)
        if line <= site.line <= (getattr(node, "end_lineno", None) or site.line):
            for found, splices in breaks_of(text, node):
                if found == site:
                    return text.apply(*splices)
            todo += child_nodes(node)
    raise ValueError(f"no assertion to break at {site}; see twin_sites for the valid ones")


def _ranked(text: SourceText, function: TestFunction, least: int) -> Iterator[tuple[int, TwinSite]]:
    todo: list[tuple[ast.AST, int]] = [(node, least) for node in reversed(function.body)]
    while todo:
        node, rank = todo.pop()
        for site, _ in breaks_of(text, node):
            yield rank, site
        inside = max(rank, _rank_inside(node))
        children = [c for c in ast.iter_child_nodes(node) if not isinstance(c, ast.expr)]
        todo.extend((child, inside) for child in reversed(children))


def _rank_inside(node: ast.AST) -> int:
    if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
        return _NESTED
    if isinstance(node, (ast.With, ast.AsyncWith)):
        names = {_called(item.context_expr).lower() for item in node.items}
        return _MAYBE if any("raises" in n or "suppress" in n for n in names) else _SURE
    if isinstance(node, ast.Try):
        caught = [_called(h.type) if h.type else "Exception" for h in node.handlers]
        return _MAYBE if _CATCHING & set(caught) else _SURE
    is_branch = isinstance(node, (ast.If, ast.For, ast.AsyncFor, ast.While, ast.match_case))
    return _MAYBE if is_branch or isinstance(node, ast.ExceptHandler) else _SURE


def _called(node: ast.expr) -> str:
    function = node.func if isinstance(node, ast.Call) else node
    return str(getattr(function, "attr", getattr(function, "id", "")))
