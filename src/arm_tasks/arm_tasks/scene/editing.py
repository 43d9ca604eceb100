# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Moves, adds and removes objects in the text of a scene file without touching the rest.

The last valid scene stays while an entry is wrong.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import cast

import numpy as np
import yaml
from arm_common.files.saving import save_edit
from arm_common.suggestions import did_you_mean
from arm_common.transforms import Array, inverse, matrix_rpy, pose, so3_exp
from arm_common.yaml.document import parse_yaml
from arm_common.yaml.editing import CheckedEditor, EntryPath, YamlEditor, flow_mapping, flow_word
from arm_common.yaml.schema_types import Key, Table
from arm_common.yaml.typed_mapping import SUFFIXES, TypedMapping

from arm_tasks.errors import SceneError, shipped
from arm_tasks.scene.file import (
    BOLT,
    NUT,
    OBJECTS,
    PLACED,
    SCENE,
    scene_from_text,
    scene_placement,
)
from arm_tasks.scene.scene import BASE_FRAME, Scene

SECTIONS = ("frames", "bolts", *OBJECTS)
_MORE_DIGITS = 2  # of a bolt that was touched than of an object that was dragged
_TOLERANCE = 1e-5  # m and unit vector, between the requested pose and that of the new file


def write_bolt(scene: Scene, name: str, tip: Array, axis: Array, robot: str) -> Scene:
    """Move a bolt in the file of its scene; return the new scene.

    The tip (3,) [m] is the centre of its free end, the axis (3,) a unit vector from there into the
    wall, both in base_link with the placement of the robot. After an error the file is unchanged.

    Raises:
        SceneError: The file is shipped, has changed meanwhile, or cannot be edited in this way.
        DescriptionError: The file cannot be written.
    """
    editor = _own_file(scene, name, robot)
    before, target = editor.data, _realigned(editor.model.bolt(name).pose, tip, axis)
    if refused := editor.move(name, target, more=_MORE_DIGITS):
        raise SceneError(refused)
    if not np.allclose(editor.model.bolt(name).pose[:3, 2:], target[:3, 2:], atol=_TOLERANCE):
        what = f"the pose of {name} cannot be changed by itself; is it an alias?"
        raise SceneError(what, file=scene.file)
    save_edit(editor.data, Path(scene.file), before)
    return editor.model


def write_thread_start(scene: Scene, name: str, start: float, robot: str) -> Scene:
    """Set where the thread of a bolt starts [rad], as write_bolt() sets where the bolt is."""
    editor = _own_file(scene, name, robot)
    before, nut = editor.data, editor.model.nut
    if nut is not None and nut.on == name:
        what = f"the nut starts on {name}, and gives the start of its thread"
        raise SceneError(f"{what}; only that of another bolt is written", file=scene.file)
    plain = "thread_start" in editor.reading.keys("bolts", name)
    key, text = "thread_start_deg", f"{np.degrees(start):.1f}"
    if plain:
        key, text = "thread_start", f"{start:.4f}"
    if refused := editor.change(lambda edited: edited.set(("bolts", name, key), text)):
        raise SceneError(refused)
    save_edit(editor.data, Path(scene.file), before)
    return editor.model


def _own_file(scene: Scene, name: str, robot: str) -> SceneEditor:
    """Return an editor of the file of a scene; raise SceneError unless a bolt may change."""
    path = Path(scene.file)
    if path.resolve() in {file.resolve() for file in shipped("scenes").values()}:
        copy = f"copy it and start with scene:=my_{path.name}"
        raise SceneError(f"this scene is shipped and cannot be changed; {copy}", file=scene.file)
    editor = SceneEditor(path.read_bytes(), scene.file, robot=robot)
    bolts = editor.model.bolts
    if name not in bolts or not np.allclose(bolts[name].pose, scene.bolt(name).pose):
        raise SceneError(
            f"{name} was changed in the file meanwhile; reload the scene", file=scene.file
        )
    return editor


