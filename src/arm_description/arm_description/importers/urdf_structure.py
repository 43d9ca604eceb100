# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
# Tests: src/arm_description/test/importers/test_urdf.py
"""Find the joints of a URDF that form the arm, and the two fingers of its gripper.

The gripper of a robot file opens symmetrically along the tool's y, and the position of each finger
is half the width: closed, the fingers meet on the tool's z axis.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from arm_common.suggestions import did_you_mean
from arm_common.transforms import Matrix, pose

from arm_description.errors import UrdfError
from arm_description.model.constraints import LinearExpression
from arm_description.model.gripper import DEFAULT_FORCE, Gripper
from arm_description.robot_file.sections.gripper import default_finger, default_palm
from arm_description.urdf.elements import MOVING, UrdfJoint
from arm_description.urdf.reader import UrdfTree

TOOL = "tool0"
MAX_SHOWN = 8
JAW_WORDS = ("grip", "finger", "jaw", "claw")


class LinkTree:
    """Links and joints of a URDF, by parent and by child, without those that are only drawn."""

    def __init__(self, tree: UrdfTree) -> None:
        self.tree = tree
        self.below: dict[str, list[UrdfJoint]] = {link: [] for link in tree.links}
        self.above = {joint.child: joint for joint in tree.joints}
        self.drawn = _only_drawn(tree)
        for joint in tree.joints:
            if joint.name not in self.drawn:
                self.below[joint.parent].append(joint)

    def links(self, link: str, rigid: bool = False) -> list[str]:
        """Return a link and all its descendants, or those rigidly connected to it."""
        links = [link]
        for name in links:
            children = self.below[name]
            links += [joint.child for joint in children if not rigid or joint.kind == "fixed"]
        return links

    def moving_joints(self, link: str) -> list[UrdfJoint]:
        """Return the non-fixed joints on the rigid body of a link."""
        body = self.links(link, rigid=True)
        return [joint for name in body for joint in self.below[name] if joint.kind != "fixed"]

    def path(self, base: str, tip: str) -> list[UrdfJoint]:
        """Return the joints from base to tip, which must be its descendant."""
        joints, link = list[UrdfJoint](), tip
        while link != base:
            if link not in self.above:
                raise UrdfError(
                    f"{tip!r} is not below {base!r}",
                    remedy=f"choose a base between {self.tree.root!r} and {tip!r}",
                )
            joints.append(self.above[link])
            link = joints[-1].parent
        return joints[::-1]

    def leaves(self, links: list[str]) -> list[str]:
        """Return the links without children."""
        return [link for link in links if not self.below[link]]

    def body_root(self, link: str) -> str:
        """Return the topmost link of the rigid body of a link."""
        while link in self.above and self.above[link].kind == "fixed":
            link = self.above[link].parent
        return link


@dataclass(frozen=True)
class ArmChain:
    """Joints from base to tip."""

    links: LinkTree  # all of the URDF
    base: str  # name of the base link
    tip: str  # name of the tip link
    path: tuple[UrdfJoint, ...]  # all joints between them, including fixed ones
    hand: tuple[UrdfJoint, ...]  # moving joints on the tip's rigid body, such as fingers
    others: tuple[str, ...]  # names of the moving joints elsewhere, which are omitted
    chosen: bool  # whether the user named the tip

    @property
    def tree(self) -> UrdfTree:
        """The URDF."""
        return self.links.tree

    @property
    def moving(self) -> tuple[UrdfJoint, ...]:
        """The moving joints of the arm."""
        return tuple(joint for joint in self.path if joint.kind in MOVING)


def _only_drawn(tree: UrdfTree) -> set[str]:
    """Return the joints of drawn bars: mimic joints to links that are seen but do not collide."""
    real, seen = set(tree.links_with("collision")), set(tree.links_with("visual"))
    drawn = set[str]()
    for joint in reversed(tree.joints):  # all that is below a joint comes before it
        if joint.child in real or joint.mimic is None:
            real.add(joint.parent)
        elif joint.child in seen:
            drawn.add(joint.name)
            seen.add(joint.parent)
    return drawn


def find_chain(tree: UrdfTree, base: str = "", tip: str = "") -> ArmChain:
    """Find the arm from a base link, by default the root, to a tip.

    The tip is by default the only end of the arm, which may carry a hand there.

    Raises:
        UrdfError: no such link, no path, several ends, or a joint on the path that is neither
            revolute nor prismatic.
    """
    for link in filter(None, (base, tip)):
        if link not in tree.links:
            near = difflib.get_close_matches(link, tree.links, MAX_SHOWN, 0.0)
            raise UrdfError(f"there is no link {link!r}", remedy=did_you_mean(link, near))
    links = LinkTree(tree)
    base = base or tree.root
    end = tip or _end(links, base)
    path = links.path(base, end)
    for joint in path:
        _check(joint, tree, path)
    moving = [joint for joint in path if joint.kind in MOVING]
    if not moving:
        raise UrdfError(f"no joint moves between {base!r} and {end!r}", remedy="name another tip")
    hand = links.moving_joints(links.body_root(end))
    if any(links.moving_joints(joint.child) for joint in hand):
        hand = []
    used = {joint.name for joint in (*path, *hand)}
    used |= links.drawn
    others = [j.name for j in tree.joints if j.kind != "fixed" and j.name not in used]
    return ArmChain(links, base, end, tuple(path), tuple(hand), tuple(others), bool(tip))


def zero_pose(path: tuple[UrdfJoint, ...], until: UrdfJoint | None = None) -> Matrix:
    """Return the pose (4, 4) of a joint on a path, or of its end, with every joint at 0."""
    T: Matrix = np.eye(4)
    for joint in path:
        T = T @ joint.origin.matrix
        if joint is until:
            break
    return T


def followed(
    joints: Iterable[UrdfJoint], tree: UrdfTree, names: Mapping[str, str]
) -> LinearExpression:
    """Return the position of coincident joints, as a sum of those they follow, by new name."""
    total = LinearExpression(0.0)
    for leader, ratio, offset in map(tree.drive_of, joints):
        term = ((names.get(leader.name, ""), ratio),)
        total = total.plus(LinearExpression(offset, term))
    return total


def _check(joint: UrdfJoint, tree: UrdfTree, path: Sequence[UrdfJoint]) -> None:
    for one in (joint, tree.drive_of(joint).leader):
        if one.name in tree.faults:
            raise tree.faults[one.name]
    if joint.kind in ("floating", "planar"):
        problem = f"joint {joint.name!r} on the path is {joint.kind}"
        raise UrdfError(problem, remedy=f"start after it: --base {joint.child}")
    leader, ratio, _ = tree.drive_of(joint)
    if joint.mimic and (leader not in path or ratio == 0.0):
        raise UrdfError(
            f"joint {joint.name!r} on the path mimics {leader.name!r}, "
            + ("but does not move with it" if leader in path else "which is not on the path"),
            remedy="exclude it with --tip or --base",
        )


def _end(links: LinkTree, base: str) -> str:
    """Return the tip of an arm with a single end; the fingers of a hand are not ends."""
    link = base
    while onward := links.moving_joints(link):
        last = link != base and not any(links.moving_joints(joint.child) for joint in onward)
        # A single joint that closes a gripper can be recognised only by its names.
        names = f"{onward[0].name} {onward[0].child}".lower()
        if last and (len(onward) > 1 or any(word in names for word in JAW_WORDS)):
            break
        if len(onward) > 1:
            raise _several_ends(links, link, f"the arm branches after {link!r}")
        link = onward[0].child
    body = links.links(link, rigid=True)
    leaves = links.leaves(body) or body[-1:]
    tools = [leaf for leaf in leaves if leaf.endswith(TOOL)] or leaves
    if len(tools) > 1:
        raise _several_ends(links, link, f"the arm ends at {link!r} with several frames")
    return tools[0]


def _several_ends(links: LinkTree, link: str, problem: str) -> UrdfError:
    def depth(end: str) -> int:
        return sum(joint.kind != "fixed" for joint in links.path(links.tree.root, end))

    ends = sorted(links.leaves(links.links(link)), key=depth, reverse=True)
    return UrdfError(problem, remedy=f"choose the tip with --tip, for example {shortened(ends)}")


def shortened(names: Sequence[str]) -> str:
    """Return the first names of a list as text."""
    return ", ".join(names[:MAX_SHOWN]) + (", ..." if len(names) > MAX_SHOWN else "")


TOLERANCE = 1e-9


@dataclass(frozen=True)
class Hand:
    """Tool and gripper at the end of the arm."""

    tool: Matrix  # (4, 4) base <- tool0 with every joint at 0
    gripper: Gripper | None = None  # if there is one that fits
    note: str = ""  # why there is no gripper, or where tool0 is; "" if there is nothing to report


def find_hand(chain: ArmChain) -> Hand:
    """Find the tool and the gripper of an arm."""
    tool = zero_pose(chain.path)
    if not chain.hand:
        return Hand(tool)

    def omitted(problem: str) -> Hand:
        return Hand(tool, note=f"the gripper is omitted: {problem}")

    faults, links = chain.tree.faults, chain.links
    problems = [str(faults[joint.name]) for joint in chain.hand if joint.name in faults]
    if problem := next(iter(problems), "") or _misfit(chain.hand):
        return omitted(problem)
    paths = [(*links.path(chain.base, joint.parent), joint) for joint in chain.hand]
    frames = [zero_pose(path) for path in paths]
    axes = [T[:3, :3] @ joint.axis for T, joint in zip(frames, chain.hand, strict=True)]
    distance = float(np.linalg.norm(frames[0][:3, 3] - frames[1][:3, 3]))
    if distance > TOLERANCE or float(axes[0] @ axes[1]) > TOLERANCE - 1.0:
        return omitted("its fingers do not close onto one point")
    point, note = frames[0][:3, 3], ""
    if not chain.chosen and chain.tip == chain.hand[0].parent:
        tool = _grasp(tool, point, axes[0])
        note = "tool0 is where the fingers meet, with y along their opening"
    right = 0 if float(axes[0] @ tool[:3, 1]) > 0.0 else 1
    offset = float(np.linalg.norm(np.cross(point - tool[:3, 3], tool[:3, 2])))
    if float(axes[right] @ tool[:3, 1]) < 1.0 - TOLERANCE or offset > TOLERANCE:
        return omitted(f"its fingers do not open along y of {chain.tip} from its z axis")
    return Hand(tool, _gripper(chain.hand, right), note)


def _misfit(fingers: tuple[UrdfJoint, ...]) -> str:
    names = ", ".join(joint.name for joint in fingers)
    if len(fingers) != 2 or any(joint.kind != "prismatic" for joint in fingers):
        turns = any(joint.kind in ("revolute", "continuous") for joint in fingers)
        claw = "; measure its jaws and write them into the file as gripper.claw" if turns else ""
        return f"it must have two prismatic fingers, not {names}{claw}"
    free = [joint for joint in fingers if joint.mimic is None]
    mimics = [joint.mimic for joint in fingers if joint.mimic]
    if not free or any(
        (m.joint, m.multiplier, m.offset) != (free[0].name, 1.0, 0.0) for m in mimics
    ):
        return f"{names} do not move by the same amount"
    limits = [joint.limit for joint in fingers if joint.limit]
    one, other = limits[0], limits[-1]
    if (one.lower, one.upper) != (other.lower, other.upper) or not 0.0 <= one.lower < one.upper:
        return f"the limits of {names} must be equal and not negative"
    return ""


def _grasp(parent: Matrix, point: Matrix, axis: Matrix) -> Matrix:
    """Return the grasp frame: y along the opening, z as close as possible to the parent's z."""
    y = axis if float(axis @ parent[:3, 1]) > -TOLERANCE else -axis
    z = parent[:3, 2] if abs(float(axis @ parent[:3, 2])) < 0.9 else parent[:3, 0]
    x = np.cross(y, z)
    x /= np.linalg.norm(x)
    return pose(np.column_stack((x, y, np.cross(x, y))), point)


def _gripper(fingers: tuple[UrdfJoint, ...], right: int) -> Gripper:
    limit = fingers[0].limit
    assert limit is not None  # the reader rejects prismatic joints without
    limits = [joint.limit for joint in fingers if joint.limit]
    widest = 2.0 * limit.upper
    velocity = 2.0 * min((one.velocity for one in limits if one.velocity > 0.0), default=0.05)
    effort = min((one.effort for one in limits if one.effort > 0.0), default=DEFAULT_FORCE)
    return Gripper(
        joints=(fingers[1 - right].name, fingers[right].name),
        min_width=2.0 * limit.lower,
        max_width=widest,
        velocity=velocity,
        acceleration=4.0 * velocity,
        effort=effort,
        finger=default_finger(widest),
        palm=default_palm(widest),
        source="widths and speed from the URDF, shape in proportion",
    )
