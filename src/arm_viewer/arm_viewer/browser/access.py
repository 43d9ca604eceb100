# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Decides which requests the view answers, and which browsers may command.

A browser lets any page open a websocket to any address, and sends what that page wants. So the
origin must be the view's own page. A page can also give its own host name the view's address (DNS
rebinding), and has the same origin then; so the host must be one that no page can choose. An IP
address is safe, whichever it is: no name server is asked for it. The address of this computer
cannot be required, because a port forwarded by a tunnel, a container or a router has another.
"""

from __future__ import annotations

import hmac
import ipaddress
import os
import re
import secrets
import socket
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Protocol
from urllib.parse import parse_qs

from arm_viewer.browser.link import PageLink
from arm_viewer.errors import ViewerError

TOKEN_VARIABLE = "ARM_VIEWER_TOKEN"
_HOST = re.compile(r"(\[[0-9a-f:.]+\]|[^:\[\]]+)(?::(\d+))?")  # of RFC 9110, 7.2, in lower case


class RequestHeaders(Protocol):
    """The part of websockets' Headers that is used."""

    def get_all(self, key: str) -> list[str]:
        """Return the values of all headers of a name."""


@dataclass(frozen=True)
class Access:
    """The rules of one server.

    Attributes:
        token: Whoever has it may command.
        names: Host names of the server, in lower case, besides its IP addresses.
        open_elements: Identifiers of the buttons and commands that work without the token.
        link: What its pages are linked to.
    """

    token: str
    names: frozenset[str]
    open_elements: set[str] = field(default_factory=set)
    link: PageLink = field(default_factory=PageLink)

    def refusal(self, headers: RequestHeaders, origin: str | None = None) -> str:
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


def _host(headers: RequestHeaders) -> str:
    """Return the address that the browser used, "name:port"; empty if it is not unique."""
    hosts = headers.get_all("Host")
    return hosts[0].lower() if len(hosts) == 1 else ""


def _is_address(name: str) -> bool:
    try:
        ipaddress.ip_address(name.strip("[]"))
    except ValueError:
        return False
    return True
