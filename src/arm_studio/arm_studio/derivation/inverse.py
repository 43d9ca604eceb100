# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""The inverse kinematics on a page: its formulas, their numbers, or why there are none."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from itertools import groupby
from typing import NamedTuple

import numpy as np
import sympy as sp
from arm_common.transforms import Array
from arm_description.robot_model import RobotModel
from arm_kinematics.chain.chain import Chain
from arm_kinematics.ik.closed_form import TOLERANCE, ClosedForm, recognise
from arm_kinematics.model.chain_model import one_turn

from arm_studio.closed_form.formulas import InverseStep, NoFormulasError
from arm_studio.closed_form.steps import inverse_formulas
from arm_studio.derivation.document import DerivationPage
from arm_studio.derivation.forward import rounded
from arm_studio.derivation.inline import with_symbols
from arm_studio.derivation.no_closed_form import write_reasons
from arm_studio.symbolic.arm import SymbolicArm

_SIX = 6
_PLACING = 3  # joints that place a point
_EXACT = 1e-9
_SOLVES = 1e-6  # largest error of a solution [m, or entries of the rotation]
_NEARLY = 1e-3  # the same if the formulas take nearly parallel axes for parallel
_SAME = 1e-7
_BESIDE = 4  # branches of a table that fits a sheet of paper
_CLOSE = 0.05  # the same if nearly parallel axes are taken for parallel


def closed_form_of(chain: Chain) -> tuple[ClosedForm | None, str]:
    """Return the closed form of a chain, None if it has none, and its mode.

    Up to three joints place the tool, which has more branches than a full pose; otherwise the
    mode is the full pose.
    """
    if chain.gearing is not None:
        return None, "pose"
    if chain.n <= _PLACING:
        form = recognise(chain.S, chain.M, chain.prismatic, "position")
        if form is not None and form.plan["kept"] == 0.0:
            return form, "position"
    return recognise(chain.S, chain.M, chain.prismatic), "pose"


class Branches(NamedTuple):
    """The solutions that formulas give for one pose.

    Attributes:
        postures: One row each (b, n).
        values: The value of every symbol for each of them.
        errors: The largest error of forward kinematics of each [m, or entries of the rotation].
    """

    postures: Array
    values: dict[sp.Symbol, Array]
    errors: Array


