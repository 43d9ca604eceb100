# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""A nut, a level bolt, and compliant jaws without an arm, in both worlds.

The jaws follow a target through springs, as those of an arm that yields: 2 N/mm and 30 N mm/deg,
unless another stiffness is given. Both worlds get the same motions.
"""

from __future__ import annotations

import math
import xml.etree.ElementTree as ET
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

import mujoco
import numpy as np
from arm_common.transforms import Array, inverse, pose, shift_z, turn_z
from arm_simulation.contact.model_cache import compiled
from arm_simulation.contact.world import scene_mjcf
from arm_simulation.geometric.world import NutWorld
from arm_simulation.mjcf.elements import ARM, CGS, FIRM, placement, section, words
from arm_tasks.scene.file import load_scene
from arm_tasks.scene.nut_state import NutStatus
from arm_tasks.scene.scene import Scene

from arm_description import load_robot

BOLT = "lower_bolt"
PIN = {"pitch": 0.0, "diameter": 4e-3, "length": 15e-3}  # of nut_over_pin
OPEN, SHUT = 20e-3, 10.3e-3  # widths of the jaws [m]
ACROSS = math.radians(90.0)  # roll of the tool against the nut: its y is normal to a flat
_STEP = 1e-3  # [s]
_MASS = 0.06  # of the jaws [kg]
_INERTIA = 6e-5  # of the jaws [kg m^2]
_FINGER = 0.01  # mass of one [kg]
_PAD = (9e-3, 4e-3, 10e-3)  # x, y, z of a pad [m]
_GRIP_STIFFNESS = 2e4  # [N/m], up to the grip force


@dataclass(frozen=True)
class Setting:
    """How stiff the arm is and how firm the grip.

    Attributes:
        lateral: Stiffness of the tool [N/m].
        angular: The same [N m/rad].
        grip: Force of a jaw [N].
    """

    lateral: float = 2e3
    angular: float = math.degrees(0.03)
    grip: float = 10.0


@dataclass(frozen=True)
class Motion:
    """A straight motion of the jaws: the target bolt <- tool (4, 4) [m], width [m], time [s]."""

    T: Array
    width: float
    seconds: float


@dataclass(frozen=True)
class NutEnd:
    """The nut at the end: on the bolt or not, in the jaws or not, depth of the tip in it [m]."""

    on_bolt: bool
    held: bool
    depth: float
    turned: float  # about the bolt's axis since the start [rad], within half a turn

    @property
    def came_off(self) -> bool:
        """Whether the jaws have it and the bolt has not."""
        return self.held and not self.on_bolt

    @property
    def unscrewed(self) -> bool:
        """Whether the jaws hold it and have turned it back by 30 degrees or more."""
        return self.held and self.turned < -math.radians(30.0)


@cache
def scene(pin: bool = False) -> Scene:
    """Return the bolt and the nut on it; or a smooth pin in its place, and the nut elsewhere."""
    whole = load_scene("nut_transfer")
    if pin:
        smooth = replace(whole.bolt(BOLT), **PIN)
        return replace(whole, bolts={**whole.bolts, BOLT: smooth}, objects={})
    nut = replace(whole.require_nut(), on=BOLT)
    level = whole.bolt(BOLT)
    return replace(whole, bolts={BOLT: level}, objects={}, nut=nut)


def nut_on_thread(depth: float) -> Array:
    """Return bolt <- nut (4, 4) for a depth of the tip in it [m]."""
    bolt = scene().bolt(BOLT)
    return np.asarray(inverse(bolt.pose) @ scene().nut_pose(BOLT, depth / bolt.pitch))


def in_physics(
    nut: Array,
    motions: Sequence[Motion],
    setting: Setting,
    spun: Array | None = None,
    pin: bool = False,
) -> NutEnd:
    """Run motions in contact physics with the nut at bolt <- nut (4, 4), from the first target.

    With spun, a rotation (4, 4) about the bolt's axis, gravity is turned instead of all else. A
    smooth pin may take the place of the bolt.
    """
    model = _model(setting, pin)
    down = np.array([0.0, 0.0, -9.81 * CGS.length])
    data = mujoco.MjData(model)
    frame = scene().bolt(BOLT).pose
    if spun is not None:
        down = (frame @ spun @ inverse(frame))[:3, :3] @ down
    model.opt.gravity[:] = down
    _place(data, frame @ nut, "nut")
    first = _target(motions[0].T, 0.0)
    fingers = max(motions[0].width, scene().require_nut().across_flats) / 2.0 * CGS.length
    data.qpos[-8:] = [*first, fingers, fingers]
    data.ctrl[:] = [*first, motions[0].width * CGS.length]
    for motion in motions:
        _move(model, data, motion)
    return _end(model, data, frame, nut)


def by_rules(nut_turns: float, motions: Sequence[Motion], free: bool, pin: bool = False) -> NutEnd:
    """Run motions by the rules of geometry; a free nut starts in the jaws, off the bolt."""
    bolt = scene(pin).bolt(BOLT)
    nut = replace(scene(pin).require_nut(), turns=0.05 if free else nut_turns)
    start = replace(scene(pin), nut=nut)
    world, frame = NutWorld(start), bolt.pose
    at = inverse(frame) @ start.nut_start()
    begin = at
    if free:
        grip = at @ turn_z(ACROSS)
        for T, width in (
            (grip, OPEN),
            (grip, SHUT),
            (grip @ turn_z(-bolt.hand * math.radians(40.0)), SHUT),
            (grip @ turn_z(-bolt.hand * math.radians(40.0)) @ shift_z(-0.02), SHUT),
        ):
            world.update(frame @ T, width)
    for motion in motions:
        world.update(frame @ motion.T, motion.width)
        begin = inverse(frame) @ world.report.pose if motion is motions[0] else begin
    report = world.report
    now = inverse(frame) @ report.pose
    on_bolt = report.status in (NutStatus.ON_BOLT, NutStatus.ON_BOLT_HELD)
    return NutEnd(
        on_bolt and report.bolt == BOLT and (pin or report.turns_engaged > 0.0),
        report.grasped,
        float(now[2, 3]) + nut.thickness / 2.0,
        _turned(begin, now),
    )


def _turned(before: Array, now: Array) -> float:
    R = before[:3, :3].T @ now[:3, :3]
    return math.atan2(float(R[1, 0]), float(R[0, 0]))


@cache
def _model(setting: Setting, pin: bool) -> Any:
    root = ET.fromstring(scene_mjcf(load_robot("nut_arm"), scene(pin)))
    world = section(root, "worldbody")
    for body in world.findall("body"):
        if body.get("name") == "base_link":
            world.remove(body)
    for tag in ("actuator", "tendon", "equality"):
        if (found := root.find(tag)) is not None:
            root.remove(found)
    _add_hand(root, world)
    model = compiled(ET.tostring(root, encoding="unicode"))
    _set(model, setting)
    return model


def _add_hand(root: ET.Element, world: ET.Element) -> None:
    """Add jaws on six springs, whose stiffness is set in the compiled model."""
    at = placement(scene().bolt(BOLT).pose, CGS)
    hand = ET.SubElement(world, "body", at, name="hand", gravcomp="1")
    for kind in ("slide", "hinge"):
        for axis, along in zip("xyz", np.eye(3), strict=True):
            name = f"{kind}_{axis}"
            ET.SubElement(hand, "joint", name=name, type=kind, axis=words(along))
            ET.SubElement(section(root, "actuator"), "position", name=name, joint=name)
    inertia = words([_INERTIA * CGS.torque] * 3)
    mass = words([_MASS * CGS.mass])
    ET.SubElement(hand, "inertial", pos="0 0 0", mass=mass, diaginertia=inertia)
    for name, side in (("left", 1.0), ("right", -1.0)):
        finger = ET.SubElement(hand, "body", name=f"{name}_link", gravcomp="1")
        axis = words((0.0, side, 0.0))
        ET.SubElement(finger, "joint", name=name, type="slide", axis=axis, damping="2000")
        half = np.array(_PAD) / 2.0 * CGS.length
        values = {
            "type": "box",
            "size": words(half),
            "pos": words((0.0, side * half[1], 0.0)),
            "mass": words([_FINGER * CGS.mass]),
            "friction": "0.8 0.005 0.0001",
            "condim": "4",
            **ARM,
            **FIRM,
        }
        ET.SubElement(finger, "geom", values)
    tendon = ET.SubElement(section(root, "tendon"), "fixed", name="gripper")
    for name in ("left", "right"):
        ET.SubElement(tendon, "joint", joint=name, coef="1")
    values = {"name": "gripper", "tendon": "gripper", "forcerange": "-1 1"}
    values["kp"] = words([_GRIP_STIFFNESS * CGS.mass])
    ET.SubElement(section(root, "actuator"), "position", values)
    values = {"joint1": "right", "joint2": "left", "solref": "0.005 1"}
    ET.SubElement(section(root, "equality"), "joint", values, polycoef="0 1 0 0 0")


def _set(model: Any, setting: Setting) -> None:
    for kind, stiffness, unit, inertia in (
        ("slide", setting.lateral, CGS.mass, (_MASS + 2.0 * _FINGER) * CGS.mass),
        ("hinge", setting.angular, CGS.torque, 2.0 * _INERTIA * CGS.torque),
    ):
        for axis in "xyz":
            spring, dof = model.actuator(f"{kind}_{axis}"), model.joint(f"{kind}_{axis}").dofadr[0]
            spring.gainprm[0], spring.biasprm[1] = stiffness * unit, -stiffness * unit
            model.dof_damping[dof] = 1.4 * math.sqrt(stiffness * unit * inertia)
    model.actuator("gripper").forcerange[:] = np.array([-1.0, 1.0]) * setting.grip * CGS.force


def _place(data: Any, T: Array, joint: str) -> None:
    quat = np.zeros(4)
    mujoco.mju_mat2Quat(quat, np.ascontiguousarray(T[:3, :3]).ravel())
    data.joint(joint).qpos = [*(T[:3, 3] * CGS.length), *quat]


def _target(T: Array, near: float) -> Array:
    """Return the positions (6,) of the hand's joints at bolt <- tool, the roll near another."""
    R = T[:3, :3]
    roll = math.atan2(-float(R[0, 1]), float(R[0, 0]))
    roll += 2.0 * math.pi * round((near - roll) / (2.0 * math.pi))
    pitch = (math.atan2(-float(R[1, 2]), float(R[2, 2])), math.asin(float(R[0, 2])))
    return np.array([*(T[:3, 3] * CGS.length), *pitch, roll])


