"""Operators on constants."""

from __future__ import annotations

import ast
import math
from collections.abc import Iterator

import libcst as cst

from ._numbers import spell
from ._registry import Proposal, operator
from ._tree import Site, Tree

_SINGLETONS = {"True": ("False",), "False": ("True",), "None": ("False", "True")}


@operator(
    "number",
    "a number becomes one more, one less, 0, 1 or its negative",
    cst.Integer,
    cst.Float,
    cst.Imaginary,
)
def number(tree: Tree, site: Site) -> Iterator[Proposal]:
    span = tree.span(site.node)
    old = tree.slice(span)
    value = ast.literal_eval(old)
    unit = type(value)(1) if not isinstance(value, complex) else 1j
    parent = site.parent.node if site.parent else None
    binds_tightly = isinstance(
        parent, cst.BinaryOperation | cst.UnaryOperation | cst.Attribute | cst.Subscript
    )
    offers = [("+1", value + unit), ("-1", value - unit), ("0", 0 * unit), ("1", unit)]
    if not isinstance(parent, cst.UnaryOperation):
        offers.append(("negate", -value))
    for label, new in offers:
        if new == value or not (isinstance(new, int) or math.isfinite(abs(new))):
            continue
        text = spell(new, old)
        yield Proposal(label, span, f"({text})" if binds_tightly and text[0] == "-" else text)


@operator(
    "string",
    "a string becomes empty or is changed in its end or its case",
    cst.SimpleString,
    cst.FormattedStringText,
)
def string(tree: Tree, site: Site) -> Iterator[Proposal]:
    span = tree.span(site.node)
    if isinstance(site.node, cst.SimpleString):
        after: str = site.node.quote
        before = site.node.prefix + after
    else:
        before, after = "", ""
    body = tree.slice(span).removeprefix(before).removesuffix(after)
    if body:
        yield Proposal("empty", span, before + after)
    yield Proposal("changed", span, f"{before}{body}_{after}")
    # Escapes and format fields change their meaning with their case.
    if not set(body) & set("\\{}%") and body.swapcase() != body:
        yield Proposal("changed", span, before + body.swapcase() + after)


@operator("constant", "True, False and None become one another", cst.Name)
def constant(tree: Tree, site: Site) -> Iterator[Proposal]:
    # `raise … from None` is no constant: from anything else it is a TypeError.
    if site.parent is not None and isinstance(site.parent.node, cst.From):
        return
    span = tree.span(site.node)
    name = tree.slice(span)
    for new in _SINGLETONS.get(name, ()):
        yield Proposal(f"{name}->{new}", span, new)