class ArmInverse:
    """The inverse of one arm with a closed form.

    Args:
        model: The arm.
        chain: Its kinematics.
        form: Its closed form.
        mode: "pose" or "position".

    Raises:
        NoFormulasError: The formulas of its plan do not solve it.
    """

    def __init__(self, model: RobotModel, chain: Chain, form: ClosedForm, mode: str) -> None:
        self.mode = mode
        self._chain, self._arm = chain, SymbolicArm(model, model.units.length)
        self.length = model.units.length  # the unit of the formulas
        self._rows = slice(None) if mode == "pose" else np.s_[:, 3]
        # Axes may be parallel, or meet, only up to the rounding of the file's numbers.
        for self.is_exact, tolerance in ((True, _EXACT), (False, TOLERANCE)):
            self.formulas = inverse_formulas(self._arm, form.plan, tolerance)
            if self._holds():
                return
        raise NoFormulasError("its steps alone do not solve it")

    def branches(self, T: Array, q: Array) -> list[Branches]:
        """Return the solutions for each pose T (m, 4, 4), ignoring limits.

        Joints that are free stay as in the posture of the same row of q (m, n).
        """
        joints = list(self._arm.joints.values())
        with np.errstate(invalid="ignore", divide="ignore"):
            values = self.formulas.evaluate(self.shown_poses(T), self.shown(q), joints)
        shape = len(T), max(value.shape[1] for value in values.values())
        values = {s: np.broadcast_to(value, shape) for s, value in values.items()}
        every = np.stack([values[joint] for joint in joints], axis=-1)
        turned = np.arctan2(np.sin(every), np.cos(every))
        every = np.where(self._chain.prismatic, every / self._arm.metre, turned)
        return [
            self._kept(T[i], every[i], {s: value[i] for s, value in values.items()})
            for i in range(len(T))
        ]

    def shown(self, q: Array) -> Array:
        """Return postures (..., n) with slides in the unit of the formulas."""
        return np.where(self._chain.prismatic, np.asarray(q) * self._arm.metre, q)

    def shown_poses(self, T: Array) -> Array:
        """Return poses (..., 4, 4) with lengths in the unit of the formulas."""
        return np.asarray(T) * np.where(np.arange(4) == 3, [[self._arm.metre]] * 3 + [[1.0]], 1.0)

    def _kept(self, T: Array, every: Array, values: dict[sp.Symbol, Array]) -> Branches:
        """Return the distinct postures (b, n) that are solutions."""
        errors = np.array([self._error(T, posture) for posture in every])
        kept: list[int] = []
        for i in np.flatnonzero(errors < (_SOLVES if self.is_exact else _NEARLY)):
            if all(self.apart(every[i], every[k]) > _SAME for k in kept):
                kept.append(int(i))
        return Branches(every[kept], {s: v[kept] for s, v in values.items()}, errors[kept])

    def apart(self, a: Array, b: Array) -> float:
        """Return the largest difference of two postures, ignoring whole turns."""
        turns = np.asarray(a) - b
        turns = np.where(self._chain.prismatic, turns, np.arctan2(np.sin(turns), np.cos(turns)))
        return float(np.abs(turns).max())

    def is_inside(self, posture: Array) -> bool:
        """Return True if whole turns bring a posture inside the limits."""
        lower, upper = np.asarray(self._chain.lower), np.asarray(self._chain.upper)
        turns = np.ceil((lower - posture - _SAME) / (2.0 * math.pi))
        shifted = np.where(self._chain.prismatic, posture, posture + 2.0 * math.pi * turns)
        return bool(((shifted >= lower - _SAME) & (shifted <= upper + _SAME)).all())

    def _error(self, T: Array, posture: Array) -> float:
        if not np.isfinite(posture).all():
            return math.inf
        return float(np.abs(self._chain.fk(posture) - T)[self._rows].max())

    def _holds(self) -> bool:
        """Return True if the formulas reproduce postures off the middle of the ranges."""
        low, high = one_turn(self._chain.lower, self._chain.upper, self._chain.sliding)
        q = np.array([low + fraction * (high - low) for fraction in (0.31, 0.57, 0.83)])
        branches = self.branches(np.array([self._chain.fk(posture) for posture in q]), q)
        limit = _SAME if self.is_exact else _CLOSE
        return any(
            self.apart(posture, other) < limit
            for posture, solutions in zip(q, branches, strict=True)
            for other in solutions.postures
        )


def write_inverse(page: DerivationPage, model: RobotModel, chain: Chain, q: Array) -> None:
    """Append the inverse, with the numbers for the pose of a posture q (n,), to a page."""
    page.heading("Inverse kinematics")
    form, mode = closed_form_of(chain)
    if form is None:
        write_reasons(page, model, chain)
        return
    try:
        inverse = ArmInverse(model, chain, form, mode)
    except NoFormulasError as reason:
        page.say(
            f"The geometry allows a closed form: {form.name}. It is not shown as formulas, since "
            f"{reason}; the solver finds such joints by iteration."
        )
        return
    _write_target(page, inverse, form.name)
    _write_reading(page, inverse, chain.n)
    for number, group in enumerate(_groups(inverse.formulas.steps), start=1):
        _write_group(page, number, group, chain.joint_names)
    _write_numbers(page, inverse, chain, q)


