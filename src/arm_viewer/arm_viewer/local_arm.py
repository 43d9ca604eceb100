# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""The page of an arm that is a model in the same process, without ROS: its port and its loop."""

from __future__ import annotations

import asyncio
import logging
import signal
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from arm_common.errors import InputError
from arm_common.files.watching import PERIOD, FileWatch
from arm_common.transforms import Array, inverse
from arm_description.errors import DescriptionError
from arm_description.library import robot_path
from arm_description.robot_file.reader import parse_robot
from arm_description.robot_file.sections.attachments import attached_files
from arm_description.robot_model import RobotModel
from arm_kinematics.ik.options import MODES

from arm_kinematics import Chain, IkStatus, KinematicsError
from arm_viewer.errors import ViewerError
from arm_viewer.page.arm_page import ArmPage, PageSettings
from arm_viewer.port import (
    IkRequest,
    IkResponse,
    PageLogger,
    PageTimer,
    ResponseCallback,
    ShownPage,
    Solution,
    Where,
)
from arm_viewer.scene.robot import JointSliders, VisualRobot

Action = Callable[[], None]
IK_TIMEOUT = 1.0  # [s], as of the kinematics node


class LoopTimer:
    """Calls an action once in a period [s]; made and used in the loop's thread."""

    def __init__(self, loop: asyncio.AbstractEventLoop, period: float, action: Action) -> None:
        self._loop, self._period, self._action = loop, period, action
        self._next: asyncio.TimerHandle | None = None
        self.reset()

    def cancel(self) -> None:
        """Stop calling."""
        if self._next is not None:
            self._next.cancel()
            self._next = None

    def reset(self) -> None:
        """Call again, a full period from now."""
        self.cancel()
        self._next = self._loop.call_later(self._period, self._tick)

    def is_canceled(self) -> bool:
        """Return whether it has been stopped."""
        return self._next is None

    def _tick(self) -> None:
        self.reset()
        self._action()


class LocalArm:
    """A robot file whose joints the page moves itself; everything runs in the thread of `run`.

    Args:
        robot: a shipped name, or the path of a robot file.
        prefix: of its joints and frames.
    """

    where = Where.ALONE

    def __init__(self, robot: str, prefix: str = "") -> None:
        self._loop, self._prefix = asyncio.new_event_loop(), prefix
        self.logger: PageLogger = logging.getLogger("arm_viewer")
        self._robot: VisualRobot | None = None
        self._sliders = JointSliders(())
        self._chain: Chain | None = None
        self._start: Mapping[str, float] | None = None  # start of the next robot [rad or m]
        self._solver = ThreadPoolExecutor(1, "inverse kinematics")
        self.watch(robot_path(robot))

    def now(self) -> float:
        """Return the time [s]."""
        return time.monotonic()

    def every(self, period: float, action: Callable[[], None]) -> PageTimer:
        """Return a timer that calls an action once in a period [s]."""
        return LoopTimer(self._loop, period, action)

    def waker(self, action: Callable[[], None]) -> Callable[[], None]:
        """Return what any thread may call, so that the action runs soon in the page's thread."""
        return partial(self._post, action)

    def _post(self, action: Action) -> None:
        """Run an action soon; any thread may call this, also after `close`."""
        if not self._loop.is_closed():
            self._loop.call_soon_threadsafe(action)

    def run(self) -> None:
        """Run the page until `end`; an action may fail."""
        self._loop.run_forever()

    def end(self) -> None:
        """End `run`; any thread may call this."""
        self._post(self._loop.stop)

    def open(self, page: ShownPage) -> None:
        """Describe the robot of the page's file, and follow that file."""
        self._page = page
        if page.postures.model is not None:
            self.describe(page.postures.model)
        self.every(PERIOD, self._poll_file)

    def close(self) -> None:
        """End the solver's thread, and drop everything that is left to do."""
        self._solver.shutdown(wait=False, cancel_futures=True)
        self._loop.close()

    def frames(self, fixed: str) -> Mapping[str, Array]:
        """Return the pose (4, 4) of each link in a fixed one."""
        if self._robot is None:
            return {}
        poses = self._robot.poses_at(self._sliders.values())
        if fixed == self._robot.root or fixed not in poses:
            return poses
        to_fixed = inverse(poses[fixed])
        return {link: np.asarray(to_fixed @ pose) for link, pose in poses.items()}

    def positions(self) -> Mapping[str, float]:
        """Return the position of each joint, by name [rad or m]."""
        return self._sliders.values()

    def set_robot(self, robot: VisualRobot, tool: str) -> None:
        """Move another robot's joints; unless it begins, joints of the same name keep values."""
        former = {**self._page.postures.home, **self._sliders.values()}
        start = former if self._start is None else self._start
        self._sliders = JointSliders(robot.joints, start, robot.constraints)
        self._robot, self._chain, self._start = robot, None, None
        try:
            self._chain = Chain.from_urdf(self._urdf, robot.root, tool)
        except KinematicsError as error:
            self.logger.warning(str(error))
        self._page.joints_moved()

    def move(self, joints: Mapping[str, float]) -> str:
        """Move joints, by name [rad or m], within limits.

        Return the limit at which they stop because it depends on other joints, or "".

        Raises:
            ViewerError: A position is not finite.
        """
        problem = self._sliders.apply(joints)
        self._page.joints_moved()
        return problem

    def solve(
        self, frame: str, pose: Array, request: IkRequest, on_response: ResponseCallback
    ) -> bool:
        """Solve in another thread; return False without a chain from the root to the tool."""
        chain, robot = self._chain, self._robot
        if chain is None or robot is None or frame not in robot.links:
            return False
        target = self.frames(robot.root)[frame] @ pose
        seed = [self._sliders.values()[name] for name in chain.joint_names]
        future = self._solver.submit(_solution, chain, target, seed, request)
        future.add_done_callback(lambda done: self._post(lambda: on_response(done.result())))
        return True

    def stop(self) -> None:
        """Do nothing: only the page moves this arm, and it has stopped."""

    def reset(self) -> None:
        """Do nothing, as `stop`."""

    def limited(self, model: RobotModel) -> RobotModel:
        """Return the same robot, as there is no driver."""
        return model

    def describe(self, model: RobotModel) -> None:
        """Show a robot that is edited."""
        self._urdf = model.to_urdf(self._prefix, dh_frames=True)
        self._page.show_robot(self._urdf)

    def begin(self, positions: Mapping[str, float]) -> None:
        """Set the initial joint positions of the next robot, by name [rad or m]."""
        self._start = positions

    def watch(self, path: Path) -> None:
        """Follow another robot file."""
        self._path = path
        self._watch = FileWatch(path, partial(attached_files, folder=path.parent))
        self._is_shown = False  # whether the content that is read first has been skipped

    def _poll_file(self) -> None:
        """Take the robot file when another program has saved it."""
        problem = ""
        try:
            if (content := self._watch.poll()) is None:
                return
            is_first, self._is_shown = not self._is_shown, True
            if is_first:
                return
            model = parse_robot(content, str(self._path))
            if not (problem := self._page.robot_file_changed()):
                self.describe(model)
        except (DescriptionError, OSError) as error:
            problem = str(error)
        self._page.show_text("file", problem)

    def send_scene(self, text: str) -> None:
        """Do nothing: scenes are shown by a node."""


