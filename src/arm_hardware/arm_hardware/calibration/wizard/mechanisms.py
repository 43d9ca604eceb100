# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""How a servo moves its joints: what to measure there, with which tool, and what follows.

A reading of an inclinometer that lies along a link is 0 on a level link, positive if its outer end
is up, and above 90 deg if the link leans back over the base. Between joints with parallel
horizontal axes, a joint is the difference of two readings, with a sign by the direction of its
axis and an offset by the zero of its row.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from arm_common.suggestions import program
from arm_common.transforms import Array
from arm_description.model.elements import Joint
from arm_description.model.transmissions.curved import CrankTransmission, LinkageLengths
from arm_description.model.transmissions.transmission import (
    Drivetrain,
    ParallelogramTransmission,
    SeveralActuatorsTransmission,
    SimpleTransmission,
)
from arm_description.model.units import SHOWN
from arm_description.robot_model import RobotModel

from arm_hardware.calibration.axes import rest_positions
from arm_hardware.calibration.calibration import axes_of

_SHORTEST = 5e-3  # [m] of a link along which an inclinometer can lie
_LEVEL = 0.1  # vertical component of an axis that is still taken for horizontal
_POSTURES = 8  # at which a law must hold
_SAME = math.radians(0.1)  # within which a law holds, less than a person reads
_UP = np.array([0.0, 0.0, 1.0])
LENGTHS = ("ground", "crank", "rod", "rocker")
_CALLIPER = 0.5  # [mm] by which lengths between the centres of screws are measured wrong
_LEAST_SPAN = 20.0  # [deg or mm] of positions from which a ratio is found
_MOST_OFF = 2.0  # [deg or mm] from a line, more than a person reads wrong
# unit, its size [rad or m], and how far apart two pictures are
_SHOWN = {"revolute": ("deg", math.radians(1.0), 30.0), "prismatic": ("mm", 1e-3, 20.0)}
_READING = 0.5  # [deg or mm] to which a person reads
WHICH = (
    "Which servo is it? After p, the keys . and , move one link only; if another one moves than "
    "this says, r, then c."
)
POINTS = "Measure two positions or more with m, far apart; three show whether they lie on a line."
STOPS = (
    "Limits: f, then steps towards the stop, a hand on the arm; where it no longer moves, two "
    "steps back, then [ or ]."
)


@dataclass(frozen=True)
class InclinometerLaw:
    """How a joint follows from the readings on its link and on the link before.

    Attributes:
        joint: Name of the joint; its link is the one that it turns.
        before: The joint that turns the link before; "" if that is the base, which is level.
        sign: 1 if the joint grows as the outer end of its link rises, else -1.
        offset: Position of the joint [rad] where both readings are equal.
        limits: Of the joint [rad].
    """

    joint: str
    before: str
    sign: int
    offset: float
    limits: tuple[float, float]

    def position(self, readings: Mapping[str, float]) -> float:
        """Return the joint's position [rad] from the readings [rad] by the name of the joint."""
        before = readings[self.before] if self.before else 0.0
        value = self.sign * (readings[self.joint] - before) + self.offset
        middle = 0.5 * sum(self.limits)
        return value - math.tau * round((value - middle) / math.tau)

    def sentence(self) -> str:
        """Return the law and the direction in words."""
        link = f"{self.joint}'s link"
        difference = f"{link} less {self.before}'s" if self.before else link
        way = "raises" if self.sign > 0 else "lowers"
        zero = math.degrees(-self.sign * self.offset)
        base = f"{self.before}'s link" if self.before else "level"
        at_zero = f"at 0 it points {abs(zero):.3g} deg {'above' if zero > 0 else 'below'} {base}"
        if abs(zero) < 0.05:
            at_zero = f"at 0 it is in line with {base}" if self.before else "at 0 it is level"
        formula = f"{'-' if self.sign < 0 else ''}({difference})"
        if abs(zero) >= 0.05:
            formula += f" {math.degrees(self.offset):+.4g}"
        return f"{self.joint} = {formula} deg; + {way} the outer end, {at_zero}."


