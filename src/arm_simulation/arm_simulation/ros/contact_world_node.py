# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""The simulated world by contact physics: receives the pulses of the servo board alone."""

from __future__ import annotations

import math
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from arm_common.ros.message_conversions import transform_message
from arm_common.ros.names import prefix_parameter
from arm_common.ros.node_runner import run_node
from arm_common.ros.parameters import declare, parameter
from arm_common.ros.qos import LATCHED, STEADY_CLOCK, TF, TF_TOPIC
from arm_common.transforms import Array
from arm_description.library import DEFAULT_ROBOT, load_robot
from arm_description.urdf.assembly import assemble
from arm_description.urdf.elements import TRUE_FRAMES
from arm_hardware.calibration.calibration import axes_of
from arm_hardware.calibration.selection import pulse_calibration
from arm_hardware.shared_pace import SharedPace
from arm_tasks.scene.file import DEFAULT_SCENE, load_scene
from arm_tasks.scene.nut_state import NutReport
from geometry_msgs.msg import Point
from rclpy.node import Node
from sensor_msgs.msg import BatteryState, JointState
from tf2_msgs.msg import TFMessage
from visualization_msgs.msg import Marker, MarkerArray

from arm_simulation import SimulationError
from arm_simulation.contact.world import FRAME, ContactWorld, NutObserver
from arm_simulation.emulation.pca9685_chip import stored_pulses
from arm_simulation.ros.nut_world_node import WorldNode

# mypy: disable-error-code="no-untyped-call"


_PERIOD = 2  # frames between two messages about the nut while it moves, and of the true frames
_SUPPLY = 5  # frames between two messages about the supply
_REPEAT = 50  # frames between two messages at rest
_MOVED = 1e-5  # least change of a pose that is published [m]
_TIMER = FRAME / 4  # wall time between two looks at the driver at speed 1 [s]
_SHORTEST_TIMER = 5e-4  # [s]
_CATCH_UP = 0.1  # [s] of lateness that is made up for; the time of the arm is slower by the rest
_PER_NEWTON = 0.005  # length of a force's arrow [m/N]


@dataclass(frozen=True)
class ContactWorldParameters:
    """Parameters of the node."""

    scene: str = parameter(DEFAULT_SCENE, "Scene with the nut, name or path.")
    robot: str = parameter(DEFAULT_ROBOT, "Robot that is simulated, name or path.")
    calibration: str = parameter(
        "", "Calibration of its servos, path or name; empty for the one shipped for the robot."
    )
    registers: str = parameter(
        "", "File with the registers of the driver's simulated board, its sim_registers."
    )
    pace: str = parameter("", "File with the time that it shares with the driver, its sim_pace.")
    speed: float = parameter(
        1.0,
        "Simulated seconds per wall second, if the computer is fast enough.",
        low=0.01,
        high=100.0,
    )
    prefix: str = prefix_parameter()


