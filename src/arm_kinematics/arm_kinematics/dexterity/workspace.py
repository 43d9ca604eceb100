# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
# Tests: src/arm_kinematics/test/dexterity/test_conditioning.py
"""The workspace of an arm: its bounding box, its volume, and slices through it.

Inverse kinematics decides whether a point is reached, not a cloud of points: limits are
respected, and thin regions and holes are found.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise, product

import numpy as np
from arm_common.transforms import Array
from numpy.typing import NDArray

from arm_kinematics.arguments import require
from arm_kinematics.chain.chain import Chain
from arm_kinematics.dexterity.conditioning import (
    finite_limits,
    frobenius_condition,
    halton_points,
    homogeneous_jacobian,
    minimum_inside,
    motion_directions,
    postures_inside,
)
from arm_kinematics.errors import KinematicsError
from arm_kinematics.ik.result import IkStatus

PROBES = 256
STARTS = 8  # farthest probes from which each side of the box is optimised
TOLERANCE = 1e-4  # position tolerance, as a fraction of the box's diagonal
MAX_CELLS = 250_000
_ROWS = 16  # of a slice in one job
_TOLERANCE = 0.25  # position tolerance of a cell's centre, as a fraction of the cell
_BISECTIONS = 6  # of a line between two centres that the outline crosses
_FIRST_STARTS = 1e-9  # [s] for each point: the first starts of a search do not look at the time


@dataclass(frozen=True)
class Volume:
    """The reachable volume of an arm's tip."""

    volume: float  # estimate [m^3]; 0 for a tip that moves in a plane or along a line
    error: float  # upper bound of its standard error [m^3]: that of independent points
    lower: Array  # (3,) corners of the bounding box, base frame [m]
    upper: Array


@dataclass(frozen=True)
class SliceMap:
    """A slice through the reachable region."""

    T: Array  # (4, 4) base <- slice; the slice is its x-y plane [m]
    extent: tuple[float, float, float, float]  # smallest and largest x, then y [m]
    x: Array  # (k,) coordinates of the cells' centres along x [m]
    y: Array  # (m,) the same along y
    # (m, k) one over the condition number at the posture found, 0 where singular, nan where out
    # of reach
    isotropy: Array

    @property
    def reached(self) -> Array:
        """Whether each centre is reached (m, k)."""
        return np.isfinite(self.isotropy)


def bounding_box(chain: Chain) -> tuple[Array, Array]:
    """Return the lowest and the highest corner (3,) that the tip reaches, base frame [m]."""
    lower, upper = finite_limits(chain)
    probes = postures_inside(chain, halton_points(lower, upper, PROBES))
    tips = np.array([chain.fk(q)[:3, 3] for q in probes])
    corners = np.zeros((2, 3))
    for side, axis in product((0, 1), range(3)):
        sign = 2 * side - 1
        farthest = np.argsort(-sign * tips[:, axis], kind="stable")[:STARTS]
        corners[side, axis] = max(
            (_extreme_coordinate(chain, probes[i], sign, axis, lower, upper) for i in farthest),
            key=lambda value: sign * value,
        )
    return corners[0], corners[1]


def reachable_volume(chain: Chain, points: int = 2000) -> Volume:
    """Estimate the volume that the tip reaches in any orientation, from evenly spread points.

    Raises:
        KinematicsError: There are fewer than 100 points.
    """
    require(points >= 100, "points", points, "at least 100")
    lower, upper = bounding_box(chain)
    if len(motion_directions(chain)) < 3:
        return Volume(0.0, 0.0, lower, upper)
    tolerance = TOLERANCE * float(np.linalg.norm(upper - lower))
    spread = halton_points(lower, upper, points)
    reached, q = _reached(chain, spread, None, tolerance)
    if reached.any() and not reached.all():
        from scipy.spatial import cKDTree  # imported here so that a node does not load it

        nearest = cKDTree(spread[reached]).query(spread[~reached])[1]
        reached[~reached] = _reached(chain, spread[~reached], q[reached][nearest], tolerance)[0]
    fraction, box = float(reached.mean()), float(np.prod(upper - lower))
    error = box * math.sqrt(max(fraction * (1.0 - fraction), 1.0 / points) / points)
    return Volume(fraction * box, error, lower, upper)


