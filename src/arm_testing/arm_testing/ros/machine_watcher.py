# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""A program on one of two machines that reports received messages and executes commands.

It reads one numbered command as JSON per line from stdin, and writes its state to stdout twenty
times a second. It is a separate process because Fast DDS inspects a process' network only once.
"""

from __future__ import annotations

import json
import queue
import sys
import threading

import rclpy
from arm_common.ros.qos import GOAL, LATCHED, STREAM
from control_msgs.action import FollowJointTrajectory
from rclpy.action import ActionClient
from rclpy.node import Node
from rclpy.qos import QoSProfile
from sensor_msgs.msg import JointState
from std_msgs.msg import String
from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint

from arm_interfaces.action import RunTask
from arm_interfaces.msg import HardwareStatus

NAMES = ("waist", "shoulder", "elbow", "wrist_roll")


class Watcher(Node):
    """Stores the latest message of each topic, and the answers to commands by their number."""

    def __init__(self) -> None:
        super().__init__("watcher")
        self.known = {"joints": {}, "state": None, "message": "", "description": ""}
        self.known |= {"accepted": [], "answers": {}}
        subscribe = self.create_subscription
        subscribe(JointState, "joint_states", self._on_joints, 10)
        subscribe(HardwareStatus, "arm_hardware/status", self._on_status, LATCHED)
        subscribe(String, "robot_description", self._on_description, LATCHED)
        # the end of each trajectory that the driver accepts
        subscribe(JointState, "arm_controller/goal", self._on_goal, QoSProfile(depth=50))
        self._run_task = ActionClient(self, RunTask, "run_task", goal_service_qos_profile=GOAL)
        action = "arm_controller/follow_joint_trajectory"
        self._follow = ActionClient(
            self, FollowJointTrajectory, action, goal_service_qos_profile=GOAL
        )
        self._stream = self.create_publisher(
            JointTrajectory, "arm_controller/joint_trajectory", STREAM
        )
        self._commands: queue.SimpleQueue[str] = queue.SimpleQueue()
        threading.Thread(target=self._read, daemon=True).start()
        self.create_timer(0.05, self._tick)

    def _read(self) -> None:
        for line in sys.stdin:
            self._commands.put(line)

    def _tick(self) -> None:
        while not self._commands.empty():
            self._do(json.loads(self._commands.get()))
        servers = (self._run_task, self._follow)
        connected = self._stream.get_subscription_count() > 0
        ready = connected and all(server.server_is_ready() for server in servers)
        print(json.dumps({**self.known, "ready": ready}), flush=True)

    def _on_joints(self, message: JointState) -> None:
        self.known["joints"] = dict(zip(message.name, message.position, strict=True))

    def _on_status(self, message: HardwareStatus) -> None:
        self.known |= {"state": message.state, "message": message.message}

    def _on_description(self, message: String) -> None:
        self.known["description"] = message.data[:200]

    def _on_goal(self, message: JointState) -> None:
        if message.position:  # none: the trajectory is over
            self.known["accepted"].append(message.position[0])

    def _do(self, command: dict) -> None:
        if command["do"] == "stream":
            self._stream.publish(trajectory(command["waist"], command["seconds"]))
            return
        if command["do"] == "task":
            client, goal = self._run_task, RunTask.Goal(text=command["text"])
        else:
            path = trajectory(command["waist"], command["seconds"])
            client, goal = self._follow, FollowJointTrajectory.Goal(trajectory=path)
        number = str(command["number"])

        def ended(future) -> None:
            self.known["answers"][number] = fields(future.result().result)

        def answered(future) -> None:
            handle = future.result()
            if handle.accepted:
                self.known["answers"][number] = "accepted"
                handle.get_result_async().add_done_callback(ended)
            else:
                self.known["answers"][number] = "refused"

        client.send_goal_async(goal).add_done_callback(answered)


def fields(result) -> dict:
    """Return the plain fields of a result."""
    names = ("error_code", "error_string", "status", "message", "can_resume", "resume_step")
    return {name: getattr(result, name) for name in names if hasattr(result, name)}


def trajectory(waist: float, seconds: float) -> JointTrajectory:
    """Return a trajectory of the waist from its current position."""
    point = JointTrajectoryPoint(positions=[waist, 0.0, 0.0, 0.0])
    point.time_from_start.sec = int(seconds)
    point.time_from_start.nanosec = round(1e9 * (seconds % 1.0))
    return JointTrajectory(joint_names=list(NAMES), points=[point])


if __name__ == "__main__":
    rclpy.init()
    rclpy.spin(Watcher())
