"""Mining: how tasks are cut out of repositories and proven."""

from ._breakage import Breakage, find_breakages
from ._dependency import MinedDependencies, migrate_facts, mine_resolve
from ._migrate import migration_by_hand, mine_migration
from ._release import DroppedCandidate, MinedRelease, mine_release
from ._seeded import mine_seeded
from ._validate import Proof, Validator, validate_tasks

__all__ = [
    "Breakage",
    "DroppedCandidate",
    "MinedDependencies",
    "MinedRelease",
    "Proof",
    "Validator",
    "find_breakages",
    "migrate_facts",
    "migration_by_hand",
    "mine_migration",
    "mine_release",
    "mine_resolve",
    "mine_seeded",
    "validate_tasks",
]
