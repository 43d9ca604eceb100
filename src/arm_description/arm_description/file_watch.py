# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Notice that a file was saved, however the editor saves it.

The content is looked at, not its time: that is right for editors that write in place, beside and
rename, or several times in a row, and costs 20 us for a robot file.
"""

from __future__ import annotations

from pathlib import Path

PATIENCE = 3  # looks for which a file may be missing: editors remove it for a moment


class FileWatch:
    """Watches one file; made to be asked a few times a second.

    Args:
        path: the file.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._told: bytes | None = None
        self._seen: bytes | None = None
        self._missed = 0

    def look(self) -> bytes | None:
        """Look at the file.

        Returns:
            Its content, once at the beginning and after every change, as soon as two looks in a
            row have found the same; else None.

        Raises:
            OSError: it could not be read for a while; raised once.
        """
        try:
            content = self._path.read_bytes()
        except OSError:
            self._missed += 1
            if self._missed == PATIENCE:
                self._told = None
                raise
            return None
        self._missed = 0
        settled = content == self._seen
        self._seen = content
        if not settled or content == self._told:
            return None
        self._told = content
        return content
