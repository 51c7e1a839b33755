"""The reward formulas of repair, named and versioned."""

from __future__ import annotations

from collections.abc import Mapping

REWARDS = {
    "binary": "1 when resolved, else 0",
    "shaped": "weighted parts: applies, parses, builds, flipped share, kept share; 1 when resolved",
}
REWARD_VERSION = 1
SHAPED_WEIGHTS = {"applies": 0.05, "parses": 0.05, "builds": 0.1, "flipped": 0.5, "kept": 0.3}


def reward_of(name: str, parts: Mapping[str, float], *, resolved: bool, barred: bool) -> float:
    """The number that an episode is paid (``barred``: refused, tampering or lost checks: 0)."""
    if barred:
        return 0.0
    if resolved:
        return 1.0
    if name == "binary":
        return 0.0
    # An unresolved repair is never worth a resolved one, whatever its parts.
    weighted = sum(weight * parts.get(part, 0.0) for part, weight in SHAPED_WEIGHTS.items())
    return round(min(0.95, weighted), 6)
