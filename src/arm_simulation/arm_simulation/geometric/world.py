# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Geometric models of the nut and of payloads: their poses from tool poses and jaw widths."""

from __future__ import annotations

import logging
import math
from collections.abc import Mapping

import numpy as np
from arm_common.transforms import (
    Array,
    inverse,
    is_rigid,
    pose,
    shift_z,
    so3_exp,
    so3_log,
    turn_z,
    twist_z,
)
from arm_description.model.gripper import Gripper
from arm_description.robot_model import read_only
from arm_tasks.scene.grasp import GRIP, Carried, check_grip, grasp, resting_pose
from arm_tasks.scene.nut_state import NutEvent, NutIncident, NutReport, NutStatus
from arm_tasks.scene.scene import Bolt, Scene

from arm_simulation import SimulationError
from arm_simulation.geometric.held_nut import FreeNut, ThreadedNut, pin_holds

_LOGGER = logging.getLogger(__name__)
_STEP_LENGTH = 0.25e-3  # step of the motion between two updates [m]
_STEP_ANGLE = math.radians(2.0)
_MAX_STEPS = 400
_SLACK = 0.2e-3  # jaws wider than their payload by more than this release it [m]
_STILL = 1e-3  # largest change of the tool pose between two updates at rest [m, and of its axes]


