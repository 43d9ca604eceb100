# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""All links and joints of an arm.

What a robot file adds to the skeleton: masses and meshes of links, and the payload.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from arm_description.model.elements import NO_MOTION, Gripper, Joint, Origin, Payload
from arm_description.urdf.appearance import base_shapes, finger_shapes, link_shapes, palm_shapes
from arm_description.urdf.elements import UrdfGeometry, UrdfJoint, UrdfLimit, UrdfLink, UrdfParts
from arm_description.urdf.inertia import DENSITY
from arm_description.urdf.joint_frames import dh_origins, joint_origins

if TYPE_CHECKING:
    from arm_description.robot_model import RobotModel

PAYLOAD = "payload_link"


def dressed(model: RobotModel, link: UrdfLink, prefix: str) -> UrdfLink:
    """A link with the mesh and the mass that the robot file gives it."""
    name = link.name.removeprefix(prefix)
    return replace(
        link, mass=model.masses.get(name, link.mass), mesh=model.meshes.get(name, link.mesh)
    )


def payload_link(model: RobotModel, payload: Payload, prefix: str) -> UrdfLink:
    """The payload, in a frame that is tool0's; of no given size it weighs, and is not seen."""
    side = (payload.mass / DENSITY) ** (1 / 3)
    size = payload.size or (side, side, side)
    box = UrdfGeometry("box", size, Origin(payload.centre), model.colours.gripper)
    seen = payload.size is not None
    return UrdfLink(prefix + PAYLOAD, (box,), mass=payload.mass, seen=seen)


BASE, FLANGE, TOOL, PALM = "base_link", "flange", "tool0", "gripper_link"
FINGER_EFFORT = 10.0


def assemble(model: RobotModel, prefix: str) -> UrdfParts:
    """Arm and gripper: base_link, a link a joint, flange, tool0, gripper, payload."""
    links = [UrdfLink(prefix + BASE, base_shapes(model), weighs=False)]
    joints = []
    for index, (joint, origin) in enumerate(zip(model.joints, joint_origins(model), strict=True)):
        child = UrdfLink(f"{prefix}{joint.name}_link", link_shapes(model, index))
        joints.append(_moving(joint, prefix, links[-1].name, child.name, origin))
        links.append(child)
    tip = dh_origins(model)[-1]
    joints.append(_fixed(prefix, links[-1].name, FLANGE, tip))
    joints.append(_fixed(prefix, prefix + FLANGE, TOOL, model.tool))
    links += [UrdfLink(prefix + FLANGE), UrdfLink(prefix + TOOL)]
    if model.gripper:
        more = _gripper(model, model.gripper, prefix)
        links, joints = [*links, *more.links], [*joints, *more.joints]
    if model.payload:
        links.append(payload_link(model, model.payload, prefix))
        joints.append(_fixed(prefix, prefix + TOOL, PAYLOAD, NO_MOTION))
    return UrdfParts(tuple(dressed(model, link, prefix) for link in links), tuple(joints))


def dh_frames(model: RobotModel, prefix: str) -> UrdfParts:
    """Frames dh_0 .. dh_n, each on the link it moves with."""
    owners = [BASE, *(f"{name}_link" for name in model.joint_names)]
    names = [f"dh_{index}" for index in range(len(owners))]
    return UrdfParts(
        tuple(UrdfLink(prefix + name) for name in names),
        tuple(
            _fixed(prefix, prefix + owner, name, origin)
            for owner, name, origin in zip(owners, names, dh_origins(model), strict=True)
        ),
    )


def mounted(parts: UrdfParts, prefix: str, parent: str, mount: Origin) -> UrdfParts:
    """The arm standing on a link of another name."""
    joint = UrdfJoint(f"{prefix}mount", "fixed", parent, prefix + BASE, mount)
    return UrdfParts((UrdfLink(parent), *parts.links), (joint, *parts.joints))


def _moving(joint: Joint, prefix: str, parent: str, child: str, origin: Origin) -> UrdfJoint:
    limit = UrdfLimit(joint.lower, joint.upper, joint.velocity, joint.effort)
    return UrdfJoint(
        prefix + joint.name, joint.type, parent, child, origin, joint.direction, limit
    )


def _fixed(prefix: str, parent: str, frame: str, origin: Origin) -> UrdfJoint:
    return UrdfJoint(f"{prefix}{frame}_fixed", "fixed", parent, prefix + frame, origin)


def _gripper(model: RobotModel, gripper: Gripper, prefix: str) -> UrdfParts:
    palm = UrdfLink(prefix + PALM, palm_shapes(model, gripper))
    links, joints = [palm], [_fixed(prefix, prefix + FLANGE, PALM, model.tool)]
    limit = UrdfLimit(
        gripper.min_width / 2, gripper.max_width / 2, gripper.velocity / 2, FINGER_EFFORT
    )
    for name, side in zip(gripper.joints, (-1, 1), strict=True):
        finger = UrdfLink(f"{prefix}{name}_link", finger_shapes(model, gripper, side))
        axis = (0.0, float(side), 0.0)
        joints.append(
            UrdfJoint(prefix + name, "prismatic", palm.name, finger.name, axis=axis, limit=limit)
        )
        links.append(finger)
    return UrdfParts(tuple(links), tuple(joints))
