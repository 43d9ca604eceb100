# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Joint values that a user sets, within their limits; mimic joints follow."""

from __future__ import annotations

import math
from collections.abc import Mapping

from arm_viewer.errors import ViewerError
from arm_viewer.scene.robot import VisualJoint


class JointSliders:
    """The values of a robot's joints. Radians; metres for prismatic joints.

    Args:
        joints: The robot's movable joints; those that mimic another get no slider.
        start: Values to begin with, by joint name; others begin at zero, or at the limit
            nearest to zero. Names that the robot lacks are ignored.
    """

    def __init__(
        self, joints: tuple[VisualJoint, ...], start: Mapping[str, float] | None = None
    ) -> None:
        self.joints = tuple(joint for joint in joints if joint.mimic is None)
        self._followers = tuple(joint for joint in joints if joint.mimic is not None)
        self._by_name = {joint.name: joint for joint in self.joints}
        self._values = {joint.name: _within(joint, 0.0) for joint in self.joints}
        self.apply(start or {})

    def set(self, name: str, value: float) -> float:
        """Set one joint and return the value it got, which lies within its limits.

        Raises:
            ViewerError: If there is no such joint, or the value is not finite.
        """
        joint = self._by_name.get(name)
        if joint is None:
            known = ", ".join(self._by_name)
            raise ViewerError(f'slider: no joint "{name}"; there are {known}')
        if not math.isfinite(value):
            raise ViewerError(f'slider of joint "{name}": {value} is not a finite number')
        self._values[name] = _within(joint, value)
        return self._values[name]

    def apply(self, posture: Mapping[str, float]) -> None:
        """Set the joints that a posture names; names that the robot lacks are ignored."""
        for name in posture.keys() & self._by_name.keys():
            self.set(name, posture[name])

    def __getitem__(self, name: str) -> float:
        return self._values[name]

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
