# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Find the bars of linkages in a URDF: branches of mimic joints that are seen but do not collide.

A bar of `urdf.optional.bars` is three turns on parallel axes, each by the same sum of joints: of
its lever, back of the bar, forth again of the other lever.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from arm_common.transforms import inverse

from arm_description.importers.urdf_structure import ArmChain, followed, zero_pose
from arm_description.model.elements import NO_MOTION, Bar, mimic_names
from arm_description.robot_model import RobotModel
from arm_description.urdf.assembly import assemble
from arm_description.urdf.elements import UrdfJoint
from arm_description.urdf.kinematics import link_poses
from arm_description.urdf.optional.bars import ENDS, lever_terms


@dataclass(frozen=True)
class ImportedBar:
    """A bar, and the link of the model that each of its joints in the URDF moves."""

    bar: Bar
    links: Mapping[str, str]


def find_bars(chain: ArmChain, model: RobotModel, names: Mapping[str, str]) -> list[ImportedBar]:
    """Return the bars beside an arm.

    Args:
        chain: the arm in its URDF.
        model: the table of the arm, without bars.
        names: name in the table of each joint of the arm.
    """
    drawn, tree = chain.links.drawn, chain.tree
    below = {joint.parent: joint for joint in tree.joints if joint.name in drawn}
    bars = []
    for first in tree.joints:
        if first.name not in drawn or first.parent not in {joint.child for joint in chain.path}:
            continue
        joints = [first]
        while joint := below.get(joints[-1].child):
            joints.append(joint)
        if bar := _Branches(chain, model, names).bar(joints):
            bars.append(bar)
    return bars


@dataclass(frozen=True)
class _Branches:
    """The branches of drawn joints beside an arm."""

    chain: ArmChain
    model: RobotModel
    names: Mapping[str, str]

    def bar(self, joints: Sequence[UrdfJoint]) -> ImportedBar | None:
        """Return the bar of some joints, from the arm outwards; None if they are none."""
        turns: list[list[UrdfJoint]] = []
        for joint in joints:
            if not turns or (joint.origin != NO_MOTION and len(turns) < len(ENDS)):
                turns.append([])
            turns[-1].append(joint)
        if len(turns) != len(ENDS):
            return None
        carrier = next(j for j in reversed(self.chain.path) if j.child == joints[0].parent)
        beside = self.names.get(carrier.name, "")
        name = turns[1][-1].child.removesuffix("_link")
        rows = [row.name for row in self.model.rows]
        if beside not in rows[:-1]:
            return None
        at = self._in_link(carrier, beside, turns[1][0].origin.xyz)
        sums = [dict(followed(turn, self.chain.tree, self.names).factors) for turn in turns]
        if sums[0] != sums[2] or sums[1] != {k: -v for k, v in sums[0].items()}:
            return None
        for levers in rows:
            bar = Bar(name, beside, levers, at)
            if levers != beside and dict(lever_terms(self.model, bar)) == sums[0]:
                return ImportedBar(bar, dict(self._links(bar, turns)))
        return None

    def _in_link(
        self, carrier: UrdfJoint, beside: str, xyz: tuple[float, float, float]
    ) -> tuple[float, float, float]:
        """Return a point of a link of the URDF in the frame of the model's link [m]."""
        path = self.chain.path
        home = zero_pose(path, carrier)
        parts = assemble(self.model, "")
        link = link_poses(parts.links[0].name, parts.joints, {})[f"{beside}_link"]
        x, y, z, _ = (inverse(link) @ home @ np.array([*xyz, 1.0])).round(12)
        return (float(x), float(y), float(z))

    def _links(self, bar: Bar, turns: Sequence[Sequence[UrdfJoint]]) -> Iterator[tuple[str, str]]:
        terms = lever_terms(self.model, bar)
        for end, joints in zip(ENDS, turns, strict=True):
            last = f"{bar.name}{end}"
            between = mimic_names(last, terms)[:-1]
            leaders = [self.names.get(self.chain.tree.drive_of(j).leader.name) for j in joints]
            exact = leaders == [name for name, _ in terms]
            for i, joint in enumerate(joints):
                yield joint.name, f"{(*between, last)[i] if exact else last}_link"
