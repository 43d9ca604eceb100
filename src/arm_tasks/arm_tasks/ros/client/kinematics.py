# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""The verbs of an arm that the kinematics node answers: IK, batches of it, FK and dynamics."""

from __future__ import annotations

import math
import time
import uuid
from array import array
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from arm_common.ros.message_conversions import duration_message, pose_matrix, pose_message
from arm_common.ros.names import PrefixedNames
from arm_common.ros.service_client import ServiceClient
from arm_common.transforms import Array, quaternion, rpy_matrix
from arm_kinematics.ik.options import PREFERENCE_CONSTANTS
from arm_kinematics.ros.client import KinematicsClient
from numpy.typing import ArrayLike, NDArray

from arm_interfaces.srv import CancelIKBatch, SolveDynamics, SolveFK, SolveIK, SolveIKBatch
from arm_tasks.ros.client.future import ArmError, ArmFuture, ClientThread, require
from arm_tasks.ros.client.task_goal import ANSWER, MOVE, XYZ, number_of, numbers_of

_WITH_RESULTS = (SolveIKBatch.Response.SUCCESS, SolveIKBatch.Response.TIMEOUT)
_ROBOT_TIMEOUT = 5.0  # [s], for a kinematics node that has just started to receive the robot
_RETRY_PERIOD = 0.1  # [s]
_PREFERENCES: dict[str, int] = {
    word: getattr(SolveIK.Request, constant) for word, constant in PREFERENCE_CONSTANTS.items()
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


class KinematicsVerbs:
    """The verbs of an arm that the kinematics node answers."""

    def __init__(self, thread: ClientThread, names: PrefixedNames) -> None:
        self._thread, self._names = thread, names
        self._kinematics = KinematicsClient(thread.node)

    def ik(
        self,
        xyz: XYZ,
        rpy: XYZ | None = None,
        frame: str = "",
        seed: Mapping[str, float] | None = None,
        timeout: float = ANSWER,
        prefer: str = "nearest",
    ) -> ArmFuture[IkAnswer]:
        """Solve inverse kinematics; an answer without a solution is falsy and has the reason.

        Args:
            xyz: Target position of the tool [m].
            rpy: Roll, pitch and yaw [rad]; None allows any orientation.
            frame: Any frame of tf; "" is the base.
            seed: Joint positions to stay close to; the current ones if None.
            timeout: Longest time to wait [s].
            prefer: "nearest" to the seed, "centred" in the joint ranges, or the least "torque".
        """
        mode = SolveIK.Request.POSITION if rpy is None else SolveIK.Request.POSE
        request = SolveIK.Request(mode=mode, preference=_preference(prefer))
        request.target.header.frame_id = frame
        request.target.pose = pose_message(rpy_matrix(xyz, rpy if rpy is not None else (0, 0, 0)))
        self._set_joints(request.seed, seed)
        return self._thread.start("ik", self._ik, request, timeout=timeout)

    def ik_batch(
        self,
        targets: ArrayLike,
        frame: str = "",
        seeds: Mapping[str, ArrayLike] | None = None,
        timeout: float = MOVE,
        prefer: str = "nearest",
    ) -> ArmFuture[IkBatchAnswer]:
        """Solve inverse kinematics for many targets at once, as fast as the solver.

        Args:
            targets: Positions (m, 3) [m], with any orientation, or poses (m, 4, 4).
            frame: Frame of the targets: any frame of tf; "" is the base.
            seeds: By joint, the position to stay close to, or one for each target (m,); joints
                left out stay close to where they are now.
            timeout: Longest time to compute [s]; targets that are left have the status TIMEOUT.
            prefer: As in `ik`.

        Raises:
            ArmError: The targets, seeds or frame are not usable, or the batch was cancelled.
        """
        request = _batch_request(_numbers(targets, "targets"), timeout)
        request.reference_frame, request.preference = frame, _preference(prefer)
        if seeds:
            request.seed_joints, request.seeds = self._names.add_all(seeds), _seed_rows(seeds)
        canceler = IkBatchCanceler(self._thread, self._kinematics.cancel_ik_batch, request)
        return self._thread.start(
            "ik_batch",
            self._ik_batch,
            request,
            canceler,
            timeout=timeout + ANSWER,
            cancel=canceler.cancel,
        )

    def fk(
        self,
        joints: Mapping[str, float] | None = None,
        link: str = "",
        frame: str = "",
        timeout: float = ANSWER,
    ) -> ArmFuture[Array]:
        """Compute frame <- link (4, 4) [m] for joint positions, the current ones if None."""
        request = SolveFK.Request(links=[link] if link else [], reference_frame=frame)
        self._set_joints(request.joint_state, joints)
        return self._thread.start("fk", self._fk, request, timeout=timeout)

    def dynamics(
        self,
        joints: Mapping[str, float] | None = None,
        velocities: Mapping[str, float] | None = None,
        accelerations: Mapping[str, float] | None = None,
        payload: float = 0.0,
        timeout: float = ANSWER,
    ) -> ArmFuture[DynamicsAnswer]:
        """Compute the torques of a motion, or at rest; positions left out are the current ones.

        Args:
            joints: Positions by name [rad or m].
            velocities: Speeds by name [rad/s or m/s], of joints that are in `joints`.
            accelerations: Likewise [rad/s^2 or m/s^2].
            payload: Mass carried at the tool [kg].
            timeout: Longest time to wait [s].

        Raises:
            ArmError: An argument is not usable, or the robot description has no masses.
        """
        request = SolveDynamics.Request(payload_mass=number_of(payload, "the payload"))
        self._set_joints(request.joint_state, joints)
        positions = joints or {}
        request.joint_state.velocity = _in_order(positions, velocities or {}, "velocities")
        request.acceleration = _in_order(positions, accelerations or {}, "accelerations")
        return self._thread.start("dynamics", self._dynamics, request, timeout=timeout)

    # -- coroutines, run by the executor thread -----------------------------------------------

    async def _solve(self, client: ServiceClient, request: Any) -> Any:
        """Call the kinematics node; retry while it has not received the robot yet."""
        response = await self._thread.call(client, request, "the kinematics node")
        end = time.monotonic() + _ROBOT_TIMEOUT
        while response.status == SolveFK.Response.NOT_READY and time.monotonic() < end:
            await self._thread.sleep(_RETRY_PERIOD)
            response = await client.call_async(request)
        return response

    async def _ik(self, request: SolveIK.Request) -> IkAnswer:
        response = await self._solve(self._kinematics.solve_ik, request)
        joints, errors = {}, (math.inf, math.inf)
        if response.solutions:
            best = response.solutions[0]
            joints = self._names.own(best.joint_state.name, best.joint_state.position)
            errors = best.position_error, best.orientation_error
        limiting = tuple(map(self._names.remove, response.limiting_joints))
        return IkAnswer(response.status, response.message, joints, *errors, limiting)

    async def _ik_batch(
        self, request: SolveIKBatch.Request, canceler: IkBatchCanceler
    ) -> IkBatchAnswer:
        try:
            response = await self._solve(self._kinematics.solve_ik_batch, request)
        finally:
            canceler.is_over = True
        require(response.status in _WITH_RESULTS, "ik_batch", response)
        joints = tuple(map(self._names.remove, response.joint_names))
        return IkBatchAnswer(
            response.message,
            joints,
            np.array(response.statuses, dtype=np.int8),
            np.array(response.joint_positions).reshape(-1, len(joints)),
            np.array(response.position_errors),
            np.array(response.orientation_errors),
        )

    async def _fk(self, request: SolveFK.Request) -> Array:
        response = await self._solve(self._kinematics.solve_fk, request)
        require(response.status == SolveFK.Response.SUCCESS, "fk", response)
        return pose_matrix(response.poses[0].pose)

    async def _dynamics(self, request: SolveDynamics.Request) -> DynamicsAnswer:
        response = await self._solve(self._kinematics.solve_dynamics, request)
        require(response.status == SolveDynamics.Response.SUCCESS, "dynamics", response)
        joints = response.joint_names
        rows = response.torques, response.gravity_torques, response.shares
        torques, held, shares = (self._names.own(joints, row) for row in rows)
        inertia = np.array(response.inertia).reshape(len(joints), -1)
        return DynamicsAnswer(
            response.message, torques, held, shares, inertia, response.payload_capacity
        )

    def _set_joints(self, state: Any, joints: Mapping[str, float] | None) -> None:
        state.name = self._names.add_all(joints or {})
        state.position = list(numbers_of(joints or {}, "the position").values())


def _preference(prefer: str) -> int:
    if prefer not in _PREFERENCES:
        raise ArmError(f"prefer is {prefer!r}; expected one of {', '.join(_PREFERENCES)}")
    return _PREFERENCES[prefer]


def _batch_request(T: Array, timeout: float) -> SolveIKBatch.Request:
    """Return the request for positions (m, 3) or poses (m, 4, 4) [m] alone."""
    request = SolveIKBatch.Request(id=str(uuid.uuid4()))
    if T.ndim == 2 and T.shape[1] == 3:
        request.mode = SolveIK.Request.POSITION
        request.positions = _doubles(T)
    elif T.ndim == 3 and T.shape[1:] == (4, 4):
        request.positions = _doubles(T[:, :3, 3])
        request.orientations = _doubles(np.array([quaternion(one) for one in T]))
    else:
        raise ArmError(f"ik_batch: targets have shape {T.shape}; expected (m, 3) or (m, 4, 4)")
    if not timeout > 0.0:
        raise ArmError(f"ik_batch: timeout is {timeout} s; expected a positive number")
    request.timeout = duration_message(timeout)
    return request


def _seed_rows(seeds: Mapping[str, ArrayLike]) -> array[float]:
    """Return the seeds of joints as one row for each target, or one for all."""
    columns = [_numbers(values, f"seed of {name}") for name, values in seeds.items()]
    try:
        return _doubles(np.stack(np.broadcast_arrays(*columns), axis=-1))
    except ValueError:
        raise ArmError("ik_batch: the seeds of the joints differ in their number") from None


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


def _in_order(joints: Mapping[str, float], rates: Mapping[str, float], what: str) -> list[float]:
    """Return rates in the order of the joints, 0 where not given; raise ArmError for others."""
    for name in rates:
        if name not in joints:
            raise ArmError(f"dynamics: {what} has joint '{name}', whose position is not given")
    numbers = numbers_of(rates, f"a value of {what}")
    return [numbers.get(name, 0.0) for name in joints] if rates else []