def slice_map(
    chain: Chain,
    T: Array,
    extent: tuple[float, float, float, float],
    cell: float,
    length: float | None = None,
    run: Callable[[Sequence[SliceRows]], Sequence[Array]] | None = None,
) -> SliceMap:
    """Map a slice: where the tip reaches, in any orientation, and how well it moves there.

    Args:
        chain: The arm.
        T: (4, 4) base <- slice; the slice is its x-y plane [m].
        extent: Smallest and largest x, then y [m].
        cell: Size of a cell [m].
        length: Characteristic length of an arm of six or more joints [m].
        run: Returns what slice_rows does for each block of rows, perhaps by several processes.

    Raises:
        KinematicsError: The extent is empty, the cell not positive, or there are too many cells.
    """
    across, along = _centres(extent[0], extent[1], cell), _centres(extent[2], extent[3], cell)
    if len(across) * len(along) > MAX_CELLS:
        raise KinematicsError(
            f"the slice has {len(across) * len(along)} cells; at most {MAX_CELLS} are allowed: "
            "use larger cells",
            what="cell",
        )
    blocks = [along[i : i + _ROWS] for i in range(0, len(along), _ROWS)]
    jobs = [SliceRows(T, across, block, cell, length) for block in blocks]
    done = run(jobs) if run else [slice_rows(chain, rows) for rows in jobs]
    return SliceMap(T, extent, across, along, np.vstack(done))


@dataclass(frozen=True)
class SliceRows:
    """Some rows of a slice; as in SliceMap."""

    T: Array
    x: Array
    y: Array
    cell: float
    length: float | None


def slice_rows(chain: Chain, rows: SliceRows) -> Array:
    """Return the isotropy (m, k) of some rows of a slice, which are independent of the others."""
    directions, isotropy = motion_directions(chain), np.full((len(rows.y), len(rows.x)), math.nan)
    postures = _slice_postures(chain, rows)
    for cell in map(tuple, np.argwhere(np.isfinite(postures[:, :, 0])).tolist()):
        J = chain.jacobian(postures[cell])
        H = homogeneous_jacobian(J, rows.length) if rows.length else directions @ J[:3]
        isotropy[cell] = 1.0 / frobenius_condition(H)
    return isotropy


def _slice_postures(chain: Chain, rows: SliceRows) -> Array:
    """Return a posture (m, k, n) that reaches each cell, nan where it is out of reach."""
    T, columns = rows.T, range(len(rows.x))
    postures = np.full((len(rows.y), len(rows.x), chain.n), math.nan)
    last = np.tile(chain.middle, (len(rows.y), 1))
    # All rows at once, column by column: each row starts from its last posture found. On the way
    # back, what is missing starts from its other neighbour.
    steps = [(i, last) for i in columns] + [(i - 1, postures[:, i]) for i in columns[:0:-1]]
    for column, seeds in steps:
        open_rows = np.flatnonzero(np.isnan(postures[:, column, 0]) & np.isfinite(seeds[:, 0]))
        points = T[:3, 3] + rows.x[column] * T[:3, 0] + rows.y[open_rows, None] * T[:3, 1]
        reached, q = _reached(chain, points, seeds[open_rows], _TOLERANCE * rows.cell)
        last[open_rows[reached]] = postures[open_rows[reached], column] = q[reached]
    return postures


def _reached(
    chain: Chain, points: Array, seeds: Array | None, tolerance: float
) -> tuple[NDArray[np.bool_], Array]:
    """Return which points (m, 3) the first starts of a search reach, and the postures (m, n).

    Starting from a neighbour costs less than searching on and diagnosing the failure.
    """
    batch = chain.ik_batch(
        points, seeds, "position", position_tolerance=tolerance, timeout=_FIRST_STARTS
    )
    return batch.status == IkStatus.SUCCESS, batch.q


@dataclass(frozen=True)
class SliceOutline:
    """The reachable region of a slice, with a smooth outline."""

    T: Array  # (4, 4) base <- slice
    border: Array  # (s, 2, 3) straight lines in the slice [m]
    surface: Array  # (t, 3, 3) triangles in the slice [m]


