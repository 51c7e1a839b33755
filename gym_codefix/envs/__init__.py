"""The environments: one small file each, its docstring is its documentation."""

from ._code_repair_full import CodeRepairFull
from ._code_repair_simple import CodeRepairSimple
from ._vector import CodeRepairFullVector, CodeRepairSimpleVector

__all__ = [
    "CodeRepairFull",
    "CodeRepairFullVector",
    "CodeRepairSimple",
    "CodeRepairSimpleVector",
]
