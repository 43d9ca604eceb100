# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
# Tests: src/arm_simulation/test/emulation/test_driver.py
"""The driver without ROS: bus, controller, control loop, and parking before release."""

from __future__ import annotations

import logging
import os
import threading
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from arm_common.errors import one_line
from arm_description.model.units import SHOWN
from arm_description.robot_model import RobotModel

from arm_hardware import PARTS
from arm_hardware.backends import EmulatedHardware, backend_for
from arm_hardware.bus.interface import CHANNELS, Bus, SerialBus
from arm_hardware.calibration.axes import Axes, check_position, rest_positions
from arm_hardware.calibration.calibration import Calibration, axes_of, driven_axes, driven_model
from arm_hardware.calibration.selection import calibration_for
from arm_hardware.calibration.servo_map import FineMap, ServoMap
from arm_hardware.clock import SteadyClock, driver_clock
from arm_hardware.control.controller import TrajectoryController
from arm_hardware.control.loop import (
    SLIP,
    SLIP_SIMULATED,
    ControlLoop,
    OeHeartbeat,
    SystemdNotifier,
    tick_period,
)
from arm_hardware.control.servo_output import ServoOutput
from arm_hardware.errors import (
    ARM,
    RELEASE,
    CalibrationError,
    CommandError,
    HardwareError,
    StateError,
)
from arm_hardware.motion.execution import GoalOutcome
from arm_hardware.motion.goal_validation import ValidatedGoal, single_point_goal
from arm_hardware.motion.options import ENDINGS, DriverOptions

if TYPE_CHECKING:
    from arm_hardware.control.sag_compensation import SagCompensation

_LOGGER = logging.getLogger(__name__)
PARK_SPEED = 0.3  # share of each joint's speed limit, if PARK_TIME allows
# [s] for the motion to rest, if speed limits allow: launch sends SIGTERM 5 s after SIGINT
PARK_TIME = 3.5
PARK_TIMEOUT = 10.0  # [s] of wall time, after which the servos are released wherever they are
SETTLE_TIME = 0.3  # [s] of wall time by which a servo lags behind its pulses
# [s] in which a second signal counts as a repetition: a terminal and a launcher both send one
SIGNAL_ECHO = 0.5
POLL_PERIOD = 0.02  # [s]
OE_INTERRUPTED = (
    "the heartbeat of oe_heartbeat_line was interrupted, so the servos got no pulses; to arm "
    f"again, run {ARM}."
)
ARM_TIMEOUT = 10.0  # [s] of wall time beyond the duration of arming before it has failed


def park(
    controller: TrajectoryController, rest: Sequence[float], cut_short: Callable[[], bool]
) -> bool:
    """Move slowly to the rest posture [rad or m]; return whether the arm has arrived.

    The gripper does not move. Meanwhile no goals are accepted, but the stop works. Parking ends
    early when ``cut_short``, which is polled, returns True.
    """
    try:
        goal = controller.follow(_goal_at_rest(controller, rest))
        controller.set_speed_scaling(1.0)
        controller.refuse_new_goals("the driver is ending")
    except HardwareError as error:
        _LOGGER.warning("The arm is not parked: %s", error)
        return False
    begin = time.monotonic()
    while not goal.wait(POLL_PERIOD):
        waited = time.monotonic() - begin
        if waited > PARK_TIMEOUT or (cut_short() and waited > SIGNAL_ECHO):
            _LOGGER.warning("Parking was cut short.")
            return False
    if goal.outcome is not GoalOutcome.SUCCEEDED:
        _LOGGER.warning("The arm is not parked: %s", goal.message)
        return False
    time.sleep(SETTLE_TIME)
    _LOGGER.info("Parked.")
    return True


def _goal_at_rest(controller: TrajectoryController, rest: Sequence[float]) -> ValidatedGoal:
    start, arm = controller.command()[0], controller.axes.arm
    least = max(
        abs(home - now) / axis.velocity for axis, home, now in zip(arm, rest, start, strict=False)
    )
    seconds = max(min(least / PARK_SPEED, PARK_TIME), 1.05 * least, POLL_PERIOD)
    return single_point_goal(controller.axes, seconds, rest[: len(arm)])


