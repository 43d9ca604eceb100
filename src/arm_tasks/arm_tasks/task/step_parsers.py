# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
# Tests: src/arm_tasks/test/task/test_parser.py
"""Parsers that convert the keys of each kind of step to its class."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, fields, replace
from functools import partial
from typing import Any, cast

import numpy as np
from arm_common.transforms import frame_along, pose, rpy_matrix
from arm_common.yaml.document import Field
from arm_common.yaml.typed_mapping import TypedMapping
from arm_description.model.elements import TOLERANCE_AXES
from arm_description.robot_model import read_only
from arm_description.trajectories.trajectory import DrawingOptions

from arm_tasks.scene.poses import TaughtPose
from arm_tasks.scene.scene import BASE_FRAME
from arm_tasks.task import steps
from arm_tasks.task.condition import Condition, Signal, Value
from arm_tasks.task.task_keys import STEPS_KEYS, WHEN


@dataclass(frozen=True)
class Defaults:
    """Defaults of keys that a step omits."""

    speed: float  # fraction of the joints' velocity limits
    tolerance: steps.Tolerance
    poses: Mapping[str, TaughtPose] = field(default_factory=dict)  # taught poses by name

    @classmethod
    def read(cls, keys: TypedMapping, poses: Mapping[str, TaughtPose]) -> Defaults:
        """Read the section `defaults` of a task file."""
        return cls(keys.number("speed"), tolerance(keys), poses)

    def common(self, keys: TypedMapping, kind: str) -> dict[str, Any]:
        """Return the fields of StepBase."""
        known = STEPS_KEYS[kind].table.keys
        return {
            "name": keys.text("name", kind),
            "kind": kind,
            "file": keys.item.file,
            "line": keys.item.line,
            "speed": keys.number("speed", self.speed) if "speed" in known else self.speed,
            "retries": keys.count("retries") if "retries" in known else 0,
            "gripper": keys.optional("gripper") if "gripper" in known else None,
        }


def tolerance(keys: TypedMapping, otherwise: steps.Tolerance | None = None) -> steps.Tolerance:
    """Read a tolerance, whose keys have defaults unless it is said otherwise."""
    position, tilt = (otherwise.position, otherwise.tilt) if otherwise else (None, None)
    return steps.Tolerance(keys.number("position", position), keys.number("tilt", tilt))


def _orientation(keys: TypedMapping) -> steps.Orientation:
    return cast(steps.Orientation, keys.choice("orientation"))


def play(keys: TypedMapping, kind: str, defaults: Defaults, path: str) -> steps.StepBase:
    """Read a step that plays the trajectory of a path, or writes a text if there is none."""
    if keys.has("path") == keys.has("text"):
        raise keys.fail("give either path or text")
    for name, other in (("height", "text"), ("depth", "touch")):
        if keys.has(name) and not keys.has(other):
            raise keys.fail(f"{name} has no effect without {other}", keys.require(name))
    x, y = map(float, keys.numbers("at"))
    width, height, lift = keys.optional("width"), keys.number("height"), keys.number("lift")
    drawing = DrawingOptions(width, height, (x, y), lift)
    orientation = _orientation(keys) if keys.has("orientation") else None
    return _read(
        steps.Play, keys, kind, defaults, path=path, drawing=drawing, orientation=orientation
    )


def _target(keys: TypedMapping, defaults: Defaults) -> steps.Target:
    frame = keys.text("frame")
    xyz = keys.numbers("xyz")
    given = [name for name in ("rpy", "roll", "axis") if keys.has(name)]
    if len(given) > 1:
        raise keys.fail(f"give either {' or '.join(given)}, not both")
    rpy = keys.numbers("rpy")
    if keys.has("roll"):
        rpy[2] = keys.number("roll")
    orientation = _orientation(keys)
    T = rpy_matrix(xyz, rpy)
    if keys.has("axis"):
        axis = keys.numbers("axis")
        largest = np.abs(axis).max()
        if largest < 1e-9:
            raise keys.fail("axis must not be zero", keys.require("axis"))
        T[:3, :3] = frame_along(axis / largest)
    offset = pose(p=keys.numbers("offset"))
    T = offset @ T if keys.choice("offset_in") == TOLERANCE_AXES[0] else T @ offset
    if frame in defaults.poses:
        T = defaults.poses[frame].tool @ T
        return steps.Target(BASE_FRAME, read_only(T), orientation, taught=frame)
    return steps.Target(frame, read_only(T), orientation)


def _move_joints(keys: TypedMapping, kind: str, defaults: Defaults) -> steps.MoveJoints:
    positions, found = keys.named_numbers("joints"), keys.find("joints")
    degrees = found is not None and found[0].endswith("_deg")
    if not positions:
        raise keys.fail("at least one joint must be named")
    return steps.MoveJoints(**defaults.common(keys, kind), positions=positions, degrees=degrees)


def _move_posture(keys: TypedMapping, kind: str, defaults: Defaults) -> steps.StepBase:
    posture = keys.text("posture")
    taught = defaults.poses[posture].joints if posture in defaults.poses else None
    return _read(steps.MovePosture, keys, kind, defaults, taught=taught)


def _grip(keys: TypedMapping, kind: str, defaults: Defaults) -> steps.GripStep:
    width = 0.0 if kind == "close" else keys.optional("width")
    payload = keys.text("payload", "") if kind == "grip" else ""
    if kind == "grip" and (width is None) == (not payload):
        raise keys.fail("give either the width or the payload to hold")
    return steps.GripStep(**defaults.common(keys, kind), width=width, payload=payload)


def _move_arc(keys: TypedMapping, kind: str, defaults: Defaults) -> steps.StepBase:
    target = _target(keys, defaults)
    x, y, z = (float(v) for v in keys.numbers("via"))
    if target.taught:  # whose frame was replaced by the base
        x, y, z = (float(v) for v in (defaults.poses[target.taught].tool @ (x, y, z, 1.0))[:3])
    return _read(steps.MoveArc, keys, kind, defaults, target=target, via=(x, y, z))


def condition(keys: TypedMapping) -> Condition:
    """Read the condition of a mapping: `when` of `if` and `until`, or `wait_until` itself."""
    values = {f.name: keys.value(f.name) for f in fields(Condition) if f.name != "signal"}
    signal = _signal(keys) if any(keys.has(f.name) for f in fields(Signal)) else None
    found = Condition(**values, signal=signal)
    if replace(found, measured=False) == Condition():
        raise keys.fail(f"there is no condition; known are {', '.join(WHEN.spellings)}")
    if found.problem:
        raise keys.fail(found.problem)
    return found


def _signal(keys: TypedMapping) -> Signal:
    frames = keys.require("frames").items() if keys.has("frames") else []
    names = "topic", "service", "field", "type", "above", "below"
    return Signal(
        **{name: keys.value(name) for name in names},
        request=content(keys, "request"),
        frames=tuple(frame.raw("the name of a frame") for frame in frames),
        equals=_scalar(keys, "equals"),
    )


_COMMANDS = {
    "call_service": ("service", "request"),
    "publish": ("topic", "message"),
    "run_function": ("function", "arguments"),
}


def _command(keys: TypedMapping, kind: str, defaults: Defaults) -> steps.StepBase:
    to, holds = _COMMANDS[kind]
    return steps.Command(
        **defaults.common(keys, kind),
        to=keys.text(to),
        type=keys.text("type") if kind != "run_function" else "",
        content=content(keys, holds),
        timeout=keys.number("timeout"),
    )


def content(keys: TypedMapping, name: str) -> dict[str, Any]:
    """Return the fields of a message as plain data; texts have the values of variables."""
    return {key: _plain(keys, item) for key, item in keys.children(name).items()}


def _plain(keys: TypedMapping, item: Field) -> Any:
    if item.is_mapping:
        return {key: _plain(keys, value) for key, value in item.mapping().items()}
    if item.is_list:
        return [_plain(keys, value) for value in item.items()]
    return _text(keys, item) if isinstance(item.value, str) else item.value


def _text(keys: TypedMapping, item: Field) -> float | str:
    """Return a text, or the number that a variable in it makes of it."""
    assert keys.variables is not None
    if "$" not in item.raw("text"):
        return keys.variables.literal(item)
    text = keys.variables.text(item)
    with suppress(ValueError):
        return float(text)
    return text


def _scalar(keys: TypedMapping, name: str) -> Value | None:
    """Return a number, a text, true or false; None if the key is omitted."""
    if not keys.has(name):
        return None
    item = keys.require(name)
    if isinstance(item.value, bool):
        return item.value
    if isinstance(item.value, int | float):
        return keys.number(name)
    keys.text(name)  # refuses what is no text
    return _text(keys, item)


Parser = Callable[[TypedMapping, str, Defaults], steps.StepBase]
_COMMON = [f.name for f in fields(steps.StepBase)]


def _read(
    cls: type[steps.StepBase], keys: TypedMapping, kind: str, defaults: Defaults, **given: Any
) -> steps.StepBase:
    """Return a step, each of whose fields is the value of its key unless it is given."""
    special: dict[str, Callable[[], Any]] = {
        "target": lambda: _target(keys, defaults),
        "when": lambda: condition(keys),
        "tolerance": lambda: tolerance(keys, defaults.tolerance),
        "approach_tilt": lambda: keys.number("approach_tilt", defaults.tolerance.tilt),
    }
    names = [f.name for f in fields(cls) if f.name not in (*_COMMON, *given)]
    values = {n: special[n]() if n in special else keys.value(n) for n in names}
    return cls(**defaults.common(keys, kind), **values, **given)


PARSERS: dict[str, Parser] = {
    "move_joints": _move_joints,
    "move_posture": _move_posture,
    "move_pose": partial(_read, steps.MovePose),
    "move_linear": partial(_read, steps.MoveLinear),
    "move_arc": _move_arc,
    "approach": partial(_read, steps.Approach),
    "retreat": partial(_read, steps.Retreat),
    **dict.fromkeys(("grip", "open", "close", "release"), _grip),
    "turn": partial(_read, steps.Turn),
    "unscrew": partial(_read, steps.Unscrew),
    "screw_on": partial(_read, steps.ScrewOn),
    "find_thread": partial(_read, steps.FindThread),
    "regrasp": partial(_read, steps.Regrasp),
    "wait": partial(_read, steps.Wait),
    "wait_until": partial(_read, steps.WaitUntil),
    "find_frame": partial(_read, steps.FindFrame),
    **dict.fromkeys(_COMMANDS, _command),
    "set_speed": partial(_read, steps.SetSpeed),
    "pause_for_person": partial(_read, steps.PauseForPerson),
}