def slice_outline(chain: Chain, found: SliceMap) -> SliceOutline:
    """Return the outline of a slice: marching squares between the centres of its cells.

    Where a line between two centres leaves the reachable region is found by bisection (Lorensen
    and Cline, "Marching cubes", Computer Graphics 21(4), 1987, in the plane).
    """
    reached, ids = found.reached.ravel(), _numbers(found)
    across, along = np.meshgrid(found.x, found.y)
    centres = np.column_stack([across.ravel(), along.ravel(), np.zeros(len(reached))])
    ends = _last_reached(chain, found, centres)
    squares = np.stack([ids[:-1, :-1], ids[:-1, 1:], ids[1:, 1:], ids[1:, :-1]], axis=-1)
    border, surface = list[tuple[Array, ...]](), list[tuple[Array, ...]]()
    for square in squares.reshape(-1, 4).tolist():
        ring = list[tuple[Array, bool]]()  # corners of the reached part; True on the border
        for a, b in pairwise([*square, square[0]]):
            if reached[a]:
                ring.append((centres[a], False))
            if reached[a] != reached[b]:
                ring.append((ends[min(a, b), max(a, b)], True))
        surface += [(ring[0][0], p, q) for (p, _), (q, _) in pairwise(ring[1:])]
        border += [(p, q) for (p, a), (q, b) in pairwise([*ring, *ring[:1]]) if a and b]
    lines, triangles = np.array(border).reshape(-1, 2, 3), np.array(surface).reshape(-1, 3, 3)
    return SliceOutline(found.T, lines, triangles)


def _numbers(grid: SliceMap) -> NDArray[np.int_]:
    """Return the indices of the cells (m, k) in row-major order."""
    return np.arange(grid.isotropy.size).reshape(grid.isotropy.shape)


def _last_reached(chain: Chain, grid: SliceMap, centres: Array) -> dict[tuple[int, int], Array]:
    """Return the last reached point (3,) of each line from a reached to an unreached centre."""
    ids, is_reached = _numbers(grid), grid.reached.ravel()
    neighbours = (ids[:, :-1], ids[:, 1:]), (ids[:-1], ids[1:])
    pairs = np.hstack([np.stack([a.ravel(), b.ravel()]) for a, b in neighbours]).T
    pairs = pairs[is_reached[pairs].sum(axis=1) == 1]
    low = centres[np.where(is_reached[pairs[:, 0]], *pairs.T)]
    step = centres[np.where(is_reached[pairs[:, 0]], *pairs.T[::-1])] - low
    tolerance = _TOLERANCE * float(grid.x[1] - grid.x[0])
    seeds = _reached(chain, _in_base(grid.T, low), None, tolerance)[1]
    for _ in range(_BISECTIONS):
        step = step / 2.0
        reached, q = _reached(chain, _in_base(grid.T, low + step), seeds, tolerance)
        seeds[reached] = q[reached]
        low = np.where(reached[:, None], low + step, low)
    return dict(zip(map(tuple, pairs.tolist()), low, strict=True))


def _in_base(T: Array, points: Array) -> Array:
    return np.asarray(points @ T[:3, :3].T + T[:3, 3])


def _extreme_coordinate(
    chain: Chain, q: Array, sign: int, axis: int, lower: Array, upper: Array
) -> float:
    """Return the extreme coordinate of the tip along an axis, optimised from the start q."""

    def cost(x: Array) -> tuple[float, Array]:
        T, J = chain.fk_jacobian(x)
        return -sign * float(T[axis, 3]), -sign * J[axis]

    x = minimum_inside(chain, cost, q, list(zip(lower, upper, strict=True)))
    return float(chain.fk(x)[axis, 3])


def _centres(lowest: float, highest: float, cell: float) -> Array:
    if not (cell > 0.0 and math.isfinite(highest - lowest) and highest > lowest):
        raise KinematicsError(
            f"a slice from {lowest} to {highest} m in cells of {cell} m is empty", what="extent"
        )
    count = max(1, round(min((highest - lowest) / cell, MAX_CELLS + 1.0)))
    return np.asarray(lowest + (np.arange(count) + 0.5) * (highest - lowest) / count)