def _realigned(T: Array, tip: Array, axis: Array) -> Array:
    """Return a pose (4, 4) with a new origin and z axis, rotated by the smallest angle."""
    z = T[:3, 2]
    turn = np.cross(z, axis)
    sine = float(np.linalg.norm(turn))
    angle = float(np.arctan2(sine, z @ axis))
    R = so3_exp(turn / sine * angle) if sine > 1e-12 else np.eye(3)
    return pose(R @ T[:3, :3], tip)


# What can be added, by the word for it: section of the file, and its keys.
KINDS: Mapping[str, tuple[str, Mapping[str, str]]] = {
    "box": ("boxes", {"size_mm": "[40, 40, 40]"}),
    "cylinder": ("pegs", {"diameter_mm": "30", "length_mm": "60"}),
    "payload": ("boxes", {"size_mm": "[20, 20, 20]", "mass": "0.02"}),
    "bolt": ("bolts", {"axis": "[1, 0, 0]", "diameter_mm": "8", "pitch_mm": "1.25",
                       "length_mm": "30"}),
    "nut": ("nut", {}),
    "battery": ("batteries", {"diameter_mm": "14.5", "length_mm": "50.5", "mass": "0.023"}),
    "table": ("tables", {"length_mm": "300", "width_mm": "200", "height_mm": "100"}),
    "wall": ("walls", {"height_mm": "150", "width_mm": "150", "thickness_mm": "10"}),
    "surface": ("surfaces", {"length_mm": "150", "width_mm": "150", "thickness_mm": "3"}),
    "pallet": ("pallets", {"length_mm": "120", "width_mm": "100", "height_mm": "20"}),
    "conveyor": ("conveyors", {"length_mm": "300", "width_mm": "80", "height_mm": "120"}),
    "fuselage": ("fuselages", {"radius_mm": "150", "length_mm": "300", "thickness_mm": "3",
                               "arc_deg": "180"}),
    "frame": ("frames", {}),
}  # fmt: skip
_NUT = "nut"  # its section and the name of its frame
_TURNED = 1e-6  # [rad] from which a rotation is written


@dataclass(frozen=True)
class BodyEntry:
    """An entry of a body: its key as written, with the unit, and its path in the file."""

    label: str
    path: EntryPath


