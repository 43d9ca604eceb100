# Copyright 2026 Arm developers
# SPDX-License-Identifier: Apache-2.0
"""Read the sections of a robot file other than the DH table.

Gripper, postures, meshes (whose files are not opened), payload, masses, looks and colours.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType
from typing import Any, TypeVar, cast
from urllib.parse import unquote, urlsplit

from arm_common.files.access import installed_share
from arm_common.yaml.colours import hex_text, read_colour, rgba
from arm_common.yaml.document import Field

from arm_description.model.elements import (
    Bar,
    Colours,
    Convention,
    Joint,
    JointType,
    LinkMass,
    Mesh,
    Origin,
    Payload,
    Triple,
)
from arm_description.model.gripper import (
    DEFAULT_FORCE,
    MAX_JAW_ANGLE,
    TURNING,
    Claw,
    FingerShape,
    Gripper,
    Turning,
)
from arm_description.model.looks import (
    DEFAULT_COLOUR,
    GLASS_OPACITY,
    MATERIALS,
    LookKind,
    LookShape,
    Material,
)
from arm_description.robot_file.joints import read_joint_name
from arm_description.robot_file.keys import (
    BAR,
    CLAW,
    COLOURS,
    FINGER,
    GRIPPER,
    INERTIA,
    LINK_MASS,
    LOOK,
    LOOK_SHAPES,
    MESH,
    PALM,
    PAYLOAD,
)
from arm_description.robot_file.scope import EvaluationContext, read_name, triple

T = TypeVar("T")
GRIPPER_KEY = "gripper"
# A limit and a posture at that limit may be expressions that differ by rounding [rad or m].
SLACK = 1e-9


def read_gripper(field: Field, joint_names: tuple[str, ...], scope: EvaluationContext) -> Gripper:
    """Read the gripper; its fingers must not have names of arm joints."""
    keys = GRIPPER.read(field)
    claw = _read_claw(keys["claw"], scope) if "claw" in keys else None
    low, high = _widths(field, keys, claw, scope)
    velocity = scope.velocity(keys["velocity"], "prismatic")
    default = default_finger(high)
    default = replace(default, length=claw.length) if claw else default
    return Gripper(
        joints=_read_fingers(keys["joints"], joint_names),
        min_width=low,
        max_width=high,
        velocity=velocity,
        acceleration=scope.acceleration(keys.get("acceleration"), "prismatic", velocity),
        effort=scope.positive(keys["effort"]) if "effort" in keys else DEFAULT_FORCE,
        finger=_read_finger(keys.get("finger"), default, scope),
        palm=_read_box(PALM.read(keys["palm"]), scope) if "palm" in keys else default_palm(high),
        claw=claw,
        source=keys["source"].text() if "source" in keys else "",
    )


def _widths(
    field: Field, keys: Mapping[str, Field], claw: Claw | None, scope: EvaluationContext
) -> tuple[float, float]:
    """Return the smallest and the largest width, which a claw determines by its geometry."""
    for key in ("min_width", "max_width"):
        if claw and key in keys:
            raise keys[key].error("follows from the claw", "delete it")
        if not claw and key not in keys:
            raise field.error(f"{key} is missing", "add it, or claw: for jaws that turn")
    if claw:
        return max(claw.width(claw.closed), 0.0), claw.width(claw.open)
    low, high = scope.length(keys["min_width"]), scope.length(keys["max_width"])
    if low < 0.0:
        raise keys["min_width"].error("must not be negative")
    if low >= high:
        raise field.error("min_width must be below max_width", "swap them")
    return low, high


def _read_claw(field: Field, scope: EvaluationContext) -> Claw:
    keys = CLAW.read(field)
    turning = cast(Turning, keys["turning"].choice(TURNING)) if "turning" in keys else "both"
    length, pivots = scope.positive_length(keys["length"]), scope.length(keys["pivots"])
    reach = (2.0 if turning == "both" else 1.0) * length
    if not 0.0 <= pivots < reach * math.sin(MAX_JAW_ANGLE):
        raise keys["pivots"].error("jaws of this length cannot meet", "check both in one unit")
    meeting = -math.asin(pivots / reach)
    claw = Claw(
        length=length,
        pivots=pivots,
        closed=scope.angle(keys["closed"]) if "closed" in keys else meeting,
        open=scope.angle(keys["open"]),
        turning=turning,
    )
    if claw.closed < meeting - SLACK:
        low = math.degrees(meeting)
        raise keys["closed"].error(f"the tips already meet at {low:.4g} deg", "raise it")
    if not claw.closed < claw.open <= MAX_JAW_ANGLE:
        raise keys["open"].error("must be above closed, and at most 85 deg")
    if "face" not in keys:
        return replace(claw, face=claw.width(claw.open) / 2 if turning != "both" else 0.0)
    if turning == "both":
        raise keys["face"].error("is for a claw with one fixed jaw", "delete it")
    return replace(claw, face=scope.length(keys["face"]))


def default_finger(opening: float) -> FingerShape:
    """Return the box of a finger in proportion to the maximum width [m]."""
    return FingerShape(0.75 * opening, 0.25 * opening, 0.15 * opening, 0.0)


def default_palm(opening: float) -> Triple:
    """Return the box of the palm (z, y, x) in proportion to the maximum width [m]."""
    return (0.45 * opening, 1.5 * opening, 0.5 * opening)


def _read_fingers(field: Field, joint_names: tuple[str, ...]) -> tuple[str, str]:
    items = field.items()
    if len(items) != 2:
        raise field.error(f"must be two names, not {len(items)}", "write [left, right]")
    left, right = (read_joint_name(item) for item in items)
    for name in (left, right):
        if name in joint_names or left == right:
            raise field.error(f"the name {name!r} is already used", "rename the finger")
    return left, right


def _read_finger(
    field: Field | None, default: FingerShape, scope: EvaluationContext
) -> FingerShape:
    if field is None:
        return default
    keys = FINGER.read(field)
    length, width, thickness = _read_box(keys, scope)
    overhang = scope.length(keys["overhang"]) if "overhang" in keys else 0.0
    if not 0.0 <= overhang < length:
        raise keys["overhang"].error("must be at least 0 and less than the finger's length")
    return FingerShape(length, width, thickness, overhang)


def _read_box(keys: Mapping[str, Field], scope: EvaluationContext) -> Triple:
    length, width, thickness = (
        scope.positive_length(keys[key]) for key in ("length", "width", "thickness")
    )
    return (length, width, thickness)


def read_postures(
    field: Field | None,
    joints: tuple[Joint, ...],
    gripper: Gripper | None,
    scope: EvaluationContext,
) -> Mapping[str, Mapping[str, float]]:
    """Read all postures; each must have every joint within its limits."""
    named = field.mapping(None) if field else {}
    for name, posture in named.items():
        if not name.strip():
            raise posture.error("a posture needs a name", "write for example rest:")
    return MappingProxyType(
        {name: _read_posture(f, joints, gripper, scope) for name, f in named.items()}
    )


def _read_posture(
    field: Field, joints: tuple[Joint, ...], gripper: Gripper | None, scope: EvaluationContext
) -> Mapping[str, float]:
    names = tuple(joint.name for joint in joints)
    keys = field.mapping((*names, GRIPPER_KEY) if gripper else names, required=names)
    ranges = {joint.name: (joint.lower, joint.upper, joint.type) for joint in joints}
    if gripper:
        ranges[GRIPPER_KEY] = (gripper.min_width, gripper.max_width, "prismatic")
    return MappingProxyType(
        {name: _inside(keys[name], *r, scope) for name, r in ranges.items() if name in keys}
    )


def _inside(
    field: Field, lower: float, upper: float, joint_type: JointType, scope: EvaluationContext
) -> float:
    value = scope.position(field, joint_type)
    if lower - SLACK <= value <= upper + SLACK:
        return min(max(value, lower), upper)

    def written(number: float) -> str:
        return f"{scope.units.written(number, joint_type):.9g}"

    remedy = "change the posture or the limits"
    whole = value + 2.0 * math.pi * math.ceil((lower - SLACK - value) / (2.0 * math.pi))
    if joint_type == "revolute" and whole <= upper + SLACK:
        remedy = f"write {written(whole)}, which differs by whole turns"
    limits = f"{written(lower)} .. {written(upper)} {scope.units.unit(joint_type)}"
    raise field.error(f"{written(value)} is outside the limits {limits}", remedy)


def read_named(
    field: Field | None, links: Iterable[str], read: Callable[[Field], T]
) -> Mapping[str, T]:
    """Read the values of links by name; empty if there is no field."""
    named = field.mapping(links) if field else {}
    return MappingProxyType({link: read(value) for link, value in named.items()})


def read_mesh(field: Field, scope: EvaluationContext) -> Mesh:
    """Read the mesh of a link; its files must exist."""
    keys = MESH.read(field)
    visual = _uri(keys["visual"], scope.folder)
    return Mesh(
        visual=visual,
        collision=_uri(keys["collision"], scope.folder) if "collision" in keys else visual,
        scale=_scale(keys["scale"], scope) if "scale" in keys else (1.0, 1.0, 1.0),
        origin=scope.origin(keys.get("origin")),
        source=keys["source"].text() if "source" in keys else "",
    )


def _scale(field: Field, scope: EvaluationContext) -> Triple:
    scale = triple(field, scope.number) if field.is_list else (scope.number(field),) * 3
    if 0.0 in scale:
        raise field.error("must not be 0", "write 1, or 0.001 for a mesh in millimetres")
    return scale


def _uri(field: Field, folder: Path) -> str:
    """Return the URI of a file; a path relative to the robot file becomes file://."""
    text = field.text()
    parts = urlsplit(text) if "://" in text else None
    if "$" in text or not text.isprintable():
        raise field.error(f"{text!r} is not a valid file name", "rename the file")
    if parts and parts.scheme == "package":
        with suppress(LookupError):  # a package that is not installed here
            folder = installed_share(parts.netloc)
            if not (folder / unquote(parts.path).lstrip("/")).is_file():
                raise field.error(f"there is no {text}", f"it was searched for in {folder}")
        return text
    if parts and parts.scheme != "file":
        raise field.error(f"{parts.scheme}:// is not supported", "give a path or package://")
    path = folder / (unquote(parts.path) if parts else text)
    if not path.is_file():
        raise field.error(f"there is no file {text!r}", f"it was searched for in {path.parent}")
    return path.resolve().as_uri()


