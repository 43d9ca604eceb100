# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""All real solutions of any arm of six revolute joints, at most 16 (Primrose 1986).

There is no seed and no iteration that might miss one: elimination leaves an eigenvalue problem of
size 16, each real eigenvalue gives one candidate, and Newton's method on the pose removes the
rounding (both in `cpp/general_6r.hpp`).

A closed loop can be opened at any of its six joints and read in two directions. A geometry
that is singular in one of these twelve orders (parallel axes, a spherical wrist) usually is not in
another; sample poses show once per arm which orders to trust. For each target two trusted orders
have to agree, and to account for every real eigenvalue; otherwise the others are used too.

At a singular pose two solutions or more meet. There they are found to about 1e-7 rad (two) or
1e-5 rad (three), while the pose still fits to round-off. Where the arm can move with its tip at
rest (a wrist with two axes in line), the solutions are a curve; some points of it are returned.

The loop of a 6R arm that holds its tip at T is

    e1(q1) e2(q2) e3(q3) e4(q4) e5(q5) e6(q6) = H,    H = T M^-1,

where ei turns about the axis of joint i (Raghavan and Roth 1990 use this, the first order).

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

from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import NamedTuple

import numpy as np
from arm_common.transforms import Array, inverse
from numpy.typing import ArrayLike

from arm_kinematics.arguments import rigid_transform
from arm_kinematics.ik.search_model import SerialChain, arm_length, kernel_constants
from arm_kinematics.kernels.compiled import collect, fk
from arm_kinematics.kernels.layout import Records
from arm_kinematics.model.chain_model import checked_screws
from arm_kinematics.model.lie import se3_exp

ORDERS = 12
THIRDS = np.arange(3) * (2.0 * np.pi / 3.0)  # turns at which functions of an angle are sampled
FOURIER = np.array([2.0 * np.cos(THIRDS), 2.0 * np.sin(THIRDS), np.ones(3)]) / 3.0
"""From these samples to coefficients of (cos, sin, 1)."""

_OF_TWO = np.kron(FOURIER, FOURIER)
SAMPLES = 5
CAPACITY = 64  # solutions of a target
COMPLEX = 0.2  # imaginary part of q3 above which no real solution is near [rad]
NEARLY_REAL = 0.01  # imaginary part of q3 that may be due to rounding [rad]
VALID_REAL = 1e-4  # largest error of a valid candidate of a real eigenvalue,
VALID_NEARLY_REAL = 1e-2  # and of a nearly real one
WORTH_POLISHING = 0.03  # error of a complex eigenvalue's candidate
AGREE = 2  # orders that must agree; otherwise the others are used too
_JOINTS = [f"joint {i + 1}" for i in range(6)]
_STEP = 0.8986537126286993 ** np.arange(1, 7)  # 1/x with x^7 = x + 1 (Roberts 2018)


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


class EliminationPlan(NamedTuple):
    """Orders of an arm's loop, best first, and the number of trusted ones."""

    orders: tuple[int, ...]
    trusted: int


class Solutions:
    """Solutions of a target, the first ``count`` rows of q."""

    def __init__(self) -> None:
        self.q, self.count = np.empty((CAPACITY, 6)), 0


class Census(NamedTuple):
    """How many solutions an order found, whether they are consistent, and the largest error."""

    solutions: int
    is_sound: bool
    largest_error: float  # of a real eigenvalue's candidate


def _census(count: int, errors: Array, off: Array) -> Census:
    """Return the census of an order from the errors of its candidates, negative where none is.

    It is sound if each real eigenvalue's candidate nearly is a solution, these are all different,
    and further ones are even in number and come from complex pairs that rounding may have made of
    real ones. That is so for a general arm; not if the arm is special (the pencil is singular, or
    several solutions share the angle of the third joint), or its pose is singular.
    """
    real, others = errors[off == 0.0], errors[(off > 0.0) & (off < NEARLY_REAL)]
    others = others[others >= 0.0]
    largest = float(real.max(initial=0.0))
    is_valid = largest < VALID_REAL and bool((others < VALID_NEARLY_REAL).all())
    is_complete = len(real) <= count <= len(real) + 2 * len(others) and count % 2 == 0
    return Census(count, is_valid and is_complete, largest)


