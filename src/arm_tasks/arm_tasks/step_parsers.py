# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""One small function a kind of step: keys of the task file -> the step's class."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, TypeVar

from arm_description.transforms import rpy_matrix
from arm_description.yaml_fields import Field

from arm_tasks.keys import Keys
from arm_tasks.scene import BASE_FRAME, readonly
from arm_tasks.task_steps import (
    Grip,
    MoveJoints,
    MoveLinear,
    MovePose,
    MovePosture,
    Orientation,
    Screw,
    ScrewOn,
    StepBase,
    Target,
    Tolerance,
    Turn,
    Unscrew,
    Wait,
)

_S = TypeVar("_S", bound=Screw)
_RIGHT_ANGLE = math.pi / 2.0
_ORIENTATIONS: tuple[Orientation, ...] = ("full", "axis", "any")


@dataclass(frozen=True)
class Defaults:
    """What steps take that do not say it themselves.

    Attributes:
        speed: Share of the joints' velocity limits.
        tolerance: Of tool poses, while the tool comes and goes.
    """

    speed: float = 0.5
    tolerance: Tolerance = field(default_factory=Tolerance)

    @classmethod
    def read(cls, found: tuple[str, Field] | None) -> Defaults:
        """Read the section `defaults` of a task file."""
        if found is None:
            return cls()
        keys = Keys(found[1], "defaults")
        defaults = cls(_speed(keys, cls.speed), _tolerance(keys, Tolerance()))
        keys.finish()
        return defaults

    def common(self, keys: Keys, kind: str) -> dict[str, Any]:
        """Return the arguments that every step has."""
        return {
            "name": keys.text("name", kind),
            "kind": kind,
            "file": keys.item.file,
            "line": keys.item.line,
            "speed": _speed(keys, self.speed),
        }


def _speed(keys: Keys, default: float) -> float:
    return keys.number("speed", default, above=0.0, most=1.0)


def _tolerance(keys: Keys, default: Tolerance) -> Tolerance:
    return Tolerance(
        keys.length("position", default.position, above=0.0),
        keys.angle("tilt", default.tilt, least=0.0, most=_RIGHT_ANGLE),
    )


def _target(keys: Keys) -> Target:
    frame = keys.text("frame", BASE_FRAME)
    xyz = keys.lengths("xyz", 3, (0.0, 0.0, 0.0))
    if keys.has("rpy", "rpy_deg") and keys.has("roll", "roll_deg"):
        raise keys.fail("give either rpy or roll, not both")
    rpy = keys.angles("rpy", 3, (0.0, 0.0, 0.0))
    if keys.has("roll", "roll_deg"):
        rpy[2] = keys.angle("roll")
    word = keys.choice("orientation", _ORIENTATIONS, "full")
    orientation: Orientation = next(o for o in _ORIENTATIONS if o == word)
    return Target(frame, readonly(rpy_matrix(xyz, rpy)), orientation)


def _move_joints(keys: Keys, kind: str, defaults: Defaults) -> MoveJoints:
    found = keys.get("joints", "joints_deg")
    if found is None:
        raise keys.fail("the key 'joints' [rad or m] or 'joints_deg' is missing")
    degrees = found[0] == "joints_deg"
    inner = Keys(found[1], f"step {kind}: {found[0]}")
    scale = math.pi / 180.0 if degrees else 1.0
    positions = {name: inner.number(name) * scale for name in found[1].value}
    if not positions:
        raise inner.fail("at least one joint must be named")
    return MoveJoints(**defaults.common(keys, kind), positions=positions, degrees=degrees)


def _move_posture(keys: Keys, kind: str, defaults: Defaults) -> MovePosture:
    return MovePosture(**defaults.common(keys, kind), posture=keys.text("posture"))


def _move_pose(keys: Keys, kind: str, defaults: Defaults) -> MovePose:
    tolerance = _tolerance(keys, defaults.tolerance)
    return MovePose(**defaults.common(keys, kind), target=_target(keys), tolerance=tolerance)


def _move_linear(keys: Keys, kind: str, defaults: Defaults) -> MoveLinear:
    tolerance = _tolerance(keys, defaults.tolerance)
    return MoveLinear(**defaults.common(keys, kind), target=_target(keys), tolerance=tolerance)


def _grip(keys: Keys, kind: str, defaults: Defaults) -> Grip:
    return Grip(**defaults.common(keys, kind), width=_width(keys, "width", required=True))


def _open(keys: Keys, kind: str, defaults: Defaults) -> Grip:
    return Grip(**defaults.common(keys, kind), width=_width(keys, "width"))


def _width(keys: Keys, name: str, required: bool = False) -> float | None:
    if not required and not keys.has(name, f"{name}_mm"):
        return None
    width = keys.length(name)
    if width < 0.0:
        raise keys.fail(f"{name} must not be negative")
    return width


def _turn(keys: Keys, kind: str, defaults: Defaults) -> Turn:
    return Turn(
        **defaults.common(keys, kind),
        angle=keys.angle("angle"),
        advance=keys.length("advance", 0.0),
        tolerance=_tolerance(keys, defaults.tolerance),
    )


def _screw(cls: type[_S], extra_turns: float) -> Callable[[Keys, str, Defaults], _S]:
    def parse(keys: Keys, kind: str, defaults: Defaults) -> _S:
        turns = keys.number("turns", above=0.0) if keys.has("turns") else None
        if turns is None and cls is ScrewOn:
            raise keys.fail("the key 'turns' is missing")
        return cls(
            **defaults.common(keys, kind),
            bolt=keys.text("bolt"),
            turns=turns,
            extra_turns=keys.number("extra_turns", extra_turns, least=0.0),
            approach=keys.length("approach", 0.02, above=0.0),
            grip_width=_width(keys, "grip_width"),
            open_width=_width(keys, "open_width"),
            press=keys.length("press", 0.3e-3),
            approach_tilt=keys.angle("approach_tilt", defaults.tolerance.tilt, least=0.0),
            tolerance=_tolerance(keys, Tolerance(tilt=math.radians(3.0))),
        )

    return parse


def _wait(keys: Keys, kind: str, defaults: Defaults) -> Wait:
    return Wait(**defaults.common(keys, kind), seconds=keys.number("seconds", least=0.0))


PARSERS: dict[str, Callable[[Keys, str, Defaults], StepBase]] = {
    "move_joints": _move_joints,
    "move_posture": _move_posture,
    "move_pose": _move_pose,
    "move_linear": _move_linear,
    "grip": _grip,
    "open": _open,
    "release": _open,
    "turn": _turn,
    "unscrew": _screw(Unscrew, 0.1),
    "screw_on": _screw(ScrewOn, 0.5),
    "wait": _wait,
}

# The key that a bare value stands for: `move_posture: rest`, `wait: 0.5`. None of them is a length
# or an angle, whose unit has to be seen.
WORDS = {
    "move_posture": "posture",
    "wait": "seconds",
    "unscrew": "bolt",
    "screw_on": "bolt",
}
