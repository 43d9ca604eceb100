# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""The ROS messages in MCAP files of any program, in the order and at the times of publication.

A file whose end is missing or damaged is used up to there, and channels that hold no messages of
ROS 2 are left out; `RecordingFile.notices` says so. Files are read from front to back, since an
index at the end may be missing or wrong.
"""

from __future__ import annotations

import sys
from collections.abc import Collection, Iterator
from dataclasses import dataclass, replace
from importlib import import_module
from io import BytesIO
from itertools import islice
from pathlib import Path
from typing import Any, BinaryIO, TypeAlias

import numpy as np
import yaml
from arm_common.errors import one_line
from arm_common.ros.message_conversions import interface_class
from arm_common.transforms import Array
from arm_common.yaml.document import load_plain
from arm_viewer.errors import ViewerError, required
from numpy.typing import NDArray
from rclpy.serialization import deserialize_message

# mypy: disable-error-code="no-untyped-call"

LONGEST_PAUSE = 2.0  # [s] between two messages; longer ones are shortened
CLOCK_STEP = 1.0  # [s] by which the stamps of a topic go back only if a clock was set
LATEST = 2**62  # [ns]; a later time is damage
MAX_RECORD = 2**30  # [bytes]; a greater length is damage
MAX_CHUNK = 2**28  # [bytes] decompressed; few bytes can claim to be any number
MAX_NOTICES = 100
Integers: TypeAlias = NDArray[np.int64]
_SCHEMAS = ("ros2msg", "ros2idl")  # encodings
_TRANSIENT_LOCAL = (1, "transient_local")  # as older and newer versions of rosbag2 write it
_OTHER_FILES = {  # first bytes: what it is
    b"SQLite format 3\0": "is a database of rosbag2 (.db3): convert it with ros2 bag convert",
    b"#ROSBAG V": "is a bag of ROS 1: convert it with mcap convert",
    b"\x28\xb5\x2f\xfd": "is compressed as a whole: unpack it with zstd -d",
}


@dataclass(frozen=True, eq=False)
class RecordedMessage:
    """A message of ROS 2."""

    time: float  # since the first message of the file, pauses shortened [s]
    topic: str
    data: bytes  # CDR
    content: Any


@dataclass
class RecordedTopic:
    """What a recording says of a topic."""

    kind: Any  # class of its messages
    latched: bool  # whether its publishers were transient local
    count: int = 0  # messages


class RecordingFile:
    """The messages of a file on some topics.

    Attributes:
        topics: Those that are in the file with messages of ROS 2, by name.
        other_topics: Names of all others in the file.
        notices: A sentence about each thing that is left out; more may follow while it is read.
        duration: From the first message of the file to the last one, pauses shortened [s].

    Raises:
        ViewerError: The file is none of MCAP, cannot be read, or contains no messages, or the
            package mcap is not installed.
    """

    def __init__(self, file: Path, topics: Collection[str]) -> None:
        self.file = file
        self.topics: dict[str, RecordedTopic] = {}
        self.notices: list[str] = []
        self._reported = 0
        self._channels: dict[int, RecordedTopic | None] = {}
        names: set[str] = set()
        stamps: list[tuple[int, int, int]] = []
        for schema, channel, message in self._records():
            if channel.id not in self._channels:
                names.add(channel.topic)
                wanted = channel.topic in topics
                self._channels[channel.id] = self._topic(schema, channel) if wanted else None
            if (topic := self._channels[channel.id]) is not None:
                topic.count += 1
            times = message.publish_time or message.log_time, message.log_time
            stamps.append((channel.id, *(min(time, LATEST) for time in times)))
        if not stamps:
            raise ViewerError("; ".join((f"{file} contains no messages", *self.notices)))
        self.other_topics = sorted(names - set(self.topics))
        order, self._times = timeline(np.array(stamps))
        self._rank = np.argsort(order)
        self.duration = float(self._times[-1])

    def __iter__(self) -> Iterator[RecordedMessage]:
        waiting: dict[int, RecordedMessage | None] = {}
        due = 0
        for rank, record in zip(
            self._rank, islice(self._records(), len(self._rank)), strict=False
        ):
            waiting[int(rank)] = self._message(float(self._times[rank]), *record)
            while due in waiting:
                message = waiting.pop(due)
                due += 1
                if message is not None:
                    yield message

    def _message(
        self, time: float, schema: Any, channel: Any, message: Any
    ) -> RecordedMessage | None:
        topic = self._channels[channel.id]
        if topic is None:
            return None
        try:
            content = deserialize_message(message.data, topic.kind)
        except Exception:  # noqa: BLE001 - that of the middleware is not public
            self._leave_out(channel, f"a message is no {schema.name}")
            return None
        return RecordedMessage(time, channel.topic, message.data, content)

    def _topic(self, schema: Any, channel: Any) -> RecordedTopic | None:
        """Return the topic of a channel; None if its messages are not those of ROS 2."""
        name = "a message without a schema" if schema is None else one_line(schema.name, 100)
        kind = None
        if (
            schema is not None
            and channel.message_encoding == "cdr"
            and schema.encoding in _SCHEMAS
        ):
            kind = interface_class(schema.name)
            if kind is None:
                name += ", which is not installed here"
        else:
            name += f" in the encoding {one_line(channel.message_encoding, 100) or 'none'}"
        former = self.topics.get(channel.topic)
        if kind is None or (former is not None and former.kind is not kind):
            self._leave_out(channel, f"its messages are {name}")
            return None
        topic = self.topics.setdefault(channel.topic, RecordedTopic(kind, True))
        topic.latched &= _is_latched(channel.metadata)
        return topic

    def _leave_out(self, channel: Any, reason: str) -> None:
        self.note(f"{self.file}: {one_line(channel.topic, 100)} is left out: {reason}")

    def note(self, sentence: str) -> None:
        """Add a notice, unless there is the same or there are too many."""
        if sentence not in self.notices and len(self.notices) < MAX_NOTICES:
            self.notices.append(sentence)

    def unreported(self) -> list[str]:
        """Return the notices since the last call."""
        new, self._reported = self.notices[self._reported :], len(self.notices)
        return new

    def _records(self) -> Iterator[tuple[Any, Any, Any]]:
        """Yield schema, channel and message in the order of the file, as far as it is sound."""
        with required("mcap", "it reads recordings"):
            from mcap.exceptions import EndOfFile
        _refuse_other_kinds(self.file)
        with self.file.open("rb") as stream:
            records, count = _messages(stream), 0
            while True:
                try:
                    record = next(records)
                except StopIteration:
                    return
                except EndOfFile:
                    self.note(f"{self.file} was not ended: its last second may be missing")
                    return
                except Exception:  # noqa: BLE001 - mcap, zstd, lz4 and struct have no common base
                    self.note(f"{self.file} is damaged after {count} messages; they are used")
                    return
                count += 1
                yield record


def _messages(stream: BinaryIO) -> Iterator[tuple[Any, Any, Any]]:
    """Yield schema, channel and message of a file; raise an exception where it is damaged."""
    from mcap.records import Channel, Chunk, Message, Schema
    from mcap.stream_reader import StreamReader, breakup_chunk

    schemas: dict[int, Schema | None] = {0: None}
    channels: dict[int, Channel] = {}
    reader = StreamReader(
        stream, emit_chunks=True, validate_crcs=True, record_size_limit=MAX_RECORD
    )
    for part in reader.records:
        chunk = _decompressed(part) if isinstance(part, Chunk) else None
        for record in breakup_chunk(chunk, validate_crc=True) if chunk else [part]:
            if isinstance(record, Schema):
                schemas[record.id] = record
            elif isinstance(record, Channel):
                channels[record.id] = record
            elif isinstance(record, Message):
                channel = channels[record.channel_id]
                yield schemas[channel.schema_id], channel, record


def _decompressed(chunk: Any) -> Any:
    """Return a chunk without compression; raise ValueError if it has another size than it says.

    mcap believes what the compressed data say about their size.
    """
    if not chunk.compression:
        return chunk
    size = chunk.uncompressed_size
    library = import_module({"zstd": "zstandard", "lz4": "lz4.frame"}[chunk.compression])
    with library.open(BytesIO(chunk.data)) as stream:
        data = stream.read(min(size, MAX_CHUNK) + 1)
    if len(data) != size:
        raise ValueError(f"a chunk of {size} bytes has {len(data)} or more")
    return replace(chunk, compression="", data=data)


def print_notices(recording: RecordingFile) -> None:
    """Write what is left out to standard error, each sentence once."""
    for sentence in recording.unreported():
        sys.stderr.write(f"{sentence}\n")


def _refuse_other_kinds(file: Path) -> None:
    """Raise a ViewerError that says what a file is, unless it begins as one of MCAP."""
    if file.is_dir():
        names = sorted(path.name for path in file.iterdir() if path.suffix in (".mcap", ".db3"))
        kind = "a folder of rosbag2" if (file / "metadata.yaml").is_file() else "a folder"
        raise ViewerError(f"{file} is {kind}: give an MCAP file in it{_such_as(names)}")
    try:
        with file.open("rb") as stream:
            begin = stream.read(16)
    except OSError as error:
        raise ViewerError(f"{file} cannot be read: {error.strerror}") from None
    for start, what in _OTHER_FILES.items():
        if begin.startswith(start):
            raise ViewerError(f"{file} {what}")
    if not begin.startswith(b"\x89MCAP0\r\n"):
        raise ViewerError(f"{file} is not an MCAP file")


def _such_as(names: list[str]) -> str:
    if not names:
        return ""
    if not names[0].endswith(".mcap") and not any(name.endswith(".mcap") for name in names):
        return f"; {names[0]} is a database: convert it with ros2 bag convert"
    return f", such as {next(name for name in names if name.endswith('.mcap'))}"


def _is_latched(metadata: dict[str, str]) -> bool:
    """Return True if all publishers of a channel were transient local."""
    try:
        profiles = load_plain(metadata.get("offered_qos_profiles", ""))
        durabilities = [profile["durability"] for profile in profiles or ()]
    except (yaml.YAMLError, TypeError, KeyError):
        durabilities = []
    return metadata.get("latched") == "true" or (
        bool(durabilities) and all(each in _TRANSIENT_LOCAL for each in durabilities)
    )


def timeline(stamps: Integers) -> tuple[NDArray[np.intp], Array]:
    """Return the order of messages (n,), and their times in this order (n,) [s].

    They are ordered by the time of publication, or by that of recording if its clock was set back
    less often. Each time that a clock is set back, it goes on from the latest time; pauses are
    shortened.

    Args:
        stamps: channel id, time of publication and of recording (n, 3) [ns], in the file's order.
    """
    published, logged = (_continued(stamps[:, 0], stamps[:, k]) for k in (1, 2))
    times = published[0] if published[1] <= logged[1] else logged[0]
    order = np.argsort(times, kind="stable")
    steps = np.diff(times[order], prepend=times[order[0]])
    return order, 1e-9 * np.cumsum(np.minimum(steps, int(LONGEST_PAUSE * 1e9)))


def _continued(channels: Integers, stamps: Integers) -> tuple[Integers, int]:
    """Return stamps (n,) [ns] that no clock sets back, and how often one was.

    It was if a stamp is far behind one of its own channel. Then the messages just before it that
    are far behind the latest one, of channels that came rarely, were stamped after that, too.
    """
    times, ids, step = stamps.tolist(), channels.tolist(), int(CLOCK_STEP * 1e9)
    latest: dict[int, int] = {}
    newest, offset, first, count = times[0], 0, 0, 0
    for i, channel in enumerate(ids):
        times[i] += offset
        if times[i] >= newest - step:
            first = i + 1  # nobody is behind
        if times[i] < latest.get(channel, times[i]) - step:
            shift = newest - times[first]
            for k in range(first, i + 1):
                times[k] += shift
                latest[ids[k]] = max(times[k], latest.get(ids[k], times[k]))
            offset, first, count = offset + shift, i + 1, count + 1
        latest[channel] = max(times[i], latest.get(channel, times[i]))
        newest = max(newest, times[i])
    return np.array(times), count
