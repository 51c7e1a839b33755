"""The build loop: calls of tools, retrieval, histories of names, sessions and their grades."""

from ._api import api_documents
from ._call import MAX_CHARS, Call, CallError, parse_call
from ._grade import grade_state, second_opinion
from ._history import NameChange, history_documents, name_history, public_names
from ._instruction import instruction_of
from ._retrieve import Document, Hit, Index
from ._session import Answer, Session, ToolError
from ._source import source_documents
from ._tool import Parameter, Tool, tool_schema
from ._tools import TOOLS
from ._workbench import Workbench, load_workbench

__all__ = [
    "MAX_CHARS",
    "TOOLS",
    "Answer",
    "Call",
    "CallError",
    "Document",
    "Hit",
    "Index",
    "NameChange",
    "Parameter",
    "Session",
    "Tool",
    "ToolError",
    "Workbench",
    "api_documents",
    "grade_state",
    "history_documents",
    "instruction_of",
    "load_workbench",
    "name_history",
    "parse_call",
    "public_names",
    "second_opinion",
    "source_documents",
    "tool_schema",
]
