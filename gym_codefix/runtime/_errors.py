"""What can go wrong before a job runs."""

from __future__ import annotations


class PrepareError(RuntimeError):
    """A repository could not be prepared.

    ``stage``: ``python``, ``fetch``, ``unpack``, ``environment``, ``baseline``; ``log_tail``: the
    log of the stage, trimmed; ``advice``: what to try.
    """

    def __init__(self, stage: str, message: str, *, log_tail: str = "", advice: str = "") -> None:
        self.stage, self.message, self.log_tail, self.advice = stage, message, log_tail, advice
        parts = [f"{stage}: {message}"]
        if log_tail:
            parts.append(log_tail)
        if advice:
            parts.append(f"try: {advice}")
        super().__init__("\n".join(parts))


class NotPrepared(RuntimeError):
    """A snapshot was asked for that nobody prepared on this machine."""
