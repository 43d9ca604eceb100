# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
# Tests: src/arm_studio/test/panels/test_matrices.py
"""The robot file of a page as a kinematic chain, at the positions that the page shows."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress

import numpy as np
from arm_common.transforms import Array
from arm_description.robot_model import RobotModel
from arm_viewer.panels.interface import PanelContext

from arm_kinematics import Chain, KinematicsError


class ModelChain:
    """The chain of the robot that a page shows, which is made again when the robot changes."""

    def __init__(self, context: PanelContext) -> None:
        self._context = context
        self._model: RobotModel | None = None
        self._chain: Chain | None = None

    def chain(self) -> Chain | None:
        """Return the chain; None without a robot file, or if no joint moves."""
        if (model := self._context.model()) is not self._model:
            self._model, self._chain = model, None
            if model is not None:
                with suppress(KinematicsError):
                    self._chain = Chain.from_model(model)
        return self._chain

    def q(self, positions: Mapping[str, float]) -> Array | None:
        """Return positions by the page's names as (n,) [rad or m]; None if one is unknown."""
        if (chain := self.chain()) is None:
            return None
        in_file = file_positions(self._context.prefix, positions)
        q = np.array([in_file.get(name, np.nan) for name in chain.joint_names])
        return q if np.isfinite(q).all() else None


def file_positions(prefix: str, positions: Mapping[str, float]) -> dict[str, float]:
    """Return positions by the names of the robot file, which lack the prefix of the page."""
    return {n.removeprefix(prefix): q for n, q in positions.items() if n.startswith(prefix)}
