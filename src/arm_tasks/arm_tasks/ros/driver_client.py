# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""The engine's port to the servo driver's actions.

What the servo driver says, kept for those who ask: joint positions, gripper width, status.

Whether the arm can be moved, and how long it is worth while to wait until it can.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any
from uuid import uuid4

from action_msgs.msg import GoalStatus
from arm_common.ros.executor import PolledSubscriptions
from arm_common.ros.qos import GOAL, LATCHED
from control_msgs.action import FollowJointTrajectory, GripperCommand
from rclpy.action import ActionClient
from rclpy.action.client import ClientGoalHandle
from rclpy.node import Node
from sensor_msgs.msg import JointState
from unique_identifier_msgs.msg import UUID

from arm_description import RobotModel
from arm_interfaces.msg import HardwareStatus
from arm_tasks.execution.ports import Move, MoveState, MoveStatus
from arm_tasks.planning.plan import PlannedTrajectory
from arm_tasks.ros.messages import trajectory_message
from arm_tasks.task.request import ArmConfiguration

SILENCE = 5.0  # s on the wall without joint_states after which the driver is taken for lost
DEPTH = 50  # of joint_states, of which a recording wants each
READY_STATES = (HardwareStatus.ARMED, HardwareStatus.MOVING)


class ArmState:
    """The latest joint_states and arm_hardware/status.

    Args:
        node: The node that listens.
        model: The robot, for the names of its joints and fingers.
        waiting: Where joint_states are to wait until hear() is called; None: they do not wait.

    Attributes:
        on_joints: Is given each joint_states too, or None.
    """

    def __init__(
        self, node: Node, model: RobotModel, waiting: PolledSubscriptions | None = None
    ) -> None:
        self._model = model
        self._waiting = waiting
        self._positions: Mapping[str, float] = {}
        self._heard = 0.0
        self._status: HardwareStatus | None = None
        self.on_joints: Callable[[JointState], None] | None = None
        listen = partial(waiting.subscribe, node) if waiting else node.create_subscription
        listen(JointState, "joint_states", self._on_joints, DEPTH)
        node.create_subscription(HardwareStatus, "arm_hardware/status", self._on_status, LATCHED)

    def hear(self) -> None:
        """Take in what waits; by the thread that spins the node."""
        if self._waiting is not None:
            self._waiting.take()

    def _on_joints(self, message: JointState) -> None:
        if len(message.name) == len(message.position):
            self._positions = dict(zip(message.name, message.position, strict=True))
            self._heard = time.monotonic()
        if self.on_joints is not None:
            self.on_joints(message)

    def _on_status(self, message: HardwareStatus) -> None:
        self._status = message

    @property
    def positions(self) -> Mapping[str, float]:
        """Joint positions by name [rad or m]; empty before the first message."""
        return self._positions

    @property
    def complete(self) -> bool:
        """Whether both joint_states and arm_hardware/status were ever heard."""
        return bool(self._heard) and self._status is not None

    @property
    def width(self) -> float:
        """Width of the gripper [m]; 0 if the robot has none."""
        fingers = self._model.gripper.joints if self._model.gripper else ()
        return sum(self._positions.get(finger, 0.0) for finger in fingers)

    @property
    def moving(self) -> bool:
        """Whether the driver says that it moves."""
        return self._status is not None and self._status.state == HardwareStatus.MOVING

    @property
    def driver_says(self) -> str:
        """The driver's own sentence about its state."""
        return str(self._status.message) if self._status else ""

    @property
    def silence(self) -> float:
        """Seconds on the wall since the last joint_states."""
        return time.monotonic() - self._heard

    def lost(self) -> str:
        """Return why the driver must be taken for lost, or "" while it is heard."""
        silent = self.silence
        if silent < SILENCE:
            return ""
        return f"the servo driver is gone: no joint_states for {silent:.1f} s"

    def not_ready(self) -> str:
        """Return why no motion can begin, or "" if it can."""
        missing = [name for name in self._model.joint_names if name not in self._positions]
        if not self._heard:
            return "no joint_states yet; is the servo driver running?"
        if self.lost():
            return self.lost()
        if missing:
            return f"joint_states has no {', '.join(missing)}; is it the same robot?"
        if self._status is None:
            return "no arm_hardware/status yet; is the servo driver running?"
        if self._status.state not in READY_STATES:
            return f"the servo driver is not armed: {self._status.message}"
        return ""


ANSWER_WITHIN = 10.0  # s on the wall, for the driver to accept or refuse a goal