def read_bars(
    field: Field | None, rows: tuple[Joint, ...], convention: Convention, scope: EvaluationContext
) -> tuple[Bar, ...]:
    """Read the bars of linkages; the axes that they turn about must be parallel."""
    names = [row.name for row in rows]
    bars: list[Bar] = []
    for item in field.items() if field else ():
        keys = BAR.read(item)
        bar = Bar(
            name=read_name(keys["name"]),
            beside=keys["beside"].choice(names[:-1]),
            levers=keys["levers"].choice(names),
            at=triple(keys["at"], scope.length),
        )
        ends = sorted(map(names.index, (bar.beside, bar.levers)))
        if ends[0] == ends[1]:
            raise keys["levers"].error("is the joint beside it", "name another joint")
        first = ends[0] + (bar.levers == names[ends[0]])  # of the joints that turn the levers
        if not _are_parallel(rows[first : ends[1] + 1], convention):
            problem = f"the axes from {names[first]} to {names[ends[1]]} are not parallel"
            raise keys["levers"].error(problem, "a bar is for revolute joints with parallel axes")
        if any(other.name == bar.name for other in bars):
            raise keys["name"].error(f"the name {bar.name!r} is already used", "rename the bar")
        bars.append(bar)
    return tuple(bars)


def _are_parallel(rows: Sequence[Joint], convention: Convention) -> bool:
    """Return whether joints turn about parallel axes."""
    between = rows[:-1] if convention == "standard" else rows[1:]
    turns = all(row.type == "revolute" and row.axis == "z" for row in rows)
    return turns and all(abs(row.row.alpha) < SLACK for row in between)


