# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Write a RobotModel as a robot file that reads back as an equal model.

Each number is the shortest text that reads back as the same double. By default metres or
millimetres and degrees or radians are chosen so that every number is exact and the file shortest.
"""

from __future__ import annotations

import math
import textwrap
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import fields, replace
from itertools import chain, product

import numpy as np
import yaml
from arm_common.errors import exact_text
from arm_common.yaml.editing import flow_mapping, flow_word, preferred_quote

from arm_description.errors import DescriptionError
from arm_description.model.constraints import LinearExpression
from arm_description.model.elements import (
    NO_MOTION,
    Bar,
    Colours,
    Convention,
    DependentJoint,
    Joint,
    JointType,
    LinkMass,
    LookShape,
    Mesh,
    Origin,
    Triple,
)
from arm_description.model.gripper import DEFAULT_FORCE, Claw, Gripper, MountedTool
from arm_description.model.units import Units
from arm_description.robot_file.reader import parse_robot
from arm_description.robot_file.robot_keys import COMPOUND, DEFAULT_VELOCITY, GRIPPER_KEY, SCREWS
from arm_description.robot_file.sections.transmissions import transmission_entry
from arm_description.robot_model import RobotModel

WIDTH = 96
_ROUNDING = 1e-9  # of frames between nearly parallel axes that are read back [m]
_CANDIDATES = tuple(Units(length, angle) for length, angle in product(("m", "mm"), ("deg", "rad")))
# Angles that are written as a fraction of pi in a file in radians.
_DENOMINATORS = (1, 2, 3, 4, 6, 8, 12)
_MAX_NUMERATOR = 24


def robot_yaml(model: RobotModel, units: Units | None = None, notes: Sequence[str] = ()) -> str:
    """Return the robot file of a model.

    Args:
        model: the robot.
        units: preferred units; others are used if these cannot represent every number exactly.
        notes: remarks, written as comments at the top.

    Returns:
        YAML text; ``parse_robot`` of it equals the model, to rounding if its axes are nearly
        parallel: then they are written as axes and points.

    Raises:
        DescriptionError: a robot file cannot represent the model, for example a joint without
            range.
    """
    first_error: DescriptionError | None = None
    for text in _texts(model, units, notes):
        try:
            if _agrees(parse_robot(text, model.name), model):
                return text
        except DescriptionError as error:
            first_error = first_error or error
    raise first_error or DescriptionError(
        f"a robot file cannot represent the robot {model.name!r}",
        remedy="remove spaces around its texts",
    )


def _texts(model: RobotModel, units: Units | None, notes: Sequence[str]) -> list[str]:
    """Return the texts in all units that represent each number exactly, the best first."""
    texts = []
    for choice in (*([units] if units else []), *_CANDIDATES):
        try:
            texts.append((choice is not units, _Writer(choice).text(model, notes)))
        except _NotExactError:
            continue
    return [text for _, text in sorted(texts, key=lambda pair: (pair[0], len(pair[1])))]


def _agrees(read: RobotModel, model: RobotModel) -> bool:
    """Return whether a model was read back; tilted rows are computed, so they have rounding."""
    if read == model or not model.is_tilted or read.joint_names != model.joint_names:
        return read == model
    ours, theirs = (one.dh_frames(np.zeros(model.n)) for one in (model, read))
    if not np.allclose(ours, theirs, 0.0, _ROUNDING):
        return False
    pairs = zip(read.joints, model.joints, strict=True)
    joints = tuple(replace(one, row=other.row) for one, other in pairs)
    ends = replace(read, base=model.base, tool=model.tool, mounted=model.mounted)
    return replace(ends, joints=joints) == model


class _NotExactError(ValueError):
    """No text in this unit reads back as the same double."""


class _Writer:
    def __init__(self, units: Units) -> None:
        self._units = units
        self._types: Mapping[str, JointType] = {}

    def text(self, model: RobotModel, notes: Sequence[str]) -> str:
        self._types = {joint.name: joint.type for joint in model.joints}
        screws = model.is_tilted
        origins = {"base": model.base} | ({} if model.mounted else {"tool": model.tool})
        if screws:
            frames = model.dh_frames(np.zeros(model.n))
            origins = {"home": Origin.of(frames[-1] @ model.end.matrix)}
        parts = [
            [f"# {line}" for note in notes for line in textwrap.wrap(note, WIDTH - 2)],
            self._head(model),
            [
                *(
                    f"{k}: {self._origin(T)}"
                    for k, T in origins.items()
                    if screws or T != NO_MOTION
                ),
                *([f"tool: {self._mounted(model.mounted, screws)}"] if model.mounted else ()),
            ],
            ["joints:", *(self._screws(model) if screws else self._table(model))],
            self._transmissions(model),
            self._bars(model.bars),
            _block("gripper", self._gripper(None if model.mounted else model.gripper)),
            _block("postures", self._postures(model)),
            self._load(model),
            self._meshes(model.meshes),
            self._looks(model.looks),
            _block("colours", _colours(model.colours)),
        ]
        return "\n\n".join("\n".join(lines) for lines in parts if lines) + "\n"

    def _head(self, model: RobotModel) -> list[str]:
        texts = {"description": model.description, "source": model.source}
        longest = ""
        if model.units.max_length != Units.max_length:
            longest = f", max_length: {self._number(model.units.max_length)}"
        return [
            f"name: {flow_word(model.name)}",
            *(_paragraph(key, text) for key, text in texts.items() if text),
            "",
            f"convention: {SCREWS if model.is_tilted else model.convention}",
            f"units: {{length: {self._units.length}, angle: {self._units.angle}{longest}}}",
        ]

    def _origin(self, origin: Origin) -> str:
        rpy = ", ".join(self._number(value, "revolute") for value in origin.rpy)
        return f"{{xyz: {self._triple(origin.xyz)}, rpy: [{rpy}]}}"

    def _mounted(self, tool: MountedTool, at_home: bool) -> str:
        name = flow_word(tool.name)
        if at_home or tool.mount == NO_MOTION:
            return name
        return f"{{name: {name}, {self._origin(tool.mount)[1:]}"

    def _table(self, model: RobotModel) -> Iterator[str]:
        """Yield the lines of the DH table with aligned columns."""
        rows = list(_rows(model.rows))
        columns = zip(*(self._row(row, model.convention) for row in rows), strict=True)
        padded = [[f"{cell:<{max(map(len, column))}}" for cell in column] for column in columns]
        for row, cells in zip(rows, zip(*padded, strict=True), strict=True):
            rest = []
            if not isinstance(row[0], DependentJoint):
                limits = {str(joint.axis): self._limits(joint) for joint in row}
                text = flow_mapping(limits, ",\n              ") if len(row) > 1 else limits["z"]
                rest.append(f"limits: {text}")
            else:
                leaders = [j.effort for j in model.joints if j.name in dict(row[0].terms)]
                if row[0].effort != max(leaders):
                    rest.append(f"effort: {exact_text(row[0].effort)}")
            if row[0].source:
                rest.append(f"source: {flow_word(row[0].source)}")
            if not rest:
                yield f"  - {{{' '.join(cells).rstrip().rstrip(',')}}}"
                continue
            yield f"  - {{{' '.join(cells).rstrip()}"
            yield f"     {f',{chr(10)}     '.join(rest)}}}"

    def _screws(self, model: RobotModel) -> Iterator[str]:
        """Yield the axes of the joints with every joint at 0, and a point of each."""
        frames = model.dh_frames(np.zeros(model.n))
        for joint, T in zip(model.joints, frames, strict=False):
            axis = ", ".join(exact_text(float(v)) for v in T[:3, 2])
            at = ", ".join(self._number(float(v)) for v in T[:3, 3])
            yield f"  - {{name: {flow_word(joint.name)}, type: {joint.type},"
            yield f"     axis: [{axis}],"
            yield f"     at: [{at}],"
            source = f",\n     source: {flow_word(joint.source)}" if joint.source else ""
            yield f"     limits: {self._limits(joint)}{source}}}"

    def _row(self, joints: tuple[Joint, ...], convention: Convention) -> list[str]:
        name, kind = joints[0].name, str(joints[0].type)
        for word, axes in COMPOUND.items():
            if axes == tuple(joint.axis for joint in joints):
                name, kind = name.removesuffix("_z"), word
        row = joints[-1 if convention == "standard" else 0].row
        cells = {
            "name": flow_word(name),
            "type": kind,
            "theta": self._number(row.theta, "revolute"),
            "d": self._number(row.d),
            "a": self._number(row.a),
            "alpha": self._number(row.alpha, "revolute"),
        }
        if isinstance(joints[0], DependentJoint):
            variable = "d" if kind == "prismatic" else "theta"
            position = LinearExpression(getattr(row, variable), joints[0].terms)
            cells[variable] = self._expression(position, joints[0].type)
        return [f"{key}: {text}," for key, text in cells.items()]

    def _limits(self, joint: Joint) -> str:
        defaults = {"velocity": DEFAULT_VELOCITY[joint.type], "acceleration": 4.0 * joint.velocity}
        values = {
            key: self._number(value, joint.type)
            for key in ("lower", "upper", *defaults)
            if (value := getattr(joint, key)) != defaults.get(key)
            and not (joint.constraint and key in ("lower", "upper"))
        }
        if joint.constraint:
            values["lower"] = self._bound("max", joint.constraint.lower, joint.type)
            values["upper"] = self._bound("min", joint.constraint.upper, joint.type)
        if joint.has_effort:
            values["effort"] = exact_text(joint.effort)
        return flow_mapping(values)

    def _transmissions(self, model: RobotModel) -> list[str]:
        lines = ["transmissions:"] if model.transmissions else []
        for transmission in model.transmissions:
            values = transmission_entry(transmission, self._types, self._number)
            lines.append(f"  - {flow_mapping(values, ',' + chr(10) + '     ')}")
        return lines

    def _bars(self, bars: Sequence[Bar]) -> list[str]:
        lines = ["bars:"] if bars else []
        for bar in bars:
            words = {k: flow_word(getattr(bar, k)) for k in ("name", "beside", "levers")}
            at = ", ".join(map(self._number, bar.at))
            lines.append(f"  - {flow_mapping(words | {'at': f'[{at}]'})}")
        return lines

    def _bound(self, function: str, bounds: Sequence[LinearExpression], kind: JointType) -> str:
        """Return one bound, or the greatest or least of several."""
        *texts, last = (self._expression(bound, kind) for bound in bounds)
        for text in reversed(texts):
            last = f"{function}({text}, {last})"
        return f'"{last}"' if texts else last

    def _expression(self, one: LinearExpression, kind: JointType) -> str:
        """Return a linear expression over joints, such as ``-shoulder - 0.5*elbow + 90``."""
        text = ""
        for name, factor in one.factors:
            size = abs(factor)
            number = (
                "" if size == 1.0 and self._types[name] == kind else self._factor(size, name, kind)
            )
            term = f"{number}*{name}" if number else name
            sign = "-" if factor < 0.0 else "+"
            text += f" {sign} {term}" if text else f"{'-' if factor < 0.0 else ''}{term}"
        constant = self._number(one.constant, kind)
        if not text:
            return constant
        if one.constant:
            sign = "-" if one.constant < 0.0 else "+"
            text += f" {sign} {self._number(abs(one.constant), kind)}"
        return text

    def _factor(self, factor: float, joint: str, kind: JointType) -> str:
        """Return a factor of a joint in the units of the file."""
        leader = self._types[joint]
        if leader == kind:
            return exact_text(factor)
        converted = self._units.written(factor, kind) / self._units.written(1.0, leader)
        return self._nearest(
            converted, lambda x: self._units.si(x, kind) / self._units.si(1.0, leader), factor
        )

    def _gripper(self, gripper: Gripper | None) -> dict[str, str]:
        if gripper is None:
            return {}
        sizes, finger = ("length", "width", "thickness"), gripper.finger
        box = {key: self._number(getattr(finger, key)) for key in sizes}
        box |= {"overhang": self._number(finger.overhang)} if finger.overhang else {}
        palm = zip(sizes, map(self._number, gripper.palm), strict=True)
        rates = ("velocity", "acceleration")
        widths = rates if gripper.claw else ("min_width", "max_width", *rates)
        return {
            "joints": f"[{', '.join(map(flow_word, gripper.joints))}]",
            **({"claw": self._claw(gripper.claw)} if gripper.claw else {}),
            **{key: self._number(getattr(gripper, key)) for key in widths},
            **({"effort": exact_text(gripper.effort)} if gripper.effort != DEFAULT_FORCE else {}),
            "finger": flow_mapping(box),
            "palm": flow_mapping(dict(palm)),
            **_source(gripper.source),
        }

    def _claw(self, claw: Claw) -> str:
        values = {key: self._number(getattr(claw, key)) for key in ("length", "pivots")}
        for key in ("open", "closed"):
            values[key] = self._number(getattr(claw, key), "revolute")
        if claw.turning != "both":
            values |= {"turning": claw.turning, "face": self._number(claw.face)}
        return flow_mapping(values)

    def _postures(self, model: RobotModel) -> dict[str, str]:
        types = {**self._types, GRIPPER_KEY: "prismatic"}
        return {
            name: flow_mapping({flow_word(j): self._number(q, types[j]) for j, q in p.items()})
            for name, p in model.postures.items()
        }

    def _load(self, model: RobotModel) -> list[str]:
        lines = _block("masses", {k: self._mass(m) for k, m in model.masses.items()})
        if payload := model.payload:
            values = {"mass": exact_text(payload.mass), "centre": self._triple(payload.centre)}
            values |= {"size": self._triple(payload.size)} if payload.size else {}
            lines.append(f"payload: {flow_mapping(values | _source(payload.source))}")
        return lines

    def _mass(self, mass: LinkMass) -> str:
        if mass.centre is None and mass.inertia is None:
            return exact_text(mass.mass)
        values = {"value": exact_text(mass.mass)}
        if mass.centre is not None:
            values["centre"] = self._triple(mass.centre)
        if mass.inertia is not None:
            xx, xy, xz, yy, yz, zz = map(exact_text, mass.inertia)
            moments = {"ixx": xx, "iyy": yy, "izz": zz, "ixy": xy, "ixz": xz, "iyz": yz}
            shown = {k: text for k, text in moments.items() if k[1] == k[2] or text != "0"}
            values["inertia"] = flow_mapping(shown)
        return flow_mapping(values, ",\n    ")

    def _meshes(self, meshes: Mapping[str, Mesh]) -> list[str]:
        lines = ["meshes:"] if meshes else []
        for link, mesh in meshes.items():
            values = {
                "visual": flow_word(mesh.visual),
                "collision": flow_word(mesh.collision),
                "scale": f"[{', '.join(map(exact_text, mesh.scale))}]",
                **({"origin": self._origin(mesh.origin)} if mesh.origin != NO_MOTION else {}),
                **_source(mesh.source),
            }
            lines += (f"  {line}" for line in _block(flow_word(link), values))
        return lines

    def _looks(self, looks: Mapping[str, Sequence[LookShape]]) -> list[str]:
        lines = ["looks:"] if looks else []
        for link, shapes in looks.items():
            lines.append(f"  {flow_word(link)}:{'' if shapes else ' []'}")
            lines += (f"    - {flow_mapping(self._look_shape(shape))}" for shape in shapes)
        return lines

    def _look_shape(self, shape: LookShape) -> dict[str, str]:
        size = ", ".join(map(self._number, shape.size))
        values: dict[str, str] = {shape.kind: size if shape.kind == "sphere" else f"[{size}]"}
        if shape.origin.xyz != NO_MOTION.xyz:
            values["at"] = self._triple(shape.origin.xyz)
        if shape.origin.rpy != NO_MOTION.rpy:
            angles = (self._number(angle, "revolute") for angle in shape.origin.rpy)
            values["rpy"] = f"[{', '.join(angles)}]"
        values["colour"] = f'"{shape.colour}"'
        return values | ({"material": shape.material} if shape.material != "plastic" else {})

    def _triple(self, values: Triple) -> str:
        return f"[{', '.join(map(self._number, values))}]"

    def _number(self, value: float, kind: str = "prismatic") -> str:
        """Return the shortest text of a length, angle or rate [m or rad] in the file's unit.

        An angle in radians is a fraction of pi where that is exact.
        """
        if kind == "revolute" and self._units.angle == "rad":
            return _pi_fraction(value) or exact_text(value)
        return self._nearest(
            self._units.written(value, kind), lambda x: self._units.si(x, kind), value
        )

    @staticmethod
    def _nearest(converted: float, read: Callable[[float], float], value: float) -> str:
        """Return the shortest text of a number that is read as exactly a value."""
        rounded = (float(f"{converted:.{digits}g}") for digits in range(1, 18))
        neighbours = (math.nextafter(converted, towards) for towards in (-math.inf, math.inf))
        for written in chain(rounded, neighbours):
            if read(written) == value:
                return exact_text(written)
        raise _NotExactError(value)


def _pi_fraction(radians: float) -> str:
    """Return ``n*pi/m`` if it evaluates to exactly this angle, else ""."""
    for denominator in _DENOMINATORS:
        count = round(radians * denominator / math.pi)
        if 0 < abs(count) <= _MAX_NUMERATOR and count * math.pi / denominator == radians:
            divisor = f"/{denominator}" if denominator > 1 else ""
            factor = {1: "", -1: "-"}.get(count, f"{count}*")
            return f"{factor}pi{divisor}"
    return ""


def _block(name: str, values: Mapping[str, str]) -> list[str]:
    lines = [f"  {flow_word(key)}: {text}" for key, text in values.items()]
    return [f"{name}:", *lines] if lines else []


def _source(text: str) -> dict[str, str]:
    return {"source": flow_word(text)} if text else {}


def _colours(colours: Colours) -> dict[str, str]:
    default, texts = Colours(), {}
    for field in fields(Colours):
        value = getattr(colours, field.name)
        if value != getattr(default, field.name):
            listed = ", ".join(f'"{colour}"' for colour in value)
            texts[field.name] = f"[{listed}]" if field.name == "links" else f'"{value}"'
    return texts


def _rows(joints: Sequence[Joint]) -> Iterator[tuple[Joint, ...]]:
    """Yield the joints of each row: one, or those of a universal or ball joint."""
    row: tuple[Joint, ...] = ()
    for joint in joints:
        if row and joint.axis == "z":
            yield row
            row = ()
        row += (joint,)
    yield row


def _paragraph(key: str, text: str) -> str:
    """Return a key with wrapped text."""
    dumped = yaml.safe_dump(
        {key: text}, default_style=preferred_quote(text), width=WIDTH, allow_unicode=True
    )
    return str(dumped).strip()
