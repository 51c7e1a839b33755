"""Which paths an action may name."""

from __future__ import annotations

import re

from gym_codefix.grading.patch._errors import ActionError, quote

_MAX_PATH_BYTES = 1024
_MAX_PART_BYTES = 255
_DRIVE = re.compile(r"[A-Za-z]:")


def normalise_path(raw: str, location: str | None) -> str:
    """``raw`` as a posix path relative to the tree, without ``.`` and doubled slashes.

    Raises:
        ActionError: ``path_outside`` when it is absolute, has a drive letter or ``..``;
            ``path_invalid`` when it is empty, too long, names a folder or ``.git``, or has
            backslashes or unprintable characters.
    """

    def refuse(code: str, why: str) -> ActionError:
        hint = "write it relative to the tree, such as src/module.py"
        return ActionError(code, f"path {quote(raw)} {why}; {hint}", location)

    if not raw.strip():
        raise refuse("path_invalid", "is empty")
    if raw != raw.strip():
        raise refuse("path_invalid", "has spaces around it")
    if not raw.isprintable():
        raise refuse("path_invalid", "has control or unprintable characters")
    if "\\" in raw:
        raise refuse("path_invalid", "has a backslash")
    encoded = raw.encode("utf-8")
    if len(encoded) > _MAX_PATH_BYTES or any(
        len(part) > _MAX_PART_BYTES for part in encoded.split(b"/")
    ):
        limits = f"{_MAX_PATH_BYTES} bytes in all, {_MAX_PART_BYTES} a part"
        raise refuse("path_invalid", f"is too long (at most {limits})")
    if raw.startswith("/"):
        raise refuse("path_outside", "leaves the tree: it is absolute")
    if _DRIVE.match(raw):
        raise refuse("path_outside", "leaves the tree: it has a drive letter")
    if raw.endswith(("/", "/.")) or raw == ".":
        raise refuse("path_invalid", "names a folder")
    parts = [part for part in raw.split("/") if part not in ("", ".")]
    if ".." in parts:
        raise refuse("path_outside", "leaves the tree: it has '..'")
    if any(part.lower() == ".git" for part in parts):
        raise refuse("path_invalid", "is inside .git")
    return "/".join(parts)
