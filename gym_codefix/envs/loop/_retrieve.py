"""BM25 over documents.

Robertson, Walker, Jones, Hancock-Beaulieu and Gatford: Okapi at TREC-3 (1994), with the constants
that Robertson and Zaragoza: The Probabilistic Relevance Framework: BM25 and Beyond (2009) call a
fair start. The weight of a term is never negative: log(1 + (N - n + 0.5) / (n + 0.5)).
"""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from ._tokens import RAW_TOKEN, split_token

_K1 = 1.2
_B = 0.75
_SNIPPET_LINES = 5
_SNIPPET_COLUMNS = 160
_SNIPPET_TERMS = 12  # the rarest ones tell a line apart


@dataclass(frozen=True)
class Document:
    """What is found as one. ``line`` is the number of the text's first line in its source."""

    source: str
    title: str
    text: str
    line: int = 1


@dataclass(frozen=True)
class Hit:
    """A document, how well it fits, and its best lines as ``number| line``."""

    document: Document
    score: float
    snippet: str


class Index:
    """Documents by their terms, of source, title and text. Safe to search from several threads."""

    def __init__(self, documents: Iterable[Document]) -> None:
        self._documents = tuple(documents)
        self._terms: dict[str, int] = {}
        known: dict[str, tuple[int, ...]] = {}
        terms, owners, counts = array("l"), array("l"), array("d")
        for number, document in enumerate(self._documents):
            bag: dict[int, int] = {}
            text = f"{document.source}\n{document.title}\n{document.text}"
            for raw, count in Counter(RAW_TOKEN.findall(text)).items():
                ids = known.get(raw)
                if ids is None:
                    ids = known[raw] = self._ids(raw)
                for term in ids:
                    bag[term] = bag.get(term, 0) + count
            terms.extend(bag.keys())
            counts.extend(bag.values())
            owners.extend([number] * len(bag))
        self._fill(np.array(terms), np.array(owners), np.array(counts))

    def _ids(self, raw: str) -> tuple[int, ...]:
        return tuple(self._terms.setdefault(term, len(self._terms)) for term in split_token(raw))

    def _fill(
        self,
        terms: np.ndarray[tuple[int], np.dtype[np.int_]],
        owners: np.ndarray[tuple[int], np.dtype[np.int_]],
        counts: np.ndarray[tuple[int], np.dtype[np.float64]],
    ) -> None:
        """Sort by term, and weigh what does not depend on the query."""
        total = len(self._documents)
        lengths = np.bincount(owners, weights=counts, minlength=total)
        relative = lengths / (lengths.mean() if counts.size else 1.0)
        frequencies = np.bincount(terms, minlength=len(self._terms))
        self._rarity = np.log1p((total - frequencies + 0.5) / (frequencies + 0.5))
        damping = _K1 * (1 - _B + _B * relative[owners])
        weights = self._rarity[terms] * counts * (_K1 + 1) / (counts + damping)
        order = np.argsort(terms, kind="stable")
        self._owners, self._weights = owners[order], weights[order]
        self._starts = np.concatenate(([0], np.cumsum(frequencies)))

    def search(self, query: str, limit: int) -> list[Hit]:
        """The ``limit`` best documents that share a term with the query, best first.

        A term counts once however often the query has it, as a pasted log repeats itself. Equal
        scores stand in the order of the documents.
        """
        wanted = self._known_terms(query)
        scores = np.zeros(len(self._documents))
        for term in wanted.values():
            postings = slice(self._starts[term], self._starts[term + 1])
            scores[self._owners[postings]] += self._weights[postings]
        best = np.argsort(-scores, kind="stable")[: max(limit, 0)]
        rarity = {name: float(self._rarity[term]) for name, term in wanted.items()}
        telling = dict(sorted(rarity.items(), key=lambda item: -item[1])[:_SNIPPET_TERMS])
        return [
            Hit(document, float(scores[number]), _snippet(document, telling))
            for number in best
            if scores[number] > 0
            for document in (self._documents[number],)
        ]

    def _known_terms(self, query: str) -> dict[str, int]:
        """Terms of the query that any document has, in the order of the query."""
        terms = {term: None for raw in RAW_TOKEN.findall(query) for term in split_token(raw)}
        return {term: self._terms[term] for term in terms if term in self._terms}


def _snippet(document: Document, weights: dict[str, float]) -> str:
    """The lines with the rarest terms, in their order; the first lines when none has a term."""
    lines = document.text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    rated = [
        (-rating, number)
        for number, line in enumerate(lines)
        if (rating := _rating(line, weights)) > 0
    ]
    best: Sequence[int] = sorted(number for _, number in sorted(rated)[:_SNIPPET_LINES])
    if not best:
        best = [number for number, line in enumerate(lines) if line.strip()][:_SNIPPET_LINES]
    return "\n".join(f"{document.line + number}| {_shortened(lines[number])}" for number in best)


def _rating(line: str, weights: dict[str, float]) -> float:
    # To look for a part of a line is ten times faster than to take the line apart.
    lowered = line.lower()
    if not any(term in lowered for term in weights):
        return 0.0
    terms = {term for raw in RAW_TOKEN.findall(line) for term in split_token(raw)}
    return sum(weight for term, weight in weights.items() if term in terms)


def _shortened(line: str) -> str:
    return line if len(line) <= _SNIPPET_COLUMNS else line[: _SNIPPET_COLUMNS - 1] + "…"
