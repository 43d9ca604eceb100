# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""A kinematics node as a process, and a node beside it that speaks to it."""

from __future__ import annotations

import subprocess

import numpy as np
from arm_common.transforms import matrix_to_pose, pose_to_matrix
from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus
from geometry_msgs.msg import TransformStamped
from sensor_msgs.msg import JointState
from std_msgs.msg import String
from tf2_msgs.msg import TFMessage

from arm_interfaces.srv import GetJacobian, SolveFK, SolveIK
from arm_testing.processes import start_python
from arm_testing.ros.probe import LATCHED, Probe

PATIENCE = 240.0  # [s], a bound, not a wait; compiling takes a minute of a busy machine
KINDS = {"solve_ik": SolveIK, "solve_fk": SolveFK, "get_jacobian": GetJacobian}


def start(*arguments: str, **environment: str) -> subprocess.Popen[str]:
    return start_python("-m", "arm_kinematics.ros.node", *arguments, **environment)


class World(Probe):
    """A node beside the one under test: publishes what it subscribes to and calls its services."""

    def __init__(self) -> None:
        super().__init__(bound=PATIENCE)
        self.description = self.node.create_publisher(String, "robot_description", LATCHED)
        self.joint_states = self.node.create_publisher(JointState, "joint_states", 10)
        self.tf_static = self.node.create_publisher(TFMessage, "tf_static", LATCHED)
        self.diagnostics: list[DiagnosticStatus] = []
        self.node.create_subscription(
            DiagnosticArray, "/diagnostics", lambda m: self.diagnostics.extend(m.status), 10
        )
        self.clients = {
            name: self.node.create_client(kind, f"kinematics/{name}")
            for name, kind in KINDS.items()
        }

    def call(self, name: str, request):
        return self.request(self.clients[name], request)


def joint_state(joints: dict[str, float]) -> JointState:
    return JointState(name=list(joints), position=list(joints.values()))


def pose_request(T: np.ndarray, frame: str = "", **fields) -> SolveIK.Request:
    request = SolveIK.Request(**fields)
    request.target.header.frame_id = frame
    xyz, quaternion = matrix_to_pose(T)
    p, o = request.target.pose.position, request.target.pose.orientation
    p.x, p.y, p.z = map(float, xyz)
    o.x, o.y, o.z, o.w = map(float, quaternion)
    return request


def matrix(pose) -> np.ndarray:
    p, o = pose.position, pose.orientation
    return pose_to_matrix((p.x, p.y, p.z), (o.x, o.y, o.z, o.w))


def frame(parent: str, child: str, T: np.ndarray) -> TransformStamped:
    message = TransformStamped(child_frame_id=child)
    message.header.frame_id = parent
    xyz, quaternion = matrix_to_pose(T)
    t, r = message.transform.translation, message.transform.rotation
    t.x, t.y, t.z = map(float, xyz)
    r.x, r.y, r.z, r.w = map(float, quaternion)
    return message
