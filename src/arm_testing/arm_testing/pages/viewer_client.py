# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Connections to the browser view as a browser makes them, but which draw nothing."""

from __future__ import annotations

import threading
from contextlib import suppress
from typing import Any

import msgspec
import viser
import zstandard
from websockets.exceptions import ConnectionClosed
from websockets.sync.client import ClientConnection, connect

CAMERA = {
    "type": "ViewerCameraMessage",
    "wxyz": (1.0, 0.0, 0.0, 0.0),
    "position": (0.0, 0.0, 1.0),
    "look_at": (0.0, 0.0, 0.0),
    "up_direction": (0.0, 1.0, 0.0),
    "fov": 0.8,
    "near": 0.01,
    "far": 1000.0,
    "image_height": 720,
    "image_width": 1280,
}
READ_ONLY = b'data-arm="read-only"'  # in the last message to a browser without the token


def connected(address: str, **options: Any) -> ClientConnection:
    """Return a connection to ``host:port/query`` with viser's protocol."""
    protocol = f"viser-v{viser.__version__}"
    return connect(f"ws://{address}", subprotocols=[protocol], max_size=None, **options)


def encoded(message: dict[str, Any]) -> bytes:
    return msgspec.msgpack.encode(message)


def decompressed(raw: bytes) -> bytes:
    """Return what a message from the server contains."""
    size = int.from_bytes(raw[8:16], "little")
    return zstandard.ZstdDecompressor().decompress(raw[16 : 16 + size])


def decoded(raw: bytes) -> list[dict[str, Any]]:
    """Return the messages to a browser; those of its link are none."""
    messages: list[dict[str, Any]] = msgspec.msgpack.decode(decompressed(raw))["messages"]
    return messages


def visit(address: str) -> None:
    """Connect without the token, receive the whole scene, and disconnect."""
    with connected(address) as socket:
        socket.send(encoded(CAMERA))  # without a camera, viser ignores the browser
        while READ_ONLY not in decompressed(socket.recv(timeout=60.0)):
            pass


class Spectator(threading.Thread):
    """A browser that stays and only receives."""

    def __init__(self, address: str) -> None:
        super().__init__(daemon=True)
        self._address, self.messages = address, 0
        self.open = True

    def run(self) -> None:
        """Count the messages received."""
        with suppress(ConnectionClosed), connected(self._address) as socket:
            socket.send(encoded(CAMERA))
            while self.open:
                socket.recv()
                self.messages += 1
