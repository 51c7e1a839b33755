"""The fact that names one mutant: an operator at a node."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from typing import Any


class MutationNotFound(ValueError):
    """The source has no node at which this mutation applies."""


@dataclass(frozen=True, order=True)
class Mutation:
    """One operator at one node of one file.

    Positions are those of the replaced node in the original text: lines count from 1, columns are
    characters and count from 0, the end is exclusive. A byte order mark is not a column.

    Attributes:
        operator: a family of `OPERATORS`, a colon, and what is replaced (`"relational:<=-><"`).
        variant: which replacement, where the operator offers several at the node.
        function: qualified name of the innermost enclosing `def` (`"Class.method"`,
            `"outer.<locals>.inner"`), `""` at module level.
    """

    operator: str
    line: int
    column: int
    end_line: int
    end_column: int
    variant: int
    function: str

    @property
    def family(self) -> str:
        """The part of the operator before the colon, a key of `OPERATORS`."""
        return self.operator.partition(":")[0]

    def to_json(self) -> dict[str, Any]:
        """The fields as a plain dict, fit for `json.dumps`."""
        return asdict(self)

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Mutation:
        """The inverse of `to_json`.

        Raises:
            ValueError: a field is missing, unknown or of the wrong type.
        """
        types = {field.name: str if field.type == "str" else int for field in fields(cls)}
        if set(data) != set(types):
            raise ValueError(f"a mutation has the fields {sorted(types)}, not {sorted(data)}")
        for name, expected in types.items():
            if type(data[name]) is not expected:
                raise ValueError(f"{name} must be {expected.__name__}, not {data[name]!r}")
        return cls(**data)
