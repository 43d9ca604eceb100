# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""A kinematics node as a process, and a node beside it that speaks to it."""

from __future__ import annotations

import math
import os
import subprocess
import sys
import time

import numpy as np
import rclpy
from arm_common.transforms import matrix_to_pose, pose_to_matrix
from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus
from geometry_msgs.msg import TransformStamped
from rclpy.context import Context
from rclpy.executors import SingleThreadedExecutor
from rclpy.node import Node
from rclpy.qos import DurabilityPolicy, QoSProfile
from sensor_msgs.msg import JointState
from std_msgs.msg import String
from tf2_msgs.msg import TFMessage

from arm_interfaces.srv import GetJacobian, SolveFK, SolveIK

PATIENCE = 240.0  # [s], a bound, not a wait; compiling takes a minute of a busy machine
ASK_AGAIN = 20.0  # [s]
LATCHED = QoSProfile(depth=1, durability=DurabilityPolicy.TRANSIENT_LOCAL)
KINDS = {"solve_ik": SolveIK, "solve_fk": SolveFK, "get_jacobian": GetJacobian}


def start(*arguments: str, domain: int, **environment: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-m", "arm_kinematics.ros.node", *arguments],
        env={**os.environ, "ROS_DOMAIN_ID": str(domain), **environment},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )


class World:
    """A node beside the one under test: publishes what it listens to and calls its services."""

    def __init__(self, domain: int) -> None:
        self.context = Context()
        rclpy.init(context=self.context, domain_id=domain)
        self.node = Node("beside", context=self.context)
        self.executor = SingleThreadedExecutor(context=self.context)
        self.executor.add_node(self.node)
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

    def until(self, condition) -> None:
        deadline = time.monotonic() + PATIENCE
        while not condition():
            assert time.monotonic() < deadline, "waited in vain"
            self.executor.spin_once(timeout_sec=0.05)

    def call(self, name: str, request):
        """Ask, again every few seconds: an answer may be lost while nodes find each other."""
        client = self.clients[name]
        self.until(client.service_is_ready)
        futures = []
        asked = -math.inf

        def answered() -> bool:
            nonlocal asked
            if time.monotonic() > asked + ASK_AGAIN:
                asked = time.monotonic()
                futures.append(client.call_async(request))
            return any(future.done() for future in futures)

        self.until(answered)
        return next(future.result() for future in futures if future.done())

    def close(self) -> None:
        self.executor.shutdown()
        self.node.destroy_node()
        rclpy.shutdown(context=self.context)


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
