"""Mining: how tasks are cut out of repositories and proven."""

from ._release import DroppedCandidate, MinedRelease, mine_release
from ._seeded import mine_seeded
from ._validate import Proof, Validator, validate_tasks

__all__ = [
    "DroppedCandidate",
    "MinedRelease",
    "Proof",
    "Validator",
    "mine_release",
    "mine_seeded",
    "validate_tasks",
]
