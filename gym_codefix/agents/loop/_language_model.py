"""A language model in the build loop, by calls of tools or by JSON in its text."""

from __future__ import annotations

import json
from collections.abc import Generator, Mapping
from typing import Any

from gym_codefix.chat import Chat, open_chat
from gym_codefix.envs.loop import TOOLS, Workbench, tool_schema

from ._agent import Observation

_CONTEXT_CHARS = 48_000
_CUT = "(cut: an older answer)"
_SCHEMA = [tool_schema(tool) for tool in TOOLS.values()]


class LanguageModel:
    """``where``: as `gym_codefix.chat.open_chat` takes it; ``context_chars``: of a conversation.

    Where a conversation grows past that, its oldest answers of tools are left out. An episode
    raises ChatError when the model gives no answer.
    """

    def __init__(
        self,
        where: str,
        *,
        seed: int = 0,
        temperature: float = 0.0,
        context_chars: int = _CONTEXT_CHARS,
        chat: Chat | None = None,
    ) -> None:
        self._chat = chat or open_chat(where, seed=seed, temperature=temperature)
        self._context_chars = context_chars
        self.name = self._chat.name
        self.parameters: Mapping[str, Any] = {
            "model": where,
            "seed": seed,
            "temperature": temperature,
            "context_chars": context_chars,
        }

    def episode(self, observation: Observation, bench: Workbench) -> Conversation:
        """The actions of one episode; ``bench`` is not looked at."""
        return Conversation(self._chat, observation, self._context_chars)


class Conversation(Generator[str, Observation, None]):
    """One episode. ``tokens``: read and written so far, None where the server does not say."""

    def __init__(self, chat: Chat, observation: Observation, context_chars: int) -> None:
        self.tokens: int | None = None
        self._chat, self._context_chars = chat, context_chars
        told = f"The build fails at the stage {observation['stage']}.\n{observation['log']}"
        self._messages: list[dict[str, Any]] = [
            {"role": "system", "content": observation["instruction"]},
            {"role": "user", "content": told},
        ]
        self._pending: list[tuple[str, str]] = []
        self._asked: str | None = None  # the id of the call whose answer comes next

    def send(self, value: Observation | None) -> str:
        """The next action, given what the last one gave."""
        if value is not None:
            self._tell(value)
        if not self._pending:
            self._think()
        self._asked, action = self._pending.pop(0)
        return action

    def _tell(self, observation: Observation) -> None:
        steps = int(observation["budget"][0])
        content = f"{observation['result']}\n({steps} steps left)"
        if self._asked:
            self._messages.append({"role": "tool", "tool_call_id": self._asked, "content": content})
        else:
            self._messages.append({"role": "user", "content": content})

    def _think(self) -> None:
        self._shorten()
        reply = self._chat.complete(self._messages, _SCHEMA)
        if reply.tokens is not None:
            self.tokens = (self.tokens or 0) + reply.tokens
        said: dict[str, Any] = {"role": "assistant", "content": reply.text}
        if reply.calls:
            said["tool_calls"] = [
                {"id": name, "type": "function", "function": {"name": tool, "arguments": text}}
                for name, tool, text in reply.calls
            ]
        self._messages.append(said)
        # Arguments go on as they were written: the environment says what is wrong with them.
        self._pending = [
            (name, f'{{"tool": {json.dumps(tool)}, "arguments": {text}}}')
            for name, tool, text in reply.calls
        ] or [("", reply.text)]

    def _shorten(self) -> None:
        spare = sum(map(_chars, self._messages)) - self._context_chars
        for message in self._messages[2:-1]:
            if spare <= 0:
                return
            if message["role"] != "assistant" and message["content"] != _CUT:
                spare -= len(message["content"]) - len(_CUT)
                message["content"] = _CUT

    def throw(self, *error: Any) -> str:
        """Ends the episode, as for any generator."""
        raise error[0]


def _chars(message: Mapping[str, Any]) -> int:
    calls = message.get("tool_calls", ())
    return len(message["content"]) + sum(len(call["function"]["arguments"]) for call in calls)
