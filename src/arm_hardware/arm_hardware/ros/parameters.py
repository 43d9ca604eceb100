# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""The node's parameters: read-only, except for the default tolerances of goals."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from functools import cached_property
from typing import Any

from arm_common.ros.names import prefix_parameter
from arm_common.ros.parameters import declare, declare_one, parameter, specs_of
from arm_description.library import DEFAULT_ROBOT
from rcl_interfaces.msg import ParameterDescriptor, ParameterType
from rclpy.node import Node

from arm_hardware.backends import BACKENDS_HELP, backend_names
from arm_hardware.calibration.axes import GOAL_TOLERANCE, Axis
from arm_hardware.motion.goal_validation import (
    DEFAULT_BOUNDS,
    GOAL_TIME,
    Tolerances,
    TrajectoryBounds,
)
from arm_hardware.motion.options import (
    BOUNDS,
    EXIT_ACTIONS,
    HARDWARE,
    RECOVERIES,
    DriverOptions,
)

_CONSTRAINTS = "constraints."
_CLOCK = "use_sim_time"
AUTOSTART = ("none", "configure", "activate", "auto")


def _option(name: str, description: str, **more: Any) -> Any:
    """Return the parameter of an option of the driver, with its default and its bounds."""
    low, high = BOUNDS.get(name, (-math.inf, math.inf))
    default = getattr(DriverOptions, name)
    return parameter(default, description, low=low, high=high, **more)


@dataclass(frozen=True)
class DriverParameters:
    """The values of the parameters."""

    robot: str = parameter(DEFAULT_ROBOT, "Robot description: shipped name or path of its YAML.")
    hardware: str = _option(
        "hardware", "Hardware to drive: fake (mirrors commands), sim, real.", choices=HARDWARE
    )
    backend: str = _option(
        "backend",
        f"What drives the servos of sim and real. {BACKENDS_HELP}. If the library of servokit or "
        "i2c_dev is missing, the other one drives the board.",
        choices=backend_names(),
    )
    calibration: str = _option(
        "calibration",
        "Servo calibration: path or shipped name; empty for the one shipped for the robot.",
    )
    prefix: str = prefix_parameter()
    rate_hz: float = _option("rate_hz", "Control ticks per second of driver time [Hz].")
    speed: float = _option("speed", "Driver seconds per wall second; other than 1 not for real.")
    publish_clock: bool = parameter(
        True,
        "Publish /clock if speed is not 1 or sim_pace is set, unless a node does whose name sorts "
        "before its own: of several drivers, at one speed on one computer, one publishes it.",
    )
    autostart: str = parameter(
        "none",
        "Transition to make by itself after start: none, configure, activate, or auto "
        "(activate fake and sim, only configure real: its servos are armed by a person).",
        choices=AUTOSTART,
    )
    exit_action: str = _option(
        "exit_action",
        "What servos do when the node ends: hold, park (go to rest, then release), release, "
        "auto (release real, hold others).",
        choices=EXIT_ACTIONS,
    )
    sim_registers: str = _option(
        "sim_registers",
        "File that keeps the simulated board's registers, as a board with power does when "
        "the node ends; empty for none.",
    )
    sim_pace: str = _option(
        "sim_pace",
        "File by which contact physics and the driver share their time, in lock-step; empty for "
        "none.",
    )
    oe_heartbeat_line: str = _option(
        "oe_heartbeat_line",
        "GPIO line, such as GPIO17, that the control loop toggles so that a circuit keeps the "
        "board's outputs on (docs/safety.md); empty for none.",
    )
    max_sag_compensation: float = _option(
        "max_sag_compensation",
        "Largest offset of a joint against the sag of its servo, by the stiffness in the "
        "calibration; 0: none [rad or m].",
    )
    recovery: str = _option(
        "recovery",
        "How servos without pulses go to the rest posture: slow (in short bursts, one joint "
        "after another), direct (full speed), auto (slow with real, direct with others).",
        choices=RECOVERIES,
    )
    realtime_priority: int = _option(
        "realtime_priority",
        "SCHED_FIFO priority of the control loop; 0: none; -1: 40 with real, else none.",
    )
    joint_state_rate_hz: float = parameter(
        50.0, "joint_states per second while moving [Hz].", low=1.0, high=200.0
    )
    joint_state_rest_rate_hz: float = parameter(
        5.0,
        "joint_states per second of wall time at rest [Hz]; a follower's leader_timeout must be "
        "longer than their period.",
        low=2.0,
        high=100.0,
    )
    allow_partial_joints_goal: bool = parameter(
        False, "Accept trajectories that leave joints out; these come to rest where they are."
    )
    allow_nonzero_velocity_at_trajectory_end: bool = parameter(
        False,
        "Accept trajectories whose last velocities are not 0; the arm brakes behind the end.",
    )
    max_trajectory_duration: float = parameter(
        DEFAULT_BOUNDS.duration,
        "Longest time from now to a trajectory's last point [s].",
        low=1.0,
        high=1e6,
    )
    max_trajectory_points: int = parameter(
        DEFAULT_BOUNDS.points, "Most points of a trajectory.", low=1, high=1_000_000
    )
    action_monitor_rate: float = parameter(
        20.0,
        "Rate of the actions' feedback, by which the client's liveness is checked [Hz].",
        low=2.0,
        high=100.0,
    )
    jerk_time: float = _option(
        "jerk_time", "Time in which acceleration may rise from 0 to its limit; 0: at once [s]."
    )
    max_moving_joints: int = _option("max_moving_joints", "Joints that may move at once; 0: all.")
    stagger: float = _option("stagger", "Time from one joint's start to the next one's [s].")
    command_timeout: float = _option(
        "command_timeout", "Longest time between two trajectories of a stream; 0: any [s]."
    )
    client_timeout: float = parameter(
        2.0,
        "Wall seconds that a goal continues without its client or the link to it; 0: to its "
        "end [s].",
        low=0.0,
        high=60.0,
    )
    stall_timeout: float = _option(
        "stall_timeout",
        "Wall seconds for which the control loop may not run during a motion before it ends in "
        "hold; 0: any [s].",
    )
    grip_force_limit_counts: int = _option(
        "grip_force_limit_counts", "Counts past the contact that max_effort may ask for."
    )
    gripper_hold_time: float = _option(
        "gripper_hold_time", "Time after which a squeeze is taken back; 0: never [s]."
    )
    gripper_hold_squeeze: int = _option(
        "gripper_hold_squeeze", "Counts past the contact that are left of a squeeze then."
    )

    @property
    def first_transition(self) -> str:
        """Transition to make at start: none, configure or activate."""
        if self.autostart != "auto":
            return self.autostart
        return "configure" if self.hardware == "real" else "activate"

    @property
    def bounds(self) -> TrajectoryBounds:
        """The bounds of trajectories."""
        return TrajectoryBounds(self.max_trajectory_points, self.max_trajectory_duration)

    @cached_property
    def options(self) -> DriverOptions:
        """The driver's options."""
        names = {entry.name for entry in fields(DriverOptions)} - {"folder"}
        return DriverOptions(**{name: getattr(self, name) for name in names})


