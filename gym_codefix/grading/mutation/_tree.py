"""The concrete syntax tree of a file and a walk over the code that its functions run."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache

import libcst as cst
from libcst.metadata import CodeRange, MetadataWrapper, PositionProvider

from ._text import SourceText, Span


@dataclass(frozen=True, slots=True)
class Scope:
    """An outermost function: what must be compiled to know what a change inside it does.

    Attributes:
        span: from its `def` to its end.
        classes: the enclosing class statements, outermost first, as (offset, name).
    """

    span: Span
    classes: tuple[tuple[int, str], ...]


@dataclass(frozen=True, slots=True)
class Site:
    """A node inside a function body, with the way up."""

    node: cst.CSTNode
    parent: Site | None
    function: str
    scope: Scope


class Tree:
    """A parsed file.

    Raises:
        ValueError: the text does not parse; the message names the line.
    """

    def __init__(self, text: str) -> None:
        try:
            self.module = cst.parse_module(text)
            # libcst shares no node inside a tree that it has just parsed, so no copy is needed.
            wrapper = MetadataWrapper(self.module, unsafe_skip_copy=True)
            positions = wrapper.resolve(PositionProvider)
        except cst.ParserSyntaxError as error:
            raise ValueError(f"line {error.raw_line}: {error.message}") from error
        except (cst.CSTValidationError, TypeError) as error:
            # libcst does not read a few spellings that Python does, such as `not((lambda: x))`.
            raise ValueError(f"line 1 or later: libcst cannot read the file: {error}") from error
        except RecursionError as error:
            raise ValueError("line 1: an expression is nested too deeply to parse") from error
        self.source = SourceText(text)
        self._positions: Mapping[cst.CSTNode, CodeRange] = positions

    def span(self, node: cst.CSTNode) -> Span:
        """Where a node stands, without its own parentheses, whitespace and comments."""
        where = self._positions[node]
        return (
            self.source.offset(where.start.line, where.start.column),
            self.source.offset(where.end.line, where.end.column),
        )

    def outer_span(self, node: cst.BaseExpression) -> Span:
        """Where an expression stands, with its own parentheses."""
        start, end = self.span(node)
        if node.lpar:
            start = self.span(node.lpar[0])[0]
            end = self.span(node.rpar[-1])[1]
        return start, end

    def code(self, node: cst.CSTNode) -> str:
        """The text of `span`."""
        return self.slice(self.span(node))

    def outer_code(self, node: cst.BaseExpression) -> str:
        """The text of `outer_span`."""
        return self.slice(self.outer_span(node))

    def slice(self, span: Span) -> str:
        """The text of a span."""
        return self.source.text[span[0] : span[1]]

    def sites(self) -> Iterator[Site]:
        """Every node that a function of the file may run, in no particular order.

        Left out: module level and class bodies outside functions, docstrings, annotations,
        decorators, defaults, class arguments, type parameters and what only a type checker sees.
        """
        stack: list[tuple[cst.CSTNode, _Place]] = [(self.module, _Place())]
        while stack:
            node, place = stack.pop()
            inside, site = self._enter(node, place)
            if site is not None and not _is_for_type_checkers(node):
                yield site
            stack.extend((child, inside) for child in _running_children(node))

    def _enter(self, node: cst.CSTNode, place: _Place) -> tuple[_Place, Site | None]:
        """Where the children of a node stand, and its site when it is in a function body."""
        site = None
        if place.scope is not None:
            site = Site(node, place.parent, place.function, place.scope)
            place = dataclasses.replace(place, parent=site)
        if isinstance(node, cst.FunctionDef):
            function = place.prefix + node.name.value
            scope = place.scope or Scope(self.span(node), place.classes)
            prefix = f"{function}.<locals>."
            return dataclasses.replace(place, function=function, prefix=prefix, scope=scope), site
        if isinstance(node, cst.ClassDef):
            classes = (*place.classes, (self.span(node)[0], node.name.value))
            prefix = f"{place.prefix}{node.name.value}."
            return dataclasses.replace(place, prefix=prefix, classes=classes), site
        return place, site


@dataclass(frozen=True, slots=True)
class _Place:
    parent: Site | None = None
    function: str = ""
    prefix: str = ""
    scope: Scope | None = None
    classes: tuple[tuple[int, str], ...] = ()


def is_string(node: cst.CSTNode) -> bool:
    """Whether a node is a string literal of any kind."""
    return isinstance(node, cst.SimpleString | cst.FormattedString | cst.ConcatenatedString)


def last_name(node: cst.CSTNode | None) -> str:
    """`c` of `a.b.c` or of `c`, `""` for anything else."""
    if isinstance(node, cst.Attribute):
        node = node.attr
    return node.value if isinstance(node, cst.Name) else ""


def _running_children(node: cst.CSTNode) -> list[cst.CSTNode]:
    match node:
        case cst.FunctionDef(body=body) | cst.ClassDef(body=body) | cst.Lambda(body=body):
            children: list[cst.CSTNode] = [body]
        case cst.AnnAssign(target=target, value=value):
            children = [target, *([value] if value is not None else [])]
        case cst.If(orelse=orelse) if _is_for_type_checkers(node):
            children = [orelse] if orelse is not None else []
        case cst.Call(func=func, args=args) if last_name(func) == "cast" and len(args) == 2:
            children = [func, args[1]]
        case cst.FormattedStringExpression(expression=expression):
            # The format spec stays: a broken one only ever raises.
            children = [expression]
        case cst.Expr(value=value) if is_string(value):
            # A docstring, or a string that nobody reads.
            children = []
        case cst.TypeAlias() | cst.Import() | cst.ImportFrom() | cst.Global() | cst.Nonlocal():
            children = []
        case _:
            children = _children(node)
    return children


def _is_for_type_checkers(node: cst.CSTNode) -> bool:
    return isinstance(node, cst.If) and last_name(node.test) == "TYPE_CHECKING"


def _children(node: cst.CSTNode) -> list[cst.CSTNode]:
    children: list[cst.CSTNode] = []
    for name in _node_fields(type(node)):
        value = getattr(node, name)
        if isinstance(value, cst.CSTNode):
            children.append(value)
        elif isinstance(value, list | tuple):
            children.extend(item for item in value if isinstance(item, cst.CSTNode))
    return children


_TRIVIA = ("whitespace", "leading_lines", "lines_after", "lpar", "rpar", "header", "footer")


@cache
def _node_fields(node_type: type[cst.CSTNode]) -> tuple[str, ...]:
    names = (field.name for field in dataclasses.fields(node_type))
    return tuple(name for name in names if not name.startswith(_TRIVIA))
