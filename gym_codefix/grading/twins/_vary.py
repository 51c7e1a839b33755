"""An expression that turns any value into a slightly other one of the same type.

A bare ``object()`` in place of an expected value would tell a forged ``__eq__`` that it looks at a
twin; a value of the right type, length and attributes tells it nothing.
"""

from __future__ import annotations

_DEPTH = 4
# One line, since a twin keeps the lines of its test; no names but these builtins.
USED_NAMES = frozenset(
    {"abs", "all", "bool", "bytes", "chr", "complex", "dict", "float", "frozenset", "getattr"}
    | {"hasattr", "int", "isinstance", "iter", "len", "list", "next", "object", "ord", "set"}
    | {"str", "tuple", "type", "vars"}
)
_MIDDLE = "type(v)([*v[:len(v) // 2], vary(vary, v[len(v) // 2], deep - 1), *v[len(v) // 2 + 1:]])"
_FIRST = "{**v, next(iter(v)): vary(vary, v[next(iter(v))], deep - 1)}"
_NAMES = (
    "[*(vars(v) if hasattr(v, '__dict__') else ()), *[n for t in type(v).__mro__"
    " for n in [getattr(t, '__slots__', ())] for n in ([n] if type(n) is str else n)"
    " if type(n) is str and n[:2] != '__' and hasattr(v, n)]]"
)
# Made without the class's own code, which may be the agent's.
_COPY = (
    "(lambda new, names: ([object.__setattr__(new, n, getattr(v, n)) for n in names],"
    " object.__setattr__(new, names[0], vary(vary, getattr(v, names[0]), deep - 1)), new)[2]"
    f" if names else object())(object.__new__(type(v)), {_NAMES})"
)
_PURE = "all(t is object or t.__flags__ & 512 for t in type(v).__mro__)"  # 512: made by Python code
_CASES = (
    ("isinstance(v, bool)", "not v"),
    ("v is None", "0"),
    ("type(v) is int", "v + 1 + abs(v) // 8"),
    ("type(v) is float", "v + 1 + abs(v) / 8 if v - v == 0 else 0.0"),  # inf, nan
    ("type(v) is complex", "v + 1"),
    ("type(v) is str", "v[:-1] + chr(ord(v[-1]) ^ 1) if v else 'x'"),
    ("type(v) is bytes", "v[:-1] + bytes([v[-1] ^ 1]) if v else b'x'"),
    ("type(v) in (list, tuple) and v and deep", _MIDDLE),
    ("type(v) in (list, tuple)", "type(v)([*v, 0])"),
    ("type(v) is dict and v and deep", _FIRST),
    ("type(v) is dict", "{**v, 0: 0}"),
    ("type(v) in (set, frozenset)", "v - {next(iter(v))} if v else v | {0}"),
    ("type(v).__module__ in ('decimal', '_decimal', '_pydecimal')", "v + 1 + abs(v) / 8"),
    ("type(v).__module__ == 'datetime' and hasattr(v, '__add__')", "v + type(v).resolution"),
    (f"deep and {_PURE}", _COPY),
)
_CHOICE = " else ".join(f"({value}) if {case}" for case, value in _CASES) + " else object()"


def varied(expression: str) -> str:
    """Evaluates ``expression`` and varies what it gives."""
    return (
        f"(lambda vary, v: vary(vary, v, {_DEPTH}))(lambda vary, v, deep: {_CHOICE}, {expression})"
    )
