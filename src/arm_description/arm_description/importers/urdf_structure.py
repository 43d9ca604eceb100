# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Which joints of a URDF are the arm, and which are the two fingers of its gripper.

The gripper of a robot file opens symmetrically along y of the tool, and the position of each
finger is half the width: closed, the fingers meet on the tool's z axis.
"""

from __future__ import annotations

import difflib
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from arm_common.suggestions import did_you_mean
from arm_common.transforms import Matrix, pose

from arm_description.errors import UrdfError
from arm_description.model.elements import Gripper
from arm_description.robot_file.sections import default_finger, default_palm
from arm_description.urdf.elements import MOVING, UrdfJoint
from arm_description.urdf.reader import UrdfTree

TOOL = "tool0"
MOST_SHOWN = 8
JAW_WORDS = ("grip", "finger", "jaw", "claw")


@dataclass(frozen=True)
class ArmChain:
    """The way from base to tip."""

    base: str  # name of the base link
    tip: str  # name of the tip link
    way: tuple[UrdfJoint, ...]  # all joints between them, fixed ones too
    hand: tuple[UrdfJoint, ...]  # moving joints that hang on the tip's rigid body, such as fingers
    others: tuple[str, ...]  # names of joints elsewhere that move too and are left out
    chosen: bool  # whether the user named the tip

    @property
    def moving(self) -> tuple[UrdfJoint, ...]:
        """The joints of the arm."""
        return tuple(joint for joint in self.way if joint.kind in MOVING)


class Branches:
    """The tree of a URDF, by parent and by child."""

    def __init__(self, tree: UrdfTree) -> None:
        self.tree = tree
        self.below: dict[str, list[UrdfJoint]] = {link: [] for link in tree.links}
        self.above = {joint.child: joint for joint in tree.joints}
        for joint in tree.joints:
            self.below[joint.parent].append(joint)

    def links(self, link: str, rigid: bool = False) -> list[str]:
        """A link and all links that it carries, or those that are rigid with it."""
        links = [link]
        for name in links:
            carried = self.below[name]
            links += [joint.child for joint in carried if not rigid or joint.kind == "fixed"]
        return links

    def moved_by(self, link: str) -> list[UrdfJoint]:
        """Joints that leave the rigid body of a link."""
        body = self.links(link, rigid=True)
        return [joint for name in body for joint in self.below[name] if joint.kind != "fixed"]

    def way(self, base: str, tip: str) -> list[UrdfJoint]:
        """Joints from base to tip, which it must carry."""
        joints, link = list[UrdfJoint](), tip
        while link != base:
            if link not in self.above:
                raise UrdfError(
                    f"{base!r} does not carry {tip!r}",
                    remedy=f"name a base on the way from {self.tree.root!r} to {tip!r}",
                )
            joints.append(self.above[link])
            link = joints[-1].parent
        return joints[::-1]

    def leaves(self, links: list[str]) -> list[str]:
        """Those links that carry nothing."""
        return [link for link in links if not self.below[link]]

    def start(self, link: str) -> str:
        """Topmost link of the rigid body of a link."""
        while link in self.above and self.above[link].kind == "fixed":
            link = self.above[link].parent
        return link


def find_chain(tree: UrdfTree, base: str = "", tip: str = "") -> ArmChain:
    """Find the arm from a base link (the root if empty) to a tip.

    The tip is the one end of the arm if empty; the arm may carry a hand there.

    Raises:
        UrdfError: no such link, no way, several ends, or a joint on the way that a table of
            revolute and prismatic joints cannot hold.
    """
    for link in filter(None, (base, tip)):
        if link not in tree.links:
            near = difflib.get_close_matches(link, tree.links, MOST_SHOWN, 0.0)
            raise UrdfError(f"there is no link {link!r}", remedy=did_you_mean(link, near))
    branches = Branches(tree)
    base = base or tree.root
    end = tip or _end(branches, base)
    way = branches.way(base, end)
    for joint in way:
        _check(joint)
    moving = [joint for joint in way if joint.kind in MOVING]
    if not moving:
        raise UrdfError(f"no joint moves between {base!r} and {end!r}", remedy="name another tip")
    hand = branches.moved_by(branches.start(end))
    if any(branches.moved_by(joint.child) for joint in hand):
        hand = []
    taken = {joint.name for joint in (*way, *hand)}
    others = [j.name for j in tree.joints if j.kind != "fixed" and j.name not in taken]
    return ArmChain(base, end, tuple(way), tuple(hand), tuple(others), bool(tip))


def zero_pose(way: tuple[UrdfJoint, ...], until: UrdfJoint | None = None) -> Matrix:
    """Pose of a joint's frame on the way, or of its end, with every joint at 0, (4, 4)."""
    T: Matrix = np.eye(4)
    for joint in way:
        T = T @ joint.origin.matrix
        if joint is until:
            break
    return T


