# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""`./arm replay`: reads a recording and publishes it on its topics, with a browser view."""

from __future__ import annotations

import argparse
import struct
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import rclpy
from arm_common.cli import positive, run
from arm_common.errors import InputError, one_line
from arm_common.ros.messages import interface_class
from arm_common.ros.node_runner import add_namespace, checked_namespace, session
from arm_common.ros.qos import LATCHED, TF_STATIC_TOPIC, TF_TOPIC
from rclpy.node import Node
from rclpy.qos import DurabilityPolicy, QoSProfile

from arm_viewer.errors import ViewerError, required

# mypy: disable-error-code="no-untyped-call"


def messages(file: Path, topics: Sequence[str]) -> Iterator[tuple[Any, Any, Any]]:
    """Yield schema, channel and message of all messages on some topics, in order.

    Raises:
        ViewerError: The file is not a recording, or the package mcap is not installed.
    """
    with _reader(file) as reader:
        yield from reader.iter_messages(topics=topics)


def times(file: Path) -> tuple[int, int]:
    """Return the times of the first and the last message, in nanoseconds.

    Raises:
        ViewerError: The file is not a recording or is empty, or mcap is not installed.
    """
    with _reader(file) as reader:
        summary = reader.get_summary()
        found = None if summary is None else summary.statistics
    if found is None or not found.message_count:
        raise ViewerError(f"{file} contains no messages")
    return found.message_start_time, found.message_end_time


def _counts(file: Path) -> dict[int, int]:
    """Return how many messages each channel of a recording has, by the channel's ID."""
    with _reader(file) as reader:
        summary = reader.get_summary()
    statistics = None if summary is None else summary.statistics
    return {} if statistics is None else dict(statistics.channel_message_counts)


@contextmanager
def _reader(file: Path) -> Iterator[Any]:
    with required("mcap", "it reads recordings"):
        from mcap.exceptions import McapError
        from mcap.reader import make_reader
    try:
        stream = file.open("rb")
    except OSError as error:
        raise ViewerError(f"{file} cannot be read: {error.strerror}") from None
    try:
        with stream:
            yield make_reader(stream)
    except (McapError, OSError, struct.error):  # the last two: the file is too short
        raise ViewerError(
            f"{file} is not a complete MCAP file; was the recording ended with Ctrl-C?"
        ) from None


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
POLL_PERIOD = 0.05  # [s]
LONGEST_PAUSE = 2.0  # [s] between two messages; longer ones are shortened


class RecordingPlayer:
    """Publishes a recording.

    Args:
        node: The node that publishes.
        file: The recording.
        namespace: Absolute namespace of the arm in it; "" for none.
    """

    def __init__(self, node: Node, file: Path, namespace: str = "") -> None:
        self._node, self._file, self._namespace = node, file, namespace
        self._topics = (*(f"{namespace}/{name}" for name in PLAYED), *TF)
        self._counts = _counts(file)
        self._publishers: dict[str, Any] = {}

    def wait_for_view(self, is_alive: Callable[[], bool]) -> None:
        """Wait until a view has subscribed, so that it shows the beginning, or has ended."""
        topic = f"{self._namespace}/joint_states"
        while is_alive() and not self._node.count_subscribers(topic):
            time.sleep(POLL_PERIOD)

    def play(self, speed: float) -> int:
        """Publish all messages at their times; return their number.

        Args:
            speed: Recorded seconds per second.

        Raises:
            ViewerError: The file is not a recording.
        """
        count, previous = 0, None
        for schema, channel, message in messages(self._file, self._topics):
            if previous is not None:
                time.sleep(
                    min(LONGEST_PAUSE, max(0.0, 1e-9 * (message.log_time - previous) / speed))
                )
            previous = message.log_time
            publisher = self._publisher(schema.name, channel)
            if publisher is not None:
                publisher.publish(message.data)
                count += 1
        return count

    def _latched(self, channel: Any) -> QoSProfile:
        """Return the profile with which a late subscriber gets what it would have got then.

        Each of several nodes publishes its own fixed frames, which one node now publishes.
        """
        if channel.topic != TF_STATIC_TOPIC:
            return LATCHED
        depth = self._counts.get(channel.id, 1)
        return QoSProfile(depth=depth, durability=DurabilityPolicy.TRANSIENT_LOCAL)

    def _publisher(self, kind: str, channel: Any) -> Any:
        if channel.topic not in self._publishers:
            quality = QoSProfile(depth=100)
            if channel.metadata.get("latched") == "true":
                quality = self._latched(channel)
            message = interface_class(kind)
            if message is None:
                unknown = f"{one_line(kind, 100)} is not a message type installed here"
                sys.stderr.write(f"{channel.topic} is not played: {unknown}\n")
            self._publishers[channel.topic] = message and self._node.create_publisher(
                message, channel.topic, quality
            )
        return self._publishers[channel.topic]


def main(arguments: Sequence[str] | None = None) -> int:
    """Play a recording; return the exit code."""
    parser = argparse.ArgumentParser(prog="./arm replay", description="Play a recording.")
    parser.add_argument("file", type=Path, help="an MCAP file of ./arm record")
    add_namespace(parser)
    parser.add_argument("--speed", type=positive, default=1.0, help="recorded seconds per second")
    parser.add_argument("--loop", action="store_true", help="repeat until Ctrl-C")
    parser.add_argument("--no-view", action="store_true", help="publish only")
    return run(parser, _replay, arguments, (ViewerError, InputError))


def _replay(given: argparse.Namespace) -> None:
    namespace = checked_namespace(given.namespace)
    command = [sys.executable, "-m", "arm_viewer.ros.node"]
    if namespace:
        command += ["--ros-args", "-r", f"__ns:={namespace}"]
    view = None if given.no_view else subprocess.Popen(command)
    try:
        with session():
            player = RecordingPlayer(rclpy.create_node("replay"), given.file, namespace)
            if view is not None:
                player.wait_for_view(lambda: view.poll() is None)
            again = True
            while again:
                sys.stdout.write(f"{player.play(given.speed)} messages played\n")
                sys.stdout.flush()
                again = given.loop
            if view is not None:
                view.wait()
    except KeyboardInterrupt:
        pass
    finally:
        if view is not None:
            view.terminate()
            view.wait()


if __name__ == "__main__":
    sys.exit(main())
