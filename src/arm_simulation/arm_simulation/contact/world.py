# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""A simulated arm among scene objects, driven by servo pulses, and the truth about it.

Nothing here knows a task, a plan or a command: pulses go in; poses and contact forces come out,
from which an observer names what happens to the nut.
"""

from __future__ import annotations

import math
import xml.etree.ElementTree as ET
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from arm_common.transforms import Array, inverse, tilt_z
from arm_description.model.elements import DependentJoint, mimic_names
from arm_description.model.units import mm
from arm_description.robot_model import RobotModel
from arm_tasks.planning.collision.mujoco_library import mujoco
from arm_tasks.scene.nut_state import NutEvent, NutReport, NutStatus
from arm_tasks.scene.scene import Bolt, Scene

from arm_simulation import SimulationError
from arm_simulation.contact.model_cache import compiled
from arm_simulation.contact.servos import JawAngleMap, PulseMap, PulseOf, ServoBank, ServoErrors
from arm_simulation.mjcf.elements import CGS, document, section, xml_text
from arm_simulation.mjcf.robot import GRIPPER, RobotMjcf, Tangents
from arm_simulation.mjcf.scene_objects import (
    NUT_HEXAGON,
    NUT_THREAD,
    SceneObjectsMjcf,
    check_apart,
)

STEP = 1e-3  # [s]; at 2 ms a nut leaves its thread
FRAME = 20e-3  # [s] between two pulses of a channel
_HELD = 0.2  # least force of a jaw that holds something [N]
_COAXIAL = 1.0e-3  # a nut on a thread is at most this far beside its axis [m]
_TILT = math.radians(12.0)
_ASLEEP = 0.5e-3  # speed of a body at rest; those that a contact moves to and fro are slower [m/s]
_DEEPEST = 0.5e-3  # of two bodies in each other at the start [m]
_EVENTS = {
    (NutStatus.ON_BOLT, NutStatus.ON_BOLT_HELD): NutEvent.GRIPPED,
    (NutStatus.ON_BOLT_HELD, NutStatus.ON_BOLT): NutEvent.RELEASED,
    (NutStatus.ON_BOLT_HELD, NutStatus.HELD): NutEvent.CAME_FREE,
    (NutStatus.HELD, NutStatus.ON_BOLT_HELD): NutEvent.SEATED,
}
_SENTENCES = {
    NutEvent.START: "the nut is where the scene has it",
    NutEvent.GRIPPED: "the jaws hold the nut",
    NutEvent.RELEASED: "the jaws released the nut on {bolt}, {turns:.1f} turns engaged",
    NutEvent.CAME_FREE: "the nut came off its bolt",
    NutEvent.SEATED: "the nut is on the tip of {bolt}",
    NutEvent.DROPPED: "the nut fell",
    NutEvent.UNKNOWN: "the nut moved",
}


@dataclass(frozen=True)
class NutTruth:
    """The nut, from poses and contacts alone."""

    pose: Array  # base_link <- nut (4, 4) [m]
    bolt: str  # the bolt or pin that it is on, or ""
    turns_engaged: float  # turns of the bolt's thread inside the nut
    tilt: float  # angle between the axes of nut and bolt [rad], 0 off a bolt
    jaw_force: float  # smaller one of both jaws' forces on it [N]
    thread_force: float  # sum of the forces of bolts on it [N]
    fallen: bool  # whether it lies on something else than a bolt or the jaws

    @property
    def held(self) -> bool:
        """Whether both jaws press on it."""
        return self.jaw_force > _HELD


def scene_mjcf(model: RobotModel, scene: Scene) -> str:
    """Return robot and scene as MJCF in centimetres and grams, with the solver's settings."""
    bolts = list(scene.bolts.values())
    check_apart(bolts)
    root = document(model.name, CGS)
    option = section(root, "option")
    values = {
        "timestep": repr(STEP),
        "integrator": "implicitfast",
        "solver": "Newton",
        "iterations": "50",
        "cone": "elliptic",
        "impratio": "10",
        "sdf_iterations": "10",
        "sdf_initpoints": "20",  # with 14, a nut does not advance by the pitch
        "sleep_tolerance": repr(_ASLEEP * CGS.length),
    }
    option.attrib.update(values)
    # A body at rest sleeps until something moves it; a nut on a thread costs most of all. MuJoCo
    # refuses sleep beside a tendon that holds a joint at a sum of others.
    sums = any(len(joint.terms) > 1 for joint in model.dependents)
    ET.SubElement(option, "flag", multiccd="enable", sleep="disable" if sums else "enable")
    RobotMjcf(model, CGS).add_to(root)
    objects = SceneObjectsMjcf(root, CGS)
    objects.add_floor(scene.floor)
    for bolt in bolts:
        if bolt.is_pin:
            objects.add_pin(bolt)
        else:
            objects.add_bolt(bolt)
    if scene.nut is not None:
        objects.add_nut(scene.nut, scene.nut_thread)
    for solid in scene.objects.values():
        objects.add_solid(solid)
    return xml_text(root)


