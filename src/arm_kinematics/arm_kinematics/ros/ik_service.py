# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""The service solve_ik: request -> arguments of ``Chain.ik``, result -> response."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, Generic, TypeVar

from arm_common.ros.messages import fill_pose
from arm_common.transforms import Array

from arm_interfaces.msg import IKSolution, JointWeight
from arm_interfaces.srv import SolveIK
from arm_kinematics.chain.chain import Chain
from arm_kinematics.errors import KinematicsError
from arm_kinematics.ik.result import IkResult, IkSolution
from arm_kinematics.kernels.residuals import (
    DEFAULT_ORIENTATION_TOLERANCE,
    DEFAULT_POSITION_TOLERANCE,
)
from arm_kinematics.ros.messages import doubles, seconds, stamped_pose, tool_matrix
from arm_kinematics.ros.robot_state import RobotStateCache, bad_request, joint_vector

_REQUEST = SolveIK.Request
_MODES = {
    _REQUEST.POSE: "pose",
    _REQUEST.POSITION: "position",
    _REQUEST.POSITION_AXIS: "position_axis",
}
_AXES = {_REQUEST.TARGET_AXES: "target", _REQUEST.TIP_AXES: "tool"}
_PREFERENCES = {_REQUEST.NEAREST: "nearest", _REQUEST.CENTRED: "centred"}
_MOST_SOLUTIONS = 1000


def ik_arguments(state: RobotStateCache, chain: Chain, request: SolveIK.Request) -> dict[str, Any]:
    """Return the arguments of Chain.ik but target, seed, tool and timeout.

    All of them are hashable, for the cache of options.

    Raises:
        RejectedError: Something in the request makes no sense.
    """
    count = request.max_solutions
    if count > _MOST_SOLUTIONS:
        raise bad_request(f"max_solutions is {count}; at most {_MOST_SOLUTIONS} are given.")
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
        raise bad_request(f"{what} is {value}; expected {expected}.")
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
        raise bad_request(
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
            raise bad_request(
                f"{what} has {value:g} along {axis}; expected a positive number, inf to leave it "
                f"free, or 0 for {scalar:g}."
            )
    return tuple(value or scalar for value in three)


def _axis(axis: Any) -> tuple[float, float, float] | None:
    x, y, z = axis.x, axis.y, axis.z
    return None if x == y == z == 0.0 else (x, y, z)


def _weights(
    state: RobotStateCache, chain: Chain, given: Sequence[JointWeight]
) -> tuple[float, ...] | None:
    """Return a weight for each joint of the chain; other joints of the robot do not matter."""
    if not given:
        return None
    weights: dict[str, float] = {}
    for entry in given:
        if entry.name not in state.robot.joint_names:
            raise bad_request(
                f"joint_weights: the robot has no joint '{entry.name}'; it has "
                f"{', '.join(state.robot.joint_names)}."
            )
        if entry.name in weights:
            raise bad_request(f"joint_weights: joint '{entry.name}' is given twice.")
        if not 0.0 <= entry.weight < math.inf:
            raise bad_request(
                f"joint_weights: the weight of joint '{entry.name}' is {entry.weight:g}; expected "
                "0 or a positive number."
            )
        weights[entry.name] = entry.weight
    return tuple(weights.get(name, 1.0) for name in chain.joint_names)


M = TypeVar("M")


class MessagePool(Generic[M]):
    """Messages for reuse; each response has to be sent before the next one is begun.

    Args:
        make: Makes a message. Callers have to write every field that any of them writes.
    """

    def __init__(self, make: Callable[[], M]) -> None:
        self._make = make
        self._made: list[M] = []

    def take(self, count: int) -> list[M]:
        """Return so many messages."""
        while len(self._made) < count:
            self._made.append(self._make())
        return self._made[:count]


class IkService:
    """Serves solve_ik.

    Args:
        state: What is known about the robot.
        default_timeout: Time allowed for a request that sets none [s].
    """

    def __init__(self, state: RobotStateCache, default_timeout: float) -> None:
        self._state = state
        self._default_timeout = default_timeout
        self._messages = MessagePool(IKSolution)

    def answer(
        self, request: SolveIK.Request, response: SolveIK.Response
    ) -> tuple[Chain, Array, Array | None, IkResult]:
        """Fill the response; return chain, target, tool and result.

        Raises:
            RejectedError: The request cannot be answered.
        """
        state = self._state
        chain = state.chain(request.tip_frame)
        arguments = ik_arguments(state, chain, request)
        tool = tool_matrix(request.tool)
        timeout = seconds(request.timeout, self._default_timeout, "timeout")
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
        messages = self._messages.take(len(result.solutions))
        for message, solution in zip(messages, result.solutions, strict=True):
            _fill(message, chain, tool, solution)
        response.solutions = messages
        return chain, target, tool, result


def _fill(message: IKSolution, chain: Chain, tool: Array | None, solution: IkSolution) -> None:
    """Write every field, since the message may have been used before."""
    message.joint_state.name = chain.joint_names
    message.joint_state.position = doubles(solution.q)
    reached = chain.fk(solution.q)
    achieved = message.achieved
    achieved.header.frame_id = chain.base
    reached = reached if tool is None else reached @ tool
    fill_pose(achieved.pose.position, achieved.pose.orientation, reached)
    message.position_error = solution.position_error
    message.orientation_error = solution.orientation_error
    message.joint_distance = solution.distance
