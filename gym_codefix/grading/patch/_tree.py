"""The files that an action touches, and the edits gathered for each."""

from __future__ import annotations

from collections.abc import Callable

from gym_codefix.grading.patch._errors import ActionError, quote
from gym_codefix.grading.patch._filetext import FileText, Splice
from gym_codefix.grading.patch._paths import normalise_path


class Target:
    """One file of the action: its original text and the splices into it."""

    def __init__(self, path: str, text: str | None) -> None:
        self.path = path
        self.exists = text is not None
        self.file = FileText(text or "")
        self.splices: list[Splice] = []

    @property
    def is_touched(self) -> bool:
        """Whether an earlier edit of the action named this file."""
        return bool(self.splices)


class Tree:
    """The tree as the action sees it. Files are read once, on first mention."""

    def __init__(
        self, read: Callable[[str], str | None], editable: Callable[[str], str | None]
    ) -> None:
        self._read = read
        self._editable = editable
        self._targets: dict[str, Target] = {}

    def existing(self, raw_path: str, location: str, hint: str) -> Target:
        """The target at ``raw_path``, which must be there; ``hint`` says how to create it."""
        target = self.target(raw_path, location)
        if not target.exists:
            problem = f"there is no file {quote(target.path)}; {hint}"
            raise ActionError("no_such_file", problem, location)
        return target

    def missing(self, raw_path: str, location: str, hint: str) -> Target:
        """The target at ``raw_path``, which must not be there; ``hint`` says how to edit it."""
        target = self.target(raw_path, location)
        if target.exists or target.is_touched:
            problem = f"{quote(target.path)} already exists; {hint}"
            raise ActionError("file_exists", problem, location)
        return target

    def target(self, raw_path: str, location: str) -> Target:
        """The target at ``raw_path``, whether or not the file exists."""
        path = normalise_path(raw_path, location)
        if path not in self._targets:
            reason = self._editable(path)
            if reason is not None:
                problem = f"{quote(path)} may not be edited: {' '.join(reason.split())}"
                raise ActionError("not_editable", problem, location)
            self._targets[path] = Target(path, self._read(path))
        return self._targets[path]

    def edits(self) -> dict[str, str]:
        """Path to whole new text, of the files whose text changes."""
        edits = {}
        for target in self._targets.values():
            if not target.exists:
                self._check_parents(target)
            text = target.file.apply(target.splices)
            if not target.exists or text != target.file.text:
                edits[target.path] = text
        return edits

    def _check_parents(self, target: Target) -> None:
        parts = target.path.split("/")
        for depth in range(1, len(parts)):
            parent = "/".join(parts[:depth])
            if parent in self._targets or self._read(parent) is not None:
                raise ActionError(
                    "path_conflict",
                    f"{quote(target.path)} cannot be created: {quote(parent)} is a file, "
                    "not a folder",
                    target.splices[0].location,
                )
