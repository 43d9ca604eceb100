# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Atomic file writes: the old content or the new, never a part of it."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

from arm_common.errors import InputError


def write_bytes(data: bytes, output: str) -> None:
    """Write a file atomically: to a temporary file beside it, then rename that over it.

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
