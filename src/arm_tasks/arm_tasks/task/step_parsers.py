# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
# Tests: src/arm_tasks/test/task/test_parser.py
"""Parsers that convert the keys of each kind of step to its class."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import MISSING, dataclass, field, fields, replace
from typing import Any, cast

import numpy as np
from arm_common.transforms import frame_along, pose, rpy_matrix
from arm_common.yaml.document import Field
from arm_common.yaml.schema_types import Leaf
from arm_common.yaml.typed_mapping import MAX_TURNS, TypedMapping
from arm_description.robot_model import read_only
from arm_description.trajectories.trajectory import AS_DRAWN, DrawingOptions

from arm_tasks.scene.poses import TaughtPose
from arm_tasks.scene.scene import BASE_FRAME
from arm_tasks.task import steps
from arm_tasks.task.condition import Condition, Signal, Value
from arm_tasks.task.task_keys import AXES, ORIENTATIONS, STEPS_KEYS, WHEN

_RIGHT_ANGLE = math.pi / 2.0
_ZEROS = (0.0, 0.0, 0.0)
# limits of a number by the form of its key
_LIMITS = {"positive": {"above": 0.0}, "at_least_0": {"least": 0.0}, "number": {}}
_MAX_TURNS = 1000.0  # of a nut
_MAX_SECONDS = 86_400.0  # of a wait
_MAX_RETRIES = 100
_MIN_SPEED = 0.001  # share of the joints' speed limits
_MIN_TOOL_SPEED = 1e-5  # [m/s]


@dataclass(frozen=True)
class Defaults:
    """Defaults of keys that a step omits."""

    speed: float = 0.5  # fraction of the joints' velocity limits
    tolerance: steps.Tolerance = field(default_factory=steps.Tolerance)
    poses: Mapping[str, TaughtPose] = field(default_factory=dict)  # taught poses by name

    def read(self, keys: TypedMapping) -> Defaults:
        """Return these defaults updated by the section `defaults` of a task file."""
        speed, tolerance = _speed(keys, self.speed), _tolerance(keys, steps.Tolerance())
        return replace(self, speed=speed, tolerance=tolerance)

    def common(self, keys: TypedMapping, kind: str) -> dict[str, Any]:
        """Return the fields of StepBase."""
        known = STEPS_KEYS[kind].table.keys
        return {
            "name": keys.text("name", kind),
            "kind": kind,
            "file": keys.item.file,
            "line": keys.item.line,
            "speed": _speed(keys, self.speed) if "speed" in known else self.speed,
            "retries": _retries(keys) if "retries" in known else 0,
            "gripper": optional(keys, "gripper", least=0.0) if "gripper" in known else None,
        }


def _speed(keys: TypedMapping, default: float) -> float:
    return keys.number("speed", default, least=_MIN_SPEED, most=1.0)


def _retries(keys: TypedMapping) -> int:
    retries = keys.count("retries", 0)
    if retries > _MAX_RETRIES:
        raise keys.fail(f"retries is {retries}; at most {_MAX_RETRIES} are possible")
    return retries


def _tolerance(keys: TypedMapping, default: steps.Tolerance) -> steps.Tolerance:
    return steps.Tolerance(
        keys.number("position", default.position, above=0.0),
        keys.number("tilt", default.tilt, least=0.0, most=_RIGHT_ANGLE),
    )


def _orientation(keys: TypedMapping) -> steps.Orientation:
    return cast(steps.Orientation, keys.choice("orientation", ORIENTATIONS, ORIENTATIONS[0]))


def play(keys: TypedMapping, kind: str, defaults: Defaults, path: str) -> steps.Play:
    """Read a step that plays the trajectory of a path, or writes a text if there is none."""
    if keys.has("path") == keys.has("text"):
        raise keys.fail("give either path or text")
    for name, other in (("height", "text"), ("depth", "touch")):
        if keys.has(name) and not keys.has(other):
            raise keys.fail(f"{name} has no effect without {other}", keys.require(name))
    default = AS_DRAWN
    return steps.Play(
        **defaults.common(keys, kind),
        path=path,
        text=keys.text("text", ""),
        drawing=DrawingOptions(
            width=optional(keys, "width", above=0.0),
            height=keys.number("height", default.height, above=0.0),
            at=(float((at := keys.numbers("at", 2, default.at))[0]), float(at[1])),
            lift=keys.number("lift", default.lift, above=0.0),
        ),
        touch=keys.text("touch", ""),
        depth=keys.number("depth", 0.0, least=0.0),
        reverse=bool(keys.truth("reverse")),
        frame=keys.text("frame", ""),
        orientation=_orientation(keys) if keys.has("orientation") else None,
        tool_speed=optional(keys, "tool_speed", least=_MIN_TOOL_SPEED),
        tolerance=_tolerance(keys, defaults.tolerance),
    )


def _target(keys: TypedMapping, defaults: Defaults) -> steps.Target:
    frame = keys.text("frame", BASE_FRAME)
    xyz = keys.numbers("xyz", 3, _ZEROS)
    given = [name for name in ("rpy", "roll", "axis") if keys.has(name)]
    if len(given) > 1:
        raise keys.fail(f"give either {' or '.join(given)}, not both")
    rpy = keys.numbers("rpy", 3, _ZEROS)
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
    offset = pose(p=keys.numbers("offset", 3, _ZEROS))
    T = offset @ T if keys.choice("offset_in", AXES, AXES[0]) == "target" else T @ offset
    if frame in defaults.poses:
        T = defaults.poses[frame].tool @ T
        return steps.Target(BASE_FRAME, read_only(T), orientation, taught=frame)
    return steps.Target(frame, read_only(T), orientation)


def _move_joints(keys: TypedMapping, kind: str, defaults: Defaults) -> steps.MoveJoints:
    if keys.has("joints") == keys.has("joints_deg"):
        raise keys.fail("give one of 'joints' [rad or m] and 'joints_deg'")
    degrees = keys.has("joints_deg")
    named = keys.children("joints_deg" if degrees else "joints")
    scale = math.pi / 180.0 if degrees else 1.0
    positions = {n: keys.read_number(v, degrees) * scale for n, v in named.items()}
    for joint, value in positions.items():
        if abs(value) > MAX_TURNS * math.tau:
            what = f"{joint} is {value:g} rad, but no angle may exceed {MAX_TURNS} turns"
            raise keys.fail(what, named[joint])
    if not positions:
        raise keys.fail("at least one joint must be named")
    return steps.MoveJoints(**defaults.common(keys, kind), positions=positions, degrees=degrees)


def _move_posture(keys: TypedMapping, kind: str, defaults: Defaults) -> steps.MovePosture:
    posture = keys.text("posture")
    taught = defaults.poses[posture].joints if posture in defaults.poses else None
    return steps.MovePosture(**defaults.common(keys, kind), posture=posture, taught=taught)


def _grip(keys: TypedMapping, kind: str, defaults: Defaults) -> steps.GripStep:
    width = 0.0 if kind == "close" else optional(keys, "width", least=0.0)
    payload = keys.text("payload", "") if kind == "grip" else ""
    if kind == "grip" and (width is None) == (not payload):
        raise keys.fail("give either the width or the payload to hold")
    return steps.GripStep(**defaults.common(keys, kind), width=width, payload=payload)


def _move_arc(keys: TypedMapping, kind: str, defaults: Defaults) -> steps.StepBase:
    target = _target(keys, defaults)
    x, y, z = (float(v) for v in keys.numbers("via", 3))
    if target.taught:  # whose frame was replaced by the base
        x, y, z = (float(v) for v in (defaults.poses[target.taught].tool @ (x, y, z, 1.0))[:3])
    return steps.MoveArc(
        **defaults.common(keys, kind),
        target=target,
        tolerance=_tolerance(keys, defaults.tolerance),
        via=(x, y, z),
        blend=keys.number("blend", 0.0, least=0.0),
    )


def optional(keys: TypedMapping, name: str, **limits: float) -> float | None:
    """Return a number within limits, or None if its key is omitted."""
    return keys.number(name, **limits) if keys.has(name) else None


def condition(keys: TypedMapping) -> Condition:
    """Read the condition of a mapping: `when` of `if` and `until`, or `wait_until` itself."""
    values = {f.name: _value(keys, f.name) for f in fields(Condition) if f.name != "signal"}
    signal = _signal(keys) if any(keys.has(f.name) for f in fields(Signal)) else None
    found = Condition(**values | {"measured": bool(values["measured"])}, signal=signal)
    if replace(found, measured=False) == Condition():
        raise keys.fail(f"there is no condition; known are {', '.join(WHEN.spellings)}")
    if found.problem:
        raise keys.fail(found.problem)
    return found


def _signal(keys: TypedMapping) -> Signal:
    frames = keys.require("frames").items() if keys.has("frames") else []
    names = "topic", "service", "field", "type", "above", "below"
    return Signal(
        **{name: _value(keys, name) for name in names},
        request=content(keys, "request"),
        frames=tuple(frame.raw("the name of a frame") for frame in frames),
        equals=_scalar(keys, "equals"),
    )


def _value(keys: TypedMapping, name: str) -> Any:
    """Return a text, "" if it is omitted, or a truth or number of a condition, else None."""
    leaf = WHEN.keys[name].kind
    assert isinstance(leaf, Leaf)
    if leaf.form == "text":
        return keys.text(name, "")
    return keys.truth(name) if leaf.form == "truth" else optional(keys, name)


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
        timeout=keys.number("timeout", 10.0, above=0.0, most=_MAX_SECONDS),
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


def _parser(cls: type[steps.StepBase]) -> Parser:
    """Return a parser that reads each field of a step's class by its key, with its default."""
    initial = {f.name: f.default for f in fields(cls) if f.name not in _COMMON}

    def parse(keys: TypedMapping, kind: str, defaults: Defaults) -> steps.StepBase:
        def value(name: str) -> Any:
            if name == "target":
                return _target(keys, defaults)
            if name == "when":
                return condition(keys)
            default: Any = None if initial[name] is MISSING else initial[name]
            if name == "tolerance":
                return _tolerance(keys, default or defaults.tolerance)
            leaf = STEPS_KEYS[kind].table.keys[name].kind
            assert isinstance(leaf, Leaf)
            if leaf.form == "text":
                return keys.text(name, default)
            if leaf.form == "truth":
                return bool(keys.truth(name))
            if name == "approach_tilt":
                default = defaults.tolerance.tilt
            if default is None and not keys.has(name):
                return None
            most = _MAX_SECONDS if name in ("seconds", "timeout") else _MAX_TURNS
            limits = {} if leaf.suffix else {"most": most}
            return keys.number(name, default, **_LIMITS[leaf.form], **limits)

        return cls(**defaults.common(keys, kind), **{name: value(name) for name in initial})

    return parse


PARSERS: dict[str, Parser] = {
    "move_joints": _move_joints,
    "move_posture": _move_posture,
    "move_pose": _parser(steps.MovePose),
    "move_linear": _parser(steps.MoveLinear),
    "move_arc": _move_arc,
    "approach": _parser(steps.Approach),
    "retreat": _parser(steps.Retreat),
    **dict.fromkeys(("grip", "open", "close", "release"), _grip),
    "turn": _parser(steps.Turn),
    "unscrew": _parser(steps.Unscrew),
    "screw_on": _parser(steps.ScrewOn),
    "find_thread": _parser(steps.FindThread),
    "regrasp": _parser(steps.Regrasp),
    "wait": _parser(steps.Wait),
    "wait_until": _parser(steps.WaitUntil),
    "find_frame": _parser(steps.FindFrame),
    **dict.fromkeys(_COMMANDS, _command),
    "set_speed": _parser(steps.SetSpeed),
    "pause_for_person": _parser(steps.PauseForPerson),
}
