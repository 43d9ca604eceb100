# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Cases: the shipped robots in the modes that suit them, from mid-range and from near seeds."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from arm_description import RobotModel, load_robot, shipped_robots
from arm_kinematics import Chain
from ik.judge import fk
from ik.problem import Problem

NEAR = 0.1  # [rad or m] from the solution to a near seed, at most, in each joint


@dataclass(frozen=True)
class Case:
    """A problem and its arm.

    Attributes:
        model: The arm.
        problem: Targets and seeds.
        seeds: Kind of seeds, as text.
        seed: Seed of the random numbers.
    """

    model: RobotModel
    problem: Problem
    seeds: str
    seed: int

    @property
    def title(self) -> str:
        """Title, unique among the cases."""
        return f"{self.model.name}, {self.problem.mode}, {self.seeds}"


def modes(model: RobotModel) -> tuple[str, ...]:
    """Return the modes that suit an arm: all if it has fewer than six joints."""
    return ("pose",) if model.n >= 6 else ("pose", "position", "position_axis")


def problem(
    model: RobotModel, mode: str, joints: np.ndarray, seeds: np.ndarray, scale: float = 1.0
) -> Problem:
    """Return the problem to reach the poses at joints (m, n); scale multiplies the tolerance."""
    chain = Chain.from_model(model)
    is_plain = model.convention == "standard" and all(j.axis == "z" for j in model.joints)
    rows = (joint.row for joint in model.joints)
    dh = np.array([(row.theta, row.d, row.a, row.alpha) for row in rows])
    return Problem(
        name=model.name,
        urdf=model.to_urdf(),
        S=np.array(chain.S),
        M=np.array(chain.M),
        prismatic=np.array(chain.prismatic),
        dh=dh if is_plain else np.full_like(dh, np.nan),
        base=model.base.matrix,
        tool=model.tool.matrix,
        lower=np.array(model.lower),
        upper=np.array(model.upper),
        mode=mode,
        targets=np.ascontiguousarray(fk(model, joints)),
        seeds=np.ascontiguousarray(seeds),
        position_tolerance=1e-5 * scale,
    )


def cases(robots: list[str], count: int, seed: int = 1) -> Iterator[Case]:
    """Yield a case for each robot, mode and kind of seed; targets are reproducible.

    Arms with linkages are left out: no peer knows their limits and dependent joints.
    """
    for model in map(load_robot, robots or shipped_robots()):
        if model.constraints or model.dependents:
            continue
        rng = np.random.default_rng(seed)
        joints = rng.uniform(model.lower, model.upper, (count, model.n))
        middle = np.tile(0.5 * (model.lower + model.upper), (count, 1))
        near = np.clip(joints + rng.uniform(-NEAR, NEAR, joints.shape), model.lower, model.upper)
        for mode in modes(model):
            yield Case(model, problem(model, mode, joints, middle), "mid-range", seed)
            yield Case(model, problem(model, mode, joints, near), "near", seed)
