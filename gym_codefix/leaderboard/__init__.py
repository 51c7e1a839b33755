"""Leaderboard: results recomputed from episode records, checked by replay, shown as a page."""

from __future__ import annotations

from gym_codefix.leaderboard._aggregate import aggregate, check_records
from gym_codefix.leaderboard._episodes import FULL, SIMPLE, Episodes, episodes_of
from gym_codefix.leaderboard._errors import Fault, LeaderboardError
from gym_codefix.leaderboard._files import (
    read_records,
    read_result,
    read_run,
    records_bytes,
    write_records,
    write_result,
)
from gym_codefix.leaderboard._page import build_page
from gym_codefix.leaderboard._record import EpisodeRecord, SuiteTask
from gym_codefix.leaderboard._result import (
    REFERENCE_AGENTS,
    SCHEMA_VERSION,
    STATUSES,
    Estimate,
    EstimateAtK,
    Group,
    Metrics,
    Result,
)
from gym_codefix.leaderboard._run import run_agent
from gym_codefix.leaderboard._schema import schema_files, validate_record, validate_result
from gym_codefix.leaderboard._statistics import (
    bootstrap_means,
    interquartile_mean,
    interval,
    max_at_k,
    pass_at_k,
    stratified_weights,
    wilson,
)
from gym_codefix.leaderboard._table import render_columns, render_table
from gym_codefix.leaderboard._verify import VerifyReport, verify

__all__ = [
    "FULL",
    "REFERENCE_AGENTS",
    "SCHEMA_VERSION",
    "SIMPLE",
    "STATUSES",
    "EpisodeRecord",
    "Episodes",
    "Estimate",
    "EstimateAtK",
    "Fault",
    "Group",
    "LeaderboardError",
    "Metrics",
    "Result",
    "SuiteTask",
    "VerifyReport",
    "aggregate",
    "bootstrap_means",
    "build_page",
    "check_records",
    "episodes_of",
    "interquartile_mean",
    "interval",
    "max_at_k",
    "pass_at_k",
    "read_records",
    "read_result",
    "read_run",
    "records_bytes",
    "render_columns",
    "render_table",
    "run_agent",
    "schema_files",
    "stratified_weights",
    "validate_record",
    "validate_result",
    "verify",
    "wilson",
    "write_records",
    "write_result",
]
