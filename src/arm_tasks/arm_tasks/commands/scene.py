# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
# Tests: src/arm_tasks/test/scene/test_editing.py
"""`./arm scene`: list the objects of a scene; move, add and remove them."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from arm_common.errors import InputError, aligned
from arm_common.files.saving import contents, save_edit
from arm_common.suggestions import did_you_mean
from arm_description.model.units import SHOWN

from arm_common import cli
from arm_tasks.errors import SceneError, resolve, shipped
from arm_tasks.manual.touch_location import locate_sheet
from arm_tasks.scene.editing import SECTIONS, SceneEditor
from arm_tasks.scene.file import load_scene
from arm_tasks.scene.poses import load_poses
from arm_tasks.scene.scene import BASE_FRAME, Scene

CORNERS = ("lower_left", "lower_right", "upper_left")


def _parser() -> argparse.ArgumentParser:
    result = argparse.ArgumentParser(prog="./arm scene", description="List or edit a scene.")
    result.add_argument("scene", help="path, or a shipped name")
    result.add_argument("--robot", default="", help="robot for whose placement to list or lay")
    result.add_argument("-o", "--output", default="", help="write the edited scene to this file")
    edits = result.add_subparsers(dest="edit", metavar="EDIT", prog="./arm scene SCENE")
    move = edits.add_parser("move", help="move an object in its parent frame")
    move.add_argument("name", help="name of the object")
    target = move.add_mutually_exclusive_group(required=True)
    for option, text in (("--to-mm", "position"), ("--by-mm", "displacement")):
        target.add_argument(option, nargs=3, type=cli.number, metavar=("X", "Y", "Z"), help=text)
    add = edits.add_parser("add", help="add an object: pallets box1 xyz_mm=[0,0,20] ...")
    add.add_argument("section", help=", ".join(SECTIONS))
    add.add_argument("name", help="name of the new object")
    add.add_argument("keys", nargs="+", metavar="KEY=VALUE", help="as in the file")
    remove = edits.add_parser("remove", help="remove an object")
    remove.add_argument("name", help="name of the object")
    lay = edits.add_parser("lay", help="lay a surface by three corners that the tool has touched")
    lay.add_argument("name", help="name of the surface, such as paper")
    for corner in CORNERS:
        lay.add_argument(corner, help="name of the pose taught there")
    poses = "file of taught poses"
    lay.add_argument("--poses", default="taught_poses.yaml", help=poses)
    for edit in (move, add, remove, lay):  # -o behind them means the same
        edit.add_argument("-o", "--output", default=argparse.SUPPRESS, help=argparse.SUPPRESS)
    cli.unused(
        result, ["--robot"], lambda given: given.edit not in (None, "lay"), "with this edit"
    )
    return result


def scene_table(scene: Scene) -> str:
    """Return a table of a scene: objects, parents, and positions in base_link [mm]."""
    rows = [("name", "kind", "stands on", "x", "y", "z in base_link [mm]")]
    for name, T in scene.frames.items():
        kind = "bolts" if name in scene.bolts else "frames"
        if name in scene.objects:
            obj = scene.objects[name]
            kind = f"{obj.kind}, {obj.mass:g} kg" if obj.is_payload else obj.kind
        x, y, z = (SHOWN.rounded(value, "prismatic") for value in T[:3, 3])
        rows.append((name, kind, scene.parents.get(name, BASE_FRAME), x, y, z))
    lines = aligned(rows, left=range(len(rows[0])))
    if scene.nut is not None:
        lines.append(f"the nut is on {scene.nut.on} by {scene.nut.turns:g} turns")
    return "\n".join(lines)


def _edit(editor: SceneEditor, options: argparse.Namespace) -> str:
    """Edit a scene; return why this is refused, or ""."""
    if options.edit == "move":
        xyz = [1e-3 * v for v in options.by_mm or options.to_mm]
        return editor.shift(options.name, xyz, bool(options.by_mm))
    if options.edit == "remove":
        return editor.remove(options.name)
    if options.edit == "lay":
        return _lay(editor, options)
    pairs = [text.partition("=") for text in options.keys]
    invalid = next((key for key, sign, _ in pairs if not sign), None)
    if invalid is not None:
        raise SceneError(f"'{invalid}' is not KEY=VALUE, such as xyz_mm=[0,0,20]")
    keys = {key: value for key, _, value in pairs}
    return editor.insert(options.section, options.name, keys)


def _lay(editor: SceneEditor, options: argparse.Namespace) -> str:
    taught = load_poses(Path(options.poses))
    names = [getattr(options, corner) for corner in CORNERS]
    for name in names:
        if name not in taught:
            what = f"there is no taught pose '{name}'; {did_you_mean(name, taught)}"
            raise SceneError(what, file=options.poses)
    tools = np.array([taught[name].tool for name in names])
    T, *size = locate_sheet(tools[:, :3, 3], tools[:, :3, 2].sum(axis=0))
    return editor.lay(options.name, T, (size[0], size[1]))


def run(options: argparse.Namespace) -> None:
    """List or edit a scene; after an error the file is unchanged."""
    path = resolve(options.scene, "scenes", "scene", SceneError)
    scene = load_scene(path, options.robot)
    if options.edit is None:
        sys.stdout.write(f"{scene_table(scene)}\n")
        if options.output:
            output = Path(options.output)
            _save(path.read_bytes(), output, contents(output), " without changes")
        return
    if not options.output and path in shipped("scenes").values():
        raise SceneError(f"{options.scene} is shipped; give a file to write: -o my.yaml")
    goal = Path(options.output) if options.output else path
    before, data = contents(goal), path.read_bytes()
    editor = SceneEditor(data, str(path), robot=options.robot)
    if refused := _edit(editor, options):
        raise SceneError(refused)
    _save(editor.data, goal, data if goal == path else before)


def _save(data: bytes, goal: Path, before: bytes | None, how: str = "") -> None:
    """Save a file, keep the one that it replaces as .bak, and report it."""
    save_edit(data, goal, before)
    sys.stdout.write(
        f"Nothing changed: {goal} is already so\n" if data == before else f"Saved {goal}{how}\n"
    )


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the program; return the exit code."""
    return cli.run(_parser(), run, arguments, (InputError, OSError))
