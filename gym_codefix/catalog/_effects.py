"""Whether a function writes state that tests which never call it could notice."""

from __future__ import annotations

import ast
import builtins

from gym_codefix.catalog._names import Scope, function_scope, inner_scopes

__all__ = ["ImportTable", "has_global_effects"]

_MUTATORS = frozenset(
    """
    __delattr__ __delitem__ __setattr__ __setitem__ __setstate__ add addFilter addHandler
    add_handler appendleft append basicConfig cache_clear captureWarnings chdir clear disable
    discard enable extend extendleft filterwarnings freeze heapify heappop heappush heappushpop
    heapreplace insert insort insort_left insort_right makedirs mkdir patch pop popitem popleft
    putenv register remove removeFilter removeHandler rename reset resetwarnings reverse rmdir
    rmtree rotate seed set setLevel setdefault setlocale setprofile setrecursionlimit setstate
    settrace shuffle signal simplefilter sort symlink umask unlink unregister unsetenv update
    __iadd__ __iand__ __ifloordiv__ __ilshift__ __imatmul__ __imod__ __imul__ __ior__ __ipow__
    __irshift__ __isub__ __itruediv__ __ixor__ delitem iadd iand iconcat ifloordiv ilshift imatmul
    imod imul ior ipow irshift isub itruediv ixor setitem
    """.split()
)
_POWERFUL = frozenset("setattr delattr exec eval globals __import__ breakpoint".split())
_POWERFUL_METHODS = _POWERFUL | {"__setattr__", "__delattr__", "import_module"}
# Modules whose calls change nothing outside them.
_PURE_MODULES = frozenset(
    """
    __future__ abc base64 binascii bisect cmath collections colorsys copy dataclasses datetime
    decimal difflib enum fractions functools hashlib html itertools json keyword math numbers
    operator posixpath re reprlib statistics string struct textwrap token tokenize types typing
    unicodedata
    """.split()
)
_EXCEPTION_ENDINGS = ("Error", "Exception", "Warning")
_BUILTINS = frozenset(dir(builtins))


class ImportTable:
    """What a module's own imports bind: alias to dotted target."""

    def __init__(self, tree: ast.Module) -> None:
        self._targets: dict[str, str] = {}
        self._functions: dict[str, list[ast.FunctionDef | ast.AsyncFunctionDef]] = {}
        for statement in tree.body:
            if isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef):
                self._functions.setdefault(statement.name, []).append(statement)
        pending: list[ast.AST] = [tree]
        while pending:
            for node in ast.iter_child_nodes(pending.pop()):
                if isinstance(node, ast.Import | ast.ImportFrom):
                    self._targets.update(imported_names(node))
                elif not isinstance(node, ast.expr | ast.FunctionDef | ast.AsyncFunctionDef):
                    pending.append(node)

    def target(self, name: str) -> str | None:
        """The dotted target that the global `name` was imported as, if it was.

        Where a star import may have brought the name, that counts.
        """
        star = None if name in _BUILTINS else self._targets.get("*")
        return self._targets.get(name, star)

    def functions(self, name: str) -> list[ast.FunctionDef | ast.AsyncFunctionDef]:
        """The module's own functions of that name."""
        return self._functions.get(name, [])


def imported_names(node: ast.Import | ast.ImportFrom) -> dict[str, str]:
    """The names that one import statement binds, each with its dotted target."""
    if isinstance(node, ast.ImportFrom):
        module = "." * node.level + (node.module or "")
        return {alias.asname or alias.name: f"{module}.{alias.name}" for alias in node.names}
    return {
        alias.asname or alias.name.partition(".")[0]: (
            alias.name if alias.asname else alias.name.partition(".")[0]
        )
        for alias in node.names
    }


def has_global_effects(
    before: ast.FunctionDef | ast.AsyncFunctionDef,
    after: ast.FunctionDef | ast.AsyncFunctionDef,
    imports: ImportTable,
) -> bool:
    """Whether exchanging the body `before` for `after` may change what other tests see.

    A write to shared state counts in either body: an edit can change what is written, or stop
    writing it, without a new write. Imports and calls of other modules count when new, and so do
    calls of the module's own functions that write.
    """
    old, new = _Effects(before, imports), _Effects(after, imports)
    if old.writes or new.writes or new.imports - old.imports or new.calls - old.calls:
        return True
    return any(_writes(name, imports, set()) for name in new.own_calls - old.own_calls)


