# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Put the place of a bolt into a scene file: only its own characters change."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from arm_description.transforms import matrix_rpy
from arm_description.whole_file import write_bytes
from arm_description.yaml_edit import with_values
from arm_description.yaml_source import parse_yaml

from arm_tasks.errors import SceneError
from arm_tasks.files import shipped
from arm_tasks.geometry import Array, inverse, pose, rotation
from arm_tasks.keys import Keys
from arm_tasks.scene import BASE_FRAME, Scene
from arm_tasks.scene_file import scene_from_text, stands
from arm_tasks.scene_keys import SCENE

CLOSE = 1e-5  # m and unit vector, between what was wanted and what the new text says


def write_bolt(scene: Scene, name: str, tip: Array, axis: Array, robot: str) -> Scene:
    """Move a bolt in the file of its scene; return the scene that the file then says.

    Args:
        scene: As it was read.
        name: Of the bolt.
        tip: (3,) its free end in base_link [m].
        axis: (3,) unit vector from there into the wall.
        robot: Name of the robot, whose placement counts.

    Raises:
        SceneError: The file is shipped, has changed since, or cannot be changed so. It is then as
            it was, as when it cannot be written (DescriptionError).
    """
    path = Path(scene.file)
    if path.resolve() in {file.resolve() for file in shipped("scenes").values()}:
        copy = f"copy it and start with scene:=my_{path.name}"
        raise SceneError(f"this scene is shipped and stays as it is; {copy}", scene.file)
    data = path.read_bytes()
    before = scene_from_text(data.decode("utf-8-sig"), scene.file, robot)
    if name not in before.bolts or not np.allclose(before.bolt(name).pose, scene.bolt(name).pose):
        raise SceneError(f"{name} was changed in the file meanwhile; load it anew", scene.file)
    wanted = _turned(before.bolt(name).pose, tip, axis)
    new = _edited(data, before, name, wanted, robot)
    after = scene_from_text(new.decode("utf-8-sig"), scene.file, robot)
    found = after.bolt(name).pose
    if not np.allclose(found[:3, 2:], wanted[:3, 2:], atol=CLOSE):
        raise SceneError(
            f"the place of {name} cannot be changed alone; is it an alias?", scene.file
        )
    write_bytes(new, str(path))
    return after


def _turned(T: Array, tip: Array, axis: Array) -> Array:
    """Return a pose (4, 4) with another origin and z, turned no more than that needs."""
    z = T[:3, 2]
    turn = np.cross(z, axis)
    sine = float(np.linalg.norm(turn))
    angle = float(np.arctan2(sine, z @ axis))
    R = rotation(turn / sine * angle) if sine > 1e-12 else np.eye(3)
    return pose(R @ T[:3, :3], tip)


def _edited(data: bytes, scene: Scene, name: str, T: Array, robot: str) -> bytes:
    """Return the text with a bolt's keys set, in the units and the way that it writes them."""
    root = Keys(parse_yaml(data, scene.file, SceneError), "the scene", SCENE)
    written = root.children("bolts")[name].mapping()
    parent = scene.parents[name]
    T_parent = stands(root, robot) if parent == BASE_FRAME else scene.frames[parent]
    local = inverse(T_parent) @ T
    xyz, rpy = matrix_rpy(local)
    values = {}
    if "xyz_mm" in written:
        values["xyz_mm"] = _list(xyz * 1e3, 3)
    else:
        values["xyz"] = _list(xyz, 6)
    if "rpy_deg" in written:
        values["rpy_deg"] = _list(np.degrees(rpy), 4)
    elif "rpy" in written:
        values["rpy"] = _list(rpy, 6)
    else:
        values["axis"] = _list(local[:3, 2], 6)
    return with_values(data, ("bolts", name), values)


def _list(values: Array, digits: int) -> str:
    return f"[{', '.join(f'{float(v) + 0.0:.{digits}f}' for v in values)}]"
