# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
# Tests: src/arm_tasks/test/scene/test_editing.py
"""Reads scene files by tables of keys, from which schema and reference are generated, too."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import numpy as np
from arm_common.files.access import ANY_FILE, FileAccess
from arm_common.suggestions import did_you_mean
from arm_common.transforms import Array, frame_along, pose, rpy_matrix
from arm_common.yaml.colours import COLOUR, read_colour
from arm_common.yaml.document import Field, parse_yaml, read_yaml
from arm_common.yaml.schema_types import Choice, Key, Leaf, ListOf, Named, Table
from arm_common.yaml.typed_mapping import TypedMapping
from arm_description.model.units import mm
from arm_description.robot_model import read_only

from arm_tasks.errors import SceneError, resolve
from arm_tasks.scene.scene import (
    BASE_FRAME,
    GREY,
    SHAPES,
    TOOL_FRAME,
    TURN,
    Bolt,
    Nut,
    Scene,
    SceneObject,
    box,
)
from arm_tasks.scene.screw_thread import ScrewThread

DEFAULT_SCENE = "nut_transfer"
TASK_SCENE = "table"  # of tasks that name none: nothing but the table

TEXT = Leaf("text", "text")
NUMBER = Leaf("number")
LENGTH = Leaf("m", suffix="_mm")
ABOVE = Leaf("m", suffix="_mm", above=0.0)
ANGLE = Leaf("rad", suffix="_deg")
ARC = Leaf("rad", suffix="_deg", above=0.0, most=TURN)
HANDS = ("right", "left")
ZEROS = (0.0, 0.0, 0.0)

RPY = Key(ListOf(ANGLE, 3, 3), "roll, pitch, yaw about fixed axes x, y, z", default=ZEROS)
PLACED = {
    "frame": Key(TEXT, "parent frame, defined above it", default=BASE_FRAME),
    "xyz": Key(ListOf(LENGTH, 3, 3), "position of its frame in the parent", True),
    "rpy": RPY,
    "axis": Key(
        ListOf(NUMBER, 3, 3),
        "direction of its z in the parent, with x as upright as possible; instead of rpy",
    ),
}
BOLT = Table(
    {
        **PLACED,
        "diameter": Key(ABOVE, "major diameter of the thread", True),
        "pitch": Key(ABOVE, "advance per turn; a smooth pin if omitted"),
        "length": Key(ABOVE, "length of the thread from the free end", True),
        "handedness": Key(Choice(HANDS), "handedness of the thread", default=HANDS[0]),
        "thread_start": Key(
            ANGLE,
            "roll of the nut about z, from x, at which the thread catches; unknown if omitted",
        ),
    }
)
NUT = Table(
    {
        "on": Key(TEXT, "initial bolt", True),
        "turns": Key(Leaf("number", above=0.0), "turns to unscrew it from there", True),
        "across_flats": Key(ABOVE, "distance between opposite flats", True),
        "thickness": Key(ABOVE, "thickness along its axis", True),
        "flats": Key(ANGLE, "roll of a flat about the bolt's z, from its x", default=0.0),
        "diameter": Key(ABOVE, "major diameter of its thread; that of the bolt if omitted"),
        "pitch": Key(ABOVE, "pitch of its thread; likewise"),
        "handedness": Key(Choice(HANDS), "handedness of its thread; likewise"),
    }
)
_COLOR = Key(COLOUR, "colour of the object; default that of its kind")
_MASS = Key(Leaf("kg", above=0.0), "makes the object a payload, which the jaws can carry")


def _object_keys(
    what: str, extra: Mapping[str, Key] | None = None, /, **sizes: str
) -> tuple[str, Table]:
    dimensions = {name: Key(ABOVE, meaning, True) for name, meaning in sizes.items()}
    return what, Table({**PLACED, **dimensions, **(extra or {}), "color": _COLOR, "mass": _MASS})


_FLAT = {"length": "along x", "width": "along y"}
OBJECTS: Mapping[str, tuple[str, Table]] = {
    "tables": _object_keys(
        "A plate on four legs; the frame is in the middle of the top, z up.",
        **_FLAT,
        height="of the top above the ground",
    ),
    "conveyors": _object_keys(
        "A stationary belt along x on two rollers and trestles; the frame is as for tables.",
        **_FLAT,
        height="of the belt above the ground",
    ),
    "pallets": _object_keys(
        "A deck on three runners; the frame is in the middle of the deck's top, z up.",
        **_FLAT,
        height="of deck and runners",
    ),
    "surfaces": _object_keys(
        "A plate to work on; the frame is in the middle of its face, z out of it.",
        **_FLAT,
        thickness="behind the face",
    ),
    "walls": _object_keys(
        "A wall; the frame is in the middle of its face, x up, z into the wall, as for bolts.",
        height="along x",
        width="along y",
        thickness="along z",
    ),
    "batteries": _object_keys(
        "A round cell with its terminal; the frame is in the middle, z toward the terminal.",
        diameter="of the cell",
        length="with the terminal",
    ),
    "pegs": _object_keys(
        "A round peg; the frame is in the middle, z along the axis.",
        diameter="of the peg",
        length="along z",
    ),
    "fuselages": _object_keys(
        "A part of a tube; the frame is in the middle of its axis, x along it, the shell about z.",
        {"arc": Key(ARC, "angle of the shell", True)},
        radius="outside",
        length="along x",
        thickness="of the shell",
    ),
    "boxes": _object_keys(
        "Boxes, their frame in the middle.",
        {"size": Key(ListOf(ABOVE, 3, 3), "along x, y, z", True)},
    ),
}

PLACEMENT = Table({"xyz": PLACED["xyz"], "rpy": RPY})
SCENE = Table(
    {
        "scene": Key(TEXT, "name of the scene", True),
        "floor": Key(LENGTH, "height of the floor in base_link", default=0.0),
        "placements": Key(
            Named(PLACEMENT, "robot"),
            "base_link of a robot <- scene, to bring the scene within reach; it moves everything "
            "but the floor; the identity for other robots",
        ),
        "frames": Key(Named(Table(PLACED), "frame"), "named frames"),
        "bolts": Key(
            Named(BOLT, "bolt"), "bolts; the frame is at the free end, z toward the head"
        ),
        "nut": Key(NUT, "a hexagon nut"),
        **{kind: Key(Named(table, "name"), what) for kind, (what, table) in OBJECTS.items()},
    }
)


MAX_PLACED = 2000  # 1,000 boxes cost a motion some 0.5 s


def load_scene(name_or_path: str | Path, robot: str = "", files: FileAccess = ANY_FILE) -> Scene:
    """Load a scene by its shipped name or path, with the placement for a robot.

    Raises:
        SceneError: One sentence with file and line, or the names of the shipped scenes.
    """
    path = resolve(str(name_or_path), "scenes", "scene", SceneError, files)
    return _scene(read_yaml(path, SceneError, files=files), robot)


def scene_from_text(text: str | bytes, file: str = "scene", robot: str = "") -> Scene:
    """Read and check a scene from a string or UTF-8; file is its name in error messages."""
    return _scene(parse_yaml(text, file, SceneError), robot)


class _Placer:
    """Computes and registers the frames of a scene, given base_link <- scene (4, 4)."""

    def __init__(self, T: Array) -> None:
        self._root = T
        self.frames: dict[str, Array] = {}
        self.parents: dict[str, str] = {}

    def place(self, name: str, keys: TypedMapping) -> Array:
        """Register the frame of a part and return base_link <- part (4, 4)."""
        if name in self.frames or name in (BASE_FRAME, TOOL_FRAME, "nut"):
            raise keys.fail(f"the name '{name}' is taken; choose another")
        if len(self.frames) >= MAX_PLACED:
            raise keys.fail(f"a scene has at most {MAX_PLACED} frames, bolts and objects")
        parent = self.parents[name] = keys.text("frame")
        self.frames[name] = read_only(self._placed(keys, parent))
        return self.frames[name]

    def _placed(self, keys: TypedMapping, parent: str) -> Array:
        if parent != BASE_FRAME and parent not in self.frames:
            known = [BASE_FRAME, *self.frames]
            what = f"there is no frame '{parent}' above this line; {did_you_mean(parent, known)}"
            raise keys.fail(what, keys.require("frame"))
        T_parent = self._root if parent == BASE_FRAME else self.frames[parent]
        p = keys.numbers("xyz")
        if keys.has("axis"):
            if keys.has("rpy"):
                raise keys.fail("give either axis or rpy, not both", keys.require("axis"))
            axis = keys.numbers("axis")
            if np.linalg.norm(axis) < 1e-9:
                raise keys.fail("axis must not be zero", keys.require("axis"))
            R = frame_along(T_parent[:3, :3] @ axis)
            return pose(R, (T_parent @ pose(p=p))[:3, 3])
        return np.asarray(T_parent @ rpy_matrix(p, keys.numbers("rpy")))


def _scene(root: Field, robot: str) -> Scene:
    keys = TypedMapping(root, "the scene", SCENE)
    placer = _Placer(scene_placement(keys, robot))
    for frame, item in keys.children("frames").items():
        placer.place(frame, TypedMapping(item, f"frame {frame}", Table(PLACED)))
    bolts = {bolt: _bolt(bolt, item, placer) for bolt, item in keys.children("bolts").items()}
    objects = {
        name: _object(kind, name, item, placer)
        for kind in OBJECTS
        for name, item in keys.children(kind).items()
    }
    nut = _nut(keys.require("nut"), bolts) if keys.has("nut") else None
    if nut:
        bolts[nut.on] = _started(bolts[nut.on], nut)
    return Scene(
        name=keys.text("scene"),
        file=root.file,
        bolts=bolts,
        nut=nut,
        objects=objects,
        frames=placer.frames,
        floor=keys.number("floor"),
        parents=placer.parents,
    )


def scene_placement(keys: TypedMapping, robot: str) -> Array:
    """Check all placements and return base_link <- scene (4, 4) for a robot."""
    result = np.eye(4)
    for name, item in keys.children("placements").items():
        part = TypedMapping(item, f"placement of {name}", PLACEMENT)
        T = np.asarray(rpy_matrix(part.numbers("xyz"), part.numbers("rpy")))
        result = T if name == robot else result
    return result


def _bolt(name: str, item: Field, placer: _Placer) -> Bolt:
    keys = TypedMapping(item, f"bolt {name}", BOLT)
    bolt = Bolt(
        name=name,
        pose=placer.place(name, keys),
        pitch=keys.number("pitch", 0.0),
        hand=_hand(keys),
        start=keys.number("thread_start", 0.0),
        start_known=keys.has("thread_start"),
        diameter=keys.number("diameter"),
        length=keys.number("length"),
    )
    if bolt.pitch >= bolt.length:
        raise keys.fail(f"the pitch must be smaller than the length ({mm(bolt.length)})")
    if not bolt.is_pin:
        _thread(keys, bolt.diameter, bolt.pitch, bolt.hand)
    elif given := [key for key in ("handedness", "thread_start") if keys.has(key)]:
        raise keys.fail(f"a smooth pin has no {given[0]}; give its pitch if it has a thread")
    return bolt


def _hand(keys: TypedMapping, default: int = 1) -> int:
    return 1 if keys.choice("handedness", HANDS[default < 0]) == HANDS[0] else -1


def _thread(keys: TypedMapping, diameter: float, pitch: float, hand: int) -> ScrewThread:
    try:
        return ScrewThread.of(diameter, pitch, hand)
    except SceneError as error:
        raise keys.fail(str(error)) from None


def _object(kind: str, name: str, item: Field, placer: _Placer) -> SceneObject:
    keys = TypedMapping(item, f"{kind} {name}", OBJECTS[kind][1])
    T = placer.place(name, keys)
    color = read_colour(keys.require("color")) if keys.has("color") else None
    mass = keys.optional("mass")
    if kind == "boxes":
        x, y, z = map(float, keys.numbers("size"))
        return SceneObject(name, kind, T, (box((x, y, z), ZEROS, color or GREY),), mass)
    others = (*PLACED, "color", "mass")
    sizes = {key: keys.number(key) for key in OBJECTS[kind][1].keys if key not in others}
    return SceneObject(name, kind, T, SHAPES[kind](sizes, color), mass)


def _nut(item: Field, bolts: Mapping[str, Bolt]) -> Nut:
    keys = TypedMapping(item, "the nut", NUT)
    on = keys.choice("on", among=tuple(bolts))
    bolt = bolts[on]
    if bolt.is_pin:
        raise keys.fail(f"the nut cannot be on {on}, a smooth pin; give the pitch of a thread")
    sizes = {key: keys.number(key, getattr(bolt, key)) for key in ("diameter", "pitch")}
    thread = _thread(keys, **sizes, hand=_hand(keys, bolt.hand))
    nut = Nut(
        across_flats=keys.number("across_flats"),
        thickness=keys.number("thickness"),
        on=on,
        turns=keys.number("turns", most=bolt.max_turns),
        flats=keys.number("flats"),
        thread=thread if any(map(keys.has, ("diameter", "pitch", "handedness"))) else None,
    )
    if not bolt.thread.fits(thread, nut.thickness / thread.pitch):
        raise keys.fail(f"the nut, {thread}, does not fit {on}, {bolt.thread}")
    if nut.across_flats <= thread.diameter:
        raise keys.fail(f"across_flats must be more than the diameter of {on}")
    return nut


def _started(bolt: Bolt, nut: Nut) -> Bolt:
    """Return the bolt with the thread start that follows from the nut on it."""
    start = math.remainder(nut.flats - bolt.hand * TURN * nut.turns, TURN)
    return replace(bolt, start=start, start_known=True)
