# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Where the axes of a chain's joints are, in the links before and behind them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from arm_kinematics.chain import Chain
from arm_kinematics.lie import Array, se3_inverse


class Axis(NamedTuple):
    """A joint of a chain as it is drawn.

    Attributes:
        name: Name of the joint.
        sliding: Whether it slides.
        lower, upper: Limits [rad or m], infinite where there are none.
        parent, child: The links before and behind it.
        in_parent, in_child: (4, 4) link <- a frame on the axis, along z; equal at position 0.
    """

    name: str
    sliding: bool
    lower: float
    upper: float
    parent: str
    child: str
    in_parent: Array
    in_child: Array


def axes_of(chain: Chain) -> Iterator[Axis]:
    """Give the joints of a chain, base to tip; of those that one joint drives, its first."""
    owners = range(chain.n) if chain.gearing is None else chain.gearing.owners
    ratios = np.ones(chain.n) if chain.gearing is None else chain.gearing.ratios[owners]
    for j, screw in enumerate(owners):
        before = [link for link in chain.links if link.joints <= screw][-1]
        behind = next((link for link in chain.links if link.joints > screw), None)
        if behind is None:
            continue
        lower, upper = sorted((ratios[j] * chain.lower[j], ratios[j] * chain.upper[j]))
        place = _on_axis(chain.S[:, screw], bool(chain.prismatic[screw]), behind.home)
        yield Axis(
            chain.joint_names[j],
            bool(chain.prismatic[screw]),
            float(lower),
            float(upper),
            before.name,
            behind.name,
            se3_inverse(before.home) @ place,
            se3_inverse(behind.home) @ place,
        )


def _on_axis(screw: Array, sliding: bool, home: Array) -> Array:
    """Return a frame (4, 4) on a screw's axis, along z, as near to a frame as can be."""
    z = screw[:3] if sliding else screw[3:]
    T = home.copy()
    if not sliding:
        foot = np.cross(z, screw[:3])
        T[:3, 3] = foot + z * (z @ (home[:3, 3] - foot))
    x = max(home[:3, :3].T, key=lambda axis: float(np.linalg.norm(axis - z * (z @ axis))))
    x = x - z * (z @ x)
    x /= np.linalg.norm(x)
    T[:3, :3] = np.column_stack([x, np.cross(z, x), z])
    return T
