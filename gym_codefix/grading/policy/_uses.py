"""Everything that one module uses and the policy watches."""

from __future__ import annotations

import ast
import re
from functools import lru_cache

from gym_codefix.catalog.syntax import child_nodes, parse
from gym_codefix.grading.policy import _tables as tables
from gym_codefix.grading.policy._answers import answering_classes
from gym_codefix.grading.policy._fold import Budget
from gym_codefix.grading.policy._names import Names
from gym_codefix.grading.policy._scopes import import_origin, read_scopes
from gym_codefix.grading.policy._stores import Store, stores

Use = tuple[str, str]  # (code, name): what exempts a patch is that the original had the same pair

_WORD = re.compile(r"[A-Za-z_]\w*")
_TESTY = re.compile(r"(?:^|[^a-z])tests?(?:$|[^a-z])|conftest", re.IGNORECASE)
_READERS = frozenset(
    {"open", "read_text", "read_bytes", "glob", "iglob", "rglob", "listdir", "scandir", "walk"}
)


@lru_cache(maxsize=128)
def watched_uses(text: str) -> dict[Use, int]:
    """Line of the first occurrence of each watched use in a module.

    Raises TooCostly, and whatever `ast.parse` raises: SyntaxError, ValueError, RecursionError or
    MemoryError.
    """
    return uses_in(parse(text))


def uses_in(tree: ast.Module) -> dict[Use, int]:
    """``watched_uses`` of a module that is parsed already (raises TooCostly)."""
    return _Reader(tree).read()