class DriverClient:
    """Starts motions by follow_joint_trajectory and gripper_cmd.

    All methods must be called from the thread that spins the node.

    Args:
        node: The node of the clients.
        state: Says whether the driver is still there.

    Attributes:
        on_end: Called when a motion has ended or was refused.
    """

    def __init__(self, node: Node, state: ArmState) -> None:
        self._state = state
        self.on_end: Callable[[], None] = lambda: None
        self._follow = ActionClient(
            node,
            FollowJointTrajectory,
            "arm_controller/follow_joint_trajectory",
            goal_service_qos_profile=GOAL,
        )
        self._gripper = ActionClient(
            node,
            GripperCommand,
            "gripper_controller/gripper_cmd",
            goal_service_qos_profile=GOAL,
        )

    def not_ready(self) -> str:
        """Return which server is missing, or "" if none is."""
        for client, name in ((self._follow, "trajectory"), (self._gripper, "gripper")):
            if not client.server_is_ready():
                return f"the servo driver's {name} action is not there"
        return ""

    def move(self, trajectory: PlannedTrajectory) -> Move:
        """Start a joint motion."""
        goal = FollowJointTrajectory.Goal()
        goal.trajectory = trajectory_message(
            trajectory.joint_names, trajectory.times, trajectory.positions, trajectory.velocities
        )
        return ActionMove(self._follow, goal, self._state, self._ended)

    def set_width(self, width: float) -> Move:
        """Start to bring the jaws to a width [m]."""
        goal = GripperCommand.Goal()
        goal.command.position = width
        return ActionMove(self._gripper, goal, self._state, self._ended)

    def _ended(self) -> None:
        self.on_end()

    def configuration(self) -> ArmConfiguration:
        """Return where joint_states say that it is."""
        self._state.hear()
        return ArmConfiguration(self._state.positions, self._state.width)


class ActionMove:
    """One goal of an action of the driver, as the engine's handle.

    A goal that was given up is withdrawn, also if the driver is heard again only later.
    """

    def __init__(
        self, client: ActionClient, goal: Any, state: ArmState, on_end: Callable[[], None]
    ) -> None:
        self._state, self._on_end = state, on_end
        self._answered = self._canceled = False
        self._status = MoveStatus(MoveState.RUNNING)
        self._sent = time.monotonic()
        name = UUID(uuid=list(uuid4().bytes))
        # By its name it can be withdrawn also if the answer does not come.
        self._goal = ClientGoalHandle(client, name, None)
        client.send_goal_async(goal, goal_uuid=name).add_done_callback(self._on_answer)

    def poll(self) -> MoveStatus:
        """Return how far it is; a driver that fell silent is a failure."""
        if not self._status.done and (why := self._silence()):
            self._withdraw()
            self._status = MoveStatus(MoveState.FAILED, why)
        return self._status

    def cancel(self) -> None:
        """Ask the driver to stop and hold, as soon as it has accepted the goal."""
        if not self._status.done:
            self._withdraw()

    def _withdraw(self) -> None:
        self._canceled = True
        self._goal.cancel_goal_async()

    def _silence(self) -> str:
        """Return why nothing more is to be expected of the driver, or ""."""
        if not self._answered and time.monotonic() - self._sent > ANSWER_WITHIN:
            return f"the servo driver has not answered within {ANSWER_WITHIN:.0f} s"
        return self._state.lost()

    def _on_answer(self, future: Any) -> None:
        handle, self._answered = future.result(), True
        if not handle.accepted:
            if self._status.done:
                return
            said = self._state.driver_says
            why = f"its log says why, and it reports: {said}" if said else "its log says why"
            self._status = MoveStatus(MoveState.REJECTED, why)
            self._on_end()
            return
        if self._canceled:
            handle.cancel_goal_async()
        handle.get_result_async().add_done_callback(self._on_result)

    def _on_result(self, future: Any) -> None:
        if self._status.done:
            return
        response = future.result()
        states = {
            GoalStatus.STATUS_SUCCEEDED: MoveState.SUCCEEDED,
            GoalStatus.STATUS_CANCELED: MoveState.CANCELED,
        }
        state = states.get(response.status, MoveState.FAILED)
        self._status = MoveStatus(state, getattr(response.result, "error_string", ""))
        self._on_end()


FIRST_PATIENCE = 30.0  # s, for a driver of which not everything was heard yet: it is starting
PATIENCE = 5.0  # s, for a driver that is known and says that it cannot, or has fallen silent
QUIET = 2.0  # s of waiting after which a person is told for what
POLL = 0.05  # s


class Readiness:
    """Watches what a motion needs.

    Args:
        node: Its clock must run: the time of a simulated arm is its driver's.
        state: What the driver says.
        port: Its actions.
    """

    def __init__(self, node: Node, state: ArmState, port: DriverClient) -> None:
        self._node = node
        self._state = state
        self._port = port

    def missing(self, dry_run: bool) -> str:
        """Return why a task cannot be taken up, or "" if it can.

        Args:
            dry_run: Whether only joint positions are needed, to plan from.
        """
        if dry_run and self._state.positions:
            return ""
        return self._state.not_ready() or self._not_connected()

    def wait(self, dry_run: bool, give_up: Callable[[], bool], tell: Callable[[str], None]) -> str:
        """Wait until a task can be taken up; return why it cannot, or "".

        Args:
            dry_run: As for missing().
            give_up: Whether waiting makes no sense any more.
            tell: Called once with what is waited for, if that takes a while.
        """
        began, told = time.monotonic(), False
        while why := self.missing(dry_run):
            waited = time.monotonic() - began
            if give_up() or waited > (PATIENCE if self._is_known() else FIRST_PATIENCE):
                break
            if waited > QUIET and not told:
                tell(why)
                told = True
            time.sleep(POLL)
        return why

    def _is_known(self) -> bool:
        """Whether everything of the driver was there at some time, or it has gone since."""
        return self._state.complete and (bool(self._state.lost()) or not self._not_connected())

    def _not_connected(self) -> str:
        """Return what of the driver was not found yet, or ""."""
        if not self._node.get_clock().now().nanoseconds:  # type: ignore[no-untyped-call]
            return "no /clock yet; is the servo driver running?"
        return self._port.not_ready()
