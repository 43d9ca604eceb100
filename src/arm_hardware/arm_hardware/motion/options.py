# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Options of the driver: hardware and motion."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from arm_hardware.backends import AUTO, backend_names
from arm_hardware.calibration.selection import config_folder
from arm_hardware.errors import HardwareError

HARDWARE = ("fake", "sim", "real")
EXIT_ACTIONS = ("auto", "hold", "park", "release")  # auto: release real servos, hold others
RECOVERIES = ("auto", "slow", "direct")  # auto: slow with real servos, direct with others
PRIORITY = 40  # of the control loop with real servos: above programs, below the kernel's threads
# The least and the greatest that an option may be.
BOUNDS = {
    "rate_hz": (5.0, 200.0),
    "speed": (0.01, 100.0),
    "stall_timeout": (0.0, 60.0),
    "realtime_priority": (-1, 99),
    "max_sag_compensation": (0.0, 0.2),
    "jerk_time": (0.0, 2.0),
    "command_timeout": (0.0, 60.0),
    "max_moving_joints": (0, 16),
    "stagger": (0.0, 2.0),
    "grip_force_limit_counts": (0, 100),
    "gripper_hold_time": (0.0, 3600.0),
    "gripper_hold_squeeze": (0, 100),
}


@dataclass(frozen=True)
class MotionOptions:
    """Options of motion; counts are those of the gripper's servo past the contact."""

    jerk_time: float = 0.0  # for acceleration to rise from 0 to its limit [s]; 0: no jerk limit
    command_timeout: float = 0.5  # longest time between two trajectories of a stream [s]; 0: any
    max_moving_joints: int = 0  # that may move at once, so as not to overload the supply; 0: any
    stagger: float = 0.0  # from one joint's start to the next one's [s], for the same reason
    grip_force_limit_counts: int = 8  # most counts that a command may request
    gripper_hold_time: float = 10.0  # after which the gripper backs off [s]; 0: never
    gripper_hold_squeeze: int = 2  # counts that remain then

    @property
    def limits_current(self) -> bool:
        """Whether joints must not all start and move at once."""
        return self.max_moving_joints > 0 or self.stagger > 0.0


DEFAULT_MOTION = MotionOptions()


@dataclass(frozen=True)
class DriverOptions(MotionOptions):
    """The hardware and how it is driven and moved; see the node's parameters."""

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
        for what, (least, most) in BOUNDS.items():
            value = getattr(self, what)
            if not least <= value <= most:
                raise HardwareError(f"{what} {value:g} is not within {least:g} to {most:g}.")
        if self.max_sag_compensation and self.hardware == "fake":
            raise HardwareError("max_sag_compensation is for sim and real; fake servos are exact.")
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
