# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Where the bodies of a robot are, for joint positions and a width of the jaws."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from arm_kinematics.robot import MissingJointsError, Robot

from arm_description import RobotModel
from arm_kinematics import Chain
from arm_tasks.collision.bodies import Body
from arm_tasks.geometry import Array


class Placing:
    """Forward kinematics of bodies.

    Args:
        model: The robot.
        xml: Its URDF.
        bodies: Its shapes.
    """

    def __init__(self, model: RobotModel, xml: str, bodies: Sequence[Body]) -> None:
        fingers = model.gripper.joints if model.gripper else ()
        names = [*model.joint_names, *fingers]
        self._fingers = len(fingers)
        self._bodies = bodies
        robot = Robot(xml)
        self._fixed: dict[str, Array] = {}
        self._chains: dict[str, tuple[Chain, Array]] = {}
        for link in {body.owner for body in bodies}:
            try:
                self._fixed[link] = robot.link_pose(link, {})
            except MissingJointsError:
                chain = robot.chain(link)
                index = np.array([names.index(name) for name in chain.joint_names])
                self._chains[link] = chain, index

    def poses(self, q: Sequence[float] | Array, width: float) -> list[Array]:
        """Return base_link <- body (4, 4) of each body.

        Args:
            q: Joint positions (n,) [rad or m].
            width: Between the jaws [m].
        """
        x = np.concatenate([q, np.full(self._fingers, width / 2.0)])
        links = {link: chain.fk(x[index]) for link, (chain, index) in self._chains.items()}
        links.update(self._fixed)
        return [links[body.owner] @ body.pose for body in self._bodies]
