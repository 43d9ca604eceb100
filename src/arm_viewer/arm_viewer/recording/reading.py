# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Reads the messages of a recording."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from typing import Any

from ..errors import MissingPackageError, ViewerError


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
