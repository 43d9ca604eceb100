# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""One small function a kind of step: keys of the task file -> the step's class."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, TypeVar

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

_S = TypeVar("_S", bound=Screw)
_RIGHT_ANGLE = math.pi / 2.0


@dataclass(frozen=True)
class Defaults:
    """What steps take that do not say it themselves.

    Attributes:
        speed: Share of the joints' velocity limits.
        tolerance: Of tool poses, while the tool comes and goes.
        poses: That were taught, by name.
    """

    speed: float = 0.5
    tolerance: Tolerance = field(default_factory=Tolerance)
    poses: Mapping[str, TaughtPose] = field(default_factory=dict)

    def read(self, keys: TypedMapping) -> Defaults:
        """Return the same with the section `defaults` of a task file."""
        speed, tolerance = _speed(keys, self.speed), _tolerance(keys, Tolerance())
        return replace(self, speed=speed, tolerance=tolerance)

    def common(self, keys: TypedMapping, kind: str) -> dict[str, Any]:
        """Return the arguments that every step has."""
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


def _play(keys: TypedMapping, kind: str, defaults: Defaults) -> Play:
    path = Path(keys.text("path")).expanduser()
    if path.suffix or len(path.parts) > 1:
        path = Path(keys.item.file).parent / path
    reverse = bool(keys.truth("reverse"))
    return Play(**defaults.common(keys, kind), path=str(path), reverse=reverse)


def _move_pose(keys: TypedMapping, kind: str, defaults: Defaults) -> MovePose:
    tolerance = _tolerance(keys, defaults.tolerance)
    return MovePose(
        **defaults.common(keys, kind), target=_target(keys, defaults), tolerance=tolerance
    )


def _move_linear(keys: TypedMapping, kind: str, defaults: Defaults) -> MoveLinear:
    tolerance = _tolerance(keys, defaults.tolerance)
    return MoveLinear(
        **defaults.common(keys, kind), target=_target(keys, defaults), tolerance=tolerance
    )


def _approach(keys: TypedMapping, kind: str, defaults: Defaults) -> Approach:
    return Approach(
        **defaults.common(keys, kind),
        target=_target(keys, defaults),
        distance=keys.number("distance", above=0.0),
        tolerance=_tolerance(keys, defaults.tolerance),
    )


def _retreat(keys: TypedMapping, kind: str, defaults: Defaults) -> Retreat:
    return Retreat(
        **defaults.common(keys, kind),
        distance=keys.number("distance", above=0.0),
        tolerance=_tolerance(keys, defaults.tolerance),
    )


def _grip(keys: TypedMapping, kind: str, defaults: Defaults) -> GripStep:
    width, payload = _width(keys, "width"), keys.text("payload", "")
    if (width is None) == (not payload):
        raise keys.fail("give either the width or the payload that shall be held")
    return GripStep(**defaults.common(keys, kind), width=width, payload=payload)


def _open(keys: TypedMapping, kind: str, defaults: Defaults) -> GripStep:
    return GripStep(**defaults.common(keys, kind), width=_width(keys, "width"))


def _close(keys: TypedMapping, kind: str, defaults: Defaults) -> GripStep:
    return GripStep(**defaults.common(keys, kind), width=0.0)


def _width(keys: TypedMapping, name: str) -> float | None:
    if not keys.has(name):
        return None
    width = keys.number(name)
    if width < 0.0:
        raise keys.fail(f"{name} must not be negative")
    return width


def _turn(keys: TypedMapping, kind: str, defaults: Defaults) -> Turn:
    return Turn(
        **defaults.common(keys, kind),
        angle=keys.number("angle"),
        advance=keys.number("advance", 0.0),
        tolerance=_tolerance(keys, defaults.tolerance),
    )


def _screw(cls: type[_S], extra_turns: float) -> Callable[[TypedMapping, str, Defaults], _S]:
    def parse(keys: TypedMapping, kind: str, defaults: Defaults) -> _S:
        return cls(
            **defaults.common(keys, kind),
            bolt=keys.text("bolt"),
            turns=keys.number("turns", above=0.0) if keys.has("turns") else None,
            extra_turns=keys.number("extra_turns", extra_turns, least=0.0),
            approach=keys.number("approach", 0.02, above=0.0),
            grip_width=_width(keys, "grip_width"),
            open_width=_width(keys, "open_width"),
            press=keys.number("press", 0.3e-3),
            search=keys.number("search", 0.0, least=0.0),
            play=keys.number("play", 0.0, least=0.0),
            approach_tilt=keys.number("approach_tilt", defaults.tolerance.tilt, least=0.0),
            tolerance=_tolerance(keys, Tolerance(tilt=math.radians(3.0))),
        )

    return parse


def _wait(keys: TypedMapping, kind: str, defaults: Defaults) -> Wait:
    return Wait(**defaults.common(keys, kind), seconds=keys.number("seconds", least=0.0))


def _set_speed(keys: TypedMapping, kind: str, defaults: Defaults) -> SetSpeed:
    return SetSpeed(**defaults.common(keys, kind))


def _pause(keys: TypedMapping, kind: str, defaults: Defaults) -> PauseForPerson:
    back = keys.truth("nut_back") or False
    return PauseForPerson(**defaults.common(keys, kind), say=keys.text("say"), nut_back=back)


def condition(keys: TypedMapping) -> Condition:
    """Read `when` of an if or until."""
    when = TypedMapping(keys.item_of("when"), f"{keys.what}: when", WHEN, keys.variables)
    found = Condition(
        nut_on=when.text("nut_on", ""),
        turns=when.number("turns") if when.has("turns") else None,
        nut_held=when.truth("nut_held"),
        nut_fallen=when.truth("nut_fallen"),
        gripper_above=when.number("gripper_above") if when.has("gripper_above") else None,
        gripper_below=when.number("gripper_below") if when.has("gripper_below") else None,
    )
    if found == Condition():
        raise when.fail(f"names nothing to look at; known are {', '.join(WHEN.spellings)}")
    if found.turns is not None and not found.nut_on:
        raise when.fail("turns are of a nut on a bolt; give nut_on too")
    return found


PARSERS: dict[str, Callable[[TypedMapping, str, Defaults], StepBase]] = {
    "move_joints": _move_joints,
    "move_posture": _move_posture,
    "play": _play,
    "move_pose": _move_pose,
    "move_linear": _move_linear,
    "approach": _approach,
    "retreat": _retreat,
    "grip": _grip,
    "open": _open,
    "close": _close,
    "release": _open,
    "turn": _turn,
    "unscrew": _screw(Unscrew, 0.1),
    "screw_on": _screw(ScrewOn, 0.5),
    "wait": _wait,
    "set_speed": _set_speed,
    "pause_for_person": _pause,
}
