"""Documents of a repository's own source."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Iterator

from gym_codefix.catalog.syntax import parse

from ._paths import belongs_to_tests
from ._retrieve import Document

_Definition = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef


def source_documents(
    read: Callable[[str], str | None], paths: Iterable[str]
) -> tuple[Document, ...]:
    """One document for each top-level function and class, and one for the rest of each file.

    A decorator belongs to what it decorates. A file that does not parse is one document; so is
    one that is not Python. Files of tests are passed over by their path, and so are paths for
    which ``read`` has no text.
    """
    found: list[Document] = []
    for path in paths:
        if not belongs_to_tests(path):
            text = read(path)
            if text is not None:
                found += _documents(path, text.removeprefix("\ufeff"))
    return tuple(found)


def _documents(path: str, text: str) -> Iterator[Document]:
    # Lines as Python counts them: `str.splitlines` would also break at form feeds.
    lines = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    for name, start, end in _definitions(path, text):
        yield Document(path, f"{path}: {name}", "\n".join(lines[start - 1 : end]), start)
        # Blanked, not cut out, so that the rest keeps its line numbers.
        lines[start - 1 : end] = [""] * (end - start + 1)
    rest = "\n".join(lines)
    if rest.strip():
        yield Document(path, path, rest)


def _definitions(path: str, text: str) -> list[tuple[str, int, int]]:
    """Name, first and last line of the functions and classes of a module, from the top."""
    if not path.endswith((".py", ".pyi")):
        return []
    try:
        statements = parse(text).body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return []
    return [
        (
            statement.name,
            min([statement.lineno, *(node.lineno for node in statement.decorator_list)]),
            statement.end_lineno or statement.lineno,
        )
        for statement in statements
        if isinstance(statement, _Definition)
    ]
