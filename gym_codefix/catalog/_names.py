"""Which names in a function are its own, and which may stand for shared objects."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

__all__ = ["Scope", "function_scope", "inner_scopes"]

_Comprehension = ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp
_Function = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda
_CLASS_PARAMETERS = frozenset({"cls", "mcs", "mcls", "metacls", "klass"})
# Attributes that lead from an instance to what all instances share.
_SHARED_ATTRIBUTES = frozenset(
    "__class__ __code__ __defaults__ __func__ __globals__ __kwdefaults__ __mro__ __bases__".split()
)
# Methods that hand out what a container holds.
_ACCESSORS = frozenset("__getitem__ __iter__ get items keys pop popitem setdefault values".split())
# Builtins that hand out their argument's contents, or what belongs to it.
_PASSING_BUILTINS = frozenset(
    "enumerate filter getattr iter map max min next reversed sorted type vars zip".split()
)
_IMMUTABLE_DEFAULTS = (ast.Constant, ast.UnaryOp, ast.Lambda)


@dataclass
class Scope:
    """The nodes of one function, class body, lambda or comprehension, and what it binds.

    `nodes` leaves out inner scopes, which hang on the `inner` nodes.
    """

    parent: Scope | None
    is_class: bool = False
    nodes: list[ast.AST] = field(default_factory=list)
    inner: list[ast.AST] = field(default_factory=list)
    bound: set[str] = field(default_factory=set)
    shared: set[str] = field(default_factory=set)
    _outer: set[str] = field(default_factory=set)

    def is_local(self, name: str) -> bool:
        """Whether `name` means a variable of this function or of one around it."""
        scope = self._owner(name)
        return scope is not None

    def shares(self, value: ast.expr) -> bool:
        """Whether `value` may be, or be held by, an object that outlives the call."""
        match value:
            case ast.Name(id=name):
                owner = self._owner(name)
                return owner is None or name in owner.shared
            case ast.Attribute(attr=attribute):
                return attribute in _SHARED_ATTRIBUTES or self.shares(value.value)
            case ast.Subscript() | ast.Starred() | ast.Await() | ast.NamedExpr():
                return self.shares(value.value)
            case ast.IfExp():
                return self.shares(value.body) or self.shares(value.orelse)
            case ast.BoolOp():
                return any(map(self.shares, value.values))
            case ast.Tuple() | ast.List():
                return any(map(self.shares, value.elts))
            case ast.Call(func=ast.Attribute(attr=method, value=receiver)):
                return method in _ACCESSORS and self.shares(receiver)
            case ast.Call(func=ast.Name(id="type")):
                return True
            case ast.Call(func=ast.Name(id=function), args=arguments):
                return function in _PASSING_BUILTINS and any(map(self.shares, arguments))
            case ast.Yield() | ast.YieldFrom():
                return True
        return False

    def _owner(self, name: str) -> Scope | None:
        scope: Scope | None = self
        while scope is not None:
            # A class body's names are not seen from the functions inside it.
            if name in scope.bound and (scope is self or not scope.is_class):
                return scope
            if name in scope._outer:
                return None
            scope = scope.parent
        return None

    def bind(self) -> None:
        """Find the names that the collected nodes bind, then those that may be shared."""
        for node in self.nodes:
            self.bound.update(_names_bound_by(node))
            if isinstance(node, ast.Global):
                self._outer.update(node.names)
            elif isinstance(node, ast.Nonlocal):
                self.bound.difference_update(node.names)
        imports = (node for node in self.nodes if isinstance(node, ast.Import | ast.ImportFrom))
        self._outer.update(
            alias.asname or alias.name.partition(".")[0] for node in imports for alias in node.names
        )
        self.bound -= self._outer
        self._spread_sharing()

    def _spread_sharing(self) -> None:
        flows = [flow for node in self.nodes for flow in _flows(node)]
        grew = True
        while grew:
            grew = False
            for target, value in flows:
                if self.shares(value):
                    names = {
                        node.id
                        for node in ast.walk(target)
                        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)
                    }
                    grew |= not names <= self.shared
                    self.shared |= names


def function_scope(function: _Function, parent: Scope | None) -> Scope:
    """The scope of a function's body and parameters."""
    scope = Scope(parent)
    arguments = function.args
    positional = [*arguments.posonlyargs, *arguments.args]
    extra = [arg for arg in (arguments.vararg, arguments.kwarg) if arg is not None]
    scope.bound.update(arg.arg for arg in [*positional, *arguments.kwonlyargs, *extra])
    defaults: list[tuple[ast.arg, ast.expr | None]] = [
        *zip(positional[::-1], arguments.defaults[::-1], strict=False),
        *zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True),
    ]
    # A default is one object for all calls.
    scope.shared.update(
        arg.arg
        for arg, default in defaults
        if default is not None and not isinstance(default, _IMMUTABLE_DEFAULTS)
    )
    if positional and (positional[0].arg in _CLASS_PARAMETERS or _is_classmethod(function)):
        scope.shared.add(positional[0].arg)
    body: Iterable[ast.AST] = [function.body] if isinstance(function, ast.Lambda) else function.body
    _collect(scope, body)
    return scope


