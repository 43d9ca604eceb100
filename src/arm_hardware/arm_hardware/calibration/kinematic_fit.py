# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Kinematic calibration: joint zeros and link lengths fitted to touched tip positions.

It names parameters that the points cannot tell apart, and how accurate the others are.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from arm_common.suggestions import did_you_mean
from scipy.optimize import least_squares
from scipy.sparse.csgraph import connected_components

from arm_description import RobotModel
from arm_hardware.calibration.axes import UNITS
from arm_hardware.calibration.touch_points import Array, TouchPoints, tip_of, tip_rates
from arm_hardware.errors import HardwareError

OBSERVABLE = 1e-3  # of the largest singular value; less moves the tip too little
SHARE = 0.05  # of an unobservable direction that makes a parameter part of it
OUTLIER = 5.0  # times the usual error: such a point was probably measured wrongly
FINEST = 1e-5  # [m] errors below this are rounding


def unobservable_groups(jacobian: Array, names: Sequence[str]) -> list[tuple[str, ...]]:
    """Return groups of parameters that may change together without the tips moving.

    Such changes are the null space of the Jacobian (3 m, k) of the tips, whose columns are scaled
    to be compared: its right singular vectors with singular values near 0. The parameters of one
    group are coupled by the projector on it (Hollerbach, Khalil, Gautier, "Model Identification",
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
    """A number to be found: by how much it exceeds the model's."""

    joint: int  # index
    what: str  # "zero" (offset from the commanded position), or "a" or "d" of the DH row
    name: str  # the joint's, or joint.a, joint.d
    unit: str  # "rad" or "m"


def zeros_of(model: RobotModel) -> list[FitParameter]:
    """Return the zero of every joint."""
    joints = enumerate(model.joints)
    return [FitParameter(i, "zero", joint.name, UNITS[joint.type]) for i, joint in joints]


def lengths_of(model: RobotModel) -> list[FitParameter]:
    """Return every length of the table but the d of sliding joints, which is their zero."""
    return [
        FitParameter(i, what, f"{joint.name}.{what}", "m")
        for i, joint in enumerate(model.joints)
        for what in (("a",) if joint.type == "prismatic" else ("a", "d"))
    ]


def select_parameters(
    model: RobotModel, lengths: Sequence[str], keep: Sequence[str]
) -> list[FitParameter]:
    """Return all zeros and the named lengths ("all": each), without those to keep."""
    every = {parameter.name: parameter for parameter in lengths_of(model)}
    chosen = every if "all" in lengths else dict.fromkeys(lengths)
    for name in chosen:
        if name not in every:
            raise HardwareError(f"There is no length {name!r}; {did_you_mean(name, every)}.")
    found = [*zeros_of(model), *(every[name] for name in chosen)]
    names = [parameter.name for parameter in found]
    for name in keep:
        if name not in names:
            others = did_you_mean(name, names)
            raise HardwareError(f"{name!r} would not be found anyway; {others}.")
    return [parameter for parameter in found if parameter.name not in keep]


@dataclass(frozen=True)
class PerturbedArm:
    """The arm if it is off by certain values."""

    model: RobotModel  # with the real lengths
    parameters: tuple[FitParameter, ...]  # (k) what is off
    zeros: Array  # (n,) offset of each joint from its commanded position [rad or m]

    def tips(self, commanded: Array, at: Array) -> Array:
        """Return where a point (3,) of tool0 is (m, 3) [m] at commanded positions (m, n)."""
        return np.array([tip_of(self.model, q + self.zeros, at) for q in commanded])

    def rates(self, commanded: Array, at: Array) -> Array:
        """Return the derivatives (3 m, k) of the tips by the parameters."""
        rows = []
        for q in commanded + self.zeros:
            frames = self.model.dh_frames(q)
            turning = tip_rates(self.model, frames, at)
            columns = [
                turning[:, p.joint] if p.what == "zero" else self._along(frames, p)
                for p in self.parameters
            ]
            rows.append(np.array(columns).T)
        return np.concatenate(rows)

    def _along(self, frames: Sequence[Array], parameter: FitParameter) -> Array:
        """Return the axis (3,) of a length: d lies along z of the joint, a along the other x."""
        i, standard = parameter.joint, self.model.convention == "standard"
        if parameter.what == "d":
            return frames[i if standard else i + 1][:3, 2]
        return frames[i + 1 if standard else i][:3, 0]


def perturbed_arm(
    model: RobotModel, parameters: Sequence[FitParameter], values: Array
) -> PerturbedArm:
    """Return an arm that is off by values (k,) of parameters [rad or m]."""
    zeros = np.zeros(model.n)
    joints = list(model.joints)
    for parameter, value in zip(parameters, values, strict=True):
        i = parameter.joint
        if parameter.what == "zero":
            zeros[i] += value
        else:
            length = getattr(joints[i].row, parameter.what) + float(value)
            joints[i] = replace(joints[i], row=replace(joints[i].row, **{parameter.what: length}))
    return PerturbedArm(replace(model, joints=tuple(joints)), tuple(parameters), zeros)


