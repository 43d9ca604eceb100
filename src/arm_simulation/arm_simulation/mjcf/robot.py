# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""An arm as MJCF: bodies, inertias, limits, and a position actuator for each servo.

Bodies, joints and masses are those of its URDF, with every number written in full, so the forward
kinematics agree to rounding.

The shafts of its servos are lines over the joints that they move. MuJoCo drives a joint, or a
tendon whose length is a sum of joints. That is exact for gears, parallelograms, differentials and
several servos on a joint. A crank or a measured table has the tangent at one position;
:class:`Tangents` moves it along with the arm.
"""

from __future__ import annotations

import math
import xml.etree.ElementTree as ET
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from arm_common.transforms import Array, Matrix
from arm_common.yaml.colours import rgba
from arm_description.errors import DescriptionError
from arm_description.model.elements import (
    NO_MOTION,
    ActuatorLimits,
    DependentJoint,
    mimic_names,
)
from arm_description.model.gripper import Gripper
from arm_description.model.transmissions.transmission import (
    Drivetrain,
    LinearTransmission,
    Transmission,
)
from arm_description.robot_model import RobotModel
from arm_description.urdf.assembly import assemble, written_effort
from arm_description.urdf.bodies import inertia_doubt
from arm_description.urdf.elements import (
    UrdfGeometry,
    UrdfInertial,
    UrdfJoint,
    UrdfLink,
    UrdfMimic,
)
from arm_description.urdf.writer import link_inertia
from transforms3d.euler import euler2quat

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


@dataclass(frozen=True)
class Shaft:
    """A servo's shaft at ``shift + rates @ joints``, exactly or in the middle of their ranges."""

    name: str
    joints: tuple[str, ...]  # (k,)
    rates: tuple[float, ...]  # of the shaft per joint (k,)
    shift: float  # of the shaft [rad or m]
    slides: tuple[bool, ...]  # whether a joint is prismatic (k,)
    own_slides: bool  # whether the shaft's position is a length
    effort: float  # stall torque [N m or N]
    velocity: float  # that the robot file counts on [rad/s or m/s]
    limits: ActuatorLimits

    @property
    def is_joint(self) -> bool:
        """Whether it is the axis of a joint."""
        return self.rates == (1.0,) and self.shift == 0.0

    def scales(self, length: float) -> Array:
        """Return the factors of the rates (k,) where a metre has this many units."""
        own = length if self.own_slides else 1.0
        return np.array([own / (length if slides else 1.0) for slides in self.slides])


def shafts_of(model: RobotModel) -> tuple[Shaft, ...]:
    """Return the shafts of all servos but that of the gripper.

    The effort of a joint is what all servos of its transmission give together; one without an
    effort is as strong as its URDF says.
    """
    drives = Drivetrain.of(model).drives()
    return tuple(_shaft(model, name, *drive) for name, drive in drives.items())


def _shaft(model: RobotModel, name: str, transmission: Transmission, output: int) -> Shaft:
    by_name = {joint.name: joint for joint in model.joints}
    inputs = [by_name[joint] for joint in transmission.inputs]
    middle = [
        0.5 * (j.lower + j.upper) if math.isfinite(j.upper - j.lower) else 0.0 for j in inputs
    ]
    line, shift = _tangent(transmission, np.array(middle))
    own = min(output, len(transmission.joints) - 1)
    curved = not isinstance(transmission, LinearTransmission)
    moved = [i for i, rate in enumerate(line[output]) if rate != 0.0 or curved]
    return Shaft(
        name,
        tuple(inputs[i].name for i in moved),
        tuple(float(line[output, i]) for i in moved),
        float(shift[output]),
        tuple(inputs[i].type == "prismatic" for i in moved),
        inputs[own].type == "prismatic",
        written_effort(inputs[own]) / float(np.abs(line[:, own]).sum()),
        inputs[own].velocity * abs(float(line[output, own])),
        transmission.limits,
    )


