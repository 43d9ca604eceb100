# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""What contact physics needs of an arm and a scene, and the truth about the nut as a report."""

from __future__ import annotations

from arm_hardware.bus.wiring import ServoBoard
from arm_hardware.calibration.calibration import Calibration
from arm_hardware.calibration.selection import calibration_for, config_folder
from arm_hardware.errors import CalibrationError
from arm_simulation.mjcf.scene_objects import BoltBody, NutBody, PinBody, SolidBody, SolidPart
from arm_simulation.world import NutTruth, SimulatedScene

from arm_description import RobotModel
from arm_tasks.errors import TasksError
from arm_tasks.scene.nut_state import NutEvent, NutReport, NutStatus
from arm_tasks.scene.scene import Bolt, Scene


def simulated_servos(model: RobotModel, calibration: str) -> tuple[Calibration, ServoBoard]:
    """Return the calibration of an arm, by path or name, and its board.

    Raises:
        TasksError: the arm cannot be driven by the pulses of a board alone, or there is no such
            calibration.
    """
    try:
        found = calibration_for(model, calibration, config_folder(), simulated=True)
    except CalibrationError as error:
        raise TasksError(str(error)) from None
    if not isinstance(found.board, ServoBoard):
        raise TasksError(
            f"contact physics read the pulses of a servo board, and {found.path.name} has none; "
            "use the geometric world"
        )
    return found, found.board


def simulated_scene(scene: Scene) -> SimulatedScene:
    """Return the bodies of a scene.

    A nut starts on its bolt, as screwed on as the scene says; other bolts catch it at their
    `thread_start`.

    Raises:
        SimulationError: a thread is impossible.
    """
    bolts = {name: _body(bolt) for name, bolt in scene.bolts.items()}
    nut = None
    if scene.nut is not None:
        thread = scene.nut_thread
        nut = NutBody(scene.nut_start(), thread, scene.nut.across_flats, scene.nut.thickness)
    solids = tuple(
        SolidBody(
            item.name,
            item.pose,
            tuple(SolidPart(p.kind, p.size, p.pose, p.color) for p in item.parts),
            item.mass,
        )
        for item in scene.objects.values()
    )
    return SimulatedScene(tuple(bolts.values()), nut, solids, scene.floor)


def _body(bolt: Bolt) -> BoltBody | PinBody:
    if bolt.is_pin:
        return PinBody(bolt.name, bolt.pose, bolt.diameter, bolt.length)
    return BoltBody(bolt.name, bolt.pose, bolt.thread, bolt.length, bolt.start)


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
