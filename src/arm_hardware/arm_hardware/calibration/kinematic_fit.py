# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Kinematic calibration: fits joint zeros and link lengths to touched tip positions.

A file holds the touched points: commanded joint positions and measured tip positions. The fit
reports parameters that the points cannot distinguish, and the accuracy of the others.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from arm_common.suggestions import did_you_mean
from arm_common.transforms import Array
from arm_common.yaml.document import Field, read_yaml
from arm_common.yaml.expressions import Expressions
from arm_common.yaml.schema_types import Key, Leaf, ListOf, Named, Table
from arm_description.model.elements import DependentJoint
from arm_description.robot_file import robot_keys
from arm_description.robot_file.scope import EvaluationContext, Section, read_units
from arm_description.robot_model import RobotModel
from scipy.optimize import least_squares
from scipy.sparse.csgraph import connected_components

from arm_hardware.calibration.axes import UNITS
from arm_hardware.errors import CalibrationError, HardwareError

OBSERVABLE = 1e-3  # smallest observable singular value, relative to the largest
SHARE = 0.05  # smallest component of an unobservable direction that counts
OUTLIER = 5.0  # errors above this multiple of the median are outliers
FINEST = 1e-5  # [m] smaller errors are rounding


def tip_position(model: RobotModel, q: Sequence[float] | Array, at: Array | None = None) -> Array:
    """Return the position (3,) in base_link [m] of a point ``at`` (3,) of tool0.

    Without ``at``, the point is the origin of tool0. Joint positions q are (n,) [rad or m].
    """
    pose = model.fk(q)
    point: Array = pose[:3, 3] if at is None else pose[:3, :3] @ at + pose[:3, 3]
    return point


def tip_jacobian(model: RobotModel, frames: Sequence[Array], at: Array | None = None) -> Array:
    """Return the derivatives (3, n) of tip_position() with respect to the joints [m/rad or m/m].

    This is the linear part of the geometric Jacobian (Lynch and Park, "Modern Robotics", section
    5.1), computed from the DH frames at the joint positions.
    """
    point = frames[-1] @ model.tool.matrix @ np.append(np.zeros(3) if at is None else at, 1.0)
    rates = np.empty((3, len(model.rows)))
    for i, joint in enumerate(model.rows):
        frame = frames[i] if model.convention == "standard" else frames[i + 1]
        x, y, z = frame[:3, :3] @ joint.direction
        if joint.type == "prismatic":
            rates[:, i] = x, y, z
        else:
            a, b, c = point[:3] - frame[:3, 3]
            rates[:, i] = y * c - z * b, z * a - x * c, x * b - y * a
    place = {joint.name: i for i, joint in enumerate(model.rows)}
    for joint in model.dependents:  # moves with the joints that it follows
        for leader, factor in joint.terms:
            rates[:, place[leader]] += factor * rates[:, place[joint.name]]
    return rates[:, [place[name] for name in model.joint_names]]


XYZ = ListOf(Leaf("length"), 3, 3)
TOUCH = Table(
    {
        "joints": Key(Named(Leaf("position"), "joint"), "as commanded, of every joint", True),
        "tip": Key(XYZ, "where the touching point was, in base_link", True),
    }
)
TOUCHES = ListOf(TOUCH, 1, None)
FILE = Table(
    {
        "robot": Key(Leaf("name of a robot", "text"), "that was touched with", True),
        "units": Key(robot_keys.UNITS, "of the file", True),
        "touching": Key(
            XYZ, "the point of the tool that touches, in tool0", default=robot_keys.ZEROS
        ),
        "points": Key(TOUCHES, "one row a touch", True),
    }
)


@dataclass(frozen=True)
class TouchPoints:
    """Touched points, in SI units."""

    at: Array  # (3,) the point of the tool that touches, in tool0 [m]
    commanded: Array  # (m, n) joint positions commanded to the servos [rad or m]
    tips: Array  # (m, 3) where that point was, in base_link [m]
    lines: tuple[int, ...] = ()  # (m,) line numbers in the file, for messages about a point


def load_touches(path: Path, model: RobotModel) -> TouchPoints:
    """Read a file of touched points, or raise CalibrationError."""
    top = FILE.read(read_yaml(path, CalibrationError))
    robot = top["robot"].text()
    if robot != model.name:
        raise top["robot"].error(f"is {robot!r}, the calibration is for {model.name!r}")
    units = read_units(top["units"], model.units.max_length)
    scope = EvaluationContext(units, Expressions({}, units.radian))
    at = np.array(Section(top, scope).lengths("touching"))
    rows = TOUCHES.items(top["points"], "points", "touch some points")
    given = [scope.read(TOUCH, row) for row in rows]
    commanded = np.array([_joints(row["joints"], model, scope) for row in given])
    tips = np.array([row.lengths("tip") for row in given])
    return TouchPoints(at, commanded, tips, tuple(row.line for row in rows))


