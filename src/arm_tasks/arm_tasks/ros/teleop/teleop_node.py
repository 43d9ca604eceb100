# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
# Tests: src/arm_tasks/test/ros/teleop/test_follower.py
"""The node that jogs the arm by short trajectories that end at rest."""

from __future__ import annotations

import math
import time
from collections.abc import Mapping

import numpy as np
from arm_common.ros.actions.client import GoalClient
from arm_common.ros.graph import Sliders, has_driver
from arm_common.ros.parameters import ParameterSpec, declare_one
from arm_common.ros.qos import LATCHED, STREAM, service_qos
from arm_common.ros.service_client import ServiceClient
from arm_common.transforms import Array
from arm_description.model.units import mm
from arm_description.robot_model import RobotModel
from control_msgs.action import GripperCommand
from rclpy.duration import Duration
from rclpy.node import Node
from sensor_msgs.msg import BatteryState, Joy
from std_srvs.srv import Trigger
from trajectory_msgs.msg import JointTrajectory

from arm_interfaces.msg import TaskState
from arm_kinematics import Chain
from arm_tasks.errors import TasksError
from arm_tasks.manual.jogger import (
    PERIOD,
    JogCommand,
    Jogger,
    JoystickLayout,
    JoystickState,
    MotionStream,
)
from arm_tasks.planning.plan import PlannedTrajectory
from arm_tasks.ros.driver_client import ArmState

_GRIP_PERIOD = 0.1  # [s] between two jaw commands
_GRIP_TOLERANCE = 1e-4  # [m] at the ends of the jaws' travel
_MAX_AGE = 1.0  # [s]; older joint_states stop the motion

MOST_BUTTONS = 63
_JOYSTICK = {  # parameters by the fields of JoystickLayout: description, least and largest value
    "dead_man": ("Joystick button to hold; nothing moves without it.", 0, MOST_BUTTONS),
    "joint_mode": ("Button that moves joints while it is held, -1 for none.", -1, MOST_BUTTONS),
    "base_mode": ("Button for the base's axes while it is held, -1 for none.", -1, MOST_BUTTONS),
    "axes": (
        "Stick of x, y, z and turns about them (or of joints), -1 for none.",
        -1,
        MOST_BUTTONS,
    ),
    "signs": ("1 or -1 for each of axes.", -1, 1),
    "dead_zone": ("Fraction of a stick's travel about its centre that moves nothing.", 0.0, 0.9),
}
_REPEAT_LIMIT = ParameterSpec(
    0.0,
    "Time of identical joystick messages after which the arm brakes until one differs [s], 0 for "
    "any; against a dongle that repeats the last state of a joystick out of reach.",
    0.0,
    60.0,
)


