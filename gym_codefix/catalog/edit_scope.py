"""What an edit of one module can reach, read off the two texts alone.

A patch that touches nothing but function bodies can be graded by the tests that run those
functions; anything else needs the whole kept set. Every rule here errs to the safe side: in
doubt an edit is not `body_only` and has `global_effects`.

Not seen here: a body that already runs while the module is imported. The caller compares the
spans with the lines that an import runs.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence
from dataclasses import dataclass

from gym_codefix.catalog._effects import ImportTable, has_global_effects
from gym_codefix.catalog.hunks import split_lines
from gym_codefix.catalog.syntax import declared_encodings, parse, quiet_compiler

__all__ = ["EditScope", "FunctionSpan", "classify_edit"]

_FunctionNode = ast.FunctionDef | ast.AsyncFunctionDef
_HEADER_PARTS = {
    "args": "parameters",
    "decorator_list": "decorators",
    "keywords": "class keywords",
    "returns": "return annotation",
}


@dataclass(frozen=True)
class FunctionSpan:
    """An outermost function (or method) whose body changed.

    `before` and `after` are the first and last line of its body in either text, 1-based and
    inclusive, without the docstring unless that is all there is. Two functions may share a
    `qualified_name` (a property and its setter, the branches of an if).
    """

    qualified_name: str
    before: tuple[int, int]
    after: tuple[int, int]


@dataclass(frozen=True)
class EditScope:
    """How far an edit reaches.

    `body_only`: the modules are equal but for statements inside function bodies. Decorators,
    defaults, annotations, docstrings, class bodies and module level are outside, and so is a
    method that starts or stops using its class cell, since its code cannot be exchanged alone.
    `functions`: the changed functions in source order; empty unless `body_only`.
    `global_effects`: a changed body, in either text, writes state that outlives its call, or
    newly imports or calls another module; always true unless `body_only`.
    `reason`: why it is not `body_only`, with the line in the new text; else empty.
    """

    body_only: bool
    functions: tuple[FunctionSpan, ...]
    global_effects: bool
    reason: str


class _OutsideBodies(Exception):
    """The two modules differ outside function bodies."""


def classify_edit(before: str | None, after: str) -> EditScope:
    """The scope of the edit that makes `before` (None for a new file) into `after`.

    Raises ValueError with the line and the message when `after` is not valid Python.
    """
    after_tree = _parse(after)
    if before == after:
        return EditScope(True, (), False, "")
    try:
        changed = _changed_functions(before, after, after_tree)
        imports = ImportTable(after_tree)
        effects = any(has_global_effects(old, new, imports) for _, old, new in changed)
    except _OutsideBodies as outside:
        _compile(after_tree, after)
        return EditScope(False, (), True, str(outside))
    except (RecursionError, ValueError):  # ValueError: a number too long to print
        _compile(after_tree, after)
        return EditScope(False, (), True, "line 1: too deep or too long to compare")
    for _, _, function in changed:
        _compile(ast.Module([function], type_ignores=[]), after)
    spans = tuple(
        FunctionSpan(name, _body_lines(old), _body_lines(new)) for name, old, new in changed
    )
    return EditScope(True, spans, effects, "")


def _parse(text: str) -> ast.Module:
    try:
        return parse(text.removeprefix("\ufeff"))
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        raise _syntax_problem(error) from None


def _compile(tree: ast.Module, text: str) -> None:
    """Find what only the compiler refuses, such as a return outside a function."""
    try:
        with quiet_compiler():
            try:
                compile(tree, "<edit>", "exec", dont_inherit=True)
            except RecursionError:  # text may nest deeper than a tree that Python built
                compile(text.removeprefix("\ufeff"), "<edit>", "exec", dont_inherit=True)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        raise _syntax_problem(error) from None


def _syntax_problem(error: Exception) -> ValueError:
    if isinstance(error, SyntaxError):
        return ValueError(f"line {error.lineno or 1}: {error.msg}")
    if isinstance(error, RecursionError | MemoryError):
        return ValueError("line 1: nested too deeply to parse")
    return ValueError(f"line 1: {error}")


def _changed_functions(
    before: str | None, after: str, after_tree: ast.Module
) -> list[tuple[str, _FunctionNode, _FunctionNode]]:
    if before is None:
        raise _OutsideBodies("line 1: the file is new")
    try:
        before_tree = _parse(before)
    except ValueError as error:
        raise _OutsideBodies(f"the text before does not parse: {error}") from None
    comparison = _Comparison(split_lines(before), split_lines(after))
    if comparison.coding_cookies_differ():
        raise _OutsideBodies("line 1: the source encoding changed")
    comparison.block(before_tree.body, after_tree.body, "", None)
    return comparison.changed


class _Comparison:
    """Walks two modules side by side, statement by statement."""

    def __init__(self, before: Sequence[str], after: Sequence[str]) -> None:
        self.before = before
        self.after = after
        self.changed: list[tuple[str, _FunctionNode, _FunctionNode]] = []

    def coding_cookies_differ(self) -> bool:
        return declared_encodings(self.before) != declared_encodings(self.after)

    def block(
        self, old: Sequence[ast.AST], new: Sequence[ast.AST], prefix: str, parent: ast.AST | None
    ) -> None:
        """Compare two lists of statements (or handlers, or match cases)."""
        for one, other in zip(old, new, strict=False):
            self.statement(one, other, prefix)
        if len(old) != len(new):
            extra = new[len(old)] if len(new) > len(old) else (parent or (new[-1] if new else None))
            line = getattr(extra, "lineno", 1)
            raise _OutsideBodies(f"line {line}: statements added or removed {_place(prefix)}")

    def statement(self, old: ast.AST, new: ast.AST, prefix: str) -> None:
        if self.same_text(old, new):
            return
        if type(old) is not type(new):
            raise _OutsideBodies(f"line {_first_line(new)}: a statement changed {_place(prefix)}")
        if isinstance(old, _FunctionNode) and isinstance(new, _FunctionNode):
            self.function(old, new, prefix)
            return
        inner = f"{prefix}{new.name}." if isinstance(new, ast.ClassDef) else prefix
        for field, new_value in ast.iter_fields(new):
            old_value = getattr(old, field)
            if _is_block(old_value) and _is_block(new_value):
                self.block(old_value, new_value, inner, new)
            elif not _equal(old_value, new_value):
                part = _HEADER_PARTS.get(field, field)
                what = f"the {part} of {inner[:-1]}" if inner != prefix else "a statement"
                raise _OutsideBodies(f"line {_first_line(new)}: {what} changed {_place(prefix)}")

    def function(self, old: _FunctionNode, new: _FunctionNode, prefix: str) -> None:
        name = prefix + new.name
        for field, new_value in ast.iter_fields(new):
            if field != "body" and not _equal(getattr(old, field), new_value):
                part = _HEADER_PARTS.get(field, field)
                raise _OutsideBodies(f"line {_first_line(new)}: the {part} of {name} changed")
        if ast.get_docstring(old, clean=False) != ast.get_docstring(new, clean=False):
            raise _OutsideBodies(f"line {_first_line(new)}: the docstring of {name} changed")
        if _equal(old.body, new.body):
            return
        if prefix and _uses_class_cell(old) != _uses_class_cell(new):
            raise _OutsideBodies(f"line {_first_line(new)}: the use of super in {name} changed")
        self.changed.append((name, old, new))

    def same_text(self, old: ast.AST, new: ast.AST) -> bool:
        """Whether the source of two statements is equal: quicker than to compare their trees."""
        old_span, new_span = _span(old), _span(new)
        if old_span is None or new_span is None or type(old) is not type(new):
            return False
        first, last, *columns = old_span
        new_first, new_last, *new_columns = new_span
        return (
            columns == new_columns
            and self.before[first - 1 : last] == self.after[new_first - 1 : new_last]
        )


def _span(node: ast.AST) -> tuple[int, int, int, int] | None:
    if not isinstance(node, ast.stmt | ast.excepthandler):
        return None
    assert node.end_lineno is not None and node.end_col_offset is not None  # parsed, not built
    return _first_line(node), node.end_lineno, node.col_offset, node.end_col_offset


def _first_line(node: ast.AST) -> int:
    decorators = getattr(node, "decorator_list", [])
    if isinstance(node, ast.match_case):
        return node.pattern.lineno
    line: int = min([getattr(node, "lineno", 1), *(item.lineno for item in decorators)])
    return line


def _is_block(value: object) -> bool:
    return (
        isinstance(value, list)
        and bool(value)
        and isinstance(value[0], ast.stmt | ast.excepthandler | ast.match_case)
    )


def _equal(old: object, new: object) -> bool:
    if isinstance(old, list) and isinstance(new, list):
        return len(old) == len(new) and all(map(_equal, old, new))
    if isinstance(old, ast.AST) and isinstance(new, ast.AST):
        return ast.dump(old) == ast.dump(new)
    return type(old) is type(new) and old == new


def _uses_class_cell(function: ast.AST) -> bool:
    return any(
        isinstance(node, ast.Name) and node.id in ("super", "__class__")
        for node in ast.walk(function)
    )


def _body_lines(function: _FunctionNode) -> tuple[int, int]:
    body = function.body
    if len(body) > 1 and ast.get_docstring(function, clean=False) is not None:
        body = body[1:]
    end = body[-1].end_lineno
    assert end is not None  # parsed, not built
    return _first_line(body[0]), end


def _place(prefix: str) -> str:
    return f"in class {prefix[:-1]}" if prefix else "at module level"
