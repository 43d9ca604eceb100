# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
# Tests: src/arm_description/test/urdf/test_appearance.py
"""Links and joints of an arm: skeleton, meshes, looks, masses and payload."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
from arm_common.transforms import Matrix

from arm_description.model.elements import (
    NO_MOTION,
    DependentJoint,
    Joint,
    LinkMass,
    Origin,
    Payload,
    dependent_joint,
    mimic_names,
)
from arm_description.model.gripper import Claw, Gripper, MountedTool
from arm_description.urdf.appearance import Skeleton
from arm_description.urdf.elements import (
    NO_EFFORT,
    UrdfGeometry,
    UrdfJoint,
    UrdfLimit,
    UrdfLink,
    UrdfMimic,
    UrdfParts,
)
from arm_description.urdf.joint_frames import JointFrames

if TYPE_CHECKING:
    from arm_description.robot_model import RobotModel

BASE, FLANGE, TOOL, PALM = "base_link", "flange", "tool0", "gripper_link"
TOOL_BODY = "tool_link"
PAYLOAD = "payload_link"
_SMALL = 0.002  # edge of a link between two coincident joints, which has only inertia [m]
# Between plastic (1200) and aluminium (2700), for parts that contain servos and air [kg/m^3].
DENSITY = 1800.0
_SAME = 1e-9  # [m] and of the elements of a rotation


def assemble(model: RobotModel, prefix: str, frames: JointFrames | None = None) -> UrdfParts:
    """Return base_link, one link per joint, flange, tool0, gripper, payload and all joints."""
    frames = frames or JointFrames(model)
    skeleton = Skeleton(model, frames)
    links = [UrdfLink(prefix + BASE, skeleton.base_shapes(), has_inertia=False)]
    joints: list[UrdfJoint] = []
    for index, (joint, origin) in enumerate(zip(model.rows, frames.joints, strict=True)):
        if isinstance(joint, DependentJoint):
            more = mimic_parts(model, joint, origin, links[-1].name, prefix)
            links, joints = [*links, *more.links], [*joints, *more.joints]
            links.append(UrdfLink(joints[-1].child, skeleton.link_shapes(index)))
            continue
        child = UrdfLink(f"{prefix}{joint.name}_link", skeleton.link_shapes(index))
        limit = UrdfLimit(joint.lower, joint.upper, joint.velocity, written_effort(joint))
        ends = (links[-1].name, child.name)
        joints.append(
            UrdfJoint(prefix + joint.name, joint.type, *ends, origin, joint.direction, limit)
        )
        links.append(child)
    joints.append(_fixed(prefix, links[-1].name, FLANGE, frames.dh[-1]))
    joints.append(_fixed(prefix, prefix + FLANGE, TOOL, model.tool))
    links += [UrdfLink(prefix + FLANGE), UrdfLink(prefix + TOOL)]
    if model.mounted:
        body = UrdfLink(prefix + TOOL_BODY, skeleton.tool_shapes(model.mounted))
        links.append(replace(body, look=model.mounted.body))
        joints.append(_fixed(prefix, prefix + FLANGE, TOOL_BODY, model.mounted.mount))
    if model.gripper:
        more = _gripper(model, model.gripper, skeleton, prefix)
        links, joints = [*links, *more.links], [*joints, *more.joints]
    if model.mounted:
        links = _sharing_mass(model, model.mounted, links, prefix)
    if model.payload:
        links.append(_payload_link(model, model.payload, prefix))
        joints.append(_fixed(prefix, prefix + TOOL, PAYLOAD, NO_MOTION))
    return UrdfParts(tuple(weighed(model, link, prefix) for link in links), tuple(joints))


def written_effort(joint: Joint) -> float:
    """Return the torque or force limit that a URDF has for a joint [N m or N]."""
    return joint.effort if joint.has_effort else NO_EFFORT


def _sharing_mass(
    model: RobotModel, tool: MountedTool, links: Sequence[UrdfLink], prefix: str
) -> list[UrdfLink]:
    """Return links where those of a mounted tool share its mass by their volumes."""
    fingers = model.gripper.joints if model.gripper else ()
    names = {prefix + name for name in (TOOL_BODY, PALM, *(f"{f}_link" for f in fingers))}
    volumes = {
        link.name: sum(shape.volume for shape in link.shapes)
        for link in links
        if link.name in names
    }
    density = tool.mass / (sum(volumes.values()) or 1.0)
    return [
        replace(link, mass=LinkMass(density * volumes[link.name]))
        if link.name in volumes
        else link
        for link in links
    ]


def weighed(model: RobotModel, link: UrdfLink, prefix: str) -> UrdfLink:
    """Return a link with the mass, mesh and look that the robot file gives it, if any."""
    name = link.name.removeprefix(prefix)
    mass, mesh = model.masses.get(name, link.mass), model.meshes.get(name)
    return replace(link, mass=mass, mesh=mesh, look=model.looks.get(name, link.look))


def mimic_parts(
    model: RobotModel, joint: DependentJoint, origin: Origin, parent: str, prefix: str
) -> UrdfParts:
    """Return a mimic joint for each term, on one axis, and the small links between them."""
    leaders = {leader.name: leader for leader in model.joints}
    largest = max(leaders[leader].effort for leader, _ in joint.terms)  # the default
    names = mimic_names(joint.name, joint.terms)
    ends = [*names[:-1], joint.name]
    joints = []
    for name, end, (leader, factor) in zip(names, ends, joint.terms, strict=True):
        single = dependent_joint(name, joint.type, joint.row, ((leader, factor),), leaders, 0)
        limit = UrdfLimit(
            math.nextafter(single.lower, -math.inf),  # no narrower than its leader by rounding
            math.nextafter(single.upper, math.inf),
            math.nextafter(single.velocity, math.inf),
            written_effort(joint if joint.effort != largest else single),
        )
        mimic = UrdfMimic(prefix + leader, factor, 0.0)
        child = f"{prefix}{end}_link"
        joints.append(
            UrdfJoint(
                prefix + name, joint.type, parent, child, origin, joint.direction, limit, mimic
            )
        )
        parent, origin = child, NO_MOTION
    small = UrdfGeometry("box", (_SMALL, _SMALL, _SMALL), NO_MOTION, model.colours.joints)
    between = tuple(UrdfLink(j.child, (small,), visible=False) for j in joints[:-1])
    return UrdfParts(between, tuple(joints))


def dh_frames(model: RobotModel, prefix: str, frames: JointFrames) -> UrdfParts:
    """Return the frames dh_0 .. dh_n as links fixed to the links they move with."""
    owners = [BASE, *(f"{joint.name}_link" for joint in model.rows)]
    names = [f"dh_{index}" for index in range(len(owners))]
    return UrdfParts(
        tuple(UrdfLink(prefix + name) for name in names),
        tuple(
            _fixed(prefix, prefix + owner, name, origin)
            for owner, name, origin in zip(owners, names, frames.dh, strict=True)
        ),
    )


def _fixed(prefix: str, parent: str, frame: str, origin: Origin) -> UrdfJoint:
    return UrdfJoint(f"{prefix}{frame}_fixed", "fixed", parent, prefix + frame, origin)


def _gripper(model: RobotModel, gripper: Gripper, skeleton: Skeleton, prefix: str) -> UrdfParts:
    palm = UrdfLink(prefix + PALM, skeleton.palm_shapes(gripper))
    links, joints = [palm], [_fixed(prefix, prefix + FLANGE, PALM, model.tool)]
    limit = UrdfLimit(*gripper.travel, gripper.velocity / 2, gripper.effort)
    for name, side in zip(gripper.joints, (-1, 1), strict=True):
        finger = UrdfLink(f"{prefix}{name}_link", skeleton.finger_shapes(gripper, side))
        joint = UrdfJoint(
            prefix + name,
            "prismatic",
            palm.name,
            finger.name,
            axis=(0.0, float(side), 0.0),
            limit=limit,
        )
        joints.append(_jaw(joint, gripper, gripper.claw, side, prefix) if gripper.claw else joint)
        links.append(finger)
    return UrdfParts(tuple(links), tuple(joints))


def _jaw(joint: UrdfJoint, gripper: Gripper, claw: Claw, side: int, prefix: str) -> UrdfJoint:
    """Return the joint of a claw's jaw: fixed, turning, or turning with the left one."""
    name = gripper.joints[side > 0]
    if name not in gripper.moving:
        face = Origin((0.0, side * claw.face, 0.0))
        return replace(joint, kind="fixed", origin=face, limit=None)
    leader = gripper.moving[0]
    return replace(
        joint,
        kind="revolute",
        origin=Origin((0.0, claw.pivot(side), -claw.reach)),
        axis=(float(-side), 0.0, 0.0),
        limit=UrdfLimit(
            *gripper.travel,
            gripper.velocity * gripper.fastest,
            gripper.effort * claw.length,
        ),
        mimic=None if name == leader else UrdfMimic(prefix + leader, 1.0, 0.0),
    )


