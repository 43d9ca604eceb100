# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""A single-threaded node whose callbacks wait for the arm."""

import rclpy
from arm_tasks.client import Arm
from geometry_msgs.msg import Point

rclpy.init()
node = rclpy.create_node("follower")
with Arm(node) as arm:

    def on_point(point: Point) -> None:
        """Move the tool to the point, if there is a solution."""
        answer = arm.ik([point.x, point.y, point.z])
        print(arm.move_joints(answer.joints).message if answer else answer.message, flush=True)

    node.create_subscription(Point, "go_to", on_point, 1)
    rclpy.spin(node)
