"""The one parser of tool calls."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from ._json_objects import (
    TWICE,
    JsonFault,
    JsonObject,
    Unfit,
    json_objects,
    place,
    quote,
    unfit_text,
)
from ._tool import Parameter, Tool

MAX_CHARS = 100_000
"""Longest action that is read."""

_FORM = '{"tool": "…", "arguments": {…}}'
_KEYS = ("tool", "arguments")
_NAMES_A_KEY = re.compile(r"""["'](?:tool|arguments)["']""")
_KINDS = {bool: "a boolean", dict: "an object", list: "a list", float: "a decimal number"}
_TYPES = {str: "text", int: "a whole number"}


class CallError(ValueError):
    """An action that is not one valid call. ``str(error)`` is one short line that says why."""


@dataclass(frozen=True)
class Call:
    """One call: ``arguments`` has the required parameters and those optional ones that were set."""

    tool: str
    arguments: Mapping[str, str | int]


def parse_call(action: str | bytes, tools: Mapping[str, Tool]) -> Call:
    """The one call that an action holds.

    The call is a JSON object with the keys ``tool`` and ``arguments``. Text around it, such as
    reasoning and a code fence, is passed over; so are JSON objects with neither key beside it.
    Text that begins as a call and is not JSON is an error even where another call follows: that
    other call may be part of the first one's text. So is text after a hundred faults.

    Args:
        action: what the agent wrote; at most ``MAX_CHARS`` characters.
        tools: the tools by name.

    Raises:
        CallError: the action is no text (nor UTF-8), too long or empty; it has no JSON object,
            one that is not JSON (line and column are named) or several calls; a key, tool or
            argument is unknown, missing or written twice; a value has the wrong type (a boolean
            is no number), is a number past 64 bits or text with NUL or lone surrogates. Nothing
            else is raised because of its text.
    """
    text = _decoded(action)
    found = _only_call(text)
    _same_names("key", found, _KEYS, _KEYS, f"; write {_FORM}")
    name, arguments = found["tool"], found["arguments"]
    if not isinstance(name, str):
        raise CallError(f"'tool' is {_kind(name)}; write its name as text")
    if name not in tools:
        raise CallError(f"unknown tool {quote(name)}; the tools are {_listed(tools)}")
    if not isinstance(arguments, dict):
        raise CallError(f"'arguments' is {_kind(arguments)}; write an object: {_FORM}")
    tool = tools[name]
    names = [parameter.name for parameter in tool.parameters]
    required = [parameter.name for parameter in tool.parameters if parameter.required]
    valid = f"; {name} takes {_listed(names)}"
    _same_names("argument", arguments, names, required, valid)
    for parameter in tool.parameters:
        if parameter.name in arguments:
            _check_type(parameter, arguments[parameter.name])
    return Call(name, arguments)


def _decoded(action: str | bytes) -> str:
    if not isinstance(action, (str, bytes)):
        raise CallError(f"the action is {type(action).__name__}, not text; write {_FORM}")
    # UTF-8 takes at most four bytes a character.
    if len(action) > (MAX_CHARS if isinstance(action, str) else 4 * MAX_CHARS):
        raise CallError(f"the action is too long; at most {MAX_CHARS} characters are read")
    try:
        text = action.decode() if isinstance(action, bytes) else action
        text.encode()
    except UnicodeError as error:
        raise CallError(f"the action is not UTF-8 text (position {error.args[2]})") from None
    if len(text) > MAX_CHARS:
        raise CallError(f"the action is too long; at most {MAX_CHARS} characters are read")
    if not text.strip("\ufeff \t\r\n"):
        raise CallError(f"the action is empty; write {_FORM}")
    return text


def _only_call(text: str) -> dict[str, Any]:
    calls: list[JsonObject] = []
    others: list[JsonObject | JsonFault] = []
    for found in json_objects(text):
        if isinstance(found, JsonFault):
            if found.is_last or _begins_call(text, found):
                raise _not_json(text, found)
            others.append(found)
        elif found.value.keys() & set(_KEYS):
            calls.append(found)
        else:
            others.append(found)
    if len(calls) > 1:
        places = ", ".join(place(text, call.start) for call in calls[:2])
        raise CallError(f"{len(calls)} calls in one action ({places}); write exactly one")
    if calls:
        _check_rest(text, calls[0].end)
        return calls[0].value
    if not others:
        raise CallError(f"no JSON object in the action; write {_FORM}")
    first = others[0]
    if isinstance(first, JsonFault):
        raise _not_json(text, first)
    return first.value


def _begins_call(text: str, fault: JsonFault) -> bool:
    # In single quotes the key is itself the fault.
    known = _NAMES_A_KEY.search(text, fault.start, fault.at) or _NAMES_A_KEY.match(text, fault.at)
    return known is not None


def _not_json(text: str, fault: JsonFault) -> CallError:
    return CallError(f"{place(text, fault.at)}: not JSON: {fault.problem}")


def _check_rest(text: str, end: int) -> None:
    """Refuse a call that a quote in its text has closed too early: it would be cut off there."""
    line = text[end:].partition("\n")[0]
    if "}" in line:
        raise CallError(
            f"{place(text, end)}: text with a bracket after the end of the call; "
            'write a quote in a string as \\"'
        )


def _same_names(
    what: str,
    found: Mapping[str, Any],
    valid: Iterable[str],
    required: Iterable[str],
    hint: str,
) -> None:
    for name, value in found.items():
        if name not in valid:
            raise CallError(f"unknown {what} {quote(name)}{hint}")
        if value is TWICE:
            raise CallError(f"the {what} {quote(name)} is written twice")
    for name in required:
        if name not in found:
            raise CallError(f"missing {what} {quote(name)}{hint}")


def _check_type(parameter: Parameter, value: Any) -> None:
    # An exact type: a boolean is an int to Python.
    if type(value) is parameter.type:
        problem = unfit_text(value) if isinstance(value, str) else None
    else:
        problem = _kind(value)
    if problem:
        expected = _TYPES[parameter.type]
        leave = "" if parameter.required else ", or leave it out"
        raise CallError(f"argument {quote(parameter.name)} is {problem}; write {expected}{leave}")


def _kind(value: Any) -> str:
    if value is None:
        return "null"
    if isinstance(value, Unfit):
        return value.problem
    return {**_TYPES, **_KINDS}[type(value)]


def _listed(names: Iterable[str]) -> str:
    return ", ".join(names) or "no arguments"
