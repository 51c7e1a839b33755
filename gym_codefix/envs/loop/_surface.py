"""The names that modules offer, read from their text: nothing is imported.

Names that are only made at run time (by ``setattr``, ``globals()``, a module's ``__getattr__`` or
compiled code without a stub) are not seen.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Callable, Container, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import PurePosixPath

from gym_codefix.catalog.syntax import quiet_compiler

from ._paths import belongs_to_tests

_Function = ast.FunctionDef | ast.AsyncFunctionDef
_MAX_MODULE_BYTES = 4_000_000


@dataclass
class Module:
    """What one module's text binds at its top level.

    Attributes:
        definitions: functions, classes and assignments by name.
        imports: name to the module and the name in it that it was imported from.
        reexports: the imported names that the module offers as its own.
        stars: the modules from which it imports all names.
        listed: ``__all__`` where it is written out, else None.
    """

    name: str
    is_package: bool
    doc: str = ""
    definitions: dict[str, ast.stmt] = field(default_factory=dict)
    imports: dict[str, tuple[str, str]] = field(default_factory=dict)
    reexports: set[str] = field(default_factory=set)
    stars: list[str] = field(default_factory=list)
    listed: frozenset[str] | None = None


class Surface:
    """The modules of one distribution, private ones too, since public ones may show their names."""

    def __init__(self, modules: Mapping[str, Module]) -> None:
        self._modules = modules

    def modules(self) -> Iterator[Module]:
        """The public modules, by name."""
        for name in sorted(self._modules):
            if is_public(name):
                yield self._modules[name]

    def names(self, module: Module) -> list[str]:
        """The public names of a module: its own first, then those it shows of others."""
        found: dict[str, None] = {}
        pending, seen = [module], set()
        while pending:
            current = pending.pop()
            seen.add(current.name)
            listed = sorted(current.listed or ())
            if current is module or current.listed is None:
                listed = [*current.definitions, *sorted(current.reexports), *listed]
            found.update((name, None) for name in listed if is_public(name))
            stars = current.stars if current is module or current.listed is None else ()
            known = (self._modules[star] for star in stars if star in self._modules)
            pending += [star for star in known if star.name not in seen]
        return list(found)

    def find(self, module: str, name: str) -> tuple[Module, ast.stmt] | None:
        """Where a name is bound that ``module`` offers, through imports; None when elsewhere."""
        pending, seen = [(module, name)], set()
        while pending:
            place = pending.pop()
            if place in seen or place[0] not in self._modules:
                continue
            seen.add(place)
            current, wanted = self._modules[place[0]], place[1]
            if wanted in current.definitions:
                return current, current.definitions[wanted]
            pending += [(star, wanted) for star in current.stars]
            if wanted in current.imports:
                pending.append(current.imports[wanted])
        return None

    def offered(self, module: Module) -> dict[str, tuple[Module, ast.stmt] | None]:
        """The public names of a module and where each is bound, as ``find`` says it."""
        return {name: self.find(module.name, name) for name in self.names(module)}

    def members(
        self, module: Module, node: ast.ClassDef, without: Container[ast.stmt] = ()
    ) -> dict[str, ast.stmt]:
        """Public methods and attributes of a class, with those of bases in the distribution.

        Nothing is taken over from the bases in ``without``.
        """
        found: dict[str, ast.stmt] = {}
        pending, seen = [(module, node)], set()
        while pending:
            owner, current = pending.pop(0)
            if current in seen:
                continue
            seen.add(current)
            for name, statement in bound_names(current.body):
                if is_public(name):
                    found.setdefault(name, statement)
            for base in current.bases:
                known = self._base(owner, base)
                if known is None or known[1] in without:
                    continue
                if isinstance(known[1], ast.ClassDef):
                    pending.append((known[0], known[1]))
        return found

    def _base(self, module: Module, base: ast.expr) -> tuple[Module, ast.stmt] | None:
        while isinstance(base, ast.Subscript):
            base = base.value
        match base:
            case ast.Name(id=name):
                return self.find(module.name, name)
            case ast.Attribute(value=ast.Name(id=owner), attr=name) if owner in module.imports:
                return self.find(".".join(filter(None, module.imports[owner])), name)
        return None


def is_public(name: str) -> bool:
    """Whether no part of a dotted name begins with an underscore."""
    return not any(part.startswith("_") for part in name.split("."))


def read_surface(paths: Iterable[str], read: Callable[[str], bytes | None]) -> Surface:
    """The modules among ``paths``, which are relative to the import path.

    Passed over is what belongs to tests, and what is not importable by its name. Modules of more
    than 4 MB, those for which ``read`` has nothing and those that do not parse have no names. A
    stub (``.pyi``) counts where its module has no Python text.
    """
    chosen: dict[str, str] = {}
    for path in sorted(paths, key=lambda path: (path.endswith(".pyi"), path)):
        name = _module_name(path)
        if name and not belongs_to_tests(path):
            chosen.setdefault(name, path)
    modules = {}
    for name, path in chosen.items():
        module = Module(name, is_package=PurePosixPath(path).stem == "__init__")
        _fill(module, read(path))
        modules[name] = module
    return Surface(modules)


def _module_name(path: str) -> str:
    pure = PurePosixPath(path)
    if pure.suffix not in (".py", ".pyi"):
        return ""
    parts = [*pure.parts[:-1], pure.stem]
    if parts[-1] == "__init__":
        parts.pop()
    return ".".join(parts) if all(map(str.isidentifier, parts)) else ""


def _fill(module: Module, data: bytes | None) -> None:
    """Read the module's text, if it can be read: a module without names is a module still."""
    if data is None or len(data) > _MAX_MODULE_BYTES:
        return
    try:
        with quiet_compiler():
            tree = ast.parse(data)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return
    module.doc = first_line(tree)
    for statement in _statements(tree.body):
        if isinstance(statement, ast.ImportFrom):
            _add_import(module, statement)
        elif isinstance(statement, ast.Import):
            _add_module_imports(module, statement)
    for bound, statement in bound_names(tree.body):
        module.definitions[bound] = statement
    module.listed = _listed(tree.body)
    module.reexports |= (module.listed or frozenset()) & module.imports.keys()
    _drop_bodies(tree)


