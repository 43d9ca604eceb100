# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""The arm as an object: connect, move, ask, stop."""

from __future__ import annotations

import time
from collections.abc import Mapping
from types import TracebackType
from typing import TypeVar

from arm_common.transforms import Array
from rclpy.node import Node
from sensor_msgs.msg import JointState

from arm_interfaces.action import RunTask
from arm_interfaces.srv import CheckTask
from arm_tasks.ros.client.async_arm import AsyncArm, OnProgress
from arm_tasks.ros.client.results import XYZ, ArmTimeoutError, IkAnswer, Orientation
from arm_tasks.ros.client.worker import ArmFuture, ExecutorThread

T = TypeVar("T")
FRESH = 2.0  # s without joint_states after which they are not believed
MOVE, TASK, ANSWER = 120.0, 3600.0, 15.0  # s, default time-outs


class Arm:
    """A running arm. `with Arm() as arm:` waits until it is there, and lets go of it at the end.

    Every method may be called from any thread and from any callback of any node of yours: answers
    come through a node and a thread of the arm's own. Only in callbacks that it calls itself
    (progress, done) nothing can be waited for; that is refused there at once, use later.

    A motion is planned and checked by the task server, collisions included, before it begins. One
    that cannot be done raises ArmError with the reason and leaves the arm where it is. One that
    takes longer than its time-out is cancelled, the arm holds, and ArmTimeoutError is raised.

    Args:
        node: A node of yours, whose context and namespace are used; None makes a context.
        namespace: Without such a node, the namespace of the arm.

    Attributes:
        later: The same verbs; they return a Pending at once.
    """

    def __init__(self, node: Node | None = None, namespace: str = "") -> None:
        self._spinner = ExecutorThread("arm_client", node, namespace)
        self.later = AsyncArm(self._spinner)
        self._joints: Mapping[str, float] = {}
        self._heard = -FRESH
        self._spinner.node.create_subscription(JointState, "joint_states", self._on_joints, 10)

    def __enter__(self) -> Arm:
        try:
            self.connect()
        except BaseException:
            self.close()
            raise
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def connect(self, timeout: float = 30.0) -> None:
        """Wait until driver, kinematics and task server are there.

        Raises:
            ArmTimeoutError: One of them did not come; the text says which.
        """
        self._spinner.start("connect", self._connect, timeout).result(timeout + ANSWER)

    def close(self) -> None:
        """Let go of the arm; it goes on with what it does."""
        self._spinner.close()

    @property
    def node(self) -> Node:
        """The arm's own node, which a thread of its own spins."""
        return self._spinner.node

    @property
    def joints(self) -> Mapping[str, float]:
        """Where the joints are, fingers included, by name [rad or m].

        Raises:
            ArmTimeoutError: The driver has said nothing of late.
        """
        if time.monotonic() - self._heard > FRESH:
            raise ArmTimeoutError(f"no joint_states for {FRESH:g} s; is the servo driver running?")
        return dict(self._joints)

    # -- motions ------------------------------------------------------------------------------

    def move_joints(
        self, joints: Mapping[str, float], speed: float | None = None, timeout: float = MOVE
    ) -> RunTask.Result:
        """Move some joints, the others stay.

        Args:
            joints: Positions by name [rad or m].
            speed: Share of the speed limits, above 0 to 1; 0.5 if None.
            timeout: Longest time to wait [s].

        Raises:
            ArmError: It cannot be done, or was not; the text says why.
        """
        return _wait(self.later.move_joints(joints, speed), timeout)

    def move_posture(
        self, posture: str, speed: float | None = None, timeout: float = MOVE
    ) -> RunTask.Result:
        """Move to a posture of the robot file, such as "rest"; the jaws stay as they are."""
        return _wait(self.later.move_posture(posture, speed), timeout)

    def move_pose(
        self,
        xyz: XYZ,
        rpy: XYZ | None = None,
        frame: str = "base_link",
        orientation: Orientation | None = None,
        speed: float | None = None,
        timeout: float = MOVE,
    ) -> RunTask.Result:
        """Move the tool to a place, the joints taking the shortest way.

        Args:
            xyz: Of the tool in the frame [m].
            rpy: Roll, pitch, yaw there [rad]; None is any orientation.
            frame: Of the scene, "base_link", or "tool0" for where the tool is now.
            orientation: "axis" leaves the roll about the tool's z free.
            speed: As of move_joints().
            timeout: As of move_joints().
        """
        return _wait(self.later.move_pose(xyz, rpy, frame, orientation, speed), timeout)

    def move_linear(
        self,
        xyz: XYZ,
        rpy: XYZ | None = None,
        frame: str = "base_link",
        orientation: Orientation | None = None,
        speed: float | None = None,
        timeout: float = MOVE,
    ) -> RunTask.Result:
        """Move the tool to a place along a straight line; arguments as of move_pose()."""
        return _wait(self.later.move_linear(xyz, rpy, frame, orientation, speed), timeout)

    def grip(self, width: float, timeout: float = MOVE) -> RunTask.Result:
        """Bring the jaws to a width [m]."""
        return _wait(self.later.grip(width), timeout)

    def run_task(
        self,
        task: str,
        scene: str = "",
        *,
        dry_run: bool = False,
        start_step: int = 0,
        on_progress: OnProgress | None = None,
        timeout: float = TASK,
    ) -> RunTask.Result:
        """Run a task.

        Args:
            task: Shipped name, or path of a task file.
            scene: Shipped name or path; empty is the one that the task server shows.
            dry_run: Whether to check only.
            start_step: Index of the step to begin at.
            on_progress: Called on the way, in the arm's own thread; it must not wait for the arm.
            timeout: As of move_joints().
        """
        begun = self.later.run_task(
            task, scene, dry_run=dry_run, start_step=start_step, on_progress=on_progress
        )
        return _wait(begun, timeout)

    # -- questions ----------------------------------------------------------------------------

    def check_task(self, task: str, scene: str = "", timeout: float = MOVE) -> CheckTask.Response:
        """Check a task; the answer says what is wrong and what would help."""
        return _wait(self.later.check_task(task, scene), timeout)

    def ik(
        self,
        xyz: XYZ,
        rpy: XYZ | None = None,
        frame: str = "",
        seed: Mapping[str, float] | None = None,
        timeout: float = ANSWER,
    ) -> IkAnswer:
        """Solve inverse kinematics; without a solution the answer is false and says why.

        Args:
            xyz: Where to bring the tool [m].
            rpy: Roll, pitch, yaw [rad]; None is any orientation.
            frame: Any frame of tf; empty is the base.
            seed: Joints to stay near to; the present ones if None.
            timeout: Longest time to wait [s].
        """
        return _wait(self.later.ik(xyz, rpy, frame, seed), timeout)

    def fk(
        self,
        joints: Mapping[str, float] | None = None,
        link: str = "",
        frame: str = "",
        timeout: float = ANSWER,
    ) -> Array:
        """Return frame <- link (4, 4) [m] for joints, the present ones if None."""
        return _wait(self.later.fk(joints, link, frame), timeout)

    # -- stops --------------------------------------------------------------------------------

    def stop(self, timeout: float = ANSWER) -> str:
        """Stop at once, whatever runs; nothing moves until reset()."""
        return _wait(self.later.trigger("stop"), timeout)

    def reset(self, timeout: float = ANSWER) -> str:
        """Allow motions again after stop(); nothing moves by it."""
        return _wait(self.later.trigger("reset"), timeout)

    def pause(self, timeout: float = ANSWER) -> str:
        """Pause the task that runs, on its way."""
        return _wait(self.later.trigger("pause"), timeout)

    def resume(self, timeout: float = ANSWER) -> str:
        """Go on after pause()."""
        return _wait(self.later.trigger("resume"), timeout)

    async def _connect(self, patience: float) -> None:
        def missing() -> str:
            return self.later.missing or ("" if self._joints else "joint_states")

        try:
            await self._spinner.until(lambda: not missing(), patience, "the arm")
        except ArmTimeoutError:
            what = f"waited {patience:g} s in vain for {missing() or 'the arm'}; is it running?"
            raise ArmTimeoutError(what) from None

    def _on_joints(self, message: JointState) -> None:
        if len(message.name) == len(message.position):
            self._joints = dict(zip(message.name, message.position, strict=True))
            self._heard = time.monotonic()


def _wait(pending: ArmFuture[T], timeout: float) -> T:
    """Wait for the end; what is not over by then is cancelled."""
    try:
        return pending.result(timeout)
    except (ArmTimeoutError, KeyboardInterrupt):
        pending.cancel()
        raise
