"""stub to be replaced"""
from __future__ import annotations
from dataclasses import dataclass
@dataclass(frozen=True)
class DroppedCandidate:
    candidate: str
    reason: str
def mine_release(*a, **k): raise NotImplementedError
MinedRelease=object
