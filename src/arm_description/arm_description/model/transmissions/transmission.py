# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""What every transmission offers, those whose map is linear, and all of an arm: its drivetrain.

Words, signs and formulas are those of ros2_control's transmission_interface (control.ros.org;
simple_transmission.hpp, differential_transmission.hpp, four_bar_linkage_transmission.hpp): an
*actuator* is a servo's own shaft, ``mechanical_reduction`` are turns of the actuator per turn of
the joint (negative where they turn in opposite directions), ``offset`` is the position of the
joint where the actuator is at 0.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Protocol

import numpy as np
from arm_common.transforms import Array

from arm_description.errors import DescriptionError
from arm_description.model.constraints import JointConstraint, LinearExpression, LinearLimits
from arm_description.model.elements import ActuatorLimits

Pair = tuple[float, float]
UNLIMITED = ActuatorLimits()


@dataclass(frozen=True)
class Transmission(ABC):
    """A map between the positions of joints and actuators [rad, or m of a prismatic joint].

    Arrays have one column per joint, in the order of ``inputs``, or per actuator.
    """

    joints: tuple[str, ...]  # names of the joints that its actuators move
    actuators: tuple[str, ...]  # names of the actuators
    # names of further joints whose positions the actuators depend on
    depends_on: tuple[str, ...] = field(default=(), kw_only=True)
    limits: ActuatorLimits = field(default=UNLIMITED, kw_only=True)  # of each of the actuators

    @property
    def inputs(self) -> tuple[str, ...]:
        """All joints of the map: ``joints``, then ``depends_on``."""
        return (*self.joints, *self.depends_on)

    @abstractmethod
    def to_actuators(self, q: Array) -> Array:
        """Return the positions of the actuators (..., m) with the inputs at q (..., k)."""

    @abstractmethod
    def to_joints(self, a: Array, others: Array) -> Array:
        """Return the joints (..., j) with the actuators at a (..., m), others as ``depends_on``.

        Beyond the reach of the mechanism it is the nearest position within.
        """

    @abstractmethod
    def jacobian(self, q: Array) -> Array:
        """Return the derivatives of the actuators by the inputs, (..., m, k)."""

    @abstractmethod
    def constraint(self, output: int, lower: float, upper: float, reason: str) -> JointConstraint:
        """Return what a travel [rad or m] of an actuator allows the last joint that it moves."""

    def constraints(
        self,
        limits: Sequence[ActuatorLimits] = (),
        reason: str = "the linkage allows",
        alone: bool = False,
    ) -> tuple[JointConstraint, ...]:
        """Return the constraints of actuators with limits that depend on several joints.

        Args:
            limits: of the actuators (m,); default those of the transmission.
            reason: how a message begins what is allowed.
            alone: return those of actuators that depend on one joint instead.
        """
        found = (
            self.constraint(output, limit.lower, limit.upper, reason)
            for output, limit in enumerate(limits or [self.limits] * len(self.actuators))
            if math.isfinite(limit.lower) and math.isfinite(limit.upper)
        )
        return tuple(constraint for constraint in found if (len(constraint.joints) == 1) == alone)


class CurvedTransmission(Transmission):
    """A transmission of one actuator and one joint whose velocity ratio changes with the joint."""

    @abstractmethod
    def joint_at_limit(self, limit: float, q: Array) -> Array:
        """Return the joint (...) that takes the actuator to a limit, the inputs at q (..., k)."""

    def constraint(self, output: int, lower: float, upper: float, reason: str) -> JointConstraint:
        """Return the part of the joint's range that a travel of the actuator allows."""
        return CurvedTravel(self.joints[0], self, lower, upper, reason)


@dataclass(frozen=True)
class CurvedTravel(JointConstraint):
    """The part of a joint's range that the travel of its actuator allows."""

    joint: str
    transmission: CurvedTransmission
    lower: float  # ends of the travel [rad or m]
    upper: float
    reason: str

    @property
    def joints(self) -> tuple[str, ...]:
        """The joints that the actuator depends on, the joint first."""
        return self.transmission.inputs

    def ends(self, q: Array) -> tuple[Array, Array]:
        """Return the positions of the joint at the ends of the travel."""
        ends = [self.transmission.joint_at_limit(end, q) for end in (self.lower, self.upper)]
        return np.minimum(*ends), np.maximum(*ends)