class NutWorld:
    """Tracks the nut from geometry alone.

    On a thread the nut has one degree of freedom, its turns; the gripper turns it by its own
    rotation about the bolt's axis and may slide along the flats. Off the thread it moves with the
    gripper; released, it falls, or hangs on a smooth pin that is in it. At the end of a bolt it
    slides back in the jaws and catches the thread when it is turned past the thread's start,
    unless it is tilted too much. Jaws and arm are compliant within GRIP and CONTACT. Equal inputs
    give equal outputs.
    """

    def __init__(self, scene: Scene) -> None:
        self.scene = scene
        self.nut = scene.require_nut()
        self._thread = scene.nut_thread
        self._pose = scene.nut_start()
        self._bolt: Bolt | None = scene.bolt(self.nut.on)
        self._turns = self.nut.turns
        self._pin = ""  # smooth pin on which it hangs
        self._held: ThreadedNut | FreeNut | None = None
        self._opened = math.inf  # width before the jaws close
        self._last: tuple[Array, float] | None = None
        self._last_incident = NutIncident(NutEvent.START, f"on {self.nut.on} from the start")

    @property
    def report(self) -> NutReport:
        """Current state of the nut."""
        held, bolt, engaged = self._held is not None, "", 0.0
        status = NutStatus.HELD if held else NutStatus.FALLEN
        if self._bolt:
            bolt, engaged = self._bolt.name, self._bolt.engaged(self._turns, self.nut.thickness)
            status = NutStatus.ON_BOLT_HELD if held else NutStatus.ON_BOLT
        elif self._pin:
            bolt, status = self._pin, NutStatus.ON_BOLT
        event, message = self._last_incident
        return NutReport(status, bolt, engaged, held, read_only(self._pose), message, event)

    def update(self, T_tool: Array, width: float) -> NutReport:
        """Move the gripper to its current pose and return the new state of the nut.

        T_tool is base_link <- tool0 (4, 4), the width is that of the jaws [m]. The motion since
        the last update is interpolated in small steps, so that updates may be up to half a turn
        apart. An invalid pose or width raises SimulationError.
        """
        T_tool = np.array(T_tool, dtype=np.float64)
        if not is_rigid(T_tool):
            raise SimulationError("the tool's pose is not a finite rigid transform (4, 4)")
        if not math.isfinite(width):
            raise SimulationError(f"the gripper's width is {width}; it must be a finite number")
        last_T, last_width = self._last or (T_tool, width)
        self._last = (T_tool, width)
        shift, turn = T_tool[:3, 3] - last_T[:3, 3], so3_log(last_T[:3, :3].T @ T_tool[:3, :3])
        steps = np.linalg.norm(shift) / _STEP_LENGTH, np.linalg.norm(turn) / _STEP_ANGLE, 1.0
        count = min(math.ceil(max(steps)), _MAX_STEPS)
        before = last_width
        if width >= last_width:
            self._opened = width
        for i in range(1, count + 1):
            last = i == count
            now = width if last else last_width + (width - last_width) * i / count
            if self._held or self._closes(before, now):
                self._step(T_tool if last else _moved(last_T, shift, turn, i / count), before, now)
            before = now
        return self.report

    def _closes(self, before: float, now: float) -> bool:
        return before > self.nut.across_flats + GRIP.close_gap >= now

    def _step(self, T_tool: Array, before: float, now: float) -> None:
        if self._held and now >= self.nut.across_flats + GRIP.open_gap:
            self._release()
        elif not self._held and self._closes(before, now):
            self._close(T_tool)
        if isinstance(self._held, FreeNut):
            self._carry(self._held, T_tool)
        elif self._held:
            self._turn(self._held, T_tool)

    def _close(self, T_tool: Array) -> None:
        check = check_grip(T_tool, self._pose, self.nut, self._opened)
        if not check.held:
            missed = NutEvent.MISSED, f"the jaws missed the nut: {check.reason}"
            nothing = NutEvent.CLOSED_ON_NOTHING, "the jaws closed on nothing"
            self._report_event(*(missed if check.near else nothing))
        elif self._bolt:
            settled = self._turns + self._bolt.turns_by(check.settle)
            if 0.0 < settled <= self._bolt.max_turns:
                self._screw_to(self._bolt, settled)
            self._held = ThreadedNut(self._bolt, self.nut, self._turns, T_tool)
            self._report_event(NutEvent.GRIPPED, f"gripped on {self._bolt.name}")
        else:
            if float(self._pose[:3, 2] @ T_tool[:3, 2]) < 0.0:  # a nut has no front side
                self._pose = self._pose @ pose(np.diag([1.0, -1.0, -1.0]))
            self._start_carrying(T_tool)
            self._report_event(NutEvent.GRIPPED, f"picked up{self._pin and ' from ' + self._pin}")
            self._pin = ""

    def _release(self) -> None:
        self._held = None
        if self._bolt is None:
            if not self._hang_on_pin():
                self._fall(NutEvent.DROPPED, "it was released with no thread engaged")
            return
        left = f"left on {self._bolt.name}, {self.report.turns_engaged:.2f} turns engaged"
        self._report_event(NutEvent.RELEASED, left)

    def _hang_on_pin(self) -> bool:
        """Let a free nut hang on the pin that is in it; return whether there is one."""
        for name, pin in self.scene.bolts.items():
            if not self.scene.pin_misfit(name) and pin_holds(
                pin, self.nut, self._thread, self._pose
            ):
                at = inverse(pin.pose) @ self._pose
                roll = turn_z(twist_z(at[:3, :3]))
                self._pose, self._pin = pin.pose @ shift_z(float(at[2, 3])) @ roll, name
                self._report_event(NutEvent.RELEASED, f"left on {name}")
                return True
        return False

    def _turn(self, held: ThreadedNut, T_tool: Array) -> None:
        held.move(T_tool)
        self._screw_to(held.bolt, held.turns)
        if held.incident:
            self._report_event(*held.incident)
        if held.lost:
            self._held = None
            what = f"slipped out of the jaws on {held.bolt.name}"
            self._report_event(NutEvent.SLIPPED, f"{what}: {held.lost}")
        elif held.free:
            self._bolt = None
            # pulled off, it keeps the roll that it has at these turns
            self._pose = self._pose @ shift_z(-held.bolt.depth(held.turns))
            self._start_carrying(T_tool)
            self._report_event(NutEvent.CAME_FREE, f"came free of {held.bolt.name}")

    def _carry(self, held: FreeNut, T_tool: Array) -> None:
        held.move(T_tool)
        self._pose = held.pose
        if held.incident:
            self._report_event(*held.incident)
        if held.dropped:
            self._fall(*held.dropped)
        elif held.caught:
            self._bolt, turns = held.caught
            self._screw_to(self._bolt, turns)
            self._held = ThreadedNut(self._bolt, self.nut, turns, T_tool)
            self._report_event(NutEvent.CAUGHT, f"caught the thread of {self._bolt.name}")

    def _start_carrying(self, T_tool: Array) -> None:
        carried = FreeNut(self.scene, T_tool, self._pose)
        self._held, self._pose = carried, carried.pose

    def _screw_to(self, bolt: Bolt, turns: float) -> None:
        self._turns = turns
        self._pose = self.scene.nut_pose(bolt.name, turns)

    def _fall(self, event: NutEvent, reason: str) -> None:
        self._held, self._bolt = None, None
        x, y = (float(v) for v in self._pose[:2, 3])
        yaw = math.atan2(float(self._pose[1, 0]), float(self._pose[0, 0]))
        lying = self.scene.floor + self.nut.thickness / 2.0
        self._pose = pose(turn_z(yaw)[:3, :3], (x, y, lying))
        self._report_event(event, f"fell to the floor: {reason}")

    def _report_event(self, event: NutEvent, message: str) -> None:
        if message != self._last_incident.message:
            _LOGGER.info("the nut: %s", message)
        self._last_incident = NutIncident(event, message)


