"""Operators on what calls and subscripts are given."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise

import libcst as cst

from ._numbers import spell
from ._registry import Proposal, operator
from ._text import Span
from ._tree import Site, Tree, is_string

# Names that hold positions; `d[key + 1]` would only ever be a KeyError or a TypeError.
_POSITION_NAME = re.compile(
    r"[a-z]|(.*_)?(idx|index|pos|position|offset|start|end|stop|count|num|depth|level|size)"
)
_ATOMS = (cst.Name, cst.Attribute, cst.Call, cst.Subscript)


@operator(
    "call-argument",
    "a keyword argument is dropped or two adjacent positional arguments are exchanged",
    cst.Call,
)
def call_argument(tree: Tree, site: Site) -> Iterator[Proposal]:
    assert isinstance(site.node, cst.Call)
    args = site.node.args
    for index, arg in enumerate(args):
        if arg.keyword is not None:
            yield Proposal(
                f"drop-{arg.keyword.value}", tree.span(arg), "", edited=_without(tree, args, index)
            )
    for left, right in pairwise(args):
        if all(arg.keyword is None and not arg.star for arg in (left, right)):
            start, left_end = tree.span(left)
            right_start, end = tree.span(right)
            between = tree.slice((left_end, right_start))
            swapped = tree.code(right) + between + tree.code(left)
            yield Proposal("swap", (start, end), swapped)


def _without(tree: Tree, args: Sequence[cst.Arg], index: int) -> Span:
    """What to cut so that an argument goes with one comma."""
    start, end = tree.span(args[index])
    if index + 1 < len(args):
        return start, tree.span(args[index + 1])[0]
    if index > 0:
        return tree.span(args[index - 1])[1], end
    comma = args[index].comma
    return start, tree.span(comma)[1] if isinstance(comma, cst.Comma) else end


@operator(
    "slice",
    "an index or a slice bound moves by one; a slice bound or step is dropped",
    cst.Index,
    cst.Slice,
)
def slice_and_index(tree: Tree, site: Site) -> Iterator[Proposal]:
    node = site.node
    if isinstance(node, cst.Index):
        if node.star is None and _is_position(node.value):
            yield from _moved(tree, "index", node.value)
        return
    assert isinstance(node, cst.Slice)
    for name, bound in (("lower", node.lower), ("upper", node.upper)):
        if bound is not None:
            yield from _moved(tree, name, bound)
            yield Proposal(f"{name}-drop", tree.span(bound), "", edited=tree.outer_span(bound))
    if node.step is not None and isinstance(node.second_colon, cst.Colon):
        edited = (tree.span(node.second_colon)[0], tree.outer_span(node.step)[1])
        yield Proposal("step-drop", tree.span(node.step), "", edited=edited)


def _is_position(index: cst.BaseExpression) -> bool:
    match index:
        case cst.Name(value=name):
            return _POSITION_NAME.fullmatch(name) is not None
        case cst.BinaryOperation(left=left, right=right, operator=cst.Add() | cst.Subtract()):
            return not is_string(left) and not is_string(right)
        case cst.Call(func=cst.Name(value="len")):
            return True
    return _literal(index) is not None


def _moved(tree: Tree, name: str, bound: cst.BaseExpression) -> Iterator[Proposal]:
    span = tree.span(bound)
    value = _literal(bound)
    for sign, step in (("+", 1), ("-", -1)):
        if value is not None:
            text = spell(value + step, tree.slice(span).lstrip("- "))
        elif _binds_as_a_sum(bound):
            text = f"{tree.slice(span)} {sign} 1"
        else:
            text = f"({tree.slice(span)}) {sign} 1"
        yield Proposal(f"{name}{sign}1", span, text)


def _binds_as_a_sum(expression: cst.BaseExpression) -> bool:
    if isinstance(expression, cst.BinaryOperation):
        return isinstance(expression.operator, cst.Add | cst.Subtract | cst.Multiply)
    return isinstance(expression, _ATOMS)


def _literal(expression: cst.BaseExpression) -> int | None:
    match expression:
        case cst.Integer():
            return expression.evaluated_value
        case cst.UnaryOperation(operator=cst.Minus(), expression=cst.Integer() as operand):
            return -operand.evaluated_value
    return None