def bound_names(body: Iterable[ast.stmt]) -> Iterator[tuple[str, ast.stmt]]:
    """Functions, classes and assigned names of a body, those under ``if`` and ``try`` too."""
    for statement in _statements(body):
        match statement:
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name):
                yield name, statement
            case ast.ClassDef(name=name):
                yield name, statement
            case ast.Assign(targets=targets):
                for target in targets:
                    yield from ((name, statement) for name in _target_names(target))
            case ast.AnnAssign(target=ast.Name(id=name)):
                yield name, statement


def first_line(node: ast.Module | ast.ClassDef | _Function) -> str:
    """The first line of a docstring, empty without one."""
    text = ast.get_docstring(node, clean=False) or ""
    return text.strip().partition("\n")[0].strip()


def _statements(body: Iterable[ast.stmt]) -> Iterator[ast.stmt]:
    """Statements of a body that run when it does. A loop, for a long ``elif`` nests deeply."""
    pending = list(body)[::-1]
    while pending:
        statement = pending.pop()
        inner: list[ast.stmt] = []
        match statement:
            # What only type checkers see cannot be imported.
            case ast.If(test=ast.Name(id="TYPE_CHECKING") | ast.Attribute(attr="TYPE_CHECKING")):
                inner = statement.orelse
            case ast.If():
                inner = [*statement.body, *statement.orelse]
            case ast.Try() | ast.TryStar():
                handled = [part for handler in statement.handlers for part in handler.body]
                inner = [*statement.body, *handled, *statement.orelse, *statement.finalbody]
            case ast.With():
                inner = statement.body
            case _:
                yield statement
        pending += inner[::-1]


def _target_names(target: ast.expr) -> Iterator[str]:
    match target:
        case ast.Name(id=name):
            yield name
        case ast.Tuple(elts=parts) | ast.List(elts=parts):
            for part in parts:
                yield from _target_names(part)


def _add_import(module: Module, statement: ast.ImportFrom) -> None:
    origin = _origin(module, statement)
    if origin is None:
        return
    for alias in statement.names:
        if alias.name == "*":
            module.stars.append(origin)
            continue
        name = alias.asname or alias.name
        module.imports[name] = (origin, alias.name)
        # A package that needs `typing` itself does not offer it.
        is_library = origin.partition(".")[0] not in sys.stdlib_module_names
        if alias.asname == alias.name or (module.is_package and is_library):
            module.reexports.add(name)


def _add_module_imports(module: Module, statement: ast.Import) -> None:
    for alias in statement.names:
        if alias.asname:
            module.imports[alias.asname] = (alias.name, "")


def _origin(module: Module, statement: ast.ImportFrom) -> str | None:
    """The absolute name of the module that a statement imports from."""
    if not statement.level:
        return statement.module
    package = module.name.split(".")
    above = statement.level - (1 if module.is_package else 0)
    if above > len(package) - 1:
        return None
    package = package[: len(package) - above]
    return ".".join([*package, *filter(None, [statement.module])])


def _listed(body: Iterable[ast.stmt]) -> frozenset[str] | None:
    found: set[str] | None = None
    for statement in body:
        match statement:
            case ast.Assign(targets=[ast.Name(id="__all__")], value=value):
                found = set()
            case ast.AnnAssign(target=ast.Name(id="__all__"), value=ast.expr() as value):
                found = set()
            case ast.AugAssign(target=ast.Name(id="__all__"), value=value):
                pass
            case _:
                continue
        if found is None or not isinstance(value, ast.List | ast.Tuple):
            return None
        texts = [part.value for part in value.elts if isinstance(part, ast.Constant)]
        found |= {text for text in texts if isinstance(text, str)}
    return None if found is None else frozenset(found)


def _drop_bodies(tree: ast.Module) -> None:
    """Keep what signatures and docstrings need: a tenth of the memory."""
    pending: list[ast.stmt] = list(_statements(tree.body))
    while pending:
        statement = pending.pop()
        if isinstance(statement, ast.ClassDef):
            pending += _statements(statement.body)
        elif isinstance(statement, _Function):
            statement.body = statement.body[:1]
        elif isinstance(statement, ast.Assign):
            statement.value = ast.Constant(value=None)
