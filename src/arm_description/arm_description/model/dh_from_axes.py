# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
# Tests: src/arm_kinematics/test/chain/test_urdf_round_trip.py
"""DH table of a chain of joint axes in space, in either convention.

Two successive axes have one common normal (for parallel axes, one is chosen). A chain is then

    base, Rz(theta_1) Tz(d_1), Tx(a_1) Rx(alpha_1), Rz(theta_2) Tz(d_2), ..., tool

and the conventions only group it differently: a standard row has the normal after its joint, a
modified row the one before it, so that the first normal is zero and the last goes to the tool.

Every frame is computed from the numbers of the preceding rows, not from the ideal geometry, so
that rounding errors do not accumulate.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np
from arm_common.transforms import Matrix, Vector, inverse, matrix_rpy

from arm_description.errors import DescriptionError
from arm_description.model.elements import (
    FAR,
    LONG_LINK,
    NEARLY_PARALLEL,
    Convention,
    DhRow,
    Joint,
    Origin,
    Triple,
    dh_matrix,
)

MAX_LINK = 20.0  # of axes that are not nearly parallel, against mistaken units [m]
# Rounding errors in double precision, or of the 11 digits that some programs write [m or rad].
ROUNDING = 3e-11
_FAR_ROUNDING = 1e-12  # of frames that are far away
# The last row leads to the tool's z axis only where that is exact or well-conditioned [rad].
TOOL_PARALLEL = 1e-9
TOOL_SKEW = 1e-3
_Z = np.array((0.0, 0.0, 1.0))


@dataclass(frozen=True)
class AxisLine:
    """Axis of a joint with every joint at 0, in the base frame."""

    name: str  # of the joint
    point: Vector  # (3,) origin of the joint on the axis [m]
    direction: Vector  # (3,) unit vector of positive motion


class NearlyParallelError(DescriptionError):
    """Two axes are so nearly parallel that a DH row of them would be far too long."""


@dataclass(frozen=True)
class AxisTolerances:
    """What counts as parallel and as rounding when a table is computed from axes."""

    parallel: float  # axes within this angle count as parallel [rad]
    rounding: float = ROUNDING  # errors up to this one are rounded away [m or rad]
    max_link: float = MAX_LINK  # longest link [m]
    tilted: bool = False  # whether nearly parallel axes get a row with beta


@dataclass(frozen=True)
class DhTable:
    """A DH table with the transforms before and after it."""

    base: Origin  # base <- DH frame 0
    rows: tuple[DhRow, ...]  # one per axis, with the joint at 0
    tool: Origin  # DH frame n <- tool
    notes: tuple[str, ...]  # deviations from the exact geometry


def dh_from_axes(
    axes: Sequence[AxisLine],
    tool: Matrix,
    convention: Convention,
    tolerances: AxisTolerances,
) -> DhTable:
    """Compute the DH table of a chain.

    Args:
        axes: joint axes from the base to the tool; at least one.
        tool: (4, 4) base <- tool with every joint at 0.
        convention: "standard" or "modified"; with tilted rows "standard".
        tolerances: what counts as parallel and as rounding.

    Raises:
        NearlyParallelError: two axes are, and rows are not to be tilted.
    """
    rounding = tolerances.rounding
    base = _base(axes, tolerances)
    frame, rows, notes = base.matrix, [], []
    for axis, following in pairwise(axes):
        row, tilt = _to_axis(frame, axis, following, tolerances)
        if tilt > ROUNDING:
            notes.append(
                f"the axes of {axis.name} and {following.name} are {tilt:.2g} rad from parallel "
                "and were treated as parallel"
            )
        rows.append(row)
        frame = frame @ dh_matrix(row, "standard")
    rows.append(_to_tool(inverse(frame) @ tool, rounding))
    frame = frame @ dh_matrix(rows[-1], "standard")
    rest = inverse(frame) @ tool
    if convention == "modified":
        rows, rest = _modified(rows, rest)
    return DhTable(base, tuple(rows), _tidy_origin(rest, rounding), tuple(notes))


def near_the_arm(
    joints: Sequence[Joint], base: Origin, convention: Convention, longest: float
) -> DhTable:
    """Return the standard table of an arm with all frames near its joints; see `has_far_frames`.

    Args:
        joints: all rows, base to tool.
        base: base <- frame 0.
        convention: of the rows.
        longest: longest link [m].
    """
    frames, lines = [base.matrix], []
    for joint in joints:
        frames.append(frames[-1] @ joint.matrix(convention, 0.0))
        at = frames[-2 if convention == "standard" else -1]
        point, direction = at[:3, 3], at[:3, 2]
        lines.append(AxisLine(joint.name, point - (point @ direction) * direction, direction))
    tolerances = AxisTolerances(_FAR_ROUNDING, _FAR_ROUNDING, longest, tilted=True)
    return dh_from_axes(lines, frames[-1], "standard", tolerances)


def _modified(rows: Sequence[DhRow], tool: Matrix) -> tuple[list[DhRow], Matrix]:
    """Move each common normal to the next row, the last one to the tool."""
    normals = [DhRow(0.0, 0.0, 0.0, 0.0), *rows]
    shifted = [replace(row, a=by.a, alpha=by.alpha) for by, row in pairwise(normals)]
    last = dh_matrix(replace(rows[-1], theta=0.0, d=0.0), "standard")
    return shifted, last @ tool


def _base(axes: Sequence[AxisLine], tolerances: AxisTolerances) -> Origin:
    """Return frame 0: z along the first axis, rotated by roll and pitch only.

    Its origin is the point of the axis nearest the base; if the next axis is parallel, whose row
    has d = 0, it is the origin of the joint.
    """
    first = axes[0]
    x, y, z = first.direction
    point, rounding = first.point, tolerances.rounding
    if len(axes) == 1 or _tilt(axes[1].direction, first.direction) > tolerances.parallel:
        point = point - (point @ first.direction) * first.direction
    roll = -math.atan2(y, math.hypot(x, z))
    pitch = math.atan2(x, z) if math.hypot(x, z) > rounding else 0.0
    rpy = (_tidy_angle(roll, rounding), _tidy_angle(pitch, rounding), 0.0)
    return Origin(_tidy_lengths(point, rounding), rpy)


def _to_axis(
    frame: Matrix, axis: AxisLine, following: AxisLine, tolerances: AxisTolerances
) -> tuple[DhRow, float]:
    """Return the row from a frame on one axis to the next, and the ignored tilt between them."""
    view = inverse(frame)
    point = view[:3, :3] @ following.point + view[:3, 3]
    direction = view[:3, :3] @ following.direction
    tilt, rounding = _tilt(direction, _Z), tolerances.rounding
    if tilt <= tolerances.parallel:
        return _parallel_row(point, bool(direction[2] < 0.0), rounding), tilt
    if tolerances.tilted and tilt < NEARLY_PARALLEL:
        return _tilted_row(point, direction), 0.0
    row = _skew_row(point, direction, rounding)
    distance = float(np.linalg.norm(following.point - axis.point))
    longest = max(abs(row.d), abs(row.a))
    far = tilt < NEARLY_PARALLEL and longest > max(LONG_LINK, FAR * distance)
    if far or longest > tolerances.max_link:
        raise NearlyParallelError(
            f"the axes of {axis.name!r} and {following.name!r} are {tilt:.2g} rad from parallel, "
            f"too little for a DH row, which would need a link of {longest:.4g} m",
            remedy=f"if they are meant to be parallel, give --parallel {_above(tilt)}; the "
            "deviation of the table from the URDF is reported",
        )
    return row, 0.0


def _tilted_row(point: Vector, direction: Vector) -> DhRow:
    """Return the row with beta to a line nearly parallel to z; d is 0."""
    x, y, _ = point - direction * (point[2] / direction[2])
    theta, a = 0.0, math.hypot(x, y)
    if a:
        theta, a = _smaller_turn(math.atan2(y, x), a, 0.0)
    c, s = math.cos(theta), math.sin(theta)
    ux, uy = c * direction[0] + s * direction[1], c * direction[1] - s * direction[0]
    return DhRow(theta, 0.0, a, math.atan2(-uy, direction[2]), math.asin(ux))


def _parallel_row(point: Vector, opposed: bool, rounding: float) -> DhRow:
    """Return the row to an axis parallel to z; d is 0 unless the axes coincide."""
    x, y, z = point
    a, theta = _tidy_length(math.hypot(x, y), rounding), 0.0
    if a:
        theta, a = _smaller_turn(math.atan2(y, x), a, rounding)
    return DhRow(theta, 0.0 if a else _tidy_length(z, rounding), a, math.pi if opposed else 0.0)


def _skew_row(point: Vector, direction: Vector, rounding: float) -> DhRow:
    """Return the row along the common normal of z and a line not parallel to it."""
    ux, uy, uz = direction
    sine = math.hypot(ux, uy)
    theta = math.atan2(ux, -uy)
    x, y, z = point
    c, s = math.cos(theta), math.sin(theta)
    along = -(x * -s + y * c) / (ux * -s + uy * c)
    a = _tidy_length((x + along * ux) * c + (y + along * uy) * s, rounding)
    turned, shifted = _smaller_turn(theta, a, rounding)
    alpha = math.atan2(sine if turned == _tidy_angle(theta, rounding) else -sine, uz)
    return DhRow(
        turned, _tidy_length(z + along * uz, rounding), shifted, _tidy_angle(alpha, rounding)
    )


def _to_tool(tool: Matrix, rounding: float) -> DhRow:
    """Return the last row, to the tool's z axis as if it were another joint axis."""
    direction, point = tool[:3, 2], tool[:3, 3]
    tilt = _tilt(direction, _Z)
    if tilt <= TOOL_PARALLEL:
        row = replace(
            _parallel_row(point, bool(direction[2] < 0.0), rounding),
            d=_tidy_length(point[2], rounding),
        )
        if row.a:
            return row
        return replace(row, theta=_tidy_angle(math.atan2(tool[1, 0], tool[0, 0]), rounding))
    if tilt > TOOL_SKEW:
        row = _skew_row(point, direction, rounding)
        if max(abs(row.d), abs(row.a)) <= 2.0 * float(np.linalg.norm(point)) + ROUNDING:
            return row
    return DhRow(0.0, 0.0, 0.0, 0.0)


