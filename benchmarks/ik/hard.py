# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Hard sets: where solvers lose their step or their digits. Seeds are mid-range."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

import numpy as np
from scipy.optimize import minimize

from arm_description import Joint, Origin, RobotModel, load_robot
from arm_kinematics import Chain
from ik.cases import Case, problem
from ik.judge import fk

ROBOTS = ("nut_arm", "puma560", "ur5", "panda", "rediestro", "raghavan_roth")
SCALED = ("nut_arm", "puma560", "panda")
RIGHT_ANGLED = ("puma560", "ur5", "panda")
TINY, HUGE = 1e-3, 50.0  # times an arm of about a metre
NEAR_PARALLEL = 1e-3  # [rad]
OPTIMA = 24  # stretched postures that the targets at the edge are taken from

Sample = Callable[[RobotModel, int, np.random.Generator], np.ndarray]


def hard_cases(robots: list[str], count: int, seed: int = 2) -> Iterator[Case]:
    """Yield the hard sets of the robots."""
    for name in robots or ROBOTS:
        model = load_robot(name)
        mode = "pose" if model.n >= 6 else "position_axis"
        for what, sample in (
            ("singular", near_singular),
            ("edge of reach", at_the_edge),
            ("near limits", near_limits),
        ):
            yield _case(model, mode, what, sample, count, seed)
        for what, scale in (("tiny", TINY), ("huge", HUGE)):
            if name in SCALED:
                title = f"{what}: x {scale:g}"
                yield _case(scaled(model, scale), mode, title, anywhere, count, seed, scale)
        if name in RIGHT_ANGLED:
            bent = nearly_parallel(model, np.random.default_rng(seed))
            yield _case(bent, mode, "axes nearly parallel", anywhere, count, seed)


def _case(
    model: RobotModel,
    mode: str,
    what: str,
    sample: Sample,
    count: int,
    seed: int,
    scale: float = 1.0,
) -> Case:
    joints = sample(model, count, np.random.default_rng(seed))
    middle = np.tile(0.5 * (model.lower + model.upper), (count, 1))
    return Case(model, problem(model, mode, joints, middle, scale), what, seed)


def anywhere(model: RobotModel, count: int, rng: np.random.Generator) -> np.ndarray:
    """Return joint positions (count, n), evenly random inside the limits."""
    return rng.uniform(model.lower, model.upper, (count, model.n))


def magnitudes(rng: np.random.Generator, shape: tuple[int, ...]) -> np.ndarray:
    """Return small numbers of every size and sign: 1e-8 to 1e-2."""
    return 10.0 ** rng.uniform(-8, -2, shape) * rng.choice([-1.0, 1.0], shape)


def near_singular(model: RobotModel, count: int, rng: np.random.Generator) -> np.ndarray:
    """Return postures beside singular ones: one joint is turned to where the arm loses most."""
    chain, q = Chain.from_model(model), anywhere(model, count, rng)
    for row in q:
        joint = rng.integers(model.n)
        grid = np.linspace(model.lower[joint], model.upper[joint], 33)
        for _ in range(4):  # finer each time
            least = [_least_motion(chain, row, joint, x) for x in grid]
            best, width = grid[int(np.argmin(least))], grid[1] - grid[0]
            grid = np.clip(
                np.linspace(best - width, best + width, 17),
                model.lower[joint],
                model.upper[joint],
            )
        row[joint] = best
    return np.clip(q + magnitudes(rng, q.shape), model.lower, model.upper)


def _least_motion(chain: Chain, q: np.ndarray, joint: int, x: float) -> float:
    moved = q.copy()
    moved[joint] = x
    return float(np.linalg.svd(chain.jacobian(moved), compute_uv=False)[-1])


def at_the_edge(model: RobotModel, count: int, rng: np.random.Generator) -> np.ndarray:
    """Return postures beside those that reach farthest from the first axis that turns."""
    limits = list(zip(model.lower, model.upper, strict=True))
    bounds = np.array(limits)

    def reach(q: np.ndarray) -> float:
        return -float(np.linalg.norm(fk(model, q[None])[0, :3, 3]))

    far = [
        minimize(reach, start, bounds=limits, method="L-BFGS-B").x
        for start in anywhere(model, OPTIMA, rng)
    ]
    far.sort(key=reach)
    best = np.array(far[: OPTIMA // 3])
    q = best[rng.integers(len(best), size=count)]
    q[:, 0] = rng.uniform(bounds[0, 0], bounds[0, 1], count)
    if model.n > 3:  # the wrist anyhow, which moves the tip least
        q[:, -1] = rng.uniform(bounds[-1, 0], bounds[-1, 1], count)
    return np.clip(q + magnitudes(rng, q.shape), model.lower, model.upper)


def near_limits(model: RobotModel, count: int, rng: np.random.Generator) -> np.ndarray:
    """Return postures with about half the joints at a limit or up to 1e-2 from it."""
    q = anywhere(model, count, rng)
    ends = np.where(rng.random(q.shape) < 0.5, model.lower, model.upper)
    exact = rng.random(q.shape) < 0.25
    ends = np.where(exact, ends, ends + magnitudes(rng, q.shape))
    return np.clip(np.where(rng.random(q.shape) < 0.5, ends, q), model.lower, model.upper)


def scaled(model: RobotModel, scale: float) -> RobotModel:
    """Return an arm whose lengths, and ways of sliding joints, are so many times as large."""

    def row(joint: Joint) -> Joint:
        r = joint.row
        moved = replace(joint, row=replace(r, d=r.d * scale, a=r.a * scale))
        if joint.type == "prismatic":
            return replace(moved, lower=joint.lower * scale, upper=joint.upper * scale)
        return moved

    def origin(o: Origin) -> Origin:
        return replace(o, xyz=tuple(scale * x for x in o.xyz))

    return replace(
        model,
        joints=tuple(map(row, model.joints)),
        base=origin(model.base),
        tool=origin(model.tool),
        gripper=None,
        payload=None,
        meshes={},
    )


def nearly_parallel(model: RobotModel, rng: np.random.Generator) -> RobotModel:
    """Return an arm with each twist that is a multiple of a right angle a little off it."""
    joints = []
    for joint in model.joints:
        off = NEAR_PARALLEL * rng.uniform(0.1, 1.0) * rng.choice([-1.0, 1.0])
        right = abs(np.sin(2.0 * joint.row.alpha)) < 1e-9
        joints.append(replace(joint, row=replace(joint.row, alpha=joint.row.alpha + off * right)))
    return replace(model, joints=tuple(joints))
