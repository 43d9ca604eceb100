# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""From a board's registers to servos that hold: what may be taken over, and who is woken when."""

from __future__ import annotations

from collections.abc import Sequence

from arm_hardware.axes import Axes
from arm_hardware.bounds import LIMIT_TOLERANCE
from arm_hardware.errors import StateError
from arm_hardware.output import Output

STAGGER = 0.1  # [s] between two servos' first pulses: all at once would pull the supply down


def check_found(axes: Axes, output: Output) -> None:
    """Refuse to take over pulses that this calibration would not send.

    Raises:
        StateError: Naming the joint and the channel.
    """
    for axis, servo, count in zip(axes, output.maps, output.counts, strict=True):
        if count is None:
            continue
        position = servo.position_of(count)
        beyond = max(axis.lower - position, position - axis.upper)
        if servo.count_of(position) != count or beyond > LIMIT_TOLERANCE:
            raise StateError(
                f"{axis.name}: the board's channel {servo.channel} stands at count {count}, "
                "outside of calibration or limits; switch the servos' power off and on, then arm."
            )


class Waking:
    """Sends the first pulses of the servos that have none, one after another, at full speed.

    Attributes:
        left: Axes that have no pulse yet.
        duration: Seconds until all have.
    """

    def __init__(self, axes: Axes, output: Output, rest: Sequence[float], dt: float) -> None:
        """List the servos without pulses; arguments as of recovery.Recovery."""
        self._output = output
        self._rest = tuple(rest)
        self._dt = dt
        self._wait = 0.0
        self.left = [i for i, count in enumerate(output.counts) if count is None]
        self._names = ", ".join(axes.all[i].name for i in self.left)
        self.duration = STAGGER * len(self.left)

    @property
    def message(self) -> str:
        """One sentence for a person."""
        return (
            "No pulses were sent since power-up: the rest posture is assumed for "
            f"{self._names}; where they really stood is unknown."
        )

    def tick(self) -> None:
        """Wake the next servo, if it is time; errors as of recovery.Recovery."""
        self._wait -= self._dt
        if self._wait > 0.0:
            return
        index = self.left.pop(0)
        self._output.write_one(index, self._rest[index])
        self._wait = STAGGER

    def abandon(self) -> None:
        """Leave it at that: servos that were woken hold."""
