"""Operators on the operators of expressions."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import libcst as cst

from ._registry import Proposal, operator
from ._tree import Site, Tree, is_string

_RELATIONAL = {
    "<": ("<=", ">", ">="),
    "<=": ("<", ">", ">="),
    ">": (">=", "<", "<="),
    ">=": (">", "<", "<="),
    "==": ("!=",),
    "!=": ("==",),
    "is": ("is not",),
    "is not": ("is",),
    "in": ("not in",),
    "not in": ("in",),
}
_LOGICAL = {"and": ("or",), "or": ("and",)}
_ARITHMETIC = {
    "+": ("-",),
    "-": ("+",),
    "*": ("/", "//"),
    "/": ("*", "//"),
    "//": ("/", "*"),
    "%": ("//", "*"),
    "**": ("*",),
    "@": ("*",),
}
_BITWISE = {"&": ("|", "^"), "|": ("&", "^"), "^": ("&", "|"), "<<": (">>",), ">>": ("<<",)}


def _replacements(
    tree: Tree, token: cst.CSTNode, table: Mapping[str, tuple[str, ...]], suffix: str = ""
) -> Iterator[Proposal]:
    """Each replacement of an operator token by its neighbours."""
    span = tree.span(token)
    old = " ".join(tree.slice(span).split())
    for new in table.get(old.removesuffix(suffix), ()):
        yield Proposal(f"{old}->{new}{suffix}", span, new + suffix)


@operator(
    "relational", "a comparison operator becomes each of its neighbours", cst.ComparisonTarget
)
def relational(tree: Tree, site: Site) -> Iterator[Proposal]:
    assert isinstance(site.node, cst.ComparisonTarget)
    yield from _replacements(tree, site.node.operator, _RELATIONAL)


@operator("logical", "`and` and `or` are exchanged", cst.BooleanOperation)
def logical(tree: Tree, site: Site) -> Iterator[Proposal]:
    assert isinstance(site.node, cst.BooleanOperation)
    yield from _replacements(tree, site.node.operator, _LOGICAL)


@operator("arithmetic", "an arithmetic operator becomes another of its kind", cst.BinaryOperation)
def arithmetic(tree: Tree, site: Site) -> Iterator[Proposal]:
    assert isinstance(site.node, cst.BinaryOperation)
    # On a string literal every other operator raises whatever the operands are.
    if not is_string(site.node.left) and not is_string(site.node.right):
        yield from _replacements(tree, site.node.operator, _ARITHMETIC)


@operator("bitwise", "a bitwise operator or shift becomes another", cst.BinaryOperation)
def bitwise(tree: Tree, site: Site) -> Iterator[Proposal]:
    assert isinstance(site.node, cst.BinaryOperation)
    yield from _replacements(tree, site.node.operator, _BITWISE)


@operator("unary", "a `not`, minus or `~` is dropped", cst.UnaryOperation)
def unary(tree: Tree, site: Site) -> Iterator[Proposal]:
    assert isinstance(site.node, cst.UnaryOperation)
    operand = site.node.expression
    yield Proposal(
        f"drop-{tree.code(site.node.operator).strip()}",
        tree.span(site.node),
        tree.outer_code(operand),
    )


@operator(
    "augmented",
    "the operator of an augmented assignment becomes another, or plain assignment",
    cst.AugAssign,
)
def augmented(tree: Tree, site: Site) -> Iterator[Proposal]:
    assert isinstance(site.node, cst.AugAssign)
    token = site.node.operator
    if not is_string(site.node.value):
        yield from _replacements(tree, token, _ARITHMETIC | _BITWISE, "=")
    yield Proposal(f"{tree.code(token)}->=", tree.span(token), "=")
