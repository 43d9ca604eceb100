# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Parsers of the steps: keys of the task file -> the step's class."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
from arm_common.transforms import frame_along, pose, rpy_matrix
from arm_common.yaml.typed_mapping import TypedMapping

from arm_tasks.scene.poses import TaughtPose
from arm_tasks.scene.scene import BASE_FRAME, readonly
from arm_tasks.task.condition import Condition
from arm_tasks.task.keys import AXES, ORIENTATIONS, STEPS_KEYS, WHEN
from arm_tasks.task.steps import (
    Approach,
    GripStep,
    MoveJoints,
    MoveLinear,
    MovePose,
    MovePosture,
    PauseForPerson,
    Play,
    Retreat,
    Screw,
    ScrewOn,
    SetSpeed,
    StepBase,
    Target,
    Tolerance,
    Turn,
    Unscrew,
    Wait,
)

_RIGHT_ANGLE = math.pi / 2.0


@dataclass(frozen=True)
class Defaults:
    """Defaults of the keys that a step leaves out."""

    speed: float = 0.5  # share of the joints' velocity limits
    # of tool poses, while the tool comes and goes
    tolerance: Tolerance = field(default_factory=Tolerance)
    poses: Mapping[str, TaughtPose] = field(default_factory=dict)  # that were taught, by name

    def read(self, keys: TypedMapping) -> Defaults:
        """Return the same with the section `defaults` of a task file."""
        speed, tolerance = _speed(keys, self.speed), _tolerance(keys, Tolerance())
        return replace(self, speed=speed, tolerance=tolerance)

    def common(self, keys: TypedMapping, kind: str) -> dict[str, Any]:
        """Return the fields of StepBase."""
        moves = "speed" in STEPS_KEYS[kind].table.keys
        return {
            "name": keys.text("name", kind),
            "kind": kind,
            "file": keys.item.file,
            "line": keys.item.line,
            "speed": _speed(keys, self.speed) if moves else self.speed,
        }

    def at(self, speed: float) -> Defaults:
        """Return the same with another speed."""
        return replace(self, speed=speed)


def _speed(keys: TypedMapping, default: float) -> float:
    return keys.number("speed", default, above=0.0, most=1.0)


def _tolerance(keys: TypedMapping, default: Tolerance) -> Tolerance:
    return Tolerance(
        keys.number("position", default.position, above=0.0),
        keys.number("tilt", default.tilt, least=0.0, most=_RIGHT_ANGLE),
    )


def _target(keys: TypedMapping, defaults: Defaults) -> Target:
    frame = keys.text("frame", BASE_FRAME)
    xyz = keys.numbers("xyz", 3, (0.0, 0.0, 0.0))
    given = [name for name in ("rpy", "roll", "axis") if keys.has(name)]
    if len(given) > 1:
        raise keys.fail(f"give either {' or '.join(given)}, not both")
    rpy = keys.numbers("rpy", 3, (0.0, 0.0, 0.0))
    if keys.has("roll"):
        rpy[2] = keys.number("roll")
    word = keys.choice("orientation", ORIENTATIONS, "full")
    orientation = next(o for o in ORIENTATIONS if o == word)
    T = rpy_matrix(xyz, rpy)
    if keys.has("axis"):
        axis = keys.numbers("axis")
        if np.linalg.norm(axis) < 1e-9:
            raise keys.fail("axis must not be zero", keys.item_of("axis"))
        T[:3, :3] = frame_along(axis)
    offset = pose(p=keys.numbers("offset", 3, (0.0, 0.0, 0.0)))
    T = offset @ T if keys.choice("offset_in", AXES, AXES[0]) == "target" else T @ offset
    if frame in defaults.poses:
        return Target(BASE_FRAME, readonly(defaults.poses[frame].tool @ T), orientation)
    return Target(frame, readonly(T), orientation)


def _move_joints(keys: TypedMapping, kind: str, defaults: Defaults) -> MoveJoints:
    if keys.has("joints") == keys.has("joints_deg"):
        raise keys.fail("give one of 'joints' [rad or m] and 'joints_deg'")
    degrees = keys.has("joints_deg")
    named = keys.children("joints_deg" if degrees else "joints")
    scale = math.pi / 180.0 if degrees else 1.0
    positions = {n: keys.number_of(v, degrees) * scale for n, v in named.items()}
    if not positions:
        raise keys.fail("at least one joint must be named")
    return MoveJoints(**defaults.common(keys, kind), positions=positions, degrees=degrees)


def _move_posture(keys: TypedMapping, kind: str, defaults: Defaults) -> MovePosture | MoveJoints:
    posture, common = keys.text("posture"), defaults.common(keys, kind)
    if posture in defaults.poses:
        positions = defaults.poses[posture].joints
        return MoveJoints(**common, positions=positions, degrees=False)
    return MovePosture(**common, posture=posture)


