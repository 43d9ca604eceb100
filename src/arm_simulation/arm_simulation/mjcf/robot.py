# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""An arm as MJCF: bodies, inertias, limits, and a position actuator for each joint.

Bodies, joints and masses are those of its URDF, with every number written in full, so the forward
kinematics agree to rounding.
"""

from __future__ import annotations

import math
import xml.etree.ElementTree as ET
from dataclasses import dataclass

import numpy as np
from arm_description.model.elements import rgb
from arm_description.urdf.assembly import assemble
from arm_description.urdf.elements import UrdfGeometry, UrdfJoint, UrdfLink, UrdfMimic
from arm_description.urdf.writer import inertia_of
from transforms3d.euler import euler2quat

from arm_description import Gripper, RobotModel
from arm_simulation.mjcf.elements import (
    ARM,
    FIRM,
    SI,
    MjcfUnits,
    document,
    geom_size,
    section,
    words,
    xml_text,
)

GRIPPER = "gripper"  # actuator and tendon of the jaws; its control is their width


@dataclass(frozen=True)
class ServoDynamics:
    """How a servo turns an error of position into a torque; relative to the joint's own limits.

    The shares are assumed for hobby servos of about 1 N m, not measured: full torque at an error
    of 4 degrees; without load twice the speed that the robot file counts on; dry friction of the
    gears of 5 % of the stall torque; a mechanical time constant of 10 ms.
    """

    stall_error: float = math.radians(4.0)  # [rad], or the same number of radii of 0.1 m
    no_load_speed: float = 2.0  # of the joint's velocity limit
    friction: float = 0.05  # of its effort limit
    time_constant: float = 0.01  # [s]

    def damping(self, effort: float, velocity: float) -> float:
        """Return the torque per speed [N m s/rad]: a motor's torque falls linearly with speed."""
        return effort / (self.no_load_speed * velocity)

    def stiffness(self, effort: float, slides: bool) -> float:
        """Return the torque per error [N m/rad], or the force per error of a slide [N/m]."""
        return effort / (self.stall_error * (0.1 if slides else 1.0))


SERVO = ServoDynamics()
_FRAME_MASS, _FRAME_INERTIA = (
    1e-4,
    1e-8,
)  # of links without a body, which MuJoCo needs [kg, kg m^2]


