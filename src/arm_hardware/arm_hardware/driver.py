# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""The driver without ROS: robot, calibration, bus, motion and loop put together.

The way home before the servos are released.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from arm_hardware.backends import real_bus, sim_bus, simulated_board
from arm_hardware.bus.fake import FakeBus
from arm_hardware.bus.interface import Bus
from arm_hardware.calibration.axes import Axes, axes_of, check_position, rest_of
from arm_hardware.calibration.calibration import Calibration, calibration_path
from arm_hardware.calibration.file import load_calibration
from arm_hardware.calibration.servo_map import FineMap, ServoMap
from arm_hardware.clock import Clock, SteadyClock
from arm_hardware.control.controller import TrajectoryController
from arm_hardware.control.loop import SLIP, SLIP_SIMULATED, ControlLoop, period_of
from arm_hardware.control.servo_output import ServoOutput
from arm_hardware.errors import CalibrationError, HardwareError, StateError
from arm_hardware.motion.execution import GoalOutcome
from arm_hardware.motion.goal_validation import (
    GoalPoint,
    TrajectoryGoal,
    ValidatedGoal,
    validate_goal,
)
from arm_hardware.motion.options import DriverOptions

if TYPE_CHECKING:
    from arm_hardware.simulation.arm import SimulatedBoard

_LOGGER = logging.getLogger(__name__)
SHARE = 0.3  # of each joint's speed limit, if the time allows
# [s] of the way home, if the speed limits allow: launch gives a process 5 s from SIGINT to SIGTERM
WISHED = 3.5
WITHIN = 10.0  # [s] of the wall; then the servos are released wherever they are
SETTLE = 0.3  # [s] of the wall; a servo is that far behind its pulses
ECHO = (
    0.5  # [s] in which a second signal is the echo of the first: of a terminal and of a launcher
)
POLL = 0.02  # [s]


def park(motion: TrajectoryController, rest: Sequence[float], hurried: Callable[[], bool]) -> bool:
    """Go to the rest posture slowly; return whether the arm is there.

    The gripper stays as it is. Nothing else is accepted meanwhile; the stop works.

    Args:
        motion: Of the driver.
        rest: Posture, the arm's axes first [rad or m].
        hurried: Asked again and again: whether to give up.
    """
    try:
        goal = motion.follow(_way_home(motion, rest))
        motion.accept_no_more("the driver is ending")
    except HardwareError as error:
        _LOGGER.warning("The arm is not parked: %s", error)
        return False
    begin = time.monotonic()
    while not goal.wait(POLL):
        waited = time.monotonic() - begin
        if waited > WITHIN or (hurried() and waited > ECHO):
            _LOGGER.warning("Parking was cut short.")
            return False
    if goal.outcome is not GoalOutcome.SUCCEEDED:
        _LOGGER.warning("The arm is not parked: %s", goal.message)
        return False
    time.sleep(SETTLE)
    _LOGGER.info("Parked.")
    return True


def _way_home(motion: TrajectoryController, rest: Sequence[float]) -> ValidatedGoal:
    """Return the plan of one straight way."""
    here, arm = motion.command()[0], motion.axes.arm
    least = max(
        abs(home - now) / axis.velocity for axis, home, now in zip(arm, rest, here, strict=False)
    )
    seconds = max(min(least / SHARE, WISHED), 1.05 * least, POLL)
    way = TrajectoryGoal(motion.axes.names, [GoalPoint(seconds, tuple(rest[: len(arm)]))])
    return validate_goal(way, motion.axes)


ARM_WITHIN = 10.0  # [s] of the wall beyond what arming takes, then the loop is taken for dead