def _check_constraints(axes: Axes, rest: Sequence[float]) -> None:
    """Raise CommandError for a rest posture outside of limits that depend on other joints."""
    if axes.coupling is None or not axes.coupling.constraints:
        return
    violation = axes.coupling.constraints.worst(rest[: len(axes.arm)])
    if violation is not None:
        raise CommandError(
            f"{violation.sentence}, and the rest posture is outside; change the posture rest of "
            "the robot, or measure its servos again.",
            joint=violation.joint,
        )


class Driver:
    """One arm's driver, from configuration to exit.

    Attributes:
        period: Length of a tick [s] of the clock.
        calibration: None with fake hardware.
        axes: The arm, limits narrowed to what its servos can reach.
        emulation: The emulated board or bus, with servos; None without sim hardware.
        rehearsal: Lets the emulated servos fail; None without sim hardware.
        limited: The robot with the limits of its axes.
        controller: Takes commands.
        rest: The rest posture [rad or m], as ``axes.all``.
    """

    def __init__(
        self, model: RobotModel, options: DriverOptions, clock: SteadyClock | None = None
    ) -> None:
        """Create a driver without accessing hardware; raise HardwareError for wrong options."""
        options.check()
        self.options = options
        self.clock = clock or driver_clock(options.speed, options.sim_pace)
        self.period = tick_period(options.rate_hz, options.speed)
        self.calibration: Calibration | None = None
        self._model = model
        self.axes, maps = self._axes_and_maps()
        self.limited = driven_model(model, self.axes)
        rest = rest_positions(self.limited, self.axes)
        self.axes = self.axes.prefixed(options.prefix)
        for axis, position in zip(self.axes, rest, strict=True):
            check_position(axis, position, " of the rest posture", SHOWN)
        _check_constraints(self.axes, rest)
        self.bus, self.emulation = self._connection()
        self.rehearsal = (
            None if self.emulation is None else self.emulation.rehearsal(self.axes, maps)
        )
        self.output = ServoOutput(self.bus, self.axes, maps, self.period, self._compensation())
        self.controller = TrajectoryController(
            self.axes, self.output, self.period, rest, options.slow_homing, options
        )
        self.rest = rest
        self.loop = self._control_loop()
        self._systemd = SystemdNotifier(os.environ)
        self._oe: OeHeartbeat | None = None
        self._open = False
        self._closing = threading.Lock()

    def _compensation(self) -> SagCompensation | None:
        """Return the compensation of sag, None if it is off; raise HardwareError if impossible."""
        limit, calibration = self.options.max_sag_compensation, self.calibration
        if not limit or calibration is None:
            return None
        stiffness = calibration.stiffness(axes_of(self._model))
        kind: type[SagCompensation] = PARTS.load("sag compensation")
        return kind.of_model(self._model, self.axes, stiffness, limit, self.period)

    def _control_loop(self) -> ControlLoop:
        speed = self.options.speed
        return ControlLoop(
            self.controller.tick,
            self._failed,
            self.clock,
            self.period,
            SLIP if speed == 1.0 else SLIP_SIMULATED,
            self.options.priority,
            self.options.stall_timeout * speed,
            lambda late: self.controller.stalled(late / speed),
            self._beat,
        )

    def open(self) -> None:
        """Open the bus, read the registers and start the control loop, without sending pulses."""
        try:
            self.output.bus.open()
            self._check_bus_speed()
            if self.options.oe_heartbeat_line:
                self._begin_heartbeat()
            self.controller.read()
        except Exception:
            self._close_bus()
            raise
        self._open = True
        self._systemd.watch()
        self.loop.start()

    def begin_arming(self) -> None:
        """Start arming and return; ``controller.arming`` is true until every servo has pulses.

        Raises:
            HardwareError: The calibration of real hardware is an example, the stop is latched, or
                the bus is lost.
        """
        if self.options.hardware == "real" and self.calibration and self.calibration.example:
            raise CalibrationError(
                "is an example; copy it, measure your servos, set example: false",
                file=str(self.calibration.path),
            )
        self.controller.arm()

    def arm(self) -> None:
        """Arm, and wait until every servo has pulses; raise HardwareError if that fails."""
        self.begin_arming()
        deadline = (
            time.monotonic() + ARM_TIMEOUT + self.controller.arming_duration / self.options.speed
        )
        while self.controller.arming:
            if time.monotonic() > deadline:
                self.controller.disarm("arming took too long.")
                raise StateError("The servos could not be armed: the control loop does not run.")
            time.sleep(0.005)
        self.controller.require_ready()

    def close(self, action: str = "", cut_short: Callable[[], bool] = lambda: False) -> None:
        """End the driver by holding, parking or releasing, by default as configured.

        Parking ends early when ``cut_short``, which is polled, returns True. Never raises.
        """
        with self._closing:
            if not self._open:
                return
            action = action or self.options.final_action
            _LOGGER.info("The driver ends: %s.", ENDINGS[action])
            if action == "park":
                park(self.controller, self.rest, cut_short)
            self._open = False
            if not self.loop.close():
                _LOGGER.error(
                    "The control loop hangs in a transfer; the servos keep their pulses. Switch "
                    "their power off, or run: %s",
                    RELEASE,
                )
                return
            self._systemd.unwatch()
            try:
                if action == "hold":
                    self.controller.disarm("the driver ended.")
                else:
                    self.controller.end("the driver ended.")
            except HardwareError as error:
                _LOGGER.error("The servos could not be released: %s", error)
            self._close_bus()

    def _close_bus(self) -> None:
        if self._oe is not None:
            self._oe.close()
        self.bus.close()
        if self.emulation is not None:
            self.emulation.close()

    def _check_bus_speed(self) -> None:
        """Warn if a tick in which all servos move takes longer on the bus than it may."""
        needed = self.output.bus.tick_time(servo.channel for servo in self.output.maps)
        tick = self.period / self.options.speed
        if needed > tick:
            _LOGGER.warning(
                "While all %d servos move, the bus needs %.0f ms of each %.0f ms tick, so motions "
                "take longer; use a faster bus (%s) or a lower rate_hz.",
                len(self.output.maps),
                1e3 * needed,
                1e3 * tick,
                self.bus.phrases.faster,
            )

    def _begin_heartbeat(self) -> None:
        """Begin the heartbeat, which switches the board's outputs on.

        The pulses of an earlier process, to which the servos would jump, end first.
        """
        line = PARTS.load("heartbeat line")(self.options.oe_heartbeat_line)
        self._oe = OeHeartbeat(line, time.monotonic())
        self.output.bus.start()
        self.output.bus.release(range(CHANNELS))

    def _beat(self) -> None:
        """Show watchdogs outside the process that the control loop runs."""
        now = time.monotonic()
        self._systemd.beat(now)
        if self._oe is None:
            return
        try:
            if self._oe.interrupted(now):
                self.controller.release(OE_INTERRUPTED)
            self._oe.beat(now)
        except HardwareError as error:
            self.controller.fail(str(error))

    def _axes_and_maps(self) -> tuple[Axes, tuple[ServoMap, ...]]:
        if self.options.hardware == "fake":
            axes, _ = driven_axes(self._model, None, self.period)
            return axes, tuple(FineMap(i) for i in range(len(axes.actuators)))
        simulated, name = self.options.hardware == "sim", self.options.calibration
        self.calibration = calibration_for(self._model, name, self.options.folder, simulated)
        narrowed, maps = driven_axes(self._model, self.calibration, self.period)
        for axis, narrow in zip(axes_of(self._model), narrowed, strict=True):
            if narrow != axis:
                _LOGGER.info("%s: limits narrowed by its calibration.", axis.name)
        return narrowed, maps

    def _connection(self) -> tuple[Bus, EmulatedHardware | None]:
        """Return the closed bus, and the emulated hardware that it drives, if any."""
        if self.options.hardware == "fake" or self.calibration is None:
            return PARTS.load("fake bus")(), None
        board, kept = self.calibration.board, self.options.sim_registers
        backend = backend_for(self.options.backend, board, self.calibration.path)
        if isinstance(board, SerialBus) and (kept or self.options.oe_heartbeat_line):
            raise HardwareError(
                "sim_registers and oe_heartbeat_line are of a PCA9685; smart servos on a serial "
                "bus have neither."
            )
        board = backend.with_needs(self.calibration, board, self._model)
        clock = None if self.options.hardware == "real" else self.clock
        return backend.connection(board, clock, Path(kept) if kept else None)

    def _failed(self, error: Exception) -> None:
        """Enter FAULT after an unexpected exception in the control loop."""
        if not isinstance(error, HardwareError):
            self.controller.fail(
                f"Internal error of the driver ({one_line(repr(error), 300)}); please report it."
            )
