# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Applies the rules of `access` to viser's server.

viser has no hook for it: it accepts every connection and every message. Its server is therefore
given our arguments of websockets' public `serve`: a check of each request, and a class of
connection. This depends on how one version of viser calls it, so no other is started.
"""

from __future__ import annotations

import gzip
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cache, partial
from http import HTTPStatus
from pathlib import Path
from typing import Any

import viser
import viser.infra
import websockets.asyncio.server
from arm_common.suggestions import install_command
from websockets.asyncio.server import ServerConnection
from websockets.http11 import Request, Response

from arm_viewer.browser.access import Access
from arm_viewer.errors import ViewerError

VISER_VERSION = "1.1.1"  # also in requirements.txt
Check = Callable[[ServerConnection, Request], Response | None]


class Visitor(ServerConnection):
    """The connection of a browser. Without the token, only a few of its messages are received."""

    def __init__(self, access: Access, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self._access = access
        self.may_command = False

    async def recv(self, decode: bool | None = None) -> Any:
        """Return the next message that the browser may send."""
        while True:
            raw = await super().recv(decode)
            if self.may_command or (isinstance(raw, bytes) and self._is_open(raw)):
                return raw

    def _is_open(self, raw: bytes) -> bool:
        """Return whether anyone may send a message: its own camera, or an open element."""
        message: Any = viser.infra.Message.deserialize(raw)
        kind = type(message).__name__
        if kind == "GuiUpdateMessage" and message.updates != {"value": True}:
            return False
        if kind in ("GuiUpdateMessage", "CommandTriggerMessage"):
            return message.uuid in self._access.open_elements
        return kind == "ViewerCameraMessage"


_visitor: ContextVar[Visitor | None] = ContextVar("visitor", default=None)


@contextmanager
def gate(access: Access) -> Iterator[None]:
    """Apply the rules to the server that viser starts in this context.

    Raises:
        ViewerError: Another version of viser is installed, or its server was not reached.
    """
    if viser.__version__ != VISER_VERSION:
        raise ViewerError(
            f"the browser view needs viser {VISER_VERSION}, but {viser.__version__} is installed, "
            "in which its protection against other pages was not tried; install it with: "
            f"{install_command(f'viser=={VISER_VERSION}')}"
        )
    module, serve, started = websockets.asyncio.server, websockets.asyncio.server.serve, []

    def guarded(handler: Any, *address: Any, process_request: Check, **options: Any) -> Any:
        started.append(handler)
        options["process_request"] = partial(_answer, access, process_request)
        options["create_connection"] = partial(Visitor, access)
        return serve(partial(_handle, handler), *address, **options)

    module.serve = guarded  # type: ignore[assignment, misc]
    try:
        yield
    finally:
        module.serve = serve  # type: ignore[misc]
    if not started:
        raise ViewerError("the browser view's server is not protected against other pages")


def on_read_only(
    server: viser.ViserServer, action: Callable[[viser.ClientHandle], object]
) -> None:
    """Run an action, in viser's event loop, for each browser that connects without the token."""

    async def on_connect(client: viser.ClientHandle) -> None:
        visitor = _visitor.get()
        if visitor is None or not visitor.may_command:
            action(client)

    server.on_client_connect(on_connect)


async def _handle(handler: Callable[[Visitor], Awaitable[None]], visitor: Visitor) -> None:
    """Handle a connection; the callbacks of its messages inherit the variable."""
    _visitor.set(visitor)
    await handler(visitor)


def _answer(
    access: Access, viser_answer: Check, visitor: Visitor, request: Request
) -> Response | None:
    """Answer a request; None opens a websocket.

    The page is sent without a query: viser's page would connect to any server named in it, and
    do what that one says.
    """
    if refusal := access.refusal(request.headers):
        return visitor.respond(HTTPStatus.FORBIDDEN, f"{refusal}\n")
    visitor.may_command = access.is_granted(request.path, request.headers)
    if request.headers.get("Upgrade") == "websocket":
        return viser_answer(visitor, request)
    if "?" in request.path:
        response = visitor.respond(HTTPStatus.SEE_OTHER, "")
        response.headers["Location"] = "/"
        response.headers["Cache-Control"] = "no-store"
        if visitor.may_command:
            response.headers["Set-Cookie"] = access.cookie(request.headers)
        return response
    response_or_none = _file(viser_answer, visitor, request)
    if response_or_none is not None:  # No page may show this one inside, and take its clicks.
        response_or_none.headers["Content-Security-Policy"] = "frame-ancestors 'none'"
        if request.path == "/":
            _add_script(response_or_none)
    return response_or_none


def _file(viser_answer: Check, visitor: Visitor, request: Request) -> Response | None:
    """Return viser's answer; its search of a file fails at a name that no file can have."""
    try:
        return viser_answer(visitor, request)
    except (OSError, ValueError):  # too long, or with a null character
        return visitor.respond(HTTPStatus.NOT_FOUND, "There is no such page.\n")


def _add_script(response: Response) -> None:
    """Put the script of `page.js` into viser's page."""
    zipped = response.headers.get("Content-Encoding") == "gzip"
    response.body = _with_script(bytes(response.body or b""), zipped)
    del response.headers["Content-Length"]
    response.headers["Content-Length"] = str(len(response.body))


@cache  # viser has the page in memory, zipped and not; so it answers at once with both
def _with_script(page: bytes, zipped: bool) -> bytes:
    script = b"<script>" + Path(__file__).with_name("page.js").read_bytes() + b"</script></head>"
    plain = gzip.decompress(page) if zipped else page
    with_script = plain.replace(b"</head>", script, 1)
    return gzip.compress(with_script) if zipped else with_script