def _grip(keys: TypedMapping, kind: str, defaults: Defaults) -> GripStep:
    width, payload = optional(keys, "width", least=0.0), keys.text("payload", "")
    if (width is None) == (not payload):
        raise keys.fail("give either the width or the payload that shall be held")
    return GripStep(**defaults.common(keys, kind), width=width, payload=payload)


def _path(keys: TypedMapping) -> str:
    path = Path(keys.text("path")).expanduser()
    if path.suffix or len(path.parts) > 1:
        path = Path(keys.item.file).parent / path
    return str(path)


def optional(keys: TypedMapping, name: str, **limits: float) -> float | None:
    """Return a number within limits, None if its key is omitted."""
    return keys.number(name, **limits) if keys.has(name) else None


def condition(keys: TypedMapping) -> Condition:
    """Read `when` of an if or until."""
    when = TypedMapping(keys.item_of("when"), f"{keys.what}: when", WHEN, keys.variables)
    found = Condition(
        nut_on=when.text("nut_on", ""),
        turns=optional(when, "turns"),
        nut_held=when.truth("nut_held"),
        nut_fallen=when.truth("nut_fallen"),
        gripper_above=optional(when, "gripper_above"),
        gripper_below=optional(when, "gripper_below"),
    )
    if found == Condition():
        raise when.fail(f"has no condition; known are {', '.join(WHEN.spellings)}")
    if found.turns is not None and not found.nut_on:
        raise when.fail("turns are of a nut on a bolt; give nut_on too")
    return found


Parser = Callable[[TypedMapping, str, Defaults], StepBase]
_Value = Callable[[TypedMapping, Defaults], Any]


def _parser(cls: type[StepBase], **values: _Value) -> Parser:
    """Return a parser that reads each field of a step's class by a function."""

    def parse(keys: TypedMapping, kind: str, defaults: Defaults) -> StepBase:
        fields = {name: value(keys, defaults) for name, value in values.items()}
        return cls(**defaults.common(keys, kind), **fields)

    return parse


def _number(name: str, default: float | None = None, **limits: float) -> _Value:
    return lambda keys, _: keys.number(name, default, **limits)


def _optional(name: str, **limits: float) -> _Value:
    return lambda keys, _: optional(keys, name, **limits)


def _loose(keys: TypedMapping, defaults: Defaults) -> Tolerance:
    return _tolerance(keys, defaults.tolerance)


def _screw_parser(cls: type[Screw], extra_turns: float) -> Parser:
    return _parser(
        cls,
        bolt=lambda keys, _: keys.text("bolt"),
        turns=_optional("turns", above=0.0),
        extra_turns=_number("extra_turns", extra_turns, least=0.0),
        approach=_number("approach", 0.02, above=0.0),
        grip_width=_optional("grip_width", least=0.0),
        open_width=_optional("open_width", least=0.0),
        press=_number("press", 0.3e-3),
        search=_number("search", 0.0, least=0.0),
        play=_number("play", 0.0, least=0.0),
        approach_tilt=lambda keys, defaults: keys.number(
            "approach_tilt", defaults.tolerance.tilt, least=0.0
        ),
        tolerance=lambda keys, _: _tolerance(keys, Tolerance(tilt=math.radians(3.0))),
    )


_OPEN = _parser(GripStep, width=_optional("width", least=0.0))
PARSERS: dict[str, Parser] = {
    "move_joints": _move_joints,
    "move_posture": _move_posture,
    "play": _parser(
        Play,
        path=lambda keys, _: _path(keys),
        reverse=lambda keys, _: bool(keys.truth("reverse")),
    ),
    "move_pose": _parser(MovePose, target=_target, tolerance=_loose),
    "move_linear": _parser(MoveLinear, target=_target, tolerance=_loose),
    "approach": _parser(
        Approach, target=_target, distance=_number("distance", above=0.0), tolerance=_loose
    ),
    "retreat": _parser(Retreat, distance=_number("distance", above=0.0), tolerance=_loose),
    "grip": _grip,
    "open": _OPEN,
    "close": _parser(GripStep, width=lambda *_: 0.0),
    "release": _OPEN,
    "turn": _parser(
        Turn, angle=_number("angle"), advance=_number("advance", 0.0), tolerance=_loose
    ),
    "unscrew": _screw_parser(Unscrew, 0.1),
    "screw_on": _screw_parser(ScrewOn, 0.5),
    "wait": _parser(Wait, seconds=_number("seconds", least=0.0)),
    "set_speed": _parser(SetSpeed),
    "pause_for_person": _parser(
        PauseForPerson,
        say=lambda keys, _: keys.text("say"),
        nut_back=lambda keys, _: bool(keys.truth("nut_back")),
    ),
}
