# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""`./arm replay`: plays a recording on its topics, with a browser view that shows it.

Reads the messages of a recording.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from typing import Any

import rclpy
from arm_common.ros.qos import LATCHED
from rclpy.executors import ExternalShutdownException
from rclpy.node import Node
from rclpy.qos import QoSProfile
from rclpy.signals import SignalHandlerOptions

from arm_viewer.errors import MissingPackageError, ViewerError


def messages(file: Path, topics: Sequence[str]) -> Iterator[tuple[Any, Any, Any]]:
    """Give schema, channel and message of all messages of some topics, in their order.

    Raises:
        ViewerError: The file is no recording.
        MissingPackageError: The package mcap is not installed.
    """
    with _reader(file) as reader:
        yield from reader.iter_messages(topics=topics)


def times(file: Path) -> tuple[int, int]:
    """Return when the first and the last message came, in nanoseconds.

    Raises:
        ViewerError: The file is no recording, or holds nothing.
        MissingPackageError: The package mcap is not installed.
    """
    with _reader(file) as reader:
        summary = reader.get_summary()
        found = None if summary is None else summary.statistics
    if found is None or not found.message_count:
        raise ViewerError(f"{file} holds no messages")
    return found.message_start_time, found.message_end_time


def message_type(kind: str) -> Any:
    """Return the class of "package/msg/Name", None where the package is not installed."""
    package, _, name = kind.split("/")
    try:
        return getattr(import_module(f"{package}.msg"), name)
    except (ImportError, AttributeError):
        return None


@contextmanager
def _reader(file: Path) -> Iterator[Any]:
    try:
        from mcap.exceptions import McapError
        from mcap.reader import make_reader
    except ImportError as error:
        raise MissingPackageError("mcap", "it reads recordings") from error
    try:
        stream = file.open("rb")
    except OSError as error:
        raise ViewerError(f"{file} cannot be read: {error.strerror}") from None
    try:
        with stream:
            yield make_reader(stream)
    except (McapError, OSError) as error:  # a seek in a file that is too short
        raise ViewerError(
            f"{file} is no whole MCAP file ({error or type(error).__name__}); "
            "was the recording ended with Ctrl-C?"
        ) from None


# mypy: disable-error-code="no-untyped-call"


VIEW = "from arm_viewer.ros.node import main; main()"
# What a view needs; what would move an arm that listens is never played.
SHOWN = (
    "/robot_description",
    "/tf",
    "/tf_static",
    "/joint_states",
    "/scene_markers",
    "/kinematics_markers",
    "/task_text",
    "/nut_world/state",
    "/run_task/state",
    "/arm_hardware/status",
    "/arm_controller/goal",
)
LONGEST_GAP = 2.0  # [s] between two messages; longer ones are shortened


class RecordingPlayer:
    """Publishes what was recorded.

    Args:
        node: The node that publishes.
        file: The recording.
    """

    def __init__(self, node: Node, file: Path) -> None:
        self._node, self._file = node, file
        self._publishers: dict[str, Any] = {}

    def play(self, speed: float) -> int:
        """Publish all messages at their times; returns how many.

        Args:
            speed: As many recorded seconds a second.

        Raises:
            ViewerError: The file is no recording.
        """
        count, former = 0, None
        for schema, channel, message in messages(self._file, SHOWN):
            if former is not None:
                time.sleep(min(LONGEST_GAP, max(0.0, 1e-9 * (message.log_time - former) / speed)))
            former = message.log_time
            publisher = self._publisher(schema.name, channel)
            if publisher is not None:
                publisher.publish(message.data)
                count += 1
        return count

    def _publisher(self, kind: str, channel: Any) -> Any:
        if channel.topic not in self._publishers:
            quality = QoSProfile(depth=100)
            if channel.metadata.get("latched") == "true":
                quality = LATCHED
            message = message_type(kind)
            self._publishers[channel.topic] = message and self._node.create_publisher(
                message, channel.topic, quality
            )
        return self._publishers[channel.topic]


def main(arguments: Sequence[str] | None = None) -> int:
    """Play a recording; returns the exit code."""
    parser = argparse.ArgumentParser(prog="./arm replay", description="Play a recording.")
    parser.add_argument("file", type=Path, help="an MCAP file of ./arm record")
    parser.add_argument("--speed", type=float, default=1.0, help="as many seconds a second")
    parser.add_argument("--loop", action="store_true", help="again and again")
    parser.add_argument("--no-view", action="store_true", help="publish only")
    given = parser.parse_args(arguments)
    if not given.speed > 0.0:
        parser.error(f"--speed: {given.speed:g} is not a positive number")
    view = None if given.no_view else subprocess.Popen([sys.executable, "-c", VIEW])
    rclpy.init(signal_handler_options=SignalHandlerOptions.NO)
    node = rclpy.create_node("replay")
    try:
        player = RecordingPlayer(node, given.file)
        again = True
        while again:
            sys.stdout.write(f"{player.play(given.speed)} messages played\n")
            sys.stdout.flush()
            again = given.loop
        if view is not None:
            view.wait()
    except ViewerError as error:
        sys.stderr.write(f"arm: {error}\n")
        return 1
    except (KeyboardInterrupt, ExternalShutdownException):
        pass
    finally:
        if view is not None:
            view.terminate()
            view.wait()
        rclpy.try_shutdown()
    return 0


if __name__ == "__main__":
    sys.exit(main())