def read_payload(field: Field | Mapping[str, Field], scope: EvaluationContext) -> Payload:
    """Read the payload, from its field or its keys."""
    keys = PAYLOAD.read(field) if isinstance(field, Field) else field
    return Payload(
        mass=scope.positive(keys["mass"]),
        centre=triple(keys["centre"], scope.length),
        size=triple(keys["size"], scope.positive_length) if "size" in keys else None,
        source=keys["source"].text() if "source" in keys else "",
    )


def read_link_mass(field: Field, scope: EvaluationContext) -> LinkMass:
    """Read the mass of a link: a number, or one with centre and inertia."""
    keys = LINK_MASS.read(field) if field.is_mapping else {"value": field}
    mass, inertia = scope.number(keys["value"]), keys.get("inertia")
    if mass < 0.0:
        raise keys["value"].error("must be 0 or more")
    centre = triple(keys["centre"], scope.length) if "centre" in keys else None
    if inertia is None:
        return LinkMass(mass, centre)
    moments = INERTIA.read(inertia)
    names = ("ixx", "ixy", "ixz", "iyy", "iyz", "izz")
    values = tuple(scope.number(moments[n]) if n in moments else 0.0 for n in names)
    return LinkMass(mass, centre, values)


def read_look(field: Field, scope: EvaluationContext) -> tuple[LookShape, ...]:
    """Read the shapes of a link."""
    return tuple(_read_look_shape(item, scope) for item in field.items())


