# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Moves, adds and removes objects in the text of a scene file without touching the rest."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import cast

import numpy as np
import yaml
from arm_common.files import write_bytes
from arm_common.suggestions import did_you_mean
from arm_common.transforms import Array, inverse, matrix_rpy, pose, so3_exp
from arm_common.yaml.document import parse_yaml
from arm_common.yaml.editing import YamlEditor, flow_mapping, with_values
from arm_common.yaml.typed_mapping import TypedMapping

from arm_tasks.errors import SceneError, shipped
from arm_tasks.scene.file import OBJECTS, SCENE, scene_from_text, scene_placement
from arm_tasks.scene.scene import BASE_FRAME, Scene

SECTIONS = ("frames", "bolts", *OBJECTS)
_TOLERANCE = 1e-5  # m and unit vector, between the requested pose and that of the new file


def move_object(
    data: bytes, name: str, xyz: Sequence[float], by: bool, file: str = "scene"
) -> bytes:
    """Return the scene file with an object moved to, or by, xyz (3,) in its parent frame [m].

    The data are those of a valid file; its name is for error messages.

    Raises:
        SceneError: There is no such object, or the file would become invalid.
    """
    editor = YamlEditor(data)
    section = _section_of(editor, name, file)
    key = "xyz_mm" if editor.find(section, name, "xyz_mm") else "xyz"
    scale = 1e3 if key == "xyz_mm" else 1.0
    old = [float(n.value) for n in cast(yaml.SequenceNode, editor.find(section, name, key)).value]
    new = [v * scale + (o if by else 0.0) for v, o in zip(xyz, old, strict=True)]
    text = ", ".join(f"{round(v, 9) + 0.0:.10g}" for v in new)
    editor.set((section, name, key), f"[{text}]")
    return _checked(editor.data, file)


def add_object(
    data: bytes, section: str, name: str, keys: Mapping[str, str], file: str = "scene"
) -> bytes:
    """Return the scene file with a new object in a section; the values of its keys are YAML."""
    if section not in SECTIONS:
        raise SceneError(f"there is no section '{section}'; {did_you_mean(section, SECTIONS)}")
    editor = YamlEditor(data)
    editor.add((section, name), flow_mapping(keys))
    return _checked(editor.data, file)


def remove_object(data: bytes, name: str, file: str = "scene") -> bytes:
    """Return the scene file without an object, on which no other may be placed."""
    editor = YamlEditor(data)
    section = _section_of(editor, name, file)
    alone = editor.keys(section) == [name]  # an empty section is removed, too
    editor.remove((section,) if alone else (section, name))
    return _checked(editor.data, file)


def _section_of(editor: YamlEditor, name: str, file: str) -> str:
    names: list[str] = []
    for section in SECTIONS:
        keys = editor.keys(section)
        if name in keys:
            return section
        names += keys
    raise SceneError(f"there is no '{name}' in the scene; {did_you_mean(name, names)}", file)


def _checked(data: bytes, file: str) -> bytes:
    """Return the data if they are a valid scene."""
    scene_from_text(data.decode("utf-8-sig"), f"{file} after the edit")
    return data


def write_bolt(scene: Scene, name: str, tip: Array, axis: Array, robot: str) -> Scene:
    """Move a bolt in the file of its scene; return the new scene.

    The tip (3,) [m] is the centre of its free end, the axis (3,) a unit vector from there into the
    wall, both in base_link with the placement of the robot. After an error the file is unchanged.

    Raises:
        SceneError: The file is shipped, has changed meanwhile, or cannot be edited in this way.
        DescriptionError: The file cannot be written.
    """
    path = Path(scene.file)
    if path.resolve() in {file.resolve() for file in shipped("scenes").values()}:
        copy = f"copy it and start with scene:=my_{path.name}"
        raise SceneError(f"this scene is shipped and cannot be changed; {copy}", scene.file)
    data = path.read_bytes()
    before = scene_from_text(data.decode("utf-8-sig"), scene.file, robot)
    if name not in before.bolts or not np.allclose(before.bolt(name).pose, scene.bolt(name).pose):
        raise SceneError(f"{name} was changed in the file meanwhile; reload the scene", scene.file)
    target = _realigned(before.bolt(name).pose, tip, axis)
    new = with_values(data, ("bolts", name), _bolt_values(data, before, name, target, robot))
    after = scene_from_text(new.decode("utf-8-sig"), scene.file, robot)
    if not np.allclose(after.bolt(name).pose[:3, 2:], target[:3, 2:], atol=_TOLERANCE):
        what = f"the pose of {name} cannot be changed by itself; is it an alias?"
        raise SceneError(what, scene.file)
    write_bytes(new, str(path))
    return after


def _realigned(T: Array, tip: Array, axis: Array) -> Array:
    """Return a pose (4, 4) with a new origin and z axis, rotated by the smallest angle."""
    z = T[:3, 2]
    turn = np.cross(z, axis)
    sine = float(np.linalg.norm(turn))
    angle = float(np.arctan2(sine, z @ axis))
    R = so3_exp(turn / sine * angle) if sine > 1e-12 else np.eye(3)
    return pose(R @ T[:3, :3], tip)


def _bolt_values(data: bytes, scene: Scene, name: str, T: Array, robot: str) -> dict[str, str]:
    """Return the keys of a bolt at a pose (4, 4), in the units and form of the file."""
    root = TypedMapping(parse_yaml(data, scene.file, SceneError), "the scene", SCENE)
    written = root.children("bolts")[name].mapping()
    parent = scene.parents[name]
    T_parent = scene_placement(root, robot) if parent == BASE_FRAME else scene.frames[parent]
    local = inverse(T_parent) @ T
    xyz, rpy = matrix_rpy(local)
    values = {"xyz": _list(xyz, 6)}
    if "xyz_mm" in written:
        values = {"xyz_mm": _list(xyz * 1e3, 3)}
    if "rpy_deg" in written:
        values["rpy_deg"] = _list(np.degrees(rpy), 4)
    elif "rpy" in written:
        values["rpy"] = _list(rpy, 6)
    else:
        values["axis"] = _list(local[:3, 2], 6)
    return values


def _list(values: Array, digits: int) -> str:
    return f"[{', '.join(f'{float(v) + 0.0:.{digits}f}' for v in values)}]"
