"""Which name means what: lexical scopes and dotted names of a module, without running it."""

from __future__ import annotations

import ast
import functools
from collections.abc import Iterator
from dataclasses import dataclass, field

from gym_codefix.catalog.syntax import child_nodes

FunctionNode = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
_COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)


@dataclass(frozen=True)
class Binding:
    """One place that gives a name its meaning.

    `dotted` is set for imports, `value` for plain assignments; neither for anything opaque.
    `sure` means that the statement stands unconditionally in its scope.
    """

    line: int
    sure: bool
    dotted: str | None = None
    value: ast.expr | None = None


@dataclass
class Scope:
    """One lexical scope and the names bound in it."""

    kind: str  # "module", "class", "function" or "comprehension"
    parent: Scope | None
    bindings: dict[str, list[Binding]] = field(default_factory=dict)
    elsewhere: dict[str, str] = field(default_factory=dict)  # name -> "global" | "nonlocal"

    @property
    def module(self) -> Scope:
        scope = self
        while scope.parent is not None:
            scope = scope.parent
        return scope

    def bind(self, name: str, binding: Binding) -> None:
        owner = self
        if self.elsewhere.get(name) == "global":
            owner, binding = self.module, Binding(binding.line, False, binding.dotted, None)
        owner.bindings.setdefault(name, []).append(binding)

    def lookup(self, name: str, line: int) -> tuple[list[Binding], bool]:
        """The bindings that a use of `name` at `line` may see, and whether a builtin is among them.

        In module and class bodies a use may come before (or without) the binding, and then finds
        the builtin; in a function a bound name is never the builtin.
        """
        found: list[Binding] = []
        scope: Scope | None = self
        while scope is not None:
            hidden = scope.kind == "class" and scope is not self
            where = scope.elsewhere.get(name)
            if where == "global" and scope is not scope.module:  # there it says nothing
                scope = scope.module
                continue
            if not hidden and where != "nonlocal" and name in scope.bindings:
                bindings = scope.bindings[name]
                found += bindings
                if scope.kind in ("function", "comprehension") or any(
                    b.sure and b.line < line for b in bindings
                ):
                    return found, False
            scope = scope.parent
        return found, True


@dataclass
class Scopes:
    """Scope and parent of every node of one module, plus what its imports name."""

    root: Scope
    scope_of: dict[ast.AST, Scope]
    parent_of: dict[ast.AST, ast.AST]
    modules: set[str]  # dotted names that are certainly modules

    @functools.cached_property
    def imported(self) -> frozenset[str]:
        """The dotted names that the module itself imports."""
        return frozenset(
            binding.dotted
            for bindings in self.root.bindings.values()
            for binding in bindings
            if binding.dotted is not None
        )

    def chain(self, node: ast.AST) -> Iterator[ast.AST]:
        """The ancestors of `node`, nearest first."""
        while (up := self.parent_of.get(node)) is not None:
            yield up
            node = up


def read_scopes(tree: ast.Module) -> Scopes:
    """Scopes of a parsed module. Iterative, so that deep nesting cannot exhaust the stack."""
    root = Scope("module", None)
    scopes = Scopes(root, {tree: root}, {}, set())
    ordered: list[ast.AST] = []
    todo: list[tuple[ast.AST, Scope]] = [(tree, root)]
    while todo:
        node, scope = todo.pop()
        scopes.scope_of[node] = scope
        ordered.append(node)
        children = list(_children(node, scope))
        for child, _ in children:
            scopes.parent_of[child] = node
        todo.extend(reversed(children))
    for node in ordered:
        if isinstance(node, (ast.Global, ast.Nonlocal)):
            word = "global" if isinstance(node, ast.Global) else "nonlocal"
            scopes.scope_of[node].elsewhere.update(dict.fromkeys(node.names, word))
    for node in ordered:
        _bind(node, scopes)
    return scopes


def _children(node: ast.AST, scope: Scope) -> Iterator[tuple[ast.AST, Scope]]:
    if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)):
        inner = Scope("function", scope)
        outside = _outside_of_function(node)
        for child in child_nodes(node):
            if isinstance(child, ast.arguments):
                yield child, inner
            else:
                yield child, scope if child in outside else inner
    elif isinstance(node, ast.ClassDef):
        inner = Scope("class", scope)
        body = set(node.body)
        for child in child_nodes(node):
            yield child, inner if child in body else scope
    elif isinstance(node, ast.arguments):
        # Parameters belong to the function; defaults and annotations are evaluated around it.
        around = scope.parent or scope
        for child in child_nodes(node):
            yield child, scope if isinstance(child, ast.arg) else around
    elif isinstance(node, _COMPREHENSIONS):
        inner = Scope("comprehension", scope)
        for child in child_nodes(node):
            yield child, inner
    elif isinstance(node, ast.comprehension):
        # The first iterable is evaluated outside; treating all of them so errs towards refusing.
        for child in child_nodes(node):
            yield child, (scope.parent or scope) if child is node.iter else scope
    else:
        for child in child_nodes(node):
            yield child, scope


def _outside_of_function(node: FunctionNode) -> set[ast.AST]:
    if isinstance(node, ast.Lambda):
        return set()
    outside: set[ast.AST] = set(node.decorator_list)
    if node.returns is not None:
        outside.add(node.returns)
    return outside


def _bind(node: ast.AST, scopes: Scopes) -> None:
    scope = scopes.scope_of[node]
    if isinstance(node, ast.Import):
        for alias in node.names:
            steps = alias.name.split(".")
            scopes.modules.update(".".join(steps[:n]) for n in range(1, len(steps) + 1))
            dotted = alias.name if alias.asname else steps[0]
            scope.bind(alias.asname or steps[0], _binding(node, scopes, dotted=dotted))
    elif isinstance(node, ast.ImportFrom):
        origin = import_origin(node)
        for alias in node.names:
            dotted = origin + alias.name
            if node.module is None:
                scopes.modules.add(dotted)
            scope.bind(alias.asname or alias.name, _binding(node, scopes, dotted=dotted))
    elif isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
        scope.bind(node.name, _binding(node, scopes))
    elif isinstance(node, ast.arg):
        scope.bind(node.arg, Binding(node.lineno, True))
    elif isinstance(node, (ast.ExceptHandler, ast.MatchAs, ast.MatchStar)) and node.name:
        scope.bind(node.name, Binding(node.lineno, False))
    elif isinstance(node, ast.MatchMapping) and node.rest:
        scope.bind(node.rest, Binding(node.lineno, False))
    elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
        _bind_name(node, scopes)


def _bind_name(node: ast.Name, scopes: Scopes) -> None:
    parent = scopes.parent_of[node]
    scope = scopes.scope_of[node]
    if isinstance(parent, ast.NamedExpr):
        while scope.kind == "comprehension" and scope.parent is not None:
            scope = scope.parent
        scope.bind(node.id, Binding(node.lineno, False, value=parent.value))
    elif isinstance(parent, (ast.Assign, ast.AnnAssign)):
        scope.bind(node.id, _binding(parent, scopes, value=parent.value))
    else:
        scope.bind(node.id, Binding(node.lineno, False))


def _binding(
    node: ast.stmt, scopes: Scopes, *, dotted: str | None = None, value: ast.expr | None = None
) -> Binding:
    sure = isinstance(scopes.parent_of[node], (ast.Module, ast.ClassDef, *_FUNCTIONS))
    return Binding(node.lineno, sure, dotted, value)


def import_origin(node: ast.ImportFrom) -> str:
    """What stands before the imported name: "os.", ".", "..pkg.mod."."""
    return "." * node.level + (f"{node.module}." if node.module else "")
