# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""The stiffness of a servo, from how far a known weight makes a frame of the arm sink.

A weight F that hangs at a frame loads servo j with the torque F l_j, where l_j is by how much the
frame rises per radian of the servo. So servo j turns by F l_j / k_j, and with all servos the frame
sinks by the sum of F l_j^2 / k_j.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import numpy as np
from arm_common.suggestions import did_you_mean
from arm_common.transforms import Array
from arm_description.model.transmissions.transmission import Drivetrain
from arm_description.model.units import deg
from arm_description.robot_model import RobotModel
from arm_description.urdf.bodies import bodies_of_urdf, holding_torques
from arm_description.urdf.kinematics import link_poses
from arm_description.urdf.reader import read_urdf

_GRAVITY = 9.81  # [m/s^2] against z of the base
_STEP = 1e-5  # [rad or m] of the differences that make levers
_SHORTEST = 0.02  # lever that shows anything [m per rad]
_SMALL = 0.1  # share of that lever below which another servo is left out
_LEAST_READ = 1e-3  # [m]; a person reads to half a millimetre
_LARGEST_TURN = math.radians(15.0)  # a servo that turns farther does not hold the weight
_SPREAD = 0.5  # by which a reading may differ from the mean of those before


class HungWeight:
    """A weight that hangs at a frame of an arm; servos by the names of their actuators."""

    def __init__(
        self, model: RobotModel, actuators: Mapping[str, float], mass: float, frame: str
    ) -> None:
        """Find the torques of a mass [kg] at a frame with the actuators at these positions.

        Raises:
            ValueError: The mass or the frame cannot be right; its text is the reason.
        """
        if not 0.0 < mass <= 20.0:
            raise ValueError(f"{1e3 * mass:g} g is not a weight to hang on this arm")
        drivetrain = Drivetrain.of(model)
        self._names = drivetrain.actuators
        tree = read_urdf(model.to_urdf())
        if frame not in tree.links:
            raise ValueError(f"there is no frame '{frame}'; {did_you_mean(frame, tree.links)}")
        q = drivetrain.to_joints(np.array([actuators[name] for name in self._names]))

        def height(positions: Array) -> float:
            values = dict(zip(model.joint_names, positions.tolist(), strict=True))
            return float(link_poses(tree.root, tree.joints, values)[frame][2, 3])

        rows = _STEP * np.eye(model.n)
        rises = np.array([height(q + row) - height(q - row) for row in rows]) / (2.0 * _STEP)
        back = np.linalg.pinv(drivetrain.jacobian(q))
        self.levers = dict(zip(self._names, (rises @ back).tolist(), strict=True))
        self._force, self._frame = mass * _GRAVITY, frame
        bodies = bodies_of_urdf(tree, "base_link", "tool0", model.joint_names)
        torques = np.abs(holding_torques(bodies, q.tolist()) + self._force * rises)
        for joint, torque in zip(model.joints, torques.tolist(), strict=True):
            if torque > joint.effort:
                raise ValueError(
                    f"{joint.name} would need {torque:.3g} of its {joint.effort:.3g} N m to hold "
                    f"{1e3 * mass:g} g there; take less"
                )

    def compliance(
        self, servos: Sequence[str], sink: float, stiffness: Mapping[str, float]
    ) -> float:
        """Return 1 / stiffness [rad/(N m)] of servos of one joint, by how far the frame sank [m].

        Args:
            servos: One, or all that move a joint together, which are taken to be equally stiff.
            sink: Of the frame, by the weight.
            stiffness: Of the other servos [N m/rad], infinite where unknown.

        Raises:
            ValueError: The reading makes no sense; its text is the reason.
        """
        own = self._own_lever(servos)
        if not sink >= _LEAST_READ:
            raise ValueError(
                f"{1e3 * sink:g} mm is too little to be read; hang more, or farther out"
            )
        others = 0.0
        for name, lever in self.levers.items():
            if name in servos:
                continue
            if math.isinf(stiffness[name]) and abs(lever) > _SMALL * own:
                raise ValueError(
                    f"the weight also bends {name}, whose stiffness is not known; measure that "
                    "first, with the weight at a frame before the next joint"
                )
            others += self._force * lever**2 / stiffness[name]
        found = (sink - others) / (self._force * sum(self.levers[n] ** 2 for n in servos))
        if not found > 0.0:
            raise ValueError(
                f"the other servos alone yield by {1e3 * others:.2g} mm, so it cannot be "
                f"{1e3 * sink:g} mm"
            )
        return self._checked(servos[0], found)

    def compliance_of_turn(self, servo: str, turn: float, smallest: float) -> float:
        """Return the same by the turn that a servo measured itself [rad]; errors likewise.

        ``smallest`` is the least turn that counts [rad].
        """
        lever = self.levers[servo]
        self._own_lever([servo])
        if abs(turn) < smallest:
            raise ValueError(f"{servo} did not turn; hang more, or farther out")
        if turn * lever > 0.0:
            raise ValueError(f"{servo} turned against the weight; is its sign right?")
        return self._checked(servo, abs(turn / (self._force * lever)))

    def _own_lever(self, servos: Sequence[str]) -> float:
        own: float = max(abs(self.levers[name]) for name in servos)
        if own < _SHORTEST:
            raise ValueError(
                f"{self._frame} is only {1e3 * own:.0f} mm beside the axis of {servos[0]}; bring "
                "the arm to where the weight turns it"
            )
        return own

    def _checked(self, servo: str, compliance: float) -> float:
        turn = self._force * abs(self.levers[servo]) * compliance
        if turn > _LARGEST_TURN:
            raise ValueError(
                f"{servo} would have turned by {deg(turn, 0)}: it does not hold this weight"
            )
        return compliance


def mean_compliance(readings: Sequence[float], new: float) -> float:
    """Return the mean of readings with a new one; raise ValueError if it does not fit them."""
    if readings:
        before = float(np.mean(readings))
        if abs(new - before) > _SPREAD * before:
            raise ValueError(
                f"this is a stiffness of {1.0 / new:.3g}, those before are of {1.0 / before:.3g}; "
                "measure again, or forget them with a weight of 0"
            )
    return float(np.mean([*readings, new]))