def _smaller_turn(theta: float, a: float, rounding: float) -> tuple[float, float]:
    """Return theta and a of the same normal with the smaller |theta| (x may point either way)."""
    theta, quarter = _tidy_angle(theta, rounding), math.pi / 2
    backwards = a < 0.0 or (theta < 0.0 and not a)
    if abs(theta) > quarter or (abs(theta) == quarter and backwards):
        theta, a = _tidy_angle(theta - math.copysign(math.pi, theta), rounding), -a
    return theta, a + 0.0


def _tilt(one: Vector, other: Vector) -> float:
    """Return the angle between two lines along unit vectors, 0 .. pi/2 [rad]."""
    return math.atan2(float(np.linalg.norm(np.cross(one, other))), abs(float(one @ other)))


def _above(value: float) -> str:
    step = 10.0 ** math.floor(math.log10(value))
    return f"{(math.floor(value / step) + 1) * step:g}"


def _tidy_length(value: float, rounding: float) -> float:
    """Return the nearest nanometre if the value differs from it only by rounding."""
    for digits in (9, 12):
        rounded = round(float(value), digits)
        if abs(rounded - value) <= rounding:
            return rounded + 0.0
    return float(value)


def _tidy_angle(value: float, rounding: float) -> float:
    """Return the nearest microdegree in radians if the value differs from it only by rounding."""
    rounded = math.radians(round(math.degrees(value), 6))
    tidied = rounded if abs(rounded - value) <= rounding else float(value)
    return math.pi if tidied == -math.pi else tidied + 0.0


def _tidy_lengths(values: Vector, rounding: float) -> Triple:
    x, y, z = (_tidy_length(value, rounding) for value in values)
    return (x, y, z)


def _tidy_origin(T: Matrix, rounding: float) -> Origin:
    xyz, rpy = matrix_rpy(T)
    roll, pitch, yaw = (_tidy_angle(angle, rounding) for angle in rpy)
    return Origin(_tidy_lengths(xyz, rounding), (roll, pitch, yaw))