def inner_scopes(scope: Scope) -> Iterator[Scope]:
    """The scopes directly inside `scope`."""
    for node in scope.inner:
        if isinstance(node, _Function):
            yield function_scope(node, scope)
        elif isinstance(node, ast.ClassDef):
            inner = Scope(scope, is_class=True)
            _collect(inner, node.body)
            yield inner
        elif isinstance(node, _Comprehension):
            inner = Scope(scope)
            first, *others = node.generators
            results = [node.key, node.value] if isinstance(node, ast.DictComp) else [node.elt]
            _collect(inner, [first.target, *first.ifs, *others, *results])
            if scope.shares(first.iter):
                inner.shared |= inner.bound
            yield inner


def _collect(scope: Scope, roots: Iterable[ast.AST]) -> None:
    pending = list(roots)[::-1]
    while pending:
        node = pending.pop()
        scope.nodes.append(node)
        children = list(ast.iter_child_nodes(node))
        if isinstance(node, _Function):
            scope.inner.append(node)
            children = _evaluated_outside(node)
        elif isinstance(node, ast.ClassDef):
            scope.inner.append(node)
            children = [*node.decorator_list, *node.bases, *node.keywords]
        elif isinstance(node, _Comprehension):
            scope.inner.append(node)
            children = [node.generators[0].iter]
        pending.extend(reversed(children))
    scope.bind()


def _evaluated_outside(function: _Function) -> list[ast.AST]:
    arguments = function.args
    children: list[ast.AST] = [*arguments.defaults]
    children.extend(default for default in arguments.kw_defaults if default is not None)
    if not isinstance(function, ast.Lambda):
        children.extend(function.decorator_list)
    return children


def _is_classmethod(function: _Function) -> bool:
    decorators = [] if isinstance(function, ast.Lambda) else function.decorator_list
    return any(isinstance(node, ast.Name) and node.id == "classmethod" for node in decorators)


def _names_bound_by(node: ast.AST) -> Iterator[str]:
    match node:
        case ast.Name(id=name, ctx=ast.Store() | ast.Del()):
            yield name
        case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef():
            yield node.name
        case ast.ExceptHandler(name=str(name)) | ast.MatchAs(name=str(name)):
            yield name
        case ast.MatchStar(name=str(name)) | ast.MatchMapping(rest=str(name)):
            yield name


def _flows(node: ast.AST) -> Iterator[tuple[ast.AST, ast.expr]]:
    """Where a node makes names stand for (a part of) a value."""
    match node:
        case ast.Assign():
            for target in node.targets:
                yield target, node.value
        case ast.AnnAssign(value=ast.expr() as value) | ast.NamedExpr(value=value):
            yield node.target, value
        case ast.For() | ast.AsyncFor() | ast.comprehension():
            yield node.target, node.iter
        case ast.withitem(optional_vars=ast.expr() as target):
            yield target, node.context_expr
