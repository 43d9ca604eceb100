# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Scene YAML -> Scene, every value checked, every error with file and line."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import numpy as np
from arm_description.nearest import nearest
from arm_description.transforms import rpy_matrix
from arm_description.yaml_fields import Field
from arm_description.yaml_source import parse_yaml, read_yaml

from arm_tasks.errors import SceneError
from arm_tasks.geometry import Array, frame_along, pose
from arm_tasks.keys import Keys
from arm_tasks.scene import BASE_FRAME, Bolt, Box, Nut, Scene, readonly
from arm_tasks.thread import TURN

_GREY = (0.6, 0.6, 0.6, 1.0)


def read_scene(path: Path) -> Scene:
    """Read and check a scene file."""
    return _scene(read_yaml(path, SceneError))


def scene_from_text(text: str, file: str = "scene") -> Scene:
    """Read and check a scene from a string; file is the name used in errors."""
    return _scene(parse_yaml(text, file, SceneError))


def _scene(root: Field) -> Scene:
    keys = Keys(root, "the scene")
    name = keys.text("scene")
    floor = keys.length("floor", 0.0)
    sections = {kind: keys.children(kind) for kind in ("frames", "bolts", "boxes")}
    nut_item = keys.get("nut")
    keys.finish()
    frames: dict[str, Array] = {}
    for frame, item in sections["frames"].items():
        part = Keys(item, f"frame {frame}")
        _add(frames, frame, _placed(part, frames), part)
        part.finish()
    bolts = {bolt: _bolt(bolt, item, frames) for bolt, item in sections["bolts"].items()}
    boxes = {box: _box(box, item, frames) for box, item in sections["boxes"].items()}
    nut = _nut(nut_item[1], bolts) if nut_item else None
    if nut:
        bolts[nut.on] = _started(bolts[nut.on], nut)
    return Scene(name, root.file, bolts, nut, boxes, frames, floor, _parents(sections))


def _parents(sections: Mapping[str, Mapping[str, Field]]) -> dict[str, str]:
    """Return the frame that each frame of checked sections was placed on."""
    things = {name: item for section in sections.values() for name, item in section.items()}
    return {name: Keys(item, name).text("frame", BASE_FRAME) for name, item in things.items()}


def _add(frames: dict[str, Array], name: str, T: Array, keys: Keys) -> None:
    if name in frames or name in (BASE_FRAME, "nut"):
        raise keys.fail(f"the name '{name}' is taken; choose another")
    frames[name] = readonly(T)


def _placed(keys: Keys, frames: dict[str, Array]) -> Array:
    """Return base_link <- thing (4, 4) from `frame`, `xyz` and `rpy` or `axis`."""
    parent = keys.text("frame", BASE_FRAME)
    if parent != BASE_FRAME and parent not in frames:
        known = [BASE_FRAME, *frames]
        what = f"there is no frame '{parent}' above this line; {nearest(parent, known)}"
        raise keys.fail(what, keys.item_of("frame"))
    T_parent = np.eye(4) if parent == BASE_FRAME else frames[parent]
    p = keys.lengths("xyz")
    if keys.has("axis"):
        if keys.has("rpy", "rpy_deg"):
            raise keys.fail("give either axis or rpy, not both", keys.item_of("axis"))
        axis = keys.numbers("axis", 3)
        if np.linalg.norm(axis) < 1e-9:
            raise keys.fail("axis must not be zero", keys.item_of("axis"))
        R = frame_along(T_parent[:3, :3] @ axis)
        return pose(R, (T_parent @ pose(p=p))[:3, 3])
    return np.asarray(T_parent @ rpy_matrix(p, keys.angles("rpy", 3, (0, 0, 0))))


def _bolt(name: str, item: Field, frames: dict[str, Array]) -> Bolt:
    keys = Keys(item, f"bolt {name}")
    _add(frames, name, _placed(keys, frames), keys)
    bolt = Bolt(
        name=name,
        pose=frames[name],
        diameter=keys.length("diameter", above=0.0),
        length=keys.length("length", above=0.0),
        pitch=keys.length("pitch", above=0.0),
        hand=1 if keys.choice("handedness", ("right", "left"), "right") == "right" else -1,
        start=keys.angle("thread_start", 0.0),
        start_known=keys.has("thread_start", "thread_start_deg"),
    )
    keys.finish()
    if bolt.pitch >= bolt.length:
        raise keys.fail(f"the pitch must be smaller than the length ({bolt.length * 1e3:g} mm)")
    return bolt


def _box(name: str, item: Field, frames: dict[str, Array]) -> Box:
    keys = Keys(item, f"box {name}")
    _add(frames, name, _placed(keys, frames), keys)
    size = keys.lengths("size")
    if (size <= 0.0).any():
        raise keys.fail("every length of size must be above 0", item)
    color = _GREY
    if keys.has("color"):
        values = keys.numbers("color", 4).tolist()
        if min(values) < 0.0 or max(values) > 1.0:
            raise keys.fail("color is red, green, blue, opacity, each 0 to 1")
        color = (values[0], values[1], values[2], values[3])
    keys.finish()
    return Box(name, frames[name], readonly(size), color)


def _nut(item: Field, bolts: dict[str, Bolt]) -> Nut:
    keys = Keys(item, "the nut")
    on = keys.choice("on", tuple(bolts))
    bolt = bolts[on]
    nut = Nut(
        across_flats=keys.length("across_flats", above=0.0),
        thickness=keys.length("thickness", above=0.0),
        on=on,
        turns=keys.number("turns", above=0.0, most=bolt.thread.most_turns),
        flats=keys.angle("flats", 0.0),
    )
    keys.finish()
    if nut.across_flats <= bolt.diameter:
        raise keys.fail(f"across_flats must be more than the diameter of {on}")
    return nut


def _started(bolt: Bolt, nut: Nut) -> Bolt:
    """Return the bolt with the thread start that the nut on it proves."""
    start = math.remainder(nut.flats - bolt.hand * TURN * nut.turns, TURN)
    return replace(bolt, start=start, start_known=True)
