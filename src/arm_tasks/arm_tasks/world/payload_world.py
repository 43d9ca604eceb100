# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Geometric model of the payloads: decides where they are from tool poses and jaw widths."""

from __future__ import annotations

import logging
from collections.abc import Mapping

import numpy as np
from arm_common.transforms import Array

from arm_description import Gripper
from arm_tasks.scene.payloads import Carried, grasp, rest
from arm_tasks.scene.scene import Scene

_LOGGER = logging.getLogger(__name__)
_SLACK = 0.2e-3  # jaws that are wider than their payload by more release it [m]

_STILL = 1e-3  # a tool that moves by less between two updates is at rest [m, and of its axes]


class PayloadWorld:
    """Where the payloads of a scene are, decided from geometry alone.

    Jaws that close on a payload hold it, and it moves with the tool. Jaws that open release it,
    and it falls straight onto what is below. The scene has the payloads where they are at first.
    """

    def __init__(self, scene: Scene, jaws: Gripper) -> None:
        self.scene = scene
        self._jaws = jaws
        self._names = [thing.name for thing in scene.things.values() if thing.is_payload]
        self._carried: Carried | None = None
        self._last: tuple[Array, float] | None = None
        self._opened = 0.0  # width of the jaws when they began to close, the tool standing still

    @property
    def held(self) -> str:
        """Name of the payload in the jaws, or ""."""
        return self._carried.name if self._carried else ""

    @property
    def poses(self) -> Mapping[str, Array]:
        """base_link <- payload (4, 4) of each [m]."""
        return {name: self.scene.things[name].pose for name in self._names}

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
        self.scene = self.scene.with_thing(carried.name, T_tool @ carried.grasp)
        if width > carried.width + _SLACK:
            landed, on = rest(self.scene, carried.name)
            self.scene = self.scene.with_thing(carried.name, landed)
            self._carried = None
            _LOGGER.info("%s: let go, lies on %s", carried.name, on)

    def _catch(self, name: str, T_tool: Array, width: float) -> bool:
        found = grasp(self.scene.things[name], T_tool, self._jaws, self._opened)
        if isinstance(found, str) or width > found.width:
            return False
        self._carried = found
        self.scene = self.scene.with_thing(name, T_tool @ found.grasp)
        _LOGGER.info("%s: gripped", name)
        return True
