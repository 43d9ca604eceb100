# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Elimination: from the loop equations of a 6R arm to an eigenvalue problem of size 16.

The loop of a 6R arm that holds its tip at T is

    e1(q1) e2(q2) e3(q3) e4(q4) e5(q5) e6(q6) = H,    H = T M^-1,

where ei turns about the axis of joint i. It may be opened at any joint and read in either
direction: twelve orders of the same loop (Raghavan and Roth 1990 use the first).

With C(x) the 14 coordinates of a line element x, the loop requires

    C(e3 e4 e5 x) = C(e2^-1 e1^-1 H x),    x on axis 6, which e6 leaves where it is.

1. Both sides are bilinear in (cos, sin, 1) of two joints; e3, about z, turns the first 8
   coordinates (x and y parts) and leaves the last 6. Six combinations V of the 14 equations are
   free of joints 1 and 2 (the orthogonal complement of their 8 coefficients; Raghavan and Roth
   1990, 1993 pick rows instead). With u the 9 products of joints 4 and 5:

       V1 R(q3) f u + (V0 h - d) u = 0,    6 equations, R a rotation of pairs.

2. Times cos(q4/2) and times sin(q4/2): 12 equations in the 12 products v of
   (cos 3q4/2, sin 3q4/2, cos q4/2, sin q4/2) and (cos q5, sin q5, 1): the dialytic step, in a
   basis that is orthogonal and finite at half a turn:

       B v + G R(q3) F v = 0,    B 12 x 12, G 12 x 16, F 16 x 12.

3. With w = R(q3) F v: (v, w) is in the null space of [B G], of dimension 16, with the basis
   (Zv, Zw), and R(q3) F Zv s = Zw s. The Cayley transform R = (1 + xJ)/(1 - xJ), x = tan(q3/2),
   J a quarter turn of all pairs, leaves

       (F Zv - Zw) s = -x J (F Zv + Zw) s.

The 8 eigenvalues x = +-i of Manocha and Canny's pencil of size 24 ("Efficient inverse
kinematics for general 6R manipulators", IEEE Trans. Robotics and Automation 10(5), 1994) never
appear: the other 16 belong to the 16 solutions. All steps but the products are orthogonal.

Motions are matrices (5, 5) of conformal geometry, which act on points (p, p.p, 1) and on
directions at them (l, 2 p.l, 0).
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

import numpy as np
from arm_common.transforms import Array, inverse

from arm_kinematics.model.lie import se3_exp

ORDERS = 12
THIRDS = np.arange(3) * (2.0 * np.pi / 3.0)  # turns at which functions of an angle are sampled
FOURIER = np.array([2.0 * np.cos(THIRDS), 2.0 * np.sin(THIRDS), np.ones(3)]) / 3.0
"""From these samples to coefficients of (cos, sin, 1)."""

_OF_TWO = np.kron(FOURIER, FOURIER)


def _raising() -> Array:
    """Return the matrix (9, 24) from u to u cos(q4/2) and u sin(q4/2), each in terms of v."""
    by_cosine = np.array([[0.5, 0, 0], [0, 0.5, 0], [0.5, 0, 1.0], [0, 0.5, 0]])
    by_sine = np.array([[0, -0.5, 0], [0.5, 0, 0], [0, 0.5, 0], [-0.5, 0, 1.0]])
    return np.asarray(np.kron(np.vstack([by_cosine, by_sine]), np.eye(3)).T)


def _wedge() -> Array:
    """Return the matrix (50, 14) from products of P with P and L to coordinates."""
    matrix = np.zeros((5, 5, 2, 14))
    bivector = [(4, 0), (1, 2), (3, 0), (4, 1), (2, 0), (3, 1), (4, 2), (0, 1), (3, 2), (3, 4)]
    for column, (i, j) in zip((1, 2, 3, 5, 6, 7, 9, 10, 11, 13), bivector, strict=True):
        matrix[i, j, 1, column], matrix[j, i, 1, column] = 1.0, -1.0
    matrix[[0, 1, 2, 3], 4, 0, [0, 4, 8, 12]] = 1.0
    return matrix.reshape(50, 14)


_RAISING, _WEDGE = _raising(), _wedge()


