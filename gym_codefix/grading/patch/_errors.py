"""The one exception that a repair action can cause."""

from __future__ import annotations

_QUOTED_CHARS = 80


class ActionError(ValueError):
    """A repair action that cannot be applied.

    ``str(error)`` is one line: where, what was wrong, what would be right.

    Attributes:
        code: stable slug of the kind of error (below).
        problem: the message without the location.
        location: place in the action, such as ``"block 2, line 7"``, or None when the whole
            action is at fault. Lines of the action count from 1.

    Codes of the whole action: ``not_text``, ``too_long``, ``empty``, ``no_edit``,
    ``mixed_formats``, ``too_many_edits``. Codes of a path: ``path_invalid``,
    ``path_outside``, ``path_conflict``, ``not_editable``, ``no_such_file``, ``file_exists``.
    Codes of an edit: ``malformed``, ``unsupported``, ``no_match``, ``ambiguous``,
    ``out_of_range``, ``overlap``, ``final_newline``.
    """

    def __init__(self, code: str, problem: str, location: str | None = None) -> None:
        super().__init__(code, problem, location)
        self.code = code
        self.problem = problem
        self.location = location

    def __str__(self) -> str:
        return f"{self.location}: {self.problem}" if self.location else self.problem


def quote(text: str) -> str:
    """``text`` as one short printable line for a message."""
    return repr(text if len(text) <= _QUOTED_CHARS else text[: _QUOTED_CHARS - 1] + "…")
