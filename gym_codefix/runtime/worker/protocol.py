"""JSON messages, with file descriptors, over Unix sockets: length-prefixed, or short packets."""

from __future__ import annotations

import json
import socket
import struct
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

_HEADER = struct.Struct("!I")
_MAX_DESCRIPTORS = 4
_PACKET_BYTES = 1 << 16
CONFIGURED, TEMPLATE = "configured", "template"

Prepare = Callable[[Mapping[str, Any]], None]  # what a server does with a job ahead of its fork


class Taken(NamedTuple):
    """A job that a fork is to run, and the descriptor of its result pipe."""

    job: dict[str, Any]
    result_fd: int


class Promoted(NamedTuple):
    """The tier that a fork is to become, and the channel that it serves."""

    tier: str
    channel: socket.socket


class Closed(EOFError):
    """The other end is gone."""


def send(channel: socket.socket, message: dict[str, Any], descriptors: Sequence[int] = ()) -> None:
    """Send one message (raises OSError when the other end is gone)."""
    body = json.dumps(message).encode()
    socket.send_fds(channel, [_HEADER.pack(len(body))], list(descriptors))
    channel.sendall(body)


def receive(channel: socket.socket) -> tuple[dict[str, Any], list[int]]:
    """Wait for one message (raises Closed at the end of the stream)."""
    header, descriptors, _, _ = socket.recv_fds(channel, _HEADER.size, _MAX_DESCRIPTORS)
    while 0 < len(header) < _HEADER.size:
        header += channel.recv(_HEADER.size - len(header))
    if not header:
        raise Closed
    (left,) = _HEADER.unpack(header)
    parts = []
    while left:
        part = channel.recv(min(left, 1 << 20))
        if not part:
            raise Closed
        parts.append(part)
        left -= len(part)
    return json.loads(b"".join(parts)), descriptors


def tell(channel: socket.socket, message: dict[str, Any], descriptors: Sequence[int] = ()) -> None:
    """Send one short message as a packet, whole among those of other senders (raises OSError)."""
    socket.send_fds(channel, [json.dumps(message).encode()], list(descriptors))


def hear(channel: socket.socket) -> tuple[dict[str, Any], list[int]]:
    """Wait for one packet (raises Closed when no sender is left)."""
    data, descriptors, _, _ = socket.recv_fds(channel, _PACKET_BYTES, _MAX_DESCRIPTORS)
    if not data:
        raise Closed
    return json.loads(data), descriptors
