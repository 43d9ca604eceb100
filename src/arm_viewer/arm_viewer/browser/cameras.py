# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Where each browser's camera stands, until a person turns it.

Where the camera stands to see arm and scene, and how large floor, frames and labels are.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from arm_viewer.browser.server import CallbackQueue
from arm_viewer.scene.robot import VisualRobot
from arm_viewer.scene.shapes import Array, corners

if TYPE_CHECKING:
    import viser

FIELD_OF_VIEW = 0.6  # Vertical, rad: narrow enough that parallel edges look parallel.
# From the arm to the camera, root frame: from the side and a little behind, to see what the tool
# is turned to.
DIRECTION = np.array([-0.30, -0.85, 0.42])
ASPECT = 1.2  # Width over height of a page not known yet, beside its panel.
CAPTION = 0.3  # Of the size: how far above all the caption stands; below it is the handle's room.


@dataclass(frozen=True)
class ScreenArea:
    """The part of a picture that is to be filled; its edges are at -1 and 1, up is positive."""

    left: float
    right: float
    lower: float
    upper: float


# What is left is for the handle, and for motions to somewhere else.
WIDE = ScreenArea(-0.74, 0.74, -0.78, 0.82)
HIGH = ScreenArea(-0.80, 0.80, 0.28, 0.90)  # A narrow page's panel covers the lower 60 %.


@dataclass(frozen=True)
class CameraView:
    """A camera and the scale that goes with it. Metres, in the fixed frame, z up.

    Attributes:
        position: (3,), where the camera stands.
        look_at: (3,), the point in the middle of the picture.
        near: Distance of the near clipping plane.
        size: A length that characterises the robot; frames and labels are sized by it.
        caption: (3,), where a line of text stands over all.
    """

    position: Array
    look_at: Array
    near: float
    size: float
    caption: Array


def view_of(
    robot: VisualRobot,
    postures: Sequence[Mapping[str, Array]] = (),
    things: Array | None = None,
    aspect: float = ASPECT,
) -> CameraView:
    """Return the nearest view that holds the arm in all its postures, and the things around it.

    Args:
        robot: The arm; its zero posture is always held.
        postures: Of each further posture link name -> (4, 4), root <- link.
        things: (n, 3) corners of what stands around it.
        aspect: Width over height of the picture; the lower part of a high one is left free.
    """
    points = np.vstack([robot_corners(robot, [robot.zero, *postures]), *_given(things)])
    low, high = points.min(axis=0), points.max(axis=0)
    zero = np.array([pose[:3, 3] for pose in robot.zero.values()])
    span = float(np.linalg.norm(zero.max(axis=0) - zero.min(axis=0)))
    size = max(robot.reach, span, 0.05)
    caption = np.array([*(0.5 * (low + high))[:2], high[2] + CAPTION * size])
    position = _stand(np.vstack([points, caption]), WIDE if aspect >= 1.0 else HIGH, aspect)
    ahead = -DIRECTION / np.linalg.norm(DIRECTION)
    look_at = position + ahead * float((0.5 * (low + high) - position) @ ahead)
    return CameraView(position, look_at, near=0.02 * size, size=size, caption=caption)


def robot_corners(robot: VisualRobot, postures: Sequence[Mapping[str, Array]]) -> Array:
    """Return corners around an arm in some postures (link name -> root <- link), (n, 3)."""
    places = [pose[:3, 3][None] for poses in postures for pose in poses.values()]
    shapes = [
        corners(visual.shape, poses[visual.link] @ visual.pose)
        for poses in postures
        for visual in robot.visuals
        if visual.link in poses
    ]
    return np.vstack([*places, *shapes])


def axes_of(direction: Array) -> tuple[Array, Array, Array]:
    """Return what is right, up and ahead for a camera that stands in a direction, each (3,)."""
    ahead = -direction / np.linalg.norm(direction)
    right = np.cross(ahead, [0.0, 0.0, 1.0])
    right /= np.linalg.norm(right)
    return right, np.cross(right, ahead), ahead


def _stand(points: Array, part: ScreenArea, aspect: float) -> Array:
    """Return the nearest place, (3,), from which all points are seen in a part of the picture.

    With x and z a point's coordinates along the picture's width and depth, l and r the part's
    edges as tangents, it is seen between them from (cx, cz) if
    x - r z <= cx - r cz and x - l z >= cx - l cz: the extremes over all points bound cx, and the
    two bounds meet at the largest cz.
    """
    right, up, ahead = axes_of(DIRECTION)
    x, y, z = np.array([right, up, ahead]) @ points.T
    tangent = np.tan(0.5 * FIELD_OF_VIEW)
    bounds = []
    for across, low, high in (
        (x, part.left * tangent * aspect, part.right * tangent * aspect),
        (y, part.lower * tangent, part.upper * tangent),
    ):
        bounds.append(
            (low, high, float(np.min(across - low * z)), float(np.max(across - high * z)))
        )
    depth = min((most - least) / (high - low) for low, high, most, least in bounds)
    cx, cy = (
        0.5 * ((least + high * depth) + (most + low * depth)) for low, high, most, least in bounds
    )
    place: Array = cx * right + cy * up + depth * ahead
    return place


def _given(things: Array | None) -> tuple[Array, ...]:
    return () if things is None else (things,)


def round_length(length: float) -> float:
    """Return the largest of 1, 2 or 5 times a power of ten that is not above the length [m]."""
    power = 10.0 ** np.floor(np.log10(length))
    return float(max(factor * power for factor in (1, 2, 5) if factor * power <= length * 1.001))


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
        self._robot: VisualRobot | None = None
        self._things: Array = np.empty((0, 3))
        self._browsers: dict[int, _Browser] = {}
        self.view: CameraView | None = None

    def set_robot(self, robot: VisualRobot) -> bool:
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


def watch_clients(server: viser.ViserServer, cameras: Cameras, mailbox: CallbackQueue) -> None:
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


def _place(camera: Any, view: CameraView) -> None:
    camera.position = view.position  # It takes look_at along: so that comes second.
    camera.look_at = view.look_at
    camera.fov, camera.near = FIELD_OF_VIEW, view.near


def _box(points: Array) -> Array:
    """Return the corners of the upright box around points, (8, 3)."""
    low, high = points.min(axis=0), points.max(axis=0)
    grid = np.meshgrid(*np.stack([low, high], axis=1), indexing="ij")
    return np.stack(grid, axis=-1).reshape(-1, 3)
