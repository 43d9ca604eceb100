# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Decides which requests and commands the view accepts: by the browser, and by their age.

A browser lets any page open a websocket to any address, and sends what that page wants. So the
origin must be the view's own page. A page can also give its own host name the view's address (DNS
rebinding), and has the same origin then; so the host must be one that no page can choose. An IP
address is safe, whichever it is: no name server is asked for it. The address of this computer
cannot be required, because a port forwarded by a tunnel, a container or a router has another.

A network that stalls delivers everything once it recovers: an arm would drive off long after its
user gave up. So the view sends heartbeats, each with the time of its own clock, and every command
carries the last one that its page had received. A command whose heartbeat is older than `MAX_AGE`
is dropped, and the page shows again what the view has. A program without a page carries none;
its commands are as old as the last ping that its websocket has answered.

Each page opens a second connection, its link (`link.js`), which neither a large scene nor a page
that cannot draw delays. Messages are JSON; from the view ``{"beat": N, "lag": MS, "stop": BOOL}``
and ``{"stopped": ID}``, from the page ``{"stop": ID}``.
"""

from __future__ import annotations

import asyncio
import hmac
import ipaddress
import os
import re
import secrets
import socket
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qs
from weakref import WeakValueDictionary

from arm_viewer.errors import ViewerError

if TYPE_CHECKING:
    from websockets.datastructures import Headers

MAX_AGE = 1.0  # [s] of the heartbeat that a command carries
BEAT_PERIOD = 0.25  # [s]
SETTLE = 0.5  # [s] after a user set an input, when all browsers are sent its value
DROPPED = (
    "A command was dropped, because the connection of its page had stalled for more than "
    f"{MAX_AGE:g} s. Nothing moved; what the page shows was set back."
)
# What a page sends besides commands, or to end one: none of these moves anything.
_NO_COMMANDS = {
    "ViewerCameraMessage",
    "GetRenderResponseMessage",
    "GuiFormDirtyMessage",
    "TransformControlsDragEndMessage",
}
BEAT = "beat"  # the key that a page adds to a message: the number of a heartbeat

Done = Callable[[], None]
TOKEN_VARIABLE = "ARM_VIEWER_TOKEN"
_HOST = re.compile(r"(\[[0-9a-f:.]+\]|[^:\[\]]+)(?::(\d+))?")  # of RFC 9110, 7.2, in lower case


@dataclass(frozen=True)
class SentCommand:
    """What a browser sends to change something."""

    target: str  # the identifier of the element, or the name of the handle; "" if it has none
    sent: float  # when the last heartbeat before it was sent, by the clock of the link [s]
    put_back: Done  # makes all pages show again what was there before
    link: PageLink  # by which its age is judged

    @property
    def is_old(self) -> bool:
        """True if it may no longer be executed."""
        return not 0.0 <= self.link.clock() - self.sent <= MAX_AGE

    def drop(self) -> None:
        """Show what was there before, and say so."""
        self.put_back()
        self.link.on_dropped(DROPPED)


# The command that viser handles now; None for what is never too old.
present_command: ContextVar[SentCommand | None] = ContextVar("present_command", default=None)


@dataclass
class PageLink:
    """What the connections of all browsers to one view have in common."""

    clock: Callable[[], float] = time.monotonic  # returns the time [s]
    # stops the arm, then calls its argument; None where nothing can be stopped
    stop: Callable[[Done], None] | None = None
    # takes a sentence when a command is dropped; called by any thread
    on_dropped: Callable[[str], None] = lambda sentence: None
    # element -> returns whether setting it to a value only ends or slows a motion
    ageless: dict[str, Callable[[Any], bool]] = field(default_factory=dict)
    # element -> viser's handle
    inputs: WeakValueDictionary[str, Any] = field(default_factory=WeakValueDictionary)
    # name of a drag handle -> puts it back where it belongs
    handles: dict[str, Done] = field(default_factory=dict)
    # page -> returns when the last ping that it has answered was sent [s]
    answered: dict[str, Callable[[], float]] = field(default_factory=dict)
    visitors: int = 0  # number of the browsers and programs that viser serves
    _settling: dict[str, asyncio.TimerHandle] = field(default_factory=dict)

    def command(self, message: Mapping[str, Any], sent: float) -> SentCommand | None:
        """Return the command in a message; None if it contains none or is never too old."""
        if message["type"] in _NO_COMMANDS:
            return None
        target = str(message.get("uuid", message.get("name", "")))
        is_ageless = self.ageless.get(target)
        updates = message.get("updates") or {}
        if is_ageless and updates.keys() <= {"value"} and is_ageless(updates.get("value")):
            return None
        return SentCommand(target, sent, self._put_back(target), self)

    def _put_back(self, target: str) -> Done:
        """Return what restores an element, or a drag handle, as it is now."""
        element = self.inputs.get(target)
        if element is None:
            return self.handles.get(target, lambda: None)
        former = element.value

        def restore() -> None:
            element.value = former
            show_again(element)

        return restore

    @contextmanager
    def visit(self, page: str, answered: Callable[[], float]) -> Iterator[None]:
        """Count a browser, or a program with "" as its page, as long as viser serves it."""
        self.visitors += 1
        self.answered[page] = answered
        try:
            yield
        finally:
            self.visitors -= 1
            if self.answered.get(page) is answered:
                del self.answered[page]

    def settle(self, target: str) -> None:
        """Soon send all browsers the value of an element; called in viser's event loop.

        viser sends what a browser sets to all others. Two that set it at once would therefore each
        end with the other's value.
        """
        element = self.inputs.get(target)
        if element is None or self.visitors < 2:
            return
        if waiting := self._settling.pop(target, None):
            waiting.cancel()

        def send() -> None:
            self._settling.pop(target, None)
            show_again(element)

        self._settling[target] = asyncio.get_running_loop().call_later(SETTLE, send)

    def beat(self, page: str, answered: float) -> dict[str, Any]:
        """Return the next heartbeat for a page whose link answered a ping of that time [s]."""
        now = self.clock()
        lag = now - answered
        if (other := self.answered.get(page)) is not None:
            lag = max(lag, now - other() - 1.0)  # pings wait behind a large scene
        return {BEAT: int(1e3 * now), "lag": int(1e3 * lag), "stop": self.stop is not None}


def show_again(element: Any) -> None:
    """Send an input's value to all browsers, also to one that set another.

    viser's setter sends only what differs from its own value, and it never sends a value back to
    the browser that set it; it has no public call for that.
    """
    element._queue_update("value", element.value)


@dataclass(frozen=True)
class Access:
    """The rules of one server."""

    token: str  # whoever has it may command
    names: frozenset[str]  # host names of the server, in lower case, besides its IP addresses
    # identifiers of the buttons and commands that work without the token
    open_elements: set[str] = field(default_factory=set)
    scripts: list[Path] = field(default_factory=list)  # of panels, that pages get
    link: PageLink = field(default_factory=PageLink)  # what its pages are linked to

    def refusal(self, headers: Headers, origin: str | None = None) -> str:
        """Return why a request is not answered, or would not be with an origin; "" if it is."""
        origins = headers.get_all("Origin") if origin is None else [origin]
        host = _host(headers)
        found = _HOST.fullmatch(host)
        if not (found and (found[1] in self.names or _is_address(found[1]))):
            return (
                "The view is not known by this host name: use its IP address, or add the name to "
                "the parameter allowed_hosts."
            )
        own = (f"http://{host}", f"https://{host}")
        if any(text.lower() not in own for text in origins):
            return (
                f"The view answers only its own page, not one of another origin than {host}. "
                "A proxy in between must pass the header Host on: see docs/security.md."
            )
        return ""

    def is_granted(self, path: str) -> bool:
        """Return True if a request has the token in the query of its path.

        Not in a cookie: browsers send those to every server on the same host, whatever its port.
        """
        texts = query_values(path, "token")
        return any(hmac.compare_digest(ascii(text), ascii(self.token)) for text in texts)


def query_values(path: str, name: str) -> list[str]:
    """Return the values of a name in the query of a request's path."""
    return parse_qs(path.partition("?")[2], keep_blank_values=True).get(name, [])


