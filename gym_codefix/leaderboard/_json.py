"""Canonical JSON: one byte sequence for one value, on every machine."""

from __future__ import annotations

import hashlib
import json
import math
import os
import tempfile
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NoReturn

DECIMALS = 6


def rounded(number: float) -> float:
    """``number`` as it is stored: a float of six decimals, and never a negative zero."""
    return round(float(number), DECIMALS) + 0.0


def canonical_json(value: Any, *, indent: int | None = None) -> str:
    """Sorted keys, ASCII only, shortest exact floats.

    Raises:
        ValueError: for NaN and infinities, which JSON does not have.
    """
    separators = (",", ": ") if indent else (",", ":")
    return json.dumps(
        value,
        sort_keys=True,
        ensure_ascii=True,
        allow_nan=False,
        indent=indent,
        separators=separators,
    )


def parse_json(text: str) -> Any:
    """The value of strict JSON text.

    Raises:
        ValueError: for text that is not JSON, NaN or infinities, a repeated key, an integer past
            64 bits, a float past the range of doubles, or nesting past the recursion limit.
    """
    try:
        return json.loads(
            text,
            parse_constant=_refuse_constant,
            parse_int=_parse_int,
            parse_float=_parse_float,
            object_pairs_hook=_unique_keys,
        )
    except RecursionError:
        raise ValueError("nested too deeply") from None


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not a JSON number")


def _parse_int(digits: str) -> int:
    if len(digits) > 20 or not -(2**63) <= int(digits) < 2**63:
        raise ValueError(f"the integer {digits[:20]}… does not fit 64 bits")
    return int(digits)


def _parse_float(digits: str) -> float:
    number = float(digits)
    if not math.isfinite(number):
        raise ValueError(f"the number {digits[:20]} is out of range")
    return number


def _unique_keys(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    mapping = dict(pairs)
    if len(mapping) != len(pairs):
        [(key, _)] = Counter(key for key, _ in pairs).most_common(1)
        raise ValueError(f"repeated key {key[:80]!r}")
    return mapping


def sha256_hex(data: bytes) -> str:
    """Hex sha256 of ``data``."""
    return hashlib.sha256(data).hexdigest()


def write_atomically(path: Path, data: bytes) -> None:
    """Write ``data`` so that a reader sees the old file or the new one, never a part."""
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(handle, "wb") as stream:
            stream.write(data)
        os.chmod(name, 0o644)
        os.replace(name, path)
    except BaseException:
        os.unlink(name)
        raise


def differences(expected: Any, found: Any, path: str = "$") -> Iterator[tuple[str, Any, Any]]:
    """Every place where two JSON values differ: (JSON path, expected, found).

    A key or item that only one side has is reported with ``None`` on the other.
    """
    if isinstance(expected, dict) and isinstance(found, dict):
        for key in sorted(expected.keys() | found.keys()):
            yield from differences(expected.get(key), found.get(key), f"{path}.{key}")
    elif isinstance(expected, list) and isinstance(found, list):
        for index in range(max(len(expected), len(found))):
            yield from differences(
                expected[index] if index < len(expected) else None,
                found[index] if index < len(found) else None,
                f"{path}[{index}]",
            )
    elif type(expected) is not type(found) or expected != found:
        yield path, expected, found
