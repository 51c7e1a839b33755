"""Faults in leaderboard files: always a file (where known), a place in it, and what is wrong."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace


@dataclass(frozen=True)
class Fault:
    """One thing wrong: ``where`` is ``line 12`` of a records file or a JSON path of a result."""

    where: str
    message: str
    file: str | None = None

    def __str__(self) -> str:
        place = f"{self.file}: {self.where}" if self.file else self.where
        return f"{place}: {self.message}"

    def in_file(self, file: str) -> Fault:
        """The same fault with its file named."""
        return replace(self, file=file)


class LeaderboardError(ValueError):
    """Records or a result cannot be accepted; ``faults`` lists every reason found."""

    def __init__(self, faults: Sequence[Fault]) -> None:
        self.faults = tuple(faults)
        super().__init__("\n".join(str(fault) for fault in self.faults))