def conformal(T: Array) -> Array:
    """Return the matrices (..., 5, 5) of rigid motions (..., 4, 4)."""
    R, p = T[..., :3, :3], T[..., :3, 3]
    G = np.zeros((*T.shape[:-2], 5, 5))
    G[..., :3, :3], G[..., :3, 4] = R, p
    G[..., 3, :3] = 2.0 * (p[..., None, :] @ R)[..., 0, :]
    G[..., 3, 4] = (p * p).sum(axis=-1)
    G[..., 3, 3] = G[..., 4, 4] = 1.0
    return G


def coordinates(x: Array) -> Array:
    """Return the 14 coordinates of line elements x (..., 5, 2), a point P and a direction L.

    They are p, l, p x l, (p.p) l - 2 (p.l) p, p.p and p.l (Raghavan and Roth 1990), that is the
    point and its exterior product with the direction: first the x, then the y parts of the four
    vectors, then the invariants of a turn about z: their z parts, p.p and p.l.
    """
    products = x[..., 0, None, None] * x[..., None, :, :]
    return np.asarray(products.reshape(*x.shape[:-2], 50) @ _WEDGE)


def _complement(A: Array) -> Array:
    """Return orthonormal columns (..., n, n - k) perpendicular to the columns of A (..., n, k)."""
    return np.linalg.qr(A, "complete")[0][..., A.shape[-1] :]


def _parts(points: Array, axes: Array) -> tuple[Array, Array, Array]:
    """Return line elements (6, 5, 2), turns by thirds (6, 3, 5, 5), frames (6, 5, 5) of lines.

    The elements are on the lines; the frames have z along them, their origins amid the neighbours.
    """
    elements = np.zeros((6, 5, 2))
    elements[:, :3] = np.stack([points, axes], axis=-1)
    elements[:, 3] = (points[:, None] @ elements[:, :3])[:, 0] * [1.0, 2.0]
    elements[:, 4, 0] = 1.0
    twists = np.concatenate([np.cross(points, axes), axes], axis=1)
    turns = np.array([[se3_exp(twist * angle) for angle in THIRDS] for twist in twists])
    padded = np.concatenate([points[1:2], points, points[4:5]])
    middle = 0.5 * (padded[:-2] + padded[2:])
    origins = points + ((middle - points) * axes).sum(axis=1, keepdims=True) * axes
    x = np.linalg.svd(axes[:, None])[2][:, 1]  # perpendicular to the axis
    frames = np.tile(np.eye(4), (6, 1, 1))
    frames[:, :3, :3] = np.stack([x, np.cross(axes, x), axes], axis=1)
    frames[:, :3, 3] = -(frames[:, :3, :3] @ origins[..., None])[..., 0]
    return elements, conformal(turns), conformal(frames)


class Pencils(NamedTuple):
    """The eigenvalue problems of m orders of the loop, for a motion H."""

    left: Array  # (m, 16, 16)
    right: Array
    Zv: Array  # (m, 12, 16)
    before: Array  # coefficients of joints 1 and 2 (m, 9, 14), and
    behind: Array  # those of joints 4 and 5


