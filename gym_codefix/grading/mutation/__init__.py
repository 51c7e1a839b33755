"""Mutation operators on Python source: what the miner seeds, the search undoes and tests kill."""

from __future__ import annotations

from ._engine import apply_mutation, apply_mutations, enumerate_mutations
from ._mutation import Mutation, MutationNotFound
from ._registry import OPERATORS

__all__ = [
    "OPERATORS",
    "Mutation",
    "MutationNotFound",
    "apply_mutation",
    "apply_mutations",
    "enumerate_mutations",
]
