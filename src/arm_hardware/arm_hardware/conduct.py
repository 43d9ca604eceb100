# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""How an arm is to be moved: what its owner chooses beyond the robot description's limits."""

from __future__ import annotations

from dataclasses import dataclass, field

from arm_hardware.errors import HardwareError
from arm_hardware.supply import Supply


@dataclass(frozen=True)
class Squeeze:
    """How hard and how long a gripper may press, in counts of the board past the contact.

    Attributes:
        limit: Most counts that a command may ask for.
        time: Seconds after which the gripper backs off; 0 for never.
        held: Counts that are left then.
    """

    limit: int = 8
    time: float = 10.0
    held: int = 2


@dataclass(frozen=True)
class Conduct:
    """How the arm is moved.

    Attributes:
        jerk_time: Seconds in which acceleration may rise from 0 to its limit; 0 for no limit.
        command_timeout: Longest time between two trajectories of a stream [s]; 0 for any.
        supply: How many joints may set off and move at once.
        squeeze: How hard the gripper may press.
    """

    jerk_time: float = 0.0
    command_timeout: float = 0.5
    supply: Supply = field(default_factory=Supply)
    squeeze: Squeeze = field(default_factory=Squeeze)

    def check(self) -> None:
        """Refuse what makes no sense.

        Raises:
            HardwareError: One sentence.
        """
        for what, value, most in (
            ("jerk_time", self.jerk_time, 2.0),
            ("command_timeout", self.command_timeout, 60.0),
            ("max_moving_joints", self.supply.joints, 16),
            ("stagger", self.supply.stagger, 2.0),
            ("gripper_squeeze_limit", self.squeeze.limit, 100),
            ("gripper_hold_time", self.squeeze.time, 3600.0),
            ("gripper_hold_squeeze", self.squeeze.held, 100),
        ):
            if not 0.0 <= value <= most:
                raise HardwareError(f"{what} {value:g} is not within 0 to {most:g}.")


USUAL = Conduct()
