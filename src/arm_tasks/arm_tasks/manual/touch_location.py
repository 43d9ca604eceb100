# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Locates a bolt from points of its surface that the arm has touched, a sheet from its corners.

The bolt is a cylinder of known radius with a flat end. A point on its flank gives the distance to
the axis, a point on the end its position, and a point on the rim both. A damped Gauss-Newton fit
gives tip and axis, and the same derivatives their covariance: the inverse of the normal matrix
times the variance of a touch (e.g. Bjorck, "Numerical Methods for Least Squares Problems", 1996,
section 1.1). Directions that the points do not determine have an unbounded variance.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from enum import IntEnum
from itertools import combinations

import numpy as np
from arm_common.transforms import Array, frame_along, pose, so3_exp
from arm_description.model.units import deg, millimetres, mm

from arm_tasks.errors import TasksError

TOUCH_STDDEV = (
    1e-3  # m, standard deviation of a touch with a hobby arm; more if the residuals are larger
)
_MIN_DISTANCE = 1e-3  # m; nearer points count as the same point
_MAX_TIP_ERROR = 5e-3  # m; a larger standard deviation is useless
_MAX_AXIS_ERROR = math.radians(30.0)
_MAX_ITERATIONS = 60
_EPS = 1e-12


class Surface(IntEnum):
    """Surfaces of a bolt; the values are those of TouchBolt."""

    RIM = 0
    END = 1
    FLANK = 2


@dataclass(frozen=True, eq=False)
class Touch:
    """One touched point."""

    surface: Surface  # the touched surface
    point: Array  # (3,) in base_link [m]


@dataclass(frozen=True, eq=False)
class Located:
    """A located bolt."""

    tip: Array  # (3,) centre of its free end, in base_link [m]
    axis: Array  # (3,) unit vector from there into the wall
    tip_error: float  # standard deviation of the tip [m]
    axis_error: float  # standard deviation of the axis [rad]
    residual: float  # root of the mean square distance of the points from the surfaces [m]

    @property
    def text(self) -> str:
        """One sentence for a person."""
        return (
            f"its end is at ({millimetres(self.tip)}) mm, give or take"
            f" {mm(self.tip_error, 1)}; its axis is known to {deg(self.axis_error, 1)};"
            f" the points deviate from the surface by {mm(self.residual, 1)}"
        )


def locate(touches: Sequence[Touch], radius: float, tip: Array, axis: Array) -> Located:
    """Fit a bolt to touched points.

    Args:
        touches: The points.
        radius: Radius of the bolt [m].
        tip: (3,) approximate centre of its end [m], such as in the scene; initial guess.
        axis: (3,) approximate direction, which selects one of two mirror images.

    Raises:
        TasksError: The points are insufficient; the text says what else to touch.
    """
    _check_apart(touches)
    start = np.asarray(axis, dtype=float) / np.linalg.norm(axis)
    fits = [_fit(touches, radius, tip, guess) for guess in (start, *_tilted(start))]
    best = min(fits, key=lambda fit: fit[2])
    p, a, square, J = best
    free = len(J) - 5
    sigma = max(TOUCH_STDDEV, math.sqrt(square / free)) if free > 0 else TOUCH_STDDEV
    variances, directions = _variances(J, sigma)
    covariance = (directions * variances) @ directions.T
    tip_error = math.sqrt(max(float(np.trace(covariance[:3, :3])), 0.0))
    axis_error = math.sqrt(max(float(np.trace(covariance[3:, 3:])), 0.0))
    if not (tip_error <= _MAX_TIP_ERROR and axis_error <= _MAX_AXIS_ERROR):
        raise TasksError(_advice(a, tip_error, axis_error, directions[:, -1]))
    if float(a @ start) < 0.0:
        raise TasksError("by these points the bolt points the other way; is it the right bolt?")
    return Located(p, a, tip_error, axis_error, math.sqrt(square / max(len(J), 1)))


_MIN_SIDE = 0.01  # m; a hobby arm touches to a millimetre
_MAX_SKEW = math.radians(10.0)  # of the angle at the first corner from a right one


def locate_sheet(corners: Array, tool_axis: Array) -> tuple[Array, float, float]:
    """Return a rectangle by three touched corners (3, 3): lower left, lower right, upper left.

    Args:
        corners: Their positions in base_link, one a row [m].
        tool_axis: (3,) direction of the tool when it touched them, into the sheet.

    Returns:
        base_link <- middle of the sheet (4, 4), with x along the lower side and z out of it, and
        its length along x and its width along y [m].

    Raises:
        TasksError: Corners are the same or on a line, not at a right angle, or in another order.
    """
    right, up = corners[1] - corners[0], corners[2] - corners[0]
    length, height = float(np.linalg.norm(right)), float(np.linalg.norm(up))
    if min(length, height) < _MIN_SIDE:
        side = min(length, height) * 1e3
        raise TasksError(f"a side of {side:.1f} mm is too short; touch three different corners")
    angle = math.acos(float(np.clip(right @ up / (length * height), -1.0, 1.0)))
    if abs(angle - math.pi / 2.0) > _MAX_SKEW:
        what = f"the angle at the first corner is {deg(angle, 0)}, not 90"
        raise TasksError(f"{what}; touch lower left, lower right, then upper left")
    x, z = right / length, np.cross(right, up)
    z /= np.linalg.norm(z)
    if float(z @ tool_axis) > 0.0:
        what = "seen from the tool, the corners are mirrored"
        raise TasksError(f"{what}; name lower left, lower right, then upper left")
    y = np.cross(z, x)
    width = float(up @ y)
    middle = corners[0] + 0.5 * (length * x + width * y)
    return pose(np.column_stack([x, y, z]), middle), length, width


