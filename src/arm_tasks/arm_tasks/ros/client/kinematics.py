# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Inverse kinematics, batches of it and how they are cancelled; dynamics: requests and answers."""

from __future__ import annotations

import uuid
from array import array
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from arm_common.ros.message_conversions import duration_message, pose_message
from arm_common.ros.names import PrefixedNames
from arm_common.transforms import Array, quaternion, rpy_matrix
from numpy.typing import ArrayLike, NDArray

from arm_interfaces.srv import CancelIKBatch, SolveDynamics, SolveIK, SolveIKBatch
from arm_tasks.ros.client.future import ArmError, ClientThread
from arm_tasks.ros.client.task_goal import number_of, numbers_of

_WITH_RESULTS = (SolveIKBatch.Response.SUCCESS, SolveIKBatch.Response.TIMEOUT)
_RETRY_PERIOD = 0.1  # [s]
_PREFERENCES: dict[str, int] = {
    "nearest": SolveIK.Request.NEAREST,
    "centred": SolveIK.Request.CENTRED,
    "torque": SolveIK.Request.LEAST_TORQUE,
}


@dataclass(frozen=True)
class IkAnswer:
    """An answer of inverse kinematics; truthy if there is a solution.

    Attributes:
        status: A status of SolveIK.
        message: One sentence.
        joints: The nearest solution, or the best effort if there is none, by name [rad or m].
        position_error: Position error of `joints` [m].
        orientation_error: Orientation error of `joints` [rad].
        limiting_joints: Joints whose limits prevent a solution.
    """

    status: int
    message: str
    joints: Mapping[str, float]
    position_error: float
    orientation_error: float
    limiting_joints: tuple[str, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.status == SolveIK.Response.SUCCESS)


@dataclass(frozen=True)
class IkBatchAnswer:
    """Answers of inverse kinematics for many targets; row k belongs to target k.

    Attributes:
        message: One sentence that counts the statuses.
        joint_names: Names of the joints (n).
        statuses: A status of SolveIK for each target (m,); TIMEOUT also if it was not tried.
        q: Solutions, or the best efforts, or the seeds of targets that were not tried (m, n)
            [rad or m].
        position_error: Distances from the targets (m,) [m]; inf for targets that were not tried.
        orientation_error: Angles from the targets (m,) [rad], likewise.
    """

    message: str
    joint_names: tuple[str, ...]
    statuses: NDArray[np.int8]
    q: Array
    position_error: Array
    orientation_error: Array

    @property
    def ok(self) -> NDArray[np.bool_]:
        """Whether each target has a solution (m,)."""
        return np.asarray(self.statuses == SolveIK.Response.SUCCESS)

    def __len__(self) -> int:
        return len(self.statuses)


@dataclass(frozen=True)
class DynamicsAnswer:
    """Torques of the joints, by name [N m], or forces of prismatic ones [N].

    Attributes:
        message: One sentence: the joint that is loaded most.
        torques: What the motion takes.
        gravity_torques: The part of it that holds the arm at rest.
        shares: The torques as signed shares of the effort limits; 0 where there is none.
        inertia: Torque per acceleration (n, n), in the order of `torques`.
        payload_capacity: Largest mass at the tool that the joints can hold here [kg].
    """

    message: str
    torques: Mapping[str, float]
    gravity_torques: Mapping[str, float]
    shares: Mapping[str, float]
    inertia: Array
    payload_capacity: float


def ik_request(xyz: ArrayLike, rpy: ArrayLike | None, frame: str, prefer: str) -> SolveIK.Request:
    """Return the request without a seed; arguments as in ``AsyncArm.ik``. Raises ArmError."""
    mode = SolveIK.Request.POSITION if rpy is None else SolveIK.Request.POSE
    request = SolveIK.Request(mode=mode, preference=_preference(prefer))
    request.target.header.frame_id = frame
    request.target.pose = pose_message(rpy_matrix(xyz, rpy if rpy is not None else (0, 0, 0)))
    return request


def _preference(prefer: str) -> int:
    if prefer not in _PREFERENCES:
        raise ArmError(f"prefer is {prefer!r}; expected one of {', '.join(_PREFERENCES)}")
    return _PREFERENCES[prefer]