class ContactWorld:
    """Steps a simulated arm; equal pulses give equal motions, bit for bit."""

    def __init__(
        self,
        model: RobotModel,
        scene: Scene,
        maps: Mapping[str, PulseMap],
        errors: Mapping[str, ServoErrors] | None = None,
        report: Callable[[str], None] = lambda _: None,
    ) -> None:
        """Compile robot and scene, with the arm at its `home_posture`.

        Args:
            model: the robot.
            scene: its surroundings; a nut starts on its bolt, as screwed on as the scene says, and
                other bolts catch it at their `thread_start`.
            maps: calibrated map of each servo by joint name, and of "gripper", to its width.
            errors: errors of the servos by the same names.
            report: receives a sentence if the start takes long.

        Raises:
            InputError: MuJoCo is missing, or the scene or a thread is impossible.
        """
        self._library = mujoco()
        self._robot = model
        self._scene = scene
        if not model.masses:
            report(f"{model.name} has no masses in its file; they are estimated from its shapes.")
        self.mj_model = compiled(scene_mjcf(model, scene), report)
        self.mj_data = self._library.MjData(self.mj_model)
        claw = model.gripper.claw if model.gripper else None
        if claw is not None and GRIPPER in maps:
            maps = {**maps, GRIPPER: JawAngleMap(maps[GRIPPER], claw)}
        self._servos = ServoBank(self.mj_model, maps, CGS.length, errors)
        self._tangents = Tangents(self.mj_model, model, CGS.length)
        self._per_frame = round(FRAME / STEP)
        self._steps = 0
        self._fingers = self._finger_bodies()
        self._nut_forces = 0.0, 0.0, 0.0
        rest = model.home_posture[1]
        widest = model.gripper.max_width if model.gripper else 0.0
        self.place([rest[name] for name in model.joint_names], rest.get(GRIPPER, widest))
        if scene.nut is not None:
            self.place_nut(scene.nut_start())
        self._measure_forces()
        self._check_start()

    @property
    def time(self) -> float:
        """Simulated time [s]."""
        return self._steps * STEP

    def place(self, q: Sequence[float], width: float) -> None:
        """Put the arm at joint positions (n,) [rad or m] and a jaw width [m], at rest."""
        positions = dict(zip(self._robot.joint_names, q, strict=True))
        for joint in self._robot.dependents:
            positions[joint.name] = sum(factor * positions[name] for name, factor in joint.terms)
        if self._robot.gripper:
            positions |= self._robot.gripper.positions(width)
        for name, value in positions.items():
            slides = self.mj_model.joint(name).type[0] == self._library.mjtJoint.mjJNT_SLIDE
            self.mj_data.joint(name).qpos = value * (CGS.length if slides else 1.0)
        self._library.mj_forward(self.mj_model, self.mj_data)

    def place_nut(self, pose: Array) -> None:
        """Put the nut at base_link <- nut (4, 4) [m], at rest."""
        quat = np.zeros(4)
        self._library.mju_mat2Quat(quat, np.ascontiguousarray(pose[:3, :3]).ravel())
        self.mj_data.joint("nut").qpos = [*(pose[:3, 3] * CGS.length), *quat]
        self.mj_data.joint("nut").qvel = 0.0
        self._library.mj_forward(self.mj_model, self.mj_data)

    def reset_objects(self) -> None:
        """Put the nut and all payloads back where the scene has them, at rest."""
        model, data = self.mj_model, self.mj_data
        for i in range(model.njnt):
            if model.jnt_type[i] == self._library.mjtJoint.mjJNT_FREE:
                at, rate = model.jnt_qposadr[i], model.jnt_dofadr[i]
                data.qpos[at : at + 7] = model.qpos0[at : at + 7]
                data.qvel[rate : rate + 6] = data.qacc_warmstart[rate : rate + 6] = 0.0
        if self._scene.nut is not None:
            self.place_nut(self._scene.nut_start())
        self._library.mj_forward(model, data)
        self._measure_forces()

    def step(self, pulse_of: PulseOf, frames: int = 1) -> None:
        """Advance by frames of the board, 20 ms each.

        Raises:
            SimulationError: the simulation diverged: what follows would mean nothing.
        """
        for _ in range(frames):
            self._servos.read_pulses(pulse_of)
            for _ in range(self._per_frame):
                self._tangents.update(self.mj_data)
                self._library.mj_step1(self.mj_model, self.mj_data)
                self._servos.apply(self.mj_data)
                self._library.mj_step2(self.mj_model, self.mj_data)
                self._steps += 1
            self._check()
            self._measure_forces()

    def joints(self) -> dict[str, float]:
        """Return the true positions of all joints of the URDF by name [rad or m]."""
        found = {}
        for i in range(self.mj_model.njnt):
            kind = self.mj_model.jnt_type[i]
            if kind >= 2:  # slide or hinge
                value = float(self.mj_data.qpos[self.mj_model.jnt_qposadr[i]])
                found[self.mj_model.joint(i).name] = value / (CGS.length if kind == 2 else 1.0)
        for joint in self._robot.dependents:
            found |= _mimics(joint, found)
        return found

    def servo_loads(self) -> dict[str, float]:
        """Return the torque of each motor by name, as a share of its stall torque, -1 to 1."""
        return self._servos.loads(self.mj_data)

    @property
    def supply_current(self) -> float:
        """What the servos draw from their supply [A], as a current sensor in its wire measures."""
        return self._servos.current(self.mj_data)

    def pose_of(self, body: str) -> Array:
        """Return base_link <- body (4, 4) [m]."""
        found = self.mj_data.body(body)
        T = np.eye(4)
        T[:3, :3], T[:3, 3] = found.xmat.reshape(3, 3), found.xpos / CGS.length
        return T

    def contacts(self) -> list[tuple[Array, Array]]:
        """Return point (3,) [m] and force (3,) [N] of each contact; none of bodies that sleep."""
        found = []
        force = np.zeros(6)
        for i in range(self.mj_data.ncon):
            self._library.mj_contactForce(self.mj_model, self.mj_data, i, force)
            if not force[0]:
                continue
            contact = self.mj_data.contact[i]
            along = contact.frame.reshape(3, 3).T @ force[:3] / CGS.force
            found.append((contact.pos / CGS.length, along))
        return found

    def nut(self) -> NutTruth:
        """Return the truth about the nut."""
        jaws, thread, other = self._nut_forces
        T = self.pose_of("nut")
        on, overlap, tilt = self._on_bolt(T)
        nut = self._scene.nut
        assert nut is not None
        engaged = 0.0
        if on is not None and not on.is_pin:
            engaged = min(max(overlap, 0.0), nut.thickness) / on.pitch
        name = "" if on is None else on.name
        fallen = on is None and jaws <= _HELD and other > 0.0
        return NutTruth(T, name, engaged, tilt, jaws, thread, fallen)

    def _on_bolt(self, T: Array) -> tuple[Bolt | None, float, float]:
        """Return the bolt in the nut, the depth of its tip [m], and the angle between the axes."""
        nut = self._scene.nut
        assert nut is not None
        for bolt in self._scene.bolts.values():
            at = inverse(self.pose_of(bolt.name)) @ T
            overlap = float(at[2, 3]) + nut.thickness / 2.0
            aside = math.hypot(float(at[0, 3]), float(at[1, 3]))
            tilt = tilt_z(at[:3, :3])
            tilt = min(tilt, math.pi - tilt)
            if 0.0 < overlap < bolt.length + nut.thickness and aside < _COAXIAL and tilt < _TILT:
                return bolt, overlap, tilt
        return None, 0.0, 0.0

    def _measure_forces(self) -> None:
        """Measure the smaller force of a jaw, the sums of those of threads and of objects [N].

        The forces on a nut that sleeps are the last ones before.
        """
        model, data = self.mj_model, self.mj_data
        asleep = self._library.mjtSleepState.mjS_ASLEEP
        if self._scene.nut is None or data.body_awake[model.body("nut").id] == asleep:
            return
        thread_id, hexagon = (model.geom(name).id for name in (NUT_THREAD, NUT_HEXAGON))
        jaws = dict.fromkeys(self._fingers, 0.0)
        thread = other = 0.0
        force = np.zeros(6)
        pairs = data.contact.geom
        for i in np.flatnonzero(np.isin(pairs, (thread_id, hexagon)).any(axis=1)).tolist():
            self._library.mj_contactForce(model, data, i, force)
            size = float(np.linalg.norm(force[:3])) / CGS.force
            if thread_id in pairs[i]:
                thread += size
                continue
            body = int(model.geom_bodyid[pairs[i, 0] if pairs[i, 1] == hexagon else pairs[i, 1]])
            if body in jaws:
                jaws[body] += size
            else:
                other += size
        self._nut_forces = min(jaws.values(), default=0.0), thread, other

    def _finger_bodies(self) -> tuple[int, ...]:
        gripper = self._robot.gripper
        names = gripper.joints if gripper else ()
        return tuple(int(self.mj_model.body(f"{name}_link").id) for name in names)

    def _check_start(self) -> None:
        """Raise SimulationError if a body that moves starts inside another body."""
        model = self.mj_model
        for contact in self.mj_data.contact:
            if contact.dist < -_DEEPEST * CGS.length:
                names = [model.body(int(model.geom_bodyid[geom])).name for geom in contact.geom]
                first, other = (name.replace("world", "the floor") for name in names)
                raise SimulationError(
                    f"{first} and {other} overlap by {mm(-contact.dist / CGS.length, 1)}",
                    remedy="move one of them in the scene",
                )

    def _check(self) -> None:
        kinds = self._library.mjtWarning
        bad = [kinds.mjWARN_BADQPOS, kinds.mjWARN_BADQVEL, kinds.mjWARN_BADQACC]
        bad += [kinds.mjWARN_CONTACTFULL, kinds.mjWARN_CNSTRFULL]  # forces are missing
        if any(self.mj_data.warning[int(kind)].number for kind in bad):
            raise SimulationError(
                f"the simulation diverged after {self.time:.2f} s, so its result means nothing",
                remedy="report the robot and scene as a fault of the simulation",
            )


