# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Draws the scene with viser: all that has changed, the tool's path, and the sidebar's numbers.

The tree is flat: one node for each tf frame, with the visuals, the frame's label and locked
markers below it. A moving arm costs two small messages for each frame.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from textwrap import wrap
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from arm_common.transforms import Array, pose

from arm_viewer.browser.cameras import Cameras, Postures, round_length
from arm_viewer.browser.drawers import INK, BodyLook, FrameDrawer, MarkerDrawer, node_of
from arm_viewer.browser.sidebar import Sidebar
from arm_viewer.errors import ViewerError
from arm_viewer.scene.robot import VisualRobot
from arm_viewer.scene.shapes import Arrows, Lines, MeshFiles, PlacedShape, TextLabel, unit_colour
from arm_viewer.scene.store import (
    PIECES,
    SceneChanges,
    SceneStore,
    ToolTrace,
    TraceChanges,
    box_corners,
)

if TYPE_CHECKING:
    import viser

TRACE_COLOUR = (37, 99, 235)
EDITED = 0.5  # [s] until the frames of an edited robot are where they belong
AXIS_COLOUR = (194, 65, 12)
CAPTION_WIDTH = 36  # characters in a line; more do not fit on a phone
FADE = 5.0  # where the floor's grid ends, in sizes of the robot
START_SIZE = 0.5  # [m] the view's size before a robot is known
NO_ROBOT = "Waiting for a robot: no node describes one yet."
MAX_LISTED = 4  # names in a message
NUT_WIDTH = 0.14  # [m] of what a close-up shows around tool and nut
NUT_NEAR = 0.08  # [m] from the tool, within which it belongs to the close-up
TOOL_WIDTH = 0.5  # of what a close-up shows around a tool without a nut, of the robot's size
TRACE_STEPS = 500  # steps of the tool's path as long as the robot's reach


class Floor(NamedTuple):
    """The grid below everything [m]."""

    height: float
    cell: float  # length of the side of a square
    fade: float  # distance from the origin at which it ends


