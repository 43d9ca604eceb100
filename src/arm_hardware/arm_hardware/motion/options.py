# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Options of the driver: hardware and motion."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from arm_hardware.backends import AUTO, backend_names
from arm_hardware.calibration.selection import config_folder
from arm_hardware.errors import HardwareError
from arm_hardware.motion.current_limits import PowerBudget


@dataclass(frozen=True)
class GripForceOptions:
    """Limits of the grip force and its duration, in counts of the board past the contact."""

    limit: int = 8  # most counts that a command may request
    time: float = 10.0  # seconds after which the gripper backs off; 0 for never
    held: int = 2  # counts that remain then


@dataclass(frozen=True)
class MotionOptions:
    """Options of motion."""

    jerk_time: float = 0.0  # for acceleration to rise from 0 to its limit [s]; 0: no jerk limit
    command_timeout: float = 0.5  # longest time between two trajectories of a stream [s]; 0: any
    power_budget: PowerBudget = field(default_factory=PowerBudget)
    grip_force: GripForceOptions = field(default_factory=GripForceOptions)

    def check(self) -> None:
        """Raise HardwareError for an invalid option."""
        for what, value, most in (
            ("jerk_time", self.jerk_time, 2.0),
            ("command_timeout", self.command_timeout, 60.0),
            ("max_moving_joints", self.power_budget.joints, 16),
            ("stagger", self.power_budget.stagger, 2.0),
            ("grip_force_limit_counts", self.grip_force.limit, 100),
            ("gripper_hold_time", self.grip_force.time, 3600.0),
            ("gripper_hold_squeeze", self.grip_force.held, 100),
        ):
            if not 0.0 <= value <= most:
                raise HardwareError(f"{what} {value:g} is not within 0 to {most:g}.")


DEFAULT_MOTION = MotionOptions()
HARDWARE = ("fake", "sim", "real")
EXIT_ACTIONS = ("auto", "hold", "park", "release")  # auto: release real servos, hold others
RECOVERIES = ("auto", "slow", "direct")  # auto: slow with real servos, direct with others
MOST_SAG = 0.2  # [rad or m] of max_sag_compensation
PRIORITY = 40  # of the control loop with real servos: above programs, below the kernel's threads


@dataclass(frozen=True)
class DriverOptions:
    """The hardware and how it is driven; see the node's parameters."""

    hardware: str = "fake"
    backend: str = AUTO  # of sim and real
    calibration: str = ""  # path or shipped name; empty means the shipped one of the robot
    prefix: str = ""  # of the joints' names in commands, states and messages
    rate_hz: float = 50.0  # ticks per second of driver time
    speed: float = 1.0  # driver seconds per wall second; only 1 with real hardware
    exit_action: str = "auto"
    recovery: str = "auto"  # how servos without pulses go to the rest posture
    stall_timeout: float = 1.0  # wall seconds without a tick that end a motion; 0: none
    realtime_priority: int = -1  # of the control loop's thread; 0 for none, -1 for auto
    sim_registers: str = ""  # file that keeps the simulated chip's registers; empty for none
    sim_pace: str = ""  # file of the time that the driver shares with a simulated world
    oe_heartbeat_line: str = ""  # GPIO line that the control loop toggles; empty for none
    max_sag_compensation: float = 0.0  # largest offset of a joint [rad or m]; 0: none
    motion_options: MotionOptions = field(default_factory=MotionOptions)
    folder: Path = field(default_factory=config_folder)  # where shipped calibrations are

    def check(self) -> None:
        """Raise HardwareError for an invalid option."""
        for what, word, allowed in (
            ("hardware", self.hardware, HARDWARE),
            ("backend", self.backend, backend_names()),
            ("exit_action", self.exit_action, EXIT_ACTIONS),
            ("recovery", self.recovery, RECOVERIES),
        ):
            if word not in allowed:
                raise HardwareError(f"{what} '{word}' is not one of {', '.join(allowed)}.")
        if not -1 <= self.realtime_priority <= 99:
            raise HardwareError(f"realtime_priority {self.realtime_priority} is not -1 to 99.")
        for what, value, least, most in (
            ("max_sag_compensation", self.max_sag_compensation, 0.0, MOST_SAG),
            ("stall_timeout", self.stall_timeout, 0.0, 60.0),
            ("speed", self.speed, 0.01, 100.0),
            ("rate_hz", self.rate_hz, 5.0, 200.0),
        ):
            if not least <= value <= most:
                raise HardwareError(f"{what} {value:g} is not within {least:g} to {most:g}.")
        if self.max_sag_compensation and self.hardware == "fake":
            raise HardwareError("max_sag_compensation is for sim and real; fake servos are exact.")
        self.motion_options.check()
        if self.oe_heartbeat_line and self.exit_action == "hold":
            raise HardwareError(
                "exit_action 'hold' is impossible with oe_heartbeat_line: without its heartbeat "
                "the servos get no pulses; choose release or park."
            )
        if self.sim_pace and (self.hardware != "sim" or self.speed != 1.0):
            raise HardwareError("sim_pace is for hardware sim at speed 1.")
        if self.hardware == "real" and self.speed != 1.0:
            raise HardwareError(
                f"speed {self.speed:g} is for simulated time only; real servos run at speed 1."
            )

    @property
    def slow_homing(self) -> bool:
        """Whether servos without pulses go to the rest posture in short bursts."""
        return self.recovery == "slow" or (self.recovery == "auto" and self.hardware == "real")

    @property
    def priority(self) -> int:
        """Priority of the control loop's thread, 0 for none."""
        if self.realtime_priority >= 0:
            return self.realtime_priority
        return PRIORITY if self.hardware == "real" else 0

    @property
    def final_action(self) -> str:
        """The action when the driver ends: hold, park or release."""
        if self.exit_action != "auto":
            return self.exit_action
        return "release" if self.hardware == "real" or self.oe_heartbeat_line else "hold"


ENDINGS = {
    "hold": "the servos keep their last pulses or targets",
    "park": "the arm parks, then the servos are released",
    "release": "the servos are released: support the arm",
}
"""What an action at the end of the driver means for the arm, a clause."""
