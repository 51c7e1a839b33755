"""The ways to break each form of assertion."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from gym_codefix.grading.twins._operands import is_literal, unequal
from gym_codefix.grading.twins._site import TwinSite
from gym_codefix.grading.twins._text import SourceText, Span, Splice

#: unittest methods and the ones that hold exactly when they do not.
_PAIRS = (
    ("assertEqual", "assertNotEqual"),
    ("assertTrue", "assertFalse"),
    ("assertIn", "assertNotIn"),
    ("assertIs", "assertIsNot"),
    ("assertIsNone", "assertIsNotNone"),
    ("assertIsInstance", "assertNotIsInstance"),
    ("assertAlmostEqual", "assertNotAlmostEqual"),
    ("assertGreater", "assertLessEqual"),
    ("assertLess", "assertGreaterEqual"),
    ("assertRegex", "assertNotRegex"),
)
_OPPOSITES = dict(_PAIRS) | {second: first for first, second in _PAIRS}
_OPPOSITES |= dict.fromkeys(
    ("assertListEqual", "assertTupleEqual", "assertSetEqual", "assertDictEqual"), "assertNotEqual"
)
_OPPOSITES |= {"assertMultiLineEqual": "assertNotEqual"}

_EQUALITIES = frozenset(
    {"assertEqual", "assertListEqual", "assertTupleEqual", "assertSetEqual", "assertDictEqual"}
    | {"assertMultiLineEqual", "assertSequenceEqual", "assertCountEqual"}
)
_EXPECTED_EXCEPTION = {
    "raises": "Exception",
    "assertRaises": "Exception",
    "assertRaisesRegex": "Exception",
    "warns": "Warning",
    "assertWarns": "Warning",
    "assertWarnsRegex": "Warning",
}
_ASSERTING = re.compile(r"_*(?:assert|check|expect|verify|ensure)", re.IGNORECASE)

Break = tuple[TwinSite, tuple[Splice, ...]]


def breaks_of(source: SourceText, node: ast.AST) -> Iterator[Break]:
    """Every way to break the assertion that `node` itself is; none if it is not one."""
    if isinstance(node, ast.Assert):
        yield from _break_assert(source, node)
    elif isinstance(node, (ast.With, ast.AsyncWith)):
        for item in node.items:
            if isinstance(item.context_expr, ast.Call):
                yield from _break_call(source, item.context_expr, statement=False)
    elif isinstance(node, ast.Expr):
        value = node.value.value if isinstance(node.value, ast.Await) else node.value
        while isinstance(value, ast.Call):
            yield from _break_call(source, value, statement=True)
            value = value.func.value if isinstance(value.func, ast.Attribute) else value.func


def _site(source: SourceText, node: ast.expr | ast.stmt, kind: str, variant: str) -> TwinSite:
    return TwinSite(node.lineno, source.column(node), kind, variant)


def _break_assert(source: SourceText, node: ast.Assert) -> Iterator[Break]:
    start, end = source.span(node.test)
    negation = (Splice(Span(start, start), "not ("), Splice(Span(end, end), ")"))
    yield _site(source, node, "negate", ""), negation
    if isinstance(node.test, ast.Compare):
        for variant, splice in _break_comparison(source, node.test):
            yield _site(source, node, "operand", variant), (splice,)


def _break_comparison(source: SourceText, node: ast.Compare) -> Iterator[tuple[str, Splice]]:
    """Change the expected side, so that the value under test is still asked for its opinion."""
    left = node.comparators[-2] if len(node.comparators) > 1 else node.left
    operator, right = node.ops[-1], node.comparators[-1]
    if isinstance(operator, (ast.Eq, ast.Is)):
        identity = isinstance(operator, ast.Is)
        if is_literal(right) or not is_literal(left):
            yield "right", unequal(source, right, identity=identity)
        if not is_literal(right):
            yield "left", unequal(source, left, identity=identity)
    elif isinstance(operator, ast.In):
        if is_literal(right) and not is_literal(left):
            yield "right", Splice(source.span(right), f"({source.stranger(right)},)")
        else:
            yield "left", unequal(source, left)


def _break_call(source: SourceText, node: ast.Call, *, statement: bool) -> Iterator[Break]:
    function = node.func
    name = getattr(function, "attr", getattr(function, "id", ""))
    if name in _EXPECTED_EXCEPTION:
        yield from _break_expectation(source, node, _EXPECTED_EXCEPTION[name])
        return
    if not _ASSERTING.match(name):
        return
    if isinstance(function, ast.Attribute) and name in _OPPOSITES and statement:
        end = source.span(function).end
        swap = Splice(Span(end - len(name), end), _OPPOSITES[name])
        yield _site(source, node, "unittest", _OPPOSITES[name]), (swap,)
    plain = not any(isinstance(argument, ast.Starred) for argument in node.args)
    if name in _EQUALITIES and plain and len(node.args) >= 2:
        expected = [0, 1] if is_literal(node.args[0]) == is_literal(node.args[1]) else []
        for index in expected or [i for i in (0, 1) if is_literal(node.args[i])]:
            splice = unequal(source, node.args[index])
            yield _site(source, node, "operand", f"argument {index}"), (splice,)
    elif name not in _OPPOSITES:
        for index, argument in enumerate(node.args):
            if isinstance(argument, ast.Starred):
                continue
            splice = Splice(source.span(argument), _stranger_argument(source, argument))
            yield _site(source, node, "call", f"argument {index}"), (splice,)


def _stranger_argument(source: SourceText, argument: ast.expr) -> str:
    """A lone generator argument shares its brackets with the call: keep them."""
    stranger = source.stranger(argument)
    return f"({stranger})" if isinstance(argument, ast.GeneratorExp) else stranger


def _break_expectation(source: SourceText, node: ast.Call, base: str) -> Iterator[Break]:
    expected = [*node.args[:1], *(k.value for k in node.keywords if k.arg == "expected_exception")]
    for argument in expected[:1]:
        if not isinstance(argument, ast.Starred):
            splice = Splice(source.span(argument), source.never(argument, base))
            yield _site(source, node, "raises", base), (splice,)
