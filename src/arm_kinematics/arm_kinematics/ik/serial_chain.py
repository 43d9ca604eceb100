# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""What inverse kinematics use of a chain; `arm_kinematics.Chain` has it."""

from __future__ import annotations

from typing import Any, Protocol

from arm_common.transforms import Array
from arm_description.model.constraints import ConstraintSet
from numpy.typing import ArrayLike

from arm_kinematics.model.mimic_joints import MimicJoints


class SerialChain(Protocol):
    """A chain from a base to a tip; attributes and methods as in `arm_kinematics.Chain`."""

    n: int
    joint_names: tuple[str, ...]
    S: Array
    M: Array
    prismatic: tuple[bool, ...]
    sliding: tuple[bool, ...]
    gearing: MimicJoints | None
    constraints: ConstraintSet
    lower: Array
    upper: Array
    effort: Array

    @property
    def middle(self) -> Array:
        """Joint positions (n,) at mid-range."""

    @property
    def unconstrained(self) -> SerialChain:
        """The chain without constraints."""

    def fk(self, q: ArrayLike) -> Array:
        """Return the pose of the tip."""

    def fk_jacobian(self, q: ArrayLike) -> tuple[Array, Array]:
        """Return pose and Jacobian of the tip."""

    def gravity_torques(self, q: ArrayLike) -> Array:
        """Return the torques that hold the arm at rest."""

    def ik(self, T: ArrayLike, *arguments: Any, **options: Any) -> Any:
        """Return the IkResult for a pose of the tip."""
