# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""The scene, the tool's path and the sidebar: one call draws one frame."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np
from arm_common.transforms import Array

from arm_viewer.browser.scene_drawer import SceneDrawer
from arm_viewer.browser.sidebar import Sidebar
from arm_viewer.errors import ViewerError
from arm_viewer.scene.marker_store import box_corners
from arm_viewer.scene.robot import VisualRobot
from arm_viewer.scene.store import SceneStore
from arm_viewer.scene.tool_trace import ToolTrace

NO_ROBOT = "Waiting for a robot: no node describes one yet."
MAX_LISTED = 4  # names in a message
NUT_WIDTH = 0.14  # [m] of what a close-up shows around tool and nut
NUT_NEAR = 0.08  # [m] from the tool, within which it belongs to the close-up
TOOL_WIDTH = 0.5  # of what a close-up shows around a tool without a nut, of the robot's size
TRACE_STEPS = 500  # steps of the tool's path as long as the robot's reach


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

    def draw(self, fixed: str, frames: Mapping[str, Array], now: float) -> bool:
        """Draw one frame at time `now` [s]; return whether anything changed.

        The pose of each frame is (4, 4), fixed <- frame; `fixed` stays in the picture.
        """
        self.store.markers.expire(now)
        self.store.set_frames(fixed, frames)
        tool = self.store.frames.get(self.tool_frame)
        self._follow_tool(tool)
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

    def _follow_tool(self, tool: Array | None) -> None:
        """Continue the path of the tool (4, 4); that of another robot ends."""
        name = "" if self.store.robot is None else self.store.robot.name
        if name != self._robot_name:
            self.trace.clear()
            self._robot_name = name
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