class StreamingNode(Node):  # type: ignore[misc]
    """Publishes short trajectories that end at rest while a person holds a dead man's switch.

    Without a driver, it moves the sliders of a view to where the arm would be.

    Args:
        name: Name of the node.
        model: The robot.
        prefix: Prefix of its joints in messages; None to find it in joint_states.
    """

    _stream: MotionStream  # computes the trajectories; set by the derived class

    def __init__(self, name: str, model: RobotModel, prefix: str | None = None) -> None:
        super().__init__(name)
        self._model = model
        self._state = ArmState(self, model, prefix=prefix)
        self._publisher = self.create_publisher(
            JointTrajectory, "arm_controller/joint_trajectory", STREAM
        )
        self._sliders = Sliders(self)
        self._view_stopped = False
        grip = "gripper_controller/gripper_cmd"
        self._gripper = GoalClient(self, GripperCommand, grip)
        self._gripped = 0.0
        self._joystick = JoystickState(declare_one(self, "repeat_limit", _REPEAT_LIMIT))
        self.create_subscription(Joy, "joy", self._on_joy, 1)
        self._supply: tuple[float, float] | None = None  # when it arrived [s], current [A]
        self.create_subscription(BatteryState, "servo_supply", self._on_supply, 1)
        self._task = TaskState()
        self._tasks = self.create_subscription(
            TaskState, "task_server/state", self._on_task, LATCHED
        )
        self._triggers = {
            name: ServiceClient(self, Trigger, f"arm_hardware/{name}", service_qos(name))
            for name in ("stop", "reset", "arm", "disarm")
        }
        self._refusal = ""

    def brake(self) -> None:
        """Brake if the arm moves, and wait until the driver has received the message."""
        raise NotImplementedError

    def trigger(self, name: str) -> str:
        """Call a service of the driver, such as "stop"; return why it cannot be called, or ""."""
        self._stream.forget()
        if self._is_only_viewed:
            if name not in ("stop", "reset"):
                return f"No driver is running: there is nothing to {name}."
            self._view_stopped = name == "stop"
            return ""
        if not self._triggers[name].send(self._on_answer):
            return f"The driver does not respond: it has received no {name}."
        return ""

    def take_refusal(self) -> str:
        """Return why the driver refused a trigger since the last call, or ""."""
        refusal, self._refusal = self._refusal, ""
        return refusal

    def _on_answer(self, answer: Trigger.Response) -> None:
        self._refusal = "" if answer.success else answer.message

    def status(self) -> str:
        """Return joint positions and tip [deg, mm] as text."""
        if self._state.positions_unknown():
            return ""
        q = self._positions()
        joints = " ".join(
            f"{math.degrees(value):.1f}" if joint.type == "revolute" else f"{value * 1e3:.0f}mm"
            for value, joint in zip(q, self._model.joints, strict=True)
        )
        x, y, z = (round(float(v)) for v in self._model.fk(q)[:3, 3] * 1e3)
        jaws = f"  jaws {mm(self._state.width, 1)}" if self._model.gripper else ""
        return f"joints {joints}  tip {x} {y} {z} mm{jaws}{self._supply_text()}"

    def _supply_text(self) -> str:
        """Return the current of the servos, which rises at a touch; "" if nothing measures it."""
        if self._supply is None or time.monotonic() - self._supply[0] > _MAX_AGE:
            return ""
        return f"  supply {self._supply[1]:.2f} A"

    @property
    def _is_only_viewed(self) -> bool:
        """True if no driver moves the arm, but the sliders of a view do."""
        driven = self._state.driver_message or has_driver(self)
        return not driven and self._sliders.available

    def _on_joy(self, message: Joy) -> None:
        self._joystick.receive(message.axes, message.buttons, time.monotonic())

    def _on_supply(self, message: BatteryState) -> None:
        self._supply = (time.monotonic(), abs(message.current))

    def _on_task(self, message: TaskState) -> None:
        self._task = message

    def _problem(self) -> str:
        """Return why nothing can move, or ""; raise TasksError if it is unclear which arm."""
        if self._state.several_arms:
            raise TasksError(self._state.several_arms)
        if self._task.state != TaskState.IDLE and self._tasks.get_publisher_count():
            return "a task is running: cancel it before you move the arm"
        age = self._state.age
        late = f"no joint_states for {age:.1f} s" if age > _MAX_AGE else ""
        if self._is_only_viewed:
            stopped = "stopped: z resets" if self._view_stopped else ""
            return self._state.positions_unknown() or late or stopped
        return self._state.not_ready() or late

    def _begin_period(self, at_rest: bool) -> str:
        """Start from the measured position if the arm is at rest; return why nothing can move."""
        if problem := self._problem():
            self._stream.forget()
            return problem
        if self._model is not self._state.model:  # the limits of the driver have arrived
            self._model = self._state.model
            self._stream.use(Chain.from_model(self._model))
        q = self._positions()
        if at_rest or self._stream.q is None:
            self._stream.start(q)
        elif self._stream.deviates(q):
            self._stream.forget()
            return "the driver does not follow, perhaps at a calibration limit; see its log"
        return ""

    def _positions(self) -> Array:
        return np.array([self._state.positions[name] for name in self._model.joint_names])

    def _publish(self, segment: PlannedTrajectory | None) -> bool:
        """Publish a trajectory, if there is one; return whether there is."""
        if segment is not None and self._is_only_viewed:
            self._move_view(dict(zip(segment.joint_names, segment.at(PERIOD), strict=True)))
        elif segment is not None:
            self._publisher.publish(self._state.message_of(segment))
        return segment is not None

    def _move_view(self, positions: Mapping[str, float]) -> None:
        """Move the sliders of a view to positions by name [rad or m]."""
        names = self._state.names.add_all(positions)
        self._sliders.move(dict(zip(names, positions.values(), strict=True)))

    def _stop(self, segment: PlannedTrajectory | None) -> None:
        """Publish the last motion, and wait until the driver has received it."""
        if self._publish(segment):
            self._publisher.wait_for_all_acked(Duration(seconds=1))
        self._stream.forget()

    def _move_jaws(self, width: float, share: float) -> None:
        """Move the jaws towards a width [m], by at most a fraction of their travel."""
        gripper = self._state.model.gripper
        if gripper is None or time.monotonic() < self._gripped + _GRIP_PERIOD:
            return
        self._gripped = time.monotonic()
        left, step = width - self._state.width, share * (gripper.max_width - gripper.min_width)
        target = self._state.width + max(-step, min(step, left))
        if self._is_only_viewed:
            self._move_view(gripper.positions(target))
            return
        goal = GripperCommand.Goal()
        goal.command.position = target
        self._gripper.send_goal_async(goal)


class TeleopNode(StreamingNode):
    """Moves the arm while jog commands arrive."""

    def __init__(self, model: RobotModel, prefix: str | None = None) -> None:
        super().__init__("teleop", model, prefix)
        self._stream = self._jogger = Jogger(Chain.from_model(model))
        self._layout = JoystickLayout(
            **{
                name: declare_one(
                    self, name, ParameterSpec(getattr(JoystickLayout, name), *described)
                )
                for name, described in _JOYSTICK.items()
            }
        )

    def joystick_command(self, now: float, speed: float) -> JogCommand | None:
        """Return the command of the joystick, or None without a recent message."""
        joystick = self._joystick.at(now)
        return None if joystick is None else self._layout.command(*joystick, speed)

    def update(self, command: JogCommand) -> str:
        """Execute a command for one period; return what prevents or slows the motion, or ""."""
        if problem := self._begin_period(self._jogger.settled):
            return problem
        self._publish(self._jogger.step(command))
        slow = ", ".join(self._jogger.slowed_by)
        return f"{slow}: at the speed or position limit" if slow else ""

    def grip(self, share: float) -> str:
        """Move the jaws by a fraction of their travel, -1 to 1; return what prevents it, or ""."""
        gripper, problem = self._state.model.gripper, self._problem()
        if gripper is None or problem:
            return problem or "this arm has no gripper"
        if not (self._is_only_viewed or self._gripper.server_is_ready()):
            return "the driver's gripper_cmd is not available"
        end = gripper.max_width if share > 0.0 else gripper.min_width
        if abs(end - self._state.width) < _GRIP_TOLERANCE:
            return f"the jaws are {'open' if share > 0.0 else 'closed'}"
        self._move_jaws(end, abs(share))
        return ""

    def brake(self) -> None:
        """Brake if the arm moves, and wait until the driver has received the message."""
        self._stop(self._jogger.step(JogCommand("joint")))
