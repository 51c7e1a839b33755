"""Language models behind a real server on this machine."""

from __future__ import annotations

import pytest

from gym_codefix.chat import ChatError, Reply, open_chat
from tests.model_server import calls, model_server, says

ASKED = [{"role": "user", "content": "hello"}]
TOOL = {"type": "function", "function": {"name": "look", "parameters": {"type": "object"}}}


def test_text_and_tokens_come_back() -> None:
    with model_server(lambda messages: says(f"heard {messages[-1]['content']}")) as where:
        chat = open_chat(where)
        assert chat.name == "model"
        assert chat.complete(ASKED) == Reply("heard hello", (), 15)


def test_calls_come_back_as_they_were_written() -> None:
    with model_server(lambda _: calls(("look", '{"at": 1'), ("look", ""))) as where:
        reply = open_chat(where).complete(ASKED, [TOOL])
    assert reply == Reply("", (("id0", "look", '{"at": 1'), ("id1", "look", "{}")), 15)


@pytest.mark.parametrize("said", [404, b"not json", b"{}", b'{"choices": []}', 5.0])
def test_what_is_no_answer_is_one_kind_of_error(said: bytes | int | float) -> None:
    with model_server(lambda _: said) as where, pytest.raises(ChatError, match="model: "):
        open_chat(where, timeout_s=0.3).complete(ASKED)


def test_nobody_there() -> None:
    with pytest.raises(ChatError, match="Connection"):
        open_chat("model@http://127.0.0.1:9/v1", timeout_s=1).complete(ASKED)


@pytest.mark.parametrize("where", ["", "model", "@http://x/v1", "model@ftp://x", "/no/such/folder"])
def test_another_form_is_refused(where: str) -> None:
    with pytest.raises(ValueError, match="MODEL@http"):
        open_chat(where)
