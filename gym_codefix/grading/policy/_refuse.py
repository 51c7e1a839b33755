"""Compare what a patch uses with what the file used before."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import PurePosixPath

from gym_codefix.catalog.hunks import split_lines
from gym_codefix.catalog.syntax import declared_encodings
from gym_codefix.grading.policy import _tables as tables
from gym_codefix.grading.policy._changed import changed_parts
from gym_codefix.grading.policy._fold import TooCostly
from gym_codefix.grading.policy._uses import Use, uses_in, watched_uses

_REASONS = {
    "import": "newly uses the module {name}, which can reach the test runner or the interpreter",
    "interpreter": "newly uses {name}, which can change or leave the running interpreter",
    "frame": "newly uses {name}, which leads to other code's frames and internals",
    "module-value": "newly passes {name} around instead of using it by name",
    "dynamic-name": "newly reads an attribute by a computed name: {name}",
    "exit": "newly uses {name}, which ends a test or the process instead of failing it",
    "monkeypatch": "newly assigns into code of another module: {name}",
    "namespace-write": "newly writes into a namespace: {name}",
    "environment": "newly writes {name}",
    "encoding": "declares an encoding other than UTF-8: {name}",
    "always-equal": "newly answers a comparison without looking: {name}",
    "files": "newly reads files or starts programs ({name}), which can reach the tests",
    "test-files": "newly reads what looks like a test file: {name!r}",
    "test-runner": "newly defines or reads what only a test runner looks at: {name}",
}
_PLAIN_ENCODINGS = frozenset({"utf-8", "utf8", "ascii", "us-ascii"})
_PYTHON = (".py", ".pyi", ".pyw")


@dataclass(frozen=True)
class Refusal:
    """One reason to refuse a patch.

    `code` is "syntax" (the file does not parse), "too-costly" (it takes too long to read), "path"
    (a file that the test runner or the interpreter loads by its name), or one of: import,
    interpreter, frame, module-value, dynamic-name, encoding, exit, monkeypatch, namespace-write,
    environment, always-equal, files, test-files, test-runner. `line` is 1-based, in the new text.
    """

    path: str
    line: int
    code: str
    message: str


def refuse(before: Mapping[str, str | None], after: Mapping[str, str]) -> list[Refusal]:
    """Why a patch may not be run, empty if it may.

    `before` maps the paths of the patch to the text the agent was given (None or absent: a new
    file), `after` maps them to the new text. Whatever a file did before, it may go on doing.
    Ordered by path and line. Raises nothing: a file that cannot be parsed is a "syntax" refusal.
    """
    found: list[Refusal] = []
    for path in sorted(after):
        old = before.get(path)
        if after[path] != old:
            found += _refuse_path(path, new=old is None)
            if path.endswith(_PYTHON):
                found += sorted(_refuse_text(path, old, after[path]), key=lambda r: r.line)
    return found


def _refuse_path(path: str, *, new: bool) -> Iterator[Refusal]:
    place = PurePosixPath(path)
    shadows = (
        new
        and place.suffix in (".py", ".so")
        and place.stem.split(".")[0] in tables.STDLIB | tables.WATCHED_MODULES
        and place.parent.as_posix() in (".", "src", "lib")
    )
    if place.name in tables.LOADED_FILES or place.suffix == ".pth":
        yield Refusal(path, 1, "path", f"{place.name} is loaded by its name, not by an import")
    elif shadows:
        yield Refusal(path, 1, "path", f"a new {place.name} here hides the module {place.stem}")


def _refuse_text(path: str, old: str | None, new: str) -> Iterator[Refusal]:
    known = declared_encodings(split_lines(old or ""))
    for name in declared_encodings(split_lines(new)):
        if name not in known and name.lower().replace("_", "-") not in _PLAIN_ENCODINGS:
            yield Refusal(path, 1, "encoding", _REASONS["encoding"].format(name=name))
    try:
        uses = _new_uses(old, new)
    except TooCostly as error:
        yield Refusal(path, 1, "too-costly", str(error))
        return
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        line = getattr(error, "lineno", None) or 1
        yield Refusal(path, line, "syntax", f"does not parse: {getattr(error, 'msg', error)}")
        return
    for (code, name), line in uses:
        yield Refusal(path, line, code, _REASONS[code].format(name=name))


def _new_uses(old: str | None, new: str) -> list[tuple[Use, int]]:
    """What the new text uses and the old one did not, with lines."""
    parts = None if old is None else changed_parts(old, new)
    if parts is None:
        uses = watched_uses(new)
    else:
        before, after = parts
        uses = uses_in(after)
        if uses:  # mostly used by the same function before: then all of the old need not be read
            known = _readable_uses(before)
            uses = {use: line for use, line in uses.items() if use not in known}
    if not uses:
        return []
    excused = _Excused(old or "")
    return [(use, line) for use, line in uses.items() if not excused.covers(use)]


def _readable_uses(tree: ast.Module) -> Mapping[Use, int]:
    try:
        return uses_in(tree)
    except TooCostly:
        return {}


class _Excused:
    """What the original file already did."""

    def __init__(self, text: str) -> None:
        self._uses: Mapping[Use, int] = {}
        self._words: frozenset[str] = frozenset()
        try:
            self._uses = watched_uses(text)
        except (TooCostly, SyntaxError, ValueError, RecursionError, MemoryError):
            # A broken original (a task may be about a syntax error) excuses the words it has.
            self._words = frozenset(re.findall(r"\w+", text))

    def covers(self, use: Use) -> bool:
        words = re.findall(r"\w+", use[1])
        return use in self._uses or (bool(words) and set(words) <= self._words)
