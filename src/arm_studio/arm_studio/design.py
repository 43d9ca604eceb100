# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Design of isotropic arms: the axes that minimise the condition number at one posture.

Khan and Angeles, "The kinetostatic optimization of robotic manipulators", J. Mechanical Design
128(1), 2006, as posed in the thesis on RVS (McGill, 2006), equations 8.7 to 8.13. All lengths
are divided by the characteristic length. The variables are the axes e_2 ..
e_n (the first is the vertical) and, for each axis, the vector r_i from it to the tool point; a
column of the homogeneous Jacobian is (e_i x r_i, e_i). Constraints, 2n - 1 of them:

    |e_i| = 1,  i = 2 .. n          e_i . r_i = 0,  i = 1 .. n

6n - 3 variables less 2n - 1 constraints less the rotation of the whole about e_1 leave 4n - 3
freedoms, as many as a DH table has parameters that matter. The robot of a design has a DH table in
metres, rounded to what can be built; its joints are at 0 in the posture it was designed for.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from arm_common.transforms import Array, frame_along, pose
from arm_description.errors import DescriptionError
from arm_description.model.dh_from_axes import AxisLine, AxisTolerances, dh_from_axes
from arm_description.model.elements import DhRow, Joint, Origin
from arm_description.robot_model import RobotModel
from arm_kinematics.chain.chain import Chain
from arm_kinematics.dexterity.conditioning import (
    check_length,
    frobenius_condition,
    homogeneous_jacobian,
    log_cost,
)
from arm_kinematics.errors import KinematicsError

MIN_JOINTS, MAX_JOINTS = 6, 12
MAX_LEVER = 3.0  # largest component of r_i, in characteristic lengths: more gains nothing
MAX_STEPS = 500
FEASIBLE = 1e-9
ISOTROPY = 1e-4  # condition numbers that differ by less count as equal


@dataclass(frozen=True)
class Design:
    """Axes of an arm at the posture that it was designed for, in characteristic lengths."""

    e: Array  # (n, 3) unit vectors along the axes
    r: Array  # (n, 3) vectors from each axis, perpendicular to it, to the tool point
    history: tuple[float, ...]  # condition number after each step of the optimiser

    @property
    def condition(self) -> float:
        """Frobenius condition number; 1 if isotropic."""
        return frobenius_condition(columns(self.e, self.r))

    @cached_property
    def size(self) -> float:
        """Length of all links, the sum of |a| and |d| of its DH table, in characteristic lengths.

        Raises:
            DescriptionError: Two axes are too nearly parallel for a DH table.
        """
        return sum(abs(j.row.a) + abs(j.row.d) for j in designed_robot(self, 1.0).joints)


def columns(e: Array, r: Array) -> Array:
    """Return the homogeneous Jacobian (6, n) of axes e (n, 3) with vectors r (n, 3)."""
    return np.vstack([np.cross(e, r).T, e.T])


def random_start(n: int, seed: int) -> Array:
    """Return variables of a random arm of n axes that meets the constraints.

    Raises:
        KinematicsError: n is not between 6 and 12.
    """
    if not MIN_JOINTS <= n <= MAX_JOINTS:
        raise KinematicsError(
            f"joints is {n}; expected {MIN_JOINTS} to {MAX_JOINTS}", what="joints"
        )
    random = np.random.default_rng(seed)
    e = random.normal(size=(n, 3))
    e[0] = (0.0, 0.0, 1.0)
    e /= np.linalg.norm(e, axis=1)[:, None]
    r = random.normal(size=(n, 3))
    return pack(e, _perpendicular(r, e))


def start_from(J: Array, length: float) -> Array:
    """Return the variables of an arm from its Jacobian (6, n), rows v then w, at a posture.

    Raises:
        KinematicsError: A joint is prismatic; only revolute joints can be designed.
    """
    e = J[3:].T
    if not np.allclose(np.linalg.norm(e, axis=1), 1.0):
        raise KinematicsError("only arms of revolute joints can be designed", what="joints")
    upright = frame_along(e[0])
    return pack(e @ upright, np.cross(J[:3].T, e) / length @ upright)


