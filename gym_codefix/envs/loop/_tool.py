"""What a tool is to an agent: a name, what it does, and what it takes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

_JSON_TYPES = {str: "string", int: "integer"}


@dataclass(frozen=True)
class Parameter:
    """One argument of a tool: text, or a whole number of at most 64 bits."""

    name: str
    type: type[str] | type[int]
    required: bool
    description: str


@dataclass(frozen=True)
class Tool:
    """One tool, its parameters in the order in which help shows them."""

    name: str
    description: str
    parameters: tuple[Parameter, ...] = ()


def tool_schema(tool: Tool) -> dict[str, Any]:
    """The tool as an entry of ``tools`` in a request to an OpenAI-compatible server."""
    properties = {
        parameter.name: {
            "type": _JSON_TYPES[parameter.type],
            "description": parameter.description,
        }
        for parameter in tool.parameters
    }
    return {
        "type": "function",
        "function": {
            "name": tool.name,
            "description": tool.description,
            "parameters": {
                "type": "object",
                "properties": properties,
                "required": [item.name for item in tool.parameters if item.required],
                "additionalProperties": False,
            },
        },
    }
