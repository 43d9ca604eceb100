# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Where the shipped scenes and tasks are: under share/arm_tasks, or in the source tree."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

from arm_description.nearest import nearest

from arm_tasks.errors import TasksError

_PACKAGE = "arm_tasks"


def shipped_folder(kind: str) -> Path:
    """Return the folder of the shipped files of a kind, "scenes" or "tasks".

    The source tree's own folder goes first, so that a checkout is never shadowed by an older
    installation; then share/arm_tasks of the prefix that this file is installed under, then of
    each prefix in AMENT_PREFIX_PATH.
    """
    here = Path(__file__).absolute()
    prefixes = [Path(p) for p in os.environ.get("AMENT_PREFIX_PATH", "").split(os.pathsep) if p]
    installed = [prefix / "share" / _PACKAGE / kind for prefix in (*here.parents, *prefixes)]
    folders = [here.parents[1] / kind, *installed]
    return next((folder for folder in folders if folder.is_dir()), folders[0])


def shipped(kind: str) -> dict[str, Path]:
    """Return the shipped files of a kind by name, sorted."""
    return {path.stem: path for path in sorted(shipped_folder(kind).glob("*.yaml"))}


def resolve(name_or_path: str, kind: str, noun: str, error: Callable[..., TasksError]) -> Path:
    """Return the file that a name or a path means.

    A path is what has a slash or ends in .yaml or .yml; everything else is a shipped name.

    Args:
        name_or_path: What a person wrote.
        kind: "scenes" or "tasks".
        noun: What to call it in the error, such as "scene".
        error: What to raise.
    """
    path = Path(name_or_path).expanduser()
    if path.suffix in (".yaml", ".yml") or len(path.parts) > 1:
        if path.is_file():
            return path
        raise error(f"there is no such {noun} file", str(path))
    names = shipped(kind)
    if name_or_path not in names:
        where = f"shipped with {_PACKAGE}, and it is no path of a .yaml file"
        raise error(f"no {noun} '{name_or_path}' is {where}; {nearest(name_or_path, names)}")
    return names[name_or_path]
