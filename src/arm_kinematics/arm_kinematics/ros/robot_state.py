# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""The latest robot description, joint positions and frames, and what requests say of them."""

from __future__ import annotations

import math
from array import array
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from time import monotonic, sleep
from typing import Any, TypeVar

import numpy as np
from arm_common.ros.message_conversions import stamp_seconds
from arm_common.ros.names import PrefixedNames, prefix_parameter, remember_positions
from arm_common.ros.parameters import parameter
from arm_common.ros.tf import TransformError, TransformTree
from arm_common.transforms import Array, pose
from builtin_interfaces.msg import Time
from geometry_msgs.msg import PoseStamped
from sensor_msgs.msg import JointState
from transforms3d.quaternions import quat2mat

from arm_interfaces.srv import SolveIK
from arm_kinematics.chain.chain import Chain
from arm_kinematics.chain.robot import Robot
from arm_kinematics.errors import KinematicsError
from arm_kinematics.ros.transform_history import TooEarlyError, TransformHistory

_STATUS = SolveIK.Response


class RejectedError(KinematicsError):
    """A request is rejected, with BAD_REQUEST, NO_TRANSFORM or NOT_READY, or a code of MoveIt."""

    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.status = status


def fill_rejection(response: Any, error: KinematicsError) -> None:
    """Write an error to a response; one that the computation raises is of an invalid request."""
    if isinstance(error, RejectedError):
        response.status, response.message = error.status, str(error)
    else:
        response.status, response.message = _STATUS.BAD_REQUEST, f"{error}."


def bad_request(message: str) -> RejectedError:
    """Return the error of an invalid request."""
    return RejectedError(_STATUS.BAD_REQUEST, message)


_MAX_NAMES = 20  # in a message
_IDENTITY = np.eye(4)
_SHORTEST = 1e-9  # [s] of a timeout, which must be positive
_PERIOD = 0.005  # [s] between two looks for a transform that is not received yet
UNIT = 1e-3  # a quaternion's length may differ from 1 by this much
_M = TypeVar("_M")
_positive = partial(parameter, low=1e-6, high=3600.0)


@dataclass(frozen=True)
class KinematicsParameters:
    """Parameters of the node."""

    tip_frame: str = parameter(
        "", "Frame used for an empty tip_frame; empty: tool0, or the robot's only end."
    )
    prefix: str = prefix_parameter()
    default_timeout: float = _positive(1.0, "Time limit of requests that set none [s].")
    moveit_group: str = parameter(
        "arm",
        "Planning group of compute_ik, as in the SRDF; none: neither compute_ik nor"
        " compute_fk is served, for instance because move_group serves them.",
    )
    batch_timeout: float = _positive(
        30.0, "Time limit of a batch of inverse kinematics that sets none [s]."
    )
    path_timeout: float = _positive(30.0, "Time limit for planning a path [s].")
    default_velocity: float = _positive(
        1.0, "Speed limit of joints whose description has none [rad/s or m/s]."
    )
    default_acceleration: float = _positive(
        3.0, "Acceleration limit of joints whose description has none, per speed limit [1/s]."
    )


