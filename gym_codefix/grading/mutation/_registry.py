"""The operators: which node types each looks at, and what it proposes there."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from types import MappingProxyType

import libcst as cst

from ._text import Span
from ._tree import Site, Tree


@dataclass(frozen=True, slots=True)
class Proposal:
    """A replacement that an operator offers.

    Attributes:
        label: what is replaced; the family and a colon are put in front of it.
        span: the replaced node.
        text: the new text.
        edited: the characters that `text` replaces, where they are not just those of `span`
            (a deleted statement takes its line with it).
    """

    label: str
    span: Span
    text: str
    edited: Span | None = None


Operator = Callable[[Tree, Site], Iterator[Proposal]]

_descriptions: dict[str, str] = {}
_by_node_type: dict[type[cst.CSTNode], list[tuple[str, Operator]]] = {}

OPERATORS: Mapping[str, str] = MappingProxyType(_descriptions)
"""Every family of mutation operators, with one line that says what it does."""


def operator(
    family: str, description: str, *node_types: type[cst.CSTNode]
) -> Callable[[Operator], Operator]:
    """Register a function as the operator of a family, called at nodes of these exact types."""

    def register(function: Operator) -> Operator:
        _descriptions[family] = description
        for node_type in node_types:
            _by_node_type.setdefault(node_type, []).append((family, function))
        return function

    return register


def operators_at(node: cst.CSTNode) -> list[tuple[str, Operator]]:
    """The (family, operator) pairs that look at nodes of this type."""
    return _by_node_type.get(type(node), [])