def _mimics(joint: DependentJoint, found: dict[str, float]) -> dict[str, float]:
    """Return the positions of the mimic joints of one that was simulated as a single joint."""
    rest, positions = found.pop(joint.name), dict[str, float]()
    *others, last = mimic_names(joint.name, joint.terms)
    for name, (leader, factor) in zip(others, joint.terms, strict=False):
        positions[name] = factor * found[leader]
    return positions | {last: rest - sum(positions.values())}


class NutObserver:
    """Names what happens to the nut, from its poses and contacts alone."""

    def __init__(self, truth: NutTruth) -> None:
        self._status = NutStatus.ON_BOLT if truth.bolt else NutStatus.FALLEN
        self._event = NutEvent.START
        self.report = self._report(truth, _sentence(self._event, truth))

    def update(self, truth: NutTruth) -> NutReport:
        """Return the report of a new truth; the message is that of the last event."""
        status = self._status_of(truth)
        message = self.report.message
        if status != self._status:
            fell = status is NutStatus.FALLEN
            before = (self._status, status)
            self._event = NutEvent.DROPPED if fell else _EVENTS.get(before, NutEvent.UNKNOWN)
            self._status, message = status, _sentence(self._event, truth)
        self.report = self._report(truth, message)
        return self.report

    def _status_of(self, truth: NutTruth) -> NutStatus:
        """Return where the nut is; one that is in flight is still where it was."""
        if truth.bolt:
            return NutStatus.ON_BOLT_HELD if truth.held else NutStatus.ON_BOLT
        if truth.held:
            return NutStatus.HELD
        return NutStatus.FALLEN if truth.fallen else self._status

    def _report(self, truth: NutTruth, message: str) -> NutReport:
        held, turns = truth.held, truth.turns_engaged
        return NutReport(self._status, truth.bolt, turns, held, truth.pose, message, self._event)


def _sentence(event: NutEvent, truth: NutTruth) -> str:
    return _SENTENCES[event].format(bolt=truth.bolt or "no bolt", turns=truth.turns_engaged)