class Driver:
    """One arm's driver, from configuration to the way out.

    Attributes:
        options: As chosen.
        clock: Time base.
        period: Length of a tick [s] of that clock.
        calibration: None with fake hardware.
        axes: The arm, limits narrowed to what its servos can be told.
        bus: The board.
        sim: What stands in for board and servos; None but with sim hardware.
        output: The lowest layer before the bus.
        motion: Takes commands.
        loop: Ticks.
    """

    def __init__(self, model: Any, options: DriverOptions, clock: Clock | None = None) -> None:
        """Make a driver that has touched nothing yet.

        Args:
            model: An ``arm_description.RobotModel``.
            options: Checked here.
            clock: Time base; a steady clock at the options' speed if None.

        Raises:
            HardwareError: The options make no sense.
        """
        options.check()
        self.options = options
        self.clock = clock or SteadyClock(options.speed)
        self.period = period_of(options.rate_hz, options.speed)
        self.calibration: Calibration | None = None
        self.sim: SimulatedBoard | None = None
        self._model = model
        self.axes, maps = self._axes_and_maps()
        rest = rest_of(model, self.axes)
        for axis, position in zip(self.axes, rest, strict=True):
            check_position(axis, position, " of the rest posture")
        self.bus: Bus = self._make_bus()
        self.output = ServoOutput(self.bus, self.axes, maps, self.period)
        slowly = options.recovers_slowly
        self.motion = TrajectoryController(
            self.axes, self.output, self.period, rest, slowly, options.conduct
        )
        self._rest = rest
        slip = SLIP if options.speed == 1.0 else SLIP_SIMULATED
        self.loop = ControlLoop(
            self.motion.tick, self._failed, self.clock, self.period, slip, options.priority
        )
        self._open = False
        self._closing = threading.Lock()

    def open(self) -> None:
        """Open the bus, read the registers, start the control loop; send no pulse.

        Raises:
            BusError: The board is not there.
        """
        try:
            self.output.open()
            self.motion.read()
        except HardwareError:
            self.bus.close()
            raise
        self._open = True
        self.loop.start()

    def begin_arming(self) -> None:
        """Begin to arm, and return; ``motion.arming`` tells when every servo has its pulse.

        Raises:
            HardwareError: The calibration is an example but the hardware real, the stop is
                latched, or the bus is lost.
        """
        if self.options.hardware == "real" and self.calibration and self.calibration.example:
            raise CalibrationError(
                "is an example; copy it, measure your servos, set example: false",
                str(self.calibration.path),
            )
        self.motion.arm()

    def arm(self) -> None:
        """Arm; return when every servo has its pulse.

        Raises:
            HardwareError: As in begin_arming(), or something ended the arming.
        """
        self.begin_arming()
        deadline = time.monotonic() + ARM_WITHIN + self.motion.arming_takes / self.options.speed
        while self.motion.arming:
            if time.monotonic() > deadline:
                self.motion.disarm("arming took too long.")
                raise StateError("The servos could not be armed: the control loop does not run.")
            time.sleep(0.005)
        self.motion.require_ready()

    def close(self, action: str = "", hurried: Callable[[], bool] = lambda: False) -> None:
        """Leave: refuse motion, end the loop, hold or release. Never raises.

        Args:
            action: hold, park or release; empty for what the options say.
            hurried: Asked while parking: whether to release at once.
        """
        with self._closing:
            if not self._open:
                return
            action = action or self.options.at_exit
            if action == "park":
                park(self.motion, self._rest, hurried)
            self._open = False
            if not self.loop.close():
                _LOGGER.error(
                    "The control loop hangs in a transfer; the servos keep their pulses. Switch "
                    "their power off, or run: ros2 run arm_hardware release"
                )
                return
            try:
                if action == "hold":
                    self.motion.disarm("the driver ended.")
                else:
                    self.motion.release("the driver ended.")
            except HardwareError as error:
                _LOGGER.error("The servos could not be released: %s", error)
            self.bus.close()

    def _axes_and_maps(self) -> tuple[Axes, tuple[ServoMap, ...]]:
        axes = axes_of(self._model)
        if self.options.hardware == "fake":
            return axes, tuple(FineMap(i) for i in range(len(axes)))
        path = calibration_path(self.options.calibration, self._model.name, self.options.folder)
        self.calibration = load_calibration(path)
        if self.calibration.robot != self._model.name:
            raise CalibrationError(
                f"is for robot '{self.calibration.robot}', not '{self._model.name}'", str(path)
            )
        narrowed = self.calibration.narrowed(axes)
        for axis, narrow in zip(axes, narrowed, strict=True):
            if narrow != axis:
                _LOGGER.info("%s: limits narrowed by its calibration.", axis.name)
        return narrowed, self.calibration.maps(axes)

    def _make_bus(self) -> Bus:
        if self.options.hardware == "fake" or self.calibration is None:
            return FakeBus()
        board, backend = self.calibration.board, self.options.backend
        if self.options.hardware == "real":
            return real_bus(backend, board)
        kept = self.options.sim_registers
        self.sim = simulated_board(board, self.clock, Path(kept) if kept else None)
        return sim_bus(backend, board, self.sim)

    def _failed(self, error: Exception) -> None:
        """The loop's tick raised: nothing more is sent until armed again."""
        if not isinstance(error, HardwareError):
            self.motion.fail(f"The driver failed inside ({error!r}); please report this defect.")
