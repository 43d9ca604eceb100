# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Opens the web server of the browser view and decorates the empty scene."""

from __future__ import annotations

import asyncio
import errno
import gc
import logging
import socket
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from arm_common.network import LAST_PORT

from arm_viewer.browser.access import Access
from arm_viewer.errors import ViewerError, required

if TYPE_CHECKING:
    import viser

TRIES = 100
BRAND = (217, 119, 6)
SKY, GROUND = (214, 223, 234), (250, 251, 252)
# Long labels, such as the joints of a solution, wrap, and long lines do not widen the sidebar,
# whose grid would otherwise be as wide as its longest line. On a phone the sidebar lies below the
# picture and is as wide as the page.
FULL_WIDTH = """<style>
button:has(> .mantine-Button-inner) { height: auto !important; min-height: 1.9em }
.mantine-Button-label { white-space: normal !important; height: auto !important }
.mantine-ScrollArea-content > div > div { grid-template-columns: minmax(0, 1fr) !important }
@media (max-width: 36em) { [style*="width: 20em"] { width: 100% !important } }
</style>"""
# The elements below the sentence neither work nor look as if they did.
READ_ONLY = """<div data-arm="read-only" style="padding:.25em .8em;font-size:.875em">
<b>Read-only</b>: to control this view, open the address that it printed when it started, which
contains a token.</div>
<style>
div:has(> [data-arm="read-only"]) ~ div :is(button, input, .mantine-Slider-root) {
  opacity: .4; pointer-events: none
}
</style>"""


def free_port(host: str, port: int) -> int:
    """Return the requested port of a host or the next free one; 0 lets the system choose.

    Raises:
        ViewerError: The host is not an address of this machine, or a hundred consecutive ports are
            in use.
    """
    for candidate in range(port, min(port + TRIES, LAST_PORT + 1)):
        try:
            family = socket.getaddrinfo(host, candidate, type=socket.SOCK_STREAM)[0][0]
            with socket.socket(family, socket.SOCK_STREAM) as probe:
                probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
                probe.bind((host, candidate))
                return int(probe.getsockname()[1])
        except OSError as error:
            if error.errno != errno.EADDRINUSE:
                raise ViewerError(
                    f'the browser view cannot use host "{host}", port {candidate}: '
                    f"{error.strerror or error}; 127.0.0.1 shows it on this machine only, "
                    "0.0.0.0 to the whole network"
                ) from error
    raise ViewerError(f"ports {port} to {candidate} are all in use; set the parameter port to 0")


def open_server(host: str, port: int, access: Access) -> viser.ViserServer:
    """Start a server at the address, or at the next free port, with rules for its requests.

    Raises:
        ViewerError: The address cannot be used, viser is not installed, or the rules cannot be
            applied to the installed version.
    """
    with required("viser", "it serves the browser view"):
        import rich
        import viser

        from arm_viewer.browser.gate import gate, on_read_only
    rich.get_console().quiet = True  # viser prints a banner; the node logs the address itself.
    # Without this, a client that disconnects early leaves a traceback in the log.
    logging.getLogger("websockets").setLevel(logging.CRITICAL)
    with gate(access):
        server = viser.ViserServer(host=host, port=free_port(host, port), verbose=False)
    _decorate(server)
    on_read_only(server, lambda client: client.gui.add_html(READ_ONLY, order=-1.5))
    return server


def free_after_visits(server: viser.ViserServer) -> None:
    """Free the memory of each visit when it ends; to be called when all is imported.

    A visit leaves cycles of objects, which Python would collect after hundreds of visits only. It
    no longer searches the objects that exist now, so that a collection takes milliseconds.
    """

    async def collect(_: object) -> None:
        gc.collect()

    gc.freeze()
    server.on_client_disconnect(collect)


def mark_first_visit(server: viser.ViserServer, file: str) -> None:
    """Create a file, unless its name is empty, when a browser is connected for the first time."""

    async def create(_: object) -> None:
        Path(file).touch()

    if file:
        server.on_client_connect(create)


def close_server(server: viser.ViserServer) -> None:
    """Stop serving and free the port."""
    loop = server.get_event_loop()
    loop.call_soon_threadsafe(_cancel_idle_connections, loop)
    server.stop()


def _cancel_idle_connections(loop: asyncio.AbstractEventLoop) -> None:
    """Close the spare connections on which a browser has not sent a request yet.

    They would delay the shutdown by ten seconds; the server closes all others itself.
    """
    for task in asyncio.all_tasks(loop):
        awaited = getattr(task.get_coro(), "cr_await", None)
        if getattr(awaited, "__qualname__", "") == "ServerConnection.handshake":
            task.cancel()


def address_of(server: viser.ViserServer, access: Access) -> str:
    """Return the address to type into a browser on this machine, with the token."""
    host = server.get_host()
    if host in ("0.0.0.0", "::", ""):
        host = "127.0.0.1"
    shown = f"[{host}]" if ":" in host else host
    return f"http://{shown}:{server.get_port()}/?token={access.token}"


def _decorate(server: viser.ViserServer) -> None:
    server.gui.configure_theme(
        show_logo=False, show_share_button=False, brand_color=BRAND, control_width="medium"
    )
    server.gui.main_panel.dock_right()  # Beside the picture, not over it.
    server.gui.add_html(FULL_WIDTH, order=99)
    server.scene.set_up_direction("+z")
    sky = np.linspace(SKY, GROUND, 256, dtype=np.uint8)
    server.scene.set_background_image(np.repeat(sky[:, None], 2, axis=1), format="png")
    server.scene.configure_default_lights(enabled=True, cast_shadow=True)
    # Soft light from all sides. An environment map looks alike, but takes seconds to prepare
    # without a graphics card.
    server.scene.add_light_hemisphere(
        "/sky_light", sky_color=(255, 255, 255), ground_color=(196, 200, 208), intensity=2.0
    )
