"""Put new code objects into the functions of a process that has imported the old ones.

Sound only for files whose texts differ inside function bodies, in functions that import and
collection did not run: the driver decides that (``catalog.edit_scope`` and the coverage map). What
it cannot see is refused here: ``SwapRefused`` makes the job run from *base* instead.
"""

from __future__ import annotations

import ast
import gc
import linecache
import sys
from collections.abc import Callable, Mapping
from types import CodeType, FunctionType
from typing import Any

Key = tuple[str, str, int]
Compiler = Callable[[str, str], CodeType]


class SwapRefused(Exception):
    """These files cannot be swapped soundly."""


def _key(code: CodeType) -> Key:
    return code.co_filename, getattr(code, "co_qualname", code.co_name), code.co_firstlineno


def index_functions(prefix: str) -> dict[Key, list[FunctionType]]:
    """Every live function whose code comes from a file below ``prefix``."""
    index: dict[Key, list[FunctionType]] = {}
    for thing in gc.get_objects():
        if type(thing) is FunctionType and thing.__code__.co_filename.startswith(prefix):
            index.setdefault(_key(thing.__code__), []).append(thing)
    return index


def compile_source(text: str, filename: str) -> CodeType:
    """Compile a module as the import system does."""
    return compile(text, filename, "exec", dont_inherit=True)


def rewritten_files() -> frozenset[str]:
    """Files of the imported modules whose assertions pytest rewrote, wherever they lie."""
    from _pytest.assertion.rewrite import AssertionRewritingHook

    return frozenset(
        getattr(module, "__file__", None) or ""
        for module in list(sys.modules.values())
        if isinstance(getattr(module, "__loader__", None), AssertionRewritingHook)
    )


def test_compiler(config: Any) -> Compiler:
    """Compile a test module as pytest does, with assertions rewritten."""
    from _pytest.assertion.rewrite import rewrite_asserts

    def compile_test(text: str, filename: str) -> CodeType:
        source = text.encode()
        tree = ast.parse(source, filename=filename)
        rewrite_asserts(tree, source, filename, config)
        return compile(tree, filename, "exec", dont_inherit=True)

    return compile_test


def _children(code: CodeType) -> list[CodeType]:
    return [constant for constant in code.co_consts if isinstance(constant, CodeType)]


def _pair(
    old: CodeType, new: CodeType, pairs: dict[Key, CodeType], old_codes: dict[Key, CodeType]
) -> None:
    """Walk both code trees side by side; a function whose inside differs is not descended into."""
    olds, news = _children(old), _children(new)
    if len(olds) != len(news):
        return
    for before, after in zip(olds, news, strict=True):
        if before.co_name != after.co_name:
            continue
        key = _key(before)
        if key in pairs and old_codes[key] != before:
            raise SwapRefused(f"two functions named {key[1]} at line {key[2]}")
        pairs[key], old_codes[key] = after, before
        _pair(before, after, pairs, old_codes)


def swap(
    index: Mapping[Key, list[FunctionType]], old: CodeType, new: CodeType, changed: set[str]
) -> None:
    """Replace ``old``'s functions by ``new``'s in every live function object.

    ``changed``: the qualified names of the outermost functions whose bodies differ; each must be
    found alive. Raises SwapRefused before anything is replaced.
    """
    pairs: dict[Key, CodeType] = {}
    _pair(old, new, pairs, {})
    plan: list[tuple[FunctionType, CodeType]] = []
    found: set[str] = set()
    for key, code in pairs.items():
        for function in index.get(key, ()):
            if function.__code__.co_freevars != code.co_freevars:
                raise SwapRefused(f"{key[1]} now closes over {code.co_freevars}")
            plan.append((function, code))
            found.add(key[1])
    if missing := changed - found:
        raise SwapRefused(f"no live function for {', '.join(sorted(missing))}")
    for function, code in plan:
        function.__code__ = code
    linecache.clearcache()