@dataclass(frozen=True)
class KinematicFit:
    """What was found."""

    parameters: tuple[FitParameter, ...]  # (k) fitted
    values: Array  # (k,) by how much each exceeds the model's [rad or m]
    deviations: Array  # (k,) standard deviations of these, from the errors that remain
    unobservable: tuple[str, ...]  # names of parameters that move no tip at these points
    before: Array  # (m,) distances of the tips from where the model has them [m]
    after: Array  # (m,) the same with what was found
    outliers: tuple[int, ...]  # indices of points that do not fit the others


def fit(
    model: RobotModel, parameters: Sequence[FitParameter], touches: TouchPoints
) -> KinematicFit:
    """Find the parameters that bring the model's tips nearest to the touched ones.

    Raises:
        HardwareError: Too few points, or they cannot tell some parameters apart; names them.
    """
    if len(touches.commanded) < len(parameters):
        raise HardwareError(
            f"Too few points, {len(touches.commanded)}, for {len(parameters)} unknown numbers: "
            f"touch {len(parameters)} or more, "
            "better three times as many, in very different postures."
        )
    observable, unobservable = _observable(model, list(parameters), touches)

    def errors(values: Array) -> Array:
        found = perturbed_arm(model, observable, values).tips(touches.commanded, touches.at)
        return np.asarray((found - touches.tips).ravel())

    def rates(values: Array) -> Array:
        return perturbed_arm(model, observable, values).rates(touches.commanded, touches.at)

    start = np.zeros(len(observable))
    values = np.asarray(least_squares(errors, start, rates, x_scale="jac").x)
    _refuse(_unobservable(rates(values), observable))
    before, after = _lengths(errors(start)), _lengths(errors(values))
    return KinematicFit(
        tuple(observable),
        values,
        _deviations(rates(values), errors(values)),
        unobservable,
        before,
        after,
        _outliers(errors, rates, values),
    )


def _observable(
    model: RobotModel, parameters: list[FitParameter], touches: TouchPoints
) -> tuple[list[FitParameter], tuple[str, ...]]:
    """Return the parameters that move a tip, and the names of the others."""
    nothing = np.zeros(len(parameters))
    jacobian = perturbed_arm(model, parameters, nothing).rates(touches.commanded, touches.at)
    groups = _unobservable(jacobian, parameters)
    alone = tuple(group[0] for group in groups if len(group) == 1)
    _refuse([group for group in groups if len(group) > 1])
    observable = [p for p in parameters if p.name not in alone]
    if not observable:
        raise HardwareError("The points show nothing: the tip does not move with any parameter.")
    return observable, alone


def _refuse(groups: Sequence[tuple[str, ...]]) -> None:
    for group in groups:
        raise HardwareError(
            f"These points cannot tell apart {', '.join(group)}: touch more points, in postures "
            f"that differ more, or keep one as it is (--keep {group[-1]})."
        )


def _unobservable(jacobian: Array, parameters: Sequence[FitParameter]) -> list[tuple[str, ...]]:
    """Return the groups, with lengths counted in the largest way of the tip by one radian."""
    angles = [i for i, p in enumerate(parameters) if p.unit == "rad"]
    arm = float(np.abs(jacobian[:, angles]).max(initial=0.0)) or 1.0
    scaled = jacobian * [1.0 if p.unit == "rad" else arm for p in parameters]
    return unobservable_groups(scaled, [p.name for p in parameters])


def _deviations(jacobian: Array, errors: Array) -> Array:
    """Return the standard deviations (k,) of a least-squares result, errors taken as noise."""
    spare = max(1, len(errors) - jacobian.shape[1])
    variance = float(errors @ errors) / spare
    return np.asarray(np.sqrt(variance * np.linalg.pinv(jacobian.T @ jacobian).diagonal()))


def _lengths(errors: Array) -> Array:
    return np.asarray(np.linalg.norm(errors.reshape(-1, 3), axis=1))


def _outliers(
    errors: Callable[[Array], Array], rates: Callable[[Array], Array], values: Array
) -> tuple[int, ...]:
    """Return the points that are far off in a fit that is robust against such points."""
    usual = max(float(np.median(np.abs(errors(values)))), FINEST)
    robust = least_squares(errors, values, rates, x_scale="jac", loss="cauchy", f_scale=usual)
    off = _lengths(errors(np.asarray(robust.x)))
    limit = OUTLIER * max(float(np.median(off)), FINEST)
    return tuple(int(i) for i in np.flatnonzero(off > limit))