def _joints(field: Field, model: RobotModel, scope: EvaluationContext) -> list[float]:
    given = field.mapping()
    for name, value in given.items():
        if name not in model.joint_names:
            raise value.error(
                "is not a joint of this robot", did_you_mean(name, model.joint_names)
            )
    for name in model.joint_names:
        if name not in given:
            raise field.error(f"has no {name!r}", "a point needs every joint")
    return [scope.position(given[joint.name], joint.type) for joint in model.joints]


def unobservable_groups(jacobian: Array, names: Sequence[str]) -> list[tuple[str, ...]]:
    """Return groups of parameters that can change together without moving the tips.

    These changes span the null space of the tips' Jacobian (3 m, k), whose columns are scaled to
    be comparable: its right singular vectors with singular values near 0. The projector onto that
    space couples the parameters of one group (Hollerbach, Khalil, Gautier, "Model Identification",
    Springer Handbook of Robotics, chapter 6, section on observability). A group of one is a
    parameter that moves no tip at all.
    """
    _, values, rows = np.linalg.svd(jacobian, full_matrices=True)
    strength = np.zeros(len(names))
    strength[: len(values)] = values
    null_space = rows[strength <= OBSERVABLE * strength.max(initial=0.0)]
    coupled = np.abs(null_space.T @ null_space) > SHARE**2
    free = np.flatnonzero(coupled.diagonal())
    count, labels = connected_components(coupled[np.ix_(free, free)])
    return [tuple(names[i] for i in free[labels == label]) for label in range(count)]


@dataclass(frozen=True)
class FitParameter:
    """A parameter to fit, as a deviation from the model."""

    joint: int  # index of the joint for "zero", of the row of the table for a length
    kind: str  # "zero" (offset from the commanded position), or "a" or "d" of the DH row
    name: str  # the joint's, or joint.a, joint.d
    unit: str  # "rad" or "m"


def joint_zeros(model: RobotModel) -> list[FitParameter]:
    """Return the zero of every joint."""
    joints = enumerate(model.joints)
    return [FitParameter(i, "zero", joint.name, UNITS[joint.type]) for i, joint in joints]


def link_lengths(model: RobotModel) -> list[FitParameter]:
    """Return every length of the DH table except d of prismatic joints, which is their zero."""
    return [
        FitParameter(i, kind, f"{joint.name}.{kind}", "m")
        for i, joint in enumerate(model.rows)
        for kind in (("a",) if joint.type == "prismatic" else ("a", "d"))
    ]


def select_parameters(
    model: RobotModel, lengths: Sequence[str], keep: Sequence[str]
) -> list[FitParameter]:
    """Return all zeros and the named lengths ("all": every one), without those to keep.

    Raises:
        HardwareError: A name is unknown.
    """
    every = {parameter.name: parameter for parameter in link_lengths(model)}
    chosen = every if "all" in lengths else dict.fromkeys(lengths)
    for name in chosen:
        if name not in every:
            raise HardwareError(f"There is no length {name!r}; {did_you_mean(name, every)}.")
    found = [*joint_zeros(model), *(every[name] for name in chosen)]
    names = [parameter.name for parameter in found]
    for name in keep:
        if name not in names:
            others = did_you_mean(name, names)
            raise HardwareError(f"{name!r} is not being fitted and cannot be kept; {others}.")
    return [parameter for parameter in found if parameter.name not in keep]


@dataclass(frozen=True)
class PerturbedArm:
    """An arm whose parameters deviate from the model's."""

    model: RobotModel  # with the deviating lengths
    parameters: tuple[FitParameter, ...]  # (k) that deviate
    zeros: Array  # (n,) offset of each joint from its commanded position [rad or m]

    def tips(self, commanded: Array, at: Array) -> Array:
        """Return positions (m, 3) [m] of a point (3,) of tool0 at commanded joints (m, n)."""
        return np.array([tip_position(self.model, q + self.zeros, at) for q in commanded])

    def jacobian(self, commanded: Array, at: Array) -> Array:
        """Return the derivatives (3 m, k) of the tips with respect to the parameters."""
        rows = []
        for q in commanded + self.zeros:
            frames = self.model.dh_frames(q)
            turning = tip_jacobian(self.model, frames, at)
            columns = [
                turning[:, p.joint] if p.kind == "zero" else self._along(frames, p)
                for p in self.parameters
            ]
            rows.append(np.array(columns).T)
        return np.concatenate(rows)

    def _along(self, frames: Sequence[Array], parameter: FitParameter) -> Array:
        """Return the direction (3,) of a length: z for d, x for a, of the convention's frame."""
        i, standard = parameter.joint, self.model.convention == "standard"
        if parameter.kind == "d":
            return frames[i if standard else i + 1][:3, 2]
        return frames[i + 1 if standard else i][:3, 0]


