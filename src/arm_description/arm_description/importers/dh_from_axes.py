# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""The DH table of a row of axes in space, in either convention.

Between two axes there is one common normal (for parallel ones, one is chosen). A chain is then

    base, Rz(theta_1) Tz(d_1), Tx(a_1) Rx(alpha_1), Rz(theta_2) Tz(d_2), ..., tool

and the conventions only bracket it differently: a standard row takes the normal behind its joint,
a modified row the one before it, so that its first normal is none and its last goes to the tool.

Every frame follows from the numbers of the rows before it, not from the ideal geometry, so that
rounding them to short ones does not add up.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np
from arm_common.transforms import Matrix, Vector, inverse, matrix_rpy

from arm_description.errors import DescriptionError
from arm_description.model.elements import Convention, DhRow, Origin, Triple, dh_matrix

# Nobody builds longer links [m]; two axes that need them are meant to be parallel.
LONGEST = 20.0
# What rounding leaves, in double precision or in the 11 digits that some write [m or rad].
DUST = 3e-11
# The tool's z axis ends the table only where that is exact or well-conditioned [rad].
TOOL_PARALLEL = 1e-9
TOOL_SKEW = 1e-3
_Z = np.array((0.0, 0.0, 1.0))


@dataclass(frozen=True)
class AxisLine:
    """A joint's axis with every joint at 0, in the base frame."""

    name: str  # of the joint
    point: Vector  # (3,) a point of it, where the joint is drawn [m]
    direction: Vector  # (3,) unit vector; positive positions turn about it or slide along it


@dataclass(frozen=True)
class DhTable:
    """A DH table with what stands before and behind it."""

    base: Origin  # base <- DH frame 0
    rows: tuple[DhRow, ...]  # a row for each axis, with the joint at 0
    tool: Origin  # DH frame n <- tool
    notes: tuple[str, ...]  # what was read otherwise than exactly, in sentences


def dh_from_axes(
    axes: Sequence[AxisLine], tool: Matrix, convention: Convention, parallel: float
) -> DhTable:
    """Find the table of a chain.

    Args:
        axes: of the joints, from the base to the tool; at least one.
        tool: (4, 4) base <- tool with every joint at 0.
        convention: "standard" or "modified".
        parallel: axes closer than this are taken as parallel [rad].

    Raises:
        DescriptionError: two axes are so nearly parallel that they would need a link over LONGEST.
    """
    base = _base(axes, parallel)
    frame, rows, notes = base.matrix, [], []
    for here, following in pairwise(axes):
        row, tilt = _to_axis(frame, here, following, parallel)
        if tilt > DUST:
            notes.append(
                f"the axes of {here.name} and {following.name} are {tilt:.2g} rad from parallel "
                "and were taken as parallel"
            )
        rows.append(row)
        frame = frame @ dh_matrix(row, "standard")
    rows.append(_to_tool(inverse(frame) @ tool))
    frame = frame @ dh_matrix(rows[-1], "standard")
    rest = inverse(frame) @ tool
    if convention == "modified":
        rows, rest = _modified(rows, rest)
    return DhTable(base, tuple(rows), _tidy_origin(rest), tuple(notes))


def _modified(rows: Sequence[DhRow], tool: Matrix) -> tuple[list[DhRow], Matrix]:
    """Move each common normal to the following row, the last one to the tool."""
    normals = [DhRow(0.0, 0.0, 0.0, 0.0), *rows]
    moved = [replace(row, a=by.a, alpha=by.alpha) for by, row in pairwise(normals)]
    last = dh_matrix(replace(rows[-1], theta=0.0, d=0.0), "standard")
    return moved, last @ tool


def _base(axes: Sequence[AxisLine], parallel: float) -> Origin:
    """Frame 0: z along the first axis, turned there by roll and pitch alone.

    It stands on the axis where that is nearest the base; before a parallel axis, whose row does
    not climb, where the joint is.
    """
    first = axes[0]
    x, y, z = first.direction
    point = first.point
    if len(axes) == 1 or _tilt(axes[1].direction, first.direction) > parallel:
        point = point - (point @ first.direction) * first.direction
    roll = -math.asin(max(-1.0, min(1.0, y)))
    pitch = math.atan2(x, z) if math.hypot(x, z) > TOOL_PARALLEL else 0.0
    return Origin(_tidy_lengths(point), (_tidy_angle(roll), _tidy_angle(pitch), 0.0))