def _check(joint: UrdfJoint) -> None:
    if joint.kind in ("floating", "planar"):
        problem = f"joint {joint.name!r} on the way is {joint.kind}"
        raise UrdfError(problem, remedy=f"begin behind it: --base {joint.child}")
    if joint.mimic:
        raise UrdfError(
            f"joint {joint.name!r} on the way does not move on its own: it mimics "
            f"{joint.mimic.joint!r}, which a DH table cannot say",
            remedy="end before it or begin behind it with --tip or --base",
        )


def _end(branches: Branches, base: str) -> str:
    """The tip of an arm that has only one; its hand is no end."""
    link = base
    while onward := branches.moved_by(link):
        last = link != base and not any(branches.moved_by(joint.child) for joint in onward)
        # Whether a single joint closes a gripper, only its names can tell.
        names = f"{onward[0].name} {onward[0].child}".lower()
        if last and (len(onward) > 1 or any(word in names for word in JAW_WORDS)):
            break
        if len(onward) > 1:
            raise _many(branches, link, f"the arm branches behind {link!r}")
        link = onward[0].child
    body = branches.links(link, rigid=True)
    leaves = branches.leaves(body) or body[-1:]
    tools = [leaf for leaf in leaves if leaf.endswith(TOOL)] or leaves
    if len(tools) > 1:
        raise _many(branches, link, f"the arm ends at {link!r} with several frames")
    return tools[0]


def _many(branches: Branches, link: str, problem: str) -> UrdfError:
    def moved(end: str) -> int:
        return sum(joint.kind != "fixed" for joint in branches.way(branches.tree.root, end))

    ends = sorted(branches.leaves(branches.links(link)), key=moved, reverse=True)
    return UrdfError(problem, remedy=f"choose the tip with --tip, for example of {some(ends)}")


def some(names: Sequence[str]) -> str:
    """Return the first of some names in words."""
    return ", ".join(names[:MOST_SHOWN]) + (", ..." if len(names) > MOST_SHOWN else "")


NEAR = 1e-9


@dataclass(frozen=True)
class Hand:
    """What is at the end of the arm."""

    tool: Matrix  # (4, 4) base <- tool0 with every joint at 0
    gripper: Gripper | None = None  # if there is one that fits
    note: str = ""  # why there is none, or where the tool was put; "" if there is nothing to say


def find_hand(tree: UrdfTree, chain: ArmChain) -> Hand:
    """Find the tool and the gripper of an arm."""
    tool = zero_pose(chain.way)
    if not chain.hand:
        return Hand(tool)

    def left_out(problem: str) -> Hand:
        return Hand(tool, note=f"the gripper is left out: {problem}")

    if problem := _misfit(chain.hand):
        return left_out(problem)
    branches = Branches(tree)
    ways = [(*branches.way(chain.base, joint.parent), joint) for joint in chain.hand]
    frames = [zero_pose(way) for way in ways]
    axes = [T[:3, :3] @ joint.axis for T, joint in zip(frames, chain.hand, strict=True)]
    apart = float(np.linalg.norm(frames[0][:3, 3] - frames[1][:3, 3]))
    if apart > NEAR or float(axes[0] @ axes[1]) > NEAR - 1.0:
        return left_out("its fingers do not close onto one point")
    point, note = frames[0][:3, 3], ""
    if not chain.chosen and chain.tip == chain.hand[0].parent:
        tool = _grasp(tool, point, axes[0])
        note = "tool0 is where the fingers' frames meet, with y along their opening"
    right = 0 if float(axes[0] @ tool[:3, 1]) > 0.0 else 1
    aside = float(np.linalg.norm(np.cross(point - tool[:3, 3], tool[:3, 2])))
    if float(axes[right] @ tool[:3, 1]) < 1.0 - NEAR or aside > NEAR:
        return left_out(f"its fingers do not open along y of {chain.tip} and onto its z axis")
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


def _grasp(parent: Matrix, point: Matrix, axis: Matrix) -> Matrix:
    """Frame at the fingers: y along their opening, z as near as can be to the arm's last z."""
    y = axis if float(axis @ parent[:3, 1]) > -NEAR else -axis
    z = parent[:3, 2] if abs(float(axis @ parent[:3, 2])) < 0.9 else parent[:3, 0]
    x = np.cross(y, z)
    x /= np.linalg.norm(x)
    return pose(np.column_stack((x, y, np.cross(x, y))), point)


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
