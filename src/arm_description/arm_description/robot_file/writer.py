# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Write a RobotModel as the text of a robot file that reads back as an equal model.

Each number is the shortest text that reads back as the very same double. If no units are given,
metres or millimetres and degrees or radians are chosen: whichever can write every number exactly
and makes the shortest file.
"""

from __future__ import annotations

import math
import textwrap
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import product

import yaml
from arm_common.yaml.editing import flow_mapping, flow_word, quote_of

from arm_description.errors import DescriptionError
from arm_description.model.dh import Convention
from arm_description.model.elements import NO_MOTION, Colours, Gripper, Joint, Mesh, Origin, Triple
from arm_description.model.units import METRES_PER_INCH, PER_METRE, Units
from arm_description.robot_file.joints import DEFAULT_EFFORT, DEFAULT_VELOCITY
from arm_description.robot_file.keys import COMPOUND
from arm_description.robot_file.reader import parse_robot
from arm_description.robot_file.sections import GRIPPER_KEY
from arm_description.robot_model import RobotModel

# Turns that a person writes as a fraction of pi in a file in radians.
_DENOMINATORS = (1, 2, 3, 4, 6, 8, 12)
_MOST_PIS = 24


class NotExactError(ValueError):
    """No text in this unit is read back as the same double."""


def length_text(metres: float, units: Units) -> str:
    """Return the text of a length [m] (or rate of a length) in the file's unit.

    Raises:
        NotExactError: the unit has no such text.
    """
    inches = units.length == "inch"
    guess = metres / METRES_PER_INCH if inches else metres * PER_METRE[units.length]
    return _shortest(metres, guess, units.metres)


def angle_text(radians: float, units: Units) -> str:
    """Return the text of an angle [rad] (or its rate), as a fraction of pi where that is exact.

    Raises:
        NotExactError: the unit has no such text.
    """
    if units.angle == "deg":
        return _shortest(radians, math.degrees(radians), units.radians)
    return _over_pi(radians) or number_text(radians)


def number_text(value: float) -> str:
    """Shortest text of a number in no unit or the file's own."""
    return repr(value + 0.0).removesuffix(".0")


def _shortest(value: float, guess: float, read: Callable[[float], float]) -> str:
    for digits in range(1, 18):
        written = float(f"{guess:.{digits}g}")
        if read(written) == value:
            return number_text(written)
    for written in (math.nextafter(guess, -math.inf), math.nextafter(guess, math.inf)):
        if read(written) == value:
            return number_text(written)
    raise NotExactError(value)


def _over_pi(radians: float) -> str:
    """The text ``n*pi/m`` if it is evaluated to exactly this angle, else nothing."""
    for below in _DENOMINATORS:
        count = round(radians * below / math.pi)
        if 0 < abs(count) <= _MOST_PIS and count * math.pi / below == radians:
            over = f"/{below}" if below > 1 else ""
            times = {1: "", -1: "-"}.get(count, f"{count}*")
            return f"{times}pi{over}"
    return ""


WIDTH = 96
_CHOICE = tuple(Units(length, angle) for length, angle in product(("m", "mm"), ("deg", "rad")))


def robot_yaml(model: RobotModel, units: Units | None = None, notes: Sequence[str] = ()) -> str:
    """Text of the robot file of a model.

    Args:
        model: the robot.
        units: units to prefer; others are taken where they cannot write every number exactly.
        notes: remarks for the reader of the file, written as comments at its top.

    Returns:
        YAML text; ``parse_robot`` of it equals the model.

    Raises:
        DescriptionError: the model is none that a robot file can hold, such as one with a joint
            of no range.
    """
    refused: DescriptionError | None = None
    for text in _texts(model, units, notes):
        try:
            if parse_robot(text, model.name) == model:
                return text
        except DescriptionError as error:
            refused = refused or error
    raise refused or DescriptionError(
        f"the robot {model.name!r} holds something that a robot file cannot",
        remedy="are there blanks around one of its texts?",
    )


