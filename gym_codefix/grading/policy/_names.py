"""What an expression names: dotted names and the strings that code puts together."""

from __future__ import annotations

import ast

from gym_codefix.grading.policy._fold import Budget, fold_operation
from gym_codefix.grading.policy._scopes import Binding, Scopes
from gym_codefix.grading.policy._tables import BUILTIN_NAMES

_DEPTH = 60
Folded = str | bytes | int | list[str] | list[int]


class Names:
    """Resolves the expressions of one module.

    A dotted name is rooted at an import ("os.path.join", ".compat.sys") or at a builtin
    ("builtins.open"). What cannot be resolved resolves to the empty set.
    """

    def __init__(self, scopes: Scopes, budget: Budget) -> None:
        self._scopes = scopes
        self._dotted: dict[ast.AST, frozenset[str]] = {}
        self._folded: dict[ast.AST, Folded | None] = {}
        self._budget = budget

    def dotted(self, node: ast.AST, depth: int = 0) -> frozenset[str]:
        """Every dotted name that `node` may stand for."""
        if node not in self._dotted:
            if depth > _DEPTH:
                return frozenset()
            self._dotted[node] = frozenset()  # a name defined through itself adds nothing
            self._dotted[node] = frozenset(self._resolve(node, depth + 1))
        return self._dotted[node]

    def text(self, node: ast.AST | None) -> str | None:
        """The string that `node` certainly is, after constant folding."""
        value = self.fold(node) if node is not None else None
        return value if isinstance(value, str) else None

    def values(self, node: ast.Name) -> list[ast.expr]:
        """The expressions that are assigned to a name."""
        bindings, _ = self._lookup(node)
        return [binding.value for binding in bindings if binding.value is not None]

    def fold(self, node: ast.AST, depth: int = 0) -> Folded | None:
        """The constant that `node` is (text, bytes, int, or a list of one kind), or None."""
        if node not in self._folded:
            if depth > 4 * _DEPTH:
                return None
            self._folded[node] = None
            if isinstance(node, ast.Name):
                value = self._fold_name(node, depth + 1)
            else:
                value = fold_operation(node, lambda part: self.fold(part, depth + 1), self._budget)
            self._folded[node] = value
        return self._folded[node]

    def _lookup(self, node: ast.Name) -> tuple[list[Binding], bool]:
        found = self._scopes.scope_of[node].lookup(node.id, node.lineno)
        self._budget.spend(1 + len(found[0]))
        return found

    def _fold_name(self, node: ast.Name, depth: int) -> Folded | None:
        bindings, _ = self._lookup(node)
        if len(bindings) == 1 and bindings[0].value is not None:
            return self.fold(bindings[0].value, depth)
        return None

    def _resolve(self, node: ast.AST, depth: int) -> set[str]:
        if isinstance(node, ast.Name):
            return self._resolve_name(node, depth)
        if isinstance(node, ast.Attribute):
            return {f"{base}.{node.attr}" for base in self.dotted(node.value, depth)}
        if isinstance(node, ast.NamedExpr):
            return set(self.dotted(node.value, depth))
        if isinstance(node, ast.IfExp):
            return set(self.dotted(node.body, depth) | self.dotted(node.orelse, depth))
        if isinstance(node, ast.BoolOp):
            return set().union(*(self.dotted(value, depth) for value in node.values))
        if isinstance(node, ast.Subscript):
            key = self.text(node.slice)
            if key is not None and "sys.modules" in self.dotted(node.value, depth):
                return {key}
        if isinstance(node, ast.Call):
            return self._resolve_call(node, depth)
        return set()

    def _resolve_name(self, node: ast.Name, depth: int) -> set[str]:
        bindings, maybe_builtin = self._lookup(node)
        found: set[str] = set()
        for binding in bindings:
            if binding.dotted is not None:
                found.add(binding.dotted)
            elif binding.value is not None:
                found |= self.dotted(binding.value, depth)
        if maybe_builtin and node.id in BUILTIN_NAMES:
            found.add(f"builtins.{node.id}")
        return found

    def _resolve_call(self, node: ast.Call, depth: int) -> set[str]:
        function = self.dotted(node.func, depth)
        first = self.text(node.args[0]) if node.args else None
        if "builtins.__import__" in function and first is not None:
            return {first.split(".")[0]}
        if "importlib.import_module" in function and first is not None:
            return {first}
        if "builtins.getattr" in function and len(node.args) >= 2:
            name = self.text(node.args[1])
            if name is not None:
                return {f"{base}.{name}" for base in self.dotted(node.args[0], depth)}
        for namespace in ("globals", "locals", "vars"):
            if f"builtins.{namespace}" in function and not node.args:
                return {f"{namespace}()"}
        return set()
