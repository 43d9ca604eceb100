# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Geometric model of the payloads, which determines their poses from tool poses and widths."""

from __future__ import annotations

import logging
from collections.abc import Mapping

import numpy as np
from arm_common.transforms import Array
from arm_description.model.gripper import Gripper
from arm_tasks.scene.grasp import Carried, grasp, resting_pose
from arm_tasks.scene.scene import Scene

_LOGGER = logging.getLogger(__name__)
_SLACK = 0.2e-3  # jaws wider than their payload by more than this release it [m]

_STILL = 1e-3  # largest change of the tool pose between two updates at rest [m, and of its axes]


class PayloadWorld:
    """Tracks the payloads of a scene from geometry alone.

    Closing jaws grip a payload, which then moves with the tool. Opening jaws release it, and it
    falls straight down. The scene has the initial poses. Without jaws, payloads stay there.
    """

    def __init__(self, scene: Scene, jaws: Gripper | None) -> None:
        self.scene = scene
        self._jaws = jaws
        self._names = [obj.name for obj in scene.objects.values() if obj.is_payload]
        self._carried: Carried | None = None
        self._last: tuple[Array, float] | None = None
        self._opened = 0.0  # width of the jaws when they started to close, with the tool at rest

    @property
    def held(self) -> str:
        """Name of the payload in the jaws, or ""."""
        return self._carried.name if self._carried else ""

    @property
    def poses(self) -> Mapping[str, Array]:
        """base_link <- payload (4, 4) by name [m]."""
        return {name: self.scene.objects[name].pose for name in self._names}

    def update(self, T_tool: Array, width: float) -> bool:
        """Update base_link <- tool0 (4, 4) and the width [m]; return whether a payload moved."""
        last, self._last = self._last, (np.array(T_tool), width)
        if self._carried is not None:
            self._carry(self._carried, T_tool, width)
            return True
        if last is None or width > last[1] or np.abs(T_tool - last[0]).max() > _STILL:
            self._opened = width
            return False
        return width < self._opened and any(self._catch(n, T_tool, width) for n in self._names)

    def _carry(self, carried: Carried, T_tool: Array, width: float) -> None:
        self.scene = self.scene.with_object(carried.name, T_tool @ carried.grasp)
        if width > carried.width + _SLACK:
            landed, on = resting_pose(self.scene, carried.name)
            self.scene = self.scene.with_object(carried.name, landed)
            self._carried = None
            _LOGGER.info("%s: released, lies on %s", carried.name, on)

    def _catch(self, name: str, T_tool: Array, width: float) -> bool:
        if self._jaws is None:
            return False
        found = grasp(self.scene.objects[name], T_tool, self._jaws, self._opened)
        if isinstance(found, str) or width > found.width:
            return False
        self._carried = found
        self.scene = self.scene.with_object(name, T_tool @ found.grasp)
        _LOGGER.info("%s: gripped", name)
        return True
