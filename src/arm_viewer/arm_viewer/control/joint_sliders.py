# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Joint values that a user sets, within their limits; mimic joints follow."""

from __future__ import annotations

import math
from collections.abc import Mapping

from arm_viewer.errors import ViewerError
from arm_viewer.scene.robot import VisualJoint


class JointSliders:
    """The values of a robot's movable joints. Radians; metres for prismatic joints.

    Those without a start value begin at zero, or at the limit nearest to zero.
    """

    def __init__(
        self, joints: tuple[VisualJoint, ...], start: Mapping[str, float] | None = None
    ) -> None:
        self._followers = tuple(joint for joint in joints if joint.mimic is not None)
        self._joints = {joint.name: joint for joint in joints if joint.mimic is None}
        self._values = {name: _within(joint, 0.0) for name, joint in self._joints.items()}
        self.apply(start or {})

    def apply(self, posture: Mapping[str, float]) -> None:
        """Set the joints that a posture names; names that the robot lacks are ignored.

        Raises:
            ViewerError: A value is not finite.
        """
        for name in posture.keys() & self._joints.keys():
            if not math.isfinite(posture[name]):
                raise ViewerError(
                    f'slider of joint "{name}": {posture[name]} is not a finite number'
                )
            self._values[name] = _within(self._joints[name], posture[name])

    def values(self) -> dict[str, float]:
        """Return the value of every movable joint by name, mimic joints included."""
        values = dict(self._values)
        for joint in self._followers:
            assert joint.mimic is not None
            lead = values[joint.mimic.joint]
            values[joint.name] = joint.mimic.multiplier * lead + joint.mimic.offset
        return values


def _within(joint: VisualJoint, value: float) -> float:
    return min(max(value, joint.lower), joint.upper)