class SceneDrawer:
    """Draws into one viser server. Not thread-safe: used by one thread.

    Attributes:
        scene: viser's, for the handles of panels.
        meshes: The files of meshes.
        cameras: Those of the browsers.
        frames: The nodes of all frames.

    Args:
        server: viser's server.
        meshes: For visuals and markers that are mesh files.
        switches: `axes`, `labels` (of the frames) and `trace` -> whether they are drawn at first.
        postures: Returns the postures that the cameras are to show.
    """

    def __init__(
        self,
        server: viser.ViserServer,
        meshes: MeshFiles,
        switches: Mapping[str, bool],
        postures: Postures = dict,
    ) -> None:
        self._server, self.scene = server, server.scene
        self.meshes = meshes
        self._on = dict(switches)
        self.cameras = Cameras(server, postures)
        self.frames = FrameDrawer(
            server.scene, meshes, START_SIZE, switches["axes"], switches["labels"]
        )
        self.cameras.frames = self.frames.poses
        self._markers = MarkerDrawer(server.scene, meshes)
        self._trace: dict[int, Any] = {}
        self._caption: Any = None
        self._axis: Any = None
        self._axis_link = ""  # that it is drawn on
        self._on_top = False  # whether browsers draw frames on top of the bodies
        self._ground = 0.0
        self._add_floor()

    @property
    def size(self) -> float:
        """The length that scales frames, floor and path [m]."""
        return START_SIZE if self.cameras.view is None else self.cameras.view.size

    def apply(self, changes: SceneChanges) -> list[ViewerError]:
        """Draw all changes, which browsers show at once; return errors for what is not drawn."""
        problems: list[ViewerError] = []
        with self._server.atomic():
            for name in changes.removed:
                self.frames.remove(name)
            if changes.robot is not None:
                if self.cameras.set_robot(changes.robot):
                    self._add_floor()
                problems += self.frames.set_robot(changes.robot, self.size)
            problems += self.frames.move(changes.moved)
            for key in changes.erased:
                self._markers.erase(key)
            for key, placed in changes.drawn.items():
                problems += self._markers.draw(key, placed)
        return problems

    def include(self, corners: Array) -> None:
        """Put the floor below an object with these corners, (n, 3), and show it in full."""
        if not len(corners):
            return
        height = float(corners[:, 2].min())
        if -self.size < height < self._ground:
            self._ground = height
            self._add_floor()
        self.cameras.include(corners)

    def set_caption(self, text: str) -> None:
        """Show a line of text above the arm; empty to hide it."""
        if self._caption is None:
            self._caption = self.scene.add_label(
                "/caption", "", font_screen_scale=0.9, anchor="bottom-center"
            )
        self._caption.text = "\n".join(wrap(text, CAPTION_WIDTH))
        self._caption.visible = bool(text)
        if self.cameras.view is not None:
            self._caption.position = self.cameras.view.caption

    def apply_trace(self, changes: TraceChanges) -> None:
        """Draw the new parts of the tool's path."""
        for number in changes.dropped & self._trace.keys():
            self._trace.pop(number).remove()
        for number, points in changes.grown.items():
            pairs = np.stack([points[:-1], points[1:]], axis=1)
            if number in self._trace:
                self._trace[number].points = pairs
                continue
            self._trace[number] = self.scene.add_line_segments(
                # Reuse the names: the server keeps a record of every name it has ever seen.
                f"/trace/{number % (PIECES + 1)}",
                pairs,
                TRACE_COLOUR,
                thickness=0.004 * self.size,
                visible=self._on["trace"],
            )

    def set_look(self, look: BodyLook, opacity: float) -> list[ViewerError]:
        """Draw the bodies in a look; the opacity, 0 to 1, is that of see-through ones."""
        with self._server.atomic():
            return self.frames.set_look(look, opacity)

    def placed(self) -> Iterator[PlacedShape]:
        """Yield all that is drawn but floor and handles, posed in the fixed frame."""
        frames, floating = self.frames.poses, self._on_top
        for one in (*self.frames.placed(), *self._markers.placed(frames), *self._own()):
            yield one._replace(on_top=one.on_top and floating)

    def _own(self) -> Iterator[PlacedShape]:
        """Yield the path, the caption and the axis of the chosen joint."""
        for piece in self._trace.values():
            if piece.visible:
                lines = Lines(piece.points, None, piece.thickness)
                yield PlacedShape(lines, np.eye(4), unit_colour(TRACE_COLOUR))
        if self._caption is not None and self._caption.visible:
            place = pose(p=self._caption.position)
            yield PlacedShape(TextLabel(self._caption.text, 0.0), place, INK)
        if self._axis is not None and self._axis_link in self.frames.poses:
            axis = self._axis
            radii = 2.0 * axis.shaft_radius, 2.0 * axis.head_radius
            arrow = Arrows(axis.points, *radii, axis.head_length)
            T = self.frames.poses[self._axis_link]
            yield PlacedShape(arrow, T, unit_colour(AXIS_COLOUR), on_top=True)

    @property
    def floor(self) -> Floor:
        """The floor, just below the objects on it."""
        height = self._ground - 0.003 * self.size
        return Floor(height, round_length(self.size / 6.0), FADE * self.size)

    def set_on_top(self, on: bool) -> None:
        """Note whether browsers draw frames and centres of mass on top of the bodies."""
        self._on_top = on

    def mark_axis(self, robot: VisualRobot | None, joint: str) -> None:
        """Draw the axis of a joint, which moves with its link; "" for none."""
        if self._axis is not None:
            self._axis.remove()
            self._axis = None
        carriers = {} if robot is None else robot.carriers
        if (carrier := next((c for c in carriers.values() if c.name == joint), None)) is not None:
            axis = 0.16 * self.size * np.array(carrier.axis)
            self._axis_link = carrier.child
            self._axis = self.scene.add_arrows(
                f"{node_of(carrier.child)}/axis",
                np.array([[-axis, axis]]),
                AXIS_COLOUR,
                shaft_radius=0.006 * self.size,
                head_radius=0.016 * self.size,
                head_length=0.04 * self.size,
            )

    def switch(self, name: str, on: bool) -> None:
        """Switch `axes`, `labels` or `trace` on or off."""
        self._on[name] = on
        with self._server.atomic():
            self.frames.switch(self._on["axes"], self._on["labels"])
            for piece in self._trace.values():
                piece.visible = self._on["trace"]

    def _add_floor(self) -> None:
        floor = self.floor
        self.scene.add_grid(
            "/floor",
            position=(0.0, 0.0, floor.height),
            infinite_grid=True,
            cell_size=floor.cell,
            section_size=5.0 * floor.cell,
            cell_color=(216, 222, 230),
            section_color=(180, 190, 203),
            fade_distance=floor.fade,
            fade_from="origin",
            shadow_opacity=0.22,
        )