@dataclass(frozen=True)
class SpeedScalingParameters:
    """The values of the parameters ``speed_scaling.*``."""

    initial_scaling_factor: float = parameter(
        1.0, "Speed scaling before the first message: 0 paused, 1 as planned.", low=0.0, high=1.0
    )


@dataclass(frozen=True)
class ConstraintParameters:
    """The values of the parameters ``constraints.*`` of all joints."""

    goal_time: float = parameter(
        GOAL_TIME,
        "Time after a trajectory's end by which joints with a goal tolerance must have arrived, "
        "as measured or commanded; 0: any [s].",
        low=0.0,
        high=3600.0,
        any_time=True,
    )
    stopped_velocity_tolerance: float = parameter(
        0.01,
        "Largest speed at goal_time, as measured or commanded [rad/s or m/s]; 0: any.",
        low=0.0,
        high=100.0,
        any_time=True,
    )


@dataclass(frozen=True)
class JointConstraintParameters:
    """The values of the parameters ``constraints.<joint>.*``."""

    trajectory: float = parameter(
        0.0,
        "Largest lag behind a trajectory, as measured or commanded [rad or m]; 0: any.",
        low=0.0,
        high=100.0,
        any_time=True,
    )
    goal: float = parameter(
        0.0,
        "Largest distance from the goal with which it succeeds, and at goal_time, as measured or "
        "commanded [rad or m]; 0: any. Of smart servos, it is 0.1 rad or 0.01 m unless set.",
        low=0.0,
        high=100.0,
        any_time=True,
    )


class Constraints:
    """The default tolerances of goals: parameters that can be set at any time."""

    def __init__(self, node: Node) -> None:
        """Declare the parameters of all joints; raise ParameterError for wrong values."""
        self._node = node
        self._joints: tuple[str, ...] = ()
        declare(node, ConstraintParameters, _CONSTRAINTS)

    def declare_joints(self, joints: Sequence[Axis], measured: bool) -> None:
        """Declare the parameters of each joint; raise ParameterError for wrong values.

        Joints that are ``measured`` have a goal tolerance unless it is set to 0.
        """
        for joint in joints:
            for name, spec in specs_of(JointConstraintParameters).items():
                full = f"{_CONSTRAINTS}{joint.name}.{name}"
                if name == "goal" and measured:
                    spec = replace(spec, default=GOAL_TOLERANCE[joint.unit])
                if not self._node.has_parameter(full):
                    declare_one(self._node, full, spec)
        self._joints = tuple(joint.name for joint in joints)

    def tolerances(self) -> Tolerances:
        """Return the present values; goal_time bounds nothing without a goal tolerance."""
        stopped, goal = self._value("stopped_velocity_tolerance"), self._of_joints("goal")
        return Tolerances(
            self._of_joints("trajectory"),
            goal,
            dict.fromkeys(self._joints, stopped) if stopped else {},
            self._value("goal_time") if goal else 0.0,
        )

    def _of_joints(self, name: str) -> dict[str, float]:
        """Return the values other than 0 by joint."""
        values = {joint: self._value(f"{joint}.{name}") for joint in self._joints}
        return {joint: value for joint, value in values.items() if value}

    def _value(self, name: str) -> float:
        return float(self._node.get_parameter(_CONSTRAINTS + name).value)


def driver_parameters(node: Node) -> DriverParameters:
    """Declare and return the parameters; raise ParameterError or HardwareError for wrong ones."""
    given = declare(node, DriverParameters)
    given.options.check()
    _fix_clock(node)
    return given


def _fix_clock(node: Node) -> None:
    """Make use_sim_time read-only: without /clock, all stamps would be 0 and joint_states end."""
    text = "Take the time from /clock; cannot be changed while the node runs."
    kind = ParameterType.PARAMETER_BOOL
    node.set_descriptor(_CLOCK, ParameterDescriptor(type=kind, description=text, read_only=True))
