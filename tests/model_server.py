"""A server on this machine that speaks OpenAI's chat protocol; what it says is up to a test."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from openai.types.chat import ChatCompletion
from openai.types.chat.completion_create_params import CompletionCreateParamsNonStreaming
from pydantic import TypeAdapter

Answer = Callable[[list[dict[str, Any]]], "dict[str, Any] | bytes | int | float"]
_REQUEST = TypeAdapter(CompletionCreateParamsNonStreaming)


def says(text: str) -> dict[str, Any]:
    """A message of text alone."""
    return {"role": "assistant", "content": text}


def calls(*asked: tuple[str, str]) -> dict[str, Any]:
    """A message that calls tools, by name and arguments as they are written."""
    entries = [
        {"id": f"id{number}", "type": "function", "function": {"name": name, "arguments": text}}
        for number, (name, text) in enumerate(asked)
    ]
    return {"role": "assistant", "content": None, "tool_calls": entries}


@contextmanager
def model_server(answer: Answer) -> Iterator[str]:
    """The address of a server: ``model`` answers with a message, raw bytes, a status, or a pause.

    A request that is not of the protocol gets status 400.
    """

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            try:
                _REQUEST.validate_python(body)
                check_ids(body["messages"])
            except ValueError as error:
                self.reply(400, json.dumps({"error": {"message": str(error)}}).encode())
                return
            said = answer(body["messages"])
            if isinstance(said, float):
                time.sleep(said)
                said = says("too late")
            if isinstance(said, int):
                self.reply(said, b"{}")
            elif isinstance(said, bytes):
                self.reply(200, said)
            else:
                self.reply(200, completion(said).encode())

        def reply(self, status: int, body: bytes) -> None:
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: Any) -> None:
            return

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"model@http://127.0.0.1:{server.server_address[1]}/v1"
    finally:
        server.shutdown()
        server.server_close()


def check_ids(messages: list[dict[str, Any]]) -> None:
    """Every call is answered, once and before anything else is said, as real servers demand."""
    waiting: list[str] = []
    for message in messages:
        if message["role"] == "tool":
            waiting.remove(message["tool_call_id"])
            continue
        if waiting:
            raise ValueError(f"no answer to the calls {waiting}")
        waiting = [call["id"] for call in message.get("tool_calls", ())]
    if waiting:
        raise ValueError(f"no answer to the calls {waiting}")


def completion(message: dict[str, Any]) -> str:
    usage = {"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15}
    choice = {"index": 0, "finish_reason": "stop", "message": message, "logprobs": None}
    return ChatCompletion.model_validate(
        {
            "id": "1",
            "object": "chat.completion",
            "created": 1,
            "model": "model",
            "choices": [choice],
            "usage": usage,
        }
    ).model_dump_json()