def make_access(host: str, allowed_hosts: Iterable[str] = ()) -> Access:
    """Return the rules of a server at an address, with a random token or that of the environment.

    Args:
        host: The address that it serves at.
        allowed_hosts: Names by which browsers reach it, besides those of this computer.

    Raises:
        ViewerError: The environment's token is too short, or cannot be part of an address.
    """
    token = os.environ.get(TOKEN_VARIABLE, "")
    if token and not re.fullmatch(r"[A-Za-z0-9_-]{16,}", token):
        raise ViewerError(
            f"the token in {TOKEN_VARIABLE} is refused: give at least 16 letters, digits, - or _, "
            "or unset it for a random one"
        )
    own = socket.gethostname().partition(".")[0]
    names = {"localhost", host, socket.gethostname(), own, f"{own}.local", *allowed_hosts}
    return Access(token or secrets.token_urlsafe(16), frozenset(name.lower() for name in names))


def _host(headers: Headers) -> str:
    """Return the address that the browser used, "name:port"; empty if it is not unique."""
    hosts = headers.get_all("Host")
    return hosts[0].lower() if len(hosts) == 1 else ""


def _is_address(name: str) -> bool:
    try:
        ipaddress.ip_address(name.strip("[]"))
    except ValueError:
        return False
    return True
