# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
# Tests: src/arm_viewer/test/browser/test_access.py
"""Applies the rules of `access` to viser's server.

viser 1.1 has no hook for it: `ViserServer` accepts every connection and every message, and passes
no option on to websockets (`WebsockServer.start` in viser/infra). A proxy in front of it would not
help: the port of viser behind it, which cannot be a Unix socket, would stay open to every page of
a browser on this computer. So viser's server is given our arguments of websockets' public `serve`:
a check of each request, and a class of connection. This depends on how one version of viser calls
it, so no other is started.
"""

from __future__ import annotations

import asyncio
import gzip
import json
import math
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from functools import cache, partial
from http import HTTPStatus
from pathlib import Path
from typing import Any

import msgspec
import viser
import viser.infra
import websockets.asyncio.server
from arm_common.suggestions import install_command
from websockets.asyncio.server import ServerConnection
from websockets.exceptions import ConnectionClosed
from websockets.http11 import Request, Response

from arm_viewer.browser.access import BEAT, BEAT_PERIOD, Access, present_command, query_values
from arm_viewer.errors import ViewerError

VISER_VERSION = "1.1.1"  # also in requirements.txt
SCRIPTS = tuple(Path(__file__).with_name(name) for name in ("link.js", "fields.js", "page.js"))
# Stores the token as `link.js` reads it: one tab of a browser has it, and no other origin.
KEEP_TOKEN = """<!doctype html><title>Arm</title><script>
sessionStorage.setItem("arm_viewer token " + location.pathname,
  new URLSearchParams(location.search).get("token"));
location.replace(location.pathname);
</script>"""
Check = Callable[[ServerConnection, Request], Response | None]


