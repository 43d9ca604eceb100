# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Opens the web server of the browser view, and gives the empty scene its look.

The one place where threads meet: the browser's callbacks hand work to the node's thread.

viser runs callbacks in threads of its own; ROS callbacks run in the executor's. Everything
else of this package runs in the executor's thread only, so it needs no locks.

What a person does in a browser becomes an action in the node's thread.
"""

from __future__ import annotations

import asyncio
import errno
import logging
import socket
import threading
from collections import deque
from collections.abc import Callable, Coroutine
from typing import TYPE_CHECKING, Any

import numpy as np

from arm_viewer.errors import MissingPackageError, ServerError

if TYPE_CHECKING:
    import viser

FIRST_PORT, LAST_PORT, TRIES = 1, 65535, 100
BRAND = (217, 119, 6)
SKY, GROUND = (214, 223, 234), (250, 251, 252)
# On a phone the panel lies below the picture: as wide as that.
WHOLE_WIDTH = """<style>
@media (max-width: 36em) { [style*="width: 20em"] { width: 100% !important } }
</style>"""


def free_port(host: str, port: int) -> int:
    """Return the port asked for, or the next free one; 0 lets the system choose.

    Args:
        host: The address to bind to.
        port: 0 to 65535.

    Raises:
        ServerError: If the port is no port, the host is not one of this machine's addresses, or
            a hundred ports in a row are taken.
    """
    if not 0 <= port <= LAST_PORT:
        raise ServerError(f"parameter port: {port} is no port; give 0 (any free one) to 65535")
    for candidate in range(port, min(port + TRIES, LAST_PORT + 1)):
        try:
            family = socket.getaddrinfo(host, candidate, type=socket.SOCK_STREAM)[0][0]
            with socket.socket(family, socket.SOCK_STREAM) as probe:
                probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
                probe.bind((host, candidate))
                return int(probe.getsockname()[1])
        except OSError as error:
            if error.errno != errno.EADDRINUSE:
                raise ServerError(
                    f'the browser view cannot use host "{host}", port {candidate}: '
                    f"{error.strerror or error}; 127.0.0.1 shows it on this machine only, "
                    "0.0.0.0 to the whole network"
                ) from error
    raise ServerError(f"ports {port} to {candidate} are all in use; set the parameter port to 0")


def open_server(host: str, port: int) -> viser.ViserServer:
    """Start a server at the address, or at the next free port.

    Raises:
        ServerError: If the address cannot be used.
        MissingPackageError: If viser is not installed.
    """
    try:
        import rich
        import viser
    except ImportError as error:
        raise MissingPackageError("viser", "the browser view is made with it") from error
    rich.get_console().quiet = True  # viser prints a banner; the node logs the address itself.
    # Without this, whoever connects and hangs up leaves a traceback in the log.
    logging.getLogger("websockets").setLevel(logging.CRITICAL)
    server = viser.ViserServer(host=host, port=free_port(host, port), verbose=False)
    _decorate(server)
    return server


def close_server(server: viser.ViserServer) -> None:
    """Stop serving and free the port."""
    loop = server.get_event_loop()
    loop.call_soon_threadsafe(_hang_up, loop)
    server.stop()


def _hang_up(loop: asyncio.AbstractEventLoop) -> None:
    """End the connections that browsers keep in reserve and never sent a request on.

    Left alone, they would hold up the server's end for ten seconds; it ends the others itself.
    """
    for task in asyncio.all_tasks(loop):
        awaited = getattr(task.get_coro(), "cr_await", None)
        if getattr(awaited, "__qualname__", "") == "ServerConnection.handshake":
            task.cancel()


def address_of(server: viser.ViserServer) -> str:
    """Return the address to type into a browser on this machine."""
    host = server.get_host()
    if host in ("0.0.0.0", "::", ""):
        host = "127.0.0.1"
    return (
        f"http://[{host}]:{server.get_port()}"
        if ":" in host
        else (f"http://{host}:{server.get_port()}")
    )


def _decorate(server: viser.ViserServer) -> None:
    server.gui.configure_theme(
        show_logo=False, show_share_button=False, brand_color=BRAND, control_width="medium"
    )
    server.gui.main_panel.dock_right()  # Beside the picture, not over it.
    server.gui.add_html(WHOLE_WIDTH, order=99)
    server.scene.set_up_direction("+z")
    server.scene.set_background_image(_sky(), format="png")
    server.scene.configure_default_lights(enabled=True, cast_shadow=True)
    # Soft light from all sides. An environment map would look alike, but browsers without a
    # graphics card take seconds to prepare one.
    server.scene.add_light_hemisphere(
        "/sky_light", sky_color=(255, 255, 255), ground_color=(196, 200, 208), intensity=2.0
    )


def _sky() -> Any:
    """Return a vertical gradient as an image, (rows, 2, 3) uint8."""
    ramp = np.linspace(SKY, GROUND, 256)
    return np.repeat(ramp[:, None, :], 2, axis=1).astype(np.uint8)


Action = Callable[[], None]


class CallbackQueue:
    """A queue of actions to be run by its owner's thread."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._actions: deque[Action] = deque()
        self._wake: Action | None = None

    def open(self, wake: Action) -> None:
        """Start to deliver.

        Args:
            wake: Called by the posting thread after each post; it must make the owner's thread
                call `drain` soon.
        """
        with self._lock:
            self._wake = wake
            if self._actions:
                wake()

    def close(self) -> None:
        """Drop what is waiting and all that comes after; `wake` is not called any more."""
        with self._lock:
            self._wake = None
            self._actions.clear()

    def post(self, action: Action) -> None:
        """Queue an action from any thread."""
        with self._lock:
            self._actions.append(action)
            if self._wake is not None:
                self._wake()

    def drain(self) -> None:
        """Run what is waiting, in order; called by the owner's thread."""
        with self._lock:
            actions, self._actions = self._actions, deque()
        for action in actions:
            action()


def on_user(
    mailbox: CallbackQueue, register: Callable[[Any], Any], action: Callable[[], None]
) -> None:
    """Run an action in the node's thread when a person, not the node, causes an event.

    The callback is a coroutine: viser runs it in its event loop, in the order of events.

    Args:
        mailbox: Takes the action over.
        register: viser's method that takes a callback, e.g. on_click of a button.
        action: What to do.
    """

    async def callback(event: Any) -> None:
        if event.client_id is not None:
            mailbox.post(action)

    handler: Callable[[Any], Coroutine[Any, Any, None]] = callback
    register(handler)
