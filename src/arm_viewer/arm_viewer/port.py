# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
# Tests: src/arm_viewer/test/ros/test_port.py
"""The port between a page and an arm: what the page receives from it, and how it commands it.

An implementation is either a node in a ROS graph (`arm_viewer.ros.node`) or a model in the same
process (`arm_viewer.local_arm`). All calls, in both directions, are made in one thread.
"""

from __future__ import annotations

import enum
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol, TypeAlias

from arm_common.transforms import Array
from arm_description.model.units import SHOWN, with_degree_sign
from arm_description.robot_model import RobotModel

from arm_viewer.browser.callbacks import PageGui
from arm_viewer.scene.robot import PostureBook, VisualRobot
from arm_viewer.scene.store import SceneStore

IK_MODES = ("Pose", "Position", "Position and axis")  # in the order of the constants of SolveIK


@dataclass(frozen=True)
class IkRequest:
    """The requirements on a solution for a target pose."""

    mode: str = "Pose"  # one of IK_MODES
    position_tolerance: float = 0.0  # largest accepted error [m]; 0 for the solver's own
    orientation_tolerance: float = 0.0  # largest accepted error [rad]; 0 for the solver's own
    max_solutions: int = 1


@dataclass(frozen=True)
class Solution:
    """One solution: joint name -> value [rad or m], and its errors [m], [rad]."""

    joints: Mapping[str, float]
    position_error: float
    orientation_error: float


@dataclass(frozen=True)
class IkResponse:
    """The response to a request."""

    ok: bool  # whether the target is met
    message: str  # one sentence for people
    solutions: tuple[Solution, ...] = ()  # nearest first; of a target not met the best, or none

    @property
    def residual(self) -> str:
        """The error of the first solution, for people to read; empty if there is none."""
        if not self.solutions:
            return ""
        first = self.solutions[0]
        off = SHOWN.fixed(first.position_error, "prismatic", 3)
        turned = SHOWN.fixed(first.orientation_error, "revolute", 3)
        return f"residual {off}, {with_degree_sign(turned)}"

    @property
    def problem(self) -> str:
        """Why the target is not met, and by how much."""
        return " ".join(text for text in (self.message, self.residual) if text)


ResponseCallback: TypeAlias = Callable[[IkResponse], None]


class Where(enum.Flag):
    """The kinds of pages."""

    ALONE = enum.auto()  # `./arm view`: the page moves the joints itself
    RUNNING = enum.auto()  # beside an arm with a driver
    WATCHING = enum.auto()  # a page that moves nothing, such as that of a recording
    MOVING = ALONE | RUNNING
    EVERYWHERE = ALONE | RUNNING | WATCHING


class PageTimer(Protocol):
    """A timer; that of rclpy is one."""

    def cancel(self) -> None:
        """Stop calling."""

    def reset(self) -> None:
        """Call again, a full period from now."""

    def is_canceled(self) -> bool:
        """Return whether it has been stopped."""


class PageLogger(Protocol):
    """A log; those of rclpy and of the module logging are some."""

    def warning(self, text: str, /) -> Any:
        """Log a warning."""

    def error(self, text: str, /) -> Any:
        """Log an error."""


class ShownPage(Protocol):
    """The page, as its port sees it."""

    gui: PageGui  # for panels of the port
    store: SceneStore  # what is drawn; its texts are shown, too
    postures: PostureBook  # of the robot's file

    @property
    def stopped(self) -> bool:
        """Whether nothing may move until a reset."""

    def show_robot(self, urdf: str) -> None:
        """Show another robot, unless its description is invalid, which is reported."""

    def show_markers(self, topic: str, markers: Sequence[Any]) -> None:
        """Show markers with the fields of visualization_msgs/Marker."""

    def show_text(self, key: str, text: str) -> None:
        """Show a sentence in its line of the page, which is removed by ""."""

    def joints_moved(self) -> None:
        """Show the joint positions soon, which have changed."""

    def frames_moved(self) -> None:
        """Show the frames soon, some of which have moved."""

    def robot_file_changed(self) -> str:
        """Take the saved robot file; return why that is refused, or ""."""

    def scene_file_changed(self) -> None:
        """Take the saved scene file."""

    def work_on_nut(self, holding: bool) -> None:
        """Note whether the jaws hold the nut, which is then shown from near."""

    def offer_reset(self) -> None:
        """Show the button that allows motion again."""


class PagePort(Protocol):
    """An arm that a page shows; with `where` in MOVING, also one that it moves."""

    where: Where
    logger: PageLogger

    def now(self) -> float:
        """Return the time of the frames and markers [s]."""

    def every(self, period: float, action: Callable[[], None], /) -> PageTimer:
        """Return a timer that calls an action once in a period of wall time [s]."""

    def waker(self, action: Callable[[], None], /) -> Callable[[], None]:
        """Return what any thread may call, so that the action runs soon in the page's thread."""

    def open(self, page: ShownPage, /) -> None:
        """Begin to tell the page what there is; add the panels that belong to the port."""

    def frames(self, fixed: str, /) -> Mapping[str, Array]:
        """Return the pose (4, 4) of each frame in a fixed one."""

    def positions(self) -> Mapping[str, float]:
        """Return the newest position of each joint, by name [rad or m]."""

    def set_robot(self, robot: VisualRobot, tool: str, /) -> None:
        """Move the joints of a robot that was drawn, whose tool is a link."""

    def move(self, joints: Mapping[str, float], /) -> str:
        """Move joints, by name [rad or m], within limits; return why they cannot move, or "".

        Raises:
            ViewerError: A position is not finite.
        """

    def solve(
        self, frame: str, pose: Array, request: IkRequest, on_response: ResponseCallback, /
    ) -> bool:
        """Find joint positions for a pose (4, 4) of the tool in a frame.

        The response is passed on later. Return False if there is no solver.
        """

    def stop(self) -> None:
        """Stop the arm and the task that it carries out, until a reset."""

    def reset(self) -> None:
        """Allow motion again."""

    def limited(self, model: RobotModel, /) -> RobotModel:
        """Return a robot with the limits of its driver where those are narrower."""

    def describe(self, model: RobotModel, /) -> None:
        """Show a robot that is edited, here and wherever the arm is shown."""

    def begin(self, positions: Mapping[str, float], /) -> None:
        """Set the initial joint positions of the next robot, by name [rad or m]."""

    def watch(self, path: Path, /) -> None:
        """Follow another robot file."""

    def send_scene(self, text: str, /) -> None:
        """Show the text of a scene file, which need not be saved."""