def perturbed_arm(
    model: RobotModel, parameters: Sequence[FitParameter], values: Array
) -> PerturbedArm:
    """Return an arm whose parameters deviate by values (k,) [rad or m]."""
    zeros = np.zeros(model.n)
    rows = list(model.rows)
    for parameter, value in zip(parameters, values, strict=True):
        i = parameter.joint
        if parameter.kind == "zero":
            zeros[i] += value
        else:
            length = getattr(rows[i].row, parameter.kind) + float(value)
            rows[i] = replace(rows[i], row=replace(rows[i].row, **{parameter.kind: length}))
    dependents = tuple(row for row in rows if isinstance(row, DependentJoint))
    joints = tuple(row for row in rows if not isinstance(row, DependentJoint))
    arm = replace(model, joints=joints, dependents=dependents)
    return PerturbedArm(arm, tuple(parameters), zeros)


@dataclass(frozen=True)
class KinematicFit:
    """The result of a fit."""

    parameters: tuple[FitParameter, ...]  # (k) fitted
    values: Array  # (k,) deviations from the model [rad or m]
    deviations: Array  # (k,) their standard deviations, from the residuals
    unobservable: tuple[str, ...]  # names of parameters that move no tip at these points
    before: Array  # (m,) distances between measured and modelled tips [m]
    after: Array  # (m,) the same with the fitted parameters
    outliers: tuple[int, ...]  # indices of points that do not fit the others


def fit(
    model: RobotModel, parameters: Sequence[FitParameter], touches: TouchPoints
) -> KinematicFit:
    """Return the parameters that minimise the distances between modelled and touched tips.

    Raises:
        HardwareError: There are too few points, or they cannot distinguish the parameters named.
    """
    if len(touches.commanded) < len(parameters):
        raise HardwareError(
            f"Too few points, {len(touches.commanded)}, for {len(parameters)} parameters: "
            f"touch {len(parameters)} or more, "
            "preferably three times as many, in very different postures."
        )
    observable, unobservable = _observable(model, list(parameters), touches)

    def errors(values: Array) -> Array:
        found = perturbed_arm(model, observable, values).tips(touches.commanded, touches.at)
        return np.asarray((found - touches.tips).ravel())

    def jacobian(values: Array) -> Array:
        return perturbed_arm(model, observable, values).jacobian(touches.commanded, touches.at)

    start = np.zeros(len(observable))
    values = np.asarray(least_squares(errors, start, jacobian, x_scale="jac").x)
    _require_none(_unobservable(jacobian(values), observable))
    before, after = _lengths(errors(start)), _lengths(errors(values))
    return KinematicFit(
        tuple(observable),
        values,
        _deviations(jacobian(values), errors(values)),
        unobservable,
        before,
        after,
        _outliers(errors, jacobian, values),
    )


def _observable(
    model: RobotModel, parameters: list[FitParameter], touches: TouchPoints
) -> tuple[list[FitParameter], tuple[str, ...]]:
    """Return the parameters that move a tip, and the names of the others."""
    nothing = np.zeros(len(parameters))
    jacobian = perturbed_arm(model, parameters, nothing).jacobian(touches.commanded, touches.at)
    groups = _unobservable(jacobian, parameters)
    alone = tuple(group[0] for group in groups if len(group) == 1)
    _require_none([group for group in groups if len(group) > 1])
    observable = [p for p in parameters if p.name not in alone]
    if not observable:
        raise HardwareError("No parameter moves the tip at these points; touch others.")
    return observable, alone


def _require_none(groups: Sequence[tuple[str, ...]]) -> None:
    """Raise HardwareError for the first group of indistinguishable parameters."""
    for group in groups:
        raise HardwareError(
            f"These points cannot distinguish {', '.join(group)}: touch more points, in postures "
            f"that differ more, or keep one as it is (--keep {group[-1]})."
        )


def _unobservable(jacobian: Array, parameters: Sequence[FitParameter]) -> list[tuple[str, ...]]:
    """Return unobservable_groups(), with lengths scaled by the tip's largest lever arm."""
    angles = [i for i, p in enumerate(parameters) if p.unit == "rad"]
    arm = float(np.abs(jacobian[:, angles]).max(initial=0.0)) or 1.0
    scaled = jacobian * [1.0 if p.unit == "rad" else arm for p in parameters]
    return unobservable_groups(scaled, [p.name for p in parameters])


def _deviations(jacobian: Array, errors: Array) -> Array:
    """Return the standard deviations (k,) of a least-squares result, residuals taken as noise."""
    spare = max(1, len(errors) - jacobian.shape[1])
    variance = float(errors @ errors) / spare
    return np.asarray(np.sqrt(variance * np.linalg.pinv(jacobian.T @ jacobian).diagonal()))


def _lengths(errors: Array) -> Array:
    return np.asarray(np.linalg.norm(errors.reshape(-1, 3), axis=1))


def _outliers(
    errors: Callable[[Array], Array], jacobian: Callable[[Array], Array], values: Array
) -> tuple[int, ...]:
    """Return the indices of the outliers of a robust (Cauchy loss) fit."""
    usual = max(float(np.median(np.abs(errors(values)))), FINEST)
    robust = least_squares(errors, values, jacobian, x_scale="jac", loss="cauchy", f_scale=usual)
    off = _lengths(errors(np.asarray(robust.x)))
    limit = OUTLIER * max(float(np.median(off)), FINEST)
    return tuple(int(i) for i in np.flatnonzero(off > limit))
