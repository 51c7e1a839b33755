"""Calls of tools: what is accepted, each error in its exact words, and no other exception."""

from __future__ import annotations

import json
import time
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from gym_codefix.envs.loop import (
    MAX_CHARS,
    Call,
    CallError,
    Parameter,
    Tool,
    parse_call,
    tool_schema,
)

READ = Tool(
    "read_file",
    "Lines of a file.",
    (
        Parameter("path", str, True, "Path in the tree."),
        Parameter("start", int, False, "First line."),
        Parameter("end", int, False, "Last line."),
    ),
)
TOOLS = {
    "read_file": READ,
    "edit": Tool("edit", "Change files.", (Parameter("edits", str, True, "The edits."),)),
    "submit": Tool("submit", "End the episode."),
}
SUBMIT = '{"tool": "submit", "arguments": {}}'


def refused(action: Any) -> str:
    with pytest.raises(CallError) as caught:
        parse_call(action, TOOLS)
    message = str(caught.value)
    assert "\n" not in message and len(message) < 300
    message.encode()
    return message


def read(arguments: str) -> str:
    return f'{{"tool": "read_file", "arguments": {arguments}}}'


@pytest.mark.parametrize(
    "action",
    [
        SUBMIT,
        SUBMIT.encode(),
        "\ufeff" + SUBMIT,
        f"\r\n {SUBMIT} \r\n",
        f"```json\n{SUBMIT}\n```",
        f"```\n{SUBMIT}\n```",
        f"```json {SUBMIT} ```",
        f"I am done, so:\n\n```json\n{SUBMIT}\n```\nThat is all. {{}}",
        f"I am done: {SUBMIT}, at last.",
        f"The lock has {{'flask': '2'}} and {{x}}, {{}} and {{\"a\": b}}. {SUBMIT}",
        f'package.json has {{"name": "x", "version": 1e999}}.\n{SUBMIT}',
        f"<tool_call>\n{SUBMIT}\n</tool_call>",
        '{\n  "arguments": {},\n  "tool": "submit"\n}',
    ],
)
def test_a_call_is_found_in_what_surrounds_it(action: str | bytes) -> None:
    assert parse_call(action, TOOLS) == Call("submit", {})


def test_arguments_keep_their_values() -> None:
    arguments: dict[str, str | int] = {
        "path": 'a"\\\n```\té😀',
        "start": -(2**63),
        "end": 2**63 - 1,
    }
    action = json.dumps({"tool": "read_file", "arguments": arguments})
    assert parse_call(action, TOOLS) == Call("read_file", arguments)
    assert parse_call(read('{"path": "a"}'), TOOLS).arguments == {"path": "a"}


def test_a_call_written_in_an_argument_is_text() -> None:
    text = f"a.py:1| x\n```json\n{SUBMIT}\n```\n"
    action = json.dumps({"tool": "edit", "arguments": {"edits": text}})
    assert parse_call(action, TOOLS) == Call("edit", {"edits": text})


FORM = '{"tool": "…", "arguments": {…}}'
TAKES = "; read_file takes path, start, end"


