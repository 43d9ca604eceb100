# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
# Tests: src/arm_tasks/test/ros/test_demo.py
"""The task of a demo that an arm can do, whatever its size, joints and gripper.

It is the first shipped one whose plan is feasible. For other arms a square is drawn in the air, in
proportion to the arm's reach; without a place for one, the arm moves between two postures.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product
from pathlib import Path

import numpy as np
from arm_common.files.saving import contents, save_edit
from arm_common.transforms import Array
from arm_description.robot_model import RobotModel
from arm_kinematics.paths.cartesian_path import PathStatus

from arm_kinematics import Chain
from arm_tasks.errors import TasksError
from arm_tasks.planning.planner import plan_task
from arm_tasks.scene.file import TASK_SCENE, load_scene, scene_from_text
from arm_tasks.task.parser import load_task, task_from_text
from arm_tasks.task.request import ArmConfiguration, TaskRequest

SQUARE = "draw_square"
_SHIPPED = ("nut_transfer", "pick_and_place", SQUARE, "draw_line")
_SIDES = (0.2, 0.07)  # of the square, relative to the reach
_SAMPLES = 200  # postures for the reach and for the middle of the square
_TRIED = 4  # postures around which a square is tried
_NEAREST, _FARTHEST = 0.4, 1.1  # objects of a scene, relative to the reach
_ABOVE = 0.05  # height of an arm that stands on the floor, relative to the reach
_WITHIN = 0.015  # largest distance from the lines, relative to the reach (a count is 0.4 deg)
_PLANES = ((1, 2), (0, 1), (0, 2))  # axes of base_link: upright first
_NUDGE = 0.01  # [rad or m], a motion that any posture leaves room for
_CORNERS = ((1.0, 1.0), (1.0, -1.0), (-1.0, -1.0), (-1.0, 1.0), (1.0, 1.0))


@dataclass(frozen=True)
class FittingTask:
    """A task that an arm can do, and its scene."""

    task: str  # a shipped name, or the text of a file
    scene: str  # likewise
    is_shipped: bool

    def write(self, folder: Path, robot: str) -> tuple[str, str]:
        """Return names of task and scene, as files in a folder unless they are shipped.

        Other files of these names, such as edited ones, are kept as ``.bak``.
        """
        if self.is_shipped:
            return self.task, self.scene
        files = folder / f"{robot}_task.yaml", folder / f"{robot}_scene.yaml"
        folder.mkdir(parents=True, exist_ok=True)
        for file, text in zip(files, (self.task, self.scene), strict=True):
            save_edit(text.encode(), file, contents(file))
        return str(files[0]), str(files[1])


def fitting_task(model: RobotModel) -> FittingTask:
    """Return a task that a robot can do, from the posture at which everything starts.

    Raises:
        TasksError: The robot begins inside itself, or cannot even move between two postures.
    """
    chain = Chain.from_model(model)
    postures, reach = _postures(model, chain)
    for name in _SHIPPED:
        scene = load_task(name).scene or TASK_SCENE
        near = _is_within(scene, model, reach)
        if near and _is_feasible(model, chain, "", name, scene):
            return FittingTask(name, scene, True)
    if problem := _start_problem(model, chain, reach):
        raise TasksError(
            f"{model.name} cannot leave the posture at which it starts: {problem}; give its file"
            " another posture rest"
        )
    drawn = _drawing(model, chain, postures, reach)
    if drawn is None:
        raise TasksError(
            f"{model.name} can do none of the shipped tasks and has no room to move in; give a"
            " task of your own, --task FILE"
        )
    return drawn


def fitting_square(model: RobotModel) -> FittingTask:
    """Return a square that a robot can draw: on the board of draw_square, else in the air.

    Raises:
        TasksError: The robot has no room for a square.
    """
    chain = Chain.from_model(model)
    scene = load_task(SQUARE).scene or TASK_SCENE
    if _is_feasible(model, chain, "", SQUARE, scene):
        return FittingTask(SQUARE, scene, True)
    drawn = _drawing(model, chain, *_postures(model, chain), SQUARE)
    if drawn is None:
        raise TasksError(
            f"{model.name} can draw no square: its tool cannot follow one that is upright, level"
            " or across, around any of the postures tried; give a task of your own"
        )
    return drawn


def _is_feasible(
    model: RobotModel, chain: Chain, text: str, name: str = "task", scene: str = ""
) -> bool:
    """Return whether a task, by name or text, with its scene, by name or text, can be done."""
    try:
        task = task_from_text(text, name) if text else load_task(name)
        place = scene_from_text(scene) if text else load_scene(scene, model.name)
        start = ArmConfiguration.of_posture(model)
        return plan_task(TaskRequest(task, place, model, chain, start)).feasible
    except TasksError:  # no gripper, no such posture
        return False


def _start_problem(model: RobotModel, chain: Chain, reach: float) -> str:
    """Return why an arm cannot even begin to move, far above any floor; or ""."""
    start = ArmConfiguration.of_posture(model)
    q = start.array(model.joint_names)
    nudged = q + _NUDGE * np.sign(chain.middle - q)
    task = task_from_text(_task(model, "move_joints", _move(model, nudged)), "task")
    place = scene_from_text(f"scene: free\nfloor: {-2.0 * reach:g}\n")
    refusal = plan_task(TaskRequest(task, place, model, chain, start)).refusal
    collides = refusal is not None and refusal.reason is PathStatus.COLLISION
    return refusal.message if refusal and collides else ""


def _is_within(scene: str, model: RobotModel, reach: float) -> bool:
    """Return whether most of a scene is neither too far from the base nor too near for the arm."""
    places = [pose[:3, 3] for pose in load_scene(scene, model.name).frames.values()]
    share = float(np.median(np.linalg.norm(places, axis=1))) / reach
    return _NEAREST < share < _FARTHEST


def _drawing(
    model: RobotModel, chain: Chain, tried: list[Array], reach: float, only: str = ""
) -> FittingTask | None:
    """Return a square in the air that the arm can draw, or a motion of its joints, or None.

    With `only` SQUARE, no motion is tried.
    """
    floors = [0.0] if _lowest(model) > _ABOVE * reach else []
    squares = [
        _square(model, q, chain.fk(q)[:3, 3], side * reach, plane, reach)
        for side, q, plane in product(_SIDES, tried, _PLANES)
    ]
    start = ArmConfiguration.of_posture(model).array(model.joint_names)
    others = [q for q in tried if not only and not np.allclose(q, start)]
    moves = [_task(model, "move_joints", _move(model, q)) for q in others]
    for floor in (*floors, -round(reach, 1)):  # parts of the arm may reach below its base
        scene = f"# Nothing but the floor.\nscene: free\nfloor: {floor:g}\n"
        for text in (*squares, *moves):
            if _is_feasible(model, chain, text, scene=scene):
                return FittingTask(text, scene, False)
    return None


def _lowest(model: RobotModel) -> float:
    """Return the height of the lowest DH frame after the first joint, at the start [m]."""
    posture = model.home_posture[1]
    frames = model.dh_frames([posture[name] for name in model.joint_names])
    return float(min(frame[2, 3] for frame in frames[1:]))


def _postures(model: RobotModel, chain: Chain) -> tuple[list[Array], float]:
    """Return postures of the file, then random ones, the most nimble first, and their reach [m].

    The posture at which everything starts comes after the others of the file; the random ones are
    the same every time. Only those around which a square is tried are returned.
    """
    rng, home = np.random.default_rng(0), model.home_posture[0]
    names = sorted(model.postures, key=lambda name: name == home)
    named = [chain.positions(model.postures[name]) for name in names]
    inner = [rng.uniform(model.lower, model.upper) for _ in range(_SAMPLES)]
    allowed = [q for q in inner if model.constraint_set.worst(q) is None]

    def nimbleness(q: Array) -> float:
        """Return the product of the singular values of the tool's velocity that are not 0."""
        values = np.linalg.svd(chain.jacobian(q)[:3], compute_uv=False)
        return float(np.prod(values[values > 1e-3 * values.max(initial=1e-12)]))

    postures = [*named, *sorted(allowed, key=nimbleness, reverse=True)]
    reach = float(np.linalg.norm([chain.fk(q)[:3, 3] for q in postures], axis=1).max())
    return postures[:_TRIED], reach


