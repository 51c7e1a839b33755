"""Failing a test that has no assertion to break."""

from __future__ import annotations

import ast

from gym_codefix.grading.twins._functions import find_function
from gym_codefix.grading.twins._text import SourceText, Span, Splice, read_source

_COMPOUND = (
    ast.FunctionDef
    | ast.AsyncFunctionDef
    | ast.ClassDef
    | ast.If
    | ast.For
    | ast.AsyncFor
    | ast.While
    | ast.With
    | ast.AsyncWith
    | ast.Try
    | ast.TryStar
    | ast.Match
)
_LEAVING = (ast.Return, ast.Raise, ast.Continue, ast.Break)
# An outcome of the runner itself: no `except Exception` around it can swallow it.
_FAIL = '__import__("pytest").fail("twin")'


def append_failure(source: str, test_function: str) -> str:
    """The file with that test made to fail, on lines that it already has.

    A last simple statement gets `; assert False` behind it (in front of it, where it leaves the
    function). Otherwise the nearest simple statement of the body before it gets it, or, in a body
    of compound statements only, the expression that the first of them evaluates fails. Raises
    ValueError when the file has no such function or its body is nothing but function definitions,
    SyntaxError (or ValueError) when the source does not parse.
    """
    text = read_source(source)
    function = find_function(text.tree, test_function)
    if function is None:
        raise ValueError(f"the file defines no test function {test_function!r}")
    for statement in reversed(function.body):
        if not isinstance(statement, _COMPOUND):
            return text.apply(_beside(text, statement, "assert False"))
    splice = _in_first(text, function.body)
    if splice is None:
        raise ValueError(f"{test_function!r} only defines functions: nothing in it can fail")
    return text.apply(splice)


def _beside(text: SourceText, statement: ast.stmt, failure: str) -> Splice:
    start, end = text.span(statement)
    if isinstance(statement, _LEAVING):
        return Splice(Span(start, start), f"{failure}; ")
    return Splice(Span(end, end), f"; {failure}")


def _in_first(text: SourceText, block: list[ast.stmt]) -> Splice | None:
    for statement in block:
        if not isinstance(statement, _COMPOUND):
            return _beside(text, statement, _FAIL)
        inner: list[ast.stmt] = []
        match statement:
            case ast.If(test=header) | ast.While(test=header) | ast.Match(subject=header):
                return _before(text, header)
            case ast.For(iter=header) | ast.AsyncFor(iter=header):
                return _before(text, header)
            case ast.With(items=[first, *_]) | ast.AsyncWith(items=[first, *_]):
                return _before(text, first.context_expr)
            case ast.Try() | ast.TryStar():
                inner = statement.finalbody or statement.body
            case ast.ClassDef():
                inner = statement.body
        splice = _in_first(text, inner)
        if splice is not None:
            return splice
    return None


def _before(text: SourceText, header: ast.expr) -> Splice:
    span = text.span(header)
    return Splice(span, f"({_FAIL} or ({text.of(header)}))")
