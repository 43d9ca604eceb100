# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
# Tests: src/arm_studio/test/derivation/test_inverse.py
"""Why an arm has no closed form: which of Pieper's conditions fail, and by how much."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise

import numpy as np
from arm_description.model.elements import DependentJoint
from arm_description.model.units import Units
from arm_description.robot_model import RobotModel
from arm_kinematics.chain.chain import Chain
from arm_kinematics.ik.closed_form import ScrewAxes, ScrewAxis, parallel

from arm_studio.derivation.document import DerivationPage

_SIX = 6


def write_reasons(page: DerivationPage, model: RobotModel, chain: Chain) -> None:
    """Append why the arm has no closed form, and how its inverse is found."""
    page.say(f"{model.name} has no closed form that is known here.")
    rows = [row.name for row in model.rows if isinstance(row, DependentJoint)]
    if chain.gearing is not None:
        page.say(
            f"Its rows follow one another ({', '.join(rows)}), so that a joint moves along more "
            "than one axis; the conditions below are for joints with an axis each."
        )
    elif chain.n > _SIX:
        page.say(
            f"It has {chain.n} joints, {chain.n - _SIX} more than a pose determines: "
            "there are infinitely many postures for a pose, which no list of formulas gives."
        )
    else:
        _write_conditions(page, ScrewAxes(chain.S, chain.M, chain.prismatic), model.units)
    page.say(
        "Its inverse is found by elimination (six turning joints) or by iteration from a seed, "
        "see docs/kinematics.md."
    )


def _write_conditions(page: DerivationPage, axes: ScrewAxes, units: Units) -> None:
    """Append the conditions that fail, for each three consecutive axes."""
    page.say(
        "By Pieper (1968) an arm has one if three consecutive axes meet in a point or are "
        "parallel; here they must be the first or the last ones to meet, or parallel ones with "
        "at most one joint before and two behind them."
    )
    triples = [axes.all[i : i + 3] for i in range(len(axes.all) - 2)]
    meet = [i for i, triple in enumerate(triples) if axes.meet(triple) is not None]
    level = [i for i, triple in enumerate(triples) if _all_parallel(triple)]
    if not meet and not level:
        page.say(
            "No three consecutive axes meet in a point, and no three consecutive axes are "
            "parallel:"
        )
    for i, what in [(i, "meet in a point") for i in meet] + [(i, "are parallel") for i in level]:
        page.say(f"Axes {i + 1}, {i + 2} and {i + 3} {what}, but not in a place that allows one:")
    page.table(
        ("axes", f"angle in {units.angle}", f"distance in {units.length}", ""),
        [_pair(axes, i, a, b, units) for i, (a, b) in enumerate(pairwise(axes.all), start=1)],
    )
    faults = [
        f"Axes {i}, {i + 1} and {i + 2}: {_fault(axes, i, triple, units)}."
        for i, triple in enumerate(triples, start=1)
        if i - 1 not in (*meet, *level)
    ]
    if faults:
        page.say(" ".join(faults))


def _all_parallel(joints: Sequence[ScrewAxis]) -> bool:
    return not any(x.slides for x in joints) and all(
        parallel(a.w, b.w) for a, b in pairwise(joints)
    )


def _pair(axes: ScrewAxes, i: int, a: ScrewAxis, b: ScrewAxis, units: Units) -> tuple[object, ...]:
    """Return a row about two neighbouring axes."""
    turned = math.atan2(float(np.linalg.norm(np.cross(a.w, b.w))), float(a.w @ b.w))
    angle = units.written(turned, "revolute")
    name = f"{i} and {i + 1}"
    if a.slides or b.slides:
        return name, angle, "", "a slide has no place"
    kind = "parallel" if parallel(a.w, b.w) else "meet" if axes.meet([a, b]) is not None else ""
    return name, angle, units.written(_distance(a, b), "prismatic"), kind or "miss each other"


def _fault(axes: ScrewAxes, first: int, joints: Sequence[ScrewAxis], units: Units) -> str:
    """Return why three axes do not meet in a point."""
    for i, (a, b) in enumerate(pairwise(joints), start=first):
        if a.slides or b.slides:
            return "one of them is a slide"
        if parallel(a.w, b.w):
            return f"axes {i} and {i + 1} are parallel, the other one is not"
        if axes.meet([a, b]) is None:
            distance = units.text(_distance(a, b), "prismatic")
            return f"axes {i} and {i + 1} miss each other by {distance}"
    a, b, c = joints
    places = axes.meet([a, b]), axes.meet([b, c])
    apart = float(np.linalg.norm(np.subtract(*(p for p in places if p is not None))))
    return f"they meet in two points, {units.text(apart, 'prismatic')} apart"


def _distance(a: ScrewAxis, b: ScrewAxis) -> float:
    """Return the distance of two lines [m]."""
    between = b.a - a.a
    if parallel(a.w, b.w):
        return float(np.linalg.norm(np.cross(between, a.w)))
    normal = np.cross(a.w, b.w)
    return abs(float(between @ normal)) / float(np.linalg.norm(normal))
