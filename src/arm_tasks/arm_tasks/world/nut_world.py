# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Geometric model of the nut: decides where it is from tool poses and jaw widths alone."""

from __future__ import annotations

import logging
import math

import numpy as np
from arm_common.transforms import Array, PoseInterpolation, is_rigid, pose, turn_z

from arm_tasks.errors import WorldError
from arm_tasks.scene.grasp import GRIP, check_grip
from arm_tasks.scene.nut_state import NutEvent, NutIncident, NutReport, NutStatus
from arm_tasks.scene.objects import readonly
from arm_tasks.scene.scene import Bolt, Scene
from arm_tasks.world.free_nut import FreeNut
from arm_tasks.world.threaded_nut import CrossThreadedNut, ThreadedNut

_LOGGER = logging.getLogger(__name__)
_STEP_LENGTH = 0.25e-3  # the motion between two updates is divided into steps of this [m]
_STEP_ANGLE = math.radians(2.0)
_MOST_STEPS = 400


class NutWorld:
    """Where the nut is, decided from geometry alone.

    On a thread the nut has one freedom, its turns; the gripper turns it by its own rotation about
    the bolt's axis and may slide along the flats. Off the thread it moves with the gripper. Let
    go, it falls. It meets a bolt's end, slides back in the jaws, and catches the thread when it
    is turned past the place where the two threads start; too much askew it is threaded across.
    Jaws and arm give as far as GRIP and CONTACT say. Equal inputs give equal outputs.
    """

    def __init__(self, scene: Scene) -> None:
        self.scene = scene
        self.nut = scene.the_nut()
        self._pose = scene.nut_start()
        self._bolt: Bolt | None = scene.bolt(self.nut.on)
        self._turns = self.nut.turns
        self._held: ThreadedNut | FreeNut | CrossThreadedNut | None = None
        self._jam: CrossThreadedNut | None = None
        self._opened = math.inf  # the width that the jaws close from
        self._last: tuple[Array, float] | None = None
        self._last_incident = NutIncident(NutEvent.START, f"on {self.nut.on} from the start")

    @property
    def report(self) -> NutReport:
        """The nut now."""
        held, bolt, engaged = self._held is not None, "", 0.0
        status = NutStatus.HELD if held else NutStatus.FALLEN
        if self._bolt:
            bolt, engaged = self._bolt.name, self._bolt.engaged(self._turns, self.nut.thickness)
            status = NutStatus.ON_BOLT_HELD if held else NutStatus.ON_BOLT
        event, message = self._last_incident
        return NutReport(status, bolt, engaged, held, readonly(self._pose), message, event)

    def update(self, T_tool: Array, width: float) -> NutReport:
        """Move the gripper to its current pose and return the nut then.

        T_tool is base_link <- tool0 (4, 4), the width that of the jaws [m]. The motion since the
        last update is taken as straight, in small steps, so that updates may be rare: less than
        half a turn apart. A pose or width that is invalid raises a WorldError.
        """
        T_tool = np.array(T_tool, dtype=np.float64)
        if not is_rigid(T_tool):
            raise WorldError("the tool's pose is not a finite rigid transform (4, 4)")
        if not math.isfinite(width):
            raise WorldError(f"the gripper's width is {width}; it must be a finite number")
        last_T, last_width = self._last or (T_tool, width)
        self._last = (T_tool, width)
        between = PoseInterpolation.between(last_T, T_tool)
        steps = max(between.distance / _STEP_LENGTH, between.angle / _STEP_ANGLE, 1.0)
        count = min(math.ceil(steps), _MOST_STEPS)
        before = last_width
        if width >= last_width:
            self._opened = width
        for i in range(1, count + 1):
            last = i == count
            now = width if last else last_width + (width - last_width) * i / count
            if self._held or self._closes(before, now):
                self._step(T_tool if last else between.at(i / count), before, now)
            before = now
        return self.report

    def _closes(self, before: float, now: float) -> bool:
        return before > self.nut.across_flats + GRIP.close_gap >= now

    def _step(self, T_tool: Array, before: float, now: float) -> None:
        if self._held and now >= self.nut.across_flats + GRIP.open_gap:
            self._let_go()
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
            self._set(*(missed if check.near else nothing))
        elif self._jam:
            self._jam.grip(T_tool)
            self._held = self._jam
            self._set(NutEvent.GRIPPED, f"gripped, {self._jam.message}")
        elif self._bolt:
            settled = self._turns + self._bolt.turns_by(check.settle)
            if 0.0 < settled <= self._bolt.most_turns:
                self._screw_to(self._bolt, settled)
            self._held = ThreadedNut(self._bolt, self.nut, self._turns, T_tool)
            self._set(NutEvent.GRIPPED, f"gripped on {self._bolt.name}")
        else:
            if float(self._pose[:3, 2] @ T_tool[:3, 2]) < 0.0:  # a nut has no front
                self._pose = self._pose @ pose(np.diag([1.0, -1.0, -1.0]))
            self._carry_from(T_tool)
            self._set(NutEvent.GRIPPED, "picked up")

    def _let_go(self) -> None:
        self._held = None
        if self._bolt is None:
            self._fall(NutEvent.DROPPED, "it was let go with no thread engaged")
            return
        if self._jam:
            self._set(NutEvent.RELEASED, f"left there, {self._jam.message}")
            return
        left = f"left on {self._bolt.name}, {self.report.turns_engaged:.2f} turns engaged"
        self._set(NutEvent.RELEASED, left)

    def _turn(self, held: ThreadedNut | CrossThreadedNut, T_tool: Array) -> None:
        held.move(T_tool)
        if isinstance(held, CrossThreadedNut):
            self._pose = held.pose
        else:
            self._screw_to(held.bolt, held.turns)
        if held.incident:
            self._set(*held.incident)
        if held.lost:
            self._held = None
            what = f"slipped out of the jaws on {held.bolt.name}"
            self._set(NutEvent.SLIPPED, f"{what}: {held.lost}")
        elif held.free:
            self._jam, self._bolt = None, None
            self._carry_from(T_tool)
            what = "came free of" if isinstance(held, ThreadedNut) else "turned back off"
            self._set(NutEvent.CAME_FREE, f"{what} {held.bolt.name}")

    def _carry(self, held: FreeNut, T_tool: Array) -> None:
        held.move(T_tool)
        self._pose = held.pose
        if held.incident:
            self._set(*held.incident)
        if held.dropped:
            self._fall(*held.dropped)
        elif held.caught:
            self._bolt, turns = held.caught
            self._screw_to(self._bolt, turns)
            self._held = ThreadedNut(self._bolt, self.nut, turns, T_tool)
            self._set(NutEvent.CAUGHT, f"caught the thread of {self._bolt.name}")
        elif held.across:
            bolt, tilt = held.across
            self._bolt, self._turns = bolt, 0.0
            self._jam = CrossThreadedNut(bolt, self._pose, tilt, T_tool)
            self._held = self._jam
            self._set(*self._jam.incident)

    def _carry_from(self, T_tool: Array) -> None:
        carried = FreeNut(self.nut, self.scene.bolts.values(), T_tool, self._pose)
        self._held, self._pose = carried, carried.pose

    def _screw_to(self, bolt: Bolt, turns: float) -> None:
        self._turns = turns
        self._pose = self.scene.nut_pose(bolt.name, turns)

    def _fall(self, event: NutEvent, why: str) -> None:
        self._held, self._bolt = None, None
        x, y = (float(v) for v in self._pose[:2, 3])
        yaw = math.atan2(float(self._pose[1, 0]), float(self._pose[0, 0]))
        lying = self.scene.floor + self.nut.thickness / 2.0
        self._pose = pose(turn_z(yaw)[:3, :3], (x, y, lying))
        self._set(event, f"fell to the floor: {why}")

    def _set(self, event: NutEvent, message: str) -> None:
        if message != self._last_incident.message:
            _LOGGER.info("the nut: %s", message)
        self._last_incident = NutIncident(event, message)