class ContactWorldNode(WorldNode):
    """Simulates arm, nut and payloads by contact and friction.

    It knows no command, plan or task: the arm moves by the pulses of the board, which the node
    reads from the registers that the driver writes; the first ones wake the world. Its time is
    that of the driver, in lock-step: on a busy computer both become slower than `speed` asks.

    Publishers:
        nut_world/state: while the nut moves 25 times a second, and once a second.
        payload_world/poses: poses of the payloads, latched, while they move.
        ground_truth/joint_states: true positions of all joints, 50 times a second.
        /tf: true frames of the links, named ground_truth/LINK, 25 times a second.
        servo_supply: current that the servos draw, 10 times a second, negative as for a battery
            that is being discharged; on an arm a sensor in the supply's wire, such as an INA219,
            would publish it. It rises when a servo stalls, as at a touch.
        ground_truth/contacts: points and forces of contacts, only while someone subscribes.

    Services:
        nut_world/reset: puts nut and payloads back where the scene has them, unless the jaws hold
            the nut.
    """

    def __init__(self) -> None:
        super().__init__("contact_world")
        chosen = declare(self, ContactWorldParameters)
        model = load_robot(chosen.robot)
        calibration, self._board = pulse_calibration(model, chosen.calibration)
        axes = axes_of(model)
        names = (axis.name for axis in axes.actuators)
        maps = dict(zip(names, calibration.maps(axes), strict=True))
        scene = load_scene(chosen.scene, model.name)
        self._registers = Path(chosen.registers)
        self._pace = _shared_pace(chosen.pace)
        self._use_prefix(chosen.prefix)
        log = self.get_logger().info
        self._world = ContactWorld(model, scene, maps, report=log)
        self._nut = NutObserver(self._world.nut()) if scene.nut is not None else None
        self._payloads = {k: t.pose for k, t in scene.objects.items() if t.is_payload}
        self._joints = self.create_publisher(JointState, "ground_truth/joint_states", 10)
        self._contacts = self.create_publisher(MarkerArray, "ground_truth/contacts", LATCHED)
        self._supply = self.create_publisher(BatteryState, "servo_supply", 10)
        self._tf = self.create_publisher(TFMessage, TF_TOPIC, TF)
        self._links = [
            link.name for link in assemble(model, "").links if link.shapes and link.visible
        ]
        self._due, self._powered = 0.0, False
        self._frame = FRAME / chosen.speed  # [s] of wall time
        self._frames = round(self._pace.world / FRAME)
        self._sent: NutReport | None = None
        self._idle = _REPEAT  # frames since the last message about the nut
        self._publish_payloads(self._payloads)
        period = max(_TIMER / max(chosen.speed, 1.0), _SHORTEST_TIMER)
        self.create_timer(period, self._advance, clock=STEADY_CLOCK)

    @property
    def _held(self) -> str:
        """What the jaws hold, "" for nothing."""
        return "the nut" if self._nut is not None and self._nut.report.grasped else ""

    def _restart(self) -> None:
        """Put nut and payloads back where the scene has them."""
        self._world.reset_objects()
        if self._nut is not None:
            self._nut, self._sent = NutObserver(self._world.nut()), None
        self._publish_payloads({name: self._world.pose_of(name) for name in self._payloads})

    def _advance(self) -> None:
        """Step a frame once wall time and the driver have come to its beginning."""
        now = time.monotonic()
        if now < self._due or not self._pace.may_advance:
            return
        self._due = max(self._due + self._frame, now - _CATCH_UP)
        pulses = stored_pulses(self._registers, self._board)
        self._powered |= any(pulses)
        if self._powered:
            self._world.step(pulses.__getitem__)
        self._frames += 1
        self._pace.world = self._frames * FRAME
        self._publish()

    def _publish(self) -> None:
        positions = self._world.joints()
        message = JointState(
            name=self._names.add_all(positions), position=list(positions.values())
        )
        message.header.stamp = self._stamp
        self._joints.publish(message)
        if self._frames % _PERIOD == 0:
            self._publish_links()
        if self._frames % _SUPPLY == 0:
            self._publish_supply()
        poses = {name: self._world.pose_of(name) for name in self._payloads}
        moved = any(_moved(poses[name], T) for name, T in self._payloads.items())
        if moved or (poses and self._frames % _REPEAT == 0):
            self._publish_payloads(poses)
        if self._nut is not None:
            self._publish_nut(self._nut.update(self._world.nut()))
        if self._contacts.get_subscription_count():
            self._contacts.publish(self._arrows())

    def _publish_payloads(self, poses: dict[str, Array]) -> None:
        self._payloads = poses
        self._send_payloads(poses)

    def _publish_links(self) -> None:
        stamp = self._stamp
        poses = {name: self._world.pose_of(name) for name in self._links}
        frames = {TRUE_FRAMES + self._names.add(name): T for name, T in poses.items()}
        transforms = [transform_message(self._base, k, T, stamp) for k, T in frames.items()]
        self._tf.publish(TFMessage(transforms=transforms))

    def _publish_supply(self) -> None:
        unknown = dict.fromkeys(("voltage", "charge", "capacity", "percentage"), math.nan)
        current = -self._world.supply_current
        message = BatteryState(current=current, present=True, temperature=math.nan, **unknown)
        message.power_supply_status = BatteryState.POWER_SUPPLY_STATUS_DISCHARGING
        message.header.stamp = self._stamp
        self._supply.publish(message)

    def _publish_nut(self, report: NutReport) -> None:
        before, self._idle = self._sent, self._idle + 1
        moved = before is None or _moved(before.pose, report.pose)
        news = before is None or before.message != report.message
        if not (news or self._idle >= _REPEAT or (moved and self._idle >= _PERIOD)):
            return
        self._sent, self._idle = report, 0
        self._send_nut(report)

    def _arrows(self) -> MarkerArray:
        """Return an arrow for the force of each contact, 5 mm for a newton."""
        message = MarkerArray(markers=[Marker(action=Marker.DELETEALL)])
        stamp = self._stamp
        for i, (point, force) in enumerate(self._world.contacts()):
            arrow = Marker(ns="contacts", id=i, type=Marker.ARROW, action=Marker.ADD)
            arrow.header.frame_id, arrow.header.stamp = self._base, stamp
            arrow.points = [_point(point), _point(point + force * _PER_NEWTON)]
            arrow.scale.x, arrow.scale.y, arrow.scale.z = 0.001, 0.002, 0.002
            arrow.color.r, arrow.color.a = 1.0, 1.0
            message.markers.append(arrow)
        return message


def _shared_pace(file: str) -> SharedPace:
    try:
        return SharedPace.in_file(Path(file)) if file else SharedPace()
    except OSError as error:
        raise SimulationError(f"pace {file!r} cannot be written: {error.strerror}") from None


def _point(p: Array) -> Point:
    return Point(x=float(p[0]), y=float(p[1]), z=float(p[2]))


def _moved(before: Array, after: Array) -> bool:
    return bool(np.abs(before - after).max() > _MOVED)


def make_nodes() -> Sequence[Node]:
    """Create the node."""
    return [ContactWorldNode()]


def main() -> int:
    """Run the node until the process is ended."""
    return run_node(make_nodes)
