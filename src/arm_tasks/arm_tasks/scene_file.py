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
from arm_description.robot_file.kinds import Named, Table
from arm_description.transforms import rpy_matrix
from arm_description.yaml_fields import Field
from arm_description.yaml_source import parse_yaml, read_yaml

from arm_tasks.errors import SceneError
from arm_tasks.geometry import Array, frame_along, pose
from arm_tasks.keys import Keys
from arm_tasks.scene import BASE_FRAME, Bolt, Nut, Scene, readonly
from arm_tasks.scene_keys import BOLT, HANDS, NUT, PLACED, SCENE, THINGS
from arm_tasks.things import GREY, SHAPES, Color, Thing, box
from arm_tasks.thread import TURN

_ZEROS = (0.0, 0.0, 0.0)
_ARC = ("arc",)  # sizes that are no lengths


def read_scene(path: Path, robot: str = "") -> Scene:
    """Read and check a scene file, for a robot by name."""
    return _scene(read_yaml(path, SceneError), robot)


def scene_from_text(text: str, file: str = "scene", robot: str = "") -> Scene:
    """Read and check a scene from a string; file is the name used in errors."""
    return _scene(parse_yaml(text, file, SceneError), robot)


class _Placer:
    """Gives each named part of a scene its frame.

    Args:
        T: base_link <- where the scene stands (4, 4) [m].
    """

    def __init__(self, T: Array) -> None:
        self._root = T
        self.frames: dict[str, Array] = {}
        self.parents: dict[str, str] = {}

    def place(self, name: str, keys: Keys) -> Array:
        """Return base_link <- part (4, 4), and keep it under its name."""
        if name in self.frames or name in (BASE_FRAME, "nut"):
            raise keys.fail(f"the name '{name}' is taken; choose another")
        self.parents[name] = keys.text("frame", BASE_FRAME)
        self.frames[name] = readonly(self._placed(keys))
        return self.frames[name]

    def _placed(self, keys: Keys) -> Array:
        """Return base_link <- part (4, 4) from `frame`, `xyz` and `rpy` or `axis`."""
        parent = keys.text("frame", BASE_FRAME)
        if parent != BASE_FRAME and parent not in self.frames:
            known = [BASE_FRAME, *self.frames]
            what = f"there is no frame '{parent}' above this line; {nearest(parent, known)}"
            raise keys.fail(what, keys.item_of("frame"))
        T_parent = self._root if parent == BASE_FRAME else self.frames[parent]
        p = keys.numbers("xyz")
        if keys.has("axis"):
            if keys.has("rpy"):
                raise keys.fail("give either axis or rpy, not both", keys.item_of("axis"))
            axis = keys.numbers("axis")
            if np.linalg.norm(axis) < 1e-9:
                raise keys.fail("axis must not be zero", keys.item_of("axis"))
            R = frame_along(T_parent[:3, :3] @ axis)
            return pose(R, (T_parent @ pose(p=p))[:3, 3])
        return np.asarray(T_parent @ rpy_matrix(p, keys.numbers("rpy", 3, _ZEROS)))


def _scene(root: Field, robot: str) -> Scene:
    keys = Keys(root, "the scene", SCENE)
    placer = _Placer(stands(keys, robot))
    for frame, item in keys.children("frames").items():
        placer.place(frame, Keys(item, f"frame {frame}", Table(PLACED)))
    bolts = {bolt: _bolt(bolt, item, placer) for bolt, item in keys.children("bolts").items()}
    things = {
        name: _thing(kind, name, item, placer)
        for kind in THINGS
        for name, item in keys.children(kind).items()
    }
    nut = _nut(keys.item_of("nut"), bolts) if keys.has("nut") else None
    if nut:
        bolts[nut.on] = _started(bolts[nut.on], nut)
    return Scene(
        name=keys.text("scene"),
        file=root.file,
        bolts=bolts,
        nut=nut,
        things=things,
        frames=placer.frames,
        floor=keys.number("floor", 0.0),
        parents=placer.parents,
    )


def stands(keys: Keys, robot: str) -> Array:
    """Return base_link <- where the scene stands (4, 4) for a robot; every placement is read."""
    named = SCENE.keys["placements"].kind
    assert isinstance(named, Named) and isinstance(named.kind, Table)
    result = np.eye(4)
    for name, item in keys.children("placements").items():
        part = Keys(item, f"placement of {name}", named.kind)
        T = np.asarray(rpy_matrix(part.numbers("xyz"), part.numbers("rpy", 3, _ZEROS)))
        result = T if name == robot else result
    return result


def _bolt(name: str, item: Field, placer: _Placer) -> Bolt:
    keys = Keys(item, f"bolt {name}", BOLT)
    bolt = Bolt(
        name=name,
        pose=placer.place(name, keys),
        diameter=keys.number("diameter", above=0.0),
        length=keys.number("length", above=0.0),
        pitch=keys.number("pitch", above=0.0),
        hand=1 if keys.choice("handedness", HANDS, HANDS[0]) == HANDS[0] else -1,
        start=keys.number("thread_start", 0.0),
        start_known=keys.has("thread_start"),
    )
    if bolt.pitch >= bolt.length:
        raise keys.fail(f"the pitch must be smaller than the length ({bolt.length * 1e3:g} mm)")
    return bolt


def _thing(kind: str, name: str, item: Field, placer: _Placer) -> Thing:
    keys = Keys(item, f"{kind} {name}", THINGS[kind][1])
    T, color = placer.place(name, keys), _color(keys)
    mass = keys.number("mass", above=0.0) if keys.has("mass") else None
    if kind == "boxes":
        size = keys.numbers("size")
        if (size <= 0.0).any():
            raise keys.fail("every length of size must be above 0", keys.item_of("size"))
        x, y, z = map(float, size)
        return Thing(name, kind, T, (box((x, y, z), _ZEROS, color or GREY),), mass)
    sizes = {
        key: keys.number(key, above=0.0, most=TURN if key in _ARC else math.inf)
        for key in THINGS[kind][1].keys
        if key not in (*PLACED, "color", "mass")
    }
    return Thing(name, kind, T, SHAPES[kind](sizes, color), mass)


def _color(keys: Keys) -> Color | None:
    if not keys.has("color"):
        return None
    red, green, blue, opacity = keys.numbers("color", 4).tolist()
    if min(red, green, blue, opacity) < 0.0 or max(red, green, blue, opacity) > 1.0:
        raise keys.fail("color is red, green, blue, opacity, each 0 to 1", keys.item_of("color"))
    return red, green, blue, opacity


def _nut(item: Field, bolts: Mapping[str, Bolt]) -> Nut:
    keys = Keys(item, "the nut", NUT)
    on = keys.choice("on", tuple(bolts))
    bolt = bolts[on]
    nut = Nut(
        across_flats=keys.number("across_flats", above=0.0),
        thickness=keys.number("thickness", above=0.0),
        on=on,
        turns=keys.number("turns", above=0.0, most=bolt.thread.most_turns),
        flats=keys.number("flats", 0.0),
    )
    if nut.across_flats <= bolt.diameter:
        raise keys.fail(f"across_flats must be more than the diameter of {on}")
    return nut


def _started(bolt: Bolt, nut: Nut) -> Bolt:
    """Return the bolt with the thread start that the nut on it proves."""
    start = math.remainder(nut.flats - bolt.hand * TURN * nut.turns, TURN)
    return replace(bolt, start=start, start_known=True)
