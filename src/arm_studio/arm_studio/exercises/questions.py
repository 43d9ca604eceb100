# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
# Tests: src/arm_studio/test/exercises/test_grading.py
"""The questions of a sheet: what is asked, the right numbers, and how near an answer must be.

All numbers of a question are in the units of the robot's file.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Literal, TypeAlias

import numpy as np
from arm_common.transforms import Array
from arm_description.model.units import Units

from arm_studio.derivation import dh_table
from arm_studio.exercises.variants import Variant

Group: TypeAlias = Literal["row", "column", "all"]

# What an answer may differ by: of angles and numbers absolute, of lengths by the reach.
ANGLE = math.radians(0.5)
NUMBER = 0.005
LENGTH = 0.003
ROUGH_LENGTH = 0.01  # of a distance that a search finds
COLUMNS = tuple(dh_table.COLUMNS["standard"])  # of both conventions


@dataclass(frozen=True)
class Part:
    """Numbers of an answer, as a table.

    Attributes:
        right: The right numbers (r, c).
        tolerance: How far from them an answer may be (r, c).
        angles: Which of them are angles, of which whole turns do not count (r, c).
        lengths: Which of them are lengths, or lengths by radian (r, c).
        turn: A whole turn in the unit of the angles.
        group: What counts as one: a row, a column, or all.
        any_order: Whether the rows may be in any order, and be more or fewer.
        names: Of the columns.
    """

    right: Array
    tolerance: Array
    angles: Array
    lengths: Array
    turn: float
    group: Group = "all"
    any_order: bool = False
    names: tuple[str, ...] = ()

    def fits(self, answer: Array, right: Array) -> Array:
        """Return a mask of the numbers of an answer that agree with the right ones."""
        gap, rows = answer - right, len(answer)
        turned = np.where(self.angles[:rows], gap - self.turn * np.round(gap / self.turn), gap)
        return np.asarray(np.abs(turned) <= self.tolerance[:rows])

    def score(self, answer: Array, right: Array) -> float:
        """Return the fraction of an answer that agrees with the right one, from 0 to 1."""
        if self.any_order:
            count = len(self.pairs(answer, right))
            return max(0.0, (2 * count - len(answer)) / len(right)) if len(right) else 0.0
        fits = self.fits(answer, right)
        if self.group == "all":
            return float(fits.all())
        return float(fits.all(axis=1 if self.group == "row" else 0).mean())

    def pairs(self, answer: Array, right: Array) -> dict[int, int]:
        """Return the right row for each row of an answer that agrees; each is used once."""
        pairs: dict[int, int] = {}
        for i in range(len(answer)):
            row = answer[i : i + 1]
            for k in range(len(right)):
                if k not in pairs.values() and self.fits(row, right[k : k + 1]).all():
                    pairs[i] = k
                    break
        return pairs


@dataclass(frozen=True)
class Question:
    """One question of a variant.

    Attributes:
        key: Of its answer in a file.
        title: Heading on the sheet.
        parts: Of its answer, by name; "" if it has one.
    """

    key: str
    title: str
    parts: Mapping[str, Part]


class PartMaker:
    """Makes the parts of one variant's answers.

    Args:
        variant: The variant.
    """

    def __init__(self, variant: Variant) -> None:
        self._units: Units = variant.model.units
        self.largest, self.smallest = variant.distances
        self.kinds = [joint.type for joint in variant.model.joints]

    def part(
        self, right: Array, kinds: Array, group: Group = "all", names: tuple[str, ...] = ()
    ) -> Part:
        """Return a part of numbers in metres and radians; ``kinds`` says what each is."""
        kinds = np.broadcast_to(kinds, right.shape)
        angles, lengths = kinds == "revolute", kinds == "prismatic"
        scale = np.ones(right.shape)
        scale[angles] = self._units.written(1.0, "revolute")
        scale[lengths] = self._units.written(1.0, "prismatic")
        tolerance = np.where(lengths, LENGTH * self.largest, np.where(angles, ANGLE, NUMBER))
        turn = self._units.written(math.tau, "revolute")
        return Part(right * scale, tolerance * scale, angles, lengths, turn, group, names=names)


def _dh_table(variant: Variant, make: PartMaker) -> Question:
    kinds = np.array(["prismatic" if name in dh_table.LENGTHS else "revolute" for name in COLUMNS])
    rows = [[getattr(j.row, name) for name in COLUMNS] for j in variant.model.rows]
    part = make.part(np.array(rows), kinds, "row", COLUMNS)
    return Question("dh_table", "The DH table", {"": part})


def _fk(variant: Variant, make: PartMaker) -> Question:
    return Question("fk", "Forward kinematics", fk_parts(make, variant.chain.fk(variant.q)))


def fk_parts(make: PartMaker, T: Array) -> dict[str, Part]:
    """Return the parts of a pose (4, 4) [m]."""
    return {
        "position": make.part(T[None, :3, 3], np.array("prismatic"), names=("x", "y", "z")),
        "rotation": make.part(T[:3, :3], np.array("number"), names=("x", "y", "z")),
    }


def _ik(variant: Variant, make: PartMaker) -> Question:
    order = np.lexsort(np.round(variant.solutions, 4).T[::-1])
    names = variant.model.joint_names
    part = make.part(variant.solutions[order], np.array(make.kinds), "row", names)
    return Question("ik", "Inverse kinematics", {"": replace(part, any_order=True)})


def _singular(variant: Variant, make: PartMaker) -> Question | None:
    if variant.singular is None:
        return None
    joint, positions = variant.singular.joint, variant.singular.positions
    name = variant.model.joint_names[joint]
    part = make.part(positions[:, None], np.array(make.kinds[joint]), "row", (name,))
    return Question("singular", "Singular postures", {"": replace(part, any_order=True)})


def _jacobian(variant: Variant, make: PartMaker) -> Question:
    part = jacobian_part(make, variant.chain.jacobian(variant.q), variant.model.joint_names)
    return Question("jacobian", "The geometric Jacobian", {"": part})


def jacobian_part(make: PartMaker, J: Array, names: tuple[str, ...]) -> Part:
    """Return the part of a Jacobian (6, n) [m, rad]; the lengths are those of turning joints."""
    kinds = np.full(J.shape, "number", dtype="U9")
    kinds[:3, [kind == "revolute" for kind in make.kinds]] = "prismatic"
    return make.part(J, kinds, "column", names)


def _workspace(variant: Variant, make: PartMaker) -> Question:
    parts = {}
    for name, distance in (("largest", make.largest), ("smallest", make.smallest)):
        part = make.part(np.array([[distance]]), np.array("prismatic"))
        parts[name] = replace(part, tolerance=part.tolerance * ROUGH_LENGTH / LENGTH)
    return Question("workspace", "Workspace", parts)


_MAKERS: tuple[Callable[[Variant, PartMaker], Question | None], ...] = (
    _dh_table,
    _fk,
    _ik,
    _singular,
    _jacobian,
    _workspace,
)


def questions_of(variant: Variant) -> dict[str, Question]:
    """Return the questions of a variant by key, in the order of the sheet."""
    make = PartMaker(variant)
    made = (maker(variant, make) for maker in _MAKERS)
    return {question.key: question for question in made if question is not None}
