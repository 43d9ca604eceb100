# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""`./arm record`: writes every topic to an MCAP file until Ctrl-C.

Messages are written one by one, and to the disk twice a second: a killed program or a power cut
costs less than a second. At the end, they are packed into compressed chunks with an index.

A message's schema, in MCAP's encoding ros2msg, is the text of its .msg file, then of each type
that occurs in it, separated by a line of 80 equals signs and "MSG: package/Type"
(https://mcap.dev/spec/registry#ros2msg).
"""

from __future__ import annotations

import argparse
import io
import os
import re
import sys
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path

from ament_index_python.packages import get_package_share_directory
from arm_common.cli import add_force, parse, refuse_overwriting
from arm_common.errors import InputError
from arm_common.files.saving import write_bytes
from arm_common.ros.message_conversions import interface_class
from arm_common.ros.node_runner import run_node, user_arguments
from arm_common.ros.qos import STEADY_CLOCK
from arm_common.signals import ProcessEnd
from arm_common.terminal import print_line
from arm_viewer.errors import ViewerError, required
from rclpy.executors import SingleThreadedExecutor
from rclpy.node import Node
from rclpy.qos import DurabilityPolicy, QoSProfile, ReliabilityPolicy

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
FLUSH_PERIOD = 0.5  # [s] after which messages are on the disk
MAX_PACKED = 2**30  # [bytes]; a longer recording stays as it is
DEPTH = 1000


class TopicRecorder(Node):  # type: ignore[misc]
    """Subscribes to all topics, with the quality of service of their publishers.

    Raises:
        InputError: The file exists and may not be replaced.
        ViewerError: The file cannot be written, or the package mcap is not installed.
    """

    def __init__(self, file: Path, may_replace: bool = False) -> None:
        super().__init__("recorder")
        with required("mcap", "it writes recordings"):
            from mcap.writer import Writer
        refuse_overwriting(str(file), may_replace)
        try:
            self._stream = file.open("wb" if may_replace else "xb")
        except OSError as error:
            raise ViewerError(f"{file} cannot be written: {error.strerror}") from None
        self._file = file
        self._writer = Writer(self._stream, use_chunking=False)
        self._writer.start(profile="ros2", library="arm")
        self._offset = time.time_ns() - time.monotonic_ns()  # later, the clock may be set
        self._end: ProcessEnd | None = None
        self.failure = ""
        self._schemas: dict[str, int] = {}
        self._known: set[str] = set()
        self.count = 0

    def start(self, end: ProcessEnd) -> None:
        """Subscribe to all topics, including new ones as they appear; on a full disk, end."""
        self._end = end
        self._discover()
        self.create_timer(DISCOVERY_PERIOD, self._discover, clock=STEADY_CLOCK)
        self.create_timer(FLUSH_PERIOD, partial(self._write, self._flush), clock=STEADY_CLOCK)

    def close(self) -> None:
        """Finish the file, and pack it if there is room."""
        self._write(self._writer.finish)
        self._write(self._flush)
        with suppress(OSError):  # what is left in the buffer cannot be written
            self._stream.close()
        if not self.failure and self._file.is_file() and self._file.stat().st_size < MAX_PACKED:
            with suppress(InputError):
                write_bytes(packed(self._file), self._file)

    def _write(self, action: Callable[[], object]) -> None:
        """Write to the file, unless that has failed before."""
        if self.failure:
            return
        try:
            action()
        except OSError as error:
            self.failure = f"{self._file} cannot be written: {error.strerror}"
            if self._end is not None:
                self._end.request()

    def _flush(self) -> None:
        self._stream.flush()
        os.fsync(self._stream.fileno())

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
        now = self._offset + time.monotonic_ns()
        add = self._writer.add_message
        self._write(lambda: add(channel, log_time=now, data=data, publish_time=now))
        self.count += not self.failure


def packed(file: Path) -> bytes:
    """Return a complete recording in compressed chunks, with an index."""
    from mcap.records import Channel, Message, Schema
    from mcap.stream_reader import StreamReader
    from mcap.writer import Writer

    schemas: set[int] = set()  # repeated at the end of the file
    channels: set[int] = set()
    output = io.BytesIO()
    writer = Writer(output)
    writer.start(profile="ros2", library="arm")
    with file.open("rb") as stream:
        for record in StreamReader(stream).records:
            if isinstance(record, Message):
                times = record.log_time, record.publish_time
                writer.add_message(record.channel_id, times[0], record.data, times[1])
            elif isinstance(record, Schema) and record.id not in schemas:
                schemas.add(writer.register_schema(record.name, record.encoding, record.data))
            elif isinstance(record, Channel) and record.id not in channels:
                words = record.topic, record.message_encoding, record.schema_id, record.metadata
                channels.add(writer.register_channel(*words))
    writer.finish()
    return output.getvalue()


def _definition(name: str) -> str:
    package, kind = name.split("/")
    return (Path(get_package_share_directory(package)) / "msg" / f"{kind}.msg").read_text()


def main(arguments: Sequence[str] | None = None) -> int:
    """Record until SIGINT or SIGTERM; return the exit code."""
    parser = argparse.ArgumentParser(
        prog="./arm record", description="Record every topic into an MCAP file, until Ctrl-C."
    )
    default = time.strftime("recording_%Y-%m-%d_%H-%M-%S.mcap")
    parser.add_argument("-o", "--output", type=Path, default=Path(default), help="output file")
    add_force(parser)
    given = parse(parser, user_arguments(arguments))
    recorders: list[TopicRecorder] = []

    def make() -> list[TopicRecorder]:
        recorders.append(TopicRecorder(given.output, given.force))
        return recorders

    def begin(end: ProcessEnd) -> bool:
        """Start once a signal no longer kills the process, which would lose the file."""
        recorders[0].start(end)
        print_line(f"Recording into {given.output}; Ctrl-C ends it.")
        return True

    def receive_rest() -> None:
        time.sleep(DISCOVERY_PERIOD)  # for messages sent before the end

    code = run_node(make, (ViewerError,), 0.0, SingleThreadedExecutor, begin, receive_rest)
    for recorder in recorders:
        recorder.close()
        sys.stdout.write(f"{recorder.count} messages in {given.output}\n")
        if recorder.failure:
            sys.stderr.write(f"{recorder.failure}\n")
            return 1
    return code


if __name__ == "__main__":
    sys.exit(main())
