# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""The node that jogs: short trajectories that end at rest, through the driver's limits."""

from __future__ import annotations

import math
import time
from dataclasses import fields

import numpy as np
from arm_common.ros.parameters import ParameterSpec, declare_one
from arm_common.ros.qos import GOAL, STREAM, service_qos
from arm_common.transforms import Array
from control_msgs.action import GripperCommand
from rclpy.action import ActionClient
from rclpy.duration import Duration
from rclpy.node import Node
from sensor_msgs.msg import Joy
from std_srvs.srv import Trigger
from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint

from arm_description import RobotModel
from arm_kinematics import Chain
from arm_tasks.manual.jog_input import HELD, JogCommand, JoystickLayout
from arm_tasks.manual.jogger import Jogger, TrajectorySegment
from arm_tasks.ros.driver_client import ArmState
from arm_tasks.ros.messages import duration_message

GRIP_AGAIN = 0.1  # [s] from a step of the jaws to the next
LIMIT = 1e-4  # [m] from the end of the jaws' way there is no further step
FRESH = 1.0  # [s] joint_states older than this stop the motion


_JOYSTICK = {
    "dead_man": "Button of the joystick to be held; nothing moves without it.",
    "joint_mode": "Button that moves joints while it is held, -1 for none.",
    "base_mode": "Button for the base's axes while it is held, -1 for none.",
    "axes": "Stick of x, y, z and turns about them (or of joints), -1 for none.",
    "signs": "1 or -1 for each of axes.",
}


class TeleopNode(Node):  # type: ignore[misc]
    """Publishes short trajectories that end at rest, as long as somebody wishes to move.

    Args:
        model: The robot.
    """

    def __init__(self, model: RobotModel) -> None:
        super().__init__("teleop")
        self._model = model
        self._jogger = Jogger(Chain.from_model(model))
        self._state = ArmState(self, model)
        self._layout = JoystickLayout(
            **{
                entry.name: declare_one(
                    self, entry.name, ParameterSpec(entry.default, _JOYSTICK[entry.name])
                )
                for entry in fields(JoystickLayout)
            }
        )
        self._publisher = self.create_publisher(
            JointTrajectory, "arm_controller/joint_trajectory", STREAM
        )
        self._gripper = ActionClient(
            self,
            GripperCommand,
            "gripper_controller/gripper_cmd",
            goal_service_qos_profile=GOAL,
        )
        self._gripped = 0.0
        self._joy: tuple[float, Joy] | None = None
        self.create_subscription(Joy, "joy", self._on_joy, 1)
        self._triggers = {
            name: self.create_client(
                Trigger, f"arm_hardware/{name}", qos_profile=service_qos(name)
            )
            for name in ("stop", "reset")
        }

    def wish_of_joystick(self, now: float, speed: float) -> JogCommand | None:
        """Return what a joystick wishes, None where none was heard of late."""
        if self._joy is None or now - self._joy[0] > HELD:
            return None
        return self._layout.wish(self._joy[1].axes, self._joy[1].buttons, speed)

    def tick(self, wish: JogCommand) -> str:
        """Go on for one period; return why nothing moves, or "" if nothing is in the way."""
        problem = self._state.not_ready() or self._silent()
        if problem:
            self._jogger.forget()
            return problem
        here = self._here()
        if self._jogger.settled:
            self._jogger.start(here)
        elif self._jogger.astray(here):
            self._jogger.start(here)
            return "the driver does not follow: at a limit of its calibration? See its log"
        stretch = self._jogger.step(wish)
        if stretch is not None:
            self._publisher.publish(self._message(stretch))
        slow = ", ".join(self._jogger.slowed_by)
        return f"{slow}: no faster, or at the limit" if slow else ""

    def trigger(self, name: str) -> None:
        """Call a service of the driver; "stop" or "reset"."""
        self._jogger.forget()
        if self._triggers[name].service_is_ready():
            self._triggers[name].call_async(Trigger.Request())

    def grip(self, share: float) -> str:
        """Bring the jaws by a share of their way from where they are; return what hinders it.

        Args:
            share: From -1, closed, to 1, open; a held key repeats it, and its release stops it.
        """
        gripper = self._model.gripper
        problem = self._state.not_ready() or self._silent()
        if gripper is None or problem:
            return problem or "this arm has no gripper"
        if not self._gripper.server_is_ready():
            return "the driver offers no gripper_cmd"
        end = gripper.max_width if share > 0.0 else gripper.min_width
        left, step = end - self._state.width, share * (gripper.max_width - gripper.min_width)
        if abs(left) < LIMIT:
            return f"the jaws are {'open' if share > 0.0 else 'closed'}"
        if time.monotonic() >= self._gripped + GRIP_AGAIN:
            self._gripped = time.monotonic()
            goal = GripperCommand.Goal()
            goal.command.position = self._state.width + min(step, left, key=abs)
            self._gripper.send_goal_async(goal)
        return ""

    def rest(self) -> None:
        """Brake if the arm moves, see the message off, and forget where the arm was."""
        stretch = self._jogger.step(JogCommand("joint"))
        if stretch is not None:
            self._publisher.publish(self._message(stretch))
            self._publisher.wait_for_all_acked(Duration(seconds=1))
        self._jogger.forget()

    def shown(self) -> str:
        """Return where joints and tip are, in deg and mm."""
        if self._state.not_ready():
            return ""
        here = self._here()
        joints = " ".join(
            f"{math.degrees(q):.1f}" if joint.type == "revolute" else f"{q * 1e3:.0f}mm"
            for q, joint in zip(here, self._model.joints, strict=True)
        )
        x, y, z = (round(float(way)) for way in self._model.fk(here)[:3, 3] * 1e3)
        jaws = f"  jaws {self._state.width * 1e3:.1f} mm" if self._model.gripper else ""
        return f"joints {joints}  tip {x} {y} {z} mm{jaws}"

    def _on_joy(self, message: Joy) -> None:
        self._joy = (time.monotonic(), message)

    def _silent(self) -> str:
        silent = self._state.silence
        return f"no joint_states for {silent:.1f} s" if silent > FRESH else ""

    def _here(self) -> Array:
        return np.array([self._state.positions[name] for name in self._model.joint_names])

    def _message(self, stretch: TrajectorySegment) -> JointTrajectory:
        points = [
            JointTrajectoryPoint(
                positions=positions.tolist(),
                velocities=velocities.tolist(),
                time_from_start=duration_message(seconds),
            )
            for seconds, positions, velocities in zip(
                stretch.times, stretch.positions, stretch.velocities, strict=True
            )
        ]
        return JointTrajectory(joint_names=list(self._model.joint_names), points=points)
