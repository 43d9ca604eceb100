# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Read and write the transmissions of a robot file."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import pairwise
from operator import attrgetter
from typing import Any

from arm_common.errors import exact_text
from arm_common.yaml.document import Field
from arm_common.yaml.editing import flow_word
from arm_common.yaml.schema_types import Either, ListOf

from arm_description.errors import DescriptionError
from arm_description.model.constraints import SLACK
from arm_description.model.elements import ActuatorLimits, Joint
from arm_description.model.transmissions.curved import (
    CrankTransmission,
    LinkageLengths,
    TableTransmission,
)
from arm_description.model.transmissions.transmission import (
    UNLIMITED,
    DifferentialTransmission,
    Drivetrain,
    FourBarLinkageTransmission,
    Pair,
    ParallelogramTransmission,
    SeveralActuatorsTransmission,
    SimpleTransmission,
    Transmission,
)
from arm_description.robot_file.robot_keys import FACTOR, GRIPPER_KEY, TRANSMISSION
from arm_description.robot_file.scope import EvaluationContext, Section, read_name
from arm_description.robot_model import RobotModel

_LENGTHS = ("ground", "crank", "rod", "rocker")
_RATIOS = ("mechanical_reduction", "joint_reduction", "ratio")  # keys of numbers without a unit
_CLASSES: Mapping[str, Callable[..., Transmission]] = {
    "simple": SimpleTransmission,
    "parallelogram": ParallelogramTransmission,
    "differential": DifferentialTransmission,
    "four_bar_linkage": FourBarLinkageTransmission,
    "several": SeveralActuatorsTransmission,
    "crank": CrankTransmission,
    "table": TableTransmission,
}
_OF_ANY = frozenset(("type", "joint", "joints", "actuator", "actuators", "source"))
_OF_LIMITS = frozenset(("range", "velocity", "acceleration"))


def _attributes(kind: str) -> dict[str, str]:
    """Return the attribute of each key that not all types of transmissions have."""
    named = {"against": "depends_on", "min_transmission_angle": "least_angle"}
    named |= {key: f"lengths.{key}" for key in _LENGTHS}
    named |= {"ratio": "ratios"} if kind == "parallelogram" else {}
    keys = TRANSMISSION.tables[kind].keys
    return {key: named.get(key, key) for key in keys if key not in _OF_ANY | _OF_LIMITS}


def with_transmissions(model: RobotModel, field: Field, scope: EvaluationContext) -> RobotModel:
    """Return the robot with its transmissions.

    Each joint has at most one, each actuator a name of its own.
    """
    named = {joint.name: joint for joint in model.joints}
    items = field.items()
    found = tuple(_Reader(item, named, scope).transmission() for item in items)
    owner: dict[str, str] = {}
    for item, transmission in zip(items, found, strict=True):
        for joint in transmission.joints:
            if joint in owner:
                raise item.error(f"{joint} already has a transmission", "delete one of them")
            owner[joint] = joint
    _check_names(items, found, named)
    try:
        Drivetrain(tuple(named), found)
    except DescriptionError as error:
        raise items[int(error.key)].error(error.problem, error.remedy) from None
    for item, transmission in zip(items, found, strict=True):
        _check_range(item, transmission, named, scope)
    return replace(model, transmissions=found)


def _check_names(
    items: Sequence[Field], found: Sequence[Transmission], joints: Mapping[str, Joint]
) -> None:
    moved = {joint for transmission in found for joint in transmission.joints}
    used = {name: f"of joint {name}, which has no transmission" for name in joints.keys() - moved}
    used[GRIPPER_KEY] = "of the gripper"
    for item, transmission in zip(items, found, strict=True):
        for name in transmission.actuators:
            if name in used:
                raise item.error(
                    f"the actuator {name!r} is already that {used[name]}", "rename it"
                )
            used[name] = f"of {transmission.joints[0]}"


def _check_range(
    item: Field,
    transmission: Transmission,
    joints: Mapping[str, Joint],
    scope: EvaluationContext,
) -> None:
    """Raise an error for limits of a joint beyond the travel of actuators that move it alone."""
    if len(transmission.inputs) > 1 or transmission.limits == UNLIMITED:
        return
    joint = joints[transmission.joints[0]]
    for constraint in transmission.constraints(alone=True):
        lower, upper = constraint.bounds({})
        if constraint.joint == joint.name and not (
            lower - SLACK <= joint.lower and joint.upper <= upper + SLACK
        ):
            raise item.error(
                f"this range allows {joint.name} {_written(lower, upper, joint, scope)}, its "
                f"limits are {_written(joint.lower, joint.upper, joint, scope)}",
                "reduce the limits of the joint",
            )


def _written(lower: float, upper: float, joint: Joint, scope: EvaluationContext) -> str:
    low, high = (f"{scope.units.written(end, joint.type):.6g}" for end in (lower, upper))
    return f"{low} .. {high} {scope.units.unit(joint.type)}"