@dataclass
class SceneEditor(CheckedEditor[Scene]):
    """The text of a scene file, the scene for a robot, and what can be undone.

    Attributes:
        robot: the robot's name, for the placement of the scene.
    """

    name: str = "scene"
    robot: str = ""

    def parse(self, data: bytes) -> Scene:
        """Return the scene of a text; raise a SceneError if it is invalid."""
        name = self.name if data is self.data else f"{self.name} after the edit"
        return scene_from_text(data, name, self.robot)

    def written(self, editor: YamlEditor, path: EntryPath) -> str:
        """Return an entry; the numbers of a list are separated by commas."""
        node = editor.find(*path)
        if isinstance(node, yaml.SequenceNode):
            return ", ".join(str(item.value) for item in node.value)
        return editor.scalar(*path)

    def enter(self, editor: YamlEditor, path: EntryPath, text: str) -> None:
        """Write a number, a text, or several as a list; remove it if the text is empty."""
        if not text:
            if editor.find(*path) is not None:
                editor.remove(path)
            return
        words = [_scalar(word) for word in text.strip("[]").split(",")]
        was_list = isinstance(editor.find(*path), yaml.SequenceNode) and path[-1] != "color"
        is_list = was_list or len(words) > 1
        editor.set(path, f"[{', '.join(words)}]" if is_list else words[0])

    def bodies(self) -> dict[str, str]:
        """Return the section of each body and frame, by name, in the order of the file."""
        editor = self.reading
        found = {name: section for section in SECTIONS for name in editor.keys(section)}
        return found | ({_NUT: _NUT} if editor.find(_NUT) is not None else {})

    def entries(self, name: str) -> tuple[BodyEntry, ...]:
        """Return what can be typed about a body: what is written, then what may be added."""
        path, table = self._place(name)
        written = self.reading.keys(*path)
        found = [_entry(path, key, table.keys[table.spellings[key]]) for key in written]
        given = {table.spellings[key] for key in written}
        left_out = given | ({"axis", "rpy"} if given & {"axis", "rpy"} else {"axis"})
        for key, about in table.keys.items():
            if key not in left_out:
                found.append(_entry(path, f"{key}{about.suffix}", about))
        return tuple(found)

    def _place(self, name: str) -> tuple[EntryPath, Table]:
        if name == _NUT:
            return (_NUT,), NUT
        section = self._section(name)
        tables = {"frames": Table(PLACED), "bolts": BOLT}
        return (section, name), tables[section] if section in tables else OBJECTS[section][1]

    def _section(self, name: str) -> str:
        """Return the section of a body or frame; raise SceneError if there is none."""
        bodies = {body: section for body, section in self.bodies().items() if body != _NUT}
        if name not in bodies:
            what = f"there is no '{name}' in the scene; {did_you_mean(name, bodies)}"
            raise SceneError(what, file=self.name)
        return bodies[name]

    def insert(self, section: str, name: str, keys: Mapping[str, str]) -> str:
        """Add an object to a section; the values of its keys are YAML.

        Returns:
            Why it is refused, or "".

        Raises:
            SceneError: There is no such section.
        """
        if section not in SECTIONS:
            raise SceneError(f"there is no section '{section}'; {did_you_mean(section, SECTIONS)}")
        return self.change(lambda editor: editor.add((section, name), flow_mapping(keys)))

    def add(self, kind: str, at: Array) -> tuple[str, str]:
        """Add a body of KINDS at a position (3,) in base_link [m].

        Returns:
            Its name, and why it is refused, or "".
        """
        section, keys = KINDS[kind]
        if kind == _NUT:
            return _NUT, self._add_nut()
        taken = {*self.bodies(), BASE_FRAME}
        name = next(n for n in (f"{kind}_{i}" for i in range(1, 10_000)) if n not in taken)
        local = inverse(self._parent(BASE_FRAME)) @ pose(p=tuple(at))
        return name, self.insert(section, name, {"xyz_mm": _brief(1e3 * local[:3, 3], 1), **keys})

    def _add_nut(self) -> str:
        if self.model.nut is not None:
            return "The scene has a nut already."
        if not self.model.bolts:
            return "Add a bolt first: the nut starts on one."
        bolt = next(iter(self.model.bolts.values()))
        thickness = 0.8 * bolt.diameter
        values = {
            "on": flow_word(bolt.name),
            "turns": f"{min(thickness / bolt.pitch, bolt.max_turns):.4g}",
            "across_flats_mm": f"{1.6 * 1e3 * bolt.diameter:.4g}",
            "thickness_mm": f"{1e3 * thickness:.4g}",
        }

        def change(editor: YamlEditor) -> None:
            for key, value in values.items():
                editor.set((_NUT, key), value)

        return self.change(change)

    def remove(self, name: str) -> str:
        """Remove a body; return why this is refused, or ""."""
        if name == _NUT:
            return self.change(lambda editor: editor.remove((_NUT,)))
        section = self._section(name)
        alone = self.reading.keys(section) == [name]  # an empty section is removed, too
        return self.change(lambda editor: editor.remove((section,) if alone else (section, name)))

    def shift(self, name: str, xyz: Sequence[float], by: bool) -> str:
        """Move an object to, or by, xyz (3,) in its parent frame [m]; return why not, or "".

        Raises:
            SceneError: There is no such object.
        """
        path = self._section(name), name
        key = "xyz_mm" if self.reading.find(*path, "xyz_mm") else "xyz"
        scale = 1e3 if key == "xyz_mm" else 1.0
        items = cast(yaml.SequenceNode, self.reading.find(*path, key)).value
        old = [float(item.value) if by else 0.0 for item in items]
        new = [v * scale + o for v, o in zip(xyz, old, strict=True)]
        return self.change(lambda editor: editor.set((*path, key), _brief(new, 9)))

    def lay(self, name: str, T: Array, size: tuple[float, float]) -> str:
        """Move a surface to base_link <- surface (4, 4) and give it a size [m].

        Returns:
            Why it is refused, or "".
        """
        surfaces = [body for body, section in self.bodies().items() if section == "surfaces"]
        if name not in surfaces:
            return f"there is no surface '{name}' in the scene; {did_you_mean(name, surfaces)}"
        path = ("surfaces", name)

        def change(editor: YamlEditor) -> None:
            for key in ("rpy", "rpy_deg", "axis"):
                if editor.find(*path, key) is not None:
                    editor.remove((*path, key))
            editor.set((*path, "rpy_deg"), "[0, 0, 0]")
            for key, value in zip(("length", "width"), size, strict=True):
                if editor.find(*path, key) is not None:
                    editor.set((*path, key), f"{value:.4g}")
                else:
                    editor.set((*path, f"{key}_mm"), f"{1e3 * value:.4g}")

        if refused := self.change(change) or self.move(name, T):
            return refused
        if np.allclose(self.model.frames[name], T, atol=1e-3):
            return ""
        return f"the pose of {name} cannot be changed by itself; is it an alias?"

    def move(self, name: str, T: Array, gesture: bool = False, more: int = 0) -> str:
        """Move a body or frame to base_link <- body (4, 4); return why it is refused, or "".

        Args:
            name: of the body.
            T: its pose [m].
            gesture: whether this goes on with its last move, so that one undo takes back both.
            more: how many more digits to write than of an object that is dragged.
        """
        path, _ = self._place(name)
        local = inverse(self._parent(self.model.parents[name])) @ T
        values = _pose_entries(self.reading.keys(*path), local, more)

        def change(editor: YamlEditor) -> None:
            for key, value in values.items():
                editor.set((*path, key), value)

        if not gesture:
            self._gesture = ()
        return self.change(change, ("move", name))

    def _parent(self, frame: str) -> Array:
        """Return base_link <- parent frame (4, 4), with the placement for the robot."""
        if frame != BASE_FRAME:
            return self.model.frames[frame]
        root = TypedMapping(parse_yaml(self.data, self.name, SceneError), "the scene", SCENE)
        return scene_placement(root, self.robot)


