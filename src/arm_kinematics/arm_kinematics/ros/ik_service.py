# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
# Tests: src/arm_kinematics/test/ros/test_node.py
"""The services solve_ik and solve_ik_batch: requests to arguments and back."""

from __future__ import annotations

import math
from array import array
from collections import Counter
from collections.abc import Callable, Sequence
from threading import Event
from time import monotonic
from typing import Any

import numpy as np
from arm_common.ros.message_conversions import fill_pose
from arm_common.transforms import Array
from arm_description.model.elements import TOLERANCE_AXES
from builtin_interfaces.msg import Duration
from geometry_msgs.msg import Transform
from sensor_msgs.msg import JointState

from arm_interfaces.msg import IKSolution, JointWeight
from arm_interfaces.srv import CancelIKBatch, SolveIK, SolveIKBatch
from arm_kinematics.chain.chain import Chain
from arm_kinematics.errors import CanceledError
from arm_kinematics.ik.batch import IkBatch
from arm_kinematics.ik.options import AXES_CONSTANTS, MODES, PREFERENCE_CONSTANTS, constants
from arm_kinematics.ik.result import IkSolution, IkStatus
from arm_kinematics.kernels.layout import DEFAULT_ORIENTATION_TOLERANCE, DEFAULT_POSITION_TOLERANCE
from arm_kinematics.markers.state import IkAttempt
from arm_kinematics.ros.robot_state import (
    UNIT,
    RobotStateCache,
    bad_request,
    check_joint,
    doubles,
    joint_vector,
    pose_matrix,
    remaining,
    reused,
)

# By field: the words of Chain.ik in the order of the constants, and the constants in text.
_WORDS = {
    "mode": (tuple(MODES), constants(tuple(MODES))),
    "tolerance_axes": (TOLERANCE_AXES, constants(AXES_CONSTANTS)),
    "preference": (
        tuple(PREFERENCE_CONSTANTS),
        constants(tuple(PREFERENCE_CONSTANTS.values())),
    ),
}
_TOLERANCES = {
    "position_tolerance": DEFAULT_POSITION_TOLERANCE,
    "orientation_tolerance": DEFAULT_ORIENTATION_TOLERANCE,
}
_MAX_SOLUTIONS = 1000
_MAX_TARGETS = 100_000


