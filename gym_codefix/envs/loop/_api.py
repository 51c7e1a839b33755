"""Documents of what installed distributions offer."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Mapping, Set
from importlib.metadata import Distribution, distributions
from pathlib import Path

from packaging.utils import canonicalize_name

from ._retrieve import Document
from ._surface import Module, Surface, first_line, is_public, read_surface

_MAX_SIGNATURE = 200


def api_documents(site_packages: Path, names: Iterable[str]) -> tuple[Document, ...]:
    """The public interface of distributions, as their files say it; nothing is imported.

    One document for the metadata of each distribution (name, version, requirements), then one for
    each public module that is not empty, with signatures and the first lines of docstrings. Names
    that a public module shows of a private one are written out where they are shown; members that
    a class has from a base are written out unless the base is shown itself. Names in any spelling;
    those that are not installed are passed over, and so is whatever belongs to tests.
    """
    wanted = {canonicalize_name(name) for name in names}
    installed = {}
    for distribution in distributions(path=[str(site_packages)]):
        name = distribution.metadata["Name"]
        if name and canonicalize_name(name) in wanted:
            installed[canonicalize_name(name)] = distribution
    return tuple(
        document
        for name in sorted(installed)
        for document in _documents(site_packages, installed[name])
    )


def _documents(site_packages: Path, distribution: Distribution) -> Iterator[Document]:
    title = f"{distribution.metadata['Name']} {distribution.version}"
    source = f"installed {title}"
    yield Document(source, f"{title}: metadata", _metadata(distribution))
    surface = read_surface(_files(site_packages, distribution), _Reader(site_packages))
    offered = {module.name: surface.offered(module) for module in surface.modules()}
    shown = {found[1] for names in offered.values() for found in names.values() if found}
    for module in surface.modules():
        lines = list(_module_lines(surface, module, offered[module.name], shown))
        if lines:
            heading = [f"module {module.name}", *filter(None, [module.doc])]
            yield Document(source, module.name, "\n".join([*heading, *lines]))


def _metadata(distribution: Distribution) -> str:
    lines = [
        f"name: {distribution.metadata['Name']}",
        f"version: {distribution.version}",
        f"requires python: {distribution.metadata['Requires-Python'] or 'any'}",
    ]
    return "\n".join([*lines, *(f"requires: {entry}" for entry in distribution.requires or ())])


def _files(site_packages: Path, distribution: Distribution) -> list[str]:
    """Paths below ``site_packages`` by RECORD, or by ``top_level.txt`` where there is none."""
    recorded = [file.as_posix() for file in distribution.files or ()]
    if recorded:
        return recorded
    names = (distribution.read_text("top_level.txt") or "").split()
    roots = [site_packages / name for name in names if name.isidentifier()]
    found = [path for root in roots for path in root.rglob("*.py*")]
    found += [path for root in roots for path in root.parent.glob(f"{root.name}.py*")]
    return [path.relative_to(site_packages).as_posix() for path in found]


class _Reader:
    """Bytes of files below a folder, None for what cannot be read."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def __call__(self, path: str) -> bytes | None:
        try:
            return (self._folder / path).read_bytes()
        except OSError:
            return None


def _module_lines(
    surface: Surface,
    module: Module,
    offered: Mapping[str, tuple[Module, ast.stmt] | None],
    shown: Set[ast.stmt],
) -> Iterator[str]:
    for name, found in offered.items():
        if found is None:
            origin, original = module.imports.get(name, ("", ""))
            yield f"from {origin} import {original} as {name}" if origin else name
        elif found[0] is not module and is_public(found[0].name):
            yield f"{name}: see {found[0].name}"
        else:
            yield _described(name, found[1])
            if isinstance(found[1], ast.ClassDef):
                # Members from bases that are shown themselves would fill most of the text.
                members = surface.members(found[0], found[1], without=shown)
                yield from (f"    {_described(*member)}" for member in members.items())


def _described(name: str, node: ast.stmt) -> str:
    match node:
        case ast.FunctionDef() | ast.AsyncFunctionDef():
            result = f" -> {_written(node.returns)}" if node.returns else ""
            prefix = "async def" if isinstance(node, ast.AsyncFunctionDef) else "def"
            text, doc = f"{prefix} {name}({_written(node.args)}){result}", first_line(node)
        case ast.ClassDef():
            bases = f"({', '.join(map(_written, node.bases))})" if node.bases else ""
            text, doc = f"class {name}{bases}", first_line(node)
        case ast.AnnAssign():
            text, doc = f"{name}: {_written(node.annotation)}", ""
        case _:
            text, doc = name, ""
    return f"{text}  # {doc}" if doc else text


def _written(node: ast.AST) -> str:
    try:
        text = ast.unparse(node)
    except (RecursionError, ValueError):  # ValueError: a number too long to print
        return "…"
    return text if len(text) <= _MAX_SIGNATURE else text[: _MAX_SIGNATURE - 1] + "…"
