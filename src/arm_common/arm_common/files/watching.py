# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Watches files for changes by other programs.

Contents are compared, not time stamps: this works with editors that write in place or rename, and
costs 20 us for a robot file.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

PERIOD = 0.3  # [s] of wall time between polls; two detect a change
MAX_MISSES = 3  # polls for which a file may be missing: editors remove it for a moment


def _no_files(content: bytes) -> tuple[Path, ...]:
    return ()


class FileWatch:
    """Watches one file, and the files that it names; poll it several times per second.

    Args:
        path: of the file.
        named: returns the files that a content names.
    """

    def __init__(self, path: Path, named: Callable[[bytes], tuple[Path, ...]] = _no_files) -> None:
        self._path, self._named = path, named
        self._returned: tuple[bytes, ...] | None = None  # its content, then those of the others
        self._last: tuple[bytes, ...] = ()
        self._others: tuple[Path, ...] = ()  # named by the last content
        self._misses = 0

    def poll(self) -> bytes | None:
        """Return the content initially and after every change, else None.

        A change counts once two successive polls have read the same content.

        Raises:
            OSError: it could not be read in `MAX_MISSES` polls; raised once.
        """
        try:
            content = self._path.read_bytes()
        except OSError:
            self._misses += 1
            if self._misses == MAX_MISSES:
                self._returned = None
                raise
            return None
        self._misses = 0
        if (content,) != self._last[:1]:
            self._others = self._named(content)
        contents = (content, *map(_content, self._others))
        is_settled = contents == self._last
        self._last = contents
        if not is_settled or contents == self._returned:
            return None
        self._returned = contents
        return content


def _content(path: Path) -> bytes:
    """Return the content of a file; nothing if it cannot be read, as its reader reports."""
    try:
        return path.read_bytes()
    except OSError:
        return b""
