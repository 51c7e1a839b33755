"""One episode of the loop: the state that an agent changes, and what its calls answer."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field

from packaging.requirements import InvalidRequirement, Requirement
from packaging.specifiers import InvalidSpecifier, SpecifierSet
from packaging.utils import canonicalize_name

from gym_codefix.catalog.hunks import split_lines
from gym_codefix.grading.build import (
    BUILD_STAGES,
    CONSTRAINTS_FILE,
    Build,
    ConstraintError,
    check_constraints,
    compile_fault,
)
from gym_codefix.grading.patch import ActionError, parse_action
from gym_codefix.grading.policy import refuse
from gym_codefix.grading.repair import Infrastructure
from gym_codefix.runtime import PrepareError, Start, StoreError

from ._call import Call
from ._workbench import Workbench

_HITS = 5
_LINES_READ = 200
_AROUND = 12
_LOG_HEAD = 4_000
_PATCH_CHARS = 100_000
_SPECIFIER_CHARS = 200


@dataclass(frozen=True)
class Answer:
    """What a call gave: ``text`` for the agent, ``error`` when it was the agent's mistake."""

    text: str
    error: bool = False


class ToolError(ValueError):
    """A call that cannot be carried out; the text tells the agent why."""


@dataclass
class Session:
    """``edits``: changed source by path; ``constraints``: None where versions are fixed.

    ``built``: the build of the present state, None after a change. ``last``: of whatever state was
    built last. ``build_seconds``: spent so far. ``failure``: our own fault in a build, or None.
    """

    bench: Workbench
    edits: dict[str, str] = field(default_factory=dict)
    constraints: str | None = None
    built: Build | None = None
    last: Build | None = None
    build_seconds: float = 0.0
    builds: int = 0
    failure: str | None = None

    def __post_init__(self) -> None:
        self.constraints = self.bench.constraints
        self.last = self.bench.first

    @property
    def touched(self) -> tuple[str, ...]:
        """Files that differ from what the agent found."""
        constraints = self.constraints != self.bench.constraints
        return (*([CONSTRAINTS_FILE] if constraints else []), *sorted(self.edits))

    def read(self, path: str) -> str | None:
        """A file of the present state."""
        if path == CONSTRAINTS_FILE:
            return self.constraints
        return self.edits[path] if path in self.edits else self.bench.read(path)

    def answer(self, call: Call) -> Answer:
        """Carry out a call other than ``submit``."""
        self.failure = None
        tools: dict[str, Callable[..., str]] = {
            "read_log": self._read_log,
            "retrieve": self._retrieve,
            "read_file": self._read_file,
            "edit": self._edit,
            "list_versions": self._list_versions,
            "upgrade_dependency": self._upgrade,
            "validate_and_build": self._build,
        }
        try:
            return Answer(tools[call.tool](**call.arguments))
        except (ToolError, ActionError) as error:
            return Answer(f"error: {error}", error=True)

    def _read_log(self, stage: str | None = None, around: str | None = None) -> str:
        assert self.last is not None
        if stage is not None and stage not in BUILD_STAGES:
            raise ToolError(f"unknown stage {stage!r}; valid: {', '.join(BUILD_STAGES)}")
        log = self.last.log if stage is None else self.last.logs.get(stage)
        if log is None:
            there = ", ".join(self.last.logs) or "none"
            raise ToolError(f"the last build has no log of the stage {stage}; there: {there}")
        if around is None:
            return log
        lines = log.splitlines()
        places = [place for place, line in enumerate(lines) if around in line]
        if not places:
            raise ToolError(f"the log does not hold {around[:200]!r}")
        first = places[0]
        return "\n".join(lines[max(0, first - _AROUND) : first + _AROUND + 1])

    def _retrieve(self, query: str) -> str:
        hits = self.bench.index.search(query, _HITS)
        if not hits:
            raise ToolError("nothing was found; use names and words of the error")
        return "\n\n".join(f"{hit.document.title}\n{hit.snippet}" for hit in hits)

    def _read_file(self, path: str, start: int = 1, end: int | None = None) -> str:
        text = self.read(path)
        if text is None:
            raise ToolError(f"there is no file {path[:200]!r} that can be read")
        lines = [line.rstrip("\r\n") for line in split_lines(text)]
        last = min(len(lines), start + _LINES_READ - 1) if end is None else end
        if not 1 <= start <= max(1, len(lines)) or last < start:
            raise ToolError(f"{path} has the lines 1 to {len(lines)}")
        last = min(last, start + _LINES_READ - 1, len(lines))
        shown = [f"{number}| {lines[number - 1]}" for number in range(start, last + 1)]
        more = f"\n… {path} goes on to line {len(lines)}" if last < len(lines) else ""
        return "\n".join(shown) + more

    def _edit(self, patch: str) -> str:
        texts = parse_action(patch, self.read, editable=self.bench.editable, max_chars=_PATCH_CHARS)
        if CONSTRAINTS_FILE in texts:
            self._constrain(texts.pop(CONSTRAINTS_FILE))
        for path, text in texts.items():
            self.edits[path] = text
            if text == self.bench.read(path):
                del self.edits[path]
        self.built = None
        return f"changed: {', '.join(self.touched) or 'nothing'}; it is not built yet"

    def _constrain(self, text: str) -> None:
        try:
            check_constraints(text)
        except ConstraintError as error:
            raise ToolError(f"{CONSTRAINTS_FILE}: {error}") from None
        for line in text.splitlines():
            plain = line.partition("#")[0].strip()
            if plain:
                self._check_available(Requirement(plain))
        self.constraints, self.built = text, None

    def _check_available(self, wanted: Requirement) -> None:
        name = canonicalize_name(wanted.name)
        known = self.bench.versions.get(name)
        if known is None:
            raise ToolError(
                f"{name} is not available here; there: {', '.join(self.bench.versions)}"
            )
        try:
            fits = any(wanted.specifier.contains(version, prereleases=True) for version in known)
        except ValueError:  # a number of more digits than Python reads
            fits = False
        if not fits:
            raise ToolError(
                f"{name} {wanted.specifier} is not available here; there: {', '.join(known)}"
            )

    def _list_versions(self, name: str) -> str:
        versions = self.bench.versions
        known = versions.get(canonicalize_name(name))
        if known is None:
            raise ToolError(f"unknown distribution {name[:100]!r}; known: {', '.join(versions)}")
        return f"{canonicalize_name(name)}: {', '.join(known)}"

    def _upgrade(self, name: str, specifier: str) -> str:
        if self.constraints is None:
            raise ToolError("the versions of this task are fixed: its source must change")
        if len(specifier) > _SPECIFIER_CHARS:
            raise ToolError(f"a specifier has at most {_SPECIFIER_CHARS} characters")
        try:
            wanted = Requirement(f"{name}{SpecifierSet(specifier)}")
        except InvalidSpecifier:
            raise ToolError(f"{specifier[:100]!r} is not a PEP 440 specifier, as ==2.3.8") from None
        except InvalidRequirement:
            raise ToolError(f"{name[:100]!r} is not the name of a distribution") from None
        self._check_available(wanted)
        line = f"{canonicalize_name(wanted.name)}{wanted.specifier}\n"
        kept = [
            known
            for known in self.constraints.splitlines(keepends=True)
            if not _is_of(known, canonicalize_name(wanted.name))
        ]
        self.constraints = "".join(sorted([*kept, *([line] if specifier.strip() else [])]))
        self.built = None
        return f"{line.strip() if specifier.strip() else f'any {wanted.name}'}; it is not built yet"

    def _build(self) -> str:
        # What the policy refuses would be refused when it is submitted, and could meanwhile read
        # what is hidden and tell of it in the log. What does not compile never runs.
        if (reason := self._refusal()) is not None:
            raise ToolError(f"refused: {reason}")
        started = time.monotonic()
        try:
            build = self.bench.builder().build(
                self._over_pristine(), self.constraints, self.bench.floors, start=self._start
            )
        except (Infrastructure, PrepareError, StoreError) as error:
            self.failure = str(error)
            raise ToolError("the build could not be run, which is not your fault") from None
        finally:
            self.build_seconds += time.monotonic() - started
            self.builds += 1
        self.built = self.last = build
        if build.green:
            return f"the build is green: {len(build.passed)} tests pass"
        return f"the build fails at the stage {build.stage}\n{build.log[:_LOG_HEAD]}"

    @property
    def _start(self) -> Start:
        """A process that has collected holds the hidden tests, where there are any."""
        return Start.BASE if self.bench.task.hidden else Start.TEMPLATE

    def _refusal(self) -> str | None:
        if any(compile_fault(text, path) for path, text in self.edits.items()):
            return None
        try:
            before = {path: self.bench.read(path) for path in self.edits}
            found = refuse(before, self.edits)
        except Exception as error:  # an exception of ours must not end the episode
            return f"it could not be read ({type(error).__name__})"
        return f"{found[0].path}:{found[0].line}: {found[0].message}" if found else None

    def _over_pristine(self) -> dict[str, str]:
        problem = self.bench.problem
        return {} if problem is None else problem.over_pristine(self.edits)


def _is_of(line: str, name: str) -> bool:
    try:
        return canonicalize_name(Requirement(line.partition("#")[0].strip()).name) == name
    except InvalidRequirement:
        return False
