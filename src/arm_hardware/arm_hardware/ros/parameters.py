# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""The node's parameters: all read-only, all described."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from rcl_interfaces.msg import FloatingPointRange, ParameterDescriptor

from arm_hardware.conduct import Conduct, Squeeze
from arm_hardware.errors import HardwareError
from arm_hardware.options import Options
from arm_hardware.shipped import config_folder
from arm_hardware.supply import Supply

AUTOSTART = ("none", "configure", "activate", "auto")


@dataclass(frozen=True)
class Parameters:
    """What was set.

    Attributes:
        robot: Name or path of a robot description.
        options: The driver's.
        autostart: none, configure or activate; auto has been decided.
        joint_state_rate_hz: Of joint_states while moving, in driver time.
        allow_partial: Whether trajectories may leave joints out.
        allow_end_velocity: Whether trajectories may end with a velocity.
        commander_timeout: Seconds that a goal goes on without its client; 0 for to its end.
    """

    robot: str
    options: Options
    autostart: str
    joint_state_rate_hz: float
    allow_partial: bool
    allow_end_velocity: bool
    commander_timeout: float


def declare(node: Any) -> Parameters:
    """Declare and read the parameters of a node.

    Raises:
        HardwareError: A value makes no sense.
    """

    def text(name: str, default: str, description: str) -> str:
        descriptor = ParameterDescriptor(description=description, read_only=True)
        return str(node.declare_parameter(name, default, descriptor).value)

    def number(name: str, default: float, low: float, high: float, description: str) -> float:
        span = FloatingPointRange(from_value=low, to_value=high)
        descriptor = ParameterDescriptor(
            description=description,
            read_only=True,
            dynamic_typing=True,
            floating_point_range=[span],
        )
        value = node.declare_parameter(name, default, descriptor).value
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise HardwareError(f"Parameter {name} must be a number, not '{value}'.")
        return float(value)

    def truth(name: str, description: str) -> bool:
        descriptor = ParameterDescriptor(description=description, read_only=True)
        return bool(node.declare_parameter(name, False, descriptor).value)

    autostart = text(
        "autostart",
        "none",
        "Transition to make by itself after start: none, configure, activate, or auto (activate"
        " fake and sim, only configure real: its servos are armed by a person).",
    )
    if autostart not in AUTOSTART:
        raise HardwareError(f"autostart '{autostart}' is none of {', '.join(AUTOSTART)}.")
    options = Options(
        hardware=text(
            "hardware", "fake", "Hardware to drive: fake (mirrors commands), sim, real."
        ),
        backend=text(
            "backend",
            "servokit",
            "What drives the board of sim and real: servokit (Adafruit's library) or i2c_dev "
            "(the kernel's interface; needs no library).",
        ),
        calibration=text(
            "calibration",
            "",
            "Servo calibration: path or shipped name; empty for the one shipped for the robot.",
        ),
        rate_hz=number(
            "rate_hz", 50.0, 5.0, 200.0, "Control ticks per second of driver time [Hz]."
        ),
        speed=number(
            "speed", 1.0, 0.01, 100.0, "Driver seconds per wall second; other than 1 not for real."
        ),
        exit_action=text(
            "exit_action",
            "auto",
            "What servos do when the node ends: hold, park (go to rest, then release), release, "
            "auto (release real, hold others).",
        ),
        sim_registers=text(
            "sim_registers",
            "",
            "File that keeps the simulated board's registers, as a board with power does when the "
            "node ends; empty for none.",
        ),
        recovery=text(
            "recovery",
            "auto",
            "How servos without pulses go to the rest posture: slow (in short bursts, one joint "
            "after another), direct (full speed), auto (slow with real, direct with others).",
        ),
        realtime_priority=int(
            number(
                "realtime_priority",
                -1.0,
                -1.0,
                99.0,
                "SCHED_FIFO priority of the control loop; 0: none; -1: 40 with real, else none.",
            )
        ),
        conduct=_conduct(number),
        folder=config_folder(),
    )
    options.check()
    if autostart == "auto":
        autostart = "configure" if options.hardware == "real" else "activate"
    return Parameters(
        robot=text("robot", "nut_arm", "Robot description: shipped name or path of its YAML."),
        options=options,
        autostart=autostart,
        joint_state_rate_hz=number(
            "joint_state_rate_hz", 50.0, 1.0, 200.0, "joint_states per second while moving [Hz]."
        ),
        allow_partial=truth(
            "allow_partial_joints_goal",
            "Accept trajectories that leave joints out; these come to rest where they are.",
        ),
        allow_end_velocity=truth(
            "allow_nonzero_velocity_at_trajectory_end",
            "Accept trajectories whose last velocities are not 0; the arm brakes behind the end.",
        ),
        commander_timeout=number(
            "commander_timeout",
            1.0,
            0.0,
            60.0,
            "Wall seconds that a goal goes on once its client has gone; 0: to its end [s].",
        ),
    )


def _conduct(number: Callable[[str, float, float, float, str], float]) -> Conduct:
    """Declare and read how the arm is moved."""
    return Conduct(
        jerk_time=number(
            "jerk_time",
            0.0,
            0.0,
            2.0,
            "Time in which acceleration may rise from 0 to its limit; 0: at once [s].",
        ),
        command_timeout=number(
            "command_timeout",
            0.5,
            0.0,
            60.0,
            "Longest time between two trajectories of a stream on the topic; 0: any [s].",
        ),
        supply=Supply(
            joints=int(
                number("max_moving_joints", 0.0, 0.0, 16.0, "Joints that move at once; 0: all.")
            ),
            stagger=number(
                "stagger", 0.0, 0.0, 2.0, "Time from one joint's start to the next one's [s]."
            ),
        ),
        squeeze=Squeeze(
            limit=int(
                number(
                    "gripper_squeeze_limit",
                    8.0,
                    0.0,
                    100.0,
                    "Counts past the contact that max_effort may ask for.",
                )
            ),
            time=number(
                "gripper_hold_time",
                10.0,
                0.0,
                3600.0,
                "Time after which a squeeze is taken back; 0: never [s].",
            ),
            held=int(
                number(
                    "gripper_hold_squeeze",
                    2.0,
                    0.0,
                    100.0,
                    "Counts past the contact that are left of a squeeze then.",
                )
            ),
        ),
    )