def _entry(path: EntryPath, key: str, about: Key) -> BodyEntry:
    suffix, label = about.suffix, key.removesuffix(about.suffix)
    unit = suffix[1:] if key.endswith(suffix) else SUFFIXES[suffix].unit
    return BodyEntry(f"{label} [{unit}]" if unit else label, (*path, key))


def _scalar(text: str) -> str:
    """Return a number or a text as YAML."""
    word = text.strip()
    try:
        float(word)
    except ValueError:
        return flow_word(word)
    return word


def _pose_entries(written: Sequence[str], local: Array, more: int = 0) -> dict[str, str]:
    """Return the entries of a pose (4, 4) in the parent, in the form and units of the file.

    They are exact to 0.1 mm and 0.01 deg, or to some more digits.
    """
    xyz, rpy = matrix_rpy(local)
    in_metres = "xyz" in written
    values = (
        {"xyz": _brief(xyz, 4 + more)} if in_metres else {"xyz_mm": _brief(1e3 * xyz, 1 + more)}
    )
    if "axis" in written:
        values["axis"] = _brief(local[:3, 2], 6 + more)
    elif "rpy" in written:
        values["rpy"] = _brief(rpy, 5 + more)
    elif "rpy_deg" in written or np.abs(rpy).max() > _TURNED:
        values["rpy_deg"] = _brief(np.degrees(rpy), 2 + more)
    return values


def _brief(values: Iterable[float], digits: int) -> str:
    """Return numbers as a list in YAML, rounded, without zeros at their ends."""
    return f"[{', '.join(f'{round(float(v), digits) + 0.0:.10g}' for v in values)}]"
