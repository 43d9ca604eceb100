# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Where each browser's camera stands, until a person turns it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from .camera import ASPECT, FIELD_OF_VIEW, View, view_of
from .mailbox import Mailbox
from .robot_picture import RobotPicture
from .shapes import Array

if TYPE_CHECKING:
    import viser

Postures = Callable[[], Sequence[Mapping[str, Array]]]
SAME_SIZE = (0.8, 1.25)  # A robot whose size changed less is looked at from where one stands.
ROUNDED = 0.01  # A slow browser draws fewer pixels: their numbers have another ratio, rounded.
FAR = 3.0  # Sizes from the root: what is farther away need not be in the picture.


@dataclass
class _Browser:
    """One browser's camera: what it was placed for, where, and whether it has said it is there.

    What a browser says of its camera may be older than what it was told last.
    """

    aspect: float
    put: Array
    tolerance: float
    there: bool = False

    def is_near(self, position: Array) -> bool:
        """Return whether a camera's position, (3,), is where it was put."""
        return bool(np.abs(position - self.put).max() <= self.tolerance)

    def was_moved(self, position: Array) -> bool:
        """Return whether a camera at a position, (3,), was moved by a person."""
        return self.there and not self.is_near(position)


class Cameras:
    """The cameras of browsers here and to come. Not thread-safe, but for `heard`.

    Args:
        server: viser's server.
        postures: Gives the postures to be held in the picture, link name -> (4, 4), root <- link.
    """

    def __init__(self, server: viser.ViserServer, postures: Postures) -> None:
        self._server, self._postures = server, postures
        self._robot: RobotPicture | None = None
        self._things: Array = np.empty((0, 3))
        self._browsers: dict[int, _Browser] = {}
        self.view: View | None = None

    def set_robot(self, robot: RobotPicture) -> bool:
        """Look at another robot; whether the cameras moved, because its size is another one."""
        self._robot = robot
        view = view_of(robot, self._postures(), self._things)
        low, high = SAME_SIZE
        if self.view is not None and low < view.size / self.view.size < high:
            return False
        self._look(forced=True)
        return True

    def hold(self, corners: Array) -> None:
        """Take the corners, (n, 3), of a thing that is to be in the picture too."""
        if self.view is None or np.abs(corners).max(initial=0.0) > FAR * self.view.size:
            return
        both = np.vstack([self._things, corners])
        if len(self._things) and np.allclose(_box(both), self._things):
            return
        self._things = _box(both)
        self._look(forced=False)

    def fit(self, client: Any, forced: bool = False) -> None:
        """Place a browser's camera for the shape of its picture, unless a person placed it."""
        if self._robot is None or self.view is None or not _has_picture(client.camera):
            return
        browser = self._browsers.get(client.client_id)
        if browser is not None and not forced and browser.was_moved(client.camera.position):
            return
        aspect = float(client.camera.aspect)
        view = view_of(self._robot, self._postures(), self._things, aspect)
        self._browsers[client.client_id] = _Browser(aspect, view.position, 1e-3 * view.size)
        with client.atomic():
            _place(client.camera, view)

    def heard(self, client: Any) -> bool:
        """Note where a browser says its camera is; whether its picture has a shape of its own."""
        browser = self._browsers.get(client.client_id)
        if browser is None or not _has_picture(client.camera):
            return False
        browser.there |= browser.is_near(client.camera.position)
        return abs(float(client.camera.aspect) / browser.aspect - 1.0) > ROUNDED

    def forget(self, client: Any) -> None:
        """Forget a browser that went."""
        self._browsers.pop(client.client_id, None)

    def _look(self, forced: bool) -> None:
        assert self._robot is not None
        self.view = view_of(self._robot, self._postures(), self._things, ASPECT)
        _place(self._server.initial_camera, self.view)
        for client in self._server.get_clients().values():
            self.fit(client, forced)


def watch_clients(server: viser.ViserServer, cameras: Cameras, mailbox: Mailbox) -> None:
    """Place the cameras of browsers as they come and change shape; forget those that went."""

    def come(client: Any) -> None:
        async def looked(_: Any) -> None:
            if cameras.heard(client):
                mailbox.post(lambda: cameras.fit(client))

        mailbox.post(lambda: cameras.fit(client))
        client.camera.on_update(looked)

    server.on_client_connect(come)
    server.on_client_disconnect(lambda client: mailbox.post(lambda: cameras.forget(client)))


def _has_picture(camera: Any) -> bool:
    """Return whether a browser shows anything: one that is folded away has no width or height."""
    return bool(camera.image_width > 0 and camera.image_height > 0)


def _place(camera: Any, view: View) -> None:
    camera.position = view.position  # It takes look_at along: so that comes second.
    camera.look_at = view.look_at
    camera.fov, camera.near = FIELD_OF_VIEW, view.near


def _box(points: Array) -> Array:
    """Return the corners of the upright box around points, (8, 3)."""
    low, high = points.min(axis=0), points.max(axis=0)
    grid = np.meshgrid(*np.stack([low, high], axis=1), indexing="ij")
    return np.stack(grid, axis=-1).reshape(-1, 3)
