# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""What an `if` or `until` looks at while the task runs: the nut and the jaws."""

from __future__ import annotations

from dataclasses import dataclass

from arm_tasks.scene.nut_state import NutReport, NutStatus


@dataclass(frozen=True)
class Sensed:
    """What is known of the world at one moment.

    Attributes:
        nut: Where the nut is, None if nobody says so.
        width: Between the jaws [m], None if nobody says so.
    """

    nut: NutReport | None = None
    width: float | None = None


@dataclass(frozen=True)
class Condition:
    """What must hold, all of it that is not None or "".

    Attributes:
        nut_on: Bolt that the nut is on.
        turns: By at least so many turns.
        nut_held: Whether the jaws hold the nut.
        nut_fallen: Whether it lies on the floor.
        gripper_above: The jaws are wider [m].
        gripper_below: The jaws are narrower [m].
    """

    nut_on: str = ""
    turns: float | None = None
    nut_held: bool | None = None
    nut_fallen: bool | None = None
    gripper_above: float | None = None
    gripper_below: float | None = None

    @property
    def needs_nut(self) -> bool:
        """Whether somebody must know where the nut is."""
        return bool(self.nut_on) or self.nut_held is not None or self.nut_fallen is not None

    @property
    def needs_width(self) -> bool:
        """Whether somebody must know the width of the jaws."""
        return self.gripper_above is not None or self.gripper_below is not None

    def missing(self, sensed: Sensed) -> str:
        """Return what nobody says of what is looked at, or ""."""
        if self.needs_nut and sensed.nut is None:
            return "nobody says where the nut is"
        if self.needs_width and sensed.width is None:
            return "nobody says how wide the jaws are"
        return ""

    def holds(self, sensed: Sensed) -> bool:
        """Return whether all of it holds; what is missing does not."""
        if self.missing(sensed):
            return False
        return self._nut_is_so(sensed.nut) and self._jaws_are_so(sensed.width or 0.0)

    def _nut_is_so(self, nut: NutReport | None) -> bool:
        if nut is None:
            return True  # not asked for
        on = not self.nut_on or (
            nut.bolt == self.nut_on and nut.turns_engaged >= (self.turns or 0)
        )
        held = self.nut_held is None or nut.grasped == self.nut_held
        fallen = nut.status is NutStatus.FALLEN
        return on and held and (self.nut_fallen is None or fallen == self.nut_fallen)

    def _jaws_are_so(self, width: float) -> bool:
        above = self.gripper_above is None or width > self.gripper_above
        return above and (self.gripper_below is None or width < self.gripper_below)

    def __str__(self) -> str:
        """Return it as a clause."""
        parts = [f"the nut is on {self.nut_on}"] if self.nut_on else []
        if self.turns is not None:
            parts[-1] += f" by {self.turns:g} turns"
        if self.nut_held is not None:
            parts.append(f"the nut is {'' if self.nut_held else 'not '}held")
        if self.nut_fallen is not None:
            parts.append(f"the nut has {'' if self.nut_fallen else 'not '}fallen")
        if self.gripper_above is not None:
            parts.append(f"the jaws are wider than {self.gripper_above * 1e3:g} mm")
        if self.gripper_below is not None:
            parts.append(f"the jaws are narrower than {self.gripper_below * 1e3:g} mm")
        return " and ".join(parts)
