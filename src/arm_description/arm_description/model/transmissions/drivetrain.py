# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""The drivetrain of an arm: all its transmissions together, and what they allow its joints."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import NamedTuple, Protocol

import numpy as np
from arm_common.transforms import Array

from arm_description.errors import DescriptionError
from arm_description.model.constraints import JointConstraint
from arm_description.model.elements import ActuatorLimits
from arm_description.model.transmissions.transmission import (
    LinearTransmission,
    SeveralActuatorsTransmission,
    SimpleTransmission,
    Transmission,
)


class ActuatorOf(NamedTuple):
    """An actuator of a drivetrain."""

    transmission: Transmission
    output: int  # among the transmission's actuators


class DrivenArm(Protocol):
    """What a drivetrain needs of an arm."""

    @property
    def joint_names(self) -> tuple[str, ...]:
        """Names of the joints from the base to the tool."""

    @property
    def transmissions(self) -> tuple[Transmission, ...]:
        """What stands between joints and actuators."""


class Drivetrain:
    """The map between all joints of an arm and all actuators.

    Attributes:
        joint_names: the arm's joints, (n,).
        transmissions: in the order of their joints; joints without one have their own actuator.
        actuators: names of the actuators, (m,), m >= n.
        is_identity: whether every joint is its own actuator, without limits.
    """

    def __init__(self, joint_names: Sequence[str], transmissions: Sequence[Transmission]) -> None:
        """Compose the transmissions.

        Raises:
            DescriptionError: joints depend on each other in a circle; its key is the index of a
                transmission in the circle.
        """
        self.joint_names = tuple(joint_names)
        moved = {joint for t in transmissions for joint in t.joints}
        own = [SimpleTransmission((name,), (name,)) for name in joint_names if name not in moved]
        place = {name: i for i, name in enumerate(joint_names)}
        self.transmissions = sorted(
            (*transmissions, *own), key=lambda t: min(place[joint] for joint in t.joints)
        )
        self.actuators = tuple(name for t in self.transmissions for name in t.actuators)
        self._columns = [[place[name] for name in t.inputs] for t in self.transmissions]
        ends = np.cumsum([len(t.actuators) for t in self.transmissions]).tolist()
        self._spans = [slice(a, b) for a, b in zip([0, *ends], ends, strict=False)]
        self._order = self._dependency_order(transmissions)
        self.is_identity = all(t == SimpleTransmission(t.joints, t.joints) for t in transmissions)
        self._matrix, self._shift = self._linear_part()
        self._curved = [
            i for i, t in enumerate(self.transmissions) if not isinstance(t, LinearTransmission)
        ]

    @classmethod
    def of(cls, arm: DrivenArm) -> Drivetrain:
        """Return the drivetrain of an arm."""
        return cls(arm.joint_names, arm.transmissions)

    @property
    def is_linear(self) -> bool:
        """Whether the Jacobian is constant."""
        return not self._curved

    def drives(self) -> list[ActuatorOf]:
        """Return the transmission of each actuator, (m,)."""
        return [ActuatorOf(t, k) for t in self.transmissions for k in range(len(t.actuators))]

    def to_actuators(self, q: Array) -> Array:
        """Return the positions of the actuators (..., m) with the joints at q (..., n)."""
        a: Array = q @ self._matrix.T + self._shift
        for i in self._curved:
            a[..., self._spans[i]] = self.transmissions[i].to_actuators(q[..., self._columns[i]])
        return a

    def to_joints(self, a: Array) -> Array:
        """Return the joints (..., n) with the actuators at a (..., m); NaN where one is NaN."""
        q: Array = np.zeros((*a.shape[:-1], len(self.joint_names)))
        for i in self._order:
            t, columns = self.transmissions[i], self._columns[i]
            j = len(t.joints)
            q[..., columns[:j]] = t.to_joints(a[..., self._spans[i]], q[..., columns[j:]])
        return q

    def jacobian(self, q: Array) -> Array:
        """Return the derivatives of the actuators by the joints, (..., m, n)."""
        J: Array = np.broadcast_to(self._matrix, (*q.shape[:-1], *self._matrix.shape)).copy()
        for i in self._curved:
            columns = self._columns[i]
            J[..., self._spans[i], columns] = self.transmissions[i].jacobian(q[..., columns])
        return J

    def differences(self, a: Array) -> list[tuple[SeveralActuatorsTransmission, float]]:
        """Return the transmissions with several actuators, and how far these (m,) disagree."""
        return [(t, float(t.difference(a[span]))) for t, span in self._shared]

    def with_partners(self, a: Array) -> Array:
        """Return actuators (m,), those that are NaN where others of the same joint are."""
        filled: Array = a.copy()
        for t, span in self._shared:
            part, unknown = filled[span], np.isnan(filled[span])
            if unknown.any() and not unknown.all():
                turned = np.mean(part[~unknown] / t.matrix[~unknown, 0])  # joint - offset
                part[unknown] = t.matrix[unknown, 0] * turned
        return filled

    @cached_property
    def _shared(self) -> list[tuple[SeveralActuatorsTransmission, slice]]:
        pairs = zip(self.transmissions, self._spans, strict=True)
        return [(t, span) for t, span in pairs if isinstance(t, SeveralActuatorsTransmission)]

    def groups(self) -> list[tuple[int, ...]]:
        """Return the actuators' indices, those that move one joint together in one tuple."""
        together = [tuple(range(span.start, span.stop)) for _, span in self._shared]
        alone = set(range(len(self.actuators))).difference(*together)
        return sorted([*together, *((i,) for i in alone)])

    def constraints(
        self,
        limits: Sequence[ActuatorLimits] | None = None,
        reason: str = "the linkage allows",
        alone: bool = False,
    ) -> tuple[JointConstraint, ...]:
        """Return the constraints of actuators with limits that depend on several joints.

        Args:
            limits: of the actuators (m,); default those of their transmissions.
            reason: how a message begins what is allowed.
            alone: return those of actuators that depend on one joint instead.
        """
        return tuple(
            constraint
            for t, span in zip(self.transmissions, self._spans, strict=True)
            for constraint in t.constraints((limits or ())[span], reason, alone)
        )

    def _dependency_order(self, given: Sequence[Transmission]) -> list[int]:
        """Return the transmissions such that each follows those that it depends on."""
        order: list[int] = []
        known: set[str] = set()
        left = list(range(len(self.transmissions)))
        while left:
            ready = [i for i in left if known.issuperset(self.transmissions[i].depends_on)]
            if not ready:
                circle = [self.transmissions[i] for i in left]
                raise DescriptionError(
                    f"{' and '.join(t.joints[0] for t in circle)} depend on each other",
                    key=str(list(given).index(circle[0])),
                    remedy="give each joint only joints that do not depend on it",
                )
            order += ready
            known.update(joint for i in ready for joint in self.transmissions[i].joints)
            left = [i for i in left if i not in ready]
        return order

    def _linear_part(self) -> tuple[Array, Array]:
        matrix = np.zeros((len(self.actuators), len(self.joint_names)))
        shift = np.zeros(len(self.actuators))
        for t, columns, span in zip(self.transmissions, self._columns, self._spans, strict=True):
            if isinstance(t, LinearTransmission):
                matrix[span, columns] = t.matrix
                shift[span] = t.to_actuators(np.zeros(len(columns)))
        return matrix, shift