def _square(
    model: RobotModel, q: Array, middle: Array, side: float, plane: tuple[int, int], reach: float
) -> str:
    """Return the text of a task that draws a square around a point [m]."""
    places = []
    for corner in _CORNERS:
        place = middle.copy()
        place[list(plane)] += 0.5 * side * np.array(corner)
        places.append(", ".join(f"{value + 0.0:.4f}" for value in place))
    names = ("go to a corner", "first side", "second side", "third side", "fourth side")
    steps = [
        f"  - move_{'pose' if i == 0 else 'linear'}: {{name: {name}, frame: base_link,"
        f" xyz: [{place}], orientation: any}}"
        for i, (name, place) in enumerate(zip(names, places, strict=True))
    ]
    slow = (_move(model, q), steps[0], "  - set_speed: 0.15", *steps[1:], "  - set_speed: 0.5")
    return _task(model, SQUARE, "\n".join(slow), _WITHIN * reach)


def _move(model: RobotModel, q: Array) -> str:
    joints = ", ".join(f"{k}: {v:.5f}" for k, v in zip(model.joint_names, q.tolist(), strict=True))
    return f"  - move_joints: {{name: get ready, joints: {{{joints}}}}}"


def _back(model: RobotModel) -> str:
    start = ArmConfiguration.of_posture(model)
    return _move(model, start.array(model.joint_names)).replace("get ready", "go back")


def _task(model: RobotModel, name: str, steps: str, within: float = 0.0) -> str:
    """Return the text of a task that begins and ends where everything starts."""
    lines = [
        f"# Made for {model.name}, in proportion to its reach.",
        f"task: {name}",
        "defaults: {speed: 0.5}",
        "steps:",
        steps,
        _back(model),
    ]
    return "\n".join([*lines, *([f"expect: {{line_within: {within:.2g}}}"] if within else []), ""])
