"""Reading and writing results (``.json``) and records (``.jsonl``)."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from gym_codefix.leaderboard._errors import Fault, LeaderboardError
from gym_codefix.leaderboard._json import canonical_json, parse_json, sha256_hex, write_atomically
from gym_codefix.leaderboard._record import EpisodeRecord
from gym_codefix.leaderboard._result import Result
from gym_codefix.leaderboard._schema import validate_record, validate_result


def records_bytes(records: Sequence[EpisodeRecord]) -> bytes:
    """The content of the records file of ``records``: one canonical JSON object a line."""
    return "".join(f"{record.to_line()}\n" for record in records).encode("ascii")


def write_records(records: Sequence[EpisodeRecord], path: Path) -> str:
    """Write the records file at once or not at all; return its sha256."""
    data = records_bytes(records)
    write_atomically(path, data)
    return sha256_hex(data)


def read_records(path: Path) -> list[EpisodeRecord]:
    """The records of a file, in order.

    Raises:
        LeaderboardError: with file and line of everything that is not a canonical record.
        OSError: when the file cannot be read.
    """
    return parse_records(path.read_bytes(), str(path))


def parse_records(data: bytes, file: str) -> list[EpisodeRecord]:
    """``read_records`` of bytes at hand; ``file`` is named in errors."""
    records: list[EpisodeRecord] = []
    faults: list[Fault] = []
    lines = data.removesuffix(b"\n").split(b"\n") if data else []
    if lines and not data.endswith(b"\n"):
        faults.append(Fault(f"line {len(lines)}", "does not end in a newline", file))
    for number, line in enumerate(lines, 1):
        try:
            records.append(_parse_line(line))
        except LeaderboardError as error:
            faults += [
                Fault(f"line {number}", f"{fault.where}: {fault.message}", file)
                for fault in error.faults
            ]
        except ValueError as error:
            faults.append(Fault(f"line {number}", str(error), file))
    if faults:
        raise LeaderboardError(faults)
    return records


def _parse_line(line: bytes) -> EpisodeRecord:
    value = parse_json(line.decode("utf-8"))
    validate_record(value)
    record = EpisodeRecord(**value)
    if record.to_line().encode("ascii") != line:
        raise ValueError("not in canonical form (sorted keys, no spaces, ASCII, six decimals)")
    return record


def write_result(result: Result, path: Path) -> None:
    """Write the result at once or not at all.

    Raises:
        LeaderboardError: when it does not fit the schema; nothing is written.
    """
    value = result.to_dict()
    validate_result(value)
    write_atomically(path, (canonical_json(value, indent=2) + "\n").encode("ascii"))


def read_result(path: Path) -> Result:
    """The result in a file.

    Raises:
        LeaderboardError: with file and JSON path of everything that does not fit the schema.
        OSError: when the file cannot be read.
    """
    try:
        value = parse_json(path.read_bytes().decode("utf-8"))
        validate_result(value)
    except LeaderboardError as error:
        raise LeaderboardError([fault.in_file(str(path)) for fault in error.faults]) from None
    except ValueError as error:
        raise LeaderboardError([Fault("$", f"not JSON: {error}", str(path))]) from None
    return Result.from_dict(value)


def read_run(path: Path) -> tuple[Result, list[EpisodeRecord]]:
    """A row and the records that lie beside it (raises LeaderboardError, OSError)."""
    result = read_result(path)
    return result, read_records(path.parent / result.records.file)
