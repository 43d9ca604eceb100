# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Places each browser's camera until its user moves it: at the whole arm, or close to the tool.

While the jaws work on the nut, the cameras that nobody has moved come close by themselves.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from arm_common.transforms import Array

from arm_viewer.browser.callbacks import CallbackQueue
from arm_viewer.scene.robot import VisualRobot
from arm_viewer.scene.shapes import SIGNS, corners

if TYPE_CHECKING:
    import viser

FIELD_OF_VIEW = 0.6  # [rad] vertical; narrow, for little perspective distortion
# From the arm to the camera in the root frame: where the tool's direction is visible.
DIRECTION = np.array([-0.30, -0.85, 0.42])
ASPECT = 1.2  # width over height of a browser that has not connected yet, beside its panel
HANDLE = 0.28  # length of the arrows of the drag handle, of the robot's size
HANDLE_SHOWN = 0.7  # part of the arrows that is kept inside the margins, which show the rest
CAPTION_OFFSET = 0.3  # above the bounding box, as a fraction of the robot's size
SAME_SIZE = (0.8, 1.25)  # ratio of sizes within which cameras stay where they are
ASPECT_TOLERANCE = 0.01  # slow browsers draw fewer pixels, and their rounded numbers vary
FAR = 3.0  # sizes from the root; more distant objects need not be in the picture
MIN_ASPECT = 0.02  # of a picture, width over height, and its inverse
GLIDE = 0.1  # share of the way to its place that a camera moves in a frame
CALM = 0.12  # how far the tool moves in a close-up before the camera follows, of its width
LINGER = 8.0  # [s] from the end of a grip until the cameras show the whole arm again
MOST_VIEWS = 20  # aspect ratios whose view is kept
REMEMBERED = 200  # positions that a slow browser may report later

NO_OBJECTS = np.empty((0, 3))
CLOSE = "Close-up"
LOOKS = ("Whole arm", CLOSE)
Postures = Callable[[], Mapping[str, Mapping[str, float]]]


class ScreenArea(NamedTuple):
    """The part of a picture to be filled; the picture's edges are at -1 and 1, up is positive."""

    left: float
    right: float
    lower: float
    upper: float


# The margins leave room for the handle and for motions.
WIDE = ScreenArea(-0.86, 0.86, -0.84, 0.88)
HIGH = ScreenArea(-0.88, 0.88, 0.26, 0.92)  # the sidebar covers the lower 60 % of a phone's page
FULL = ScreenArea(-0.94, 0.94, -0.92, 0.92)  # of a picture without a panel or motions
PHONE = 0.7  # width over height below which a picture is a phone's; else the sidebar is beside it


@dataclass(frozen=True)
class CameraView:
    """A camera and the scale that goes with it. Metres, in the fixed frame, z up."""

    position: Array  # (3,)
    look_at: Array  # (3,), the point in the middle of the picture
    near: float  # distance of the near clipping plane
    size: float  # a length that characterises the robot and scales frames and labels
    caption: Array  # (3,), of a line of text above everything


def view_of(
    robot: VisualRobot,
    postures: Sequence[Mapping[str, Array]] = (),
    objects: Array = NO_OBJECTS,
    aspect: float = ASPECT,
    tool: str = "",
) -> CameraView:
    """Return the closest view that shows the arm in all postures, and the objects around it.

    Args:
        robot: The arm; its zero posture is always shown.
        postures: For each further posture link name -> (4, 4), root <- link.
        objects: (n, 3) corners of the objects around it.
        aspect: Width over height of the picture; the lower part of a high one is kept free.
        tool: The link whose drag handle is shown, too; empty if there is none.
    """
    points = np.vstack([robot_corners(robot, [robot.zero, *postures]), objects])
    low, high = points.min(axis=0), points.max(axis=0)
    zero = np.array([pose[:3, 3] for pose in robot.zero.values()])
    span = float(np.linalg.norm(zero.max(axis=0) - zero.min(axis=0)))
    size = max(robot.reach, span, 0.05)
    caption = np.array([*(0.5 * (low + high))[:2], high[2] + CAPTION_OFFSET * size])
    arrows = handle_tips([robot.zero, *postures], tool, HANDLE_SHOWN * HANDLE * size)
    area = WIDE if aspect >= PHONE else HIGH
    shown = np.vstack([points, arrows, caption])
    position, look_at = _closest(shown, 0.5 * (low + high), area, aspect)
    return CameraView(position, look_at, near=0.02 * size, size=size, caption=caption)


def close_view(point: Array, width: float, aspect: float = ASPECT) -> CameraView:
    """Return a view of what is within half a width [m] around a point, (3,)."""
    right, up, _ = axes_of(DIRECTION)
    around = point + 0.5 * width * np.array([right, -right, up, -up])
    area = WIDE if aspect >= PHONE else HIGH
    position, look_at = _closest(around, point, area, aspect)
    return CameraView(position, look_at, near=0.05 * width, size=width, caption=point)


