# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""The arm and the postures of one student, which a name and the teacher's secret determine.

Link lengths and postures follow from HMAC-SHA256 (RFC 2104) of the arm and the name, with the
secret as its key: the same name has the same numbers at any time, and nobody without the secret
knows those of a name. Draws near a limit or a singularity, or with another number of solutions
than the rest of the class has, are repeated.
"""

from __future__ import annotations

import hashlib
import hmac
import itertools
import math
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from arm_common.errors import InputError, number_text
from arm_common.transforms import Array
from arm_description.model.elements import Joint
from arm_description.robot_model import RobotModel
from arm_kinematics.chain.chain import Chain
from arm_kinematics.model.chain_model import one_turn

from arm_studio.derivation.inverse import closed_form_of
from arm_studio.derivation.singularities import TaskJacobian, ToolTask
from arm_studio.exercises.numeric import SingularJoint, distances, singular_joints

VARIED = 0.15  # largest relative change of a length
DIGITS = 3  # of a length
ANGLE_MARGIN = math.radians(4.0)  # from a limit
SLIDE_MARGIN = 0.04  # of the range
LEAST_RATIO = 0.02  # of the singular values of the Jacobian, lengths over that of the arm
_LENGTHS_TRIED, _POSTURES_TRIED = 25, 80
_PROFILE_POSTURES = 60  # of the arm as it is in its file
_ALL_TURNING = 6  # joints whose solutions elimination finds


class ExerciseError(InputError):
    """An exercise, a class, a secret or an answer that cannot be used."""


@dataclass(frozen=True)
class Profile:
    """What all variants of a class have in common; it depends on the arm alone.

    Attributes:
        solutions: Number of solutions of the inverse.
        singular: The joint that is asked for, and its number of singular positions; None if no
            joint has the same number in different postures.
    """

    solutions: int
    singular: tuple[int, int] | None


@dataclass(frozen=True)
class Variant:
    """The arm and the postures of one student.

    Attributes:
        student: Name; "" for the arm as it is in its file.
        model: The arm.
        q: Posture of forward kinematics and Jacobian (n,) [rad or m].
        other: Posture of the singular joint's question, and of the inverse's target [rad or m].
        solutions: All solutions (k, n) for the target [rad or m].
        singular: Singular positions of one joint; None if they are not asked for.
    """

    student: str
    model: RobotModel
    q: Array
    other: Array
    solutions: Array
    singular: SingularJoint | None

    @cached_property
    def chain(self) -> Chain:
        """The kinematics of the arm."""
        return Chain.from_model(self.model)

    @cached_property
    def mode(self) -> str:
        """The part of the target that is sought: "pose" or "position"."""
        return closed_form_of(self.chain)[1]

    @cached_property
    def distances(self) -> tuple[float, float]:
        """The largest and smallest distance of the tool from the base [m]."""
        return distances(self.chain)

    @property
    def target(self) -> Array:
        """The pose of the tool (4, 4) whose solutions are sought [m]."""
        return self.chain.fk(self.other)


class VariantMaker:
    """Makes the variants of a class.

    Args:
        model: The arm of the robot file.
        secret: Of the teacher.

    Raises:
        ExerciseError: The arm is of a kind that has no such exercise.
    """

    def __init__(self, model: RobotModel, secret: bytes) -> None:
        _require_plain(model)
        self.model = replace(
            model, formulas={}, constants={}, looks={}, meshes={}, masses={}, postures={}
        )
        self._secret = secret

    @cached_property
    def profile(self) -> Profile:
        """What all variants have in common."""
        trial = _Trial(self.model)
        rng = np.random.default_rng(0)
        drawn = [q for q in trial.postures(rng, _PROFILE_POSTURES) if trial.is_regular(q)]
        counts = Counter(
            len(solutions) for q in drawn if (solutions := trial.solutions(q)) is not None
        )
        if not counts:
            raise self._impossible("its solutions lie at limits or singularities")
        several = {count: times for count, times in counts.items() if count > 1} or counts
        wanted = max(several, key=lambda count: (several[count], count))
        return Profile(wanted, singular_joints(trial.chain, trial.mode, drawn[:5]))

    def of(self, student: str) -> Variant:
        """Return the variant of a student.

        Raises:
            ExerciseError: No random draw is suitable.
        """
        rng = self._generator(student)
        for _ in range(_LENGTHS_TRIED):
            trial = _Trial(varied(self.model, rng))
            q = next(filter(trial.is_regular, trial.postures(rng, _POSTURES_TRIED)), None)
            for other in trial.postures(rng, _POSTURES_TRIED) if q is not None else ():
                variant = self._variant(student, trial, np.asarray(q), other)
                if variant is not None:
                    return variant
        problem = f"no posture with {self.profile.solutions} solutions was found"
        raise self._impossible(f"{problem} for {student!r} away from limits and singularities")

    def _variant(self, student: str, trial: _Trial, q: Array, other: Array) -> Variant | None:
        if not trial.is_regular(other):
            return None
        solutions = trial.solutions(other)
        if solutions is None or len(solutions) != self.profile.solutions:
            return None
        singular = None
        if self.profile.singular is not None:
            joint, count = self.profile.singular
            singular = SingularJoint.of(trial.chain, trial.mode, other, joint)
            if singular is None or len(singular.positions) != count:
                return None
        return Variant(student, trial.model, q, other, solutions, singular)

    def _impossible(self, reason: str) -> ExerciseError:
        return ExerciseError(f"no exercise for {self.model.name}: {reason}")

    @property
    def check(self) -> str:
        """A code of secret and arm, by which another secret is recognised."""
        return self._code("", "check").hex()[:16]

    def _code(self, *words: str) -> bytes:
        message = "\0".join(("arm exercise", digest(self.model), *words))
        return hmac.new(self._secret, message.encode(), hashlib.sha256).digest()

    def _generator(self, student: str) -> np.random.Generator:
        code = int.from_bytes(self._code(student), "big")
        return np.random.Generator(np.random.PCG64(code))


def digest(model: RobotModel) -> str:
    """Return a code of all numbers of an arm that matter for an exercise."""
    numbers = [
        (joint.type, *vars(joint.row).values(), joint.lower, joint.upper) for joint in model.rows
    ]
    text = repr((model.convention, numbers, model.base, model.tool, model.units))
    return hashlib.sha256(text.encode()).hexdigest()


def varied(model: RobotModel, rng: np.random.Generator) -> RobotModel:
    """Return an arm with other lengths; equal ones stay equal, and 0 stays 0."""
    new: dict[float, float] = {}

    def length(old: float) -> float:
        key = round(abs(old), 9)
        if key and key not in new:
            factor = 1.0 + VARIED * (2.0 * rng.random() - 1.0)
            new[key] = _short(model, key * factor)
        return math.copysign(new[key], old) if key else old

    joints = []
    for joint in model.joints:
        row = replace(joint.row, d=length(joint.row.d), a=length(joint.row.a))
        joints.append(replace(joint, row=row))
    return replace(model, joints=tuple(joints))


def _short(model: RobotModel, value: float) -> float:
    """Return a length [m] with few digits in the unit of the file."""
    written = model.units.written(value, "prismatic")
    return model.units.si(float(number_text(written, DIGITS)), "prismatic")


def _require_plain(model: RobotModel) -> None:
    plain = all(joint.axis == "z" for joint in model.rows)
    if model.dependents or model.is_tilted or not plain or model.constraints:
        raise ExerciseError(
            f"{model.name} cannot be used for exercises: each row of its table must be a joint"
            " of its own, about or along z, with limits of its own"
        )
    chain = Chain.from_model(model)
    turning = chain.n == _ALL_TURNING and not any(chain.prismatic)
    if closed_form_of(chain)[0] is None and not turning:
        raise ExerciseError(
            f"{model.name} cannot be used for exercises: that all solutions of its inverse are"
            " found is not certain"
        )


class _Trial:
    """An arm whose postures are tried."""

    def __init__(self, model: RobotModel) -> None:
        self.model, self.chain = model, Chain.from_model(model)
        self.mode = closed_form_of(self.chain)[1]
        self._jacobian = TaskJacobian(self.chain, ToolTask(self.mode))
        wide = (_with_margin(joint, -1.0) for joint in model.joints)
        self._wide = Chain.from_model(replace(model, joints=tuple(wide)))
        inner = [_with_margin(joint, 1.0) for joint in model.joints]
        self._low = np.array([joint.lower for joint in inner])
        self._high = np.array([joint.upper for joint in inner])
        self._turns = np.array([joint.type == "revolute" for joint in model.joints])

    def postures(self, rng: np.random.Generator, count: int) -> Iterator[Array]:
        """Yield random postures with few digits in the units of the file."""
        low, high = one_turn(self._low, self._high, self.chain.sliding)
        for _ in itertools.repeat(None, count):
            q = low + (high - low) * rng.random(len(low))
            yield np.array([self._rounded(x, i) for i, x in enumerate(q)])

    def _rounded(self, value: float, index: int) -> float:
        kind, units = self.model.joints[index].type, self.model.units
        if kind == "prismatic":
            return _short(self.model, value)
        decimals = 0 if units.angle == "deg" else 2
        return units.si(round(units.written(value, kind), decimals), kind)

    def is_regular(self, q: Array) -> bool:
        """Return True if a posture is away from limits and singularities."""
        inside = (q >= self._low).all() and (q <= self._high).all()
        return bool(inside) and self._jacobian.ratio(q) > LEAST_RATIO

    def solutions(self, q: Array) -> Array | None:
        """Return all solutions for the pose at q (n,); None if one is near a limit."""
        candidates = self._wide.all_solutions(self.chain.fk(q), q, self.mode).every_q
        kept = np.array([self._inside(x) for x in candidates])
        return kept if all(map(self.is_regular, kept)) else None

    def _inside(self, q: Array) -> Array:
        """Return a posture, moved by whole turns inside the margin of the limits if possible."""
        turns = math.tau * np.ceil((self._low - q) / math.tau)
        shifted = np.where(self._turns, q + turns, q)
        # the turn nearest to 0, as a person would write it
        back = np.where(self._turns & (shifted < -math.pi), shifted + math.tau, shifted)
        return np.where(back <= self._high, back, shifted)


def _with_margin(joint: Joint, sign: float) -> Joint:
    """Return a joint with narrower limits, or wider ones with a sign of -1."""
    margin = ANGLE_MARGIN
    if joint.type == "prismatic":
        margin = SLIDE_MARGIN * (joint.upper - joint.lower)
    margin = sign * min(margin, 0.25 * (joint.upper - joint.lower))
    return replace(joint, lower=joint.lower + margin, upper=joint.upper - margin)
