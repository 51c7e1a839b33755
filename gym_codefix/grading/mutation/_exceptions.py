"""Operators on the exceptions that are raised and caught."""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from ._registry import Proposal, operator
from ._tree import Site, Tree, last_name

# What else a reader might have raised in the same place.
_RAISED = {
    "ArithmeticError": ("ValueError",),
    "AssertionError": ("ValueError",),
    "AttributeError": ("TypeError", "KeyError"),
    "Exception": ("ValueError",),
    "FileExistsError": ("FileNotFoundError",),
    "FileNotFoundError": ("ValueError",),
    "ImportError": ("AttributeError",),
    "IndexError": ("KeyError", "ValueError"),
    "KeyError": ("IndexError", "ValueError"),
    "LookupError": ("ValueError",),
    "NotImplementedError": ("TypeError", "RuntimeError"),
    "OSError": ("ValueError",),
    "OverflowError": ("ValueError",),
    "RuntimeError": ("ValueError", "TypeError"),
    "StopIteration": ("IndexError",),
    "TypeError": ("ValueError", "AttributeError"),
    "ValueError": ("TypeError", "KeyError"),
    "ZeroDivisionError": ("ValueError",),
}
_WIDENED = {
    "FileExistsError": "OSError",
    "FileNotFoundError": "OSError",
    "IndexError": "LookupError",
    "KeyError": "LookupError",
    "ModuleNotFoundError": "ImportError",
    "NotImplementedError": "RuntimeError",
    "OverflowError": "ArithmeticError",
    "PermissionError": "OSError",
    "TimeoutError": "OSError",
    "UnicodeDecodeError": "ValueError",
    "UnicodeEncodeError": "ValueError",
    "UnicodeError": "ValueError",
    "ZeroDivisionError": "ArithmeticError",
}
_NARROWED = {
    "ArithmeticError": ("ZeroDivisionError", "OverflowError"),
    "BaseException": ("Exception",),
    "Exception": ("ValueError", "TypeError"),
    "ImportError": ("ModuleNotFoundError",),
    "LookupError": ("KeyError", "IndexError"),
    "OSError": ("FileNotFoundError", "PermissionError"),
    "RuntimeError": ("NotImplementedError",),
    "ValueError": ("UnicodeError",),
}


@operator(
    "exception-type",
    "another exception is raised, or a handler catches more or less",
    cst.Raise,
    cst.ExceptHandler,
    cst.ExceptStarHandler,
)
def exception_type(tree: Tree, site: Site) -> Iterator[Proposal]:
    match site.node:
        case cst.Raise(exc=cst.Call(func=func)):
            yield from _raised(tree, func)
        case cst.Raise(exc=cst.BaseExpression() as exception):
            yield from _raised(tree, exception)
        case cst.ExceptHandler(type=cst.Tuple() as caught):
            yield from _dropped(tree, caught)
        case cst.ExceptStarHandler(type=cst.Tuple() as caught):
            yield from _dropped(tree, caught)
        case cst.ExceptHandler(type=cst.BaseExpression() as caught):
            yield from _caught(tree, caught)
        case cst.ExceptStarHandler(type=caught):
            yield from _caught(tree, caught)


def _raised(tree: Tree, exception: cst.BaseExpression) -> Iterator[Proposal]:
    if isinstance(exception, cst.Name):
        for new in _RAISED.get(exception.value, ()):
            yield Proposal(f"{exception.value}->{new}", tree.span(exception), new)


def _caught(tree: Tree, exception: cst.BaseExpression) -> Iterator[Proposal]:
    name = last_name(exception)
    if not name:
        return
    if name not in ("Exception", "BaseException"):
        wider = _WIDENED.get(name, "Exception")
        yield Proposal(f"widen->{wider}", tree.span(exception), wider)
    for narrower in _NARROWED.get(name, ()):
        yield Proposal(f"narrow->{narrower}", tree.span(exception), narrower)


def _dropped(tree: Tree, caught: cst.Tuple) -> Iterator[Proposal]:
    kept = [tree.code(element) for element in caught.elements]
    if len(kept) > 1:
        for index in range(len(kept)):
            rest = kept[:index] + kept[index + 1 :]
            text = rest[0] if len(rest) == 1 else f"({', '.join(rest)})"
            yield Proposal("narrow-drop", tree.outer_span(caught), text)
