# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Compiled recursive Newton-Euler algorithm for a tree of bodies.

Luh, Walker and Paul, "On-line computational scheme for mechanical manipulators", J. Dyn. Sys.
102 (1980): outwards the motion of each body, inwards the forces, all in the body's own frame,
whose z is the axis of its joint. Gravity is an acceleration of the base (Featherstone, "Rigid
Body Dynamics Algorithms", 2008, 5.3).

The table is that of arm_description.urdf.bodies. A joint is at RATIO * q + OFFSET of its leader,
so mimic joints need no constraint: their torques count for their leaders.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np
from arm_common.jit import allocating_kernel, fix_types, kernel
from arm_common.transforms import Array
from arm_description.urdf.bodies import (
    INERTIA,
    LEADER,
    MASS,
    MOMENT,
    OFFSET,
    PARENT,
    POSITION,
    PRISMATIC,
    RATIO,
)

from arm_kinematics.kernels.forward import sine_and_cosine
from arm_kinematics.kernels.vectors import Vector, cross, dot, plus, store, vector

# Columns of the work table: motion, force and torque of each body; sine and cosine of its joint
# and its origin in the carrying body.
_SPIN, _TURN, _MOVE, _FORCE, _TORQUE, _SINE, _COSINE, _ORIGIN, _WORK = (
    0,
    3,
    6,
    9,
    12,
    15,
    16,
    17,
    20,
)


@kernel
def _inwards(b: Array, W: Array, i: int, a: Vector) -> Vector:
    """Return a vector of body i along the axes of the body that carries it."""
    s, k = W[i, _SINE], W[i, _COSINE]
    x, y, z = k * a[0] - s * a[1], s * a[0] + k * a[1], a[2]
    return (
        b[i, 0] * x + b[i, 1] * y + b[i, 2] * z,
        b[i, 3] * x + b[i, 4] * y + b[i, 5] * z,
        b[i, 6] * x + b[i, 7] * y + b[i, 8] * z,
    )


@kernel
def _outwards(b: Array, W: Array, i: int, a: Vector) -> Vector:
    """Return a vector of the body that carries body i along the axes of body i."""
    s, k = W[i, _SINE], W[i, _COSINE]
    x = b[i, 0] * a[0] + b[i, 3] * a[1] + b[i, 6] * a[2]
    y = b[i, 1] * a[0] + b[i, 4] * a[1] + b[i, 7] * a[2]
    return k * x + s * y, k * y - s * x, b[i, 2] * a[0] + b[i, 5] * a[1] + b[i, 8] * a[2]


@kernel
def _place(b: Array, q: Array, W: Array) -> None:
    """Fill sines, cosines and origins of all bodies with the joints at q (n,)."""
    for i in range(b.shape[0]):
        value = b[i, RATIO] * q[int(b[i, LEADER])] + b[i, OFFSET]
        origin = vector(b, i, POSITION)
        if b[i, PRISMATIC] == 0.0:
            W[i, _SINE], W[i, _COSINE] = sine_and_cosine(value)
        else:
            W[i, _SINE], W[i, _COSINE] = 0.0, 1.0
            origin = plus(origin, value, (b[i, 2], b[i, 5], b[i, 8]))
        store(origin, W, i, _ORIGIN)


@kernel
def _move(b: Array, W: Array, i: int, base: Vector, speed: float, acceleration: float) -> None:
    """Fill the motion of body i, whose joint moves at the given speed and acceleration."""
    parent = int(b[i, PARENT])
    w, dw, a = (0.0, 0.0, 0.0), (0.0, 0.0, 0.0), base
    if parent >= 0:
        w, dw, a = vector(W, parent, _SPIN), vector(W, parent, _TURN), vector(W, parent, _MOVE)
    r = vector(W, i, _ORIGIN)
    a = plus(plus(a, 1.0, cross(dw, r)), 1.0, cross(w, cross(w, r)))
    w, dw, a = _outwards(b, W, i, w), _outwards(b, W, i, dw), _outwards(b, W, i, a)
    if b[i, PRISMATIC] == 0.0:  # w x (0, 0, speed) turns with the carrying body
        dw = dw[0] + w[1] * speed, dw[1] - w[0] * speed, dw[2] + acceleration
        w = w[0], w[1], w[2] + speed
    else:
        a = a[0] + 2.0 * w[1] * speed, a[1] - 2.0 * w[0] * speed, a[2] + acceleration
    store(w, W, i, _SPIN)
    store(dw, W, i, _TURN)
    store(a, W, i, _MOVE)


@kernel
def _spread(b: Array, i: int, w: Vector) -> Vector:
    """Return the inertia of body i about its origin times w."""
    xx, xy, xz = vector(b, i, INERTIA)
    yy, yz, zz = vector(b, i, INERTIA + 3)
    return dot((xx, xy, xz), w), dot((xy, yy, yz), w), dot((xz, yz, zz), w)


@kernel
def _load(b: Array, W: Array, i: int) -> None:
    """Fill force and torque, about its origin, that move body i alone."""
    w, dw, a = vector(W, i, _SPIN), vector(W, i, _TURN), vector(W, i, _MOVE)
    h = vector(b, i, MOMENT)
    f = plus(plus(cross(dw, h), 1.0, cross(w, cross(w, h))), b[i, MASS], a)
    n = plus(cross(h, a), 1.0, cross(w, _spread(b, i, w)))
    store(f, W, i, _FORCE)
    store(plus(n, 1.0, _spread(b, i, dw)), W, i, _TORQUE)


@kernel
def _torques(
    b: Array, W: Array, base: Vector, speed: Array, acceleration: Array, tau: Array
) -> None:
    """Add to tau (n,) what moves the placed bodies at speeds and accelerations (n,)."""
    for i in range(b.shape[0]):
        leader, ratio = int(b[i, LEADER]), b[i, RATIO]
        _move(b, W, i, base, ratio * speed[leader], ratio * acceleration[leader])
        _load(b, W, i)
    for i in range(b.shape[0] - 1, -1, -1):
        f, n = vector(W, i, _FORCE), vector(W, i, _TORQUE)
        tau[int(b[i, LEADER])] += b[i, RATIO] * (n[2] if b[i, PRISMATIC] == 0.0 else f[2])
        parent = int(b[i, PARENT])
        if parent >= 0:
            f, n = _inwards(b, W, i, f), _inwards(b, W, i, n)
            n = plus(n, 1.0, cross(vector(W, i, _ORIGIN), f))
            store(plus(vector(W, parent, _FORCE), 1.0, f), W, parent, _FORCE)
            store(plus(vector(W, parent, _TORQUE), 1.0, n), W, parent, _TORQUE)


@kernel
def _valid(q: Array, n: int) -> bool:
    if q.size != n:
        return False
    for value in q:  # noqa: SIM110  a generator does not compile
        if not abs(value) < 1e100:
            return False
    return True


@allocating_kernel
def inverse_dynamics(
    b: Array, q: Array, speed: Array, acceleration: Array, gravity: Array, tau: Array
) -> bool:
    """Fill tau (n,); False if an input is not n finite numbers."""
    n = tau.size
    if not (_valid(q, n) and _valid(speed, n) and _valid(acceleration, n)):
        return False
    W = np.empty((b.shape[0], _WORK))
    _place(b, q, W)
    tau[:] = 0.0
    _torques(b, W, (-gravity[0], -gravity[1], -gravity[2]), speed, acceleration, tau)
    return True


@allocating_kernel
def gravity_torques(b: Array, q: Array, gravity: Array, tau: Array) -> bool:
    """Fill tau (m, n), the torques that hold the arm at each row of q; False if one is invalid."""
    W, still = np.empty((b.shape[0], _WORK)), np.zeros(tau.shape[1])
    base = (-gravity[0], -gravity[1], -gravity[2])
    tau[:] = 0.0
    for k in range(q.shape[0]):
        if not _valid(q[k], tau.shape[1]):
            return False
        _place(b, q[k], W)
        _torques(b, W, base, still, still, tau[k])
    return True


@allocating_kernel
def inertia_matrix(b: Array, q: Array, M: Array) -> bool:
    """Fill M (n, n), column j the torques of a unit acceleration of joint j; False as above."""
    n = M.shape[0]
    if not _valid(q, n):
        return False
    W, still, unit = np.empty((b.shape[0], _WORK)), np.zeros(n), np.zeros(n)
    _place(b, q, W)
    M[:] = 0.0
    for j in range(n):
        unit[j] = 1.0
        _torques(b, W, (0.0, 0.0, 0.0), still, unit, M[j])
        unit[j] = 0.0
    for i in range(n):
        for j in range(i):
            M[i, j] = M[j, i] = 0.5 * (M[i, j] + M[j, i])
    return True


@lru_cache(maxsize=1)
def prepare_dynamics() -> None:
    """Compile the dynamics, unless they are compiled."""
    fix_types(inverse_dynamics, (2, 1, 1, 1, 1), (1,))
    fix_types(gravity_torques, (2, 2, 1), (2,))
    fix_types(inertia_matrix, (2, 1), (2,))
