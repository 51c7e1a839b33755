"""Values that differ from the one they replace, and look like it."""

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
    """Replace `node` by a value of the same type that does not equal it.

    With `identity` (for `is`) a literal is varied at run time: equal ones need not be identical.
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
    return whole


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