def optimise(start: Array, on_step: Callable[[Design], None] | None = None) -> Design:
    """Minimise the condition number from a start; equal input gives equal output.

    Sequential quadratic programming (scipy's SLSQP) with exact gradients.

    Args:
        start: (6n - 3,) variables, see random_start and start_from.
        on_step: Called after each step with the design so far, whose constraints are not yet met.

    Raises:
        KinematicsError: The optimiser left the constraints.
    """
    history: list[float] = []

    def step(x: Array) -> None:
        history.append(frobenius_condition(columns(*unpack(x))))
        if on_step is not None:
            on_step(_design_at(x, history))

    from scipy.optimize import minimize  # most programs need it not

    found = minimize(
        cost,
        start,
        jac=True,
        method="SLSQP",
        constraints={"type": "eq", "fun": constraints, "jac": constraint_derivative},
        bounds=[(-MAX_LEVER, MAX_LEVER)] * len(start),
        callback=step,
        options={"maxiter": MAX_STEPS, "ftol": 1e-14},
    )
    if not math.isfinite(found.fun) or np.abs(constraints(found.x)).max() > math.sqrt(FEASIBLE):
        raise KinematicsError("the design did not converge; try another seed", what="seed")
    return _design_at(found.x, history)


def _design_at(x: Array, history: Sequence[float]) -> Design:
    """Return the design of variables (6n - 3,), put on the constraints."""
    e, r = unpack(x)
    e = e / np.linalg.norm(e, axis=1)[:, None]
    return Design(e, _perpendicular(r, e), tuple(history))


def try_start(start: Array) -> Design | None:
    """Return the design from a start, or None if it does not converge or has no DH table."""
    try:
        found = optimise(start)
        return found if math.isfinite(found.size) else None
    except (KinematicsError, DescriptionError):
        return None


def most_compact(designs: Sequence[Design]) -> Design:
    """Return the design with the shortest links among those nearest to isotropic.

    Raises:
        KinematicsError: There is none.
    """
    if not designs:
        raise KinematicsError("no start led to a design; try another seed", what="seed")
    return min(designs, key=lambda d: (round(d.condition / ISOTROPY), d.size))


def cost(x: Array) -> tuple[float, Array]:
    """Return ln(tr(H H') tr((H H')^-1)) and its gradient (6n - 3,) by the variables."""
    e, r = unpack(x)
    value, by_H = log_cost(columns(e, r))
    by_v, by_w = by_H[:3].T, by_H[3:].T
    return value, pack(np.cross(r, by_v) + by_w, np.cross(by_v, e))


def constraints(x: Array) -> Array:
    """Return |e_i|^2 - 1 (i from 2) and e_i . r_i, (2n - 1,)."""
    e, r = unpack(x)
    return np.concatenate([(e[1:] ** 2).sum(axis=1) - 1.0, (e * r).sum(axis=1)])


def constraint_derivative(x: Array) -> Array:
    """Return the derivative (2n - 1, 6n - 3) of the constraints by the variables."""
    e, r = unpack(x)
    n = len(e)
    D = np.zeros((2 * n - 1, 6 * n - 3))
    for i in range(n):
        if i > 0:
            D[i - 1, 3 * i - 3 : 3 * i] = 2.0 * e[i]
            D[n - 1 + i, 3 * i - 3 : 3 * i] = r[i]
        D[n - 1 + i, 3 * (n - 1 + i) : 3 * (n + i)] = e[i]
    return D


def pack(e: Array, r: Array) -> Array:
    """Return the variables (6n - 3,): e without its first row, then r."""
    return np.concatenate([e[1:].ravel(), r.ravel()])


def unpack(x: Array) -> tuple[Array, Array]:
    """Return e (n, 3), whose first row is the vertical, and r (n, 3)."""
    n = (len(x) + 3) // 6
    e = np.vstack([(0.0, 0.0, 1.0), x[: 3 * n - 3].reshape(n - 1, 3)])
    return e, x[3 * n - 3 :].reshape(n, 3)