def _writes(name: str, imports: ImportTable, seen: set[str]) -> bool:
    """Whether a function of the module, or one that it calls, writes what outlives the call."""
    if name in seen:
        return False
    seen.add(name)
    for function in imports.functions(name):
        effects = _Effects(function, imports)
        if effects.writes or any(_writes(other, imports, seen) for other in effects.own_calls):
            return True
    return False


class _Effects:
    """The effects of one outermost function, nested functions and classes included."""

    def __init__(
        self, function: ast.FunctionDef | ast.AsyncFunctionDef, imports: ImportTable
    ) -> None:
        self.writes = False
        self.imports: set[tuple[str, str]] = set()
        self.calls: set[str] = set()
        self.own_calls: set[str] = set()  # functions of the module that it names
        self._module_imports = imports
        self._own_imports = {
            name: target
            for node in ast.walk(function)
            if isinstance(node, ast.Import | ast.ImportFrom)
            for name, target in imported_names(node).items()
        }
        self._scan(function_scope(function, parent=None))

    def _scan(self, scope: Scope) -> None:
        for node in scope.nodes:
            if isinstance(node, ast.Global):
                self.writes = True
            elif isinstance(node, ast.Import | ast.ImportFrom):
                self.imports.update(imported_names(node).items())
            elif isinstance(node, ast.Attribute | ast.Subscript):
                # A mutating method counts when it is named: it may be called by another name.
                named = isinstance(node, ast.Attribute) and node.attr in _MUTATORS
                if named or not isinstance(node.ctx, ast.Load):
                    self.writes |= _outlives(node.value, scope)
            elif isinstance(node, ast.AugAssign):
                # `shared += [1]` on a local alias of a shared list changes the list itself.
                self.writes |= isinstance(node.target, ast.Name) and scope.shares(node.target)
            elif isinstance(node, ast.Name):
                if not scope.is_local(node.id):
                    self.writes |= node.id in _POWERFUL
                    if self._module_imports.functions(node.id):
                        self.own_calls.add(node.id)
            elif isinstance(node, ast.Call):
                self._call(node, scope)
        for inner in inner_scopes(scope):
            self._scan(inner)

    def _call(self, call: ast.Call, scope: Scope) -> None:
        function = call.func
        if isinstance(function, ast.Attribute):
            self.writes |= function.attr in _POWERFUL_METHODS
        elif isinstance(function, ast.Name) and not scope.is_local(function.id):
            self.writes |= function.id in _MUTATORS - _BUILTINS
            if function.id in ("next", "anext") and call.args:
                self.writes |= scope.shares(call.args[0])
        target = self._foreign_target(function, scope)
        if target is not None:
            self.calls.add(target)

    def _foreign_target(self, function: ast.expr, scope: Scope) -> str | None:
        """The dotted name of a callee in another module, unless its calls change nothing."""
        path: list[str] = []
        while isinstance(function, ast.Attribute):
            path.append(function.attr)
            function = function.value
        if not isinstance(function, ast.Name) or scope.is_local(function.id):
            return None
        name = function.id
        origin = self._own_imports.get(name) or self._module_imports.target(name)
        if origin is None or origin.partition(".")[0] in _PURE_MODULES:
            return None
        target = ".".join([origin, *reversed(path)])
        return None if target.endswith(_EXCEPTION_ENDINGS) else target


def _outlives(value: ast.expr, scope: Scope) -> bool:
    """Whether a write through `value` may reach an object that outlives the call."""
    root = value
    while isinstance(root, ast.Attribute | ast.Subscript | ast.Starred | ast.Await):
        root = root.value
    if isinstance(root, ast.Call) and not scope.shares(value):
        function = root.func
        if isinstance(function, ast.Attribute):
            return _outlives(function.value, scope)
        fresh = isinstance(function, ast.Name) and (
            function.id in _BUILTINS or scope.is_local(function.id)
        )
        return not fresh
    return scope.shares(value)