def ik_batch_request(
    targets: ArrayLike,
    frame: str,
    seeds: Mapping[str, ArrayLike],
    timeout: float,
    names: PrefixedNames,
    prefer: str,
) -> SolveIKBatch.Request:
    """Return the request; arguments as in ``AsyncArm.ik_batch``. Raises ArmError."""
    T = _numbers(targets, "targets")
    request = SolveIKBatch.Request(id=str(uuid.uuid4()), reference_frame=frame)
    request.preference = _preference(prefer)
    if T.ndim == 2 and T.shape[1] == 3:
        request.mode = SolveIK.Request.POSITION
        request.positions = _doubles(T)
    elif T.ndim == 3 and T.shape[1:] == (4, 4):
        request.positions = _doubles(T[:, :3, 3])
        request.orientations = _doubles(np.array([quaternion(one) for one in T]))
    else:
        raise ArmError(f"ik_batch: targets have shape {T.shape}; expected (m, 3) or (m, 4, 4)")
    if seeds:
        columns = [_numbers(values, f"seed of {name}") for name, values in seeds.items()]
        try:
            rows = np.stack(np.broadcast_arrays(*columns), axis=-1)
        except ValueError:
            raise ArmError("ik_batch: the seeds of the joints differ in their number") from None
        request.seed_joints, request.seeds = names.add_all(seeds), _doubles(rows)
    if not timeout > 0.0:
        raise ArmError(f"ik_batch: timeout is {timeout} s; expected a positive number")
    request.timeout = duration_message(timeout)
    return request


def ik_batch_answer(response: SolveIKBatch.Response, names: PrefixedNames) -> IkBatchAnswer:
    """Return the answer of a batch; raise ArmError if there is none."""
    if response.status not in _WITH_RESULTS:
        raise ArmError(f"ik_batch: {response.message}", response)
    joints = tuple(map(names.remove, response.joint_names))
    return IkBatchAnswer(
        response.message,
        joints,
        np.array(response.statuses, dtype=np.int8),
        np.array(response.joint_positions).reshape(-1, len(joints)),
        np.array(response.position_errors),
        np.array(response.orientation_errors),
    )


class IkBatchCanceler:
    """Cancels a batch, also one that the server has not received yet."""

    def __init__(self, thread: ClientThread, service: Any, request: SolveIKBatch.Request) -> None:
        self._thread, self._service, self._id = thread, service, request.id
        self.is_over = False  # whether the batch has been answered

    async def cancel(self) -> None:
        """Repeat the request to cancel until the server knows the batch, or it is over."""
        while not self.is_over:
            response = await self._service.call_async(CancelIKBatch.Request(id=self._id))
            if response.success:
                return
            await self._thread.sleep(_RETRY_PERIOD)


def _numbers(values: ArrayLike, what: str) -> Array:
    try:
        return np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError):
        raise ArmError(f"ik_batch: {what}: expected numbers") from None


def _doubles(values: Array) -> array[float]:
    """Return numbers as an array that messages accept without checking each element."""
    return array("d", values.tobytes())


def dynamics_request(
    joints: Mapping[str, float],
    velocities: Mapping[str, float],
    accelerations: Mapping[str, float],
    payload: float,
) -> SolveDynamics.Request:
    """Return the request without names and positions; arguments as in ``AsyncArm.dynamics``."""
    request = SolveDynamics.Request(payload_mass=number_of(payload, "the payload"))
    request.joint_state.velocity = _in_order(joints, velocities, "velocities")
    request.acceleration = _in_order(joints, accelerations, "accelerations")
    return request


def _in_order(joints: Mapping[str, float], rates: Mapping[str, float], what: str) -> list[float]:
    """Return rates in the order of the joints, 0 where not given; raise ArmError for others."""
    for name in rates:
        if name not in joints:
            raise ArmError(f"dynamics: {what} has joint '{name}', whose position is not given")
    numbers = numbers_of(rates, f"a value of {what}")
    return [numbers.get(name, 0.0) for name in joints] if rates else []


def dynamics_answer(response: SolveDynamics.Response, names: PrefixedNames) -> DynamicsAnswer:
    """Return the answer in a response; raise ArmError if the request was rejected."""
    if response.status != SolveDynamics.Response.SUCCESS:
        raise ArmError(f"dynamics: {response.message}", response)
    joints = response.joint_names
    rows = response.torques, response.gravity_torques, response.shares
    torques, held, shares = (names.own(joints, row) for row in rows)
    inertia = np.array(response.inertia).reshape(len(joints), -1)
    return DynamicsAnswer(
        response.message, torques, held, shares, inertia, response.payload_capacity
    )