def portrait(
    robot: VisualRobot,
    poses: Mapping[str, Array],
    aspect: float,
    objects: Array = NO_OBJECTS,
    area: ScreenArea = FULL,
) -> CameraView:
    """Return the view in which the arm in one posture fills the picture.

    Args:
        robot: The arm.
        poses: The posture: link name -> (4, 4), root <- link.
        aspect: Width over height of the picture.
        objects: (n, 3) corners of the objects around it.
        area: What it fills of the picture.
    """
    points = np.vstack([robot_corners(robot, [poses]), objects])
    whole, middle = view_of(robot, [poses], aspect=aspect), 0.5 * (points.min(0) + points.max(0))
    position, look_at = _closest(points, middle, area, aspect)
    return replace(whole, position=position, look_at=look_at)


def robot_corners(robot: VisualRobot, postures: Sequence[Mapping[str, Array]]) -> Array:
    """Return the corners of an arm in some postures (link name -> root <- link), (n, 3)."""
    origins = [pose[:3, 3][None] for poses in postures for pose in poses.values()]
    shapes = [
        corners(visual.shape, poses[visual.link] @ visual.pose)
        for poses in postures
        for visual in robot.visuals
        if visual.link in poses
    ]
    return np.vstack([*origins, *shapes])


def handle_tips(postures: Sequence[Mapping[str, Array]], tool: str, length: float) -> Array:
    """Return the ends of a drag handle's arrows at a link in some postures, (n, 3)."""
    poses = [poses[tool] for poses in postures if tool in poses]
    return np.reshape([pose[:3, 3] + length * pose[:3, :3].T for pose in poses], (-1, 3))


def axes_of(direction: Array) -> tuple[Array, Array, Array]:
    """Return the right, up and forward axes of a camera in a direction, each (3,)."""
    ahead = -direction / np.linalg.norm(direction)
    right = np.cross(ahead, [0.0, 0.0, 1.0])
    right /= np.linalg.norm(right)
    return right, np.cross(right, ahead), ahead


def _closest(points: Array, middle: Array, area: ScreenArea, aspect: float) -> tuple[Array, Array]:
    """Return the closest position, (3,), from which all points appear in an area of the picture.

    The second point is straight ahead of it, as far away as a middle, (3,).

    With x and z a point's coordinates along the picture's width and depth, and l and r the area's
    edges as tangents, it appears between them from (cx, cz) if
    x - r z <= cx - r cz and x - l z >= cx - l cz: the extremes over all points bound cx, and the
    two bounds meet at the largest cz.
    """
    right, up, ahead = axes_of(DIRECTION)
    x, y, z = np.array([right, up, ahead]) @ points.T
    tangent = np.tan(0.5 * FIELD_OF_VIEW)
    across = np.array([x, y])
    low = tangent * np.array([area.left * aspect, area.lower])
    high = tangent * np.array([area.right * aspect, area.upper])
    most = (across - np.outer(low, z)).min(axis=1)
    least = (across - np.outer(high, z)).max(axis=1)
    depth = ((most - least) / (high - low)).min()
    cx, cy = 0.5 * ((least + high * depth) + (most + low * depth))
    position = cx * right + cy * up + depth * ahead
    return position, position + ahead * float((middle - position) @ ahead)


def round_length(length: float) -> float:
    """Return the largest of 1, 2 or 5 times a power of ten that is not above the length [m]."""
    power = 10.0 ** np.floor(np.log10(length))
    return float(max(factor * power for factor in (1, 2, 5) if factor * power <= length * 1.001))


@dataclass
class _PlacedCamera:
    """One browser's camera: its aspect ratio, the positions it was given, and what it shows.

    The page's thread replaces `given`, which viser's event loop reads: it is not changed in place.
    A position that a browser reports may be older than the one it was given last.
    """

    aspect: float
    tolerance: float
    look: str = ""  # one of LOOKS; "" for the whole arm, but the tool while it works
    arrived: bool = False
    look_at: Array = field(default_factory=lambda: np.zeros(3))
    given: tuple[Array, ...] = ()
    present: CameraView | None = None  # of what was shown when its user asked for the whole arm

    def remember(self, *positions: Array) -> None:
        """Add positions, (3,), that it was given; the oldest are forgotten."""
        self.given = (*self.given, *positions)[-REMEMBERED:]

    def was_at(self, position: Array) -> bool:
        """Return whether a position, (3,), is one that it was given."""
        return any(self.are_equal(position, given) for given in self.given)

    def are_equal(self, one: Array, other: Array) -> bool:
        """Return whether two positions, (3,), are the same."""
        return bool(np.abs(one - other).max() <= self.tolerance)

    def is_late(self, position: Array, first: Array) -> bool:
        """Return whether its browser took the first position of all after the one it was given."""
        return self.are_equal(position, first) and not self.are_equal(position, self.given[-1])

    def is_moved(self, position: Array) -> bool:
        """Return whether its user has moved it, from the position that its browser reports."""
        return self.arrived and not self.was_at(position)