def _solution(chain: Chain, target: Array, seed: Any, request: IkRequest) -> IkResponse:
    """Return the response to a request for a pose (4, 4) of the tool in the robot's root."""
    modes = {mode.title: mode.name for mode in MODES.values()}
    try:
        result = chain.ik(
            target,
            seed,
            modes[request.mode],
            max_solutions=request.max_solutions,
            position_tolerance=request.position_tolerance or 1e-5,
            orientation_tolerance=request.orientation_tolerance or 1e-4,
            timeout=IK_TIMEOUT,
        )
    except KinematicsError as error:
        return IkResponse(False, str(error))
    solutions = tuple(
        Solution(
            dict(zip(chain.joint_names, found.q.tolist(), strict=True)),
            found.position_error,
            found.orientation_error,
        )
        for found in result.solutions
    )
    return IkResponse(result.status is IkStatus.SUCCESS, result.message, solutions)


@contextmanager
def local_page(settings: PageSettings) -> Iterator[tuple[ArmPage, LocalArm]]:
    """Open the page of a robot file; it lives while its arm runs.

    Raises:
        InputError: There is no such robot, or its file is invalid.
        ViewerError: The server cannot be opened.
    """
    arm = LocalArm(settings.robot, settings.prefix)
    page = ArmPage(settings, arm)
    try:
        page.open()
        yield page, arm
    finally:
        page.close()
        arm.close()


def main(robot: str, host: str = "127.0.0.1", port: int = 8080) -> int:
    """Show a robot until a signal; return the exit code: 1 if it cannot be shown.

    Args:
        robot: a shipped name, or the path of a robot file.
        host: address to serve at.
        port: first TCP port to try; 0 for any.
    """
    try:
        with local_page(PageSettings(host=host, port=port, robot=robot)) as (page, arm):
            for number in (signal.SIGINT, signal.SIGTERM):
                signal.signal(number, lambda *_: arm.end())
            page.announce()
            arm.run()
    except (InputError, ViewerError) as error:
        sys.stderr.write(f"{error}\n")
        return 1
    return 0
