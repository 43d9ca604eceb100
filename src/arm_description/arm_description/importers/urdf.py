# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Import a URDF as a RobotModel: a DH table with the same joints, zeros, signs and limits."""

from __future__ import annotations

import logging
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from types import MappingProxyType

import numpy as np
from arm_common.transforms import Matrix

from arm_description.errors import DescriptionError, UrdfError
from arm_description.importers import urdf_report
from arm_description.importers.urdf_limits import (
    constrained,
    joint_type,
    limited_joint,
    lost_limits,
)
from arm_description.importers.urdf_links import ImportedBar, ImportedMasses, find_bars
from arm_description.importers.urdf_structure import (
    ArmChain,
    Hand,
    find_chain,
    find_hand,
    followed,
    zero_pose,
)
from arm_description.library import URDF2DH
from arm_description.model.dh_from_axes import (
    MAX_LINK,
    ROUNDING,
    AxisLine,
    AxisTolerances,
    DhTable,
    NearlyParallelError,
    dh_from_axes,
)
from arm_description.model.elements import (
    Convention,
    DependentJoint,
    DhRow,
    Joint,
    dependent_joint,
    mimic_names,
)
from arm_description.model.units import SI
from arm_description.robot_file.joints import name_owner
from arm_description.robot_file.reader import parse_robot
from arm_description.robot_file.writer import robot_yaml
from arm_description.robot_model import RobotModel
from arm_description.urdf.elements import MOVING, UrdfJoint
from arm_description.urdf.file import read_urdf_file
from arm_description.urdf.kinematics import link_poses
from arm_description.urdf.reader import read_urdf

_LOGGER = logging.getLogger(__name__)
_SAME = 1e-9  # [m or -], of a table that is exact
_EXACT = 1e-14  # axes within this angle are parallel, where axes are written in place of rows
# Exceeds the error of pi/2 written with five decimals [rad].
PARALLEL = 1e-5
SAMPLES = 100


@dataclass(frozen=True)
class UrdfImport:
    """A model from a URDF, and its deviation from it."""

    model: RobotModel
    notes: tuple[str, ...]  # remarks for the user, in sentences
    # largest deviation of any element of the tool pose from the URDF's, at SAMPLES random
    # positions within the limits [m or -]
    error: float

    @property
    def losses(self) -> tuple[str, ...]:
        """The remarks without path and deviation, which come first, and without new links."""
        return tuple(note for note in self.notes[2:] if not note.startswith(urdf_report.NEW_LINK))


def import_urdf(
    text: str,
    convention: Convention = "standard",
    base: str = "",
    tip: str = "",
    *,
    parallel: float = PARALLEL,
    max_length: float = SI.max_length,
    name: str = "",
    file: str = "",
) -> UrdfImport:
    """Compute the DH table of an arm from its URDF.

    Masses and inertias are carried over. What is not is in the notes, as is each new name.

    Args:
        text: the URDF.
        convention: DH convention of the table; axes that are nearly parallel are written as axes
            and points in place of it, by `robot_yaml`.
        base: link that becomes base_link, by default the root.
        tip: link that becomes tool0, by default the only end of the arm.
        parallel: axes within this angle count as parallel [rad].
        max_length: joints that are farther apart mean a mistaken unit [m].
        name: name of the robot, by default that of the URDF.
        file: origin of the text, for the source of the model.

    Raises:
        DescriptionError: not a URDF, not a single arm, or not representable by a robot file.
    """
    tree = read_urdf(text, tolerant=True)
    chain = find_chain(tree, base, tip)
    _check_distances(chain, max_length)
    hand = find_hand(chain)
    if not hand.gripper:
        beside = (*chain.others, *(joint.name for joint in chain.hand))
        chain = replace(chain, hand=(), others=beside)
    rows = _rows(chain)
    arm = _ImportedArm(chain, hand, rows, max_length)
    table, note = arm.table(convention, parallel)
    model = arm.model(table, convention if not note else "standard")
    clean = urdf_report.clean_name(name or tree.name or "robot")
    model = replace(
        model,
        name=clean,
        postures={"rest": dict(zip(model.joint_names, model.rest.tolist(), strict=True))},
        description=f"{clean}, {model.n} joints, from its URDF",
        source=" ".join(f"{file or 'URDF'}, from {chain.base} to {chain.tip}".split()),
    )
    try:
        if model.is_tilted:  # its frames are those that its file is read as
            model = parse_robot(robot_yaml(model), clean)
        bars = find_bars(chain, model, arm.names)
        model = replace(model, bars=tuple(found.bar for found in bars))
        masses = arm.masses(bars)
        model = _with_bound(replace(model, masses=MappingProxyType(dict(masses.masses(model)))))
        robot_yaml(model)
    except DescriptionError as refused:
        problem = f"no robot file can hold this arm: {refused.problem}"
        raise UrdfError(problem, remedy=refused.remedy) from None
    error = _difference(model, chain, hand.tool)
    notes = (note, *table.notes, hand.note, lost_limits(model, tree, arm.names))
    return UrdfImport(model, tuple(_notes(arm, masses, model, notes, error)), error)


