# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
# Tests: src/arm_studio/test/exercises/test_grading.py
"""Common mistakes, and the answers that follow from them.

The other answers of a mistake are computed as a student would have, from an arm with one error in
its table or in its formulas; a mistake of units is undone before numbers are compared.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace

import numpy as np
from arm_common.transforms import Array, inverse
from arm_description.model.elements import NO_MOTION, Joint
from arm_description.model.units import ANGLES, LENGTHS, UNITS
from arm_description.robot_model import RobotModel
from arm_kinematics.chain.chain import Chain
from arm_kinematics.errors import KinematicsError

from arm_studio.exercises.questions import (
    COLUMNS,
    Part,
    PartMaker,
    Question,
    fk_parts,
    jacobian_part,
)
from arm_studio.exercises.variants import Variant


@dataclass(frozen=True)
class Mistake:
    """A mistake and the answer that follows from it.

    Attributes:
        name: Of the mistake, for a person; "" for the right answer in other units.
        rights: Its numbers by part, in the units of the file.
        angle, length: What one unit of the file is in the units of the answer.
    """

    name: str
    rights: Mapping[str, Array]
    angle: float = 1.0
    length: float = 1.0

    def score(self, parts: Mapping[str, Part], answer: Mapping[str, Array]) -> float:
        """Return the fraction of an answer that this mistake explains."""
        scores = []
        for name, part in parts.items():
            scale = np.where(part.lengths, self.length, np.where(part.angles, self.angle, 1.0))
            scale = scale[:1] if part.any_order else scale
            scores.append(part.score(answer[name] / scale, self.rights[name]))
        return sum(scores) / len(scores)


def mistakes(question: Question, variant: Variant) -> Iterator[Mistake]:
    """Yield the mistakes of a question, first alone, then with other units."""
    rights = {name: part.right for name, part in question.parts.items()}
    structural = _STRUCTURAL.get(question.key)
    plain = [Mistake("", rights), *(structural(question, variant) if structural else ())]
    yield from plain[1:]
    for one in plain:
        for name, angle, length in _units(variant):
            text = f"{one.name}, {name}" if one.name else name
            yield Mistake(text, one.rights, angle, length)


def _units(variant: Variant) -> Iterator[tuple[str, float, float]]:
    """Yield mistakes of units: name, and the units of the file in those of the answer."""
    units = variant.model.units
    for other, unit in UNITS.items():
        name = (
            f"{unit.plural} for {UNITS[units.angle if other in ANGLES else units.length].plural}"
        )
        if other in ANGLES and other != units.angle:
            yield name, unit.written(units.radians(1.0)), 1.0
        elif other in LENGTHS and other != units.length:
            yield name, 1.0, unit.written(units.metres(1.0))


def _other_convention(model: RobotModel) -> tuple[str, RobotModel]:
    """Return the mistake, and the arm with its table read in the other convention."""
    if model.convention == "standard":
        return "modified for standard convention", replace(model, convention="modified")
    return "standard for modified convention", replace(model, convention="standard")


def _wrong_arms(variant: Variant) -> Iterator[tuple[str, RobotModel]]:
    """Yield the name of an error in the table or its use, and the arm with it."""
    model = variant.model
    yield _other_convention(model)
    for name, rows in _alpha_signs(model):
        joints = tuple(
            _with_alpha(joint, -joint.row.alpha) if i in rows else joint
            for i, joint in enumerate(model.joints)
        )
        yield name, replace(model, joints=joints)
    if model.base != NO_MOTION:
        yield "base left out", replace(model, base=NO_MOTION)
    if model.tool != NO_MOTION:
        yield "tool left out", replace(model, tool=NO_MOTION)


def _alpha_signs(model: RobotModel) -> Iterator[tuple[str, list[int]]]:
    """Yield a mistake in the signs of alpha and its rows: all of them, then each alone."""
    signs = [i for i, joint in enumerate(model.joints) if abs(math.sin(joint.row.alpha)) > 1e-6]
    if len(signs) > 1:
        yield "wrong sign of alpha", signs
    for i in signs:
        yield f"wrong sign of alpha in row {i + 1}", [i]


def _with_alpha(joint: Joint, alpha: float) -> Joint:
    return replace(joint, row=replace(joint.row, alpha=alpha))


def _of_table(question: Question, variant: Variant) -> Iterator[Mistake]:
    right = question.parts[""].right
    for name, rows in _alpha_signs(variant.model):
        flipped = right.copy()
        flipped[rows, COLUMNS.index("alpha")] *= -1.0
        yield Mistake(name, {"": flipped})
    # In the modified convention a row has a and alpha of the link before it.
    shifted = right.copy()
    name, _ = _other_convention(variant.model)
    step = 1 if variant.model.convention == "standard" else -1
    shifted[:, 2:] = np.roll(right[:, 2:], step, axis=0)
    yield Mistake(name, {"": shifted})
    shifted = shifted.copy()
    shifted[0 if step == 1 else -1, 2:] = 0.0
    yield Mistake(name, {"": shifted})
    for step in (1, -1):
        yield Mistake("rows shifted", {"": np.roll(right, step, axis=0)})
    yield Mistake("a and d exchanged", {"": right[:, [0, 2, 1, 3]]})


def _of_pose(question: Question, variant: Variant) -> Iterator[Mistake]:
    make = PartMaker(variant)

    def mistake(name: str, T: Array) -> Mistake:
        return Mistake(name, {key: part.right for key, part in fk_parts(make, T).items()})

    T = variant.chain.fk(variant.q)
    turned = T.copy()
    turned[:3, :3] = T[:3, :3].T
    yield mistake("rotation transposed", turned)
    yield mistake("inverse of the pose", inverse(T))
    for name, model in _wrong_arms(variant):
        yield mistake(name, model.fk(variant.q))
    yield mistake(_taken(variant), variant.model.fk(_misread(variant)))


def _taken(variant: Variant) -> str:
    angle_unit = variant.model.units.angle
    other = next(unit for unit in ANGLES if unit != angle_unit)
    return f"{UNITS[angle_unit].plural} taken for {UNITS[other].plural}"


def _misread(variant: Variant) -> Array:
    """Return the posture (n,) with its angles read in the other unit of angles."""
    factor = math.degrees(1.0) if variant.model.units.angle == "deg" else math.radians(1.0)
    turns = np.array([joint.type == "revolute" for joint in variant.model.joints])
    return np.where(turns, variant.q * factor, variant.q)


def _of_solutions(question: Question, variant: Variant) -> Iterator[Mistake]:
    make = PartMaker(variant)
    for name, model in _wrong_arms(variant):
        try:
            result = Chain.from_model(model).all_solutions(variant.target, None, variant.mode)
        except KinematicsError:
            continue
        if result.ok:
            part = make.part(result.every_q, np.array(make.kinds), "row")
            yield Mistake(name, {"": part.right})


def _of_jacobian(question: Question, variant: Variant) -> Iterator[Mistake]:
    make, names = PartMaker(variant), variant.model.joint_names

    def mistake(name: str, J: Array) -> Mistake:
        return Mistake(name, {"": jacobian_part(make, J, names).right})

    right = question.parts[""].right
    T, J = variant.chain.fk_jacobian(variant.q)
    turned = np.vstack([T[:3, :3].T @ J[:3], T[:3, :3].T @ J[3:]])
    yield mistake("along the axes of the tool", turned)
    yield Mistake("angular velocity above the linear one", {"": np.roll(right, 3, axis=0)})
    for step in (1, -1):
        yield Mistake("columns shifted", {"": np.roll(right, step, axis=1)})
    for name, model in _wrong_arms(variant):
        yield mistake(name, Chain.from_model(model).jacobian(variant.q))
    by_angle = np.array([kind == "revolute" for kind in make.kinds])
    degrees = np.where(by_angle, right * math.radians(1.0), right)
    yield Mistake("derivatives by degrees for radians", {"": degrees})
    yield mistake(_taken(variant), variant.chain.jacobian(_misread(variant)))


def _of_workspace(question: Question, variant: Variant) -> Iterator[Mistake]:
    parts = question.parts
    exchanged = {"largest": parts["smallest"].right, "smallest": parts["largest"].right}
    yield Mistake("largest and smallest exchanged", exchanged)


_STRUCTURAL: Mapping[str, Callable[[Question, Variant], Iterator[Mistake]]] = {
    "dh_table": _of_table,
    "fk": _of_pose,
    "ik": _of_solutions,
    "jacobian": _of_jacobian,
    "workspace": _of_workspace,
}
