# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Read the transmissions of a robot file."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from itertools import pairwise

from arm_common.yaml.document import Field

from arm_description.errors import DescriptionError
from arm_description.model.constraints import SLACK
from arm_description.model.elements import Joint
from arm_description.model.transmissions.crank import (
    LEAST_ANGLE,
    CrankTransmission,
    LinkageLengths,
)
from arm_description.model.transmissions.drivetrain import Drivetrain
from arm_description.model.transmissions.table import TableTransmission
from arm_description.model.transmissions.transmission import (
    UNLIMITED,
    ActuatorLimits,
    DifferentialTransmission,
    FourBarLinkageTransmission,
    Pair,
    ParallelogramTransmission,
    SeveralActuatorsTransmission,
    SimpleTransmission,
    Transmission,
)
from arm_description.robot_file.keys import BRANCHES, GRIPPER_KEY, TRANSMISSION
from arm_description.robot_file.scope import EvaluationContext, read_name
from arm_description.robot_model import RobotModel


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
        self._kind, self._keys = TRANSMISSION.read(field)
        names = [self._keys["joint"]] if "joint" in self._keys else self._items("joints", 2)
        self._moved = tuple(map(self._joint, names))
        if len(set(self._moved)) < len(self._moved):
            raise self._keys["joints"].error("name the same joint twice")
        self._type = joints[self._moved[0]].type
        if self._kind not in ("simple", "several", "table"):
            for name in self._moved:
                self._require_revolute(name)

    def transmission(self) -> Transmission:
        readers: Mapping[str, Callable[[], Transmission]] = {
            "simple": self._simple,
            "parallelogram": self._parallelogram,
            "differential": lambda: self._coupled(DifferentialTransmission),
            "four_bar_linkage": lambda: self._coupled(FourBarLinkageTransmission),
            "several": self._several,
            "crank": self._crank,
            "table": self._table,
        }
        return readers[self._kind]()

    def _simple(self) -> SimpleTransmission:
        return SimpleTransmission(
            self._moved, self._shaft(), self._reduction(), self._offset(), limits=self._limits()
        )

    def _parallelogram(self) -> ParallelogramTransmission:
        against = self._against()
        ratios = self._keys.get("ratio")
        if ratios is None or not ratios.is_list:
            ratio = self._ratio(ratios)
            values = tuple(ratio for _ in against)
        else:
            values = tuple(self._ratio(item) for item in self._items("ratio", len(against)))
        return ParallelogramTransmission(
            self._moved,
            self._shaft(),
            values,
            self._reduction(),
            self._offset(),
            depends_on=against,
            limits=self._limits(),
        )

    def _coupled(self, kind: type[DifferentialTransmission]) -> DifferentialTransmission:
        offset = self._keys.get("offset")
        first, second = map(self._scope.angle, offset.items()) if offset else (0.0, 0.0)
        return kind(
            self._moved,
            self._shafts(2),
            self._pair("mechanical_reduction"),
            self._pair("joint_reduction"),
            (first, second),
            limits=self._limits(),
        )

    def _several(self) -> SeveralActuatorsTransmission:
        actuators = self._shafts(None)
        mirrored = tuple(False for _ in actuators)
        if "mirrored" in self._keys:
            mirrored = tuple(map(_flag, self._items("mirrored", len(actuators))))
        return SeveralActuatorsTransmission(
            self._moved,
            actuators,
            mirrored,
            self._above_zero("allowed_difference"),
            self._reduction(),
            self._offset(),
            limits=self._limits(),
        )

    def _crank(self) -> CrankTransmission:
        scope, keys = self._scope, self._keys
        names = ("ground", "crank", "rod", "rocker")
        joint = self._joints[self._moved[0]]
        crank = CrankTransmission(
            self._moved,
            self._shaft(),
            LinkageLengths(*(scope.positive_length(keys[name]) for name in names)),
            (joint.lower, joint.upper),
            keys["branch"].choice(BRANCHES) if "branch" in keys else BRANCHES[0],
            scope.angle(keys["crank_angle"]) if "crank_angle" in keys else 0.0,
            scope.angle(keys["rocker_angle"]) if "rocker_angle" in keys else 0.0,
            self._ratio(keys.get("ratio")),
            self._least_angle(),
            depends_on=self._ground_joint(),
            limits=self._limits(),
        )
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
        return crank

    def _table(self) -> TableTransmission:
        field = self._keys["points"]
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
        points = tuple(zip(x, y, strict=True))
        return TableTransmission(self._moved, self._shaft(), points, limits=self._limits())

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

    def _ground_joint(self) -> tuple[str, ...]:
        if "against" not in self._keys:
            return ()
        if self._keys["against"].is_list:
            raise self._keys["against"].error("must be the name of one joint, not a list")
        return self._against()

    def _against(self) -> tuple[str, ...]:
        field = self._keys["against"]
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

    def _shafts(self, number: int | None) -> tuple[str, ...]:
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

    def _ratio(self, field: Field | None) -> float:
        value = 1.0 if field is None else self._scope.number(field)
        if field is not None and value == 0.0:
            raise field.error("must not be 0")
        return value

    def _reduction(self) -> float:
        return self._ratio(self._keys.get("mechanical_reduction"))

    def _pair(self, key: str) -> Pair:
        if key not in self._keys:
            return (1.0, 1.0)
        first, second = map(self._ratio, self._items(key, 2))
        return (first, second)

    def _offset(self) -> float:
        return self._position(self._keys["offset"]) if "offset" in self._keys else 0.0

    def _position(self, field: Field) -> float:
        return self._scope.position(field, self._type)

    def _above_zero(self, key: str) -> float:
        value = self._position(self._keys[key])
        if value <= 0.0:
            raise self._keys[key].error("must be greater than 0")
        return value

    def _least_angle(self) -> float:
        key = "min_transmission_angle"
        if key not in self._keys:
            return LEAST_ANGLE
        value = self._above_zero(key)
        if value >= 0.5 * math.pi:
            raise self._keys[key].error("must be less than a right angle")
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