def _payload_link(model: RobotModel, payload: Payload, prefix: str) -> UrdfLink:
    """Return the payload in tool0; without a size it has mass but no visible shape."""
    side = (payload.mass / DENSITY) ** (1 / 3)
    size = payload.size or (side, side, side)
    box = UrdfGeometry("box", size, Origin(payload.centre), model.colours.gripper)
    is_visible = payload.size is not None
    return UrdfLink(prefix + PAYLOAD, (box,), mass=LinkMass(payload.mass), visible=is_visible)


def changed_meshes(before: RobotModel, after: RobotModel) -> tuple[str, ...]:
    """Return a sentence for each link whose mesh was made for other DH numbers.

    Args:
        before: the robot for which its meshes fit.
        after: the same robot with other numbers.
    """
    kept = [link for link, mesh in after.meshes.items() if before.meshes.get(link) == mesh]
    if not kept or before == after:
        return ()
    old, new = _next_joints(before), _next_joints(after)
    return tuple(
        f"The mesh of {link} belongs to other DH numbers: the next joint was "
        f"{_distance(old[link]):.4g} m from its frame and is now {_distance(new[link]):.4g} m."
        for link in kept
        if link in old and link in new and np.abs(old[link] - new[link]).max() > _SAME
    )


def _next_joints(model: RobotModel) -> dict[str, Matrix]:
    """Return link -> (4, 4), link <- the first joint that it carries [m]."""
    return {joint.parent: joint.origin.matrix for joint in reversed(assemble(model, "").joints)}


def _distance(T: Matrix) -> float:
    return float(np.linalg.norm(T[:3, 3]))
