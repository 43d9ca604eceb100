# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Kinematic calibration: least squares over tip positions, with what its result is worth."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from scipy.optimize import least_squares

from arm_description import RobotModel
from arm_hardware.errors import HardwareError
from arm_hardware.kinematic.observable import blind_groups
from arm_hardware.kinematic.parameters import Parameter, real_arm
from arm_hardware.kinematic.touches import Touches
from arm_hardware.tip import Array

SUSPECT = 5.0  # times the usual error: such a point was probably measured wrongly
FINEST = 1e-5  # [m] errors below this are rounding


@dataclass(frozen=True)
class Fit:
    """What was found.

    Attributes:
        parameters: (k) that were fitted.
        values: (k,) by how much each is more than the model says [rad or m].
        deviations: (k,) standard deviations of these, from the errors that remain.
        unseen: Names of parameters that move no tip at these points; they stay as they are.
        before: (m,) distances of the tips from where the model has them [m].
        after: (m,) the same with what was found.
        suspects: Indices of points that do not fit the others.
    """

    parameters: tuple[Parameter, ...]
    values: Array
    deviations: Array
    unseen: tuple[str, ...]
    before: Array
    after: Array
    suspects: tuple[int, ...]


def fit(model: RobotModel, parameters: Sequence[Parameter], touches: Touches) -> Fit:
    """Find the parameters that bring the model's tips nearest to the touched ones.

    Args:
        model: The robot as described.
        parameters: What may be off.
        touches: What was touched.

    Raises:
        HardwareError: Too few points, or they cannot tell some parameters apart; names them.
    """
    if len(touches.told) < len(parameters):
        raise HardwareError(
            f"Too few points, {len(touches.told)}, for {len(parameters)} unknown numbers: touch "
            f"{len(parameters)} or more, better three times as many, in very different postures."
        )
    seen, unseen = _seen(model, list(parameters), touches)

    def errors(values: Array) -> Array:
        found = real_arm(model, seen, values).tips(touches.told, touches.at)
        return np.asarray((found - touches.tips).ravel())

    def rates(values: Array) -> Array:
        return real_arm(model, seen, values).rates(touches.told, touches.at)

    start = np.zeros(len(seen))
    values = np.asarray(least_squares(errors, start, rates, x_scale="jac").x)
    _refuse(_blind(rates(values), seen))
    before, after = _lengths(errors(start)), _lengths(errors(values))
    return Fit(
        tuple(seen),
        values,
        _deviations(rates(values), errors(values)),
        unseen,
        before,
        after,
        _suspects(errors, rates, values),
    )


def _seen(
    model: RobotModel, parameters: list[Parameter], touches: Touches
) -> tuple[list[Parameter], tuple[str, ...]]:
    """Return the parameters that move a tip, and the names of the others."""
    nothing = np.zeros(len(parameters))
    jacobian = real_arm(model, parameters, nothing).rates(touches.told, touches.at)
    groups = _blind(jacobian, parameters)
    alone = tuple(group[0] for group in groups if len(group) == 1)
    _refuse([group for group in groups if len(group) > 1])
    seen = [p for p in parameters if p.name not in alone]
    if not seen:
        raise HardwareError("The points tell nothing: the tip does not move with any parameter.")
    return seen, alone


def _refuse(groups: Sequence[tuple[str, ...]]) -> None:
    """Refuse points that leave a group of parameters free."""
    for group in groups:
        raise HardwareError(
            f"These points cannot tell apart {', '.join(group)}: touch more points, in postures "
            f"that differ more, or keep one as it is (--keep {group[-1]})."
        )


def _blind(jacobian: Array, parameters: Sequence[Parameter]) -> list[tuple[str, ...]]:
    return blind_groups(_scaled(jacobian, parameters), [p.name for p in parameters])


def _scaled(jacobian: Array, parameters: Sequence[Parameter]) -> Array:
    """Return the Jacobian with lengths counted in the largest way of the tip by one radian."""
    angles = [i for i, p in enumerate(parameters) if p.unit == "rad"]
    arm = float(np.abs(jacobian[:, angles]).max(initial=0.0)) or 1.0
    return np.asarray(jacobian * [1.0 if p.unit == "rad" else arm for p in parameters])


def _deviations(jacobian: Array, errors: Array) -> Array:
    """Return the standard deviations (k,) of a least-squares result, errors taken as noise."""
    spare = max(1, len(errors) - jacobian.shape[1])
    variance = float(errors @ errors) / spare
    return np.asarray(np.sqrt(variance * np.linalg.pinv(jacobian.T @ jacobian).diagonal()))


def _lengths(errors: Array) -> Array:
    return np.asarray(np.linalg.norm(errors.reshape(-1, 3), axis=1))


def _suspects(
    errors: Callable[[Array], Array], rates: Callable[[Array], Array], values: Array
) -> tuple[int, ...]:
    """Return the points that are far off in a fit which hardly listens to such points."""
    usual = max(float(np.median(np.abs(errors(values)))), FINEST)
    robust = least_squares(errors, values, rates, x_scale="jac", loss="cauchy", f_scale=usual)
    off = _lengths(errors(np.asarray(robust.x)))
    limit = SUSPECT * max(float(np.median(off)), FINEST)
    return tuple(int(i) for i in np.flatnonzero(off > limit))
