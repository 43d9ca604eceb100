# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Tool poses and paths of steps, solved by arm_kinematics; failures raise OutOfReach."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np
from arm_common.transforms import Array
from arm_kinematics.ik.options import OF_STEP
from arm_kinematics.ik.result import IkStatus, joint_list
from arm_kinematics.paths.cartesian_path import PathOptions, PathResult, PathStatus
from arm_kinematics.paths.planner import follow, path_starts
from arm_kinematics.paths.shapes import PathShape

from arm_kinematics import Chain, IkResult, KinematicsError
from arm_tasks.task.steps import Orientation, Tolerance

_ROLL = 1e-4  # the roll about the tool's z is exact to this [rad]
_BRANCHES = 8
_STEP = 2e-3  # largest motion of the tool between two samples [m]
_DEVIATION = 1e-5  # largest distance from the path between them [m]


class OutOfReach(Exception):  # noqa: N818
    """A pose or a path is infeasible; the planner turns this into a refusal."""

    def __init__(
        self,
        what: str,
        position_error: float = 0.0,
        orientation_error: float = 0.0,
        reason: IkStatus | PathStatus | None = None,
    ) -> None:
        super().__init__(what)
        self.reason = reason
        self.what = what  # clause with the place of the failure and the error
        self.position_error = position_error  # missing distance [m]
        self.orientation_error = orientation_error  # missing angle [rad]


def path_options(orientation: Orientation, tolerance: Tolerance) -> PathOptions:
    """Return the options; with full orientation the tilt has a tolerance, the roll is exact."""
    tilt = max(tolerance.tilt, _ROLL)
    return PathOptions(
        mode=OF_STEP[orientation],
        position_tolerance=tolerance.position,
        orientation_tolerance=(tilt, tilt, _ROLL) if orientation == "full" else tilt,
        max_step=_STEP,
        max_deviation=_DEVIATION,
    )


def branches(chain: Chain, T: Array, seed: Array, options: PathOptions) -> Iterator[IkResult]:
    """Yield the IK solutions of base_link <- tool0 (4, 4) from a seed (n,); see path_starts().

    Raises:
        OutOfReach: There is no solution.
    """
    for result in path_starts(chain, T, seed, options, _BRANCHES):
        if not result.ok:
            raise out_of_reach(result, options, result.position_error, result.orientation_error)
        yield result


def tool_path(chain: Chain, shape: PathShape, start: Array, options: PathOptions) -> PathResult:
    """Return the joint path along a shape, from joint positions (n,) at its start.

    Raises:
        OutOfReach: The path ends before the shape.
    """
    try:
        result = follow(chain, [shape], start, options)
    except KinematicsError as error:  # it is too long
        raise OutOfReach(str(error)) from None
    if not result.ok:
        raise out_of_reach(result, options, result.missing_distance, result.missing_angle)
    return result


def out_of_reach(
    result: IkResult | PathResult, options: PathOptions, distance: float, angle: float
) -> OutOfReach:
    """Return the error of a result that misses by a distance [m] and an angle [rad]."""
    what = result.message[:1].lower() + result.message[1:].rstrip(".")
    at_limit = [name for name in result.limiting_joints if name not in what]
    if at_limit:
        what += f" ({joint_list(at_limit)} at the limit)"
    tilt = float(np.max(options.orientation_tolerance))
    if options.turns() and angle > tilt:
        what += f", where {math.degrees(tilt):.3g} deg are allowed"
    return OutOfReach(what, distance, angle, result.status)
