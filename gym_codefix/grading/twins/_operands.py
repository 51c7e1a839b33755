"""Values that can never equal the one they replace."""

from __future__ import annotations

import ast
import hashlib
import math

from gym_codefix.grading.twins._text import SourceText, Span, Splice


def is_literal(node: ast.expr) -> bool:
    """Whether a node spells a value out: a constant or a display of any items."""
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        node = node.operand
    return isinstance(node, (ast.Constant, ast.List, ast.Tuple, ast.Set, ast.Dict))


def unequal(source: SourceText, node: ast.expr, *, identity: bool = False) -> Splice:
    """Replace `node` by a value that never equals it, of the same type where it is a literal.

    With `identity` (for `is`) only booleans keep their type: equal literals need not be identical.
    """
    span = source.span(node)
    whole = Splice(span, source.stranger(node))
    sign, inner = 1, node
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        sign, inner = -1, node.operand
    if isinstance(inner, ast.Constant):
        value = inner.value
        if isinstance(value, bool):
            return Splice(span, str(not value)) if inner is node else whole
        if identity:
            return whole
        salt = int.from_bytes(hashlib.sha256(f"{span.start}{value!r}".encode()).digest()[:2])
        return _unequal_constant(source, node, value, sign, salt + 1) or whole
    if identity or inner is not node:
        return whole
    return _longer_display(source, node) or whole


def _unequal_constant(
    source: SourceText, node: ast.expr, value: object, sign: int, salt: int
) -> Splice | None:
    span = source.span(node)
    if isinstance(value, (str, bytes)) and sign == 1:
        # Implicit concatenation keeps the type, the lines and every prefix as they are.
        prefix = "b" if isinstance(value, bytes) else ""
        return Splice(Span(span.start, span.start), f'{prefix}"~{salt:x}" ')
    if isinstance(value, (int, float)) and math.isfinite(value) and not source.breaks(node):
        signed = sign * value
        other = -signed - salt if signed >= 0 else -signed + salt
        return Splice(span, f"({other!r})")
    return None


def _longer_display(source: SourceText, node: ast.expr) -> Splice | None:
    """Put one more item in front of the others, right after the opening bracket."""
    span = source.span(node)
    opening = source.text[span.start]
    at = Span(span.start + 1, span.start + 1)
    if isinstance(node, ast.Dict) and opening == "{":
        return Splice(at, f"{source.alien}: 0, ")
    if isinstance(node, (ast.List, ast.Set)):
        return Splice(at, f"{source.alien}, ")
    if isinstance(node, ast.Tuple) and opening == "(" and _own_bracket(source, node):
        return Splice(at, f"{source.alien}, ")
    return None


def _own_bracket(source: SourceText, node: ast.Tuple) -> bool:
    """A tuple without brackets may still begin with one: `(a), b`."""
    return not node.elts or source.span(node.elts[0]).start > source.span(node).start