def _tangent(transmission: Transmission, q: Array) -> tuple[Array, Array]:
    """Return rates (m, k) and shifts (m,) of the actuators with the inputs near q (k,)."""
    rates = transmission.jacobian(q)
    return rates, transmission.to_actuators(q) - rates @ q


class Tangents:
    """Keeps the tendons of curved transmissions tangent to them, in a compiled model."""

    def __init__(self, mj_model: Any, model: RobotModel, length: float) -> None:
        """Find the tendons; a metre has ``length`` units."""
        self._mj_model = mj_model
        drives = Drivetrain.of(model).drives()
        self._rows = [
            _TendonRow(mj_model, shaft, transmission, length)
            for shaft in shafts_of(model)
            if not isinstance(transmission := drives[shaft.name][0], LinearTransmission)
        ]

    def update(self, data: Any) -> None:
        """Put the tangents at the joints' positions."""
        for row in self._rows:
            row.update(self._mj_model, data)


class _TendonRow:
    """The tendon of one curved transmission."""

    def __init__(
        self, mj_model: Any, shaft: Shaft, transmission: Transmission, length: float
    ) -> None:
        self._transmission = transmission
        joints = [mj_model.joint(name).id for name in shaft.joints]
        self._qpos = mj_model.jnt_qposadr[joints]
        self._per_unit = np.where(shaft.slides, 1.0 / length, 1.0)
        self._scales = shaft.scales(length)
        self._own = length if shaft.own_slides else 1.0
        self._actuator = mj_model.actuator(shaft.name).id
        first = int(mj_model.tendon_adr[mj_model.tendon(shaft.name).id])
        self._coefficients = slice(first, first + len(joints))

    def update(self, mj_model: Any, data: Any) -> None:
        q = data.qpos[self._qpos] * self._per_unit
        rates, shift = _tangent(self._transmission, q)
        mj_model.wrap_prm[self._coefficients] = rates[0] * self._scales
        gain = mj_model.actuator_gainprm[self._actuator, 0]
        mj_model.actuator_biasprm[self._actuator, 0] = -gain * shift[0] * self._own


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
_ROUNDING = 1e-9  # of an inertia, relative to its largest moment
_COUPLED = "0.005 1"  # solref of joints that follow others
# Of links without a body, which MuJoCo needs.
_FRAME_MASS = 1e-4  # [kg]
_FRAME_INERTIA = 1e-8  # [kg m^2]


