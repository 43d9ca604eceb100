# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""A kinematics node as a process, and a probe node that communicates with it."""

from __future__ import annotations

import subprocess

import numpy as np
from arm_common.ros.message_conversions import pose_message, transform_message
from arm_common.ros.qos import LATCHED
from builtin_interfaces.msg import Time
from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus
from geometry_msgs.msg import PoseStamped
from sensor_msgs.msg import JointState
from std_msgs.msg import String
from tf2_msgs.msg import TFMessage

from arm_description import load_robot
from arm_interfaces.srv import (
    CancelIKBatch,
    GetJacobian,
    PlanPath,
    SolveDynamics,
    SolveFK,
    SolveIK,
    SolveIKBatch,
)
from arm_kinematics import Chain
from arm_testing.programs.processes import start_python
from arm_testing.ros.probe import Probe

PATIENCE = 240.0  # [s], an upper bound; compiling takes a minute on a busy machine
KINDS = {
    "solve_ik": SolveIK,
    "solve_fk": SolveFK,
    "get_jacobian": GetJacobian,
    "solve_dynamics": SolveDynamics,
}
LONG = {
    "plan_path": PlanPath,
    "solve_ik_batch": SolveIKBatch,
    "cancel_ik_batch": CancelIKBatch,
}

MODEL = load_robot("nut_arm")
CHAIN = Chain.from_model(MODEL)
# Where the arm is, a frame beside it, and a posture that it can reach.
REST = {"waist": 0.1, "shoulder": 0.2, "elbow": 0.3, "wrist_roll": 0.4}
FINGERS = {"left_finger": 0.005, "right_finger": 0.005}
HERE = CHAIN.fk(list(REST.values()))
BOLT = CHAIN.fk([0.2, 0.3, -0.2, 0.1])
Q = [0.3, 0.1, 0.2, -0.5]
THERE = CHAIN.fk(Q)


def start(*arguments: str, **environment: str) -> subprocess.Popen[str]:
    return start_python("-m", "arm_kinematics.ros.node", *arguments, **environment)


class World(Probe):
    """A probe node that publishes the inputs of the node under test and calls its services."""

    def __init__(self) -> None:
        super().__init__(bound=PATIENCE)
        self.description = self.node.create_publisher(String, "robot_description", LATCHED)
        self.joint_states = self.node.create_publisher(JointState, "joint_states", 10)
        self.tf = self.node.create_publisher(TFMessage, "/tf", 10)
        self.tf_static = self.node.create_publisher(TFMessage, "/tf_static", LATCHED)
        self.diagnostics: list[DiagnosticStatus] = []
        self.node.create_subscription(
            DiagnosticArray, "/diagnostics", lambda m: self.diagnostics.extend(m.status), 10
        )
        self.clients = {
            name: self.node.create_client(kind, f"kinematics/{name}")
            for name, kind in {**KINDS, **LONG}.items()
        }

    def describe(self, xml: str) -> None:
        self.description.publish(String(data=xml))

    def set_up(self, xml: str, joints: dict[str, float], **frames: tuple[str, np.ndarray]) -> None:
        """Publish description, frames (parent, pose) and joints until the node has them."""
        self.describe(xml)
        transforms = [transform_message(p, name, T, Time()) for name, (p, T) in frames.items()]
        self.tf_static.publish(TFMessage(transforms=transforms))
        first = next(iter(frames))

        def ready() -> bool:
            """Return whether FK works; joint_states, which are not latched, are repeated."""
            self.joint_states.publish(joint_state(joints))
            request = SolveFK.Request(links=["tool0"], reference_frame=first)
            return self.call("solve_fk", request).status == SolveFK.Response.SUCCESS

        self.until(ready)

    def call(self, name: str, request):
        return self.request(self.clients[name], request)

    def solve(self, T: np.ndarray, frame: str = "", status: int = 1, **fields):
        """Call solve_ik; check the status."""
        answer = self.call("solve_ik", pose_request(T, frame, **fields))
        assert answer.status == status, answer.message
        return answer


def joint_state(joints: dict[str, float]) -> JointState:
    return JointState(name=list(joints), position=list(joints.values()))


def stamped(T: np.ndarray, frame: str = "") -> PoseStamped:
    message = PoseStamped(pose=pose_message(T))
    message.header.frame_id = frame
    return message


def pose_request(T: np.ndarray, frame: str = "", **fields) -> SolveIK.Request:
    return SolveIK.Request(target=stamped(T, frame), **fields)