def _write_target(page: DerivationPage, inverse: ArmInverse, name: str) -> None:
    """Append the target and its symbols."""
    target = inverse.formulas.target
    page.say(
        f"The geometry allows a closed form: {name}. Sought are all postures for a given "
        + (
            "pose $T$ of the tool."
            if inverse.mode == "pose"
            else "position of the tool, that in $T$."
        )
    )
    whole = symbol = sp.MatrixSymbol("T", 4, 4)
    for name, matrix, where in (
        ("T_b", target.before, "before the first joint"),
        ("T_e", target.after, "behind the last joint"),
    ):
        if matrix != sp.eye(4):
            undone = sp.MatrixSymbol(name, 4, 4).I
            whole = undone * whole if name == "T_b" else whole * undone
            page.say(f"The constant transform {where}:")
            page.show(sp.Symbol(name), matrix)
    if whole != symbol:
        symbol = sp.MatrixSymbol("T_0", 4, 4)
        both = target.before != sp.eye(4) and target.after != sp.eye(4)
        page.say(f"Without {'them' if both else 'it'}, $T$ leaves")
        page.show(symbol, whole)
    if target.is_reversed:
        page.say("The arm is read from its tip, so the inverse is taken.")
        symbol = symbol.I
    bottom = sp.Matrix([[0, 0, 0, 1]])
    page.say("Its entries are called")
    page.show(symbol, target.R.row_join(target.p).col_join(bottom))


def _write_reading(page: DerivationPage, inverse: ArmInverse, joints: int) -> None:
    """Append how the formulas are to be read."""
    steps = inverse.formulas.steps
    count = math.prod(2 ** len(s.signs) * (4 if s.unknown is not None else 1) for s in steps)
    page.say(
        r"$\operatorname{atan2}(y, x)$ is the angle of the direction $(x, y)$, in all four "
        r"quadrants. A sign $\pm$ "
        "stands for both; within one formula it is the same everywhere. "
        f"At most {count} solution{'s' * (count != 1)} arise this way. A point or direction seen "
        "from behind a joint has coordinates whose $z$ is along the next joint's axis."
    )
    if inverse.mode == "pose" and joints < _SIX:
        page.say(
            "With fewer than six joints the tool does not reach every pose: what the formulas "
            "give is a solution only if forward kinematics confirms it."
        )
    if not inverse.is_exact:
        page.say(
            "The axes of this arm are parallel, or meet, only up to the rounding of the numbers "
            "in its file; the formulas take them for exactly so."
        )


def _groups(steps: Sequence[InverseStep]) -> list[list[InverseStep]]:
    """Return the steps of each joint, or sum of joints, with the parts that it needs."""
    groups: list[list[InverseStep]] = [[]]
    for step in steps:
        groups[-1].append(step)
        if step.joint:
            groups.append([])
    return groups[:-1]


def _write_group(
    page: DerivationPage, number: int, group: Sequence[InverseStep], names: Sequence[str]
) -> None:
    """Append the step of a joint: what it needs, its equation, its solution, its exceptions."""
    *parts, last = group
    is_joint = last.joint.isdigit()
    name = names[int(last.joint) - 1] if is_joint else "all parallel axes together"
    page.heading(with_symbols(f"{number}. {name}, {last.symbol}"), 3)
    spare = _only_otherwise(group)
    first = [part for part in parts if part.text != last.text and part not in spare]
    for text, some in groupby(first, lambda step: step.text):
        page.say(with_symbols(text))
        for step in some:
            _show(page, step)
    page.say(with_symbols(last.text))
    if last.equation is not None:
        page.show(*last.equation)
    for part in parts:
        if part.text == last.text:
            _show(page, part)
    _show(page, last)
    _write_exceptions(page, last, spare)


def _show(page: DerivationPage, step: InverseStep) -> None:
    is_root = step.unknown is not None
    parts = (step.expression, sp.Integer(0)) if is_root else (step.symbol, step.expression)
    page.show(*parts)


def _only_otherwise(group: Sequence[InverseStep]) -> list[InverseStep]:
    """Return the parts that only the exceptional case of the last step of a group needs."""
    *parts, last = group
    if last.otherwise is None:
        return []
    used = last.expression.free_symbols | {s for part in parts for s in part.symbols}
    return [part for part in parts if part.symbol not in used]


