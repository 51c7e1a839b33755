"""Operators on conditions."""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from ._registry import Proposal, operator
from ._text import Edit, splice
from ._tree import Site, Tree

_INVERSE = {
    "<": ">=",
    "<=": ">",
    ">": "<=",
    ">=": "<",
    "==": "!=",
    "!=": "==",
    "is": "is not",
    "is not": "is",
    "in": "not in",
    "not in": "in",
}
_ATOMS = (cst.Name, cst.Attribute, cst.Call, cst.Subscript)


def negated(tree: Tree, condition: cst.BaseExpression) -> str:
    """The text that negates a condition and may stand where the condition stood."""
    span = tree.span(condition)
    if isinstance(condition, cst.Comparison) and len(condition.comparisons) == 1:
        start, end = tree.span(condition.comparisons[0].operator)
        inverse = _INVERSE.get(" ".join(tree.slice((start, end)).split()))
        if inverse is not None:
            edit = Edit(start - span[0], end - span[0], inverse)
            return splice(tree.slice(span), [edit])
    code = tree.slice(span)
    return f"not {code}" if isinstance(condition, _ATOMS) else f"not ({code})"


def is_negation(condition: cst.BaseExpression) -> bool:
    """Whether a condition is a `not`."""
    return isinstance(condition, cst.UnaryOperation) and isinstance(condition.operator, cst.Not)


@operator(
    "negate-condition",
    "the condition of an if, while, ternary, assert, case guard or comprehension is negated",
    cst.If,
    cst.While,
    cst.IfExp,
    cst.Assert,
    cst.MatchCase,
    cst.CompIf,
)
def negate_condition(tree: Tree, site: Site) -> Iterator[Proposal]:
    node = site.node
    if isinstance(node, cst.MatchCase):
        condition = node.guard
    else:
        assert isinstance(node, cst.If | cst.While | cst.IfExp | cst.Assert | cst.CompIf)
        condition = node.test
    # `unary:drop-not` already covers a condition that is a negation.
    if condition is None or is_negation(condition):
        return
    kind = {cst.MatchCase: "case", cst.CompIf: "filter", cst.IfExp: "ternary"}.get(
        type(node), type(node).__name__.lower()
    )
    yield Proposal(kind, tree.span(condition), negated(tree, condition))


@operator("comprehension-filter", "an `if` of a comprehension is dropped", cst.CompIf)
def comprehension_filter(tree: Tree, site: Site) -> Iterator[Proposal]:
    assert isinstance(site.node, cst.CompIf)
    start, end = tree.span(site.node)
    start += len(tree.module.code_for_node(site.node.whitespace_before))
    before = len(tree.source.text[:start].rstrip())
    # A comment above would swallow what follows on its line.
    if "#" in tree.slice((tree.source.line_start(before), start)):
        before = start
    yield Proposal("drop", (start, end), "", edited=(before, end))
