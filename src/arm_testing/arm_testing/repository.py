# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""The repository around a package under test: its documents, its tools, the other packages."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

WHY = "needs the repository: its package is tested alone"
_found: list[Path] = []


def use_repository_around(folder: Path) -> None:
    """Take the repository that contains a folder, if any, and let tests import its tools."""
    for path in (folder, *folder.parents):
        if (path / "tools" / "pip_ros").is_dir():
            _found[:] = [path]
            sys.path.insert(0, str(path / "tools"))
            return


def repository() -> Path:
    """Return the repository; without one, skip the test, or those of the module that asks."""
    if not _found:
        pytest.skip(WHY, allow_module_level=True)
    return _found[0]
