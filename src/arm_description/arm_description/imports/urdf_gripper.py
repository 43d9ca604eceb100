# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Two sliding fingers of a URDF as the gripper of a robot file, or a sentence why not.

The gripper of a robot file opens symmetrically along y of the tool, and the position of each
finger is half the width: closed, the fingers meet on the tool's z axis.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..elements import Gripper
from ..robot_file.gripper import default_finger, default_palm
from ..transforms import Matrix
from ..urdf import UrdfJoint, UrdfTree
from .urdf_chain import ArmChain, Branches, zero_pose

NEAR = 1e-9


@dataclass(frozen=True)
class Hand:
    """What is at the end of the arm.

    Attributes:
        tool: (4, 4) base <- tool0 with every joint at 0.
        gripper: the gripper, if there is one that fits.
        note: why there is none, or where the tool was put; "" if there is nothing to say.
    """

    tool: Matrix
    gripper: Gripper | None = None
    note: str = ""


def find_hand(tree: UrdfTree, chain: ArmChain) -> Hand:
    """Find the tool and the gripper of an arm."""
    tool = zero_pose(chain.way)
    if not chain.hand:
        return Hand(tool)
    problem = _misfit(chain.hand)
    if problem:
        return Hand(tool, note=f"the gripper is left out: {problem}")
    frames = [_pose(tree, chain, joint) for joint in chain.hand]
    axes = [T[:3, :3] @ joint.axis for T, joint in zip(frames, chain.hand, strict=True)]
    apart = float(np.linalg.norm(frames[0][:3, 3] - frames[1][:3, 3]))
    if apart > NEAR or float(axes[0] @ axes[1]) > NEAR - 1.0:
        return Hand(tool, note="the gripper is left out: its fingers do not close onto one point")
    point, note = frames[0][:3, 3], ""
    if not chain.chosen and chain.tip == chain.hand[0].parent:
        tool = _grasp(tool, point, axes[0])
        note = "tool0 is where the fingers' frames meet, with y along their opening"
    right = 0 if float(axes[0] @ tool[:3, 1]) > 0.0 else 1
    aside = float(np.linalg.norm(np.cross(point - tool[:3, 3], tool[:3, 2])))
    if float(axes[right] @ tool[:3, 1]) < 1.0 - NEAR or aside > NEAR:
        why = f"its fingers do not open along y of {chain.tip} and onto its z axis"
        return Hand(tool, note=f"the gripper is left out: {why}")
    return Hand(tool, _gripper(chain.hand, right), note)


def _misfit(fingers: tuple[UrdfJoint, ...]) -> str:
    names = ", ".join(joint.name for joint in fingers)
    if len(fingers) != 2 or any(joint.kind != "prismatic" for joint in fingers):
        return f"it has to be two sliding fingers, not {names}"
    free = [joint for joint in fingers if joint.mimic is None]
    mimics = [joint.mimic for joint in fingers if joint.mimic]
    if not free or any(
        (m.joint, m.multiplier, m.offset) != (free[0].name, 1.0, 0.0) for m in mimics
    ):
        return f"{names} do not move by the same amount"
    limits = [joint.limit for joint in fingers if joint.limit]
    one, other = limits[0], limits[-1]
    if (one.lower, one.upper) != (other.lower, other.upper) or not 0.0 <= one.lower < one.upper:
        return f"the limits of {names} have to be equal, from 0 or more upwards"
    return ""


def _pose(tree: UrdfTree, chain: ArmChain, finger: UrdfJoint) -> Matrix:
    return zero_pose((*Branches(tree).way(chain.base, finger.parent), finger))


def _grasp(parent: Matrix, point: Matrix, axis: Matrix) -> Matrix:
    """Frame at the fingers: y along their opening, z as near as can be to the arm's last z."""
    y = axis if float(axis @ parent[:3, 1]) > -NEAR else -axis
    z = parent[:3, 2] if abs(float(axis @ parent[:3, 2])) < 0.9 else parent[:3, 0]
    x = np.cross(y, z)
    x /= np.linalg.norm(x)
    T = np.eye(4)
    T[:3, :3] = np.column_stack((x, y, np.cross(x, y)))
    T[:3, 3] = point
    return T


def _gripper(fingers: tuple[UrdfJoint, ...], right: int) -> Gripper:
    limit = fingers[0].limit
    assert limit is not None  # the reader refuses a prismatic joint without
    widest, velocity = 2.0 * limit.upper, 2.0 * limit.velocity or 0.1
    return Gripper(
        joints=(fingers[1 - right].name, fingers[right].name),
        min_width=2.0 * limit.lower,
        max_width=widest,
        velocity=velocity,
        acceleration=4.0 * velocity,
        finger=default_finger(widest),
        palm=default_palm(widest),
        source="widths and speed from the URDF, shape in proportion",
    )