class LinearTransmission(Transmission):
    """A transmission with ``actuators = matrix @ (inputs - offsets)``."""

    offset: float | Pair  # of the joints [rad or m]

    @cached_property
    def matrix(self) -> Array:
        """The constant Jacobian, (m, k)."""
        return np.array(self._rows(), dtype=float)

    @abstractmethod
    def _rows(self) -> Sequence[Sequence[float]]: ...

    @property
    def _zero(self) -> tuple[float, ...]:
        """Positions of the inputs at which all actuators are at 0, (k,)."""
        own = self.offset if isinstance(self.offset, tuple) else (self.offset,)
        return (*own, *(0.0 for _ in self.depends_on))

    def to_actuators(self, q: Array) -> Array:
        """Return the actuators (..., m) with the inputs at q (..., k)."""
        actuators: Array = (q - np.array(self._zero)) @ self.matrix.T
        return actuators

    def to_joints(self, a: Array, others: Array) -> Array:
        """Return the joints (..., j); of several actuators on one joint, the mean counts."""
        j = len(self.joints)
        rest = a - (others - np.array(self._zero[j:])) @ self.matrix[:, j:].T
        joints: Array = rest @ self._inverse.T + np.array(self._zero[:j])
        return joints

    @cached_property
    def _inverse(self) -> Array:
        """The (left) inverse of the joints' part, (j, m): of several actuators it is the mean."""
        return np.asarray(np.linalg.pinv(self.matrix[:, : len(self.joints)]), dtype=float)

    def jacobian(self, q: Array) -> Array:
        """Return the constant Jacobian (..., m, k)."""
        return np.asarray(np.broadcast_to(self.matrix, (*q.shape[:-1], *self.matrix.shape)))

    def constraint(self, output: int, lower: float, upper: float, reason: str) -> JointConstraint:
        """Return the joint's limits, which are linear in the other inputs."""
        row, zero = self.matrix[output], self.to_actuators(np.zeros(len(self.inputs)))[output]
        own = int(np.flatnonzero(row[: len(self.joints)])[-1])
        others = tuple(
            (name, float(-rate / row[own]))
            for i, (name, rate) in enumerate(zip(self.inputs, row, strict=True))
            if i != own and rate != 0.0
        )
        least, most = sorted(float((limit - zero) / row[own]) for limit in (lower, upper))
        return LinearLimits(
            self.joints[own],
            (LinearExpression(least, others),),
            (LinearExpression(most, others),),
            reason,
        )


@dataclass(frozen=True)
class SimpleTransmission(LinearTransmission):
    """A gear, belt or horn: ``actuator = mechanical_reduction * (joint - offset)``."""

    mechanical_reduction: float = 1.0
    offset: float = 0.0  # [rad or m]

    def _rows(self) -> Sequence[Sequence[float]]:
        return [[self.mechanical_reduction]]


@dataclass(frozen=True)
class ParallelogramTransmission(LinearTransmission):
    """A servo that sets a link against an earlier one, over a parallelogram.

    ``actuator = mechanical_reduction * (joint - offset + sum of ratio * depends_on)``.
    """

    ratios: tuple[float, ...]  # one for each of ``depends_on``; 1 or -1 for a parallelogram
    mechanical_reduction: float = 1.0
    offset: float = 0.0  # [rad]

    def _rows(self) -> Sequence[Sequence[float]]:
        return [[self.mechanical_reduction * ratio for ratio in (1.0, *self.ratios)]]


@dataclass(frozen=True)
class DifferentialTransmission(LinearTransmission):
    """Two actuators whose sum moves one joint and whose difference another.

    ``actuator_1, 2 = n_a * (n_j1 * (joint_1 - offset_1) +- n_j2 * (joint_2 - offset_2))``.
    """

    mechanical_reduction: Pair = (1.0, 1.0)  # of the actuators
    joint_reduction: Pair = (1.0, 1.0)
    offset: Pair = (0.0, 0.0)  # of the joints [rad]

    def _rows(self) -> Sequence[Sequence[float]]:
        (a1, a2), (j1, j2) = self.mechanical_reduction, self.joint_reduction
        return [[a1 * j1, a1 * j2], [a2 * j1, -a2 * j2]]


class FourBarLinkageTransmission(DifferentialTransmission):
    """ros2_control's linear four-bar linkage: the second joint depends on both actuators.

    ``actuator_1 = n_a1 * n_j1 * (joint_1 - offset_1)``,
    ``actuator_2 = n_a2 * ((joint_1 - offset_1) + n_j2 * (joint_2 - offset_2))``.
    """

    def _rows(self) -> Sequence[Sequence[float]]:
        (a1, a2), (j1, j2) = self.mechanical_reduction, self.joint_reduction
        return [[a1 * j1, 0.0], [a2, a2 * j2]]


@dataclass(frozen=True)
class SeveralActuatorsTransmission(LinearTransmission):
    """Several actuators on one joint; mirrored ones turn the other way.

    ``actuator = +-mechanical_reduction * (joint - offset)``. Their positions must agree, as they
    would work against each other otherwise.
    """

    mirrored: tuple[bool, ...]  # for each actuator
    allowed_difference: float  # allowed between any two of them [rad or m]
    mechanical_reduction: float = 1.0
    offset: float = 0.0  # [rad or m]

    @cached_property
    def _signs(self) -> Array:
        return np.where(self.mirrored, -1.0, 1.0)

    def _rows(self) -> Sequence[Sequence[float]]:
        return [[float(sign) * self.mechanical_reduction] for sign in self._signs]

    def difference(self, a: Array) -> Array:
        """Return by how much its actuators at a (..., m) disagree (...) [rad or m]."""
        alike = a * self._signs
        spread: Array = alike.max(axis=-1) - alike.min(axis=-1)
        return spread


class DrivenModel(Protocol):
    """What a drivetrain is made from, as a `RobotModel` has it."""

    @property
    def joint_names(self) -> tuple[str, ...]:
        """Names of the joints from the base to the tool."""

    @property
    def transmissions(self) -> tuple[Transmission, ...]:
        """Those of joints that are not their own actuators."""


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
    def of(cls, model: DrivenModel) -> Drivetrain:
        """Return the drivetrain of a robot."""
        return cls(model.joint_names, model.transmissions)

    @property
    def is_linear(self) -> bool:
        """Whether the Jacobian is constant."""
        return not self._curved

    def drives(self) -> dict[str, tuple[Transmission, int]]:
        """Return, by actuator, its transmission and its index among the actuators of that."""
        return {name: (t, k) for t in self.transmissions for k, name in enumerate(t.actuators)}

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