class Cameras:
    """The cameras of present and future browsers. Not thread-safe, except for `update`.

    `postures` returns those to be shown, name -> joint name -> position [rad or m].
    """

    def __init__(self, server: viser.ViserServer, postures: Postures) -> None:
        self._server, self._postures = server, postures
        self._robot: VisualRobot | None = None
        # postures that the views were made for, and of each link name -> (4, 4), root <- link
        self._shown: Mapping[str, Mapping[str, float]] = {}
        self._poses: Sequence[Mapping[str, Array]] = ()
        self._objects: Array = NO_OBJECTS
        self._cameras: dict[int, _PlacedCamera] = {}
        self._views: dict[float, CameraView] = {}  # of the whole arm, by aspect ratio
        self._close: tuple[Array, float] | None = None  # point and width of the close-up [m]
        self._worked, self._is_close = -math.inf, False  # when the jaws last held the nut [s]
        self.view: CameraView | None = None
        self.tool = ""  # the link whose drag handle is to be in the picture; "" for none
        # joint positions of a posture to fill the picture, instead of all [rad or m]
        self.portrayed: Mapping[str, float] = {}
        # where the frames are now: name -> (4, 4), fixed <- frame
        self.frames: Mapping[str, Array] = {}

    def set_robot(self, robot: VisualRobot) -> bool:
        """Show another robot; return whether the cameras moved, because its size differs."""
        self._robot = robot
        self._forget_views(robot)
        low, high = SAME_SIZE
        size = view_of(robot, self._poses, self._objects).size
        if self.view is not None and low < size / self.view.size < high:
            for client in self._server.get_clients().values():
                self.fit(client)  # an edited arm stays in the picture
            return False
        self._place_all(forced=True)
        return True

    def include(self, corners: Array) -> None:
        """Show an object with these corners, (n, 3), too."""
        if self.view is None or np.abs(corners).max(initial=0.0) > FAR * self.view.size:
            return
        both = np.vstack([self._objects, corners])
        if len(self._objects) and np.allclose(_bounding_box(both), self._objects):
            return
        self._objects = _bounding_box(both)
        self._place_all(forced=False)

    def fit(self, client: Any, forced: bool = False) -> None:
        """Place a browser's camera for its picture's aspect ratio, unless the user moved it."""
        if self._robot is None or self.view is None or not _has_picture(client.camera):
            return
        placed = None if forced else self._cameras.get(client.client_id)
        if placed and placed.is_moved(client.camera.position):
            return
        aspect = float(client.camera.aspect)
        look = placed.look if placed else ""
        former = self._cameras.get(client.client_id)
        placed = _PlacedCamera(aspect, 1e-3 * self.view.size, look)
        placed.present = self._present(aspect) if look == LOOKS[0] else None
        # Its browser may still report where it was before, at first where all browsers begin.
        placed.remember(*((self.view.position,) if former is None else former.given))
        self._cameras[client.client_id] = placed
        _give(client, placed, self._wanted(placed))

    def look(self, client: Any, choice: str) -> None:
        """Show one of LOOKS in a browser, as its user wants, wherever the camera was moved."""
        if (placed := self._cameras.get(client.client_id)) is not None:
            placed.look = choice
            placed.present = self._present(placed.aspect) if choice == LOOKS[0] else None
            placed.arrived = False
            placed.remember(np.array(client.camera.position))
            placed.look_at = np.array(client.camera.look_at)

    def set_tool(self, point: Array | None, width: float, working: bool, now: float) -> None:
        """Set the place, (3,) in the fixed frame, and the width of the close-up [m].

        Args:
            point: None if the tool's place is unknown.
            width: What is visible around it [m].
            working: Whether the jaws hold the nut, at the time `now` [s].
            now: The time [s].
        """
        if point is not None:
            held = point if self._close is None else self._close[0]
            calm = CALM * width
            self._close = np.clip(held, point - calm, point + calm), width
        if working:
            self._worked = now
        self._is_close = self._close is not None and 0.0 <= now - self._worked < LINGER

    def glide(self) -> bool:
        """Move each camera nearer to its place; return whether one has not arrived there."""
        moving = False
        if self._robot is not None and self._postures() != self._shown:
            self._forget_views(self._robot)  # a file's postures may come later than its robot
        for client in self._server.get_clients().values():
            placed = self._cameras.get(client.client_id)
            if placed is None or not _has_picture(client.camera):
                continue
            if placed.is_moved(client.camera.position):
                continue
            wanted, position = self._wanted(placed), placed.given[-1]
            if np.abs(wanted.position - position).max() <= placed.tolerance:
                continue
            moving = True
            position = position + GLIDE * (wanted.position - position)
            look_at = placed.look_at + GLIDE * (wanted.look_at - placed.look_at)
            _give(client, placed, replace(wanted, position=position, look_at=look_at))
        return moving

    def _wanted(self, placed: _PlacedCamera) -> CameraView:
        """Return the view that a camera is to have in the end."""
        close = placed.look == CLOSE or (not placed.look and self._is_close)
        if close and self._close is not None:
            return close_view(*self._close, placed.aspect)
        return placed.present or self._robot_view(placed.aspect)

    def _present(self, aspect: float) -> CameraView | None:
        """Return the view of the arm as it stands now; None if that is unknown."""
        links = () if self._robot is None else self._robot.links
        here = {link: self.frames[link] for link in links if link in self.frames}
        if self._robot is None or not here:
            return None
        area = WIDE if aspect >= PHONE else HIGH
        return portrait(self._robot, here, aspect, self._objects, area)

    def _robot_view(self, aspect: float) -> CameraView:
        """Return the view of the whole arm, computed once for each aspect ratio."""
        assert self._robot is not None
        if aspect not in self._views:
            if len(self._views) >= MOST_VIEWS:
                self._views.clear()
            self._views[aspect] = (
                portrait(self._robot, self._robot.poses_at(self.portrayed), aspect)
                if self.portrayed
                else view_of(self._robot, self._poses, self._objects, aspect, self.tool)
            )
        return self._views[aspect]

    def _forget_views(self, robot: VisualRobot) -> None:
        """Compute the views anew when they are needed."""
        self._shown = self._postures()
        self._poses = tuple(map(robot.poses_at, self._shown.values()))
        self._views.clear()

    def update(self, client: Any) -> bool:
        """Process a camera that a browser reports; return whether it must be fitted."""
        placed = self._cameras.get(client.client_id)
        if placed is None or not _has_picture(client.camera):
            return False
        position = client.camera.position
        placed.arrived |= placed.was_at(position)
        if self.view is not None and placed.is_late(position, self.view.position):
            return True
        return abs(float(client.camera.aspect) / placed.aspect - 1.0) > ASPECT_TOLERANCE

    def remove(self, client: Any) -> None:
        """Remove a browser that disconnected."""
        self._cameras.pop(client.client_id, None)

    def _place_all(self, forced: bool) -> None:
        assert self._robot is not None
        self._forget_views(self._robot)
        self.view = view_of(self._robot, self._poses, self._objects, tool=self.tool)
        _place(self._server.initial_camera, self.view)
        for client in self._server.get_clients().values():
            self.fit(client, forced)


