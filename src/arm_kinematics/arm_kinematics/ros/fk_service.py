# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
# Tests: src/arm_kinematics/test/ros/test_node.py
"""The services solve_fk, get_jacobian and solve_dynamics."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from arm_common.ros.message_conversions import fill_pose
from arm_common.transforms import Array, inverse
from arm_description.model.elements import Payload
from geometry_msgs.msg import PoseStamped

from arm_interfaces.srv import GetJacobian, SolveDynamics, SolveFK
from arm_kinematics.chain.chain import Chain
from arm_kinematics.chain.rigid_body import GRAVITY
from arm_kinematics.chain.robot import MissingJointsError
from arm_kinematics.dexterity.conditioning import measures
from arm_kinematics.dexterity.loads import ActuatorLoads
from arm_kinematics.errors import KinematicsError
from arm_kinematics.ros.robot_state import (
    RobotStateCache,
    bad_request,
    check_joint,
    doubles,
    joint_vector,
    reused,
    unknown_positions,
)


class FkService:
    """Serves solve_fk."""

    def __init__(self, state: RobotStateCache) -> None:
        self._state = state
        self._messages: list[PoseStamped] = []

    def answer(self, request: SolveFK.Request, response: SolveFK.Response) -> None:
        """Fill the response with the poses of the links; raise RejectedError if that fails."""
        state = self._state
        joints = state.joints(request.joint_state, "joint_state")
        frame = state.frame(request.reference_frame) or state.robot.base
        links = [state.link(name) for name in request.links] or [state.default_tip]
        poses = [_pose(state, link, joints, "links") for link in links]
        if frame != state.robot.base:
            if frame in state.robot.links:
                reference = _pose(state, frame, joints, "reference_frame")
            else:
                reference = state.base_from(frame)
            into = inverse(reference)
            poses = [into @ pose for pose in poses]
        joint_state = request.joint_state
        stamp = joint_state.header.stamp if joint_state.name else state.stamp
        messages = reused(self._messages, PoseStamped, len(poses))
        for message, pose in zip(messages, poses, strict=True):
            message.header.frame_id, message.header.stamp = frame, stamp
            fill_pose(message.pose.position, message.pose.orientation, pose)
        response.poses, response.links = messages, links
        response.status = SolveFK.Response.SUCCESS
        what = f"Poses of {len(links)} links" if len(links) > 1 else f"Pose of '{links[0]}'"
        response.message = f"{what} in '{frame}'."


def get_jacobian(
    state: RobotStateCache, request: GetJacobian.Request, response: GetJacobian.Response
) -> None:
    """Fill the response with Jacobian and measures; raise RejectedError if that fails."""
    chain = state.chain(request.tip_frame)
    joints = state.joints(request.joint_state, "joint_state", chain.joint_names)
    J = chain.jacobian(joint_vector(chain, joints, "joint_state"))
    response.joint_names = list(chain.joint_names)
    response.jacobian = doubles(J)
    response.manipulability, response.condition_number = measures(J)
    response.status = GetJacobian.Response.SUCCESS
    response.message = f"Jacobian of '{chain.tip}' along the axes of '{chain.base}'."


def solve_dynamics(
    state: RobotStateCache, request: SolveDynamics.Request, response: SolveDynamics.Response
) -> None:
    """Fill the response with torques and inertia; raise RejectedError if that fails."""
    chain, given = state.chain(request.tip_frame), request.joint_state
    joints = state.joints(given, "joint_state", chain.joint_names)
    q = joint_vector(chain, joints, "joint_state")
    speeds = _rates(state, chain, given.name, given.velocity, "joint_state.velocity")
    rates = _rates(state, chain, given.name, request.acceleration, "acceleration")
    payload, gravity = _payload(request), _gravity(request)
    tau = chain.inverse_dynamics(q, speeds, rates, payload, gravity)
    held = chain.gravity_torques(q, payload, gravity)
    inertia = chain.inertia_matrix(q, payload)
    loads = ActuatorLoads(chain)
    capacity = float(loads.payload_capacity(q, gravity=gravity)[0])
    shares = loads.shares(q[None], tau[None])[0]
    response.joint_names = list(chain.joint_names)
    response.torques, response.gravity_torques = doubles(tau), doubles(held)
    response.shares, response.inertia = doubles(shares), doubles(inertia)
    response.payload_capacity = capacity
    response.status = SolveDynamics.Response.SUCCESS
    response.message = _most_loaded(chain, shares)


def _most_loaded(chain: Chain, shares: Array) -> str:
    """Return a sentence about the joint that is loaded most."""
    if not np.isfinite(chain.effort).any():
        return "Torques; the robot description limits none (effort)."
    most = int(np.argmax(np.abs(shares)))
    share = 100.0 * abs(shares[most])
    return f"Joint '{chain.joint_names[most]}' is loaded most: {share:.0f} % of its effort limit."


def _rates(
    state: RobotStateCache, chain: Chain, names: Sequence[str], values: Sequence[float], what: str
) -> Array:
    """Return speeds or accelerations (n,) of a chain's joints, 0 for those not named."""
    if len(values) not in (0, len(names)):
        raise bad_request(f"{what}: {len(values)} numbers for {len(names)} joints in joint_state.")
    by_name = {state.joint(name): value for name, value in zip(names, values, strict=False)}
    for name, value in by_name.items():
        if name not in state.robot.followers:
            check_joint(state.robot, name, what)
            if not math.isfinite(value):
                raise bad_request(f"{what}: the value of joint '{name}' is {value}.")
    return np.array([by_name.get(name, 0.0) for name in chain.joint_names])


def _payload(request: SolveDynamics.Request) -> Payload | None:
    """Return the payload of a request, None if it has no mass."""
    centre, size = request.payload_centre, request.payload_size
    numbers = (centre.x, centre.y, centre.z, size.x, size.y, size.z)
    if not (0.0 <= request.payload_mass < math.inf and all(map(math.isfinite, numbers))):
        raise bad_request(
            f"payload_mass is {request.payload_mass:g}, with centre and size {numbers}; expected "
            "0 kg or more and finite lengths."
        )
    if min(numbers[3:]) < 0.0:
        raise bad_request(f"payload_size is {numbers[3:]}; expected lengths of 0 m or more.")
    box = numbers[3:] if any(numbers[3:]) else None
    return Payload(request.payload_mass, numbers[:3], box) if request.payload_mass else None


def _gravity(request: SolveDynamics.Request) -> Array:
    """Return the acceleration of free fall (3,) of a request."""
    g = np.array([request.gravity.x, request.gravity.y, request.gravity.z])
    if not np.isfinite(g).all():
        raise bad_request("gravity: contains NaN or infinity.")
    return g if g.any() else GRAVITY


def _pose(state: RobotStateCache, link: str, joints: dict[str, float], what: str) -> Array:
    try:
        return state.robot.link_pose(link, joints)
    except MissingJointsError as error:
        raise unknown_positions(error.joints, "joint_state") from error
    except KinematicsError as error:
        raise bad_request(f"{what}: {error}.") from error
