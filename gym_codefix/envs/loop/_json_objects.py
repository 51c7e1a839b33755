"""JSON objects found in text, with what is wrong in them told apart from what is absent.

``json`` reports some faults by position, lets others pass (NaN, a repeated key) and fails on deep
nesting. Here every fault is a ``JsonFault`` or is noted in the value.
"""

from __future__ import annotations

import json
import math
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

_BITS = 63
_MAX_DIGITS = 20  # sign and digits of 64 bits
_QUOTED_CHARS = 60
_MAX_FAULTS = 100
# An object starts with a key or ends at once. Single quotes are wrong, but must be told so.
_OBJECT = re.compile(r"""\{[ \t\r\n]*["'}]""")
_SURROGATE = re.compile("[\ud800-\udfff]")
# `json` words its messages differently from release to release.
_HINTS = (
    ("Expecting property name", "expected a key in double quotes"),
    ("Illegal trailing comma", "expected a key in double quotes"),
    ("Expecting ':'", "expected a colon after the key"),
    ("Expecting ','", 'expected a comma or a closing bracket; write a quote in a string as \\"'),
    ("Expecting value", "expected a value; text stands in double quotes"),
    ("Unterminated string", "the string that begins here is not closed"),
    ("Invalid control character", "a raw control character in a string; write a line break as \\n"),
    ("Invalid \\", "an invalid escape in a string; write a backslash as \\\\"),
)


@dataclass(frozen=True)
class Unfit:
    """Stands for a value that JSON text may hold and an argument may not."""

    problem: str


TWICE = Unfit("written twice")
"""Stands for the values of a repeated key."""


@dataclass(frozen=True)
class JsonFault:
    """Text from ``start`` that looks like an object and goes wrong ``at`` a later place.

    ``is_last``: what follows was not searched.
    """

    start: int
    at: int
    problem: str
    is_last: bool


@dataclass(frozen=True)
class JsonObject:
    """An object that lies at ``start`` to ``end`` of the text."""

    start: int
    end: int
    value: dict[str, Any]


def json_objects(text: str) -> Iterator[JsonObject | JsonFault]:
    """Every outermost JSON object in ``text``, and every failed one, in order.

    After a fault the search goes on where it lies, so that no part is read twice. Text that nests
    past the recursion limit ends the search, and so does the hundredth fault: Python counts the
    lines before each of them.
    """
    decoder = json.JSONDecoder(
        parse_constant=lambda name: Unfit(f"{name}, which JSON does not have"),
        parse_int=_whole_number,
        parse_float=_number,
        object_pairs_hook=_mapping,
    )
    position = faults = 0
    while opening := _OBJECT.search(text, position):
        start = opening.start()
        try:
            value, position = decoder.raw_decode(text, start)
        except RecursionError:
            yield JsonFault(start, start, "nested too deeply", is_last=True)
            return
        except json.JSONDecodeError as error:
            position = max(error.pos, start + 1)
            faults += 1
            is_last = faults == _MAX_FAULTS
            yield JsonFault(start, error.pos, _hint(error.msg), is_last)
            if is_last:
                return
        else:
            yield JsonObject(start, position, value)


def quote(text: str) -> str:
    """``text`` as one short printable line for a message."""
    return repr(text if len(text) <= _QUOTED_CHARS else text[: _QUOTED_CHARS - 1] + "…")


def place(text: str, position: int) -> str:
    """Line and column of a position, both from 1."""
    line = text.count("\n", 0, position) + 1
    column = position - text.rfind("\n", 0, position)
    return f"line {line}, column {column}"


def unfit_text(text: str) -> str | None:
    """Why a string cannot be an argument, or None when it can."""
    if "\0" in text:
        return "text with a NUL character"
    if _SURROGATE.search(text):
        return "text with a lone surrogate"
    return None


def _hint(message: str) -> str:
    return next((hint for begin, hint in _HINTS if message.startswith(begin)), "not JSON")


def _whole_number(digits: str) -> int | Unfit:
    # Python refuses to read more than 4300 digits, by a ValueError of its own.
    if len(digits) <= _MAX_DIGITS and -(2**_BITS) <= int(digits) < 2**_BITS:
        return int(digits)
    return Unfit("a whole number past 64 bits")


def _number(digits: str) -> float | Unfit:
    number = float(digits)
    return number if math.isfinite(number) else Unfit("a number past the range of doubles")


def _mapping(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    mapping = dict(pairs)
    if len(mapping) != len(pairs):
        [(key, _)] = Counter(key for key, _ in pairs).most_common(1)
        return {**mapping, key: TWICE}
    return mapping
