# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""What a user chooses: the hardware, and how it is moved."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from arm_hardware.calibration.calibration import config_folder
from arm_hardware.errors import HardwareError
from arm_hardware.motion.current_limits import PowerBudget


@dataclass(frozen=True)
class GripForceOptions:
    """How hard and how long a gripper may press, in counts of the board past the contact."""

    limit: int = 8  # most counts that a command may ask for
    time: float = 10.0  # seconds after which the gripper backs off; 0 for never
    held: int = 2  # counts that are left then


@dataclass(frozen=True)
class MotionOptions:
    """How the arm is moved."""

    # seconds in which acceleration may rise from 0 to its limit; 0 for no limit
    jerk_time: float = 0.0
    # longest time between two trajectories of a stream [s]; 0 for any
    command_timeout: float = 0.5
    # how many joints may set off and move at once
    power_budget: PowerBudget = field(default_factory=PowerBudget)
    # how hard the gripper may press
    grip_force: GripForceOptions = field(default_factory=GripForceOptions)

    def check(self) -> None:
        """Refuse what makes no sense.

        Raises:
            HardwareError: One sentence.
        """
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


USUAL = MotionOptions()


BACKENDS = ("servokit", "i2c_dev")
HARDWARE = ("fake", "sim", "real")
RECOVERIES = ("auto", "slow", "direct")
PRIORITY = 40  # of the control loop with real servos: above programs, below the kernel's threads
EXIT_ACTIONS = ("auto", "hold", "park", "release")


@dataclass(frozen=True)
class DriverOptions:
    """What a user chooses."""

    hardware: str = "fake"  # fake, sim or real
    # of sim and real: servokit (Adafruit's library) or i2c_dev (Linux, nothing else)
    backend: str = "servokit"
    calibration: str = ""  # path or shipped name; empty means the shipped one of the robot
    rate_hz: float = 50.0  # ticks per second of driver time
    speed: float = 1.0  # driver seconds per wall second; only 1 with real hardware
    # hold, park (go to the rest posture, then release), release, or auto: release real servos,
    # hold others
    exit_action: str = "auto"
    # how servos that get no pulses go to the rest posture: slow, direct, or auto: slow with real
    # servos, direct with others
    recovery: str = "auto"
    # of the control loop's thread, 0 for none, below for auto: some with real servos
    realtime_priority: int = -1
    sim_registers: str = ""  # file that keeps the simulated chip's registers; empty for none
    motion_options: MotionOptions = field(default_factory=MotionOptions)  # how the arm is moved
    folder: Path = field(default_factory=config_folder)  # where shipped calibrations are

    def check(self) -> None:
        """Refuse what makes no sense.

        Raises:
            HardwareError: One sentence.
        """
        if self.hardware not in HARDWARE:
            raise HardwareError(f"hardware '{self.hardware}' is none of {', '.join(HARDWARE)}.")
        if self.backend not in BACKENDS:
            raise HardwareError(f"backend '{self.backend}' is none of {', '.join(BACKENDS)}.")
        if self.exit_action not in EXIT_ACTIONS:
            raise HardwareError(
                f"exit_action '{self.exit_action}' is none of {', '.join(EXIT_ACTIONS)}."
            )
        if self.recovery not in RECOVERIES:
            raise HardwareError(f"recovery '{self.recovery}' is none of {', '.join(RECOVERIES)}.")
        if not -1 <= self.realtime_priority <= 99:
            raise HardwareError(f"realtime_priority {self.realtime_priority} is not -1 to 99.")
        self.motion_options.check()
        if not 0.01 <= self.speed <= 100.0:
            raise HardwareError(f"speed {self.speed:g} is not within 0.01 to 100.")
        if not 5.0 <= self.rate_hz <= 200.0:
            raise HardwareError(f"rate_hz {self.rate_hz:g} is not within 5 to 200.")
        if self.hardware == "real" and self.speed != 1.0:
            raise HardwareError(
                f"speed {self.speed:g} is for simulated time only; real servos run at speed 1."
            )

    @property
    def homes_slowly(self) -> bool:
        """Whether servos that get no pulses are brought to the rest posture in short bursts."""
        return self.recovery == "slow" or (self.recovery == "auto" and self.hardware == "real")

    @property
    def priority(self) -> int:
        """Priority to ask for the control loop's thread, 0 for none."""
        if self.realtime_priority >= 0:
            return self.realtime_priority
        return PRIORITY if self.hardware == "real" else 0

    @property
    def at_exit(self) -> str:
        """What is done when the driver ends: hold, park or release."""
        if self.exit_action != "auto":
            return self.exit_action
        return "release" if self.hardware == "real" else "hold"