class Loops:
    """All orders of the loop of an arm.

    0 to 5 begin with joint 1 to 6; 6 to 11 are read backwards and begin with joint 6 to 1.
    """

    def __init__(self, S: Array, unit: float) -> None:
        """Prepare the loop of screws S (6, 6), with lengths over the unit [m]."""
        points, axes = np.cross(S[3:].T, S[:3].T) / unit, S[3:].T
        backwards, start = np.divmod(np.arange(ORDERS), 6)
        place = start[:, None] + np.arange(6)
        joints = np.where(backwards[:, None], 5 - place % 6, place % 6)
        carried = (place >= 6).astype(int)  # the loop is opened before them: H^-1 carries them
        power = carried[:, [1, 0, 3, 4, 5, 5]] - carried[:, 2:3] - [0, 0, 0, 0, 1, 0]
        power = 1 + np.where(backwards[:, None], -power, power)
        parts = [_parts(points, sense * axes) for sense in (1.0, -1.0)]
        elements, turns, frames = (np.array(x) for x in zip(*parts, strict=True))
        at = backwards[:, None], joints
        frames, turns = frames[at][:, 2], turns[at][:, [1, 0, 3, 4]]
        back, elements = np.linalg.inv(frames), elements[at][:, 5]
        self._tables = power, frames[:, None], back[:, None], turns, elements[:, None]
        self._of = lru_cache(maxsize=8)(self._tables_of)

    def _tables_of(self, orders: tuple[int, ...]) -> tuple[Array, ...]:
        return tuple(table[list(orders)] for table in self._tables)

    def pencils(self, orders: Sequence[int], H: Array) -> Pencils:
        """Return the eigenvalue problems of some orders for H (4, 4), lengths over the unit."""
        before, behind = self._bilinear(orders, H)
        V = _complement(before[:, :8].swapaxes(1, 2)).swapaxes(1, 2)
        u = np.empty((len(orders), 14, 9))
        u[:, :8] = behind[:, :, :8].swapaxes(1, 2)
        u[:, 8:] = V[:, :, 8:] @ behind[:, :, 8:].swapaxes(1, 2)
        u[:, 8:, 8] -= (V @ before[:, 8, :, None])[..., 0]
        v = (u @ _RAISING).reshape(-1, 28, 12)
        BG = np.zeros((len(orders), 12, 28))
        BG[:, :, :12] = v[:, 16:]
        BG[:, ::2, 12::2] = BG[:, 1::2, 13::2] = V[:, :, :8]
        Z = _complement(BG.swapaxes(1, 2))
        Zv, w = Z[:, :12], v[:, :16] @ Z[:, :12]
        both, right = w + Z[:, 12:], np.empty(w.shape)
        right[:, :8], right[:, 8:] = both[:, 8:], -both[:, :8]
        return Pencils(w - Z[:, 12:], right, Zv, before, behind)

    def _bilinear(self, orders: Sequence[int], H: Array) -> tuple[Array, Array]:
        """Return the coefficients (m, 9, 14) of H x by e1^-1 and e2^-1, and of x by e5 and e4.

        Row 3 i + j has those of the i-th of (cos, sin, 1) of the second joint named times the j-th
        of the first one. All is seen from frames whose z is axis 3.
        """
        G = np.zeros((3, 5, 5))
        G[1] = np.eye(5)
        G[::2] = conformal(np.array([H, inverse(H)]))
        power, frames, back, turns, elements = self._of(tuple(orders))
        to, back = frames @ G[power], G[2 - power[:, :4]] @ back
        turns = to[:, :4, None] @ turns @ back[:, :, None]
        elements = (to[:, 4:] @ elements)[:, :, None, None]
        elements = turns[:, ::2, :, None] @ (turns[:, 1::2, None] @ elements)
        both = _OF_TWO @ coordinates(elements).reshape(-1, 2, 9, 14)
        return both[:, 0], both[:, 1]


def third_angles(values: Array) -> tuple[Array, Array]:
    """Return q3 (m, 16) of eigenvalues (m, 3, 16), and the sizes of their imaginary parts.

    The eigenvalues tan(q3/2) are (a + i b) / beta, as LAPACK's ggev gives them.
    """
    x, beta = values[:, 0] + 1j * values[:, 1], values[:, 2]
    with np.errstate(divide="ignore", invalid="ignore"):
        log = np.log((beta + 1j * x) / (beta - 1j * x))
    q3 = np.where(np.isfinite(log.imag), log.imag, 0.0)
    return q3, np.where(values[:, 1] == 0.0, 0.0, np.abs(log.real))


def products(Zv: Array, imaginary: Array, vectors: Array) -> Array:
    """Return the products v (m, 16, 12) of eigenvectors, real at their largest entries.

    The eigenvectors are columns (m, 16, 16); those of eigenvalues with a positive imaginary part
    (m, 16) have theirs in the next column.
    """
    real = (Zv @ vectors).swapaxes(1, 2)
    v = real.astype(complex)
    v.imag[:, :-1] = np.where(imaginary[:, :-1, None] > 0.0, real[:, 1:], 0.0)
    largest = np.take_along_axis(v, np.abs(v).argmax(axis=2)[..., None], axis=2)
    return np.ascontiguousarray((v * largest.conj()).real)