def _check_apart(touches: Sequence[Touch]) -> None:
    if len(touches) < 3:
        raise TasksError(f"{len(touches)} points were touched; at least three are needed")
    for (i, one), (k, other) in combinations(enumerate(touches, 1), 2):
        if np.linalg.norm(one.point - other.point) < _MIN_DISTANCE:
            raise TasksError(f"points {i} and {k} are the same; touch elsewhere")


def _tilted(axis: Array) -> list[Array]:
    """Return directions around an axis as further initial guesses."""
    R = frame_along(axis)
    turns = [np.array([math.cos(t), math.sin(t), 0.0]) for t in np.linspace(0.0, 5.0, 4)]
    return [so3_exp(R @ turn * 0.5) @ axis for turn in turns]


def _fit(
    touches: Sequence[Touch], radius: float, tip: Array, axis: Array
) -> tuple[Array, Array, float, Array]:
    """Return tip, axis, sum of squared residuals and their derivatives (m, 5), by damped steps."""
    p, a, damping = np.array(tip, dtype=float), np.array(axis, dtype=float), 1e-6
    r, J = _residuals(touches, radius, p, a)
    for _ in range(_MAX_ITERATIONS):
        scale = np.diag(J.T @ J) + 1e-9
        step = np.linalg.solve(J.T @ J + damping * np.diag(scale), -J.T @ r)
        new_p = p + step[:3]
        new_a = so3_exp(frame_along(a) @ np.array([-step[4], step[3], 0.0])) @ a
        new_r, new_J = _residuals(touches, radius, new_p, new_a)
        if new_r @ new_r < r @ r:
            p, a, r, J, damping = new_p, new_a, new_r, new_J, max(damping / 10.0, _EPS)
        else:
            damping = max(damping * 10.0, 1e-9)
        if damping > 1e6 or np.abs(step).max() < _EPS:
            break
    return p, a, float(r @ r), J


def _residuals(touches: Sequence[Touch], radius: float, p: Array, a: Array) -> tuple[Array, Array]:
    """Return distances from the surfaces (m,) [m] and their derivatives (m, 5).

    The unknowns are the tip [m] and the tilt of the axis towards its frame's x and y [rad].
    """
    across = frame_along(a)[:, :2]
    rows, values = [], []
    for touch in touches:
        d = touch.point - p
        along = float(d @ a)
        aside = d - along * a
        far = max(float(np.linalg.norm(aside)), _EPS)
        out = aside / far
        if touch.surface is not Surface.FLANK:
            values.append(along)
            rows.append(np.concatenate([-a, d @ across]))
        if touch.surface is not Surface.END:
            values.append(far - radius)
            rows.append(np.concatenate([-out, -along * (out @ across)]))
    return np.array(values), np.array(rows)


def _variances(J: Array, sigma: float) -> tuple[Array, Array]:
    """Return the variances of the unknowns along their principal directions (5,), (5, 5), rising.

    Tilts are weighted by a typical length of a bolt to make both units comparable.
    """
    weights = np.array([1.0, 1.0, 1.0, 0.01, 0.01])
    _, values, directions = np.linalg.svd(J / weights, full_matrices=True)
    full = np.zeros(5)
    full[: len(values)] = values
    with np.errstate(divide="ignore"):
        variances = np.where(full > 1e-9, (sigma / np.maximum(full, 1e-9)) ** 2, 1e12)
    return variances, np.asarray((directions / weights).T)


def _advice(axis: Array, tip: float, turn: float, worst: Array) -> str:
    """Return a sentence about what the points do not determine and what to touch next."""
    if turn > _MAX_AXIS_ERROR:
        angle = "not at all" if turn > math.pi else f"only to {deg(turn, 0)}"
        far = "the flank on three sides, far from the end, and the rim"
        return f"the points determine the direction of the axis {angle}; touch {far}"
    share = abs(float(worst[:3] @ axis)) / max(float(np.linalg.norm(worst[:3])), _EPS)
    if share > 0.7:
        return "the points do not determine where the bolt ends; touch its end or its rim"
    known = f"only to {mm(tip, 0)}" if tip < 1.0 else "not at all"
    return f"the points determine where the axis is {known}; touch the flank from other sides"