def _to_axis(
    frame: Matrix, here: AxisLine, following: AxisLine, parallel: float
) -> tuple[DhRow, float]:
    """Row from a frame on one axis to the next axis, and by how much it missed parallel [rad]."""
    view = inverse(frame)
    point = view[:3, :3] @ following.point + view[:3, 3]
    direction = view[:3, :3] @ following.direction
    tilt = _tilt(direction, _Z)
    if tilt <= parallel:
        return _parallel_row(point, bool(direction[2] < 0.0)), tilt
    row = _skew_row(point, direction)
    if max(abs(row.d), abs(row.a)) > LONGEST:
        raise DescriptionError(
            f"the axes of {here.name!r} and {following.name!r} are {tilt:.2g} rad from parallel, "
            f"too near for a DH row, which would need a link of {abs(row.d):.0f} m",
            remedy=f"if they are meant to be parallel, say --parallel {_above(tilt)}; the table "
            "then differs from the URDF by as much, and that is said",
        )
    return row, 0.0


def _parallel_row(point: Vector, opposed: bool) -> DhRow:
    """Row to an axis parallel to z; it does not climb, except along one and the same line."""
    x, y, z = point
    a, theta = _tidy_length(math.hypot(x, y)), 0.0
    if a:
        theta, a = _nearer(math.atan2(y, x), a)
    return DhRow(theta, 0.0 if a else _tidy_length(z), a, math.pi if opposed else 0.0)


def _skew_row(point: Vector, direction: Vector) -> DhRow:
    """Row along the common normal of z and a line that is not parallel to it."""
    ux, uy, uz = direction
    sine = math.hypot(ux, uy)
    theta = math.atan2(ux, -uy)
    x, y, z = point
    c, s = math.cos(theta), math.sin(theta)
    along = -(x * -s + y * c) / (ux * -s + uy * c)
    a = _tidy_length((x + along * ux) * c + (y + along * uy) * s)
    turned, shifted = _nearer(theta, a)
    alpha = math.atan2(sine if turned == _tidy_angle(theta) else -sine, uz)
    return DhRow(turned, _tidy_length(z + along * uz), shifted, _tidy_angle(alpha))


def _to_tool(tool: Matrix) -> DhRow:
    """Last row: to the tool's z axis as if it were one more joint; what is left is the tool."""
    direction, point = tool[:3, 2], tool[:3, 3]
    tilt = _tilt(direction, _Z)
    if tilt <= TOOL_PARALLEL:
        row = replace(_parallel_row(point, bool(direction[2] < 0.0)), d=_tidy_length(point[2]))
        if row.a:
            return row
        return replace(row, theta=_tidy_angle(math.atan2(tool[1, 0], tool[0, 0])))
    if tilt > TOOL_SKEW:
        row = _skew_row(point, direction)
        if max(abs(row.d), abs(row.a)) <= 2.0 * float(np.linalg.norm(point)) + DUST:
            return row
    return DhRow(0.0, 0.0, 0.0, 0.0)


def _nearer(theta: float, a: float) -> tuple[float, float]:
    """The same normal with the smaller turn: its x axis may point either way."""
    theta, quarter = _tidy_angle(theta), math.pi / 2
    backwards = a < 0.0 or (theta < 0.0 and not a)
    if abs(theta) > quarter or (abs(theta) == quarter and backwards):
        theta, a = _tidy_angle(theta - math.copysign(math.pi, theta)), -a
    return theta, a + 0.0


def _tilt(one: Vector, other: Vector) -> float:
    """Angle between two lines along unit vectors, 0 .. pi/2 [rad]."""
    return math.atan2(float(np.linalg.norm(np.cross(one, other))), abs(float(one @ other)))


def _above(value: float) -> str:
    step = 10.0 ** math.floor(math.log10(value))
    return f"{(math.floor(value / step) + 1) * step:g}"


def _tidy_length(value: float) -> float:
    """The nearest nanometre where only rounding is between."""
    for digits in (9, 12):
        rounded = round(float(value), digits)
        if abs(rounded - value) <= DUST:
            return rounded + 0.0
    return float(value)


def _tidy_angle(value: float) -> float:
    """The nearest millionth of a degree where only rounding is between."""
    rounded = math.radians(round(math.degrees(value), 6))
    tidied = rounded if abs(rounded - value) <= DUST else float(value)
    return math.pi if tidied == -math.pi else tidied + 0.0


def _tidy_lengths(values: Vector) -> Triple:
    x, y, z = map(_tidy_length, values)
    return (x, y, z)


def _tidy_origin(T: Matrix) -> Origin:
    xyz, rpy = matrix_rpy(T)
    roll, pitch, yaw = map(_tidy_angle, rpy)
    return Origin(_tidy_lengths(xyz), (roll, pitch, yaw))
