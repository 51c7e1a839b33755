"""Operators on whole statements."""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from ._conditions import is_negation, negated
from ._numbers import spell
from ._registry import Proposal, operator
from ._text import Span
from ._tree import Site, Tree, last_name


def _lines(tree: Tree, span: Span) -> Span:
    """The whole lines of a span, with the last line's end."""
    return tree.source.line_start(span[0]), tree.source.next_line(span[1])


def _removal(tree: Tree, site: Site, label: str) -> Proposal:
    """Remove a statement with its lines, or put `pass` where nothing else would be left."""
    span = tree.span(site.node)
    statement = site
    if isinstance(site.node, cst.BaseSmallStatement):
        assert site.parent is not None
        statement = site.parent
        if isinstance(statement.node, cst.SimpleStatementSuite) or _has_company(statement.node):
            return Proposal(label, span, "pass")
    block = statement.parent
    if block is None or not _has_company(block.node):
        return Proposal(label, span, "pass")
    return Proposal(label, span, "", edited=_lines(tree, span))


def _has_company(node: cst.CSTNode) -> bool:
    assert isinstance(node, cst.SimpleStatementLine | cst.IndentedBlock | cst.SimpleStatementSuite)
    return len(node.body) > 1


@operator("remove-branch", "an arm of an `if` is removed", cst.If)
def remove_branch(tree: Tree, site: Site) -> Iterator[Proposal]:
    node = site.node
    assert isinstance(node, cst.If)
    start = tree.span(node)[0]
    is_elif = site.parent is not None and isinstance(site.parent.node, cst.If)
    arm = (start, tree.span(node.body)[1])
    if is_elif:
        yield Proposal("elif", arm, "", edited=_lines(tree, arm))
    elif node.orelse is None:
        yield _removal(tree, site, "if")
    elif isinstance(node.orelse, cst.If):
        # What follows `el` of the next arm's `elif` takes the place of this arm.
        yield Proposal("if", arm, "", edited=(start, tree.span(node.orelse)[0] + len("el")))
    if isinstance(node.orelse, cst.Else):
        span = tree.span(node.orelse)
        yield Proposal("else", span, "", edited=_lines(tree, span))


@operator(
    "delete-statement",
    "a call, raise, augmented assignment or assignment to an attribute or item is deleted",
    cst.Expr,
    cst.Assign,
    cst.AnnAssign,
    cst.AugAssign,
    cst.Raise,
)
def delete_statement(tree: Tree, site: Site) -> Iterator[Proposal]:
    match site.node:
        case cst.Expr(value=cst.Call() | cst.Await(expression=cst.Call())):
            yield _removal(tree, site, "call")
        case cst.Assign(targets=targets) if all(_is_stored(each.target) for each in targets):
            yield _removal(tree, site, "assignment")
        case cst.AnnAssign(target=target, value=cst.BaseExpression()) if _is_stored(target):
            yield _removal(tree, site, "assignment")
        case cst.AugAssign():
            yield _removal(tree, site, "augmented")
        case cst.Raise():
            yield _removal(tree, site, "raise")


def _is_stored(target: cst.BaseExpression) -> bool:
    """Whether a target outlives the call, so that no name is left unbound without it."""
    return isinstance(target, cst.Attribute | cst.Subscript)


@operator(
    "return-value",
    "a returned value becomes None, a condition its negation, a number one more",
    cst.Return,
)
def return_value(tree: Tree, site: Site) -> Iterator[Proposal]:
    assert isinstance(site.node, cst.Return)
    value = site.node.value
    if value is None:
        return
    span = tree.span(value)
    if last_name(value) != "None":
        yield Proposal("None", span, "None")
    match value:
        case cst.Name(value="True" | "False" as name):
            yield Proposal("negate", span, "False" if name == "True" else "True")
        case cst.Comparison() | cst.BooleanOperation():
            yield Proposal("negate", span, negated(tree, value))
        case cst.UnaryOperation(expression=operand) if is_negation(value):
            yield Proposal("negate", span, tree.outer_code(operand))
        case cst.Integer() | cst.Float():
            yield Proposal("+1", span, spell(value.evaluated_value + 1, value.value))


@operator("loop-control", "`break` and `continue` are exchanged", cst.Break, cst.Continue)
def loop_control(tree: Tree, site: Site) -> Iterator[Proposal]:
    old, new = ("break", "continue") if isinstance(site.node, cst.Break) else ("continue", "break")
    yield Proposal(f"{old}->{new}", tree.span(site.node), new)