def _write_exceptions(
    page: DerivationPage, step: InverseStep, spare: Sequence[InverseStep]
) -> None:
    """Append when a step has no solution, and when it has infinitely many."""
    if step.reach is not None:
        ratio = [f for f in step.reach.free_symbols if step.reach == 1 - f**2]
        page.say(
            with_symbols(f"Out of reach if {ratio[0]} is below -1 or above 1.")
            if ratio
            else "Out of reach if what is below the root is negative."
        )
    free = [str(-f if f.could_extract_minus_sign() else f) for f in step.free if f != 0]
    if not free:
        return
    where = f"{' and '.join(free)} {'are' if len(free) > 1 else 'is'} 0"
    if step.otherwise is None:
        page.say(with_symbols(f"If {where}, {step.symbol} is free: any value will do."))
        return
    text, value = step.otherwise
    page.say(with_symbols(f"If {where}, {text}"))
    for part in spare:
        _show(page, part)
    _show(page, replace(step, expression=value))


def _write_numbers(page: DerivationPage, inverse: ArmInverse, chain: Chain, q: Array) -> None:
    """Append the value of every symbol in every branch."""
    page.heading("The solutions for $T$ of the example", 3)
    T = chain.fk(q)
    (branches,) = inverse.branches(T[None], q[None])
    target = inverse.formulas.target
    changed = target.before != sp.eye(4) or target.after != sp.eye(4)
    symbol = sp.MatrixSymbol("T_0" if changed else "T", 4, 4)
    entries = rounded(inverse.formulas.target_values(inverse.shown_poses(T)))
    page.show(symbol.I if target.is_reversed else symbol, entries)
    if not len(branches.postures):
        page.say(
            "No branch gives the pose: at the edge of the reach, rounding decides whether there "
            "is one. Choose another posture for the example (--posture)."
        )
        return
    page.say(f"Every formula above gives, in rad and {inverse.length}:")
    _write_branches(page, inverse, branches)
    inside = sum(inverse.is_inside(posture) for posture in branches.postures)
    solver = chain.all_solutions(T, q, inverse.mode).every_q
    off = [min(inverse.apart(a, b) for b in branches.postures) for a in solver]
    page.say(
        f"{inside} of {len(branches.postures)} are within the limits"
        + (f"; those of the solver differ by at most {max(off):.1e}." if off else ".")
    )


def _write_branches(page: DerivationPage, inverse: ArmInverse, branches: Branches) -> None:
    """Append the table of all branches, in parts that fit the page."""
    inside = [inverse.is_inside(posture) for posture in branches.postures]
    rows = [
        *_value_rows(inverse, branches),
        ("error of fk", *(f"{error:.1e}" for error in branches.errors)),
        ("within the limits", *("yes" if x else "no" for x in inside)),
    ]
    for first in range(1, len(inside) + 1, _BESIDE):
        shown = slice(first, min(first + _BESIDE, len(inside) + 1))
        head = [f"branch {i}" for i in range(shown.start, shown.stop)]
        page.table(("", *head), [(row[0], *row[shown]) for row in rows])


def _value_rows(inverse: ArmInverse, branches: Branches) -> list[Sequence[object]]:
    """Return a row for each sign, joint and part."""
    rows: list[Sequence[object]] = []
    steps, postures = inverse.formulas.steps, inverse.shown(branches.postures)
    for sign in dict.fromkeys(sign for step in steps for sign in step.signs):
        label = with_symbols(f"\u00b1 of {sign.name.replace('sigma', 'q')}")
        rows.append((label, *("+" if v > 0 else "\u2212" for v in branches.values[sign])))
    for group in _groups(steps):
        spare = _only_otherwise(group)
        for step in (step for step in group if step not in spare):
            values = branches.values[step.symbol]
            if step.joint.isdigit():  # without whole turns
                values = postures[:, int(step.joint) - 1]
            rows.append((step.symbol, *map(float, values)))
    return rows