class _Reader:
    """Reads one transmission."""

    def __init__(
        self, field: Field, joints: Mapping[str, Joint], scope: EvaluationContext
    ) -> None:
        self._field, self._joints, self._scope = field, joints, scope
        self._kind, keys = TRANSMISSION.read(field)
        self._keys = Section(keys, scope)
        names = [self._keys["joint"]] if "joint" in self._keys else self._items("joints", 2)
        self._moved = tuple(map(self._joint, names))
        if len(set(self._moved)) < len(self._moved):
            raise self._keys["joints"].error("name the same joint twice")
        self._type = joints[self._moved[0]].type
        if self._kind not in ("simple", "several", "table"):
            for name in self._moved:
                self._require_revolute(name)
        self._actuators = self._shafts() if "actuators" in self._keys else self._shaft()
        self._against = self._ground_joints() if "against" in self._keys else ()

    def transmission(self) -> Transmission:
        values: dict[str, Any] = {
            name: self._value(key)
            for key, name in _attributes(self._kind).items()
            if key in self._keys and key not in (*_LENGTHS, "against")
        }
        if self._kind == "parallelogram":
            ratio = values.get("ratios", 1.0)
            if not isinstance(ratio, tuple):
                values["ratios"] = tuple(ratio for _ in self._against)
        elif self._kind == "several":
            values.setdefault("mirrored", tuple(False for _ in self._actuators))
        elif self._kind == "crank":
            lengths = map(self._keys.length, _LENGTHS)
            joint = self._joints[self._moved[0]]
            values |= {"lengths": LinkageLengths(*lengths), "span": (joint.lower, joint.upper)}
        parts = {"depends_on": self._against, "limits": self._limits()}
        made = _CLASSES[self._kind](self._moved, self._actuators, **values, **parts)
        if isinstance(made, CrankTransmission):
            self._check_closing(made)
        return made

    def _value(self, key: str) -> Any:
        """Return the value of a key; a tuple where the key has a list."""
        scope, field = self._scope, self._keys[key]
        readers: dict[str, Callable[[Field], Any]] = {
            **dict.fromkeys(_RATIOS, lambda item: scope.number(item, FACTOR)),
            "offset": scope.angle if len(self._moved) > 1 else self._position,
            "mirrored": _flag,
            "allowed_difference": lambda item: scope.position(
                item, self._type, self._keys.table.leaf(key)
            ),
            "branch": lambda _: self._keys.choice(key),
            "crank_angle": scope.angle,
            "rocker_angle": scope.angle,
            "min_transmission_angle": self._least_angle,
        }
        if key == "points":
            return self._points(field)
        kind = TRANSMISSION.tables[self._kind].keys[key].kind
        if isinstance(kind, ListOf) or (isinstance(kind, Either) and field.is_list):
            counts = {"mirrored": len(self._actuators), "ratio": len(self._against)}
            return tuple(map(readers[key], self._items(key, counts.get(key, 2))))
        return readers[key](field)

    def _check_closing(self, crank: CrankTransmission) -> None:
        """Raise an error unless a linkage closes within all limits of its joint."""
        joint, scope = self._joints[self._moved[0]], self._scope
        closing = crank.closing_range()
        limits = _written(joint.lower, joint.upper, joint, scope)
        if closing is None:
            raise self._field.error(
                f"with these lengths the linkage cannot close for any {joint.name} {limits}",
                "measure ground, crank, rod, rocker and rocker_angle again, or change branch",
            )
        if closing != crank.span:
            raise self._field.error(
                f"the linkage only closes for {joint.name} {_written(*closing, joint, scope)}, "
                f"its limits are {limits}",
                "reduce the limits, or measure the lengths and angles again",
            )

    def _points(self, field: Field) -> tuple[Pair, ...]:
        """Return the points of a table: both columns monotone, over all limits of the joint."""
        rows = [tuple(self._position(item) for item in row.items()) for row in field.items()]
        if len(rows) < 2 or any(len(row) != 2 for row in rows):
            raise field.error("needs two pairs [joint, actuator] or more")
        x, y = zip(*rows, strict=True)
        steps = [b - a for a, b in pairwise(y)]
        if any(b <= a for a, b in pairwise(x)):
            raise field.error("the joint's positions must increase from pair to pair")
        if not (all(step > 0.0 for step in steps) or all(step < 0.0 for step in steps)):
            raise field.error(
                "the actuator's positions must increase throughout or decrease throughout"
            )
        joint = self._joints[self._moved[0]]
        if x[0] > joint.lower + SLACK or x[-1] < joint.upper - SLACK:
            raise field.error(
                f"cover {joint.name} {_written(x[0], x[-1], joint, self._scope)}, its limits are "
                f"{_written(joint.lower, joint.upper, joint, self._scope)}",
                "measure the rest, or reduce the limits",
            )
        return tuple(zip(x, y, strict=True))

    def _joint(self, field: Field) -> str:
        name = field.text()
        if name not in self._joints:
            raise field.error(
                f"{name!r} is not a joint that actuators move",
                f"use one of {', '.join(self._joints)}",
            )
        return name

    def _require_revolute(self, name: str) -> None:
        if self._joints[name].type != "revolute":
            raise self._field.error(
                f"{name} is prismatic, but type {self._kind} is for revolute joints",
                "use type simple, several or table",
            )

    def _ground_joints(self) -> tuple[str, ...]:
        field = self._keys["against"]
        if self._kind == "crank" and field.is_list:
            raise field.error("must be the name of one joint, not a list")
        names = tuple(self._joint(item) for item in (field.items() if field.is_list else [field]))
        for name in names:
            if name in self._moved:
                raise field.error(f"{name!r} is the joint itself", "name earlier joints")
            if names.count(name) > 1:
                raise field.error(f"{name!r} is named twice", "name each joint once")
            self._require_revolute(name)
        return names

    def _shaft(self) -> tuple[str, ...]:
        return (read_name(self._keys["actuator"]) if "actuator" in self._keys else self._moved[0],)

    def _shafts(self) -> tuple[str, ...]:
        number = len(self._moved) if len(self._moved) > 1 else None
        names = tuple(read_name(item) for item in self._items("actuators", number))
        if len(names) < 2 or len(set(names)) < len(names):
            raise self._keys["actuators"].error("must be at least two different names")
        return names

    def _items(self, key: str, number: int | None) -> list[Field]:
        field = self._keys[key]
        items = field.items()
        if number is not None and len(items) != number:
            raise field.error(f"must be a list of {number}, not of {len(items)}")
        return items

    def _position(self, field: Field) -> float:
        return self._scope.position(field, self._type)

    def _least_angle(self, field: Field) -> float:
        value = self._keys.angle("min_transmission_angle")
        if value >= 0.5 * math.pi:
            raise field.error("must be less than a right angle")
        return value

    def _limits(self) -> ActuatorLimits:
        keys, scope = self._keys, self._scope
        lower, upper = -math.inf, math.inf
        if "range" in keys:
            lower, upper = map(self._position, self._items("range", 2))
            if lower >= upper:
                raise keys["range"].error("must increase", "write [least, largest]")
        velocity = acceleration = math.inf
        if "velocity" in keys:
            velocity = scope.velocity(keys["velocity"], self._type)
        if "acceleration" in keys:
            acceleration = scope.acceleration(keys["acceleration"], self._type, velocity)
        return ActuatorLimits(lower, upper, velocity, acceleration)