def inclinometer_laws(model: RobotModel) -> dict[str, InclinometerLaw]:
    """Return the laws of the joints that an inclinometer can measure, by name."""
    rng = np.random.default_rng(0)
    postures = rng.uniform(model.lower, model.upper, (_POSTURES, model.n))
    inclinations = [link_readings(model, q) for q in postures]
    laws: dict[str, InclinometerLaw] = {}
    measured = [n for n in inclinations[0] if all(n in each for each in inclinations)]
    for k, name in enumerate(measured):
        if name not in model.joint_names:
            continue
        column = model.joint_names.index(name)
        limits = float(model.lower[column]), float(model.upper[column])
        for before in ("", *reversed(measured[:k])):
            for sign in (1, -1):
                parts = [r[name] - (r[before] if before else 0.0) for r in inclinations]
                offsets = postures[:, column] - sign * np.array(parts)
                spread = np.remainder(offsets - offsets[0] + math.pi, math.tau) - math.pi
                if name not in laws and np.abs(spread).max() < _SAME:
                    offset = float(offsets[0] + 0.5 * (spread.min() + spread.max()))
                    offset -= math.tau * round(offset / math.tau)
                    laws[name] = InclinometerLaw(name, before, sign, offset, limits)
    return laws


def link_readings(model: RobotModel, q: Array) -> dict[str, float]:
    """Return what an inclinometer shows along each link [rad], by the joint that turns it.

    A link goes from the joint's axis to the next one that is 5 mm away or more, or to the tip, at
    right angles to the axis. Links about axes that are not horizontal are left out. Joint
    positions q are (n,) [rad or m].
    """
    frames, axes = _frames_and_axes(model, q)
    ends = [*(frame[:3, 3] for frame in frames), model.fk(q)[:3, 3]]
    outwards = _outwards(model, axes)
    readings = {}
    for i, joint in enumerate(model.rows):
        across = np.eye(3) - np.outer(axes[i], axes[i])
        links = (across @ (end - ends[i]) for end in ends[i + 1 :])
        link = next((each for each in links if np.linalg.norm(each) > _SHORTEST), None)
        if link is not None and _is_level(joint, axes[i]):
            level = np.cross(_UP, axes[i])
            level = level if level @ outwards >= 0.0 else -level
            readings[joint.name] = math.atan2(link[2], float(link @ level))
    return readings


def _frames_and_axes(model: RobotModel, q: Array) -> tuple[list[Array], list[Array]]:
    """Return the frames (4, 4) in which the rows move at q (n,), and their axes (3,)."""
    frames = model.dh_frames(np.array(q, dtype=float))
    frames = frames[:-1] if model.convention == "standard" else frames[1:]
    return frames, [f[:3, :3] @ row.direction for f, row in zip(frames, model.rows, strict=True)]


def _is_level(joint: Joint, axis: Array) -> bool:
    return joint.type == "revolute" and abs(axis[2]) < _LEVEL


def _outwards(model: RobotModel, axes: Sequence[Array]) -> Array:
    """Return the horizontal direction (3,) of the arm at rest, turned by its waist."""
    rest = np.array(rest_positions(model, axes_of(model))[: model.n])
    at_rest = _frames_and_axes(model, rest)[1]
    for row, axis, axis_at_rest in zip(model.rows, axes, at_rest, strict=True):
        if _is_level(row, axis_at_rest):
            ahead = float(np.cross(_UP, axis_at_rest) @ model.fk(rest)[:3, 3])
            return math.copysign(1.0, ahead) * np.cross(_UP, axis)
    return np.array([1.0, 0.0, 0.0])


