"""Language models that chat: behind an OpenAI-compatible server, or loaded here by transformers."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

Message = Mapping[str, Any]
FORMS = "MODEL@http://HOST:PORT/v1, or the folder of a transformers model"


class ChatError(RuntimeError):
    """The model gave no answer: no server, a time-out, an error of its own."""


@dataclass(frozen=True)
class Reply:
    """``calls``: (id, name, arguments as the model wrote them) of each tool that it calls.

    ``tokens``: read and written, None where the server does not say.
    """

    text: str
    calls: tuple[tuple[str, str, str], ...] = ()
    tokens: int | None = None


class Chat(Protocol):
    """Answers conversations; safe to share between threads."""

    name: str

    def complete(
        self, messages: Sequence[Message], tools: Sequence[Mapping[str, Any]] = ()
    ) -> Reply:
        """The next message (raises ChatError)."""
        ...


def open_chat(
    where: str,
    *,
    temperature: float = 0.0,
    seed: int = 0,
    max_tokens: int = 1_024,
    timeout_s: float = 120.0,
) -> Chat:
    """The model at ``MODEL@URL`` (the key, if any, in OPENAI_API_KEY) or in a local folder.

    Raises ValueError for another form, and where the package that it takes is not installed.
    """
    model, at, url = where.partition("@")
    if at and model and url.startswith(("http://", "https://")):
        return _Server(model, url, temperature, seed, max_tokens, timeout_s)
    if Path(where, "config.json").is_file():
        return _Local(Path(where), temperature, seed, max_tokens)
    raise ValueError(f"unknown language model {where!r}; write {FORMS}")


class _Server:
    def __init__(
        self,
        model: str,
        url: str,
        temperature: float,
        seed: int,
        max_tokens: int,
        timeout_s: float,
    ) -> None:
        try:
            import openai
        except ImportError:
            raise ValueError("this needs openai: pip install 'gym_codefix[api]'") from None
        self.name = model
        key = os.environ.get("OPENAI_API_KEY", "none")  # local servers want none
        self._client = openai.OpenAI(base_url=url, api_key=key, timeout=timeout_s)
        self._failed = openai.OpenAIError
        self._settings: dict[str, Any] = {
            "temperature": temperature,
            "seed": seed,
            "max_tokens": max_tokens,
        }

    def complete(
        self, messages: Sequence[Message], tools: Sequence[Mapping[str, Any]] = ()
    ) -> Reply:
        asked: dict[str, Any] = {"messages": [dict(message) for message in messages]}
        if tools:
            asked["tools"] = list(tools)
        try:
            answer = self._client.chat.completions.create(
                model=self.name, **asked, **self._settings
            )
            message = answer.choices[0].message
        except (self._failed, LookupError, TypeError, ValueError) as error:
            # The last three: an answer of another shape, which the client does not check.
            raise ChatError(f"{self.name}: {type(error).__name__}: {error}"[:500]) from error
        calls = tuple(
            (call.id, call.function.name, call.function.arguments or "{}")
            for call in message.tool_calls or ()
            if call.type == "function"
        )
        tokens = answer.usage.total_tokens if answer.usage else None
        return Reply(message.content or "", calls, tokens)


class _Local:
    def __init__(self, folder: Path, temperature: float, seed: int, max_tokens: int) -> None:
        try:
            import torch
            from transformers import AutoModelForCausalLM, AutoTokenizer
        except ImportError:
            raise ValueError("this needs torch: pip install 'gym_codefix[train]'") from None
        self.name = folder.name
        self._torch, self._max_tokens, self._seed = torch, max_tokens, seed
        self._sampling: dict[str, Any] = {"do_sample": temperature > 0}
        if temperature > 0:
            self._sampling["temperature"] = temperature
        self._tokenizer = AutoTokenizer.from_pretrained(folder)
        self._model = AutoModelForCausalLM.from_pretrained(folder).eval()

    def complete(
        self, messages: Sequence[Message], tools: Sequence[Mapping[str, Any]] = ()
    ) -> Reply:
        torch = self._torch
        try:
            prompt = self._tokenizer.apply_chat_template(
                [dict(message) for message in messages],
                tools=list(tools) or None,
                add_generation_prompt=True,
                return_tensors="pt",
                return_dict=True,
            )
            with torch.inference_mode(), torch.random.fork_rng():
                torch.manual_seed(self._seed)
                written = self._model.generate(
                    **prompt, max_new_tokens=self._max_tokens, **self._sampling
                )[0]
        except Exception as error:  # templates raise what they like
            raise ChatError(f"{self.name}: {type(error).__name__}: {error}"[:500]) from error
        start = prompt["input_ids"].shape[1]
        text = self._tokenizer.decode(written[start:], skip_special_tokens=True)
        return Reply(text, tokens=int(written.shape[0]))
