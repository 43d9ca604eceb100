# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""The service solve_ik: conversion to arguments of ``Chain.ik`` and back to a response."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from arm_common.ros.messages import fill_pose
from arm_common.transforms import Array

from arm_interfaces.msg import IKSolution, JointWeight
from arm_interfaces.srv import SolveIK
from arm_kinematics.chain.chain import Chain
from arm_kinematics.errors import KinematicsError
from arm_kinematics.ik.result import IkSolution
from arm_kinematics.kernels.residuals import (
    DEFAULT_ORIENTATION_TOLERANCE,
    DEFAULT_POSITION_TOLERANCE,
)
from arm_kinematics.markers.state import IkAttempt
from arm_kinematics.ros.messages import doubles, reused, seconds, stamped_pose, tool_matrix
from arm_kinematics.ros.robot_state import RobotStateCache, bad_request, check_joint, joint_vector

# By field: the words of Chain.ik in the order of the constants, and the constants in text.
_WORDS = {
    "mode": (("pose", "position", "position_axis"), "POSE=0, POSITION=1 or POSITION_AXIS=2"),
    "tolerance_axes": (("target", "tool"), "TARGET_AXES=0 or TIP_AXES=1"),
    "preference": (("nearest", "centred"), "NEAREST=0 or CENTRED=1"),
}
_TOLERANCES = {
    "position_tolerance": DEFAULT_POSITION_TOLERANCE,
    "orientation_tolerance": DEFAULT_ORIENTATION_TOLERANCE,
}
_MAX_SOLUTIONS = 1000


def ik_arguments(state: RobotStateCache, chain: Chain, request: SolveIK.Request) -> dict[str, Any]:
    """Return the arguments of Chain.ik except target, seed, tool and timeout.

    All of them are hashable, for the option cache.
    """
    count = request.max_solutions
    if count > _MAX_SOLUTIONS:
        raise bad_request(f"max_solutions is {count}; at most {_MAX_SOLUTIONS} are returned.")
    return {
        "mode": word(request, "mode"),
        **{name: _box(request, name) for name in _TOLERANCES},
        "allow_approximate": request.allow_approximate,
        "max_solutions": count or 1,
        "axis": axis(request),
        "tolerance_axes": word(request, "tolerance_axes"),
        "weights": _weights(state, chain, request.joint_weights),
        "prefer": word(request, "preference"),
    }


def word(request: Any, field: str) -> str:
    """Return the word of Chain.ik for a constant of a request."""
    words, expected = _WORDS[field]
    value = getattr(request, field)
    if value >= len(words):
        raise bad_request(f"{field} is {value}; expected {expected}.")
    return str(words[value])


def tolerance(request: Any, field: str) -> float:
    """Return a scalar tolerance of a request [m or rad]; 0 means the default."""
    scalar, default = float(getattr(request, field)), _TOLERANCES[field]
    if not scalar >= 0.0:
        raise bad_request(
            f"{field} is {scalar:g}; expected a positive number, or 0 for {default:g}."
        )
    return scalar or default


def _box(request: SolveIK.Request, field: str) -> float | tuple[float, ...]:
    """Return the scalar tolerance of a request, or its three components; 0 means the scalar."""
    scalar, three = tolerance(request, field), getattr(request, f"{field}s").tolist()
    if three == [0.0, 0.0, 0.0]:
        return scalar
    for value, name in zip(three, "xyz", strict=True):
        if not value >= 0.0:
            raise bad_request(
                f"{field}s has {value:g} along {name}; expected a positive number, inf to leave "
                f"it free, or 0 for {scalar:g}."
            )
    return tuple(value or scalar for value in three)


def axis(request: Any) -> tuple[float, float, float] | None:
    """Return the tool axis of a request; None if it is all zeros."""
    x, y, z = request.axis.x, request.axis.y, request.axis.z
    if not math.isfinite(x + y + z):
        raise bad_request("axis: contains NaN or infinity.")
    return None if x == y == z == 0.0 else (x, y, z)


def _weights(
    state: RobotStateCache, chain: Chain, entries: Sequence[JointWeight]
) -> tuple[float, ...] | None:
    """Return a weight for each joint of the chain; other joints of the robot are ignored."""
    weights: dict[str, float] = {}
    for entry in entries:
        name = state.joint(entry.name)
        check_joint(state.robot, name, "joint_weights")
        if name in weights:
            raise bad_request(f"joint_weights: joint '{name}' is given twice.")
        if not 0.0 <= entry.weight < math.inf:
            raise bad_request(
                f"joint_weights: the weight of joint '{entry.name}' is {entry.weight:g}; expected "
                "0 or a positive number."
            )
        weights[name] = entry.weight
    return tuple(weights.get(name, 1.0) for name in chain.joint_names) if weights else None


class IkService:
    """Serves solve_ik."""

    def __init__(self, state: RobotStateCache) -> None:
        self._state = state
        self._messages: list[IKSolution] = []

    def answer(self, request: SolveIK.Request, response: SolveIK.Response) -> IkAttempt:
        """Fill the response; return the attempt for the markers. Raises RejectedError."""
        state = self._state
        chain = state.chain(request.tip_frame)
        arguments = ik_arguments(state, chain, request)
        tool = tool_matrix(request.tool)
        timeout = seconds(request.timeout, state.parameters.default_timeout, "timeout")
        target = stamped_pose(state, request.target, "target")
        joints = state.joints(request.seed, "seed", chain.joint_names)
        seed = joint_vector(chain, joints, "seed")
        try:
            result = chain.ik(target, seed, **arguments, tool=tool, timeout=timeout)
        except KinematicsError as error:
            raise bad_request(f"{error}.") from error
        response.status = int(result.status)
        response.message = result.message
        response.limiting_joints = list(result.limiting_joints)
        messages = reused(self._messages, IKSolution, len(result.solutions))
        for message, solution in zip(messages, result.solutions, strict=True):
            _fill(message, chain, tool, solution)
        response.solutions = messages
        return IkAttempt(chain, target, tool, result)


def _fill(message: IKSolution, chain: Chain, tool: Array | None, solution: IkSolution) -> None:
    """Fill every field, since the message may have been used before."""
    message.joint_state.name = chain.joint_names
    message.joint_state.position = doubles(solution.q)
    reached = chain.fk(solution.q)
    reached = reached if tool is None else reached @ tool
    achieved = message.achieved
    achieved.header.frame_id = chain.base
    fill_pose(achieved.pose.position, achieved.pose.orientation, reached)
    message.position_error = solution.position_error
    message.orientation_error = solution.orientation_error
    message.joint_distance = solution.distance
