# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""`./arm record`: writes every topic into an MCAP file, until Ctrl-C.

The definition of a message with all that it is made of, as MCAP's encoding ros2msg wants it.

The text of the .msg file, then of each other type that occurs in it, set apart by a line of 80
equals signs and "MSG: package/Type" (https://mcap.dev/spec/registry#ros2msg). No ROS in here.
"""

from __future__ import annotations

import argparse
import re
import signal
import sys
import time
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

import rclpy
from ament_index_python.packages import get_package_share_directory
from rclpy.clock import Clock
from rclpy.clock_type import ClockType
from rclpy.executors import SingleThreadedExecutor
from rclpy.node import Node
from rclpy.qos import DurabilityPolicy, QoSProfile, ReliabilityPolicy
from rclpy.signals import SignalHandlerOptions

from arm_viewer.errors import MissingPackageError, ViewerError
from arm_viewer.ros.recording.player import message_type

RULE = "=" * 80
# A field: a type, perhaps with a bound or as an array, and a name; or a constant, with "=".
_FIELD = re.compile(r"^\s*([A-Za-z][\w/]*)(?:<=\d+)?(?:\[[^\]]*\])?\s+[A-Za-z]\w*")
_PLAIN = {
    "bool",
    "byte",
    "char",
    "float32",
    "float64",
    "string",
    "wstring",
    *(f"{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64)),
}


def schema_text(name: str, read: Callable[[str], str]) -> str:
    """Return the whole definition of a type.

    Args:
        name: "package/Type".
        read: Returns the text of the .msg file of such a name.
    """
    texts = {name: read(name)}
    waiting = [name]
    while waiting:
        for other in parts(waiting.pop(), texts):
            if other not in texts:
                texts[other] = read(other)
                waiting.append(other)
    first, *others = texts.values()
    names = list(texts)[1:]
    return first + "".join(
        f"\n{RULE}\nMSG: {other}\n{text}" for other, text in zip(names, others, strict=True)
    )


def parts(name: str, texts: dict[str, str]) -> list[str]:
    """Return the types, as "package/Type", of the fields of a type."""
    package = name.split("/")[0]
    found = []
    for line in texts[name].splitlines():
        match = _FIELD.match(line.split("#")[0])
        if match is None or match[1] in _PLAIN:
            continue
        kind = match[1].replace("/msg/", "/")
        found.append(kind if "/" in kind else f"{package}/{kind}")
    return found


# mypy: disable-error-code="no-untyped-call"


LOOK = 0.5  # [s] between two looks for new topics
DEPTH = 1000


class TopicRecorder(Node):  # type: ignore[misc]
    """Subscribes to whatever there is, with the quality of service that it is offered with.

    Args:
        file: The file to write.

    Raises:
        ViewerError: The file cannot be written.
        MissingPackageError: The package mcap is not installed.
    """

    def __init__(self, file: Path) -> None:
        super().__init__("recorder")
        try:
            from mcap.writer import Writer
        except ImportError as error:
            raise MissingPackageError("mcap", "it writes recordings") from error
        try:
            self._stream = file.open("wb")
        except OSError as error:
            raise ViewerError(f"{file} cannot be written: {error.strerror}") from None
        self._writer = Writer(self._stream)
        self._writer.start(profile="ros2", library="arm")
        self._schemas: dict[str, int] = {}
        self._known: set[str] = set()
        self.count = 0
        self._look()
        self.create_timer(LOOK, self._look, clock=Clock(clock_type=ClockType.STEADY_TIME))

    def close(self) -> None:
        """Finish the file."""
        self._writer.finish()
        self._stream.close()

    def _look(self) -> None:
        """Subscribe to topics that are new."""
        for topic, kinds in self.get_topic_names_and_types():
            offers = self.get_publishers_info_by_topic(topic)
            hidden = "/_" in topic  # of actions; a bag leaves them out too
            if topic not in self._known and offers and len(kinds) == 1 and not hidden:
                self._known.add(topic)
                self._subscribe(topic, kinds[0], [offer.qos_profile for offer in offers])

    def _subscribe(self, topic: str, kind: str, offered: Sequence[QoSProfile]) -> None:
        """Begin to record a topic; one whose type is not installed is said and left out."""
        message = message_type(kind)
        if message is None:
            self.get_logger().warning(f"{topic} is not recorded: {kind} is not installed here")
            return
        latched = all(q.durability == DurabilityPolicy.TRANSIENT_LOCAL for q in offered)
        reliable = all(q.reliability == ReliabilityPolicy.RELIABLE for q in offered)
        quality = QoSProfile(depth=DEPTH)
        if latched:
            quality.durability = DurabilityPolicy.TRANSIENT_LOCAL
        if not reliable:
            quality.reliability = ReliabilityPolicy.BEST_EFFORT
        channel = self._writer.register_channel(
            topic=topic,
            message_encoding="cdr",
            schema_id=self._schema(kind),
            metadata={"latched": "true" if latched else "false"},
        )
        self.create_subscription(
            message, topic, partial(self._on_message, channel), quality, raw=True
        )

    def _schema(self, kind: str) -> int:
        if kind not in self._schemas:
            text = schema_text(kind.replace("/msg/", "/"), _definition)
            number = self._writer.register_schema(
                name=kind, encoding="ros2msg", data=text.encode()
            )
            self._schemas[kind] = number
        return self._schemas[kind]

    def _on_message(self, channel: int, data: bytes) -> None:
        now = time.time_ns()
        self._writer.add_message(channel, log_time=now, data=data, publish_time=now)
        self.count += 1


def _definition(name: str) -> str:
    package, kind = name.split("/")
    return (Path(get_package_share_directory(package)) / "msg" / f"{kind}.msg").read_text()


def main(arguments: Sequence[str] | None = None) -> int:
    """Record until SIGINT or SIGTERM; returns the exit code."""
    parser = argparse.ArgumentParser(
        prog="./arm record", description="Record every topic into an MCAP file, until Ctrl-C."
    )
    plain = time.strftime("recording_%Y-%m-%d_%H-%M-%S.mcap")
    parser.add_argument("-o", "--output", type=Path, default=Path(plain), help="the file")
    given = parser.parse_args(arguments)
    ends: list[int] = []
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda number, frame: ends.append(number))
    rclpy.init(signal_handler_options=SignalHandlerOptions.NO)
    try:
        recorder = TopicRecorder(given.output)
    except ViewerError as error:
        sys.stderr.write(f"arm: {error}\n")
        return 1
    sys.stdout.write(f"Recording into {given.output}; Ctrl-C ends it.\n")
    sys.stdout.flush()
    executor = SingleThreadedExecutor()
    executor.add_node(recorder)
    while not ends:
        executor.spin_once(timeout_sec=LOOK)
    end = time.monotonic() + LOOK
    while time.monotonic() < end:  # What was sent before the end is still on its way.
        executor.spin_once(timeout_sec=0.05)
    recorder.close()
    sys.stdout.write(f"{recorder.count} messages in {given.output}\n")
    rclpy.try_shutdown()
    return 0


if __name__ == "__main__":
    sys.exit(main())
