"""Enumerate mutants and write them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Container, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise

from gym_codefix.catalog.syntax import quiet_compiler

# Importing a module of operators registers them.
from . import (  # noqa: F401
    _arguments,
    _conditions,
    _exceptions,
    _expressions,
    _literals,
    _statements,
)
from ._equivalence import Novelty, future_flags
from ._mutation import Mutation, MutationNotFound
from ._registry import OPERATORS, operators_at
from ._text import BYTE_ORDER_MARK, Edit, SourceText, splice
from ._tree import Scope, Site, Tree


@dataclass(frozen=True, slots=True)
class _Candidate:
    edit: Edit
    scope: Scope


@dataclass(frozen=True, slots=True)
class _Analysis:
    """All that the operators propose for a file, in the order of enumeration."""

    source: SourceText
    flags: int
    candidates: Mapping[Mutation, _Candidate]


def enumerate_mutations(
    source: str,
    *,
    families: Collection[str] | None = None,
    lines: Container[int] | None = None,
) -> list[Mutation]:
    """Every mutant of the functions of a file, by position, then operator, then variant.

    Docstrings, annotations, decorators, defaults and code for type checkers alone are left as they
    are. A mutant that does not compile, or whose bytecode is that of the original or of a mutant
    already in the list, is left out.

    Args:
        source: the text of a Python file.
        families: the keys of `OPERATORS` to use, None for all.
        lines: the lines on which a replaced node may begin, None for all.

    Raises:
        ValueError: an unknown family, or a source that does not parse (the message names the line).
    """
    unknown = sorted(set(families or ()) - set(OPERATORS))
    if unknown:
        raise ValueError(f"unknown families {unknown}; the families are {sorted(OPERATORS)}")
    analysis = _analyse(source)
    novelty: dict[Scope, Novelty] = {}
    kept = []
    with quiet_compiler():
        for mutation, candidate in analysis.candidates.items():
            if families is not None and mutation.family not in families:
                continue
            if lines is not None and mutation.line not in lines:
                continue
            scope = candidate.scope
            if scope not in novelty:
                novelty[scope] = Novelty(analysis.source, scope, analysis.flags)
            if novelty[scope].admits(candidate.edit):
                kept.append(mutation)
    return kept


def apply_mutation(source: str, mutation: Mutation) -> str:
    """The file with one mutation made, byte for byte the same everywhere else.

    Raises:
        MutationNotFound: the operator offers no such replacement at that node.
        ValueError: the source does not parse, or the mutant would not.
    """
    return apply_mutations(source, [mutation])


def apply_mutations(source: str, mutations: Sequence[Mutation]) -> str:
    """The file with several mutations made at once, all with positions in the original text.

    Raises:
        MutationNotFound: an operator offers no such replacement at its node.
        ValueError: two mutations overlap, the source does not parse, or the result would not (two
            deletions may empty a block).
    """
    analysis = _analyse(source)
    for mutation in mutations:
        if mutation not in analysis.candidates:
            where = f"line {mutation.line}, column {mutation.column}"
            raise MutationNotFound(f"no {mutation.operator} applies at {where}: {mutation}")
    ordered = sorted(mutations, key=lambda each: _extent(analysis.candidates[each].edit))
    edits = [analysis.candidates[mutation].edit for mutation in ordered]
    for (first, left), (second, right) in pairwise(zip(ordered, edits, strict=True)):
        if right.start < left.end:
            raise ValueError(f"two mutations overlap: {first} and {second}")
    text = splice(analysis.source.text, edits)
    try:
        future_flags(text)
    except ValueError as error:
        raise ValueError(f"the mutant does not compile, {error}") from error
    return BYTE_ORDER_MARK + text if source.startswith(BYTE_ORDER_MARK) else text


def _extent(edit: Edit) -> tuple[int, int]:
    return edit.start, edit.end


# A miner or a search applies hundreds of mutations to one file after the other.
@lru_cache(maxsize=16)
def _analyse(source: str) -> _Analysis:
    text = source.removeprefix(BYTE_ORDER_MARK)
    flags = future_flags(text)
    tree = Tree(text)
    found = [pair for site in tree.sites() for pair in _proposed_at(tree, site)]
    found.sort(key=lambda pair: _order(pair[0]))
    return _Analysis(tree.source, flags, dict(found))


def _order(mutation: Mutation) -> tuple[int, int, int, int, str, int]:
    start = (mutation.line, mutation.column)
    end = (mutation.end_line, mutation.end_column)
    return *start, *end, mutation.operator, mutation.variant


def _proposed_at(tree: Tree, site: Site) -> list[tuple[Mutation, _Candidate]]:
    proposed = []
    variants: Counter[tuple[str, tuple[int, int]]] = Counter()
    for family, operator in operators_at(site.node):
        for proposal in operator(tree, site):
            name = f"{family}:{proposal.label}"
            start, end = proposal.span
            mutation = Mutation(
                name,
                *tree.source.position(start),
                *tree.source.position(end),
                variants[name, proposal.span],
                site.function,
            )
            variants[name, proposal.span] += 1
            edit = Edit(*(proposal.edited or proposal.span), proposal.text)
            proposed.append((mutation, _Candidate(edit, site.scope)))
    return proposed