def _perpendicular(r: Array, e: Array) -> Array:
    """Return the components (n, 3) of r perpendicular to the unit vectors e (n, 3)."""
    return np.asarray(r - (r * e).sum(axis=1)[:, None] * e)


POSTURE = "isotropic"
_SPEED, _ACCELERATION, _EFFORT = 1.0, 4.0, 10.0
_CLEARANCE = 0.5  # height of the lowest point above the ground, in characteristic lengths
_PARALLEL = 1e-9
_SHORT = 1e-6
_LENGTH_STEP, _ANGLE_STEP_DEG = 4, 2  # decimals: 0.1 mm, 0.01 deg


def designed_robot(design: Design, length: float, name: str = "designed_arm") -> RobotModel:
    """Return the robot of a design; its Jacobian at joints 0 is the design's, up to rounding.

    Args:
        design: Axes in characteristic lengths.
        length: Characteristic length [m], which scales the arm.
        name: Name of the robot.

    Raises:
        KinematicsError: The length is not positive.
        DescriptionError: Two axes are too nearly parallel for a DH table.
    """
    check_length(length)
    n = len(design.e)
    points, tip = _points_above_ground(design, length)
    names = [f"joint_{i + 1}" for i in range(n)]
    axes = list(map(AxisLine, names, points, design.e))
    table = dh_from_axes(axes, _tool_pose(design, tip), "standard", AxisTolerances(_PARALLEL))
    bounds = (-math.pi, math.pi, _SPEED, _ACCELERATION, _EFFORT)
    rows = zip(names, table.rows, strict=True)
    model = RobotModel(
        name=name,
        convention="standard",
        joints=tuple(Joint(joint, "revolute", _rounded(row), *bounds) for joint, row in rows),
        base=_rounded_origin(table.base),
        tool=_rounded_origin(table.tool),
        postures={POSTURE: dict.fromkeys(names, 0.0)},
        description=f"Designed for even motion in all directions, {n} revolute axes",
    )
    return replace(
        model,
        source=(
            f"Designed: condition number {condition(model, length):.5f} with all joints at 0 and "
            f"the characteristic length {1e3 * length:.4g} mm. Limits and rates are chosen."
        ),
    )


def condition(model: RobotModel, length: float) -> float:
    """Return the Frobenius condition number of a robot with all joints at 0."""
    J = Chain.from_model(model).jacobian(np.zeros(model.n))
    return frobenius_condition(homogeneous_jacobian(J, length))


def _rounded(row: DhRow) -> DhRow:
    theta, alpha = map(_rounded_angle, (row.theta, row.alpha))
    return DhRow(theta, round(row.d, _LENGTH_STEP), round(row.a, _LENGTH_STEP), alpha)


def _rounded_origin(origin: Origin) -> Origin:
    x, y, z = (round(value, _LENGTH_STEP) + 0.0 for value in origin.xyz)
    roll, pitch, yaw = map(_rounded_angle, origin.rpy)
    return Origin((x, y, z), (roll, pitch, yaw))


def _rounded_angle(angle: float) -> float:
    return math.radians(round(math.degrees(angle), _ANGLE_STEP_DEG) + 0.0)


def _points_above_ground(design: Design, length: float) -> tuple[Array, Array]:
    """Return a point on each axis (n, 3) and the tool point (3,) [m], all above the ground."""
    tip = design.r[0]
    points = tip - design.r
    lift = _CLEARANCE - min(float(points[:, 2].min()), float(tip[2]))
    up = np.array([0.0, 0.0, lift])
    return (points + up) * length, (tip + up) * length


def _tool_pose(design: Design, tip: Array) -> Array:
    """Return the tool's pose: z points away from the last axis, y lies along it."""
    z, y = design.r[-1], design.e[-1]
    reach = float(np.linalg.norm(z))
    z = frame_along(y)[:, 0] if reach < _SHORT else z / reach
    return pose(np.column_stack([np.cross(y, z), y, z]), tip)