class RobotMjcf:
    """Adds one arm to an MJCF document."""

    def __init__(self, model: RobotModel, units: MjcfUnits = SI) -> None:
        self._model = model
        self._units = units
        self._parts = assemble(model, "")
        self._children: dict[str, list[UrdfJoint]] = {}
        for joint in self._parts.joints:
            self._children.setdefault(joint.parent, []).append(joint)
        self._links = {link.name: link for link in self._parts.links}
        self._shafts = shafts_of(model)
        direct = [shaft for shaft in self._shafts if shaft.is_joint]
        # The first servo of a joint drives it, each other one a tendon with its own friction.
        self._direct = {shaft.joints[0]: shaft for shaft in reversed(direct)}
        self._dependents = {mimic_names(d.name, d.terms)[0]: d for d in model.dependents}
        self._pads = {f"{name}_link" for name in model.gripper.joints} if model.gripper else set()
        self._motors = self._motors_at_joints()

    def add_to(self, root: ET.Element) -> None:
        """Add bodies, actuators and couplings; base_link is the world."""
        base = self._parts.links[0]
        body = ET.SubElement(section(root, "worldbody"), "body", name=base.name)
        self._fill(body, base)
        for dependent in self._model.dependents:
            self._couple_dependent(root, dependent)
        joints = {joint.name: joint for joint in self._parts.joints}
        for shaft in self._shafts:
            if self._direct.get(shaft.joints[0]) is shaft:
                self._actuate(root, joints[shaft.joints[0]], shaft.name)
            else:
                self._actuate_linkage(root, shaft)
        if self._model.gripper:
            self._add_gripper(root, self._model.gripper)

    def _motors_at_joints(self) -> dict[str, tuple[float, float]]:
        """Return effort and velocity of the motors that turn a joint itself, by its name."""
        jaws = self._model.gripper.moving if self._model.gripper else ()
        limits = {joint.name: joint.limit for joint in self._parts.joints}
        found = {name: (limit.effort, limit.velocity) for name in jaws if (limit := limits[name])}
        return found | {k: (shaft.effort, shaft.velocity) for k, shaft in self._direct.items()}

    def _fill(self, body: ET.Element, link: UrdfLink) -> None:
        for shape in link.shapes if link.visible else ():
            self._add_geom(body, link, shape)
        for joint in self._children.get(link.name, ()):
            self._add_child(body, joint)

    def _add_child(self, parent: ET.Element, joint: UrdfJoint) -> None:
        if (dependent := self._dependents.get(joint.name)) is not None:
            # One joint for its coincident mimic joints: the solver takes for weak what moves as
            # little as the links between them. The joints that it follows limit it.
            child = f"{dependent.name}_link"
            joint = replace(joint, name=dependent.name, child=child, limit=None)
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
        if joint.name in self._motors:
            self._add_motor(element, *self._motors[joint.name], slides)
        return element

    def _add_motor(
        self, element: ET.Element, effort: float, velocity: float, slides: bool
    ) -> None:
        """Give a joint or tendon the friction and inertia of its servo."""
        per_speed = self._units.mass if slides else self._units.torque
        per_effort = self._units.force if slides else self._units.torque
        damping = SERVO.damping(effort, velocity)
        element.set("damping", words([damping * per_speed]))
        element.set("armature", words([damping * SERVO.time_constant * per_speed]))
        element.set("frictionloss", words([effort * SERVO.friction * per_effort]))

    def _add_inertia(self, body: ET.Element, link: UrdfLink, moves: bool) -> None:
        units = self._units
        inertia = link_inertia(link)
        if inertia is None and not moves:
            return
        mass, centre, tensor = inertia or (_FRAME_MASS, np.zeros(3), np.eye(3) * _FRAME_INERTIA)
        tensor = _accepted_inertia(link.name, tensor)
        if moves and inertia is not None:
            mass = max(mass, _FRAME_MASS)
            tensor = tensor if tensor.any() else np.eye(3) * _FRAME_INERTIA
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
            "rgba": words((*rgba(shape.colour)[:3], 1.0)),
            "mass": "0",
            **ARM,
        }
        if link.name in self._pads:
            # Rubber pads: dry friction of 0.8 (assumed), and against turning about the contact.
            values |= {"friction": "0.8 0.005 0.0001", "condim": "4", **FIRM}
        ET.SubElement(body, "geom", values)

    def _actuate(self, root: ET.Element, joint: UrdfJoint, name: str) -> None:
        if joint.limit is None:
            return
        effort, _ = self._motors[joint.name]
        kp, most = self._drive(effort, joint.kind == "prismatic")
        values = {"name": name, "joint": joint.name, "kp": words([kp]), "forcerange": most}
        if joint.kind != "continuous":
            scale = self._units.length if joint.kind == "prismatic" else 1.0
            values["ctrlrange"] = words((joint.limit.lower * scale, joint.limit.upper * scale))
        ET.SubElement(section(root, "actuator"), "position", values)

    def _drive(self, effort: float, slides: bool) -> tuple[float, str]:
        """Return the gain of a servo and the range of its torque, in units of the document."""
        units = self._units
        kp = SERVO.stiffness(effort, slides) * (units.mass if slides else units.torque)
        most = effort * (units.force if slides else units.torque)
        return kp, words((-most, most))

    def _actuate_linkage(self, root: ET.Element, shaft: Shaft) -> None:
        """Drive a sum of joints; the control is the position of the servo's shaft."""
        scale = self._units.length if shaft.own_slides else 1.0
        tendon = ET.SubElement(section(root, "tendon"), "fixed", name=shaft.name)
        self._add_motor(tendon, shaft.effort, shaft.velocity, shaft.own_slides)
        rates = shaft.scales(self._units.length) * shaft.rates
        for joint, rate in zip(shaft.joints, rates, strict=True):
            ET.SubElement(tendon, "joint", joint=joint, coef=words([rate]))
        kp, most = self._drive(shaft.effort, shaft.own_slides)
        values = {"name": shaft.name, "tendon": shaft.name, "forcerange": most}
        values |= {"gainprm": words([kp]), "biastype": "affine"}
        values["biasprm"] = words((-kp * shaft.shift * scale, -kp, 0.0))
        lower, upper = shaft.limits.lower, shaft.limits.upper
        if math.isfinite(upper - lower):
            values["ctrlrange"] = words((lower * scale, upper * scale))
        ET.SubElement(section(root, "actuator"), "general", values)

    def _add_gripper(self, root: ET.Element, gripper: Gripper) -> None:
        """Drive the width of sliding fingers, which a rack couples, or the angle of a claw."""
        leader = next(j for j in self._parts.joints if j.name == gripper.moving[0])
        if gripper.claw is not None:
            self._actuate(root, leader, GRIPPER)
            for joint in self._parts.joints:
                if joint.name in gripper.moving and joint.mimic is not None:
                    self._couple(root, joint.name, joint.mimic)
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
            "kp": words([SERVO.stiffness(effort, False) / travel * units.mass]),
            "forcerange": words((-effort * units.force, effort * units.force)),
            "ctrlrange": words(widths),
        }
        ET.SubElement(section(root, "actuator"), "position", values)
        self._couple(root, right, UrdfMimic(left, 1.0, 0.0))

    def _couple_dependent(self, root: ET.Element, dependent: DependentJoint) -> None:
        """Hold a joint at its sum of others: a tendon over all of them keeps its length 0."""
        if len(dependent.terms) == 1:
            self._couple(root, dependent.name, UrdfMimic(*dependent.terms[0], 0.0))
            return
        tendon = ET.SubElement(section(root, "tendon"), "fixed", name=dependent.name)
        for joint, factor in ((dependent.name, -1.0), *dependent.terms):
            ET.SubElement(tendon, "joint", joint=joint, coef=words([factor]))
        values = {"tendon1": dependent.name, "solref": _COUPLED}
        ET.SubElement(section(root, "equality"), "tendon", values)

    def _couple(self, root: ET.Element, follower: str, mimic: UrdfMimic) -> None:
        values = {
            "joint1": follower,
            "joint2": mimic.joint,
            "polycoef": words((mimic.offset, mimic.multiplier, 0.0, 0.0, 0.0)),
            "solref": _COUPLED,
        }
        ET.SubElement(section(root, "equality"), "joint", values)