class PayloadWorld:
    """Tracks the payloads of a scene from geometry alone.

    Closing jaws grip a payload, which then moves with the tool. Opening jaws release it, and it
    falls straight down. The scene has the initial poses. Without jaws, payloads stay there.
    """

    def __init__(self, scene: Scene, jaws: Gripper | None) -> None:
        self.scene = scene
        self._jaws = jaws
        self._names = [obj.name for obj in scene.objects.values() if obj.is_payload]
        self._carried: Carried | None = None
        self._last: tuple[Array, float] | None = None
        self._opened = 0.0  # width of the jaws when they started to close, with the tool at rest

    @property
    def held(self) -> str:
        """Name of the payload in the jaws, or ""."""
        return self._carried.name if self._carried else ""

    @property
    def poses(self) -> Mapping[str, Array]:
        """base_link <- payload (4, 4) by name [m]."""
        return {name: self.scene.objects[name].pose for name in self._names}

    def update(self, T_tool: Array, width: float) -> bool:
        """Update base_link <- tool0 (4, 4) and the width [m]; return whether a payload moved."""
        last, self._last = self._last, (np.array(T_tool), width)
        if self._carried is not None:
            self._carry(self._carried, T_tool, width)
            return True
        if last is None or width > last[1] or np.abs(T_tool - last[0]).max() > _STILL:
            self._opened = width
            return False
        return width < self._opened and any(self._catch(n, T_tool, width) for n in self._names)

    def _carry(self, carried: Carried, T_tool: Array, width: float) -> None:
        self.scene = self.scene.with_object(carried.name, T_tool @ carried.grasp)
        if width > carried.width + _SLACK:
            landed, on = resting_pose(self.scene, carried.name)
            self.scene = self.scene.with_object(carried.name, landed)
            self._carried = None
            _LOGGER.info("%s: released, lies on %s", carried.name, on)

    def _catch(self, name: str, T_tool: Array, width: float) -> bool:
        if self._jaws is None:
            return False
        found = grasp(self.scene.objects[name], T_tool, self._jaws, self._opened)
        if isinstance(found, str) or width > found.width:
            return False
        self._carried = found
        self.scene = self.scene.with_object(name, T_tool @ found.grasp)
        _LOGGER.info("%s: gripped", name)
        return True


def _moved(T: Array, shift: Array, turn: Array, fraction: float) -> Array:
    """Return a pose (4, 4) after a fraction of a shift (3,) and a turn (3,) in its own axes."""
    return pose(T[:3, :3] @ so3_exp(turn * fraction), T[:3, 3] + shift * fraction)
