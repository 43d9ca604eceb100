# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""The path between two links of a URDF, and the parts of the chain along it."""

from __future__ import annotations

import logging
import math
from functools import lru_cache
from pathlib import Path

import numpy as np
from arm_common.transforms import Array, inverse
from arm_description.errors import UrdfError
from arm_description.urdf.elements import MOVING, NO_EFFORT, Drive, Step, UrdfJoint, driving_range
from arm_description.urdf.file import read_urdf_file
from arm_description.urdf.reader import UrdfTree, read_urdf

from arm_kinematics.errors import KinematicsError
from arm_kinematics.model.chain_model import ChainJoint, ChainLink, MimicJoints, Parts, screw_of
from arm_kinematics.model.lie import se3_exp

_ROUNDING = 1e-9  # of limits [rad or m]
_LOGGER = logging.getLogger(__name__)


def urdf_tree(xml: str | Path | UrdfTree) -> UrdfTree:
    """Return the tree of a URDF, given as text, path or tree, or raise KinematicsError.

    Faults of single joints are kept in the tree: only chains through these joints are refused.
    """
    if isinstance(xml, UrdfTree):
        return xml
    is_name = isinstance(xml, str) and bool(xml.strip()) and not {"<", "\n"} & set(xml)
    file = Path(xml) if is_name or isinstance(xml, Path) else None
    try:
        return read_urdf(read_urdf_file(file) if file else str(xml or ""), tolerant=True)
    except UrdfError as error:
        place = f"{xml}: " if file and not error.file else ""
        raise KinematicsError(f"{place}{error}", what="urdf") from None


@lru_cache(maxsize=1024)
def log_once(robot: str, sentence: str) -> None:
    """Log a fault of a robot description."""
    _LOGGER.warning("robot '%s': %s", robot, sentence)


def fault_sentences(tree: UrdfTree) -> list[str]:
    """Return one sentence for each joint with a fault."""
    return [f"{fault}; chains through this joint are refused" for fault in tree.faults.values()]


def path(tree: UrdfTree, base: str, tip: str) -> list[Step]:
    """Return the joints between two links: inwards to their common link, then outwards."""
    for link in (base, tip):
        if link not in tree.links:
            raise KinematicsError(
                f"link '{link}' is not in the robot description '{tree.name}'; its links are "
                f"{', '.join(tree.links)}",
                what="link",
                value=link,
            )
    inward, outward = _to_root(tree, base), _to_root(tree, tip)
    while inward and outward and inward[-1] is outward[-1]:
        inward.pop()
        outward.pop()
    return [*(Step(j, True) for j in inward), *(Step(j, False) for j in reversed(outward))]


def _to_root(tree: UrdfTree, link: str) -> list[UrdfJoint]:
    joints: list[UrdfJoint] = []
    for joint in reversed(tree.joints):  # a joint comes after the one that carries it
        if joint.child == link:
            joints.append(joint)
            link = joint.parent
    return joints


def parts_between(tree: UrdfTree, base: str, tip: str) -> Parts:
    """Return the parts of the chain between two links; KinematicsError if there is none."""
    return _Builder(tree, base, tip).parts()


class _Builder:
    """Follows a path and collects its screws, leaders and links."""

    def __init__(self, tree: UrdfTree, base: str, tip: str) -> None:
        self._tree, self._base, self._tip = tree, base, tip
        self._pose = np.eye(4)
        self._screws: list[Array] = []
        self._driven: list[tuple[UrdfJoint, Drive]] = []
        self._links = [ChainLink(base, 0, self._pose)]
        for step in path(tree, base, tip):
            self._add(step)

    def _add(self, step: Step) -> None:
        """Add one joint, with all independent joints at 0."""
        joint = step.joint
        for one in (joint, self._tree.drive_of(joint).leader):
            if one.name in self._tree.faults:
                raise KinematicsError(str(self._tree.faults[one.name]), what=one.name)
        if not step.inward:
            self._pose = self._pose @ joint.origin.matrix
        if joint.kind in MOVING:
            self._move(step)
        elif joint.kind != "fixed":
            raise KinematicsError(
                f"joint '{joint.name}' between '{self._base}' and '{self._tip}' is {joint.kind}; "
                f"a chain has only {', '.join(MOVING)} and fixed joints",
                what=joint.name,
                value=joint.kind,
            )
        if step.inward:
            self._pose = self._pose @ inverse(joint.origin.matrix)
        self._links.append(ChainLink(step.link, len(self._screws), self._pose))

    def _move(self, step: Step) -> None:
        drive = self._tree.drive_of(step.joint)
        sliding = step.joint.kind == "prismatic"
        axis = np.array(step.joint.axis) * (-1.0 if step.inward else 1.0)
        screw = screw_of(self._pose, axis, sliding)
        if drive.ratio != 0.0:
            self._screws.append(screw)
            self._driven.append((step.joint, drive))
        if drive.offset != 0.0:
            self._pose = se3_exp(screw * drive.offset) @ self._pose

    def parts(self) -> Parts:
        """Return the collected parts."""
        if not self._screws:
            raise KinematicsError(
                f"no joint moves between '{self._base}' and '{self._tip}'; choose another tip",
                what=self._tip,
            )
        moving, drives = zip(*self._driven, strict=True)
        own = [joint.name for joint in moving if joint.mimic is None]
        leaders = list(dict.fromkeys((*own, *(drive.leader.name for drive in drives))))
        joints = [self._joint(name) for name in leaders]
        gearing = None
        if any(joint.mimic is not None for joint in moving):
            gearing = MimicJoints(
                [leaders.index(drive.leader.name) for drive in drives],
                [drive.ratio for drive in drives],
                [joint.kind == "prismatic" for joint in moving],
                [joint.name for joint in moving],
            )
        return Parts(
            np.transpose(self._screws),
            self._pose,
            joints,
            self._links,
            gearing,
            self._tree.constraints,
        )

    def _joint(self, name: str) -> ChainJoint:
        """Return a joint with limits that keep it and its followers on the path inside theirs."""
        driven = [(joint, drive) for joint, drive in self._driven if drive.leader.name == name]
        leader = driven[0][1].leader
        followers = [(joint, drive) for joint, drive in driven if joint is not leader]
        (lower, upper, velocity), problem = driving_range(leader, followers)
        if problem:
            remedy = "correct their limits or the multiplier"
            if lower > upper + _ROUNDING:
                raise KinematicsError(f"{problem}; {remedy}", what=name)
            upper = max(lower, upper)
            log_once(self._tree.name, f"{problem}, so it stays at {lower:g}; {remedy}")
        effort = leader.limit.effort if leader.limit else 0.0
        effort = math.inf if effort in (0.0, NO_EFFORT) else effort
        slides = leader.kind == "prismatic"
        return ChainJoint(name, slides, lower, upper, velocity, effort=effort)