def _texts(model: RobotModel, units: Units | None, notes: Sequence[str]) -> list[str]:
    """Texts in every choice of units that can write each number, the best first."""
    texts = []
    for choice in (*([units] if units else []), *_CHOICE):
        try:
            texts.append((choice is not units, _Writer(choice).text(model, notes)))
        except NotExactError:
            continue
    return [text for _, text in sorted(texts, key=lambda pair: (pair[0], len(pair[1])))]


class _Writer:
    """Writes in one choice of units."""

    def __init__(self, units: Units) -> None:
        self._units = units

    def text(self, model: RobotModel, notes: Sequence[str]) -> str:
        comments = [line for note in notes for line in textwrap.wrap(note, WIDTH - 2)]
        parts = [
            [f"# {line}" for line in comments],
            self._head(model),
            [
                f"{key}: {self._origin(origin)}"
                for key, origin in (("base", model.base), ("tool", model.tool))
                if origin != NO_MOTION
            ],
            ["joints:", *self._table(model)],
            self._gripper(model.gripper) if model.gripper else [],
            self._postures(model),
            self._load(model),
            [*self._meshes(model.meshes)],
            _colours(model.colours),
        ]
        return "\n\n".join("\n".join(lines) for lines in parts if lines) + "\n"

    def _head(self, model: RobotModel) -> list[str]:
        units = self._units
        words = (("description", model.description), ("source", model.source))
        return [
            f"name: {flow_word(model.name)}",
            *(_paragraph(key, text) for key, text in words if text),
            "",
            f"convention: {model.convention}",
            f"units: {{length: {units.length}, angle: {units.angle}}}",
        ]

    def _origin(self, origin: Origin) -> str:
        rpy = ", ".join(self._angle(value) for value in origin.rpy)
        return f"{{xyz: {self._triple(origin.xyz)}, rpy: [{rpy}]}}"

    def _table(self, model: RobotModel) -> Iterator[str]:
        """The rows with their columns aligned, as a table is printed."""
        rows = list(_rows(model.joints))
        columns = zip(*(self._row(row, model.convention) for row in rows), strict=True)
        padded = [[f"{cell:<{max(map(len, column))}}" for cell in column] for column in columns]
        for row, cells in zip(rows, zip(*padded, strict=True), strict=True):
            limits = [self._limits(joint) for joint in row]
            if len(row) > 1:
                axes = (joint.axis for joint in row)
                limits = [flow_mapping(dict(zip(axes, limits, strict=True)), ",\n              ")]
            source = f",\n     source: {flow_word(row[0].source)}" if row[0].source else ""
            yield f"  - {{{' '.join(cells).rstrip()}"
            yield f"     limits: {limits[0]}{source}}}"

    def _row(self, joints: tuple[Joint, ...], convention: Convention) -> list[str]:
        name, kind = joints[0].name, str(joints[0].type)
        for word, axes in COMPOUND.items():
            if axes == tuple(joint.axis for joint in joints):
                name, kind = name.removesuffix("_z"), word
        row = joints[-1 if convention == "standard" else 0].row
        return [
            f"name: {flow_word(name)},",
            f"type: {kind},",
            f"theta: {self._angle(row.theta)},",
            f"d: {self._length(row.d)},",
            f"a: {self._length(row.a)},",
            f"alpha: {self._angle(row.alpha)},",
        ]

    def _limits(self, joint: Joint) -> str:
        values = {
            "lower": self._position(joint, joint.lower),
            "upper": self._position(joint, joint.upper),
            "velocity": self._position(joint, joint.velocity),
            "acceleration": self._position(joint, joint.acceleration),
            "effort": number_text(joint.effort),
        }
        if joint.acceleration == 4.0 * joint.velocity:
            del values["acceleration"]
        if joint.velocity == DEFAULT_VELOCITY[joint.type]:
            del values["velocity"]
        if joint.effort == DEFAULT_EFFORT:
            del values["effort"]
        return flow_mapping(values)

    def _gripper(self, gripper: Gripper) -> list[str]:
        finger, palm = gripper.finger, gripper.palm
        lengths = {"length": finger.length, "width": finger.width, "thickness": finger.thickness}
        lengths |= {"overhang": finger.overhang} if finger.overhang else {}
        return [
            "gripper:",
            f"  joints: [{', '.join(flow_word(name) for name in gripper.joints)}]",
            f"  min_width: {self._length(gripper.min_width)}",
            f"  max_width: {self._length(gripper.max_width)}",
            f"  velocity: {self._length(gripper.velocity)}",
            f"  acceleration: {self._length(gripper.acceleration)}",
            f"  finger: {self._lengths(lengths)}",
            "  palm: "
            + self._lengths(dict(zip(("length", "width", "thickness"), palm, strict=True))),
            *([f"  source: {flow_word(gripper.source)}"] if gripper.source else []),
        ]

    def _postures(self, model: RobotModel) -> list[str]:
        joints = {joint.name: joint for joint in model.joints}
        lines = ["postures:"] if model.postures else []
        for name, posture in model.postures.items():
            values = {
                flow_word(key): self._length(value)
                if key == GRIPPER_KEY
                else self._position(joints[key], value)
                for key, value in posture.items()
            }
            lines.append(f"  {flow_word(name)}: {flow_mapping(values)}")
        return lines

    def _load(self, model: RobotModel) -> list[str]:
        lines, payload = [], model.payload
        if payload:
            values = {"mass": number_text(payload.mass), "centre": self._triple(payload.centre)}
            values |= {"size": self._triple(payload.size)} if payload.size else {}
            values |= {"source": flow_word(payload.source)} if payload.source else {}
            lines.append(f"payload: {flow_mapping(values)}")
        if model.masses:
            masses = {flow_word(link): number_text(m) for link, m in model.masses.items()}
            lines.append(f"masses: {flow_mapping(masses)}")
        return lines

    def _meshes(self, meshes: Mapping[str, Mesh]) -> Iterator[str]:
        if meshes:
            yield "meshes:"
        for link, mesh in meshes.items():
            yield f"  {flow_word(link)}:"
            yield f"    visual: {flow_word(mesh.visual)}"
            yield f"    collision: {flow_word(mesh.collision)}"
            yield f"    scale: [{', '.join(map(number_text, mesh.scale))}]"
            if mesh.origin != NO_MOTION:
                yield f"    origin: {self._origin(mesh.origin)}"
            if mesh.source:
                yield f"    source: {flow_word(mesh.source)}"

    def _triple(self, values: Triple) -> str:
        return f"[{', '.join(map(self._length, values))}]"

    def _lengths(self, values: Mapping[str, float]) -> str:
        return flow_mapping({key: self._length(value) for key, value in values.items()})

    def _position(self, joint: Joint, value: float) -> str:
        return self._angle(value) if joint.type == "revolute" else self._length(value)

    def _length(self, value: float) -> str:
        return length_text(value, self._units)

    def _angle(self, value: float) -> str:
        return angle_text(value, self._units)


def _colours(colours: Colours) -> list[str]:
    default = Colours()
    if colours == default:
        return []
    lines = ["colours:"]
    for key in ("base", "links", "joints", "gripper", "fingers"):
        value = getattr(colours, key)
        if value != getattr(default, key):
            many = key == "links"
            text = f"[{', '.join(map(_quoted, value))}]" if many else _quoted(value)
            lines.append(f"  {key}: {text}")
    return lines


def _rows(joints: Sequence[Joint]) -> Iterator[tuple[Joint, ...]]:
    """The joints of each row: one, or those of a universal or ball joint."""
    row: tuple[Joint, ...] = ()
    for joint in joints:
        if row and joint.axis == "z":
            yield row
            row = ()
        row += (joint,)
    yield row


def _quoted(colour: str) -> str:
    return f'"{colour}"'


def _paragraph(key: str, text: str) -> str:
    """A key with text of any length, wrapped."""
    dumped = yaml.safe_dump(
        {key: text}, default_style=quote_of(text), width=WIDTH, allow_unicode=True
    )
    return str(dumped).strip()
