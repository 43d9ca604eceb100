# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Find shipped files; the files of this computer, which a name can refer to."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Container
from contextlib import suppress
from functools import partial
from pathlib import Path


def shipped_files(
    package: str, folder: str, endings: Container[str] = (".yaml",)
) -> dict[str, Path]:
    """Return the files of a shipped folder by name, sorted, from the first share that has any."""
    for share in share_folders(package):
        files = sorted((share / folder).glob("*"))
        if found := {path.stem: path for path in files if path.suffix in endings}:
            return found
    return {}


def share_folders(package: str) -> list[Path]:
    """Return the folders that may hold the files shipped with an imported package, best first.

    The source tree goes first, so that a checkout is never shadowed by an older installation; then
    share/ of the prefix that the package is installed under, then of AMENT_PREFIX_PATH.
    """
    module = Path(str(sys.modules[package].__file__)).absolute()
    source = module.parents[1]
    found = [source] if (source / "package.xml").is_file() else []
    found += [prefix / "share" / package for prefix in module.parents]
    return found + _prefix_shares(package)


def installed_share(package: str) -> Path:
    """Return the share folder of any package in AMENT_PREFIX_PATH.

    Raises:
        LookupError: it is not installed.
    """
    for share in _prefix_shares(package):
        if package and share.is_dir():
            return share
    raise LookupError(package)


def _prefix_shares(package: str) -> list[Path]:
    prefixes = os.environ.get("AMENT_PREFIX_PATH", "").split(os.pathsep)
    return [Path(prefix, "share", package) for prefix in prefixes if prefix]


class FileAccess:
    """All files of this computer, for programs that act for the person who starts them."""

    def path(self, name: str) -> Path:
        """Return the path that a name in a request means."""
        with suppress(RuntimeError):  # ~ of an unknown user
            return Path(name).expanduser()
        return Path(name)

    def has(self, path: Path) -> bool:
        """Return whether there is such a file."""
        with suppress(OSError):  # too long a name
            return path.is_file()
        return False

    def absence(self, path: Path, noun: str) -> str:
        """Return a clause on why a path is no file of a kind, such as "scene file"."""
        with suppress(OSError):
            if path.is_dir():
                return f"this is a folder, not a {noun}"
        return f"there is no such {noun}"

    def read(self, path: Path, max_bytes: int) -> bytes:
        """Return the content of a file; longer than `max_bytes` if there is more.

        Raises:
            OSError: It cannot be read.
        """
        with path.open("rb") as file:
            return file.read(max_bytes + 1)


ANY_FILE = FileAccess()


def read_text(
    path: Path, max_bytes: int, refuse: Callable[..., Exception], files: FileAccess = ANY_FILE
) -> str:
    """Read a UTF-8 file of at most `max_bytes`.

    `refuse` makes the error, an InputError that names the file: it cannot be read, is too large,
    or is not UTF-8.
    """
    error = partial(refuse, file=str(path))
    try:
        data = files.read(path, max_bytes)
    except OSError as problem:
        raise error(f"cannot be read ({problem.strerror})", remedy="check the path") from None
    if len(data) > max_bytes:
        larger = f"is larger than {max_bytes // 1_000_000} MB"
        raise error(larger, remedy="check that it is the right file")
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as problem:
        line = problem.object[: problem.start].count(b"\n") + 1
        raise error("is not UTF-8 text", remedy="save it as UTF-8", line=line) from None