def _accepted_inertia(link: str, tensor: Matrix) -> Matrix:
    """Return an inertia without the rounding errors for which MuJoCo would refuse it.

    Raises:
        DescriptionError: no body can have it.
    """
    moments, axes = np.linalg.eigh(tensor)
    smallest = _ROUNDING * moments[2]
    if moments[0] >= smallest and moments[0] + moments[1] >= moments[2]:
        return tensor
    inertial = UrdfInertial(link, 0.0, NO_MOTION, tuple(tensor[np.triu_indices(3)]))
    if doubt := inertia_doubt(inertial):
        remedy = f"correct masses.{link}.inertia: MuJoCo and Gazebo refuse it"
        raise DescriptionError(doubt, remedy=remedy)
    moments = np.maximum(moments, smallest)
    moments[2] = min(moments[2], (moments[0] + moments[1]) * (1.0 - _ROUNDING))
    accepted: Matrix = axes @ np.diag(moments) @ axes.T
    return accepted


def robot_mjcf(model: RobotModel, units: MjcfUnits = SI) -> str:
    """Return an arm as MJCF text, in SI units unless others are given.

    Its actuators are named like the servos' shafts, as a rule like the joints; the control of
    "gripper" is the width of the jaws, or the angle of a claw.
    """
    root = document(model.name, units)
    RobotMjcf(model, units).add_to(root)
    return xml_text(root)
