"""Query text to tokens."""

from __future__ import annotations

import re
from dataclasses import dataclass

_KEYWORD = re.compile(
    r"select|where|group|order|by|limit|offset|as|and|or|not|in|between|like|is|null|true|false"
    r"|asc|desc",
    re.IGNORECASE,
)
_TOKEN = re.compile(
    r"""
    (?P<space>\s+)
  | (?P<number>\d+(?:\.\d+)?)
  | (?P<string>'(?:[^']|'')*')
  | (?P<quoted>"[^"]+")
  | (?P<word>[A-Za-z_]\w*)
  | (?P<symbol><=|>=|<>|!=|[-+*/%=<>(),])
    """,
    re.VERBOSE,
)


class QuerySyntaxError(ValueError):
    """The query cannot be read; `position` is the offset at fault."""

    def __init__(self, position: int, message: str) -> None:
        super().__init__(f"at {position}: {message}")
        self.position = position


@dataclass(frozen=True)
class Token:
    """`kind` is `number`, `string`, `name`, `keyword`, `symbol` or `end`."""

    kind: str
    text: str
    position: int


def tokenize(query: str) -> list[Token]:
    """The tokens of a query, with one of kind `end` as the last.

    Keywords are lowered; a name in double quotes is never a keyword. Raises QuerySyntaxError for
    a character that starts no token.
    """
    tokens: list[Token] = []
    position = 0
    while match := _TOKEN.match(query, position):
        token = _token(match)
        if token is not None:
            tokens.append(token)
        position = match.end()
    if position < len(query):
        if query[position] in "'\"":
            raise QuerySyntaxError(position, "the quote is never closed")
        raise QuerySyntaxError(position, f"unexpected character {query[position]!r}")
    tokens.append(Token("end", "", position))
    return tokens


def _token(match: re.Match[str]) -> Token | None:
    kind, text, position = match.lastgroup, match.group(), match.start()
    if kind == "space":
        return None
    if kind == "string":
        return Token("string", text[1:-1].replace("''", "'"), position)
    if kind == "quoted":
        return Token("name", text[1:-1], position)
    if kind == "word":
        if _KEYWORD.fullmatch(text):
            return Token("keyword", text.lower(), position)
        return Token("name", text, position)
    if text == "!=":
        return Token("symbol", "<>", position)
    return Token(str(kind), text, position)
