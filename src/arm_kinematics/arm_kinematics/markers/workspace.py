# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Markers of the workspace: a slice through it, and the reach circles of a planar arm."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np
from arm_common.transforms import Array, pose

from arm_kinematics.chain.chain import Chain
from arm_kinematics.dexterity.workspace import bounding_box, slice_map
from arm_kinematics.markers.mark import Kind, Mark, curve, faint, lines
from arm_kinematics.markers.state import MarkerInputs, WorkspaceSlice

CELLS = 40  # about, across the larger side of a slice
_TEAL = (0.10, 0.60, 0.60, 1.0)
_PARALLEL = 1e-9


def is_planar(chain: Chain) -> bool:
    """Return whether all joints turn about parallel axes, so that the tip stays in a plane."""
    turns = chain.S[3:].T
    return not any(chain.prismatic) and all(
        np.linalg.norm(np.cross(turns[0], turn)) < _PARALLEL for turn in turns
    )


def plane_of(chain: Chain) -> Array:
    """Return base <- plane (4, 4): the tip's plane of a planar arm, else one through axis 1.

    Its origin is on the first joint's axis. Else than for planar arms y is along that axis and x
    towards the tip at position 0; the base's axes take their place if the first joint slides.
    """
    tip = chain.M[:3, 3]
    if chain.prismatic[0]:
        return pose(np.column_stack([[1, 0, 0], [0, 0, 1], [0, -1, 0]]).astype(float))
    axis = chain.S[3:, 0]
    foot = np.cross(axis, chain.S[:3, 0])
    out = tip - foot - axis * (axis @ (tip - foot))
    if np.linalg.norm(out) < 1e-6:
        out = np.eye(3)[int(np.argmin(np.abs(axis)))]
        out = out - axis * (axis @ out)
    x = out / np.linalg.norm(out)
    if is_planar(chain):
        R = np.column_stack([x, np.cross(axis, x), axis])
        return pose(R, foot + axis * (axis @ (tip - foot)))
    return pose(np.column_stack([x, axis, np.cross(x, axis)]), foot)


def find_slice(chain: Chain) -> WorkspaceSlice:
    """Find out what the tip reaches in that plane, in any orientation; takes seconds."""
    T = plane_of(chain)
    box = np.array(np.meshgrid(*np.transpose(bounding_box(chain)))).reshape(3, -1).T
    corners = (box - T[:3, 3]) @ T[:3, :3]
    low, high = corners.min(axis=0), corners.max(axis=0)
    cell = float(max(high[:2] - low[:2])) / CELLS
    low, high = low - cell, high + cell
    extent = (float(low[0]), float(high[0]), float(low[1]), float(high[1]))
    found = slice_map(chain, T[:3, 3], T[:3, 0], T[:3, 1], extent, cell)
    return WorkspaceSlice(T, found.u, found.v, found.reached)


def reach(inputs: MarkerInputs) -> list[Mark]:
    """Draw the slice through what the tip reaches: its surface and its border."""
    region = inputs.region
    if region is None or not region.reached.any():
        return []
    frame, T = inputs.chain.base, region.T
    corners = np.array([c for run in _runs(region) for c in _rectangle(*run)])
    border = np.array(list(_border(region)))
    scale = (1.0, 1.0, 1.0)
    surface = Mark(Kind.TRIANGLES, frame, T, scale, faint(_TEAL, 0.18), _flat(corners))
    edge = lines(frame, _flat(border) @ T[:3, :3].T + T[:3, 3], 0.004 * inputs.size, _TEAL)
    return [surface, edge]


def _runs(region: WorkspaceSlice) -> Iterator[tuple[float, float, float, float]]:
    """Give x0, x1, y0, y1 of the rows of reached cells [m]."""
    half_x, half_y = _half(region.x), _half(region.y)
    for y, row in zip(region.y, region.reached, strict=True):
        steps = np.diff(np.concatenate([[0], row.astype(int), [0]]))
        for first, behind in zip(
            np.flatnonzero(steps > 0), np.flatnonzero(steps < 0), strict=True
        ):
            yield region.x[first] - half_x, region.x[behind - 1] + half_x, y - half_y, y + half_y


def _rectangle(x0: float, x1: float, y0: float, y1: float) -> list[tuple[float, float]]:
    return [(x0, y0), (x1, y0), (x1, y1), (x0, y0), (x1, y1), (x0, y1)]


def _border(region: WorkspaceSlice) -> Iterator[tuple[float, float]]:
    """Give the ends of the edges between reached cells and others."""
    half_x, half_y = _half(region.x), _half(region.y)
    padded = np.pad(region.reached, 1)
    for j, i in np.argwhere(padded[1:-1, 1:] != padded[1:-1, :-1]):
        x = region.x[0] + (2 * i - 1) * half_x
        yield x, region.y[j] - half_y
        yield x, region.y[j] + half_y
    for j, i in np.argwhere(padded[1:, 1:-1] != padded[:-1, 1:-1]):
        y = region.y[0] + (2 * j - 1) * half_y
        yield region.x[i] - half_x, y
        yield region.x[i] + half_x, y


def _half(centres: Array) -> float:
    return 0.5 * float(centres[1] - centres[0]) if len(centres) > 1 else 0.0


def _flat(points: Array) -> Array:
    return np.column_stack([points, np.zeros(len(points))])


def reach_circles(inputs: MarkerInputs) -> list[Mark]:
    """Draw how near and how far the links of a planar arm get, were there no limits."""
    if not is_planar(inputs.chain):
        return []
    T = plane_of(inputs.chain)
    marks = []
    for radius in radii(inputs.chain):
        a = np.linspace(0.0, 2.0 * math.pi, 97)
        circle = radius * np.column_stack([np.cos(a), np.sin(a), np.zeros(len(a))])
        around = circle @ T[:3, :3].T + T[:3, 3]
        marks.append(curve(inputs.chain.base, around, 0.005 * inputs.size, _TEAL))
    return marks


def radii(chain: Chain) -> tuple[float, ...]:
    """Return the least, if it is not 0, and the largest distance [m] of a planar arm's tip.

    Of links l: the largest is their sum; the least is what the longest has over all others.
    """
    axis = chain.S[3:, 0]
    points = [np.cross(s[3:], s[:3]) for s in chain.S.T]  # on the axes, in the plane through 0
    points.append(chain.M[:3, 3] - axis * (axis @ chain.M[:3, 3]))
    links = np.linalg.norm(np.diff(points, axis=0), axis=1)
    least, most = 2.0 * links.max() - links.sum(), float(links.sum())
    return (float(least), most) if least > 1e-9 else (most,)