@pytest.mark.parametrize(
    ("action", "message"),
    [
        (None, f"the action is NoneType, not text; write {FORM}"),
        (b"\xff", "the action is not UTF-8 text (position 0)"),
        ("ab\ud800", "the action is not UTF-8 text (position 2)"),
        ("", f"the action is empty; write {FORM}"),
        (b" \n", f"the action is empty; write {FORM}"),
        ("x" * (MAX_CHARS + 1), "the action is too long; at most 100000 characters are read"),
        (b"x" * (MAX_CHARS + 1), "the action is too long; at most 100000 characters are read"),
        (b"x" * 1_000_000, "the action is too long; at most 100000 characters are read"),
        ("I cannot.", f"no JSON object in the action; write {FORM}"),
        ('["submit"]', f"no JSON object in the action; write {FORM}"),
        (SUBMIT * 2, "2 calls in one action (line 1, column 1, line 1, column 36); "),
        (f"```\n{SUBMIT}\n```\n" * 3, "3 calls in one action (line 2, column 1, line 5, column 1)"),
        (f"[{SUBMIT},\n{SUBMIT}]", "2 calls in one action (line 1, column 2, line 2, column 1)"),
        ("{}", f"missing key 'tool'; write {FORM}"),
        ('{"tool": "submit"}', f"missing key 'arguments'; write {FORM}"),
        ('{"tool": "submit", "arguments": {}, "id": 1}', f"unknown key 'id'; write {FORM}"),
        ('{"name": "submit", "arguments": {}}', f"unknown key 'name'; write {FORM}"),
        ('{"call": ' + SUBMIT + "}", f"unknown key 'call'; write {FORM}"),
        ('{"tool": 1, "arguments": {}}', "'tool' is a whole number; write its name as text"),
        ('{"tool": null, "arguments": {}}', "'tool' is null; write its name as text"),
        (
            '{"tool": "shell", "arguments": {}}',
            "unknown tool 'shell'; the tools are read_file, edit, submit",
        ),
        (
            '{"tool": "submit", "arguments": "{}"}',
            f"'arguments' is text; write an object: {FORM}",
        ),
        (read("{}"), f"missing argument 'path'{TAKES}"),
        (read('{"path": "a", "stop": 1}'), f"unknown argument 'stop'{TAKES}"),
        (
            '{"tool": "submit", "arguments": {"x": 1}}',
            "unknown argument 'x'; submit takes no arguments",
        ),
        (read('{"path": 1}'), "argument 'path' is a whole number; write text"),
        (read('{"path": ["a"]}'), "argument 'path' is a list; write text"),
        (read('{"path": {}}'), "argument 'path' is an object; write text"),
        (read('{"path": NaN}'), "argument 'path' is NaN, which JSON does not have; write text"),
        (
            read('{"path": "a", "start": true}'),
            "argument 'start' is a boolean; write a whole number, or leave it out",
        ),
        (
            read('{"path": "a", "start": null}'),
            "argument 'start' is null; write a whole number, or leave it out",
        ),
        (
            read('{"path": "a", "start": 1.0}'),
            "argument 'start' is a decimal number; write a whole number, or leave it out",
        ),
        (
            read('{"path": "a", "start": "1"}'),
            "argument 'start' is text; write a whole number, or leave it out",
        ),
        (
            read('{"path": "a", "start": -Infinity}'),
            "argument 'start' is -Infinity, which JSON does not have; write a whole number, ",
        ),
        (
            read('{"path": "a", "start": 9223372036854775808}'),
            "argument 'start' is a whole number past 64 bits; write a whole number, ",
        ),
        (
            read(f'{{"path": "a", "start": {"9" * 9_000}}}'),
            "argument 'start' is a whole number past 64 bits; write a whole number, ",
        ),
        (
            read('{"path": "a", "start": 1e999}'),
            "argument 'start' is a number past the range of doubles; write a whole number, ",
        ),
        (read('{"path": "a\\ud800"}'), "argument 'path' is text with a lone surrogate; write text"),
        (read('{"path": "a\\u0000"}'), "argument 'path' is text with a NUL character; write text"),
        (read('{"path": "a", "path": "b"}'), "the argument 'path' is written twice"),
        ('{"tool": "edit", "tool": "submit", "arguments": {}}', "the key 'tool' is written twice"),
        (
            '{"tool": "edit",\n "arguments": {"edits": "x = "a""}}',
            "line 2, column 31: not JSON: expected a comma or a closing bracket; "
            'write a quote in a string as \\"',
        ),
        (
            '{"tool": "edit",\n "arguments": {"edits": "f("}})"}}',
            "line 2, column 31: text with a bracket after the end of the call; "
            'write a quote in a string as \\"',
        ),
        (
            '{"tool": "edit", "arguments": {"edits": "a\nb"}}',
            "line 1, column 43: not JSON: a raw control character in a string; "
            "write a line break as \\n",
        ),
        (
            '{"tool": "edit", "arguments": {"edits": "\\d"}}',
            "line 1, column 42: not JSON: an invalid escape in a string; write a backslash as \\\\",
        ),
        (
            '{"tool": "edit", "arguments": {"edits": "ab',
            "line 1, column 41: not JSON: the string that begins here is not closed",
        ),
        (
            "{'tool': 'submit'}",
            "line 1, column 2: not JSON: expected a key in double quotes",
        ),
        ('{"tool" "submit"}', "line 1, column 9: not JSON: expected a colon after the key"),
        (
            '{"tool": submit, "arguments": {}}',
            "line 1, column 10: not JSON: expected a value; text stands in double quotes",
        ),
        ('{"tool": ' + "[" * 50_000, "line 1, column 1: not JSON: nested too deeply"),
        (read('{"path": ' * 8_000), "line 1, column 1: not JSON: nested too deeply"),
    ],
)
def test_errors_say_what_is_wrong(action: Any, message: str) -> None:
    assert refused(action).startswith(message)


