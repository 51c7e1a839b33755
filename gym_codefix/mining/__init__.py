"""Mining: how tasks are cut out of repositories and proven."""

from ._breakage import Breakage, find_breakages
from ._release import DroppedCandidate, MinedRelease, mine_release
from ._seeded import mine_seeded
from ._validate import Proof, Validator, validate_tasks

__all__ = [
    "Breakage",
    "DroppedCandidate",
    "MinedRelease",
    "Proof",
    "Validator",
    "find_breakages",
    "mine_release",
    "mine_seeded",
    "validate_tasks",
]