def load_urdf(path: Path) -> RobotModel:
    """Return the robot of a URDF or xacro file; log what is not carried over.

    It is the one that ``urdf2dh`` makes of it without options.

    Raises:
        UrdfError: it cannot be read, is not a single arm, or has no exact DH table.
    """
    by_hand = f"{URDF2DH} {path} -o {path.name.partition('.')[0] or 'arm'}.yaml"
    try:
        found = import_urdf(read_urdf_file(path), file=path.name)
    except UrdfError as error:
        remedy = f"{error.remedy}; {by_hand} has options" if error.remedy else f"see {by_hand}"
        raise UrdfError(error.problem, remedy=remedy, file=str(path)) from None
    if found.error > _SAME:
        problem = f"its DH table differs from it by {found.error:.1e} m or rad"
        raise UrdfError(problem, remedy=f"see {by_hand}", file=str(path))
    for note in found.losses:
        _LOGGER.warning("%s: %s", path, note)
    return found.model


def _check_distances(chain: ArmChain, longest: float) -> None:
    """Raise an error if joints that follow each other are too far apart for an arm in metres."""
    before, start = chain.base, np.zeros(3)
    T: Matrix = np.eye(4)
    for joint in chain.path:
        T = T @ joint.origin.matrix
        if joint.kind == "prismatic" and joint.limit:
            travel = max(map(abs, (joint.limit.lower, joint.limit.upper)))
            if travel > longest:
                raise _too_long(f"joint {joint.name!r} slides to {travel:.4g} m", travel)
        if joint.kind not in MOVING and joint is not chain.path[-1]:
            continue
        distance = float(np.linalg.norm(T[:3, 3] - start))
        if distance > longest:
            problem = f"joint {joint.name!r} is {distance:.4g} m from {before!r}"
            raise _too_long(problem, distance)
        before, start = joint.name, T[:3, 3]


def _too_long(problem: str, length: float) -> UrdfError:
    return UrdfError(
        f"{problem}, which looks like millimetres",
        remedy="give --scale 0.001 if it is in millimetres; if it is in metres, "
        f"--max-length {math.ceil(length)}",
    )


def _with_bound(model: RobotModel) -> RobotModel:
    """Return a model whose units allow its longest length."""
    lengths = [x for j in model.rows for x in (j.row.a, j.row.d)]
    lengths += [x for j in model.rows if j.type == "prismatic" for x in (j.lower, j.upper)]
    lengths += [*model.base.xyz, *model.tool.xyz]
    lengths += [x for mass in model.masses.values() for x in mass.centre or ()]
    longest = max(map(abs, lengths), default=0.0)
    if longest <= model.units.max_length:
        return model
    return replace(model, units=replace(model.units, max_length=float(math.ceil(longest))))


