# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Tool poses -> joint positions: one pose, or a row of them without a jump in between."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from arm_kinematics import Chain, IkResult
from arm_tasks.geometry import Array, Between, tilt_z
from arm_tasks.task_steps import Orientation, Tolerance

STEP_LENGTH = 2e-3  # a straight line is checked every 2 mm
STEP_ANGLE = math.radians(2.0)  # and every 2 degrees
_ROLL = 1e-4  # the roll about the tool's z is exact to this [rad]
_MOST_JUMP = 0.35  # more than this from one sample to the next is another branch [rad or 10 cm]
_JUMP_UNIT = 0.1  # so many metres of a sliding joint count as one radian
_BRANCHES = 8


@dataclass(frozen=True)
class ToolPath:
    """A row of joint positions and how far the tool is from what was wanted.

    Attributes:
        joints: (m, n) [rad or m].
        position_error: Largest distance [m].
        orientation_error: Largest angle [rad].
    """

    joints: Array
    position_error: float = 0.0
    orientation_error: float = 0.0


class OutOfReach(Exception):  # noqa: N818  (a result on its way to the plan, not a fault)
    """A pose cannot be reached; the planner turns this into a refusal.

    Attributes:
        what: One sentence: where it fails and by how much.
        position_error: Distance that is missing [m].
        orientation_error: Angle that is missing [rad].
    """

    def __init__(self, what: str, position_error: float, orientation_error: float) -> None:
        super().__init__(what)
        self.what = what
        self.position_error = position_error
        self.orientation_error = orientation_error


def branches(
    chain: Chain, T: Array, seed: Array, orientation: Orientation, tolerance: Tolerance
) -> list[ToolPath]:
    """Return the ways to reach a pose, nearest to the seed first, each a path of one point.

    Args:
        chain: The arm.
        T: Wanted base_link <- tool0 (4, 4) [m].
        seed: Joint positions (n,) to stay near [rad or m].
        orientation: How much of the orientation is wanted.
        tolerance: What may be wrong.

    Raises:
        OutOfReach: There is none.
    """
    result = _ik(chain, T, seed, orientation, tolerance, _BRANCHES)
    return [_point(chain, T, orientation, s.q) for s in result.solutions]


def reach(
    chain: Chain, T: Array, seed: Array, orientation: Orientation, tolerance: Tolerance
) -> ToolPath:
    """Return the way to reach a pose that is found from the seed; arguments as in branches."""
    result = _ik(chain, T, seed, orientation, tolerance, 1)
    return _point(chain, T, orientation, result.q)


def follow(
    chain: Chain,
    poses: Sequence[Array],
    start: Array,
    orientation: Orientation,
    tolerance: Tolerance,
) -> ToolPath:
    """Return the joint path through a dense row of poses, each sought from the one before.

    Args:
        chain: The arm.
        poses: base_link <- tool0 (4, 4) each [m]; where the tool is now is not among them.
        start: Joint positions (n,) now [rad or m]; they become the first point.
        orientation: How much of the orientation is wanted.
        tolerance: What may be wrong.

    Raises:
        OutOfReach: A pose cannot be reached, or only by a jump of the joints.
    """
    joints, position_error, orientation_error = [start], 0.0, 0.0
    for i, T in enumerate(poses):
        part = f" at {100 * (i + 1) / len(poses):.0f} % of the way" if len(poses) > 1 else ""
        try:
            point = reach(chain, T, joints[-1], orientation, tolerance)
        except OutOfReach as miss:
            what = f"{miss.what}{part}"
            raise OutOfReach(what, miss.position_error, miss.orientation_error) from None
        _check_jump(chain, joints[-1], point.joints[0], part)
        joints.append(point.joints[0])
        position_error = max(position_error, point.position_error)
        orientation_error = max(orientation_error, point.orientation_error)
    return ToolPath(np.array(joints), position_error, orientation_error)


def straight(start: Array, goal: Array) -> list[Array]:
    """Return the poses on the straight way from start (left out) to goal, dense enough."""
    between = Between.of(start, goal)
    steps = max(between.distance / STEP_LENGTH, between.angle / STEP_ANGLE, 1.0)
    count = math.ceil(steps - 1e-9)
    return [between.at(i / count) for i in range(1, count)] + [goal]


def _ik(
    chain: Chain,
    T: Array,
    seed: Array,
    orientation: Orientation,
    tolerance: Tolerance,
    count: int,
) -> IkResult:
    if orientation == "full":
        tilt = max(tolerance.tilt, _ROLL)
        result = chain.ik(
            T,
            seed,
            "pose",
            position_tolerance=tolerance.position,
            orientation_tolerance=(tilt, tilt, _ROLL),
            max_solutions=count,
        )
    else:
        result = chain.ik(
            T,
            seed,
            "position_axis" if orientation == "axis" else "position",
            position_tolerance=tolerance.position,
            orientation_tolerance=max(tolerance.tilt, _ROLL),
            max_solutions=count,
        )
    if not result.ok:
        raise _miss(chain, T, orientation, tolerance, result)
    return result


def _point(chain: Chain, T: Array, orientation: Orientation, q: Array) -> ToolPath:
    return ToolPath(np.array([q]), *_errors(chain, T, orientation, q))


def _errors(chain: Chain, T: Array, orientation: Orientation, q: Array) -> tuple[float, float]:
    """Return distance [m] and angle [rad] between the wanted and the reached pose."""
    reached = chain.fk(q)
    distance = float(np.linalg.norm(reached[:3, 3] - T[:3, 3]))
    R = T[:3, :3].T @ reached[:3, :3]
    if orientation == "any":
        return distance, 0.0
    return distance, tilt_z(R) if orientation == "axis" else Between.of(T, reached).angle


def _miss(
    chain: Chain, T: Array, orientation: Orientation, tolerance: Tolerance, result: IkResult
) -> OutOfReach:
    distance, angle = _errors(chain, T, orientation, result.q)
    parts = []
    if distance > tolerance.position:
        parts.append(f"by {distance * 1e3:.1f} mm")
    if orientation != "any" and angle > tolerance.tilt:
        allowed = math.degrees(tolerance.tilt)
        parts.append(f"by {math.degrees(angle):.1f} deg where {allowed:g} deg are allowed")
    limits = ", ".join(result.limiting_joints)
    at_limit = f" ({limits} at the limit)" if limits else ""
    amount = " and ".join(parts) or "by the roll about the tool's axis"
    return OutOfReach(f"out of reach {amount}{at_limit}", distance, angle)


def _check_jump(chain: Chain, before: Array, after: Array, part: str) -> None:
    units = np.where(chain.prismatic, _JUMP_UNIT, 1.0)
    jump = np.abs(after - before) / units
    worst = int(np.argmax(jump))
    if jump[worst] > _MOST_JUMP:
        amount = (
            f"{jump[worst] * _JUMP_UNIT * 1e3:.0f} mm"
            if chain.prismatic[worst]
            else f"{math.degrees(jump[worst]):.0f} deg"
        )
        what = f"joint {chain.joint_names[worst]} would have to jump by {amount}{part}"
        raise OutOfReach(what, 0.0, 0.0)
