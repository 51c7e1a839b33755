"""HTML that is escaped unless it was made here, and text in which nothing can hide."""

from __future__ import annotations

import html
import unicodedata

_VOID = frozenset({"br", "meta", "link"})
# Controls, format characters (direction overrides among them), surrogates, line separators.
_INVISIBLE = frozenset({"Cc", "Cf", "Cs", "Zl", "Zp"})


class Html(str):
    """Markup made by this package. Any other string is text, and is escaped."""

    __slots__ = ()


def el(name: str, /, *children: str, **attributes: str | int | float | bool | None) -> Html:
    """An element. A trailing ``_`` of an attribute name is dropped, others become ``-``.

    Attributes that are ``None`` or ``False`` are left out; ``True`` stands without a value.
    """
    parts = [f"<{name}"]
    for key, value in attributes.items():
        if value is None or value is False:
            continue
        key = key.removesuffix("_").replace("_", "-")
        parts.append(f" {key}" if value is True else f' {key}="{_attribute(str(value))}"')
    parts.append(">")
    if name not in _VOID:
        parts += [child if isinstance(child, Html) else text(child) for child in children]
        parts.append(f"</{name}>")
    return Html("".join(parts))


def join(*parts: str) -> Html:
    """Markup and text, one after the other."""
    return Html("".join(part if isinstance(part, Html) else text(part) for part in parts))


def text(value: str) -> Html:
    """``value`` escaped, with each character that has no glyph shown as its code point."""
    if value.isascii() and value.isprintable():
        return Html(html.escape(value))
    return Html(
        "".join(
            f'<span class="ctl">{_code_point(char)}</span>' if _hides(char) else html.escape(char)
            for char in value.replace("\r\n", "\n")
        )
    )


def _attribute(value: str) -> str:
    shown = "".join(f"[{_code_point(char)}]" if _hides(char) else char for char in value)
    return html.escape(shown)


def _hides(char: str) -> bool:
    return char not in "\n\t" and unicodedata.category(char) in _INVISIBLE


def _code_point(char: str) -> str:
    return f"U+{ord(char):04X}"