def watch_clients(server: viser.ViserServer, cameras: Cameras, queue: CallbackQueue) -> None:
    """Place the camera of each browser that connects, changes its aspect ratio or is late.

    The callbacks are coroutines: viser runs them in the order of events. For other functions it
    starts threads, up to 32.
    """

    async def on_connect(client: Any) -> None:
        async def on_update(_: Any) -> None:
            if cameras.update(client):
                queue.post(lambda: cameras.fit(client))

        queue.post(lambda: cameras.fit(client))
        client.camera.on_update(on_update)

    async def on_disconnect(client: Any) -> None:
        queue.post(lambda: cameras.remove(client))

    server.on_client_connect(on_connect)
    server.on_client_disconnect(on_disconnect)


def _has_picture(camera: Any) -> bool:
    """Return True if a browser, which may send any numbers, shows a picture: is not minimised."""
    if not (camera.image_width > 0 and camera.image_height > 0):
        return False
    numbers = (*camera.position, *camera.look_at, camera.aspect)
    return bool(np.isfinite(numbers).all() and MIN_ASPECT <= camera.aspect <= 1.0 / MIN_ASPECT)


def _give(client: Any, placed: _PlacedCamera, view: CameraView) -> None:
    """Place a browser's camera, and note where."""
    placed.remember(view.position)
    placed.look_at = view.look_at
    with client.atomic():
        _place(client.camera, view)


def _place(camera: Any, view: CameraView) -> None:
    camera.position = view.position  # moves look_at, too, which is therefore set second
    camera.look_at = view.look_at
    camera.fov, camera.near = FIELD_OF_VIEW, view.near


def _bounding_box(points: Array) -> Array:
    """Return the corners of the axis-aligned box around points, (8, 3)."""
    return np.asarray(np.where(SIGNS < 0.0, points.min(axis=0), points.max(axis=0)))
