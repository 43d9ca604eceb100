# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Compiled models, kept with the octrees of their threads.

An octree takes seconds to build. The compiled model is therefore stored in the user's cache
folder, under a name made from all that determines it: document, depth, version of MuJoCo.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

from arm_tasks.planning.collision.mujoco_library import mujoco

DEPTH = 6  # of the octrees of threads; at 5 contacts are so coarse that a nut tips
_KEPT = 6  # stored models; the oldest are removed


def cache_folder() -> Path:
    """Return the folder of stored models."""
    base = os.environ.get("XDG_CACHE_HOME") or str(Path.home() / ".cache")
    return Path(base) / "arm_simulation"


def compiled(
    text: str, report: Callable[[str], None] = lambda _: None, folder: Path | None = None
) -> Any:
    """Return the MjModel of an MJCF text, from the cache if it is there.

    Args:
        text: the document; geoms of type sdf get octrees.
        report: receives a sentence before the octrees are built.
        folder: of the stored models, by default that of the user.
    """
    library = mujoco()
    key = hashlib.sha256(f"{library.__version__}\n{DEPTH}\n{text}".encode()).hexdigest()[:32]
    file = (folder or cache_folder()) / f"{key}.mjb"
    if (stored := _stored(file)) is not None:
        return stored
    if 'type="sdf"' not in text:
        return library.MjModel.from_xml_string(text)
    report("Preparing the contact model of the threads; this happens once for a scene.")
    spec = library.MjSpec.from_string(text)
    for mesh in spec.meshes:
        mesh.octree_maxdepth = DEPTH
    model = spec.compile()
    _store(model, file)
    return model


def _stored(file: Path) -> Any:
    """Return a stored model, or None; a damaged file counts as none."""
    with suppress(OSError, ValueError):
        os.utime(file)  # raises if there is none; the oldest are removed
        return mujoco().MjModel.from_binary_path(str(file))
    return None


def _store(model: Any, file: Path) -> None:
    """Store a model; a cache that cannot be written costs only time."""
    temporary = file.with_suffix(f".{os.getpid()}")
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        mujoco().mj_saveModel(model, str(temporary))
        temporary.replace(file)
        stored = sorted(file.parent.glob("*.mjb"), key=lambda path: path.stat().st_mtime)
        for old in stored[:-_KEPT]:
            old.unlink(missing_ok=True)
    except OSError:
        with suppress(OSError):
            temporary.unlink()
