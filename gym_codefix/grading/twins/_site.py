"""A place where a test can be broken."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass

KINDS = ("negate", "operand", "unittest", "raises", "call")


@dataclass(frozen=True)
class TwinSite:
    """One way to break one assertion.

    `line` is 1-based and `column` counts characters from 0: where the assertion begins. `kind` is
    one of `KINDS`; `variant` tells the ways of one kind apart ("left", "argument 0", …).
    Raises ValueError for an unknown kind.
    """

    line: int
    column: int
    kind: str
    variant: str

    def __post_init__(self) -> None:
        if self.kind not in KINDS:
            raise ValueError(f"unknown twin kind {self.kind!r}; valid: {', '.join(KINDS)}")

    def to_json(self) -> dict[str, int | str]:
        """A mapping that `from_json` turns back into an equal site."""
        return asdict(self)

    @classmethod
    def from_json(cls, data: Mapping[str, object]) -> TwinSite:
        """Raises ValueError when fields are missing, unknown or of the wrong type."""
        line, column = data.get("line"), data.get("column")
        kind, variant = data.get("kind"), data.get("variant")
        if (
            set(data) != {"line", "column", "kind", "variant"}
            or not (isinstance(line, int) and isinstance(column, int))
            or not (isinstance(kind, str) and isinstance(variant, str))
        ):
            raise ValueError(
                f"a twin site has the fields line, column (int), kind, variant (str), got {data!r}"
            )
        return cls(line, column, kind, variant)
