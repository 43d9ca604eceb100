# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""A robot's stored postures as joint values."""

from __future__ import annotations

import contextlib
from collections.abc import Mapping

from arm_description.urdf.motion import link_poses

from arm_description import DescriptionError, RobotModel, load_robot
from arm_description.urdf import read_urdf

from .shapes import Array

REST = "rest"
GRIPPER = "gripper"


class PostureBook:
    """The postures of a robot file.

    Args:
        robot: Shipped name or path of the robot; empty for none.

    Attributes:
        postures: Posture name -> joint name -> value [rad or m].
        poses: Of each posture link name -> (4, 4), root <- link.

    Raises:
        DescriptionError: If there is no such robot.
    """

    def __init__(self, robot: str) -> None:
        self._robot = robot
        self.postures: dict[str, dict[str, float]] = {}
        self.poses: tuple[dict[str, Array], ...] = ()
        if robot:
            self._read()

    @property
    def rest(self) -> Mapping[str, float]:
        """The posture to begin with; empty if there is none."""
        return self.postures.get(REST, {})

    def reload(self) -> bool:
        """Read the file again, if it is right; whether the postures changed."""
        if not self._robot:
            return False
        former = self.postures
        with contextlib.suppress(DescriptionError):  # whoever reads the file for tf says what
            self._read()
        return self.postures != former

    def _read(self) -> None:
        model = load_robot(self._robot)
        self.postures = postures_of(model)
        tree = read_urdf(model.to_urdf())
        self.poses = tuple(
            link_poses(tree.root, tree.joints, values) for values in self.postures.values()
        )


def postures_of(model: RobotModel) -> dict[str, dict[str, float]]:
    """Return posture name -> joint name -> value [rad or m].

    A posture's `gripper` is a width [m]; it becomes half of it for each finger joint.
    """
    return {name: _joints(model, posture) for name, posture in model.postures.items()}


def _joints(model: RobotModel, posture: Mapping[str, float]) -> dict[str, float]:
    joints = {name: float(value) for name, value in posture.items() if name != GRIPPER}
    if GRIPPER in posture and model.gripper is not None:
        joints |= {finger: 0.5 * float(posture[GRIPPER]) for finger in model.gripper.joints}
    return joints
