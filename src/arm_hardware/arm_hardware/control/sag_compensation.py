# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Compensation of sag: commands are offset by the torque that holds the arm, over the stiffness.

A servo drives its motor by the error of its position, so it stops short of its command by load
over stiffness. A command that is farther by that much brings the joint to where it is meant to be.
Positions are those that are meant; commands are what servos get, inside of the same limits.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from arm_common.transforms import Array
from arm_description.robot_model import RobotModel
from arm_description.urdf.bodies import Bodies, bodies_of_model, holding_torques

from arm_hardware.calibration.axes import Axes
from arm_hardware.errors import HardwareError
from arm_hardware.motion.limiter import AxisState, settled, track

_RATE = 0.2  # [rad/s or m/s] at which offsets change at most
_ITERATIONS = 5  # that find the position of a command; each one gains two digits


class SagCompensation:
    """The offsets of an arm's joints, which change no faster than joints may move.

    Attributes:
        is_settled: Whether the last commands are those for the last positions.
        offsets: By which commands exceed positions, as ``axes.arm`` [rad or m].
    """

    def __init__(
        self, axes: Axes, bodies: Bodies, stiffness: Sequence[float], limit: float, dt: float
    ) -> None:
        """Create it without offsets.

        Args:
            axes: The arm, its limits narrowed to what its servos can reach.
            bodies: Its masses, moved by the joints.
            stiffness: Of the servos of the joints [N m/rad or N/m], infinite if not measured.
            limit: Of each offset [rad or m].
            dt: Length of a tick [s].

        Raises:
            HardwareError: No stiffness or mass is known, or the arm is not supported.
        """
        self._arm, self._bodies, self._limit, self._dt = axes.arm, bodies, limit, dt
        if not np.isfinite(stiffness).any():
            raise HardwareError(
                "max_sag_compensation needs the stiffness of a servo in the calibration file; "
                "measure it with calibrate, key s."
            )
        if not bodies.mass > 0.0:
            raise HardwareError("max_sag_compensation needs a robot description with masses.")
        back: Array = np.eye(len(axes.arm))
        coupling = axes.coupling
        if coupling is not None:
            if coupling.constraints or coupling.tight or not coupling.drivetrain.is_linear:
                raise HardwareError(
                    "max_sag_compensation is not for arms whose limits or servos depend on "
                    "several joints; set it to 0."
                )
            ratios = coupling.drivetrain.jacobian(np.zeros(len(axes.arm)))
            back = np.asarray(np.linalg.pinv(ratios), dtype=np.float64)
        self._compliance = back @ np.diag(1.0 / np.asarray(stiffness)) @ back.T
        self.is_settled = False
        self.offsets = [0.0] * len(axes.arm)
        self._aim = np.zeros(len(axes.arm))  # offsets before the limits of the joints
        self._references = [0.0] * len(axes.arm)  # that the commands follow
        self._commands = [AxisState(0.0) for _ in axes.arm]

    @classmethod
    def of_model(
        cls, model: RobotModel, axes: Axes, stiffness: Sequence[float], limit: float, dt: float
    ) -> SagCompensation:
        """Return that of a robot, with its payload; arguments and errors as of the class."""
        return cls(axes, bodies_of_model(model), stiffness, limit, dt)

    def offsets_at(self, positions: Sequence[float]) -> Array:
        """Return the offsets of an arm at rest at positions (n,) [rad or m]."""
        offsets = self._compliance @ holding_torques(self._bodies, positions)
        return np.asarray(offsets.clip(-self._limit, self._limit))

    def start(self, commands: Sequence[float], held: Sequence[float | None]) -> list[float]:
        """Take over the commands of all axes; return the positions that they mean.

        A joint that is not held (None) hangs where it is: its offset begins at 0.
        """
        n = len(self._arm)
        given = np.array(commands[:n])
        holds = np.array([place is not None for place in held[:n]])
        lower, upper = ([getattr(axis, end) for axis in self._arm] for end in ("lower", "upper"))
        meant = given
        for _ in range(_ITERATIONS):
            offsets = np.where(holds, self.offsets_at(meant.tolist()), 0.0)
            meant = np.clip(given - offsets, lower, upper)
        self._aim = given - meant
        self.offsets = self._aim.tolist()
        self._commands = [AxisState(float(command)) for command in given]
        self._references = given.tolist()
        self.is_settled = False
        return [*meant.tolist(), *commands[n:]]

    def advance(self, positions: Sequence[float]) -> list[float]:
        """Return the commands of the next tick for positions of all axes [rad or m]."""
        n, most = len(self._arm), _RATE * self._dt
        arm, wanted = positions[:n], self.offsets_at(positions[:n])
        change = np.clip(wanted - self._aim, -most, most)
        self._aim = self._aim + change
        self.is_settled = not change.any()
        for i, (axis, command) in enumerate(zip(self._arm, self._commands, strict=True)):
            then = min(max(arm[i] + float(self._aim[i]), axis.lower), axis.upper)
            track(axis, command, self._references[i], then, self._dt)
            self._references[i] = then
            self.is_settled = settled(command, then) and self.is_settled
        self.offsets = [c.position - p for c, p in zip(self._commands, arm, strict=True)]
        return [*(c.position for c in self._commands), *positions[n:]]

    def rest(self, sent: Sequence[float | None]) -> None:
        """Restart from rest with the commands that were sent; offsets stay as they are."""
        for command, place in zip(self._commands, sent, strict=False):
            command.velocity = 0.0
            if place is not None:
                command.position = place
        self._references = [command.position for command in self._commands]
        self._aim, self.is_settled = np.array(self.offsets), False
