# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
# Tests: src/arm_common/test/files/test_access.py
"""Files that the requests of other programs may name."""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Iterable
from pathlib import Path

from arm_common.errors import InputError
from arm_common.files.access import FileAccess


class RestrictedFiles(FileAccess):
    """The files that the requests of other programs may name.

    A file that they may not name does not exist for them. Symbolic links and `..` are resolved:
    what counts is where the file is. A hard link is in each of its folders. Names of users (`~`)
    are not expanded. Only regular files are opened.

    Args:
        folders: Their files are allowed, and those below them.
        files: Single allowed files.
    """

    def __init__(self, folders: Iterable[Path], files: Iterable[Path] = ()) -> None:
        self._folders = [_absolute(folder) for folder in folders]
        self._files = [_absolute(file) for file in files]

    def path(self, name: str) -> Path:
        """Return the path that a name in a request means."""
        return Path(name)

    def absence(self, path: Path, noun: str) -> str:
        """Return that there is no such file: folders are not told apart."""
        return f"there is no such {noun}"

    def has(self, path: Path) -> bool:
        """Return whether there is such a file among the allowed ones."""
        return self._real(path) is not None

    def read(self, path: Path, max_bytes: int) -> bytes:
        """Return the content of an allowed file, as `FileAccess.read` does."""
        real = self._real(path)
        if real is None:
            raise _missing()
        found = os.open(real, os.O_PATH | os.O_NOFOLLOW | os.O_CLOEXEC)  # opens no device
        try:
            if not self._allows_open(found):
                raise _missing()
            with Path(f"/proc/self/fd/{found}").open("rb") as file:
                return file.read(max_bytes + 1)
        finally:
            os.close(found)

    def _allows_open(self, descriptor: int) -> bool:
        """Return whether a descriptor is of an allowed file; a folder may have been replaced."""
        status, place = os.fstat(descriptor), str(Path(f"/proc/self/fd/{descriptor}").readlink())
        if not status.st_nlink:  # replaced by a newer file
            place = place.removesuffix(" (deleted)")
        return stat.S_ISREG(status.st_mode) and self._allows(Path(place), resolved=True)

    def _real(self, path: Path) -> Path | None:
        """Return where an allowed file is, or None; no file outside is touched by name."""
        path = _absolute(path)
        try:
            if not self._allows(path):
                return None
            real = path.resolve()
            is_allowed = self._allows(real, resolved=True) and stat.S_ISREG(real.lstat().st_mode)
        except (OSError, ValueError, RuntimeError):  # too long, a null character, a loop of links
            return None
        return real if is_allowed else None

    def _allows(self, path: Path, resolved: bool = False) -> bool:
        folders, files = self._folders, self._files
        if resolved:
            folders, files = [f.resolve() for f in folders], [f.resolve() for f in files]
        return path in files or any(path.is_relative_to(folder) for folder in folders)


def folders_in(text: str, parameter: str) -> list[Path]:
    """Return the folders that a parameter lists, separated by colons; empty entries are ignored.

    Raises:
        InputError: One of them does not exist.
    """
    folders = [Path(name).expanduser() for name in text.split(os.pathsep) if name]
    for folder in folders:
        if not folder.is_dir():
            raise InputError(f"parameter {parameter}: there is no folder {folder}")
    return folders


def _missing() -> FileNotFoundError:
    return FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT))


def _absolute(path: Path) -> Path:
    """Return an absolute path without `..`; links are not resolved."""
    return Path(os.path.abspath(path))  # noqa: PTH100 - Path.absolute keeps `..`