def _flag(field: Field) -> bool:
    if not isinstance(field.value, bool):
        raise field.error("must be true or false")
    return field.value


def transmission_entry(
    transmission: Transmission, types: Mapping[str, str], number: Callable[..., str]
) -> dict[str, str]:
    """Return the YAML text of each key of a transmission.

    Args:
        transmission: what to write.
        types: type of each joint.
        number: writes a position, or length, for the type of a joint.
    """
    kind, limits = types[transmission.joints[0]], transmission.limits
    joints, actuators = transmission.joints, transmission.actuators
    word = next(word for word, made in _CLASSES.items() if made is type(transmission))
    values: dict[str, Any] = {"type": word}
    values |= {"joint": joints[0]} if len(joints) == 1 else {"joints": joints}
    if len(actuators) > 1:
        values["actuators"] = actuators
    elif actuators != joints:
        values["actuator"] = actuators[0]
    values |= {key: attrgetter(name)(transmission) for key, name in _attributes(word).items()}
    if word == "crank":
        ground = transmission.depends_on
        values |= {"against": ground[0]} if ground else {"against": None, "ratio": None}
    values["range"] = (limits.lower, limits.upper) if math.isfinite(limits.lower) else None
    for key in ("velocity", "acceleration"):
        values[key] = value if math.isfinite(value := getattr(limits, key)) else None

    writers: dict[str, Callable[[float], str]] = dict.fromkeys(_RATIOS, exact_text)
    writers |= dict.fromkeys(_LENGTHS, partial(number, kind="prismatic"))
    return {
        key: _text(value, writers.get(key, partial(number, kind=kind)))
        for key, value in values.items()
        if value is not None
    }


def _text(value: Any, write: Callable[[float], str]) -> str:
    """Return a number, name, truth value or a list of these as YAML text."""
    if isinstance(value, tuple):
        return f"[{', '.join(_text(one, write) for one in value)}]"
    if isinstance(value, bool):
        return str(value).lower()
    return flow_word(value) if isinstance(value, str) else write(value)
