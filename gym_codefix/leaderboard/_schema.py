"""JSON Schemas of a result and of a record; ``leaderboards/schema`` publishes the same text."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any

from jsonschema import Draft202012Validator  # type: ignore[import-untyped]

from gym_codefix.leaderboard._errors import Fault, LeaderboardError
from gym_codefix.leaderboard._json import canonical_json
from gym_codefix.leaderboard._result import SCHEMA_VERSION, STATUSES

_DIALECT = "https://json-schema.org/draft/2020-12/schema"
_LONGEST_MESSAGE = 300

_TEXT = {"type": "string", "minLength": 1}
_OPTIONAL_TEXT = {"type": ["string", "null"]}
_FLAG = {"type": "boolean"}
_COUNT = {"type": "integer", "minimum": 0}
_SHA256 = {"type": "string", "pattern": "^[0-9a-f]{64}$"}


def _closed(properties: dict[str, Any], **extra: Any) -> dict[str, Any]:
    """An object that has exactly these properties."""
    return {
        "type": "object",
        "properties": properties,
        "required": sorted(properties),
        "additionalProperties": False,
        **extra,
    }


def _array(items: dict[str, Any], **extra: Any) -> dict[str, Any]:
    return {"type": "array", "items": items, **extra}


_ESTIMATE = {name: {"type": "number"} for name in ("value", "low", "high")}
_AT_K = _ESTIMATE | {name: {"type": "integer", "minimum": 1} for name in ("k", "n")}
_SPENT = {name: {"type": ["number", "null"], "minimum": 0} for name in ("total", "mean")}
_DEFINITIONS = {
    "estimate": _closed(_ESTIMATE),
    "estimate_at_k": _closed(_AT_K),
    "spent": _closed(_SPENT),
    "groups": _array(
        _closed(
            {
                "name": _TEXT,
                "tasks": {"type": "integer", "minimum": 1},
                "resolved_at_1": {"$ref": "#/$defs/estimate"},
            }
        )
    ),
}
_COUNTED = (
    "tasks",
    "episodes",
    "resolved",
    "invalid",
    "overfit",
    "tampering",
    "malformed",
    "refused",
)


def _result_schema() -> dict[str, Any]:
    estimate, at_k = {"$ref": "#/$defs/estimate"}, _array({"$ref": "#/$defs/estimate_at_k"})
    groups, spent = {"$ref": "#/$defs/groups"}, {"$ref": "#/$defs/spent"}
    properties = {
        "schema_version": {"const": SCHEMA_VERSION},
        "agent": _TEXT | {"maxLength": 120},
        "parameters": {"type": "object"},
        "seeds": _array({"type": "integer"}, minItems=1, uniqueItems=True),
        "suite": _closed({"name": _TEXT, "hash": _TEXT}),
        "environments": _array(_closed({"id": _TEXT, "version": _COUNT}), minItems=1),
        "git": _closed({"commit": _OPTIONAL_TEXT, "dirty": _FLAG}),
        "lock_sha256": _SHA256,
        "python": {"type": "string", "pattern": r"^[0-9]+\.[0-9]+$"},
        "isolation": _array(_TEXT, minItems=1, uniqueItems=True),
        "counts": _closed(dict.fromkeys(_COUNTED, _COUNT)),
        "metrics": _closed(
            {
                "resolved_at_1": estimate,
                "pass_at_k": at_k,
                "reward_mean": estimate,
                "reward_interquartile_mean": estimate,
                "reward_max_at_k": at_k,
                "by_kind": groups,
                "by_repository": groups,
                "by_level": groups,
                "by_release_year": groups,
                "tokens": spent,
                "seconds": spent,
                "cost": spent,
                "steps": spent,
                "builds": spent,
            }
        ),
        "intervals": _closed(
            {
                "method": _TEXT,
                "confidence": {"type": "number"},
                "resamples": _COUNT,
                "seed": _COUNT,
            }
        ),
        "status": {"enum": list(STATUSES)},
        # A bare name: the records lie beside the result, and nowhere else.
        "records": _closed(
            {
                "file": {"type": "string", "pattern": "^[A-Za-z0-9][A-Za-z0-9._-]*[.]jsonl$"},
                "sha256": _SHA256,
            }
        ),
        "command": _TEXT,
    }
    return _document("gym-codefix leaderboard result", properties)


def _record_schema() -> dict[str, Any]:
    tests = {"type": "object", "additionalProperties": _COUNT}
    log_sha256 = _SHA256 | {"type": ["string", "null"]}
    properties = {
        "env_id": {"type": "string", "pattern": "-v[0-9]+$"},
        "task_id": _TEXT,
        "kind": _TEXT,
        "repository": _TEXT,
        "level": {"type": ["integer", "null"]},
        "label": _OPTIONAL_TEXT,
        "split": _TEXT,
        "date": {"type": ["string", "null"], "pattern": "^[0-9]{4}-[0-9]{2}-[0-9]{2}"},
        "seed": {"type": "integer"},
        "attempt": _COUNT,
        "action": {"type": "string"},
        "action_error": _OPTIONAL_TEXT,
        "reward": {"type": "number"},
        "reward_parts": {"type": "object", "additionalProperties": {"type": "number"}},
        "resolved": _FLAG,
        "reward_valid": _FLAG,
        "failure_reason": _OPTIONAL_TEXT,
        "overfit": _FLAG,
        "tampering": _FLAG,
        "malformed": _FLAG,
        "refused": _FLAG,
        "isolation": _TEXT,
        "verdict": {
            "type": "object",
            "properties": {
                "log_sha256": log_sha256,
                "tests": tests,
                "steps": _COUNT,
                "builds": _COUNT,
            },
            "required": ["log_sha256", "tests"],
        },
        "tokens": {"type": ["integer", "null"], "minimum": 0},
        "seconds": {"type": ["number", "null"], "minimum": 0},
        "cost": {"type": ["number", "null"], "minimum": 0},
    }
    return _document("gym-codefix episode record", properties, with_definitions=False)


def _document(
    title: str, properties: dict[str, Any], *, with_definitions: bool = True
) -> dict[str, Any]:
    head: dict[str, Any] = {"$schema": _DIALECT, "title": title}
    if with_definitions:
        head["$defs"] = _DEFINITIONS
    return head | _closed(properties)


@cache
def schema_files() -> Mapping[str, str]:
    """The text of every published schema file, by file name."""
    documents = {"result.json": _result_schema(), "record.json": _record_schema()}
    return {name: canonical_json(each, indent=2) + "\n" for name, each in documents.items()}


@cache
def _validator(kind: str) -> Draft202012Validator:
    return Draft202012Validator(_result_schema() if kind == "result" else _record_schema())


def validate_result(value: Any) -> None:
    """Check parsed JSON against the schema of a result.

    Raises:
        LeaderboardError: with the JSON path of everything at fault.
    """
    _validate("result", value)


def validate_record(value: Any) -> None:
    """Check parsed JSON against the schema of a record.

    Raises:
        LeaderboardError: with the JSON path of everything at fault.
    """
    _validate("record", value)


def _validate(kind: str, value: Any) -> None:
    errors = sorted(_validator(kind).iter_errors(value), key=lambda error: error.json_path)
    if errors:
        raise LeaderboardError(
            [Fault(error.json_path, _shortened(error.message)) for error in errors]
        )


def _shortened(message: str) -> str:
    # A message quotes the value at fault, which can be as long as whoever wrote it pleased.
    if len(message) <= _LONGEST_MESSAGE:
        return message
    half = _LONGEST_MESSAGE // 2
    return f"{message[:half]} … {message[-half:]}"
