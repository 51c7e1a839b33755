"""Gymnasium environments in which code agents repair real Python repositories.

Importing this package registers every environment id and imports nothing heavy.
"""

from gymnasium.envs.registration import register, registry

ENVIRONMENT_IDS = ("gym_codefix/CodeRepair-Simple-v0", "gym_codefix/CodeRepair-Full-v0")

if ENVIRONMENT_IDS[0] not in registry:
    register(
        id=ENVIRONMENT_IDS[0],
        entry_point="gym_codefix.envs:CodeRepairSimple",
        vector_entry_point="gym_codefix.envs:CodeRepairSimpleVector",
    )
    register(
        id=ENVIRONMENT_IDS[1],
        entry_point="gym_codefix.envs:CodeRepairFull",
        vector_entry_point="gym_codefix.envs:CodeRepairFullVector",
    )

__all__ = ["ENVIRONMENT_IDS"]
