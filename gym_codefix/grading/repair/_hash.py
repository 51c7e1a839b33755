"""Hashes of texts."""

from __future__ import annotations

import hashlib


def sha256_text(text: str) -> str:
    """sha256 of a text as UTF-8, hex."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