def _read_look_shape(field: Field, scope: EvaluationContext) -> LookShape:
    keys = LOOK.read(field)
    kinds = [kind for kind in LOOK_SHAPES if kind in keys]
    if len(kinds) != 1:
        found = " and ".join(kinds) or "no shape"
        raise field.error(f"must have one shape, not {found}", f"give {', '.join(LOOK_SHAPES)}")
    kind = cast(LookKind, kinds[0])
    place = {"xyz": triple(keys["at"], scope.length)} if "at" in keys else {}
    place |= {"rpy": triple(keys["rpy"], scope.angle)} if "rpy" in keys else {}
    material = keys["material"].choice(MATERIALS) if "material" in keys else "plastic"
    colour = read_colour(keys["colour"]) if "colour" in keys else rgba(DEFAULT_COLOUR)
    if material == "glass" and colour[3] == 1.0:
        colour = (*colour[:3], GLASS_OPACITY)
    size, origin = _look_size(keys[kind], kind, scope), Origin(**place)
    return LookShape(kind, size, origin, hex_text(colour), cast(Material, material))


def _look_size(field: Field, kind: LookKind, scope: EvaluationContext) -> tuple[float, ...]:
    if kind == "sphere":
        return (scope.positive_length(field),)
    count, items = {"cylinder": 2, "fillet": 2}.get(kind, 3), field.items()
    if len(items) != count:
        meaning = LOOK_SHAPES[kind].meaning
        raise field.error(f"must be {count} numbers, not {len(items)}", f"give {meaning}")
    size = tuple(map(scope.length, items))
    first_above_0 = {"cone": 2, "fillet": 1}.get(kind, 0)
    for index, (item, value) in enumerate(zip(items, size, strict=True)):
        if value < 0.0 or (value == 0.0 and index >= first_above_0):
            raise item.error("must be greater than 0")
    if kind == "cone" and not any(size[:2]):
        raise field.error("has no radius above 0")
    if kind == "ring" and size[1] >= size[0]:
        raise items[1].error("the inner radius must be below the outer one", "swap them")
    return size


def read_colours(field: Field | None) -> Colours:
    """Read the colours, with defaults for the missing ones."""
    if field is None:
        return Colours()
    keys = COLOURS.read(field)
    colours: dict[str, Any] = {k: _colour(value) for k, value in keys.items() if k != "links"}
    if "links" in keys:
        colours["links"] = tuple(_colour(item) for item in keys["links"].items())
        if not colours["links"]:
            raise keys["links"].error("has no colours", "delete the key or add one")
    return Colours(**colours)


def _colour(field: Field) -> str:
    return hex_text(read_colour(field))
