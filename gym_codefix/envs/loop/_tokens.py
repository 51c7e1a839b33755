"""Words of code and prose, as retrieval counts them."""

from __future__ import annotations

import functools
import re

RAW_TOKEN = re.compile(r"[^\W\d]\w*(?:\.[^\W\d]\w*)*|\d+(?:\.\w+)*")
"""What is counted once before it is taken apart: a dotted identifier, a number or a version."""

_PARTS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+|[^\W\d_A-Za-z]+")


@functools.lru_cache(maxsize=1 << 16)  # snippets ask for the same few again and again
def split_token(raw: str) -> tuple[str, ...]:
    """The terms of one raw token, each once and in lower case, the whole first.

    ``flask.json.JSONEncoder_v2`` has itself, its three identifiers, and the parts json, encoder,
    v and 2; a version such as ``3.0.1`` has itself only.
    """
    terms = {raw.lower(): None}
    if not raw[0].isdigit():
        for identifier in raw.split("."):
            terms[identifier.lower()] = None
            terms.update((part.lower(), None) for part in _PARTS.findall(identifier))
    return tuple(terms)
