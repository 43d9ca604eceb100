# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""What may be off in an arm: the zero of a joint, the length of a link."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from arm_description.nearest import nearest

from arm_description import RobotModel
from arm_hardware.errors import HardwareError
from arm_hardware.tip import Array, tip_of, tip_rates


@dataclass(frozen=True)
class Parameter:
    """One number to be found: by how much it is more than the model says.

    Attributes:
        joint: Index of its joint.
        what: "zero" (the joint stands so much further than told), "a" or "d" (of its DH row).
        name: As people name it: the joint, or joint.a, joint.d.
        unit: "rad" or "m".
    """

    joint: int
    what: str
    name: str
    unit: str


def zeros_of(model: RobotModel) -> list[Parameter]:
    """Return the zero of every joint."""
    units = {"revolute": "rad", "prismatic": "m"}
    return [
        Parameter(i, "zero", joint.name, units[joint.type]) for i, joint in enumerate(model.joints)
    ]


def lengths_of(model: RobotModel) -> list[Parameter]:
    """Return every length of the table but the d of sliding joints, which is their zero."""
    return [
        Parameter(i, what, f"{joint.name}.{what}", "m")
        for i, joint in enumerate(model.joints)
        for what in (("a",) if joint.type == "prismatic" else ("a", "d"))
    ]


def chosen(model: RobotModel, lengths: Sequence[str], keep: Sequence[str]) -> list[Parameter]:
    """Return all zeros and some lengths, without what is to be kept.

    Args:
        model: The robot.
        lengths: Names, or "all".
        keep: Names of zeros or lengths.

    Raises:
        HardwareError: There is none of that name.
    """
    every = {parameter.name: parameter for parameter in lengths_of(model)}
    wanted = list(every) if "all" in lengths else list(lengths)
    for name in wanted:
        if name not in every:
            raise HardwareError(f"There is no length {name!r}; {nearest(name, every)}.")
    found = [*zeros_of(model), *(every[name] for name in dict.fromkeys(wanted))]
    names = [parameter.name for parameter in found]
    for name in keep:
        if name not in names:
            raise HardwareError(f"{name!r} would not be found anyway; {nearest(name, names)}.")
    return [parameter for parameter in found if parameter.name not in keep]


@dataclass(frozen=True)
class Real:
    """The arm as it is, if it is off by certain values.

    Attributes:
        model: With the real lengths.
        parameters: (k) what is off.
        zeros: (n,) how much further each joint stands than told [rad or m].
    """

    model: RobotModel
    parameters: tuple[Parameter, ...]
    zeros: Array

    def tips(self, told: Array, at: Array) -> Array:
        """Return where a point at (3,) of tool0 is (m, 3) for positions told (m, n) [m]."""
        return np.array([tip_of(self.model, q + self.zeros, at) for q in told])

    def rates(self, told: Array, at: Array) -> Array:
        """Return the derivatives (3 m, k) of the tips by the parameters."""
        rows = []
        for q in told + self.zeros:
            frames = self.model.dh_frames(q)
            turning = tip_rates(self.model, frames, at)
            columns = [
                turning[:, p.joint] if p.what == "zero" else self._along(frames, p)
                for p in self.parameters
            ]
            rows.append(np.array(columns).T)
        return np.concatenate(rows)

    def _along(self, frames: Sequence[Array], parameter: Parameter) -> Array:
        """Return the axis (3,) of a length: d lies along z of the joint, a along the other x."""
        i, standard = parameter.joint, self.model.convention == "standard"
        if parameter.what == "d":
            return frames[i if standard else i + 1][:3, 2]
        return frames[i + 1 if standard else i][:3, 0]


def real_arm(model: RobotModel, parameters: Sequence[Parameter], values: Array) -> Real:
    """Return an arm that is off by values (k,) of parameters [rad or m]."""
    zeros = np.zeros(model.n)
    joints = list(model.joints)
    for parameter, value in zip(parameters, values, strict=True):
        i = parameter.joint
        if parameter.what == "zero":
            zeros[i] += value
        else:
            length = getattr(joints[i].row, parameter.what) + float(value)
            joints[i] = replace(joints[i], row=replace(joints[i].row, **{parameter.what: length}))
    return Real(replace(model, joints=tuple(joints)), tuple(parameters), zeros)
