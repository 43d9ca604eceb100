# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Joint positions from the readings of an inclinometer that lies along links.

A reading is 0 on a level link, positive if its outer end is up, and above 90 deg if the link leans
back over the base. Between joints with parallel horizontal axes, a joint is the difference of two
readings, with a sign by the direction of its axis and an offset by the zero of its row.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from arm_common.transforms import Array
from arm_description.model.elements import Joint
from arm_description.robot_model import RobotModel

from arm_hardware.calibration.axes import rest_positions
from arm_hardware.calibration.calibration import axes_of

_SHORTEST = 5e-3  # [m] of a link along which an inclinometer can lie
_LEVEL = 0.1  # vertical component of an axis that is still taken for horizontal
_POSTURES = 8  # at which a law must hold
_SAME = math.radians(0.1)  # within which a law holds, less than a person reads
_UP = np.array([0.0, 0.0, 1.0])


@dataclass(frozen=True)
class InclinometerLaw:
    """How a joint follows from the readings on its link and on the link before.

    Attributes:
        joint: Name of the joint; its link is the one that it turns.
        before: The joint that turns the link before; "" if that is the base, which is level.
        sign: 1 if the joint grows as the outer end of its link rises, else -1.
        offset: Position of the joint [rad] where both readings are equal.
        limits: Of the joint [rad].
    """

    joint: str
    before: str
    sign: int
    offset: float
    limits: tuple[float, float]

    def position(self, readings: Mapping[str, float]) -> float:
        """Return the joint's position [rad] from the readings [rad] by the name of the joint."""
        before = readings[self.before] if self.before else 0.0
        value = self.sign * (readings[self.joint] - before) + self.offset
        middle = 0.5 * sum(self.limits)
        return value - math.tau * round((value - middle) / math.tau)

    def sentence(self) -> str:
        """Return the law and the direction in words."""
        link = f"{self.joint}'s link"
        difference = f"{link} less {self.before}'s" if self.before else link
        way = "raises" if self.sign > 0 else "lowers"
        zero = math.degrees(-self.sign * self.offset)
        base = f"{self.before}'s link" if self.before else "level"
        at_zero = f"at 0 it points {abs(zero):.3g} deg {'above' if zero > 0 else 'below'} {base}"
        if abs(zero) < 0.05:
            at_zero = f"at 0 it is in line with {base}" if self.before else "at 0 it is level"
        formula = f"{'-' if self.sign < 0 else ''}({difference})"
        if abs(zero) >= 0.05:
            formula += f" {math.degrees(self.offset):+.4g}"
        return f"{self.joint} = {formula} deg; + {way} the outer end, {at_zero}."


def inclinometer_laws(model: RobotModel) -> dict[str, InclinometerLaw]:
    """Return the laws of the joints that an inclinometer can measure, by name."""
    rng = np.random.default_rng(0)
    lower, upper = np.maximum(model.lower, -math.pi), np.minimum(model.upper, math.pi)
    postures = rng.uniform(lower, upper, (_POSTURES, model.n))
    inclinations = [link_readings(model, q) for q in postures]
    laws: dict[str, InclinometerLaw] = {}
    measured = [n for n in inclinations[0] if all(n in each for each in inclinations)]
    for k, name in enumerate(measured):
        if name not in model.joint_names:
            continue
        column = model.joint_names.index(name)
        limits = float(model.lower[column]), float(model.upper[column])
        for before in ("", *reversed(measured[:k])):
            for sign in (1, -1):
                parts = [r[name] - (r[before] if before else 0.0) for r in inclinations]
                offsets = postures[:, column] - sign * np.array(parts)
                spread = np.remainder(offsets - offsets[0] + math.pi, math.tau) - math.pi
                if name not in laws and np.abs(spread).max() < _SAME:
                    offset = float(offsets[0] + 0.5 * (spread.min() + spread.max()))
                    offset -= math.tau * round(offset / math.tau)
                    laws[name] = InclinometerLaw(name, before, sign, offset, limits)
    return laws


def link_readings(model: RobotModel, q: Array) -> dict[str, float]:
    """Return what an inclinometer shows along each link [rad], by the joint that turns it.

    A link goes from the joint's axis to the next one that is 5 mm away or more, or to the tip, at
    right angles to the axis. Links about axes that are not horizontal are left out. Joint
    positions q are (n,) [rad or m].
    """
    frames, axes = _frames_and_axes(model, q)
    ends = [*(frame[:3, 3] for frame in frames), model.fk(q)[:3, 3]]
    outwards = _outwards(model, axes)
    readings = {}
    for i, joint in enumerate(model.rows):
        across = np.eye(3) - np.outer(axes[i], axes[i])
        links = (across @ (end - ends[i]) for end in ends[i + 1 :])
        link = next((each for each in links if np.linalg.norm(each) > _SHORTEST), None)
        if link is not None and _is_level(joint, axes[i]):
            level = np.cross(_UP, axes[i])
            level = level if level @ outwards >= 0.0 else -level
            readings[joint.name] = math.atan2(link[2], float(link @ level))
    return readings


def _frames_and_axes(model: RobotModel, q: Array) -> tuple[list[Array], list[Array]]:
    """Return the frames (4, 4) in which the rows move at q (n,), and their axes (3,)."""
    frames = model.dh_frames(np.array(q, dtype=float))
    frames = frames[:-1] if model.convention == "standard" else frames[1:]
    return frames, [f[:3, :3] @ row.direction for f, row in zip(frames, model.rows, strict=True)]


def _is_level(joint: Joint, axis: Array) -> bool:
    return joint.type == "revolute" and abs(axis[2]) < _LEVEL


def _outwards(model: RobotModel, axes: Sequence[Array]) -> Array:
    """Return the horizontal direction (3,) of the arm at rest, turned by its waist."""
    rest = np.array(rest_positions(model, axes_of(model))[: model.n])
    at_rest = _frames_and_axes(model, rest)[1]
    for row, axis, axis_at_rest in zip(model.rows, axes, at_rest, strict=True):
        if _is_level(row, axis_at_rest):
            ahead = float(np.cross(_UP, axis_at_rest) @ model.fk(rest)[:3, 3])
            return math.copysign(1.0, ahead) * np.cross(_UP, axis)
    return np.array([1.0, 0.0, 0.0])