class _Reader:
    def __init__(self, tree: ast.Module) -> None:
        self._scopes = read_scopes(tree)
        self._budget = Budget()
        self._names = Names(self._scopes, self._budget)
        self._uses: dict[Use, int] = {}

    def read(self) -> dict[Use, int]:
        for node in self._scopes.scope_of:
            self._visit(node)
        for store in stores(self._scopes, self._names):
            self._store(store)
        for name, line in answering_classes(self._scopes, self._names.text, self._budget):
            self._add("always-equal", name, line)
        return self._uses

    def _add(self, code: str, name: str, line: int) -> None:
        known = self._uses.get((code, name))
        self._uses[code, name] = line if known is None else min(known, line)

    def _visit(self, node: ast.AST) -> None:
        match node:
            case ast.Import():
                for alias in node.names:
                    self._dotted(alias.name, node.lineno)
            case ast.ImportFrom():
                for alias in node.names:
                    self._dotted(import_origin(node) + alias.name, node.lineno)
                    self._member(alias.name, node.lineno)
                    if alias.name == "*" and node.module in tables.SHARP_MODULES:
                        self._add("import", f"{node.module}.*", node.lineno)
            case ast.Attribute():
                self._member(node.attr, node.lineno)
                self._inside_module(node)
                self._reference(node)
            case ast.MatchClass():
                for name in node.kwd_attrs:
                    self._member(name, node.lineno)
            case ast.Name():
                self._reference(node)
            case ast.Call():
                self._reference(node)
                self._call(node)
            case ast.Raise():
                self._raised(node)
            case ast.FunctionDef() | ast.AsyncFunctionDef() if node.name.startswith("pytest_"):
                self._add("test-runner", node.name, node.lineno)
        if isinstance(node, (ast.Constant, ast.BinOp, ast.JoinedStr, ast.Call, ast.Subscript)):
            self._string(node)

    def _member(self, name: str, line: int) -> None:
        if name in tables.FRAME_NAMES:
            self._add("frame", name, line)
        if name in tables.HOOK_NAMES:
            self._add("interpreter", name, line)
        if name in tables.FILE_MEMBERS:
            self._add("files", name, line)

    def _inside_module(self, node: ast.Attribute) -> None:
        """Ways from a module or a builtin function to everything in its module."""
        if node.attr not in {"__dict__", "__getattribute__", "__self__"}:
            return
        for base in self._names.dotted(node.value):
            builtin = node.attr == "__self__" and base.startswith("builtins.")
            if builtin or self._sharp(base):
                self._add("module-value", f"{base}.{node.attr}", node.lineno)

    def _reference(self, node: ast.Name | ast.Attribute | ast.Call) -> None:
        parent = self._scopes.parent_of.get(node)
        if isinstance(parent, ast.Attribute):
            return  # the longest chain says it all
        if isinstance(node, ast.Name):
            if node.id in tables.FRAME_NAMES:
                self._add("frame", node.id, node.lineno)
            if not isinstance(node.ctx, ast.Load):
                return
        for dotted in self._names.dotted(node):
            self._dotted(dotted, node.lineno)
            self._exit_exception(node, dotted)
            self._namespace(node, dotted)
            called = isinstance(parent, ast.Call) and parent.func is node
            if dotted in tables.ATTRIBUTE_READERS and not called:
                self._add("dynamic-name", dotted.partition(".")[2], node.lineno)
            if self._sharp(dotted) and not self._asks_literally(node, parent):
                self._add("module-value", dotted, node.lineno)

    def _dotted(self, dotted: str, line: int) -> None:
        if dotted.startswith(tables.HARMLESS_PREFIXES):
            return
        steps = dotted.split(".")
        if steps[0] in tables.STDLIB and steps[0] not in tables.PLAIN_STDLIB | {""}:
            self._add("import", steps[0], line)
        for prefix in (steps[0], ".".join(steps[:2])):
            if prefix in tables.FILE_MODULES:
                self._add("files", prefix, line)
        for at, step in enumerate(steps):
            if step in tables.WATCHED_MODULES and self._is_module(steps, at):
                exact = step in tables.EXACT_MODULES
                self._add("import", ".".join(steps[at:]) if exact else step, line)
            following = steps[at + 1] if at + 1 < len(steps) else ""
            if following in tables.WATCHED_ATTRIBUTES.get(step, ()):
                self._add("interpreter", f"{step}.{following}", line)
            if following in tables.FILE_ATTRIBUTES.get(step, ()):
                self._add("files", f"{step}.{following}", line)

    @staticmethod
    def _is_module(steps: list[str], at: int) -> bool:
        if at == 0:
            return True
        if steps[0] in tables.STDLIB:
            return all(step.islower() or step == "_" for step in steps[:at])
        return steps[at - 1] != "" and steps[at] not in tables.ORDINARY_WORDS

    @staticmethod
    def _sharp(dotted: str) -> bool:
        head, _, last = dotted.rpartition(".")
        return last in tables.SHARP_MODULES and (not head or head.split(".")[0] in tables.STDLIB)

    def _asks_literally(self, node: ast.AST, parent: ast.AST | None) -> bool:
        """`getattr(sys, "frozen", False)`: an attribute by another spelling."""
        return (
            isinstance(parent, ast.Call)
            and parent.args[:1] == [node]
            and len(parent.args) >= 2
            and bool(
                self._names.dotted(parent.func)
                & {"builtins.getattr", "builtins.hasattr", "builtins.setattr", "builtins.delattr"}
            )
        )

    def _exit_exception(self, node: ast.AST, dotted: str) -> None:
        name = dotted.removeprefix("builtins.")
        if name not in tables.EXIT_EXCEPTIONS or name == dotted:
            return
        child: ast.AST = node
        for up in self._scopes.chain(node):
            if isinstance(up, ast.ExceptHandler) and child is up.type:
                return
            if isinstance(up, (ast.arg, ast.AnnAssign)) and child is up.annotation:
                return
            if isinstance(up, (ast.FunctionDef, ast.AsyncFunctionDef)) and child is up.returns:
                return
            if isinstance(up, ast.Call) and child in up.args[1:]:
                asks = {"builtins.isinstance", "builtins.issubclass"}
                if self._names.dotted(up.func) & asks:
                    return
            if isinstance(up, ast.stmt):
                break
            child = up
        self._add("exit", name, getattr(node, "lineno", 0))

    def _namespace(self, node: ast.AST, dotted: str) -> None:
        """`globals()` handed on is a way to write into it; reading one key of it is not."""
        if dotted != "globals()" or not isinstance(node, ast.Call):
            return
        parent = self._scopes.parent_of.get(node)
        if isinstance(parent, (ast.Subscript, ast.Compare)):
            return
        self._add("namespace-write", "globals()", node.lineno)

    def _raised(self, node: ast.Raise) -> None:
        raised = node.exc.func if isinstance(node.exc, ast.Call) else node.exc
        name = getattr(raised, "attr", getattr(raised, "id", ""))
        if name in tables.OUTCOME_EXCEPTIONS:
            self._add("exit", name, node.lineno)

    def _call(self, node: ast.Call) -> None:
        functions = self._names.dotted(node.func)
        for function in functions & tables.ATTRIBUTE_READERS.keys():
            self._attribute_call(node, function)
        name = node.func.attr if isinstance(node.func, ast.Attribute) else ""
        if name in ("__getattribute__", "get_field"):
            self._add("dynamic-name", name, node.lineno)
        for keyword in node.keywords:
            if keyword.arg == "capture_locals":
                self._add("frame", "capture_locals", node.lineno)
            if keyword.arg in tables.ANSWERING_METHODS:
                self._add("always-equal", f"{keyword.arg}=", node.lineno)
        name = node.func.attr if isinstance(node.func, ast.Attribute) else ""
        if "builtins.open" in functions and node.args:
            target = node.args[0]
            if isinstance(target, ast.Constant) and isinstance(target.value, int):
                self._add("interpreter", "open(<descriptor>)", node.lineno)
        if name in _READERS or functions & {"builtins.open"}:
            self._test_file(node)

    def _attribute_call(self, node: ast.Call, function: str) -> None:
        """Attributes by computed names, of whatever object: its owner may be anything."""
        first = tables.ATTRIBUTE_READERS[function]
        given = node.args[first : first + 1] if function.startswith("builtins") else node.args
        for argument in given:
            name = self._names.text(argument)
            if name is None:
                self._add("dynamic-name", f"{function.partition('.')[2]}(…)", node.lineno)
            for step in (name or "").split("."):
                self._member(step, node.lineno)

    def _test_file(self, node: ast.Call) -> None:
        seen: set[ast.AST] = set()
        todo: list[ast.AST] = [node]
        while todo:
            part = todo.pop()
            if part in seen:
                continue
            seen.add(part)
            self._budget.spend()
            todo.extend(child_nodes(part))
            if isinstance(part, ast.Name):
                todo.extend(self._names.values(part))
            text = self._names.text(part)
            if text is not None and _TESTY.search(text):
                self._add("test-files", text, node.lineno)

    def _string(self, node: ast.expr) -> None:
        parent = self._scopes.parent_of.get(node)
        if isinstance(parent, ast.Expr):
            return  # documentation
        text = self._names.text(node)
        if text is None:
            return
        for word in _WORD.findall(text):
            if word in tables.FRAME_NAMES:
                self._add("frame", word, node.lineno)
        if text in tables.HOOK_NAMES:
            self._add("interpreter", text, node.lineno)
        if "PYTEST_" in text:
            self._add("test-runner", text, node.lineno)

    def _store(self, store: Store) -> None:
        self._add(store.code, store.name, store.line)
