"""The parts of the build loop that run nothing: calls of tools, retrieval, histories of names."""

from ._api import api_documents
from ._call import MAX_CHARS, Call, CallError, parse_call
from ._history import NameChange, history_documents, name_history, public_names
from ._retrieve import Document, Hit, Index
from ._source import source_documents
from ._tool import Parameter, Tool, tool_schema

__all__ = [
    "MAX_CHARS",
    "Call",
    "CallError",
    "Document",
    "Hit",
    "Index",
    "NameChange",
    "Parameter",
    "Tool",
    "api_documents",
    "history_documents",
    "name_history",
    "parse_call",
    "public_names",
    "source_documents",
    "tool_schema",
]