class General6R:
    """The solver of an arm of six revolute joints of any geometry.

    May be used from several threads at once.

    Attributes:
        unit: Unit of length in which positions and angles count alike [m].
        plan: Orders in which the loop is solved; arms of nearly the same geometry may share it.
    """

    def __init__(self, S: ArrayLike, M: ArrayLike, plan: EliminationPlan | None = None) -> None:
        """Prepare the arm of screws S (6, 6), six revolute joints, and home pose M (4, 4)."""
        from scipy.linalg import lapack  # takes longer than all other imports of this package

        self._ggev = lapack.dggev
        screws, home = checked_screws(S, [False] * 6, _JOINTS), rigid_transform(M, "home pose")
        infinite = np.full(6, np.inf)
        self._c = kernel_constants(screws, home, [False] * 6, -infinite, infinite)
        self._from_home = inverse(home)
        self.unit = arm_length(screws, home) / 3.0
        self._loops = Loops(screws, self.unit)
        self.plan = plan or self._rank_orders()

    def solve(self, T: ArrayLike) -> Array:
        """Return all real joint angles (k, 6) in (-pi, pi] that bring the tip to T (4, 4)."""
        target = rigid_transform(T, "target")
        orders, enough = self.plan.orders, min(AGREE, max(self.plan.trusted, 1))
        found, complete = Solutions(), []
        for first in range(0, ORDERS, enough):
            for i, census in enumerate(self._add(orders[first : first + enough], target, found)):
                if census.is_sound and first + i < self.plan.trusted:
                    complete.append(census.solutions)
            if complete.count(found.count) >= enough:
                break
        solutions = found.q[: found.count]
        return solutions[np.lexsort(solutions.T[::-1])]

    def _add(self, orders: Sequence[int], T: Array, found: Solutions) -> list[Census]:
        """Add the solutions of some orders of the loop, and return what each found."""
        H = T @ self._from_home
        H[:3, 3] /= self.unit
        pencils = self._loops.pencils(orders, H)
        values, vectors = np.empty((len(orders), 3, 16)), np.empty((len(orders), 16, 16))
        for k in range(len(orders)):
            left, right = pencils.left[k], pencils.right[k]
            *values[k], _, vectors[k], _, _ = self._ggev(left, right, compute_vl=0)
        (q3, off), imaginary = third_angles(values), values[:, 1]
        v = products(pencils.Zv, imaginary, vectors)
        limits = np.where(imaginary == 0.0, np.inf, WORTH_POLISHING)
        limits[(imaginary < 0.0) | (off > COMPLEX)] = -1.0
        counts = []
        for k, order in enumerate(orders):
            before, behind = pencils.before[k], pencils.behind[k]
            count, found.count = collect(
                *(self._c, T, self.unit, order, before, behind, q3[k], v[k], limits[k]),
                *(found.q, found.count),
            )
            counts.append(count)
        return list(map(_census, counts, limits, off))

    def _rank_orders(self) -> EliminationPlan:
        """Rank the orders by their results at sample poses.

        An order is trusted if most of its results are SOUND, and these are never wrong.
        """
        counts, errors = np.zeros((SAMPLES, ORDERS)), np.zeros(ORDERS)
        for i in range(SAMPLES):
            turns = (0.5 + (i + 1) * _STEP) % 1.0
            T = fk(self._c, 2.0 * np.pi * turns - np.pi)
            assert T is not None  # the turns are finite
            found = Solutions()
            of_orders = self._add(range(ORDERS), T, found)
            errors += [of_order.largest_error for of_order in of_orders]
            counts[i] = [o.solutions - found.count if o.is_sound else np.nan for o in of_orders]
        right, wrong = np.sum(counts == 0.0, axis=0), np.sum(counts < 0.0, axis=0)
        ranked = sorted(range(ORDERS), key=lambda k: (wrong[k], -right[k], errors[k], k))
        return EliminationPlan(tuple(ranked), int(np.sum((wrong == 0) & (2 * right > SAMPLES))))


def prepared(
    chain: SerialChain, tool: Array | None, constants: Records
) -> Callable[[Array, Array, float], Array]:
    """Return the function of a target, a seed and a deadline for all postures of a 6R arm."""
    del constants
    arm = General6R(chain.S, chain.M if tool is None else chain.M @ tool)
    return lambda T, seed, deadline: arm.solve(T)
