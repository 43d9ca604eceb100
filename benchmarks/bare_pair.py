# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""A bare pair of rclpy nodes: one talks as often as a moving arm, one listens. Each is a process.

What they need is what rclpy and the middleware need, without anything of ours.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress

import rclpy
from geometry_msgs.msg import TransformStamped
from rclpy.executors import ExternalShutdownException
from rclpy.node import Node
from sensor_msgs.msg import JointState
from tf2_msgs.msg import TFMessage

JOINTS, FRAMES = 6, 7  # of nut_arm, with its fingers
RATES = ((JointState, "bare/joint_states", 50.0), (TFMessage, "bare/tf", 25.0))  # [Hz]


def _message(kind: type) -> JointState | TFMessage:
    if kind is JointState:
        names = [f"joint_{i}" for i in range(JOINTS)]
        return JointState(name=names, position=[0.1] * JOINTS, velocity=[0.2] * JOINTS)
    return TFMessage(transforms=[TransformStamped(child_frame_id=str(i)) for i in range(FRAMES)])


def _talk(node: Node) -> None:
    for kind, topic, rate in RATES:
        publish = node.create_publisher(kind, topic, 10).publish
        node.create_timer(1.0 / rate, lambda publish=publish, kind=kind: publish(_message(kind)))


def _listen(node: Node) -> None:
    for kind, topic, _ in RATES:
        node.create_subscription(kind, topic, lambda _: None, 10)


ROLES = {"bare_talker": _talk, "bare_listener": _listen}


@contextmanager
def bare_pair() -> Iterator[dict[str, int]]:
    """Run both processes; yield name -> process ID."""
    running = {role: subprocess.Popen([sys.executable, __file__, role]) for role in ROLES}
    try:
        yield {role: process.pid for role, process in running.items()}
    finally:
        for process in running.values():
            process.terminate()
            process.wait()


def main() -> None:
    """Run the node of a role until the process is ended."""
    role = sys.argv[1]
    rclpy.init()
    node = rclpy.create_node(role)
    ROLES[role](node)
    with suppress(KeyboardInterrupt, ExternalShutdownException):
        rclpy.spin(node)


if __name__ == "__main__":
    main()
