# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Other solvers behind one call each: target (4, 4), seed (n,) -> joint positions or None.

Each peer gets the same arm, targets and seeds, tolerances as near to ours as it can be told, and
is called as its documentation shows. A peer that is not installed is left out.
"""

from __future__ import annotations

import logging
import tempfile
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np

from arm_description import RobotModel

Solve = Callable[[np.ndarray, np.ndarray], "np.ndarray | None"]
POSITION_TOLERANCE, ORIENTATION_TOLERANCE = 1e-5, 1e-4  # [m], [rad]


def peers(model: RobotModel, mode: str) -> Iterator[tuple[str, Solve, float]]:
    """Yield name, solver and share of the targets to give it (slow ones get fewer)."""
    for name, make, modes, share in (
        ("roboticstoolbox ik_LM", robotics_toolbox, ("pose",), 1.0),
        ("TRAC-IK (pytracik)", trac_ik, ("pose",), 1.0),
        ("ikpy", ik_py, ("pose", "position"), 0.02),
    ):
        if mode in modes:
            try:
                yield name, make(model, mode), share
            except ImportError:
                continue


def robotics_toolbox(model: RobotModel, mode: str) -> Solve:
    """Levenberg-Marquardt in C++, with its default method and restarts."""
    import roboticstoolbox as rtb

    turning, sliding = (
        (rtb.RevoluteDH, rtb.PrismaticDH)
        if model.convention == "standard"
        else (rtb.RevoluteMDH, rtb.PrismaticMDH)
    )
    links = []
    for joint in model.joints:
        row, limits = joint.row, [joint.lower, joint.upper]
        shared = {"a": row.a, "alpha": row.alpha, "qlim": limits}
        if joint.type == "revolute":
            links.append(turning(d=row.d, offset=row.theta, **shared))
        else:
            links.append(sliding(theta=row.theta, offset=row.d, **shared))
    ets = rtb.DHRobot(links).ets()
    before, after = np.linalg.inv(model.base.matrix), np.linalg.inv(model.tool.matrix)
    tolerance = 0.5 * POSITION_TOLERANCE**2  # of half the squared error

    def solve(T: np.ndarray, seed: np.ndarray) -> np.ndarray | None:
        answer = ets.ik_LM(before @ T @ after, q0=seed, tol=tolerance)
        return answer.q if answer.success else None

    return solve


def trac_ik(model: RobotModel, mode: str) -> Solve:
    """KDL's Newton with restarts and a nonlinear programme, in two threads; 5 ms at most."""
    from trac_ik import TracIK

    folder = Path(tempfile.mkdtemp())
    urdf = folder / "robot.urdf"
    urdf.write_text(model.to_urdf())
    solver = TracIK("base_link", "tool0", str(urdf), timeout=0.005, epsilon=POSITION_TOLERANCE)

    def solve(T: np.ndarray, seed: np.ndarray) -> np.ndarray | None:
        return solver.ik(T[:3, 3], T[:3, :3], seed)

    return solve


def ik_py(model: RobotModel, mode: str) -> Solve:
    """Scipy's bounded least squares on a symbolic chain."""
    logging.disable(logging.WARNING)
    warnings.simplefilter("ignore")
    from ikpy.chain import Chain

    folder = Path(tempfile.mkdtemp())
    urdf = folder / "robot.urdf"
    urdf.write_text(model.to_urdf())
    chain = Chain.from_urdf_file(str(urdf), base_elements=_elements(model))
    active = [link.joint_type != "fixed" for link in chain.links]
    chain.active_links_mask = np.array(active)
    orientation = "all" if mode == "pose" else None

    def solve(T: np.ndarray, seed: np.ndarray) -> np.ndarray | None:
        start = np.zeros(len(active))
        start[active] = seed
        answer = chain.inverse_kinematics_frame(
            T, initial_position=start, orientation_mode=orientation
        )
        return answer[active]

    return solve


def _elements(model: RobotModel) -> list[str]:
    """Return links and joints from base_link to tool0 in turn, as ikpy wants to be led."""
    from arm_kinematics.urdf_path import path, read_tree

    steps = path(read_tree(model.to_urdf()), "base_link", "tool0")
    return ["base_link", *(name for step in steps for name in (step.joint.name, step.link))]
