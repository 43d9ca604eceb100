# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""What a request of solve_ik asks of a solution -> the arguments of Chain.ik."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from arm_interfaces.msg import JointWeight
from arm_interfaces.srv import SolveIK
from arm_kinematics.chain import Chain
from arm_kinematics.kernels_error import DEFAULT_ORIENTATION_TOLERANCE, DEFAULT_POSITION_TOLERANCE
from arm_kinematics.ros.refusal import bad
from arm_kinematics.ros.state import State

_REQUEST = SolveIK.Request
_MODES = {
    _REQUEST.POSE: "pose",
    _REQUEST.POSITION: "position",
    _REQUEST.POSITION_AXIS: "position_axis",
}
_AXES = {_REQUEST.TARGET_AXES: "target", _REQUEST.TIP_AXES: "tool"}
_PREFERENCES = {_REQUEST.NEAREST: "nearest", _REQUEST.CENTRED: "centred"}
_MOST_SOLUTIONS = 1000


def wishes(state: State, chain: Chain, request: SolveIK.Request) -> dict[str, Any]:
    """Return the arguments of Chain.ik but target, seed, tool and timeout.

    All of them can be looked up again, so that options once worked out are found.

    Raises:
        RefusalError: Something in the request makes no sense.
    """
    count = request.max_solutions
    if count > _MOST_SOLUTIONS:
        raise bad(f"max_solutions is {count}; at most {_MOST_SOLUTIONS} are given.")
    return {
        "mode": mode(request.mode),
        "position_tolerance": _box(position_tolerance(request), request, "position_tolerances"),
        "orientation_tolerance": _box(
            orientation_tolerance(request), request, "orientation_tolerances"
        ),
        "allow_approximate": request.allow_approximate,
        "max_solutions": count or 1,
        "axis": _axis(request.axis),
        "tolerance_axes": _word(
            _AXES, request.tolerance_axes, "tolerance_axes", "TARGET_AXES=0 or TIP_AXES=1"
        ),
        "weights": _weights(state, chain, request.joint_weights),
        "prefer": _word(_PREFERENCES, request.preference, "preference", "NEAREST=0 or CENTRED=1"),
    }


def _word(known: dict[int, str], value: int, what: str, expected: str) -> str:
    if value not in known:
        raise bad(f"{what} is {value}; expected {expected}.")
    return known[value]


def mode(value: int) -> str:
    """Return the mode of a request as Chain.ik calls it."""
    return _word(_MODES, value, "mode", "POSE=0, POSITION=1 or POSITION_AXIS=2")


def position_tolerance(request: Any) -> float:
    """Return the scalar tolerance of a request [m], 0 meaning the default."""
    return _tolerance(request.position_tolerance, DEFAULT_POSITION_TOLERANCE, "position")


def orientation_tolerance(request: Any) -> float:
    """Return the scalar tolerance of a request [rad], 0 meaning the default."""
    return _tolerance(request.orientation_tolerance, DEFAULT_ORIENTATION_TOLERANCE, "orientation")


def _tolerance(scalar: float, default: float, what: str) -> float:
    if not scalar >= 0.0:
        raise bad(
            f"{what}_tolerance is {scalar:g}; expected a positive number, or 0 for {default:g}."
        )
    return scalar or default


def _box(scalar: float, request: SolveIK.Request, what: str) -> float | tuple[float, ...]:
    """Return the scalar; or the three of a request, of which 0 means the scalar."""
    three = getattr(request, what).tolist()
    if three == [0.0, 0.0, 0.0]:
        return scalar
    for value, axis in zip(three, "xyz", strict=True):
        if not value >= 0.0:
            raise bad(
                f"{what} has {value:g} along {axis}; expected a positive number, inf to leave it "
                f"free, or 0 for {scalar:g}."
            )
    return tuple(value or scalar for value in three)


def _axis(axis: Any) -> tuple[float, float, float] | None:
    x, y, z = axis.x, axis.y, axis.z
    return None if x == y == z == 0.0 else (x, y, z)


def _weights(state: State, chain: Chain, given: Sequence[JointWeight]) -> tuple[float, ...] | None:
    """Return a weight for each joint of the chain; other joints of the robot do not matter."""
    if not given:
        return None
    weights: dict[str, float] = {}
    for entry in given:
        if entry.name not in state.robot.joint_names:
            raise bad(
                f"joint_weights: the robot has no joint '{entry.name}'; it has "
                f"{', '.join(state.robot.joint_names)}."
            )
        if entry.name in weights:
            raise bad(f"joint_weights: joint '{entry.name}' is given twice.")
        if not 0.0 <= entry.weight < math.inf:
            raise bad(
                f"joint_weights: the weight of joint '{entry.name}' is {entry.weight:g}; expected "
                "0 or a positive number."
            )
        weights[entry.name] = entry.weight
    return tuple(weights.get(name, 1.0) for name in chain.joint_names)