@dataclass
class SceneView:
    """Everything that is shown. Not thread-safe: used by one thread."""

    store: SceneStore
    drawer: SceneDrawer
    sidebar: Sidebar
    trace: ToolTrace
    tool_frame: str  # the frame whose path and position are shown
    on_robot: Callable[[VisualRobot], None]  # called when another robot was drawn
    report_problem: Callable[[ViewerError], None]  # takes an error for what cannot be drawn
    nut_frame: str = "nut"  # with the prefix of the robot's names
    working: bool = False  # whether the jaws hold the nut
    description_problem: str = ""  # why the latest robot description is invalid; empty if valid
    _robot_name: str = ""
    _traced: VisualRobot | None = None  # whose path is drawn
    _changed: float = -math.inf  # when it was edited [s]

    def draw(self, fixed: str, frames: Mapping[str, Array], now: float) -> bool:
        """Draw one frame at time `now` [s]; return whether anything changed.

        The pose of each frame is (4, 4), fixed <- frame; `fixed` stays in the picture.
        """
        self.store.markers.expire(now)
        self.store.set_frames(fixed, frames)
        tool = self.store.frames.get(self.tool_frame)
        self._follow_tool(tool, now)
        self._aim(tool, now)
        changes = self.store.take()
        for problem in self.drawer.apply(changes) if changes else ():
            self.report_problem(problem)
        self.drawer.apply_trace(self.trace.take())
        if changes.robot is not None:
            self.trace.step = changes.robot.reach / TRACE_STEPS
            self.on_robot(changes.robot)
            self.sidebar.count_robot()
        for placed in changes.drawn.values():
            self.drawer.include(box_corners(placed, self.store.frames))
        if changes.texts or changes.drawn or changes.erased or changes.robot is not None:
            text = self.store.text("task")
            self.drawer.set_caption("" if self.store.markers.shows_text(text) else text)
        for name, text in changes.texts.items():
            self.sidebar.set_status(name, text)
        return bool(changes)

    def _follow_tool(self, tool: Array | None, now: float) -> None:
        """Continue the path of the tool (4, 4); that of another robot ends, an edit breaks it."""
        name = "" if self.store.robot is None else self.store.robot.name
        if name != self._robot_name:
            self.trace.clear()
            self._robot_name = name
        elif self.store.robot is not self._traced:
            self._changed = now
        self._traced = self.store.robot
        if now < self._changed + EDITED:
            self.trace.lift()
        if tool is not None:
            self.trace.add(tool[:3, 3])

    def _aim(self, tool: Array | None, now: float) -> None:
        """Tell the cameras where the tool (4, 4) works at time `now` [s]."""
        nut, cameras = self.store.frames.get(self.nut_frame), self.drawer.cameras
        if tool is None:
            return
        point, width = tool[:3, 3], TOOL_WIDTH * self.drawer.size
        if nut is not None:
            width = NUT_WIDTH
            if np.linalg.norm(nut[:3, 3] - point) < NUT_NEAR:
                point = 0.5 * (nut[:3, 3] + point)
        cameras.set_tool(point, width, self.working, now)

    def write_numbers(self, values: Mapping[str, float]) -> None:
        """Show joint values [rad or m], the tool's position, and what is missing."""
        robot = self.store.robot
        joints = () if robot is None else robot.joints
        self.sidebar.set_joints(joints, values)
        self.sidebar.set_tool(self.tool_frame, self.store.frames.get(self.tool_frame))
        self.sidebar.set_status("problem", self.problem())

    def problem(self) -> str:
        """Return why the picture is incomplete, in one sentence; empty if it is complete."""
        if self.description_problem:
            return self.description_problem
        if self.store.robot is None:
            return NO_ROBOT
        unplaced = [link for link in self.store.robot.links if link not in self.store.frames]
        if unplaced:
            return f"Waiting for the place of {_listed(unplaced)}: where are the joints?"
        waiting = self.store.markers.waiting()
        return f"Waiting for the place of {_listed(sorted(waiting))}." if waiting else ""


def _listed(names: list[str]) -> str:
    more = f" and {len(names) - MAX_LISTED} more" if len(names) > MAX_LISTED else ""
    return ", ".join(names[:MAX_LISTED]) + more