def _notes(
    arm: _ImportedArm,
    masses: ImportedMasses,
    model: RobotModel,
    found: Sequence[str],
    error: float,
) -> Iterator[str]:
    chain = arm.chain
    yield f"From {chain.base} to {chain.tip}: {', '.join(joint.name for joint in chain.moving)}."
    yield (
        f"The table differs from the URDF by at most {error:.1e} (m, or an element of the "
        f"rotation) at {SAMPLES} random positions."
    )
    for note in found:
        if note:
            yield f"{note[0].upper()}{note[1:]}."
    yield from (f"{doubt}." for doubt in (masses.bodies.doubts if masses.bodies else ()))
    yield from urdf_report.doubtful_units((*chain.moving, *chain.hand))
    yield from (f"Joint {j.name}: {j.source}." for j in model.rows if j.source)
    yield from urdf_report.renamed(arm.names, arm.links())
    lost = urdf_report.not_carried_over(chain, masses, arm.links())
    yield from (f"Not carried over: {text}." for text in lost)


def _rows(chain: ArmChain) -> list[list[UrdfJoint]]:
    """Return the joints of each row: one, or mimic joints of one kind on one axis at one point."""
    rows: list[list[UrdfJoint]] = []
    for joint in chain.moving:
        if rows and joint.mimic and (first := rows[-1][0]).mimic and first.kind == joint.kind:
            between = zero_pose(chain.path, joint) - zero_pose(chain.path, first)
            if np.abs(between).max() < ROUNDING and first.axis == joint.axis:
                rows[-1].append(joint)
                continue
        rows.append([joint])
    return rows