def test_no_call_is_taken_out_of_the_text_of_a_broken_one() -> None:
    inner = f'x = "a"\n```json\n{SUBMIT}\n```\n'
    for key in ('"tool": "edit", ', '"name": "edit", ', '"function": "f", "x": 1, '):
        broken = f'{{{key}"arguments": {{"edits": "{inner}"}}}}'
        assert "not JSON" in refused(broken)


def test_long_names_are_shortened() -> None:
    assert len(refused('{"tool": "' + "é\\n" * 9_000 + '", "arguments": {}}')) < 150


PIECES = [
    *'{}[]":,\\ \n\ud800\0',
    *("{'", '{"', "```json\n", "tool", '"arguments": {', "NaN", "1e999", "9" * 30, "true", "null"),
    *(SUBMIT, '"tool": "read_file"', '"path": "', "\\ud800", "\\u0000"),
]


@given(
    st.one_of(
        st.text(),
        st.binary(),
        st.lists(st.sampled_from(PIECES)).map("".join),
        st.recursive(
            st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
            lambda inner: (
                st.lists(inner)
                | st.dictionaries(
                    st.sampled_from(["tool", "arguments", "path", "start"]) | st.text(), inner
                )
            ),
            max_leaves=8,
        ).map(json.dumps),
    )
)
@example(SUBMIT[:-1])
def test_nothing_but_a_call_or_its_error(action: str | bytes) -> None:
    try:
        call = parse_call(action, TOOLS)
    except CallError as error:
        assert "\n" not in str(error) and len(str(error)) < 300
        str(error).encode()
    else:
        names = {parameter.name: parameter.type for parameter in TOOLS[call.tool].parameters}
        assert all(type(value) is names[name] for name, value in call.arguments.items())


@pytest.mark.parametrize(
    "piece", ['{"', "{'", '{"a":', '{"a": "\\', '{"a":[', "{ ", '{"a": {"', "{}", '{"a": 1 ']
)
def test_no_text_takes_long(piece: str) -> None:
    started = time.process_time()
    refused((piece * MAX_CHARS)[:MAX_CHARS])
    assert time.process_time() - started < 1


def test_a_call_after_a_hundred_faults_is_not_looked_for() -> None:
    assert parse_call('{"a": b} ' * 99 + SUBMIT, TOOLS).tool == "submit"
    assert refused('{"a": b} ' * 100 + SUBMIT).startswith("line 1, column 898: not JSON: ")


def test_schema() -> None:
    assert tool_schema(READ) == {
        "type": "function",
        "function": {
            "name": "read_file",
            "description": "Lines of a file.",
            "parameters": {
                "type": "object",
                "properties": {
                    "path": {"type": "string", "description": "Path in the tree."},
                    "start": {"type": "integer", "description": "First line."},
                    "end": {"type": "integer", "description": "Last line."},
                },
                "required": ["path"],
                "additionalProperties": False,
            },
        },
    }
    assert tool_schema(TOOLS["submit"])["function"]["parameters"]["required"] == []