def _move(model: Any, data: Any, motion: Motion) -> None:
    start = np.array(data.ctrl)
    end = np.array([*_target(motion.T, start[5]), motion.width * CGS.length])
    count = max(1, round(motion.seconds / _STEP))
    for i in range(1, count + 1):
        data.ctrl[:] = start + (end - start) * i / count
        mujoco.mj_step(model, data)


def _end(model: Any, data: Any, frame: Array, start: Array) -> NutEnd:
    T = np.eye(4)
    T[:3, :3] = data.body("nut").xmat.reshape(3, 3)
    T[:3, 3] = data.body("nut").xpos / CGS.length
    now = inverse(frame) @ T
    depth = float(now[2, 3]) + scene().require_nut().thickness / 2.0
    aside = math.hypot(float(now[0, 3]), float(now[1, 3]))
    on_bolt = depth > 0.0 and aside < 1e-3
    touched = set()
    nut = int(model.body("nut").id)
    for contact in data.contact:
        bodies = [int(model.geom_bodyid[geom]) for geom in contact.geom]
        if nut in bodies:
            touched |= {model.body(body).name for body in bodies}
    return NutEnd(on_bolt, {"left_link", "right_link"} <= touched, depth, _turned(start, now))


def tool(z: float, roll: float, R: Array | None = None, aside: Sequence[float] = (0, 0)) -> Array:
    """Return bolt <- tool: z [m] and roll [rad] on the bolt's axis, then tilted and shifted."""
    shift = pose(np.eye(3) if R is None else R, (float(aside[0]), float(aside[1]), z))
    return np.asarray(shift @ turn_z(roll))