class Mechanism:
    """The transmission between an actuator and its joints; positions in deg or mm.

    Attributes:
        joints: Names of the joints that its position depends on.
    """

    def __init__(self, model: RobotModel, name: str, robot: str = "") -> None:
        """Find the transmission of an actuator of a robot, whose name or file is `robot`."""
        self._model, self._name, self._robot = model, name, robot or model.name
        self._transmission, self._output = Drivetrain(
            model.joint_names, model.transmissions
        ).drives()[name]
        self._laws = inclinometer_laws(model)
        self.joints = self._transmission.inputs

    @property
    def is_direct(self) -> bool:
        """Whether the servo turns as its joint does."""
        return self._transmission == SimpleTransmission(self.joints, (self._name,))

    @property
    def question(self) -> str:
        """What a person measures."""
        if len(self.joints) == 1:
            return f"position of joint {self.joints[0]}"
        return f"positions of joints {' and '.join(self.joints)}, with a space between"

    def actuator_position(self, joints: Sequence[float], si: float) -> float:
        """Return the actuator's position with the joints there; a unit is ``si`` rad or m.

        Raises:
            ValueError: There are too many or too few joints.
        """
        if len(joints) != len(self.joints):
            raise ValueError(f"{len(self.joints)} numbers are needed, {' and '.join(self.joints)}")
        q = np.array(joints) * si
        return float(self._transmission.to_actuators(q)[self._output]) / si

    def guide(self) -> str:
        """Return what the servo moves, and how a person measures it."""
        moves = f"{self._name} {self._moves()}"
        return "\n".join((moves, WHICH, self._tool(), *self._pictures(), POINTS, STOPS))

    def _pictures(self) -> Iterator[str]:
        """Yield the commands that draw where each joint is at 0 and, pale, in which sense it is +.

        A joint that cannot be at 0 is drawn near 0: at a limit, or in the posture of the others.
        """
        home = self._model.home_posture[1]
        for joint in self._model.joints:
            if joint.name in self.joints:
                unit, si, step = _SHOWN[joint.type]
                lower, upper = math.ceil(joint.lower / si), math.floor(joint.upper / si)
                here = round(home[joint.name] / si)
                zero = max(min(max(0.0, lower), upper - step), lower)
                starts = (at for at in (zero, here, here - step) if at < upper)
                pairs = ((at, min(at + step, upper)) for at in starts)
                allowed = (p for p in pairs if all(self._allows(home, joint, x * si) for x in p))
                if pair := next(allowed, None):
                    q, plus = (f"{joint.name}={x:g}{unit}" for x in pair)
                    words = f"{self._robot} --joints {q} --ghost {plus} -o {joint.name}.svg"
                    draw = f"{program('arm_studio', 'draw')} {words}"
                    yield f"{draw} draws {q} and, pale, {plus}."

    def _allows(self, home: Mapping[str, float], joint: Joint, position: float) -> bool:
        """Return True if a joint can be at a position [rad or m] in a posture."""
        q = [{**home, joint.name: position}[name] for name in self._model.joint_names]
        inside = joint.lower <= position <= joint.upper
        return inside and not self._model.constraint_set.worst(q)

    def _moves(self) -> str:
        t, joint = self._transmission, self.joints[0]
        if isinstance(t, SeveralActuatorsTransmission):
            others = " and ".join(name for name in t.actuators if name != self._name)
            return (
                f"moves {joint} together with {others}. First this one with {others} limp (r), "
                f"then {others} with this one\nlimp, so that they cannot work against each other. "
                "Then p with the other one holding sends this one to the same position; + and -\n"
                "turn it alone: leave it where neither hums, and m records it."
            )
        if isinstance(t, ParallelogramTransmission):
            base = " and ".join(t.depends_on)
            return (
                f"moves {joint} against {base}, over a parallelogram: while {base} moves, its "
                "link keeps its angle to\nthe base. l checks the four lengths."
            )
        if isinstance(t, CrankTransmission):
            return (
                f"moves {joint} over a crank and a rod. l checks their lengths, between the "
                "centres of the screws."
            )
        if isinstance(t, SimpleTransmission) and abs(t.mechanical_reduction) != 1.0:
            return (
                f"moves {joint} over a gear, {abs(t.mechanical_reduction):g} turns of the servo "
                "for one of the joint by the robot file; t\nfinds the ratio from three positions."
            )
        if len(self.joints) > 1:
            return f"moves {' and '.join(self.joints)} together; measure both at each position."
        return f"moves {joint}."

    def _tool(self) -> str:
        """Return with which tool the joints are measured."""
        types = {joint.name: joint.type for joint in self._model.rows}
        sliding = [name for name in self.joints if types[name] == "prismatic"]
        laws = [self._laws[name] for name in self.joints if name in self._laws]
        others = [n for n in self.joints if n not in self._laws and n not in sliding]
        sentences = []
        if laws:
            sentences.append(
                "Lay a phone with an inclinometer app along the link: 0 is level, + is its outer "
                "end up, over 90\nis leaning back over the base."
            )
            sentences += [law.sentence() for law in laws]
        if laws and not others and not sliding:
            sentences.append(f"Or type i and the readings at m, of {' and '.join(self.links)}.")
        if others:
            sentences.append(
                f"{' and '.join(others)}: use a protractor; an inclinometer shows nothing about "
                "a vertical axis, or along a link that turns about itself."
            )
        if sliding:
            sentences.append(f"{' and '.join(sliding)}: measure with a calliper.")
        return "\n".join(sentences)

    @property
    def links(self) -> list[str]:
        """The links to lay an inclinometer on, by the joints that turn them."""
        laws = [self._laws[name] for name in self.joints if name in self._laws]
        return list(dict.fromkeys(n for law in laws for n in (law.joint, law.before) if n))

    def from_readings(self, readings: Sequence[float]) -> list[float]:
        """Return the positions of its joints [deg] from readings [deg], as ``links``.

        Raises:
            ValueError: An inclinometer cannot measure one of them, or readings are missing.
        """
        for name in self.joints:
            if name not in self._laws:
                raise ValueError(f"an inclinometer cannot measure {name}")
        if len(readings) != len(self.links):
            raise ValueError(f"the readings on {' and '.join(self.links)} are needed")
        angles = dict(zip(self.links, map(math.radians, readings), strict=True))
        return [math.degrees(self._laws[name].position(angles)) for name in self.joints]

    def gear(self, joints: Sequence[float], setpoints: Sequence[float], quarter: float) -> str:
        """Return a sentence with the ratio of its gear.

        Args:
            joints: Measured positions of its joint.
            setpoints: At these.
            quarter: By which the servo's own horn turns by 90 deg.

        Raises:
            ValueError: No ratio can be found; its text is the reason.
        """
        t = self._transmission
        if not isinstance(t, SimpleTransmission | SeveralActuatorsTransmission):
            raise ValueError(
                f"{self._name} does not move {self.joints[0]} over a gear with a fixed ratio"
            )
        if self._model.joints[self._model.joint_names.index(self.joints[0])].type != "revolute":
            raise ValueError(f"{self.joints[0]} slides; a calliper shows its travel per pulse")
        if len(joints) < 3:
            raise ValueError("measure three positions of it first, far apart")
        span = max(joints) - min(joints)
        if span < _LEAST_SPAN:
            raise ValueError(f"the positions are within {span:.3g} deg; measure farther apart")
        slope, start = np.polyfit(setpoints, joints, 1)
        off = float(np.abs(slope * np.array(setpoints) + start - np.array(joints)).max())
        if off > _MOST_OFF:
            raise ValueError(
                f"the positions are up to {off:.1f} deg from a line, so this gear has no fixed "
                "ratio; measure again, or use type: table"
            )
        ratio = 90.0 / quarter / abs(float(slope))
        sign = "-" if t.mechanical_reduction < 0.0 else ""
        return (
            f"mechanical_reduction: {sign}{ratio:.4g}   # +- "
            f"{2.0 * max(off, _READING) / span * ratio:.2g}; the robot file has "
            f"{t.mechanical_reduction:g}\nIf you change it there, start again with a new file: "
            "the points depend on it."
        )

    def linkage(self, lengths: Sequence[float]) -> str:
        """Return a sentence about measured lengths of its linkage [mm], as LENGTHS.

        Raises:
            ValueError: They cannot be right; its text is the reason.
        """
        if len(lengths) != len(LENGTHS) or min(lengths) <= 0.0:
            raise ValueError(f"four lengths above 0 are needed: {', '.join(LENGTHS)}")
        t = self._transmission
        written = ", ".join(f"{k}: {x:g}" for k, x in zip(LENGTHS, lengths, strict=True))
        if isinstance(t, ParallelogramTransmission):
            return self._parallelogram(lengths, written)
        if not isinstance(t, CrankTransmission):
            raise ValueError(f"{self._name} moves {self.joints[0]} without a linkage")
        measured = replace(t, lengths=LinkageLengths(*(x * 1e-3 for x in lengths)))
        closing, limits = measured.closing_range(), _degrees(t.span)
        where = f"{self.joints[0]}, whose limits are {limits}"
        if closing is None:
            raise ValueError(
                f"with these lengths the linkage cannot close for any position of {where}; "
                "measure again, and compare rocker_angle and branch of the robot file"
            )
        if closing != t.span:
            raise ValueError(
                f"with these lengths the linkage only closes for {_degrees(closing)} of {where}; "
                "measure again, or reduce the limits"
            )
        q = np.zeros((91, len(self.joints)))
        q[:, 0] = np.linspace(*t.span, len(q))
        off = math.degrees(np.abs(measured.to_actuators(q) - t.to_actuators(q)).max())
        return (
            f"{written}   # closes for {limits}\nWith the lengths of the robot file the servo "
            f"would be up to {off:.2g} deg away."
        )

    def _parallelogram(self, lengths: Sequence[float], written: str) -> str:
        ground, crank, rod, rocker = lengths
        if max(abs(ground - rod), abs(crank - rocker)) <= _CALLIPER:
            return "A parallelogram, as the robot file says: opposite bars are equal."
        raise ValueError(
            f"ground and rod differ by {abs(ground - rod):.3g} mm, crank and rocker by "
            f"{abs(crank - rocker):.3g} mm, so this is not a parallelogram; write type: crank, "
            f"{written} and its rocker_angle into the robot file"
        )


def _degrees(span: Sequence[float]) -> str:
    return f"{SHOWN.number(span[0], 'revolute', 4)} to {SHOWN.text(span[1], 'revolute', 4)}"
