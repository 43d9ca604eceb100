# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""The node's parameters; all are read-only, since they shape what is opened at configure."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

from rcl_interfaces.msg import FloatingPointRange, ParameterDescriptor

from arm_hardware.calibration.calibration import config_folder
from arm_hardware.errors import HardwareError
from arm_hardware.motion.current_limits import PowerBudget
from arm_hardware.motion.options import DriverOptions, GripForceOptions, MotionOptions

AUTOSTART = ("none", "configure", "activate", "auto")


class TextParameter(NamedTuple):
    """A parameter of words."""

    default: str
    description: str


class NumberParameter(NamedTuple):
    """A parameter of a number in a range."""

    default: float
    low: float
    high: float
    description: str


class BoolParameter(NamedTuple):
    """A parameter that is true or false, false by default."""

    description: str


TABLE: dict[str, TextParameter | NumberParameter | BoolParameter] = {
    "robot": TextParameter("nut_arm", "Robot description: shipped name or path of its YAML."),
    "hardware": TextParameter("fake", "Hardware to drive: fake (mirrors commands), sim, real."),
    "backend": TextParameter(
        "servokit",
        "What drives the board of sim and real: servokit (Adafruit's library) or i2c_dev (the "
        "kernel's interface; needs no library).",
    ),
    "calibration": TextParameter(
        "", "Servo calibration: path or shipped name; empty for the one shipped for the robot."
    ),
    "rate_hz": NumberParameter(50.0, 5.0, 200.0, "Control ticks per second of driver time [Hz]."),
    "speed": NumberParameter(
        1.0, 0.01, 100.0, "Driver seconds per wall second; other than 1 not for real."
    ),
    "autostart": TextParameter(
        "none",
        "Transition to make by itself after start: none, configure, activate, or auto (activate "
        "fake and sim, only configure real: its servos are armed by a person).",
    ),
    "exit_action": TextParameter(
        "auto",
        "What servos do when the node ends: hold, park (go to rest, then release), release, auto "
        "(release real, hold others).",
    ),
    "sim_registers": TextParameter(
        "",
        "File that keeps the simulated board's registers, as a board with power does when the "
        "node ends; empty for none.",
    ),
    "recovery": TextParameter(
        "auto",
        "How servos without pulses go to the rest posture: slow (in short bursts, one joint after "
        "another), direct (full speed), auto (slow with real, direct with others).",
    ),
    "realtime_priority": NumberParameter(
        -1.0,
        -1.0,
        99.0,
        "SCHED_FIFO priority of the control loop; 0: none; -1: 40 with real, else none.",
    ),
    "joint_state_rate_hz": NumberParameter(
        50.0, 1.0, 200.0, "joint_states per second while moving [Hz]."
    ),
    "allow_partial_joints_goal": BoolParameter(
        "Accept trajectories that leave joints out; these come to rest where they are."
    ),
    "allow_nonzero_velocity_at_trajectory_end": BoolParameter(
        "Accept trajectories whose last velocities are not 0; the arm brakes behind the end."
    ),
    "jerk_time": NumberParameter(
        0.0, 0.0, 2.0, "Time in which acceleration may rise from 0 to its limit; 0: at once [s]."
    ),
    "max_moving_joints": NumberParameter(0.0, 0.0, 16.0, "Joints that may move at once; 0: all."),
    "stagger": NumberParameter(
        0.0, 0.0, 2.0, "Time from one joint's start to the next one's [s]."
    ),
    "command_timeout": NumberParameter(
        0.5, 0.0, 60.0, "Longest time between two trajectories of a stream; 0: any [s]."
    ),
    "commander_timeout": NumberParameter(
        2.0,
        0.0,
        60.0,
        "Wall seconds that a goal goes on once its client, or the link to it, has gone; 0: to its "
        "end [s].",
    ),
    "gripper_squeeze_limit": NumberParameter(
        8.0, 0.0, 100.0, "Counts past the contact that max_effort may ask for."
    ),
    "gripper_hold_time": NumberParameter(
        10.0, 0.0, 3600.0, "Time after which a squeeze is taken back; 0: never [s]."
    ),
    "gripper_hold_squeeze": NumberParameter(
        2.0, 0.0, 100.0, "Counts past the contact that are left of a squeeze then."
    ),
}


@dataclass(frozen=True)
class DriverParameters:
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
    options: DriverOptions
    autostart: str
    joint_state_rate_hz: float
    allow_partial: bool
    allow_end_velocity: bool
    commander_timeout: float


def declare(node: Any) -> DriverParameters:
    """Declare and read the parameters of a node.

    Raises:
        HardwareError: A value makes no sense.
    """
    values = {name: _declared(node, name, entry) for name, entry in TABLE.items()}
    autostart, options = values["autostart"], _options(values)
    if autostart not in AUTOSTART:
        raise HardwareError(f"autostart '{autostart}' is none of {', '.join(AUTOSTART)}.")
    options.check()
    if autostart == "auto":
        autostart = "configure" if options.hardware == "real" else "activate"
    return DriverParameters(
        robot=values["robot"],
        options=options,
        autostart=autostart,
        joint_state_rate_hz=values["joint_state_rate_hz"],
        allow_partial=values["allow_partial_joints_goal"],
        allow_end_velocity=values["allow_nonzero_velocity_at_trajectory_end"],
        commander_timeout=values["commander_timeout"],
    )


def _declared(node: Any, name: str, entry: TextParameter | NumberParameter | BoolParameter) -> Any:
    """Declare one parameter and return its value."""
    descriptor = ParameterDescriptor(description=entry.description, read_only=True)
    if isinstance(entry, BoolParameter):
        return bool(node.declare_parameter(name, False, descriptor).value)
    if isinstance(entry, NumberParameter):
        descriptor.dynamic_typing = True  # so that 50 is as good as 50.0
        descriptor.floating_point_range = [
            FloatingPointRange(from_value=entry.low, to_value=entry.high)
        ]
    value = node.declare_parameter(name, entry.default, descriptor).value
    if isinstance(entry, TextParameter):
        return str(value)
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise HardwareError(f"Parameter {name} must be a number, not '{value}'.")
    return float(value)


def _options(values: dict[str, Any]) -> DriverOptions:
    """Return the driver's options."""
    return DriverOptions(
        hardware=values["hardware"],
        backend=values["backend"],
        calibration=values["calibration"],
        rate_hz=values["rate_hz"],
        speed=values["speed"],
        exit_action=values["exit_action"],
        recovery=values["recovery"],
        sim_registers=values["sim_registers"],
        realtime_priority=_whole("realtime_priority", values),
        conduct=MotionOptions(
            jerk_time=values["jerk_time"],
            command_timeout=values["command_timeout"],
            supply=PowerBudget(_whole("max_moving_joints", values), values["stagger"]),
            squeeze=GripForceOptions(
                _whole("gripper_squeeze_limit", values),
                values["gripper_hold_time"],
                _whole("gripper_hold_squeeze", values),
            ),
        ),
        folder=config_folder(),
    )


def _whole(name: str, values: dict[str, Any]) -> int:
    value = values[name]
    if not value.is_integer():
        raise HardwareError(f"Parameter {name} must be a whole number, not {value:g}.")
    return int(value)
