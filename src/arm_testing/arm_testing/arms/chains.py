# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Chains for tests of the kinematics: shipped arms, arms of DH tables, random arms."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from arm_common.transforms import pose, so3_exp
from arm_description.library import load_robot
from numpy.typing import ArrayLike

from arm_kinematics import Chain, ChainJoint

REGULAR = {  # postures of shipped robots far from singular ones
    "nut_arm": [0.3, 0.4, 0.2, 0.1],
    "planar2": [0.3, 1.2],
    "puma560": [0.1, 0.6, -2.8, 0.3, 0.8, 0.1],
    "ur5": [0.2, -1.2, 1.4, -0.8, -1.2, 0.3],
    "panda": [0.1, -0.6, 0.2, -2.2, 0.1, 1.6, 0.7],
}


def shipped(name: str) -> Chain:
    """Return the chain of a shipped robot."""
    return Chain.from_model(load_robot(name))


def limited(chain: Chain, lower: ArrayLike, upper: ArrayLike) -> Chain:
    """Return the same arm with other limits; limits (k,) keep only the first k joints."""
    n = np.size(upper) if np.ndim(upper) else chain.n
    bounds = (np.broadcast_to(end, n).tolist() for end in (lower, upper))
    values = zip(chain.joint_names[:n], chain.prismatic[:n], *bounds, strict=True)
    return Chain(chain.S[:, :n], chain.M, [ChainJoint(*joint) for joint in values])


def dh_parts(
    a: Sequence[float],
    d: Sequence[float],
    alpha: Sequence[float],
    theta: Sequence[float] | None = None,
    slides: Sequence[int] = (),
) -> tuple[np.ndarray, np.ndarray]:
    """Return screws (6, n) and home pose of a standard DH table; ``slides``: prismatic joints."""
    T, screws = np.eye(4), []
    for i, turn in enumerate(theta or [0.0] * len(a)):
        z = T[:3, 2]
        screws.append([*z, 0, 0, 0] if i in slides else [*np.cross(T[:3, 3], z), *z])
        T = T @ pose(so3_exp([0, 0, turn]), [0, 0, d[i]])
        T = T @ pose(so3_exp([alpha[i], 0, 0]), [a[i], 0, 0])
    return np.transpose(screws), T


def random_chain(rng: np.random.Generator, limits: Sequence[tuple[float, float]]) -> Chain:
    """Return a chain with random axes, about every third prismatic, and the given limits."""
    screws, joints = [], []
    for i, bounds in enumerate(limits):
        w = rng.normal(size=3)
        w /= np.linalg.norm(w)
        sliding, point = rng.random() < 0.3, rng.uniform(-0.5, 0.5, 3)
        screws.append([*w, 0, 0, 0] if sliding else [*np.cross(point, w), *w])
        joints.append(ChainJoint(f"j{i}", sliding, *((-0.3, 0.4) if sliding else bounds)))
    home = pose(so3_exp(rng.normal(size=3)), rng.uniform(-0.5, 0.5, 3))
    return Chain(np.transpose(screws), home, joints)


def posture(chain: Chain, rng: np.random.Generator, reach: float = math.pi) -> np.ndarray:
    """Return random joint positions (n,) inside the limits and within ``reach`` of 0."""
    return rng.uniform(np.maximum(chain.lower, -reach), np.minimum(chain.upper, reach))


def in_limits(chain: Chain, q: np.ndarray) -> bool:
    """Return whether joint positions (..., n) are inside the limits."""
    return bool(((q >= chain.lower) & (q <= chain.upper)).all())


def apart(p: np.ndarray, q: np.ndarray) -> np.ndarray:
    """Return the largest difference of angles (..., n), modulo full turns."""
    return np.abs((p - q + math.pi) % (2 * math.pi) - math.pi).max(axis=-1)


def turned(T: np.ndarray, rotation_vector: ArrayLike) -> np.ndarray:
    """Return the pose T rotated about its own axes by a rotation vector [rad]."""
    return T @ pose(so3_exp(rotation_vector))


def newton(chain: Chain, T: np.ndarray, q: np.ndarray, rcond: float = 1e-4) -> np.ndarray | None:
    """Return the solution of Newton's method from q, None if it does not converge.

    It is independent of the solver under test.
    """
    for _ in range(60):
        X = chain.fk(q)
        if np.abs(X - T).max() < 1e-11:
            return q
        e = np.r_[T[:3, 3] - X[:3, 3], 0.5 * np.cross(X[:3, :3], T[:3, :3], axis=0).sum(axis=1)]
        step = np.linalg.pinv(chain.jacobian(q), rcond=rcond) @ e
        q = q + step * min(1.0, 0.6 / max(np.abs(step).max(), 1e-12))
    return None
