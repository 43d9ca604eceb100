# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Write files atomically; find the files shipped with a package."""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Container
from pathlib import Path

from arm_common.errors import InputError


def write_bytes(data: bytes, output: str) -> None:
    """Write a file atomically: to a temporary file beside it, then rename that over it.

    Readers see the old content or the new, never a part of it.

    Raises:
        InputError: the file cannot be written.
    """
    path = Path(output)
    try:
        if path.exists() and not path.is_file():  # /dev/stdout or a pipe; a folder raises OSError
            path.write_bytes(data)
        else:
            _replace(path.resolve(), data)
    except OSError as error:
        raise InputError(
            f"cannot be written ({error.strerror})", remedy="check the path", file=output
        ) from None


def _replace(path: Path, data: bytes) -> None:
    mode = path.stat().st_mode & 0o777 if path.exists() else 0o666 & ~_umask()
    descriptor, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(descriptor, "wb") as temporary:
            temporary.write(data)
        Path(name).chmod(mode)
        Path(name).replace(path)
    finally:
        Path(name).unlink(missing_ok=True)


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask


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