class _ImportedArm:
    """An arm of a URDF with the names and rows that its table has."""

    def __init__(
        self, chain: ArmChain, hand: Hand, rows: list[list[UrdfJoint]], max_length: float
    ) -> None:
        tree = self.tree = chain.tree
        self.chain, self._hand, self._rows = chain, hand, rows
        self._max_length = max_length
        self._fingers = chain.hand if hand.gripper else ()
        drives = {joint.name: tree.drive_of(joint) for joint in chain.moving}
        in_formulas = {d.leader.name for name, d in drives.items() if name != d.leader.name}
        in_formulas |= {name for one in tree.constraints for name in one.joints}
        names = [joint.name for joint in (*chain.moving, *self._fingers)]
        self.names = urdf_report.clean_names(names, in_formulas)

    def table(self, convention: Convention, parallel: float) -> tuple[DhTable, str]:
        """Return the table, and a sentence if nearly parallel axes make it one of axes."""
        axes = []
        for first, *_ in self._rows:
            T = zero_pose(self.chain.path, first)
            axes.append(AxisLine(first.name, T[:3, 3], T[:3, :3] @ first.axis))
        tool, longest = self._hand.tool, max(self._max_length, MAX_LINK)
        try:
            strict = AxisTolerances(parallel, max_link=longest)
            return dh_from_axes(axes, tool, convention, strict), ""
        except NearlyParallelError as error:
            if any(joint.mimic for joint in self.chain.moving):
                raise
            note = f"{error.problem}; the file has axes and points in place of rows"
        exact = AxisTolerances(_EXACT, max_link=10.0 * longest, tilted=True)
        return dh_from_axes(axes, tool, "standard", exact), f"{note} (convention: screws)"

    def model(self, table: DhTable, convention: Convention) -> RobotModel:
        """Return the arm of a table, without masses and texts."""
        joints, dependents = self._joints(table.rows)
        gripper = self._hand.gripper
        if gripper:
            left, right = (self.names[name] for name in gripper.joints)
            gripper = replace(gripper, joints=(left, right))
        return _with_bound(
            RobotModel(
                name="robot",
                convention=convention,
                joints=joints,
                dependents=dependents,
                base=table.base,
                tool=table.tool,
                gripper=gripper,
                units=replace(SI, max_length=self._max_length),
            )
        )

    def masses(self, bars: Sequence[ImportedBar]) -> ImportedMasses:
        """Return the masses by the links of the model."""
        free = [j.name for j in (*self.chain.moving, *self._fingers) if j.mimic is None]
        links = self._link_of_joint()
        for found in bars:
            links |= found.links
        return ImportedMasses(self.chain, free, links)

    def links(self) -> dict[str, str]:
        """Return the link of the model for each link of the URDF that it has."""
        found = {self.chain.base: "base_link"}
        moved = self._link_of_joint()
        joints = {joint.name: joint for joint in (*self.chain.moving, *self._fingers)}
        found |= {joints[name].child: link for name, link in moved.items()}
        if self._fingers:
            found.setdefault(self._fingers[0].parent, "gripper_link")
        found.setdefault(self.chain.tip, "tool0")
        return found

    def _link_of_joint(self) -> dict[str, str]:
        """Return the link of the model that each joint moves."""
        found = {joint.name: f"{self.names[joint.name]}_link" for joint in self._fingers}
        for joints in self._rows:
            name, terms = self._row_name(joints), followed(joints, self.tree, self.names).factors
            ends = [*mimic_names(name, terms)[:-1], name] if len(terms) == len(joints) else []
            for i, joint in enumerate(joints):
                found[joint.name] = f"{ends[i] if ends else name}_link"
        return found

    def _row_name(self, joints: Sequence[UrdfJoint]) -> str:
        """Return the name of a row: that of coincident mimic joints is their link's."""
        if len(joints) == 1:
            return self.names[joints[0].name]
        taken = [name for old, name in self.names.items() if old not in {j.name for j in joints}]
        name = urdf_report.clean_name(joints[-1].child.removesuffix("_link"))
        candidates = (name, *(self.names[joint.name] for joint in joints))
        return next(n for n in candidates if n not in taken and not name_owner(n))

    def _joints(
        self, table: tuple[DhRow, ...]
    ) -> tuple[tuple[Joint, ...], tuple[DependentJoint, ...]]:
        """Return the independent and the dependent joints of a table."""
        mimics = [joint for joints in self._rows for joint in joints if joint.mimic]
        drives = [(joint, self.tree.drive_of(joint)) for joint in mimics]
        independent = {}
        for (first, *_), row in zip(self._rows, table, strict=True):
            if first.mimic is None:
                followers = [drive for drive in drives if drive[1].leader is first]
                joint = replace(limited_joint(first, row, followers), name=self.names[first.name])
                independent[joint.name] = joint
        leaders = constrained(independent, self.tree, self.names)
        dependents = []
        for index, (joints, row) in enumerate(zip(self._rows, table, strict=True)):
            if joints[0].mimic is not None:
                dependents.append(self._dependent(joints, row, leaders, index))
        return tuple(leaders.values()), tuple(dependents)

    def _dependent(
        self, joints: Sequence[UrdfJoint], row: DhRow, leaders: Mapping[str, Joint], index: int
    ) -> DependentJoint:
        total, kind = followed(joints, self.tree, self.names), joint_type(joints[0])
        key = "d" if kind == "prismatic" else "theta"
        row = replace(row, **{key: getattr(row, key) + total.constant})
        name = self._row_name(joints)
        dependent = dependent_joint(name, kind, row, total.factors, leaders, index)
        efforts = [
            joint.limit.effort for joint in joints if joint.limit and joint.limit.effort > 0.0
        ]
        usual = [leaders[leader].effort for leader, _ in total.factors]
        if efforts and efforts != usual:
            dependent = replace(dependent, effort=min(efforts))
        return dependent


def _difference(model: RobotModel, chain: ArmChain, tool: Matrix) -> float:
    """Return the largest deviation of the tool pose at random positions; deterministic."""
    rng = np.random.default_rng(0)
    fixed = np.linalg.inv(zero_pose(chain.path)) @ tool
    worst = 0.0
    for q in rng.uniform(model.lower, model.upper, (SAMPLES, model.n)):
        free = [joint.name for joint in chain.moving if joint.mimic is None]
        values, drives = dict(zip(free, q, strict=True)), map(chain.tree.drive_of, chain.moving)
        for joint, (leader, ratio, offset) in zip(chain.moving, drives, strict=True):
            values[joint.name] = ratio * values[leader.name] + offset
        T = link_poses(chain.base, chain.path, values)[chain.tip]
        worst = max(worst, float(np.abs(T @ fixed - model.fk(q)).max()))
    return worst
