# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
# Tests: src/arm_studio/test/ros/test_recorder.py
"""`./arm replay`: publishes a recording on its topics, with a browser view."""

from __future__ import annotations

import argparse
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import rclpy
from arm_common.cli import run, unused, whole_number
from arm_common.errors import InputError, one_line
from arm_common.network import LAST_PORT
from arm_common.ros.node_runner import add_namespace, checked_namespace, session
from arm_common.ros.qos import TF_STATIC_TOPIC, TF_TOPIC
from arm_common.terminal import print_line
from arm_viewer.errors import ViewerError
from rclpy.node import Node
from rclpy.qos import DurabilityPolicy, QoSProfile

from arm_studio.ros.recording_file import RecordedTopic, RecordingFile, print_notices

# mypy: disable-error-code="no-untyped-call"


# The topics of a view in the arm's namespace; commands that could move an arm are never played.
PLAYED = (
    "robot_description",
    "joint_states",
    "scene_markers",
    "task_markers",
    "kinematics_markers",
    "task_text",
    "nut_world/state",
    "task_server/state",
    "arm_hardware/status",
    "arm_controller/goal",
)
TF = (TF_TOPIC, TF_STATIC_TOPIC)  # of all arms
VIEW = "arm_viewer"  # name of its node
POLL_PERIOD = 0.05  # [s]
SHORTEST_ROUND = 1.0  # [s] of a repetition
SLOWEST = 1e-3  # recorded seconds per second


class RecordingPlayer:
    """Publishes a recording.

    Args:
        node: The node that publishes.
        file: The recording.
        namespace: Absolute namespace of the arm in it; "" for none.

    Raises:
        ViewerError: The file is not a recording, or contains nothing of the arm.
    """

    def __init__(self, node: Node, file: Path, namespace: str = "") -> None:
        self._node, self._namespace = node, namespace
        topics = (*(f"{namespace}/{name}" for name in PLAYED), *TF)
        self.recording = RecordingFile(file, topics)
        if not self.recording.topics:
            names = ", ".join(one_line(name, 100) for name in self.recording.other_topics[:20])
            here = f"the namespace {namespace}" if namespace else "no namespace"
            problem = f"{file} contains nothing of an arm in {here}; its topics are {names}"
            raise ViewerError("; ".join((problem, *self.recording.notices)))
        self._publishers = {
            name: node.create_publisher(topic.kind, name, self._quality(name, topic))
            for name, topic in self.recording.topics.items()
        }

    def wait_for_view(self, is_alive: Callable[[], bool]) -> None:
        """Wait until a view has subscribed, so that it shows the beginning, or has ended."""
        while is_alive() and not self._is_viewed():
            time.sleep(POLL_PERIOD)

    def _is_viewed(self) -> bool:
        """Return True if a view, and not only a recorder, has subscribed joint_states."""
        topic = f"{self._namespace}/joint_states"
        infos = self._node.get_subscriptions_info_by_topic(topic)
        return any(info.node_name == VIEW for info in infos)

    def play(self, speed: float) -> int:
        """Publish all messages at their times; return their number.

        Args:
            speed: Recorded seconds per second.
        """
        count, previous = 0, None
        for message in self.recording:
            if previous is not None:
                time.sleep((message.time - previous) / speed)
            previous = message.time
            self._publishers[message.topic].publish(message.data)
            count += 1
        return count

    def _quality(self, name: str, topic: RecordedTopic) -> QoSProfile:
        """Return the profile with which a late subscriber gets what it would have got then.

        Views expect all but streams to be latched, whatever the file says. Each of several nodes
        publishes its fixed frames, which one node now publishes.
        """
        is_stream = name in (f"{self._namespace}/joint_states", TF_TOPIC)
        if not topic.latched and is_stream:
            return QoSProfile(depth=100)
        depth = topic.count if name == TF_STATIC_TOPIC else 100 if is_stream else 1
        return QoSProfile(depth=depth, durability=DurabilityPolicy.TRANSIENT_LOCAL)


def main(arguments: Sequence[str] | None = None) -> int:
    """Play a recording; return the exit code."""
    parser = argparse.ArgumentParser(prog="./arm replay", description="Play a recording.")
    parser.add_argument("file", type=Path, help="an MCAP file of ./arm record or ros2 bag record")
    add_namespace(parser)
    parser.add_argument("--speed", type=_speed, default=1.0, help="recorded seconds per second")
    parser.add_argument("--loop", action="store_true", help="repeat until Ctrl-C")
    parser.add_argument("--no-view", action="store_true", help="publish, without a view")
    parser.add_argument(
        "--viewer-port",
        type=whole_number(1, LAST_PORT),
        default=8080,
        help="first TCP port to try",
    )
    unused(parser, ["--viewer-port"], lambda given: given.no_view, "with --no-view")
    return run(parser, _replay, arguments, (ViewerError, InputError))


def _replay(given: argparse.Namespace) -> None:
    namespace = checked_namespace(given.namespace)
    command = [sys.executable, "-m", "arm_viewer.ros.node"]
    command += ["--ros-args", "-p", f"port:={given.viewer_port}"]
    if namespace:
        command += ["-r", f"__ns:={namespace}"]
    view = None if given.no_view else subprocess.Popen(command)
    try:
        with session():
            player = RecordingPlayer(rclpy.create_node("replay"), given.file, namespace)
            print_notices(player.recording)
            if view is not None:
                player.wait_for_view(lambda: view.poll() is None)
            again = True
            while again:
                end = time.monotonic() + SHORTEST_ROUND
                print_line(f"{player.play(given.speed)} messages played")
                print_notices(player.recording)
                again = given.loop
                if again:
                    time.sleep(max(0.0, end - time.monotonic()))
            if view is not None:
                view.wait()
    except KeyboardInterrupt:
        pass
    finally:
        if view is not None:
            view.terminate()
            view.wait()


def _speed(text: str) -> float:
    if not (speed := float(text)) >= SLOWEST:
        raise argparse.ArgumentTypeError(f"{speed:g} is not a number from {SLOWEST:g}")
    return speed


if __name__ == "__main__":
    sys.exit(main())
