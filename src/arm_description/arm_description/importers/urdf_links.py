# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
# Tests: src/arm_description/test/importers/test_urdf.py
"""What the links of a table made of a URDF have beside its rows: masses, and bars of linkages.

What is rigidly connected counts as one link: fixed side links, and branches that the arm does not
move, at 0 or their nearest limit. Each link of the model has a mass of its own, 0 where the URDF
has none, so that nothing is estimated beside it.

Bars are branches of mimic joints that are seen but do not collide. A bar of `urdf.optional.bars`
is three turns on parallel axes, each by the same sum of joints: of its lever, back of the bar,
forth again of the other lever.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from arm_common.transforms import Array, Matrix, inverse, pose

from arm_description.errors import UrdfError
from arm_description.importers.urdf_structure import ArmChain, followed, zero_pose
from arm_description.model.elements import NO_MOTION, Bar, LinkMass, mimic_names
from arm_description.robot_model import RobotModel
from arm_description.urdf.assembly import assemble
from arm_description.urdf.bodies import INERTIA, MASS, MOMENT, PARENT, Bodies, bodies_of_urdf
from arm_description.urdf.elements import UrdfJoint
from arm_description.urdf.kinematics import link_poses
from arm_description.urdf.optional.bars import ENDS, bar_parts, lever_terms

_ROUNDING = 1e-14  # of a number of size 1


class ImportedMasses:
    """The masses of a URDF, by the links of a model.

    Args:
        chain: the arm in it; base and tip are base_link and tool0 of the model.
        joints: names of its independent joints, those of the fingers among them.
        links: link of the model that each joint moves, by the joint's name in the URDF.

    Attributes:
        problem: a sentence if the URDF has no masses that can be used, else "".
        bodies: the bodies of the URDF; None with a problem.
    """

    def __init__(self, chain: ArmChain, joints: Sequence[str], links: Mapping[str, str]) -> None:
        self._links, self.problem = links, ""
        self.bodies: Bodies | None = None
        try:
            self.bodies = bodies_of_urdf(chain.tree, chain.base, chain.tip, joints)
        except UrdfError as error:
            self.problem = f"the masses, as {error}: they are estimated from the skeleton"
            return
        if not self.bodies.mass > 0.0:
            self.problem = "the URDF has no masses: they are estimated from the skeleton"
            self.bodies = None

    def link_of(self, body: int) -> str:
        """Return the link of the model that a body of the URDF counts with; -1 is the base."""
        while self.bodies is not None and body >= 0:
            joint = self.bodies.joints[body]
            if joint in self._links:
                return self._links[joint]
            body = int(self.bodies.table[body, PARENT])
        return "base_link"

    def driven(self) -> list[str]:
        """Return the joints beside the arm that it drives, whose bodies count as if at rest."""
        return [j for j in (self.bodies.joints if self.bodies else ()) if j not in self._links]

    def masses(self, model: RobotModel) -> Mapping[str, LinkMass]:
        """Return the masses of the links of a model that has none yet."""
        if self.bodies is None:
            return {}
        parts, bars = assemble(model, ""), bar_parts(model)
        homes = link_poses(parts.links[0].name, (*parts.joints, *bars.joints), {})
        links = (*parts.links[1:], *bars.links)
        heavy = [link.name for link in links if link.shapes and link.has_inertia]
        rows = {name: np.zeros((4, 4)) for name in heavy}
        for body, (row, frame) in enumerate(
            zip(self.bodies.table, self.bodies.frames, strict=True)
        ):
            if (link := self.link_of(body)) in rows:
                rows[link] += _moved(_second_moments(row), inverse(homes[link]) @ frame)
        return {name: _link_mass(moments) for name, moments in rows.items()}


def _second_moments(row: Array) -> Matrix:
    """Return the integral of [x, y, z, 1] [x, y, z, 1]' over the mass of a body (4, 4)."""
    xx, xy, xz, yy, yz, zz = row[INERTIA : INERTIA + 6]
    moments = np.empty((4, 4))
    tensor = np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
    moments[:3, :3] = 0.5 * tensor.trace() * np.eye(3) - tensor
    moments[3, :3] = moments[:3, 3] = row[MOMENT:INERTIA]
    moments[3, 3] = row[MASS]
    return moments


def _moved(moments: Matrix, T: Matrix) -> Matrix:
    """Return second moments (4, 4) in another frame; T is that frame <- theirs."""
    moved: Matrix = T @ moments @ T.T
    return moved


def _link_mass(moments: Matrix) -> LinkMass:
    mass = float(moments[3, 3])
    if not moments.any():
        return LinkMass(0.0)
    centre = moments[:3, 3] / mass if mass else np.zeros(3)
    about = _moved(moments, pose(p=-centre))[:3, :3]
    tensor = about.trace() * np.eye(3) - about
    x, y, z = (_tidy(value, 1.0) for value in centre)
    size = float(np.abs(tensor).max())
    return LinkMass(mass, (x, y, z), tuple(_tidy(v, size) for v in tensor[np.triu_indices(3)]))


def _tidy(value: float, size: float) -> float:
    """Return a number without the rounding errors of numbers of a size."""
    return float(f"{value:.13g}") if abs(value) > _ROUNDING * size else 0.0


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
    branches, bars = _Branches(chain, model, names), []
    for first in tree.joints:
        if first.name not in drawn or first.parent not in {joint.child for joint in chain.path}:
            continue
        joints = [first]
        while joint := below.get(joints[-1].child):
            joints.append(joint)
        if bar := branches.bar(joints):
            bars.append(bar)
    return bars


class _Branches:
    """The branches of drawn joints beside an arm; the arguments are those of `find_bars`."""

    def __init__(self, chain: ArmChain, model: RobotModel, names: Mapping[str, str]) -> None:
        self.chain, self.model, self.names = chain, model, names

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