class RobotStateCache:
    """The latest robot, joint positions and frames."""

    def __init__(
        self, parameters: KinematicsParameters, tree: TransformTree, poll: Callable[[], None]
    ) -> None:
        """Start empty; ``poll`` is called before joint states or frames are used."""
        self.parameters = parameters
        self._tree, self._poll = tree, poll
        self.history = TransformHistory(tree)
        self.stamp = Time()  # of the last joint state
        self.positions: dict[str, float] = {}  # by name [rad or m]
        self._names = PrefixedNames(parameters.prefix)
        self._robot: Robot | None = None

    @property
    def robot(self) -> Robot:
        """The robot; raises RejectedError if its description has not been received yet."""
        if self._robot is None:
            raise RejectedError(
                _STATUS.NOT_READY,
                "No robot description has been received on robot_description yet.",
            )
        return self._robot

    def set_description(self, xml: str) -> Robot:
        """Use a robot description; raise KinematicsError, and change nothing, if it is invalid."""
        self._robot = Robot(xml)
        return self._robot

    def set_joints(self, message: JointState) -> None:
        """Store a joint state; entries that are not finite are skipped."""
        kept = self._robot.joint_names if self._robot else ()
        remember_positions(self.positions, message.name, message.position, kept)
        self.stamp = message.header.stamp

    @property
    def robot_id(self) -> str:
        """Name of the robot with the prefix, "" before its description has been received."""
        return self._names.add(self._robot.name) if self._robot else ""

    @property
    def default_tip(self) -> str:
        """The frame used for an empty tip_frame; raises RejectedError if it is ambiguous."""
        tip = self.link(self.parameters.tip_frame or "tool0")
        if self.parameters.tip_frame or tip in self.robot.links:
            return tip
        tips = self.robot.tips
        if len(tips) != 1:
            ends = ", ".join(tips[:_MAX_NAMES]) + (", ..." if len(tips) > _MAX_NAMES else "")
            raise bad_request(
                f"tip_frame is empty, and '{self.robot.name}' has no 'tool0' but {len(tips)} "
                f"ends: {ends or 'none that moves'}; name one, or any other link."
            )
        return tips[0]

    def link(self, name: str) -> str:
        """Return the robot's link for a name, which may lack the prefix."""
        return self._names.find(name, self.robot.links.__contains__)

    def frame(self, name: str) -> str:
        """Return the robot's link, or the frame of tf, for a name that may lack the prefix."""
        link = self.link(name)
        if not name or link in self.robot.links:
            return link
        self._poll()
        return self._names.find(link, self._tree.has)

    def joint(self, name: str) -> str:
        """Return the robot's joint for a name, which may lack the prefix."""
        robot = self.robot
        return self._names.find(name, (*robot.joint_names, *robot.followers).__contains__)

    def chain(self, tip: str) -> Chain:
        """Return the chain to a tip; an empty name means the default."""
        robot, link = self.robot, self.link(tip) if tip else self.default_tip
        try:
            return robot.chain(link)
        except KinematicsError as error:
            raise bad_request(f"tip_frame: {error}.") from error

    def joints(
        self, message: JointState, what: str, needed: Sequence[str] | None = None
    ) -> dict[str, float]:
        """Return the current joint positions, overwritten by those of the message.

        With ``needed``, other joints may be missing.
        """
        if not message.name and not message.position:
            self._poll()
            return self.positions
        given = self._given(message, what)
        if needed is not None and all(name in given for name in needed):
            return given
        self._poll()
        return {**self.positions, **given}

    def _given(self, message: JointState, what: str) -> dict[str, float]:
        """Return the positions in a message by name, checked against the robot's joints.

        Those of mimic joints, which joint_states may have, are ignored.
        """
        names, positions = [self.joint(name) for name in message.name], message.position
        if len(names) != len(positions):
            raise bad_request(f"{what}: {len(names)} names but {len(positions)} positions.")
        joints: dict[str, float] = dict(zip(names, positions, strict=True))
        if len(joints) < len(names):
            twice = next(name for name in names if names.count(name) > 1)
            raise bad_request(f"{what}: joint '{twice}' is given twice.")
        own = {n: position for n, position in joints.items() if n not in self.robot.followers}
        for name, position in own.items():
            check_joint(self.robot, name, what)
            if not math.isfinite(position):
                raise bad_request(f"{what}: the position of joint '{name}' is {position}.")
        return own

    def base_from(self, frame: str, time: float = 0.0, patience: float = 0.0) -> Array:
        """Return the transform base <- frame (4, 4); an empty frame is the base frame.

        The name may lack the prefix. The time is that of a stamp [s], as a buffer of tf2 takes it:
        0 means the newest transform. One that is not received within the patience is refused; the
        wait is in the thread of the executor, which handles nothing else meanwhile.
        """
        base = self.robot.base
        if not frame or (frame := self.frame(frame)) == base:
            return _IDENTITY
        self._poll()
        try:
            if time == 0.0:
                return self._tree.lookup(base, frame)
            return self._at(base, frame, time, monotonic() + patience)
        except TransformError as error:
            raise RejectedError(
                _STATUS.NO_TRANSFORM, f"No transform from '{frame}' to '{base}': {error}."
            ) from error

    def _at(self, base: str, frame: str, time: float, deadline: float) -> Array:
        """Look up the transform at a time; poll while it may still be received by the deadline."""
        while True:
            try:
                return self.history.lookup(base, frame, time)
            except TooEarlyError as error:
                if monotonic() + error.missing > deadline:
                    raise
            sleep(_PERIOD)
            self._poll()

    def pose(self, message: PoseStamped, what: str, patience: float | None = None) -> Array:
        """Return a pose in any frame of tf as (4, 4) in the base frame [m].

        The frame is where it was at the stamp; see ``base_from``. The default patience is the
        parameter default_timeout.
        """
        T = pose_matrix(message.pose.position, message.pose.orientation, what)
        if patience is None:
            patience = self.parameters.default_timeout
        header = message.header
        return self.base_from(header.frame_id, stamp_seconds(header.stamp), patience) @ T


def remaining(deadline: float) -> float:
    """Return the timeout [s] that is left until a time of the monotonic clock [s]."""
    return max(deadline - monotonic(), _SHORTEST)


def pose_matrix(p: Any, q: Any, what: str) -> Array:
    """Return the transform (4, 4) [m] of the position and the quaternion of a request."""
    length = math.hypot(q.x, q.y, q.z, q.w)
    position = p.x, p.y, p.z
    if not math.isfinite(length + sum(position)):
        raise bad_request(f"{what}: the pose contains NaN or infinity.")
    if abs(length - 1.0) > UNIT:
        raise bad_request(
            f"{what}: the quaternion has length {length:.6g} instead of 1; "
            "(0, 0, 0, 1) means no rotation."
        )
    return pose(quat2mat((q.w, q.x, q.y, q.z)), position)


def check_joint(robot: Robot, name: str, what: str) -> None:
    """Reject a name that does not belong to an independent joint."""
    if name not in robot.joint_names:
        raise bad_request(
            f"{what}: the robot has no joint '{name}'; it has {', '.join(robot.joint_names)}."
        )


def joint_vector(chain: Chain, joints: dict[str, float], what: str) -> Array:
    """Return the positions of a chain's joints (n,); raise RejectedError if some are unknown."""
    missing = [name for name in chain.joint_names if name not in joints]
    if missing:
        raise unknown_positions(missing, what)
    return np.array([joints[name] for name in chain.joint_names])


def unknown_positions(joints: Sequence[str], what: str) -> RejectedError:
    """Return the error of a request that needs unknown joint positions."""
    return RejectedError(
        _STATUS.NOT_READY,
        f"The position of {', '.join(joints)} is not known: it has not been received on "
        f"joint_states yet, and {what} does not give it.",
    )


def doubles(values: Array) -> array[float]:
    """Return numbers as an array that messages accept without checking each element."""
    return array("d", values.tobytes())


def reused(pool: list[_M], make: Callable[[], _M], count: int) -> list[_M]:
    """Return ``count`` messages of a growing pool, for reuse once the last response was sent.

    Callers must fill every field that any of them fills.
    """
    pool.extend(make() for _ in range(count - len(pool)))
    return pool[:count]
