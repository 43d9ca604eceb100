# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""The shafts of an arm's servos, as lines over the joints that they move.

MuJoCo drives a joint, or a tendon whose length is a sum of joints. That is exact for gears,
parallelograms, differentials and several servos on a joint. A crank or a measured table has the
tangent at one position; :class:`Tangents` moves it along with the arm.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from arm_common.transforms import Array
from arm_description.model.transmissions.transmission import (
    ActuatorLimits,
    LinearTransmission,
    Transmission,
)
from arm_description.robot_model import RobotModel
from arm_description.urdf.assembly import written_effort


@dataclass(frozen=True)
class Shaft:
    """A servo's shaft at ``shift + rates @ joints``, exactly or in the middle of their ranges."""

    name: str
    joints: tuple[str, ...]  # (k,)
    rates: tuple[float, ...]  # of the shaft per joint (k,)
    shift: float  # of the shaft [rad or m]
    slides: tuple[bool, ...]  # whether a joint is prismatic (k,)
    own_slides: bool  # whether the shaft's position is a length
    effort: float  # stall torque [N m or N]
    velocity: float  # that the robot file counts on [rad/s or m/s]
    limits: ActuatorLimits

    @property
    def is_joint(self) -> bool:
        """Whether it is the axis of a joint."""
        return self.rates == (1.0,) and self.shift == 0.0

    def scales(self, length: float) -> Array:
        """Return the factors of the rates (k,) where a metre has this many units."""
        own = length if self.own_slides else 1.0
        return np.array([own / (length if slides else 1.0) for slides in self.slides])


def shafts_of(model: RobotModel) -> tuple[Shaft, ...]:
    """Return the shafts of all servos but that of the gripper.

    The effort of a joint is what all servos of its transmission give together; one without an
    effort is as strong as its URDF says.
    """
    drives = model.drivetrain.drives()
    return tuple(_shaft(model, name, *drive) for name, drive in drives.items())


def _shaft(model: RobotModel, name: str, transmission: Transmission, output: int) -> Shaft:
    by_name = {joint.name: joint for joint in model.joints}
    inputs = [by_name[joint] for joint in transmission.inputs]
    middle = [
        0.5 * (j.lower + j.upper) if math.isfinite(j.upper - j.lower) else 0.0 for j in inputs
    ]
    line, shift = _tangent(transmission, np.array(middle))
    own = min(output, len(transmission.joints) - 1)
    curved = not isinstance(transmission, LinearTransmission)
    moved = [i for i, rate in enumerate(line[output]) if rate != 0.0 or curved]
    return Shaft(
        name,
        tuple(inputs[i].name for i in moved),
        tuple(float(line[output, i]) for i in moved),
        float(shift[output]),
        tuple(inputs[i].type == "prismatic" for i in moved),
        inputs[own].type == "prismatic",
        written_effort(inputs[own]) / float(np.abs(line[:, own]).sum()),
        inputs[own].velocity * abs(float(line[output, own])),
        transmission.limits,
    )


def _tangent(transmission: Transmission, q: Array) -> tuple[Array, Array]:
    """Return rates (m, k) and shifts (m,) of the actuators with the inputs near q (k,)."""
    rates = transmission.jacobian(q)
    return rates, transmission.to_actuators(q) - rates @ q


class Tangents:
    """Keeps the tendons of curved transmissions tangent to them, in a compiled model."""

    def __init__(self, mj_model: Any, model: RobotModel, length: float) -> None:
        """Find the tendons; a metre has ``length`` units."""
        self._mj_model = mj_model
        drives = model.drivetrain.drives()
        self._rows = [
            _TendonRow(mj_model, shaft, transmission, length)
            for shaft in shafts_of(model)
            if not isinstance(transmission := drives[shaft.name][0], LinearTransmission)
        ]

    def update(self, data: Any) -> None:
        """Put the tangents at the joints' positions."""
        for row in self._rows:
            row.update(self._mj_model, data)


class _TendonRow:
    """The tendon of one curved transmission."""

    def __init__(
        self, mj_model: Any, shaft: Shaft, transmission: Transmission, length: float
    ) -> None:
        self._transmission = transmission
        joints = [mj_model.joint(name).id for name in shaft.joints]
        self._qpos = mj_model.jnt_qposadr[joints]
        self._per_unit = np.where(shaft.slides, 1.0 / length, 1.0)
        self._scales = shaft.scales(length)
        self._own = length if shaft.own_slides else 1.0
        self._actuator = mj_model.actuator(shaft.name).id
        first = int(mj_model.tendon_adr[mj_model.tendon(shaft.name).id])
        self._coefficients = slice(first, first + len(joints))

    def update(self, mj_model: Any, data: Any) -> None:
        q = data.qpos[self._qpos] * self._per_unit
        rates, shift = _tangent(self._transmission, q)
        mj_model.wrap_prm[self._coefficients] = rates[0] * self._scales
        gain = mj_model.actuator_gainprm[self._actuator, 0]
        mj_model.actuator_biasprm[self._actuator, 0] = -gain * shift[0] * self._own