def _options(state: RobotStateCache, chain: Chain, request: Any) -> dict[str, Any]:
    """Return the arguments that ik and ik_batch share, all hashable for the option cache."""
    return {
        "mode": word(request, "mode"),
        **{name: _box(request, name) for name in _TOLERANCES},
        "allow_approximate": request.allow_approximate,
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


def _box(request: Any, field: str) -> float | tuple[float, ...]:
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


def _tool(message: Transform) -> Array | None:
    """Return a tool as (4, 4) [m]: tip <- point; None if it is the identity or all zeros."""
    p, q = message.translation, message.rotation
    if p.x == p.y == p.z == q.x == q.y == q.z == 0.0 and q.w in (0.0, 1.0):
        return None
    return pose_matrix(p, q, "tool")


def _seconds(duration: Duration, default: float, what: str) -> float:
    """Return a duration [s]; 0 means the default."""
    value = duration.sec + 1e-9 * duration.nanosec
    if value < 0.0:
        raise bad_request(
            f"{what} is {value:g} s; expected a positive time, or 0 for {default:g} s."
        )
    return value or default


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
        if request.max_solutions > _MAX_SOLUTIONS:
            raise bad_request(
                f"max_solutions is {request.max_solutions}; at most {_MAX_SOLUTIONS} are returned."
            )
        arguments = _options(state, chain, request)
        arguments["max_solutions"] = request.max_solutions or 1
        tool = _tool(request.tool)
        timeout = _seconds(request.timeout, state.parameters.default_timeout, "timeout")
        deadline = monotonic() + timeout  # of the wait for the target and of the search
        target = state.pose(request.target, "target", timeout)
        joints = state.joints(request.seed, "seed", chain.joint_names)
        seed = joint_vector(chain, joints, "seed")
        result = chain.ik(target, seed, **arguments, tool=tool, timeout=remaining(deadline))
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


class IkBatchService:
    """Serves solve_ik_batch and cancel_ik_batch."""

    def __init__(self, state: RobotStateCache) -> None:
        self._state = state
        self._canceled: dict[str, Event] = {}  # of the batches with an id that run or wait

    def work(
        self, request: SolveIKBatch.Request, response: SolveIKBatch.Response
    ) -> Callable[[], None]:
        """Check a request; return a function that fills the response and may run in any thread.

        Both raise RejectedError if the request is invalid. The function must be called.
        """
        state, canceled = self._state, Event()
        chain = state.chain(request.tip_frame)
        arguments = _options(state, chain, request)
        arguments["tool"] = _tool(request.tool)
        arguments["timeout"] = state.parameters.default_timeout
        total = _seconds(request.timeout, state.parameters.batch_timeout, "timeout")
        targets, seeds = self._targets(request), self._seeds(chain, request)
        if request.id in self._canceled:
            raise bad_request(f"id: another batch '{request.id}' is running.")
        if request.id:
            self._canceled[request.id] = canceled

        def run() -> None:
            try:
                batch = chain.ik_batch(
                    targets, seeds, **arguments, total_timeout=total, canceled=canceled.is_set
                )
            except CanceledError:
                response.status = SolveIKBatch.Response.CANCELED
                response.message = f"The batch of {len(targets)} targets was cancelled."
            else:
                _fill_batch(response, chain, batch, total)
            finally:
                self._canceled.pop(request.id, None)

        return run

    def cancel(self, request: CancelIKBatch.Request, response: CancelIKBatch.Response) -> Any:
        """Cancel the batch with an id; fill and return the response."""
        canceled = self._canceled.get(request.id)
        if canceled is not None:
            canceled.set()
        response.success = canceled is not None
        what = f"Batch '{request.id}' is being cancelled."
        response.message = what if response.success else f"No batch '{request.id}' is running."
        return response

    def _targets(self, request: SolveIKBatch.Request) -> Array:
        """Return the targets (m, 4, 4) in the base frame."""
        positions = _rows(request.positions, 3, "positions")
        turns = _rows(request.orientations, 4, "orientations")
        if len(positions) > _MAX_TARGETS:
            raise bad_request(
                f"positions: there are {len(positions)} targets; at most {_MAX_TARGETS} are "
                "solved in one batch."
            )
        if not len(turns) and request.mode == SolveIK.Request.POSITION:
            turns = np.tile((0.0, 0.0, 0.0, 1.0), (len(positions), 1))
        if len(turns) != len(positions):
            raise bad_request(
                f"orientations: there are {len(turns)} for {len(positions)} positions."
            )
        base = self._state.base_from(request.reference_frame)
        return np.asarray(base @ _poses(positions, turns))

    def _seeds(self, chain: Chain, request: SolveIKBatch.Request) -> Array:
        """Return a seed for all targets (n,), or one for each (m, n)."""
        state, names = self._state, list(request.seed_joints)
        rows = _rows(request.seeds, len(names), "seeds") if names else np.zeros((1, 0))
        if not names and len(request.seeds):
            raise bad_request(f"seeds: {len(request.seeds)} positions, but seed_joints is empty.")
        count = len(request.positions) // 3
        if len(rows) not in (1, count):
            raise bad_request(f"seeds: there are {len(rows)} rows for {count} targets.")
        # The first row is checked, and completed by joint_states, as the seed of solve_ik is.
        first = rows[0].tolist() if len(rows) else [0.0] * len(names)
        message = JointState(name=names, position=first)
        joints = state.joints(message, "seeds", chain.joint_names)
        seeds = np.tile(joint_vector(chain, joints, "seeds"), (len(rows), 1))
        given = [state.joint(name) for name in names]
        for column, name in enumerate(chain.joint_names):
            if name in given:
                seeds[:, column] = rows[:, given.index(name)]
        return seeds[0] if len(seeds) == 1 else seeds


def _poses(positions: Array, turns: Array) -> Array:
    """Return poses (m, 4, 4) of positions (m, 3) [m] and unit quaternions (m, 4), x y z w."""
    lengths = np.linalg.norm(turns, axis=1)
    bad = ~(np.isfinite(positions).all(axis=1) & (np.abs(lengths - 1.0) <= UNIT))
    if bad.any():
        k = int(np.argmax(bad))
        raise bad_request(
            f"target {k + 1}: position {positions[k].tolist()}, quaternion {turns[k].tolist()}; "
            "expected finite numbers and length 1, (0, 0, 0, 1) for no rotation."
        )
    (x, y, z), w = (turns[:, :3] / lengths[:, None]).T, turns[:, 3] / lengths
    T = np.zeros((len(turns), 4, 4))
    T[:, 0, 0], T[:, 1, 1], T[:, 2, 2], T[:, 3, 3] = (
        1 - 2 * (y * y + z * z), 1 - 2 * (x * x + z * z), 1 - 2 * (x * x + y * y), 1.0
    )  # fmt: skip
    T[:, 0, 1], T[:, 1, 0] = 2 * (x * y - w * z), 2 * (x * y + w * z)
    T[:, 0, 2], T[:, 2, 0] = 2 * (x * z + w * y), 2 * (x * z - w * y)
    T[:, 1, 2], T[:, 2, 1] = 2 * (y * z - w * x), 2 * (y * z + w * x)
    T[:, :3, 3] = positions
    return T


def _rows(values: Any, width: int, what: str) -> Array:
    """Return the numbers of a request as rows (m, width)."""
    numbers = np.asarray(values, dtype=np.float64)
    if numbers.size % width:
        raise bad_request(f"{what}: {numbers.size} numbers; expected a multiple of {width}.")
    return numbers.reshape(-1, width)


def _fill_batch(
    response: SolveIKBatch.Response, chain: Chain, batch: IkBatch, total: float
) -> None:
    counts = Counter(batch.status.tolist())
    others = [f"{count} {IkStatus(status).name}" for status, count in sorted(counts.items())[::-1]]
    text = f"Of {len(batch)} targets: {', '.join(others) or 'none'}"
    tried = np.isfinite(batch.position_error)
    response.status = SolveIKBatch.Response.SUCCESS
    if not tried.all():
        response.status = SolveIKBatch.Response.TIMEOUT
        text += f"; {len(batch) - int(tried.sum())} were not tried within {total:g} s"
    response.message = f"{text}."
    response.joint_names = list(chain.joint_names)
    response.statuses = array("b", batch.status.tobytes())
    response.joint_positions = doubles(batch.q)
    response.position_errors = doubles(batch.position_error)
    response.orientation_errors = doubles(batch.orientation_error)
    response.joint_distances = doubles(batch.distance)