class Visitor(ServerConnection):
    """The connection of a browser. Without the token, only a few of its messages are received."""

    def __init__(self, access: Access, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self._access, self.link = access, access.link
        self.may_command = False
        self.answered = self.link.clock()  # when the last ping that was answered was sent [s]

    async def recv(self, decode: bool | None = None) -> Any:
        """Return the next message that the browser may send and that is not too old."""
        while True:
            raw = await super().recv(decode)
            if not isinstance(raw, bytes):
                continue  # viser's page sends none
            message = msgspec.msgpack.decode(raw)
            if not (_is_message(message) and _is_finite(message)):
                continue  # no browser sends it, and viser checks few of them
            number = message.pop(BEAT, None)
            if not (self.may_command or self._is_open(message)):
                continue
            sent = self.answered if number is None else 1e-3 * float(number)
            command = self.link.command(message, sent)
            if command is not None and command.is_old:
                command.drop()
                continue
            if message["type"] == "GuiUpdateMessage":
                self.link.settle(message["uuid"])
            present_command.set(command)
            return raw if number is None else msgspec.msgpack.encode(message)

    def _is_open(self, message: Mapping[str, Any]) -> bool:
        """Return True if anyone may send a message: its own camera, or an open element."""
        kind = message.get("type")
        if kind == "GuiUpdateMessage" and message.get("updates") != {"value": True}:
            return False
        if kind in ("GuiUpdateMessage", "CommandTriggerMessage"):
            return message.get("uuid") in self._access.open_elements
        return kind == "ViewerCameraMessage"

    async def watch(self) -> None:
        """Keep `answered` up to date; a browser answers pings by itself."""
        while True:
            sent = self.link.clock()
            await (await self.ping())
            self.answered = sent
            await asyncio.sleep(BEAT_PERIOD)

    async def serve_link(self, page: str) -> None:
        """Send heartbeats to a page, and let it stop the arm."""
        beats = asyncio.create_task(self._send_beats(page))
        try:
            while True:
                message = json.loads(await super().recv())
                if self.link.stop is not None and (number := message.get("stop")):
                    self.link.stop(partial(self._acknowledge, asyncio.get_running_loop(), number))
        finally:
            beats.cancel()

    async def _send_beats(self, page: str) -> None:
        while True:
            await self.send(json.dumps(self.link.beat(page, self.answered)))
            await asyncio.sleep(BEAT_PERIOD)

    def _acknowledge(self, loop: asyncio.AbstractEventLoop, number: int) -> None:
        """Tell the page that its STOP was carried out; called by the page's thread."""
        asyncio.run_coroutine_threadsafe(self.send(json.dumps({"stopped": number})), loop)


def _is_message(message: Any) -> bool:
    """Return True if what a browser sends can be a message of viser."""
    names = ("type", "uuid", "name")
    return isinstance(message, dict) and all(isinstance(message.get(k, ""), str) for k in names)


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
    _send_only_text()
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
    path = visitor.request.path if visitor.request else ""
    page = "".join(query_values(path, "page"))
    pings = asyncio.create_task(visitor.watch())
    try:
        if query_values(path, "link"):
            with suppress(ConnectionClosed):
                await visitor.serve_link(page)
            return
        with visitor.link.visit(page, lambda: visitor.answered):
            await handler(visitor)
    finally:
        pings.cancel()


def _answer(
    access: Access, viser_answer: Check, visitor: Visitor, request: Request
) -> Response | None:
    """Answer a request; None opens a websocket.

    The page is sent without a query: viser's page would connect to any server named in it, and
    do what that one says. All locations are relative, as a proxy may serve the view in a folder.
    """
    if refusal := access.refusal(request.headers):
        return visitor.respond(HTTPStatus.FORBIDDEN, f"{refusal}\n")
    visitor.may_command = access.is_granted(request.path)
    if request.headers.get("Upgrade") == "websocket":
        return viser_answer(visitor, request)
    path, _, query = request.path.partition("?")
    if path.endswith("/refusal"):  # for a page that gets no websocket
        origin = "".join(query_values(request.path, "origin"))
        return visitor.respond(HTTPStatus.OK, access.refusal(request.headers, origin))
    if query or request.path.endswith("?"):
        return _without_query(visitor)
    response_or_none = _file(viser_answer, visitor, request)
    if response_or_none is not None:  # No page may show this one inside, and take its clicks.
        response_or_none.headers["Content-Security-Policy"] = "frame-ancestors 'none'"
        if request.path == "/":
            _add_scripts(response_or_none, access.scripts)
    return response_or_none


def _file(viser_answer: Check, visitor: Visitor, request: Request) -> Response | None:
    """Return viser's answer; its search of a file fails at a name that no file can have."""
    try:
        return viser_answer(visitor, request)
    except (OSError, ValueError):  # too long, or with a null character
        return visitor.respond(HTTPStatus.NOT_FOUND, "There is no such page.\n")


def _without_query(visitor: Visitor) -> Response:
    """Lead a browser to the page without a query, after it has stored the token of a right one."""
    if visitor.may_command:
        response = visitor.respond(HTTPStatus.OK, KEEP_TOKEN)
        response.headers["Referrer-Policy"] = "no-referrer"
        del response.headers["Content-Type"]
        response.headers["Content-Type"] = "text/html; charset=utf-8"
    else:
        response = visitor.respond(HTTPStatus.SEE_OTHER, "")
        response.headers["Location"] = "./"
    response.headers["Cache-Control"] = "no-store"
    return response


def _add_scripts(response: Response, more: Sequence[Path]) -> None:
    """Put our scripts, and those of panels, into viser's page."""
    zipped = response.headers.get("Content-Encoding") == "gzip"
    response.body = _with_scripts(bytes(response.body or b""), zipped, (*SCRIPTS, *more))
    del response.headers["Content-Length"]
    response.headers["Content-Length"] = str(len(response.body))


@cache  # viser has the page in memory, zipped and not; so it answers at once with both
def _with_scripts(page: bytes, zipped: bool, files: tuple[Path, ...]) -> bytes:
    scripts = b"".join(b"<script>" + file.read_bytes() + b"</script>" for file in files)
    plain = gzip.decompress(page) if zipped else page
    with_scripts = plain.replace(b"<head>", b"<head>" + scripts, 1)  # before viser's
    return gzip.compress(with_scripts) if zipped else with_scripts


@cache
def _send_only_text() -> None:
    """Let viser send no text that UTF-8 cannot encode, such as the name of a file may be.

    It encodes what it sends to all browsers at once, so one such text would end every connection,
    and again whenever a browser connects. viser has no place to check the messages that it sends.
    """
    kind = viser.infra.Message
    as_dict = kind.as_serializable_dict

    def as_clean_dict(self: viser.infra.Message, *buffers: Any) -> dict[str, Any]:
        cleaned: dict[str, Any] = _clean(as_dict(self, *buffers))
        return cleaned

    kind.as_serializable_dict = as_clean_dict  # type: ignore[assignment, method-assign]


def _is_finite(value: Any) -> bool:
    """Return True if all numbers of a message are finite."""
    if isinstance(value, float):
        return math.isfinite(value)
    if isinstance(value, dict):
        value = value.values()
    elif not isinstance(value, list):
        return True
    return all(map(_is_finite, value))


def _clean(value: Any) -> Any:
    """Return a value whose texts have replacements for what UTF-8 cannot encode."""
    if isinstance(value, str):
        return value if value.isascii() else value.encode(errors="replace").decode()
    if isinstance(value, (tuple, list)):
        return [_clean(item) for item in value]
    if isinstance(value, dict):
        return {key: _clean(item) for key, item in value.items()}
    return value
