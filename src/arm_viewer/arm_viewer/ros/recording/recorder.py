# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""`./arm record`: writes every topic to an MCAP file until Ctrl-C.

A message's schema, in MCAP's encoding ros2msg, is the text of its .msg file, then of each type
that occurs in it, separated by a line of 80 equals signs and "MSG: package/Type"
(https://mcap.dev/spec/registry#ros2msg).
"""

from __future__ import annotations

import argparse
import re
import sys
import time
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

from ament_index_python.packages import get_package_share_directory
from arm_common.cli import parse
from arm_common.ros.messages import interface_class
from arm_common.ros.node_runner import run_node, user_arguments
from arm_common.ros.qos import STEADY_CLOCK
from arm_common.signals import ProcessEnd
from rclpy.executors import SingleThreadedExecutor
from rclpy.node import Node
from rclpy.qos import DurabilityPolicy, QoSProfile, ReliabilityPolicy

from arm_viewer.errors import ViewerError, required

# mypy: disable-error-code="no-untyped-call"

RULE = "=" * 80
# A field whose type is a message (plain types are in lower case), possibly an array.
_FIELD = re.compile(r"^\s*(?:(\w+)/)?(?:msg/)?([A-Z]\w*)(?:\[[^\]]*\])?\s+[A-Za-z]", re.MULTILINE)


def schema_text(name: str, read: Callable[[str], str]) -> str:
    """Return the complete definition of "package/Type"; `read` returns the .msg file of a type."""
    texts = {name: read(name)}
    waiting = [name]
    while waiting:
        current = waiting.pop()
        for package, kind in _FIELD.findall(texts[current]):
            other = f"{package or current.split('/')[0]}/{kind}"
            if other not in texts:
                texts[other] = read(other)
                waiting.append(other)
    first = texts.pop(name)
    return first + "".join(f"\n{RULE}\nMSG: {other}\n{text}" for other, text in texts.items())


DISCOVERY_PERIOD = 0.5  # [s] between two searches for new topics
DEPTH = 1000


class TopicRecorder(Node):  # type: ignore[misc]
    """Subscribes to all topics, with the quality of service of their publishers.

    Raises:
        ViewerError: The file cannot be written, or the package mcap is not installed.
    """

    def __init__(self, file: Path) -> None:
        super().__init__("recorder")
        with required("mcap", "it writes recordings"):
            from mcap.writer import Writer
        try:
            self._stream = file.open("wb")
        except OSError as error:
            raise ViewerError(f"{file} cannot be written: {error.strerror}") from None
        self._writer = Writer(self._stream)
        self._writer.start(profile="ros2", library="arm")
        self._schemas: dict[str, int] = {}
        self._known: set[str] = set()
        self.count = 0

    def start(self) -> None:
        """Subscribe to all topics, including new ones as they appear."""
        self._discover()
        self.create_timer(DISCOVERY_PERIOD, self._discover, clock=STEADY_CLOCK)

    def close(self) -> None:
        """Finish the file."""
        self._writer.finish()
        self._stream.close()

    def _discover(self) -> None:
        for topic, kinds in self.get_topic_names_and_types():
            offers = self.get_publishers_info_by_topic(topic)
            hidden = "/_" in topic  # of actions; rosbag2 excludes them, too
            if topic not in self._known and offers and len(kinds) == 1 and not hidden:
                self._known.add(topic)
                self._subscribe(topic, kinds[0], [offer.qos_profile for offer in offers])

    def _subscribe(self, topic: str, kind: str, offered: Sequence[QoSProfile]) -> None:
        """Record a topic, unless its type is not installed."""
        message = interface_class(kind)
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
            self._schemas[kind] = self._writer.register_schema(kind, "ros2msg", text.encode())
        return self._schemas[kind]

    def _on_message(self, channel: int, data: bytes) -> None:
        now = time.time_ns()
        self._writer.add_message(channel, log_time=now, data=data, publish_time=now)
        self.count += 1


def _definition(name: str) -> str:
    package, kind = name.split("/")
    return (Path(get_package_share_directory(package)) / "msg" / f"{kind}.msg").read_text()


def main(arguments: Sequence[str] | None = None) -> int:
    """Record until SIGINT or SIGTERM; return the exit code."""
    parser = argparse.ArgumentParser(
        prog="./arm record", description="Record every topic into an MCAP file, until Ctrl-C."
    )
    default = time.strftime("recording_%Y-%m-%d_%H-%M-%S.mcap")
    parser.add_argument("-o", "--output", type=Path, default=Path(default), help="the file")
    given = parse(parser, user_arguments(arguments))
    recorders: list[TopicRecorder] = []

    def make() -> list[TopicRecorder]:
        recorders.append(TopicRecorder(given.output))
        return recorders

    def begin(end: ProcessEnd) -> bool:
        """Start once a signal no longer kills the process, which would lose the file."""
        del end
        recorders[0].start()
        sys.stdout.write(f"Recording into {given.output}; Ctrl-C ends it.\n")
        sys.stdout.flush()
        return True

    def receive_rest() -> None:
        time.sleep(DISCOVERY_PERIOD)  # for messages sent before the end

    code = run_node(make, (ViewerError,), 0.0, SingleThreadedExecutor, begin, receive_rest)
    for recorder in recorders:
        recorder.close()
        sys.stdout.write(f"{recorder.count} messages in {given.output}\n")
    return code


if __name__ == "__main__":
    sys.exit(main())