class RobotMjcf:
    """Adds one arm to an MJCF document."""

    def __init__(self, model: RobotModel, units: MjcfUnits = SI, servo: ServoDynamics = SERVO):
        self._model = model
        self._units = units
        self._servo = servo
        self._parts = assemble(model, "")
        self._children: dict[str, list[UrdfJoint]] = {}
        for joint in self._parts.joints:
            self._children.setdefault(joint.parent, []).append(joint)
        self._links = {link.name: link for link in self._parts.links}
        self._fingers = model.gripper.moving if model.gripper else ()
        self._pads = {f"{name}_link" for name in model.gripper.joints} if model.gripper else set()

    def add_to(self, root: ET.Element) -> None:
        """Add bodies, actuators and couplings; base_link is the world."""
        base = self._parts.links[0]
        body = ET.SubElement(section(root, "worldbody"), "body", name=base.name)
        self._fill(body, base)
        for joint in self._parts.joints:
            if joint.mimic is not None:
                self._couple(root, joint.name, joint.mimic)
            elif joint.kind != "fixed" and joint.name not in self._fingers:
                self._actuate(root, joint)
        if self._model.gripper:
            self._add_gripper(root, self._model.gripper)

    def _fill(self, body: ET.Element, link: UrdfLink) -> None:
        for shape in link.shapes if link.visible else ():
            self._add_geom(body, link, shape)
        for joint in self._children.get(link.name, ()):
            self._add_child(body, joint)

    def _add_child(self, parent: ET.Element, joint: UrdfJoint) -> None:
        link, units = self._links[joint.child], self._units
        origin = joint.origin
        at = words(value * units.length for value in origin.xyz)
        quat = words(euler2quat(*origin.rpy, "sxyz"))
        body = ET.SubElement(parent, "body", name=link.name, pos=at, quat=quat)
        if joint.kind != "fixed":
            body.append(self._joint(joint))
        self._add_inertia(body, link, moves=joint.kind != "fixed")
        self._fill(body, link)

    def _joint(self, joint: UrdfJoint) -> ET.Element:
        slides = joint.kind == "prismatic"
        element = ET.Element("joint", name=joint.name, type="slide" if slides else "hinge")
        element.set("axis", words(joint.axis))
        if joint.limit is None:
            return element
        scale = self._units.length if slides else 1.0
        if joint.kind != "continuous":
            element.set("range", words((joint.limit.lower * scale, joint.limit.upper * scale)))
        per_speed = self._units.mass if slides else self._units.torque
        effort, damping = joint.limit.effort, self._damping(joint)
        per_effort = self._units.force if slides else self._units.torque
        element.set("damping", words([damping * per_speed]))
        element.set("armature", words([damping * self._servo.time_constant * per_speed]))
        element.set("frictionloss", words([effort * self._servo.friction * per_effort]))
        return element

    def _damping(self, joint: UrdfJoint) -> float:
        assert joint.limit is not None
        return self._servo.damping(joint.limit.effort, joint.limit.velocity)

    def _add_inertia(self, body: ET.Element, link: UrdfLink, moves: bool) -> None:
        units = self._units
        if link.shapes and link.has_inertia:
            mass, centre, tensor = inertia_of(link.shapes, link.mass)
        elif moves:
            mass, centre, tensor = _FRAME_MASS, np.zeros(3), np.eye(3) * _FRAME_INERTIA
        else:
            return
        moments = [tensor[i, j] for i, j in ((0, 0), (1, 1), (2, 2), (0, 1), (0, 2), (1, 2))]
        full = words(np.array(moments) * units.torque)
        at = words(centre * units.length)
        weight = words([mass * units.mass])
        ET.SubElement(body, "inertial", pos=at, mass=weight, fullinertia=full)

    def _add_geom(self, body: ET.Element, link: UrdfLink, shape: UrdfGeometry) -> None:
        values = {
            "type": shape.kind,
            "size": geom_size(shape.kind, shape.size, self._units),
            "pos": words(value * self._units.length for value in shape.origin.xyz),
            "quat": words(euler2quat(*shape.origin.rpy, "sxyz")),
            "rgba": words((*rgb(shape.colour), 1.0)),
            "mass": "0",
            **ARM,
        }
        if link.name in self._pads:
            # Rubber pads: dry friction of 0.8 (assumed), and against turning about the contact.
            values |= {"friction": "0.8 0.005 0.0001", "condim": "4", **FIRM}
        ET.SubElement(body, "geom", values)

    def _actuate(self, root: ET.Element, joint: UrdfJoint, name: str = "") -> None:
        if joint.limit is None:
            return
        slides = joint.kind == "prismatic"
        units = self._units
        kp = self._servo.stiffness(joint.limit.effort, slides)
        most = joint.limit.effort * (units.force if slides else units.torque)
        values = {
            "name": name or joint.name,
            "joint": joint.name,
            "kp": words([kp * (units.mass if slides else units.torque)]),
            "forcerange": words((-most, most)),
        }
        if joint.kind != "continuous":
            scale = units.length if slides else 1.0
            values["ctrlrange"] = words((joint.limit.lower * scale, joint.limit.upper * scale))
        ET.SubElement(section(root, "actuator"), "position", values)

    def _add_gripper(self, root: ET.Element, gripper: Gripper) -> None:
        """Drive the width of sliding fingers, which a rack couples, or the angle of a claw."""
        leader = next(j for j in self._parts.joints if j.name == gripper.moving[0])
        if gripper.claw is not None:
            self._actuate(root, leader, GRIPPER)
            return
        left, right = gripper.joints
        tendon = ET.SubElement(section(root, "tendon"), "fixed", name=GRIPPER)
        for finger in (left, right):
            ET.SubElement(tendon, "joint", joint=finger, coef="1")
        assert leader.limit is not None
        effort, units = leader.limit.effort, self._units
        travel = (gripper.max_width - gripper.min_width) / (math.pi / 2.0)  # [m/rad]
        widths = (gripper.min_width * units.length, gripper.max_width * units.length)
        values = {
            "name": GRIPPER,
            "tendon": GRIPPER,
            # the whole travel is a quarter turn of the servo
            "kp": words([self._servo.stiffness(effort, False) / travel * units.mass]),
            "forcerange": words((-effort * units.force, effort * units.force)),
            "ctrlrange": words(widths),
        }
        ET.SubElement(section(root, "actuator"), "position", values)
        self._couple(root, right, UrdfMimic(left, 1.0, 0.0))

    def _couple(self, root: ET.Element, follower: str, mimic: UrdfMimic) -> None:
        values = {
            "joint1": follower,
            "joint2": mimic.joint,
            "polycoef": words((mimic.offset, mimic.multiplier, 0.0, 0.0, 0.0)),
            "solref": "0.005 1",
        }
        ET.SubElement(section(root, "equality"), "joint", values)


def robot_mjcf(model: RobotModel, units: MjcfUnits = SI) -> str:
    """Return an arm as MJCF text, in SI units unless others are given.

    Its actuators are named like the joints, and "gripper", whose control is the width of
    the jaws, or the angle of a claw.
    """
    root = document(model.name, units)
    RobotMjcf(model, units).add_to(root)
    return xml_text(root)
