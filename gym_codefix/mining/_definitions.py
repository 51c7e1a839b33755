"""Which hunks define the names that others use: a guess of what a test needs beside its lines."""

from __future__ import annotations

import ast
import functools
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

from gym_codefix.catalog.hunks import Hunk
from gym_codefix.catalog.syntax import parse

_Places = list[tuple[int, int, str]]  # first and last line, name


class Definitions:
    """The names that each hunk defines at module or class level, and those that its lines use."""

    def __init__(self, new: Mapping[str, str], hunks: Sequence[Hunk]) -> None:
        self._hunks = hunks
        self._uses: dict[Hunk, frozenset[str]] = {}
        self._makers: dict[str, set[Hunk]] = {}
        by_path: dict[str, list[Hunk]] = {}
        for hunk in hunks:
            by_path.setdefault(hunk.path, []).append(hunk)
        for path, group in by_path.items():
            tree = _tree(new.get(path, ""))
            defined, used = list(_defined(tree)), list(_used(tree))
            for hunk in group:
                self._uses[hunk] = _names_on(used, hunk.new_lines)
                for name in _names_on(defined, hunk.new_lines):
                    self._makers.setdefault(name, set()).add(hunk)

    def needed_by(self, touched: Iterable[Hunk], words: Collection[str]) -> frozenset[Hunk]:
        """``touched``, the hunks that define ``words``, and all that these need in turn."""
        found = set(touched)
        todo = [hunk for word in words for hunk in self._makers.get(word, ())]
        todo += [maker for hunk in found for maker in self._needs(hunk)]
        while todo:
            hunk = todo.pop()
            if hunk not in found:
                found.add(hunk)
                todo += self._needs(hunk)
        return frozenset(found)

    def _needs(self, hunk: Hunk) -> Iterator[Hunk]:
        for name in self._uses[hunk]:
            yield from self._makers.get(name, ())


def words_of_test(source: str, function: str) -> frozenset[str]:
    """The names that a test module imports and that one of its functions uses."""
    return _imported(source) | _used_in(source, function.rpartition(".")[2])


def _tree(text: str) -> ast.Module:
    try:
        return parse(text)
    except (SyntaxError, ValueError):
        return ast.Module([], [])


def _names_on(places: _Places, lines: range) -> frozenset[str]:
    return frozenset(
        name for first, last, name in places if first < lines.stop and last >= lines.start
    )


def _defined(tree: ast.AST) -> Iterator[tuple[int, int, str]]:
    """Names bound outside functions, each with the lines that bind it."""
    for node in ast.iter_child_nodes(tree):
        match node:
            case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef():
                first = min(place.lineno for place in (node, *node.decorator_list))
                yield first, max(node.lineno, node.body[0].lineno - 1), node.name
                if isinstance(node, ast.ClassDef):
                    yield from _defined(node)
            case ast.Import() | ast.ImportFrom():
                for alias in node.names:
                    name = (alias.asname or alias.name).partition(".")[0]
                    yield alias.lineno, alias.end_lineno or alias.lineno, name
            case ast.Assign() | ast.AnnAssign() | ast.AugAssign():
                targets = node.targets if isinstance(node, ast.Assign) else [node.target]
                for name in {n.id for t in targets for n in ast.walk(t) if isinstance(n, ast.Name)}:
                    yield node.lineno, node.end_lineno or node.lineno, name
            case ast.stmt() | ast.excepthandler():
                yield from _defined(node)


def _used(tree: ast.AST) -> Iterator[tuple[int, int, str]]:
    for node in ast.walk(tree):
        line = getattr(node, "lineno", 0)
        match node:
            case ast.Name(id=name) | ast.Attribute(attr=name):
                yield line, node.end_lineno or line, name
            case ast.ImportFrom() | ast.Import():
                for alias in node.names:
                    yield alias.lineno, alias.end_lineno or alias.lineno, alias.name


@functools.lru_cache(maxsize=64)
def _imported(source: str) -> frozenset[str]:
    return frozenset(
        alias.name
        for node in ast.walk(_tree(source))
        if isinstance(node, ast.Import | ast.ImportFrom)
        for alias in node.names
    )


@functools.lru_cache(maxsize=512)
def _used_in(source: str, function: str) -> frozenset[str]:
    return frozenset(
        name
        for node in ast.walk(_tree(source))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.name == function
        for _, _, name in _used(node)
    )
