"""How a number is written."""

from __future__ import annotations


def spell(value: int | float | complex, like: str) -> str:
    """The literal of a number, in the base of another literal."""
    if isinstance(value, complex):
        return f"{value.imag!r}j"
    base = {"0x": hex, "0o": oct, "0b": bin}.get(like[:2].lower(), repr)
    return base(value) if isinstance(value, int) else repr(value)
